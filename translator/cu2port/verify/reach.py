"""Which functions and macros of a program reach a cross-lane operation: only there lanes have to be distinguished.

Names decide, over all files of the program: the simulator must not depend on what a C++ parser makes of a file. What
the operations are is read in the simulator's own headers: each function in which a lane waits for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cu2port.catalog import Catalog
from cu2port.core.data import computed_from
from cu2port.core.model import Project
from cu2port.facts.structure import Function, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.verify.steps import has_steps

SIMULATED = Path(__file__).resolve().parent.parent / "include" / "sim"
_MEETINGS = frozenset({"meet", "barrier", "grid_barrier"})  # of core.h: a lane waits
_GROUPS = "hip_cooperative_groups.h"
_COLLECTIVES = tuple(f"hipcub/{name}.h" for name in ("warp", "block", "block_sort", "block_merge"))
_FRAGMENTS = "rocwmma/fragments.h"
_CALL_OPERATOR = "operator()"
_WORD = re.compile(r"\w+")
_PASTE = re.compile(r"\s*##\s*")
_MEMBERS = 64  #: of a class that are looked at in a row
_NO_CALL = frozenset("if for while switch return sizeof decltype catch".split())


@dataclass(frozen=True, slots=True)
class Reach:
    """`calls`: names whose calls reach a cross-lane operation; `macros`: macros whose expansion does; `callables`:
    classes whose call operator does; `takers`: functions that are given a lambda or a callable that does."""

    calls: frozenset[str]
    macros: frozenset[str]
    callables: frozenset[str] = frozenset()
    takers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Operations:
    """Cross-lane operations: names at global scope and of rocWMMA, and names of cooperative groups and of hipCUB's
    collectives, which other code may use for other things: they count after `.`, `->` or `::` only."""

    names: frozenset[str]
    of_groups: frozenset[str]


EMPTY = Catalog(
    names={}, packed={}, headers={}, missing_headers={}, header_library={}, namespaces={}, libraries=(), digest=""
)


def read(text: str, path: str, project: Project | None = None) -> Unit:
    """The facts of a text that needs no conversion; messages will name `path`."""
    return Unit(text, EMPTY, path=path, project=project)


def read_again(text: str, unit: Unit) -> Unit:
    """The facts of another text of the same file."""
    return read(text, unit.path, unit.project)


@cache
def operations() -> Operations:
    """The operations that the simulator has: what reaches a meeting in its headers. Each process of a build asks."""
    paths = sorted(SIMULATED.rglob("*.h"))
    package = SIMULATED.parent.parent
    readers = [Path(__file__), *(p for name in ("facts", "syntax") for p in sorted((package / name).glob("*.py")))]
    names, of_groups = computed_from("reach", (*paths, *readers), lambda: _operations(paths))
    return Operations(names, of_groups)


def _operations(paths: Iterable[Path]) -> tuple[frozenset[str], frozenset[str]]:
    units = [read(p.read_text("latin-1"), str(p)) for p in paths]
    found = _closure(units, Operations(_MEETINGS, frozenset()))
    names: set[str] = {m for u in units for m in u.macros if m in found.macros}
    of_groups: set[str] = set()
    for unit in units:
        for f in unit.functions:
            if _enclosing(unit, f.first) < 0:
                names |= found.calls.intersection(_names(unit, f))
            elif unit.path.endswith(_GROUPS):
                of_groups |= found.calls.intersection(_names(unit, f))
            elif unit.path.endswith(_COLLECTIVES):  # what begins with a small letter is for these headers alone
                of_groups |= {n for n in found.calls.intersection(_names(unit, f)) if n[0].isupper()}
            elif unit.path.endswith(_FRAGMENTS):  # its namespace is mostly opened
                names |= {n for n in found.calls.intersection(_names(unit, f)) if n.endswith("_sync")}
    return frozenset(names), frozenset(of_groups)


def is_operation(unit: Unit, i: int) -> bool:
    """Whether token i names a cross-lane operation of HIP or of a cooperative group."""
    return _is_operation(unit, i, operations())


def _is_operation(unit: Unit, i: int, known: Operations) -> bool:
    tok = unit.t[i]
    return tok in known.names or (tok in known.of_groups and unit.tok(i - 1) in (".", "->", "::", "template"))


def is_reaching(unit: Unit, i: int, reach: Reach) -> bool:
    """Whether token i is a call (not the definition) of something that reaches a cross-lane operation."""
    return _is_reaching(unit, i, reach, operations())


def _is_reaching(unit: Unit, i: int, reach: Reach, known: Operations) -> bool:
    if unit.t[i] not in reach.calls and not _is_operation(unit, i, known) and not _calls_parameter(unit, i, reach):
        return False
    return unit.tok(i - 1) != "##" and unit.call(i) is not None and not _initializes(unit, i)  # else of another name


def _initializes(unit: Unit, i: int) -> bool:
    """Whether token i is the member of a constructor's initializer: `: x(a), name(b) {`."""
    k = i
    for _ in range(_MEMBERS if unit.tok(i - 1) in (":", ",") else 0):
        if not is_identifier(unit.tok(k)) or unit.tok(k + 1) not in ("(", "{") or unit.match[k + 1] < 0:
            return False
        k = unit.match[k + 1] + 1
        if unit.tok(k) != ",":
            return unit.tok(k) == "{"
        k += 1
    return False


