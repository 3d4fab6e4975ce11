"""asm statements replaced by C++: operands, copies, scopes, macros, conditionals, guards."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Set
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cu2port.core.model import Options, Outcome, Result, Trust
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService

ROOT = Path(__file__).resolve().parents[2]
OPEN = "__device__ void f(unsigned a, int b, unsigned long long q, const int* p, unsigned& ref, unsigned* out) {\n"
BEFORE = "  unsigned d, e; int s; unsigned long long w; struct { unsigned x, y; } v;\n"


@pytest.fixture(scope="module")
def clang() -> Iterator[ClangService]:
    with ClangService() as service:
        yield service


def convert(source: str, clang: ClangService | None = None, **options: Any) -> Result:
    return translate(source, Options(**options), path="a.cuh", clang=clang)


def body(statement: str, clang: ClangService, **options: str) -> str:
    """What becomes of one statement, white space taken together."""
    result = convert(f"{OPEN}{BEFORE}  {statement}\n}}\n", clang, **options)
    output = result.output.decode()
    assert all(j.outcome is Outcome.APPLIED for j in result.findings), output
    inner = output[output.index(BEFORE) + len(BEFORE) : output.rindex("}")]
    return " ".join(inner.split())


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        # one instruction is one assignment
        ('asm("add.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(e));', "d = a + e;"),
        ('asm("bfi.b32 %0,%1,%2,8,4;" : "=r"(d) : "r"(a), "r"(e));', "d = (e & 0xfffff0ffu) | ((a << 8) & 3840);"),
        ('asm volatile ("mov.u32 %0, %%tid.x;" : "=r"(d));', "d = threadIdx.x;"),
        # operands by name, brackets only where they are needed
        (
            'asm("add.u32 %[d], %[x], %[y];" : [d] "=r"(d) : [x] "r"(a * 2), [y] "r"(a | 1u));',
            "d = (a * 2) + (a | 1u);",
        ),
        # a literal folds
        ('asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(40));', "d = 0;"),
        ('asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(4));', "d = a << 4;"),
        # signed where PTX is unsigned: C++ must not divide, shift or compare by the sign
        ('asm("add.s32 %0, %1, %2;" : "=r"(s) : "r"(b), "r"(s));', "s = std::uint32_t(b) + s;"),
        # a value read twice is read once
        (
            'asm("{ .reg .u32 t; add.u32 t, %1, %2; add.u32 %0, t, %1; }" : "=r"(d) : "r"(a * 3), "r"(e));',
            "{ const std::uint32_t a_in = a * 3; std::uint32_t t = a_in + e; d = t + a_in; }",
        ),
        # predicates live in scopes
        (
            'asm("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, %1, %2, p; }" : "=r"(d) : "r"(a), "r"(e));',
            "{ bool p_2 = a < e; d = p_2 ? a : e; }",
        ),
    ],
)  # fmt: skip
def test_statement(statement: str, expected: str, clang: ClangService) -> None:
    assert body(statement, clang) == expected


def test_an_input_that_may_be_the_output_is_read_first(clang: ClangService) -> None:
    two = 'asm("add.u32 %0, %2, 1; add.u32 %1, %2, 2;" : "=r"({0}), "=r"({1}) : "r"({2}));'

    def run(*names: str) -> str:
        return body(two.replace("{0}", names[0]).replace("{1}", names[1]).replace("{2}", names[2]), clang)

    assert run("d", "e", "a") == "d = a + 1; e = a + 2;"  # different locals
    assert run("a", "e", "a") == "{ const std::uint32_t a_in = a; a = a_in + 1; e = a_in + 2; }"
    assert run("v.x", "e", "v.y") == "v.x = v.y + 1; e = v.y + 2;"
    assert run("ref", "e", "a") == "ref = a + 1; e = a + 2;"  # a reference of before the call is no parameter by value
    assert "_in" in run("ref", "e", "*out")  # but it may be anything else
    assert "_in" in run("out[0]", "e", "a") or "a + 1" in run("out[0]", "e", "a")
    assert "_in" in run("d", "e", "*out")


def test_an_output_that_is_written_twice_has_a_local(clang: ClangService) -> None:
    text = body('asm("add.u32 %0, %1, 1; add.u32 %0, %0, %1;" : "=r"(*(out + s)) : "r"(a));', clang)
    assert text.startswith("{ std::uint32_t ") and text.endswith("*(out + s) = s_out; }")


def test_memory_clobber_is_kept(clang: ClangService) -> None:
    text = body('asm volatile("ld.global.s32 %0, [%1];" : "=r"(s) : "l"(p) : "memory");', clang)
    fence = 'asm volatile("" ::: "memory");'
    assert text == f"{fence} s = cu2port::ptx::ld_relaxed_gpu_global<std::int32_t>(p); {fence}"
    text = body('asm volatile("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a) : "memory");', clang)
    assert text == f"d = a + 1; {fence}"
    for proxy in ("fence.proxy.alias", "fence.proxy.async.shared::cta", "membar.proxy.alias"):
        assert body(f'asm volatile("{proxy};" ::: "memory");', clang) == fence
    assert body('asm volatile("fence.acq_rel.gpu;" ::: "memory");', clang) == "cu2port::ptx::fence_acq_rel_gpu();"


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        ("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;", False),
        ("sub.cc.u32 %0, %2, %3; subc.u32 %1, 0, 0;", False),
        ("mad.lo.cc.u32 %0, %2, %3, %3; addc.u32 %1, 0, 0;", False),
        ("sub.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;", True),
        ("add.cc.u32 %0, %2, %3; subc.u32 %1, 0, 0;", True),
        ("sub.cc.u32 %0, %2, %3; madc.hi.u32 %1, %2, %3, 0;", True),
        ("sub.cc.u32 %0, %2, %3; add.cc.u32 %0, %2, 1; addc.u32 %1, 0, 0;", False),
        (".reg .pred p; setp.eq.u32 p, %2, 0; sub.cc.u32 %0, %2, 1; @p add.cc.u32 %0, %2, 1; addc.u32 %1, 0, 0;", True),
    ],
)  # fmt: skip
def test_mixed_carry_chains_are_for_review(text: str, mixed: bool) -> None:
    source = f'__device__ void f(unsigned a, unsigned b) {{ unsigned d, e; asm("{text}" : "=r"(d), "=r"(e)'
    result = convert(f'{source} : "r"(a), "r"(b)); }}')
    (found,) = (j for j in result.findings if j.finding.code == "CU401")
    assert found.outcome is Outcome.APPLIED
    assert (found.finding.trust is Trust.REVIEW) == mixed
    assert ("0 after a borrow" in found.finding.message) == mixed


@pytest.mark.parametrize(("beyond", "outcome"), [("trap", "review"), ("zero", "certain"), ("clamp", "left")])
def test_what_happens_beyond_a_surface_is_not_dropped(beyond: str, outcome: str) -> None:
    text = f"sust.b.2d.b32.{beyond} [%0, {{%1, %2}}], %3;"
    source = f'__device__ void f(long long s, int x) {{ asm volatile("{text}" :: "l"(s), "r"(x), "r"(x), "r"(x)); }}'
    (found,) = (j for j in convert(source).findings if j.finding.code == "CU401")
    assert (found.outcome is Outcome.MANUAL) == (outcome == "left")
    assert (found.finding.trust is Trust.REVIEW and "here such a load" in found.finding.message) == (
        outcome == "review"
    )


def test_pointers_and_integers_are_addresses(clang: ClangService) -> None:
    load = 'asm("ld.global.u32 %0, [%1];" : "=r"(d) : "l"({}));'
    assert body(load.format("p"), clang) == "d = cu2port::ptx::ld_global<std::uint32_t>(p);"
    assert body(load.format("q"), clang) == "d = cu2port::ptx::ld_global<std::uint32_t>(q);"
    assert body(load.format("p + 1"), clang) == "d = cu2port::ptx::ld_global<std::uint32_t>(p + 1);"


def test_the_only_statement_of_an_if_stays_one(clang: ClangService) -> None:
    twice = 'asm("add.u32 %0, %2, 1; add.u32 %1, %2, 2;" : "=r"(d), "=r"(e) : "r"(a))'
    assert body(f"if (a) {twice}; else d = 0;", clang) == "if (a) { d = a + 1; e = a + 2; } else d = 0;"
    assert body('if (a) asm("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a)); else d = 0;', clang) == (
        "if (a) d = a + 1; else d = 0;"
    )


def test_macros() -> None:
    source = (
        "#define BOTH(x, y) \\\n"
        '    asm("{ .reg .u32 t; add.u32 t, %1, %1; \\n\\t" \\\n'
        '        "add.u32 %0, t, 1; }" : "=r"(x) : "r"(y))\n'
    )
    assert convert(source).output.decode() == (
        '#include "cu2port/ptx.hpp"\n'
        "#define BOTH(x, y) \\\n"
        "    do { \\\n"
        "        const std::uint32_t ptx_y_in = y; \\\n"
        "        std::uint32_t ptx_t = ptx_y_in + ptx_y_in; \\\n"
        "        x = ptx_t + 1; \\\n"
        "    } while (0)\n"
    )


def test_a_text_made_of_parameters_has_a_case_for_each_call() -> None:
    source = """#define OP(op, d) do { asm(#op ".u32 %0, %0, 1;" : "+r"(d)); } while (0)
