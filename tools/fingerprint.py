"""A fingerprint of what cu2port makes of trees, to show that a change of code changes no output.

    python tools/fingerprint.py TREE... -o FOLDER [--mode MODE]... [--keep] [-j 2] [--package DIR]
    python tools/fingerprint.py --compare OLD NEW [--lines 40]
    python tools/fingerprint.py TREE... --base COMMIT [--most 60] [--mode MODE]... [-o FOLDER]

A tree is a folder, or NAME=FOLDER where the last part of the folder is no good name. Each tree is converted in every
mode of MODES, one command after the other with two workers. `FOLDER/NAME.MODE.txt` then has a line `sha256  path` for

- `output/PATH`: a file of the output, converted, copied or a helper header;
- `findings/PATH`: what the report says of a file of the input, a finding a line;
- `report/KEY`: what the report says of the tree: counts, effort, names that are left.

Two runs give the same bytes: versions, options and absolute paths are left out of reports. A file that takes longer
than a worker may would differ, so files that failed are counted on standard error. With --keep the files themselves
stay, in `FOLDER/NAME.MODE/`. `--package` names the folder that holds another version of `cu2port`: `translator` of
another checkout.

--compare names each file that differs, with a diff where both folders kept it. Trees and modes that only one of them
has are listed and do not count.

--base does all of that at once: the code of a commit and that of this folder convert the same trees, of each no more
than --most source files at even distances with all build files. What differs is then told once for each way in which
lines differ: how often in how many files, the words before and after, and a place; first the commits in between.

Exit: 0 the same, or written; 1 something differs; 2 could not run.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
_START = "import sys; sys.path.insert(0, {!r}); from cu2port.cli import main; main()"
_CONVERT = ("convert", ".", "-q", "-o", "{out}", "--report", "{report}")
MODES: Mapping[str, tuple[str, ...]] = {
    "logical": (*_CONVERT, "--warp", "logical"),
    "native": (*_CONVERT, "--warp", "native"),
    "solo": (*_CONVERT, "--warp", "solo"),
    "flag": (*_CONVERT, "--warp", "flag"),
    "options": (*_CONVERT, *"--launch ggl --ptx trap --ptx-fp fast --skip-inactive --comments --rename .hip".split()),
    "audit": ("audit", ".", "-o", "{report}"),
    "lint": ("lint", ".", "--isolated", "--no-cache", "--info", "--output-format", "json", "--output-file", "{report}"),
}
_STATE = ".cu2port"  # what an output folder remembers of the run
_MOST_BYTES = 1 << 20  # of a source file in a sample
_SOURCES = frozenset({".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".inl", ".py"})
_BUILD = frozenset({"CMakeLists.txt", "Makefile", "setup.py"})
_CODE = ("translator", "rules", "grammars")  # what outputs depend on
_WORD = re.compile(r"\w+|\s+|.")
_NUMBER = re.compile(r"(?<!CU)\b\d+")
_NAME = re.compile(r"`[^`]*`")
_WIDE = 160
_DROPPED = ("schema", "tool", "options")


def record(tree: Path, mode: str, work: Path, package: Path, jobs: int) -> int:
    """Run one mode over a tree and lay out `output`, `findings` and `report` below a new folder. Returns how many files
    failed. Raises click.UsageError."""
    work.mkdir(parents=True)
    places = {"out": str(work / "output"), "report": str(work / "report.json")}
    words = [word.format_map(places) for word in MODES[mode]]
    command = [sys.executable, "-c", _START.format(str(package)), *words, "-j", str(jobs)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, errors="backslashreplace", check=False)
    report = work / "report.json"
    if done.returncode not in (0, 1) or not report.is_file():
        raise click.UsageError(f"{tree}: {mode}: {done.stderr.strip() or 'no report was written'}")
    text = report.read_text("utf-8").replace(str(work), "").replace(str(tree), ".")
    report.unlink()
    shutil.rmtree(work / "output" / _STATE, ignore_errors=True)
    document = json.loads(text)
    for name, lines in _texts(document):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", errors="backslashreplace") as f:
            f.writelines(f"{line}\n" for line in lines)
    return sum(f.get("status") == "failed" or bool(f.get("failed")) for f in document.get("files", ()))


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a report as (file below the work folder, lines): what has a path, by path; the rest by key."""
    for key, value in document.items():
        if key in _DROPPED:
            continue
        if not isinstance(value, list) or not all(isinstance(item, dict) and "path" in item for item in value):
            yield f"report/{key}", json.dumps(value, indent=1, sort_keys=True).splitlines()
            continue
        for item in value:
            findings = item.get("findings")
            inner = findings if isinstance(findings, list) else []
            head = {k: v for k, v in item.items() if v is not inner}
            path = "/".join(part for part in item["path"].split("/") if part not in ("", ".", ".."))
            yield f"findings/{path}.txt", [f"{key} {_line(head)}", *map(_line, inner)]


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def digests(work: Path) -> dict[str, str]:
    """The sha256 of every file below a folder; of a link, that of where it leads."""
    found = {}
    for folder, folders, files in os.walk(work):
        for name in (*files, *(f for f in folders if Path(folder, f).is_symlink())):
            path = Path(folder, name)
            data = b"-> " + os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[path.relative_to(work).as_posix()] = hashlib.sha256(data).hexdigest()
    return found


