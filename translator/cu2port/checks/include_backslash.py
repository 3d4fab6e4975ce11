from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_INCLUDE = re.compile(r'include[ \t]*["<]([^"<>\r\n]{1,400})[">]')  # it begins with text, which is found fast
_HASH = re.compile(r"[ \t]*#[ \t]*\Z")


class IncludeBackslash(Check):
    r"""An include has backslashes: `#include "lib\a.h"`.

    Only compilers for Windows take them for folders, and these take `/` too.
    """

    code, name, severity = "CU254", "include-backslash", Severity.INFO
    triggers = frozenset({"include"})
    examples = (
        Example('#include "lib\\a.cuh"\nint n;\n', '#include "lib/a.cuh"\nint n;\n'),
        Example(
            '# include <lib\\sub\\a.h>\nchar s[] = "include \\"a\\\\b.h\\"";\n',
            '# include <lib/sub/a.h>\nchar s[] = "include \\"a\\\\b.h\\"";\n',
            "a string stays",
        ),
        Example('#include "lib/a.h"\n#define PATH "lib\\\\a"\n', note="in a macro body"),
        Example('KEEP("include <a\\b.h>")', note="as a macro's argument"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "\\" not in unit.text:
            return
        for m in _INCLUDE.finditer(unit.text):
            line = unit.text[unit.text.rfind("\n", 0, m.start()) + 1 : m.start()]
            if "\\" in m[1] and _HASH.match(line):
                new = m[1].replace("\\", "/")
                edits = (replace(m.start(1), m.end(1), new),)
                yield self.finding(f"`{m[1]}` is no path but on Windows: `{new}`", m.start(1), m.end(1), edits)
