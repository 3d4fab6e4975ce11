"""Trees: what is walked, where it goes, which files belong together, what workers survive, what is written."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import networkx as nx
import pytest

from cu2port.core import file_rules
from cu2port.core.disk import replacing, write
from cu2port.core.model import Finding, Judged, Options, Outcome, Project, Result, Severity, replace
from cu2port.core.record import FileRecord
from cu2port.engine import translate as engine
from cu2port.facts.declared import Names
from cu2port.project import compile_db, jobs, results
from cu2port.project.convert import Ran, run
from cu2port.project.graph import Graph, Scan, scan_includes
from cu2port.project.helper_headers import HelperHeaders
from cu2port.project.ignore import patterns
from cu2port.project.jobs import Job, Tools
from cu2port.project.plan import Request
from cu2port.project.tree import (
    SOURCE_SUFFIXES,
    CannotRun,
    Item,
    helper_prefix,
    make_roots,
    parse_size,
    rename,
    suffix_of,
    walk,
)
from cu2port.project.workers import Lost, Pool, collect_between
from cu2port.report import json_report, terminal

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in translator reaches workers by fork")


def stand_in(source: bytes, options: Options, *, path: str, project: Project, clang: object = None) -> Result:
    """A translator small enough to see through: `cudaOld` becomes `hipNew`, and words make it misbehave."""
    if b"RAISE" in source and (options.use_clang or b"ALWAYS" in source):
        raise KeyError("stand-in")
    if b"ABORT" in source and (options.use_clang or b"ALWAYS" in source):
        os.kill(os.getpid(), signal.SIGKILL)
    if b"SLEEP" in source and (options.use_clang or b"ALWAYS" in source):
        time.sleep(60)
    found = []
    output = source.replace(b"cudaOld", b"hipNew")
    for at in (i for i in range(len(source)) if source.startswith(b"cudaOld", i)):
        edit = replace(at, at + 7, "hipNew")
        info = Finding(
            "CU101", "api-rename", Severity.INFO, "renamed", at, at + 7, (edit,), cuda="cudaOld", hip="hipNew"
        )
        found.append(Judged(info, Outcome.APPLIED))
    if b"cudaLeft" in source:
        at = source.index(b"cudaLeft")
        left = Finding("CU103", "api-unsupported", Severity.WARNING, "no counterpart", at, at + 8, cuda="cudaLeft")
        found.append(Judged(left, Outcome.MANUAL))
    for name in project.renamed:
        output = output.replace(f'"{name}"'.encode(), f'"{name[:-3]}{options.rename}"'.encode())
    helpers = frozenset({"warp.hpp"}) if b"WARP" in source else frozenset()
    if helpers:
        output = output.replace(b"WARP", f'#include "{project.helper_prefix}warp.hpp"'.encode())
    output = output.replace(b"DECLARED", ",".join(sorted(project.declared)).encode())
    output = output.replace(b"MACROS", ",".join(options.defines).encode())
    output = output.replace(b"FOLDERS", ",".join(options.include_dirs).encode())
    status = "converted" if output != source else "copied"
    return Result(path, source, output, tuple(found), status, helpers=helpers)


@pytest.fixture
def translator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The stand-in translator, and a stand-in for the folder of helper headers."""
    monkeypatch.setattr(engine, "translate", stand_in)
    monkeypatch.setattr(results, "load_catalog", lambda rules: None)  # what the stand-in does not need
    monkeypatch.setattr(results, "all_checks", lambda: None)
    monkeypatch.setattr(Tools, "clang", None)
    package = tmp_path / "package"
    package.mkdir()
    (package / "warp.hpp").write_text('// cu2port warp\n#include "base.hpp"\n#include <hip/hip_runtime.h>\n')
    (package / "base.hpp").write_text("// cu2port base\n")
    made = HelperHeaders.__init__

    def init(self: HelperHeaders) -> None:
        made(self)
        self._folder = package

    monkeypatch.setattr(HelperHeaders, "__init__", init)
    monkeypatch.chdir(tmp_path)


def plant(folder: Path, **files: str | bytes) -> Path:
    """Make files; a keyword's `__` is `/` and its last `_` the dot: `sub__a_cu="..."`."""
    for key, content in files.items():
        stem, _, suffix = key.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def into(out: str, *inputs: str, **more: Any) -> Ran:
    """Convert into a folder."""
    return run(Request(inputs, "out", out, **more))


def tree(folder: str | Path) -> dict[str, bytes | str]:
    """What is in a folder without our state: file contents, and `-> target` of links."""
    base = Path(folder)
    found: dict[str, bytes | str] = {}
    for path in sorted(base.rglob("*")):
        name = path.relative_to(base).as_posix()
        if ".cu2port" in path.parts:
            continue
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"  # noqa: PTH115
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def codes(ran: Ran) -> dict[str, list[str]]:
    """CU9xx codes by path."""
    found = {f.path: [e.code for e in f.entries if e.code.startswith("CU9")] for f in ran.record.files}
    return {path: own for path, own in found.items() if own}


def record(ran: Ran, path: str) -> FileRecord:
    return next(f for f in ran.record.files if f.path == path)


# walking


def items(folder: Path, exclude: tuple[str, ...] = ()) -> dict[str, Item]:
    (root,) = make_roots([str(folder)], into_one=True)
    return {i.relative: i for i in walk(root, frozenset(), patterns(exclude) if exclude else None)}


def kept(folder: Path) -> set[str]:
    """What is in a folder and not ignored."""
    return {name for name, item in items(folder).items() if item.kind != "ignored"}


