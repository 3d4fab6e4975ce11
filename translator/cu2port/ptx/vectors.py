"""Inputs on which rows are tried: edges of every type and random ones, and the instruction texts that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from cu2port.ptx.bind import UntranslatableError, bind
from cu2port.ptx.ir import TYPES, Const, Instruction, Operand, Operation, Pair, Place, Reg, Type
from cu2port.ptx.ops import PRED, Effect, Value
from cu2port.ptx.softfloat import FORMATS, is_nan
from cu2port.ptx.table import Match, Row, Slot, find, forms
from cu2port.ptx.vectors_float import element_of, related

_SMALL = (0, 1, 2, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256)
_LUTS = (0, 0x80, 0x96, 0xE8, 0xCA, 0x1B, 0xFE, 0x3C, 0xFF, 0x5A)


def edges(t: Type) -> tuple[int, ...]:
    """Bit patterns at which things change: 0, word sizes, sign bits; zeros, denormals, halves, infinities and NaN."""
    if t.kind == "p":
        return (0, 1)
    top = 1 << (t.bits - 1)
    out = [n for n in _SMALL if n <= t.mask]
    out += [t.mask, t.mask - 1, top, top - 1, top + 1, t.mask // 3, t.mask // 5, t.mask - 31 & t.mask]
    out += [0x01020304 & t.mask, 0x8000_7FFF & t.mask, 0x80FF_7F01 & t.mask, 0xFFFF_0000 & t.mask]
    if t.kind == "f":
        f = FORMATS[t.name]
        one = f.bias << f.fraction
        marks = [
            0,
            1,
            f.infinity,
            f.infinity - 1,
            f.infinity | 1 << (f.fraction - 1),
            f.canonical,
            one,
            one + 1,
            one - 1,
        ]
        marks += [1 << f.fraction, (1 << f.fraction) - 1, one + (1 << f.fraction), one - (1 << f.fraction)]
        marks += [one + (1 << (f.fraction - 1)), one + (3 << (f.fraction - 2)), one + (5 << (f.fraction - 2))]
        out = [m | s for m in marks for s in (0, f.sign)]
    element = element_of(t)
    if element is not None:
        singles = edges(element)
        out = [a | singles[(7 * i + 3) % len(singles)] << element.bits for i, a in enumerate(singles)]
    return tuple(dict.fromkeys(out))


def same(t: Type, a: int, b: int) -> bool:
    """Whether two results are equal, bit for bit, but that any NaN is as good as another."""
    if a == b:
        return True
    element = element_of(t)
    if element is not None:
        low = same(element, a & element.mask, b & element.mask)
        return low and same(element, a >> element.bits, b >> element.bits)
    f = FORMATS.get(t.name)
    if f is not None and f.name == "tf32":
        a, b = a >> 13, b >> 13
    return f is not None and is_nan(a, f) and is_nan(b, f)


def random_bits(t: Type, rng: Random) -> int:
    """A pattern that is likelier small, near an edge or (for floats) of moderate size than all random bits are."""
    how = rng.random()
    if how < 0.25:
        return rng.choice(edges(t))
    element = element_of(t)
    if element is not None:
        return random_bits(element, rng) | random_bits(element, rng) << element.bits
    if t.kind == "f" and how < 0.8:
        f = FORMATS[t.name]
        exponent = f.bias + rng.randint(-6, 6)
        return rng.getrandbits(1) * f.sign | exponent << f.fraction | rng.getrandbits(f.fraction)
    if how < 0.5:
        return rng.randrange(min(80, t.mask + 1))
    return rng.getrandbits(t.bits)


@dataclass(frozen=True)
class Case:
    """An instruction with its operands, some of them constants, and inputs for those that are registers.

    Registers of inputs are called after the row's operands, results `%d0`, `%d1`. `before`: what runs ahead of it.
    """

    instruction: Instruction
    row: Row
    places: Mapping[str, Place]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    vectors: tuple[tuple[int, ...], ...]
    before: tuple[Instruction, ...] = ()

    @property
    def statements(self) -> tuple[Instruction, ...]:
        return (*self.before, self.instruction)


def is_pure(operation: Operation) -> bool:
    """Whether an instruction only computes results from its operands."""
    rest: list[Value] = list(operation.values)
    while rest:
        v = rest.pop()
        if v.op.effect is not Effect.NONE or v.op.run is not None:
            return False
        rest.extend(v.args)
    return bool(operation.targets)


def cases(row: Row, count: int, rng: Random, most_forms: int = 0) -> Iterator[Case]:
    """Cases of a row that only computes: each form with registers alone and with some constants.

    `count` random vectors a form beside edges; `most_forms`: how many forms at most, chosen by chance, 0 for all.
    """
    first = next(forms(row))
    if case(row, *first, None, 1, rng) is None:
        return
    all_forms = list(forms(row))
    if most_forms and len(all_forms) > most_forms:
        all_forms = rng.sample(all_forms, most_forms)
    for opcode, match in all_forms:
        plain = case(row, opcode, match, None, count, rng)
        if plain is None:
            continue
        yield plain
        numbers = [
            slot
            for slot in row.sources
            if slot.form == "" and not slot.optional and row.type_of(slot, match.bindings).kind in "usb"
        ]
        if row.targets[0].form == "{":
            continue
        for _ in range(min(2, len(numbers))):
            chosen = rng.sample(numbers, rng.randint(1, max(1, len(numbers) - 1)))
            constants = {slot.name: rng.choice(edges(row.type_of(slot, match.bindings))) for slot in chosen}
            found = case(row, opcode, match, constants, max(4, count // 4), rng)
            if found is not None:
                yield found


def case(
    row: Row, opcode: str, match: Match, constants: Mapping[str, int] | None, count: int, rng: Random
) -> Case | None:
    """One case, None if the row does more than compute. Without `constants` all operands are plain registers."""
    operands: list[Operand] = []
    places: dict[str, Place] = {}
    inputs: list[tuple[str, Type]] = []
    selects = selectors(row, rng) if constants is not None else {}
    for slot in row.sources:
        if slot.form in ("[", "[;", "label", "call"):
            return None
        if slot.optional and slot is row.sources[-1] and not selects.get("dsel") and (slot.form or rng.random() < 0.5):
            continue
        if slot.form == "imm":
            operands.append(Const(rng.choice(immediates(slot))))
            continue
        t = row.type_of(slot, match.bindings)
        if constants and slot.name in constants:
            operands.append(Const(constants[slot.name]))
            continue
        operands.append(Reg(slot.name, selects.get(slot.select, "")))
        places[slot.name] = Place(slot.name, t)
        inputs.append((slot.name, t))
    if row.reads:
        places["CC"] = Place("CC", PRED)
        inputs.append(("CC", PRED))
    if not row.targets:
        return None
    results = []
    for i, slot in enumerate(row.targets):
        results.append(f"%d{i}")
        places[f"%d{i}"] = Place(f"d{i}", row.type_of(slot, match.bindings))
    written: Operand = Reg("%d0", selects.get("dsel", "")) if len(results) == 1 else Pair(Reg("%d0"), Reg("%d1"))
    if row.writes:
        results.append("CC")
        places["CC"] = Place("CC", PRED)
    if any(place.type.bits > 64 for place in places.values()):
        return None  # vectors are words of 64 bits
    instruction = Instruction(opcode, (written, *operands), None, 1, 1)
    try:
        if not is_pure(bind(instruction, places)):
            return None
    except UntranslatableError:
        return None
    types = [t for _, t in inputs]
    vectors = list(grid(types, rng, count)) + [tuple(random_bits(t, rng) for t in types) for _ in range(count)]
    vectors += related(types, rng, count)
    return Case(instruction, row, places, tuple(n for n, _ in inputs), tuple(results), tuple(vectors))


_SETTERS = ("add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc")
_READERS = ("addc", "subc", "madc.lo", "madc.hi", "addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc")


def carry_pairs(count: int, rng: Random) -> Iterator[Case]:
    """Two instructions of a carry chain: each that sets the flag ahead of each that reads it, in each type.

    Results: what the second computes, and the flag that it leaves where it sets one; else the one that it has read.
    """
    for name in ("u32", "s32", "u64", "s64"):
        for setter, reader in product(_SETTERS, _READERS):
            match = find(f"{reader}.{name}", 4 if reader.startswith("mad") else 3)
            assert match is not None
            t = TYPES[name]
            first, second = (
                [f"{x}{i}" for i in range(3 if "mad" in op else 2)] for x, op in (("x", setter), ("y", reader))
            )
            inputs = (*first, *second)
            places = {n: Place(n.strip("%"), t) for n in (*inputs, "%t", "%d0")} | {"CC": Place("CC", PRED)}
            before = Instruction(f"{setter}.{name}", tuple(map(Reg, ("%t", *first))))
            then = Instruction(f"{reader}.{name}", tuple(map(Reg, ("%d0", *second))))
            ends = [0, 1, 2, t.mask, t.mask - 1, 1 << (t.bits - 1)]
            vectors = [tuple(rng.choice(ends) for _ in inputs) for _ in range(count)]
            vectors += [tuple(random_bits(t, rng) for _ in inputs) for _ in range(count)]
            yield Case(then, match.row, places, inputs, ("%d0", "CC"), tuple(vectors), (before,))


def selectors(row: Row, rng: Random) -> dict[str, str]:
    """Parts of words for the operands that may have them; most by chance."""
    wanted = [slot.select for slot in (*row.targets, *row.sources) if slot.select and slot.select != "csel"]
    if not wanted:
        return {}
    kind = {"2": ("h", 2), "4": ("b", 4)}.get(row.root[-1])
    if kind is None:
        parts = ["", "b0", "b1", "b2", "b3", "h0", "h1"]
        out = {name: rng.choice(parts) for name in wanted}
        if "op2" in row.syntax or not any(slot.optional for slot in row.sources):
            out.pop("dsel", None)
        return out
    letter, count = kind
    out = {name: letter + "".join(rng.choices("01234567"[: 2 * count], k=count)) for name in wanted}
    mask = [str(i) for i in reversed(range(count)) if rng.random() < 0.7] or ["0"]
    return out | {"dsel": letter + "".join(mask)}


def immediates(slot: Slot) -> Sequence[int]:
    """Values for an operand that must be a constant."""
    return _LUTS


def grid(types: Sequence[Type], rng: Random, count: int) -> Iterator[tuple[int, ...]]:
    """The grid of edges where it has few enough points, else as many points of it as `count`."""
    axes = [edges(t) for t in types]
    size = 1
    for axis in axes:
        size *= len(axis)
    if size <= max(count, 40):
        yield from product(*axes)
    else:
        for _ in range(max(count, 40)):
            yield tuple(rng.choice(axis) for axis in axes)
