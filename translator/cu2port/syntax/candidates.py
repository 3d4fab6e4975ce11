"""Which tokens may be declared names, told from their neighbours: scopes without any need not be read."""

from __future__ import annotations

from cu2port.syntax.lexer import Lexed, is_identifier
from cu2port.syntax.words import BEFORE_VALUE, POINTER_SIGNS

_LONGEST_LIST = 64  # tokens that are looked back at for the bracket that opens a list
_NEVER_AFTER = frozenset(". -> :: ? + - / % ++ -- == != <= >= && || ->* .* | ^ += -= *= /= <<< ##".split())
_VALUES = BEFORE_VALUE - {"else", "do", "noexcept"}


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
    if before == "," or before == "{":
        return after not in (")", "(") and (before == "{" or _is_listed(lexed, i - 1))
    if before in ("(", "["):
        return after in (",", ")", "]")
    close = lexed.match[i + 1] if after == "(" else -1  # `main() {`
    return close > 0 and close + 1 < len(t) and t[close + 1] == "{"


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
