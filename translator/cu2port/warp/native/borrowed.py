"""Functions of the headers that a file includes: reductions and scans over a warp, sums of a block, lane ids.

A header is converted by itself, whoever includes it. A function of a warp keeps its lanes there, and native code calls
`cu2port::wave` in its place. A function whose answer does not depend on lanes is called as it is: the answer is the
same whether its own file has made it native or not.

What a header means is known only together with the files around it: a macro of another file that a function's text
names, a second function of its name with other parameters, or a condition around it make it unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from cu2port.lexer import is_identifier
from cu2port.model import Span
from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.model import is_device
from cu2port.warp.native.idioms import CALLS, Refused
from cu2port.warp.native.lanes import Summary, alike
from cu2port.warp.native.values import SAME, Kind
from cu2port.warp.native.widths import parameter_type

_OPERATIONS = LANE_OPERATIONS | {"tiled_partition"}
_KINDS = frozenset({"", "float", "double", "int", "unsigned", "long long", "unsigned long long", "half"})
_SPECIFIERS = frozenset(
    "__device__ __host__ __forceinline__ __inline__ inline static __global__ constexpr __attribute__ ( ) "
    "always_inline".split()
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The device functions of a header that stand outside of classes, by name; the names that each of them says; those
    that work with warps themselves; names that classes have functions of."""

    functions: dict[str, tuple[Function, ...]]
    says: dict[str, frozenset[str]]
    direct: frozenset[str]
    members: frozenset[str]


@lru_cache(maxsize=256)
def listing(unit: Unit) -> Listing:
    """What a header holds. `unit`: one of `headers.header`, which keeps them."""
    classes = _classes(unit)
    found: dict[str, list[Function]] = {}
    says: dict[str, frozenset[str]] = {}
    members = set()
    for f in unit.functions:
        if any(a < f.name_at < b for a, b in classes) or unit.tok(f.name_at - 1) == "::":
            members.add(f.name)
        elif is_device(unit, f) and "__global__" not in f.sides:
            found.setdefault(f.name, []).append(f)
            words = frozenset(w for w in unit.t[f.body[0] : f.body[1]] if is_identifier(w))
            says[f.name] = says.get(f.name, frozenset()) | words
    direct = frozenset(n for n, words in says.items() if not words.isdisjoint(_OPERATIONS))
    return Listing({n: tuple(fs) for n, fs in found.items()}, says, direct, frozenset(members))


def _classes(unit: Unit) -> list[tuple[int, int]]:
    out = []
    for i in unit.find("struct", "class", "union"):
        k = i + 1
        while k < len(unit.t) and unit.t[k] not in ("{", ";", "(", ")", "=", "}"):
            k += 1
        if unit.tok(k) == "{" and unit.match[k] > k:
            out.append((k, unit.match[k]))
    return out


Judge = Callable[[Function], tuple[Summary | Refused, tuple[object, ...]]]


