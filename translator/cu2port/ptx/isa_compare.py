"""Rows: comparison and selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import U32, Value, bits, const, eq, ne, pack, select, unsigned
from cu2port.ptx.ops_float import converted, feq, fle, flt, flushed, fneu, halves, isnan
from cu2port.ptx.table import Example, ptx

_ALL = "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
_FLOAT = "equ|neu|ltu|leu|gtu|geu|eq|ne|lt|le|gt|ge|num|nan"
_BOOL = ".{op:and|or|xor}"
# what can be compared: the comparisons, whether denormals may be flushed, the types
_SCALARS = (
    ("eq|ne", "", "b16|b32|b64"),
    ("eq|ne|lt|le|gt|ge|lo|ls|hi|hs", "", "u16|u32|u64"),
    ("eq|ne|lt|le|gt|ge", "", "s16|s32|s64"),
    (_FLOAT, "{.ftz}", "f32"),
    (_FLOAT, "", "f64"),
)
_HALVES = ((_FLOAT, "{.ftz}", "f16"), (_FLOAT, "", "bf16"))
# what `set` compares for an f16 and for a bf16, which never flushes
_FOR_F16 = (*_SCALARS, _HALVES[0])
_FOR_BF16 = tuple((cmp, "", types) for cmp, _, types in (*_SCALARS, *_HALVES))
_PAIRS = ((_FLOAT, "{.ftz}", "f16x2"), (_FLOAT, "", "bf16x2"))
_HALF = "half-precision-comparison-instructions-"

M = TypeVar("M", bound=Callable[..., Value | tuple[Value, ...]])
Kinds = Sequence[tuple[str, str, str]]


def declare(
    syntax: str, kinds: Kinds, ref: str, examples: Mapping[str, Sequence[Example]] | None = None
) -> Callable[[M], M]:
    """Rows for each kind of comparison: CMP, FTZ and TYPE in the syntax stand for what differs."""

    def decorate(meaning: M) -> M:
        for cmp, ftz, types in reversed(kinds):
            line = syntax.replace("CMP", f"{{cmp:{cmp}}}").replace("FTZ", ftz).replace("TYPE", f"{{t:{types}}}")
            match = {k: v for k, v in (examples or {}).items() if k.rpartition(".")[2] in types.split("|")}
            ptx(line, ref=ref, examples=match)(meaning)
        return meaning

    return decorate


def compare(a: Value, b: Value, cmp: str, ftz: bool = False) -> Value:
    """The predicate `a cmp b`. On integers lo, ls, hi, hs are unsigned; on floats `ltu` and kin are true for NaN."""
    if a.type.is_float:
        return _compare_floats(flushed(a, ftz), flushed(b, ftz), cmp)
    if cmp in ("lo", "ls", "hi", "hs"):
        a, b = unsigned(a), unsigned(b)
        cmp = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[cmp]
    if cmp == "eq":
        return eq(a, b)
    if cmp == "ne":
        return ne(a, b)
    return a < b if cmp == "lt" else a <= b if cmp == "le" else a > b if cmp == "gt" else a >= b


def _compare_floats(a: Value, b: Value, cmp: str) -> Value:
    if a.type.bits == 16:  # as floats, which hold every value of them
        a, b = converted(a, TYPES["f32"]), converted(b, TYPES["f32"])
    if cmp in ("ne", "equ"):  # `ne` is false for NaN, unlike C++'s !=
        ordered_unequal = flt(a, b) | flt(b, a)
        return ordered_unequal if cmp == "ne" else ~ordered_unequal
    if cmp in ("num", "nan"):
        either = isnan(a) | isnan(b)
        return either if cmp == "nan" else ~either
    if cmp in ("eq", "neu"):
        return feq(a, b) if cmp == "eq" else fneu(a, b)
    if cmp.endswith("u"):  # true for NaN: not the opposite
        return ~_compare_floats(a, b, {"ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}[cmp])
    return {"lt": flt(a, b), "le": fle(a, b), "gt": flt(b, a), "ge": fle(b, a)}[cmp]


def combined(t: Value, c: Value | None, op: str) -> Value:
    """A comparison's result and a predicate, by the boolean operator `op` if there is one."""
    if not op or c is None:
        return t
    return t & c if op == "and" else t | c if op == "or" else t ^ c


