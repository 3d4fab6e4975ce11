"""What is written, over what, and what is not: nothing that cu2port did not write is replaced, removed or reached
through a link, and what somebody saves meanwhile stays."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cu2port.cli import cli
from cu2port.core import disk, file_rules
from cu2port.core.model import Judged, Options
from cu2port.project.convert import Ran, run
from cu2port.project.inplace import InPlace
from cu2port.project.jobs import Job, Tools
from cu2port.project.manifest import locked
from cu2port.project.output import TreeOutput
from cu2port.project.plan import Request
from cu2port.project.tree import CannotRun, Item, make_roots
from cu2port.project.workers import Pool

OLD = "int main() { cudaFree(0); }\n"
NEW = "#include <hip/hip_runtime.h>\nint main() { hipFree(0); }\n"
SHUFFLE = "__global__ void k(int* p) { p[threadIdx.x] = __shfl_sync(~0u, p[0], 0); }\n"
MIXED = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* p) { p[0] = min(p[1], 3); }\n"
FIX = ("--isolated", "--select", "CU214", "--info", "--unsafe-fixes")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cu2port(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="cu2port")


def plant(files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tree(folder: str) -> dict[str, str]:
    """All that is in a folder, without our state: texts, and where links lead."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file() and ".cu2port" not in path.parts:
            found[name] = path.read_text()
    return found


def convert(mode: Any, *inputs: str, tick: Any = lambda done, total: None, **more: Any) -> Ran:
    return run(Request(inputs, mode, workers=1, **more), None, tick)


def codes(ran: Ran) -> dict[str, list[str]]:
    found = {f.path: [e.code for e in f.entries if e.code.startswith("CU9")] for f in ran.record.files}
    return {path: own for path, own in found.items() if own}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- the state of an output folder is input of a stranger -------------------------------------------------------------

SENTINEL = {"keep/a.txt": "precious", "keep/deep/b.cu": "int x;\n", "src/a.cu": OLD, "out/mine.txt": "mine"}
NAMES = st.sampled_from([
    "../keep/a.txt", "{here}/keep/a.txt", "sub/../../keep/a.txt", "link/a.txt", "link/deep/b.cu", "loop/a.txt",
    "./mine.txt", "a//b", ".cu2port/manifest.json", "", ".", "..", "a\0b", "../src/a.cu", "x/" * 3000, "C:/x",
    "mine.txt", "mine.txt/x", "link", "ours.txt",
])  # fmt: skip
DIGESTS = st.sampled_from(
    [digest("precious"), digest("int x;\n"), digest(OLD), "*", "", "other", "link:../keep", "link:x"]
)
ENTRIES = st.one_of(
    st.tuples(DIGESTS, st.sampled_from(["../src", "", "/"])).map(list),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    ),
)
MANIFESTS = st.one_of(
    st.dictionaries(NAMES, ENTRIES, max_size=3).map(lambda f: {"schema": "cu2port-manifest/1", "files": f}),
    st.fixed_dictionaries({"schema": st.text(max_size=3), "files": ENTRIES}),
    ENTRIES,
    st.just("[" * 100_000),
)


@given(MANIFESTS, st.booleans())
def test_no_manifest_reaches_anything_else(
    tmp_path_factory: pytest.TempPathFactory, content: object, log: bool
) -> None:
    """Whatever a planted state says: all that it did not write is there afterwards, and the message is one line."""
    base = tmp_path_factory.mktemp("planted")
    for name, text in SENTINEL.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    out = base / "out"
    (out / "link").symlink_to("../keep")
    (out / "loop").symlink_to("loop")
    (out / ".cu2port").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    text = text.replace("{here}", str(base))
    if log:
        files = content.get("files") if isinstance(content, dict) else None
        lines = (
            [json.dumps([k, *v]) for k, v in files.items() if isinstance(v, list)]
            if isinstance(files, dict)
            else [text]
        )
        (out / ".cu2port" / "journal").write_text("\n".join(lines).replace("{here}", str(base)) + '\n["half')
    else:
        (out / ".cu2port" / "manifest.json").write_text(text)
    before = tree(str(base))
    output = TreeOutput(out)
    try:
        output.make()
        output.prepare(())
        output.finish(make_roots([str(base / "src")], into_one=True))
    except CannotRun as e:
        assert "\n" not in str(e).replace("\\n", "")
    finally:
        output.close()
    assert tree(str(base)) == before


