"""What random kernels are made of: values and conditions, each with what it is in the model, and a warp there."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import warp_model as cuda
from warp_model import LANES, Vec, full, where

VARS = 5
COUNTERS = 64  # sums that a warp's threads add to, one for each statement that does
Value = tuple[str, Callable[["Warp"], Vec]]
Truth = tuple[str, Callable[["Warp"], Vec]]


@dataclass
class Block:
    """Memory of a block, and the grid's sums."""

    threads: int
    sums: list[int]
    shared: list[int]


@dataclass
class Warp:
    """A warp in the model: its registers by name, and where it is."""

    block: Block
    number: int  # in the grid
    first: int  # thread of lane 0 in its block
    base: int  # of the block's first thread in the grid
    sums: int = 0  # of the block's, where a function's begin
    regs: dict[str, Vec] = field(default_factory=dict)

    def get(self, name: str) -> Vec:
        return self.regs[name]

    def put(self, name: str, value: Vec, active: Vec) -> None:
        self.regs[name] = where(active, value, self.regs.get(name, full(0)))

    def store(self, value: Vec, active: Vec) -> None:
        """A thread's own place in the block's shared memory."""
        for i in active.chosen():
            self.block.shared[self.first + i] = value[i]

    def load(self, places: Vec) -> Vec:
        return Vec(self.block.shared[i] for i in places)


@dataclass
class Stmt:
    """Lines of CUDA, and what they do for the active lanes of a warp; `then`: once all warps of the block did."""

    lines: list[str]
    run: Callable[[Warp, Vec], None]
    then: Callable[[Warp, Vec], None] | None = None


Run = Callable[[Warp, Vec], None]
Split = tuple[str, str, list[str], Callable[[Warp, Vec], Vec]]
OPERATORS: dict[str, Callable[[Vec, Vec], Vec]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
}


def const(n: int) -> Value:
    return f"{n}u", lambda w: full(n)


def var(name: str) -> Value:
    return name, lambda w: w.get(name)


class Values:
    """Writes values. `leaders`: what only a leader sets is passed on through functions and groups, too."""

    def __init__(self, rng: random.Random, name: str, leaders: bool = True) -> None:
        self.rng, self.name, self.leaders = rng, name, leaders
        self.count = 0
        self.sums = 0
        self.tags: set[str] = set()
        self.vars = [f"v{i}" for i in range(VARS)]
        self.threads = 32

    # --- values --------------------------------------------------------------------------------------------------

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def value(self, depth: int = 2) -> Value:
        r = self.rng
        if depth == 0 or r.random() < 0.25:
            kind = r.random()
            if kind < 0.6:
                return var(r.choice(self.vars))
            return (
                ("lane", lambda w: LANES)
                if kind < 0.75
                else const(r.choice([0, 1, 3, 7, 31, 32, 255, 0x9E3779B9, r.getrandbits(32)]))
            )
        a, fa = self.value(depth - 1)
        kind = r.randrange(9)
        if kind < 6:
            b, fb = self.value(depth - 1)
            op = "+-*^&|"[kind]
            return f"({a} {op} {b})", lambda w: OPERATORS[op](fa(w), fb(w))
        if kind == 6:
            n = r.randrange(1, 31)
            return f"({a} >> {n})", lambda w: fa(w) >> n
        if kind == 7:
            call, f = r.choice([("__popc", cuda.popc), ("__ffs", cuda.ffs), ("__clz", cuda.clz), ("__brev", cuda.brev)])
            return f"(unsigned){call}({a})", lambda w: f(fa(w))
        c, fc = self.truth(depth - 1)
        b, fb = self.value(depth - 1)
        return f"({c} ? {a} : {b})", lambda w: where(fc(w), fa(w), fb(w))

    def truth(self, depth: int = 1) -> Truth:
        r = self.rng
        kind = r.randrange(4)
        if kind == 0:
            n = r.randrange(1, 32)
            return (
                (f"(lane < {n}u)", lambda w: n > LANES)
                if r.random() < 0.5
                else (f"(lane % {n}u == 0u)", lambda w: LANES % n < 1)
            )
        a, fa = self.value(depth)
        if kind == 1:
            k = r.choice([1, 3, 7, 15])
            n = r.randrange(1, k + 1)
            return f"(({a} & {k}u) < {n}u)", lambda w: (fa(w) & k) < n
        if kind == 2:
            n = r.choice([2, 3, 5])
            return f"({a} % {n}u == 1u)", lambda w: (fa(w) % n).same(1)
        b, fb = self.value(depth)
        return f"({a} < {b})", lambda w: fa(w) < fb(w)

    def target(self) -> str:
        return self.rng.choice([v for v in self.vars if not v.startswith("i")])  # a loop's count stays

    def assign(self, m: str) -> Stmt:
        v, (e, f) = self.target(), self.value(3)
        return Stmt([f"{v} = {e};"], lambda w, act: w.put(v, f(w), act))

    def counter(self) -> int:
        self.sums += 1
        return self.sums - 1
