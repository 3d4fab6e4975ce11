"""Variables of device code that are declared without an initializer and first used in a branch, found by tokens.

`definite_assignment` analyses these. Most functions declare none, so they need no parse.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from cu2port.core.late import regex
from cu2port.facts.structure import Function, may_be_in_macro
from cu2port.facts.unit import Unit
from cu2port.syntax.candidates import declared_without_value
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.neighbours import may_be_passed

_CONDITIONAL = frozenset("if else for while do switch case default #".split())
# a name after a type, and what ends a declarator without an initializer; comments and continuations may be between
_MAY_DECLARE = regex(r"[\w>*&/\\][\s*&/\\]+[A-Za-z_$\x80-\xff][\w$\x80-\xff]*[\s/\\]*(?:\[|[;,])")
# without any of these the first use of a variable sets it
_MAY_BRANCH = regex(rf"[#{{]|(?<![\w$\x80-\xff])(?:{'|'.join(sorted(_CONDITIONAL - {'#'}))})(?![\w$\x80-\xff])")
_SHORT = 8  # tokens of a macro that holds less than a declaration and a branch
_MAX_DEPTH = 40  # nested blocks
_BEFORE_BLOCK = frozenset({")", ";", "{", "}", ":", "else", "do", "const", "mutable"})  # of statements, not of values
# A macro of another file may assign to its argument; those with these names pass it to other lanes.
_LANE_MACRO = regex(r"\w*(?:SHFL|SHUFFLE|BCAST|BROADCAST|BALLOT|ANY|ALL)\w*")
_MACRO = regex(r"[A-Z][A-Z0-9_]+")
_CONTROL = frozenset("if for while switch sizeof".split())


class Candidate(NamedTuple):
    """A function, or the body of a macro, that declares such variables. `decls`: the tokens of their names; `names`:
    their names, and those of variables that may be computed from them."""

    fn: Function
    decls: set[int]
    names: set[str]


def find_candidates(unit: Unit, functions: Iterable[Function], tolerant: frozenset[str]) -> list[Candidate]:
    """Those of some functions, and of the file's macros, that declare variables which may have no value where they are
    passed by value. `tolerant`: names of functions that accept arguments without a value."""
    macros = (
        m
        for ms in (unit.macros.values() if may_be_in_macro(unit.text, ";", _MAY_DECLARE, _MAY_BRANCH) else ())
        for m in ms
        if m.stop - m.first > _SHORT and ";" in unit.t[m.first : m.stop]
    )
    bodies = [Function(m.name, m.first, m.first, (-1, -1), (m.first - 1, m.stop), frozenset()) for m in macros]
    found = ((f, candidates(unit, f.body[0] + 1, f.body[1], tolerant)) for f in (*functions, *bodies))
    return [Candidate(f, *c) for f, c in found if c is not None]


def is_macro(unit: Unit, name: str) -> bool:
    """Whether a called name is a macro: of the file, or of another file and not one of a cross-lane operation."""
    return name in unit.macros or (_MACRO.fullmatch(name) is not None and not _LANE_MACRO.fullmatch(name))


def candidates(unit: Unit, first: int, stop: int, tolerant: frozenset[str]) -> tuple[set[int], set[str]] | None:
    """Of the variables that tokens [first, stop) declare without an initializer, those whose next use is in a branch:
    the tokens of their names, and the names that their values may go to. None if each of them is certainly set before
    it is read, or is not passed to a call and not returned. Only the layout of statements is used, so that most
    functions need no parse."""
    ends = unit.between(first, stop, ";")
    names = list(declared_without_value(unit, ends, first))
    if not names:
        return None
    shape = _Shape(unit, first, stop, ends)
    found: dict[int, list[int]] = {}
    for decl in names:
        places = unit.lexed.places[unit.t[decl]]
        home = shape.block_of(decl)
        last = unit.match[home] if home >= first else stop
        uses = [k for k in places[bisect_right(places, decl) : bisect_left(places, last)] if not unit.is_member(k)]
        if not _may_matter(unit, decl, uses) or not any(may_be_passed(unit, k) for k in uses[1:]):
            continue
        block = shape.block_of(uses[0])
        if unit.t[shape.start_of(uses[0])] not in _CONDITIONAL and (
            block == home or (uses[-1] < unit.match[block] and not _is_switch(unit, block))
        ):
            continue  # the first use sets it, and all other uses come later
        found[decl] = uses
    unsure = {unit.t[decl] for decl, uses in found.items() if not shape.is_set_before(uses)}
    if not unsure or not shape.passes_on(unsure, tolerant):
        return None
    return {decl for decl in found if unit.t[decl] in unsure}, unsure


class _Shape:
    """The blocks and statements between tokens, found by braces and semicolons."""

    def __init__(self, unit: Unit, first: int, stop: int, ends: list[int]) -> None:
        self.unit, self.t, self.match = unit, unit.t, unit.match
        self.first, self.stop, self.ends = first, stop, ends
        headers = set()
        for i in unit.between(first, stop, "for"):
            if unit.match[i + 1] > 0:
                headers.update(ends[bisect_left(ends, i) : bisect_left(ends, unit.match[i + 1])][:2])
        self._braces = unit.between(first, stop, "{", "}")
        blocks, self._around = [first - 1], [first - 1]
        for k in self._braces:
            if self.t[k] == "{":
                blocks.append(k)
            elif len(blocks) > 1:
                blocks.pop()
            self._around.append(blocks[-1])
        self._home = unit.in_directive(first)  # of a macro's body
        self._starts = sorted((first - 1, *(k for k in ends if k not in headers), *self._braces))

    def block_of(self, k: int) -> int:
        """The `{` of the block around token k; the token before the first one if there is none."""
        return self._around[bisect_left(self._braces, k)]

    def start_of(self, k: int) -> int:
        """The first token of the statement around token k, or of the head of the block that opens at k."""
        return self._starts[bisect_left(self._starts, k) - 1] + 1

    def passes_on(self, names: set[str], tolerant: frozenset[str]) -> bool:
        """Whether the value of a variable, or one computed from it, may be passed to a function or to PTX, or returned.
        Adds the names of the variables computed from it to `names`."""
        todo, found = list(names), False
        while todo:
            for k in self.unit.between(self.first, self.stop, todo.pop()):
                start, block = self.start_of(k), self.block_of(k)
                found = found or (block >= self.first and self.t[block - 1] not in _BEFORE_BLOCK)
                for j in range(start, k):
                    tok = self.t[j]
                    if tok == "return" or (tok == "(" and self.match[j] > k and self._takes(self.t[j - 1], tolerant)):
                        found = True
                    elif tok == "=" and (name := self._target(j)) not in names:
                        names.add(name)
                        todo.append(name)
        return found

    def _takes(self, callee: str, tolerant: frozenset[str]) -> bool:
        """Whether a bracket after a token may open the arguments of a call that needs values."""
        if is_identifier(callee):
            return callee not in _CONTROL and callee not in tolerant and not is_macro(self.unit, callee)
        return callee in (">", ")", "]", "}")

    def _target(self, equals: int) -> str:
        """The variable that is assigned to before a `=`, as a whole or in part."""
        k = equals - 1
        while self.t[k] == "]" or self.t[k - 1] == ".":
            k = self.match[k] - 1 if self.t[k] == "]" and 0 < self.match[k] < k else k - 2
        return self.t[k]

    def is_set_before(self, uses: list[int]) -> bool:
        """Whether a variable with these uses is certainly set before each use that is not an assignment."""
        return self._list(uses, self.first - 1, 0) is not None

    def _list(self, uses: list[int], block: int, depth: int) -> bool | None:
        """Whether the statements of a block set the variable; None if a use in them may come before."""
        last = self.match[block] if block >= self.first else self.stop
        n = bisect_left(uses, block)
        while n < len(uses) and uses[n] < last:
            k = uses[n]
            for _ in range(_MAX_DEPTH):
                inner = self.block_of(k)
                if inner == block:
                    break
                k = inner
            else:
                return None
            done = self._statement(uses, self.start_of(k), depth + 1)
            if done is None or done[1]:
                return done and True
            if done[0] <= uses[n]:  # in something else, such as a switch
                return None
            n = bisect_left(uses, done[0])
        return False

    def _statement(self, uses: list[int], at: int, depth: int) -> tuple[int, bool] | None:
        """The token after the statement that begins at a token, and whether the statement sets the variable; None if it
        may be used before that."""
        t, match = self.t, self.match
        while t[at] == "#" and (directive := self.unit.in_directive(at)) is not None and directive.first == at:
            at = directive.stop
        n = bisect_left(uses, at)
        use = uses[n] if n < len(uses) else self.stop
        if t[at] == "{" and match[at] > at:
            sets = self._list(uses, at, depth) if depth < _MAX_DEPTH else None
            return None if sets is None else (match[at] + 1, sets)
        if t[at] in ("if", "for", "while"):
            head = at + 2 if t[at + 1] == "constexpr" else at + 1
            if t[head] != "(" or match[head] < 0 or depth > _MAX_DEPTH:
                return None
            if t[at] == "for" and use == at + 2 and t[use + 1] == "=" and self._is_assigned(uses, n):
                return use, True
            if use < match[head]:
                return None
            then = self._statement(uses, match[head] + 1, depth + 1)
            if t[at] != "if" or then is None or t[then[0]] != "else":
                return then and (then[0], False)
            other = self._statement(uses, then[0] + 1, depth + 1)
            return other and (other[0], then[1] and other[1])
        if t[at] == "else":
            other = self._statement(uses, at + 1, depth + 1)
            return other and (other[0], False)
        end = self.ends[bisect_left(self.ends, at)] if at < self.ends[-1] else self.stop
        if use > end:
            return end + 1, False
        sets = use == at and t[at + 1] == "=" and self._is_assigned(uses, n)
        return (end + 1, True) if sets and self.unit.in_directive(at) is self._home else None

    def _is_assigned(self, uses: list[int], n: int) -> bool:
        """Whether the n-th use is the only one up to the end of the statement."""
        return n + 1 == len(uses) or uses[n + 1] > self.ends[bisect_left(self.ends, uses[n])]


def _may_matter(unit: Unit, decl: int, uses: list[int]) -> bool:
    """Whether clang may assume that a variable is set: an array with an element of constant index, an object with a
    member that is used, or a variable that is assigned as a whole or may be a number."""
    t = unit.t
    if t[decl + 1] == "[":
        return any(
            t[k - 1] in ("(", ",") and t[k + 1] == "[" and t[k + 2][0].isdigit() and unit.tok(k + 4) in (")", ",")
            for k in uses
        )
    after = {t[k + 1] for k in uses}
    if t[decl - 1] == ">":  # an object of a class template, or a type from one
        return "." in after
    return "=" in after or "." in after or any(t[k - 1] in ("&", "(", ",") for k in uses)


def _is_switch(unit: Unit, block: int) -> bool:
    return unit.t[block - 1] == ")" and unit.t[unit.match[block - 1] - 1] == "switch"
