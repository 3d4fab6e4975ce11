"""Reads rules/build/*.toml and refuses what breaks a rule of its README."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from cu2port.catalog.rulefile import CatalogError
from cu2port.core.data import computed_from, data_path
from cu2port.core.late import dataclass
from cu2port.facts import header_macros

FATES = ("rewrite", "drop", "review")
KINDS = ("option", "target", "library", "dependency", "variable", "property", "package", "command", "warning")
_TEXTS = frozenset({"to", "why", "instead", "trust", "package", "target", "when", "other", "set"})
_FLAGS = frozenset({"value", "plain"})
_KEYS: Mapping[str, frozenset[str]] = {
    "rewrite": frozenset({"to", "why", "trust", "package", "target", "value", "plain", "when", "other"}),
    "drop": frozenset({"why", "value", "plain"}),
    "review": frozenset({"why", "instead", "value", "plain", "set"}),
}
_SHORT: Mapping[str, str] = {"rewrite": "to", "drop": "why", "review": ""}  # what a row of plain text says


@dataclass(frozen=True, slots=True)
class Row:
    """A word of build files and its fate. The keys are those of rules/build/README.md."""

    word: str
    kind: str
    fate: str
    to: str = ""
    why: str = ""
    instead: str = ""
    review: bool = False
    package: str = ""
    target: str = ""
    when: str = ""
    other: str = ""
    set: str = ""
    value: bool = False
    plain: bool = False


Table = Mapping[str, Mapping[str, Row]]  # kind -> word -> row


@lru_cache(maxsize=1)
def table() -> Table:
    """The table that ships with cu2port. Raises CatalogError when a file of it is malformed."""
    files = sorted((data_path("rules") / "build").glob("*.toml"))
    kept = computed_from(
        "build", [*files, Path(__file__), Path(header_macros.__file__)], lambda: _packed(read_table(files))
    )
    return {kind: {row[0]: Row(*row) for row in rows} for kind, rows in kept.items()}


def _defined() -> Iterator[Row]:
    """Options that define a macro for CUDA's headers, or take it back."""
    for cuda, hip in header_macros.HEADER_MACROS.items():
        for head, tail in (("-D", ""), ("-D", "=1"), ("-U", "")):
            yield Row(f"{head}{cuda}{tail}", "option", "rewrite", f"{head}{hip}{tail}")


def _packed(rows: Table) -> dict[str, list[tuple[Any, ...]]]:
    return {kind: [astuple(row) for row in of.values()] for kind, of in rows.items()}


def read_table(files: list[Path]) -> Table:
    """Read and check files. Raises CatalogError, which names file, line and row."""
    import tomllib  # not every command reads build files

    out: dict[str, dict[str, Row]] = {kind: {} for kind in KINDS}
    out["option"] = {row.word: row for row in _defined()}
    for file in files:
        name = f"build/{file.name}"
        try:
            text = file.read_text(encoding="utf-8")
            data = tomllib.loads(text)
        except OSError as e:
            raise CatalogError(f"{name}: could not be read ({e.strerror})") from e
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise CatalogError(f"{name}: not TOML: {e}") from e
        for row in _rows(_Source(name, text.splitlines()), file.stem, data):
            if row.word in out[row.kind]:
                raise CatalogError(f"{name}: the {row.kind} `{row.word}` has two rows")
            out[row.kind][row.word] = row
    return out


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of the table: says where a row stands."""

    name: str
    lines: list[str]

    def fault(self, heading: str, word: str, what: str) -> CatalogError:
        inside = not heading
        for number, line in enumerate(self.lines, 1):
            inside = inside or line.startswith(f"[{heading}]")
            if inside and re.match(rf'"?{re.escape(word)}"?\s*=|\[{re.escape(word)}[].]', line):
                return CatalogError(f"{self.name}:{number}: `{word}`: {what}")
        return CatalogError(f"{self.name}: `{word}`: {what}")


def _rows(source: _Source, stem: str, data: Mapping[str, Any]) -> Iterator[Row]:
    if data.get("build") != stem:
        raise source.fault("", "build", f"must be the file's stem, `{stem}`")
    if not isinstance(data.get("title"), str):
        raise CatalogError(f"{source.name}: `title` is missing")
    for fate, tables in data.items():
        if fate in ("build", "title"):
            continue
        if fate not in FATES or not isinstance(tables, dict):
            raise source.fault("", fate, "a table is [FATE.KIND], and fates are rewrite, drop and review")
        for kind, rows in tables.items():
            if kind not in KINDS or not isinstance(rows, dict):
                raise source.fault("", f"{fate}.{kind}", f"kinds are {', '.join(KINDS)}")
            for a, b in pairwise(rows):
                if a > b:
                    raise source.fault(f"{fate}.{kind}", b, f"must stand before `{a}` (ASCII order)")
            for word, value in rows.items():
                yield _row(source, fate, kind, word, value)


def _row(source: _Source, fate: str, kind: str, word: str, value: object) -> Row:
    def fault(what: str) -> CatalogError:
        return source.fault(f"{fate}.{kind}", word, what)

    if isinstance(value, str) and _SHORT[fate]:
        value = {_SHORT[fate]: value}
    if not isinstance(value, dict):
        raise fault("a row is a table" + (" or text" if _SHORT[fate] else "") + " in one line")
    unknown = set(value) - _KEYS[fate]
    if unknown:
        raise fault(f"unknown key {sorted(unknown)}; keys of {fate} are {sorted(_KEYS[fate])}")
    for key, part in value.items():
        wanted: type = bool if key in _FLAGS else str
        if not isinstance(part, wanted) or (isinstance(part, str) and not part.strip()):
            raise fault(f"{key} must be {'true or false' if wanted is bool else 'text'}")
    for key in {"rewrite": ("to",), "drop": ("why",), "review": ("why", "instead")}[fate]:
        if key not in value:
            raise fault(f"`{key}` is missing")
    trust = value.get("trust", "exact")
    if trust not in ("exact", "review"):
        raise fault("trust must be exact or review")
    if trust == "review" and "why" not in value:
        raise fault("a row for manual work has a `why`")
    if ("when" in value or "{value}" in value.get("to", "")) and not value.get("value"):
        raise fault("`when` and {value} need value = true")
    if ("when" in value) != ("other" in value):
        raise fault("`when` and `other` belong together")
    given = {k: v for k, v in value.items() if k != "trust"}
    return Row(word, kind, fate, review=trust == "review", **given)