def read(folder: Path) -> dict[str, dict[str, str]]:
    """The fingerprints of a folder: tree and mode, then path, then sha256."""
    return {
        path.stem: {name: digest for digest, name in (line.split("  ", 1) for line in _lines(path))}
        for path in sorted(folder.glob("*.*.txt"))
    }


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")


def compare(old: Path, new: Path, most: int) -> tuple[list[str], bool]:
    """What differs between two folders as lines, and whether anything does. `most`: lines of a file's diff.
    Raises click.UsageError when they have nothing in common."""
    one, other = read(old), read(new)
    common = [key for key in one if key in other]
    if not common:
        raise click.UsageError(f"{old} and {new} have no tree and mode in common")
    out = [
        f"{key}: only in {folder}" for a, b, folder in ((one, other, old), (other, one, new)) for key in a.keys() - b
    ]
    out.sort()
    differs = False
    for key in common:
        before, after = one[key], other[key]
        names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
        out.append(f"{key}: {len(names)} of {len(before.keys() | after.keys())} files differ")
        differs = differs or bool(names)
        for name in names:
            how = "new" if name not in before else "gone" if name not in after else "differs"
            out.append(f"  {how} {name}")
            if how == "differs":
                out += _diff(old / key / name, new / key / name, most)
    return out, differs


def _diff(one: Path, other: Path, most: int) -> list[str]:
    """The diff of two kept files, indented; nothing where one was not kept."""
    if not (one.is_file() and other.is_file()):
        return []
    a, b = (path.read_bytes().decode("latin-1").splitlines() for path in (one, other))
    lines = [f"    {line}" for line in difflib.unified_diff(a, b, n=1, lineterm="")][2:]
    return lines[:most] + ([f"    ... {len(lines) - most} more lines"] if len(lines) > most else [])


# --- one version against another --------------------------------------------------------------------------------------


def checkout(commit: str, folder: Path) -> None:
    """The files of a commit in a new folder. Raises click.UsageError."""
    folder.mkdir(parents=True)
    got = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=False)
    if got.returncode:
        raise click.UsageError(got.stderr.decode(errors="replace").strip())
    with tarfile.open(fileobj=io.BytesIO(got.stdout)) as archive:
        archive.extractall(folder, filter="data")


