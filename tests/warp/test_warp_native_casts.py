"""`--warp native`: casts on the way from the lanes' values to the block's.

A sum over 64 lanes is no sum of two sums each of which was cut off, and a thread's number in 8 bits is no thread's.
"""

from __future__ import annotations

import re

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate

BLOCK = """#define FULL 0xffffffffu
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
__global__ void k(const int* in, int* out) {
    __shared__ int s[32];
    int v = in[threadIdx.x];
    v = SUM;
    LANES lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (FIRST) s[SLOT] = VALUE;
    __syncthreads();
    v = TID < blockDim.x / 32 ? READ : 0;
    if (warp == 0) v = warp_sum(v);
    if (threadIdx.x == 0) out[0] = v;
}
void run(int* p) { k<<<1, 128>>>(p, p); }
"""
LADDER = """#define FULL 0xffffffffu
__global__ void k(const int* in, int* out) {
    int v = in[threadIdx.x];
    for (int o = 16; o > 0; o >>= 1) { STEP }
    if (threadIdx.x % 32 == 0) atomicAdd(TO, v);
}
void run(int* p) { k<<<1, 128>>>(p, p); }
"""
_WORDS = {"SUM": "warp_sum(v)", "LANES": "int", "FIRST": "lane == 0", "SLOT": "warp", "VALUE": "v", "TO": "out",
          "TID": "threadIdx.x", "READ": "s[lane]", "STEP": "v += __shfl_xor_sync(FULL, v, o);"}  # fmt: skip
#: A word of a program, what stands there, and whether it becomes native.
CASES = [
    ("SUM", "(char)warp_sum(v)", False),
    ("SUM", "char(warp_sum(v))", False),
    ("SUM", "static_cast<short>(warp_sum(v))", False),
    ("SUM", "(int)warp_sum(v)", True),
    ("SUM", "warp_sum((char)v)", True),
    ("LANES", "bool", False),
    ("LANES", "unsigned char", True),
    ("FIRST", "(bool)lane == 0", False),
    ("FIRST", "char(threadIdx.x % 32) == 0", False),
    ("FIRST", "char(threadIdx.x) % 32 == 0", False),
    ("FIRST", "(unsigned char)threadIdx.x == 0", False),
    ("FIRST", "(int)(threadIdx.x % 32) == 0", True),
    ("SLOT", "(char)warp", False),
    ("SLOT", "(int)(threadIdx.x / 32)", True),
    ("VALUE", "(char)v", False),
    ("VALUE", "char(v)", False),
    ("VALUE", "char{v}", False),
    ("VALUE", "__int_as_float(v)", False),
    ("VALUE", "((v))", True),
    ("TID", "(char)threadIdx.x", False),
    ("TID", "(int)threadIdx.x", True),
    ("READ", "(char)s[lane]", False),
    ("READ", "char(s[lane])", False),
    ("STEP", "v += char(__shfl_xor_sync(FULL, v, o));", False),
    ("STEP", "v += char{__shfl_xor_sync(FULL, v, o)};", False),
    ("STEP", "v += __shfl_xor_sync(FULL, char(v), o);", False),
    ("STEP", "v += __shfl_xor_sync(FULL, v, char(o));", False),
    ("STEP", "int t = char(__shfl_xor_sync(FULL, v, o)); v += t;", False),
    ("STEP", "int t = __shfl_xor_sync(FULL, v, o); v += char(t);", False),
    ("STEP", "v += __float_as_int(__shfl_xor_sync(FULL, v, o));", False),
    ("STEP", "v += (__shfl_xor_sync(FULL, v, o));", True),
    ("TO", "(float*)out", False),
    ("TO", "reinterpret_cast<float*>(out) + blockIdx.x", False),
    ("TO", "(int*)out", True),
]


@pytest.mark.parametrize(("word", "text", "native"), CASES)
def test_casts(word: str, text: str, native: bool) -> None:
    program = LADDER if word in ("STEP", "TO") else BLOCK
    for name, usual in {**_WORDS, word: text}.items():
        program = re.sub(rf"\b{name}\b", usual, program)
    made = translate(program, Options(warp="native"), path="p.cu")
    found = {
        j.finding.message.split("`")[1]: j.finding.code for j in made.findings if j.finding.code in ("CU356", "CU357")
    }
    assert found["k"] == ("CU356" if native else "CU357")


BEYOND = """#define FULL 0xffffffffu
__global__ void k(const TYPE* in, TYPE* out) {
    __shared__ TYPE s[32];
    TYPE v = in[threadIdx.x];
    for (int o = 16; o > 0; o >>= 1) { STEP }
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : OTHER;
    if (threadIdx.x < 32) for (int o = 16; o > 0; o >>= 1) { STEP }
    if (threadIdx.x == 0) out[0] = v;
}
void run(TYPE* p) { k<<<1, 1024>>>(p, p); }
"""
_STEPS = {
    "and": "v &= __shfl_xor_sync(FULL, v, o);",
    "or": "v |= __shfl_xor_sync(FULL, v, o);",
    "mul": "v *= __shfl_xor_sync(FULL, v, o);",
    "max": "v = max(v, __shfl_xor_sync(FULL, v, o));",
    "min": "v = min(v, __shfl_xor_sync(FULL, v, o));",
}
#: An operation, the type of its values, what lanes without a warp have, and whether that is the identity. Where it is
#: not, blocks of 32 warps, in which CUDA has no such lane, get another value, or the kernel stays.
IDENTITIES = [
    ("and", "unsigned", "~0u", True),
    ("and", "unsigned long long", "~0ull", True),
    ("and", "unsigned long long", "~0", True),
    ("and", "unsigned long long", "~0u", False),
    ("and", "int", "-1", True),
    ("and", "unsigned long long", "~(unsigned)0", False),
    ("or", "unsigned", "0u", True),
    ("or", "unsigned", "1", False),
    ("max", "int", "INT_MIN", True),
    ("max", "long long", "INT_MIN", False),
    ("max", "float", "-INFINITY", True),
    ("max", "float", "-1e30f", True),
    ("max", "float", "-1e3f", False),
    ("max", "float", "std::numeric_limits<float>::lowest()", True),
    ("max", "float", "std::numeric_limits<float>::min()", False),
    ("max", "float", "float(-FLT_MAX)", True),
    ("min", "int", "INT_MAX", True),
    ("min", "unsigned", "INT_MAX", False),
    ("min", "unsigned", "UINT_MAX", True),
    ("min", "int", "UINT_MAX", False),
    ("min", "float", "std::numeric_limits<float>::infinity()", True),
    ("min", "float", "std::numeric_limits<float>::max()", True),
    ("min", "float", "FLT_MAX", True),
    ("min", "float", "FLT_MIN", False),
]


@pytest.mark.parametrize(("op", "typ", "other", "is_identity"), IDENTITIES)
def test_what_changes_nothing(op: str, typ: str, other: str, is_identity: bool) -> None:
    program = BEYOND.replace("STEP", _STEPS[op]).replace("OTHER", other).replace("TYPE", typ)
    made = translate(program, Options(warp="native"), path="p.cu")
    native = any(j.finding.code == "CU356" for j in made.findings)
    assert (native and b" > 992 ? s[0] : " not in made.output) == is_identity
