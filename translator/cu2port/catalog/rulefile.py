"""Reading rules/*.toml and refusing what breaks a rule of rules/README.md."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

_NAME = re.compile(r"~?[A-Za-z_]\w*(?:(?:::|\.)~?[A-Za-z_]\w*)*\Z")
_TYPE = re.compile(r"!?\*\Z|[A-Za-z_]\w*\Z")
_VERSION = re.compile(r"\d+(?:\.\d+){0,3}\Z")
VERSION_KEYS = ("cuda_since", "cuda_deprecated", "cuda_removed", "hip_since", "hip_deprecated", "hip_removed")
_COMMON = frozenset({*VERSION_KEYS, "older", "unchecked", "strict", "headers", "bare", "helper"})
_RENAME_KEYS = _COMMON | {"hip", "argc"}
_CHANGE_KEYS = _COMMON | {"cuda", "hip", "args", "call", "argc", "values", "forms", "trust", "why", "example", "drop"}
_UNSUPPORTED_KEYS = frozenset({*VERSION_KEYS, "cuda", "why", "instead", "strict"})
_FILE_KEYS = frozenset(
    {"library", "title", "target", "names", "headers", "namespaces", "rename", "change", "unsupported"}
)
_FORM_KEYS = frozenset({"argc", "types", "hip", "hip_since", "args", "call", "trust", "example"})


class CatalogError(Exception):
    """A rule file breaks a rule of rules/README.md. The message names file and row."""


def read_rules(files: list[Path]) -> dict[str, Any]:
    """Read and check rule files; plain data that `marshal` takes. Raises CatalogError."""
    import tomllib  # a catalogue that is kept is not read again

    raw: dict[str, tuple[str, Any]] = {}
    headers: dict[str, str] = {}
    missing: dict[str, tuple[str, str]] = {}
    header_library: dict[str, str] = {}
    namespaces: dict[str, str] = {}
    libraries = []
    digest = hashlib.sha256()
    for f in files:
        try:
            text = f.read_bytes()
        except OSError as e:
            raise CatalogError(f"{f.name}: could not be read ({e.strerror})") from e
        digest.update(text)
        try:
            data = tomllib.loads(text.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise CatalogError(f"{f.name}: not TOML: {e}") from e
        _check_file(f.name, f.stem, data)
        library = data["library"]
        libraries.append((library, data["title"], data["target"], tuple(data.get("names", ()))))
        for name, row in _file_rows(f.name, data):
            if name in raw:
                raise CatalogError(f"{f.name}: `{name}` already has a row, in {raw[name][0]}.toml")
            raw[name] = (library, row)
        for table, into in (("headers", headers), ("namespaces", namespaces)):
            for key, value in data.get(table, {}).items():
                if key in into or (table == "headers" and key in missing):
                    raise CatalogError(f"{f.name}: [{table}] `{key}` is in two files")
                if table == "headers" and isinstance(value, dict):
                    missing[key] = _missing_header(f.name, key, value)
                    continue
                if not isinstance(value, str):
                    raise CatalogError(f"{f.name}: [{table}] `{key}` must be text")
                into[key] = value
                if table == "headers":
                    header_library[key] = library
    return {
        "raw": raw,
        "headers": headers,
        "missing_headers": missing,
        "header_library": header_library,
        "namespaces": namespaces,
        "libraries": libraries,
        "digest": digest.hexdigest(),
    }


def _check_file(where: str, stem: str, data: dict[str, Any]) -> None:
    unknown = set(data) - _FILE_KEYS
    if unknown:
        raise CatalogError(f"{where}: unknown table or key {sorted(unknown)}")
    for table in ("headers", "namespaces", "rename"):
        if not isinstance(data.get(table, {}), dict):
            raise CatalogError(f"{where}: [{table}] must be a table")
    for rows in ("change", "unsupported"):
        if not isinstance(data.get(rows, []), list) or not all(isinstance(r, dict) for r in data.get(rows, [])):
            raise CatalogError(f"{where}: [[{rows}]] must be tables")
    if not _is_texts(data.get("names", [])):
        raise CatalogError(f"{where}: `names` must be a list of texts")
    for key in ("library", "title", "target"):
        if not isinstance(data.get(key), str):
            raise CatalogError(f"{where}: `{key}` is missing")
    if data["library"] != stem:
        raise CatalogError(f"{where}: library is `{data['library']}`, must be the file's stem")


def _missing_header(where: str, path: str, value: dict[str, Any]) -> tuple[str, str]:
    """(why, instead) of a header that HIP has no counterpart of."""
    if set(value) != {"why", "instead"} or not _is_texts(list(value.values())):
        raise CatalogError(
            f"{where}: [headers] `{path}`: a header without a counterpart has `why` and `instead`, as texts"
        )
    return value["why"], value["instead"]


def _file_rows(where: str, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, row) of a file: a row is its target's name, or a dict with `mapping`."""
    _sorted(where, "rename", list(data.get("rename", {})))
    for cuda, value in data.get("rename", {}).items():
        if isinstance(value, str):
            yield _name(where, cuda), _target(where, cuda, value)
            continue
        if not isinstance(value, dict):
            raise CatalogError(f"{where}: `{cuda}`: a row is its target or a table with `hip`")
        _keys(where, cuda, value, _RENAME_KEYS)
        _target(where, cuda, value.get("hip"))
        yield _name(where, cuda), {**_versions(where, cuda, value), "mapping": "rename"}
    _sorted(where, "change", [str(r.get("cuda", "")) for r in data.get("change", [])])
    for value in data.get("change", []):
        cuda = str(value.get("cuda", ""))
        _keys(where, cuda, value, _CHANGE_KEYS)
        if value.get("drop"):
            if "hip" in value:
                raise CatalogError(f"{where}: change of `{cuda}`: a word that is dropped has no target")
        else:
            _target(where, cuda, value.get("hip"))
        _check_change(where, cuda, value)
        args = [[int(k), v] for k, v in value.get("args", {}).items()]
        yield _name(where, cuda), {**_versions(where, cuda, value), "mapping": "change", "args": args}
    firsts = []
    for value in data.get("unsupported", []):
        names = value.get("cuda", [])
        names = [names] if isinstance(names, str) else names
        if not names or not _is_texts(names):
            raise CatalogError(f"{where}: an [[unsupported]] row names nothing: `cuda` is a name or a list of names")
        _sorted(where, f"unsupported row of {names[0]}", names)
        firsts.append(names[0])
        _keys(where, names[0], value, _UNSUPPORTED_KEYS)
        for key in ("why", "instead"):
            if not str(value.get(key, "")).strip():
                raise CatalogError(f"{where}: `{names[0]}` is unsupported without `{key}`")
        shared = {**_versions(where, names[0], value), "mapping": "unsupported", "cuda": ""}
        for cuda in names:
            yield _name(where, cuda), shared
    _sorted(where, "unsupported", firsts)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _check_kinds(where: str, cuda: str, value: dict[str, Any]) -> None:
    """Whether what a row or a form holds is of the kind that its key wants."""
    for key, part in value.items():
        match key:
            case "argc":
                right, wanted = isinstance(part, list) and all(type(n) is int for n in part), "a list of numbers"
            case "headers":
                right, wanted = _is_texts(part), "a list of texts"
            case "args" | "types" | "example" | "older":
                right, wanted = _is_table_of_texts(part), "a table of texts"
            case "values":
                right = isinstance(part, dict) and all(_is_table_of_texts(x) for x in part.values())
                wanted = "a table of tables of texts"
            case "forms":
                right, wanted = isinstance(part, list) and all(isinstance(x, dict) for x in part), "a list of tables"
                for form in part if right else ():
                    _check_kinds(where, cuda, form)
            case "unchecked" | "strict" | "bare" | "drop":
                right, wanted = isinstance(part, bool), "true or false"
            case _:
                right, wanted = isinstance(part, str), "text"
        if not right:
            raise CatalogError(f"{where}: `{cuda}`: {key} must be {wanted}")


