from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.declared import VECTORS
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR

_OPERATOR = re.compile(rf"operator{NEAR}>{NEAR}>{NEAR}\(")
_USING = "using cu2port::operator>>;"
_INTO = re.compile(r"(?:(?:std|::std) :: )?istream & (?:\w+ )?, (?:\w+ :: )*(\w+) &(?: \w+)?")


class StreamVector(Check):
    """The user's `operator>>(std::istream &, float3 &)` reads a vector.

    HIP's vectors have a shift, `x >> vector`, whose left side is of any type. For a `std::ifstream` or a
    `std::stringstream`, which the user's operator takes as their base, both match as well, and clang calls it
    ambiguous. A third one for such streams, a better match, calls the user's.
    """

    code, name, severity = "CU258", "stream-vector", Severity.INFO
    triggers = frozenset({"istream"})
    examples = (
        Example(
            "#include <fstream>\n"
            "inline std::istream &operator>>(std::istream &in, float3 &v) { return in >> v.x >> v.y >> v.z; }\n"
            "inline std::istream &operator>>(std::istream &in, int2 &v) { return in >> v.x >> v.y; }\n"
            "void f(std::ifstream &in, float3 v) { in >> v; }\n",
            '#include "cu2port/stream_vector.hpp"\n#include <fstream>\n'
            "inline std::istream &operator>>(std::istream &in, float3 &v) { return in >> v.x >> v.y >> v.z; }\n"
            "using cu2port::operator>>;\n"
            "inline std::istream &operator>>(std::istream &in, int2 &v) { return in >> v.x >> v.y; }\n"
            "void f(std::ifstream &in, float3 v) { in >> v; }\n",
            findings=1,
        ),
        Example(
            "#include <istream>\nusing namespace std;\nistream& operator >> (istream&, double2&);\n",
            '#include "cu2port/stream_vector.hpp"\n#include <istream>\n'
            "using namespace std;\nistream& operator >> (istream&, double2&);\nusing cu2port::operator>>;\n",
            "a prototype",
        ),
        Example(
            "namespace n { std::istream &operator>>(std::istream &in, float3 &v) { return in >> v.x; } }\n",
            "namespace n { std::istream &operator>>(std::istream &in, float3 &v) { return in >> v.x; } }\n",
            "in a namespace, where another cannot find it: reported",
        ),
        Example("std::istream &operator>>(std::istream &in, Bond &b) { return in >> b.n; }\n", note="no vector"),
        Example("std::ostream &operator<<(std::ostream &o, float3 v) { return o << v.x; }\n", note="written"),
        Example(
            "#define READ(T) std::istream &operator>>(std::istream &in, T &v) { return in >> v.x; }\n",
            note="in a macro body the types are not known",
        ),
        Example(
            "struct int1 { int x; };\nstd::istream &operator>>(std::istream &in, int1 &v) { return in >> v.x; }\n",
            note="a type of the project's own, in a source of the host's",
            path="a.cpp",
        ),
        Example("DECLARE(std::istream &operator>>(std::istream &, float3 &));\n", note="as a macro's argument"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _OPERATOR.search(unit.text) is None or f"\n{_USING}\n" in unit.text:
            return
        for i in unit.find("operator"):
            if unit.t[i + 1 : i + 4] != [">", ">", "("] or unit.in_directive(i) is not None:
                continue
            close = unit.match[i + 3]
            m = _INTO.fullmatch(" ".join(unit.t[i + 4 : close])) if 0 < close < i + 18 else None
            if m is None or not VECTORS.match(m[1]) or (for_host(unit) and unit.owns(m[1])):
                continue
            f = unit.function_at(i)
            last = f.body[1] if f is not None and f.name_at == i else close + 1
            if unit.tok(last) not in ("}", ";") or unit.tok(unit.enclosing[i]) == "(":
                continue
            scope = unit.declarations.scope_at(i)
            outside = scope is None or scope.kind == "file"
            yield self.finding(
                f"HIP's `x >> {m[1]}` of any x is as good a match for a stream that is derived of `std::istream`"
                + ("" if outside else "; move this operator out of its namespace, or read with `std::istream &`"),
                unit.p[i],
                unit.end(close),
                (insert(unit.end(last), f"\n{_USING}", Side.LEFT),) if outside else (),
                cuda=m[1],
                effects=(("all", "compile-error"),),
                helpers=("stream_vector.hpp",) if outside else (),
            )
            if outside:
                return
