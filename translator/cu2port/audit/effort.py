"""How much work a port is: minutes by part, and their sum in words, as a range. Checks have minutes of their own.

The minutes of findings are a rule of thumb for somebody who knows the code: looking at a change that is probably right,
working out one that the tool could not make, finding another way for what has no counterpart. Those of building and
testing come from ports of open projects (docs/audit.md has them, tools/port_history.py measures them): there they are
most of the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cu2port.audit.bindings import Binding
from cu2port.audit.build_lines import BuildLine
from cu2port.checks import by_code

REVIEW_MIN = 2.0  # a change that needs review
HAND_MIN = 15.0  # a finding that needs manual work
NONE_MIN = 60.0  # a name without a counterpart
UNKNOWN_MIN = 10.0  # a name that looks like one of CUDA's, has no row and no finding
BUILD_KIND_MIN = 20.0  # the first line of a kind (the compiler, its options, ...) in the build files
BUILD_LINE_MIN = 2.0  # each further one
LANGUAGE_MIN = 240.0  # another language that uses CUDA, first file
BINDING_MIN = 30.0  # each further file of it
LINES_MIN = 3 * 360.0  # building, running, comparing: 1,000 lines of CUDA files; more lines cost as their root grows
SAME_LIBRARY = 0.25  # of the first, for the first use of another name of a library that lacks it too
SAME_AGAIN = 0.1  # of the first, for each further finding of the same rule with the same message
OFTEN = 20  # such findings; by then there is a header or a pattern that fixes the others
SAME_OFTEN = 0.01  # of the first, for each finding beyond those
LOW, HIGH = 0.5, 4.0  # the range around the sum
_DAY_MIN = 6 * 60.0

METHOD = (
    f"Each finding costs minutes by its rule: {REVIEW_MIN:g} for a change to look at, {HAND_MIN:g} for one to make by "
    f"hand, {NONE_MIN:g} for a name without a counterpart; some rules have minutes of their own. "
    f"Another name that the same library lacks costs {SAME_LIBRARY:.0%} of that, a finding with the message of an "
    f"earlier one {SAME_AGAIN:.0%}, and beyond {OFTEN} of them {SAME_OFTEN:.0%}. A name that nobody knows costs "
    f"{UNKNOWN_MIN:g}, a kind of line in the build files {BUILD_KIND_MIN:g} and each further line {BUILD_LINE_MIN:g}, "
    f"another language that uses CUDA {LANGUAGE_MIN:g} and each further file of it {BINDING_MIN:g}. Building and "
    f"testing cost {LINES_MIN:g} for 1,000 lines of CUDA files, in proportion below and by the square root above. "
    f"The range is {LOW:g} to {HIGH:g} times the sum; a day has {_DAY_MIN / 60:g} hours."
)


class Part(NamedTuple):
    """A part of an estimate: what, how many of it, and the minutes."""

    what: str
    number: int
    minutes: float


def parts(
    findings: Sequence[Mapping[str, object]],
    unknown: int,
    builds: Sequence[BuildLine],
    bindings: Sequence[Binding],
    lines: int,
) -> list[Part]:
    """What an estimate is made of, without empty parts.

    `unknown`: names left that no finding tells of; `lines`: those of CUDA files.
    """
    ways = {
        "review": "changes that need review",
        "hand": "findings to deal with by hand",
        "none": "uses of what has no counterpart",
        "note": "names treated as the project's own",
    }
    out = [
        Part(title, len(costs), sum(costs))
        for way, title in ways.items()
        if (costs := [float(str(x["minutes"])) for x in findings if x["way"] == way and x["minutes"]])
    ]
    kinds = len({b.what for b in builds})
    files = {(b.language, b.path) for b in bindings}
    languages = len({b.language for b in bindings})
    out += [
        Part("names that look like CUDA's and are unknown", unknown, unknown * UNKNOWN_MIN),
        Part(
            "lines of build files",
            len(builds),
            kinds * BUILD_KIND_MIN + (len(builds) - kinds) * BUILD_LINE_MIN,
        ),
        Part(
            "files of other languages that use CUDA",
            len(files),
            languages * LANGUAGE_MIN + (len(files) - languages) * BINDING_MIN,
        ),
    ]
    thousands = lines / 1000
    testing = LINES_MIN * min(thousands, thousands**0.5)
    out.append(Part("lines of CUDA files to build, run and compare", lines, testing))
    return [p for p in out if p.minutes]


def share(earlier: int, library: bool) -> float:
    """Which part of its cost a finding has.

    `earlier`: how many findings with its message came before; `library`: another name of its library was dealt with.
    """
    if earlier:
        return SAME_AGAIN if earlier < OFTEN else SAME_OFTEN
    return SAME_LIBRARY if library else 1.0


def minutes(code: str, way: str, share: float = 1.0) -> float:
    """Minutes for a finding; `share`: less than 1 where an earlier one has done part of the work."""
    if way == "self":
        return 0.0
    check = by_code().get(code)
    if way == "note":
        cost = check.note_minutes if check else 0.0
    elif way == "review":
        cost = REVIEW_MIN
    else:
        own = check.minutes if check else None
        cost = own if own is not None else NONE_MIN if way == "none" else HAND_MIN
    return round(cost * share, 2)


def total(cost_parts: Iterable[Part]) -> float:
    """Minutes of a port."""
    return sum(p.minutes for p in cost_parts)


def days(sum_min: float) -> tuple[float, float]:
    """The range in working days."""
    return sum_min * LOW / _DAY_MIN, sum_min * HIGH / _DAY_MIN


def words(sum_min: float, kinds: int, places: int) -> str:
    """A sum in words; `kinds`: how many different things have no counterpart, and in how many places they stand."""
    low, high = days(sum_min)
    if sum_min < 1:
        return "nothing to do: no CUDA was found"
    size = (
        "a day at most" if high <= 1 else "some days" if high <= 10 else "some weeks" if high <= 60 else "some months"
    )
    rest = f"; {kinds:,} {'thing has' if kinds == 1 else 'things have'} no counterpart in HIP" if kinds else ""
    where = f", in {places:,} places" if places > 1 else ""
    digits = 0 if high >= 10 else 1
    return f"{size} for one person who knows the code ({low:,.{digits}f} to {high:,.{digits}f} days){rest}{where}"
