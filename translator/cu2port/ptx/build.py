"""What a parser of PTX finds as statements: nodes of the intermediate form, made while lark reads."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

from lark import Token, Transformer

from cu2port.ptx import constants
from cu2port.ptx.ir import (
    TYPES,
    Address,
    Const,
    Directive,
    Function,
    Group,
    Guard,
    Instruction,
    Label,
    Masked,
    Module,
    Neg,
    Not,
    Operand,
    Pair,
    Reg,
    Scope,
    Statement,
    Sum,
    Variable,
    Vector,
)
from cu2port.ptx.tokens import PtxSyntaxError


def short(word: str) -> str:
    """A word as messages show it."""
    return word if len(word) <= 60 else f"{word[:50]}..."


def _name(word: str) -> Reg:
    """A WORD in operand position: `%%tid.x` is Reg("%tid", "x")."""
    if word.startswith("%%"):
        word = word[1:]
    base, _, select = str(word).partition(".")
    return Reg(base, select)


def number(text: str) -> Const:
    """A literal. Raises ValueError on one that no form allows."""
    low = text.lower()
    if low.startswith("0f") and len(text) == 10:
        return Const(int(text[2:], 16), "f32")
    if low.startswith("0d") and len(text) == 18:
        return Const(int(text[2:], 16), "f")
    kind = "s"
    if low.endswith("u"):
        kind, low = "u", low[:-1]
    if low.startswith("0x"):
        value = int(low, 16)
    elif low.startswith("0b"):
        value = int(low[2:], 2)
    elif low.isdigit():
        value = int(low, 8) if low[0] == "0" else int(low)
    else:
        return Const(struct.unpack("<Q", struct.pack("<d", float(low)))[0], "f")
    if value >= 1 << 64:
        raise ValueError("more than 64 bits")
    if value >= 1 << 63:
        kind = "u"
    return Const(value & (1 << 64) - 1 if kind == "u" else value, kind)


def _number(token: Token) -> Const:
    try:
        return number(token)
    except ValueError:
        raise _at(token, f"`{short(token)}` is no number of at most 64 bits") from None


class Build(Transformer[Token, Any]):
    """Builds ir nodes while lark parses. Methods are named after the grammar's rules."""

    def name(self, items: list[Token]) -> Operand:
        return _name(items[0])

    def number(self, items: list[Token]) -> Const:
        return _number(items[0])

    def signed(self, items: tuple[Token, Operand]) -> Operand:
        prefix, item = items
        if prefix == "+":
            return item
        if isinstance(item, Neg):
            raise _at(prefix, "`-` twice")
        return constants.negate(item) if isinstance(item, Const) else Neg(item)

    def not_(self, items: list[Any]) -> Operand:
        item = items[-1]
        if isinstance(item, Not):
            raise _at(items[0], "`!` twice")
        return constants.unary("!", item) if isinstance(item, Const) else Not(item)

    def complement(self, items: list[Any]) -> Operand:
        item = items[-1]
        if isinstance(item, Const):
            return constants.unary("~", item)
        raise _at(items[0], "`~` stands before constants only")

    def vector(self, items: list[Operand]) -> Vector:
        return Vector(tuple(items))

    def group(self, items: list[Operand]) -> Operand:
        return items[0] if len(items) == 1 and isinstance(items[0], Const) else Group(tuple(items))

    def cast(self, items: list[Any]) -> Operand:
        return constants.cast(str(items[0]), items[1]) if isinstance(items[1], Const) else items[1]

    def address(self, items: list[Any]) -> Address:
        bracket, first, *rest = items
        if rest and isinstance(rest[-1], Token):  # `[a].unified`: one address on all GPUs, as every address here is
            if rest[-1] != ".unified":
                raise _at(rest[-1], f"`{rest[-1]}` where `,` and another operand, or `;` is expected")
            rest.pop()
        if isinstance(first, Const):
            return Address(None, first.value, tuple(rest))
        if isinstance(first, Sum):
            return Address(first.base, first.offset, tuple(rest))
        if isinstance(first, Reg):
            return Address(first, 0, tuple(rest))
        raise _at(bracket, "an address is a name, a name + a constant, or a constant")

    def expression(self, items: list[Any]) -> Operand:
        first, op, second = items[0], items[1], items[2]
        if len(items) == 3 and op == "|" and not (isinstance(first, Const) and isinstance(second, Const)):
            return Pair(first, second)
        if isinstance(first, Reg) and op in ("+", "-"):
            rest = constants.evaluate(items[2:])
            if isinstance(rest, Const):
                return Sum(first, rest.value if op == "+" else -rest.value)
        value = constants.evaluate(items)
        if value is None:
            token = next(t for t in items if isinstance(t, Token))
            raise _at(token, "an expression of constants was expected around this operator")
        return value

    def guard(self, items: list[Token]) -> Guard:
        return Guard(_name(items[-1]).name, len(items) > 1)

    def instruction(self, items: list[Any]) -> Instruction:
        guard = items.pop(0) if isinstance(items[0], Guard) else None
        word = items[0]
        at = 1
        opcode = str(word)
        while at < len(items) and isinstance(items[at], Token):
            opcode += items[at]
            at += 1
        return Instruction(opcode, tuple(items[at:]), guard, word.line, word.column)

    def label(self, items: list[Token]) -> Label:
        return Label(_name(items[0]).name, items[0].line or 0, items[0].column or 0)

    def scope(self, items: list[Statement | tuple[Variable, ...]]) -> Scope:
        return Scope(_flat(items))

    def body(self, items: list[Statement | tuple[Variable, ...]]) -> tuple[Statement, ...]:
        return _flat(items)

    def attribute_number(self, items: list[Any]) -> tuple[str, int]:
        return str(items[0]), _number(items[1]).value

    def attribute_list(self, items: list[Token]) -> tuple[str, tuple[str, ...]]:
        return str(items[0]), tuple(str(item)[1:] for item in items[1:] if item.type == "MOD")

    def masked(self, items: list[Any]) -> Operand:
        if not isinstance(items[1], (Reg, Sum)):
            raise _at(items[0], "a mask is followed by a name in brackets")
        return Masked(_number(items[0]).value, items[1])

    def fields(self, items: list[Any]) -> Operand:
        """Of a sampler: `{ filter_mode = nearest }`."""
        return Vector(tuple(item for item in items if not isinstance(item, Token)))

    def dimension(self, items: list[Any]) -> tuple[str, int]:
        if len(items) == 1:
            return "[]", 0
        if isinstance(items[1], Const) and items[1].kind in "su" and items[1].value >= 0:
            return "[]", items[1].value
        raise _at(items[0], "an array's extent is a constant")

    def declared(self, items: list[Any]) -> tuple[Token, int, tuple[int, ...], Any]:
        count, dims, init = 0, [], None
        for item in items[1:]:
            if isinstance(item, Token):
                digits = item.strip("<> \t\n")
                if len(digits) > 5:
                    raise _at(item, "a range of more than 99,999 registers")
                count = int(digits)
            elif isinstance(item, tuple) and item[0] == "[]":
                dims.append(item[1])
            else:
                init = _initial(item)
        return items[0], count, tuple(dims), init

    def variables(self, items: list[Any]) -> tuple[Variable, ...]:
        start, declared = _attributes(items)
        return tuple(
            replace(start, name=_name(word).name, count=count, dims=dims, init=init, line=word.line, column=word.column)
            for word, count, dims, init in declared
        )

    def linked(self, items: list[Any]) -> tuple[Variable, ...]:
        words = tuple(str(item)[1:] for item in items[:-1])
        return tuple(replace(v, attributes=(*words, *v.attributes)) for v in items[-1])

    def param(self, items: list[Any]) -> Variable:
        at = next(i for i, item in enumerate(items) if isinstance(item, Token) and item.type == "WORD")
        start, _ = _attributes(items[:at])
        word = items[at]
        dims = tuple(item[1] for item in items[at + 1 :])
        space = "reg" if start.space == "reg" else "param"
        return replace(start, space=space, name=_name(word).name, dims=dims, line=word.line, column=word.column)

    def params(self, items: list[Variable]) -> list[Variable]:
        return items

    def limit(self, items: list[Token]) -> tuple[str, tuple[int, ...]]:
        return items[0][1:], tuple(_number(item).value for item in items[1:] if item.type == "NUMBER")

    def function(self, items: list[Any]) -> Function:
        at = next(i for i, item in enumerate(items) if isinstance(item, Token) and item.type in ("ENTRY", "FUNC"))
        words = tuple(str(item)[1:] for item in items[:at])
        name = next(item for item in items[at:] if isinstance(item, Token) and item.type == "WORD")
        k = items.index(name)
        before = next((item for item in items[at:k] if isinstance(item, list)), [])
        after = next((item for item in items[k:] if isinstance(item, list)), [])
        return Function(
            _name(name).name,
            items[at].type == "ENTRY",
            tuple(after),
            tuple(before),
            items[-1].body if isinstance(items[-1], Scope) else None,
            tuple(item for item in items[k:] if isinstance(item, tuple)),
            words,
            name.line or 0,
            name.column or 0,
        )

    def version(self, items: list[Token]) -> Directive:
        return Directive("version", text=str(items[0]))

    def target(self, items: list[Token]) -> Directive:
        return Directive("target", text=" ".join(items))

    def address_size(self, items: list[Token]) -> Directive:
        return Directive("address_size", text=str(items[0]))

    def alias(self, items: list[Token]) -> Directive:
        return Directive("alias", text=" ".join(items))

    def generic(self, items: list[Any]) -> Operand:
        if items[0] != "generic" or not isinstance(items[1], (Reg, Sum)):
            raise _at(items[0], f"`{items[0]}( )` is not a value")
        return items[1]

    def body_directive(self, items: list[Any]) -> Directive:
        word = items[0]
        return Directive(word[1:], tuple(items[1:]), "", "", word.line, word.column)

    def body_pragma(self, items: list[Any]) -> Directive:
        word = items[0]
        return Directive(word[1:], (), "", items[1].strip('"'), word.line, word.column)

    def module_pragma(self, items: list[Any]) -> Directive:
        return self.body_pragma(items)

    def body_prototype(self, items: list[Any]) -> Directive:
        word, *rest = items
        at = next(i for i, item in enumerate(rest) if isinstance(item, Token))
        returns = rest[0] if at else []
        params = next((item for item in rest[at:] if isinstance(item, list)), [])
        return Directive(word[1:], (), "", "", word.line or 0, word.column or 0, tuple(params), tuple(returns))

    def module(self, items: list[Any]) -> Module:
        said = {item.name: item.text for item in items if isinstance(item, Directive)}
        size = said.get("address_size", "64")
        return Module(
            said.get("version", ""),
            tuple(said.get("target", "").split()),
            int(size) if size.isdigit() else 64,
            tuple(v for item in items if isinstance(item, tuple) for v in item),
            tuple(item for item in items if isinstance(item, Function)),
            tuple(item for item in items if isinstance(item, Directive) and item.name in ("alias", "pragma")),
        )


