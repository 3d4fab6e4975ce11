"""Convert a tree in memory and look for damage, file by file.

    python tools/census.py TREE [--only GLOB]... [--all] [--json FILE] [--lexer-alone] [--launch ggl]
    python tools/census.py TREE --converted OUT [--rename .hip]
    python tools/census.py TREE --row 'NAME COMMIT' --write docs/validation.md

CUDA files (.cu, .cuh) are looked at, with --all every kind of source; only the JSON is written. What may be wrong:

- `crash`: converting raises something;
- `output`: there is none, or it is empty and the input is not;
- `again`: converting the output changes it;
- `kernels`, `launches`, `strings`: `__global__` tokens, launches (`<<<...>>>` or `hipLaunchKernelGGL`) or string
  literals of the input are not those of the output (includes, preprocessor messages and asm statements aside, and new
  literals that a row of the catalogue writes);
- `hip`: an edit changes code that is HIP's already;
- `hip names`: names of HIP's in such code that the output has fewer of;
- `reach`: an applied edit reaches past the statement or directive it belongs to. The bytes that an edit replaces must
  hold no `;`, `{` or `}` outside brackets of their own (a launch's configuration counts as brackets), open no bracket
  that they do not close, and close none that they did not open; or be one whole statement among others for which
  there is another, an asm statement or a function definition.
  They must be in one directive, or in none, or hold whole directives and nothing else; and no line break may get into
  a directive without a backslash.

With --write the counts become the row of that name in the table `census` of a document.
With --converted the outputs are those of an earlier `cu2port convert TREE -o OUT`, and edits are not seen.
Exit: 0 all pass; 1 something does not; 2 could not run.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from tables import put_row, row_text

from cu2port.catalog import load_catalog
from cu2port.catalog.uses import declared_names
from cu2port.core.model import Edit, Options, Outcome, Project, Result, Span
from cu2port.engine.hipside import reaches_into
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.facts.hipcode import hip_names, untouched
from cu2port.facts.unit import Unit
from cu2port.project.graph import Graph, Scan, scan_includes
from cu2port.project.jobs import side_of_text
from cu2port.project.sides import decide, read_builds
from cu2port.project.tree import CUDA_SUFFIXES, SOURCE_SUFFIXES
from cu2port.syntax.lexer import is_string, lex

_OPEN = frozenset({"(", "[", "{", "<%", "<:"})
_CLOSE = frozenset({")", "]", "}", "%>", ":>"})
_ENDS = frozenset({";", "{", "}", "<%", "%>"})
_MESSAGES = frozenset({"include", "include_next", "import", "error", "warning", "pragma", "line"})
KINDS = ("crash", "output", "again", "kernels", "launches", "strings", "reach", "hip", "hip names")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a file. `line`: of the input, from 1; 0 when the whole file is meant."""

    kind: str
    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What must be the same before and after."""

    kernels: int
    launches: int
    strings: Counter[str]


def count(unit: Unit) -> Counts:
    """The kernels, launches and string literals of a file; those of asm statements, which become C++, aside."""
    told = {i for d in unit.directives if d.keyword in _MESSAGES for i in range(d.first, d.stop)}
    told.update(i for _, opener, close in unit.asms for i in range(opener, close))
    told.update(i + 2 for i in unit.find("untranslated", "untranslated_trap"))
    for i in unit.find("same"):  # `ptx::same(#type, "s32")`, where a macro wrote the instruction
        if unit.tok(i - 1) == "::" and unit.tok(i - 2) == "ptx":
            told.update(range(i + 1, max(i, unit.match[i + 1])))
    strings = Counter(tok for i, tok in enumerate(unit.t) if is_string(tok) and i not in told)
    launches = len(unit.launches) + unit.t.count("hipLaunchKernelGGL")
    return Counts(unit.t.count("__global__"), launches, strings)


# --- edits ------------------------------------------------------------------------------------------------------------


def reaches(unit: Unit, edit: Edit, config: Set[int]) -> str:
    """How an edit reaches past its statement or directive; "" if not. `config`: tokens of launches' `<<<...>>>`."""
    text = "".join(x for x in edit.parts if isinstance(x, str))
    said = next(filter(None, (_past_directive(unit, start, end, text) for start, end in _replaced(edit))), "")
    first, stop = _tokens(unit, edit.start, edit.end)
    whole = unit.function_at(first) if stop > first else None
    if whole is not None and (whole.first, whole.body[1] + 1) == (first, stop):
        return said  # one definition, from its first word to its last brace
    if any(first == keyword and stop - 1 in (close, close + 1) for keyword, _, close in unit.asms):
        return said  # one asm statement, with its semicolon
    if unit.tok(stop - 1) == ";" and unit.tok(first - 1) in (";", "{", "}") and ";" in text:
        return said or _past_statement(unit, first, stop - 1, config)  # one statement, with its semicolon
    return said or _past_statement(unit, first, stop, config)


