"""The asm statements of a file as plain facts: text, operands, clobbers, and the bytes they stand on.

The text is what the assembler would see before operands are put in: adjacent literals joined, escapes decoded, the
file's own simple macros replaced. Where it depends on something that the file does not settle (a conditional inside
the statement, a macro defined twice, a parameter of the macro around it), there is one reading for each case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from cu2port.core.model import Span
from cu2port.facts.asm_macros import is_volatile
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.ptx.asm_branches import MOST_READINGS, TOO_MANY, branches_in, ways_through
from cu2port.ptx.calls import Call, calls, macro_around
from cu2port.ptx.macros import Macros, UnknownTextError, bodies_of, definitions_at, live_definitions
from cu2port.syntax.lexer import Group, is_identifier, is_string
from cu2port.syntax.strings import decode

#: Letters of CUDA's operand constraints; anything else is another assembler's statement.
LETTERS = frozenset("hrlqfdnCb")


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its constraint (`=r`, `+f`, `=&l`, `n`), its name (`[x]`) or "", and the bytes of its expression."""

    constraint: str
    name: str
    expr: Span

    @property
    def letter(self) -> str:
        """The constraint's letter, without modifiers; `?NAME` where a macro of another file holds it."""
        return self.constraint.lstrip("=+&%")

    @property
    def output(self) -> bool:
        return self.constraint[:1] in ("=", "+")

    @property
    def read(self) -> bool:
        """Whether the statement may read it: an input, or `+`."""
        return not self.constraint.startswith("=")

    @property
    def early(self) -> bool:
        """Whether it is written before all inputs are read."""
        return "&" in self.constraint


@dataclass(frozen=True, slots=True)
class Reading:
    """What a statement says, everything it depends on being settled.

    `text` is decoded; `%%` and `%0` stand as written. `where`: what was settled how, in text order: conditional
    branches of the statement, macros with several definitions, parameters of the macro around it. `taken`: the
    directives, by their number in the file, that open those branches.
    """

    text: str
    operands: tuple[Operand, ...] = ()
    clobbers: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    taken: tuple[int, ...] = ()

    @property
    def outputs(self) -> int:
        """How many operands are outputs; they come first."""
        return sum(o.output for o in self.operands)

    @property
    def memory(self) -> bool:
        return "memory" in self.clobbers


@dataclass(frozen=True, slots=True)
class AsmStatement:
    """One asm statement. `keyword`, `open`, `close` are token indices; `span` is its bytes without the semicolon.

    `readings` is empty when the text cannot be known, and `problem` tells why. `macro`: the definition it is in.
    `params`: parameters of that macro which the text depends on; then there is a reading for each call of the macro.
    `numbers`: the one reading in which such parameters, standing where PTX needs numbers, are operands of constraint
    "n", or None; whether the text allows that, lifting tells. `hints`: of a macro that nothing calls here, readings
    with what may be in such places: a group for each text of the others, in which any that lifts will do.
    `basic`: no colon, so no operands.
    """

    keyword: int
    open: int
    close: int
    span: Span
    volatile: bool
    basic: bool
    readings: tuple[Reading, ...] = ()
    problem: str = ""
    macro: Macro | None = None
    params: tuple[str, ...] = ()
    numbers: Reading | None = None
    hints: tuple[tuple[Reading, ...], ...] = ()

    @property
    def shown(self) -> Reading | None:
        """One of the ways to read it, to say what it is about."""
        return self.readings[0] if self.readings else self.hints[0][0] if self.hints else self.numbers

    @property
    def foreign(self) -> bool:
        """Whether it is another machine's assembly: an operand has a constraint that CUDA does not know."""
        return bool(self.readings) and all(
            any(o.letter not in LETTERS and o.letter[:1] != "?" for o in r.operands) for r in self.readings
        )


def statements(unit: Unit) -> tuple[AsmStatement, ...]:
    """All asm statements of a file, in text order; assembler names of declarations (`int f() asm("g")`) left out."""
    return tuple(s for at in unit.asms if (s := _statement(unit, *at)) is not None)


