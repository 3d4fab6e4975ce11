"""Makefiles, and what autotools make them of: logical lines and their words, and what happens to them.

Nothing is expanded: a reader of Make's whole language would have to run `$(shell ...)`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from cu2port.build import options
from cu2port.build.by_text import calls_nvidia
from cu2port.build.device_links import Called, device_links
from cu2port.build.functions import NONE, Functions, functions
from cu2port.build.lines import anywhere
from cu2port.build.make_hosts import host_sources
from cu2port.build.make_libraries import linked_lists, listed
from cu2port.build.make_lines import Line, logical_lines, of_shell
from cu2port.build.make_platform import platform
from cu2port.build.make_variables import (
    NVCC_VARIABLE,
    REFERENCE,
    flags_of,
    included_folders,
    parted,
    reached,
    standing_for,
)
from cu2port.build.pages import ARCHITECTURE, COMPILER, OPTION, OWN_HIP, RENAMED, TOOLKIT
from cu2port.build.shell import cache_options, exported, for_cmake, renamed_home, unread
from cu2port.build.table import table
from cu2port.build.tools import HINT, cuda_tool, gpus_in_help, version_calls
from cu2port.build.words import HOME, INNER, Asked, by_hand, finding, library_files, library_flag, not_there, swap
from cu2port.core.model import Edit, Finding
from cu2port.facts.environment import TOOLKITS

_CALL = r"\$\((?:[^()\n]|\([^()\n]*\))*\)"  # a function of make, which may hold spaces
_ARCH_WORD = (
    rf"(?:--?[a-z-]*(?:arch|gencode|gpu-architecture|generate-code)|arch)=(?:[\w=,.]|{_CALL}|\$\{{\w+\}})+(?=\s|\)|\Z)"
)
_WORD = re.compile(
    _ARCH_WORD + r"""|(?:\$\([\w.]+\)|\$\{[\w.]+\}|\$[\w@<^*?%$]|"(?:\\.|[^"\\])*"|'[^']*'|\\\S|[^\s()#"'\\;|&`])+"""
)
_IN_QUOTES = re.compile(r"""(["'])(--?[\w=,.-]+)\1""")  # one option, as in `CFLAGS = "-arch=sm_80"`
_FOREACH = re.compile(  # `$(foreach sm,$(SMS),-gencode arch=compute_$(sm),code=sm_$(sm))`
    r"\$\(foreach\s+\w+\s*,(?:[^,()]|\([^()]*\))*,\s*--?(?:gencode|generate-code)[\s=](?:[\w=,.\"'\\]|\$\(\w+\))+\s*\)"
)
_NVCC = re.compile(  # a word with blanks is in quotes: `"$(shell which nvcc)"`
    r"(?:^|(?<=[/\"'=@,]))nvcc(?=[\"']?$|[,)])|(?:(?<=\bwhich )|(?<=command -v )|(?<=[({]shell ))nvcc(?=[\s)}\"'`]|$)"
    r"|(?<=:[-=])nvcc(?=\})"  # `${NVCC:-nvcc}`
)
_LOOKED_UP = re.compile(r"\b(?:command[ \t]+-v|which)[ \t]+nvcc\b")
_PARENT = re.compile(  # of the folder that a program is in
    r"/\.\.\)*\s*$|\$\(subst[ \t]+/bin/(?:nvcc)?,[ \t]*,|\$\(patsubst[ \t]+%/?bin/(?:nvcc)?,%,|\bdirname\b.+\bdirname\b"
)
_CUT_OFF = re.compile(  # `$(findstring nvcc,$(NVCC))`, `$(subst /bin/nvcc,,$(NVCC))`
    r"\$[({](?:(?:pat)?subst[ \t]+%?/?bin/|(?:findstring|filter(?:-out)?)[ \t]+(?:%/?)?)nvcc(?=,)"
)
_ENDS = re.compile(r"[;|&]")
_PROGRAM = re.compile(r"[A-Za-z./][\w./+-]*")
_FOR_HIP = re.compile(r"\bhipcc\b|\bROCM_PATH\b|-DCMAKE_HIP_")  # a file that builds for HIP, or was ported
_COMPILES = re.compile(r"clang|\bnvcc[\"']?\s+-")  # not what a script says of itself, nor another program's options
_OTHER = re.compile(r"-fsycl\b|-fopenmp-targets=|-Xopenmp-target|nvptx64-nvidia")  # other languages on NVIDIA's GPUs
_PASSES_ON = ("-Xcompiler", "--compiler-options")
_IMPLICIT = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS")  # Make's own rules use them
_NVCC_ALONE = re.compile(  # options that a host compiler ends at
    r"(?<!\S)--?(?:expt-\w|extended-lambda|gencode|generate-code|maxrregcount|Xptxas|ptxas-options|compiler-options)"
    r"|(?<![\w-])--?(?:gpu-)?arch(?:itecture)?[ \t]*=?[ \t]*(?:sm|compute)_\d"
)
_LIBRARY = re.compile(r"-l(\w[\w-]*)$")
_LIB_BY_NAME = re.compile(  # of CUDA's folder, in an option for the linker: a variable says which
    r"""(?:-L|-Wl,-rpath[,=])["']?(?:\$[({]?(?P<home>\w+)[)}]?|/(?:usr/local|usr/lib|opt)/cuda[\d.-]*)"""
    r"""(?P<folder>/(?:lib(?:64)?)?\$[({]?[\w.]+[)}]?)/?[,"']?$"""
)
_SM = re.compile(r"(?:sm|compute)_\d+a?$")
_CUDA_NAME = re.compile(r"NVCC|(?:^|_)NV_?FLAGS|CUDA|GENCODE|(?:^|_)(?:SM|GPU)", re.I)
_NAME = re.compile(r"(?:\$[({]\w+[)}]|[\w./+*?%~-])*\.cu(?![\w./+*?%~-])|(?:^|(?<=\s))\.cu(?=\.o\b)", re.I)
_TOOLKIT = re.compile(rf"\b(?:{'|'.join(sorted(TOOLKITS))})\b")
_TOOL = re.compile(rf"nvcc|/cuda|/nvidia|\$[({{]|-l|/lib|{HINT}")  # what `_tools` looks for
_MATTERS = re.compile(rf"[-$]|nvcc|hipcc|/cuda|/nvidia|sm_|compute_|{HINT}")  # what is looked for in words
_PATH = re.compile(r"/[\w./-]+$")