__device__ void f() { unsigned x = 0; OP(add, x); OP(sub, x); }
"""
    text = convert(source).output.decode()
    assert 'if (cu2port::ptx::same(#op, "add")) {' in text and "d = std::uint32_t(d) + 1;" in text
    assert 'else if (cu2port::ptx::same(#op, "sub")) {' in text and "d = std::uint32_t(d) - 1;" in text
    assert '#include "cu2port/untranslated.hpp"' in text and "OP(add, x); OP(sub, x);" in text
    assert convert(text).output.decode() == text
    refused = convert(source.replace("sub", "wrong"))
    assert any(j.outcome is Outcome.MANUAL and "wrong.u32" in j.finding.message for j in refused.findings)


def test_of_a_macro_with_two_definitions_the_first_is_taken_and_said() -> None:
    macros = '#if NEW\n#define HINT ".L2::128B"\n#else\n#define HINT ""\n#endif\n'
    load = '__device__ void f(int x, int* p) { asm("ld.global" HINT ".s32 %0, [%1];" : "=r"(x) : "l"(p)); }\n'
    assert "x = cu2port::ptx::ld_global<std::int32_t>(p);" in convert(macros + load).output.decode()
    other = convert((macros + load).replace(".L2::128B", ".cs"))
    assert "ld_global_cs<" in other.output.decode()
    assert any(j.finding.code == "CU401" and "one of its definitions" in j.finding.message for j in other.findings)


def test_two_definitions_that_do_other_things_are_not_taken_for_one() -> None:
    code = '__device__ void f(unsigned& r, unsigned a) { asm(OP " %0, %1, 1;" : "=r"(r) : "r"(a)); }\n'
    macros = '#if NEW\n#define OP "add.u32"\n#else\n#define OP "sub.u32"\n#endif\n'
    made = convert(macros + code)
    assert 'asm(OP " %0' in made.output.decode()
    assert any(j.finding.code == "CU401" and j.outcome is Outcome.MANUAL for j in made.findings)
    # HIP's compiler reads one of them only
    for condition, text in (("__CUDA_ARCH__ >= 800", "a - 1"), ("defined(__HIP__)", "a + 1"), ("0", "a - 1")):
        assert f"r = {text};" in convert((macros + code).replace("NEW", condition)).output.decode()


@pytest.mark.parametrize(
    ("head", "first", "second", "read", "copied"),
    [
        ("unsigned* r, unsigned* a", "r[0]", "r[1]", "a[0]", True),  # both may be one array
        ("unsigned r[2], unsigned a[2]", "r[0]", "r[1]", "a[1]", True),
        ("S& r, S& a", "r.x", "r.y", "a.x", True),
        ("unsigned* r, unsigned a", "r[0]", "r[1]", "a", False),
        ("unsigned* r, unsigned a", "r[0]", "r[1]", "r[2]", False),
        ("unsigned* r, int i, int j", "r[0]", "r[1]", "r[i]", True),
        ("S r, int i, int j", "r.v[i].x", "r.w", "r.v[j].y", True),  # i may be j, and members may be a union's
        ("uint4 r, uint4 a", "r.x", "r.y", "r.z", False),
        ("uint4 r, uint4 a", "r.x", "r.y", "a.x", False),
        ("unsigned a, unsigned b", "b", "(*c)", "a", False),
        ("unsigned a, unsigned b, unsigned* p = &a", "a", "b", "p[0]", True),
        ("unsigned a, unsigned b", "member", "b", "other", True),
        ("unsigned a, unsigned b) { unsigned& c = a; if (c", "c", "b", "a", True),
        ("unsigned (&a)[4]) { for (auto& c : a", "c", "d", "a[0]", True),
    ],
)
def test_objects_that_may_be_one(head: str, first: str, second: str, read: str, copied: bool) -> None:
    asm = f'asm("add.u32 %0, %2, 1; add.u32 %1, %2, 2;" : "=r"({first}), "=r"({second}) : "r"({read}));'
    made = convert(f"__device__ void f({head}) {{\n{asm}\n}}\n").output.decode()
    assert ("_in = " in made) == copied, made


def test_elements_of_two_arrays_are_two() -> None:
    asm = 'asm("add.u32 %0, %2, 1; add.u32 %1, %3, 2;" : "=r"(a[0]), "=r"(a[1]) : "r"(b[0]), "r"(b[1]));'
    local = "__device__ void f() {{ unsigned a[2], b[2]; {}{} }}"
    assert "_in = " not in convert(local.format(asm, "")).output.decode()
    member = f"struct S {{ unsigned a[2], b[2]; __device__ void f() {{ {asm} }} }};"
    assert "_in = " not in convert(member).output.decode()
    # unless one of the names is a pointer somewhere
    assert "_in = " in convert(member + "__device__ void g() { unsigned* a = 0; }").output.decode()


def test_a_macros_parameters_may_be_any_expression() -> None:
    """Each is read once, in brackets where an operator stands beside it."""
    scale = '#define SCALE(d, a, b) asm("mul.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b))\n'
    assert "SCALE(d, a, b) d = (a) * (b)\n" in convert(scale).output.decode()
    add = '#define ADD(d, b) asm("add.f32 %0, %0, %1;" : "+f"(d) : "f"(b))\n'
    assert "ADD(d, b) d = (d) + (b)\n" in convert(add).output.decode()


def test_operands_that_change_something(clang: ClangService) -> None:
    once = body('asm("add.u32 %0, %1, %2;" : "=r"(out[s++]) : "r"(p[s++]), "r"(d));', clang)
    assert once == "{ const std::uint32_t p_in = p[s++]; out[s++] = p_in + d; }"
    twice = convert(f'{OPEN}{BEFORE}  asm("add.u32 %0, %0, %1;" : "+r"(out[s++]) : "r"(d));\n}}\n', clang)
    assert any("would not be evaluated once" in j.finding.message for j in twice.findings)
    assert body('asm("add.u32 %0, %0, %1;" : "+r"(b ? d : e) : "r"(a));', clang) == "(b ? d : e) = (b ? d : e) + a;"


def test_a_parameter_where_a_number_stands_is_a_number() -> None:
    """Also when no call is seen, as in a header; where the number must be known there is a case for each call."""
    shift = '#define SHIFT(d, a, n) asm("shf.r.wrap.b32 %0, %1, %2, " #n ";" : "=r"(d) : "r"(a), "r"(d))\n'
    assert "shf_r_wrap_b32(std::uint32_t(a), std::uint32_t(d), std::int32_t(n))" in convert(shift).output.decode()
    named = convert(f"{shift}__device__ void f(unsigned d) {{ SHIFT(d, d, four); }}")
    assert '"four"' in named.output.decode() or any(j.outcome is Outcome.MANUAL for j in named.findings)
    width = '#define PART(d, a, n) asm("vadd.u32.u32.u32 %0, %1.b" #n ", %1.b0;" : "=r"(d) : "r"(a))\n'
    text = convert(f"{width}__device__ void f(unsigned d) {{ PART(d, d, 1); PART(d, d, 2); }}").output.decode()
    assert 'same(#n, "1")' in text and 'same(#n, "2")' in text


def test_hints_of_a_cache_may_be_any() -> None:
    """Of a macro that nothing calls here; what is no hint is a case of its own, and other texts trap."""
    load = '"ld.global" NC ".L1::" L1 ".L2::" L2 ".v2.u64 {%0, %1}, [%2];" : "=l"(d[0]), "=l"(d[1]) : "l"(p)'
    text = convert(f"#define LOAD(p, d, NC, L1, L2) {{ asm volatile({load}); }}\n").output.decode()
    assert 'same(NC, "")' in text and 'same(NC, ".nc")' in text and "untranslated_trap(" in text
    assert "ld_global<cu2port::ptx::u64x2>(p)" in text and "L1" not in text.partition("\n")[2].partition(") {")[2]
    store = convert('#define S(p, v, H) asm("st.global.L1::" H ".u32 [%0], %1;" :: "l"(p), "r"(v))\n')
    helper = "cu2port::ptx::st_relaxed_gpu_global<std::uint32_t>"
    assert f"#define S(p, v, H) {helper}(p, std::uint32_t(v))" in store.output.decode()
    other = convert('#define S(p, v, H) asm("st." H ".u32 [%0], %1;" :: "l"(p), "r"(v))\n')
    assert any("nothing calls here" in j.finding.message for j in other.findings)


def test_cases_are_told_by_what_the_preprocessor_spells() -> None:
    """As written except for white space, through other macros too."""
    source = """#define STORE(p, v, how) asm("st." #how ".u32 [%0], %1;" :: "l"(p), "r"(v))
