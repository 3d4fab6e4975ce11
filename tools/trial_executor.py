"""Kernels that `cu2port trial` calls the same, also as machine code of AMD GPUs, with the same arguments.

    python tools/trial_executor.py EMULATOR FOLDER... [-I DIR]... [--every N] [--count N] [--launches N] [--json FILE]
        [--kept FILE --project NAME]

EMULATOR is a folder with an executor of GPU code objects, as `cu2port simulate --executor` takes one; it is no part of
cu2port. Of each FOLDER up to `--count` kernels are taken that `cu2port trial` calls the same. The converted kernel is
compiled for gfx942 (waves of 64 lanes) and gfx1100 (32), and run with the arguments of some of the trial's launches:
the smallest, the largest of at most 1024 threads, and some between. What it leaves in memory is compared with what the
simulator left, by the trial's own rules. Prints a line for each kernel and target, and the counts in the end.

`--kept tools/trial_executor.txt` adds a line for each kernel that agrees on both targets, once it has, and passes over
those that have one: several runs, and one that was stopped, add up, and none counts twice. A line has the project,
FOLDER's name with the file and line of the kernel, its name, and how many launches agreed.

Exit: 0 when all that ran agree, 1 when some do not.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import click
from trial_rate import programs

from cu2port.core.data import cache_dir
from cu2port.core.plain import one_line
from cu2port.project.tree import CannotRun
from cu2port.verify.executor import WAVES, Executor, find_executor
from cu2port.verify.sim_build import Program, absolute_path, mirrored
from cu2port.verify.sim_compiler import HEADERS, INCLUDE_DIR, CannotBuild, find_toolchain
from cu2port.verify.trial import parts
from cu2port.verify.trial.fitting import smaller
from cu2port.verify.trial.kernels import Kernel, Unclear
from cu2port.verify.trial.program import LackingError, write
from cu2port.verify.trial.run import Asked, Recorded, Trial, open_trial, work_folder
from cu2port.verify.trial.verdict import (
    AGREES,
    First,
    Said,
    Verdict,
    first_difference,
    most_common_failure,
    read_output,
)

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
MOST_THREADS = 1024
CASE_S = 120  # of a processor, for one launch
OTHER_ORDER = ("--quantum", "61")  # instructions of a wave before the next one's turn, for `amdemu/run.py`


@dataclass(frozen=True)
class Result:
    """What a kernel's code for a target said: `agrees`, `differs`, or why it did not run."""

    kernel: str
    file: str
    target: str
    word: str
    why: str = ""
    launches: int = 0


@dataclass(frozen=True)
class How:
    """Take each N-th unit of a folder, so many kernels of it, so many launches of each."""

    include_dirs: tuple[Path, ...]
    every: int
    count: int
    launches: int
    kept: frozenset[str] = frozenset()  # kernels that are passed over, as `named` has them


def named(root: Path, file: str) -> str:
    """A kernel, by the name of its folder, its file and its line."""
    return f"{root.name}/{file}"


def read_kept(path: Path | None) -> list[tuple[str, str]]:
    """The project and the kernel of each line."""
    lines = path.read_text(encoding="utf-8").splitlines() if path and path.is_file() else []
    return [(f[0], f[1]) for f in (x.split() for x in lines if x and not x.startswith("#"))]


def all_agree(results: Sequence[Result]) -> bool:
    """Whether a kernel agrees on each target."""
    return {r.target for r in results if r.word == "agrees"} == WAVES.keys()


def threads_of(recorded: Recorded, number: int) -> int:
    """The threads of a launch, which begins its file with the extents of its grid and block."""
    extents = struct.unpack("<6Q", (recorded.folder / f"{number}.case").read_bytes()[:48])
    out = 1
    for n in extents:
        out *= n
    return out


