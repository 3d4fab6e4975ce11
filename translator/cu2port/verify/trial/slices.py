"""What a kernel needs of the files that declare it, by names: host code around it need not compile."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration, Scope
from cu2port.syntax.words import EXECUTION_SPACES

_KINDS = frozenset({"function", "constructor", "variable", "type", "using", "enumerator"})
_LIBRARIES = frozenset(
    {"std", "cooperative_groups", "cuda", "cub", "hipcub"}
)  # whose namespaces the headers of a trial have
_DEVICE = frozenset(  # words of what a kernel may need
    "__device__ __global__ __constant__ constexpr struct class union enum using typedef namespace define".split()
)
_SIDE_MACRO = re.compile(r"[A-Z][A-Z_0-9]{3,}|__\w+")  # of another file: it may say that a function is the GPU's
_FOR_CODE = frozenset({"pragma", "error"})  # directives
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_NOT_LINE_END = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Entity:
    """Tokens [first, stop) that declare `names` in a namespace, a function of the host by `of_host`. `words`: the
    identifiers in it; `operands`: of an operator, those of its parameters. `stray`: it declares nothing by itself;
    `names` has the macro or the namespace that it uses."""

    first: int
    stop: int
    names: frozenset[str]
    words: frozenset[str]
    operands: frozenset[str] | None = None
    stray: bool = False


def of_host(name: str) -> str:
    """What a function of the host is called here: names alone do not ask for it."""
    return f"{name}()"


def entities(unit: Unit) -> list[Entity]:
    """What a file declares outside of functions and classes. Declarations that overlap are one entity."""
    return unit.once(_entities)


def _entities(unit: Unit) -> list[Entity]:
    found = []
    for d in unit.declarations.all():
        if d.kind in _KINDS and _is_outside(d.scope) and unit.in_directive(d.at) is None:
            found.append((start_of(unit, d), _stop(unit, d), d))
    found += ((d.first, d.stop, d) for d in _with_macro_heads(unit))
    found.sort(key=lambda x: (x[0], -x[1]))
    out: list[Entity] = []
    k = 0
    while k < len(found):
        first, stop, _ = found[k]
        group = []
        while k < len(found) and found[k][0] < stop:
            group.append(found[k][2])
            stop = max(stop, found[k][1])
            k += 1
        if any(d.kind != "enumerator" for d in group):  # enumerators of an enum without a name stay
            out.append(_entity(unit, first, stop, group))
    return sorted([*out, *_strays(unit, out)], key=lambda e: e.first)


def _with_macro_heads(unit: Unit) -> Iterator[Declaration]:
    """Functions whose head begins with a macro that has arguments, `METHOD(int) size(int n) { ... }`: they may be the
    GPU's, or members of a class that the macro names."""
    for i in range(1, len(unit.t) - 5):
        named = unit.t[i + 1] == "(" and (unit.t[i] in unit.macros or _SIDE_MACRO.fullmatch(unit.t[i]))
        name = unit.match[i + 1] + 1 if named else 0
        opener = name + 1
        if name <= 0 or unit.tok(opener) != "(" or unit.match[opener] < 0 or not is_identifier(unit.t[name]):
            continue
        body = unit.match[opener] + 1
        body += unit.tok(body) in ("const", "noexcept")
        begins = unit.t[i - 1] in ("}", ";", "{") or unit.in_directive(i - 1) is not None
        if begins and unit.tok(body) == "{" and unit.match[body] > 0 and unit.in_directive(i) is None:
            scope = unit.declarations.scope_at(i)
            if _is_outside(scope):
                yield Declaration(unit.t[name], "function", name, i, unit.match[body] + 1, scope, i, name)


def _strays(unit: Unit, mine: Sequence[Entity]) -> Iterator[Entity]:
    """Macro calls between declarations (`PYBIND11_MODULE(a, m) { ... }`), namespaces that are used or renamed, and
    templates that the compiler shall make, which name nothing."""
    at = 0
    for e in [*mine, Entity(len(unit.t), len(unit.t), frozenset(), frozenset())]:
        i = last = at
        while i < e.first:
            stop = -1 if unit.in_directive(i) is not None else _stray_stop(unit, i, i == last)
            if at < stop <= e.first and unit.t[i] == "template":
                yield Entity(i, stop, frozenset(), frozenset(), stray=True)
                i = last = stop
            elif at < stop <= e.first:
                words = [x for x in unit.t[i:stop] if is_identifier(x) and x not in ("using", "namespace")]
                named = words[unit.t[i] == "namespace"] if len(words) > (unit.t[i] == "namespace") else ""
                yield Entity(i, stop, frozenset({named}), frozenset(words), stray=True)
                i = last = stop
            else:
                i += 1
        at = max(at, e.stop)