def _calls_parameter(unit: Unit, i: int, reach: Reach) -> bool:
    """Whether token i calls what a function was given, and some caller gives it what reaches an operation."""
    if not reach.takers or unit.tok(i + 1) != "(":
        return False
    f = unit.function_at(i)
    if f is None or f.name not in reach.takers or i < f.body[0]:
        return False
    first, stop = f.params
    return any(unit.t[k] == unit.t[i] and unit.t[k + 1] in (",", ")", "=") for k in range(first + 1, stop))


def reached(units: Iterable[Unit], steps: bool = False) -> Reach:
    """The closure over all files of a program. `steps`: functions whose statements are distinguished, too.

    A device function that is only declared is in another unit, and what it reaches is not known: it counts.
    """
    files = list(units)
    calls = {n for u in files for n in _declared(u)} - {f.name for u in files for f in u.functions}
    if steps:
        for u in files:
            calls |= {f.name for f in u.functions if has_steps(u, f) and not f.name.startswith("operator")}
    return _closure(files, operations(), calls)


def _declared(unit: Unit) -> Iterator[str]:
    """The names of device functions that a file declares: `__device__ int f(int);`."""
    for i in unit.find("__device__"):
        k = i + 1
        while k < len(unit.t) and unit.t[k] not in ("(", ";", "{", "}", "="):
            k += 1
        close = unit.match[k] if unit.tok(k) == "(" else -1
        if close > 0 and unit.tok(close + 1) == ";" and unit.function_at(i) is None and is_identifier(unit.t[k - 1]):
            yield unit.t[k - 1]


def _closure(units: list[Unit], known: Operations, start: Iterable[str] = ()) -> Reach:
    files = [(u, _owners(u)) for u in units]
    calls, macros, callables, takers = set(start), set[str](), set[str](), set[str]()
    every = known.names | known.of_groups
    before = -1
    while before != len(calls) + len(macros) + len(callables) + len(takers):
        before = len(calls) + len(macros) + len(callables) + len(takers)
        now = Reach(frozenset(calls), frozenset(macros), frozenset(callables), frozenset(takers))
        for unit, owners in files:
            callables |= _aliases(unit, callables)
            for i, owner in owners:
                tok = unit.t[i]
                if tok in callables and _is_constructed(unit, i):
                    given = _taker(unit, i)
                    takers |= given
                    calls |= given
                if not (tok in every or tok in calls or tok in macros or takers):
                    continue
                alias = owner.is_macro and _is_alias(unit, i, now, known)
                if not (tok in now.macros or alias or _is_reaching(unit, i, now, known)):
                    continue
                if alias:
                    calls |= owner.names
                (macros if owner.is_macro else callables if owner.is_callable else calls).update(owner.names)
                if owner.body >= 0:
                    for k in _lambdas(unit, i, owner.body):
                        calls |= _lambda_name(unit, k)
                        given = _taker(unit, k)
                        takers |= given
                        calls |= given
    calls -= {name for u in units for name, all_ in u.macros.items() if any(m.first >= m.stop for m in all_)}
    return Reach(frozenset(calls), frozenset(macros), frozenset(callables), frozenset(takers))


