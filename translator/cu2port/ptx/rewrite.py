"""What happens to each asm statement of a file: C++ in its place, a guard around it, or nothing.

`handle(unit)` looks at every statement once; the checks turn what it says into findings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cu2port.core.files import HEADER_SUFFIXES
from cu2port.core.model import Edit
from cu2port.facts.carry_definitions import has_carry
from cu2port.facts.unit import Unit
from cu2port.ptx import matrix_forms
from cu2port.ptx.asm import AsmStatement, Operand, Reading, macro_texts, statements
from cu2port.ptx.carry import MIXED, mixes_carry
from cu2port.ptx.chains import Together, around, carry_chains, lifted_together
from cu2port.ptx.families import family
from cu2port.ptx.kept import Apart, Kept, find_kept, into_tile
from cu2port.ptx.layout import Layout
from cu2port.ptx.lift import lift
from cu2port.ptx.lifted import CHAIN, Context, Lifted, RefusedError, parse
from cu2port.ptx.matrix_forms import AROUND, ELSEWHERE
from cu2port.ptx.opcode_cases import VALUE
from cu2port.ptx.operand_text import PLACEHOLDER
from cu2port.ptx.operand_types import operand_types
from cu2port.ptx.product_calls import product_calls
from cu2port.ptx.rename import instructions
from cu2port.ptx.settled import settled
from cu2port.ptx.table import find
from cu2port.ptx.taken import is_left_out
from cu2port.ptx.tokens import COMMENTS

_DOTTED = re.compile(
    r"\b[a-z]\w*\.(?:[a-z0-9_]+\.)*(?:[busf](?:8|16|32|64|128)|pred|sync|cta|gl|sys|aligned|shared|global)\b"
)
_PTX_ONLY = re.compile(r"\.(?:global|shared|local|param|pred|sync|aligned|cta|gpu|sys|[bsu](?:8|16|32|64|128))\b")
_AMD = re.compile(r"\s*(?:[sv]|ds|buffer|global|flat|scratch|image|tbuffer)_[a-z]\w*")
#: directives of other assemblers
_NATIVE = re.compile(
    r"\s*\.(?:inst|byte|long|word|quad|section|pushsection|global|globl|align|p2align|balign|arch|intel)\b"
)
_WORDS = re.compile(r"(?:^|[;{}\n])\s*(?:@!?%{0,2}\w+\s+)?([a-z][a-z0-9_]*(?:(?:::?|\.)[a-z0-9_:]+)*)")

_HINT = re.compile(r"\.(?:L[12]::\w+(?:::\w+)?|c[agsv]|lu|nc)(?![\w:])")  # of caches: with or without it is right
_SOME_MEET = re.compile(r"\bcu2port::ptx::bar(?:rier)?_(?:sync|arrive|red_\w+)\(")
_SOME_MEET_NOTE = (
    "counted in shared memory; where wavefronts have 64 lanes both warps of one must take the same part, or the kernel "
    "be launched with a warp on each (`--warp solo`): else it traps after ten seconds"
)
_TRAP_NOTE = "`.trap` stops a kernel that leaves the surface; here such a load gives 0 and such a store does nothing"
_CLUSTER = re.compile(r"(?:mapa|getctarank|barrier\.cluster)\.")
_CLUSTER_REGISTER = re.compile(r"%cluster_(?:ctarank|nctarank|ctaid|nctaid)\b")
_CLUSTER_NOTE = (
    "a cluster is one block here: launch the kernel without clusters; where another block is asked for its shared "
    "memory the kernel traps"
)
_FLOAT_PRODUCT_NOTE = "products are exact, and sums are rounded in another order than NVIDIA's"
_PRODUCT = re.compile(r"(?:mma|wmma\.mma)[.:]")
_SPARSE_PRODUCT = re.compile(r"mma[\w.:]*\.sp(?:::|\.)")
_SPARSE_PRODUCT_NOTE = (
    "metadata is read from the lanes that CUTLASS gives it to, as NVIDIA's manual has only figures; products are exact "
    "and sums of floats are rounded in the order of k, which is another order than NVIDIA's"
)
_OF_UNTRANSLATED = frozenset({"untranslated", "untranslated_trap", "same"})


@dataclass(frozen=True, slots=True)
class Handled:
    """One statement that holds PTX and that HIP's compiler reads.

    `edits` put C++ in its place where `refused` is None, else a guard. `certain`: the C++ means what the PTX meant
    whatever cannot be known here. `note`: what to review in a choice that was made. `guard`: the text in a
    guard. `products`: its products of matrices, and how each is multiplied.
    """

    statement: AsmStatement
    instructions: tuple[str, ...]
    edits: tuple[Edit, ...]
    refused: RefusedError | None = None
    helpers: tuple[str, ...] = ()
    certain: bool = True
    note: str = ""
    guard: str = ""
    products: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class HandledFile:
    """Every asm statement with PTX in a file, in text order; and what is done to loops around calls of functions of
    headers."""

    statements: tuple[Handled, ...]
    apart: tuple[Apart, ...]


def handle(unit: Unit) -> HandledFile:
    """What happens to a file. Host assembly, AMD's, compiler barriers and branches that HIP leaves out are not among
    its statements."""
    wanted = [s for s in statements(unit) if is_ptx(unit, s) and not is_left_out(unit, s.span.start)]
    wanted = [s for s in wanted if not unit.is_dead(s.span.start)]
    fast = unit.options.ptx_fp == "fast"
    calls = () if unit.options.warp == "solo" else tuple(product_calls(unit, wanted))
    if not wanted and not calls:
        return HandledFile((), find_kept(unit, (), fast).apart)
    every, context = prepared(unit, [*wanted, *calls])
    wanted = every[: len(wanted)]
    joined, first, declared = lifted_together(unit, wanted, context)
    chains = carry_chains(unit, (s for s in wanted if s.keyword not in joined))
    kept = find_kept(unit, [s for s in every if _may_be_kept(unit, s, context, joined, chains)], fast)
    wanted += [s for s in every[len(wanted) :] if s.keyword in kept.tiles]
    wanted.sort(key=lambda s: s.keyword)
    out = (_handled(unit, s, context, joined, s.keyword in chains, kept) for s in wanted)
    out = (replace(x, edits=(*x.edits, *declared)) if x.statement.keyword == first else x for x in out)
    return HandledFile(tuple(out), kept.apart)


def _may_be_kept(unit: Unit, s: AsmStatement, context: Context, joined: Together, chains: Collection[int]) -> bool:
    """Whether a statement is a product that can be added into a tile. A loop keeps none for what is refused."""
    if s.keyword in joined or s.keyword in chains or not any("mma" in r.text for r in s.readings):
        return False
    try:
        _, lifted, _ = _lifted(unit, s, context, joined)
        return all(into_tile(one, "tile") for one in lifted)
    except RefusedError:
        return False


def prepared(unit: Unit, wanted: Iterable[AsmStatement]) -> tuple[list[AsmStatement], Context]:
    """Statements with all that their operands settle, and what is known around them."""
    listed = list(wanted)
    types = operand_types(unit, listed)
    context = Context(unit.text, types, (frozenset(unit.words),), fp=unit.options.ptx_fp)
    return [settled(s, unit.text, types) for s in listed], context


def is_ptx(unit: Unit, s: AsmStatement) -> bool:
    """Whether a statement holds PTX, rather than nothing, host assembly or AMD's."""
    if s.foreign:
        return False
    text = s.shown.text if s.shown is not None else unit.source(s.open, s.close + 1)
    text = COMMENTS.sub(" ", text)
    if s.shown is not None and not text.strip(" \t\n;{}"):
        return text.count("{") != text.count("}")  # a scope of other statements
    if _AMD.match(text) or _NATIVE.match(text):
        return False
    if unit.is_device(s.keyword) or (s.macro is not None and "__device__" in unit.t[s.macro.first : s.macro.stop]):
        return True
    if s.shown is None:  # a text in pieces, of which none need be a whole opcode
        text += " " + macro_texts(unit, s)
        return bool(_DOTTED.search(text) or (unit.path.endswith((".cu", ".cuh")) and _PTX_ONLY.search(text)))
    words = _WORDS.findall(text)
    known = [w for w in words if find(w) is not None or family(w) is not None]
    if words and not known:
        return bool(_PTX_ONLY.search(text))
    # a function that a macro makes a device's (CUTLASS_DEVICE) tells nothing: then an opcode with its types must do
    return any("." in w for w in known) or bool(_DOTTED.search(text)) or s.macro is not None


