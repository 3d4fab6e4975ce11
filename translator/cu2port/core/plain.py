"""Text that a terminal, a CI server and a reader can take: what comes from a tree shows, and is obeyed by nobody."""

from __future__ import annotations

from cu2port.core.late import regex

_NOT_JSON = regex(r"[^\x20-\x7e\n]")
# what GitHub, Azure and TeamCity take for a command: at the start of a line, or anywhere in it
_STARTS = regex(r"\s*::")
_COMMANDS = regex(r"##(?=\w*\[)")


def visible(text: str) -> str:
    """Text with escapes in place of line ends, control and bidirectional characters; tabs stay."""
    if text.isprintable():
        return text
    return "".join(c if c == "\t" or c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def one_line(text: str) -> str:
    """`visible` text as a line of its own that no CI server treats as a command."""
    text = visible(text)
    if "##" in text:
        text = _COMMANDS.sub(r"#\\#", text)
    return "\\" + text.lstrip() if _STARTS.match(text) else text


def json_of(value: object, indent: int | None = 1) -> str:
    """JSON with escapes in place of what does not print."""
    import json  # not every command writes some

    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _NOT_JSON.sub(lambda m: m[0] if m[0].isprintable() else json.dumps(m[0])[1:-1], text)
