"""A project's own name that is in `std` too with HIP's headers: whose it is, for whom, and what is written."""

from __future__ import annotations

import subprocess

import pytest
from amd_code import clang

from cu2port.catalog.uses import declared_names
from cu2port.core.model import Project
from cu2port.engine.translate import translate
from cu2port.facts.std_names import NAMES, OPENS

NVCC = "cassert climits cmath cstdio cstdlib cstring ctime new utility"
HIP = "algorithm climits cmath complex cstdint cstdlib new tuple utility"


def ambiguous(headers: str) -> set[str]:
    """The names of the table that a global variable cannot have below `using namespace std` with some headers."""
    text = "".join(f"#include <{h}>\n" for h in headers.split()) + "using namespace std;\n"
    text += "".join(f"extern int {n};\nint* of_{n} = &{n};\n" for n in sorted(NAMES))
    words = [clang(), "-std=c++14", "-fsyntax-only", "-ferror-limit=0", "-fno-caret-diagnostics", "-x", "c++", "-"]
    said = subprocess.run(words, input=text, capture_output=True, text=True, check=False).stderr
    return {n for n in NAMES if f"reference to '{n}' is ambiguous" in said}


def test_names_come_with_hips_headers_alone() -> None:
    since_17 = {
        "apply",
        "clamp",
        "data",
        "destroy",
        "destroy_at",
        "destroy_n",
        "empty",
        "for_each_n",
        "make_from_tuple",
    }
    since_17 |= {"pmr", "sample", "size"}
    assert ambiguous(HIP) == NAMES - since_17
    assert not ambiguous(NVCC)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("typedef float real;\n", {"real"}),
        ("typedef struct {\n  int x;\n} complex;\nusing namespace std;\n", {"complex", OPENS}),
        ("struct array {\n  int size;\n};\nusing hash = int;\nextern int count;\n", {"array", "hash", "count"}),
        ("template <class T>\nstruct array {};\n", {"array"}),
        ("namespace n {\ntypedef float real;\nint size;\n}\n", set()),
        ("struct S {\n  int count;\n  typedef float real;\n};\n", set()),
        ("float real(float);\ntypedef float (*find)(int);\n", set()),
        ("void f() {\n  using namespace std;\n  typedef float real;\n}\n", set()),
        ("class real;\n", {"real"}),
        ("PYBIND11_NAMESPACE_BEGIN(n)\nstruct array {};\nPYBIND11_NAMESPACE_END(n)\n", set()),
    ],
)
def test_what_a_header_gives(text: str, given: set[str]) -> None:
    assert declared_names(text).own == given


OF_A_HEADER = Project(declared=frozenset({"real", "std::*"}))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("void f(real* p);\n", "void f(::real* p);\n"),
        ("real f() { return real(1) + sizeof(real); }\n", "::real f() { return ::real(1) + sizeof(::real); }\n"),
        ("template <class T> struct V {}; V<real> v;\n", "template <class T> struct V {}; V<::real> v;\n"),
        ("struct S { real x; };\n", "struct S { ::real x; };\n"),
        ("template <class real> real f(real x) { return x; }\n", None),
        ("struct C { float real; float f() { return real; } };\n", None),
        ("struct D : Base { float f() { return real; } };\n", None),
        ("float D::f() { return real; }\n", None),
        ("int D::f() { if (real) return 1; return real(2); }\n", None),
        ("void D::f() { real x = (real)y; }\n", "void D::f() { ::real x = (::real)y; }\n"),
        ("float f(C c) { return c.real + std::real(z) + ::real(1); }\n", None),
        ("#undef real\nvoid f(A a) { a.template real<int>(); goto left; left: left(); }\n", None),
        ("#define real float\nreal x;\n", None),
    ],
)
def test_a_use_of_a_headers_name(before: str, after: str | None) -> None:
    out = translate(before, path="a.cuh", project=OF_A_HEADER).output.decode()
    assert out == (after or before)
    assert translate(out, path="a.cuh", project=OF_A_HEADER).output.decode() == out
    for declared in ({"real"}, {"std::*"}, {"n::real", "std::*"}):
        assert translate(before, path="a.cuh", project=Project(declared=frozenset(declared))).output.decode() == before


def test_a_class_of_such_a_name_keeps_its_constructors() -> None:
    text = (
        "using namespace std;\nstruct array {\n  array();\n  array(const array& x);\n};\narray::array() {}\narray* p;\n"
    )
    assert translate(text, path="a.cuh").output.decode() == text.replace("array* p", "::array* p")
