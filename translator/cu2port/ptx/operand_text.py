"""Texts of operands and of lines with placeholders for them: which need brackets, which name the same object."""

from __future__ import annotations

import re

from cu2port.ptx.printer import NAMESPACE

PLACEHOLDER = re.compile(r"\bptx_operand_(\d+)_\b")
#: what changes something when it is evaluated
EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")
#: what binds no tighter than an assignment
LOOSE = re.compile(r"[?,=]")
SIMPLE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*|\[[\w+ ]*\])*\Z|\d\w*\Z")
#: a placeholder in brackets that is assigned to
WRITTEN = re.compile(r"\((ptx_operand_(\d+)_)\) = ")


_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(?:[uUlL]*)\Z")


def number(text: str) -> int | None:
    """The value of a literal as C++ reads it."""
    text = text.strip()
    if not _NUMBER.match(text):
        return None
    return int(text.rstrip("uUlL"), 8 if re.match(r"-?0\d", text) else 0)


def bare(text: str) -> str:
    """A placeholder without the brackets around it."""
    return text[1:-1] if text.startswith("(ptx_operand_") and text.endswith(")") else text


def tidy(line: str) -> str:
    """Brackets taken off where a placeholder is a whole argument or a whole right side."""
    line = re.sub(r"(?<=[\w>][({])\((ptx_operand_\d+_)\)(?=[,)}])", r"\1", line)
    line = re.sub(r"(?<=, )\((ptx_operand_\d+_)\)(?=[,)}])", r"\1", line)
    line = re.sub(r"(?<= = )\((ptx_operand_\d+_)\)(?=;)", r"\1", line)
    # helpers that take an address take pointers and integers alike
    return re.sub(
        rf"(\b(?:ld|st|atom|red)\w*(?:<[^()]*>)?)\({NAMESPACE}address\((\(?ptx_operand_\d+_\)?)\)(?=[,)])",
        r"\1(\2",
        line,
    )


def stem(text: str) -> str:
    """A name to make a local's name of, "" if none suggests itself."""
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^][]*\]", "", text))
    return words[-1] if words and len(words) < 4 else ""
