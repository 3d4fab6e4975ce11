"""The catalogue keeps its rules (rules/README.md), its examples are true, and each of CUDA's names has a mapping."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port import catalog
from cu2port.catalog import Row, load_catalog, version_key
from cu2port.catalog.rulefile import CatalogError, Source, read_rules
from cu2port.cli import cli
from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "rules"
LISTS = sorted(p.stem for p in (RULES / "names").glob("*.txt"))
LIBRARIES = sorted(p.stem for p in RULES.glob("*.toml"))
KINDS = frozenset("function type enumerator macro member namespace template variable".split())

#: Names of the lists that no row and no namespace answers for. The number may only go down, and then it goes down here.
UNMAPPED: dict[str, int] = {}

HEAD = 'library = "lib"\ntitle = "Lib"\ntarget = "hipLib"\n'
CHANGE = """[[change]]
cuda = "cuA"
hip = "hipA"
trust = "exact"
why = "It takes a pointer."
example = { before = "cuA(1);", after = "hipA(1);" }
"""
UNSUPPORTED = '[[unsupported]]\ncuda = "cuA"\nwhy = "HIP has none."\ninstead = "Remove it."\n'


@pytest.fixture(scope="module")
def clang() -> Iterator[ClangService]:
    with ClangService() as service:
        yield service


def without(text: str, key: str) -> str:
    """A row without the line of a key."""
    return re.sub(rf"(?m)^{key} = .*\n", "", text)


def read(folder: Path, **texts: str) -> dict[str, tuple[str, object]]:
    """The rows of rule files with these stems and texts."""
    files = []
    for stem, text in texts.items():
        files.append(folder / f"{stem}.toml")
        files[-1].write_text(text, encoding="utf-8")
    rows: dict[str, tuple[str, object]] = read_rules([Source.of(f) for f in files])["raw"]
    return rows


@pytest.mark.parametrize("where", [0, 40, -1])
def test_a_damaged_kept_catalogue_is_made_anew(where: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))
    load = catalog._shipped.__wrapped__
    load()
    (kept,) = tmp_path.glob("catalog-*.bin")
    good = kept.read_bytes()
    damaged = bytearray(good)
    damaged[where] ^= 0x55
    kept.write_bytes(damaged)
    found = load()
    assert kept.read_bytes() == good
    row = found.get("cudaMalloc")
    assert row is not None
    assert row.hip == "hipMalloc"


# --- the rules of a rule file -----------------------------------------------------------------------------------------

#: What breaks a rule: the text after HEAD, and what the message must name beside the file: a row, a table, a key.
VIOLATIONS = {
    "not TOML": ("[rename\n", "TOML"),
    "a name twice in a table": ('[rename]\ncuA = "hipA"\ncuA = "hipB"\n', "TOML"),
    "unknown table": ('[renames]\ncuA = "hipA"\n', "renames"),
    "unsorted rename": ('[rename]\ncuB = "hipB"\ncuA = "hipA"\n', "`cuA`"),
    "case does not sort": ('[rename]\ncua = "hipa"\ncuB = "hipB"\n', "`cuB`"),
    "rename to nothing": ('[rename]\ncuA = ""\n', "`cuA`"),
    "rename without hip": ('[rename]\ncuA = { hip_since = "6.0" }\n', "`cuA`"),
    "rename with arguments": ('[rename]\ncuA = { hip = "hipA", args = { 0 = "1" } }\n', "`cuA`"),
    "rename with an unknown key": ('[rename]\ncuA = { hip = "hipA", since = "6.0" }\n', "`cuA`"),
    "no C++ name": ('[rename]\n"cu A" = "hipA"\n', "`cu A`"),
    "no C++ name, ends in ::": ('[rename]\n"cub::" = "hipcub"\n', "`cub::`"),
    "version is no text": ('[rename]\ncuA = { hip = "hipA", hip_since = 6.2 }\n', "`cuA`"),
    "version is no version": ('[rename]\ncuA = { hip = "hipA", cuda_removed = "ROCm 6" }\n', "`cuA`"),
    "older without until": ('[rename]\ncuA = { hip = "hipA", older = { hip = "hipB" } }\n', "`cuA`"),
    "older until no version": ('[rename]\ncuA = { hip = "hipA", older = { until = "x", hip = "hipB" } }\n', "`cuA`"),
    "change without why": (without(CHANGE, "why"), "`cuA`"),
    "change with an empty why": (CHANGE.replace("It takes a pointer.", " "), "`cuA`"),
    "change without example": (without(CHANGE, "example"), "`cuA`"),
    "change with half an example": (CHANGE.replace(', after = "hipA(1);"', ""), "`cuA`"),
    "change without trust": (without(CHANGE, "trust"), "`cuA`"),
    "change of unknown trust": (CHANGE.replace('"exact"', '"sure"'), "`cuA`"),
    "change without hip": (without(CHANGE, "hip"), "`cuA`"),
    "change without cuda": (without(CHANGE, "cuda"), "``"),
    "change with args and call": (CHANGE + 'args = { 0 = "&{0}" }\ncall = "hipA()"\n', "`cuA`"),
    "change with an index that is no number": (CHANGE + 'args = { first = "&{0}" }\n', "`first`"),
    "change of values with such an index": (CHANGE + 'values = { x = { a = "b" } }\n', "`x`"),
    "form without argc": (CHANGE + 'forms = [{ hip = "hipB" }]\n', "`cuA`"),
    "form with an unknown key": (CHANGE + 'forms = [{ argc = [2], why = "x" }]\n', "`cuA`"),
    "form with args and call": (CHANGE + 'forms = [{ argc = [2], args = { 0 = "1" }, call = "hipA()" }]\n', "`cuA`"),
    "form with a type that is none": (CHANGE + 'forms = [{ argc = [2], types = { 0 = "T *" } }]\n', "`cuA`"),
    "form with a type of no argument": (CHANGE + 'forms = [{ argc = [2], types = { x = "T" } }]\n', "`cuA`"),
    "form with half an example": (CHANGE + 'forms = [{ argc = [2], example = { before = "cuA();" } }]\n', "`cuA`"),
    "form of unknown trust": (CHANGE + 'forms = [{ argc = [2], trust = "sure" }]\n', "`cuA`"),
    "form with a wrong version": (CHANGE + 'forms = [{ argc = [2], hip_since = "new" }]\n', "`cuA`"),
    "change with an unknown key": (CHANGE + 'note = "x"\n', "`cuA`"),
    "changes unsorted": (CHANGE.replace("cuA", "cuB") + CHANGE, "`cuA`"),
    "change stands twice": (CHANGE + CHANGE, "`cuA`"),
    "unsupported with a target": (UNSUPPORTED + 'hip = "hipA"\n', "`cuA`"),
    "unsupported without why": (without(UNSUPPORTED, "why"), "`cuA`"),
    "unsupported without instead": (without(UNSUPPORTED, "instead"), "`cuA`"),
    "unsupported with an empty instead": (UNSUPPORTED.replace("Remove it.", ""), "`cuA`"),
    "unsupported names nothing": (UNSUPPORTED.replace('"cuA"', "[]"), "[[unsupported]]"),
    "unsupported names unsorted": (UNSUPPORTED.replace('"cuA"', '["cuB", "cuA"]'), "`cuA`"),
    "unsupported name twice in a row": (UNSUPPORTED.replace('"cuA"', '["cuA", "cuA"]'), "`cuA`"),
    "unsupported rows unsorted": (UNSUPPORTED.replace("cuA", "cuB") + UNSUPPORTED, "`cuA`"),
    "unsupported with a wrong version": (UNSUPPORTED + 'cuda_since = "new"\n', "`cuA`"),
    "rename is no table": ("rename = 1\n", "[rename]"),
    "a row is a number": ("[rename]\ncuA = 1\n", "`cuA`"),
    "changes are no tables": ('change = ["cuA"]\n', "[[change]]"),
    "unsupported is no table": ("[unsupported]\n", "[[unsupported]]"),
    "unsupported names a number": (UNSUPPORTED.replace('"cuA"', "[1]"), "[[unsupported]]"),
    "name lists are no list": ('names = "runtime"\n', "`names`"),
    "argc is no list": (CHANGE + "argc = 2\n", "`cuA`"),
    "argc is text": ('[rename]\ncuA = { hip = "hipA", argc = ["2"] }\n', "`cuA`"),
    "an argument is no text": (CHANGE + "args = { 0 = 1 }\n", "`cuA`"),
    "values are no tables": (CHANGE + 'values = { 0 = "a" }\n', "`cuA`"),
    "forms are no tables": (CHANGE + 'forms = ["hipB"]\n', "`cuA`"),
    "a form's argc is no list": (CHANGE + "forms = [{ argc = 2 }]\n", "`cuA`"),
    "an example is text": (without(CHANGE, "example") + 'example = "cuA();"\n', "`cuA`"),
    "older is text": ('[rename]\ncuA = { hip = "hipA", older = "6.0" }\n', "`cuA`"),
    "unchecked is text": ('[rename]\ncuA = { hip = "hipA", unchecked = "yes" }\n', "`cuA`"),
    "a why is no text": (CHANGE.replace('"It takes a pointer."', "1"), "`cuA`"),
    "a hip is no text": (CHANGE.replace('"hipA"', "1"), "`cuA`"),
    "a cuda is no text": (CHANGE.replace('cuda = "cuA"', "cuda = 1"), "`1`"),
    "two mappings": ('[rename]\ncuA = "hipA"\n' + UNSUPPORTED, "`cuA`"),
    "rename and change": ('[rename]\ncuA = "hipA"\n' + CHANGE, "`cuA`"),
    "a header's target is no text": ('[headers]\n"a.h" = ["hip/a.h"]\n', "`a.h`"),
    "a header without a counterpart has no advice": ('[headers]\n"a.h" = { why = "It is gone." }\n', "`a.h`"),
    "a header's reason is no text": ('[headers]\n"a.h" = { why = 1, instead = "b" }\n', "`a.h`"),
    "a namespace's target is no text": ("[namespaces]\ncub = 1\n", "`cub`"),
}


@pytest.mark.parametrize("case", VIOLATIONS)
def test_a_broken_rule_is_refused_by_file_and_row(tmp_path: Path, case: str) -> None:
    text, named = VIOLATIONS[case]
    with pytest.raises(CatalogError) as error:
        read(tmp_path, lib=HEAD + text)
    said = re.fullmatch(r"lib\.toml(?::(\d+))?: (.*)", str(error.value))
    assert said is not None
    assert named in said[2]
    if said[1]:  # the line has the row's name
        line = (tmp_path / "lib.toml").read_text(encoding="utf-8").splitlines()[int(said[1]) - 1]
        assert named.strip("`") in line or "cuA" in line


def test_what_the_violations_are_made_from_is_right(tmp_path: Path) -> None:
    """Else a violation might be refused for another reason than its own."""
    assert set(read(tmp_path, lib=HEAD + '[rename]\ncuB = "hipB"\n' + CHANGE)) == {"cuA", "cuB"}
    assert set(read(tmp_path, lib=HEAD + UNSUPPORTED.replace('"cuA"', '["cuA", "cuB"]'))) == {"cuA", "cuB"}


@pytest.mark.parametrize("key", ["library", "title", "target"])
def test_a_head_is_complete(tmp_path: Path, key: str) -> None:
    with pytest.raises(CatalogError, match=rf"^lib\.toml: `{key}` is missing"):
        read(tmp_path, lib=without(HEAD, key))


def test_a_file_is_called_as_its_library(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"^other\.toml: library is `lib`"):
        read(tmp_path, other=HEAD)


def test_a_file_is_utf8(tmp_path: Path) -> None:
    (tmp_path / "lib.toml").write_bytes(HEAD.encode() + b"# \xe9\n")
    with pytest.raises(CatalogError, match=r"^lib\.toml: not TOML"):
        Source.of(tmp_path / "lib.toml")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ('[rename]\ncuA = "hipA"\n', '[rename]\ncuA = "hipB"\n', r"`cuA` already has a row, in lib\.toml"),
        (CHANGE, UNSUPPORTED, r"`cuA` already has a row, in lib\.toml"),
        ('[headers]\n"a.h" = ""\n', '[headers]\n"a.h" = "hip/a.h"\n', r"\[headers\] `a\.h` is in two files"),
        (
            '[headers]\n"a.h" = { why = "w", instead = "i" }\n',
            '[headers]\n"a.h" = ""\n',
            r"\[headers\] `a\.h` is in two",
        ),
        ("[namespaces]\nn = 'm'\n", "[namespaces]\nn = 'm'\n", r"\[namespaces\] `n` is in two files"),
    ],
)
def test_one_name_has_one_row_over_all_files(tmp_path: Path, first: str, second: str, said: str) -> None:
    with pytest.raises(CatalogError, match=rf"^more\.toml:\d+: {said}"):
        read(tmp_path, lib=HEAD + first, more=HEAD.replace('"lib"', '"more"') + second)


def test_a_broken_rule_file_is_one_line_to_the_user(tmp_path: Path) -> None:
    """Who edits a checkout's rules must read which file and row, and nothing else."""
    skip = shutil.ignore_patterns("__pycache__", "names")
    shutil.copytree(ROOT / "translator" / "cu2port", tmp_path / "translator" / "cu2port", ignore=skip)
    shutil.copytree(RULES, tmp_path / "rules", ignore=skip)
    (tmp_path / "a.cu").write_text("int main() { cudaFree(0); }\n")
    paths = {"PYTHONPATH": str(tmp_path / "translator"), "CU2PORT_CACHE_DIR": str(tmp_path / "cache")}

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "cu2port", *words]
        env = {**os.environ, **paths}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stdout == ""
        return done.stderr

    curand = tmp_path / "rules" / "curand.toml"
    good = curand.read_text(encoding="utf-8")
    curand.write_text(good + '\n[[unsupported]]\ncuda = "zzz"\nwhy = "None."\n', encoding="utf-8")
    line = len(curand.read_text(encoding="utf-8").splitlines()) - 1
    expected = f"cu2port: rules/curand.toml:{line}: `zzz` is unsupported without `instead`\n"
    assert said("convert", "a.cu", "-o", "b.hip") == said("query", "cudaFree") == expected
    curand.write_text(good + "\n[oops\n", encoding="utf-8")
    assert re.fullmatch(r"cu2port: rules/curand\.toml: not TOML: .*line \d+.*\n", said("query", "cudaFree"))
    shutil.rmtree(tmp_path / "rules")
    assert said("query", "cudaFree") == "cu2port: cu2port's data folder `rules` is missing; install cu2port again\n"


