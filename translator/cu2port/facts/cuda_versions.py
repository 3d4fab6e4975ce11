"""What conditions ask of CUDA's version, and what HIP counts as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import eq, ge, gt, le, lt, ne

from cu2port.facts.atoms import VERSION_MACROS
from cu2port.facts.branches import Comparison, comparison, summed_comparison
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.conditions import UNDEFINED, UNKNOWN, Macro, truth
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import Binary, Expr, Num, Unary

# ROCm 7's HIP follows the interfaces of CUDA 12.6: what asks for more (types of Blackwell, CUDA 13's signatures) is
# right to be false.
MAJOR, MINOR = "__CUDACC_VER_MAJOR__", "__CUDACC_VER_MINOR__"
_NEWEST = 10**9  # larger than every version of a library: HIP's libraries count as newer than CUDA's
COUNTS_AS = {
    **dict.fromkeys(VERSION_MACROS, _NEWEST),
    "CUDA_VERSION": 12060,
    "CUDART_VERSION": 12060,
    "__CUDA_API_VERSION": 12060,
    MAJOR: 12,
    MINOR: 6,
}
ANSWERS = {">": gt, ">=": ge, "<": lt, "<=": le, "==": eq, "!=": ne}

_DECIMALS = (100, 1000)  # what takes the minor version from CUDA's number, before it is divided by 10


def counts_as(tok: str) -> str:
    """What HIP counts as where a version is asked for, in words."""
    return "CUDA 12.6" if COUNTS_AS[tok] < _NEWEST else "newer"


def summed(unit: Unit, i: int) -> tuple[Comparison, int] | None:
    """A comparison that combines nvcc's major and minor version, and the value of that for CUDA 12.6; None if token i
    does not begin one."""
    if unit.tok(i) != MAJOR or unit.tok(i + 4) != MINOR:
        return None
    found = summed_comparison(unit, i)
    return (found[0], COUNTS_AS[MAJOR] * found[1] + COUNTS_AS[MINOR] * found[2]) if found is not None else None


def expression_of_versions(unit: Unit, i: int) -> Expr | None:
    """The largest part of a condition around token i that asks for versions of CUDA and nothing else; None where it is
    no condition by itself, as in `CUDA_VERSION != BUILT_WITH`."""
    found = None
    for e in around(unit, i):
        first, last = tokens(e)
        if any(is_identifier(w) and w != "defined" and w not in COUNTS_AS for w in unit.t[first : last + 1]):
            return found if found is not None and (_is_truth(found) or _asks(e)) else None
        found = e
    return found


def _asks(e: Expr) -> bool:
    """Whether an expression asks its operands for yes or no alone."""
    return (isinstance(e, Binary) and e.op in ("&&", "||")) or (isinstance(e, Unary) and e.op == "!")


def _is_truth(e: Expr) -> bool:
    """Whether an expression is yes or no itself."""
    return _asks(e) or (isinstance(e, Binary) and e.op in ANSWERS)


def is_compared(unit: Unit, i: int) -> bool:
    """Whether token i, a version, is compared with a number to tell the older from the newer ones."""
    if summed(unit, i) is not None or (unit.tok(i) == MINOR and summed(unit, i - 4) is not None):
        return True
    found = comparison(unit, i)
    return found is not None and found.op not in ("==", "!=")


def answer(words: Sequence[str], of_hip: bool) -> bool | None:
    """What a condition gives where versions of CUDA are what HIP counts as, or where they are not defined."""
    return truth(words, _counted if of_hip else _undefined)


def _counted(word: str) -> Macro:
    value = COUNTS_AS.get(word)
    return UNKNOWN if value is None else Macro(True, Constant(value, "long long"), True)


def _undefined(word: str) -> Macro:
    return UNDEFINED if word in COUNTS_AS else UNKNOWN


def versions(unit: Unit, i: int) -> Comparison | None:
    """`defined(X) && X >= 1 && X < 2`, where token i is the first X: all of it as one comparison, whose number is 1
    where it holds for what HIP counts as, and 0 where it does not."""
    path = around(unit, i)
    k = next((k for k, e in enumerate(path) if isinstance(e, Binary)), 0)
    tops = list(takewhile(lambda e: isinstance(e, Binary) and e.op == "&&", path[k:]))
    if k == 0 or not tops or unit.t[i] not in COUNTS_AS or isinstance(path[k - 1], Unary):
        return None
    inner = next((n for n, e in enumerate(tops) if e.around), len(tops) - 1)  # brackets end it
    terms = [*_terms(tops[inner])]
    at = next(n for n, e in enumerate(terms) if tokens(e)[0] <= i <= tokens(e)[1])
    held = [*takewhile(lambda h: h is not None, (_holds(unit, e) for e in terms[at + 1 :]))]
    if not held:
        return None
    start, end = unit.p[tokens(terms[at])[0]], unit.end(tokens(terms[at + len(held)])[1])
    return Comparison("==", int(all(held)), start, end)


def _terms(e: Expr) -> Iterator[Expr]:
    """What `a && b && c` joins."""
    if isinstance(e, Binary) and e.op == "&&":
        yield from (e.a,) if e.a.around else _terms(e.a)
        yield from (e.b,) if e.b.around else _terms(e.b)
    else:
        yield e


def _holds(unit: Unit, e: Expr) -> bool | None:
    """Whether what asks for versions and nothing else holds for what HIP counts as; None: it is something else."""
    first, last = tokens(e)
    words = unit.t[first : last + 1]
    return None if any(is_identifier(w) and w not in COUNTS_AS for w in words) else answer(words, True)


def needed_by_all(unit: Unit, i: int) -> bool:
    """Whether every branch of the conditional of token i requires its macro to be defined, `#if defined(X) && ...`, and
    none is completed."""
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    chain = g.chain if g is not None else ()
    branches = [unit.directives[n] for n in chain if unit.directives[n].keyword != "endif"]
    return bool(branches) and all(
        (b.keyword == "ifdef" and unit.tok(b.first + 2) == unit.t[i])
        or (
            b.keyword in ("if", "elif")
            and unit.t[b.first + 2 : b.first + 6] == ["defined", "(", unit.t[i], ")"]
            and "||" not in unit.t[b.first : b.stop]
            and ((asked := versions(unit, b.first + 4)) is None or not asked.number)
        )
        for b in branches
    )


def hip_parts(e: Binary, around_it: Expr | None) -> tuple[tuple[Num, str], ...]:
    """The numbers of `v / 1000`, or of `v % 1000` with `/ 10` around it, and what takes HIP's version apart instead; ()
    where it is neither."""
    if e.op == "/" and isinstance(e.b, Num) and e.b.value == 1000:
        return ((e.b, "10000000"),)
    if e.op != "%" or not (isinstance(e.b, Num) and e.b.value in _DECIMALS):
        return ()
    tenths = around_it if isinstance(around_it, Binary) and around_it.op == "/" and around_it.a is e else None
    if tenths is None or not (isinstance(tenths.b, Num) and tenths.b.value == 10):
        return ()
    return (e.b, "10000000"), (tenths.b, "100000")


def only_complains(unit: Unit, i: int) -> int | None:
    """The last token of an `#ifndef` or `#if !defined` that asks for token i alone, with an `#error` in its branch."""
    d = unit.in_directive(i)
    plain = [w for w in unit.t[d.first + 1 : d.stop] if w not in ("(", ")")] if d is not None else []
    if d is None or plain not in (["ifndef", unit.t[i]], ["if", "!", "defined", unit.t[i]]):
        return None
    k = unit.lexed.directive_index(i)
    error, after = (*unit.directives[k + 1 : k + 3], None, None)[:2]
    if error is None or after is None or error.keyword != "error":
        return None
    alone = error.first == d.stop and after.first == error.stop and after.keyword in ("elif", "else", "endif")
    return d.stop - 1 if alone else None
