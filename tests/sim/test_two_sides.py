"""Units whose device's side has other functions or classes than the host's: they are compiled for both."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated import quick

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, simulate
from cu2port.verify.elf import symbols
from cu2port.verify.sim_build import Program
from cu2port.verify.sim_compiler import INCLUDE_DIR, Toolchain
from cu2port.verify.trial.run import Asked, try_program
from cu2port.verify.two_sides import _is_function, _own_name, has_two_sides

Simulated = Callable[..., simulate.Ran]

HEADER = """
#include <hip/hip_runtime.h>
#ifdef __HIP_DEVICE_COMPILE__
#define SIDE 1
inline __host__ __device__ int side() { return 1; }
template <class T> struct Env {
    T a, b, c;
    static constexpr int size = 3;
    virtual __host__ __device__ T run(T x) { return 10 + x; }
};
#else
#define SIDE 2
inline __host__ __device__ int side() { return 2; }
template <class T> struct Env {
    T a;
    static constexpr int size = 4;
    virtual __host__ __device__ T run(T x) { return 20 + x; }
};
#endif
template <class T> __host__ __device__ T both(T x) { Env<T> e; return e.run(x) + Env<T>::size; }
"""

PROGRAM = f"""{HEADER}
#include <cstdio>
namespace {{
struct Op {{ __host__ __device__ int operator()(int x) const {{ return side() * 100 + x; }} }};
template <class F> __global__ void apply(int* out, F f) {{ out[threadIdx.x] = f(threadIdx.x); }}
__device__ int counter = 5;
}}
static __device__ int table[4] = {{1, 2, 3, 4}};
__constant__ float scale;
static __global__ void k(int* out);
static __global__ void k(int* out) {{
    Env<int> e;
    Env<int>* p = &e;
    out[0] = side();
    out[1] = p->run(5);
    out[2] = sizeof(e) > 16;
    out[3] = table[2] + counter++;
    out[4] = scale;
    out[5] = SIDE;
}}
extern "C" __global__ void kc(int* out) {{ out[6] = side(); }}
template <class T> __global__ void kt(int* out, T x) {{ out[7] = both(x); }}
template <> __global__ void kt<short>(int* out, short x) {{ out[15] = both(x); }}
#define KERNEL(name) __global__ void name(int* out) {{ out[14] = both(3); }}
KERNEL(made)
struct Init {{ Init() {{ printf("init %d\\n", side()); }} }} init;
int main() {{
    int* d;
    (void)hipMalloc(&d, 256);
    (void)hipMemset(d, 0, 256);
    int t[4] = {{7, 7, 70, 7}};
    (void)hipMemcpyToSymbol(table, t, sizeof t);
    float s = 9;
    (void)hipMemcpyToSymbol(scale, &s, 4);
    k<<<1, 1>>>(d);
    kc<<<1, 1>>>(d);
    made<<<1, 1>>>(d);
    kt<<<1, 1>>>(d, 1);
    kt<<<1, 1>>>(d, (short)2);
    apply<<<1, 4>>>(d + 8, Op{{}});
    void* args[] = {{&d}};
    (void)hipLaunchKernel((void*)kc, 1, 1, args, 0, 0);
    int h[16], c;
    (void)hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
    (void)hipMemcpyFromSymbol(&c, counter, 4);
    for (int x : h) printf("%d ", x);
    printf("| %d %d %d\\n", c, side(), both(1));
}}
"""


@pytest.mark.parametrize("wave", [32, 64])
def test_kernels_get_the_devices_functions_and_classes(simulated: Simulated, wave: int) -> None:
    ran = simulated(PROGRAM, wave, time_s=60)
    assert ran.output.decode() == "init 2\n1 15 1 75 9 1 1 14 100 101 102 103 0 0 16 15 | 6 2 25\n"
    assert (ran.code, ran.errors) == (0, b"")


def test_with_optimisation_a_kernel_is_not_taken_into_its_launch(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "program.hip"
    path.write_text(PROGRAM)
    for check in (False, True):
        (tmp_path / f"{check}").mkdir()
        binary = sim_build.build(Program((path,)), tmp_path / f"{check}", (64,), toolchain, check=check)[64]
        ran = simulate.run(binary, (), simulate.Limits(time_s=60), capture=True)
        assert ran.output.endswith(b"16 15 | 6 2 25\n") and b"\n1 15 1 75 9 1 1 14 100" in ran.output


def test_units_have_their_own_and_share_what_is_the_devices(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "h.h").write_text(
        HEADER + "__device__ int far(int);\nint second();\ninline int host() { static int n; return ++n; }\n"
        "template <class T> __global__ void shared_kernel(T* out) { *out = both<T>(7); }\n"
    )
    unit = """#include "h.h"