# --- the rows that are there ------------------------------------------------------------------------------------------


def rows(library: str, mapping: str) -> list[Row]:
    return [r for r in load_catalog() if r.library == library and r.mapping == mapping]


def newest(row: Row) -> Options:
    """The default options, for a ROCm new enough to have the row's target."""
    major, minor = (*version_key(row.version("hip_since") or "0"), 0)[:2]
    return Options(rocm=max(Options().rocm, (major, minor)))


@pytest.mark.parametrize("library", [x for x in LIBRARIES if rows(x, "change")])
def test_examples_of_changes(library: str, clang: ClangService) -> None:
    """`before` converts to `after`, and `after` stays as it is."""
    wrong = []
    for row in rows(library, "change"):
        pairs = [(row.before, row.after), *((f.before, f.after) for f in row.forms if f.before)]
        for text, after in ((text, pair[1]) for pair in pairs for text in pair):
            made = translate(text, newest(row), path="a.cuh", clang=clang).output.decode()
            made = made.removeprefix(f'#include "cu2port/{row.helper}"\n') if row.helper else made
            made = made.removeprefix("".join(f"#include <{h}>\n" for h in row.headers))
            if made != after:
                wrong.append(f"{row.cuda}: `{text}` becomes `{made}`, not `{after}`")
    assert not wrong, "\n".join(wrong)


