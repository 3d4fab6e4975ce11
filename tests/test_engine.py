"""The straight line as a whole: nothing raises, nothing is lost, a second run changes nothing."""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port import Options, translate
from cu2port.catalog import load_catalog
from cu2port.catalog.uses import declared_names
from cu2port.checks import all_checks
from cu2port.core.edits import judge
from cu2port.core.files import suffix
from cu2port.core.model import Outcome, Project, Trust
from cu2port.facts.clang import ClangService
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Lexed

WORDS = st.sampled_from(
    """cudaMalloc cudaFree cudaMemcpyToSymbol cudaError_t cublasCreate __shfl_sync __syncwarp __launch_bounds__ asm
    volatile __global__ __device__ __shared__ extern k <<< >>> << < > ( ) { } [ ] , ; :: . -> # ## define if ifdef
    endif else include pragma once <cuda_runtime.h> "cuda.h" "x" 'c' 0xffffffff 32 __CUDA_ARCH__ CUDA_VERSION >= && ||
    ! ? : = == + - * & texture namespace using cub thrust template typename class return void int float register \\ //
    /* */ R"( )"
    """.split()
)
GLUE = st.sampled_from([" ", "", "\n", "\r\n", "\n#", "\\\n"])
TEXTS = st.lists(st.tuples(WORDS, GLUE), max_size=50).map(lambda xs: "".join(a + b for a, b in xs))
OPTIONS = st.sampled_from(
    [
        Options(),
        Options(launch="ggl"),
        Options(trust=Trust.EXACT),
        Options(skip_inactive=True),
        Options(comments=True),
        Options(rocm=(6, 2)),
        Options(warp="solo", launch="ggl"),
        Options(warp="native", launch="ggl"),
        Options(warp="flag", launch="ggl"),
    ]
)
MODES = [(warp, launch) for warp in ("logical", "solo", "native", "flag") for launch in ("keep", "ggl")]
ROW = """#include <cuda_runtime.h>
__global__ void sums(const float* in, float* out, int n, int width) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= n) return;
  float sum = 0;
  for (int i = threadIdx.x % 32; i < width; i += 32) sum += in[row * width + i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) out[row] = sum;
}
void run(const float* in, float* out, int n, int width, int grid, int block) {
  sums<<<grid, block>>>(in, out, n, width);
}
"""


def unchanged_the_second_time(text: str, options: Options, path: str) -> bool:
    once = translate(text, options, path=path).output
    return translate(once, options, path=path).output == once


def examples() -> list[tuple[str, str, str]]:
    return [(f"{c.code} {k}", e.path, e.before) for c in all_checks() for k, e in enumerate(c.examples)]


@pytest.mark.parametrize(("warp", "launch"), [("solo", "ggl"), pytest.param("native", "ggl", marks=pytest.mark.slow)])
def test_an_example_converted_in_another_mode_is_converted_for_good(warp: str, launch: str) -> None:
    options = Options(warp=warp, launch=launch, use_clang=False)
    assert [name for name, path, text in examples() if not unchanged_the_second_time(text, options, path)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("warp", "launch"), MODES)
def test_an_example_is_converted_for_good_in_every_mode(warp: str, launch: str) -> None:
    for rest in (Options(), Options(trust=Trust.EXACT, comments=True, rocm=(6, 2))):
        options = replace(rest, warp=warp, launch=launch, use_clang=False)
        assert [name for name, path, text in examples() if not unchanged_the_second_time(text, options, path)] == []


@pytest.mark.parametrize(("warp", "launch"), MODES)
def test_a_row_for_each_warp_is_converted_for_good(warp: str, launch: str) -> None:
    options = Options(warp=warp, launch=launch, use_clang=False)
    assert unchanged_the_second_time(ROW, options, "a.cu")
    written = translate(ROW, options, path="a.cu").output
    assert (b"hipLaunchKernelGGL" in written) == (launch == "ggl")


