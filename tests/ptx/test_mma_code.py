"""What a `mma` takes on AMD GPUs: the page's counts are those of the code that clang makes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from amd_code import machine_code
from loading import load

ROOT = Path(__file__).resolve().parents[2]
TOOL = load(ROOT / "tools" / "mma_cost.py")


def page() -> dict[str, dict[str, str]]:
    """Form -> GPU -> counts, as docs/ptx.md has them."""
    table = (ROOT / "docs" / "ptx.md").read_text(encoding="utf-8").partition("<!-- mma-cost")[2].partition("<!-- /")[0]
    head, _, *rows = ([c.strip() for c in line.split("|")[1:-1]] for line in re.findall(r"^\|.*$", table, re.M))
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


def test_the_page_has_every_form() -> None:
    assert list(page()) == [TOOL.shown(form) for form in TOOL.FORMS]
    assert all(tuple(row) == TOOL.GPUS for row in page().values())


def held(form: str, gpu: str, tmp_path: Path) -> None:
    chosen = next(f for f in TOOL.FORMS if TOOL.shown(f) == form)
    parts = machine_code(TOOL.source(chosen), tmp_path, gpu, "-O3")
    found = TOOL.counted("".join(f"{name}:\n{text}\ns_endpgm\n" for name, text in parts.items()))
    assert TOOL.cell(found) == page()[form][gpu]


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_the_usual_form_takes_what_the_page_says(gpu: str, tmp_path: Path) -> None:
    held("`m16n8k16.f32.f16.f16.f32`", gpu, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", TOOL.GPUS)
@pytest.mark.parametrize("form", list(page()))
def test_every_form_takes_what_the_page_says(form: str, gpu: str, tmp_path: Path) -> None:
    held(form, gpu, tmp_path)
