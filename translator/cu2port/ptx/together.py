"""asm statements of one function that belong together: by a register, a scope or the carry flag.

PTX's assembler reads the statements of a function as one text. A register that one of them declares and another uses
becomes a local in front of the first, a `{` that another one closes the block that both are in, and the carry flag
a local that is passed on. The functions around may set the flag too. So a statement takes it from another one only
where an earlier one certainly set it and nothing in between, nor in a loop around, calls a function.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from cu2port.facts.carry_definitions import has_carry
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx import ops, special
from cu2port.ptx.asm import AsmStatement, Reading
from cu2port.ptx.bind import CARRY
from cu2port.ptx.carry import Flow, flow, is_set, leaves_carry
from cu2port.ptx.ir import Guard, Place, Statement, Variable
from cu2port.ptx.lifted import RefusedError, parse
from cu2port.ptx.module_data import declaration, place
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.rename import declared, instructions, labels, mentioned
from cu2port.ptx.reserved import KEYWORDS
from cu2port.ptx.surroundings import Loop, is_plain, loops_since, sees, surroundings
from cu2port.ptx.tokens import COMMENTS
from cu2port.syntax.lexer import is_identifier, lex

_DIRECT = frozenset({";", "{", "}"})
_DECLARES = re.compile(r"\.(?:reg|shared)\b[^;{}]*;")
_MOST = 50  # how many earlier statements are looked at for the one that set the flag


class _UnclearError(Exception):
    """The statements of a function are not understood as one text."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A statement as part of its function's text. `reading`: without the brackets that others match.

    `places`: what it has in common with others, by PTX's names. `declares`: names and declarations of those that it
    declares. `taken`: C++ names of all such locals in the function. `mixes_carry`: an addition may read
    the flag of a subtraction, or the other way round.
    """

    reading: Reading
    places: Mapping[str, Place]
    declares: tuple[tuple[str, str], ...]
    taken: frozenset[str]
    mixes_carry: bool


def together(unit: Unit, wanted: Iterable[AsmStatement]) -> Iterator[dict[int, Joined]]:
    """For each function whose statements belong together and are understood, these, by keyword."""
    by_function: dict[int, tuple[Function, list[AsmStatement]]] = {}
    for s in wanted:
        f = unit.function_at(s.keyword) if s.macro is None else None
        if f is not None and f.body[0] < s.keyword < f.body[1]:
            by_function.setdefault(f.first, (f, []))[1].append(s)
    leaving = [f.name for f, found in by_function.values() if f.name.startswith("operator") and _leaves(found)]
    operators = frozenset(lex(name.removeprefix("operator")).t[0] for name in leaving if name != "operator")
    if any(is_identifier(name) for name in operators):
        return  # a conversion, which nothing shows
    for f, statements in by_function.values():
        if len(statements) > 1 and any(_may_share(s) for s in statements):
            try:
                joined = _Text(unit, f, statements, operators).joined()
            except _UnclearError:
                continue
            if joined:
                yield joined


def _leaves(found: Sequence[AsmStatement]) -> bool:
    """Whether the last of a function's statements that touch the carry flag leaves one."""
    last = next((s for s in reversed(found) if any(has_carry(r.text) for r in s.readings)), None)
    try:
        return last is not None and any(leaves_carry(parse(r)) for r in last.readings)
    except RefusedError:
        return True


def _may_share(s: AsmStatement) -> bool:
    return any(
        has_carry(r.text) or _DECLARES.search(r.text) or r.text.count("{") != r.text.count("}") for r in s.readings
    )


def _is_local(v: Variable) -> bool:
    return v.space == "reg" or (v.space == "shared" and "extern" not in v.attributes)


def _split(text: str) -> tuple[str, int, int]:
    """A text with `;` for brackets that another one matches, and how many close and open others. Those that close
    stand at its end, those that open at its beginning, else the statements are unclear."""
    code = COMMENTS.sub(lambda m: " " * len(m[0]), text)
    opened: list[int] = []
    closing = []
    for m in re.finditer(r"[{}]", code):
        if m[0] == "{":
            opened.append(m.start())
        elif opened:
            opened.pop()
        else:
            closing.append(m.start())
    if not opened and not closing:
        return text, 0, 0
    if (opened and closing) or code[: max(opened, default=0)].strip(" \t\r\n;{"):
        raise _UnclearError
    if closing and code[closing[0] :].strip(" \t\r\n;}"):
        raise _UnclearError
    out = list(code)
    for k in (*opened, *closing):
        out[k] = ";"
    return "".join(out), len(closing), len(opened)