def _both(t: Value, c: Value | None, op: str) -> tuple[Value, Value]:
    return combined(t, c, op), combined(~t, c, op)


_SETP = "comparison-and-selection-instructions-setp"
_SETP_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "setp.lt.s32": (((0xFFFFFFFF, 0), (1, 0)),),
    "setp.lo.u32": (((0xFFFFFFFF, 0), (0, 1)),),
    "setp.ne.f32": (((0x7FC00000, 0), (0, 1)), ((0x3F800000, 0), (1, 0))),
    "setp.neu.f32": (((0x7FC00000, 0), (1, 0)),),
    "setp.equ.f32": (((0x7FC00000, 0), (1, 0)),),
}


@declare("setp.CMPFTZ.TYPE p|?q, a, b", _SCALARS, _SETP, _SETP_EXAMPLES)
def setp(a: Value, b: Value, cmp: str, ftz: bool = False) -> tuple[Value, Value]:
    return _both(compare(a, b, cmp, ftz), None, "")


@declare(
    f"setp.CMP{_BOOL}FTZ.TYPE p|?q, a, b, c:pred",
    _SCALARS,
    _SETP,
    {"setp.lt.and.s32": (((1, 2, 1), (1, 0)), ((1, 2, 0), (0, 0))), "setp.eq.xor.u32": (((1, 2, 1), (1, 0)),)},
)
def setp_combined(a: Value, b: Value, c: Value, cmp: str, op: str, ftz: bool = False) -> tuple[Value, Value]:
    return _both(compare(a, b, cmp, ftz), c, op)


@declare("setp.CMPFTZ.TYPE p, a, b", _HALVES, _HALF + "setp")
def setp_half(a: Value, b: Value, cmp: str, ftz: bool = False) -> Value:
    return compare(a, b, cmp, ftz)


@declare(f"setp.CMP{_BOOL}FTZ.TYPE p, a, b, c:pred", _HALVES, _HALF + "setp")
def setp_half_combined(a: Value, b: Value, c: Value, cmp: str, op: str, ftz: bool = False) -> Value:
    return combined(compare(a, b, cmp, ftz), c, op)


def low_first(a: Value, t: Type) -> tuple[Value, Value]:
    """The two elements of an f16x2 or bf16x2."""
    upper, lower = halves(a, TYPES[t.name.removesuffix("x2")])
    return lower, upper


@declare("setp.CMPFTZ.TYPE p|?q, a, b", _PAIRS, _HALF + "setp")
def setp_pair(t: Type, a: Value, b: Value, cmp: str, ftz: bool = False) -> tuple[Value, Value]:
    """p is the low halves' result, q the high halves'."""
    low, high = (compare(x, y, cmp, ftz) for x, y in zip(low_first(a, t), low_first(b, t), strict=True))
    return low, high


@declare(f"setp.CMP{_BOOL}FTZ.TYPE p|?q, a, b, c:pred", _PAIRS, _HALF + "setp")
def setp_pair_combined(
    t: Type, a: Value, b: Value, c: Value, cmp: str, op: str, ftz: bool = False
) -> tuple[Value, Value]:
    pairs = zip(low_first(a, t), low_first(b, t), strict=True)
    low, high = (combined(compare(x, y, cmp, ftz), c, op) for x, y in pairs)
    return low, high


def _truth(t: Value, dt: Type) -> Value:
    """All ones, or 1.0 for a floating destination, where t holds; else 0."""
    ones = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(dt.name, -1)
    return select(t, const(ones, dt), const(0, dt))


_SET = "comparison-and-selection-instructions-set"


@declare(
    "set.CMPFTZ.{dt:u32|s32|f32}.TYPE d:dt, a, b",
    _SCALARS,
    _SET,
    {"set.eq.u32.u32": (((1, 1), 0xFFFFFFFF), ((1, 2), 0)), "set.lt.f32.s32": (((1, 2), 0x3F800000),)},
)
@declare("set.CMPFTZ.{dt:u16|s16|u32|s32}.TYPE d:dt, a, b", _HALVES, _HALF + "set")
@declare("set.CMPFTZ.{dt:f16}.TYPE d:dt, a, b", _FOR_F16, _HALF + "set")
@declare("set.CMPFTZ.{dt:bf16}.TYPE d:dt, a, b", _FOR_BF16, _HALF + "set")
def set_(dt: Type, a: Value, b: Value, cmp: str, ftz: bool = False) -> Value:
    return _truth(compare(a, b, cmp, ftz), dt)


