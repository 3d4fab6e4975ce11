from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.files import HOST_SUFFIXES, suffix
from cu2port.core.model import Edit, Finding, Severity, Span, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.branches import skipped_by_nvcc, skipped_on_host
from cu2port.facts.structure import Call
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
#: What `cu2port/host_math.hpp` has for both sides.
_BOTH = frozenset(
    f"{name}{suffix}"
    for name in "rsqrt rcbrt sinpi cospi sincospi normcdf rhypot norm3d rnorm3d norm4d rnorm4d".split()
    for suffix in ("", "f")
) | {"fdividef"}
_REPORTED = frozenset(
    "normcdfinv normcdfinvf erfinv erfinvf erfcinv erfcinvf erfcx erfcxf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 "
    "cyl_bessel_i1f".split()
)
HEADER = "host_math.hpp"


class HostMath(Check):
    """A function of CUDA's math library is called in host code, where HIP does not have it.

    `rsqrtf` and its like work on both sides in CUDA. In HIP they belong to the device, and clang finds no function to
    call. In functions for the host alone they are written with what the C++ library has. In those for both sides, and
    for others, they become those of `cu2port/host_math.hpp`; what is not there is reported.
    """

    code, name, severity = "CU220", "host-math", Severity.INFO
    triggers = _BOTH | _REPORTED
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
        Example(
            "double f(double a) { return sinpi(a); }\n",
            '#include "cu2port/host_math.hpp"\ndouble f(double a) { return cu2port::sinpi(a); }\n',
        ),
        Example(
            "__host__ __device__ float f(float x) { return rsqrtf(x); }\n",
            '#include "cu2port/host_math.hpp"\n__host__ __device__ float f(float x) { return cu2port::rsqrtf(x); }\n',
            "for both sides",
        ),
        Example(
            "#ifndef __CUDACC__\ninline float rsqrtf(float x) { return 1 / sqrtf(x); }\n#endif\n"
            "inline __host__ __device__ float f(float x) { return rsqrtf(x); }\n",
            '#include "cu2port/host_math.hpp"\n'
            "#ifndef __HIPCC__\ninline float rsqrtf(float x) { return 1 / sqrtf(x); }\n#endif\n"
            "inline __host__ __device__ float f(float x) { return cu2port::rsqrtf(x); }\n",
            "the user's is for another compiler",
        ),
        Example("double f(double a) { return erfinv(a); }\n", "double f(double a) { return erfinv(a); }\n", "reported"),
        Example("#define R(x) rsqrtf(x)\n", note="in a macro body: nobody knows on which side"),
        Example("__device__ float f(float x) { return rsqrtf(x); }\n", note="the device has it"),
        Example("__host__ __device__ float f(float x) { return erfinv(x); }\n", note="maybe only the device calls it"),
        Example("__both float f(float x) { return rsqrtf(x); }\n", note="a macro may say that it is for the device"),
        Example("void f() { run([=] __device__(float x) { return rsqrtf(x); }); }\n", note="a lambda for the device"),
        Example("float rsqrtf(float x) { return 1 / x; }\nfloat f(float x) { return rsqrtf(x); }\n", note="the user's"),
        Example(
            "__host__ __device__ float f(float a) {\n#ifdef __CUDA_ARCH__\n  return rsqrtf(a);\n"
            "#else\n  return 1 / sqrtf(a);\n#endif\n}\n",
            note="in the branch for the device",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = unit.words & self.triggers
        if not names or (suffix(unit.path) in HOST_SUFFIXES and not unit.project.as_cuda):
            return
        functions = {f.name for f in unit.functions if not skipped_by_nvcc(unit, unit.p[f.name_at])}
        for i in unit.find(*names - functions - unit.project.declared - unit.macros.keys()):
            call = called(unit, i)
            if call is None or skipped_by_nvcc(unit, unit.p[i]) or skipped_on_host(unit, unit.p[i]):
                continue
            name, first = unit.t[i], i - (unit.tok(i - 1) == "::")
            both = _sides(unit, i) == {"__host__", "__device__"}
            if not both and not host_only(unit, i):
                continue
            edits: tuple[Edit, ...] = ()
            needs: tuple[str, ...] = ()
            helpers: tuple[str, ...] = ()
            template = () if both else _HOST.get(name, ())
            if template and sum(isinstance(x, int) for x in template) == len(call.args):
                parts = tuple(Span(call.args[x].start, call.args[x].end) if isinstance(x, int) else x for x in template)
                edits, needs = (Edit(unit.p[first], unit.end(call.close), parts),), ("cmath",)
            elif name in _BOTH:
                edits, helpers = (replace(unit.p[first], unit.end(i), f"cu2port::{name}"),), (HEADER,)
            elif both:
                continue
            yield self.finding(
                f"`{name}` is for the device in HIP, and this function runs on the host" + (" too" if both else ""),
                unit.p[i],
                unit.end(call.close),
                edits,
                trust=Trust.EXACT if both else Trust.REVIEW,
                severity=Severity.INFO if edits else Severity.ERROR,
                cuda=name,
                effects=(("all", "compile-error"),),
                needs=needs,
                helpers=helpers,
            )


def called(unit: Unit, i: int) -> Call | None:
    """The call of what may be CUDA's function at token i."""
    before = unit.tok(i - 1)
    if unit.is_member(i) or (before == "::" and unit.qualifier(i) < i - 1) or unit.tok(i + 1) != "(":
        return None
    if is_identifier(before) and before not in ("return", "else", "case"):
        return None
    return unit.call(i)


def runs_on_host(unit: Unit, i: int) -> bool:
    """Whether token i is in code that runs on the host, on the device too perhaps, or in none that is seen to run."""
    return unit.function_at(i) is None or _sides(unit, i) == {"__host__", "__device__"} or host_only(unit, i)


def _sides(unit: Unit, i: int) -> frozenset[str]:
    """The words for sides of the function whose body token i is in; none in a lambda that has such words itself."""
    f = unit.function_at(i)
    if f is None or not f.body[0] < i < f.body[1] or {"__device__", "__host__"} & {*unit.t[f.body[0] : i]}:
        return frozenset()
    return frozenset(f.sides)


def host_only(unit: Unit, i: int) -> bool:
    """Whether token i is in a function for the host, and in no lambda for the device."""
    f = unit.function_at(i)
    if f is None or f.sides - {"__host__"} or not f.body[0] < i < f.body[1]:
        return False
    head = set(unit.t[f.first : f.name_at])
    if "constexpr" in head or any(map(may_be_macro, head)):
        return False
    between = unit.t[f.body[0] : i]
    return "__device__" not in between and "__host__" not in between
