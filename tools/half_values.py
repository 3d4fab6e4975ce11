"""Whether functions, operators and types of halves and smaller floats have CUDA's values after conversion.

    python tools/half_values.py -I DIR... [--executor-dir DIR] [--arch gfx942] [--only REGEX] [--keep DIR]

DIR of -I holds CUDA's headers, whose cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h and cuda_fp4.h have code for
the host: what g++ makes of it is the first witness. The second is a program that calls the same functions on a GPU: it
is converted, and its machine code for --arch is run by the executor of --executor-dir (see `cu2port simulate
--executor`); without one it runs in the simulator. Roundings to integers, whose code is for GPUs only, are compared
with <cmath>. Any NaN is as good as another.

Prints each function that has other values, and the first of them. An executor may be wrong, too: read its machine code.

Exit: 0, 1 when values differ, 2 when it could not run.
"""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

SEED = 20261201
COUNT = 1024  # operands of each function
HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
#: Bits behind the point, and those of infinity.
FLOATS = {
    "__half": (10, 0x7C00),
    "__nv_bfloat16": (7, 0x7F80),
    "float": (23, 0x7F800000),
    "double": (52, 0x7FF << 52),
}
HALVES = ("__half", "__nv_bfloat16")
PAIRS = {"__half2": "__half", "__nv_bfloat162": "__nv_bfloat16", "float2": "float"}
SIZES = {
    "__half": 2, "__half2": 4, "__nv_bfloat16": 2, "__nv_bfloat162": 4, "float": 4, "float2": 8, "double": 8, "bool": 1,
    "signed char": 1, "unsigned char": 1, "short": 2, "short int": 2, "unsigned short": 2, "unsigned short int": 2,
    "int": 4, "unsigned": 4, "unsigned int": 4, "long long": 8, "long long int": 8, "unsigned long long": 8,
    "unsigned long long int": 8,
}  # fmt: skip
#: Types that hold the bits of a number, and the type of that number.
RAW = {
    "__half_raw": "__half", "__half2_raw": "__half2", "__nv_bfloat16_raw": "__nv_bfloat16",
    "__nv_bfloat162_raw": "__nv_bfloat162", "__nv_fp8_storage_t": "unsigned char",
    "__nv_fp6_storage_t": "unsigned char", "__nv_fp4_storage_t": "unsigned char",
    "__nv_fp4x2_storage_t": "unsigned char",
    "__nv_fp8x2_storage_t": "unsigned short", "__nv_fp6x2_storage_t": "unsigned short",
}  # fmt: skip
#: Parameters that are written into the call.
CHOICES = {
    "__nv_saturation_t": ("__NV_NOSAT", "__NV_SATFINITE"),
    "__nv_fp8_interpretation_t": ("__NV_E4M3", "__NV_E5M2"),
    "__nv_fp6_interpretation_t": ("__NV_E2M3", "__NV_E3M2"),
    "__nv_fp4_interpretation_t": ("__NV_E2M1",),
    "enum cudaRoundMode": ("cudaRoundNearest", "cudaRoundZero", "cudaRoundPosInf", "cudaRoundMinInf"),
}
SMALL = ("fp8_e4m3", "fp8_e5m2", "fp8_e8m0", "fp6_e2m3", "fp6_e3m2", "fp4_e2m1")
ROUNDINGS = {"rn": "nearbyint", "rz": "trunc", "rd": "floor", "ru": "ceil"}
INTEGERS = {
    "int": "int", "uint": "unsigned int", "short": "short int", "ushort": "unsigned short int",
    "ll": "long long int", "ull": "unsigned long long int",
}  # fmt: skip
_DECLARED = re.compile(r"__CUDA_HOSTDEVICE_(?:FP16|BF16|FP8|FP6|FP4)_DECL__\s+([\w ]+?)\s+(\w+)\(([^()]*)\);")


@dataclass(frozen=True)
class Case:
    """A call: `text` has {0}, {1} for its operands. `witness`: what the host computes instead."""

    name: str
    result: str
    operands: tuple[str, ...]
    text: str
    witness: str = ""


