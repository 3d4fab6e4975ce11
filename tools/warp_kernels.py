"""Random CUDA kernels whose behaviour is defined, and what they come to on warps of 32 lanes.

Each statement is written together with what it does in the model of `warp_model`. Masks name just the lanes that come:
branches and loops hand on what a ballot before them gave. Left out is what CUDA does not define, and what cu2port
reports as wrong on AMD GPUs: masks of the other arm's lanes, cross-lane operations in a block that leaves a loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import warp_model as cuda
from warp_groups import Groups
from warp_model import LANES, Vec, full, where
from warp_values import COUNTERS, Block, Split, Stmt, Value, Warp

SEED = 12345
BLOCKS = (32, 64, 64, 64, 64, 96, 80, 128)
PRELUDE = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
typedef unsigned long long u64;
__device__ unsigned nth(unsigned m, unsigned k) {
  for (k %= __popc(m); k > 0; --k) m &= m - 1;
  return __ffs(m) - 1;
}
__device__ unsigned bcast(unsigned m, unsigned v, int src) { return __shfl_sync(m, v, src); }
template <class T> __device__ T bcast_t(unsigned m, T v, int src) { return __shfl_sync(m, v, src); }
__device__ unsigned bcast_ptx(unsigned m, unsigned v, int src) {
  unsigned r;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;" : "=r"(r) : "r"(v), "r"(src), "r"(m));
  return r;
}
__device__ unsigned below() {
  unsigned r;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}
__device__ unsigned bfly_ptx(unsigned m, unsigned v, unsigned d) {
  unsigned r;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;" : "=r"(r) : "r"(v), "r"(d), "r"(m));
  return r;
}
__device__ unsigned redux_ptx(unsigned m, unsigned v) {
  unsigned r;
  asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(m));
  return r;
}
__device__ unsigned ballot_ptx(unsigned m, unsigned p) {
  unsigned r;
  asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, %2; }" : "=r"(r) : "r"(p), "r"(m));
  return r;
}
"""


@dataclass
class Kernel:
    """A kernel: its text with its functions, its launch, its warps' results, and the kinds of statements in it."""

    name: str
    text: str
    blocks: int
    threads: int
    tags: frozenset[str]
    expected: list[int]


