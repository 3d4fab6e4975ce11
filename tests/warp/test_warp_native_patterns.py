"""`--warp native`: each row of the table of patterns, by its example, and the ladders that its steps may be in.

As in test_warp_native.py, native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.warp.native.patterns import COLLECTIVES, FORMS, STEPS, Form, Step

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <cstdio>
#include <functional>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define SHORT(x) ((short)(x))
__device__ int w;
__device__ int smaller(int a, int b) { return a < b ? a : b; }
__device__ int less_of(short a, short b) { return a < b ? a : b; }
__device__ int no_order(int a, int b) { return a + 2 * b; }
struct Larger { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };
template <typename T> struct Sum { __device__ T operator()(const T& a, const T& b) const { return a + b; } };
struct Base { __device__ int operator()(int a, int b) const { return b; } };
using Other = Base;
struct Later { __device__ int operator()(int a, int b) const { return b; } };
__device__ int half(int a, int b) { return a + b; }
struct Derived : Other { __device__ int operator()(int a, int b) const { return a + b; } };
struct Narrow { __device__ short operator()(short a, short b) const { return a + b; } };
__device__ int other_of(int v, int o) { return __shfl_xor_sync(FULL, v, o); }
template <typename T> __device__ __forceinline__ T below_of(T v, int o) { return __shfl_down_sync(FULL, v, o, 32); }
__device__ short cut_other_of(short v, int o) { return __shfl_xor_sync(FULL, v, o); }
__device__ int half_of(int v, int o) { return __shfl_xor_sync(0xffffu, v, o); }
__device__ int next_of(int v, int o) { return __shfl_xor_sync(FULL, v + 1, o); }
__device__ int global_of(int o) { return __shfl_xor_sync(FULL, w, o); }
__device__ int warp_total(int v) { return __reduce_add_sync(FULL, v); }
__device__ int warp_least(int v) { return __reduce_min_sync(FULL, v); }
__device__ int by_statements(int v) {
    for (int i = 0; i < 5; i++) v += other_of(v, 1 << i);
    return v;
}
#define WIDTH 32
constexpr int d16 = 15;
template <int W> __device__ int by_width(int v) {
    if (W >= 32) v += __shfl_xor_sync(FULL, v, 16);
    if (W >= 16) v += __shfl_xor_sync(FULL, v, 8);
    if (W >= 8) v += __shfl_xor_sync(FULL, v, 4);
    if (W >= 4) v += __shfl_xor_sync(FULL, v, 2);
    if (W >= 2) v += __shfl_xor_sync(FULL, v, 1);
    return v;
}
__device__ int lane_index() { return threadIdx.x % 32; }
__device__ int warp_index() { return threadIdx.x / 32; }
__device__ int block_total(int v) {
    __shared__ int s[32];
    v = by_statements(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    if (threadIdx.x < 32) v = by_statements(v);
    return v;
}
__device__ int by_a_call(int v) { return by_statements(v); }
__device__ short cut(int v) { return by_statements(v); }
"""
_X = "__shfl_xor_sync(FULL, {}, o)"
_LOOP = "for (int o = 16; o > 0; o >>= 1) "
_EACH = (16, 8, 4, 2, 1)
_ATOMICS = {"add": "Add", "xor": "Xor", "or": "Or", "and": "And", "max": "Max"}


def _kernel(text: str, last: str = "Add") -> str:
    """A body that ends in an atomic operation for each warp."""
    return (
        f"int v = in[threadIdx.x], lane = threadIdx.x % 32;\n    {text}\n    "
        f"if (lane == 0) atomic{last}(out + blockIdx.x, v);"
    )


def _step(row: Step) -> tuple[str, str]:
    """A row as code puts it into a loop, and what that becomes."""
    text = row.cuda.replace("HELD", "t").replace("V", "v").replace("F(", "smaller(")
    text = f"int t = OTHER; {text.replace('OTHER', 't')}" if "HELD" in row.cuda else text
    made = "" if row.op == "add" else "return smaller(a, b);" if row.result == "F" else f"return {row.result};"
    loop = f"{_LOOP}{{ {text} }}".replace("OTHER", _X.format("v"))
    last = _kernel(loop, _ATOMICS.get(row.op, "Min")) if row.op != "mul" else _slots(loop)
    return last, made or "wave::sum(v)"


def _slots(ladder: str) -> str:
    """A body that multiplies the values of a block."""
    return f"""__shared__ int s[32];
    int v = in[threadIdx.x] | 1;
    {ladder}
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 1;
    if (threadIdx.x < 32) {{ {ladder} }}
    if (threadIdx.x == 0) out[blockIdx.x] = v;"""


