"""Whose a CUDA-looking name is: what a file declares, for whom, and where that counts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from cu2port.catalog.uses import declared_names
from cu2port.core.model import Options, Project
from cu2port.engine.translate import translate
from cu2port.facts import declared
from cu2port.facts.clang import ClangService, Facts, Question
from cu2port.facts.declared import stands_in
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.lexer import Lexed, lex


@pytest.mark.parametrize(
    "text",
    [
        "using cudaError_t = int;",
        "int a;\n\t using CUstream = void*;\nnamespace n {}",
        "typedef int cudaError_t;",
        "namespace n { }\ntypedef int cudaError_t;",
        "using std::min;\ntypedef unsigned long x;\ntypedef void *cudaStream_t;",
        "typedef int cudaError_t;\nnamespace n {\nusing cudaEvent_t = int;\n}",
    ],
)
def test_a_stand_in(text: str) -> None:
    assert stands_in(Declarations(lex(text)))


@pytest.mark.parametrize(
    "text",
    [
        "namespace n {\nusing cudaError_t = int;\n}",
        "// using cudaError_t = int;",
        "x using cudaError_t = int;",
        "using cudaError_t = hipError_t;",
        "using cudaError_t_ = int;\ntypedef struct { int x; } cudaError_t;",
        "",
    ],
)
def test_no_stand_in(text: str) -> None:
    assert not stands_in(Declarations(lex(text)))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("int cudaMine(int x) { return x; }", "cudaMine"),
        ("#define CUDA_SUCCESS 0\nconst int cudaOwnB = 1, *cudaOwnC;", "CUDA_SUCCESS cudaOwnB cudaOwnC"),
        ("enum S { /* by cudaMalloc/cudaFree */ A };", ""),
        ("enum S { cudaSuccess, cudaErrorX = 2 };", "cudaSuccess cudaErrorX"),
        ("enum class S { cudaSuccess };", "S::cudaSuccess"),
        ("// int cudaFree;\nvoid f() { int cudaFree = 0; }", ""),
        ("struct Z { Z(float x) : cuDoubleComplex(x) {} };", ""),
        ("struct B { int cudaFree(void* p); float4 f; };", "B::cudaFree"),
        (
            "namespace n { inline namespace v { void cudaFree(void*); } namespace { int cudaOwnX; } }",
            "n::cudaFree n::cudaOwnX",
        ),
        ("void f(int cudaFree); template <int cudaOwnX> static void g();", ""),
        ("cudaError_t cudaFree(void* p);", ""),
        ("struct float4; class cudaArray;", ""),
        ("struct float3 { float x; }; struct alignas(8) int2\n{ int x, y; }; struct Mine4 {};", "float3 int2"),
        ("struct cudaArray { float x; };", "cudaArray"),
        ("typedef void* cudaStream_t; using cudaError_t = int;", ""),
        ("typedef hipGraph_t cudaGraph_t; typedef struct hipArray cudaArray;", ""),
        ("namespace n { typedef void* cudaStream_t; }", "n::cudaStream_t"),
        ("constexpr auto cudaSuccess = hipSuccess;\n#define cudaFree(p) hipFree(p)", ""),
        ("using n::cudaFree; namespace cuda = other; namespace cuda::std { int cudaOwnX; }", "cuda::std::cudaOwnX"),
        (
            "#define D(T) \\\n  constexpr auto cudaOwnX = 1; \\\n  return cudaOwnY;\n#define E f(cudaOwnZ = 1)",
            "cudaOwnX",
        ),
        ("#ifdef A\nint cudaOwnA() { return 1; }\n#else\nint cudaOwnB() { return 1; }\n#endif", "cudaOwnA cudaOwnB"),
    ],
)
def test_what_a_file_declares_for_others(text: str, own: str) -> None:
    assert declared_names(text).own == frozenset(own.split())


def test_functions_without_a_body_are_promised() -> None:
    names = declared_names("cudaError_t cudaMine(int);\nnamespace n { struct A; }\nint cudaOwnB() { return 0; }\n")
    assert names.own == {"cudaOwnB"}
    assert names.promised == {"cudaMine"}


def kept(text: str, *declared: str) -> list[int]:
    """The lines of a text on which a `cuda` name stands after conversion; nothing is asked of libclang."""
    project = Project(declared=frozenset(declared))
    out = translate(text, Options(use_clang=False), path="a.h", project=project).output.decode()
    return [n for n, line in enumerate(out.split("\n"), 1) if "cuda" in line and "#include" not in line]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("void f() { int cudaSuccess = 3; g(cudaSuccess); }\nint a = cudaSuccess;", [1]),
        ("int h(int cudaSuccess) { return cudaSuccess; }\nint a = cudaSuccess;", [1]),
        ("enum S { /* of cudaMalloc */ A };\nvoid f() { cudaMalloc(p, n); }", [1]),
        ("struct A {\nint cudaFree(void* p);\nvoid f() { cudaFree(q); }\n};\nvoid g() { cudaFree(q); }", [2, 3]),
        (
            "struct A { void cudaFree(void*); void f(); };\nvoid A::f() { cudaFree(q); }\nvoid g() { cudaFree(q); }",
            [1, 2],
        ),
        ("namespace n {\nvoid cudaFree(void* p) {}\nvoid f() { cudaFree(q); }\n}\nvoid g() { cudaFree(q); }", [2, 3]),
        ("namespace n { void cudaFree(void* p) {} }\nusing namespace n;\nvoid g() { cudaFree(q); }", [1, 3]),
        ("struct Z { Z() : cudaStream_t(0) {} };\ncudaStream_t s;", []),
        ("void f() { { int cudaSuccess = 0; } g(cudaSuccess); }", [1]),
    ],
)
def test_a_name_is_the_users_where_its_declaration_is_visible(text: str, lines: list[int]) -> None:
    assert kept(text) == lines


@pytest.mark.parametrize(
    ("text", "own", "lexed"),
    [
        ("struct A {};\nvoid f(const A<T>& texture, B<int>& cudaSuccess, int n);", "", False),
        ("struct A {};\nvoid f(int a = g(1), A<T>& texture, int n) {}", "", False),
        ("struct A {};\nA<T> texture, f(int n);", "texture", True),
        ("struct A {}; // see (below\nA<T>\ntexture, n;", "texture", True),
        ("struct A {};\nA<'('> texture, n;", "texture", True),
        ('void f() { say("no texture; %d", 1); }', "", False),
        ("char c = '\"'; int texture; // \"", "texture", True),
        ("int f(float texturing) { return a = (int) texture; }", "", False),
        ("MADE_BY(int) texture;", "", True),
        ("void f() {\n  while (g(h(1), i)) { // see b\n    int texture = 1;\n  }\n}", "", False),
        ("void f() { if (a) { }\n}\nint texture = 1;", "texture", True),
        ("struct __align__(16) A {\n  int x;\n};\nnamespace B {\nint texture;\n}", "", True),
        ('void f() { if (a) { say("}"); }\n}\nint texture = 1;', "texture", True),
    ],
)
def test_what_certainly_declares_nothing_needs_no_lexer(
    text: str, own: str, lexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def counted(text: str) -> Lexed:
        texts.append(text)
        return lex(text)

    monkeypatch.setattr(declared, "lex", counted)
    assert declared_names(text).own & {"texture", "cudaSuccess"} == frozenset(own.split())
    assert bool(texts) is lexed


class Asked:
    """In place of libclang: notes the names it is asked about, and knows none."""

    last_error = ""

    def __init__(self) -> None:
        self.names: list[str] = []

    def ask(self, question: Question) -> Facts:
        words = [re.match(rb"\w+", question.data[at:]) for at in question.bindings]
        self.names += [w[0].decode() for w in words if w is not None]
        return Facts()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(int texture, int umin) { int cudaSuccess = texture; return cudaSuccess + umin; }", []),
        ("int f(int n) { for (int cudaSuccess = 0;; ++cudaSuccess) g([&](int x) { h(cudaSuccess); }); }", []),
        ("void f() {\n#ifdef A\nint cudaSuccess = 3;\n#endif\ng(cudaSuccess); }", ["cudaSuccess"]),
        ("struct S { int cudaSuccess; int f() { return cudaSuccess; } };", ["cudaSuccess", "cudaSuccess"]),
    ],
)
def test_libclang_is_not_asked_about_locals(text: str, names: list[str]) -> None:
    asked = Asked()
    translate(text, path="a.h", clang=cast(ClangService, asked))
    assert asked.names == names


@pytest.mark.parametrize(
    "text",
    [
        "typedef void (*P)(GLenum target, GLuint texture);\n",
        "void f(GLuint texture);\n",
        "struct A { int texture; };\n",
    ],
)
def test_a_word_that_others_use_is_the_class_template_before_its_arguments_alone(text: str) -> None:
    images = Options(archs=("gfx942",))
    assert translate(text.encode(), images, path="gl.h").output == text.encode()
    both = translate(text.encode() + b"extern texture<float, 2> t;\n", images, path="gl.h").output
    assert text.encode() in both
    assert b"cu2port::TextureReference<float, 2> t;" in both


@pytest.mark.parametrize(
    ("text", "path", "kept_"),
    [
        ("#define MX(a, b) llmax((a), (b))\n", "a.cuh", False),
        ("#define MX(a, b) llmax((a), (b))\n__device__ int f();\n", "a.h", False),
        ("#define MX(a, b) llmax((a), (b))\n", "a.h", True),
        ("int llmax(int a, int b);\n#define MX(a, b) llmax((a), (b))\n", "a.cuh", True),
        ("#define llmax(a, b) ((a) > (b) ? (a) : (b))\n#define MX(a, b) llmax((a), (b))\n", "a.cuh", True),
    ],
)
def test_a_macro_of_cuda_code_calls_cuda_functions(text: str, path: str, kept_: bool) -> None:
    assert (b"llmax((a), (b))" in translate(text, path=path).output) is kept_


def test_a_macro_of_cuda_code_divides_by_hips_function() -> None:
    out = translate(
        "#define DIV(a, b) fdivide((a), (b))\n__global__ void k(double* p) { *p = DIV(p[1], p[2]); }\n"
    ).output
    assert b"__ddiv_rn((a), (b))" in out


def test_a_name_of_a_header_counts_where_its_scope_is_open() -> None:
    text = "void f() { cudaFree(p); }\nnamespace n { void g() { cudaFree(p); } }\nvoid n::A::h() { cudaFree(p); }\n"
    assert kept(text) == []
    assert kept(text, "cudaFree") == [1, 2, 3]
    assert kept(text, "n::cudaFree") == [2, 3]
    assert kept(text, "n::A::cudaFree") == [3]
    assert kept("struct B : n::A { void h() { cudaFree(p); } };", "n::A::cudaFree") == [1]
    assert kept("using namespace n;\nvoid h() { cudaFree(p); }", "n::cudaFree") == [2]


def test_what_stays_for_the_sake_of_a_header_is_left_and_to_do() -> None:
    project = Project(declared=frozenset({"cudaFree"}))
    done = translate("void f() { cudaFree(p); }\n", Options(use_clang=False), path="a.h", project=project)
    assert done.left == done.seen == {"cudaFree"}
    assert [(j.finding.code, j.open) for j in done.findings] == [("CU113", True)]


def test_a_function_of_the_program_comes_before_one_of_cuda_with_other_arguments(tmp_path: Path) -> None:
    """cuRAND's functions of a state have one argument: the program's own with four wins, whatever it converts."""
    (tmp_path / "random.h").write_text("float* curand_normal(curandGenerator_t& g, size_t n, float mean, float dev);\n")
    text = (
        '#include <curand.h>\n#include <curand_kernel.h>\n#include "random.h"\n'
        "void f(curandGenerator_t& g, int n) { float* p = curand_normal(g, n, 0.0f, 1.0f); use(p); }\n"
        "__global__ void k(curandState* s, float* p) { *p = curand_normal(s) + curand_normal(&s[1]); }\n"
    )
    project = Project(declared=frozenset({"curand_normal"}))
    with ClangService() as clang:
        out = translate(text, path=str(tmp_path / "a.cu"), project=project, clang=clang).output.decode()
    assert "= curand_normal(g, n" in out
    assert "= hiprand_normal(s) + hiprand_normal(&s[1])" in out


def test_a_header_that_is_converted_keeps_its_functions() -> None:
    """libclang knows no types of HIP: what a header declares with them is told by its words."""
    said = declared_names("float* curand_normal(hiprandGenerator_t& g, size_t n);\n")
    assert said.promised == {"curand_normal", "(HIP)::curand_normal"}
    project = Project(declared=said.promised)
    text = "#include <hiprand/hiprand.h>\nvoid f(hiprandGenerator_t& g) { use(curand_normal(g, 4)); }\n"
    assert translate(text, path="a.cu", project=project).output.decode() == text


def test_a_macro_for_a_version_of_its_name_stands_for_what_it_becomes() -> None:
    """Copies of CUDA's headers have such: all uses follow at once, and a second conversion changes nothing."""
    text = (
        "typedef struct CUDA_MEMCPY2D_st { int x; } CUDA_MEMCPY2D;\n"
        "#define CUDA_MEMCPY2D CUDA_MEMCPY2D_v1\nvoid f(const CUDA_MEMCPY2D* p);\n"
    )
    out = translate(text, path="a.h").output.decode()
    assert "void f(const hip_Memcpy2D* p);" in out
    assert translate(out, path="a.h").output.decode() == out


def test_a_template_that_a_header_declares_is_not_static() -> None:
    said = declared_names(
        "namespace n {\ntemplate <bool, class V> int pick(const V* at,\n    int n = 0);\n}\n"
        "template <class T> static int find(T a);\nstruct S { template <class T> int get(T a); };\n"
    )
    text = (
        "namespace n { template <bool x, class T> static int pick(const T* a, int n) { return n; } }\n"
        "namespace m { template <bool x, class T> static int pick(const T* a, int n) { return n; } }\n"
        "template <class T> static int find(T a) { return 0; }\ntemplate <class T> static int get(T a) { return 0; }\n"
    )
    assert said.own == {"n::(template bool, class const 1 *, int)::pick"}
    assert declared_names(text).asked >= {"pick", "find", "get"}
    out = translate(text, path="a.cu", project=Project(declared=said.own)).output.decode()
    assert out == text.replace("static int pick", "int pick", 1)