def test_what_an_earlier_run_wrote_is_removed_by_name_alone() -> None:
    """The same folder without a planted state, so that the property above is no statement about nothing."""
    plant({"src/a.cu": OLD, "src/sub/b.cu": OLD})
    convert("out", "src", out="out")
    Path("src/sub/b.cu").unlink()
    Path("src/sub").rmdir()
    convert("out", "src", out="out")
    assert tree("out") == {"a.cu": NEW}


@pytest.mark.parametrize("name", ["out/.cu2port", "out/.cu2port/manifest.json", "out/.cu2port/journal"])
def test_the_state_is_not_reached_through_a_link(name: str) -> None:
    plant({"src/a.cu": OLD, "elsewhere/x": "x"})
    path = Path(name)
    path.parent.mkdir(parents=True)
    path.symlink_to(Path("elsewhere").resolve() / ("x" if name.count("/") > 1 else ""))
    done = cu2port("convert", "src", "-o", "out")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert f"{name} must be a f" in done.stderr
    assert tree("elsewhere") == {"x": "x"}


# --- never through a link ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [False, True])
def test_headers_are_not_written_through_a_link(force: bool) -> None:
    plant({"src/a.cu": SHUFFLE, "elsewhere/x": "x"})
    for folder in ("out", "src"):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "cu2port").symlink_to("../elsewhere")
    ran = convert("out", "src/a.cu", out="out/", force=force)
    assert codes(ran) == {"out/cu2port/warp.hpp": ["CU911"]}
    ran = convert("in-place", "src", force=force)
    assert file_rules.FOREIGN_HEADER.code in str(codes(ran))
    assert tree("elsewhere") == {"x": "x"}
    assert Path("src/cu2port").is_symlink()


def test_a_folder_of_the_output_that_is_a_link_stops_the_run() -> None:
    plant({"src/a/deep/x.cu": OLD, "src/b.cu": OLD, "elsewhere/deep/x.cu": "mine"})
    Path("out").mkdir()
    Path("out/a").symlink_to("../elsewhere")
    for more in ([], ["--force"]):
        done = cu2port("convert", "src", "-o", "out", *more)
        assert done.exit_code == 2
        assert "out/a" in done.stderr
    assert tree("out") == {"a": "-> ../elsewhere"}
    assert tree("elsewhere") == {"deep/x.cu": "mine"}


def test_a_link_is_no_input_of_in_place() -> None:
    plant({"lib/a.cu": OLD, "lib/l.cu": "int mine;\n", "src/x": ""})
    Path("src/l.cu").symlink_to("../lib/a.cu")
    for more in ([], ["--rename", ".hip"], ["--force"]):
        done = cu2port("convert", "src/l.cu", "--in-place", *more)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "src/l.cu is a link to " in done.stderr
    assert tree("lib") == {"a.cu": OLD, "l.cu": "int mine;\n"}
    assert tree("src") == {"l.cu": "-> ../lib/a.cu", "x": ""}


def test_links_keep_their_text_in_place() -> None:
    plant({"src/a.cu": OLD, "src/sub/x": ""})
    Path("src/sub/far.cu").symlink_to(Path("src/a.cu").resolve())
    Path("src/sub/near.cu").symlink_to("../a.cu")
    far = Path("src/sub/far.cu").readlink()
    convert("in-place", "src")
    assert Path("src/sub/far.cu").readlink() == far
    convert("in-place", "src", options=Options(rename=".hip"))
    assert tree("src") == {
        "a.hip": NEW,
        "sub/far.hip": f"-> {str(far)[:-3]}.hip",
        "sub/near.hip": "-> ../a.hip",
        "sub/x": "",
    }