def _replaced(edit: Edit) -> Iterator[tuple[int, int]]:
    """The bytes that an edit replaces: its range without what it keeps."""
    position = edit.start
    for part in sorted(x for x in edit.parts if isinstance(x, Span)):
        yield position, max(position, part.start)
        position = max(position, part.end)
    yield position, max(position, edit.end)


def _tokens(unit: Unit, start: int, end: int) -> tuple[int, int]:
    """Indices [first, stop) of the tokens that are in a range of bytes, wholly or in part."""
    first = unit.lexed.at(start)
    if first and unit.end(first - 1) > start:
        first -= 1
    return first, unit.lexed.at(end)


def _past_directive(unit: Unit, start: int, end: int, text: str) -> str:
    first, stop = _tokens(unit, start, end)
    around = next((d for d in unit.directives if d.start < start and end <= d.end), None)
    if around is not None:
        broken = text.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "")
        return f"breaks the line of `#{around.keyword}`" if "\n" in broken or "\r" in broken else ""
    cut = next((d for d in unit.directives if d.start < start < d.end < end), None)
    if cut is not None:
        return f"runs out of `#{cut.keyword}`"
    inside = [d for d in (unit.in_directive(i) for i in range(first, stop)) if d is not None]
    for d in inside:
        if d.end > end and not _is_comment(unit.text[end : d.end]):
            return f"cuts `#{d.keyword}` in two"
    if inside and len(inside) < stop - first:
        return f"takes `#{inside[0].keyword}` and code beside it"
    return ""


def _is_comment(rest: str) -> bool:
    """Whether what is left of a directive is a comment, which may stay."""
    return not rest.strip() or rest.lstrip().startswith(("//", "/*"))


def _past_statement(unit: Unit, first: int, stop: int, config: Set[int]) -> str:
    depth = 0
    for i in range(first, stop):
        if unit.in_directive(i) is not None:
            continue
        tok = unit.t[i]
        if tok in _CLOSE:
            depth -= 1
            if depth < 0:
                return f"closes a `{tok}` that it did not open"
        if depth == 0 and tok in _ENDS and i not in config:
            return f"holds a `{tok}`"
        if tok in _OPEN:
            depth += 1
    return "opens a bracket that it does not close" if depth > 0 else ""


def edit_faults(unit: Unit, result: Result) -> Iterator[Fault]:
    """Every applied edit of a result that reaches too far."""
    config = {i for launch in unit.launches for i in range(launch.open, launch.close + 3)}
    for judged in result.findings:
        if judged.outcome is Outcome.APPLIED:
            for edit in judged.finding.edits:
                said = reaches(unit, edit, config)
                if said:
                    line = unit.text.count("\n", 0, edit.start) + 1
                    parts = "".join(x if isinstance(x, str) else unit.text[x.start : x.end] for x in edit.parts)
                    shown = f"`{_short(unit.text[edit.start : edit.end])}` -> `{_short(parts)}`"
                    yield Fault("reach", unit.path, line, f"{judged.finding.code} {said}: {shown}")