def defines(text: str, script: bool = False) -> frozenset[str]:
    """Which of the usual variables for CUDA's folder a Makefile sets, or a script for itself."""
    if _TOOLKIT.search(text) is None:
        return frozenset()
    names = frozenset(line.name for line in logical_lines(text) if line.name in TOOLKITS)
    return names - exported(text) if script else names


def make(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a Makefile or of a shell's script, a text of Latin-1."""
    if _OTHER.search(text):
        return
    script = of_shell(asked.kind, text)
    lines = list(logical_lines(text, script))
    found = list(_commands_of(text, lines, script, asked))
    if script and not calls_nvidia(text.encode("latin-1")):
        found = [f for f in found if f.code != OPTION.code or _COMPILES.search(_line_at(text, f.start))]
    if _FOR_HIP.search(text):
        yield from found
        return
    options_of_cmake = [option for line in lines for option in cache_options(text, line, asked)]
    if script and "cmake" in text:
        options_of_cmake += (given for line in lines for given in for_cmake(text, line, asked))
    homes = exported(text) - asked.defined if script else ()
    at_home = {f.start: f for line in lines for f in renamed_home(line, homes)}
    found = [f for f in found if f.start not in at_home]
    found = _outside([*found, *at_home.values()], options_of_cmake)
    found += (f for *_, of in options_of_cmake for f in of)
    yield from found
    if script:
        yield from unread(text, {f.start for f in (*found, *anywhere(text))})


def _outside(found: Sequence[Finding], spans: Sequence[tuple[int, int, list[Finding]]]) -> list[Finding]:
    """The findings that begin in none of some spans, which do not overlap."""
    ordered = sorted(spans, key=lambda span: span[0])
    starts = [start for start, *_ in ordered]
    last = (bisect_right(starts, f.start) - 1 for f in found)
    return [f for f, k in zip(found, last, strict=True) if k < 0 or f.start >= ordered[k][1]]


def _line_at(text: str, start: int) -> str:
    """The line of a text that a place is in."""
    end = text.find("\n", start)
    return text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)]