# --- what cu2port did not write ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ignored", ["", "*.hip\n"])
@pytest.mark.parametrize("given", ["src", "src/a.cu"])
def test_a_new_name_that_is_taken_stays_whose_it_is(given: str, ignored: str) -> None:
    plant({"src/a.cu": OLD, "src/a.hip": "mine", "src/.gitignore": ignored})
    done = cu2port("convert", given, "--in-place", "--rename", ".hip")
    assert done.exit_code == 1
    assert f"src/a.cu: {file_rules.NAME_TAKEN.code}" in done.stdout
    assert tree("src") == {".gitignore": ignored, "a.cu": NEW, "a.hip": "mine"}


def test_one_file_replaces_what_it_wrote_and_nothing_else() -> None:
    plant({"a.cu": OLD, "b.hip": "mine"})
    done = cu2port("convert", "a.cu", "-o", "b.hip")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cu2port did not write this file" in done.stderr and "--force" in done.stderr
    assert Path("b.hip").read_text() == "mine"
    assert cu2port("convert", "a.cu", "-o", "b.hip", "--force").exit_code == 0
    assert cu2port("convert", "a.cu", "-o", "b.hip").exit_code == 0
    plant({"a.cu": OLD + OLD})
    assert cu2port("convert", "a.cu", "-o", "b.hip").exit_code == 0
    assert Path("b.hip").read_text().count("hipFree") == 2
    plant({"b.hip": "mended", "a.cu": OLD})
    assert cu2port("convert", "a.cu", "-o", "b.hip").exit_code == 2
    assert Path("b.hip").read_text() == "mended"
    assert CliRunner().invoke(cli, ["convert", "-", "-o", "b.hip"], input=OLD).exit_code == 2
    Path("b.hip").unlink()
    Path("b.hip").symlink_to("c.hip")
    done = cu2port("convert", "a.cu", "-o", "b.hip", "--force")
    assert done.exit_code == 2 and "is a link" in done.stderr
    assert not Path("c.hip").exists()


def test_a_module_of_ptx_replaces_what_it_wrote_and_nothing_else() -> None:
    plant({"k.ptx": ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n", "k.hip": "mine"})
    done = cu2port("ptx", "k.ptx", "-o", "k.hip")
    assert done.exit_code == 2 and "--force" in done.stderr
    assert cu2port("ptx", "k.ptx", "-o", "k.hip", "--force").exit_code == 0
    assert cu2port("ptx", "k.ptx", "-o", "k.hip").exit_code == 0
    plant({"k.hip": Path("k.hip").read_text() + "// mended\n"})
    assert cu2port("ptx", "k.ptx", "-o", "k.hip").exit_code == 2


def test_reports_go_where_they_are_told_but_not_over_sources_and_links() -> None:
    plant({"a.cu": OLD, "x.py": "mine", "config.json": '{"mine": 1}', "elsewhere": "mine"})
    Path("l.json").symlink_to("elsewhere")
    pipe = Path("pipe.txt")
    os.mkfifo(pipe)
    for words in (
        ["lint", "a.cu", "--output-file", "a.cu"],
        ["lint", "a.cu", "--output-file", "x.py"],
        ["lint", "a.cu", "--output-format", "json", "--output-file", "l.json"],
        ["lint", "a.cu", "--write-baseline", "config.json"],
        ["audit", "a.cu", "-o", "l.json"],
        ["convert", "a.cu", "--dry-run", "--report", "l.json"],
    ):
        done = cu2port(*words)
        assert done.exit_code == 2, words
        assert done.stderr.count("\n") == 1
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert cu2port("audit", "a.cu", "-o", "pipe.txt").exit_code in (0, 1)
    assert os.read(reader, 10)
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    pipe.unlink()
    assert tree(".") == {
        "a.cu": OLD, "x.py": "mine", "config.json": '{"mine": 1}', "elsewhere": "mine", "l.json": "-> elsewhere"
    }  # fmt: skip
    for _ in range(2):
        assert cu2port("convert", "a.cu", "--dry-run", "--report", "r.json").exit_code == 0
        assert cu2port("lint", "a.cu", "--write-baseline", "known.json").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        *(f"audit a.cu -o r.{x}" for x in ("json", "md", "html", "txt", "sarif")),
        *(f"convert a.cu --dry-run --report r.{x}" for x in ("json", "jsonl")),
        *(f"lint a.cu -o r.{x}" for x in ("json", "sarif", "xml", "txt")),
        "lint a.cu -o r.txt --output-format gitlab",
        "lint a.cu --write-baseline r.json",
        "verify a.cu --report r.json",
    ],
)
def test_a_report_replaces_reports_and_nothing_else(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant({"a.cu": SHUFFLE, "package.json": "mine"})
    name = words.split()[3 if words.startswith(("audit", "lint", "verify")) else 4]
    for mine in ('{"mine": 1}', "# mine\n\nabout cu2port\n"):
        plant({name: mine})
        done = cu2port(*words.split())
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1) and name in done.stderr
        assert Path(name).read_text() == mine
    Path(name).unlink()
    if words.startswith("verify"):
        return  # it would compile
    for _ in range(2):
        assert cu2port(*words.split()).exit_code in (0, 1)
    if name.endswith((".md", ".html", ".txt")) or "jsonl" in name:
        Path(name).write_text(Path(name).read_text() + "mine")
        assert cu2port(*words.split()).exit_code == 2
    plant({name: ""})
    if "baseline" not in words:
        assert cu2port(*words.split()).exit_code in (0, 1)