#define BOTH(p, v, way) STORE(p, v, way); STORE(p, v, volatile.way)
__device__ void f(unsigned* p, unsigned v) { STORE(p, v, global.cs); BOTH(p, v,  global ); }
"""
    text = convert(source).output.decode()
    for spelled in ("global.cs", "global", "volatile.global"):
        assert f'same(#how, "{spelled}")' in text, text


def test_what_is_read_before_it_is_set_has_a_value() -> None:
    """The bytes beside are anybody's guess, but must not make the whole word so."""
    text = '"{ .reg .b8 a, b; cvt.u8.u32 a, %1; mov.b16 %0, {a, b}; }" : "=h"(d) : "r"(s)'
    made = convert(f"__device__ void f(unsigned short d, unsigned s) {{ asm({text}); }}").output.decode()
    assert "std::uint8_t b = {};" in made


def test_a_header_does_not_know_all_calls_of_its_macros() -> None:
    """One case is not every case, unless the file takes the macro away."""
    source = (
        '#define DO(d, op) asm(#op ".b32 %0, %0;" : "+r"(d))\n__device__ inline void f(unsigned d) { DO(d, brev); }\n'
    )
    assert 'same(#op, "brev")' in convert(source).output.decode()
    assert "same(" not in convert(source + "#undef DO\n").output.decode()
    assert "same(" not in translate(source, path="a.cu").output.decode()


