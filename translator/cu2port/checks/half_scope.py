from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import KEYWORDS

#: Functions that hip_fp16.h and hip_bf16.h both declare.
_BOTH = frozenset(
    "__habs __habs2 __hadd __hadd2 __hbeq2 __hbequ2 __hbge2 __hbgeu2 __hbgt2 __hbgtu2 __hble2 __hbleu2 __hblt2 "
    "__hbltu2 __hbne2 __hbneu2 __hdiv __heq __heq2 __hequ __hfma __hfma2 __hge __hge2 __hgeu __hgt __hgt2 __hgtu "
    "__hisinf __hisnan __hisnan2 __hle __hle2 __hleu __hlt __hlt2 __hltu __hmul __hmul2 __hne __hne2 __hneg "
    "__hneg2 __hneu __hsub __hsub2 h2ceil h2cos h2exp h2exp10 h2exp2 h2floor h2log h2log10 h2log2 h2rcp h2rint "
    "h2rsqrt h2sin h2sqrt h2trunc hceil hcos hexp hexp10 hexp2 hfloor hlog hlog10 hlog2 hrcp hrint hrsqrt hsin "
    "hsqrt htrunc".split()
)


class HalfScope(Check):
    """A function of half numbers is called with `::` before its name: `::hexp(x)`.

    HIP declares the functions of half in an unnamed namespace, and those of bfloat16 outside of it. Where both headers
    are included, `::hexp` finds that of bfloat16 alone. Without `::` both are found, unless the code declares that name
    itself.
    """

    code, name, severity = "CU247", "half-scope", Severity.INFO
    triggers = _BOTH
    examples = (
        Example(
            "namespace n { __device__ half f(half h) { return ::hexp(h); } }\n",
            "namespace n { __device__ half f(half h) { return hexp(h); } }\n",
        ),
        Example("#define EXP(x) ::hexp(x)\n", "#define EXP(x) hexp(x)\n", "in a macro body"),
        Example(
            "__device__ void f(half h) { CHECK(::__hadd(h, h)); }\n",
            "__device__ void f(half h) { CHECK(__hadd(h, h)); }\n",
            "as a macro's argument",
        ),
        Example("__device__ half g(half h) { return n::hexp(h); }\n", note="of another namespace"),
        Example("namespace n { __device__ half hexp(half h) { return ::hexp(h); } }\n", note="it would call itself"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_BOTH):
            owner = unit.tok(i - 2)
            if unit.tok(i - 1) != "::" or unit.tok(i + 1) != "(" or unit.owns(unit.t[i]):
                continue
            if owner != ">" and not (is_identifier(owner or ";") and owner not in KEYWORDS):
                yield self.finding(
                    f"`::{unit.t[i]}` is that of bfloat16 alone in HIP; without `::` that of half is found too",
                    unit.p[i - 1],
                    unit.end(i),
                    (replace(unit.p[i - 1], unit.p[i], ""),),
                    trust=Trust.REVIEW,
                    effects=(("all", "compile-error"),),
                )
