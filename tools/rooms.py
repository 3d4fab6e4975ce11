"""Lines of each room of the package, to compare with another checkout.

    python tools/rooms.py [OTHER/translator/cu2port]

Counted are lines that are not empty, docstrings and comments included. With another package, its lines stand first.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "translator" / "cu2port"


def count(package: Path) -> Counter[str]:
    """Room -> lines; modules at the top are in the room ".", and `warp/native` is a room."""
    found: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).parts[:-1]
        room = "/".join(parts[:2] if parts[:2] == ("warp", "native") else parts[:1]) or "."
        found[room] += sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return found


def main() -> None:
    """Print a Markdown table."""
    tables = [count(p) for p in (*map(Path, sys.argv[1:]), PACKAGE)]
    print("| room |" + " lines |" * len(tables))
    print("|---|" + "---:|" * len(tables))
    for room in sorted({room for t in tables for room in t}):
        print(f"| `{room}` |" + "".join(f" {t[room]:,} |" for t in tables))
    print("| all |" + "".join(f" {t.total():,} |" for t in tables))


if __name__ == "__main__":
    main()