SGEMM = "(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, m, b, k, &beta, c, m)"

#: What a row's `argc`, `forms`, `values`, `drop`, `bare` and `tag` do where their row's example does not show it.
KINDS_OF_CHANGE = {
    "other number of arguments": ("cublasSgemm('n', 'n', m, n, k, 1.f, a, m, b, k, 0.f, c, m);", "", "CU106"),
    "its number of arguments": ("cublasSgemm" + SGEMM, "hipblasSgemm" + SGEMM.replace("CU", "HIP"), ""),
    "number unknown, macro": (
        "#define S(...) cublasSgemm(__VA_ARGS__)",
        "#define S(...) hipblasSgemm(__VA_ARGS__)",
        "",
    ),
    "in C++, a default argument": ("cudaMallocHost(&p, n);", "hipHostMalloc(&p, n);", ""),
    "behind `struct`, the name that needs no header": (
        "struct cudaGraphicsResource; struct cudaGraphicsResource* a; cudaGraphicsResource* b;",
        "struct _hipGraphicsResource; struct _hipGraphicsResource* a; hipGraphicsResource* b;",
        "",
    ),
    "number unknown, pack": ("cudaEventCreate(args...);", "hipEventCreate(args...);", ""),
    "no call": ("auto f = &cudaEventCreate;", "auto f = &hipEventCreate;", ""),
    "no call, arguments change": ("auto f = &cudaMemcpyToSymbol;", "", "CU106"),
    "no form of that number": ("cudaEventCreate(&event, 1, 2);", "", "CU106"),
    "a form newer than the ROCm asked for": ("cudaMemPrefetchAsync(p, n, place, 0, s);", "", "CU106"),
    "an argument's type tells, of a variable": (
        "void f(cudaMemLocation at, int n) { cudaMemAdvise(p, 1, a, at); cudaMemAdvise(p, 1, a, n); }",
        "void f(hipMemLocation at, int n) { hipMemAdvise_v2(p, 1, a, at); hipMemAdvise(p, 1, a, n); }",
        "",
    ),
    "an argument's type tells, of a member that only tokens know": (
        "struct P { cudaMemLocation to[2]; Foo x; }; void f(Bar p) { cudaMemAdvise(p.q, 1, a, p.to[1]); }",
        "struct P { hipMemLocation to[2]; Foo x; }; void f(Bar p) { hipMemAdvise_v2(p.q, 1, a, p.to[1]); }",
        "",
    ),
    "an argument's type tells, braces and casts": (
        "cudaMemAdvise(p, 1, a, {t, 0}); cudaMemAdvise(p, 1, a, (int)cudaMemLocation); cuMemAdvise(p, 1, a, d); "
        "cudaMemAdvise(p, 1, a, static_cast<int>(b.c()));",
        "hipMemAdvise_v2(p, 1, a, {t, 0}); hipMemAdvise(p, 1, a, (int)hipMemLocation); hipMemAdvise(p, 1, a, d); "
        "hipMemAdvise(p, 1, a, static_cast<int>(b.c()));",
        "",
    ),
    "arrays of pointers to const: declared, and by a cast": (
        "void f(float** a, const float** b) { cublasSgetriBatched(h, n, a, n, p, c, n, i, k); "
        "cublasSgetriBatched(h, n, b, n, p, c, n, i, k); "
        "cublasSgetriBatched(h, n, (const float**)(a), n, p, c, n, i, k); }",
        "void f(float** a, const float** b) { hipblasSgetriBatched(h, n, a, n, p, c, n, i, k); "
        "hipblasSgetriBatched(h, n, (float* const*)(b), n, p, c, n, i, k); "
        "hipblasSgetriBatched(h, n, (float* const*)((const float**)(a)), n, p, c, n, i, k); }",
        "",
    ),
    "a form with a type, a default argument left out": (
        "void f(cudaMemLocation at) { cudaMemPrefetchAsync(p, 1, at, 0); cudaMemPrefetchAsync(p, 1, 0, s); }",
        "void f(hipMemLocation at) { hipMemPrefetchAsync_v2(p, 1, at, 0); hipMemPrefetchAsync(p, 1, 0, s); }",
        "",
    ),
    "an argument's type is not known": (
        "cudaMemLocation at(); cudaMemAdvise(p, 1, a, far(1).at);",
        "hipMemLocation at(); cudaMemAdvise(p, 1, a, far(1).at);",
        "CU106",
    ),
    "a pointer, or the value": (
        "__device__ void f(cudaSurfaceObject_t s, float *p) "
        "{ v = surf2Dread<float>(s, 0, 1, m); surf2Dread(p, s, 0, 1); }",
        '#include "cu2port/surface.hpp"\n__device__ void f(hipSurfaceObject_t s, float *p) '
        "{ v = cu2port::surf2Dread<float>(s, 0, 1); surf2Dread(p, s, 0, 1); }",
        "",
    ),
    "a pointer, or the value, not known": ("v = surf2Dread<float>(a.b(), 0, 1, m);", "", "CU106"),
    "an argument that is cast already": (
        "cudaHostGetDevicePointer((void **)&p, q, 0); cudaFuncSetAttribute((const void*)k, a, v);",
        "hipHostGetDevicePointer((void **)&p, q, 0); hipFuncSetAttribute((const void*)k, a, v);",
        "",
    ),
    "an argument that is cast to something else": (
        "cudaHostGetDevicePointer((T **)&p, q, 0);",
        "hipHostGetDevicePointer(reinterpret_cast<void**>((T **)&p), q, 0);",
        "",
    ),
    "a user's word for CUDA's type": (
        "#ifndef GPU\ntypedef void *cudaStream_t;\n#endif\nvoid f(cudaStream_t s);\n",
        "#ifndef GPU\ntypedef void *hipStream_t;\n#endif\nvoid f(hipStream_t s);\n",
        "",
    ),
    "a user's type in a namespace": (
        "namespace mine { typedef int cudaGraph_t; cudaGraph_t g; }",
        "namespace mine { typedef int cudaGraph_t; cudaGraph_t g; }",
        "",
    ),
    "functions and constants that replace CUDA's": (
        "using cudaError_t = int;\nnamespace n { enum E { cudaSuccess = -1 };\n"
        "template <class T> cudaError_t cudaMemcpyToSymbol(T& x, void* p) { return cudaSuccess; } }\n",
        "using hipError_t = int;\nnamespace n { enum E { hipSuccess = -1 };\n"
        "template <class T> hipError_t hipMemcpyToSymbol(T& x, void* p) { return hipSuccess; } }\n",
        "",
    ),
    "a constant that has HIP's value": (
        "#ifdef H\nconstexpr auto cudaSuccess = hipSuccess;\n#endif\nbool b = f() == cudaSuccess;",
        "#ifdef H\nconstexpr auto cudaSuccess = hipSuccess;\n#endif\nbool b = f() == hipSuccess;",
        "",
    ),
    "a function of converted code that keeps CUDA's name": (
        "const char* cublasGetStatusString(hipblasStatus_t s) { return 0; }\n"
        "const char* f(hipblasStatus_t s) { return cublasGetStatusString(s); }\n",
        "",
        "",
    ),
    "a prototype of converted code that keeps CUDA's name": (
        "inline __hip_bfloat162 make_bfloat162(const __hip_bfloat16 x, const __hip_bfloat16 y);\n"
        "template <class T> void f(T v, T& d) { d = make_bfloat162(v, v); }\n",
        "",
        "",
    ),
    "another value": ("cublasGemmEx(h, 1, type, algo);", "hipblasGemmEx(h, 1, type, algo);", ""),
    "a tag before a typedef": ("struct cudaLaunchParams p;", "hipLaunchParams p;", ""),
    "a tag before a structure": ("struct cudaExtent e;", "struct hipExtent e;", ""),
    "a member that another struct keeps": (
        "CUDA_KERNEL_NODE_PARAMS p; CUlaunchConfig c; c.gridDimX = 1;",
        "hipKernelNodeParams p; HIP_LAUNCH_CONFIG c; c.gridDimX = 1;",
        "",
    ),
    "an array of pointers to const, and a pointer to const": (
        "void f(const float* a[], const int* p, float** c) { cublasSgetriBatched(h, 1, a, 1, p, c, 1, i, 1); }",
        "void f(const float* a[], const int* p, float** c) "
        "{ hipblasSgetriBatched(h, 1, (float* const*)(a), 1, (int*)(p), c, 1, i, 1); }",
        "",
    ),
    "a pointer to const, and another of its name": (
        "void f(CUmipmappedArray a, const CUDA_ARRAY3D_DESCRIPTOR* q) { cuMipmappedArrayCreate(&a, q, 1); }\n"
        "void g(CUDA_ARRAY3D_DESCRIPTOR* q);\n",
        "void f(hipMipmappedArray_t a, const HIP_ARRAY3D_DESCRIPTOR* q) "
        "{ hipMipmappedArrayCreate(&a, (HIP_ARRAY3D_DESCRIPTOR*)(q), 1); }\n"
        "void g(HIP_ARRAY3D_DESCRIPTOR* q);\n",
        "",
    ),
    "an array of const pointers": (
        'const char* const o[] = {"-a"}; void f(nvrtcProgram p) { nvrtcCompileProgram(p, 1, o); }',
        'const char* const o[] = {"-a"}; void f(hiprtcProgram p) '
        "{ hiprtcCompileProgram(p, 1, const_cast<const char**>(o)); }",
        "",
    ),
    "an array of pointers": (
        'const char* o[] = {"-a"}; void f(nvrtcProgram p) { nvrtcCompileProgram(p, 1, o); }',
        'const char* o[] = {"-a"}; void f(hiprtcProgram p) { hiprtcCompileProgram(p, 1, o); }',
        "",
    ),
    "a member of each of two structs": (
        "void f(CUDA_KERNEL_NODE_PARAMS *p, CUlaunchConfig c[]) { p->gridDimX = c[0].gridDimX; }",
        "void f(hipKernelNodeParams *p, HIP_LAUNCH_CONFIG c[]) { p->gridDim.x = c[0].gridDimX; }",
        "",
    ),
    "a member of a class of the user's": (
        "struct S { int gridDimX; }; void f(S s, CUDA_KERNEL_NODE_PARAMS p[]) { p[1].gridDimX = s.gridDimX; }",
        "struct S { int gridDimX; }; void f(S s, hipKernelNodeParams p[]) { p[1].gridDim.x = s.gridDimX; }",
        "",
    ),
    "members of a member": (
        "CUDA_KERNEL_NODE_PARAMS p = {.gridDimX = 1}; q->blockDimZ = 2;",
        "hipKernelNodeParams p = {.gridDim = dim3(1, 0, 0)}; q->blockDim.z = 2;",
        "",
    ),
    "a word to drop, then another": ("const __grid_constant__ int n", "const int n", ""),
}


