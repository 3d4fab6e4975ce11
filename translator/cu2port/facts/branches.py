"""Conditionals that ask which compiler or GPU they are for."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TypeGuard

from cu2port.facts.hipcode import condition
from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.around import around
from cu2port.syntax.conditions import ONE, UNDEFINED, UNKNOWN, Lookup, Macro, truth
from cu2port.syntax.lexer import Directive, Group, is_identifier
from cu2port.syntax.operands import own_tokens, tokens
from cu2port.syntax.tree import Binary, CallExpr, Expr, Name, Num, Paren, Ternary, Unary

#: Up to Volta (7.2) the features that `__CUDA_ARCH__` guards (atomics on double, shuffles, half arithmetic,
#: synchronised votes) are on every GPU that HIP supports. Later ones guard tensor cores, asynchronous copies and PTX.
LAST_COMMON = 720

_OF_NVCC = frozenset({"__CUDA_ARCH__", "__CUDACC__", "__NVCC__", "&&"})
_SIDES = frozenset({"__device__", "__forceinline__", "__inline__", "inline", "static"})
_OF_STATEMENTS = frozenset({"{", "}", ";", "if", "return", "asm"})
_NUMBER = re.compile(r"[0-9][0-9']*[uUlL]*\Z")
_FLIP = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "==": "==", "!=": "!="}


def _words(unit: Unit, d: Directive) -> list[str]:
    return unit.t[d.first + 2 : d.stop]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`macro op number` in a conditional directive, the macro on the left. Bytes [start, end)."""

    op: str
    number: int
    start: int
    end: int

    @property
    def least(self) -> int:
        """The smallest number with another answer than 0 has; 0 for `==` and `!=`."""
        return 0 if self.op in ("==", "!=") else self.number + (self.op in (">", "<="))


def comparison(
    unit: Unit, i: int, in_code: bool = False, keywords: tuple[str, ...] = ("if", "elif")
) -> Comparison | None:
    """The comparison with a number that macro token i takes part in, or None: in a directive of one of these keywords,
    or else in code."""
    d = None if is_in_code(unit, i) else unit.in_directive(i)
    if not in_code if d is None else d.keyword not in keywords:
        return None
    path = around(unit, i)
    if len(path) < 2 or not _is_plain(path[0]) or not is_asked(*path[1:]):
        return None
    e = path[1]
    if not isinstance(e, Binary) or e.op not in _FLIP:
        return None
    if d is None and len(path) == 2 and unit.tok(tokens(e)[0] - 1) != "(" and not e.around:  # `bool b = X >= 3;`
        return None
    number = _number(unit, e.b if e.a is path[0] else e.a)
    if number is None:
        return None
    first, last = own_tokens(e)
    return Comparison(e.op if e.a is path[0] else _FLIP[e.op], number, unit.p[first], unit.end(last))


def is_in_code(unit: Unit, i: int) -> bool:
    """Whether a token is in no directive, or in the body of a macro that no condition of a directive can have used."""
    d = unit.in_directive(i)
    return d is None or (d.keyword == "define" and not _OF_STATEMENTS.isdisjoint(unit.t[d.first + 2 : d.stop]))


def summed_comparison(unit: Unit, i: int) -> tuple[Comparison, int, int] | None:
    """`X * a + Y * b op number` in a condition, X being token i, and a and b: both parts of a version at once."""
    d, path = unit.in_directive(i), around(unit, i)
    if d is None or d.keyword not in ("if", "elif") or len(path) < 4 or not is_asked(*path[3:]):
        return None
    product, added, e = path[1:4]
    if not (_is_binary(product, "*", path[0]) and _is_binary(added, "+", product) and isinstance(e, Binary)):
        return None
    if e.a is not added or e.op not in (">", ">=", "<", "<="):
        return None
    other = added.b
    b = _number(unit, other.b) if isinstance(other, Binary) and other.op == "*" else 1
    a, number = _number(unit, product.b), _number(unit, e.b)
    if a is None or b is None or number is None or not isinstance(other, (Binary, Name)):
        return None
    first, last = own_tokens(e)
    return Comparison(e.op, number, unit.p[first], unit.end(last)), a, b


