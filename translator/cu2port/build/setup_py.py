"""setup.py of torch's extensions, by libcst: options of nvcc in lists, libraries, and the names of sources.

torch compiles a `CUDAExtension` with hipcc where it is built for ROCm, and passes on what is under "nvcc". Modules that
have torch compile extensions while they run (`load`) are read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build import options
from cu2port.build.by_text import loads_extensions
from cu2port.build.make_lines import Line
from cu2port.build.pages import LIBRARY, LINE, OWN_HIP, RENAMED, TOOLKIT, TORCH
from cu2port.build.python_words import emptied, groups
from cu2port.build.shell import cache_options
from cu2port.build.table import table
from cu2port.build.words import INFO, INNER, Asked, by_hand, finding, said_by_nvcc, swap
from cu2port.core.model import Finding, Side, insert

_OWN = re.compile(r"\b(?:ROCM_HOME|torch\.version\.hip|IS_HIP_EXTENSION|is_rocm|hipcc|HIPExtension)\b", re.I)
_DEEPEST = 200
_NAME = re.compile(r"[\w./+*?%{}-]*\.cu(?![\w.])", re.I)
_HOST_SOURCE = re.compile(r"(?<=[\"'])[\w./+-]+\.(?:cpp|cc|cxx|c\+\+)(?=[\"'])")
_WORD = re.compile(r"[^\s\"']+")
_LISTED = re.compile(r"\blibraries\w*\s*(?:\+?=|\.(?:append|extend)\()")
_VERSION = re.compile(
    r"subprocess\.check_output\(\s*\[[^\[\]]*nvcc[\"'],\s*[\"'](?:-V|--version)[\"'],?\s*\](?P<how>[^()]*)\)"
    r"(?P<decoded>\.decode\([^()]*\))?"
)
_AS_TEXT = re.compile(r"universal_newlines|\btext\b|encoding")
_NVCC = re.compile(
    r"(?:bin/|(?<=[\"'])bin[\"'],\s*[\"']|\.set_executables?\(\s*[\"']\w+[\"'],\s*[\"']"
    r"|\b(?:which|find_\w{1,40})\(\s{0,9}[\"'])nvcc(?=[\"' ])"
)
_FOR_NVCC = re.compile(r"[\"']nvcc[\"']\s*(?::|\]\s*\+?=)|\bextra_cuda_cflags\s*=")
_FOR_HOST = re.compile(r"[\"'](?:cxx|gcc|g\+\+|clang)[\"']\s*(?::|\]\s*\+?=)|\bextra_cflags\s*=")
_PART = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|(?P<name>(?<![\w.])[A-Za-z_]\w*(?![\w.(]))|[()\[\]{},\n]"
)
_ADDED = re.compile(r"(?<![\w.])(\w+)\s*(?:\+?=|\.(?:append|extend)\()\s*\Z")
_LOAD = re.compile(r"(?:\bcpp_extension\.|(?<![\w.])(?<!def ))(load|load_inline)\s*\(")
_NAMES = re.compile(
    r"(?:(?<![\w.\"'])|(?<=cpp_extension\.))(?P<home>CUDA_HOME)\b|(?P<version>\btorch\.version\.cuda\b)"
    r"|\b(?P<common>COMMON_NVCC_FLAGS)\b|(?<=[\"'])(?P<built>\+?cu(?:da)?)(?=[\"']\s+(?:not\s+)?in\s+torch\.__version__)"
)
_ENVIRONMENT = re.compile(
    r"(?:\benviron(?:\.get\(|\[)|\bgetenv\()\s*[\"'](?P<name>CUDA_(?:HOME|PATH|ROOT))[\"']"
    r"|[\"'](?P<asked>CUDA_(?:HOME|PATH|ROOT))[\"']\s{1,9}(?:not\s{1,9})?in\s{1,9}(?:os\.)?environ\b"
)
_FOLDER = re.compile(r"/(?:usr/local|usr/lib|opt)/cuda[-.\d]*+(?=[/\"':])")
_LIB64 = re.compile(
    r"(?i:\b\w{0,40}cuda\w{0,40})(?:\(\)|[\"'][)\]])?\s{0,9}(?:,\s{0,9}[\"']|\}/|\+\s{0,9}[\"']/)(?P<lib>lib64)\b"
)
_OWN_HOME = re.compile(r"^[ \t]*CUDA_HOME[ \t]*=", re.M)
_IMPORTED_HOME = re.compile(r"\bimport\b(?:[^\n(]{0,400}|\s{0,9}\([^)]{0,2000})\bCUDA_HOME\b")
_FOR_CMAKE = re.compile(r"-D(?P<key>CMAKE_CUDA_\w+)(?P<filled>=[^\"'\n]*(?:%|\{))?")
_FORMAT = re.compile(r"[fF][\"'][^\"']*\Z")  # an f-string, up to some place in it
_DEMANDS = re.compile(
    r"\b(?P<capability>torch\.cuda\.get_device_capability)\b|(?<=[\"'])(?P<architectures>TORCH_CUDA_ARCH_LIST)(?=[\"'])"
    r"|(?<=[\"'])(?P<package>cupy-cuda\d\w*|nvidia-[\w-]{1,40}-cu\d+|pycuda|cuda-python|torch==[\d.]{1,20}\+cu\d+)"
)
_GIVES = {
    "capability": ("it is (9, 4) for gfx942, which is no compute capability", "get_device_properties(0).gcnArchName"),
    "package": ("it is for CUDA", "the package for ROCm"),
}
_GENCODE = re.compile(r"(?<![\w.])(?:(?:torch\.)?cuda\.)?(?<!def )get_gencode_flags\(\)")
_HALF = re.compile(r"(?<=[\"'])-D__CUDA_NO_HALF_(?:OPERATORS|CONVERSIONS)__(?=[\"'])")  # as torch's own lists have them


def setup_py(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a setup.py or of a module that loads extensions, a text of Latin-1."""
    if _OWN.search(text):
        yield finding(OWN_HIP, "left alone: the file builds for HIP already", 0, 0)
        return
    yield from _host_sources(text, asked)
    if not _may_change(text, asked):
        yield from _names(text, asked)
        return
    import libcst as cst  # it takes long to load
    from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

    if _depth(text) > _DEEPEST:
        yield finding(TORCH, "its brackets nest too deep to be read; port its options of nvcc by hand", 0, 0)
        return
    data = text.encode("latin-1")
    try:
        module = cst.parse_module(data)
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        spans = wrapper.resolve(ByteSpanPositionProvider)
        same = module.bytes == data
    except (cst.ParserSyntaxError, SyntaxError, UnicodeError, LookupError, RecursionError) as e:
        message = f"it is no Python that can be read ({type(e).__name__}); port its options of nvcc by hand"
        yield finding(TORCH, message, 0, 0)
        return
    if not same:
        yield finding(TORCH, "its encoding could not be kept; port its options of nvcc by hand", 0, 0)
        return
    for_cuda, is_torchs = _Near(text), "cpp_extension" in text
    bytes_of = {node: (span.start, span.start + span.length) for node, span in spans.items()}
    for group in groups(text, wrapper.module, bytes_of):
        found = list(options.changes(text, group.words, for_cuda(group.start), None, "PYTORCH_ROCM_ARCH"))
        yield from emptied(text, group, found)
        if is_torchs and not for_cuda(group.start):
            yield from options.standards(group.words, "the headers of torch 2 need C++17")
        for word in group.words:
            yield from _libraries(text, word)
            yield from _sources(word, asked)
    yield from _names(text, asked)


