from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.files import CUDA_SUFFIXES, suffix
from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_CUDA = regex(r"(?i:cuda|nccl)|\bcu[A-Z]|__(?:global|device|shared|host)__|threadIdx|<<<")


class Unterminated(Check):
    """A comment, a string or an `#if` never ends.

    No compiler takes the file. What is behind the opening of a comment or raw string was read as part of it, so
    CUDA names there are left as they are. Close it, then convert again.
    """

    code, name, severity = "CU224", "unterminated", Severity.WARNING
    examples = (
        Example("int a;\n/* about cudaFree\nint b;\n", "int a;\n/* about cudaFree\nint b;\n", findings=1),
        Example('auto s = R"(cudaFree;\n', 'auto s = R"(cudaFree;\n', note="a raw string", findings=1),
        Example(
            'const char *s = "oops;\nint x = cudaSuccess;\n',
            'const char *s = "oops;\nint x = hipSuccess;\n',
            note="a string ends with its line",
            findings=1,
        ),
        Example("#ifdef A\nint x;\n", "#ifdef A\nint x;\n", note="an #if without #endif", findings=1),
        Example("pip3 install $(find dist/*.whl)\n%environment\n", note="a recipe of Apptainer's", path="a.def"),
        Example('x << "two\n lines";\n', note="no CUDA in a file of the host's", path="a.C"),
        Example("int x;\n#endif\n", "int x;\n#endif\n", note="an #endif without #if", findings=1),
        Example('#define QUOTE "abc\n', '#define QUOTE "abc\n', note="in the body of a macro", findings=1),
        Example('int a; /* closed */ // "open, /* too\n#error "don\'t\n#if 0\na "b\n#endif\nchar *s = "\\"";\n'),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.is_orderly:
            return
        # other files that no compiler takes (`.def`, `.C`, `.inc`) have strings and comments of their own
        if suffix(unit.path) not in CUDA_SUFFIXES and not _CUDA.search(unit.text):
            return
        yield from self._strings(unit)
        yield from self._comment(unit)
        yield from self._conditions(unit)

    def _strings(self, unit: Unit) -> Iterator[Finding]:
        broken = [w for w in unit.strings if _is_open(w)]
        for i in unit.find(*broken):
            d = unit.in_directive(i)
            raw = "R" in unit.t[i].partition('"')[0]
            if (d is not None and d.keyword != "define") or unit.is_dead(unit.p[i]):
                continue
            what = (
                "raw string never ends; nothing behind it was converted" if raw else "string does not end on its line"
            )
            yield self.finding(f"the {what}", unit.p[i], unit.p[i] + unit.t[i].index('"') + 1)

    def _comment(self, unit: Unit) -> Iterator[Finding]:
        start, end = unit.lexed.comments[-1] if unit.lexed.comments else (0, 0)
        is_open = unit.text.startswith("/*", start) and (end < start + 4 or not unit.text.endswith("*/", start, end))
        # a linker's exports and Apptainer's recipes are `.def`, too, and `dist/*.whl` opens no comment there
        if is_open and (suffix(unit.path) != ".def" or _CUDA.search(unit.text, start)):
            yield self.finding("the comment never ends; nothing after it was converted", start, start + 2)

    def _conditions(self, unit: Unit) -> Iterator[Finding]:
        opened = []
        for d in unit.directives:
            if d.keyword in ("if", "ifdef", "ifndef"):
                opened.append(d)
            elif d.keyword == "endif":
                if not opened:
                    yield self.finding("an `#endif` without an `#if`", unit.p[d.first], unit.end(d.stop - 1))
                else:
                    opened.pop()
        for d in opened:
            yield self.finding(f"this `#{d.keyword}` has no `#endif`", unit.p[d.first], unit.end(d.stop - 1))


def _is_open(word: str) -> bool:
    """Whether a string literal lacks its end."""
    if word[0] == '"' == word[-1] and len(word) > 1 and "\\" not in word:
        return False
    prefix, _, body = word.partition('"')
    if "R" in prefix:
        return not body.endswith(f'){body.partition("(")[0]}"')
    if prefix and not re.fullmatch(r"u8|[uUL]", prefix):
        return False
    return not re.search(r'(?<!\\)(?:\\\\)*"', body, re.S)
