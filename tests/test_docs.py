"""The documents that are made from the code are what the code would make now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.report.pages import documents, pages

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_rule_pages_are_fresh(update: bool) -> None:
    wanted = documents()
    if update:
        for path in (DOCS / "rules").glob("*.md"):
            path.unlink()
        (DOCS / "rules").mkdir(exist_ok=True)
        for name, text in wanted.items():
            (DOCS / name).write_text(text, encoding="utf-8")
    there = {p.relative_to(DOCS).as_posix() for p in (DOCS / "rules").glob("*.md")} | {"rules.md"}
    assert there == set(wanted), "run `pytest tests/test_docs.py --update`"
    stale = [name for name, text in wanted.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not stale, "run `pytest tests/test_docs.py --update`"


@pytest.mark.parametrize("code", sorted(pages()))
def test_explain_prints_the_page(code: str) -> None:
    page = pages()[code]
    for key in (code, page.name):
        shown = CliRunner().invoke(cli, ["explain", key]).stdout
        assert shown == f"{code} {page.name}\n\n{page.text}\n"
    assert page.title.endswith(".")
    assert page.why


def test_links_between_documents_lead_somewhere() -> None:
    lost = []
    for path in (*DOCS.rglob("*.md"), DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in target and not (path.parent / target).exists():
                lost.append(f"{path.name}: {target}")
    assert not lost
