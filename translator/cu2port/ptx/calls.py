"""The calls of a macro in its file: what its parameters are in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.ptx.macros import UnknownTextError, stringised, substitute
from cu2port.syntax.lexer import lex
from cu2port.syntax.strings import decode


@dataclass(frozen=True, slots=True)
class Call:
    """What the parameters of a macro are in one of its calls. `spelled`: what `#parameter` makes of them."""

    env: Mapping[str, list[str]]
    where: tuple[tuple[str, str], ...]
    spelled: Mapping[str, str] = field(default_factory=dict)


def calls(unit: Unit, macro: Macro, params: tuple[str, ...], through: frozenset[str] = frozenset()) -> Iterator[Call]:
    """What the parameters are in each call of a macro in this file, also through other macros.

    Raises UnknownTextError where a call cannot be read.
    """
    seen = set()
    assert macro.params is not None
    for i in unit.find(macro.name):
        d = unit.in_directive(i)
        if d is not None and (d is macro.directive or d.keyword != "define" or i == d.first + 2):
            continue
        call = unit.call(i)
        if call is None or len(call.args) != len(macro.params) or "..." in macro.params:
            raise UnknownTextError(f"a call of `{macro.name}` is not like its definition")
        written = {p: unit.text[a.start : a.end] for p, a in zip(macro.params, call.args, strict=True)}
        args = {p: lex(text).t for p, text in written.items()}
        around = macro_around(unit, i)
        outer = tuple(x for x in (around.params or ()) if any(x in args[p] for p in params)) if around else ()
        environments = [Call({}, ())]
        if around is not None and outer:
            if around.name in through:
                raise UnknownTextError(f"`{around.name}` leads back to itself")
            environments = list(calls(unit, around, outer, through | {macro.name}))
        for e in environments:
            env = {p: substitute(tokens, e.env, e.env) for p, tokens in args.items()}
            spelled = {p: _spelled(args[p], env[p], e, written[p]) for p in args}
            key = tuple(spelled[p] for p in params)
            if key not in seen:
                seen.add(key)
                where = tuple(("parameter", f"{p}={text}") for p, text in zip(params, key, strict=True))
                yield Call(env, where, spelled)


def _spelled(tokens: list[str], full: list[str], around: Call, written: str) -> str:
    """An argument as `#` spells it: as written, white space as one space, in another macro what that one is given."""
    if tokens == full:
        return " ".join(written.split())
    if len(tokens) == 1:
        return around.spelled[tokens[0]]
    return decode(stringised(full))


def macro_around(unit: Unit, i: int) -> Macro | None:
    """The macro in whose definition a token stands."""
    d = unit.in_directive(i)
    if d is None or d.keyword != "define":
        return None
    return next((m for definitions in unit.macros.values() for m in definitions if m.directive is d), None)
