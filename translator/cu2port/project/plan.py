"""What a run of `convert` is to do: its inputs, and a job for every source, made before anything is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from cu2port.build.kinds import BY_TEXT, is_build_file, kind_of
from cu2port.core import file_rules
from cu2port.core.files import suffix
from cu2port.core.late import dataclass, regex
from cu2port.core.model import Options, Project
from cu2port.core.record import TreeRecord
from cu2port.project.beside import BuildFiles, of_folders, told_by
from cu2port.project.first_look import graph_of, includes_of, size_of
from cu2port.project.graph import Graph, Scan, Told
from cu2port.project.ignore import patterns
from cu2port.project.jobs import Job
from cu2port.project.tree import CannotRun, Item, Root, helper_prefix, rename, walk
from cu2port.project.workers import Workers

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from cu2port.project.build_files import Read
    from cu2port.project.cache import Cache
    from cu2port.project.compile_db import CompileDb
    from cu2port.project.computing import Multiplied
    from cu2port.project.sides import Asked, SideName, Sides

_WORD = regex(r"[A-Za-z_]\w*")
Mode = Literal["out", "in-place", "diff", "dry-run"]


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `out` is empty unless `mode` is `out`; there `-` is standard output."""

    inputs: tuple[str, ...]
    mode: Mode
    out: str = ""
    options: Options = field(default_factory=Options)
    commands: CompileDb | None = None
    exclude: tuple[str, ...] = ()
    named_kernels: tuple[str, ...] = ()  # of --kernel: the input must hold them
    workers: int = 0  # 0: as many as there are cores
    max_size: int = 8 << 20
    limit_s: float = 60.0
    force: bool = False
    hip_side: Asked = "auto"  # what becomes of the CUDA side of a tree that builds for HIP itself
    build_files: bool = True  # whether build files are ported
    notes: tuple[str, ...] = ()  # on the request itself, for the user
    scheduler: str = ""  # the address of a dask scheduler that does the work
    shard: tuple[int, int] | None = None  # (I, N): do the I-th of N parts, from 1
    cache: bool = False  # whether results of earlier runs are used, and those of this one kept


def check_inputs(request: Request) -> None:
    if "-" in request.inputs:
        if len(request.inputs) > 1:
            raise CannotRun("`-` is standard input; it cannot be mixed with other inputs")
        if request.mode == "in-place":
            raise CannotRun("`-` is standard input; it has no place for --in-place")


def names_folder(out: str) -> bool:
    return out != "-" and (out.endswith(("/", os.sep)) or Path(out).is_dir())


def plan_items(request: Request, roots: Sequence[Root]) -> list[Item]:
    """The whole input, with targets as they will be."""
    leave_out: frozenset[Path] = frozenset()
    if request.mode == "out":
        out = Path(request.out).resolve()
        for root in roots:
            base = root.path if root.folder else root.path.parent
            if root.folder and out == root.path:
                raise CannotRun(f"-o {request.out} is the input itself; --in-place converts it where it is")
            if root.folder and base.is_relative_to(out):
                raise CannotRun(f"-o {request.out} holds the input {root.given}; choose another folder")
            if not root.folder and out == base:
                raise CannotRun(f"-o {request.out} holds the input {root.given}; choose another folder, or --in-place")
        leave_out = frozenset({out})
    from cu2port.catalog import load_catalog
    from cu2port.project.vendored import leave_copies  # a file that is given alone needs neither this nor what follows

    try:
        exclude = patterns(request.exclude) if request.exclude else None
    except ValueError as e:
        raise CannotRun(f"--exclude: {e}") from e
    items = [as_planned(request, item, exclude) for root in roots for item in walk(root, leave_out, exclude)]
    items = leave_copies(items, load_catalog(request.options.rules).headers)
    if request.options.rename:
        items = rename(items, request.options.rename, in_place=request.mode != "out" and not request.force)
        items = _with_old_names(items)
    return items


def as_planned(request: Request, item: Item, exclude: GitIgnoreSpec | None = None) -> Item:
    """An item of the walk, as `build` where it is a build file that is to be ported."""
    if item.kind not in ("copy", "source") or not request.build_files or not is_build_file(item.name):
        return item
    return item if exclude is not None and exclude.match_file(item.relative) else replace(item, kind="build")


def _with_old_names(items: list[Item]) -> list[Item]:
    """Build files that name a renamed source say so."""
    moved = {
        PurePosixPath(i.relative).name: PurePosixPath(i.target).name
        for i in items
        if i.kind == "source" and not i.target.endswith(i.relative)
    }
    return [_with_old_name(i, moved) if moved and i.kind in ("copy", "build") else i for i in items]


