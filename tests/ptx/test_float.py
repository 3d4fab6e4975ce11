"""Rows on floats: approximations within the manual's bounds, `--ptx-fp fast`, what compilers make of the helpers."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from amd_code import clang, machine_code

from cu2port.ptx import approx, assemble, interp, probe
from cu2port.ptx.emit import Options, emit
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.softfloat import FORMATS, Format, converted, is_inf, is_nan, unpack
from cu2port.ptx.table import Row, forms, rows
from cu2port.ptx.vectors import Case, cases, same
from cu2port.ptx.vectors import case as made_case
from cu2port.ptx.vectors_float import element_of

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"
BOUNDED = [row for row in rows() if row.bound]
F32, F64 = FORMATS["f32"], FORMATS["f64"]


def compiled(source: str, tmp_path: Path, *flags: str, compiler: str = "") -> Path:
    found = compiler or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        pytest.skip("no C++ compiler")
    text, binary = tmp_path / "rows.cpp", tmp_path / "rows"
    text.write_text(source)
    wanted = [
        "-std=c++17",
        "-fsanitize=undefined,float-cast-overflow",
        "-fno-sanitize-recover=all",
        f"-I{INCLUDE}",
        "-w",
        *flags,
    ]
    done = subprocess.run([found, *wanted, "-o", str(binary), str(text)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[:3000]
    return binary


def ran(chosen: list[Case], binary: Path) -> list[list[tuple[int, ...]]]:
    done = subprocess.run([binary], input=probe.inputs(chosen), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return probe.results(chosen, done.stdout)


def meaning(case: Case, vector: tuple[int, ...]) -> tuple[int, ...]:
    lanes = interp.run((case.instruction,), case.places, [dict(zip(case.inputs, vector, strict=True))])
    return tuple(lanes[0][name] for name in case.results)


# --- approximations --------------------------------------------------------------------------------------------------


def exact(x: int, f: Format) -> Fraction:
    sign, m, e = unpack(x, f)
    return Fraction(-m if sign else m) * Fraction(2) ** e


def elements(
    case: Case, vector: tuple[int, ...], wanted: int, got: int
) -> Iterator[tuple[list[int], int, int, Format]]:
    """Operands, meaning and answer of each element of a result."""
    t = case.places["%d0"].type
    element = element_of(t)
    if element is None:
        yield list(vector), wanted, got, FORMATS[t.name]
        return
    for shift in (0, element.bits):
        parts = [x >> shift & element.mask for x in vector]
        yield parts, wanted >> shift & element.mask, got >> shift & element.mask, FORMATS[element.name]


def power(text: str) -> Fraction:
    """2^-20.5 as a fraction, not less than that."""
    exponent = float(text.removeprefix("2^"))
    return Fraction(2**exponent) * (1 + Fraction(1, 2**40))


def truth(name: str, operands: list[int], f: Format, wanted: int) -> Fraction:
    """The function's value where it is known better than to half a unit of the last place."""
    if name in approx.FUNCTIONS and f.bits < 64:
        return exact(approx.FUNCTIONS[name](converted(operands[0], f, F64), F64), F64)
    return exact(wanted, f)


