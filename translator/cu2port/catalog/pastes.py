"""CUDA names that a macro joins to names of the file: `LOAD(cuInit)` with `f##_p` in it, and `cuInit_p` declared."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier


def pasted(unit: Unit) -> Mapping[int, str]:
    """Tokens that are arguments of such macros -> the name that is made of them, which the file has as a word."""
    return unit.once(_pasted)


def _pasted(unit: Unit) -> Mapping[int, str]:
    out: dict[int, str] = {}
    if "##" not in unit.words:
        return out
    for name, definitions in unit.macros.items():
        for macro in definitions:
            forms = _forms(unit, macro)
            for i in unit.find(name) if forms else ():
                call = unit.call(i)
                if call is None or unit.in_directive(i) is not None:
                    continue
                for index, before, after in forms:
                    at = unit.lexed.at(call.args[index].start) if index < len(call.args) else -1
                    joined = f"{before}{unit.t[at]}{after}" if at >= 0 else ""
                    if joined and unit.end(at) == call.args[index].end and joined in unit.words:
                        out[at] = joined
    return out


def _forms(unit: Unit, macro: Macro) -> list[tuple[int, str, str]]:
    """The parameters that a macro joins with words: the parameter's number, what is before it and what follows."""
    params = list(macro.params or ())
    found = []
    for k in range(macro.first, macro.stop):
        if unit.t[k] not in params:
            continue
        before = unit.t[k - 2] if k - 2 >= macro.first and unit.t[k - 1] == "##" else ""
        after = unit.t[k + 2] if k + 2 < macro.stop and unit.t[k + 1] == "##" else ""
        joined = [w for w in (before, after) if w]
        if joined and all(is_identifier(w) and w not in params for w in joined):
            found.append((params.index(unit.t[k]), before, after))
    return found
