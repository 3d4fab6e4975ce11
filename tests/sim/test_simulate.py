"""The command: exit codes, reports of deadlocks, hangs, crashes and build errors, both wave sizes side by side."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port import Options, translate
from cu2port.verify import sim_build, sim_compiler, simulate
from cu2port.verify.instrument import instrument
from cu2port.verify.reach import reached, read

Simulated = Callable[..., simulate.Ran]
HEAD = "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
MAIN = (
    "int main(int argc, char**) {{\n int* d = nullptr;\n (void)hipMalloc(&d, 4096);\n"
    " k<<<{config}>>>(d);\n return 0;\n}}\n"
)


def program(kernel: str, config: str = "1, 64") -> str:
    """A program with one kernel `k(int* d)`; its body's first line is line 4."""
    return f"{HEAD}__global__ void k(int* d) {{\n{kernel}\n}}\n{MAIN.format(config=config)}"


def cu2port(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = "from cu2port.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(sim_build.__file__).parents[2])}
    return subprocess.run(
        [sys.executable, "-c", script, "simulate", *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


def test_memory_for_pointers_to_qualified_types(simulated: Simulated) -> None:
    """The forms for a type cast as C does: programs allocate flags that are volatile."""
    ran = simulated(
        HEAD + "int main() { volatile unsigned *a, *b, *c, *d; const int* e;\n"
        "return hipMalloc(&a, 4) + hipMallocManaged(&b, 4) + hipHostMalloc(&c, 4) + hipMallocAsync(&d, 4, 0)\n"
        "+ hipMalloc(&e, 4) + !(a && b && c && d && e); }\n"
    )
    assert ran.code == 0, ran.output


def test_exit_code_is_the_programs(simulated: Simulated) -> None:
    ran = simulated(HEAD + 'int main(int argc, char** argv) { printf("%s\\n", argv[1]); return 7; }', 64, "hello")
    assert (ran.code, ran.output) == (7, b"hello\n")


def test_deadlock_names_both_lines(simulated: Simulated) -> None:
    ran = simulated(program("if (threadIdx.x < 16) __syncthreads();\nelse __syncthreads();\nd[0] = 1;"))
    said = ran.errors.decode()
    assert ran.code == simulate.CANNOT
    assert "deadlock" in said
    assert "threads 0-15 wait at __syncthreads" in said and "program.hip:4" in said
    assert "threads 16-63 wait at __syncthreads" in said and "program.hip:5" in said


def test_barrier_that_some_lanes_skip(simulated: Simulated) -> None:
    ran = simulated(program("if (threadIdx.x % 2) __syncthreads();\nd[threadIdx.x] = __any(1);"))
    said = ran.errors.decode()
    assert ran.code == simulate.CANNOT
    assert "program.hip:4" in said and "program.hip:5" in said


def test_waves_may_part_at_barriers(simulated: Simulated) -> None:
    text = program("if (threadIdx.x < 32) __syncthreads();\nelse __syncthreads();\nd[0] = 1;")
    assert simulated(text, 32).code == 0


def test_waves_that_wait_for_each_other_in_one_wave(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wave of 64 holds both halves: the one that spins never lets the other arrive."""
    body = (
        "__shared__ volatile int flag;\nif (threadIdx.x == 0) flag = 0;\n__syncthreads();\n"
        "if (threadIdx.x < 32) {\n while (flag == 0) {}\n} else {\n __any(1);\n flag = 1;\n}"
    )
    monkeypatch.setenv("CU2PORT_SIM_PATIENCE", "1")
    ran = simulated(program(body))
    said = ran.errors.decode()
    assert ran.code == simulate.TIMED_OUT
    assert "hang" in said and "threads 0-31 spin" in said and "program.hip:8" in said


def test_lock_that_lanes_of_one_wave_take_in_turn(simulated: Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lane that has the lock waits for the others at the end of the loop: a hang, as on the hardware."""
    monkeypatch.setenv("CU2PORT_SIM_PATIENCE", "1")
    body = "while (atomicCAS(d, 0, 1) != 0) {}\nd[1] += 1;\n__threadfence();\natomicExch(d, 0);"
    ran = simulated(program(body), 32)
    said = ran.errors.decode()
    assert ran.code == simulate.TIMED_OUT
    assert "threads 0 wait at the end of a loop" in said and "threads 1-31 spin" in said and "program.hip:4" in said


def test_time_limit_says_where(simulated: Simulated) -> None:
    ran = simulated(program("unsigned x = 1;\nfor (;;) { x = x * 3 + 1; if (x == 0) break; d[0] = x; }"), time_s=1.0)
    assert ran.code == simulate.TIMED_OUT
    assert "time limit" in ran.errors.decode() and "kernel k launched at" in ran.errors.decode()


def test_crash_says_kernel_and_thread(simulated: Simulated) -> None:
    ran = simulated(program("if (threadIdx.x == 5) *reinterpret_cast<volatile int*>(8) = 1;"))
    assert ran.code == 139
    assert "not allowed in a kernel" in ran.errors.decode() and "thread (5,0,0)" in ran.errors.decode()


def test_full_stack(simulated: Simulated) -> None:
    text = (
        HEAD + "__device__ int down(volatile int* d, int n) { volatile int pad[64]; pad[n % 64] = n; "
        "return n == 0 ? d[0] : down(d, n - 1) + pad[n % 64]; }\n"
        "__global__ void k(int* d) { d[1] = down(d, 1000000); }\n" + MAIN.format(config="1, 64")
    )
    ran = simulated(text)
    assert ran.code == 139 and "stack is full" in ran.errors.decode()


def test_failed_assertion(simulated: Simulated) -> None:
    ran = simulated("#include <cassert>\n" + program("assert(threadIdx.x < 10);"))
    assert ran.code == 134 and "failed assertion" in ran.errors.decode()


def test_prints_come_in_the_order_of_blocks(simulated: Simulated) -> None:
    ran = simulated(program('if (threadIdx.x == 0) printf("%d\\n", (int)blockIdx.x);', "50, 64"))
    assert ran.output.decode().split() == [str(n) for n in range(50)]


def test_host_calls_of_device_operations(simulated: Simulated) -> None:
    ran = simulated(HEAD + "int main() { return __any(1); }")
    assert ran.code == simulate.CANNOT and "on the host" in ran.errors.decode()


WAVE_BUG = HEAD + (
    "__global__ void k(int* d) { d[threadIdx.x] = __popcll(__ballot(1)); }\n"
    "int main() { int* d; (void)hipMalloc(&d, 256); k<<<1, 64>>>(d); int h[64];\n"
    " (void)hipMemcpy(h, d, 256, hipMemcpyDeviceToHost);\n"
    ' printf("time 3.%d ms\\n", h[0]); printf("lanes %d\\n", h[0]); }\n'
)


def test_both_waves_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "p.hip").write_text(WAVE_BUG)
    done = cu2port("p.hip", "--wave", "both", cwd=tmp_path)
    assert done.returncode == simulate.DIFFERENT
    assert "lanes 32" in done.stderr and "| lanes 64" in done.stderr
    assert "time" not in done.stderr


def test_cuda_source_is_converted(tmp_path: Path) -> None:
    (tmp_path / "p.cu").write_text(
        "#include <cuda_runtime.h>\n#include <cstdio>\n__global__ void k(int* d) { d[threadIdx.x] = threadIdx.x; }\n"
        "int main() { int* d; cudaMalloc(&d, 64); k<<<1, 16>>>(d); int h[16];\n"
        ' cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost); printf("%d\\n", h[15]); return 0; }\n'
    )
    done = cu2port("p.cu", "--wave", "32", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "15\n"), done.stderr


@pytest.mark.slow
def test_programs_with_opengl_build(simulated: Simulated) -> None:
    text = """#include <hip/hip_gl_interop.h>
#include <cstdio>
int main() { GLuint buffer = 3; std::printf("%d %u\\n", hipGLDeviceListNextFrame, buffer); }
"""
    assert simulated(text).output == b"3 3\n"


def test_atomic_objects_of_libcu(tmp_path: Path) -> None:
    """288 threads in three blocks: places in a block, a sum in a global object, a maximum, floats, exchanges."""
    shutil.copy(Path(__file__).with_name("libcu_atomics.cu"), tmp_path / "p.cu")
    done = cu2port("p.cu", "--wave", "64", cwd=tmp_path)
    right = f"95 95 95 -1 103 103 103 -1 1 {sum(range(288))} 144 287\n"
    assert (done.returncode, done.stdout) == (0, right), done.stderr


def test_a_folder_with_headers_and_two_units(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(
        '#include "sub/b.h"\n#include <cstdio>\nint main() { printf("%d\\n", twice(21)); return 0; }\n'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.h").write_text("#pragma once\n#include <hip/hip_runtime.h>\nint twice(int);\n")
    (tmp_path / "sub/b.hip").write_text(
        '#include "b.h"\n__device__ int answer;\n__global__ void k(int v) { answer = 2 * v; }\n'
        "int twice(int v) { k<<<1, 1>>>(v); int out = 0;\n"
        " (void)hipMemcpyFromSymbol(&out, HIP_SYMBOL(answer), 4); return out; }\n"
    )
    done = cu2port(".", "--wave", "64", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["a.hip", "b.h", "b.hip"]


def test_build_errors_name_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "p.hip").write_text(program("__shared__ int s[4],\n t;\nd[0] = missing;"))
    done = cu2port("p.hip", cwd=tmp_path)
    assert done.returncode == simulate.CANNOT
    assert "p.hip:6:" in done.stderr and "does not build" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("none.hip",), (".",), ("p.hip", "--compiler", "no-such-compiler"), ("p.hip", "--std", "20")]
)
def test_what_cannot_run(arguments: tuple[str, ...], tmp_path: Path) -> None:
    if "p.hip" in arguments:
        (tmp_path / "p.hip").write_text("int main() {}\n")
    done = cu2port(*arguments, cwd=tmp_path)
    assert done.returncode == simulate.CANNOT and done.stderr.count("\n") == 1


def test_flags_build_a_program_elsewhere(tmp_path: Path, toolchain: sim_compiler.Toolchain) -> None:
    """Nothing is rewritten: hipLaunchKernelGGL, shared memory, barriers and shuffles in loops that do not diverge."""
    (tmp_path / "p.cpp").write_text(
        HEAD + "__global__ void k(int* d) {\n __shared__ int s[128];\n HIP_DYNAMIC_SHARED(int, more)\n"
        " s[threadIdx.x] = d[blockIdx.x] + 1;\n more[threadIdx.x] = 1000;\n __syncthreads();\n"
        " for (int o = 64; o; o /= 2) {\n  if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];\n"
        "  __syncthreads();\n }\n int v = threadIdx.x % 64;\n for (int o = 32; o; o /= 2) v += __shfl_down(v, o, 64);\n"
        " if (threadIdx.x == 0) d[blockIdx.x] = s[0] + more[127] + v;\n}\n"
        "int main() { int h[3] = {0, 1, 2}; int* d; (void)hipMalloc(&d, 12);\n"
        " (void)hipMemcpy(d, h, 12, hipMemcpyDefault);\n"
        " hipLaunchKernelGGL(k, 3, 128, 512, 0, d); (void)hipMemcpy(h, d, 12, hipMemcpyDefault);\n"
        ' printf("%d %d %d\\n", h[0], h[1], h[2]); }\n'
    )
    flags = cu2port("--cflags", "--wave", "64", cwd=tmp_path)
    assert flags.returncode == 0
    subprocess.run([*toolchain.command, *shlex.split(flags.stdout), "p.cpp", "-o", "p"], cwd=tmp_path, check=True)
    ran = subprocess.run([str(tmp_path / "p")], capture_output=True, check=True)
    assert ran.stdout == b"3144 3272 3400\n"  # 128 times 1, 2 and 3, 1000, and the sum of 0 to 63


@pytest.mark.slow
def test_instrumented_copy_in_a_build_of_its_own(tmp_path: Path, toolchain: sim_compiler.Toolchain) -> None:
    """Compiled and linked apart, with the same flags for both, beside a unit that is not instrumented."""
    main = WAVE_BUG.replace("__popcll(__ballot(1))", "votes()").replace('printf("time', 'puts(name()); printf("time')
    loop = "__device__ int votes() { int n = 0; for (int i = 0; i <= threadIdx.x % 2; ++i) n += __popcll(__ballot(1)); "
    (tmp_path / "main.hip").write_text(main.replace(HEAD, f"{HEAD}const char* name();\n{loop}return n; }}\n", 1))
    (tmp_path / "other.cpp").write_text('#include <hip/hip_runtime.h>\nconst char* name() { return "other"; }\n')
    assert cu2port("--instrument", "main.hip", "-o", "main.cpp", cwd=tmp_path).returncode == 0
    flags = shlex.split(cu2port("--cflags", "--wave", "64", cwd=tmp_path).stdout)
    objects = []
    for unit in ("main", "other"):
        objects.append(f"{unit}.o")
        words = [*toolchain.command, *flags, "-c", f"{unit}.cpp", "-o", objects[-1]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    subprocess.run([*toolchain.command, *flags, *objects, "-o", "p"], cwd=tmp_path, check=True)
    # lane 0 votes once, with all 64 lanes
    assert (
        b"other\ntime 3.64 ms\nlanes 64\n" in subprocess.run([tmp_path / "p"], capture_output=True, check=True).stdout
    )


@pytest.mark.slow
def test_ziglang_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a compiler: the one that pip brings builds runtime, program and its own C++ library."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("the wheels of cu2port[verify] are not here")
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert sim_compiler.find_toolchain().is_zig
    (tmp_path / "p.hip").write_text(WAVE_BUG)
    done = cu2port("p.hip", "--wave", "both", cwd=tmp_path)
    assert done.returncode == simulate.DIFFERENT, done.stderr
    assert "lanes 32" in done.stderr and "| lanes 64" in done.stderr
    done = cu2port("p.hip", "--check", cwd=tmp_path)
    assert done.returncode == simulate.CANNOT and "--check needs g++ or clang++" in done.stderr


def test_instrumented_copy_keeps_lines(tmp_path: Path) -> None:
    text = program("__shared__ int\n s[64];\nfor (int i = 0;\n i < 3; ++i)\n d[i] += __shfl(d[0],\n i);")
    unit = read(text, "p.hip")
    copy = instrument(unit, reached([unit]))
    assert copy.startswith('#line 1 "p.hip"\n')
    assert copy.count("\n") == text.count("\n") + 1
    assert "Loop" in copy and "At(__COUNTER__)" in copy


def test_functions_without_operations_are_left_alone() -> None:
    text = "__device__ float f(float x) { for (int i = 0; i < 9; ++i) x *= x; return x; }\n"
    unit = read(text, "p.hip")
    assert instrument(unit, reached([unit])) == '#line 1 "p.hip"\n' + text


def test_a_program_may_have_a_macro_always_inline(simulated: Simulated) -> None:
    """Also without optimisation, where the headers of the simulator inline nothing by force."""
    text = program("d[threadIdx.x] = three();").replace(
        "__global__",
        "#ifndef always_inline\n#define always_inline inline __attribute__((always_inline))\n#endif\n"
        "__device__ always_inline int three() { return 3; }\n__global__",
        1,
    )
    ran = simulated(text)
    assert ran.code == 0, ran.errors.decode()


def test_files_that_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """A source and a header, as editors on Windows write them."""
    mark = "\ufeff"
    (tmp_path / "one.cuh").write_text(f"{mark}__device__ int one(int x) {{ return __shfl_sync(0xffffffff, x, 1); }}\n")
    kernel = "__global__ void k(int* d) { d[threadIdx.x] = one(threadIdx.x); }\n"
    main = "int main() { int* d; cudaMallocManaged(&d, 256); k<<<1, 64>>>(d); cudaDeviceSynchronize(); return d[7]; }\n"
    (tmp_path / "a.cu").write_text(f'{mark}#include "one.cuh"\n{kernel}{main}')
    done = cu2port("a.cu", "--wave", "64", cwd=tmp_path)
    assert done.returncode == 1, done.stderr


def test_a_block_that_one_macro_opens_and_another_closes(simulated: Simulated) -> None:
    """The `while` that ends the second one is of the first one's `do`, and begins no loop."""
    text = (
        "#define TAKE(n) do { int left = (n); while (left > 0) { __syncthreads(); --left;\n"
        "#define GIVE() __syncthreads(); } __syncthreads(); } while (0)\n"
        "#define REPEAT(n) { int again = (n); do {\n"
        "#define UNTIL() __syncthreads(); } while (--again); }\n"
    )
    body = "__shared__ int s; if (threadIdx.x == 0) s = 0;\nTAKE(3)\nif (threadIdx.x == left) s += 1;\nGIVE();\n"
    body += "REPEAT(2)\nif (threadIdx.x == again) s += __any(1);\nUNTIL()\n"
    ran = simulated(text + program(f'{body}if (threadIdx.x == 0) printf("%d\\n", s);'))
    assert (ran.code, ran.output) == (0, b"5\n"), ran.errors.decode()


@pytest.mark.parametrize("directive", ["#pragma omp parallel for collapse(2)", '_Pragma("omp parallel for")'])
def test_loops_of_openmp_keep_their_form(directive: str) -> None:
    """A host function that shares a loop's turns out, and calls what kernels call too."""
    shared = f"{directive}\nfor (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++) f(i);\n"
    text = "__host__ __device__ int f(int v) { return __shfl(v, 0); }\n"
    unit = read(f"{text}void g(int n) {{\n{shared}for (int i = 0; i < n; i++) f(i);\n}}\n", "p.hip")
    copy = instrument(unit, reached([unit]))
    assert shared.replace("f(i)", "(::cu2port_sim::At(__COUNTER__), f(i))") in copy
    assert copy.count("Loop cu2port_l") == 1  # of the other loop


def test_a_program_may_set_the_device_side_for_all(simulated: Simulated) -> None:
    """Device functions see it set, and leave it as it was."""
    body = "#ifndef __HIP_DEVICE_COMPILE__\n#error host\n#endif\nd[0] = __shfl(1, 0);\n"
    text = "#define __HIP_DEVICE_COMPILE__ 1\n" + program(body)
    ran = simulated(text + "#ifndef __HIP_DEVICE_COMPILE__\n#error lost\n#endif\n")
    assert ran.code == 0, ran.errors.decode()
    ran = simulated(program(body) + "#ifdef __HIP_DEVICE_COMPILE__\n#error kept\n#endif\n")
    assert ran.code == 0, ran.errors.decode()


def test_launch_in_a_macro_over_several_lines() -> None:
    unit = read("#define GO(n) \\\n  k<n> \\\n    <<<n, 64>>>(d, \\\n n)\nint x;\n", "p.hip")
    copy = instrument(unit, reached([unit]))
    assert copy.count("\\\n") == 3 and copy.endswith(")\nint x;\n")


def test_macro_whose_body_is_a_block(simulated: Simulated) -> None:
    """It looks like a function with a body, and stays a statement."""
    text = "#define VOTE(x) { x = __any(x); }\n" + program("int y = threadIdx.x == 3;\nVOTE(y)\nd[threadIdx.x] = y;")
    ran = simulated(text)
    assert ran.code == 0, ran.errors.decode()


def test_a_return_in_a_lambda_leaves_no_loop(simulated: Simulated) -> None:
    """It belongs to the lambda, which need not capture the loop's count."""
    sum_of_two = "template <class F> __device__ int sum(F f) { return f(1) + f(2); }\n"
    body = """int all = 0;
    for (int i = 0; i < 3; i++) {
        const int from = i;
        all += sum([from](int x) { if (x > 9) { return __any(0); } return __shfl(int(threadIdx.x) + x, from); });
        if (all > 1000) break;
    }
    assert(all == 15);"""
    ran = simulated("#include <cassert>\n" + HEAD + sum_of_two + program(body))
    assert ran.code == 0, ran.errors.decode()


def test_a_path_with_dots_is_found(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "p.hip").write_text(program(""))
    done = cu2port("--instrument", "folder/../p.hip", cwd=tmp_path)
    assert done.returncode == 0 and "__global__" in done.stdout


def test_headers_that_conversion_adds_are_instrumented(tmp_path: Path) -> None:
    source = tmp_path / "p.cu"
    source.write_text("__global__ void k(int* d) { if (d[1]) d[0] = __match_any_sync(~0u, d[threadIdx.x]); }\n")
    sim_build.copies(sim_build.Program((source,)), tmp_path / "out")
    copy = sim_build.mirrored(tmp_path / "out", sim_compiler.INCLUDE_DIR / "cu2port" / "warp.hpp")
    assert "cu2port_sim::" in copy.read_text(), "match_any has a loop, whose turns must be distinguished"


@pytest.mark.slow
def test_constant_expressions_may_share_functions_with_kernels(build: Callable[..., Path], tmp_path: Path) -> None:
    """Since C++20: there the marks of a lane's position may be in a constexpr function."""
    (tmp_path / "shared.hip").write_text(
        HEAD + "struct A { __device__ int sum(int x) { return __shfl(x, 1); } };\n"  # so calls of any `sum` are marked
        "template <class T> __host__ __device__ constexpr T sum(T a, T b) {\n"
        "    T s = 0;\n    for (int i = 0; i < 2; ++i) s += i ? a : b;\n    return s;\n}\n"
        "__host__ __device__ constexpr int twice(int x) { return sum(x, x); }\n"
        "__global__ void k(int* d) {\n    constexpr int c = twice(2);\n    A a;\n"
        "    d[threadIdx.x] = __shfl_xor(int(threadIdx.x), 1) + twice(threadIdx.x) + a.sum(5) + c;\n}\n"
        "int main() {\n    int* d;\n    (void)hipMallocManaged(&d, 256);\n    k<<<1, 64>>>(d);\n"
        '    (void)hipDeviceSynchronize();\n    printf("%d %d\\n", d[0], d[7]);\n}\n'
    )
    ran = simulate.run(build(tmp_path / "shared.hip", 64, "-std=c++20"), (), simulate.Limits(), capture=True)
    assert (ran.code, ran.output) == (0, b"10 29\n")


@pytest.mark.parametrize("callee", ["table[x.kernel]", "a.b[i][j].c", "p->rows[f(1)]", "ns::table[0]", "(*f)"])
def test_kernels_of_tables_are_launched(callee: str) -> None:
    unit = read(f"void f() {{ g(), {callee}<<<1, 64>>>(p); }}\n", "k.hip")
    made = instrument(unit, reached([unit]))
    assert "g(), ::cu2port_sim::Launch{" in made
    assert f"{{ {callee}(cu2port_a...); }}" in made


@pytest.mark.parametrize("callee", ["kernel_##n", "n##_k", "a ## _ ## b", "here::n##_f<t, 3>", "(k_##n)", "S::k_##n"])
def test_kernels_whose_names_a_macro_pastes_are_launched(callee: str) -> None:
    unit = read(f"#define RUN(n, a, b, t, g) if (g) {callee}<<<g, 64>>>(p, 1)\nvoid f();\n", "k.hip")
    made = instrument(unit, reached([unit]))
    assert f"{{ {callee}(cu2port_a...); }}, p, 1)" in made
    assert "if (g) ::cu2port_sim::Launch{" in made


LAUNCHING_MACROS = """__global__ void kernel_a(int* x) { x[threadIdx.x] = 1; }
__global__ void kernel_b(int* x) { x[threadIdx.x] += 2; }
__global__ void bare_k() {}
namespace here { template <class T, int N> __global__ void add_f(T* x) { x[threadIdx.x] += N; } }
#define PASTED(n, ...) kernel_##n<<<1, 32>>>(x, ##__VA_ARGS__)
#define QUALIFIED(n, t) here::n##_f<t, 3><<<dim3(1), 32, 0, 0>>>(x)
#define WITHOUT_ARGUMENTS(n, ...) n##_k<<<1, 32>>>(__VA_ARGS__)
#define NAME(n) kernel_##n
#define CONFIGURED(n, ...) NAME(n)<<<__VA_ARGS__>>>(x)
#define CONFIGURATION <<<1, 32>>>
int main() {
    int* x;
    (void)hipMallocManaged(&x, 256);
    PASTED(a);
    QUALIFIED(add, int);
    WITHOUT_ARGUMENTS(bare);
    CONFIGURED(b, 1, 32);
    kernel_b CONFIGURATION (x);
    (void)hipDeviceSynchronize();
    printf("%d\\n", x[5]);
}
"""


@pytest.mark.slow
def test_macros_hold_parts_of_launches(build: Callable[..., Path], tmp_path: Path) -> None:
    """The name pasted, the arguments or the configuration left to who uses the macro."""
    (tmp_path / "macros.hip").write_text(HEAD + LAUNCHING_MACROS)
    ran = simulate.run(build(tmp_path / "macros.hip", 64), (), simulate.Limits(), capture=True)
    assert (ran.code, ran.output) == (0, b"8\n")


def test_specialisations_are_functions() -> None:
    text = (
        "template <class T> __global__ void k(T*);\n"
        "template <> __global__ void k<float>(float* p) {\n"
        "    extern __shared__ char raw[];\n    float* s = reinterpret_cast<float*>(raw);\n"
        "    for (int i = 0; i < 2; ++i) s[i] = __shfl(p[i], 0);\n}\n"
    )
    unit = read(text, "k.hip")
    made = instrument(unit, reached([unit]))
    assert "Dynamic<" not in made and "Loop" in made and "At(__COUNTER__), __shfl" in made


def test_long_loops_are_no_hangs(simulated: Callable[..., simulate.Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted loops of atomics, with and without effect, and a block that computes while another waits for it."""
    monkeypatch.setenv("CU2PORT_SIM_PATIENCE", "0.1")
    ran = simulated(
        """#include <hip/hip_runtime.h>
        #include <cstdio>
        __global__ void flips(unsigned* p, unsigned n) { for (unsigned i = 0; i < n; ++i) atomicXor(p, i); }
        __global__ void idles(unsigned* p, unsigned n) { for (unsigned i = 0; i < n; ++i) atomicMax(p, 0u); }
        __global__ void counts(unsigned* p, unsigned n) { while (atomicAdd(p, 1u) < n) ; }
        __global__ void waits(unsigned* p, unsigned n) {
            if (blockIdx.x == 0) {
                volatile unsigned x = 0;
                for (unsigned i = 0; i < n; ++i) x = x + i;
                atomicExch(p, 1u);
            } else {
                while (atomicAdd(p, 0u) == 0) ;
            }
        }
        int main() {
            unsigned* d;
            hipMalloc((void**)&d, 16);
            hipMemset(d, 0, 16);
            hipLaunchKernelGGL(flips, 1, 32, 0, 0, d, 400000u);
            hipLaunchKernelGGL(idles, 1, 32, 0, 0, d + 1, 400000u);
            hipLaunchKernelGGL(counts, 1, 32, 0, 0, d + 2, 4000000u);
            hipLaunchKernelGGL(waits, 2, 1, 0, 0, d + 3, 200000000u);
            printf("%u %u %u %u", d[0], d[1], d[2] >= 4000000u, d[3]);
        }
        """,
        32,
    )
    assert (ran.code, ran.output) == (0, b"0 0 1 1"), ran.errors


@pytest.mark.parametrize("wave", [32, 64])
def test_threads_of_one_label_are_a_group(wave: int, simulated: Callable[..., simulate.Ran]) -> None:
    """Groups whose sizes are no powers of two, of tiles and of some lanes; CUDA's function and ours give the same."""
    source = """#include <hip/hip_runtime.h>
        #include <hip/hip_cooperative_groups.h>
        #include <cstdio>
        #define __HIP__ 1
        #include <cu2port/labeled_partition.hpp>
        #include <cu2port/tile_reduce.hpp>
        #include <cu2port/warp.hpp>
        namespace cg = cooperative_groups;
        template <class G> __device__ unsigned of(const G& g, unsigned label) {
            auto alike = PARTITION(g, label);
            const unsigned sum = cu2port::reduce(alike, threadIdx.x, cu2port::plus<unsigned>());
            return (sum * 64 + alike.size()) * 64 + alike.thread_rank();
        }
        __global__ void k(unsigned* o) {
            const unsigned label = (threadIdx.x * 11 >> 2) % 5;
            o[threadIdx.x] = of(cg::tiled_partition<16>(cg::this_thread_block()), label);
            if (threadIdx.x % 7 != 3)
                o[96 + threadIdx.x] = of(cg::binary_partition(cg::coalesced_threads(), cu2port::warp::upper()), label);
        }
        unsigned o[192], want[192];
        int main() {
            hipLaunchKernelGGL(k, 1, 96, 0, 0, o);
            for (unsigned i = 0; i < 96; ++i)
                for (unsigned part : {16u, 32u}) {
                    unsigned sum = 0, size = 0, rank = 0;
                    if (part == 32 && i % 7 == 3) continue;
                    for (unsigned j = i / part * part; j < i / part * part + part; ++j)
                        if ((part == 16 || j % 7 != 3) && (j * 11 >> 2) % 5 == (i * 11 >> 2) % 5)
                            sum += j, ++size, rank += j < i;
                    want[(part / 32) * 96 + i] = (sum * 64 + size) * 64 + rank;
                }
            for (unsigned i = 0; i < 192; ++i)
                if (o[i] != want[i]) return printf("%u: %x, not %x", i, o[i], want[i]), 1;
        }
        """
    for function in ("cg::labeled_partition", "cu2port::labeled_partition"):
        ran = simulated(source.replace("PARTITION", function), wave)
        assert (ran.code, ran.output) == (0, b""), ran.errors


@pytest.mark.parametrize("wave", [32, 64])
def test_tiles_of_some_lanes(wave: int, simulated: Callable[..., simulate.Ran]) -> None:
    """Four by four in the order of their ranks, also above lane 31; a block's tiles stay HIP's."""
    ran = simulated(
        """#include <hip/hip_runtime.h>
        #include <hip/hip_cooperative_groups.h>
        #include <cstdio>
        #define __HIP__ 1
        #include <cu2port/labeled_partition.hpp>
        #include <cu2port/warp.hpp>
        namespace cg = cooperative_groups;
        __global__ void k(unsigned* o) {
            unsigned lane = threadIdx.x % 32;
            if (lane % 3 == 1) {
                auto some = cg::binary_partition(cg::coalesced_threads(), cu2port::warp::upper());
                auto tile = cu2port::tiled_partition(some, 4);
                o[threadIdx.x] = (tile.shfl(lane, 0) * 8 + tile.size()) * 8 + tile.thread_rank();
            }
            o[96 + threadIdx.x] = cu2port::tiled_partition(cg::this_thread_block(), 16).thread_rank();
        }
        unsigned o[192];
        int main() {
            hipLaunchKernelGGL(k, 1, 96, 0, 0, o);
            for (unsigned i = 0; i < 96; ++i) {
                unsigned rank = i % 32 / 3, want = ((rank / 4 * 12 + 1) * 8 + (rank < 8 ? 4 : 3)) * 8 + rank % 4;
                if (o[i] != (i % 32 % 3 == 1 ? want : 0)) return printf("%u: %x, not %x", i, o[i], want), 1;
                if (o[96 + i] != i % 16) return printf("%u: %u", i, o[96 + i]), 1;
            }
        }
        """,
        wave,
    )
    assert (ran.code, ran.output) == (0, b""), ran.errors


@pytest.mark.parametrize("wave", [32, 64])
def test_tiles_of_tiles_and_scans(wave: int, simulated: Callable[..., simulate.Ran]) -> None:
    """A tile's number in the tile, block or group it is a part of; scans of ours where HIP has some of that name."""
    ran = simulated(
        """#include <hip/hip_runtime.h>
        #include <hip/hip_cooperative_groups.h>
        #include <cstdio>
        #define __HIP__ 1
        #include <cu2port/tile_reduce.hpp>
        namespace cg = cooperative_groups;
        __global__ void k(unsigned* o) {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            auto four = cg::tiled_partition<4>(warp);
            auto two = cg::tiled_partition<2>(four);
            o += threadIdx.x * 6;
            o[0] = warp.meta_group_rank() * 100 + warp.meta_group_size();
            o[1] = four.meta_group_rank() * 100 + four.meta_group_size();
            o[2] = two.meta_group_rank() * 100 + two.meta_group_size();
            o[3] = cu2port::inclusive_scan(four, 1u) * 100 + cu2port::exclusive_scan(four, 1u);
            if (threadIdx.x % 3 == 0 && threadIdx.x < 32) {
                auto some = cg::tiled_partition(cg::coalesced_threads(), 4);
                o[4] = some.meta_group_rank() * 100 + some.meta_group_size();
                o[5] = some.thread_rank() * 100 + some.size();
            }
        }
        int main() {
            static unsigned o[96 * 6];
            hipLaunchKernelGGL(k, 1, 96, 0, 0, o);
            for (int i : {0, 15, 27, 30, 95})
                for (int k = 0; k < 6; ++k) printf("%u%c", o[6 * i + k], k < 5 ? ' ' : '\\n');
        }
        """,
        wave,
    )
    assert ran.code == 0, ran.errors
    assert ran.output.decode().splitlines() == [
        "3 8 2 100 3 4",
        "3 308 102 403 103 104",
        "3 608 102 403 203 103",
        "3 708 102 302 203 203",
        "203 708 102 403 0 0",
    ]


@pytest.mark.slow
def test_textures_in_plain_memory_fetch_what_textures_fetch(simulated: Callable[..., simulate.Ran]) -> None:
    """`cu2port/texture.hpp` against the simulator's textures: address modes, filters, formats, layers and surfaces."""
    text = (Path(__file__).parent / "programs" / "texture.cu").read_bytes()
    with_units = translate(text, Options(archs=("gfx1100",)))
    without = translate(text, Options(archs=("gfx942", "gfx1100")))
    assert b"texture.hpp" in without.output
    assert b"texture.hpp" not in with_units.output
    left = re.findall(
        rb"(?<![:\w])(?:tex[123]D\w*|surf2D\w+)\(|\bhip\w*(?:Array\(|TextureObject\(|Memcpy3D\()", without.output
    )
    assert not left
    wanted, found = (simulated(r.output.decode(), 64) for r in (with_units, without))
    assert (wanted.code, found.code) == (0, 0), found.errors
    assert wanted.output.count(b"\n") == 64
    assert found.output == wanted.output


def test_texture_references_in_plain_memory_fetch_what_references_fetch(
    simulated: Callable[..., simulate.Ran],
) -> None:
    """The same for references, which are variables of files: bound to all that they can be, twice."""
    text = (Path(__file__).parent / "programs" / "texture_reference.cu").read_bytes()
    with_units = translate(text, Options(archs=("gfx1100",)))
    without = translate(text, Options(archs=("gfx942", "gfx1100")))
    assert not re.findall(rb"(?<![:\w])(?:texture<|tex[123]D\w*\(|hip\w*Texture\w*\()", without.output)
    assert without.output.count(b"__managed__ cu2port::TextureReference<") == 6
    wanted, found = (simulated(r.output.decode(), 64) for r in (with_units, without))
    assert (wanted.code, found.code) == (0, 0), found.errors
    assert wanted.output.count(b" ") == 201
    assert found.output == wanted.output


@pytest.mark.slow
def test_loads_of_cub_with_a_modifier(simulated: Simulated) -> None:
    """Of pointers to const and volatile, vectors, classes and iterators: hipCUB's own take numbers alone."""
    text = """
#include <cub/cub.cuh>
#include <cstdio>
struct S { int a; short b; char c; float d[3]; };
struct B { char a, b, c; };
struct Data { int n; float4 v; S s; B b; volatile int w; };
__global__ void k(const Data* p, float* out) {
    out[0] = cub::ThreadLoad<cub::LOAD_LDG>(&p->n);
    out[1] = cub::ThreadLoad<cub::LOAD_CV>(&p->v).w;
    out[2] = cub::ThreadLoad<cub::LOAD_CG, const S*>(&p->s).d[2];
    out[3] = cub::ThreadLoad<cub::LOAD_VOLATILE>(&p->b).b;
    out[4] = cub::ThreadLoad(&p->w);
    out[5] = cub::ThreadLoad(cub::CountingInputIterator<int>(5));
}
int main() {
    Data* p;
    float* out;
    cudaMallocManaged(&p, sizeof(Data));
    cudaMallocManaged(&out, 6 * sizeof(float));
    p->n = 1, p->v.w = 2, p->s.d[2] = 3, p->b.b = 4, p->w = 6;
    k<<<1, 1>>>(p, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 6; ++i) printf("%g ", out[i]);
}
"""
    ran = simulated(translate(text.encode()).output.decode(), 64)
    assert (ran.code, ran.output.split()) == (0, [b"1", b"2", b"3", b"4", b"6", b"5"]), ran.errors


def test_launches_in_the_arguments_of_macros(simulated: Simulated) -> None:
    """And an operator for both sides that conversion writes for each side (CU216)."""
    text = """
#include <cuda_runtime.h>
#include <cstdio>
#define HD __host__ __device__ inline
HD int2 operator*(int2 a, int2 b) { return make_int2(a.x * b.x, a.y - b.y); }
template <int N, class T> __global__ void add(T* p, T v) { p[threadIdx.x] += N * v; }
template <int N, class T> __global__ void none(T*) {}
#define EACH(f, ...) do { using F = float; f<2, F>__VA_ARGS__; f<3, F>__VA_ARGS__; } while (false)
int main() {
    float *p, x[4];
    cudaMalloc(&p, sizeof x);
    cudaMemset(p, 0, sizeof x);
    EACH(add, <<<1, dim3(4)>>>(p, 1.5f));
    EACH(none, <<<1, 1>>>(p));
    cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost);
    int2 v = make_int2(2, 5) * make_int2(3, 1);
    std::printf("%g %g %d %d\\n", x[0], x[3], v.x, v.y);
}
"""
    assert simulated(text).output == b"7.5 7.5 6 4\n"


DECLARED = [  # a macro, and what its copy must not have
    ("#define M extern __shared__ int s[]", "extern"),
    ("#define M(n) extern __shared__ int n##_s[]; int* p = n##_s; p[0] = 1;", "extern"),
    ("#define M __shared__ int s[4]\n__global__ void f() { extern __shared__ int own[]; }", "extern"),
]


@pytest.mark.parametrize(("text", "gone"), DECLARED)
def test_a_declaration_in_a_macro_ends_where_the_macro_does(text: str, gone: str) -> None:
    unit = read(f"{text}\nint after;\n", "k.hip")
    made = instrument(unit, reached([unit]))
    assert gone not in made
    assert made.splitlines()[1].startswith("#define M") and made.endswith("\nint after;\n")


def test_dynamic_shared_memory_outside_of_functions_is_a_pointer_where_it_is_handed_on() -> None:
    text = (
        "extern __shared__ char raw[];\n"
        "__global__ void k() {\n auto p = reinterpret_cast<float*>(raw); f(1, raw); auto q = raw;\n"
        " g(sizeof(raw), raw[1]); }\n"
    )
    unit = read(text, "k.hip")
    made = instrument(unit, reached([unit]))
    for wanted in ("<float*>(+raw)", "f(1, +raw)", "auto q = +raw;", "g(sizeof(raw), raw[1])"):
        assert wanted in made


@pytest.mark.slow
def test_shared_memory_that_macros_declare(simulated: Simulated) -> None:
    """Before other statements, without the `;`, under names that the macro puts together, twice in one function."""
    ran = simulated(
        HEAD + "#define BARE extern __shared__ int bare[]\n"
        "#define PASTED(T, name) extern __shared__ unsigned char name##_raw[]; T* name = (T*)(name##_raw)\n"
        "#define TWO __shared__ int one[64]; __shared__ int two[64]\n"
        "#define FIRST extern __shared__ int first[]; const int t = threadIdx.x; first[t] = t; __syncthreads();\n"
        "__global__ void k(int* d) {\n    FIRST BARE; PASTED(int, p); PASTED(short, q); TWO;\n"
        "    extern __shared__ double own[];\n    __shared__ int last;\n"
        "    if (t == 0) last = 7;\n    one[t] = 1, two[t] = 2;\n    __syncthreads();\n"
        "    d[t] = bare[63 - t] + p[t] + ((void*)q == (void*)own) * 100;\n"
        "    d[t] += one[t ^ 1] * 1000 + two[t ^ 1] * 2000 + last * 10000;\n}\n"
        "int main() {\n    int* d;\n    (void)hipMalloc(&d, 256);\n    k<<<1, 64, 512>>>(d);\n"
        '    (void)hipDeviceSynchronize();\n    printf("%d %d\\n", d[0], d[63]);\n}\n'
    )
    assert (ran.code, ran.output) == (0, b"75163 75163\n"), ran.errors


def test_what_headers_say_reaches_the_conversion(tmp_path: Path) -> None:
    """As in a conversion of a tree: PTX's carry flag goes from one function of a header to another."""
    function = (
        "__device__ unsigned {0}(unsigned a, unsigned b) {{\n"
        ' unsigned r;\n asm volatile("{1}.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));\n return r;\n}}\n'
    )
    (tmp_path / "add.cuh").write_text(function.format("low", "add.cc") + function.format("high", "addc"))
    (tmp_path / "a.cu").write_text(
        '#include <cstdio>\n#include "add.cuh"\n'
        "__global__ void k(unsigned* p) { p[0] = low(~0u, 2u); p[1] = high(3u, 4u); }\n"
        "int main() {\n unsigned *p, h[2];\n cudaMalloc(&p, sizeof h);\n k<<<1, 1>>>(p);\n"
        ' cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);\n printf("%u %u\\n", h[0], h[1]);\n}\n'
    )
    done = cu2port("a.cu", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 8\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_arrays_and_textures_by_the_drivers_descriptors(wave: int, build: Callable[..., Path]) -> None:
    """Boxes, rows and a graph's node of any kind too; what is only named builds."""
    binary = build(Path(__file__).parent / "programs" / "driver_arrays.cu", wave)
    ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output.decode().splitlines()) == (
        0,
        [
            "fractions 0.0196 0.3333 1.1961",
            "shape 4 3 2, format 9 of 2",
            "box 34 37 42 0, too deep 1",
            "rows 7 257 7",
            "graph 42, memory 801",
        ],
    ), ran.errors.decode()


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_iterators_and_operators_that_cub_takes(wave: int, build: Callable[..., Path]) -> None:
    """Iterators without `*`, places that only `[]` stores to, and operators that take references."""
    binary = build(Path(__file__).parent / "programs" / "cub_iterators.cu", wave)
    ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output.decode().splitlines()) == (
        0,
        [
            "dot 4096",
            "scaled 40970",
            "largest 127",
            "an integer to begin with 2048",
            "segments 2560 17920",
            "from the second on 2880",
            "sums 16 4096",
            "before 1 10",
            "odd 32, 7 21",
            "sorted 49 19 50",
            "block 2048 8 1536",
        ],
    ), ran.errors.decode()
