"""Uses of PTX's carry flag, one after another, at random: for macros and for functions that hand it on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cu2port.core.model import Project
from cu2port.facts.carry_definitions import carry_definitions, carry_flag
from cu2port.ptx.bind import CARRY
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline

ROWS = ("add.cc", "addc", "addc.cc", "sub.cc", "subc", "subc.cc", "mad.lo.cc", "madc.hi.cc", "madc.lo", "mul.lo")
_PLACES = {f"%[v{k}]": Place(f"v{k}", TYPES["u32"]) for k in range(8)}


def project(*headers: tuple[str, str]) -> Project:
    """What a file is told of headers that it includes."""
    return Project(
        carry=frozenset(f"{carry_flag(path)} {line}" for path, text in headers for line in carry_definitions(text))
    )


@dataclass(frozen=True)
class Step:
    """A use of a macro; or statements, `times` in turn, by two bits of the last word, or under its bit."""

    text: str = ""
    ptx: str = ""
    kind: str = "use"
    bit: int = 0
    inside: tuple[Step, ...] = ()

    def source(self) -> str:
        body = " ".join(s.source() for s in self.inside)
        if self.kind == "loop":
            return f"for (int i = 0; i < int(v[8] >> {self.bit} & 3); i++) {{ {body} }}"
        return f"if (v[8] >> {self.bit} & 1) {{ {body} }}" if self.kind == "if" else self.text

    def trace(self, last: int) -> Iterator[str]:
        times = {"use": 0, "if": last >> self.bit & 1, "loop": last >> self.bit & 3}[self.kind]
        yield from [self.ptx] if self.ptx else []
        for _ in range(times):
            for s in self.inside:
                yield from s.trace(last)


def steps(rng: random.Random, depth: int = 0) -> tuple[Step, ...]:
    out = []
    for _ in range(rng.randint(1, 4)):
        chance = rng.random()
        if chance < 0.25 and depth < 2:
            kind = "if" if chance < 0.12 else "loop"
            out.append(Step(kind=kind, bit=rng.randrange(28), inside=steps(rng, depth + 1)))
            continue
        row, (d, a, b) = rng.choice(ROWS), (rng.randrange(8) for _ in range(3))
        last = ", 7" if row.startswith("mad") else ""
        text = f"{row.replace('.', '_').upper()}(v[{d}], v[{a}], v[{b}]);"
        out.append(Step(text, f"{row}.u32 %[v{d}], %[v{a}], %[v{b}]{last};"))
    return tuple(out)


def expected(body: Sequence[Step], given: Sequence[int], flag: int = 0) -> list[int]:
    """What the words are after some steps, as the interpreter has it, where the flag is set or not before."""
    text = "\n".join(line for s in body for line in s.trace(given[8]))
    registers = {f"%[v{k}]": given[k] for k in range(8)} | {CARRY: flag}
    (after,) = run(parse_inline(text), _PLACES, [registers])
    return [*(after[f"%[v{k}]"] for k in range(8)), given[8]]
