"""Build files of a tree: what its files say of each other, and which of its files they name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cu2port.build.convert import Facts, facts
from cu2port.build.kinds import MOST_BYTES, kind_of
from cu2port.build.variables import OLD_STANDARD
from cu2port.build.words import Asked
from cu2port.core.files import CXX_SUFFIXES, read_regular, suffix
from cu2port.core.late import regex
from cu2port.core.model import Options
from cu2port.project.tree import Item, Root

_MODULE = regex(r"(?:^|/)Find(\w+)\.cmake$")
_FILE_NAME = regex(r"[\w.+-]+")


Read = Mapping[int, tuple[Item, Facts]]
_Anchors = Mapping[tuple[Path, str], int]


def read(items: Sequence[Item]) -> Iterator[tuple[int, tuple[Item, Facts]]]:
    """The build files among items, by index, with their facts. They are read for the first time here."""
    return ((i, (item, _facts(item))) for i, item in enumerate(items) if item.kind == "build")


def as_cuda(found: Read, items: Sequence[Item]) -> frozenset[str]:
    """Sources with names for the host's compiler that a build has nvcc compile as CUDA."""
    with_cuda = {item.root for item, f in found.values() if f.language or f.enables}
    marked = []
    for item, f in found.values():
        folder, _, name = item.relative.rpartition("/")
        if f.as_cuda and (item.root in with_cuda or kind_of(name) in ("bare", "make", "script")):
            marked.append((item.root, folder, f.as_cuda))
    out = set()
    for item in items if marked else ():
        if suffix(item.relative) not in CXX_SUFFIXES:
            continue
        if any(
            root is item.root and _holds(folder, item.relative) and _matches(item.relative, folder, patterns)
            for root, folder, patterns in marked
        ):
            out.add(item.name)
    return frozenset(out)


def _is_torchs(item: Item) -> bool:
    """Whether a build file is one of Python's, in which torch has compilers of its own."""
    return kind_of(item.relative.rpartition("/")[2]) in ("setup", "python")


def _is_make(item: Item) -> bool:
    """Whether a build file is a Makefile, or a part of one."""
    return kind_of(item.relative.rpartition("/")[2]) in ("make", "bare")


def _looks_for_hosts(item: Item, with_cuda: Collection[Root]) -> bool:
    """Whether a build file may name sources for the host's compiler that this cannot compile."""
    return item.root in with_cuda or _is_torchs(item) or _is_make(item)


def _matches(path: str, folder: str, patterns: Iterable[str]) -> bool:
    """Whether one of some patterns names a file below a folder; `*x.cpp` names those right in it."""
    inner = path[len(folder) :].lstrip("/")
    return any(
        fnmatchcase(inner, p) if "/" not in p else fnmatchcase(f"/{inner}", p if p[0] == "*" else f"/{p}")
        for p in patterns
        if "/" in p or "/" not in inner
    )


