"""The template arguments with which a kernel is tried: as uses of it tell them, else usual ones."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from cu2port.core.model import Span
from cu2port.facts.blocks import number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import value_of
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import is_type_parameter
from cu2port.syntax.words import BUILTIN_TYPES
from cu2port.verify.trial.configured import is_left_out
from cu2port.verify.trial.dispatch import by_macro, calls_of_body, given_by_calls, in_macros

#: Types that macros of PyTorch name around a launch (`AT_DISPATCH_FLOATING_TYPES`).
_DISPATCHED = {"scalar_t": "float", "index_t": "int"}
_INDEX = re.compile(r".*(?:index|idx|int|offset|count).*|ti|it|.*id_?type|id_t", re.IGNORECASE)
_THREADS = re.compile(r".*(?:block|thread|bs\b|size|tile|dim).*", re.IGNORECASE)
_BLOCK = re.compile(
    r"(?:n|num|block)?_?threads?(?:_?per_?block)?|(?:block|cta)_?(?:size|dim)(?:_?x)?|tpb|bs", re.IGNORECASE
)
_TILE = re.compile(r".*(?:tile|dim).*", re.IGNORECASE)
_CONDITION = re.compile(r".*(?:comp|cmp|less|greater|pred|cond|filter|mask|is_).*", re.IGNORECASE)
_LINE, _SIDE, _FEW = 128, 16, 4
_MOST_CALLS = 4  # of templates and constants that hand their arguments on
_CONSTANT = frozenset({"const", "constexpr"})
_BESIDE_TYPE = frozenset(
    "const volatile static extern register constexpr __restrict__ __restrict restrict & __shared__ __device__".split()
)
_OF_INTEGERS = frozenset("% << | ^ ~ %= <<= >>= &= |= ^=".split())
_ATOMICS = frozenset({"atomicAnd", "atomicOr", "atomicXor"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_CASTS = frozenset({"reinterpret_cast", "static_cast", "const_cast"})
_POINTERS = frozenset({"data_ptr", "const_data_ptr", "mutable_data_ptr", "data"})  #: of a tensor
_OF_TORCH = re.compile(r"\b(?:at|c10|torch)\s?::")
_NO_TYPE = frozenset({"auto", "<", "(", "decltype", "struct", "class"})


@dataclass(frozen=True, slots=True)
class Arguments:
    """`text`: with the brackets, "" for no template. `threads`: where the number of threads of a block, or of a tile's
    side, is a made-up argument, that number; else 0. `told`: the threads of a block where a use gives them."""

    text: str = ""
    threads: int = 0
    told: int = 0


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    is_type: bool
    is_bool: bool
    type: str
    default: tuple[str, ...] = ()  # its tokens


def template_arguments(unit: Unit, f: Function, program: Sequence[Unit]) -> Arguments | None:
    """The arguments of the kernel's template; None where nothing tells them."""
    if unit.t[f.first] != "template":
        return Arguments()
    if unit.tok(f.first + 2) == ">":
        return None  # a specialisation: its primary template is tried
    uses = list(_uses(unit, f, program))
    parameters = _parameters(unit, f)
    flat = "threadIdx.y" in _accesses(unit, f)
    least = _without_default(parameters or ())
    for use in uses:
        if use and None not in use and len(use) >= least:
            told = 0 if flat else _threads_told(parameters or (), use)
            return Arguments(f"<{', '.join(x for x in use if x)}>", told=told)
    return None if parameters is None else _merged(parameters, uses, flat, partial(_usual_type, unit, f))


def _threads_told(parameters: Sequence[_Parameter], use: Sequence[str | None]) -> int:
    """The threads of a block, which a use gives a parameter of that name; 0 where none does."""
    for p, told in zip(parameters, use, strict=False):
        if told and told.isdigit() and not p.is_type and _BLOCK.fullmatch(p.name) and 0 < int(told) <= 1024:
            return int(told)
    return 0


def _accesses(unit: Unit, f: Function) -> set[str]:
    return {f"threadIdx.{unit.tok(i + 2)}" for i in unit.between(*f.body, "threadIdx")}


def _parameters(unit: Unit, f: Function) -> list[_Parameter] | None:
    """None where one is a pack, a template, or of a type that is not a number."""
    close = unit.angle_close(f.first + 1)
    out = []
    for span in unit.split_args(f.first + 2, close) if close > 0 else ():
        words = unit.t[unit.lexed.at(span.start) : unit.lexed.at(span.end)]
        declared = words[: words.index("=")] if "=" in words else words
        is_type = words[0] in ("typename", "class")
        if "..." in words or "template" in words or (is_type and len(declared) > 2) or len(declared) < 2:
            return None
        default = tuple(words[len(declared) + 1 :])
        out.append(_Parameter(declared[-1], is_type, "bool" in declared, " ".join(declared[:-1]), default))
    return out