@pytest.mark.parametrize("start", ["", "#pragma once\n", "// a\n", "#include <a.h>\n", "int x;\n"])
@pytest.mark.parametrize(
    "end", ["/* cudaMalloc\n", "// cudaMalloc \\\n", 'R"(cudaMalloc\n', '"cudaMalloc \\\n', "/*\n/*\n"]
)
def test_what_nothing_closes_gains_an_include_once(start: str, end: str) -> None:
    for path in ("a.cu", "a.cuh"):
        for options in (Options(use_clang=False), Options(use_clang=False, comments=True)):
            assert unchanged_the_second_time(start + end, options, path)


@settings(max_examples=400)
@given(TEXTS, OPTIONS, st.sampled_from(["a.cu", "a.h", "b.cpp"]))
def test_no_text_raises_and_a_second_run_changes_nothing(text: str, options: Options, path: str) -> None:
    once = translate(text, options, path=path)
    again = translate(once.output, options, path=path)
    assert again.output == once.output


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_convert(data: bytes) -> None:
    once = translate(data, path="a.cu")
    assert translate(once.output, path="a.cu").output == once.output


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_checks_does_not_matter(text: str, rng: random.Random) -> None:
    unit = Unit(text, load_catalog(), path="a.cu")
    checks = list(all_checks())
    first = judge([f for c in checks for f in c.run(unit)], Trust.REVIEW)
    rng.shuffle(checks)
    assert judge([f for c in checks for f in c.run(unit)], Trust.REVIEW) == first


def test_what_is_not_edited_comes_out_byte_for_byte() -> None:
    data = b"\xef\xbb\xbf// caf\xe9\r\n#include <cuda_runtime.h>\r\n\tint \xc3\xa9 = cudaSuccess;\r\n"
    result = translate(data, path="a.cu")
    assert (
        result.output == b"\xef\xbb\xbf// caf\xe9\r\n#include <hip/hip_runtime.h>\r\n\tint \xc3\xa9 = hipSuccess;\r\n"
    )


def test_added_include_follows_the_bom_and_the_line_ends() -> None:
    data = b"\xef\xbb\xbf__global__ void k() {}\r\n"
    assert (
        translate(data, path="a.cu").output == b"\xef\xbb\xbf#include <hip/hip_runtime.h>\r\n__global__ void k() {}\r\n"
    )


def test_utf16_is_named_and_left() -> None:
    data = "cudaFree(p);".encode("utf-16")
    result = translate(data, path="a.cu")
    assert result.output == data
    (judged,) = result.findings
    assert judged.open
    assert "UTF-16" in judged.finding.message


def test_trust_exact_leaves_what_needs_review() -> None:
    text = "#if CUDA_VERSION >= 9000\n#endif\nint x = cudaSuccess;\n"
    result = translate(text, Options(trust=Trust.EXACT), path="a.h")
    assert result.output == b"#if CUDA_VERSION >= 9000\n#endif\nint x = hipSuccess;\n"
    assert [j.finding.code for j in result.findings if j.outcome is Outcome.MANUAL] == ["CU206"]


def test_names_in_strings_comments_members_and_namespaces_stay() -> None:
    text = 'const char* s = "cudaFree"; // cudaFree\nvoid f() { a.cudaFree(p); a->cudaFree(p); my::cudaFree(p); }\n'
    assert translate(text, path="a.h").output == text.encode()


def test_comments_on_request() -> None:
    assert (
        translate("// see cudaFree, my_cudaFree\n", Options(comments=True), path="a.h").output
        == b"// see hipFree, my_cudaFree\n"
    )


def test_inactive_branches_on_request() -> None:
    text = "#if 0\nint a = cudaSuccess;\n#endif\nint b = cudaSuccess;\n"
    assert translate(text, path="a.h").output.count(b"hipSuccess") == 2
    assert translate(text, Options(skip_inactive=True), path="a.h").output.count(b"hipSuccess") == 1


