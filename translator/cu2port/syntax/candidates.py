"""Which tokens may be declared names, told from their neighbours: scopes without any need not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cu2port.syntax.lexer import Lexed, is_identifier
from cu2port.syntax.source import Source
from cu2port.syntax.words import BEFORE_VALUE, NO_TYPES, POINTER_SIGNS

_LONGEST_LIST = 64  # tokens that are looked back at for the bracket that opens a list
_NEVER_AFTER = frozenset(". -> :: ? + - / % ++ -- == != <= >= && || ->* .* | ^ += -= *= /= <<< ##".split())
_VALUES = BEFORE_VALUE - {"else", "do", "noexcept"}
#: Words of declarations whose variables are initialized, or that declare no variable.
NOT_UNINITIALIZED = frozenset("static extern constexpr constinit thread_local typedef using friend __shared__".split())
_BEFORE = frozenset({";", "{", "}", ":", ")"})
_IN_TYPES = frozenset({"::", "<", ">", ",", "*"})
_NO_INITIALIZER = frozenset({",", ";", "{", "(", "["})  # before these no `=` of the same declarator can be


def may_be_declared(lexed: Lexed, i: int) -> bool:
    """Whether token i may be the name in a declaration that is no constructor's, and none that a macro puts together.
    False is certain."""
    t = lexed.t
    before = t[i - 1] if i else ""
    after = t[i + 1] if i + 1 < len(t) else ""
    if before == "define":
        return True
    if after in _NEVER_AFTER and not (after == "::" and before in ("namespace", "::")):
        return False
    if before == "}":
        return after in (";", ",", "=", "[", "{")
    if is_identifier(before):
        return before not in _VALUES
    if before in POINTER_SIGNS or before in (">", ")", "]", "..."):
        return True
    if before == "::":
        return i > 1 and (is_identifier(t[i - 2]) or t[i - 2] == ">")
    if before == "{":
        return after not in (")", "(")
    if before == ",":
        return after != ")" and (after != "(" or _is_signature(lexed, i + 1)) and _is_listed(lexed, i - 1)
    if before in ("(", "["):
        return after in (",", ")", "]")
    close = lexed.match[i + 1] if after == "(" else -1  # `main() {`
    return close > 0 and close + 1 < len(t) and t[close + 1] == "{"


def _is_signature(lexed: Lexed, k: int) -> bool:
    """Whether brackets at token k may hold the parameters of a function that a list of declarators promises, or the
    value of one of its variables."""
    close = lexed.match[k]
    return close > 0 and close + 1 < len(lexed.t) and (lexed.t[close + 1] in ",;=" or is_identifier(lexed.t[close + 1]))


def _is_listed(lexed: Lexed, comma: int) -> bool:
    """Whether a comma parts enumerators, names with one type, or template parameters, and no arguments of a call."""
    t, match = lexed.t, lexed.match
    k = comma - 1
    for _ in range(_LONGEST_LIST):
        if k < 0:
            return True
        tok = t[k]
        if tok in (")", "]", "}"):
            k = match[k] if 0 <= match[k] < k else k
        elif tok in ("{", ";", "[", "#"):
            return True
        elif tok == "(":
            return k > 0 and t[k - 1] == "for"
        k -= 1
    return True


def declared_without_value(source: Source, ends: Iterable[int], first: int) -> Iterator[int]:
    """Names that the statements which end at some tokens may declare without an initializer."""
    t, before = source.t, first
    for end in ends:
        words = t[before:end]
        last, several = t[end - 1], "," in words
        if (
            "}" in words
            or last == "]"
            or (several and (last != ")" or "=" in words))
            # without a comma, the last word is the name, and a type is before it
            or (last != ")" and (t[end - 2] in "*>" or is_identifier(t[end - 2])))
        ):
            yield from _declared(source, end, first)
        before = end


def _declared(source: Source, end: int, first: int) -> list[int]:
    """Names that the statement which ends at token `end` may declare without an initializer."""
    t = source.t
    found: list[int] = []
    k = end - 1
    while k > first:
        while t[k] == "]" and first < source.match[k]:
            k = source.match[k] - 1
        before = t[k - 1]
        if not is_identifier(t[k]) or t[k] in NO_TYPES or not (is_identifier(before) or before in "*,>"):
            k = _initialized(source, k, first)
            if k < 0:
                return found
        else:
            found.append(k)
        k -= 1
        while t[k] == "*":
            k -= 1
        if t[k] != ",":
            return found if found and _is_type(source, k) else []
        k -= 1
    return []


def _initialized(source: Source, k: int, first: int) -> int:
    """The name in a declarator with `=` that ends at token k; -1: it has no `=`."""
    t = source.t
    while k > first and t[k] not in _NO_INITIALIZER:
        if t[k] == "=":
            k -= 1
            while t[k] == "]" and first < source.match[k]:
                k = source.match[k] - 1
            return k if is_identifier(t[k]) else -1
        k = source.match[k] - 1 if t[k] in ")]}" and first < source.match[k] else k - 1
    return -1


def _is_type(source: Source, k: int) -> bool:
    """Whether a statement begins with a type that ends at token k and has no default value."""
    t, directive = source.t, source.lexed.directive_at(k)
    while k > 0 and t[k] not in _BEFORE and source.lexed.directive_at(k) is directive:
        if (
            t[k] in NO_TYPES
            or t[k] in NOT_UNINITIALIZED
            or not (is_identifier(t[k]) or t[k] in _IN_TYPES or t[k].isdigit())
        ):
            return False
        k -= 1
    return True
