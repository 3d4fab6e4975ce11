"""Whether `cu2port verify` says the same with two compilers: each verdict, message and line of converted programs.

    python tools/same_verdict.py --samples [--rocm-path ROOT]
    python tools/same_verdict.py --corpus HECBENCH/src --list NAMES --first 50 [--rocm-path ROOT] [-I DIR]

Programs are converted together into one tree, which is then verified with each compiler. With --corpus, each of the
first names of a list (its first word; a one-letter flag before it is skipped) is a folder `NAME-cuda`. Prints what each
compiler made of the units, with wall and processor time, and every difference.

Exit: 0 the same throughout, 1 differences, 2 could not run.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from cu2port.core.verified import TargetRecord, VerifyRecord
from cu2port.project.tree import CannotRun
from cu2port.verify.compile import Request, run

ROOT = Path(__file__).resolve().parent.parent
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
Key = tuple[str, str]


def samples(folder: Path) -> list[Path]:
    """The samples' CUDA files, without what tests expect of them, copied below a folder."""
    out = []
    for case in sorted(p.parent for p in (ROOT / "samples").glob("*/input.cu")):
        out.append(folder / case.name)
        out[-1].mkdir(parents=True)
        for path in case.glob("*.cu*"):
            if not path.name.startswith("expected."):
                shutil.copy(path, out[-1])
    return out


def listed(corpus: Path, names: Path, first: int) -> list[Path]:
    """The folders of the first programs of a list. Raises CannotRun when one is not there."""
    words = (line.split() for line in names.read_text("utf-8").splitlines() if line.strip() and line[0] != "#")
    chosen = [w[1] if len(w) > 1 and len(w[0]) == 1 else w[0] for w in words][: first or None]
    out = [corpus / f"{name}-cuda" for name in chosen]
    absent = [str(p) for p in out if not p.is_dir()]
    if absent:
        raise CannotRun(f"{absent[0]}: no such folder")
    return out


def convert(inputs: list[Path], out: Path, include_dirs: tuple[str, ...]) -> None:
    """Convert as a user does. Raises CannotRun when that fails; findings that are left are no failure."""
    words = [sys.executable, "-c", "from cu2port.cli import main; main()", "convert", "-q", *map(str, inputs)]
    done = subprocess.run([*words, "-o", str(out), *(f"-I{d}" for d in include_dirs)], capture_output=True, text=True)
    if done.returncode > 1:
        raise CannotRun(done.stderr.strip())


def results(record: VerifyRecord) -> dict[Key, TargetRecord]:
    return {(u.path, t.target): t for u in record.units for t in u.targets}


def differences(one: VerifyRecord, other: VerifyRecord) -> list[str]:
    """A line for each compilation that came out differently, in verdict, message or line."""
    a, b = results(one), results(other)
    out = []
    for path, target in sorted(a.keys() | b.keys()):
        mine, theirs = a.get((path, target)), b.get((path, target))
        if mine != theirs:
            out.append(f"{path} {target}: {_said(mine)} | {_said(theirs)}")
    return out


def _said(record: TargetRecord | None) -> str:
    if record is None:
        return "not compiled"
    return "; ".join([record.verdict, record.header, *(f"{e.line}: {e.message}" for e in record.errors)])


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command(help=__doc__)
@click.option("--samples", "own", is_flag=True, help="All samples.")
@click.option("--corpus", type=FOLDER)
@click.option("--list", "names", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--first", default=0, help="So many programs of the list; 0: all.")
@click.option("--compilers", default="clang++-22,wheels", show_default=True)
@click.option("--arch", "archs", default="gfx942,gfx1100", show_default=True)
@click.option("--rocm-path", default="")
@click.option("--std", default="c++17", show_default=True)
@click.option("-I", "include_dirs", multiple=True)
@click.option("-j", "jobs", default=1, show_default=True)
def main(
    own: bool,
    corpus: Path | None,
    names: Path | None,
    first: int,
    compilers: str,
    archs: str,
    rocm_path: str,
    std: str,
    include_dirs: tuple[str, ...],
    jobs: int,
) -> None:
    if not own and not (corpus and names):
        raise click.UsageError("--samples, or --corpus and --list")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            inputs = samples(Path(scratch, "cuda")) if own else []
            inputs += listed(corpus, names, first) if corpus and names else []
            out = Path(scratch, "hip")
            convert(inputs, out, include_dirs)
            records = []
            for compiler in compilers.split(","):
                asked = Request(
                    str(out),
                    tuple(archs.split(",")),
                    compiler,
                    rocm_path,
                    include_dirs,
                    std=std,
                    workers=jobs,
                    limit_s=900,
                )
                began, used = time.monotonic(), _processor_s()
                records.append(run(asked))
                counts = ", ".join(f"{n} {verdict}" for verdict, n in records[-1].counts.items() if n)
                print(f"{compiler}: {records[-1].compiler_version}, HIP {records[-1].hip_version}: {counts}; ", end="")
                print(f"{time.monotonic() - began:.0f} s, {_processor_s() - used:.0f} s of a processor", flush=True)
        except CannotRun as e:
            click.echo(e, err=True)
            raise SystemExit(2) from None
    found = [line for other in records[1:] for line in differences(records[0], other)]
    print("\n".join(found) if found else f"the same {len(results(records[0]))} verdicts, messages and lines")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