#: Bodies of the rows' examples, and what each becomes.
ROWS = (
    {f"step_{n}": _step(row) for n, row in enumerate(STEPS)}
    | {
        row.name.strip("_"): (
            f"{row.typ or 'int'} v = {row.name}(FULL, in[threadIdx.x] & 63);\n    if (threadIdx.x % 32 == 0) "
            f"atomic{row.op.capitalize()}({'(unsigned*)' if row.typ == 'unsigned' else ''}out, v);",
            "wave::" + row.call[0],
        )
        for row in COLLECTIVES
        if row.typ != "unsigned"
    }
    | {
        row.name.strip("_"): (
            f"__shared__ unsigned s[32];\n    unsigned v = {row.name}(FULL, in[threadIdx.x]);\n"
            "    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;\n    __syncthreads();\n"
            "    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : "
            f"{'~0u' if row.op == 'and' else '0'};\n"
            f"    if (threadIdx.x < 32) v = {row.name}(FULL, v);\n    if (threadIdx.x == 0) out[blockIdx.x] = v;",
            "wave::" + row.call[0],
        )
        for row in COLLECTIVES
        if row.typ == "unsigned"
    }
)
#: What is in the holes of a form's example.
_HOLES = {
    "TID": "tid", "SIZE": "32", "LAST": "31", "FIVE": "5", "WIDE": "32", "TOP": "31", "ONE": "1", "ZERO": "0",
    "FEW": "8", "THREADS": "blockDim.x", "MANY": "256", "FRACTION": "32.f", "UP_TO_32": "32", "UP_TO_33": "33",
    "TILE": "tile", "BLOCK": "cg::this_thread_block()", "LANE_INDEX": "lane_index", "WARP_INDEX": "warp_index",
    "LANE": "lane", "WARP": "warp", "COUNT": "(blockDim.x >> 5)", "ROUNDED": "blockDim.x / 32", "I": "i",
    "PLAIN": "blockIdx.x < 9",
    "LEADER": "lane == 0", "FIRST": "warp == 0", "THREAD": "tid == 0", "SLOTS": "tid < blockDim.x / 32",
    "V": "t", "ARRAY": "s", "PLACE": "lane", "BEYOND": "0", "FROM": "0", "BOUND": "blockDim.x / 32", "MASK": "FULL",
    "VOTE": "v & 1", "VALUE": "v", "FUNCTOR": "cg::plus<int>", "X_ZERO": "threadIdx.x == 0",
    "Y_ZERO": "!threadIdx.y",
}  # fmt: skip
_BLOCK = """__shared__ int s[32];
    BEFORE
    const int tid = TID, warp = WARP, lane = LANE;
    int v = in[tid], t = 0;
    v = SUM;
    if (LEADER) s[warp] = v;
    BARRIER
    READ
    if (FIRST) t = by_statements(t);
    if (THREAD) out[blockIdx.x] = t;"""
_USUAL = {"TID": "threadIdx.x", "LANE": "tid % 32", "WARP": "tid / 32", "SUM": "by_statements(v)",
          "LEADER": "lane == 0", "READ": "t = tid < COUNT ? s[lane] : 0;", "FIRST": "warp == 0", "THREAD": "tid == 0",
          "COUNT": "THREADS / 32", "THREADS": "blockDim.x", "BEFORE": "", "BARRIER": "__syncthreads();"}  # fmt: skip
_PLANE = {"TID": "threadIdx.y * blockDim.x + threadIdx.x", "THREADS": "blockDim.x * blockDim.y"}
_TILE = "auto tile = cg::tiled_partition<32>(cg::this_thread_block());"
#: Where an example is in the block's sum, by its meaning.
_FRAMES = {
    "barrier": ("BARRIER", "{};"),
    "count": ("COUNT", "({})"),
    "rounded": ("COUNT", "{}"),
    "slots": ("READ", "t = {} ? s[lane] : 0;"),
    "gathered": ("READ", "t = {};"),
    "gathering": ("READ", "{}"),
    "serial": ("READ", "if (tid == 0) {{ {} out[2 + blockIdx.x] = t; }} t = tid < blockDim.x / 32 ? s[lane] : 0;"),
    "counted": ("SUM", "{}"),
    "tiled": ("SUM", "{}"),
    "x_zero": ("THREAD", "{} && threadIdx.y == 0"),
    "y_zero": ("THREAD", "threadIdx.x == 0 && {}"),
}


def _filled(pattern: str, words: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda m: words.get(m[0], m[0]), pattern)


