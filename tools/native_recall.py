#!/usr/bin/env python3
"""What part of the code that could work with whole wavefronts `--warp native` rewrites, and what keeps the rest.

    python tools/native_recall.py TREE... [--each] [--why N]

Candidates are found by names and shapes alone, in files that shuffle or name a function that reduces over a warp:
device functions whose name says that they reduce over a block or a `cta`; kernels whose text reduces over a warp, by
what else is in it. A file is looked at by itself, with the headers it includes. Prints a line for each idiom:
candidates and native ones (also kernels with nothing to rewrite, where functions of headers do it that are native);
then the most frequent reasons. `--each` prints each candidate: tree, idiom, file, function, the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from cu2port.catalog import Catalog, load_catalog
from cu2port.core.model import Options
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.warp.functions import is_device
from cu2port.warp.native.asked import native
from cu2port.warp.native.headers import headers_of

SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".inl")
MAX_SIZE = 400_000  # bytes; larger files are made by programs
_TWIN = re.compile(r"-(?:hip|sycl|omp)/")  # HeCBench's other languages
_WORTH = re.compile(r"shfl_|__shfl|cg::reduce|cooperative_groups::reduce|__reduce_\w+_sync|(?i:warp_?reduce)")
_REDUCES = re.compile(r"__shfl_(?:xor|down)(?:_sync)?\b|\.shfl_(?:xor|down)\b|cg::reduce|__reduce_add_sync")
_BY_NAME = re.compile(r"(?i)\bwarp_?(?:all)?_?reduce\w*|\bwarp_?(?:sum|max|min)\w*")
_OF_BLOCK = re.compile(r"(?i)(?:block|cta)_?(?:all)?_?(?:reduce|sum|max|min)|reduce_?block")
_STRIDE = re.compile(r"\+=\s*(?:32|WARP_SIZE|warpSize|kWarpSize|warp\.size\(\)|WARP_SIZE_\w*|\w*::?warp_size)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that could be native, whether it is, and else why not."""

    tree: str
    idiom: str
    file: str
    function: str
    native: bool
    why: str


def idiom(name: str, text: str, kernel: bool) -> str:
    """What a function seems to do with warps; "" if it is no candidate."""
    if not (_REDUCES.search(text) or _BY_NAME.search(text)):
        return ""
    if not kernel:
        if not _OF_BLOCK.search(name):
            return ""
        return "block, list or pointer, by a function" if "*" in text.partition("{")[0] else "block, by a function"
    if "threadIdx.y" in text and re.search(r"threadIdx\s*\.\s*x", text):
        return "kernel, rows by threadIdx.y"
    if _STRIDE.search(text):
        return "kernel, row or stride of a warp"
    if "__shared__" in text and ("__syncthreads" in text or "sync(" in text):
        return "kernel, block in its own text"
    return "kernel, atomic for each warp" if "atomic" in text else "kernel, other"


def candidates(tree: Path) -> Iterator[Candidate]:
    """Those of all files below a folder."""
    catalog = load_catalog()
    for path in sorted(tree.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > MAX_SIZE:
            continue
        text = path.read_bytes().decode("latin-1")
        if _TWIN.search(str(path)) or not _WORTH.search(text) or not re.search("__global__|__device__", text):
            continue
        unit = Unit(text, catalog, Options(warp="native"), path=str(path))
        made = native(unit)
        good = {f for f, _ in made.rewritten} | set(made.kernels)
        good |= {f for f in unit.functions if "__global__" in f.sides and by_headers(unit, f, catalog)}
        kept = {k.kernel: k.why for k in made.kept}
        for f in unit.functions:
            if is_device(unit, f):
                own = text[unit.p[f.params[0]] : unit.p[f.body[1]]]
                found = idiom(f.name, own, "__global__" in f.sides) or ("other that is native" if f in good else "")
                if found:
                    file = str(path.relative_to(tree))
                    why = kept.get(f, "no warp code seen in it")
                    yield Candidate(tree.name, found, file, f.name, f in good, why)


def by_headers(unit: Unit, f: Function, catalog: Catalog) -> bool:
    """Whether a kernel calls a function of a header that is native there."""
    words = set(unit.t[f.body[0] : f.body[1]])
    for path in headers_of(unit):
        other = Unit(path.read_bytes().decode("latin-1"), catalog, Options(warp="native"), path=str(path))
        if not words.isdisjoint(g.name for g, _ in native(other).rewritten):
            return True
    return False


@click.command()
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--each", is_flag=True, help="Print each candidate.")
@click.option("--why", default=40, help="How many reasons to print.")
def main(trees: tuple[Path, ...], each: bool, why: int) -> None:
    """Count what could be native, and what is."""
    total: Counter[str] = Counter()
    done: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        for c in candidates(tree):
            total[c.idiom] += 1
            done[c.idiom] += c.native
            if not c.native:
                reasons[c.idiom, re.sub(r"`[^`]*`", "`...`", c.why)] += 1
            if each:
                verdict = "native" if c.native else c.why
                print(c.tree, c.idiom, c.file, c.function, verdict, sep="\t", flush=True)
    for name in sorted(total):
        print(f"{name:40}{done[name]:5} of {total[name]}")
    for (name, reason), n in reasons.most_common(why):
        print(f"{n:5}  {name}: {reason}")


if __name__ == "__main__":
    main()
