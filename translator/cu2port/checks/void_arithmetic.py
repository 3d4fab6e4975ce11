from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Severity, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, is_statement
from cu2port.syntax.neighbours import may_be_counted_on
from cu2port.syntax.operands import own_tokens, tokens
from cu2port.syntax.tree import Assign, Binary, Cast, Expr, Name, Num, Unary

_DECLARED = regex(r"void\s*\*(?:\s*(?:const|volatile|__restrict__|__restrict|restrict)\b)?\s*([A-Za-z_]\w*)")
_QUALIFIERS = ("const", "volatile")
_IDLE = frozenset({"static", "register", "extern", "constexpr", "inline", "__device__", "__constant__", "__shared__"})


class VoidArithmetic(Check):
    """A `void*` is counted on, `p + n`, as GNU's C++ and nvcc allow. clang refuses it in C++.

    GNU's unit is a byte, so the pointer becomes one to `char` for the operation, and the result a `void*` again. Only
    names are followed that the file declares.
    """

    code, name, severity = "CU268", "void-arithmetic", Severity.INFO
    triggers = frozenset({"void"})
    examples = (
        Example(
            "void* f(void* p, int n) { return p + n; }",
            "void* f(void* p, int n) { return (void*)((char*)p + n); }",
        ),
        Example(
            "float* f(const void* p, int n) { return (float*)(p + n * 4 + 1); }",
            "float* f(const void* p, int n) { return (float*)((const char*)p + n * 4 + 1); }",
            "the cast is there",
        ),
        Example(
            "void f(void* p, int n) { p += n; p -= n + 1; p++; }",
            "void f(void* p, int n) { p = (char*)p + n; p = (char*)p - (n + 1); p = (char*)p + 1; }",
        ),
        Example(
            "long f(void* p, void* q) { return p - q; }",
            "long f(void* p, void* q) { return (char*)p - (char*)q; }",
        ),
        Example(
            "#define PIN(x, n) { void* a = (void*)x; cudaHostUnregister(a + n); }\n",
            "#define PIN(x, n) { void* a = (void*)x; hipHostUnregister((void*)((char*)a + n)); }\n",
            "in a macro body",
        ),
        Example(
            "void f(void* p) { CHECK(cudaFree(p + 4)); }\n",
            "void f(void* p) { CHECK(hipFree((void*)((char*)p + 4))); }\n",
            "as a macro's argument",
        ),
        Example("void* f(void* p) { return (char*)p + 1; }", note="a cast is there"),
        Example("void f(void** p) { p += 1; use(p + 1); }", note="a pointer to pointers"),
        Example("void* f(void* p, int n) { return n > 0 ? p : 0; }", note="no arithmetic"),
        Example("void* f(void* p) { return p + 1; }", note="a file for the host's compiler", path="a.cpp"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if for_host(unit):
            return
        names = {m[1] for m in _DECLARED.finditer(unit.text)}
        for i in unit.find(*sorted(names)) if names else ():
            of = _qualifiers(unit, i) if may_be_counted_on(unit, i) else None
            path = around(unit, i) if of is not None else ()
            if of is None or len(path) < 2 or not isinstance(path[0], Name) or _is_cast(path[0]):
                continue
            edits = _edits(unit, path, of)
            if edits is None:
                continue
            yield self.finding(
                f"`{unit.t[i]}` points to `void`, and clang counts on no such pointer",
                unit.p[i],
                unit.end(i),
                tuple(edits),
                Trust.EXACT if edits else Trust.MANUAL,
                effects=(("all", "compile-error"),),
            )


def _qualifiers(unit: Unit, i: int) -> str | None:
    """The qualifiers of `void` where token i is a variable that points to it, "" without; None for others."""
    if unit.tok(i - 1) in (".", "->", "::"):
        return None
    d = unit.declarations.visible(unit.t[i], i)
    if d is None or d.at == i or d.kind not in ("variable", "parameter") or (d.pointers, d.arrays) != (1, 0):
        return None
    words = [w for w in unit.t[d.type_first : d.type_stop] if w not in _IDLE]
    if sorted({*words} - {*_QUALIFIERS}) != ["void"]:
        return None
    return "".join(f"{w} " for w in _QUALIFIERS if w in words)


def _is_cast(e: Expr) -> bool:
    return any(isinstance(x, Cast) for x in e.around)


def _edits(unit: Unit, path: tuple[Expr, ...], of: str) -> list[Edit] | None:
    """What is written around a pointer that is counted on; [] where nobody can, None where it is not counted on."""
    name, outer = path[0], path[1]
    p, cast = unit.p[name.at], f"({of}char*)"
    if isinstance(outer, Assign) and outer.op in ("+=", "-=") and outer.target is name:
        first, last = tokens(outer.value)
        plain = isinstance(outer.value, (Name, Num)) and first == last
        sign = f"= {cast}{unit.t[name.at]} {outer.op[0]}"
        edits = [replace(unit.p[outer.at], unit.end(outer.at), sign)]
        return edits if plain else [*edits, insert(unit.p[first], "("), insert(unit.end(last), ")")]
    if isinstance(outer, Unary) and outer.op in ("++", "--", "p++", "p--"):
        alone = is_statement(unit, name.at)
        if name.around or (outer.op[0] == "p" and not alone):  # the value before is used
            return []
        first, last = own_tokens(outer)
        new = f"{unit.t[name.at]} = {cast}{unit.t[name.at]} {outer.op[-1]} 1"
        new = new if alone else f"({new})"
        return [replace(unit.p[first], unit.end(last), new)]
    top: Binary | None = None
    inner: Expr = name
    for e in path[1:]:
        if not isinstance(e, Binary) or e.op not in ("+", "-") or (top is not None and _is_cast(top)):
            break
        if e.op == "-":
            b = e.b if e.a is inner else e.a
            if isinstance(b, Name) and _qualifiers(unit, b.at) is not None and not _is_cast(b):
                return [insert(p, cast)] if top is None else []
            if e.b is inner:
                break
        top = inner = e
    if top is None:
        return None
    kept = next((x for x in top.around if isinstance(x, Cast)), None)
    if kept is not None and "*" in unit.t[kept.type_first : kept.type_stop] and unit.t[kept.first] != "static_cast":
        return [insert(p, cast)]
    first, last = own_tokens(top)
    end = insert(unit.end(last), ")")
    if unit.p[first] == p:
        return [insert(p, f"({of}void*)({cast}"), end]
    return [insert(unit.p[first], f"({of}void*)("), insert(p, cast), end]
