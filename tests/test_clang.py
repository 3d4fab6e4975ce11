"""libclang's answers, and that no input can take cu2port down with it.

The tests run with the libclang that is installed. More of them may be named in CU2PORT_TEST_LIBCLANG, a list of
library paths separated as PATH is; each test then runs with each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cu2port.facts.clang import Binding, ClangService, Expr, Facts, Question

LIBRARIES = ["", *filter(None, os.environ.get("CU2PORT_TEST_LIBCLANG", "").split(os.pathsep))]
WAIT_S = 120.0  # a busy machine may take long to start the process and precompile the shim


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda p: Path(p).parent.name or "installed")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClangService]:
    with pytest.MonkeyPatch.context() as patch, ClangService() as s:
        patch.setenv("CU2PORT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        if request.param:
            patch.setenv("CU2PORT_LIBCLANG", request.param)
        yield s


def ask(service: ClangService, question: Question) -> Facts:
    facts = service.ask(question, WAIT_S)
    assert facts is not None, service.last_error
    assert service.last_error == ""
    return facts


def marked(text: str, path: str = "a.cu", defines: tuple[str, ...] = ()) -> Question:
    """A question about a text: `@` stands before each name to ask about, `[[...]]` around each expression."""
    data, bindings, spans, opened = "", [], [], []
    for piece in re.split(r"(@|\[\[|\]\])", text):
        match piece:
            case "@":
                bindings.append(len(data))
            case "[[":
                opened.append(len(data))
            case "]]":
                spans.append((opened.pop(), len(data)))
            case _:
                data += piece
    return Question(path, data.encode("latin-1"), bindings=tuple(bindings), spans=tuple(spans), defines=defines)


def owners(service: ClangService, text: str, path: str = "a.cu", defines: tuple[str, ...] = ()) -> list[str]:
    q = marked(text, path, defines)
    found = ask(service, q).bindings
    return [found[o].owner if o in found else "-" for o in q.bindings]


def exprs(service: ClangService, text: str) -> list[Expr | None]:
    q = marked(text)
    found = ask(service, q).exprs
    return [found.get(s) for s in q.spans]


def test_cuda_names_are_cudas(service: ClangService) -> None:
    q = marked(
        "#include <cuda_runtime.h>\n"
        "@__global__ void @k(float *p, unsigned m) { p[@threadIdx.x] = @__shfl_down_sync(m, p[0], 1);"
        "  @__syncthreads(); }\n"
        "int main() { float *p; @cudaMalloc(&p, 4); @k<<<1, @dim3(32), 0, @cudaStreamPerThread>>>(p, 1u);\n"
        "  @cudaError_t e = @cudaMemcpy(p, p, 4, @cudaMemcpyDefault); @cublasHandle_t h; @cublasCreate(&h);\n"
        "  return e == @cudaSuccess ? 0 : @CUDA_VERSION; }\n"
    )
    facts = ask(service, q)
    names = [m[0].decode() for o in q.bindings if (m := re.match(rb"\w+", q.data[o:]))]
    assert {n: facts.bindings[o].owner for n, o in zip(names, q.bindings, strict=True) if n != "k"} == dict.fromkeys(
        (n for n in names if n != "k"), "cuda"
    )
    here = str(Path("a.cu").absolute())
    assert facts.bindings[q.bindings[1]] == Binding("user", "k", "function", "void (float *, unsigned int)", here)
    kinds = {n: facts.bindings[o].kind for n, o in zip(names, q.bindings, strict=True)}
    assert kinds["__global__"] == kinds["CUDA_VERSION"] == "macro"
    assert kinds["cudaError_t"] == kinds["dim3"] == "type"
    assert kinds["cudaSuccess"] == "enumerator"
    assert (facts.errors, facts.missing_headers) == (0, ())


def test_user_names_that_look_like_cudas(service: ClangService) -> None:
    text = (
        "namespace my { int @cudaFree(void *); using @cudaEvent = int; }\n"
        "struct S { int @cudaMalloc; static int @cudaSetDevice(int); };\n"
        "int f(S s, void *p) { int @cudaStreamQuery = 0; my::@cudaEvent e = @cudaStreamQuery;\n"
        "  return my::@cudaFree(p) + s.@cudaMalloc + S::@cudaSetDevice(e); }\n"
    )
    assert set(owners(service, text)) == {"user"}
    mine = "namespace my { int cudaFree(void *); }\n"
    assert owners(service, mine + "int f() { return @cudaFree(0) + ::@cudaFree(0); }") == ["cuda", "cuda"]
    assert owners(service, mine + "int f() { using my::cudaFree; return @cudaFree(0); }") == ["user"]
    q = marked(mine + "int f() { return my::@cudaFree(0); }")
    assert ask(service, q).bindings[q.bindings[0]].qualified == "my::cudaFree"


def test_a_template_beside_cudas_overloads_of_its_name(service: ClangService) -> None:
    # CUDA's functions are no templates, so that they are the better match where the types are theirs
    text = (
        "template <class T> T @atomicMax_block(T *p, T v) { return @atomicMax_block((unsigned *)p, (unsigned)v); }\n"
        "template <class T> T @atomicCAS_system(T *p, T a, T b) { return @atomicCAS_system((int *)p, 1, 2); }\n"
        "void f(long *p, int *q) { @atomicMax_block(p, 1L); @atomicMax_block(q, 1); @atomicMin_block(q, 1); }\n"
    )
    assert owners(service, text) == ["user", "cuda", "user", "cuda", "user", "cuda", "cuda"]


def test_classes_that_the_shim_has_too(service: ClangService, tmp_path: Path) -> None:
    # without CUDA's header nothing keeps a source from taking the name of a type of CUDA's
    assert owners(service, "struct cuComplex { cuComplex(float); };\n@cuComplex a(1);\n") == ["user"]
    (tmp_path / "own.h").write_text("#ifndef OWN\n#define OWN\nclass cuComplex { int i; };\n#endif\n")
    assert owners(service, '#include "own.h"\n@cuComplex a;\n', f"{tmp_path}/a.cu") == ["user"]
    stand_in = "#ifndef WITH_GPU\nstruct cuComplex { float r; };\n#endif\n@cuComplex a;\n"
    assert owners(service, stand_in) == ["cuda"]
    assert owners(service, "typedef int cudaError_t;\n@cudaError_t e;\n") == ["cuda"]
    assert owners(service, "enum cudaError_t { cudaSuccess };\n@cudaError_t e;\n") == ["cuda"]


def test_cxx_library_and_undeclared_names(service: ClangService) -> None:
    text = "#include <vector>\nint f() { @std::@vector<int> v; @nowhere(); return @printf(0); }"
    assert owners(service, text) == ["system", "system", "undeclared", "system"]
    assert owners(service, "int i = @LIMIT;", defines=("LIMIT=3",)) == ["user"]


def test_templates(service: ClangService) -> None:
    text = (
        "template <class T> T mine(T);\n"
        "template <class T> __device__ T f(T *p) { @atomicAdd(p, T(1)); @mine(p); return @__shfl_sync(1u, *p, T(0)); }"
    )
    assert owners(service, text) == ["cuda", "user", "cuda"]


def test_inactive_branches_are_answered(service: ClangService) -> None:
    text = (
        "namespace my { int cudaFree(void *); }\nvoid f(void *p) {\n#ifdef NEVER_DEFINED\n  @cudaFree(p);\n"
        "  my::@cudaFree(p);\n#else\n  @cudaMalloc(&p, 1);\n#endif\n}\n"
    )
    assert owners(service, text) == ["cuda", "user", "cuda"]
    assert owners(service, "#if 0\nint i = @cudaFree(0);\n#endif\n") == ["-"]
    q = marked(text)
    skipped = ask(service, Question(q.path, q.data, skipped=True)).skipped
    assert len(skipped) == 1
    start, end = skipped[0]
    assert q.data[start:].startswith(b"#ifdef") and b"my::cudaFree" in q.data[start:end]
    assert b"cudaMalloc" not in q.data[start:end]


def test_macro_arguments_and_bodies(service: ClangService) -> None:
    text = (
        "#define @CHECK(x) do { @cudaError_t e = x; (void)e; } while (0)\n"
        "void f(void *p) { @CHECK(@cudaFree(p)); CHECK(cudaMemcpy(p, p, 1, @cudaMemcpyHostToDevice)); }\n"
    )
    assert owners(service, text) == ["user", "-", "user", "cuda", "cuda"]  # a body means nothing where it stands


def test_offsets_count_bytes_of_any_encoding(service: ClangService) -> None:
    before = '// Gr\xf6\xdfe \xff\xfe\nconst char *s = "\xe9\xe8";\r\n'
    assert owners(service, before + "int f() { /* \xa0 */ return @cudaFree(0); }") == ["cuda"]
    assert exprs(service, before + "int i = [[3 + 4]];") == [Expr("int", 32, True, 7)]
    utf8 = before.encode("utf-8") + b"int i = cudaFree(0);"
    at = utf8.index(b"cudaFree")
    assert ask(service, Question("a.cu", utf8, bindings=(at,))).bindings[at].owner == "cuda"


def test_headers(service: ClangService, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#include <cuda.h>\n#include <map>\nnamespace own { int cudaFree(void *); }\n")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "more.h").write_text("#define MORE cudaFree\ntypedef short number;\n")
    text = (
        '#include "own.h"\n#include <more.h>\n#include <absent/x.h>\n#include "cublas_v2.h"\n'
        "int f(number n) { return own::cudaFree(0); }"
    )
    at = text.rindex("cudaFree")
    here = str(tmp_path / "a.cu")
    facts = ask(service, Question(here, text.encode(), include_dirs=(str(tmp_path / "inc"),), bindings=(at,)))
    assert facts.bindings[at].owner == "user" and Path(facts.bindings[at].file) == tmp_path / "own.h"
    assert (facts.errors, facts.missing_headers) == (0, ("absent/x.h",))
    without = ask(service, Question(here, text.encode()))
    assert without.missing_headers == ("absent/x.h", "more.h") and without.errors == 1  # `number`


def test_a_file_that_changes_is_read_again(service: ClangService) -> None:
    for name, owner in (("cudaFree", "cuda"), ("ownFree_", "user"), ("cudaFree", "cuda")):
        text = f"int ownFree_(int);\nint i = @{name}(0);\n#ifdef X\nint j = @{name}(0);\n#endif\n"
        assert owners(service, text) == [owner, owner] == owners(service, text)
    assert owners(service, "int i = @X(0);", defines=("X=cudaFree",)) == ["user"]
    assert owners(service, "int i = @X(0);", defines=()) == ["undeclared"]


def test_a_missing_header_does_not_stop_templates(service: ClangService) -> None:
    text = '#include "absent.h"\n#include <vector>\ntemplate <class T> struct B { T x; };\n'
    text += "int f(B<int> b) { return [[b.x + 1u]]; }"
    assert exprs(service, text) == [Expr("unsigned int", 32, False, None)]


def test_types_and_values(service: ClangService) -> None:
    text = (
        "enum { N = 5 };\n#define FULL 0xffffffff\n#define TWICE(a) ((a) + (a))\n"
        "__device__ int f(long long x, float y, int *p) {\n"
        "  constexpr int c = 1 << N; short s = [[c]]; unsigned m = [[FULL]]; int t = [[TWICE(16)]];\n"
        "  long l = [[__ballot_sync(FULL, 1)]]; bool b = [[x > 1]]; double d = [[y * 2]];\n"
        "  return [[c * sizeof(float)]] + [[x]] + [[p]][ [[threadIdx.x]] ] + [[warpSize]] + [[-1]] + [[__popc(m)]]; }"
    )
    assert exprs(service, text) == [
        Expr("const int", 32, True, 32),
        Expr("unsigned int", 32, False, 0xFFFFFFFF),
        Expr("int", 32, True, 32),
        Expr("unsigned int", 32, False, None),
        Expr("bool", 8, False, None),
        Expr("float", 32, None, None),
        Expr("unsigned long", 64, False, 128),
        Expr("long long", 64, True, None),
        Expr("int *", 64, None, None),
        Expr("const unsigned int", 32, False, None),
        Expr("const int", 32, True, None),
        Expr("int", 32, True, -1),
        Expr("int", 32, True, None),
    ]


def test_values_of_enumerators_are_real_or_none(service: ClangService) -> None:
    found = exprs(
        service,
        "int f() { int a = [[cudaErrorNotReady]]; int b = [[cudaMemcpyDeviceToHost + 1]];\n"
        "int c = [[cudaHostAllocMapped]]; int d = [[CUBLAS_OP_T]]; return [[CUBLAS_OP_T + 1]]; }",
    )
    assert [e.value if e else "-" for e in found] == [600, 3, 2, None, None]


def test_dependent_expressions_have_no_size(service: ClangService) -> None:
    (found,) = exprs(service, "template <class T, int N> T f(T t) { return [[t + N]]; }")
    assert found is not None and (found.bits, found.signed, found.value) == (0, None, None)


def test_expressions_without_a_type_of_their_own(service: ClangService) -> None:
    text = (
        "struct S { int m(int); };\ntemplate <class T> __device__ T f(T v, S s) {\n"
        "  [[s.m]](1); [[T]](3); auto x = [[nowhere]]; return [[__shfl_down_sync]](1u, [[v]], 1) + [[f]]<T>(v, s); }"
    )
    for found in exprs(service, text):
        assert found is None or (found.bits, found.signed, found.value) == (0, None, None)


@pytest.mark.parametrize("std", ["c++11", "gnu++14", "c++17", "c++20", "c++23"])
def test_the_shim_parses_in_every_dialect(service: ClangService, std: str) -> None:
    question = Question("a.cu", b"int i = cudaFree(0);", std=std, bindings=(8,))
    facts = ask(service, question)
    assert facts.errors == 0 and facts.bindings[8].owner == "cuda"
    cache = Path(os.environ["CU2PORT_CACHE_DIR"])
    assert list(cache.glob("pch-*.pch")) and not list(cache.glob(".new-*"))


def test_crash_and_the_next_question(service: ClangService) -> None:
    killer = b"int x = 1" + b" + 1" * 200_000 + b";"
    assert service.ask(Question("a.cu", killer, bindings=(4,)), WAIT_S) is None
    assert re.match(r"libclang (died \(\w|crashed)", service.last_error)
    assert owners(service, "int i = @cudaFree(0);") == ["cuda"]
    nested = b"int x = " + b"(" * 3_000 + b"1" + b")" * 3_000 + b";"
    service.ask(Question("a.cu", nested, bindings=(4,)), WAIT_S)  # libclang 18 survives this one
    assert owners(service, "int i = @cudaFree(0);") == ["cuda"]


def test_timeout_and_the_next_question(service: ClangService) -> None:
    service.close()
    assert service.ask(Question("a.cu", b"int i;"), 0.001) is None
    assert service.last_error == "libclang took longer than 0.001 s"
    assert owners(service, "int i = @cudaFree(0);") == ["cuda"]


ODD = (b"", b"\0", b"#if", b"/*", b'R"(', b"#include", b"\xef\xbb\xbfint i;", b"\xff\xfei\0n\0t\0")


@pytest.mark.parametrize("data", ODD)
def test_odd_files_are_answered(service: ClangService, data: bytes) -> None:
    ask(service, Question("a.cu", data, bindings=(0, len(data)), spans=((0, len(data)),), skipped=True))


def test_only_what_reads_code_gets_through() -> None:
    for bad in ("-fplugin=x", "X -load", "1X", "", "X\nY", "X(1)\n"):
        with pytest.raises(ValueError, match="not a macro definition"):
            Question("a.cu", b"", defines=(bad,))
    Question("a.cu", b"", defines=("X", "X=", "X=a b", "F(a, b)=a+b"))
    for bad in ("-fplugin=x", "c++17 -load", ""):
        with pytest.raises(ValueError, match="not a C\\+\\+ standard"):
            Question("a.cu", b"", std=bad)
    with pytest.raises(ValueError, match="not an include folder"):
        Question("a.cu", b"", include_dirs=("",))


def test_a_folder_named_like_an_option_is_a_folder(
    service: ClangService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    service.close()
    Path("-fsyntax-only").mkdir()
    Path("-fsyntax-only", "x.h").write_text("typedef short number;")
    q = Question("-a.cu", b"#include <x.h>\nnumber n;", include_dirs=("-fsyntax-only",))
    assert ask(service, q) == Facts()
    service.close()


def test_no_libclang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CU2PORT_LIBCLANG", str(tmp_path / "libclang.so"))
    with ClangService() as s:
        for _ in range(2):
            assert s.ask(Question("a.cu", b""), WAIT_S) is None
            assert "libclang.so" in s.last_error and "\n" not in s.last_error


def test_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with ClangService() as s:
        assert owners(s, "int i = @cudaFree(0);\n#if 0\nint j = @cudaFree(0);\n#endif\n")[0] == "cuda"
        assert exprs(s, "int i = [[CUBLAS_OP_T]];")[0] == Expr("cublasOperation_t", 32, False, None)


def test_damaged_and_lost_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))
    with ClangService() as s:
        assert owners(s, "int i = @cudaFree(0);") == ["cuda"]
        (pch,) = tmp_path.glob("pch-*")
        (header,) = tmp_path.glob("shim-*.h")
        data = pch.read_bytes()
        pch.unlink()
        assert owners(s, "int j = @cudaFree(0);") == ["cuda"], "made again while the process runs"
        s.close()
        (pch,) = tmp_path.glob("pch-*")
        pch.write_bytes(data[: len(data) // 2] + b"\0" * 64 + data[len(data) // 2 + 64 :])
        header.write_bytes(header.read_bytes()[:5000])
        assert owners(s, "int i = @cudaFree(0);") == ["cuda"]
        assert len(list(tmp_path.glob("pch-*"))) == 1


def test_two_processes_make_the_cache_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))

    def one(_: int) -> list[str]:
        with ClangService() as s:
            return owners(s, "int i = @cudaFree(0);")

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(one, range(2))) == [["cuda"], ["cuda"]]
    assert not list(tmp_path.glob(".new-*"))
