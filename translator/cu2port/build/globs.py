"""Sources that a pattern of CMake's `file(GLOB ...)` finds: the language HIP for them, and the suffix of --rename."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePosixPath

from cu2port.build.layout import break_of
from cu2port.build.pages import HOST_SOURCE, RENAMED, SOURCE
from cu2port.build.syntax import Arg, Command
from cu2port.build.words import Asked, finding, plain_path
from cu2port.core.model import Finding, Side, insert

#: Why sources are marked as HIP.
FOR_CUDA = "CMake has no language for `.cu` without CUDA; marked as HIP"
FOR_THRUST = "Thrust or CUB is included, which the compiler of HIP takes alone; marked as HIP"
_KEYWORDS = frozenset({"CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS", "RELATIVE", "LIST_DIRECTORIES", "true", "false"})
_HERE = re.compile(r"^\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/")
_VARIABLE = re.compile(r"[$@][({<]?[^)}>@]*[)}>@]")
_LISTED = re.compile(r"\b(?i:set|list)\s*\([^()]*\*\.(?i:cu)(?=[\s;\")])")
_BY_VARIABLE = re.compile(r"\b(?i:file)\s*\(\s*GLOB(?:_RECURSE)?\s[^()]*\$\{\w+\}[\s\")]")
_STAR = re.compile(r"[\w/}>*]\*|^\*")  # of a pattern's, not of a regular expression's
_WIDTH = 100  # of a line of names


@dataclass(frozen=True, slots=True)
class Known:
    """What a file says of sources. `marked`: words that have the property LANGUAGE; `others`: variables that only
    commands read which take no sources, as in a script that `cmake -P` runs; `made`: targets that it makes;
    `looked_up`: words of its commands `file(GLOB ...)`; `handed`: words of the lists that it hands to the folder
    above, by where the command begins that does; `fallback`: words that are sources in C++ under a condition."""

    marked: frozenset[str]
    others: frozenset[str]
    made: frozenset[str] = frozenset()
    looked_up: frozenset[str] = frozenset()
    handed: Mapping[int, tuple[Arg, ...]] = field(default_factory=dict)
    fallback: frozenset[str] = frozenset()


def lists_patterns(text: str) -> bool:
    """Whether a file keeps patterns of `.cu` in a list, for a command that looks them up."""
    return "*.cu" in text.lower() and _LISTED.search(text) is not None


def by_variable(text: str) -> bool:
    """Whether a file looks sources up by a pattern that ends in a variable."""
    return "GLOB" in text and _BY_VARIABLE.search(text) is not None


def several(names: Sequence[str]) -> str:
    """The first name, and how many more there are."""
    return f"`{names[0]}`" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _is_glob(c: Command) -> bool:
    return c.name == "file" and len(c.args) > 2 and c.args[0].text.upper() in ("GLOB", "GLOB_RECURSE")


def _patterns(c: Command, names: bool = False) -> list[tuple[Arg, str]]:
    """What a command finds files by. `names`: whole names of `.cu` too."""
    return [(a, p) for a, p in _words(c) if "*" in p or (names and _names_cuda(p))]


def _words(c: Command) -> list[tuple[Arg, str]]:
    """All that a command finds files by, plain names too."""
    args = [a for before, a in pairwise(c.args[1:]) if before.text.upper() != "RELATIVE"]
    return [(a, p) for a in args for p in a.text.split(";") if p not in _KEYWORDS]


def _names_cuda(pattern: str) -> bool:
    """Whether a pattern says `.cu` itself."""
    return pattern.lower().endswith(".cu")


def _finds(pattern: str, recurse: bool, asked: Asked, among: Collection[str]) -> list[str]:
    """Paths from the root that a pattern finds; one behind a variable finds what ends so."""
    here = _HERE.sub("", pattern)
    tail = _VARIABLE.split(here)[-1]
    whole = tail.lstrip("/") if tail != here else plain_path(PurePosixPath(asked.folder, tail))
    parts = whole.replace("[^", "[!").split("/")  # fnmatch has `!` alone
    found = []
    for name in among:
        names = name.split("/")
        first = range(len(names)) if tail != here else (0,)
        if any(_fits(names[k:], parts, recurse) for k in first):
            found.append(name)
    return found


def _fits(names: Sequence[str], parts: Sequence[str], recurse: bool) -> bool:
    """Whether the parts of a pattern fit those of a path. `recurse`: the last one may be in any folder below."""
    enough = len(names) >= len(parts) if recurse else len(names) == len(parts)
    return enough and fnmatchcase(names[-1], parts[-1]) and all(map(fnmatchcase, names, parts[:-1]))


def globbed(text: str, c: Command, asked: Asked, known: Known) -> Iterator[Finding]:
    """`file(GLOB X *.cu *.cpp)`: what the compiler of HIP takes is marked after it. A pattern that does not say `.cu`,
    as `*.c*`, is looked up among the sources of the tree."""
    if not _is_glob(c) or not re.fullmatch(r"\w+", c.args[1].text):
        return
    recurse = c.args[0].text.upper() == "GLOB_RECURSE"
    others = c.args[1].text in known.others
    patterns = [(a, p) for a, p in _patterns(c, True) if "." in p.rpartition("/")[2] or not others]
    yield from _hosts(text, c, asked, known, [p for _, p in patterns])
    cuda = [p for _, p in patterns if _finds_cuda(p, recurse, asked)]
    listed = [p for _, p in _words(c) if p.endswith("}")] if asked.listed_patterns and not others else []
    if not cuda and listed and any(name not in asked.renamed or asked.suffix == ".cu" for name in asked.cuda_sources):
        yield from _cuda(text, c, known, listed[0], False, True)
    elif cuda:
        whole = len(cuda) == len(_words(c)) and all(_names_cuda(p) for p in cuda)  # a header is no source of HIP
        yield from _cuda(text, c, known, cuda[0], whole)


def passed_on(text: str, c: Command, asked: Asked, known: Known) -> Iterator[Finding]:
    """Patterns of `.cu` in other commands, `add_sources(app src/*.cu)`: a function of the project looks them up. What
    they find is marked before it; more may be, in folders below, which counts where it is a source of a target."""
    if asked.listed_patterns and c.name in ("set", "list"):
        return  # they are of the folder that reads the list, and marked where they are looked up
    given = [m for a in c.args for m in a.text.split(";") if _STAR.search(m) and _names_cuda(m)]
    new = [p for p in dict.fromkeys(given) if not asked.new_name(p).endswith(".hip") and p not in known.looked_up]
    if new:
        lead = break_of(text, c.start)
        lines = f"file(GLOB_RECURSE HIP_FOUND {' '.join(new)}){lead}"
        lines += f"set_source_files_properties(${{HIP_FOUND}} PROPERTIES LANGUAGE HIP){lead}"
        yield finding(SOURCE, f"{several(new)}: {FOR_CUDA}", c.start, c.end, [insert(c.start, lines)])


def _finds_cuda(pattern: str, recurse: bool, asked: Asked) -> bool:
    """Whether a pattern finds sources that stay `.cu`."""
    if _names_cuda(pattern):
        return not asked.new_name(pattern).endswith(".hip")
    found = _finds(pattern, recurse, asked, asked.cuda_sources)
    return any(name not in asked.renamed or asked.suffix == ".cu" for name in found)


def _cuda(text: str, c: Command, known: Known, pattern: str, whole: bool, maybe: bool = False) -> Iterator[Finding]:
    """`whole`: the list has `.cu` alone; `maybe`: builds without a GPU look sources up by it, too."""
    name, lead = c.args[1].text, break_of(text, c.start)
    of = name if whole else f"{name}_HIP"
    if known.marked & {f"${{{of}}}", f"${{{name}}}"}:
        return
    lines = "" if whole else f'{lead}set({of} ${{{name}}}){lead}list(FILTER {of} INCLUDE REGEX "\\\\.cu$")'
    line = f"{lead}set_source_files_properties(${{{of}}} PROPERTIES LANGUAGE HIP)"
    lines += f"{lead}if(CMAKE_HIP_COMPILER){line.replace(lead, f'{lead}  ')}{lead}endif()" if maybe else line
    yield finding(SOURCE, f"`{pattern}`: {FOR_CUDA}", c.start, c.end, [insert(c.end, lines, Side.LEFT)])


def _hosts(text: str, c: Command, asked: Asked, known: Known, patterns: Sequence[str]) -> Iterator[Finding]:
    """Sources of the host that only the compiler of HIP takes, by name."""
    recurse = c.args[0].text.upper() == "GLOB_RECURSE"
    found = sorted({name for p in patterns for name in _finds(p, recurse, asked, asked.device_hosts)})
    inner = f"{asked.folder}/" if asked.folder else ""
    names = [name[len(inner) :] for name in found if name.startswith(inner)]
    names = [name for name in names if name not in known.marked]
    if not names:
        return
    lead = break_of(text, c.start)
    plain = " ".join(names)
    listed = plain if len(plain) < _WIDTH else f"{lead}  " + f"{lead}  ".join(names) + f"{lead}  "
    line = f"{lead}set_source_files_properties({listed}{'' if listed.endswith(' ') else ' '}PROPERTIES LANGUAGE HIP)"
    yield finding(
        HOST_SOURCE, f"{several(names)}: {FOR_THRUST}", c.start, c.end, [insert(c.end, line, Side.LEFT)], review=True
    )


def renamed(c: Command, asked: Asked) -> Iterator[Finding]:
    """A pattern that found `.cu` sources without saying so, as `*.c*`, is given beside one that finds their new
    names."""
    if not asked.renamed or not _is_glob(c):
        return
    recurse = c.args[0].text.upper() == "GLOB_RECURSE"
    patterns = _patterns(c)
    for arg, pattern in patterns:
        old = () if _names_cuda(pattern) else _finds(pattern, recurse, asked, asked.renamed)
        new = {f"{name[:-3]}{asked.suffix}" for name in old}
        missed = new.difference(*(_finds(p, recurse, asked, new) for _, p in patterns))
        if missed and "." in pattern.rpartition("/")[2]:
            more = pattern[: pattern.rindex(".")] + asked.suffix
            message = f"`{pattern}` does not find names that end in `{asked.suffix}`; `{more}` does"
            at = arg.inner + arg.text.index(pattern) + len(pattern)
            gap = ";" if ";" in arg.text or arg.inner != arg.start else " "
            yield finding(RENAMED, message, arg.start, arg.end, [insert(at, f"{gap}{more}", Side.LEFT)])
