"""Variables of Makefiles: where they are named, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cu2port.build.options import INEXACT, Word
from cu2port.build.pages import OPTION
from cu2port.build.words import by_hand, finding
from cu2port.core.model import Finding, replace

REFERENCE = re.compile(r"\$(?:[({](?=\w+[)}]))?(\w+)[)}]?")  # the shell's `$NAME` too
NVCC_VARIABLE = re.compile(r"(?i)(?:\w+_)?nvcc")  # as a file that is included, or configure, sets it
_SEVERAL = re.compile(r"-(?!W[alp],)[^,]+(?:,-[^,]+)+")
_HELD = r"\$[({](?P<%s>[\w.-]+)[)}]"
_USED = (
    re.compile(  # `-I$(X)`, `$(X:%=-I%)`, `$(addprefix -I,$(X))`, `$(patsubst %,-I%,$(X))`, `$(foreach d,$(X),-I$(d))`
        rf"-I[ \t]*{_HELD % 'one'}(?![/\w])|\$[({{](?P<all>[\w.-]+):%=-I%[)}}]"
        rf"|\$[({{](?:addprefix[ \t]+-I|patsubst[ \t]+%,[ \t]*-I%),[ \t]*{_HELD % 'each'}[ \t]*[)}}]"
        rf"|\$[({{]foreach[ \t]+\w+,[ \t]*{_HELD % 'loop'},[ \t]*-I\$[({{]\w+[)}}][ \t]*[)}}]"
    )
)


def reached(first: Iterable[str], uses: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Variables that are used, also in the value of one that is used."""
    todo, found = list(first), set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += uses.get(name, ())
    return frozenset(found)


def standing_for(values: Iterable[tuple[str, str]], seeds: Iterable[str]) -> frozenset[str]:
    """`seeds`, and variables that are one of them by another name: `CXX = $(NVCC)`. `values`: each variable, and the
    first word of its value."""
    names: dict[str, list[str]] = {}  # by variable: those that begin with it
    for name, first in values:
        if m := REFERENCE.fullmatch(first):
            names.setdefault(m[1], []).append(name)
    return reached((*seeds, *filter(NVCC_VARIABLE.fullmatch, names)), names)


def flags_of(name: str, compilers: Iterable[str]) -> bool:
    """Whether a variable has flags for one of the compilers that variables name: `NVXXFLAGS` beside `NVXX = nvcc`,
    which only files that include this one call. Those of `CC` and `CXX` may be the host's."""
    return any(
        name.startswith((f"{c}_", f"{c}FLAGS", f"{c}OPT")) for c in compilers if len(c) > 2 and c not in ("CXX", "CPP")
    )


def included_folders(text: str) -> dict[str, list[int]]:
    """For each variable where the uses of its folders with `-I` end."""
    out: dict[str, list[int]] = {}
    for m in _USED.finditer(text):
        out.setdefault(m["one"] or m["all"] or m["each"] or m["loop"], []).append(m.end())
    return out


def parted(words: Sequence[Word]) -> Iterator[Finding]:
    """Findings for what `-Xcompiler` passed on: options in one word, `-Wall,-g`, which it alone parts, and inexact
    arithmetic, which it kept from the GPU's code. The host's compiler may use the variable too."""
    for word in words:
        if word.text in INEXACT:
            why = "-Xcompiler passed it on, and hipcc gives it to the GPU's code too"
            yield by_hand(
                OPTION, word.text, why, f"`{' '.join(INEXACT[word.text])}` for hipcc alone", word.start, word.end
            )
        if _SEVERAL.fullmatch(word.text):
            new = word.text.replace(",-", " -")
            edits = [replace(word.start, word.end, new)]
            message = f"`{word.text}` becomes `{new}`: the option that parts it at commas is gone"
            yield finding(OPTION, message, word.start, word.end, edits, old=word.text, new=new)
