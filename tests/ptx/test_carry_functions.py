"""Carry chains over functions that are one asm statement: what is converted, what stays, and what it computes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from carry_chains import ROWS, Step, expected, project, steps
from click.testing import CliRunner
from words_on_cpu import executed

from cu2port.cli import cli
from cu2port.core.model import Outcome, Result, Trust
from cu2port.engine.translate import translate
from cu2port.facts.carry_definitions import carry_definitions


def function(row: str) -> str:
    """`unsigned addc_cc(unsigned a, unsigned b)` for an instruction; those that multiply add 7."""
    operands = "%1, %2, 7" if row.startswith("mad") else "%1, %2"
    name = row.replace(".", "_")
    return (
        f"__device__ static unsigned {name}(unsigned a, unsigned b)  // {row}\n{{\n    unsigned r;\n"
        f'    asm volatile("{row}.u32 %0, {operands};" : "=r"(r) : "r"(a), "r"(b));\n    return r;\n}}\n'
    )


FUNCTIONS = "".join(map(function, ROWS))
USES = """__device__ unsigned low(unsigned x) { return x & 0xffffu; }
__device__ void f(unsigned* v) {
    v[0] = add_cc(v[0], low(v[2]));
    for (int i = 1; i < 2; i++) v[i] = addc_cc(v[i], low(v[2 + i]));
    unsigned out = (unsigned)addc(0, 0) + 1;
    v[2] = out;
}
"""


def convert(text: str) -> Result:
    return translate(text, path="chain.cuh")


def stays(result: Result) -> int:
    return sum(j.outcome is Outcome.MANUAL for j in result.findings)


def test_such_functions_get_the_flag_and_callers_pass_theirs() -> None:
    result = convert(function("add.cc") + function("addc_cc".replace("_", ".")) + function("addc") + USES)
    output = result.output.decode()
    assert not stays(result), output
    flag = "cu2port_carry_chain"
    assert f"__device__ static unsigned add_cc(unsigned a, unsigned b, bool &{flag})  // add.cc\n" in output
    assert f"r = a + b + std::uint32_t({flag});" in output
    assert output.endswith(
        "__device__ void f(unsigned* v) {\n"
        f"    bool {flag} = {{}};\n"
        f"    v[0] = add_cc(v[0], low(v[2]), {flag});\n"
        f"    for (int i = 1; i < 2; i++) v[i] = addc_cc(v[i], low(v[2 + i]), {flag});\n"
        f"    unsigned out = (unsigned)addc(0, 0, {flag}) + 1;\n"
        "    v[2] = out;\n}\n"
    )
    assert {j.finding.trust for j in result.findings if j.finding.code == "CU401"} == {Trust.EXACT}
    assert translate(result.output, path="chain.cuh").output == result.output


@pytest.mark.parametrize(
    "body",
    [
        "c = addc(c, 0);",  # the caller's flag
        "if (n) { c = add_cc(c, 1); } c = addc(c, 0);",
        "if (n) c = add_cc(c, 1); c = addc(c, 0);",
        "c = n ? add_cc(c, 1) : 0; c = addc(c, 0);",
        "c = n && add_cc(c, 1); c = addc(c, 0);",
        "c = add_cc(c, 1) + addc(c, 0);",  # which is first is open
        "c = addc(add_cc(c, 1), 0);",
        "for (; add_cc(c, 1);) { c = addc(c, 0); }",
        "while (add_cc(c, 1)) c = addc(c, 0);",
        "c = add_cc(c, 1); whole(a); c = addc(c, 0);",  # another chain is between
        "c = add_cc(c, 1); pointer[0](c); c = addc(c, 0);",
        "c = add_cc(c, 1); auto l = [&] { c = addc(c, 0); }; l();",
        "c = add_cc(c, 1); run([&] { c = addc(c, 0); });",
        "auto g = &add_cc; c = add_cc(c, 1); c = addc(c, 0);",
        "c = add_cc(c, 1); c = addc<int>(c, 0);",
        "\n#define MORE(c) c = add_cc(c, 1)\nMORE(c); c = addc(c, 0);",
        "\n#if A\nc = add_cc(c, 1);\n#endif\nc = addc(c, 0);",
    ],
)
def test_a_flag_that_may_come_from_elsewhere_stays(body: str) -> None:
    whole = "__device__ void whole(unsigned* a) { a[0] = add_cc(a[0], 1); a[1] = addc(a[1], 0); }\n"
    result = convert(
        f"{FUNCTIONS}{whole}__device__ unsigned f(unsigned* a, unsigned c, int n) {{\n{body}\nreturn c; }}\n"
    )
    assert stays(result) and "cu2port_carry" not in result.output.decode()


@pytest.mark.parametrize(
    "functions",
    [
        "struct S {\n" + FUNCTIONS + "};\n",  # members
        FUNCTIONS.replace("asm", "if (a) asm"),
        FUNCTIONS.replace("unsigned r;", "unsigned r; more(a);").replace("}\n", "} // more", 1) + "int addc(int);\n",
        FUNCTIONS + "__device__ unsigned addc(int a) { return a; }\n",  # an overload that is none
        FUNCTIONS.replace("unsigned b)", "unsigned b = 1)"),  # a parameter behind this one needs a default too
    ],
)
def test_what_is_no_such_function_stays(functions: str) -> None:
    use = "__device__ void f(unsigned* v) { v[0] = add_cc(v[0], v[2]); v[1] = addc(v[1], v[3]); }\n"
    assert stays(convert(functions + use))


def test_a_member_of_the_same_name_is_another_function() -> None:
    result = convert(
        FUNCTIONS + "__device__ void f(N n, unsigned* v) { n.addc(v[0], 1); v[0] = add_cc(v[0], n->addc(1)); }\n"
    )
    assert not stays(result)
    assert "n.addc(v[0], 1);" in result.output.decode() and "n->addc(1), cu2port_carry_chain)" in result.output.decode()


def test_headers_tell_of_their_functions(tmp_path: Path) -> None:
    """Also a part of a source, which includes nothing by itself, and in a run that takes results from the cache."""
    assert len(carry_definitions(FUNCTIONS)) == len([row for row in ROWS if row != "mul.lo"])
    assert not carry_definitions(FUNCTIONS.replace("return r;", "#if A\nreturn r;\n#endif\n"))
    tree = tmp_path / "tree"
    (tree / "math").mkdir(parents=True)
    (tree / "math" / "chain.cuh").write_text(FUNCTIONS)
    (tree / "part.cu").write_text(USES)
    (tree / "a.cu").write_text('#include "math/chain.cuh"\n#include "part.cu"\n' + USES.replace(" f(", " g("))
    (tree / "own.cu").write_text('#include "math/chain.cuh"\nunsigned low(unsigned);\n' + FUNCTIONS + USES)
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(tmp_path / "out"), "--force"])
        assert done.exit_code == 0, done.output
        for name in ("a.cu", "part.cu"):
            assert "low(v[2]), cu2port_carry_chain);" in (tmp_path / "out" / name).read_text()
        assert "bool &cu2port_carry_chain)" in (tmp_path / "out" / "math" / "chain.cuh").read_text()
        assert "low(v[2]), cu2port_carry_own);" in (tmp_path / "out" / "own.cu").read_text()


def test_carries_of_other_processors_are_no_ptx() -> None:
    """GMP's `longlong.h` is a header of many programs in C, which got a variable for a flag that nothing has."""
    add = '#define ADD(h, l, a, b) \\\n  __asm__ ("{} %1,%3,%3\\n\\t{} %0,%2,%2" : "=r"(h), "=r"(l) : "r"(a), "r"(b))\n'
    for words in (("add", "addc"), ("addcc", "addx"), ("sub", "subc"), ("sub.co", "subc\\t%r0")):
        assert not carry_definitions(add.format(*words))
    for words in (("add.cc.u32", "addc.u32"), ("sub", 'subc" TYPE "'), ("mad", "madc.lo.u64")):
        assert carry_definitions(add.format(*words))