def _block(words: dict[str, str]) -> str:
    """The block's sum with some words written in another way."""
    body = _BLOCK
    for name, text in (_USUAL | words).items():
        body = re.sub(rf"\b{name}\b", text, body)
    return body


def _form(row: Form) -> str:
    """A row as code, in a kernel where it counts."""
    example = _filled(row.cuda, _HOLES)
    if row.means in ("small", "large"):
        arms = ("by_statements", "block_total")[:: 1 if row.means == "small" else -1]
        return (
            f"int v = in[threadIdx.x]; v = {example} ? {arms[0]}(v) : {arms[1]}(v); if (threadIdx.x == 0) out[0] = v;"
        )
    word, frame = _FRAMES.get(row.means, (row.means.upper(), "{}"))
    plane = row.where == "plane" or row.means.endswith("_zero")
    words = _PLANE if plane else {"BEFORE": _TILE} if "TILE" in row.cuda else {}
    return _block({**words, word: frame.format(example)})


FORM_ROWS = {f"form_{n}": row for n, row in enumerate(FORMS) if row.cuda != "COUNT"}
#: Ways to write a ladder.
NATIVE = (
    {name: body for name, (body, _) in ROWS.items()}
    | {name: _form(row) for name, row in FORM_ROWS.items()}
    | {
        "constructed": _kernel(f"{_LOOP}{{ int t({_X.format('v')}); v += t; }}"),
        "held": _kernel(
            "int t; (void)t; " + "".join(f"v += __shfl_xor_sync(FULL, v, {d}); (void)lane; " for d in _EACH)
        ),
        "set_again": _kernel(
            "int t = __shfl_down_sync(FULL, v, 16); v += t; "
            + "".join(f"t = __shfl_down_sync(FULL, v, {d}); v += t; " for d in _EACH[1:])
        ),
        "small_counter": _kernel(f"for (unsigned char o = 16; o; o >>= 1) v += {_X.format('v')};"),
        "long_counter": _kernel(f"for (size_t o = 1; o < 32; o += o) v += {_X.format('v')};"),
        "powers": _kernel("for (int i = 0; i < 5; i++) v += __shfl_xor_sync(FULL, v, 1 << i);"),
        "powers_down": _kernel("for (int i = 4; i >= 0; i--) v += __shfl_down_sync(FULL, v, 1 << i);"),
        "in_the_condition": _kernel("for (int o = warpSize; o >>= 1;) v += __shfl_xor_sync(FULL, v, o);"),
        "divided": _kernel("for (int n = 32; n >= 2; n /= 2) v += __shfl_xor_sync(FULL, v, n / 2);"),
        "by_a_function": _kernel(f"{_LOOP}v += other_of(v, o);"),
        "by_a_function_and_a_variable": _kernel(f"{_LOOP}{{ const int t = below_of(v, o); v = t + v; }}"),
        "of_a_library": _kernel(f"{_LOOP}v = std::plus<int>()(v, {_X.format('v')});"),
        "class_template": _kernel(f"{_LOOP}v = Sum<int>()({_X.format('v')}, v);"),
        "two_at_once": _kernel(
            f"int m = v * 3; {_LOOP}{{ int a = {_X.format('v')}, b = {_X.format('m')}; v += a; m = max(m, b); }} "
            "if (lane == 0) atomicMax(&out[7], m);"
        ),
        "two_in_turn": _kernel(
            "int m = v * 3; "
            + "".join(f"v += __shfl_xor_sync(FULL, v, {d}); m ^= __shfl_xor_sync(FULL, m, {d}); " for d in _EACH)
            + "if (lane == 0) atomicXor(out + 7, m);"
        ),
        "unused_lane": _kernel(f"(void)lane; {_LOOP}v += {_X.format('v')};"),
        "guarded": _kernel("".join(f"if (256 >= {2 * d}) v += __shfl_xor_sync(FULL, v, {d}); " for d in _EACH)),
        "guarded_in_blocks": _kernel(
            "".join(f"if constexpr (WIDTH > {d}) {{ v += __shfl_down_sync(FULL, v, {d}); }} " for d in _EACH)
        ),
        "guarded_in_vain": _kernel(
            "v += __shfl_xor_sync(FULL, v, 16); if (WIDTH < 32) v += __shfl_xor_sync(FULL, v, 32); "
            + "".join(f"v += __shfl_xor_sync(FULL, v, {d}); " for d in _EACH[1:])
        ),
        "guarded_by_a_template": _kernel("v = by_width<32>(v);"),
        "wrapped_call": _kernel("v = warp_total(v);"),
        "wrapped_least": _kernel("v = warp_least(v - 40);", "Min"),
        "wrapped_twice": _kernel("v = by_a_call(v);"),
    }
)
#: Forms that are nearly one: the word of the block's sum, and what stands there.
_NEARLY = {
    "two_lanes": ("LEADER", "lane < 2"),
    "another_lane": ("LEADER", "lane == 1"),
    "half_the_lanes": ("LANE", "tid & 15"),
    "one_lane_less": ("FIRST", "tid <= 30"),
    "two_warps": ("FIRST", "warp < 2"),
    "two_threads": ("LEADER", "tid < 2"),
    "halves_of_warps": ("WARP", "tid >> 4"),
    "rest_of_half_a_warp": ("LANE", "tid - warp * 16"),
    "rest_of_another_warp": ("LANE", "tid - (warp + 1) * 32"),
    "two_threads_less": ("COUNT", "(blockDim.x - 2) / 32 + 1"),
    "one_warp_less": ("COUNT", "(blockDim.x - 1) / 32"),
    "rounded_to_16": ("COUNT", "(blockDim.x + 15) / 32"),
    "seven_warps": ("COUNT", "7"),
    "from_the_second": ("READ", "for (int i = 1; i < blockDim.x / 32; ++i) t += s[i];"),
    "another_counter": ("READ", "int j = 0; for (int i = 0; i < blockDim.x / 32; ++j) t += s[i];"),
    "product": ("READ", "t = 1; for (int i = 0; i < blockDim.x / 32; ++i) t *= s[i];"),
    "another_target": ("READ", "int u = 0; if (tid < blockDim.x / 32) t = s[lane]; else u = 0; t += u;"),
}


