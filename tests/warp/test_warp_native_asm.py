"""`--warp native`: inline PTX that is a thread's own affair is an ordinary statement; what lanes do in it stays.

As in test_warp_native.py, native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cu2port.engine import translate
from cu2port.model import Options

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#define FULL 0xffffffffu
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
"""
_BLOCK = """
        __shared__ int s[32];
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x], y = 1;
        FIRST
        int v = warp_sum(x);
        MIDDLE
        if (lane == 0) s[warp] = v;
        __syncthreads();
        int t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) t = warp_sum(t);
        LAST"""


def _block(first: str = "", middle: str = "", last: str = "if (threadIdx.x == 0) out[0] = t;") -> str:
    return _BLOCK.replace("FIRST", first).replace("MIDDLE", middle).replace("LAST", last)


#: Bodies of kernels `(int* in, int* out)` that become native.
NATIVE = {
    "load": _block('asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(in + threadIdx.x));'),
    "compute": _block('asm("mad.lo.s32 %0, %1, 3, %2;" : "=r"(x) : "r"(in[threadIdx.x]), "r"(threadIdx.x));'),
    "read_and_written": _block('for (int i = 0; i < 4; i++) asm("add.s32 %0, %0, %1;" : "+r"(x) : "r"(in[i]));'),
    "two_outputs": _block(
        """int p[2];
        asm("{\\n\\t.reg .u32 q;\\n\\tand.b32 q, %2, 0xff;\\n\\tmov.u32 %0, q;\\n\\tshr.u32 %1, %2, 4;\\n\\t}"
            : "=r"(p[0]), "=r"(p[1]) : "r"(x));
        x = p[0] + p[1];"""
    ),
    "chosen": _block(
        """asm("{ .reg .pred q; setp.gt.s32 q, %1, 50; selp.s32 %0, %1, 7, q; }" : "=r"(x) : "r"(in[threadIdx.x]));"""
    ),
    "names": _block('asm("sub.s32 %[to], %[from], 2;" : [to] "=r"(x) : [from] "r"(in[threadIdx.x]));'),
    "block_index": _block(
        'asm("mov.u32 %0, %%ctaid.x;" : "=r"(y)); x += y;', last="if (threadIdx.x == 0) out[blockIdx.x] = t;"
    ),
    "after_the_warps": _block(middle='asm("neg.s32 %0, %1;" : "=r"(y) : "r"(x)); out[threadIdx.x + 1] = y;'),
    "store_of_the_first_thread": _block(
        last='if (threadIdx.x == 0) asm volatile("st.global.s32 [%0], %1;" :: "l"(out), "r"(t) : "memory");'
    ),
    "atomic_of_each": _block('asm volatile("red.global.add.s32 [%0], %1;" :: "l"(out + 5), "r"(x) : "memory");'),
    "by_the_first_warp": _block(
        last="""if (threadIdx.x < 32) asm volatile("red.global.add.s32 [%0], 1;" :: "l"(out + 3) : "memory");
        if (threadIdx.x == 0) out[0] = t;"""
    ),
    "fence": _block('asm volatile("membar.gl;" ::: "memory"); asm volatile("" ::: "memory");'),
}
#: Bodies that look like them and stay.
LOGICAL = {
    "lane_id": _block('asm("mov.u32 %0, %%laneid;" : "=r"(y)); x += y;'),
    "lane_mask": _block('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(y)); x += y & 1;'),
    "thread_index": _block('asm("mov.u32 %0, %%tid.x;" : "=r"(y)); x += y;'),
    "shuffle": _block('asm("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(y) : "r"(x)); x += y;'),
    "vote": _block('asm("activemask.b32 %0;" : "=r"(y)); x += y & 1;'),
    "barrier": _block('asm volatile("bar.sync 0;" ::: "memory");'),
    "leaves": _block('if (x > 90) asm volatile("exit;");'),
    "given_a_lane": _block('asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(x), "r"(lane));'),
    "given_a_warp": _block('asm volatile("st.global.s32 [%0], %1;" :: "l"(out + 9), "r"(warp) : "memory");'),
    "given_what_warps_come_to": _block(middle='asm("add.s32 %0, %1, 1;" : "=r"(y) : "r"(v)); out[1] = y;'),
    "adds_to_what_warps_come_to": _block(middle='asm("add.s32 %0, %0, %1;" : "+r"(v) : "r"(1));'),
    "may_keep_what_warps_come_to": _block(
        middle="""int w = v;
        asm("{ .reg .pred q; setp.gt.s32 q, %1, 999; @q mov.s32 %0, 5; }" : "=r"(w) : "r"(x));
        out[threadIdx.x + 1] = w;"""
    ),
    "sets_the_lane": _block(middle='asm("mov.u32 %0, %1;" : "=r"(lane) : "r"(0));'),
    "by_one_lane": _block(
        middle='if (lane == 0) asm volatile("red.global.add.s32 [%0], %1;" :: "l"(out + 2), "r"(1) : "memory");'
    ),
    "by_one_lane_what_the_warp_comes_to": _block(
        middle='if (lane == 0) asm volatile("red.global.add.s32 [%0], %1;" :: "l"(out + 2), "r"(v) : "memory");'
    ),
    "slots_by_address": _block(
        last="""unsigned a = __cvta_generic_to_shared(s);
        asm volatile("ld.shared.s32 %0, [%1];" : "=r"(y) : "r"(a + 4));
        out[threadIdx.x] = y + t;"""
    ),
    "slots_by_number": _block(
        last='asm volatile("ld.shared.s32 %0, [%1];" : "=r"(y) : "r"(4)); if (threadIdx.x == 0) out[0] = y + t;'
    ),
    "register_of_another_statement": _block(
        """asm volatile(".reg .u32 shared_word;");
        asm volatile("mov.u32 shared_word, %0;" :: "r"(lane));
        asm volatile("mov.u32 %0, shared_word;" : "=r"(y)); x += y;"""
    ),
    "in_a_lambda": _block('auto f = [&] { asm("mov.u32 %0, %1;" : "=r"(x) : "r"(lane)); }; f();'),
}
#: Those in which the last sum is a wavefront's, or all but what the statement is given.
PART = frozenset({
    "given_a_lane", "given_a_warp", "given_what_warps_come_to", "adds_to_what_warps_come_to",
    "may_keep_what_warps_come_to", "sets_the_lane", "by_one_lane", "by_one_lane_what_the_warp_comes_to",
    "slots_by_address",
})  # fmt: skip
#: Whose answer CUDA leaves open, since warps write to one place, or which asks for an address that is not simulated.
OPEN = frozenset({"given_a_warp", "given_what_warps_come_to", "slots_by_address"})
RUN = {**NATIVE, **{n: LOGICAL[n] for n in sorted(PART - OPEN)}}
SIZES = (32, 96, 256)
ROW = """__global__ void NAME(int* in, int* out, int n, int c) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        int x;
        LOOP
        sum += x;
    }
    sum = warp_sum(sum);
    if (lane == 0) { LAST }
}
"""
_LOOP = 'asm("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(in + row * c + i));'