def test_includes_stay_outside_of_braces_and_conditionals() -> None:
    text = '#ifdef __cplusplus\nextern "C" {\n#endif\n#include "a.h"\nvoid f();\n#ifdef __cplusplus\n}\n#endif\n'
    assert translate(text, path="a.cu").output.startswith(b"#include <hip/hip_runtime.h>\n#ifdef __cplusplus\n")


def test_a_symbol_named_by_a_string_is_the_variable_of_that_name() -> None:
    text = '__constant__ float c[4];\nvoid f() { cudaMemcpyToSymbol("c", p, 16); cudaMemcpyToSymbol("a b", p, 16); }\n'
    out = translate(text, path="a.cuh").output
    assert b"hipMemcpyToSymbol(HIP_SYMBOL(c), p, 16)" in out
    assert b'cudaMemcpyToSymbol("a b", p, 16)' in out


def test_a_symbol_is_not_wrapped_for_the_compiler_of_the_host() -> None:
    text = "#include <cuda_runtime.h>\nvoid f() { cudaMemcpyToSymbol(&c, p, 16); }\n"
    assert b"hipMemcpyToSymbol(&c, p, 16)" in translate(text, path="a.cpp").output
    assert b"hipMemcpyToSymbol(HIP_SYMBOL(&c), p, 16)" in translate(text, path="a.cu").output
    named = translate(text.replace("&c", '"c"'), path="a.cpp").output  # the compiler stops at it
    assert b"HIP_SYMBOL(c)" in named


def test_template_commas_do_not_part_arguments() -> None:
    text = "void f() { cudaFuncSetAttribute(k<float, 4>, a, v); }"
    assert b"reinterpret_cast<const void*>(k<float, 4>), a, v)" in translate(text, path="a.cuh").output


def test_a_null_pointer_gets_no_cast() -> None:
    text = "void f() { cudaFuncSetAttribute(nullptr, a, v); cudaFuncGetAttributes(&t, nullptr); }"
    out = translate(text, path="a.cuh").output
    assert b"hipFuncSetAttribute(nullptr, a, v); hipFuncGetAttributes(&t, nullptr);" in out


def test_a_macro_before_a_call_makes_it_no_declaration() -> None:
    text = "void f(void* p) { CUERR cudaFree(p); }\nint cudaMalloc(int);\nint x = cudaMalloc(1);\n"
    assert b"CUERR hipFree(p)" in translate(text, path="a.cuh").output


def test_a_header_that_maps_cuda_to_hip_stays_and_hides_nothing() -> None:
    shim = "#define cudaFree hipFree\n#define cudaStream_t hipStream_t\n"
    assert translate(shim, path="vendors/hip.h").output == shim.encode()
    assert declared_names(shim).own == frozenset()
    text = "#ifdef USE_HIP\n" + shim + "#endif\nvoid f(cudaStream_t s, void* p) { cudaFree(p); }\n"
    assert b"void f(hipStream_t s, void* p) { hipFree(p); }" in translate(text, path="a.cuh").output


