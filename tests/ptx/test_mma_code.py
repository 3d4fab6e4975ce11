"""What a `mma` takes on AMD GPUs: the page's counts are those of the code that clang makes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from amd_code import compiled, machine_code
from loading import load
from mma_programs import product

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.matrix_forms import CDNA, RDNA, instruction

ROOT = Path(__file__).resolve().parents[2]
TOOL = load(ROOT / "tools" / "mma_cost.py")
READ = load(ROOT / "tools" / "expanded_ir.py")
FORM = Form("m16n8k16", "f32", "f16", "f16", "f32")


def page(name: str = "mma-cost") -> dict[str, dict[str, str]]:
    """Row -> GPU -> counts, as docs/ptx.md has them."""
    table = (ROOT / "docs" / "ptx.md").read_text(encoding="utf-8").partition(f"<!-- {name}:")[2].partition("<!-- /")[0]
    head, _, *rows = ([c.strip() for c in line.split("|")[1:-1]] for line in re.findall(r"^\|.*$", table, re.M))
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def test_the_page_has_every_form() -> None:
    assert list(page()) == [TOOL.shown(form) for form in TOOL.FORMS]
    assert all(tuple(row) == TOOL.GPUS for row in page().values())
    assert list(page("mma-matrix-cost")) == [name for name, _, _ in TOOL.matrix_rows()]
    assert list(page("mma-tile-cost")) == [name for name, _, _ in TOOL.tile_rows()]
    matrices = (*page("mma-matrix-cost").values(), *page("mma-tile-cost").values())
    assert all(tuple(row) == TOOL.MATRIX_GPUS for row in matrices)


def counted(forms: Sequence[Form], define: str, gpu: str, tmp_path: Path) -> list[dict[str, float]]:
    """What each form takes; one program has all of them, since its headers take the compiler longest."""
    parts = machine_code(TOOL.source(forms, define), tmp_path, gpu, "-O3")
    found: list[dict[str, float]] = TOOL.counted(assembly(parts))
    assert len(found) == len(forms)
    return found


def assembly(parts: dict[str, str]) -> str:
    return "".join(f"{name}:\n{text}\ns_endpgm\n" for name, text in parts.items())


def test_matrix_instructions_take_what_the_page_says(tmp_path: Path) -> None:
    """For both warps of a wavefront, with A in use again by 8 tiles of B."""
    (found,) = counted([FORM], TOOL.PROMISED, "gfx942", tmp_path)
    assert (found["lds"], found["matrix"]) == (6, 2)
    assert found["vector"] <= 8
    assert TOOL.cell(found) == page("mma-matrix-cost")[TOOL.shown(FORM) + ", promised"]["gfx942"]


def test_sums_in_tiles_take_less_than_the_budget(tmp_path: Path) -> None:
    """At most 4 LDS, 6 vector and 2 matrix instructions for a pair of warps, with A in a loop of 8 tiles.

    Nothing is promised: lanes are looked for before the loop."""
    parts = machine_code(TOOL.source([FORM], TOOL.IN_TILES), tmp_path, "gfx942", "-O3")
    loop = TOOL.with_matrix(next(text for name, text in parts.items() if "k8_" in name))
    found = {k: sum(TOOL.kind(n) == k for n in TOOL._INSTRUCTION.findall(loop)) for k in ("lds", "vector", "matrix")}
    assert found["lds"] == 4 + 2 * 8
    assert found["matrix"] == 2 * 8
    assert found["vector"] <= 8
    assert not re.search(r"exec, -1", loop)
    assert TOOL.cell(TOOL.counted(assembly(parts))[0]) == "2 + 0 + 2"


AS_PROJECTS_WRITE_IT = """
__device__ inline void mma(float* c, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void k(float* out, volatile const unsigned* in, int n) {
    float sums[64];
    unsigned a[16], b[8];
    for (int i = 0; i < 64; ++i) sums[i] = 0;
    for (int step = 0; step < n; ++step) {
        for (int i = 0; i < 16; ++i) a[i] = in[i];
        for (int i = 0; i < 8; ++i) b[i] = in[i];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 2; ++j) {
                mma(sums + i * 16 + j * 8, a + 4 * i, b + 4 * j);
                mma(sums + i * 16 + j * 8 + 4, a + 4 * i, b + 4 * j + 2);
            }
    }
    for (int i = 0; i < 64; ++i) out[i] = sums[i];
}
"""


# The same with the products in a lambda, and others around it, as Marlin has it.
IN_A_LAMBDA = AS_PROJECTS_WRITE_IT.replace(
    "    for (int i = 0; i < 64; ++i) sums[i] = 0;\n",
    """
    int steps;
    auto clear = [&] { for (int i = 0; i < 64; ++i) reinterpret_cast<float*>(&sums)[i] = 0; };
    auto begin = [&] { steps = n; if (steps < 0) return; clear(); };
    auto multiply = [&](int i) {
        for (int j = 0; j < 2; ++j) {
            mma(sums + i * 16 + j * 8, a + 4 * i, b + 4 * j);
            mma(sums + i * 16 + j * 8 + 4, a + 4 * i, b + 4 * j + 2);
        }
    };
    begin();
