"""Reading rules/*.toml and refusing what breaks a rule of rules/README.md."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from cu2port.core.late import dataclass, regex

_NAME = regex(r"~?[A-Za-z_]\w*(?:(?:::|\.)~?[A-Za-z_]\w*)*\Z")
_MACRO = regex(r"[A-Za-z_]\w*\Z")
_TYPE = regex(r"!?\*\Z|const\*\*?\Z|\*const\*\Z|char\*\*\Z|(?:surely )?[A-Za-z_]\w*\Z")
_VERSION = regex(r"\d+(?:\.\d+){0,3}\Z")
VERSION_KEYS = ("cuda_since", "cuda_deprecated", "cuda_removed", "hip_since", "hip_deprecated", "hip_removed")
_COMMON = frozenset(
    {
        *VERSION_KEYS,
        "older",
        "unchecked",
        "strict",
        "headers",
        "bare",
        "tag",
        "c_call",
        "pointer",
        "helper",
        "no_images",
        "template",
    }
)
_RENAME_KEYS = _COMMON | {"hip", "argc"}
_CHANGE_KEYS = _COMMON | {"cuda", "hip", "args", "call", "argc", "values", "forms", "trust", "why", "example", "drop"}
_UNSUPPORTED_KEYS = frozenset({*VERSION_KEYS, "cuda", "why", "instead", "strict", "headers"})
_FILE_KEYS = frozenset(
    {"library", "title", "target", "names", "headers", "namespaces", "rename", "change", "unsupported"}
)
_OWN_KEYS = frozenset({"macros", "exclude"})
_FORM_KEYS = frozenset({"argc", "types", "hip", "hip_since", "args", "call", "trust", "example"})


class CatalogError(Exception):
    """A rule file breaks a rule of rules/README.md. The message names file, line and row."""


@dataclass(frozen=True, slots=True)
class Source:
    """A rule file. `name`: as messages show it; `own`: it is one of a project's, and not one of cu2port's."""

    name: str
    text: str
    own: bool = False

    @classmethod
    def of(cls, path: Path) -> Source:
        """One of cu2port's own files. Raises CatalogError."""
        try:
            return cls(path.name, path.read_text(encoding="utf-8"))
        except OSError as e:
            raise CatalogError(f"{path.name}: could not be read ({e.strerror})") from e
        except UnicodeDecodeError as e:
            raise CatalogError(f"{path.name}: not TOML: {e}") from e

    def error(self, what: str, row: str = "") -> CatalogError:
        """An error in the file. `row`: the name whose row is wrong; the line is the one where it is written."""
        line = self._line(row) if row else 0
        return CatalogError(f"{self.name}:{line}: {what}" if line else f"{self.name}: {what}")

    def _line(self, row: str) -> int:
        """The line of a row's name, counted from 1, 0 if it is not found. TOML's reader does not keep lines."""
        name = re.escape(row)
        found = re.search(
            rf"""^[ \t]*(?:"{name}"|'{name}'|{name})[ \t]*="""  # a row of a table
            rf"""|^[ \t]*cuda[ \t]*=[^\n]*["']{name}["']"""  # a row's own table
            rf"""|^[ \t]*["']{name}["'],?""",  # in a list of names over several lines
            self.text,
            re.M,
        )
        return self.text.count("\n", 0, found.start()) + 1 + found[0].count("\n") if found else 0


def read_rules(sources: Sequence[Source]) -> dict[str, Any]:
    """Read and check rule files; plain data that `marshal` takes. Raises CatalogError."""
    import tomllib  # a catalogue that is kept is not read again

    raw: dict[str, tuple[str, Any]] = {}
    headers: dict[str, str] = {}
    missing: dict[str, tuple[str, str]] = {}
    header_library: dict[str, str] = {}
    namespaces: dict[str, str] = {}
    macros: dict[str, str] = {}
    exclude: list[str] = []
    libraries = []
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.text.encode())
        try:
            data = tomllib.loads(source.text)
        except (ValueError, RecursionError) as e:  # also a number of more digits than Python reads
            raise source.error(f"not TOML: {' '.join(str(e).split())}") from e
        if source.own:
            data = {"library": "project", "title": "the project's rules", "target": "HIP", **data}
        _check_file(source, data)
        library = data["library"]
        libraries.append((library, data["title"], data["target"], tuple(data.get("names", ()))))
        for name, row in _file_rows(source, data):
            if name in raw:
                raise source.error(f"`{name}` already has a row, in {raw[name][0]}.toml", name)
            raw[name] = (library, row)
        for table, into in (("headers", headers), ("namespaces", namespaces), ("macros", macros)):
            for key, value in data.get(table, {}).items():
                if key in into or (table == "headers" and key in missing):
                    raise source.error(f"[{table}] `{key}` is in two files", key)
                if table == "headers" and isinstance(value, dict):
                    missing[key] = _missing_header(source, key, value)
                    continue
                if not isinstance(value, str):
                    raise source.error(f"[{table}] `{key}` must be text", key)
                into[key] = value
                if table == "headers":
                    header_library[key] = library
        exclude += data.get("exclude", ())
    return {
        "raw": raw,
        "headers": headers,
        "missing_headers": missing,
        "header_library": header_library,
        "namespaces": namespaces,
        "libraries": libraries,
        "digest": digest.hexdigest(),
        "macros": macros,
        "exclude": exclude,
    }