static __device__ int value = NUMBER;
namespace { __global__ void k(int* out) { *out = side() * 1000 + value + far(NUMBER); } }
static int run() {
    int *d, h[2];
    host();
    (void)hipMalloc(&d, 8);
    k<<<1, 1>>>(d);
    shared_kernel<<<1, 1>>>(d + 1);
    (void)hipMemcpy(h, d, 8, hipMemcpyDeviceToHost);
    return h[0] + h[1] * 10000;
}
"""
    (tmp_path / "a.hip").write_text(
        "#include <cstdio>\n" + unit.replace("NUMBER", "3") + "__device__ int far(int x) { return both(x); }\n"
        'int main() { printf("%d %d ", run(), second()); printf("%d\\n", host()); }\n'
    )
    (tmp_path / "b.hip").write_text(unit.replace("NUMBER", "5") + "int second() { return run(); }\n")
    (tmp_path / "c.cpp").write_text('#include "h.h"\nint third() { return both(1); }\n')
    out = tmp_path / "out"
    out.mkdir()
    binary = sim_build.build(quick(sim_build.find_program(tmp_path)), out, (64,), toolchain)[64]
    ran = simulate.run(binary, (), simulate.Limits(time_s=60), capture=True)
    a, b = 200000 + 1003 + 16, 200000 + 1005 + 18  # both(7) is 20, far(3) is 16
    assert ran.output.decode() == f"{a} {b} 3\n"
    assert ran.errors == b""


LOCAL = (
    f'{HEADER}#include <cstdio>\ntemplate <class F> __global__ void k(F f) {{ printf("%d\\n", f()); }}\n'
    "static void run(int n) {\n    k<<<1, 1>>>([=] __device__ { return side() * 10 + n; });\n"
    "    (void)hipDeviceSynchronize();\n}\n"
)


def test_a_kernel_with_a_type_that_is_local_to_a_function_gets_the_devices_side(simulated: Simulated) -> None:
    ran = simulated(
        f'{LOCAL}template <class T> __global__ void put(T x) {{ printf("%d %d\\n", x.n, side()); }}\n'
        "int main() {\n    struct Local { int n; };\n    run(3);\n"
        "    k<<<1, 1>>>([] __host__ __device__ { return side() + 5; });\n"
        '    put<<<1, 1>>>(Local{7});\n    (void)hipDeviceSynchronize();\n    printf("%d\\n", side());\n}\n',
        64,
        time_s=60,
    )
    assert (ran.code, ran.output, ran.errors) == (0, b"13\n6\n7 1\n2\n", b"")


def test_units_may_have_such_kernels_of_one_name(tmp_path: Path, toolchain: Toolchain) -> None:
    (tmp_path / "a.hip").write_text(f"{LOCAL}void second();\nint main() {{ run(1); second(); }}\n")
    (tmp_path / "b.hip").write_text(f"{LOCAL.replace('* 10', '* 20')}void second() {{ run(2); }}\n")
    out = tmp_path / "out"
    out.mkdir()
    binary = sim_build.build(quick(sim_build.find_program(tmp_path)), out, (64,), toolchain)[64]
    ran = simulate.run(binary, (), simulate.Limits(time_s=60), capture=True)
    assert (ran.output, ran.errors) == (b"11\n22\n", b"")


def test_functions_of_other_units_have_the_devices_side_too(tmp_path: Path, toolchain: Toolchain) -> None:
    """As -rdc links them: of both sides, of a unit with one side, and with other code within."""
    (tmp_path / "h.h").write_text(
        f"{HEADER}namespace n {{ __host__ __device__ int far(int); extern __device__ int Env; }}\n"
        "__host__ __device__ int plain(int);\n__device__ int own(int);\n"
    )
    (tmp_path / "a.hip").write_text(
        '#include "h.h"\n#include <cstdio>\n'
        "__global__ void k(int* out) { out[0] = n::far(1); out[1] = plain(2); out[2] = own(3); out[3] = n::Env; }\n"
        "int main() {\n    int *d, h[4];\n    (void)hipMalloc(&d, 16);\n    k<<<1, 1>>>(d);\n"
        "    (void)hipMemcpy(h, d, 16, hipMemcpyDeviceToHost);\n"
        '    printf("%d %d %d %d | %d %d\\n", h[0], h[1], h[2], h[3], n::far(1), plain(2));\n}\n'
    )
    (tmp_path / "b.hip").write_text(
        '#include "h.h"\n__global__ void unused(int* p) { *p = side(); }\n'
        "namespace n { __host__ __device__ int far(int x) { return side() * 10 + x; } __device__ int Env = 4; }\n"
        "__device__ int own(int x) { return side() * 100 + x; }\n"
    )
    (tmp_path / "c.hip").write_text(
        "#include <hip/hip_runtime.h>\n__host__ __device__ int plain(int x) { return -x; }\n"
    )
    out = tmp_path / "out"
    out.mkdir()
    binary = sim_build.build(quick(sim_build.find_program(tmp_path)), out, (64,), toolchain)[64]
    ran = simulate.run(binary, (), simulate.Limits(time_s=60), capture=True)
    assert (ran.output, ran.errors) == (b"11 -2 103 4 | 21 -2\n", b"")


def test_where_the_devices_side_does_not_compile_the_host_side_is_named(simulated: Simulated) -> None:
    ran = simulated(
        f'{HEADER}#include <cstdio>\n__global__ void k() {{ printf("%d\\n", side()); }}\n'
        "#ifndef __HIP_DEVICE_COMPILE__\nstruct S { int n; };\n#endif\n"
        'int main() { k<<<1, 1>>>(); (void)hipDeviceSynchronize(); S s{4}; printf("%d\\n", s.n); }\n',
        64,
        time_s=60,
    )
    assert ran.output == b"2\n4\n"
    assert b"kernels get the host's; it does not compile: " in ran.errors and b"program.hip:26:" in ran.errors


def test_trial_compares_the_devices_sides(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#ifdef __CUDA_ARCH__\n__host__ __device__ int side(int x) { return x + 1; }\n"
        "#else\n__host__ __device__ int side(int x) { return x - 1; }\n#endif\n"
        "__global__ void k(int* a) { a[threadIdx.x] = side(a[threadIdx.x]); }\n"
    )
    (said,) = try_program(Program((path,)), Asked(time_s=5, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


def test_trial_keeps_helper_headers_off_a_gpus_side(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(unsigned* a) {\n    __shared__ unsigned s[64];\n"
        "    unsigned p = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x % 64]), v;\n"
        '    asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(a[threadIdx.x] + 1) : "memory");\n'
        '    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(p) : "memory");\n'
        "    a[threadIdx.x] = v;\n}\n"
    )
    (said,) = try_program(Program((path,)), Asked(time_s=5, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


# --- parts that need no compiler ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_a_function_of_both_sides_has_other_code_for_the_device(simulated: Simulated, wave: int) -> None:
    text = """#include <hip/hip_runtime.h>
