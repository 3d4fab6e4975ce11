"""nvcc's options among the words of a command line, a variable or a list: what happens to each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cu2port.build.layout import without
from cu2port.build.pages import ARCHITECTURE, OPTION
from cu2port.build.table import Row, table
from cu2port.build.words import by_hand, finding, swap
from cu2port.core.model import Edit, Finding, Span, replace

_ARCH = frozenset({"-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"}) | {
    "--cuda-gpu-arch"  # clang's, where it compiles CUDA
}
_WARNS = frozenset({"-Werror", "--Werror"})
_KINDS = {  # of warnings to nvcc, and clang's option that makes them errors
    "all-warnings": "-Werror",
    "conversion": "-Werror=conversion",
    "cross-execution-space-call": "",
    "default-stream-launch": "",
    "deprecated-declarations": "-Werror=deprecated-declarations",
    "ext-lambda-captures-this": "",
    "missing-launch-bounds": "",
    "reorder": "-Werror=reorder",
}
_NO_KIND = "clang has no such warning"
_GPU = re.compile(r"(?:arch=)?(?:sm|compute|lto)_|native$|all(?:-major)?$|(?:arch=)?[^a-z]*[$@%]|\[")
_SHARED = frozenset({"-arch", "-code"})  # `-arch NAME` is an option of Apple's compilers too
_OTHERS = re.compile(r"(?i)[$@%](?!.*(?:cuda|nv|sm|gpu|compute|cc))")
_STANDARD = re.compile(r"(--?std=(?:c|gnu)\+\+)(?:98|03|0x|11|1y|14)$")
_APART = frozenset({"-std", "--std"})  # nvcc takes the standard as a word of its own
_DIALECT = re.compile(r"(?:c|gnu)\+\+\d\w$")
_AS_CUDA = frozenset({"-x=cu", "--x=cu", "-x=cuda"})
_WORDS = _APART | _AS_CUDA | {"-x", "--x"}
_THREADS = re.compile(r"-t\d+$")
_C_STANDARD = re.compile(r"--?std=(?:c|gnu|iso9899:)\d\w*$")
# In a quoted argument of CMake's, and in JSON, quotes for the shell are `\\"`, and those within them `\\\\\\"`.
QUOTED_WORD = re.compile(r"""(?:\\"(?:\\\\\\"|\\[^"]|[^"\\])*\\"|'[^'"]*'|\\.|="[^"]*"|[^\s;<>"\\])+""")
_CONTINUED = re.compile(r"[ \t]*\\\r?\n\Z")
_ENDS_LINE = re.compile(r"[ \t]*(?:\\?\r?\n|\Z)")
_WARNING = re.compile(r"-W(?:no-)?(?:error=)?([a-z-]+)(?:=.*)?$")
_LEVEL = re.compile(  # of warnings that clang has without one
    r"-W(?:array-bounds|cast-align|implicit-fallthrough|shift-overflow|unused-const-variable)(=\w+)|-Wstrict-aliasing(=3)"
)
_NO_VALUE = re.compile(r"-|[|&;<>()]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command line at `start`. `outer`: the bytes that go when it goes, quotes included. `last`: nothing
    that follows can be its value. `open`: its value may be in another string. `opaque`: an expression with an unknown
    value. `passed`: it is for the host's compiler. `whole`: the bytes of the string that it is in, which go when all
    words of it go."""

    text: str
    start: int
    outer: tuple[int, int]
    last: bool = False
    joint: str = " "  # between two words that take its place
    inside: bool = False  # it begins another word's value, so that what is before it stays
    lined: bool = False  # its line goes with it where nothing else is in it
    open: bool = False
    opaque: bool = False
    passed: bool = False
    whole: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def changes(
    text: str, words: Sequence[Word], for_cuda: bool, archs: Sequence[str] | None, gpus: str = "CMAKE_HIP_ARCHITECTURES"
) -> Iterator[Finding]:
    """Findings for the options of nvcc among words. `for_cuda`: all of them are for CUDA's compiler. `archs`: what
    --offload-arch is to say; None where `gpus` says for which GPUs, so that nvcc's option for them is taken out."""
    named = False
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.text.startswith("-"):
            continue  # as no option does
        if word.text == "--nvcc-options" and index < len(words):  # HMPP's, and others'
            why = "another compiler hands nvcc the next word"
            yield by_hand(OPTION, word.text, why, "what hipcc takes, if it calls that", word.start, word.end)
            index += 1
            continue
        key, equals, value = word.text.partition("=")
        if key in _ARCH:
            after = words[index] if not equals and not word.last and index < len(words) else None
            chosen = value if equals else after.text if after else ""
            unknown = for_cuda and after is not None and after.opaque
            is_nvccs = for_cuda or equals or key not in _SHARED or not _OTHERS.match(_bare(chosen))
            known = _GPU.match(_bare(chosen)) and is_nvccs
            if known or (for_cuda and equals and key != "-code") or unknown:
                index += after is not None
                yield architectures(text, word, after, chosen, gpus if archs is None else archs, named)
                named = True
            elif for_cuda and not equals and word.open:
                yield _unseen(word)
            continue
        if for_cuda and key in _WARNS:
            named_kinds = value or (words[index].text if index < len(words) else "")
            if named_kinds and _KINDS.keys() >= set(named_kinds.split(",")):
                last = word if value else words[index]
                index += not value
                yield _errors(text, word, last, named_kinds)
                continue
        if for_cuda and _STANDARD.match(word.text):
            yield from standards([word])
            continue
        if for_cuda and word.text in _APART and index < len(words) and _DIALECT.match(words[index].text):
            yield _standard_apart(text, word, words[index])
            index += 1
            continue
        if for_cuda and _C_STANDARD.match(word.text):
            message = f"`{word.text}` is taken out: g++ ignores a standard of C in C++, and clang refuses it"
            yield finding(OPTION, message, word.start, word.end, [gap(text, word, word.outer[1])], old=word.text)
            continue
        if word.text in ("-x", "--x") and index < len(words) and words[index].text in ("cu", "cuda"):
            both = ((word, "-x"), (words[index], "hip"))
            yield from (swap(OPTION, w.text, new, w.start) for w, new in both if w.text != new)
            continue
        if for_cuda and word.text in _AS_CUDA:
            yield swap(OPTION, word.text, "-xhip", word.start)
            continue
        level = _LEVEL.fullmatch(word.text) if for_cuda else None
        if level is not None:
            yield _without_level(word, level[1] or level[2])
            continue
        row = _row(word.text, key, equals, for_cuda) or (_warning(word.text) if for_cuda else None)
        if row is None or (row.when and not for_cuda and not _says(value or _next(words, index))):
            continue
        if row.value and word.open and not value:
            yield _unseen(word)
            continue
        held = None
        if row.value and not equals and not word.last and index < len(words) and not _stops(row, words[index].text):
            held = words[index]
            index += 1
        found = _option(text, word, held, row, value if equals and row.word != word.text else None)
        passed = [p for e in found.edits for p in e.parts if isinstance(p, Span)]
        inner = [inside for p in passed for inside in _inside(text, p, (held or word).joint)]
        if any(takes_next(w.text, for_cuda) for w in inner):
            why = "its value is an option of nvcc that has a value too"
            yield by_hand(OPTION, text[word.start : word.end], why, "it out", word.start, word.end)
        else:
            yield found
            for w in inner:
                yield from changes(text, [w], for_cuda, archs, gpus)


_ROCPRIM = "rocPRIM, which rocThrust and hipCUB are made of, needs C++17"


def standards(words: Sequence[Word], why: str = _ROCPRIM) -> Iterator[Finding]:
    """Findings for standards of C++ that are too old for HIP's libraries, or for what `why` says."""
    for word in words:
        standard = _STANDARD.match(word.text)
        if standard:
            new = standard[1] + "17"
            message = f"`{word.text}` becomes `{new}`: {why}"
            edits = [replace(word.start, word.end, new)]
            yield finding(OPTION, message, word.start, word.end, edits, True, word.text, new)


def _standard_apart(text: str, word: Word, dialect: Word) -> Finding:
    """`-std c++14` as one word, as clang has it, and new enough for HIP's libraries."""
    asked = f"-std={dialect.text}"
    standard = _STANDARD.match(asked)
    new = f"{standard[1]}17" if standard else asked
    why = _ROCPRIM if standard else "clang takes it as one word"
    edits = [_placed(text, word, dialect, (new,))]
    message = f"`{text[word.start : dialect.end]}` becomes `{new}`: {why}"
    return finding(OPTION, message, word.start, dialect.end, edits, bool(standard), word.text, new)


def _next(words: Sequence[Word], index: int) -> str:
    return words[index].text if index < len(words) else ""


def _says(value: str) -> bool:
    """Whether a value is one of nvcc's for an option that is on or off; Intel's compilers have `-ftz` without one."""
    return _bare(value) in ("true", "false") or "$" in value


def _inside(text: str, passed: Span, joint: str) -> Iterator[Word]:
    """The words of a value that is passed on: `"-Wall -g"` may be several."""
    for m in re.finditer(r"\S+", text[passed.start : passed.end]):
        start, end = passed.start + m.start(), passed.start + m.end()
        yield Word(m[0], start, (start, end), joint=joint, inside=start == passed.start)


def _errors(text: str, word: Word, last: Word, kinds: str) -> Finding:
    """Kinds of warnings that are errors to nvcc, as options of clang."""
    new = word.joint.join(dict.fromkeys(_KINDS[kind] for kind in kinds.split(",") if _KINDS[kind]))
    shown = text[word.start : last.end]
    if not new:
        edits = [gap(text, word, last.outer[1])]
        return finding(OPTION, f"`{shown}` is taken out: {_NO_KIND}", word.start, last.end, edits, old=word.text)
    edits = [_placed(text, word, last, (new,))]
    return finding(OPTION, f"`{shown}` becomes `{new}`", word.start, last.end, edits, old=word.text, new=new)


def _unseen(word: Word) -> Finding:
    why = "its value is known only when it is built"
    return by_hand(OPTION, word.text, why, "it and its value for clang", word.start, word.end)


def is_one(word: str) -> bool:
    """Whether `changes` does something about a word, for CUDA's compiler."""
    key, equals, _ = word.partition("=")
    known = key in _ARCH or word in _WORDS or _STANDARD.match(word) or _C_STANDARD.match(word)
    return bool(known) or _row(word, key, equals, True) is not None


def takes_next(word: str, for_cuda: bool = True) -> bool:
    """Whether the word after an option is its value."""
    row = _row(word, word, "", for_cuda)
    return word in _ARCH or (row is not None and row.value)


def drops(key: str) -> bool:
    """Whether an option and its value are taken out, whatever the value is."""
    row = _row(key, key, "", True)
    return row is not None and row.value and row.fate == "drop"


def passes(key: str) -> bool:
    """Whether an option goes and its value stays."""
    row = _row(key, key, "", True)
    return row is not None and row.value and row.to == "{value}"


def _row(whole: str, key: str, equals: str, for_cuda: bool) -> Row | None:
    rows = table()["option"]
    row = rows.get(whole)
    if row is None and equals:
        row = rows.get(key, rows.get(f"{key}="))
        row = row if row is not None and row.value else None
    if row is None and for_cuda and _THREADS.match(whole):
        row = dataclasses.replace(rows["-t"], value=False)
    return row if row is not None and (for_cuda or not row.plain) else None


def _warning(word: str) -> Row | None:
    """The row of an option about a warning that clang does not have: `-Wno-error=subobject-linkage`."""
    found = _WARNING.match(word)
    return table()["warning"].get(found[1]) if found else None


def _without_level(word: Word, level: str) -> Finding:
    new = word.text.removesuffix(level)
    edits = [replace(word.end - len(level), word.end, "")]
    message = f"`{word.text}` becomes `{new}`: clang's has no such level"
    return finding(OPTION, message, word.start, word.end, edits, old=word.text, new=new)


def _stops(row: Row, value: str) -> bool:
    """Whether the word after an option is not a value of it: another option, unless options are what it passes on."""
    passes = row.word.startswith(("-X", "--compiler-o", "--linker-o", "--ptxas-o", "--nvlink-o"))
    return not passes and _NO_VALUE.match(value) is not None


def gap(text: str, word: Word, end: int) -> Edit:
    """Takes a word out with the space before it; what indents a line stays."""
    start = word.outer[0]
    if word.lined:
        line = without(text, start, end)
        if (line.start, line.end) != (start, end):
            return line
    before = start
    while not word.inside and before and text[before - 1] in " \t":
        before -= 1
    continued = _CONTINUED.search(text, max(0, before - 80), before) if _ENDS_LINE.match(text, end) else None
    if continued:  # the line of Make's is empty then, and goes
        return Edit(continued.start(), end, ())
    return Edit(before if before and text[before - 1] != "\n" else start, end, ())


def architectures(
    text: str, word: Word, after: Word | None, value: str, archs: Sequence[str] | str, again: bool
) -> Finding:
    last = after or word
    shown = text[word.start : last.end]
    bare = _bare(value).removeprefix("arch=").partition(",")[0]
    variable = re.fullmatch(r"\$\(\w+\)|\$\{\w+\}", bare)
    if isinstance(archs, str) or again:
        why = f"{archs} says for which GPUs" if isinstance(archs, str) else "one --offload-arch is there already"
        edits = [gap(text, word, last.outer[1])]
        return finding(ARCHITECTURE, f"`{shown}` is taken out: {why}", word.start, last.end, edits, old=word.text)
    if variable and not archs:
        new = f"--offload-arch={bare}"
    else:
        new = " ".join(f"--offload-arch={arch}" for arch in archs or ("native",))
    edits = [replace(word.outer[0], last.outer[1], new)]
    message = f"`{shown}` becomes `{new}`"
    return finding(ARCHITECTURE, message, word.start, last.end, edits, True, word.text, new)


def _option(text: str, word: Word, held: Word | None, row: Row, given: str | None) -> Finding:
    last = held or word
    shown = text[word.start : last.end]
    start, end = (held.start, held.end) if held else (word.end - len(given or ""), word.end)
    value = text[start:end]
    if held and held.opaque and row.fate != "drop":
        if row.to != "{value}":
            return _unseen(word)
        message = f"`{word.text}` is taken out: clang compiles the host's code too"
        return finding(OPTION, message, word.start, word.end, [gap(text, word, word.outer[1])], old=word.text)
    if row.fate == "review":
        return by_hand(OPTION, shown, row.why, row.instead, word.start, last.end)
    off = row.when and _bare(value) != row.when
    to = row.other if off else row.to
    if off and "$" in value:
        return by_hand(OPTION, shown, "its value is known only when it is built", to, word.start, last.end)
    before, takes, after = to.partition("{value}")
    parts = _value(text, start, end, last.joint, row.word not in LINKER, row.word in _HOSTS) if takes else []
    if row.fate == "drop" or (takes and not parts):
        why = row.why or "nothing is passed on"
        edits = [gap(text, word, last.outer[1])]
        return finding(OPTION, f"`{shown}` is taken out: {why}", word.start, last.end, edits, row.review, word.text)
    before = before.replace(" ", last.joint)  # each value of a list has the option: `--include-path a,b`
    parts = [before, *(p + before if isinstance(p, str) else p for p in parts), after]
    edits = [_placed(text, word, last, parts)]
    new = "".join(p if isinstance(p, str) else text[p.start : p.end] for p in parts)
    why = row.why or ("inexact arithmetic is for the host's code alone" if "-Xarch_host" in new else "")
    message = f"`{shown}` becomes `{new}`" + (f": {why}" if why else "")
    return finding(OPTION, message, word.start, last.end, edits, row.review, word.text, new)


def _placed(text: str, word: Word, last: Word, parts: Sequence[str | Span]) -> Edit:
    """Parts in place of an option and its value, in the quotes of the value where only one of the two has quotes."""
    opening = text[last.outer[0] : last.start]
    same = opening == text[word.outer[0] : word.start]
    start = word.start if same else word.outer[0]
    return Edit(start, last.end, tuple(p for p in ("" if same else opening, *parts) if p))


LINKER = frozenset({"-Xlinker", "--linker-options"})
_HOSTS = frozenset({"-Xcompiler", "--compiler-options"})
INEXACT = {  # g++'s options by which NaNs, infinities or the order of operations no longer count
    f"-f{name}": ("-Xarch_host", f"-f{name}")
    for name in "associative-math fast-math finite-math-only reciprocal-math unsafe-math-optimizations".split()
} | {"-Ofast": ("-O3", "-Xarch_host", "-ffast-math")}


def _bare(value: str) -> str:
    return value.strip("\\\"'")


def _within(text: str, start: int, end: int) -> tuple[int, int]:
    """What is between the quotes of a value; all of it where quotes are in them too, which they keep from the shell."""
    for quote in ('\\"', '"', "'"):
        n = len(quote)
        inner = text[start + n : end - n]
        if end - start >= 2 * n and text[start:end] == quote + inner + quote and quote[-1] not in inner:
            return start + n, end - n
    return start, end


def _value(text: str, start: int, end: int, joint: str, splits: bool, host: bool) -> list[str | Span]:
    """A value without its quotes, words for its commas, except those of warnings that clang does not have. Its bytes
    are kept, so that they may be edited too. `host`: what it says is for the host's code, and its inexact arithmetic
    stays there."""
    start, end = _within(text, start, end)
    inexact = host and any(word in INEXACT for word in re.split(r"[,\s]+", text[start:end]))
    separators = "," if joint == " " and not inexact else ", \t"
    out: list[str | Span] = []
    for first, last in _parts(text[start:end], separators) if splits else [(0, end - start)]:
        word = text[start + first : start + last]
        if _warning(word) is None:
            out += [joint] if out else []
            out.append(joint.join(INEXACT[word]) if host and word in INEXACT else Span(start + first, start + last))
    return out


def _parts(value: str, separators: str) -> Iterator[tuple[int, int]]:
    """The parts of a value. Between `$<NAME:` and `>` a comma separates the operands of CMake's expression, and no
    options; between `$<1:` or `$<$<...>:` and `>` are options."""
    inner: list[bool] = []  # for each expression that is open: whether it holds options
    first = 0
    for m in re.finditer(r"\$<(?=(\w*))|>|[" + separators + "]", value):
        if m[0] == "$<":
            inner.append(m[1] in ("", "0", "1"))
        elif m[0] == ">":
            del inner[-1:]
        elif all(inner):
            if first < m.start():
                yield first, m.start()
            first = m.end()
    if first < len(value):
        yield first, len(value)
