"""Which `<` and `>` are the brackets of template arguments, as the tokens between them tell."""

from __future__ import annotations

from cu2port.syntax.lexer import Lexed


def close(lexed: Lexed, i: int, limit: int) -> int:
    """The `>` that closes the template arguments opened by `<` at i; -1 if it opens none, or none within `limit`
    tokens."""
    t, match = lexed.t, lexed.match
    depth = 0
    k = i
    stop = min(len(t), i + limit)
    while k < stop:
        tok = t[k]
        if tok == "<":
            depth += 1
        elif tok == ">":
            depth -= 1
            if depth == 0:
                return k
        elif tok in ("(", "[", "{"):
            k = match[k]
            if k < 0:
                return -1
        elif tok in (")", "]", "}", ";", "<<<") or (
            tok in ("&&", "||") and (t[k + 1] if k + 1 < len(t) else "") not in (">", ",", "...")
        ):
            return -1
        k += 1
    return -1


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
