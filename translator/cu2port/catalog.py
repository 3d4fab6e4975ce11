"""The catalogue: what every CUDA name becomes. Data lives in rules/*.toml; rules/README.md is the contract.

Reading all TOML takes longer than converting a file, so the checked rows are kept, marshalled, in the user's cache,
keyed on the content of the rule files. Rows are built when they are asked for.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from cu2port import __version__
from cu2port.data import cache_dir, data_path
from cu2port.model import Trust

Fate = Literal["rename", "change", "unsupported"]
_NAME = re.compile(r"~?[A-Za-z_]\w*(?:(?:::|\.)~?[A-Za-z_]\w*)*\Z")
_VERSION = re.compile(r"\d+(?:\.\d+){0,3}\Z")
_VERSION_KEYS = ("cuda_since", "cuda_deprecated", "cuda_removed", "hip_since", "hip_deprecated", "hip_removed")
_COMMON = frozenset({*_VERSION_KEYS, "older", "unchecked", "strict", "headers", "bare", "helper"})
_RENAME_KEYS = _COMMON | {"hip", "argc"}
_CHANGE_KEYS = _COMMON | {"cuda", "hip", "args", "call", "argc", "values", "forms", "trust", "why", "example", "drop"}
_FORM_KEYS = frozenset({"argc", "hip", "hip_since", "args", "call", "trust", "example"})
_UNSUPPORTED_KEYS = frozenset({*_VERSION_KEYS, "cuda", "why", "instead", "strict"})
_FILE_KEYS = frozenset(
    {"library", "title", "target", "names", "headers", "namespaces", "rename", "change", "unsupported"}
)


class CatalogError(Exception):
    """A rule file breaks a rule of rules/README.md. The message names file and row."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a call with so many arguments changes, where a function has several signatures. Fields as in Row.

    `before` and `after`: an example, "" if the form has none.
    """

    argc: tuple[int, ...]
    hip: str
    args: tuple[tuple[int, str], ...] = ()
    call: str = ""
    trust: Trust = Trust.EXACT
    hip_since: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One CUDA name and its fate.

    `hip` is empty exactly when `fate` is `unsupported`, or the word is dropped (`drop`). `bare`: a `struct` or `enum`
    before the name goes, since the HIP name is a typedef. `helper`: the header of ours that declares the target.
    `args`: argument index -> template; `call`: template of the whole call; `argc`: the row holds for these argument
    counts only (empty: any); `values`: argument index -> ((written, instead), ...); `forms`: other signatures, by
    argument count. Versions are text, "" = unknown.
    """

    cuda: str
    fate: Fate
    library: str
    hip: str = ""
    args: tuple[tuple[int, str], ...] = ()
    call: str = ""
    argc: tuple[int, ...] = ()
    values: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()
    forms: tuple[Form, ...] = ()
    trust: Trust = Trust.EXACT
    why: str = ""
    instead: str = ""
    before: str = ""
    after: str = ""
    headers: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    older_until: str = ""
    older_hip: str = ""
    unchecked: bool = False
    strict: bool = False
    bare: bool = False
    helper: str = ""
    drop: bool = False

    def version(self, key: str) -> str:
        """The version text of a key such as `hip_since`; "" when unknown."""
        return dict(self.versions).get(key, "")

    @property
    def plain(self) -> bool:
        """Whether the name alone changes: no argument, no behaviour."""
        return self.fate == "rename"


@dataclass(frozen=True, slots=True)
class Library:
    """One rule file's head."""

    name: str
    title: str
    target: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Catalog:
    """All rows. `headers`: include path -> HIP include path ("" = dropped); `namespaces`: CUDA -> HIP."""

    raw: Mapping[str, tuple[str, Any]]  # name -> (library, rename target or mapping with its `fate`)
    headers: Mapping[str, str]
    header_library: Mapping[str, str]
    namespaces: Mapping[str, str]
    libraries: tuple[Library, ...]
    digest: str
    _rows: dict[str, Row] = field(default_factory=dict, repr=False, compare=False)

    def get(self, name: str) -> Row | None:
        """The row of a CUDA name (`cudaFree`, `cub::DeviceReduce`, `cudaPointerAttributes.memoryType`)."""
        row = self._rows.get(name)
        if row is None and name in self.raw:
            row = self._rows[name] = _row(name, *self.raw[name])
        return row

    def __iter__(self) -> Iterator[Row]:
        for name in self.raw:
            row = self.get(name)
            if row is not None:
                yield row

    @cached_property
    def inert(self) -> frozenset[str]:
        """Names that stay as they are, whatever the ROCm version: nothing need look at them."""
        return frozenset(n for n, (_, data) in self.raw.items() if data == n)

    @cached_property
    def active(self) -> frozenset[str]:
        """Unqualified names that a conversion must look at."""
        return frozenset(n for n in self.raw if n not in self.inert and ":" not in n and "." not in n)

    @cached_property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """Member -> the rows `Struct.member` of it, where one of them renames it or says something of it."""
        out: dict[str, tuple[str, ...]] = {}
        telling: set[str] = set()
        for name in self.raw:
            member = name.partition(".")[2]
            row = self.get(name) if member else None
            if row is not None:
                out[member] = (*out.get(member, ()), name)
                if (row.hip.partition(".")[2] or row.hip) != member:
                    telling.add(member)
        return {member: rows for member, rows in out.items() if member in telling}

    @cached_property
    def spaces(self) -> Mapping[str, str]:
        """Words that may start a qualified CUDA name (`cub`, `thrust`) -> themselves."""
        names = (n.partition("::")[0] for n in (*(n for n in self.raw if "::" in n), *self.namespaces))
        return {n: n for n in names}

    def inside(self, namespace: str) -> frozenset[str]:
        """The namespaces right inside a namespace, as far as rows name them: `nvcuda` -> `wmma`."""
        prefix = namespace + "::"
        inner = (n[len(prefix) :].partition("::") for n in self.raw if n.startswith(prefix))
        return frozenset(head for head, more, _ in inner if more)

    @cached_property
    def hip_headers(self) -> Mapping[str, str]:
        """Library -> the HIP header that declares its names (the target of its first mapped header)."""
        out: dict[str, str] = {}
        for cuda, hip in self.headers.items():
            if hip:
                out.setdefault(self.header_library[cuda], hip)
        return out


