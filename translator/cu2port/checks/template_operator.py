from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR, is_identifier

_OPERATORS = frozenset({"+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "%=", "==", "!="})
_OPERATOR = re.compile(rf"operator{NEAR}(?:{'|'.join(map(re.escape, sorted(_OPERATORS)))})")
_BY_MACRO = re.compile(rf"operator{NEAR}[A-Za-z_]\w*{NEAR}[(#]")
_PARAMETER = re.compile(r"\b(?:class|typename)\s+(\w+)\s*(?=[,>])")
_FIELDS = frozenset("xyzw")
_HEAD = 100  # tokens before `operator` in which a template's parameters are
_FURTHEST = 5  # tokens from `operator` to its bracket: `operator OP##=(`
_MAY_HAVE_FIELD = re.compile(
    r"\.[ \t\f\v\r\n]*+[xyzw/\\](?![A-Za-z0-9_$\x80-\xff])"
)  # `.x`, or a comment behind the dot
_MIXED = """#define SUM(OP)                                                       \\
  template <class T, class U> __device__ T operator OP(T a, U b) {       \\
    return T{a.x OP b.x, a.y OP b.y};                                    \\
  }
SUM(+)
"""
_COMPLEX = """template <class V> __device__ V operator*(const V& a, const V& b) {
  V c;
  c.x = a.x * b.x - a.y * b.y;
  c.y = a.x * b.y + a.y * b.x;
  return c;
}
"""


class TemplateOperator(Check):
    """An operator template for any type works on `.x` and `.y`, and HIP's vector types have that operator themselves.

    CUDA's vector types have no operators, so the template serves `float2 * float2`. HIP's have them, component by
    component, and they win over a template for any type: no error, other values (the product of complex numbers, say).
    Of a template for any two types (`float3 + uchar3`) HIP's are as good a match, or a better one that does not compile
    for such a pair. Call the function by a name of its own where its operands are CUDA's vector types.
    """

    code, name = "CU242", "template-operator"
    triggers = frozenset({"operator"})
    examples = (
        Example(_COMPLEX, _COMPLEX, findings=1),
        Example(
            "#define HD __host__ __device__\n"
            "template <typename T> HD bool operator==(T a, T b) { return CHECK(a.x == b.x); }\n",
            "#define HD __host__ __device__\n"
            "template <typename T> HD bool operator==(T a, T b) { return CHECK(a.x == b.x); }\n",
            "only one component",
        ),
        Example(_MIXED, _MIXED, "for any two types, by a macro"),
        Example(
            "template <class T, class U, class = std::enable_if_t<sizeof(T) == 8>>\n"
            "__device__ T operator-(T a, const U& b) { return T{a.x - b.x, a.y - b.y}; }\n",
            "template <class T, class U, class = std::enable_if_t<sizeof(T) == 8>>\n"
            "__device__ T operator-(T a, const U& b) { return T{a.x - b.x, a.y - b.y}; }\n",
            "for any two types",
        ),
        Example("#define SET(OP) Vec& operator OP(Vec a) { return x OP a.x; }\n", note="a member"),
        Example(
            "template <class V> __device__ V operator+(V a, V b) { V c; c.x = a.x + b.x; c.y = a.y + b.y; return c; }",
            note="it does what HIP's does",
        ),
        Example("template <class T> Vec<T> operator*(Vec<T> a, Vec<T> b) { return Vec<T>(a.x * b.y); }\n"),
        Example("template <class T> V<T> operator*(V<T> a, T const& b) { return V<T>{a.x * b, a.y * b}; }\n"),
        Example("template <class V> V operator*(V a, V b) { return multiply(a, b); }\n", note="for classes"),
        Example("template <class V> V operator*(V a, float b) { a.x *= b; a.y *= b; return a; }\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        text = unit.text
        if "template" not in text or (_OPERATOR.search(text) is None and _BY_MACRO.search(text) is None):
            return
        if _MAY_HAVE_FIELD.search(text) is None:
            return
        if "operator" not in unit.words or "template" not in unit.words:
            return
        for f in unit.functions:
            op = f.name.removeprefix("operator")
            if op == f.name or op not in _OPERATORS or unit.declarations.template_at(f.first) is None:
                continue
            head = unit.source(f.first, f.name_at)
            operands = _operands(unit, head, *f.params)
            body = unit.t[f.body[0] + 1 : f.body[1]]
            if operands is None or not _fields(body):
                continue
            (kind, a), (other, b) = operands
            if kind != other:
                yield self._of_two(f.name, unit.p[f.name_at - 1], unit.p[f.params[0]])
            elif "enable_if" not in head and not _element_wise(body, op, a, b):
                yield self.finding(
                    f"HIP's own `{f.name}` is taken for vectors such as float2, not this template",
                    unit.p[f.name_at - 1],
                    unit.p[f.params[0]],
                    effects=(("all", "wrong-result"),),
                )
        yield from self._in_macros(unit)

    def _in_macros(self, unit: Unit) -> Iterator[Finding]:
        """Templates for any two types that macros make, one finding for each macro."""
        done: set[int] = set()
        for i in unit.find("operator"):
            d = unit.in_directive(i)
            if d is None or d.keyword != "define" or d.first in done:
                continue
            opener = next((k for k in range(i + 1, min(i + _FURTHEST, d.stop)) if unit.t[k] == "("), -1)
            close = unit.match[opener] if opener > i + 1 else -1
            operands = (
                _operands(unit, unit.source(max(d.first, i - _HEAD), i), opener, close) if i < close < d.stop else None
            )
            if operands is not None and operands[0][0] != operands[1][0]:
                done.add(d.first)  # without components from here on the others have none either
                if _fields(unit.t[close : d.stop]):
                    yield self._of_two(unit.source(i, opener), unit.p[i], unit.p[opener])

    def _of_two(self, name: str, start: int, end: int) -> Finding:
        said = f"HIP's own `{name}` is as good a match for vectors such as float3 as this template for any two types"
        return self.finding(said, start, end, effects=(("all", "compile-error"),))


def _operands(unit: Unit, head: str, opener: int, close: int) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """The types and names of two parameters in brackets, which are types that `head` has as template parameters; None
    for other ones."""
    spans = unit.split_args(opener + 1, close)
    words = [[w for w in unit.t[unit.lexed.at(s.start) : unit.lexed.at(s.end)] if w != "const"] for s in spans]
    found = [(w[0], w[-1]) for w in words if len(w) > 1 and w[1:-1] in ([], ["&"]) and is_identifier(w[-1])]
    if len(words) != 2 or len(found) != 2 or not {kind for kind, _ in found} <= set(_PARAMETER.findall(head)):
        return None
    return found[0], found[1]


def _fields(body: list[str]) -> set[str]:
    """The components of vectors that a body works on."""
    return {w for dot, w in itertools.pairwise(body) if dot == "." and w in _FIELDS}


def _element_wise(body: list[str], op: str, a: str, b: str) -> bool:
    """Whether each product or sum in a body is that of the same component of both operands, for two or more."""
    text, sign = " ".join(body), re.escape(op.removesuffix("=") if op not in ("==", "!=") else op)
    pairs = re.findall(rf"\b{a} \. (\w) {sign}=? {b} \. (\w)\b", text)
    rest = re.sub(rf"\b{a} \. (\w) {sign}=? {b} \. \1\b", "", text)
    stores = not re.search(rf"\b{b} \. \w", rest)
    return len({x for x, _ in pairs}) >= 2 and all(x == y for x, y in pairs) and stores
