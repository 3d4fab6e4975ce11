"""What a token may be an operand or part of, told from the tokens beside it: cheap enough to be asked of every one."""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Source
from cu2port.syntax.words import CONDITIONS, KEYWORDS

_OPERATORS = frozenset("+ - * / % | ^ & << ? :".split())
_ARITHMETIC = frozenset("+ - * / %".split())
_PARTS = frozenset(". -> [ ( ::".split())  # what goes on with a name
_ASSIGNMENTS = frozenset("= += -= *= |= &= ^=".split())
_COUNTS = frozenset("+ - += -= ++ -- ( )".split())
_NO_CALLS = CONDITIONS | {"sizeof"}


def may_be_passed(source: Source, k: int) -> bool:
    """Whether the use of a variable at token k may be an argument, a result, or an operand of another value."""
    t, match = source.t, source.match
    last = k
    while t[last + 1] in (".", "["):  # a part of it
        last = match[last + 1] if t[last + 1] == "[" and match[last + 1] > 0 else last + 2
    before, after = t[k - 1], t[last + 1]
    if before in ("=", ",", "return") or after == ",":
        return after != "="
    opener = k - 1 if before == "(" else match[last + 1] if after == ")" else -1
    if opener > 0:
        return t[opener - 1] not in _NO_CALLS
    return before in _OPERATORS and (after == ";" or after in _OPERATORS)


def may_be_counted_on(source: Source, k: int) -> bool:
    """Whether something may be added to the variable at token k, or taken from it."""
    return source.t[k - 1] in _COUNTS or source.t[min(k + 1, len(source.t) - 1)] in _COUNTS


def is_counted_with(source: Source, k: int) -> bool:
    """Whether the name at token k, as it is, is an operand of an arithmetic operator that has another one."""
    t = source.t
    if t[k + 1] in _PARTS:
        return False
    if t[k + 1] in _ARITHMETIC and (is_identifier(t[k + 2]) or t[k + 2] == "("):
        return True
    left = t[k - 2]
    return t[k - 1] in _ARITHMETIC and (left in (")", "]") or (is_identifier(left) and left not in KEYWORDS))


def with_sign(source: Source, k: int) -> int:
    """Where the number at token k begins with a `-` or `~` that may be its own."""
    return k - 1 if source.t[k - 1] in ("-", "~") else k


def element_writes(source: Source, first: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """Where tokens [first, stop) assign to an element of an array: the `]`, and the `;` at most `most` tokens on."""
    t = source.t
    for k in range(first, stop):
        if t[k] == "]" and t[k + 1] in _ASSIGNMENTS and source.match[k] > first:
            end = k + 2
            while end < stop and t[end] != ";" and end < k + most:
                end += 1
            yield k, end


def with_template(source: Source, k: int) -> int:
    """The `template` before the name that begins at token k, as in `a.template f<3>(x)`; k where there is none."""
    return k - 1 if k > 0 and source.t[k - 1] == "template" else k
