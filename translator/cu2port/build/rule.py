"""What a rule of build files is."""

from __future__ import annotations

from cu2port.core.late import dataclass
from cu2port.core.model import Severity


@dataclass(frozen=True, slots=True)
class BuildExample:
    """A build file named `name` before and after; the same text twice: it is reported and stays."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class BuildRule:
    """A rule of build files. `page`: what `explain` shows; its first line is what `rules` lists."""

    code: str
    name: str
    severity: Severity
    page: str
    examples: tuple[BuildExample, ...] = ()
