"""What happens to CMake's commands. Each function takes one command and tells what it finds there."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from cu2port.build import flags, programs, sources
from cu2port.build.find_cuda import OBJECTS, command, is_odd, own_words, stays
from cu2port.build.layout import break_of, with_gap, without
from cu2port.build.lines import lines
from cu2port.build.linked import LINKING, lists
from cu2port.build.pages import COMMAND, DEPENDENCY, LANGUAGE, LIBRARY, PACKAGE
from cu2port.build.plain_words import plain_words
from cu2port.build.properties import properties
from cu2port.build.syntax import Arg, Command, commands
from cu2port.build.table import Row, table
from cu2port.build.variables import OLD_STANDARD, assigned, assignment, variables
from cu2port.build.words import HIP_SINCE, Asked, by_hand, finding, never_reached, swap
from cu2port.catalog import load_catalog
from cu2port.core.model import Finding, Side, Span, insert, replace

_ENABLES = frozenset(
    "enable_language check_language check_compiler_flag check_source_compiles check_source_runs".split()
)
_LINKS = frozenset({*LINKING, "set", "list", "set_target_properties", "set_property"})
_FETCHES = frozenset(
    "fetchcontent_declare externalproject_add cpmaddpackage cpmfindpackage rapids_cpm_find rapids_find_package".split()
)
_CONDITIONS = frozenset({"if", "elseif", "while"})
_CPM = frozenset({"cpmaddpackage", "cpmfindpackage"})
_TOOLKITS = frozenset({"CUDA", "CUDAToolkit"})
_MODULE = re.compile(r"Find(?:CUDA|CUDAToolkit)|FindCUDA/select_compute_arch")  # of CMake's own
_TARGET = re.compile(r"\b(?P<name>(?:CUDA|CCCL|CUB|Thrust|NCCL|cub)::\w+)(?P<more>\$\{\w+\})?")
_REPOSITORY = re.compile(r"(?:github\.com[/:]|gh:|GITHUB_REPOSITORY\s+|^)([\w-]+/[\w.-]+?)(?:\.git|[/#@].*)?$")
_GENERATOR = re.compile(
    r"(?P<id>\b(?:COMPILE|LINK)_LANG_AND_ID:CUDA,NVIDIA(?=[,>]))|(?P<is>\bCUDA_COMPILER_ID:NVIDIA(?=>))"
    r"|\b(?:COMPILE|LINK)_(?:LANGUAGE|LANG_AND_ID):(?:\w+,)*(?P<language>CUDA)\b|\b(?P<std>cuda_std_(?P<year>\d\d))\b"
    r"|(?P<device>\$<(?:DEVICE_LINK|HOST_LINK|CUDA_COMPILER_VERSION):)"
)
_SCOPES = frozenset({"PUBLIC", "PRIVATE", "INTERFACE"})


def cmake(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a CMake file, a text of Latin-1."""
    every, unparsed = commands(text)
    yield from lines(unparsed, "in text that cannot be parsed")
    known, cuda = sources.known(every), flags.for_cuda(every)
    torch = sources.enabler(every)
    raised = torch is not None or any(
        (c.name in ("project", "enable_language") and "CUDA" in c.words)
        or (c.name, *c.words[:1]) in (("find_package", "CUDA"), ("include", "FindCUDA"))
        for c in every
    )
    enabled = any(c.name in ("project", "enable_language") and {"CUDA", "HIP"} & set(c.words) for c in every)
    interfaces = frozenset(c.words[0] for c in every if c.name == "add_library" and "INTERFACE" in c.words[1:2])
    scopes = _scopes(every)
    dead = never_reached(text)
    looks = any(_finds(c) and not any(a <= c.start < b for a, b in dead) for c in every)
    anchor = None if looks else next(filter(_enables, every), None)
    yield from flags.commas(every)
    if not asked.old_standard and (raised or any(c.name.startswith("cuda_add_") for c in every)):
        yield from flags.standards(every, cuda)
    yield from _alone(text, every, asked)
    for c in every:
        if c.name == "cmake_minimum_required" and raised:
            yield from _minimum(c)
            continue
        whole = _whole(text, c, asked, enabled, interfaces)
        if whole is not None:
            yield from whole
            if any(e.start <= c.start and c.end <= e.end for f in whole for e in f.edits) or not _is_setter(c):
                continue
            c = _left(c, whole)
        if c is anchor:
            yield from _anchored(text, c, asked)
        if c is torch:
            yield sources.enabled(text, c)
        asked_versions = list(programs.versions(c))
        if asked_versions:
            yield from asked_versions
            c = _left(c, asked_versions)
        row = table()["command"].get(c.name)
        if row is not None and len(c.args) < OBJECTS.get(c.name, -1) + 1:  # CMake refuses it
            continue
        if row is not None:
            gone = own_words(c)
            yield command(text, c, row, gone, scopes.get(c.words[0] if c.words else "", scopes[""]))
            if stays(c, gone):
                inner = dataclasses.replace(c, name="OPTIONS", args=tuple(gone[1:]))
                yield from _looked(text, inner, asked)
                yield from flags.changes(text, inner, True)
            c = dataclasses.replace(c, name=row.to, args=tuple(a for a in c.args if a not in gone))  # as they will be
        yield from _looked(text, c, asked)
        yield from flags.changes(text, c, c.start in cuda, asked.own_flags)
        yield from sources.renamed(c, asked)
        yield from sources.languages(text, c, asked, known)
        yield from sources.python_module(c)


