from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.operand_type import declared_word
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import is_class, is_type_parameter

_SHUFFLES = ("shfl", "shfl_down", "shfl_up", "shfl_xor")
_GROUPS = frozenset(
    {"tiled_partition", "thread_block_tile", "coalesced_threads", "coalesced_group", "labeled_partition"}
)


class TileShuffle(Check):
    """A tile or group exchanges values of a class, or of a template's parameter: `tile.shfl_down(pair, 1)`.

    CUDA's tiles take any trivially copyable type. HIP's take integers and floating point numbers of 4 or 8 bytes, and a
    static assertion fails for others. `cu2port::tile::shfl_down` sends the bytes in words of 32 bits.
    """

    code, name, severity = "CU329", "tile-shuffle", Severity.INFO
    triggers = frozenset(_GROUPS)
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
        Example("__device__ int f(cooperative_groups::thread_block_tile<32> t, int x) { return t.shfl(x, 1); }\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & _GROUPS:
            return
        for i in unit.find(*_SHUFFLES):
            call = unit.call(i)
            if unit.tok(i - 1) != "." or call is None or len(call.args) != 2 or unit.in_directive(i) is not None:
                continue
            group = i - 2
            word = _class_of(unit, unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end))
            if not word or not is_identifier(unit.tok(group)) or unit.is_member(group) or unit.tok(group - 1) == "::":
                continue
            start, end = unit.p[group], unit.end(call.close)
            group_span, rest = Span(start, unit.end(group)), Span(unit.end(call.open), end)
            parts = (f"cu2port::tile::{unit.t[i]}(", group_span, ", ", rest)
            yield self.finding(
                f"tiles of HIP exchange numbers, and `{word}` may be of another kind",
                start,
                end,
                (Edit(start, end, parts),),
                effects=(("all", "compile-error"),),
                helpers=("tile_reduce.hpp",),
            )


def _class_of(unit: Unit, first: int, stop: int) -> str:
    """The class, or the template's parameter, that tokens [first, stop) are of: `x`, `x[i]`; "" for others."""
    word = declared_word(unit, first, stop)
    known = unit.declarations.visible(word, first) if word else None
    return word if known is not None and (is_class(unit.t, known) or is_type_parameter(unit.t, known)) else ""
