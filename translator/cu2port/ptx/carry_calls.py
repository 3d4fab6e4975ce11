"""Carry chains over functions of several asm statements: one leaves the flag to its caller, another takes it.

The flag is one C++ variable for all that hand it on. A function that reads it before it has set it, or that leaves it
for a reader of its callers, has it as a parameter; its callers pass their own, or declare one. So the variable changes
where PTX's flag changes, whatever way a function takes, and what must be proven is only that each reader's flag was set
by something that knows the variable. Macros that touch the flag count too (`carry_macros.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from cu2port.core.files import HEADER_SUFFIXES, suffix
from cu2port.core.model import Edit
from cu2port.facts.carry_definitions import carry_flag, has_carry
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx import ops
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.carry import Flow
from cu2port.ptx.carry_functions import statement_around, takes_flag, with_flag
from cu2port.ptx.carry_macros import Chains, MacroChains, Use
from cu2port.ptx.carry_steps import NOTHING, UnclearError, statement_flow
from cu2port.ptx.ir import Place
from cu2port.ptx.surroundings import Loop, Surroundings, is_plain, loops_since, sees, surroundings
from cu2port.ptx.taken import is_left_out
from cu2port.syntax.lexer import is_identifier

_DIRECT = frozenset({";", "{", "}"})
_MOST = 50  # how many earlier uses are looked at for the one that set the flag


def call_chains(unit: Unit, wanted: Iterable[AsmStatement]) -> MacroChains | None:
    """The chains over functions of a file; None where there are none, or where one is not understood. Those of a header
    may have callers in other files, which would pass no flag."""
    if suffix(unit.path) in HEADER_SUFFIXES:
        return None
    listed = list(wanted)
    touching = [s for s in listed if not s.readings or any(has_carry(r.text) for r in s.readings)]
    name = carry_flag(unit.path)
    if name in unit.words or all(s.macro is not None for s in touching):
        return None
    try:
        return _Calls(unit, listed, touching).made(name)
    except UnclearError:
        return None


@dataclass(eq=False)
class _Body:
    """A function with what touches the flag in it, in order. `calls`: tokens that may set another one. `returns`: where
    it may end early. `branches`: the conditionals around all of it."""

    function: Function
    uses: Sequence[Use]
    calls: Sequence[int]
    returns: Sequence[int]
    branches: frozenset[int]

    @cached_property
    def places(self) -> Sequence[int]:
        return [u.at for u in self.uses]


@dataclass(eq=False)
class _Calls(Chains):
    order: Sequence[Function] = ()  # that touch the flag, callees first
    own: dict[int, dict[int, AsmStatement]] = field(default_factory=dict)  # statements by their function's first token
    named: dict[int, list[int]] = field(default_factory=dict)  # uses of names that hand on the flag, likewise
    touched: frozenset[str] = frozenset()  # their names
    summaries: dict[str, Flow] = field(default_factory=dict)  # what those that hand it on do with it
    read: set[str] = field(default_factory=set)  # those whose flag something reads
    leaving: frozenset[str] = frozenset()  # operators that end with a flag for somebody
    spoiling: set[str] = field(default_factory=set)  # functions that may leave another flag than the variable has
    of_macros_mix: bool = False

    def made(self, name: str) -> MacroChains | None:
        in_macros = [(s.keyword, s.macro.name) for s in self.touching if s.macro is not None and s.readings]
        self.flows = dict.fromkeys((macro for _, macro in in_macros), NOTHING)
        for macro in list(self.flows):
            self.flows[macro] = self.flow_of(macro)
        self._others()
        of_macros, self.of_macros_mix = dict(self.flows), self.mixes
        self.order = self._in_order()
        self.touched = frozenset(f.name for f in self.order)
        bodies = self._settled(of_macros, self.touched)
        needed = {f for f, flow in self.summaries.items() if flow.takes} | self.read
        for body in reversed(bodies):  # what a function leaves may be what one that it calls left
            if body.function.name in needed:
                needed |= self._called(body.uses)
        operators = [body.function for body in bodies if body.uses[-1].flow.leaves]
        self.leaving = self._operators(operators, ())
        needed &= {name for body in bodies for name in self._called(body.uses)}  # others get a flag from nobody here
        if not needed:
            return None
        bodies = self._settled(of_macros, frozenset(needed))
        if not needed <= self.summaries.keys() & {name for body in bodies for name in self._called(body.uses)}:
            raise UnclearError
        self._no_other_uses(bodies, needed)
        return self._chains(name, bodies, needed, frozenset(keyword for keyword, _ in in_macros))

    # --- what each function does ------------------------------------------------------------------------------------

    def _settled(self, of_macros: Mapping[str, Flow], only: frozenset[str]) -> list[_Body]:
        """Finds what each function does, where those of `only` may hand on the flag."""
        self.flows, self.summaries, self.mixes = dict(of_macros), {}, self.of_macros_mix
        self.read, self.spoiling, self.named = set(), set(), {}
        for name in of_macros:
            self._uses_of(name)
        bodies = []
        for f in self.order:
            body = self._body(f)
            if body is None:
                continue
            bodies.append(body)
            made = self._summary(body)
            if f.name in only and self._may_hand_on(f) and (made.takes or made.sets):
                self.summaries[f.name] = self.flows[f.name] = made
                self._uses_of(f.name)
                if not made.sets and (body.calls or self._spoils(body.uses)):
                    self.spoiling.add(f.name)
            elif made.takes and len(only) < len(self.touched) and f.first not in self.named:
                bodies.pop()  # its statements stay
            elif made.takes:
                raise UnclearError
        return bodies

    def _uses_of(self, name: str) -> None:
        for i in self.unit.find(name):
            f = self.unit.function_at(i)
            if f is not None and f.body[0] < i < f.body[1] and self._is_use(i):
                self.named.setdefault(f.first, []).append(i)

    def _in_order(self) -> list[Function]:
        """The functions that touch the flag or call one that does, callees first."""
        unit, work = self.unit, []
        statements = {s.keyword: s for s in self.touching if s.macro is None}
        in_code = [i for macro in self.flows for i in unit.find(macro) if unit.in_directive(i) is None]
        for i in (*statements, *in_code):
            f = unit.function_at(i)
            if f is None or not f.body[0] < i < f.body[1]:
                raise UnclearError
            work.append(f)
            if i in statements:
                self.own.setdefault(f.first, {})[i] = statements[i]
        callees: dict[int, set[int]] = {}
        found: dict[int, Function] = {}
        while work:
            f = work.pop()
            if f.first in found:
                continue
            found[f.first] = f
            callees.setdefault(f.first, set())
            for i in unit.find(f.name) if is_identifier(f.name) else ():
                caller = unit.function_at(i)
                if caller is not None and caller.body[0] < i < caller.body[1]:
                    callees.setdefault(caller.first, set()).add(f.first)
                    work.append(caller)
        try:
            return [found[first] for first in TopologicalSorter(callees).static_order()]
        except CycleError:
            raise UnclearError from None

    def _may_hand_on(self, f: Function) -> bool:
        """Whether a function may get the flag as a parameter: the one of its name, no kernel and no member."""
        unit = self.unit
        if not is_identifier(f.name) or "__global__" in f.sides or f.name in unit.macros:
            return False
        return self.counts[f.name] == 1 and takes_flag(unit, f)

    @cached_property
    def counts(self) -> Counter[str]:
        """How many functions there are of each name."""
        return Counter(f.name for f in self.unit.functions)

    @cached_property
    def returns(self) -> Sequence[int]:
        return self.unit.find("return")

    def _body(self, f: Function) -> _Body | None:
        """What touches the flag in a function; None where nothing does."""
        unit, (first, last) = self.unit, f.body
        own = self.own.get(f.first, {})
        places = sorted((*own, *self.named.get(f.first, ())))
        if not places:
            return None
        around = surroundings(unit, f, frozenset(places), self.leaving)
        if around.jumps:
            raise UnclearError
        uses = [self._direct(own[i], around) if i in own else self._named(i, around) for i in places]
        if len({u.first for u in uses}) < len(uses):
            raise UnclearError  # which of two is first is open
        brackets = {u.at + 1 for u in uses}
        calls = [i for i in around.calls if i not in brackets and not self._leaves_alone(i)]
        branches = frozenset(g.opener for g in unit.conditions(unit.p[first]))
        return _Body(f, uses, calls, _inside(self.returns, first, last), branches)

    def _is_use(self, i: int) -> bool:
        unit = self.unit
        if unit.in_directive(i) is not None:
            if unit.t[i] in self.summaries:
                raise UnclearError  # a macro that calls such a function
            return False
        if unit.is_dead(unit.p[i]) or is_left_out(unit, unit.p[i]):
            return False
        if unit.t[i + 1] != "(" or unit.match[i + 1] < i or unit.is_member(i):
            raise UnclearError
        return True

    def _leaves_alone(self, i: int) -> bool:
        """Whether a call leaves the flag alone: of a macro that calls nothing, or of a function by its name that does
        not touch it, as far as this file tells."""
        name = self.unit.t[i - 1]
        if self.unit.t[i] != "(" or not is_identifier(name):
            return False
        return self._quiet(name) if name in self.unit.macros else name not in self.touched

    def _direct(self, s: AsmStatement, around: Surroundings) -> Use:
        block, loops = around.places[s.keyword]
        return self._placed((s.keyword, s.keyword, s.close), statement_flow(s), block, loops)

    def _named(self, i: int, around: Surroundings) -> Use:
        t = self.unit.t
        block, loops = around.places[i]
        statement, always = i, True
        if t[i] in self.summaries:
            statement, always, depth = statement_around(self.unit, i, block)
            block = block[:depth]
        use = self._placed((i, statement, self.unit.match[i + 1]), self.flows[t[i]], block, loops)
        if not use.direct and t[i] not in self.summaries and not self._is_one_statement(t[i]):
            raise UnclearError
        return replace(use, direct=use.direct and always)

    def _placed(self, at: tuple[int, int, int], flow: Flow, block: tuple[int, ...], loops: tuple[Loop, ...]) -> Use:
        unit = self.unit
        if any(unit.t[b] != "{" for b in block) or not is_plain(unit, block):
            raise UnclearError  # also in a lambda
        before = at[1] - 1
        while (d := unit.in_directive(before)) is not None:
            before = d.first - 1
        branches = frozenset(g.opener for g in unit.conditions(unit.p[at[0]]))
        return Use(*at, flow, block, loops, unit.t[before] in _DIRECT, branches)

    def _summary(self, body: _Body) -> Flow:
        """What a function does to its caller's flag. Raises UnclearError where a reader's flag may be another one."""
        takes = False
        for k, use in enumerate(body.uses):
            takes = (bool(use.flow.takes) and self._takes(body, k)) or takes
        end = body.function.body[1]
        sets = body.uses[-1].flow.leaves and any(
            _always(body, u) and not _inside(body.calls, u.close, end) and not self._spoils(body.uses[k + 1 :])
            for k, u in enumerate(body.uses)
        )
        kinds = frozenset[str]().union(*(u.flow.kinds for u in body.uses))
        return Flow((None,) if takes else (), frozenset({None} if sets else ()), kinds, sets, frozenset())

    def _takes(self, body: _Body, k: int) -> bool:
        """Whether use k may read the flag that its function was called with."""
        use = body.uses[k]
        for x in reversed(body.uses[max(0, k - _MOST) : k]):
            if x.direct and x.flow.sets and sees(use, x):
                first, loops = x.at, loops_since(x, use)
                break
        else:
            if k > _MOST:
                raise UnclearError
            first, loops = body.function.body[0], list(use.loops)
        if any(_inside(body.calls, *span) for span in ((first, use.close), *loops)):
            raise UnclearError
        stop = max((end for _, end in loops), default=use.close)
        places = body.places
        inside = body.uses[bisect_left(places, first) : bisect_right(places, stop)]
        if self._spoils(u for u in inside if loops or u is not use):
            raise UnclearError
        self.mixes = self.mixes or len(frozenset[str]().union(*(u.flow.kinds for u in inside))) > 1
        self.read |= self._called(inside)
        return first == body.function.body[0]

    def _spoils(self, uses: Iterable[Use]) -> bool:
        return any(self.unit.t[u.at] in self.spoiling for u in uses)

    def _called(self, uses: Iterable[Use]) -> set[str]:
        return {self.unit.t[u.at] for u in uses} & self.summaries.keys()

    # --- what becomes of them ---------------------------------------------------------------------------------------

    def _no_other_uses(self, bodies: Iterable[_Body], needed: Iterable[str]) -> None:
        """Raises UnclearError where the name of a function with a flag stands for anything but a call that is known."""
        known = {i for body in bodies for i in (body.function.name_at, *(u.at for u in body.uses))}
        unit = self.unit
        others = (i for name in needed for i in unit.find(name) if i not in known)
        if any(not unit.is_dead(unit.p[i]) and not is_left_out(unit, unit.p[i]) for i in others):
            raise UnclearError

    def _chains(self, name: str, bodies: Iterable[_Body], needed: set[str], in_macros: frozenset[int]) -> MacroChains:
        statements, edits = set(in_macros), list[Edit]()
        keywords = {s.keyword for s in self.touching}
        for body in bodies:
            named = [u for u in body.uses if u.at not in keywords]
            if body.function.name in needed:
                edits.append(with_flag(self.unit, body.function.params, f"bool &{name}"))
            elif named:
                edits.append(self._declared(body.function.body[0], name))
            else:
                continue  # its statements are lifted together, if at all
            statements |= {u.at for u in body.uses if u.at in keywords}
            calls = (u for u in named if self.unit.t[u.at] in needed)
            edits += [with_flag(self.unit, (u.at + 1, u.close), name) for u in calls]
        return MacroChains(Place(name, ops.PRED), frozenset(statements), tuple(edits), self.mixes)


def _always(body: _Body, u: Use) -> bool:
    """Whether a use sets the flag whenever its function is called."""
    reached = u.direct and len(u.block) == 1 and not u.loops and u.branches <= body.branches
    return reached and bool(u.flow.sets) and not _inside(body.returns, 0, u.at)


def _inside(places: Sequence[int], first: int, last: int) -> Sequence[int]:
    return places[bisect_left(places, first) : bisect_right(places, last)]
