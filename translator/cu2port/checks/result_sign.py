from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cu2port.checks.host_math import called
from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, head_around
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Decl,
    Eval,
    Expr,
    Index,
    Jump,
    Member,
    Num,
    Ternary,
    Unary,
    callee,
)
from cu2port.syntax.types import builtin, written

# HIP 7.1, amd_device_functions.h: `unsigned int __popc(unsigned int)`, `int __umul24(unsigned int, unsigned int)`
_COUNTS = frozenset({"__popc", "__popcll"})
_TYPES = {**dict.fromkeys(_COUNTS, "int"), **dict.fromkeys(("__umul24", "__fns"), "unsigned")}
_ATOMICS = frozenset(f"atomic{kind}" for kind in ("Add", "Sub", "Exch", "Min", "Max", "And", "Or", "Xor", "CAS"))
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_STAYS_SMALL = frozenset({"+", "*", "&", "|", "/", "%", ">>"})  # what is not negative stays so, and below 2**31
_WRAPS = frozenset({"+", "-", "*", "&", "^", "|", "/", "%"})
_OTHERWISE = frozenset({"/=", "%="})  # of a negative number an unsigned divisor makes another one
_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "thread_idx", "block_dim"})  # solo.hpp's too


class ResultSign(Check):
    """The result of a device function is signed in CUDA and unsigned in HIP, or the other way round.

    `__popc` and `__popcll` give `int` in CUDA and `unsigned int` in HIP: there `32 - 2 * __popc(x)` is a number of four
    billions as soon as it is a `float` or has 64 bits, and `__popc(x) - 5 < 0` is never true. `__umul24` and `__fns`
    give `unsigned int` in CUDA and `int` in HIP. The result gets CUDA's type, but where that makes no difference: where
    it is the whole value that is assigned, an index, or compared with a number, for instance.
    """

    code, name, severity = "CU259", "result-sign", Severity.INFO
    triggers = frozenset(_TYPES)
    examples = (
        Example(
            "__device__ float f(unsigned x) { return 32 - 2 * __popc(x); }\n",
            "__device__ float f(unsigned x) { return 32 - 2 * int(__popc(x)); }\n",
        ),
        Example(
            "__device__ bool f(unsigned long long x) { return CHECK(__popcll(x) - 5 < 0); }\n",
            "__device__ bool f(unsigned long long x) { return CHECK(int(__popcll(x)) - 5 < 0); }\n",
            "as a macro's argument",
        ),
        Example(
            "#define DIFFER(a, b) __popc((a) ^ (b))\n",
            "#define DIFFER(a, b) int(__popc((a) ^ (b)))\n",
            "in a macro body",
        ),
        Example(
            "__device__ void f(unsigned x) { auto n = __popc(x); int m{::__popc(x)}; }\n",
            "__device__ void f(unsigned x) { auto n = int(__popc(x)); int m{int(::__popc(x))}; }\n",
            "its type is taken over",
        ),
        Example(
            "__device__ long long f(unsigned a, unsigned b) { return -1ll * __umul24(a, b); }\n",
            "__device__ long long f(unsigned a, unsigned b) { return -1ll * unsigned(__umul24(a, b)); }\n",
            "HIP's is signed",
        ),
        Example(
            "__device__ int f(unsigned x, int* p, float* q) {\n"
            "  int n = __popc(x);\n  n += __popc(x);\n  q[__popc(x)] = (float)__popc(x);\n  atomicAdd(p, __popc(x));\n"
            "  if (__popc(x) > 1 && __popc(x) == n) n = 1 << __popc(x);\n  return __popc(x);\n}\n",
            note="no difference",
        ),
        Example("__device__ void f(unsigned x, long long& n) { n = 2 * __popc(x) + 1; }\n", note="never negative"),
        Example(
            "__global__ void k() { unsigned i = __umul24(blockIdx.x, blockDim.x); "
            "float f = __umul24(blockIdx.x, blockDim.x) + threadIdx.x; }\n",
            note="unsigned by the other operand",
        ),
        Example("__device__ float f(Bits x) { return 1 - x.__popc(3) - mine::__popc(x); }\n", note="other functions"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = {n for n in unit.words & _TYPES.keys() if not unit.owns(n)} - unit.macros.keys()
        for i in unit.find(*names) if names else ():
            call = called(unit, i)
            name, first = unit.t[i], i - (unit.tok(i - 1) == "::")
            if call is None or unit.tok(first - 2) == _TYPES[name] or _makes_no_difference(unit, i):
                continue
            there = "unsigned int" if _TYPES[name] == "int" else "int"
            yield self.finding(
                f"`{name}` is `{there}` in HIP",
                unit.p[i],
                unit.end(call.close),
                (insert(unit.p[first], f"{_TYPES[name]}("), insert(unit.end(call.close), ")", Side.LEFT)),
                cuda=name,
                effects=(("all", "wrong-result"),),
            )


def _makes_no_difference(unit: Unit, i: int) -> bool:
    """Whether the type of the call at token i makes no difference to what is done with its result."""
    if unit.in_directive(i) is not None:
        return False
    path = around(unit, i)
    at = next((k for k, e in enumerate(path) if isinstance(e, CallExpr)), -1)
    if at < 0 or path[at].at != i:
        return False
    return _of_count(unit, i, path[at:]) if unit.t[i] in _COUNTS else _of_product(unit, i, path[at:])


def _of_count(unit: Unit, i: int, path: Sequence[Expr]) -> bool:
    """Whether it makes no difference that a number that is not negative, `path[0]`, is unsigned."""
    for e, parent in pairwise(path):
        if any(isinstance(w, Cast) for w in e.around):
            return True
        if isinstance(parent, Assign):
            return parent.value is e and parent.op not in _OTHERWISE
        if isinstance(parent, Index):
            return parent.inner is e
        if isinstance(parent, CallExpr):
            return callee(parent) in _ATOMICS and e in parent.args[1:]
        if isinstance(parent, Ternary) and parent.cond is e:
            return True
        if isinstance(parent, Unary) and parent.op == "!":
            return True
        if isinstance(parent, Ternary):
            if not (_is_small(parent.a) and _is_small(parent.b)):
                return False
        elif isinstance(parent, Binary):
            other = parent.b if parent.a is e else parent.a
            if parent.op in ("&&", "||", "==", "!=") or (parent.op == "<<" and other is parent.a):
                return True
            if not _is_small(other):
                return False
            if parent.op in _COMPARISONS:
                return True
            if parent.op not in _STAYS_SMALL:
                return False
        else:
            return False
    return any(isinstance(w, Cast) for w in path[-1].around) or _takes_value(unit, i)


def _is_small(e: Expr) -> bool:
    """Whether an expression is a number that is not negative, or a count, or made of such."""
    if isinstance(e, Num):
        return e.value is not None and 0 <= e.value < 1 << 16
    if isinstance(e, Binary):
        return e.op in _STAYS_SMALL and _is_small(e.a) and _is_small(e.b)
    return isinstance(e, CallExpr) and callee(e) in _COUNTS


def _takes_value(unit: Unit, i: int) -> bool:
    """Whether the statement around token i takes the value of its expression as it is, and not its type."""
    found = head_around(unit, i)
    s = found[0] if found is not None else None
    if isinstance(s, Decl):
        d = unit.declarations.declared_at(s.at)
        return d is not None and written(unit.t, d).name not in ("auto", "")
    if isinstance(s, Eval):
        return s.end >= 0  # else the braces of an initialiser may be around it
    if isinstance(s, Jump):
        f = unit.function_at(i)
        return f is not None and not unit.between(f.first, f.name_at, "auto") and not _has_lambda(unit, f.body[0], i)
    return s is not None


def _has_lambda(unit: Unit, first: int, stop: int) -> bool:
    """Whether a lambda may begin between two tokens."""
    return any(unit.tok(unit.match[k] + 1) in ("(", "{") for k in unit.between(first, stop, "["))


def _of_product(unit: Unit, i: int, path: Sequence[Expr]) -> bool:
    """Whether it makes no difference that a product is signed: another operand is unsigned, or 32 bits are kept."""
    e = path[0]
    if len(path) > 1:
        parent = path[1]
        if not isinstance(parent, Binary) or parent.op not in _WRAPS or e.around:
            return False
        other = parent.b if parent.a is e else parent.a
        base = other.base if isinstance(other, Member) else other
        return (callee(base) if isinstance(base, CallExpr) else getattr(base, "text", "")) in _BUILT_IN
    found = head_around(unit, i)
    d = unit.declarations.declared_at(found[0].at) if found is not None and isinstance(found[0], Decl) else None
    return d is not None and builtin(written(unit.t, d).words) in ("int", "unsigned int")
