"""Functions whose branches have sums of several types in one parameter, as a template chooses (`if constexpr`)."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from amd_code import machine_code
from loading import load
from mma_programs import converted, run_simulated, whole

from cu2port.core.model import Options
from cu2port.engine.translate import translate

TOOL = load(Path(__file__).resolve().parents[2] / "tools" / "mma_cost.py")

TEXT = 'asm("mma.sync.aligned.{0} {{{1}}}, {{%4,%5,%6,%7}}, {{%8,%9}}, {{{1}}};" : {2} : {3});'
AB = ", ".join(f'"r"(a[{i}])' for i in range(4)) + ', "r"(b[0]), "r"(b[1])'


def asm(form: str, letter: str, count: int = 4) -> str:
    """A product in place, into `c`."""
    text = TEXT if count == 4 else TEXT.replace("%4,%5,%6,%7", "%2,%3,%4,%5").replace("%8,%9", "%6,%7")
    outs = ", ".join(f'"+{letter}"(c[{i}])' for i in range(count))
    return text.format(form, ",".join(f"%{i}" for i in range(count)), outs, AB)


def apart(text: str, letter: str, count: int = 4) -> str:
    """The same with C of its own, `e`."""
    ways = ",".join(f"%{i + count + 6}" for i in range(count))
    text = re.sub(r"\{[%0-9,]*\};", f"{{{ways}}};", text).replace('"+', '"=')
    return text.replace(");", "".join(f', "{letter}"(e[{i}])' for i in range(count)) + ");")


F32 = asm("m16n8k16.row.col.f32.f16.f16.f32", "f")
F16 = asm("m16n8k16.row.col.f16.f16.f16.f16", "r", 2)
BF16 = asm("m16n8k16.row.col.f32.bf16.bf16.f32", "f")
S32 = asm("m16n8k32.row.col.s32.s8.s8.s32", "r")

HEAD = """#include <type_traits>
struct half_type {}; struct bf16_type {}; struct s8_type {};
template <class T, int N> struct Vec { T elems[N]; };
template <class T> struct Types { typedef Vec<unsigned, 4> A; typedef Vec<unsigned, 2> B; typedef Vec<float, 4> C; };
"""
# a flag chooses sums of f16, in two of four words: a pointer in each branch
FLAG = f"""template <class T, bool F16>
__device__ inline void mma(const typename Types<T>::A& left, const typename Types<T>::B& right,
    typename Types<T>::C& sums) {{
    const unsigned* a = reinterpret_cast<const unsigned*>(&left);
    const unsigned* b = reinterpret_cast<const unsigned*>(&right);
    if constexpr (std::is_same<T, half_type>::value && !F16) {{
        float* c = reinterpret_cast<float*>(&sums);
        {F32}
    }} else if constexpr (std::is_same<T, half_type>::value && F16) {{
        unsigned* c = reinterpret_cast<unsigned*>(&sums);
        {F16}
    }} else if constexpr (std::is_same<T, bf16_type>::value) {{
        float* c = reinterpret_cast<float*>(&sums);
        {BF16}
    }}
}}
"""
# a type chooses floats or whole numbers
TYPE = f"""template <class T, class Acc>
__device__ inline void mul(const unsigned a[4], const unsigned b[2], Acc c[4]) {{
    if constexpr (std::is_same_v<T, bf16_type>)
        {BF16}
    if constexpr (std::is_same_v<T, s8_type>)
        {S32}
}}
"""
# the same with C apart: whole numbers are clamped, which changes none here
SATURATED = S32.replace(".col.s32", ".col.satfinite.s32")
FLAG_APART = FLAG.replace("void mma(", "void begin(").replace("& sums)", "& sums, const typename Types<T>::C& added)")
FLAG_APART = re.sub(
    r"(\w+)\* c = reinterpret_cast<.*;",
    r"\g<0>\n        const \1* e = reinterpret_cast<const \1*>(&added);",
    FLAG_APART,
)
TYPE_APART = TYPE.replace("void mul(", "void first(").replace("Acc c[4]", "Acc c[4], const Acc e[4]")
for product, kind, count in ((F32, "f", 4), (F16, "r", 2), (BF16, "f", 4), (S32, "r", 4)):
    made = apart(product if product != S32 else SATURATED, kind, count)
    FLAG_APART, TYPE_APART = (x.replace(product, made) for x in (FLAG_APART, TYPE_APART))
STEP = "for (int j = 0; j < 2; ++j) mma<T, F16>(a, b[j], acc[j]);"
RESTARTED = """
template <class T, bool F16> __global__ void restarted(unsigned* out, int n, int here) {
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    out += 8 * threadIdx.x;
    typename Types<T>::A a;
    typename Types<T>::B b[2];
    typename Types<T>::C acc[2], e;
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&acc[i / 4].elems[i % 4], out + i, 4);
    e = acc[0];
    for (int k = 0; k < n; ++k) {
        load(a.elems, b[0].elems, b[1].elems, k, __is_same(T, half_type) ? 0 : 1);
        begin<T, F16>(a, b[0], acc[0], e);
        mma<T, F16>(a, b[1], acc[0]);
        mma<T, F16>(a, b[1], acc[1]);
    }
    for (int i = 0; i < 8; ++i) __builtin_memcpy(out + i, &acc[i / 4].elems[i % 4], 4);
}
template <class T, class Acc> __global__ void either_restarted(unsigned* out, int n, int here) {
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    out += 8 * threadIdx.x;
    unsigned a[4], b[2][2];
    Acc acc[2][4], e[4];
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&acc[i / 4][i % 4], out + i, 4);
    for (int i = 0; i < 4; ++i) e[i] = acc[0][i];
    for (int k = 0; k < n; ++k) {
        load(a, b[0], b[1], k, __is_same(T, s8_type) ? 2 : 1);
        first<T>(a, b[0], acc[0], e);
        mul<T>(a, b[1], acc[0]);
        mul<T>(a, b[1], acc[1]);
    }
    for (int i = 0; i < 8; ++i) __builtin_memcpy(out + i, &acc[i / 4][i % 4], 4);
}
"""
KERNEL = """
template <class T, bool F16> __global__ void floats(unsigned* out, int n, int here) {
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    out += 8 * threadIdx.x;
    typename Types<T>::A a;
    typename Types<T>::B b[2];
    typename Types<T>::C acc[2];
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&acc[i / 4].elems[i % 4], out + i, 4);
    for (int k = 0; k < n; ++k) {
        load(a.elems, b[0].elems, b[1].elems, k, __is_same(T, half_type) ? 0 : 1);
        STEP
    }
    for (int i = 0; i < 8; ++i) __builtin_memcpy(out + i, &acc[i / 4].elems[i % 4], 4);
}
template <class T, class Acc> __global__ void either(unsigned* out, int n, int here) {
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    out += 8 * threadIdx.x;
    unsigned a[4], b[2][2];
    Acc acc[2][4];
    for (int i = 0; i < 8; ++i) __builtin_memcpy(&acc[i / 4][i % 4], out + i, 4);
    for (int k = 0; k < n; ++k) {
        load(a, b[0], b[1], k, __is_same(T, s8_type) ? 2 : 1);
        for (int j = 0; j < 2; ++j) mul<T>(a, b[j], acc[j]);
    }
    for (int i = 0; i < 8; ++i) __builtin_memcpy(out + i, &acc[i / 4][i % 4], 4);
}
"""
LOAD = "__device__ void load(unsigned*, unsigned*, unsigned*, int, int);\n"


def test_a_tile_has_the_words_of_all() -> None:
    out = converted(HEAD + LOAD + FLAG + TYPE + KERNEL.replace("STEP", STEP))
    assert out.count("cu2port::mma::Into<cu2port::mma::Bits> tile = {}") == 2
    assert out.count("{c[0], c[1], c[2], c[3]}, tile);") == 3
    assert "{std::uint32_t(c[0]), std::uint32_t(c[1])}, tile);" in out
    assert "mma<T, F16>(a, b[j], acc[j], acc_kept.of(acc, acc[j]));" in out
    assert "mul<T>(a, b[j], acc[j], acc_kept.at(acc, acc[j]));" in out
    names = "cu2port::mma::Kind<cu2port::mma::Exact, cu2port::mma::bf16, cu2port::mma::bf16>, cu2port::mma::Kind<"
    assert names + "cu2port::mma::Integers, cu2port::mma::s8, cu2port::mma::s8>, cu2port::mma::Bits>(acc);" in out
    assert converted(out) == out


def test_c_apart_begins_a_tile_of_words() -> None:
    out = converted(HEAD + LOAD + FLAG + TYPE + FLAG_APART + TYPE_APART + RESTARTED)
    assert "begin<T, F16>(a, b[0], acc[0], e, acc_kept.of(acc, acc[0]));" in out
    assert "first<T>(a, b[0], acc[0], e, acc_kept.at(acc, acc[0]));" in out
    assert out.count("tile.from_c());") == 5
    assert "cu2port::mma::m16n8k32_s32_s8_s8_s32_satfinite({" in out


ELSE = r"\1#if __CUDA_ARCH__ == 750\n\1\2 c = 0;\n#else\n\g<0>\n#endif"


def test_a_pointer_of_a_branch_that_is_left_out_counts_for_nothing() -> None:
    flag = re.sub(r"( +)(float\*|unsigned\*) c = .*;", ELSE, FLAG)
    assert flag.count(" c = 0;") == 3
    assert "acc[j], acc_kept.of(acc, acc[j]))" in converted(HEAD + LOAD + flag + KERNEL.replace("STEP", STEP))


@pytest.mark.parametrize(
    ("parameters", "given", "left"),
    [
        (", int at = 0", "", "0, "),
        (", int at = 0, unsigned = 1u, int of = 2", ", 1, 2", "2, "),
        (", int at = 0, unsigned = 1u, int of = 2", ", 1", None),
        (", int of = 7, int at = 2", ", 3", "2, "),
        (", int at = 1", ", 0", ""),
        (", int at = ONE", "", None),
        (", int at = 1 + 1", "", None),
    ],
)
def test_numbers_by_default_are_given_before_the_tile(parameters: str, given: str, left: str | None) -> None:
    text = HEAD + LOAD + FLAG.replace("& sums)", f"& sums{parameters})")
    out = converted(text + KERNEL.replace("STEP", STEP.replace("acc[j])", f"acc[j]{given})")))
    assert ("acc_kept.of(acc, acc[j])" in out) == (left is not None)
    if left is not None:
        assert f"mma<T, F16>(a, b[j], acc[j]{given}, {left}acc_kept.of(acc, acc[j]));" in out


def test_the_report_says_that_sums_of_f16_are_exchanged() -> None:
    found = translate(HEAD + LOAD + FLAG + KERNEL.replace("STEP", STEP), Options(), path="a.cu").findings
    said = [x.finding.message for x in found if x.finding.code == "CU401"]
    assert ["layout in the loop around" in x for x in said] == [True, False, True]
    assert "its sums go to and from tiles for sums of several types at each product" in said[1]


ZERO = asm("m16n8k16.row.col.f16.f16.f16.f16", "r", 2).replace("+r", "=r").replace("{%0,%1};", "{%8,%9};")


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (("else if constexpr (std::is_same<T, bf16_type>::value)", "if constexpr (sizeof(T) == 1)"), True),
        ((F16, ZERO.replace('"r"(b[1])', '"r"(b[1]), "r"(0), "r"(0)')), True),
        ((F16, F16.replace("c[1]", "c[3]").replace("c[0]", "c[2]")), False),  # the last two of four words
        ((F16, F16 + " c[3] = 0;"), False),
        (("unsigned* c = reinterpret_cast<unsigned*>(&sums)", "unsigned* c = other"), False),
        (("unsigned* c = reinterpret_cast<unsigned*>(&sums)", "unsigned* c = other(&sums)"), False),
        ((S32, S32 + " c[0] += 1;"), False),
    ],
)
def test_what_a_branch_does_beside(change: tuple[str, str], kept: bool) -> None:
    text = HEAD + LOAD + FLAG + TYPE + KERNEL.replace("STEP", STEP)
    assert change[0] in text
    out = converted(text.replace(*change))
    assert ("mma<T, F16>(a, b[j], acc[j], acc_kept" in out and "mul<T>(a, b[j], acc[j], acc_kept" in out) == kept
    if "=r" in change[1]:
        assert "std::uint32_t(c[1])}, " not in out
        assert ", tile.from_c());" in out


def test_elements_are_whole_tiles_of_four_words() -> None:
    """Two words of f16 would be a tile by themselves."""
    text = HEAD + LOAD + FLAG.replace("typename Types<T>::C& sums", "float* sums").replace("(&sums)", "(sums)")
    step = STEP.replace("acc[j]", "&acc[PLACE]")
    for place, kept in (("4 * j", True), ("2 * j", False), ("4 * j + 2", False)):
        kernel = KERNEL.replace("typename Types<T>::C acc[2]", "float acc[8]").replace(
            "acc[i / 4].elems[i % 4]", "acc[i]"
        )
        out = converted(text + kernel.replace("STEP", step.replace("PLACE", place)))
        assert (f"acc_kept.at(acc, &acc[{place}])" in out) == kept


# --- What the sums are, element by element ---------------------------------------------------------------------------

# Elements of A and B by what they are, small so that all sums are exact. C has the number of each element.
DEVICE = """
__device__ unsigned chosen(unsigned x) { return (x * 2654435761u) >> 30; }
__device__ unsigned packed(unsigned at, int type) {
    const unsigned of[3][4] = {{0, 0x3c00, 0x4000, 0xc000}, {0, 0x3f80, 0x4000, 0xc000}, {0, 1, 2, 0xfe}};
    unsigned out = 0;
    const int count = type == 2 ? 4 : 2;
    for (int i = 0; i < count; ++i) out |= of[type][chosen(at * 4 + i)] << (32 / count * i);
    return out;
}
__device__ void load(unsigned* a, unsigned* b0, unsigned* b1, int k, int type) {
    const unsigned at = (k * 64 + threadIdx.x) * 8;
    for (int i = 0; i < 4; ++i) a[i] = packed(at + i, type);
    for (int i = 0; i < 2; ++i) b0[i] = packed(at + 4 + i, type), b1[i] = packed(at + 6 + i, type);
}
"""
MAIN = """
int main(int, char** names) {
    unsigned* out;
    void (*const kernels[])(unsigned*, int, int) = {floats<half_type, false>, floats<half_type, true>,
        floats<bf16_type, false>, either<bf16_type, float>, either<s8_type, int>, restarted<half_type, false>,
        restarted<half_type, true>, restarted<bf16_type, false>, either_restarted<bf16_type, float>,
        either_restarted<s8_type, int>};
    (void)hipMallocManaged((void**)&out, 2048);
    std::FILE* to = std::fopen(names[2], "wb");
    for (int mode = 0; mode < 10; ++mode)
        for (int here = 1; here < 4; ++here) {
            for (int i = 0; i < 512; ++i) {
                const float number = i;
                const _Float16 pair[2] = {_Float16(2 * i), _Float16(2 * i + 1)};
                if (mode % 5 == 1 && i % 4 < 2) __builtin_memcpy(out + i, pair, 4);
                else if (mode % 5 == 4) out[i] = i;
                else __builtin_memcpy(out + i, &number, 4);
            }
            kernels[mode]<<<1, 64>>>(out, 3, here);
            if (hipDeviceSynchronize() != hipSuccess) return 3;
            std::fwrite(out, 4, 512, to);
        }
    std::fclose(to);
}
"""


def program(kept: bool) -> str:
    text = HEAD + DEVICE + FLAG + TYPE + FLAG_APART + TYPE_APART + KERNEL.replace("STEP", STEP) + RESTARTED
    if not kept:
        for declared in ("C acc[2];", "Acc acc[2][4];", "C acc[2], e;", "Acc acc[2][4], e[4];"):
            text = text.replace(declared, declared + " auto* all = &acc[0];")
    return whole(converted(text), MAIN, kept)


def _chosen(x: int) -> int:
    return x * 2654435761 % 2**32 >> 30


def _expected(mode: int, warp: int) -> Iterator[bytes]:
    """The words of the warp's lanes: C's numbers and three products by the manual's formulas. In modes from 5 on the
    first four begin again in each step, with two products."""
    mode, restarted = mode % 5, mode >= 5
    count = 4 if mode == 4 else 2  # elements in a register
    numbers = (0, 1, 2, -2)

    def element(k: int, lane: int, register: int, i: int) -> int:
        return numbers[_chosen((((k * 64 + 32 * warp + lane) * 8 + register) * 4 + i) % 2**32)]

    products: list[list[list[int]]] = [[[0] * 8 for _ in range(16)] for _ in range(2)]
    for k in range(3):
        a: dict[tuple[int, int], int] = {}
        b: list[dict[tuple[int, int], int]] = [{}, {}]
        for lane, r, i in itertools.product(range(32), range(4), range(count)):
            row, depth = lane // 4 + 8 * (r % 2), lane % 4 * count + i + 4 * count * (r // 2)
            a[row, depth] = element(k, lane, r, i)
        for j, lane, r, i in itertools.product(range(2), range(32), range(2), range(count)):
            b[j][lane % 4 * count + i + 4 * count * r, lane // 4] = element(k, lane, 4 + 2 * j + r, i)
        for j, m, n in itertools.product(range(2), range(16), range(8)):
            of = [sum(a[m, x] * y[x, n] for x in range(8 * count)) for y in b]
            products[j][m][n] = sum(of) if restarted and j == 0 else products[j][m][n] + of[j]
    for lane, j in itertools.product(range(32), range(2)):
        at = 8 * (32 * warp + lane) + 4 * j
        of = [products[j][lane // 4 + 8 * (i // 2)][lane % 4 * 2 + i % 2] for i in range(4)]
        if mode == 1:
            begin = [2 * at, 2 * at + 1, 2 * at + 2, 2 * at + 3]
            yield struct.pack("<4e", *(x + y for x, y in zip(begin, of, strict=True)))
            yield struct.pack("<2f", at + 2, at + 3)
        else:
            yield struct.pack("<4i" if mode == 4 else "<4f", *(at + i + x for i, x in enumerate(of)))


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("kept", [True, False])
def test_each_element_has_its_number_and_its_products(kept: bool, wave: int, tmp_path: Path) -> None:
    got = run_simulated(program(kept), b"", wave, tmp_path)
    check(got)


def check(got: bytes) -> None:
    """What the program prints, exactly."""
    for mode, (n, here) in itertools.product(range(10), enumerate((1, 2, 3))):
        part = got[2048 * (3 * mode + n) :][:2048]
        for warp in range(2):
            if here >> warp & 1:
                assert part[1024 * warp :][:1024] == b"".join(_expected(mode, warp)), (mode, here, warp)


KERNELS = {"6floatsI9half_typeLb0EEvPjii": True, "6eitherI9bf16_typefEvPjii": True, "6eitherI7s8_typeiEvPjii": False}
ENTRIES = """
template __global__ void floats<half_type, false>(unsigned*, int, int);
template __global__ void either<bf16_type, float>(unsigned*, int, int);
template __global__ void either<s8_type, int>(unsigned*, int, int);
"""
FROM = (
    "__device__ void load(unsigned* a, unsigned* b0, unsigned* b1, int k, int) {\n"
    "    const volatile unsigned* in = reinterpret_cast<const volatile unsigned*>(4096ull);\n"
    "    for (int i = 0; i < 4; ++i) a[i] = in[8 * k + i];\n"
    "    for (int i = 0; i < 2; ++i) b0[i] = in[8 * k + 4 + i], b1[i] = in[8 * k + 6 + i];\n}\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_sums_stay_where_the_instruction_has_them(arch: str, tmp_path: Path) -> None:
    """A and B are exchanged as ever, and nothing else. gfx1100 has no instruction for whole numbers."""
    text = HEAD + FROM + FLAG + TYPE + KERNEL.replace("STEP", STEP) + ENTRIES
    text = converted(re.sub(r".*threadIdx.*\n", "", text))
    code = machine_code(text, tmp_path, arch, "-O3", "--gpu-max-threads-per-block=256")
    for kernel, floats in KERNELS.items():
        (body,) = (x for name, x in code.items() if kernel in name)
        if arch == "gfx942":
            loop = TOOL.with_matrix(body)
            assert (loop.count("v_mfma"), loop.count("ds_bpermute")) == (4, 8)
        else:
            assert (TOOL.with_matrix(body).count("v_wmma") if floats else body.count("v_wmma")) == 2 * floats
