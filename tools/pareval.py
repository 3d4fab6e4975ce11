"""ParEval-Repo's CUDA repositories: converted, built by their own build lines, run by their own run lines.

    python tools/pareval.py CLONE [--only NAME]... [--instead NAME=COMMAND]... [--wave 32|64|both] [--time-limit S]

CLONE is a clone of parallelcodefoundry/ParEval-Repo: `targets/NAME/cuda/target.json` has the build line, the run lines
and what each must print. Each repository is converted with `cu2port convert`, and nothing else is changed. `cu2port
simulate -- COMMAND` then runs the build line on the converted build files, and the run lines, on the CPU.

--instead runs a command in place of the run lines of a repository: the program with less to do, by an option of its
own. It must print what the first run line must.

This runs the repositories' own builds and programs. Exit: 0 when all that was run printed what it must, else 1.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

CU2PORT = (sys.executable, "-m", "cu2port")
_BRACE = re.compile(r"(?<![;\s])\s+\}$")  # a list of commands as zsh takes it, without the last `;`
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def targets(clone: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """The CUDA repositories of a clone: name, folder, what target.json says."""
    for file in sorted(clone.glob("targets/*/cuda/target.json")):
        yield file.parts[-3], file.parent / "repo", json.loads(file.read_text("utf-8"))


def lines(target: dict[str, Any], instead: str = "") -> list[tuple[str, str]]:
    """The run lines, each with what it must print, which may be a pattern in brackets there: `(Valid)`."""
    expected = [text.strip("()") for text in target["debug_outputs"]]
    if instead:
        return [(instead, expected[0])]
    return list(zip(target["run_commands_debug"], expected, strict=True))


def ran(words: list[str], folder: Path, limit_s: float) -> tuple[int, str]:
    """A command of cu2port: its exit code and all that it printed; 124 past the limit, which `simulate` has too."""
    try:
        done = subprocess.run(
            [*CU2PORT, *words], cwd=folder, capture_output=True, text=True, errors="replace", timeout=limit_s + 60
        )
    except subprocess.TimeoutExpired:
        return 124, "it did not end in time"
    return done.returncode, done.stdout + done.stderr


def attempt(
    name: str, repo: Path, target: dict[str, Any], wave: str, limit_s: float, instead: str = ""
) -> tuple[int, int]:
    """Convert, build and run one repository; returns how many run lines passed, and how many there are."""
    every = lines(target, instead)
    # `simulate` has NVCC in its environment, which would win over the `NVCC ?= hipcc` of a converted Makefile
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        code, said = ran(["convert", "-q", str(repo.resolve()), "-o", str(out)], Path(scratch), limit_s)
        simulate = ["simulate", "--wave", wave, "--time-limit", str(limit_s), "--", "sh", "-c"]
        if out.is_dir():
            build = "unset NVCC; " + _BRACE.sub("; }", target["build_commands_debug"])
            code, said = ran([*simulate, build], out, limit_s)
        if code or not out.is_dir():
            print(
                f"{name} wave {wave} build: FAIL ({code}) {' | '.join(said.strip().splitlines()[-4:])[:500]}",
                flush=True,
            )
            return 0, len(every)
        print(f"{name} wave {wave} build: pass", flush=True)
        passed = 0
        for command, expected in every:
            code, said = ran([*simulate, command], out, limit_s)
            good = code == 0 and expected in said
            passed += good
            detail = "" if good else f" ({code}) {' | '.join(said.strip().splitlines()[-3:])[:300]}"
            print(f"{name} wave {wave} `{command}`: {'pass' if good else 'FAIL'}{detail}", flush=True)
    return passed, len(every)


@click.command(help=__doc__)
@click.argument("clone", type=FOLDER)
@click.option("--only", multiple=True, help="Only these repositories.")
@click.option("--instead", multiple=True, metavar="NAME=COMMAND", help="Run this in place of the run lines.")
@click.option("--wave", type=click.Choice(["32", "64", "both"]), default="both")
@click.option("--time-limit", default=300.0, show_default=True, help="Seconds for each command.")
def main(clone: Path, only: tuple[str, ...], instead: tuple[str, ...], wave: str, time_limit: float) -> None:
    """Measure."""
    smaller = dict(text.split("=", 1) for text in instead)
    passed = total = 0
    for name, repo, target in targets(clone):
        if only and name not in only:
            continue
        for size in ("32", "64") if wave == "both" else (wave,):
            good, of = attempt(name, repo, target, size, time_limit, smaller.get(name, ""))
            passed, total = passed + good, total + of
    print(f"{passed} of {total} run lines print what they must")
    sys.exit(0 if passed == total else 1)


if __name__ == "__main__":
    main()
