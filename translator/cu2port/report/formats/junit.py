"""JUnit's XML."""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.core.plain import one_line
from cu2port.lint.run import FileLint

_BAD_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "\N{REPLACEMENT CHARACTER}")


def of_lint(files: Sequence[FileLint]) -> str:
    """A test case a file, a failure a finding."""
    out = []
    failures = 0
    for f in files:
        out.append(f"  <testcase name={_attribute(f.path)} classname={_attribute('cu2port.lint')}>")
        for x in f.findings:
            failures += 1
            text = _xml(one_line(f"{f.path}:{x.start.line}:{x.start.column}: {x.code} {x.name}: {x.message}"))
            out.append(f"    <failure message={_attribute(x.message)} type={_attribute(x.code)}>{text}</failure>")
        out.append("  </testcase>")
    head = f'<testsuite name="cu2port lint" tests="{len(files)}" failures="{failures}" errors="0">'
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *out, "</testsuite>")) + "\n"


def _clean(text: str) -> str:
    return text.translate(_BAD_XML).encode("utf-8", "replace").decode("utf-8")


def _xml(text: str) -> str:
    from html import escape  # its table of entities takes longer to load than most reports to write

    escaped = escape(_clean(text), quote=False)
    return "".join(c if c.isprintable() or c in "\t\n\r" else f"&#{ord(c)};" for c in escaped)


def _attribute(text: str) -> str:
    text = _xml(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")
    return f'"{text}"'