def opcodes(unit: Unit, s: AsmStatement) -> tuple[str, ...]:
    """The instructions of a statement, also of one that cannot be parsed."""
    if s.shown is None:
        return ()
    try:
        return tuple(dict.fromkeys(i.opcode for i in instructions(parse(s.shown))))
    except RefusedError:
        return tuple(dict.fromkeys(_WORDS.findall(COMMENTS.sub(" ", s.shown.text))))


def _handled(unit: Unit, s: AsmStatement, context: Context, joined: Together, in_chain: bool, kept: Kept) -> Handled:
    layout = Layout(unit, s)
    try:
        if in_chain:
            raise RefusedError(
                opcodes(unit, s)[-1],
                "its carry goes to another asm statement, which nothing in C++ can hand on",
                CHAIN,
                shared=True,
            )
        readings, lifted, mixes = _lifted(unit, s, context, joined)
        if s.keyword in kept.tiles:
            lifted = tuple(into_tile(one, kept.tiles[s.keyword]) for one in lifted)
        done = written(unit, replace(s, readings=readings), layout, lifted)
    except RefusedError as e:
        refused = _reasoned(e)
        names = opcodes(unit, s)
        guard = _guard_text(names, refused)
        return Handled(s, names, layout.guard(guard, unit.options.ptx == "trap"), refused, guard=guard)
    text, certain, note = done
    if any(some_meet(line) for one in lifted for line in one.lines):
        certain, note = False, note or _SOME_MEET_NOTE
    if mixes:
        certain, note = False, note or MIXED
    names = tuple(dict.fromkeys(i for one in lifted for i in one.instructions))
    if any(name.startswith(("suld.", "sust.")) and name.endswith(".trap") for name in names):
        certain, note = False, note or _TRAP_NOTE
    if any(map(_CLUSTER.match, names)) or any(_CLUSTER_REGISTER.search(r.text) for r in readings):
        certain, note = False, note or _CLUSTER_NOTE
    fast = unit.options.ptx_fp == "fast"
    where = "" if s.keyword not in kept.tiles else ELSEWHERE if s.keyword in kept.elsewhere else AROUND
    apart = s.keyword in kept.exchanged
    products = tuple((x, matrix_forms.note(x, fast, where, apart)) for x in names if _PRODUCT.match(x))
    if products:
        unsure = _unsure_products(name for name, _ in products)
        certain, note = certain and not unsure, "; ".join(filter(None, (_told(products), unsure, note)))
    text += kept.edits.get(s.keyword, ())
    return Handled(s, names, text, None, tuple(sorted(_helpers(text))), certain, note, products=products)


