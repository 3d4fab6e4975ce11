"""How many units of whole projects compile for AMD GPUs once cu2port has converted them, with their own build.

    python tools/project_rate.py TREE... [--arch GPUS] [--rocm-path DIR] [--torch WHEEL] [--deps DIR]
        [--only GLOB]... [--time-limit S] [--keep FOLDER] [--json FILE]

Each TREE is converted (`cu2port convert TREE -o OUT --arch GPUS`), then `cu2port verify OUT` compiles what its
converted build compiles, with that build's flags. tools/project_rate.toml has, by the name of a tree's folder, which
part of it has the build and what its default build is called with; `{deps}` there is the folder with what the build
would fetch, each by its name. Where it has a `sample`, so many units with device code are drawn by lot. Prints for each
project: units of the default build, units that compile for the host and for each GPU, every other unit with its reason,
CUDA's names that are left, and findings that are left to do by hand. Each command has a time limit: one project cannot
stop the others.

verify runs the project's CMake, make or setup.py: use it on projects that you would build.

Exit: 0 when 95 % of the units of each project compile for each GPU, else 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

LISTED = Path(__file__).with_suffix(".toml")
CU2PORT = (sys.executable, "-c", "from cu2port.cli import main; main()")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
COMPILES = "compiles"
WANTED = 0.95  # of the units of a project
SEED = 20261123  # of the lot, as docs/projects.md states it
SHOWN = 240  # characters of a reason


@dataclass(frozen=True)
class Project:
    """What came of a project. `units`: those that have device code, or could have it, as nvcc compiled them; `others`:
    units in C and C++. `compile`: of the units, for each GPU with the host, how many compile; `why`: each unit that
    does not compile, and what stopped the project as a whole under its name ""."""

    name: str
    units: int = 0
    others: int = 0
    compile: Mapping[str, int] = field(default_factory=dict)
    others_compile: int = 0
    why: Mapping[str, str] = field(default_factory=dict)
    edits_in_build_files: int = 0
    names_left: Sequence[str] = ()
    by_hand: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def good(self) -> bool:
        """Whether enough of its units compile."""
        return bool(self.units) and min(self.compile.values(), default=0) >= WANTED * self.units

    def lines(self) -> list[str]:
        """The project in text."""
        rates = ", ".join(f"{gpu} {n}" for gpu, n in self.compile.items())
        hand = ", ".join(f"{code} {n}" for code, n in self.by_hand.items())
        head = f"{self.name}: {self.units} units with device code; compile: {rates or 'none'}"
        out = [f"{head}; {self.others_compile} of {self.others} in C and C++"]
        out += [f"  note: {note}" for note in self.notes]
        out += [f"  {path or 'stopped'}: {why}" for path, why in self.why.items()]
        out.append(f"  {len(self.names_left)} names left{': ' if self.names_left else ''}{', '.join(self.names_left)}")
        return [*out, f"  {sum(self.by_hand.values())} findings to do by hand{': ' if hand else ''}{hand}"]


def run(words: Sequence[str], limit_s: float) -> tuple[int | None, str]:
    """Run cu2port: its exit code, None past the limit, and what it said. All that it started ends with it."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([*CU2PORT, *words], stdout=said, stderr=said, start_new_session=True)
        try:
            code: int | None = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            code = None
        said.seek(0)
        return code, said.read().decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command: it is asked first, so that it ends its compilers, which are in groups of their own."""
    for sent in (signal.SIGINT, signal.SIGKILL):
        os.killpg(process.pid, sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
            return


def read(report: Path) -> dict[str, Any]:
    """A report of cu2port's; nothing when there is none."""
    try:
        content: dict[str, Any] = json.loads(report.read_bytes())
    except (OSError, ValueError):
        return {}
    return content


