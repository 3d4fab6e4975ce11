from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog import target
from cu2port.core.model import Finding, Options, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_WORD = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*")


class CommentName(Check):
    """A CUDA name is in a comment, and `--comments` asks for those to follow the code.

    Comments are left alone by default: they may tell the history of the code.
    """

    code, name, severity = "CU111", "comment-name", Severity.INFO
    modes = frozenset({"comments"})
    examples = (
        Example("// frees with cudaFree\n", "// frees with hipFree\n", options=Options(comments=True)),
        Example(
            "#define F(x) g(x) /* cudaFree */\n",
            "#define F(x) g(x) /* hipFree */\n",
            "in a macro body",
            options=Options(comments=True),
        ),
        Example("F(x /* cudaFree */)", "F(x /* hipFree */)", "as a macro's argument", options=Options(comments=True)),
        Example("// frees with cudaFree\n", note="not asked for"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for start, end in unit.lexed.comments:
            for m in _WORD.finditer(unit.text, start, end):
                row = unit.catalog.get(m.group())
                if row is None or row.strict or row.mapping == "unsupported":
                    continue
                hip, _ = target(row, unit.options.rocm)
                if hip and hip != m.group():
                    edit = replace(m.start(), m.end(), hip)
                    yield self.finding(f"`{row.cuda}` is `{hip}`", m.start(), m.end(), (edit,), cuda=row.cuda, hip=hip)
