"""Inputs that grow: each pattern makes a text (or a tree) of a size, from constructs that a file may hold many of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isqrt

from cu2port import Options

Text = Callable[[int], str]
Tree = Callable[[int], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One input that grows. `make(n)`: a text, or the files of a tree; `n` counts what repeats.

    `args`: empty for `translate(text, options)`; `ptx` for a module; else a command line of cu2port, run beside the
    files, where `{file}` is the text's. `start`, `most`: the first n that is tried, and the last.
    """

    make: Text | Tree
    options: Options = Options()  # noqa: RUF009 - frozen
    args: tuple[str, ...] = ()
    start: int = 16
    most: int = 1 << 40


SOLO, NATIVE, FLAG = (Options(warp=w) for w in ("solo", "native", "flag"))
ADD = 'asm volatile("add.u32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c));\n'
SUMS, FACTORS = "d[0], d[1], d[2], d[3]", "a[0], a[1], a[2], a[3], b[0], b[1]"
MMA = (
    "#define MMA(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3) asm volatile("
    '"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" '
    ': "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), '
    '"f"(c0), "f"(c1), "f"(c2), "f"(c3))\n'
)
LOOP = f"for (int i = 0; i < n; ++i) {{ MMA({SUMS}, {FACTORS}, {SUMS}); }}\n"
SHFL = "v += __shfl_down_sync(0xffffffffu, v, 16);\n"


def times(line: str, head: str = "", tail: str = "") -> Text:
    """`line` n times, with {i} and {j} = i + 1 in it."""
    return lambda n: head + "".join(line.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n)) + tail


def kernel(line: str, declared: str = "unsigned a = n, b = 1, c = 2; float v = 0;") -> Text:
    """`line` n times in one kernel."""
    return times(line, f"__global__ void k(int* p, int n) {{\n{declared}\n", "}\n")


def host(line: str) -> Text:
    """`line` n times in one host function."""
    return times(line, "#include <cuda_runtime.h>\nvoid run(int* p, int n) {\n", "}\n")


def nested(before: str, after: str, head: str = "__global__ void k(int* p, int n) {\n", tail: str = ";\n}\n") -> Text:
    """`before` n times, then `after` n times."""
    return lambda n: head + "".join(before.replace("{i}", str(i)) for i in range(n)) + "p[0] = 1" + after * n + tail


def chain(n: int, call: str = "f{i}(v)") -> str:
    """Device functions that each call the one before, with a shuffle in the first; a kernel calls the last."""
    out = ["__device__ int f0(int v) { return __shfl_down_sync(0xffffffffu, v, 1); }\n"]
    for i in range(1, n):
        out.append(f"__device__ int f{i}(int v) {{ return {call.replace('{i}', str(i - 1))}; }}\n")
    out.append(f"__global__ void k(int* p) {{ p[threadIdx.x] = f{n - 1}(p[0]); }}\n")
    return "".join(out)


def macros(define: str, head: str, use: str) -> Text:
    """n macros or constants that each use the one before twice, the first by `head`; a kernel has `use` of the last.
    `define`: with {i}, and {h} for the one before."""

    def text(n: int) -> str:
        made = "".join(define.replace("{i}", str(i)).replace("{h}", str(i - 1)) for i in range(1, n))
        return head + made + kernel(use.replace("{n}", str(n - 1)) + SHFL)(1)

    return text


