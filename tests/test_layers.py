"""Who may import whom: rooms from top to bottom, imports inside functions included, and no circle anywhere.

A module imports from its own room and from those below. What only type checkers read (`if TYPE_CHECKING:`) does not
count. Modules that lie flat in the package are given to rooms by name, so that moving one only shortens the table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "translator" / "cu2port"

#: From top to bottom. Rooms of one row do not import each other. After the colon: modules that belong there and lie
#: elsewhere; the package of the room's own name does anyway.
LAYERS = (
    ("cli: __main__",),
    ("report:",),
    ("lint:", "audit:"),
    ("verify:",),
    ("project:",),
    ("build:",),
    ("engine: checks",),
    ("warp:",),
    ("ptx:",),
    ("catalog:",),
    ("facts:",),
    ("syntax:",),
    ("core:",),
)


def sources() -> dict[str, str]:
    """The modules of the package, named from it ("" is the package itself), with their texts."""
    out = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] == "include":  # what another Python runs
            continue
        out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return out


def imported(text: str, modules: Mapping[str, str]) -> set[str]:
    """The modules of the package that a text imports, at any depth. A package is meant when a name of its own is."""
    found: set[str] = set()
    for node in _at_run_time(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written from the top of the package"
            for a in node.names:
                whole = f"{node.module}.{a.name}"
                found.add(whole if whole.removeprefix("cu2port.") in modules else str(node.module))
    inner = {
        "" if name == "cu2port" else name.removeprefix("cu2port.") for name in found if name.split(".")[0] == "cu2port"
    }
    assert inner <= modules.keys(), inner - modules.keys()
    return inner


def _at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only type checkers read."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).rpartition(".")[2] == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _at_run_time(other)
        else:
            yield from _at_run_time(child)


def graph(modules: Mapping[str, str]) -> nx.DiGraph[str]:
    """An edge for each import."""
    out: nx.DiGraph[str] = nx.DiGraph()
    out.add_nodes_from(modules)
    out.add_edges_from((name, other) for name, text in modules.items() for other in imported(text, modules) - {name})
    return out


def circles(g: nx.DiGraph[str]) -> list[str]:
    """A circle of imports for each group of modules that reach each other."""
    groups = [sorted(c) for c in nx.strongly_connected_components(g) if len(c) > 1]
    return sorted(" -> ".join(f"`{a or 'cu2port'}`" for a, _ in nx.find_cycle(g.subgraph(c), c[0])) for c in groups)


def table() -> dict[str, tuple[int, str]]:
    """Layer (0 is the top) and room by module or package."""
    out = {}
    for depth, rooms in enumerate(LAYERS):
        for room, _, others in (row.partition(":") for row in rooms):
            for name in (room, *others.split()):
                assert name not in out, f"{name} has two rooms"
                out[name] = (depth, room)
    return out


def place(name: str, rooms: Mapping[str, tuple[int, str]]) -> tuple[int, str] | None:
    """The room of a module: that of the longest name in the table which it has or is below."""
    parts = name.split(".")
    return next((rooms[key] for n in range(len(parts), 0, -1) if (key := ".".join(parts[:n])) in rooms), None)


def upward(g: nx.DiGraph[str], rooms: Mapping[str, tuple[int, str]]) -> set[tuple[str, str]]:
    """Imports that point up or across. The package itself stands above all rooms."""
    out = set()
    for one, other in g.edges:
        a, b = place(one, rooms) or (-1, one), place(other, rooms) or (-1, other)
        if one and (b[0] < a[0] or (b[0] == a[0] and b[1] != a[1])):
            out.add((one, other))
    return out


@pytest.fixture(scope="module")
def ours() -> nx.DiGraph[str]:
    return graph(sources())


def test_no_module_reaches_itself_by_imports(ours: nx.DiGraph[str]) -> None:
    assert circles(ours) == []


def test_every_module_has_a_room_and_every_name_of_the_table_is_there(ours: nx.DiGraph[str]) -> None:
    rooms = table()
    assert [name for name in ours if name and place(name, rooms) is None] == []
    packages = {room for _, room in rooms.values()}
    assert [name for name in rooms if name not in ours and name not in packages] == []


def test_imports_point_down(ours: nx.DiGraph[str]) -> None:
    assert sorted(upward(ours, table())) == []


def test_three_modules_alone_import_by_computed_names(ours: nx.DiGraph[str]) -> None:
    """They load what others only declare: the checks, the rows of PTX, and the formats of reports."""
    texts = sources()
    assert sorted(name for name in ours if re.search(r"\bimport_module\(|__import__\(", texts[name])) == [
        "checks",
        "ptx.table",
        "report.formats",
    ]


def test_the_design_has_the_same_rooms() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = re.findall(r"^    ([a-z]+(?:, [a-z]+)*)  ", text.partition("## Layers")[2].partition("\n## ")[0], re.M)
    assert listed == [", ".join(row.partition(":")[0] for row in rooms) for rooms in LAYERS]


#: A small package, and the circle and upward import that each text of `model` makes in it.
SMALL = {"": "", "model": "", "unit": "from cu2port import model", "report": "", "report.terminal": "import re"}
CASES = {
    "none": ("import re\nfrom typing import Any", [], []),
    "at the top": ("from cu2port.unit import Unit", ["`model` -> `unit`"], ["model unit"]),
    "inside a function": ("def f():\n    from cu2port.a import x", ["`a` -> `model`"], ["model a"]),
    "inside a method, a condition and a try": (
        "class C:\n    def f(self):\n        if x:\n            try:\n                import cu2port.a\n"
        "            except ImportError: pass",
        ["`a` -> `model`"],
        ["model a"],
    ),
    "for type checkers": ("if TYPE_CHECKING:\n    from cu2port.a import x\nelse:\n    import re", [], []),
    "for type checkers, by module": ("if typing.TYPE_CHECKING:\n    from cu2port.a import x", [], []),
    "unless for type checkers": (
        "if TYPE_CHECKING:\n    pass\nelse:\n    import cu2port.a",
        ["`a` -> `model`"],
        ["model a"],
    ),
    "the package's own name": ("from cu2port import translate", ["`cu2port` -> `model`"], ["model "]),
    "a name of a package": ("from cu2port.report import FORMATS", [], ["model report"]),
    "a module of a package": ("from cu2port.report import terminal", [], ["model report.terminal"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_test_sees_an_import(case: str) -> None:
    text, wanted, up = CASES[case]
    g = graph({**SMALL, "": "def f():\n    import cu2port.model", "a": "from cu2port import model", "model": text})
    rooms = {"report": (0, "report"), "a": (1, "a"), "unit": (2, "facts"), "model": (3, "core")}
    assert circles(g) == wanted
    assert sorted(" ".join(pair) for pair in upward(g, rooms)) == up


def test_rooms_of_one_row_do_not_import_each_other() -> None:
    g = graph({"": "", "lint": "import cu2port.audit", "audit": ""})
    assert upward(g, {"lint": (0, "lint"), "audit": (0, "audit")}) == {("lint", "audit")}
