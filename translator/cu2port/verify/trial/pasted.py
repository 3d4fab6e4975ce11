"""Launches whose kernel a macro puts together: `#define RUN(name, n) void name() { name##_kernel<n><<<1, n>>>(); }`.

Each call of such a macro gives its body as a text of its own, with the call's arguments, so that it is read as other
launches are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.verify.reach import read
from cu2port.verify.trial.dispatch import places

_MOST = 64  # calls of a program


def expansions(program: Sequence[Unit]) -> list[Unit]:
    """What calls of macros make that put the name of a kernel together."""
    kernels = {f.name for u in program for f in u.functions if "__global__" in f.sides}
    return list(islice(_expansions(program, kernels), _MOST))


def _expansions(program: Sequence[Unit], kernels: set[str]) -> Iterator[Unit]:
    for unit in program:
        for definitions in unit.macros.values() if "##" in unit.text else ():
            for m in definitions:
                if m.params is None or "##" not in unit.t[m.first : m.stop]:
                    continue
                for u, at in places(m, program):
                    words = _expanded(unit, m, u, at)
                    if not kernels.isdisjoint(words):
                        yield read(" ".join(words), unit.path)


def _expanded(unit: Unit, m: Macro, caller: Unit, at: int) -> list[str]:
    """The tokens of a macro's body with the arguments of one call; none where that is no call in code."""
    call = caller.call(at)
    if call is None or caller.in_directive(at) is not None or len(call.args) != len(m.params or ()):
        return []
    given = dict(zip(m.params or (), (caller.text[a.start : a.end] for a in call.args), strict=True))
    out: list[str] = []
    i = m.first
    while i < m.stop:
        word = unit.t[i]
        if word == "##" and out and i + 1 < m.stop:
            i += 1
            out[-1] += given.get(unit.t[i], unit.t[i])
        elif word == "#" and unit.tok(i + 1) in given:
            i += 1
            out.append('""')
        else:
            out.append(given.get(word, word))
        i += 1
    return out
