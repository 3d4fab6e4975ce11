"""Functions whose products all have their accumulators in one parameter: of a file, or of headers that it includes.

Such a function multiplies by itself, or hands the parameter on to other ones, or both. It gets one parameter more: the
tile in which the first of the accumulators is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cu2port.core.model import Edit, Project, Side, insert
from cu2port.facts.product_functions import definition, is_called_alone, is_offered, namespace_of
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import Product, find_product, is_pure, member_of, names_of, place_of, subscripts
from cu2port.ptx.asm import statements as asm_statements
from cu2port.ptx.controls import left_out
from cu2port.ptx.declared import numbers_by_default, parameters_of, row_pointers
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.local_arrays import begins_tile, only
from cu2port.ptx.matrix_forms import BITS, in_a_row, is_exchanged, sums_of
from cu2port.ptx.regions import end_of_branch, extent
from cu2port.ptx.spread import root_of, same
from cu2port.ptx.taken import is_left_out
from cu2port.ptx.uniform import all_alike, of_other_files, stays_together
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_body, read_expression
from cu2port.syntax.tree import Block, CallExpr, Decl, Eval, Expr, If, Loop, Name, Stmt, Unary, statements

_FLOATS = re.compile(r"\A(?:std::)?is_same(?:_v)?<(?:float,)?(\w+)(?:,float)?>(?:::value|\(\))?\Z")
_WORD = re.compile(r"[A-Za-z_]\w*")
_INLINED = frozenset({"__forceinline__", "__noinline__", "always_inline", "__always_inline__", "noinline"})
_INLINE = frozenset("inline __inline __inline__ __forceinline__ static template constexpr".split())  # of this file


@dataclass(frozen=True)
class Call:
    """A call of a wrapper at statement `at`, with the tokens of the argument that has the accumulators of `root`.
    `added`: of what has them as C too; `others`: of those behind the first, where each is an argument; `spread`: the
    names of these, if they are no elements of an array."""

    at: int
    call: CallExpr
    wrapper: Wrapper
    root: str
    place: range
    members: frozenset[str]  # in which accumulators are
    added: tuple[range, ...] = ()
    others: tuple[range, ...] = ()
    spread: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[range, ...]:
        return (self.place, *self.others, *self.added)

    @property
    def goes_on(self) -> bool:
        """Whether some product does not take C over from PTX's layout."""
        of = self.wrapper
        return bool(self.added) or any(p.goes_on for p in of.products) or any(c.goes_on for c in of.calls)

    def given(self, unit: Unit, tiles: str) -> Edit:
        """The argument more: of these tiles, which begin with their first accumulator or name it."""
        whole = self.wrapper.reference and not self.members and not self.others
        by = "of" if whole else "at"
        arg = unit.source(self.place.start, self.place.stop)
        if self.wrapper.reference and not whole:
            arg = f"&{arg}"
        same = ".in_place()" if self.added else ""
        before = "".join(f"{x}, " for x in self.wrapper.left_out(len(self.call.args)) or ())
        return insert(unit.p[self.call.close], f", {before}{tiles.replace('@', by)}{arg}){same}", Side.LEFT)


