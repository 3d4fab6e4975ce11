"""`verify` of a tree that make builds: `make -n` prints its commands, which are read and not run.

make still runs `$(shell ...)` of its files, and the recipes of nested makes. One that is called by its name is printed
only, so it is asked in turn.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from cu2port.facts.environment import TOOLKITS
from cu2port.project.tree import CannotRun
from cu2port.verify import commands
from cu2port.verify.configure import ALONE, Built
from cu2port.verify.rocm_root import RocmRoot
from cu2port.verify.running import Runner
from cu2port.verify.units import Tree, Unit

_ENTERS = re.compile(r"make(?:\[\d+\])?: (Entering|Leaving) directory '(.*)'")
_STOPS = re.compile(
    r"^(?P<place>\S+:\d+: )?\*\*\* (?P<text>.*?)\s*(?:Stop\.)?$|^make(?:\[\d+\])?: \*\*\* (?P<other>.*)$", re.M
)
SOURCE = re.compile(r"\.(?:hip|cu|cpp|cc|cxx|c\+\+|c)\Z", re.I)
COMPILERS = re.compile(
    r"(?:amdclang\+\+|clang\+\+|g\+\+|c\+\+|hipcc|amdclang|clang|gcc|cc|mpi(?:cxx|c\+\+|CC|cc))(?:-\d+)?\Z"
)
# by name and not by $(MAKE): a dry run prints it and goes on
_NESTED = re.compile(r"^\s*(make\b(?!: |\[)[^\n]*)", re.M)
_USUAL = "/opt/rocm"  # where converted Makefiles look for ROCm
_BEFORE = frozenset({"ccache", "sccache", "time"})
_MOST_NESTED = 500
_JOBS = re.compile(r"(?:^| )(?:-j ?|--jobs[= ]?)\d*(?= |$)")
_SETS = re.compile(r"\w+=.*", re.S)
_REDIRECTS = re.compile(r"&?(?:<{1,3}|>{1,2})[&|]?")
_PATTERN = re.compile(r"[*?\[]")
_NO_OBJECT = frozenset(("-M", "-MM", "-E"))  # dependencies and preprocessed text


def commands_of(tree: Tree, folder: Path, root: RocmRoot, runner: Runner, extra: Sequence[str] = ()) -> Built:
    """The units of a tree's Makefile. `extra`: arguments for make. Raises CannotRun in one line."""
    make = shutil.which("make")
    if make is None:
        raise CannotRun(f"{tree.given}: it is built by make, which is not on PATH; install it, {ALONE}")
    words = [make, "-n", "-B", "-k", "-w"]  # -w: nested makes name their folders
    words.append(f"HIPCC={root.path}/bin/hipcc")
    words += [f"{name}={root.path}" for name in sorted({"ROCM_PATH", "HIP_PATH", *TOOLKITS})]  # ROCm's folder by now
    ended = runner.run([*words, "-C", str(tree.asked), *extra], str(folder), said_too=True)
    if ended.code is None:
        raise CannotRun(f"{tree.given}: make -n did not end in time (--time-limit)")
    words += [w for w in extra if _SETS.fullmatch(w)]  # a make that is called inherits them
    found: dict[Unit, None] = {}
    waiting, seen, stopped = [ended.text], set[tuple[str, ...]](), 0
    while waiting:
        text = with_root(waiting.pop(), root)
        found.update(dict.fromkeys(units(text, tree)))
        for nested in _nested(text, tree):
            if nested not in seen and len(seen) < _MOST_NESTED:
                seen.add(nested)
                if not os.path.isdir(nested[0]):  # noqa: PTH112 - the build makes it, or fetches it
                    stopped += 1
                    continue
                inner = runner.run(
                    ["env", *nested[1:-1], *words, "-C", nested[0], *shlex.split(nested[-1])], nested[0], True
                )
                stopped += inner.code != 0
                waiting.append(inner.text)
    stop = _STOPS.search(ended.text) if ended.code else None
    said = (stop["place"] or "") + (stop["text"] or stop["other"]) if stop else f"it ends with {ended.code}"
    if not found:
        named = _NESTED.search(ended.text)
        why = f": {said}" if ended.code else f": it stops at `{named[1]}`, give that folder" if named else ""
        raise CannotRun(f"{tree.given}: make -n shows no compile command{why}; {ALONE}")
    languages = ", ".join(f"{sum(u.language == of for u in found)} {name}" for of, name in commands.NAMES)
    notes = [f"built by make (`make -n`): {languages}"]
    if ended.code:
        notes.append(f"make -n stops before its end: {said}; what it shows until there was compiled")
    if stopped:
        notes.append(f"{stopped} of {len(seen)} makes that it calls by name stop before their end")
    return Built(list(found), notes)


