"""What a check is: one file in `checks/` with the reason, the examples and the code.

Tests, documentation and `cu2port explain` are all made from the class: its docstring is the page, its examples are
shown there and run as tests.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import ClassVar

from cu2port.catalog.findings import Kind, RowFinding
from cu2port.core.families import family
from cu2port.core.files import HEADER_SUFFIXES, suffix
from cu2port.core.late import dataclass
from cu2port.core.model import Edit, Finding, InHip, Options, Severity, Trust
from cu2port.facts.unit import Unit

_PLAIN = Options()  # one for all: some hundred examples are made whenever checks are loaded


@dataclass(frozen=True, slots=True)
class Example:
    """A text and what conversion makes of it, all checks taking part.

    `after` None: this check stays quiet. `after == before`: it reports and rewrites nothing. `path` decides what
    kind of file it is. `findings`: how many findings of this check (None: one or more, or none for a quiet example).
    """

    before: str
    after: str | None = None
    note: str = ""
    path: str = "a.cuh"
    findings: int | None = None
    options: Options = _PLAIN


@dataclass(frozen=True, slots=True)
class Fold:
    """A finding adds nothing to one of rule `code` that covers its bytes, where it has no fix of its own. `same_fix`:
    only where both have the same fix."""

    code: str
    same_fix: bool = False


@dataclass(frozen=True, slots=True)
class InLint:
    """What `cu2port lint` makes of a rule.

    `chosen`: whether it is looked for by default; None: as its family is. `in_hip`: what it means in HIP's own code.
    `folds_into`: rules whose findings say the same, the first that is there is taken. `once_a_function`: a function
    gets one finding a message. `neutral`: its fixes mean the same in CUDA, so they are made in any code. `with_size`:
    a fix takes the uses of `warpSize` in its function along.
    """

    chosen: bool | None = None
    in_hip: InHip = InHip.PLAIN
    folds_into: tuple[Fold, ...] = ()
    once_a_function: bool = False
    neutral: bool = False
    with_size: bool = False


class Check(ABC):
    """One rule. The docstring's first line says what is there; the rest says why it matters and what is done.

    `minutes`: what a finding costs a person who must deal with it by hand, where that is not what `audit/effort.py`
    takes for all; `note_minutes`: the same for one that is information. `counterpart`: whether HIP has something to
    write instead, where a finding has no edits. `true_of_hip`: whether what it says holds for code that is HIP's
    already, where nothing is changed. `true_of_cuda`: whether what it writes means the same to nvcc: words that the C++
    standard asks for, and nvcc does not. `triggers`: names; a file without any of them has no finding, and the check
    is not called. None: it is called for every file. `texts`: the same for pieces of text, if any are given.
    `of_headers`: it is called for files alone that others include, by their suffix. `modes`: words of the options
    (`Options.modes`); without any of them it is not called. None: it is called with any options.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    minutes: ClassVar[float | None] = None
    note_minutes: ClassVar[float] = 0.0
    counterpart: ClassVar[bool] = True
    true_of_hip: ClassVar[bool] = False
    true_of_cuda: ClassVar[bool] = False
    triggers: ClassVar[frozenset[str] | None] = None
    texts: ClassVar[tuple[str, ...]] = ()
    of_headers: ClassVar[bool] = False
    modes: ClassVar[frozenset[str] | None] = None
    lint: ClassVar[InLint] = InLint()
    examples: ClassVar[tuple[Example, ...]] = ()

    @abstractmethod
    def run(self, unit: Unit) -> Iterator[Finding]:
        """The findings of this rule in a file."""

    def finding(
        self,
        message: str,
        start: int,
        end: int,
        edits: tuple[Edit, ...] = (),
        trust: Trust = Trust.EXACT,
        severity: Severity | None = None,
        why: tuple[str, ...] = (),
        cuda: str = "",
        hip: str = "",
        effects: tuple[tuple[str, str], ...] = (),
        needs: tuple[str, ...] = (),
        helpers: tuple[str, ...] = (),
        in_hip: InHip | None = None,
        operation: int = -1,
        subject: str = "",
    ) -> Finding:
        """A finding under this rule's code and name; without edits nothing can be trusted to be done."""
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            start=start,
            end=end,
            edits=edits,
            trust=trust if edits else Trust.MANUAL,
            why=why or self.reasons,
            cuda=cuda,
            hip=hip,
            effects=effects,
            needs=needs,
            helpers=helpers,
            in_hip=self.lint.in_hip if in_hip is None else in_hip,
            operation=operation,
            subject=subject,
        )

    def of_row(self, f: RowFinding) -> Finding:
        """A finding of the catalogue's under this rule's code and name."""
        return Finding(
            self.code,
            self.name,
            f.severity or self.severity,
            f.message,
            f.start,
            f.end,
            edits=f.edits,
            trust=f.trust if f.edits else Trust.MANUAL,
            why=f.why,
            cuda=f.cuda,
            hip=f.hip,
            effects=f.effects,
            needs=f.needs,
            helpers=f.helpers,
            subject=f.subject,
        )

    def widened(self, unit: Unit, finding: Finding) -> tuple[tuple[Edit, ...], Trust] | None:
        """The edits that give a finding's mask the bits of a wavefront, in HIP code whose warps have a wavefront's
        lanes; None where there are none."""
        return None

    @property
    def in_lint(self) -> bool:
        """Whether `cu2port lint` looks for this rule by default."""
        return family(self.code).in_lint if self.lint.chosen is None else self.lint.chosen

    @cached_property
    def title(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(type(self)) or "").partition("\n")[0]

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The docstring's second paragraph, as one line: why it matters and what to do."""
        paragraphs = self.page.split("\n\n")
        return (" ".join(paragraphs[1].split()),) if len(paragraphs) > 1 else ()

    @cached_property
    def page(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(type(self)) or ""


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """What decides whether a check is called: its code, its module, and what its class says."""

    code: str
    module: str
    triggers: frozenset[str] | None
    modes: frozenset[str] | None
    true_of_hip: bool
    of_headers: bool
    texts: tuple[str, ...]


def open_gates(gates: tuple[Gate, ...], unit: Unit) -> list[Gate]:
    """Those of some gates whose checks may find something in a file, in their order."""
    always, words, by_word = _by_trigger(gates)
    chosen = always.copy()
    for word in unit.may_be_tokens(words):
        chosen.update(by_word[word])
    asked = unit.options.modes
    opened = [g for g in map(gates.__getitem__, sorted(chosen)) if g.modes is None or not asked.isdisjoint(g.modes)]
    opened = [g for g in opened if not g.texts or any(text in unit.text for text in g.texts)]
    return opened if suffix(unit.path) in HEADER_SUFFIXES else [g for g in opened if not g.of_headers]


@lru_cache(maxsize=4)
def _by_trigger(gates: tuple[Gate, ...]) -> tuple[set[int], frozenset[str], Mapping[str, tuple[int, ...]]]:
    """Which of some checks have no triggers, all triggers of the others, and which have a word as a trigger."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for k, gate in enumerate(gates):
        for word in gate.triggers or ():
            found[word].append(k)
    always = {k for k, gate in enumerate(gates) if gate.triggers is None}
    return always, frozenset(found), {word: tuple(ks) for word, ks in found.items()}


class RowCheck(Check):
    """A rule whose findings are the catalogue's, of one `kind`: it says what a row says, and no more."""

    kind: ClassVar[Kind]

    def of_kind(self, findings: Mapping[Kind, tuple[RowFinding, ...]]) -> Iterator[Finding]:
        """Those of the catalogue's findings that are this rule's."""
        return map(self.of_row, findings.get(self.kind, ()))
