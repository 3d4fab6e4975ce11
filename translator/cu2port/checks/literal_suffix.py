from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.includes import for_host
from cu2port.core.model import Finding, Severity, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier, is_string

# those of the standard library, and the prefixes that a neighbouring literal may begin with
_SUFFIXES = frozenset("s sv h min ms us ns y d i il if u8 u U L R u8R uR UR LR".split())
_ADJACENT = re.compile(r'"(?=[A-Za-z])')


class LiteralSuffix(Check):
    """A macro's name is right behind a string literal, where C++11 reads a literal's suffix.

    gcc behind nvcc only warns; clang rejects it. A space parts them. A host source without CUDA stays as it is: its own
    compiler takes it.
    """

    code, name, severity = "CU240", "literal-suffix", Severity.INFO
    examples = (
        Example('void f() { show("%"PRIu64"\\n", x); }', 'void f() { show("%" PRIu64"\\n", x); }'),
        Example('#define SHOW(x) show("n="TEXT)\n', '#define SHOW(x) show("n=" TEXT)\n', "in a macro body"),
        Example('LOG("n="TEXT);', 'LOG("n=" TEXT);', "as a macro's argument"),
        Example('void f() { show("n="TEXT); }', note="a host source without CUDA", path="a.cpp"),
        Example(
            'void f() { show("%"PRIu64, cudaSuccess); }',
            'void f() { show("%" PRIu64, hipSuccess); }',
            "a host source with CUDA",
            path="a.cpp",
        ),
        Example('auto s = "x"s; auto k = "y"_km; auto t = "a" TEXT;', note="suffixes, and a space"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.path.endswith(".c") or _ADJACENT.search(unit.text) is None or unit.is_orderly or _is_plain(unit):
            return
        for m in _ADJACENT.finditer(unit.text):
            i = unit.lexed.at(m.end())
            word = unit.tok(i)
            if not word or unit.p[i] != m.end() or not is_identifier(word) or word in _SUFFIXES:
                continue
            before = unit.tok(i - 1)
            if len(before) > 1 and is_string(before) and before.endswith('"') and unit.end(i - 1) == unit.p[i]:
                yield self.finding(
                    f"`{unit.t[i]}` directly after a string literal is read as its suffix",
                    unit.p[i],
                    unit.end(i),
                    (insert(unit.p[i], " "),),
                    effects=(("all", "compile-error"),),
                )


def _is_plain(unit: Unit) -> bool:
    """Whether a file is a source that the host's compiler compiles, and has nothing of CUDA's."""
    return for_host(unit) and "cuda" not in unit.text and unit.words.isdisjoint(unit.catalog.active)
