"""What a file declares: each name with its kind, its place, its extent and the scope in which it is visible.

Read from tokens, so it is there for files that do not parse, for both sides of every `#if` and for what macros declare.
A scope is read when somebody asks for a name that stands in it: function bodies that hold no such name cost nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from cu2port.syntax.lexer import Lexed
from cu2port.syntax.regions import Reader
from cu2port.syntax.scopes import Declaration, Head, Scope


class Declarations:
    """The declarations of a lexed text."""

    def __init__(self, lexed: Lexed) -> None:
        self.lexed = lexed
        self.file = Scope("file", "", 0, max(0, len(lexed.t) - 1))
        self._reader = Reader(lexed, self.file)
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

    def named(self, name: str) -> tuple[Declaration, ...]:
        """All declarations of a name, in text order."""
        return tuple(d for i in self.lexed.places.get(name, ()) if (d := self.declared_at(i)) is not None)

    def declared_at(self, i: int) -> Declaration | None:
        """The declaration whose name token i is."""
        self.scope_at(i)
        return self._reader.store.places.get(i)

    def visible(self, name: str, at: int) -> Declaration | None:
        """The declaration that a use of a name at token `at` means, as far as this file tells; None if it has none.

        C++'s rules for unqualified names hold: a member of another class, a local of another function or a name of a
        namespace that is not open there is not visible, and neither is what follows, except in classes.
        """
        if name not in self.lexed.places:
            return None
        declared = self.named(name)
        if not declared:
            return None
        scope: Scope | None = self.scope_at(at)
        late = self.lexed.directive_index(at) >= 0  # a macro's body is read where it is used
        while scope is not None:
            found = self._in(scope, declared, at, late, set())
            if found is not None:
                return found
            scope = scope.parent
        return self._by_macro(name, at)

    def _in(
        self, scope: Scope, declared: tuple[Declaration, ...], at: int, late: bool, seen: set[str]
    ) -> Declaration | None:
        """That of some declarations which is visible at a token for lying in a scope, in what it opens or inherits."""
        if scope.kind in ("file", "namespace"):
            path = scope.path
            for d in declared:
                if (d.at <= at or late) and _space(d.scope) == path and not d.qualified:
                    return d
        else:
            for d in declared:
                if d.scope is scope and (d.at <= at or late or scope.kind == "class") and not d.qualified:
                    return d
        named = (*scope.spaces, *scope.bases, *((scope.owner,) if scope.owner else ()))
        for other in named:
            if other not in seen:
                seen.add(other)
                for d in declared:
                    if not d.scope.local and _ends(d.scope.path, other) and not d.qualified:
                        return d
                for s in self._reader.store.classes.get(other, ()):
                    found = self._in(s, declared, at, True, seen)
                    if found is not None:
                        return found
        return None

    def _by_macro(self, name: str, at: int) -> Declaration | None:
        """A declaration that a macro makes where it is used, in a scope around token `at`."""
        for d in self.named(name):
            if d.scope.kind != "macro":
                continue
            for use in self.lexed.places.get(d.scope.name, ()):
                if use < at and self.lexed.directive_index(use) < 0:
                    scope = self.scope_at(use)
                    if scope.first <= at <= scope.last or scope.kind == "file":
                        return d
        return None

    def functions(self) -> list[Head]:
        """The functions with a body that lie in no other, in text order; also those in macros' bodies."""
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