@pytest.mark.parametrize("case", KINDS_OF_CHANGE)
def test_kinds_of_change(case: str, clang: ClangService) -> None:
    before, after, code = KINDS_OF_CHANGE[case]
    options = Options(rocm=(6, 4)) if "ROCm" in case else Options()
    result = translate(before, options, path="a.cuh", clang=clang)
    assert result.output.decode() == (after or before)
    assert [j.finding.code for j in result.findings if j.finding.code == "CU106"] == ([code] if code else [])


def test_a_source_in_c_has_no_default_arguments(clang: ClangService) -> None:
    text = "void f(void** p) { cudaMallocHost(p, 12); cudaMallocHost(p); }"
    result = translate(text, Options(), path="a.c", clang=clang)
    assert "hipHostMalloc(p, 12, hipHostMallocDefault)" in result.output.decode()
    assert [j.finding.code for j in result.findings if j.outcome is not Outcome.APPLIED] == ["CU106"]


def test_address_of_a_function_with_more_parameters_in_hip() -> None:
    text = "typedef cudaError_t (*F)(void**, size_t);\nF f = (F)cudaMallocHost, g = &cudaMallocHost;\n"
    out = translate(text + "void h(void** p) { f = cudaMallocHost; cudaMallocHost(p, 4); }\n").output.decode()
    assert out.count("hipMallocHost") == 3
    assert "hipHostMalloc(p, 4)" in out


