"""setup.py of torch's extensions, by libcst: options of nvcc in lists, libraries, and the names of sources.

torch compiles a `CUDAExtension` with hipcc where it is built for ROCm, and passes on what stands under "nvcc".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cu2port.build import options
from cu2port.build.pages import LIBRARY, OWN_HIP, RENAMED, TORCH
from cu2port.build.table import table
from cu2port.build.words import INFO, Asked, by_hand, finding, swap
from cu2port.core.model import Finding

if TYPE_CHECKING:
    import libcst as cst

    Strings = cst.SimpleString | cst.FormattedString

_OWN = re.compile(r"\b(?:ROCM_HOME|torch\.version\.hip|IS_HIP_EXTENSION|is_rocm|hipcc|HIPExtension)\b", re.I)
_DEEPEST = 200
_NAME = re.compile(r"[\w./+*?%{}-]*\.cu(?![\w.])", re.I)
_WORD = re.compile(r"[^\s\"']+")
_QUOTE = re.compile(r"[A-Za-z]*(\"\"\"|'''|\"|')")
_LISTED = re.compile(r"\blibraries\w*\s*(?:\+?=|\.(?:append|extend)\()")
_NAMES = re.compile(r"(?<![\w.\"'])(?P<home>CUDA_HOME)\b|(?P<version>\btorch\.version\.cuda\b)")


def setup_py(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a setup.py, a text of Latin-1."""
    if _OWN.search(text):
        yield finding(OWN_HIP, "left alone: the file builds for HIP already", 0, 0)
        return
    if not _may_change(text, asked):
        yield from _torch(text)
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
    for_cuda = _Near(text)
    done: set[cst.CSTNode] = set()

    def string_words(nodes: list[Strings]) -> list[options.Word]:
        return [w for n in nodes for w in _words(text, spans[n].start, spans[n].start + spans[n].length)]

    for node in _nodes(wrapper.module):
        if isinstance(node, cst.List | cst.Tuple | cst.Set):
            strings = [e.value for e in node.elements if isinstance(e.value, cst.SimpleString | cst.FormattedString)]
        elif isinstance(node, cst.SimpleString | cst.FormattedString):
            strings = [node]
        else:
            continue
        strings = [s for s in strings if s not in done]
        done.update(strings)
        words = string_words(strings)
        at = spans[node].start
        yield from options.changes(text, words, for_cuda(at), None, "PYTORCH_ROCM_ARCH")
        for word in words:
            yield from _libraries(text, word)
            yield from _sources(word, asked)
    yield from _torch(text)


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


def _nodes(module: cst.Module) -> Iterator[cst.CSTNode]:
    """All nodes, in order, whatever they hold."""
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


class _Near:
    """Whether a place belongs to options of nvcc: what leads to its bracket says so."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, at: int) -> bool:
        lead = self._text[max(0, at - 120) : at].replace("\n", " ")
        tail = re.split(r"[\]})]\s*,|(?<=[\]})])\s{2,}", lead)[-1]
        return re.search(r"nvcc|cuda_flags|cuda_args", tail, re.I) is not None


def _words(text: str, start: int, end: int) -> Iterator[options.Word]:
    """The words of a string that stands at [start, end). One that is all of it goes with the comma after it."""
    quote = _QUOTE.match(text, start, end)
    if quote is None:
        return
    first, last = quote.end(), end - len(quote[1])
    whole = end
    after = re.compile(r"[ \t]*,").match(text, end)
    if after:
        whole = after.end()
    for m in _WORD.finditer(text, first, last):
        alone = (m.start(), m.end()) == (first, last)
        outer = (start, whole) if alone else (m.start(), m.end())
        yield options.Word(m[0], m.start(), outer, joint=f"{quote[1]}, {quote[1]}" if alone else " ", lined=alone)


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


def _torch(text: str) -> Iterator[Finding]:
    if "cpp_extension" not in text:
        return
    m = re.search(r"\bCUDAExtension\s*\(", text)
    if m:
        message = (
            "`CUDAExtension` stays: torch for ROCm compiles it with hipcc. It runs its own hipify over the "
            "sources first, which leaves HIP's names alone and writes copies; do not convert those"
        )
        yield finding(TORCH, message, m.start(), m.end(), old="CUDAExtension", severity=INFO)
    for m in _NAMES.finditer(text):
        line = text[text.rfind("\n", 0, m.start()) + 1 : m.start()]
        if "#" in line:
            continue
        if m["home"]:
            yield swap(TORCH, "CUDA_HOME", "ROCM_HOME", m.start(), "CUDA_HOME is None in torch for ROCm", review=True)
        else:
            yield by_hand(TORCH, m[0], "it is None in torch for ROCm", "torch.version.hip", m.start(), m.end())
