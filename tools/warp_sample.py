"""Draw literals 32, 31 and 5 (and names that hold them) from the device code of some trees, for labelling by hand.

    python tools/warp_sample.py --count 400 --seed 7 NAME=TREE...     writes a table with empty labels
    python tools/warp_sample.py --literals --count 150 NAME=TREE...   numbers alone, no names of them

Strata are idioms by the text around the token; the classifier has no part in it. Columns: project, file, line, column,
token, stratum, label, reason. `tools/warp_score.py` compares the labelled table with the classifier.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.functions import is_device
from cu2port.warp.values import named_constant

VALUES = (32, 31, 5)
#: Files that are not .cu or .cuh count if they mark device code.
SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".hxx", ".inl", ".c", ".cc", ".cpp")
MARKED = re.compile(rb"__(?:global|device)__")
#: stratum -> pattern over `text before` + token between « and » + `text after`, first match counts.
STRATA = (
    ("shuffle", r"(?:shfl|SHFL|ballot|shuffle)\w*\s*\([^;]*«"),
    ("tile of a group", r"(?:tiled_partition|thread_block_tile)\s*<[^;]*«"),
    ("shared array", r"__shared__[^;=]*\[[^\]]*«"),
    ("other array", r"^[^;=(]*\w\s*\[[^\]]*«[^\]]*\]\s*(?:;|=|\{|\[)"),
    ("definition", r"(?:constexpr|const|define|enum)\b[^;]*[=\s{]\s*«[^»]*»\s*(?:;|\}|,|$)"),
    ("thread / or %", r"(?:threadIdx\.\w|tid\w*|thread\w*)\)?\s*[/%]\s*«"),
    ("thread & or >>", r"(?:threadIdx\.\w|tid\w*|thread\w*)\)?\s*(?:&|>>)\s*\(?«"),
    ("block / or %", r"(?:blockDim\.\w|[bB]lock\w*|BLOCK\w*|[tT]hreads\w*|THREADS\w*)\)?\s*[/%]\s*«"),
    ("round up", r"\+\s*\(?«[^»]*»\s*(?:-\s*1)?\)?\s*\)?\s*(?:/|&|>>)"),
    ("&", r"&\s*\(?\s*~?\(?«"),
    (">>", r">>=?\s*«"),
    ("<<", r"<<=?\s*«"),
    ("%", r"%=?\s*«"),
    ("/", r"/=?\s*«"),
    ("loop step", r"\+=\s*«"),
    ("loop bound", r"for\s*\([^;]*;[^;]*«"),
    ("*", r"(?:\*\s*«|»\s*\*)"),
    ("comparison", r"(?:[<>]=?|[=!]=)\s*«"),
    ("-", r"(?:-\s*«|»\s*-)"),
    ("+", r"(?:\+\s*«|»\s*\+)"),
    ("template argument", r"\w\s*<[^;()]*«[^;()]*>"),
    ("argument", r"\w\s*\([^;]*«"),
    ("other", r"«"),
)


def stratum(unit: Unit, i: int) -> str:
    """The idiom around token i, by its line and the rest of its statement."""
    start = max(unit.text.rfind("\n", 0, unit.p[i]), unit.text.rfind(";", 0, unit.p[i])) + 1
    if "for" in unit.text[unit.text.rfind("\n", 0, unit.p[i]) + 1 : unit.p[i]]:
        start = unit.text.rfind("\n", 0, unit.p[i]) + 1
    stop = unit.text.find("\n", unit.end(i))
    text = f"{unit.text[start : unit.p[i]]}«{unit.t[i]}»{unit.text[unit.end(i) : stop]}"
    for name, pattern in STRATA:
        if re.search(pattern, text):
            return name
    return "other"


def candidates(unit: Unit) -> list[int]:
    """Tokens in device functions, and in macros and constants outside of functions, that are or hold 32, 31 or 5."""
    held = {name for name in unit.words if is_identifier(name) and named_constant(name)}
    inside: set[int] = set()
    for f in unit.functions:
        if is_device(unit, f):
            inside.update(range(f.first, f.body[1]))
    out = []
    for i, tok in enumerate(unit.t):
        if i in inside and (tok in held or (tok[0].isdigit() and integer(tok) in VALUES)):
            out.append(i)
        elif tok[0].isdigit() and integer(tok) in VALUES and unit.function_at(i) is None:
            d = unit.in_directive(i)
            if (d is not None and d.keyword == "define") or {"constexpr", "const"} & set(unit.t[max(0, i - 8) : i]):
                out.append(i)
    return out


def sources(root: Path, left_out: re.Pattern[str] | None) -> list[Path]:
    """CUDA files below root, and C and C++ files that mark device code, without those whose path matches left_out."""
    out = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES and p.is_file()):
        if left_out and left_out.search(path.relative_to(root).as_posix()):
            continue
        if path.suffix in (".cu", ".cuh") or MARKED.search(path.read_bytes()):
            out.append(path)
    return out


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", metavar="NAME=TREE")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--literals", action="store_true", help="no names of numbers")
    parser.add_argument("--leave-out", type=re.compile, metavar="REGEX", help="paths below a tree")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    rows: dict[str, dict[str, list[tuple[str, int, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for given in args.trees:
        name, _, tree = given.partition("=")
        root = Path(tree)
        for path in sources(root, args.leave_out):
            unit = Unit(path.read_bytes().decode("latin-1"), load_catalog(), path=str(path))
            for i in candidates(unit):
                if args.literals and not unit.t[i][0].isdigit():
                    continue
                line = unit.text.count("\n", 0, unit.p[i]) + 1
                column = unit.p[i] - unit.text.rfind("\n", 0, unit.p[i])
                place = (path.relative_to(root).as_posix(), line, column, unit.t[i])
                rows[stratum(unit, i)][name].append(place)
    pools = [pool for by_name in rows.values() for pool in by_name.values()]
    for pool in pools:
        rng.shuffle(pool)
    chosen: list[tuple[str, str, int, int, str, str]] = []
    while len(chosen) < args.count and any(pools):
        for kind in sorted(rows):  # one of each stratum and project a round, so that rare idioms are all there
            for name in sorted(rows[kind]):
                if rows[kind][name] and len(chosen) < args.count:
                    file, line, column, token = rows[kind][name].pop()
                    chosen.append((name, file, line, column, token, kind))
    sys.stdout.write("project\tfile\tline\tcolumn\ttoken\tstratum\tlabel\treason\n")
    for row in sorted(chosen):
        sys.stdout.write("\t".join(map(str, row)) + "\t\t\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
