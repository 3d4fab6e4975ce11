"""Rows: `@ptx` declares one, `find` matches an opcode to its row. The package says how to write one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from itertools import product
from pkgutil import iter_modules
from types import ModuleType

from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import Value

Example = tuple[tuple[int, ...], int | tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Slot:
    """An operand of a row. `type`: as written in the syntax line, resolved by `Row.type_of`.

    `select`: the name under which the meaning gets what stands behind the operand's dot, as `b0` of `r.b0`.
    """

    name: str
    type: str
    form: str = ""  # "[" address, "{" vector or scalar, "imm" constant, "?" predicate too, "" plain
    optional: bool = False
    select: str = ""


@dataclass(frozen=True)
class Row:
    """One instruction form: its syntax, its meaning, its examples."""

    syntax: str
    root: str
    targets: tuple[Slot, ...]
    sources: tuple[Slot, ...]
    meaning: Callable[..., Value | tuple[Value, ...]]
    ref: str
    examples: Mapping[str, Sequence[Example]]
    reads: str = ""
    writes: str = ""
    helper: bool = False
    call: str = ""
    sm: int = 0
    bound: str = ""  # how far an approximation may be off, as "2 ulp", "relative 2^-22", "absolute 2^-20.5"
    fixed: Mapping[str, object] = field(default_factory=dict)  # bindings of this row beside its modifiers

    @cached_property
    def wants(self) -> tuple[str, ...]:
        """The names of the meaning's parameters."""
        return tuple(inspect.signature(self.meaning).parameters)

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The same, to look in."""
        return frozenset(self.wants)

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str], frozenset[str]]:
        """Made when a row is first looked at: a file uses few of hundreds."""
        return _pattern(self.syntax.partition(" ")[0])

    @property
    def opcode(self) -> re.Pattern[str]:
        """What matches the opcodes of the row."""
        return self._pattern[0]

    @property
    def flags(self) -> frozenset[str]:
        """Modifiers that are there or not."""
        return self._pattern[1]

    def type_of(self, slot: Slot, bindings: Mapping[str, object]) -> Type:
        """The type that a slot has for these modifiers."""
        name = slot.type
        if name != "parts(t)" and name.endswith(")"):
            function, _, inner = name[:-1].partition("(")
            base = bindings.get(inner) or TYPES[inner]
            assert isinstance(base, Type)
            if function == "wide":
                return base.wide
            return base.to_signed if function == "signed" else base.unsigned
        if name == "parts(t)":
            name = "t"
        bound = bindings.get(name)
        if isinstance(bound, Type):
            return bound
        return TYPES[name]


_MODIFIER = re.compile(
    r"\{\.\{?(?:(?P<oname>\w+):)?(?P<ochoice>[\w:|.]+?)\}?\}|\.\{(?P<name>\w+):(?P<choice>[\w:|.]+)\}"
)


def _pattern(opcode: str) -> tuple[re.Pattern[str], frozenset[str]]:
    """The regular expression of an opcode's syntax, `.{name:x|y}`, `{.name:x|y}`, `{.flag}`; and its flags."""
    out, at, flags = "", 0, set()
    for m in _MODIFIER.finditer(opcode):
        out += re.escape(opcode[at : m.start()])
        if m["name"]:
            out += rf"\.(?P<{m['name']}>{'|'.join(map(re.escape, m['choice'].split('|')))})"
        else:
            name = m["oname"] or re.sub(r"\W", "_", m["ochoice"])
            if not m["oname"]:
                flags.add(name)
            out += rf"(?:\.(?P<{name}>{'|'.join(map(re.escape, m['ochoice'].split('|')))}))?"
        at = m.end()
    return re.compile(out + re.escape(opcode[at:])), frozenset(flags)