def test_sources_are_known_by_suffix(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", b_CUH="", c_txt="", d_cpp="", e_hip="", f_in="")
    (tmp_path / "g.cu.in").write_text("")
    for name in ("h.cpp.Cuda", "i.def", "j.hu", "k.cuda", "l.txt.cuda"):
        (tmp_path / name).write_text("")
    (tmp_path / "cu").write_text("")
    kinds = {name: item.kind for name, item in items(tmp_path).items()}
    assert kinds == {
        "a.cu": "source",
        "b.CUH": "source",
        "c.txt": "copy",
        "cu": "copy",
        "d.cpp": "source",
        "e.hip": "copy",
        "f.in": "copy",
        "g.cu.in": "source",
        "h.cpp.Cuda": "source",
        "i.def": "source",
        "j.hu": "source",
        "k.cuda": "copy",
        "l.txt.cuda": "copy",
    }
    assert all(suffix_of(f"x{s}") == s for s in SOURCE_SUFFIXES)


def test_version_control_and_ignored_files_are_left_out(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", a_o="", build__b_cu="", sub__keep_o="", sub__x_tmp="", sub__deep__x_tmp="")
    git(tmp_path, "init", "-q")
    for name in (".git", ".hg", ".svn", ".bzr", "CVS", "sub/.svn"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.cu").write_text("")
    (tmp_path / ".gitignore").write_text("*.o\nbuild/\n# comment\n\n[\n")
    (tmp_path / "sub" / ".gitignore").write_text("!keep.o\n/x.tmp\n")
    found = items(tmp_path)
    ignored = {"a.o", "build", "sub/x.tmp"}
    assert set(found) == {".gitignore", "a.cu", "sub/.gitignore", "sub/keep.o", "sub/deep/x.tmp", *ignored}
    assert {name for name, item in found.items() if item.kind == "ignored"} == ignored


def test_ignore_files_above_the_input_hold_up_to_the_repository(tmp_path: Path) -> None:
    plant(tmp_path, repo__src__a_cu="", repo__src__a_log="", repo__src__b_log="")
    (tmp_path / ".gitignore").write_text("*.cu\n")  # above the repository: not git's
    git(tmp_path / "repo", "init", "-q")
    (tmp_path / "repo" / ".gitignore").write_text("/src/a.log\n")
    assert kept(tmp_path / "repo" / "src") == {"a.cu", "b.log"}
    (tmp_path / "repo" / ".gitignore").write_text("src/\n")  # the user names an ignored folder: it is meant
    assert kept(tmp_path / "repo" / "src") == {"a.cu", "a.log", "b.log"}


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_what_git_tracks_is_not_ignored(tmp_path: Path) -> None:
    plant(tmp_path, lib__a_cu="", lib__b_cu="", c_cu="")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "lib/a.cu")
    (tmp_path / ".gitignore").write_text("lib/\nc.cu\n")
    assert kept(tmp_path) == {".gitignore", "lib/a.cu"}


def test_ignore_files_hold_in_a_git_work_tree_alone(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", data_h="", gen__b_cu="", inner__c_log="", inner__data_h="")
    (tmp_path / ".gitignore").write_text("*.h\ngen/\n")
    everything = {".gitignore", "a.cu", "data.h", "gen/b.cu", "inner/c.log", "inner/data.h"}
    assert kept(tmp_path) == everything
    (tmp_path / ".git").mkdir()  # not a repository, whatever it is called
    assert kept(tmp_path) == everything
    (tmp_path / ".git").rmdir()
    git(tmp_path / "inner", "init", "-q")  # has its own rules
    (tmp_path / "inner" / ".gitignore").write_text("*.log\n")
    assert kept(tmp_path) == {*everything, "inner/.gitignore"} - {"inner/c.log"}
    git(tmp_path, "init", "-q")
    assert kept(tmp_path) == {".gitignore", "a.cu", "inner/.gitignore", "inner/data.h"}


def test_nothing_is_ignored_where_the_index_cannot_be_read(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", lib__b_cu="")
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("lib/\n")
    (tmp_path / ".git" / "index").write_bytes(b"DIRC, but of another version")
    assert kept(tmp_path) == {".gitignore", "a.cu", "lib/b.cu"}


def test_an_output_inside_a_work_tree_keeps_what_is_ignored_there(tmp_path: Path, translator: None) -> None:
    plant(tmp_path / "src", a_cu="cudaOld", data_h="1")
    (tmp_path / "src" / ".gitignore").write_text("*.h\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "src")
    into("one", "src")
    again = into("two", "one")
    assert (tmp_path / "two" / "data.h").read_text() == "1"
    assert again.record.ignored == ()


def test_what_is_ignored_is_counted(tmp_path: Path, translator: None) -> None:
    plant(tmp_path / "src", a_cu="cudaOld", data_o="1", build__x_cu="", build__y_cu="")
    (tmp_path / "src" / ".gitignore").write_text("*.o\nbuild/\n")
    git(tmp_path / "src", "init", "-q")
    record = into("out", "src").record
    assert record.ignored == ("src/build", "src/data.o")
    assert "ignored          2  src/build, src/data.o (git ignores them)" in list(terminal.summary(record))
    assert json_report.document(record)["summary"]["ignored"] == ["src/build", "src/data.o"]


def test_excluded_files_are_not_sources_and_stay_there(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", vendor__b_cu="", vendor__deep__c_cu="", d_gen_cu="")
    found = items(tmp_path, ("vendor/", "*_gen.cu"))
    kinds = {name: item.kind for name, item in found.items()}
    assert kinds == {"a.cu": "source", "vendor/b.cu": "copy", "vendor/deep/c.cu": "copy", "d_gen.cu": "copy"}


@pytest.mark.parametrize("bad", ["!", "[z-a]"])
def test_a_bad_glob_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match=r"is not a glob"):
        patterns([bad])


def test_links_inside_stay_links(tmp_path: Path) -> None:
    base = plant(tmp_path / "src", a_cu="", sub__b_cu="")
    (base / "one.cu").symlink_to("a.cu")
    (base / "sub" / "up.cu").symlink_to("../a.cu")
    (base / "folder").symlink_to("sub")
    (base / "absolute.cu").symlink_to(base / "sub" / "b.cu")
    (base / "sub" / "round.cu").symlink_to("../../src/a.cu")  # out and in again: in OUT it would lead to the input
    found = {name: (i.kind, i.link) for name, i in items(base).items() if i.kind == "link"}
    assert found == {
        "one.cu": ("link", "a.cu"),
        "sub/up.cu": ("link", "../a.cu"),
        "folder": ("link", "sub"),
        "absolute.cu": ("link", "sub/b.cu"),
        "sub/round.cu": ("link", "../a.cu"),
    }


def test_links_that_lead_out_round_and_nowhere(tmp_path: Path) -> None:
    plant(tmp_path / "outside", far_cu="far", far_txt="far")
    base = plant(tmp_path / "src", a_cu="")
    (base / "far.cu").symlink_to("../outside/far.cu")
    (base / "folder").symlink_to("../outside")
    (base / "self").symlink_to("self")
    (base / "here").symlink_to(".")
    (base / "gone").symlink_to("nowhere")
    found = items(base)
    assert {n: i.kind for n, i in found.items()} == {
        "a.cu": "source",
        "far.cu": "link",
        "folder": "link",
        "self": "link",
        "here": "link",
        "gone": "link",
    }
    assert found["folder"].link == "../outside"
    assert found["far.cu"].link == "../outside/far.cu"
    own = {n: i.found[0].finding.code for n, i in found.items() if i.found}
    loop = file_rules.LINK_LOOP.code
    assert own == {
        "far.cu": file_rules.LEAVES_TREE.code,
        "folder": file_rules.LEAVES_TREE.code,
        "self": loop,
        "here": loop,
        "gone": loop,
    }


@pytest.mark.parametrize(
    "text", ["../secret/key.cu", "{}/secret/key.cu", "../secret", "sub/../../secret/key.txt", "way/key.cu"]
)
def test_nothing_of_what_a_link_outside_leads_to_gets_into_the_output(
    tmp_path: Path, translator: None, text: str
) -> None:
    plant(tmp_path / "secret", key_cu="cudaOld SECRET", key_txt="SECRET")
    base = plant(tmp_path / "src", a_cu="cudaOld", sub__b_cu="")
    (base / "way").symlink_to("../secret")
    (base / "link.cu").symlink_to(text.format(tmp_path))
    ran = into("out", "src")
    assert str((tmp_path / "out" / "link.cu").readlink()) == text.format(tmp_path)
    (tmp_path / "secret").rename(tmp_path / "moved")
    assert not any(b"SECRET" in p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file())
    said = {f.path: e.code for f in ran.record.files for e in f.entries if e.code == file_rules.LEAVES_TREE.code}
    assert said == {"src/link.cu": file_rules.LEAVES_TREE.code, "src/way": file_rules.LEAVES_TREE.code}


def test_odd_things_are_named(tmp_path: Path) -> None:
    plant(tmp_path / "x.cu", a_cu="")
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "empty").mkdir()
    found = items(tmp_path)
    assert {n: i.kind for n, i in found.items()} == {
        "x.cu": "none",
        "x.cu/a.cu": "source",
        "pipe.cu": "none",
        "empty": "folder",
    }
    assert found["x.cu"].found[0].finding.code == file_rules.SOURCE_FOLDER.code
    assert found["pipe.cu"].found[0].finding.code == file_rules.SPECIAL.code


def test_an_unreadable_folder_does_not_stop_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, a_cu="", locked__b_cu="", z__c_cu="")
    scandir = os.scandir

    def refuse(path: Path) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = items(tmp_path)
    assert set(found) == {"a.cu", "locked", "z/c.cu"}
    message = found["locked"].found[0].finding.message
    assert "Permission denied" in message and "right to read" in message


def test_a_walk_is_in_a_fixed_order(tmp_path: Path) -> None:
    plant(tmp_path, b_cu="", a_cu="", z__b_cu="", m__a_cu="")
    assert list(items(tmp_path)) == ["a.cu", "b.cu", "m/a.cu", "z/b.cu"]


# inputs


def test_roots_are_shown_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, src__a_cu="", b_cu="")
    monkeypatch.chdir(tmp_path)
    shown = {given: make_roots([given], into_one=True)[0] for given in ("src", "./src/", ".", "b.cu")}
    assert shown["src"].shown("a.cu") == "src/a.cu"
    assert shown["./src/"].shown("a.cu") == "src/a.cu"
    assert shown["."].shown("src/a.cu") == "src/a.cu"
    assert shown["b.cu"].shown("b.cu") == "b.cu"


def test_roots_that_do_not_go_together(tmp_path: Path) -> None:
    plant(tmp_path, one__src__a_cu="", two__src__a_cu="")
    one, two = str(tmp_path / "one" / "src"), str(tmp_path / "two" / "src")
    with pytest.raises(CannotRun, match="would both become `src`"):
        make_roots([one, two], into_one=True)
    assert len(make_roots([one, two], into_one=False)) == 2
    with pytest.raises(CannotRun, match="is in"):
        make_roots([str(tmp_path), one], into_one=False)
    with pytest.raises(CannotRun, match="no such file or folder"):
        make_roots([str(tmp_path / "gone")], into_one=True)


@pytest.mark.parametrize(("text", "size"), [("8M", 8 << 20), ("10", 10), ("1k", 1024), ("2 GiB", 2 << 30), ("0", 0)])
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "8T", "-1", "1.5M"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(CannotRun, match="--max-size"):
        parse_size(text)


def test_helper_prefix() -> None:
    assert [helper_prefix(t) for t in ("a.cu", "s/a.cu", "s/t/a.cu")] == ["cu2port/", "../cu2port/", "../../cu2port/"]


def test_rename_moves_files_and_links_but_takes_no_name(tmp_path: Path) -> None:
    plant(tmp_path, a_cu="", b_cu="", b_hip="", c_cuh="", x_cpp="")
    (tmp_path / "link.cu").symlink_to("a.cu")
    (tmp_path / "other").symlink_to("a.cu")
    found = {i.relative: i for i in rename(list(items(tmp_path).values()), ".hip")}
    assert {n: i.target for n, i in found.items() if i.target != n} == {"a.cu": "a.hip", "link.cu": "link.hip"}
    assert found["link.cu"].link == found["other"].link == "a.hip"
    assert [j.finding.code for j in found["b.cu"].found] == [file_rules.NAME_TAKEN.code]


# what belongs together


def test_includes_are_scanned_as_written() -> None:
    text = b'#include "a.h"\n  #  include <b/c.h> // x\n%:include "d.h"\n#include MACRO\n// #include "no.h"\n'
    text += b'#include "a.h"\n'
    assert scan_includes(text) == (("a.h", True), ("b/c.h", False), ("d.h", True))


def graph(
    files: Mapping[str, tuple[str, ...]],
    declares: dict[str, str],
    *dirs: str,
    promised: Mapping[str, str] = MappingProxyType({}),
) -> Graph:
    scans = {
        f: Scan(
            frozenset(declares.get(f, "").split()),
            tuple((name.strip("<>"), name[0] != "<") for name in names),
            promised=frozenset(promised.get(f, "").split()),
        )
        for f, names in files.items()
    }
    return Graph(list(files), scans, dirs)


def test_a_name_is_declared_for_those_who_include_it_only() -> None:
    g = graph(
        {"/p/a.cu": ("a.h",), "/p/a.h": ("deep/b.h",), "/p/deep/b.h": (), "/q/c.cu": ("d.h",), "/q/d.h": ()},
        {"/p/deep/b.h": "cudaMine"},
    )
    assert g.declared("/p/a.cu") == g.declared("/p/a.h") == {"cudaMine"}
    assert g.declared("/q/c.cu") == frozenset()


def test_a_header_of_the_tree_may_be_called_like_a_library_of_cuda() -> None:
    files: dict[str, tuple[str, ...]] = {
        "/p/src/a.cpp": ("<cublas.hpp>", "<cuda_fp16.hpp>", "<cub/cub.cuh>"),
        "/p/inc/cublas.hpp": (),
        "/p/inc/cuda_fp16.hpp": (),
        "/p/inc/cub/cub.cuh": (),
    }
    g = graph(files, {"/p/inc/cublas.hpp": "CUBLAS_MINE", "/p/inc/cuda_fp16.hpp": "cudaMine"})
    assert g.declared("/p/src/a.cpp") == {"CUBLAS_MINE"}


def test_a_function_defined_beside_its_header_is_known_to_others_who_include_it() -> None:
    files: dict[str, tuple[str, ...]] = {"/p/a.cu": ("a.h",), "/p/a.h": (), "/p/user.cu": ("a.h",)}
    g = graph(files, {"/p/a.cu": "cudaMine"}, promised={"/p/a.h": "cudaMine cudaOther"})
    assert g.declared("/p/user.cu") == {"cudaMine"}


def test_what_a_source_declares_for_itself_is_nothing_to_its_headers_and_their_includers() -> None:
    files: dict[str, tuple[str, ...]] = {
        "/p/eg.cpp": ("a.h",), "/p/a.h": ("b.h",), "/p/b.h": ("c.h",), "/p/c.h": (), "/p/user.cu": ("a.h", "p.inl"),
        "/p/p.inl": (),
    }  # fmt: skip
    g = graph(files, {"/p/eg.cpp": "CUDA_SUCCESS", "/p/c.h": "cudaMine"})
    assert g.declared("/p/a.h") == g.declared("/p/user.cu") == g.declared("/p/eg.cpp") == {"cudaMine"}
    assert g.declared("/p/p.inl") == {"cudaMine"}  # it includes nothing, so it is a part of who includes it


def test_names_that_come_with_a_header_in_those_who_include_it_are_no_unknown_ones() -> None:
    files: dict[str, tuple[str, ...]] = {
        "/p/a.cu": ("u.h", "h.h"), "/p/u.h": (), "/p/h.h": ("c.h",), "/p/c.h": ("d.h",), "/p/d.h": (),
        "/p/b.cu": ("u.h",),
    }  # fmt: skip
    g = graph(files, {"/p/u.h": "cudaCheck cudaMalloc", "/p/b.cu": "cudaOther"})
    assert g.declared("/p/h.h") == {"cudaCheck"}
    assert "cudaOther" not in g.declared("/p/u.h")  # which a header does not come with


def test_what_a_header_declares_is_known_to_the_part_that_it_includes() -> None:
    files: dict[str, tuple[str, ...]] = {"/p/a.hpp": ("a.inl",), "/p/a.inl": (), "/p/b.hpp": ("c.h",), "/p/c.h": ("d",)}
    g = graph(files, {"/p/a.hpp": "cudaMine", "/p/b.hpp": "CUDA_SUCCESS cudaOther"})
    assert g.declared("/p/a.inl") == {"cudaMine"}
    assert g.declared("/p/c.h") == {"cudaOther"}  # which has includes of its own, and no name of CUDA's from others
    lists: dict[str, tuple[str, ...]] = {
        "/p/a.h": ("b.h", "a.inc.h"),
        "/p/a.inc.h": ("l.h",),
        "/p/b.h": (),
        "/p/l.h": (),
    }
    assert graph(lists, {"/p/b.h": "cudaMine"}).declared("/p/a.inc.h") == {"cudaMine"}  # of what includes nothing


@pytest.mark.parametrize("seed", range(20))
def test_declared_names_are_those_of_all_files_that_includes_lead_to(seed: int) -> None:
    r = random.Random(seed)
    files = [f"/p/{k}.h" for k in range(9)]
    includes = {f: tuple(t[3:] for t in r.sample(files, r.choice((0, 1, 1, 2)))) for f in files}
    declares = {f: frozenset(r.sample(["cudaA", "n::cudaA", "cudaB", "cudaC"], r.choice((0, 1)))) for f in files}
    promised = {f: frozenset(r.sample(["cudaA", "cudaB"], r.choice((0, 0, 1)))) for f in files}
    asked = {f: r.choice((None, frozenset({"cudaA", "cudaC"}))) for f in files}
    scans = {
        f: Scan(declares[f], tuple((n, True) for n in includes[f]), promised=promised[f], asked=asked[f]) for f in files
    }
    g = Graph(files, scans, ())
    links: nx.DiGraph[str] = nx.DiGraph()
    links.add_nodes_from(files)
    links.add_edges_from((f, "/p/" + n) for f in files for n in includes[f])
    linked = {f: c for c in nx.weakly_connected_components(links) for f in c}
    for f in files:
        part = not any(includes["/p/" + n] for n in includes[f])
        roots = {f, *links.predecessors(f)} if part else {f}
        reached = {x for root in roots for to in links.successors(root) for x in (to, *nx.descendants(links, to))}
        reached = (reached | roots) - {f}  # a part has what its headers declare themselves
        names = {n for x in reached for n in declares[x]}
        defined = {n for x in linked[f] for n in declares[x]}
        names |= {n for x in reached for n in promised[x] if n in defined}
        beside = {x for by in links.predecessors(f) for x in (by, *nx.descendants(links, by))} - {f}
        names |= {n for x in beside for n in declares[x] if "::" not in n}  # CUDA has none of these
        words = asked[f]
        assert g.declared(f) == {n for n in names if words is None or n.rpartition("::")[2] in words}


def test_includes_resolve_by_folder_then_I_then_nearest() -> None:  # noqa: N802
    g = graph(
        {
            "/p/src/a.cu": ("x.h", "lib/y.h", "<z.h>", "w.h"),
            "/p/inc/x.h": (),
            "/p/inc/lib/y.h": (),
            "/p/sys/z.h": (),
            "/p/one/w.h": (),
            "/p/two/w.h": (),
        },
        {"/p/inc/x.h": "cuX", "/p/inc/lib/y.h": "cuY", "/p/sys/z.h": "cuZ", "/p/one/w.h": "cuW"},
        "/p/sys",
    )
    assert g.declared("/p/src/a.cu") == {"cuX", "cuY", "cuZ"}  # two w.h are equally near: neither is taken


def test_brackets_name_a_file_of_the_tree_unless_a_system_or_cuda_has_one_of_that_name() -> None:
    g = graph(
        {
            "/p/src/a.cu": ("<own.h>", "<string.h>", "<cufft.h>", "<vector>", "<twice.h>"),
            "/p/inc/own.h": (),
            "/p/inc/string.h": (),
            "/p/inc/cufft.h": (),
            "/p/inc/vector": (),
            "/p/inc/twice.h": (),
            "/p/far/twice.h": (),
        },
        {f"/p/inc/{name}": f"cu{name[0]}" for name in ("own.h", "string.h", "cufft.h", "vector", "twice.h")},
    )
    assert g.declared("/p/src/a.cu") == {"cuo"}


def test_include_folders_are_told_by_the_includes_that_lead_into_them() -> None:
    g = graph(
        {
            "/p/src/a.cu": ("lib/y.h", "beside.h", "<s.h>", "t.h"),
            "/p/src/beside.h": (),
            "/p/src/t.h": ("lib/y.h",),
            "/p/inc/lib/y.h": ("<deep/z.hpp>", "../up.h"),
            "/p/far/deep/z.hpp": (),
            "/p/up.h": (),
            "/p/sys/s.h": (),
            "/p/own/b.cu": ("my.h",),
            "/p/other/my.h": (),
            "/p/other/cuda.h": (),
        },
        {},
        "/p/sys",
    )
    assert g.folders("/p/src/a.cu") == ("/p/inc", "/p/far")
    assert g.folders("/p/inc/lib/y.h") == ("/p/far",)
    assert g.folders("/p/own/b.cu") == ()  # the folder has a cuda.h, and other files mean CUDA's by that name


@needs_fork
def test_folders_that_includes_tell_of_reach_the_file(translator: None) -> None:
    plant(Path("src"), src__a_cu='#include "lib/y.h"\nFOLDERS', inc__lib__y_h="", b_cu="FOLDERS")
    into("out", "src")
    assert tree("out")["src/a.cu"] == b'#include "lib/y.h"\nsrc/inc'
    assert tree("out")["b.cu"] == b""


def test_spellings_that_lead_to_wanted_files() -> None:
    g = graph({"/p/a.cu": ("b.cu", "../p/b.cu", "c.cu"), "/p/b.cu": (), "/p/c.cu": ()}, {})
    assert g.spelled("/p/a.cu", frozenset({"/p/b.cu"})) == {"b.cu", "../p/b.cu"}


def test_a_library_in_the_tree_is_the_trees_own() -> None:
    files: dict[str, tuple[str, ...]] = {"/p/a.cu": ("b.h",), "/p/b.h": ("<cutlass/half.h>",), "/q/cutlass/my.h": ()}
    assert graph(files, {}).own("/p/a.cu") == {"b.h"}  # a folder of that name is not the library
    files["/p/lib/include/cutlass/half.h"] = ()
    assert graph(files, {}).own("/p/a.cu") == {"b.h", "cutlass/*"}


def test_a_long_chain_of_includes_is_one_group() -> None:
    files = {f"/p/{i}.h": (f"{i + 1}.h",) for i in range(3000)}
    assert graph(files, {"/p/2999.h": "cuEnd"}).declared("/p/0.h") == {"cuEnd"}


# compile_commands.json


def test_flags_of_a_command() -> None:
    words = [
        "nvcc",
        "-Iinc",
        "-I",
        "/abs",
        "-isystem",
        "sys",
        "-DA=1",
        "-D",
        "B",
        "-DC",
        "-UC",
        "-DA=2",
        "-std=c++17",
        "a.cu",
    ]
    assert compile_db.parse(words, Path("/w")) == compile_db.Flags(
        ("/w/inc", "/abs", "/w/sys"), ("B", "A=2"), undefines=("C",), std="c++17"
    )


def test_compile_commands(tmp_path: Path) -> None:
    rows = [
        {"directory": str(tmp_path), "file": "src/a.cu", "command": "nvcc -Iinc '-DS=\"x y\"' src/a.cu"},
        {"directory": str(tmp_path / "src"), "file": "b.cu", "arguments": ["nvcc", "-DB"]},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(rows))
    found = compile_db.load(tmp_path)
    assert found.flags(str(tmp_path / "src/a.cu")) == compile_db.Flags((f"{tmp_path}/inc",), ('S="x y"',))
    assert found.flags(str(tmp_path / "src/b.cu")).defines == ("B",)
    assert found.flags(str(tmp_path / "src/deep/h.cuh")).defines == ('S="x y"',)  # a header: as its folder is built
    assert found.flags("/elsewhere/x.cu") == compile_db.Flags()


@pytest.mark.parametrize(
    ("text", "said"), [(None, "CMAKE_EXPORT"), ("{", "not JSON"), ("{}", "list"), ("[1]", "no file")]
)
def test_bad_compile_commands(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "compile_commands.json").write_text(text)
    with pytest.raises(CannotRun, match=said):
        compile_db.load(tmp_path)


@needs_fork
def test_flags_reach_the_file_they_are_for(translator: None) -> None:
    plant(Path("src"), a_cu="MACROS FOLDERS", b_cu="MACROS")
    here = Path.cwd()
    rows = [{"directory": str(here), "file": "src/a.cu", "arguments": ["nvcc", "-DA", "-Iinc"]}]
    Path("compile_commands.json").write_text(json.dumps(rows))
    into("out", "src", commands=compile_db.load(here), options=Options(defines=("CLI=1",), include_dirs=("mine",)))
    assert tree("out")["a.cu"] == f"A,CLI=1 mine,{here}/inc".encode()


# workers


def numbered(*texts: str) -> list[Job]:
    return [Job(i, "-", f"{i}.cu", Options(), data=t.encode(), size=len(t)) for i, t in enumerate(texts)]


def double(job: Job, tools: Tools) -> bytes:
    """Work for a pool: the text twice."""
    text = job.data or b""
    if b"ABORT" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"SLEEP" in text and not job.lexer_alone:
        time.sleep(60)
    if b"RAISE" in text:
        raise RecursionError("deep")
    if b"TWICE" in text and not job.lexer_alone:
        os.kill(os.getpid(), signal.SIGTERM)
    return text * 2


class _Ring:
    def __init__(self) -> None:
        self.itself = self


def test_a_worker_looks_for_garbage_between_files_where_much_is_left() -> None:
    gc.collect()
    gc.disable()
    try:
        ring = weakref.ref(_Ring())
        collect_between()
        assert ring() is not None
        left = [[] for _ in range(250_000)]  # type: list[list[int]]
        collect_between()
        assert left and ring() is None
    finally:
        gc.enable()


@needs_fork
@pytest.mark.parametrize("size", [1, 3])
def test_every_job_comes_back_once(size: int) -> None:
    work = numbered(*(f"{i} " for i in range(500)))
    with Pool(size) as pool:
        found = {job.index: result for job, result in pool.run(double, work)}
        again = {job.index: result for job, result in pool.run(double, work[:7])}
    assert found == {i: f"{i} {i} ".encode() for i in range(500)}
    assert len(again) == 7


def note(job: Job, tools: Tools) -> None:
    with Path(job.path).open("ab") as f:
        f.write(b".")


@needs_fork
def test_a_worker_goes_on_while_its_results_wait(tmp_path: Path) -> None:
    """It has its next chunk before it is done with one: a parent that writes outputs must not hold it up."""
    told = tmp_path / "told"
    with Pool(1) as pool:
        results = iter(pool.run(note, [Job(i, str(told), f"{i}.cu", Options()) for i in range(200)]))
        next(results)
        until = time.monotonic() + 5
        while told.stat().st_size < 64 and time.monotonic() < until:
            time.sleep(0.01)
        assert told.stat().st_size == 64
        assert len(list(results)) == 199
    assert told.stat().st_size == 200


@needs_fork
def test_a_worker_that_dies_with_two_chunks_loses_neither() -> None:
    texts = [*("first",) * 40, "ABORT", "TWICE", *("more",) * 159]
    with Pool(1) as pool:
        found = {job.index: result for job, result in pool.run(double, numbered(*texts))}
    assert len(found) == len(texts)
    assert [texts[i] for i, result in found.items() if isinstance(result, Lost)] == ["ABORT"]


_LOADED: list[int] = []


def _tell(job: Job, tools: Tools) -> tuple[int, int]:
    return len(_LOADED), os.getpid()


def _light(job: Job, tools: Tools) -> tuple[int, int]:
    return _tell(job, tools)


@needs_fork
@pytest.mark.parametrize("size", [1, 2])
def test_a_few_files_are_no_reason_to_load_for_one_worker(size: int) -> None:
    """One worker loads what they need; two would both load it."""
    _LOADED.clear()
    with Pool(size, load=lambda: _LOADED.append(1), light=_light) as pool:
        for work in (_light, _tell):
            found = [result for _, result in pool.run(work, numbered(*(f"{i} " for i in range(20))))]
    assert len(found) == 20 and len(_LOADED) == size - 1
    assert {result[0] for result in found if not isinstance(result, Lost)} == {size - 1}


@needs_fork
@pytest.mark.parametrize("jobs", [20, 200])
def test_what_is_loaded_during_light_work_is_there_in_the_work_that_follows(jobs: int) -> None:
    _LOADED.clear()
    work = numbered(*(f"{i} " for i in range(jobs)))
    with Pool(2, load=lambda: _LOADED.append(1), light=_light) as pool:
        before, after, later = ([result for _, result in pool.run(w, work)] for w in (_light, _tell, _light))
    assert not any(isinstance(result, Lost) for result in (*before, *after, *later))
    assert {result[0] for result in before if not isinstance(result, Lost)} == {0}
    assert {result[0] for result in (*after, *later) if not isinstance(result, Lost)} == {1}
    assert len(before) == len(after) == jobs and len(_LOADED) == 1


@needs_fork
def test_workers_that_die_or_hang_lose_nothing() -> None:
    texts = ["fine", "ABORT", "RAISE", "SLEEP", "TWICE", *("more",) * 40]
    with Pool(2, limit_s=0.3) as pool:
        found = {job.index: (job, result) for job, result in pool.run(double, numbered(*texts))}
    assert len(found) == len(texts)
    lost = {texts[i]: r for i, (_, r) in found.items() if isinstance(r, Lost)}
    assert set(lost) == {"ABORT", "RAISE"}
    assert "SIGKILL" in lost["ABORT"].reason
    assert lost["RAISE"].reason == "RecursionError in " + lost["RAISE"].reason.rpartition(" ")[2]
    assert "deep" in lost["RAISE"].trace
    assert found[3][0].lexer_alone == "took longer than 0.3 s"
    assert "SIGTERM" in found[4][0].lexer_alone
    assert not found[3][0].options.use_clang
    assert found[3][1] == b"SLEEPSLEEP"
    assert all(r == b"moremore" for i, (_, r) in found.items() if i > 4)


@needs_fork
def test_leaving_a_pool_ends_its_workers() -> None:
    with Pool(2) as pool:
        next(iter(pool.run(double, numbered("a", "SLEEP", "b"))))
        pids = [w.process.pid for w in pool._workers]
    assert pids
    for pid in pids:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def slow(job: Job, tools: Tools) -> int:
    time.sleep(0.12)
    return job.index


@needs_fork
def test_a_hung_job_counts_from_its_own_start() -> None:
    """Jobs of one chunk that together take longer than the limit are fine."""
    with Pool(1, limit_s=0.3) as pool:
        found = [result for _, result in pool.run(slow, numbered(*("x",) * 8))]
    assert sorted(str(r) for r in found) == [str(i) for i in range(8)]


# writing


def test_writing_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("old")
    with pytest.raises(KeyError), replacing(path) as f:
        f.write(b"half")
        raise KeyError
    assert tree(tmp_path) == {"a.cu": b"old"}
    write(path, b"new", 0o750)
    assert tree(tmp_path) == {"a.cu": b"new"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


@needs_fork
def test_a_tree_is_complete(translator: None) -> None:
    src = plant(
        Path("src"),
        a_cu="cudaOld",
        sub__b_cuh="cudaOld x",
        sub__c_txt=b"\0\xff",
        sub__d_h="plain\r\n",
        run_sh="#!/bin/sh",
    )
    (src / "run.sh").chmod(0o755)
    (src / "a.cu").chmod(0o640)
    (src / "empty").mkdir()
    (src / "l.cu").symlink_to("a.cu")
    ran = into("out", "src")
    assert tree("out") == {
        "a.cu": b"hipNew",
        "l.cu": "-> a.cu",
        "run.sh": b"#!/bin/sh",
        "sub/b.cuh": b"hipNew x",
        "sub/c.txt": b"\0\xff",
        "sub/d.h": b"plain\r\n",
    }
    assert Path("out/empty").is_dir()
    assert stat.S_IMODE(Path("out/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE(Path("out/a.cu").stat().st_mode) == 0o640
    assert [(f.path, f.output, f.status) for f in ran.record.files] == [
        ("src/a.cu", "out/a.cu", "converted"),
        ("src/sub/b.cuh", "out/sub/b.cuh", "converted"),
        ("src/sub/d.h", "out/sub/d.h", "copied"),
    ]


@needs_fork
def test_several_inputs_keep_their_names(translator: None) -> None:
    plant(Path("one"), a_cu="cudaOld")
    plant(Path("far/two"), a_cu="WARP")
    plant(Path(), c_cu="cudaOld")
    ran = into("out", "one", "far/two", "c.cu")
    assert set(tree("out")) == {"one/a.cu", "two/a.cu", "c.cu", "cu2port/warp.hpp", "cu2port/base.hpp"}
    assert tree("out")["two/a.cu"] == b'#include "../cu2port/warp.hpp"'
    assert [f.output for f in ran.record.files] == ["out/one/a.cu", "out/two/a.cu", "out/c.cu"]


@needs_fork
def test_running_again_writes_nothing_and_removes_what_is_gone(translator: None) -> None:
    src = plant(Path("src"), a_cu="cudaOld", b_cu="cudaOld", sub__c_txt="x")
    into("out", "src")
    Path("out/mine.txt").write_text("mine")
    stamp = Path("out/a.cu").stat().st_mtime_ns
    inode = Path("out/a.cu").stat().st_ino
    (src / "b.cu").unlink()
    (src / "sub" / "c.txt").unlink()
    (src / "sub").rmdir()
    into("out", "src")
    assert set(tree("out")) == {"a.cu", "mine.txt"}
    assert not Path("out/sub").exists()
    assert (Path("out/a.cu").stat().st_mtime_ns, Path("out/a.cu").stat().st_ino) == (stamp, inode)


@needs_fork
def test_another_input_does_not_remove_what_the_first_wrote(translator: None) -> None:
    plant(Path("one"), a_cu="cudaOld")
    plant(Path("two"), b_cu="cudaOld")
    into("out", "one")
    into("out", "two")
    assert set(tree("out")) == {"a.cu", "b.cu"}


@needs_fork
def test_rename_replaces_what_a_run_without_it_wrote(translator: None) -> None:
    plant(Path("src"), a_cu='#include "b.cu"\n', b_cu="x")
    into("out", "src")
    into("out", "src", options=Options(rename=".hip"))
    assert tree("out") == {"a.hip": b'#include "b.hip"\n', "b.hip": b"x"}


@needs_fork
def test_a_file_may_become_a_folder_and_back(translator: None) -> None:
    src = plant(Path("src"), thing_cu="cudaOld")
    into("out", "src")
    (src / "thing.cu").unlink()
    plant(src / "thing.cu", inner_txt="x")
    into("out", "src")
    assert tree("out") == {"thing.cu/inner.txt": b"x"}
    (src / "thing.cu" / "inner.txt").unlink()
    (src / "thing.cu").rmdir()
    plant(src, thing_cu="cudaOld")
    into("out", "src")
    assert tree("out") == {"thing.cu": b"hipNew"}


@needs_fork
def test_foreign_files_in_the_way_stop_the_run_before_it_writes(translator: None) -> None:
    plant(Path("src"), a_cu="cudaOld", b_cu="cudaOld", same_txt="same")
    plant(Path("out"), a_cu="precious", same_txt="same")
    with pytest.raises(CannotRun, match=r"did not write and would replace: a\.cu;.*--force"):
        into("out", "src")
    assert tree("out") == {"a.cu": b"precious", "same.txt": b"same"}
    into("out", "src", force=True)
    assert tree("out") == {"a.cu": b"hipNew", "b.cu": b"hipNew", "same.txt": b"same"}


@needs_fork
def test_work_on_the_output_is_not_lost(translator: None) -> None:
    """Somebody mends a converted file by hand. Converting again keeps that, and says when the source moved on."""
    src = plant(Path("src"), a_cu="cudaOld 1", b_cu="cudaOld 1")
    into("out", "src")
    Path("out/a.cu").write_text("mended")
    ran = into("out", "src")
    assert tree("out")["a.cu"] == b"mended"
    assert not ran.in_the_way
    plant(src, a_cu="cudaOld 2", b_cu="cudaOld 2")
    ran = into("out", "src")
    assert tree("out") == {"a.cu": b"mended", "b.cu": b"hipNew 2"}
    assert ran.in_the_way
    assert codes(ran) == {"src/a.cu": [file_rules.IN_THE_WAY.code]}
    (src / "a.cu").unlink()
    into("out", "src")
    assert tree("out")["a.cu"] == b"mended"  # stale, but not ours any more
    plant(src, a_cu="cudaOld 3")
    assert not into("out", "src", force=True).in_the_way
    assert tree("out")["a.cu"] == b"hipNew 3"


@needs_fork
def test_a_run_that_is_cut_short_can_be_repeated(translator: None) -> None:
    plant(Path("src"), a_cu="cudaOld", b_cu="cudaOld")

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Request(("src",), "out", "out"), None, interrupt)
    assert all(content == b"hipNew" for content in tree("out").values())
    plant(Path("src"), a_cu="cudaOld 2")
    assert not into("out", "src").in_the_way
    assert tree("out") == {"a.cu": b"hipNew 2", "b.cu": b"hipNew"}


@needs_fork
def test_output_places_that_cannot_be(translator: None) -> None:
    plant(Path("src"), a_cu="cudaOld")
    plant(Path(), f_txt="x")
    for out, said in (
        ("src", "is the input itself"),
        (".", "holds the input"),
        ("f.txt", "this is a file"),
        ("-", "one file"),
    ):
        with pytest.raises(CannotRun, match=said):
            into(out, "src")
    assert tree("src") == {"a.cu": b"cudaOld"}


@needs_fork
def test_an_output_folder_inside_the_input_is_not_walked(translator: None) -> None:
    plant(Path("src"), a_cu="cudaOld")
    into("src/hip", "src")
    into("src/hip", "src")
    assert tree("src") == {"a.cu": b"cudaOld", "hip/a.cu": b"hipNew"}


@needs_fork
def test_a_foreign_link_in_out_is_not_written_through(translator: None) -> None:
    plant(Path("src"), sub__a_cu="cudaOld")
    Path("elsewhere").mkdir()
    Path("out").mkdir()
    Path("out/sub").symlink_to("../elsewhere")
    with pytest.raises(CannotRun, match="is not a folder of cu2port's"):
        into("out", "src")
    assert tree("elsewhere") == {}


@needs_fork
def test_a_damaged_manifest_is_named(translator: None) -> None:
    plant(Path("src"), a_cu="")
    plant(Path("out/.cu2port"), manifest_json="{")
    with pytest.raises(CannotRun, match=r"manifest\.json is damaged"):
        into("out", "src")


@needs_fork
def test_helper_headers(translator: None) -> None:
    plant(Path("src"), sub__deep__a_cu="WARP")
    into("out", "src")
    assert tree("out")["sub/deep/a.cu"] == b'#include "../../cu2port/warp.hpp"'
    assert set(tree("out/cu2port")) == {"warp.hpp", "base.hpp"}
    Path("out/cu2port/warp.hpp").write_text("// cu2port older version\n")
    into("out", "src")
    assert Path("out/cu2port/warp.hpp").read_bytes().startswith(b"// cu2port warp")
    Path("out/cu2port/warp.hpp").write_text("// somebody's own\n")
    ran = into("out", "src")
    assert tree("out/cu2port")["warp.hpp"] == b"// somebody's own\n"
    assert codes(ran) == {"out/cu2port/warp.hpp": [file_rules.FOREIGN_HEADER.code]}
    assert ran.record.open == 1


@needs_fork
def test_a_helper_header_goes_when_nothing_names_it_any_more(translator: None) -> None:
    plant(Path("src"), a_cu="WARP", b_cu="WARP")
    into("out", "src")
    plant(Path("src"), a_cu="")
    into("out", "src")
    assert set(tree("out/cu2port")) == {"warp.hpp", "base.hpp"}  # b.cu
    Path("src/b.cu").unlink()
    into("out", "src")
    assert set(tree("out")) == {"a.cu"}


@needs_fork
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.cu", '#include "cu2port/warp.hpp"\n'),  # put there by somebody
        ("a.cu", '#include "cu2port/warp.hpp"\nint edited;\n'),  # edited: it stays, with a finding
        ("cu2port/mine.h", '#include "warp.hpp"\n'),
        ("other.cu", ""),  # of another input, see below
    ],
)
def test_a_helper_header_stays_while_something_names_it(translator: None, name: str, content: str) -> None:
    plant(Path("src"), a_cu="WARP")
    into("out", "src")
    if name == "other.cu":
        plant(Path("one"), other_cu="WARP")
        into("out", "one/other.cu")
    else:
        Path("out", name).write_text(content)
    plant(Path("src"), a_cu="cudaOld")
    into("out", "src")
    assert {"warp.hpp", "base.hpp"} <= set(tree("out/cu2port"))
    Path("out", name).unlink()
    into("out", "src")
    assert not Path("out/cu2port").exists()


@needs_fork
def test_a_helper_header_that_somebody_has_edited_stays(translator: None) -> None:
    plant(Path("src"), a_cu="WARP")
    into("out", "src")
    Path("out/cu2port/base.hpp").write_text("// cu2port base, and more\n")
    plant(Path("src"), a_cu="")
    into("out", "src")
    assert set(tree("out/cu2port")) == {"base.hpp"}


@needs_fork
def test_converting_an_output_again_leaves_our_headers_alone(translator: None) -> None:
    plant(Path("src"), a_cu="WARP")
    into("out", "src")
    into("twice", "out")
    assert tree("twice") == tree("out")


# rules on files


@needs_fork
def test_files_that_cannot_be_converted_are_named_and_the_others_convert(
    translator: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(
        Path("src"),
        good_cu="cudaOld",
        big_cu="cudaOld" * 100,
        raise_cu="RAISE ALWAYS",
        abort_cu="ABORT ALWAYS",
        sleep_cu="SLEEP ALWAYS",
        once_cu="ABORT cudaOld",
        slow_cu="SLEEP cudaOld",
        locked_cu="cudaOld",
    )
    read = jobs._read

    def refuse(job: Job) -> bytes | None:
        if job.shown.endswith("locked.cu"):
            raise PermissionError(13, "Permission denied")
        return read(job)

    monkeypatch.setattr(jobs, "_read", refuse)
    ran = into("out", "src", max_size=100, limit_s=0.4, workers=2)
    assert codes(ran) == {
        "src/big.cu": [file_rules.TOO_LARGE.code],
        "src/raise.cu": [file_rules.INTERNAL.code],
        "src/abort.cu": [file_rules.INTERNAL.code],
        "src/sleep.cu": [file_rules.INTERNAL.code],
        "src/once.cu": [file_rules.LEXER_ALONE.code],
        "src/slow.cu": [file_rules.LEXER_ALONE.code],
        "src/locked.cu": [file_rules.UNREADABLE.code],
    }
    assert {f.path: f.status for f in ran.record.files} == {
        "src/good.cu": "converted",
        "src/big.cu": "copied",
        "src/raise.cu": "failed",
        "src/abort.cu": "failed",
        "src/sleep.cu": "failed",
        "src/once.cu": "partial",
        "src/slow.cu": "partial",
        "src/locked.cu": "failed",
    }
    assert record(ran, "src/locked.cu").output == ""
    out = tree("out")
    assert out["good.cu"] == b"hipNew"
    assert out["big.cu"] == b"cudaOld" * 100
    assert out["raise.cu"] == b"RAISE ALWAYS"
    assert out["once.cu"] == b"ABORT hipNew"
    assert "locked.cu" not in out


@needs_fork
def test_a_file_that_became_unreadable_keeps_its_old_output(translator: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(Path("src"), a_cu="cudaOld")
    into("out", "src")

    def refuse(job: Job) -> bytes | None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(jobs, "_read", refuse)
    into("out", "src")
    assert tree("out") == {"a.cu": b"hipNew"}


@pytest.mark.parametrize(("name", "asked"), [("x.h", ["cudaMalloc"]), ("x.cu", ["plain", "cudaMalloc"])])
def test_nul_bytes_matter_where_there_is_cuda_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, asked: list[str]
) -> None:
    seen: list[str] = []

    def note(source: bytes, options: Options, **more: object) -> Result:
        seen.append(source.decode("utf-16"))
        return Result("", source, source)

    monkeypatch.setattr(engine, "translate", note)
    monkeypatch.setattr(Tools, "clang", None)
    for text in ("plain", "cudaMalloc"):
        (tmp_path / name).write_bytes(text.encode("utf-16"))
        jobs.convert(Job(0, str(tmp_path / name), name, Options()), Tools())
    assert seen == asked


_NONE: frozenset[str] = frozenset()


@needs_fork
def test_declared_names_reach_those_who_include_them(translator: None, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = frozenset({"cuMine"})
    monkeypatch.setattr(
        jobs, "declared_names", lambda text, rules: Names(mine if "MINE" in text else _NONE, _NONE, mine)
    )
    plant(Path("src"), p__a_cu='#include "a.h"\nDECLARED', p__a_h="MINE", q__b_cu="DECLARED")
    into("out", "src")
    assert tree("out")["p/a.cu"] == b'#include "a.h"\ncuMine'
    assert tree("out")["q/b.cu"] == b""


@needs_fork
def test_reports_do_not_depend_on_the_number_of_workers(translator: None) -> None:
    plant(Path("src"), **{f"f{i:02}_cu": f"cudaOld cudaLeft {i}" for i in range(40)})
    one = into("one", "src", workers=1).record.files
    four = into("four", "src", workers=4).record.files
    assert [(f.path, f.entries) for f in one] == [(f.path, f.entries) for f in four]
    assert [f.path for f in one] == sorted(f.path for f in one)