def test_a_namespace_that_the_project_opens_itself_is_not_cudas() -> None:
    own = "namespace app { namespace cuda { template <class T> struct maximum {}; void sync(); } }\n"
    use = "void f() { cuda::maximum<int> m; cuda::sync(); cuda::std::size_t n; }\n"
    assert declared_names(own).own == {"app::cuda"}
    assert declared_names("using namespace cuda;\nnamespace cuda::std { int x; }\n").own == frozenset()
    for text, project in ((own + use, Project()), (use, Project(declared=frozenset({"cuda"})))):
        result = translate(text, path="a.h", project=project)
        assert [j.finding.cuda for j in result.findings] == ["cuda::std::size_t"]
    both = translate("#include <cuda/functional>\n" + own + use, path="a.h")
    assert "cuda::maximum" in [j.finding.cuda for j in both.findings]
    kept_by_hipmm = "#include <rmm/device_buffer.hpp>\nrmm::device_buffer b;\n"
    assert not translate(kept_by_hipmm, path="a.h").findings
    copied = "namespace nvtx3 { inline namespace v1 { struct domain {}; struct color {}; } }\n"
    assert not translate(copied + "nvtx3::domain d;\nnvtx3::color c;\n", path="a.h").findings
    assert not translate(copied + "using namespace nvtx3;\ncolor c;\n", path="a.h").findings


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "struct cublasContext;\ntypedef struct cublasContext *cublasHandle_t;\n",
            "\ntypedef void *hipblasHandle_t;\n",
        ),
        ("typedef struct cusparseMatDescr* cusparseMatDescr_t;\n", "typedef void* hipsparseMatDescr_t;\n"),
        ("struct S { struct cusolverDnContext *h; };\n", "struct S { void *h; };\n"),
        (
            "typedef struct curandGenerator_st *curandGenerator_t;\n",
            "typedef struct rocrand_generator_base_type *hiprandGenerator_t;\n",
        ),
    ],
)
def test_declarations_of_handles_are_those_of_hips_headers(text: str, wanted: str) -> None:
    """A header that declares CUDA's handles, so as not to include their headers, declares HIP's."""
    result = translate(text.encode(), Options(), path="a.h")
    assert result.output.decode() == wanted
    assert not result.left


def test_a_type_that_a_header_declares_again_as_cuda_does_follows_it() -> None:
    text = "typedef struct CUstream_st *cudaStream_t;\nvoid f(cudaStream_t s);\n"
    assert translate(text, path="a.h").output == b"typedef struct ihipStream_t *hipStream_t;\nvoid f(hipStream_t s);\n"


@pytest.mark.parametrize(
    "name",
    [
        "cudaArray *cudaArray_t",
        "cudaMipmappedArray *cudaMipmappedArray_t",
        "ncclComm *ncclComm_t",
        "_nvrtcProgram *nvrtcProgram",
    ],
)
def test_a_handle_that_a_header_declares_again_is_no_name_of_the_projects(name: str) -> None:
    """Where libclang does not answer, as in a branch that nothing compiles, that alone decides."""
    assert declared_names(f"typedef struct {name};\n").own == frozenset()


def test_a_conversion_to_a_cuda_type_declares_no_such_name() -> None:
    text = "struct S {\n  operator cudaStream_t() const { return s; }\n  [[nodiscard]] cudaStream_t s;\n};\n"
    assert declared_names(text).own == frozenset()
    assert translate(text, path="a.h").output == text.replace("cudaStream_t", "hipStream_t").encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("API ::cudaStream_t s();\n", "API ::hipStream_t s();\n"),
        ("API::cudaStream_t s();\nApi ::cudaStream_t t();\n", None),  # in a namespace
        ("API auto p() const NOEXCEPT->cudaPitchedPtr { }\n", "API auto p() const NOEXCEPT->hipPitchedPtr { }\n"),
        ("auto p() NOEXCEPT->cudaStream_t;\n", "auto p() NOEXCEPT->hipStream_t;\n"),
        ("int p() { return (int)P1->cudaPitchedPtr; }\n", None),  # a member
    ],
)
def test_a_macro_before_a_name_is_no_namespace_and_no_object(before: str, after: str | None) -> None:
    assert translate(before, path="a.h").output.decode() == (after or before)


@pytest.mark.parametrize(
    "text",
    [
        "auto f(S s) -> cudaError_t { return cudaSuccess; }\n",
        "auto f() -> const cudaStream_t { return s; }\n",
        "// call this instead of cudaSetDevice; it is slower\n",
        "/* see also\n * the member cudaSetDevice; more */\n",
        "int x = a ? b : // otherwise\n    cudaErrorUnknown; // same\n",
        "#if A == 11 && CUBLAS_VER_MINOR == 11\n#endif\n",
        'void f() { log("with cudaMalloc=", 1); }\n',
        "#define cublasCreate hipblasCreate\n#define make_cudaExtent make_hipExtent\n",
    ],
)
def test_what_only_looks_like_a_declaration(text: str) -> None:
    assert declared_names(text).own == frozenset()


