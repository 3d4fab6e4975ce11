"""Make's functions in a line: where their arguments end, which are patterns and no options, and what is made of lists
for nvcc alone: an option before each word, commas between them.

Source: GNU make's manual, "Functions for String Substitution and Analysis".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from cu2port.build import options
from cu2port.build.pages import ARCHITECTURE, LIBRARY, OPTION
from cu2port.build.table import table
from cu2port.build.words import finding, swap
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
# More than `$(NAME)` and `${NAME}`. A `$` or `\\` before them makes them the shell's.
_MORE = re.compile(r"\$(?:\((?![\w.]+\))|\{(?![\w.]+\}))|[\\$]\$")
_SIGN = re.compile(r"\$[({]|[(){},]")
_PREFIXED = re.compile(r"\$[({]addprefix[ \t]+(?P<option>--?[A-Za-z][\w-]*)(?:=|[ \t]+),[ \t]*")
_SUBSTITUTED = re.compile(r"\$[({]\w+:[^\s=(){}]*=(?=-)")  # `$(FLAGS:%=-Xcompiler %)`
_ARCH = re.compile(r"(?<![\w-])--?(?:arch|gpu-architecture)=(?:sm_|compute_)?%")
_LIBRARY = re.compile(r"(?<![\w-])-l(\w+)(?![\w-])")
_JOINED = re.compile(  # `-Xcompiler $(subst $(space),$(comma),X)`
    r"""(?<!\S)(?:-Xcompiler|--compiler-options)(?:=|(?:[ \t]|\\\r?\n)+)(?P<quote>["']?)(?P<call>\$[({]subst[ \t]+)"""
    r"""(?:\$[({]\w*(?i:space)\w*[)}]|\$[({]\w*[)}] \$[({]\w*[)}]),[ \t]*\$[({]\w*(?i:comma)\w*[)}],[ \t]*"""
)


class _Call(NamedTuple):
    """A call: the commas of its own, and the bracket that closes it."""

    commas: tuple[int, ...]
    close: int


@dataclass(frozen=True, slots=True)
class Functions:
    """What a line's functions are. `held`: bytes of the line in which there are no words of a command; `ends`: where
    arguments end, ascending; `starts`: where the first argument of a function starts; `passed`: bytes that the host's
    compiler gets; `calls`: by the byte of their bracket."""

    held: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]
    ends: tuple[int, ...] = ()
    starts: frozenset[int] = frozenset()
    passed: tuple[tuple[int, int], ...] = ()
    calls: Mapping[int, _Call] = field(default_factory=dict)

    def holds(self, at: int) -> int | None:
        """Where the part ends that holds byte `at` of the line, None if none does."""
        return _around(self.held, at)

    def passes(self, at: int) -> bool:
        """Whether byte `at` is of a word that the host's compiler gets."""
        return _around(self.passed, at) is not None

    def end(self, at: int) -> int | None:
        """The first end of an argument from byte `at` on."""
        k = bisect_left(self.ends, at)
        return self.ends[k] if k < len(self.ends) else None

    def closing(self, at: int) -> int | None:
        """Where the call ends whose `(` or `{` is at byte `at`; None if that is none, or nothing closes it."""
        found = self.calls.get(at)
        return None if found is None else found.close + 1


def _around(parts: Sequence[tuple[int, int]], at: int) -> int | None:
    k = bisect_right(parts, at, key=itemgetter(0)) - 1
    return parts[k][1] if k >= 0 and at < parts[k][1] else None


NONE = Functions((), ())


