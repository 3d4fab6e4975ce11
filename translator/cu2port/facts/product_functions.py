"""Functions and macros of a header that multiply by PTX's `mma`, as its text has them: for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cu2port.core.late import regex
from cu2port.facts.asm_macros import is_asm_of_parameters
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.words import ASM, ASM_QUALIFIERS

_PRODUCT = "mma.sync"
_NAMED = regex(r"#[ \t]{0,20}define[ \t]{1,50}(\w+)[ \t]{1,50}([A-Za-z_]\w*)[ \t\r]{0,50}(?:\n|//|\Z)")
_LAST_WORD = regex(r"[A-Za-z_]\w*(?=\s*\Z)")
_MOST = 400  # letters between a keyword and the product behind it
_KEYWORDS = ASM | ASM_QUALIFIERS
_SPACE = regex(r"(?<=[ \n])namespace ([\w:]+) \{$", re.M)


def may_multiply(text: str) -> bool:
    """Whether a text may have such functions, told without the lexer."""
    return _PRODUCT in text and ("asm" in text or bool(foreign_keywords(text)))


def foreign_keywords(text: str) -> frozenset[str]:
    """Words that a text writes before a product as if each stood for `asm`: a macro of another header may. What they
    are is known only where the headers are known together."""
    out = set()
    at = text.find(_PRODUCT)
    while at >= 0:
        opener = text.rfind("(", max(0, at - _MOST), at)
        before = _LAST_WORD.search(text, max(0, opener - _MOST), opener) if opener >= 0 else None
        if before is not None and before[0] not in _KEYWORDS and text[opener + 1 : at].lstrip()[:1] == '"':
            out.add(before[0])
        at = text.find(_PRODUCT, at + 1)
    return frozenset(out)


def product_functions(unit: Unit) -> tuple[Function, ...]:
    """Those that others may call by a name which nothing else has in the file."""
    if not may_multiply(unit.text):
        return ()
    holding = {f.first: f for keyword, _, _ in unit.asms if (f := unit.function_at(keyword)) is not None}
    return tuple(f for f in holding.values() if is_offered(unit, f))


def product_texts(unit: Unit) -> frozenset[str]:
    """Their definitions, each in its namespace and behind its name."""
    made = [text for f in product_functions(unit) if may_multiply(text := definition(unit, f))]
    return frozenset((*made, *_macro_texts(unit)))


def _macro_texts(unit: Unit) -> Iterator[str]:
    """The macros of a header that are one asm statement of their parameters, each behind its name, if one of them
    multiplies. Each is what its name means whatever the build defines."""
    guard = unit.guard
    found = []
    for name, (m, *others) in unit.macros.items():
        around = unit.conditionals.around(m.directive.start)
        plain = all(unit.t[(d := unit.directives[g.opener]).first + 1 : d.stop] == ["ifndef", guard] for g in around)
        if not others and plain and is_asm_of_parameters(unit, m):
            found.append(f"{name} {unit.source(m.directive.first, m.directive.stop).strip()}")
    undefined = {unit.tok(d.first + 2) for d in unit.directives if d.keyword == "undef"}
    if any(map(may_multiply, found)):
        yield from (text for text in found if text.partition(" ")[0] not in undefined)


def definition(unit: Unit, f: Function) -> str:
    """A function's text in its namespace, with the macros of the file that it calls, behind its name."""
    text, space = unit.source(f.first, f.body[1] + 1), namespace_of(unit, f)
    called = {unit.t[i] for i in range(f.body[0], f.body[1]) if unit.t[i] in unit.macros and unit.tok(i + 1) == "("}
    macros = (unit.lexed.directive_at(m.first) for name in sorted(called) for m in unit.macros[name])
    lines = "".join(f"{unit.source(d.first, d.stop).strip()}\n" for d in macros if d is not None)
    return f"{f.name} {lines}" + (f"namespace {space} {{\n{text}\n}}" if space else text)


def names_by_macros(text: str) -> frozenset[tuple[str, str]]:
    """Macros that stand for one name, as a namespace's may, with it."""
    return frozenset((m[1], m[2]) for m in _NAMED.finditer(text))


def in_its_namespace(definition: str, names: Mapping[str, str]) -> str:
    """What `definition` says, in the namespace that macros name."""
    return _SPACE.sub(
        lambda m: f"namespace {'::'.join(names.get(part, part) for part in m[1].split('::'))} {{", definition, count=1
    )


def is_offered(unit: Unit, f: Function) -> bool:
    """Whether others may call a function by a name which nothing else has in the file."""
    return namespace_of(unit, f) is not None and is_called_alone(unit, f)


def namespace_of(unit: Unit, f: Function) -> str | None:
    """The namespace of a function, "" for none; None of a member of a class, or of what is not understood."""
    declared = unit.declaration(f.name_at)
    scope = declared.scope if declared is not None else None
    while scope is not None and scope.kind == "template":
        scope = scope.parent
    return scope.path if scope is not None and scope.kind in ("file", "namespace") and not scope.owner else None


def is_called_alone(unit: Unit, f: Function) -> bool:
    """Whether a name means one function of the file, which is called and nothing else."""
    others = [i for i in unit.find(f.name) if i != f.name_at]
    return all(unit.call(i) is not None and not _is_another(unit, f, i) for i in others) and (
        sum(g.name == f.name for g in unit.functions) == 1 and all(unit.function_at(i) is not None for i in others)
    )


def _is_another(unit: Unit, f: Function, i: int) -> bool:
    """Whether what is before a name says that it means something else."""
    if unit.tok(i - 1) == "::":
        return unit.tok(i - 2) != (namespace_of(unit, f) or "").rpartition("::")[2]
    return unit.tok(i - 1) in (".", "->", "&", "~")
