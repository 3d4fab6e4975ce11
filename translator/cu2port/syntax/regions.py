"""Reads scopes: statements one after the other, what each declares, and the scopes that it opens."""

from __future__ import annotations

from typing import cast

from cu2port.syntax.code import Code, Name
from cu2port.syntax.declarators import (
    Declarator,
    Specifiers,
    Where,
    class_head,
    is_declaration,
    is_macro,
    parameters_like,
    specifiers,
)
from cu2port.syntax.entities import Entities, Store
from cu2port.syntax.extents import COLON, END, after_requires, statement_end
from cu2port.syntax.lexer import Lexed, is_identifier, is_string
from cu2port.syntax.scopes import Declaration, Head, Part, Scope
from cu2port.syntax.words import ACCESS, ASM, CLASS_KEYS, CONDITIONS, EXPRESSION_WORDS, LEAVING, SPECIFIERS, STATEMENTS

_BEGINS_ANEW = ACCESS | frozenset({"namespace", "template", "using", "typedef"})  # after a macro alone


class Reader:
    """Reads the scopes of a text, each once."""

    def __init__(self, lexed: Lexed, file: Scope) -> None:
        self.lexed = lexed
        self.store = Store(len(lexed.t))
        self.file = file
        self._code = Code(lexed)
        self._codes: dict[int, Code] = {}
        file.unread.append(("names", 0, len(lexed.t)))

    def macro_scopes(self) -> list[Scope]:
        """A scope for the body of each macro; the macros themselves are declared."""
        out = []
        for d in self.lexed.directives:
            at = d.first + 2
            if d.keyword != "define" or at >= d.stop:
                continue
            name = self.lexed.t[at]
            first = at + 1
            if first < d.stop and self.lexed.t[first] == "(" and self.lexed.p[first] == self.lexed.end(at):
                first = self.lexed.match[first] + 1
            self.store.put(Declaration(name, "macro", at, d.first, d.stop, self.file, at, at))
            if at < first < d.stop:
                scope = Scope("macro", name, d.first, d.stop - 1, self.file)
                scope.unread.append(("statements", first, d.stop))
                out.append(scope)
        return out

    def read(self, scope: Scope) -> None:
        """Read what of a scope is not read yet, without the scopes in it."""
        while scope.unread:
            part, first, stop = scope.unread.pop(0)
            _Region(self.store, self.code(scope, stop), scope).read(part, first)

    def code(self, scope: Scope, stop: int) -> Code:
        """The tokens up to `stop` as a scope reads them."""
        base = self._code
        d = self.lexed.directive_at(scope.first) if scope.parent is not None else None
        if d is not None and d.keyword == "define":  # the body of a macro, or a scope in it
            base = self._codes.get(d.first) or self._codes.setdefault(d.first, Code(self.lexed, d.first, d.stop))
        return base.until(stop)