# --- headers come first, and come again -------------------------------------------------------------------------------


def test_a_header_is_there_before_what_includes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plant({f"{d}/{i}.cu": SHUFFLE for i in range(3) for d in ("out-src", "src")})
    plant({"lint/a.hip": '#include "cu2port/warp.hpp"\n' + MIXED})
    missing: list[str] = []
    settle = disk.settle

    def look(temporary: str, path: Path | str, over: str | None) -> None:
        if b'include "cu2port/warp.hpp"' in Path(temporary).read_bytes():
            folder = Path(path).resolve().parent
            missing.extend([str(path)] if not (folder / "cu2port" / "warp.hpp").is_file() else ["ok"])
        settle(temporary, path, over)

    monkeypatch.setattr(disk, "settle", look)
    convert("out", "out-src", out="out")
    convert("in-place", "src")
    cu2port("convert", "src/0.cu", "-o", "one.hip")
    monkeypatch.chdir("lint")
    cu2port("lint", "a.hip", *FIX)
    assert missing == ["ok"] * 8, missing


def test_what_is_converted_already_gets_the_headers_it_includes() -> None:
    plant({"src/sub/a.cu": SHUFFLE, "lint/a.hip": '#include "cu2port/ptx.hpp"\n' + MIXED})
    convert("in-place", "src")
    whole = tree("src")
    for name in list(whole):
        if name.startswith("cu2port/"):
            Path("src", name).unlink()
    convert("in-place", "src")
    assert tree("src") == whole
    convert("out", "src", out="out")
    assert tree("out") == whole
    assert not convert("dry-run", "src").notes
    os.chdir("lint")
    cu2port("lint", "a.hip", *FIX)
    assert {"cu2port/ptx.hpp", "cu2port/warp.hpp"} <= set(tree("."))
    Path("cu2port/ptx.hpp").unlink()
    cu2port("lint", "a.hip", *FIX)  # there is nothing left to fix
    assert "cu2port/ptx.hpp" in tree(".")


def test_an_older_header_in_the_input_gives_way_to_the_one_that_code_needs() -> None:
    plant({"src/a.cu": SHUFFLE, "src/cu2port/warp.hpp": "// cu2port warp, older\n"})
    for _ in range(2):
        convert("out", "src", out="out")
        assert len(Path("out/cu2port/warp.hpp").read_text()) > 1000


