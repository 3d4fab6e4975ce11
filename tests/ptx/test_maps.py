"""What is done alike to each element of a tile keeps it one: what is, what is not, and that results are the same."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from mma_manual import Elements, gathered, spec
from mma_programs import HEAD, LOOP, MULTIPLY, ONE, converted, product, run_simulated

SCALED = "for (int i = 0; i < 4; ++i) acc[0][i] *= s;"
BOTH = "for (int j = 0; j < 2; ++j) for (int i = 0; i < 4; ++i) acc[j][i] *= s;"


def kernel(loop: str, before: str = "", after: str = "out[0] = acc[0][0];", declared: str = "float acc[2][4]") -> str:
    return (
        "#define LIMIT 4\n__device__ void load(unsigned*, unsigned*);\n"
        "__device__ float relu(float x) { return x > 0 ? x : 0; }\n"
        "__device__ float own(float x) { return x * threadIdx.x; }\n"
        "__global__ void k(float* out, const float* scales, int n, float s) {\n"
        f"    {declared};\n    unsigned a[4], b[2];\n    {before}\n    {loop}\n    {after}\n}}\n"
    )


def loop_is_kept(text: str, before: str = "", declared: str = "float acc[2][4]") -> bool:
    """Whether a loop of a product and this is done in tiles."""
    out = converted(kernel(LOOP % (ONE + " " + text), before, declared=declared))
    inside = out.partition("for (int k")[2].partition("out[0] =")[0]
    assert ("_kept.at(" in inside) == ("mma::in_tiles<" in out or "mma::keep<" in out) == ("_kept.each(" in out)
    assert converted(out) == out
    return "_kept.each(" in inside


@pytest.mark.parametrize(
    "text",
    [
        SCALED,
        BOTH,
        "for (int i = 0; i < 4; i++) acc[0][i] = acc[0][i] * s + 1;",
        "for (unsigned i = 0; i < LIMIT; i += 1) { acc[0][i] = fmaxf(acc[0][i], 0.0f); }",
        "for (int i = 0; i < 4; ++i) { if (acc[0][i] < 0) acc[0][i] = 0; else acc[0][i] += s; }",
        "for (int i = 0; i < 4; ++i) acc[1][i] = relu(acc[1][i]);",
        "for (int i = 0; i < 4; ++i) acc[0][i] = (float)(int)acc[0][i];",
        "for (int i = 0; i < 4; ++i) acc[0][i] = acc[0][i] > s ? s : -acc[0][i];",
        "for (int i = 0; i < 4; ++i) acc[0][i] *= scales[k];",
        "const float t = scales[blockIdx.x] * s; for (int i = 0; i < 4; ++i) acc[0][i] *= t;",
        "acc[1][0] *= s; acc[1][1] *= s; acc[1][2] *= s; acc[1][3] *= s;",
        "if (k == 3) { " + SCALED + " }",
        "\n#pragma unroll\n" + SCALED,
    ],
)
def test_what_is_done_to_all_elements_alike_stays_in_the_loop(text: str) -> None:
    assert loop_is_kept(text)


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = 0; i < 4; ++i) acc[0][i] *= threadIdx.x;",  # other values in other lanes
        "for (int i = 0; i < 4; ++i) acc[0][i] *= scales[threadIdx.x / 4];",
        "const float t = out[threadIdx.x]; for (int i = 0; i < 4; ++i) acc[0][i] *= t;",
        "float t = s; if (threadIdx.x < 7) t = 1; for (int i = 0; i < 4; ++i) acc[0][i] *= t;",
        "for (int i = 0; i < 4; ++i) acc[0][i] *= rows[1];",
        "for (int i = 0; i < 4; ++i) acc[0][i] *= *scales;",
        "for (int i = 0; i < 4; ++i) acc[0][i] = __shfl_sync(~0u, acc[0][i], 0);",
        "for (int i = 0; i < 4; ++i) acc[0][i] = own(acc[0][i]);",
        "for (int i = 0; i < 4; ++i) acc[0][i] = other(acc[0][i]);",
        "for (int i = 0; i < 4; ++i) acc[0][i] = scales[(int)acc[0][i]];",
        "for (int i = 0; i < 4; ++i) acc[threadIdx.x & 1][i] *= s;",
        "if (threadIdx.x < 7) { " + SCALED + " }",  # not all lanes
        "if (threadIdx.x == 7) continue; " + SCALED,
        "if (out[k] < 0) " + SCALED,
        "for (int i = 0; i < 3; ++i) acc[0][i] *= s;",  # not all elements
        "for (int i = 0; i < 2; ++i) acc[0][i] *= s;",
        "for (int i = 1; i < 4; ++i) acc[0][i] *= s;",
        "for (int i = 0; i < n; ++i) acc[0][i] *= s;",
        "for (int i = 0; i <= 4; ++i) acc[0][i] *= s;",
        "for (int i = 0; i < 4; i += 2) acc[0][i] *= s;",
        "for (int i = 0; i < 4; ++i) if (i < 2) acc[0][i] *= s;",
        "acc[1][0] *= s; acc[1][1] *= s; acc[1][2] *= s;",
        "acc[1][0] *= s; acc[1][1] *= s; n -= 1; acc[1][2] *= s; acc[1][3] *= s;",
        "for (int i = 0; i < 4; ++i) acc[0][i] *= i;",  # not alike
        "for (int i = 0; i < 4; ++i) acc[0][i] *= s++;",
        "for (int i = 0; i < 4; ++i) acc[0][i] *= (s = 3);",
        "for (int i = 0; i < 4; ++i) { acc[0][i] *= s; n += 1; }",
        "for (int i = 0; i < 4; ++i) acc[0][i] = acc[1][i];",
        "for (int i = 0; i < 4; ++i) acc[0][i] = acc[0][0];",
        "for (int i = 0; i < 4; ++i) acc[i / 4][i % 4] *= s;",
        "acc[1][0] *= s; acc[1][1] *= s; acc[1][2] *= s; acc[1][3] += s;",
        "acc[1][0] *= s; acc[1][1] *= s; acc[0][2] *= s; acc[1][3] *= s;",
        "acc[1][0] *= acc[1][0]; acc[1][1] *= acc[1][0]; acc[1][2] *= acc[1][0]; acc[1][3] *= acc[1][0];",
        "for (int i = 0; i < 4; ++i) acc[0 /* mine */][i] *= s;",  # which would be lost
        "for (int i = 0; i < 4; ++i) out[i] = acc[0][i];",  # a read
        "for (int i = 0; i < 4; ++i) ((int*)acc[0])[i] *= s;",  # of another type
        "\n#if A\n" + SCALED.replace("acc[0]", "acc[1]") + "\n#endif\n#define MORE acc[0][0] *= s\n",
    ],
)
def test_what_is_not_alike_leaves_the_array_where_it_is(text: str) -> None:
    before = "float rows[4]; rows[1] = scales[threadIdx.x];"
    assert not loop_is_kept(text, before)


def test_an_array_in_one_dimension() -> None:
    def is_kept(text: str, declared: str = "float acc[TILES * 4]") -> bool:
        text = LOOP % (product("acc") + " " + text)
        return "_kept.each(" in converted(kernel(text, after="out[0] = acc[0];", declared=declared))

    assert is_kept("for (int i = 0; i < TILES * 4; ++i) acc[i] *= s;")
    assert is_kept("for (int i = 0; i < COUNT; ++i) acc[i] *= s;", "float acc[COUNT]")
    assert is_kept("for (int j = 0; j < n; ++j) for (int i = 0; i < 8; ++i) acc[j * 8 + i] *= s;")
    assert is_kept("for (int j = 0; j < n; ++j) for (int i = 0; i < 4; ++i) acc[i + (j << 2)] *= s;")
    assert not is_kept("for (int i = 0; i < TILES; ++i) acc[i] *= s;")
    assert not is_kept("for (int j = 0; j < n; ++j) for (int i = 0; i < 4; ++i) acc[j * 2 + i] *= s;")
    assert not is_kept("for (int i = 0; i < 4; ++i) acc[i] *= s;", "unsigned acc[8]")
    assert not is_kept("for (int i = 0; i < 4; ++i) acc[i] *= s;", "Number acc[8]")


def test_what_is_between_loops_does_not_end_a_tile() -> None:
    loop = LOOP % ONE
    out = converted(
        kernel(loop + "\n    " + BOTH + "\n    __syncthreads();\n    " + loop, before=BOTH.replace("*= s", "= 0"))
    )
    assert out.count("in_tiles<") == 1
    assert out.count(".each(acc, &acc[j][i], ") == 2
    order = ("in_tiles<", "acc_element = 0", "_kept.at(", "acc_element *= s", "__syncthreads", "_kept.at(", "\n    });")
    assert [out.index(x) for x in order[:4]] == sorted(out.index(x) for x in order[:4])
    assert out.rindex("_kept.at(") < out.index("\n    });") < out.index("out[0] =")
    assert converted(out) == out


@pytest.mark.parametrize(
    "between", ["out[1] = acc[0][1];", "float x = s;", "if (n == 3) return;", "STOP;", "if (n) s = 2;", "use(acc);"]
)
def test_what_else_is_between_loops_does(between: str) -> None:
    loop = LOOP % ONE
    out = converted("#define STOP return\n" + kernel(loop + "\n    " + BOTH + " " + between + "\n    " + loop))
    assert out.count("in_tiles<") + out.count("mma::keep<") == 2
    assert "_kept.each(" not in out


def test_behind_the_last_product_the_array_is_as_ptx_has_it() -> None:
    """There it costs less, and one conversion is done in either place."""
    out = converted(kernel(LOOP % ONE + "\n    " + BOTH))
    assert "in_tiles<" in out
    assert "_kept.each(" not in out


def test_rows_of_lanes_that_may_differ_are_loops_by_themselves() -> None:
    loop = LOOP.replace("k < n", "k < threadIdx.x") % ONE
    assert converted(kernel(loop + "\n    " + BOTH + "\n    " + loop)).count("mma::keep<") == 2


def test_maps_in_lambdas() -> None:
    scale = " auto scale = [&](float x) { for (int i = 0; i < 4; ++i) acc[0][i] *= x; };"
    out = converted(kernel(LOOP % "multiply(k); scale(s);", before=MULTIPLY + scale))
    scaled = (
        "auto scale = [&](float x, auto& acc_kept) CU2PORT_MMA_INLINE { for (int i = 0; i < 4; i += 4) acc_kept.each("
    )
    assert scaled in out
    assert "scale(s, acc_kept);" in out
    for call in ("scale(threadIdx.x);", "if (threadIdx.x < 3) scale(s);", "scale(s); use(scale);"):
        assert ".each(" not in converted(kernel(LOOP % f"multiply(k); {call}", before=MULTIPLY + scale))


def test_a_device_function_knows_nothing_of_its_arguments() -> None:
    text = kernel(LOOP % (ONE + SCALED)).replace("__global__", "__device__")
    assert "mma::keep<" not in converted(text)
    assert "_kept.each(" in converted(text.replace("*= s", "*= 0.5f").replace("k < n", "k < 8"))


# --- Run -------------------------------------------------------------------------------------------------------------


GFX11 = "CU2PORT_SIM_RDNA 3"
PORTABLE = "CU2PORT_MMA_PORTABLE"
ARGS = "struct Args { int n, here; };\n"
FLOATS = "m16n8k16.row.col.f32.f16.f16.f32"
INTS = "m16n8k32.row.col.s32.s8.s8.s32"
SOURCE = """
__device__ inline void mma%(n)d(%(type)s* c, const unsigned* a, const unsigned* b) { %(wrapped)s }
__global__ void k%(n)d(const unsigned* in, unsigned* out, const %(type)s* scales, Args args) {
    if (!(args.here >> (threadIdx.x / 32) & 1)) return;
    unsigned a[4], b[2];
    for (int i = 0; i < 4; ++i) a[i] = in[threadIdx.x * 8 + i];
    for (int i = 0; i < 2; ++i) b[i] = in[threadIdx.x * 8 + 4 + i];
    %(type)s acc[2][4];
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 4; ++i) acc[j][i] = 1;
    for (int k = 0; k < args.n; ++k) {
        %(test)s %(asm)s
        acc[0][0] += 3; acc[0][1] += 3; acc[0][2] += 3; acc[0][3] += 3;
        for (int j = 0; j < 2; ++j)
            for (int i = 0; i < 4; ++i) { acc[j][i] = acc[j][i] * scales[k]; if (acc[j][i] < -9) acc[j][i] = -9; }
    }
    for (int i = 0; i < 4; ++i) acc[0][i] = acc[0][i] * 2 - args.n;
    for (int k = 0; k < 2; ++k) { mma%(n)d(acc[0], a, b); }
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 8 + i] = int(acc[0][i]);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 8 + 4 + i] = int(acc[1][i]);
}
"""
MAIN = """
int main(int, char** names) {
    unsigned *in, *out;
    void* scales;
    (void)hipMallocManaged((void**)&in, 2048), (void)hipMallocManaged((void**)&out, 2048);
    (void)hipMallocManaged((void**)&scales, 64);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    for (int here = 1; here < 4; ++here) for (int kernel = 0; kernel < 3; ++kernel) {
        if (std::fread(in, 1, 2048, from) != 2048) std::exit(2);
        for (int k = 0; k < 3; ++k)
            if (kernel == 2) static_cast<int*>(scales)[k] = 2 * k - 1;
            else static_cast<float*>(scales)[k] = 2 * k - 1;
        for (int i = 0; i < 512; ++i) out[i] = 77;
        if (kernel == 0) k0<<<1, 64>>>(in, out, static_cast<float*>(scales), Args{3, here});
        if (kernel == 1) k1<<<1, 64>>>(in, out, static_cast<float*>(scales), Args{3, here});
        if (kernel == 2) k2<<<1, 64>>>(in, out, static_cast<int*>(scales), Args{3, here});
        if (hipDeviceSynchronize() != hipSuccess) std::exit(3);
        std::fwrite(out, 1, 2048, to);
    }
    std::fclose(to);
}
"""


def assembly(shape: str, c: str) -> str:
    letter = "r" if ".s32." in shape else "f"
    sums = ", ".join(f'"+{letter}"({c}[{i}])' for i in range(4))
    return (
        f'asm("mma.sync.aligned.{shape} {{%0,%1,%2,%3}}, {{%4,%5,%6,%7}}, {{%8,%9}}, {{%0,%1,%2,%3}};" : {sums}'
        ' : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));'
    )


def program() -> str:
    """Three kernels: all lanes stay together, they may not, and of integers."""
    kernels = ""
    for n, (shape, type_, test) in enumerate(
        ((FLOATS, "float", ""), (FLOATS, "float", "if (threadIdx.x < 64)"), (INTS, "int", ""))
    ):
        text = {"asm": assembly(shape, "acc[1]"), "wrapped": assembly(shape, "c"), "type": type_, "test": test, "n": n}
        kernels += SOURCE % text
    return HEAD + converted(ARGS + kernels) + MAIN


def expected(shape: str, lanes: dict[str, list[list[int]]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Of each place the element of both tiles, by a triple loop."""
    s = spec(shape)
    a, b = ({at: value(bits, s.a) for (_, at), bits in gathered(s, m, lanes[m]).items()} for m in "AB")
    depth = 1 + max(k for _, k in a)
    out = {}
    for m in range(16):
        for n in range(8):
            product_ = sum(a[m, k] * b[k, n] for k in range(depth))
            first, second = 1, 1
            for scale in (-1, 1, 3):
                second += product_
                first = max(-9, (first + 3) * scale)
                second = max(-9, second * scale)
            out[m, n] = (first * 2 - 3 + 2 * product_, second)
    return out


