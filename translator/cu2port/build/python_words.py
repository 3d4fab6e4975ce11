"""Words of options in a Python file: those of one list, of calls of `append` one after another, of a lone string."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cu2port.build.layout import break_of
from cu2port.build.options import Word, gap
from cu2port.build.pages import OPTION
from cu2port.build.words import by_hand
from cu2port.core.model import Edit, Finding

if TYPE_CHECKING:
    import libcst as cst

    Strings = cst.SimpleString | cst.FormattedString
    Spans = Mapping[cst.CSTNode, tuple[int, int]]

_QUOTE = re.compile(r"[A-Za-z]*(\"\"\"|'''|\"|')")
_WORD = re.compile(r"(?:'[^'\s]*'|\"[^\"\s]*\"|\\.|[^\s\"'\\])+")  # `code="sm_70"` is one
_SPACE = re.compile(r"[ \t]+(?=[^\s#])")
_COMMA = re.compile(r"[ \t]*,")


@dataclass(frozen=True, slots=True)
class Group:
    """Words that follow one another. `start`: where the group begins. `strings`: by the bytes [start, end) that go when
    all of a string goes, its words; none for a lone string. `block`: the group is all that a block has, so that
    something must stay."""

    words: tuple[Word, ...]
    start: int
    strings: Mapping[tuple[int, int], Sequence[Word]]
    block: bool = False


def groups(text: str, module: cst.Module, spans: Spans) -> Iterator[Group]:
    """`spans`: the bytes [start, end) of each node."""
    import libcst as cst

    done: set[cst.CSTNode] = set()
    for node in _nodes(module):
        if isinstance(node, cst.Module | cst.IndentedBlock):
            for name, run, block in _appends(node):
                done.update(string for _, string in run)
                again = f"){break_of(text, spans[run[0][0]][0])}{name}.append("
                words = [w for call, n in run for w in _words(text, spans[n], spans[call], again)]
                yield _group(words, spans[run[0][1]], block)
        elif isinstance(node, cst.List | cst.Tuple | cst.Set):
            values = [e.value for e in node.elements]
            done.update(values)
            yield _group([w for v in values for w in _element(text, v, spans)], spans[node])
        elif isinstance(node, cst.SimpleString | cst.FormattedString) and node not in done:
            yield _group(_words(text, spans[node]), spans[node])


def _group(words: Sequence[Word], span: tuple[int, int], block: bool = False) -> Group:
    following = [*words[1:], None]  # one too many where there are none
    marked = [dataclasses.replace(w, open=not _next_to(w, after)) for w, after in zip(words, following, strict=False)]
    strings: dict[tuple[int, int], list[Word]] = {}
    for w in marked:
        if w.whole:
            strings.setdefault(w.whole, []).append(w)
    return Group(tuple(marked), span[0], strings, block)


def _next_to(word: Word, after: Word | None) -> bool:
    """Whether a word may have the one after it as its value: they go together in one string, or each is all of its."""
    if after is None:
        return False
    return word.whole == after.whole or (word.outer == word.whole and (after.opaque or after.outer == after.whole))


def _nodes(module: cst.Module) -> Iterator[cst.CSTNode]:
    """All nodes, in order, whatever they hold."""
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def _appends(block: cst.Module | cst.IndentedBlock) -> Iterator[tuple[str, list[tuple[cst.CSTNode, Strings]], bool]]:
    """Calls `x.append("...")` of one list that follow one another: the list, each call with its string, and whether
    they are all of a block."""
    run: list[tuple[cst.CSTNode, Strings]] = []
    last = ""
    for statement in block.body:
        found = _appended(statement)
        if found is None or found[0] != last:
            if run:
                yield last, run, False
            run = []
        last = found[0] if found else ""
        if found:
            run.append(found[1:])
    if run:
        yield last, run, len(run) == len(block.body)


def _appended(statement: cst.CSTNode) -> tuple[str, cst.CSTNode, Strings] | None:
    """A statement `x.append("...")`: the list's name, the call and its string."""
    import libcst as cst

    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    call = statement.body[0].value if isinstance(statement.body[0], cst.Expr) else None
    if not isinstance(call, cst.Call) or len(call.args) != 1 or not isinstance(call.func, cst.Attribute):
        return None
    string, of = call.args[0].value, call.func.value
    if call.func.attr.value != "append" or not isinstance(string, cst.SimpleString | cst.FormattedString):
        return None
    return cst.Module([]).code_for_node(of), call, string