def test_flags_of_mapping_that_are_passed_at_registration(clang: ClangService) -> None:
    """They have the values of HIP's flags of registration; the function that they are for stays, as HIP lacks it."""
    text = (
        "void f(cudaGraphicsResource **r, unsigned b) {\n"
        "    cudaGraphicsGLRegisterBuffer(r, b, cudaGraphicsMapFlagsWriteDiscard);\n"
        "    cudaGraphicsGLRegisterBuffer(r, b, cudaGraphicsMapFlagsReadOnly);\n"
        "    cudaGraphicsResourceSetMapFlags(*r, cudaGraphicsMapFlagsNone);\n}\n"
    )
    result = translate(text, Options(), path="a.cu", clang=clang)
    out = result.output.decode()
    assert "hipGraphicsGLRegisterBuffer(r, b, hipGraphicsRegisterFlagsWriteDiscard)" in out
    assert "hipGraphicsGLRegisterBuffer(r, b, hipGraphicsRegisterFlagsReadOnly)" in out
    left = [j.finding.cuda for j in result.findings if j.outcome is not Outcome.APPLIED]
    assert left == ["cudaGraphicsResourceSetMapFlags"]


def test_a_template_of_a_builtins_name_calls_the_builtin(clang: ClangService) -> None:
    """What it is called with depends on the template's types; a template that calls itself would not end."""
    text = (
        "template <class T> __device__ T __shfl_sync(unsigned m, T v, int d) {\n"
        "    for (int i = 0; i < sizeof(T) / 4; i++) word(v, i) = __shfl_sync(m, word(v, i), d);\n    return v;\n}\n"
        "template <class T> __device__ T atomicMax_block(T* p, T v) { return atomicMax_block(raw(p), v); }\n"
        "template <class T> struct A { void cudaFree(T* p) { cudaFree(p); } };\n"
        "__global__ void k(double* p) { p[0] = __shfl_sync(1u, p[1], 1); }\n"
    )
    out = translate(text, Options(), path="a.cu", clang=clang).output.decode()
    assert "= cu2port::warp::shfl(m, word(v, i), d);" in out
    assert "T atomicMax_block(T* p, T v) { return atomicMax(raw(p), v); }" in out
    assert "void cudaFree(T* p) { cudaFree(p); }" in out
    assert "T __shfl_sync(unsigned m" in out and "p[0] = __shfl_sync(1u, p[1], 1);" in out