@dataclass(frozen=True, slots=True)
class _Owner:
    """What a token belongs to: the names of a function, of a macro, or of a class whose call operator it is in.
    `body`: the function's opening brace, -1 for a macro."""

    names: frozenset[str]
    body: int = -1
    is_macro: bool = False
    is_callable: bool = False


def _is_alias(unit: Unit, i: int, reach: Reach, known: Operations) -> bool:
    """Whether token i is the whole body of a macro and names an operation: `#define SHFL __shfl_down`."""
    d = unit.in_directive(i)
    return (
        d is not None
        and d.keyword == "define"
        and i == d.first + 3
        and d.stop == i + 1
        and (unit.t[i] in known.names or unit.t[i] in reach.calls)
    )


def _owners(unit: Unit) -> list[tuple[int, _Owner]]:
    """(token, what it belongs to) for the identifiers of functions, default arguments among them, and of macros."""
    out = []
    for f in unit.functions:
        if f.name == "main":
            continue
        if f.name == _CALL_OPERATOR:
            owner = _Owner(frozenset({_class_around(unit, f.first)}) - {""}, f.body[0], is_callable=True)
        elif f.name.startswith("operator"):
            continue
        else:
            owner = _Owner(frozenset(_names(unit, f)), f.body[0])
        out += [(i, owner) for i in range(f.params[0] + 1, f.body[1]) if is_identifier(unit.t[i])]
    for definitions in unit.macros.values():
        for m in definitions:
            owner = _Owner(frozenset({m.name}), is_macro=True)
            out += [(i, owner) for i in range(m.first, m.stop) if is_identifier(unit.t[i])]
    return out


def _names(unit: Unit, f: Function) -> set[str]:
    """A function's name; of one that a macro defines, those that its uses give: `REDUCE(reduce_add, Add)`."""
    d = unit.in_directive(f.name_at)
    if d is None or d.keyword != "define":
        return {f.name}
    macro = next((m for m in unit.macros.get(unit.tok(d.first + 2), ()) if m.first <= f.name_at < m.stop), None)
    first, last = f.name_at, f.name_at
    while unit.tok(first - 1) == "##":
        first -= 2
    while unit.tok(last + 1) == "##":
        last += 2
    parts = unit.t[first : last + 1 : 2]
    if macro is None or macro.params is None or not set(parts) & set(macro.params):
        return {"".join(parts)}
    return {"".join(args.get(p, p) for p in parts) for args in _uses(unit, macro)}


def _uses(unit: Unit, macro: Macro, inside: frozenset[str] = frozenset()) -> Iterator[dict[str, str]]:
    """The arguments that a macro gets, by parameter: where it is used, also through the bodies of other macros."""
    for i in unit.find(macro.name):
        call, d = unit.call(i), unit.in_directive(i)
        name = unit.tok(d.first + 2) if d is not None and d.keyword == "define" else ""
        if call is None or (d is not None and i == d.first + 2):
            continue
        args = dict(zip(macro.params or (), (unit.text[a.start : a.end] for a in call.args), strict=False))
        outer = next((m for m in unit.macros.get(name, ()) if m.first <= i < m.stop), None)
        if outer is None:
            yield args
        elif name not in inside:  # in a circle there is no use
            for given in _uses(unit, outer, inside | {macro.name}):
                yield {p: _expanded(text, given) for p, text in args.items()}


