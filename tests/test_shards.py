"""A run in parts: what comes out does not depend on how many there are, on their order, or on who runs at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli

FILES = {
    "CMakeLists.txt": "project(p LANGUAGES CXX CUDA)\nadd_executable(a src/a.cu)\n",
    "README.md": "text\n",
    "src/a.cu": '#include "own.h"\n__global__ void k(int* p) { p[0] = __shfl_sync(~0u, p[0], 0); }\n'
    "int main() { if (cudaFree(0) != CUDA_SUCCESS) return 1; }\n",
    "src/own.h": "#pragma once\n#include <cuda_runtime.h>\n#define CUDA_SUCCESS 0\n",
    **{
        f"src/f{n}.cu": f"int f{n}() {{ return cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, {n}); }}\n"
        for n in range(9)
    },
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = Path("in", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    Path("in/link.cu").symlink_to("src/a.cu")
    Path("in/empty").mkdir()


def cu2port(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="cu2port")


def tree(folder: str) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): b"" if p.is_dir() else p.read_bytes()
        for p in sorted(Path(folder).rglob("*"))
        if ".cu2port" not in p.parts
    }


def whole(jobs: str = "1") -> tuple[dict[str, bytes], bytes]:
    """The tree and the report of a run that is not divided."""
    assert cu2port("convert", "-q", "in", "-o", "out", "-j", jobs, "--report", "all.json").exit_code == 1
    found = tree("out")
    subprocess.run(["mv", "out", "whole"], check=True)
    return found, Path("all.json").read_bytes()


def part(n: int, of: int, jobs: str = "1") -> tuple[str, ...]:
    return ("convert", "-q", "in", "-o", "out", "-j", jobs, "--shard", f"{n}/{of}", "--report", f"part{n}.json")


@pytest.mark.parametrize(("of", "jobs"), [(1, "1"), (3, "1"), (3, "2")])
def test_parts_make_the_whole(of: int, jobs: str) -> None:
    files, report = whole(jobs)
    order = list(range(1, of + 1))
    random.Random(of).shuffle(order)
    for n in order:
        assert cu2port(*part(n, of, jobs)).exit_code in (0, 1)
    names = [f"part{n}.json" for n in order]
    assert cu2port("report", "merge", *names, "-o", "merged.json").exit_code == 1
    assert tree("out") == files
    assert Path("merged.json").read_bytes() == report
    cu2port("convert", "-q", "in", "-o", "out2", "--report", "all.jsonl")
    cu2port("report", "merge", *names, "-o", "merged.jsonl")
    assert Path("merged.jsonl").read_bytes() == Path("all.jsonl").read_bytes()


def test_parts_run_at_once() -> None:
    files, report = whole()
    command = [sys.executable, "-c", "from cu2port.cli import main; main()"]
    running = [subprocess.Popen([*command, *part(n, 3)], stderr=subprocess.PIPE) for n in (1, 2, 3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode in (0, 1), errors
    cu2port("report", "merge", "part1.json", "part2.json", "part3.json", "-o", "merged.json")
    assert (tree("out"), Path("merged.json").read_bytes()) == (files, report)


def test_what_is_gone_goes_and_what_was_edited_stays() -> None:
    for n in (1, 2, 3):
        cu2port(*part(n, 3))
    Path("in/src/f3.cu").unlink()
    Path("in/src/f4.cu").unlink()
    Path("out/src/f4.cu").write_text("mine\n")
    for n in (3, 2, 1):
        assert cu2port(*part(n, 3)).exit_code in (0, 1)
    assert not Path("out/src/f3.cu").exists()
    assert Path("out/src/f4.cu").read_text() == "mine\n"
    before = tree("out")
    assert cu2port("convert", "-q", "in", "-o", "out").exit_code == 1  # a whole run takes over what the parts know
    assert tree("out") == before
    assert [p.name for p in Path("out/.cu2port").iterdir()] == ["manifest.json"]
    for n in (1, 2):
        assert cu2port(*part(n, 2)).exit_code in (0, 1)  # and other parts what that knows
    assert tree("out") == before


def test_a_part_that_was_killed_is_taken_up() -> None:
    cu2port(*part(1, 2))
    state = Path("out/.cu2port")
    manifest = json.loads((state / "manifest-1-of-2.json").read_text())
    with (state / "journal-1-of-2").open("w") as f:
        f.writelines(json.dumps([t, *entry]) + "\n" for t, entry in manifest["files"].items())
    (state / "manifest-1-of-2.json").unlink()
    assert cu2port(*part(1, 2)).exit_code in (0, 1)
    assert json.loads((state / "manifest-1-of-2.json").read_text()) == manifest


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        (("part1.json", "part1.json"), "part 1 is in part1.json already"),
        (("part1.json",), "part 2 of 2 is missing"),
        (("part1.json", "other.json"), "its options differs"),
        (("part1.json", "all.json"), "no report of a part"),
        (("part1.json", "broken.json"), "no report of cu2port's"),
        (("part1.json", "none.json"), "none.json: no such file"),
    ],
)
def test_only_the_parts_of_one_run_are_merged(reports: tuple[str, ...], why: str) -> None:
    whole()
    cu2port(*part(1, 2))
    cu2port("convert", "-q", "in", "-o", "out3", "--shard", "2/2", "--warp", "flag", "--report", "other.json")
    Path("broken.json").write_text('{"schema": 1}')
    ended = cu2port("report", "merge", *reports, "-o", "merged.json")
    assert (ended.exit_code, why in ended.output, len(ended.output.splitlines())) == (2, True, 1), ended.output
    assert not Path("merged.json").exists()


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    assert cu2port("convert", "in", "-o", "out", "--shard", text).exit_code == 2
    assert not Path("out").exists()


def test_a_part_needs_a_folder_to_write_to() -> None:
    for words in (("--in-place",), ("--diff",), ("-o", "out", "--verify", "gfx942")):
        assert cu2port("convert", "in", "--shard", "1/2", *words).exit_code == 2
    assert cu2port("convert", "in/src/a.cu", "-o", "a.hip", "--shard", "1/2").exit_code == 2


def test_the_guide_names_options_that_there_are() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "guide.md").read_text()
    lines = [line for line in page.splitlines() if "--shard" in line and "cu2port convert" in line]
    assert len(lines) == 3
    known = {o for p in cli.commands["convert"].params for o in p.opts}
    for line in lines:
        words = line.split("cu2port convert ")[1].split()
        assert {w for w in words if w.startswith("-")} <= known