def sample(tree: Path, most: int, folder: Path) -> None:
    """Copies a tree's build files and up to `most` of its source files, at even distances, into a new folder."""
    folder.mkdir(parents=True)
    sources: list[Path] = []
    chosen: list[Path] = []
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            continue
        if path.suffix in _SOURCES:
            sources.append(path)
        elif path.name in _BUILD or path.suffix == ".cmake":
            chosen.append(path)
    step = max(1.0, len(sources) / most)
    for path in (*(sources[int(n * step)] for n in range(min(most, len(sources)))), *chosen[:most]):
        to = folder / path.relative_to(tree)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def changes(one: Path, other: Path) -> Iterator[tuple[str, str]]:
    """How two files differ: what is before and after, numbers and names aside; "" where something is new or gone.

    Findings are compared by code and message first, whatever their places; helper headers as wholes.
    """
    if not (one.is_file() and other.is_file()):
        yield (f"file {one.name}", "") if one.is_file() else ("", f"file {other.name}")
        return
    a, b = (path.read_bytes().decode("latin-1").splitlines() for path in (one, other))
    if "findings" in one.parts:
        before, after = Counter(map(_told, a)), Counter(map(_told, b))
        yield from ((text, "") for text in (before - after).elements())
        yield from (("", text) for text in (after - before).elements())
        if before != after:
            return
    if one.parent.name == "cu2port":
        yield f"helper header {one.name}", "changed"
        return
    for op, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op == "equal":
            continue
        for n in range(max(j - i, m - k)):
            x, y = (lines[s + n] if s + n < e else "" for lines, s, e in ((a, i, j), (b, k, m)))
            if x and y:
                x, y = _differing(x, y)
            yield _masked(x), _masked(y)


def _told(line: str) -> str:
    """What a line of a report says of a file: a finding's code, outcome and message, names and numbers aside."""
    try:
        found = json.loads(line)
    except ValueError:
        return line[:_WIDE]
    words = (found.get("code", ""), found.get("outcome", found.get("way", "")), found.get("message", ""))
    return _masked(_NAME.sub("`...`", " ".join(map(str, words))))


def _masked(text: str) -> str:
    return _NUMBER.sub("#", text.strip())[:_WIDE]


def _differing(a: str, b: str) -> tuple[str, str]:
    """Two lines less the words that both begin and end with."""
    x, y = _WORD.findall(a), _WORD.findall(b)
    first = next((n for n, (p, q) in enumerate(zip(x, y, strict=False)) if p != q), min(len(x), len(y)))
    rest = zip(reversed(x[first:]), reversed(y[first:]), strict=False)
    last = next((n for n, (p, q) in enumerate(rest) if p != q), min(len(x), len(y)) - first)
    return "".join(x[first : len(x) - last]), "".join(y[first : len(y) - last])


def summary(old: Path, new: Path, most: int) -> tuple[list[str], bool]:
    """Each way in which lines of two folders differ, the most frequent first, and whether any does."""
    out = []
    found: dict[tuple[str, str], list[str]] = {}
    one, other = read(old), read(new)
    for key in sorted(one.keys() & other.keys()):
        before, after = one[key], other[key]
        names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
        out.append(f"{key}: {len(names)} of {len(before.keys() | after.keys())} files differ")
        for name in names:
            for change in changes(old / key / name, new / key / name):
                found.setdefault(change, []).append(f"{key}/{name}")
    ordered = sorted(found.items(), key=lambda x: (-len(x[1]), x[0]))
    for (a, b), places in ordered[:most]:
        out += ["", f"{len(places)} times in {len(set(places))} files, first {places[0]}"]
        out += [f"  {sign} {text}" for sign, text in (("-", a), ("+", b)) if text]
    if len(ordered) > most:
        out.append(f"... {len(ordered) - most} more ways")
    return out, bool(found)


def against(commit: str, trees: Mapping[str, Path], out: Path, modes: tuple[str, ...], files: int, jobs: int) -> None:
    """Fingerprints of samples of trees by the code of a commit and that of this folder, in `out`/before and after."""
    checkout(commit, out / "old")
    for name in _CODE:  # a copy: the folder may change in the meantime
        shutil.copytree(ROOT / name, out / "new" / name, ignore=shutil.ignore_patterns("__pycache__"))
    samples = {}
    for name, tree in trees.items():
        sample(tree, files, out / "trees" / name)
        samples[name] = out / "trees" / name
    for side, package in (("before", out / "old"), ("after", out / "new")):
        _write(samples, out / side, modes, True, package / "translator", jobs)


