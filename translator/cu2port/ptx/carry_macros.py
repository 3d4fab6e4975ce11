"""Carry chains over macros and small functions: one sets the flag (`add.cc`), another reads it (`addc`), and functions
use them in turn.

A macro's C++ names a flag that each function which uses such macros declares at its top; a lambda that uses them has
one of its own. A function (`carry_functions.py`) has it as a parameter. This is done for a file where every use is
understood: it is in a function, and what reads the flag comes after a use that certainly set it, with nothing in
between that may set another. Files that include the macros or functions are told of them by the tree
(`facts/carry_definitions.py`); a function that has no flag does not compile.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cu2port.core.model import Edit, insert
from cu2port.facts.carry_definitions import carry_flag, has_carry
from cu2port.facts.structure import Function, Macro
from cu2port.facts.unit import Unit
from cu2port.ptx import ops
from cu2port.ptx.asm import AsmStatement, statements
from cu2port.ptx.calls import macro_around
from cu2port.ptx.carry import Flow
from cu2port.ptx.carry_functions import CarryFunction, carry_functions, statement_around, with_flag
from cu2port.ptx.carry_steps import NOTHING, UnclearError, in_turn, mix, statement_flow
from cu2port.ptx.ir import Place
from cu2port.ptx.macros import live_definitions
from cu2port.ptx.surroundings import Loop, Surroundings, calls_nothing, is_plain, loops_since, sees, surroundings
from cu2port.ptx.taken import is_left_out
from cu2port.syntax.lexer import is_identifier, lex
from cu2port.syntax.words import CONDITIONS, LEAVING

_DIRECT = frozenset({";", "{", "}"})
#: what makes a macro's body more than statements one after another; `do ... while (0)` is no loop
_WAYS = (CONDITIONS | LEAVING | {"else", "case", "#", "##"}) - {"while"}
_NEVER = (["(", "0", ")"], ["(", "false", ")"])
_LAMBDA = (["[", "]"], ["[", "&"], ["[", "="])
_MOST = 50  # how many earlier uses are looked at for the one that set the flag


@dataclass(frozen=True, slots=True)
class MacroChains:
    """`flag`: what the macros' C++ names. `statements`: the asm statements in macros and functions that get it, by
    keyword. `edits`: its declarations, parameters and arguments. `mixes_carry`: an addition may read the flag of a
    subtraction, or the other way round."""

    flag: Place
    statements: frozenset[int]
    edits: tuple[Edit, ...]
    mixes_carry: bool


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a macro or function, by its name's token: `close` is its last. `first`: of the statement that it is in.
    `flow`: what its statements do together. `block`: the brackets around that statement, from its function's on.
    `direct`: it is done under no condition of its own in the innermost. `branches`: the conditionals around it."""

    at: int
    first: int
    close: int
    flow: Flow
    block: tuple[int, ...]
    loops: tuple[Loop, ...]
    direct: bool
    branches: frozenset[int]


def macro_chains(unit: Unit, wanted: Iterable[AsmStatement]) -> MacroChains | None:
    """The chains over macros of a file; None where there are none, or where one is not understood."""
    listed = list(wanted)
    touching = [s for s in listed if not s.readings or any(has_carry(r.text) for r in s.readings)]
    functions = carry_functions(unit, touching)
    if not functions and not any(s.macro is not None and s.readings for s in touching):
        return None
    name = carry_flag(unit.path)
    if name in unit.words:
        return None
    try:
        return Chains(unit, listed, touching, functions).found(name)
    except UnclearError:
        return None


@dataclass(frozen=True, slots=True)
class Included:
    """Uses of a header's macros: `at` is the first. `chains`: what they need; None where one is not understood."""

    at: int
    chains: MacroChains | None


def included_chains(unit: Unit) -> Included | None:
    """The chains over macros of a header in the functions of this file; None where there are none."""
    by_flag: dict[str, list[str]] = {}
    for flag, _, line in (line.partition(" ") for line in sorted(unit.project.carry)):
        by_flag.setdefault(flag, []).append(line)
    own = unit.macros.keys() | {f.name for f in unit.functions} if by_flag else frozenset()
    names = {flag: {_named(line) for line in lines} - own for flag, lines in by_flag.items()}
    flags = {flag for flag, found in names.items() if any(unit.find(name) for name in found)}
    made = {flag: Unit("\n".join([*by_flag[flag], ""]), unit.catalog, path=unit.path) for flag in flags - unit.words}
    made = {flag: header for flag, header in made.items() if _hands_on(header)}
    if not made:
        return None
    used = {name for flag in made for name in names[flag] if unit.find(name)}
    first = min(i for name in used for i in unit.find(name))
    listed = list(statements(unit)) if unit.asms else []
    touching = [s for s in listed if not s.readings or any(has_carry(r.text) for r in s.readings)]
    if len(made) > 1 or any(s.macro is not None for s in touching):
        return Included(first, None)
    ((flag, header),) = made.items()
    in_header = list(statements(header))
    there = Chains(header, in_header, ())
    functions = carry_functions(header, in_header)
    chains = Chains(unit, listed, touching, functions)
    try:
        chains.flows = {name: there.flow_of(name) for name in sorted(used - functions.keys()) if name in header.macros}
        return Included(first, chains.used(flag, frozenset()))
    except UnclearError:
        return Included(first, None)