def test_a_name_that_another_file_declares_stays_and_is_told() -> None:
    project = Project(declared=frozenset({"cudaSetDevice"}))
    result = translate("void f() { cudaSetDevice(1); cudaSetDevice(2); }\n", path="a.h", project=project)
    assert b"cudaSetDevice(1); cudaSetDevice(2);" in result.output
    assert [(j.finding.code, j.finding.cuda) for j in result.findings] == [("CU113", "cudaSetDevice")]


def test_what_nvcc_includes_by_itself_stands_before_the_projects_headers() -> None:
    own = Project(own=frozenset({"app/a.h"}))
    for text, project in (('#include "a.h"\n', Project()), ("#include <app/a.h>\n", own), ("#include <b.cuh>\n", own)):
        out = translate(text, path="k.cu", project=project).output
        assert out == b"#include <hip/hip_runtime.h>\n" + text.encode()
        assert translate(out, path="k.cu", project=project).output == out
    assert translate("#include <app/b.h>\n", path="k.cu", project=own).output == b"#include <app/b.h>\n"


def test_thrusts_header_is_included_where_the_projects_header_brings_thrust(tmp_path: Path) -> None:
    (tmp_path / "common.cuh").write_text("#include <thrust/reduce.h>\n")
    text = '#include "common.cuh"\nint f(int* p) { return thrust::reduce(thrust::device, p, p + 2); }\n'
    path = str(tmp_path / "a.cu")
    assert b"#include <thrust/execution_policy.h>\n" in translate(text, path=path).output
    (tmp_path / "common.cuh").write_text("#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>\n")
    assert b"execution_policy" not in translate(text, path=path).output
    assert b"execution_policy" not in translate(text.replace("common.cuh", "other.cuh"), path=path).output  # not known


def test_a_macro_that_names_a_header_names_hips() -> None:
    for text, wanted in (
        (
            "#define STD(name) <cuda/std/name>\n#include STD(utility)\n",
            "#define STD(name) <name>\n#include STD(utility)\n",
        ),
        ("#define STD <cuda/std/utility>\n", "#define STD <utility>\n"),
        ("#define STD(name) <cuda/other/name>\n", "#define STD(name) <cuda/other/name>\n"),
        ("#define LESS(a, b) <cuda/std/utility> a\n", "#define LESS(a, b) <cuda/std/utility> a\n"),
    ):
        assert translate(text, path="a.h").output.decode() == wanted


@pytest.mark.parametrize("header", ["helper_cuda.h", "jitify.hpp"])
@pytest.mark.parametrize("own", [True, False])
def test_a_header_of_the_samples_is_reported_where_the_tree_lacks_it(own: bool, header: str) -> None:
    """The toolkit's samples bring it, which ROCm has none of; many trees hold a copy. So they do of Jitify."""
    project = Project(own=frozenset({header} if own else ()))
    found = translate(f"#include <{header}>\n", path="a.cu", project=project)
    left = [j.finding.code for j in found.findings if j.outcome is Outcome.MANUAL]
    assert left == ([] if own else ["CU108"])


def test_names_of_a_library_that_the_tree_has_are_its_own() -> None:
    text = "CUTLASS_DEVICE void f(cutlass::half_t* a) { cute::copy(a, a); cudaFree(a); }\n"
    found = translate(text, path="a.h", project=Project(own=frozenset({"cutlass/*", "cute/*"})))
    assert found.left == frozenset() and found.seen == {"cudaFree"}
    assert translate(text, path="a.h").left == {"CUTLASS_DEVICE", "cutlass::half_t", "cute::copy"}


@pytest.mark.parametrize("word", ["using", "const", "typename", "static", "public", "inline", "else", "return"])
def test_a_keyword_is_no_scope(word: str) -> None:
    assert translate(f"{word} ::cuda::std::swap", path="a.h").output.endswith(f"{word} ::std::swap".encode())


