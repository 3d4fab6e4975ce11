"""docs/sound.md: each test that it names is there, and each of its lines has one or says why not."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "sound.md"
LINES = [f"{part}{n}" for part, most in (("A", 12), ("B", 2), ("C", 9), ("D", 10)) for n in range(1, most + 1)]


def rows() -> list[tuple[str, str, str]]:
    found = re.findall(r"^\| ([A-D]\d*) \| (.*) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    return [(line, held, by) for line, held, by in found]


def test_each_line_is_held_by_a_test_or_said_to_be_open() -> None:
    assert [x for x in dict.fromkeys(line for line, _, _ in rows()) if x != "B"] == LINES
    assert not [held for _, held, by in rows() if "::" not in by and not held.startswith("open: ")]


def test_the_tests_are_there() -> None:
    named = [x for _, _, by in rows() for x in re.findall(r"`([^`]*)`", by) if "::" in x]
    assert len(named) > 100
    missing = []
    for name in named:
        file, _, function = name.partition("::")
        path = TESTS / file
        if not path.is_file() or not re.search(rf"^def {function}\(", path.read_text(encoding="utf-8"), re.M):
            missing.append(name)
    assert not missing
