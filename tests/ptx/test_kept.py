"""Arrays of accumulators that stay in tiles in a loop: what is kept, what is not, and that nothing else changes."""

from __future__ import annotations

import re

import pytest
from mma_programs import ASM, LOOP, MULTIPLY, ONE, converted, product

from cu2port.core.model import Options
from cu2port.engine.translate import translate

WRAPPER = (
    "__device__ inline void mma(float* c, const unsigned* a, const unsigned* b) {\n    "
    + ASM.replace("C", "c")
    + "\n}\n"
)


def kernel(
    loop: str,
    before: str = "",
    after: str = "out[threadIdx.x] = acc[0][0];",
    declared: str = "float acc[2][4]",
    side: str = "__device__",
) -> str:
    """A function of n that nothing is known of, a kernel with `side`."""
    return (
        "#define HALF (threadIdx.x / 16)\n__device__ void load(unsigned*, unsigned*);\n"
        f"{side} void k(float* out, int n) {{\n"
        f"    {declared} = {{}};\n    unsigned a[4], b[2];\n    {before}\n    {loop}\n    {after}\n}}\n"
    )


def is_kept(text: str) -> bool:
    out = converted(text)
    assert ("cu2port::mma::keep<" in out) == (".give(" in out) == (".at(" in out or ".of(" in out)
    return "cu2port::mma::keep<" in out


def test_a_loop_of_products_takes_the_array_over() -> None:
    out = converted(kernel("#pragma unroll\n    " + LOOP % product("acc[1]")))
    begin, end = out.index("auto acc_kept = cu2port::mma::keep<"), out.index("acc_kept.give(acc);")
    assert "keep<cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, float>(acc);\n#pragma unroll\n" in out
    assert (
        begin
        < out.index("for (int k")
        < out.index("acc_kept.at(acc, &acc[1][0]));")
        < end
        < out.index("out[threadIdx.x]")
    )


def test_a_wrapper_gets_the_tile_and_calls_outside_of_loops_give_none() -> None:
    text = WRAPPER + kernel(
        LOOP % "mma(acc[0], a, b);\n        mma(acc[1], a, b);", after="mma(acc[0], a, b); out[0] = acc[0][1];"
    )
    out = converted(text)
    assert "const unsigned* b, cu2port::mma::Into<float> tile = {}) {" in out
    assert "{c[0], c[1], c[2], c[3]}, tile);" in out
    assert "mma(acc[0], a, b, acc_kept.at(acc, acc[0]));" in out
    assert "mma(acc[1], a, b, acc_kept.at(acc, acc[1]));" in out
    assert "mma(acc[0], a, b); out[0]" in out.partition("acc_kept.give(acc);")[2]


def test_a_wrapper_by_reference_through_a_pointer_of_its_own() -> None:
    wrapper = "struct FragC { float x[4]; };\n" + WRAPPER.replace("float* c,", "FragC& frag,").replace(
        "{\n", "{\n    float* c = reinterpret_cast<float*>(&frag);\n", 1
    )
    out = converted(wrapper + kernel(LOOP % "mma(acc[1], a, b);", after="", declared="FragC acc[2]"))
    assert "mma(acc[1], a, b, acc_kept.of(acc, acc[1]));" in out


def test_a_type_may_choose_the_product() -> None:
    """A tile is for all of them, and for their words where sums are of several types."""
    other = ASM.replace("C", "c").replace("f16.f16.f32", "bf16.bf16.f32")
    text = WRAPPER.replace("    asm", "    if constexpr (half) asm").replace("\n}\n", f"\n    else {other}\n}}\n")
    text = text.replace("__device__", "template <bool half> __device__") + kernel(LOOP % "mma<true>(acc[0], a, b);")
    out = converted(text)
    kinds = [f"cu2port::mma::Kind<cu2port::mma::Exact, cu2port::mma::{x}, cu2port::mma::{x}>" for x in ("f16", "bf16")]
    assert f"cu2port::mma::keep<cu2port::mma::Either, {kinds[0]}, {kinds[1]}, float>(acc);" in out
    assert "mma<true>(acc[0], a, b, acc_kept.at(acc, acc[0]));" in out
    assert out.count("}, tile);") == 2
    out = converted(text.replace("m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k32.row.col.s32.s8.s8.s32"))
    assert "s8, cu2port::mma::s8>, cu2port::mma::Bits>(acc);" in out
    assert out.count("}, tile);") == 2