def test_a_cpp_file_with_kernels_gets_the_runtime() -> None:
    for text in ("__global__ void k() {}\n", "void f() { k<<<1, 2>>>(); }\n"):
        out = translate(text, path="k.cpp").output
        assert out == b"#include <hip/hip_runtime.h>\n" + text.encode()
        assert translate(out, path="k.cpp").output == out
        assert translate(text, path="k.hpp").output == text.encode()
    assert translate("int f(int a) { return a << 3; }\n", path="k.cpp").output == b"int f(int a) { return a << 3; }\n"


def test_an_include_below_its_first_use_moves_up() -> None:
    code = "bool bad(cudaError_t e) { return e != cudaSuccess; }\n"
    text = f"#pragma once\n#include <vector>\n{code}#include <cuda_runtime.h>\n"
    out = translate(text, path="k.h").output.decode()
    assert out == text.replace("#include <v", "#include <hip/hip_runtime.h>\n#include <v").replace(
        code + "#include <cuda_runtime.h>\n", code.replace("cuda", "hip")
    )
    assert translate(out, path="k.h").output.decode() == out
    first = translate(code + "#include <cuda_runtime.h>\n", path="k.cu").output.decode()
    assert first == "#include <hip/hip_runtime.h>\n" + code.replace("cuda", "hip")
    in_order = "#define E cudaError_t\n// cudaFree\n#include <cuda_runtime.h>\n" + code
    assert translate(in_order, path="k.cu").output.decode().index("#define") == 0


def test_branches_of_a_version_tell_overloads_apart() -> None:
    text = (
        "void f(void* p, D d) {\n#if CUDART_VERSION >= 13000\n  cudaMemLocation l{cudaMemLocationTypeDevice, d.id()};\n"
        "  cudaMemAdvise(p, 1, a, l);\n#else\n  cudaMemAdvise(p, 1, a, d.id());\n#endif\n}\n"
    )
    out = translate(text, path="a.h").output
    assert b"hipMemAdvise_v2(p, 1, a, l);" in out
    assert b"hipMemAdvise(p, 1, a, d.id());" in out
    assert b"hipMemAdvise(p, 1, a, d.id());" in translate(text + text.replace("f(", "g("), path="a.h").output
    unsure = translate(text.replace("#else\n", "#endif\n#if 1\n"), path="a.h").output
    assert b"cudaMemAdvise(p, 1, a, d.id());" in unsure
    assert translate(unsure, path="a.h").output == unsure


def test_nothing_of_a_file_is_left_to_the_garbage_collector() -> None:
    text = "template <class T> __global__ void k(T* p) { int x; if (p[0]) x = 1; p[threadIdx.x] = f(x); }\n" * 3
    translate(text)  # what is kept for all files is there after this
    gc.collect()
    gc.disable()
    try:
        before = _texts_read()
        translate(text)
        assert _texts_read() <= before
    finally:
        gc.enable()


def _texts_read() -> int:
    return sum(isinstance(x, Lexed) for x in gc.get_objects())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void f(CUdeviceptr p) { g(p + 1); }", "void f(hipDeviceptr_t p) { g((char *)(p) + 1); }"),
        ("unsigned f(CUdeviceptr p) { return p & 15; }", "unsigned f(hipDeviceptr_t p) { return (size_t)(p) & 15; }"),
        (
            "void f(void **p) { cuGetProcAddress(name, p, version, flags); }",
            "void f(void **p) { hipGetProcAddress(name, p, version, flags, 0); }",
        ),
    ],
)
def test_edits_of_a_c_source_are_c(before: str, after: str) -> None:
    assert translate(before, path="a.c").output.decode().endswith(after)
    assert b"_cast<" in translate(before, path="a.cpp").output or b"nullptr" in translate(before, path="a.cpp").output


