"""Statements of random kernels in which the lanes of a warp work together, each with what CUDA says that it does."""

from __future__ import annotations

import warp_model as cuda
from warp_model import BELOW, LANES, WORD, Vec, full, where
from warp_values import COUNTERS, Stmt, Values, Warp


class Statements(Values):
    """Statements to which all lanes of the mask in variable `m` come, and no others."""

    def shuffle(self, m: str) -> Stmt:
        """A shuffle of each kind and width; what is read from a lane outside of the mask is not used."""
        r = self.rng
        self.tags.add("shuffle")
        v, (e, f), width = self.target(), self.value(), r.choice([32, 32, 32, 16, 8, 4, 2])
        s, x, (d, fd) = self.fresh("s"), self.fresh("x"), self.value(1)
        fixed = r.random() < 0.5
        n = r.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 31])
        if fixed:
            d, fd = f"{n}u", lambda w: full(n)
        name, source = r.choice(
            [("", cuda.shfl_from), ("_up", cuda.up_from), ("_down", cuda.down_from), ("_xor", cuda.xor_from)]
        )
        amount = d if fixed else f"({d}) & 31u"
        call = f"__shfl{name}_sync({m}, {x}, {amount}" + (")" if width == 32 and r.random() < 0.7 else f", {width})")
        inner = {
            "": f"(lane & {~(width - 1) & 31}u) | ({amount} & {width - 1}u)",
            "_up": f"(lane & {width - 1}u) >= ({amount}) ? lane - ({amount}) : lane",
            "_down": f"(lane & {width - 1}u) + ({amount}) < {width}u ? lane + ({amount}) : lane",
            "_xor": f"(lane ^ ({amount})) / {width}u > lane / {width}u ? lane : lane ^ ({amount})",
        }[name]
        inner = inner.replace(f"{amount} & {width - 1}u", f"({amount}) & {width - 1}u")

        def run(w: Warp, act: Vec) -> None:
            value, src = f(w), source(fd(w) & 31, width)
            inside = w.get(m) >> src & 1
            w.put(x, value, act)
            w.put(v, where(inside, value.at(src), value), act)

        lines = [f"unsigned {x} = {e}, {s} = {inner};", f"{{ unsigned t = {call}; {v} = {m} >> {s} & 1u ? t : {x}; }}"]
        return Stmt(lines, run)

    def wide(self, m: str) -> Stmt:
        """64 bits, floats and doubles go from a lane of the mask to all."""
        v, (a, fa), (b, fb) = self.target(), self.value(), self.value()
        kind, src = self.rng.randrange(3), self.fresh("s")
        self.tags.add("wide")

        def run(w: Warp, act: Vec) -> None:
            lead = cuda.nth(w.get(m), full(3))
            x, y = fa(w).at(lead), fb(w).at(lead)
            if kind == 0:
                w.put(v, x * 31 + y, act)
            else:
                w.put(v, x & (0xFFFF if kind == 1 else WORD), act)

        lines = [f"unsigned {src} = nth({m}, 3u);"]
        if kind == 0:
            lines.append(f"{{ u64 t = __shfl_sync({m}, (u64)({a}) << 32 | ({b}), {src});")
            lines.append(f"  {v} = (unsigned)(t >> 32) * 31u + (unsigned)t; }}")
        elif kind == 1:
            lines.append(f"{v} = (unsigned)__shfl_sync({m}, (float)(({a}) & 0xffffu), {src});")
        else:
            lines.append(f"{v} = (unsigned)__shfl_sync({m}, (double)({a}), {src});")
        return Stmt(lines, run)

    def vote(self, m: str) -> Stmt:
        self.tags.add("vote")
        v, (c, f), kind = self.target(), self.truth(2), self.rng.choice(["ballot", "any", "all"])

        def run(w: Warp, act: Vec) -> None:
            got = cuda.ballot(f(w), act, w.get(m))
            if kind == "any":
                got = got > 0
            elif kind == "all":
                got = got.same(w.get(m))
            w.put(v, w.get(v) ^ got, act)

        call = f"__{kind}_sync({m}, {c})"
        return Stmt([f"{v} ^= {call if kind == 'ballot' else f'(unsigned)({call} != 0)'};"], run)

    def match(self, m: str) -> Stmt:
        self.tags.add("match")
        v, (e, f), k = self.target(), self.value(), self.rng.choice([1, 3, 7, 0xFFFFFFFF])
        if self.rng.random() < 0.6:
            return Stmt(
                [f"{v} += __match_any_sync({m}, ({e}) & {k}u);"],
                lambda w, act: w.put(v, w.get(v) + cuda.match_any(f(w) & k, act, w.get(m)), act),
            )

        def run(w: Warp, act: Vec) -> None:
            value = f(w) & k
            same = len({value[i] for i in act.chosen()}) == 1
            w.put(v, w.get(v) + (w.get(m) + 1 if same else full(0)), act)

        p = self.fresh("p")
        return Stmt([f"int {p};", f"{v} += __match_all_sync({m}, ({e}) & {k}u, &{p}) + (unsigned)({p} != 0);"], run)

    def reduction(self, m: str) -> Stmt:
        self.tags.add("reduce")
        v, (e, f), name = self.target(), self.value(), self.rng.choice("add min max and or xor smin smax".split())
        cast = "(int)" if name[0] == "s" else ""
        return Stmt(
            [f"{v} = (unsigned)__reduce_{name.removeprefix('s')}_sync({m}, {cast}({e})) + {v} * 3u;"],
            lambda w, act: w.put(v, cuda.reduce(name, f(w), act, w.get(m)) + w.get(v) * 3, act),
        )

    def matched(self, m: str) -> Stmt:
        """Groups of lanes with one value, each with its mask at the same operation."""
        self.tags.add("matched")
        v, (e, f), (k, fk), g = self.target(), self.value(), self.value(1), self.fresh("g")
        kind = self.rng.randrange(3)

        def run(w: Warp, act: Vec) -> None:
            mask = cuda.match_any(fk(w) & 3, act, w.get(m))
            w.put(g, mask, act)
            if kind == 0:
                w.put(v, cuda.reduce("add", f(w), act, mask), act)
            elif kind == 1:
                w.put(v, f(w).at(cuda.nth(mask, full(1))), act)
            else:
                w.put(v, w.get(v) + cuda.ballot(f(w) & 1, act, mask), act)

        use = (
            f"{v} = __reduce_add_sync({g}, {e});",
            f"{v} = __shfl_sync({g}, {e}, nth({g}, 1u));",
            f"{v} += __ballot_sync({g}, ({e}) & 1u);",
        )[kind]
        return Stmt([f"unsigned {g} = __match_any_sync({m}, ({k}) & 3u);", use], run)

    def leader(self, m: str, how: str = "") -> Stmt:
        """One lane adds for all and hands the old value on; the others never set theirs. A counter is one warp's."""
        r = self.rng
        ways = ["direct", "direct"] + (["function", "template", "ptx"] if self.leaders else [])
        how = how or r.choice(ways)
        if self.sums >= COUNTERS - 1:
            return self.assign(m)
        self.tags.add(f"leader-{how}")
        v, n, b, s = self.target(), self.counter(), self.fresh("b"), self.fresh("s")
        k = r.choice([0, 0, 1, 5])

        def run(w: Warp, act: Vec) -> None:
            mask = w.get(m)
            size = act.count()
            at = w.number * COUNTERS + w.sums + n
            old = w.block.sums[at]
            w.block.sums[at] = (old + size) & WORD
            w.put(v, cuda.popc(mask & BELOW) + old, act)

        call = {
            "direct": f"__shfl_sync({m}, {b}, {s})",
            "function": f"bcast({m}, {b}, {s})",
            "template": f"bcast_t({m}, {b}, {s})",
            "ptx": f"bcast_ptx({m}, {b}, {s})",
        }[how]
        lines = [
            f"unsigned {b}, {s} = nth({m}, {k}u);",
            f"if (lane == {s}) {b} = atomicAdd(&sums[{n}], (unsigned)__popc({m}));",
            f"{b} = {call};",
            f"{v} = {b} + (unsigned)__popc({m} & ((1u << lane) - 1u));",
        ]
        return Stmt(lines, run)

    def coalesced(self, m: str) -> Stmt:
        """The lanes that came together as a group: places are handed out, sums of sizes come out."""
        if self.sums >= COUNTERS - 1:
            return self.assign(m)
        self.tags.add("coalesced")
        n, g, b, v = self.counter(), self.fresh("g"), self.fresh("b"), self.target()

        def run(w: Warp, act: Vec) -> None:
            at = w.number * COUNTERS + w.sums + n
            old = w.block.sums[at]
            w.block.sums[at] = (old + act.count()) & WORD
            w.put(v, cuda.popc(w.get(m) & BELOW) + old, act)

        lines = [
            f"__syncwarp({m});",
            f"auto {g} = cg::coalesced_threads();",
            f"unsigned {b};",
            f"if ({g}.thread_rank() == 0) {b} = atomicAdd(&sums[{n}], (unsigned){g}.size());",
            f"{v} = {g}.shfl({b}, 0) + {g}.thread_rank();",
        ]
        return Stmt(lines, run)

    def exchange(self, m: str) -> Stmt:
        """Through shared memory, with `__syncwarp` between."""
        self.tags.add("shared")
        v, (e, f), (k, fk) = self.target(), self.value(), self.value(1)

        def run(w: Warp, act: Vec) -> None:
            value = f(w)
            w.store(value, act)
            source = cuda.nth(w.get(m), fk(w))
            w.put(v, w.load(source + w.first), act)

        lines = [
            f"sh[tid] = {e};",
            f"__syncwarp({m});",
            f"{{ unsigned t = sh[tid - lane + nth({m}, {k})];",
            f"  __syncwarp({m}); {v} = t; }}",
        ]
        return Stmt(lines, run)

    def atomic(self, m: str) -> Stmt:
        """Sums in which the order of threads does not show."""
        if self.sums >= COUNTERS - 1:
            return self.assign(m)
        n, (e, f), (c, fc) = self.counter(), self.value(), self.truth()
        name, fold = self.rng.choice([("Add", "add"), ("Xor", "xor"), ("Max", "max"), ("Or", "or")])
        self.tags.add("atomic")

        def run(w: Warp, act: Vec) -> None:
            at = w.number * COUNTERS + w.sums + n
            for i in (act & fc(w)).chosen():
                both = Vec([w.block.sums[at], f(w)[i], *[0] * 30])
                w.block.sums[at] = cuda.reduce(fold, both, LANES < 2, full(3))[0]

        return Stmt([f"if ({c}) atomic{name}(&sums[{n}], {e});"], run)

    def ptx(self, m: str) -> Stmt:
        self.tags.add("ptx")
        v, (e, f), kind = self.target(), self.value(), self.rng.randrange(4)
        d = self.rng.choice([1, 2, 5, 8, 16, 31])

        def run(w: Warp, act: Vec) -> None:
            value, mask = f(w), w.get(m)
            if kind == 0:
                w.put(v, w.get(v) + cuda.popc(mask & BELOW), act)
            elif kind == 1:
                src = LANES ^ d
                w.put(v, where(mask >> src & 1, value.at(src), full(7)), act)
            elif kind == 2:
                w.put(v, cuda.reduce("add", value, act, mask), act)
            else:
                w.put(v, cuda.ballot(value & 1, act, mask), act)

        text = (
            f"{v} += (unsigned)__popc({m} & below());",
            f"{{ unsigned t = bfly_ptx({m}, {e}, {d}u); {v} = {m} >> (lane ^ {d}u) & 1u ? t : 7u; }}",
            f"{v} = redux_ptx({m}, {e});",
            f"{v} = ballot_ptx({m}, ({e}) & 1u);",
        )[kind]
        return Stmt([text], run)
