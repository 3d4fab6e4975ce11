"""How many names of CUDA's headers have a mapping, by library.

    python tools/coverage.py                      prints the table (Markdown)
    python tools/coverage.py --missing            prints `list name` for every name without a mapping
    python tools/coverage.py --unchecked          prints `library name -> HIP name` for rows that no header confirms
    python tools/coverage.py --check README.md    exit 1 unless the table in the file is fresh
    python tools/coverage.py --write README.md    rewrites it

The names are those of rules/names (made by tools/names.py from CUDA 13's headers), the mappings those of rules/*.toml.
A name counts under the list it is in, whichever rule file holds its row. A name without a row of its own counts as
renamed when its namespace moves as a whole. In the file the table stands between two comments that name this script.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tables import NoTableError, replaced, row_text

from cu2port.catalog.rulefile import Source, read_rules

ROOT = Path(__file__).resolve().parent.parent
HEADINGS = ("Library", "Becomes", "Names", "Renamed", "Changed", "Unsupported", "No mapping", "Unchecked")


@dataclass(frozen=True, slots=True)
class Counts:
    """What happened to the names of a library. `unchecked`: targets that the available headers do not declare."""

    title: str
    target: str
    renamed: int
    changed: int
    unsupported: int
    missing: int
    unchecked: int

    @property
    def cells(self) -> tuple[str, ...]:
        names = self.renamed + self.changed + self.unsupported + self.missing
        numbers = (names, self.renamed, self.changed, self.unsupported, self.missing, self.unchecked)
        return (self.title, self.target, *(f"{n:,}" for n in numbers))


def names_of(rules: Path, listed: str) -> Iterator[str]:
    """The names of a list, without their kinds."""
    for line in (rules / "names" / f"{listed}.txt").read_text(encoding="utf-8").splitlines():
        yield line.partition(" ")[0]


def mapping(parts: Mapping[str, Any], name: str) -> str:
    """`rename`, `change` or `unsupported`; `rename` too in a namespace that moves as a whole; "" for none.

    `parts` is what `read_rules` gives.
    """
    if name in parts["raw"]:
        row = parts["raw"][name][1]
        return "rename" if isinstance(row, str) else str(row["mapping"])
    words = name.split("::")
    moved = any("::".join(words[:k]) in parts["namespaces"] for k in range(1, len(words) + 1))
    return "rename" if moved else ""


def unchecked(parts: Mapping[str, Any], name: str) -> bool:
    """Whether a name's row says that no header at hand could answer for its target."""
    row = parts["raw"].get(name, ("", ""))[1]
    return not isinstance(row, str) and bool(row.get("unchecked"))


def count(rules: Path, parts: Mapping[str, Any]) -> Iterator[Counts]:
    """The counts of every library that has name lists, by title."""
    for _, title, target, lists in sorted(parts["libraries"], key=lambda x: x[1].lower()):
        names = [n for listed in lists for n in names_of(rules, listed)]
        if names:
            mappings = [mapping(parts, n) for n in names]
            yield Counts(
                title=title,
                target=target,
                renamed=mappings.count("rename"),
                changed=mappings.count("change"),
                unsupported=mappings.count("unsupported"),
                missing=mappings.count(""),
                unchecked=sum(unchecked(parts, n) for n in names),
            )


def table(rows: list[Counts]) -> str:
    """The table as Markdown, with a last row of sums."""
    sums = (sum(getattr(r, key) for r in rows) for key in ("renamed", "changed", "unsupported", "missing", "unchecked"))
    lines = [HEADINGS, ("---", "---", *("--:" for _ in HEADINGS[2:]))]
    lines += [r.cells for r in (*rows, Counts("**All**", "", *sums))]
    return "".join(map(row_text, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description="How many names of CUDA's headers have a mapping, by library.")
    parser.add_argument("--rules", type=Path, default=ROOT / "rules")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--missing", action="store_true", help="print `list name` for each name without a mapping")
    group.add_argument("--unchecked", action="store_true", help="print the rows that no HIP header could answer for")
    group.add_argument("--check", type=Path, metavar="FILE", help="exit 1 unless the table in FILE is fresh")
    group.add_argument("--write", type=Path, metavar="FILE", help="rewrite the table in FILE")
    args = parser.parse_args()
    parts = read_rules([Source.of(f) for f in sorted(args.rules.glob("*.toml"))])
    if args.missing:
        for path in sorted((args.rules / "names").glob("*.txt")):
            for name in names_of(args.rules, path.stem):
                if not mapping(parts, name):
                    print(path.stem, name)
        return
    if args.unchecked:
        for name, (library, row) in sorted(parts["raw"].items(), key=lambda x: (x[1][0], x[0])):
            if unchecked(parts, name):
                print(f"{library} {name} -> {row['hip']}")
        return
    fresh = table(list(count(args.rules, parts)))
    path = args.check or args.write
    if path is None:
        print(fresh, end="")
        return
    text = path.read_text(encoding="utf-8")
    try:
        new = replaced(text, "coverage", fresh)
    except NoTableError as e:
        sys.exit(f"{path}: {e}")
    if args.write:
        path.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit(f"{path}: the coverage table is stale; run: python tools/coverage.py --write {path}")


if __name__ == "__main__":
    main()
