"""A hundred literals of our own: each is judged as its comment says, in the whole file and with names changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.warp.classify import classify
from cu2port.warp.values import chain

TEXT = Path(__file__).with_name("literals.cu").read_text(encoding="utf-8")
MARK = re.compile(r"/\*([LN])\*/(?=\d)")


def _labels(text: str) -> dict[int, bool]:
    return {m.end(): m[1] == "L" for m in MARK.finditer(text)}


def _judged(text: str) -> dict[int, bool]:
    unit = Unit(text, load_catalog(), path="literals.cu")
    return {unit.p[v.at]: v.lanes for v in classify(unit)}


def test_there_are_a_hundred() -> None:
    labels = _labels(TEXT)
    assert len(labels) >= 100
    assert min(sum(labels.values()), sum(not x for x in labels.values())) >= 40


def test_every_literal_is_judged_as_marked() -> None:
    judged = _judged(TEXT)
    lines = TEXT.splitlines()
    wrong = [
        f"{TEXT.count(chr(10), 0, at) + 1}: {lines[TEXT.count(chr(10), 0, at)].strip()}"
        for at, lanes in _labels(TEXT).items()
        if judged.get(at, False) != lanes
    ]
    assert not wrong


@pytest.mark.parametrize("old", ["tid", "nwarps", "padded"])
def test_names_of_variables_with_known_values_do_not_matter(old: str) -> None:
    text = re.sub(rf"\b{old}\b", "q", TEXT)
    judged = _judged(text)
    differ = [text.count("\n", 0, at) + 1 for at, lanes in _labels(text).items() if judged.get(at, False) != lanes]
    assert len(differ) <= 1  # `warp_of(int tid)` is called with a thread index; `>> 5` of an unknown is no warp


def test_a_finding_tells_the_way_from_the_thread_index() -> None:
    text = """__device__ int shifted(int w) { return w << 5; }
__global__ void k(int* x) {
  int t = threadIdx.x;
  int w = t / 32;
  x[0] = shifted(w);
}
"""
    unit = Unit(text, load_catalog(), path="a.cu")
    verdict = next(v for v in classify(unit) if unit.t[v.at] == "5")
    assert verdict.lanes
    steps = [(text.count("\n", 0, unit.p[s.at]) + 1, s.text) for s in chain(verdict.why)]
    assert [line for line, _ in steps] == [3, 3, 4, 4, 5]
    assert "threadIdx.x" in steps[0][1]
    assert "passed to `shifted`" in steps[-1][1]


def test_one_constant_in_two_roles_is_told_apart_use_by_use() -> None:
    text = """constexpr int N = 32;
__global__ void k(unsigned* w, int n) {
  int lane = threadIdx.x % N;
  w[lane] = w[lane] << n | w[lane] >> (N - n);
}
"""
    unit = Unit(text, load_catalog(), path="a.cu")
    judged = {v.at: v.lanes for v in classify(unit)}
    definition, first, second = (i for i in range(len(unit.t)) if unit.t[i] in ("N", "32") and unit.t[i - 1] != "int")
    assert (judged[definition], judged[first], judged[second]) == (True, True, False)


@pytest.mark.parametrize(
    ("body", "lanes"),
    [
        ("int w = 0; if (n) w = threadIdx.x / 64; x[w * 32] = 1;", True),
        ("int w; if (n) { w = threadIdx.x / 64; } else { w = -1; } x[w * 32] = 1;", True),
        ("int w = n; for (int i = 0; i < n; i++) { x[w * 32] = 1; w = threadIdx.x >> 6; }", True),
        ("int w = threadIdx.x / 64; { int w = n; x[w * 32] = 1; }", False),
        ("int w = threadIdx.x / 64; w = n; x[w * 32] = 1;", False),
        ("int w = n ? threadIdx.x / 64 : 0; x[w * 32] = 1;", True),
        ("auto f = [&](int w) { return w; }; x[f(n) * 32] = 1;", False),
        ("switch (n) { case 1: n = threadIdx.x / 64; break; default: n = 0; } x[n * 32] = 1;", True),
    ],
)
def test_values_flow_through_branches_loops_and_scopes(body: str, lanes: bool) -> None:
    unit = Unit(f"__global__ void k(int* x, int n) {{ {body} }}", load_catalog(), path="a.cu")
    judged = {v.at: v.lanes for v in classify(unit)}
    assert judged.get(unit.t.index("32"), False) == lanes


def test_a_name_of_the_warp_size_may_count_bits() -> None:
    text = """#define WARP_SIZE 32
__global__ void k(unsigned* w, int n) { w[threadIdx.x / WARP_SIZE] = w[0] << n | w[0] >> (WARP_SIZE - n); }
"""
    unit = Unit(text, load_catalog(), path="a.cu")
    judged = {v.at: v.lanes for v in classify(unit)}
    assert [judged[i] for i in unit.find("WARP_SIZE")[1:]] == [True, False]


@pytest.mark.parametrize(
    ("statement", "lanes"),
    [
        ("x[0] = limit(v, 32);", True),
        ("x[0] = bytes_of(v, 32);", False),
        ("const int row_length = limit(v, 32);", False),
        ("x[32] = v;", False),
    ],
)
def test_company_judges_a_number_that_says_nothing_and_tells_why(statement: str, lanes: bool) -> None:
    text = f"""__global__ void k(int* x, int v) {{
  int l = threadIdx.x % 32, w = threadIdx.x / 32;
  x[w] = __shfl_sync(0xffffffff, v, l);
  {statement}
}}
"""
    unit = Unit(text, load_catalog(), path="a.cu")
    last = unit.find("32")[-1]
    found = {v.at: v for v in classify(unit)}
    assert (last in found and found[last].lanes) == lanes
    if lanes:
        assert [s.text for s in chain(found[last].why)] == [
            "most other numbers of this value in the function count lanes",
            "all of them do",
            "the function has cross-lane operations",
        ]


def test_without_cross_lane_operations_or_a_crowd_a_number_is_plain() -> None:
    text = "__global__ void k(int* x, int n) { int lane = threadIdx.x % 32; x[lane] = limit(n, 32); }"
    unit = Unit(text, load_catalog(), path="a.cu")
    assert [v.lanes for v in classify(unit)] == [True]


@pytest.mark.parametrize("head", ["int N, int kWarpSize = 32", "int kWarpSize = 32, int N = 1"])
def test_a_default_is_known_wherever_it_stands_among_parameters(head: str) -> None:
    text = f"template <{head}> __device__ int f(int v) {{ return g<kWarpSize>(v); }}\n"
    assert all(_judged(text)[m.start()] for m in re.finditer("kWarpSize|32", text))
    assert not any(_judged(text.replace("32", "16")).values())
