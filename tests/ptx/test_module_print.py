"""`vprintf` in modules: the format that a call names, and what lies in the buffer of its arguments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ptx_kernels import simulated

from cu2port.ptx.module import Converted, convert
from cu2port.ptx.module_print import printf

HEAD = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
"""


def module(text: bytes, body: str) -> Converted:
    """Prints by way of `print`, with 64 bytes at %buffer for the arguments."""
    data = ", ".join(map(str, (*text, 0)))
    call = "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %f; st.param.b64 [b], %buffer;\n"
    call += "call.uni (r), vprintf, (a, b); ld.param.b32 %r, [r]; }"
    return convert(
        HEAD + f".global .align 1 .b8 format[{len(text) + 1}] = {{{data}}};\n"
        ".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n"
        ".visible .entry k(.param .u64 p) {\n"
        ".local .align 8 .b8 own[64]; .reg .b64 %f, %s, %buffer, %own; .reg .b32 %r; .reg .pred %q;\n"
        "mov.u64 %own, own; cvta.local.u64 %buffer, %own;\n" + body.replace("PRINT", call) + "\nret; }\n"
    )


NAME = "mov.u64 %f, format; cvta.global.u64 %f, %f;\n"
FILL = (
    "mov.u32 %r, -7; st.local.u32 [%own], %r; st.local.u64 [%own+8], 0xffffffffffffffff;\n"
    "mov.b64 %s, 0d3ff8000000000000; st.local.b64 [%own+16], %s; st.local.u32 [%own+24], 88;\n"
    "mov.u64 %s, word; cvta.global.u64 %s, %s; st.local.b64 [%own+32], %s; st.local.u32 [%own+40], 6;\n"
    "st.local.u32 [%own+44], 5;\n"
)
TEXT = b'"%+d" %llx %.2f%% %c\t%s\\ %*d\n'


def test_a_call_has_the_format_and_its_arguments() -> None:
    done = module(TEXT, FILL + NAME + "PRINT")
    assert not done.left
    ld = "cu2port::ptx::ld"
    assert (
        rf'printf("\042%+d\042 %llx %.2f%% %c\t%s\134 %*d\n", {ld}<int>(b), {ld}<long long>(b + 8), '
        f"{ld}<double>(b + 16), {ld}<int>(b + 24), {ld}<const char*>(b + 32), {ld}<int>(b + 40), {ld}<int>(b + 44));"
    ) in done.text


@pytest.mark.parametrize(
    "body",
    (
        "ld.param.u64 %f, [p]; PRINT",
        "setp.eq.u64 %q, %own, 0;\nmov.u64 %f, format; cvta.global.u64 %f, %f; @%q mov.u64 %f, word;\nPRINT",
        f"{NAME} L: PRINT\nmov.u64 %f, word; bra L;",  # the second time round it is another
    ),
)
def test_a_format_that_is_not_certain_stays(body: str) -> None:
    assert [x.opcode for x in module(b"x", body).left] == ["call.uni"]


@pytest.mark.parametrize("text", (b"100%", b"%n", b"%5%", b"%Lf", b"%y"))
def test_a_format_that_is_no_format_stays(text: bytes) -> None:
    assert printf(text, "b") is None
    assert module(text, NAME + "PRINT").left


@pytest.mark.slow
def test_what_is_printed(tmp_path: Path) -> None:
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    done = module(TEXT, FILL + NAME + "PRINT")
    main = "#include <cstdio>\nint main() { k<<<1, 1>>>(0); return hipDeviceSynchronize(); }\n"
    assert simulated(done.text + main, b"", tmp_path) == b'"-7" ffffffffffffffff 1.50% X\tabc\\      5\n'
