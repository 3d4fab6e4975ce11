"""Rules know of themselves what others ask: outside `checks/` no code of a rule is written, and no message is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cu2port.checks import all_checks, by_code
from cu2port.core.families import FAMILIES
from cu2port.core.file_rules import FILE_RULES

PACKAGE = Path(__file__).resolve().parent.parent / "translator" / "cu2port"
#: Where rules are defined: a class or a row each.
HOMES = ("checks/", "core/file_rules.py", "build/pages")
_CODE = re.compile(r"CU\d{2,3}|CU\d[\[\\.]")  # `CU10\d` and its like too
_MESSAGE = re.compile(r"\.parts\b|\bmessage\b")
#: What takes a text apart.
_READERS = frozenset(
    "match search fullmatch findall finditer sub split rsplit partition rpartition startswith endswith "
    "removeprefix removesuffix find index replace".split()
)


def others() -> list[str]:
    """The modules that may not know rules by their codes, as paths below the package."""
    found = (p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py"))
    return sorted(name for name in found if not name.startswith(HOMES))


def written_codes(text: str) -> Iterator[str]:
    """The codes in the strings of a module, docstrings aside."""
    if not _CODE.search(text):
        return
    tree = ast.parse(text)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield from (f"line {node.lineno}: {code}" for code in _CODE.findall(node.value))


def read_messages(text: str) -> Iterator[str]:
    """The calls of a module that take a finding's message, or the texts of its edits, apart."""
    if not _MESSAGE.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS:
            parts = (node.func.value, *node.args)
            if any(_is_message(x) for part in parts for x in ast.walk(part)):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def _is_message(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("message", "parts")
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "message"


def test_no_module_names_a_rule_by_its_code() -> None:
    found = {name: codes for name in others() if (codes := list(written_codes((PACKAGE / name).read_text("utf-8"))))}
    assert found == {}


def test_no_module_reads_a_message() -> None:
    found = {name: calls for name in others() if (calls := list(read_messages((PACKAGE / name).read_text("utf-8"))))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""CU310 is a rule."""\n', []),
        ('def f():\n    "of CU310"\n', []),
        ('x = f.code == "CU310"\n', ["line 1: CU310"]),
        ('x = re.compile(r"CU10\\d")\n', ["line 1: CU10"]),
        ('x = re.compile(r"CU1[012]")\n', ["line 1: CU1["]),
        ('x = f"{a} (CU910)"\n', ["line 1: CU910"]),
        ('x = "CUDA", "CU2PORT_X", "CU1"\n', []),
    ],
)
def test_the_test_sees_a_code(text: str, found: list[str]) -> None:
    assert list(written_codes(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "_NAME.match(f.message)",
        "re.findall(x, ' '.join(x.message for x in found))",
        "x['message'].partition(':')",
        "f.message.startswith('a')",
        "re.search('std::', str(e.parts[0]))",
    ],
)
def test_the_test_sees_a_message_that_is_read(text: str) -> None:
    assert list(read_messages(text))
    assert not list(read_messages(text.replace("message", "subject").replace("parts", "start")))


def test_every_rule_has_a_family_and_folds_into_rules_that_are_there() -> None:
    assert {code[:3] for code in (*by_code(), *FILE_RULES)} <= FAMILIES.keys()
    for check in all_checks():
        assert {fold.code for fold in check.lint.folds_into} <= by_code().keys() - {check.code}, check.code
