"""Integer constants with C++'s types, widths, signs and division (C++20, [expr]; sizes of LP64, as CUDA and HIP have).

What has no value in C++ has none here: a division by zero, a signed overflow, a shift by more bits than there are.
"""

from __future__ import annotations

#: Bits of each type, in the order of conversion rank ([conv.rank]).
from cu2port.core.late import dataclass, regex

WIDTHS = {
    "bool": 1,
    "char": 8,
    "signed char": 8,
    "unsigned char": 8,
    "short": 16,
    "unsigned short": 16,
    "int": 32,
    "unsigned int": 32,
    "long": 64,
    "unsigned long": 64,
    "long long": 64,
    "unsigned long long": 64,
}
_UNSIGNED = frozenset({"bool", *(t for t in WIDTHS if t.startswith("unsigned"))})
_RANK = {"int": 0, "unsigned int": 0, "long": 1, "unsigned long": 1, "long long": 2, "unsigned long long": 2}
_BY_RANK = (("int", "unsigned int"), ("long", "unsigned long"), ("long long", "unsigned long long"))
_INTEGER = regex(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)([uUlLzZ]*)\Z")
_CHARACTER = regex(r"'(?:([^'\\\n])|\\([abfnrtv'\"?\\])|\\([0-7]{1,3})|\\x([0-9a-fA-F]{1,2}))'\Z")
_SUFFIXES = {"": 0, "l": 1, "ll": 2, "z": 1}  # the lowest rank, after the u is taken out
_ESCAPES = dict(zip("abfnrtv", (7, 8, 12, 10, 13, 9, 11), strict=True))
_WORDS = {"true": 1, "false": 0}
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of an integer type: a key of WIDTHS, in which it fits."""

    value: int
    type: str = "int"


def fits(value: int, type_: str) -> bool:
    """Whether a type has a value."""
    bits = WIDTHS[type_]
    return 0 <= value < 1 << bits if type_ in _UNSIGNED else -(1 << bits - 1) <= value < 1 << bits - 1


def literal(token: str) -> Constant | None:
    """The value of an integer or character literal, `true` or `false` ([lex.icon], [lex.ccon]).

    None for other tokens, for a literal that no type is wide enough for, and for several characters in one literal.
    """
    if token in _WORDS:
        return Constant(_WORDS[token], "bool")
    if token[:1] == "'":
        return _character(token)
    found = _INTEGER.match(token.replace("'", ""))
    if not found:
        return None
    digits, suffix = found.groups()
    unsigned = "u" in suffix or "U" in suffix
    lengths = suffix.replace("u", "", 1).replace("U", "", 1)
    if lengths not in ("", "l", "L", "ll", "LL", "z", "Z") or (suffix and suffix[1:-1].strip("lL")):
        return None
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
    value = int(digits, 8 if octal else 0)
    for signed, without_sign in _BY_RANK[_SUFFIXES[lengths.lower()] :]:
        if not unsigned and fits(value, signed):
            return Constant(value, signed)
        # a decimal literal without `u` has a signed type; where none is wide enough, compilers take the unsigned one
        last = signed == "long long"
        if (unsigned or digits[0] == "0" or last) and fits(value, without_sign):
            return Constant(value, without_sign)
    return None


def integer(token: str) -> int | None:
    """The value of an integer literal; None for anything else."""
    found = literal(token)
    return None if found is None or token[0] in "tf'" else found.value


def _character(token: str) -> Constant | None:
    found = _CHARACTER.match(token)
    if not found:
        return None
    plain, escape, octal, hexadecimal = found.groups()
    if plain:
        return Constant(ord(plain), "char") if ord(plain) < 128 else None
    if escape:
        return Constant(_ESCAPES.get(escape, ord(escape)), "char")
    value = int(octal, 8) if octal else int(hexadecimal, 16)
    return convert(Constant(value), "char") if value < 256 else None


def convert(c: Constant, type_: str) -> Constant:
    """A value as another type has it: modulo the type's range ([conv.integral]), `bool` by comparison with 0."""
    if type_ == "bool":
        return Constant(int(c.value != 0), "bool")
    bits = WIDTHS[type_]
    value = c.value & ((1 << bits) - 1)
    return Constant(value - (1 << bits) if type_ not in _UNSIGNED and value >> bits - 1 else value, type_)


def promoted(type_: str) -> str:
    """A type after integral promotion ([conv.prom]): those narrower than `int` become `int`."""
    return type_ if type_ in _RANK else "int"


def common(a: str, b: str) -> str:
    """The type in which an operator takes two operands ([expr.arith.conv])."""
    a, b = promoted(a), promoted(b)
    if (a in _UNSIGNED) == (b in _UNSIGNED):
        return a if _RANK[a] >= _RANK[b] else b
    signed, unsigned = (b, a) if a in _UNSIGNED else (a, b)
    if _RANK[unsigned] >= _RANK[signed]:
        return unsigned
    return signed if WIDTHS[signed] > WIDTHS[unsigned] else f"unsigned {signed}"


def unary(op: str, c: Constant) -> Constant | None:
    """`+`, `-`, `~` or `!` of a constant; None if it has no value, or for another operator."""
    if op == "!":
        return Constant(int(c.value == 0), "bool")
    if op not in ("+", "-", "~"):
        return None
    type_ = promoted(c.type)
    return _of(c.value if op == "+" else -c.value if op == "-" else ~c.value, type_)


def binary(op: str, a: Constant, b: Constant) -> Constant | None:
    """An operator of two constants; None if it has no value, or for an operator that is none of arithmetic's."""
    if op in ("&&", "||"):
        return Constant(int(bool(a.value and b.value if op == "&&" else a.value or b.value)), "bool")
    if op in ("<<", ">>"):
        return _shifted(op, convert(a, promoted(a.type)), b.value)
    type_ = common(a.type, b.type)
    x, y = convert(a, type_).value, convert(b, type_).value
    if op in COMPARISONS:
        truth = {"==": x == y, "!=": x != y, "<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}
        return Constant(int(truth[op]), "bool")
    if op in ("/", "%"):
        if y == 0:
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)  # towards zero
        fitting = _of(quotient, type_)  # `INT_MIN % -1` has no value either
        return fitting if op == "/" or fitting is None else _of(x - quotient * y, type_)
    match op:
        case "+":
            return _of(x + y, type_)
        case "-":
            return _of(x - y, type_)
        case "*":
            return _of(x * y, type_)
        case "&":
            return _of(x & y, type_)
        case "|":
            return _of(x | y, type_)
        case "^":
            return _of(x ^ y, type_)
    return None


def chosen(condition: Constant, a: Constant, b: Constant) -> Constant:
    """`condition ? a : b`."""
    type_ = a.type if a.type == b.type else common(a.type, b.type)
    return convert(a if condition.value else b, type_)


def _shifted(op: str, a: Constant, count: int) -> Constant | None:
    if not 0 <= count < WIDTHS[a.type]:
        return None
    # modulo the type's range, to the left too, as C++20 says and as compilers did before
    return convert(Constant(a.value << count if op == "<<" else a.value >> count, a.type), a.type)


def _of(value: int, type_: str) -> Constant | None:
    """A result: modulo the range for unsigned types, none if a signed type has it not."""
    if type_ in _UNSIGNED:
        return convert(Constant(value, type_), type_)
    return Constant(value, type_) if fits(value, type_) else None