def off(row: Row, operands: list[int], wanted: int, got: int, f: Format) -> str:
    """What is wrong with an answer, "" if nothing."""
    if wanted == got:
        return ""
    if is_nan(wanted, f) or is_nan(got, f):
        return "" if is_nan(wanted, f) and is_nan(got, f) else "NaN"
    if wanted ^ got == f.sign and not wanted & f.sign - 1:
        return "a zero's sign"
    bound = row.bound
    if row.root in ("sin", "cos"):
        turns = abs(exact(operands[0], f)) / Fraction(710, 113)  # in units of 2 pi
        if turns > 50:
            return "" if got & 0x7FFFFFFF <= 0x3F800001 else "beyond 1"
        bound = "absolute 2^-20.5" if turns <= 1 else "absolute 2^-14.7"
    if row.root == "lg2" and 0x3F000000 < operands[0] < 0x40000000:
        bound = "absolute 2^-22"
    if is_inf(wanted, f) or is_inf(got, f):
        near = min(wanted & f.sign - 1, got & f.sign - 1) >= f.largest and (wanted ^ got) & f.sign == 0
        return "" if wanted == got or (near and bound.endswith("ulp")) else "infinity"
    if bound.endswith("ulp"):
        a, b = ((x & f.sign - 1) * (-1 if x & f.sign else 1) for x in (wanted, got))
        return "" if abs(a - b) <= int(bound.split()[0]) else f"{abs(a - b)} ulp"
    kind, size = bound.split()
    value = truth(row.root, operands, f, wanted)
    room = power(size) * (abs(value) if kind == "relative" else 1)
    error = abs(exact(got, f) - value)
    return (
        ""
        if error <= room + Fraction(2) ** (f.lowest - 1)
        else f"{error.numerator.bit_length() - error.denominator.bit_length()} bits"
    )


def within_bounds(tmp_path: Path, count: int, compiler: str = "") -> None:
    chosen = [case for row in BOUNDED for case in cases(row, count, Random(4)) if case.inputs]
    answers = ran(chosen, compiled(probe.program(chosen), tmp_path, compiler=compiler))
    wrong = []
    for case, given in zip(chosen, answers, strict=True):
        for vector, (got,) in zip(case.vectors, given, strict=True):
            constant = len(vector) < len(case.row.sources)
            if constant:
                continue
            (wanted,) = meaning(case, vector)
            for operands, want, have, f in elements(case, vector, wanted, got):
                problem = off(case.row, operands, want, have, f)
                if problem:
                    shown = f"{case.instruction.opcode} {[hex(v) for v in operands]}"
                    wrong.append(f"{shown}: C++ {have:#x}, wanted {want:#x}: {problem}")
    assert not wrong, f"{len(wrong)} answers off:\n" + "\n".join(wrong[:30])


def test_approximations_are_within_the_bounds(tmp_path: Path) -> None:
    within_bounds(tmp_path, 60)


@pytest.mark.exhaustive
def test_approximations_are_within_the_bounds_on_many(tmp_path: Path) -> None:
    within_bounds(tmp_path, 4000)


def test_every_approximation_names_its_bound() -> None:
    for row in rows():
        assert bool(row.bound) == (".approx" in row.syntax or ".full" in row.syntax), row.syntax
    assert {row.bound.split()[-1] for row in BOUNDED} > {"ulp", "2^-22", "2^-20.5"}


# --- another compiler, and AMD's way of computing on f16 --------------------------------------------------------------


def float_cases(count: int, roots: str = "", most: int = 3) -> list[Case]:
    names = ("isa_float", "isa_half", "isa_convert", "isa_small")
    mine = [row for row in rows() if row.meaning.__module__.rpartition(".")[2] in names]
    return [case for row in mine if re.match(roots, row.root) for case in cases(row, count, Random(6), most_forms=most)]


def agree(chosen: list[Case], answers: list[list[tuple[int, ...]]]) -> None:
    wrong = []
    for case, given in zip(chosen, answers, strict=True):
        types = [case.places[name].type for name in case.results]
        for vector, got in zip(case.vectors, given, strict=True):
            wanted = meaning(case, vector)
            if not all(same(t, w, g) for t, w, g in zip(types, wanted, got, strict=True)):
                wrong.append(f"{case.instruction.opcode} {[hex(v) for v in vector]}: {got} for {wanted}")
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])


@pytest.mark.slow
def test_clang_agrees(tmp_path: Path) -> None:
    """With optimisation, contraction everywhere it is allowed, and clang's own minimum and maximum."""
    chosen = float_cases(25, most=2)
    flags = ("-O2", "-ffp-contract=fast-honor-pragmas")
    agree(chosen, ran(chosen, compiled(probe.program(chosen), tmp_path, *flags, compiler=clang())))


