"""A build file to its port: bytes to a Result, and what a file says to the rest of its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build.by_text import builds_extensions, written_kernels
from cu2port.build.globs import by_variable, lists_patterns
from cu2port.build.kinds import MOST_BYTES
from cu2port.build.lines import anywhere, lines
from cu2port.build.linked import extended
from cu2port.build.linked import words as linked_words
from cu2port.build.pages import EMBEDDED, OWN_HIP, PACKAGE, TOO_LARGE
from cu2port.build.pages_languages import CGO, FORTRAN
from cu2port.build.table import table
from cu2port.build.words import INFO, WARNING, Asked, finding, never_reached
from cu2port.core.edits import apply, judge
from cu2port.core.files import CXX_SUFFIXES
from cu2port.core.late import dataclass, regex
from cu2port.core.model import Finding, Judged, Outcome, Result, Trust
from cu2port.facts.environment import TOOLKITS

_CUDA = regex(  # in small letters; without re.I, which keeps the engine from looking for what begins a match
    rb"cuda|nvcc|nvidia|cu(?:blas|fft|rand|sparse|solver|dnn|pti)|nccl|nv(?:rtc|ml|toolsext)|thrust|cub(?<!\wcub)\b|cccl|\.cu\b"
    rb"|__(?:global|device)__"
    # options that only nvcc has, in a file that does not name it
    rb"|-(?:use_fast_math|expt-(?:relaxed|extended)|extended-lambda|(?:generate-)?line-?info|maxrregcount|gencode"
    rb"|generate-code|x(?:compiler|ptxas|fatbin)|(?:compiler|ptxas)-options|rdc\b|relocatable-device-code|default-stream)"
)
_COMMENT = regex(r'("(?:[^"\\]|\\.)*+")|#[^\n]*', re.S)  # none begins in a string
_OWN_HIP = regex(
    r"(?i:enable_language|check_language)\s*\([^()]*\bHIP\b|(?i:project)\s*\([^)]{0,1000}\bHIP\b"
    r"|(?i:find_package)\s*\(\s*(?:hip|HIP)\b"
    r"|hip_add_(?:library|executable)\b"
)
_OWN_CUDA = regex(
    r"(?i:enable_language|check_language)\s*\([^()]*\bCUDA\b|(?i:project)\s*\([^)]{0,1000}\bCUDA\b"
    r"|(?i:find_package)\s*\(\s*CUDA(?:Toolkit)?\b|cuda_add_(?:library|executable)\b"
)
_ANCHOR = regex(r"(?:(?i:find_package|find_dependency)\s*\(\s*|(?i:include)\s*\(\s*Find)CUDA(?:Toolkit)?\b(?!/)")
_FIND_CUDA = regex(r"(?:(?i:find_package)\s*\(\s*|(?i:include)\s*\(\s*Find)CUDA\b(?!/)")
_PASSES_FLAGS = regex(
    r"(?:(?i:target_compile_options|add_compile_options)|CMAKE_CUDA_FLAGS\w{0,80})\b\s*\(?[^()]{0,800}\$\{CUDA_NVCC_FLAGS"
)
_LANGUAGE = regex(r"(?i:enable_language)\s*\([^()]*\bCUDA\b|(?i:project)\s*\([^)]{0,1000}\bCUDA\b")
_STRING = regex(r'"(?:[^"\\]|\\.)*+"', re.S)
_SETS = regex(r"(?i:\bset)\s*\(\s*(\w+)")
_MODULE = regex(r"(?:^|/)(?:FindCUDA(?:Toolkit)?|select_compute_arch)\.cmake$")
_FINDS = regex(r"(?i:find_package)\s*\(\s*CUDA")  # which the module itself does not
_WORD = regex(r"[\w:]+")
_FOLDERS = "|".join(sorted({*TOOLKITS, "CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT"}))
_INCLUDE = regex(rf"(?:/(?:usr/local|usr/lib|opt)/cuda[-.\d]*|\{{(?:{_FOLDERS})\}})/include\b")
_MARKED = regex(r"(?i:set_source_files_properties|set_property)\s*\(([^()]*)\bLANGUAGE\s+\"?CUDA\b")
_VARIABLE = regex(r"\$\{(\w+)\}")
_HOST = regex(rf"[^\s;\"]*(?:{'|'.join(re.escape(s) for s in sorted(CXX_SUFFIXES))})(?![\w.])")
_SUBSTITUTED = regex(r"\bAC_(?:ARG_VAR|PATH_\w{3,9}|SUBST)\s*\(\s*\[?(\w+)")  # autoconf's, for Makefiles
_STANDARD = regex(r"\b(?:CMAKE_)?(?:CXX_STANDARD\s+(\w+)|(?:CUDA|HIP)_STANDARD\s)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a build file says to others. `packages`: what find_package must find for the libraries that it names;
    `anchor`: it looks for CUDA's toolkit itself; `language`: it enables the language CUDA; `stand_ins`: variables of
    CUDA's that it reads and that get a value; `sets`: such variables that it sets itself; `extends`: variables for
    libraries that it adds to; `host_headers`: it passes CUDA's include folder on; `hip`, `cuda`: it builds for them;
    `defines`: variables of Make for CUDA's folder that it sets; `standards`: standards of C++ that it sets, "" for one
    of CUDA's own; `enables`: it looks for CUDA by a module that makes it a language of the build too; `as_cuda`:
    patterns of sources for the host by their names that get the language CUDA; `globs`: it looks sources up by
    patterns; `listed_patterns`: it keeps patterns of `.cu` in a list; `by_variable`: it looks sources up by patterns
    that end in a variable; `old_commands`: it calls FindCUDA's commands; `passes_flags`: it gives the variable
    CUDA_NVCC_FLAGS to a target or the language."""

    packages: frozenset[str] = frozenset()
    anchor: bool = False
    language: bool = False
    stand_ins: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    extends: frozenset[str] = frozenset()
    host_headers: bool = False
    hip: bool = False
    cuda: bool = False
    defines: frozenset[str] = frozenset()
    standards: frozenset[str] = frozenset()
    enables: bool = False
    as_cuda: frozenset[str] = frozenset()
    globs: bool = False
    listed_patterns: bool = False
    by_variable: bool = False
    old_commands: bool = False
    passes_flags: bool = False