def _host_sources(text: str, asked: Asked) -> Iterator[Finding]:
    """Sources that torch gives to the host's compiler, and that only HIP's takes."""
    for m in _HOST_SOURCE.finditer(text) if asked.device_hosts else ():
        if asked.reaches_device(m[0]):
            why = "it includes Thrust or CUB, which only HIP's compiler takes in ROCm, and torch gives it to the host's"
            yield by_hand(TORCH, m[0], why, f"{m[0].rpartition('.')[0]}.cu, and name it so", m.start(), m.end())


def _may_change(text: str, asked: Asked) -> bool:
    """Whether some word of a text would be changed in a string of options for nvcc: only then its strings are read."""
    if asked.renamed and _NAME.search(text):
        return True
    libraries = table()["library"]
    listed = _LISTED.search(text) is not None
    return any(
        options.is_one(word) or (word in libraries and listed) or (word[:2] == "-l" and word[2:] in libraries)
        for word in {m[0] for m in _WORD.finditer(text)}
    )


def _depth(text: str) -> int:
    """How deep brackets nest at most; libcst overflows its stack on thousands."""
    depth = deepest = 0
    for m in re.finditer(r"[(\[{]|[)\]}]", text):
        depth += 1 if m[0] in "([{" else -1
        deepest = max(deepest, depth)
    return deepest


