"""Own tests of public projects, built and run unmodified by `cu2port simulate -- COMMAND`, at 32 and at 64 lanes, and
at 64 lanes with names changed alone (`--warp flag`).

    python tools/own_tests.py --corpus DIR [--only NAME]... [--run 32|64|renamed]... [--jobs N]

DIR has a folder for each project of tools/own_tests.toml. Each is copied and built for a run; then its commands run one
after the other. A command of `tests` is one test, which passes when it ends with 0 and prints the project's word of
success. A command of `suites` has as many tests as the table says, and each that `passed` matches has passed. The table
says of what was not tried why. Times are not measured.

Exit: 0 when all that was tried passed (`renamed` aside), 1 when not; 2 could not run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import click

TABLE = Path(__file__).with_suffix(".toml")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
RUNS = {"32": ("32", "logical"), "64": ("64", "logical"), "renamed": ("64", "flag")}
SUITE_S = 1200  # most seconds for a build, and for a command of many tests
TEST_S = 300


def simulate(run: str, command: str, folder: Path, limit: float) -> tuple[int, str]:
    """A shell's command under the stand-ins: its exit code and all that it printed; 124 after the limit."""
    wave, warp = RUNS[run]
    words = [sys.executable, "-m", "cu2port", "simulate", "--wave", wave, "--warp", warp, "--time-limit", str(limit)]
    words += ["--", "sh", "-c", command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def attempt(name: str, row: dict[str, Any], corpus: Path, run: str, jobs: int) -> tuple[int, int]:
    """Build a project and run its tests; returns how many passed, and how many there are."""
    tests: dict[str, str] = row.get("tests", {})
    suites: dict[str, dict[str, Any]] = row.get("suites", {})
    passed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        shutil.copytree(corpus / row["folder"], folder, symlinks=True)
        subprocess.run(["sh", "-ec", row.get("prepare", "")], cwd=folder, check=True)
        code, said = simulate(run, row["build"].format(jobs=jobs), folder, SUITE_S)
        if code:
            print(f"{name} {run}: build ends with {code}: {' | '.join(said.splitlines()[-3:])}", flush=True)
        for test, command in tests.items():
            code, said = simulate(run, command, folder, TEST_S)
            good = code == 0 and re.search(row["good"], said) is not None
            passed += good
            detail = "" if good else f" exit code {code}: {' | '.join(said.strip().splitlines()[-3:])[:300]}"
            print(f"{name} {run} {test}: {'pass' if good else 'FAIL'}{detail}", flush=True)
        for suite, asked in suites.items():
            code, said = simulate(run, asked["command"], folder, SUITE_S)
            good_ones = set(re.findall(row["passed"], said, re.MULTILINE))
            passed += len(good_ones)
            print(f"{name} {run} {suite}: {len(good_ones)} of {asked['tests']}, exit code {code}", flush=True)
            if len(good_ones) < asked["tests"]:
                print("  " + "\n  ".join(said.strip().splitlines()[-25:]), flush=True)
    return passed, len(tests) + sum(x["tests"] for x in suites.values())


@click.command(help=__doc__)
@click.option("--corpus", type=FOLDER, required=True)
@click.option("--only", multiple=True, help="Only these projects.")
@click.option("--run", "runs", type=click.Choice([*RUNS]), multiple=True, help="Only these runs.")
@click.option("--jobs", type=int, default=2, help="Compiler processes.")
def main(corpus: Path, only: tuple[str, ...], runs: tuple[str, ...], jobs: int) -> None:
    good = True
    lines = []
    for name, row in tomllib.loads(TABLE.read_text()).items():
        if only and name not in only:
            continue
        if not (corpus / row["folder"]).is_dir():
            print(f"{corpus / row['folder']}: no such folder", file=sys.stderr)
            sys.exit(2)
        for run in runs or RUNS:
            passed, tried = attempt(name, row, corpus, run, jobs)
            good = good and (passed == tried or run == "renamed")
            lines.append(f"{row['repository']} {run}: {passed} of {tried} tests pass")
        lines += [f"  not tried: {test}: {why}" for test, why in row.get("not_tried", {}).items()]
    print("\n".join(lines))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