def test_whose_assembly_it_is() -> None:
    """Functions that a macro makes a device's show PTX by its opcodes; other assemblers' directives are theirs."""
    assert (
        "max_f16x2("
        in convert('WHERE unsigned f(unsigned a) { asm("max.f16x2 %0, %0, %0;" : "+r"(a)); }').output.decode()
    )
    for text in ('".inst 0xde01"', '"vmla.f32 q0, q1, q2"', '"maddv.w %w[v], %w[a], %w[b]" : [v] "+f"(v)', '"pause"'):
        assert not convert(f"void f() {{ asm({text}); }}").findings


@pytest.mark.parametrize(
    ("condition", "written"), [("NEW", "NEW"), ("__CUDA_ARCH__ >= 700", "defined(__HIP_DEVICE_COMPILE__)")]
)
def test_conditionals_inside_stay_and_are_rewritten(condition: str, written: str, clang: ClangService) -> None:
    source = f"""{OPEN}{BEFORE}  asm(
#if {condition}
      "add.u32 %0, %1, 1;"
#else
      "add.u32 %0, %1, 2;"
#endif
      : "=r"(d) : "r"(a));
}}
"""
    text = convert(source, clang).output.decode()
    assert f"#if {written}\n  d = a + 1;\n#else\n  d = a + 2;\n#endif\n" in text
    same = convert(source.replace("%1, 2", "%1, 1"), clang).output.decode()
    assert "  d = a + 1;\n}" in same and "#if" not in same