def _told(products: Sequence[tuple[str, str]]) -> str:
    """How the products of a statement are multiplied, each kind once."""
    kinds: dict[str, list[str]] = {}
    for name, how in products:
        kinds.setdefault(how, []).append(f"`{name}`")
    if len(kinds) == 1:
        return next(iter(kinds))
    return "; ".join(f"{', '.join(names)} {how}" for how, names in kinds.items())


def _unsure_products(names: Iterable[str]) -> str:
    """Why a product needs review; "" where all are exact."""
    listed = [name for name in names if name.startswith("mma")]
    if any(_SPARSE_PRODUCT.match(name) for name in listed):
        return _SPARSE_PRODUCT_NOTE
    return "" if all(".s32" in name for name in listed) else _FLOAT_PRODUCT_NOTE


def _lifted(
    unit: Unit, s: AsmStatement, context: Context, joined: Together
) -> tuple[tuple[Reading, ...], tuple[Lifted, ...], bool]:
    """The readings of a statement, what happened to each, and whether it mixes carries. Raises RefusedError."""
    if s.keyword in joined:
        reading, one, mixes = joined[s.keyword]
        return (reading,), (one,), mixes
    readings, lifted = lifted_readings(s, around(unit, s, context))
    return readings, lifted, any(has_carry(r.text) and mixes_carry(parse(r)) for r in readings)


def lifted_readings(s: AsmStatement, context: Context) -> tuple[tuple[Reading, ...], tuple[Lifted, ...]]:
    """The readings of a statement that stand for all it can be, each as C++. Raises RefusedError."""
    if s.numbers is not None:
        try:
            return (s.numbers,), (lift(s.numbers, context),)
        except RefusedError:
            pass  # the numbers must be known: a case for each call
    if s.hints and (found := [one for group in s.hints if (one := _first_lifted(group, context)) is not None]):
        return tuple(r for r, _ in found), tuple(one for _, one in found)
    if s.problem:
        raise RefusedError("", s.problem, "write the text out where it is used")
    if any(kind == VALUE for r in s.readings for kind, _ in r.where):
        return _lifted_cases(s.readings, context)
    return s.readings, tuple(lift(r, context) for r in s.readings)


