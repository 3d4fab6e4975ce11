"""Make's functions in a line: where their arguments end, which are patterns and no options, and what is made of lists
for nvcc alone: an option before each word, commas between them.

Source: GNU make's manual, "Functions for String Substitution and Analysis".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cu2port.build import options
from cu2port.build.pages import ARCHITECTURE, OPTION
from cu2port.build.words import finding
from cu2port.core.model import Edit, Finding, replace

_FUNCTION = re.compile(  # its first argument is a pattern; one inside `-arch=sm_$(subst .,,${CC})` is the option's
    r"(?<![\w=])\$[({](filter|filter-out|findstring|subst|patsubst)[ \t]+"
)
_ARGUMENTS = {  # how many, 99 for any number; the last one may hold commas
    **dict.fromkeys(("filter", "filter-out", "findstring", "addprefix", "addsuffix", "join", "word"), 2),
    **dict.fromkeys(("subst", "patsubst", "wordlist", "foreach", "if"), 3),
    **dict.fromkeys(("or", "and", "call"), 99),
}
_CALL = re.compile(r"(?<![\w=])\$[({](" + "|".join(sorted(_ARGUMENTS, reverse=True)) + r")[ \t]+")
_CLOSES = {"(": ")", "{": "}"}
_MOST = 4000  # bytes of an argument that are read
_PREFIXED = re.compile(r"\$[({]addprefix[ \t]+(?P<option>--?[A-Za-z][\w-]*)(?:=|[ \t]+),[ \t]*")
_SUBSTITUTED = re.compile(r"\$[({]\w+:[^\s=(){}]*=(?=-)")  # `$(FLAGS:%=-Xcompiler %)`
_ARCH = re.compile(r"(?<![\w-])--?(?:arch|gpu-architecture)=(?:sm_|compute_)?%")
_JOINED = re.compile(  # `-Xcompiler $(subst $(space),$(comma),X)`
    r"""(?<!\S)(?:-Xcompiler|--compiler-options)(?:=|(?:[ \t]|\\\r?\n)+)(?P<quote>["']?)(?P<call>\$[({]subst[ \t]+)"""
    r"""(?:\$[({]\w*(?i:space)\w*[)}]|\$[({]\w*[)}] \$[({]\w*[)}]),[ \t]*\$[({]\w*(?i:comma)\w*[)}],[ \t]*"""
)


@dataclass(frozen=True, slots=True)
class Functions:
    """What a line's functions are. `held`: bytes of the line in which there are no words of a command; `ends`: where
    arguments end, ascending; `starts`: where the first argument of a function starts; `passed`: bytes that the host's
    compiler gets."""

    held: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]
    ends: tuple[int, ...] = ()
    starts: frozenset[int] = frozenset()
    passed: tuple[tuple[int, int], ...] = ()

    def holds(self, at: int) -> int | None:
        """Where the part ends that holds byte `at` of the line, None if none does."""
        return max((end for start, end in self.held if start <= at < end), default=None)

    def passes(self, at: int) -> bool:
        """Whether byte `at` is of a word that the host's compiler gets."""
        return any(start <= at < end for start, end in self.passed)

    def end(self, at: int) -> int | None:
        """The first end of an argument from byte `at` on."""
        k = bisect_left(self.ends, at)
        return self.ends[k] if k < len(self.ends) else None


NONE = Functions((), ())


def functions(line: str, at: int) -> Functions:
    """The functions of a line that begins at byte `at` of its file."""
    if "$(" not in line and "${" not in line:
        return NONE
    held: list[tuple[int, int]] = []
    found: list[Finding] = []
    lists = [*_joined(line, at), *_prefixed(line, at)]
    for parts, findings in (*lists, *_patterns(line, at)):
        held += parts
        found += findings
    passed = [(parts[0][1], parts[1][0]) for parts, _ in lists if len(parts) > 1]
    starts = frozenset(m.end() for m in _CALL.finditer(line))
    return Functions(tuple(sorted(held)), tuple(found), tuple(sorted(_ends(line))), starts, tuple(passed))


_Found = tuple[Sequence[tuple[int, int]], Sequence[Finding]]


def _joined(line: str, at: int) -> Iterator[_Found]:
    """Lists that are joined by commas, as nvcc takes options for the host's compiler."""
    for m in _JOINED.finditer(line):
        end = _argument(line, m.end(), m["call"][1], whole=True)
        if end is not None:
            after = end + 1 + (line[end + 1 : end + 2] == m["quote"] != "")
            why = "and the commas with it: clang compiles the host's code too"
            yield _taken(line, at, m[0].split()[0], [m.span(), (end, after)], why)


def _prefixed(line: str, at: int) -> Iterator[_Found]:
    """Lists whose words get an option of nvcc's before them: `$(addprefix -Xcompiler ,$(CFLAGS))`."""
    for m in _PREFIXED.finditer(line):
        end = _argument(line, m.end(), m[0][1], whole=True)
        if end is None:
            continue
        if options.drops(m["option"]):
            start = m.start()
            while start and line[start - 1] in " \t":
                start -= 1
            yield _taken(line, at, m["option"], [(start, end + 1)], "with the words that it is put before")
        elif options.passes(m["option"]):
            parts = [m.span(), (end, end + 1)]
            yield _taken(line, at, m["option"], parts, "with its function: clang compiles the host's code too")


def _taken(line: str, at: int, option: str, parts: Sequence[tuple[int, int]], why: str) -> _Found:
    start, end = parts[0]
    edits = [Edit(at + a, at + b, ()) for a, b in parts]
    return parts, [finding(OPTION, f"`{option}` is taken out, {why}", at + start, at + end, edits, old=option)]


def _patterns(line: str, at: int) -> Iterator[_Found]:
    """Patterns of words, among them those of options for GPUs."""
    for m in _FUNCTION.finditer(line):
        comma = _argument(line, m.end(), m[0][1])
        if comma is None:
            continue
        found = []
        for arch in _ARCH.finditer(line, m.end(), comma) if m[1].startswith("filter") else ():
            new, start = "--offload-arch=%", at + arch.start()
            edits = [replace(start, start + len(arch[0]), new)]
            message = f"`{arch[0]}` becomes `{new}`: options for GPUs are clang's now"
            found.append(finding(ARCHITECTURE, message, start, start + len(arch[0]), edits, old=arch[0], new=new))
        yield [(m.start(), comma + 1)], found
    for m in _SUBSTITUTED.finditer(line):
        yield [m.span()], []


def _ends(line: str) -> Iterator[int]:
    for m in _CALL.finditer(line):
        start = m.end()
        for _ in range(_ARGUMENTS[m[1]] - 1):
            comma = _argument(line, start, m[0][1])
            if comma is None:
                break
            yield comma
            start = comma + 1
        last = _argument(line, start, m[0][1], whole=True)
        if last is not None:
            yield last


def closing(line: str, start: int) -> int | None:
    """Where the call ends whose `(` or `{` is at `start`; None if that is no bracket, or none closes it."""
    if line[start : start + 1] not in ("(", "{"):
        return None
    end = _argument(line, start + 1, line[start], whole=True)
    return None if end is None else end + 1


def _argument(line: str, start: int, bracket: str, whole: bool = False) -> int | None:
    """Where the argument that begins at `start` ends: at a comma, or with `whole` at the bracket that closes its
    function."""
    depth = 0
    for i in range(start, min(len(line), start + _MOST)):
        char = line[i]
        if char == bracket:
            depth += 1
        elif char == _CLOSES[bracket]:
            if not depth:
                return i if whole else None
            depth -= 1
        elif char == "," and not depth and not whole:
            return i
    return None