def _statement(unit: Unit, keyword: int, opener: int, close: int) -> AsmStatement | None:
    if _is_label(unit, keyword, opener, close):
        return None
    macro = macro_around(unit, keyword)
    readings: tuple[Reading, ...] = ()
    params: tuple[str, ...] = ()
    numbers: Reading | None = None
    hints: tuple[tuple[Reading, ...], ...] = ()
    problem = ""
    try:
        branches = () if macro is not None else branches_in(unit, opener, close)
        params = _text_params(unit, macro, opener, close)
        numbers = _numbers(unit, opener, close, macro, params) if macro is not None and params else None
        readings = tuple(_readings(unit, opener, close, branches, macro, params))
        if not readings and macro is not None:
            hints = _hints(unit, opener, close, params)
            raise UnknownTextError(f"its text depends on a parameter of `{macro.name}`, which nothing calls here")
    except UnknownTextError as e:
        problem = str(e)
    return AsmStatement(
        keyword,
        opener,
        close,
        Span(unit.p[keyword], unit.end(close)),
        volatile=is_volatile(unit, keyword, opener),
        basic=not any(unit.t[k] in (":", "::") for k in _top_level(unit, range(opener + 1, close))),
        readings=readings,
        problem=problem,
        macro=macro,
        params=params,
        numbers=numbers,
        hints=hints,
    )


def _is_label(unit: Unit, keyword: int, opener: int, close: int) -> bool:
    """Whether this names a declared symbol instead of being a statement."""
    if close != opener + 2 or not is_string(unit.t[opener + 1]):
        return False
    last = keyword - 1
    while (d := unit.in_directive(last)) is not None and unit.in_directive(keyword) is None:
        last = d.first - 1
    before = unit.tok(last)
    if before == ")":
        k = unit.match[last]
        if k > 0 and unit.tok(k - 1) in ("if", "while", "for", "switch"):
            return False
    elif before != "]" and (not before or not is_identifier(before) or before in ("else", "do")):
        return False
    return ";" not in unit.t[opener + 1] and " " not in unit.t[opener + 1]


def macro_texts(unit: Unit, s: AsmStatement) -> str:
    """The literals of the macros that a statement's text is built by."""
    top = _top_level(unit, range(s.open + 1, s.close))
    end = next((k for k in top if unit.t[k] in (":", "::")), s.close)
    out, seen, todo = [], set[str](), unit.t[s.open + 1 : end]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for body in bodies_of(unit, name):
            out += [word for word in body if is_string(word)]
            todo += body
    return " ".join(out)


def _top_level(unit: Unit, indices: Sequence[int]) -> list[int]:
    """Those of the ascending token indices that no bracket among them encloses; brackets are left out."""
    out = []
    n = 0
    t, match = unit.t, unit.match
    while n < len(indices):
        k = indices[n]
        if t[k] in ("(", "[", "{") and match[k] > k:
            n = bisect_right(indices, match[k], n)
            continue
        out.append(k)
        n += 1
    return out


# --- what a text depends on -------------------------------------------------------------------------------------------


def _text_params(unit: Unit, macro: Macro | None, opener: int, close: int) -> tuple[str, ...]:
    """Parameters of the macro around a statement that its text or constraints are built from."""
    if macro is None or not macro.params:
        return ()
    names = frozenset(macro.params) | ({"__VA_ARGS__"} if "..." in macro.params else frozenset())
    top = _top_level(unit, range(opener + 1, close))
    end = next((k for k in top if unit.t[k] in (":", "::")), close)
    text = range(opener + 1, end)  # what is in brackets there is given to another macro
    return tuple(dict.fromkeys(unit.t[k] for k in (*text, *(k for k in top if k >= end)) if unit.t[k] in names))