def _without_default(parameters: Sequence[_Parameter]) -> int:
    """How many parameters must be given by name: up to the last one that has no default."""
    return next((k for k in range(len(parameters), 0, -1) if not parameters[k - 1].default), 0)


def _merged(
    parameters: Sequence[_Parameter], uses: Sequence[Sequence[str | None]], flat: bool, usual: Callable[[str], str]
) -> Arguments:
    out: list[str] = []
    threads = 0
    least = _without_default(parameters)  # `template <int N = 4, class T>`: T follows from the arguments of a call
    for k, p in enumerate(parameters):
        told = next((use[k] for use in uses if k < len(use) and use[k]), None)
        if told is None and p.default:
            if k >= least and not any(use[j] for use in uses for j in range(k, len(use))):
                break
            known = dict(zip((q.name for q in parameters), out, strict=False))
            told = " ".join(f"({known[x]})" if " " in known.get(x, "") else known.get(x, x) for x in p.default)
        if told is None and not p.is_type and not p.is_bool and _THREADS.fullmatch(p.name):
            told = str(_SIDE if flat or _TILE.fullmatch(p.name) else _LINE)
            threads = threads or int(told)
        out.append(told or (usual(p.name) if p.is_type else _usual(p)))
    return Arguments(f"<{', '.join(out)}>", threads)


def _usual(p: _Parameter) -> str:
    if not BUILTIN_TYPES.isdisjoint(p.type.split()) or p.type.endswith("_t") or "auto" in p.type:
        return "true" if p.is_bool else str(_FEW)
    return f"static_cast<{p.type}>(0)"  # of an enum


def _usual_type(unit: Unit, f: Function, name: str) -> str:
    if (called := _called_by(unit, f, name)) is not None:
        return f"cu2port_trial::cu2port_{'condition' if _CONDITION.fullmatch(called) else 'function'}"
    return "int" if _INDEX.fullmatch(name) or _is_integer(unit, f, name) else "float"


def _called_by(unit: Unit, f: Function, name: str) -> str | None:
    """The parameter of a type that a function calls; None where there is none."""
    typed = _typed(unit, f, name)
    return next((unit.t[i] for i in range(*f.body) if unit.t[i] in typed and unit.tok(i + 1) == "("), None)


def _typed(unit: Unit, f: Function, name: str) -> set[str]:
    """The variables and parameters in a function that have a type."""
    first, stop = f.first, f.body[1]
    declared = (d for d in unit.declarations.all() if first < d.at < stop and d.kind in ("variable", "parameter"))
    return {
        d.name for d in declared if [x for x in unit.t[d.type_first : d.type_stop] if x not in _BESIDE_TYPE] == [name]
    }


def _is_integer(unit: Unit, f: Function, name: str) -> bool:
    """Whether a function, or a template that it names and that calls its type the same, takes values of the type as an
    index or for what only integers can do."""
    named = set(unit.t[slice(*f.body)])
    others = (g for g in unit.functions if g.name in named and unit.t[g.first] == "template")
    return any(_takes_integers(unit, g, name) for g in (f, *others))


def _takes_integers(unit: Unit, f: Function, name: str) -> bool:
    typed = _typed(unit, f, name)
    for i in range(*f.body):
        if unit.t[i] in typed:
            if unit.tok(i - 1) in ("[", *_OF_INTEGERS) and unit.tok(i + 1) not in (".", "->", "("):
                return True
            if unit.tok(i - 3) in _ATOMICS and unit.t[i - 2 : i] == ["(", "&"]:
                return True
            behind = unit.match[i + 1] + 1 if unit.tok(i + 1) == "[" else i + 1
            shifts = unit.t[behind : behind + 2] == [">", ">"] and unit.p[behind + 1] == unit.p[behind] + 1
            if shifts or unit.tok(behind) in ("&", *_OF_INTEGERS) or (behind == i + 1 and unit.tok(behind) == "]"):
                return True
    return False


def _uses(unit: Unit, f: Function, program: Sequence[Unit], depth: int = 0) -> Iterator[list[str | None]]:
    """What uses of a template give its parameters, first those that write it down."""
    named = [(u, i) for u in program for i in u.find(f.name) if i < f.first or i > f.body[1] or u is not unit]
    found = [*named, *(place for u, i in named for place in in_macros(u, i, program))]
    for u, i in found:
        if u.tok(i + 1) == "<":
            close = u.angle_close(i + 1)
            if close > 0:
                spans = u.split_args(i + 2, close)
                yield [_known(u, u.lexed.at(s.start), u.lexed.at(s.end), program, depth) for s in spans]
    for u, i in found:
        behind = i + 1
        if u.tok(behind) == "<" and (close := u.angle_close(behind)) > 0:
            behind = close + 1
        opener = next((x.args[0] for x in u.launches if x.open == behind), behind)
        if u.tok(opener) == "(" and u.match[opener] > 0 and not any(g.name_at == i for g in u.functions):
            given = u.split_args(opener + 1, u.match[opener])
            yield [
                _deduced(u, given, place, program, depth) if place else None
                for place in (_deducible(unit, f, p) for p in _parameters(unit, f) or ())
            ]


