"""Asm texts that a macro makes by calls of another macro."""

from __future__ import annotations

import pytest
from mma_programs import converted

TEXT = """#define STR(x) #x
#define OP(shape, t) "mma.sync.aligned." STR(shape) ".row.col.f32." STR(t) "." STR(t) ".f32 "
#define MMA(shape, t, c, a, b) \\
    asm volatile(OP(shape, t) "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \\
        : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \\
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
"""
USE = "__device__ void f(float* c, const unsigned* a, const unsigned* b) { MMA(m16n8k16, %s, c, a, b); }\n"


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_parameter_that_goes_to_another_macro_is_part_of_the_text(kind: str) -> None:
    out = converted(TEXT + USE % kind)
    assert f"cu2port::mma::m16n8k16_f32_{kind}_{kind}_f32(" in out
    assert "asm" not in out


def test_what_stays_of_such_a_macro_is_named() -> None:
    text = TEXT.replace(': "+f"((c)[0]), "+f"((c)[1])', ": TWO(c)")
    out = converted('#define TWO(c) "+f"((c)[0]), "+f"((c)[1])\n' + text + USE % "f16")
    assert "cu2port::ptx::untranslated" in out


CASES = """#if defined(ROWS)
#define OPCODE "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};"
#define MULTIPLY(d, e, a, b, c) asm volatile(OPCODE : "=r"(d), "=r"(e) : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e));
#else
#define OPCODE "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
#define MULTIPLY(d, e, a, b, c, f, g, h) \\
    asm volatile(OPCODE : "=r"(d), "=r"(e) \\
        : "r"(a), "r"(b), "r"(c), "r"(f), "r"(g), "r"(h), "r"(d), "r"(e));
#endif
"""


def test_a_text_has_the_definition_of_its_own_branch() -> None:
    out = converted(CASES)
    assert "cu2port::mma::m16n8k8_f16_f16_f16_f16(" in out
    assert "cu2port::mma::m16n8k16_f16_f16_f16_f16(" in out
    assert "untranslated" not in out


def test_a_definition_outside_of_the_branches_holds_too() -> None:
    """Behind the `#endif` another text may take the place of the one in the branch, before the macro is used."""
    out = converted(CASES + '#ifdef LATER\n#undef OPCODE\n#define OPCODE "mov.u32 %0, 0;"\n#endif\n')
    assert "m16n8k8_f16_f16_f16_f16(" not in out


def test_a_definition_in_a_branch_beside_is_taken_where_there_is_no_other() -> None:
    """A file that is included twice may come by the other branch first."""
    head = '#ifdef FIRST\n#define OPCODE "mov.u32 %0, %1;"\n#else\n'
    out = converted(head + '#define MOVE(d, a) asm volatile(OPCODE : "=r"(d) : "r"(a));\n#endif\n')
    assert "OPCODE :" not in out
