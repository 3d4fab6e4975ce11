from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.files import HOST_SUFFIXES, suffix
from cu2port.core.model import Edit, Finding, Severity, Span, Trust
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import may_be_macro

#: Functions that CUDA has for both sides and HIP for the device alone -> what the C++ library has for the host.
_HOST: dict[str, tuple[str | int, ...]] = {
    "rsqrtf": ("(1.0f / sqrtf(", 0, "))"),
    "rsqrt": ("(1 / std::sqrt(", 0, "))"),
    "rcbrtf": ("(1.0f / cbrtf(", 0, "))"),
    "rcbrt": ("(1 / std::cbrt(", 0, "))"),
    "fdividef": ("(static_cast<float>(", 0, ") / static_cast<float>(", 1, "))"),
    "normcdff": ("(0.5f * erfcf(-0.707106781f * (", 0, ")))"),
    "norm3df": ("std::hypot(static_cast<float>(", 0, "), static_cast<float>(", 1, "), static_cast<float>(", 2, "))"),
    "norm3d": ("std::hypot(", 0, ", ", 1, ", ", 2, ")"),
}
_REPORTED = frozenset(
    "sinpi sinpif cospi cospif sincospi sincospif normcdf normcdfinv normcdfinvf erfinv erfinvf erfcinv erfcinvf erfcx "
    "erfcxf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f rhypot rhypotf norm4d norm4df rnorm3d rnorm3df "
    "rnorm4d rnorm4df".split()
)


class HostMath(Check):
    """A function of CUDA's math library is called in host code, where HIP does not have it.

    `rsqrtf` and its like work on both sides in CUDA. In HIP they belong to the device, and clang finds no function to
    call. In functions for the host alone they are written with what the C++ library has; the rest is reported.
    """

    code, name, severity = "CU220", "host-math", Severity.INFO
    triggers = frozenset(_HOST.keys() | _REPORTED)
    examples = (
        Example(
            "float f(int n) { return rsqrtf(n); }\n",
            "#include <cmath>\nfloat f(int n) { return (1.0f / sqrtf(n)); }\n",
        ),
        Example(
            "void f(double a) { CHECK(rsqrt(a + 1)); }\n",
            "#include <cmath>\nvoid f(double a) { CHECK((1 / std::sqrt(a + 1))); }\n",
            "as a macro's argument",
        ),
        Example("double f(double a) { return sinpi(a); }\n", "double f(double a) { return sinpi(a); }\n", "reported"),
        Example("#define R(x) rsqrtf(x)\n", note="in a macro body: nobody knows on which side"),
        Example("__device__ float f(float x) { return rsqrtf(x); }\n", note="the device has it"),
        Example("__host__ __device__ float f(float x) { return rsqrtf(x); }\n", note="maybe only the device calls it"),
        Example("__both float f(float x) { return rsqrtf(x); }\n", note="a macro may say that it is for the device"),
        Example("void f() { run([=] __device__(float x) { return rsqrtf(x); }); }\n", note="a lambda for the device"),
        Example("float rsqrtf(float x) { return 1 / x; }\nfloat f(float x) { return rsqrtf(x); }\n", note="the user's"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = unit.words & (_HOST.keys() | _REPORTED)
        if not names or suffix(unit.path) in HOST_SUFFIXES:
            return
        own = {f.name for f in unit.functions} | unit.project.declared | unit.macros.keys()
        for i in unit.find(*names - own):
            if unit.is_member(i) or not _host_only(unit, i):
                continue
            before = unit.tok(i - 1)
            if before == "::" and unit.qualifier(i) < i - 1:
                continue
            call = unit.call(i) if unit.tok(i + 1) == "(" else None
            if call is None or (is_identifier(before) and before not in ("return", "else", "case")):
                continue
            name = unit.t[i]
            template = _HOST.get(name, ())
            wanted = sum(isinstance(x, int) for x in template)
            edits: tuple[Edit, ...] = ()
            if template and wanted == len(call.args):
                parts = tuple(Span(call.args[x].start, call.args[x].end) if isinstance(x, int) else x for x in template)
                start = unit.p[i - 1] if before == "::" else unit.p[i]
                edits = (Edit(start, unit.end(call.close), parts),)
            yield self.finding(
                f"`{name}` is for the device in HIP, and this function runs on the host",
                unit.p[i],
                unit.end(call.close),
                edits,
                trust=Trust.REVIEW,
                severity=Severity.INFO if edits else Severity.ERROR,
                cuda=name,
                effects=(("all", "compile-error"),),
                needs=("cmath",) if edits else (),
            )


def _host_only(unit: Unit, i: int) -> bool:
    """Whether token i is in a function for the host, and in no lambda for the device."""
    f = unit.function_at(i)
    if f is None or f.sides - {"__host__"} or not f.body[0] < i < f.body[1]:
        return False
    head = set(unit.t[f.first : f.name_at])
    if "constexpr" in head or any(map(may_be_macro, head)):
        return False
    between = unit.t[f.body[0] : i]
    return "__device__" not in between and "__host__" not in between