def converted(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a report of `convert` says of the tree, as values of Project."""
    findings = [f for file in report.get("files", ()) for f in file["findings"]]
    hand = Counter(f["code"] for f in findings if f["outcome"] != "applied")
    build = sum(f["outcome"] == "applied" and f["code"].startswith("CU8") for f in findings)
    left = report.get("summary", {}).get("cuda_names", {}).get("left", [])
    return {"edits_in_build_files": build, "names_left": left, "by_hand": dict(sorted(hand.items()))}


def verified(report: Mapping[str, Any], gpus: Sequence[str]) -> dict[str, Any]:
    """What a report of `verify` says of the tree, as values of Project. A unit compiles for a GPU when its host side
    does too."""
    found = report.get("verify", {})
    device = [u for u in found.get("units", ()) if len(u["targets"]) > 1 or u["path"].endswith((".cu", ".hip"))]
    host = [u for u in found.get("units", ()) if u not in device]
    both = {
        gpu: sum(all(u["targets"].get(t, {}).get("verdict") == COMPILES for t in ("host", gpu)) for u in device)
        for gpu in gpus
    }
    why = {u["path"]: reason(u) for u in (*device, *host) if u["verdict"] != COMPILES}
    return {
        "units": len(device),
        "others": len(host),
        "compile": both,
        "others_compile": sum(u["verdict"] == COMPILES for u in host),
        "why": why,
        "notes": found.get("notes", []),
    }


def reason(unit: Mapping[str, Any]) -> str:
    """Why a unit does not compile: the first error, with its place."""
    for target, record in unit["targets"].items():
        if record["header"]:
            return f"{target}: the header {record['header']} is not on this machine"
        for error in record["errors"]:
            return f"{target}: {error['path']}:{error['line']}: {error['message']}"[:SHOWN]
    return "no reason is given"


def measure(
    tree: Path, out: Path, gpus: Sequence[str], limit_s: float, more: Sequence[str] = (), deps: str = "."
) -> Project:
    """Convert a tree to a folder and compile it. `more`: options for `verify`; `deps`: where dependencies are."""
    listed = tomllib.loads(LISTED.read_text("utf-8")).get(tree.name, {})
    report = out.with_suffix(".json")
    gpu_words = ["-q", "--arch", ",".join(gpus)]
    code, said = run(["convert", *gpu_words, "--force", str(tree), "-o", str(out), "--report", str(report)], limit_s)
    content = read(report)
    if not content:
        return Project(tree.name, why={"": stopped("convert", code, said)})
    folder = str(out / listed.get("folder", "."))
    words = [*gpu_words, f"--time-limit={listed.get('time_limit', 300)}", *more]
    words += [f"--build-arg={word.replace('{deps}', deps)}" for word in listed.get("args", ())]
    words += [f"-I{folder.replace('{deps}', deps)}" for folder in listed.get("include", ())]
    words += [f"--build-with={listed['build']}"] if "build" in listed else []
    words.append(folder)
    words += ["--", "bash", "-c", listed["command"]] if "command" in listed else []
    notes = []
    if "sample" in listed:
        code, said = run(["verify", "--list", *words], limit_s)
        drawn, all_units = lot(said, listed["sample"], listed.get("without", ()))
        if not drawn:
            return Project(tree.name, **converted(content), why={"": stopped("verify --list", code, said)})
        notes.append(f"{len(drawn)} of {all_units} units with device code were drawn")
        words = [*(f"--only={name}" for name in drawn), *words]
    words = ["verify", "--report", str(report), *words]
    code, said = run(words, limit_s)
    content = read(report)
    if "verify" not in content:
        return Project(tree.name, **converted(content), why={"": stopped("verify", code, said)})
    found = Project(tree.name, **converted(content), **verified(content, gpus))
    return replace(found, notes=[*found.notes, *notes])


def lot(text: str, number: int, without: Sequence[str]) -> tuple[list[str], int]:
    """Units that count, drawn from what `verify --list` prints, and of how many. `without`: patterns of names."""
    names = {line.split(maxsplit=1)[1] for line in text.splitlines() if re.match(r"hip +\S", line)}
    names = {n for n in names if not any(fnmatchcase(n, pattern) for pattern in without)}
    return random.Random(SEED).sample(sorted(names), min(number, len(names))), len(names)


def stopped(what: str, code: int | None, said: str) -> str:
    """Why a command gave no report: its last line."""
    if code is None:
        return f"{what} did not end in time"
    last = next((line for line in reversed(said.splitlines()) if line.strip()), f"it ends with {code}")
    return f"{what}: {last.strip()}"[: 2 * SHOWN]


@click.command()
@click.argument("trees", nargs=-1, type=FOLDER, required=True)
@click.option("--arch", default="gfx942,gfx1100", show_default=True)
@click.option("--rocm-path", help="As `verify` has it: headers of ROCm's libraries.")
@click.option("--torch", help="As `verify` has it: torch's wheel, for its extensions.")
@click.option("--deps", default=".", type=FOLDER, help="Folder with what the builds would fetch.")
@click.option("--jobs", help="As `verify` has it: compilers at once.")
@click.option("--only", multiple=True, metavar="GLOB", help="As `verify` has it: units to compile.")
@click.option("--time-limit", default=1800.0, show_default=True, help="Seconds for each command.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Folder for the converted trees.")
@click.option("--json", "written", type=click.Path(dir_okay=False, path_type=Path))
def main(
    trees: tuple[Path, ...],
    arch: str,
    deps: Path,
    only: tuple[str, ...],
    time_limit: float,
    keep: Path | None,
    written: Path | None,
    **more: str | None,
) -> None:
    """Measure projects."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in more.items() if value]
    words += [f"--only={pattern}" for pattern in only]
    folder = (keep or Path(tempfile.mkdtemp(prefix="cu2port-projects-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Project] = []
    try:
        for tree in trees:
            out = folder / tree.resolve().name
            found.append(measure(tree.resolve(), out, arch.split(","), time_limit, words, str(deps.resolve())))
            print("\n".join(found[-1].lines()), flush=True)
            if written is not None:
                written.write_text(json.dumps([asdict(p) for p in found], indent=1), "utf-8")
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{sum(p.good for p in found)} of {len(found)} projects: {WANTED:.0%} of the units compile for {arch}")
    sys.exit(0 if all(p.good for p in found) else 1)


if __name__ == "__main__":
    main()
