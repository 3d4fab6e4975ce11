"""Which `<` and `>` are the brackets of template arguments, as the tokens between them tell."""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.syntax.lexer import Lexed

_CERTAIN = frozenset({"template", "enable_if", "enable_if_t"})


def close(lexed: Lexed, i: int, limit: int) -> int:
    """The `>` that closes the template arguments opened by `<` at i; -1 if it opens none, or none within `limit`
    tokens."""
    t, match = lexed.t, lexed.match
    opened: list[int] = []
    certain: list[int] = []
    k = i
    stop = min(len(t), i + limit)
    while k < stop:
        tok = t[k]
        if tok == "<":
            if t[k - 1] != ")" or not certain:
                opened.append(k)
                if is_certain(t, k):
                    certain.append(k)
        elif tok == ">":
            if opened.pop() in certain[-1:]:
                certain.pop()
            if not opened:
                return k
        elif tok in ("(", "[", "{"):
            k = match[k]
            if k < 0:
                return -1
        elif tok in (")", "]", "}", ";", "<<<") or (
            tok in ("&&", "||") and (t[k + 1] if k + 1 < len(t) else "") not in (">", ",", "...") and not certain
        ):
            return -1
        k += 1
    return -1


def is_certain(t: Sequence[str], i: int) -> bool:
    """Whether the `<` at i opens template arguments for certain, so that `&&` among them ends no comparison: that of
    `template`, of `typename A::b`, of `enable_if`."""
    k = i - 1
    if k < 1 or t[k] in _CERTAIN:
        return k >= 0 and t[k] in _CERTAIN
    while k > 2 and t[k - 1] == "::":
        k -= 2
    return t[k - 1] == "typename"


def open_(lexed: Lexed, i: int, limit: int) -> int:
    """The `<` that opens the template arguments closed by `>` at i, within `limit` tokens; else -1."""
    t, match = lexed.t, lexed.match
    depth = 0
    k = i
    while k >= 0 and i - k < limit:
        tok = t[k]
        if tok == ">":
            depth += 1
        elif tok == "<":
            depth -= 1
            if depth == 0:
                return k
        elif tok in (")", "]", "}"):
            k = match[k]
            if k < 0:
                return -1
        elif tok in ("(", "[", "{", ";"):
            return -1
        k -= 1
    return -1