def _deducible(unit: Unit, f: Function, p: _Parameter) -> tuple[int, int] | None:
    """Which parameter of a function is of a template's type, or points to it, and how many `*` it has."""
    for k, span in enumerate(unit.split_args(f.params[0] + 1, f.params[1])) if p.is_type else ():
        words = [x for x in unit.t[unit.lexed.at(span.start) : unit.lexed.at(span.end)] if x not in _BESIDE_TYPE]
        if words[0] == p.name and words[1:-1] == ["*"] * (len(words) - 2):
            return k, len(words) - 2
    return None


def _deduced(
    unit: Unit, given: Sequence[Span], place: tuple[int, int], program: Sequence[Unit], depth: int
) -> str | None:
    """The type of an argument that is a variable, a cast or `x.data_ptr<float>()`, without some `*`."""
    k, pointers = place
    if k >= len(given):
        return None
    at, end = unit.lexed.at(given[k].start), unit.lexed.at(given[k].end)
    d = unit.declarations.visible(unit.t[at], at) if end == at + 1 else None
    if d is not None:
        if d.kind not in ("variable", "parameter", "member") or d.pointers + d.arrays != pointers:
            return None
        first, stop = d.type_first, d.type_stop
    else:
        first, stop = _named_type(unit, at, end, pointers)
    while first < stop and unit.t[first] in _BESIDE_TYPE:
        first += 1
    while first < stop and unit.t[stop - 1] in _BESIDE_TYPE:
        stop -= 1
    if first == stop or _NO_TYPE & set(unit.t[first:stop]):
        return None
    known = _known(unit, first, stop, program, depth)
    return None if known is None or _OF_TORCH.search(known) else known


def _named_type(unit: Unit, first: int, stop: int, pointers: int) -> tuple[int, int]:
    """The type that an argument names, without the `*` behind it: of a cast, or of a tensor's pointer."""
    named = (stop, stop)
    angle = unit.angle_close(first + 1) if unit.t[first] in _CASTS and unit.tok(first + 1) == "<" else -1
    if angle > 0 and unit.tok(angle + 1) == "(" and unit.match[angle + 1] == stop - 1:
        named = first + 2, angle
    elif unit.t[first] == "(" and first < unit.match[first] < stop - 1 and unit.t[unit.match[first] - 1] == "*":
        named = first + 1, unit.match[first]
    elif pointers == 1 and unit.t[stop - 3 : stop] == [">", "(", ")"]:
        at = next((i for i in range(first, stop) if unit.t[i] in _POINTERS and unit.tok(i + 1) == "<"), -1)
        return (at + 2, stop - 3) if at >= 0 and unit.angle_close(at + 1) == stop - 3 else (stop, stop)
    a, b = named
    while b > a and unit.t[b - 1] in ("*", "__restrict__"):
        pointers -= unit.t[b - 1] == "*"
        b -= 1
    return (a, b) if pointers == 0 else (stop, stop)


def _known(unit: Unit, first: int, stop: int, program: Sequence[Unit], depth: int) -> str | None:
    """An argument that means the same at the end of the file; None: not known. A name in a branch that is left out
    may be declared there alone."""
    told = _meant(unit, first, stop, program, depth)
    if told is None or not is_left_out(unit, unit.p[first], program):
        return told
    return told if all(x in BUILTIN_TYPES for x in _NAME.findall(told)) else None


def _meant(unit: Unit, first: int, stop: int, program: Sequence[Unit], depth: int) -> str | None:
    if stop == first + 1 and unit.t[first] in _DISPATCHED:
        return _DISPATCHED[unit.t[first]]
    n = number(unit, first, stop)
    if n is not None and stop > first + 1:
        return str(n)
    words = list(unit.t[first:stop])
    for i in range(first, stop):
        if is_identifier(unit.t[i]) and unit.tok(i - 1) not in ("::", ".", "->"):
            given = _meaning(unit, unit.t[i], i, stop == first + 1, program, depth)
            if given is None:
                return str(n) if n is not None else None
            words[i - first] = given
    return unit.source(first, stop) if words == unit.t[first:stop] else " ".join(words)


