"""What a trial says of a kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

Outcome = Literal["same", "differs", "could not"]
AGREES = ("same", "close", "permuted")  # how a launch went whose values are right
ENOUGH = 0.8  # of a kernel's branches, each taken and not taken
#: How the reason begins where launches with other orders of threads leave other values.
UNORDERED = "its result depends on the order of its threads"
#: How the reason begins where CUDA's kernel does something else with each access watched.
UNSTEADY = "with each access watched and other bytes in memory that nothing wrote CUDA's kernel leaves something else:"
#: Why no launch says anything where the floats of each are such.
ROUNDING = "its floats are rounding alone: where arguments change by one unit in the last place they move as far"
#: How the text of a race ends that a warp in lockstep does not have.
IN_ONE_WARP = "no __syncwarp between them"
_LINE = re.compile(
    r"case (\d+) (new|follows|more|alike|same|close|permuted|differs|rounding|failed|race|bounds|shift|wrote|nothing)"
    r"\t?(.*)"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`why`: the reason, or the difference. `cases`: launches that were compared; `branches`: the part of the branches
    that they executed; `close`: floats differ by rounding; `permuted`: elements are in another order; `rounding`: other
    launches, in which floats are rounding alone."""

    kernel: str
    file: str
    line: int
    outcome: Outcome
    why: str = ""
    cases: int = 0
    branches: float = 0.0
    close: bool = False
    permuted: bool = False
    rounding: int = 0

    @property
    def text(self) -> str:
        place = f"{self.file}:{self.line}: {self.kernel}: {self.outcome}"
        if self.outcome == "same":
            but = ", floats up to rounding" * self.close + ", elements in any order" * self.permuted
            but += f", {self.rounding} more left out: floats are rounding alone" * (self.rounding > 0)
            return f"{place} ({self.cases} launches, {self.branches:.0%} of the branches{but})"
        return f"{place}: {self.why}"


@dataclass(frozen=True, slots=True)
class Case:
    """A launch and how it went: same, close, permuted, differs, rounding or failed; `more` where it ran in one order of
    threads alone, `alike` where one of these agrees; or `new`, `follows`, `race`, `bounds`, `shift` or `wrote`, beside
    another line for the launch. `rest`: the fields after the word."""

    number: int
    word: str
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What a program of a trial printed. `unfit`: why no arguments can be made; `writer`: block, thread and number."""

    cases: tuple[Case, ...] = ()
    branches: str = ""
    unfit: str = ""
    writer: tuple[str, ...] = ()

    def numbers(self, *words: str) -> list[int]:
        return [c.number for c in self.cases if c.word in words]

    def of(self, *words: str) -> Said:
        """Its cases with these words alone."""
        return replace(self, cases=tuple(c for c in self.cases if c.word in words))

    def floats(self) -> list[int]:
        """The launches that differ in floats alone."""
        return [c.number for c in self.cases if c.word == "differs" and c.rest[9:] == ("1",)]

    def races(self) -> dict[int, Case]:
        """The launches with a race, by number: what was said of it, and the addresses of both accesses."""
        return {c.number: c for c in self.cases if c.word == "race"}

    def wrote(self) -> dict[int, int]:
        """The bytes of dynamic shared memory up to the last one that was written, by launch."""
        return {c.number: int(c.rest[0]) for c in self.cases if c.word == "wrote"}

    def coverage(self, count: int) -> float:
        """The part of the branches' outcomes that were seen; conditions that are constants do not count."""
        bits = [int(x) for x in self.branches[:count] if x != "4"]
        return sum((b & 1) + (b >> 1 & 1) for b in bits) / (2 * len(bits)) if bits else 1.0

    def missed(self, places: Sequence[str]) -> str:
        """The places of some branches that went one way only."""
        out = [p for p, x in zip(places, self.branches, strict=False) if x != "4" and int(x) & 3 != 3]
        return ", ".join(dict.fromkeys(out[:4]))


