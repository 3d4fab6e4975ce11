"""Variables of CMake's support for CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build.layout import indent_of, with_gap, without
from cu2port.build.pages import ARCHITECTURE, SEPARATE, TOOLKIT, VARIABLE
from cu2port.build.syntax import Arg, Command
from cu2port.build.table import table
from cu2port.build.words import HOME, INNER, Asked, by_hand, finding, library_files, not_there, swap
from cu2port.core.late import regex
from cu2port.core.model import Finding, insert, replace
from cu2port.facts.environment import TOOLKITS

_APPENDS = regex(r"list\s*\(\s*APPEND\s+CMAKE_CUDA_ARCHITECTURES[^()]*\)\s*\Z")
_NEAR = 200  # bytes before a command, where the one before it is
OLD_STANDARD = frozenset({"98", "03", "11", "14"})
RDC = "$<$<{of}_LANGUAGE:HIP>:-fgpu-rdc>"
_ANY = regex(r"(?:\b|(?<=-D))CMAKE_CUDA_\w*|(?:\b|(?<=-D))CUDA(?:Toolkit)?_\w+|\b(?:CCCL|CUB|NCCL|Thrust)_FOUND\b")
_FLAGS = regex(r"CMAKE_CUDA_FLAGS_\w*")
_NAMES = frozenset(  # commands whose arguments are names of variables
    "set unset list string if elseif while option mark_as_advanced foreach separate_arguments math file find_path"
    " find_library find_program get_filename_component cmake_dependent_option execute_process get_property return"
    " set_property".split()
)
_ENDS = frozenset({"CACHE", "PARENT_SCOPE"})
_COMPARISONS = frozenset("MATCHES STREQUAL EQUAL LESS GREATER LESS_EQUAL GREATER_EQUAL IN_LIST".split()) | {
    f"{kind}{op}" for kind in ("STR", "VERSION_") for op in "LESS GREATER EQUAL LESS_EQUAL GREATER_EQUAL".split()
}
_NVCC = regex(r"\bnvcc\b|NVCC_EXECUTABLE")
_PATHS = frozenset({"cmake_path", "configure_file", "file", "get_filename_component", "install"})
_LOCATION = regex(r"(?:INTERFACE_)?IMPORTED_(?:LOCATION|IMPLIB)(?:_\w+)?\Z")
_TRIES = frozenset({"try_compile", "try_run"})
_TRIED = regex(r"-DLINK_LIBRARIES(?::\w+)?=(?P<libraries>.*)", re.S)
_ENVIRONMENT = regex(rf"\$?ENV\{{(?P<name>{'|'.join(sorted(TOOLKITS))})\}}(?P<include>/include/?(?![\w/]))?")
_OPTIONS = regex(r"FLAGS|OPTIONS|DEFINITIONS", re.I)
_CACHED_GPUS = regex(r"-DCMAKE_CUDA_ARCHITECTURES(?::\w+)?=(?P<gpus>\d[\w;,-]*|native|all(?:-major)?)")
_ROOTS = regex(r"\$\{(?:CUDA_TOOLKIT_(?:ROOT|TARGET)_DIR|CUDAToolkit_(?:(?:ROOT|TARGET)_DIR|(?:LIBRARY_)?ROOT))\}")
REFERENCE = regex(r"\$\{(\w+)\}")


FLAG_LIST = regex(r"CUDA_NVCC_FLAGS(?:_\w+)?")  # FindCUDA's lists of flags


def assigned(text: str, c: Command, asked: Asked) -> list[Finding] | None:
    """`set` and `list` of variables whose values change, or that go; None: there is nothing of that kind."""
    name, values = assignment(c)
    if name is None:
        return None
    row = None if asked.own_flags and FLAG_LIST.fullmatch(name.text) else table()["variable"].get(name.text)
    if name.text == "CMAKE_CUDA_ARCHITECTURES":
        return _architectures(text, c, name, values, asked)
    if name.text in ("CMAKE_CUDA_SEPARABLE_COMPILATION", "CUDA_SEPARABLE_COMPILATION"):
        return _separable(text, c, values)
    if name.text == "CMAKE_CUDA_COMPILER" and any(_NVCC.search(v.text) for v in values):
        why = "CMake finds the compiler of HIP, and takes no hipcc for it"
        edits = [without(text, c.start, c.end)]
        return [finding(VARIABLE, f"`{name.text}` is taken out: {why}", c.start, c.end, edits, old=name.text)]
    if row is not None and row.fate == "drop":
        edits = [without(text, c.start, c.end)]
        return [finding(VARIABLE, f"`{name.text}` is taken out: {row.why}", c.start, c.end, edits, old=name.text)]
    return None


def assignment(c: Command) -> tuple[Arg | None, tuple[Arg, ...]]:
    """The variable that a command sets or appends to, and its values."""
    args = c.args[1:] if c.name == "list" and c.args and c.args[0].text in ("APPEND", "PREPEND") else c.args
    if not args or (c.name == "list" and args is c.args) or c.name not in ("set", "list"):
        return None, ()
    end = next((i for i, a in enumerate(args) if a.text in _ENDS and not a.quoted), len(args))
    return args[0], args[1:end]


def _architectures(text: str, c: Command, name: Arg, values: tuple[Arg, ...], asked: Asked) -> list[Finding] | None:
    if not values or all("CMAKE_CUDA_ARCHITECTURES" in v.text for v in values):
        return None
    if asked.archs and c.name == "set":
        listed = ";".join(asked.archs)
        new = " ".join(asked.archs) if len(c.args) == 1 + len(values) else f'"{listed}"'
        edits = [
            replace(name.start, name.end, "CMAKE_HIP_ARCHITECTURES"),
            replace(values[0].start, values[-1].end, new),
        ]
        message = f"the GPUs become those of --arch: {', '.join(asked.archs)}"
        return [finding(ARCHITECTURE, message, c.start, c.end, edits, old=name.text, new="CMAKE_HIP_ARCHITECTURES")]
    if asked.archs and not _APPENDS.search(text, max(0, c.start - _NEAR), c.start):
        new = f"set(CMAKE_HIP_ARCHITECTURES {' '.join(asked.archs)})"
        message = f"the GPUs become those of --arch: {', '.join(asked.archs)}"
        edits = [replace(c.start, c.end, new)]
        return [finding(ARCHITECTURE, message, c.start, c.end, edits, old=name.text, new="CMAKE_HIP_ARCHITECTURES")]
    message = (
        "NVIDIA's GPUs are taken out; CMAKE_HIP_ARCHITECTURES on the command line, or --arch, says for which to build"
    )
    return [finding(ARCHITECTURE, message, c.start, c.end, [without(text, c.start, c.end)], old=name.text)]


def _separable(text: str, c: Command, values: tuple[Arg, ...]) -> list[Finding]:
    if len(values) != 1 or values[0].text.upper() not in ("ON", "TRUE", "YES", "1", "OFF", "FALSE", "NO", "0"):
        row = table()["variable"]["CUDA_SEPARABLE_COMPILATION"]
        return [by_hand(SEPARATE, c.args[0].text, row.why, row.instead, c.start, c.end)]
    if values[0].text.upper() in ("OFF", "FALSE", "NO", "0"):
        message = f"`{c.args[0].text}` is taken out: it is off in HIP"
        return [finding(SEPARATE, message, c.start, c.end, [without(text, c.start, c.end)])]
    indent = indent_of(text, c.start)
    new = f"add_compile_options({RDC.format(of='COMPILE')})\n{indent}add_link_options({RDC.format(of='LINK')})"
    message = f"`{c.args[0].text}` becomes options: CMake's language HIP has no such switch"
    return [finding(SEPARATE, message, c.start, c.end, [replace(c.start, c.end, new)], True)]


def variables(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """References to variables, in any command."""
    yield from _standard(c)
    yield from _compiler(c)
    tried = list(_tried(text, c))
    yield from tried
    for i, arg in enumerate(c.args):
        if any(f.start == arg.start for f in tried):
            continue
        yield from _folders(c, arg)
        yield from _gpus(arg, asked)
        for m in _ANY.finditer(arg.text):
            yield from _variable(c, i, arg, m, asked)


def _gpus(arg: Arg, asked: Asked) -> Iterator[Finding]:
    """GPUs of NVIDIA's that an argument hands to another run of CMake."""
    m = _CACHED_GPUS.fullmatch(arg.text)
    if m is None:
        return
    start, old = arg.inner + m.start("gpus"), m["gpus"]
    if len(asked.archs) == 1:  # a list would be parted
        new = asked.archs[0]
        edits = [replace(start, start + len(old), new)]
        yield finding(ARCHITECTURE, f"`{old}` becomes `{new}`: the GPUs of --arch", start, start + len(old), edits)
    else:
        yield by_hand(ARCHITECTURE, old, "they are GPUs of NVIDIA's", "AMD's, such as gfx942", start, start + len(old))


