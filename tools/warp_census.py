"""Convert a tree in memory and count what refers to warps in it: is everything mapped, or named in the report?

    python tools/warp_census.py TREE [--warp MODE] [--show N [--outcome OUTCOME]] [--all]

Looked at are the tokens of the input, on both sides of every `#if`: primitives of warps, `warpSize`, cooperative tiles
and coalesced groups, warp primitives of cub, the host's warp size, and inline PTX that knows lanes. Each is one of

- `mapped`: an applied edit rewrites it;
- `right`: it stays and means the same in HIP (a shuffle with a width, a tile of at most 32 threads, `__syncwarp()`);
- `named`: a finding that is left to a person refers to it;
- `HIP`: it is in code for HIP already;
- `own`: the user's, not CUDA's: declared there, a member, a macro's own name, a word in an `#ifdef`;
- `lost`: none of these.

Exit: 0 nothing is lost; 1 something is; 2 could not run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tables import put_row, row_text

from cu2port.catalog import load_catalog
from cu2port.catalog.uses import declared_names
from cu2port.checks.warp_shuffle_width import calls_by_other_name
from cu2port.core.model import Options, Outcome, Project, Result, Severity
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.facts.hipcode import hip_spans
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import NAMES, SHUFFLES, tokens
from cu2port.project.graph import Graph, Scan, scan_includes
from cu2port.project.tree import CUDA_SUFFIXES, SOURCE_SUFFIXES

_CUB = frozenset("WarpReduce WarpScan WarpExchange WarpMergeSort WarpLoad WarpStore".split())
_CUB_WORDS = frozenset("CUB_PTX_WARP_THREADS CUB_WARP_THREADS CUB_PTX_LOG_WARP_THREADS CUB_LOG_WARP_THREADS".split())
_TILES = frozenset("tiled_partition thread_block_tile coalesced_threads coalesced_group".split())
_HOST = frozenset("cudaDevAttrWarpSize CU_DEVICE_ATTRIBUTE_WARP_SIZE".split())
_PTX = re.compile(
    r"%(?:laneid|warpid|nwarpid|lanemask_\w+|WARP_SZ)\b|\bWARP_SZ\b"
    r"|\b(?:shfl|vote|match|redux|elect)\.(?:sync|up|down|bfly|idx|any|all|ballot)|\bactivemask\.|\bbar\.warp"
)
KINDS = ("primitive", "warpSize", "tile", "cub", "host", "ptx")
OUTCOMES = ("mapped", "right", "named", "HIP", "own", "lost")


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that refers to warps: token index, kind and the bytes it takes."""

    token: int
    kind: str
    start: int
    end: int


def places(unit: Unit) -> Iterator[Place]:
    """Everything in a file that refers to warps, as the tokens show it."""
    for kind, words in (("primitive", NAMES), ("cub", _CUB | _CUB_WORDS), ("tile", _TILES), ("host", _HOST)):
        for i in unit.find(*words):
            yield Place(i, kind, unit.p[i], unit.end(i))
    for i in unit.find("warpSize"):
        yield Place(i, "host" if unit.is_member(i) else "warpSize", unit.p[i], unit.end(i))
    for keyword, opener, close in unit.asms:
        if _PTX.search(unit.source(opener, close + 1)):
            yield Place(keyword, "ptx", unit.p[keyword], unit.end(close))


