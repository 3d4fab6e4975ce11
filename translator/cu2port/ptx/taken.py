"""Which `#if` branches HIP certainly leaves out: those for NVIDIA beside a branch for AMD, those for later NVIDIA GPUs.

What HIP's compiler defines is known, macros of the ported version checks too; everything else may be anything.
"""

from __future__ import annotations

import re
from functools import partial

from cu2port.facts.atoms import CUDA_MACROS, under_hip
from cu2port.facts.branches import LAST_COMMON, comparison, newer_only, older_is_empty, older_refuses
from cu2port.facts.hipcode import CONDITIONS, condition_of
from cu2port.facts.unit import Unit
from cu2port.ptx.tokens import COMMENTS
from cu2port.syntax.conditions import UNDEFINED, UNKNOWN, Macro, truth
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import Directive, Group, is_string
from cu2port.syntax.strings import decode

#: an instruction at its place in a text: behind a label, a bracket or a predicate
_OPCODE = re.compile(r"(?:^|[;{}\n])\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)*)")

Truth = bool | None


def architecture(unit: Unit) -> int:
    """The `__CUDA_ARCH__` as which HIP compiles a file: that of the options, else LAST_COMMON, or the smallest later
    one that loses no PTX.

    PTX is lost where a device function has it for later GPUs alone, and nothing for older ones. A later number is
    taken if every instruction that it adds has a row.
    """
    return unit.once(_architecture)


def _architecture(unit: Unit) -> int:
    if unit.options.cuda_arch:
        return unit.options.cuda_arch
    asked = set()
    if unit.asms and unit.find("__CUDA_ARCH__"):
        for keyword, _, _ in unit.asms:
            asked |= {newer_only(unit, g.chain) for g in unit.conditions(unit.p[keyword])}
    best = LAST_COMMON
    for number in sorted(asked - {0}):
        if not all(_has_rows(unit, opener, close) for opener, close in _added(unit, number)):
            break
        best = number
    return best


def _added(unit: Unit, number: int) -> list[tuple[int, int]]:
    """The brackets of the asm statements that HIP reads with this `__CUDA_ARCH__`, and not with LAST_COMMON."""

    def read(arch: int, at: int) -> bool:
        return not any(_left_out(unit, g, arch) for g in unit.conditions(at))

    asms = ((unit.p[keyword], opener, close) for keyword, opener, close in unit.asms)
    return [(opener, close) for at, opener, close in asms if read(number, at) and not read(LAST_COMMON, at)]


def _has_rows(unit: Unit, opener: int, close: int) -> bool:
    """Whether the text of an asm statement is of string literals, and each of its instructions has a row."""
    from cu2port.ptx.table import find  # slow to load, and few files have such statements

    text, k = "", opener + 1
    while k < close and is_string(unit.t[k]):
        text += decode(unit.t[k])
        k += 1
    return unit.tok(k) in (":", "::", ")") and all(map(find, _OPCODE.findall(COMMENTS.sub(" ", text))))


def is_left_out(unit: Unit, offset: int) -> bool:
    """Whether a byte is in a branch that HIP's compiler never reads."""
    groups = unit.conditions(offset)
    return bool(groups) and any(_left_out(unit, g, architecture(unit)) for g in groups)


def _left_out(unit: Unit, g: Group, arch: int) -> bool:
    before: list[Truth] = []
    for k in g.chain:
        d = unit.directives[k]
        if k == g.opener:
            if any(t is True for t in before):
                return True
            return d.keyword != "else" and condition(unit, d, arch) is False
        before.append(condition(unit, d, arch))
    return False


def condition(unit: Unit, d: Directive, arch: int) -> Truth:
    """What HIP's compiler makes of a conditional directive with this `__CUDA_ARCH__`; None if that cannot be told."""
    words = unit.t[d.first + 2 : d.stop]
    if "__CUDA_ARCH__" in words:  # its last place is the comparison, where it is also asked whether it is defined
        i = d.stop - 1 - words[::-1].index("__CUDA_ARCH__")
        found = comparison(unit, i)
        later = found is not None and not unit.options.cuda_arch and found.least > arch
        if found is not None and later and (older_refuses(unit, i, found) or older_is_empty(unit, i, found)):
            return None if found.op[0] == ">" else False  # as the check cuda-arch has it
    if d.keyword not in CONDITIONS:
        return None
    words = condition_of(d.keyword, words)
    host, device = (truth(words, partial(_known, unit.project.hip_macros, arch, on)) for on in (False, True))
    return host if host is device else None


def _known(more: frozenset[str], arch: int, device: bool, word: str) -> Macro:
    """What is known of a macro in a pass of HIP's as the checks for versions leave its conditions: `__CUDA_ARCH__` is
    `arch`, and macros that nvcc defines may be replaced."""
    if word == "__CUDA_ARCH__":
        return Macro(True, Constant(arch, "long long"), True) if device else UNDEFINED
    if word in CUDA_MACROS:
        return UNKNOWN
    return UNDEFINED if word.startswith("__NVCOMPILER") else under_hip(word, device, more)
