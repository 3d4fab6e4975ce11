"""What a file declares: each name with its kind, its place, its extent and the scope in which it is visible.

Read from tokens, so it is there for files that do not parse, for both sides of every `#if` and for what macros declare.
A scope is read when somebody asks for a name that is in it: function bodies that hold no such name cost nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from cu2port.syntax.candidates import may_be_declared
from cu2port.syntax.lexer import Lexed
from cu2port.syntax.regions import Reader
from cu2port.syntax.scopes import Declaration, Head, Scope

_OBJECTS = frozenset({"variable", "member"})
_OPEN = frozenset({"namespace", "class", "enum", "template"})


class _Known(NamedTuple):
    """The declarations of one name: all, those of namespaces by path, those outside of functions, those of macros with
    the scopes in which the macro is used."""

    all: tuple[Declaration, ...]
    spaces: dict[str, list[Declaration]]
    outer: tuple[Declaration, ...]
    of_macros: tuple[tuple[Declaration, Scope], ...]


class Declarations:
    """The declarations of a lexed text."""

    def __init__(self, lexed: Lexed) -> None:
        self.lexed = lexed
        self.file = Scope("file", "", 0, max(0, len(lexed.t) - 1))
        self._reader = Reader(lexed, self.file)
        self._names: dict[str, _Known] = {}
        self.macros = self._reader.macro_scopes()  # of the bodies, in text order
        self._macro_starts = [s.first for s in self.macros]

    # --- questions ------------------------------------------------------------------------------------------------

    def scope_at(self, i: int) -> Scope:
        """The innermost scope around token i."""
        scope = self.file
        if self.lexed.directive_index(i) >= 0:
            k = bisect_right(self._macro_starts, i) - 1
            if k >= 0 and i <= self.macros[k].last:
                scope = self.macros[k]
            else:
                return scope
        while True:
            self._reader.read(scope)
            inner = _child(scope, i)
            if inner is None:
                return scope
            scope = inner

    def template_at(self, first: int) -> Scope | None:
        """The scope of the template that a declaration is whose first token this is."""
        scope = self.scope_at(first)
        return scope if scope.kind == "template" and scope.first == first else None

    def named(self, name: str) -> tuple[Declaration, ...]:
        """All declarations of a name but constructors, in text order."""
        return self._known(name).all

    def declared_at(self, i: int) -> Declaration | None:
        """The declaration whose name token i is."""
        self.scope_at(i)
        return self._reader.store.places.get(i)

    def visible(self, name: str, at: int) -> Declaration | None:
        """The declaration that a use of a name at token `at` means, as far as this file tells; None if it has none.

        C++'s rules for unqualified names hold: a member of another class, a local of another function or a name of a
        namespace that is not open there is not visible, and neither is what follows, except in classes.
        """
        late = self.lexed.directive_index(at) >= 0  # a macro's body is read where it is used
        scope: Scope | None = self.scope_at(at)
        while scope is not None and _is_closed(scope):  # most names are those of the function itself
            for d in scope.names.get(name, ()):
                if (d.at <= at or late or scope.kind == "class") and not d.qualified and d.kind != "constructor":
                    return d
            scope = scope.parent
        known = self._known(name)
        if not known.all:
            return None
        while scope is not None:
            found = self._in(scope, name, known, at, late, set())
            if found is not None:
                return found
            scope = scope.parent
        return next((d for d, s in known.of_macros if s.first <= at <= s.last), None)

    def alternatives(self, d: Declaration) -> tuple[Declaration, ...]:
        """A declaration with the others of its name in its scope: those in other branches of an `#if`, overloads."""
        space = _space(d.scope)
        here = d.scope.names.get(d.name, ()) if space == "?" else self._known(d.name).spaces.get(space, ())
        return tuple(x for x in here if x.kind != "constructor" and not x.qualified)

    def members(self, d: Declaration, name: str) -> list[Declaration]:
        """What a class declares by a name in all its definitions, less what it inherits."""
        out: list[Declaration] = []
        for scope in self._reader.store.classes.get(d.name, ()):
            around = scope.parent
            while around is not None and around.kind == "template":
                around = around.parent
            if around is d.scope or (around is not None and _space(around) == _space(d.scope) != "?"):
                self._reader.read(scope)
                out += scope.names.get(name, ())
        return out

    def _known(self, name: str) -> _Known:
        known = self._names.get(name)
        if known is None:
            places = [i for i in self.lexed.places.get(name, ()) if may_be_declared(self.lexed, i)]
            found = tuple(d for i in places if (d := self.declared_at(i)) is not None and d.kind != "constructor")
            spaces: dict[str, list[Declaration]] = {}
            for d in found:
                if not d.qualified:
                    spaces.setdefault(_space(d.scope), []).append(d)
            outer = tuple(d for d in found if not d.qualified and not d.scope.local)
            known = self._names[name] = _Known(found, spaces, outer, tuple(self._of_macros(found)))
        return known

    def _of_macros(self, found: tuple[Declaration, ...]) -> Iterator[tuple[Declaration, Scope]]:
        """What macros declare where they are used, with the scopes that get it."""
        for d in found:
            if d.scope.kind == "macro":
                for use in self.lexed.places[d.scope.name]:
                    if self.lexed.directive_index(use) < 0:
                        yield d, self.scope_at(use)

    def _in(self, scope: Scope, name: str, known: _Known, at: int, late: bool, seen: set[str]) -> Declaration | None:
        """The declaration of a name that is visible at a token for lying in a scope, in what it opens or inherits."""
        local = scope.kind not in ("file", "namespace")
        here = scope.names.get(name, ()) if local else known.spaces.get(scope.path, ())
        late = late or scope.kind == "class"
        for d in here:
            if (d.at <= at or late) and not d.qualified and d.kind != "constructor":
                return d
        for other in (*scope.spaces, *scope.bases, *((scope.owner,) if scope.owner else ())):
            if other not in seen:
                seen.add(other)
                for d in known.outer:
                    if _ends(d.scope.path, other):
                        return d
                for s in self._reader.store.classes.get(other, ()):
                    found = self._in(s, name, known, at, True, seen)
                    if found is not None:
                        return found
        return None

    def opened(self, at: int) -> set[str]:
        """The namespaces and classes whose names are visible at a token without qualifiers: whole paths of those
        around it, and names as written of those that are opened or inherited from."""
        out: set[str] = set()
        scope: Scope | None = self.scope_at(at)
        while scope is not None:
            out.update((*scope.spaces, *scope.bases))
            parts = [p for p in (scope.path, scope.owner) if p]
            for part in (*parts, "::".join(parts)):
                while part:
                    out.add(part)
                    part = part.rpartition("::")[0]
            scope = scope.parent
        return out

    def functions(self) -> list[Head]:
        """The functions with a body that are in no other, in text order; also those in macros' bodies."""
        found: list[Head] = []
        work = [self.file, *self.macros]
        while work:
            scope = work.pop()
            if scope.head is not None:
                found.append(scope.head)
            elif scope.kind in ("file", "namespace", "class", "template", "macro"):
                self._reader.read(scope)
                work.extend(scope.children)
        return sorted(found, key=lambda h: h.first)

    def outer(self) -> list[Declaration]:
        """What is declared outside of functions and macros, in text order."""
        read = [self.file]
        for scope in read:
            self._reader.read(scope)
            read += (x for x in scope.children if x.kind in _OPEN)
        return sorted((d for scope in read for found in scope.names.values() for d in found), key=lambda d: d.at)

    def all(self) -> list[Declaration]:
        """Every declaration of the file, in text order."""
        for _ in self.scopes():
            pass
        return [d for _, d in sorted(self._reader.store.places.items())]

    def scopes(self) -> Iterator[Scope]:
        """Every scope of the file, each before those in it."""
        work = [*reversed(self.macros), self.file]
        while work:
            scope = work.pop()
            self._reader.read(scope)
            yield scope
            work.extend(reversed(scope.children))


