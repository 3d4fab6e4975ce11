"""Macros of a file replaced where the text of an asm statement is built from them: a small part of a preprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.ptx.taken import is_left_out
from cu2port.syntax.lexer import is_identifier, is_string

_MAX_TOKENS = 4000


class UnknownTextError(ValueError):
    """A text cannot be known; says why."""


def live_definitions(unit: Unit, name: str) -> list[Macro]:
    """The definitions of a macro, without those in branches that HIP's compiler never reads."""
    return [m for m in unit.macros.get(name, ()) if not is_left_out(unit, m.directive.start)]


def definitions_at(unit: Unit, name: str, at: int) -> list[Macro]:
    """Those of `live_definitions` that a place may see: not in a branch beside its own, if that leaves any."""
    live = live_definitions(unit, name)
    if len(live) < 2:
        return live
    own = unit.conditionals.around(at)
    beside = {k for g in own for k in g.chain}.difference(g.opener for g in own)
    around = unit.conditionals.around
    return [m for m in live if beside.isdisjoint(g.opener for g in around(m.directive.start))] or live


#: Constraints and types that headers of CUDA and CUB name, as tokens.
_KNOWN = {"_CG_ASM_PTR_CONSTRAINT": '"l"', "_CUB_ASM_PTR_": '"l"', "_CUB_ASM_PTR_SIZE_": '"u64"'}


class Body(NamedTuple):
    """The definition of a macro."""

    params: tuple[str, ...] | None
    tokens: tuple[str, ...]


def _body(unit: Unit, macro: Macro) -> Body:
    return Body(macro.params, tuple(unit.t[macro.first : macro.stop]))


def of_headers(unit: Unit) -> Mapping[str, Body]:
    """The macros of included files that are parts of texts, without those which have several definitions."""
    return unit.once(_of_headers) if unit.project.text_macros else {}


def _of_headers(unit: Unit) -> dict[str, Body]:
    lines = (f"#define {line}\n" for line in sorted(unit.project.text_macros))
    header = Unit("".join(lines), unit.catalog, path=unit.path)
    bodies = {name: {_body(header, m) for m in found} for name, found in header.macros.items()}
    header.forget()
    return {name: next(iter(found)) for name, found in bodies.items() if len(found) == 1}


def bodies_of(unit: Unit, name: str) -> list[list[str]]:
    """The tokens of each definition of a macro, of the file or else of a header."""
    if name in unit.macros:
        return [unit.t[m.first : m.stop] for m in unit.macros[name]]
    told = of_headers(unit)
    return [list(told[name].tokens)] if name in told else []


@dataclass(frozen=True, slots=True)
class Macros:
    """The macros of a file; `chosen` says which definition holds of those that have several."""

    unit: Unit
    chosen: Mapping[str, Macro]

    def expand(self, tokens: list[str], params: Mapping[str, list[str]]) -> list[str]:
        """Tokens of a macro's body (of any text, if `params` is empty) with parameters and macros replaced.

        Raises UnknownTextError where a macro is called in another way than defined, or where the text grows too long.
        """
        return self._replace(substitute(tokens, params, params), frozenset())

    def _replace(self, tokens: list[str], hidden: frozenset[str]) -> list[str]:
        out: list[str] = []
        k = 0
        while k < len(tokens):
            tok = tokens[k]
            k += 1
            macro = None if tok in hidden else self._definition(tok)
            if macro is None:
                out.append(_KNOWN.get(tok, tok))
            elif macro.params is None:
                out.extend(self._replace(list(macro.tokens), hidden | {tok}))
            elif k < len(tokens) and tokens[k] == "(":
                args, k = _arguments(tokens, k)
                raw = dict(zip(macro.params, args, strict=False))
                if len(args) != len(macro.params) and not (args == [[]] and not macro.params):
                    raise UnknownTextError(f"`{tok}` is called with another number of arguments than it has")
                full = {p: self._replace(a, hidden) for p, a in raw.items()}
                body = substitute(list(macro.tokens), raw, full)
                out.extend(self._replace(body, hidden | {tok}))
            else:
                out.append(tok)
            if len(out) > _MAX_TOKENS:
                raise UnknownTextError("its macros make it too long")
        return out

    def _definition(self, name: str) -> Body | None:
        if name not in self.unit.macros:
            return of_headers(self.unit).get(name)
        found = [self.chosen[name]] if name in self.chosen else live_definitions(self.unit, name)
        return _body(self.unit, found[0]) if found else None


def substitute(tokens: list[str], raw: Mapping[str, list[str]], full: Mapping[str, list[str]]) -> list[str]:
    """A macro's body with its parameters replaced: `raw` arguments beside `#` and `##`, `full`y expanded elsewhere."""
    out: list[str] = []
    k = 0
    while k < len(tokens):
        tok = tokens[k]
        following = tokens[k + 1] if k + 1 < len(tokens) else ""
        if tok == "#" and following in raw:
            out.append(stringised(raw[following]))
            k += 2
        elif tok == "##" and out and following:
            right = raw.get(following, [following])
            out[-1:] = [out[-1] + (right[0] if right else ""), *right[1:]]
            k += 2
        else:
            out.extend((raw if following == "##" else full).get(tok, [tok]))
            k += 1
    return out


def stringised(tokens: list[str]) -> str:
    """`#x`: the spelling of an argument as a string literal."""
    text = ""
    for a, b in zip(tokens, [*tokens[1:], ""], strict=True):
        text += a.replace("\\", "\\\\").replace('"', '\\"') if is_string(a) else a
        # white space is gone from tokens; between two words there was some
        text += " " if b and is_identifier(a) and is_identifier(b) else ""
    return f'"{text}"'


def _arguments(tokens: list[str], k: int) -> tuple[list[list[str]], int]:
    """The arguments of a call whose `(` is tokens[k], and the index after its `)`."""
    args: list[list[str]] = [[]]
    depth = 0
    for n in range(k, len(tokens)):
        tok = tokens[n]
        if tok in "([{":
            depth += 1
        elif tok in ")]}":
            depth -= 1
            if not depth:
                return args, n + 1
        if tok == "," and depth == 1:
            args.append([])
        elif n > k:
            args[-1].append(tok)
    raise UnknownTextError("a macro's call has no end")
