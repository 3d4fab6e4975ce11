from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity, Side, Trust, insert
from cu2port.engine.check import Check, Example
from cu2port.facts import std_names
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import NEAR, Directive, is_identifier
from cu2port.syntax.scopes import Scope
from cu2port.syntax.words import BUILTIN_TYPES, KEYWORDS

_MAY_OPEN = re.compile(rf"namespace{NEAR}(?:::{NEAR})?std(?![\w$\x80-\xff])")


class StdName(Check):
    """A type or variable of the program has the name of one in `std` that HIP's headers bring, as `real` and `count`.

    clang includes <algorithm> and <complex> before each HIP source, and HIP's runtime header <tuple>; nvcc includes
    none of them. Below `using namespace std` the name is ambiguous then. A use of it is written with `::`.
    """

    code, name, severity = "CU248", "std-name", Severity.INFO
    triggers = std_names.NAMES
    examples = (
        Example(
            "#include <iostream>\nusing namespace std;\ntypedef float real;\n"
            "__global__ void k(real* p) { real x = p[0]; }\n",
            "#include <iostream>\nusing namespace std;\ntypedef float real;\n"
            "__global__ void k(::real* p) { ::real x = p[0]; }\n",
        ),
        Example(
            "using namespace std;\n__device__ int count;\n__global__ void k() { CHECK(count); }\n",
            "using namespace std;\n__device__ int count;\n__global__ void k() { CHECK(::count); }\n",
            "as a macro's argument",
        ),
        Example(
            "using namespace std;\nint left[3];\n#define FIRST left[0]\n",
            "using namespace std;\nint left[3];\n#define FIRST ::left[0]\n",
            "in a macro body",
        ),
        Example("int count;\n__global__ void k();\nint f() { return count; }\n", note="`std` is not opened"),
        Example(
            "using namespace std;\n__global__ void k(int count) { int left = count; p.left = left; }\n", note="local"
        ),
        Example("using namespace std;\nint f(int* p) { return count(p, p + 2, 1); }\n", note="the one of `std`"),
        Example(
            "using namespace std;\nint count(int);\nint f() { return count(1); }\n", note="a function is an overload"
        ),
        Example(
            "using namespace std;\nnamespace n {\nint count;\nint f() { return count; }\n}\n", note="in a namespace"
        ),
        Example(
            "using namespace std;\nNAMESPACE_BEGIN(n)\nstruct arg { };\nvoid f(const arg& a);\nNAMESPACE_END(n)\n",
            note="in a namespace that a macro opens",
        ),
        Example(
            "using namespace std;\nint count;\n#define F(p, count) f(p, count)\nAPI(int) f(void* p, void* count);\n",
            note="a parameter of a macro, and of a function whose type a macro says",
        ),
        Example("using namespace std;\nint count;\nint f() { return count; }\n", note="a host source", path="a.cpp"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "std" not in unit.others.get(std_names.OPENED, ()) and _MAY_OPEN.search(unit.text) is None:
            return
        by_host = for_host(unit)
        if by_host and "__global__" not in unit.words:
            return
        for name in sorted(unit.words & std_names.NAMES):
            if name in unit.macros or any(unit.tok(i - 1) == "goto" for i in unit.find(name)):
                continue
            here = not std_names.opens_by_macro(unit.words) and std_names.is_global(unit.declarations, name)
            if not here and "" not in unit.others.get(name, ()):
                continue
            for i in unit.find(name):
                if not _is_use(unit, i):
                    continue
                yield self.finding(
                    f"`{name}` is the program's, and `std::{name}` is there too with HIP's headers",
                    unit.p[i],
                    unit.end(i),
                    (insert(unit.p[i], "::", Side.RIGHT),),
                    trust=Trust.REVIEW,
                    effects=(("all", "compile-error"),),
                )


def _is_use(unit: Unit, i: int) -> bool:
    """Whether token i is looked up without qualifiers where `std` is open, and means what is in no namespace."""
    if any(unit.is_member(k) or unit.tok(k - 1) == "::" for k in (i, i - 1)):  # `a.template real<int>()`
        return False
    if unit.tok(i - 1) in ("#", "##", "~") or unit.tok(i + 1) == "::" or unit.declares(i):
        return False
    if unit.tok(i - 1) in ("*", "&") and unit.tok(i - 2) in BUILTIN_TYPES:  # `void* count`
        return False
    directive = unit.in_directive(i)
    if directive is not None and (directive.keyword != "define" or _is_parameter(unit, directive, i)):
        return False
    d = unit.declarations.visible(unit.t[i], i)
    if (d is not None and not std_names.is_outside(d)) or _may_inherit(unit, unit.declarations.scope_at(i), i):
        return False
    return "std" in unit.others.get(std_names.OPENED, ()) or "std" in unit.declarations.opened(i)


def _is_parameter(unit: Unit, define: Directive, i: int) -> bool:
    """Whether token i of a macro's definition is a parameter of it, or its name there."""
    named = unit.macros.get(unit.tok(define.first + 2), ())
    return any(unit.t[i] in (m.params or ()) for m in named if m.directive.first == define.first)


def _may_inherit(unit: Unit, scope: Scope | None, i: int) -> bool:
    """Whether a scope is in a class that others may give members to, or in the class of that name itself. A class that
    is elsewhere (`A::f`) may have a base that is not the tree's, whose member is no type, as far as is known."""
    name = unit.t[i]
    in_classes = not _is_type(unit, i) or any(unit.others.get(name, ()))
    while scope is not None:
        if scope.bases or (scope.owner and in_classes) or (scope.kind == "class" and scope.name == name):
            return True
        scope = scope.parent
    return False


def _is_type(unit: Unit, i: int) -> bool:
    """Whether a name must be that of a type: of a declaration (`real x`), or of a cast (`= (real)x`)."""
    if unit.tok(i - 1) != "(" or unit.tok(i + 1) != ")":
        return is_identifier(unit.tok(i + 1)) and unit.tok(i + 1) not in KEYWORDS
    before, after = unit.tok(i - 2), unit.tok(i + 2)
    opens = not is_identifier(before) or before == "return"
    return opens and (after == "(" or (is_identifier(after) and after not in KEYWORDS))