def _slots(text: str, default: str) -> tuple[Slot, ...]:
    out = []
    for word in text.split("|"):
        optional = word.startswith("?")
        name, _, type_ = word.removeprefix("?").strip().partition(":")
        form = ""
        if name[0] in "[{":
            form, name = name[0], name[1:-1]
        if type_ in ("imm", "label", "call"):  # a constant, a label's name, everything that a call has
            form, type_ = type_, "s64"
        if type_.endswith("?pred"):
            form, type_ = "?", type_.removesuffix("?pred")
        name, _, select = name.partition(".")
        if ";" in name:  # an address with coordinates
            form, (name, select) = "[;", name.split(";")
        out.append(Slot(name, type_ or ("pred" if name in "pq" else default), form, optional, select))
    return tuple(out)


def ptx(
    syntax: str,
    *,
    ref: str,
    examples: Mapping[str, Sequence[Example]] | None = None,
    reads: str = "",
    writes: str = "",
    helper: bool = False,
    call: str = "",
    sm: int = 0,
    bound: str = "",
    fixed: Mapping[str, object] | None = None,
) -> Callable[[Callable[..., Value | tuple[Value, ...]]], Callable[..., Value | tuple[Value, ...]]]:
    """Declares that `syntax` means what the function under the decorator builds. One function may carry several rows.

    `ref`: the anchor of the manual's section. `helper`: emitted as a call of a function in ptx.hpp unless constants
    make it short. `call`: emitted as a call of this function of ptx.hpp always, the carry flag its last argument
    where the row has to do with it. `sm`: the first GPU that has it, where that is above 70. `bound`: the error
    that the manual allows an approximation; the meaning is then the number nearest to the function's value. `fixed`:
    what else the function gets by name, where several instructions share it.
    """
    opcode, _, rest = syntax.partition(" ")
    first, *others = [part.strip() for part in rest.split(",")] if rest else [""]
    written = re.split(r"[:|.}\]]", first.lstrip("{["))[0] in ("d", "p", "q") and first[0] != "["
    sources = others if written else [part for part in (first, *others) if part]

    def declare(meaning: Callable[..., Value | tuple[Value, ...]]) -> Callable[..., Value | tuple[Value, ...]]:
        row = Row(
            syntax,
            opcode.partition(".")[0].partition("{")[0],
            _slots(first, "t") if written else (),
            tuple(slot for part in sources for slot in _slots(part, "t")),
            meaning,
            ref,
            dict(examples or {}),
            reads,
            writes,
            helper,
            call,
            sm,
            bound,
            dict(fixed or {}),
        )
        rows: list[Row] = meaning.__dict__.setdefault("ptx_rows", [])
        rows.insert(0, row)
        return meaning

    return declare


def forms(row: Row) -> Iterator[tuple[str, Match]]:
    """Every opcode that a row's syntax line stands for, with its match."""
    opcode = row.syntax.partition(" ")[0]
    choices: list[list[str]] = []
    at = 0
    for m in _MODIFIER.finditer(opcode):
        choices.append([opcode[at : m.start()]])
        words = (m["choice"] or m["ochoice"]).split("|")
        choices.append([f".{word}" for word in words] if m["name"] else ["", *(f".{word}" for word in words)])
        at = m.end()
    choices.append([opcode[at:]])
    for parts in product(*choices):
        text = "".join(parts)
        found = row.opcode.fullmatch(text)
        assert found is not None
        yield text, _matched(row, found)


@dataclass(frozen=True, slots=True)
class Match:
    """An opcode with its row; `bindings`: modifier name -> Type, text, or bool for a flag; `given`: those it wants."""

    row: Row
    bindings: Mapping[str, object]
    given: Mapping[str, object]


def _rows_of(module: ModuleType) -> list[Row]:
    return [
        row
        for item in vars(module).values()
        for row in getattr(item, "ptx_rows", ())
        if getattr(item, "__module__", "") == module.__name__
    ]