@pytest.mark.slow
def test_native_f16_agrees(tmp_path: Path) -> None:
    """What AMD GPUs run: `_Float16`. The fused forms have no instruction here, so that they are left out."""
    chosen = [c for c in float_cases(60, "add|sub|mul|cvt", most=6) if "f16" in c.instruction.opcode]
    assert len(chosen) > 20
    flags = ("-O1", "-DCU2PORT_PTX_NATIVE_F16")
    agree(chosen, ran(chosen, compiled(probe.program(chosen), tmp_path, *flags, compiler=clang())))


# --- AMD's machine code -----------------------------------------------------------------------------------------------

KERNELS = """
#include <cu2port/ptx.hpp>
using namespace cu2port::ptx;
extern "C" __global__ void kept_apart(float* p) { p[0] = add_rn(mul_rn(p[1], p[2]), p[3]); }
extern "C" __global__ void free_to_fuse(float* p) { p[0] = p[1] * p[2] + p[3]; }
extern "C" __global__ void least(float* p) { p[0] = min(p[1], p[2]); }
extern "C" __global__ void two_halves(u32* p) { p[0] = add_rn_f16x2(p[1], p[2]); }
extern "C" __global__ void exponential(float* p) { p[0] = ex2_approx_ftz(p[1]); }
extern "C" __global__ void toward_zero(double* p) { p[0] = fma_rz(p[1], p[2], p[3]); }
"""


@pytest.mark.parametrize("arch", ("gfx942", "gfx1100"))
def test_machine_code(arch: str, tmp_path: Path) -> None:
    code = machine_code(KERNELS, tmp_path, arch)
    assert re.search(r"v_(dual_)?mul_f32", code["kept_apart"])
    assert re.search(r"v_(dual_)?add_f32", code["kept_apart"])
    assert not re.search(r"v_(fma|mac|fmac)", code["kept_apart"])
    assert re.search(r"v_(dual_)?(fma|fmac)_f32", code["free_to_fuse"])
    assert "v_pk_add_f16" in code["two_halves"]
    assert "v_exp_f32" in code["exponential"]
    assert "v_min_f32" in code["least"]
    for text in code.values():
        assert "swappc" not in text
        assert "setreg" not in text  # no mode of the wave is touched


@pytest.mark.slow
@pytest.mark.parametrize("arch", ("gfx942", "gfx1100"))
def test_every_form_compiles_for_amd(arch: str, tmp_path: Path) -> None:
    chosen = [c for c in float_cases(0, most=0) if len(c.inputs) == len(c.row.sources)]
    chosen += [c for row in BOUNDED for c in cases(row, 0, Random(1)) if len(c.inputs) == len(c.row.sources)]
    parts = ["#include <cu2port/ptx.hpp>"]
    for n, case in enumerate(chosen):
        types = {name: cxx_type(place.type) for name, place in case.places.items()}
        result = case.results[0]
        lines = [f"{types[i]} {case.places[i].text} = *p{i};" for i in case.inputs]
        lines += [f"{types[result]} {case.places[result].text};", *emit((case.instruction,), case.places).lines]
        parameters = ", ".join([f"{types[result]}* out", *(f"{types[i]}* p{i}" for i in case.inputs)])
        body = " ".join([*lines, f"*out = {case.places[result].text};"])
        parts.append(f'extern "C" __global__ void k{n}({parameters}) {{ {body} }}')
    code = machine_code("\n".join(parts), tmp_path, arch)
    assert len(chosen) > 1000
    assert len([name for name in code if name.startswith("k")]) == len(chosen)
    assert not any("swappc" in text for text in code.values())


# --- fast -------------------------------------------------------------------------------------------------------------

PLACES = {f"%{i}": Place(name, TYPES["f32"]) for i, name in enumerate("dabc")}


