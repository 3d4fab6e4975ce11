"""The catalogue: what every CUDA name becomes. Data lives in rules/*.toml; rules/README.md is the contract.

Reading all TOML takes longer than converting a file, so the checked rows are kept, marshalled, in the user's cache,
keyed on the content of the rule files. A library's rows are unpacked when one of them is asked for, and a row is built
when it is.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from cu2port.catalog import rulefile
from cu2port.catalog.rulefile import VERSION_KEYS, Source, read_rules, with_own
from cu2port.core.data import computed_from, data_path
from cu2port.core.late import dataclass
from cu2port.core.model import Trust

MappingKind = Literal["rename", "change", "unsupported"]
_KEPT = ("headers", "missing_headers", "header_library", "namespaces", "digest")


@dataclass(frozen=True, slots=True)
class Form:
    """How a call with so many arguments changes, where a function has several signatures. Fields as in Row.

    `types`: argument index -> the type it must have, as `argtypes.is_of_type` takes it, where the number of arguments
    does not tell two signatures apart. `before` and `after`: an example, "" if the form has none.
    """

    argc: tuple[int, ...]
    hip: str
    args: tuple[tuple[int, str], ...] = ()
    call: str = ""
    trust: Trust = Trust.EXACT
    hip_since: str = ""
    before: str = ""
    after: str = ""
    types: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One CUDA name and its mapping.

    `hip` is empty exactly when `mapping` is `unsupported`, or when the word is removed (`drop`). `bare`: a `struct`
    or `enum` before the name is removed, since the HIP name is a typedef; `tag`: what is written behind it instead.
    `template`: the name counts only where `<` follows.
    `c_call`: `call` in C sources; `pointer`: the target where the name is not called. `helper`: the cu2port header that
    declares the target. `args`: argument index -> template; `call`: template of the whole call; `argc`: the argument
    counts that the row applies to (empty: any);
    `values`: argument index -> ((CUDA, HIP), ...); `forms`: other signatures, by argument count. `no_images`: the
    target for GPUs without texture units, of `texture.hpp`. Versions are text, "" = unknown.
    """

    cuda: str
    mapping: MappingKind
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
    no_images: str = ""
    unchecked: bool = False
    strict: bool = False
    bare: bool = False
    template: bool = False
    tag: str = ""
    c_call: str = ""
    pointer: str = ""
    helper: str = ""
    drop: bool = False

    @property
    def of_any_type(self) -> bool:
        """Whether a form says what the name is where the type of an argument is not known."""
        return any(wanted == "dependent" for form in self.forms for _, wanted in form.types)

    def version(self, key: str) -> str:
        """The version text of a key such as `hip_since`; "" when unknown."""
        return dict(self.versions).get(key, "")

    @property
    def plain(self) -> bool:
        """Whether the name alone changes: no argument, no behaviour."""
        return self.mapping == "rename"


@dataclass(frozen=True, slots=True)
class Library:
    """One rule file's head."""

    name: str
    title: str
    target: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Catalog:
    """All rows. `headers`: include path -> HIP include path ("" = dropped); `namespaces`: CUDA -> HIP.

    `missing_headers`: include path, or `folder/*`, of a library that HIP has no counterpart of -> (why, instead).
    """

    names: Mapping[str, str]  # every name and its library
    packed: Mapping[str, bytes]  # library -> its rows, marshalled: name -> rename target, or a dict with `mapping`
    headers: Mapping[str, str]
    missing_headers: Mapping[str, tuple[str, str]]
    header_library: Mapping[str, str]
    namespaces: Mapping[str, str]
    libraries: tuple[Library, ...]
    digest: str
    active: frozenset[str] = frozenset()  # unqualified names that do not stay as they are in every ROCm version
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # see `_members`
    owners: frozenset[str] = frozenset()  # the types of these
    own: frozenset[str] = frozenset()  # names and headers with a row of the project's
    spaces: Mapping[str, str] = field(default_factory=dict)  # words that may start a qualified name -> themselves
    _unpacked: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)
    _rows: dict[str, Row] = field(default_factory=dict, repr=False, compare=False)

    def get(self, name: str) -> Row | None:
        """The row of a CUDA name (`cudaFree`, `cub::DeviceReduce`, `cudaPointerAttributes.memoryType`)."""
        row = self._rows.get(name)
        if row is None and name in self.names:
            library = self.names[name]
            if library not in self._unpacked:
                self._unpacked[library] = marshal.loads(self.packed[library])
            row = self._rows[name] = _row(name, library, self._unpacked[library][name])
        return row

    @cached_property
    def depth(self) -> int:
        """The most parts that a qualified name has (`a::b::c`: 3)."""
        return 1 + max(name.count("::") for name in (*self.names, *self.namespaces))

    @cached_property
    def header_words(self) -> frozenset[str]:
        """What the paths of headers begin with, up to a `.` or `/`."""
        return frozenset(re.split(r"[^\w$]", path, maxsplit=1)[0] for path in (*self.headers, *self.missing_headers))

    @cached_property
    def missing_in_cuda(self) -> tuple[str, ...]:
        """The `missing_headers` in folders `cuda*`, as paths begin (`cuda/api/`). They are of libraries, other than
        libcu++, that have their names in a namespace `cuda`."""
        found = (path for path in self.missing_headers if path.startswith("cuda") and "/" in path)
        return tuple(path.removesuffix("*") for path in found)

    def __iter__(self) -> Iterator[Row]:
        for name in self.names:
            row = self.get(name)
            if row is not None:
                yield row

    def inside(self, namespace: str) -> frozenset[str]:
        """The namespaces right inside a namespace, as far as rows name them: `nvcuda` -> `wmma`."""
        prefix = namespace + "::"
        inner = (n[len(prefix) :].partition("::") for n in self.names if n.startswith(prefix))
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