def test_a_shuffle_in_a_template_is_not_the_programs_overload_alone(clang: ClangService) -> None:
    """HIP's own takes no mask of 32 bits, so no other value would compile; ours moves values of any type."""
    text = (
        "struct P { int a, b; };\n"
        "__device__ P __shfl_down_sync(unsigned m, P v, int d) { return {__shfl_down_sync(m, v.a, d), v.b}; }\n"
        "__device__ bool __any_sync(unsigned m, P v) { return __any_sync(m, v.a); }\n"
        "template <class T> __device__ T f(T v) { return __shfl_down_sync(~0u, v, 16); }\n"
        "template <class T> __device__ bool g(T v) { return __any_sync(~0u, v); }\n"
        "__device__ P h(P v) { return __shfl_down_sync(~0u, v, 16); }\n"
        "#define DOWN __shfl_down_sync\n#define ANY __any_sync\n"
    )
    out = translate(text, Options(), path="a.cu", clang=clang).output.decode()
    assert "return {cu2port::warp::shfl_down(m, v.a, d), v.b};" in out and "return cu2port::warp::any(m, v.a);" in out
    assert "T f(T v) { return cu2port::warp::shfl_down(~0u, v, 16); }" in out
    assert "bool g(T v) { return __any_sync(~0u, v); }" in out
    assert "P h(P v) { return __shfl_down_sync(~0u, v, 16); }" in out
    assert "#define DOWN cu2port::warp::shfl_down\n" in out and "#define ANY __any_sync\n" in out


