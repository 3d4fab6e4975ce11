"""The shape of the code: short modules and functions, shallow classes, exceptions from complexity with a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "translator" / "cu2port"
SOURCES = sorted(PACKAGE.rglob("*.py"))
_LINES, _FUNCTION_LINES, _NESTING, _CLASS_DEPTH = 400, 80, 5, 3
_NESTS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


def _nesting(node: ast.AST, depth: int = 0) -> int:
    """How many statements with a body are nested; `elif` does not nest, inner functions count by themselves."""
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        is_elif = isinstance(child, ast.If) and isinstance(node, ast.If) and node.orelse == [child]
        deepest = max(deepest, _nesting(child, depth + (isinstance(child, _NESTS) and not is_elif)))
    return deepest


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def is_long(function: ast.FunctionDef) -> bool:
    """Whether a function has too many lines or nested statements."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    return lines > _FUNCTION_LINES or _nesting(function) > _NESTING


def deep(trees: dict[str, ast.Module]) -> set[str]:
    """Classes that inherit through too many classes of these modules."""
    bases = {
        n.name: [b.id if isinstance(b, ast.Name) else getattr(b, "attr", "") for b in n.bases]
        for tree in trees.values()
        for n in ast.walk(tree)
        if isinstance(n, ast.ClassDef)
    }

    def depth(name: str) -> int:
        return 1 + max((depth(b) for b in bases[name] if b in bases and b != name), default=0)

    return {name for name in bases if depth(name) > _CLASS_DEPTH}


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Path below the package -> syntax tree."""
    return {p.relative_to(PACKAGE).as_posix(): ast.parse(p.read_text(encoding="utf-8")) for p in SOURCES}


def test_modules_are_short() -> None:
    long = {
        p.relative_to(PACKAGE).as_posix() for p in SOURCES if len(p.read_text(encoding="utf-8").splitlines()) > _LINES
    }
    assert not long


def test_functions_are_short_and_flat(trees: dict[str, ast.Module]) -> None:
    assert not [f"{path}:{f.name}" for path, tree in trees.items() for f in _functions(tree) if is_long(f)]


def test_classes_are_shallow(trees: dict[str, ast.Module]) -> None:
    assert not deep(trees)


def test_what_is_too_long_or_deep_is_found() -> None:
    nested = "def f():\n" + "".join(f"{'  ' * n}if {n}:\n" for n in range(1, 7)) + "  " * 7 + "pass\n"
    assert [is_long(f) for f in _functions(ast.parse(nested))] == [True]
    flat = "def f(x):\n  if x: pass\n" + "  elif x: pass\n" * 20
    assert [is_long(f) for f in _functions(ast.parse(flat))] == [False]
    assert [is_long(f) for f in _functions(ast.parse("def f():\n" + "  pass\n" * 80))] == [True]
    chain = "class A: pass\nclass B(A): pass\nclass C(B): pass\nclass D(C): pass\n"
    assert deep({"a.py": ast.parse(chain)}) == {"D"}


def test_every_complex_function_gives_its_reason() -> None:
    """ruff limits complexity (C901); what is exempt says why in the same line."""
    for path in SOURCES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "noqa: C901" in line:
                assert re.search(r"noqa: C901 - \w+ \w+ \w+", line), f"{path.name}:{number}"


def test_every_folder_of_tests_is_searched(request: pytest.FixtureRequest) -> None:
    """pytest leaves out folders of some names by default, among them `build`."""
    tests = Path(__file__).resolve().parent
    folders = {p.parent.relative_to(tests) for p in tests.rglob("test_*.py")}
    left_out = request.config.getini("norecursedirs")
    assert Path("build") in folders
    assert not {f for f in folders for part in f.parts if any(fnmatchcase(part, pattern) for pattern in left_out)}
