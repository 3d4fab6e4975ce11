from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, Trust, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, head_around
from cu2port.syntax.operands import tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.tree import Assign, Binary, Decl, Expr, Num, Unary
from cu2port.syntax.types import written

_TYPE = "cufftHandle"
_CUDA, _HIP = "#include <cufft.h>\n", "#include <hipfft/hipfft.h>\n"  # of examples
_FUNCTIONS = frozenset(
    f"cufft{name}"
    for name in "Create Destroy ExecC2C ExecC2R ExecD2Z ExecR2C ExecZ2D ExecZ2Z MakePlan1d MakePlan2d MakePlan3d "
    "MakePlanMany Plan1d Plan2d Plan3d PlanMany SetStream".split()
)
_COMPARED = frozenset({"==", "!="})
_OBJECTS = frozenset({"variable", "parameter", "member"})


class PlanNumber(Check):
    """A number is given to a `cufftHandle`, or it is compared with one: `plan = -1`, as a plan that is none yet.

    A plan is an integer in CUDA and a pointer in HIP, which takes no number but 0. The number is cast to the type.
    Names are followed that the file declares so, and members that it gives to a function of cuFFT as the plan. What
    orders plans (`plan > 0`) or goes through a macro is left, and the compiler refuses it.
    """

    code, name, severity = "CU269", "plan-number", Severity.INFO
    triggers = frozenset({_TYPE, *_FUNCTIONS})
    examples = (
        Example(
            _CUDA + "struct S { cufftHandle p, q; S() { p = -1; q = 0; } };\n",
            _HIP + "struct S { hipfftHandle p, q; S() { p = (hipfftHandle)-1; q = 0; } };\n",
            "0 is a null pointer",
        ),
        Example(
            _CUDA + "cufftHandle plan = -1;\nvoid f() { if (plan != -1) cufftDestroy(plan); }\n",
            _HIP + "hipfftHandle plan = (hipfftHandle)-1;\n"
            "void f() { if (plan != (hipfftHandle)-1) hipfftDestroy(plan); }\n",
            findings=2,
        ),
        Example(
            _CUDA + "template <class P> void f(P *p) {\n"
            "    p->there = -1, p->other = -1;\n    cufftPlan1d(&p->there, 8, CUFFT_C2C, 1);\n}\n",
            _HIP + "template <class P> void f(P *p) {\n"
            "    p->there = (hipfftHandle)-1, p->other = -1;\n    hipfftPlan1d(&p->there, 8, HIPFFT_C2C, 1);\n}\n",
            "a member that another file declares",
        ),
        Example(
            _CUDA + "#define NONE(s) s.p = -1\nstruct S { cufftHandle p; };\n",
            _HIP + "#define NONE(s) s.p = (hipfftHandle)-1\nstruct S { hipfftHandle p; };\n",
            "in a macro body",
        ),
        Example(
            _CUDA + "#define CHECK(x) if (!(x)) return\nvoid f(cufftHandle p) { CHECK(p != -1); }\n",
            _HIP + "#define CHECK(x) if (!(x)) return\nvoid f(hipfftHandle p) { CHECK(p != (hipfftHandle)-1); }\n",
            "as a macro's argument",
        ),
        Example(_CUDA + "void f(cufftHandle *p) { int plan = -1; p = 0; plan = plan != -1; }\n", note="no plan"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = sorted(_declared(unit) | _passed(unit))
        for i in unit.find(*names) if names else ():
            value = _number(unit, i) if _is_plan(unit, i) else None
            if value is None:
                continue
            first, last = tokens(value)
            yield self.finding(
                f"`{unit.text[unit.p[first] : unit.end(last)]}` is no `hipfftHandle`, which is a pointer",
                unit.p[first],
                unit.end(last),
                (insert(unit.p[first], "(hipfftHandle)", Side.RIGHT),),
                trust=Trust.EXACT,
                cuda=_TYPE,
                effects=(("all", "compile-error"),),
            )


def _declared(unit: Unit) -> frozenset[str]:
    """The names that the file declares as plans."""
    found = (d for i in unit.find(_TYPE) for d in _of_type(unit, i))
    return frozenset(found)


def _of_type(unit: Unit, i: int) -> list[str]:
    names = unit.declarations.scope_at(i).names.values()
    return [
        d.name
        for found in names
        for d in found
        if d.type_first <= i < d.type_stop and d.kind in _OBJECTS and not (d.pointers or d.arrays)
    ]


def _passed(unit: Unit) -> frozenset[str]:
    """The members that functions of cuFFT get as the plan."""
    found = set()
    for i in unit.find(*sorted(unit.words & _FUNCTIONS)):
        call = unit.call(i)
        if call is not None and call.args:
            last = max(k for k in range(call.open, call.close) if unit.p[k] < call.args[0].end)
            if unit.is_member(last):
                found.add(unit.t[last])
    return frozenset(found)


def _is_plan(unit: Unit, i: int) -> bool:
    """Whether token i, one of the names, means a plan."""
    if unit.is_member(i):
        found = [d for d in unit.declarations.named(unit.t[i]) if d.kind in _OBJECTS]
        return all(_is_one(unit, d) for d in found)
    d = unit.declarations.visible(unit.t[i], i)
    return d is not None and _is_one(unit, d)


def _is_one(unit: Unit, d: Declaration) -> bool:
    return written(unit.t, d).name == _TYPE and not (d.pointers or d.arrays)


def _number(unit: Unit, i: int) -> Expr | None:
    """The number that the plan at token i gets or is compared with; None without, and for 0."""
    path = around(unit, i)
    outer = path[1] if len(path) > 1 else None
    value: Expr | None = None
    if isinstance(outer, Assign) and outer.target is path[0] and outer.op == "=":
        value = outer.value
    elif isinstance(outer, Binary) and outer.op in _COMPARED:
        value = outer.b if outer.a is path[0] else outer.a
    elif unit.tok(i + 1) == "=":
        head = head_around(unit, i + 2)
        value = head[0].init if head is not None and isinstance(head[0], Decl) and head[0].at == i else None
    number = value.x if isinstance(value, Unary) and value.op == "-" else value
    if not isinstance(number, Num) or number.value in (None, 0) or number.around or (value and value.around):
        return None
    return value
