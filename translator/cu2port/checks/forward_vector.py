from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.declared import VECTORS
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_HEADER = "hip/hip_vector_types.h"


class ForwardVector(Check):
    """A vector type of CUDA's is declared or named as a class: `struct float4;`, `struct float4 *p`.

    HIP's vector types are names for a template, so the declaration makes another type and does not compile beside
    HIP's header. It is taken out and the header included instead; before a variable the word `struct` goes.
    """

    code, name, severity = "CU243", "forward-vector", Severity.INFO
    triggers = frozenset({"struct", "class"})
    examples = (
        Example(
            "struct float4;\nvoid f(float4* p);\n",
            "#include <hip/hip_vector_types.h>\nvoid f(float4* p);\n",
            path="a.h",
        ),
        Example("void f(struct int2 *p, int n);\n", "void f(int2 *p, int n);\n"),
        Example(
            "#define TAKES(p) CHECK((struct float2 *)p)\nint n = CHECK(sizeof(struct double2));\n",
            "#define TAKES(p) CHECK((float2 *)p)\nint n = CHECK(sizeof(double2));\n",
            "in a macro body; as a macro's argument",
        ),
        Example("struct float5;\nstruct dim3;\n", note="no template in HIP"),
        Example("struct float4 { float x, y, z, w; };\n", note="a definition of the user's"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.names(VECTORS, "cdfilsu"):
            return
        for i in unit.find("struct", "class"):
            name, after = unit.tok(i + 1), unit.tok(i + 2)
            if not VECTORS.match(name) or unit.owns(name):
                continue
            start, end = unit.p[i], unit.end(i + 1)
            edit: Edit | None = None
            declares = after == ";" and unit.tok(i - 1) in ("", ";", "{", "}", ")", ">")
            if declares or (after == ";" and unit.in_directive(i - 1) is not None):
                end = unit.end(i + 2)
                edit = replace(*_line(unit, start, end), "")
            elif is_identifier(after or ";") or after in ("*", "&", ")", ">", ",", "const"):
                edit = replace(start, unit.p[i + 1], "")
            if edit is not None:
                yield self.finding(
                    f"`{name}` is no class in HIP but a name for one",
                    start,
                    end,
                    (edit,),
                    cuda=name,
                    needs=(_HEADER,) if edit.end >= end and not _reaches_runtime(unit) else (),
                )


def _reaches_runtime(unit: Unit) -> bool:
    """Whether the file includes a header that brings HIP's vector types."""
    return any(inc.path.startswith(("cuda_runtime", "cuda.h", "vector_types", "hip/")) for inc in unit.includes)


def _line(unit: Unit, start: int, end: int) -> tuple[int, int]:
    """A statement with its line, where nothing else is on it."""
    line = unit.line_start(start)
    rest = re.compile(r"[ \t]*(?:\r\n|\n|\r|\Z)").match(unit.text, end)
    return (start, end) if unit.text[line:start].strip() or rest is None else (line, rest.end())
