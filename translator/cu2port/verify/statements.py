"""Where statements end, by tokens alone: enough to know what a loop encloses and what a block's last statement is."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

LOOPS = frozenset({"for", "while", "do"})
_SHARING = frozenset({"for", "simd", "loop", "taskloop", "distribute"})  # OpenMP's directives that take a loop
_WITH_HEAD = frozenset({"for", "while", "if", "switch", "catch"})


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop. Token indices: its keyword; the brackets of its head (of `while (...)` at the end for `do`); the first
    token of its body and the one after the body; the one after the whole statement. `body` is -1 where the loop's
    body is outside the range looked at (a macro that holds only the head)."""

    keyword: int
    head: tuple[int, int]
    body: int
    body_stop: int
    stop: int


def lambda_bodies(unit: Unit, first: int, stop: int) -> list[tuple[int, int]]:
    """The braces of lambdas between two tokens."""
    t = unit.t
    out = []
    for i in range(first, stop):
        before = unit.tok(i - 1)
        element = before in (")", "]") or (is_identifier(before) and before != "return")
        if t[i] != "[" or element or "[" in (before, t[i + 1]):  # `[[` begins an attribute
            continue
        k = unit.match[i] + 1
        if k > 0 and unit.tok(k) == "(":
            k = unit.match[k] + 1
        while 0 < k < stop and t[k] not in ("{", ";", ")", ",", "}"):
            k += 1  # `mutable`, `-> int`
        if 0 < k < stop and t[k] == "{":
            out.append((k, unit.match[k]))
    return out