# --- what is saved meanwhile ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("warp", ["logical", "native"])
@pytest.mark.parametrize("suffix", ["", ".hip"])
def test_an_edit_meanwhile_wins(warp: str, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant({f"src/{i}.cu": OLD for i in range(4)})
    put = InPlace.put

    def edited(self: InPlace, name: str, data: bytes, read: str) -> Judged | None:
        if name.endswith(("1.cu", "2.cu")):
            Path(name).write_text("int edited;\n")
        return put(self, name, data, read)

    monkeypatch.setattr(InPlace, "put", edited)
    ran = convert("in-place", "src", options=Options(warp=warp, rename=suffix))
    assert codes(ran) == {f"src/{i}.cu": [file_rules.NOT_REPLACED.code] for i in (1, 2)}
    assert ran.record.open == 2
    assert tree("src") == {"0.cu": NEW, "1.cu": "int edited;\n", "2.cu": "int edited;\n", "3.cu": NEW}
    assert [f.status for f in ran.record.files] == ["converted", "failed", "failed", "converted"]
    assert [f.output for f in ran.record.files] == ["src/0.cu", "", "", "src/3.cu"]
    assert bool(suffix) == any("no file has a new name" in n for n in ran.notes)


def test_all_that_is_saved_while_native_collects_stays() -> None:
    plant({f"src/{i}.cu": OLD for i in range(8)})

    def edit(done: int, total: int) -> None:
        if done == total:
            plant({f"src/{i}.cu": "int edited;\n" for i in range(8)})

    ran = convert("in-place", "src", options=Options(warp="native"), tick=edit)
    assert len(codes(ran)) == 8
    assert set(tree("src").values()) == {"int edited;\n"}


def test_an_edit_in_the_last_moment_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rename = disk._rename
    saved: list[tuple[bool, str]] = []

    def late(old: str, new: str, flag: int) -> bool:
        if saved:
            aside, text = saved.pop()
            Path("other" if aside else new).write_text(text)
            if aside:
                Path("other").replace(new)
        return rename(old, new, flag)

    monkeypatch.setattr(disk, "_rename", late)
    # before the names are exchanged, and the last also before they are exchanged back
    for saves in ([(True, "x")], [(False, "x")], [(True, "x"), (True, "y")]):
        plant({"a.cu": OLD})
        saved[:] = saves
        with pytest.raises(disk.Refused, match="changed while"):
            disk.write("a.cu", b"ours", over=disk.digest_of("a.cu"))
        assert tree(".") == {"a.cu": "x"}
    saved[:] = [(True, "x")]
    Path("a.cu").unlink()
    with pytest.raises(disk.Refused, match="is there already"):
        disk.write("a.cu", b"ours", over=disk.ABSENT)
    assert tree(".") == {"a.cu": "x"}


def test_lint_leaves_what_is_saved_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    plant({"a.hip": MIXED})

    def edited(*given: object) -> list[object]:
        plant({"a.hip": "int mine;\n"})
        return []

    monkeypatch.setattr("cu2port.cli.lint._headers", edited)
    done = cu2port("lint", "a.hip", *FIX)
    assert done.exit_code == 1
    assert "CU916" in done.stdout
    assert tree(".") == {"a.hip": "int mine;\n"}


def test_a_source_that_changes_while_it_is_copied_is_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    plant({"src/a.cu": "int x;\n", "src/b.cu": OLD})
    put = TreeOutput.put

    def edited(self: TreeOutput, item: Item, data: bytes | None, *more: Any) -> Judged | None:
        if item.relative == "a.cu":
            plant({"src/a.cu": OLD})
        return put(self, item, data, *more)

    monkeypatch.setattr(TreeOutput, "put", edited)
    ran = convert("out", "src", out="out")
    assert codes(ran) == {"src/a.cu": [file_rules.NOT_REPLACED.code]}
    assert tree("out") == {"b.cu": NEW}
    assert codes(convert("out", "src", out="out")) == {}
    assert tree("out") == {"a.cu": NEW, "b.cu": NEW}


# --- owner, mode, attributes, hard links ------------------------------------------------------------------------------


def test_attributes_stay() -> None:
    plant({"a.cu": OLD, "b.hip": MIXED})
    for name in ("a.cu", "b.hip"):
        os.setxattr(name, "user.note", b"mine")
        if os.geteuid() == 0:
            os.chown(name, 1234, 1235)
        Path(name).chmod(0o4750)
    before = [os.lstat(n) for n in ("a.cu", "b.hip")]
    convert("in-place", "a.cu")
    cu2port("lint", "b.hip", *FIX)
    assert Path("a.cu").read_text() == NEW
    assert Path("b.hip").read_text() != MIXED
    for name, was in zip(("a.cu", "b.hip"), before, strict=True):
        now = os.lstat(name)
        assert (now.st_mode, now.st_uid, now.st_gid) == (was.st_mode, was.st_uid, was.st_gid)
        assert os.getxattr(name, "user.note") == b"mine"


def test_hard_links_are_refused_by_name() -> None:
    plant({"src/a.cu": OLD, "src/c.cu": OLD})
    os.link("src/a.cu", "b.cu")
    done = cu2port("convert", "src", "--in-place")
    assert done.exit_code == 1
    assert "src/a.cu: CU916 not-replaced: it is one file under 2 names" in done.stdout
    assert (Path("src/a.cu").read_text(), Path("b.cu").read_text()) == (OLD, OLD)
    assert Path("src/c.cu").read_text() == NEW
    assert cu2port("convert", "src", "--in-place", "--force").exit_code == 0
    assert (Path("src/a.cu").read_text(), Path("b.cu").read_text()) == (NEW, OLD)


def test_in_place_reaches_the_disk_before_the_name_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text is synced before it gets its place, and each folder after that."""
    plant({"src/a.cu": OLD, "src/sub/b.cu": SHUFFLE})
    seen: list[str] = []
    fsync, settle = os.fsync, disk.settle

    def note(descriptor: int) -> None:
        seen.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def place(temporary: str, path: Path | str, over: str | None) -> None:
        seen.append("place")
        settle(temporary, path, over)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(disk, "settle", place)
    convert("in-place", "src")
    assert seen == ["file", "place"] * 3 + ["folder"] * 3


# --- two runs, full disks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["src", "-o", "out"], ["src", "--in-place"]])
def test_two_runs_do_not_write_to_one_folder(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plant({"src/a.cu": OLD, "out/x": ""})
    monkeypatch.setattr("cu2port.project.manifest._PATIENCE_S", 0.05)
    with locked([Path("src"), Path("out")]):
        done = cu2port("convert", *words)
    assert (done.exit_code, done.stderr.count("another run of cu2port writes there")) == (2, 1)
    assert Path("src/a.cu").read_text() == OLD
    assert cu2port("convert", *words).exit_code == 0


def is_open(job: Job, tools: Tools) -> bool:
    try:
        os.fstat(int(job.path))
    except OSError:
        return False
    return True


def test_a_lock_ends_with_the_process_that_took_it() -> None:
    """A worker that goes on for a while after its parent was killed does not hold it."""
    with locked([Path()]) as held:
        for kept in ([], held):
            with Pool(1, held=kept) as pool:
                job = Job(0, str(held[0]), "", Options())
                assert [found for _, found in pool.run(is_open, [job])] == [not kept]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A disk that is full after some writes; the list holds how many there may be."""
    left = [10**9]
    opened = os.fdopen

    def fdopen(descriptor: int, mode: str = "r", *more: Any, **named: Any) -> Any:
        if "w" in mode:
            left[0] -= 1
            if left[0] < 0:
                os.close(descriptor)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(descriptor, mode, *more, **named)

    monkeypatch.setattr(os, "fdopen", fdopen)
    yield left
    monkeypatch.undo()


@pytest.mark.parametrize("after", range(7))
@pytest.mark.parametrize("mode", ["out", "in-place"])
def test_a_full_disk(mode: str, after: int, full: list[int]) -> None:
    """Whole files only, headers with what includes them, one line for each loss, and the next run does the rest."""
    sources = {f"{i}.cu": SHUFFLE + f"// {i}\n" for i in range(3)} | {"x.txt": "x"}
    for folder in ("src", "good"):
        plant({f"{folder}/{name}": text for name, text in sources.items()})
    convert("in-place", "good")
    good = tree("good")
    full[0] = after
    ran = convert(mode, "src", out="out")
    assert ran.record.open or full[0] >= 0
    full[0] = 10**9
    where = "out" if mode == "out" else "src"
    found = tree(where)
    for name, text in found.items():
        assert text in (good[name], sources.get(name))
        if "cu2port/" in text:
            assert "cu2port/warp.hpp" in found
    convert(mode, "src", out="out")
    assert tree(where) == good
