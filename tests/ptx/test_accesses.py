"""What loads and stores of asm statements become: accesses that polls can wait for, and that types do not reorder.

The machine code of gfx942 is read: a wait that the compiler deleted, moved out of its loop, or gave to a cache that
never sees another block's store shows there and nowhere on a CPU.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from amd_code import INCLUDE, machine_code

from cu2port.engine.translate import translate

# How a statement of a poll says load -> what the loop must hold. sc1 (and sc0) is what sees other blocks' stores.
POLLS = {
    "volatile:ld.global.cg.u32": r"global_load_dword .* sc1",
    "volatile:ld.global.cg.b32:memory": r"global_load_dword .* sc1",
    "plain:ld.global.cg.b32:memory": r"global_load_dword .* sc1",
    "volatile:ld.global.cv.u32": r"global_load_dword .* sc0 sc1",
    "volatile:ld.volatile.global.u32": r"global_load_dword .* sc0 sc1",
    "plain:ld.volatile.global.u32": r"global_load_dword .* sc0 sc1",
    "plain:ld.relaxed.gpu.global.u32": r"global_load_dword .* sc1",
    "plain:ld.relaxed.sys.global.u32": r"global_load_dword .* sc0 sc1",
    "plain:ld.acquire.gpu.global.u32": r"global_load_dword .* sc1",
    "volatile:ld.global.u32": r"global_load_dword .* sc1",
    "volatile:ld.global.u8": r"global_load_ubyte .* sc1",
    "volatile:ld.global.s16": r"global_load_(u|s)short .* sc1",
    "volatile:ld.u32": r"flat_load_dword .* sc1",
    "volatile:ld.b32:memory": r"flat_load_dword .* sc1",
    "plain:ld.u32:memory": r"flat_load_dword .* sc1",
    "volatile:ld.global.cs.u32": r"global_load_dword .* nt",
    "volatile:ld.shared.u32": r"ds_read_b32",
    "plain:ld.volatile.shared.u32": r"ds_read_b32",
    "volatile:ld.shared.u8": r"ds_read_u8",
}


def converted(source: str) -> str:
    result = translate(source, path="a.cu")
    assert not [j for j in result.findings if j.open]
    return result.output.decode()


def poll(n: int, how: str, inside: str) -> str:
    kind, _, rest = how.partition(":")
    opcode, _, clobber = rest.partition(":")
    address = '"r"(s)' if "shared" in opcode else '"l"(f)'
    end = ' : "memory"' if clobber else ""
    load = f'asm {"volatile" if kind == "volatile" else ""}("{opcode} %0, [%1];" : "=r"(v) : {address}{end});'
    return (
        f'extern "C" __global__ void k{n}(unsigned* f, unsigned s, unsigned* o) '
        f"{{ unsigned v; do {{ {load} {inside} }} while (!v); *o = v; }}\n"
    )


def loops(code: str) -> list[str]:
    """The instructions between a label and the last jump back to it."""
    out = []
    for label in re.findall(r"^(\.LBB\w+):", code, re.M):
        after = code.partition(f"\n{label}:")[2]
        jumps = list(re.finditer(rf"branch\w* {re.escape(label)}\b", after))
        out += [after[: jumps[-1].end()]] if jumps else []
    return out


@pytest.mark.parametrize("inside", ("", "__builtin_amdgcn_s_barrier();"))
def test_polls_reach_memory_each_time(inside: str, tmp_path: Path) -> None:
    source = converted("".join(poll(n, how, inside) for n, how in enumerate(POLLS)))
    code = machine_code(source, tmp_path, "gfx942")
    wrong = []
    for n, (how, wanted) in enumerate(POLLS.items()):
        found = loops(code[f"k{n}"])
        if not found or not all(re.search(wanted, loop) for loop in found) or any("s_load" in x for x in found):
            wrong.append((how, found or code[f"k{n}"]))
    assert not wrong, wrong


def test_ldcv_reads_memory_each_time(tmp_path: Path) -> None:
    """`__ldcv` in a poll, and of a vector: one access, also where a word is not enough."""
    types = {"unsigned": "dword", "unsigned char": "ubyte", "unsigned long long": "dwordx2", "V": "dwordx4"}
    source = "struct alignas(16) V { unsigned x, y, z, w; __device__ explicit operator bool() const { return x; } };\n"
    for n, t in enumerate(types):
        poll = f"{t} v; do {{ v = __ldcv(f); }} while (!v); *o = v;"
        source += f'extern "C" __global__ void k{n}({t}* f, {t}* o) {{ {poll} }}\n'
    code = machine_code(converted(source), tmp_path, "gfx942")
    for n, load in enumerate(types.values()):
        found = re.findall(r"(?:global|flat)_load_.*", "".join(loops(code[f"k{n}"])))
        assert len(found) == 1 and re.match(rf"global_load_{load} .* sc0 sc1", found[0]), code[f"k{n}"]


def test_stores_are_kept_and_reach_other_blocks(tmp_path: Path) -> None:
    """Each of two stores to one address, of which an optimiser would drop the first."""
    stores = {
        'asm volatile("st.global.cg.u32 [%0], %1;" :: "l"(f), "r"(V))': r"global_store_dword .* sc1",
        'asm volatile("st.global.u32 [%0], %1;" :: "l"(f), "r"(V))': r"global_store_dword .* sc1",
        'asm("st.volatile.global.u32 [%0], %1;" :: "l"(f), "r"(V))': r"global_store_dword .* sc0 sc1",
        'asm volatile("st.u16 [%0], %1;" :: "l"(f), "h"((unsigned short)V))': r"flat_store_short .* sc1",
        'asm volatile("st.shared.u32 [%0], %1;" :: "r"(s), "r"(V))': "ds_write_b32",
        'asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(f), "r"(V))': "global_store_dwordx4",
        'asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(f), "r"(V))': (
            "global_store_dwordx4 .* sc0 sc1"
        ),
    }
    source = "".join(
        f'extern "C" __global__ void k{n}(unsigned* f, unsigned s) '
        f"{{ {text.replace('V', '1')}; {text.replace('V', '2')}; }}\n"
        for n, text in enumerate(stores)
    )
    code = machine_code(converted(source), tmp_path, "gfx942")
    for n, (text, wanted) in enumerate(stores.items()):
        assert len(re.findall(wanted, code[f"k{n}"])) == 2, (text, code[f"k{n}"])


VECTORS = {
    "volatile:ld.volatile.global.v4.u32": ("global_load_dwordx4 .* sc0 sc1", 1),
    "plain:ld.relaxed.sys.global.v4.u32": ("global_load_dwordx4 .* sc0 sc1", 1),
    "volatile:ld.global.cg.v4.u32": ("global_load_dwordx4 .* sc0 sc1", 1),
    "volatile:ld.global.v4.u32": (r"global_load_dwordx4 (?!.*sc)", 1),
    "volatile:ld.global.v2.u32": ("global_load_dwordx2 .* sc1", 1),
    "plain:ld.relaxed.gpu.global.v2.u32": ("global_load_dwordx2 .* sc1", 1),
    "plain:ld.acquire.gpu.global.v4.u32": ("global_load_dwordx2 .* sc1", 2),
    "volatile:ld.shared.v4.u32": ("ds_read_b128", 1),
    "volatile:ld.shared.v2.u32": ("ds_read_b64", 1),
}


def test_vectors_stay_one_access(tmp_path: Path) -> None:
    """A flag that travels beside its data in one vector is read with it."""
    source = ""
    for n, how in enumerate(VECTORS):
        kind, _, opcode = how.partition(":")
        count = int(opcode[opcode.rindex(".v") + 2])
        outputs = ", ".join(f'"=r"(v[{i}])' for i in range(count))
        text = f"{opcode} {{{', '.join(f'%{i}' for i in range(count))}}}, [%{count}];"
        address = '"r"(s)' if "shared" in opcode else '"l"(f)'
        source += f'extern "C" __global__ void k{n}(unsigned* f, unsigned s, unsigned* o) {{ unsigned v[4]; '
        source += f'asm {"volatile" if kind == "volatile" else ""}("{text}" : {outputs} : {address}); '
        source += "".join(f"o[{i}] = v[{i}]; " for i in range(count)) + "}\n"
    code = machine_code(converted(source), tmp_path, "gfx942")
    for n, (how, (wanted, count)) in enumerate(VECTORS.items()):
        assert len(re.findall(wanted, code[f"k{n}"])) == count, (how, code[f"k{n}"])
        assert len(re.findall("_load_dword|ds_read", code[f"k{n}"].replace("s_load", ""))) == count, how


# --- one address, two types -------------------------------------------------------------------------------------------

LOADS = ("ld.global.u32", "ld.u32", "ld.global.cs.u32", "ld.global.nc.u32", "ld.volatile.u32", "ld.relaxed.gpu.u32")
STORES = ("st.global.f32", "st.f32", "st.global.cs.f32", "st.volatile.f32", "st.global.v2.f32", "atom.add.f32")


def aliasing() -> tuple[str, int]:
    """Functions that store a float, load its bits as an integer, and store an integer over it; and how many."""
    out, n = "", 0
    for store in STORES:
        for load in LOADS:
            value = "{%1, %1}" if ".v2" in store else "%1"
            text = f"{store} _, [%0], %1;" if store.startswith("atom") else f"{store} [%0], {value};"
            out += f"__device__ unsigned f{n}(float* p, unsigned* q) {{ unsigned v; *q = 0; "
            out += f'asm("{text}" :: "l"(p), "f"(1.0f)); asm("{load} %0, [%1];" : "=r"(v) : "l"(q)); return v; }}\n'
            n += 1
    return out, n


@pytest.mark.parametrize("compiler", ("g++", "clang++-22"))
def test_types_do_not_reorder_accesses(compiler: str, tmp_path: Path) -> None:
    """A float is stored, its bits are loaded as an integer; optimised, on the CPU."""
    if shutil.which(compiler) is None:
        pytest.skip("no gcc for C++ here" if compiler == "g++" else "no clang++-22 here")
    functions, n = aliasing()
    text = "#include <cstdio>\n#define __device__ __attribute__((noinline))\n" + converted(functions)
    text = text.replace("#include <hip/hip_runtime.h>", "")
    calls = "".join(f'    p[0] = 0; std::printf("%x\\n", f{i}(p, (unsigned*)p));\n' for i in range(n))
    (tmp_path / "a.cc").write_text(f"{text}\nint main() {{\n    static float p[4];\n{calls}}}\n")
    flags = ["-std=c++17", "-O3", "-fstrict-aliasing", "-w", f"-I{INCLUDE}"]
    subprocess.run([compiler, *flags, "-o", tmp_path / "a", tmp_path / "a.cc"], check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3f800000"] * n


def test_types_do_not_reorder_shared_memory(tmp_path: Path) -> None:
    source = """extern "C" __global__ void k(unsigned a, unsigned b, unsigned* o) {
  unsigned x, y;
  asm("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(a));
  asm("st.shared.f32 [%0], %1;" :: "r"(b), "f"(1.0f));
  asm("ld.shared.u32 %0, [%1];" : "=r"(y) : "r"(a));
  *o = x + y;
}
"""
    code = machine_code(converted(source), tmp_path, "gfx942")["k"]
    assert re.findall(r"ds_\w+", code) == ["ds_read_b32", "ds_write_b32", "ds_read_b32"]
