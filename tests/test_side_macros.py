"""Macros for execution spaces, and those that make names of CUDA's: read by the scan, and known to the files that
include them."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.facts.member_sides import by_member, member_sides, resolved
from cu2port.facts.namespace_aliases import by_name as aliases_by_name
from cu2port.facts.namespace_aliases import namespace_aliases
from cu2port.facts.prefix_macros import prefix_macros
from cu2port.facts.side_macros import by_name, side_macros
from cu2port.facts.unit import Unit

WORDS = st.sampled_from(["__host__", "__device__", "inline", "static", "HD", "FN", "__global__", "\\\n", "x"])
LINES = st.lists(
    st.tuples(st.sampled_from(["HD", "FN", "DEV", "__both__"]), st.lists(WORDS, min_size=1, max_size=6)), max_size=6
)


@given(LINES)
def test_the_scan_reads_what_the_lexer_reads(lines: list[tuple[str, list[str]]]) -> None:
    text = "".join(f"#define {name} {' '.join(words)} \n" for name, words in lines) + "int n;\n"
    assert by_name(side_macros(text)) == Unit(text, load_catalog()).side_macros


def test_what_is_no_macro_for_sides() -> None:
    text = "#define F(x) __device__ x\n// __host__\n#define A B\n#define G int __device__ f() { return 1; }\n"
    assert by_name(side_macros(text)).keys() <= Unit(text, load_catalog()).side_macros.keys()


def test_a_header_s_macros_are_known_where_it_is_included(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "hd.h").write_text("#define HD_ __host__ __device__\n#define HD HD_ inline\n")
    (src / "all.h").write_text('#include "hd.h"\n')
    text = "{}template <class T> HD float f(T t);\ntemplate <> inline __device__ float f(int i) {{ return i; }}\n"
    (src / "f.cuh").write_text(text.format('#include "all.h"\n'))
    (src / "g.cuh").write_text(text.format(""))
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "template <> inline __host__ __device__ float f" in (tmp_path / "out" / "f.cuh").read_text()
    assert "template <> inline __device__ float f" in (tmp_path / "out" / "g.cuh").read_text()  # HD is not known there


def test_macros_that_make_names() -> None:
    text = (
        "#define A(f) cuda##f\n#define B(x, call) \\\n  check(cuda ## call, x)\n#define C(f) cudaX##f\n"
        "#define D(f) g(f)\n#define E(x) cuda##y\n#define F(x) cublas##x##axpy CUFFT_ ## x\n#define G(x) acu##x\n"
    )
    assert prefix_macros(text) == {"A 0 cuda", "B 1 cuda", "C 0 cudaX", "F 0 CUFFT_"}


def test_uses_in_other_files_of_macros_that_make_names(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "call.h").write_text("#include <cuda_runtime.h>\n#define CALL(f) check(cuda##f)\n")
    use = "void g() { CALL(MallocHost(&p, n)); CALL(Free(p)); CALL(SetDoubleForDevice(d)); }\n"
    (src / "a.cu").write_text(f'#include "call.h"\n{use}')
    (src / "b.cu").write_text(use)
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 1, done.output
    assert "`CALL` builds `cudaSetDoubleForDevice` from `SetDoubleForDevice`, which has no counterpart" in done.output
    out = tmp_path / "out"
    assert "#define CALL(f) check(hip##f)\n" in (out / "call.h").read_text()
    assert "CALL(HostMalloc(&p, n)); CALL(Free(p)); CALL(SetDoubleForDevice(d));" in (out / "a.cu").read_text()
    assert use in (out / "b.cu").read_text()  # which CALL that is is not known
    again = CliRunner().invoke(cli, ["convert", str(out), "-o", str(tmp_path / "again")])
    assert (tmp_path / "again" / "a.cu").read_bytes() == (out / "a.cu").read_bytes(), again.output


def test_members_that_classes_promise() -> None:
    text = (
        "#define HD __host__ __device__\nHD int free_one(int a);\n"
        "template <class T>\nclass A final : public B<T> {\n  HD int f(std::pair<int, T> a, int b = 0) const;\n"
        "  int f(int);\n"
        "  __device__ void g();\n  void h(int);\n  HD int body() { return g(), 1; }\n  __global__ void k();\n};\n"
        "struct C {\n  HOST_ONLY void g();\n  DEV void g(int);\n};\n"
    )
    told = member_sides(text)
    pair = "A::f(std :: pair < int , T >, int, const)"
    assert told == {
        f"{pair}\tHD", "A::g()\t__device__", "A::k()\t__global__", "C::g()\tHOST_ONLY", "C::g(int)\tDEV"
    }  # fmt: skip
    both = frozenset({"__host__", "__device__"})
    found = by_member(resolved(told, {"HD": both, "DEV": frozenset({"__device__"})}))
    assert found == {pair: both, "A::g()": {"__device__"}, "C::g(int)": {"__device__"}}
    # two classes of one name: which one is meant is not known
    assert by_member(resolved(["A::f(int)\tHD", "A::f(int)\t__device__"], {"HD": both})) == {}


def test_functions_that_a_header_declares_for_the_device() -> None:
    text = (
        "__device__ int f(float a);\nextern __host__ __device__ T<int>* g();\n  __device__ int h();\nEXPORT int i();\n"
    )
    both = "__device__ __host__"
    assert member_sides(text + "__device__ int j() { return 1; }\nint k(int);\n") == {
        "::f(float)\t__device__", f"::g()\t{both}"
    }  # fmt: skip


def test_functions_that_are_defined_elsewhere_get_the_sides_of_their_declaration(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "f.h").write_text("__device__ int f(int a, float* b);\n__device__ int own(int);\n")
    kept = (
        "int f(int a) { return a; }\nstatic int own(int a) { return a; }\nstruct S { int own(int a) { return 1; } };\n"
    )
    (src / "f.cu").write_text(f'#include "f.h"\nint f(int x, float* y) {{ return x; }}\n{kept}')
    (src / "alone.cu").write_text("int f(int x, float* y) { return x; }\n")
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out" / "f.cu").read_text()
    assert "\n__device__ int f(int x, float* y) { return x; }\n" in text and text.endswith(kept)
    assert "__device__" not in (tmp_path / "out" / "alone.cu").read_text()


def test_members_that_are_defined_elsewhere_get_the_sides_of_their_class(tmp_path: Path) -> None:
    """nvcc takes them for one function, and clang for two (CU251)."""
    src = tmp_path / "src"
    src.mkdir()
    (src / "hd.h").write_text("#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n")
    (src / "m.h").write_text(
        '#include "hd.h"\nnamespace n {\nclass M {\n  HD float f(float a, float b) const;\n  float f(int);\n'
        "  template <bool B> HD int g(int a);\n"
        "  HD void pairs(std::vector<std::pair<int, int>> const& v, int b = 2);\n"
        "  void host();\n};\n}\n"
    )
    definitions = (
        "__global__ void k() {}\nnamespace n {\nfloat M::f(float a, float b) const { return a; }\n"
        "float M::f(int) { return 1; }\nvoid M::host() {}\n"
        "void M::pairs(std::vector<std::pair<int, int> > const& w, int) {}\n"
        "template <> int M::g<true>(int a) { return 1; }\n__device__ void M::other() {}\n}\n"
    )
    for name in ("m.cu", "m.cpp"):
        (src / name).write_text(f'#include "m.h"\n{definitions if name == "m.cu" else definitions[24:]}')
    (src / "alone.cu").write_text(definitions)
    for out in ("out", "again"):  # the second from the cache
        done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / out)])
        assert done.exit_code == 0, done.output
        text = (tmp_path / out / "m.cu").read_text()
        assert "\n__host__ __device__ float M::f(float a, float b) const {" in text
        assert "template <> __host__ __device__ int M::g<true>(int a)" in text
        assert "\n__host__ __device__ void M::pairs(" in text
        assert "\nfloat M::f(int) {" in text
        assert "\nvoid M::host() {" in text
    for name in ("m.cpp", "alone.cu"):  # the host's compiler has no sides; which M that is is not known
        assert "\nfloat M::f(float a, float b) const {" in (tmp_path / "out" / name).read_text()


def test_definitions_beside_their_class_get_the_macro_of_another_header(tmp_path: Path) -> None:
    """Neither file names a side (CU251). A header may be the host compiler's too, which knows the macro alone."""
    src = tmp_path / "src"
    src.mkdir()
    (src / "d.h").write_text(
        "#ifdef __CUDACC__\n#define FN inline __host__ __device__\n#define HD __host__ __device__\n"
        "#else\n#define FN inline\n#define HD\n#endif\n"
    )
    (src / "v.h").write_text(
        '#include "d.h"\ntemplate <class T> struct V {\n  FN T n() const;\n  T m();\n};\n'
        "template <class T> T V<T>::n() const { return 1; }\ntemplate <class T> T V<T>::m() { return 1; }\n"
    )
    (src / "p.h").write_text('#include "d.h"\nclass P\n{\n  HD static int inc(int* a);\n};\n')
    (src / "p.cu").write_text('#include "p.h"\n#include "v.h"\nint P::inc(int* a) { return atomicAdd(a, 1); }\n')
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    header = (tmp_path / "out" / "v.h").read_text()
    assert "\ntemplate <class T> FN T V<T>::n() const {" in header
    assert "\ntemplate <class T> T V<T>::m() {" in header
    assert "\n__host__ __device__ int P::inc(" in (tmp_path / "out" / "p.cu").read_text()


