"""Every row: its examples hold, and the interpreter and the emitted C++ agree, bit for bit, whatever type the variables
have that stand for its registers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from cu2port.ptx import interp, probe, vectors
from cu2port.ptx.bind import bind
from cu2port.ptx.integers import read
from cu2port.ptx.ir import TYPES, Const, Instruction, Operand, Pair, Place, Reg, Type
from cu2port.ptx.table import Row, find, forms, rows
from cu2port.ptx.vectors import Case, cases, same

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"

EXAMPLES = [
    pytest.param(row, opcode, inputs, wanted, id=f"{opcode}-{i}")
    for row in rows()
    for opcode, examples in row.examples.items()
    for i, (inputs, wanted) in enumerate(examples)
]


@pytest.mark.parametrize(("row", "opcode", "inputs", "wanted"), EXAMPLES)
def test_example(row: Row, opcode: str, inputs: tuple[int, ...], wanted: int | tuple[int, ...]) -> None:
    match = find(opcode, len(row.sources) + bool(row.targets))
    assert match is not None
    assert match.row is row
    places: dict[str, Place] = {}
    registers: dict[str, int] = {}
    operands: list[Operand] = []
    for slot, number in zip(row.sources, inputs, strict=False):
        if slot.form == "imm":
            operands.append(Const(number))
            continue
        places[slot.name] = Place(slot.name, row.type_of(slot, match.bindings))
        registers[slot.name] = number
        operands.append(Reg(slot.name))
    if row.reads:
        registers["CC"] = inputs[-1]
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    names = []
    for i, slot in enumerate(row.targets):
        places[f"%{i}"] = Place(f"out{i}", row.type_of(slot, match.bindings))
        names.append(f"%{i}")
    written = Pair(Reg("%0"), Reg("%1")) if len(names) > 1 else Reg("%0")
    names += ["CC"] if row.writes else []
    (lane,) = interp.run([Instruction(opcode, (written, *operands))], places, [registers])
    assert tuple(lane[name] for name in names[: len(results)]) == results


def compare(
    chosen: list[Case],
    tmp_path: Path,
    equal: Callable[[Type, int, int], bool] = same,
    command: tuple[str, ...] = ("", "-O0"),
) -> None:
    source, binary = tmp_path / "rows.cpp", tmp_path / "rows"
    source.write_text(probe.program(chosen))
    compiler = command[0] or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    flags = ["-std=c++17", *command[1:], "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{INCLUDE}", "-w"]
    built = subprocess.run([compiler, *flags, "-o", str(binary), str(source)], capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()[:3000]
    done = subprocess.run([binary], input=probe.inputs(chosen), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    wrong = []
    for case, given in zip(chosen, probe.results(chosen, done.stdout), strict=True):
        operation = bind(case.instruction, {"CC": Place("", TYPES["pred"]), **case.places})
        types = [*(value.type for value in operation.values), TYPES["pred"]][: len(case.results)]
        lanes = [dict(zip(case.inputs, vector, strict=True)) for vector in case.vectors]
        interp.run(case.statements, case.places, lanes)
        for vector, lane, got in zip(case.vectors, lanes, given, strict=True):
            wanted = tuple(lane[name] for name in case.results)
            if not all(equal(t, w, g) for t, w, g in zip(types, wanted, got, strict=True)):
                shown = f"{case.instruction.opcode} {case.instruction.operands[1:]} on {[hex(v) for v in vector]}: "
                wrong.append(shown + f"C++ {[hex(g) for g in got]}, interpreter {[hex(w) for w in wanted]}")
                break
    assert not wrong, f"{len(wrong)} of {len(chosen)} cases differ:\n" + "\n".join(wrong[:20])


def test_agreement(tmp_path: Path) -> None:
    rng = Random(1)
    compare([case for row in rows() if not row.bound for case in cases(row, 6, rng, most_forms=2)], tmp_path)


@pytest.mark.parametrize("compiler", ("g++", "clang++-22"))
def test_nan_of_minima_is_the_canonical_one(compiler: str, tmp_path: Path) -> None:
    """Of the .NaN forms, bit for bit: programs look at the pattern."""
    if shutil.which(compiler) is None:
        pytest.skip("no gcc for C++ here" if compiler == "g++" else "no clang++-22 here")
    rng, found = Random(5), []
    for row in rows():
        if row.root in ("min", "max") and ".NaN" in row.syntax.replace("nan:NaN", ".NaN"):
            found += [c for c in cases(row, 40, rng) if ".NaN" in c.instruction.opcode]
    assert len({c.instruction.opcode for c in found}) > 20
    compare(found, tmp_path, lambda t, wanted, got: wanted == got, (compiler, "-O2"))


# --- variables of another type than the instruction's: a register has bits, an operand's variable has a sign too ------


def another(t: Type, kind: str) -> Type:
    """A type of as many bits. A tf32 is held by no register of floats."""
    if t.kind == "p":
        return t
    bits = max(t.bits, 8)
    is_float = kind == "f" and bits in (32, 64) and t.name != "tf32"
    return TYPES[f"f{bits}" if is_float else f"{'s' if kind == 's' else 'u'}{bits}"]


@pytest.mark.slow
def test_agreement_on_variables_of_other_types(tmp_path: Path) -> None:
    """One form for each row and types of its operands; all of them signed, and each of a kind of its own."""
    rng, seen, found = Random(4), set(), []
    for row in rows():
        if row.bound or vectors.case(row, *next(forms(row)), None, 1, rng) is None:
            continue
        for opcode, match in forms(row):
            key = (id(row), *(row.type_of(slot, match.bindings) for slot in (*row.targets, *row.sources)))
            if key in seen or (plain := vectors.case(row, opcode, match, None, 3, rng)) is None:
                continue
            seen.add(key)
            for kinds in ("s", "suf"):
                places = {name: replace(p, type=another(p.type, rng.choice(kinds))) for name, p in plain.places.items()}
                found.append(replace(plain, places=places))
    compare(found, tmp_path)


# --- the carry flag across two instructions ---------------------------------------------------------------------------


def flag_and_sum(opcode: str, t: Type, operands: Sequence[int], flag: int) -> tuple[int, int]:
    """What one instruction of a chain computes and the flag then: that of a + b + flag, with ~b for subtractions."""
    name, *words = opcode.split(".")
    a, b = operands[0], operands[-1]
    if name.startswith("mad"):
        product = read(operands[0], t) * read(operands[1], t)
        a = (product >> t.bits if "hi" in words else product) & t.mask
    if name.startswith("sub"):
        b ^= t.mask
    total = a + b + (flag if name.endswith("c") else name == "sub")
    return total & t.mask, total >> t.bits if "cc" in words else flag


def test_carry_pairs(tmp_path: Path) -> None:
    """Each instruction that sets the flag ahead of each that reads it: interpreter, C++ and a model of their own."""
    found = list(vectors.carry_pairs(8, Random(2)))
    assert len(found) == 4 * 4 * 8
    compare(found, tmp_path)
    for case in found:
        (first,), second = case.before, case.instruction
        for vector in case.vectors:
            registers = dict(zip(case.inputs, vector, strict=True))
            (lane,) = interp.run(case.statements, case.places, [dict(registers)])
            t, n = case.places["%t"].type, len(first.operands) - 1
            _, flag = flag_and_sum(first.opcode, t, vector[:n], 0)
            assert (lane["%d0"], lane["CC"]) == flag_and_sum(second.opcode, t, vector[n:], flag), case.statements


@pytest.mark.exhaustive
@pytest.mark.parametrize("root", list(dict.fromkeys(row.root for row in rows())))
def test_agreement_of_every_form(tmp_path: Path, root: str) -> None:
    """One instruction's forms, compiled some at a time: a program of thousands of functions takes gigabytes."""
    rng = Random(f"2 {root}")
    mine = [row for row in rows() if row.root == root and not row.bound]
    chosen = [case for row in mine for case in cases(row, 1000, rng, most_forms=200)]
    for at in range(0, len(chosen), 300):
        compare(chosen[at : at + 300], tmp_path)