def brings(lexed: Lexed, declarations: Declarations, space: str, at: int) -> bool:
    """Whether `using namespace space;` or `using space::name;` makes the unqualified name at a token a namespace's."""
    d = declarations.visible(lexed.t[at], at)
    if d is not None:
        return d.kind == "using" and space in lexed.t[d.first : d.at]
    return space in declarations.opened(at)


def value_of(lexed: Lexed, d: Declaration) -> tuple[int, int]:
    """The tokens of the value that a declaration gives behind a `=` or in brackets, or of a macro's body; (0, 0) if it
    gives none."""
    t, first, stop = lexed.t, d.at + 1, d.stop
    if d.kind != "macro":
        after = t[first] if first < stop else ""
        if after in ("{", "(") and d.kind in _OBJECTS and first + 1 < lexed.match[first]:
            return first + 1, lexed.match[first]
        first, stop = first + 1, stop - (t[stop - 1] in (";", ","))
        return (first, stop) if after == "=" and first < stop else (0, 0)
    if first < stop and t[first] == "(" and lexed.p[first] == lexed.end(d.at):
        first = lexed.match[first] + 1
    return (first, stop) if d.at < first < stop else (0, 0)


def _is_closed(scope: Scope) -> bool:
    """Whether only what a scope declares itself is visible for lying in it."""
    return scope.kind not in ("file", "namespace") and not (scope.spaces or scope.bases or scope.owner)


def _child(scope: Scope, i: int) -> Scope | None:
    k = bisect_right(scope.children, i, key=lambda s: s.first) - 1
    if k >= 0 and i <= scope.children[k].last:
        return scope.children[k]
    return None


def _space(scope: Scope) -> str:
    """The path of the namespace that sees what a scope declares; "?" for a scope inside of it. A macro's is its own."""
    while scope.transparent and scope.parent is not None:
        scope = scope.parent
    return scope.path if scope.kind in ("file", "namespace") else "?"


def _ends(path: str, name: str) -> bool:
    """Whether a path is a name, or ends with it."""
    return path == name or path.endswith(f"::{name}")