def _readings(
    unit: Unit, opener: int, close: int, branches: tuple[Group, ...], macro: Macro | None, params: tuple[str, ...]
) -> Iterator[Reading]:
    found = list(calls(unit, macro, params)) if params and macro is not None else [Call({}, ())]
    count = 0
    for taken in ways_through(unit, branches):
        skipped = [g for g in branches if g not in taken]
        indices: Sequence[int] = range(opener + 1, close)
        if branches:
            indices = [
                k
                for k in indices
                if unit.in_directive(k) is None and not any(s.start <= unit.p[k] < s.end for s in skipped)
            ]
        where = tuple(("branch", unit.text[d.start : d.end]) for g in taken for d in (unit.directives[g.opener],))
        several = _several(unit, indices)
        for definitions in product(*several.values()):
            chosen = dict(zip(several, definitions, strict=True))
            options = (m for m, of in zip(definitions, several.values(), strict=True) if len(of) > 1)
            macros = tuple(("macro", unit.text[m.directive.start : m.directive.end]) for m in options)
            for call in found:
                count += 1
                if count > MOST_READINGS * len(found):
                    raise UnknownTextError(TOO_MANY)
                reading = _read(unit, indices, Macros(unit, chosen), call.env, (*where, *macros, *call.where))
                yield replace(reading, taken=tuple(g.opener for g in taken)) if taken else reading


def _several(unit: Unit, indices: Sequence[int]) -> dict[str, tuple[Macro, ...]]:
    """Macros that the tokens outside of brackets lead to and that have several different definitions; of these, the
    ones that this place may see."""
    out: dict[str, tuple[Macro, ...]] = {}
    seen: set[str] = set()
    todo = [unit.t[k] for k in _top_level(unit, indices)] if unit.macros else []
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in unit.macros:
            todo += (word for body in bodies_of(unit, name) for word in body)
            continue
        seen_here = definitions_at(unit, name, unit.p[indices[0]])
        bodies = {tuple(unit.t[m.first : m.stop]): m for m in reversed(seen_here)}
        if bodies.keys() == {('"l"',), ('"r"',)}:  # a pointer's constraint: HIP has 64-bit pointers
            bodies = {('"l"',): bodies[('"l"',)]}
        if len(bodies) > 1 or ('"l"',) in bodies or len(seen_here) < len(live_definitions(unit, name)):
            out[name] = tuple(reversed(bodies.values()))
        for body in bodies:
            todo.extend(body)
    return out


_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)[uU]?\Z")


def _numbers(unit: Unit, opener: int, close: int, macro: Macro, params: tuple[str, ...]) -> Reading | None:
    """The text with `#parameter`s as operands `%[parameter]`; None where a call gives one something else than a number,
    or where a parameter stands there without a `#`."""
    indices = range(opener + 1, close)
    places: dict[str, Span] = {}
    for k in _top_level(unit, indices):
        if unit.t[k] in params:
            if unit.t[k - 1] != "#" or "##" in (unit.t[k - 2], unit.t[k + 1]):
                return None
            places[unit.t[k]] = Span(unit.p[k], unit.end(k))
    if places.keys() != set(params):
        return None
    try:
        found = calls(unit, macro, params)
        if not all(_INTEGER.match("".join(call.env[p])) for call in found for p in params):
            return None
        spelled = {p: [f"%[{p}]"] for p in params}
        reading = _read(unit, indices, Macros(unit, {}), spelled, ())
    except UnknownTextError:
        return None
    if any(o.name in params for o in reading.operands) or _several(unit, indices):
        return None
    return replace(reading, operands=(*reading.operands, *(Operand("n", p, places[p]) for p in params)))


