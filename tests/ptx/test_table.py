"""The table as a whole: its generated header, its examples, what NVIDIA's assembler says to it, and a planted bug."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from cu2port.ptx import assemble, interp, ops
from cu2port.ptx.header import rewritten
from cu2port.ptx.ir import Instruction, Place, Reg
from cu2port.ptx.table import find, rows
from cu2port.ptx.vectors import Case, cases

HEADER = Path(__file__).parents[2] / "translator/cu2port/include/cu2port/ptx.hpp"


def test_the_header_is_what_the_rows_want() -> None:
    text = HEADER.read_text()
    assert rewritten(text) == text, "run tools/ptx_header.py"


def test_every_instruction_that_computes_has_an_example() -> None:
    rng = Random(1)
    computing = {row.root for row in rows() if next(cases(row, 1, rng, most_forms=1), None) is not None}
    shown = {row.root for row in rows() if row.examples}
    # whose result is an operand or a constant, as there is nothing to compute
    trivial = {"createpolicy", "cvta", "getctarank", "stacksave"}
    assert computing - shown == trivial


def test_every_row_names_a_section_of_the_manual() -> None:
    assert [row.syntax for row in rows() if not re.fullmatch(r"[a-z0-9-]+", row.ref)] == []


def test_a_planted_bug_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What examples and the comparison with C++ are for: here the meaning of a core operation is changed."""
    places = {name: Place(name, ops.U32) for name in ("%d", "a", "b")}
    instruction = Instruction("shl.b32", (Reg("%d"), Reg("a"), Reg("b")))
    found = find("shl.b32")
    assert found is not None
    (example,) = (e for e in found.row.examples["shl.b32"] if e[0][1] == 32)

    def computed() -> int:
        return interp.run([instruction], places, [dict(zip(("a", "b"), example[0], strict=True))])[0]["%d"]

    assert computed() == example[1]
    wrong = replace(ops.SHL_ANY, meaning=lambda v, a, n: a << (n & 31) & v.type.mask)  # as C++ and AMD's shifts do
    monkeypatch.setattr(ops, "SHL_ANY", wrong)
    assert computed() != example[1]


@pytest.mark.slow
def test_ptxas_takes_every_form(tmp_path: Path, ptxas: Path) -> None:
    """Each form that computes, as a kernel of a module; sm_120a lacks some that sm_100a has."""
    rng = Random(3)
    chosen: dict[str, Case] = {}  # the first case of a form has registers alone
    for row in rows():
        for case in cases(row, 1, rng, most_forms=100):
            chosen.setdefault(case.instruction.opcode, case)
    refused: dict[str, set[str]] = {}
    for target in ("sm_120a", "sm_100a"):
        text = assemble.module(list(chosen.values()), target, "9.3")
        source = tmp_path / f"{target}.ptx"
        source.write_text(text)
        command = [str(ptxas), f"-arch={target}", "-O0", str(source), "-o", str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = text.splitlines()
        places = re.findall(r"line (\d+); error", done.stdout + done.stderr)
        refused[target] = {lines[int(n) - 1].strip() for n in places}
        assert places or done.returncode == 0, done.stderr[:2000]
    assert refused["sm_120a"] & refused["sm_100a"] == set()