@pytest.mark.parametrize("other", ["m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k8.row.col.f32.tf32.tf32.f32"])
def test_products_of_two_kinds_share_a_tile(other: str) -> None:
    second = product("acc[1]").replace("m16n8k16.row.col.f32.f16.f16.f32", other)
    assert is_kept(kernel(LOOP % (product("acc[0]") + second)))


def test_places_that_are_computed() -> None:
    declared, after = "float acc[64]", ""
    for place in ("((float*)(acc + ((i * 16) + (j * 8 + 4))))", "(acc + i * WARP_N / 16 * 8 + 4)"):
        assert is_kept(kernel(LOOP % product(place), declared=declared, after=after))
    for place in ("(acc + i)", "(acc + i * 6)", "(acc - 4)", "(acc + 2)"):
        assert not is_kept(kernel(LOOP % product(place), declared=declared, after=after))


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("i * WIDE * 4 + j * 4 + %d", True),
        ("4 * i + (8 + %d)", True),
        ("%d + i * 4", True),
        ("i * 4 + %d + 4 * j", True),
        ("1 + i * 4 + %d", False),  # begins behind the first of four
        ("i * 6 + %d", False),
        ("i * 4 - %d", False),
        ("%d * 4 * i", False),
        ("i * 4 + %d + threadIdx.x * 4", False),  # another tile in each lane
    ],
)
def test_places_that_are_computed_with_the_element(place: str, kept: bool) -> None:
    text = re.sub(r"acc\[(\d)\]", lambda m: f"acc[{place % int(m[1])}]", product("acc"))
    assert is_kept(kernel(LOOP % text, declared="float acc[64]", after="")) == kept


@pytest.mark.parametrize(
    "loop",
    [
        LOOP % (product("acc[0]") + " out[k] = acc[0][0];"),  # read
        LOOP % (product("acc[0]") + " acc[1][2] *= 2;"),  # written
        LOOP % (product("acc[0]") + " use(acc);"),
        LOOP % (product("acc[0]") + " auto f = [&] { return acc[0][0]; };"),
        LOOP % (product("acc[0]") + " goto out; out:;"),
        LOOP % product("acc[0]").replace('"+f"(acc[0][3])', '"+f"(acc[1][3])'),  # not in a row
        LOOP
        % product("acc[0]")
        .replace('"+f"(acc[0][3])', '"+f"(acc[0][2])')
        .replace('"+f"(acc[0][2])', '"+f"(acc[0][3])', 1),
        "do { " + product("acc[0]") + " } while (--n);",
        "if (n) { " + product("acc[0]") + " }",  # no loop
        LOOP % product("acc[threadIdx.x & 1]"),  # another tile in each lane
        "const int j = threadIdx.x / 4 % 2; " + LOOP % product("acc[j]"),
        "int j = 0; if (threadIdx.x < 7) j = 1; " + LOOP % product("acc[j]"),
        LOOP % product("acc[HALF]"),
        "for (int k = 0; k < n; ++k) { float acc[2][4] = {}; " + product("acc[0]") + " }",
        LOOP % ("auto f = [&] { " + product("acc[0]") + " }; f();"),
    ],
)
def test_what_anything_else_touches_in_the_loop_is_not_kept(loop: str) -> None:
    assert not is_kept(kernel(loop))


