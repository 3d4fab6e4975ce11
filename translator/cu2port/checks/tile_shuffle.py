from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.named_types import NamedTypes
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import alias_of, is_type_parameter, written

_SHUFFLES = ("shfl", "shfl_down", "shfl_up", "shfl_xor")
_GROUPS = frozenset(
    {"tiled_partition", "thread_block_tile", "coalesced_threads", "coalesced_group", "labeled_partition"}
)


class TileShuffle(Check):
    """A tile or group exchanges values that are no numbers, or may be none: `tile.shfl_down(pair, 1)`.

    Such are classes, enumerations, vectors, halves, pointers, types of other headers, and those that a template's
    parameter gives. CUDA's tiles take any trivially copyable type. HIP's take integers and floating point numbers of
    4 or 8 bytes, and a static assertion fails for others. `cu2port::tile::shfl_down` sends the bytes in words of 32
    bits.
    """

    code, name, severity = "CU329", "tile-shuffle", Severity.INFO
    triggers = frozenset(_SHUFFLES)
    examples = (
        Example(
            "struct P { float v; int i; };\n"
            "template <class G> __device__ P f(cooperative_groups::thread_block_tile<32> t, P x)"
            " { return t.shfl_down(x, 1); }\n",
            '#include "cu2port/tile_reduce.hpp"\nstruct P { float v; int i; };\n'
            "template <class G> __device__ P f(cooperative_groups::thread_block_tile<32> t, P x)"
            " { return cu2port::tile::shfl_down(t, x, 1); }\n",
        ),
        Example(
            "template <class T> __device__ T f(const cooperative_groups::thread_block_tile<8>& t, T* x)"
            " { return CHECK(t.shfl(x[0], 3)); }\n",
            '#include "cu2port/tile_reduce.hpp"\n'
            "template <class T> __device__ T f(const cooperative_groups::thread_block_tile<8>& t, T* x)"
            " { return CHECK(cu2port::tile::shfl(t, x[0], 3)); }\n",
            "a template's parameter; as a macro's argument",
        ),
        Example(
            "struct P { int v; };\n#define DOWN(t, n) t.shfl_down(p, n)\nusing cooperative_groups::coalesced_group;\n",
            note="in a macro body the types are not known",
        ),
        Example(
            "template <class M, class Tile> __device__ void f(M map, const Tile& tile, float4* q) {\n"
            "  typename M::value_type pair{};\n"
            "  map.insert(tile.shfl(pair, 0), tile.shfl(pair.first, 1), tile.shfl_up(q[1], 1), tile.shfl_xor(q, 1));\n"
            "}\n",
            '#include "cu2port/tile_reduce.hpp"\n'
            "template <class M, class Tile> __device__ void f(M map, const Tile& tile, float4* q) {\n"
            "  typename M::value_type pair{};\n"
            "  map.insert(cu2port::tile::shfl(tile, pair, 0), cu2port::tile::shfl(tile, pair.first, 1),"
            " cu2port::tile::shfl_up(tile, q[1], 1), cu2port::tile::shfl_xor(tile, q, 1));\n"
            "}\n",
            "a tile of a type that a template's parameter gives",
        ),
        Example(
            "enum class E { a };\ntemplate <class G> __device__ E f(cooperative_groups::thread_block_tile<8> t) {\n"
            "  E e = E::a;\n  Elsewhere k;\n  std::pair<int, int> p;\n"
            "  use(t.shfl(k, 1), t.shfl(p, 2));\n  return t.shfl(e, 0);\n}\n",
            '#include "cu2port/tile_reduce.hpp"\n'
            "enum class E { a };\ntemplate <class G> __device__ E f(cooperative_groups::thread_block_tile<8> t) {\n"
            "  E e = E::a;\n  Elsewhere k;\n  std::pair<int, int> p;\n"
            "  use(cu2port::tile::shfl(t, k, 1), cu2port::tile::shfl(t, p, 2));\n"
            "  return cu2port::tile::shfl(t, e, 0);\n}\n",
            "an enumeration, types of other headers",
        ),
        Example(
            "__device__ int f(cooperative_groups::thread_block_tile<32> t, int x, uint64_t y, size_t* z) {\n"
            "  auto w = x + 1;\n  return t.shfl(x, 1) + t.shfl(y, 1) + t.shfl(z[0], 1) + t.shfl(w, 2);\n}\n"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        of_cuda = bool(unit.words & _GROUPS)
        for i in unit.find(*_SHUFFLES):
            call, group = unit.call(i), i - 2
            if unit.tok(i - 1) != "." or call is None or len(call.args) != 2 or unit.in_directive(i) is not None:
                continue
            if not is_identifier(unit.tok(group)) or unit.is_member(group) or unit.tok(group - 1) == "::":
                continue
            kind = _other_kind(unit, unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end))
            if not kind or not (of_cuda or _is_dependent(unit, unit.declarations.visible(unit.t[group], group))):
                continue
            start, end = unit.p[group], unit.end(call.close)
            group_span, rest = Span(start, unit.end(group)), Span(unit.end(call.open), end)
            parts = (f"cu2port::tile::{unit.t[i]}(", group_span, ", ", rest)
            yield self.finding(
                f"tiles of HIP exchange numbers, and `{kind}` may be of another kind",
                start,
                end,
                (Edit(start, end, parts),),
                effects=(("all", "compile-error"),),
                helpers=("tile_reduce.hpp",),
            )


def _other_kind(unit: Unit, first: int, stop: int) -> str:
    """The type of tokens [first, stop), `x`, `x[i]` or a member of `x`, if it is no number or may be none; "" for
    others."""
    d = unit.declarations.visible(unit.tok(first), first) if is_identifier(unit.tok(first)) else None
    if d is None or stop <= first:
        return ""
    own = written(unit.t, d)
    indexed = unit.tok(first + 1) == "[" and unit.match[first + 1] == stop - 1
    if stop - first != 1 and not indexed:
        member = unit.tok(first + 1) == "." and stop - first == 3
        return own.name if member and not own.indirections and _is_dependent(unit, d) else ""
    if own.indirections > indexed:
        return own.name + " *"
    if own.indirections < indexed:
        return ""
    if NamedTypes(unit).declared(d).name.startswith("?") or "<" in unit.t[d.type_first : d.type_stop]:
        return own.name
    known = unit.declarations.visible(own.name, first)  # a class or an enumeration
    is_own = known is not None and known.kind == "type" and alias_of(unit.t, known) == (0, 0)
    return own.name if is_own else ""


def _is_dependent(unit: Unit, d: Declaration | None) -> bool:
    """Whether the type of a variable is a template's parameter, or the member of a class that one is in."""
    if d is None:
        return False
    if "typename" in unit.t[d.type_first : d.type_stop]:
        return True
    known = unit.declarations.visible(written(unit.t, d).name, d.at)
    return known is not None and is_type_parameter(unit.t, known)
