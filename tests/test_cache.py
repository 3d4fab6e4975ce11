"""The next run does what changed, and its answers are those of a run that knows nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

import pytest
from tracing import trace

from cu2port.core.disk import digest_of
from cu2port.core.kept import Kept
from cu2port.core.model import Options
from cu2port.project import convert as convert_module
from cu2port.project import copies, output
from cu2port.project.cache import Cache
from cu2port.project.convert import run
from cu2port.project.jobs import Done, Job, Tools, convert
from cu2port.project.plan import Request
from cu2port.project.reach import DOUBT, Reach, included
from cu2port.project.workers import Pool
from cu2port.report.json_report import render

FILES = {
    "CMakeLists.txt": "project(p LANGUAGES CXX CUDA)\nadd_executable(a src/a.cu src/b.cu)\n",
    "src/a.cu": '#include "../inc/w.cuh"\n#include "own.h"\n__global__ void k(int* p) {\n'
    "  int lane = threadIdx.x % W;\n  p[lane] = __shfl_down_sync(FULL, p[lane], 1) + min(1, 2u);\n}\n"
    "int main() { cudaMalloc(0, 1); k<<<1, 32>>>(0); if (cudaFree(0) != CUDA_SUCCESS) return 1; }\n",
    "src/b.cu": '#include "own.h"\nint other() { return cudaDeviceSynchronize() + cudaMalloc(0, 1); }\n',
    "src/own.h": "#pragma once\n#include <cuda_runtime.h>\n",
    "inc/w.cuh": "#pragma once\n#define W 32\n#define FULL 0xffffffff\n",
    "src/old.inl": "static int n = cudaGetDeviceCount(0);\n",
}
LINES = (
    "#define CUDA_SUCCESS 0\n",
    "static int cudaMalloc(void** p, int n) { return n; }\n",
    "#define W 64\n",
    "constexpr int W = 32;\n",
    '#include "w.cuh"\n',
    "#include <cuda.h>\n",
    '#include "old.inl"\n',
    "#include <hip/hip_runtime.h>\n",
    "__global__ void more(float* p) { p[0] = __shfl(p[0], 3); }\n",
    "template <int N> __device__ int across(int v) { return __shfl_xor_sync(0xffffffffu, v, N); }\n",
    "unsigned u = min(3, 4u);\n",
    "#ifdef USE_HIP\nint h = hipFree(0);\n#endif\n",
)
OPTIONS = (Options(), Options(), Options(rename=".hip"), Options(warp="flag"), Options(defines=("W=16",)))


def plant(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and ".cu2port" not in p.parts
    }


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The files that were converted since it was asked last."""
    found: list[str] = []
    results = convert_module.results

    class Watched:
        def __init__(self, pool: Pool) -> None:
            self.pool = pool
            self.shares = pool.shares

        def run(self, work: object, jobs: list[Job]) -> object:
            found.extend(job.shown for job in jobs)
            return self.pool.run(convert, jobs)

    monkeypatch.setattr(
        convert_module,
        "results",
        lambda jobs, pool, tick, *more: results(jobs, cast("Pool", Watched(pool)), tick, *more),
    )

    def asked() -> list[str]:
        out = sorted(found)
        found.clear()
        return out

    return asked


def converted(
    source: str, out: str, cache: bool = True, options: Options | None = None, over: bool = False, workers: int = 1
) -> str:
    """Convert; the report. `over`: into the output of an earlier run."""
    if not over:
        shutil.rmtree(out, ignore_errors=True)
    return render(run(Request((source,), "out", out, options or Options(), workers=workers, cache=cache)).record)


