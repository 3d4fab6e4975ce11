"""How much work a port is. One table of minutes; sums are said in words and as a range.

The minutes are a rule of thumb for somebody who knows the code: looking at a change that is probably right, working out
one that the tool could not make, finding another way for what has no counterpart. They are rows here so that whoever
knows better can say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

REVIEW_MIN = 2.0  # a change that wants a look
HAND_MIN = 15.0  # a finding that a person must deal with
NONE_MIN = 60.0  # a name without a counterpart
BY_CODE: Mapping[str, float] = {
    "CU102": 2, "CU104": 10, "CU105": 5, "CU106": 10, "CU108": 10, "CU109": 10, "CU110": 5,
    "CU203": 2, "CU204": 10, "CU206": 5, "CU207": 480, "CU208": 120, "CU209": 60, "CU217": 60,
    "CU401": 60, "CU601": 15, "CU710": 2, "CU720": 120,
}  # fmt: skip
SAME_LIBRARY = 0.25  # of the first, for the first use of another name of a library that lacks it too
SAME_AGAIN = 0.1  # of the first, for each further finding of the same rule with the same message
OFTEN = 20  # such findings; by then there is a header or a pattern that mends the others
SAME_OFTEN = 0.01  # of the first, for each finding beyond those
LOW, HIGH = 0.5, 2.0  # the range around the sum
TEST_SHARE = 0.5  # building, running and comparing, on top
_DAY_MIN = 6 * 60.0

METHOD = (
    f"Each finding costs minutes by its rule: {REVIEW_MIN:g} for a change to look at, {HAND_MIN:g} for one to make by "
    f"hand, {NONE_MIN:g} for a name without a counterpart, and what the table of effort.py says for some rules. "
    f"Another name that the same library lacks costs {SAME_LIBRARY:.0%} of that, a finding with the message of an "
    f"earlier one {SAME_AGAIN:.0%}, and beyond {OFTEN} of them {SAME_OFTEN:.0%}. {TEST_SHARE:.0%} is added for "
    f"building and testing. The range is {LOW:g} to {HIGH:g} times the sum; a day has {_DAY_MIN / 60:g} hours."
)


def share(earlier: int, library: bool) -> float:
    """Which part of its cost a finding has.

    `earlier`: how many findings with its message came before; `library`: another name of its library was dealt with.
    """
    if earlier:
        return SAME_AGAIN if earlier < OFTEN else SAME_OFTEN
    return SAME_LIBRARY if library else 1.0


def minutes(code: str, way: str, share: float = 1.0) -> float:
    """Minutes for a finding; `share`: less than 1 where an earlier one has done part of the work."""
    if way in ("self", "note"):
        return 0.0
    cost = REVIEW_MIN if way == "review" else BY_CODE.get(code, NONE_MIN if way == "none" else HAND_MIN)
    return round(cost * share, 2)


def total(costs: Iterable[float]) -> float:
    """Minutes of a port: those of its findings, and testing."""
    return sum(costs) * (1 + TEST_SHARE)


def days(sum_min: float) -> tuple[float, float]:
    """The range in working days."""
    return sum_min * LOW / _DAY_MIN, sum_min * HIGH / _DAY_MIN


def words(sum_min: float, kinds: int, places: int) -> str:
    """A sum in words; `kinds`: how many different things have no counterpart, and in how many places they stand."""
    low, high = days(sum_min)
    if sum_min < 1:
        return "nothing to do by hand: convert, build, test"
    size = (
        "a day at most" if high <= 1 else "some days" if high <= 10 else "some weeks" if high <= 60 else "some months"
    )
    rest = f"; {kinds:,} {'thing has' if kinds == 1 else 'things have'} no counterpart in HIP" if kinds else ""
    where = f", in {places:,} places" if places > 1 else ""
    digits = 0 if high >= 10 else 1
    return f"{size} for one person who knows the code ({low:,.{digits}f} to {high:,.{digits}f} days){rest}{where}"
