"""Own tests of public projects, built and run unmodified by `cu2port simulate -- COMMAND`, at 32 and at 64 lanes.

    python tools/own_tests.py --corpus DIR [--only NAME]... [--wave 32|64] [--jobs N]

DIR has a folder for each project of tools/own_tests.toml. Each is copied and built for a wave size; then its tests run
one after the other. A test passes when it ends with 0 and prints the project's word of success. The table says of what
was not tried why. Times are not measured.

Exit: 0 when all that was tried passed, 1 when not; 2 could not run.
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


def simulate(wave: str, command: str, folder: Path, limit: float) -> tuple[int, str]:
    """A shell's command under the stand-ins: its exit code and all that it printed; 124 after the limit."""
    words = [sys.executable, "-m", "cu2port", "simulate", "--wave", wave, "--time-limit", str(limit), "--", "sh", "-c"]
    done = subprocess.run([*words, command], cwd=folder, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def attempt(name: str, row: dict[str, Any], corpus: Path, wave: str, jobs: int) -> tuple[int, int]:
    """Build a project and run its tests; returns how many passed, and how many there are."""
    tests: dict[str, str] = row["tests"]
    passed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        shutil.copytree(corpus / row["folder"], folder)
        subprocess.run(["sh", "-ec", row.get("prepare", "")], cwd=folder, check=True)
        code, said = simulate(wave, row["build"].format(jobs=jobs), folder, 1200)
        if code:
            print(f"{name} wave {wave}: build ends with {code}: {' | '.join(said.splitlines()[-3:])}", flush=True)
        for test, command in tests.items():
            code, said = simulate(wave, command, folder, 120)
            good = code == 0 and re.search(row["good"], said) is not None
            passed += good
            detail = "" if good else f" exit code {code}: {' | '.join(said.strip().splitlines()[-3:])[:300]}"
            print(f"{name} wave {wave} {test}: {'pass' if good else 'FAIL'}{detail}", flush=True)
    return passed, len(tests)


@click.command(help=__doc__)
@click.option("--corpus", type=FOLDER, required=True)
@click.option("--only", multiple=True, help="Only these projects.")
@click.option("--wave", type=click.Choice(["32", "64", "both"]), default="both")
@click.option("--jobs", type=int, default=2, help="Compiler processes.")
def main(corpus: Path, only: tuple[str, ...], wave: str, jobs: int) -> None:
    waves = ("32", "64") if wave == "both" else (wave,)
    good = True
    lines = []
    for name, row in tomllib.loads(TABLE.read_text()).items():
        if only and name not in only:
            continue
        if not (corpus / row["folder"]).is_dir():
            print(f"{corpus / row['folder']}: no such folder", file=sys.stderr)
            sys.exit(2)
        for w in waves:
            passed, tried = attempt(name, row, corpus, w, jobs)
            good = good and passed == tried
            lines.append(f"{row['repository']} wave {w}: {passed} of {tried} tests pass")
        lines += [f"  not tried: {test}: {why}" for test, why in row.get("not_tried", {}).items()]
    print("\n".join(lines))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