""",
)
PRODUCTS = IN_A_LAMBDA[IN_A_LAMBDA.rindex("            for (int j") : IN_A_LAMBDA.rindex("    }\n    for (int i")]
IN_A_LAMBDA = IN_A_LAMBDA.replace(PRODUCTS, "            multiply(i);\n").replace("step < n", "step < steps")
# The same with a type that chooses the product, as vLLM's Marlin has it.
F16 = AS_PROJECTS_WRITE_IT[AS_PROJECTS_WRITE_IT.index("    asm") : AS_PROJECTS_WRITE_IT.index("}\n__global__")]
OF_A_TYPE = (
    AS_PROJECTS_WRITE_IT.replace(
        F16, f"if constexpr (sizeof(T) == 2) {{\n{F16}}} else {{\n{F16.replace('f16.f16.', 'bf16.bf16.')}}}\n"
    )
    .replace("__device__", "template <class T> __device__", 1)
    .replace(" mma(sums", " mma<short>(sums")
)


@pytest.mark.parametrize("source", [AS_PROJECTS_WRITE_IT, IN_A_LAMBDA, OF_A_TYPE])
def test_a_loop_that_the_compiler_unrolls_by_itself_does_too(source: str, tmp_path: Path) -> None:
    """What is known of lanes is a constant before arrays are taken apart: else they stay in memory."""
    text = translate(source, Options(), path="a.cu").output.decode()
    assert "mma::in_tiles<" in text
    code = machine_code(text, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")["_Z1kPfPVKji"]
    found = Counter(TOOL.kind(n) for n in TOOL._INSTRUCTION.findall(TOOL.with_matrix(code)))
    assert found["matrix"] == 2 * 16
    assert found["lds"] == 4 * 4 + 2 * 4  # A and B are exchanged once
    assert found["vector"] <= 6 * 16
    assert "scratch_" not in code


# The array is handed on, two products at a time, as SageAttention has it.
HANDED_ON = """
__device__ inline void mma(float* c, const unsigned* a, const unsigned* b) {
    PRODUCTS
}
template <unsigned V> __device__ inline
void step(float sums[][V][8], unsigned a[][4], const volatile unsigned* in) {
    #pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        #pragma unroll
        for (unsigned v = 0; v < V; ++v) {
            unsigned b[4];
            for (int i = 0; i < 4; ++i) b[i] = in[i];
            #pragma unroll
            for (unsigned q = 0; q < 2; ++q) mma(sums[q][v], a[q], b);
        }
    }
}
__global__ void k(float* out, const volatile unsigned* in, int n) {
    float sums[2][2][8];
    unsigned a[2][4];
    #pragma unroll
    for (int i = 0; i < 32; ++i) sums[i / 16][i / 8 % 2][i % 8] = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < 8; ++j) a[j / 4][j % 4] = in[j];
        step<2>(sums, a, in);
        #pragma unroll
        for (int j = 0; j < 32; ++j) sums[j / 16][j / 8 % 2][j % 8] *= in[j];
    }
    for (int i = 0; i < 32; ++i) out[i] = sums[i / 16][i / 8 % 2][i % 8];
}
""".replace(
    "PRODUCTS",
    product("c") + re.sub(r"\b([bc])\[(\d)", lambda m: f"{m[1]}[{int(m[2]) + (4 if m[1] == 'c' else 2)}", product("c")),
)


def test_an_array_that_is_handed_on_is_not_kept_in_memory(tmp_path: Path) -> None:
    """Nothing compares its address, and all functions that get it are inlined."""
    text = translate(HANDED_ON, Options(), path="a.cu").output.decode()
    assert "sums_kept.at(sums, sums)" in text
    code = machine_code(text, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")["_Z1kPfPVKji"]
    assert TOOL.with_matrix(code).count("v_mfma") == 2 * 16
    assert "scratch_" not in code


LARGE = " ".join(f"a[{i % 16}] = a[{i % 16}] * in[{i}] ^ in[{i + 7}];" for i in range(200))


@pytest.mark.slow
def test_local_functions_of_loops_with_tiles_are_inlined(tmp_path: Path) -> None:
    """The loop is there twice: what they capture would have an address, and stay in memory."""
    text = AS_PROJECTS_WRITE_IT.replace(
        "    for (int step", "    auto load = [&](int k) { BODY };\n    load(1);\n    for (int step"
    )
    body = "for (int i = 0; i < 16; ++i) a[i] = in[i + k]; " + LARGE
    text = text.replace("BODY", body).replace(
        "        for (int i = 0; i < 16; ++i) a[i] = in[i];\n", "        load(step);\n"
    )
    out = translate(text, Options(), path="a.cu").output.decode()
    assert "auto load = [&](int k) CU2PORT_MMA_INLINE {" in out
    code = machine_code(out, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")["_Z1kPfPVKji"]
    assert "scratch_" not in code
    assert "s_swappc" not in code


def test_the_compiler_reads_little_of_each_product(tmp_path: Path) -> None:
    """Vector instructions for lanes that are missing are in a product once; three times they took 11,842 lines."""
    text = """__global__ void k(float* out, volatile const unsigned* in, int n) {
    float acc[4][4] = {};
    unsigned a[4], b[2];
    for (int step = 0; step < n; ++step) {
        for (int i = 0; i < 4; ++i) a[i] = in[i], b[i / 2] = in[i];
        PRODUCTS
    }
    for (int i = 0; i < 16; ++i) out[i] = acc[i / 4][i % 4];
}
"""
    lines = []
    for count in (1, 3):
        products = " ".join(product(f"acc[{i}]") for i in range(count))
        made = translate(text.replace("PRODUCTS", products), Options(), path="a.cu").output.decode()
        assert "mma::in_tiles<" in made
        lines.append(sum(READ.expanded(compiled(made, tmp_path, "gfx942", *READ.UNOPTIMISED)).values()))
    assert (lines[1] - lines[0]) / 2 < 9000


def test_a_scale_of_all_lanes_takes_no_exchange(tmp_path: Path) -> None:
    """In the loop; and clearing the array, before it, takes none either."""
    begin = "        for (int i = 0; i < 4; ++i)\n"
    assert AS_PROJECTS_WRITE_IT.count(begin) == 1
    text = AS_PROJECTS_WRITE_IT.replace(begin, "        for (int i = 0; i < 64; ++i) sums[i] *= s;\n" + begin)
    text = translate(text.replace("int n)", "int n, float s)"), Options(), path="a.cu").output.decode()
    assert text.count("_kept.each(") == 2
    code = machine_code(text, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")["_Z1kPfPVKjif"]
    loop = TOOL.with_matrix(code)
    found = Counter(TOOL.kind(n) for n in TOOL._INSTRUCTION.findall(loop))
    assert (found["matrix"], found["lds"]) == (2 * 16, 4 * 4 + 2 * 4)
    assert found["vector"] <= (2 + 7) * 16
    of_tiles = sum(TOOL.kind(n) == "lds" for n in TOOL._INSTRUCTION.findall(code)) - found["lds"]
    assert of_tiles == 4 * 16  # back to PTX's layout, behind the loop
    assert "scratch_" not in code


@pytest.mark.parametrize(
    ("gpu", "alone", "in_tiles"),
    [("gfx1100", (8, 20), (8, 1)), pytest.param("gfx1201", (0, 27), (0, 9), marks=pytest.mark.slow)],
)
def test_wmma_takes_less_than_vector_instructions(
    gpu: str, alone: tuple[int, int], in_tiles: tuple[int, int], tmp_path: Path
) -> None:
    """Which take 16 of LDS and 64. With A in use again by 8 tiles of B."""
    for define, (lds, vector) in (("", alone), (TOOL.IN_TILES, in_tiles)):
        (found,) = counted([FORM], define, gpu, tmp_path)
        assert (found["lds"], found["matrix"]) == (lds, 1)
        assert found["vector"] <= vector


@pytest.mark.parametrize("gpu", [pytest.param("gfx1100", marks=pytest.mark.slow), "gfx1201"])
def test_wavefronts_of_64_lanes_take_no_wmma(gpu: str, tmp_path: Path) -> None:
    parts = machine_code(TOOL.source([FORM], ""), tmp_path, gpu, "-mwavefrontsize64")
    assert "v_wmma" not in "".join(parts.values())


@pytest.mark.slow
def test_lanes_that_are_not_there_take_vector_instructions(tmp_path: Path) -> None:
    code = machine_code(TOOL.source([FORM], TOOL.TESTED), tmp_path, "gfx942", "-O3")["_Z4k8_0v"]
    assert code.count("v_mfma") == 16
    assert len(re.findall(r"s_cmp_(?:lg|eq)_u64 exec, -1", code)) == 8


def test_a_promise_changes_nothing_where_nothing_is_tested() -> None:
    on_page = page("mma-matrix-cost")
    for form in TOOL.FORMS:
        tested, promised = (on_page.get(f"{TOOL.shown(form)}, {how}", {}) for how in ("tested", "promised"))
        assert [tested.get(gpu) for gpu in RDNA] == [promised.get(gpu) for gpu in RDNA]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("define", "gpu"), [*((TOOL.TESTED, gpu) for gpu in TOOL.MATRIX_GPUS), *((TOOL.PROMISED, gpu) for gpu in CDNA)]
)
def test_every_matrix_form_takes_what_the_page_says(define: str, gpu: str, tmp_path: Path) -> None:
    """And has a matrix instruction where the table of forms says so, and nowhere else."""
    rows = [(name, form) for name, form, d in TOOL.matrix_rows() if d == define]
    found = counted([form for _, form in rows], define, gpu, tmp_path)
    on_page = page("mma-matrix-cost")
    for (name, form), cost in zip(rows, found, strict=True):
        assert (name, TOOL.cell(cost)) == (name, on_page[name][gpu])
        assert (cost["matrix"] > 0) == bool(instruction(form, gpu))


@pytest.mark.slow
@pytest.mark.parametrize("gpu", TOOL.MATRIX_GPUS)
def test_every_form_in_tiles_takes_what_the_page_says(gpu: str, tmp_path: Path) -> None:
    forms = [form for _, form, _ in TOOL.tile_rows()]
    found = counted(forms, TOOL.IN_TILES, gpu, tmp_path)
    told = [
        TOOL.cell(cost) if instruction(form, gpu, kept=True) else "" for form, cost in zip(forms, found, strict=True)
    ]
    assert told == [row[gpu] for row in page("mma-tile-cost").values()]
    assert all((cost["matrix"] > 0) == bool(x) for cost, x in zip(found, told, strict=True))


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_the_usual_form_takes_what_the_page_says(gpu: str, tmp_path: Path) -> None:
    (found,) = counted([FORM], TOOL.PORTABLE, gpu, tmp_path)
    assert TOOL.cell(found) == page()[TOOL.shown(FORM)][gpu]


@pytest.mark.slow
@pytest.mark.parametrize("gpu", TOOL.GPUS)
def test_every_form_takes_what_the_page_says(gpu: str, tmp_path: Path) -> None:
    found = counted(TOOL.FORMS, TOOL.PORTABLE, gpu, tmp_path)
    assert [TOOL.cell(cost) for cost in found] == [row[gpu] for row in page().values()]


@pytest.mark.slow
def test_what_lanes_that_are_missing_take_is_short(tmp_path: Path) -> None:
    """Else the compiler does not unroll a loop of products, and keeps its arrays in memory."""
    parts = machine_code(TOOL.source([FORM], TOOL.TESTED), tmp_path, "gfx942", "-O3")
    whole = next(text for name, text in parts.items() if "k8_" in name)
    found = [TOOL.kind(n) for n in TOOL._INSTRUCTION.findall(whole)]
    (inner,) = TOOL.counted(assembly(parts))
    assert found.count("lds") / 8 - inner["lds"] <= 8
    assert found.count("vector") / 8 - inner["vector"] <= 60