@dataclass(eq=False)
class _Member:
    """One statement of the function. `block`: the brackets around it, outermost first. `loops`: the loops around it, by
    their first and last token. `direct`: it is a statement of the innermost bracket, under no condition of its own.
    `branches`: the conditionals around it."""

    s: AsmStatement
    reading: Reading
    body: tuple[Statement, ...]
    closes: int
    opens: int
    flow: Flow
    block: tuple[int, ...]
    loops: tuple[Loop, ...]
    direct: bool
    branches: frozenset[int]
    uses: dict[str, _Local] = field(default_factory=dict)
    declares: list[_Local] = field(default_factory=list)
    mixes_carry: bool = False


@dataclass(eq=False)
class _Local:
    """A register, a variable in shared memory, or the flag. `shared`: another statement than its owner uses it.
    `place` and `declared`, its C++ name and declaration, are known once it has a name."""

    owner: _Member
    name: str
    variable: Variable
    shared: bool = False
    place: Place = field(init=False)
    declared: tuple[str, str] = field(init=False)

    def named(self, text: str) -> None:
        """Gives it a C++ name."""
        v = self.variable
        in_memory = v.space == "shared"
        self.place = place(v, text) if in_memory else Place(text, v.type)
        self.declared = text, declaration(v, text, {}) if in_memory else f"{cxx_type(v.type)} {text} = {{}};"


