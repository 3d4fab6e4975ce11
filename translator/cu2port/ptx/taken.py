"""Which `#if` branches HIP certainly leaves out: those for NVIDIA beside a branch for AMD, those for later NVIDIA GPUs.

What HIP's compiler defines is known, macros of the ported version checks too; everything else may be anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cu2port.facts.atoms import VERSION_MACROS
from cu2port.facts.branches import comparison, older_is_empty, older_refuses
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Directive, Group, is_identifier

_HIP = re.compile(
    r"__HIP\w*|HIP_VERSION|\w*(?:USE|ENABLE|WITH|HAVE|FOR|ON|IS)_?_?(?:HIP|ROCM|AMD)\w*|__AMDGCN__|__AMDGPU__"
    r"|BNB_HIP|PLATFORM_HIP\w*|\w*_HIP_PLATFORM_AMD__"
)
_NVIDIA = re.compile(r"__HIP_PLATFORM_(?:NVIDIA|NVCC)__|__NVCC__|\w*(?:USE|ENABLE|WITH|FOR)_CUDA\Z|__NVCOMPILER\w*")
#: up to here a comparison with __CUDA_ARCH__ asks for what AMD GPUs have (see the check cuda-arch)
_LAST_COMMON = 720

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
    if d.keyword in ("ifdef", "elifdef"):
        return _defined(words[0]) if words else None
    if d.keyword in ("ifndef", "elifndef"):
        return _not(_defined(words[0])) if words else None
    if d.keyword in ("if", "elif"):
        return _Reader(words).whole()
    return None


def _not(t: Truth) -> Truth:
    return None if t is None else not t


def _and(a: Truth, b: Truth) -> Truth:
    return False if a is False or b is False else True if a and b else None


def _or(a: Truth, b: Truth) -> Truth:
    return True if a or b else False if a is False and b is False else None


def _defined(name: str) -> Truth:
    if _NVIDIA.match(name):
        return None if name == "__NVCC__" or name.endswith("CUDA") else False
    if _HIP.fullmatch(name):
        return True
    return None


def _value(name: str) -> Truth:
    return _defined(name)


@dataclass(slots=True)
class _Reader:
    """A condition, read left to right; what has another form is unknown."""

    words: list[str]
    at: int = 0

    def whole(self) -> Truth:
        out = self.either()
        return out if self.at == len(self.words) else None

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.at += 1
        return word

    def either(self) -> Truth:
        out = self.both()
        while self.peek() == "||":
            self.take()
            out = _or(out, self.both())
        return out

    def both(self) -> Truth:
        out = self.term()
        while self.peek() == "&&":
            self.take()
            out = _and(out, self.term())
        return out

    def term(self) -> Truth:
        word = self.take()
        if word == "!":
            return _not(self.term())
        if word == "(":
            out = self.either()
            if self.peek() == ")":
                self.take()
            else:
                self.skip()
            return self.rest(out)
        if word == "defined":
            bracket = self.peek() == "("
            if bracket:
                self.take()
            name = self.take()
            if bracket:
                self.take()
            return _defined(name)
        if self.peek() in (">", ">=", "<", "<=", "==", "!="):
            return self.comparison(word, self.take(), self.take())
        if word.isdigit():
            return self.rest(word != "0")
        return self.rest(_value(word) if word and is_identifier(word) else None)

    def rest(self, out: Truth) -> Truth:
        """`out`, unless an operator of another kind follows: then nothing is known of the term."""
        if self.peek() in ("", "&&", "||", ")"):
            return out
        self.skip()
        return None

    def skip(self) -> None:
        depth = 0
        while self.peek() and (depth or self.peek() not in ("&&", "||", ")")):
            word = self.take()
            depth += {"(": 1, ")": -1}.get(word, 0)

    def comparison(self, name: str, op: str, number: str) -> Truth:
        if self.peek() not in ("", "&&", "||", ")"):
            self.skip()
            return None
        if name == "__CUDA_ARCH__" and number.isdigit():
            above = int(number) > _LAST_COMMON
            if op in (">=", ">", "=="):
                return False if above or op == "==" else None
            if op in ("<", "<="):
                return True if above else None
        if name in VERSION_MACROS:
            return None
        if _HIP.fullmatch(name) and number == "1" and op == "==":
            return True
        return None


__all__ = ["condition", "is_left_out"]