def version_key(text: str) -> tuple[int, ...]:
    """`"6.2"` -> `(6, 2)`, so that versions compare as numbers."""
    return tuple(int(x) for x in text.split("."))


def target(row: Row, rocm: tuple[int, int]) -> tuple[str, str]:
    """(HIP name, "") for a ROCm version, or ("", why not)."""
    if row.fate == "unsupported":
        return "", row.why
    since, removed = row.version("hip_since"), row.version("hip_removed")
    if row.older_until and rocm < version_key(row.older_until)[:2]:
        return row.older_hip, ""
    asked = ".".join(map(str, rocm))
    if since and version_key(since)[:2] > rocm:
        return "", f"{row.hip} needs ROCm {since}, and {asked} is asked for."
    if removed and version_key(removed)[:2] <= rocm:
        return "", f"{row.hip} was removed in ROCm {removed}, and {asked} is asked for."
    return row.hip, ""


@lru_cache(maxsize=1)
def load_catalog() -> Catalog:
    """The catalogue that ships with cu2port. Raises CatalogError when a rule file is malformed."""
    folder = data_path("rules")
    files = sorted(folder.glob("*.toml"))
    stamp = hashlib.sha256(__version__.encode())
    for f in (*files, Path(__file__)):
        st = f.stat()
        stamp.update(f"{f.name} {st.st_size} {st.st_mtime_ns}\n".encode())
    cached = cache_dir() / f"catalog-{stamp.hexdigest()[:20]}.bin"
    try:
        parts = marshal.loads(cached.read_bytes())
        return _catalog(parts)
    except (OSError, ValueError, EOFError, TypeError, KeyError):
        pass  # not there, unreadable or corrupt: made anew
    parts = read_rules(files)
    _store(cached, marshal.dumps(parts))
    return _catalog(parts)


