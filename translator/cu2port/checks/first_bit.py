from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import argument_types, promoted, unqualified
from cu2port.facts.named_types import ARITHMETIC
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import value_of
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import written

# HIP 7.1, amd_device_functions.h: one overload for the signed type and one for the unsigned; CUDA has the signed alone
_TAKEN = {"__ffs": ("int", "unsigned int"), "__ffsll": ("long long", "unsigned long long")}
_VOTES = frozenset({"ballot", "match_all", "match_any"})


class FirstBit(Check):
    """`__ffs` or `__ffsll` is given a number of a type for which HIP has no overload.

    CUDA has one function each and converts. HIP has two, signed and unsigned, so that for `uint64_t`, which is
    `unsigned long`, both `long long` and `unsigned long long` are as good, and the compiler takes neither. So it is for
    `__ffs` of a tile's vote, which has 64 bits in HIP. The argument is converted to what CUDA's function takes, also
    where a template or the uses of a macro decide its type.
    """

    code, name, severity = "CU225", "first-bit-overload", Severity.INFO
    triggers = frozenset(_TAKEN)
    examples = (
        Example(
            "__device__ int f(uint64_t mask) { return __ffsll(mask); }\n",
            "__device__ int f(uint64_t mask) { return __ffsll(static_cast<long long>(mask)); }\n",
        ),
        Example(
            "__device__ int f(uint64_t mask) { return CHECK(__ffs(mask & 7)); }\n",
            "__device__ int f(uint64_t mask) { return CHECK(__ffs(static_cast<int>(mask & 7))); }\n",
            "as a macro's argument",
        ),
        Example(
            "template <class T> __device__ int f(T t, bool b) { return __ffs(t.ballot(b)) - 1; }\n",
            "template <class T> __device__ int f(T t, bool b) { return __ffs(static_cast<int>(t.ballot(b))) - 1; }\n",
            "a vote of a tile, which is 32 threads at most",
        ),
        Example(
            "template <class T> __device__ int f(T t) { auto m = t.ballot(a); return __ffs(m); }\n",
            "template <class T> __device__ int f(T t) { auto m = t.ballot(a); return __ffs(static_cast<int>(m)); }\n",
            "a variable with such a vote",
        ),
        Example("__device__ int f(unsigned long long mask) { return __ffsll(mask); }\n", note="HIP has it"),
        Example(
            "#define FIRST(mask) __ffsll(mask)\n",
            "#define FIRST(mask) __ffsll(static_cast<long long>(mask))\n",
            "in a macro body",
        ),
        Example(
            "template <class T> __device__ int f(T mask) { auto rest = mask >> 1; return __ffsll(rest); }\n",
            "template <class T> __device__ int f(T mask) "
            "{ auto rest = mask >> 1; return __ffsll(static_cast<long long>(rest)); }\n",
            "of a template's type",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        calls = _calls(unit)
        if not calls:
            return
        types = {i: found[0] for i, found in argument_types(unit, calls).items()}
        unknown = [(i, call) for i, call in calls if not types[i] or types[i].startswith("?")]
        facts = unit.ask(spans=tuple((c.args[0].start, c.args[0].end) for _, c in unknown)) if unknown else None
        for i, call in unknown:
            expr = facts.exprs.get((call.args[0].start, call.args[0].end)) if facts is not None else None
            types[i] = unqualified(expr.type) if expr is not None else ""
        for i, call in calls:
            if unit.t[i] == "__ffs" and (_is_vote(unit, call.close - 1) or _holds_vote(unit, call)):
                types[i] = "unsigned long long"
            name, given = unit.t[i], promoted(types[i])
            if given in _TAKEN[name]:
                continue
            argument = call.args[0]
            kind = types[i] if given in ARITHMETIC else "a type that is not known here"
            yield self.finding(
                f"`{name}` of {kind}: HIP's overloads are for {' and '.join(_TAKEN[name])}",
                unit.p[i],
                unit.end(call.close),
                (
                    insert(argument.start, f"static_cast<{_TAKEN[name][0]}>("),
                    insert(argument.end, ")", Side.LEFT),
                ),
                cuda=name,
                effects=(("all", "compile-error"),),
            )


def _is_vote(unit: Unit, end: int) -> bool:
    """Whether the expression that ends with token `end` is the vote of a group, `tile.ballot(x)`."""
    last = unit.match[end] if unit.tok(end) == ")" else -1
    return last > 0 and unit.tok(last - 1) in _VOTES and unit.tok(last - 2) == "."


def _holds_vote(unit: Unit, call: Call) -> bool:
    """Whether the argument is a variable without a type of its own that a vote was given to."""
    name = unit.tok(call.open + 1)
    if call.close != call.open + 2 or not is_identifier(name):
        return False
    d = unit.declarations.visible(name, call.open)
    return d is not None and written(unit.t, d).name == "auto" and _is_vote(unit, value_of(unit.lexed, d)[1] - 1)


def _calls(unit: Unit) -> list[tuple[int, Call]]:
    """Calls in functions and macros, of CUDA's own."""
    if unit.words.isdisjoint(_TAKEN):
        return []
    own = {f.name for f in unit.functions} | unit.macros.keys()
    out = []
    for i in unit.find(*_TAKEN):
        if unit.t[i] in own or (unit.in_directive(i) is None and unit.function_at(i) is None):
            continue
        call = unit.call(i)
        if call is not None and len(call.args) == 1:
            out.append((i, call))
    return out