def _is_binary(e: Expr, op: str, left: Expr) -> TypeGuard[Binary]:
    return isinstance(e, Binary) and e.op == op and e.a is left


def _number(unit: Unit, e: Expr) -> int | None:
    """The value of an expression that is a decimal number."""
    return _value(unit.t[e.at]) if isinstance(e, Num) and _is_plain(e) and _NUMBER.match(unit.t[e.at]) else None


def _is_plain(e: Expr) -> bool:
    """Whether nothing but brackets is around an operand."""
    return all(isinstance(w, Paren) for w in e.around)


def is_asked(e: Expr, *outer: Expr) -> bool:
    """Whether the truth of an expression is asked for, as those around it tell: it is a condition, a part of one or in
    brackets by itself."""
    if not outer or any(isinstance(w, Paren) for w in e.around):
        return True
    o = outer[0]
    if isinstance(o, CallExpr):
        asserts = isinstance(o.callee, Name) and o.callee.text in ("static_assert", "_Static_assert")
        return (asserts or len(o.args) == 1) and o.args[0] is e
    joins = isinstance(o, Binary) and o.op in ("&&", "||")
    return joins or (isinstance(o, Unary) and o.op == "!") or (isinstance(o, Ternary) and o.cond is e)


def newer_only(unit: Unit, chain: tuple[int, ...]) -> int:
    """The smallest `__CUDA_ARCH__` for which a conditional of a device function has code, where it lists the GPUs that
    it knows and has nothing for those up to LAST_COMMON: `#if __CUDA_ARCH__ >= 800`, `#elif __CUDA_ARCH__ >= 750`, no
    `#else` or one without code. Else 0: code for later GPUs that stands alone may be what older ones do without.

    `chain`: the directives of the conditional, as in `Group`.
    """
    least = 0
    if len(chain) < 3:
        return 0
    for n in chain[:-1]:
        d = unit.directives[n]
        if d.keyword == "else" and _is_without_code(unit, unit.conditionals.opened_by(n)):
            continue
        words = _asked_words(unit, d)
        if d.keyword not in ("if", "elif") or len(words) != 2 or words[0] not in (">", ">="):
            return 0
        number = _value(words[1]) + (words[0] == ">")
        if number <= LAST_COMMON:
            return 0
        least = min(least or number, number)
    f = unit.function_at(unit.directives[chain[0]].first)
    if f is None or unit.directives[chain[0]].first < f.body[0] or not f.sides & {"__global__", "__device__"}:
        return 0
    return least if unit.directives[chain[-1]].keyword == "endif" else 0


def _is_without_code(unit: Unit, g: Group | None) -> bool:
    """Whether a branch is empty, or says something to the one who compiles it and nothing else."""
    if g is None:
        return False
    inner = unit.lexed.directives_in(g.start, g.end)
    words = bisect_left(unit.p, g.end) - bisect_left(unit.p, g.start)
    return words == sum(d.stop - d.first for d in inner) and all(d.keyword in ("pragma", "warning") for d in inner)


def _asked_words(unit: Unit, d: Directive) -> list[str]:
    """The words of a condition without `__CUDA_ARCH__` and what asks whether it is defined."""
    return [w for w in _words(unit, d) if w not in ("defined", "(", ")", "&&", "__CUDA_ARCH__")]


_REFUSALS = frozenset("assert __trap abort".split())
_BESIDE = frozenset("printf __builtin_unreachable CUDA_KERNEL_ASSERT return".split())