def _commands_of(text: str, lines: Sequence[Line], script: bool, asked: Asked) -> Iterator[Finding]:
    """Findings of the lines' commands and variables."""
    calls = [NONE if script else functions(line.text, line.start) for line in lines]
    words = [list(_words(line, of)) if _matters(line) else [] for line, of in zip(lines, calls, strict=True)]
    names_nvcc = {line.start for line, of in zip(lines, words, strict=True) if _names_nvcc(line, of)}
    if "hipcc" in text and any(re.search(r"(?:^|/)hipcc$", w.text) for of in words for w in of):
        if names_nvcc:
            message = "left alone: the file builds for HIP already; choose HIP there"
            yield finding(OWN_HIP, message, 0, 0)
        return
    named = {line.name for line in lines if line.name and line.start in names_nvcc}
    homes = TOOLKITS | {a.name for a, of in zip(lines, words, strict=True) if a.name and _is_home(a, of, named)}
    begins = ((a.name, of[0].text) for a, of in zip(lines, words, strict=True) if a.name and of)
    compiles = standing_for(begins, named - homes)
    uses_nvcc = re.search("nvcc", text, re.I) is not None  # OpenMP and SYCL name GPUs for other compilers
    knows_platform = "__HIP_PLATFORM_" in text
    for k, line in enumerate(lines) if uses_nvcc else ():
        yield from version_calls(line.text, line.start, words[k], compiles)
        yield from gpus_in_help(line.text, line.start)
    every = bool(compiles & {"CC", "CXX"})  # flags of the host's compiler are nvcc's too
    commands = [list(_commands(line, of)) for line, of in zip(lines, words, strict=True)]
    used = _used(lines, commands, compiles)
    told: set[int] = set()
    included, linked = included_folders(text), linked_lists(text)
    every_call: list[Called] = []
    by_nvcc: set[int] = set()  # where lines begin
    for line, called, of, of_line in zip(lines, calls, words, commands, strict=True):
        if uses_nvcc:
            yield from called.findings
            for m in _CUT_OFF.finditer(line.text) if "nvcc," in line.text else ():
                yield swap(COMPILER, "nvcc", "hipcc", line.start + m.end() - len("nvcc"))
        nvccs = [_is_for_cuda(line, c, compiles, every) for c in of_line]
        for_cuda = any(nvccs)
        by_nvcc |= {line.start} if for_cuda else set()
        every_call += (Called(line.name, line.text, c, by) for c, by in zip(of_line, nvccs, strict=True))
        if "-" in line.text:  # as every option of the table begins
            for command, is_nvccs in zip(of_line, nvccs, strict=True):
                alone = is_nvccs or line.name in used.alone
                yield from options.changes(text, command, alone, asked.archs)
                # what the host's compiler compiles gets the newer standard too
                if not alone and line.name in used.every:
                    yield from options.standards(command)
            for m in _FOREACH.finditer(line.text) if "foreach" in line.text else ():
                yield options.architectures(text, _word(line, m), None, m[0], asked.archs, False)
        if line.name in linked:
            yield from listed(text, list(_words(line, NONE)))
        if line.name in used.parted:
            yield from parted(of)
        yield from _renamed(line, asked)
        if not line.rule and _TOOL.search(line.text) is not None:
            for word in of:
                yield from cuda_tool(word) or _tools(text, word, asked, homes, for_cuda)
            if not knows_platform and (not for_cuda or line.name in included or line.name in used.hosts):
                yield from platform(line.name, line.text, of, homes, included, told)
        if uses_nvcc:
            yield from _architecture(line, of, asked)
        yield from _elsewhere(line, of)
    yield from device_links(every_call)
    if asked.device_hosts and uses_nvcc:
        yield from host_sources(lines, by_nvcc, asked)


def _words(line: Line, calls: Functions) -> Iterator[options.Word]:
    """The words of a line. A call of a function is one word where it is an option's value, as in
    `-Xptxas $(if $(V),-v)`; elsewhere the words of its arguments are."""
    if calls is NONE:
        yield from (_word(line, found) for found in _WORD.finditer(line.text, line.value) if found[0] != "$")
        return
    before = ""
    start = line.value
    while start < len(line.text):
        end = calls.end(start)
        m = _WORD.search(line.text, start, len(line.text) if end is None else end)
        if m is None:
            if end is None:
                return
            before, start = "", end + 1
            continue
        first, start = m.span()
        text = m[0]
        held = calls.holds(first)
        call = first if held is not None else start - 1 if text.endswith("$") else -1
        closed = calls.closing(call + 1) if call >= 0 else None
        is_value = (held is not None or text == "$") and options.takes_next(before)
        if closed is not None and (is_value or (text != "$" and options.drops(text.partition("=")[0]))):
            start = closed
        elif held is not None:
            start = held
            continue
        elif text == "$":
            continue
        before = line.text[first:start]
        if end is not None and before in options.LINKER:  # clang has it, and the comma of `-Wl,` would end an argument
            before = ""
            continue
        at = (line.start + first, line.start + start)
        last, begins = end is not None and not line.text[start:end].strip(), first in calls.starts
        passed = calls.passes(first)
        yield options.Word(before, at[0], at, last=last, inside=begins, opaque=is_value, passed=passed)