#: Those that look like them and stay.
LOGICAL = {name: _block(dict([words])) for name, words in _NEARLY.items()} | {
    "no_barrier": _block({}).replace("__syncthreads();", ""),
    "barrier_of_some": _block({}).replace("__syncthreads();", "if (v > 9) __syncwarp();"),
    "cut_in_a_cast": _kernel(f"{_LOOP}v += (short){_X.format('v')};"),
    "cut_by_name": _kernel(f"{_LOOP}v += static_cast<char>({_X.format('v')});"),
    "cut_by_a_macro": _kernel(f"{_LOOP}v += SHORT({_X.format('v')});"),
    "cut_in_a_function": _kernel(f"{_LOOP}v += cut_other_of(v, o);"),
    "cut_in_an_operation": _kernel(f"{_LOOP}v = less_of(v, {_X.format('v')});", "Min"),
    "cut_in_a_functor": _kernel(f"{_LOOP}v = Narrow()(v, {_X.format('v')});"),
    "cut_when_returned": _kernel("v = cut(v);"),
    "cut_in_a_template": _kernel(f"{_LOOP}v = Sum<short>()(v, {_X.format('v')});"),
    "no_order": _kernel(f"{_LOOP}v = no_order(v, {_X.format('v')});"),
    "no_order_in_a_functor": _kernel(f"{_LOOP}v = Later()(v, {_X.format('v')});"),
    "another_class": _kernel(f"{_LOOP}v = Other()(v, {_X.format('v')});"),
    "hidden_by_a_lambda": _kernel(
        f"auto half = [](int a, int b) {{ return a; }}; {_LOOP}v = half(v, {_X.format('v')});"
    ),
    "which_is_less": _kernel(f"{_LOOP}v = std::less<int>()(v, {_X.format('v')});"),
    "difference": _kernel(f"{_LOOP}v = {_X.format('v')} - v;"),
    "half_a_mask": _kernel(f"{_LOOP}v += half_of(v, o);"),
    "another_value": _kernel(f"{_LOOP}v += next_of(v, o);"),
    "a_global_of_that_name": _kernel(f"int w = v; {_LOOP}w += global_of(o); v = w;"),
    "guarded_by_the_block": _kernel(
        "".join(f"if (blockDim.x >= {2 * d}) v += __shfl_xor_sync(FULL, v, {d}); " for d in _EACH)
    ),
    "guarded_by_lanes": _kernel("".join(f"if (lane >= 0) v += __shfl_xor_sync(FULL, v, {d}); " for d in _EACH)),
    "guarded_away": _kernel("".join(f"if (d16 >= {d}) v += __shfl_xor_sync(FULL, v, {d}); " for d in _EACH)),
    "guarded_else": _kernel(
        "".join(f"if (WIDTH >= {d}) v += __shfl_xor_sync(FULL, v, {d}); else v = 0; " for d in _EACH)
    ),
    "guarded_by_half_a_template": _kernel("v = by_width<16>(v);"),
    "four_powers": _kernel("for (int i = 0; i < 4; i++) v += __shfl_xor_sync(FULL, v, 1 << i);"),
    "six_powers": _kernel("for (int i = 0; i <= 5; i++) v += __shfl_xor_sync(FULL, v, 1 << i);"),
    "counted_in_a_bool": _kernel(f"for (bool o = 16; o > 0; o >>= 1) v += {_X.format('v')};"),
    "a_power_twice": _kernel("for (int i = 0; i < 5; i++) v += __shfl_xor_sync(FULL, v, 1 << (i / 2));"),
    "two_distances": _kernel(f"{_LOOP}v = v < {_X.format('v')} ? __shfl_xor_sync(FULL, v, 16) : v;", "Max"),
    "changed_between": _kernel(f"{_LOOP}{{ int t = {_X.format('v')}; v += 1; v += t; }}"),
    "old_value": _kernel(f"int m = v; {_LOOP}{{ int t = {_X.format('v')}; v += {_X.format('v')}; m += t; }} v = m;"),
    "each_of_the_other": _kernel(f"int m = 1; {_LOOP}{{ v += {_X.format('m')}; m += {_X.format('v')}; }}"),
    "shuffled_in_a_branch": _kernel(f"{_LOOP}if ({_X.format('v')} > v) v = {_X.format('v')};", "Max"),
    "shuffled_in_an_arm": _kernel(f"{_LOOP}v = v > {_X.format('v')} ? v : {_X.format('v')};", "Max"),
    "used_again": _kernel(
        "int t = __shfl_xor_sync(FULL, v, 16); v += t; "
        + "".join(f"t = __shfl_xor_sync(FULL, v, {d}); v += t; " for d in _EACH[1:])
        + "v += t;"
    ),
    "of_a_narrow_value": _kernel("unsigned char c = v; v = __reduce_min_sync(FULL, c + 0ull);", "Min"),
    "some_lanes": _kernel("v = __reduce_add_sync(0xffffu, v);"),
    "any_decides": _kernel("if (__any_sync(FULL, v > 90)) v += 1; v = warp_total(v);"),
    "all_of_bits": """__shared__ int s[32];
    int v = in[threadIdx.x];
    for (int o = 16; o > 0; o >>= 1) v &= __shfl_xor_sync(FULL, v, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : ~0;
    if (threadIdx.x < 32) v = __all_sync(FULL, v);
    if (threadIdx.x == 0) out[0] = v;""",
    "all_as_a_sum": _kernel("v = __all_sync(FULL, v > 5);"),
}
SIZES = (32, 96, 256)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 1024; i++) out[i] = 2;
        NAME<<<2, size>>>(in, out);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 9; i++) printf(" %d", out[i]);
        printf("\\n");
