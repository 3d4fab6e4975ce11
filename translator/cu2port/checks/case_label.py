from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class CaseLabel(RowCheck):
    """A `case` label or a comparison names an enumerator that HIP lacks, or two labels are the same in HIP.

    HIP never returns a value that it does not know, and two equal labels do not compile. The label goes, with the
    `return` or `break` behind it where nothing else can run into it; other statements stay. A comparison of a variable
    with such a status becomes `false` or `true`.
    """

    code, name, severity = "CU112", "case-label", Severity.INFO
    kind = Kind.LABEL
    examples = (
        Example(
            'switch (e) {\n    case cudaErrorMixedDeviceExecution:\n        return "mixed";\n'
            '    case cudaSuccess:\n        return "fine";\n}\n',
            'switch (e) {\n    case hipSuccess:\n        return "fine";\n}\n',
        ),
        Example(
            "switch (e) { case cudaErrorMixedDeviceExecution: case cudaSuccess: f(); }",
            "switch (e) {  case hipSuccess: f(); }",
            "a shared statement stays",
        ),
        Example(
            "#define BODY switch (e) { case cudaErrorMixedDeviceExecution: return 2; case cudaSuccess: return 1; }\n",
            "#define BODY switch (e) {  case hipSuccess: return 1; }\n",
            "in a macro body",
        ),
        Example(
            "IN(switch (e) { case cudaErrorMixedDeviceExecution: return 2; case cudaSuccess: return 1; })",
            "IN(switch (e) {  case hipSuccess: return 1; })",
            "as a macro's argument",
        ),
        Example(
            "switch (e) { case cudaError_t::cudaErrorMixedDeviceExecution: return; case cudaError_t::cudaSuccess: }",
            "switch (e) {  case hipError_t::hipSuccess: }",
            "named with its enumeration",
        ),
        Example(
            "int s = 0; switch (e) { case cudaErrorMixedDeviceExecution: s = 2; break; case cudaSuccess: s = 1; }",
            "int s = 0; switch (e) {  s = 2; break; case hipSuccess: s = 1; }",
            "what nothing jumps to any more",
        ),
        Example(
            '#define ID(x) case x: return ""\nswitch (e) {\n  ID(cudaSuccess);\n  ID(cudaErrorNotPermitted);\n}\n',
            '#define ID(x) case x: return ""\nswitch (e) {\n  ID(hipSuccess);\n}\n',
            "labels that a macro makes",
        ),
        Example("switch (e) { case cudaSuccess: f(); break; case 7: g(); }", note="a value that HIP has"),
        Example(
            "if (e == cudaErrorNoDevice || e == cudaErrorNotPermitted) f();",
            "if (e == hipErrorNoDevice || false) f();",
            "a comparison",
        ),
        Example("bool fine = CUDA_ERROR_NOT_PERMITTED != r->status;", "bool fine = true;"),
        Example("if (f(x) == cudaErrorNotPermitted) g();", note="a call, which has to stay"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
