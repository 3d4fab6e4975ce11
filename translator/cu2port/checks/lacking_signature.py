from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.catalog.includes import include_findings
from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Severity, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.atoms import VERSION_MACROS, names_hip
from cu2port.facts.unit import Unit, condition_words
from cu2port.syntax.scopes import Declaration

_OPEN = frozenset({"file", "namespace", "template"})
_BEFORE = "#ifndef __HIP_PLATFORM_AMD__ // `{}` is not in HIP\n"
_AFTER = "#endif\n"
_GUARD = _BEFORE.format("cusolverIRSRefinement_t")
_REFINE = "template <class T>\nvoid refine(T *a, cusolverIRSRefinement_t kind);\n"
_RESULT = "inline cusolverIRSRefinement_t none() {\n  return CUSOLVER_IRS_REFINE_NONE;\n} // n\n"
_ONLY_COMMENT = regex(r"//|/\*[^*]*\*/\Z")


class LackingSignature(Check):
    """A function of a header takes or returns a type that HIP lacks.

    Every file that includes the header would not compile, also those that never call the function. It is left out where
    the code is compiled for AMD, so that only its callers do not compile: they name such a type too, and CU103 lists
    them. Members of classes and functions of sources stay.
    """

    code, name, severity = "CU115", "lacking-signature", Severity.INFO
    of_headers = True
    examples = (
        Example(
            f"{_REFINE}bool on(int n);\n",
            f"{_GUARD}{_REFINE}#endif\nbool on(int n);\n",
            "a parameter's type",
            findings=1,
        ),
        Example(f"namespace n {{\n{_RESULT}}}\n", f"namespace n {{\n{_GUARD}{_RESULT}#endif\n}}\n", "what it returns"),
        Example(
            f"{_REFINE}__device__ int f(int v) {{ return __shfl_sync(~0u, v, 0); }}\n",
            f'#include "cu2port/warp.hpp"\n{_GUARD}{_REFINE}#endif\n'
            "__device__ int f(int v) { return cu2port::warp::shfl(~0u, v, 0); }\n",
            "what is included is for all",
        ),
        Example("void f(int kind = CUSOLVER_IRS_REFINE_NONE);\n", note="a value: another `f` may be called instead"),
        Example("struct S { void set(cusolverIRSRefinement_t kind); };\n", note="a member"),
        Example(_REFINE, path="a.cu", note="a source, which is compiled alone"),
        Example(f"#include <nvgraph.h>\n{_REFINE}", note="the header does not compile anyway"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        lacking = api_facts(unit).findings.get(Kind.UNSUPPORTED, ())
        if not lacking or include_findings(unit).get(Kind.UNKNOWN_HEADER):
            return
        tokens = {bisect_left(unit.p, f.start): f.cuda for f in lacking}
        places = sorted(tokens)
        for d in unit.declarations.outer():
            if d.kind != "function" or d.qualified or d.scope.kind not in _OPEN:
                continue
            near = places[bisect_left(places, d.first) : bisect_left(places, d.stop)]
            names = [tokens[i] for i in near if _is_of_signature(unit, d, i)]
            edits = _left_out(unit, d, names[0]) if names else ()
            if edits:
                yield self.finding(
                    f"`{d.name}` is left out for AMD, since HIP has no `{names[0]}`: its callers do not compile",
                    unit.p[d.at],
                    unit.end(d.at),
                    edits,
                    cuda=names[0],
                )


def _is_of_signature(unit: Unit, d: Declaration, i: int) -> bool:
    """Whether token i is in the type of a function's result, or in that of a parameter with a name."""
    if d.type_first <= i < d.type_stop:
        return True
    scope = unit.declarations.scope_at(i)
    named = (p for found in scope.names.values() for p in found)
    return scope.kind == "function" and any(p.kind == "parameter" and p.type_first <= i < p.type_stop for p in named)


def _left_out(unit: Unit, d: Declaration, name: str) -> tuple[Edit, ...]:
    """A condition around a declaration that has its lines for itself; nothing where it has not."""
    first = d.first
    scope = unit.declarations.scope_at(d.at)
    while scope.kind == "template" and scope.parent is not None:
        first, scope = min(first, scope.first), scope.parent
    start, end = unit.line_start(unit.p[first]), unit.end(d.stop - 1)
    line = unit.text.find("\n", end) + 1 or len(unit.text)
    rest = unit.text[end:line].strip()
    if unit.text[start : unit.p[first]].strip() or (rest and not _ONLY_COMMENT.match(rest)):
        return ()
    if unit.tok(first - 1) not in ("", "{", "}", ";") and unit.in_directive(first - 1) is None:
        return ()
    around = unit.conditions(start)
    asked = frozenset[str]().union(*(condition_words(unit, g) for g in around))
    if around != unit.conditions(end) or asked & VERSION_MACROS or any(map(names_hip, asked)):
        return ()
    after = _AFTER if unit.text[line - 1 : line] == "\n" else f"\n{_AFTER}"
    # one edit, so that an include that is added at its start stays in front of it
    return (Edit(start, line, (_BEFORE.format(name), Span(start, line), after)),)
