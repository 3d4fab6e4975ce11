"""What copies made for `simulate --check` hold besides: where each statement of device code begins, and its branches.

With them the lanes of a wave can be run in lockstep, access by access, and the arms of a branch in either order; and
variables that are declared without a value hold one that is different in each lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import ALLOCATION, ASM, CLASS_KEYS, CV, DECLARATION_WORDS, MEMORY_SPACES, STATEMENTS, STORAGE
from cu2port.verify.statements import Statements

_NS = "::cu2port_sim::"
_CHOICE = "cu2port_c"
_DEVICE = frozenset({"__global__", "__device__"})
_NO_TYPE = (
    STATEMENTS
    | ALLOCATION
    | DECLARATION_WORDS
    | ASM
    | STORAGE
    | CV
    | CLASS_KEYS
    | MEMORY_SPACES
    | {"constexpr", "typename"}
)
_AT_COMPILE_TIME = frozenset({"constexpr", "consteval"})
Insert = Callable[[int, str], None]


def has_steps(unit: Unit, f: Function) -> bool:
    """Whether a function's statements can be distinguished: device code that nobody computes at compile time."""
    return bool(f.sides & _DEVICE) and _AT_COMPILE_TIME.isdisjoint(_words(unit, f))


def _words(unit: Unit, f: Function) -> Iterator[str]:
    """What is before a function's parameters, and what macros of its file make of that."""
    for word in unit.t[f.first : f.params[0]]:
        yield word
        for m in unit.macros.get(word, ()):
            yield from unit.t[m.first : m.stop]


def mark_steps(body: Statements, before: Insert, after: Insert) -> None:
    """Mark the statements and branches of a function's body. `before(i, text)` inserts before token i."""
    _Marker(body, before, after).statements(body.first, body.stop)


def unset(unit: Unit, first: int, stop: int) -> list[str]:
    """The variables that a statement, tokens [first, stop), declares without a value: `unsigned a, b = 1;` has `a`."""
    t = unit.t
    if t[stop - 1] != ";" or not is_identifier(t[first]) or not _NO_TYPE.isdisjoint(t[first:stop]):
        return []
    k = first
    while is_identifier(t[k]) and (is_identifier(t[k + 1]) or t[k + 1] in ("::", "<")):
        k = unit.angle_close(k + 1) if t[k + 1] == "<" else k
        k += 2 if t[k + 1] == "::" else 1
        if k <= first or k >= stop:
            return []
    if k == first or not is_identifier(t[k]) or t[k - 1] == "::":
        return []  # one word is no declaration
    out = []
    for declarator in unit.split_args(k, stop - 1):
        if not is_identifier(t[k]):
            break
        name, k = t[k], k + 1
        while t[k] == "[":
            k = unit.match[k] + 1
        if t[k] in (",", ";"):
            out.append(name)
        while k < stop and unit.p[k] < declarator.end:
            k += 1
        k += 1
    return out


class _Marker:
    def __init__(self, body: Statements, before: Insert, after: Insert) -> None:
        self.body, self.unit = body, body.unit
        self.before, self.after = before, after

    def statements(self, first: int, stop: int) -> None:
        """The statements of a block, without its brackets."""
        k = self.body.skip(first)
        while k < stop:
            end = self.body.end(k)
            if end <= k:
                return
            self.statement(k, True)
            k = self.body.skip(end)

    def statement(self, i: int, in_block: bool) -> None:
        """One statement and what it holds. A mark needs a block around it."""
        t, body = self.unit.t, self.body
        i = body.skip(i)
        if i >= body.stop:
            return
        while t[i] in ("case", "default"):
            while i < body.stop and t[i] != ":":
                i = body.skip(i + 1)
            i = body.skip(i + 1)
            if i >= body.stop:
                return
        word = t[i]
        if in_block and word not in ("{", "}", ";") and self.unit.in_directive(i - 1) is None:
            self.before(i, f"{_NS}here(__COUNTER__); ")
            if body.tokens(i, body.end(i)) == list(range(i, body.end(i))):
                for name in unset(self.unit, i, body.end(i)):
                    self.after(body.end(i) - 1, f" {_NS}unset({name}, __COUNTER__);")
        if word == "{":
            self.statements(i + 1, body.end(i) - 1)
        elif word == "if":
            self._if(i)
        elif word in ("for", "while", "switch"):
            head = body.head(i)
            if head is not None:
                self.statement(head[1] + 1, False)
        elif word in ("do", "try"):
            self.statement(i + 1, False)

    def _if(self, i: int) -> None:
        body, t = self.body, self.unit.t
        head = body.head(i)
        if head is None:
            return
        first = body.skip(head[1] + 1)
        end = body.end(first)
        other = body.skip(end)
        arms = [(first, end)]
        if other < body.stop and t[other] == "else":
            arms.append((body.skip(other + 1), body.end(other)))
        if len(arms) == 2 and t[i + 1] == "(" and all(self._whole(*arm) for arm in arms):
            self.before(i, f"if ({_NS}Choice {_CHOICE}(__COUNTER__); true) ")
            for n, (a, b) in enumerate(arms, 1):
                mark = f"{_CHOICE}.arm({n});"
                if t[a] == "{":
                    self.after(a, f" {mark}")
                else:
                    self.before(a, f"{{ {mark} ")
                    self.after(b - 1, " }")
        for a, _ in arms:
            self.statement(a, False)

    def _whole(self, first: int, stop: int) -> bool:
        """Whether an arm is a block, or can be made one: no `#if` parts it."""
        if first >= stop:
            return False
        return self.unit.t[first] == "{" or self.body.tokens(first, stop) == list(range(first, stop))
