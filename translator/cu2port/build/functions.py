"""Make's functions in a line: their arguments that are patterns and no options, and lists joined by commas for nvcc.

Source: GNU make's manual, "Functions for String Substitution and Analysis".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cu2port.build.pages import ARCHITECTURE, OPTION
from cu2port.build.words import finding
from cu2port.core.model import Edit, Finding, replace

_FUNCTION = re.compile(  # its first argument is a pattern; one inside `-arch=sm_$(subst .,,${CC})` is the option's
    r"(?<![\w=])\$[({](filter|filter-out|findstring|subst|patsubst)[ \t]+"
)
_CLOSES = {"(": ")", "{": "}"}
_MOST = 4000  # bytes of an argument that are read
_ARCH = re.compile(r"(?<![\w-])--?(?:arch|gpu-architecture)=(?:sm_|compute_)?%")
_JOINED = re.compile(  # `-Xcompiler $(subst $(space),$(comma),X)`
    r"""(?<!\S)(?:-Xcompiler|--compiler-options)(?:=|(?:[ \t]|\\\r?\n)+)(?P<quote>["']?)(?P<call>\$[({]subst[ \t]+)"""
    r"""(?:\$[({]\w*(?i:space)\w*[)}]|\$[({]\w*[)}] \$[({]\w*[)}]),[ \t]*\$[({]\w*(?i:comma)\w*[)}],[ \t]*"""
)


@dataclass(frozen=True, slots=True)
class Functions:
    """What a line's functions are: `held`: bytes of the line in which there are no words of a command."""

    held: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]

    def holds(self, at: int) -> int | None:
        """Where the part ends that holds byte `at` of the line, None if none does."""
        return max((end for start, end in self.held if start <= at < end), default=None)


NONE = Functions((), ())


def functions(line: str, at: int, archs: Sequence[str]) -> Functions:
    """The functions of a line that begins at byte `at` of its file. `archs`: the GPUs of --arch."""
    if "$(" not in line and "${" not in line:
        return NONE
    held: list[tuple[int, int]] = []
    found: list[Finding] = []
    for m in _JOINED.finditer(line):
        end = _argument(line, m.end(), m["call"][1], whole=True)
        if end is None:
            continue
        held.append((m.start(), m.end()))
        after = end + 1 + (line[end + 1 : end + 2] == m["quote"] != "")
        held.append((end, after))
        message = f"`{m[0].split()[0]}` is taken out, and the commas with it: clang compiles the host's code too"
        edits = [Edit(at + m.start(), at + m.end(), ()), Edit(at + end, at + after, ())]
        found.append(finding(OPTION, message, at + m.start(), at + m.end(), edits, old=m[0].split()[0]))
    for m in _FUNCTION.finditer(line):
        comma = _argument(line, m.end(), m[0][1])
        if comma is None:
            continue
        held.append((m.start(), comma + 1))
        for arch in _ARCH.finditer(line, m.end(), comma) if m[1].startswith("filter") else ():
            message = f"`{arch[0]}` becomes `--offload-arch=%`: options for GPUs are clang's now"
            start = at + arch.start()
            edits = [replace(start, start + len(arch[0]), "--offload-arch=%")]
            new = "--offload-arch=%"
            found.append(finding(ARCHITECTURE, message, start, start + len(arch[0]), edits, old=arch[0], new=new))
    return Functions(tuple(sorted(held)), tuple(found))


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
