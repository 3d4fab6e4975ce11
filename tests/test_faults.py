"""Runs that are killed at any moment, meet each other or an editor: nothing is lost or mixed, no header is missing, and
the next run does the rest."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.cli import cli
from cu2port.core import disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to a process group")

SHUFFLE = "__global__ void k(int* p) { p[threadIdx.x] = __shfl_sync(~0u, p[0], 0); }\n"
MIXED = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* p) { p[0] = min(p[1], 3); }\n"
CUDA = {
    "a.cu": '#include "sub/b.cu"\nint main() { cudaFree(0); }\n',
    "sub/b.cu": SHUFFLE,
    "sub/deep/c.cuh": SHUFFLE + "// c\n",
    "d.h": "void f() { cudaDeviceSynchronize(); }\n",
    "e.txt": "as it is\n",
    "l.cu": "-> a.cu",
}
HIP = {f"{n}.hip": f'#include "cu2port/{h}.hpp"\n{MIXED}' for n, h in (("a", "warp"), ("b", "simd"), ("c", "warp"))}
LINT = ["lint", ".", "--isolated", "--no-cache", "-j", "1", "--select", "CU214", "--info", "--unsafe-fixes"]
RUNS: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "-o": (CUDA, ["convert", "src", "-o", "out", "-j", "1"]),
    "--in-place": (CUDA, ["convert", "src", "--in-place", "--force", "-j", "1"]),
    "--rename": (CUDA, ["convert", "src", "--in-place", "--force", "--rename", ".hip", "-j", "1"]),
    "--fix": (HIP, LINT),
}
FAST = [pytest.param(name, marks=[pytest.mark.slow] if name == "--fix" else []) for name in RUNS]  # --fix asks libclang
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.symlink", "os.link"}


def lay(folder: Path, files: Mapping[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text[3:])
        else:
            path.write_text(text)


def tree(folder: Path) -> dict[str, str]:
    """All that is in a folder without its state, files that a killed run left included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file() and ".cu2port" not in path.relative_to(folder).parts:
            found[name] = path.read_text()
    return found


class Steps:
    """Counts what a process does to files and ends it at one of these steps."""

    def __init__(self, last: int, log: int) -> None:
        self._left = last
        self._pid = os.getpid()
        self._log = log
        self.count = 0

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if (event in _CHANGES or writes) and os.getpid() == self._pid:
            self.step()

    def step(self) -> None:
        self.count += 1
        if self.count == self._left:
            os.kill(self._pid, signal.SIGKILL)


def start(words: list[str], cwd: Path, last: int = 0) -> tuple[int, int]:
    """A run in a process of its own, which ends at its step number `last`. Returns its number, and a pipe that tells
    how many steps it took. It is forked: what every run loads is there already."""
    reader, log = os.pipe()
    pid = os.fork()
    if pid:
        os.close(log)
        return pid, reader
    code = 99
    try:
        os.chdir(cwd)
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
        steps = Steps(last, log)
        rename = disk._rename

        def step(old: str, new: str, flag: int) -> bool:
            steps.step()
            return rename(old, new, flag)

        disk._rename = step
        sys.addaudithook(steps)
        try:
            code = int(cli.main(words, standalone_mode=False) or 0)
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 0
        os.write(log, str(steps.count).encode())
    finally:
        os._exit(code)


def end(started: tuple[int, int]) -> tuple[int, int]:
    """The exit status of a run (negative: the signal), and its steps."""
    pid, reader = started
    _, status = os.waitpid(pid, 0)
    steps = os.read(reader, 20)
    os.close(reader)
    return os.waitstatus_to_exitcode(status), int(steps or b"0")


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_catalog()
    all_checks()
    disk._renameat2()


class Case:
    """One way to run, its files before, and what a run that nobody disturbs makes of them."""

    def __init__(self, base: Path, name: str) -> None:
        self.files, self.words = RUNS[name]
        self.base = base
        self.where = base / ("out" if name == "-o" else "src")
        self.cwd = base / "src" if name == "--fix" else base
        self.reset()
        began = time.monotonic()
        end(start(self.words, self.cwd))  # what it finds for the user's cache takes steps of its own
        self.reset()
        code, self.steps = end(start(self.words, self.cwd))
        self.seconds = time.monotonic() - began
        assert code in (0, 1)
        self.after = tree(self.where)
        if name != "--fix":
            assert "cu2port/warp.hpp" in self.after
        assert self.after != self.files

    def reset(self) -> None:
        lay(self.base / "src", self.files)
        lay(self.base / "out", {"mine.txt": "mine"})

    def check(self) -> None:
        """After a kill: every file is the old or the new one, whole, and what it includes of ours is there."""
        found = {n: t for n, t in tree(self.where).items() if not disk.is_temporary(n.rpartition("/")[2])}
        for name, text in found.items():
            old = {self.files.get(name), self.files.get(f"{name[:-4]}.cu")}
            new = {self.after.get(name), self.after.get(f"{name[:-3]}.hip")}
            assert text in old | new, f"{name} is mixed"
            if 'include "cu2port/' in text or 'include "../cu2port/' in text or 'include "../../cu2port/' in text:
                assert text in old or "cu2port/warp.hpp" in found or "--fix" in self.words, f"{name} lacks its header"
        if self.where.name == "src":
            stems = {n.rpartition(".")[0] for n in self.files}
            assert stems <= {n.rpartition(".")[0] for n in found}, "a file is lost"

    def repair(self) -> None:
        code, _ = end(start(self.words, self.cwd))
        assert code in (0, 1)
        assert tree(self.where) == self.after
        if self.where.name == "out":
            assert tree(self.base / "src") == dict(self.files)


