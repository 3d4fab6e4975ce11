from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import is_value
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import alias_of
from cu2port.syntax.words import KEYWORDS

_RESTRICT = re.compile(r"__restrict(?<!\w__restrict)")  # it begins with text, which is found fast
_QUALIFIERS = ("const", "volatile")
_BLANKS = " \t\n\r\f\v"


class ValueRestrict(Check):
    """`__restrict__` beside the type of a value: `half __restrict__ (*p)[8]`, `const __restrict__ float *v`.

    nvcc takes and ignores it there, clang needs a pointer or a reference before the word. It is dropped. Behind the `*`
    it would mean something, and may be worth a word of your own.
    """

    code, name, severity = "CU228", "value-restrict", Severity.INFO
    triggers = frozenset({"__restrict__", "__restrict"})
    examples = (
        Example("void f(half __restrict__ (*p)[8]);", "void f(half (*p)[8]);"),
        Example("void f(float const __restrict__ *a, int __restrict b[]);", "void f(float const *a, int b[]);"),
        Example("void f(u_int32_t __restrict__ r[][4]);", "void f(u_int32_t r[][4]);", "glibc's names of types too"),
        Example(
            "void f(const __restrict__ uint32_t *a, __restrict__ const int *b);",
            "void f(const uint32_t *a, const int *b);",
        ),
        Example(
            "template<class T> void f(T *v) { const T __restrict__ *a = v; }",
            "template<class T> void f(T *v) { const T *a = v; }",
            "a template's parameter",
        ),
        Example("void f(dim3 __restrict__ *a, std::less<int> __restrict__ &b);", "void f(dim3 *a, std::less<int> &b);"),
        Example("struct S; void f(__restrict__ S *a, __restrict S const &b);", "struct S; void f(S *a, S const &b);"),
        Example("typedef float *row; void f(row __restrict__ *a);", note="a type that is a pointer"),
        Example("#define ROW float __restrict__ row[]\n", "#define ROW float row[]\n", "in a macro body"),
        Example("DECLARE(float __restrict__ *a)", "DECLARE(float *a)", "as a macro's argument"),
        Example("template<class T> void f(T __restrict__ a);", note="a parameter that may be a pointer"),
        Example("void f(float* __restrict__ a, rows __restrict__ b);", note="behind a pointer, or a type of yours"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not any(_is_after_value(unit.text, m.start()) for m in _RESTRICT.finditer(unit.text)):
            return
        for i in unit.find("__restrict__", "__restrict"):
            before, behind = i - 1, i + 1
            while unit.tok(before) in _QUALIFIERS:
                before -= 1
            while unit.tok(behind) in _QUALIFIERS:
                behind += 1
            typed = is_value(unit.tok(behind)) and _is_after_value(unit.text, unit.p[before + 1])
            typed = typed or is_value(unit.tok(before)) or _is_of_program(unit, before, behind)
            if i + 1 < len(unit.t) and (typed or _begins_type(unit, before, behind)):
                yield self.finding(
                    f"`{unit.t[i]}` needs a pointer or a reference before it",
                    unit.p[i],
                    unit.end(i),
                    (replace(unit.p[i], unit.p[i + 1], ""),),
                    effects=(("all", "compile-error"),),
                )


def _is_after_value(text: str, at: int) -> bool:
    """Whether what is before a place is no `*` or `&`; `const` and a comment may be what is before, too."""
    while at and text[at - 1] in _BLANKS:
        at -= 1
    return at > 0 and text[at - 1] not in "*&"


def _is_of_program(unit: Unit, i: int, behind: int) -> bool:
    """Whether token `i` ends a type of the program's own, or a type parameter of a template, and a pointer or a
    reference to it follows at `behind`: nothing in the file says that the type is a pointer itself."""
    if unit.tok(behind) not in ("*", "&"):
        return False
    word = unit.tok(i)
    if word == ">":
        return True
    named = unit.declarations.named(word) if is_identifier(word) and word not in KEYWORDS else None
    return named is not None and not any(_names_pointer(unit, d) for d in named)


def _begins_type(unit: Unit, before: int, i: int) -> bool:
    """Whether a parameter begins before token `i` with such a type, `f(__restrict__ count *a)`."""
    if unit.tok(before) not in ("(", ","):
        return False
    while unit.tok(i + 1) == "::" and is_identifier(unit.tok(i + 2)):
        i += 2
    behind = i + 1
    while unit.tok(behind) in _QUALIFIERS:
        behind += 1
    return _is_of_program(unit, i, behind)


def _names_pointer(unit: Unit, d: Declaration) -> bool:
    """Whether a `using` or a `typedef` names a pointer."""
    _, stop = alias_of(unit.t, d)
    return bool(stop) and (d.pointers > 0 or unit.tok(stop - 1) == "*")
