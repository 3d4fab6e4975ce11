"""PTX as text: every form of operand and literal, whole modules, and messages for what cannot be read."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.ptx.constants import double
from cu2port.ptx.ir import (
    Address,
    Const,
    Guard,
    Instruction,
    Label,
    Neg,
    Not,
    Pair,
    Reg,
    Scope,
    Sum,
    Variable,
    Vector,
)
from cu2port.ptx.parse import PtxSyntaxError, number, parse_inline, parse_module

ROOT = Path(__file__).resolve().parent.parent.parent


def one(text: str) -> Instruction:
    (statement,) = parse_inline(text)
    assert isinstance(statement, Instruction)
    return statement


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%0", Reg("%0")),
        ("%12", Reg("%12")),
        ("%[x]", Reg("%[x]")),
        ("%%r1", Reg("%r1")),
        ("%%tid.x", Reg("%tid", "x")),
        ("r.b0", Reg("r", "b0")),
        ("t%=", Reg("t%=")),
        ("_", Reg("_")),
        ("$L__1", Reg("$L__1")),
        ("{%0, _, b}", Vector((Reg("%0"), Reg("_"), Reg("b")))),
        ("[%1]", Address(Reg("%1"))),
        ("[%1+16]", Address(Reg("%1"), 16)),
        ("[%1 + -4]", Address(Reg("%1"), -4)),
        ("[%1-4]", Address(Reg("%1"), -4)),
        ("[a+4*3]", Address(Reg("a"), 12)),
        ("[64]", Address(None, 64)),
        ("[a+8].unified", Address(Reg("a"), 8)),
        ("[%1, {%2, %3}]", Address(Reg("%1"), 0, (Vector((Reg("%2"), Reg("%3"))),))),
        ("!p", Not(Reg("p"))),
        ("-%1", Neg(Reg("%1"))),
        ("p|q", Pair(Reg("p"), Reg("q"))),
        ("_|q", Pair(Reg("_"), Reg("q"))),
        ("table+8", Sum(Reg("table"), 8)),
        ("-1", Const(-1)),
        ("~0", Const(-1)),
        ("!5", Const(0)),
        ("0x1F", Const(31)),
        ("017", Const(15)),
        ("0b101", Const(5)),
        ("7U", Const(7, "u")),
        ("0xffffffffffffffff", Const(0xFFFFFFFFFFFFFFFF, "u")),
        ("0f3F800000", Const(0x3F800000, "f32")),
        ("-0f3F800000", Const(0xBF800000, "f32")),
        ("0d3FF0000000000000", Const(0x3FF0000000000000, "f")),
        ("((32-8)<<8)|0x1f", Const(0x181F)),
        ("2+3*4", Const(14)),
        ("1?2:3", Const(2)),
        ("(.s64)7U", Const(7)),
        ("-7/2", Const(-3)),
        ("7 % 4", Const(3)),
    ],
)
def test_operand(text: str, operand: object) -> None:
    assert one(f"op.u32 {text};").operands == (operand,)


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), (".25", 0.25), ("2.", 2.0), ("1e3", 1000.0), ("1.5e-2", 0.015)]
)
def test_decimal_number(text: str, value: float) -> None:
    assert double(number(text)) == value


def test_instruction_with_everything() -> None:
    text = "// a comment\n{ /* one\n more */ .reg .pred %%p<3>;\n"
    text += " @!%%p1 mad.lo .cc .u32 %0, %1, -0x10, %%p2;\nL%=: bra.uni L%=; }"
    (scope,) = parse_inline(text)
    assert isinstance(scope, Scope)
    declared, instruction, label, jump = scope.body
    assert isinstance(declared, Variable)
    assert declared.names == ("%p0", "%p1", "%p2")
    assert isinstance(instruction, Instruction)
    assert instruction.opcode == "mad.lo.cc.u32"
    assert instruction.guard == Guard("%p1", True)
    assert (label, jump) == (Label("L%=", 5, 1), Instruction("bra.uni", (Reg("L%="),), None, 5, 6))


def test_the_last_semicolon_may_be_missing() -> None:
    assert one("membar.gl") == one("membar.gl;")


MODULE = """
.version 7.8
.target sm_80, debug
.address_size 64
.file 1 "a.cu"
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .u32 table[2][2] = {{1, 2}, {0x3, -4}};
.const .f32 pi = 0f40490FDB;
.func (.param .b32 out) twice(.param .b32 a);
.visible .entry kernel(.param .u64 p, .param .align 8 .b8 s[24])
.maxntid 256, 1, 1
.minnctapersm 2
{
    .reg .b32 %r<4>;
    .loc 1 7 3
    ld.param.u64 %rd1, [p];
    call.uni (out), twice, (a, b);
    brx.idx %r1, targets;
targets: .branchtargets A, B;
A: ret;
B: .pragma "nounroll";
}
.section .debug_info { .b32 1 }
"""


def test_module() -> None:
    module = parse_module(MODULE)
    assert (module.version, module.target, module.address_size) == ("7.8", ("sm_80", "debug"), 64)
    assert [v.name for v in module.variables] == ["dynamic", "table", "pi"]
    assert module.variables[1].dims == (2, 2)
    declared, kernel = module.functions
    assert (declared.body, declared.is_entry, kernel.is_entry) == (None, False, True)
    assert [p.name for p in kernel.params] == ["p", "s"]
    assert kernel.params[1].dims == (24,)
    assert dict(kernel.limits)["maxntid"] == (256, 1, 1)
    assert kernel.body is not None


def test_a_declaration_of_a_function_may_lack_its_semicolon() -> None:
    head = ".version 2.1\n.target sm_20\n.visible .func (.param .u32 r) f (.param .u32 a)\n.visible .func g ()\n"
    found = parse_module(head + ".global .u32 x;\n.func g () { ret; }\n.entry k () .maxntid 32, 1, 1 { ret; }")
    assert [(f.name, f.body is None) for f in found.functions] == [("f", True), ("g", True), ("g", False), ("k", False)]
    assert [v.name for v in found.variables] == ["x"]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("add.u32 %0, %1 %2;", 1, 16, "`,` or `;` is missing before `%2`"),
        ("add.u32 a, b\nsub.u32 a, b, c;", 2, 1, "is missing before `sub.u32`"),
        ("{ add.u32 a, b, c;", 1, 19, "the end of the text where an instruction"),
        ("ld.global.u32 a, [b;", 1, 20, "`]` is expected"),
        ("add.u32 a,,b;", 1, 11, "an operand, as"),
        ("mov.u32 a,\n  #;", 2, 3, "`#` is no word of PTX"),
        ("mov.u32 a, 09;", 1, 12, "`09` is no number"),
        ("mov.u32 a, 1/0;", 1, 13, "expression of constants"),
        (".reg .u32;", 1, 10, "a type and a name"),
        ("mov.u32 a, [{b}];", 1, 12, "an address is"),
        ("mov.u32 a, [b].c;", 1, 15, "`.c` where"),
        ("not.pred p, !!q;", 1, 13, "`!` twice"),
        ("{" * 300, 1, 201, "more than 200 brackets"),
        ("add.u32 a, b, c; /* and so on", 1, 18, "a comment that does not end"),
    ],
)
def test_message(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(PtxSyntaxError) as error:
        parse_inline(text)
    assert (error.value.line, error.value.column) == (line, column)
    assert words in error.value.message


WORDS = "add.u32 @ ! %0 %%r1 , ; { } [ ] ( ) : | + - * < > = 5 0x1f .reg .u32 .entry .func .param k _ L1".split()
WORDS += ["//", "/*", "*/", "\n", '"', ".pragma", ".align", "?", "~"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join), st.booleans())
def test_any_words_give_statements_or_a_place(text: str, module: bool) -> None:
    try:
        _ = parse_module(text) if module else parse_inline(text)
    except PtxSyntaxError as error:
        assert error.line >= 1
        assert error.column >= 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_statements_or_a_place(data: bytes) -> None:
    for parse in (parse_inline, parse_module):
        try:
            parse(data.decode("latin-1"))
        except PtxSyntaxError as error:
            assert error.line >= 1


@given(st.floats(width=64, allow_nan=False))
def test_bits_of_a_double(value: float) -> None:
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    assert double(number(f"0d{bits:016X}")) == value


def test_ten_megabytes_of_noise() -> None:
    noise = random.Random(1).randbytes(10_000_000).decode("latin-1")
    started = time.process_time()
    with pytest.raises(PtxSyntaxError):
        parse_inline(noise)
    for text in ("/*" + "x" * 10_000_000, "a" * 10_000_000, "(" * 10_000_000):
        with pytest.raises(PtxSyntaxError):
            parse_inline(text + "\x01")
    assert time.process_time() - started < 20


def test_ten_thousand_labels() -> None:
    text = "\n".join(f"L{i}: bra L{9999 - i};" for i in range(10_000))
    assert len(parse_inline(text)) == 20_000


def test_damaged_tables_are_made_anew(tmp_path: Path) -> None:
    code = "from cu2port.ptx.parse import parse_inline; print(parse_inline('add.u32 %0, %1, 1;')[0].opcode)"
    env = {**os.environ, "CU2PORT_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT / "translator")}

    def run() -> str:
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout

    assert run() == "add.u32\n"
    (kept,) = tmp_path.glob("grammar-*.bin")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:5000], whole.replace(b"instruction", b"instructoin")):
        kept.write_bytes(damaged)
        assert run() == "add.u32\n"
        assert len(kept.read_bytes()) > 50_000