def lines_under(text: str, defined: Set[str]) -> list[str]:
    """The lines that `#ifdef`, `#else` and `#endif` leave; directives must be whole."""
    on, out = [True], []
    for line in text.splitlines():
        word, _, name = line.strip().partition(" ")
        if word == "#ifdef":
            on.append(name in defined)
        elif word == "#else":
            on[-1] = not on[-1]
        elif word == "#endif":
            on.pop()
        elif all(on):
            out.append(line)
    assert on == [True]
    return out


def pieces(r: random.Random, depth: int, numbers: Iterator[int]) -> Iterator[str]:
    """Lines of a text of PTX with conditionals in each other and behind each other."""
    for _ in range(r.randrange(1, 3)):
        yield f'      "add.u32 %0, %0, {next(numbers)};\\n"'
        if depth and r.random() < 0.8:
            yield f"#ifdef {r.choice('ABC')}"
            yield from pieces(r, depth - 1, numbers)
            if r.random() < 0.5:
                yield "#else"
                yield from pieces(r, depth - 1, numbers)
            yield "#endif"


@pytest.mark.parametrize("seed", range(12))
def test_conditionals_inside_and_behind_each_other(seed: int, clang: ClangService) -> None:
    """Each way through the conditionals adds the same numbers before and afterwards, or the statement stays whole."""
    asm = "\n".join(pieces(random.Random(seed), 2, count(10)))
    text = convert(f'{OPEN}{BEFORE}  asm(\n{asm}\n      : "+r"(d));\n}}\n', clang).output.decode()
    if "untranslated" in text:
        assert "too many ways" in text
        return
    for defined in map(set, ("", "A", "B", "C", "AB", "AC", "BC", "ABC")):
        before, after = ("\n".join(lines_under(t, defined)) for t in (asm, text))
        assert re.findall(r"\b\d\d\b", before) == re.findall(r"\b\d\d\b", after)


