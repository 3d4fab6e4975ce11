"""Which lanes meet: random divergent kernels, and what their lanes compute on a machine that runs a wave in lockstep.

The reference is an interpreter with an execution mask, as hardware has it: both arms of a branch one after the other,
a loop until its last lane has left, blocks that only leave a loop after that loop. It shares nothing with the
simulator, which lets lanes run one by one and compares their positions.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cu2port.verify import simulate

ROUNDS = 2
LOOPS = ("for", "while", "do", "asked")
_WORD = 0xFFFFFFFF
_LONG = 0xFFFFFFFFFFFFFFFF

PRELUDE = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
typedef unsigned long long u64;
__device__ u64 mix(u64 h, u64 id, u64 m) {
    h ^= m + id * 0x9E3779B97F4A7C15ull;
    h *= 0xff51afd7ed558ccdull;
    return h ^ (h >> 29);
}
#define LOG(id) h = mix(h, id, __ballot(1))
"""


@dataclass(frozen=True)
class Node:
    """A statement. `kind`: log, if, switch, for, while, do, asked, break, continue, return, leave, call. An asked loop
    is a `while` with an operation in its condition. `bit`: which bit of the lane's value (plus `step` times the
    innermost loop's counter) decides."""

    kind: str
    id: int = 0
    bit: int = 0
    step: int = 0
    extra: int = 0
    arms: tuple[tuple[Node, ...], ...] = ()


@dataclass
class Maker:
    """Grows random statement lists."""

    rng: random.Random
    count: int = 0
    functions: list[tuple[Node, ...]] = field(default_factory=list)

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def block(self, depth: int, loops: int, calls: bool, switch: bool = False) -> tuple[Node, ...]:
        out: list[Node] = []
        for _ in range(self.rng.randint(1, 4)):
            out.append(self.statement(depth, loops, calls, switch))
        return tuple(out)

    def statement(self, depth: int, loops: int, calls: bool, switch: bool) -> Node:
        r = self.rng
        bit, step = r.randrange(32), r.randint(1, 4) if loops else 0
        kind = r.choices(
            ["log", "if", "switch", *LOOPS, "break", "continue", "return", "leave", "call"],
            [6, 5, 1, 2, 1, 1, 1, 1, 1, 0.4, 1, 1],
        )[0]
        if kind in ("if", "switch", *LOOPS) and depth == 0:
            kind = "log"
        if kind in ("break", "continue", "leave") and (loops == 0 or (switch and kind != "continue")):
            kind = "log"
        if kind == "call" and not calls:
            kind = "log"
        id_ = self.fresh()
        if kind == "if":
            arms = [self.block(depth - 1, loops, calls, switch)]
            if r.random() < 0.5:
                arms.append(self.block(depth - 1, loops, calls, switch))
            return Node(kind, id_, bit, step, arms=tuple(arms))
        if kind == "switch":
            arms = [self.block(depth - 1, loops, calls, True) for _ in range(3)]
            return Node(kind, id_, bit, step, arms=tuple(arms))
        if kind in LOOPS:
            return Node(kind, id_, bit, step, r.randint(0, 1), (self.block(depth - 1, loops + 1, calls),))
        if kind == "leave":
            return Node(kind, id_, bit, step)
        if kind == "call":
            self.functions.append(self.block(1, 0, False))
            return Node(kind, id_, bit, step, len(self.functions) - 1)
        return Node(kind, id_, bit, step, r.randrange(32))


@dataclass(frozen=True)
class Kernel:
    """A kernel: its body and the device functions it calls."""

    body: tuple[Node, ...]
    functions: tuple[tuple[Node, ...], ...]


def generate(seed: int) -> Kernel:
    """The kernel of a seed."""
    maker = Maker(random.Random(seed))
    body = maker.block(4, 0, True)
    return Kernel((*body, Node("log", maker.fresh())), tuple(maker.functions))


# --- as C++ -----------------------------------------------------------------------------------------------------------


