"""Each instruction in a kernel of its own: operands from memory, the instruction, results to memory.

The module is converted, built and run; what it writes is what the interpreter computes, any NaN as good as another.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from cu2port.ptx import interp
from cu2port.ptx.ir import Const, Operand, Pair, Reg, Type, Vector
from cu2port.ptx.module import convert
from cu2port.ptx.table import rows
from cu2port.ptx.vectors import Case, cases, same

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 200  # kernels in a module


def chosen(seed: int, most_forms: int, exact: bool = True) -> list[Case]:
    rng = Random(seed)
    found = [c for row in rows() if not row.bound or not exact for c in cases(row, 6, rng, most_forms=most_forms)]
    return [c for c in found if all(c.places[n].type.bits <= 64 for n in (*c.inputs, *c.results))]


def spelled(o: Operand) -> str:
    if isinstance(o, Reg):
        return o.name + (f".{o.select}" if o.select else "")
    if isinstance(o, Pair):
        return f"{spelled(o.first)}|{spelled(o.second)}"
    if isinstance(o, Vector):
        return "{" + ", ".join(map(spelled, o.items)) + "}"
    assert isinstance(o, Const)
    return str(o.value)


def register(t: Type) -> str:
    return ".pred" if t.kind == "p" else f".b{max(t.bits, 16)}"


def kernel(n: int, case: Case) -> str:
    """The PTX of a kernel; each thread takes one vector of inputs."""
    lines = [f".visible .entry k{n}(.param .u64 in, .param .u64 out) {{", ".reg .b64 %in, %out; .reg .b32 %t, %s;"]
    names = [x for x in dict.fromkeys((*case.inputs, *case.results)) if x != "CC"]
    lines += [f".reg {register(case.places[x].type)} {x};" for x in names]
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;"]
    lines += [
        f"mad.wide.u32 %in, %t, {8 * len(case.inputs)}, %in; mad.wide.u32 %out, %t, {8 * len(case.results)}, %out;"
    ]
    for k, name in enumerate(case.inputs):
        t = case.places[name].type
        if t.kind == "p":
            lines.append(f"ld.global.u8 %s, [%in+{8 * k}];")
            lines.append("add.cc.u32 %s, %s, -1;" if name == "CC" else f"setp.ne.u32 {name}, %s, 0;")
        else:
            lines.append(f"ld.global.b{max(t.bits, 8)} {name}, [%in+{8 * k}];")
    i = case.instruction
    lines.append(f"{i.opcode} {', '.join(map(spelled, i.operands))};")
    for k, name in enumerate(case.results):
        t = case.places[name].type
        if t.kind == "p":
            lines.append("addc.u32 %s, 0, 0;" if name == "CC" else f"selp.u32 %s, 1, 0, {name};")
            lines.append(f"st.global.u8 [%out+{8 * k}], %s;")
        else:
            lines.append(f"st.global.b{max(t.bits, 8)} [%out+{8 * k}], {name};")
    return "\n".join([*lines, "ret; }", ""])


MAIN = """
#include <cstdio>
#include <vector>
static void run(void (*kernel)(std::uint64_t, std::uint64_t), std::FILE* from, int vectors, int inputs, int results) {
    std::vector<std::uint64_t> host(vectors * (inputs > results ? inputs : results) + 1);
    std::uint64_t *in, *out;
    (void)hipMalloc(&in, host.size() * 8);
    (void)hipMalloc(&out, host.size() * 8);
    if (std::fread(host.data(), 8, vectors * inputs, from) != std::size_t(vectors * inputs)) return;
    (void)hipMemcpy(in, host.data(), host.size() * 8, hipMemcpyHostToDevice);
    (void)hipMemset(out, 0, host.size() * 8);
    kernel<<<1, vectors>>>(std::uint64_t(in), std::uint64_t(out));
    (void)hipMemcpy(host.data(), out, vectors * results * 8, hipMemcpyDeviceToHost);
    std::fwrite(host.data(), 8, vectors * results, stdout);
    (void)hipFree(in);
    (void)hipFree(out);
}
int main(int, char** arguments) {
    std::FILE* from = std::fopen(arguments[1], "rb");
CALLS    return 0;
}
"""


def outputs(found: Sequence[Case], folder: Path) -> bytes:
    """What the converted kernels write."""
    text = ".version 8.8\n.target sm_100a\n.address_size 64\n" + "".join(kernel(n, c) for n, c in enumerate(found))
    done = convert(text)
    assert not done.left, [(x.function, x.opcode, x.why) for x in done.left][:5]
    calls = "".join(
        f"    run(k{n}, from, {len(c.vectors)}, {len(c.inputs)}, {len(c.results)});\n" for n, c in enumerate(found)
    )
    (folder / "rows.hip").write_text(done.text + MAIN.replace("CALLS", calls))
    words = [w for c in found for v in c.vectors for w in v]
    (folder / "inputs").write_bytes(struct.pack(f"<{len(words)}Q", *words))
    shutil.copytree(ROOT / "translator" / "cu2port" / "include" / "cu2port", folder / "cu2port", dirs_exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    command = [sys.executable, "-c", "from cu2port.cli import main; main()", "simulate", "--wave", "32"]
    ran = subprocess.run(
        [*command, str(folder / "rows.hip"), "--", str(folder / "inputs")], env=env, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()[-3000:]
    return ran.stdout


def differences(found: Sequence[Case], output: bytes) -> list[str]:
    wrong, at = [], 0
    for case in found:
        types = [case.places[name].type for name in case.results]
        lanes = [dict(zip(case.inputs, vector, strict=True)) for vector in case.vectors]
        interp.run((case.instruction,), case.places, lanes)
        failed = ""
        for vector, lane in zip(case.vectors, lanes, strict=True):
            got = struct.unpack_from(f"<{len(types)}Q", output, at)
            at += 8 * len(types)
            wanted = tuple(lane[name] for name in case.results)
            if not failed and not all(same(t, w, g) for t, w, g in zip(types, wanted, got, strict=True)):
                text = " ".join([case.instruction.opcode, *map(spelled, case.instruction.operands)])
                failed = (
                    f"{text} on {[hex(v) for v in vector]}: {[hex(g) for g in got]}, not {[hex(w) for w in wanted]}"
                )
        wrong += [failed] if failed else []
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_kernels_of_one_instruction(part: int, tmp_path: Path) -> None:
    found = chosen(1, 1)
    found = found[len(found) * part // 12 : len(found) * (part + 1) // 12]
    wrong = differences(found, outputs(found, tmp_path))
    assert not wrong, f"{len(wrong)} of {len(found)} differ:\n" + "\n".join(wrong[:20])