def asked(
    found: Read, items: Sequence[Item], options: Options, own_hip: bool, device_hosts: Collection[str] = ()
) -> Mapping[int, tuple[Item, Asked]]:
    """What is asked for of each build file, by index. `own_hip`: the tree was found to build for HIP itself.
    `device_hosts`: sources of the host that only the compiler of HIP takes."""
    moved: dict[Path, set[str]] = {}
    for item in items:
        if item.kind == "source" and not item.target.endswith(item.relative):
            moved.setdefault(item.root.path, set()).add(item.relative)
    names = {path: frozenset(of) for path, of in moved.items()}
    own = {root for root in {item.root for item, _ in found.values()} if _own_hip(root, found.values())}
    # where CUDA is no language of the tree, HIP will be none
    with_cuda = {item.root for item, f in found.values() if f.language or f.enables}
    by_torch = {item.root for item, _ in found.values() if _is_torchs(item)}
    by_make = {item.root for item, _ in found.values() if _is_make(item)}
    hosts: dict[Root, set[str]] = {root: set() for root in with_cuda | by_torch | by_make}
    for item in items:
        if item.root in hosts and item.name in device_hosts:
            hosts[item.root].add(item.relative)
    cuda = {
        root: frozenset(i.relative for i in items if i.root is root and suffix(i.relative) == ".cu")
        for root in with_cuda
    }
    there = {root: {i.relative for i in items if i.root is root} for root in with_cuda}
    bare = {root: frozenset(s[:-3] for s in cuda[root] if s[:-3] not in there[root]) for root in with_cuda}
    modules = {
        root: _modules(item for item, _ in found.values() if item.root is root)
        for root in {i.root for i, _ in found.values()}
    }
    own_flags = {r for r in modules if _own_flags([f for item, f in found.values() if item.root is r])}
    listed = {
        root
        for root in modules
        if any(f.listed_patterns for item, f in found.values() if item.root is root)
        and any(f.by_variable for item, f in found.values() if item.root is root)
    }
    packages = _packages(found)
    alone = _alone(found)
    stand_ins, known = _stand_ins(found)
    extended: dict[Root, frozenset[str]] = {}
    for item, f in found.values():
        extended[item.root] = extended.get(item.root, frozenset()) | f.extends
    defined = frozenset(name for _, f in found.values() for name in f.defines)
    return {
        i: (
            item,
            Asked(
                kind=kind_of(item.relative.rpartition("/")[2]),
                folder=item.relative.rpartition("/")[0],
                renamed=names.get(item.root.path, frozenset()),
                suffix=options.rename,
                archs=options.archs,
                packages=tuple(sorted(packages.get(i, ()))),
                alone=i in alone,
                stand_ins=tuple(sorted(stand_ins.get(i, ()))),
                known=known.get(item.root.path, frozenset()),
                extended=extended[item.root],
                host_headers=i in stand_ins
                and any(f.host_headers for other, f in found.values() if other.root is item.root),
                own_hip=own_hip or item.root in own,
                converts=not own_hip,
                defined=defined,
                old_standard=i in stand_ins
                and _old_standard(f for other, f in found.values() if other.root is item.root),
                device_hosts=frozenset(hosts.get(item.root, ()) if _looks_for_hosts(item, with_cuda) else ()),
                modules=modules.get(item.root, frozenset()),
                cuda_sources=cuda.get(item.root, frozenset()) if f.globs else frozenset(),
                listed_patterns=item.root in listed,
                own_flags=item.root in own_flags,
                bare_sources=bare.get(item.root, frozenset()),
                rules=options.rules,
                rocm=options.rocm,
            ),
        )
        for i, (item, f) in found.items()
    }


def _modules(items: Iterable[Item]) -> frozenset[str]:
    """The packages that modules of a tree find."""
    found = (_MODULE.search(item.relative) for item in items)
    return frozenset(m[1] for m in found if m)


def _facts(item: Item) -> Facts:
    try:
        data = read_regular(item.path, MOST_BYTES)
    except OSError:
        return Facts()  # `convert` meets the same error and reports it
    return facts(kind_of(item.relative.rpartition("/")[2]), data)


def _own_hip(root: Root, found: Collection[tuple[Item, Facts]]) -> bool:
    """Whether a tree has a build for CUDA and one for HIP."""
    of_root = [f for item, f in found if item.root is root]
    return any(f.hip for f in of_root) and any(f.cuda for f in of_root)


def _packages(found: Mapping[int, tuple[Item, Facts]]) -> dict[int, set[str]]:
    """By index of the file that looks for CUDA's toolkit, or enables CUDA where none does: packages that it and the
    files below it need, each entered at the nearest such file above, or where there is none at the first of the
    tree; those of a module that is below none at all that are on top. A template is for those who use what is
    installed: it needs what is below it, and the build needs that too."""
    templates, _ = _anchors(found, templates=True)
    of_templates = _packages_at(found, templates, {}) if templates else {}
    return _packages_at(found, *_anchors(found)) | {i: of_templates[i] for i in templates.values() if i in of_templates}


def _anchors(found: Read, templates: bool = False) -> tuple[_Anchors, _Anchors]:
    """The files of CMake that look for CUDA's toolkit, and those that enable the language; or of templates."""
    of = [(i, item, f) for i, (item, f) in found.items() if item.relative.endswith(".in") is templates]
    return (
        {(item.root.path, item.relative): i for i, item, f in of if f.anchor},
        {(item.root.path, item.relative): i for i, item, f in of if f.language},
    )


def _packages_at(found: Read, toolkits: _Anchors, languages: _Anchors) -> dict[int, set[str]]:
    out: dict[int, set[str]] = {}
    for item, f in found.values():
        if not f.packages:
            continue
        for anchors in (toolkits, languages):
            of_root = [(name, i) for (root, name), i in anchors.items() if root == item.root.path]
            above = [(name, i) for name, i in of_root if _holds(name.rpartition("/")[0], item.relative)]
            same = [i for name, i in of_root if name == item.relative]
            nearest = max(above, key=lambda x: x[0].count("/"), default=None)
            if same or nearest:
                break
        else:
            of_root = [(name, i) for (root, name), i in (toolkits or languages).items() if root == item.root.path]
            nearest = _first(item.root.path, toolkits or languages)
            if not item.relative.endswith("CMakeLists.txt"):  # a module, which each of them may include
                same = _topmost(of_root)
        for i in same or ([nearest[1]] if nearest else []):
            out.setdefault(i, set()).update(f.packages)
    return out