def _stray_stop(unit: Unit, i: int, begins: bool) -> int:
    """The token after what starts at token i, -1 if it is none of these. `begins`: behind a declaration."""
    if unit.t[i] == "template" and unit.tok(i + 1) != "<":
        return next((k + 1 for k in range(i, min(i + 400, len(unit.t))) if unit.t[k] == ";"), -1)
    if (unit.t[i] == "using" and unit.tok(i + 1) == "namespace") or (
        unit.t[i] == "namespace" and unit.tok(i + 2) == "="
    ):
        return next((k + 1 for k in range(i, min(i + 24, len(unit.t))) if unit.t[k] == ";"), -1)
    begins = begins or unit.t[i - 1] in ("}", ";", "{") or unit.in_directive(i - 1) is not None
    if not begins or not is_identifier(unit.t[i]) or unit.tok(i + 1) != "(" or unit.match[i + 1] < 0:
        return -1
    k = _behind_calls(unit, i)
    if unit.tok(k) == "{" and unit.match[k] > 0:
        return unit.match[k] + 1
    if unit.tok(k) == ";":
        return k + 1
    whole = [m for m in unit.macros.get(unit.t[i], ()) if m.stop > m.first and unit.t[m.stop - 1] in ("}", ";")]
    return k if whole or _is_whole(unit, i, k) else -1


def _behind_calls(unit: Unit, i: int) -> int:
    """The token behind the call at token i, and behind those of what it gives: `BENCHMARK_F(A, b)(State& s) { ... }`,
    `BENCHMARK(f)->Arg(8)->Unit(kMillisecond);`."""
    k = unit.match[i + 1] + 1
    if unit.t[i] not in unit.macros and not _SIDE_MACRO.fullmatch(unit.t[i]):
        return k
    if unit.tok(k) == "(" and unit.match[k] > 0:
        k = unit.match[k] + 1
    while unit.tok(k) in ("->", ".") and is_identifier(unit.tok(k + 1)):
        k += 2
        if unit.tok(k) == "(" and unit.match[k] > 0:
            k = unit.match[k] + 1
    return k


def _is_whole(unit: Unit, i: int, stop: int) -> bool:
    """Whether the call of another file's macro at token i declares something: what is behind it is no part of that."""
    if unit.t[i] in unit.macros or not _SIDE_MACRO.fullmatch(unit.t[i]):
        return False
    if stop >= len(unit.t) or unit.t[stop] in ("}", unit.t[i]) or unit.in_directive(stop) is not None:
        return True
    return _BLANK_LINE.search(unit.text, unit.end(stop - 1), unit.p[stop]) is not None


def _is_outside(scope: Scope | None) -> bool:
    while scope is not None and scope.kind in ("namespace", "template"):
        scope = scope.parent
    return scope is not None and scope.kind == "file"


def start_of(unit: Unit, d: Declaration) -> int:
    """The first token of a declaration with the heads of its templates."""
    first = d.first
    while True:
        before = _before(unit, first)
        opener = unit.angle_open(before) if unit.tok(before) == ">" else -1
        if opener <= 0 or unit.tok(opener - 1) != "template":
            break
        first = opener - 1
    if unit.tok(first - 2) == "extern" and unit.tok(first - 1).startswith('"'):
        first -= 2
    return first


def _stop(unit: Unit, d: Declaration) -> int:
    """The token after a declaration; the head of a function whose body begins with another head, in another branch of
    an `#if`, has a bracket of its own."""
    is_head = d.kind == "function" and unit.tok(d.stop) == "{" and unit.in_directive(d.stop + 1) is not None
    return d.stop + is_head


def _before(unit: Unit, i: int) -> int:
    """The token before token i, without directives and the marks of a function that they hold."""
    i -= 1
    while i > 0 and (unit.in_directive(i) is not None or unit.t[i] in EXECUTION_SPACES):
        i -= 1
    return i


def _entity(unit: Unit, first: int, stop: int, group: Sequence[Declaration]) -> Entity:
    names = frozenset(d.name for d in group) | {d.scope.owner for d in group if d.scope.owner}
    words = frozenset(x for x in unit.t[first:stop] if is_identifier(x))
    if _is_host(unit, first, stop, group):
        launches = any(first <= launch.open < stop for launch in unit.launches)
        return Entity(first, stop, frozenset() if launches else frozenset(map(of_host, names)), words)
    d = group[0]
    if len(group) == 1 and d.kind == "function" and d.name.startswith("operator"):
        opener = next((i for i in range(d.at, stop) if unit.t[i] == "(" and unit.tok(i + 1) != ")"), -1)
        types = _types(unit, opener, unit.match[opener]) if opener >= 0 else ()
        return Entity(first, stop, names, words, frozenset(types))
    return Entity(first, stop, names, words)


def _is_host(unit: Unit, first: int, stop: int, group: Sequence[Declaration]) -> bool:
    """Whether it certainly is a function of the host: no kernel needs it, whatever its name."""
    sides = {"__global__", "__device__", *unit.side_macros}
    if any(d.kind not in ("function", "constructor") for d in group) or not sides.isdisjoint(unit.t[first:stop]):
        return False
    if unit.t[first] == "template" and unit.t[stop - 1] == ";":
        return False  # specialisations of it may be the GPU's
    if any(first <= launch.open < stop for launch in unit.launches):
        return True
    head = unit.t[first : max(d.at for d in group)]
    return "constexpr" not in head and not any(_SIDE_MACRO.fullmatch(x) or x in unit.macros for x in head)