def test_branches_that_hip_leaves_out_are_not_touched(clang: ClangService) -> None:
    for opening, closing in (
        ("#ifdef USE_ROCM\n#else\n", "#endif\n"),
        ("#if !defined(__HIP_PLATFORM_AMD__) && X\n", "#endif\n"),
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n", "#endif\n"),
        ("#if 0\n", "#endif\n"),
        ("#if __CUDA_ARCH_SPECIFIC__ == 1200\n", "#endif\n"),
        ("#if __CUDA_ARCH_HAS_FEATURE__(SM120_ALL)\n", "#endif\n"),
        ("#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n", "#endif\n"),
        ("#if __CUDA_ARCH_FAMILY_SPECIFIC__ < 1000\n#else\n", "#endif\n"),
        ("#if __CUDA_ARCH__ < 900\n#else\n", "#endif\n"),
    ):
        source = f'{opening}__device__ void f() {{ asm("wgmma.fence.sync.aligned;"); asm("membar.gl;"); }}\n{closing}'
        result = convert(source, clang)
        assert 'asm("wgmma.fence.sync.aligned;"); asm("membar.gl;");' in result.output.decode()
        assert not [j for j in result.findings if j.finding.code.startswith("CU4")]
    taken = '#if __CUDA_ARCH__ >= 700\n__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n#endif\n'
    assert "untranslated" in convert(taken, clang).output.decode()


def test_what_has_no_meaning_is_guarded_and_named(clang: ClangService) -> None:
    statement = 'asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {};\\n" ::: "memory");'
    source = f"{OPEN}{BEFORE}  {statement}\n}}\n"
    result = convert(source, clang)
    text = result.output.decode()
    (manual,) = [j.finding for j in result.findings if j.outcome is Outcome.MANUAL]
    assert manual.code == "CU401" and "rocWMMA" in manual.message and "`wgmma.mma" in manual.message
    assert "\n  cu2port::ptx::untranslated(" in text and f"\n#if 0\n  {statement}\n#endif\n" in text
    again = convert(text, clang)
    assert again.output.decode() == text
    assert [j.finding.code for j in again.findings if j.outcome is Outcome.MANUAL] == ["CU401"]