class _Near:
    """Whether a place belongs to options of nvcc: what leads to its bracket says so, or the name of its list, which
    nvcc's options hold and those of no other compiler do."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lists = _held(text, _FOR_NVCC) - _held(text, _FOR_HOST)

    def __call__(self, at: int) -> bool:
        lead = self._text[max(0, at - 120) : at].replace("\n", " ")
        added = _ADDED.search(lead)
        if added and added[1] in self._lists:
            return True
        tail = re.split(r"[\]})]\s*,|(?<=[\]})])\s{2,}", lead)[-1]
        return re.search(r"nvcc|cuda_c?flags|cuda_args", tail, re.I) is not None


def _held(text: str, key: re.Pattern[str]) -> frozenset[str]:
    """Names of lists in the values of a key: `"nvcc": ["-O3"] + flags`."""
    found: set[str] = set()
    at = 0
    while m := key.search(text, at):
        at, depth, assigned = m.end(), 0, m[0].endswith("=")
        for part in _PART.finditer(text, m.end()):
            at = part.end()
            depth += (part[0] in "([{") - (part[0] in ")]}")
            if depth < 0 or (depth == 0 and (part[0] == "," or (assigned and part[0] == "\n"))):
                break
            if part["name"]:
                found.add(part["name"])
    return frozenset(found)


def _libraries(text: str, word: options.Word) -> Iterator[Finding]:
    name = word.text.removeprefix("-l")
    row = table()["library"].get(name)
    if row is None:
        return
    if name == word.text:
        lead = text[max(0, word.start - 200) : word.start]
        if not re.search(rf"{_LISTED.pattern}\s*\[?[^\]]*$", lead):
            return
    prefix = word.text[: len(word.text) - len(name)]
    if row.fate == "rewrite":
        yield swap(LIBRARY, word.text, prefix + row.to, word.start, row.why, row.review)
    else:
        yield by_hand(LIBRARY, word.text, row.why, row.instead or "it without", word.start, word.end)


def _sources(word: options.Word, asked: Asked) -> Iterator[Finding]:
    for m in _NAME.finditer(word.text) if asked.renamed else ():
        new = asked.new_name(m[0])
        if new != m[0]:
            yield swap(RENAMED, m[0], new, word.start + m.start())


def _names(text: str, asked: Asked) -> Iterator[Finding]:
    """Names of nvcc, and of torch's for CUDA."""
    versions = list(_VERSION.finditer(text))
    for m in versions:
        release, text_said = said_by_nvcc()
        prefix = "" if m["decoded"] or _AS_TEXT.search(m["how"]) else "b"
        said = f'{prefix}"{text_said}"'
        why = f"nvcc is asked for its version, and HIP counts as CUDA {release}"
        yield swap(TORCH, m[0], said, m.start(), why, review=True)
    for m in _NVCC.finditer(text):
        if not _commented(text, m.start()) and not any(v.start() < m.start() < v.end() for v in versions):
            yield by_hand(LINE, "nvcc", "it is NVIDIA's compiler", "hipcc", m.end() - len("nvcc"), m.end())
    yield from _folders(text, asked)
    for m in _DEMANDS.finditer(text):
        if _commented(text, m.start()):
            continue
        if m["architectures"]:
            message = f"`{m[0]}` has no effect: torch for ROCm asks for PYTORCH_ROCM_ARCH, with values such as gfx942"
            yield finding(LINE, message, m.start(), m.end(), severity=INFO)
        else:
            yield by_hand(LINE, m[0], *_GIVES[m.lastgroup or ""], m.start(), m.end())
    for m in _GENCODE.finditer(text):
        if not _commented(text, m.start()):
            why = "in torch for ROCm the call stops, and torch gives hipcc the GPUs itself"
            yield swap(TORCH, m[0], '""', m.start(), why, review=True)
    if "cpp_extension" not in text:
        return
    extension = re.search(r"\bCUDAExtension\s*\(", text)
    if extension:
        message = (
            "`CUDAExtension` stays: torch for ROCm compiles it with hipcc. It runs its own hipify over the "
            "sources first, which leaves HIP's names alone and writes copies; do not convert those"
        )
        yield finding(TORCH, message, extension.start(), extension.end(), old="CUDAExtension", severity=INFO)
    yield from _loads(text)
    if "COMMON_NVCC_FLAGS" in text:
        for m in _HALF.finditer(text):
            message = f"`{m[0]}` gets a value, with which torch for ROCm has it in its list"
            yield finding(TORCH, message, m.start(), m.end(), [insert(m.end(), "=1", Side.LEFT)])
    own_home = _OWN_HOME.search(text) is not None and _IMPORTED_HOME.search(text) is None
    for m in _NAMES.finditer(text):
        if _commented(text, m.start()) or any(v.start() < m.start() < v.end() for v in versions):
            continue
        if m["home"]:
            if own_home:
                continue
            yield swap(TORCH, "CUDA_HOME", "ROCM_HOME", m.start(), "CUDA_HOME is None in torch for ROCm", review=True)
        elif m["common"]:
            why = "torch for ROCm gives those to hipcc"
            yield swap(TORCH, m[0], "COMMON_HIPCC_FLAGS", m.start(), why, review=True)
        elif m["built"]:
            new = m[0].replace("cuda", "rocm").replace("cu", "rocm")
            yield swap(TORCH, m[0], new, m.start("built"), "versions of torch for ROCm end in +rocm", review=True)
        else:
            yield by_hand(TORCH, m[0], "it is None in torch for ROCm", "torch.version.hip", m.start(), m.end())


