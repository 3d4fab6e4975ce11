"""Calls of CUB's algorithms for a whole device, and of its collectives for a block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_ALIAS = re.compile(
    r"\b(?:using\s+(?P<new>\w+)\s*=\s*(?P<a>[^;]{1,400})|typedef\s+(?P<b>[^;]{1,400}?)\s*\b(?P<old>\w+)\s*);"
)
_BLOCK = re.compile(r"\b(Block(?!Dim)[A-Z]\w*)\b\s*(?:<|\Z)")


def device_calls(unit: Unit, *algorithms: str) -> Iterator[tuple[int, Call]]:
    """Calls of functions of `cub::DeviceScan` and the like: the token of the function's name, and the call."""
    for i in unit.find(*algorithms):
        if unit.tok(i + 1) == "::" and unit.qualifier(i) < i and (call := unit.call(i + 2)) is not None:
            yield i + 2, call


def argument(unit: Unit, call: Call, n: int) -> str:
    """The text of an argument, "" where there is none."""
    return unit.text[call.args[n].start : call.args[n].end] if 0 <= n < len(call.args) else ""


def block_types(unit: Unit) -> Mapping[str, str]:
    """Names of the file that stand for a block collective of CUB's -> its class (`BlockReduce`)."""
    return unit.once(_block_types)


def _block_types(unit: Unit) -> Mapping[str, str]:
    out: dict[str, str] = {}
    if not any(w.startswith("Block") for w in unit.words):
        return out
    for m in _ALIAS.finditer(unit.text):
        meant = m["a"] or m["b"]
        found = _BLOCK.search(meant)
        if found is not None and re.search(r"\b(?:hip)?cub\s*::", meant) and "TempStorage" not in meant:
            out[m["new"] or m["old"]] = found[1]
    return out


def storages(unit: Unit) -> Mapping[str, str]:
    """Variables of the file that are temporary storage of a block collective -> the collective's class."""
    return unit.once(_storages)


def _storages(unit: Unit) -> Mapping[str, str]:
    out: dict[str, str] = {}
    found = unit.find("TempStorage")
    types = block_types(unit) if found else {}
    for i in found:
        name = unit.tok(i + 1)
        if unit.tok(i - 1) != "::" or not is_identifier(name or ";") or unit.tok(i + 2) not in (";", ",", "["):
            continue
        k = i - 2
        if unit.t[k] == ">":
            k = unit.angle_open(k) - 1
        kind = types.get(unit.tok(k), unit.tok(k) if k > 1 and unit.tok(k - 2) in ("cub", "hipcub") else "")
        if kind.startswith("Block"):
            out[name] = kind
    return out
