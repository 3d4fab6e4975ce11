"""Where things begin and end: a lambda, a statement, the head of a function."""

from __future__ import annotations

from cu2port.syntax.code import Code
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import (
    AFTER_PARAMETERS,
    ASM,
    ATTRIBUTES,
    CONDITIONS,
    DECLARATOR_WORDS,
    KEYWORDS,
)

END = frozenset(";")
COMMA = frozenset(",;")
COLON = frozenset(":;")
_LAMBDA_WORDS = frozenset("mutable constexpr noexcept __device__ __host__ const".split())
_LONGEST_RETURN = 24  # tokens of the type that a lambda returns


def statement_end(code: Code, k: int, ends: dict[int, int]) -> int:
    """The token after the statement at k, `else` included. What is met on the way is kept: nested ones end here too."""
    begun: list[tuple[str, int]] = []
    first = k
    while k < code.stop:
        tok = code.t[k]
        if k in ends:
            k = ends[k]
        elif tok in CONDITIONS:
            begun.append((tok, k))
            k = code.at(k + 1)
            while k < code.stop and code.t[k] != "(" and is_identifier(code.t[k]):
                k = code.at(k + 1)
            k = code.past(k) if code.tok(k) == "(" else k
            continue
        elif tok == "do" or tok == "else":
            begun.append((tok, k))
            k = code.at(k + 1)
            continue
        elif tok == "{":
            k = code.past(k)
        else:
            k = code.end(k, END)
            k = code.at(k + (code.tok(k) == ";"))
        while begun:  # a statement has ended
            word, start = begun[-1]
            if word == "if" and code.tok(k) == "else":
                begun[-1] = ("else", start)
                k = code.at(k + 1)
                break
            begun.pop()
            if word == "do":
                k = code.end(k, END)
                k = code.at(k + (code.tok(k) == ";"))
            ends[start] = k
        else:
            break
    for _, start in begun:
        ends.setdefault(start, code.stop)
    return min(ends.get(first, k), code.stop)


def lambda_at(code: Code, brace: int, floor: int) -> tuple[int, int]:
    """Where the lambda begins whose body opens at `brace`, and its `(`; -1 for what it has not."""
    k = brace - 1
    least = max(floor, brace - _LONGEST_RETURN)
    while k > least and code.t[k] not in (")", "]", "->", ";", "(", "{", "}", ",", "="):
        k -= 1
    if code.t[k] != "->" and k < brace - 1 and not set(code.t[k + 1 : brace]) <= _LAMBDA_WORDS:
        while k > least and code.t[k] not in ("->", ";", "{", "}", "="):
            k -= 1
    if code.t[k] == "->":
        k -= 1
    while k > floor and code.t[k] in _LAMBDA_WORDS:
        k -= 1
    params = -1
    if code.t[k] == ")" and floor <= code.match[k] < k:
        params = code.match[k]
        k = params - 1
        while k > floor and code.t[k] in _LAMBDA_WORDS:
            k -= 1
        if k > floor and code.t[k] == ">":
            while k > floor and code.t[k] not in ("]", ";", "{"):
                k -= 1
    if k < floor or code.t[k] != "]" or not floor <= code.match[k] < k:
        return -1, -1
    start = code.match[k]
    before = code.t[start - 1] if start > floor else ""
    subscript = before in (")", "]") or (is_identifier(before) and before not in KEYWORDS)
    return (-1, -1) if subscript else (start, params)


def after_requires(code: Code, k: int) -> int:
    """The token after a requires clause's expression."""
    while k < code.stop:
        k = code.name(k).stop if code.is_name(k) else code.past(k)
        while code.tok(k) in ("(", "{"):
            k = code.past(k)
        if code.tok(k) not in ("&&", "||"):
            break
        k = code.at(k + 1)
    return k


def after_parameters(code: Code, k: int) -> int:
    """After a function's parameters: the token of its body, of the semicolon or comma, or where something else
    begins."""
    while k < code.stop:
        tok = code.t[k]
        if tok in ("{", ";", ",", "}"):
            return k
        if tok in AFTER_PARAMETERS or tok in ATTRIBUTES or tok in ASM or (tok == "[" and code.tok(k + 1) == "["):
            k = code.at(k + 1) if tok != "[" else code.past(k)
            k = code.past(k) if code.tok(k) == "(" else k
        elif tok == "->":
            k = _returned(code, code.at(k + 1))
        elif tok == "=":
            return code.end(k, COMMA)
        elif tok == ":":
            return _initialisers(code, code.at(k + 1))
        elif code.is_name(k) and (code.tok(k + 1) in ("{", ";", "(", "=") or code.tok(k + 1) in AFTER_PARAMETERS):
            k = code.at(k + 1)
            k = code.past(k) if code.tok(k) == "(" else k
        else:
            return k
    return k


def _returned(code: Code, k: int) -> int:
    """The token after a trailing return type."""
    while k < code.stop:
        if code.is_name(k) or code.tok(k) == "::":
            k = code.name(k).stop
        elif code.tok(k) in DECLARATOR_WORDS or (
            code.tok(k) in KEYWORDS and code.tok(k) not in AFTER_PARAMETERS - {"const"}
        ):
            k = code.at(k + 1)
            k = code.past(k) if code.tok(k) == "(" else k
        else:
            break
    return k


def _initialisers(code: Code, k: int) -> int:
    """The body after a constructor's initialisers."""
    while k < code.stop:
        if not (code.is_name(k) or code.tok(k) == "::"):
            break
        k = code.name(k).stop
        if code.tok(k) not in ("(", "{"):
            break
        k = code.past(k)
        k = code.at(k + 1) if code.tok(k) == "..." else k
        if code.tok(k) != ",":
            break
        k = code.at(k + 1)
    return k


def after_labels(code: Code, k: int) -> int:
    """The token after `asm("name")` and attributes."""
    while code.tok(k) in ASM or code.tok(k) in ATTRIBUTES:
        k = code.at(k + 1)
        k = code.past(k) if code.tok(k) == "(" else k
    return k
