"""CUDA names and macros: those that one joins to names of the file (`LOAD(cuInit)` with `f##_p` in it, and `cuInit_p`
declared), those that stand behind one, and those in the body of one."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.core.files import CUDA_SUFFIXES, suffix
from cu2port.core.late import regex
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import EXECUTION_SPACES

_CAPITALS = regex(r"[A-Z][A-Z0-9_]+\Z")  # a macro, as a rule


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


def is_global(unit: Unit, i: int) -> bool:
    """Whether token i, behind a `::`, is a global name after a macro, and none in a namespace of the macro's name:
    `API ::cudaStream_t stream();`."""
    at, owner = unit.p[i - 1], unit.t[i - 2]
    return unit.p[i] == at + 2 and unit.end(i - 2) < at and _CAPITALS.match(owner) is not None


def is_returned(unit: Unit, i: int) -> bool:
    """Whether token i, behind a `->`, is a type that a function returns and no member: `auto f() -> cudaError_t {`,
    with a macro before it where that is for `noexcept`."""
    k = i - 3 if _CAPITALS.match(unit.tok(i - 2)) else i - 2
    if unit.tok(i - 1) != "->" or unit.tok(k) not in (")", "const", "noexcept", "mutable", "constexpr"):
        return False
    after = unit.tok(i + 1)
    return after in ("{", "*", "&") or (unit.t[i].endswith("_t") and after in (";", "=", ",", ")"))


def in_macro(unit: Unit, i: int) -> bool:
    """Whether a macro of CUDA's code calls token i: libclang tells nothing of a macro's body."""
    known = suffix(unit.path) in CUDA_SUFFIXES or not EXECUTION_SPACES.isdisjoint(unit.words)
    return known and unit.tok(i + 1) == "(" and unit.in_directive(i) is not None
