"""Arrays of accumulators that `mma` touches in a loop, and the edits that keep them in tiles there.

A tile (`cu2port/mma_matrix.hpp`) has the sums of 16 rows and 8 columns where AMD's matrix instructions have them, so
that nothing is exchanged between one product and the next. What must hold, for the array and the loop:

- in the loop the array is named by products alone: as C and D of an `asm` with one `mma`, or as the argument for them
  in calls of a function of this file whose parameter is nothing else (a wrapper); or by what does the same to each
  element (`maps`);
- the four registers are four elements in a row, and the first one's place is a multiple of four;
- the array is a local of the function, declared outside of the loop, and no variable that is made before the loop's end
  gets its address. Functions that it is handed to are taken not to keep the address.

A lambda of the function that is called and nothing else (`lambdas`) is part of the loops that call it. One with
products gets the tiles as one argument more, and so do those that call it; they are called in one such loop alone.

Loops in a row whose lanes stay together are one part, with what is between them. It ends with the last product.

Everything else stays in PTX's layout: the loop takes the array over when it begins and gives it back when it ends. A
loop that all lanes are in until it ends (`uniform`) is a lambda: which lanes are there is looked at before it, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from cu2port.core.files import HEADER_SUFFIXES
from cu2port.core.model import Edit
from cu2port.facts.product_functions import is_offered
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import Product, find_product, subscripts
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.lambdas import LocalFunction, all_statements, local_functions, on_the_way, reached
from cu2port.ptx.lifted import Lifted, RefusedError
from cu2port.ptx.local_arrays import Named, begins_tile, by_names, holders, is_array, mentions
from cu2port.ptx.maps import ElementMap, find_maps
from cu2port.ptx.matrix_forms import AROUND, ELSEWHERE, all_kinds, in_a_row, is_exchanged, sums_of, where
from cu2port.ptx.parts import Held, Parts, Regions, parts_of
from cu2port.ptx.product_calls import is_call
from cu2port.ptx.regions import Around, around, one_more
from cu2port.ptx.uniform import all_alike, of_other_files, stays_together
from cu2port.ptx.wrappers import Call, Wrapper, begun, calls_of, in_functions, included_wrappers, own_wrappers
from cu2port.syntax.statements import read_body, read_expression
from cu2port.syntax.tree import (
    Asm,
    Block,
    Eval,
    Expr,
)

_NOT_IN_LAMBDAS = frozenset({"__shared__", "static", "extern", "return"})


@dataclass(frozen=True)
class Kept:
    """For asm statements by keyword: the tile that each multiplies into, and edits around them. `elsewhere`: those
    whose tiles only other files have. `exchanged`: those whose sums no tile has between products. `apart`: edits of
    loops whose products are all in functions of headers."""

    tiles: Mapping[int, str] = field(default_factory=dict)
    edits: Mapping[int, tuple[Edit, ...]] = field(default_factory=dict)
    elsewhere: frozenset[int] = frozenset()
    exchanged: frozenset[int] = frozenset()
    apart: tuple[Apart, ...] = ()


@dataclass(frozen=True)
class Apart:
    """Edits that keep arrays of a function in tiles: the products are in functions `names` of headers, called from
    token `at` on. `exact`: of integers; `where`: the tiles are kept."""

    at: int
    names: tuple[str, ...]
    edits: tuple[Edit, ...]
    exact: bool
    where: str = AROUND


@dataclass(frozen=True)
class _Use:
    """A product in a function's own body, a call of a wrapper, or a map, which has no forms; what each names of the
    array."""

    at: int
    root: str
    places: tuple[range, ...]
    forms: tuple[Form, ...] = ()
    product: Product | None = None
    call: Call | None = None
    map: ElementMap | None = None


@dataclass
class _Noted:
    """What keeps arrays of a function in tiles. `tiles`, `used`: of all functions, by asm statement and by wrapper;
    `exchanged`: of all functions too.
    `anchor`: the asm statement that the edits belong to, -1 for none; `more`: parameters and arguments, by closing
    bracket; `given`: arguments of `included` wrappers; `called`: local functions that loops with tiles call."""

    tiles: dict[int, str]
    used: dict[str, list[Edit]]
    exchanged: set[int]
    anchor: int = -1
    around: list[Around] = field(default_factory=list)
    more: list[tuple[int, str]] = field(default_factory=list)
    maps: list[Edit] = field(default_factory=list)
    given: list[Edit] = field(default_factory=list)
    included: list[Wrapper] = field(default_factory=list)
    called: dict[int, LocalFunction] = field(default_factory=dict)

    def all_edits(self, unit: Unit) -> Iterator[Edit]:
        yield from around(unit, self.around)
        yield from one_more(unit, self.more)
        yield from (edit for g in self.called.values() for edit in g.inlined(unit))
        yield from self.maps
        yield from self.given

    def apart(self, unit: Unit) -> Apart:
        return _apart(min(x.region.start for x in self.around), self.included, tuple(self.all_edits(unit)))


def _apart(at: int, wrappers: Iterable[Wrapper], edits: tuple[Edit, ...], where: str = AROUND) -> Apart:
    listed = list(wrappers)
    names = tuple(sorted({w.function.name for w in listed}))
    return Apart(at, names, edits, all(form.d == "s32" for w in listed for form in w.forms), where)


def find_kept(unit: Unit, wanted: Iterable[AsmStatement], fast: bool) -> Kept:
    """What can be kept in tiles, of the statements of a file."""
    products = [p for s in wanted if (p := find_product(unit, s, fast)) is not None]
    included = included_wrappers(unit, fast)
    if not (products or included) or unit.options.warp == "solo":  # one warp on a wavefront: no matrix instructions
        return Kept()
    by_function = in_functions(unit, products)
    own = own_wrappers(unit, by_function, included)
    by_name = {**{w.function.name: w for w in included}, **own}
    tiles: dict[int, str] = {}
    edits: dict[int, tuple[Edit, ...]] = {}
    used: dict[str, list[Edit]] = {}
    exchanged: set[int] = set()
    apart: list[Apart] = []
    for f in unit.functions:
        if f.name in by_name or not (f.body[0] in by_function or _names(unit, f.body, by_name)):
            continue
        body = read_body(unit, f.body[0] + 1, f.body[1])
        local = local_functions(unit, f, body)
        uses = list(_uses(unit, body, local, by_function.get(f.body[0], []), by_name))
        noted = _Noted(tiles, used, exchanged)
        named = by_names(all_statements(body, local) if uses else ())
        by_root: dict[str, list[_Use]] = {}
        for use in uses:
            by_root.setdefault(use.root, []).append(use)
        parts = parts_of(unit, f, body, local)
        others = Regions()
        for root, mine in by_root.items():
            found = list(_regions(unit, f, parts, root, mine, named, others))
            for loop, of, whole in found:
                _take(unit, root, loop, of, on_the_way(loop, local, [u.at for u in of]), whole, noted)
                spans = reached(loop, local)
                noted.called.update((g.at, g) for g in local.values() if g.span in spans)
                others.add(loop)
        if noted.around and noted.anchor >= 0:
            edits[noted.anchor] = (*edits.get(noted.anchor, ()), *noted.all_edits(unit))
        elif noted.around:
            apart.append(noted.apart(unit))
    elsewhere = _elsewhere(unit, own.values(), used)
    _given_on(used, by_name)
    for name, made in used.items():
        w = by_name[name]
        tile = _free(unit, "tile")
        made += w.edits(unit, tile)
        tiles.update((p.statement.keyword, w.tile_of(p, tile)) for p in w.products)
        exchanged.update(p.statement.keyword for p in w.products if is_exchanged(p.form, w.sums))
        if w.keyword >= 0:
            edits[w.keyword] = (*edits.get(w.keyword, ()), *made)
        else:
            apart.append(_apart(w.function.name_at, (c.wrapper for c in w.calls), tuple(made), ELSEWHERE))
    taken = frozenset(p.statement.keyword for w in elsewhere for p in w.products)
    return Kept(tiles, edits, taken, frozenset(exchanged), tuple(apart))


def _elsewhere(unit: Unit, own: Iterable[Wrapper], used: dict[str, list[Edit]]) -> list[Wrapper]:
    """The wrappers of a header that other files may give tiles to, which are noted as used."""
    if not unit.path.lower().endswith(HEADER_SUFFIXES):
        return []
    out = [w for w in own if w.function.name not in used and is_offered(unit, w.function)]
    out = [w for w in out if not any(is_call(unit, p.statement) for p in w.products)]  # headers tell of asm alone
    used.update((w.function.name, []) for w in out)
    return out


def _given_on(used: dict[str, list[Edit]], by_name: Mapping[str, Wrapper]) -> None:
    """Notes the wrappers of the file that used ones hand their tiles on to."""
    todo = list(used)
    for name in todo:
        inner = (c.wrapper for c in by_name[name].calls)
        more = [w.function.name for w in inner if not w.included and w.function.name not in used]
        used.update((x, []) for x in more)
        todo += more


def into_tile(lifted: Lifted, tile: str) -> Lifted:
    """The lines with the product added into a tile. Raises RefusedError where they hold no such call."""
    lines = tuple(
        f"{line[:-2]}, {tile});" if " = cu2port::mma::m16n8" in line and line.endswith("});") else line
        for line in lifted.lines
    )
    if sum(a != b for a, b in zip(lines, lifted.lines, strict=True)) != 1:
        raise RefusedError("", "its accumulators are kept in a tile, and its product was not found")
    return replace(lifted, lines=lines)


def _names(unit: Unit, span: tuple[int, int], names: Iterable[str]) -> bool:
    return any(span[0] < i < span[1] for name in names for i in unit.find(name))


# --- Uses and loops --------------------------------------------------------------------------------------------------


def _uses(
    unit: Unit,
    body: Block,
    local: Mapping[str, LocalFunction],
    products: list[Product],
    wrappers: Mapping[str, Wrapper],
) -> Iterator[_Use]:
    """Those in a body itself and in its local functions, not in other lambdas."""
    by_keyword = {p.statement.keyword: p for p in products}
    for s in all_statements(body, local):
        if isinstance(s, (Asm, Eval)) and s.at in by_keyword and not (p := by_keyword[s.at]).spread:
            yield _Use(s.at, p.root, p.places, (p.form,), p)
    for c in (c for c in calls_of(unit, all_statements(body, local), wrappers) if not c.spread):
        yield _Use(c.at, c.root, c.places, c.wrapper.forms, None, c)
    yield from (_Use(m.at, m.root, (*m.places, *m.gone), map=m) for m in find_maps(unit, all_statements(body, local)))


def _regions(
    unit: Unit, f: Function, parts: Parts, root: str, uses: list[_Use], named: Named, others: Regions
) -> Iterator[tuple[range, list[_Use], bool]]:
    """The largest parts in which an array is named for products and maps alone, as tokens, with those, and whether its
    lanes stay together. Each is a loop, or statements in a row with a loop among them. `others`: of other arrays."""
    declared = parts.declared.get(root, [])
    count = in_a_row(form for u in uses for form in u.forms) if any(u.forms for u in uses) else 4
    if len(declared) != 1 or not is_array(unit, declared[0], count) or parts.passes_on:
        return
    if root in unit.once(_in_directives):  # a macro may name it anywhere
        return
    uses = [u for u in uses if u.map is not None or _begins_tile(unit, u, declared[0].at, count)]
    places = {i for u in uses for r in u.places for i in r}
    alone = (i for i in mentions(unit, f.body, root) if i not in places)
    held = Held(parts, [(u.at, bool(u.forms)) for u in uses], alone)
    again = (u.at for u in uses if u.call is not None and u.call.wrapper.again)
    calls = [parts.evals[at] for at in again if at in parts.evals]
    lambdas = [g.span for g in parts.local.values()]
    taken: set[int] = set()
    address = holders(unit, f, named, declared[0])
    both = [*((r, False) for r in (*held.loops(), *calls)), *((r, True) for r in held.rows())]
    for region, row in sorted(both, key=lambda x: (any(x[0].start in g for g in lambdas), x[0].start, -x[0].stop)):
        inside = [uses[n] for n in held.inside(region)]
        before = declared[0].at >= region.start or others.cross(region)
        if before or any(u.at in taken for u in inside) or not held.alone(region):
            continue
        through = on_the_way(region, parts.local, [u.at for u in inside])
        passed = all(_takes_tiles(unit, g, [region, *(x.span for x in through)]) for g in through)
        escapes = passed and address.escapes(f, reached(region, parts.local), parts.is_nested(region))
        if not passed or escapes or not _is_kept(unit, f, region, inside):
            continue
        together = _is_whole(unit, f, region, inside)
        if together or not row:  # a row may be left in no other way
            taken.update(u.at for u in inside)
            yield region, inside, together


def _in_directives(unit: Unit) -> frozenset[str]:
    """The words of directives."""
    return frozenset(word for d in unit.directives for word in unit.t[d.first : d.stop])


def _begins_tile(unit: Unit, u: _Use, at: int, count: int) -> bool:
    """Whether what a use names of an array that token `at` declares is the first of `count` elements in a row."""
    if u.call is None:
        return begins_tile(unit, u.places[0], at, count=count)
    return begins_tile(unit, u.places[0], at, *u.call.wrapper.begin)


def _is_kept(unit: Unit, f: Function, region: range, inside: list[_Use]) -> bool:
    """Whether products add into tiles of one kind, which maps change alike, some go on from where they are, and all
    lanes of a warp name the same places."""
    maps = [u.map for u in inside if u.map is not None]
    sums = sums_of(form for u in inside for form in u.forms)
    given = {u.call.wrapper.sums for u in inside if u.call is not None}
    goes_on = any(x.goes_on for u in inside for x in (u.product, u.call) if x is not None)
    if not goes_on or not {*given, *(m.type_ for m in maps)} <= {sums}:
        return False
    chosen = [e for u in inside if u.map is None for r in u.places for e in subscripts(_expression(unit, r))]
    values = [*chosen, *(e for m in maps for e in m.values)]
    elements = frozenset(i for m in maps for i in m.elements) | of_other_files(unit, chosen)
    return all_alike(unit, f, values, elements) and (not maps or stays_together(unit, f, region, [m.at for m in maps]))


def _expression(unit: Unit, r: range) -> Expr:
    return read_expression(unit, r.start, r.stop)


def _takes_tiles(unit: Unit, g: LocalFunction, spans: list[range]) -> bool:
    """Whether a local function may get one argument more, in all calls of it, which are where the tiles are known."""
    begin = g.made.at + 3
    if unit.tok(begin) != "(" or any(p.default is not None for p in g.made.params):
        return False
    plain = "..." not in unit.t[begin : unit.match[begin]] and bool(g.made.params) == (unit.match[begin] > begin + 1)
    return plain and all(any(i in r for r in spans) for i in g.calls)


def _is_whole(unit: Unit, f: Function, loop: range, uses: list[_Use]) -> bool:
    """Whether the lanes that begin a loop are together in all its products, and it may be in a lambda."""
    if not _NOT_IN_LAMBDAS.isdisjoint(unit.t[loop.start : loop.stop]):
        return False
    return all(u.call is None or u.call.wrapper.together for u in uses) and stays_together(
        unit, f, loop, [u.at for u in uses]
    )


# --- Edits -----------------------------------------------------------------------------------------------------------


def _take(
    unit: Unit, root: str, loop: range, uses: list[_Use], through: list[LocalFunction], whole: bool, noted: _Noted
) -> None:
    """Notes what keeps an array in tiles in a loop, with products in these local functions."""
    name = _free(unit, f"{root}_kept")
    forms = [x for u in uses for x in u.forms]
    types, sums = all_kinds(forms), sums_of(forms)
    for u in uses:
        if u.product is not None:
            keyword = u.product.statement.keyword
            noted.exchanged.update((keyword,) if is_exchanged(u.product.form, sums) else ())
            noted.tiles[keyword] = begun(f"{name}.at({root}, &ptx_operand_{u.product.first}_)", u.product, sums)
        elif u.call is not None:
            w = u.call.wrapper
            keyword = w.keyword if not w.included else -1
            given = u.call.given(unit, f"{name}.@({root}, ")
            if keyword < 0:
                noted.included += [w] if w.included else [c.wrapper for c in w.calls]
            if w.included:
                noted.given.append(given)
            else:
                noted.used.setdefault(w.function.name, []).append(given)
        else:
            keyword = -1
            noted.maps += u.map.edits(unit, name, _free(unit, f"{root}_element")) if u.map is not None else ()
        noted.anchor = max(noted.anchor, keyword)
    for g in through:
        noted.more += [(unit.match[g.made.at + 3], f"auto& {name}"), *((unit.match[i + 1], name) for i in g.calls)]
    there = []
    if any(u.call is not None and u.call.wrapper.of_type for u in uses):
        there.append(f"cu2port::mma::Holds<{sums}, decltype({root})>::value")
    of = f"cu2port::mma::Element<decltype({root})>"
    there += [f"cu2port::mma::IsAll<{sums}, {of}, decltype({of}::{m})>::value" for m in sorted(_members(uses))]
    if there:
        types = where(types, " && ".join(there))
    types = f"{types}, {sums}"
    if whole:
        lambda_ = f"[&](auto& {name}) CU2PORT_MMA_INLINE {{"
        noted.around.append(Around(loop, (f"cu2port::mma::in_tiles<{types}>({root}, {lambda_}",), ("});",)))
    else:
        kept = f"auto {name} = cu2port::mma::keep<{types}>({root});"
        noted.around.append(Around(loop, ("{", kept), (f"{name}.give({root});", "}")))


def _members(uses: Iterable[_Use]) -> frozenset[str]:
    """The members of the array's elements that have the accumulators."""
    found = (
        u.call.members if u.call is not None else {u.product.member} if u.product is not None else () for u in uses
    )
    return frozenset(m for one in found for m in one if m)


def _free(unit: Unit, name: str) -> str:
    while name in unit.words:
        name += "_"
    return name