@pytest.mark.parametrize("name", FAST)
def test_a_kill_at_any_step_is_repaired_by_the_next_run(name: str, tmp_path: Path) -> None:
    """Steps spread over the run, and all of the new names; the slow test takes more."""
    case = Case(tmp_path, name)
    steps = {*range(1, case.steps + 1, max(1, case.steps // 3))}
    if name == "--rename":
        steps |= {*range(case.steps - 6, case.steps + 1)}
    for k in sorted(steps):
        case.reset()
        code, _ = end(start(case.words, case.cwd, k))
        assert code == -signal.SIGKILL
        case.check()
        case.repair()


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_kills_at_random_moments(name: str, tmp_path: Path) -> None:
    """100 in all: half of them at a step that changes files, half at any time. Two in a row now and then."""
    random_ = random.Random(f"kills {name}")
    case = Case(tmp_path, name)
    killed = 0
    while killed < 25:
        if random_.random() < 0.8:
            case.reset()
        if killed % 2:
            code, _ = end(start(case.words, case.cwd, random_.randint(1, case.steps)))
        else:
            started = start(case.words, case.cwd)
            time.sleep(random_.random() * case.seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(started[0], signal.SIGKILL)
            code, _ = end(started)
        killed += 1  # one that had ended before counts too: the run after it changes nothing
        assert code in (0, 1, -signal.SIGKILL)
        case.check()
        case.repair()


@pytest.mark.parametrize("name", FAST)
def test_two_runs_at_once(name: str, tmp_path: Path) -> None:
    """Both end; one may say that the other is at work. What is there is what one run makes."""
    case = Case(tmp_path, name)
    for _ in range(2):
        case.reset()
        both = [start(case.words, case.cwd) for _ in range(2)]
        codes = sorted(end(s)[0] for s in both)
        assert set(codes) <= {0, 1, 2} and codes[0] in (0, 1)
        case.repair()


@pytest.mark.parametrize("name", FAST[1:])
def test_edits_during_the_run_are_not_lost(name: str, tmp_path: Path) -> None:
    """Somebody saves every file at random moments; what was saved last is there, as it is or converted."""
    random_ = random.Random(f"edits {name}")
    case = Case(tmp_path, name)
    for _ in range(2):
        case.reset()
        started = start(case.words, case.cwd)
        time.sleep(random_.random() * case.seconds)
        marks = {}
        for file, text in case.files.items():
            path = case.where / file
            if text.startswith("-> ") or not path.exists():
                continue
            marks[file] = f"// saved {random_.random()}"
            fresh = path.with_name("editor")
            fresh.write_text(f"{text}{marks[file]}\n")
            fresh.replace(path)
        end(started)
        found = tree(case.where)
        for file, mark in marks.items():
            texts = [t for n, t in found.items() if n.rpartition(".")[0] == file.rpartition(".")[0]]
            assert any(mark in t for t in texts), f"what was saved in {file} is lost"
        assert not [n for n in found if disk.is_temporary(n.rpartition("/")[2])]


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk without room: it is met by the headers and by large sources."""
    import resource

    source = SHUFFLE * 300
    lay(tmp_path / "src", {"a.cu": source, "b.cu": "int main() { cudaFree(0); }\n"})
    for words in (["convert", "src", "-o", "out"], ["convert", "src", "--in-place", "--force"]):
        pid = os.fork()
        if not pid:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            os._exit(abs(end(start([*words, "-j", "1"], tmp_path))[0]))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
        where = tmp_path / ("out" if "-o" in words else "src")
        assert "hipFree" in (where / "b.cu").read_text()
        if where.name == "src":
            assert (where / "a.cu").read_text() == source
        else:
            assert not (where / "a.cu").exists()
        assert sorted(tree(where)) == (["b.cu"] if where.name == "out" else ["a.cu", "b.cu"])
        assert end(start(words, tmp_path))[0] in (0, 1)
        assert "cu2port::warp::shfl" in (where / "a.cu").read_text()
        assert (where / "cu2port" / "warp.hpp").is_file()


@pytest.mark.slow
def test_a_small_disk(tmp_path: Path) -> None:
    """A real file system that fills up, at many sizes; only a superuser can make one."""
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)], capture_output=True).returncode:
        return  # `test_a_disk_that_is_full` shows the same with a limit
    try:
        for pages in (3, 4, 6, 8, 12, 16, 24, 32):
            subprocess.run(["mount", "-o", f"remount,size={pages * 4}k", str(small)], check=True)
            for words in (["convert", "src", "-o", "small/out"], ["convert", "small/src", "--in-place", "--force"]):
                for folder in ("out", "src"):
                    shutil.rmtree(small / folder, ignore_errors=True)
                lay(tmp_path / "src", {"a.cu": SHUFFLE * 40, "b.cu": SHUFFLE})
                before = tree(tmp_path / "src")
                if "--in-place" in words:
                    with contextlib.suppress(OSError):
                        lay(small / "src", before)
                    before = tree(small / "src")
                where = small / ("src" if "--in-place" in words else "out")
                assert end(start([*words, "-j", "1"], tmp_path))[0] in (0, 1, 2)
                for name, text in tree(where).items():
                    whole = text == before.get(name) or ("cu2port::warp::shfl" in text and text.endswith("}\n"))
                    assert name.startswith("cu2port/") or whole, (pages, name)
                    if "warp.hpp" in text and name.endswith(".cu"):
                        assert (where / "cu2port" / "warp.hpp").is_file()
    finally:
        subprocess.run(["umount", str(small)], check=True)
