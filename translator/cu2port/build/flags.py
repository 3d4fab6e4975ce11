"""Options of nvcc in the arguments of CMake's commands."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from cu2port.build import options
from cu2port.build.layout import break_of
from cu2port.build.linked import LINKING, lists
from cu2port.build.pages import OPTION, VARIABLE
from cu2port.build.syntax import Arg, Command
from cu2port.build.table import table
from cu2port.build.variables import FLAG_LIST, REFERENCE, assignment
from cu2port.build.words import Asked, finding, library_flag, swap
from cu2port.core.model import Edit, Finding, Side, insert, replace

_COMMENT = re.compile(r"#(?:\[(?P<n>=*)\[.*?\](?P=n)\]|[^\r\n]*\S)", re.S)
_CUDA = re.compile(r"CUDA|NVCC|\bnvcc$")
_COMPILER = re.compile(r"\bCMAKE_CUDA_COMPILER\}|NVCC|\bnvcc$")
_CALLS = frozenset({"execute_process", "add_custom_command", "add_custom_target", "externalproject_add", "add_test"})
_PASSED = re.compile(r"(?:-Xcompiler|--compiler-options)[= ]\$\{(\w+)\}")
_SEPARATORS: Mapping[
    tuple[str, tuple[str, ...]], tuple[int, int]
] = {  # by command and first word: where the separator is, and the variable that gets the joined text
    ("string", ("REPLACE",)): (2, 3),
    ("string", ("JOIN",)): (1, 2),
    ("list", ("JOIN",)): (2, 3),
}
_LOOKED_FOR = frozenset("REPLACE REGEX FIND COMPARE REMOVE_ITEM FILTER TRANSFORM".split())  # of `string` and `list`
_ASKS = re.compile(r"^(?!target_|add_compile_|add_link_).*(?:flag|option)")  # check_cxx_compiler_flag, a tree's own
_OF_TARGET = ("target_", "add_executable", "add_library", "cuda_add_")
_OF_DIRECTORY = frozenset({"add_definitions", "add_compile_options"})
_ONE_BY_ONE = frozenset({"add_compile_options", "add_link_options"})  # they read each argument by itself
_BEHIND = "sources in HIP get it too, and HIP's libraries need C++17"
_NOT_OPTIONS = frozenset("message if elseif while function macro find_package project foreach option".split())


def for_cuda(every: Sequence[Command]) -> frozenset[int]:
    """Where the commands begin whose options are for CUDA's compiler: an argument names it, or they set a variable that
    is named so, or that a generator expression gives to it."""
    given = frozenset(_given(every))
    return frozenset(c.start for c in every if _names_cuda(c) or _sets(c, given))


def _names_cuda(c: Command) -> bool:
    """Whether an argument names CUDA; for a command that calls programs, its compiler: `cmake -G` is another's."""
    name = _COMPILER if c.name in _CALLS else _CUDA
    return any(name.search(a.text) for a in c.args)


def _given(every: Sequence[Command]) -> Iterator[str]:
    """The variables that generator expressions give to CUDA's compiler alone."""
    for c in every:
        for arg in c.args:
            for part in re.split(r"_LANG\w*:(?=\w)", arg.text)[1:]:
                if re.match(r"CUDA\b(?!,)", part):
                    yield from REFERENCE.findall(part)


def _sets(c: Command, given: frozenset[str]) -> bool:
    name, _ = assignment(c)
    return name is not None and (name.text in given or re.search("cuda|nvcc", name.text.lower()) is not None)