@pytest.mark.parametrize(
    ("text", "why", "instead"),
    [
        ("fma.rn.e4m3x4 %0, %1, %1, %1;", "four small floats", "f16x2"),
        ("applypriority.async.bulk.global.L2::evict_normal [%1], %0;", "tensor memory accelerator", "leave it out"),
        ("{ .reg .pred p; isspacep.const p, %1; }", "global memory", "caller"),
        ("{ .reg .pred p; isspacep.param p, %1; }", "global memory", "caller"),
        ("mov.u32 %0, %nsmid;", "compute units", "multiProcessorCount"),
        (".reg .u32 t;", "for other asm statements", "as one"),
    ],
)
def test_what_stays_says_why(text: str, why: str, instead: str) -> None:
    made = convert(f'__device__ void f(unsigned a, unsigned b) {{ asm("{text}" : "=r"(a) : "r"(b)); }}')
    (left,) = [j.finding for j in made.findings if j.finding.code == "CU401"]
    assert why in left.message and instead in left.message, left.message
    assert text in made.output.decode()


def test_trap(clang: ClangService) -> None:
    result = convert(f'{OPEN}  asm volatile("wgmma.fence.sync.aligned;");\n}}\n', clang, ptx="trap")
    text = result.output.decode()
    assert '  cu2port::ptx::untranslated_trap("wgmma.fence.sync.aligned: ' in text and "asm" not in text


def test_a_number_of_registers_may_be_a_constant_of_a_template(clang: ClangService) -> None:
    source = """template <int N> __device__ void more() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> __device__ void less() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
"""
    made = convert(source, clang)
    assert [j.outcome for j in made.findings if j.finding.code == "CU401"] == [Outcome.APPLIED] * 2
    assert "setmaxnreg" not in made.output.decode()


def test_a_carry_does_not_cross_functions(clang: ClangService) -> None:
    source = f"""{OPEN}{BEFORE}  asm("add.cc.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(e)); }}
__device__ void g(unsigned d, unsigned e) {{ asm("addc.u32 %0, %1, %2;" : "=r"(e) : "r"(d), "r"(e));
}}
"""
    result = convert(source, clang)
    messages = [j.finding.message for j in result.findings if j.outcome is Outcome.MANUAL]
    assert len(messages) == 2
    assert "carry goes to another asm statement" in messages[0] and "carry comes from another" in messages[1]


def test_a_carry_inside_one_statement(clang: ClangService) -> None:
    text = body(
        'asm("add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;" : "=r"(d), "=r"(e) : "r"(a), "r"(v.x), "r"(v.y), "r"(a));',
        clang,
    )
    assert "carry" in text and "CC" not in text


def test_labels_are_local_to_the_block(clang: ClangService) -> None:
    text = body(
        'asm("{ .reg .pred p; L%=: add.u32 %0, %0, 1; setp.lt.u32 p, %0, %1; @p bra L%=; }" : "+r"(d) : "r"(a));', clang
    )
    assert text.startswith("{ __label__ ") and "goto " in text


def test_texts_that_cannot_be_read(clang: ClangService) -> None:
    result = convert(f'{OPEN}{BEFORE}  asm("add.u32 %0, %1" " oops; ;" : "=r"(d) : "r"(a));\n}}\n', clang)
    (manual,) = [j.finding for j in result.findings if j.outcome is Outcome.MANUAL]
    assert "line 1, column" in manual.message
    result = convert(f'{OPEN}{BEFORE}  asm("{{ .reg .u32 t; add.u32 t, %0, 1;" :: "r"(a));\n}}\n', clang)
    assert any(j.outcome is Outcome.MANUAL for j in result.findings)


def test_files_without_asm_do_not_load_the_translator() -> None:
    code = (
        "import sys; from cu2port.engine.translate import translate; translate('__global__ void k() {}', path='a.cu');"
        "assert 'lark' not in sys.modules and 'cu2port.ptx.lift' not in sys.modules"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)


def test_an_operand_of_unknown_type_that_is_read_twice_keeps_its_brackets() -> None:
    asm = 'asm("prmt.b32 %0, %1, %1, 3;" : "=r"(d[n]) : "r"(a[n - 1]));'
    text = f"template <class T> __device__ void f(T* d, T* a, int n) {{ {asm} }}"
    made = translate(text, path="a.cuh").output.decode()
    assert "const std::uint32_t a_in = a[n - 1];" in made
    assert "prmt(a_in, a_in, 0x3)" in made or "prmt(a_in, a_in, 3)" in made


