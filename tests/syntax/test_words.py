"""The words of C++ are in one table: which modules still have lists of their own, a list that only gets shorter."""

from __future__ import annotations

import ast
from pathlib import Path

from cu2port.syntax import words

PACKAGE = Path(words.__file__).parent.parent
#: A list of these words answers "is this no type?" or "does a value follow?": four of them in one place are one.
_TELLING = frozenset(
    "return else case throw new delete goto typename sizeof co_return operator using do define".split()
)
_MOST = 3
#: Lists of words that a name must not be, for other reasons: what cannot be an identifier of generated code.
_RESERVED = frozenset({"facts/shim.py", "ptx/reserved.py"})


def lists(path: Path) -> int:
    """How many lists of telling words a module has."""
    return sum(len(_TELLING & _words(node)) > _MOST for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _words(node: ast.AST) -> frozenset[str]:
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        return frozenset(x.value for x in node.elts if isinstance(x, ast.Constant) and isinstance(x.value, str))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        value = node.func.value
        return (
            frozenset(value.value.split())
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
            else frozenset()
        )
    return frozenset()


def test_no_other_module_has_such_a_list() -> None:
    found = {p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py") if lists(p)}
    assert found - {"syntax/words.py"} == _RESERVED


def test_a_list_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        'A = frozenset("return else sizeof new".split())\nB = {"return", "case", "goto", "do"}\nC = {"return"}\n'
    )
    assert lists(path) == 2


def test_roles_do_not_contradict_each_other() -> None:
    assert not words.BUILTIN_TYPES & words.NO_TYPES
    assert not words.NO_TYPES & words.RECORD_KEYS
    assert words.BEFORE_VALUE <= words.NO_TYPES
    assert words.NO_TYPES - words.PREPROCESSOR - {"NULL"} <= words.KEYWORDS | words.NO_TYPES
