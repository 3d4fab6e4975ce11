"""`vprintf` of a module: CUDA's printf, whose arguments compilers store one after the other in local memory.

HIP's printf wants the format where it is called, so it is looked for in the module. Each conversion in it says what an
argument is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from cu2port.ptx.ir import Address, Const, Instruction, Label, Reg, Scope, Statement, Variable
from cu2port.ptx.rename import has_target, mentioned

_CONVERSION = re.compile(r"%[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t)?([diouxXcpsaAeEfFgG%])")
_LONG = frozenset({"ll", "l", "j", "z", "t"})
_STEPS = 8  # moves from a string's name to the parameter
_NEAR = 64  # statements from a parameter's store to the call


def strings(variables: Iterable[Variable]) -> dict[str, bytes]:
    """Byte arrays with initial values, up to their first zero."""
    out = {}
    for v in variables:
        if v.space in ("global", "const") and v.type.bits == 8 and isinstance(v.init, tuple):
            values = [x.value for x in v.init if isinstance(x, Const)]
            if len(values) == len(v.init):
                out[v.name] = bytes(x & 255 for x in values).partition(b"\0")[0]
    return out


class Formats:
    """What calls in a body print."""

    def __init__(self, body: Iterable[Statement], known: Mapping[str, bytes]) -> None:
        self.known = known
        self.steps = list(_flat(body))
        self.places = {(s.line, s.column): n for n, s in enumerate(self.steps)}
        self.labels = [0, *accumulate(isinstance(s, Label) for s in self.steps)]  # in front of each step
        self.writers: dict[str, list[int]] = {}
        for n, s in enumerate(self.steps):
            if isinstance(s, Instruction) and has_target(s):
                for r in mentioned(s.operands[0]):
                    self.writers.setdefault(r.name, []).append(n)

    def of(self, call: Instruction, parameter: str) -> bytes | None:
        """The string whose address a call's parameter has; None where that is not certain."""
        at = self.places.get((call.line, call.column), 0)
        at, name = self._stored(at, parameter)
        for _ in range(_STEPS):
            if name in self.known and name not in self.writers:
                return self.known[name]
            places = self.writers.get(name, [])
            if len(places) != 1:  # the last one, if nothing else leads here
                before = bisect_left(places, at)
                if not before or self.labels[places[before - 1]] != self.labels[at]:
                    return None
                places = places[before - 1 : before]
            at = places[0]
            s = self.steps[at]
            if not isinstance(s, Instruction) or s.guard is not None or s.name not in ("mov", "cvta"):
                return None
            source = s.operands[1] if len(s.operands) == 2 else None
            if not isinstance(source, Reg):
                return None
            name = source.name
        return None

    def _stored(self, at: int, parameter: str) -> tuple[int, str]:
        """The step that stores the parameter's value, among the last `_NEAR` before step `at`, and the register that it
        stores, "" if that is not certain."""
        for n in range(at - 1, max(at - _NEAR, -1), -1):
            s = self.steps[n]
            if isinstance(s, Label):
                break
            target = s.operands[0] if s.opcode.startswith("st.param") else None
            if isinstance(target, Address) and target.base == Reg(parameter):
                source = s.operands[1]
                return n, source.name if isinstance(source, Reg) and s.guard is None else ""
        return 0, ""


def printf(text: bytes, buffer: str) -> str | None:
    """The call, with what lies at an address; None where a conversion is not known."""
    arguments: list[str] = []
    at = 0

    def argument(size: int, type_: str) -> None:
        nonlocal at
        at = -(-at // size) * size
        place = f"{buffer} + {at}" if at else buffer
        arguments.append(f"cu2port::ptx::ld<{type_}>({place})")
        at += size

    decoded = text.decode("latin-1")
    if len(_CONVERSION.findall(decoded)) != len(re.sub("%%", "%", decoded).split("%")) - 1:
        return None
    for width, precision, length, kind in _CONVERSION.findall(decoded):
        for _ in range((width == "*") + (precision == "*")):
            argument(4, "int")
        if kind in "aAeEfFgG":
            argument(8, "double")
        elif kind in "sp":
            argument(8, "const char*" if kind == "s" else "void*")
        elif kind != "%":
            whole = {"ll": "long long", "": "int"}.get(length if length in _LONG else "", "long")
            argument(8 if length in _LONG else 4, whole)
    return f"printf({', '.join([_literal(text), *arguments])})"


def _literal(text: bytes) -> str:
    """As C++ has it: what could be read otherwise in octal digits."""
    known = {c: chr(c) for c in range(32, 127) if c not in b'"\\?'} | {10: "\\n", 9: "\\t"}
    return '"' + "".join(known.get(c, f"\\{c:03o}") for c in text) + '"'


def _flat(statements: Iterable[Statement]) -> Iterator[Instruction | Label]:
    for s in statements:
        if isinstance(s, Scope):
            yield from _flat(s.body)
        elif isinstance(s, (Instruction, Label)):
            yield s
