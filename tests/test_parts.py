"""Files that are sources since others include them: their names do not say so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.project.convert import Ran, run
from cu2port.project.plan import Request
from cu2port.project.tree import CannotRun

LIST = "F(cudaFree, (void *));\nF(cudaDeviceReset, ());\n"
HIPS = "F(hipFree, (void *));\nF(hipDeviceReset, ());\n"
LOADER = '#define F(name, args) extern cudaError_t(*name) args\n#include "{}"\n'


def plant(**files: str) -> Path:
    """`sub__a_fn` is sub/a.fn, in a new folder `src`."""
    for key, text in files.items():
        stem, _, ending = key.replace("__", "/").rpartition("_")
        path = Path("src") / f"{stem}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Path("src")


def converted(exclude: tuple[str, ...] = (), cache: bool = False) -> tuple[Ran, Path]:
    return run(Request(("src",), "out", "out", exclude=exclude, cache=cache)), Path("out")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({"a_c": LOADER.format("rt.fn"), "b_c": "int b;\n", "rt_fn": LIST}, "rt.fn"),
        ({"a_cu": LOADER.format("rt.fn"), "rt_fn": LIST}, "rt.fn"),  # the one source
        ({"a_c": LOADER.format("../x/rt.list"), "sub__b_c": "int b;\n", "x__rt_list": LIST}, ""),  # no such file
        ({"sub__a_c": LOADER.format("../x/rt.list"), "b_c": "int b;\n", "x__rt_list": LIST}, "x/rt.list"),
        ({"a_c": LOADER.format("x/rt.list"), "b_c": "int b;\n", "lib__x__rt_list": LIST}, "lib/x/rt.list"),
        ({"a_c": LOADER.format("one"), "b_c": "int b;\n", "one_fn": LIST}, ""),
        (
            {"a_c": LOADER.format("one.fn"), "b_c": "int b;\n", "one_fn": '#include "two.fn"\n', "two_fn": LIST},
            "two.fn",
        ),
        (
            {"a_c": LOADER.format("rt.fn"), "b_c": "int b;\n", "p__rt_fn": LIST, "q__rt_fn": LIST},
            "",  # which of the two?
        ),
    ],
)
def test_what_a_source_includes_is_a_source(files: dict[str, str], part: str) -> None:
    plant(**files)
    _, out = converted()
    texts = {
        p.relative_to(out).as_posix(): p.read_text()
        for p in out.rglob("*")
        if p.is_file() and ".cu2port" not in p.parts
    }
    assert [name for name, text in texts.items() if text == HIPS] == ([part] if part else [])
    again = {p.relative_to("src").as_posix() for p in Path("src").rglob("*") if p.is_file()}
    assert texts.keys() >= again


def test_what_is_excluded_is_no_source() -> None:
    plant(a_c=LOADER.format("rt.fn"), b_c="int b;\n", rt_fn=LIST)
    _, out = converted(exclude=("*.fn",))
    assert (out / "rt.fn").read_text() == LIST


def test_names_that_stay_in_a_part_are_left() -> None:
    plant(a_c=LOADER.format("rt.fn"), b_c="int b;\n", rt_fn="F(cuMemcpyPeerAsync, (int));\n")
    ran, _ = converted()
    assert "cuMemcpyPeerAsync" in ran.record.left


def test_converting_again_changes_nothing() -> None:
    plant(a_c=LOADER.format("rt.fn"), b_c="int b;\n", rt_fn=LIST)
    converted(cache=True)
    first = Path("out/rt.fn").read_text()
    run(Request(("out",), "out", "twice"))
    assert Path("twice/rt.fn").read_text() == first == HIPS
    converted(cache=True)
    assert Path("out/rt.fn").read_text() == HIPS


def test_in_place_asks_git_for_parts_too() -> None:
    plant(a_c=LOADER.format("rt.fn"), b_c="int b;\n", rt_fn=LIST)
    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *words], cwd="src", check=True)
    Path("src/rt.fn").write_text(LIST + "// more\n")
    with pytest.raises(CannotRun, match=r"not committed to git: src/rt\.fn"):
        run(Request(("src",), "in-place"))
    assert "cudaError_t" in Path("src/a.c").read_text()
    Path("src/rt.fn").write_text(LIST)
    run(Request(("src",), "in-place"))
    assert Path("src/rt.fn").read_text() == HIPS


def test_what_a_part_asks_of_thrust_is_included_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "impl").mkdir()
    (tmp_path / "impl" / "a.i.cuh").write_text("template <class T> void f(const thrust::host_vector<T>& v);\n")
    (tmp_path / "b.i.cuh").write_text("#include <vector>\ninline int g(thrust::device_ptr<int> p) { return *p; }\n")
    text = '#include <thrust/sort.h>\n__device__ int x;\n#include "impl/a.i.cuh"\n#include "b.i.cuh"\n'
    with ClangService() as clang:
        output = translate(text, Options(), path=str(tmp_path / "a.cuh"), clang=clang).output.decode()
    assert output == "#include <thrust/host_vector.h>\n" + text