def with_root(text: str, root: RocmRoot) -> str:
    """A text of a build with the folder that stands for ROCm, where there is none in its usual place."""
    return text if Path(_USUAL).is_dir() else text.replace(_USUAL, str(root.path))


def units(text: str, tree: Tree) -> Iterator[Unit]:
    """The units in what `make -n -w` prints: compilers' commands with sources that the tree has."""
    for folder, words, _ in _all(text, tree):
        if not COMPILERS.fullmatch(os.path.basename(words[0])) or not _NO_OBJECT.isdisjoint(words):  # noqa: PTH119
            continue
        words = [words[0], *(w for word in words[1:] for w in _expanded(word, folder))]
        sources = [w for w in words[1:] if SOURCE.search(w) and not w.startswith("-")]
        for written in sources:
            path = os.path.realpath(os.path.join(folder, written))  # noqa: PTH118
            if tree.holds(path) and os.path.isfile(path) and os.path.isdir(folder):  # noqa: PTH112, PTH113
                kept = [w for w in words if w == written or w not in sources]
                yield commands.unit(kept, path, written, folder, own_host=True)


def _expanded(word: str, folder: str) -> list[str]:
    """The sources that a word of the shell names: `*.cu`. One that names none stays."""
    if word.startswith("-") or _PATTERN.search(word) is None or not os.path.isdir(folder):  # noqa: PTH112
        return [word]
    names = sorted(glob.glob(word, root_dir=folder))  # noqa: PTH207 - as the shell, links and all
    return [n for n in names if SOURCE.search(n)] or [word]


def _nested(text: str, tree: Tree) -> Iterator[tuple[str, ...]]:
    """The makes that are called by name, which a dry run does not follow: folder, variables, arguments in one text."""
    for folder, words, sets in _all(text, tree):
        if os.path.basename(words[0]) in ("make", "gmake") and tree.holds(os.path.realpath(folder)):  # noqa: PTH119
            yield (folder, *sets, _JOBS.sub("", shlex.join(words[1:])))


def _all(text: str, tree: Tree) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    """All commands: the folder they run in, their words, and the variables that are set for them."""
    folders = [str(tree.asked)]
    for line in text.replace("\\\n", " ").splitlines():
        entered = _ENTERS.fullmatch(line)
        if entered:
            if entered[1] == "Entering":
                folders.append(entered[2])
            elif len(folders) > 1:
                folders.pop()
            continue
        folder, kept = folders[-1], []
        for words in _commands(line):
            if len(words) == 2 and words[0] == "cd":
                folder = os.path.normpath(os.path.join(folder, words[1]))  # noqa: PTH118
            if words[:1] == ["export"]:
                kept += [w for w in words[1:] if _SETS.fullmatch(w)]
            own = list(kept)
            while words and (words[0] in _BEFORE or _SETS.fullmatch(words[0])):
                own += words[:1] if words[0] not in _BEFORE else []
                words = words[1:]
            if words:
                yield folder, words, tuple(own)


def _commands(line: str) -> Iterator[list[str]]:
    """The simple commands of a line of the shell, without its redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    to_file = False
    try:
        for word in lexer:
            if _REDIRECTS.fullmatch(word):
                if words and words[-1].isdigit():  # `2>`
                    words.pop()
                to_file = True
            elif set(word) <= set(";&|()"):
                yield words
                words = []
                to_file = False
            elif to_file:
                to_file = False
            else:
                words.append(word)
    except ValueError:  # an open quote: what was read until there counts
        pass
    yield words
