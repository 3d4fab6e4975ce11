"""How a CUDA name is converted: by the row of the catalogue, and by what the checks report in a small use of it.

`query` prints it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from cu2port.catalog import Row, target
from cu2port.checks import by_code
from cu2port.core.model import Finding, Options, Outcome
from cu2port.engine.check import RowCheck
from cu2port.engine.translate import translate

_CONVERTED, _KEPT = Options(use_clang=False), Options(use_clang=False, warp="flag")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that refers to a name. `applied`: conversion makes its edits; `kept`: it applies where warp code is not
    converted (`--warp flag`, code for HIP)."""

    code: str
    name: str
    message: str
    applied: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class NameMapping:
    """How a name is converted. `hip`: the text that replaces it; `mapping`: the kind in its row, or `change` where a
    rule writes another text."""

    hip: str
    mapping: str
    rules: tuple[Rule, ...]


def use_of(row: Row) -> str:
    """A small use of a name: the row's example, or a call of it."""
    if row.before:
        return row.before
    owner, dot, member = row.cuda.partition(".")
    if dot:
        return f"void f({owner}* p) {{ p->{member}; }}\n"
    argc = next(iter((*row.argc, *(n for form in row.forms for n in form.argc))), 3)
    return f"__device__ void f() {{ {row.cuda}({', '.join('abcdefghijklmnopqrstuvwxyz'[:argc])}); }}\n"


@lru_cache(maxsize=64)
def mapping_of(row: Row, own: tuple[tuple[str, str], ...] = ()) -> NameMapping:
    """How a name is converted, and the rules that refer to it. `own`: the project's rule files, as in Options."""
    text = use_of(row)
    rules: list[Rule] = []
    hip, mapping = target(row, _CONVERTED.rocm)[0] or row.hip, row.mapping  # an older name where this ROCm still has it
    for options in (_CONVERTED, _KEPT):
        for judged in translate(text, replace(options, rules=own), path="a.cu").findings:
            f = judged.finding
            applied = judged.outcome is Outcome.APPLIED
            if isinstance(by_code()[f.code], RowCheck) or not _refers_to(f, row.cuda, text):
                continue
            if applied and options is _CONVERTED and f.cuda == row.cuda and f.hip and f.hip != hip:
                hip, mapping = f.hip, "change"
            if not any(r.code == f.code for r in rules):
                rules.append(Rule(f.code, f.name, f.message, applied, options is _KEPT))
    return NameMapping(hip, mapping, tuple(rules))


def _refers_to(f: Finding, name: str, text: str) -> bool:
    last = re.split(r"::|\.", name)[-1]
    return f.cuda == name or re.search(rf"\b{re.escape(last)}\b", text[f.start : f.end]) is not None