"""


def _kernels(bodies: dict[str, str]) -> str:
    return "".join(f"__global__ void {n}(const int* in, int* out) {{\n    {b}\n}}\n" for n, b in bodies.items())


def _shape(name: str) -> str:
    """The blocks of a kernel, of `size` threads except for one that holds their number."""
    row = FORM_ROWS.get(name)
    if row is None:
        return "size"
    if "MANY" in row.cuda or "FEW" in row.cuda:
        return "256"
    return "dim3(16, size / 16)" if row.where == "plane" or row.means.endswith("_zero") else "size"


def _program(bodies: dict[str, str]) -> str:
    cases = "".join(CASE.replace("NAME<<<2, size>>>", f"NAME<<<2, {_shape(n)}>>>").replace("NAME", n) for n in bodies)
    return HEAD + _kernels(bodies) + MAIN.replace("SIZES", ", ".join(map(str, SIZES))).replace("CASES", cases)


@pytest.fixture(scope="module")
def wrote(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program(NATIVE))


@pytest.mark.parametrize("name", NATIVE)
def test_answers_are_cudas(name: str, wrote: Answers) -> None:
    for size in SIZES:
        right = wrote["logical", 32][f"{name} {size} 0"]
        assert right.split() != ["2"] * 9, size
        assert wrote["native", 32][f"{name} {size} 0"] == right, size
        assert wrote["native", 64][f"{name} {size} 0"] == right, size


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program({**NATIVE, **LOGICAL}))
    assert {n for n in NATIVE if found.get(n) != "CU356"} == set()
    assert {n for n in LOGICAL if found.get(n) != "CU357"} == set()


@pytest.mark.parametrize("name", ROWS)
def test_what_an_example_becomes(name: str) -> None:
    body, becomes = ROWS[name]
    made = translate(_program({name: body}), Options(warp="native"), path="p.cu").output.decode()
    assert becomes in made