def _looked(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    for look in _LOOKS:
        yield from look(text, c, asked)


def _left(c: Command, done: Sequence[Finding]) -> Command:
    """A command with those of its arguments that no edit takes out or replaces."""
    edits = [e for f in done for e in f.edits if not any(isinstance(part, Span) for part in e.parts)]
    left = (a for a in c.args if not any(e.start <= a.start and a.end <= e.end for e in edits))
    return dataclasses.replace(c, args=tuple(left))


def _scopes(every: Sequence[Command]) -> dict[str, str]:
    """The scope to link each target with, "" for none: CMake refuses both forms for one target, so it is that of its
    other links. Under "" that of a target without any: the first of the file. `INTERFACE` would leave the target itself
    without the library."""
    out = {"": ""}
    for c in every:
        if c.name == "target_link_libraries" and c.words:
            scope = next((w for w in c.words[1:2] if w in _SCOPES), "")
            direct = "" if scope == "INTERFACE" else scope
            out[""] = out[""] or direct
            known = out.get(c.words[0], "")
            out[c.words[0]] = known if known and known != "INTERFACE" else scope or known
    return {target: "PUBLIC" if scope == "INTERFACE" else scope for target, scope in out.items()}


def _finds(c: Command) -> bool:
    return c.name in ("find_package", "find_dependency") and bool(c.words) and c.words[0] in _TOOLKITS


def _enables(c: Command) -> bool:
    """Whether a command enables the language CUDA for all that follows."""
    places = c.words[1:] if c.name == "project" else c.words if c.name == "enable_language" else ()
    return "CUDA" in places and not c.nested


def _anchored(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """What find_package(CUDAToolkit) would become, where nothing but the language says that CUDA is there."""
    wanted = [f"find_package({name} REQUIRED)" for name in asked.packages] + _beside(asked)
    if wanted:
        lead = break_of(text, c.start)
        message = f"packages of ROCm are found here: {', '.join(asked.packages) or 'none'}" + _said(asked)
        edits = [insert(c.end, lead + lead.join(wanted), Side.LEFT)]
        yield finding(PACKAGE, message, c.start, c.end, edits, bool(asked.stand_ins or asked.old_standard))


def _alone(text: str, every: Sequence[Command], asked: Asked) -> Iterator[Finding]:
    """Packages whose targets a file names that is below no find_package: each is found where it is named first. Targets
    of CUB and Thrust can come with a copy that the tree adds."""
    rows, found = table()["target"], {c.args[0].text for c in every if c.name == "find_package" and c.args}
    for c in every if asked.alone else ():
        named = [rows[m["name"]] for a in c.args for m in _TARGET.finditer(a.text) if m["name"] in rows]
        new = dict.fromkeys(r.package for r in named if r.fate == "rewrite" and r.package and r.package not in found)
        if new and c.name != "message":
            found |= new.keys()
            lead = break_of(text, c.start)
            lines = "".join(f"find_package({name} REQUIRED){lead}" for name in new)
            message = f"packages of ROCm are found here: {', '.join(new)}"
            yield finding(PACKAGE, message, c.start, c.start, [insert(c.start, lines)])


def _beside(asked: Asked) -> list[str]:
    """What stands beside find_package: versions for tests of CUDA's version, lists of libraries that the tree adds to,
    and HIP's platform for the host's code."""
    rows = table()["variable"]
    lines = [f"set({name} {rows[name].set})" for name in asked.stand_ins]
    lines += [f"set({name} {rows[name].to})" for name in sorted(asked.extended)]
    lines += ["set(CMAKE_HIP_STANDARD 17)"] if asked.old_standard else []
    return lines + (["add_compile_definitions(__HIP_PLATFORM_AMD__)"] if asked.host_headers else [])


def _said(asked: Asked) -> str:
    names = ", ".join(f"`{name}`" for name in asked.stand_ins)
    said = f"; {names} is set (HIP counts as CUDA 12.6, as it does in `#if`)" if names else ""
    lists = ", ".join(f"`{name}`" for name in sorted(asked.extended))
    said += f"; {lists} stays a list, since the tree adds to it" if lists else ""
    said += "; HIP would take C++'s standard, and its libraries need C++17" if asked.old_standard else ""
    return said + ("; HIP's headers ask for the macro of the platform" if asked.host_headers else "")


def _whole(text: str, c: Command, asked: Asked, enabled: bool, interfaces: frozenset[str]) -> list[Finding] | None:
    """Findings of a command that becomes another one, or goes; None: its arguments are looked at one by one."""
    row = table()["command"].get(c.name)
    if row is not None and row.fate == "drop":
        return [
            finding(COMMAND, f"`{c.name}` is taken out: {row.why}", c.start, c.end, [without(text, c.start, c.end)])
        ]
    first = OBJECTS.get(c.name, 0)
    if first and c.words[first - 1 : first] not in ((), ("OBJ",)):
        why = "there is no PTX, and there are no cubins"
        return [by_hand(COMMAND, c.name, why, table()["command"]["cuda_compile_ptx"].instead, c.start, c.end)]
    if is_odd(c):
        why, instead = "its words are no variable and sources", "set with a variable and the sources"
        return [by_hand(COMMAND, c.name, why, instead, c.start, c.end)]
    if row is not None and row.fate == "review":
        return [by_hand(COMMAND, c.name, row.why, row.instead, c.start, c.end), *sources.renamed(c, asked)]
    if c.name in ("find_package", "find_dependency"):
        return _package(text, c, asked, enabled)
    if c.name == "include" and c.words[:1] and _MODULE.fullmatch(c.words[0]):
        return _module(text, c, asked, enabled)
    if c.name in _CPM:
        return [f for row, _ in _fetched(c) if row.fate == "rewrite" for f in _found_instead(text, c, row)][:1] or None
    return assigned(text, c, asked) or properties(text, c, asked, interfaces)


def _is_setter(c: Command) -> bool:
    """Whether a command sets properties, so that some of its words may be none of CUDA's."""
    return c.name in ("set_target_properties", "set_property", "set_source_files_properties")


def _minimum(c: Command) -> Iterator[Finding]:
    for arg in c.args[1:2]:
        m = re.match(r"(\d+)\.(\d+)(?:\.\d+)*(?=\.\.\.|$)(?:\.\.\.(?P<most>(\d+)\.(\d+)[\d.]*))?", arg.text)
        if m and (int(m[1]), int(m[2])) < HIP_SINCE:
            low = m["most"] is not None and (int(m[4]), int(m[5])) < HIP_SINCE  # a range that ends before it begins
            old = m[0] if low or not m["most"] else m[0][: m.start("most") - len("...")]
            why = "CMake has the language HIP since then"
            yield swap(LANGUAGE, old, ".".join(map(str, HIP_SINCE)), arg.inner, why, review=True)


def _package(text: str, c: Command, asked: Asked, enabled: bool) -> list[Finding] | None:
    row = table()["package"].get(c.args[0].text) if c.args else None
    if row is None or (row.word in asked.modules and row.fate == "rewrite" and row.word not in _TOOLKITS):
        return None  # what a module of the tree finds is converted there, and its variables are its own
    if row.fate == "review":
        return [by_hand(PACKAGE, row.word, row.why, row.instead, c.start, c.end)]
    toolkit = row.word in _TOOLKITS
    rest = "".join(f" {w}" for w in ("QUIET", "REQUIRED") if w in c.words)
    written = text[c.start : c.start + len(c.name)]
    written = written if written.lower() == c.name else c.name  # of a module that is included
    names = dict.fromkeys((*row.to.split(), *(asked.packages if toolkit else ())))
    lead = break_of(text, c.start)
    lines = [f"{written}({name}{rest})" for name in names]
    if toolkit and c.name == "find_package":
        lines += _beside(asked)
    if row.word == "CUDA" and not enabled and not c.nested and c.name == "find_package":
        lines.insert(0, "enable_language(HIP)")
    new = lead.join(lines)
    message = f"`{row.word}` becomes {', '.join(f'`{n}`' for n in names)}" + (f": {row.why}" if row.why else "")
    edits = [replace(c.start, c.end, new)]
    message += _said(asked) if toolkit else ""
    review = row.review or (toolkit and bool(asked.stand_ins or asked.old_standard))
    return [finding(PACKAGE, message, c.start, c.end, edits, review, row.word, row.to)]


def _module(text: str, c: Command, asked: Asked, enabled: bool) -> list[Finding] | None:
    """`include(FindCUDA)` finds CUDA as `find_package(CUDA)` does; beside that, it gives CUDA's commands alone."""
    if not _finds_package(text) and "/" not in c.words[0]:
        name = dataclasses.replace(c.args[0], text=c.words[0].removeprefix("Find"))
        return _package(text, dataclasses.replace(c, name="find_package", args=(name,)), asked, enabled)
    message = f"`{c.words[0]}` is taken out: its commands are for nvcc"
    return [finding(PACKAGE, message, c.start, c.end, [without(text, c.start, c.end)], old=c.words[0])]


@lru_cache(maxsize=1)
def _finds_package(text: str) -> bool:
    return re.search(r"(?i:find_package)\s*\(\s*CUDA(?:Toolkit)?\b", text) is not None


def _language(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    if c.name == "project":
        places: Sequence[Arg] = c.args[1:]
    elif c.name in _ENABLES:
        places = c.args if c.name == "enable_language" else c.args[:1]
    elif c.name in ("set_source_files_properties", "set_target_properties", "set_property"):
        places = [b for a, b in pairwise(c.args) if a.text in ("LANGUAGE", "LINKER_LANGUAGE")]
    else:
        return
    for arg in places:
        if arg.text == "CUDA":
            yield swap(LANGUAGE, "CUDA", "HIP", arg.inner)


def _targets(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    rows = table()["target"]
    for arg in c.args if c.name != "message" else ():
        for m in _TARGET.finditer(arg.text):
            name, start = m["name"], arg.inner + m.start()
            row = rows.get(name)
            if row is None:
                if name.startswith("CUDA::"):
                    why = "it is not in cu2port's table"
                    yield by_hand(LIBRARY, m[0], why, "what ROCm has for it", start, start + len(m[0]))
            elif row.fate == "rewrite":
                between = " AND TARGET " if c.name in _CONDITIONS else " "
                to = row.to if arg.quoted or arg.text != m[0] else row.to.replace(";", between)
                why = "ROCm has no static libraries beside it" if m["more"] else row.why
                yield swap(LIBRARY, m[0], to, start, why, row.review or bool(m["more"]))
            elif row.fate == "drop" and arg.text == m[0] and c.name in _LINKS:
                edits = [with_gap(text, arg.start, arg.end)]
                yield finding(LIBRARY, f"`{m[0]}` is taken out: {row.why}", start, start + len(m[0]), edits, old=m[0])
            else:
                yield by_hand(LIBRARY, m[0], row.why, row.instead or "it without", start, start + len(m[0]))


def _libraries(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Libraries by their plain names, also in a list that is linked."""
    if c.name in LINKING:
        values = c.args[c.name != "link_libraries" :]
    else:
        name, values = assignment(c)
        if name is None or name.text not in lists(text):
            return
    rows = table()["library"]
    for arg in values:
        row = rows.get(arg.text.removeprefix("-l").removesuffix(".lib"))  # a file's name on Windows
        if row is None:
            continue
        if row.fate == "rewrite":
            yield swap(LIBRARY, arg.text, row.target, arg.inner, row.why, row.review)
        elif row.fate == "drop":
            edits = [with_gap(text, arg.start, arg.end)]
            yield finding(LIBRARY, f"`{arg.text}` is taken out: {row.why}", arg.start, arg.end, edits, old=arg.text)
        else:
            yield by_hand(LIBRARY, arg.text, row.why, row.instead, arg.start, arg.end)


def _searched(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Names of libraries and headers that a command searches for."""
    if c.name == "find_library":
        rows = table()["library"]
        known = [(arg, rows[arg.text]) for arg in c.args[1:] if arg.text in rows]
        for arg, row in known:
            if row.fate == "rewrite":
                yield swap(LIBRARY, arg.text, row.to, arg.inner, row.why, row.review)
        if known and all(row.fate == "drop" for _, row in known):  # what links the variable links nothing
            arg, row = known[0]
            edits = [replace(c.start, c.end, f'set({c.args[0].text} "")')]
            yield finding(LIBRARY, f"`{arg.text}` is not looked for: {row.why}", c.start, c.end, edits, old=arg.text)
    elif c.name in ("find_path", "find_file"):
        names = load_catalog().headers
        for arg in c.args[1:]:
            new = names.get(arg.text, "")
            if "/" in new and new != arg.text:
                yield swap(LIBRARY, arg.text, new, arg.inner)


def _generators(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Generator expressions and compile features."""
    for arg in c.args:
        for m in _GENERATOR.finditer(arg.text):
            start = arg.inner + m.start()
            if m["id"]:
                yield swap(LANGUAGE, m[0], m[0].replace("CUDA,NVIDIA", "HIP,Clang"), start)
            elif m["is"]:
                yield swap(LANGUAGE, m[0], "HIP_COMPILER_ID:Clang", start)
            elif m["language"]:
                yield swap(LANGUAGE, "CUDA", "HIP", arg.inner + m.start("language"))
            elif m["std"]:
                year = "17" if m["year"] in OLD_STANDARD else m["year"]
                yield swap(LANGUAGE, m[0], f"hip_std_{year}", start)
            else:
                yield by_hand(LANGUAGE, m[0], "it is for CUDA alone", "it without", start, start + len(m[0]))


def _dependencies(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    for row, arg in _fetched(c):
        instead = row.instead or " and ".join(f"find_package({name})" for name in row.to.split())
        yield by_hand(DEPENDENCY, row.word, row.why, instead, arg.start, arg.end)


def _fetched(c: Command) -> Iterator[tuple[Row, Arg]]:
    """The projects for CUDA that a command brings in, by their repositories."""
    if c.name not in _FETCHES and not c.name.startswith("cpm"):
        return
    rows = {word.lower(): row for word, row in table()["dependency"].items()}
    for arg in c.args:
        m = _REPOSITORY.search(arg.text)
        row = rows.get(m[1].lower()) if m else None
        if row is not None:
            yield row, arg


def _found_instead(text: str, c: Command, row: Row) -> Iterator[Finding]:
    """CPM's command brings a project in and adds it, so that a package of ROCm's can be found in its place."""
    new = break_of(text, c.start).join(f"find_package({name} REQUIRED)" for name in row.to.split())
    message = f"`{row.word}` becomes {', '.join(f'`{n}`' for n in row.to.split())}: {row.why}"
    edits = [replace(c.start, c.end, new)]
    yield finding(DEPENDENCY, message, c.start, c.end, edits, row.review, row.word, row.to)


_Look = Callable[[str, Command, Asked], Iterator[Finding]]
_LOOKS: tuple[_Look, ...] = (
    _language,
    _targets,
    _libraries,
    _searched,
    _generators,
    _dependencies,
    programs.compilers,
    flags.joined,
    programs.checks,
    programs.programs,
    plain_words,
    variables,
)