def is_libcudacxx(path: str) -> bool:
    """Whether the path of an include is one of libcu++, whose headers but the experimental ones have no extension."""
    return path.startswith("cuda/experimental/") or (path.startswith("cuda/") and "." not in path)


def target(row: Row, rocm: tuple[int, int]) -> tuple[str, str]:
    """(HIP name, "") for a ROCm version, or ("", why not)."""
    if row.mapping == "unsupported":
        return "", row.why
    since, removed = row.version("hip_since"), row.version("hip_removed")
    asked = ".".join(map(str, rocm))
    older = bool(row.older_until) and rocm < version_key(row.older_until)[:2]
    name = row.older_hip if older else row.hip
    # a first version that is not below `until` is that of the newer name
    if since and rocm < version_key(since)[:2] and not (older and version_key(since) >= version_key(row.older_until)):
        return "", f"{name} needs ROCm {since}, and {asked} is asked for."
    if older:
        return name, ""
    if removed and version_key(removed)[:2] <= rocm:
        return "", f"{row.hip} was removed in ROCm {removed}, and {asked} is asked for."
    return row.hip, ""


#: GPUs without texture units: HIP refuses arrays, textures and surfaces there.
_NO_IMAGES = frozenset({"gfx940", "gfx941", "gfx942", "gfx950"})
TEXTURES = "texture.hpp"


def lack_images(archs: Iterable[str]) -> bool:
    """Whether one of the GPUs (`gfx942`, also with features as in `gfx942:xnack+`) has no texture units."""
    return not _NO_IMAGES.isdisjoint(a.partition(":")[0] for a in archs)


def without_images(row: Row) -> Row:
    """The row for GPUs without texture units: the functions of `texture.hpp` take what HIP's take."""

    def ours(text: str) -> str:
        return re.sub(rf"(?<![\w:]){row.hip}\b", row.no_images, text)

    forms = tuple(replace(f, hip=ours(f.hip), call=ours(f.call)) for f in row.forms)
    return replace(row, hip=row.no_images, call=ours(row.call), forms=forms, helper=TEXTURES)


@lru_cache(maxsize=4)
def load_catalog(own: tuple[tuple[str, str], ...] = (), warp: str = "logical") -> Catalog:
    """The catalogue that ships with cu2port, with the rows of a project's rule files, which win.

    `own`: (name for messages, text) of each file. `warp`: how warps are ported; where they are wavefronts, rows of
    `rules/native` win over others. Raises CatalogError when a rule file is malformed.
    """
    native = _native() if warp in ("native", "flag") else ()
    if not own and not native:
        return _shipped()
    base = _shipped()
    raw = {n: (library, row) for library, rows in base.packed.items() for n, row in marshal.loads(rows).items()}
    libraries = [(x.name, x.title, x.target, x.names) for x in base.libraries]
    shipped = {"raw": raw, **{k: getattr(base, k) for k in _KEPT}, "libraries": libraries}
    if native:
        shipped = with_own(shipped, {**read_rules(list(native)), "libraries": []})
    if not own:
        return _catalog(_packed(shipped))
    more = read_rules([Source(name, text, own=True) for name, text in own])
    return replace(_catalog(_packed(with_own(shipped, more))), own=frozenset((*more["raw"], *more["headers"])))