def test_a_user_whose_chain_is_unclear_is_told(tmp_path: Path) -> None:
    use = "__device__ unsigned f(unsigned c) { return addc(c, 0); }\n"
    result = translate(use, path="a.cuh", project=project(("chain.cuh", FUNCTIONS)))
    assert stays(result) == 1
    assert "macros or functions of a header hand on a carry" in result.findings[0].finding.message


def by_functions(step: Step) -> str:
    """The source of a step with functions in place of macros."""
    return re.sub(
        r"([A-Z_]+)\((v\[\d\]), (v\[\d\]), (v\[\d\])\);",
        lambda m: f"{m[2]} = {m[1].lower()}({m[3]}, {m[4]});",
        step.source(),
    )


@pytest.mark.slow
def test_converted_functions_compute_what_their_text_computes(tmp_path: Path) -> None:
    """At random, as `test_carry_macros.py` has it for macros."""
    rng = random.Random(8)
    chosen: list[tuple[Step, ...]] = []
    for _ in range(60):
        body = (Step("ADD_CC(v[0], v[0], v[1]);", "add.cc.u32 %[v0], %[v0], %[v1];"), *steps(rng), *steps(rng))
        text = " ".join(map(by_functions, body))
        if not stays(convert(f"{FUNCTIONS}__device__ void f(unsigned* v) {{ {text} }}\n")):
            chosen.append(body)
    assert len(chosen) > 20
    functions = [
        f"__device__ void f{k}(unsigned* v) {{\n{' '.join(map(by_functions, body))}\n}}\n"
        for k, body in enumerate(chosen)
    ]
    result = convert(FUNCTIONS + "".join(functions))
    assert not stays(result)
    given = [[rng.choice((0, 1, 0xFFFFFFFF, rng.getrandbits(32))) for _ in range(9)] for _ in range(12)]
    ran = iter(executed([result.output.decode()], [given] * len(chosen), tmp_path))
    for body in chosen:
        for v in given:
            assert next(ran) == expected(body, v), (body, v)