@dataclass
class Borrowed:
    """The functions of all headers of one file. `judge`: of a header, what says of its functions what they do, in text
    of its own, and what functions of one name must have in common."""

    unit: Unit
    headers: list[Unit]
    judge: Callable[[Unit], Judge]
    seen: dict[tuple[str, str], Summary | None] = field(default_factory=dict)
    judges: dict[int, Judge] = field(default_factory=dict)

    def warps(self) -> frozenset[str]:
        """The names of functions that work with warps, themselves or through others."""
        lists = [listing(u) for u in self.headers]
        found = {n for x in lists for n in x.direct}
        grown = bool(found)
        while grown:
            more = {n for x in lists for n, words in x.says.items() if n not in found and not words.isdisjoint(found)}
            found |= more
            grown = bool(more)
        return frozenset(found)

    def look(self, name: str, kind: str = "") -> Summary | None:
        """What the headers' functions of a name do; None if there is none, or it is not known: then the call stays, and
        gives each thread what it does in CUDA. `kind`: the type of the call's only argument."""
        if (name, kind) not in self.seen:
            self.seen[name, kind] = None  # while it is looked at
            self.seen[name, kind] = self._looked(name, kind)
        return self.seen[name, kind]

    def others(self, name: str, own: Unit, found: Iterable[Function]) -> bool:
        """Whether headers have functions of a name that a file defines, with parameters that none of its own has."""
        known = {_parameters(own, f) for f in found}
        return any(_parameters(u, f) not in known for u, f in self._defined(name))

    def _defined(self, name: str) -> list[tuple[Unit, Function]]:
        return [(u, f) for u in self.headers if name in u.words for f in listing(u).functions.get(name, ())]

    def _looked(self, name: str, kind: str) -> Summary | None:
        found = self._defined(name)
        if not found or name in self.unit.macros or any(name in u.macros for u in self.headers):
            return None
        if any(name in listing(u).members for u in (self.unit, *self.headers)) or self._is_declared(name, found):
            return None
        exact = [(u, f) for u, f in found if kind and parameter_type(u, f) == kind]
        found = exact if len(exact) == 1 else found
        all_of: list[Summary] = []
        shapes: set[tuple[object, ...]] = set()
        for u, f in found:
            if not self._is_sure(u, f):
                return None
            s, shape = self._judge(u)(f)
            if isinstance(s, Refused):
                return None
            all_of.append(s)
            shapes.add(shape)
        if len(shapes) > 1:
            return None
        s = alike(all_of)
        kinds = tuple(dict.fromkeys(s.kinds))
        spaces = frozenset(w for u, _ in found for w in _spaces(u))
        if s.index:
            return Summary(SAME, index=s.index, spaces=spaces)
        if s.lists is not None:
            plain = self._is_plain(s.lists.call)
            return Summary(s.result, meets=True, lists=s.lists, spaces=spaces) if plain else None
        if s.reduces or s.scans:
            if not _KINDS.issuperset(kinds) or not self._is_plain(s.reduction):
                return None
            return replace(s, edits={}, sites=(), kinds=kinds, spaces=spaces)
        free = s.meets and not (s.line or s.plane or s.needs)
        if s.result.kind is Kind.WHOLE or (free and s.result.kind is Kind.SAME):
            return replace(s, edits={}, sites=(), spaces=spaces)
        return None

    def _judge(self, u: Unit) -> Judge:
        if id(u) not in self.judges:
            self.judges[id(u)] = self.judge(u)
        return self.judges[id(u)]

    def _is_plain(self, parts: Iterable[str | Span]) -> bool:
        """Whether the names of functions in a call of `cu2port::wave` mean the same in the file that includes."""
        call = "".join(x for x in parts if isinstance(x, str))
        words = {w for w in CALLS if w in call}
        for u in (self.unit, *self.headers):
            names = {f.name for f in u.functions} | u.macros.keys()
            if not words.isdisjoint(names):
                return False
        return "add(" not in call.replace("hadd(", "")

    # --- what else a name may mean -----------------------------------------------------------------------------------

    def _is_declared(self, name: str, found: list[tuple[Unit, Function]]) -> bool:
        """Whether a name is declared in other ways than by its definitions: there may be another function of it."""
        for u in (self.unit, *self.headers):
            mine = {f.name_at: _parameters(u, f) for x, f in found if x is u}
            known = {_parameters(x, f) for x, f in found}
            for i in u.find(name):
                if i in mine or u.in_directive(i) is not None or u.function_at(i) is not None:
                    continue
                if u.tok(i + 1) == ";" and u.tok(i - 1) == "::":
                    continue  # using space::name;
                close = u.match[i + 1] if u.tok(i + 1) == "(" else -1
                if close < 0 or u.tok(close + 1) != ";" or _words(u, i + 1, close) not in known:
                    return True
        return False

    def _is_sure(self, u: Unit, f: Function) -> bool:
        """Whether a header's function is there without condition, and its text means here what it means alone."""
        if len(u.conditions(u.p[f.first])) > (1 if u.guard else 0):
            return False
        words = {w for w in u.t[f.first : f.body[1]] if is_identifier(w)}
        if not words.isdisjoint(self._redone):
            return False
        units = (self.unit, *self.headers)
        for w in words:
            texts = {(m.params, *x.t[m.first : m.stop]) for x in units for m in x.macros.get(w, ())}
            if len(texts) > 1:
                return False
            for text in texts:
                own = w in u.macros
                if text[0] is not None and not own:
                    return False
                if not own and len(text) != 2 and not _SPECIFIERS.issuperset(text[1:]):
                    return False
        return True

    @cached_property
    def _redone(self) -> frozenset[str]:
        """Cross-lane operations that the project defines itself."""
        return frozenset(w for u in (self.unit, *self.headers) for w in (u.declared | u.project.declared) & _OPERATIONS)


def _spaces(u: Unit) -> Iterable[str]:
    for i in u.find("namespace"):
        k = i + 1
        while is_identifier(u.tok(k)):
            yield u.tok(k)
            k += 2 if u.tok(k + 1) == "::" else 1


def _words(u: Unit, first: int, last: int) -> tuple[str, ...]:
    return tuple(u.t[first + 1 : last])


def _parameters(u: Unit, f: Function) -> tuple[str, ...]:
    """The words of a function's parameters."""
    return _words(u, *f.params)
