"""Conditions of the preprocessor in functions that may become native: what HIP makes of them, and which are the same.

HIP compiles what convert writes, so a condition counts as convert leaves it: `__CUDA_ARCH__ >= 700` is true there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cu2port.branches import has_hip_branch
from cu2port.check import Check
from cu2port.checks.compiler_macros import CompilerMacros
from cu2port.checks.cuda_arch import CudaArch
from cu2port.checks.cuda_version import CudaVersion
from cu2port.lexer import Directive, Group, is_identifier, lex
from cu2port.model import Span
from cu2port.unit import Unit

_DEFINED = frozenset({"__HIP_DEVICE_COMPILE__", "__HIPCC__", "__HIP_PLATFORM_AMD__"})
_ASKED: tuple[type[Check], ...] = (CudaArch, CudaVersion, CompilerMacros)
Key = tuple[str, int]  # a condition's words, and how often names were given another meaning before it
Chain = tuple[int, ...]  # the directives of a conditional, by number


@dataclass(frozen=True, slots=True)
class Condition:
    """What a directive asks: whether it is `known` to be true, else whether `key` holds (`turned`: does not hold)."""

    known: bool | None
    key: Key = ("", 0)
    turned: bool = False

    def value(self, held: Mapping[Key, bool]) -> bool | None:
        """Whether it is true where some conditions hold and others do not; None if that is not settled."""
        if self.known is not None:
            return self.known
        return None if self.key not in held else held[self.key] != self.turned


@dataclass(frozen=True, slots=True)
class Settled:
    """A conditional of which it is known which branch is compiled, if any: bytes [start, end) without that one go."""

    start: int
    end: int
    taken: Group | None

    @property
    def gone(self) -> tuple[tuple[int, int], ...]:
        """The bytes that go: directives and branches that are not compiled."""
        if self.taken is None:
            return ((self.start, self.end),)
        return (self.start, self.taken.start), (self.taken.end, self.end)


@dataclass
class Conditionals:
    """The conditionals of a file that have an end and no branch for HIP."""

    unit: Unit
    read: dict[int, Condition] = field(default_factory=dict)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The conditionals, in text order."""
        ds = self.unit.directives
        found = {g.chain[0]: g.chain for g in self.unit.groups}
        ends = (c for c in found.values() if ds[c[-1]].keyword == "endif")
        return tuple(sorted(c for c in ends if not has_hip_branch(self.unit, ds[c[0]].first + 1)))

    @cached_property
    def branches(self) -> dict[int, Group]:
        """Branches by the directive that opens them."""
        return {g.opener: g for g in self.unit.groups}

    @cached_property
    def _rewritten(self) -> list[tuple[int, int, str]]:
        """What convert makes of questions for CUDA's version, its compiler and the GPU, in text order: bytes, text."""
        out = []
        for check in _ASKED:
            for f in check().run(self.unit):
                if len(f.edits) == 2:  # `(!defined(V) || V >= 9000)`: HIP defines no V
                    out.append((f.start, f.end, "1" if "!" in str(f.edits[0].parts[0]) else "0"))
                for e in f.edits if len(f.edits) == 1 else ():
                    text = (self.unit.text[x.start : x.end] if isinstance(x, Span) else x for x in e.parts)
                    out.append((e.start, e.end, "".join(text)))
        return sorted(out)

    def condition(self, k: int) -> Condition:
        """The question of directive number k."""
        if k not in self.read:
            self.read[k] = self._condition(k)
        return self.read[k]

    def _condition(self, k: int) -> Condition:
        d = self.unit.directives[k]
        if d.keyword == "else":
            return Condition(True)
        text, at = "", d.start
        for start, end, new in self._rewritten:
            if d.start <= start and end <= d.end and start >= at:
                text, at = text + self.unit.text[at:start] + new, end
        words = lex(text + self.unit.text[at : d.end]).t[1:]
        known = truth(_asked(words))
        if known is not None:
            return Condition(known)
        own = _asked(self.unit.t[d.first + 1 : d.stop])
        turned = own[:1] == ["!"] and (len(own) == 2 or _name(own[1:]) != "")
        own = own[1:] if turned else own
        if name := _name(own):
            own = ["defined", name]
        return Condition(None, (" ".join(own), self._changes(own, d)), turned)

    def _changes(self, words: Sequence[str], d: Directive) -> int:
        """How many directives before one may have changed what names of its condition mean."""
        names = {w for w in words if is_identifier(w)}
        unit = self.unit
        before = unit.directives[: unit.lexed.directive_index(d.first)]
        return sum(
            x.keyword in ("include", "include_next", "import", "undef")
            or (x.keyword == "define" and unit.tok(x.first + 2) in names)
            or (x.keyword == "pragma" and "pop_macro" in unit.t[x.first : x.stop])
            for x in before
        )

    def settled(self, chain: Chain, held: Mapping[Key, bool]) -> Settled | Key:
        """Which branch of a conditional is compiled, or the first condition that is not settled."""
        ds = self.unit.directives
        for k in chain[:-1]:
            c = self.condition(k)
            value = c.value(held)
            if value is None:
                return c.key
            if value:
                return Settled(ds[chain[0]].start, ds[chain[-1]].end, self.branches[k])
        return Settled(ds[chain[0]].start, ds[chain[-1]].end, None)

    def configurations(self, chains: Sequence[Chain], limit: int) -> list[dict[Key, bool]] | None:
        """All ways in which some conditionals may be compiled; None if there are more than `limit`."""
        done: list[dict[Key, bool]] = []
        todo: list[dict[Key, bool]] = [{}]
        while todo:
            held = todo.pop()
            key = self._open(chains, held)
            if key is None:
                done.append(held)
            else:
                todo += [{**held, key: False}, {**held, key: True}]
            if len(done) + len(todo) > limit:
                return None
        return done

    def _open(self, chains: Sequence[Chain], held: Mapping[Key, bool]) -> Key | None:
        """The first condition that decides and is not settled."""
        gone: list[tuple[int, int]] = []
        for chain in chains:
            at = self.unit.directives[chain[0]].start
            if any(a <= at < b for a, b in gone):
                continue
            got = self.settled(chain, held)
            if not isinstance(got, Settled):
                return got
            gone += got.gone
        return None

    def gone(self, held: Mapping[Key, bool]) -> list[tuple[int, int]]:
        """The bytes of the file that go where all conditionals are compiled that are settled."""
        found = (self.settled(chain, held) for chain in self.chains)
        return [span for x in found if isinstance(x, Settled) for span in x.gone]


