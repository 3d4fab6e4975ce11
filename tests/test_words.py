"""Messages, help, docs and docstrings use common words: phrases that make a reader stop do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "translator" / "cu2port"
DOCS = sorted(
    path
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "rules").glob("*.md"),
        *(ROOT / "rules").rglob("*.toml"),
    )
    if "history" not in path.parts and path.name != "CHANGELOG.md"
)
#: Phrase -> what to write.
PHRASES = {
    r"wants? (?:an?|blocks|to be|less)\b": "needs",
    r"\bwants? (?:a )?look": "needs review",
    r"\bstands? in\b": "is in, replaces",
    r"\bby the company\b": "by its context",
    r"\bwhat of a file\b": "the part of the file that",
    r"\blean(?:s|ed)? on\b": "depends on",
    r"\b(?:bears?|borne) (?:on|out|in)\b": "affects, shows",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bwhereupon\b": "then",
    r"\bbut for\b": "except for",
    r"\btold apart\b|\btells? (?:\w+ )?apart\b": "distinguished",
    r"\bspeaks? of\b": "refers to",
    r"\blies (?:in|outside|within|beside)\b|\blie (?:in|outside|within|beside)\b": "is in",
    r"\bthe one place that\b": "only",
    r"\b(?:headers?|file|code) at hand\b": "available",
    r"\bin plain sight\b": "visibly",
    r"\bleft (?:for|to) a person\b": "left for manual work",
    r"\ba person (?:must|should|has to|is told)\b": "needs review, manual work is needed",
    r"\bhanded on\b": "passed on",
    r"\bwhat bec(?:omes|ame) of\b": "what happens to",
    r"\bnames of CUDA's(?! \w)|\ba name of CUDA's(?! \w)": "CUDA names",
    r"\bsomething of CUDA's\b": "CUDA code",
    r"\bcomes? to light\b|\bbrings? to light\b": "is found, reveals",
    r"\bbe (?:it|they) (?:a|an|the|new|of)\b": "whether",
    r"\btravelling\b|\bheaders? that travels?\b": "helper header",
    r"\banew\b": "again, rewritten, rebuilt",
    r"\bof which (?:a|the|one|GitHub)\b": "two sentences",
    r"\bis no (?:name|value|declaration|sum)\b": "is not a",
    r"\btroubles?\b": "finding, problem",
    r"\bwhence\b|\bhence\b|\bthereof\b|\bthereby\b|\bupon\b|\blest\b": "so, from, on",
}


def complaints(text: str) -> list[str]:
    """The phrases in a text, each with what to write."""
    return [f"{m[0]!r}: write {instead!r}" for phrase, instead in PHRASES.items() for m in re.finditer(phrase, text)]


def _texts(path: Path) -> Iterator[str]:
    """Strings of a module: messages and docstrings; not comments, names and code that is matched."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def _of_package(room: str) -> list[str]:
    paths = (PACKAGE / room).rglob("*.py") if room else PACKAGE.glob("*.py")
    texts = ((path.relative_to(PACKAGE), text) for path in sorted(paths) for text in _texts(path))
    return [f"{path}: {complaint}" for path, text in texts for complaint in complaints(text)]


@pytest.mark.parametrize("document", DOCS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_documents_use_common_words(document: Path) -> None:
    assert not complaints(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ["", *sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists())])
def test_messages_and_docstrings_use_common_words(room: str) -> None:
    assert not _of_package(room)


def test_a_phrase_is_found() -> None:
    assert complaints("What wants a look stands in the report.") == [
        "'wants a': write 'needs'",
        "'wants a look': write 'needs review'",
        "'stands in': write 'is in, replaces'",
    ]
    assert not complaints("It needs review. `standby`, amend, recommends, one hand.")
