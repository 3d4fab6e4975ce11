"""`__shared__` declarations: the block's own memory in place of variables.

`__shared__ T a[N], b;` becomes a struct with these members, found in the running block's memory, and references to
them; `extern __shared__ T s[];` becomes a pointer to the block's dynamic part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_NS = "::cu2port_sim::"
_DROPPED = frozenset({"__shared__", "static", "extern", "__device__"})
_CLASSES = frozenset({"struct", "union", "class"})
_OPENS, _CLOSES = frozenset({"(", ",", "=", "return"}), frozenset({")", ",", ";"})
_NO_POINTER = frozenset({"sizeof", "decltype", "alignof"})
Replace = Callable[[int, int, str], None]


def rewrite_shared(unit: Unit, replace: Replace) -> None:
    """Rewrite the declarations of a file. Static ones in macro bodies and outside functions stay."""
    done = -1
    bodies = sorted((m.first, m.stop) for definitions in unit.macros.values() for m in definitions)
    for n, i in enumerate(unit.find("__shared__")):
        if i < done:
            continue
        in_macro = unit.in_directive(i) is not None
        low, end = bodies[bisect_right(bodies, (i, len(unit.t))) - 1] if in_macro and bodies else (0, len(unit.t))
        first, stop = _start(unit, i, low), _stop(unit, i, end)
        has_end = stop < end  # a macro may leave the `;` to who uses it
        if not low <= i < end or stop < 0 or not (has_end or in_macro):
            continue
        done = stop
        dynamic = "extern" in unit.t[first:stop]
        inside = in_macro or unit.function_at(i) is not None
        if not dynamic and (in_macro or not inside):
            continue
        names = declared(unit, i, stop)
        if not names:
            continue
        struct = f"cu2port_S{n}" + f"_ ## {_spelled(unit, names[0])}" * in_macro  # one function may use it twice
        text = _declaration(unit, first, stop, names, struct, dynamic, inside)
        replace(first, stop + has_end, text if has_end else text.removesuffix(";"))
        if dynamic and not inside:
            for name in {unit.t[k] for k in names}:
                _hand_on(unit, name, replace)


def _hand_on(unit: Unit, name: str, replace: Replace) -> None:
    """Where dynamic memory's name is a whole operand, `+` makes a pointer of it: an array becomes one by itself."""
    for k in unit.find(name):
        before, behind = unit.tok(k - 1), unit.tok(k + 1)
        if before in _OPENS and behind in _CLOSES and unit.tok(k - 2) not in _NO_POINTER:
            replace(k, k + 1, f"+{name}")


def _start(unit: Unit, i: int, low: int) -> int:
    k, home = i, unit.in_directive(i)
    while k > low and unit.t[k - 1] not in (";", "{", "}", ":", ")") and unit.in_directive(k - 1) is home:
        k -= 1
    return k


def _stop(unit: Unit, i: int, end: int) -> int:
    """The token behind a declaration: its `;`, or the end of the macro that holds it; -1 where a bracket is open."""
    while i < end and unit.t[i] != ";":
        if unit.t[i] in ("(", "[", "{"):
            i = unit.match[i]
            if i < 0:
                return -1
        i += 1
    return min(i, end)


def _spelled(unit: Unit, i: int) -> str:
    """The name that ends with token i, which a macro may put together: `name ## _raw`."""
    first = i
    while unit.tok(first - 1) == "##":
        first -= 2
    return " ".join(unit.t[first : i + 1])


def declared(unit: Unit, first: int, stop: int) -> list[int]:
    """Token indices of the names that a declaration in tokens [first, stop) declares."""
    names = []
    k, name = first, -1
    while k <= stop:
        tok = unit.t[k] if k < stop else ","
        if tok in _CLASSES:
            k = _after_class(unit, k)
            continue
        if tok in ("[", "=", "{", ","):
            if name >= 0:
                names.append(name)
            name = -1
            while k < stop and unit.t[k] != ",":
                if unit.t[k] in ("[", "{", "("):
                    k = unit.match[k]
                k += 1
        elif tok == "(":
            k = unit.match[k]
        elif tok == "<" and name >= 0:
            close = unit.angle_close(k)
            if close > 0:
                k, name = close, -1
        elif is_identifier(tok):
            name = k
        k += 1
    return names


def _after_class(unit: Unit, k: int) -> int:
    """The token after a class's body, or after the word at token k where there is none: `union {...} storage;`."""
    body = k + 2 if is_identifier(unit.tok(k + 1)) else k + 1
    return unit.match[body] + 1 if unit.tok(body) == "{" and unit.match[body] > 0 else k + 1


def _declaration(unit: Unit, first: int, stop: int, names: list[int], struct: str, dynamic: bool, inside: bool) -> str:
    words = []
    k, home = first, unit.in_directive(first)
    while k < stop:
        tok = unit.t[k]
        if tok in _DROPPED or unit.in_directive(k) is not home:
            k += 1
            continue
        if dynamic and tok == "[" and unit.tok(k + 1) == "]" and k - 1 in names:
            words.append("[1]")
            k += 2
            continue
        words.append(tok)
        k += 1
    members = " ".join(words)
    out = f"struct {struct} {{ {members}; }};"
    for i in names:
        name = _spelled(unit, i)
        if not dynamic:
            out += f" auto& {name} = {_NS}shared<{struct}>().{name};"
        elif inside:
            kind = f"std::decay_t<decltype({struct}::{name})>"
            out += f" {kind} {name} = reinterpret_cast<{kind}>({_NS}now.dynamic);"
        else:
            kind = f"std::remove_extent_t<decltype({struct}::{name})>"
            out += f" static const {_NS}Dynamic<{kind}> {name}{{}};"
    return out
