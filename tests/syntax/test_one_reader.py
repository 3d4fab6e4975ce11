"""Expressions are read in `syntax/`: no other module compares tokens with operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "translator" / "cu2port"
#: Operators that stand between operands and nowhere else: `*`, `&`, `<` and `>` are in types too.
OPERATORS = frozenset("+ - / % << >> <= >= == != && || ^ | ? += -= *= /= <<= >>=".split())
_TOKENS = frozenset({"tok", "token", "after", "before", "sign"})  # names of variables that hold one


def _is_token(node: ast.expr) -> bool:
    """Whether an expression is a token: `t[k]`, `unit.t[k]`, `unit.tok(k)`, `tok`."""
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Slice) and ast.unparse(node.value).rpartition(".")[2] == "t"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in ("tok", "_tok")
    return isinstance(node, ast.Name) and node.id in _TOKENS


def _words(node: ast.expr) -> set[str]:
    """The strings in an expression, those in one string with blanks between them too."""
    texts = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
    return {word for text in texts for word in text.split()}


def looks_for_operators(text: str) -> Iterator[int]:
    """The lines of a module that compare a token with an operator, or with a table of the module that has one."""
    tree = ast.parse(text)
    tables = {
        target.id: _words(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(map(_is_token, (node.left, *node.comparators))):
            sides = [x for x in (node.left, *node.comparators) if not _is_token(x)]
            words = set().union(*(tables.get(x.id, set()) if isinstance(x, ast.Name) else _words(x) for x in sides))
            if words & OPERATORS:
                yield node.lineno


def test_only_the_syntax_room_looks_for_operators() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("syntax/") and (lines := list(looks_for_operators(path.read_text("utf-8")))):
            found[name] = lines
    assert not found


def test_the_test_sees_a_reader() -> None:
    for line in (
        'if t[k] == "+": pass',
        'if unit.tok(k + 1) in ("<<", ">>"): pass',
        'x = tok not in {"?"}',
        "while after in _TABLE: pass",
    ):
        assert list(looks_for_operators(f'_TABLE = frozenset("a && b".split())\n{line}')) == [2], line
    for line in ('if e.op == "+": pass', 'if t[k] in ("*", "&", "("): pass', 'if t[a:b] == ["+"]: pass'):
        assert not list(looks_for_operators(line)), line
