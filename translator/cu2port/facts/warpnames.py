"""CUDA's cross-lane builtins by name, which tokens are theirs, and what happens to warps where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cu2port.core.late import regex
from cu2port.core.model import Span
from cu2port.facts.arithmetic import simple_type
from cu2port.facts.clang import Binding
from cu2port.facts.declared import is_builtin_within, is_declared_for
from cu2port.facts.hipcode import is_hips
from cu2port.facts.structure import Call, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import KEYWORDS, PLACEHOLDERS

HEADER = "warp.hpp"
#: Headers of ours that keep CUDA's warps: one of them in a file or a tree says that it was converted so.
WARP_HEADERS = frozenset({HEADER, "wave.hpp", "solo.hpp", "solo_groups.hpp"})
SPACE = "cu2port::warp::"
SHUFFLES = frozenset("__shfl __shfl_up __shfl_down __shfl_xor".split())
VOTES = frozenset("__any __all __ballot".split())
SYNC = frozenset(
    (
        *(f"{n}_sync" for n in (*SHUFFLES, *VOTES)),
        *"__match_any_sync __match_all_sync __reduce_add_sync __reduce_min_sync __reduce_max_sync".split(),
        *"__reduce_and_sync __reduce_or_sync __reduce_xor_sync __syncwarp".split(),
    )
)
#: CUDA's name -> the function of `cu2port::warp` that takes the same arguments.
LOGICAL = {n: n.removeprefix("__").removesuffix("_sync") for n in (*SYNC, *VOTES, "__activemask")}
#: Everything here, with the shuffles that CUDA dropped.
NAMES = frozenset((*LOGICAL, *SHUFFLES))
ALL_LANES = ("wave64", "wrong-result")

_WIDE = regex(
    r"unsigned long long|uint64_t|\b[0-9]\w*[lL]{2}[uU]?\b|__activemask\s*\(|__ballot|\b0[xX][0-9a-fA-F]{16}|hip"
    r"|lane_mask|lanemask_t"
)
_NARROW = regex(r"0[xX][0-9a-fA-F]{1,8}[uU]?\Z|-1\Z|~0[uU]?\Z|u?int(?:32_t)?\s*\(-1\)\Z|4294967295[uU]?\Z")
_BITS = {"int": 32, "unsigned int": 32, "u32": 32, "u64": 64} | {
    f"{sign}{long}": 64 for sign in ("", "unsigned ") for long in ("long", "long long")
}


def modes(unit: Unit) -> Callable[[int], str]:
    """What happens to warp code at a token, as `Options.warp` says; code that is HIP's already is left as it is."""
    asked = unit.options.warp

    def mode(i: int) -> str:
        return "flag" if asked == "flag" or is_hips(unit, unit.p[i]) else asked

    return mode


def tokens(unit: Unit, names: Iterable[str]) -> list[int]:
    """The tokens of some names that are CUDA's: no members, no other namespace's, nothing that the user declares."""
    found = [i for i in unit.find(*names) if _may_be_cudas(unit, i)]
    declared = {n for n in {unit.t[i] for i in found} if n in unit.others or unit.declarations.named(n)}
    doubtful = [i for i in found if unit.t[i] in declared and is_declared_for(unit, i)]
    if not doubtful:
        return found
    facts = unit.ask(bindings=tuple(unit.p[i] for i in doubtful))
    others = set()
    for i in doubtful:
        binding = facts.bindings.get(unit.p[i]) if facts is not None else None
        if binding is not None and binding.owner in ("cuda", "user"):
            own = binding.owner == "user" and not is_builtin_within(unit, i, binding)
            own = own and not _moves_bits(unit, i, binding)
        else:
            own = _is_theirs(unit, unit.t[i]) and not _may_be_overloaded(unit, i)
        if own:
            others.add(i)
    return [i for i in found if i not in others]


def _moves_bits(unit: Unit, i: int, binding: Binding) -> bool:
    """Whether a template shuffles a value of any type, and the program has an overload of its own for some types.

    The functions of warp.hpp move values of any type, so they do what both of them do.
    """
    return binding.mixed and unit.t[i].startswith("__shfl")


def _may_be_overloaded(unit: Unit, i: int) -> bool:
    """Whether token i is a shuffle in a macro's body, for values of any type, and what the program declares of its name
    are overloads."""
    name = unit.t[i]
    return (
        name.startswith("__shfl")
        and unit.in_directive(i) is not None
        and name not in unit.macros
        and all(d.kind == "function" for d in unit.declarations.named(name))
    )


def _may_be_cudas(unit: Unit, i: int) -> bool:
    if unit.is_member(i) or unit.tok(i + 1) == "::":
        return False
    if unit.tok(i - 1) == "::" and (owner := unit.tok(i - 2)) and (is_identifier(owner) or owner == ">"):
        return owner in KEYWORDS
    d = unit.in_directive(i)
    if d is not None:
        if d.keyword != "define" or i == d.first + 2 or "##" in (unit.tok(i - 1), unit.tok(i + 1)):
            return False
        m = unit.once(_macro_of).get(d.first)
        return m is not None and i >= m.first
    return not unit.declares(i)


def _macro_of(unit: Unit) -> dict[int, Macro]:
    """Macros by the first token of their directive."""
    return {m.directive.first: m for ms in unit.macros.values() for m in ms}


def _is_theirs(unit: Unit, name: str) -> bool:
    """Whether a name that the project declares is the user's in this file, as far as tokens tell.

    What is in a conditional is a shim: for old versions of CUDA, for HIP, for an editor that knows no CUDA.
    """
    found = [m.directive.start for m in unit.macros.get(name, ())]
    found = found or [unit.p[d.at] for d in unit.declarations.named(name)]
    return not all(unit.conditions(at)[1 if unit.guard else 0 :] for at in found)


def sync_calls(unit: Unit) -> Iterator[tuple[int, Call]]:
    """Calls of the builtins whose first argument is a mask of lanes; what the file defines itself is left out."""
    for i in tokens(unit, SYNC):
        call = unit.call(i)
        if call is not None:
            yield i, call


def mask_bits(unit: Unit, mask: Span) -> int:
    """How many bits a mask of lanes has as an argument: 32, 64, or 0 where its text and declarations do not tell."""
    text = unit.text[mask.start : mask.end]
    bodies = [unit.source(m.first, m.stop) for m in unit.macros.get(text, ())]
    if _WIDE.search(text) or (bodies and all(_WIDE.search(b) for b in bodies)):
        return 64
    if _NARROW.match(text) or (bodies and all(_NARROW.match(b) for b in bodies)):
        return 32
    if not is_identifier(text):
        return 0
    d = unit.declarations.visible(text, unit.lexed.at(mask.start))
    if d is not None and not PLACEHOLDERS.isdisjoint(unit.t[d.type_first : d.type_stop]):
        return 64
    return _BITS.get(simple_type(unit, mask).removeprefix("?"), 0)
