"""Constants of C++: clang is the witness, by the type and the value that it gives to the same expression."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.clang import ClangService, Question
from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.constants import WIDTHS, Constant
from cu2port.syntax.folding import constant
from cu2port.syntax.statements import read_expression

LITERALS = (
    "0 1 2 3 7 31 32 33 63 64 65 127 128 255 256 32767 32768 65535 65536 2147483647 2147483648 4294967295 4294967296 "
    "9223372036854775807 0x1f 0x7fffffff 0x80000000 0xFFFFFFFF 0x100000000 0x7fffffffffffffff 0x8000000000000000 "
    "0xffffffffffffffff 017 0377 0b101 1'000'000 1u 32u 31U 5l 5L 7ul 7uL 7lu 9ll 9LL 9ull 9LLU "
    "0xFFFFFFFFu 0x80000000l 'a' '0' '\\n' '\\0' '\\x7f' '\\xff' '\\377' '\\'' true false 18446744073709551615ull"
).split()
UNARY = ("+", "-", "~", "!")
BINARY = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||")


@dataclass(frozen=True)
class Made:
    text: str
    value: Constant | None


def expression(rng: random.Random, depth: int) -> Made:
    """A random expression, all of whose parts are evaluated when it is."""
    kind = rng.choices(("literal", "unary", "binary", "cast", "choice"), (1, 2, 6, 2, 1))[0] if depth else "literal"
    if kind == "literal":
        text = rng.choice(LITERALS) if rng.random() < 0.8 else str(rng.randrange(70))
        return Made(text, constants.literal(text))
    a = expression(rng, depth - 1)
    if kind == "unary":
        op = rng.choice(UNARY)
        return Made(f"({op} {a.text})", constants.unary(op, a.value) if a.value else None)
    if kind == "cast":
        to = rng.choice(list(WIDTHS))
        return Made(f"static_cast<{to}>({a.text})", constants.convert(a.value, to) if a.value else None)
    b = expression(rng, depth - 1)
    if kind == "binary":
        op = rng.choice(BINARY)
        value = constants.binary(op, a.value, b.value) if a.value and b.value else None
        return Made(f"({a.text} {op} {b.text})", value)
    c = expression(rng, depth - 1)
    if a.value is None or b.value is None or c.value is None:
        return Made(f"({a.text} ? {b.text} : {c.text})", None)
    return Made(f"({a.text} ? {b.text} : {c.text})", constants.chosen(a.value, b.value, c.value))


def by_clang(texts: list[str]) -> list[Constant | None]:
    """What clang says of expressions: type and value, None where it knows no value."""
    source, spans = "", []
    for n, text in enumerate(texts):
        source += f"auto v{n} = "
        spans.append((len(source), len(source) + len(text)))
        source += text + ";\n"
    with ClangService() as service:
        facts = service.ask(Question("k.cpp", source.encode(), std="c++20", spans=tuple(spans)), timeout_s=120)
    assert facts is not None, service.last_error
    answers = (facts.exprs.get(s) for s in spans)
    return [None if a is None or a.value is None else Constant(a.value, a.type) for a in answers]


def test_constants_are_clangs() -> None:
    rng = random.Random(14)
    made: list[Made] = []
    while len(made) < 10_000:
        one = expression(rng, rng.choice((1, 1, 2, 2, 3)))
        if one.value is not None:
            made.append(one)
    said = by_clang([m.text for m in made])
    wrong = [f"{m.text}: {m.value}, clang {c}" for m, c in zip(made, said, strict=True) if m.value != c]
    assert not wrong, "\n".join(wrong[:20])
    assert {m.value.type for m in made if m.value} == set(WIDTHS)


@pytest.mark.parametrize(
    "text",
    ["1 / 0", "1 % 0", "2147483647 + 1", "(-2147483647 - 1) / -1", "(-2147483647 - 1) % -1", "1 << 32", "1 << -1"],
)
def test_what_has_no_value_in_cpp_has_none(text: str) -> None:
    op = next(o for o in ("<<", " / ", " % ", " + ") if o in text)
    left, right = text.rsplit(op, 1)
    a = Constant(-2147483648) if left.startswith("(") else constants.literal(left.strip())
    b = Constant(int(right))
    assert a is not None
    assert constants.binary(op.strip(), a, b) is None


@pytest.mark.parametrize(
    ("token", "constant"),
    [
        ("32", Constant(32)),
        ("0x80000000", Constant(1 << 31, "unsigned int")),
        ("2147483648", Constant(1 << 31, "long")),
        ("010", Constant(8)),
        ("1'024", Constant(1024)),
        ("3uz", Constant(3, "unsigned long")),
        ("true", Constant(1, "bool")),
    ],
)
def test_literals(token: str, constant: Constant) -> None:
    assert constants.literal(token) == constant


@pytest.mark.parametrize("token", "1.0 1e3 1f 08 1lul 1uu 0x 'ab' '' x 0b2 99999999999999999999 1_km".split())
def test_what_is_no_integer_literal(token: str) -> None:
    assert constants.literal(token) is None


def test_expressions_without_brackets_are_clangs() -> None:
    """Precedence and folding: literals with operators between and before them."""
    rng = random.Random(7)
    literals = [x for x in LITERALS if x[0] != "'"]
    known: dict[str, Constant] = {}
    while len(known) < 2_000:
        words = [rng.choice(literals)]
        for _ in range(rng.randrange(1, 6)):
            words += [rng.choice((*BINARY, "?")), rng.choice((*UNARY, "")) + rng.choice(literals)]
            if words[-2] == "?":
                words += [":", rng.choice(literals)]
        text = " ".join(words)
        unit = Unit(text, load_catalog())
        value = constant(read_expression(unit, 0, len(unit.t)), lambda _: None)
        if value is not None:
            known[text] = value
    said = by_clang(list(known))
    wrong = [f"{x}: {v}, clang {c}" for (x, v), c in zip(known.items(), said, strict=True) if v != c]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("text", ["f(1)", "(int)1", "1 +", "x[1]", "1.0 + 1", "a", "sizeof(int)"])
def test_what_is_no_constant_has_no_value(text: str) -> None:
    unit = Unit(text, load_catalog())
    assert constant(read_expression(unit, 0, len(unit.t)), lambda _: None) is None