def test_a_call_of_a_headers_function_in_braces_is_cast_where_it_narrows(tmp_path: Path) -> None:
    (tmp_path / "rank.h").write_text("unsigned long rank(int a);\nshort small(int a);\n")
    text = '#include "rank.h"\n__device__ void f(int n) { int64_t at[] = {rank(n), small(n), none(n)}; }\n'
    with ClangService() as clang:
        got = translate(text.encode(), path=str(tmp_path / "a.cu"), clang=clang).output.decode()
    assert "{static_cast<int64_t>(rank(n)), small(n), none(n)}" in got


def test_a_member_of_a_headers_class_in_braces_is_cast_where_it_narrows(tmp_path: Path) -> None:
    (tmp_path / "s.h").write_text(
        "enum { K = 4 };\nstruct Q { int w; };\nstruct S { unsigned long m; Q q; S(unsigned long); };\n"
    )
    text = '#include "s.h"\nS::S(unsigned long n) { long long at[] = {m, 2 * n + m, 5, K}, b[] = {q.w, none}; }\n'
    with ClangService() as clang:
        got = translate(text.encode(), path=str(tmp_path / "a.cu"), clang=clang).output.decode()
    assert "at[] = {static_cast<long long>(m), static_cast<long long>(2 * n + m), 5, K}, b[] = {q.w, none};" in got


@pytest.mark.parametrize(("opened", "closed"), [("", ""), ("#ifdef WITH_CUDA\n", "#endif\n")])
def test_the_type_of_an_argument_is_that_of_its_function(opened: str, closed: str) -> None:
    """`sincos` has other targets for float, and for what a template decides; another function's variable of that name
    is no doubt, and the form that HIP has too is no finding."""
    code = (
        f"#include <cuda_runtime.h>\n{opened}"
        "__device__ void f(double x, double* s, double* c) { sincos(x, s, c); }\n"
        "__device__ void f(float x, float* s, float* c) { sincos(x, s, c); }\n"
        f"template <typename T> __device__ void g(T x, T* s, T* c) {{ sincos(x, s, c); }}\n{closed}"
    )
    with ClangService() as clang:
        result = translate(code, path="a.cu", clang=clang)
        alias = "__device__ void f(real x, real* s) { sincos(x * real(2), s, s + 1); }\n"
        named = translate(alias, path="a.cuh", clang=clang)
    assert [j.finding.hip for j in result.findings if j.finding.cuda == "sincos"] == ["sincosf", "cu2port::sincos"]
    wanted = code.replace("cuda_runtime.h", "hip/hip_runtime.h").replace("float* c) { sincos(", "float* c) { sincosf(")
    wanted = wanted.replace("T* c) { sincos(", "T* c) { cu2port::sincos(")
    assert result.output.decode() == f'#include "cu2port/host_math.hpp"\n{wanted}'
    assert b"{ cu2port::sincos(x * real(2), s, s + 1); }" in named.output


def test_a_macros_body_takes_what_is_right_for_any_type() -> None:
    code = "#define TURN(x, s, c) sincos(x, &s, &c)\n__global__ void k(float x) { float s, c; TURN(x, s, c); }\n"
    assert b"#define TURN(x, s, c) cu2port::sincos(x, &s, &c)\n" in translate(code, path="a.cuh").output
    for own in ("void sincos(float x, float* s, float* c);\n", "namespace n { int sincos; }\n"):
        assert b"cu2port" not in translate(own + code.replace("sincos", "n::sincos"), path="a.cuh").output
    assert b"cu2port" not in translate("#define TURN(x, s, c) sincos(x, &s, &c)\n", path="a.h").output  # C may read it


def test_a_capital_c_is_a_source_of_cpp() -> None:
    assert [suffix(name) for name in ("d/a.C", "a.c", "A.CU", ".C", "a.")] == [".cc", ".c", ".cu", "", ""]
    kernel = b"__global__ void k() {}\n"
    assert translate(kernel, path="a.C").output == translate(kernel, path="a.cpp").output != kernel
