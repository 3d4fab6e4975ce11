from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity, Span, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, HALVES, argument_types, pointee_types, promoted, unqualified
from cu2port.facts.named_types import ARITHMETIC
from cu2port.facts.operand_type import declared_word
from cu2port.facts.structure import Call, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.types import builtin, is_type_parameter

_HALF = HALVES | BFLOATS | {"bfloat16", "bfloat162"}  # the last two as the usual aliases
_VECTORS = frozenset({"float2", "float4"})
_CHOSEN = regex(r"(?:^|_)(?:HALF|B?FP16|BF16|FLOAT16)(?:_|\Z)")
_HEADERS = ("cuda_fp16.h", "cuda_bf16.h")


class HalfAtomic(Check):
    """`atomicAdd` on numbers of 16 bits, on pairs of them, or on `float2` and `float4`.

    CUDA has overloads for `__half`, `__half2`, `__nv_bfloat16` and `__nv_bfloat162`, and those of vectors for sm_90.
    HIP has none, only `unsafeAtomicAdd` of pairs. `cu2port::atomic_add` of `cu2port/half_atomic.hpp` has all six, and
    is `atomicAdd` for other types, so that it also stands where a template decides the type. Of a vector each number is
    added by itself, as in CUDA.
    """

    code, name, severity = "CU226", "half-atomic", Severity.INFO
    triggers = frozenset({"atomicAdd"})
    examples = (
        Example(
            "__device__ void f(__half* p, __half v) { atomicAdd(p, v); }\n",
            '#include "cu2port/half_atomic.hpp"\n'
            "__device__ void f(__half* p, __half v) { cu2port::atomic_add(p, v); }\n",
        ),
        Example(
            "__device__ __half f(__half* p, __half v) { return ::atomicAdd(p, v); }\n",
            '#include "cu2port/half_atomic.hpp"\n'
            "__device__ __half f(__half* p, __half v) { return cu2port::atomic_add(p, v); }\n",
            "with `::`",
        ),
        Example(
            "typedef __half2 T2;\ntemplate <typename T>\n"
            "__device__ void f(T* p, int i, float v) { atomicAdd(&p[i], T(v)); }\n",
            '#include "cu2port/half_atomic.hpp"\ntypedef __half2 T2;\ntemplate <typename T>\n'
            "__device__ void f(T* p, int i, float v) { cu2port::atomic_add(&p[i], T(v)); }\n",
            "where a template decides",
        ),
        Example(
            "__device__ __half2 f(__half2* p, __half2 v) { return CHECK(atomicAdd(p + 1, v)); }\n",
            '#include "cu2port/half_atomic.hpp"\n'
            "__device__ __half2 f(__half2* p, __half2 v) { return CHECK(cu2port::atomic_add(p + 1, v)); }\n",
            "as a macro's argument",
        ),
        Example(
            "#ifdef HALF\n"
            "__device__ void f(real2* p, int i) { atomicAdd(&p[i], p[0]); atomicAdd(&p->x, 1); }\n#endif\n",
            '#include "cu2port/half_atomic.hpp"\n#ifdef HALF\n'
            "__device__ void f(real2* p, int i) { cu2port::atomic_add(&p[i], p[0]); atomicAdd(&p->x, 1); }\n#endif\n",
            "a type that a header names",
            findings=1,
        ),
        Example("__device__ void f(float* p, __half v) { atomicAdd(p, __half2float(v)); }\n", note="HIP has it"),
        Example("__device__ void f(int* p) { atomicAdd(p, 1); }\n", note="no half in sight"),
        Example(
            "#define SUM(T, name) __global__ void name(T *out, T v) { atomicAdd(out, v); }\nSUM(__half, sum16)\n",
            '#include "cu2port/half_atomic.hpp"\n'
            "#define SUM(T, name) __global__ void name(T *out, T v) { cu2port::atomic_add(out, v); }\n"
            "SUM(__half, sum16)\n",
            "in a macro body, where the macro gets the type",
        ),
        Example(
            "__device__ void f(float4* p, float4 v) { atomicAdd(&p[1], v); atomicAdd(&p->x, 1.0f); }\n",
            '#include "cu2port/half_atomic.hpp"\n'
            "__device__ void f(float4* p, float4 v) { cu2port::atomic_add(&p[1], v); atomicAdd(&p->x, 1.0f); }\n",
            "a vector",
            findings=1,
        ),
        Example(
            "__device__ void atomicAdd(float2* p, float2 v);\n"
            "__device__ void f(float2* p, float2 v) { atomicAdd(p, v); }\n",
            note="the program's own",
        ),
        Example("#define ADD(p) atomicAdd(p, __half(1))\n", note="in other macro bodies the types are not known"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i, kind in _in_macros(unit):
            yield self._found(unit, i, unit.end(i), kind)
        calls = _calls(unit)
        if not calls:
            return
        kinds = pointee_types(unit, calls)
        given = argument_types(unit, [(i, c) for i, c in calls if not kinds[i]])
        kinds |= {i: types[1] for i, types in given.items()}
        named = {i: word for i, c in calls if (word := _of_header(unit, c.args[1]))}
        unknown = [
            (i, c)
            for i, c in calls
            if _knows_halves(unit) and promoted(kinds[i]) not in ARITHMETIC and not _is_half(unit, kinds[i])
        ]
        facts = unit.ask(spans=tuple((a.start, a.end) for _, c in unknown for a in c.args)) if unknown else None
        for i, call in unknown:
            exprs = [facts.exprs.get((a.start, a.end)) for a in call.args] if facts is not None else []
            types = [unqualified(e.type) for e in exprs if e is not None]
            kinds[i] = next((t.rstrip(" *") for t in types if t), "")
        for i, call in calls:
            if i in named or _is_half(unit, kinds[i]):
                yield self._found(unit, i, unit.end(call.close), named.get(i, kinds[i].removeprefix("?")))

    def _found(self, unit: Unit, i: int, end: int, kind: str) -> Finding:
        start = unit.p[unit.qualifier(i)]
        return self.finding(
            f"`atomicAdd` of {kind}: HIP has no overload for {'vectors' if kind in _VECTORS else '16 bits'}",
            start,
            end,
            (replace(start, unit.end(i), "cu2port::atomic_add"),),
            cuda="atomicAdd",
            effects=(("all", "compile-error"),),
            helpers=("half_atomic.hpp",),
        )


def _in_macros(unit: Unit) -> Iterator[tuple[int, str]]:
    """CUDA's `atomicAdd` in bodies of macros that get such a type as an argument, with the type."""
    if "atomicAdd" not in unit.words or not unit.words & _HALF or _is_own(unit):
        return
    macros = {m.directive.start: m for found in unit.macros.values() for m in found if m.params}
    kinds: dict[int, str] = {}
    for i in unit.find("atomicAdd"):
        d = unit.in_directive(i)
        m = macros.get(d.start) if d is not None else None
        call = unit.call(i) if m is not None and i >= m.first and unit.qualifier(i) == i else None
        if m is None or call is None or len(call.args) != 2:
            continue
        if m.first not in kinds:
            kinds[m.first] = _half_given(unit, m)
        if kinds[m.first]:
            yield i, kinds[m.first]


def _half_given(unit: Unit, m: Macro) -> str:
    """The type of 16 bits that is a whole argument of a macro somewhere; "" without."""
    for k in unit.find(m.name):
        call = unit.call(k) if unit.in_directive(k) is None else None
        for a in call.args if call is not None else ():
            if unit.text[a.start : a.end] in _HALF:
                return unit.text[a.start : a.end]
    return ""


def _is_own(unit: Unit) -> bool:
    """Whether the file has an `atomicAdd` of its own."""
    return any(f.name == "atomicAdd" for f in unit.functions) or "atomicAdd" in unit.macros


def _calls(unit: Unit) -> list[tuple[int, Call]]:
    """CUDA's `atomicAdd` in functions of a file that knows numbers of 16 bits."""
    if "atomicAdd" not in unit.words:
        return []
    if _is_own(unit) or not (_knows_halves(unit) or _knows_vectors(unit)):
        return []
    out = []
    for i in unit.find("atomicAdd"):
        if unit.is_member(i) or unit.in_directive(i) is not None or unit.function_at(i) is None:
            continue
        if unit.tok(i - 1) == "::" and unit.qualifier(i) < i - 1:
            continue
        call = unit.call(i)
        if call is not None and len(call.args) == 2:
            out.append((i, call))
    return out


def _knows_halves(unit: Unit) -> bool:
    """Whether a file may have such numbers: by their names, CUDA's headers, or a macro that chooses them, as where a
    header of the project names the type (`#ifdef HALF`)."""
    return bool(unit.words & _HALF) or any(x.path in _HEADERS for x in unit.includes) or _chooses(unit)


def _chooses(unit: Unit) -> bool:
    return "atomicAdd" in unit.words and any(_CHOSEN.search(w) for w in unit.words)


def _of_header(unit: Unit, value: Span) -> str:
    """The type of a variable or an element of one, where a header names it, in a file that chooses such numbers by a
    macro; "" for others."""
    if not _chooses(unit):
        return ""
    word = declared_word(unit, unit.lexed.at(value.start), unit.lexed.at(value.end))
    own = builtin((word,)) or unit.declarations.named(word) or unit.catalog.get(word) is not None
    return "" if own or promoted(word) in ARITHMETIC or word in _VECTORS else word


def _knows_vectors(unit: Unit) -> bool:
    """Whether a file has the vectors that CUDA's function takes, and the program has no function of that name."""
    return bool(unit.words & _VECTORS) and not unit.declarations.named("atomicAdd") and "atomicAdd" not in unit.others


def _is_half(unit: Unit, kind: str) -> bool:
    """Whether a type has 16 bits or is a pair of such, or may be because a template's parameter names it; or a vector
    that CUDA's function takes."""
    name = kind.removeprefix("?")
    if name in _VECTORS:
        return _knows_vectors(unit)
    known = name in _HALF or any(is_type_parameter(unit.t, d) for d in unit.declarations.named(name))
    return known and _knows_halves(unit)
