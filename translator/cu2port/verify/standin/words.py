"""Command lines of nvcc, hipcc and the host's compilers, read by one table of options."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from cu2port.build.table import table
from cu2port.project.tree import CannotRun

NVCC, HIPCC = "nvcc", "hipcc"
_MOST_NESTED = 8


class Job(Enum):
    """What a command line asks for."""

    LINK = auto()
    OBJECT = auto()
    PREPROCESS = auto()
    DEPEND = auto()
    ARCHIVE = auto()
    DEVICE_LINK = auto()


class Is(Enum):
    """What becomes of an option."""

    FLAG = auto()  # the C++ compiler gets it
    LINK = auto()  # the linker gets it, in its place among objects and libraries
    BOTH = auto()
    GONE = auto()  # it means nothing on a CPU
    JOB = auto()
    OUTPUT = auto()
    LANGUAGE = auto()
    INCLUDE = auto()
    DEFINE = auto()
    FORCED = auto()  # -include
    DEPENDS = auto()  # -MD and its kin
    HOST = auto()  # its value is options for the host's compiler, comma between them
    LINKER = auto()  # the same for the linker
    SEPARATE = auto()  # -rdc
    FILE = auto()  # its value is a file of options
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """An option. `value`: the next word, what follows `=`, or what is glued to a short option belongs to it."""

    does: Is
    value: bool = False
    job: Job = Job.LINK
    as_: str = ""  # the option's name as the compiler below knows it


def _same(does: Is, names: str, value: bool = False) -> dict[str, Row]:
    return {n: Row(does, value, as_=n) for n in names.split()}


#: Options that all of them have, by gcc's names.
_COMMON: Mapping[str, Row] = {
    **_same(Is.OUTPUT, "-o", True),
    **_same(Is.LANGUAGE, "-x", True),
    **_same(Is.INCLUDE, "-I", True),
    **_same(Is.DEFINE, "-D", True),
    **_same(Is.FLAG, "-U -isystem -iquote -idirafter -imacros --param -isysroot", True),
    **_same(Is.FORCED, "-include", True),
    **_same(Is.LINK, "-L -l -T -u -z -rpath -Xlinker", True),
    **_same(Is.LINK, "-shared -static -static-libgcc -static-libstdc++ -rdynamic -pie -no-pie -s -nostdlib"),
    **_same(Is.BOTH, "-pthread -fopenmp -fsanitize -flto --coverage -pg -m64 -m32"),
    **_same(Is.DEPENDS, "-MD -MMD -MP -MG"),
    **_same(Is.DEPENDS, "-MF -MT -MQ", True),
    "-c": Row(Is.JOB, job=Job.OBJECT),
    "-E": Row(Is.JOB, job=Job.PREPROCESS),
    "-M": Row(Is.JOB, job=Job.DEPEND),
    "-MM": Row(Is.JOB, job=Job.DEPEND),
    "-S": Row(Is.REFUSED),
    "-ferror-limit": Row(Is.GONE, True),  # clang's alone, as are these
    **{n: Row(Is.GONE) for n in "-Weverything -fcolor-diagnostics -fno-color-diagnostics -fansi-escape-codes".split()},
}
_NVCC: Mapping[str, Row] = {
    "-output-file": Row(Is.OUTPUT, True),
    "-include-path": Row(Is.INCLUDE, True),
    "-define-macro": Row(Is.DEFINE, True),
    "-undefine-macro": Row(Is.FLAG, True, as_="-U"),
    "-pre-include": Row(Is.FORCED, True),
    "-system-include": Row(Is.FLAG, True, as_="-isystem"),
    "-library": Row(Is.LINK, True, as_="-l"),
    "-library-path": Row(Is.LINK, True, as_="-L"),
    "-compiler-options": Row(Is.HOST, True),
    "-Xcompiler": Row(Is.HOST, True),
    "-linker-options": Row(Is.LINKER, True),
    "-Xlinker": Row(Is.LINKER, True),
    "-optimize": Row(Is.FLAG, True, as_="-O"),
    "-std": Row(Is.FLAG, True, as_="-std="),
    "-options-file": Row(Is.FILE, True),
    "-optf": Row(Is.FILE, True),
    "-rdc": Row(Is.SEPARATE, True),
    "-relocatable-device-code": Row(Is.SEPARATE, True),
    "-dc": Row(Is.JOB, job=Job.OBJECT),
    "-device-c": Row(Is.JOB, job=Job.OBJECT),
    "-dw": Row(Is.JOB, job=Job.OBJECT),
    "-compile": Row(Is.JOB, job=Job.OBJECT),
    "-preprocess": Row(Is.JOB, job=Job.PREPROCESS),
    "-generate-dependencies": Row(Is.JOB, job=Job.DEPEND),
    "-lib": Row(Is.JOB, job=Job.ARCHIVE),
    "-dlink": Row(Is.JOB, job=Job.DEVICE_LINK),
    "-device-link": Row(Is.JOB, job=Job.DEVICE_LINK),
    "-link": Row(Is.JOB, job=Job.LINK),
    "-generate-dependencies-with-compile": Row(Is.DEPENDS, as_="-MD"),
    "-generate-nonsystem-dependencies-with-compile": Row(Is.DEPENDS, as_="-MMD"),
    "-dependency-output": Row(Is.DEPENDS, True, as_="-MF"),
    "-dependency-target-name": Row(Is.DEPENDS, True, as_="-MT"),
    "-x": Row(Is.LANGUAGE, True),
    "-debug": Row(Is.FLAG, as_="-g"),
    "-profile": Row(Is.FLAG, as_="-pg"),
    **{n: Row(Is.REFUSED) for n in "-ptx -cubin -fatbin -optix-ir -ltoir -cuda -run".split()},
    **{
        n: Row(Is.GONE, True)
        for n in "-arch -gpu-architecture -gencode -generate-code -code -gpu-code -odir -output-directory "
        "-ldir -target-dir -archive-options -cudadevrt -machine -opt-info -Ofc -Werror "
        "-extra-device-vectorization-level".split()
    },
    **{
        n: Row(Is.GONE)
        for n in "-G -v -verbose -k -n -w -time -clean -use-fast-math -noeh -ewp -extensible-whole-program "
        "-save-temps -no-host-device-initializer-list -no-host-device-move-forward -Wreorder -Wdefault-stream-launch "
        "-Wmissing-launch-bounds -Wext-lambda-captures-this -no-exceptions -no-compress -brief-diag".split()
    },
}
_HIPCC: Mapping[str, Row] = {
    "-rdc": Row(Is.SEPARATE, True),
    "-fgpu-rdc": Row(Is.SEPARATE),
    **{n: Row(Is.REFUSED) for n in ("--genco", "--cuda-device-only", "--offload-device-only", "-emit-llvm")},
    **{
        n: Row(Is.GONE, True)
        for n in "-Xclang -mllvm -Xoffload-linker -Xarch_device -Xarch_host --offload-arch --amdgpu-target --rocm-path "
        "--hip-path --rocm-device-lib-path --hip-device-lib-path --hip-version -parallel-jobs --offload "
        "--hip-device-lib -fgpu-default-stream --gpu-max-threads-per-block --gcc-toolchain --driver-mode".split()
    },
    **{
        n: Row(Is.GONE)
        for n in "-fno-gpu-rdc -munsafe-fp-atomics -mno-unsafe-fp-atomics -fhip-new-launch-api --hip-link "
        "-fno-hip-new-launch-api -fhip-kernel-arg-name -mcumode -mno-cumode -mwavefrontsize64 "
        "-mno-wavefrontsize64 -fcuda-flush-denormals-to-zero -fgpu-flush-denormals-to-zero "
        "-fno-gpu-flush-denormals-to-zero -fgpu-approx-transcendentals --offload-compress "
        "-fgpu-allow-device-init -foffload-lto -fno-offload-lto -v -save-temps --save-temps -nogpulib "
        "-nogpuinc -fhip-fp32-correctly-rounded-divide-sqrt -fno-hip-fp32-correctly-rounded-divide-sqrt "
        "-no-offload-compress --cuda-host-only --offload-host-only".split()
    },
}
_LANGUAGES = {
    **dict.fromkeys((".cu",), "cu"),
    **dict.fromkeys((".hip",), "hip"),
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".C", ".c++", ".cp", ".CPP"), "c++"),
    **dict.fromkeys((".c", ".i"), "c"),
}
_WITH_VALUE = frozenset({"-Xlinker", "-T", "-u", "-z", "-rpath"})  # options of a link whose value is a word of its own
_DEVICE_FILES = (".ptx", ".cubin", ".fatbin", ".hsaco", ".co")
_PARTS = re.compile(r'(?:\\,|"[^"]*"|[^,])+')
_GLUED = ("-Wl,", "-I", "-D", "-U", "-L", "-l", "-o", "-x", "-isystem", "-include", "-MF", "-MT", "-MQ")


@dataclass(frozen=True, slots=True)
class Source:
    """A source to compile, and its language: cu, hip, c++ or c."""

    path: Path
    language: str


@dataclass(slots=True)
class CommandLine:
    """A command line as read. `link` holds sources, objects, libraries and options of the linker in their order."""

    job: Job = Job.LINK
    output: str = ""
    separate: bool = False
    forced: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    include_dirs: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)
    depends: list[str] = field(default_factory=list)
    link: list[str | Source] = field(default_factory=list)
    language: str = ""

    @property
    def sources(self) -> list[Source]:
        return [x for x in self.link if isinstance(x, Source)]


def read(mode: str, words: Sequence[str]) -> CommandLine:
    """Read a command line. `mode`: nvcc, hipcc, or the name of a host compiler. Raises CannotRun."""
    line = CommandLine()
    _read_words(line, mode, list(_expanded(mode, words)), 0)
    if line.job in (Job.OBJECT, Job.PREPROCESS, Job.DEPEND) and line.output and len(line.sources) > 1:
        raise CannotRun(f"-o {line.output}: one output for {len(line.sources)} sources")
    if mode == NVCC and line.job is Job.LINK:
        line.link = _as_nvcc_links(line.link)
    return line


def _as_nvcc_links(words: Sequence[str | Source]) -> list[str | Source]:
    """nvcc gives the linker what is linked before the libraries, and all of it as one group: `-lm main.o` links."""
    inputs: list[str | Source] = []
    options: list[str | Source] = []
    libraries: list[str | Source] = []
    each = iter(words)
    for word in each:
        if isinstance(word, Source) or not word.startswith("-"):
            inputs.append(word)
        elif word.startswith("-l"):
            libraries.append(word)
        else:
            options.append(word)
            if word in _WITH_VALUE:
                options.append(next(each))
    if not libraries or any("whole-archive" in w for w in options if isinstance(w, str)):
        return list(words)
    group = ("", "") if sys.platform == "darwin" else ("-Wl,--start-group", "-Wl,--end-group")
    return [w for w in (*group[:1], *inputs, *options, *libraries, *group[1:]) if w]


def _expanded(mode: str, words: Sequence[str], depth: int = 0) -> Iterator[str]:
    for word in words:
        if word.startswith("@") and len(word) > 1 and mode != NVCC:
            yield from _expanded(mode, _response(word[1:], depth), depth + 1)
        else:
            yield word


def _response(name: str, depth: int) -> list[str]:
    if depth >= _MOST_NESTED:
        raise CannotRun(f"{name}: response files include each other")
    try:
        return shlex.split(Path(name).read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError as e:
        raise CannotRun(f"{name}: {e.strerror}") from e
    except ValueError as e:
        raise CannotRun(f"{name}: {str(e).lower()} in the response file") from e


def _read_words(line: CommandLine, mode: str, words: list[str], depth: int) -> None:
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if not word.startswith("-") or word == "-":
            _input(line, mode, word)
            continue
        row, value = _row(mode, word)
        if row is not None and row.value and value is None:
            if i == len(words):
                raise CannotRun(f"{word}: a value is missing")
            value = words[i]
            i += 1
        if row is not None and row.does is Is.FILE:
            for name in (value or "").split(","):
                _read_words(line, mode, _response(name, depth), depth + 1)
        else:
            _apply(line, mode, word, row, value)


def _row(mode: str, word: str) -> tuple[Row | None, str | None]:
    """The row of an option and the value that is written with it; None: unknown, no value."""
    key, equals, value = word.partition("=")
    own = _NVCC if mode == NVCC else _HIPCC
    short = "-" + key.lstrip("-")
    for name in (key, short) if mode == NVCC else (key,):
        row = own.get(name) or _COMMON.get(name)
        if row is not None:
            return row, value if equals and row.value else None
    if mode == NVCC and not key.startswith(("-D", "-U")):
        for name in (key, "-" + short):
            for_gpus = table()["option"].get(name)
            if for_gpus is not None:
                return Row(Is.GONE, for_gpus.value), value if equals else None
    for name in _GLUED:
        if word.startswith(name):
            return (Row(Is.LINK), None) if name == "-Wl," else (_COMMON[name], word[len(name) :])
    return None, None


def _apply(line: CommandLine, mode: str, word: str, row: Row | None, value: str | None) -> None:
    if row is None:
        line.flags.append(word)  # the compiler below knows it, or says in a line that it does not
        if word.startswith(("-f", "-m", "-O", "-g")):
            line.link.append(word)
        return
    text = value or ""
    match row.does:
        case Is.OUTPUT:
            line.output = text
        case Is.LANGUAGE:
            line.language = {"none": "", "cuda": "cu", "c++-header": "c++"}.get(text, text)
            if line.language not in ("", "cu", "hip", "c++", "c"):
                raise CannotRun(f"-x {text}: no such language; there are cu, hip, c++ and c")
        case Is.JOB:
            _job(line, row, word)
        case Is.INCLUDE:
            line.include_dirs += text.split(",") if mode == NVCC else [text]
        case Is.DEFINE:
            line.defines += _listed(text) if mode == NVCC else [text]
        case Is.FORCED:
            line.forced.append(text)
        case Is.DEPENDS:
            line.depends += [row.as_, *([text] if row.value else [])]
        case Is.HOST:
            _read_words(line, "host", _split(text), 0)
        case Is.LINKER:
            line.link += [x for part in _split(text) for x in ("-Xlinker", part)]
        case Is.SEPARATE:
            line.separate = text != "false"
        case Is.REFUSED:
            raise CannotRun(f"{word}: code for GPUs is not made here, programs run on the CPU")
        case Is.FLAG | Is.LINK | Is.BOTH:
            given = _written(row, word, text)
            if row.does is not Is.LINK:
                line.flags += given
            if row.does is not Is.FLAG:
                line.link += given
        case _:
            pass


def _listed(text: str) -> list[str]:
    """The parts of a list of nvcc's: a comma in double quotes or behind a backslash parts nothing."""
    return [part.replace("\\,", ",") for part in _PARTS.findall(text)]


