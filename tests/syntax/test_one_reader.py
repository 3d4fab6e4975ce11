"""Expressions and declarations are read in `syntax/`: no other module compares tokens with operators, and those that
compare them with words of declarations are listed. The list only shrinks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from cu2port.syntax.words import BUILTIN_TYPES, CLASS_KEYS

PACKAGE = Path(__file__).resolve().parents[2] / "translator" / "cu2port"
#: Operators that stand between operands and nowhere else: `*`, `&`, `<` and `>` are in types too.
OPERATORS = frozenset("+ - / % << >> <= >= == != && || ^ | ? += -= *= /= <<= >>=".split())
#: Words that begin a declaration, or name a type.
DECLARING = BUILTIN_TYPES | CLASS_KEYS | frozenset("namespace using typename template typedef".split())
#: Modules outside of `syntax` that compare tokens with these, and why.
READERS = {
    "audit/requirements.py": "the size of the words of a shared array, in any branch",
    "catalog/api.py": "a word before a name that an edit takes with it",
    "catalog/uses.py": "namespaces by other names: of every file, before scopes are read",
    "checks/ballot_width.py": "the words of a type that are replaced",
    "checks/solo_kernel.py": "a name in a `using` is no use of it",
    "checks/warp_size.py": "whether a place needs a constant",
    "verify/instrument.py": "parameter lists and templates that get one more: by their places",
    "verify/reach.py": "members after `template`; classes and aliases of files of others",
    "verify/shared_vars.py": "the words of a declaration that is moved",
    "verify/trial/arguments.py": "the arguments of a template, and of what a macro dispatches on",
    "verify/trial/members.py": "which key a class has: what is public in it",
    "verify/trial/slices.py": "declarations that are copied whole, with what is before them",
    "warp/native/host.py": "a declared function without a body",
}
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


def compared(text: str) -> Iterator[tuple[int, frozenset[str]]]:
    """The lines of a module that compare a token, and the words that it is compared with: those of the line, and of the
    tables of the module that it names."""
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
            words = (tables.get(x.id, set()) if isinstance(x, ast.Name) else _words(x) for x in sides)
            yield node.lineno, frozenset().union(*words)


def looks_for(wanted: frozenset[str], text: str) -> Iterator[int]:
    """The lines of a module that compare a token with a wanted word, or with a table of the module that has one."""
    return (line for line, words in compared(text) if words & wanted)


@pytest.fixture(scope="module")
def compared_in() -> dict[str, list[tuple[int, frozenset[str]]]]:
    """The comparisons of each module outside of `syntax`."""
    paths = {p.relative_to(PACKAGE).as_posix(): p for p in sorted(PACKAGE.rglob("*.py"))}
    return {n: list(compared(p.read_text("utf-8"))) for n, p in paths.items() if not n.startswith("syntax/")}


def _found(wanted: frozenset[str], compared_in: dict[str, list[tuple[int, frozenset[str]]]]) -> dict[str, list[int]]:
    found = {name: [line for line, words in lines if words & wanted] for name, lines in compared_in.items()}
    return {name: lines for name, lines in found.items() if lines}


def test_only_the_syntax_room_looks_for_operators(
    compared_in: dict[str, list[tuple[int, frozenset[str]]]],
) -> None:
    assert not _found(OPERATORS, compared_in)


def test_who_looks_for_words_of_declarations_is_known(
    compared_in: dict[str, list[tuple[int, frozenset[str]]]],
) -> None:
    found = _found(DECLARING, compared_in)
    assert found.keys() == READERS.keys(), {k: found.get(k) for k in found.keys() ^ READERS.keys()}


def test_the_test_sees_a_reader() -> None:
    for line in (
        'if t[k] == "+": pass',
        'if unit.tok(k + 1) in ("<<", ">>"): pass',
        'x = tok not in {"?"}',
        "while after in _TABLE: pass",
    ):
        assert list(looks_for(OPERATORS, f'_TABLE = frozenset("a && b".split())\n{line}')) == [2], line
    for line in ('if e.op == "+": pass', 'if t[k] in ("*", "&", "("): pass', 'if t[a:b] == ["+"]: pass'):
        assert not list(looks_for(OPERATORS, line)), line
    assert list(looks_for(DECLARING, 'if unit.tok(i - 1) in ("struct", "const"): pass')) == [1]
    assert not list(looks_for(DECLARING, 'if d.kind == "template": pass'))
