from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.cuda_versions import COUNTS_AS, hip_parts
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Binary, Expr, Member, Name, expressions

_ASKS = frozenset({"cudaRuntimeGetVersion", "cudaDriverGetVersion", "cuDriverGetVersion", "nvrtcVersion"})
_JUDGES = frozenset({"<", ">", "<=", ">=", "==", "!=", "/", "%"})
_FAR = 600  # tokens behind the call that are read


class RuntimeVersion(Check):
    """The program computes with the version of CUDA's runtime or driver, which HIP counts in another way.

    CUDA's is 1000 * major + 10 * minor: 12060 is 12.6. HIP's is 10000000 * major + 100000 * minor + patch, so the
    number is larger than each that CUDA programs compare it with, and `version / 1000` is no major version. A test
    for a feature of CUDA's has no answer here: decide what HIP is to do. Where `v / 1000` and `(v % 100) / 10` show it,
    they get HIP's numbers.
    """

    code, name = "CU606", "runtime-version"
    triggers = frozenset(_ASKS)
    minutes = 10
    examples = (
        Example(
            "bool f() { int v; cudaRuntimeGetVersion(&v); return v >= 11020; }",
            "bool f() { int v; hipRuntimeGetVersion(&v); return v >= 11020; }",
            findings=1,
        ),
        Example(
            "void f() { int v = 0; CHECK(cuDriverGetVersion(&v)); show(v / 1000, v % 100 / 10); }",
            "void f() { int v = 0; CHECK(hipDriverGetVersion(&v)); show(v / 10000000, v % 10000000 / 100000); }",
            "shown to people; as a macro's argument",
        ),
        Example(
            "#define SHOW(v) cudaRuntimeGetVersion(&v), show(v / 1000)\n",
            "#define SHOW(v) hipRuntimeGetVersion(&v), show(v / 10000000)\n",
            "in a macro body",
        ),
        Example('void f() { int v; cudaRuntimeGetVersion(&v); printf("%d", v); }', note="the number alone"),
        Example("bool f(int v) { return v >= 11020; }"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_ASKS):
            call = unit.call(i)
            if call is None or not call.args:
                continue
            first, stop = unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end)
            words = [w for w in unit.t[first:stop] if w.isidentifier()]
            if not words:
                continue
            near = _near(unit, i)
            used = [e for e in near if call.close < e.at < call.close + _FAR and _judges(e, words[-1])]
            if used:
                at = used[0].at
                yield self.finding(
                    f"`{unit.t[i]}` gives CUDA's 12060 for 12.6, and HIP's function 70100000 and more for 7.1",
                    unit.p[at],
                    unit.end(at),
                    _shown(unit, used, near),
                    trust=Trust.REVIEW,
                    effects=(("all", "wrong-result"),),
                )


def _near(unit: Unit, i: int) -> list[Binary]:
    """The expressions of the function, or of the macro's body, that token i is in."""
    f, d = unit.function_at(i), unit.in_directive(i)
    if d is not None:
        first = next((m.first for group in unit.macros.values() for m in group if m.directive is d), i)
        return _read(unit, first, d.stop)
    return _read(unit, f.body[0] + 1, f.body[1]) if f is not None and i > f.body[0] else []


def _read(unit: Unit, first: int, stop: int) -> list[Binary]:
    """The operations with two operands in tokens [first, stop), which are read once."""
    known = unit.once(_known)
    if first not in known:
        known[first] = [e for e in expressions(read_body(unit, first, stop)) if isinstance(e, Binary)]
    return known[first]


def _known(unit: Unit) -> dict[int, list[Binary]]:
    """What was read so far, by the first token."""
    return {}


def _is(e: Expr, name: str) -> bool:
    return (isinstance(e, Name) and e.text == name) or (isinstance(e, Member) and e.name == name)


def _judges(e: Binary, name: str) -> bool:
    """Whether an expression compares a variable, with anything but the version of the compiler, or takes it apart."""
    if any(isinstance(x, Name) and x.text in COUNTS_AS for x in (e.a, e.b)):
        return False
    return e.op in _JUDGES and (_is(e.a, name) or (_is(e.b, name) and e.op not in ("/", "%")))


def _shown(unit: Unit, used: list[Binary], near: list[Binary]) -> tuple[Edit, ...]:
    """HIP's numbers in place of CUDA's where all uses take the version apart for people; else nothing."""
    edits: list[Edit] = []
    tenths = {id(e.a): e for e in near}
    for e in used:
        new = hip_parts(e, tenths.get(id(e)))
        if not new:
            return ()
        edits += [replace(unit.p[n.at], unit.end(n.at), text) for n, text in new]
    return tuple(dict.fromkeys(edits))
