"""What the catalogue finds in a file. A rule of `checks/` takes the findings of one kind as its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import Enum, auto

from cu2port.core.late import dataclass
from cu2port.core.model import Edit, Severity, Trust


class Kind(Enum):
    """What is found out about a name, a label of a switch, or an include."""

    RENAME = auto()
    CHANGE = auto()
    UNSUPPORTED = auto()
    VERSION = auto()
    UNKNOWN = auto()
    NOT_APPLIED = auto()
    INCLUDE = auto()
    UNKNOWN_HEADER = auto()
    LABEL = auto()
    OWN = auto()


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A finding without its rule; `severity` None: that of the rule. The other fields are those of a `Finding`."""

    kind: Kind
    message: str
    start: int
    end: int
    edits: tuple[Edit, ...] = ()
    trust: Trust = Trust.EXACT
    severity: Severity | None = None
    why: tuple[str, ...] = ()
    cuda: str = ""
    hip: str = ""
    effects: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    subject: str = ""


def by_kind(findings: Iterable[RowFinding]) -> Mapping[Kind, tuple[RowFinding, ...]]:
    """Findings by their kind, in their order."""
    found: defaultdict[Kind, list[RowFinding]] = defaultdict(list)
    for f in findings:
        found[f.kind].append(f)
    return {kind: tuple(of_kind) for kind, of_kind in found.items()}