def _folders(text: str, asked: Asked) -> Iterator[Finding]:
    """CUDA's folder, by its path and by the variables of the environment that name it; and CMake's variables."""
    for m in _ENVIRONMENT.finditer(text):
        if not _commented(text, m.start()):
            kind = m.lastgroup or ""
            yield swap(TOOLKIT, m[kind], "ROCM_PATH", m.start(kind), "it names ROCm's folder", review=True)
    for m in _FOLDER.finditer(text):
        if not _commented(text, m.start()):
            yield swap(TOOLKIT, m[0], "/opt/rocm", m.start(), "ROCm's usual folder", review=True)
            inner = INNER.match(text, m.end())
            if inner and inner[0] not in ("/lib", "/include"):
                what = "headers" if inner["include"] else "libraries"
                yield swap(TOOLKIT, inner[0], inner["include"] or "/lib", inner.start(), f"ROCm's {what} are there")
    for m in _LIB64.finditer(text):
        if not _commented(text, m.start()):
            yield swap(TOOLKIT, "lib64", "lib", m.start("lib"), "ROCm's libraries are there", review=True)
    given: dict[int, list[Finding]] = {}
    read = -1  # where the line begins whose options are in `given`
    for m in _FOR_CMAKE.finditer(text):
        start = text.rfind("\n", 0, m.start()) + 1
        if _commented(text, m.start()):
            continue
        if start != read:
            end = text.find("\n", start)
            line = Line(text[start : end if end >= 0 else len(text)], start, "", 0, False)
            given, read = {begin: of for begin, _, of in cache_options(text, line, asked)}, start
        found = given.get(m.start("key"), [])
        filled = m["filled"] and not _FORMAT.search(text[start : m.start()])  # by what is behind the string
        if found and not filled:
            yield from found
        else:
            name = f"-D{m['key']}"
            instead = name.replace("CUDA", "HIP") + " with a value for HIP"
            yield by_hand(LINE, name, "it is for CMake's language CUDA", instead, m.start(), m.end("key"))


def _loads(text: str) -> Iterator[Finding]:
    """Calls that have torch compile an extension while the program runs, where the module imports them."""
    if not loads_extensions(text.encode("latin-1")):
        return
    m = next((m for m in _LOAD.finditer(text) if not _commented(text, m.start(1))), None)
    if m is not None and m[1] == "load":
        message = (
            "`load` stays: torch for ROCm compiles the sources with hipcc. It runs its own hipify over them first, "
            "which leaves HIP's names alone and writes copies; do not convert those"
        )
        yield finding(TORCH, message, m.start(1), m.end(1), old="load", severity=INFO)
    elif m is not None and "__global__" in text:
        why = "torch's hipify renames calls in its strings of CUDA, which cu2port does not read, and does nothing else"
        yield by_hand(TORCH, m[1], why, "the code to a .cu file that is converted, and load that", m.start(1), m.end(1))


def _commented(text: str, at: int) -> bool:
    return "#" in text[text.rfind("\n", 0, at) + 1 : at]
