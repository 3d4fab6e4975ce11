"""Compare the reader of declarations with libclang on real files.

    python tools/declarations.py FILE_OR_FOLDER... [--limit 400] [--seed 1] [--show 10] [--errors 1000000]

For each file: what libclang declares in it and the reader does not, and the other way round, by kind, and those whose
kind or path (namespaces and classes around it) differs. A declaration is known by the place of its name. Left out are
what the preprocessor leaves out, what macros make where they are used, and names that clang has none for. `--errors`:
files in which clang finds more errors than that are left out, for it drops what it cannot read.

Exit: 0 always, 2 if libclang is missing.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import click

from cu2port.facts import _libclang as c
from cu2port.facts._clang_answers import Setting
from cu2port.facts.clang import Question
from cu2port.facts.clang_worker import CrashedError, Reader, make_setting
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.lexer import lex

SUFFIXES = (".cu", ".cuh", ".cpp", ".h", ".hpp", ".cc", ".inl")
KINDS = {
    2: "type", 3: "type", 4: "type", 5: "type", 6: "member", 7: "enumerator", 8: "function", 9: "variable",
    10: "parameter", 20: "type", 21: "function", 22: "namespace", 24: "constructor", 25: "constructor", 26: "function",
    27: "template parameter", 28: "template parameter", 29: "template parameter", 30: "function", 31: "type",
    32: "type", 33: "namespace", 35: "using", 36: "type", 501: "macro",
}  # fmt: skip
_PATH = frozenset({2, 3, 4, 22, 31, 32})
#: One kind to clang and another here, as expected: a variable of a class; a template's constructor; names whose
#: kind depends on what a name elsewhere is.
_SAME = frozenset(
    {
        ("variable", "member"),
        ("function", "constructor"),
        ("type", "using"),
        ("function", "using"),
        ("variable", "parameter"),
    }
)


class Seen(NamedTuple):
    """What one side says of a name at a byte offset."""

    name: str
    kind: str
    path: str


def by_clang(reader: Reader, path: Path, data: bytes) -> tuple[dict[int, Seen], tuple[tuple[int, int], ...], int]:
    """By offset what clang declares in a file, the ranges that it left out, and how many errors it found."""
    q = Question(path=str(path), data=data)
    reader.facts(q)
    assert reader.last is not None
    unit, lib = reader.last.unit, reader.s.lib
    out: dict[int, Seen] = {}

    def visit(cursor: c.Cursor, parent: c.Cursor, _: object) -> int:
        kind = KINDS.get(cursor.kind)
        file, at = unit.place(lib.getCursorLocation(cursor))
        if file != unit.file:
            return c.CONTINUE if cursor.kind < 100 else c.RECURSE
        if kind is not None:
            name = lib.text(lib.getCursorSpelling(cursor)).decode("latin-1")
            if kind == "namespace" and not name:
                return c.RECURSE
            first = "operator" if name.startswith("operator") else name.partition("<")[0].strip()
            if first and data[at : at + len(first)].decode("latin-1") == first:
                above = lib.getCursorSemanticParent(cursor)
                out.setdefault(at, Seen(name, kind, path_of(lib, above)))
        return c.RECURSE

    lib.visitChildren(lib.getTranslationUnitCursor(unit.tu), c.Visitor(visit), None)
    return out, reader.last.skipped, reader.last.errors


def path_of(lib: c.Lib, cursor: c.Cursor) -> str:
    """The named namespaces and classes from a cursor outwards; "?" in a function."""
    parts: list[str] = []
    while not lib.Cursor_isNull(cursor) and cursor.kind not in c.TRANSLATION_UNIT:
        if cursor.kind in _PATH:
            name = lib.text(lib.getCursorSpelling(cursor)).decode("latin-1").partition("<")[0]
            if name and "(" not in name:
                parts.append(name)
        elif cursor.kind in (8, 21, 24, 25, 26, 30):
            return "?"
        cursor = lib.getCursorSemanticParent(cursor)
    return "::".join(reversed(parts))


def by_reader(data: bytes) -> dict[int, Seen]:
    """The same of the reader; what macros' bodies declare is left out."""
    lexed = lex(data.decode("latin-1"))
    out = {}
    for d in Declarations(lexed).all():
        if d.kind == "macro" or lexed.directive_index(d.at) < 0:
            path = "?" if d.scope.local or d.qualified else d.scope.path
            out[lexed.p[d.at]] = Seen(d.name, d.kind, path)
    return out


