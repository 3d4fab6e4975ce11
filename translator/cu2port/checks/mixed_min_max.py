from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Edit, Finding, Severity, Side, Span, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import argument_types, common, promoted, same_shape, unqualified
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import brings
from cu2port.syntax.lexer import NEAR

_LITERAL = re.compile(r"(?:[1-9][0-9]*|0)\Z")
_SUFFIX = {"unsigned int": "u", "unsigned long": "ul", "unsigned long long": "ull"}
_OF_DEVICE = frozenset({"__global__", "__device__", "__host__"})
_DEEPEST = 64  # calls in one another that libclang is asked about
# What may be such a call, told without the lexer: no member, and no name of a namespace or class.
_CALL = re.compile(rf"m(?:in|ax)(?<![\w$]...)(?<!\w::...)(?<!->...)(?<![^.]\....){NEAR}\((?![^(){{}},\"'/\\#<>]*+\))")


class MixedMinMax(Check):
    """`min` or `max` is called with types for which HIP has no overload of its own.

    CUDA has them for every arithmetic type and for signed with unsigned. HIP's compiler takes two different integer
    types in device code to `double`, which compares -1 otherwise and loses bits of 64-bit numbers. In host code it has
    `int` alone: `max(0.3f, 0.7f)` is 0 there, and no compiler warns. The operands get the type that CUDA gives them, or
    the host is given `fmaxf`, `fmax` or `std::max`.
    """

    code, name, severity = "CU214", "mixed-min-max", Severity.INFO
    triggers = frozenset({"min", "max"})
    examples = (
        Example(
            "__device__ int f(int a, unsigned n) { return min(a, n); }\n",
            "__device__ int f(int a, unsigned n) { return min(static_cast<unsigned int>(a), n); }\n",
        ),
        Example(
            "__global__ void k(int* p) { p[max(blockDim.x, 1)] = 0; }\n",
            "__global__ void k(int* p) { p[max(blockDim.x, 1u)] = 0; }\n",
            "a literal",
        ),
        Example(
            "float f(float a, float b) { return max(a, b); }\n",
            "float f(float a, float b) { return fmaxf(a, b); }\n",
            "on the host: of a number and a NaN CUDA gives the number",
        ),
        Example(
            "void f(unsigned n, int m) { CHECK(min(m, n)); }\n",
            "#include <algorithm>\nvoid f(unsigned n, int m) { CHECK(std::min<unsigned int>(m, n)); }\n",
            "as a macro's argument",
        ),
        Example(
            "double f(float a, double b) { return max(a, b); }\n",
            "double f(float a, double b) { return fmax(a, b); }\n",
            "float and double",
        ),
        Example("#define LEAST(a, b) min(a, b)\n", note="in a macro body the types are not known"),
        Example("__device__ float f(float a, float b) { return min(a, b); }\n", note="the device has it"),
        Example(
            "#define __both __host__ __device__\n__both float f(float a, float b) { return max(a, b); }\n",
            "#define __both __host__ __device__\n__both float f(float a, float b) { return fmaxf(a, b); }\n",
            "right on both sides, if a macro means them",
        ),
        Example(
            "double f(double a) { return ::max(a, 0.5); }\n",
            "double f(double a) { return fmax(a, 0.5); }\n",
            "with `::`",
        ),
        Example("int f(int a, int b) { return min(a, b); }\n", note="the host has it"),
        Example("using namespace std;\nfloat f(float a, float b) { return max(a, b); }\n", note="the library's"),
        Example(
            "float f(float a, float b) { return max(a, b); }\n", note="a host source, which gets none", path="a.cpp"
        ),
        Example("#define max(a, b) ((a) > (b) ? (a) : (b))\nfloat f(float a, float b) { return max(a, b); }\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) and unit.words.isdisjoint(_OF_DEVICE):
            return  # CUDA's headers have them for nvcc alone, so others are meant
        calls = _calls(unit)
        if not calls:
            return
        lexical = argument_types(unit, calls)
        doubtful = [(i, call) for i, call in calls if _doubtful(unit, i, call, lexical[i])]
        foreign: set[int] = set()
        if doubtful or any(inc.quoted for inc in unit.includes):
            unsure = {i for i, _ in doubtful}
            asked = [(i, call) for i, call in calls if i in unsure or _edits(unit, i, call, lexical[i])[0]]
            asked = _not_deep(asked)
            facts = None
            if asked:
                spans = tuple((a.start, a.end) for _, call in asked for a in call.args)
                facts = unit.ask(bindings=tuple(unit.p[i] for i, _ in asked), spans=spans)
            if facts is not None:
                for i, call in asked:
                    binding = facts.bindings.get(unit.p[i])
                    if binding is not None and binding.owner != "cuda":
                        foreign.add(i)
                    for k, span in enumerate(call.args):
                        expr = facts.exprs.get((span.start, span.end))
                        if expr is not None:
                            lexical[i][k] = unqualified(expr.type)
        for i, call in calls:
            edits, needs = ((), ()) if i in foreign else _edits(unit, i, call, lexical[i])
            if edits:
                a, b = lexical[i]
                name = unit.t[i]
                yield self.finding(
                    f"`{name}` of {a} and {b}: HIP would take them as "
                    f"{'double' if _device_only(unit, i) else 'int in host code'}",
                    unit.p[i],
                    unit.end(call.close),
                    edits,
                    trust=Trust.REVIEW,
                    cuda=name,
                    effects=(("all", "wrong-result"),),
                    needs=needs,
                )


def _calls(unit: Unit) -> list[tuple[int, Call]]:
    """Calls of `min` and `max` with two arguments, in a function, that look like CUDA's."""
    if _CALL.search(unit.text) is None:
        return []
    own = {f.name for f in unit.functions} | unit.macros.keys()
    out = []
    for i in unit.find("min", "max"):
        before = unit.tok(i - 1)
        if unit.t[i] in own or unit.is_member(i) or unit.tok(i + 1) != "(" or unit.in_directive(i) is not None:
            continue
        if before == "::" and (unit.qualifier(i) < i - 1 or unit.tok(i - 2) == ">"):
            continue
        call = unit.call(i)
        if call is not None and len(call.args) == 2 and unit.function_at(i) is not None:
            out.append((i, call))
    return out


def _not_deep(calls: list[tuple[int, Call]]) -> list[tuple[int, Call]]:
    """Those of some calls, in order, that are not in too many others of them: libclang looks for each from the
    outside."""
    out = []
    around: list[int] = []  # the closing brackets of those that are open
    for i, call in calls:
        while around and around[-1] < i:
            around.pop()
        if len(around) < _DEEPEST:
            out.append((i, call))
        around.append(call.close)
    return out


def _device_only(unit: Unit, i: int) -> bool:
    f = unit.function_at(i)
    return f is not None and bool(f.sides & {"__global__", "__device__"}) and "__host__" not in f.sides


def _host(unit: Unit, i: int) -> bool:
    """Whether a function is for the host or both sides, and says so in words that this file explains."""
    f = unit.function_at(i)
    if f is None or "__device__" in unit.t[f.body[0] : i]:  # a lambda for the device
        return False
    if f.sides:
        return "__host__" in f.sides
    return not any(w.isupper() and len(w) > 3 for w in unit.t[f.first : f.name_at])


def _doubtful(unit: Unit, i: int, call: Call, types: list[str]) -> bool:
    """Whether more than tokens must tell. On the device every type has its overload with itself, and floating types
    have them with all others."""
    a, b = types
    if _device_only(unit, i) and ({"float", "double"} & {a, b} or (a and a == b) or same_shape(unit, *call.args)):
        return False
    return any(not x or x.startswith("?") for x in types)


def _edits(unit: Unit, i: int, call: Call, types: list[str]) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """What gives a call CUDA's types, and the headers that this needs; no edits where HIP does the same by itself or
    the types are not known."""
    a, b = types
    both = common(a, b)
    if not both:
        return (), ()
    if _device_only(unit, i):
        if a == b or both in ("float", "double"):
            return (), ()
        return tuple(e for t, s in zip(types, call.args, strict=True) if t != both for e in _cast(unit, s, both)), ()
    if not _host(unit, i) or (a == b and both == "int") or {promoted(a), promoted(b)} == {"int"}:
        return (), ()
    if a == b and _library_in_scope(unit, i):
        return (), ()
    start = unit.p[i - 1] if unit.tok(i - 1) == "::" else unit.p[i]
    name = unit.t[i]
    if both in ("float", "double"):  # as CUDA: of a number and a NaN the number, which `std::min` need not give
        new = f"f{name}f" if {a, b} == {"float"} else f"f{name}"
        return (replace(start, unit.end(i), new),), ()
    new = f"std::{name}" if a == b else f"std::{name}<{both}>"
    return (replace(start, unit.end(i), new),), ("algorithm",)


def _cast(unit: Unit, span: Span, wanted: str) -> Iterator[Edit]:
    if wanted in _SUFFIX and _LITERAL.match(unit.text[span.start : span.end]):
        yield insert(span.end, _SUFFIX[wanted], Side.LEFT)
    else:
        yield insert(span.start, f"static_cast<{wanted}>(")
        yield insert(span.end, ")", Side.LEFT)


def _library_in_scope(unit: Unit, i: int) -> bool:
    """Whether `using namespace std;` or `using std::max;` brings the library's templates."""
    return brings(unit.lexed, unit.declarations, "std", i)
