"""Accesses to memory against the types of registers: every pair that PTX's manual allows.

The rules stand here once more, apart from the converter's: a load, a store or a conversion may have registers that are
wider than its type ("Operand Size Exceeding Instruction-Type Size" in the manual). A store takes the low bits. A load
of a signed type extends the sign, any other fills with zeros; `.b` and floats are bits. Floats go to and come from
registers of their own type, or of bits. The bits of everything are compared with what the emitted C++ does on the CPU.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cu2port.ptx.bind import UntranslatableError
from cu2port.ptx.emit import emit
from cu2port.ptx.interp import Machine, run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.module import convert
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.printer import cxx_type

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"
ACCESSES = (*(f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)), "f32", "f64")
REGISTERS = (*(f"{kind}{bits}" for kind in "bus" for bits in (16, 32, 64)), "f16", "f32", "f64")
WORDS = (0xFEDCBA98_C1A2F384, 0x01234567_40490F7F, 0x00000000_80000000, 0x7FF00000_7F8001FF, 0)


def kind_and_bits(name: str) -> tuple[str, int]:
    return name[0], int(name[1:])


def allowed(access: str, register: str, load: bool) -> bool:
    """Whether the manual's tables let an access have this register."""
    (kind, bits), (other, wide) = kind_and_bits(access), kind_and_bits(register)
    if wide < bits:
        return False
    if kind == "b":
        return True
    if kind == "f":
        return other == "b" or access == register
    return other != "f"


def extended(access: str, register: str, word: int) -> int:
    """What a register holds after a load of `word`."""
    (kind, bits), (_, wide) = kind_and_bits(access), kind_and_bits(register)
    value = word & ((1 << bits) - 1)
    if kind == "s" and value >> (bits - 1):
        value -= 1 << bits
    return value & ((1 << wide) - 1)


PLACES = {f"%{t}": Place(f"r_{t}", TYPES[t]) for t in REGISTERS}
PLACES |= {f"%{t}_2": Place(f"q_{t}", TYPES[t]) for t in REGISTERS}
PLACES["%p"] = Place("p", TYPES["u64"], pointer=True)


@dataclass(frozen=True)
class Try:
    """A text with the register that it reads or writes, and what must be in it or in memory afterwards."""

    text: str
    register: str
    wanted: int
    stored: int = 0  # bytes written at the address, 0 for a load


