"""Statements that belong together, by the carry flag, a register or a scope: what is converted, what stays, and that
converted functions compute what their statements as one text compute."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from words_on_cpu import executed

from cu2port.core.model import Outcome, Result, Trust
from cu2port.engine.translate import translate
from cu2port.ptx.bind import CARRY
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline

FIRST = 'asm("add.cc.u32 %0, %0, %1;" : "+r"(a[0]) : "r"(b[0]));'
NEXT = 'asm("addc.cc.u32 %0, %0, %1;" : "+r"(a[i]) : "r"(b[i]));'
LAST = 'asm("addc.u32 %0, 0, 0;" : "=r"(c));'


def convert(body: str) -> Result:
    head = "__device__ unsigned f(unsigned* a, unsigned* b, unsigned c, int i, int n)"
    return translate(f"{head} {{\n{body}\nreturn c; }}\n", path="a.cuh")


def inner(result: Result) -> str:
    output = result.output.decode()
    return " ".join(output[output.index("int n) {") + 8 : output.rindex("return c;")].split())


def left(result: Result) -> int:
    """How many statements stay."""
    return sum(j.outcome is Outcome.MANUAL for j in result.findings)


def trust(result: Result) -> set[Trust]:
    return {j.finding.trust for j in result.findings if j.finding.code == "CU401"}


def test_a_carry_is_handed_on_through_a_loop() -> None:
    result = convert(f"{FIRST}\nfor (i = 1; i < n; i++)\n  {NEXT}\n{LAST}")
    assert inner(result) == (
        "bool carry = {}; "
        "a[0] = cu2port::ptx::add_cc<std::uint32_t>(std::uint32_t(a[0]), std::uint32_t(b[0]), carry); "
        "for (i = 1; i < n; i++) "
        "a[i] = cu2port::ptx::addc_cc<std::uint32_t>(std::uint32_t(a[i]), std::uint32_t(b[i]), carry); "
        "c = std::uint32_t(carry);"
    )
    assert trust(result) == {Trust.EXACT}


def test_a_register_and_its_scope() -> None:
    result = convert(
        'asm("{ .reg.pred %top; setp.ne.u32 %top, %0, 0;" :: "r"(c));\n'
        'for (i = 0; i < n; i++) { asm("@%top mov.b32 %0, %1;" : "+r"(a[i]) : "r"(b[i])); }\nasm("}");\n'
        'asm("{");\nasm(".reg.pred %top;");\nasm("setp.eq.u32 %top, %0, 7;" :: "r"(c));\n'
        'asm("selp.u32 %0, %0, 1, %top;" : "+r"(c));\nasm("}");\n'
    )
    assert inner(result) == (
        "bool top = c != 0; for (i = 0; i < n; i++) { if (top) a[i] = std::uint32_t(b[i]); } "
        "bool top_2 = {}; top_2 = c == 7; c = top_2 ? c : 1;"
    )


@pytest.mark.parametrize(
    ("body", "stays"),
    [
        (f"{LAST}", 1),  # from a caller, or from what it called
        (f"if (n) {{ {FIRST} }} {LAST}", 2),
        (f"if (n) {FIRST} {LAST}", 2),
        (f"while (n--) {FIRST} {LAST}", 2),
        (f"{FIRST} g(a); {LAST}", 2),
        (f"{FIRST} a[1] = g(a); {LAST}", 2),
        (f"{FIRST} a[1] = h<4>(a); {LAST}", 2),
        (f"{FIRST} (*p)(a); {LAST}", 2),
        (f"{FIRST} (p)(a); {LAST}", 2),
        (f"{FIRST} (a[1])(a); {LAST}", 2),
        (f"{FIRST} MACRO; {LAST}", 2),
        (f"#define VALUE g(a)\n{FIRST} a[1] = VALUE; {LAST}", 2),
        (f"{FIRST} asm(\"addc.u32 %0, %1, 0;\" : \"=r\"(c) : \"r\"(g(a)));", 2),
        (f"{FIRST} for (i = 0; i < n; i++) {{ {NEXT} g(a); }}", 2),  # from g, except for the first time round
        (f"{FIRST} for (i = g(a); i < n; i++) {{ {NEXT} }}", 2),
        (f"{FIRST} while (n--) if (i) {{ {NEXT} }} else g(a);", 2),
        (f"switch (n) {{ case 0: c = 1; {FIRST} break; case 1: {LAST} }}", 2),
        (f"{FIRST} auto l = [=, &c] {{ {LAST} }};", 2),
        (f"#if A\n{FIRST}\n#endif\n{LAST}", 2),
        (f"#if A\n{FIRST}\n#else\n{LAST}\n#endif\n", 2),
        (f"goto there; {FIRST} there: i = 1; {LAST}", 2),
        # a flag that is set under a guard
        ('asm(".reg .pred p; setp.eq.u32 p, %0, 0; @p add.cc.u32 %0, %0, 1;" : "+r"(c));' + LAST, 2),
    ],
)  # fmt: skip
def test_a_carry_that_may_come_from_elsewhere_stays(body: str, stays: int) -> None:
    result = convert(body)
    assert left(result) == stays, result.output.decode()


def test_statements_beside_a_body_are_left_to_themselves() -> None:
    source = (
        f"__device__ void f(unsigned* a, unsigned* b, int n = ({{ unsigned c; {FIRST} {LAST} 1; }})) {{ {FIRST} }}\n"
    )
    assert left(translate(source, path="a.cuh")) >= 2


def test_an_operator_that_leaves_a_carry_may_be_anywhere() -> None:
    chain = f"__device__ void f(unsigned* a, unsigned* b, unsigned c, int i) {{ {FIRST} c += a[1]; {LAST} }}\n"
    operator = "struct S {{ unsigned a[2]; __device__ void operator+=(unsigned* b) {{ int i = 0; {} }} }};\n"
    assert left(translate(operator.format(FIRST) + chain, path="a.cuh")) == 3
    assert not left(translate(operator.format(FIRST + NEXT.replace("addc.cc", "addc")) + chain, path="a.cuh"))


@pytest.mark.parametrize(
    "body",
    [
        f"{FIRST} if (n) {{ a[1] = b[2] * unsigned(i) + sizeof(n); {LAST} }}",
        f"g(a); {FIRST} for (i = 1; i < n; i++) {{ {NEXT} }} {LAST} g(a);",
        f"while (n--) {{ {FIRST} for (i = 1; i < 4; i++) {NEXT} g(a); }}",
        f"#if A\n{FIRST}\n#pragma unroll\nfor (i = 1; i < n; i++) {NEXT}\n#else\n{FIRST}\n{LAST}\n#endif",
        f"{FIRST} if (n) {{ {FIRST} }} else {{ {NEXT} }} {LAST}",
        f"{FIRST} a[1] += (unsigned)(n) + (const long long)(i); a[2] = *(unsigned *)(b) + *(struct S **)(b); {LAST}",
        f"for (i = 0; i < n; i++) if (i & 1) {{ c = 0; {FIRST} {LAST} }} else c = 1; g(a);",
        'asm("{ .reg.pred p;"); asm("setp.ne.u32 p, %0, 0;" :: "r"(c)); asm("@p add.cc.u32 %0, %0, 1;" : "+r"(a[0]));'
        ' asm("@p addc.u32 %0, %0, 0;" : "+r"(a[1])); asm("}");',
    ],
)
def test_a_carry_that_surely_comes_from_here_is_handed_on(body: str) -> None:
    result = convert(body)
    assert not left(result), result.output.decode()
    assert trust(result) == {Trust.EXACT}


def test_a_predicate_that_changes_says_nothing_of_the_carry() -> None:
    opened = 'asm("{ .reg.pred p;"); asm("setp.ne.u32 p, %0, 0;" :: "r"(c)); asm("@p add.cc.u32 %0, %0, 1;" : "+r"(c));'
    ends = ' asm("@p addc.u32 %0, %0, 0;" : "+r"(a[1])); asm("}");'
    assert not left(convert(opened + ends))
    assert left(convert(f'{opened} asm("setp.eq.u32 p, %0, 0;" :: "r"(n));{ends}')) == 6


@pytest.mark.parametrize(
    "body",
    [
        'asm("{ .reg.pred p;"); asm("setp.ne.u32 p, %0, 0;" :: "r"(c));',  # a scope without an end
        'asm("setp.ne.u32 p, %0, 0;" :: "r"(c)); asm(".reg.pred p;");',  # used before it is declared
        'asm("{ .reg.pred p;"); if (n) { asm("setp.ne.u32 p, %0, 0;" :: "r"(c)); asm("}"); }',
        'if (n) { asm("{ .reg.pred p;"); } asm("setp.ne.u32 p, %0, 0;" :: "r"(c)); asm("}");',
        'asm("{ .reg.pred p;"); asm("}"); asm("setp.ne.u32 p, %0, 0;" :: "r"(c));',  # out of scope
        'asm("{ .reg.pred p;"); asm("wgmma.fence.sync.aligned;"); asm("setp.ne.u32 p, %0, q;" :: "r"(c)); asm("}");',
    ],
)
def test_registers_that_cannot_be_locals_stay(body: str) -> None:
    result = convert(body)
    assert left(result) >= 2, result.output.decode()
    assert "bool p" not in result.output.decode()


def test_a_chain_that_mixes_additions_and_subtractions_is_for_review() -> None:
    result = convert(f'asm("sub.cc.u32 %0, %0, 1;" : "+r"(c));\n{LAST}')
    assert not left(result) and Trust.REVIEW in trust(result)
    result = convert(f'asm("sub.cc.u32 %0, %0, 1;" : "+r"(c));\n{FIRST}\n{LAST}')
    assert not left(result) and trust(result) == {Trust.EXACT}


def test_a_statement_after_a_directive_is_no_label() -> None:
    result = convert('asm("{ .reg.pred p;");\n#if A\nasm("setp.ne.u32 p, %0, 0;" :: "r"(c));\n#endif\nasm("}");')
    assert "asm" not in result.output.decode() and not left(result)


# --- executed ---------------------------------------------------------------------------------------------------------

_WORDS = 6
_VECTORS = 12
_EDGES = (0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFE)
_ROWS = ("add.cc", "addc.cc", "addc", "sub.cc", "subc.cc", "subc", "mad.lo.cc", "madc.lo.cc", "madc.hi.cc", "madc.hi")


@dataclass(frozen=True)
class Asm:
    """A statement on words of an array: `%N` of the text is `v[places[N]]`, the first of them is written."""

    text: str
    places: tuple[int, ...] = ()
    written: bool = True

    def source(self) -> str:
        names = [f'"{"+" if self.written and k == 0 else ""}r"(v[{p}])' for k, p in enumerate(self.places)]
        if not names:
            return f'asm("{self.text}");'
        colon = " : " if self.written else " :: "
        return f'asm("{self.text}"{colon}{names[0]}{" : " + ", ".join(names[1:]) if names[1:] else ""});'

    def trace(self, v: Sequence[int]) -> Iterator[str]:
        text = self.text
        for k, p in enumerate(self.places):
            text = text.replace(f"%{k}", f"%[v{p}]")
        yield text


@dataclass(frozen=True)
class Branch:
    """`if` on a bit of the last word, which no statement writes."""

    bit: int
    body: tuple[Node, ...]
    other: tuple[Node, ...]

    def source(self) -> str:
        other = f" else {{ {sources(self.other)} }}" if self.other else ""
        return f"if (v[{_WORDS}] >> {self.bit} & 1) {{ {sources(self.body)} }}{other}"

    def trace(self, v: Sequence[int]) -> Iterator[str]:
        for node in self.body if v[_WORDS] >> self.bit & 1 else self.other:
            yield from node.trace(v)


@dataclass(frozen=True)
class Loop:
    """A loop that goes round as often as two bits of the last word say."""

    bit: int
    body: tuple[Node, ...]

    def source(self) -> str:
        return f"for (int i = 0; i < int(v[{_WORDS}] >> {self.bit} & 3); i++) {{ {sources(self.body)} }}"

    def trace(self, v: Sequence[int]) -> Iterator[str]:
        for _ in range(v[_WORDS] >> self.bit & 3):
            for node in self.body:
                yield from node.trace(v)


Node = Asm | Branch | Loop


def sources(nodes: Sequence[Node]) -> str:
    return " ".join(node.source() for node in nodes)


def nodes(rng: random.Random, depth: int = 0) -> tuple[Node, ...]:
    out: list[Node] = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.15 and depth < 2:
            out.append(Branch(rng.randrange(30), nodes(rng, depth + 1), nodes(rng, depth + 1) if kind < 0.07 else ()))
        elif kind < 0.3 and depth < 2:
            out.append(Loop(rng.randrange(28), nodes(rng, depth + 1)))
        else:
            row = rng.choice(_ROWS)
            guard = rng.choice(("", "", "", "", "@p ", "@!p "))
            operands = ", ".join(f"%{k}" for k in range(1, 4 if row.startswith("mad") else 3))
            places = tuple(rng.randrange(_WORDS) for _ in range(operands.count("%") + 1))
            out.append(Asm(f"{guard}{row}.u32 %0, {operands};", places))
    if rng.random() < 0.2:
        out.append(Asm("setp.lt.u32 p, %0, %1;", (rng.randrange(_WORDS), rng.randrange(_WORDS)), written=False))
    return tuple(out)


def functions(rng: random.Random, count: int) -> Iterator[tuple[Node, ...]]:
    """Bodies with a predicate that a scope of other statements declares."""
    for _ in range(count):
        first = Asm("add.cc.u32 %0, %0, %1;", (0, 1))
        opened = Asm("{ .reg .pred p; setp.ne.u32 p, %0, 0;", (rng.randrange(_WORDS),), written=False)
        yield (opened, *([first] if rng.random() < 0.7 else []), *nodes(rng), *nodes(rng), Asm("}"))


def expected(body: Sequence[Node], v: Sequence[int], carry: int) -> list[int]:
    """The words after the statements that are reached, as one text, with the flag that a caller left."""
    text = "\n".join(line for node in body for line in node.trace(v))
    places = {f"%[v{k}]": Place(f"v{k}", TYPES["u32"]) for k in range(_WORDS)}
    registers = {f"%[v{k}]": v[k] for k in range(_WORDS)} | {CARRY: carry}
    (after,) = run(parse_inline(text), places, [registers])
    return [*(after[f"%[v{k}]"] for k in range(_WORDS)), v[_WORDS]]


@pytest.mark.slow
def test_converted_functions_compute_what_their_text_computes(tmp_path: Path) -> None:
    """What is converted does not depend on a flag that a caller left, whatever way is taken."""
    rng = random.Random(11)
    chosen: list[tuple[tuple[Node, ...], str]] = []
    for body in functions(rng, 120):
        result = translate(f"__device__ void f{len(chosen)}(unsigned* v) {{\n{sources(body)}\n}}\n", path="a.cuh")
        if not left(result):
            chosen.append((body, result.output.decode()))
    assert 30 < len(chosen) < 100  # some are converted, some take a flag that nobody certainly set
    vectors = [
        [
            [rng.choice(_EDGES) if rng.random() < 0.4 else rng.getrandbits(32) for _ in range(_WORDS)]
            + [rng.getrandbits(32)]
            for _ in range(_VECTORS)
        ]
        for _ in chosen
    ]
    ran = executed([text for _, text in chosen], vectors, tmp_path)
    pairs = ((body, v) for (body, _), given in zip(chosen, vectors, strict=True) for v in given)
    for (body, v), got in zip(pairs, ran, strict=True):
        assert got == expected(body, v, 0) == expected(body, v, 1), (sources(body), v)