def _folders(c: Command, arg: Arg) -> Iterator[Finding]:
    """What names CUDA's folder, a path or a variable of the environment, and the folder of the libraries below it."""
    for m in _ENVIRONMENT.finditer(arg.text):
        why, start = "nothing of CMake sets it", arg.inner + m.start()
        if m["include"] and m[0].startswith("$"):
            yield swap(TOOLKIT, m[0], "${hip_INCLUDE_DIRS}", start, why, review=True)
        else:
            yield swap(TOOLKIT, m["name"], "ROCM_PATH", arg.inner + m.start("name"), why, review=True)
            yield from _inner(arg, m.end())
    for m in _ROOTS.finditer(arg.text):
        yield from _inner(arg, m.end())
    if c.name not in ("message", "string"):
        yield from not_there(arg.text, arg.inner)
    for m in HOME.finditer(arg.text) if c.name not in ("message", "string") else ():
        yield swap(TOOLKIT, m[0], "/opt/rocm", arg.inner + m.start(), "ROCm is there as a rule", review=True)
        yield from _inner(arg, m.end())


def _inner(arg: Arg, at: int) -> Iterator[Finding]:
    """The folder of libraries or headers that follows CUDA's folder at `at`, where ROCm's has another name, and the
    file of a library in it."""
    m = INNER.match(arg.text, at)
    if m and m[0] not in ("/lib", "/include"):
        what = "headers" if m["include"] else "libraries"
        yield swap(TOOLKIT, m[0], m["include"] or "/lib", arg.inner + at, f"ROCm's {what} are there")
    if m and not m["include"]:
        yield from library_files(arg.text, arg.inner, True, m.end())