def _types(unit: Unit, opener: int, close: int) -> Iterator[str]:
    """The identifiers of parameters that are not the names of parameters."""
    for i in range(opener, close):
        named = unit.tok(i + 1) in (",", ")", "=", "[") and unit.tok(i - 1) not in ("(", ",", "const", "struct", "::")
        if is_identifier(unit.t[i]) and not named:
            yield unit.t[i]


def needed(units: Iterable[Unit], roots: Iterable[str]) -> frozenset[str]:
    """The identifiers that what `roots` name is made of, through all files."""
    seen = set(roots)
    open_ = []
    macros: dict[str, set[str]] = {}
    starts: dict[str, tuple[str, str]] = {}  # the first words of macros
    known = set(_LIBRARIES)
    for unit in units:
        mine = entities(unit)
        open_ += mine
        seen |= _outside(unit, mine)
        known |= {s.name for s in unit.declarations.scopes() if s.kind == "namespace"} | unit.macros.keys()
        for name, definitions in unit.macros.items():
            for m in definitions:
                starts[name] = (unit.tok(m.first), unit.tok(m.first + 1)) if m.stop > m.first + 1 else ("", "")
                macros.setdefault(name, set()).update(x for x in unit.t[m.first : m.stop] if is_identifier(x))
    seen |= {name for e in open_ if e.stray for name in e.names if name in known and not _of_host(name, macros, starts)}
    grew = True
    while grew:
        grew = False
        for name in macros.keys() & seen:
            seen |= macros.pop(name)
            grew = True
        rest = []
        for e in open_:
            if _is_needed(e, seen):
                seen |= e.words
                grew = True
            else:
                rest.append(e)
        open_ = rest
    return frozenset(seen)


def _of_host(name: str, bodies: Mapping[str, Set[str]], starts: Mapping[str, tuple[str, str]]) -> bool:
    """Whether what a macro declares is the host's alone, or asks the compiler to make templates."""
    first, second = name, ""
    for _ in range(4):  # macros of macros
        first, second = starts.get(first, (first, ""))
        if first == "template" or "const" in (first, second):
            break
    words: set[str] = set()
    new = {name}
    while new:
        words |= new
        new = {x for n in new for x in bodies.get(n, ())} - words
    if "const" in (first, second):
        return False
    return (first == "template" and second != "<") or (bool(bodies.get(name)) and words.isdisjoint(_DEVICE))


def _outside(unit: Unit, mine: Sequence[Entity]) -> set[str]:
    out: set[str] = set()
    at = 0
    for e in [*mine, Entity(len(unit.t), len(unit.t), frozenset(), frozenset())]:
        out.update(unit.t[i] for i in range(at, e.first) if is_identifier(unit.t[i]) and unit.in_directive(i) is None)
        at = max(at, e.stop)
    return out - {"using", "namespace", "extern", "template"}


_PLAIN = frozenset("const volatile unsigned signed int float double long short char bool void struct".split())


def _is_needed(e: Entity, seen: set[str]) -> bool:
    if e.operands is not None:
        return not (e.operands - _PLAIN).isdisjoint(seen)
    return not e.names.isdisjoint(seen)


def kept(unit: Unit, seen: frozenset[str]) -> list[Entity]:
    """The entities of a file that are needed."""
    return [e for e in entities(unit) if _is_needed(e, set(seen))]


def sliced(unit: Unit, seen: frozenset[str]) -> str:
    """A file's text with all else blanked."""
    wanted = set(seen)
    return without(unit, (e for e in entities(unit) if not _is_needed(e, wanted)))


def without(unit: Unit, unwanted: Iterable[Entity]) -> str:
    """A file's text with some entities blanked, given in text order; line ends stay, and so do directives that are for
    more than what is blanked."""
    out, at = [], 0
    for e in unwanted:
        if e.stop <= e.first:
            continue
        start, end = unit.p[e.first], unit.end(e.stop - 1)
        out.append(unit.text[at:start])
        out.append(_blank(unit, start, end))
        at = end
    out.append(unit.text[at:])
    return "".join(out)


def _blank(unit: Unit, start: int, end: int) -> str:
    out, at, known = [], start, unit.directives
    inside = (bisect_left(known, place, key=lambda d: unit.p[d.first]) for place in (start, end))
    for d in known[slice(*inside)]:
        first = unit.p[d.first]
        if d.keyword not in _FOR_CODE:  # what these are for is blanked
            stop = unit.end(d.stop - 1)
            out += [_NOT_LINE_END.sub(" ", unit.text[at:first]), unit.text[first:stop]]
            at = stop
    out.append(_NOT_LINE_END.sub(" ", unit.text[at:end]))
    return "".join(out)