def _lifted_cases(readings: tuple[Reading, ...], context: Context) -> tuple[tuple[Reading, ...], tuple[Lifted, ...]]:
    """Those of the cases that have a meaning: others have registers in a number that no compiler takes."""
    found: list[tuple[Reading, Lifted]] = []
    refused: list[RefusedError] = []
    for r in readings:
        try:
            found.append((r, lift(r, context)))
        except RefusedError as e:
            refused.append(e)
    if not found:
        raise refused[0]
    return tuple(r for r, _ in found), tuple(one for _, one in found)


def _first_lifted(readings: tuple[Reading, ...], context: Context) -> tuple[Reading, Lifted] | None:
    for r in readings:
        try:
            return r, lift(r, context)
        except RefusedError:
            continue
    return None


def some_meet(line: str) -> bool:
    """Whether a line of C++ is a barrier of some of a block's warps."""
    return bool(_SOME_MEET.search(line))


def _helpers(edits: Iterable[Edit]) -> Iterator[str]:
    """Headers of ours that edits need."""
    text = "".join(part for e in edits for part in e.parts if isinstance(part, str))
    names = frozenset(re.findall(r"\bcu2port::ptx::(\w+)", text))
    if names & _OF_UNTRANSLATED:
        yield "untranslated.hpp"
    if names - _OF_UNTRANSLATED or "std::" in text:
        yield "ptx.hpp"
    elif "cu2port::warp::" in text:
        yield "warp.hpp"
    if "cu2port::mma::" in text:
        yield "mma.hpp"
    if "cu2port::wmma::" in text:
        yield "wmma.hpp"


def _reasoned(e: RefusedError) -> RefusedError:
    """The refusal, with what is known of the instruction's family."""
    found = family(e.what) if e.what else None
    if found is None or e.instead:
        return e
    return RefusedError(e.what, found.why, found.instead, e.shared)


def _guard_text(names: tuple[str, ...], refused: RefusedError) -> str:
    shown = refused.what or ", ".join(names[:3]) or "asm"
    return re.sub(r"[^ -~]", "?", f"{shown}: {refused.why}").replace("\\", "\\\\").replace('"', "'")


def written(
    unit: Unit, s: AsmStatement, layout: Layout, lifted: Sequence[Lifted]
) -> tuple[tuple[Edit, ...], bool, str]:
    """The edits for a statement all of whose readings were lifted; whether they are certain; a note.

    Raises RefusedError where no C++ is all of them.
    """
    cases = [_filled(unit, r, one) for r, one in zip(s.readings, lifted, strict=True)]
    kinds = {kind for r in s.readings for kind, _ in r.where}
    if (
        VALUE not in kinds
        and all(c == cases[0] for c in cases)
        and (kinds != {"parameter"} or _calls_are_known(unit, s))
    ):
        return layout.replaced(s.readings[0], lifted[0]), True, ""
    if kinds == {VALUE}:
        return layout.by_value(s, lifted), True, "its opcode depends on constants of a template: one case for each"
    if kinds == {"parameter"}:
        return layout.by_parameter(s, lifted), True, "its text depends on a parameter: one case for each call here"
    if kinds == {"branch"} and s.macro is None:
        return layout.by_branch(s, lifted), True, ""
    if kinds == {"macro"} and len({_without_hints(r) for r in s.readings}) == 1:
        chosen = s.readings[0].where[0][1]
        return layout.replaced(s.readings[0], lifted[0]), False, f"with `{chosen}`, one of its definitions"
    if kinds == {"macro"}:
        why = "a macro in its text has several definitions that do different things"
        raise RefusedError("", why, "write a statement for each of them")
    raise RefusedError("", "its text depends on several things at once", "write the text out for each case")


def _without_hints(r: Reading) -> tuple[str, tuple[Operand, ...]]:
    """What a reading does, whatever it asks of caches."""
    return " ".join(_HINT.sub("", r.text).split()), r.operands


def _calls_are_known(unit: Unit, s: AsmStatement) -> bool:
    """Whether no other file can call the macro around: the file is no header, or undefines it."""
    if not unit.path.lower().endswith(HEADER_SUFFIXES):
        return True
    assert s.macro is not None
    return any(d.keyword == "undef" and unit.tok(d.first + 2) == s.macro.name for d in unit.directives)


def _filled(unit: Unit, r: Reading, one: Lifted) -> tuple[str, ...]:
    """The lines with the operands' own text in them."""

    def text(m: re.Match[str]) -> str:
        o: Operand = r.operands[int(m[1])]
        return unit.text[o.expr.start : o.expr.end]

    return tuple(PLACEHOLDER.sub(text, line) for line in one.lines)