class _Region(Entities):
    """Reads one part of one scope."""

    def read(self, part: Part, first: int) -> None:
        k = self.code.at(first)
        if part == "expression":
            self.expression(k, self.code.stop)
        elif part == "enumerators":
            self.enumerators(k)
        elif part in ("parameters", "template parameters"):
            self.parameters(k, "parameter" if part == "parameters" else "template parameter")
        else:
            where = cast(Where, part)
            while k < self.code.stop:
                k = max(self.statement(k, where), k + 1)
                k = self.code.at(k)

    def statement(self, k: int, where: Where) -> int:
        """Read the statement or declaration at token k; the token after it."""
        code, tok = self.code, self.code.t[k]
        if tok in (";", "}", ")", "]"):
            return k + 1
        if tok == "{":
            return self.block(k)
        if not is_identifier(tok) and tok not in ("::", "~", "["):
            return self._expression_statement(k)
        if tok == "template":
            return self._template(k, where)
        if tok in ("namespace", "inline") and (tok == "namespace" or code.tok(k + 1) == "namespace"):
            return self._namespace(k)
        if tok == "using":
            return self._using(k)
        if tok == "extern" and is_string(code.tok(k + 1)) and code.tok(k + 2) == "{":
            return k + 3
        if tok == "concept":
            self.declare(code.t[k + 1] if k + 1 < code.stop else "", "type", k + 1, k, code.end(k, END) + 1)
            return code.end(k, END) + 1
        if tok in ACCESS or tok == "default":
            return k + 2 if code.tok(k + 1) == ":" else k + 1
        if tok == "case":
            return code.end(k + 1, COLON) + 1
        if tok in CONDITIONS and where == "statements":
            return self._condition(k)
        if tok in ("else", "do", "try", "export"):
            return k + 1
        if tok == "catch":
            return self._catch(k)
        if tok in LEAVING or tok in EXPRESSION_WORDS or tok in ASM or tok in CONDITIONS or tok == "static_assert":
            return self._expression_statement(k)
        if code.tok(k + 1) == ":" and code.is_name(k):
            return k + 2  # a label, `signals:`
        return self._declaration(k, where)

    def _declaration(self, k: int, where: Where) -> int:
        code = self.code
        found = specifiers(code, k, where)
        for head in found.classes:
            self.record(head, k, "friend" in found.words)
        if is_declaration(code, found, where):
            return self.declarators(found, where)
        if found.names and self._is_untyped_function(found, where):
            return self._untyped(found, where)
        if found.classes and (code.tok(found.stop) in (";", "}", "") or not found.names):
            return found.stop + (code.tok(found.stop) == ";")
        return self._expression_statement(k)

    def _is_untyped_function(self, found: Specifiers, where: Where) -> bool:
        """Whether a name without a type is a constructor, destructor or conversion, or a function all the same."""
        code, name = self.code, found.names[-1]
        if code.tok(found.stop) != "(" or where == "statements" or len(found.names) > 1:
            return False
        if name.text.startswith(("operator", "~")):
            return True
        if where == "members":
            return name.text == self.scope.name or bool(found.words)
        after = code.tok(code.past(found.stop))
        if after == "{" and parameters_like(code, found.stop, False):
            return True
        return (name.qualified or bool(found.words)) and after in ("{", ":", "noexcept", "try", "=")

    def _untyped(self, found: Specifiers, where: Where) -> int:
        name = found.names[-1]
        special = name.text.startswith("~") or name.text == self.scope.name or name.qualified
        found.type_stop = name.first
        d = Declarator(name, found.stop, 0, False, False)
        return self.function(found, d, where, "constructor" if special and "operator" not in name.text else "function")

    def _expression_statement(self, k: int) -> int:
        """A statement that declares nothing. A macro that is used like a function may stand without a semicolon."""
        code = self.code
        if code.is_name(k) or code.tok(k) == "::":
            name = code.name(k)
            if code.tok(name.stop) == "(" and code.match[name.stop] > name.stop:
                after = code.past(name.stop)
                tok = code.tok(after)
                if tok == "{" or tok == "}" or tok == "" or (is_identifier(tok) and tok not in EXPRESSION_WORDS):
                    self.expression(k, after)
                    if tok == "{" and self.scope.kind in ("file", "namespace", "class", "macro"):
                        return self._unnamed_function(k, name, after)
                    return after
            elif (tok := code.tok(name.stop)) in STATEMENTS or (tok in _BEGINS_ANEW and is_macro(code, name)):
                return name.stop  # a macro, as in `UNROLL for (...)`
        end = code.end(k, END)
        self.expression(k, end)
        return end + (code.tok(end) == ";")

    def _unnamed_function(self, k: int, name: Name, body: int) -> int:
        """`TEST(a, b) { ... }`: what the macro makes of it is not known; its body is read."""
        close = self.code.match[body]
        if not body < close < self.code.stop:
            return body + 1
        head = Head(name.text, self.begin(k), name.at, (name.stop, self.code.match[name.stop]), (body, close))
        scope = self.open(
            "function", name.text, name.at, close, ("parameters", name.stop + 1, self.code.match[name.stop])
        )
        scope.unread.append(("statements", body + 1, close))
        scope.head = head
        return close + 1

    def _condition(self, k: int) -> int:
        """`if (...)`, `for (...)`: a scope if it declares something; what it controls is read with it."""
        code = self.code
        open_ = code.at(k + 1)
        if code.tok(open_) in ("constexpr", "consteval") or code.is_name(open_):
            open_ = code.at(open_ + 1)
        if code.tok(open_) != "(" or not open_ < code.match[open_] < code.stop:
            return k + 1
        close = code.match[open_]
        inside = code.t[open_ + 1 : close]
        if code.t[k] != "for" and "=" not in inside and ":" not in inside and "{" not in inside:
            self.expression(open_ + 1, close)
            return close + 1
        end = statement_end(code, k, self.store.ends)
        scope = self.open("statement", "", k, min(end, code.stop) - 1, ("statements", open_ + 1, close))
        scope.unread.append(("statements", close + 1, end))
        return end

    def _catch(self, k: int) -> int:
        code = self.code
        open_ = code.at(k + 1)
        body = code.past(open_) if code.tok(open_) == "(" else -1
        if body < 0 or code.tok(body) != "{" or not body < code.match[body] < code.stop:
            return k + 1
        scope = self.open("statement", "", k, code.match[body], ("parameters", open_ + 1, code.match[open_]))
        scope.unread.append(("statements", body + 1, code.match[body]))
        return code.match[body] + 1

    def _template(self, k: int, where: Where) -> int:
        code = self.code
        lt = code.at(k + 1)
        gt = code.angle(lt) if code.tok(lt) == "<" else -1
        if gt < 0:  # an explicit instantiation declares nothing
            return code.end(k, END) + 1
        scope = self.open("template", "", k, gt, ("template parameters", lt + 1, gt))
        outer, self.nest = self.nest, scope
        k = code.at(gt + 1)
        if code.tok(k) == "requires":
            k = after_requires(code, code.at(k + 1))
        if code.is_name(k) and code.tok(k + 1) == "(" and code.tok(code.past(k + 1)) in SPECIFIERS:
            k = code.past(k + 1)  # a macro: `template <class T> LAUNCH_BOUNDS(256) __global__`
        end = self.statement(k, where) if k < code.stop else k
        self.nest = outer
        scope.last = max(gt, min(end, code.stop) - 1)
        return end

    def _namespace(self, k: int) -> int:
        code, first = self.code, k
        inline = code.t[k] == "inline"
        k = code.attributes(code.at(k + 1 + inline))
        names: list[int] = []
        while code.is_name(k) or code.tok(k) in ("::", "inline"):
            if code.is_name(k):
                if code.tok(k - 1) != "::" and code.tok(k - 1) != "inline":
                    names.clear()  # `namespace EXPORT a {`
                names.append(k)
            k = code.attributes(code.at(k + 1))
        if code.tok(k) == "=":
            end = code.end(k, END)
            if names:
                self.declare(code.t[names[-1]], "namespace", names[-1], first, end + 1)
            return end + 1
        if code.tok(k) != "{":
            return k + 1
        close = code.match[k]
        last = close if k < close < code.stop else code.stop - 1
        for at in names:
            self.declare(code.t[at], "namespace", at, first, last + 1)
        path = "::".join(code.t[at] for at in names)
        scope = self.open("namespace", path, k, last, ("names", k + 1, last if close == last else last + 1))
        scope.transparent = inline or not names
        return last + 1

    def _using(self, k: int) -> int:
        code, first = self.code, k
        end = code.end(k, END)
        k = code.at(k + 1)
        if code.tok(k) == "namespace":
            self.scope.spaces.append(
                "".join(x for x in code.t[k + 1 : end] if x == "::" or is_identifier(x)).lstrip(":")
            )
        elif code.is_name(k) and code.tok(code.attributes(code.at(k + 1))) == "=":
            self.declare(code.t[k], "type", k, first, end + 1)
            key = code.at(code.attributes(code.at(k + 1)) + 1)
            if code.tok(key) in CLASS_KEYS:  # `using A = struct { ... };`
                head = class_head(code, key)
                self.record(head, first, False)
                self.name_class(head, code.t[k])
        else:
            while k < end:
                tok = code.t[k]
                if code.is_name(k) or tok == "::":
                    name = code.name(k)
                    if name.qualified:
                        self.declare(name.text, "using", name.at, first, end + 1)
                    k = name.stop
                else:
                    k = code.at(k + 1)
        return end + 1
