"""Which functions and macros of a program reach a cross-lane operation: only there lanes have to be told apart.

Names decide, over all files of the program: the simulator must not depend on what a C++ parser makes of a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cu2port.lexer import is_identifier
from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.verify.steps import has_steps

_SHUFFLES = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")
_VOTES = ("__ballot", "__any", "__all", "__match_any", "__match_all")
OPERATIONS = frozenset(
    (
        *_SHUFFLES,
        *(f"{n}_sync" for n in _SHUFFLES),
        *_VOTES,
        *(f"{n}_sync" for n in _VOTES),
        *(f"__reduce_{n}_sync" for n in ("add", "min", "max", "and", "or", "xor")),
        *"__ballot64 __activemask __syncwarp __lanemask_lt __lanemask_gt".split(),
        *"__syncthreads __syncthreads_count __syncthreads_or __syncthreads_and".split(),
        *"__hip_ds_bpermute __hip_ds_bpermutef __hip_ds_permute __hip_ds_permutef".split(),
        *"__hip_ds_swizzle __hip_ds_swizzlef __hip_ds_swizzle_N __hip_move_dpp __hip_move_dpp_N".split(),
        *(
            f"__builtin_amdgcn_{n}"
            for n in "ds_bpermute ds_permute ds_swizzle mov_dpp update_dpp readfirstlane readlane ballot_w64 "
            "ballot_w32 uicmp read_exec read_exec_lo read_exec_hi wave_barrier s_barrier mov_dpp8 permlane16 "
            "permlanex16 permlane16_var permlanex16_var permlane64 permlane16_swap permlane32_swap".split()
        ),
    )
)
# Names of cooperative groups that other code may use for other things: only after `.`, `->` or `::`.
GROUP_OPERATIONS = frozenset(
    "sync shfl shfl_up shfl_down shfl_xor ballot any all match_any match_all reduce inclusive_scan exclusive_scan "
    "coalesced_threads binary_partition labeled_partition barrier_arrive barrier_wait".split()
)


@dataclass(frozen=True, slots=True)
class Reach:
    """`calls`: names whose calls reach a cross-lane operation; `macros`: macros whose expansion does."""

    calls: frozenset[str]
    macros: frozenset[str]


def is_operation(unit: Unit, i: int) -> bool:
    """Whether token i names a cross-lane operation of HIP or of a cooperative group."""
    tok = unit.t[i]
    return tok in OPERATIONS or (tok in GROUP_OPERATIONS and unit.tok(i - 1) in (".", "->", "::", "template"))


def functions(unit: Unit) -> list[Function]:
    """The functions of a file, without macros whose body is a block: `#define LOG(x) { ... }`."""
    heads = {d.first + 2 for d in unit.directives if d.keyword == "define"}
    return [f for f in unit.functions if f.name_at not in heads]


def is_reaching(unit: Unit, i: int, reach: Reach) -> bool:
    """Whether token i is a call (not the definition) of something that reaches a cross-lane operation."""
    tok = unit.t[i]
    if tok not in reach.calls and not is_operation(unit, i):
        return False
    return unit.tok(i - 1) != "##" and unit.call(i) is not None  # else a part of another name


def reached(units: Iterable[Unit], steps: bool = False) -> Reach:
    """The closure over all files of a program. `steps`: all functions whose statements are told apart belong to it."""
    files = [(u, _owners(u)) for u in units]
    calls: set[str] = set()
    if steps:
        for u, _ in files:
            calls |= {f.name for f in functions(u) if has_steps(u, f) and not f.name.startswith("operator")}
    macros: set[str] = set()
    grown = True
    while grown:
        grown = False
        now = Reach(frozenset(calls), frozenset(macros))
        for unit, owners in files:
            for i, owner, body in owners:
                known = calls if body >= 0 else macros
                tok = unit.t[i]
                if tok not in OPERATIONS and tok not in GROUP_OPERATIONS and tok not in calls and tok not in macros:
                    continue
                alias = body < 0 and _is_alias(unit, i, now)
                if not (tok in now.macros or alias or is_reaching(unit, i, now)):
                    continue
                names = {owner, _lambda_name(unit, i, body)} - {""} if body >= 0 else {owner}
                if alias and owner not in calls:
                    calls.add(owner)
                    grown = True
                if not names <= known:
                    known |= names
                    grown = True
    return Reach(frozenset(calls), frozenset(macros))


def _is_alias(unit: Unit, i: int, reach: Reach) -> bool:
    """Whether token i is the whole body of a macro and names an operation: `#define SHFL __shfl_down`."""
    d = unit.in_directive(i)
    return (
        d is not None
        and d.keyword == "define"
        and i == d.first + 3
        and d.stop == i + 1
        and (unit.t[i] in OPERATIONS or unit.t[i] in reach.calls)
    )


def _owners(unit: Unit) -> list[tuple[int, str, int]]:
    """(token, function or macro it belongs to, the function's opening brace or -1) for all identifiers."""
    out = []
    for f in functions(unit):
        if f.name == "main" or f.name.startswith("operator"):
            continue
        out += [(i, f.name, f.body[0]) for i in range(f.body[0] + 1, f.body[1]) if is_identifier(unit.t[i])]
    for definitions in unit.macros.values():
        for m in definitions:
            out += [(i, m.name, -1) for i in range(m.first, m.stop) if is_identifier(unit.t[i])]
    return out


def _lambda_name(unit: Unit, i: int, body: int) -> str:
    """The name of the lambda around token i: `auto NAME = [...](...) {`; "" if there is none."""
    k = i
    while k > body:
        k -= 1
        tok = unit.t[k]
        if tok in (")", "]", "}") and unit.match[k] > body:
            k = unit.match[k]
        elif tok == "{" and unit.match[k] > i:
            j = k - 1
            while j > body and unit.t[j] not in (")", "]", ";", "}", "{"):
                j -= 1
            if unit.t[j] == ")" and unit.match[j] > 0:
                j = unit.match[j] - 1
            if unit.t[j] == "]" and unit.match[j] > 0 and unit.tok(unit.match[j] - 1) == "=":
                name = unit.tok(unit.match[j] - 2)
                return name if is_identifier(name) else ""
    return ""
