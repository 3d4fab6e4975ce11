"""What tokens form: macros, functions, launches, calls, includes, and how functions and launches are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from cu2port.core.late import dataclass, regex
from cu2port.core.model import Span
from cu2port.syntax.lexer import NEAR, Directive, is_identifier
from cu2port.syntax.scopes import Head
from cu2port.syntax.words import EXECUTION_SPACES

if TYPE_CHECKING:
    from cu2port.facts.tokens import Tokens
    from cu2port.facts.unit import Unit

_MAY_LAUNCH = re.compile(r"<<(?:<|[ \t\f\v\r\n]*(?:<|/[/*]|\\))")
_DEFINITION = regex(r"define\b(?:[^\r\n\\/]|\\(?:\r\n|[\s\S])|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|/)*+")
_WORD = r"([A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)"
# each begins with text, which is found fast
_TYPE_PARAMETERS = tuple(
    re.compile(pattern)
    for pattern in (
        *(rf"{word}{NEAR}{_WORD}(?={NEAR}(?:[,>=]|::))" for word in ("class", "typename")),
        rf"using{NEAR}{_WORD}{NEAR}={NEAR}typename",
    )
)
_APART = regex(r"::(?<=[ \t\f\v\r\n/]::)")  # where a gap is before it
_ANY_NAME = regex(r"[\w$\x80-\xff]+")
_FEW_NAMES = 32  # so many searches of a text cost less than one for any name
_LONGEST_LAUNCH = 4000  # tokens of its configuration
SIDES = EXECUTION_SPACES


@dataclass(frozen=True, slots=True)
class Macro:
    """`#define name(params) body`: `params` is None for an object-like macro; body is tokens [first, stop)."""

    name: str
    params: tuple[str, ...] | None
    first: int
    stop: int
    directive: Directive


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition: indices of its first token (`template`, a specifier), its name, the brackets of its
    parameters and of its body. `name`: `f`, `operator+`, `~A`, `f_##T` of one that a macro names. `sides`: which of
    `__global__`, `__device__`, `__host__` it carries."""

    name: str
    first: int
    name_at: int
    params: tuple[int, int]
    body: tuple[int, int]
    sides: frozenset[str]


@dataclass(frozen=True, slots=True)
class Launch:
    """`callee<<<config>>>(args)`: token indices of the callee's first token, of `<<<`, of the first `>` of `>>>`
    and of the brackets of the arguments (-1, -1 if there are none). `spaced`: written `<< <`, as nvcc allows."""

    callee: int
    open: int
    close: int
    args: tuple[int, int]
    spaced: bool

    @property
    def config_first(self) -> int:
        """The first token after `<<<`."""
        return self.open + (2 if self.spaced else 1)


@dataclass(frozen=True, slots=True)
class Call:
    """A call's brackets (token indices) and the byte spans of its arguments, without surrounding white space."""

    open: int
    close: int
    args: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Include:
    """`#include "path"` or `<path>`. `start`, `end`: bytes of the operand with its delimiters."""

    path: str
    quoted: bool
    start: int
    end: int
    directive: Directive


def find_functions(unit: Unit) -> tuple[Function, ...]:
    """Function definitions in text order, also those in macro bodies; not those nested in another."""
    return tuple(
        Function(h.text, h.first, h.at, h.params, h.body, _sides(unit, h)) for h in unit.declarations.functions()
    )


def _sides(unit: Unit, head: Head) -> frozenset[str]:
    """The execution spaces that the specifiers of a function name, also through macros of the file."""
    words = unit.t[head.first : head.at]
    return SIDES.intersection(words).union(*(unit.side_macros[w] for w in words if w in unit.side_macros))


def may_be_in_macro(text: str, *parts: str | re.Pattern[str]) -> bool:
    """Whether a macro's definition may hold all of some signs or words, as `;`, and what matches some patterns, told
    without the lexer. False is certain."""
    if "define" not in text or any(isinstance(part, str) and part not in text for part in parts):
        return False
    return 'R"' in text or any(all(_holds(m[0], part) for part in parts) for m in _DEFINITION.finditer(text))


def _holds(text: str, part: str | re.Pattern[str]) -> bool:
    return part in text if isinstance(part, str) else part.search(text) is not None