def changes(text: str, c: Command, is_for_cuda: bool, own_flags: bool = False) -> Iterator[Finding]:
    """Findings for the options of nvcc in a command. `is_for_cuda`: all of its options are for CUDA's compiler;
    `own_flags`: CUDA_NVCC_FLAGS is a list like any other."""
    if c.name not in _NOT_OPTIONS:
        words = _command_words(c, own_flags)
        found = [*options.changes(text, words, is_for_cuda, None), *_libraries(text, c, words)]
        if c.words[:1] and c.words[0] in _LOOKED_FOR:
            found = list(_not_empty(c, found))
        else:
            found = list(_in_place(c, found)) if _ASKS.search(c.name) else _still_set(c, found)
        if "PROPERTIES" in c.words:
            yield from _paired(c, found)
        else:
            yield from _whole(c, found) if c.name in _ONE_BY_ONE else found


def standards(every: Sequence[Command], cuda: frozenset[int]) -> Iterator[Finding]:
    """Findings for standards of C++ that a directory gives to all of its sources, so to those in HIP: they stand behind
    CMAKE_HIP_FLAGS, and the last one counts; that of CMAKE_HIP_STANDARD is behind both. FindCUDA gave them to none of
    CUDA's. `cuda`: commands that name it."""
    for c in () if any("CMAKE_CUDA_STANDARD" in c.words for c in every) else every:
        if c.name in _OF_DIRECTORY and c.start not in cuda:
            plain = dataclasses.replace(c, args=tuple(a for a in c.args if "$<" not in a.text))
            yield from options.standards(_command_words(plain), _BEHIND)


def _libraries(text: str, c: Command, words: Sequence[options.Word]) -> Iterator[Finding]:
    """Linker's options for NVIDIA's libraries in a text of flags, or where options are given to the linker. Where
    libraries are linked, or are in a list that is, each that is an argument has a target."""
    name, _ = assignment(c)
    linked = c.name in LINKING or (name is not None and name.text in lists(text))
    told = {a.start for a in c.args} if linked else set()
    for word in words:
        row = table()["library"].get(word.text[2:]) if word.text.startswith("-l") else None
        if row is not None and word.outer[0] not in told:
            yield library_flag(row, word.text, word.start, options.gap(text, word, word.outer[1]))


def _paired(c: Command, found: Sequence[Finding]) -> Iterator[Finding]:
    """Findings for a command that takes pairs of a property and a value, so that a value stays one argument."""
    pairs = c.args[c.words.index("PROPERTIES") + 1 :]
    single = [(key.text, value) for key, value in zip(pairs[::2], pairs[1::2], strict=False) if not value.quoted]
    quoted: set[int] = set()
    for f in found:
        edits: list[Edit] = []
        for e in f.edits:
            key, value = next(((k, v) for k, v in single if v.start < e.end and e.start < v.end), ("", None))
            if value is None:
                edits.append(e)
            elif not e.parts and e.end == value.end and e.start <= value.start:
                edits.append(replace(value.start, value.end, '""'))
            else:
                joint = ";" if key.endswith("_OPTIONS") else " "
                parts = tuple(p.replace(" ", joint) if isinstance(p, str) else p for p in e.parts)
                if any(isinstance(p, str) and joint in p for p in parts) and value.start not in quoted:
                    quoted.add(value.start)
                    if e.start == value.start and e.end == value.end:
                        parts = ('"', *parts, '"')
                    else:
                        edits += [insert(value.start, '"', Side.RIGHT), insert(value.end, '"', Side.LEFT)]
                edits.append(Edit(e.start, e.end, parts))
        yield dataclasses.replace(f, edits=tuple(edits))


def _whole(c: Command, found: Sequence[Finding]) -> Iterator[Finding]:
    """Findings for a command that reads each argument by itself: a generator expression that gets a `;` is quoted,
    since CMake would split it there into two invalid arguments."""
    bare = {a.start: a for a in c.args if not a.quoted and "$<" in a.text}
    for f in found:
        split = {
            a.start: a
            for e in f.edits
            if any(isinstance(p, str) and ";" in p for p in e.parts)
            for a in bare.values()
            if a.start <= e.start and e.end <= a.end
        }
        for k, a in split.items():
            del bare[k]
            quotes = (insert(a.start, '"', Side.RIGHT), insert(a.end, '"', Side.LEFT))
            f = dataclasses.replace(f, edits=(*f.edits, *quotes))
        yield f


