"""What HIP ports of open projects took, beside what an audit of the tree before the port says.

    python tools/port_history.py GITDIR...

GITDIR is a bare clone with history. The first commit whose message names HIP, ROCm or AMD GPUs begins the port; the
commits of the year after it that name them are counted, and the days on which somebody made one (author and date). Its
parent's sources are audited. A row of the table of docs/audit.md for each. The days are a lower bound of the work: a
squashed branch is one day, and hours are unknown.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

_ASK = r"\b(hip|rocm|amd gpus?)\b"
_YEAR = datetime.timedelta(days=365)
_SOURCES = (
    ".cu .cuh .h .hpp .hh .hxx .c .cc .cpp .cxx .inl .inc .in .cmake .txt .mk .py .pyx .go .rs .f90 .F90 .cuf".split()
)


def git(folder: str, *words: str) -> bytes:
    command = ["git", f"--git-dir={folder}", "-c", "core.pager=cat", *words]
    return subprocess.run(command, capture_output=True, check=True).stdout


def port(folder: str) -> tuple[str, str, int, int]:
    """(parent of the port's first commit, date of that commit, commits, days) of a repository."""
    log = git(folder, "log", "--no-merges", "-i", "-E", f"--grep={_ASK}", "--format=%H%x09%as%x09%an", "HEAD").decode()
    rows = sorted((date, commit, author) for commit, date, author in (x.split("\t") for x in log.splitlines()))
    first = datetime.date.fromisoformat(rows[0][0])
    within = [r for r in rows if datetime.date.fromisoformat(r[0]) - first < _YEAR]
    return rows[0][1] + "~1", rows[0][0], len(within), len({(date, author) for date, _, author in within})


def export(folder: str, commit: str, out: Path) -> None:
    """Write the sources of a commit below `out`; objects that a partial clone lacks are left out."""
    for line in git(folder, "ls-tree", "-rz", commit).split(b"\0"):
        meta, _, name = line.partition(b"\t")
        path = out / name.decode("utf-8", "surrogateescape")
        if not name or not meta.startswith(b"100") or path.suffix not in _SOURCES:
            continue
        show = ["git", f"--git-dir={folder}", "cat-file", "blob", meta.split()[2].decode()]
        done = subprocess.run(show, capture_output=True, check=False)
        if done.returncode == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(done.stdout)


def main() -> None:
    print("| project | port began | commits | days with commits | CUDA files, lines | estimate, days |")
    print("| --- | --- | --: | --: | --: | --: |")
    for folder in sys.argv[1:]:
        parent, began, commits, days = port(folder)
        with tempfile.TemporaryDirectory() as out:
            export(folder, parent, Path(out))
            audit = [sys.executable, "-m", "cu2port", "audit", ".", "--format", "json"]
            doc = json.loads(subprocess.run(audit, cwd=out, capture_output=True, check=False).stdout)
        low, high = doc["effort"]["days"]
        name = Path(folder).resolve().parent.name.rpartition("+")[2]
        size = f"{doc['summary']['cuda_files']:,}, {doc['summary']['cuda_lines']:,}"
        print(f"| {name} | {began} | {commits:,} | {days:,} | {size} | {low:g} to {high:g} |", flush=True)


if __name__ == "__main__":
    main()