def tries(word: int) -> Iterator[Try]:
    for access in ACCESSES:
        _, bits = kind_and_bits(access)
        for register in REGISTERS:
            if allowed(access, register, load=True):
                wanted = extended(access, register, word)
                for how in (".global", "", ".volatile.global", ".relaxed.gpu.global", ".global.nc"):
                    yield Try(f"ld{how}.{access} %{register}, [%p];", register, wanted)
                yield Try(f"ld.global.v2.{access} {{%{register}, %{register}_2}}, [%p];", register, wanted)
            if allowed(access, register, load=False):
                cut = word & ((1 << min(bits, kind_and_bits(register)[1])) - 1)
                for how in (".global", "", ".volatile.global", ".release.gpu.global"):
                    yield Try(f"st{how}.{access} [%p], %{register};", register, cut, bits // 8)
                text = f"st.global.v2.{access} [%p], {{%{register}, %{register}}};"
                yield Try(text, register, cut | cut << bits, bits // 4)
            if kind_and_bits(register)[1] == bits and access[1:] != "8" and "b" in access + register:
                yield Try(f"mov.{access} %{register}, %{register}_2;", register, extended(access, register, word))


def program(chosen: list[list[Try]]) -> str:
    out = ["#include <cu2port/ptx.hpp>", "#include <cstdio>", "#include <cstring>"]
    out.append("template <class T> T get(std::uint64_t w) { T out; std::memcpy(&out, &w, sizeof out); return out; }")
    for n, row in enumerate(chosen):
        case = row[0]
        ctype = cxx_type(TYPES[case.register])
        out.append(f"void f{n}(unsigned char* p, std::uint64_t w) {{ // {case.text}")
        start = "w" if case.stored or case.text.startswith("mov") else "0x5a5a5a5a5a5a5a5a"
        out.append(f"    {ctype} r_{case.register} = get<{ctype}>({start}), q_{case.register} = get<{ctype}>(w);")
        out += [f"    {line}" for line in emit(parse_inline(case.text), PLACES).lines]
        out.append(f"    if (!{case.stored}) std::memset(p, 0, 32), std::memcpy(p, &r_{case.register}, sizeof r_"
                   f"{case.register});\n}}")  # fmt: skip
    out.append(
        "void (*const all[])(unsigned char*, std::uint64_t) = {" + ", ".join(f"f{n}" for n in range(len(chosen)))
    )
    out.append("};\nint main() {\n    const std::uint64_t words[] = {" + ", ".join(f"{w:#x}ull" for w in WORDS) + "};")
    out.append("    for (auto f : all) for (auto w : words) { alignas(32) unsigned char m[32] = {}; ")
    out.append("        std::memcpy(m, &w, 8); f(m, w); std::fwrite(m, 1, 32, stdout); }\n}\n")
    return "\n".join(out)


def compiled(text: str, folder: Path) -> Path:
    source, binary = folder / "grid.cpp", folder / "grid"
    source.write_text(text)
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    flags = ["-std=c++17", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{INCLUDE}", "-w"]
    built = subprocess.run([compiler, *flags, "-o", str(binary), str(source)], capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()[:3000]
    return binary


def test_accesses_and_moves_keep_bits(tmp_path: Path) -> None:
    chosen = [list(row) for row in zip(*map(tries, WORDS), strict=True)]
    assert len(chosen) > 600
    done = subprocess.run([compiled(program(chosen), tmp_path)], capture_output=True, check=True)
    wrong = []
    for n, row in enumerate(chosen):
        for k, case in enumerate(row):
            at = 32 * (n * len(WORDS) + k)
            got = int.from_bytes(done.stdout[at : at + (case.stored or 8)], "little")
            if got != case.wanted:
                wrong.append(f"{case.text}: {got:#x} for {case.wanted:#x}")
    assert not wrong, f"{len(wrong)} of {len(chosen)}:\n" + "\n".join(wrong[:40])


def test_the_interpreter_keeps_them_too() -> None:
    for word in WORDS[:2]:
        for case in tries(word):
            machine = Machine(memory={"global": bytearray(struct.pack("<4Q", word, 0, 0, 0)), "shared": bytearray()})
            mask = TYPES[case.register].mask
            start = {f"%{case.register}": word & mask, f"%{case.register}_2": word & mask, "%p": 0}
            (lane,) = run(parse_inline(case.text), PLACES, [start], machine)
            if case.stored:
                got = int.from_bytes(machine.memory["global"][: case.stored], "little")
            else:
                got = lane[f"%{case.register}"]
            assert got == case.wanted, case.text


# --- parameters of modules --------------------------------------------------------------------------------------------


def module(word: int) -> tuple[str, list[tuple[str, int]]]:
    """A kernel that reads each parameter as each type into each register, itself and through calls, and writes what it
    got as 8 bytes; with what these must be."""
    lines: list[str] = []
    wanted: list[tuple[str, int]] = []
    functions: list[str] = []
    registers = "".join(f".reg .{t} r_{t}; " for t in REGISTERS)

    def write(register: str, name: str, value: int) -> None:
        _, bits = kind_and_bits(register)
        lines.append(f"mov.b{bits} t{bits}, r_{register}; cvt.u64.u{bits} t64, t{bits};" if bits < 64 else
                     f"mov.b64 t64, r_{register};")  # fmt: skip
        lines.append(f"st.global.u64 [o+{8 * len(wanted)}], t64;")
        wanted.append((name, value))

    for parameter in ACCESSES:
        bits = kind_and_bits(parameter)[1]
        functions.append(
            f".func (.param .{parameter} back) same_{parameter}(.param .{parameter} given)\n"
            f"{{ .reg .b{max(bits, 16)} x; ld.param.b{bits} x, [given]; st.param.b{bits} [back], x; ret; }}"
        )
        for access in ACCESSES:
            if kind_and_bits(access)[1] > bits:
                continue
            for register in REGISTERS:
                if allowed(access, register, load=True):
                    lines.append(f"ld.param.{access} r_{register}, [p_{parameter}];")
                    name = f"ld.param.{access} of .{parameter} to .{register}"
                    write(register, name, extended(access, register, word))
                if kind_and_bits(access)[1] == bits and allowed(access, register, load=False):
                    wide = kind_and_bits(register)[1]
                    lines.append(
                        f"{{ .param .{parameter} a; .param .{parameter} b; ld.param.b{wide} r_{register}, [w];"
                    )
                    lines.append(f"st.param.{access} [a], r_{register}; call (b), same_{parameter}, (a);")
                    lines.append(f"ld.param.b{bits} t{max(bits, 16)}, [b]; }}")
                    lines.append(f"cvt.u64.u{max(bits, 16)} t64, t{max(bits, 16)};" if bits < 64 else "")
                    lines.append(f"st.global.u64 [o+{8 * len(wanted)}], t64;")
                    cut = word & ((1 << bits) - 1)
                    wanted.append((f"st.param.{access} to .{parameter} from .{register}", cut))
    for access in ACCESSES:
        for register in REGISTERS:
            if allowed(access, register, load=True):
                lines.append(f"ld.param.v2.{access} {{r_{register}, _}}, [bytes+16];")
                write(register, f"ld.param.v2.{access} to .{register}", extended(access, register, word))
    parameters = ", ".join(f".param .{t} p_{t}" for t in ACCESSES)
    head = ".version 8.0\n.target sm_80\n.address_size 64\n" + "\n".join(functions)
    head += f"\n.entry k(.param .b64 w, .param .b64 out, {parameters}, .param .align 16 .b8 bytes[32]) {{\n{registers}"
    head += ".reg .b64 o, t64; .reg .b32 t32; .reg .b16 t16; ld.param.b64 o, [out];\n"
    return "\n".join([head, *lines, "ret; }"]), wanted


def test_parameters_keep_bits(tmp_path: Path) -> None:
    word = WORDS[0]
    text, wanted = module(word)
    done = convert(text)
    assert not done.left and len(wanted) > 400
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip/hip_runtime.h").write_text("#define __global__\n#define __device__\n")
    given = ", ".join(f"get<{cxx_type(TYPES[t])}>(w)" for t in ACCESSES)
    main = f"""
#include <cstdio>
#include <cstring>
template <class T> T get(std::uint64_t w) {{ T out; std::memcpy(&out, &w, sizeof out); return out; }}
int main() {{
    static std::uint64_t out[{len(wanted)}];
    const std::uint64_t w = {word:#x}ull;
    bytes32_16 bytes = {{}};
    std::memcpy(bytes.bytes + 16, &w, 8);
    k(w, std::uint64_t(out), {given}, bytes);
    std::fwrite(out, 8, {len(wanted)}, stdout);
}}
"""
    binary = compiled(done.text.replace("<hip/hip_runtime.h>", f'"{tmp_path}/hip/hip_runtime.h"') + main, tmp_path)
    got = struct.unpack(f"<{len(wanted)}Q", subprocess.run([binary], capture_output=True, check=True).stdout)
    wrong = [f"{name}: {g:#x} for {w:#x}" for (name, w), g in zip(wanted, got, strict=True) if g != w]
    assert not wrong, f"{len(wrong)} of {len(wanted)}:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("text", ("ld.global.u32 %u16, [%p];", "mov.b64 %f32, %b64;", "ld.global.f32 %f64, [%p];"))
def test_a_register_that_cannot_hold_the_result_is_refused(text: str) -> None:
    with pytest.raises(UntranslatableError, match="the result has type"):
        emit(parse_inline(text), PLACES)