def _with_old_name(item: Item, moved: Mapping[str, str]) -> Item:
    kind = kind_of(item.relative.rpartition("/")[2])
    if kind == "" or kind in BY_TEXT or (item.kind == "build" and kind not in ("go", "other")):
        return item  # names in the other kinds follow
    from cu2port.project import build_files

    found = tuple(
        file_rules.OLD_NAME.on_file(
            f"names {old} in line {', '.join(map(str, lines))}, which is {moved[old]} now; rename it"
        )
        for old, lines in build_files.named(item.name, moved)
    )
    return replace(item, found=(*item.found, *found))


def check_kernels(request: Request, items: Sequence[Item]) -> None:
    """Raises CannotRun for a kernel of --kernel whose name is in no source, so that a typing error is not silent."""
    missing = set(request.named_kernels)
    seen: set[str] = set()
    for item in items:
        if not missing:
            return
        if item.kind == "source" and size_of(item.name) <= request.max_size:
            with contextlib.suppress(OSError):  # `convert` meets the same error and reports it
                words = set(_WORD.findall(Path(item.name).read_bytes().decode("latin-1")))
                missing -= words
                seen |= words
    if missing:
        import difflib

        name = min(missing)
        near = difflib.get_close_matches(name, seen, 1, 0.8)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise CannotRun(f"--kernel {name}: the input has no kernel of that name{hint}")


class Plan(NamedTuple):
    """A job for every source item, with what the rest of the tree says about it (`index` is that of the item); and
    what the sources say of each other, None where there are no others; what of the tree is for HIP already; items, by
    index, that are sources since others include them."""

    jobs: list[Job]
    graph: Graph | None
    hip: TreeRecord | None = None
    parts: Mapping[int, Item] = MappingProxyType({})


def plan_jobs(request: Request, items: Sequence[Item], pool: Workers, cache: Cache | None = None) -> Plan:
    """The work on a tree; files are read for the first time here."""
    bare = [(_bare(request, i, item), item) for i, item in enumerate(items) if item.kind == "source"]
    lost: dict[str, str] = {}
    alone = [job for job, item in bare if not item.root.folder]
    said = BuildFiles()
    reading = said.read(items, of_hip=len(bare) > 1)
    from cu2port.project.parts import Parts

    parts = Parts(items, request.options.include_dirs, patterns(request.exclude) if request.exclude else None)

    def included(scans: Mapping[str, Scan]) -> list[Job]:
        new = [(_bare(request, i, parts.found[i]), parts.found[i]) for i in parts.included(scans)]
        bare.extend(new)
        return [job for job, _ in new]

    graph = graph_of(request, [job for job, _ in bare], alone, pool, lost, cache, reading, included)
    for _ in reading:
        pass
    moved = frozenset(item.name for _, item in bare if not item.target.endswith(item.relative))
    sides = _sides_of(graph, items, request.hip_side, said) if graph else None
    builds = {i: read for i, read in said.facts.items() if i not in parts.found}
    hosts, as_cuda = told_by(builds, items, graph)
    multiplied = _multiplied(graph) if graph else None
    linked = _linked_as_cuda(items)
    jobs = []
    for job, item in bare:
        options = job.options
        is_cuda = job.path in as_cuda
        if request.commands is not None:
            flags = request.commands.merged(os.path.realpath(job.path))
            is_cuda |= flags.as_cuda
            dirs = dict.fromkeys((*options.include_dirs, *flags.include_dirs))
            options = replace(
                options,
                include_dirs=tuple(dirs),
                defines=(*flags.defines, *options.defines),
                skip_inactive=options.skip_inactive and not flags.differ,  # a branch that one build takes counts
            )
        if graph and (folders := graph.folders(job.path)):
            if not Path(item.shown).is_absolute():  # the key of a result is the same wherever the tree is
                folders = tuple(map(os.path.relpath, folders))
            options = replace(options, include_dirs=tuple(dict.fromkeys((*options.include_dirs, *folders))))
        told = multiplied.told(job.path) if multiplied else Told()
        project = Project(
            declared=graph.declared(job.path) if graph else frozenset(),
            own=graph.own(job.path) if graph else frozenset(),
            renamed=graph.spelled(job.path, moved) if graph and len(bare) > 1 else _renamed_beside(job),
            helper_prefix=helper_prefix(item.target),
            side=_side(sides, job.path, item.root.folder),
            hip_macros=sides.macros if sides else frozenset(),
            carry=graph.carry(job.path) if graph else frozenset(),
            side_macros=graph.side_macros(job.path) if graph else frozenset(),
            prefix_macros=graph.prefix_macros(job.path) if graph else frozenset(),
            asm_keywords=graph.asm_keywords(job.path) if graph else frozenset(),
            text_macros=graph.text_macros(job.path) if graph else frozenset(),
            member_sides=graph.member_sides(job.path) if graph else frozenset(),
            aliases=graph.aliases(job.path) if graph else frozenset(),
            products=told.products,
            computing=told.computing,
            numbers=told.numbers,
            by_value=told.by_value,
            as_cuda=is_cuda,
            as_hip=is_cuda or job.path in hosts or item.name in linked,
            linked=item.name in linked and not is_cuda,
        )
        names = None
        if request.mode == "diff":
            names = (item.shown.lstrip("/"), output_of(request, item).lstrip("/"))
        jobs.append(replace(job, options=options, project=project, diff=names, not_scanned=lost.get(job.path, "")))
    in_trees = {item.name: item.shown for _, item in bare if item.root.folder}
    return Plan(
        [*jobs, *build_jobs(request, items, builds, sides is not None and sides.decision == "both", hosts)],
        graph,
        sides.record(in_trees) if sides and in_trees else None,
        parts.found,
    )


