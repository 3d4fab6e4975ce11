"""How much inline PTX of real projects is lifted, by project.

    python tools/ptx_coverage.py [--left] [--commits FILE] [--write docs/validation.md] DIR...
    python tools/ptx_coverage.py ... --family mma,ldmatrix,stmatrix,movmatrix,cp.async DIR...

Every asm statement that the lexer finds counts once, also in branches that HIP leaves out. Apart stand statements with
instructions that have a task of their own (matrix, asynchronous copy, mbarrier), with those that only NVIDIA's GPUs
since Hopper have, and chains (statements that hand a carry, a register or a scope on to each other). Barriers of some
of a block's warps are lifted too, but want a look, so that they have a column. FILE names the projects' commits:
`name commit` a line.

With `--family` only statements with an instruction of these families count, whatever else they hold: lifted ones of
all, a column for each family. `cp.async` does not mean `cp.async.bulk`, which copies in another way. Only products of
blocks with scales stand apart, which no AMD GPU but gfx950 has.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tables import replaced, row_text

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement, statements
from cu2port.ptx.chains import carry_chains, lifted_together
from cu2port.ptx.families import kind
from cu2port.ptx.layout import Layout
from cu2port.ptx.lifted import Context, Lifted, RefusedError
from cu2port.ptx.rewrite import is_ptx, lifted_readings, opcodes, prepared, some_meet, written
from cu2port.ptx.table import find

_SUFFIXES = frozenset(".cu .cuh .h .hpp .hxx .hh .cc .cpp .cxx .inl .ipp .hip .c .clh .cl".split())
_HEAD = "| project | commit | asm statements | {} | chains | counted | lifted | of these barriers | % |"
_FEW = 25  #: projects with fewer statements share a row
_APART = ("matrix", "copy", "mbarrier", "hopper")
#: what only sm_90 and later have, where the opcode's first word does not tell
_NEWER = re.compile(
    r"e2m1|e2m3|e3m2|ue8m0|s2f6|f32x2|\.b128\b.*atom|atom\b.*\.b128|v8\.|v4\.(?:b|u|s|f)64|fma3|max3|min3"
    r"|redux\.sync\.\w+\.(?:abs\.)?(?:NaN\.)?f32|\.rs\b|add\.f32\.\w*16|createpolicy\.cvt|::cluster|\.relu.*x2\b.*s16"
)


@dataclass
class Row:
    """The statements of a project, counted. `left`: why some were not lifted."""

    project: str
    counts: Counter[str]
    left: list[tuple[str, str]]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--left", action="store_true", help="name every statement that was not lifted")
    parser.add_argument("--commits", type=Path, help="`name commit` a line")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table `ptx` or `ptx-families`")
    parser.add_argument("--family", metavar="NAMES", help="only these instructions, as `ldmatrix,cp.async`")
    asked = parser.parse_args()
    commits = dict(line.split()[:2] for line in asked.commits.read_text().splitlines()) if asked.commits else {}
    if asked.family:
        return _put(families(asked.folders, asked.family.split(","), asked.left, commits), "ptx-families", asked.write)
    rows = [count(folder) for folder in asked.folders]
    table = _HEAD.format(" | ".join(_APART)) + "\n|---|---|" + "--:|" * 10 + "\n"
    total: Counter[str] = Counter()
    few: Counter[str] = Counter()
    names = []
    for row in sorted((r for r in rows if r.counts), key=lambda r: r.project.lower()):
        total += row.counts
        commit = commits.get(row.project, "")[:7]
        if row.counts.total() < _FEW:
            few += row.counts
            names.append(f"{row.project} {commit}".strip())
        else:
            table += _line(row.project, commit, row.counts)
    if names:
        table += _line(", ".join(names), "", few)
    table += _line("all", "", total)
    if asked.left:
        for row in rows:
            for where, why in row.left:
                print(f"{row.project}\t{where}\t{why}", file=sys.stderr)
    return _put(table, "ptx", asked.write)


def _put(table: str, name: str, page: Path | None) -> int:
    print(table, end="")
    if page:
        page.write_text(replaced(page.read_text(encoding="utf-8"), name, table), encoding="utf-8")
    return 0


def _line(project: str, commit: str, c: Counter[str]) -> str:
    lifted = c["lifted"] + c["barrier"]
    counted = lifted + c["left"]
    share = f"{100 * lifted / counted:.1f}" if counted else ""
    apart = (str(c[k] or "") for k in (*_APART, "chain"))
    end = (str(counted), str(lifted), str(c["barrier"] or ""), share)
    return row_text((project, commit, str(sum(c.values())), *apart, *end))


def count(folder: Path) -> Row:
    """The statements of a folder's sources."""
    row = Row(folder.name, Counter(), [])
    for path, unit in units(folder):
        for what, s, why in judged(unit):
            row.counts[what] += 1
            if what == "left":
                line = unit.text.count("\n", 0, s.span.start) + 1
                row.left.append((f"{path.relative_to(folder)}:{line}", why))
    return row


