from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Options, Severity, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Launch
from cu2port.facts.unit import Unit
from cu2port.syntax import tree
from cu2port.syntax.around import around, is_statement
from cu2port.syntax.tree import Assign, Binary, Paren, Ternary, Unary

_VALUES = (Assign, Binary, Ternary, Unary)  # of operands
_GGL = Options(launch="ggl")


class LaunchGgl(Check):
    """A `<<<...>>>` launch becomes `hipLaunchKernelGGL` when `--launch ggl` asks for it.

    HIP compilers take `<<<...>>>` as it is, so it stays by default. The macro form needs `HIP_KERNEL_NAME` around a
    kernel with template arguments, since the preprocessor would split it at their commas. It is a statement, so a
    launch inside an expression stays, also where a macro of the file makes one of its argument.
    """

    code, name, severity = "CU202", "launch-ggl", Severity.INFO
    modes = frozenset({"ggl"})
    examples = (
        Example(
            "void f() { k<<<g, b>>>(x, y); }",
            "void f() { hipLaunchKernelGGL(k, dim3(g), dim3(b), 0, 0, x, y); }",
            options=_GGL,
        ),
        Example(
            "void f() { k<int, 4><<<g, b, n, s>>>(); }",
            "void f() { hipLaunchKernelGGL(HIP_KERNEL_NAME(k<int, 4>), dim3(g), dim3(b), n, s); }",
            "template arguments",
            options=_GGL,
        ),
        Example(
            "#define GO(k, ...) k<<<1, 2>>>(__VA_ARGS__)\n",
            "#define GO(k, ...) hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, 0, __VA_ARGS__)\n",
            "in a macro body",
            options=_GGL,
        ),
        Example(
            "CHECK(k<<<1, 2>>>(x));",
            "CHECK(hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, 0, x));",
            "as a macro's argument",
            options=_GGL,
        ),
        Example(
            "CHECK((k<<<1, 2>>>(x)));",
            "CHECK((k<<<1, 2>>>(x)));",
            "inside an expression, where no statement may stand",
            options=_GGL,
        ),
        Example(
            "#define CHECK(x) ((x), last())\nvoid f() { CHECK(k<<<1, 2>>>(x)); }",
            "#define CHECK(x) ((x), last())\nvoid f() { CHECK(k<<<1, 2>>>(x)); }",
            "the macro makes an expression of it",
            options=_GGL,
        ),
        Example(
            "#define CHECK(x) do { x; last(); } while (0)\nvoid f() { CHECK(k<<<1, 2>>>(x)); }",
            "#define CHECK(x) do { x; last(); } while (0)\n"
            "void f() { CHECK(hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, 0, x)); }",
            "the macro makes a statement of it",
            options=_GGL,
        ),
        Example("void f() { k<<<g, b>>>(x); }", note="the default keeps the launch"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for launch in unit.launches:
            inside = _in_expression(unit, launch) or _macro_takes_value(unit, launch)
            edit = None if inside else _edit(unit, launch)
            start, end = unit.p[launch.callee], unit.end(launch.close + 2)
            message = "launch written as hipLaunchKernelGGL"
            if inside:
                message = "a launch inside an expression stays: hipLaunchKernelGGL is a statement"
            elif not edit:
                message = "a launch whose arguments are not written here"
            severity = Severity.INFO if edit else Severity.WARNING
            yield self.finding(message, start, end, (edit,) if edit else (), severity=severity)


def _in_expression(unit: Unit, launch: Launch) -> bool:
    """Whether a launch is in brackets that are no call's, or is an operand."""
    path = around(unit, launch.open)
    if any(isinstance(e, _VALUES) or any(isinstance(w, Paren) for w in e.around) for e in path):
        return True
    return bool(path) and isinstance(path[-1], tree.Launch) and not is_statement(unit, launch.open)


def _macro_takes_value(unit: Unit, launch: Launch) -> bool:
    """Whether a launch is an argument of a macro of this file that uses it within an expression."""
    opened = unit.enclosing[launch.callee - 1] if launch.callee else -1
    if opened < 1:
        return False
    spans = unit.split_args(opened + 1, unit.match[opened])
    at = next((n for n, s in enumerate(spans) if s.start <= unit.p[launch.callee] < s.end), 0)
    for macro in unit.macros.get(unit.t[opened - 1], ()):
        params = macro.params or ()
        name = "__VA_ARGS__" if params[at : at + 1] in ((), ("...",)) else params[at]
        for k in unit.between(macro.first, macro.stop, name):
            if unit.t[k - 1] != "#" and not _is_statement(unit, k, macro.first, macro.stop):
                return True
    return False


def _is_statement(unit: Unit, k: int, first: int, stop: int) -> bool:
    """Whether token k of a macro's body [first, stop) is a statement of its own there."""
    before = unit.t[k - 1] if k > first else ";"
    after = unit.t[k + 1] if k + 1 < stop else ";"
    return before in (";", "{", "}", "do", "else", ")") and after in (";", "}")


def _edit(unit: Unit, launch: Launch) -> Edit | None:
    if launch.args[0] < 0:
        return None
    if any(launch.callee < d.first < launch.args[1] for d in unit.directives):
        return None  # a directive among a macro's arguments has no meaning
    config = unit.split_args(launch.config_first, launch.close)
    if not 2 <= len(config) <= 4:
        return None
    kernel = Span(unit.p[launch.callee], unit.end(launch.open - 1))
    written = unit.text[kernel.start : kernel.end]
    named: tuple[str | Span, ...] = ("HIP_KERNEL_NAME(", kernel, ")") if "," in written else (kernel,)
    parts: list[str | Span] = ["hipLaunchKernelGGL(", *named, ", "]
    for span in config[:2]:
        dim = unit.text[span.start : span.end].startswith("dim3")
        parts += [span, ", "] if dim else ["dim3(", span, "), "]
    for k in (2, 3):
        parts += [config[k] if k < len(config) else "0", ", "]
    parts.pop()
    first, last = launch.args[0] + 1, launch.args[1]
    if last > first:
        parts += [", ", Span(unit.p[first], unit.end(last - 1))]
    parts.append(")")
    return Edit(kernel.start, unit.end(launch.args[1]), tuple(parts))