def _log(commit: str) -> list[str]:
    words = ["git", "-C", str(ROOT), "log", "--format=%h %s", f"{commit}..HEAD", "--", *_CODE]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()


def _write(trees: Mapping[str, Path], out: Path, modes: tuple[str, ...], keep: bool, package: Path, jobs: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, tree in trees.items():
        for mode in modes:
            began = time.monotonic()
            key = f"{name}.{mode}"
            with tempfile.TemporaryDirectory(prefix="cu2port-fingerprint-") as scratch:
                work = out.resolve() / key if keep else Path(scratch, key).resolve()
                if keep:
                    shutil.rmtree(work, ignore_errors=True)
                failed = record(tree, mode, work, package, jobs)
                found = digests(work)
            text = "".join(f"{found[path]}  {path}\n" for path in sorted(found))
            (out / f"{key}.txt").write_bytes(text.encode("utf-8", "surrogateescape"))
            some = f", {failed} FAILED" if failed else ""
            click.echo(f"{key}: {len(found)} files{some}, {time.monotonic() - began:.0f} s", err=True)


def _named(words: tuple[str, ...]) -> dict[str, Path]:
    """Trees by name. Raises click.UsageError."""
    trees: dict[str, Path] = {}
    for word in words:
        name, _, folder = word.rpartition("=")
        path = Path(folder).resolve()
        if not path.is_dir():
            raise click.UsageError(f"{word}: no such folder")
        if (name or path.name) in trees:
            raise click.UsageError(f"{word}: there is a tree of that name already; write NAME={word}")
        trees[name or path.name] = path
    return trees


@click.command(help=(__doc__ or "").replace("\n\n", "\n\n\b\n"))
@click.argument("words", metavar="TREE...", nargs=-1)
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), help="Folder for the fingerprints.")
@click.option("--mode", "modes", multiple=True, type=click.Choice(list(MODES)), help="Only these modes; else all.")
@click.option("--keep", is_flag=True, help="Keep outputs and findings, so that --compare can show diffs.")
@click.option(
    "--package", type=click.Path(exists=True, path_type=Path), default=ROOT / "translator", help="Other code."
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=2, help="Worker processes.  [2]")
@click.option("--compare", "pair", nargs=2, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--base", metavar="COMMIT", help="Compare this folder's code with a commit's.")
@click.option("--most", "files", type=click.IntRange(min=1), default=60, help="With --base: files of a tree.  [60]")
@click.option("--lines", "most", type=click.IntRange(min=0), default=40, help="Lines of a file's diff, or ways.  [40]")
def main(
    words: tuple[str, ...],
    out: Path | None,
    modes: tuple[str, ...],
    keep: bool,
    package: Path,
    jobs: int,
    pair: tuple[Path, Path] | None,
    base: str | None,
    files: int,
    most: int,
) -> None:
    if pair is not None:
        lines, differs = compare(*pair, most)
        click.echo("\n".join(lines))
        raise SystemExit(1 if differs else 0)
    if base is not None and words:
        with tempfile.TemporaryDirectory(prefix="cu2port-fingerprint-") as scratch:
            work = (out or Path(scratch)).resolve() / "against"
            shutil.rmtree(work, ignore_errors=True)
            against(base, _named(words), work, modes or tuple(MODES), files, jobs)
            lines, differs = summary(work / "before", work / "after", most)
        click.echo("\n".join([*_log(base), "", *lines]))
        raise SystemExit(1 if differs else 0)
    if out is None or not words:
        raise click.UsageError("name trees and -o FOLDER or --base COMMIT, or --compare OLD NEW")
    _write(_named(words), out, modes or tuple(MODES), keep, package.resolve(), jobs)


if __name__ == "__main__":
    main()