def units(folder: Path) -> Iterator[tuple[Path, Unit]]:
    """The sources of a folder that may hold PTX."""
    for path in sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file()):
        text = path.read_bytes().decode("latin-1")
        if "asm" in text:
            yield path, Unit(text, load_catalog(), path=str(path))


def families(folders: list[Path], names: list[str], left: bool, commits: dict[str, str]) -> str:
    """A table of the statements with instructions of each family, and how many of them are lifted."""
    counts: dict[str, Counter[str]] = {}
    for folder in folders:
        found: Counter[str] = Counter()
        for path, unit in units(folder):
            for s, of, why in _of_families(unit, names):
                found.update(f"{_outcome(why)} {name}" for name in of)
                if why and left:
                    line = unit.text.count("\n", 0, s.span.start) + 1
                    print(f"{folder.name}\t{path.relative_to(folder)}:{line}\t{why}", file=sys.stderr)
        if found:
            counts[folder.name] = found
    total = sum(counts.values(), Counter[str]())
    table = row_text(["project", "commit", *(f"`{name}`" for name in names), "block-scaled"])
    table += "|---|---|" + "--:|" * (len(names) + 1) + "\n"
    for project, c in [*sorted(counts.items(), key=lambda x: x[0].lower()), ("all", total)]:
        table += row_text([project, commits.get(project, "")[:7], *_of_all(c, names)])
    shares = [f"{100 * total[f'lifted {n}'] / all_:.1f} %" if (all_ := _counted(total, n)) else "" for n in names]
    return table + row_text(["lifted", "", *shares, ""])


def _of_families(unit: Unit, names: list[str]) -> Iterator[tuple[AsmStatement, set[str], str]]:
    """A file's statements with the families that are in each, and why it is not lifted."""
    found, context = prepared(unit, (s for s in statements(unit) if is_ptx(unit, s)))
    joined, _, _ = lifted_together(unit, found, context)
    for s in found:
        of = {name for name in names for opcode in opcodes(unit, s) if is_of(opcode, name)}
        why = ""
        if of and s.keyword not in joined:
            try:
                as_written(unit, s, context)
            except RefusedError as e:
                why = str(e)
        yield s, of, why


def _outcome(why: str) -> str:
    return "lifted" if not why else "scaled" if ".block_scale" in why else "left"


def _counted(c: Counter[str], name: str) -> int:
    return c[f"lifted {name}"] + c[f"left {name}"]


def _of_all(c: Counter[str], names: list[str]) -> list[str]:
    """Lifted of counted for each family, and how many are not counted."""
    cells = [f"{c[f'lifted {n}']} of {of}" if (of := _counted(c, n)) else "" for n in names]
    return [*cells, str(sum(c[f"scaled {n}"] for n in names) or "")]


def is_of(opcode: str, family: str) -> bool:
    """Whether an opcode is of a family, named by its first words."""
    return f"{opcode}.".startswith(f"{family}.") and not f"{opcode}.".startswith(f"{family}.bulk.")


def judged(unit: Unit) -> Iterator[tuple[str, AsmStatement, str]]:
    """What becomes of each statement with PTX, and why some stay."""
    found, context = prepared(unit, (s for s in statements(unit) if is_ptx(unit, s)))
    joined, _, _ = lifted_together(unit, found, context)
    chains = carry_chains(unit, (s for s in found if s.keyword not in joined))
    for s in found:
        kinds = {apart(name) for name in opcodes(unit, s)} - {""}
        special = next((k for k in _APART if k in kinds), "")
        if special:
            yield special, s, ""
        elif s.keyword in joined:
            yield "lifted", s, ""
        elif s.keyword in chains:
            yield "chain", s, ""
        else:
            try:
                lifted = as_written(unit, s, context)
            except RefusedError as e:
                yield ("chain" if e.shared else "left"), s, str(e)
            else:
                partial = any(some_meet(line) for one in lifted for line in one.lines)
                yield ("barrier" if partial else "lifted"), s, ""


def as_written(unit: Unit, s: AsmStatement, context: Context) -> tuple[Lifted, ...]:
    """The readings of a statement as C++, which can be put in its place. Raises RefusedError."""
    readings, lifted = lifted_readings(s, context)
    written(unit, replace(s, readings=readings), Layout(unit, s), lifted)
    return lifted


def apart(opcode: str) -> str:
    """Why an instruction is counted apart; "" where it is not."""
    special, match = kind(opcode), find(opcode)
    if special in _APART and match is None:
        return special
    return "hopper" if _NEWER.search(opcode) or (match is not None and match.row.sm >= 90) else ""


if __name__ == "__main__":
    raise SystemExit(main())
