"""Branches for older GPUs that only stop: HIP takes the other one, and no other branch is treated as one of them."""

from __future__ import annotations

import random
from functools import partial

import pytest

from cu2port import Options, translate
from cu2port.syntax.conditions import ONE, UNDEFINED, Macro, truth
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import lex

NEWER = "defined(__HIP_DEVICE_COMPILE__)"


def _condition(text: str) -> str:
    made = translate(text.encode(), Options(), path="a.cu").output.decode()
    return next(line for line in made.splitlines() if line.startswith("#if"))


@pytest.mark.parametrize(
    "body",
    [
        "assert(false);",
        'assert(0 && "too old");\nreturn 1;',
        'assert(!"too old");',
        'printf("too old");\n__trap();',
        "#error too old",
        "// nothing here\nassert(false); __builtin_unreachable();",
    ],
)
def test_a_branch_that_only_stops(body: str) -> None:
    assert _condition(f"#if __CUDA_ARCH__ < 800\n{body}\n#else\ng();\n#endif\n") == f"#if !{NEWER}"
    assert _condition(f"#if (__CUDA_ARCH__ >= 800)\ng();\n#else\n{body}\n#endif\n") == f"#if ({NEWER})"
    either = f"#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800\ng();\n#else\n{body}\n#endif\n"
    assert _condition(either) == f"#if !{NEWER} || {NEWER}"


@pytest.mark.parametrize(
    "text",
    [
        "#if __CUDA_ARCH__ < 800\nassert(n);\n#else\ng();\n#endif\n",
        "#if __CUDA_ARCH__ < 800\nreturn 1;\n#else\ng();\n#endif\n",
        "#if __CUDA_ARCH__ < 800\nf(); assert(false);\n#else\ng();\n#endif\n",
        "#if __CUDA_ARCH__ < 800\n#else\ng();\n#endif\n",
        "#if __CUDA_ARCH__ < 800\n#if X\nassert(false);\n#endif\n#else\ng();\n#endif\n",
        "#if __CUDA_ARCH__ >= 800\nassert(false);\n#endif\n",
        "#if __CUDA_ARCH__ >= 800\nassert(false);\n#else\ng();\n#endif\n",
        "#if defined(X) && __CUDA_ARCH__ < 800\nassert(false);\n#else\ng();\n#endif\n",
    ],
)
def test_other_branches_stay(text: str) -> None:
    assert _condition(text) == text.splitlines()[0]


BIT = 'asm("mov.u32 %0, %laneid;" : "=r"(r));'


@pytest.mark.parametrize(
    "text",
    [
        f"__global__ void k(int r) {{\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#endif\n}}\n",
        f"__device__ void f(int& r) {{\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n{BIT}\n#endif\n}}\n",
        f"__device__ void f(int& r) {{\n#if __CUDA_ARCH__ < 900\nassert(false);\n#else\n{BIT}\n#endif\n}}\n",
        f"__device__ void f(int& r) {{\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#else\n__trap();\n#endif\n}}\n",
    ],
)
def test_what_is_taken_is_lifted(text: str) -> None:
    made = translate(text.encode(), Options(), path="a.cu").output.decode()
    assert "asm" not in made
    assert NEWER in made
    assert translate(made.encode(), Options(), path="a.cu").output.decode() == made


@pytest.mark.parametrize(
    "text",
    [
        f"__device__ int f(int r) {{\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#endif\nreturn r;\n}}\n",
        f"__device__ void f(int& r) {{\nr = 1;\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#endif\n}}\n",
        f"__device__ void f(int& r) {{\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#else\nr = 1;\n#endif\n}}\n",
        f"void f(int& r) {{\n#if __CUDA_ARCH__ >= 900\n{BIT}\n#endif\n}}\n",
    ],
)
def test_a_branch_beside_something_stays(text: str) -> None:
    made = translate(text.encode(), Options(), path="a.cu").output.decode()
    assert "asm" in made
    assert "__CUDA_ARCH__ >= 900" in made


