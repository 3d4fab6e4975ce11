"""What a check is: one file in `checks/` with the reason, the examples and the code.

Tests, documentation and `cu2port explain` are all made from the class: its docstring is the page, its examples are
shown there and run as tests.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from cu2port.core.model import Edit, Finding, Options, Severity, Trust
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


class Check(ABC):
    """One rule. The docstring's first line says what is there; the rest says why it matters and what is done.

    `minutes`: what a finding costs a person who must deal with it by hand, where that is not what `audit/effort.py`
    takes for all; `note_minutes`: the same for one that is information. `counterpart`: whether HIP has something to
    write instead, where a finding has no edits.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    minutes: ClassVar[float | None] = None
    note_minutes: ClassVar[float] = 0.0
    counterpart: ClassVar[bool] = True
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
        )

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