def may_name_dependent(unit: Unit, behind: re.Pattern[str], begins: Callable[[str, int], bool] | None = None) -> bool:
    """Whether a type parameter of a template may stand before what a pattern matches, which begins with a gap and `::`,
    where `begins(text, offset)` holds for its place, told without the lexer. False is certain."""
    text = unit.text
    names = unit.once(_type_parameters)
    sign = "::" if names and _APART.search(text) is None else ""
    return any(
        behind.match(text, end) is not None and (begins is None or begins(text, at))
        for at, end in (_places if len(names) <= _FEW_NAMES else _places_of_many)(text, names, sign)
    )


def _places(text: str, names: Iterable[str], sign: str) -> Iterator[tuple[int, int]]:
    """Where names that a sign follows begin and end, those that end a longer name among them."""
    for name in names:
        at = text.find(name + sign)
        while at >= 0:
            yield at, at + len(name)
            at = text.find(name + sign, at + len(name))


def _places_of_many(text: str, names: Iterable[str], sign: str) -> Iterator[tuple[int, int]]:
    """The same of whole names alone, with one search for all of them."""
    wanted = frozenset(names)
    for m in _ANY_NAME.finditer(text):
        if m[0] in wanted and text.startswith(sign, m.end()):
            yield m.span()


def _type_parameters(unit: Unit) -> tuple[str, ...]:
    """What may be type parameters of templates, or named after one."""
    text = unit.text
    found = _TYPE_PARAMETERS if "template" in text else ()
    return tuple(sorted({m[1] for pattern in found for m in pattern.finditer(text)}))


def find_launches(unit: Tokens) -> tuple[Launch, ...]:
    """Kernel launches, also those in macro bodies."""
    if _MAY_LAUNCH.search(unit.text) is None:
        return ()
    out = []
    t = unit.t
    closes: dict[int, int] = {}
    known: dict[int, int] = {}
    for i in reversed(unit.find("<<<", "<<")):  # one inside the configuration of another comes first
        if t[i] == "<<<":
            spaced = False
        elif unit.tok(i + 1) == "<" and i and (is_identifier(t[i - 1]) or t[i - 1] == ">"):
            spaced = True
        else:
            continue
        close = _launch_close(unit, i + (2 if spaced else 1), closes, known)
        if close < 0:
            continue
        known[i] = close
        k = i - 1
        if k >= 0 and t[k] == ">":
            k = unit.angle_open(k) - 1
        elif k >= 0 and t[k] == ")" and unit.match[k] >= 0:
            k = unit.match[k] - 1 if is_identifier(unit.tok(unit.match[k] - 1)) else unit.match[k]
        if k < 0:
            continue
        callee = _object_first(unit, k)
        after = close + 3
        args = (after, unit.match[after]) if unit.tok(after) == "(" and unit.match[after] > 0 else (-1, -1)
        out.append(Launch(callee, i, close, args, spaced))
    return tuple(reversed(out))


def _object_first(unit: Tokens, k: int) -> int:
    """The first token of a name with its qualifiers, members and elements that ends at token k: `a` of `a.b[i].c`, and
    of `a_##n`, which a macro pastes."""
    while True:
        while unit.tok(k) == "]" and unit.match[k] > 0:
            k = unit.match[k] - 1
        k = unit.qualifier(k)
        if unit.tok(k - 1) == "##" and k > 1:
            k -= 2
            continue
        if unit.tok(k - 1) not in (".", "->") or not (is_identifier(unit.tok(k - 2)) or unit.tok(k - 2) == "]"):
            return k
        k -= 2


def _launch_close(unit: Tokens, start: int, closes: dict[int, int], known: dict[int, int]) -> int:
    """Index of the first `>` of the `>>>` that closes a launch configuration starting at token `start`, or -1.

    `closes`: for tokens that were passed before, the `>>>` that follows, or -1; `known`: by their `<<<`, those of the
    launches behind `start`.
    """
    t, match, k, found = unit.t, unit.match, start, -1
    passed = []
    while k < len(t):
        if k in known:
            k = known[k] + 3
            continue
        if k in closes:
            found = closes[k]
            break
        passed.append(k)
        tok = t[k]
        if tok in ("(", "[", "{"):
            k = match[k]
            if k < 0:
                break
        elif tok == ">" and unit.tok(k + 1) == ">" and unit.tok(k + 2) == ">":
            found = k
            break
        elif tok in (")", "]", "}", ";"):
            break
        k += 1
    closes.update(dict.fromkeys(passed, found))
    if not 0 <= found < start + _LONGEST_LAUNCH:
        return -1
    # `kernel<<<f<g<int>>(), 1>>>`: the last three of a run of more close the launch
    while unit.tok(found + 3) == ">" and unit.p[found + 3] == unit.end(found + 2):
        found += 1
    return found