@dataclass(frozen=True)
class Wrapper:
    """A function whose parameter `index` of `params` holds accumulators of its products, and nothing else. `base`: its
    address in the body. `calls`: of other wrappers, which get it. `included`: it is in a header; `space`: in this
    namespace. `added`: the parameter that its products take the same elements of as C, and that nothing else names.
    `spread`: the parameters of accumulators, where each has one; then `added` are as many. `defaults`: the numbers that
    parameters have by default."""

    function: Function
    params: int
    index: int
    reference: bool
    base: str
    products: tuple[Product, ...]
    calls: tuple[Call, ...]
    together: bool  # whether all lanes that call it multiply
    again: bool  # whether it multiplies into a place more than once
    of_type: bool  # whether it does so only where the elements have the type of the sums
    included: bool = False
    space: str = ""
    added: tuple[int, ...] = ()
    spread: tuple[int, ...] = ()
    defaults: tuple[str, ...] = ()

    @property
    def members(self) -> frozenset[str]:
        """The members of structs in which accumulators are."""
        return frozenset(p.member for p in self.products if p.member).union(*(c.members for c in self.calls))

    @property
    def forms(self) -> tuple[Form, ...]:
        return (*(p.form for p in self.products), *(x for c in self.calls for x in c.wrapper.forms))

    @property
    def sums(self) -> str:
        """What its tiles are of."""
        return sums_of(self.forms)

    @property
    def begin(self) -> tuple[bool, bool, int]:
        """How what it is given begins a tile, see `begins_tile`."""
        return self.reference and not self.spread, bool(self.members), in_a_row(self.forms)

    @property
    def keyword(self) -> int:
        """The asm statement of its file that its edits belong to; -1: none."""
        if self.products:
            return self.products[0].statement.keyword
        return next((k for c in self.calls if not c.wrapper.included and (k := c.wrapper.keyword) >= 0), -1)

    def left_out(self, given: int) -> tuple[str, ...] | None:
        """What a call with so many arguments leaves to default values; None if it is no call with accumulators."""
        left = self.defaults[given:]
        return left if max(self.index, *self.added, *self.spread, -1) < given <= self.params and all(left) else None

    def is_meant(self, unit: Unit, callee: Name) -> bool:
        """Whether a call names this function, by its namespace if it names one."""
        if not callee.qualified:
            return True
        names = [x for x in unit.t[callee.start : callee.at] if x != "::"]
        return bool(names) and self.space.split("::")[-len(names) :] == names

    def tile_of(self, p: Product, tile: str) -> str:
        """The tile that a product of its body adds into."""
        if p.at is None:
            made = f"{tile}.at({self.base}, &ptx_operand_{p.first}_)"
        elif p.at:
            n = p.at // in_a_row(self.forms)
            made = f"({tile} + {n})" if p.begins else f"{tile} + {n}"
        else:
            made = tile
        return begun(made, p, self.sums)

    def edits(self, unit: Unit, tile: str) -> Iterator[Edit]:
        """The parameter, and what calls in its body hand on."""
        close = unit.p[self.function.params[1]]
        yield insert(close, f", cu2port::mma::Into<{self.sums}> {tile} = {{}}", Side.LEFT)
        head = unit.t[self.function.first : self.function.name_at]
        if "__device__" in head and _INLINED.isdisjoint(head):
            side = self.function.first + head.index("__device__")
            yield insert(unit.end(side), " CU2PORT_MMA_INLINE", Side.LEFT)
        yield from (c.given(unit, f"{tile}.@({self.base}, ") for c in self.calls)


def begun(tile: str, p: Product, sums: str) -> str:
    """The tile that a product adds into, as it begins. Zeros of f16 are two of four words."""
    begins = "from_c" if p.begins and is_exchanged(p.form, sums) else p.begins
    return f"{tile}.{begins}()" if begins else tile


def in_functions(unit: Unit, products: Iterable[Product]) -> dict[int, list[Product]]:
    """Products by the function that they are in, by the bracket of its body."""
    out: dict[int, list[Product]] = {}
    for p in products:
        f = unit.function_at(p.statement.keyword)
        if f is not None:
            out.setdefault(f.body[0], []).append(p)
    return out


def own_wrappers(
    unit: Unit, by_function: Mapping[int, list[Product]], included: Iterable[Wrapper]
) -> dict[str, Wrapper]:
    """Those of a file by name, each behind those that it calls."""
    out: dict[str, Wrapper] = {}
    known = {w.function.name: w for w in included}
    fresh = set(known)
    left = [f for f in unit.functions if f.name not in known]
    while left:
        found = []
        for f in left:
            calls = any(f.body[0] < i < f.body[1] for name in fresh for i in unit.find(name))
            if (calls or (f.body[0] in by_function and not out)) and (
                w := _wrapper_of(unit, f, by_function.get(f.body[0], []), known)
            ):
                found.append(w)
        fresh = {w.function.name for w in found}
        out |= {w.function.name: w for w in found}
        known |= out
        left = [f for f in left if f.name not in known] if found else []
    return out


def included_wrappers(unit: Unit, fast: bool) -> tuple[Wrapper, ...]:
    """Those of headers that a file includes, as far as it calls them and declares no such name itself."""
    named = [(name, text) for name, _, text in (x.partition(" ") for x in sorted(unit.project.products))]
    asked = {name for name, _ in named if _is_asked(unit, name)}
    if not asked:
        return ()
    todo = [text for name, text in named if name in asked]
    texts = dict.fromkeys(todo)
    for text in todo:
        words = set(_WORD.findall(text))
        more = [other for name, other in named if name in words and other not in texts]
        texts.update(dict.fromkeys(more))
        todo += more
    of = unit.project
    told = Project(hip_macros=of.hip_macros, computing=of.computing, numbers=of.numbers, by_value=of.by_value)
    told = replace(told, asm_keywords=of.asm_keywords)
    made = Unit("\n".join([*texts, ""]), unit.catalog, unit.options, unit.path, told)
    found = own_wrappers(made, in_functions(made, products_of(made, fast)), ())
    meant = [w for name, w in found.items() if name in asked]
    return tuple(replace(w, included=True) for w in meant)