def _hints(unit: Unit, opener: int, close: int, params: tuple[str, ...]) -> tuple[tuple[Reading, ...], ...]:
    """Readings of a load or store whose parameters stand where only hints of a cache may, or `.nc`, or nothing.

    Behind `L1::` and `L2::` any text that an assembler takes is a hint, which no result depends on. A parameter right
    behind `ld.global` may say more: those texts are cases of their own.
    """
    indices = range(opener + 1, close)
    hints: list[str] = []
    others: list[str] = []
    for k in _top_level(unit, indices):
        if unit.t[k] not in params:
            continue
        before = decode(unit.t[k - 1]) if is_string(unit.t[k - 1]) else ""
        if not before.endswith(("::", "ld.global")) or not is_string(unit.tok(k + 1)):
            return ()
        (hints if before.endswith("::") else others).append(unit.t[k])
    groups = []
    for texts in product(("", ".nc"), repeat=len(others)):
        where = tuple(("parameter", f'{p}="{text}"') for p, text in zip(others, texts, strict=True))
        ways = product(("evict_normal", "128B"), repeat=len(hints))
        envs = ({p: [f'"{x}"'] for p, x in zip((*others, *hints), (*texts, *way), strict=True)} for way in ways)
        groups.append(tuple(_read(unit, indices, Macros(unit, {}), env, where) for env in envs))
    return tuple(groups)


# --- reading one case -------------------------------------------------------------------------------------------------


def _read(
    unit: Unit,
    indices: Sequence[int],
    macros: Macros,
    env: Mapping[str, list[str]],
    where: tuple[tuple[str, str], ...],
) -> Reading:
    """The statement made of these tokens. Raises UnknownTextError where it has another shape or unknown words."""
    sections: list[list[int]] = [[]]
    top = frozenset(_top_level(unit, indices))
    for k in indices:
        if k in top and unit.t[k] in (":", "::"):
            sections.extend([] for _ in unit.t[k])
        else:
            sections[-1].append(k)
    text = _literals(macros.expand([unit.t[k] for k in sections[0]], env))
    if len(sections) > 5:
        raise UnknownTextError("it has more colons than an asm statement")
    operands = [_operand(unit, item, macros, env, s is sections[1]) for s in sections[1:3] for item in _items(unit, s)]
    clobbers = [
        _literals(macros.expand([unit.t[k] for k in item], env)) for s in sections[3:4] for item in _items(unit, s)
    ]
    return Reading(text, tuple(operands), tuple(clobbers), where)


def _items(unit: Unit, section: list[int]) -> list[list[int]]:
    """A section's tokens, split at its commas (nvcc does not mind if one is missing between two operands)."""
    items: list[list[int]] = [[]]
    top = frozenset(_top_level(unit, section))
    for n, k in enumerate(section):
        if k in top and unit.t[k] == ",":
            items.append([])
        elif k in top and n and unit.t[section[n - 1]] == ")" and is_string(unit.t[k]):
            items.append([k])
        else:
            items[-1].append(k)
    return [item for item in items if item]


def _operand(unit: Unit, item: list[int], macros: Macros, env: Mapping[str, list[str]], output: bool) -> Operand:
    name = ""
    if unit.t[item[0]] == "[":
        if len(item) < 4 or unit.t[item[2]] != "]":
            raise UnknownTextError("an operand's name cannot be read")
        name, item = unit.t[item[1]], item[3:]
    close = item[-1] if item else -1
    opener = unit.match[close] if close >= 0 and unit.t[close] == ")" else -1
    if opener not in item or opener + 1 >= close:
        raise UnknownTextError("its operands come from a macro")
    words = macros.expand([unit.t[k] for k in item[: item.index(opener)]], env)
    unknown = words[-1] if words and is_identifier(words[-1]) else ""
    if unknown:  # whose letter the operand's type tells
        words[-1:] = [f'"?{unknown}"']
    constraint = _literals(words)
    if unknown and output != constraint.startswith(("=", "+")):
        raise UnknownTextError(f"`{unknown}` is no string literal and no macro of this file")
    return Operand("".join(constraint.split()), name, Span(unit.p[opener + 1], unit.end(close - 1)))


def _literals(tokens: list[str]) -> str:
    """Adjacent string literals as one text. Raises UnknownTextError where anything else stands among them."""
    while len(tokens) >= 2 and tokens[0] == "(" and tokens[-1] == ")":
        tokens = tokens[1:-1]
    out = []
    for tok in tokens:
        if not is_string(tok):
            raise UnknownTextError(f"`{tok}` is no string literal and no macro of this file")
        out.append(decode(tok))
    return "".join(out)
