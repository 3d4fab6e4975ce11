"""Rows: video instructions, scalar and SIMD: parts of words extended, an operation, saturation, then a second one.

Parts are computed on in 64 bits (128 where a product or a left shift needs them), as wide as the manual's 33 and 34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.isa_compare import compare
from cu2port.ptx.ops import (
    NoMeaningError,
    Op,
    Value,
    clamp,
    const,
    convert,
    larger,
    make,
    part,
    select,
    smaller,
    unsigned,
)
from cu2port.ptx.table import Example, ptx

_SCALAR, _SIMD = "scalar-video-instructions-", "simd-video-instructions-"
S64, S128, U32 = TYPES["s64"], TYPES["s128"], TYPES["u32"]
_TYPES = "{dt:u32|s32}.{at:u32|s32}.{bt:u32|s32}"
_OPERANDS = "d.dsel:b32, a.asel:b32, b.bsel:b32"

M = TypeVar("M", bound=Callable[..., Value])
_WIDTHS = {"": 32, "b": 8, "h": 16}


def _place(selector: str) -> tuple[int, int]:
    """Width in bits and index of `b0`..`b3`, `h0`, `h1`, or the whole word."""
    if selector and (
        selector[0] not in "bh" or selector[1:] not in ("0", "1", "2", "3")[: 4 if selector[0] == "b" else 2]
    ):
        raise NoMeaningError(f"`.{selector}` selects no part of a word")
    return _WIDTHS[selector[:1]], int(selector[1:] or 0)


def _extended(v: Value, t: Type, selector: str, wide: Type = S64) -> Value:
    """The selected part, extended by the sign of the instruction's type."""
    width, index = _place(selector)
    return convert(part(v, index, TYPES[f"{t.kind}{width}"]), wide)


def _limited(v: Value, t: Type, width: int) -> Value:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if t.signed else (0, (1 << width) - 1)
    return clamp(v, low, high)


def _finished(v: Value, dt: Type, sat: bool, op2: str, dsel: str, c: Value | None) -> Value:
    """Saturation, then the second operation with c or the merge into it; the low 32 bits."""
    width, index = _place(dsel)
    if sat:
        v = _limited(v, dt, width)
    if op2:
        if c is None or dsel:
            raise NoMeaningError("a second operation takes a third operand and no part of the destination")
        other = convert(convert(c, dt), v.type)
        v = v + other if op2 == "add" else smaller(v, other) if op2 == "min" else larger(v, other)
    low = convert(v, U32)
    if not dsel:
        return low
    if c is None:
        raise NoMeaningError("a part of the destination is set without a third operand to take the rest from")
    mask = (1 << width) - 1 << width * index
    return (unsigned(c) & ~mask & 0xFFFFFFFF) | ((low << width * index) & mask)


def _difference(a: Value, b: Value) -> Value:
    return select(a < b, b - a, a - b)


_OPERATIONS: Mapping[str, Callable[[Value, Value], Value]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": _difference,
    "vmin": smaller,
    "vmax": larger,
}


def _rows(
    names: Sequence[str], syntaxes: Sequence[str], ref: str, examples: Mapping[str, Sequence[Example]]
) -> Callable[[M], M]:
    """Rows of several instructions that share a meaning; it gets the instruction's name."""

    def decorate(meaning: M) -> M:
        for name in reversed(names):
            for syntax in reversed(syntaxes):
                second = "{op2:" in syntax
                own = {
                    k: v
                    for k, v in examples.items()
                    if k.partition(".")[0] == name and k.endswith((".add", ".min", ".max")) == second
                }
                ptx(name + syntax, ref=ref + name, examples=own, fixed={"name": name})(meaning)
        return meaning

    return decorate


