"""No modifier, sign or part of an operand is dropped without a word: each makes another tree, or is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

import pytest

from cu2port.ptx.bind import CARRY, UntranslatableError, bind
from cu2port.ptx.ir import (
    TYPES,
    Address,
    Const,
    Instruction,
    Neg,
    Not,
    Operand,
    Operation,
    Pair,
    Place,
    Reg,
    Sum,
    Type,
    Vector,
)
from cu2port.ptx.ops import Value
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.table import _MODIFIER, Match, Row, Slot, find, rows

#: modifiers that change nothing here, by instruction ("" is any), and why
MEANINGLESS = {
    "": {
        "vec": "the operand itself has as many elements",
        **dict.fromkeys(("hint", "l1", "l2", "prefetch"), "for caches"),
        **dict.fromkeys(("uni", "aligned", "weak"), "says what is so already"),
        "cta": "the default",
    },
    "ld st": {"kind": "of a parameter: of what, tells its name"},
    "prefetch applypriority discard createpolicy": {
        **dict.fromkeys(("space", "level", "global", "first", "second"), "for caches")
    },
    "cp ldmatrix stmatrix": {"space": "says where the address points, not how it is written", "cop": "for caches"},
    "wmma": {
        **dict.fromkeys(("ra", "rb"), "a fragment is the same whatever its matrix is in memory"),
        "space": "says where the address points, not how it is written",
        "rnd": "to the nearest is the default",
        "order": "of fragments with one row or column",
    },
    "suld sust": {"cop": "for caches", "clamp": "`.clamp` is refused, `.trap` has a note"},
    "tex": {"base": "without mip maps it is the default"},
    "add sub mul": {"rnd": "to the nearest is the default"},
    "cvt": {"sat": "of a float to an integer is the default", "ftz": "no integer is a denormal"},
    "pmevent setmaxnreg griddepcontrol stackrestore": dict.fromkeys(
        ("mask", "how", "what", "t"), "it does nothing here"
    ),
    "cvta mapa getctarank": dict.fromkeys(("space", "to", "t"), "an address means the same in both spaces"),
    "barrier": dict.fromkeys(("order", "acquire"), "a cluster is one block"),
    "fence membar": dict.fromkeys(("kind", "scope"), "AMD GPUs have no proxies"),
    "vmad": {"dt": "saturation is by the signs of the operands, as the manual's program has it"},
    "vadd2 vsub2 vabsdiff2 vmin2 vmax2 vavrg2 vadd4 vsub4 vabsdiff4 vmin4 vmax4 vavrg4": {
        "dt": "a sum of 32 bits has the same bits with either sign"
    },
}

#: the same of single rows, by a part of their syntax
MEANINGLESS_IN_ROWS = {
    ("ld{.weak}.{kind:param", "cop"): "for caches, which parameters are not read through",
    (".f32.{t:bf16}", "rnd"): "exact, whatever the rounding",
    (".f64.{t:bf16}", "rnd"): "exact, whatever the rounding",
}


def _reason(root: str, modifier: str, syntax: str) -> str:
    of_row = (why for (part, name), why in MEANINGLESS_IN_ROWS.items() if name == modifier and part in syntax)
    return next(of_row, "") or next(
        (MEANINGLESS[k][modifier] for k in MEANINGLESS if root in k.split() or not k if modifier in MEANINGLESS[k]), ""
    )


def _operand(slot: Slot, row: Row, bindings: Mapping[str, object], places: dict[str, Place]) -> Operand:
    name = f"%{slot.name}"
    if slot.form == "imm":
        return Const(1)
    if slot.form == "label":
        return Reg("L")
    type_ = row.type_of(slot, bindings) if slot.type in bindings or slot.type != "t" else TYPES["u32"]
    places[name] = Place(slot.name, TYPES["u64"] if slot.form[:1] == "[" else type_)
    if slot.form == "[;":
        places["%x"] = Place("x", type_)
        return Address(Reg(name), 0, (Vector((Reg("%x"),) * 4),))
    if slot.form == "[":
        return Address(Reg(name))
    if slot.form == "{" and slot.type.startswith("parts(") and type_.bits > 1:
        places[name] = Place(slot.name, TYPES[f"u{type_.bits // 2}"])
        return Vector((Reg(name), Reg(name)))
    return Reg(name)


def _instruction(row: Row, match: Match, opcode: str) -> tuple[Instruction, dict[str, Place]]:
    """The opcode with a register for each operand and result, also for those that may be missing."""
    places = {CARRY: Place("carry", TYPES["pred"])}
    results = [_operand(s, row, match.bindings, places) for s in row.targets]
    operands = [_operand(s, row, match.bindings, places) for s in row.sources]
    if results:
        operands.insert(0, results[0] if len(results) == 1 else Pair(results[0], results[1]))
    return Instruction(opcode, tuple(operands)), places


def _bound(instruction: Instruction, places: Mapping[str, Place]) -> Operation | None:
    try:
        return bind(instruction, places)
    except UntranslatableError:
        return None


def _shape(operation: Operation) -> object:
    """All that an operation's C++ is made of."""

    def tree(v: Value) -> object:
        return (v.op.name, v.type.name, str(v.attr), *map(tree, v.args))

    return [(t.name, t.type.name) for t in operation.targets], [tree(v) for v in operation.values]