def _row(loop: str = _LOOP, last: str = "out[row] = sum;") -> str:
    return ROW.replace("LOOP", loop).replace("LAST", last)


NATIVE_ROWS = {
    "row_load": _row(),
    "row_compute": _row('asm("mul.lo.s32 %0, %1, %2;" : "=r"(x) : "r"(in[row * c + i]), "r"(i));'),
}
LOGICAL_ROWS = {
    "row_lane": _row('asm("mov.u32 %0, %%laneid;" : "=r"(x));'),
    "row_clock": _row('asm("mov.u32 %0, %%clock;" : "=r"(x)); x = x ? in[i] : 3;'),
    "row_given_a_lane": _row('asm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(in[i]), "r"(lane));'),
    "row_carried": _row('asm("add.s32 %0, %0, %1;" : "+r"(sum) : "r"(in[i])); x = 0;'),
    "row_store": _row('x = in[i]; asm volatile("st.global.s32 [%0], %1;" :: "l"(out + row), "r"(x) : "memory");'),
    "row_reads_what_it_wrote": _row(
        'asm("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(out + 600 + i)); out[632 + i] = x + 1;'
    ),
}
ROWS = {**NATIVE_ROWS, **LOGICAL_ROWS}
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {32, 96, 256};
    const int n = 11, c = 70;
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 1024; i++) out[i] = 0;
        LAUNCH
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 260; i++) printf(" %d", out[i]);
        printf("\\n");
"""
_LAUNCH = {True: "NAME<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c);", False: "NAME<<<2, size>>>(in, out);"}


def _program(bodies: dict[str, str], rows: dict[str, str]) -> str:
    kernels = (f"__global__ void {n}(int* in, int* out) {{{b}\n}}\n" for n, b in bodies.items())
    names = (*bodies, *rows)
    cases = "".join(CASE.replace("LAUNCH", _LAUNCH[n in rows]).replace("NAME", n) for n in names)
    text = "".join(b.replace("NAME", n) for n, b in rows.items())
    return HEAD + "".join(kernels) + text + MAIN.replace("CASES", cases)


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program(RUN, NATIVE_ROWS))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", (*RUN, *NATIVE_ROWS))
def test_answers_are_cudas(name: str, size: int, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} {size} 0"]
    assert answers["native", 32][f"{name} {size} 0"] == right
    assert answers["native", 64][f"{name} {size} 0"] == right


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    names = (*NATIVE, *LOGICAL, *ROWS)
    found = native_verdicts(_program({**NATIVE, **LOGICAL}, ROWS))
    assert {n for n in names if found.get(n) == "CU356"} == {*NATIVE, *NATIVE_ROWS}
    assert {n for n in names if found.get(n) == "CU357"} == {*LOGICAL, *LOGICAL_ROWS} - PART
    assert {n for n in names if found.get(n) == "part"} == PART


_VOTE = """#include <cuda_runtime.h>
__device__ int counter;
__global__ void k(int* in, int* out) {
    int p = in[threadIdx.x], lane = threadIdx.x % 32, base = 0;
    unsigned m = __ballot_sync(~0u, p);
    if (lane == __ffs(m) - 1) base = atomicAdd(&counter, __popc(m));
    base = __shfl_sync(~0u, base, __ffs(m) - 1);
    CHANGE
    if (p) out[base + __popc(m & ((1u << lane) - 1))] = in[threadIdx.x];
}
void f(int* p) { k<<<1, 256>>>(p, p); }
"""


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("", "CU356"),
        ('asm("mov.s32 %0, %1;" : "=r"(lane) : "r"(3));', "CU357"),
        ('int q; asm("add.s32 %0, %1, 1;" : "=r"(q) : "r"(p)); in[threadIdx.x] = q;', "CU356"),
        ('asm("xor.b32 %0, %1, 1;" : "=r"(p) : "r"(p));', "CU357"),
        ('asm("xor.b32 %0, %0, 1;" : "+r"(p));', "CU357"),
        ('asm("mov.s32 %0, %1;" : "=r"(base) : "r"(3));', "CU357"),
    ],
)
def test_votes_that_change(change: str, code: str) -> None:
    made = translate(_VOTE.replace("CHANGE", change).encode(), Options(warp="native"), path="p.cu")
    found = [j.finding for j in made.findings if j.finding.code in ("CU356", "CU357")]
    assert [f.code for f in found] == [code]