_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "vadd.s32.u32.s32.sat": (((0xFFFFFFFF, 1), 0x7FFFFFFF), ((0, 0xFFFFFFFF), 0xFFFFFFFF)),
    "vabsdiff.u32.u32.u32": (((3, 5), 2),),
    "vmin.s32.s32.s32.sat.add": (((5, 0xFFFFFFFF, 10), 9),),
    "vmax.u32.s32.u32": (((0xFFFFFFFF, 3), 3),),
    "vsub.u32.u32.u32.sat": (((3, 5), 0), ((5, 3), 2)),
}


@_rows(
    tuple(_OPERATIONS),
    (f".{_TYPES}{{.sat}} {_OPERANDS}, ?c:b32", f".{_TYPES}{{.sat}}.{{op2:add|min|max}} {_OPERANDS}, c:b32"),
    _SCALAR,
    _EXAMPLES,
)
def video(
    name: str,
    dt: Type,
    at: Type,
    bt: Type,
    sat: bool,
    a: Value,
    b: Value,
    c: Value | None,
    asel: str,
    bsel: str,
    dsel: str,
    op2: str = "",
) -> Value:
    v = _OPERATIONS[name](_extended(a, at, asel), _extended(b, bt, bsel))
    return _finished(v, dt, sat, op2, dsel, c)


@_rows(
    ("vshl", "vshr"),
    (
        f".{{dt:u32|s32}}.{{at:u32|s32}}.u32{{.sat}}.{{mode:clamp|wrap}} {_OPERANDS}, ?c:b32",
        f".{{dt:u32|s32}}.{{at:u32|s32}}.u32{{.sat}}.{{mode:clamp|wrap}}.{{op2:add|min|max}} {_OPERANDS}, c:b32",
    ),
    _SCALAR,
    {"vshl.u32.u32.u32.clamp": (((3, 33), 0),), "vshr.u32.u32.u32.wrap": (((8, 34), 2),)},
)
def video_shift(
    name: str,
    dt: Type,
    at: Type,
    mode: str,
    sat: bool,
    a: Value,
    b: Value,
    c: Value | None,
    asel: str,
    bsel: str,
    dsel: str,
    op2: str = "",
) -> Value:
    wide = S128 if name == "vshl" else S64
    amount = convert(_extended(b, U32, bsel), U32)
    amount = amount & 31 if mode == "wrap" else smaller(amount, 32)
    x = _extended(a, at, asel, wide)
    # in range for these widths: at most 32 of 64 or 128
    return _finished(x << amount if name == "vshl" else x >> amount, dt, sat, op2, dsel, c)


@ptx(
    f"vmad.{_TYPES}{{.sat}}{{.scale:shr7|shr15}} d:b32, a.asel:b32, b.bsel:b32, c.csel:b32",
    ref=_SCALAR + "vmad",
    examples={"vmad.u32.u32.u32.shr7": (((256, 3, 128), 7),), "vmad.s32.s32.s32.sat": (((1 << 31, 2, 0), 1 << 31),)},
)
@ptx(
    f"vmad.{_TYPES}.{{po:po}}{{.sat}}{{.scale:shr7|shr15}} d:b32, a.asel:b32, b.bsel:b32, c.csel:b32",
    ref=_SCALAR + "vmad",
)
def vmad(
    at: Type,
    bt: Type,
    sat: bool,
    scale: str,
    a: Value,
    b: Value,
    c: Value,
    asel: str,
    bsel: str,
    csel: str,
    a_negated: bool,
    b_negated: bool,
    c_negated: bool,
    po: str = "",
) -> Value:
    """a * b + c; a negation of the product or of c; `.po` adds one. Negations are as the manual has them: ~x + 1."""
    if csel:
        raise NoMeaningError(f"`.{csel}` on the third operand")
    negated = a_negated != b_negated
    if (negated and c_negated) or (po and (a_negated or b_negated or c_negated)):
        raise NoMeaningError("of the product, the third operand and `.po` one alone can change the sign")
    final = TYPES["s32"] if at.signed or bt.signed or negated or c_negated else U32
    product = _extended(a, at, asel, S128) * _extended(b, bt, bsel, S128)
    extra = 0
    if po:
        extra = 1
    elif negated:
        product, extra = ~product, 1
    elif c_negated:
        c, extra = ~c, 1
    total = product + convert(convert(c, final), S128) + const(extra, S128)
    if scale:
        total = total >> int(scale.removeprefix("shr"))
    return convert(_limited(total, final, 32) if sat else total, U32)