def hip_faults(unit: Unit, result: Result) -> Iterator[Fault]:
    """Every applied edit in code that is HIP's, and the names of HIP's in it that are gone."""
    cover = untouched(unit)
    for judged in result.findings if cover else ():
        for edit in judged.finding.edits if judged.outcome is Outcome.APPLIED else ():
            if reaches_into(cover, edit):
                line = unit.text.count("\n", 0, edit.start) + 1
                shown = _short(unit.text[edit.start : edit.end])
                yield Fault("hip", unit.path, line, f"{judged.finding.code} edits `{shown}`")
    before = Counter(unit.t[i] for i in named_in_hip(unit))
    gone = before - Counter(lex(result.output.decode("latin-1")).t) if before else before
    for name in sorted(gone):
        yield Fault("hip names", unit.path, 0, f"{gone[name]} of {before[name]} `{name}` are gone")


def named_in_hip(unit: Unit) -> list[int]:
    """The tokens that are HIP's names, in code that is HIP's."""
    cover = untouched(unit)
    return [i for i in hip_names(unit) if unit.p[i] in cover] if cover else []


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:60]} ... {text[-30:]}"


# --- files ------------------------------------------------------------------------------------------------------------


def sources(tree: Path, only: Sequence[str], every: bool) -> Iterator[Path]:
    """The files to look at, in a fixed order."""
    suffixes = SOURCE_SUFFIXES if every else CUDA_SUFFIXES
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if f != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            relative = path.relative_to(tree).as_posix()
            asked = not only or any(fnmatch.fnmatch(relative, g) for g in only)
            if asked and path.suffix.lower() in suffixes and path.is_file() and not path.is_symlink():
                yield path


def projects(tree: Path, paths: Sequence[Path]) -> dict[Path, Project]:
    """What the tree says of each file, headers included, as `cu2port convert` finds it; but the CUDA side of a project
    that builds for HIP itself, which `convert` leaves, is converted here too."""
    scans = {}
    for path in sources(tree, (), every=True):
        data = path.read_bytes()
        own, promised, _ = declared_names(data.decode("latin-1"))
        scans[str(path)] = Scan(own, scan_includes(data), side_of_text(data), promised)
    graph = Graph(list(scans), scans, ())
    shown = {str(p): p.relative_to(tree).as_posix() for p in map(Path, scans)}
    builds = read_builds((str(p), p.relative_to(tree).as_posix()) for p in sorted(tree.rglob("*")) if p.is_file())
    sides = decide(graph.sides, shown, graph.resolved(), builds)
    return {
        p: Project(
            declared=graph.declared(str(p)),
            own=graph.own(str(p)),
            side=sides.of[str(p)].name,
            hip_macros=sides.macros,
        )
        for p in paths
    }


def faults(
    path: Path,
    name: str,
    options: Options,
    project: Project,
    clang: ClangService | None,
    converted: Path | None,
    ours: Set[str],
) -> Iterator[Fault]:
    """What is wrong with the conversion of one file.

    `converted`: the output, if it is there already. `ours`: string literals that rewriting a call may bring.
    """
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        return  # no 8-bit text: copied
    catalog = load_catalog()
    unit = Unit(data.decode("latin-1"), catalog, options, name, project)
    try:
        if converted is None:
            result = translate(data, options, path=str(path), project=project, clang=clang)
            yield from edit_faults(unit, result)
            yield from hip_faults(unit, result)
            output = result.output
        elif converted.is_file():
            output = converted.read_bytes()
        else:
            yield Fault("output", name, 0, "there is none")
            return
        again = translate(output, options, path=str(path), project=project, clang=clang)
    except Exception:  # whatever it is, it is what we look for
        yield Fault("crash", name, 0, traceback.format_exc(limit=-2).strip().replace("\n", " | "))
        return
    if bool(output) != bool(data):
        yield Fault("output", name, 0, f"{len(data)} bytes became {len(output)}")
    if again.output != output:
        line, a, b = _difference(output, again.output)
        yield Fault("again", name, line, f"`{a}` becomes `{b}`")
    before, after = count(unit), count(Unit(output.decode("latin-1"), catalog, options, name, project))
    for kind in ("kernels", "launches"):
        a, b = getattr(before, kind), getattr(after, kind)
        if a != b:
            yield Fault(kind, name, 0, f"{a} before, {b} after")
    gone, new = before.strings - after.strings, after.strings - before.strings
    strange = [text for text in new if text not in ours]
    if gone or strange:
        yield Fault("strings", name, 0, f"gone {[*gone][:3]}, new {strange[:3]}")