def carriers(unit: Unit, fast: bool) -> frozenset[str]:
    """The functions of a header that hand accumulators on to others, as a file that includes it is told of them."""
    included = included_wrappers(unit, fast)
    found = own_wrappers(unit, in_functions(unit, products_of(unit, fast)), included)
    return frozenset(definition(unit, w.function) for w in found.values() if w.calls and is_offered(unit, w.function))


def products_of(unit: Unit, fast: bool) -> Iterator[Product]:
    """The products of a file that nothing is known of but its text."""
    read = (s for s in asm_statements(unit) if not is_left_out(unit, s.span.start))
    return (p for s in read if (p := find_product(unit, s, fast)) is not None)


def _is_asked(unit: Unit, name: str) -> bool:
    """Whether a name of others is used in a file, which has none of its own."""
    places = unit.find(name)
    return bool(places) and not any(map(unit.declares, places))


def calls_of(unit: Unit, whole: Iterable[Stmt], wrappers: Mapping[str, Wrapper]) -> Iterator[Call]:
    """The statements that call a wrapper with a place of an array."""
    for s in whole:
        if not isinstance(s, Eval) or not isinstance(s.expr, CallExpr) or not isinstance(s.expr.callee, Name):
            continue
        w = wrappers.get(s.expr.callee.text)
        if w is None or w.left_out(len(s.expr.args)) is None or not w.is_meant(unit, s.expr.callee):
            continue
        args = [s.expr.args[i] for i in w.spread or (w.index,)]
        spread = names_of(args) if w.spread else ()
        root = spread[0] if spread else root_of(unit, args, not w.reference) if w.spread else place_of(args[0])
        place, *others = (range(a, b + 1) for a, b in map(tokens, args))
        member = member_of(args[0])
        if root is not None and all(map(is_pure, args)) and not (member and w.members):
            added = same(unit, args, [s.expr.args[i] for i in w.added]) if w.added else ()
            yield Call(s.at, s.expr, w, root, place, w.members | {member} - {""}, added, tuple(others), spread)


def _wrapper_of(unit: Unit, f: Function, products: list[Product], wrappers: Mapping[str, Wrapper]) -> Wrapper | None:
    """A function whose products all have their accumulators in one parameter that nothing else names."""
    if "..." in unit.t[f.params[0] : f.params[1]] or _INLINE.isdisjoint(unit.t[f.first : f.name_at]):
        return None
    if "__global__" in f.sides or not is_called_alone(unit, f):
        return None
    body = read_body(unit, f.body[0] + 1, f.body[1])
    calls = tuple(calls_of(unit, statements(body), wrappers))
    roots = {*(p.root for p in products), *(c.root for c in calls)}
    if len(roots) != 1:
        return None
    root = roots.pop()
    places = [*(r for p in products for r in p.places), *(r for c in calls for r in c.places)]
    held = _held(unit, f, body, root, places)
    params = parameters_of(unit, f)
    named = {p.name: (i, p) for i, p in enumerate(params) if p.at >= 0}
    if held is None or held.name not in named:
        return None
    index, param = named[held.name]
    at = [*(p.statement.keyword for p in products), *(c.at for c in calls)]
    of_type = not only(unit, f.body, held.name, held.allowed)
    others = list(_of_other_types(unit, body, at, param.at)) if of_type else []
    if not only(unit, f.body, held.name, [*held.allowed, *others]):
        return None
    forms = [*(p.form for p in products), *(x for c in calls for x in c.wrapper.forms)]
    count = in_a_row(forms)
    if not (param.pointer or param.reference) or any(c.wrapper.sums != sums_of(forms) for c in calls):
        return None
    first = [(p.places[0], (False, False, count)) for p in products if p.at is None]
    first += [(c.place, c.wrapper.begin) for c in calls]
    begin = held.at or (param.at,)
    if not all(begins_tile(unit, r, at, *how) for r, how in first for at in begin) or not _are_alike(unit, f, places):
        return None
    if any(p.at is not None and p.at % count for p in products) or (sums_of(forms) == BITS and of_type):
        return None
    together = all(c.wrapper.together for c in calls) and stays_together(unit, f, None, at)
    base = f"&{root}" if not held.at and param.reference else root
    again = any(c.wrapper.again for c in calls) or _is_again(unit, body, places)
    of_type = of_type or any(c.wrapper.of_type for c in calls)
    out = Wrapper(f, len(params), index, param.reference, base, tuple(products), calls, together, again, of_type)
    names = {*(p.spread for p in products), *(c.spread for c in calls)}
    spread = _alone(unit, f, body, names, places)
    if spread is None or any(
        (params[i].pointer, params[i].reference) != (param.pointer, param.reference) for i in spread
    ):
        return None
    out = replace(out, space=namespace_of(unit, f) or "", added=_added(unit, f, body, out), spread=spread)
    return replace(out, defaults=numbers_by_default(unit, params))