def _split(text: str) -> list[str]:
    """Words for another tool. nvcc gives them to a shell, which takes the backslash of `\\$ORIGIN` away."""
    try:
        parts = [part.replace("\\$", "$") for part in shlex.split(text)]
        return [x for part in parts for x in (part.split(",") if not part.startswith("-Wl,") else [part])]
    except ValueError as e:
        raise CannotRun(f"{text}: {str(e).lower()}") from e


def _written(row: Row, word: str, value: str) -> list[str]:
    if not row.value:
        return [row.as_ if row.as_ and "=" not in word else word]
    joined = row.as_.endswith("=") or row.as_ in ("-O", "-L", "-l", "-U")
    return [row.as_ + value] if joined else [row.as_, value]


def _job(line: CommandLine, row: Row, word: str) -> None:
    line.job = row.job
    if row.job is Job.DEPEND:
        line.depends.append("-MM" if word == "-MM" else "-M")
    elif word in ("-dc", "--device-c"):
        line.separate = True


def _input(line: CommandLine, mode: str, word: str) -> None:
    path = Path(word)
    if path.suffix in _DEVICE_FILES:
        raise CannotRun(f"{word}: code for GPUs cannot be linked, programs run on the CPU")
    language = line.language or _LANGUAGES.get(path.suffix, "")
    if mode.endswith("++") and not line.language and path.suffix == ".c":
        language = "c++"  # gcc's and clang's compilers of C++ take C as such
    if word == "-":
        raise CannotRun("-: sources come from files, not from standard input")
    if not language:
        line.link.append(word)
        return
    if mode == HIPCC and language in ("cu", "c++"):
        language = "hip"  # hipcc takes any C++ as HIP
    line.link.append(Source(path, language))