class Statements:
    """Statements in tokens [first, stop) of a unit: a function's body, or a macro's. Directives inside are skipped."""

    def __init__(self, unit: Unit, first: int, stop: int, macro: bool = False) -> None:
        self.unit = unit
        self.first, self.stop = first, stop
        self._jump: dict[int, int] = {}
        if not macro:
            for d in unit.directives:
                if first <= d.first < stop:
                    self._jump[d.first] = d.stop

    def skip(self, i: int) -> int:
        """The first token at or after i that belongs to no directive."""
        while i in self._jump:
            i = self._jump[i]
        return i

    def tokens(self, first: int, stop: int) -> list[int]:
        """Indices in [first, stop) without directives."""
        out = []
        i = self.skip(first)
        while i < stop:
            out.append(i)
            i = self.skip(i + 1)
        return out

    def _partner(self, i: int) -> int:
        """The partner of an opening bracket inside the range, or -1."""
        k = self.unit.match[i]
        return k if i < k < self.stop else -1

    def _closes_foreign(self, i: int) -> bool:
        """Whether token i closes a block that is opened before the range."""
        return self.unit.t[i] == "}" and i >= self.first > self.unit.match[i]

    def end(self, i: int) -> int:
        """The token after the statement that starts at token i (at most `stop`)."""
        i = self.skip(i)
        if i >= self.stop:
            return self.stop
        t = self.unit.t
        tok = t[i]
        if tok == "{":
            k = self._partner(i)
            return k + 1 if k > 0 else self.stop
        if tok == "do":
            k = self.skip(self.end(i + 1))
            if k < self.stop and t[k] == "while":
                head = self.head(k)
                if head is not None:
                    return self._after_semicolon(head[1] + 1)
            return self.stop
        if tok == "else":
            return self.end(i + 1)
        if tok == "try":
            k = self.end(i + 1)
            while self.skip(k) < self.stop and t[self.skip(k)] == "catch":
                k = self.end(self.skip(k))
            return k
        if tok in ("case", "default"):
            k = i
            while k < self.stop and t[k] != ":":
                k = self.skip(k + 1)
            return self.end(k + 1)
        if tok in _WITH_HEAD:
            head = self.head(i)
            if head is None:
                return self.stop
            k = self.end(head[1] + 1)
            if tok == "if":
                j = self.skip(k)
                if j < self.stop and t[j] == "else":
                    return self.end(j + 1)
            return k
        return self._simple_end(i)

    def head(self, i: int) -> tuple[int, int] | None:
        """The brackets after the keyword at token i, if they are in the range."""
        k = i + 1
        if self.unit.tok(k) == "constexpr":
            k += 1
        if self.unit.tok(k) == "(" and self._partner(k) > 0:
            return k, self._partner(k)
        return None

    def _after_semicolon(self, i: int) -> int:
        i = self.skip(i)
        return i + 1 if i < self.stop and self.unit.t[i] == ";" else i

    def _simple_end(self, i: int) -> int:
        t = self.unit.t
        while i < self.stop:
            tok = t[i]
            if tok == ";":
                return i + 1
            if tok in ("(", "[", "{"):
                k = self._partner(i)
                if k < 0:
                    return self.stop
                i = k
            elif tok in (")", "]", "}"):
                return i
            i = self.skip(i + 1)
        return self.stop

    def loops(self) -> list[Loop]:
        """All loops in text order; `do { } while (0)` is none."""
        t = self.unit.t
        out = []
        tails = set()  # `while` keywords that close a `do`
        for i in self.tokens(self.first, self.stop):
            if t[i] not in LOOPS or i in tails:
                continue
            if t[i] == "do":
                body = self.skip(i + 1)
                body_stop = self.end(body)
                tail = self.skip(body_stop)
                head = self.head(tail) if tail < self.stop and t[tail] == "while" else None
                if head is None:
                    continue
                tails.add(tail)
                if t[head[0] + 1 : head[1]] not in (["0"], ["false"]):
                    out.append(Loop(i, head, body, body_stop, self._after_semicolon(head[1] + 1)))
                continue
            head = self.head(i)
            if head is None:
                continue
            body = self.skip(head[1] + 1)
            if t[i] == "while" and self._closes_foreign(i - 1) and (body >= self.stop or t[body] == ";"):
                continue  # of a `do` that another macro opens
            if body >= self.stop:
                out.append(Loop(i, head, -1, self.stop, self.stop))
            else:
                stop = self.end(body)
                out.append(Loop(i, head, body, stop, stop))
        return out

    def shared_out(self) -> list[tuple[int, int]]:
        """The loops whose turns OpenMP shares out among threads: tokens [first, stop) of each."""
        out = []
        known = self.unit.directives
        first, stop = (bisect_left(known, at, key=lambda d: d.first) for at in (self.first, self.stop))
        for d in known[first:stop]:
            words = self.unit.t[d.first : d.stop]
            if words[1:3] == ["pragma", "omp"] and _SHARING.intersection(words):
                first = self.skip(d.stop)
                out.append((first, self.end(first)))
        for i in self.tokens(self.first, self.stop):
            said = self.unit.t[i + 2].strip('"').split() if self.unit.t[i] == "_Pragma" else []
            if said[:1] == ["omp"] and _SHARING.intersection(said):
                first = self.skip(i + 4)
                out.append((first, self.end(first)))
        return out

    def arms(self) -> list[tuple[int, int]]:
        """The branches of all `if`s: tokens [first, stop) of each arm's statement."""
        t = self.unit.t
        out = []
        for i in self.tokens(self.first, self.stop):
            if t[i] == "if":
                head = self.head(i)
                if head is not None:
                    body = self.skip(head[1] + 1)
                    out.append((body, self.end(body)))
            elif t[i] == "else":
                body = self.skip(i + 1)
                if body < self.stop and t[body] != "if":
                    out.append((body, self.end(body)))
        return out

    def last(self, first: int, stop: int) -> tuple[int, int]:
        """The last statement of a statement: of a block its last one, else the statement itself."""
        if self.unit.t[first] != "{":
            return first, stop
        k = self.skip(first + 1)
        found = (first, first)
        while k < stop - 1:
            end = self.end(k)
            if end <= k:
                break
            if self.unit.t[k] != ";":
                found = (k, end)
            k = self.skip(end)
        return found
