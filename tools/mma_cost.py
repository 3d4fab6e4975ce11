"""How many instructions a `mma` takes on AMD GPUs: of LDS (exchange between lanes), vector and matrix instructions.

    python tools/mma_cost.py --rocm ROOT [--write docs/ptx.md]

A kernel multiplies one A by 8 tiles of B, and another one by 16; their difference, divided by 8, is the cost of one
`mma` with A in use again. Operands are opaque registers: no load is counted. On gfx9 one instruction serves both
warps of a wavefront. ROOT holds include/hip and share/hip; clang++-22 or clang++ compiles.

There are three tables: of vector instructions alone (CU2PORT_MMA_PORTABLE); of matrix instructions, where all lanes of
a wavefront are there: tested at each `mma`, or promised (CU2PORT_MMA_FULL_WAVES); and in tiles: with the sums of a loop
where matrix instructions have them, and lanes looked for before it. Of a loop its body counts, without what begins and
ends it. What no matrix instruction of a GPU multiplies has no tiles there.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from tables import replaced, row_text

from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.matrix_forms import SUMS, instruction, keeps, kinds

INCLUDE = Path(__file__).parent.parent / "translator/cu2port/include"
GPUS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
MATRIX_GPUS = GPUS  # all have matrix instructions
FORMS = (
    Form("m16n8k8", "f32", "f16", "f16", "f32"),
    Form("m16n8k16", "f32", "f16", "f16", "f32"),
    Form("m16n8k16", "f32", "f16", "f16", "f32", "fast"),
    Form("m16n8k16", "f16", "f16", "f16", "f16"),
    Form("m16n8k16", "f32", "bf16", "bf16", "f32"),
    Form("m16n8k16", "f32", "bf16", "bf16", "f32", "fast"),
    Form("m16n8k8", "f32", "tf32", "tf32", "f32"),
    Form("m16n8k32", "f32", "e4m3", "e4m3", "f32"),
    Form("m8n8k4", "f64", "f64", "f64", "f64"),
    Form("m8n8k16", "s32", "s8", "s8", "s32"),
    Form("m16n8k32", "s32", "s8", "s8", "s32"),
    Form("m16n8k32", "s32", "u8", "s8", "s32"),
    Form("m16n8k64", "s32", "s4", "s4", "s32"),
    Form("m16n8k256", "s32", "b1", "b1", "s32", "xor_popc"),
    Form("m8n8k4", "f32", "f16", "f16", "f32", orders=("row", "col")),
)
_TYPES = {"f32": "float", "f64": "double", "s32": "int", "u32": "unsigned"}
_INSTRUCTION = re.compile(r"^\s+([a-z]\w*)", re.M)


def kernel(form: Form, tiles: int, name: str) -> str:
    """A kernel that multiplies one A by that many B, each with a C of its own."""
    names = {m: [f"{m.lower()}{i}" for i in range(form.registers(m))] for m in "ABC"}
    types = {m: _TYPES[form.register(m).name] for m in "ABC"}

    def opaque(m: str) -> str:
        return " ".join(f'{types[m]} {name}; asm volatile("" : "=v"({name}));' for name in names[m])

    call = f"cu2port::mma::{form.function}({', '.join('{' + ', '.join(names[m]) + '}' for m in 'ABC')})"
    used = "".join(f' asm volatile("" :: "v"(d[{i}]));' for i in range(form.registers("D")))
    tile = f"    {{ {opaque('B')} {opaque('C')} const auto d = {call};{used} }}\n"
    return f"__global__ void {name}() {{\n    {opaque('A')}\n{tile * tiles}}}\n"


def kernel_in_tiles(form: Form, tiles: int, name: str) -> str:
    """The same in a loop, through which the sums stay in tiles, and in which all lanes stay together."""
    names = {m: [f"{m.lower()}[{i}]" for i in range(form.registers(m))] for m in "AB"}
    opaque = {m: "".join(f' asm volatile("" : "=v"({name}));' for name in names[m]) for m in "AB"}
    count, type_ = form.registers("D"), _TYPES[form.register("D").name]
    c = ", ".join(f"c[j][{i}]" for i in range(count))
    a, b = (", ".join(names[m]) for m in "AB")
    call = f"cu2port::mma::{form.function}({{{a}}}, {{{b}}}, {{{c}}}, kept.at(c, c[j]))"
    return f"""__global__ void __attribute__((amdgpu_flat_work_group_size(1, 256))) {name}(int steps) {{
    {type_} c[{tiles}][{count}];
    for (int j = 0; j < {tiles}; ++j) for (int i = 0; i < {count}; ++i) c[j][i] = 0;
    cu2port::mma::in_tiles<{kinds(form)}, {SUMS[form.d]}>(c, [&](auto& kept) __attribute__((always_inline)) {{
        for (int step = 0; step < steps; ++step) {{
            unsigned a[{len(names["A"])}];{opaque["A"]}
#pragma unroll
            for (int j = 0; j < {tiles}; ++j) {{
                unsigned b[{len(names["B"])}];{opaque["B"]}
                const auto d = {call};
                for (int i = 0; i < {count}; ++i) c[j][i] = d[i];
            }}
        }}
    }});
    for (int j = 0; j < {tiles}; ++j) for (int i = 0; i < {count}; ++i) asm volatile("" :: "v"(c[j][i]));
}}
"""


PORTABLE, PROMISED, TESTED = "CU2PORT_MMA_PORTABLE", "CU2PORT_MMA_FULL_WAVES", ""
IN_TILES = "IN_TILES"


def source(forms: Sequence[Form], define: str = PORTABLE) -> str:
    """For form n kernels `k8_n` and `k16_n`. `define`: macros, `IN_TILES` among them for sums that stay in tiles."""
    made = kernel_in_tiles if IN_TILES in define.split() else kernel
    head = "".join(f"#define {name}\n" for name in define.split())
    kernels = "".join(made(form, tiles, f"k{tiles}_{n}") for n, form in enumerate(forms) for tiles in (8, 16))
    return f"{head}#include <hip/hip_runtime.h>\n#include <cu2port/mma.hpp>\n{kernels}"


def kind(name: str) -> str:
    """What an instruction counts as; "" for those of scalars and memory."""
    if name.startswith(("v_mfma", "v_smfma", "v_wmma", "v_swmma")):
        return "matrix"
    return "lds" if name.startswith("ds_") else "vector" if name.startswith("v_") else ""


def with_matrix(code: str) -> str:
    """Of code that chooses by tests, the blocks with matrix instructions; else all of it."""
    blocks = re.split(r"^(?=\.LBB\w+:|; %bb)", code, flags=re.M)
    return "".join(b for b in blocks if re.search(r"^\s+v_s?w?mf?ma", b, re.M)) or code


def counted(assembly: str) -> list[dict[str, float]]:
    """Instructions of each kind for one `mma` of each form, from the code of its `k8` and `k16`."""
    counts: dict[tuple[int, int], Counter[str]] = {}
    for part in re.split(r"^(?=\w+:)", assembly, flags=re.M):
        found = re.match(r"(?:_Z\d+)?k(\d+)_(\d+)", part)
        if found is not None and "s_endpgm" in part:
            names = _INSTRUCTION.findall(with_matrix(part.partition("s_endpgm")[0]))
            counts[int(found[2]), int(found[1])] = Counter(kind(name) for name in names)
    forms = sorted({n for n, _ in counts})
    return [{k: (counts[n, 16][k] - counts[n, 8][k]) / 8 for k in ("lds", "vector", "matrix")} for n in forms]


def compiled(text: str, gpu: str, rocm: Path) -> str:
    compiler = next((c for c in ("clang++-22", "clang++") if shutil.which(c)), "clang++")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.hip"
        path.write_text(text, encoding="utf-8")
        command = [compiler, "-x", "hip", f"--offload-arch={gpu}", "--cuda-device-only", "-O3", "-std=c++17", "-w"]
        command += ["-nogpulib", f"--rocm-path={rocm}", f"-I{INCLUDE}", "-S", "-o", "-", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{gpu}: {done.stderr[:2000]}")
    return done.stdout


def cell(cost: dict[str, float]) -> str:
    return " + ".join(f"{round(cost[k])}" for k in ("lds", "vector", "matrix"))


def shown(form: Form) -> str:
    """A form as the manual writes it."""
    words = [form.shape, *(o for o in form.orders if o), form.d, form.a, form.b, form.c]
    return f"`{'.'.join(words)}`" + {"fast": ", `fast`", "xor_popc": ", xor"}.get(form.suffix, "")


def matrix_rows() -> list[tuple[str, Form, str]]:
    """What the table of matrix instructions has: the name of a row, the form, what is defined."""
    forms = [f for f in FORMS if any(instruction(f, gpu) for gpu in MATRIX_GPUS)]
    ways = ((", tested", TESTED), (", promised", PROMISED))
    return [(shown(f) + how, f, d) for f in forms for how, d in ways]


def tile_rows() -> list[tuple[str, Form, str]]:
    """The same of the table of sums in tiles."""
    return [(shown(f), f, IN_TILES) for f in FORMS if keeps(f)]


def table(rocm: Path, rows: Sequence[tuple[str, Form, str]], gpus: Sequence[str]) -> str:
    defines = list(dict.fromkeys(define for _, _, define in rows))
    cells: dict[tuple[str, str], str] = {}
    for gpu, define in product(gpus, defines):
        of = [(name, form) for name, form, d in rows if d == define]
        costs = counted(compiled(source([form for _, form in of], define), gpu, rocm))
        there = [define != IN_TILES or instruction(form, gpu, kept=True) for _, form in of]
        found = zip(of, costs, there, strict=True)
        cells.update({(name, gpu): cell(cost) if here else "" for (name, _), cost, here in found})
    out = row_text(["LDS + vector + matrix instructions", *gpus]) + row_text(["---", *["--:"] * len(gpus)])
    return out + "".join(row_text([name, *(cells[name, gpu] for gpu in gpus)]) for name, _, _ in rows)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocm", type=Path, required=True)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the tables of a document")
    options = parser.parse_args(argv)
    portable = [(shown(form), form, PORTABLE) for form in FORMS]
    made = {
        "mma-cost": table(options.rocm, portable, GPUS),
        "mma-matrix-cost": table(options.rocm, matrix_rows(), MATRIX_GPUS),
        "mma-tile-cost": table(options.rocm, tile_rows(), MATRIX_GPUS),
    }
    if options.write is None:
        print(*made.values(), sep="\n", end="")
    else:
        text = options.write.read_text(encoding="utf-8")
        for name, rows in made.items():
            text = replaced(text, name, rows)
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