def with_own(shipped: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """cu2port's rules with those of a project, which win. Both as `read_rules` gives them."""
    headers = {k: v for k, v in shipped["headers"].items() if k not in own["missing_headers"]}
    missing = {k: v for k, v in shipped["missing_headers"].items() if k not in own["headers"]}
    joined = {k: {**shipped[k], **own[k]} for k in ("raw", "header_library", "namespaces")}
    return {
        **joined,
        "headers": {**own["headers"], **{k: v for k, v in headers.items() if k not in own["headers"]}},
        "missing_headers": {**missing, **own["missing_headers"]},
        "libraries": [*shipped["libraries"], *own["libraries"]],
        "digest": hashlib.sha256((shipped["digest"] + own["digest"]).encode()).hexdigest(),
    }


def _check_file(where: Source, data: dict[str, Any]) -> None:
    unknown = set(data) - (_FILE_KEYS | _OWN_KEYS if where.own else _FILE_KEYS)
    if unknown:
        raise where.error(f"unknown table or key {sorted(unknown)}")
    for table in ("headers", "namespaces", "rename", "macros"):
        if not isinstance(data.get(table, {}), dict):
            raise where.error(f"[{table}] must be a table")
    for rows in ("change", "unsupported"):
        if not isinstance(data.get(rows, []), list) or not all(isinstance(r, dict) for r in data.get(rows, [])):
            raise where.error(f"[[{rows}]] must be tables")
    if not _is_texts(data.get("names", [])):
        raise where.error("`names` must be a list of texts")
    for key in ("library", "title", "target"):
        if not isinstance(data.get(key), str):
            raise where.error(f"`{key}` is missing")
    if not where.own and data["library"] != where.name.removesuffix(".toml"):
        raise where.error(f"library is `{data['library']}`, must be the file's stem")
    if not _is_texts(data.get("exclude", [])):
        raise where.error("`exclude` must be a list of globs")
    for name in data.get("macros", {}):
        if not _MACRO.match(name):
            raise where.error(f"[macros] `{name}` is not a macro's name", name)


def _missing_header(where: Source, path: str, value: dict[str, Any]) -> tuple[str, str]:
    """(why, instead) of a header that HIP has no counterpart of."""
    if set(value) != {"why", "instead"} or not _is_texts(list(value.values())):
        raise where.error(f"[headers] `{path}`: a header without a counterpart has `why` and `instead`, as texts", path)
    return value["why"], value["instead"]


def _file_rows(where: Source, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, row) of a file: a row is its target's name, or a dict with `mapping`."""
    _sorted(where, "rename", list(data.get("rename", {})))
    for cuda, value in data.get("rename", {}).items():
        if isinstance(value, str):
            yield _name(where, cuda), _target(where, cuda, value)
            continue
        if not isinstance(value, dict):
            raise where.error(f"`{cuda}`: a row is its target or a table with `hip`", cuda)
        _keys(where, cuda, value, _RENAME_KEYS)
        _target(where, cuda, value.get("hip"))
        yield _name(where, cuda), {**_versions(where, cuda, value), "mapping": "rename"}
    _sorted(where, "change", [str(r.get("cuda", "")) for r in data.get("change", [])])
    for value in data.get("change", []):
        cuda = str(value.get("cuda", ""))
        _keys(where, cuda, value, _CHANGE_KEYS)
        if value.get("drop"):
            if "hip" in value:
                raise where.error(f"change of `{cuda}`: a word that is dropped has no target", cuda)
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
            raise where.error("an [[unsupported]] row names nothing: `cuda` is a name or a list of names")
        _sorted(where, f"unsupported row of {names[0]}", names)
        firsts.append(names[0])
        _keys(where, names[0], value, _UNSUPPORTED_KEYS)
        for key in ("why", "instead"):
            if not str(value.get(key, "")).strip():
                raise where.error(f"`{names[0]}` is unsupported without `{key}`", names[0])
        shared = {**_versions(where, names[0], value), "mapping": "unsupported", "cuda": ""}
        for cuda in names:
            yield _name(where, cuda), shared
    _sorted(where, "unsupported", firsts)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _check_kinds(where: Source, cuda: str, value: dict[str, Any]) -> None:
    """Whether what a row or a form holds is of the kind that its key needs."""
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
            case "unchecked" | "strict" | "bare" | "drop" | "template":
                right, wanted = isinstance(part, bool), "true or false"
            case _:
                right, wanted = isinstance(part, str), "text"
        if not right:
            raise where.error(f"`{cuda}`: {key} must be {wanted}", cuda)


def _is_table_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(x, str) for x in value.values())


