"""Functions of one line, and functors: what two values become in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from cu2port.core.model import Span
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Assign, CallExpr, Eval, Expr, Jump, Name, Param, callee, walk
from cu2port.warp.functions import is_device
from cu2port.warp.model import make_device
from cu2port.warp.native.match import matches_statement, statement
from cu2port.warp.native.numbers import Numbers, classes
from cu2port.warp.native.patterns import CALLS, FUNCTORS, STEPS, Parts
from cu2port.warp.native.types import canonical, declared_type, is_cast


@dataclass(frozen=True, slots=True)
class Line:
    """A function of one line: its parameters, what it returns, the types of its result and of its parameters, "" for
    those of its template."""

    params: tuple[Param, ...]
    value: Expr
    result: str
    types: Mapping[str, str]

    def types_of(self, names: set[str]) -> frozenset[str]:
        """The types that a value has in some parameters and as the result."""
        return frozenset({self.result, *(self.types[n] for n in names)}) - {"", "auto"}


def _named(unit: Unit) -> dict[str, list[Function]]:
    """The functions of a file by name."""
    out: dict[str, list[Function]] = {}
    for f in unit.functions:
        out.setdefault(f.name, []).append(f)
    return out


@dataclass(frozen=True, slots=True)
class Lines(Numbers):
    """Reads the functions and classes of one file."""

    def line(self, e: CallExpr) -> Line | None:
        """The function of one line that a call means; None if it is none, or not certainly that one."""
        if not isinstance(e.callee, Name) or e.callee.targs or e.callee.qualified or e.callee.text in self.unit.macros:
            return None
        name, unit = e.callee.text, self.unit
        found = self.unit.once(_named).get(name, [])
        if len(found) != 1 or any(unit.declares(i) for i in unit.find(name) if i != found[0].name_at):
            return None
        if any(name in u.words and any(f.name == name for f in u.functions) for u in self.headers):
            return None
        return self._line(found[0], len(e.args))

    def _line(self, f: Function, arity: int) -> Line | None:
        unit = self.unit
        if not is_device(unit, f) or any(f.body[0] < d.first < f.body[1] for d in unit.directives):
            return None
        d = make_device(unit, f)
        body = d.body.body
        if len(d.params) != arity or len(body) != 1 or not isinstance(body[0], Jump) or body[0].value is None:
            return None
        words = unit.t[f.params[0] : f.params[1]]
        if body[0].kind != "return" or any(p.pointer or p.at < 0 for p in d.params):
            return None
        if ("&" in words and "const" not in words) or "&&" in words or any(is_cast(x) for x in walk(body[0].value)):
            return None
        own = {p.name for p in d.tparams}

        def typ(at: int) -> str:
            found = declared_type(unit, at) or "?"
            return "" if found in own else canonical(found)

        return Line(d.params, body[0].value, typ(f.name_at), {p.name: typ(p.at) for p in d.params})

    def function(self, e: CallExpr) -> tuple[str, Parts, frozenset[str]] | None:
        """The operation of a call with two values, what stands for the function in a call of `wave`, and the types that
        values have in it; None if it is not known."""
        unit = self.unit
        if isinstance(e.callee, CallExpr) and not e.callee.args and isinstance(e.callee.callee, Name):
            return self._functor(e.callee, e.callee.callee)
        if not isinstance(e.callee, Name):
            return None
        name = e.callee.text
        line = self.line(e)
        op, types = CALLS.get(name), frozenset[str]()
        if line is not None:
            op, types = self._of_line(line), line.types_of({*line.types})
        elif op is not None and name != "add" and not self.is_known(e.callee):
            op = None
        if op is None:
            return None
        text = Span(unit.p[unit.qualifier(e.at) if e.callee.qualified else e.at], unit.p[unit.match[e.close]])
        return op, ("[](auto a, auto b) { return ", text, "(a, b); }"), types

    def _functor(self, construction: CallExpr, name: Name) -> tuple[str, Parts, frozenset[str]] | None:
        """The operation of `Max()(a, b)`."""
        unit = self.unit
        text = Span(
            unit.p[unit.qualifier(construction.at) if name.qualified else construction.at], unit.end(construction.close)
        )
        words = ("struct", "class")
        own = [x for x in unit.once(classes) if unit.tok(x[0] - 1) == name.text and unit.tok(x[0] - 2) in words]
        if own:
            inside = [f for f in self.unit.once(_named).get("operator()", ()) if own[0][0] < f.first < own[0][1]]
            line = self._line(inside[0], 2) if len(own) == len(inside) == 1 and not name.qualified else None
            op = self._of_line(line) if line is not None else None
            if line is None or op is None:
                return None
            types, own_types = line.types_of({*line.types}), self._parameters(own[0][0])
            if own_types & types:  # a class's template: the types that it is given
                types = (types - own_types) | {canonical(x.text) if isinstance(x, Name) else "?" for x in name.targs}
            return op, (text,), types
        typed = frozenset(canonical(x.text) if isinstance(x, Name) else "?" for x in name.targs)
        known = self.functor(name)
        if known is None:
            return None
        return known[0], (f"[](auto a, auto b) {{ return {known[1]}; }}",), typed

    def functor(self, name: Name) -> tuple[str, str] | None:
        """What a functor of a library does, and the text for it."""
        unit = self.unit
        if name.text in unit.macros or not name.qualified:
            return None
        return FUNCTORS.get((unit.tok(unit.qualifier(name.at)), name.text))

    def _parameters(self, opened: int) -> frozenset[str]:
        """The types of the template that a class is, whose bracket is a token."""
        k = opened - 3  # template <typename T> struct Name {
        head = self.unit.t[max(k - 12, 0) : k + 1]
        if head[-1:] != [">"] or "template" not in head:
            return frozenset()
        words = head[len(head) - head[::-1].index("template") :]
        return frozenset(b for a, b in pairwise(words) if a in ("typename", "class"))

    def _of_line(self, line: Line) -> str | None:
        """The operation of a function of one line with two values."""
        a, b = (Name(p.at, p.name) for p in line.params)
        s = Eval(a.at, Assign(a.at, "=", a, line.value), a.at)
        for row in STEPS:
            for way in matches_statement(statement(row.cuda), s):
                given = {"V": a, "OTHER": b, "HELD": b}
                if all(self.same(x, given[hole]) for hole, x in way if hole in given):
                    call = next((x for hole, x in way if hole == "F"), None)
                    if row.op or (isinstance(call, CallExpr) and self._is_listed(call)):
                        return row.op or CALLS[callee(call)]  # type: ignore[arg-type]  # it is listed
        return None

    def _is_listed(self, e: CallExpr) -> bool:
        """Whether a call means a function that the table lists."""
        known = isinstance(e.callee, Name) and e.callee.text in CALLS and e.callee.text != "add"
        return known and isinstance(e.callee, Name) and self.is_known(e.callee)

    def is_known(self, name: Name) -> bool:
        """Whether a function's name is CUDA's or the standard library's, not the file's."""
        if name.qualified and self.unit.tok(self.unit.qualifier(name.at)) not in ("std", "::"):
            return False
        return name.text not in self.unit.macros and name.text not in self.unit.once(_named)