def _bare(request: Request, index: int, item: Item) -> Job:
    """The job of a source before anything is known of the tree."""
    return Job(index, item.name, item.shown, request.options, max_size=request.max_size, size=size_of(item.name))


def _multiplied(graph: Graph) -> Multiplied:
    from cu2port.project.computing import Multiplied  # files that are given alone need none of it

    return Multiplied(graph)


def _sides_of(graph: Graph, items: Sequence[Item], wanted: Asked, said: BuildFiles) -> Sides:
    """Which files are CUDA's and which are HIP's; of files that were named alone their names and the folders right
    above them tell."""
    from cu2port.project.sides import OF_HIP, decide, read_builds

    facts = {item.name: OF_HIP for item in items if item.root.folder and suffix(item.relative) == ".hip"} | graph.sides
    shown = dict.fromkeys(facts, "")
    for item in items:
        if item.root.folder and item.name in shown:
            above = item.root.path.name if item.root.path.name.lower() in ("hip", "rocm") else ""
            shown[item.name] = f"{above}/{item.relative}" if above else item.relative
    shown = {f: name or "/".join(Path(f).parts[-2:]) for f, name in shown.items()}
    builds = said.of_hip if said.of_hip is not None else read_builds(of_folders(items))
    return decide(facts, shown, graph.resolved(), builds, wanted)


def _side(sides: Sides | None, path: str, in_tree: bool) -> SideName:
    """The side of a file; one that was named alone is converted, twin or not, unless it is HIP's."""
    if sides is None or path not in sides.of:
        return ""
    side = sides.of[path].name
    if side == "hip" or not in_tree:
        return "hip" if side == "hip" else ""
    return "kept" if sides.decision == "both" else side


def build_jobs(
    request: Request,
    items: Sequence[Item],
    builds: Read,
    own_hip: bool,
    hosts: Collection[str] = (),
) -> list[Job]:
    """A job for every build file that was read. `own_hip`: the tree builds for HIP itself, and nothing of it is
    converted. `hosts`: sources of the host that only the compiler of HIP takes."""
    if not builds:
        return []
    from cu2port.project import build_files

    jobs = []
    for i, (item, asked) in build_files.asked(builds, items, request.options, own_hip, hosts).items():
        names = None
        if request.mode == "diff":
            names = (item.shown.lstrip("/"), output_of(request, item).lstrip("/"))
        size = size_of(item.name)
        options, most = request.options, request.max_size
        jobs.append(Job(i, item.name, item.shown, options, max_size=most, size=size, diff=names, build=asked))
    return jobs


def _linked_as_cuda(items: Sequence[Item]) -> frozenset[str]:
    """Files that only a link of the tree gives a name which nvcc compiles as CUDA: one source for both compilers."""
    links = (i for i in items if i.kind == "link" and suffix(i.relative) == ".cu")
    named = (os.path.normpath(os.path.join(os.path.dirname(i.name), i.link)) for i in links)  # noqa: PTH118, PTH120
    return frozenset(name for name in named if suffix(name) != ".cu")


def _renamed_beside(job: Job) -> frozenset[str]:
    """For a file converted alone: its includes of .cu files that are there, which --rename means too."""
    if not job.options.rename:
        return frozenset()
    folder = Path(job.path).parent
    names = [name for name, quoted in includes_of(job) if quoted]
    return frozenset(n for n in names if n.lower().endswith(".cu") and (folder / n).is_file())


def output_of(request: Request, item: Item) -> str:
    """Where an item's output stands, as the user would write it."""
    if request.mode != "out":
        if item.root.folder:
            return item.root.shown(item.target)
        return item.shown[: len(item.shown) - len(item.relative)] + item.target
    return f"{_posix(request.out)}/{item.target}"


@lru_cache(maxsize=4)
def _posix(path: str) -> str:
    return Path(path).as_posix()