@pytest.mark.parametrize(
    "before",
    [
        "float* p = acc[0];",
        "auto& r = acc;",
        "View v(acc);",
        "p = &acc[0][0];",
        "auto f = [&] { acc[0][0] = 0; }; run(f);",
        "auto f = [=] { return acc[0][0]; };",
        "auto f = [&]() -> float& { return acc[0][0]; }; float& r = f();",
        "auto f = [&] { p = &acc[0][0]; }; f();",
        "std::function<void()> f = [&] { acc[0][0] = 0; };",
        "float* p = &acc[0][0];",
    ],
)
def test_an_address_that_a_variable_may_hold_is_not_kept(before: str) -> None:
    assert not is_kept(kernel(LOOP % product("acc[0]"), before=before))


@pytest.mark.parametrize(
    ("use", "kept"),
    [
        ("p[1] = 2;", True),
        ("for (int i = 0; i < 8; ++i) p[i] = i;", True),
        ("q = p;", False),
        ("q = &p[1];", False),
        ("use(p);", False),
        ("p += 4; q = *p;", False),
        ("auto g = [=] { return p[0]; }; run(g);", False),
    ],
)
def test_a_pointer_that_is_gone_before_the_loop_does_not_matter(use: str, kept: bool) -> None:
    pointer = f"float* p = reinterpret_cast<float*>(&acc); {use}"
    assert is_kept(kernel(LOOP % product("acc[0]"), before=f"{{ {pointer} }}")) == kept
    assert is_kept(kernel(LOOP % product("acc[0]"), before=f"auto clear = [&] {{ {pointer} }}; clear();")) == kept
    assert not is_kept(kernel(LOOP % product("acc[0]"), before=pointer))
    for other in ("static float* p = acc[0];", "float* p = q = acc[0];", "float** p = &q; *p = acc[0];"):
        assert not is_kept(kernel(LOOP % product("acc[0]"), before=f"{{ {other} {use} }}"))


@pytest.mark.parametrize(
    "before",
    ["clear(acc);", "acc[0][0] = 1;", "float x = acc[0][0];", "for (int i = 0; i < 8; ++i) acc[i / 4][i % 4] = 0;"],
)
def test_elements_and_calls_before_the_loop_do_not_matter(before: str) -> None:
    assert is_kept(kernel(LOOP % product("acc[0]"), before=before))


def test_local_functions_that_the_loop_calls_are_inlined() -> None:
    before = "auto f = [&] { g(1); }; auto g = [&](int i) mutable { out[i] = 1; }; auto h = [&](int i) { out[i] = 2; };"
    before += " auto j = [&](int i) -> int { return i; };"
    out = converted(kernel(LOOP % (product("acc[0]") + " f(); j(2);"), before=before, after="h(1);"))
    assert "auto f = [&]() CU2PORT_MMA_INLINE { g(1); }" in out
    assert "auto g = [&](int i) CU2PORT_MMA_INLINE mutable {" in out
    assert "auto j = [&](int i) CU2PORT_MMA_INLINE -> int {" in out
    assert "auto h = [&](int i) { out" in out


@pytest.mark.parametrize(
    "declared", ["__shared__ float acc[2][4]", "static float acc[2][4]", "float acc[2][3]", "float (&acc)[2][4]"]
)
def test_arrays_that_are_no_locals_of_whole_tiles_are_not_kept(declared: str) -> None:
    assert not is_kept(kernel(LOOP % product("acc[0]"), declared=declared))


def test_a_loop_around_that_reads_leaves_the_inner_one() -> None:
    out = converted(
        kernel("for (int i = 0; i < n; ++i) {\n    " + LOOP % product("acc[0]") + "\n    out[i] = acc[0][0];\n    }")
    )
    assert (
        out.index("for (int i")
        < out.index("acc_kept = ")
        < out.index("for (int k")
        < out.index(".give(")
        < out.index("out[i]")
    )