def _matters(line: Line) -> bool:
    """Whether the words of a line may be any of those that are looked for."""
    return _MATTERS.search(line.text) is not None or line.name in TOOLKITS


def _word(line: Line, m: re.Match[str]) -> options.Word:
    start, end = line.start + m.start(), line.start + m.end()
    inner = _IN_QUOTES.fullmatch(m[0])
    return options.Word(inner[2] if inner else m[0], start + bool(inner), (start, end))


def _names_nvcc(line: Line, words: list[options.Word]) -> bool:
    return "nvcc" in line.text and any(_NVCC.search(w.text) for w in words)


def _commands(line: Line, words: list[options.Word]) -> Iterator[list[options.Word]]:
    """The words of each command of a line: `nvcc -G a.cu && ./a.out -G`."""
    if _ENDS.search(line.text) is None:
        yield words
        return
    command: list[options.Word] = []
    for word in words:
        if command and _ENDS.search(line.text, command[-1].end - line.start, word.start - line.start):
            yield command
            command = []
        command.append(word)
    yield command


def _is_for_cuda(line: Line, words: list[options.Word], compiles: Collection[str], every: bool) -> bool:
    """Whether the options among words are nvcc's. `compiles`: variables that name it; `every`: the host's compiler is
    nvcc, so that its flags are nvcc's too."""
    if _names_nvcc(line, words):
        return True
    called = (m[1] for w in words if "$" in w.text for m in REFERENCE.finditer(w.text))
    if any(name in compiles or NVCC_VARIABLE.fullmatch(name) for name in called):
        return True
    first = words[0].text if words else ""
    if line.name:  # a value that begins with a program is no list of flags
        named = _CUDA_NAME.search(line.name) is not None or flags_of(line.name, compiles)
        return (every or named) and _PROGRAM.fullmatch(first) is None
    return every and first.lstrip("@-+").startswith("$")


class _Used(NamedTuple):
    """Variables by their uses. `alone`: their options are nvcc's: its commands use them, and no other command does;
    what `-Xcompiler` passes on is the host compiler's. `every`: all that nvcc's commands use. `hosts`: other commands
    use them. `parted`: `-Xcompiler` passes them on, and parts them at commas."""

    alone: frozenset[str]
    every: frozenset[str]
    hosts: frozenset[str]
    parted: frozenset[str]


def _used(lines: Sequence[Line], commands: Sequence[list[list[options.Word]]], compiles: Collection[str]) -> _Used:
    """What the commands use the variables for."""
    uses: dict[str, list[str]] = {}  # by variable: those in its value
    nvcc: list[str] = []
    every: list[str] = []
    parted: list[str] = []
    alone = {line.name for line in lines if line.name in _IMPLICIT and _NVCC_ALONE.search(line.text)}
    others: list[str] = [name for name in _IMPLICIT if name not in alone]
    for line, of_line in zip(lines, commands, strict=True):
        for command in of_line if "$" in line.text else ():
            after = ("", *(w.text for w in command))
            own: list[str] = []
            passed: list[str] = []
            for before, w in zip(after, command, strict=False):
                passes = w.passed or before.startswith(_PASSES_ON) or w.text.startswith(_PASSES_ON)
                (passed if passes else own).extend(m[1] for m in REFERENCE.finditer(w.text))
            parted += passed
            if line.name and line.name not in compiles:
                uses.setdefault(line.name, []).extend(own)
            elif line.name or _is_for_cuda(line, command, compiles, False):
                nvcc += own
                every += own + passed
            else:
                others += own
    hosts = reached(others, uses)
    return _Used(reached(nvcc, uses) - hosts, reached(every, uses), hosts, reached(parted, uses))