def _alone(found: Read) -> frozenset[int]:
    """The CMakeLists.txt of trees with CUDA that are in no folder, nor below one, which looks for CUDA or enables it. A
    package's targets are known in the folder that finds it, and below."""
    toolkits, languages = _anchors(found)
    folders: dict[Path, set[str]] = {}
    for root, name in (*toolkits, *languages):
        folders.setdefault(root, set()).add(name.rpartition("/")[0])
    return frozenset(
        i
        for i, (item, f) in found.items()
        if f.packages and item.relative.endswith("CMakeLists.txt") and (of := folders.get(item.root.path))
        if not any(_holds(folder, item.relative) for folder in of)
    )


def _topmost(anchors: Sequence[tuple[str, int]]) -> list[int]:
    """The anchors of a tree that are below no other one."""
    folders = {name.rpartition("/")[0] for name, _ in anchors}
    above = {name: [f for f in folders if f != name.rpartition("/")[0] and _holds(f, name)] for name, _ in anchors}
    return [i for name, i in anchors if not above[name]]


def _first(root: Path, anchors: Mapping[tuple[Path, str], int]) -> tuple[str, int] | None:
    """The anchor of a tree that is nearest to its root."""
    of_root = [(name, i) for (path, name), i in anchors.items() if path == root]
    return min(of_root, key=lambda x: (x[0].count("/"), x[0]), default=None)


def _stand_ins(
    found: Mapping[int, tuple[Item, Facts]],
) -> tuple[dict[int, frozenset[str]], dict[Path, frozenset[str]]]:
    """Variables of CUDA's that files read: by index of the file that sets them, the first of its tree that looks for
    CUDA; and by root all that a tree sets."""
    toolkits, languages = _anchors(found)
    anchors = toolkits or languages
    out: dict[int, frozenset[str]] = {}
    known: dict[Path, frozenset[str]] = {}
    for root in {item.root.path for item, _ in found.values()}:
        of_root = [f for item, f in found.values() if item.root.path == root]
        sets = frozenset(name for f in of_root for name in f.sets)
        reads = frozenset(name for f in of_root for name in f.stand_ins) - sets
        first = _first(root, anchors)
        readers = [item.relative for item, f in found.values() if item.root.path == root and _reads(f)]
        if first is not None and not _reaches(first[0], readers):
            first = next((x for x in (_first(root, languages),) if x is not None and _reaches(x[0], readers)), first)
        if first is not None:
            out[first[1]] = reads
        known[root] = sets | (reads if first is not None else frozenset())
    return out, known


def _reads(f: Facts) -> bool:
    return bool(f.host_headers or f.stand_ins)


def _reaches(path: str, readers: Iterable[str]) -> bool:
    """Whether what a file of CMake sets is known where others read it: it is a module, or in a folder above."""
    folder, _, name = path.rpartition("/")
    return name != "CMakeLists.txt" or all(_holds(folder, reader) for reader in readers)


def _own_flags(of_root: Sequence[Facts]) -> bool:
    """Whether a tree passes CUDA_NVCC_FLAGS on itself, and uses nothing of FindCUDA, which would read it."""
    return any(f.passes_flags for f in of_root) and not any(f.enables or f.old_commands for f in of_root)


def _old_standard(of_root: Iterable[Facts]) -> bool:
    """Whether all standards of C++ that a tree names are before C++17, and none is CUDA's own."""
    named = frozenset(s for f in of_root for s in f.standards)
    return bool(named) and named <= OLD_STANDARD


def _holds(folder: str, path: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def named(path: str, files: Collection[str]) -> list[tuple[str, list[int]]]:
    """The names of `files` that a build file holds, sorted, each with its lines."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines_of(path), 1):
        for word in _FILE_NAME.findall(line):
            if word in files:
                found.setdefault(word, []).append(number)
    return sorted(found.items())


def lines_of(path: str) -> list[str]:
    """The lines of a build file; none of one that is very large or cannot be read."""
    return text_of(path).splitlines()


def text_of(path: str) -> str:
    """The text of a build file; nothing of one that is very large or cannot be read."""
    try:
        return read_regular(path, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""  # who copies it meets the same error and reports it