def _is_table_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(x, str) for x in value.values())


def _check_change(where: str, cuda: str, value: dict[str, Any]) -> None:
    if not str(value.get("why", "")).strip():
        raise CatalogError(f"{where}: change of `{cuda}` without `why`")
    if value.get("trust") not in ("exact", "review"):
        raise CatalogError(f"{where}: change of `{cuda}`: `trust` must be exact or review")
    example = value.get("example", {})
    if set(example) != {"before", "after"}:
        raise CatalogError(f"{where}: change of `{cuda}` needs example = {{ before, after }}")
    for form in value.get("forms", ()):
        if not form.get("argc") or set(form) - _FORM_KEYS or ("args" in form and "call" in form):
            raise CatalogError(f"{where}: change of `{cuda}`: a form has argc, types?, hip?, args? or call?, example?")
        if "example" in form and set(form["example"]) != {"before", "after"}:
            raise CatalogError(f"{where}: change of `{cuda}`: a form's example = {{ before, after }}")
        if form.get("trust", "exact") not in ("exact", "review"):
            raise CatalogError(f"{where}: change of `{cuda}`: a form's `trust` must be exact or review")
        for key, wanted in form.get("types", {}).items():
            if not key.isdigit() or not _TYPE.match(str(wanted)):
                raise CatalogError(f"{where}: change of `{cuda}`: types = {{ INDEX = a struct's name, `*` or `!*` }}")
        _versions(where, cuda, form)
    if "args" in value and "call" in value:
        raise CatalogError(f"{where}: change of `{cuda}` has both `args` and `call`")
    for key in (*value.get("args", {}), *value.get("values", {})):
        if not re.fullmatch(r"-?\d+", key):
            raise CatalogError(f"{where}: change of `{cuda}`: argument index `{key}`")


def _keys(where: str, cuda: str, value: dict[str, Any], allowed: frozenset[str]) -> None:
    unknown = set(value) - allowed
    if unknown:
        raise CatalogError(f"{where}: `{cuda}`: unknown key {sorted(unknown)}")
    _check_kinds(where, cuda, {k: v for k, v in value.items() if k != "cuda" and k not in VERSION_KEYS})


def _name(where: str, cuda: str) -> str:
    if not _NAME.match(cuda):
        raise CatalogError(f"{where}: `{cuda}` is not a C++ name")
    return cuda


def _target(where: str, cuda: str, hip: object) -> str:
    if not isinstance(hip, str) or not hip.strip():
        raise CatalogError(f"{where}: `{cuda}` has no target; an [[unsupported]] row says so")
    return hip


def _versions(where: str, cuda: str, value: dict[str, Any]) -> dict[str, Any]:
    for key in VERSION_KEYS:
        if key in value and not (isinstance(value[key], str) and _VERSION.match(value[key])):
            raise CatalogError(f'{where}: `{cuda}`: {key} must be a version such as "6.2"')
    older = value.get("older")
    if older is not None and (set(older) != {"until", "hip"} or not _VERSION.match(older["until"])):
        raise CatalogError(f"{where}: `{cuda}`: older = {{ until, hip }}")
    return value


def _sorted(where: str, what: str, names: list[str]) -> None:
    for a, b in pairwise(names):
        if a == b:
            raise CatalogError(f"{where}: {what}: `{a}` stands twice")
        if a > b:
            raise CatalogError(f"{where}: {what}: `{b}` must stand before `{a}` (ASCII order)")
