"""Where something between lanes may hang or go wrong at all, told by tokens: most files need no more than this."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence, Set

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.code import Code
from cu2port.syntax.extents import statement_end
from cu2port.syntax.neighbours import element_writes
from cu2port.warp import builtins

#: Waiting for another thread starts with one of these.
HAZARDS = frozenset(builtins.TAKES | {"volatile", "coalesced_threads", "asm", "__asm__", "__asm", "VOLATILE"})
_POLLS = frozenset(builtins.TAKES | {"volatile", "coalesced_threads"})
_ASM = frozenset({"asm", "__asm__", "__asm"})
_LEAVING = frozenset({"return", "break", "continue", "goto"})
_MEETINGS = builtins.FILTER | {"sync", "shfl", "shfl_xor", "shfl_down", "shfl_up", "ballot"}
_FOREVER = frozenset({"1", "true", ";"})
_SHORT = 40  # tokens: a loop that only waits is no longer
_IN_ASM = ("bar.sync", "barrier.sync", "bar.arrive", "barrier.arrive", "try_wait", "test_wait", "ld.acquire",
           "ld.volatile", "barrier.cta", "bar.red")  # fmt: skip


def triggers(unit: Unit) -> bool:
    """Whether a file has anything that lanes may wait for or meet at in different branches."""
    words = unit.words
    if words & _POLLS or words & _MEETINGS or "__shared__" in words or ("while" in words and "threadIdx" in words):
        return True
    if words & _ASM and any(x in unit.text for x in _IN_ASM):
        return True
    return bool(_waits(words))


def _waits(words: Set[str]) -> set[str]:
    """Those of some names that refer to waiting or of a barrier for some."""
    return {
        w
        for w in words
        if (("ait" in w or "cquire" in w) and builtins.WAITS.match(w) is not None) or "amedBarrier" in w
    }


def hazardous(unit: Unit, functions: Sequence[Function], loud: set[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the functions that hold such a thing in a place where it may hurt, and of those where lanes meet.

    `loud`: volatile variables of the file.
    """
    t = unit.t
    meet = set(_MEETINGS) & unit.words
    poll = (_POLLS | loud) - {"volatile"}
    poll |= {name for name, ms in unit.macros.items() if any(_POLLS & set(t[m.first : m.stop]) for m in ms)}
    poll |= {name for name, ms in unit.macros.items() if any(_meets(unit, m.first, m.stop, meet) for m in ms)}
    waits = _waits(unit.words) | (unit.words & {"wait"})
    asm_in = {d for d in _ASM if d in unit.words}
    waits |= {
        name
        for name, ms in unit.macros.items()
        if any(
            not waits.isdisjoint(t[m.first : m.stop])
            or (not asm_in.isdisjoint(t[m.first : m.stop]) and _speaks(unit, m.first, m.stop))
            for m in ms
        )
    }
    meeting = {f.name for f in functions if not meet.isdisjoint(t[f.body[0] : f.body[1]])}
    meeting |= {name for name, ms in unit.macros.items() if any(not meet.isdisjoint(t[m.first : m.stop]) for m in ms)}
    out = set()
    for f in functions:
        first, stop = f.body
        words = set(t[f.first : stop])
        if (
            not words.isdisjoint(poll)
            or ("volatile" in words and _is_volatile(unit, f.first, stop))
            or not words.isdisjoint(waits)
            or (asm_in & words and _speaks(unit, first, stop))
            or ("__shared__" in words and _steps(unit, first, stop, meet))
            or ("while" in words and _idles(unit, first, stop))
            or _meets(unit, first, stop, (meet & words) | (meeting & words))
        ):
            out.add(f.name)
    return frozenset(out), frozenset(meeting)


def _is_volatile(unit: Unit, first: int, stop: int) -> bool:
    """Whether something is volatile between two tokens that is no asm statement."""
    t = unit.t
    return any(t[k] == "volatile" and t[k - 1] not in _ASM for k in range(first, stop))


def _speaks(unit: Unit, first: int, stop: int) -> bool:
    """Whether an asm statement between two tokens waits or meets."""
    text = unit.source(first, stop)
    return any(x in text for x in _IN_ASM)


def _steps(unit: Unit, first: int, stop: int, meet: set[str]) -> bool:
    """Whether an array is written from another place of its own, with no barrier behind: `s[i] += s[i + n];`."""
    t, match = unit.t, unit.match
    for close, end in element_writes(unit, first, stop, _SHORT):
        name, index = t[match[close] - 1], t[match[close] + 1 : close]
        if name in t[close + 2 : end] and meet.isdisjoint(t[end + 1 : end + 5]):
            for j in range(close + 2, end):
                if t[j] == name and t[j + 1] == "[" and t[j + 2 : match[j + 1]] != index:
                    return True
    return False


def _idles(unit: Unit, first: int, stop: int) -> bool:
    """Whether a `while` has an empty body, or asks an atomic or a load in its condition."""
    t, match = unit.t, unit.match
    for k in range(first, stop):
        if t[k] in ("while", "for") and t[k + 1] == "(" and unit.tok(k + 2) in _FOREVER:
            body = match[k + 1] + 1
            if unit.tok(body) == "{" and 0 < match[body] - body < _SHORT:
                return True
        if t[k] == "while" and t[k + 1] == "(" and match[k + 1] > 0:
            close = match[k + 1]
            if unit.tok(close + 1) == ";" and t[k - 1] != "}":
                return True
            if unit.tok(close + 1) == "{" and match[close + 1] == close + 2:
                return True
            if any(t[j + 1] == "(" and builtins.READS.match(t[j]) for j in range(k + 2, close)):
                return True
    return False


def _code(unit: Unit) -> Code:
    return Code(unit.lexed)


def _meets(unit: Unit, first: int, stop: int, names: set[str]) -> bool:
    """Whether names are in both arms of a branch, in two cases of a switch, or in an arm that leaves."""
    t, match = unit.t, unit.match
    if not names:
        return False
    places = [i for i in range(first, stop) if t[i] in names]
    if not places:
        return False

    leaving = unit.between(first, stop, *_LEAVING)
    code = unit.once(_code).until(stop) if unit.in_directive(first) is None else Code(unit.lexed, first, stop)
    ends: dict[int, int] = {}

    def inside(a: int, b: int) -> int:
        return bisect_left(places, b) - bisect_left(places, a)

    for k in range(first, places[-1]):
        if t[k] == "if":
            cond = k + 2 if t[k + 1] == "constexpr" else k + 1
            a = match[cond] + 1 if unit.tok(cond) == "(" and match[cond] > 0 else stop
            if a >= stop:
                continue
            b = statement_end(code, a, ends)
            if not inside(a, b):
                continue
            if bisect_left(leaving, b) > bisect_left(leaving, a):
                return True
            if unit.tok(b) == "else" and inside(b, statement_end(code, b + 1, ends)):
                return True
        elif t[k] == "switch" and t[k + 1] == "(" and match[k + 1] > 0:
            a = match[k + 1] + 1
            if inside(a, statement_end(code, a, ends)) > 1:
                return True
    return False
