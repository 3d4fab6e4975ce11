"""Reads declarations: classes, enumerations, variables, parameters and functions, and opens their scopes."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from cu2port.syntax.code import Code
from cu2port.syntax.declarators import (
    ClassHead,
    Declarator,
    Specifiers,
    Where,
    declarator,
    is_declaration,
    is_function,
    specifiers,
)
from cu2port.syntax.extents import COMMA, END, after_labels, after_parameters, lambda_at
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration, Head, Kind, Part, Scope, ScopeKind


class Store:
    """What was read of a text of `count` tokens. `places`: the declarations by the token of their name; `classes`: the
    scopes of classes and enumerations by name; `ends`: where statements end, by their first token."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.places: dict[int, Declaration] = {}
        self.classes: defaultdict[str, list[Scope]] = defaultdict(list)
        self.ends: dict[int, int] = {}

    def put(self, d: Declaration) -> None:
        if d.at not in self.places:
            if d.stop > self.count:
                d = d._replace(stop=self.count)
            self.places[d.at] = d
            d.scope.names.setdefault(d.name, []).append(d)


class Entities:
    """The entities of one part of one scope. Names are declared in `scope`; scopes are opened in `nest`: in that of
    template parameters, if there are some."""

    def __init__(self, store: Store, code: Code, scope: Scope) -> None:
        self.store = store
        self.code = code
        self.scope = scope
        self.nest = scope

    def declare(self, name: str, kind: Kind, at: int, first: int, stop: int, scope: Scope | None = None) -> None:
        if name and is_identifier(name[:1] or ";"):
            self.store.put(Declaration(name, kind, at, first, stop, scope or self.scope, first, at))

    def open(self, kind: ScopeKind, name: str, first: int, last: int, *parts: tuple[Part, int, int]) -> Scope:
        scope = Scope(kind, name, first, last, self.nest)
        scope.unread.extend(parts)
        self.nest.children.append(scope)
        return scope

    def begin(self, first: int) -> int:
        """The first token of a declaration from `first` on, with the `template<...>` before it."""
        scope = self.nest
        while scope is not self.scope and scope.parent is not None:
            first, scope = scope.first, scope.parent
        return first

    def block(self, k: int) -> int:
        close = self.code.match[k]
        if not k < close < self.code.stop:
            return k + 1
        self.open("block", "", k, close, ("statements", k + 1, close))
        return close + 1

    def expression(self, first: int, stop: int) -> None:
        """Open the scopes of the lambdas and of the statements in brackets that tokens [first, stop) hold."""
        code = self.code
        braces = code.braces
        at = first
        for n in range(bisect_left(braces, first), len(braces)):
            brace = braces[n]
            if brace >= stop:
                break
            close = code.match[brace]
            if brace < at or not brace < close < code.stop:
                continue
            start, params = lambda_at(code, brace, first)
            if start >= 0:
                scope = self.open("function", "", start, close)
                if params >= 0:
                    scope.unread.append(("parameters", params + 1, code.match[params]))
                scope.unread.append(("statements", brace + 1, close))
                at = close + 1
            elif brace > first and code.t[brace - 1] == "(":
                self.block(brace)
                at = close + 1

    def parameters(self, k: int, kind: Kind) -> None:
        code = self.code
        while k < code.stop:
            first = k
            if code.t[k] == "template":
                k = code.at(k + 1)
                k = code.at(code.angle(k) + 1) if code.tok(k) == "<" and code.angle(k) > 0 else k
            if kind != "parameter" and code.tok(k) in ("class", "typename", "struct"):
                name = code.at(k + 1)
                name = code.at(name + 1) if code.tok(name) == "..." else name
                if code.is_name(name) and code.tok(code.at(name + 1)) in ("", ",", "="):
                    end = code.end(name, COMMA)
                    self.declare(code.t[name], kind, name, first, end)
                    k = code.at(end + 1)
                    continue
            found = specifiers(code, k, "parameters")
            if code.tok(found.stop) == "..." and code.is_name(code.at(found.stop + 1)):
                at = code.at(found.stop + 1)
                self.declare(code.t[at], kind, at, first, at + 1)
            elif is_declaration(code, found, "parameters"):
                d = self._declarator(found)
                if d is not None:
                    end = code.end(d.stop, COMMA)
                    self.put(d, kind, found, first, end, self.scope, code.dimensions(d.stop)[0])
                    if d.wrapped and code.tok(d.stop) == "(":
                        self.signature(d.stop)
                    else:
                        self.expression(d.stop, end)
            k = code.at(code.end(max(found.stop, k), COMMA) + 1)

    def _declarator(self, found: Specifiers) -> Declarator | None:
        """The declarator after some specifiers: the last name among them, or what follows."""
        code = self.code
        if found.names and code.tok(found.stop) not in ("*", "&", "&&"):
            name = found.names[-1]
            if len(found.names) > 1 or found.solid:
                found.type_stop = min(found.type_stop, name.first)
                d = (
                    declarator(code, found.stop)
                    if code.tok(found.stop) == "(" and not self._has_parameters(found)
                    else None
                )
                if d is None or not d.wrapped:
                    return Declarator(name, found.stop, 0, False, False)
        return declarator(code, found.stop)

    def _has_parameters(self, found: Specifiers) -> bool:
        return self.code.tok(self.code.at(found.stop + 1)) not in ("*", "&", "&&") and not self.code.is_name(
            self.code.at(found.stop + 1)
        )

    def put(
        self,
        d: Declarator,
        kind: Kind,
        found: Specifiers,
        first: int,
        stop: int,
        scope: Scope,
        arrays: int = 0,
        defines: bool = True,
    ) -> None:
        for at in d.bound or (d.name.at,):
            text = self.code.t[at] if d.bound else d.name.text
            self.store.put(
                Declaration(
                    text, kind, at, first, stop, scope, found.first, found.type_stop,
                    defines, d.pointers, arrays, d.reference, d.name.qualified,
                )
            )  # fmt: skip

    def declarators(self, found: Specifiers, where: Where, d: Declarator | None = None) -> int:
        """Read a list of declarators, from the first one on or from `d`; the token after it."""
        code = self.code
        d = d or self._declarator(found)
        kind: Kind = "type" if "typedef" in found.words else "member" if where == "members" else "variable"
        while d is not None:
            k = d.stop
            if code.tok(k) == "(" and code.match[k] > k:
                if d.wrapped or kind == "type":
                    self.signature(k)
                    k = code.past(k)
                elif is_function(code, k, d.name, where):
                    return self.function(found, d, where, "function")
                else:
                    self.expression(k, code.match[k])
                    k = code.past(k)
            elif code.tok(k) == "(" and where != "statements" and (other := code.other_side(k)) > 0:
                return other
            arrays, k = code.dimensions(k)
            k = after_labels(code, k)
            value = code.tok(k) in ("=", ":", "{")
            end = code.end(k, COMMA)
            self.expression(k, end)
            scope = self._owner(found)
            defines = value or not found.words & {"extern", "friend"} or kind == "type"
            self.put(d, kind, found, found.first, end + 1, scope, arrays, defines)
            if kind == "type" and found.classes and not found.classes[-1].name and not d.pointers:
                self.name_class(found.classes[-1], d.name.text)
            k = end
            if code.tok(k) != ",":
                return k + (code.tok(k) == ";")
            d = declarator(code, code.at(k + 1))
        end = code.end(found.stop, END)
        return end + (code.tok(end) == ";")

    def signature(self, k: int) -> None:
        """Open the scope of the parameters of a type of functions, in the brackets at k."""
        close = self.code.match[k]
        if k < close < self.code.stop:
            self.open("function", "", k, close, ("parameters", k + 1, close))

    def name_class(self, head: ClassHead, name: str) -> None:
        """`typedef struct { ... } A;` names the class."""
        for scope in self.nest.children[-1:]:
            if scope.first == head.key and not scope.name and scope.kind == "class":
                scope.name = name
                self.store.classes[name].append(scope)

    def _owner(self, found: Specifiers) -> Scope:
        """The scope that gets a name: for a friend that of the namespace around the class."""
        scope = self.scope
        if "friend" in found.words:
            while scope.kind in ("class", "template") and scope.parent is not None:
                scope = scope.parent
        return scope

    def function(self, found: Specifiers, d: Declarator, where: Where, kind: Kind) -> int:
        code = self.code
        open_ = d.stop
        close = code.match[open_]
        if close < open_:
            return open_ + 1
        if where == "members" and d.name.text in (self.scope.name, f"~{self.scope.name}"):
            kind = "constructor"
        body = code.body(after_parameters(code, code.past(open_)))
        has_body = code.tok(body) == "{" and body < code.match[body] < code.stop
        stop = code.match[body] + 1 if has_body else body + (code.tok(body) == ";")
        defines = code.tok(body) == "{" or code.tok(body) == "try"
        self.put(d, kind, found, found.first, stop, self._owner(found), 0, defines)
        if code.tok(body) == ",":  # `void f(int), g(int);`
            following = declarator(code, code.at(body + 1))
            if following is not None:
                return self.declarators(found, where, following)
            end = code.end(body, END)
            return end + (code.tok(end) == ";")
        last = code.match[body] if has_body else max(close, min(body, code.stop) - 1)
        scope = self.open("function", d.name.text, open_, last, ("parameters", open_ + 1, close))
        if d.name.qualified:
            scope.owner = "::".join(_qualifiers(code, d.name.first, d.name.at))
        if has_body:
            scope.unread.append(("expression", close + 1, body))
            scope.unread.append(("statements", body + 1, code.match[body]))
            scope.head = Head(d.name.text, self.begin(found.first), d.name.at, (open_, close), (body, code.match[body]))
            return code.match[body] + 1
        return stop if code.tok(body) != "{" else body + 1

    def record(self, head: ClassHead, first: int, friend: bool) -> None:
        code = self.code
        if head.body < 0:
            if head.at >= 0 and code.tok(head.stop) == ";" and not friend:
                self._declare_type(head, first, False)
            return
        if head.at >= 0:
            self._declare_type(head, first, True)
        close = code.match[head.body]
        if not head.body < close < code.stop:
            return
        kind: ScopeKind = "enum" if code.t[head.key] == "enum" else "class"
        part: Part = "enumerators" if kind == "enum" else "members"
        scope = self.open(kind, head.name, head.key, close, (part, head.body + 1, close))
        scope.bases = head.bases
        scope.transparent = kind == "enum" and not head.scoped
        if head.name:
            self.store.classes[head.name].append(scope)

    def _declare_type(self, head: ClassHead, first: int, defines: bool) -> None:
        self.store.put(
            Declaration(head.name, "type", head.at, first, head.stop, self.scope, head.key, head.at, defines=defines)
        )

    def enumerators(self, k: int) -> None:
        code = self.code
        scope = self.scope
        if scope.transparent and scope.parent is not None:
            scope = scope.parent
            while scope.kind == "template" and scope.parent is not None:
                scope = scope.parent
        while k < code.stop:
            if code.is_name(k):
                end = code.end(k, COMMA)
                self.declare(code.t[k], "enumerator", k, k, end, scope)
                self.expression(k, end)
                k = end
            k = code.at(k + 1)


def _qualifiers(code: Code, first: int, at: int) -> Iterator[str]:
    """The namespaces and classes before a name, without their templates' arguments."""
    k = first
    while k < at:
        if code.t[k] == "<" and (close := code.angle(k)) > 0:
            k = close
        elif is_identifier(code.t[k]) and code.t[k] != "template":
            yield code.t[k]
        k = code.at(k + 1)