def value(bits: int, type_: str) -> int:
    if type_ == "s8":
        return bits - 256 if bits > 127 else bits
    return {v: k for k, v in HALVES.items()}[bits]


HALVES = {-2: 0xC000, -1: 0xBC00, 0: 0, 1: 0x3C00, 2: 0x4000}


def random_lanes(shape: str, rng: random.Random) -> dict[str, list[list[int]]]:
    def word() -> int:
        if shape == INTS:
            return sum(rng.randint(-2, 2) % 256 << i for i in range(0, 32, 8))
        return sum(HALVES[rng.randint(-2, 2)] << i for i in (0, 16))

    return {m: [[word() for _ in range(count)] for _ in range(32)] for m, count in (("A", 4), ("B", 2))}


@pytest.mark.parametrize(
    "way", [(64, ""), *(pytest.param(x, marks=pytest.mark.slow) for x in ((32, ""), (32, GFX11), (64, PORTABLE)))]
)
def test_results_are_those_of_a_triple_loop(way: tuple[int, str], tmp_path: Path) -> None:
    """Of both warps, with numbers of their own, and of one while the other is not there."""
    rng = random.Random(5)
    shapes = (FLOATS, FLOATS, INTS)
    runs = [(here, shape, [random_lanes(shape, rng) for _ in range(2)]) for here in (1, 2, 3) for shape in shapes]
    data = b"".join(
        struct.pack("<8I", *lanes["A"][lane], *lanes["B"][lane], 0, 0)
        for _, _, warps in runs
        for lanes in warps
        for lane in range(32)
    )
    text = program()
    assert (text.count("in_tiles<"), text.count("mma::keep<"), text.count("_kept.each(")) == (3, 1, 10)
    define = f"#define {way[1]}\n" if way[1] else ""
    output = struct.unpack(f"<{512 * len(runs)}i", run_simulated(define + text, data, way[0], tmp_path))
    for n, (here, shape, warps) in enumerate(runs):
        for warp in range(2):
            rows = [output[512 * n + 8 * (32 * warp + lane) :][:8] for lane in range(32)]
            if not here >> warp & 1:
                assert {x for row in rows for x in row} == {77}
                continue
            s, right = spec(shape), expected(shape, warps[warp])
            for tile in range(2):
                found: Elements = gathered(s, "D", [[x & 0xFFFFFFFF for x in row[4 * tile :][:4]] for row in rows])
                assert found == {(0, at): x[tile] & 0xFFFFFFFF for at, x in right.items()}, (here, shape, warp, tile)