def _difference(a: bytes, b: bytes) -> tuple[int, str, str]:
    """The first line in which two texts differ: its number, and both versions."""
    old, new = a.decode("latin-1").split("\n"), b.decode("latin-1").split("\n")
    k = next((i for i, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), min(len(old), len(new)))
    return k + 1, _short("".join(old[k : k + 1])), _short("".join(new[k : k + 1]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Convert a tree in memory and look for damage, file by file.")
    parser.add_argument("tree", type=Path)
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="relative paths to look at; else all"
    )
    parser.add_argument("--all", action="store_true", help="every kind of source, not only .cu and .cuh")
    parser.add_argument("--converted", type=Path, metavar="OUT", help="the outputs are there")
    parser.add_argument("--rename", default="", metavar=".hip", help="the suffix that .cu has in OUT")
    parser.add_argument("--launch", choices=("keep", "ggl"), default="keep", help="as for `cu2port convert`")
    parser.add_argument("--lexer-alone", action="store_true", help="do not ask libclang")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all faults there")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write a row of the table `census` in a document")
    parser.add_argument("--row", metavar="NAME", help="the row's first cell; else the folder's name")
    args = parser.parse_args()
    if not args.tree.is_dir():
        print(f"{args.tree}: no such folder", file=sys.stderr)
        sys.exit(2)
    paths = list(sources(args.tree, args.only, args.all))
    known = projects(args.tree, paths)
    found: list[Fault] = []
    total: Counter[str] = Counter()
    catalog = load_catalog()
    written = (tok for row in catalog if row.mapping == "change" for tok in lex(row.after).t)
    ours = frozenset(filter(is_string, written))
    with ClangService() as service:
        for path in paths:
            name = path.relative_to(args.tree).as_posix()
            made = None
            if args.converted:
                renamed = args.rename and name.endswith(".cu")
                made = args.converted / (name[:-3] + args.rename if renamed else name)
            clang = None if args.lexer_alone else service
            found += faults(path, name, Options(launch=args.launch), known[path], clang, made, ours)
            unit = Unit(path.read_bytes().decode("latin-1"), catalog, path=name, project=known[path])
            counted = count(unit)
            total += Counter(files=1, kernels=counted.kernels, launches=counted.launches)
            total += Counter({"strings": counted.strings.total(), "hip names": len(named_in_hip(unit))})
    cells = _show(found, total)
    if args.write:
        put_row(args.write, "census", [args.row or args.tree.resolve().name, *cells])
    if args.json:
        text = json.dumps({"totals": total, "faults": [asdict(f) for f in found]}, indent=1)
        args.json.write_text(text + "\n", encoding="utf-8")
    sys.exit(1 if found else 0)


def _show(found: Sequence[Fault], total: Counter[str]) -> tuple[str, ...]:
    """Print the faults and a table of them; the cells of its row."""
    for f in found:
        print(f"{f.path}:{f.line}: {f.kind}: {f.what}")
    if found:
        print()
    heads = ("files", *KINDS)
    print(row_text(heads) + "|" + " --: |" * len(heads))
    bad = Counter(f.kind for f in found)
    sound = {kind: str(bad[kind]) for kind in KINDS}
    for kind in ("kernels", "launches", "strings", "hip names"):
        sound[kind] = f"{bad[kind]} (of {total[kind]:,})"
    cells = (f"{total['files']:,}", *sound.values())
    print(row_text(cells), end="")
    return cells


if __name__ == "__main__":
    main()