def declared(header: Path) -> Iterator[Case]:
    """The functions of a header that have code for the host, once for each choice of their constants."""
    since_13 = "ue5m3" in (header.parent / "cuda_fp8.h").read_text(errors="replace")
    for match in _DECLARED.finditer(header.read_text(errors="replace")):
        kinds = [re.sub(r"\bconst\b|\s\w+$", "", " ".join(part.split())).strip() for part in match[3].split(",")]
        result = re.sub(r"\bconst\b", "", match[1]).strip()
        operands = tuple(kind for kind in kinds if kind not in CHOICES)
        if any(kind not in SIZES and kind not in RAW for kind in (result, *operands)) or "ue5m3" in match[2]:
            continue  # ue5m3 is left by hand
        choices = [
            CHOICES.get(kind, (f"{{{sum(k not in CHOICES for k in kinds[:i])}}}",)) for i, kind in enumerate(kinds)
        ]
        for chosen in itertools.product(*choices):
            constants = [x for x in chosen if not x.startswith("{")]
            if _refused(match[2], constants, since_13):
                continue
            name = " ".join([match[2], *constants])
            yield Case(name, result, operands, f"{match[2]}({', '.join(chosen)})")


def _refused(name: str, constants: Sequence[str], since_13: bool) -> bool:
    """Whether CUDA's header does not take a rounding; since 13 it takes more."""
    wrong = {"cudaRoundMinInf"} if "e8m0" in name else set[str]()
    if not since_13:
        wrong |= {"cudaRoundNearest"} if "e8m0" in name else {"cudaRoundPosInf", "cudaRoundMinInf"}
    return not wrong.isdisjoint(constants)


def small_types() -> Iterator[Case]:
    """Classes of numbers of 8, 6 and 4 bits: from other types, and to them."""
    for word in SMALL:
        kind = f"__nv_{word}"
        for other in SIZES:
            if other in PAIRS or other.endswith(" int"):
                continue
            if other not in ("bool", "signed char", "unsigned char"):
                yield Case(f"{kind} of {other}", "unsigned char", (other,), f"{kind}({{0}}).__x")
            made = f"of_bits<{kind}>({{0}})"
            yield Case(f"{other} of {kind}", other, ("unsigned char",), f"static_cast<{other}>({made})")
        two = kind.replace("_e", "x2_e")
        bits = "unsigned char" if "fp4" in word else "unsigned short"
        for other in ("float2", "__half2", "__nv_bfloat162"):
            yield Case(f"{two} of {other}", bits, (other,), f"{two}({{0}}).__x")
        for other in ("float2", "__half2"):
            yield Case(f"{other} of {two}", other, (bits,), f"static_cast<{other}>(of_bits<{two}>({{0}}))")


def roundings() -> Iterator[Case]:
    """Conversions to integers whose code is for GPUs only."""
    for kind, word, wide in (
        ("__half", "half", "__half2float"),
        ("__nv_bfloat16", "bfloat16", "__bfloat162float"),
    ):
        for name, integer in INTEGERS.items():
            for mode, function in ROUNDINGS.items():
                call = f"__{word}2{name}_{mode}"
                yield Case(
                    call, integer, (kind,), f"{call}({{0}})", f"kept<{integer}>(std::{function}(double({wide}({{0}}))))"
                )


