"""Facts read off a parsed file: what names mean, what expressions are. Runs in libclang's process."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.core.model import Span
from cu2port.facts import _libclang as c
from cu2port.facts.clang import Binding, Expr, Owner, Question
from cu2port.facts.conditionals import Cover
from cu2port.facts.shim import Shim

_IDENTIFIER = re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*")
_CUDA_MACRO = re.compile(r"__CUDA|__NV")
_CONFLICT = re.compile(rb"definition of type '(\w+)' conflicts with typedef")
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.M)
_GUARD = re.compile(rb"#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n\s*#[ \t]*define[ \t]+\1\b")


@dataclass(frozen=True, slots=True)
class Setting:
    """What does not change from file to file."""

    lib: c.Lib
    version: bytes
    shim: Shim
    header: Path  # where the shim is, or would be
    headers: str  # a folder that does not exist; known headers are empty files there


class Bindings:
    """Answers to "what does this name mean" in one parsed file."""

    def __init__(self, setting: Setting, unit: c.Unit, q: Question) -> None:
        self.s, self.unit, self.lib, self.q = setting, unit, setting.lib, q
        self.defined = {re.split(r"[(=]", d)[0] for d in q.defines}
        self.shim = unit.lib.getFile(unit.tu, os.fsencode(setting.header))
        self.seen: dict[tuple[int, int | None, int | None], Binding] = {}
        self.classes = _own_classes(unit, q)

    def of(self, offsets: Sequence[int]) -> dict[int, Binding]:
        """The bindings of the identifiers at these offsets; of those that have none, nothing."""
        out: dict[int, Binding] = {}
        for offset in offsets:
            name = _IDENTIFIER.match(self.q.data, offset)
            if name:
                binding = self.at(offset, name[0])
                if binding is not None:
                    out[offset] = binding
        return out

    def at(self, offset: int, name: bytes) -> Binding | None:
        cursor = self.unit.at(offset)
        if cursor.kind == c.MACRO_DEFINITION and self.lib.text(self.lib.getCursorSpelling(cursor)) != name:
            return None  # in a macro's body, where it means nothing yet
        if cursor.kind == c.INCLUSION:
            return None
        target = cursor if cursor.kind == c.MACRO_DEFINITION else self.lib.getCursorReferenced(cursor)
        if target.kind == c.OVERLOADED_DECL_REF:
            number = self.lib.getNumOverloadedDecls(target)
            found = [self.declaration(self.lib.getOverloadedDecl(target, i)) for i in range(number)]
            found = [b for b in found if b.qualified.rpartition("::")[2].encode() == name]
            if found:
                own = next((b for b in found if b.owner == "user"), None)
                return replace(own, mixed=any(b.owner == "cuda" for b in found)) if own else found[0]
        elif not self.lib.Cursor_isNull(target) and self.lib.text(self.lib.getCursorSpelling(target)) == name:
            return self.declaration(target)
        kind = "member" if cursor.kind == c.MEMBER_REF_EXPR else ""
        return Binding("undeclared", name.decode(errors="replace"), kind, "", "")

    def declaration(self, target: c.Cursor) -> Binding:
        if target.kind == c.CONSTRUCTOR:  # `dim3(1, 2)` names the class to a reader
            target = self.lib.getCursorSemanticParent(target)
        key = (target.kind, target.data[0], target.data[1] if target.kind >= 500 else None)
        if key not in self.seen:
            self.seen[key] = self.describe(target)
        return self.seen[key]

    def describe(self, target: c.Cursor) -> Binding:
        lib = self.lib
        parts = [lib.text(lib.getCursorSpelling(target)).decode(errors="replace")]
        is_macro = target.kind == c.MACRO_DEFINITION
        type_name = "" if is_macro else self.type_name(target)
        owner, file = self.owner(target, parts[0])
        parent = lib.getCursorSemanticParent(target)
        while not is_macro and not lib.Cursor_isNull(parent) and parent.kind not in c.TRANSLATION_UNIT:
            if c.KINDS.get(parent.kind) in ("type", "namespace") and parent.kind != c.ENUMERATION:  # unscoped, mostly
                spelling = lib.text(lib.getCursorSpelling(parent)).decode(errors="replace")
                if spelling and "(" not in spelling:  # "(anonymous struct at ...)"
                    parts.append(spelling)
            parent = lib.getCursorSemanticParent(parent)
        return Binding(owner, "::".join(reversed(parts)), c.KINDS.get(target.kind, ""), type_name, file)

    def type_name(self, target: c.Cursor) -> str:
        kind = self.lib.getCanonicalType(self.lib.getCursorType(target))
        return self.lib.text(self.lib.getTypeSpelling(kind)).decode(errors="replace") if kind.kind else ""

    def is_enumeration(self, target: c.Cursor) -> bool:
        """Whether a type is one of constants: a source that defines it again takes CUDA's place where there is none."""
        return bool(self.lib.getCanonicalType(self.lib.getCursorType(target)).kind == c.ENUM)

    def owner(self, target: c.Cursor, name: str) -> tuple[Owner, str]:
        if name == "__syncthreads" and target.kind == c.FUNCTION:
            return "cuda", ""  # clang has it built in, and puts it where it is first used
        first = target if target.kind == c.MACRO_DEFINITION else self.lib.getCanonicalCursor(target)
        file, offset = self.unit.place(self.lib.getCursorLocation(first))
        if file is None:  # builtins, predefined macros, -D
            return ("cuda" if _CUDA_MACRO.match(name) else "user" if name in self.defined else "system"), ""
        if file == self.shim:
            is_own = name in self.classes and not self.is_enumeration(target)
            return ("user" if is_own else "cuda" if offset >= self.s.shim.cuda else "system"), ""
        return "user", self.lib.text(self.lib.getFileName(file)).decode(errors="replace")


