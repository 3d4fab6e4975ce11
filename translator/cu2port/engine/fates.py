"""What a conversion does with a name of CUDA's, asked of the conversion itself: the row of the catalogue, and what the
checks say of a small use of it. `query` and the tests answer from here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cu2port.catalog import Row, target
from cu2port.checks import by_code
from cu2port.core.model import Finding, Options, Outcome
from cu2port.engine.check import RowCheck
from cu2port.engine.translate import translate

_CONVERTED, _KEPT = Options(use_clang=False), Options(use_clang=False, warp="flag")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that refers to a name. `applied`: conversion makes its edits; `kept`: it holds where warp code is kept
    as it is (`--warp flag`, code for HIP)."""

    code: str
    name: str
    message: str
    applied: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a name. `hip`: what is written for it; `fate`: the row's, or `change` where a rule writes
    something else."""

    hip: str
    fate: str
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
def fate_of(row: Row) -> Fate:
    """What becomes of a name, and the rules that speak of it."""
    text = use_of(row)
    rules: list[Rule] = []
    hip, fate = target(row, _CONVERTED.rocm)[0] or row.hip, row.fate  # an older name where ROCm has that still
    for options in (_CONVERTED, _KEPT):
        for judged in translate(text, options, path="a.cu").findings:
            f = judged.finding
            applied = judged.outcome is Outcome.APPLIED
            if isinstance(by_code()[f.code], RowCheck) or not _speaks_of(f, row.cuda, text):
                continue
            if applied and options is _CONVERTED and f.cuda == row.cuda and f.hip and f.hip != hip:
                hip, fate = f.hip, "change"
            if not any(r.code == f.code for r in rules):
                rules.append(Rule(f.code, f.name, f.message, applied, options is _KEPT))
    return Fate(hip, fate, tuple(rules))


def _speaks_of(f: Finding, name: str, text: str) -> bool:
    last = re.split(r"::|\.", name)[-1]
    return f.cuda == name or re.search(rf"\b{re.escape(last)}\b", text[f.start : f.end]) is not None