def older_refuses(unit: Unit, i: int, found: Comparison) -> bool:
    """Whether all that the branch for older GPUs does is stop: `#error`, `assert(false)`, `__trap()`, perhaps with a
    message. `found`: the comparison of macro token i, the only question of its directive."""
    d = unit.in_directive(i)
    if d is None:
        return False
    words = [w for w in _words(unit, d) if w not in ("defined", "(", ")", "&&", unit.t[i])]
    older = found.op in ("<", "<=")
    if words[:-1] != [found.op] and (older or words[:-1] != ["!", "||", found.op]):
        return False
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    if g is not None and not older:  # the branch for the others is the `#else`
        g = unit.once(_else_branches).get(g.chain[0])
    return g is not None and _only_stops(unit, g)


def older_is_empty(unit: Unit, i: int, found: Comparison) -> bool:
    """Whether a function for the device holds one branch for newer GPUs, and nothing beside it but messages to the one
    who compiles it.

    `found`: the comparison of macro token i, the only question of its directive.
    """
    d, f = unit.in_directive(i), unit.function_at(i)
    if d is None or f is None or not f.sides & {"__global__", "__device__"} or found.op not in (">", ">="):
        return False
    words = [w for w in _words(unit, d) if w not in ("defined", "(", ")", "&&", unit.t[i])]
    k = unit.lexed.directive_index(i)
    g = unit.conditionals.opened_by(k)
    if words[:-1] != [found.op] or g is None or g.chain[0] != k or not _is_alone(unit, g):
        return False
    at, last = f.body[0] + 1, f.body[1]
    inside = False
    while at < last:
        other = unit.in_directive(at)
        if other is not None:
            at = other.stop
            continue
        if g.start <= unit.p[at] < g.end:
            inside = True
        elif unit.t[at] not in ("return", ";"):
            return False
        at += 1
    return inside


def names_gpus(unit: Unit, i: int) -> bool:
    """Whether macro token i is compared with certain GPUs alone, `== 750 || __CUDA_ARCH__ == 860`, and the code has a
    branch for all others: an `#else` here, or where the same is asked elsewhere in the file."""
    d = unit.in_directive(i)
    asked = _words(unit, d) if d is not None and d.keyword == "if" else []
    return bool(asked) and tuple(asked) in unit.once(_with_others)


def _with_others(unit: Unit) -> dict[tuple[str, ...], bool]:
    """The conditions that name certain GPUs alone and have an `#else` with more than an end."""
    out: dict[tuple[str, ...], bool] = {}
    for first, g in unit.once(_else_branches).items():
        words = _words(unit, unit.directives[first])
        rest = [w for w in words if w not in ("(", ")")]
        each = [rest[k : k + 4] for k in range(0, len(rest), 4)]
        named = all(
            x[:2] == ["__CUDA_ARCH__", "=="] and x[2:3] and x[2].isdigit() and x[3:] in ([], ["||"]) for x in each
        )
        if each and named and len(each[-1]) == 3 and len(g.chain) == 3 and not _only_stops(unit, g):
            out[tuple(words)] = True
    return out


def older_computes(unit: Unit, i: int) -> bool:
    """Whether the branch for older GPUs does the whole job: of the two branches that macro token i decides each is one
    `return` of a value, and the operands are the same."""
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    other = unit.once(_else_branches).get(g.chain[0]) if g is not None else None
    if g is None or other is None or g.opener != g.chain[0] or len(g.chain) != 3:
        return False
    f = unit.function_at(i)
    if f is None:
        return False
    parameters = set(filter(is_identifier, unit.t[slice(*f.params)]))
    newer, older = (parameters.intersection(_returned(unit, of)) for of in (g, other))
    return bool(newer) and newer == older


def _returned(unit: Unit, g: Group) -> list[str]:
    """The words of a branch that is `return ...;` alone, else none."""
    first, last = bisect_left(unit.p, g.start), bisect_left(unit.p, g.end)
    words = unit.t[first:last]
    if words[:1] != ["return"] or words[-1:] != [";"] or words.count(";") != 1:
        return []
    return words[1:-1]


def _is_alone(unit: Unit, g: Group) -> bool:
    """Whether a conditional has no other branch than its first one, or an `#else` without code."""
    if len(g.chain) == 2:
        return True
    other = unit.conditionals.opened_by(g.chain[1])
    return len(g.chain) == 3 and unit.directives[g.chain[1]].keyword == "else" and _is_without_code(unit, other)