def chosen(recorded: Recorded, count: int) -> list[int]:
    """Some launches, from small to large."""
    steady = sorted(recorded.said.numbers(*AGREES), key=lambda n: (threads_of(recorded, n), n))
    small = [n for n in steady if threads_of(recorded, n) <= MOST_THREADS] or steady[:1]
    last = len(small) - 1
    return sorted({small[last * k // max(1, count - 1)] for k in range(count)})


def compiled(trial: Trial, recorded: Recorded, executor: Executor, target: str) -> Path:
    """The trial's program of the converted kernel for a GPU. Raises CannotBuild."""
    src = recorded.folder / "gpu"
    written = write(smaller(trial.hip, recorded.dropped), recorded.kernel, trial.program, src, recorded.told, bare=True)
    own = recorded.folder / "headers"  # the trial's, without the simulator's beside them
    own.mkdir(exist_ok=True)
    if not (own / "cu2port_trial").is_symlink():
        (own / "cu2port_trial").symlink_to(HEADERS / "cu2port_trial")
    flags = [f"-I{x}" for d in trial.program.include_dirs for x in (mirrored(src, d), d.absolute())]
    flags += [f"-I{own}", f"-I{written.unit.parent}", f"-idirafter{INCLUDE_DIR}"]
    flags += [f"-idirafter{absolute_path(trial.program.units[0]).parent}", "-DCU2PORT_TRIAL_GPU"]
    flags += ["-include", "hip/hip_runtime.h", "-include", "cu2port_trial/trial.h"]  # before any macro of the program
    flags += ["-fwrapv", parts.FILLED, f"-Wl,{parts.driver(trial.toolchain, gpu=True)}"]
    out = recorded.folder / f"{target}.so"
    executor.build(target, [written.unit], out, [*flags, *trial.program.flags])
    return out


def executed(trial: Trial, recorded: Recorded, runner: Sequence[str], made: Path, cases: Sequence[int]) -> Result:
    """Run some launches. `runner`: the words before a program's name."""
    none = Result("", "", "", "did not run")
    said, ended = called(trial, recorded, runner, made, cases)
    agree = len(said.numbers(*AGREES))
    if first := differing(said, made.stem):
        again = differing(called(trial, recorded, runner, made, [first.case], OTHER_ORDER)[0], made.stem)
        other = "agrees" if again is None else "differs too" if again.text == first.text else f"differs: {again.text}"
        return replace(none, word="differs", why=f"{first.text}; in another order of waves it {other}", launches=agree)
    if agree < len(cases):
        why = said.unfit or (f"{most_common_failure(said.cases)} " if said.cases else "") + ended
        return replace(none, why=why, launches=agree)
    return replace(none, word="agrees", launches=agree)


def differing(said: Said, target: str) -> First | None:
    """The smallest launch that left other values."""
    return first_difference({target: said.of("differs")})


def called(
    trial: Trial, recorded: Recorded, runner: Sequence[str], made: Path, cases: Sequence[int], more: Sequence[str] = ()
) -> tuple[Said, str]:
    """What a program says of some launches, and the last line of errors, its own or those of its last launch."""
    call = [*runner, str(made), "compare", str(recorded.folder), str(trial.asked.seed), str(25 * CASE_S)]
    limit = CASE_S * (1 + len(cases))
    try:
        done = subprocess.run(
            [*call, *map(str, cases), *more], capture_output=True, cwd=recorded.folder, timeout=limit, text=True
        )
    except subprocess.TimeoutExpired:
        return Said(), "time limit"
    errors = recorded.folder / "errors"
    ended = done.stderr or (errors.read_text("utf-8", "replace") if errors.is_file() else "")
    return read_output(done.stdout), ended.strip().rpartition("\n")[2]


def judge(trial: Trial, kernel: Kernel, executor: Executor, runner: Sequence[str], launches: int) -> Iterator[Result]:
    """A kernel's code for each target; nothing where the trial does not call the kernel the same."""
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        if isinstance(recorded, Verdict) or trial.compare(recorded, trial.hip).outcome != "same":
            return
        cases = chosen(recorded, launches)
        for target in WAVES:
            try:
                found = executed(trial, recorded, runner, compiled(trial, recorded, executor, target), cases)
            except CannotBuild as e:
                error = next((x for x in str(e).splitlines() if "error" in x), str(e))
                found = Result("", "", "", "does not compile", re.sub(r"^\S*/", "", error)[:200])
            yield replace(found, kernel=kernel.path, target=target)


def run(root: Path, executor: Executor, runner: Sequence[str], asked: Asked, how: How) -> Iterator[Result]:
    """Kernels of one folder."""
    done: set[str] = set()
    for program in islice(programs(root, None, Program((), how.include_dirs)), 0, None, how.every):
        try:
            opened = open_trial(program, replace(asked, root=program.include_dirs[0]), find_toolchain())
        except CannotRun:
            continue
        for real, kernel in opened[1] if opened else ():
            if len(done) >= how.count:
                return
            key = f"{os.path.relpath(real, absolute_path(root))}:{kernel.line}"
            if opened is None or isinstance(kernel, Unclear) or key in done or named(root, key) in how.kept:
                continue
            try:
                for result in judge(opened[0], kernel, executor, runner, how.launches):
                    done.add(key)
                    yield replace(result, file=key)
            except (LackingError, CannotBuild):
                continue


@click.command(help=__doc__)
@click.argument("emulator", type=FOLDER)
@click.argument("roots", nargs=-1, type=FOLDER, required=True)
@click.option("-I", "include_dirs", multiple=True, type=FOLDER)
@click.option("--every", type=click.IntRange(min=1), default=1, help="Take each N-th translation unit.")
@click.option("--count", type=int, default=10, help="Kernels of a folder.")
@click.option("--launches", type=int, default=4, help="Launches of a kernel.")
@click.option("--time", "time_s", type=float, default=2.0)
@click.option("--run", "runner", default="", help="Command in place of emulator_run.py.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Folder for what the emulator compiled.")
@click.option("--kept", "kept_file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--project", default="", help="For --kept; else the folder's name.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    emulator: Path,
    roots: tuple[Path, ...],
    include_dirs: tuple[Path, ...],
    every: int,
    count: int,
    launches: int,
    time_s: float,
    runner: str,
    keep: Path | None,
    kept_file: Path | None,
    project: str,
    json_file: Path | None,
) -> None:
    executor = find_executor(str(emulator))
    keep = (keep or cache_dir() / "executor").absolute()
    os.environ["PYTHONPYCACHEPREFIX"] = str(keep / "python")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    script = Path(__file__).with_name("emulator_run.py")
    words = shlex.split(runner) or [str(executor.python), str(script), str(executor.folder), str(keep / "instructions")]
    results: list[Result] = []
    kept = read_kept(kept_file)
    how = How(include_dirs, every, count, launches, frozenset(name for _, name in kept))
    of_kernels: dict[str, list[Result]] = {}
    for root in roots:
        for r in run(root, executor, words, Asked(time_s=time_s), how):
            results.append(r)
            name = named(root, r.file)
            print(one_line(f"{name}: {r.kernel}: {r.target} {r.word} ({r.launches}) {r.why}"), flush=True)
            of_kernel = of_kernels.setdefault(name, [])
            of_kernel.append(r)
            if kept_file and all_agree(of_kernel):
                kept.append((project or root.name, name))
                with kept_file.open("a", encoding="utf-8") as f:
                    f.write(f"{project or root.name} {name} {r.kernel} {sum(x.launches for x in of_kernel)}\n")
            if json_file:
                json_file.write_text(json.dumps([asdict(x) for x in results], indent=1), encoding="utf-8")
    for target in WAVES:
        words_ = Counter(r.word for r in results if r.target == target)
        ran = sum(r.launches for r in results if r.target == target)
        print(f"{target}: " + ", ".join(f"{n} {w}" for w, n in sorted(words_.items())) + f"; {ran} launches agree")
    if kept_file:
        print(f"{len(kept)} kernels of {len({p for p, _ in kept})} projects agree on all targets")
    raise SystemExit(1 if any(r.word == "differs" for r in results) else 0)


if __name__ == "__main__":
    main()