@pytest.mark.parametrize(
    "change",
    [
        (
            "__device__ inline void mma(",
            "__device__ void mma(float*);\n__device__ inline void mma(",
        ),  # another of that name
        ("\n}\n", "\n    c[0] += 1;\n}\n"),
        ("\n}\n", "\n    use(c);\n}\n"),
        ("float* c,", "float* c, int first,"),
    ],
)
def test_wrappers_that_do_more_are_none(change: tuple[str, str]) -> None:
    text = WRAPPER.replace(*change, 1) + kernel(LOOP % "mma(acc[0], a, b);")
    assert not is_kept(text)


@pytest.mark.parametrize("opcode", ["m16n8k16.row.col.f32.f16.f16.f32.satfinite", "m8n8k4.row.col.f64.f64.f64.f64"])
def test_forms_without_tiles_are_as_ever(opcode: str) -> None:
    assert not is_kept(kernel(LOOP % product("acc[0]").replace("m16n8k16.row.col.f32.f16.f16.f32", opcode)))


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700", True),
        ("#if 0", True),
        ("#ifdef SLOW", False),
    ],
)
@pytest.mark.parametrize("other", [product("acc[0]").replace("k16", "k8"), "acc[0][1] += acc[0][0];"])
def test_what_the_compiler_does_not_read_does_not_matter(condition: str, kept: bool, other: str) -> None:
    body = f"\n{condition}\n        {other}\n#else\n        {product('acc[1]')}\n#endif\n        "
    assert is_kept(kernel(LOOP % body)) == kept


def test_an_argument_that_changes_something_is_not_written_twice() -> None:
    for arg in ("acc[i++]", "acc[next()]", "acc[i = 1]"):
        assert not is_kept(WRAPPER + kernel(LOOP % f"mma({arg}, a, b);"))


def test_one_warp_on_a_wavefront_keeps_nothing() -> None:
    text = kernel(LOOP % product("acc[0]"))
    assert "mma::keep<" not in translate(text, Options(warp="solo"), path="a.cu").output.decode()


def two_arrays(text: str, before: str = "") -> str:
    declared = "float acc[2][4]; float bcc[2][4]"
    return converted(kernel(text, before, declared=declared, side="__global__").replace("] = {};", "];"))


@pytest.mark.parametrize("other", ["", "if (threadIdx.x < 32) "])
def test_two_arrays_in_one_loop_are_in_tiles_inside_of_each_other(other: str) -> None:
    out = two_arrays(LOOP % (product("acc[0]") + other + product("bcc[0]")))
    begins = [out.index(x) for x in ("in_tiles<", "(acc, ", "(bcc" + (");" if other else ", "))]
    assert begins == sorted(begins)
    assert out.count("\n    });") == 2 - bool(other)
    assert not other or out.index("bcc_kept.give(bcc);\n    }\n    });") > begins[2]
    for opener, closer in ("()", "{}"):
        assert out.count(opener) == out.count(closer)


def test_parts_of_two_arrays_do_not_cross() -> None:
    both = LOOP % (product("acc[0]") + product("bcc[0]"))
    out = two_arrays(LOOP % product("acc[0]") + "\n    " + both + "\n    " + LOOP % product("bcc[0]"))
    assert out.count("(acc, [&]") == 1
    assert out.count("(bcc, [&]") == 2
    out = two_arrays(both + "\n    " + LOOP % product("bcc[0]"))
    assert out.index("(bcc, [&]") < out.index("(acc, [&]")  # which ends first


def test_a_lambda_gets_the_tiles_of_two_arrays() -> None:
    multiply = "auto multiply = [&]() { " + product("acc[0]") + product("bcc[0]") + " };"
    out = two_arrays(LOOP % "multiply();", multiply)
    assert "[&](auto& acc_kept, auto& bcc_kept) CU2PORT_MMA_INLINE {" in out
    assert "multiply(acc_kept, bcc_kept);" in out


def test_the_report_says_so() -> None:
    found = translate(kernel(LOOP % product("acc[0]")), Options(), path="a.cu").findings
    assert any(
        "its sums stay in the matrix instruction's layout in the loop around" in j.finding.message for j in found
    )
    found = translate(kernel(product("acc[0]")), Options(), path="a.cu").findings
    assert not any("stay in the matrix instruction's layout" in j.finding.message for j in found)


