"""Loads, stores and atomics: emitted C++ on the CPU and the interpreter leave the same memory and the same results."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from cu2port.ptx.emit import emit
from cu2port.ptx.interp import Machine, run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"
SIZE = 256  # bytes; the address is in the middle
PLACES = {
    "%0": Place("d", TYPES["u32"]),
    "%1": Place("e", TYPES["u32"]),
    "%2": Place("D", TYPES["u64"]),
    "%3": Place("p", TYPES["u64"], pointer=True),
    "%4": Place("a", TYPES["u32"]),
    "%5": Place("b", TYPES["u32"]),
    "%6": Place("A", TYPES["u64"]),
    "%7": Place("B", TYPES["u64"]),
    "%8": Place("f", TYPES["f32"]),
    "%9": Place("h", TYPES["u16"]),
}
NAMES = tuple(PLACES)


def texts() -> list[str]:
    out = []
    for how in ("", ".global", ".volatile.global", ".relaxed.gpu.global", ".acquire.sys", ".relaxed.cta.global"):
        out += [f"ld{how}.{t} %0, [%3+8];" for t in ("u8", "s8", "u16", "s16", "b32", "u32", "s32")]
        out += [f"ld{how}.u64 %2, [%3-16];", f"ld{how}.f32 %8, [%3];", f"ld{how}.v2.u32 {{%0, %1}}, [%3];"]
        out += [f"ld{how}.v4.u32 {{%0, _, _, %1}}, [%3+16];", f"ld{how}.b8 %2, [%3+1];"]
    out += [f"ld.global.{how}.u32 %0, [%3+4];" for how in ("ca", "cg", "cs", "lu", "cv", "nc", "nc.L1::no_allocate")]
    out += ["ld.global.nc.L2::128B.v4.f32 {%8, _, _, _}, [%3];", "ldu.global.u32 %0, [%3];"]
    for how in ("", ".global", ".volatile.global", ".release.gpu.global", ".relaxed.sys"):
        out += [f"st{how}.{t} [%3+8], %4;" for t in ("u8", "u16", "b32")]
        out += [f"st{how}.u64 [%3-16], %6;", f"st{how}.f32 [%3], %8;", f"st{how}.v4.u32 [%3+16], {{%4, %5, 7, %4}};"]
    out += [f"st.global.{how}.u32 [%3+4], %4;" for how in ("wb", "cg", "cs", "wt")]
    for how in ("", ".global", ".relaxed.cta.global", ".acq_rel.sys.global"):
        out += [f"atom{how}.{op}.b32 %0, [%3], %4;" for op in ("and", "or", "xor", "exch")]
        out += [f"atom{how}.add.{t} %0, [%3], %4;" for t in ("u32", "s32")]
        out += [f"atom{how}.{op}.{t} %0, [%3+4], %4;" for op in ("min", "max") for t in ("u32", "s32")]
        out += [f"atom{how}.{op}.{t} %2, [%3+8], %6;" for op in ("min", "max") for t in ("u64", "s64")]
        out += [f"atom{how}.inc.u32 %0, [%3], %4;", f"atom{how}.dec.u32 %0, [%3], %4;"]
        out += [f"atom{how}.cas.b32 %0, [%3], %4, %5;", f"atom{how}.cas.b64 %2, [%3], %6, %7;"]
        out += [
            f"atom{how}.add.u64 %2, [%3], %6;",
            f"atom{how}.exch.b64 %2, [%3], %6;",
            f"atom{how}.add.f32 %8, [%3], %8;",
        ]
        out += [f"atom{how}.cas.b16 %9, [%3+2], %9, %9;"]
        out += [f"atom{how}.add.noftz.f16x2 %0, [%3], %4;", f"atom{how}.add.noftz.bf16 %9, [%3+2], %9;"]
    out += [f"red.global.{op}.u32 [%3], %4;" for op in ("add", "inc", "dec", "min", "max")]
    out += ["red.release.gpu.global.add.u32 [%3], 5;", "red.global.add.v2.f32 [%3], {%8, 0f3F800000};"]
    out += ["atom.global.add.v2.f32 {%0, %1}, [%3], {%8, %8};"]
    return out


def registers(rng: Random, word: int) -> dict[str, int]:
    """Inputs; some equal what is in memory, as compare-and-swap wants."""
    near = rng.choice([word & 0xFFFFFFFF, rng.getrandbits(32), rng.randrange(3)])
    values = {name: rng.getrandbits(PLACES[name].type.bits) for name in NAMES if name != "%3"}
    return values | {
        "%4": near,
        "%6": rng.choice([word, rng.getrandbits(64)]),
        "%8": 0x3F800000 + rng.randrange(1 << 20),
    }


def program(chosen: list[str], starts: list[tuple[bytes, dict[str, int]]]) -> str:
    out = ["#include <cu2port/ptx.hpp>", "#include <cstdio>", "#include <cstring>"]
    out.append("template <class T> T get(std::uint64_t w) { T out; std::memcpy(&out, &w, sizeof out); return out; }")
    head = "template <class T> std::uint64_t put(T v) { std::uint64_t w = 0; "
    out.append(head + "std::memcpy(&w, &v, sizeof v); return w; }")
    for n, text in enumerate(chosen):
        out.append(f"void f{n}(std::uint64_t* r, unsigned char* p) {{ // {text}")
        kinds = {"u16": "std::uint16_t", "u32": "std::uint32_t", "u64": "std::uint64_t", "f32": "float"}
        mine = [(i, PLACES[name]) for i, name in enumerate(NAMES) if name != "%3"]
        out += [f"    auto {place.text} = get<{kinds[place.type.name]}>(r[{i}]);" for i, place in mine]
        out += [f"    {line}" for line in emit(parse_inline(text), PLACES).lines]
        out += [f"    r[{i}] = put({place.text});" for i, place in mine] + ["}"]
    out.append(f"int main() {{\n    alignas(16) static unsigned char memory[{SIZE}];\n    std::uint64_t r[10];")
    for n, (start, values) in enumerate(starts):
        data = ", ".join(map(str, start))
        given = ", ".join(f"{values.get(name, 0)}ull" for name in NAMES)
        out.append(f"    {{ const unsigned char m[] = {{{data}}}; const std::uint64_t v[] = {{{given}}};")
        out.append(f"    std::memcpy(memory, m, sizeof m); std::memcpy(r, v, sizeof v); f{n}(r, memory + {SIZE // 2});")
        out.append('    for (auto x : r) std::printf("%llx ", (unsigned long long)x);')
        out.append('    for (auto x : memory) std::printf("%02x", x);\n    std::puts(""); }')
    return "\n".join([*out, "}\n"])


def test_memory(tmp_path: Path) -> None:
    rng, chosen = Random(5), texts()
    starts = []
    for _ in chosen:
        memory = bytearray(rng.randbytes(SIZE))
        # sums of moderate floats and halves
        memory[SIZE // 2 : SIZE // 2 + 8] = bytes.fromhex(
            "0000803f00000040" if rng.random() < 0.5 else "003c003e01000080"
        )
        word = int.from_bytes(memory[SIZE // 2 : SIZE // 2 + 8], "little")
        starts.append((bytes(memory), registers(rng, word)))
    source, binary = tmp_path / "memory.cpp", tmp_path / "memory"
    source.write_text(program(chosen, starts))
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    flags = ["-std=c++17", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{INCLUDE}", "-w"]
    built = subprocess.run([compiler, *flags, "-o", str(binary), str(source)], capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()[:3000]
    done = subprocess.run([binary], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for text, (start, values), line in zip(chosen, starts, done.stdout.splitlines(), strict=True):
        machine = Machine(memory={"global": bytearray(start), "shared": bytearray()})
        (lane,) = run(parse_inline(text), PLACES, [dict(values) | {"%3": SIZE // 2}], machine)
        *words, after = line.split()
        wanted = [lane[name] for name in NAMES if name != "%3"]
        got = [int(w, 16) for name, w in zip(NAMES, words, strict=True) if name != "%3"]
        assert (got, after) == (wanted, machine.memory["global"].hex()), text


def test_the_host_reads_code_that_asks_for_a_space() -> None:
    """A module's functions, unlike templates, are looked through on both sides."""
    calls = " + ".join(f"cu2port::ptx::isspacep_{space}(p)" for space in ("shared", "local", "global"))
    text = f"#include <cu2port/ptx.hpp>\nstatic inline int f(unsigned long long p) {{ return {calls}; }}\n"
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", "-xc++", "-"]
    if shutil.which("g++") is None:
        pytest.skip("no gcc")
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
