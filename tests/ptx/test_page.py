"""The page of instructions is what the table would make now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_instructions_is_fresh(update: bool) -> None:
    spec = importlib.util.spec_from_file_location("ptx_table", ROOT / "tools" / "ptx_table.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    wanted = tool.page()
    if update:
        tool.PAGE.write_text(wanted, encoding="utf-8")
    assert tool.PAGE.read_text(encoding="utf-8") == wanted, "run `python tools/ptx_table.py`"