class Writer(Groups):
    """Writes one kernel."""

    def __init__(self, rng: random.Random, name: str, leaders: bool = True) -> None:
        super().__init__(rng, name, leaders)
        self.functions: list[str] = []
        self.helpers: list[tuple[str, int, Callable[[Warp, Vec, int, Vec, Vec, Vec], Vec]]] = []
        self.budget = rng.randint(5, 12)

    def block(self, m: str, depth: int, most: int, top: bool = False) -> list[Stmt]:
        """Statements that the lanes of the mask in variable `m` come to together."""
        out: list[Stmt] = []
        for _ in range(self.rng.randint(1, most)):
            if self.budget <= 0 and out:
                break
            self.budget -= 1
            out.append(self.statement(m, depth, top))
        return out

    def statement(self, m: str, depth: int, top: bool = False) -> Stmt:
        kinds: list[tuple[int, Callable[[str], Stmt]]] = [
            (3, self.assign),
            (4, self.shuffle),
            (3, self.vote),
            (2, self.match),
            (3, self.reduction),
            (2, self.matched),
            (2, self.leader),
            (2, self.exchange),
            (2, self.atomic),
            (1, self.wide),
            (2, self.ptx),
        ]
        if depth > 0:
            kinds += [
                (5, lambda m: self.branch(m, depth)),
                (3, lambda m: self.loop(m, depth)),
                (1, lambda m: self.while_any(m, depth)),
                (1, lambda m: self.do_loop(m, depth)),
                (1, lambda m: self.switch(m, depth)),
            ]
        if self.helpers:
            kinds.append((3, self.call))
        if top:
            kinds += [(3, self.tile), (2, self.barrier), (1, self.nested_tile), (1, self.tile_branch)]
        if self.leaders:
            kinds.append((1, self.coalesced))
        choice = self.rng.choices([k for _, k in kinds], [n for n, _ in kinds])[0]
        return choice(m)

    def split(self, m: str) -> Split:
        """A condition in a variable, and the mask of the lanes for which it holds, before a branch."""
        (c, f), b, k = self.truth(2), self.fresh("c"), self.fresh("m")

        def run(w: Warp, act: Vec) -> Vec:
            yes = f(w) & act
            w.put(k, cuda.ballot(yes, act, w.get(m)), act)
            return yes

        return b, k, [f"const bool {b} = {c};", f"unsigned {k} = __ballot_sync({m}, {b});"], run

    def branch(self, m: str, depth: int) -> Stmt:
        b, k, head, split = self.split(m)
        first = self.block(k, depth - 1, 3)
        other = self.fresh("m")
        second = self.block(other, depth - 1, 3) if self.rng.random() < 0.6 else []

        def run(w: Warp, act: Vec) -> None:
            yes = split(w, act)
            run_all(first, w, yes)
            if second:
                w.put(other, w.get(m).without(w.get(k)), act)
                run_all(second, w, act.without(yes))

        lines = [*head, f"if ({b}) {{", *indent(first)]
        if second:
            lines += ["} else {", f"  unsigned {other} = {m} & ~{k};", *indent(second)]
        return Stmt([*lines, "}"], run)

    def loop(self, m: str, depth: int) -> Stmt:
        """A loop with as many turns as each lane wants, with `break` and `continue` for some."""
        self.tags.add("loop")
        (e, f), i, live, most = self.value(1), self.fresh("i"), self.fresh("m"), self.rng.choice([2, 3, 5])
        self.vars.append(i)
        body = self.block(live, depth - 1, 2)
        kind = self.rng.randrange(3)
        lines = [
            f"unsigned {live} = {m};",
            f"for (unsigned {i} = 0, {i}n = ({e}) % {most + 1}u;; ++{i}) {{",
            f"  {live} = __ballot_sync({live}, {i} < {i}n);",
            f"  if ({i} >= {i}n) break;",
            *indent(body),
        ]
        rest: list[Stmt] = []
        if kind:
            b, k, head, split = self.split(live)
            move = self.assign(live)
            lines += [f"  {x}" for x in head]
            lines += [f"  if ({b}) {{ {move.lines[0]} {'break' if kind == 1 else 'continue'}; }}"]
            after = live if kind == 1 else self.fresh("m")
            lines.append(f"  {live} &= ~{k};" if kind == 1 else f"  unsigned {after} = {live} & ~{k};")
            rest = self.block(after, depth - 1, 2)
            lines += indent(rest)
        self.vars.remove(i)

        def run(w: Warp, act: Vec) -> None:
            limit = f(w) % (most + 1)
            w.put(live, w.get(m), act)
            here = act
            for turn in range(most + 2):
                w.put(i, full(turn), here)
                w.put(live, cuda.ballot(limit > turn, here, w.get(live)), here)
                here = here & (limit > turn)
                if not here.any():
                    return
                run_all(body, w, here)
                if not kind:
                    continue
                yes = split(w, here)
                move.run(w, yes)
                if kind == 1:
                    w.put(live, w.get(live).without(w.get(k)), here)
                    here = here.without(yes)
                    run_all(rest, w, here)
                else:
                    w.put(after, w.get(live).without(w.get(k)), here)
                    run_all(rest, w, here.without(yes))

        return Stmt([*lines, "}"], run)

    def while_any(self, m: str, depth: int) -> Stmt:
        self.tags.add("while")
        (e, f), t = self.value(1), self.fresh("t")
        most = self.rng.choice([2, 4])
        body = self.block(m, depth - 1, 2)

        def run(w: Warp, act: Vec) -> None:
            w.put(t, f(w) % most, act)
            while ((w.get(t) > 0) & act).any():
                run_all(body, w, act)
                w.put(t, where(w.get(t) > 0, w.get(t) - 1, full(0)), act)

        lines = [f"unsigned {t} = ({e}) % {most}u;", f"while (__any_sync({m}, {t} > 0)) {{", *indent(body)]
        return Stmt([*lines, f"  if ({t} > 0) --{t};", "}"], run)

    def do_loop(self, m: str, depth: int) -> Stmt:
        self.tags.add("do")
        (e, f), n, live, c = self.value(1), self.fresh("n"), self.fresh("m"), self.fresh("c")
        body = self.block(live, depth - 1, 2)

        def run(w: Warp, act: Vec) -> None:
            w.put(live, w.get(m), act)
            w.put(n, f(w) % 4, act)
            here = act
            while here.any():
                run_all(body, w, here)
                more = here & (w.get(n) > 0)
                w.put(n, w.get(n) - 1, here)
                w.put(live, cuda.ballot(more, here, w.get(live)), here)
                here = more

        lines = [f"unsigned {live} = {m}, {n} = ({e}) % 4u;", f"bool {c};", "do {", *indent(body)]
        lines += [f"  {c} = {n}-- > 0;", f"  {live} = __ballot_sync({live}, {c});", f"}} while ({c});"]
        return Stmt(lines, run)

    def switch(self, m: str, depth: int) -> Stmt:
        self.tags.add("switch")
        (e, f), s, k = self.value(1), self.fresh("s"), self.fresh("m")
        arms = [self.block(k, depth - 1, 2) for _ in range(3)]

        def run(w: Warp, act: Vec) -> None:
            key = f(w) % 3
            w.put(k, cuda.match_any(key, act, w.get(m)), act)
            for n, arm in enumerate(arms):
                run_all(arm, w, act & key.same(n))

        lines = [f"const unsigned {s} = ({e}) % 3u;", f"unsigned {k} = __match_any_sync({m}, {s});", f"switch ({s}) {{"]
        for n, arm in enumerate(arms):
            lines += ["default: {" if n == 2 else f"case {n}: {{", *indent(arm), "  break;", "}"]
        return Stmt([*lines, "}"], run)

    def helper(self) -> None:
        """A function with the mask as a parameter; some lanes may return early."""
        name = f"{self.name}_f{len(self.helpers)}"
        outside, self.vars = self.vars, ["x0", "x1"]
        sums, self.sums = self.sums, 0
        head = self.block("m", 1, 2)
        early: Split | None = None
        value: Value | None = None
        if self.rng.random() < 0.6:
            early, value = self.split("m"), self.value()
            self.tags.add("return")
        tail = self.block("m", 1, 2)
        result, f = self.value()
        self.vars = outside
        used, self.sums = self.sums, sums
        lines = [f"__device__ unsigned {name}(unsigned m, unsigned lane, unsigned tid, unsigned* sh, unsigned* sums,"]
        lines += ["    unsigned x0, unsigned x1) {", *indent(head)]
        if early and value:
            b, k, more, _ = early
            lines += [*(f"  {x}" for x in more), f"  if ({b}) return {value[0]};", f"  m &= ~{k};"]
        lines += [*indent(tail), f"  return {result};", "}"]
        self.functions.append("\n".join(lines))

        def run(w: Warp, act: Vec, at: int, mask: Vec, x0: Vec, x1: Vec) -> Vec:
            own = Warp(w.block, w.number, w.first, w.base, w.sums + at)
            for reg, what in (("m", mask), ("x0", x0), ("x1", x1)):
                own.put(reg, what, full(1))
            run_all(head, own, act)
            out = full(0)
            if early and value:
                yes = early[3](own, act)
                out = where(yes, value[1](own), out)
                own.put("m", own.get("m").without(own.get(early[1])), act)
                act = act.without(yes)
            run_all(tail, own, act)
            return where(act, f(own), out)

        self.helpers.append((name, used, run))

    def call(self, m: str) -> Stmt:
        self.tags.add("function")
        name, used, f = self.rng.choice(self.helpers)
        if self.sums + used > COUNTERS:
            return self.assign(m)
        at, self.sums = self.sums, self.sums + used  # each call has its own
        v, (a, fa), (b, fb) = self.target(), self.value(), self.value()

        def run(w: Warp, act: Vec) -> None:
            w.put(v, f(w, act, at, w.get(m), fa(w), fb(w)), act)

        return Stmt([f"{v} = {name}({m}, lane, tid, sh, sums + {at}, {a}, {b});"], run)

    def kernel(self) -> Kernel:
        """A kernel and what its warps leave: a number a thread, and the warp's sums."""
        r = self.rng
        blocks, self.threads = r.choice([1, 1, 1, 2]), r.choice(BLOCKS)
        for _ in range(r.choice([0, 0, 1, 2])):
            self.helper()
        body: list[Stmt] = []
        for _ in range(r.randint(2, 5)):
            body += self.block("m", 3, 3, top=True)
        early = self.split("m") if r.random() < 0.3 else None
        value = self.value()
        tail = self.block("m", 2, 2) if early else []
        last = " ^ ".join(f"{v} * {2 * n + 3}u" for n, v in enumerate(self.vars))
        warps = -(-self.threads // 32)
        lines = [
            *self.functions,
            f"__global__ void {self.name}(unsigned* out, unsigned* all, unsigned seed) {{",
            f"  __shared__ unsigned sh[{warps * 32}];",
            "  const unsigned tid = threadIdx.x, lane = tid % 32, at = blockIdx.x * blockDim.x + tid;",
            f"  unsigned* sums = all + (blockIdx.x * {warps}u + tid / 32) * {COUNTERS}u;",
            "  const unsigned left = blockDim.x - (tid - lane);",
            "  unsigned m = left < 32u ? (1u << left) - 1u : 0xffffffffu;",
            *(f"  unsigned {v} = (at + {n}u) * 2654435761u + seed;" for n, v in enumerate(self.vars)),
            *indent(body),
        ]
        if early:
            self.tags.add("exit")
            b, k, head, _ = early
            lines += [*(f"  {x}" for x in head), f"  if ({b}) {{ out[at] = {value[0]}; return; }}", f"  m &= ~{k};"]
            lines += indent(tail)
        lines += [f"  out[at] = {last};", "}"]
        expected = self.expected(blocks, body, early, value, tail)
        return Kernel(self.name, "\n".join(lines) + "\n", blocks, self.threads, frozenset(self.tags), expected)

    def expected(
        self,
        blocks: int,
        body: list[Stmt],
        early: Split | None,
        value: Value,
        tail: list[Stmt],
    ) -> list[int]:
        warps = -(-self.threads // 32)
        out = [0] * (blocks * self.threads)
        sums = [0] * (blocks * warps * COUNTERS)
        for number in range(blocks):
            block = Block(self.threads, sums, [0] * (warps * 32))
            here = []
            for k in range(warps):
                w = Warp(block, number * warps + k, 32 * k, number * self.threads)
                act = self.threads - 32 * k > LANES
                w.put("m", full(cuda.mask_of(act)), act)
                for n, v in enumerate(self.vars):
                    w.put(v, (LANES + (w.base + w.first) + n) * 2654435761 + SEED, act)
                here.append((w, act))
            for stmt in body:
                for w, act in here:
                    stmt.run(w, act)
                if stmt.then is not None:
                    for w, act in here:
                        stmt.then(w, act)
            for w, act in here:
                at = LANES + (w.base + w.first)
                if early:
                    yes = early[3](w, act)
                    for i in yes.chosen():
                        out[at[i]] = value[1](w)[i]
                    w.put("m", w.get("m").without(w.get(early[1])), act)
                    act = act.without(yes)
                    run_all(tail, w, act)
                total = full(0)
                for n, v in enumerate(self.vars):
                    total = total ^ w.get(v) * (2 * n + 3)
                for i in act.chosen():
                    out[at[i]] = total[i]
        return out + sums


def run_all(body: list[Stmt], w: Warp, act: Vec) -> None:
    """What a block of statements does for the active lanes."""
    for stmt in body:
        if act.any():
            stmt.run(w, act)


def indent(body: list[Stmt]) -> list[str]:
    """The lines of some statements, two columns in; what a statement declares is its own by a number in its name."""
    return [f"  {line}" for stmt in body for line in stmt.lines]