def _store(path: Path, data: bytes) -> None:
    """Write a cache file whole or not at all; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
            f.write(data)
        Path(f.name).replace(path)
    except OSError:
        return


def _catalog(parts: dict[str, Any]) -> Catalog:
    return Catalog(
        raw=parts["raw"],
        headers=parts["headers"],
        header_library=parts["header_library"],
        namespaces=parts["namespaces"],
        libraries=tuple(Library(n, t, g, tuple(names)) for n, t, g, names in parts["libraries"]),
        digest=parts["digest"],
    )


def read_rules(files: list[Path]) -> dict[str, Any]:
    """Read and check rule files; plain data that `marshal` takes. Raises CatalogError."""
    raw: dict[str, tuple[str, Any]] = {}
    headers: dict[str, str] = {}
    header_library: dict[str, str] = {}
    namespaces: dict[str, str] = {}
    libraries = []
    digest = hashlib.sha256()
    for f in files:
        text = f.read_bytes()
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
                if key in into:
                    raise CatalogError(f"{f.name}: [{table}] `{key}` stands in two files")
                if not isinstance(value, str):
                    raise CatalogError(f"{f.name}: [{table}] `{key}` must be text")
                into[key] = value
                if table == "headers":
                    header_library[key] = library
    return {
        "raw": raw,
        "headers": headers,
        "header_library": header_library,
        "namespaces": namespaces,
        "libraries": libraries,
        "digest": digest.hexdigest(),
    }


def _check_file(where: str, stem: str, data: dict[str, Any]) -> None:
    unknown = set(data) - _FILE_KEYS
    if unknown:
        raise CatalogError(f"{where}: unknown table or key {sorted(unknown)}")
    for key in ("library", "title", "target"):
        if not isinstance(data.get(key), str):
            raise CatalogError(f"{where}: `{key}` is missing")
    if data["library"] != stem:
        raise CatalogError(f"{where}: library is `{data['library']}`, must be the file's stem")


def _file_rows(where: str, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, row) of a file: a row is its target's name, or a dict with `fate`."""
    _sorted(where, "rename", list(data.get("rename", {})))
    for cuda, value in data.get("rename", {}).items():
        if isinstance(value, str):
            yield _name(where, cuda), _target(where, cuda, value)
            continue
        _keys(where, cuda, value, _RENAME_KEYS)
        _target(where, cuda, value.get("hip"))
        yield _name(where, cuda), {**_versions(where, cuda, value), "fate": "rename"}
    _sorted(where, "change", [r.get("cuda", "") for r in data.get("change", [])])
    for value in data.get("change", []):
        cuda = value.get("cuda", "")
        _keys(where, cuda, value, _CHANGE_KEYS)
        if value.get("drop"):
            if "hip" in value:
                raise CatalogError(f"{where}: change of `{cuda}`: a word that is dropped has no target")
        else:
            _target(where, cuda, value.get("hip"))
        _check_change(where, cuda, value)
        args = [[int(k), v] for k, v in value.get("args", {}).items()]
        yield _name(where, cuda), {**_versions(where, cuda, value), "fate": "change", "args": args}
    firsts = []
    for value in data.get("unsupported", []):
        names = value.get("cuda", [])
        names = [names] if isinstance(names, str) else names
        if not names:
            raise CatalogError(f"{where}: an [[unsupported]] row names nothing")
        _sorted(where, f"unsupported row of {names[0]}", names)
        firsts.append(names[0])
        _keys(where, names[0], value, _UNSUPPORTED_KEYS)
        for key in ("why", "instead"):
            if not str(value.get(key, "")).strip():
                raise CatalogError(f"{where}: `{names[0]}` is unsupported without `{key}`")
        shared = {**_versions(where, names[0], value), "fate": "unsupported", "cuda": ""}
        for cuda in names:
            yield _name(where, cuda), shared
    _sorted(where, "unsupported", firsts)


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
            raise CatalogError(f"{where}: change of `{cuda}`: a form is {{ argc, hip?, args? or call?, example? }}")
        if "example" in form and set(form["example"]) != {"before", "after"}:
            raise CatalogError(f"{where}: change of `{cuda}`: a form's example = {{ before, after }}")
        if form.get("trust", "exact") not in ("exact", "review"):
            raise CatalogError(f"{where}: change of `{cuda}`: a form's `trust` must be exact or review")
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


def _name(where: str, cuda: str) -> str:
    if not _NAME.match(cuda):
        raise CatalogError(f"{where}: `{cuda}` is not a C++ name")
    return cuda


def _target(where: str, cuda: str, hip: object) -> str:
    if not isinstance(hip, str) or not hip.strip():
        raise CatalogError(f"{where}: `{cuda}` has no target; an [[unsupported]] row says so")
    return hip


def _versions(where: str, cuda: str, value: dict[str, Any]) -> dict[str, Any]:
    for key in _VERSION_KEYS:
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


def _trust(text: str) -> Trust:
    return Trust.REVIEW if text == "review" else Trust.EXACT


def _row(name: str, library: str, data: Any) -> Row:
    if isinstance(data, str):
        return Row(name, "rename", library, data)
    example = data.get("example", {})
    older = data.get("older", {})
    return Row(
        cuda=name,
        fate=data["fate"],
        library=library,
        hip=data.get("hip", ""),
        args=tuple((k, v) for k, v in data.get("args", ())),
        call=data.get("call", ""),
        argc=tuple(data.get("argc", ())),
        values=tuple((int(k), tuple(v.items())) for k, v in data.get("values", {}).items()),
        forms=tuple(
            Form(
                tuple(f["argc"]),
                f.get("hip", data.get("hip", "")),
                tuple((int(k), v) for k, v in f.get("args", {}).items()),
                f.get("call", ""),
                _trust(f.get("trust", data.get("trust", ""))),
                f.get("hip_since", ""),
                f.get("example", {}).get("before", ""),
                f.get("example", {}).get("after", ""),
            )
            for f in data.get("forms", ())
        ),
        trust=_trust(data.get("trust", "")),
        why=data.get("why", ""),
        instead=data.get("instead", ""),
        before=example.get("before", ""),
        after=example.get("after", ""),
        headers=tuple(data.get("headers", ())),
        versions=tuple((k, data[k]) for k in _VERSION_KEYS if k in data),
        older_until=older.get("until", ""),
        older_hip=older.get("hip", ""),
        unchecked=bool(data.get("unchecked", False)),
        strict=bool(data.get("strict", False)),
        bare=bool(data.get("bare", False)),
        helper=data.get("helper", ""),
        drop=bool(data.get("drop", False)),
    )