def _variable(c: Command, index: int, arg: Arg, m: re.Match[str], asked: Asked) -> Iterator[Finding]:
    word, start = m[0], arg.inner + m.start()
    row = table()["variable"].get(word)
    before, after = arg.text[: m.start()], arg.text[m.end() : m.end() + 1]
    reference = before.endswith("${") and after == "}"
    repeated = c.name in ("else", "endif") and row is not None and row.fate == "rewrite" and not row.value
    alone = arg.text == word and not arg.quoted and (c.name in _NAMES or repeated)
    passed = before.endswith(("CACHE{", "DEFINED ")) and after in ("}", "")
    passed |= before.endswith("-D") and after in ("=", ":") and not _is_for_compilers(c)
    if word in asked.extended or (asked.own_flags and FLAG_LIST.fullmatch(word)):
        return
    if not (reference or alone or passed or word.startswith("CMAKE_CUDA_")):
        return
    if row is None:
        package = table()["package"].get(word.removesuffix("_FOUND"))
        if package is not None and word.endswith("_FOUND"):
            if package.fate == "rewrite" and package.word not in asked.modules and word not in asked.known:
                yield swap(VARIABLE, word, f"{package.to.split()[0]}_FOUND", start, package.why, package.review)
        elif _FLAGS.fullmatch(word):
            yield swap(VARIABLE, word, word.replace("CUDA", "HIP", 1), start)
        return
    if row.fate == "rewrite" and row.value:
        if reference and _is_path(c, index):
            why, instead = "it is a path here, and ROCm's libraries are targets", f"$<TARGET_FILE:{row.to}>, or a path"
            yield by_hand(VARIABLE, word, why, instead, start, start + len(word))
        elif reference:
            yield swap(VARIABLE, f"${{{word}}}", row.to, start - 2)
        elif not (index == 0 and c.name in ("set", "unset")):
            yield by_hand(VARIABLE, word, "ROCm's libraries are targets", row.to, start, start + len(word))
    elif word == "CMAKE_CUDA_ARCHITECTURES" and alone and c.name in ("list", "string"):
        why = "the list that it gets is of NVIDIA's GPUs"
        yield by_hand(ARCHITECTURE, word, why, "CMAKE_HIP_ARCHITECTURES with AMD's", start, start + len(word))
    elif word == "CMAKE_CUDA_ARCHITECTURES" and c.name in ("if", "elseif") and _compared(c, index):
        why = "it is compared with NVIDIA's GPUs, which are none of CMAKE_HIP_ARCHITECTURES"
        yield by_hand(ARCHITECTURE, word, why, "the branch for AMD's GPUs", start, start + len(word))
    elif row.fate == "rewrite":
        yield swap(VARIABLE, word, row.to, start, row.why, row.review)
    elif c.name != "message" and not (row.set and word in asked.known):
        why = row.why if row.fate == "review" else f"HIP has none ({row.why})"
        yield by_hand(VARIABLE, word, why, row.instead or "it without", start, start + len(word))


