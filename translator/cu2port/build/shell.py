"""What commands of a shell tell cmake, and the lines of a script that mean CUDA and are not edited."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from cu2port.build import options
from cu2port.build.lines import lines, spoken
from cu2port.build.make_lines import Line
from cu2port.build.pages import TOOLKIT, VARIABLE
from cu2port.build.presets import entry
from cu2port.build.table import table
from cu2port.build.words import Asked, finding, swap
from cu2port.core.model import Finding
from cu2port.facts.environment import TOOLKITS

_OPTION = re.compile(r"(?P<quote>[\"']?)-D[ \t]*(?P<key>(?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)(?::\w+)?=")
_SET = re.compile(r"(?<![\w$.-])(?P<quote>)(?P<key>CUDACXX|CUDAFLAGS)=")
_EXPORTS = re.compile(  # also `NAME=x command`
    r"^[ \t]*(?:(?:export|setenv)[ \t](?P<all>[^\n#]*)|(?P<one>\w+)=[^\s\"'#;&|]+[ \t]+(?![#;&|])\S)", re.M
)
_HOME = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(TOOLKITS))})(?![\w-])")
#: Variables of the environment that cmake reads -> the variable that gets the value, and HIP's.
_READ_BY_CMAKE = {"CUDACXX": ("CMAKE_CUDA_COMPILER", "HIPCXX"), "CUDAFLAGS": ("CMAKE_CUDA_FLAGS", "HIPFLAGS")}
_CMAKE = re.compile(r"cmake", re.I)
_BARE = re.compile(r"""(?:\\.|\$\([^()\n]*\)|\$\{[^{}\n]*\}|[^\s"'`;|&)\\])*""")
_NEXT = re.compile(r"\s+-D\s*\w+(?::\w+)?=")  # the next option of a list in quotes
_LONGEST = 4000  # characters of a value: what is looked for has a bound, since lines may be long
_SAYS = re.compile(r"\s*(?:echo|printf)\b[^\n|]*\Z")  # and hands it to nothing
_CALLED = re.compile(r"\$\(([^()\n]*)\)|`([^`\n]*)`")


def cache_options(text: str, line: Line, asked: Asked) -> Iterator[tuple[int, int, list[Finding]]]:
    """Options `-DCMAKE_CUDA_...=...` of cmake in a line, each by its start and end in the file, with its findings."""
    for m in _OPTION.finditer(line.text) if "-D" in line.text else ():
        key = m["key"]
        if not key.startswith("CMAKE_") and not _CMAKE.search(line.name or line.text):
            continue  # a macro for a compiler
        first, last = _value(line.text, m)
        start, at = line.start + m.start("key"), line.start + first
        row = table()["variable"].get(key)
        if row is not None and row.fate == "drop":
            quoted = bool(m["quote"]) and line.text[last : last + 1] == m["quote"]
            begin, end = line.start + (m.start() if quoted else m.end("quote")), line.start + last
            end += quoted or line.text[first - 1] in "\"'"
            gone = options.gap(text, options.Word("", begin, (begin, end)), end)
            message = f"`{key}` is taken out: {row.why}"
            yield start, end, [finding(VARIABLE, message, begin, end, [gone], old=key)]
            continue
        in_quotes = line.text[first - 1] in "\"'" or bool(m["quote"])
        value = line.text[first:last], at
        yield start, line.start + last, list(entry(text, key, start, value, asked, ";" if in_quotes else "\\;"))


def for_cmake(text: str, line: Line, asked: Asked) -> Iterator[tuple[int, int, list[Finding]]]:
    """Assignments of a script to variables that cmake reads, as `cache_options` has its options."""
    for m in _SET.finditer(line.text) if "CUDA" in line.text else ():
        first, last = _value(line.text, m)
        start = line.start + m.start("key")
        variable, new = _READ_BY_CMAKE[m["key"]]
        of = entry(text, variable, start, (line.text[first:last], line.start + first), asked)
        named = [f for f in of if f.start != start]
        yield start, line.start + last, [swap(VARIABLE, m["key"], new, start), *named]


def exported(text: str) -> frozenset[str]:
    """The variables for CUDA's folder that a script gives to the programs that it calls."""
    return frozenset(name for m in _EXPORTS.finditer(text) for name in _HOME.findall(m["all"] or m["one"]))


def renamed_home(line: Line, names: Collection[str]) -> Iterator[Finding]:
    """What becomes of exported variables for CUDA's folder: ROCM_PATH, as in the tree's other files."""
    for m in _HOME.finditer(line.text) if names else ():
        if m[0] in names:
            yield swap(TOOLKIT, m[0], "ROCM_PATH", line.start + m.start(), "ROCm's tools read that", review=True)


def _value(line: str, option: re.Match[str]) -> tuple[int, int]:
    """Where the value of an option is, without quotes."""
    first, quote = option.end(), option["quote"]
    if not quote and line[first : first + 1] in ("'", '"'):
        quote, first = line[first], first + 1
        last = line.find(quote, first, first + _LONGEST)
        return first, last if last >= 0 else min(len(line), first + _LONGEST)
    if quote:
        stop = min(len(line), first + _LONGEST)
        last = line.find(quote, first, stop)
        last = last if last >= 0 else stop
        after = _NEXT.search(line, first, last)
        return first, after.start() if after else last
    bare = _BARE.match(line, first)
    return first, bare.end() if bare else first


def unread(text: str, told: Collection[int]) -> Iterator[Finding]:
    """Findings for lines of a script that refer to CUDA and that no other finding is about. `told`: where those
    begin."""
    starts = sorted(told)
    for found in lines(text):
        begin = text.rfind("\n", 0, found.start) + 1
        end = text.find("\n", found.start)
        end = len(text) if end < 0 else end
        if not any(begin <= x < end for x in starts) and not _only_says(text[begin:end]):
            yield found


def _only_says(line: str) -> bool:
    """Whether a line only prints what it says of CUDA."""
    called = (m[1] or m[2] for m in _CALLED.finditer(line))
    return _SAYS.match(line) is not None and not any(next(spoken(x), None) for x in called)