def _asked(words: Sequence[str]) -> list[str]:
    """The question of a directive's words from its keyword on, as that of an `#if`, without brackets around all."""
    head, *rest = words
    rest = [*(["!"] if head.endswith("ndef") else []), *(["defined"] if head.endswith("def") else []), *rest]
    return _bare(rest)


def _bare(words: list[str]) -> list[str]:
    while words[:1] == ["("] and _close(words) == len(words) - 1:
        words = words[1:-1]
    return words


def _close(words: Sequence[str]) -> int:
    """The bracket that closes the first one; -1 if there is none."""
    depth = 0
    for n, w in enumerate(words):
        depth += {"(": 1, ")": -1}.get(w, 0)
        if depth == 0:
            return n
    return -1


def _split(words: list[str], op: str) -> list[list[str]]:
    """The parts of a condition between an operator outside of brackets."""
    out: list[list[str]] = [[]]
    depth = 0
    for w in words:
        depth += {"(": 1, ")": -1}.get(w, 0)
        if w == op and depth == 0:
            out.append([])
        else:
            out[-1].append(w)
    return out


def truth(words: list[str]) -> bool | None:
    """Whether a condition is true on HIP, whatever is not known of it; None if that is not settled."""
    words = _bare(words)
    if "?" in words:
        return None
    for op, rules in (("||", True), ("&&", False)):
        parts = _split(words, op)
        if len(parts) > 1:
            found = [truth(x) for x in parts]
            return rules if rules in found else None if None in found else not rules
    name = _name(words)
    if words[:1] == ["!"] and (len(words) == 2 or _name(words[1:]) or _close(words[1:]) == len(words) - 2):
        got = truth(words[1:])
        return None if got is None else not got
    if name:
        return True if name in _DEFINED else None
    return {"0": False, "1": True, "false": False, "true": True}.get(words[0]) if len(words) == 1 else None


def _name(words: Sequence[str]) -> str:
    """The name of `defined NAME` or `defined(NAME)`; "" for anything else."""
    if words[:1] == ["defined"] and len(words) == 2:
        return words[1]
    if words[:2] == ["defined", "("] and len(words) == 4 and words[3] == ")":
        return words[2]
    return ""