def emit(kernel: Kernel, name: str, jumps: bool = False) -> str:
    """The kernel and its functions as HIP source; `jumps`: with labels and `goto` for loops."""
    out = []
    for n, body in enumerate(kernel.functions):
        out.append(
            f"__device__ u64 {name}_f{n}(unsigned v, u64 h) {{\n"
            f"{_lines(body, '', name, 'return h;', jumps)}return h;\n}}"
        )
    leave = "{ out[threadIdx.x] = h; return; }"
    out.append(
        f"__global__ void {name}(u64* out, const unsigned* in) {{\nunsigned v = in[threadIdx.x];\nu64 h = 1;\n"
        f"{_lines(kernel.body, '', name, leave, jumps)}out[threadIdx.x] = h;\n}}"
    )
    text = "\n".join(out) + "\n"
    return re.sub(r"LOG\((\d+)\)", r"h = mix(h, \1, __ballot(1))", text) if jumps else text


def _condition(n: Node, loop: str) -> str:
    return f"((v >> (({loop} * {n.step}u + {n.bit}u) & 31)) & 1)" if loop else f"((v >> {n.bit}) & 1)"


def _lines(body: tuple[Node, ...], loop: str, name: str, leave: str, jumps: bool) -> str:
    return "".join(_line(n, loop, name, leave, jumps) for n in body)


def _leaving(body: tuple[Node, ...]) -> list[int]:
    """The blocks that only leave the loop that this is the body of."""
    inner = [x for n in body if n.kind in ("if", "switch") for arm in n.arms for x in _leaving(arm)]
    return sorted([n.id for n in body if n.kind == "leave"] + inner)


def _jumping(n: Node, inner: str) -> str:
    """A loop as a compiler lays it out: what only leaves it is behind it."""
    i, limit = f"i{n.id}", f"((v >> {n.bit}) & 3) + {n.extra}u"
    check = f"if (!({i} < {limit})) goto end{n.id};\n"
    head, back = {"for": (check, f"++{i};\n"), "while": (f"{check}++{i};\n", ""), "do": (f"++{i};\n", check)}.get(
        n.kind, (f"LOG({n.id});\n{check}++{i};\n", "")
    )
    rest = "".join(f"out{x}: LOG({x});\ngoto end{n.id};\n" for x in _leaving(n.arms[0]))
    return (
        f"{{\nunsigned {i} = 0;\nturn{n.id}: {head}{inner}next{n.id}: {back}goto turn{n.id};\n{rest}end{n.id}:;\n}}\n"
    )


def _line(n: Node, loop: str, name: str, leave: str, jumps: bool) -> str:
    if n.kind == "log":
        return f"LOG({n.id});\n"
    if n.kind == "if":
        text = f"if ({_condition(n, loop)}) {{\n{_lines(n.arms[0], loop, name, leave, jumps)}}}"
        if len(n.arms) > 1:
            text += f" else {{\n{_lines(n.arms[1], loop, name, leave, jumps)}}}"
        return text + "\n"
    if n.kind == "switch":
        cases = "".join(
            f"case {k}: {{\n{_lines(a, loop, name, leave, jumps)}}}\n{'break;' if k != 1 else ''}\n"
            for k, a in enumerate(n.arms)
        )
        return f"switch ((v >> {n.bit}) & 3) {{\n{cases}default: LOG({n.id});\n}}\n"
    if n.kind in LOOPS:
        i = f"i{n.id}"
        inner = _lines(n.arms[0], i, name, leave, jumps)
        if jumps:
            return _jumping(n, inner)
        limit = f"((v >> {n.bit}) & 3) + {n.extra}u"
        if n.kind == "for":
            return f"for (unsigned {i} = 0; {i} < {limit}; ++{i}) {{\n{inner}}}\n"
        if n.kind == "while":
            return f"unsigned {i} = 0;\nwhile ({i} < {limit}) {{\n++{i};\n{inner}}}\n"
        if n.kind == "asked":  # by an assignment, or by a declaration
            ask = f"(h = mix(h, {n.id}, __ballot(1))), {i} < {limit}"
            ask = ask if n.id % 2 else f"bool more{n.id} = ({ask})"
            return f"unsigned {i} = 0;\nwhile ({ask}) {{\n++{i};\n{inner}}}\n"
        return f"unsigned {i} = 0;\ndo {{\n++{i};\n{inner}}} while ({i} < {limit});\n"
    if jumps and n.kind in ("break", "continue", "leave"):
        label = f"out{n.id}" if n.kind == "leave" else {"break": "end", "continue": "next"}[n.kind] + loop[1:]
        return f"if ({_condition(n, loop)}) goto {label};\n"
    if n.kind in ("break", "continue"):
        return f"if ({_condition(n, loop)}) {n.kind};\n"
    if n.kind == "return":
        return f"if ({_condition(n, loop)} && ((v >> {n.extra}) & 1)) {leave}\n"
    if n.kind == "leave":
        return f"if ({_condition(n, loop)}) {{\nLOG({n.id});\nbreak;\n}}\n"
    return f"h = {name}_f{n.extra}(v * {n.step + 3}u + {n.bit}u, h);\n"


