"""hipRAND: functions of the host; those of the device against their papers, and against values of rocRAND."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cu2port.verify import simulate

# What rocRAND's own headers (3.2, compiled for the host) give: generator, seed, subsequence, offset; six draws;
# uniform, uniform_double, normal (three times), normal_double (twice), log_normal; a draw after skipahead(12345) and
# one after skipahead_sequence(3).
ROCRAND = (
    "P 2a 1000000007 f4243: 0dbc65c1 72a571b3 160935bf 4945757a c471fa5f 56378d3a "
    "0x1.b83ba2p-1 0x1.b313345c93c66p-1 -0x1.1b5026p+1 0x1.559be6p-1 -0x1.ef4b3cp-2 "
    "0x1.b4b387948c8b2p-1 0x1.0a8c54p+0 0x1.bca7c8p+3 f9fc9b7f 998c4d34",
    "P 123456789abcdef 5 7: a1bd1919 644af2c9 0aab6850 81064203 05721106 c58f49d0 "
    "0x1.8a0b9ep-2 0x1.5f570ed741652p-2 0x1.afa316p-3 -0x1.0d699ep-2 -0x1.6f0b34p+0 "
    "-0x1.c5a39f1bae71p-1 -0x1.d5abd4p-1 0x1.95db4ap-2 c0454e85 5d7b3cd9",
    "X 2a 1000000007 f4243: 19d18b41 072c2a3e eb86af57 c975a7b4 ace68352 13777d7f "
    "0x1.ee763p-2 0x1.58ac91a79a7e3p-1 -0x1.c3bc6cp-2 -0x1.d0255ep-2 0x1.d75282p-4 "
    "0x1.95fecc9114674p-2 -0x1.399f66p-1 0x1.642a38p+0 a4ea86e7 f7193ab7",
    "X 123456789abcdef 5 7: dc49120d 977f21d6 d1b49c1b d03c6491 90dc0081 24c23fb2 "
    "0x1.b5f964p-2 0x1.b894176164eadp-1 0x1.34bd4cp+0 0x1.948eecp+0 0x1.a69baap+0 "
    "0x1.69aa61205a089p-1 -0x1.2a8c5ep-1 0x1.ad8c0ap-1 8da1c2d3 b2953f41",
    "M 2a 1000000007 f4243: 5b7de5ef e017af39 0da58814 31f6430b 5023139f 6f0e8853 "
    "0x1.0f0cbp-1 0x1.761733f168f17p-1 -0x1.ea6a62p-1 -0x1.11d7fap-2 0x1.e3e64ep-3 "
    "-0x1.32657e82d65edp+0 -0x1.5d0e2ep+0 0x1.034034p+0 3f7967c6 27c6d1a3",
    "M 123456789abcdef 5 7: f8612dd6 49ec10ac 903c6384 c98f73a2 47c22567 db5b2860 "
    "0x1.ee2672p-3 0x1.c389e33aa3929p-1 -0x1.725122p-2 0x1.3113dep-4 -0x1.6548c4p+0 "
    "-0x1.2e196f0623bcfp-2 0x1.8b573ep-1 0x1.71049ep+1 07a3e6ba b702da53",
)
STATES = {"P": "hiprandStatePhilox4_32_10_t", "X": "hiprandState", "M": "hiprandStateMRG32k3a_t"}
PROGRAM = """
#include <cstdio>
#include <hip/hip_runtime.h>
#include <hiprand/hiprand_kernel.h>
struct Out {{ unsigned draws[6], later[2]; double values[8]; }};
template <class State>
__global__ void k(Out* out, unsigned long long seed, unsigned long long sequence, unsigned long long offset) {{
    State s;
    hiprand_init(seed, sequence, offset, &s);
    for (unsigned& x : out->draws) x = hiprand(&s);
    double* v = out->values;
    v[0] = hiprand_uniform(&s), v[1] = hiprand_uniform_double(&s);
    for (int i = 2; i < 5; ++i) v[i] = hiprand_normal(&s);
    v[5] = hiprand_normal_double(&s), v[6] = hiprand_normal_double(&s), v[7] = hiprand_log_normal(&s, 0.5f, 2.0f);
    skipahead(12345ull, &s);
    out->later[0] = hiprand(&s);
    skipahead_sequence(3ull, &s);
    out->later[1] = hiprand(&s);
}}
template <class State>
void run(const char* name, unsigned long long seed, unsigned long long sequence, unsigned long long offset) {{
    Out* out;
    hipMallocManaged(&out, sizeof *out);
    k<State><<<1, 1>>>(out, seed, sequence, offset);
    hipDeviceSynchronize();
    std::printf("%s %llx %llx %llx:", name, seed, sequence, offset);
    for (unsigned x : out->draws) std::printf(" %08x", x);
    for (double x : out->values) std::printf(" %a", x);
    std::printf(" %08x %08x\\n", out->later[0], out->later[1]);
    hipFree(out);
}}
int main() {{ {calls} }}
"""
CASES = [
    *((n, seed, sequence, offset) for n in "PXM" for seed in (0, 42) for sequence in (0, 6) for offset in (0, 9)),
    *((n, 2**33 + 5, 0, 1) for n in "PX"),
]


def philox(seed: int, sequence: int, offset: int) -> Iterator[int]:
    """Salmon et al. 2011; the counter's upper half is the sequence."""
    while True:
        counter = (sequence << 64) + offset // 4
        c = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)]
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [q >> 32 ^ c[1] ^ key[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ key[1], p & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        yield c[offset % 4]
        offset += 1


def shifted(x: int) -> int:
    """A step of Marsaglia's xorshift with 160 bits; word i is in bits 32 i and up."""
    first, last = x & 0xFFFFFFFF, x >> 128
    t = first ^ first >> 2
    return x >> 32 | (last ^ last << 4 & 0xFFFFFFFF ^ t ^ t << 1 & 0xFFFFFFFF) << 128


def applied(columns: list[int], x: int) -> int:
    out = 0
    for i, column in enumerate(columns):
        if x >> i & 1:
            out ^= column
    return out


def xorwow(seed: int, sequence: int, offset: int) -> Iterator[int]:
    """Marsaglia 2003, with rocRAND's seeds; a sequence is 2^67 steps."""
    low = 1228688033 * (seed & 0xFFFFFFFF ^ 0x2C7F967F)
    high = 2073658381 * (seed >> 32 ^ 0xA03697CB)
    words = (123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low)
    x = sum((w & 0xFFFFFFFF) << 32 * i for i, w in enumerate(words))
    d = 6615241 + low + high
    if sequence:
        columns = [shifted(1 << i) for i in range(160)]
        for _ in range(67):
            columns = [applied(columns, c) for c in columns]
        for _ in range(sequence):
            x = applied(columns, x)
    n = 0
    while True:
        x, d, n = shifted(x), d + 362437, n + 1
        if n > offset:
            yield (d + (x >> 128)) & 0xFFFFFFFF


def mrg32k3a(seed: int, sequence: int, offset: int) -> Iterator[int]:
    """L'Ecuyer 1999, with rocRAND's seeds (below 2^32); a sequence is 2^76 steps."""
    m1, m2 = 2**32 - 209, 2**32 - 22853
    seed = seed or 12345
    x, y = seed ^ 0x55555555, 0xAAAAAAAA
    a = [v * seed % m1 for v in (x, y, x)]
    b = [v * seed % m2 for v in (y, x, y)]
    a = jumped([[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], 2**76 * sequence + offset, a, m1)
    b = jumped([[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]], 2**76 * sequence + offset, b, m2)
    while True:
        a = [*a[1:], (1403580 * a[1] - 810728 * a[0]) % m1]
        b = [*b[1:], (527612 * b[2] - 1370589 * b[0]) % m2]
        drawn = a[2] - b[2] if a[2] > b[2] else a[2] - b[2] + m1
        yield int((drawn - 1) * 1.000000048661607)


def jumped(step: list[list[int]], n: int, state: list[int], m: int) -> list[int]:
    while n:
        if n & 1:
            state = [sum(map(int.__mul__, row, state)) % m for row in step]
        step = [[sum(r * step[k][j] for k, r in enumerate(row)) % m for j in range(3)] for row in step]
        n >>= 1
    return state


REFERENCES = {"P": philox, "X": xorwow, "M": mrg32k3a}


def test_generators(simulated: Callable[..., simulate.Ran]) -> None:
    wanted = [tuple(row.partition(":")[0].split()) for row in ROCRAND]
    rows = [*CASES, *((n, int(seed, 16), int(q, 16), int(o, 16)) for n, seed, q, o in wanted)]
    calls = [f'run<{STATES[n]}>("{n}", {seed}ull, {q}ull, {o}ull);' for n, seed, q, o in rows]
    ran = simulated(PROGRAM.format(calls=" ".join(calls)))
    lines = ran.output.decode().splitlines()
    assert len(lines) == len(rows), ran.errors
    for (n, seed, q, o), line in zip(CASES, lines, strict=False):
        reference = REFERENCES[n](seed, q, o)
        assert line.partition(":")[2].split()[:6] == [f"{next(reference):08x}" for _ in range(6)], line
    for row, line in zip(ROCRAND, lines[len(CASES) :], strict=True):
        assert same(row, line), line


def same(row: str, line: str) -> bool:
    """Integers are equal; floats within 4 units of a float's last place, where math libraries differ."""
    pairs = list(zip(row.split(), line.split(), strict=True))
    return all(
        float.fromhex(x) == pytest.approx(float.fromhex(y), rel=2**-22) if "p" in x else x == y for x, y in pairs
    )


def test_the_hosts_header(simulated: Callable[..., simulate.Ran]) -> None:
    """A program takes it for its types, beside the device functions."""
    text = "#include <hiprand/hiprand.h>\n#include <hiprand/hiprand_kernel.h>\n"
    text += "__global__ void k(hiprandState* s) { hiprand_init(1, 2, 3, s); }\n"
    text += "int main() { hiprandGenerator_t none = nullptr; return HIPRAND_RNG_QUASI_SOBOL64 - 500 + !!none; }\n"
    ran = simulated(text)
    assert ran.code == 3, ran.errors.decode()


def test_functions_of_the_host(simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated((Path(__file__).parent / "programs" / "random_host.hip").read_text())
    told = b"cu2port simulate: hiprandGenerate of a quasi-random generator is not simulated"
    assert ran.code == 0 and not ran.output and ran.errors.startswith(told), ran