def _element(text: str, value: cst.BaseExpression, spans: Spans) -> list[Word]:
    """The words of an element of a list. An expression is one word that nothing is known of."""
    import libcst as cst

    start, end = spans[value]
    comma = _COMMA.match(text, end)
    outer = start, comma.end() if comma else end
    if isinstance(value, cst.SimpleString | cst.FormattedString):
        return _words(text, (start, end), outer, ", ")
    return [Word("", start, outer, lined=True, opaque=True)]


def _words(text: str, span: tuple[int, int], outer: tuple[int, int] | None = None, joint: str = "") -> list[Word]:
    """The words of a string at `span`. One that is all of it takes `outer` with it, or leaves an empty string where
    that is None. `joint`: what is between two strings that take its place; in one string they are words of it."""
    quote = _QUOTE.match(text, *span)
    if quote is None:
        return []
    first, last = quote.end(), span[1] - len(quote[1])
    found: list[Word] = []
    for m in _WORD.finditer(text, first, last):
        inner = m.start(), m.end()
        if outer and inner == (first, last):
            found.append(Word(m[0], m.start(), outer, joint=f"{quote[1]}{joint}{quote[1]}", lined=True, whole=outer))
        else:
            found.append(Word(m[0], m.start(), inner, whole=outer))
    return found


def emptied(text: str, group: Group, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings of a group. Where they take all words out of a string, the string goes too; a lone one would be an
    empty argument, so that it stays. Where nothing of a block is left, `pass` stays."""
    found = list(findings)
    edits = sorted((e.start, e.end, not e.parts, k) for k, f in enumerate(found) for e in f.edits)
    starts = [start for start, *_ in edits]

    def is_out(word: Word) -> bool:
        at = bisect_right(starts, word.start) - 1
        return at >= 0 and word.end <= edits[at][1] and edits[at][2]

    if found and not group.strings and all(map(is_out, group.words)):
        why = "without it an empty argument would be left"
        shown = text[group.words[0].start : group.words[-1].end]
        yield by_hand(OPTION, shown, why, "what holds without it", group.words[0].start, group.words[-1].end)
        return
    gone: set[int] = set()
    for whole, inside in group.strings.items():
        if len(inside) < 2 or not all(map(is_out, inside)):
            continue
        first, *others = sorted({k for *_, k in edits[bisect_left(starts, whole[0]) : bisect_left(starts, whole[1])]})
        edit = gap(text, dataclasses.replace(inside[0], outer=whole, lined=True), whole[1])
        last = found[others[-1] if others else first]
        found[first] = dataclasses.replace(found[first], edits=(edit,), end=last.end)
        gone.update(others)
    if group.block and all(map(is_out, group.words)):
        at = next(k for k, f in enumerate(found) if f.edits)
        (one, *rest), word = found[at].edits, group.words[0]
        out = text[one.start : one.end]
        kept = dataclasses.replace(one, start=word.outer[0], parts=("pass" + out[len(out.rstrip()) :],))
        found[at] = dataclasses.replace(found[at], edits=(kept, *rest))
    left = [f for k, f in enumerate(found) if k not in gone]
    starts = sorted(e.start for f in left for e in f.edits)
    for f in left:
        yield dataclasses.replace(f, edits=tuple(_closed_up(text, e, starts) for e in f.edits))


def _closed_up(text: str, edit: Edit, starts: Sequence[int]) -> Edit:
    """An edit that takes out the first of a list takes the space after it too, where no other edit does."""
    space = _SPACE.match(text, edit.end)
    after = bisect_left(starts, edit.end)
    taken = after < len(starts) and starts[after] == edit.end
    if edit.parts or not space or taken or text[edit.end - 1] != "," or text[edit.start - 1] not in "([{":
        return edit
    return dataclasses.replace(edit, end=space.end())
