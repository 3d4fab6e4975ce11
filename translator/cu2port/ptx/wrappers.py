"""Functions whose products all have their accumulators in one parameter: of a file, or of headers that it includes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cu2port.core.model import Project
from cu2port.facts.product_functions import is_called_alone, namespace_of
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import Product, find_product
from cu2port.ptx.asm import statements as asm_statements
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.local_arrays import only
from cu2port.ptx.taken import is_left_out
from cu2port.ptx.uniform import stays_together
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import parameters, read_body
from cu2port.syntax.tree import Decl, Name, Unary, statements

SUMS = {"f32": "float", "s32": "int"}
_INLINE = frozenset("inline __inline __inline__ __forceinline__ static template constexpr".split())  # of this file


@dataclass(frozen=True)
class Wrapper:
    """A function whose parameter `index` of `params` holds accumulators of its products, and nothing else. `included`:
    it is in a header; `space`: in this namespace."""

    function: Function
    params: int
    index: int
    reference: bool
    products: tuple[tuple[Product, int], ...]  # and the tile behind the first one
    together: bool  # whether all lanes that call it multiply
    included: bool = False
    space: str = ""

    @property
    def forms(self) -> tuple[Form, ...]:
        return tuple(p.form for p, _ in self.products)

    def is_meant(self, unit: Unit, callee: Name) -> bool:
        """Whether a call names this function, by its namespace if it names one."""
        if not callee.qualified:
            return True
        names = [x for x in unit.t[callee.start : callee.at] if x != "::"]
        return self.included and bool(names) and self.space.split("::")[-len(names) :] == names


def in_functions(unit: Unit, products: Iterable[Product]) -> dict[int, list[Product]]:
    """Products by the function that they are in, by the bracket of its body."""
    out: dict[int, list[Product]] = {}
    for p in products:
        f = unit.function_at(p.statement.keyword)
        if f is not None:
            out.setdefault(f.body[0], []).append(p)
    return out


def included_wrappers(unit: Unit, fast: bool) -> tuple[Wrapper, ...]:
    """Those of headers that a file includes, as far as it calls them and declares no such name itself."""
    named = (x.partition(" ") for x in sorted(unit.project.products))
    texts = [text for name, _, text in named if _is_asked(unit, name)]
    if not texts:
        return ()
    told = Project(hip_macros=unit.project.hip_macros)
    made = Unit("\n".join([*texts, ""]), unit.catalog, unit.options, unit.path, told)
    read = (s for s in asm_statements(made) if not is_left_out(made, s.span.start))
    products = in_functions(made, (p for s in read if (p := find_product(made, s, fast)) is not None))
    functions = ((f, products[f.body[0]]) for f in made.functions if f.body[0] in products)
    found = [w for f, of in functions if (w := wrapper_of(made, f, of)) is not None]
    return tuple(replace(w, included=True, space=namespace_of(made, w.function) or "") for w in found)


def _is_asked(unit: Unit, name: str) -> bool:
    """Whether a name of others is used in a file, which has none of its own."""
    places = unit.find(name)
    return bool(places) and not any(map(unit.declares, places))


def wrapper_of(unit: Unit, f: Function, products: list[Product]) -> Wrapper | None:
    """A function whose products all have their accumulators in one parameter that nothing else names."""
    if "..." in unit.t[f.params[0] : f.params[1]] or _INLINE.isdisjoint(unit.t[f.first : f.name_at]):
        return None
    named = {p.name: (i, p) for i, p in enumerate(parameters(unit, *f.params))}
    body = read_body(unit, f.body[0] + 1, f.body[1])
    aliases = {s.name: s for s in statements(body) if isinstance(s, Decl) and s.pointer and s.init is not None}
    roots = {p.root for p in products}
    if len(roots) != 1 or any(p.at is None for p in products):
        return None
    name = roots.pop()
    allowed = [r for p in products for r in p.places]
    if name in aliases and aliases[name].init is not None:
        alias, init = aliases[name], aliases[name].init
        assert init is not None
        target = init.x if isinstance(init, Unary) and init.op == "&" else init
        if not isinstance(target, Name) or not only(unit, f.body, name, [*allowed, range(alias.at, alias.at + 1)]):
            return None
        a, b = tokens(init)
        allowed, name = [range(a, b + 1)], target.text
    if name not in named or not only(unit, f.body, name, allowed) or not is_called_alone(unit, f):
        return None
    index, param = named[name]
    if not (param.pointer or param.reference) or not all(SUMS[p.form.d] for p in products):
        return None
    if len({p.form.d for p in products}) != 1:
        return None
    together = stays_together(unit, f, None, [p.statement.keyword for p in products])
    return Wrapper(f, len(named), index, param.reference, tuple((p, (p.at or 0) // 4) for p in products), together)
