"""The members of structs, for the program of a trial: it fills and compares them one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from cu2port.facts.unit import Unit
from cu2port.syntax.scopes import Declaration, Scope

_ACCESS = frozenset({"private", "public", "protected"})
_HIDDEN = frozenset({"union", "virtual"})


def members(unit: Unit, seen: frozenset[str]) -> Iterator[str]:
    """A specialisation of `cu2port_trial::cu2port_members` for each plain struct or union among those names."""
    for scope in unit.declarations.scopes():
        if scope.kind != "class" or scope.name not in seen or scope.bases:
            continue
        if scope.first < 0 or _is_another(unit, scope) or not _HIDDEN.isdisjoint(unit.t[scope.first + 1 : scope.last]):
            continue
        parent = scope.parent
        head, arguments = "", ""
        if parent is not None and parent.kind == "template":
            found = _template(unit, parent)
            if found is None:
                continue
            (head, arguments), parent = found, parent.parent
        if not _can_be_named(unit, parent, scope.first):
            continue
        plain = [d for group in scope.names.values() for d in group if _is_plain(unit, d)]
        if (
            plain
            and not _is_split(unit, scope, [d.at for d in plain])
            and all(_access(unit, scope, d.at) == "public" for d in plain)
        ):
            is_union = unit.t[scope.first] == "union"
            yield _text(head, scope.path + arguments, [d.name for d in plain], is_union)


def _is_another(unit: Unit, scope: Scope) -> bool:
    """Whether a class is a specialisation, or one of two that `#if` chooses from, where the other is an enum."""
    head = unit.t[scope.first : unit.t.index("{", scope.first)]
    return "<" in head or any("enum" in unit.t[d.first : d.at] for d in unit.declarations.named(scope.name))


def _can_be_named(unit: Unit, scope: Scope | None, at: int) -> bool:
    """Whether what a scope declares at a token can be named from outside: in a namespace, or public in such a class."""
    while scope is not None and scope.kind == "class":
        if _access(unit, scope, at) != "public":
            return False
        at, scope = scope.first, scope.parent
    return scope is not None and scope.kind in ("file", "namespace")


def _access(unit: Unit, scope: Scope, at: int) -> str:
    """What a class says of a member that begins at a token."""
    said = "private" if unit.t[scope.first] == "class" else "public"
    i = unit.t.index("{", scope.first) + 1
    while i < at:
        if unit.t[i] in _ACCESS and unit.tok(i + 1) == ":":
            said = unit.t[i]
        i = max(i, unit.match[i]) + 1  # past what braces hold
    return said


def _is_split(unit: Unit, scope: Scope, at: Sequence[int]) -> bool:
    """Whether `#if` may choose members, which are declared at some tokens, or a file has others."""
    inside = [d for d in unit.directives if scope.first < d.first < scope.last and unit.function_at(d.first) is None]
    if any(d.keyword == "include" for d in inside):
        return True
    opens = [d.first for d in inside if d.keyword in ("if", "ifdef", "ifndef")]
    ends = [d.first for d in inside if d.keyword == "endif"]
    return len(opens) != len(ends) or any(bisect_left(opens, i) > bisect_left(ends, i) for i in at)


def _is_plain(unit: Unit, d: Declaration) -> bool:
    return d.kind == "member" and "static" not in unit.t[d.first : d.at] and unit.tok(d.at + 1) != ":"


def _template(unit: Unit, scope: Scope) -> tuple[str, str] | None:
    """The parameters of a template, and as they are given to it again."""
    close = unit.angle_close(scope.first + 1) if unit.tok(scope.first + 1) == "<" else -1
    if close < 0 or {"=", "..."} & set(unit.t[scope.first : close]):
        return None
    names = [d.name for group in scope.names.values() for d in group if d.kind == "template parameter"]
    return unit.source(scope.first + 2, close), f"<{', '.join(names)}>"


def _text(head: str, name: str, names: list[str], is_union: bool) -> str:
    types = [f"decltype(cu2port_class::{n})" for n in names]
    if is_union:  # one of its members tells what all of its bytes are
        adds = (
            f"cu2port_add<cu2port_largest<{', '.join(f'cu2port_plain<{t}>' for t in types)}>>(cu2port_to, cu2port_at);"
        )
    else:
        adds = " ".join(
            f"cu2port_add<{t}>(cu2port_to, cu2port_at + __builtin_offsetof(cu2port_class, {n}));"
            for t, n in zip(types, names, strict=True)
        )
    return (
        f"template <{head}> struct cu2port_trial::cu2port_members<{name}> {{"
        f" static constexpr bool cu2port_known = true; using cu2port_class = {name};"
        f" static void cu2port_add_to(cu2port_layout& cu2port_to, cu2port_size cu2port_at) {{ {adds} }} }};\n"
    )