def _meaning(unit: Unit, name: str, at: int, alone: bool, program: Sequence[Unit], depth: int) -> str | None:
    """What a name that is used at token `at` means at the end of the file. `alone`: it is all of an argument."""
    if (calls := given_by_calls(unit, at, program)) is not None:
        known = (_known(*c, program, depth + 1) for c in calls) if depth < _MOST_CALLS else ()
        return next((x for x in known if x), None)
    d = unit.declarations.visible(name, at)
    if d is None:
        if (told := by_macro(unit, name, at, program)) is not None:
            return told if alone else None
        if any(unit.tok(k - 1) == "using" for k in unit.find(name)):
            return None  # of a function, in the arguments of a macro
        if (told := _of_function(unit, name, at, program, depth)) is not None:
            return told  # in a macro that is defined inside of the function
        inside = [(u, k) for u, k in calls_of_body(unit, at, program) if u.declarations.visible(name, k) is not None]
        if inside and depth < _MOST_CALLS:  # of the function that calls the macro
            return next((x for u, k in inside if (x := _meaning(u, name, k, alone, program, depth + 1))), None)
        return name
    if d.kind != "template parameter":
        return _of_local(unit, d, program, depth) if d.scope.local else name
    given = _of_class(unit, d, at, program) or _of_function(unit, name, at, program, depth)
    is_type = is_type_parameter(unit.t, d)
    if given is None:
        # nothing tells it there: what the kernel does with its own parameter decides
        return "int" if alone and is_type and _INDEX.fullmatch(name) else None
    return f"({given})" if not is_type and not alone and " " in given else given


def _of_local(unit: Unit, d: Declaration, program: Sequence[Unit], depth: int) -> str | None:
    """What a constant or a name of a type in a function means."""
    first, stop = value_of(unit.lexed, d)
    is_type = unit.t[d.first] == "using"
    if first == stop or depth == _MOST_CALLS or not (is_type or _CONSTANT & set(unit.t[d.first : d.at])):
        return None
    known = _known(unit, first, stop, program, depth + 1)
    return known if known is None or is_type or stop == first + 1 else f"({known})"


def _of_class(unit: Unit, d: Declaration, at: int, program: Sequence[Unit]) -> str | None:
    """What uses of a class template give one of its parameters, in a function of that class at token `at`."""
    named = _class_of(unit, d, at)
    if named is None:
        return None
    owner, k = named
    for u in program:
        for i in u.find(owner):
            close = u.angle_close(i + 1) if u.tok(i + 1) == "<" else -1
            spans = u.split_args(i + 2, close) if close > 0 else ()
            if k >= len(spans):
                continue
            first, stop = u.lexed.at(spans[k].start), u.lexed.at(spans[k].end)
            meant = (u.declarations.visible(x, first) for x in u.t[first:stop] if is_identifier(x))
            if any(x is not None and x.kind == "template parameter" for x in meant):
                continue
            if told := _known(u, first, stop, program, _MOST_CALLS):
                return told
    return None


def _class_of(unit: Unit, d: Declaration, at: int) -> tuple[str, int] | None:
    """The class template that a parameter is of, and which one it is: `template <class T> struct A`, or in a function
    `template <class T> void A<T>::f()`."""
    heads = unit.find("template")
    before = bisect_left(heads, d.at)
    head = heads[before - 1] if before else -1
    close = unit.angle_close(head + 1) if head >= 0 else -1
    if close < d.at:
        return None
    if unit.tok(close + 1) in ("class", "struct"):
        named = close + 2 if unit.tok(close + 2 + 1) in ("{", ":", "final") else close + 3
        ends = [unit.lexed.at(s.end) for s in unit.split_args(head + 2, close)]
        return unit.tok(named), next((k for k, end in enumerate(ends) if d.at < end), 0)
    f = unit.function_at(at)
    for i in range(close + 1, f.name_at if f is not None else 0):
        end = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
        if end > 0 and unit.tok(end + 1) == "::":
            given = [unit.t[unit.lexed.at(s.start) : unit.lexed.at(s.end)] for s in unit.split_args(i + 2, end)]
            return (unit.t[i], given.index([d.name])) if [d.name] in given else None
    return None


def _of_function(unit: Unit, name: str, at: int, program: Sequence[Unit], depth: int) -> str | None:
    """What uses of the template of a function that token `at` is in give a parameter."""
    f = unit.function_at(at)
    if f is None or unit.t[f.first] != "template" or depth == _MOST_CALLS:
        return None
    names = [p.name for p in _parameters(unit, f) or ()]
    if name not in names:
        return None
    k = names.index(name)
    return next((use[k] for use in _uses(unit, f, program, depth + 1) if k < len(use) and use[k]), None)