# --- as a machine with an execution mask ------------------------------------------------------------------------------


class Machine:
    """Lanes of one wave. `broken`, `continued`, `returned`: lanes that left the current loop, turn or function."""

    def __init__(self, kernel: Kernel, values: list[int]) -> None:
        self.kernel = kernel
        self.lanes = len(values)
        self.hash = [1] * self.lanes
        self.broken = self.continued = self.returned = 0
        self.pending: list[tuple[int, int]] = []  # (log, lanes) to run after the current loop
        everyone = (1 << self.lanes) - 1
        self.run(kernel.body, everyone, list(values), [0] * self.lanes)

    def log(self, id_: int, mask: int) -> None:
        for lane in self.each(mask):
            h = self.hash[lane] ^ ((mask + id_ * 0x9E3779B97F4A7C15) & _LONG)
            h = h * 0xFF51AFD7ED558CCD & _LONG
            self.hash[lane] = h ^ (h >> 29)

    def each(self, mask: int) -> list[int]:
        return [lane for lane in range(self.lanes) if mask >> lane & 1]

    def true(self, n: Node, mask: int, v: list[int], i: list[int]) -> int:
        return sum(1 << k for k in self.each(mask) if v[k] >> ((i[k] * n.step + n.bit) & 31) & 1)

    def run(self, body: tuple[Node, ...], mask: int, v: list[int], i: list[int]) -> int:
        """Run statements; the lanes that come out at the end."""
        for n in body:
            if mask == 0:
                return 0
            mask = self.step(n, mask, v, i)
        return mask

    def step(self, n: Node, mask: int, v: list[int], i: list[int]) -> int:
        if n.kind == "log":
            self.log(n.id, mask)
        elif n.kind == "if":
            yes = self.true(n, mask, v, i)
            rest = mask & ~yes
            out = self.run(n.arms[0], yes, v, i)
            return out | (self.run(n.arms[1], rest, v, i) if len(n.arms) > 1 else rest)
        elif n.kind == "switch":
            return self.switch(n, mask, v, i)
        elif n.kind in LOOPS:
            return self.loop(n, mask, v)
        elif n.kind == "break":
            self.broken |= (yes := self.true(n, mask, v, i))
            return mask & ~yes
        elif n.kind == "continue":
            self.continued |= (yes := self.true(n, mask, v, i))
            return mask & ~yes
        elif n.kind == "return":
            yes = sum(1 << k for k in self.each(self.true(n, mask, v, i)) if v[k] >> n.extra & 1)
            self.returned |= yes
            return mask & ~yes
        elif n.kind == "leave":
            yes = self.true(n, mask, v, i)
            self.pending.append((n.id, yes))
            self.broken |= yes
            return mask & ~yes
        else:
            kept = self.returned
            self.returned = 0
            inner = [(x * (n.step + 3) + n.bit) & _WORD for x in v]
            self.run(self.kernel.functions[n.extra], mask, inner, [0] * self.lanes)
            self.returned = kept
        return mask

    def switch(self, n: Node, mask: int, v: list[int], i: list[int]) -> int:
        chosen = [sum(1 << k for k in self.each(mask) if (v[k] >> n.bit & 3) == case) for case in range(4)]
        out = self.run(n.arms[0], chosen[0], v, i)
        fallen = self.run(n.arms[1], chosen[1], v, i)
        out |= self.run(n.arms[2], chosen[2] | fallen, v, i)
        self.log(n.id, chosen[3])
        return out | chosen[3]

    def loop(self, n: Node, mask: int, v: list[int]) -> int:
        outer = self.broken, self.continued, self.pending
        self.broken, self.continued, self.pending = 0, 0, []
        turn = [0] * self.lanes
        began = self.returned
        active, first = mask, True
        while active:
            if n.kind == "asked":
                self.log(n.id, active)
            if not (n.kind == "do" and first):
                active = sum(1 << k for k in self.each(active) if turn[k] < (v[k] >> n.bit & 3) + n.extra)
            first = False
            if n.kind != "for":
                for k in self.each(active):
                    turn[k] += 1
            done = self.run(n.arms[0], active, v, turn)
            active = done | self.continued
            self.continued = 0
            if n.kind == "for":
                for k in self.each(active):
                    turn[k] += 1
        for id_ in sorted({id_ for id_, _ in self.pending}):
            self.log(id_, sum(lanes for other, lanes in self.pending if other == id_))
        self.broken, self.continued, self.pending = outer
        return mask & ~(self.returned & ~began)


