"""Which files of a tree are CUDA's, HIP's, both or neither, and one decision for the whole tree.

Decided from facts of all files before any is edited, so that order, workers and shards change nothing. Reasons for HIP,
the first that holds: where a file is and its name, what it includes (through headers of the project too), the names
it uses; a header that only such files include is with them.

The decision: `cuda`: there is no code for HIP. `mixed`: there is some; it is left alone, and so is a CUDA file that has
a twin for HIP, or that the tree's build compiles for HIP with a header of macros (`#define cudaFree hipFree`).
`both`: the project builds for HIP with a backend of its own, and nothing of it is converted. The user may ask for one
of the latter two (`--hip-side`).
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from cu2port.build.kinds import BY_TEXT, kind_of
from cu2port.core.files import CUDA_SUFFIXES
from cu2port.core.late import dataclass, regex
from cu2port.core.record import TreeRecord
from cu2port.facts.atoms import is_hip_word
from cu2port.facts.hipcode import SideFacts, named_hip
from cu2port.project import build_files

SideName = Literal["", "cuda", "hip", "both", "neither", "kept"]
Decision = Literal["cuda", "mixed", "both"]
Asked = Literal["auto", "convert", "leave"]
_BACKEND = regex(r"(?i)(?<=[a-z\d])[-_.](?:cuda|hip|rocm)(?![a-z\d])|(?<![a-z\d])(?:cuda|hip|rocm)[-_.]|cuda|hip|rocm")
_HEADERS = frozenset({".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".ipp"})
_BUILDS_HIP = regex(
    r"(?i)enable_language\s*\([^()\n]*\bhip\b|languages[^)\n]*\bhip\b|find_package\s*\(\s*\"?hip\b|hip_add_|hip::(?:device|host)|"
    r"\bhipcc\b|\$[{(]hip_|with-hip|amdclang"
)
_BUILD_DEFINES = regex(
    r"(?<![\w-])-D([A-Za-z_]\w*)|add_(?:compile_)?definitions\s*\(\s*(?:-D)?([A-Za-z_]\w*)|"
    r"(?:PUBLIC|PRIVATE|INTERFACE)\s+(?:-D)?([A-Z_]\w*)(?:=\w+)?\s*\)"
)
_IF = regex(r"(?i)^\s*(else)?(?:if\s*\(([^#\n]*)\)|\(\s*\))|^\s*(endif)\b")
_PARTS = ("hip", "amd", "rocm")  # of all that names HIP in a build, in small letters
_WORD = regex(r"\w+")
_MOST = 8  # macros and folders that the report names
OF_HIP = SideFacts(hip="its suffix .hip")  # of a file that is not read
_SHARE = 4  # one of so many files of CUDA code has code for HIP in a project that builds for both


class Side(NamedTuple):
    """The side a file is on, and why, as words for the report."""

    name: SideName
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Builds:
    """What build files say of HIP. `where`: the first that builds for it, "" if none does; `macros`: those that are
    defined in branches for HIP alone."""

    where: str = ""
    macros: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sides:
    """What a tree is. `of`: by file; `macros`: those that HIP's build alone defines, beside what their names tell;
    `asked`: the macros for HIP that conditions ask for, the project's own first; `folders`: where HIP's files lie;
    `mixed_widths`: (converted file, file for HIP that it reaches and that counts lanes)."""

    decision: Decision
    of: Mapping[str, Side]
    why: str = ""
    macros: frozenset[str] = frozenset()
    asked: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    mixed_widths: tuple[tuple[str, str], ...] = ()

    def counts(self) -> dict[str, int]:
        """How many files are on each side."""
        found = Counter(s.name for s in self.of.values())
        return {name: found[name] for name in ("cuda", "hip", "both", "neither", "kept")}

    def record(self, shown: Mapping[str, str]) -> TreeRecord | None:
        """What the report says of it, None for a tree without code for HIP. `shown`: paths as the user writes them."""
        if self.decision == "cuda":
            return None
        told = ((shown[f], s.name, s.reason) for f, s in self.of.items() if f in shown)
        files = tuple(sorted(x for x in told if x[1] in ("hip", "both", "kept")))
        return TreeRecord(
            self.decision, self._message(), self.asked[:_MOST], self.folders[:_MOST], files, self.mixed_widths
        )

    def _message(self) -> str:
        n = self.counts()
        what = [f"{n['hip']} files are HIP's"] if n["hip"] else []
        what += [f"{n['both']} have branches for HIP"] if n["both"] else []
        if self.decision == "both":
            by = [f"the macro {m}" for m in self.asked[:1]] + [f"the folder {f}" for f in self.folders[:1]]
            own = " and ".join(by) or "files of its own"
            return f"the project builds for HIP itself, by {own} ({self.why}): nothing is converted"
        what += [f"{n['kept']} have a twin or macros for HIP, so they stay CUDA's"] if n["kept"] else []
        asked = f" ({self.why})" if self.why else ""
        return f"{', '.join(what)}: HIP's code is left alone, the rest is converted{asked}"


def read_builds(files: Iterable[tuple[str, str]]) -> Builds:
    """What build files say; (name to open, name to show) of each file of the tree."""
    where, macros, others = "", set[str](), set[str]()
    named = [(path, shown, os.path.basename(path)) for path, shown in files]  # noqa: PTH119
    named = [x for x in named if kind_of(x[2]) not in {"", *BY_TEXT} and not x[2].startswith("Dockerfile")]
    plain: list[str] = []  # files of CMake that say nothing of HIP
    for path, shown, name in sorted(named, key=lambda x: (x[1].count("/"), x[1])):
        text = build_files.text_of(path)
        is_cmake = name == "CMakeLists.txt" or name.endswith(".cmake")
        small = text.lower()
        if not any(part in small for part in _PARTS):
            plain += [path] if is_cmake else []
            continue
        lines = text.splitlines()
        where = where or (shown if any(map(_BUILDS_HIP.search, lines)) else "")
        for macro, for_hip in _defined(lines) if is_cmake else ():
            (macros if for_hip else others).add(macro)
    for path in plain if macros else ():
        others.update(macro for macro, _ in _defined(build_files.lines_of(path)))
    return Builds(where, frozenset(macros - others))


def _defined(lines: Iterable[str]) -> Iterable[tuple[str, bool]]:
    """Macros that a CMake file defines, and whether in an `if` that names HIP and not CUDA."""
    around: list[bool] = []
    for line in lines:
        if (m := _IF.match(line)) is not None:
            if m[3]:
                around[-1:] = []
            elif m[1]:
                around[-1:] = [_is_for_hip(m[2] or "")]
            else:
                around.append(_is_for_hip(m[2] or ""))
            continue
        for d in _BUILD_DEFINES.finditer(line):
            yield next(filter(None, d.groups())), any(around)


def _is_for_hip(text: str) -> bool:
    words = _WORD.findall(text.upper())
    return any(is_hip_word(w) for w in words) and "NOT" not in words and "OR" not in words


def decide(
    facts: Mapping[str, SideFacts],
    shown: Mapping[str, str],
    targets: Mapping[str, Mapping[str, str]],
    builds: Builds,
    wanted: Asked = "auto",
) -> Sides:
    """What a tree is. Files are known by absolute path. `shown`: paths from the tree's root; `targets`: what the
    includes of a file, as spelled, lead to in the tree. `wanted`: `convert` what is CUDA's, twins too, or `leave` it,
    whatever the tree's build says."""
    edges = {f: frozenset(_included(facts[f], targets.get(f, {}))) & facts.keys() for f in facts}
    includers = _includers(edges)
    of = {path: _alone(facts[path], shown[path]) for path in sorted(facts)}
    _through_headers(of, facts, shown, includers)
    _with_includers(of, edges, includers)
    twins = _twins(of, shown)
    through = _through_aliases(facts, targets) if builds.where else {}
    asked = Counter(w for f in facts.values() for w in f.asked)
    cuda = [f for f, side in of.items() if side.name in ("cuda", "both") and (facts[f].cuda or f in twins)]
    covered = [f for f in cuda if f in twins or f in through or of[f].name == "both"]
    hips = [f for f, side in of.items() if side.name == "hip"]
    macros = _hip_macros(facts, builds)
    some = bool(hips or any(side.name == "both" for side in of.values()))
    folders = _folders([shown[f] for f in hips])
    decision: Decision = "mixed" if some else "cuda"
    why = ""
    if wanted == "convert":
        twins, through = {}, {}
        why = "--hip-side convert"
    elif some and wanted == "leave":
        decision = "both"
        why = "--hip-side leave"
    elif some and builds.where and _SHARE * len(covered) >= len(cuda):
        decision = "both"
        why = f"{builds.where} builds for HIP, and {len(covered)} of {len(cuda)} files of CUDA code have code for HIP"
    if decision == "both":
        of |= {f: Side("kept", side.reason) for f, side in of.items() if side.name in ("cuda", "both")}
    else:
        for f, header in through.items():
            if of[f].name != "hip":
                of[f] = Side("kept", f"{shown[header]} gives HIP's functions CUDA's names")
        needed = _needed(of, twins, includers)
        of |= {f: Side("kept", f"{shown[to]} is its twin for HIP") for f, to in twins.items() if f not in needed}
    mixed_widths = () if decision == "both" else _mixed_widths(of, facts, shown, includers)
    # the project's own first: what HIP's compiler defines builds nothing
    names = sorted(asked, key=lambda w: (w.startswith(("__", "HIP_VERSION")), -asked[w], w))
    return Sides(decision, of, why, macros, tuple(names), folders, mixed_widths)


