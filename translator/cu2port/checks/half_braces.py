from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, HALVES
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_TYPES = HALVES | BFLOATS
# `= {}`, or the begin of it where a comment or a continuation may stand between
_MAY_ASSIGN = re.compile(r"=[ \t\f\v\r\n]*+(?:[/\\]|\{[ \t\f\v\r\n]*+[/\\}])")


class HalfBraces(Check):
    """Empty braces are assigned to a half or bfloat16.

    HIP's types have several assignment operators that take something made of `{}`, so clang calls it ambiguous. The
    type is written before the braces.
    """

    code, name, severity = "CU241", "half-braces", Severity.INFO
    triggers = frozenset(_TYPES)
    examples = (
        Example("void f() { half2 r; r = {}; }", "void f() { half2 r; r = half2{}; }"),
        Example(
            "void f() { __nv_bfloat16 b; b = {}; }",
            "void f() { __hip_bfloat16 b; b = __hip_bfloat16{}; }",
            "bfloat16",
        ),
        Example("#define F half2 r; r = {};\n", "#define F half2 r; r = half2{};\n", "in a macro body"),
        Example("RUN(half2 r; r = {};)", "RUN(half2 r; r = half2{};)", "as a macro's argument"),
        Example("void f() { half2 r = {}; int4 s; s = {}; }", note="an initialiser, another type"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _MAY_ASSIGN.search(unit.text) is None or not unit.words & _TYPES:
            return
        for i in unit.find("{"):
            target = unit.tok(i - 2)
            if unit.tok(i - 1) != "=" or unit.tok(i + 1) != "}" or not target or not is_identifier(target):
                continue
            if unit.tok(i - 3) not in (";", "{", "}", ")", "else", ":", ","):
                continue  # a declaration with an initialiser, a member, an element
            kinds = {unit.tok(k - 1) for k in unit.find(target) if k < i - 2} & _TYPES
            if len(kinds) == 1:
                kind = kinds.pop()
                row = unit.catalog.get(kind)
                kind = row.hip if row is not None and row.hip else kind
                yield self.finding(
                    f"`{target} = {{}}` is ambiguous for HIP's `{kind}`",
                    unit.p[i - 2],
                    unit.end(i + 1),
                    (insert(unit.p[i], kind),),
                    effects=(("all", "compile-error"),),
                )