def test_the_output_is_left_alone() -> None:
    out = converted(kernel(LOOP % product("acc[0]")))
    assert converted(out) == out


# --- Lambdas ----------------------------------------------------------------------------------------------------------


def test_a_lambda_with_products_gets_the_tiles() -> None:
    out = converted(kernel(LOOP % "multiply(k);", before=MULTIPLY, side="__global__"))
    assert "auto multiply = [&](int j, auto& acc_kept) CU2PORT_MMA_INLINE {" in out
    assert "acc_kept.at(acc, &acc[i][0]));" in out.partition("in_tiles<")[0]
    assert "multiply(k, acc_kept);" in out.partition("in_tiles<")[2].partition("});")[0]
    assert converted(out) == out
    out = converted(kernel(LOOP % "multiply();", before=MULTIPLY.replace("int j", "")))
    assert "[&](auto& acc_kept) CU2PORT_MMA_INLINE {" in out
    assert "multiply(acc_kept);" in out


def test_a_lambda_that_calls_a_wrapper_does_too() -> None:
    out = converted(WRAPPER + kernel(LOOP % "both(k);", before="auto both = [&](int j) { mma(acc[0], a, b); };"))
    assert "mma(acc[0], a, b, acc_kept.at(acc, acc[0])); };" in out


def test_lambdas_that_call_it_do_too() -> None:
    twice = "auto twice = [&](int k) { multiply(k); multiply(k + 1); }; auto step = [&]() { twice(2); };"
    out = converted(kernel(LOOP % "step();", before=MULTIPLY + twice, side="__global__"))
    assert "auto twice = [&](int k, auto& acc_kept) CU2PORT_MMA_INLINE" in out
    assert "{ multiply(k, acc_kept); multiply(k + 1, acc_kept); };" in out
    assert "auto step = [&](auto& acc_kept) CU2PORT_MMA_INLINE { twice(2, acc_kept); };" in out
    assert "step(acc_kept);" in out.partition("in_tiles<")[2].partition("});")[0]
    assert converted(out) == out


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("float4 v = *reinterpret_cast<float4*>(&acc[0][0]); out[0] = v.x;", True),
        ("float4 v = *(const float4*)&acc[0]; out[0] = v.x;", True),
        ("float2 v = *(float2*)(&acc[0][2]); out[0] = v.x;", True),
        ("auto& v = *reinterpret_cast<float4*>(&acc[0][0]); use(v);", False),
        ("auto v = reinterpret_cast<float4*>(&acc[0][0]); use(v);", False),
        ("auto v = *reinterpret_cast<float (*)[4]>(&acc[0][0]); use(v);", False),  # an array's address again
        ("auto v = *reinterpret_cast<Row*>(&acc[0][0]); use(v);", False),
        ("auto v = &*reinterpret_cast<float4*>(&acc[0][0]); use(v);", False),
    ],
)
def test_what_is_read_by_another_type_holds_no_address(store: str, expected: bool) -> None:
    """In a loop around it may be read before the next products."""
    again = "for (int i = 0; i < n; ++i) { " + LOOP % ONE + " " + store + " }"
    assert is_kept(kernel(again, after="")) == expected


def test_a_loop_in_a_lambda_is_one() -> None:
    out = converted(kernel("all();", before="auto all = [&] { " + LOOP % ONE + " };", side="__global__"))
    assert "auto all = [&] { cu2port::mma::in_tiles<" in out
    assert "all();" in out


