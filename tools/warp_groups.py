"""Statements of random kernels to which a whole warp or block comes: tiles and barriers."""

from __future__ import annotations

from collections.abc import Callable

import warp_model as cuda
from warp_model import LANES, Vec, full
from warp_statements import Statements
from warp_values import COUNTERS, Stmt, Warp


class Groups(Statements):
    """Tiles are made where all threads of the block are."""

    def barrier(self, m: str) -> Stmt:
        """Through the block's shared memory: two steps of the model, in which warps run one after the other."""
        self.tags.add("barrier")
        v, (e, f), k, t = self.target(), self.value(), self.rng.choice([1, 5, 33]), self.fresh("t")

        def write(w: Warp, act: Vec) -> None:
            w.store(f(w), act)

        def fetch(w: Warp, act: Vec) -> None:
            w.put(v, w.load((LANES + (w.first + k)) % w.block.threads), act)

        lines = [
            f"__syncthreads(); sh[tid] = {e}; __syncthreads();",
            f"{{ unsigned {t} = sh[(tid + {k}u) % blockDim.x]; __syncthreads(); {v} = {t}; }}",
        ]
        return Stmt(lines, write, fetch)

    def tile(self, m: str, guard: bool = False) -> Stmt:
        """An operation of a tile; `guard`: in a branch that whole tiles take."""
        self.tags.add("tile")
        r = self.rng
        size, g, v = r.choice([4, 8, 16] if self.threads % 32 else [4, 8, 16, 32]), self.fresh("g"), self.target()
        (e, f), (c, fc), (k, fk) = self.value(), self.truth(2), self.value(1)
        d = r.randrange(1, size)
        amount = full(d)
        rank = LANES % size
        section = cuda.shifted((1 << size) - 1, LANES - rank)
        ops: list[tuple[str, Callable[[Warp, Vec], Vec]]] = [
            (f"{g}.shfl({e}, {d})", lambda w, a: f(w).at(cuda.shfl_from(amount, size))),
            (f"{g}.shfl_up({e}, {d})", lambda w, a: f(w).at(cuda.up_from(amount, size))),
            (f"{g}.shfl_down({e}, {d})", lambda w, a: f(w).at(cuda.down_from(amount, size))),
            (f"{g}.shfl_xor({e}, {d})", lambda w, a: f(w).at(LANES ^ amount)),
            (f"{g}.ballot({c})", lambda w, a: cuda.ballot(fc(w), a, section) >> (LANES - rank)),
            (f"{g}.any({c})", lambda w, a: cuda.ballot(fc(w), a, section) > 0),
            (f"{g}.all({c})", lambda w, a: cuda.ballot(fc(w), a, section).same(section)),
            (f"{g}.match_any(({k}) & 3u)", lambda w, a: cuda.match_any(fk(w) & 3, a, section) >> (LANES - rank)),
            (f"cg::reduce({g}, {e}, cg::plus<unsigned>())", lambda w, a: cuda.reduce("add", f(w), a, section)),
            (f"cg::reduce({g}, {e}, cg::less<unsigned>())", lambda w, a: cuda.reduce("min", f(w), a, section)),
            (f"cg::reduce({g}, {e}, cg::greater<unsigned>())", lambda w, a: cuda.reduce("max", f(w), a, section)),
            (f"cg::inclusive_scan({g}, {e})", lambda w, a: cuda.tile_scan(f(w), size, True)),
            (f"cg::exclusive_scan({g}, {e})", lambda w, a: cuda.tile_scan(f(w), size, False)),
            (f"{g}.thread_rank() * 100u + {g}.size()", lambda w, a: rank * 100 + size),
            (
                f"{g}.meta_group_rank() * 100u + {g}.meta_group_size()",
                lambda w, a: (LANES + w.first) // size * 100 + -(-w.block.threads // size),
            ),
        ]
        call, run = r.choice(ops)
        even = LANES // size % 2 < 1
        head = f"auto {g} = cg::tiled_partition<{size}>(cg::this_thread_block());"
        if self.leaders and not guard and self.sums < COUNTERS - 1 and r.random() < 0.25:
            return self.tile_leader(g, v, size, head)
        put = f"{v} = (unsigned)({call});"
        if guard:
            put = f"if (lane / {size}u % 2u == 0u) {put}"

        def step(w: Warp, act: Vec) -> None:
            here = act & even if guard else act
            w.put(v, run(w, here), here)

        return Stmt([head, put], step)

    def tile_leader(self, g: str, v: str, size: int, head: str) -> Stmt:
        self.tags.add("leader-tile")
        n, b = self.counter(), self.fresh("b")

        def run(w: Warp, act: Vec) -> None:
            # tiles add in any order: what shows is the last digit of what each got
            at = w.number * COUNTERS + w.sums + n
            w.block.sums[at] += act.count()
            w.put(v, LANES % size, act)

        lines = [
            head,
            f"unsigned {b};",
            f"if ({g}.thread_rank() == 0) {b} = atomicAdd(&sums[{n}], {size}u);",
            f"{v} = ({g}.shfl({b}, 0) + {g}.thread_rank()) % {size}u;",
        ]
        return Stmt(lines, run)

    def tile_branch(self, m: str) -> Stmt:
        return self.tile(m, guard=True)

    def nested_tile(self, m: str) -> Stmt:
        self.tags.add("nested")
        v, g, h, (e, f) = self.target(), self.fresh("g"), self.fresh("g"), self.value()
        big, small = self.rng.choice([(16, 4), (16, 8), (8, 2), (8, 4)])

        def run(w: Warp, act: Vec) -> None:
            inside = LANES % big
            one = f(w).at(cuda.shfl_from(full(1), small))
            w.put(v, one + inside // small * 100 + big // small, act)

        lines = [
            f"auto {g} = cg::tiled_partition<{big}>(cg::this_thread_block());",
            f"auto {h} = cg::tiled_partition<{small}>({g});",
            f"{v} = {h}.shfl({e}, 1) + {h}.meta_group_rank() * 100u + {h}.meta_group_size();",
        ]
        return Stmt(lines, run)
