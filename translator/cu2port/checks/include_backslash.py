from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

# a path with one, or the begin of it where a comment or a continuation may stand before
_MAY = re.compile(r"include[ \t\f\v]*+(?:[/\\]|[\"<][^\">\r\n]{0,1000}\\)")


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
        if _MAY.search(unit.text) is None:
            return
        for inc in unit.includes:
            if "\\" in inc.path:
                new = inc.path.replace("\\", "/")
                edits = (replace(inc.start + 1, inc.end - 1, new),)
                yield self.finding(f"`{inc.path}` is no path but on Windows: `{new}`", inc.start, inc.end, edits)