#include <cstdio>
#define BOTH __host__ __device__
template <class F> struct Called {
    F f;
    BOTH int operator()() const {
#ifdef __HIP_DEVICE_COMPILE__
        return f(10);
#else
        return f(20);
#endif
    }
};
struct Plus { int n; BOTH int operator()(int x) const { return x + n; } };
template <class F> __global__ void k(int* out, F f) { *out = f(); }
int main() {
    int* out;
    (void)hipMallocManaged(&out, sizeof *out);
    Called<Plus> f{{1}};
    k<<<1, 1>>>(out, f);
    (void)hipDeviceSynchronize();
    std::printf("%d %d\\n", *out, f());
}
"""
    assert simulated(text, wave).output == b"11 21\n"


def test_names_of_functions_by_their_symbols() -> None:
    names = {
        "_Z1kPi": "k",
        "_ZL11a_kernel_1sPi": "a_kernel_1s",
        "_ZN12_GLOBAL__N_11kEi": "k",
        "_ZN1a1b3lamB3tagIZ4mainE3$_0EEvT_": "lam",
        "_Z3lamIZ4mainEUlvE_EvT_": "lam",
        "_ZZ1kPiENKUlvE_clEv": "",
        "_Z1kPi.cold": "",
        "main": "",
        "_Z": "",
    }
    assert {n: _own_name(n) for n in names} == names


def test_symbols_of_functions() -> None:
    functions = ["_Z1fi", "_ZN1a1fEv", "_ZNK1a1fEv", "_ZN3Env3EnvEi", "_Z1fB3tagi"]
    others = [
        "f",
        "_ZN1a3EnvE",
        "_ZTV1A",
        "_ZSt4cout",
        "_ZNSt6vectorEi",
        "_ZN11cu2port_sim1fEi",
        "_Z1xIiE",
        "_Z1xB3tag",
    ]
    others += ["_Z1fi.device", "_Z", "_ZN", "_ZN1aIiE1fEv"]
    assert [x for x in (*functions, *others) if _is_function(x)] == [f for f in functions if f != "_ZNK1a1fEv"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x7fELF\x01\x01" + bytes(90),
        b"\x7fELF\x02\x01" + bytes(30),
        b"\x7fELF\x02\x01" + bytes(34) + struct.pack("<Q", 1 << 60) + bytes(40),
    ],
)
def test_what_is_no_object(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(data)
    with pytest.raises(CannotRun, match="no object in ELF"):
        symbols(tmp_path / "a.o")


def test_helper_headers_are_not_a_gpus(simulated: Simulated) -> None:
    """On a GPU an address of shared memory has 32 bits; in the simulator it would reach nothing."""
    ran = simulated(
        f"{HEADER}"
        '#include "cu2port/ptx.hpp"\n#include <cstdio>\n'
        "__global__ void k() {\n    __shared__ int s[4];\n    s[threadIdx.x] = side() + threadIdx.x;\n"
        "    const auto at = cu2port::ptx::cvta_to_shared(&s[3]);\n    __syncthreads();\n"
        '    if (!threadIdx.x) printf("%d\\n", *reinterpret_cast<int*>(cu2port::ptx::cvta_shared(at)));\n}\n'
        "int main() { k<<<1, 4>>>(); (void)hipDeviceSynchronize(); }\n",
        64,
        time_s=60,
    )
    assert (ran.code, ran.output, ran.errors) == (0, b"4\n", b"")


def test_a_tree_with_helper_headers_alone_has_one_side() -> None:
    header = Path(INCLUDE_DIR, "cu2port/untranslated.hpp")
    units = [Unit(header.read_text(), load_catalog(), path=str(header)), Unit("__global__ void k() {}", load_catalog())]
    assert not has_two_sides(units)