def _is_path(c: Command, index: int) -> bool:
    """Whether an argument is the path of a file, which the name of a target is not."""
    before = c.words[index - 1] if index else ""
    return c.name in _PATHS or before == "EXISTS" or _LOCATION.match(before) is not None


def _is_for_compilers(c: Command) -> bool:
    """Whether a command takes options of compilers, where `-DX=1` defines a macro, and not a variable of CMake's."""
    if c.name in ("set", "list", "string"):
        return any(_OPTIONS.search(word) for word in c.words[:2])
    return c.name.startswith(("add_", "target_compile_", "set_")) and "command" not in c.name and "custom" not in c.name


def _compared(c: Command, index: int) -> bool:
    """Whether an argument of a condition is compared with what has a number: `CMAKE_CUDA_ARCHITECTURES MATCHES 90a`."""
    words = ["", "", *c.words, "", ""]
    others = [b for op, b in (words[index : index + 2][::-1], words[index + 3 : index + 5]) if op in _COMPARISONS]
    return any(re.search(r"\d", other) for other in others)


def _tried(text: str, c: Command) -> Iterator[Finding]:
    """Libraries of a test that is compiled: ROCm's are targets, which only LINK_LIBRARIES takes to the test."""
    if c.name not in _TRIES:
        return
    rows = table()["variable"]
    keyword = next((a for a in c.args if a.text == "CMAKE_FLAGS"), None)
    for arg in c.args if keyword else ():
        m = _TRIED.fullmatch(arg.text)
        found = [r for r in map(rows.get, REFERENCE.findall(m["libraries"])) if r and r.value] if m else []
        if m is None or keyword is None or not found:
            continue
        new = REFERENCE.sub(lambda v: r.to if (r := rows.get(v[1])) and r.value else v[0], m["libraries"])
        edits = [insert(keyword.start, f"LINK_LIBRARIES {new.replace(';', ' ')} "), with_gap(text, arg.start, arg.end)]
        message = f"`{arg.text}` becomes `LINK_LIBRARIES {new}`: a flag names no target"
        yield finding(VARIABLE, message, arg.start, arg.end, edits, old=found[0].word, new=found[0].to)


def _compiler(c: Command) -> Iterator[Finding]:
    """Questions for nvcc, to which HIP's compiler answers no."""
    if c.name not in ("if", "elseif") or not any("CMAKE_CUDA_COMPILER_ID" in a.text for a in c.args):
        return
    for arg in c.args:
        if arg.text.upper() == "NVIDIA":
            why = "HIP's compiler is Clang, so this is false"
            yield by_hand(VARIABLE, arg.text, why, "Clang, or what else the branch needs", arg.start, arg.end)


def _standard(c: Command) -> Iterator[Finding]:
    if c.name == "set" and len(c.args) > 1 and c.args[0].text == "CMAKE_CUDA_STANDARD":
        value = c.args[1]
        if value.text in OLD_STANDARD:
            why = "rocPRIM, which rocThrust and hipCUB are made of, needs C++17"
            yield swap(VARIABLE, value.text, "17", value.inner, why, review=True)
