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
_PARAMETER = re.compile(r"\b(?:class|typename)\s+(\w+)\s*(?=[,>])")
_FIELDS = frozenset("xyzw")
_MAY_HAVE_FIELD = re.compile(
    r"\.[ \t\f\v\r\n]*+[xyzw/\\](?![A-Za-z0-9_$\x80-\xff])"
)  # `.x`, or a comment behind the dot
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
    Call the function by a name of its own where its operands are CUDA's vector types.
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
        if "template" not in text or _OPERATOR.search(text) is None or _MAY_HAVE_FIELD.search(text) is None:
            return
        if "operator" not in unit.words or "template" not in unit.words:
            return
        for f in unit.functions:
            op = f.name.removeprefix("operator")
            if op == f.name or op not in _OPERATORS or unit.declarations.template_at(f.first) is None:
                continue
            spans = unit.split_args(f.params[0] + 1, f.params[1])
            words = [[w for w in unit.t[unit.lexed.at(s.start) : unit.lexed.at(s.end)] if w != "const"] for s in spans]
            kinds = {w[0] if w[1:-1] in ([], ["&"]) and is_identifier(w[-1]) else "" for w in words if w}
            head = unit.source(f.first, f.name_at)
            if len(words) != 2 or len(kinds) != 1 or not kinds <= set(_PARAMETER.findall(head)) or "enable_if" in head:
                continue
            body = unit.t[f.body[0] + 1 : f.body[1]]
            if _fields(body) and not _element_wise(body, op, words[0][-1], words[1][-1]):
                yield self.finding(
                    f"HIP's own `{f.name}` is taken for vectors such as float2, not this template",
                    unit.p[f.name_at - 1],
                    unit.p[f.params[0]],
                    effects=(("all", "wrong-result"),),
                )


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