def _named(line: str) -> str:
    """The name of a macro or a function of a header."""
    words = lex(line).t
    return words[2] if words[0] == "#" else words[words.index("(") - 1]


def _hands_on(header: Unit) -> bool:
    """Whether one of a header's macros or functions may read a flag that another one set."""
    try:
        return any(statement_flow(s).takes for s in statements(header))
    except UnclearError:
        return True


@dataclass(eq=False)
class Chains:
    unit: Unit
    listed: Sequence[AsmStatement]
    touching: Sequence[AsmStatement]
    functions: Mapping[str, Sequence[CarryFunction]] = field(default_factory=dict)  # of the file, or of the header
    flows: dict[str, Flow] = field(default_factory=dict)  # of macros that touch the flag
    quiet: dict[str, bool] = field(default_factory=dict)  # whether other macros call nothing
    mixes: bool = False  # whether a macro of macros lets an addition read the flag of a subtraction

    def found(self, name: str) -> MacroChains | None:
        in_macros = [(s.keyword, s.macro.name) for s in self.touching if s.macro is not None and s.readings]
        self.flows = dict.fromkeys((name for _, name in in_macros), NOTHING)
        for macro in list(self.flows):
            self.flows[macro] = self.flow_of(macro)
        if not self.functions and not any(f.takes for f in self.flows.values()):
            return None
        own = [one for same in self.functions.values() for one in same]
        statements = frozenset((*(keyword for keyword, _ in in_macros), *(one.statement.keyword for one in own)))
        made = self.used(name, statements)
        params = (with_flag(self.unit, one.function.params, f"bool &{name}") for one in own)
        return replace(made, edits=(*made.edits, *params))

    def flow_of(self, name: str) -> Flow:
        """What a macro does by itself."""
        return self._flow(self._definition(name), frozenset({name}))

    def used(self, name: str, statements: frozenset[int]) -> MacroChains:
        """What the uses of macros need, given what each macro does. Without uses here, other files have them."""
        if self.functions.keys() & (self.unit.macros.keys() | self.flows.keys()):
            raise UnclearError
        self.flows |= {function: same[0].flow for function, same in self.functions.items()}
        self._others()
        groups = self._groups()
        mixes = [self.mixes, *(self._mixes(uses, around) for uses, around in groups.values())]
        edits = [self._declared(opener, name) for opener in sorted(groups)]
        calls = (u for uses, _ in groups.values() for u in uses if self.unit.t[u.at] in self.functions)
        edits += (with_flag(self.unit, (u.at + 1, u.close), name) for u in calls)
        return MacroChains(Place(name, ops.PRED), statements, tuple(edits), any(mixes))

    # --- macros -------------------------------------------------------------------------------------------------------

    def _definition(self, name: str) -> Macro:
        found = live_definitions(self.unit, name)
        if len(found) != 1 or found[0].params is None or "..." in found[0].params:
            raise UnclearError
        return found[0]

    def _others(self) -> None:
        """Finds macros that use those which touch the flag."""
        work = [name for name in self.flows if name not in self.functions]
        while work:
            for i in self.unit.find(work.pop()):
                macro = macro_around(self.unit, i)
                if macro is None or macro.name in self.flows or is_left_out(self.unit, macro.directive.start):
                    continue
                self.flows[macro.name] = self.flow_of(macro.name)
                work.append(macro.name)

    def _flow(self, macro: Macro, through: frozenset[str]) -> Flow:
        """What the statements of a macro's body, one after another, do to the flag."""
        t, match = self.unit.t, self.unit.match
        if any(t[i] in _WAYS for i in range(macro.first, macro.stop)):
            raise UnclearError
        own = {s.keyword: s for s in self.listed if s.macro is not None and s.macro.directive is macro.directive}
        steps = []
        i = macro.first
        while i < macro.stop:
            if i in own:
                steps.append(statement_flow(own[i]))
                i = own[i].close
            elif t[i : i + 2] in _LAMBDA or (t[i] == "while" and t[i + 1 : i + 4] not in _NEVER):
                raise UnclearError
            elif i + 1 < macro.stop and t[i + 1] == "(" and match[i + 1] > i and self._is_macro(t[i]):
                inner = self._used(t[i], through)
                if inner is not None:
                    if t[i - 1] not in (*_DIRECT, "do") and i > macro.first:
                        raise UnclearError
                    steps.append(inner)
                i += 1
            elif t[i] == "(" and not calls_nothing(self.unit, i - 1) and not self._quiet(t[i - 1]):
                raise UnclearError
            i += 1
        self.mixes = self.mixes or mix(steps)
        return in_turn(steps)

    def _is_macro(self, name: str) -> bool:
        return name in self.unit.macros or name in self.flows

    def _used(self, name: str, through: frozenset[str]) -> Flow | None:
        """What the use of a macro in another one's body does; None: nothing."""
        if name in through:
            raise UnclearError
        if name in self.flows and self.flows[name] is not NOTHING:
            return self.flows[name]
        if self._quiet(name):
            return None
        return self._flow(self._definition(name), through | {name})

    def _quiet(self, name: str) -> bool:
        """Whether a name is that of a macro which calls nothing and leaves the flag alone."""
        if name not in self.quiet:
            self.quiet[name] = False  # while it is looked at: a macro does not use itself
            found = live_definitions(self.unit, name)
            self.quiet[name] = bool(found) and name not in self.flows and all(self._calls_nothing(m) for m in found)
        return self.quiet[name]

    def _calls_nothing(self, macro: Macro) -> bool:
        t = self.unit.t
        if any(s.macro is not None and s.macro.directive is macro.directive for s in self.touching):
            return False
        return macro.params is not None and all(
            t[i] != "(" or calls_nothing(self.unit, i - 1) or self._quiet(t[i - 1])
            for i in range(macro.first, macro.stop)
        )

    # --- uses ---------------------------------------------------------------------------------------------------------

    def _groups(self) -> Mapping[int, tuple[list[Use], Surroundings]]:
        """The uses in each function and lambda, by its `{`, and what is around them."""
        by_function: dict[int, tuple[Function, list[int]]] = {}
        direct = [s.keyword for s in self.touching if s.macro is None]
        for i in sorted(i for name in self.flows for i in self.unit.find(name)):
            if self.unit.in_directive(i) is not None:
                if self.unit.t[i] in self.functions and macro_around(self.unit, i) is not None:
                    raise UnclearError
                continue  # in another macro, which has a flow, or in no code
            if self.unit.is_dead(self.unit.p[i]) or is_left_out(self.unit, self.unit.p[i]):
                continue
            if self.unit.t[i] in self.functions and self._is_no_use(i):
                continue
            f = self.unit.function_at(i)
            if f is None or not f.body[0] < i < f.body[1] or self.unit.t[i + 1] != "(" or self.unit.match[i + 1] < i:
                raise UnclearError
            by_function.setdefault(f.first, (f, []))[1].append(i)
        operators = self._operators([f for f, _ in by_function.values()], direct)
        out: dict[int, tuple[list[Use], Surroundings]] = {}
        for f, places in by_function.values():
            around = surroundings(self.unit, f, frozenset(places), operators)
            if around.jumps:
                raise UnclearError
            around = replace(around, calls=sorted((*around.calls, *direct)))
            for i in places:
                opener, use = self._use(i, around)
                out.setdefault(opener, ([], around))[0].append(use)
        return out

    def _is_no_use(self, i: int) -> bool:
        """Whether the name of a function is that of its definition here, or of a member of something."""
        if self.unit.is_member(i):
            return True
        if any(one.function.name_at == i for one in self.functions[self.unit.t[i]]):
            return self.unit.declarations.declared_at(i) is not None
        return False

    def _operators(self, functions: Iterable[Function], direct: Iterable[int]) -> frozenset[str]:
        """The operators of the file that touch the flag, so that they are calls."""
        others = (self.unit.function_at(i) for i in direct)
        names = {f.name for f in (*functions, *others) if f is not None and f.name.startswith("operator")}
        found = frozenset(lex(name.removeprefix("operator")).t[0] for name in names)
        if any(is_identifier(name) for name in found):
            raise UnclearError  # a conversion, which nothing shows
        return found

    def _use(self, i: int, around: Surroundings) -> tuple[int, Use]:
        """A use, and the `{` of the function or lambda that it is in."""
        t = self.unit.t
        block, loops = around.places[i]
        statement, direct = i, True
        if t[i] in self.functions:
            statement, direct, depth = statement_around(self.unit, i, block)
            block = block[:depth]
        if any(t[b] != "{" for b in block):
            raise UnclearError
        first = next((k for k in range(len(block) - 1, -1, -1) if not is_plain(self.unit, block[k : k + 1])), 0)
        if first and not self._is_lambda(block[first]):
            raise UnclearError
        before = statement - 1
        while (d := self.unit.in_directive(before)) is not None:
            before = d.first - 1
        branches = frozenset(g.opener for g in self.unit.conditions(self.unit.p[i]))
        loops = tuple(loop for loop in loops if loop[0] > block[first])
        direct = direct and t[before] in _DIRECT
        if not direct and not self._is_one_statement(t[i]):
            raise UnclearError
        use = Use(i, statement, self.unit.match[i + 1], self.flows[t[i]], block[first:], loops, direct, branches)
        return block[first], use

    def _is_one_statement(self, name: str) -> bool:
        """Whether an `if` in front of a macro's use is about all of it."""
        if name not in self.unit.macros:
            return True  # a header's, which is one asm statement
        m, t = self._definition(name), self.unit.t
        in_brackets = t[m.first] == "{" and self.unit.match[m.first] == m.stop - 1
        return in_brackets or t[m.first] == "do" or ";" not in t[m.first : m.stop - 1]

    def _is_lambda(self, opener: int) -> bool:
        t, match = self.unit.t, self.unit.match
        before = opener - 1
        while t[before] in ("mutable", "__device__", "__host__") or t[before] == ")":
            before = match[before] - 1 if t[before] == ")" else before - 1
        return t[before] == "]" and t[match[before] - 1] not in ("]", ")") and match[before] > 0

    def _mixes(self, uses: Sequence[Use], around: Surroundings) -> bool:
        """Whether additions and subtractions may read each other's flag.

        Raises UnclearError where a use may read a flag that no other one of its function certainly set.
        """
        mixes = False
        own = {u.at + 1 for u in uses}
        quiet = {i for i in around.calls if i not in own and self.unit.t[i] == "(" and self._quiet(self.unit.t[i - 1])}
        calls = [i for i in around.calls if i not in own and i not in quiet]
        if self.functions:
            if len({u.first for u in uses}) < len(uses):
                raise UnclearError  # which of two is first is open
            calls = [i for i in calls if not self._keeps_flag(i)]
        places = [u.at for u in uses]
        for k, use in enumerate(uses):
            if not use.flow.takes:
                continue
            n = self._setter(uses, k, calls)
            stop = max((bisect_right(places, end) for _, end in loops_since(uses[n], use)), default=k + 1)
            kinds = frozenset().union(*(u.flow.kinds for u in uses[n : max(stop, k + 1)]))
            mixes = mixes or len(kinds) > 1
        return mixes

    def _keeps_flag(self, i: int) -> bool:
        """Whether a call's bracket is that of a function by its name which does not use the flag. A flag that it sets
        by functions of its own is another one, and one that it leaves to its caller would be known."""
        name = self.unit.t[i - 1]
        return self.unit.t[i] == "(" and is_identifier(name) and name not in self._using

    @cached_property
    def _using(self) -> frozenset[str]:
        """The functions of the file that touch the flag, and what may be a macro that does."""
        places = [s.keyword for s in self.touching] + [i for name in self.flows for i in self.unit.find(name)]
        around = (self.unit.function_at(i) for i in places)
        return frozenset({f.name for f in around if f is not None} | self.unit.macros.keys())

    def _setter(self, uses: Sequence[Use], k: int, calls: Sequence[int]) -> int:
        """Which use certainly set the flag that use k reads."""
        use = uses[k]
        for n in range(k - 1, max(-1, k - 1 - _MOST), -1):
            x = uses[n]
            if not (x.direct and sees(use, x) and x.flow.sets):
                continue
            spans = ((x.close, use.close), *loops_since(x, use))
            if any(bisect_right(calls, last) > bisect_right(calls, first) for first, last in spans):
                break
            return n
        raise UnclearError

    def _declared(self, opener: int, name: str) -> Edit:
        """The flag's declaration at the top of a function."""
        at = self.unit.end(opener)
        m = re.compile(r"[ \t]*(\r\n|\r|\n)([ \t\r\n]*)").match(self.unit.text, at)
        if m is None:
            return insert(at, f" bool {name} = {{}};")
        indent = re.split(r"[\r\n]", m[2])[-1]
        return insert(at, f"{m[1]}{indent}bool {name} = {{}};")