def compare(reader: Reader, path: Path, errors: int) -> tuple[Counter[str], list[tuple[str, str]]] | None:
    """Counts and differences (class, place) of one file; None if clang found too much wrong with it."""
    data = path.read_bytes()
    theirs, skipped, wrong = by_clang(reader, path, data)
    if wrong > errors:
        return None
    ours = by_reader(data)
    starts = [a for a, _ in skipped]
    counts: Counter[str] = Counter(files=1)
    found = []

    def note(what: str, at: int, seen: Seen) -> None:
        line = data.count(b"\n", 0, at) + 1
        text = data.split(b"\n")[line - 1].decode("latin-1").strip()[:110]
        found.append((what, f"{path}:{line}: {seen.name} [{seen.path}] | {text}"))

    for at in sorted(theirs.keys() | ours.keys()):
        k = bisect_right(starts, at) - 1
        if k >= 0 and at < skipped[k][1]:
            continue
        a, b = theirs.get(at), ours.get(at)
        if a is not None and b is not None:
            counts["both"] += 1
            if a.kind != b.kind and (a.kind, b.kind) not in _SAME:
                note(f"kind: clang {a.kind}, reader {b.kind}", at, b)
            elif (
                a.path != b.path
                and "?" not in (a.path, b.path)
                and a.kind in ("type", "function", "variable", "member")
            ):
                note("path", at, Seen(a.name, a.kind, f"clang {a.path}, reader {b.path}"))
        elif a is not None:
            note(f"clang alone: {a.kind}", at, a)
        elif b is not None:
            note(f"reader alone: {b.kind}", at, b)
    return counts, found


@click.command()
@click.argument("inputs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--limit", default=400, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--show", default=10, show_default=True)
@click.option("--errors", default=10**6, show_default=True)
def main(inputs: tuple[Path, ...], limit: int, seed: int, show: int, errors: int) -> None:
    """Compare the reader of declarations with libclang on real files."""
    files = sorted(
        {f for i in inputs for f in ([i] if i.is_file() else i.rglob("*")) if f.suffix in SUFFIXES and f.is_file()}
    )
    random.Random(seed).shuffle(files)
    try:
        setting = make_setting(c.Lib(c.library_path()))
    except OSError as e:
        raise click.UsageError(str(e)) from e
    Reader(setting).preamble("c++17")
    total: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for path in files[:limit]:
        answer = in_child(setting, path, errors)
        if answer is None:
            total["left out"] += 1
            continue
        counts, found = answer
        total += counts
        for what, place in found:
            total[what] += 1
            examples.setdefault(what, []).append(place)
    for what, count in sorted(total.items()):
        click.echo(f"{count:8} {what}")
        for place in random.Random(seed).sample(examples.get(what, []), min(show, len(examples.get(what, [])))):
            click.echo(f"           {place}")


def in_child(setting: Setting, path: Path, errors: int) -> tuple[Counter[str], list[tuple[str, str]]] | None:
    """`compare` in a process of its own: libclang may crash."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        with os.fdopen(write_end, "wb") as sink:
            try:
                pickle.dump(compare(Reader(setting), path, errors), sink)
            except (CrashedError, OSError) as e:
                print(f"{path}: {e}", file=sys.stderr)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as source:
        data = source.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


if __name__ == "__main__":
    main()