def _own_classes(unit: c.Unit, q: Question) -> frozenset[str]:
    """Classes that the sources define, whatever is configured, and the shim too: it has the types of headers that
    nobody includes. The first one counts for libclang."""
    out = set()
    for message, (file, offset) in unit.errors():
        conflict = _CONFLICT.match(message)
        if conflict is None or file is None:
            continue
        try:
            path = unit.lib.text(unit.lib.getFileName(file))
            data = q.data if file == unit.file else Path(os.fsdecode(path)).read_bytes()
        except OSError:
            continue  # it was there a moment ago; the shim's type is taken
        if not _is_conditional(data, offset):
            out.add(conflict[1].decode())
    return frozenset(out)


def _is_conditional(data: bytes, offset: int) -> bool:
    """Whether an `#if` is around a byte of a text, other than that of an include guard."""
    depth = sum(1 if m[1] == b"if" else -1 for m in _DIRECTIVE.finditer(data, 0, offset))
    guard = _GUARD.search(data)
    first = _DIRECTIVE.search(data)
    return depth > (guard is not None and first is not None and guard.start() == data.find(b"#", first.start()))


def read_exprs(setting: Setting, unit: c.Unit, spans: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Expr]:
    """Types and values of the expressions that have just these extents (bytes, from first to last token).

    Of nested ones with one extent the outermost counts, since a macro's inner expressions are all at its use; but clang
    puts implicit conversions outside, and those are looked through.
    """
    lib = setting.lib
    wanted, outer = frozenset(spans), Cover(Span(a, b) for a, b in spans)
    starts = sorted(start for start, _ in spans)
    found: dict[tuple[int, int], c.Cursor] = {}
    unknown: list[int] = []  # where the value of an expression would be made up
    shim = lib.getFile(unit.tu, os.fsencode(setting.header))

    def visit(cursor: c.Cursor, parent: c.Cursor, data: object) -> int:
        extent = lib.getCursorExtent(cursor)
        file, start = unit.place(lib.getRangeStart(extent))
        end = unit.place(lib.getRangeEnd(extent))[1]
        if file != unit.file:
            return c.CONTINUE
        if (start, end) in wanted and lib.isExpression(cursor.kind):
            known = found.get((start, end))
            if known is None or (known.kind == c.UNEXPOSED_EXPR and lib.equalCursors(known, parent)):
                copy = c.Cursor()
                copy.kind, copy.xdata, copy.data = cursor.kind, cursor.xdata, cursor.data
                found[start, end] = copy
        if cursor.kind == c.DECL_REF_EXPR and start in outer and _is_unknown(setting, unit, shim, cursor):
            unknown.append(start)
        i = bisect_left(starts, start)
        return c.RECURSE if start in outer or (i < len(starts) and starts[i] < end) else c.CONTINUE

    lib.visitChildren(lib.getTranslationUnitCursor(unit.tu), c.Visitor(visit), None)
    unknown.sort()
    return {
        (start, end): _expr(setting, cursor, bisect_left(unknown, start) == bisect_left(unknown, end))
        for (start, end), cursor in found.items()
    }


def _expr(setting: Setting, cursor: c.Cursor, has_value: bool) -> Expr:
    lib = setting.lib
    canonical = lib.getCanonicalType(lib.getCursorType(cursor))
    number = canonical
    if canonical.kind == c.ENUM:
        number = lib.getCanonicalType(lib.getEnumDeclIntegerType(lib.getTypeDeclaration(canonical)))
    signed = True if number.kind in c.SIGNED else False if number.kind in c.UNSIGNED else None
    value = None
    if signed is not None and has_value:
        result = lib.Cursor_Evaluate(cursor)
        if result:
            if lib.EvalResult_getKind(result) == 1:
                unsigned = lib.EvalResult_isUnsignedInt(result)
                value = lib.EvalResult_getAsUnsigned(result) if unsigned else lib.EvalResult_getAsLongLong(result)
            lib.EvalResult_dispose(result)
    name = lib.text(lib.getTypeSpelling(canonical)).decode(errors="replace")
    size = lib.Type_getSizeOf(canonical) if canonical.kind in c.SIZED else 0
    return Expr(name, max(0, size) * 8, signed, value)


def _is_unknown(setting: Setting, unit: c.Unit, shim: int | None, cursor: c.Cursor) -> bool:
    """Whether a name is that of a generated enumerator: its value is made up."""
    target = setting.lib.getCursorReferenced(cursor)
    if target.kind != c.ENUMERATOR:
        return False
    file, offset = unit.place(setting.lib.getCursorLocation(target))
    return file is not None and file == shim and offset >= setting.shim.generated