def functions(line: str, at: int) -> Functions:
    """The functions of a line that begins at byte `at` of its file."""
    if "$" not in line or _MORE.search(line) is None:
        return NONE
    calls = _calls(line)
    if not calls:
        return NONE
    held: list[tuple[int, int]] = []
    found: list[Finding] = []
    lists = [*_joined(line, at, calls), *_prefixed(line, at, calls)]
    for parts, findings in (*lists, *_patterns(line, at, calls)):
        held += parts
        found += findings
    passed = sorted((parts[0][1], parts[1][0]) for parts, _ in lists if len(parts) > 1)
    starts = frozenset(m.end() for m in _CALL.finditer(line))
    ends = tuple(sorted(_ends(line, calls)))
    return Functions(tuple(_merged(held)), tuple(found), ends, starts, tuple(_merged(passed)), calls)


def _calls(line: str) -> dict[int, _Call]:
    """The calls of a line that are closed. Brackets of the other kind mean nothing in one (the manual, "Syntax of
    functions")."""
    out: dict[int, _Call] = {}
    stack: list[tuple[str, int, list[int], list[int]]] = []  # its bracket and place, commas, open brackets in it
    for m in _SIGN.finditer(line):
        sign, at = m[0], m.start()
        if len(sign) == 2:
            stack.append((sign[1], at + 1, [], []))
            continue
        if not stack:
            continue
        bracket, start, commas, inner = stack[-1]
        if sign == bracket:
            inner.append(at)
        elif sign == _CLOSES[bracket] and inner:
            inner.pop()
        elif sign == _CLOSES[bracket]:
            out[start] = _Call(tuple(commas), at)
            stack.pop()
        elif sign == "," and not inner:
            commas.append(at)
    return out


def _merged(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


_Found = tuple[Sequence[tuple[int, int]], Sequence[Finding]]


def _joined(line: str, at: int, calls: Mapping[int, _Call]) -> Iterator[_Found]:
    """Lists that are joined by commas, as nvcc takes options for the host's compiler."""
    for m in _JOINED.finditer(line):
        call = calls.get(m.start("call") + 1)
        if call is not None:
            end = call.close
            after = end + 1 + (line[end + 1 : end + 2] == m["quote"] != "")
            why = "and the commas with it: clang compiles the host's code too"
            yield _taken(line, at, m[0].split()[0], [m.span(), (end, after)], why)


def _prefixed(line: str, at: int, calls: Mapping[int, _Call]) -> Iterator[_Found]:
    """Lists whose words get an option of nvcc's before them: `$(addprefix -Xcompiler ,$(CFLAGS))`."""
    for m in _PREFIXED.finditer(line):
        call = calls.get(m.start() + 1)
        if call is None:
            continue
        end = call.close
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


def _patterns(line: str, at: int, calls: Mapping[int, _Call]) -> Iterator[_Found]:
    """Patterns of words, among them those of options for GPUs."""
    for m in _FUNCTION.finditer(line):
        call = calls.get(m.start() + 1)
        if call is None or not call.commas:
            continue
        comma = call.commas[0]
        found = []
        for arch in _ARCH.finditer(line, m.end(), comma) if m[1].startswith("filter") else ():
            new, start = "--offload-arch=%", at + arch.start()
            edits = [replace(start, start + len(arch[0]), new)]
            message = f"`{arch[0]}` becomes `{new}`: options for GPUs are clang's now"
            found.append(finding(ARCHITECTURE, message, start, start + len(arch[0]), edits, old=arch[0], new=new))
        for library in _LIBRARY.finditer(line, m.end(), comma) if m[1].startswith("filter") else ():
            row = table()["library"].get(library[1])
            if row is not None and row.fate == "rewrite":  # as the words that it filters
                found.append(swap(LIBRARY, library[1], row.to, at + library.start(1), row.why, row.review))
        yield [(m.start(), comma + 1)], found
    for m in _SUBSTITUTED.finditer(line):
        yield [m.span()], []


def _ends(line: str, calls: Mapping[int, _Call]) -> Iterator[int]:
    for m in _CALL.finditer(line):
        call = calls.get(m.start() + 1)
        if call is not None:
            yield from call.commas[: _ARGUMENTS[m[1]] - 1]
            yield call.close
