"""The meaning of PTX's integer, logic, shift and video instructions, from the manual; nothing of cu2port is used.

`MEANINGS[root](words, v, texts)`: the opcode's words behind the root, the sources' bits, the operands' texts with
the destination's first (for selectors, negation and look-up tables). The result is a tuple, one for each destination.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ptx_numbers import Wanted, signed

Words = Sequence[str]
Bits = Sequence[int]
Texts = Sequence[str]
Meaning = Callable[[Words, Bits, Texts], tuple[Wanted, ...]]
MEANINGS: dict[str, Meaning] = {}
_TYPE = re.compile(r"([usb])(\d+)(?:x(\d))?")


def meaning(*roots: str) -> Callable[[Meaning], Meaning]:
    def put(function: Meaning) -> Meaning:
        MEANINGS.update(dict.fromkeys(roots, function))
        return function

    return put


def width(word: str) -> int:
    found = _TYPE.fullmatch(word)
    assert found is not None, word
    return int(found[2])


def types(words: Words) -> list[str]:
    return [w for w in words if _TYPE.fullmatch(w)]


def read(code: int, word: str) -> int:
    bits = width(word)
    return signed(code, bits) if word[0] == "s" else code & ((1 << bits) - 1)


def clamped(n: int, word: str) -> int:
    bits = width(word)
    low, high = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if word[0] == "s" else (0, (1 << bits) - 1)
    return min(max(n, low), high)


def per_element(words: Words, v: Bits, one: Callable[..., int], t: str = "") -> tuple[int, ...]:
    """The same on each element of packed types, or on the whole."""
    t = t or types(words)[-1]
    found = _TYPE.fullmatch(t)
    assert found is not None
    bits, count = int(found[2]), int(found[3] or 1)
    element, mask, out = t.split("x")[0], (1 << bits) - 1, 0
    for i in range(count):
        n = one(*(read(x >> bits * i, element) for x in v))
        out |= ((clamped(n, element) if "sat" in words else n) & mask) << bits * i
    return (out,)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


@meaning("add", "sub", "sad", "abs", "neg", "min", "max", "div", "rem")
def simple(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    root, relu, t = words[0], "relu" in words, types(words)[-1]
    mask = (1 << width(t)) - 1
    if root in ("div", "rem"):
        b = v[1] & mask
        if not b or (t[0] == "s" and b == mask and v[0] & mask == mask // 2 + 1):
            return (lambda got: True,)  # the manual says that the value is unspecified, or nothing
    operations: dict[str, Callable[..., int]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "sad": lambda a, b, c: c + abs(a - b),
        "abs": abs,
        "neg": lambda a: -a,
        "min": lambda a, b: max(min(a, b), 0) if relu else min(a, b),
        "max": lambda a, b: max(a, b, 0) if relu else max(a, b),
        "div": quotient,
        "rem": lambda a, b: a - b * quotient(a, b),
    }
    return per_element(words, v, operations[root])


@meaning("mul", "mad", "mul24", "mad24")
def products(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = types(words)[-1]
    bits, narrow = width(t), t[0] + ("24" if "24" in words[0] else str(width(t)))
    product = read(v[0], narrow) * read(v[1], narrow)
    wide = f"{t[0]}{2 * bits}" if "wide" in words else t
    part = product >> (16 if "24" in words[0] else bits) if "hi" in words else product
    mask = (1 << width(wide)) - 1
    if len(v) == 2:
        return (part & mask,)
    total = (read(part, wide) if "sat" in words else part) + read(v[2], wide)
    return ((clamped(total, wide) if "sat" in words else total) & mask,)


def carried(words: Words, v: Bits, flag: int) -> tuple[int, int]:
    """What an instruction with a carry computes, and the flag behind it."""
    root, t = words[0], types(words)[-1]
    bits = width(t)
    mask, a, b = (1 << bits) - 1, v[0], v[-1]
    if root.startswith("mad"):
        product = read(a, t) * read(v[1], t)
        a = (product >> bits if "hi" in words else product) & mask
    minus = root.startswith("sub")
    start = flag if root.endswith("c") and root != "sub" else int(minus)
    total = a + (b ^ mask if minus else b) + start
    return total & mask, total >> bits if "cc" in words else flag


@meaning("clmad")
def carryless(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    product = 0
    for i in range(64):
        product ^= v[0] << i if v[1] >> i & 1 else 0
    return ((product >> 64 if "hi" in words else product & (1 << 64) - 1) ^ v[2],)


@meaning("popc", "clz", "brev", "bfind")
def counts(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = types(words)[-1]
    bits = width(t)
    a = v[0] & ((1 << bits) - 1)
    if words[0] == "popc":
        return (a.bit_count(),)
    if words[0] == "clz":
        return (bits - a.bit_length(),)
    if words[0] == "brev":
        return (int(f"{a:0{bits}b}"[::-1], 2),)
    a = ~read(a, t) if read(a, t) < 0 else a
    if not a:
        return (0xFFFFFFFF,)
    return (bits - a.bit_length() if "shiftamt" in words else a.bit_length() - 1,)


@meaning("fns")
def find_nth_set(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    mask, base, offset = v[0], v[1], signed(v[2], 32)
    if base > 31:
        return (lambda got: True,)
    places = [base] if not offset else list(range(base, 32) if offset > 0 else range(base, -1, -1))
    found = [p for p in places if mask >> p & 1]
    at = max(abs(offset), 1) - 1
    return (found[at] if at < len(found) else 0xFFFFFFFF,)


@meaning("bfe", "bfi", "bmsk", "szext")
def fields(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t, clamp = types(words)[-1], "clamp" in words
    bits = width(t)
    mask = (1 << bits) - 1
    if words[0] == "bfe":
        a, at, length = v[0], v[1] & 255, v[2] & 255
        sign = a >> min(at + length - 1, bits - 1) & 1 if t[0] == "s" and length else 0
        chosen = [(a >> at + i & 1) if i < length and at + i < bits else sign for i in range(bits)]
        return (sum(bit << i for i, bit in enumerate(chosen)),)
    if words[0] == "bfi":
        field = (1 << (v[3] & 255)) - 1 << (v[2] & 255) & mask
        return (v[1] & ~field | v[0] << (v[2] & 255) & field,)
    if words[0] == "bmsk":
        at, length = v[0] if clamp else v[0] & 31, v[1] if clamp else v[1] & 31
        return (sum(1 << i for i in range(at, min(at + length, 32))) if at < 32 else 0,)
    if clamp and v[1] >= 32:
        return (v[0],)
    n = v[1] & 31
    low = v[0] & ((1 << n) - 1)
    return ((signed(low, n) if n and t[0] == "s" else low) & mask,)


@meaning("dp4a", "dp2a")
def dots(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    ta, tb = types(words)
    if words[0] == "dp4a":
        pairs = [(v[0] >> 8 * i, v[1] >> 8 * i) for i in range(4)]
    else:
        pairs = [(v[0] >> 16 * i, v[1] >> 8 * (i + (2 if "hi" in words else 0))) for i in range(2)]
    wide = "8" if words[0] == "dp4a" else "16"
    total = v[2] + sum(read(a, ta[0] + wide) * read(b, tb[0] + "8") for a, b in pairs)
    return (total & 0xFFFFFFFF,)


@meaning("and", "or", "xor", "not", "cnot", "lop3", "prmt")
def logic(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    if words[0] == "prmt":
        return (permuted(words, v),)
    mask = 1 if "pred" in words else (1 << width(types(words)[-1])) - 1
    if words[0] == "lop3":
        lut, out = int(texts[4], 0), 0
        for i in range(8):
            term = (v[0] if i & 4 else ~v[0]) & (v[1] if i & 2 else ~v[1]) & (v[2] if i & 1 else ~v[2])
            out |= term & mask if lut >> i & 1 else 0
        q = v[-1]
        p = int(out != 0 or q) if "or" in words else int(out != 0 and q)
        return (out,) if len(words) == 2 else ((p,) if texts[0].startswith("_") else (out, p))
    a, b = v[0], v[-1]
    return ({"and": a & b, "or": a | b, "xor": a ^ b, "not": ~a & mask, "cnot": int(not a & mask)}[words[0]] & mask,)


def permuted(words: Words, v: Bits) -> int:
    a, b, c = v
    source, n = [(a | b << 32) >> 8 * i & 255 for i in range(8)], c & 3
    tables = {"f4e": [n, n + 1, n + 2, n + 3], "b4e": [n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8], "rc8": [n] * 4}
    tables["ecl"] = [max(i, n) for i in range(4)]
    tables["ecr"] = [min(i, n) for i in range(4)]
    tables["rc16"] = [2, 3, 2, 3] if n & 1 else [0, 1, 0, 1]
    if words[-1] in tables:
        return sum(source[k] << 8 * i for i, k in enumerate(tables[words[-1]]))
    out = 0
    for i in range(4):
        pick = c >> 4 * i & 15
        byte = source[pick & 7]
        out |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * i
    return out


@meaning("shl", "shr", "shf")
def shifts(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = types(words)[-1]
    bits = width(t)
    mask = (1 << bits) - 1
    if words[0] == "shf":
        n, both = min(v[2], 32) if "clamp" in words else v[2] & 31, v[0] | v[1] << 32
        return (both << n >> 32 & mask if "l" in words else both >> n & mask,)
    n = min(v[1], bits)
    return ((read(v[0], t) >> n if words[0] == "shr" else v[0] << n) & mask,)


@meaning("cvt.pack")
def cvt_pack(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = words[3]
    bits = width(t)
    mask = (1 << bits) - 1
    low = (clamped(signed(v[0], 32), t) & mask) << bits | clamped(signed(v[1], 32), t) & mask
    return (low | (v[2] << 2 * bits & 0xFFFFFFFF if len(v) > 2 else 0),)


# --- video ------------------------------------------------------------------------------------------------------------


def selector(text: str) -> str:
    return text.partition(".")[2]


def part(code: int, t: str, select: str) -> int:
    """A byte, a half or all of a word, extended as its type says."""
    bits = {"b": 8, "h": 16, "": 32}[select[:1]]
    return read(code >> bits * int(select[1:] or 0), t[0] + str(bits))


def compared(name: str, a: int, b: int) -> bool:
    order = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    return (order | {"lo": a < b, "ls": a <= b, "hi": a > b, "hs": a >= b})[name]


def shifted(words: Words, a: int, b: int) -> int:
    n = min(b, 32) if "clamp" in words else b & 31
    return a << n if words[0].startswith("vshl") else a >> n


def operated(words: Words, a: int, b: int) -> int:
    name = words[0].rstrip("24")
    if name in ("vshl", "vshr"):
        return shifted(words, a, b)
    if name == "vset":
        return int(compared(words[3], a, b))
    average = (a + b + (a + b >= 0)) >> 1
    whole = {"vadd": a + b, "vsub": a - b, "vabsdiff": abs(a - b), "vmin": min(a, b), "vmax": max(a, b)}
    return (whole | {"vavrg": average})[name]


@meaning("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")
def video(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    kinds = ["u32", *types(words)] if words[0] == "vset" else types(words)
    into = selector(texts[0])
    n = operated(words, part(v[0], kinds[1], selector(texts[1])), part(v[1], kinds[2], selector(texts[2])))
    bits = {"b": 8, "h": 16, "": 32}[into[:1]]
    if "sat" in words:
        n = clamped(n, kinds[0][0] + str(bits))
    if len(v) > 2 and not into:
        c = read(v[2], kinds[0])
        n = {"add": n + c, "min": min(n, c), "max": max(n, c)}[words[-1]]
    elif into:
        at = bits * int(into[1:])
        field = (1 << bits) - 1 << at
        n = v[2] & ~field | n << at & field
    return (n & 0xFFFFFFFF,)


@meaning("vmad")
def multiply_add(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    ta, tb = types(words)[1:]
    minus, c_minus = texts[1].startswith("-") != texts[2].startswith("-"), texts[3].startswith("-")
    final = "s32" if "s32" in (ta, tb) or minus or c_minus else "u32"
    total = part(v[0], ta, selector(texts[1])) * part(v[1], tb, selector(texts[2]))
    c, one = v[2], int("po" in words)
    if minus:
        total, one = ~total, 1
    elif c_minus:
        c, one = ~c & 0xFFFFFFFF, 1
    total += read(c, final) + one
    total >>= 7 if "shr7" in words else 15 if "shr15" in words else 0
    return ((clamped(total, final) if "sat" in words else total) & 0xFFFFFFFF,)


@meaning(*(f"{name}{n}" for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset") for n in "24"))
def parallel(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    count = int(words[0][-1])
    bits = 32 // count
    kinds = ["u32", *types(words)] if words[0].startswith("vset") else types(words)
    both, mask = v[0] | v[1] << 32, (1 << bits) - 1
    usual = (("10", "32"), ("3210", "7654"))[count == 4]

    def elements(i: int) -> list[int]:
        order = selector(texts[i + 1])[1:] or usual[i]
        return [read(both >> bits * int(k), kinds[i + 1][0] + str(bits)) for k in reversed(order)]

    chosen = selector(texts[0])[1:] or usual[0]
    out = v[2] if "add" in words else 0
    for i, (a, b) in enumerate(zip(elements(0), elements(1), strict=True)):
        n = operated(words, a, b)
        n = clamped(n, kinds[0][0] + str(bits)) if "sat" in words else n
        if "add" in words:
            out += n if str(i) in chosen else 0
        else:
            out |= (n if str(i) in chosen else v[2] >> bits * i) % (mask + 1) << bits * i
    return (out & 0xFFFFFFFF,)