def test_an_unknown_constraint_is_named() -> None:
    load = 'asm("ld.global.u32 %0, [%1];" : "="#reg(d) : "l"(p));'
    macro = f"#define LOAD(name, reg) __device__ void name(unsigned& d, unsigned* p) {{ {load} }}\n"
    result = convert(f"{macro}LOAD(first, KIND)\nLOAD(second, r)\n")
    (judged,) = (j for j in result.findings if j.finding.code == "CU401")
    assert "the constraint of an operand is not known (`KIND`)" in judged.finding.message


def test_each_product_of_a_statement_is_told(clang: ClangService) -> None:
    """Also behind another one, and a sparse one."""
    dense = "mma.sync.aligned.m8n8k16.row.col.s32.{}.s8.s32 {{%0,%1}}, {{%2}}, {{%2}}, {{%0,%1}};"
    text = dense.format("s8") + dense.format("u8") + dense.format("u8")
    source = f'__device__ void g(int* d, int a) {{ asm("{text}" : "+r"(d[0]), "+r"(d[1]) : "r"(a)); }}\n'
    message = next(j.finding.message for j in convert(source, clang).findings if j.finding.code == "CU401")
    assert "s32.s8.s8.s32` by MFMA on" in message and message.count("by vector instructions: MFMA has") == 1
    sparse = (
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4,%4,%4}, {%0,%1,%2,%3}, %4, 0x0;"
    )
    outputs = ", ".join(f'"+f"(d[{n}])' for n in range(4))
    source = f'__device__ void g(float* d, unsigned a) {{ asm("{sparse}" : {outputs} : "r"(a)); }}\n'
    message = next(j.finding.message for j in convert(source, clang).findings if j.finding.code == "CU401")
    assert "by vector instructions: each word of A picks" in message and "CUTLASS" in message


def test_the_selector_of_a_sparse_product_may_be_a_constant_of_a_template(clang: ClangService) -> None:
    registers = "{%0,%1,%2,%3}, {%4,%4}, {%4,%4}, {%0,%1,%2,%3}, %4, %5"
    text = f"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {registers};"
    outputs = ", ".join(f'"+f"(d[{n}])' for n in range(4))
    asm = f'asm("{text}" : {outputs} : "r"(a), "n"(int(S)));'
    out = convert(f"template <int S> __device__ void g(float* d, unsigned a) {{ {asm} }}\n", clang).output.decode()
    assert "sp_m16n8k16_f32_f16_f16_f32({a, a}, {a, a}, {d[0], d[1], d[2], d[3]}, a, std::uint32_t(int(S)))" in out


def test_a_selector_that_no_lanes_have_is_refused() -> None:
    sparse = "mma.sp.sync.aligned.{}.row.col.f32.f16.f16.f32 {{%0,%1,%2,%3}}, {{{}}}, {{{}}}, {{%0,%1,%2,%3}}, %4, {};"
    outputs = ", ".join(f'"+f"(d[{n}])' for n in range(4))
    for shape, registers, last in (("m16n8k16", "%4,%4", 3), ("m16n8k32", "%4,%4,%4,%4", 1)):
        for selector in (last, last + 1):
            text = sparse.format(shape, registers, registers, selector)
            result = convert(f'__device__ void g(float* d, unsigned a) {{ asm("{text}" : {outputs} : "r"(a)); }}\n')
            (judged,) = (j for j in result.findings if j.finding.code == "CU401")
            assert judged.outcome is (Outcome.MANUAL if selector > last else Outcome.APPLIED)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%0,%0,%0}, %0, %0, 1, 1, 1, 0, 0;", "hipBLASLt"),
        ("tcgen05.wait::ld.sync.aligned;", "AITER for attention"),
        ("multimem.ld_reduce.global.add.f32 %0, [%0];", "RCCL"),
        ("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%0, {%0}], [%0];", "load"),
        ("cp.async.bulk.commit_group;", "load"),
        ("mbarrier.inval.b64 [%0];", "__syncthreads()"),
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0;",
            "hipBLASLt",
        ),
    ],
)
def test_what_later_gpus_have_is_named_with_what_replaces_it(text: str, instead: str, clang: ClangService) -> None:
    result = convert(f'{OPEN}  asm volatile("{text}" :: "r"(a));\n}}\n', clang)
    message = next(j.finding.message for j in result.findings if j.finding.code == "CU401")
    assert text.partition(" ")[0].rstrip(";") in message and instead in message.partition("instead: ")[2]
    assert "cu2port::ptx::untranslated(" in result.output.decode()