def _kept(m: re.Match[str]) -> str:
    """A string; of a comment nothing."""
    return m[1] or ""


def facts(kind: str, data: bytes) -> Facts:
    """The facts of a build file, from its text alone."""
    if len(data) > MOST_BYTES or not _CUDA.search(data.lower()):
        if kind != "cmake":
            return Facts()
        text = data[:MOST_BYTES].decode("latin-1")
        own_hip = _OWN_HIP.search(text) is not None
        return Facts(
            hip=own_hip,
            standards=_standards(_COMMENT.sub(_kept, text)),
            globs="GLOB" in text,
            by_variable=by_variable(text),
        )
    text = data.decode("latin-1")
    if kind in ("bare", "make", "script"):
        from cu2port.build.make import defines
        from cu2port.build.make_hosts import as_cuda
        from cu2port.build.make_lines import of_shell

        return Facts(defines=defines(text, of_shell(kind, text)), as_cuda=as_cuda(text))
    if kind in ("m4", "other"):
        return Facts(defines=TOOLKITS.intersection(m[1] for m in _SUBSTITUTED.finditer(text)))
    if kind != "cmake":
        return Facts()
    text = _COMMENT.sub(_kept, text)
    rows = table()
    words = set(_WORD.findall(text))
    found = {row.package or _runtime(row.to) for name, row in rows["target"].items() if name in words}
    found |= {row.package or _runtime(row.to or row.set) for name, row in rows["variable"].items() if name in words}
    found |= {"hip"} if TOOLKITS & words else set()
    found |= {row.package for name, row in rows["command"].items() if name in words}
    linked = linked_words(text)
    found |= {
        row.package or _runtime(row.target)
        for name, row in rows["library"].items()
        if not linked.isdisjoint((name, f"-l{name}", f"{name}.lib"))
    }
    packages = frozenset(name for text in found for name in text.split())
    variables = rows["variable"]
    dead = never_reached(text)
    commands = _STRING.sub(lambda m: " " * len(m[0]), text)  # without the words of messages
    sets = frozenset(m[1] for m in _SETS.finditer(text) if m[1] in variables)
    return Facts(
        packages,
        any(not any(a <= m.start() < b for a, b in dead) for m in _ANCHOR.finditer(commands)),
        _LANGUAGE.search(commands) is not None,
        frozenset(w for w in words if w in variables and variables[w].set) - sets,
        sets,
        extended(text),
        any(w in variables and variables[w].to == "hip_INCLUDE_DIRS" for w in words)
        or _INCLUDE.search(text) is not None,
        _OWN_HIP.search(commands) is not None,
        _OWN_CUDA.search(commands) is not None,
        standards=_standards(text),
        enables=_FIND_CUDA.search(commands) is not None,
        as_cuda=_as_cuda(text),
        globs="GLOB" in text,
        listed_patterns=lists_patterns(text),
        by_variable=by_variable(text),
        old_commands=not {w.lower() for w in words}.isdisjoint(rows["command"]),
        passes_flags=_PASSES_FLAGS.search(text) is not None,
    )


def _as_cuda(text: str) -> frozenset[str]:
    """Names of sources with the property LANGUAGE CUDA, `*` for a variable; those of a list where it is one alone."""
    found: set[str] = set()
    for m in _MARKED.finditer(text):
        lists = re.findall(r"(?<![^\s;\"])\$\{(\w+)\}(?![^\s;\"])", m[1])
        words = [m[1], *(w for name in lists for w in _values(text, name))]
        found |= {_VARIABLE.sub("*", name[0]) for w in words for name in _HOST.finditer(w)}
    return frozenset(found)


