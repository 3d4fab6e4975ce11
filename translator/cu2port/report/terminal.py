"""The report for a terminal: a line a finding, as compilers and ruff write them, then a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cu2port.core.entry import Entry, counted
from cu2port.core.families import OWN
from cu2port.core.model import Outcome, Severity
from cu2port.core.record import FileRecord, RunRecord, TreeRecord

_MOST = 12  # codes and names that the summary lists before it counts the rest
_MANY_PLACES = 10  # of one message in a file; of more than these the first few are shown, and the rest is counted
_MOST_PLACES = 5


def finding_line(f: FileRecord, e: Entry) -> str:
    """`k.cu:12:9: CU310 warp-mask-width: message`; an outcome that is no matter of course is named.

    What cu2port says of a whole file (CU9xx) has no place in it: `k.cu: CU903 unreadable: message`.
    """
    if OWN.has(e.code):
        return f"{f.path}: {e.code} {e.name}: {e.message}"
    mark = {Outcome.APPLIED.value: " (applied)", Outcome.CONFLICT.value: " (conflict)"}.get(e.outcome, "")
    return f"{f.path}:{e.start.line}:{e.start.column}: {e.code} {e.name}: {e.message}{mark}"


def findings(run: RunRecord, verbosity: int) -> Iterator[tuple[str, str]]:
    """(severity, line) of the findings to show: -1 errors left, 0 all that is left, 1 everything and notes.

    What cu2port has to say of a file is shown at 0 too when there is nothing left to do about it. Below 1 the same
    message is shown at its first places in a file, and then how many more there are: code over a library that has no
    port has hundreds in each file.
    """
    for f in run.files:
        if any(_shown(e, verbosity) for e, _ in counted(f.entries)):
            shown = [e for e in f.entries if _shown(e, verbosity)]
            yield from ((e.severity, finding_line(f, e)) for e in shown) if verbosity > 0 else _first_places(f, shown)
        if verbosity > 0:
            for note in f.notes:
                yield Severity.INFO.value, f"{f.path}: note: {note}"


def _first_places(f: FileRecord, shown: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """The lines of a file's findings; of a message that is there often the first few, then the number of the others."""
    places = Counter(map(_same, shown))
    before: Counter[tuple[str, ...]] = Counter()
    for e in shown:
        before[_same(e)] += 1
        if before[_same(e)] <= _MOST_PLACES or places[_same(e)] <= _MANY_PLACES:
            yield e.severity, finding_line(f, e)
    for same, n in places.items():
        if n > _MANY_PLACES:
            severity, code, name, _, message = same
            yield severity, f"{f.path}: {code} {name}: {n - _MOST_PLACES} more in this file (-v shows each): {message}"


def _same(e: Entry) -> tuple[str, str, str, str, str]:
    """What findings that differ in their place alone have in common."""
    return e.severity, e.code, e.name, e.outcome, e.message


def _shown(e: Entry, verbosity: int) -> bool:
    left = e.open or (OWN.has(e.code) and verbosity == 0)
    return verbosity > 0 or (left and (verbosity == 0 or e.severity == Severity.ERROR.value))


def summary(run: RunRecord) -> Iterator[str]:
    """The lines of the summary table."""
    status = Counter(f.status for f in run.files)
    total = sum(len(f.entries) for f in run.files)
    left_by: Counter[str] = Counter()
    todo: Counter[str] = Counter()
    for e, n in run.kinds:
        if e.open:
            left_by[e.outcome] += n
            todo[f"{e.code} {e.name}"] += n
    applied = run.by_outcome[Outcome.APPLIED.value]
    outcome = [(Outcome.APPLIED.value, applied), *((o.value, left_by[o.value]) for o in Outcome if left_by[o.value])]
    outcome.append(("for information", total - applied - sum(left_by.values())))
    names, left = run.seen, sorted(run.left)
    yield _row("files", len(run.files), [(n, status[n]) for n in ("converted", "copied", "partial", "failed")])
    if run.ignored:
        yield _listing(f"{'ignored':<11}{len(run.ignored):>7}", list(run.ignored)) + " (git ignores them)"
    if not any(f.status != "copied" or f.seen or f.entries for f in run.files):
        yield "no CUDA found: nothing was converted"
    if run.hip:
        yield from _hip(run.hip)
    yield _row("findings", total, outcome)
    yield _row("CUDA names", len(names), [("converted", len(names) - len(left)), ("left", len(left))])
    if left:
        yield _listing("names left", left)
    if todo:
        rows = sorted(todo.items(), key=lambda item: (-item[1], item[0]))
        yield _listing("to do", [f"{name} ({count})" for name, count in rows])


def _hip(tree: TreeRecord) -> Iterator[str]:
    """What the tree has for HIP already, and where two widths of warps meet."""
    yield f"{'HIP code':<11}  {tree.message}"
    if tree.macros or tree.folders:
        yield _listing("HIP side", [*tree.macros, *(f"{f}/" for f in tree.folders)])
    if tree.mixed_widths:
        title = "two widths: converted code with warps of 32 lanes reaches code for whole wavefronts"
        yield _listing(title, [f"{a} -> {b}" for a, b in tree.mixed_widths])


def _row(title: str, total: int, parts: list[tuple[str, int]]) -> str:
    cells = "  ".join(f"{count:>7} {name}" for name, count in parts if count or name in ("converted", "applied"))
    return f"{title:<11}{total:>7}  {cells}"


def _listing(title: str, items: list[str]) -> str:
    more = f", and {len(items) - _MOST} more" if len(items) > _MOST else ""
    return f"{title:<11}  {', '.join(items[:_MOST])}{more}"
