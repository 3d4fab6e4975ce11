"""Which `#if` branches HIP certainly leaves out: those for NVIDIA beside a branch for AMD, those for later NVIDIA GPUs.

What HIP's compiler defines is known, macros of the ported version checks too; everything else may be anything.
"""

from __future__ import annotations

from functools import partial

from cu2port.facts.atoms import CUDA_MACROS, under_hip
from cu2port.facts.branches import comparison, older_is_empty, older_refuses
from cu2port.facts.hipcode import CONDITIONS, condition_of
from cu2port.facts.truth import UNDEFINED, UNKNOWN, Macro, truth
from cu2port.facts.unit import Unit
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import Directive, Group

#: up to here a comparison with __CUDA_ARCH__ asks for what AMD GPUs have (see the check cuda-arch)
_LAST_COMMON = 720
_ARCH = Macro(True, Constant(_LAST_COMMON, "long long"), True)

Truth = bool | None


def is_left_out(unit: Unit, offset: int) -> bool:
    """Whether a byte is in a branch that HIP's compiler never reads."""
    return any(_left_out(unit, g) for g in unit.conditions(offset))


def _left_out(unit: Unit, g: Group) -> bool:
    before: list[Truth] = []
    for k in g.chain:
        d = unit.directives[k]
        if k == g.opener:
            if any(t is True for t in before):
                return True
            return d.keyword != "else" and condition(unit, d) is False
        before.append(condition(unit, d))
    return False


def condition(unit: Unit, d: Directive) -> Truth:
    """What HIP's compiler makes of a conditional directive; None if that cannot be told."""
    words = unit.t[d.first + 2 : d.stop]
    if "__CUDA_ARCH__" in words:  # its last place is the comparison, where it is also asked whether it is defined
        i = d.stop - 1 - words[::-1].index("__CUDA_ARCH__")
        found = comparison(unit, i)
        later = found is not None and found.op in (">", ">=", "<", "<=") and found.number > _LAST_COMMON
        if found is not None and later and (older_refuses(unit, i, found) or older_is_empty(unit, i, found)):
            return None if found.op[0] == ">" else False  # as the check cuda-arch has it
    if d.keyword not in CONDITIONS:
        return None
    words = condition_of(d.keyword, words)
    host, device = (truth(words, partial(_known, unit.project.hip_macros, on)) for on in (False, True))
    return host if host is device else None


def _known(more: frozenset[str], device: bool, word: str) -> Macro:
    """What is known of a macro in a pass of HIP's as the checks for versions leave its conditions: `__CUDA_ARCH__` is
    that of the last GPU whose features AMD's have, and macros that nvcc defines may be replaced."""
    if word == "__CUDA_ARCH__":
        return _ARCH if device else UNDEFINED
    if word in CUDA_MACROS:
        return UNKNOWN
    return UNDEFINED if word.startswith("__NVCOMPILER") else under_hip(word, device, more)