def _values(text: str, name: str) -> Iterator[str]:
    """What a file gives to a list."""
    command = r"(?i:set|list\s*\(\s*APPEND|file\s*\(\s*GLOB(?:_RECURSE)?)"
    for m in re.finditer(rf"\b{command}\s*\(?\s*{name}\b([^()]*)\)", text):
        yield m[1]


def _standards(text: str) -> frozenset[str]:
    return frozenset(m[1] or "" for m in _STANDARD.finditer(text))


def _runtime(name: str) -> str:
    """The package of a target of HIP's runtime, or of a variable that find_package(hip) sets."""
    return "hip" if name.startswith(("hip::host", "hip_", "${hip_")) else ""


def too_large() -> Judged:
    """What is said of a file of more than MOST_BYTES."""
    message = "larger than 1 MiB, copied as it is; convert what generates it, then generate it again"
    return Judged(finding(TOO_LARGE, message, 0, 0), Outcome.MANUAL)


def convert(data: bytes, path: str, asked: Asked, trust: Trust = Trust.REVIEW) -> Result:
    """Port one build file. Its output is its input but where an applied finding says."""
    # CUDA Fortran needs no such word, nor does `import cupy`
    says = asked.kind in ("binding", "fortran", "python", "script") or _CUDA.search(data.lower())
    if not says and not asked.device_hosts and not asked.cuda_sources:
        return Result(path, data, data)
    judged, edits = judge(_findings(data.decode("latin-1"), path, asked), trust)
    output = apply(data.decode("latin-1"), edits).encode("latin-1") if edits else data
    status = "converted" if any(j.outcome is Outcome.APPLIED for j in judged) else "copied"
    seen = frozenset(j.finding.cuda for j in judged if j.finding.code in (CGO.code, FORTRAN.code) and j.finding.cuda)
    left = frozenset(j.finding.cuda for j in judged if j.finding.cuda in seen and j.outcome is not Outcome.APPLIED)
    return Result(path, data, output, judged, status, seen=seen, left=left)


def _findings(text: str, path: str, asked: Asked) -> Iterator[Finding]:
    if _MODULE.search(path) and not _FINDS.search(_COMMENT.sub(_kept, text)):
        message = "left alone: it is a copy of a module that finds CUDA, and find_package(hip) does not use it"
        yield finding(PACKAGE, message, 0, 0, severity=INFO)
        return
    if asked.own_hip:
        plain = _COMMENT.sub(_kept, text)
        if _OWN_CUDA.search(plain) or "nvcc" in plain:
            message = "left alone: the tree has a build for HIP of its own; choose HIP there"
            if asked.converts:
                message += ", and add the sources to it that were converted and that it does not build"
            yield finding(OWN_HIP, message, 0, 0, severity=WARNING if asked.converts else INFO)
        return
    yield from anywhere(text)
    if asked.kind in ("binding", "python"):
        from cu2port.build.languages import other_language
        from cu2port.facts.hipcode import named_hip

        if named_hip(f"{asked.folder}/{path.rpartition('/')[2]}"):  # its kernels are HIP's
            return
        yield from other_language(path, text)
    if asked.kind == "binding":
        return
    if asked.kind == "cmake":
        from cu2port.build.cmake import cmake

        yield from cmake(text, asked)
    elif asked.kind in ("bare", "make", "script"):
        from cu2port.build.make import make

        yield from make(text, asked)
    elif asked.kind == "python" and not builds_extensions(text.encode("latin-1")):
        yield from _written(text)
    elif asked.kind in ("setup", "python"):
        from cu2port.build.setup_py import setup_py

        yield from setup_py(text, asked)
    elif asked.kind == "presets":
        from cu2port.build.presets import presets

        yield from presets(text, asked)
    elif asked.kind == "pyproject":
        from cu2port.build.pyproject import pyproject

        yield from pyproject(text, asked)
    elif asked.kind == "go":
        from cu2port.build.cgo import cgo

        yield from cgo(text, asked)
    elif asked.kind == "fortran":
        from cu2port.build.fortran import fortran

        yield from fortran(text, asked)
    else:
        yield from lines(text)


def _written(text: str) -> Iterator[Finding]:
    """A finding for the kernels in the texts of a program."""
    found = written_kernels(text.encode("latin-1"))
    if found:
        end = text.find("(", found[0])
        message = (
            f"this program compiles or writes {len(found)} function{'s' * (len(found) > 1)} for the GPU, in texts that "
            "are not converted: have what it writes converted, or write HIP here"
        )
        yield finding(EMBEDDED, message, found[0], end)