@lru_cache(maxsize=1)
def _native() -> tuple[Source, ...]:
    return tuple(Source.of(f) for f in sorted((data_path("rules") / "native").glob("*.toml")))


@lru_cache(maxsize=1)
def own_settings(own: tuple[tuple[str, str], ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a project's rule files say beside rows: macros as after `-D`, and globs of files that stay as they are."""
    found = read_rules([Source(name, text, own=True) for name, text in own])
    return tuple(f"{name}={value}" for name, value in found["macros"].items()), tuple(found["exclude"])


@lru_cache(maxsize=1)
def _shipped() -> Catalog:
    folder = data_path("rules")
    files = sorted(folder.glob("*.toml"))
    sources = [*files, Path(__file__), Path(rulefile.__file__)]
    return _catalog(computed_from("catalog", sources, lambda: _packed(read_rules([Source.of(f) for f in files]))))


def _packed(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Checked rules as they are kept: what every file needs is worked out, the rest is packed by library."""
    raw: dict[str, tuple[str, Any]] = parts["raw"]
    by_library: dict[str, dict[str, Any]] = {}
    for name, (library, data) in raw.items():
        by_library.setdefault(library, {})[name] = data
    namespaces: Mapping[str, str] = parts["namespaces"]
    members = _members(raw)
    heads = (n.partition("::")[0] for n in (*(n for n in raw if "::" in n), *namespaces))
    kept = {k: parts[k] for k in (*_KEPT, "libraries")}
    return kept | {
        "names": {name: library for name, (library, _) in raw.items()},
        "packed": {library: marshal.dumps(rows) for library, rows in by_library.items()},
        "active": frozenset(n for n, (_, data) in raw.items() if data != n and ":" not in n and "." not in n),
        "members": members,
        "owners": frozenset(name.partition(".")[0] for rows in members.values() for name in rows),
        "spaces": {n: n for n in heads},
    }


def _members(raw: Mapping[str, tuple[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Member -> the rows `Struct.member` of it, where one of them renames it or says something of it."""
    out: dict[str, tuple[str, ...]] = {}
    telling: set[str] = set()
    for name, (library, data) in raw.items():
        member = name.partition(".")[2]
        if member:
            row = _row(name, library, data)
            out[member] = (*out.get(member, ()), name)
            if (row.hip.partition(".")[2] or row.hip) != member:
                telling.add(member)
    return {member: rows for member, rows in out.items() if member in telling}


def _catalog(parts: Mapping[str, Any]) -> Catalog:
    libraries = tuple(Library(n, t, g, tuple(names)) for n, t, g, names in parts["libraries"])
    return Catalog(**{**parts, "libraries": libraries})


def _trust(text: str) -> Trust:
    return Trust.REVIEW if text == "review" else Trust.EXACT


def _row(name: str, library: str, data: Any) -> Row:
    if isinstance(data, str):
        return Row(name, "rename", library, data)
    example = data.get("example", {})
    older = data.get("older", {})
    return Row(
        cuda=name,
        mapping=data["mapping"],
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
                tuple((int(k), v) for k, v in f.get("types", {}).items()),
            )
            for f in data.get("forms", ())
        ),
        trust=_trust(data.get("trust", "")),
        why=data.get("why", ""),
        instead=data.get("instead", ""),
        before=example.get("before", ""),
        after=example.get("after", ""),
        headers=tuple(data.get("headers", ())),
        versions=tuple((k, data[k]) for k in VERSION_KEYS if k in data),
        older_until=older.get("until", ""),
        older_hip=older.get("hip", ""),
        no_images=data.get("no_images", ""),
        unchecked=bool(data.get("unchecked", False)),
        strict=bool(data.get("strict", False)),
        bare=bool(data.get("bare", False)),
        template=bool(data.get("template", False)),
        tag=data.get("tag", ""),
        c_call=data.get("c_call", ""),
        pointer=data.get("pointer", ""),
        helper=data.get("helper", ""),
        drop=bool(data.get("drop", False)),
    )