def _else_branches(unit: Unit) -> dict[int, Group]:
    """The first `#else` branch of each conditional, by its first directive."""
    return {g.chain[0]: g for g in reversed(unit.groups) if unit.directives[g.opener].keyword == "else"}


def _only_stops(unit: Unit, g: Group) -> bool:
    inner = unit.lexed.directives_in(g.start, g.end)
    if any(d.keyword != "error" for d in inner):
        return False
    stops = bool(inner)
    k, last = (bisect_left(unit.p, at) for at in (g.start, g.end))
    while k < last:
        if (d := unit.in_directive(k)) is not None:
            k = d.stop
            continue
        word = unit.t[k]
        if word not in _REFUSALS and word not in _BESIDE:
            return False
        if word == "assert":
            stops |= unit.tok(k + 2) in ("0", "false") or (unit.tok(k + 2) == "!" and unit.tok(k + 3)[:1] == '"')
        stops |= word in _REFUSALS and word != "assert"
        while k < last and unit.t[k] != ";":
            k += 1
        k += 1
    return stops


def _value(number: str) -> int:
    known = constants.literal(number)
    return 0 if known is None else known.value


def names_sides(unit: Unit, i: int) -> tuple[int, ...] | None:
    """Whether all that a branch does is to define words for `__host__ __device__`: then each `__device__` that lacks
    `__host__`, else None.

    clang's host pass checks the calls of device code, and takes a function without the word for the host's alone.
    """
    d = unit.in_directive(i)
    if d is None or d.keyword not in ("if", "ifdef"):
        return None
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    asked = [w for w in unit.t[d.first + 2 : d.stop] if w not in ("defined", "(", ")")]
    if g is None or not _OF_NVCC.issuperset(asked) or asked.count("__CUDA_ARCH__") != 1:
        return None
    inner = unit.lexed.directives_in(g.start, g.end)
    code = any(g.start <= unit.p[x] < g.end for x in range(d.stop, inner[0].first)) if inner else True
    if code or not all(x.keyword == "define" for x in inner):
        return None
    bodies = [(x, unit.t[x.first : x.stop]) for x in inner]
    if not any("__device__" in words for _, words in bodies):
        return None
    alone = [x for x, words in bodies if "__host__" not in words and _SIDES.issuperset(words[3:])]
    return tuple(k for x in alone for k in range(x.first + 3, x.stop) if unit.t[k] == "__device__")


def tested_defined(unit: Unit, i: int) -> bool:
    """Whether token i is asked for with `#ifdef`, `#ifndef` or `defined`."""
    d = unit.in_directive(i)
    if d is None:
        return False
    if d.keyword in ("ifdef", "ifndef", "elifdef", "elifndef"):
        return i == d.first + 2
    return unit.tok(i - 1) == "defined" or (unit.tok(i - 1) == "(" and unit.tok(i - 2) == "defined")


def skipped_by_nvcc(unit: Unit, offset: int) -> bool:
    """Whether a byte is in a branch that nvcc certainly leaves out: `#ifndef __CUDACC__`."""
    return _skipped(unit, offset, _under_nvcc)


def skipped_on_host(unit: Unit, offset: int) -> bool:
    """Whether a byte is in a branch that is certainly no part of the host's code: `#ifdef __CUDA_ARCH__`."""
    return _skipped(unit, offset, _on_host)


def _skipped(unit: Unit, offset: int, known: Lookup) -> bool:
    for g in unit.conditionals.around(offset):
        held = [truth(condition(unit, unit.directives[n]), known) for n in g.chain if n <= g.opener]
        if held[-1] is False or any(held[:-1]):
            return True
    return False


def _under_nvcc(word: str) -> Macro:
    return ONE if word in ("__CUDACC__", "__NVCC__") else UNKNOWN


def _on_host(word: str) -> Macro:
    return UNDEFINED if word in ("__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__") else UNKNOWN