def test_examples_show_their_name() -> None:
    wrong = []
    for row in load_catalog():
        if row.mapping == "change":
            word = re.split(r"::|\.", row.cuda)[-1]
            if not re.search(rf"\b{re.escape(word)}\b", row.before):
                wrong.append(f"{row.library}: {row.cuda}: `{row.before}` -> `{row.after}`")
    assert not wrong, "\n".join(wrong)


def test_a_target_is_no_cuda_name_that_becomes_something_else() -> None:
    """Converting what was converted must change nothing."""
    catalog = load_catalog()
    wrong = []
    for row in catalog:
        for hip in {row.hip, row.older_hip} - {"", row.cuda}:
            again = catalog.get(hip)
            if again is not None and again.hip != hip:
                wrong.append(f"{row.library}: {row.cuda} -> {hip}, and {hip} -> {again.hip or 'nothing'}")
    assert not wrong, "\n".join(wrong)


def test_hip_headers_become_nothing_else() -> None:
    headers = load_catalog().headers
    wrong = [f"{a} -> {b} -> {headers[b]}" for a, b in headers.items() if b and headers.get(b, b) != b]
    assert not wrong, "\n".join(wrong)


def test_words_that_everyone_uses_are_strict() -> None:
    """One lower-case word without CUDA's prefixes may be anybody's, so libclang must say that it is CUDA's."""
    word = re.compile(r"(?!cu|nccl|nv|npp)[a-z]{2,}\Z|(?:MAJOR|MINOR)_VERSION\Z|PATCH_LEVEL\Z")
    # `texture<float, 2> t;`: texture references are gone from HIP, and a rule of their own tells them from other words
    own_rule = {"texture"}
    catalog = load_catalog()
    loose = {n for n in catalog.active if word.match(n)} - own_rule
    wrong = sorted(n for n in loose if (row := catalog.get(n)) is not None and not row.strict)
    assert wrong == ["htanh"]  # no English word