@pytest.mark.parametrize(
    "before",
    [
        "auto clear = [&] { for (int i = 0; i < 8; ++i) ((float*)&acc)[i] = 0; }; clear(); " + MULTIPLY,
        "auto clear = [&] { acc[0][0] = 0; }; auto start = [&] { clear(); }; start(); " + MULTIPLY,
        MULTIPLY + " auto store = [&](int i) { out[i] = reinterpret_cast<float4*>(&acc)[i].x; };",
    ],
)
def test_lambdas_that_the_loop_does_not_call_do_not_matter(before: str) -> None:
    assert is_kept(kernel(LOOP % "multiply(k);", before=before, after="store(1);"))


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        (MULTIPLY + " auto clear = [&] { acc[0][0] = 0; };", "clear(); multiply(k);"),
        (MULTIPLY + " auto clear = [&] { acc[0][0] = 0; }; auto again = [&] { clear(); };", "again(); multiply(k);"),
        (MULTIPLY + " multiply(7);", "multiply(k);"),  # no tiles there
        (MULTIPLY + " auto twice = [&](int k) { multiply(k); }; twice(7);", "twice(k);"),  # no tiles there either
        (MULTIPLY + " auto twice = [&](auto... k) { multiply(k...); };", "twice(k);"),
        (MULTIPLY + " auto twice = [=](int k) { multiply(k); };", "twice(k);"),
        (MULTIPLY + " use(multiply);", "multiply(k);"),
        (MULTIPLY.replace("[&]", "[=]"), "multiply(k);"),
        (MULTIPLY.replace("[&]", "[&, n]"), "multiply(k);"),
        (MULTIPLY.replace("int j", "int j = 0"), "multiply(k);"),
        (MULTIPLY.replace("int j", "auto... j"), "multiply(k);"),
        (MULTIPLY.replace("auto multiply", "std::function<void(int)> multiply"), "multiply(k);"),
        (MULTIPLY.replace("for (", "out[j] = acc[0][0]; for ("), "multiply(k);"),
        (MULTIPLY.replace("{ for (", "{ auto& r = acc; for ("), "multiply(k);"),
        (MULTIPLY, "MULTIPLY_4(k)"),
        (MULTIPLY, "MULTIPLY_4(k); multiply(k);"),
    ],
)
def test_lambdas_that_do_more_leave_the_array_where_it_is(before: str, loop: str) -> None:
    head = "#define MULTIPLY_4(k) multiply(4 * k)\n" if "_4" in loop else ""
    out = converted(head + kernel(LOOP % loop, before=before, after=""))
    kept = out.partition("keep<")[2].partition(".give(")[0]
    assert "load(a, b);" not in kept  # the products' own loop in the lambda may be one


# --- Lanes that stay together ----------------------------------------------------------------------------------------


def is_whole(loop: str, before: str = "", head: str = "") -> bool:
    out = converted(head + kernel(loop, before, side="__global__"))
    assert ("mma::in_tiles<" in out) != ("mma::keep<" in out)
    return "mma::in_tiles<" in out


def test_a_loop_that_no_lane_leaves_looks_for_lanes_once() -> None:
    out = converted(kernel("#pragma unroll\n    " + LOOP % product("acc[1]"), side="__global__"))
    types = "cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, float"
    lambda_ = "[&](auto& acc_kept) CU2PORT_MMA_INLINE {"
    begin = f"    cu2port::mma::in_tiles<{types}>(acc, {lambda_}\n#pragma unroll\n"
    assert begin in out
    assert out.index(begin) < out.index("acc_kept.at(acc, &acc[1][0]));") < out.index("\n    });\n")
    assert converted(out) == out


