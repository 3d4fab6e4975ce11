"""What NVIDIA's assembler says to each form of `mma`, `ldmatrix`, `stmatrix`, `movmatrix` and `cp.async` of the table,
with as many registers as the table takes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from cu2port.ptx.bind import UntranslatableError, bind
from cu2port.ptx.ir import TYPES, Place, Type
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.table import Row, Slot, find, forms, rows

ROOTS = frozenset({"mma", "ldmatrix", "stmatrix", "movmatrix", "cp"})
TARGETS = ("sm_120a", "sm_100a", "sm_90a")  # each has forms that others lack
KINDS = {"pred": "p", "f32": "f", "f64": "d", "u64": "l"}
SELECTOR = "f"  # of `mma.sp`: a constant, which a template may give
MOST = 8  # registers of a matrix in a lane
DECLARED = {"pred": "p", "f32": "f", "f64": "d", "b64": "l", "b32": "r"}
PLACES = {
    f"{letter}{i}": Place(f"{letter}{i}", TYPES[name.replace("b", "u")])
    for name, letter in DECLARED.items()
    for i in range(MOST + 1)
}
NOTHING_KNOWN = re.compile(r"line (\d+); error")


def spelled(slot: Slot, type_: Type | None, count: int, copies: bool) -> Iterator[str]:
    """An operand; `count` of a vector; `copies`: of a copy, whose numbers are constants."""
    letter = KINDS.get(str(type_), "r")
    if slot.form == "[":
        yield f"[{slot.name}_]"
    elif slot.form == "imm" or slot.name == SELECTOR:
        yield "0"
    elif slot.form == "{":
        yield "{" + ", ".join(f"{letter}{i}" for i in range(count)) + "}"
    elif copies and str(type_) == "u32" and slot.form == "":
        yield "16"
    elif slot.form == "?":
        yield from (f"{letter}0", "p0")
    else:
        yield f"{letter}0"


def texts(row: Row, opcode: str) -> Iterator[str]:
    """Statements of a form that the table takes, with all its operands and without those that may be missing."""
    match = find(opcode)
    assert match is not None
    slots = (*row.targets, *row.sources)
    types = [row.type_of(slot, match.bindings) if slot.form not in ("[", "imm") else None for slot in slots]
    vectors = sum(slot.form == "{" for slot in slots)
    for counts in product((1, 2, 4, 8), repeat=vectors):
        sizes = iter(counts)
        operands = [
            list(spelled(slot, type_, next(sizes) if slot.form == "{" else 0, row.root == "cp"))
            for slot, type_ in zip(slots, types, strict=True)
        ]
        found = []
        for chosen in product(*operands):
            for used in (chosen, [o for o, slot in zip(chosen, slots, strict=True) if not slot.optional]):
                text = f"{opcode} {', '.join(used)};"
                if takes(text) and text not in found:
                    found.append(text)
        yield from found
        if found and vectors:
            return


def takes(text: str) -> bool:
    places = {**PLACES, **{name: Place(name, TYPES["u64"]) for name in ("a_", "b_")}}
    try:
        bind(parse_inline(text)[0], places)  # type: ignore[arg-type]  # one instruction
    except UntranslatableError:
        return False
    return True


def refused(lines: Sequence[str], target: str, ptxas: Path, folder: Path) -> set[str]:
    """Statements that the assembler does not take."""
    declared = " ".join(f".reg .{name} {letter}<{MOST + 1}>;" for name, letter in DECLARED.items())
    module = [".version 9.0", f".target {target}", ".address_size 64", ".visible .entry k() {", declared]
    module += [".reg .b64 a_, b_;", *lines, "ret; }"]
    (folder / "k.ptx").write_text("\n".join(module) + "\n")
    command = [str(ptxas), f"-arch={target}", "-O0", str(folder / "k.ptx"), "-o", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    places = [int(n) - 1 for n in NOTHING_KNOWN.findall(done.stdout + done.stderr)]
    assert places or done.returncode == 0, (done.stdout + done.stderr)[:2000]
    return {module[n] for n in places}


def statements() -> list[str]:
    wanted = [(row, opcode) for row in rows() if row.root in ROOTS for opcode, _ in forms(row)]
    out = {opcode: list(texts(row, opcode)) for row, opcode in wanted}
    assert all(out.values()), [opcode for opcode, found in out.items() if not found]
    return [text for found in out.values() for text in found]


@pytest.mark.slow
def test_ptxas_takes_every_form_of_matrices_and_copies(tmp_path: Path, ptxas: Path) -> None:
    every = statements()
    left = set(every)
    for target in TARGETS:
        left &= refused(every, target, ptxas, tmp_path)
    assert left == set()
    assert len(every) > 400


@pytest.mark.slow
def test_ptxas_refuses_what_the_manual_has_not(tmp_path: Path, ptxas: Path) -> None:
    wrong = [
        "mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r0, r1}, {r0}, {f0, f1, f2, f3};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r0, r1, r2}, {r0}, {f0, f1, f2, f3};",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r0}, [a_];",
        "movmatrix.sync.aligned.m8n8.b16 r0, r1;",
    ]
    assert refused(wrong, TARGETS[0], ptxas, tmp_path) == set(wrong)
