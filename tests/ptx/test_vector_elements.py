"""Elements of vectors whose bits become another type: clang 22 has `__builtin_bit_cast` of such a place take the first
element, whichever is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from amd_code import machine_code
from mma_programs import HEAD, converted

LOADED = """__global__ void k(unsigned* out, const float* from) {
    unsigned x, y, z, w;
    asm("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(from));
    out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}
"""
BACK = LOADED.replace("v4.f32", "v4.u32").replace("=r", "=f").replace("unsigned", "float")


@pytest.mark.parametrize(("text", "value"), [(LOADED, "float(t[2])"), (BACK, "std::uint32_t(t[2])")])
def test_the_element_is_read_first(text: str, value: str) -> None:
    assert f", {value});" in converted(text)


def test_sums_in_words() -> None:
    asm = (
        'asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"'
        ' : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a));'
    )
    out = converted(f"__device__ void f(unsigned* c, unsigned a) {{ {asm} }}")
    assert "c[3] = __builtin_bit_cast(std::uint32_t, float(d[3]));" in out


@pytest.mark.parametrize("text", [LOADED, BACK])
def test_all_are_stored(text: str, tmp_path: Path) -> None:
    code = machine_code(HEAD + converted(text), tmp_path, "gfx942", "-O2")
    (body,) = (x for name, x in code.items() if "1k" in name)
    _, at = map(int, re.findall(r"s_load_dwordx4 s\[(\d+):", body))  # of the arguments, and of the vector
    assert f"s[{at + 2}:{at + 3}]" in body
