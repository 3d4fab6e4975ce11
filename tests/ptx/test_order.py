"""Modifiers in another order than the manual's, which ptxas accepts."""

from __future__ import annotations

import pytest

from cu2port.ptx.emit import emit
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.table import find, spelled


@pytest.mark.parametrize(
    ("written", "manual"),
    (
        ("add.f32.rn", "add.rn.f32"),
        ("add.sat.ftz.rn.f32", "add.rn.ftz.sat.f32"),
        ("cvt.f64.f32.ftz", "cvt.ftz.f64.f32"),
        ("cvt.f32.f64.rn", "cvt.rn.f32.f64"),
        ("cvt.s8.bf16.rpi", "cvt.rpi.s8.bf16"),
        ("min.f32.xorsign.abs", "min.xorsign.abs.f32"),
        ("cvt.rn.relu.satfinite.e4m3x2.f32", "cvt.rn.satfinite.relu.e4m3x2.f32"),
        ("setp.f32.lt", "setp.lt.f32"),
        ("lg2.ftz.approx.f32", "lg2.approx.ftz.f32"),
        ("set.f16.u16.eq", "set.eq.f16.u16"),
        ("set.u16.f16.eq", "set.eq.u16.f16"),
    ),
)
def test_another_order(written: str, manual: str) -> None:
    match, wanted = find(written), find(manual)
    assert match is not None
    assert match == wanted
    assert spelled(match.row, written) == manual


@pytest.mark.parametrize(
    "opcode",
    (
        "add.f32.f32",
        "mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m8n8k4.col.row.f64.f64.f64.f64",
        "add.foo.f32",
        "cvt.rn.f32",
        "add.rn.rz.f32",
        "add",
        "add.ftz.u32",
        "cvt.rn.f64.f32",
        "cvt.f64.bf16x2",
    ),
)
def test_what_no_order_makes_right(opcode: str) -> None:
    assert find(opcode) is None


def test_helpers_have_the_names_of_the_manual() -> None:
    places = {f"%{i}": Place(f"r{i}", TYPES["u32"]) for i in range(5)}
    lines = [emit(parse_inline(f"{word} %0, %1, %2;"), places).lines for word in ("bmsk.clamp.b32", "bmsk.b32.clamp")]
    assert lines[0] == lines[1]
