"""Whether libclang has an expression where our trees have one, and the other way round, by kind.

    python tools/tree_extents.py TREE... [--files 1000] [--show 20]

Of each CUDA file of the trees (folders; every n-th, so that there are as many as wanted) the bodies of functions are
read. An expression is its kind and its bytes. Of ours, none counts in branches that clang leaves out, and where clang
has no expression that begins or ends there (it gave up on the statement) it is counted as *not seen*; in the use of a
macro, *macro*. Of clang's, none
counts that a macro makes. --show prints that many differences of each kind.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import click

from cu2port.catalog import load_catalog
from cu2port.facts import _libclang as c
from cu2port.facts.clang import Question
from cu2port.facts.clang_worker import Reader, make_setting
from cu2port.facts.unit import Unit
from cu2port.project.tree import CUDA_SUFFIXES
from cu2port.syntax.operands import (
    children,
    first_token,
    last_token,
    own_tokens,
)
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import (
    Asm,
    Assign,
    Binary,
    CallExpr,
    Cast,
    Expr,
    Index,
    Launch,
    Other,
    Ternary,
    heads,
    statements,
)

_MACRO_USE = 502
_CALL = 103
#: Kinds of clang's cursors (clang-c/Index.h) by ours.
KINDS = {
    113: "subscript", 114: "binary", 115: "binary", 116: "conditional", 117: "cast", 124: "cast", 125: "cast",
    126: "cast", 127: "cast", 128: "cast", _CALL: "call",
}  # fmt: skip
_OURS: dict[type, str] = {
    Binary: "binary", Assign: "binary", Ternary: "conditional", CallExpr: "call", Index: "subscript",
    Launch: "call",
}  # fmt: skip
Span = tuple[int, int]


def ours(unit: Unit) -> Iterator[tuple[str, Span]]:
    """Kind and bytes of the expressions in functions."""
    for f in unit.functions:
        for s in statements(read_body(unit, f.body[0] + 1, f.body[1])):
            for e in (*heads(s), *(s.ins if isinstance(s, Asm) else ())):
                for x in _all(e):
                    first, last = own_tokens(x)
                    if isinstance(x, Other) and x.parts and first == first_token(x.parts[0]):
                        for y in x.parts[1:]:
                            yield "binary", (unit.p[first], unit.end(last_token(y)))  # commas
                    if (kind := _OURS.get(type(x))) is not None:
                        yield kind, (unit.p[first], unit.end(last))
                    for w in x.around:
                        if isinstance(w, Cast) and w.type_stop > w.type_first:
                            yield "cast", (unit.p[w.first], unit.end(w.last))


def _all(e: Expr) -> Iterator[Expr]:
    todo = [e]
    while todo:
        x = todo.pop()
        yield x
        todo += children(x)


def clangs(lib: c.Lib, unit: c.Unit) -> tuple[dict[Span, set[int]], list[Span]]:
    """Kinds of expressions by their bytes, and the bytes of macros' uses."""
    found: dict[Span, set[int]] = defaultdict(set)
    macros = []

    def visit(cursor: c.Cursor, parent: c.Cursor, data: object) -> int:
        extent = lib.getCursorExtent(cursor)
        file, start = unit.place(lib.getRangeStart(extent))
        if file != unit.file:
            return c.CONTINUE
        span = start, unit.place(lib.getRangeEnd(extent))[1]
        if cursor.kind == _MACRO_USE:
            macros.append(span)
        elif cursor.kind == _CALL and lib.getCursorReferenced(cursor).kind == c.CONSTRUCTOR:
            found[span].add(c.UNEXPOSED_EXPR)  # of a declaration too: `T x(1)`
        elif lib.isExpression(cursor.kind):
            found[span].add(cursor.kind)
        return c.RECURSE

    lib.visitChildren(lib.getTranslationUnitCursor(unit.tu), c.Visitor(visit), None)
    return found, sorted(macros)


def _inside(spans: list[Span], span: Span) -> bool:
    """Whether one of some spans, which do not overlap, holds a span."""
    k = bisect_right(spans, (span[0], sys.maxsize)) - 1
    return k >= 0 and span[1] <= spans[k][1]


def compare(reader: Reader, lib: c.Lib, path: Path, count: Counter[tuple[str, str]]) -> Iterator[tuple[str, str, Span]]:
    """Add a file to the counts, by kind and what became of it; the differences."""
    data = path.read_bytes()
    unit = Unit(data.decode("latin-1"), load_catalog(), path=str(path))
    parsed = reader.read(Question(str(path), data), ())
    try:
        theirs, macros = clangs(lib, parsed.unit)
    finally:
        parsed.unit.close()
    mine = set(ours(unit))
    starts, ends = {s for s, _ in theirs}, {e for _, e in theirs}
    bodies = sorted((unit.end(f.body[0]), unit.p[f.body[1]]) for f in unit.functions)
    for kind, span in sorted(mine):
        if any(a < span[1] and span[0] < b for a, b in parsed.skipped):
            continue
        count[kind, "ours"] += 1
        if span in theirs:
            count[kind, "agree"] += 1
        elif _inside(macros, span):
            count[kind, "macro"] += 1
        elif span[0] not in starts and span[1] not in ends:
            count[kind, "not seen"] += 1
        else:
            count[kind, "only ours"] += 1
            yield kind, "only ours", span
    spans = {span for _, span in mine}
    for span, kinds in sorted(theirs.items()):
        kind = next((KINDS[k] for k in sorted(kinds, reverse=True) if k in KINDS), "")
        if not kind or not _inside(bodies, span) or _inside(macros, span):
            continue
        if kind == "call" and (data[span[1] - 1] not in b")}" or data[span[0]] in b"*&!~-+"):
            continue  # an operator of a class: no brackets are written
        count[kind, "clang's"] += 1
        if span not in spans:
            count[kind, "only clang's"] += 1
            yield kind, "only clang's", span


@click.command(help=__doc__)
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--files", default=1000, help="Files to read.")
@click.option("--show", default=0, help="Differences to print, of each kind.")
def main(trees: tuple[Path, ...], files: int, show: int) -> None:
    found = sorted(p for tree in trees for p in tree.rglob("*") if p.suffix in CUDA_SUFFIXES and p.is_file())
    chosen = found[:: max(1, len(found) // files)][:files]
    lib = c.Lib(c.library_path())
    reader = Reader(make_setting(lib))
    count: Counter[tuple[str, str]] = Counter()
    shown: Counter[tuple[str, str]] = Counter()
    for path in chosen:
        for kind, what, (start, end) in compare(reader, lib, path, count):
            shown[kind, what] += 1
            if shown[kind, what] <= show:
                text = path.read_bytes()
                line = text.count(b"\n", 0, start) + 1
                print(f"{what}: {kind}: {path}:{line}: {text[start:end].decode('latin-1')!r:.160}")
    columns = ("ours", "agree", "not seen", "macro", "only ours", "clang's", "only clang's")
    print(f"{len(chosen)} files\n| kind | {' | '.join(columns)} |\n| --- |{' --: |' * len(columns)}")
    for kind in sorted({k for k, _ in count}):
        print(f"| {kind} | {' | '.join(f'{count[kind, x]:,}' for x in columns)} |")


if __name__ == "__main__":
    main()