def _expanded(text: str, given: Mapping[str, str]) -> str:
    return _PASTE.sub("", _WORD.sub(lambda m: given.get(m[0], m[0]), text))


def _enclosing(unit: Unit, i: int) -> int:
    """The innermost brace around token i, or -1."""
    k = i - 1
    while k >= 0:
        if unit.t[k] in (")", "]", "}") and unit.match[k] >= 0:
            k = unit.match[k]
        elif unit.t[k] == "{" and unit.match[k] > i:
            return k
        k -= 1
    return -1


def _class_around(unit: Unit, i: int) -> str:
    """The name of the class around token i, "" if there is none."""
    k = _enclosing(unit, i) - 1
    while k >= 0 and unit.t[k] not in (";", "{", "}", ")"):
        if unit.t[k] in ("struct", "class") and is_identifier(unit.t[k + 1]):
            return unit.t[k + 1]
        k -= 1
    return ""


def _aliases(unit: Unit, callables: set[str]) -> set[str]:
    """Other names of callables: `typedef Swizzle<31, 0, 4> Across4;`, `using Across4 = ...;`."""
    out = set()
    for i in unit.find("typedef", "using") if callables else ():
        k = i
        while k < len(unit.t) and unit.t[k] not in (";", "{"):
            k += 1
        if callables.isdisjoint(unit.t[i:k]):
            continue
        if unit.t[i] == "typedef":
            out.add(unit.t[k - 1])
        elif unit.tok(i + 2) == "=":
            out.add(unit.t[i + 1])
    return out


def _is_constructed(unit: Unit, i: int) -> bool:
    """Whether token i, the name of a class, makes an object: `Lane{31}`, `Dpp<0xb1>()`."""
    k = unit.angle_close(i + 1) + 1 if unit.tok(i + 1) == "<" else i + 1
    return k > 0 and unit.tok(k) in ("(", "{")


def _taker(unit: Unit, i: int) -> set[str]:
    """The function whose call's argument starts at token i, a lambda's `[` or a callable's name; empty if none."""
    k = unit.qualifier(i) - 1 if is_identifier(unit.t[i]) else i - 1
    while k > 0 and unit.t[k] not in ("(", ";", "{", "}", "="):
        k = unit.match[k] if unit.t[k] in (")", "]") and unit.match[k] >= 0 else k
        k -= 1
    if k <= 0 or unit.t[k] != "(":
        return set()
    k -= 1
    if unit.t[k] == ">":
        k = unit.angle_open(k) - 1
    if k <= 0 or not is_identifier(unit.t[k]) or unit.t[k] in _NO_CALL or unit.call(k) is None:
        return set()
    return {unit.t[k]}


def _lambdas(unit: Unit, i: int, body: int) -> Iterator[int]:
    """The `[` of each lambda around token i, inside a function's body."""
    k = i
    while k > body:
        k -= 1
        tok = unit.t[k]
        if tok in (")", "]", "}") and unit.match[k] > body:
            k = unit.match[k]
        elif tok == "{" and unit.match[k] > i:
            j = k - 1
            while j > body and unit.t[j] not in (")", "]", ";", "}", "{"):
                j -= 1
            if unit.t[j] == ")" and unit.match[j] > 0:
                j = unit.match[j] - 1
            if unit.t[j] == "]" and unit.match[j] > 0:
                yield unit.match[j]


def _lambda_name(unit: Unit, opener: int) -> set[str]:
    """The name of a lambda: `auto NAME = [...](...) {`."""
    name = unit.tok(opener - 2)
    return {name} if unit.tok(opener - 1) == "=" and is_identifier(name) else set()