@pytest.mark.parametrize(
    ("text", "exact_line", "fast_line"),
    (
        ("fma.rn.ftz.f32 %0, %1, %2, %3;", "d = ftz(fma_rn(ftz(a), ftz(b), ftz(c)));", "d = fma_rn(a, b, c);"),
        ("mul.ftz.f32 %0, %1, %2;", "d = ftz(ftz(a) * ftz(b));", "d = a * b;"),
        ("add.sat.ftz.f32 %0, %1, %2;", "d = sat(ftz(ftz(a) + ftz(b)));", "d = sat(a + b);"),
        ("fma.rz.ftz.f32 %0, %1, %2, %3;", "d = ftz(fma_rz(ftz(a), ftz(b), ftz(c)));", ""),
        ("add.f32 %0, %1, %2;", "d = a + b;", ""),
        ("add.rn.f32 %0, %1, 0f3DCCCCCD;", "d = add_rn(a, 0.1f);", ""),
        ("abs.ftz.f32 %0, %1;", "d = abs(ftz(a));", ""),
        ("ex2.approx.f32 %0, %1;", "d = ex2_approx(a);", "d = ex2_approx_ftz(a);"),
        ("ex2.approx.ftz.f32 %0, %1;", "d = ex2_approx_ftz(a);", ""),
        ("sin.approx.ftz.f32 %0, %1;", "d = ftz(sin_approx(ftz(a)));", "d = sin_approx_fast(a);"),
        ("div.full.f32 %0, %1, %2;", "d = div_full(a, b);", "d = div_approx_fast(a, b);"),
        ("div.approx.ftz.f32 %0, %1, %2;", "d = ftz(div_approx(ftz(a), ftz(b)));", "d = div_approx_fast(a, b);"),
        ("tanh.approx.f32 %0, %1;", "d = tanh_approx(a);", ""),
        ("neg.f32 %0, %1;", "d = -a;", ""),
        ("sub.f32 %0, %1, -1.5;", "d = a - -1.5f;", ""),
    ),
)
def test_fast(text: str, exact_line: str, fast_line: str) -> None:
    """`fast_line` is "" where nothing is to gain, and then nothing is counted."""
    statements = parse_inline(text)
    plain, fast = (emit(statements, PLACES, Options(fp=fp)) for fp in ("exact", "fast"))
    shown = ["".join(e.lines).replace("cu2port::ptx::", "") for e in (plain, fast)]
    assert shown == [exact_line, fast_line or exact_line]
    assert (plain.relaxed, fast.relaxed) == (0, int(bool(fast_line)))


def test_fast_compiles(tmp_path: Path) -> None:
    lines: list[str] = []
    for text in ("rcp", "sqrt", "rsqrt", "lg2", "ex2", "sin", "cos"):
        lines += emit(parse_inline(f"{text}.approx.f32 %0, %1;"), PLACES, Options(fp="fast")).lines
    lines += emit(parse_inline("div.full.f32 %0, %1, %2;"), PLACES, Options(fp="fast")).lines
    body = " ".join(lines)
    kernel = '#include <cu2port/ptx.hpp>\nextern "C" __global__ void k(float a, float b, float* o)'
    kernel += f" {{ float d; {body} *o = d; }}"
    code = machine_code(kernel, tmp_path, "gfx942")
    assert "v_rcp_f32" in code["k"]


# --- NVIDIA's assembler -----------------------------------------------------------------------------------------------


def test_ptxas_takes_every_form(tmp_path: Path) -> None:
    """In one module, for a GPU that has all of them."""
    found = shutil.which("ptxas")
    if found is None:
        pytest.skip("no ptxas")
    names = ("isa_float", "isa_half", "isa_convert", "isa_small", "isa_approx")
    mine = [row for row in rows() if row.meaning.__module__.rpartition(".")[2] in names]
    made = [made_case(row, opcode, match, {}, 0, Random(1)) for row in mine for opcode, match in forms(row)]
    chosen = [c for c in made if c is not None and not NEWER.search(c.instruction.opcode)]
    text = tmp_path / "rows.ptx"
    text.write_text(assemble.module(chosen, "sm_120a"))
    done = subprocess.run(
        [found, "-arch=sm_120a", "-O0", "-o", str(tmp_path / "out"), str(text)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[:3000]
    assert len(chosen) > 1200


NEWER = re.compile(r"bf16x2\.e\d|e\dm\dx2\.bf16x2|e(2m1|2m3|3m2)x2\.f16x2")  # conversions since PTX 9.1