def _attributes(items: list[Any]) -> tuple[Variable, list[Any]]:
    """A declaration without a name, from its space, type and attributes; and what stands behind them."""
    space, type_, vector, align, attributes, rest = "", TYPES["b32"], 1, 0, [], []
    for item in items:
        if isinstance(item, Token):
            word = item[1:]
            if item.type == "SPACE" and not space:
                space = word.replace("sreg", "reg")
            elif word in TYPES:
                type_ = TYPES[word]
            elif word in ("v2", "v4", "v8"):
                vector = int(word[1])
            else:
                attributes.append(word)
        elif isinstance(item[0], Token):
            rest.append(item)
        elif item[0] == ".align":
            align = item[1]
        else:
            attributes.extend(item[1])
    return Variable(space, type_, "", vector=vector, align=align, attributes=tuple(attributes)), rest


def _initial(item: Any) -> Any:
    return tuple(map(_initial, item.items)) if isinstance(item, Vector) else item


def _flat(items: list[Statement | tuple[Variable, ...]]) -> tuple[Statement, ...]:
    """Statements one after the other; the label in front of a table of targets is its name."""
    out: list[Statement] = []
    for item in items:
        if isinstance(item, tuple):
            out.extend(item)
            continue
        last = out[-1] if out else None
        if isinstance(item, Directive) and item.name != "pragma" and isinstance(last, Label):
            item = replace(item, label=last.name)
            out.pop()
        out.append(item)
    return tuple(out)


def _at(token: Token, message: str) -> PtxSyntaxError:
    return PtxSyntaxError(message, token.line or 1, token.column or 1)