def _still_set(c: Command, found: list[Finding]) -> list[Finding]:
    """Findings for a command that sets a variable: one that loses all its values is set to nothing, since `set(NAME)`
    would unset it."""
    _, values = assignment(c)
    if c.name != "set" or not values or not all(a.text and _is_emptied(a, found) for a in values):
        return found
    last = values[-1]

    def kept(e: Edit) -> Edit:
        if not e.start <= last.start < last.end <= e.end:
            return e
        first = next(a.start for a in values if e.start <= a.start)  # an option may have its value as the next argument
        return replace(first, last.end, '""')

    return [dataclasses.replace(f, edits=tuple(map(kept, f.edits))) for f in found]


def _in_place(c: Command, found: list[Finding]) -> Iterator[Finding]:
    """Findings for a command that tells its arguments by their places: one that loses its option is an empty text."""
    empty = [a for a in c.args if a.text and _is_emptied(a, found)]
    for f in found:
        edits: list[Edit] = []
        for e in f.edits:
            inside = [a for a in empty if e.start <= a.end and a.start <= e.end]
            edits.append(replace(inside[0].start, inside[-1].end, '""') if inside and not e.parts else e)
        yield dataclasses.replace(f, edits=tuple(edits))


def _not_empty(c: Command, found: list[Finding]) -> Iterator[Finding]:
    """Findings for a command that takes no empty argument: what is looked for stays, and what is put before or after
    each element of a list becomes an empty text, or the blank that keeps elements apart when they are joined."""
    empty = [a for a in c.args[1:] if a.text and _is_emptied(a, found)]
    for f in found:
        arg = next((a for a in empty if any(a.start <= e.end and e.start <= a.end for e in f.edits)), None)
        if arg is None:
            yield f
        elif c.words[0] == "TRANSFORM":
            blank = " " if arg.text != arg.text.strip() else ""
            yield dataclasses.replace(f, edits=(replace(arg.start, arg.end, f'"{blank}"'),))


def _is_emptied(arg: Arg, found: Sequence[Finding]) -> bool:
    """Whether edits take all of an argument out."""
    gone = [(e.start, e.end) for f in found for e in f.edits if not e.parts]
    text = range(arg.inner, arg.inner + len(arg.text))
    return all(any(a <= i < b for a, b in gone) for i, ch in zip(text, arg.text, strict=True) if not ch.isspace())


def commas(every: Sequence[Command]) -> Iterator[Finding]:
    """Flags that CMake joins by commas for nvcc to take apart, as clang does not: they are joined by what separates the
    words around them."""
    taken = {m[1]: m[0] == a.text for c in every for a in c.args for m in _PASSED.finditer(a.text)}
    for c in every:
        place = _SEPARATORS.get((c.name, c.words[:1]))
        if place is None or len(c.args) <= max(place):
            continue
        separator, name = (c.args[i] for i in place)
        if separator.text == "," and name.text in taken:
            new = ";" if taken[name.text] else " "
            why = "nvcc takes the value of -Xcompiler apart at commas, and clang gets it as it is"
            yield swap(OPTION, separator.text, new, separator.inner, why)


def _command_words(c: Command, own_flags: bool = False) -> list[options.Word]:
    """The words of a command's arguments that may be options of a compiler."""
    name, values = assignment(c)
    joined = not own_flags and name is not None and FLAG_LIST.fullmatch(name.text) is not None
    args = c.args[c.name.startswith(_OF_TARGET) :]  # a target's name is no option
    if c.name == "set" and name is not None:  # nor a variable's, nor what is said of one of the cache
        args = values
    found: list[options.Word] = []
    before: Arg | None = None  # an argument whose last word is an option that takes the next argument
    for arg in args:
        if before is not None and arg.quoted and not joined:
            inside = before.text != found[-1].text  # in an expression, where quotes would be characters
            outer = arg.start, arg.end
            found.append(options.Word(arg.text, arg.inner, outer, joint='" "', lined=True, opaque=inside))
            before = None
            continue
        words = list(_words(arg, joined))
        found += words
        last = words[-1] if words else None
        ends = last is not None and last.end == arg.inner + len(arg.text) and (not arg.quoted or last.text == arg.text)
        before = arg if ends and last is not None and options.takes_next(last.text) else None
    return found