X = "defined(CUDART_VERSION)"


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        (f"#if {X} && CUDART_VERSION < 10010\n#elif {X} && (CUDART_VERSION >= 11000)\nint x;\n#endif\n", False),
        (f"#if {X} && CUDART_VERSION < 10010\n#elif {X} && (CUDART_VERSION >= 13000)\nint x;\n#endif\n", True),
        ("#ifdef CUDART_VERSION\nint x;\n#endif\n", True),
        (f"#if {X} && CUDART_VERSION >= 10010\nint x;\n#else\nint y;\n#endif\n", False),
        (f"#if {X} || A\nint x;\n#endif\n", False),
        (f"#if !{X}\nint x;\n#endif\n", False),
        (f"#if {X}\nint x;\n#elif A\nint y;\n#endif\n", False),
        ("#ifndef CUDART_VERSION\nint x;\n#endif\n", False),
    ],
)
def test_a_conditional_of_which_nothing_is_left_says_so(text: str, lost: bool) -> None:
    """Each branch asks whether CUDA's version is defined: what it sets up is missing under HIP, without an error."""
    judged = translate(text.encode(), Options(), path="a.cu").findings
    said = [j.finding.message for j in judged if j.finding.code == "CU206"]
    assert said
    assert any("none of these branches is compiled" in m for m in said) is lost


@pytest.mark.parametrize("macro", ["BNB_HIP", "GGML_USE_HIP", "LIB_ROCM", "USE_ROCM"])
def test_a_projects_own_macro_for_hip_opens_a_branch_for_hip(macro: str) -> None:
    text = f"#if {macro}\nint f(int v) {{ return __shfl(v, 0); }}\n"
    text += "#else\nint f(int v) { return __shfl(v, 1); }\n#endif\n"
    made = translate(text, Options(), path="a.cu").output.decode()
    assert "__shfl(v, 0);" in made
    assert "__shfl(v, 1, 32);" in made


def test_an_include_guard_opens_none() -> None:
    text = (
        "#include <cuda.h>\n#ifndef KERNELS_HIP\n#define KERNELS_HIP\nint f(int v) { return __shfl(v, 0); }\n#endif\n"
    )
    assert "__shfl(v, 0, 32);" in translate(text, Options(), path="a.cuh").output.decode()
    text = text.replace("cuda.h", "hip/hip_runtime.h").replace("(v, 0)", "(v, 0, 64)").replace("__shfl", "__any_sync")
    judged = translate(text, Options(warp="flag"), path="a.cuh").findings
    assert {j.finding.code for j in judged} >= {"CU310"}


def test_a_default_in_a_condition_is_no_include_guard() -> None:
    """What conversion includes is there for those who define the macro too."""
    default = "#ifndef TILE\n#define TILE 16\n#endif\n"
    call = '__device__ int f(int a, int b) { int c; asm("bfind.u32 %0, %1;" : "=r"(c) : "r"(a)); return c * TILE; }\n'
    made = translate(default + call, Options(), path="a.cuh").output.decode()
    assert made.index('#include "cu2port/ptx.hpp"') < made.index("#ifndef TILE")
    guarded = translate(f"#ifndef A_CUH\n#define A_CUH\n{default}{call}#endif  // A_CUH\n", Options(), path="a.cuh")
    made = guarded.output.decode()
    assert made.startswith("#ifndef A_CUH\n#define A_CUH\n")
    assert "#define A_CUH" in made[: made.index("#include")] and made.index("#include") < made.index("#ifndef TILE")