class _Text:
    """The statements of a function as one text."""

    def __init__(self, unit: Unit, f: Function, statements: Sequence[AsmStatement], operators: frozenset[str]) -> None:
        self.unit = unit
        self.around = surroundings(unit, f, frozenset(s.keyword for s in statements), operators)
        self.members = [m for s in statements if (m := self._member(s)) is not None]
        self.places = [m.s.keyword for m in self.members]
        self.taken: set[str] = set()

    def _member(self, s: AsmStatement) -> _Member | None:
        if len(s.readings) != 1:
            if _may_share(s) or s.problem:
                raise _UnclearError
            return None
        text, closes, opens = _split(s.readings[0].text)
        reading = replace(s.readings[0], text=text)
        try:
            body = parse(reading)
        except RefusedError:
            if closes or opens or has_carry(text):
                raise _UnclearError from None
            return None
        branches = frozenset(g.opener for g in self.unit.conditions(s.span.start))
        before = s.keyword - 1
        while (d := self.unit.in_directive(before)) is not None:
            before = d.first - 1
        direct = self.unit.t[before] in _DIRECT
        place = self.around.places[s.keyword]
        return _Member(s, reading, body, closes, opens, flow(body), place.block, place.loops, direct, branches)

    def joined(self) -> dict[int, Joined]:
        """The statements that belong together. Raises _UnclearError where they are not understood."""
        self._registers()
        self._carry()
        out = {}
        taken, t = frozenset(self.taken), self.unit.t
        for m in self.members:
            shared = [x for x in m.declares if x.shared]
            if not (m.uses or shared or m.closes or m.opens):
                continue
            if self.around.jumps or not (all(t[b] == "{" for b in m.block) and is_plain(self.unit, m.block)):
                raise _UnclearError
            if (shared or m.closes or m.opens) and not m.direct:
                raise _UnclearError
            places = {x.name: x.place for x in (*shared, *m.uses.values())}
            out[m.s.keyword] = Joined(m.reading, places, tuple(x.declared for x in shared), taken, m.mixes_carry)
        return out

    def fresh(self, wanted: str) -> str:
        """A name for a local that nothing in the file has."""
        base = re.sub(r"\W", "_", wanted.lstrip("%$")) or "r"
        base, n = base if not base[0].isdigit() else f"r{base}", 1
        name = base
        while name in self.taken or name in self.unit.words or name in KEYWORDS:
            n += 1
            name = f"{base}_{n}"
        self.taken.add(name)
        return name

    # --- registers and scopes ---------------------------------------------------------------------------------------

    def _registers(self) -> None:
        """Finds out who declares what a statement uses and does not declare."""
        scopes: list[tuple[_Member | None, dict[str, _Local]]] = [(None, {})]
        for m in self.members:
            scopes += [(m, {}) for _ in range(m.opens)]
            own = scopes[-1][1]
            here = [v for v in m.body if isinstance(v, Variable) and _is_local(v)]
            for v in here:
                own |= {name: _Local(m, name, v) for name in v.names}
            m.declares = [own[name] for v in here for name in v.names]
            for name in self._unknown(m):
                found = next((names[name] for _, names in reversed(scopes) if name in names), None)
                if found is None or not sees(m, found.owner):
                    raise _UnclearError
                found.shared, m.uses[name] = True, found
            for _ in range(m.closes):
                opener, _ = scopes.pop() if len(scopes) > 1 else (None, {})
                if opener is None or opener.block != m.block or opener.branches != m.branches:
                    raise _UnclearError
        if len(scopes) > 1:
            raise _UnclearError
        for m in self.members:
            for x in m.declares:
                if x.shared:
                    x.named(self.fresh(x.name))

    def _unknown(self, m: _Member) -> Iterator[str]:
        """Names that a statement uses and does not declare."""
        known = {*declared(m.body), *labels(m.body), "_"}
        operands = {f"%{i}" for i in range(len(m.reading.operands))}
        known |= operands | {f"%[{o.name}]" for o in m.reading.operands}
        for i in instructions(m.body):
            names = [(r.name, r.select) for o in i.operands for r in mentioned(o)]
            if i.name in ("call", "bra", "brx"):
                names = []
            for name, select in (*names, *([(i.guard.name, "")] if i.guard is not None else [])):
                if name not in known and special.value(name, select) is None and special.missing(name) is None:
                    yield name

    # --- the carry flag ---------------------------------------------------------------------------------------------

    def _carry(self) -> None:
        """Gives the statements that hand on a carry a local for it."""
        touched = [m for m in self.members if m.flow.kinds]
        if not any(m.flow.takes for m in touched):
            return
        places = [m.s.keyword for m in touched]
        # how many statements with additions, and with subtractions, there are up to each
        counts = [
            list(accumulate((kind in m.flow.kinds for m in touched), initial=0)) for kind in ("addition", "subtraction")
        ]
        flags: list[_Local] = []
        for k, m in enumerate(touched):
            for guard in m.flow.takes:
                setter = self._setter(touched[max(0, k - _MOST) : k], m, guard)
                start = bisect_left(places, setter.s.keyword)
                stop = max(k + 1, *(bisect_right(places, end) for _, end in loops_since(setter, m)), 0)
                m.mixes_carry = m.mixes_carry or all(c[stop] > c[start] for c in counts)
            flag = next((x for x in reversed(flags) if sees(m, x.owner)), None)
            if flag is not None:
                m.uses[CARRY] = flag
            elif m.direct:  # else its flag reaches nobody
                flags.append(_Local(m, CARRY, Variable("reg", ops.PRED, "carry"), shared=True))
                flags[-1].named(self.fresh("carry"))
                m.declares.append(flags[-1])

    def _setter(self, earlier: Sequence[_Member], m: _Member, guard: Guard | None) -> _Member:
        """The statement that certainly set the flag which an instruction of `m` under `guard` reads."""
        for k in range(len(earlier) - 1, -1, -1):
            x = earlier[k]
            if not (x.direct and sees(m, x) and is_set(x.flow.sets, guard)):
                continue
            loops = loops_since(x, m)
            if None not in x.flow.sets:  # under a guard, which must still say the same
                names = {g.name for g in x.flow.sets if g is not None}
                until = max((end for _, end in loops), default=m.s.keyword - 1)
                span = slice(bisect_right(self.places, x.s.keyword), bisect_right(self.places, until))
                if any(names & y.flow.writes for y in self.members[span]):
                    continue
            if any(self.around.calls_between(*at) for at in ((x.s.close, m.s.close), *loops)):
                break
            return x
        raise _UnclearError
