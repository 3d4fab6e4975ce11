"""Compare hand-made labels of literals with the classifier.

    python tools/warp_score.py tests/warp/labels.tsv OWNER/NAME=TREE...

Prints precision and recall of "is a count of lanes" with Wilson's 95 % interval, a line for each stratum, and with
`--misses` the places where the two differ. A literal without a verdict counts as "no".
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.warp.classify import classify

Z = 1.96


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion."""
    if not total:
        return 0.0, 1.0
    p = hits / total
    middle = (p + Z * Z / (2 * total)) / (1 + Z * Z / total)
    half = Z * math.sqrt(p * (1 - p) / total + Z * Z / (4 * total * total)) / (1 + Z * Z / total)
    return middle - half, middle + half


def verdicts(path: Path) -> dict[tuple[int, int], bool]:
    """Line and column of each classified token of a file: whether it counts lanes."""
    unit = Unit(path.read_bytes().decode("latin-1"), load_catalog(), path=str(path))
    out = {}
    for v in classify(unit):
        at = unit.p[v.at]
        out[unit.text.count("\n", 0, at) + 1, at - unit.text.rfind("\n", 0, at)] = v.lanes
    return out


def main() -> int:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("trees", nargs="+", metavar="OWNER/NAME=TREE")
    parser.add_argument("--misses", action="store_true")
    args = parser.parse_args()
    trees = dict(t.split("=", 1) for t in args.trees)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # right lanes, false lanes, missed, right no
    known: dict[Path, dict[tuple[int, int], bool]] = {}
    for line in args.labels.read_text(encoding="utf-8").splitlines()[1:]:
        project, _, file, row, column, stratum, label, reason = line.split("\t")
        path = Path(trees[project], file)
        if path not in known:
            known[path] = verdicts(path)
        said = known[path].get((int(row), int(column)), False)
        is_lanes = label == "lanes"
        kind = (0 if said else 2) if is_lanes else (1 if said else 3)
        for key in (stratum, "all"):
            counts[key][kind] += 1
        if args.misses and kind in (1, 2):
            sys.stdout.write(f"{'false' if kind == 1 else 'missed'}\t{file}:{row}:{column}\t{stratum}\t{reason}\n")
    for stratum, (right, false, missed, quiet) in sorted(counts.items(), key=lambda x: (x[0] == "all", x[0])):
        sys.stdout.write(f"{stratum}\t{right}\t{false}\t{missed}\t{quiet}\n")
    right, false, missed, _ = counts["all"]
    for name, total in (("precision", right + false), ("recall", right + missed)):
        low, high = wilson(right, total)
        sys.stdout.write(f"{name}\t{right}/{total} = {right / max(total, 1):.1%} ({low:.1%} to {high:.1%})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