_CMP = "{cmp:eq|ne|lt|le|gt|ge}"


@ptx(
    f"vset.{{at:u32|s32}}.{{bt:u32|s32}}.{_CMP} {_OPERANDS}, ?c:b32",
    ref=_SCALAR + "vset",
    examples={"vset.s32.u32.lt": (((0xFFFFFFFF, 0), 1),), "vset.u32.u32.ne": (((3, 3), 0),)},
)
@ptx(f"vset.{{at:u32|s32}}.{{bt:u32|s32}}.{_CMP}.{{op2:add|min|max}} {_OPERANDS}, c:b32", ref=_SCALAR + "vset")
def vset(
    at: Type, bt: Type, cmp: str, a: Value, b: Value, c: Value | None, asel: str, bsel: str, dsel: str, op2: str = ""
) -> Value:
    truth = compare(_extended(a, at, asel), _extended(b, bt, bsel), cmp)
    return _finished(convert(truth, S64), U32, False, op2, dsel, c)


# --- SIMD ------------------------------------------------------------------------------------------------------------

S32 = TYPES["s32"]


def _lanes(a: Value, b: Value, t: Type, selector: str, default: str) -> list[Value]:
    """The selected elements of the words {b, a}, lowest first, in 32 bits."""
    text, width = selector or default, _WIDTHS[default[0]]
    indices, count = text[1:], 32 // width
    if text[0] != default[0] or len(indices) != count or not all(i.isdigit() and int(i) < 2 * count for i in indices):
        raise NoMeaningError(f"`.{selector}` selects no elements")
    out = []
    for index in reversed(indices):
        i = int(index)
        out.append(convert(part(a if i < count else b, i % count, TYPES[f"{t.kind}{width}"]), S32))
    return out


def _merged(results: Sequence[Value], c: Value, dsel: str, width: int, add: bool) -> Value:
    """Elements that the mask names go into c's place for them, or (`add`) all are added to c."""
    count = 32 // width
    mask = dsel[1:] if dsel else "3210"[4 - count :]
    chosen = [str(i) in mask for i in range(count)]
    if not all(i.isdigit() and int(i) < count for i in mask) or (dsel and _WIDTHS.get(dsel[0]) != width):
        raise NoMeaningError(f"`.{dsel}` names no elements of the destination")
    total = unsigned(c)
    if add:
        for r, there in zip(results, chosen, strict=True):
            total = total + unsigned(r) if there else total
        return total
    ones = (1 << width) - 1
    kept = sum(ones << i * width for i, there in enumerate(chosen) if not there)
    out = total & kept
    for i, (r, there) in enumerate(zip(results, chosen, strict=True)):
        if there:
            out = out | (unsigned(r) & ones) << i * width
    return out


def _average(a: Value, b: Value) -> Value:
    total = a + b
    return select(total >= 0, (total + 1) >> 1, total >> 1)


def _sad(v: Value, a: int, b: int, c: int) -> int:
    return c + sum(abs((a >> i & 255) - (b >> i & 255)) for i in range(0, 32, 8)) & U32.mask


SAD = Op("vabsdiff4_add", _sad, "cu2port::ptx::vabsdiff4_add({all})", loose=True)
_SIMD_OPERATIONS: Mapping[str, Callable[[Value, Value], Value]] = {**_OPERATIONS, "vavrg": _average}