def test_why_and_instead_are_short() -> None:
    """One or two sentences to a porter (rule 10)."""
    wrong = []
    for row in load_catalog():
        for text in filter(None, (row.why, row.instead)):
            sentences = len(re.findall(r"[.!?](?=\s+[A-Z`])", text)) + 1
            if sentences > 3 or len(text) > 320 or not text.rstrip().endswith((".", "`", ")")):
                wrong.append(f"{row.library}: {row.cuda}: {text}")
            if re.search(r"\b(?:please|simply|powerful|seamless\w*)\b", text, re.I):
                wrong.append(f"{row.library}: {row.cuda}: {text}")
    assert not wrong, "\n".join(sorted(set(wrong)))


# --- the name lists ---------------------------------------------------------------------------------------------------


def listed(name: str) -> list[tuple[str, str]]:
    """(name, kind) of each line of a list."""
    lines = (RULES / "names" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [(a, b) for a, _, b in (line.partition(" ") for line in lines)]


def coverage(*words: str) -> subprocess.CompletedProcess[str]:
    """tools/coverage.py, which knows what a mapping is, with the package of this checkout."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    command = [sys.executable, str(ROOT / "tools" / "coverage.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)


@pytest.fixture(scope="module")
def missing() -> dict[str, list[str]]:
    """List -> its names without a mapping."""
    done = coverage("--missing")
    assert done.returncode == 0, done.stderr
    out: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, _, entry = line.partition(" ")
        out.setdefault(name, []).append(entry)
    return out


def test_unchecked_names_say_so_wherever_they_are_met() -> None:
    rows = {r.cuda: r for r in load_catalog() if r.unchecked}
    listed_rows = coverage("--unchecked").stdout.splitlines()
    assert sorted(x.split(" ", 1)[1] for x in listed_rows) == sorted(f"{r.cuda} -> {r.hip}" for r in rows.values())
    said = CliRunner().invoke(cli, ["query", "CUTENSOR_OP_ABS"]).output
    assert "not checked against HIP's headers" in " ".join(said.split())
    found = translate("int x = CUTENSOR_OP_ABS;", path="a.cu").findings
    (finding,) = (j.finding for j in found if j.finding.cuda == "CUTENSOR_OP_ABS")
    assert "not checked against HIP headers" in finding.message
    said = "was not checked against HIP's headers: no available header declares it."
    assert finding.why == (f"`HIPTENSOR_OP_ABS` {said}",)


def test_every_list_has_one_file_that_answers_for_it() -> None:
    answered = Counter(n for library in load_catalog().libraries for n in library.names)
    assert answered == Counter(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_sorted_and_of_known_kinds(name: str) -> None:
    found = listed(name)
    names = [n for n, _ in found]
    assert names == sorted(set(names))
    assert {kind for _, kind in found} <= KINDS


@pytest.mark.parametrize("name", LISTS)
def test_every_name_has_a_mapping(name: str, missing: dict[str, list[str]]) -> None:
    found, most = missing.get(name, []), UNMAPPED.get(name, 0)
    assert len(found) <= most, f"give these a row: {found[:40]}"
    assert len(found) == most, f"{most - len(found)} names have got a row: write {len(found)} into UNMAPPED"


def test_the_baseline_names_lists_that_are_there() -> None:
    assert not set(UNMAPPED) - set(LISTS)
    assert all(UNMAPPED.values())


def test_a_name_without_a_mapping_is_seen(tmp_path: Path) -> None:
    """Rows, and namespaces that move as a whole, are mappings; all else is missing."""
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "lib.txt").write_text("cuA function\ncuB function\ncub function\ncub::X type\n")
    text = HEAD + 'names = ["lib"]\n[namespaces]\ncub = "hipcub"\n[rename]\ncuA = "hipA"\n'
    (tmp_path / "lib.toml").write_text(text)
    assert coverage("--rules", str(tmp_path), "--missing").stdout.split("\n") == ["lib cuB", ""]
    assert "| Lib | hipLib | 4 | 3 | 0 | 0 | 1 | 0 |" in coverage("--rules", str(tmp_path)).stdout


def test_the_coverage_table_of_the_readme_is_fresh() -> None:
    done = coverage("--check", str(ROOT / "README.md"))
    assert done.returncode == 0, done.stderr


def test_a_stale_table_is_named_and_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    assert "no <!-- coverage -->" in coverage("--check", str(page)).stderr
    page.write_text("before\n<!-- coverage: made -->\nold\n<!-- /coverage -->\nafter\n")
    assert "stale" in coverage("--check", str(page)).stderr
    assert coverage("--write", str(page)).returncode == 0
    assert coverage("--check", str(page)).returncode == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- coverage: made -->\n| Library |")
    assert text.endswith("|\n<!-- /coverage -->\nafter\n")