def test_names_for_namespaces() -> None:
    text = "namespace cg = cooperative_groups;\nnamespace w = :: nvcuda :: wmma ;\nnamespace fs = std::filesystem;\n"
    assert namespace_aliases(text) == {"cg cooperative_groups", "w nvcuda::wmma"}
    assert aliases_by_name(["a cub", "a thrust", "b cub"]) == {"b": "cub"}


def test_uses_in_other_files_of_names_for_namespaces(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "cg.h").write_text(
        "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"
    )
    use = "template <class G> __device__ int f(G g, int x) { return cg::reduce(g, x, cg::less<int>()); }\n"
    (src / "a.cuh").write_text(f'#include "cg.h"\n{use}')
    (src / "b.cuh").write_text(f'#include "cg.h"\nnamespace cg {{ int reduce(int); }}\n{use}')
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    out = tmp_path / "out"
    assert "return cu2port::reduce(g, x, cu2port::less<int>());" in (out / "a.cuh").read_text()
    assert use in (out / "b.cuh").read_text()


def test_an_alias_template_says_the_same_in_all_headers_that_know_the_macros(tmp_path: Path) -> None:
    """Two headers may declare it; one that has no word for the device itself kept `std::declval`, the other did not."""
    alias = "template <class T> using stream_t = decltype(std::declval<T>().stream());\n"
    (tmp_path / "hd.h").write_text("#define HD __host__ __device__\n")
    (tmp_path / "a.hpp").write_text(f'#include "hd.h"\n{alias}__device__ int a;\n')
    (tmp_path / "b.hpp").write_text(f'#include "hd.h"\n{alias}')
    (tmp_path / "c.hpp").write_text(alias)
    done = CliRunner().invoke(cli, ["convert", str(tmp_path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    for name, wanted in (("a", "cu2port::declval"), ("b", "cu2port::declval"), ("c", "std::declval")):
        assert f"decltype({wanted}<T>()" in (tmp_path / "out" / f"{name}.hpp").read_text(), name
