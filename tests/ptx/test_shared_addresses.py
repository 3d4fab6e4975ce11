"""`__cvta_generic_to_shared` and its kin: what they give is what lifted PTX takes, on AMD GPUs an offset in LDS."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from amd_code import machine_code

from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService

SOURCE = r"""
extern "C" __global__ void k(unsigned* out) {
    __shared__ unsigned s[64];
    unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(s)), v;
    asm("st.shared.u32 [%0+4], %1;" :: "r"(a), "r"(out[0]) : "memory");
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
    out[1] = v + *static_cast<unsigned*>(__cvta_shared_to_generic(a + 4));
    out[2] = *reinterpret_cast<unsigned*>(__cvta_generic_to_global(out));
}
"""


def converted() -> str:
    with ClangService() as clang:
        return translate(SOURCE, path="k.cu", clang=clang).output.decode()


@pytest.mark.parametrize("arch", ("gfx942", "gfx1100"))
def test_offsets_reach_shared_memory(arch: str, tmp_path: Path) -> None:
    text = converted()
    assert "__cvta" not in text and "asm" not in re.sub(r'asm volatile\("" ::: "memory"\)', "", text)
    text = "#include <stddef.h>\n" + text.replace("__shared__", "__attribute__((shared))")
    code = machine_code(text, tmp_path, arch)["k"]
    assert re.search(r"ds_(read|load)_b32", code) and re.search(r"ds_(write|store)_b32", code)