class Covered:
    """Whether a byte is in one of some spans."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, offset: int) -> bool:
        k = bisect_right(self._starts, offset) - 1
        return k >= 0 and offset < self._ends[k]


def outcomes(unit: Unit, result: Result) -> Iterator[tuple[Place, str]]:
    """What happened to each place."""
    applied = [j.finding for j in result.findings if j.outcome is Outcome.APPLIED]
    # what is replaced, or told to have got an argument more
    mapped = Covered([(f.start, f.end) for f in applied if f.code[:4] in ("CU31", "CU32") or f.code == "CU401"])
    touched = Covered([(e.start, e.end) for f in applied for e in f.edits if e.end > e.start])
    left = [j.finding for j in result.findings if j.outcome is not Outcome.APPLIED]
    named = Covered([(f.start, max(f.end, f.start + 1)) for f in left])
    warned = Covered([(f.start, f.end) for f in applied if f.severity is not Severity.INFO])
    hips = hip_spans(unit)
    cudas = set(tokens(unit, (*NAMES, "warpSize")))
    for place in places(unit):
        if place.start in mapped or (place.start in touched and _goes(unit, place)):
            yield place, "mapped"
        elif any(s.start <= place.start < s.end for s in hips):
            yield place, "HIP"
        elif is_right(unit, place):
            yield place, "right"
        elif place.start in named or place.start in warned:
            yield place, "named"
        elif is_own(unit, place, cudas):
            yield place, "own"
        else:
            yield place, "lost"


def _goes(unit: Unit, place: Place) -> bool:
    """Whether an edit on this place takes it away: one that renames `cub` or an attribute does not settle its width."""
    return place.kind not in ("cub", "tile", "host") or unit.t[place.token] in _CUB_WORDS


def is_right(unit: Unit, place: Place) -> bool:
    """Whether HIP's thing of that name is CUDA's."""
    i = place.token
    name = unit.t[i]
    call = unit.call(i)
    if name in SHUFFLES:
        d = unit.in_directive(i)
        m = next((m for m in unit.macros.get(unit.t[d.first + 2], ()) if m.directive is d), None) if d else None
        if m is not None and calls_by_other_name(unit, m):
            return True  # each of these calls is looked at
        return call is not None and len(call.args) > 2
    if name == "__syncwarp":
        return call is not None and not call.args
    if place.kind == "cub":
        close = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
        at = {"WarpReduce": 1, "WarpScan": 1, "WarpLoad": 3, "WarpStore": 3}.get(name, 2)
        return close > 0 and len(unit.split_args(i + 2, close)) > at
    if name in ("tiled_partition", "thread_block_tile"):
        if unit.tok(i + 1) != "<":
            return True  # a tile whose size is given when it runs, a `using`, a template's name
        size = unit.tok(i + 2)
        return not size.isdecimal() or int(size) <= 32
    return name == "coalesced_group"


def is_own(unit: Unit, place: Place, cudas: set[int]) -> bool:
    """Whether the place is the user's."""
    i = place.token
    before = unit.tok(i - 1)
    if place.kind in ("primitive", "warpSize"):
        return i not in cudas
    if place.kind == "cub":
        qualified = before == "::"
        uses_cub = any(unit.tok(k - 1) in ("using", "namespace") for k in unit.find("cub"))
        return (unit.tok(i - 2) != "cub") if qualified else (unit.tok(i + 1) != "<" or not uses_cub)
    if place.kind == "host":
        return unit.tok(i + 1) == "=" or unit.is_member(i)
    return False


def sources(tree: Path, every: bool) -> list[Path]:
    """The CUDA files of a tree (with `every`, all kinds of source), in a fixed order."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f != ".git")
        found += [Path(folder, n) for n in sorted(names) if Path(n).suffix.lower() in SOURCE_SUFFIXES]
    kept = (p for p in found if every or p.suffix.lower() in CUDA_SUFFIXES)
    return [p for p in kept if p.is_file() and not p.is_symlink()]


def graph(tree: Path) -> Graph:
    """What the tree's files say of each other, as `cu2port convert` finds it."""
    scans = {}
    for path in sources(tree, True):
        data = path.read_bytes()
        own, promised, _ = declared_names(data.decode("latin-1"))
        scans[str(path)] = Scan(own, scan_includes(data), promised=promised)
    return Graph(list(scans), scans, ())


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what refers to warps in a tree, and what happens to it.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--warp", default="logical", help="as for `cu2port convert`")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N places that are lost")
    parser.add_argument("--outcome", choices=OUTCOMES, default="lost", help="print places of this outcome instead")
    parser.add_argument("--all", action="store_true", help="every kind of source, not only .cu and .cuh")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write a row of the table `warps` in a document")
    parser.add_argument("--row", metavar="NAME", help="the row's first cell; else the folder's name")
    args = parser.parse_args()
    if not args.tree.is_dir():
        print(f"{args.tree}: no such folder", file=sys.stderr)
        sys.exit(2)
    options = Options(warp=args.warp)
    known = graph(args.tree)
    counted: Counter[tuple[str, str]] = Counter()
    told: list[str] = []
    files = 0
    catalog = load_catalog()
    with ClangService() as clang:
        for path in sources(args.tree, args.all):
            data = path.read_bytes()
            if b"\0" in data:
                continue
            files += 1
            project = Project(declared=known.declared(str(path)), own=known.own(str(path)))
            unit = Unit(data.decode("latin-1"), catalog, options, str(path), project, clang)
            if next(places(unit), None) is None:
                continue
            result = translate(data, options, path=str(path), project=project, clang=clang)
            for place, outcome in outcomes(unit, result):
                counted[place.kind, outcome] += 1
                if outcome == args.outcome:
                    line = unit.text.count("\n", 0, place.start) + 1
                    told.append(f"{path.relative_to(args.tree)}:{line}: {place.kind} `{unit.t[place.token]}`")
    for shown in told[: args.show]:
        print(shown)
    print(f"{files:,} files")
    print(row_text(("", *OUTCOMES)) + "|---|" + "---:|" * len(OUTCOMES))
    for kind in KINDS:
        print(row_text((kind, *(f"{counted[kind, outcome]:,}" for outcome in OUTCOMES))), end="")
    if args.write:
        sums = (f"{sum(counted[kind, outcome] for kind in KINDS):,}" for outcome in OUTCOMES)
        put_row(args.write, "warps", [args.row or args.tree.resolve().name, f"{files:,}", *sums])
    sys.exit(1 if any(counted[kind, "lost"] for kind in KINDS) else 0)


if __name__ == "__main__":
    main()