def _words(arg: Arg, joined: bool) -> Iterator[options.Word]:
    """`joined`: the argument becomes part of one text, so that its quotes are not its own."""
    listed = ("$<" in arg.text or (arg.quoted and ";" in arg.text)) and "SHELL:" not in arg.text and not joined
    joint = ";" if listed else " "
    key, equals, value = arg.text.partition("=")
    if equals and value.startswith("$<") and options.takes_next(key) and not joined:
        yield options.Word(arg.text, arg.inner, (arg.start, arg.end), joint=joint, lined=True)
        return
    for m in options.QUOTED_WORD.finditer(arg.text):
        word, start = m[0], m.start()
        lead = re.match(r"(?:SHELL:|:|\$)+", word)
        if lead and lead[0] != "$":
            word, start = word[lead.end() :], start + lead.end()
        if word:
            at = arg.inner + start
            outer = (arg.start, arg.end) if word == arg.text and not joined else (at, at + len(word))
            yield options.Word(word, at, outer, joint=joint, lined=not joined)


def joined(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """FindCUDA's list of flags becomes one text."""
    name, values = assignment(c)
    if name is None or not FLAG_LIST.fullmatch(name.text) or not values or asked.own_flags:
        return
    first, last = values[0], values[-1]
    message = f"`{name.text}` was a list, and `CMAKE_HIP_FLAGS` is one text with spaces"
    if c.name == "list":
        verb = c.args[0]
        edits = [replace(c.start, c.start + len(c.name), "string")]
        if verb.text == "PREPEND":
            return
    else:
        if len(values) == 1 and ";" not in first.text:
            return
        edits = []
    changed = [e for f in options.changes(text, _command_words(c), True, None) for e in f.edits]
    for v in values:
        quotes = [Edit(v.start, v.inner, ()), Edit(v.end - 1, v.end, ())] if v.quoted else []
        blanks = [replace(v.inner + m.start(), v.inner + m.end(), " ") for m in re.finditer(";", v.text)]
        # what is between an option and its value is replaced with them
        edits += [x for x in (*quotes, *blanks) if not any(e.start <= x.start < e.end for e in changed)]
    edits += _one_text(text, c, values, changed)
    if any(name.end <= e.start < first.start for e in changed):  # an option goes with the gap before it
        opening = insert(name.end, ' "', Side.LEFT)
    else:
        opening = Edit(first.start, first.start, ('" ' if c.name == "list" else '"',))
    edits += [opening, Edit(last.end, last.end, ('"',))]
    yield finding(VARIABLE, message, c.start, c.end, edits)


def _one_text(text: str, c: Command, values: tuple[Arg, ...], changed: list[Edit]) -> Iterator[Edit]:
    """What line breaks and comments between values become where the values become one text: a compiler's flags may
    hold neither. The comments go before the command."""
    comments: list[str] = []
    for a, b in itertools.pairwise(values):
        gap = text[a.end : b.start]
        blank = _COMMENT.sub("", gap)
        if (gap == blank and "\n" not in gap) or any(e.start <= a.end < e.end for e in changed):
            continue
        comments += [m[0] for m in _COMMENT.finditer(gap)]
        gone = any(e.start == b.start and e.end >= b.end and not e.parts for e in changed)
        line = f" \\{break_of(text, b.start)}" if "\n" in blank else " "
        yield replace(a.end, b.start, "" if gone else line)
    if comments:
        yield insert(c.start, "".join(x + break_of(text, c.start) for x in comments), Side.LEFT)
