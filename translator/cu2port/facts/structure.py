"""What tokens form: macros, functions, launches, calls, includes, and how functions and launches are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cu2port.core.model import Span
from cu2port.syntax.lexer import Directive, is_identifier
from cu2port.syntax.words import EXECUTION_SPACES

if TYPE_CHECKING:
    from cu2port.facts.tokens import Tokens
    from cu2port.facts.unit import Unit

_CONTROL = frozenset(
    "if for while switch catch return sizeof alignof alignas decltype defined __launch_bounds__ __attribute__ "
    "__align__ "
    "asm __asm__ noexcept static_assert new delete throw case else do goto requires explicit __maxnreg__ "
    "__cluster_dims__ __block_size__ operator".split()
)
_AFTER_PARAMS = frozenset("const noexcept override final volatile & && mutable try throw".split())
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
    parameters and of its body. `sides`: which of `__global__`, `__device__`, `__host__` it carries."""

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


def function_with_body(unit: Unit, body: int) -> Function | None:  # noqa: C901 - one case for each token that may follow the parameters
    """The function whose body opens at token `body`, or None when that brace opens something else."""
    t, match = unit.t, unit.match
    k = body - 1
    hops = 0
    while k > 0 and hops < 40:
        hops += 1
        tok = t[k]
        if tok == ")" and match[k] > 0:
            before = t[match[k] - 1] if match[k] > 0 else ""
            if before in ("noexcept", "throw", "__attribute__", "requires"):
                k = match[k] - 2
                continue
            break
        if tok in _AFTER_PARAMS:
            k -= 1
        elif is_identifier(tok) or tok in ("->", "::", "*", ">", "<", ","):  # a trailing return type, a macro
            if tok in ("struct", "class", "namespace", "enum", "union", "do", "else", "try", "extern"):
                return None
            k -= 1
        else:
            return None
    else:
        return None
    close, opener = k, match[k]
    name_at = opener - 1
    if name_at < 0:
        return None
    name = t[name_at]
    special = name == ">" and t[name_at - 1] != "operator"
    if special:  # `template <> void f<float>(`
        name_at = unit.angle_open(name_at) - 1
        if name_at < 0:  # an operator of a comparison
            return None
        name = t[name_at]
    if t[name_at - 1] == "operator" if name_at else False:
        name = "operator" + name
    elif name == ")" or name == "]":
        if not (t[name_at - 2 : name_at] == ["operator", "("] or t[name_at - 2 : name_at] == ["operator", "["]):
            return None
        name = "operator" + t[name_at - 1] + name
        name_at -= 2
    elif not is_identifier(name) or name in _CONTROL:
        return None
    first = name_at
    while first > 0 and t[first - 1] not in (";", "{", "}") and unit.in_directive(first - 1) is None:
        if t[first - 1] == ":" and t[first - 2] in ("public", "private", "protected"):
            break
        if t[first - 1] == ":" and first >= 2 and match[first - 2] >= 0:
            return None  # a constructor's initialiser list: `C(...) : a(x) {`
        first -= 1
    sides: set[str] = set()
    for tok in t[first:name_at]:
        if tok in SIDES:
            sides.add(tok)
        elif tok in unit.side_macros:
            sides |= unit.side_macros[tok]
    if (special or t[name_at - 1] in (",", "(", "=", "return")) and not sides:
        return None
    return Function(name, first, name_at, (opener, close), (body, match[body]), frozenset(sides))


def find_launches(unit: Tokens) -> tuple[Launch, ...]:
    """Kernel launches, also those in macro bodies."""
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
        callee = unit.qualifier(k)
        while unit.tok(callee - 1) in (".", "->") and is_identifier(unit.tok(callee - 2)):
            callee = unit.qualifier(callee - 2)
        after = close + 3
        args = (after, unit.match[after]) if unit.tok(after) == "(" and unit.match[after] > 0 else (-1, -1)
        out.append(Launch(callee, i, close, args, spaced))
    return tuple(reversed(out))


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