def _through_aliases(facts: Mapping[str, SideFacts], targets: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The files that are compiled for HIP as they are, each with the header whose macros make that possible: such
    headers, what includes one of them, and the headers that only these files include."""
    headers = {f: f for f, found in facts.items() if found.aliases}
    if not headers:
        return {}
    edges = {f: frozenset(targets.get(f, {}).values()) & facts.keys() for f in facts}
    includers = _includers(edges)
    out = headers | _reaching(headers, includers)
    todo = sorted(out)
    while todo:
        f = todo.pop()
        for to in sorted(edges[f] - out.keys()):
            if all(by in out for by in includers[to]):
                out[to] = out[f]
                todo.append(to)
    return out


def _includers(edges: Mapping[str, frozenset[str]]) -> defaultdict[str, set[str]]:
    """For each file those that include it. `edges`: what each file includes."""
    out: defaultdict[str, set[str]] = defaultdict(set)
    for f in sorted(edges):
        for to in edges[f]:
            out[to].add(f)
    return out


def _included(f: SideFacts, targets: Mapping[str, str]) -> Iterable[str]:
    """What a file includes of the tree, outside of branches for HIP."""
    return (to for name, to in targets.items() if f.common is None or name in f.common)


def _alone(f: SideFacts, shown: str) -> Side:
    """What a file is by itself."""
    named = named_hip(shown)
    if named and (not f.cuda or (f.hip and f.cuda.startswith("uses "))):  # with HIP's headers: it gives CUDA's names
        return Side("hip", f"its path: {named}")
    if f.hip and not f.cuda:
        return Side("hip", f.hip)
    if f.branches or (f.hip and f.cuda):
        return Side("both", f"{f.cuda or 'CUDA code'}, and {f.hip or 'branches for HIP'}")
    if f.cuda:
        return Side("cuda", f.cuda)
    suffix = os.path.splitext(shown)[1].lower()  # noqa: PTH122
    return Side("cuda", f"its suffix {suffix}") if suffix in CUDA_SUFFIXES else Side("neither")


def _through_headers(
    out: dict[str, Side], facts: Mapping[str, SideFacts], shown: Mapping[str, str], includers: Mapping[str, set[str]]
) -> None:
    """Files without CUDA names that reach HIP's headers, and none of CUDA's, through headers of the project."""
    hip = [f for f in out if facts[f].hip.startswith("includes ")]
    cudas = [f for f in out if facts[f].cuda.startswith("includes ") or facts[f].branches]
    to_cuda = _reaching(cudas, includers) if hip else {}
    for path, header in _reaching(hip, includers).items():
        side = out[path]
        if path not in to_cuda and (side.name == "neither" or (side.name == "cuda" and not facts[path].cuda)):
            out[path] = Side("hip", f"reaches {facts[header].hip.removeprefix('includes ')} through {shown[header]}")


def _reaching(files: Iterable[str], includers: Mapping[str, set[str]]) -> dict[str, str]:
    """What includes one of some files, directly or not, and which; in alphabetical order where there are several."""
    out: dict[str, str] = {}
    for f in sorted(files):
        todo = [f]
        while todo:
            for by in includers.get(todo.pop(), ()):
                if by not in out:
                    out[by] = f
                    todo.append(by)
    return out


def _with_includers(
    out: dict[str, Side], edges: Mapping[str, frozenset[str]], includers: Mapping[str, set[str]]
) -> None:
    """Headers without names of either that only HIP's files include."""
    others = {to: sum(out[f].name != "hip" for f in by) for to, by in includers.items()}  # not HIP's, so far
    todo = [f for f, side in out.items() if side.name == "hip"]
    while todo:
        for to in edges.get(todo.pop(), ()):
            if out.get(to) == Side("neither") and not others[to]:
                out[to] = Side("hip", "only files for HIP include it")
                todo.append(to)
                for after in edges.get(to, ()):
                    others[after] -= 1


def _twins(of: Mapping[str, Side], shown: Mapping[str, str]) -> dict[str, str]:
    """The CUDA files that have a twin for HIP: the same path except for the backend's name."""
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for f, side in of.items():
        if side.name == "hip":
            by_key[_key(shown[f])].append(f)
    return {
        f: min(by_key[key])
        for f, side in of.items()
        if side.name in ("cuda", "both") and (key := _key(shown[f])) in by_key
    }


def _needed(of: Mapping[str, Side], twins: Mapping[str, str], includers: Mapping[str, set[str]]) -> set[str]:
    """The files with a twin that code without branches for HIP includes, so that what is converted needs them."""
    found: set[str] = set()
    todo = [f for f in twins if any(of[by].name in ("cuda", "neither") and by not in twins for by in includers[f])]
    to_twins: defaultdict[str, list[str]] = defaultdict(list)
    for f in twins:
        for by in includers[f]:
            to_twins[by].append(f)
    while todo:
        f = todo.pop()
        if f not in found:
            found.add(f)
            todo += to_twins[f] if of[f].name == "cuda" else []
    return found


def _key(shown: str) -> str:
    """A path without what tells a backend: `a/cuda/x_cuda.cuh`, `a/hip/x_hip.hpp` and `a/x.h` have one key."""
    stem, suffix = os.path.splitext(shown)  # noqa: PTH122
    stem = re.sub(r"(?i)\.(?:hip|cu)\Z", "", stem)
    *folders, name = (_BACKEND.sub("", part) for part in stem.split("/"))
    return f"{'/'.join([*filter(None, folders), name])}{'.h' if suffix.lower() in _HEADERS else '.c'}"


def _hip_macros(facts: Mapping[str, SideFacts], builds: Builds) -> frozenset[str]:
    """Macros that are defined for HIP alone: by the build, or only in branches for HIP of all files."""
    found = builds.macros | {m for f in facts.values() for m in f.only_hip}
    return frozenset(found - {m for f in facts.values() for m in f.elsewhere})


def _folders(hips: list[str]) -> tuple[str, ...]:
    """The folders that are named for HIP, the one with most files first."""
    found: Counter[str] = Counter()
    for path in hips:
        *folders, _ = path.split("/")
        at = next((k for k, f in enumerate(folders) if named_hip(f"{f}/x")), -1)
        if at >= 0:
            found["/".join(folders[: at + 1])] += 1
    return tuple(sorted(found, key=lambda f: (-found[f], f)))


def _mixed_widths(
    of: Mapping[str, Side], facts: Mapping[str, SideFacts], shown: Mapping[str, str], includers: Mapping[str, set[str]]
) -> tuple[tuple[str, str], ...]:
    """Converted files that count lanes and reach a file for HIP that counts them too: two widths in one program."""
    wide = [f for f, side in of.items() if side.name == "hip" and facts[f].lanes]
    return tuple(
        sorted(
            (shown[f], shown[to])
            for f, to in _reaching(wide, includers).items()
            if of[f].name in ("cuda", "both") and facts[f].lanes
        )
    )
