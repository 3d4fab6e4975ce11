"""Each cross-lane operation, lane by lane and over random active masks, against a plain reference in Python."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from cu2port.verify import simulate

ROUNDS = 12
MASK32 = 0xFFFFFFFF


@dataclass(frozen=True)
class Lanes:
    """What a reference sees: lanes of the wave, which are here, each one's value and second operand."""

    wave: int
    here: list[bool]
    value: list[int]
    other: list[int]

    @property
    def mask(self) -> int:
        return sum(1 << i for i, x in enumerate(self.here) if x)

    def read(self, lane: int) -> int:
        """The value of a lane, 0 when it is not here."""
        lane %= self.wave
        return self.value[lane] if self.here[lane] else 0

    def read_other(self, lane: int) -> int:
        """The second operand of a lane, 0 when it is not here."""
        return self.other[lane] if self.here[lane] else 0

    def votes(self, bit: Callable[[int], object]) -> int:
        return sum(1 << i for i in range(self.wave) if self.here[i] and bit(i))


Reference = Callable[[Lanes, int], int]


def _shfl(s: Lanes, i: int, width: int) -> int:
    return s.read(i // width * width + s.other[i] % width)


def _up(s: Lanes, i: int, width: int) -> int:
    delta = s.other[i] % 64
    return s.read(i - delta if i % width >= delta else i)


def _down(s: Lanes, i: int, width: int) -> int:
    delta = s.other[i] % 64
    return s.read(i + delta if i % width + delta < width else i)


def _xor(s: Lanes, i: int, width: int) -> int:
    source = i ^ (s.other[i] % 64)
    # lanes above the own segment are out of reach, those below are not
    return s.read(source if source < i // width * width + width else i)


def _push(s: Lanes, i: int) -> int:
    out = 0
    for lane in range(s.wave):  # the highest sender stays
        if s.here[lane] and s.other[lane] % s.wave == i:
            out = s.value[lane]
    return out


def _first(s: Lanes) -> int:
    return s.value[s.here.index(True)]


def _fold(s: Lanes, f: Callable[[int, int], int]) -> int:
    values = [v for v, x in zip(s.value, s.here, strict=True) if x]
    out = values[0]
    for v in values[1:]:
        out = f(out, v)
    return out


def _row_shift(s: Lanes, i: int, delta: int) -> int:
    source = i + delta
    if source // 16 != i // 16 or not 0 <= source < s.wave or not s.here[source]:
        return 0
    return s.value[source]


def _nibble(i: int) -> int:
    return 0x89ABCDEF12345670 >> 4 * (i % 16) & 15


# operation in C++ (of unsigned v, int o, u64 here) -> what lane i gets
OPERATIONS: dict[str, Reference] = {
    "__ballot(o & 1)": lambda s, i: s.votes(lambda k: s.other[k] & 1),
    "__activemask()": lambda s, i: s.mask,
    "__any(o % 7 == 0)": lambda s, i: int(s.votes(lambda k: s.other[k] % 7 == 0) != 0),
    "__all(o % 7 != 0)": lambda s, i: int(s.votes(lambda k: s.other[k] % 7 != 0) == s.mask),
    "__match_any(o & 3)": lambda s, i: s.votes(lambda k: s.other[k] & 3 == s.other[i] & 3),
    "__match_any(static_cast<u64>(o & 3) << 40)": lambda s, i: s.votes(lambda k: s.other[k] & 3 == s.other[i] & 3),
    "(__match_all(o & 64, &same) | same)": lambda s, i: (
        s.mask | 1 if len({s.other[k] & 64 for k in range(s.wave) if s.here[k]}) == 1 else 0
    ),
    "__ballot_sync(here, o & 1)": lambda s, i: s.votes(lambda k: s.other[k] & 1),
    "__any_sync(here, o % 9 == 0)": lambda s, i: int(s.votes(lambda k: s.other[k] % 9 == 0) != 0),
    "__all_sync(here, o % 9 != 0)": lambda s, i: int(s.votes(lambda k: s.other[k] % 9 != 0) == s.mask),
    "__reduce_add_sync(here, v)": lambda s, i: _fold(s, lambda a, b: (a + b) & MASK32),
    "__reduce_min_sync(here, v)": lambda s, i: _fold(s, min),
    "__reduce_max_sync(here, v)": lambda s, i: _fold(s, max),
    "__reduce_and_sync(here, v)": lambda s, i: _fold(s, lambda a, b: a & b),
    "__reduce_or_sync(here, v)": lambda s, i: _fold(s, lambda a, b: a | b),
    "__reduce_xor_sync(here, v)": lambda s, i: _fold(s, lambda a, b: a ^ b),
    "__shfl_sync(here, v, o)": lambda s, i: _shfl(s, i, s.wave),
    "__shfl_xor_sync(here, v, o & 63, 16)": lambda s, i: _xor(s, i, 16),
    "__shfl_up_sync(here, v, o & 63, 8)": lambda s, i: _up(s, i, 8),
    "__shfl_down_sync(here, v, o & 63, 32)": lambda s, i: _down(s, i, 32),
    "static_cast<unsigned>(__builtin_amdgcn_readfirstlane(v))": lambda s, i: _first(s),
    "static_cast<unsigned>(__builtin_amdgcn_readlane(v, 5))": lambda s, i: s.read(5),
    "static_cast<unsigned>(__builtin_amdgcn_ds_bpermute(o * 4, v))": lambda s, i: s.read(s.other[i]),
    "static_cast<unsigned>(__builtin_amdgcn_ds_permute(o * 4, v))": lambda s, i: _push(s, i),
    "static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(v, 0x401f))": lambda s, i: s.read(i // 32 * 32 + (i % 32 ^ 16)),
    "static_cast<unsigned>(__builtin_amdgcn_mov_dpp(v, 0x111, 0xf, 0xf, true))": lambda s, i: _row_shift(s, i, -1),
    "__float_as_uint(__builtin_amdgcn_mov_dpp(__uint_as_float(v), 0x111, 0xf, 0xf, true))": lambda s, i: _row_shift(
        s, i, -1
    ),
    "static_cast<unsigned>(__builtin_amdgcn_update_dpp(9, v, 0x111, 0xf, 0xf, false))": lambda s, i: (
        _row_shift(s, i, -1) if i % 16 and s.here[i - 1] else 9
    ),
    "static_cast<unsigned>(__builtin_amdgcn_update_dpp(9, v, 0x140, 0x1, 0x3, true))": lambda s, i: (
        s.read(15 - i) if i < 8 else 9
    ),
    "static_cast<unsigned>(__builtin_amdgcn_mov_dpp(v, 0x128, 0xf, 0xf, true))": lambda s, i: s.read(i ^ 8),
    "__builtin_amdgcn_mov_dpp8(v, 0xfac688)": lambda s, i: s.read(i // 8 * 8 + (0xFAC688 >> 3 * (i % 8) & 7)),
    "static_cast<unsigned>(__builtin_amdgcn_permlane16(9, v, 0x12345670, 0x89abcdef, true, false))": lambda s, i: (
        s.read(i // 16 * 16 + _nibble(i))
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlane16(9, v, 0x12345670, 0x89abcdef, false, false))": lambda s, i: (
        s.read(i // 16 * 16 + _nibble(i)) if s.here[i // 16 * 16 + _nibble(i)] else 9
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlanex16(9, v, 0x12345670, 0x89abcdef, false, true))": lambda s, i: (
        s.read((i // 16 ^ 1) * 16 + _nibble(i))
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlane16_var(9, v, o, true, false))": lambda s, i: s.read(
        i // 16 * 16 + s.other[i] % 16
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlanex16_var(9, v, o, true, false))": lambda s, i: s.read(
        (i // 16 ^ 1) * 16 + s.other[i] % 16
    ),
    "__builtin_amdgcn_permlane64(v)": lambda s, i: s.read(i ^ 32 if s.wave == 64 else i),
    "static_cast<unsigned>(__builtin_amdgcn_permlane16_swap(v, o, false, false)[0])": lambda s, i: (
        s.read_other(i - 16) if i & 16 else s.value[i]
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlane16_swap(v, o, false, false)[1])": lambda s, i: (
        s.other[i] if i & 16 else s.read(i + 16)
    ),
    "static_cast<unsigned>(__builtin_amdgcn_permlane32_swap(v, o, false, false)[0])": lambda s, i: (
        s.value[i] if s.wave == 32 else s.read_other(i - 32) if i & 32 else s.value[i]
    ),
    "__builtin_amdgcn_ballot_w64(o & 1)": lambda s, i: s.votes(lambda k: s.other[k] & 1),
    "__builtin_amdgcn_ballot_w32(o & 2)": lambda s, i: s.votes(lambda k: s.other[k] & 2) & MASK32,
    "__builtin_amdgcn_uicmp(o, 60, 36)": lambda s, i: s.votes(lambda k: s.other[k] < 60),
    "__builtin_amdgcn_read_exec()": lambda s, i: s.mask,
    "__builtin_amdgcn_read_exec_lo()": lambda s, i: s.mask & MASK32,
    "__builtin_amdgcn_read_exec_hi()": lambda s, i: s.mask >> 32,
    "__builtin_amdgcn_inverse_ballot_w64(0x123456789abcdefull)": lambda s, i: 0x123456789ABCDEF >> i & 1,
    "__builtin_amdgcn_wavefrontsize()": lambda s, i: s.wave,
    "__hip_ds_permute(o * 4, v)": lambda s, i: _push(s, i),
    "__lanemask_lt()": lambda s, i: s.mask & ((1 << i) - 1),
    "__lanemask_gt()": lambda s, i: s.mask & ~((2 << i) - 1),
    "__lane_id()": lambda s, i: i,
    "__builtin_amdgcn_mbcnt_hi(here >> 32, __builtin_amdgcn_mbcnt_lo(here, 0))": lambda s, i: (
        s.mask & ((1 << i) - 1)
    ).bit_count(),
    "__hip_ds_swizzle(v, 0x041f)": lambda s, i: s.read(i // 32 * 32 + (i % 32 ^ 1)),
    "__hip_ds_swizzle(v, 0x8000 | 0x1b)": lambda s, i: s.read(i // 4 * 4 + 3 - i % 4),
    "__hip_move_dpp(v, 0x101, 0xf, 0xf, true)": lambda s, i: _row_shift(s, i, 1),
    "__hip_move_dpp(v, 0x113, 0xf, 0xf, true)": lambda s, i: _row_shift(s, i, -3),
    "__hip_move_dpp(v, 0x140, 0xf, 0xf, true)": lambda s, i: s.read(i // 16 * 16 + 15 - i % 16),
    "__hip_move_dpp(v, 0x4e, 0xf, 0xf, true)": lambda s, i: s.read(i // 4 * 4 + (i % 4 ^ 2)),
}
for _width in (2, 4, 8, 16, 32, 64):
    _w = f", {_width}"
    OPERATIONS[f"__shfl(v, o{_w})"] = partial(_shfl, width=_width)
    OPERATIONS[f"__shfl_up(v, o & 63{_w})"] = partial(_up, width=_width)
    OPERATIONS[f"__shfl_down(v, o & 63{_w})"] = partial(_down, width=_width)
    OPERATIONS[f"__shfl_xor(v, o & 63{_w})"] = partial(_xor, width=_width)
    OPERATIONS[f"__shfl(static_cast<double>(v), o{_w})"] = partial(_shfl, width=_width)


def operations(wave: int) -> list[str]:
    """Those that make sense at a wave size."""
    return [x for x in OPERATIONS if wave == 64 or ", 64)" not in x]


def source(wave: int) -> str:
    """A program that reads (here, value, other) of every lane and writes what each lane got."""
    kernels, table = [], []
    for n, text in enumerate(operations(wave)):
        kernels.append(
            f"__global__ void k{n}(u64* out, const In* in) {{\n const In mine = in[threadIdx.x];\n"
            " const unsigned v = mine.value; const int o = mine.other; int same = 0; (void)same;\n"
            f" if (mine.here) {{ const u64 here = __ballot(1); (void)here; out[threadIdx.x] = {text}; }}\n}}\n"
        )
        table.append(f"k{n}")
    return f"""
#include <hip/hip_runtime.h>
#include <cstdio>
typedef unsigned long long u64;
struct In {{ int here; unsigned value; int other; }};
{"".join(kernels)}
int main(int, char** argv) {{
    void (*all[])(u64*, const In*) = {{{", ".join(table)}}};
    FILE* f = fopen(argv[1], "rb");
    FILE* g = fopen(argv[2], "wb");
    static In in[64];
    static u64 out[64];
    while (fread(in, sizeof(In), {wave}, f) == {wave})
        for (auto k : all) {{
            for (u64& x : out) x = 0;
            k<<<1, {wave}>>>(out, in);
            fwrite(out, 8, {wave}, g);
        }}
    fclose(g);
}}
"""


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_operations(wave: int, build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    rng = random.Random(wave)
    rounds = []
    for n in range(ROUNDS):
        share = (1.0, 0.5, 0.1)[n % 3]
        here = [rng.random() < share for _ in range(wave)]
        here[rng.randrange(wave)] = True
        value = [rng.getrandbits(32) for _ in range(wave)]
        rounds.append(Lanes(wave, here, value, [rng.randrange(128) for _ in range(wave)]))
    data = (struct.pack("<iIi", *x) for s in rounds for x in zip(map(int, s.here), s.value, s.other, strict=True))
    (tmp_path / "in").write_bytes(b"".join(data))
    path = tmp_path / "operations.hip"
    path.write_text(source(wave))
    ran = simulate.run(
        build(path, wave), (str(tmp_path / "in"), str(tmp_path / "out")), simulate.Limits(60), capture=True
    )
    assert ran.code == 0, ran.errors.decode()
    got = struct.iter_unpack(f"<{wave}Q", (tmp_path / "out").read_bytes())
    wrong = []
    for s in rounds:
        for text in operations(wave):
            lanes = next(got)
            sign = 1 << 64
            for i in range(wave):
                want = OPERATIONS[text](s, i) if s.here[i] else 0
                # an int result is sign-extended into 64 bits
                if lanes[i] != want % sign and (lanes[i] & MASK32, lanes[i] >> 32) != (want & MASK32, MASK32):
                    wrong.append((text, i, hex(lanes[i]), hex(want)))
    assert wrong[:5] == []