@declare(f"set.CMP{_BOOL}FTZ.{{dt:u32|s32|f32}}.TYPE d:dt, a, b, c:pred", _SCALARS, _SET)
@declare(f"set.CMP{_BOOL}FTZ.{{dt:u16|s16|u32|s32}}.TYPE d:dt, a, b, c:pred", _HALVES, _HALF + "set")
@declare(f"set.CMP{_BOOL}FTZ.{{dt:f16}}.TYPE d:dt, a, b, c:pred", _FOR_F16, _HALF + "set")
@declare(f"set.CMP{_BOOL}FTZ.{{dt:bf16}}.TYPE d:dt, a, b, c:pred", _FOR_BF16, _HALF + "set")
def set_combined(dt: Type, a: Value, b: Value, c: Value, cmp: str, op: str, ftz: bool = False) -> Value:
    return _truth(combined(compare(a, b, cmp, ftz), c, op), dt)


def _pair_of_truths(t: Type, dt: Type, truths: Sequence[Value]) -> Value:
    """Two halfwords: 1.0 or all ones where the comparison of the halves holds."""
    name = dt.name.removesuffix("x2") if dt == t else "u16"
    return pack([bits(_truth(truth, TYPES[name]), TYPES["u16"]) for truth in truths], U32)


@declare("set.CMPFTZ.{dt:f16x2|u32|s32}.TYPE d:b32, a, b", _PAIRS[:1], _HALF + "set")
@declare("set.CMPFTZ.{dt:bf16x2|u32|s32}.TYPE d:b32, a, b", _PAIRS[1:], _HALF + "set")
def set_pair(dt: Type, t: Type, a: Value, b: Value, cmp: str, ftz: bool = False) -> Value:
    return _pair_of_truths(t, dt, setp_pair(t, a, b, cmp, ftz))


@declare(f"set.CMP{_BOOL}FTZ.{{dt:f16x2|u32|s32}}.TYPE d:b32, a, b, c:pred", _PAIRS[:1], _HALF + "set")
@declare(f"set.CMP{_BOOL}FTZ.{{dt:bf16x2|u32|s32}}.TYPE d:b32, a, b, c:pred", _PAIRS[1:], _HALF + "set")
def set_pair_combined(dt: Type, t: Type, a: Value, b: Value, c: Value, cmp: str, op: str, ftz: bool = False) -> Value:
    return _pair_of_truths(t, dt, setp_pair_combined(t, a, b, c, cmp, op, ftz))


@ptx(
    f"selp.{{t:{_ALL}}} d, a, b, c:pred",
    ref="comparison-and-selection-instructions-selp",
    examples={"selp.b32": (((1, 2, 1), 1), ((1, 2, 0), 2))},
)
def selp(a: Value, b: Value, c: Value) -> Value:
    return select(c, a, b)


@ptx(
    f"slct.{{t:{_ALL}}}.s32 d, a, b, c:s32",
    ref="comparison-and-selection-instructions-slct",
    examples={"slct.u32.s32": (((1, 2, 0), 1), ((1, 2, 0xFFFFFFFF), 2))},
)
def slct(a: Value, b: Value, c: Value) -> Value:
    return select(c >= 0, a, b)


@ptx(
    f"slct{{.ftz}}.{{t:{_ALL}}}.f32 d, a, b, c:f32",
    ref="comparison-and-selection-instructions-slct",
    examples={"slct.u32.f32": (((1, 2, 0x80000000), 1), ((1, 2, 0x7FC00000), 2), ((1, 2, 0x80000001), 2))},
)
def slct_float(a: Value, b: Value, c: Value, ftz: bool) -> Value:
    """NaN selects b; -0 counts as 0, and so do denormals with `.ftz`."""
    c = flushed(c, ftz)
    return select(fle(const(0, c.type), c), a, b)
