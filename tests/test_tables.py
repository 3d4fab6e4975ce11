"""Tables that tools write into documents: the rest of the document stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables import NoTableError, put_row, replaced

PAGE = """# Figures

<!-- census: python tools/census.py -->
| tree | files |
| --- | --: |
| apex | 98 |
| nccl | 57 |
<!-- /census -->
<!-- other -->
| tree | files |
| --- | --: |
<!-- /other -->
end
"""


def test_a_row_takes_the_place_of_its_like(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    put_row(page, "census", ["nccl", "60"])
    put_row(page, "census", ["Cutlass", "3"])
    assert page.read_text() == PAGE.replace("| nccl | 57 |", "| Cutlass | 3 |\n| nccl | 60 |")


def test_a_table_is_replaced_as_a_whole() -> None:
    assert replaced(PAGE, "other", "| x |\n") == PAGE.replace(
        "<!-- other -->\n| tree | files |\n| --- | --: |\n", "<!-- other -->\n| x |\n"
    )


def test_a_document_without_the_table_is_refused() -> None:
    with pytest.raises(NoTableError, match="no <!-- cens -->"):
        replaced(PAGE, "cens", "")
