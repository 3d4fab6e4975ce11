from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.operands import own_tokens
from cu2port.syntax.tree import Binary, Member, Name

_PROPERTIES = frozenset({"cudaDeviceProp", "hipDeviceProp_t"})
_FAR, _MOST = 2000, 10  # tokens behind the call that are read, and places of the variable
_VERSIONS = ("ptxVersion", "binaryVersion")
_ASKED = frozenset(
    """cudaDevAttrComputeCapabilityMajor cudaDevAttrComputeCapabilityMinor
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
    CU_FUNC_ATTRIBUTE_PTX_VERSION CU_FUNC_ATTRIBUTE_BINARY_VERSION""".split()
)
_COMPARE = frozenset({"<", ">", "<=", ">=", "==", "!="})


class ComputeCapability(Check):
    """The program decides on a device's compute capability, which means nothing on AMD GPUs.

    HIP fills `major` and `minor` from the GPU's own number (9 and 4 on gfx942), so a test for sm_70 may pass or fail
    by chance: gfx90a has the number of a Hopper GPU. `ptxVersion` and `binaryVersion` of a function mean as little. Ask
    for the feature, or for `gcnArchName`.
    """

    code, name, severity = "CU601", "compute-capability", Severity.WARNING
    triggers = frozenset({*_ASKED, *_VERSIONS, *_PROPERTIES})
    minutes = 15
    examples = (
        Example(
            "void f(cudaDeviceProp p) { if (p.major >= 7) g(); }",
            "void f(hipDeviceProp_t p) { if (p.major >= 7) g(); }",
        ),
        Example(
            "int f() { int m; cudaDeviceGetAttribute(&m, cudaDevAttrComputeCapabilityMajor, 0); return m < 7; }",
            "int f() { int m; hipDeviceGetAttribute(&m, hipDeviceAttributeComputeCapabilityMajor, 0); return m < 7; }",
            "asked for by its attribute",
            findings=1,
        ),
        Example(
            "void f(cudaFuncAttributes a) { h(a.ptxVersion >= 70); }",
            "void f(hipFuncAttributes a) { h(a.ptxVersion >= 70); }",
        ),
        Example(
            "int f(cudaDeviceProp p) { return ((p.major << 4) + p.minor) >= 0x35; }",
            "int f(hipDeviceProp_t p) { return ((p.major << 4) + p.minor) >= 0x35; }",
            note="a number of both",
            findings=2,
        ),
        Example(
            "int f(cudaDeviceProp p) { switch (p.major) { case 7: return 64; default: return 128; } }",
            "int f(hipDeviceProp_t p) { switch (p.major) { case 7: return 64; default: return 128; } }",
            "a table by generation",
        ),
        Example('void f(cudaDeviceProp p) { printf("%d", p.major); }', note="shown to people"),
        Example("void f(Version v) { if (v.major >= 7) g(); }", note="another's member"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = _VERSIONS + (("major", "minor") if unit.words & _PROPERTIES else ())
        for i in unit.find(*_ASKED):
            yield from self._attribute(unit, i)
        for i in unit.find(*names):
            if unit.tok(i - 1) not in (".", "->"):
                continue
            if _decides(unit, i):
                start = unit.p[own_tokens(around(unit, i)[0])[0]] if unit.t[i - 2] in ("]", ")") else unit.p[i - 2]
                yield self.finding(
                    f"`{' '.join(unit.text[start : unit.end(i)].split())}` is not a compute capability on AMD GPUs",
                    start,
                    unit.end(i),
                    effects=(("all", "wrong-result"),),
                )

    def _attribute(self, unit: Unit, i: int) -> Iterator[Finding]:
        """What is decided on an attribute that a call at token i asks for."""
        opened, f = unit.enclosing[i], unit.function_at(i)
        if opened < 0 or f is None or not unit.split_args(opened + 1, unit.match[opened]):
            return
        first = unit.split_args(opened + 1, unit.match[opened])[0]
        words = [w for w in unit.t[unit.lexed.at(first.start) : unit.lexed.at(first.end)] if w.isidentifier()]
        for k in unit.between(i, min(i + _FAR, f.body[1]), *words[-1:])[:_MOST]:
            if _decides(unit, k):
                yield self.finding(
                    f"`{unit.t[k]}` is not a compute capability on AMD GPUs",
                    unit.p[k],
                    unit.end(k),
                    effects=(("all", "wrong-result"),),
                )
                return


def _decides(unit: Unit, i: int) -> bool:
    """Whether the variable or member at token i is compared, multiplied (`p.major * 10 + p.minor`) or switched on."""
    opened = unit.enclosing[i]
    if opened > 0 and unit.t[opened - 1] == "switch":
        return True
    path = around(unit, i)
    for inner, outer in pairwise(path):
        if not isinstance(inner, (Name, Member, Binary)) or not isinstance(outer, Binary):
            return False
        if outer.op in _COMPARE or (outer.op == "*" and outer.a is path[0]):
            return True
    return False