def _simd(
    f: Callable[[Value, Value], Value], width: int, at: Type, bt: Type, a: Value, b: Value, asel: str, bsel: str
) -> list[Value]:
    defaults = ("h10", "h32") if width == 16 else ("b3210", "b7654")
    pairs = zip(_lanes(a, b, at, asel, defaults[0]), _lanes(a, b, bt, bsel, defaults[1]), strict=True)
    return [f(x, y) for x, y in pairs]


@_rows(
    tuple(f"{name}{n}" for n in (2, 4) for name in _SIMD_OPERATIONS),
    (f".{_TYPES}{{.sat}} {_OPERANDS}, c:b32", f".{_TYPES}.{{op2:add}} {_OPERANDS}, c:b32"),
    _SIMD,
    {
        "vadd2.s32.s32.s32.sat": (((0x7FFF0001, 0x00010002, 0), 0x7FFF0003),),
        "vavrg4.u32.u32.u32": (((0x01020304, 0x02020202, 0), 0x02020303),),
        "vabsdiff4.u32.u32.u32.add": (((0x01020304, 0x04030201, 100), 108),),
        "vabsdiff2.s32.s32.s32": (((0xFFFF0005, 0x00010003, 0), 0x00020002),),
        "vadd4.u32.u32.u32.sat": (((0xFF01F002, 0x01011001, 0), 0xFF02FF03),),
        "vsub2.s32.s32.s32.sat": (((0x80000001, 0x00010002, 0), 0x8000FFFF),),
        "vsub4.u32.u32.u32": (((0x00000000, 0x01010101, 0), 0xFFFFFFFF),),
        "vavrg2.s32.s32.s32": (((0xFFFF0003, 0xFFFE0004, 0), 0xFFFE0004),),
        "vmin2.s32.s32.s32": (((0xFFFF0005, 0x00000004, 0), 0xFFFF0004),),
        "vmin4.u32.u32.u32": (((0xFF010203, 0x01020103, 0), 0x01010103),),
        "vmax2.u32.u32.u32": (((0xFFFF0005, 0x00000004, 0), 0xFFFF0005),),
        "vmax4.s32.s32.s32": (((0xFF010203, 0x01020103, 0), 0x01020203),),
    },
)
def simd(
    name: str,
    dt: Type,
    at: Type,
    bt: Type,
    a: Value,
    b: Value,
    c: Value,
    asel: str,
    bsel: str,
    dsel: str,
    sat: bool = False,
    op2: str = "",
) -> Value:
    if name == "vabsdiff4" and op2 and at.kind == bt.kind == "u" and not (asel or bsel or dsel):
        return make(SAD, U32, a, b, c)
    width = 16 if name.endswith("2") else 8
    results = _simd(_SIMD_OPERATIONS[name[:-1]], width, at, bt, a, b, asel, bsel)
    if sat:
        results = [_limited(r, dt, width) for r in results]
    return _merged(results, c, dsel, width, op2 == "add")


@_rows(
    ("vset2", "vset4"),
    (
        f".{{at:u32|s32}}.{{bt:u32|s32}}.{_CMP} {_OPERANDS}, c:b32",
        f".{{at:u32|s32}}.{{bt:u32|s32}}.{_CMP}.{{op2:add}} {_OPERANDS}, c:b32",
    ),
    _SIMD,
    {
        "vset4.u32.u32.lt": (((0x01020304, 0x02020505, 0), 0x01000101),),
        "vset2.s32.s32.ge.add": (((0x00010001, 0xFFFF0002, 7), 8),),
    },
)
def simd_set(
    name: str,
    at: Type,
    bt: Type,
    cmp: str,
    a: Value,
    b: Value,
    c: Value,
    asel: str,
    bsel: str,
    dsel: str,
    op2: str = "",
) -> Value:
    results = _simd(
        lambda x, y: convert(compare(x, y, cmp), S32), 16 if name == "vset2" else 8, at, bt, a, b, asel, bsel
    )
    return _merged(results, c, dsel, 16 if name == "vset2" else 8, op2 == "add")
