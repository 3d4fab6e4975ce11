"""Carry chains over macros: what is converted, what stays, and what converted functions compute."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from carry_chains import ROWS, Step, expected, project, steps
from click.testing import CliRunner
from words_on_cpu import executed

from cu2port.cli import cli
from cu2port.core.model import Outcome, Result, Trust
from cu2port.engine.translate import translate


def macro(row: str) -> str:
    """`#define ADDC_CC(d, a, b) asm(...)` for an instruction; those that multiply add 7."""
    operands = "%1, %2, 7" if row.startswith("mad") else "%1, %2"
    text = f'asm volatile("{row}.u32 %0, {operands};" : "=r"(d) : "r"(a), "r"(b))'
    return f"#define {row.replace('.', '_').upper()}(d, a, b) {text}\n"


MACROS = "".join(map(macro, ROWS)) + (
    "#define ADD2(r, a, b) { ADD_CC((r)[0], (a)[0], (b)[0]); ADDC((r)[1], (a)[1], (b)[1]); }\n"
    "#define SUB2(r, a, b) do { SUB_CC((r)[0], (a)[0], (b)[0]); SUBC((r)[1], (a)[1], (b)[1]); } while (0)\n"
    "#define NEXT2(r, b) { ADDC_CC((r)[0], (r)[0], (b)[0]); ADDC_CC((r)[1], (r)[1], (b)[1]); }\n"
    "#define LOW(x) ((x) & 0xffffu)\n"
    "#define LOOSE(r, b) ADD_CC((r)[0], (r)[0], (b)[0]); ADDC((r)[1], (r)[1], (b)[1])\n"
)


def convert(functions: str, macros: str = MACROS) -> Result:
    return translate(macros + functions, path="chain.cuh")


def convert_body(body: str) -> Result:
    return convert(
        f"__device__ unsigned f(unsigned* a, unsigned* b, unsigned c, int i, int n) {{\n{body}\nreturn c; }}\n"
    )


def left(result: Result) -> int:
    """How many statements stay."""
    return sum(j.outcome is Outcome.MANUAL for j in result.findings)


def test_each_function_has_a_flag_and_macros_name_it() -> None:
    source = (
        '#define ADD_CC(d, a, b) asm("add.cc.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))\n'
        '#define ADDC(d, a, b) asm("addc.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))\n'
        "__device__ void add(unsigned* r, unsigned* a) {\n    ADD_CC(r[0], r[0], a[0]);\n"
        "    ADDC(r[1], r[1], a[1]);\n}\n"
    )
    result = convert(source, "")
    assert result.output.decode() == (
        '#include "cu2port/ptx.hpp"\n'
        "#define ADD_CC(d, a, b) d = cu2port::ptx::add_cc<std::uint32_t>(std::uint32_t(a), std::uint32_t(b), "
        "cu2port_carry_chain)\n"
        "#define ADDC(d, a, b) d = std::uint32_t(a) + std::uint32_t(b) + std::uint32_t(cu2port_carry_chain)\n"
        "__device__ void add(unsigned* r, unsigned* a) {\n    bool cu2port_carry_chain = {};\n"
        "    ADD_CC(r[0], r[0], a[0]);\n    ADDC(r[1], r[1], a[1]);\n}\n"
    )
    assert {j.finding.trust for j in result.findings if j.finding.code == "CU401"} == {Trust.EXACT}
    assert translate(result.output, path="chain.cuh").output == result.output


ANSWERS = """
__device__ void two(unsigned* v) {  // two sums, by turns, each with a flag that is read before the other sets it
  ADD_CC(v[0], v[0], v[2]); ADDC(v[1], v[1], v[3]);
  ADD_CC(v[4], v[4], v[6]); ADDC(v[5], v[5], v[7]);
}
__device__ void in_a_loop(unsigned* v) {
  ADD_CC(v[0], v[0], v[4]);
  for (int i = 1; i < 4; i++) ADDC_CC(v[i], v[i], v[4 + i]);
  unsigned out; ADDC(out, 0, 0); v[4] = out;
}
__device__ void in_a_lambda(unsigned* v) {
  auto add = [](unsigned* r, const unsigned* a) { ADD_CC(r[0], r[0], a[0]); ADDC(r[1], r[1], a[1]); };
  add(v, v + 2);
  SUB_CC(v[4], v[4], v[6]); SUBC(v[5], v[5], v[7]);
}
__device__ unsigned early(unsigned* v) {
  ADD_CC(v[0], v[0], v[2]);
  if (v[7] & 1) return 0;
  ADDC(v[1], v[1], v[3]);
  return 1;
}
__device__ void by_macros(unsigned* v) {
  if (v[7] & 1) ADD2(v, v, v + 2) else SUB2(v, v, v + 2);
  ADD_CC(v[4], v[4], LOW(v[6])); ADDC(v[5], v[5], 0);
}
__device__ void goes_on(unsigned* v) { ADD_CC(v[0], v[0], v[4]); NEXT2(v + 1, v + 5) ADDC(v[3], v[3], v[7]); }
"""


def whole(v: Sequence[int], first: int, count: int) -> int:
    """Words as one number, the lowest first."""
    return sum(v[first + k] << 32 * k for k in range(count))


def words(number: int, count: int) -> list[int]:
    return [number >> 32 * k & 0xFFFFFFFF for k in range(count)]


def answers(v: list[int]) -> Iterator[list[int]]:
    """What each of the functions above leaves, computed with whole numbers."""
    sums = [*words(whole(v, 0, 2) + whole(v, 2, 2), 2), v[2], v[3]]
    yield [*sums, *words(whole(v, 4, 2) + whole(v, 6, 2), 2), v[6], v[7]]
    yield [*words(whole(v, 0, 4) + whole(v, 4, 4), 5), *v[5:]]
    yield [*sums, *words(whole(v, 4, 2) - whole(v, 6, 2), 2), v[6], v[7]]
    yield [sums[0], v[1] if v[7] & 1 else sums[1], *v[2:]]
    chosen = sums[:2] if v[7] & 1 else words(whole(v, 0, 2) - whole(v, 2, 2), 2)
    yield [*chosen, v[2], v[3], *words(whole(v, 4, 2) + (v[6] & 0xFFFF), 2), v[6], v[7]]
    yield [*words(whole(v, 0, 4) + whole(v, 4, 4), 4), *v[4:]]


def test_known_answers(tmp_path: Path) -> None:
    """Two chains, one in a loop, in a lambda, in a function that returns early, and by macros of macros."""
    result = convert(ANSWERS)
    assert not left(result), result.output.decode()
    assert result.output.decode().count("bool cu2port_carry_chain = {};") == 7
    names = ("two", "in_a_loop", "in_a_lambda", "early", "by_macros", "goes_on")
    calls = "".join(f"void f{k}(unsigned* v) {{ {name}(v); }}\n" for k, name in enumerate(names))
    rng = random.Random(5)
    given = [[rng.choice((0, 1, 0xFFFFFFFF, rng.getrandbits(32))) for _ in range(8)] for _ in range(60)]
    ran = iter(executed([result.output.decode(), calls], [given] * len(names), tmp_path))
    for k, name in enumerate(names):
        for v in given:
            assert next(ran) == list(answers(v))[k], (name, v)


@pytest.mark.parametrize(
    "body",
    [
        "ADDC(c, c, 0);",  # the caller's flag
        "ADD_CC(c, c, 1); g(a); ADDC(c, c, 0);",
        "ADD_CC(c, c, 1); ADDC(c, g(a), 0);",
        "if (n) { ADD_CC(c, c, 1); } ADDC(c, c, 0);",
        "if (n) ADD_CC(c, c, 1); ADDC(c, c, 0);",
        "ADD_CC(c, c, 1); for (i = 0; i < n; i++) { ADDC_CC(a[i], a[i], 0); g(a); }",
        "for (i = 0; i < n; i++) { ADDC_CC(a[i], a[i], 0); ADD_CC(c, c, 1); }",
        "ADD_CC(c, c, 1); goto there; there: ADDC(c, c, 0);",
        "switch (n) { case 1: ADD_CC(c, c, 1); case 2: ADDC(c, c, 0); }",
        "ADD_CC(c, c, 1); [&] { ADDC(c, c, 0); }();",
        "ADD_CC(c, c, 1); auto l = [&] { SUB_CC(c, c, 1); SUBC(c, c, 1); }; l(); ADDC(c, c, 0);",
        "ADD_CC(c, c, 1); [&] { SUB_CC(c, c, 1); SUBC(c, c, 1); }(); ADDC(c, c, 0);",
        "struct S { __device__ static void f(unsigned& c) { ADD_CC(c, c, 1); ADDC(c, c, 0); } };",
        "if (n) LOOSE(a, b);",
        "RUN(ADD_CC(c, c, 1); ADDC(c, c, 0););",
        'ADD_CC(c, c, 1); asm("sub.cc.u32 %0, %0, 1;" : "+r"(c)); ADDC(c, c, 0);',
        "\n#if A\nADD_CC(c, c, 1);\n#endif\nADDC(c, c, 0);",
        "\n#define CHAIN ADD_CC(c, c, 1); ADDC(c, c, 0);\nCHAIN",
        "\n#define MAYBE(x) if (x) { ADD_CC(c, c, 1); }\nMAYBE(n) ADDC(c, c, 0);",
        "\n#define CALLS(x) { ADD_CC(c, c, 1); g(x); ADDC(c, c, 0); }\nCALLS(a)",
        "\n#define LATER(x) auto l = [&] { ADD_CC(c, c, x); }\nLATER(1); ADDC(c, c, 0);",
        "\n#undef ADD_CC\n#define ADD_CC(d, a, b) d = a + b\nADD_CC(c, c, 1); ADDC(c, c, 0);",
    ],
)
def test_a_flag_that_may_come_from_elsewhere_stays(body: str) -> None:
    result = convert_body(body)
    assert left(result), result.output.decode()
    assert "cu2port_carry" not in result.output.decode()


@pytest.mark.parametrize(
    "around",
    [
        "unsigned x = ({ unsigned c; ADD_CC(c, 1, 1); ADDC(c, c, 0); c; });\n",
        "struct S { __device__ void operator+=(unsigned& c) { ADD_CC(c, c, 1); } };\n"
        "__device__ void f(S s, unsigned c) { ADD_CC(c, c, 1); s += c; ADDC(c, c, 0); }\n",
        "int cu2port_carry_chain;\n__device__ void f(unsigned c) { ADD_CC(c, c, 1); ADDC(c, c, 0); }\n",
    ],
)
def test_what_no_function_of_the_file_shows_stays(around: str) -> None:
    result = convert(around)
    assert left(result) and "bool cu2port_carry" not in result.output.decode()


@pytest.mark.parametrize(
    ("body", "mixed"),
    [
        ("SUB_CC(c, c, 1); ADDC(c, c, 0);", True),
        ("\n#define MIX(c) { SUB_CC(c, c, 1); ADDC(c, c, 0); }\nMIX(c)", True),
        ("SUB_CC(c, c, 1); SUBC(c, c, 0); ADD_CC(c, c, 1); ADDC(c, c, 0);", False),
    ],
)
def test_a_chain_that_mixes_additions_and_subtractions_is_for_review(body: str, mixed: bool) -> None:
    result = convert_body(body)
    assert not left(result)
    trusts = {j.finding.trust for j in result.findings if j.finding.code == "CU401"}
    assert (Trust.REVIEW in trusts) == mixed


# --- macros of a header -----------------------------------------------------------------------------------------------

USES = "__device__ void f(unsigned* v) {\n  ADD_CC(v[0], v[0], v[2]);\n  ADDC(v[1], v[1], v[3]);\n}\n"


def test_macros_that_other_files_use_are_converted_and_those_files_have_the_flag(tmp_path: Path) -> None:
    header = translate("".join(map(macro, ROWS)), path="chain.cuh")
    assert not left(header) and "bool cu2port_carry" not in header.output.decode()
    user = translate(USES, path="a.cuh", project=project(("d/chain.cuh", MACROS)))
    assert user.output.decode() == USES.replace("{\n", "{\n  bool cu2port_carry_chain = {};\n", 1)
    assert translate(user.output, path="a.cuh", project=project(("d/chain.cuh", MACROS))).output == user.output
    v = [0xFFFFFFFF, 1, 1, 2]
    call = "void f0(unsigned* v) { f(v); }\n"
    text = [header.output.decode(), user.output.decode(), call]
    assert executed(text, [[v]], tmp_path) == [[0, 4, 1, 2]]


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("__device__ void f(unsigned c) { ADDC(c, c, 0); }\n", True),
        ("__device__ void f(unsigned c) { ADD_CC(c, c, 1); g(); ADDC(c, c, 0); }\n", True),
        ("unsigned c = ADDC;\n", True),
        ("#define MORE(c) { ADD_CC(c, c, 1); ADDC(c, c, 0); }\n__device__ void f(unsigned c) { MORE(c) }\n", False),
        (
            "#define MORE(c) if (c) { ADD_CC(c, c, 1); }\n__device__ void f(unsigned c) { MORE(c) ADDC(c, c, 0); }\n",
            True,
        ),
        (MACROS + USES, False),  # its own macros of these names
    ],
)
def test_what_a_file_makes_of_macros_of_a_header(text: str, stays: bool) -> None:
    result = translate(text, path="a.cu", project=project(("chain.cuh", MACROS)))
    output = result.output.decode()
    assert (left(result) > 0) == stays, output
    assert ("bool cu2port_carry" in output) == (not stays)


def test_macros_of_two_headers_are_not_mixed() -> None:
    both = project(("a.cuh", macro("add.cc")), ("b.cuh", macro("addc")))
    result = translate(USES, path="c.cuh", project=both)
    assert left(result) == 1 and result.output.decode() == USES
    assert "macros or functions of a header hand on a carry" in result.findings[0].finding.message
    both = project(("a.cuh", MACROS), ("b.cuh", macro("addc").replace("ADDC(", "OTHER(")))
    result = translate(USES.replace("ADDC(", "OTHER("), path="c.cuh", project=both)
    assert left(result) == 1 and "macros or functions of a header hand on a carry" in result.findings[0].finding.message
    assert not left(translate(USES, path="c.cuh", project=project(("a.cuh", MACROS), ("b.cuh", macro("sub.cc")))))


def test_macros_with_a_whole_chain_each_need_no_flag() -> None:
    text = 'asm("add.cc.u32 %0, %0, 1; addc.u32 %1, %1, 0;" : "+r"(c), "+r"(d))'
    header = f"#define WHOLE(c, d) {text}\n"
    use = "__device__ void f(unsigned c, unsigned d) { g(); WHOLE(c, d); }\nint i = WHOLE;\n"
    result = translate(use, path="a.cuh", project=project(("chain.cuh", header)))
    assert result.output.decode() == use and not result.findings
    assert "cu2port_carry" not in translate(header + use, path="chain.cuh").output.decode()


def test_a_tree_tells_who_includes_the_macros(tmp_path: Path) -> None:
    """Also by way of another header, and in a run that takes results from the cache."""
    tree = tmp_path / "tree"
    (tree / "math").mkdir(parents=True)
    (tree / "math" / "chain.cuh").write_text(MACROS.replace("(d, a, b) asm", "(d, a, b) \\\n  asm"))
    (tree / "math" / "all.cuh").write_text('#include "chain.cuh"\n')
    (tree / "a.cu").write_text('#include "math/all.cuh"\n' + USES)
    (tree / "alone.cu").write_text(USES)
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(tmp_path / "out"), "--force"])
        assert done.exit_code == 0, done.output
        assert "bool cu2port_carry_chain = {};" in (tmp_path / "out" / "a.cu").read_text()
        assert "cu2port_carry" not in (tmp_path / "out" / "alone.cu").read_text()
        assert "cu2port_carry_chain)" in (tmp_path / "out" / "math" / "chain.cuh").read_text()


# --- at random -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_converted_functions_compute_what_their_text_computes(tmp_path: Path) -> None:
    """What is converted does not depend on a flag that a caller left, whatever way is taken."""
    rng = random.Random(3)
    chosen: list[tuple[Step, ...]] = []
    refused = 0
    for _ in range(60):
        body = (Step("ADD_CC(v[0], v[0], v[1]);", "add.cc.u32 %[v0], %[v0], %[v1];"), *steps(rng), *steps(rng))
        body = body[rng.random() < 0.3 :]
        one = " ".join(s.source() for s in body)
        if left(convert(f"__device__ void f(unsigned* v) {{ {one} }}\n")):
            refused += 1
        else:
            chosen.append(body)
    assert refused > 5 and len(chosen) > 20
    functions = [
        f"__device__ void f{k}(unsigned* v) {{\n{' '.join(s.source() for s in b)}\n}}\n" for k, b in enumerate(chosen)
    ]
    result = convert("".join(functions))
    assert not left(result)
    given = [[rng.choice((0, 1, 0xFFFFFFFF, rng.getrandbits(32))) for _ in range(9)] for _ in range(12)]
    ran = iter(executed([result.output.decode()], [given] * len(chosen), tmp_path))
    for body in chosen:
        for v in given:
            got = next(ran)
            for flag in (0, 1):
                assert got == expected(body, v, flag), (body, v)
