from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.checks.host_math import HEADER, called, runs_on_host
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import argument_types
from cu2port.facts.named_types import ARITHMETIC, SMALL, Typed, names_class
from cu2port.facts.unit import Unit

_ORDERED = frozenset({"jn", "yn"})  # whose first argument is an integer
_NAMES = _ORDERED | frozenset(
    "rsqrt rcbrt sinpi cospi exp10 erfinv erfcinv erfcx normcdf normcdfinv j0 j1 y0 y1 cyl_bessel_i0 "
    "cyl_bessel_i1".split()
)
_REAL = "#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"


class FloatMath(Check):
    """A function of CUDA's math library is called in device code for `float`, where HIP has `double` alone.

    CUDA has `rsqrt(float)` and its like as overloads of those for `double`. HIP computes them in `double`: that is
    slower, and templates and `auto` get another type. The function with an `f` is called; where a template, a name
    for a type or another file decides the type, one of `cu2port/host_math.hpp` that has both.
    """

    code, name, severity = "CU256", "float-math", Severity.INFO
    triggers = _NAMES
    examples = (
        Example(
            "__device__ float f(float x) { return rsqrt(x * 2.0f); }\n",
            "__device__ float f(float x) { return rsqrtf(x * 2.0f); }\n",
        ),
        Example(
            "template <class T> __device__ T f(T x) { return erfinv(x); }\n",
            '#include "cu2port/host_math.hpp"\ntemplate <class T> __device__ T f(T x) { return cu2port::erfinv(x); }\n',
            "of a template's type",
        ),
        Example(
            "__device__ void f(float* p) { CHECK(::jn(2, *p)); }\n",
            "__device__ void f(float* p) { CHECK(::jnf(2, *p)); }\n",
            "as a macro's argument",
        ),
        Example(
            f"{_REAL}__global__ void k(real* p) {{ *p = rsqrt(*p); }}\n",
            f'#include "cu2port/host_math.hpp"\n{_REAL}__global__ void k(real* p) {{ *p = cu2port::rsqrt(*p); }}\n',
            "of a type that is chosen",
        ),
        Example("struct S {};\n__device__ S f(S s, half h) { return rsqrt(s) + rsqrt(h); }\n", note="classes"),
        Example("#define R(x) rsqrt(x)\n", note="in a macro body the type is not known"),
        Example("__device__ double f(double x, int n) { return rsqrt(x) + jn(n, 2.0 * x); }\n", note="double"),
        Example(
            "__device__ float rsqrt(float x);\n__device__ float f(float x) { return rsqrt(x); }\n", note="the user's"
        ),
        Example("__device__ float f(S s) { return s.rsqrt(1.0f) + n::rsqrt(1.0f); }\n", note="other functions"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit) and "__device__" not in unit.words:
            return
        names = unit.words & _NAMES
        if not names:
            return
        calls = [(i, call) for i in unit.find(*names) if (call := called(unit, i)) is not None]
        calls = [(i, call) for i, call in calls if len(call.args) == 1 + (unit.t[i] in _ORDERED)]
        # `j0` and `y1` are more often variables: scopes are read for what is called
        names = {unit.t[i] for i, _ in calls} - unit.macros.keys()
        names = {n for n in names if not unit.owns(n) and not unit.declarations.named(n)}
        found = [(i, call) for i, call in calls if unit.t[i] in names and not runs_on_host(unit, i)]
        types = argument_types(unit, found) if found else {}
        for i, call in found:
            name, kind = unit.t[i], types[i][-1]
            if (kind != "float" and kind in ARITHMETIC | SMALL) or names_class(unit, Typed(kind), i):
                continue
            first = i - (unit.tok(i - 1) == "::")
            edit = replace(unit.p[i], unit.end(i), f"{name}f") if kind == "float" else None
            yield self.finding(
                f"HIP has `{name}` for double alone",
                unit.p[i],
                unit.end(call.close),
                (edit or replace(unit.p[first], unit.end(i), f"cu2port::{name}"),),
                cuda=name,
                effects=(("all", "slower"),),
                helpers=() if edit else (HEADER,),
            )
