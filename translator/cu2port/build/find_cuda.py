"""The commands of FindCUDA that become CMake's own, with the words that only FindCUDA's have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cu2port.build.layout import break_of, with_gap
from cu2port.build.pages import COMMAND
from cu2port.build.syntax import Arg, Command
from cu2port.build.table import Row
from cu2port.build.words import finding
from cu2port.core.model import Edit, Finding, Side, insert, replace

#: How many arguments are before the variable that gets the objects, of commands that make some.
OBJECTS = {"cuda_compile": 0, "cuda_wrap_srcs": 2}
# names of targets that no rule changes
_PLAIN = re.compile(r"(?!CUDA|CMAKE_CUDA)(?:[\w+.-]|\$\{(?!CUDA|CMAKE_CUDA)\w+\})+")
_KINDS = frozenset("STATIC SHARED MODULE WIN32 MACOSX_BUNDLE EXCLUDE_FROM_ALL".split())
_BUILDS = frozenset({"cuda_add_executable", "cuda_add_library", "cuda_compile", "cuda_wrap_srcs"})
_CONFIGURATIONS = frozenset({"DEBUG", "MINSIZEREL", "RELEASE", "RELWITHDEBINFO"})


def own_words(c: Command) -> list[Arg]:
    """Arguments that only FindCUDA's command has: options for nvcc, and what kind of object the sources become."""
    own = next((i for i, a in enumerate(c.args) if a.text == "OPTIONS"), len(c.args)) if c.name in _BUILDS else None
    gone = list(c.args[own:]) if own is not None else []
    if c.name in OBJECTS:
        gone += [*c.args[: OBJECTS[c.name]], *(a for a in c.args[:own] if a.text in ("STATIC", "SHARED", "MODULE"))]
    return gone


def is_odd(c: Command) -> bool:
    """Whether a command that makes objects has a variable or sources that the same words in `set` would not be."""
    if c.name not in OBJECTS:
        return False
    gone = own_words(c)
    names = [a.text for a in c.args if a not in gone]
    return not names or _PLAIN.fullmatch(names[0]) is None or any(name.startswith("-") for name in names)


def _late_kinds(c: Command) -> dict[Arg, int]:
    """Words for a target's kind among its sources, where FindCUDA takes them too, and the argument that each has to
    follow in CMake's own commands: the target, and those that are there; EXCLUDE_FROM_ALL is the last."""
    if c.name not in ("cuda_add_executable", "cuda_add_library"):
        return {}
    own = next((i for i, a in enumerate(c.args) if a.text == "OPTIONS"), len(c.args))
    first = next((i for i, a in enumerate(c.args[1:own], 1) if a.text not in _KINDS), own)
    late = [a for a in c.args[first:own] if a.text in _KINDS]
    return {a: first - 1 if a.text == "EXCLUDE_FROM_ALL" else 0 for a in late}


def stays(c: Command, gone: Sequence[Arg]) -> bool:
    """Whether FindCUDA's options for nvcc are all for one target in every configuration."""
    words = [a.text for a in gone]
    if c.name in OBJECTS or words[:1] != ["OPTIONS"] or not _CONFIGURATIONS.isdisjoint(words):
        return False
    if any("CUDA_NVCC_FLAGS" in word for word in words):  # they are the language's already, in one text
        return False
    return len(gone) < len(c.args) and _PLAIN.fullmatch(c.words[0]) is not None


def command(text: str, c: Command, row: Row, gone: Sequence[Arg], link: str) -> Finding:
    """A command of FindCUDA as CMake's own. `gone`: its words that only FindCUDA has; `link`: the scope that other
    libraries of the target are linked with in this file, "" for none."""
    end = c.start + len(c.name)
    edits = [replace(c.start, end, row.to)]
    if row.target and row.to == "target_link_libraries":
        edits.append(insert(c.end - 1, f" {row.target}"))
    elif row.target and c.args and _PLAIN.fullmatch(c.args[0].text):  # FindCUDA links the runtime by itself
        scope = f"{link} " if link else ""
        line = f"{break_of(text, c.start)}target_link_libraries({c.args[0].text} {scope}{row.target})"
        edits.append(insert(c.end, line, Side.LEFT))
    late = _late_kinds(c)
    edits += [insert(c.args[at].end, f" {a.text}", Side.LEFT) for a, at in late.items()]
    edits += [with_gap(text, a.start, a.end) for a in late]
    first = OBJECTS.get(c.name, 0)
    if first:
        edits.append(Edit(c.args[0].start, c.args[first].start, ()))
    message = f"`{c.name}` becomes `{row.to}`" + (f": {row.why}" if row.why else "")
    stay = stays(c, gone)
    if stay:  # the command ends before its OPTIONS, which are set in a variable and given to the target
        lead, name = break_of(text, c.start), f"{c.words[0]}_HIP_OPTIONS"
        last = next(a for a in reversed(c.args[: -len(gone)]) if a not in late).end
        start = gone[0].start if text[last : gone[0].start].strip() else last  # behind a comment, or what is before
        given = f'target_compile_options({c.words[0]} PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${{{name}}}>")'
        edits += [replace(start, gone[0].end, f"){lead}set({name}"), insert(c.end, lead + given, Side.LEFT)]
        message += "; its OPTIONS for nvcc become options of the target, for sources in HIP"
    else:
        edits += [with_gap(text, a.start, a.end) for a in gone if a not in c.args[:first]]
    lost = not stay and any(a.text == "OPTIONS" for a in gone)
    message += "; its OPTIONS for nvcc go, so set those that matter for the target" if lost else ""
    return finding(COMMAND, message, c.start, c.end, edits, row.review or lost, row.word, row.to)
