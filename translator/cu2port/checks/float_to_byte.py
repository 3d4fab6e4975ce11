from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Edit, Finding, Severity, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, HALVES, expression_type
from cu2port.facts.gpu_functions import gpu_functions
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import CallExpr, Cast, Expr, Num, Ternary, callee, expressions

_TYPES = frozenset("char short uchar uint8_t int8_t ushort uint16_t int16_t u_char uint8 Npp8u".split())
_BYTES = frozenset("uchar uint8_t u_char uint8 Npp8u".split())
_NARROW = {
    "unsigned char": "uchar",
    "signed char": "char",
    "char": "char",
    "short": "short",
    "unsigned short": "ushort",
}
_FLOATS = frozenset({"float", "double"})
#: Words of functions whose result is taken for one that is not negative.
_WITHIN = ("clamp", "max", "abs", "sat", "sqrt", "exp", "pow")
_LEAVE = ("min", "round", "rint", "floor", "ceil", "trunc")  # no sign changes here


class FloatToByte(Check):
    """A `float` becomes an `unsigned char` in code for the GPU, or a half an integer of 8 or 16 bits: numbers wrap.

    Below 0 CUDA gives 0. C++ leaves it undefined: nvcc converts to an `unsigned int`, whose instruction gives 0 there;
    clang converts to an `int` for types that an `int` holds, and keeps its lowest byte, so that -1 becomes 255. The
    step over `unsigned int` is written out. What `? :` chooses, and calls whose name says that they clamp, are left.

    CUDA's halves keep within the range of the integer, HIP's wrap: a cast of them is a function of `cu2port/half.hpp`.
    """

    code, name, severity = "CU276", "float-to-byte", Severity.INFO
    triggers = _TYPES
    examples = (
        Example(
            "__device__ unsigned char edge(float a, float b) { return (unsigned char)(a - b); }\n",
            "__device__ unsigned char edge(float a, float b) { return (unsigned char)(unsigned int)(a - b); }\n",
        ),
        Example(
            "typedef unsigned char uchar;\n__device__ uchar3 f(float3 p) {\n"
            "  return make_uchar3(static_cast<uchar>(p.x - 1), uchar(p.y), (uchar)p.z);\n}\n",
            "typedef unsigned char uchar;\n__device__ uchar3 f(float3 p) {\n"
            "  return make_uchar3(static_cast<uchar>((unsigned int)(p.x - 1)), uchar((unsigned int)(p.y)), "
            "(uchar)(unsigned int)p.z);\n}\n",
            "other casts",
            findings=3,
        ),
        Example(
            "__device__ void f(unsigned char* a, float x) { STORE(a[0], (unsigned char)x); }\n",
            "__device__ void f(unsigned char* a, float x) { STORE(a[0], (unsigned char)(unsigned int)x); }\n",
            "as a macro's argument",
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ int f(half a, short* p) {\n"
            "  p[0] = (short)a;\n  return static_cast<unsigned char>(a) + (int)a;\n}\n",
            '#include "cu2port/half.hpp"\n#include <hip/hip_fp16.h>\n__device__ int f(half a, short* p) {\n'
            "  p[0] = cu2port::half2short_rz(a);\n  return cu2port::half2uchar_rz(a) + (int)a;\n}\n",
            "halves",
            findings=2,
        ),
        Example(
            "#define BYTE(x) ((unsigned char)(x))\n__device__ int f(float x) { return BYTE(x); }\n",
            note="in a macro body",
        ),
        Example(
            "__device__ int f(float x, int i) {\n"
            "  int n = (unsigned char)fminf(fmaxf(x, 0.0f), 9) + (unsigned char)(x < 0 ? 0 : x);\n"
            "  return n + (unsigned char)i + (char)x;\n}\n"
            "unsigned char h(float x) { return (unsigned char)x; }\n",
            note="clamped; of an integer; to `char`; on the host",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        halves = bool(unit.words & (HALVES | BFLOATS))
        for f in gpu_functions(unit) if not for_host(unit) else ():
            if not _may_cast(frozenset(unit.t[f.body[0] : f.body[1]]), halves):
                continue
            for e in expressions(read_body(unit, f.body[0] + 1, f.body[1])):
                for k, w in enumerate(e.around):
                    if isinstance(w, Cast):
                        yield from self._cast(unit, e, k, w)

    def _cast(self, unit: Unit, e: Expr, k: int, w: Cast) -> Iterator[Finding]:
        """What is to be done about the cast `e.around[k]`."""
        inner = e._replace(around=e.around[:k])
        source, made = expression_type(unit, inner), expression_type(unit, e._replace(around=e.around[: k + 1]))
        narrow = _NARROW.get(made.name, "")
        if source.depth or made.depth or not narrow:
            return
        if source.name in _FLOATS and narrow == "uchar" and not _is_clamped(e):
            yield self._finding(unit, inner, w)
        half = source.name.removeprefix("?")
        if half in HALVES | BFLOATS and not half.endswith("2"):
            word = "half" if half in HALVES else "bfloat16"
            yield self._of_half(unit, inner, w, f"cu2port::{word}2{narrow}_rz")

    def _of_half(self, unit: Unit, inner: Expr, w: Cast, function: str) -> Finding:
        first, last = tokens(inner)
        close = () if w.last > last else (insert(unit.end(last), ")"),)
        return self.finding(
            "a number beyond the integer's range becomes its end in CUDA, and wraps in HIP",
            unit.p[w.first],
            unit.end(w.last),
            (replace(unit.p[w.first], unit.p[first], f"{function}("), *close),
            effects=(("all", "wrong-result"),),
            helpers=("half.hpp",),
        )

    def _finding(self, unit: Unit, inner: Expr, w: Cast) -> Finding:
        first, last = tokens(inner)
        word = "(unsigned int)"
        edits: tuple[Edit, ...] = (insert(unit.p[first], word),)
        if w.last > last:  # the operand is in the brackets of the cast
            edits = (insert(unit.p[first], f"{word}("), insert(unit.end(last), ")"))
        return self.finding(
            "a number below 0 becomes 0 in CUDA, and wraps on AMD GPUs",
            unit.p[w.first],
            unit.end(w.last),
            edits,
            effects=(("all", "wrong-result"),),
        )


def _may_cast(words: frozenset[str], halves: bool) -> bool:
    """Whether a function with some words may have a cast of a float to a byte, or of a half to a small integer."""
    return not words.isdisjoint(_TYPES if halves else _BYTES) or {"unsigned", "char"} <= words


def _is_clamped(e: Expr) -> bool:
    """Whether a float is a number, is chosen by `x < 0 ? 0 : x` or comes from a function that says so."""
    if isinstance(e, (Num, Ternary)):
        return True
    if not isinstance(e, CallExpr):
        return False
    name = callee(e).lower()
    if any(word in name for word in _WITHIN):
        return True
    return any(word in name for word in _LEAVE) and any(_is_clamped(x) for x in e.args if not isinstance(x, Num))
