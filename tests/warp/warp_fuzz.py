"""Kernels at random whose lanes part and meet, each operation with the mask of just the lanes that come to it.

All of it is defined by CUDA: what a lane gets from another one counts only where that one came too. So every mode and
every size of a wavefront must give one answer.
"""

from __future__ import annotations

import random

HEAD = """#include <cuda_runtime.h>
__device__ unsigned mix(unsigned h, unsigned v) { return (h ^ v) * 0x9E3779B1u + 0x7F4A7C15u; }
"""
_TYPES = {"unsigned": "h", "int": "int(h)", "float": "float(h & 1023)", "long long": "(long long)h * 77777",
          "double": "double(h)", "unsigned long long": "((unsigned long long)h << 17 | h)"}  # fmt: skip


class Writer:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.names = 0
        self.lines: list[str] = []

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def condition(self) -> str:
        """Of data, a lane, a warp, or the block."""
        r = self.r
        return r.choice((
            f"(h >> {r.randrange(12)} & 1)", f"h % {r.choice((3, 5, 7))} != 0", f"(lane & {1 << r.randrange(5)})",
            f"lane < {r.choice((1, 5, 16, 31))}", "(warp & 1)", f"t >= {r.choice((32, 40, 64))}", "blockIdx.x == 1",
            f"lane == {r.randrange(32)}", f"(h ^ lane) % 4 == {r.randrange(4)}",
        ))  # fmt: skip

    def shuffle(self, mask: str) -> list[str]:
        """A value of another lane, if that is in the mask."""
        kind = self.r.choice(("shfl", "shfl_xor", "shfl_up", "shfl_down"))
        width = self.r.choice((32, 32, 32, 16, 8, 4, 2))
        typ = self.r.choice(list(_TYPES))
        v, o, src = self.name("v"), self.name("o"), self.name("s")
        constant = self.r.random() < 0.6
        by = self.r.randrange(width if kind == "shfl" else min(width, 17) or 1)
        if kind == "shfl_xor" and self.r.random() < 0.7:
            by = 1 << self.r.randrange(width.bit_length() - 1)
        distance = str(by) if constant else f"((h >> 3) % {width})"
        if not constant and kind != "shfl":
            distance = f"(mask_bits({mask}) % {width})"
        extra = f", {width}" if width < 32 or self.r.random() < 0.2 else ""
        out = [f"const int {o} = {distance};"]
        if not constant and kind == "shfl":
            out[0] = f"const int {o} = int(__popc({mask})) % {width};"
        base = f"(lane & ~{width - 1})"
        sources = {
            "shfl": f"{base} | ({o} & {width - 1})",
            "shfl_xor": f"lane ^ {o}",
            "shfl_up": f"(lane & {width - 1}) < {o} ? lane : lane - {o}",
            "shfl_down": f"(lane & {width - 1}) + {o} >= {width} ? lane : lane + {o}",
        }
        argument = str(by) if constant else o
        out += [
            f"const int {src} = {sources[kind]};",
            f"const {typ} {v} = __{kind}_sync({mask}, ({typ})({_TYPES[typ]}), {argument}{extra});",
            f"if ({mask} >> {src} & 1) h = mix(h, (unsigned)({v}));",
        ]
        return [x.replace("mask_bits(", "__popc(") for x in out]

    def operation(self, mask: str) -> list[str]:
        """Something that the lanes of a mask do together."""
        r = self.r
        kind = r.randrange(11)
        if kind < 4:
            return self.shuffle(mask)
        if kind == 4:
            return [f"h = mix(h, __ballot_sync({mask}, {self.condition()}));"]
        if kind == 5:
            return [f"h = mix(h, {r.choice(('__any_sync', '__all_sync'))}({mask}, {self.condition()}));"]
        if kind == 6:
            return [
                f"h = mix(h, __match_any_sync({mask}, {r.choice(('h % 3', 'lane / 5', '(long long)(h & 1) << 40'))}));"
            ]
        if kind == 7:
            p = self.name("p")
            return [f"int {p};", f"h = mix(h, __match_all_sync({mask}, {r.choice(('h & 1', 'warp'))}, &{p}) + {p});"]
        if kind == 8:
            op = r.choice(("add", "min", "max", "and", "or", "xor"))
            value = (
                r.choice(("h", "h & 255", "lane")) if op in ("and", "or", "xor") else r.choice(("h", "int(h)", "lane"))
            )
            value = value if op in ("add", "min", "max") or value != "lane" else "unsigned(lane)"
            return [f"h = mix(h, __reduce_{op}_sync({mask}, {value}));"]
        if kind == 9:  # through memory
            k = r.choice((1, 2, 5, 16))
            return [
                f"__syncwarp({mask});", "cell[t] = h;", f"__syncwarp({mask});",
                f"if ({mask} >> (lane ^ {k}) & 1) h = mix(h, cell[t ^ {k}]);", f"__syncwarp({mask});",
            ]  # fmt: skip
        leader = self.name("leader")
        return [
            f"const int {leader} = __ffs({mask}) - 1;", f"unsigned {leader}_v = 0;",
            f"if (lane == {leader}) {leader}_v = h % 1000;",
            f"h = mix(h, __shfl_sync({mask}, {leader}_v, {leader}) + __popc({mask} & ((1u << lane) - 1)));",
        ]  # fmt: skip

    def statements(self, mask: str, depth: int) -> list[str]:
        out: list[str] = []
        for _ in range(self.r.randrange(1, 4)):
            kind = self.r.randrange(8) if depth < 3 else 0
            if kind < 4:
                out += self.operation(mask)
            elif kind in (4, 5):
                c, m, n = self.name("c"), self.name("m"), self.name("m")
                out += [f"const bool {c} = {self.condition()};", f"const unsigned {m} = __ballot_sync({mask}, {c});"]
                out += [f"if ({c}) {{", *self.statements(m, depth + 1)]
                if self.r.random() < 0.7:
                    out += ["} else {", f"const unsigned {n} = {mask} & ~{m};", *self.statements(n, depth + 1)]
                out += ["}", f"__syncwarp({mask});"]
            elif kind == 6:  # lanes leave a loop one after the other
                n, go, m = self.name("n"), self.name("go"), self.name("m")
                out += [f"int {n} = {self.r.choice(('h % 4', 'lane % 5', 'warp + 1', '3'))};", f"bool {go} = {n} > 0;"]
                out += [f"unsigned {m} = __ballot_sync({mask}, {go});", f"while ({go}) {{", f"{n}--;"]
                out += self.statements(m, depth + 1)
                out += [f"{go} = {n} > 0 && {self.r.choice(('true', 'h % 5 != 0', 'lane != 3'))};"]
                out += [f"{m} = __ballot_sync({m}, {go});", "}", f"__syncwarp({mask});"]
            else:
                c, m = self.name("c"), self.name("m")
                out += [
                    f"for (int {c} = 0; {c} < {self.r.choice(('2', 'int(warp) + 1'))}; {c}++) {{",
                    *self.operation(mask),
                    "}",
                ]
        return out

    def kernel(self) -> str:
        """Source of `k` and of `run`."""
        body = self.statements("all", 0)
        rows = self.r.random() < 0.2
        block = self.r.choice((32, 64, 96, 128, 256, 48, 80)) if not rows else 128
        shape = (
            self.r.choice((f"dim3({block})", str(block))) if not rows else self.r.choice(("dim3(32, 4)", "dim3(64, 2)"))
        )
        t = "threadIdx.x" if not rows else "threadIdx.y * blockDim.x + threadIdx.x"
        return f"""{HEAD}__global__ void k(const int* in, int* out) {{
    __shared__ unsigned cell[512];
    const int t = {t}, lane = t % 32, warp = t / 32;
    const int threads = blockDim.x * blockDim.y - warp * 32;
    const unsigned all = threads >= 32 ? 0xffffffffu : (1u << threads) - 1;
    unsigned h = in[t] * 2654435761u + blockIdx.x;
    cell[t] = 0;
    {chr(10).join(body)}
    out[blockIdx.x * 512 + t] = int(h);
}}
void run(const int* in, int* out) {{ k<<<2, {shape}>>>(in, out); }}
"""
