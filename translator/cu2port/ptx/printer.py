"""Trees as C++ expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass, field, replace
from math import isfinite

from cu2port.ptx import constants, integers, ops
from cu2port.ptx.ir import Const, Place, Type
from cu2port.ptx.ops import Value

NAMESPACE = "cu2port::ptx::"


def cxx_type(t: Type) -> str:
    """The C++ type that holds a value of type `t`."""
    if t.lanes > 1:
        return f"{NAMESPACE}{'u' if t.kind == 'b' else t.kind}{t.bits}x{t.lanes}"
    if t.kind == "f" and t.bits >= 32 and t.name != "tf32":
        return "float" if t.bits == 32 else "double"
    if t.kind == "p":
        return "bool"
    if t.bits > 64:
        return f"{NAMESPACE}{'s' if t.signed else 'u'}{t.bits}"
    return f"std::{'' if t.signed else 'u'}int{max(t.bits, 8)}_t"


@dataclass(frozen=True, slots=True)
class Text:
    """A C++ expression: its precedence (16 a call or a name), and the type that C++ gives it."""

    text: str
    level: int
    type: Type  # what C++ makes of it; small integers of arithmetic are `s32` by promotion
    element: bool = False  # of a vector, whose place clang 22 takes for the first element's in `__builtin_bit_cast`


@dataclass
class Printer:
    """Trees as C++ expressions. `names`: nodes that have got a name, by id."""

    places: Mapping[str, Place]
    names: dict[int, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)  # PTX label -> C++ label
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)  # labels of `.branchtargets`, by its name
    kernel: bool = False  # the code is in a kernel's own body
    result: str = ""  # what `ret` returns

    def value(self, v: Value) -> Text:
        name = self.names.get(id(v))
        if name is not None:
            return Text(name, 16, v.type)
        op = v.op
        if op is ops.CONST:
            assert isinstance(v.attr, int)
            return Text(literal(v.attr, v.type), 16 if not v.type.signed else 15, v.type)
        if op is ops.REG:
            place = self.places[str(v.attr)]
            return self.register(place, v.type)
        if op is ops.EXTRACT:
            return Text(f"{self.value(v.args[0]).text}[{v.attr}]", 16, v.type, element=True)
        if op is ops.BITS and cxx_type(v.type) == cxx_type(v.args[0].type):
            inner = self.exact(v.args[0])
            return replace(inner, type=v.type)
        if op is ops.BITS:
            return _bits(self.exact(v.args[0]), v.type)
        if op is ops.CONVERT:
            return self.conversion(v)
        if op is ops.SELECT:
            return self.choice(v)
        if op.render is not None:
            return Text(op.render(self, v), op.level, v.type)
        if callable(op.spelling):
            plain = self.argument if op.loose else self.spelled
            texts = [self.address(a) if i == 0 and op.address else plain(a) for i, a in enumerate(v.args)]
            return Text(op.spelling(v, texts), op.level, v.type)
        if op.level == 16:
            return self.call(v)
        return self.operator(v)

    def stored(self, v: Value) -> Text:
        """A value for an assignment, which converts constants by itself."""
        if v.constant is not None and v.type.kind in "usb" and v.constant <= 0x7FFFFFFF:
            return Text(_digits(v.constant), 16, v.type)
        return self.value(v)

    def statement(self, v: Value) -> str:
        """An effect as a statement, with its semicolon; nothing where nothing is to be done."""
        return f"{self.value(v).text};" if v.op.spelling or v.op.render else ""

    def choice(self, v: Value) -> Text:
        """`condition ? a : b`; C++ makes one type of two integers of a width."""
        condition = self.wrap(self.value(v.args[0]), 3)
        arms = [self.value(a) for a in v.args[1:]]
        kinds = {arm.type.kind for arm in arms}
        plain = v.type.is_int and v.type.bits >= 32 and all(arm.type.bits == v.type.bits for arm in arms)
        if plain and "f" not in kinds:
            result = arms[0].type if len(kinds) == 1 else v.type.unsigned
            texts = [_plain(v.args[1 + i], v.args[2 - i]) or arm for i, arm in enumerate(arms)]
        else:
            result, texts = v.type, [self.coerce(arm, v.type) for arm in arms]
        return Text(f"{condition} ? {self.wrap(texts[0], 3)} : {self.wrap(texts[1], 2)}", 2, result)

    def address(self, v: Value) -> str:
        """An address as helpers take it: a pointer, an integer, or `at(pointer, bytes)`."""
        base, offset = (v.args[0], v.args[1].constant) if v.op is ops.ADD else (v, 0)
        place = self.places.get(str(base.attr)) if base.op is ops.REG else None
        if place is None or not place.pointer or offset is None:
            return self.exact(v).text
        signed = integers.read(offset, v.type.to_signed)
        return f"{NAMESPACE}at({place.text}, {signed})" if signed else place.text

    def register(self, place: Place, wanted: Type) -> Text:
        if place.pointer:
            return Text(f"{NAMESPACE}address({place.text})", 16, ops.U64)
        have = place.type
        level = 16 if place.text.replace("_", "a").isalnum() else 15 if place.text[-1] in ")]" else 0
        text = Text(place.text, level, have)
        if have.bits == wanted.bits and (have.kind == wanted.kind or (have.is_int and wanted.is_int)):
            return text
        if have.bits == wanted.bits and cxx_type(have) == cxx_type(wanted):
            return Text(place.text, level, wanted)
        if have.bits == wanted.bits:
            return Text(f"__builtin_bit_cast({cxx_type(wanted)}, {place.text})", 16, wanted)
        return self.resized(text, wanted)

    def conversion(self, v: Value) -> Text:
        inner = self.value(v.args[0])
        source, wanted = v.args[0].type, v.type
        if source.kind == "p" or source.bits != wanted.bits:
            inner = self.coerce(inner, source)
            return Text(f"{cxx_type(wanted)}({inner.text})", 16, wanted)
        return inner if inner.type.bits == wanted.bits else self.coerce(inner, wanted)

    def spelled(self, v: Value) -> str:
        """A tree in exactly its C++ type."""
        return self.exact(v).text

    def exact(self, v: Value) -> Text:
        return self.coerce(self.value(v), v.type)

    def coerce(self, text: Text, wanted: Type) -> Text:
        """The text as exactly the C++ type of `wanted`; only between types that hold the same bits."""
        have = text.type
        if have == wanted or cxx_type(have) == cxx_type(wanted):
            return text
        if have.is_int and wanted.is_int:
            return Text(f"{cxx_type(wanted)}({text.text})", 16, wanted)
        return _bits(text, wanted)

    def resized(self, text: Text, wanted: Type, signed: bool = False) -> Text:
        """The low bits of a text in a narrower type, or all of them in a wider one with zeros or the sign above: what
        a register has of a value of another size, floats too, which are no numbers then."""
        have = text.type
        if have.kind != "p":
            text = self.coerce(text, have.to_signed if signed else have.unsigned)
        bits = wanted.unsigned if wanted.kind != "p" else wanted
        if wanted.is_int:
            return Text(f"{cxx_type(wanted)}({text.text})", 16, wanted)
        return self.coerce(Text(f"{cxx_type(bits)}({text.text})", 16, bits), wanted)

    def wrap(self, text: Text, level: int) -> str:
        return text.text if text.level >= level else f"({text.text})"

    def call(self, v: Value) -> Text:
        assert isinstance(v.op.spelling, str)
        texts = [self.argument(a) if v.op.loose else self.exact(a).text for a in v.args]
        first = cxx_type(v.args[0].type) if v.args else ""
        spelled = v.op.spelling.format(*texts, t=cxx_type(v.type), a=first, attr=v.attr, all=", ".join(texts))
        return Text(spelled, 16, v.type)

    def argument(self, v: Value) -> str:
        """An argument of a function with one signature: C++ converts between integers of one width."""
        if v.constant is not None and v.type.is_int and v.constant <= 0x7FFFFFFF:
            return _digits(v.constant)
        text = self.value(v)
        same = text.type.is_int and v.type.is_int and text.type.bits == v.type.bits
        return text.text if same else self.coerce(text, v.type).text

    def operator(self, v: Value) -> Text:
        op = v.op
        assert isinstance(op.spelling, str)
        texts = [self.value(a) for a in v.args]
        result = v.type
        if op in (ops.SHL, ops.SHR):
            wanted = v.type.unsigned if op is ops.SHL else v.type
            if wanted.bits < 32 and op is ops.SHL:
                wanted = ops.U32
                texts[0] = Text(f"std::uint32_t({texts[0].text})", 16, wanted)
            texts[0] = self.coerce(texts[0], wanted)
            texts[1] = Text(str(v.args[1].constant), 16, ops.S32) if v.args[1].op is ops.CONST else texts[1]
            result = wanted
        elif v.type.is_int and len(texts) == 2 and op.level not in (8, 9):
            result = self.balance(v, texts)
        elif op.level in (8, 9) and v.args[0].type.is_int:
            wanted = v.args[0].type
            texts = [_plain(v.args[i], v.args[1 - i]) or self.coerce(t, wanted) for i, t in enumerate(texts)]
        elif op is ops.NEG or op is ops.NOT:
            texts[0] = self.coerce(texts[0], v.type.unsigned)
            result = v.type.unsigned
        if v.type.is_int and v.type.bits < 32 and op.level not in (8, 9):
            result = ops.S32 if result is not ops.U32 else ops.U32
        inner = [self.operand(op, i, texts[i], v.args[i]) for i in range(len(texts))]
        return Text(op.spelling.format(*inner), op.level, result)

    def balance(self, v: Value, texts: list[Text]) -> Type:
        """Makes the usual conversions give the unsigned type where the operation needs it; the type they give."""
        if v.op in (ops.DIV, ops.REM) and (v.type.signed or v.type.bits < 32):  # another result for another sign
            for i, text in enumerate(texts):
                texts[i] = _plain(v.args[i], v.args[1 - i]) or self.coerce(text, v.type)
            return v.type
        want = v.type.unsigned if v.op.wrap or not v.type.signed else v.type
        if v.op is ops.MUL and want.bits < 32:
            texts[0] = Text(f"std::uint32_t({texts[0].text})", 16, ops.U32)
            return ops.U32
        if want.bits < 32:
            return want
        fits = [t.type.bits == want.bits and t.type.kind != "s" for t in texts]
        for i, text in enumerate(texts):
            plain = _plain(v.args[i], v.args[1 - i])
            if plain is not None and fits[1 - i]:
                texts[i] = plain
            elif not (want.kind == "u" and fits[1 - i] and text.type.is_int and text.type.bits == want.bits):
                if want.signed and text.type.is_int and text.type.bits == want.bits:
                    continue
                texts[i] = self.coerce(text, want)
                fits[i] = True
        return want if want.kind != "s" or not any(fits) else want.unsigned

    def operand(self, op: ops.Op, index: int, text: Text, arg: Value) -> str:
        """An operand with brackets where C++ or a reader needs them."""
        level = op.level
        if text.level >= 15:
            return text.text
        if level == 15:
            return f"({text.text})"
        tight = {12: 12, 13: 13, 9: 12, 8: 12, 4: 8, 3: 8}.get(level, 15)
        if index == 1 and level in (12, 13):
            tight = level + 1
        if arg.op is op and index == 0 and text.level == level:
            return text.text
        return text.text if text.level >= tight else f"({text.text})"


def _plain(arg: Value, other: Value) -> Text | None:
    """A small constant without a suffix, beside something that already has the type; None for anything else."""
    c = arg.constant
    if c is None or other.op is ops.CONST or arg.type.bits < 8:
        return None
    if c <= 0x7FFFFFFF and not (arg.type.signed and c >> (arg.type.bits - 1)):
        return Text(_digits(c), 16, arg.type)
    return None


def _digits(c: int) -> str:
    return str(c) if c < 100 or (c % 10 == 0 and c <= 10000) else hex(c)


def _decimal(number: float, t: Type) -> str:
    """The shortest literal that is this number."""
    if t.bits == 64:
        return repr(number)
    texts = (repr(float(f"{number:.{digits}g}")) for digits in range(1, 10))
    return next(text for text in texts if c_float(float(text)).value == number) + "f"


def _bits(text: Text, wanted: Type) -> Text:
    """The bits of an expression as another type of that width."""
    inner = f"{cxx_type(text.type)}({text.text})" if text.element else text.text
    return Text(f"__builtin_bit_cast({cxx_type(wanted)}, {inner})", 16, wanted)


def literal(value: int, t: Type) -> str:
    """A constant of exactly the C++ type of `t`."""
    if t.kind == "p":
        return "true" if value else "false"
    if t.name in ("f32", "f64"):
        number = constants.double(Const(value, "f" if t.bits == 64 else t.name))
        if isfinite(number):
            return _decimal(number, t)
        return f"__builtin_bit_cast({cxx_type(t)}, {literal(value, t.unsigned)})"
    number = integers.read(value, t)
    if t.bits < 32 or t.name == "tf32":
        return f"{cxx_type(t)}({number if t.signed else _digits(number)})"
    if t.bits == 32:
        if t.signed:
            return _digits(number) if number >= 0 else str(number) if number > -(1 << 31) else "(-0x7fffffff - 1)"
        return _digits(number) + "u"
    if t.bits == 64:
        if t.signed:
            return f"std::int64_t({number})" if number > -(1 << 63) else "(-0x7fffffffffffffff - 1)"
        return f"std::uint64_t({_digits(number)})"
    high, low = value >> 64, value & (1 << 64) - 1
    return f"({cxx_type(t)}({high:#x}ull) << 64 | {low:#x}ull)"
