"""Products in functions with each accumulator as a parameter of its own: `mma(float& d0, float& d1, ...)`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mma_programs import STEPS, STEPS_MAIN, converted, whole, with_and_without_tiles

from cu2port.cli import cli

FOUR, TWO = range(4), range(2)
TEXT = 'asm("mma.sync.aligned.m16n8k16.row.col.{0}.f16.f16.{0} {{{1}}}, {{{2}}}, {{{3}}}, {{{4}}};" : {5} : {6});'
AT = "acc_kept.at(acc, &acc[1][0])"


def asm(d: list[str], c: list[str], type_: str = "f32") -> str:
    """With D and C in these expressions, A and B in arrays."""
    letter = "f" if type_ == "f32" else "r"
    groups, at = [], 0
    for count in (len(d), 4, 2, len(c)):
        groups.append(", ".join(f"%{at + i}" for i in range(count)))
        at += count
    ins = [*(f'"r"(a[{i}])' for i in FOUR), *(f'"r"(b[{i}])' for i in TWO), *(f'"{letter}"({x})' for x in c)]
    return TEXT.format(type_, *groups, ", ".join(f'"={letter}"({x})' for x in d), ", ".join(ins))


def function(params: str, body: str, name: str = "mma") -> str:
    return f"__device__ inline void {name}({params}, const unsigned* a, const unsigned* b) {{\n    {body}\n}}\n"


def each(text: str, count: int = 4) -> str:
    return ", ".join(text.replace("#", str(i)) for i in range(count))


# as CUTLASS and CuTe have it: by reference, C apart
BY_REFERENCE = function(
    each("float& d#") + ", " + each("float const& c#"), asm([f"d{i}" for i in FOUR], [f"c{i}" for i in FOUR])
)
# as ffpa-attn has it: by pointers, in place or from zero, and a function that chooses
BY_POINTER = (
    "template <bool Begin> "
    + function(
        each("float* d#"),
        "if constexpr (Begin) {\n        "
        + asm([f"d{i}[0]" for i in FOUR], ["0.f"] * 4)
        + "\n    } else {\n        "
        + asm([f"*d{i}" for i in FOUR], [f"*d{i}" for i in FOUR])
        + "\n    }",
        "inner",
    )
    + "template <bool Begin> "
    + function(each("float* e#"), f"inner<Begin>({each('e#')}, a, b);", "outer")
)
OF_F16 = function(each("unsigned* d#", 2), asm(["d0[0]", "d1[0]"], ["d0[0]", "d1[0]"], "f16"))


def kernel(step: str, type_: str = "float") -> str:
    return f"""__device__ void load(unsigned* a, unsigned* b, int k);
__global__ void k({type_}* out, int n) {{
    {type_} acc[4][4], e[4];
    unsigned a[4], b[2];
    for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] = 1;
    for (int k = 0; k < n; ++k) {{
        load(a, b, k);
        {step}
    }}
    for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = acc[i / 4][i % 4];
}}
"""


IN_PLACE = f"mma({each('acc[1][#]')}, {each('acc[1][#]')}, a, b);"
CHAIN = f"mma({each('acc[1][#]')}, {each('e[#]')}, a, b); {IN_PLACE}"
POINTERS = f"outer<false>({each('&acc[1][#]')}, a, b);"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BY_REFERENCE + kernel(IN_PLACE), [f"{AT}.in_place());", "{c0, c1, c2, c3}, tile.from_c());"]),
        (BY_REFERENCE + kernel(CHAIN), [f"a, b, {AT});"]),
        (BY_POINTER + kernel(POINTERS), [f"{AT});", "a, b, tile.at(e0, e0));", "tile.from_zero());"]),
        (OF_F16 + kernel(f"mma({each('&acc[1][#]', 2)}, a, b);", "unsigned"), ["mma::Pairs>(acc", f"{AT});"]),
        (OF_F16 + kernel("mma(&acc[1][2], &acc[1][3], a, b);", "unsigned"), ["acc_kept.at(acc, &acc[1][2]));"]),
    ],
)
def test_the_first_accumulator_says_which_tile(text: str, expected: list[str]) -> None:
    out = converted(text)
    for x in expected:
        assert x in out
    assert converted(out) == out


@pytest.mark.parametrize(
    "text",
    [
        BY_REFERENCE + kernel(IN_PLACE.replace("acc[1][3]", "acc[2][3]", 1)),  # not in a row
        BY_REFERENCE + kernel(IN_PLACE.replace("acc[1][3], a", "acc[2][3], a", 1)),
        BY_REFERENCE + kernel(f"mma({each('acc[1][3 - #]')}, {each('acc[1][3 - #]')}, a, b);"),
        BY_REFERENCE + kernel(f"mma({each('acc[1][#]')}, {each('e[#]')}, a, b);"),
        BY_REFERENCE.replace("\n}", " c0 > d0 ? a++ : a--;\n}") + kernel(IN_PLACE),
        BY_REFERENCE.replace("float& d3", "float d3") + kernel(IN_PLACE),
        BY_POINTER + kernel(POINTERS.replace("&acc[1][0]", "&acc[1][0] + 1")),
        BY_POINTER.replace("inner<Begin>(e0, e1", "inner<Begin>(e1, e0") + kernel(POINTERS.replace("[1][#]", "[0][#]")),
        BY_POINTER + kernel(POINTERS).replace("acc[4][4], e[4]", "acc[4][6], e[4]"),
        OF_F16 + kernel("mma(&acc[1][1], &acc[1][2], a, b);", "unsigned"),
        function(each("float& d#"), asm(["d0", "d1", "d2", "d3"], ["d1", "d0", "d2", "d3"]))
        + kernel(f"mma({each('acc[1][#]')}, a, b);"),
    ],
)
def test_what_is_no_tile_is_not_kept(text: str) -> None:
    assert "_kept" not in converted(text)


def test_a_header_may_have_the_function(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    (tree / "mma.cuh").write_text(BY_POINTER)
    (tree / "a.cu").write_text('#include "mma.cuh"\n' + kernel(POINTERS))
    done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "acc_kept.at(acc, &acc[1][0]));" in (out / "a.cu").read_text()
    assert (out / "mma.cuh").read_text().count("Into<float> tile = {}") == 2


STEP = f"""mma({each("acc[0][#]")}, {each("acc[0][#]")}, a, b);
        for (int j = 1; j < 3; ++j) {{
            mma({each("acc[j][#]")}, {each("e[#]")}, a, b);
            mma({each("acc[j][#]")}, {each("acc[j][#]")}, a, b);
        }}
        outer<false>({each("&acc[3][#]")}, a, b);
        outer<true>({each("&acc[4][#]")}, a, b);
        outer<false>({each("&acc[4][#]")}, a, b);"""


def program(kept: bool, modes: int = 2) -> str:
    made = STEPS.replace("STEP", STEP)
    if not kept:
        made = made.replace("], e[4];", "], e[4];\n    float* all = acc[0];")
    return whole(converted(BY_REFERENCE + BY_POINTER + made), STEPS_MAIN.replace("MODES", str(modes)), kept)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    """With both warps and with one, with Inf and NaN in one of two."""
    answers = with_and_without_tiles(program, b"", wave, tmp_path)
    assert answers[0] == answers[1]
    assert len({answers[0][i : i + 4] for i in range(0, len(answers[0]), 4)}) > 200