LANES = "const int lane = threadIdx.x % 32; "
SOME = "if (threadIdx.x < 32) "


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("", "for (int k = blockIdx.x; k < n; k += gridDim.x) { " + ONE + " }"),
        ("", "for (int k = 0; k < SIZE / K; ++k) { for (int j = 0; j < 2; ++j) { " + ONE + " } }"),
        ("int m = n; if (blockIdx.z * 32 >= n) m -= 1;", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("int m = rounded(n / 32, 4);", "while (m--) { " + ONE + " }"),
        ("constexpr int M = Sizes<T>::rows();", "for (int k = 0; k < M; ++k) { " + ONE + " }"),  # the compiler's
        ("constexpr int M = Sizes<T>::rows; use<M>();", "for (int k = 0; k < M; ++k) { " + ONE + " }"),
        ("int m = min(n, 8);", "for (;;) { " + ONE + " if (--m == 0) break; }"),
        (LANES, "for (int k = 0; k < n; ++k) { if (lane < n) out[lane] = k; " + ONE + " }"),
        (
            LANES,
            "for (int k = 0; k < n; ++k) { for (int i = lane; i < n; i += 32) { if (out[i]) break; } " + ONE + " }",
        ),
        (SOME + "return;", "for (int k = 0; k < n; ++k) { " + ONE + " }"),  # those that are left are looked for
        (SOME + "{ int k = 3; }", "for (int k = 0; k < n; ++k) { " + ONE + " }"),  # another k
        (  # another k too, and nobody calls it
            "auto f = [&] { for (int k = threadIdx.x; k < 9; ++k) out[k] = k; };",
            "for (int k = 0; k < n; ++k) { " + ONE + " }",
        ),
        ("", "for (int k = 0; k < n; ++k) { if constexpr (std::is_same_v<T, half>) { " + ONE + " } else n = 3; }"),
        ("int m; auto set = [&] { m = n; if (m > 3) return; m *= 2; }; set();", "while (m--) { " + ONE + " }"),
        ("auto f = [&](int i) { if (i < n) return; " + ONE + " };", "for (int k = 0; k < n; ++k) f(k);"),
        (
            "auto f = [&](int k) { " + SOME + "return; out[k] = 0; };",
            "for (int k = 0; k < n; ++k) { f(k); " + ONE + " }",
        ),
        ("", "if (threadIdx.x < 64) { int m = n; for (int k = 0; k < m; ++k) { " + ONE + " } }"),
        (
            "",
            "for (int i = 0; i < out[threadIdx.x]; ++i) { for (int k = 0; k < i; ++k) { "
            + ONE
            + " } out[i] = acc[0][0]; }",
        ),
        ("", "for (int k = 0; k < n; ++k) { switch (k % 2) { case 0: break; default: n -= k; } " + ONE + " }"),
    ],
)
def test_loops_of_which_all_lanes_have_as_many_steps(before: str, loop: str) -> None:
    head = (
        "#define SIZE 64\nconstexpr int K = 16;\n__device__ int rounded(int a, int b) { return (a + b - 1) / b * b; }\n"
    )
    assert is_whole(loop, before, head)


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("", "for (int k = threadIdx.y; k < n; ++k) { " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { " + SOME + "{ " + ONE + " } }"),
        ("", "for (int k = 0; k < n; ++k) { " + SOME + "break; " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { " + SOME + "continue; " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { " + SOME + "return; " + ONE + " }"),
        (SOME + "n = 3;", "for (int k = 0; k < n; ++k) { " + ONE + " }"),
        ("int i = 0; while (i < 9) { if (out[threadIdx.x]) break; ++i; }", "for (; i < 10; ++i) { " + ONE + " }"),
        ("change(n);", "for (int k = 0; k < n; ++k) { " + ONE + " }"),  # by reference, perhaps
        ("change(&n);", "for (int k = 0; k < n; ++k) { " + ONE + " }"),
        ("int& m = n; m = threadIdx.x;", "for (int k = 0; k < n; ++k) { " + ONE + " }"),
        ("auto f = [&] { n = threadIdx.x; };", "for (int k = 0; k < n; ++k) { " + ONE + " }"),
        ("int k = 0; auto f = [&] { { int k = 3; } k = threadIdx.x; };", "for (; k < n; ++k) { " + ONE + " }"),
        ('asm("mov.u32 %0, %tid.x;" : "=r"(n));', "for (int k = 0; k < n; ++k) { " + ONE + " }"),
        ("int m = out[0];", "for (int k = 0; k < m; ++k) { " + ONE + " }"),  # another wavefront may write it
        ("int m = rows();", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("", "for (int k = 0; k < OTHER; ++k) { " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { STOP; " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { STOP_OR_NOT(3); " + ONE + " }"),  # of another file
        ("int m = 4; SET;", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("MINE", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("int m = 4; threadIdx.x < 7 && (m = 3);", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("int m = 4; auto set = [&] { m = threadIdx.x; }; set();", "while (m--) { " + ONE + " }"),
        ("int m = 4; auto set = [&](int& x) { x = threadIdx.x; }; set(m);", "while (m--) { " + ONE + " }"),
        ("int m = 4; auto set = [&](int x) { m = x; }; set(threadIdx.x);", "while (m--) { " + ONE + " }"),
        ("int m = 4; auto set = [&] { m = 3; }; " + SOME + "set();", "while (m--) { " + ONE + " }"),
        ("auto min = [&](int x) { return threadIdx.x; }; int m = min(4);", "while (m--) { " + ONE + " }"),
        ("Own m; auto set = [&] { n = 3; }; m.set();", "while (m.left--) { " + ONE + " }"),
        ("int m = 4; auto set = [&](auto&& x) { x = threadIdx.x; }; set(m);", "while (m--) { " + ONE + " }"),
        ("int m = 4; auto set = [&] { m = 3; }; threadIdx.x < 32 && set();", "while (m--) { " + ONE + " }"),
        ("int m = 4; auto set = [&] { " + SOME + "return; m = 3; }; set();", "while (m--) { " + ONE + " }"),
        ("auto f = [&](int k) { " + SOME + "return; " + ONE + " };", "for (int k = 0; k < n; ++k) f(k);"),
        ("auto f = [&](int k) { " + ONE + " };", "for (int k = 0; k < n; ++k) { " + SOME + "f(k); }"),
        ("auto f = [&](int k) { " + SOME + "{ " + ONE + " } };", "for (int k = 0; k < n; ++k) f(k);"),
        ("auto f = [&](int k) { " + ONE + " };", "for (int k = 0; k < n; ++k) { threadIdx.x < 32 ? f(k) : g(); }"),
        ("int m = 4;\n#if A\nint k = 1;\n#else\nint k = threadIdx.x;\n#endif\n", "for (; k < m; ++k) { " + ONE + " }"),
        (
            "int m = 4;\n#if A\nconstexpr int k = 1;\n#else\nint k = threadIdx.x;\n#endif\n",
            "for (; k < m; ++k) { " + ONE + " }",
        ),
        ("const int m = Sizes<T>::rows();", "for (int k = 0; k < m; ++k) { " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { __shared__ int x; " + ONE + " }"),  # no lambda may have it
        ("", "each(4) { while (n--) { " + ONE + " } }"),
        ("int m = 3;", "if (threadIdx.x < 64) { m = n; } while (m--) { " + ONE + " }"),
        ("", "switch (threadIdx.x) { int m; case 0: m = 3; default: while (m--) { " + ONE + " } }"),
        ("int i = 0;", "while (i < out[threadIdx.x]) { ++i; } for (int k = 0; k < i; ++k) { " + ONE + " }"),
        ("", "for (int k = 0; k < n; ++k) { switch (threadIdx.x) { case 1: " + ONE + " } }"),
    ],
)
def test_loops_of_which_lanes_may_differ_test_each_product(before: str, loop: str) -> None:
    head = "#define STOP if (threadIdx.x < 32) break\n#define SET m = threadIdx.x\n#define MINE int m = threadIdx.x;\n"
    assert not is_whole(loop, before, head + "__device__ int rows() { return threadIdx.x; }\n")


def test_a_wrapper_in_which_lanes_differ_tests_each_product() -> None:
    loop = LOOP % "mma(acc[0], a, b);"
    assert is_whole(loop, head=WRAPPER)
    assert is_whole(loop, head=WRAPPER.replace("asm(", "for (int i = 0; i < 2; ++i) asm("))
    assert not is_whole(loop, head=WRAPPER.replace("asm(", SOME + "asm("))
    assert not is_whole(loop, head=WRAPPER.replace("asm(", SOME + "return; asm("))