def _asks(r: random.Random, depth: int) -> str:
    """A condition that asks for versions, as projects write them."""
    if depth == 0 or r.random() < 0.3:
        name = r.choice(["CUDA_VERSION", "CUDART_VERSION"])
        op = r.choice([">=", "<", ">", "<=", "==", "!="])
        plain = f"{name} {op} {r.choice([9000, 11020, 12060, 13000])}"
        return r.choice(
            [
                plain,
                plain,
                f"({plain})",
                f"defined({name}) && {plain}",
                f"({name} / 1000) {op} {r.choice([11, 12, 13])}",
            ]
        )
    a, b = _asks(r, depth - 1), _asks(r, depth - 1)
    return r.choice([f"{a} && {b}", f"({a}) || ({b})", f"!({a})", f"({a} && A)"])


@pytest.mark.parametrize("seed", range(40))
def test_versions_answer_as_cuda_does(seed: int) -> None:
    """Where nothing is left to be done, each condition gives under HIP what it gave under CUDA 12.6, and a second
    conversion changes nothing."""
    r = random.Random(seed)
    for _ in range(5):
        asked = _asks(r, 3)
        made = translate(f"#if {asked}\nint x;\n#endif\n".encode(), Options(), path="a.cu")
        text = made.output.decode()
        assert translate(text.encode(), Options(), path="a.cu").output.decode() == text
        if any(j.open for j in made.findings):
            continue
        line = next(x for x in text.splitlines() if x.startswith("#if"))
        for a in (False, True):
            known = {"A": ONE if a else UNDEFINED, "__HIP_PLATFORM_AMD__": ONE}
            number = Macro(True, Constant(12060, "long long"), True)
            cuda = truth(lex(asked).t, partial(_known, known, number))
            hip = truth(lex(line[3:]).t, partial(_known, known, UNDEFINED))
            assert hip is cuda, (asked, line)


@pytest.mark.parametrize(
    ("newer", "older", "done"),
    [
        ("return fast(a, b);", "return a + b;", True),
        ("return fast(a, b);", "return a;", False),
        ("return fast(a, b);", "return 0;", False),
        ("return fast(1);", "return 2;", False),
        ("return fast(a, b);", "a = b; return a;", False),
        ("a = fast(a, b);", "return a + b;", False),
        ("return fast(a, b);", "#if A\nreturn a + b;\n#endif", False),
    ],
)
@pytest.mark.parametrize("op", [">=", "<"])
def test_a_branch_for_older_gpus_that_does_the_whole_job(newer: str, older: str, done: bool, op: str) -> None:
    first, second = (newer, older) if op == ">=" else (older, newer)
    text = f"__device__ int f(int a, int b) {{\n#if __CUDA_ARCH__ {op} 800\n{first}\n#else\n{second}\n#endif\n}}\n"
    made = translate(text.encode(), Options(), path="a.cu")
    assert [j.open for j in made.findings if j.finding.code == "CU204"] == [not done]


def _known(known: dict[str, Macro], others: Macro, word: str) -> Macro:
    return known.get(word, others)


ONE_GPU = "__CUDA_ARCH__ == 860"
TWO = f"__CUDA_ARCH__ == 750 || ({ONE_GPU})"


@pytest.mark.parametrize(
    ("text", "work"),
    [
        (f"#if {TWO}\nint k[4];\n#else\nint k;\n#endif\nint x;\n#if {TWO}\nint y;\n#endif\n", 0),
        (f"#if {ONE_GPU}\nint y;\n#endif\n", 1),
        (f"#if {ONE_GPU}\nint y;\n#else\n#error others\n#endif\n", 1),
        (f"#if {ONE_GPU}\nint y;\n#elif __CUDA_ARCH__ == 900\nint z;\n#else\nint k;\n#endif\n", 2),
        (f"#if {ONE_GPU} || __CUDA_ARCH__ >= 900\nint y;\n#else\nint k;\n#endif\n", 2),
    ],
)
def test_a_branch_for_all_gpus_but_those_named(text: str, work: int) -> None:
    made = translate(f"__device__ int f();\n{text}".encode(), Options(), path="a.cu")
    assert sum(j.open for j in made.findings if j.finding.code == "CU204") == work