def _parts(row: Row) -> tuple[list[list[str]], dict[int, str]]:
    """The pieces of an opcode, each with what may stand there; which pieces are modifiers, by name."""
    opcode = row.syntax.partition(" ")[0]
    choices: list[list[str]] = []
    names: dict[int, str] = {}
    at = 0
    for m in _MODIFIER.finditer(opcode):
        words = [f".{word}" for word in (m["choice"] or m["ochoice"]).split("|")]
        names[len(choices) + 1] = m["name"] or m["oname"] or m["ochoice"]
        choices += [[opcode[at : m.start()]], words if m["name"] else ["", *words]]
        at = m.end()
    return [*choices, [opcode[at:]]], names


def _bases(row: Row) -> Iterator[list[str]]:
    """A few opcodes of a row, in pieces."""
    choices, _ = _parts(row)
    rng = Random(row.syntax)
    yield [c[0] for c in choices]
    yield [c[-1] for c in choices]
    for _ in range(6):
        yield [rng.choice(c) for c in choices]


def _form(row: Row, pieces: list[str]) -> tuple[Instruction, dict[str, Place]] | None:
    match = find("".join(pieces))
    if match is None or match.row is not row:
        return None
    return _instruction(row, match, "".join(pieces))


def _roots() -> list[str]:
    return sorted({row.root for row in rows()} - {"call"})


@pytest.mark.parametrize("root", _roots())
def test_every_modifier_says_something(root: str) -> None:
    silent: list[str] = []
    for row in (r for r in rows() if r.root == root):
        choices, names = _parts(row)
        told, tried = set(), set()
        for base in _bases(row):
            for place, name in names.items():
                if name in told:
                    continue
                found = [_form(row, [*base[:place], word, *base[place + 1 :]]) for word in choices[place]]
                bound = [o for f in found if f is not None and (o := _bound(*f)) is not None]
                if len(bound) > 1:
                    tried.add(name)
                if len({repr(_shape(o)) for o in bound}) > 1:
                    told.add(name)
        silent += [f"{name} of {row.syntax}" for name in sorted(tried - told) if not _reason(root, name, row.syntax)]
    assert not silent, "\n".join(silent)


def _changed(o: Operand) -> Iterator[tuple[str, Operand]]:
    """An operand with something that few instructions take."""
    yield "-", Neg(o)
    yield "!", Not(o)
    if isinstance(o, Reg):
        yield "+4", Sum(o, 4)
        yield from ((f".{part}", Reg(o.name, part)) for part in ("b1", "h1", "x"))


@pytest.mark.parametrize("root", _roots())
def test_every_sign_and_part_says_something(root: str) -> None:
    silent: list[str] = []
    for row in (r for r in rows() if r.root == root):
        for pieces in _bases(row):
            found = _form(row, pieces)
            operation = _bound(*found) if found is not None else None
            if found is None or operation is None:
                continue
            instruction, places = found
            plain = repr(_shape(operation))
            slots = [*(["d"] if row.targets else []), *(s.name for s in row.sources)]
            for i, (name, operand) in enumerate(zip(slots, instruction.operands, strict=True)):
                for what, other in _changed(operand):
                    operands = (*instruction.operands[:i], other, *instruction.operands[i + 1 :])
                    with_it = _bound(Instruction(instruction.opcode, operands), places)
                    if with_it is not None and repr(_shape(with_it)) == plain:
                        silent.append(f"{what} at {name} of {instruction.opcode}")
    assert not silent, "\n".join(silent)


def _refused(text: str, **types: Type) -> str:
    places = {CARRY: Place("carry", TYPES["pred"])} | {f"%{k}": Place(k, TYPES["u32"]) for k in "dabc"}
    (instruction,) = parse_inline(text)
    assert isinstance(instruction, Instruction)
    try:
        bind(instruction, places)
    except UntranslatableError as e:
        return e.reason
    return ""


def test_what_only_some_take_is_refused() -> None:
    for text in (
        "vabsdiff4.u32.u32.u32 %d, -%a, %b, %c;",
        "vabsdiff4.u32.u32.u32.add %d, %a, -%b, %c;",
        "vadd.s32.s32.s32 %d, %a, -%b;",
        "vset4.u32.u32.lt %d, -%a, %b, %c;",
        "add.s32 %d, %a, -%b;",
    ):
        assert "`-`" in _refused(text), text
    assert "`!`" in _refused("and.b32 %d, !%a, %b;")
    for selector in ("x", "h10", "b10"):
        assert "selects" in _refused(f"vadd4.u32.u32.u32 %d, %a.{selector}, %b, %c;")
    for text in ("vmad.s32.s32.s32 %d, -%a, %b, -%c;", "vmad.s32.s32.s32.po %d, %a, -%b, %c;"):
        assert "sign" in _refused(text), text
    for text in ("vmad.s32.s32.s32 %d, -%a, %b, %c;", "vmad.s32.s32.s32 %d, %a, %b, -%c;"):
        assert not _refused(text), text