def change(chosen: random.Random, folder: Path) -> str:
    """A random edit of a tree; what it was."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    path = chosen.choice(files)
    kind = chosen.choice(("add", "add", "add", "drop", "remove", "new", "move", "build"))
    name = path.relative_to(folder).as_posix()
    if kind == "add":
        path.write_text(chosen.choice(LINES) + path.read_text())
    elif kind == "drop":
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[1:]))
    elif kind == "remove" and len(files) > 4:
        path.unlink()
    elif kind == "new":
        name = chosen.choice(("inc/own.h", "src/w.cuh", "src/include/w.cuh", "hip/x.cpp", "src/cuda.h", "w.cuh"))
        plant(folder, {name: chosen.choice(LINES) + chosen.choice(LINES)})
    elif kind == "move":
        target = folder / chosen.choice(("inc", "src", ".")) / path.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            path.rename(target)
    elif kind == "build":
        plant(folder, {"CMakeLists.txt": chosen.choice(("project(p CUDA HIP)\n", FILES["CMakeLists.txt"]))})
    return f"{kind} {name}"


def same_after_edits(seed: int, steps: int, folder: Path) -> int:
    """Hold that a run with results of earlier ones and one without give the same; how many results were taken over."""
    chosen = random.Random(seed)
    source = folder / "in"
    plant(source, FILES)
    converted(str(source), str(folder / "with"))
    log = []
    for _ in range(steps):
        log.append(change(chosen, source))
        options = chosen.choice(OPTIONS)
        ours = converted(str(source), str(folder / "with"), options=options, over=chosen.random() < 0.5)
        plain = converted(str(source), str(folder / "without"), cache=False, options=options)
        assert ours.replace("/with/", "/without/") == plain, log
        assert tree(folder / "with") == tree(folder / "without"), log
    return steps


def test_an_output_that_is_there_is_not_read_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path / "in", FILES)
    out = tmp_path / "out"
    source = str(tmp_path / "in")
    first = converted(source, str(out))
    written = tree(out)
    asked: list[int] = []
    get = Kept.get

    def counting(self: Kept, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        wanted = list(keys)
        asked.append(len(wanted))
        return get(self, wanted)

    monkeypatch.setattr(Kept, "get", counting)
    assert converted(source, str(out), over=True) == first
    assert asked[-1] == 0  # of outputs
    gone = [p for p in out.rglob("*.cu") if p.read_bytes() != (tmp_path / "in" / p.relative_to(out)).read_bytes()]
    assert gone
    gone[0].unlink()
    assert converted(source, str(out), over=True) == first
    assert asked[-1] == 1
    assert tree(out) == written


def test_a_result_whose_output_is_lost_is_made_again(
    tmp_path: Path, done: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path / "in", FILES)
    out, source = str(tmp_path / "out"), str(tmp_path / "in")
    first = converted(source, out)
    written = tree(tmp_path / "out")
    outputs = {p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert converted(source, out) == first
    done()
    get = Kept.get
    monkeypatch.setattr(Kept, "get", lambda self, keys: {k: v for k, v in get(self, keys).items() if v not in outputs})
    assert converted(source, out) == first
    assert tree(tmp_path / "out") == written
    again = {Path(path).relative_to(source).as_posix() for path in done()}
    assert again == {name for name, text in FILES.items() if written[name] != text.encode()}


def test_a_copy_of_the_process_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path / "in", FILES)
    out, source = tmp_path / "out", str(tmp_path / "in")
    first = converted(source, str(out))
    written = tree(out)
    monkeypatch.setattr(copies, "_MANY", 1)
    assert converted(source, str(out), over=True, workers=2) == first
    assert tree(out) == written
    assert converted(source, str(out), workers=2) == first
    (tmp_path / "in/src/b.cu").write_text("int more() { return cudaFree(0); }\n")
    edited = converted(source, str(out), over=True, workers=2)
    assert edited != first
    assert edited == converted(source, str(out), cache=False)


def test_what_a_copy_of_the_process_looked_up_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Callable[[], list[str]]
) -> None:
    """Build files too, which nothing but their conversion reads."""
    plant(tmp_path / "in", {**FILES, **{f"{n}/CMakeLists.txt": "project(p CUDA)\n" for n in range(9)}})
    monkeypatch.setattr(copies, "_MANY", 1)
    converted(str(tmp_path / "in"), str(tmp_path / "out"), workers=2)
    done()
    converted(str(tmp_path / "in"), str(tmp_path / "out"))
    assert done() == []


@pytest.mark.slow
def test_edits_of_a_tree_give_what_a_run_without_a_cache_gives(tmp_path: Path) -> None:
    same_after_edits(1, 8, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_many_edits_of_a_tree_give_what_a_run_without_a_cache_gives(tmp_path: Path, seed: int) -> None:
    same_after_edits(seed, 40, tmp_path)


def test_only_what_an_edit_reaches_is_converted(tmp_path: Path, done: Callable[[], list[str]]) -> None:
    plant(tmp_path / "in", FILES)
    source, out = str(tmp_path / "in"), str(tmp_path / "out")
    first = converted(source, out)
    assert len(done()) == len(FILES)
    assert converted(source, out) == first
    assert done() == []
    with (tmp_path / "in/src/b.cu").open("a") as f:
        f.write("// more\n")
    converted(source, out)
    assert done() == [f"{source}/src/b.cu"]
    with (tmp_path / "in/inc/w.cuh").open("a") as f:
        f.write("#define MORE 1\n")
    converted(source, out)
    assert done() == [f"{source}/inc/w.cuh", f"{source}/src/a.cu"]
    plant(tmp_path / "in", {"src/w.cuh": "#define W 64\n"})  # nobody includes it, but the place counts
    converted(source, out)
    assert done() == [f"{source}/src/w.cuh"]
    plant(tmp_path / "in", {"src/own.h": FILES["src/own.h"] + "#define CUDA_SUCCESS 0\n"})
    converted(source, out)
    # w.cuh includes nothing, so it is a part of a.cu; but it has no CUDA_SUCCESS in it
    assert done() == [f"{source}/{name}" for name in ("src/a.cu", "src/b.cu", "src/own.h")]
    plant(tmp_path / "in", {"src/own.h": FILES["src/own.h"] + "#define CUDA_SUCCESS 0\nstruct cudaMine {};\n"})
    plant(tmp_path / "in", {"inc/w.cuh": FILES["inc/w.cuh"] + "cudaMine w;\n"})
    converted(source, out)
    done()
    plant(tmp_path / "in", {"src/own.h": FILES["src/own.h"] + "#define CUDA_SUCCESS 0\n"})
    converted(source, out)
    assert f"{source}/inc/w.cuh" in done()
    converted(source, out, options=Options(warp="flag"))
    assert len(done()) == len(FILES) + 1


def test_an_output_that_is_there_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path / "in", {**FILES, "src/plain.cpp": "int plain();\n"})
    converted(str(tmp_path / "in"), str(tmp_path / "out"))
    looked: list[str] = []

    def counting(path: str | Path) -> str:
        looked.append(str(path))
        return digest_of(path)

    monkeypatch.setattr(output, "digest_of", counting)
    converted(str(tmp_path / "in"), str(tmp_path / "out"), over=True)
    sources = [name for name in map(os.path.basename, looked) if name.endswith((".cu", ".cpp", ".h", ".cuh"))]
    assert "plain.cpp" in sources
    assert len(sources) == len(set(sources))


def test_a_run_with_nothing_changed_writes_nothing(tmp_path: Path) -> None:
    plant(tmp_path / "in", FILES)
    out = tmp_path / "out"
    request = Request((str(tmp_path / "in"),), "out", str(out), workers=1, cache=True)
    run(request)

    def written() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_ino) for p in out.rglob("*") if p.is_file()}

    before = written()
    run(request)
    assert written() == before


def test_a_result_is_not_kept_when_its_file_or_header_changed_meanwhile(tmp_path: Path) -> None:
    plant(tmp_path, FILES)
    name = str(tmp_path / "src/a.cu")
    job = Job(0, name, name, Options(use_clang=False))
    kept = Kept(tmp_path / "kept")

    def result(cache: Cache, between: Callable[[], object]) -> Done | bytes:
        [(_, found)] = cache.results([job])
        if isinstance(found, bytes):
            between()
            cache.keep([(job, found, convert(job, Tools()))])
        return found

    def edit(path: Path) -> Callable[[], object]:
        return lambda: path.write_text(path.read_text() + "\n")

    assert isinstance(result(Cache(kept), edit(Path(name))), bytes)
    assert isinstance(result(Cache(kept), edit(tmp_path / "inc/w.cuh")), bytes)
    (tmp_path / "inc/w.cuh").write_text(FILES["inc/w.cuh"])
    assert isinstance(result(Cache(kept), lambda: None), bytes)
    assert result(Cache(kept), lambda: None) == convert(job, Tools())


def test_all_that_a_conversion_opens_counts(tmp_path: Path) -> None:
    """Whatever reads one more file must be seen by `reach`."""
    plant(tmp_path / "t", FILES | {"include/deep/far.h": "#define FAR 32\n", "src/sub/near.h": '#include "../own.h"\n'})
    more = '#include "sub/near.h"\n#include "deep/far.h"\nint cudaFree(int n) { return n; }\nint x = cudaFree(FAR);\n'
    plant(tmp_path / "t", {"src/a.cu": more + FILES["src/a.cu"]})
    path = str(tmp_path / "t/src/a.cu")
    found = trace(["convert", path, "-o", str(tmp_path / "a.hip"), "--no-cache"], tmp_path, tmp_path / "scratch")
    inside = {p for p in found.opens if p.startswith(str(tmp_path / "t")) and Path(p).is_file()} - {path}
    assert len(inside) >= 3, found.done.stderr
    seen: set[str] = set()

    class Watched(Reach):
        def _text(self, file: str, real: str) -> object:  # type: ignore[override]  # only the call is noted
            seen.add(os.path.normpath(file))
            return super()._text(file, real)

    assert Watched().digest(path, included(Path(path).read_bytes()), ())
    assert inside <= seen


@pytest.mark.parametrize(
    "text",
    [
        '%:include "a.h"',
        '#/**/include "a.h"',
        '#inc\\\nlude "a.h"\n#\\\ninclude "b.h"',
        '#include "/etc/passwd"',
        '#embed "a.bin"',
    ],
)
def test_a_file_whose_includes_are_not_known_is_not_kept(text: str) -> None:
    assert included(text.encode()) is None


def test_an_include_by_macro_is_known_to_be_one() -> None:
    assert included(b'#include MACRO\n#if __has_include(X)\n#include "a.h"\n') == ("", "a.h")
    assert Reach().digest("/nowhere/a.cu", ("", "a.h"), ()).startswith(DOUBT)


def test_includes_of_all_branches_are_seen() -> None:
    text = b'#if 0\n #  include <a.h>\n#endif\n// include "no.h"\n#import "b.h"\n#if __has_include( "c.h" )\n'
    assert included(text + b"#include_next <d.h>\n") == ("a.h", "b.h", "c.h", "d.h")


def test_a_damaged_cache_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    kept = Kept(path)
    kept.put({b"k": b"value"})
    assert Kept(path).get([b"k", b"other"]) == {b"k": b"value"}
    data = path.read_bytes()
    path.write_bytes(data.replace(b"value", b"v4lue"))
    assert Kept(path).get([b"k"]) == {}
    path.write_bytes(b"no database " * 1000)
    broken = Kept(path)
    assert broken.get([b"k"]) == {}
    broken.put({b"k": b"1"})  # it does nothing any more
    assert not path.exists()
    Kept(path).put({b"k": b"2"})
    assert Kept(path).get([b"k"]) == {b"k": b"2"}


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "kept")
    kept.put({b"k": b"v"})
    assert kept.get([b"k"]) == {}
    kept.prune()


def test_the_longest_unused_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(tmp_path / "kept", most_bytes=1000)
    now = 1_000_000
    monkeypatch.setattr("time.time", lambda: now)
    for n in range(20):
        now += 100_000
        kept.put({b"%d" % n: bytes(100)})
        kept.get([b"0"])  # it is used every day
    kept.prune()
    left = kept.get(b"%d" % n for n in range(20))
    assert set(left) == {b"0", *(b"%d" % n for n in range(14, 20))}


@pytest.mark.parametrize(
    "head",
    [
        ["converted", [[], [], ["../../evil.hpp"]], [True, 0], [], []],
        ["failed", [[], [], []], [True, 0], [], []],
        ["converted", [[], []], [True, 0], [], []],
        ["converted", [[], [], []], [True, 0], [], [[3, 1, 1, 1, 1, 1, 1]]],
        {"a": 1},
        None,
    ],
)
def test_an_entry_is_checked_like_a_strangers(tmp_path: Path, head: object) -> None:
    """Nobody but us should write there; if somebody does, no place to write comes from it."""
    plant(tmp_path, {"a.cu": "int main() { cudaFree(0); }\n"})
    name = str(tmp_path / "a.cu")
    job = Job(0, name, name, Options(use_clang=False))
    kept = Kept(tmp_path / "kept")
    [(_, key)] = Cache(kept).results([job])
    assert isinstance(key, bytes)
    text = json.dumps(head).encode()
    kept.put({key: len(text).to_bytes(8, "little") + text + b"int x;\n"})
    [(_, found)] = Cache(kept).results([job])
    assert found == key
