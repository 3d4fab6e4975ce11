"""Whole modules: what is written for each part of one, and that it runs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.ptx.module import Converted, convert, entries
from cu2port.ptx.parse import PtxSyntaxError, parse_module

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def made(body: str) -> Converted:
    return convert(HEAD + body)


def test_an_entry_is_a_kernel_of_its_name() -> None:
    done = made(
        ".visible .entry add_one(.param .u64 .ptr .global .align 4 p, .param .u32 n, .param .f32 x)\n"
        ".maxntid 128, 2, 1\n{ .reg .b32 %r<3>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
        "add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2; ret; }\n"
    )
    assert done.kernels == ("add_one",) and not done.left
    assert (
        'extern "C" __global__ __launch_bounds__(256) void add_one(std::uint64_t p, std::uint32_t n, float x) {\n'
        "    std::uint64_t rd1 = p;\n"
        "    std::uint32_t r1 = n;\n"
        "    std::uint32_t r2 = r1 + 1;\n"
        "    cu2port::ptx::st_global<std::uint32_t>(rd1, r2);\n"
        "    return;\n}\n"
    ) in done.text
    assert done.text.startswith("// Made from PTX 8.0 for sm_80.\n#include <hip/hip_runtime.h>\n")


def test_parameters_that_are_bytes() -> None:
    text = made(
        ".entry k(.param .align 8 .b8 s[24], .param .b8 c) { .reg .b64 %a; .reg .b32 %x, %y;\n"
        "ld.param.b64 %a, [s+8]; ld.param.v2.b32 {%x, %y}, [s+16]; st.global.b32 [%a], %y; ret; }"
    ).text
    assert "struct alignas(8) bytes24_8 {\n    std::uint8_t bytes[24];\n};" in text
    assert "void k(bytes24_8 s, std::uint8_t c)" in text
    assert "a = cu2port::ptx::ld<std::uint64_t>(cu2port::ptx::at(&s, 8));" in text
    assert "cu2port::ptx::at(&s, 20)" in text


def test_parameters_that_are_vectors() -> None:
    """They are bytes of their size and alignment, read whole, and by elements."""
    done = made(
        ".func f(.param .v2 .f32 q) { .reg .f32 a, b; ld.param.v2.f32 {a, b}, [q]; ret; }\n"
        ".visible .entry k(.param .v4 .u32 p, .param .u64 o, .param .v2 .f32 z) { .reg .b32 a, b, c, d; .reg .f32 x;\n"
        "ld.param.v4.u32 {a, b, c, d}, [p]; ld.param.u32 a, [p+12]; ld.param.f32 x, [z+4]; ret; }"
    )
    assert not done.left
    assert "struct alignas(16) bytes16_16 {" in done.text and "static __device__ void f(bytes8_8 q);" in done.text
    assert "void k(bytes16_16 p, std::uint64_t o, bytes8_8 z)" in done.text
    assert "d = cu2port::ptx::ld<std::uint32_t>(cu2port::ptx::at(&p, 12));" in done.text
    assert "a = cu2port::ptx::ld<std::uint32_t>(cu2port::ptx::at(&p, 12));" in done.text
    assert "x = cu2port::ptx::ld<float>(cu2port::ptx::at(&z, 4));" in done.text


def test_a_weak_function_may_be_in_several_modules() -> None:
    """As the functions of headers are, which compilers write into each module that uses them."""
    text = made(".weak .func f() { ret; }\n.visible .func g() { ret; }\n.weak .entry k() { call f, (); ret; }").text
    assert text.count('extern "C" __attribute__((weak)) __device__ void f()') == 2
    assert 'extern "C" __device__ void g();' in text and 'extern "C" __global__ void k()' in text


def test_operators_that_allocate() -> None:
    done = made(
        ".extern .func (.param .b64 r) _Znwm(.param .b64 n);\n.extern .func _ZdlPvm(.param .b64 p, .param .b64 n);\n"
        ".entry k() { .reg .b64 a; { .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call (r), _Znwm, (n);\n"
        "ld.param.b64 a, [r]; } { .param .b64 p; .param .b64 n; st.param.b64 [p], a; st.param.b64 [n], 16;\n"
        "call _ZdlPvm, (p, n); } ret; }"
    )
    assert not done.left and "reinterpret_cast<std::uint64_t>(malloc(n))" in done.text
    assert "free(reinterpret_cast<void*>(p));" in done.text and "_Znwm" not in done.text


def test_a_function_with_any_number_of_arguments_is_refused() -> None:
    done = made(
        ".func f(.param .b32 n, .param .align 8 .b8 rest[]) { ret; }\n.entry k() { .param .b32 n;\n"
        ".param .align 8 .b8 some[16]; st.param.b32 [n], 4; st.param.b32 [some+4], 5; call f, (n, some); ret; }"
    )
    (left,) = done.left
    assert "any number of bytes" in left.why and "bit_cast" not in done.text


def test_variables() -> None:
    text = made(
        ".visible .const .align 4 .b8 t[4] = {1, 2, 0xff};\n.global .u32 counter = 7;\n.visible .global .f32 f;\n"
        ".global .s16 signed[2] = {-1, 2};\n.visible .global .u64 where[2] = {generic(t)+1, counter};\n"
        ".global .f32 g[2] = {0f3f800000, 2.5};\n.shared .align 16 .b8 s[64];\n.extern .shared .align 8 .b8 dyn[];\n"
        ".entry k() { .reg .b32 %r<3>; .reg .b64 %rd<2>; .shared .b32 own; mov.u32 %r1, s; ld.shared.u32 %r2, [s+4];\n"
        "st.shared.u32 [own], %r2; mov.u64 %rd1, counter; st.global.u32 [%rd1+4], %r1; ret; }"
    ).text
    for line in (
        'extern "C" alignas(4) __constant__ std::uint8_t t[4] = {1, 2, 255};',
        'extern "C" __device__ std::uint32_t counter = 7;',
        'extern "C" { __device__ float f; }',
        'extern "C" __device__ std::int16_t signed_[2] CU2PORT_SYMBOL("signed") = {-1, 2};',
        "alignas(16) __shared__ std::uint8_t s[64];",
        "alignas(8) extern __shared__ std::uint8_t dyn[];",
        "__shared__ std::uint32_t own;",
    ):
        assert line in text, text
    assert "reinterpret_cast<const char*>(&t) + 1)" in text
    assert "cu2port::ptx::cvta_to_shared(s)" in text


def test_device_functions_and_calls() -> None:
    text = made(
        ".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { .reg .b32 %x; ld.param.b32 %x, [a];\n"
        "st.param.b32 [r], %x; ret; }\n"
        ".func g() { ret; }\n"
        ".entry k(.param .u32 n) { .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 0;\n"
        "{ .param .b32 p0; .param .b64 p1; .param .b32 back; st.param.b32 [p0], %r1; st.param.b64 [p1], 5;\n"
        "call.uni (back), f, (p0, p1); ld.param.b32 %r2, [back]; }\n@%p call g, (); ret; }"
    ).text
    assert "static __device__ std::uint32_t f(std::uint32_t a, std::uint64_t b);" in text
    assert "    return r;\n" in text
    assert "    back = f(p0, p1);\n" in text
    assert "    if (p) g();\n" in text


def test_control_flow_is_labels() -> None:
    text = made(
        ".entry k(.param .u32 n) { .reg .b32 %r<3>; .reg .pred %p; mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
        "setp.lt.u32 %p, %r1, 9; @%p bra L; @!%p ret; bra.uni L; }"
    ).text
    assert "__label__" not in text
    assert "\nL:;\n" in text and "    if (p) goto L;\n" in text and "    if (!p) return;\n" in text


def test_what_has_no_meaning_stands_at_its_place_and_is_named() -> None:
    done = made(".entry k() {\n  wgmma.fence.sync.aligned;\n  ret;\n}")
    assert [(x.function, x.opcode, x.line) for x in done.left] == [("k", "wgmma.fence.sync.aligned", 5)]
    assert '    cu2port::ptx::untranslated("wgmma.fence.sync.aligned: ' in done.text
    assert '#include "cu2port/untranslated.hpp"' in done.text
    trapped = convert(HEAD + ".entry k() { wgmma.fence.sync.aligned; }", trap=True)
    assert "untranslated_trap(" in trapped.text


NARROW = """.version 3.0
.target sm_20
.address_size 32
.shared .align 4 .b8 s[128];
.global .align 4 .b8 g[16];
.entry k(.param .u32 n, .param .u32 out) {
  .reg .u32 a, q, x;
  ld.param.u32 a, [n];
  mov.u32 x, s;
  shl.b32 a, a, 2;
  add.u32 x, x, a;
  st.shared.u32 [x+4], a;
  ld.global.u32 a, [g+8];
  ld.param.u32 q, [out];
  mov.u32 x, g;
  cvta.to.global.u32 q, q;
  ld.local.u32 a, [x];
  st.global.u32 [q], a;
  ret;
}
"""


def test_addresses_of_32_bits_are_lifted_where_amd_has_them() -> None:
    """Offsets in shared memory, and variables by name; what a pointer of 32 bits points to is refused, line by line."""
    done = convert(NARROW)
    assert "cu2port::ptx::st_shared<std::uint32_t>(" in done.text
    assert "cu2port::ptx::ld_global<std::uint32_t>(" in done.text
    assert [x.opcode for x in done.left] == ["mov.u32", "cvta.to.global.u32", "ld.local.u32", "st.global.u32"]
    assert all("64" in x.why and "nvcc -m64" in x.instead for x in done.left)


def test_debug_information_is_skipped() -> None:
    done = made(
        '.file 1 "a.cu"\n.entry k() {\n.loc 1 2 3\nret;\n}\n.section .debug_info\n{\n.b8 1, 2\n.b32 .debug_abbrev\n}\n'
    )
    assert done.kernels == ("k",) and not done.left


@pytest.mark.parametrize("text", [".entry", ".entry k( { }", ".entry k() { add.u32 %r1 %r2; }", "\0\1\2", "}" * 10])
def test_unreadable_modules_tell_where(text: str) -> None:
    with pytest.raises(PtxSyntaxError, match=r"^\d+:\d+: "):
        parse_module(HEAD + text)


def test_entries_are_found_without_parsing() -> None:
    assert entries('"\\n.visible .entry first(\\n" ".entry second ()') == ("first", "second")


@pytest.mark.parametrize(
    ("made_by", "host"),
    [
        ("nvcc", "check"),
        pytest.param("clang", "check", marks=pytest.mark.slow),
        pytest.param("textures", "textures", marks=pytest.mark.slow),
    ],
)
def test_modules_of_compilers_run(made_by: str, host: str, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    command = [sys.executable, "-c", "from cu2port.cli import main; main()"]
    source = HERE / "modules" / f"{made_by}.ptx"
    subprocess.run([*command, "ptx", source, "-o", tmp_path / "kernels.hip"], check=True, env=env, capture_output=True)
    shutil.copy(HERE / "modules" / f"{host}.hip", tmp_path)
    done = subprocess.run(
        [*command, "simulate", str(tmp_path / f"{host}.hip")], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout == "PASS\n", done.stdout + done.stderr


def test_signs_are_the_instructions_not_the_registers() -> None:
    text = made(
        ".entry k() { .reg .b32 a, b, d; .reg .b64 x, y; mov.b32 a, %tid.x; mov.b32 b, %tid.y; div.s32 d, a, 16;\n"
        "rem.s32 d, a, 16; rem.s32 d, 255, b; cvt.s64.s32 x, a; div.s64 y, x, 9223372036854775808; shr.s32 d, a, b; }"
    ).text
    assert "d = std::int32_t(a) / 16;" in text
    assert "d = std::int32_t(a) % 16;" in text
    assert "y = std::int64_t(x) / (-0x7fffffffffffffff - 1);" in text
    assert "shr(std::int32_t(a), b)" in text


def test_a_range_of_too_many_registers_is_refused() -> None:
    with pytest.raises(PtxSyntaxError, match=r"^4:\d+: a range of more than 99,999 registers"):
        made(".entry k() { .reg .b32 %r<100000000000>; ret; }")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutilated_modules_convert_or_tell_where(data: st.DataObject) -> None:
    text = MIXED
    pieces = re.findall(r"\s+|\.?[%$\w:.]+|.", text, re.DOTALL)
    for _ in range(data.draw(st.integers(1, 4))):
        at, other = (data.draw(st.integers(0, len(pieces) - 1)) for _ in range(2))
        pieces[at] = data.draw(
            st.sampled_from(["", pieces[other], "5", "{a, _}", "[a]", "-", "0xff(a)", ".v4", ".pred"])
        )
    with contextlib.suppress(PtxSyntaxError):
        made("".join(pieces))


MIXED = """.global .u64 t[2] = {generic(c), c+4}; .const .f32 c[2] = {1.0, 0f40000000};
.func (.param .b32 r, .reg .u32 s) f(.param .align 8 .b8 a[16], .reg .pred p) { .reg .b64 x; @p exit;
ld.param.v2.u64 {x, _}, [a]; st.param.b32 [r], 5; mov.u32 s, 1; ret; }
.visible .entry k(.param .u64 o, .param .u32 n) .maxntid 32 { .reg .b64 a, g<3>; .reg .v4 .f32 v; .reg .pred p;
.shared .b8 m[16]; .local .u32 l; .param .align 8 .b8 b[16]; .param .b32 r; .reg .u32 u, w;
ld.param.u64 a, [o]; ld.param.u32 u, [n]; setp.lt.u32 p, u, 4; st.param.v2.b64 [b], {a, 7}; @p bra L;
call (r, w), f, (b, p); ld.param.b32 u, [r]; mov.u64 g0, f; mov.u32 w, m; ld.shared.v4.f32 v, [w];
mov.v2.u32 {u, w}, {w, u};
T: .branchtargets L, E; brx.idx u, T;
L: { .reg .b32 z; mov.b32 z, v.x; add.cc.u32 z, z, 1; addc.u32 u, u, 0; atom.global.add.u32 _, [a+4], z; }
P: .callprototype (.param .b32 _) _ (.param .b64 _); call (r), g0, (b), P;
E: st.global.v2.u32 [a], {u, w}; ret; }
"""


def test_mixed_carry_chains_are_told() -> None:
    body = ".entry k() {{ .reg .u32 a<3>; sub.cc.u32 a0, a1, a2; {} a0, a1, a2; ret; }}"
    text = f".version 8.0\n.target sm_80\n.address_size 64\n{body}"
    assert convert(text.format("addc.u32")).mixing_carry == ("k",)
    assert convert(text.format("subc.u32")).mixing_carry == ()


def test_what_compilers_named_belongs_to_its_module() -> None:
    """Clang's strings are called `_$_str` in every module: programs of two modules have each of them."""
    done = made(
        ".global .align 1 .b8 _$_str[3] = {104, 105, 0}; .global .align 1 .b8 $str[1] = {0}; .global .u32 seen;\n"
        ".visible .global .u32 a$b;\n"
    )
    assert "\nstatic __device__ std::uint8_t _$_str[3]" in done.text
    assert "\nstatic __device__ std::uint8_t $str[1]" in done.text
    assert 'extern "C" { __device__ std::uint32_t seen; }' in done.text
    assert 'extern "C" { __device__ std::uint32_t a$b; }' in done.text