def read_output(text: str) -> Said:
    """The cases of a program's output."""
    cases = []
    branches = unfit = ""
    writer: tuple[str, ...] = ()
    for line in text.splitlines():
        if m := _LINE.fullmatch(line):
            cases.append(Case(int(m[1]), m[2], tuple(m[3].split("\t"))))
        elif line.startswith("branches "):
            branches = line[9:]
        elif line.startswith("unfit\t"):
            unfit = line[6:]
        elif line.startswith("writer\t"):
            writer = tuple(line.split("\t")[1:4])
    return Said(tuple(cases), branches, unfit, writer)


def by_chance(said: Said) -> bool:
    """Whether too few launches left the same in any order: these may hold what any order gives, as NaN, or so little
    that there is none. Of those that follow none of them it is a quarter, of all a half."""
    steady, unsteady = set(said.numbers(*AGREES)), set(said.numbers("differs"))
    followers = set(said.numbers("follows"))
    return len(steady) <= len(unsteady) or 3 * len(steady - followers) < len(unsteady - followers)


def telling(steady: Sequence[int], new: Set[int]) -> list[int]:
    """The launches in which races are looked for, as far as time allows, in order: those that reached something new,
    the last first, then others."""
    return sorted(steady, key=lambda n: (n not in new, -n if n in new else n))


def without_cases(runs: Mapping[str, Said], cases: Set[int] | Mapping[int, str]) -> dict[str, Said]:
    """What was said of runs, without some launches."""
    return {name: replace(x, cases=tuple(c for c in x.cases if c.number not in cases)) for name, x in runs.items()}


def fruitless(said: Said) -> str:
    """Why the launches of CUDA's kernel leave nothing to compare; "" where they do."""
    steady = {*said.numbers(*AGREES)}
    if not steady and not said.numbers("differs"):
        return f"no arguments found: {most_common_failure(said.cases)}"
    if by_chance(said):
        order = first.text.lstrip(", ") if (first := first_difference({"": said.of("differs")})) else ""
        return f"{UNORDERED}: {order}"
    return "it changes nothing in memory" if steady <= {*said.numbers("nothing")} else ""


def most_common_failure(cases: Iterable[Case]) -> str:
    """The reason that most failed cases give."""
    counted = Counter(plain_failure(c) for c in cases if c.word == "failed")
    return counted.most_common(1)[0][0] if counted else "no case ran"


def plain_failure(case: Case) -> str:
    """Why a case failed, without the place in the simulator."""
    return re.sub(r"\s+kernel .*|, address 0x.*|cu2port (?:simulate|trial): ", "", case.rest[0]).strip()


@dataclass(frozen=True, slots=True)
class First:
    """The smallest launch that differs. `run`: which of the runs; `place`: address and size of the first element, as
    the program printed them, () where a thread cannot be watched there."""

    text: str
    run: str
    case: int
    place: tuple[str, ...] = ()


def first_difference(runs: Mapping[str, Said]) -> First | None:
    """The smallest launch that differs, with its first element. `runs` by what was run."""
    found = []
    for order, (name, said) in enumerate(runs.items()):
        for c in said.cases:
            if c.word == "differs":
                threads, grid, block, count, element, cuda, hip, at, size = c.rest[:9]
                more = f", {int(count) - 1} more" if int(count) > 1 else ""
                text = f"{name}, <<<{grid}, {block}>>>: {element} is {hip}, in CUDA {cuda}{more}"
                place = (at, size) if at != "0" else ()
                found.append((int(threads), c.number, order, First(text, name, c.number, place)))
            elif c.word == "failed":
                text = f"{name}: the converted kernel fails: {plain_failure(c)}"
                found.append((1 << 30, c.number, order, First(text, name, c.number)))
    return min(found, key=lambda f: f[:3])[3] if found else None


def written_by(said: Said, wave: int) -> str:
    """Which thread wrote an element, as the end of a sentence; "" where that is not known."""
    if not said.writer:
        return ""
    block, thread, number = said.writer
    return f"; thread {thread} of block {block} wrote it, lane {int(number) % wave} of a wave"