@cache
def rows() -> tuple[Row, ...]:
    """Every row, by module and in the order of declaration."""
    package = import_module("cu2port.ptx")
    names = sorted(m.name for m in iter_modules(package.__path__) if m.name.startswith("isa_"))
    return tuple(row for name in names for row in _rows_of(import_module(f"cu2port.ptx.{name}")))


@cache
def _by_root() -> Mapping[str, tuple[Row, ...]]:
    out: dict[str, tuple[Row, ...]] = {}
    for row in rows():
        out[row.root] = (*out.get(row.root, ()), row)
    return out


@cache
def find(opcode: str, operands: int = -1) -> Match | None:
    """The row that an opcode with its modifiers belongs to, or None. `operands`: how many there are, -1: any.

    Modifiers may be in another order than in the manual, which assemblers accept; types and layouts may not.
    """
    candidates = [row for row in _by_root().get(opcode.partition(".")[0], ()) if _takes(row, operands)]
    for row in candidates:
        found = row.opcode.fullmatch(opcode)
        if found is not None:
            return _matched(row, found)
    for row in candidates:
        found = row.opcode.fullmatch(_in_order(row, opcode))
        if found is not None:
            return _matched(row, found)
    return None


def spelled(row: Row, opcode: str) -> str:
    """An opcode of a row with its modifiers in the manual's order."""
    return opcode if row.opcode.fullmatch(opcode) else _in_order(row, opcode)


def _takes(row: Row, operands: int) -> bool:
    if operands < 0 or (row.sources and row.sources[0].form == "call"):
        return True
    most = len(row.sources) + (1 if row.targets else 0)
    return most - sum(slot.optional for slot in row.sources) <= operands <= most


def _in_order(row: Row, opcode: str) -> str:
    """The opcode with its modifiers as a row's syntax line orders them; "" if they are not the row's."""
    rest = opcode.split(".")[1:]
    pattern = row.syntax.partition(" ")[0]
    out, at = [row.root], 0

    def take(choices: Iterable[str]) -> bool:
        for choice in choices:
            words = choice.split(".")
            for i in range(len(rest) - len(words) + 1):
                if rest[i : i + len(words)] == words:
                    del rest[i : i + len(words)]
                    out.append(choice)
                    return True
        return False

    for m in _MODIFIER.finditer(pattern):
        if not all(take((word,)) for word in pattern[at : m.start()].split(".")[1:]):
            return ""
        # of several types that fit, the first that is written
        choices = sorted((m["choice"] or m["ochoice"]).split("|"), key=lambda c: _place(rest, c))
        if not take(choices) and m["name"]:
            return ""
        at = m.end()
    if not all(take((word,)) for word in pattern[at:].split(".")[1:]) or rest:
        return ""
    ordered = ".".join(out)
    return ordered if _by_operand(ordered) == _by_operand(opcode) else ""


def _by_operand(opcode: str) -> list[str]:
    """The types and layouts of an opcode. Their order says which operand each is of: `set.eq.f16.u16` is not
    `set.eq.u16.f16`, and a product of `.row.col` is not one of `.col.row`."""
    return [word for word in opcode.split(".")[1:] if word in TYPES or word in ("row", "col")]


def _place(words: Sequence[str], choice: str) -> int:
    first = choice.partition(".")[0]
    return words.index(first) if first in words else len(words)


def _matched(row: Row, found: re.Match[str]) -> Match:
    bindings = _bindings(row, found)
    return Match(row, bindings, {name: bindings[name] for name in row.wants if name in bindings})


def _bindings(row: Row, found: re.Match[str]) -> Mapping[str, object]:
    out: dict[str, object] = dict(row.fixed)
    for name, text in found.groupdict().items():
        if name in row.flags:
            out[name] = text is not None
        else:
            t = TYPES.get(text or "")
            out[name] = text or "" if t is None else TYPES["u" + t.name[1:]] if re.fullmatch(r"b\d+", t.name) else t
    return out