def _added(unit: Unit, f: Function, body: Block, w: Wrapper) -> tuple[int, ...]:
    """The parameters that have C of a wrapper's products, at the same places as the sums."""
    apart = [p.apart for p in w.products if p.begins == "from_c"]
    if not apart or None in apart or w.calls:
        return ()
    names = {x.spread or (x.root,) for x in apart if x is not None}
    return _alone(unit, f, body, names, [r for x in apart if x is not None for r in x.places]) or ()


def _alone(
    unit: Unit, f: Function, body: Block, names: set[tuple[str, ...]], places: list[range]
) -> tuple[int, ...] | None:
    """The parameters that names reach, and that nothing but these places names; None where that is not so."""
    if len(names) != 1:
        return None
    held = [_held(unit, f, body, name, places) for name in next(iter(names))]
    params = [p.name for p in parameters_of(unit, f)]
    if any(h is None or h.name not in params or not only(unit, f.body, h.name, h.allowed) for h in held):
        return None
    return tuple(params.index(h.name) for h in held if h is not None)


def _is_again(unit: Unit, body: Block, places: list[range]) -> bool:
    """Whether a loop around a place does not choose it."""
    for s in statements(body):
        r = extent(unit, s) if isinstance(s, Loop) else None
        if r is None or not isinstance(s, Loop):
            continue
        name = s.init.name if isinstance(s.init, Decl) else ""
        if any(p.start in r and name not in unit.t[p.start : p.stop] for p in places):
            return True
    return False


def _of_other_types(unit: Unit, body: Block, at: list[int], param: int) -> Iterator[range]:
    """Branches that a template has where the elements of a parameter are no floats, of an `if constexpr` on that."""
    out = left_out(unit, body, at)
    d = unit.declaration(param)
    type_ = "" if d is None else "".join(unit.t[d.type_first : d.type_stop])
    for s in statements(body):
        if isinstance(s, If) and s.other is not None and s.other.at in out and is_identifier(type_):
            a, b = tokens(s.cond)
            held = {x.at for x in statements(s.then)}
            if held.issuperset(at) and _FLOATS.sub(r"\1", "".join(unit.t[a : b + 1])) == type_:
                yield range(s.other.at, end_of_branch(unit, s.other.at))


@dataclass(frozen=True)
class _Held:
    """What a name's accumulators are held by: a parameter, and where it is named; `at`: pointers to it, one in each
    scope, that are named for them."""

    name: str
    allowed: list[range]
    at: tuple[int, ...] = ()


def _held(unit: Unit, f: Function, body: Block, root: str, places: list[range]) -> _Held | None:
    """A name itself, or what it is set to as a pointer that is used for these places alone, in each scope alike."""
    decls = (s for s in statements(body) if isinstance(s, Decl) and s.name == root and s.pointer)
    found = [(s.at, s.init) for s in decls if s.init is not None] + list(row_pointers(unit, f.body, root))
    found = [(at, init) for at, init in found if not is_left_out(unit, unit.p[at])]
    if not found:
        return _Held(root, places)
    targets = [init.x if isinstance(init, Unary) and init.op == "&" else init for _, init in found]
    names = {x.text if isinstance(x, Name) and not x.qualified else "" for x in targets}
    at = tuple(at for at, _ in found)
    scopes = {id(d.scope) if (d := unit.declaration(i)) is not None else 0 for i in at}
    if len(names) != 1 or "" in names or len({*scopes, 0}) != len(at) + 1:
        return None
    if not only(unit, f.body, root, [*places, *(range(i, i + 1) for i in at)]):
        return None
    spans = [tokens(init) for _, init in found]
    return _Held(names.pop(), [range(a, b + 1) for a, b in spans], at)


def _are_alike(unit: Unit, f: Function, places: list[range]) -> bool:
    """Whether all lanes of a warp name the same places."""
    chosen: list[Expr] = [e for r in places for e in subscripts(read_expression(unit, r.start, r.stop))]
    return all_alike(unit, f, chosen, of_other_files(unit, chosen))
