"""AMD's code for instructions that AMD GPUs have too is about as long as what a person writes for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from amd_code import machine_code

from cu2port.ptx.emit import emit
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.printer import cxx_type

ALL = ("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
DOT = ("gfx906", "gfx90a", "gfx942", "gfx1030")

#: PTX, what a person writes with the same result, and the GPUs that have it; d is the result, a, b, c operands
PAIRS = (
    ("cvt.rzi.s32.f32 %d, %f;", "d = (int)f;", ALL),
    ("cvt.rzi.u32.f32 %d, %f;", "d = (unsigned)f;", ALL),
    ("cvt.rni.s32.f32 %d, %f;", "d = (int)__builtin_rintf(f);", ALL),
    ("cvt.rmi.s32.f32 %d, %f;", "d = (int)__builtin_floorf(f);", ALL),
    ("prmt.b32 %d, %a, %b, 0x5410;", "d = __builtin_amdgcn_perm(b, a, 0x05040100);", ALL),
    ("prmt.b32 %d, %a, %b, 0x0123;", "d = __builtin_amdgcn_perm(b, a, 0x00010203);", ALL),
    ("dp4a.s32.s32 %d, %a, %b, %c;", "d = __builtin_amdgcn_sdot4(a, b, c, false);", DOT),
    (
        "dp4a.s32.s32 %d, %a, %b, %c;",
        "d = __builtin_amdgcn_sudot4(true, a, true, b, c, false);",
        ("gfx1100", "gfx1201"),
    ),
    ("dp4a.s32.u32 %d, %a, %b, %c;", "d = __builtin_amdgcn_sudot4(true, a, false, b, c, false);", ("gfx1100",)),
    ("dp4a.u32.u32 %d, %a, %b, %c;", "d = __builtin_amdgcn_udot4(a, b, c, false);", ALL),
    ("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", "d = __builtin_amdgcn_sad_u8(a, b, c);", ALL),
    ("redux.sync.add.u32 %d, %a, 0xffffffff;", "d = sum_of_32(a);", ALL),
)
#: a person's sum of a warp, as HIP's __shfl_xor has it; it takes lanes that have exited for lanes with values
HAND = """#include <cu2port/warp.hpp>
static __device__ unsigned sum_of_32(unsigned v) {
  const int self = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  for (int bits = 16; bits; bits /= 2) {
    const int other = self ^ bits, last = (self + 32) & ~31;
    v += __builtin_amdgcn_ds_bpermute((other >= last ? self : other) << 2, v);
  }
  return v;
}
"""
PLACES = {f"%{name}": Place(name, TYPES["f32" if name == "f" else "u32"]) for name in "dabcf"}


#: what brings operands in and the result out
_AROUND = re.compile(
    r"s_load|global_|flat_|s_wait|s_nop|s_clause|s_delay|[sv]_mov_b|v_dual_mov|v_lshl_add_u64|v_lshlrev"
)


def kernel(name: str, lines: str) -> str:
    used = [x for x in "abcf" if re.search(rf"\b{x}\b", lines)]
    inputs = "".join(f"const {cxx_type(PLACES[f'%{x}'].type)} {x} = *p{x}; " for x in used)
    head = (
        "const std::uint32_t* pa, const std::uint32_t* pb, const std::uint32_t* pc, const float* pf, std::uint32_t* o"
    )
    return f'extern "C" __global__ void {name}({head}) {{ {inputs}std::uint32_t d; {lines} *o = d; }}\n'


def length(code: str) -> int:
    return sum(not _AROUND.match(word) for word in re.findall(r"^\t([a-z]\w+)", code, re.MULTILINE))


@pytest.mark.parametrize("arch", ALL)
def test_code_is_as_short_as_by_hand(arch: str, tmp_path: Path) -> None:
    chosen = [(text, by_hand) for text, by_hand, archs in PAIRS if arch in archs]
    source = "#include <cu2port/ptx.hpp>\n" + HAND
    for n, (text, by_hand) in enumerate(chosen):
        lines = " ".join(emit(parse_inline(text), PLACES).lines)
        source += kernel(f"ours{n}", lines) + kernel(f"hand{n}", by_hand)
    lengths = {name: length(code) for name, code in machine_code(source, tmp_path, arch).items()}
    assert all(lengths[f"hand{n}"] for n in range(len(chosen)))
    found = [(text, lengths[f"ours{n}"], lengths[f"hand{n}"]) for n, (text, _) in enumerate(chosen)]
    long = [f"{text} {ours} instructions for {hand}" for text, ours, hand in found if ours > 1.5 * hand]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("arch", ALL)
def test_flushing_is_short_where_the_program_flushes(arch: str, tmp_path: Path) -> None:
    """One instruction for each operand and one for the rest, where it takes 13 while the wavefront keeps denormals."""
    places = {f"%{name}": Place(name, TYPES["f32"]) for name in "dabc"}
    lines = " ".join(emit(parse_inline("fma.rn.ftz.f32 %d, %a, %b, %c;"), places).lines)
    head = 'extern "C" __global__ void k(const float* p, float* o) { float a = p[0], b = p[1], c = p[2], d; '
    source = f"#include <cu2port/ptx.hpp>\n{head}{lines} *o = d; }}"
    assert length(machine_code(source, tmp_path, arch, "-fgpu-flush-denormals-to-zero")["k"]) <= 4