def operators() -> Iterator[Case]:
    """Operators, conversions to other types and from them."""
    for kind in ("__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"):
        for op in ("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">="):
            yield Case(f"{kind} {op}", kind if op in "+-*/" else "bool", (kind, kind), f"({{0}} {op} {{1}})")
        yield Case(f"-{kind}", kind, (kind,), "(-{0})")
        if kind in PAIRS:
            continue
        for other in SIZES:
            if other in PAIRS or other in HALVES or other.endswith(" int"):
                continue
            if other != "double":
                yield Case(f"{other} of {kind}", other, (kind,), f"static_cast<{other}>({{0}})")
            if "char" not in other and other != "bool" and not (kind == "__nv_bfloat16" and "long" in other):
                yield Case(f"{kind} of {other}", kind, (other,), f"static_cast<{kind}>({{0}})")


def numbers(kind: str, draw: random.Random) -> list[int]:
    """Bits of COUNT values of a type, with those at its ends."""
    kind = RAW.get(kind, kind)
    size = SIZES[kind] * 8
    if kind in PAIRS:
        one = numbers(PAIRS[kind], draw)
        return [draw.choice(one) | draw.choice(one) << size // 2 for _ in range(COUNT)]
    if kind in FLOATS:
        return _floats(kind, size, draw)
    top = (1 << size) - 1
    some = [0, 1, 2, 3, top, top - 1, top >> 1, (top >> 1) + 1, (top >> 1) - 1]
    some += [2047, 2048, 2049, 2051, 4097, 65504, 65519, 65520]
    while len(some) < COUNT:
        value = draw.getrandbits(draw.randint(1, size))
        some.append(value if draw.random() < 0.5 else top + 1 - value)
    return [value & top for value in some[:COUNT]]


def _floats(kind: str, size: int, draw: random.Random) -> list[int]:
    fraction, infinite = FLOATS[kind]
    bias = infinite >> fraction >> 1
    ends = [0, 1, infinite, infinite + 1 + (1 << (fraction - 1)), infinite - 1, 1 << fraction, (1 << fraction) - 1]
    some = [bits | sign << (size - 1) for bits in ends for sign in (0, 1)]
    for exponent in (-2, -1, 0, 1, 2, 7, 8, 14, 15):
        for last in (0, 1, (1 << fraction) - 1, 1 << (fraction - 1), (1 << (fraction - 1)) + 1):
            some += [(bias + exponent << fraction) + last | sign << (size - 1) for sign in (0, 1)]
    while len(some) < COUNT:
        exponent = draw.randint(-18, 20) if draw.random() < 0.8 else draw.randint(-bias, bias)
        exponent = max(-bias, min(bias, exponent))
        some.append((bias + exponent << fraction) | draw.getrandbits(fraction) | draw.getrandbits(1) << (size - 1))
    draw.shuffle(some)
    return some[:COUNT]


COMMON = r"""
#include <cstdio>
#include <cstring>
#include <cmath>
#include <limits>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
typedef unsigned long long Bits;
template <class T> __host__ __device__ T get(Bits bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T> __host__ __device__ Bits put(T value) {
    Bits bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T, class U> __host__ __device__ T of_bits(U bits) {
    T value;
    value.__x = bits;
    return value;
}
template <class T> T kept(double value) {
    typedef std::numeric_limits<T> limits;
    if (value != value) return sizeof(T) == 8 ? T(1ull << 63) : 0;
    return value <= double(limits::min()) ? limits::min() : value >= double(limits::max()) ? limits::max() : T(value);
}
static std::vector<Bits> read(const char* name, int count) {
    std::vector<Bits> all(count);
    FILE* file = fopen(name, "rb");
    if (!file || fread(all.data(), 8, count, file) != size_t(count)) all.clear();
    if (file) fclose(file);
    return all;
}
"""


def source(cases: Sequence[Case], folder: Path, *, on_gpu: bool) -> str:
    """A program that writes a line of COUNT hexadecimal numbers for each case."""
    side = "__global__ void" if on_gpu else "static void"
    place = "int i = blockIdx.x * blockDim.x + threadIdx.x;" if on_gpu else f"for (int i = 0; i < {COUNT}; i++)"
    size = 8 * COUNT
    out = [COMMON]
    main = [f"    Bits *a, *b, *c, *out;\n    std::vector<Bits> got({COUNT});\n"]
    main.append(f'    FILE* to = fopen("{folder}/{"gpu" if on_gpu else "host"}.out", "w");\n')
    for name in ("a", "b", "c", "out"):
        main.append(f"    cudaMalloc(&{name}, {size});\n" if on_gpu else f"    {name} = new Bits[{COUNT}];\n")
    for i, case in enumerate(cases):
        values = [f"{kind} {'xyz'[k]} = get<{kind}>({'abc'[k]}[i]);" for k, kind in enumerate(case.operands)]
        text = case.text if on_gpu or not case.witness else case.witness
        out.append(f"{side} k{i}(const Bits* a, const Bits* b, const Bits* c, Bits* out) {{\n")
        out.append(f"    {place} {{\n        {' '.join(values)}\n")
        out.append(f"        out[i] = put<{case.result}>({text.format(*'xyz')});\n    }}\n}}\n")
        for k in range(len(case.operands)):
            to, of = "abc"[k], f'read("{folder}/{i}.{k}", {COUNT}).data()'
            copy = (
                f"cudaMemcpy({to}, {of}, {size}, cudaMemcpyHostToDevice)" if on_gpu else f"memcpy({to}, {of}, {size})"
            )
            main.append(f"    {copy};\n")
        launch = f"<<<{COUNT // 64}, 64>>>" if on_gpu else ""
        main.append(f'    k{i}{launch}(a, b, c, out);\n    fprintf(to, "{i}");\n')
        if on_gpu:
            main.append('    if (cudaGetLastError() || cudaDeviceSynchronize()) fprintf(to, " failed");\n')
            main.append(f"    cudaMemcpy(got.data(), out, {size}, cudaMemcpyDeviceToHost);\n")
        else:
            main.append(f"    memcpy(got.data(), out, {size});\n")
        main.append('    for (Bits one : got) fprintf(to, " %llx", one);\n    fprintf(to, "\\n");\n')
    return "".join([*out, "int main() {\n", *main, "    fclose(to);\n}\n"])


def same(kind: str, one: int, other: int) -> bool:
    """Whether bits of a type are equal, or both those of a NaN."""
    kind = RAW.get(kind, kind)
    if kind in PAIRS:
        width = SIZES[kind] * 4
        mask = (1 << width) - 1
        return same(PAIRS[kind], one & mask, other & mask) and same(PAIRS[kind], one >> width, other >> width)
    return one == other or (_is_nan(kind, one) and _is_nan(kind, other))


def _is_nan(kind: str, bits: int) -> bool:
    return kind in FLOATS and bits & ((1 << (SIZES[kind] * 8 - 1)) - 1) > FLOATS[kind][1]


def _run(command: list[str], folder: Path, makes: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and not (folder / makes).exists():
        click.echo(f"{command[0]} stopped with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}", err=True)
        sys.exit(2)


def differences(cases: Sequence[Case], operands: Sequence[Sequence[list[int]]], folder: Path) -> Iterator[str]:
    """A line for each function whose values differ, or that could not be run."""
    lines = [(folder / f"{side}.out").read_text().splitlines() for side in ("host", "gpu")]
    for i, (one, other) in enumerate(zip(*lines, strict=True)):
        if " failed " in other:
            yield f"{cases[i].name}: the executor could not run it"
            continue
        pairs = [(int(x, 16), int(y, 16)) for x, y in zip(one.split()[1:], other.split()[1:], strict=True)]
        bad = [k for k, (x, y) in enumerate(pairs) if not same(cases[i].result, x, y)]
        if bad:
            k = bad[0]
            given = ", ".join(f"{column[k]:#x}" for column in operands[i])
            yield f"{cases[i].name}({given}): {pairs[k][0]:#x}, not {pairs[k][1]:#x}; {len(bad)} of {COUNT}"


@click.command(help=__doc__)
@click.option("-I", "headers", multiple=True, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--executor-dir", type=click.Path(exists=True))
@click.option("--arch", default="gfx942", show_default=True)
@click.option("--only", default="")
@click.option("--keep", type=click.Path(path_type=Path))
def main(headers: tuple[Path, ...], executor_dir: str | None, arch: str, only: str, keep: Path | None) -> None:
    found = [path / name for name in HEADERS for path in headers if (path / name).exists()]
    cases = [case for path in found for case in declared(path)] + list(operators()) + list(small_types())
    known = {(case.name, case.operands) for case in cases}
    cases += [case for case in roundings() if (case.name, case.operands) not in known]
    cases = [case for case in cases if re.search(only, case.name)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = (keep or Path(temporary)).absolute()
        folder.mkdir(exist_ok=True, parents=True)
        draw = random.Random(SEED)
        operands = [[numbers(kind, draw) for kind in case.operands] for case in cases]
        for i, columns in enumerate(operands):
            for k, column in enumerate(columns):
                (folder / f"{i}.{k}").write_bytes(b"".join(value.to_bytes(8, "little") for value in column))
        (folder / "host.cpp").write_text(source(cases, folder, on_gpu=False))
        (folder / "gpu.cu").write_text(source(cases, folder, on_gpu=True))
        (folder / "gpu.out").unlink(missing_ok=True)
        includes = [f"-I{path.absolute()}" for path in headers]
        _run(["g++", "-std=c++17", "-w", "-O1", *includes, "host.cpp", "-o", "host"], folder, "host")
        _run(["./host"], folder, "host.out")
        where = ["--executor", arch, "--executor-dir", executor_dir] if executor_dir else ["--wave", "64"]
        simulate = [sys.executable, "-m", "cu2port", "simulate", "gpu.cu", "--time-limit", "900"]
        _run([*simulate, *where], folder, "gpu.out")
        bad = list(differences(cases, operands, folder))
    for line in bad:
        click.echo(line)
    click.echo(f"{len(cases)} functions, {len(bad)} with other values")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
