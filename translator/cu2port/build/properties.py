"""Properties of targets and sources that CMake has for CUDA."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cu2port.build.layout import break_of, with_gap, without
from cu2port.build.pages import ARCHITECTURE, SEPARATE, VARIABLE
from cu2port.build.syntax import Arg, Command
from cu2port.build.table import Row, table
from cu2port.build.variables import OLD_STANDARD, RDC
from cu2port.build.words import Asked, by_hand, finding, swap
from cu2port.core.model import Edit, Finding, replace

_ON = frozenset({"ON", "TRUE", "YES", "1"})
#: FindCUDA's property of sources that nvcc compiles.
OF_SOURCES = "CUDA_SOURCE_PROPERTY_FORMAT"
_READS = frozenset({"get_target_property", "get_property", "get_source_file_property", "define_property"})


def properties(text: str, c: Command, asked: Asked, interfaces: Collection[str] = ()) -> list[Finding] | None:
    """Findings of a command that reads or sets properties of CUDA's; None: there are none. `interfaces`: targets that
    compile nothing, for which CUDA's properties do nothing."""
    rows = table()["property"]
    if c.name in _READS:
        found = [(a, rows[a.text]) for a in c.args if a.text in rows and not a.quoted]
        return [
            swap(VARIABLE, a.text, r.to, a.inner)
            if r.fate == "rewrite"
            else by_hand(VARIABLE, a.text, r.why, r.instead or "it without", a.start, a.end)
            for a, r in found
        ] or None
    if c.name not in ("set_target_properties", "set_property", "set_source_files_properties"):
        return None
    start = next((i for i, a in enumerate(c.args) if a.text in ("PROPERTIES", "PROPERTY")), None)
    if start is None:
        return None
    of_targets = c.name == "set_target_properties" or c.words[:1] == ("TARGET",)  # CMake reads no others of these
    named = [a.text for a in c.args[:start] if a.text not in ("TARGET", "APPEND", "APPEND_STRING")]
    targets = named if of_targets else []
    pairs = _pairs(c, start)
    if not any(key.text in rows for key, _ in pairs):
        return None
    out: list[Finding] = []
    gone: list[tuple[Arg, Sequence[Arg]]] = []
    lines: list[str] = []
    for key, values in pairs:
        row = rows.get(key.text)
        if row is None:
            continue
        if _goes(row, values, asked):
            gone.append((key, values))
            if row.word == "CUDA_SEPARABLE_COMPILATION" and values[0].text.upper() in _ON:
                for target in targets:
                    if target not in interfaces:
                        lines.append(f"target_compile_options({target} PRIVATE {RDC.format(of='COMPILE')})")
                        # PUBLIC: what links a static library links its device code
                        lines.append(f"target_link_options({target} PUBLIC {RDC.format(of='LINK')})")
        else:
            out += _property(key, values, row, asked)
    if gone:
        out.append(_without(text, c, gone, len(gone) == len(pairs), lines))
    return out


def _pairs(c: Command, start: int) -> list[tuple[Arg, Sequence[Arg]]]:
    rest = c.args[start + 1 :]
    if c.args[start].text == "PROPERTY":
        return [(rest[0], rest[1:])] if rest else []
    return [(rest[i], rest[i + 1 : i + 2]) for i in range(0, len(rest), 2)]


def _goes(row: Row, values: Sequence[Arg], asked: Asked) -> bool:
    if row.word == "CUDA_SEPARABLE_COMPILATION":
        return len(values) == 1 and values[0].text.upper() in _ON | {"OFF", "FALSE", "NO", "0"}
    return row.fate == "drop" or (row.word == "CUDA_ARCHITECTURES" and not asked.archs)


def _property(key: Arg, values: Sequence[Arg], row: Row, asked: Asked) -> list[Finding]:
    if row.fate == "review":
        rule = SEPARATE if "SEPARABLE" in row.word else VARIABLE
        return [by_hand(rule, row.word, row.why, row.instead, key.start, key.end)]
    if row.word == OF_SOURCES and [v.text for v in values] != ["OBJ"]:  # PTX, CUBIN, FATBIN
        ptx = table()["property"]["CUDA_PTX_COMPILATION"]
        return [by_hand(VARIABLE, row.word, ptx.why, ptx.instead, key.start, key.end)]
    out = [swap(VARIABLE, key.text, row.to, key.inner)]
    if row.word == OF_SOURCES:  # FindCUDA gives such sources to nvcc, whatever their suffix
        out.append(swap(VARIABLE, "OBJ", "HIP", values[0].inner))
    if row.word == "CUDA_ARCHITECTURES" and values:
        new = f'"{";".join(asked.archs)}"'
        message = f"the GPUs become those of --arch: {', '.join(asked.archs)}"
        edits = [replace(values[0].start, values[-1].end, new)]
        out.append(finding(ARCHITECTURE, message, values[0].start, values[-1].end, edits))
    if row.word == "CUDA_STANDARD" and values and values[0].text in OLD_STANDARD:
        why = "rocPRIM, which rocThrust and hipCUB are made of, needs C++17"
        out.append(swap(VARIABLE, values[0].text, "17", values[0].inner, why, review=True))
    return out


def _without(
    text: str, c: Command, gone: Sequence[tuple[Arg, Sequence[Arg]]], everything: bool, lines: Sequence[str]
) -> Finding:
    """The finding that takes properties out, with the commands that take their place."""
    lead = break_of(text, c.start)
    names = ", ".join(f"`{key.text}`" for key, _ in gone)
    new = lead.join(lines)
    if everything:
        edits = [replace(c.start, c.end, new)] if lines else [without(text, c.start, c.end)]
    else:
        edits = [with_gap(text, a.start, a.end) for key, values in gone for a in (key, *values)]
        edits += [Edit(c.end, c.end, (lead + new,))] if lines else []
    rule = SEPARATE if lines else ARCHITECTURE if "CUDA_ARCHITECTURES" in names else VARIABLE
    why = "options take its place" if lines else "HIP's targets have none, or take CMAKE_HIP_ARCHITECTURES"
    return finding(rule, f"{names} is taken out: {why}", c.start, c.end, edits, bool(lines))