# --- the tests -------------------------------------------------------------------------------------------------------


def _main(count: int) -> str:
    table = ", ".join(f"k{n}" for n in range(count))
    return f"""
int main(int, char** argv) {{
    void (*all[])(u64*, const unsigned*) = {{{table}}};
    unsigned *in;
    u64 *out;
    (void)hipMalloc(&in, 4 * 64);
    (void)hipMalloc(&out, 8 * 64);
    FILE* f = fopen(argv[1], "rb");
    FILE* g = fopen(argv[2], "wb");
    const int lanes = atoi(argv[3]);
    std::vector<unsigned> h(lanes);
    std::vector<u64> o(lanes);
    for (auto k : all)
        for (int round = 0; round < {ROUNDS}; ++round) {{
            if (fread(h.data(), 4, lanes, f) != static_cast<size_t>(lanes)) return 3;
            (void)hipMemcpy(in, h.data(), 4 * lanes, hipMemcpyHostToDevice);
            k<<<1, lanes>>>(out, in);
            (void)hipMemcpy(o.data(), out, 8 * lanes, hipMemcpyDeviceToHost);
            fwrite(o.data(), 8, lanes, g);
        }}
    fclose(g);
    return 0;
}}
"""


def _agree(build: Callable[[Path, int], Path], folder: Path, seeds: range, wave: int, jumps: bool = False) -> None:
    kernels = [generate(seed) for seed in seeds]
    source = folder / "divergent.hip"
    source.write_text(PRELUDE + "".join(emit(k, f"k{n}", jumps) for n, k in enumerate(kernels)) + _main(len(kernels)))
    rng = random.Random(wave)
    values = [[rng.getrandbits(32) for _ in range(wave)] for _ in range(len(kernels) * ROUNDS)]
    (folder / "in").write_bytes(b"".join(struct.pack(f"<{wave}I", *v) for v in values))
    arguments = (str(folder / "in"), str(folder / "out"), str(wave))
    ran = simulate.run(build(source, wave), arguments, simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()
    got = (folder / "out").read_bytes()
    wrong = []
    for n, v in enumerate(values):
        lanes = list(struct.unpack_from(f"<{wave}Q", got, n * wave * 8))
        if lanes != Machine(kernels[n // ROUNDS], v).hash:
            wrong.append(seeds[n // ROUNDS])
    assert wrong == []


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_lanes_meet_as_on_a_machine_with_an_execution_mask(
    wave: int, build: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    _agree(build, tmp_path, range(40), wave)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_many_kernels(wave: int, build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    _agree(build, tmp_path, range(1000, 1150), wave)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_lanes_in_loops_of_goto_meet_so_too(wave: int, build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    _agree(build, tmp_path, range(40), wave, jumps=True)
