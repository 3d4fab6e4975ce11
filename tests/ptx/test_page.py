"""The page of instructions is what the table would make now."""

from __future__ import annotations

from pathlib import Path

from loading import load

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_instructions_is_fresh(update: bool) -> None:
    tool = load(ROOT / "tools" / "ptx_table.py")
    wanted = tool.page()
    if update:
        tool.PAGE.write_text(wanted, encoding="utf-8")
    assert tool.PAGE.read_text(encoding="utf-8") == wanted, "run `python tools/ptx_table.py`"
