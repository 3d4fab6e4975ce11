"""Which numbers of an expression have one meaning."""

from __future__ import annotations

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.warp.literal_pairs import literal_pairs


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("int f(int n) { return (n + 31) / 32 * 32; }", [("31", "32"), ("32", "32")]),
        ("int f(int n) { return ((n + 32 - 1) / 32); }", [("32", "32")]),
        ("int f(int n) { return (n + 31u) & ~31; }", [("31u", "31")]),
        ("int f(int n) { return g((n + 31) >> 5) << 5; }", [("31", "5")]),
        ("int f(int n) { return n >> 5 << 5; }", [("5", "5")]),
        ("#define UP(n) (((n) + 31) / 32)\n", [("31", "32")]),
        ("int f(int n) { return (n / 32) * (32 / w); }", [("32", "32")]),
        ("int f(int n) { return (n / 32) * (w / 32); }", []),
        ("int f(int n) { return n + 31 / 32; }", []),
        ("int f(int n) { return g(n + 31) / 32; }", []),
    ],
)
def test_numbers_of_one_rounding(text: str, pairs: list[tuple[str, str]]) -> None:
    unit = Unit(text, load_catalog())
    assert sorted((unit.t[a], unit.t[b]) for a, b in literal_pairs(unit)) == sorted(pairs)