def _check_change(where: Source, cuda: str, value: dict[str, Any]) -> None:
    if not str(value.get("why", "")).strip():
        raise where.error(f"change of `{cuda}` without `why`", cuda)
    if value.get("trust") not in ("exact", "review"):
        raise where.error(f"change of `{cuda}`: `trust` must be exact or review", cuda)
    example = value.get("example", {})
    if set(example) != {"before", "after"} and (example or not where.own):  # ours are tested by their examples
        raise where.error(f"change of `{cuda}` needs example = {{ before, after }}", cuda)
    for form in value.get("forms", ()):
        if not form.get("argc") or set(form) - _FORM_KEYS or ("args" in form and "call" in form):
            raise where.error(f"change of `{cuda}`: a form has argc, types?, hip?, args? or call?, example?", cuda)
        if "example" in form and set(form["example"]) != {"before", "after"}:
            raise where.error(f"change of `{cuda}`: a form's example = {{ before, after }}", cuda)
        if form.get("trust", "exact") not in ("exact", "review"):
            raise where.error(f"change of `{cuda}`: a form's `trust` must be exact or review", cuda)
        for key, wanted in form.get("types", {}).items():
            if not re.fullmatch(r"-?\d+", key) or not _TYPE.match(str(wanted)):
                known = "a struct, *, !*, const*, const**, *const*, char**, dependent or surely TYPE"
                raise where.error(f"change of `{cuda}`: types = {{ INDEX = {known} }}", cuda)
        _versions(where, cuda, form)
    if "args" in value and "call" in value:
        raise where.error(f"change of `{cuda}` has both `args` and `call`", cuda)
    for key in (*value.get("args", {}), *value.get("values", {})):
        if not re.fullmatch(r"-?\d+", key):
            raise where.error(f"change of `{cuda}`: argument index `{key}`", cuda)


def _keys(where: Source, cuda: str, value: dict[str, Any], allowed: frozenset[str]) -> None:
    unknown = set(value) - allowed
    if unknown:
        raise where.error(f"`{cuda}`: unknown key {sorted(unknown)}", cuda)
    _check_kinds(where, cuda, {k: v for k, v in value.items() if k != "cuda" and k not in VERSION_KEYS})


def _name(where: Source, cuda: str) -> str:
    if not _NAME.match(cuda):
        raise where.error(f"`{cuda}` is not a C++ name", cuda)
    return cuda


def _target(where: Source, cuda: str, hip: object) -> str:
    if not isinstance(hip, str) or not hip.strip():
        raise where.error(f"`{cuda}` has no target; an [[unsupported]] row says so", cuda)
    return hip


def _versions(where: Source, cuda: str, value: dict[str, Any]) -> dict[str, Any]:
    for key in VERSION_KEYS:
        if key in value and not (isinstance(value[key], str) and _VERSION.match(value[key])):
            raise where.error(f'`{cuda}`: {key} must be a version such as "6.2"', cuda)
    older = value.get("older")
    if older is not None and (set(older) != {"until", "hip"} or not _VERSION.match(older["until"])):
        raise where.error(f"`{cuda}`: older = {{ until, hip }}", cuda)
    return value


def _sorted(where: Source, what: str, names: list[str]) -> None:
    for a, b in pairwise(sorted(names) if where.own else names):  # a project may write them in any order
        if a == b:
            raise where.error(f"{what}: `{a}` is there twice", a)
        if a > b:
            raise where.error(f"{what}: `{b}` must be before `{a}` (ASCII order)", b)