def entry(body: Text, declared: str = ".reg .u32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;") -> Text:
    """A PTX module of one entry."""
    head = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{\n"
    return lambda n: f"{head}{declared}\n{body(n)}ret;\n}}\n"


def files(one: Callable[[int, int], str], more: Mapping[str, str] | None = None) -> Tree:
    """n files: `one(i, n)` is the text of the i-th."""
    return lambda n: {**{f"src/f{i}.cu": one(i, n) for i in range(n)}, **(more or {})}


SMALL = "#include <cuda_runtime.h>\nvoid f() { cudaDeviceSynchronize(); }\n"
LINT = ("lint", "--isolated", "--no-cache", "--exit-zero", "-j", "1")
TREE = ("convert", "src", "--dry-run", "-j", "1")
LAUNCHED = "__global__ void k{i}(int* p) { p[0] = __shfl_sync(~0u, p[1], {i}); }\nvoid r{i}() { k{i}<<<1, 64>>>(0); }\n"
BALLOT = "unsigned m{i} = __ballot(n);\n"

PATTERNS: dict[str, Pattern] = {
    # --- PTX in a file
    "asm in one function": Pattern(kernel(ADD)),
    "asm of distinct variables": Pattern(
        kernel('unsigned a{i}; asm volatile("mov.u32 %0, %laneid;" : "=r"(a{i})); p[{i}] = a{i};\n')
    ),
    "asm in a function each": Pattern(
        times("__device__ void f{i}(unsigned& a, unsigned b, unsigned c) { " + ADD + "}\n")
    ),
    "asm through pointers": Pattern(
        kernel('asm volatile("st.global.u32 [%0], %1;" :: "l"(p + {i}), "r"(a) : "memory");\n')
    ),
    "long asm text": Pattern(
        lambda n: kernel('asm("{\\n"\n' + '"add.u32 %0, %1, %2;\\n"\n' * n + '"}" : "=r"(a) : "r"(b), "r"(c));\n')(1)
    ),
    "asm with registers": Pattern(
        lambda n: kernel(
            'asm("{"\n'
            + "".join(f'".reg .u32 t{i}; add.u32 t{i}, %1, {i};\\n"\n' for i in range(n))
            + f'"mov.u32 %0, t{n - 1};}}" : "=r"(a) : "r"(b));\n'
        )(1),
        most=2048,  # a longer text is refused
    ),
    "asm with labels": Pattern(
        lambda n: kernel(
            'asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0;\\n"\n'
            + "".join(f'"@p bra L{i};\\n add.u32 %0, %1, 1;\\n L{i}:\\n"\n' for i in range(n))
            + '"}" : "+r"(a) : "r"(b));\n'
        )(1),
        start=4,
        most=2048,  # a longer text is refused
    ),
    "asm with operands": Pattern(
        lambda n: kernel(
            'asm("{"\n'
            + "".join(f'"add.u32 %0, %0, %{i + 1};\\n"\n' for i in range(n))
            + '"}" : "+r"(a) : '
            + ", ".join(f'"r"(p[{i}])' for i in range(n))
            + ");\n"
        )(1),
        most=2048,  # a longer text is refused
    ),
    "asm carry chain": Pattern(
        lambda n: kernel(
            'asm("{ add.cc.u32 %0, %1, %2;\\n"\n'
            + '"addc.cc.u32 %0, %0, %2;\\n"\n' * n
            + '"addc.u32 %0, %0, 0; }" : "=r"(a) : "r"(b), "r"(c));\n'
        )(1),
        most=2048,  # a longer text is refused
    ),
    "asm in macros": Pattern(
        times(
            '#define M{i}(a, b, c) asm volatile("add.u32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c))\n'
            "__device__ void f{i}(unsigned a, unsigned b) { M{i}(a, b, 1); }\n"
        )
    ),
    "calls of an asm macro": Pattern(
        lambda n: (
            '#define M(a, t) asm volatile("add." t " %0, %0, 1;" : "+r"(a))\n'
            + kernel('M(a, "u32"); M(b, "s32");\n')(n)
        )
    ),
    "loops of products by a macro": Pattern(
        lambda n: MMA + kernel(LOOP, "float d[4] = {}; unsigned a[4], b[2];")(n), start=64
    ),
    "loops of products, each an array": Pattern(
        lambda n: (
            MMA
            + kernel(
                "float d{i}[4] = {}; " + LOOP.replace("d[", "d{i}[") + "p[{i}] = d{i}[0];\n", "unsigned a[4], b[2];"
            )(n)
        ),
        start=64,
    ),
    "asm that is refused": Pattern(kernel('asm volatile("cp.async.wait_all;" ::: "memory");\n')),
    "asm unterminated": Pattern(times('asm volatile("add.u32 %0, %1, %2;" : "=r"(a\n')),
    # --- PTX modules
    "module: instructions": Pattern(entry(times("add.u32 %r1, %r2, {i};\n")), args=("ptx",)),
    "module: registers": Pattern(entry(times(".reg .u32 %q{i}; add.u32 %q{i}, %r2, {i};\n")), args=("ptx",)),
    "module: labels": Pattern(
        entry(times("setp.eq.u32 %p1, %r1, {i};\n@%p1 bra L{i};\nadd.u32 %r1, %r1, 1;\nL{i}:\n")), args=("ptx",)
    ),
    "module: entries": Pattern(
        times(
            ".visible .entry k{i}(.param .u64 a) { .reg .u32 %r<3>; add.u32 %r1, %r2, 1; ret; }\n",
            ".version 7.0\n.target sm_70\n.address_size 64\n",
        ),
        args=("ptx",),
    ),
    "module: calls": Pattern(
        times(
            ".func f{j} (.param .u32 a) { .param .u32 x; st.param.u32 [x], 1; call.uni f{i}, (x); ret; }\n",
            ".version 7.0\n.target sm_70\n.address_size 64\n.func f0 (.param .u32 a) { ret; }\n",
        ),
        args=("ptx",),
    ),
    "module: calls of what exits": Pattern(
        times(
            ".func f{j} (.param .u32 a) { .param .u32 x; st.param.u32 [x], 1; call.uni f{i}, (x); ret; }\n",
            ".version 7.0\n.target sm_70\n.address_size 64\n.func f0 (.param .u32 a) { exit; }\n",
        ),
        args=("ptx",),
    ),
    "module: registers and blocks": Pattern(
        lambda n: entry(times("{ .reg .u32 %q; add.u32 %q, %x{i}, {i}; }\n"), f".reg .u32 %x<{n}>;")(n), args=("ptx",)
    ),
    "module: parameters": Pattern(
        lambda n: (
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k("
            + ", ".join(f".param .u32 p{i}" for i in range(n))
            + ") { .reg .u32 %r<3>;\n"
            + "".join(f"ld.param.u32 %r1, [p{i}];\n" for i in range(n))
            + "ret; }\n"
        ),
        args=("ptx",),
    ),
    "module: globals": Pattern(
        times(".global .align 4 .u32 g{i}[4] = {1, 2, 3, 4};\n", ".version 7.0\n.target sm_70\n.address_size 64\n"),
        args=("ptx",),
    ),
    "module: long initialiser": Pattern(
        lambda n: (
            ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .u32 g[] = {"
            + ", ".join(map(str, range(n)))
            + "};\n"
        ),
        args=("ptx",),
        start=256,
    ),
    "module: comments": Pattern(entry(times("// a comment {i}\n/* another */\n.loc 1 {i} 0\n")), args=("ptx",)),
    # --- the preprocessor
    "#elif chain": Pattern(lambda n: "#if 0\n" + times("#elif A == {i}\nint a{i};\n")(n) + "#endif\n"),
    "#elif chain on __CUDA_ARCH__": Pattern(
        lambda n: "#if 0\n" + times("#elif __CUDA_ARCH__ >= {i}\nint a{i} = cudaSuccess;\n")(n) + "#endif\n"
    ),
    "nested #if": Pattern(lambda n: times("#if A{i}\nint a{i};\n")(n) + "#endif\n" * n),
    "nested #if, code in it": Pattern(
        lambda n: times("#ifdef __CUDA_ARCH__\nvoid f{i}() { cudaFree(0); }\n")(n) + "#endif\n" * n
    ),
    "unclosed #if": Pattern(times("#if A{i}\nvoid f() { cudaFree(0); }\n")),
    "#if after #if": Pattern(times("#if CUDA_VERSION >= {i}\nint a{i};\n#else\nint b{i};\n#endif\n")),
    "#if in open braces": Pattern(lambda n: "{" * n + times("\n#if A{i}\n#else\n#endif\n")(n)),
    "#if 0 with asm": Pattern(
        times("#if 0\nint a;\n#endif\n__device__ void f{i}(int a, int b, int c) { " + ADD + "}\n")
    ),
    "--skip-inactive": Pattern(
        times("#if 0\nint a = cudaSuccess;\n#endif\nint b = cudaSuccess;\n"), Options(skip_inactive=True)
    ),
    "macros": Pattern(times("#define A{i}(x) cudaFree(x)\n")),
    "macros that use macros": Pattern(
        times("#define A{j}(x) A{i}(x)\n", "#define A0(x) cudaFree(x)\n", "int x = A1(2);\n")
    ),
    "macro used": Pattern(
        times("#define A{i}(x) __shfl_down_sync(~0u, x, 1)\n__global__ void k{i}(int v) { A{i}(v); }\n")
    ),
    "macro redefined": Pattern(times("#undef A\n#define A {i}\nint a{i} = A;\n")),
    "long macro body": Pattern(lambda n: "#define M(x) \\\n" + times("  cudaFree(x{i}); \\\n")(n) + "\n"),
    "constants by macros": Pattern(
        times(
            "#define N{j} (N{i} + 1)\n", "#define N0 1\n", "__global__ void k(int*);\nvoid r() { k<<<1, N1>>>(0); }\n"
        )
    ),
    "launches of one constant": Pattern(
        times("k<<<1, N>>>(0);\n", "const int N = 32;\n__global__ void k(int*);\nvoid r() {\n", "}\n"), SOLO
    ),
    "paste macros": Pattern(
        lambda n: "#define CU(x) cuda##x\nvoid f() {\n" + times("CU(DeviceSynchronize)();\n")(n) + "}\n"
    ),
    "paste macros, many": Pattern(times("#define CU{i}(x) cuda##x\nint a{i} = CU{i}(DeviceSynchronize)();\n")),
    "stringised names": Pattern(lambda n: "#define S(x) #x\nvoid f() {\n" + times("puts(S(cudaFree));\n")(n) + "}\n"),
    "includes": Pattern(times("#include <cuda_runtime.h>\n#include <a{i}.h>\n")),
    "includes of one kind": Pattern(times('#include <thrust/a{i}.h>\n#include "cub/b{i}.cuh"\n')),
    "pragmas": Pattern(times("#pragma unroll\n#pragma nv_diag_suppress {i}\n", "void f() {\n", "}\n")),
    "line continuations": Pattern(lambda n: "int a = 1 " + "\\\n + 1 " * n + ";\n", start=512),
    "continued comments": Pattern(lambda n: "// a " + "\\\n b" * n + "\nint x = cudaSuccess;\n", start=512),
    # --- comments and strings
    "line comments": Pattern(times("// cudaFree {i}\n"), Options(comments=True)),
    "comments": Pattern(times("// a cudaFree {i}\n/* another */ int a{i};\n"), Options(comments=True)),
    "one long comment": Pattern(lambda n: "/*" + times("a cudaFree {i} * \n")(n) + "*/", Options(comments=True)),
    "unterminated comments": Pattern(lambda n: "/* cudaFree *\n" * n, start=512),
    "unterminated strings": Pattern(times('const char* s{i} = "cudaFree;\n')),
    "unterminated characters": Pattern(lambda n: "int a = 'b \\\n" * n, start=512),
    "strings": Pattern(times('const char* s{i} = "cudaFree" "b";\n')),
    "one long string": Pattern(lambda n: "const char* s = " + '"cudaFree b\\n"\n' * n + ";\n"),
    "raw strings": Pattern(times('const char* s{i} = R"x(__global__ void k() { cudaFree(0); })x";\n')),
    "unterminated raw string": Pattern(times('const char* s{i} = R"x{i}(a;\n')),
    "raw string of brackets": Pattern(lambda n: 'const char* s = R"(' + ')x" ' * n + ')";\n', start=512),
    # --- brackets and nesting
    "nested if": Pattern(nested("if (n > {i}) {\n", ";}"), start=8),
    "nested if, warp": Pattern(nested("if (n > {i}) { n += __shfl_sync(~0u, n, {i});\n", ";}"), start=8),
    "nested if, solo": Pattern(nested("if (n > {i}) { n += __shfl_sync(~0u, n, {i});\n", ";}"), SOLO, start=8),
    "nested if, native": Pattern(nested("if (n > {i}) { n += __shfl_sync(~0u, n, {i});\n", ";}"), NATIVE, start=8),
    "if else chain": Pattern(
        lambda n: kernel("if (n == {i}) { n += __shfl_sync(~0u, n, 1); } else\n")(n)[:-2] + ";}\n"
    ),
    "nested loops": Pattern(nested("for (int i{i} = 0; i{i} < n; ++i{i}) {\n", ";}"), start=8),
    "nested loops, warp": Pattern(
        nested("for (int i{i} = 0; i{i} < n; ++i{i}) { n += __shfl_sync(~0u, n, 1);\n", ";}"), start=8
    ),
    "nested while": Pattern(nested("while (n > {i})\n", ""), start=8),
    "nested braces": Pattern(nested("{", ";}"), start=64),
    "nested parens": Pattern(nested("(", ")"), start=64),
    "nested calls": Pattern(nested("f(", ", 1)"), start=64),
    "nested CUDA calls": Pattern(nested("cudaMemcpyToSymbol(p, ", ", 4)", "void f() {"), start=16),
    "nested shuffles": Pattern(nested("__shfl_sync(~0u, ", ", 1)", "__global__ void k(int* p) { int n = "), start=8),
    "nested ternaries": Pattern(nested("n > {i} ? n : (", ")"), start=32),
    "ternary chain": Pattern(
        lambda n: "__global__ void k(int* p, int n) { p[0] = " + times("n == {i} ? {i} : ")(n) + "0; }\n", start=32
    ),
    "nested lambdas": Pattern(nested("[&] {", ";}();"), start=32),
    "nested min": Pattern(nested("min(n, ", ")"), start=32),
    "nested namespaces": Pattern(nested("namespace a{i} {\n", "}", "", ""), start=32),
    "nested classes": Pattern(nested("struct A{i} { __device__ void f() {} ", "};", "", ""), start=32),
    "open braces": Pattern(times("void f{i}() {\n")),
    "open parens": Pattern(times("void f{i}(int a\n")),
    "open brackets": Pattern(times("int a[{i}\n")),
    "closing braces": Pattern(times("} ) ]\n")),
    "mixed stray brackets": Pattern(times("( [ ) ] }\n")),
    # --- templates and launches
    "templates a<b<": Pattern(lambda n: "a<" * n + "int" + ">" * n + " x;\n", start=64),
    "templates open": Pattern(lambda n: "int x = " + "a<b<c<" * n + "1;\n", start=64),
    "comparisons": Pattern(kernel("if (a < b && c > n) p[{i}] = a < b;\n")),
    "template heads": Pattern(times("template <typename T{i}, int N> __global__ void k{i}(T{i}* p) { p[N] = 0; }\n")),
    "launches": Pattern(host("k<<<1, 32>>>(p, {i});\n")),
    "launches, ggl": Pattern(host("k<float, {i}><<<dim3(1), 32, 0, s>>>(p, {i});\n"), Options(launch="ggl")),
    "launches, solo": Pattern(lambda n: kernel(SHFL)(1) + host("k<<<1, 32>>>(p, {i});\n")(n), SOLO),
    "launches in launches": Pattern(nested("k<<<", ">>>(p)", "void f() {"), start=8),
    "nested k<<<": Pattern(lambda n: "void f() {" + "k<<<" * n + ";}\n", start=16),
    "launches in launches, ggl": Pattern(nested("k<<<1, f(", ")>>>(p)", "void f() {"), Options(launch="ggl"), start=8),
    "unclosed launches": Pattern(host("k<<<1, 32;\n")),
    "unclosed launches, open": Pattern(times("void f{i}() k<<<a, b\n")),
    "spaced launches": Pattern(host("k<< <1, 32>> >(p);\n")),
    "shifts": Pattern(host("p[{i}] = n << {i} >> 3;\n")),
    "cub::cub::": Pattern(lambda n: "int x = " + "cub::" * n + "a;\n", start=64),
    "using namespace cub": Pattern(times("using namespace cub;\n")),
    "using namespace in functions": Pattern(times("void f{i}() { using namespace nvcuda; wmma::f(); }\n")),
    "namespace aliases": Pattern(times("namespace a{i} = cub;\n")),
    "a::b::c": Pattern(lambda n: "int x = " + "a::" * n + "cudaFree(0);\n", start=64),
    "members": Pattern(lambda n: "int x = a" + ".b" * n + ".cudaFree(0);\n", start=64),
    "members of launches": Pattern(lambda n: "void f() { a" + ".b" * n + "<<<1, 2>>>(); }\n", start=64),
    "members with arguments": Pattern(lambda n: "__device__ int x = " + "a.b<c, " * n + "0;\n", start=256),
    "names with arguments": Pattern(
        lambda n: "template <class T> struct A;\nint x = " + "a::b<c, " * n + "0;\n", start=256
    ),
    "words before line comments": Pattern(lambda n: "min //x " * n + "\n", start=256),
    "words before open comments": Pattern(lambda n: "declval /*x\n" * n, start=256),
    "calls before line comments": Pattern(lambda n: kernel("p[{i}] = 0;")(1) + "decltype //x" * n + "\n", start=256),
    "definitions with open comments": Pattern(lambda n: kernel("p[{i}] = 0;")(1) + "define/*x" * n + "\n", start=256),
    # --- names
    "one CUDA name": Pattern(host("cudaFree(p + {i});\n")),
    "one CUDA name on one line": Pattern(lambda n: host("cudaFree(p + {i}); ")(n)),
    "CUDA names": Pattern(host("cudaMemcpy(p, p, {i}, cudaMemcpyDefault); cudaMalloc(&p, {i}); cudaGetLastError();\n")),
    "changed calls": Pattern(
        host("cudaMemcpyToSymbol(a{i}, p, 4); cudaFuncSetCacheConfig(k{i}, cudaFuncCachePreferL1);\n")
    ),
    "unknown CUDA names": Pattern(host("cudaNoSuchName{i}(p);\n")),
    "one unknown CUDA name": Pattern(host("cudaNoSuchName(p);\n")),
    "unknown name, declared": Pattern(times("int cudaNoSuchName(int* p{i});\n", tail="int x = cudaNoSuchName(0);\n")),
    "unknown name, pointers": Pattern(times("int *cudaNoSuchName(int p{i});\n")),
    "unsupported names": Pattern(host("cudaGraphConditionalHandleCreate(p); cudaGraphInstantiateWithParams(p);\n")),
    "member cudaFree": Pattern(times("struct S{int cudaFree(int);};\n")),
    "own cudaFree": Pattern(times("struct S{i}{int cudaFree(int a) { return a; }};\nint x{i} = S{i}().cudaFree(1);\n")),
    "own names": Pattern(times("int cudaFree(int a{i}, S{i} s) { return {i}; }\n", tail="int x = cudaFree(1, 2);\n")),
    "own name called": Pattern(
        lambda n: "static int cudaFree(int a, int b) { return a; }\n" + host("p[{i}] = cudaFree({i}, 1);\n")(n)
    ),
    "own #define": Pattern(times("#define cudaFree hipFree\nint a{i} = cudaFree(0);\n")),
    "own enumerators": Pattern(lambda n: "enum E { " + times("cudaOwn{i} = {i}, cudaSuccess, ")(n) + "};\n"),
    "types of CUDA": Pattern(times("void f{i}(cudaStream_t s, cudaError_t e = cudaSuccess);\n")),
    "typedefs": Pattern(times("typedef void *cudaStream_t;\n")),
    "strict names": Pattern(kernel("p[{i}] = min(n, {i}u) + max(v, 1.0);\n")),
    "device pointer, one expression": Pattern(
        lambda n: "void f(CUdeviceptr p, int n) { g(" + "p + n + " * n + "1); }\n"
    ),
    "device pointer, bits in one expression": Pattern(
        lambda n: "void f(CUdeviceptr p, int n) { CUdeviceptr q = (" + "(p + n) & " * n + "~1); }\n"
    ),
    "device pointers": Pattern(times("void f{i}(CUdeviceptr p{i}, int n) { CUdeviceptr q = p{i} + n; g(q & 1); }\n")),
    "half arithmetic": Pattern(kernel("h = __hadd(h, __float2half(v)) + h;\n", "__half h; float v = n;")),
    "vector operators": Pattern(kernel("x = x + y * 2.f; x.x = 1;\n", "float4 x, y;")),
    "textures": Pattern(
        times("texture<float, 2> t{i};\n__global__ void k{i}(float* p) { p[0] = tex2D(t{i}, 1, 2); }\n")
    ),
    "texture fetches": Pattern(lambda n: "texture<float, 1> t;\n" + kernel("v += tex1Dfetch(t, {i});\n")(n)),
    "switch on CUDA errors": Pattern(
        lambda n: host("switch (n) { case cudaSuccess: break; case cudaErrorInvalidValue: case {i}: break; }\n")(n)
    ),
    "cases": Pattern(lambda n: kernel("case {i}: n += 1; break;\n", "switch (n) {")(n) + "}\n"),
    "cases, CUDA": Pattern(
        lambda n: host("case cudaSuccess: n += 1; break;\n")(n).replace("{\n", "{ switch (n) {\n", 1) + "}\n"
    ),
    "symbols": Pattern(times("__constant__ int c{i};\nvoid f{i}() { cudaMemcpyToSymbol(c{i}, 0, 4); }\n")),
    # --- functions
    "small functions": Pattern(times("__device__ int f{i}(int a) { return a + {i}; }\n")),
    "small kernels": Pattern(times("__global__ void k{i}(int* p) { p[threadIdx.x] = {i}; }\n")),
    "one huge function": Pattern(kernel("p[{i}] = n * {i} + p[n];\n")),
    "locals": Pattern(kernel("int x{i} = n + {i};\n")),
    "locals, each of the last": Pattern(kernel("int x{j} = x{i} + 1;\n", "int x0 = n;")),
    "locals, warp": Pattern(kernel("int x{j} = __shfl_sync(~0u, x{i}, 1);\n", "int x0 = n;")),
    "shared arrays": Pattern(kernel("__shared__ int s{i}[32]; s{i}[threadIdx.x] = n; p[{i}] = s{i}[0];\n")),
    "extern shared": Pattern(times("__global__ void k{i}() { extern __shared__ float s[]; s[0] = {i}; }\n")),
    "initialiser list": Pattern(lambda n: "int a[] = {" + ", ".join(map(str, range(n))) + "};\n", start=512),
    "initialiser list in a kernel": Pattern(
        lambda n: (
            "__global__ void k(int* p) { const int a[] = {"
            + ", ".join(map(str, range(n)))
            + "}; p[0] = __shfl_sync(~0u, a[1], 1); }\n"
        ),
        start=256,
    ),
    "initialiser lists, nested": Pattern(lambda n: "int a[][2] = {" + "{1, cudaSuccess}, " * n + "};\n", start=64),
    "operator chain": Pattern(lambda n: "__global__ void k(int* p, int n) { p[0] = n" + " + n" * n + "; }\n", start=64),
    "operator chain, warp": Pattern(
        lambda n: "__global__ void k(int* p, int n) { p[0] = n" + " + __shfl_sync(~0u, n, 1)" * n + "; }\n"
    ),
    "&& chain": Pattern(
        lambda n: "__global__ void k(int* p, int n) { if (n" + " && n > 1" * n + ") __syncwarp(); }\n", start=64
    ),
    "<< chain": Pattern(lambda n: "void f() { std::cout" + " << cudaSuccess" * n + "; }\n", start=64),
    "casts": Pattern(nested("(int)", "", "__global__ void k(int* p, int n) { "), start=64),
    "casts in a kernel": Pattern(
        lambda n: "__global__ void k(int* p, int n) { n = " + "(int)(float)" * n + "__shfl_sync(~0u, n, 1); }\n",
        start=64,
    ),
    "unary signs": Pattern(
        lambda n: "__global__ void k(int* p, int n) { n = " + "- ! ~ " * n + "__shfl_sync(~0u, n, 1); }\n", start=64
    ),
    "assignments": Pattern(
        lambda n: "__global__ void k(int* p, int n) { " + "n = " * n + "__shfl_sync(~0u, n, 1); }\n", start=64
    ),
    "subscripts": Pattern(nested("p[", "]", "__global__ void k(int* p, int n) { "), start=64),
    "dereferences": Pattern(lambda n: "__global__ void k(int* p, int n) { n = " + "*" * n + "p; }\n", start=64),
    "arguments": Pattern(
        lambda n: "void f() { g(" + ", ".join(f"a{i}" for i in range(n)) + "); cudaFree(0); }\n", start=64
    ),
    "parameters": Pattern(
        lambda n: (
            "__global__ void k("
            + ", ".join(f"int* a{i}" for i in range(n))
            + ") { a0[0] = __shfl_sync(~0u, a1[0], 1); }\n"
        )
    ),
    "goto": Pattern(kernel("L{i}: if (n > {i}) goto L{j}; n += 1;\n")),
    "goto, warp": Pattern(kernel("L{i}: if (n > {i}) goto L{j}; n += __shfl_sync(~0u, n, 1);\n")),
    "returns": Pattern(kernel("if (n == {i}) return;\n")),
    "returns, warp": Pattern(kernel("if (threadIdx.x == {i}) return; n += __shfl_sync(~0u, n, 1);\n")),
    "preamble of a function": Pattern(
        lambda n: "int a" + ", a" * n + ";\nFN " * 1 + "A " * n + "void f() { cudaFree(0); }\n", start=64
    ),
    "attributes": Pattern(lambda n: "__device__ " * n + "void f() { cudaFree(0); }\n", start=64),
    "words without ;": Pattern(times("MACRO{i}(a) { cudaFree(0); }\n")),
    "declarations without body": Pattern(times("__device__ int f{i}(int a);\n")),
    # --- warps
    "shuffles": Pattern(kernel(SHFL)),
    "shuffles, solo": Pattern(kernel(SHFL), SOLO),
    "shuffles, native": Pattern(kernel(SHFL), NATIVE),
    "shuffles, flag": Pattern(kernel(SHFL), FLAG),
    "ballots": Pattern(kernel("unsigned m{i} = __ballot_sync(~0u, n == {i}); n += __popc(m{i});\n")),
    "ballots, native": Pattern(kernel("unsigned m{i} = __ballot_sync(~0u, n == {i}); n += __popc(m{i});\n"), NATIVE),
    "reductions, native": Pattern(
        kernel("for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"), NATIVE
    ),
    "syncwarp": Pattern(kernel("p[{i}] = n; __syncwarp();\n")),
    "syncthreads": Pattern(kernel("p[{i}] = n; __syncthreads();\n"), SOLO),
    "atomics": Pattern(kernel("atomicAdd(p + {i}, 1); atomicCAS(p, n, {i});\n")),
    "atomics behind a lane": Pattern(kernel("if (threadIdx.x % 32 == {i}) atomicAdd(p + {i}, 1);\n"), SOLO),
    "locks": Pattern(kernel("while (atomicCAS(p + {i}, 0, 1)) ; p[1] = n; atomicExch(p + {i}, 0);\n")),
    "warpSize": Pattern(kernel("n += threadIdx.x / warpSize + {i};\n")),
    "32": Pattern(kernel("n += threadIdx.x / 32 + threadIdx.x % 32;\n")),
    "cooperative groups": Pattern(
        kernel(
            "n += tile.shfl_down(n, {i});\n",
            "auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());",
        )
    ),
    "tiles": Pattern(
        kernel(
            "auto t{i} = cooperative_groups::tiled_partition<16>(b); n += t{i}.shfl(n, 0);\n",
            "auto b = cooperative_groups::this_thread_block();",
        )
    ),
    "macros of macros": Pattern(
        macros("#define A{i} (A{h}+A{h})\n", "#define A0 32\n", "if (threadIdx.x < A{n}) v = A{n};\n"), FLAG, start=8
    ),
    "macros of macros, lanes": Pattern(
        macros("#define A{i} (A{h}+A{h})\n", "#define A0 (threadIdx.x & 31)\n", "if (A{n} < 32) v = A{n};\n"),
        FLAG,
        start=8,
    ),
    "macros of calls of macros": Pattern(
        macros("#define A{i}(x) (A{h}(x)+A{h}(x))\n", "#define A0(x) (x)\n", "if (A{n}(n) < 32) v = A{n}(a);\n"),
        FLAG,
        start=8,
    ),
    "macros of statements of macros": Pattern(
        macros("#define A{i}(x) { A{h}(x); A{h}(x); }\n", "#define A0(x) v = __shfl_sync(~0u, x, 1)\n", "A{n}(v);\n"),
        FLAG,
        start=8,
    ),
    "constants of constants": Pattern(
        macros(
            "constexpr int A{i} = A{h} + A{h};\n", "constexpr int A0 = 32;\n", "if (threadIdx.x < A{n}) v = A{n};\n"
        ),
        FLAG,
        start=8,
    ),
    "macros of macros, native": Pattern(
        macros("#define A{i} (A{h}+A{h})\n", "#define A0 32\n", "if (threadIdx.x < A{n}) v = A{n};\n"), NATIVE, start=8
    ),
    "macros of macros, lint": Pattern(
        macros("#define A{i} (A{h}+A{h})\n", "#define A0 32\n", "if (threadIdx.x < A{n}) v = A{n};\n"),
        args=(*LINT, "{file}"),
        start=8,
    ),
    "call chain": Pattern(chain),
    "call chain, solo": Pattern(chain, SOLO),
    "call chain, native": Pattern(chain, NATIVE),
    "call chain, backwards": Pattern(
        times("__device__ int f{j}(int);\n__device__ int f{i}(int v) { return f{j}(v) + __shfl_sync(~0u, v, 1); }\n")
    ),
    "call diamonds": Pattern(lambda n: chain(n, "f{i}(v) + f{i}(v + 1)"), start=4),
    "call diamonds, solo": Pattern(lambda n: chain(n, "f{i}(v) + f{i}(v + 1)"), SOLO, start=4),
    "call diamonds, native": Pattern(lambda n: chain(n, "f{i}(v) + f{i}(v + 1)"), NATIVE, start=4),
    "recursion": Pattern(
        lambda n: (
            "__device__ int f0(int v);\n"
            + chain(n).replace("f0(int v) { return ", f"f0(int v) {{ return v < 1 ? f{n - 1}(v - 1) : ")
        )
    ),
    "calls of one function": Pattern(
        lambda n: "__device__ int f(int v) { return __shfl_sync(~0u, v, 1); }\n" + kernel("n = f(n);\n")(n)
    ),
    "calls of one function, solo": Pattern(
        lambda n: "__device__ int f(int v) { return __shfl_sync(~0u, v, 1); }\n" + kernel("n = f(n);\n")(n), SOLO
    ),
    "kernels with shuffles": Pattern(times("__global__ void k{i}(int* p) { p[0] = __shfl_sync(~0u, p[1], {i}); }\n")),
    "kernels, solo": Pattern(
        times(LAUNCHED),
        SOLO,
    ),
    "kernels, native": Pattern(
        times(LAUNCHED),
        NATIVE,
    ),
    "kernels, flag": Pattern(
        times(LAUNCHED),
        FLAG,
    ),
    "host warp size": Pattern(host("int b{i} = (n + 31) / 32 * 32; cudaDeviceProp q{i}; n += q{i}.warpSize;\n")),
    # --- lint, audit, reports, diffs
    "lint: findings": Pattern(kernel(BALLOT), args=(*LINT, "{file}")),
    "lint: findings on one line": Pattern(lambda n: kernel("unsigned m{i} = __ballot(n); ")(n), args=(*LINT, "{file}")),
    "lint: suppressed": Pattern(
        lambda n: kernel("unsigned m{i} = __ballot(n);  // cu2port: ignore\n")(n), args=(*LINT, "{file}")
    ),
    "lint: unused suppressions": Pattern(times("int a{i};  // cu2port: ignore[CU312]\n"), args=(*LINT, "{file}")),
    "lint: blocks": Pattern(
        lambda n: times("// cu2port: ignore-begin\n")(n) + kernel(BALLOT)(n) + "// cu2port: ignore-end\n" * n,
        args=(*LINT, "{file}"),
    ),
    "lint: a mask in each block": Pattern(
        lambda n: (
            "#include <hip/hip_runtime.h>\n" + kernel("if (n) { unsigned a = __activemask(); n += a >> 3; }\n")(n)
        ),
        args=(*LINT, "{file}"),
    ),
    "lint: loops of shuffles": Pattern(
        lambda n: (
            "#include <hip/hip_runtime.h>\n" + kernel("for (int o = 32; o > 0; o /= 2) n += __shfl_xor(n, o);\n")(n)
        ),
        args=(*LINT, "{file}"),
    ),
    "lint --unsafe-fixes": Pattern(
        lambda n: "#include <hip/hip_runtime.h>\n" + kernel(BALLOT)(n), args=(*LINT, "--unsafe-fixes", "{file}")
    ),
    "lint --write-baseline": Pattern(kernel(BALLOT), args=(*LINT, "--write-baseline", "b.json", "{file}")),
    **{
        f"lint --output-format {f}": Pattern(kernel(BALLOT), args=(*LINT, "--output-format", f, "{file}"))
        for f in ("sarif", "json", "github", "gitlab", "junit")
    },
    **{
        f"audit --format {f}": Pattern(
            lambda n: kernel("unsigned m{i} = __ballot(n); cudaNoSuch{i}();\n")(n),
            args=("audit", "{file}", "--format", f),
        )
        for f in ("html", "json", "sarif", "md", "text")
    },
    "audit: kernels": Pattern(
        times("__global__ void k{i}(int* p) { p[0] = __shfl(p[1], {i}); }\n"),
        args=("audit", "{file}", "--format", "json"),
    ),
    "convert --report json": Pattern(
        host("cudaNoSuch{i}(p);\n"), args=("convert", "{file}", "-o", "out.hip", "--report", "r.json")
    ),
    "convert --diff": Pattern(host("cudaFree(p + {i});\nn += {i};\nn *= 2;\n"), args=("convert", "{file}", "--diff")),
    "convert --diff, equal lines": Pattern(host("cudaFree(p);\n"), args=("convert", "{file}", "--diff")),
    "convert --diff, few edits": Pattern(
        lambda n: host("n += 1;\n")(n) + SMALL, args=("convert", "{file}", "--diff"), start=256
    ),
    # --- trees
    "tree: files": Pattern(files(lambda i, n: SMALL), args=TREE, start=8),
    "tree: include chain": Pattern(files(lambda i, n: f'#include "f{i + 1}.cu"\n' + SMALL), args=TREE, start=8),
    "tree: include chain, warps": Pattern(
        files(
            lambda i, n: (
                f'#include "f{i + 1}.cu"\n__device__ int g{i}(int v) {{ return __shfl_sync(~0u, v, 1); }}\n'
                f"__global__ void k{i}(int* p) {{ p[0] = g{i}(p[1]); }}\n"
            )
        ),
        args=TREE,
        start=4,
    ),
    "tree: include star": Pattern(
        files(lambda i, n: '#include "hub.cuh"\n' + SMALL, {"src/hub.cuh": SMALL}), args=TREE, start=8
    ),
    "tree: include chain over folders": Pattern(
        # a file is followed to 64 headers on average: a shorter chain costs each file all that is behind it
        lambda n: {f"src/d{i}/a.cuh": f'#include "../d{i + 1}/a.cuh"\n' + SMALL for i in range(n)},
        args=TREE,
        start=256,
    ),
    "tree: include chain, declared names": Pattern(
        files(lambda i, n: f'#include "f{i + 1}.cu"\nint cudaOwn{i}(int a) {{ return a; }}\n' + SMALL),
        args=(*TREE, "--no-cache"),
        start=8,
    ),
    "tree: one includes all": Pattern(
        lambda n: {**files(lambda i, n: SMALL)(n), "src/all.cu": times('#include "f{i}.cu"\n')(n)}, args=TREE, start=8
    ),
    "tree: include cycle": Pattern(files(lambda i, n: f'#include "f{(i + 1) % n}.cu"\n' + SMALL), args=TREE, start=8),
    "tree: declared names": Pattern(
        files(lambda i, n: f'#include "f{(i + 1) % n}.cu"\nint cudaOwn{i}(int a) {{ return a; }}\n' + SMALL),
        args=TREE,
        start=8,
    ),
    "tree: equal names": Pattern(
        lambda n: (
            {f"src/d{i}/a.cu": '#include "x/a.cu"\n#include "b.cuh"\n' + SMALL for i in range(n)}
            | {f"src/d{i}/b.cuh": SMALL for i in range(n)}
        ),
        args=TREE,
        start=8,
    ),
    "tree: equal headers elsewhere": Pattern(
        lambda n: (
            {f"src/d{i}/a.cu": '#include "common.h"\n' + SMALL for i in range(n)}
            | {f"src/i{i}/common.h": SMALL for i in range(n)}
        ),
        args=TREE,
        start=8,
    ),
    "tree: renamed": Pattern(
        files(lambda i, n: f'#include "f{i + 1}.cu"\n' + SMALL), args=(*TREE, "--rename", ".hip"), start=8
    ),
    "tree: deep folders": Pattern(
        # names of one folder in another have n * n / 2 letters: here the names are as long as n says
        lambda n: {"src/" + "d/" * i + "a.cu": SMALL for i in range(isqrt(n))},
        args=TREE,
        start=64,
        most=1 << 20,
    ),
    "tree: .gitignore": Pattern(
        lambda n: {"src/a.cu": SMALL, "src/.git/HEAD": "", "src/.gitignore": times("/x{i}/*.o\n")(n)},
        args=TREE,
        start=64,
    ),
    "tree: --exclude": Pattern(
        files(lambda i, n: SMALL, {}), args=(*TREE, "--exclude", "*.x", "--exclude", "b/*"), start=8
    ),
    "tree: compile_commands": Pattern(
        lambda n: {
            "src/a.cu": SMALL,
            "compile_commands.json": json.dumps(
                [
                    {"file": f"src/f{i}.cu", "directory": ".", "command": f"nvcc -Iinc{i} -DA{i}=1 -c f{i}.cu"}
                    for i in range(n)
                ]
            ),
        },
        args=(*TREE, "-p", "."),
        start=64,
    ),
    "tree: one command of many flags": Pattern(
        lambda n: {
            "src/a.cu": SMALL,
            "compile_commands.json": json.dumps(
                [{"file": "src/a.cu", "directory": ".", "command": "nvcc " + times("-Iinc{i} -DA{i}=1 ")(n)}]
            ),
        },
        args=(*TREE, "-p", "."),
        start=64,
    ),
    "tree: audit": Pattern(
        files(lambda i, n: f'#include "f{i + 1}.cu"\n__global__ void k{i}(int* p) {{ p[0] = __shfl(p[1], 1); }}\n'),
        args=("audit", "src", "--format", "json", "-j", "1"),
        start=8,
    ),
    "tree: lint": Pattern(
        files(lambda i, n: f'#include "f{i + 1}.cu"\n__global__ void k{i}(int* p) {{ p[0] = __shfl(p[1], 1); }}\n'),
        args=(*LINT, "src"),
        start=8,
    ),
}
