"""What `verify` found, as plain data: part of a run's record, and a section of the JSON report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

HOST = "host"
COMPILES, FAILS, MISSING, UNFINISHED = "compiles", "fails", "missing-header", "unfinished"
VERDICTS = (COMPILES, FAILS, MISSING, UNFINISHED)


class CompileError(NamedTuple):
    """One error of a compiler, where the user can do something about it.

    `path`, `line`, `column`: in the output tree. `source`, `source_line`: the CUDA file and line these came from;
    "" and 0 when they are not known. `inside`: the header outside the tree that the compiler stood in, if any.
    """

    message: str
    path: str
    line: int
    column: int
    source: str = ""
    source_line: int = 0
    inside: str = ""


class TargetRecord(NamedTuple):
    """One compilation: `target` is `host` or a GPU. `header`: the one that is missing, with that verdict alone."""

    target: str
    verdict: str
    errors: tuple[CompileError, ...] = ()
    header: str = ""


class UnitRecord(NamedTuple):
    """A translation unit. `path`: in the output; `source`: the CUDA file, "" when it is not known."""

    path: str
    source: str
    targets: tuple[TargetRecord, ...]

    @property
    def verdict(self) -> str:
        """The unit's verdict: one target that fails decides, then one that did not end, then a missing header."""
        found = {t.verdict for t in self.targets}
        return next((v for v in (FAILS, UNFINISHED, MISSING) if v in found), COMPILES)


class VerifyRecord(NamedTuple):
    """A run of `verify`: with what, for what, and what came of it."""

    compiler: str
    compiler_kind: str  # given, rocm, path, wheels
    compiler_version: str
    hip: str
    hip_from: str  # rocm, or the wheel with its version
    hip_version: str
    archs: tuple[str, ...]
    units: tuple[UnitRecord, ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Units by verdict; all verdicts stand."""
        return _counts(u.verdict for u in self.units)

    @property
    def by_target(self) -> dict[str, dict[str, int]]:
        """For `host` and each GPU, compilations by verdict."""
        found = [t for u in self.units for t in u.targets]
        return {name: _counts(t.verdict for t in found if t.target == name) for name in (HOST, *self.archs)}

    @property
    def missing(self) -> dict[str, int]:
        """Headers that are not on this machine, with how many units want them."""
        wanted = Counter(h for u in self.units for h in {t.header for t in u.targets if t.header})
        return dict(sorted(wanted.items()))

    @property
    def exit_code(self) -> int:
        """0: all that could be judged compile. 1: some do not. 2: nothing could be judged."""
        counts = self.counts
        if counts[FAILS] or counts[UNFINISHED]:
            return 1
        return 0 if counts[COMPILES] else 2


def _counts(verdicts: Iterable[str]) -> dict[str, int]:
    found = Counter(verdicts)
    return {v: found[v] for v in VERDICTS}


def document(run: VerifyRecord) -> dict[str, Any]:
    """The report's `verify` section as JSON values."""
    return {
        "compiler": {"command": run.compiler, "kind": run.compiler_kind, "version": run.compiler_version},
        "hip": {"root": run.hip, "from": run.hip_from, "version": run.hip_version},
        "archs": list(run.archs),
        "summary": {
            "units": len(run.units),
            "by_verdict": run.counts,
            "by_target": run.by_target,
            "missing_headers": run.missing,
        },
        "notes": list(run.notes),
        "units": [
            {
                "path": u.path,
                "source": u.source,
                "verdict": u.verdict,
                "targets": {
                    t.target: {"verdict": t.verdict, "header": t.header, "errors": [e._asdict() for e in t.errors]}
                    for t in u.targets
                },
            }
            for u in run.units
        ],
    }


def lines(run: VerifyRecord, verbosity: int) -> Iterator[tuple[str, str]]:
    """(severity, line) for a terminal: errors once for all the targets that give them; verbosity as elsewhere.

    An error stands at its CUDA line when that is known, and names the line of the output behind it.
    """
    for unit in run.units:
        for error, targets in by_error(unit).items():
            yield "error", f"{_place(error)}: error for {', '.join(targets)}: {error.message}{_where(error)}"
        if unit.verdict == MISSING and verbosity >= 0:
            header = next(t.header for t in unit.targets if t.header)
            yield "warning", f"{unit.source or unit.path}: not judged: the header {header} is not on this machine"
        if verbosity > 0:
            cells = ", ".join(f"{t.target} {t.verdict}" for t in unit.targets)
            yield "info", f"{unit.path}: {cells}"


def by_error(unit: UnitRecord) -> dict[CompileError, list[str]]:
    """The errors of a unit, each with the targets that give it."""
    found: dict[CompileError, list[str]] = {}
    for t in unit.targets:
        for e in t.errors:
            found.setdefault(e, []).append(t.target)
    return found


def _place(e: CompileError) -> str:
    return f"{e.source}:{e.source_line}" if e.source else f"{e.path}:{e.line}:{e.column}"


def _where(e: CompileError) -> str:
    parts = [f"{e.path}:{e.line}:{e.column}"] if e.source else []
    parts += [f"in {e.inside}"] if e.inside else []
    return f" ({', '.join(parts)})" if parts else ""


def summary(run: VerifyRecord) -> Iterator[str]:
    """The lines of the summary."""
    yield f"compiler     {run.compiler_version} ({run.compiler_kind}: {run.compiler})"
    yield f"HIP headers  {run.hip_version} ({run.hip_from}: {run.hip})"
    yield f"units     {len(run.units):>7}  {_row(run.counts)}"
    for target, counts in run.by_target.items():
        if sum(counts.values()):
            yield f"{target:<10}{sum(counts.values()):>7}  {_row(counts)}"
    if run.missing:
        yield f"missing headers  {', '.join(f'{h} ({n})' for h, n in run.missing.items())}"


def _row(counts: dict[str, int]) -> str:
    return "  ".join(f"{n:>7} {v}" for v, n in counts.items() if n or v == COMPILES)
