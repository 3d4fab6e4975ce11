from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Edit, Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import expression_type
from cu2port.facts.branches import skipped_by_nvcc
from cu2port.facts.side_macros import by_name
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import CallExpr, Cast, Expr, Num, Ternary, callee, expressions

_TYPES = frozenset({"uchar", "uint8_t", "u_char", "uint8", "Npp8u", "char"})
_FLOATS = frozenset({"float", "double"})
_ON_GPU = frozenset({"__device__", "__global__"})
#: Words of functions whose result is taken for one that is not negative.
_WITHIN = ("clamp", "max", "min", "abs", "sat", "sqrt", "exp", "round", "pow")


class FloatToByte(Check):
    """A `float` becomes an `unsigned char` in code for the GPU: what is negative is 0 in CUDA, and wraps on AMD GPUs.

    C++ leaves it undefined. nvcc converts to an `unsigned int`, whose instruction gives 0 for what is negative; clang
    converts to an `int` for types that an `int` holds, and keeps its lowest byte, so that -1 becomes 255. The step over
    `unsigned int` is written out. What `? :` chooses, and calls whose name says that they clamp, are left alone.
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
            "#define BYTE(x) ((unsigned char)(x))\n__device__ int f(float x) { return BYTE(x); }\n",
            note="in a macro body",
        ),
        Example(
            "__device__ int f(float x, int i) {\n"
            "  return (unsigned char)fmaxf(x, 0.0f) + (unsigned char)(x < 0 ? 0 : x) + (unsigned char)i + (char)x;\n}\n"
            "unsigned char h(float x) { return (unsigned char)x; }\n",
            note="clamped; of an integer; to `char`; on the host",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) or unit.words.isdisjoint(_ON_GPU.union(by_name(unit.project.side_macros))):
            return
        for f in unit.functions:
            if f.sides.isdisjoint(_ON_GPU) or _TYPES.isdisjoint(unit.t[f.body[0] : f.body[1]]):
                continue
            if skipped_by_nvcc(unit, unit.p[f.name_at]):
                continue
            for e in expressions(read_body(unit, f.body[0] + 1, f.body[1])):
                for k, w in enumerate(e.around):
                    if isinstance(w, Cast) and self._counts(unit, e, k):
                        yield self._finding(unit, e._replace(around=e.around[:k]), w)

    def _counts(self, unit: Unit, e: Expr, k: int) -> bool:
        """Whether the cast `e.around[k]` makes an unsigned char of a float that may be negative."""
        inner = e._replace(around=e.around[:k])
        found = expression_type(unit, inner)
        if found.depth or found.name not in _FLOATS or isinstance(e, (Num, Ternary)):  # `x < 0 ? 0 : x`
            return False
        made = expression_type(unit, e._replace(around=e.around[: k + 1]))
        if made.depth or made.name != "unsigned char":
            return False
        return not (isinstance(e, CallExpr) and any(word in callee(e).lower() for word in _WITHIN))

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
