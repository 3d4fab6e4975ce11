"""What a declaration and a scope are."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, NamedTuple

from cu2port.core.late import dataclass

Kind = Literal[
    "variable",
    "function",
    "constructor",
    "type",
    "enumerator",
    "macro",
    "namespace",
    "using",
    "member",
    "parameter",
    "template parameter",
]
ScopeKind = Literal["file", "namespace", "class", "enum", "function", "block", "statement", "template", "macro"]
#: What a part of a scope holds.
Part = Literal["names", "members", "statements", "enumerators", "parameters", "template parameters", "expression"]
_LOCAL = frozenset({"function", "block", "statement", "template", "macro"})


@dataclass(eq=False, slots=True)
class Scope:
    """Tokens [first, last] in which what is declared there is visible.

    `name`: of a namespace (`a::b`), class or function, "" of others. `owner`: for a function `A::f` that is defined
    outside of its class or namespace, `A`. `bases`: of a class; `spaces`: that `using namespace` names.
    `transparent`: an inline or unnamed namespace, whose names the scope around it has too. `head`: of a function with a
    body, what declares it. `unread`: parts that nobody has asked for yet.
    """

    kind: ScopeKind
    name: str
    first: int
    last: int
    parent: Scope | None = None
    owner: str = ""
    bases: tuple[str, ...] = ()
    transparent: bool = False
    head: Head | None = None
    spaces: list[str] = field(default_factory=list)
    names: dict[str, list[Declaration]] = field(default_factory=dict)
    children: list[Scope] = field(default_factory=list)
    unread: list[tuple[Part, int, int]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The name with those of the namespaces and classes around it."""
        above = self.parent.path if self.parent is not None else ""
        if not self.name or self.kind not in ("namespace", "class", "enum"):
            return above
        return f"{above}::{self.name}" if above else self.name

    @property
    def local(self) -> bool:
        """Whether it is in a function, or in a macro's body."""
        scope: Scope | None = self
        while scope is not None:
            if scope.kind in _LOCAL and scope.kind != "template":
                return True
            scope = scope.parent
        return False


class Head(NamedTuple):
    """The head of a function with a body. Tokens: `first` begins the declaration; `at` is the name; the brackets of
    parameters and body. `text`: the name, or `operator+`."""

    text: str
    first: int
    at: int
    params: tuple[int, int]
    body: tuple[int, int]


class Declaration(NamedTuple):
    """A declared name. Tokens: `at` is the name; [first, stop) the whole declaration; [type_first, type_stop) its
    specifiers and type. `defines`: it has a body or a value, or is an object that needs none. `pointers`, `arrays`,
    `reference`: of its declarator. `qualified`: written as `A::f`, so declared elsewhere before."""

    name: str
    kind: Kind
    at: int
    first: int
    stop: int
    scope: Scope
    type_first: int
    type_stop: int
    defines: bool = True
    pointers: int = 0
    arrays: int = 0
    reference: bool = False
    qualified: bool = False