def _is_home(line: Line, words: list[options.Word], named: Collection[str]) -> bool:
    """Whether a value is CUDA's folder and nothing else, or the one above nvcc's. `named`: variables that name nvcc."""
    if len(words) == 1 and HOME.fullmatch(_rooted(words[0].text)) is not None:
        return True
    if ("dir" not in line.text and "subst" not in line.text) or _PARENT.search(line.text, line.value) is None:
        return False
    used = (m[1] for m in REFERENCE.finditer(line.text, line.value))
    return _LOOKED_UP.search(line.text) is not None or any(name in named for name in used)


def _rooted(text: str) -> str:
    """A word with the slash that stands where its variable is used: `D=usr/local/cuda`, and `/$D/bin/nvcc`."""
    return f"/{text}" if text.startswith(("usr/local/cuda", "usr/lib/cuda", "opt/cuda")) else text


def _tools(text: str, word: options.Word, asked: Asked, homes: Collection[str], for_cuda: bool) -> Iterator[Finding]:
    """nvcc, NVIDIA's libraries and CUDA's folder in a word. `homes`: variables that are such a folder; `for_cuda`: the
    word is for CUDA's compiler."""
    for m in _NVCC.finditer(word.text) if "nvcc" in word.text else ():
        yield swap(COMPILER, "nvcc", "hipcc", word.start + m.start())
    yield from not_there(word.text, word.start)
    known, below = False, 0  # below: what the first folder that is named by its path holds
    rooted = _rooted(word.text)
    added = len(rooted) - len(word.text)
    for m in HOME.finditer(rooted) if "/cuda" in rooted else ():
        known, below = True, below or m.end() - added
        old, new = (m[0], "/opt/rocm") if m.start() or not added else (m[0][1:], "opt/rocm")
        yield swap(TOOLKIT, old, new, word.start + max(m.start() - added, 0), "ROCm's usual folder", review=True)
    for m in REFERENCE.finditer(word.text) if "$" in word.text else ():
        if m[1] in homes:
            known = True
            if m[1] in TOOLKITS and m[1] not in asked.defined:
                yield swap(
                    TOOLKIT, m[1], "ROCM_PATH", word.start + m.start(1), "nothing of the tree sets it", review=True
                )
    named = _LIB_BY_NAME.match(word.text) if known else None
    if named and (named["home"] is None or named["home"] in homes):
        yield swap(TOOLKIT, named["folder"], "/lib", word.start + named.start("folder"), "ROCm's libraries are there")
        known = False
    inner = INNER.search(word.text, below) if known else None
    if inner and inner[0] not in ("/lib", "/include"):
        what = "headers" if inner["include"] else "libraries"
        yield swap(
            TOOLKIT, inner[0], inner["include"] or "/lib", word.start + inner.start(), f"ROCm's {what} are there"
        )
    library = _LIBRARY.match(word.text)
    row = table()["library"].get(library[1]) if library else None
    if row is not None:
        yield library_flag(row, word.text, word.start, options.gap(text, word, word.end))
    if "/lib" in word.text:
        yield from library_files(word.text, word.start, inner is not None)


def _architecture(line: Line, words: list[options.Word], asked: Asked) -> Iterator[Finding]:
    """A variable whose value is a GPU of NVIDIA's."""
    if not line.name or not words or not all(_SM.match(w.text) for w in words):
        return
    new = ",".join(asked.archs) or "native"
    first, last = words[0], words[-1]
    shown = line.text[first.start - line.start : last.end - line.start]
    edits = [Edit(first.start, last.end, (new,))]
    yield finding(ARCHITECTURE, f"`{shown}` becomes `{new}`", first.start, last.end, edits, True, shown, new)


def _elsewhere(line: Line, words: list[options.Word]) -> Iterator[Finding]:
    """CUDA's folder where nobody can tell that of ROCm."""
    if line.name not in TOOLKITS or not words or not _PATH.match(words[0].text):
        return
    shown, start = words[0].text, words[0].start
    if not HOME.search(shown) and not shown.startswith("/opt/rocm"):
        instead = "ROCm's folder, /opt/rocm as a rule"
        yield by_hand(TOOLKIT, shown, "it is where CUDA is", instead, start, start + len(shown))


def _renamed(line: Line, asked: Asked) -> Iterator[Finding]:
    for m in _NAME.finditer(line.text) if asked.renamed else ():
        new = asked.new_name(m[0])
        if new != m[0]:
            yield swap(RENAMED, m[0], new, line.start + m.start())
