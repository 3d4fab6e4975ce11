"""Device functions of a file as the analysis sees them, and where to look at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from cu2port.facts.structure import Function, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import value_of
from cu2port.syntax.statements import Parser, parameters, read_body, read_expression
from cu2port.syntax.tree import Block, Decl, Expr, Param, statements
from cu2port.warp.events import BlockSeen, Event, LoopSeen, Store
from cu2port.warp.values import NOTHING, V


@dataclass(slots=True)
class Device:
    """A device function while it is being interpreted.

    `given`: the join of the arguments of all calls seen, by parameter; `calls_from`: callers and the calls' tokens;
    `result`: the join of what it returns.
    """

    fn: Function
    params: tuple[Param, ...]
    tparams: tuple[Param, ...]
    body: Block
    kernel: bool
    bounds: tuple[Expr, ...] = ()  # of `__launch_bounds__`
    given: dict[str, V] = field(default_factory=dict)
    result: V = NOTHING
    returns: bool = False
    callers: dict[tuple[str, int], None] = field(default_factory=dict)
    events: dict[tuple[str, int], Event] = field(default_factory=dict)
    loops: dict[int, LoopSeen] = field(default_factory=dict)
    blocks: dict[int, BlockSeen] = field(default_factory=dict)
    stores: dict[int, Store] = field(default_factory=dict)
    spread: set[int] = field(default_factory=set)  # index expressions that differ from lane to lane
    rows: bool = False  # its blocks have rows of 32 threads: threadIdx.x is a lane, threadIdx.y a warp
    wide: bool = False  # uses threadIdx.y or z: threadIdx.x alone is no linear index
    _declared: tuple[Block, dict[str, list[Decl]]] | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.fn.name

    def declarations(self, name: str) -> list[Decl]:
        """The declarations of a variable in its body, in text order."""
        if self._declared is None or self._declared[0] is not self.body:
            found: dict[str, list[Decl]] = {}
            for s in statements(self.body):
                if isinstance(s, Decl):
                    found.setdefault(s.name, []).append(s)
            self._declared = self.body, found
        return self._declared[1].get(name, [])


@lru_cache(maxsize=2)
def _bodies(unit: Unit) -> dict[int, Block]:
    """The bodies read so far, by their first token: more than one check asks for them."""
    return {}


def make_device(unit: Unit, f: Function) -> Device:
    """A function, read."""
    params = parameters(unit, *f.params)
    tparams: tuple[Param, ...] = ()
    if unit.declarations.template_at(f.first) is not None:
        close = unit.angle_close(f.first + 1)
        if close > 0:
            tparams = parameters(unit, f.first + 1, close)
    body = _bodies(unit).get(f.body[0])
    if body is None:
        body = _bodies(unit)[f.body[0]] = read_body(unit, f.body[0] + 1, f.body[1])
    words = unit.t[f.body[0] : f.body[1]]
    wide = any(words[k] == "threadIdx" and words[k + 2 : k + 3] in (["y"], ["z"]) for k in range(len(words) - 2))
    bounds: tuple[Expr, ...] = ()
    if "__launch_bounds__" in unit.t[f.first : f.name_at]:
        call = unit.call(unit.t.index("__launch_bounds__", f.first, f.name_at))
        if call is not None:
            ends = [(unit.lexed.at(a.start), unit.lexed.at(a.end)) for a in call.args]
            bounds = tuple(read_expression(unit, a, b) for a, b in ends)
    return Device(f, params, tparams, body, "__global__" in f.sides, bounds, wide=wide)


def read_function(unit: Unit, f: Function, names: set[str] | None = None) -> Device:
    """The parsed function or macro body. `names`: other statements that only compute may be left out."""
    first, stop = f.body[0] + 1, f.body[1]
    if f.params[0] >= 0 and names is None:
        return make_device(unit, f)
    parser = Parser(unit, first, stop, jump=f.params[0] >= 0)
    if names is not None:
        parser.only = sorted(k for name in names for k in unit.between(first, stop, name))
    params = parameters(unit, *f.params) if f.params[0] >= 0 else ()
    return Device(f, params, (), parser.block(stop), "__global__" in f.sides)


def macro_expression(unit: Unit, m: Macro) -> Expr:
    """A macro's body read as an expression."""
    return read_expression(unit, m.first, m.stop)


def macro_body(unit: Unit, m: Macro) -> Block:
    """A macro's body read as statements."""
    return Parser(unit, m.first, m.stop, jump=False).block(m.stop)


def is_statement(unit: Unit, m: Macro) -> bool:
    """Whether a macro's body is a statement rather than an expression."""
    words = unit.t[m.first : m.stop]
    return bool(words) and (";" in words or words[0] in ("if", "for", "while", "do", "{", "asm", "return"))


_CONSTANTS = frozenset({"const", "constexpr", "enum"})


def constants(unit: Unit) -> dict[str, int]:
    """Names that are given a value where they are declared constant outside of functions or as a class's member: the
    token behind their `=` (or `{`)."""
    if unit.words.isdisjoint(_CONSTANTS):
        return {}
    out: dict[str, int] = {}
    for d in unit.declarations.outer():
        given = d.kind in ("variable", "member") and not _CONSTANTS.isdisjoint(unit.t[d.type_first : d.type_stop])
        if (given or d.kind == "enumerator") and (at := value_of(unit.lexed, d)[0]):
            out.setdefault(d.name, at)
    return out
