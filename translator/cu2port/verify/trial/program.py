"""The texts that a trial compiles: what a kernel needs of the files, and a main function that runs it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.core.edits import apply, judge
from cu2port.core.model import Project, Trust
from cu2port.facts.side_macros import side_macros
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.verify.instrument import instrument
from cu2port.verify.reach import reached, read, read_again
from cu2port.verify.sim_build import Program, Text, absolute_path, mirrored
from cu2port.verify.sim_compiler import INCLUDE_DIR
from cu2port.verify.trial.assembly import Body, CannotRunError, with_calls
from cu2port.verify.trial.branches import counted
from cu2port.verify.trial.device_variables import definitions, listed
from cu2port.verify.trial.kernels import Kernel, axes
from cu2port.verify.trial.members import members
from cu2port.verify.trial.slices import kept, needed, sliced

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*((?:<[^>\n]+>)|(?:\"[^\"\n]+\"))[^\n]*$", re.MULTILINE)
_NOT_TRIED = re.compile(r"[<\"]thrust/")  # see _LACKS
_CUDA_STD = re.compile(r"[<\"]cuda/std/")
# nothing of the host runs: all of it is the device's, as CUDA's side is by the trial's headers
_DEVICE_SIDE = (
    "#define __HIP_DEVICE_COMPILE__ 1\n#define CU2PORT_LEAVES_OUT(place) static_assert(true)\n"
    "#define CU2PORT_OWN static\n#define CU2PORT_NAMESPACE namespace\n"
)
_CUB = re.compile(r"[<\"](hipcub|cub)/")
_CUDA_NAME = re.compile(r"(?:cuda|CUDA|cu[A-Z]|CU_|CUDART_|make_cu|nv_bfloat|__nv_|curand|CURAND_).*")
_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uUlL]*")
_MOST_NUMBERS = 64
_SOLO = frozenset({"solo", "idle"})  # `if (cu2port::solo::idle()) return;` in a kernel
_SHARED = frozenset({"__shared__", "__syncthreads", "__syncwarp", "__threadfence"})
_LACKS = (("Tensor Memory Accelerator", re.compile(r"CUtensorMap|cp_async_bulk\w*")),)
_PARTLY = (  # what a trial has not, or has only a part of: a kernel may not need what its headers have of it
    ("matrix fragments", re.compile(r"wmma|nvcuda")),
    ("cuRAND's device functions", re.compile(r"curand\w*")),
    ("CUB", re.compile(r"cub")),
    ("Thrust", re.compile(r"thrust")),
)


class LackingError(Exception):
    """Why a kernel cannot be tried."""


@dataclass(frozen=True, slots=True)
class Side:
    """The files of a program by absolute path: as they are (`cuda`), or converted. `called`: functions of the host that
    are kept, by `of_host`."""

    units: Mapping[Path, Unit]
    cuda: bool
    called: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Mapping[Path, Text], cuda: bool) -> Side:
        project = Project(side_macros=frozenset().union(*(side_macros(t.hip) for t in texts.values())))
        plain = {p: read(t.hip, str(p), project) for p, t in texts.items()}
        return cls({p: as_standard(u) for p, u in plain.items()} if cuda else plain, cuda)


def as_standard(unit: Unit) -> Unit:
    """A file with the words that nvcc does without and the C++ standard asks for: `typename`, `template`."""
    if "template" not in unit.text:
        return unit
    found = [f for c in all_checks() if c.true_of_cuda for f in c.run(unit)]
    _, edits = judge(found, Trust.EXACT)
    return read_again(apply(unit.text, edits), unit) if edits else unit


@dataclass(frozen=True, slots=True)
class Written:
    """The copy of the kernel's file that is compiled. `digest`: of all texts; `branches`: the place of each counter;
    `bodies`: inline PTX of CUDA's side, for the interpreter."""

    unit: Path
    digest: str = ""
    branches: tuple[str, ...] = ()
    bodies: tuple[Body, ...] = ()


def check(side: Side, kernel: Kernel) -> None:
    """Raises LackingError when the CUDA side needs what a trial does not have."""
    seen = names_for(side, kernel)
    if what := _library(side, seen, _LACKS):
        raise LackingError(what)
    for unit in side.units.values():
        mine = kept(unit, seen)
        if any(unit.tok(i + 1) == "<" for e in mine for i in unit.between(e.first, e.stop, "texture", "surface")):
            raise LackingError("texture references")
        inside = (unit.function_at(x.open) for x in unit.launches if any(e.first <= x.open < e.stop for e in mine))
        if any(f is not None and f.sides & {"__global__", "__device__"} for f in inside):
            raise LackingError("launches from kernels")


def library(side: Side, kernel: Kernel) -> str:
    """A library, which a trial has in part, that a kernel uses; "" if there is none."""
    return _library(side, names_for(side, kernel), _PARTLY)


def _library(side: Side, seen: frozenset[str], known: Sequence[tuple[str, re.Pattern[str]]]) -> str:
    words = {x for unit in side.units.values() for e in kept(unit, seen) for x in e.words}
    return next((what for what, pattern in known if any(pattern.fullmatch(x) for x in words)), "")


def names_for(side: Side, kernel: Kernel) -> frozenset[str]:
    """The identifiers that a kernel is made of, through all files of a side."""
    own = [
        u for p, u in side.units.items() if INCLUDE_DIR not in p.parents
    ]  # helper headers name nothing of the user's
    return needed(own, {kernel.name, *side.called, *re.findall(r"\w+", kernel.arguments)})


def shares_memory(side: Side, kernel: Kernel) -> bool:
    """Whether threads of a kernel exchange values through memory: it has barriers or shared memory."""
    seen = names_for(side, kernel)
    return any(not _SHARED.isdisjoint(e.words) for u in side.units.values() for e in kept(u, seen))


@dataclass(frozen=True, slots=True)
class Hints:
    """What the CUDA kernel and what it calls tell of useful launches: the axes that they use, see `Spec` in trial.h,
    and the numbers in their text. Both sides have to get the same."""

    axes: int
    numbers: tuple[int, ...]


def hints(side: Side, kernel: Kernel) -> Hints:
    """The hints of a kernel."""
    seen, used = names_for(side, kernel), 1
    numbers: set[int] = set()
    for real, unit in side.units.items():
        if INCLUDE_DIR in real.parents:
            continue
        for e in kept(unit, seen):
            used |= axes(unit, e.first, e.stop)
            numbers |= set(_numbers(unit.t[e.first : e.stop]))
        for name in unit.macros.keys() & seen:
            for m in unit.macros[name]:
                numbers |= set(_numbers(unit.t[m.first : m.stop]))
    return Hints(used, tuple(sorted(numbers)[:_MOST_NUMBERS]))


def _numbers(words: Iterable[str]) -> Iterator[int]:
    for word in words:
        if word[0].isdigit() and (m := _WHOLE.fullmatch(word)):
            n = int(m[1], 0) if not m[1].startswith("0") or m[1][1:2] in "xXbB" else int(m[1], 8)
            if 2 < n < 1 << 31:
                yield n


def write(side: Side, kernel: Kernel, program: Program, folder: Path, told: Hints, bare: bool = False) -> Written:
    """Write the texts for one kernel of a program below a folder.

    `told`: of the CUDA side; `bare`: for a GPU's compiler, not for the simulator. Raises LackingError.
    """
    seen = names_for(side, kernel)
    units: dict[Path, Unit] = {}
    places: list[str] = []
    bodies: list[Body] = []
    macros = frozenset(name for unit in side.units.values() for name in unit.macros)
    path = absolute_path(program.units[0])
    small = any("half" in x or "bfloat" in x for x in seen)
    for real, unit in side.units.items():
        text = unit.text if INCLUDE_DIR in real.parents else sliced(unit, seen)
        if side.cuda:
            text = _without_ptx(read_again(text, unit), seen, bodies)
            text, lines = counted(read_again(text, unit), len(places), macros)
            places += [f"{real.name}:{n}" for n in lines]
        units[real] = read_again(_guarded(text, small, side.cuda), unit)
    reach = reached(units.values())
    digest = hashlib.sha256()
    for real, unit in units.items():
        target = mirrored(folder, real)
        target.parent.mkdir(parents=True, exist_ok=True)
        out = unit.text if bare else instrument(unit, reach, two_sides=not side.cuda)
        if real == path:
            before = _defined((*program.defines, *kernel.defines)) + _names(seen) * side.cuda
            before += _DEVICE_SIDE * (not side.cuda and not bare)
            others = "".join(f'#include "{mirrored(folder, absolute_path(u))}"\n' for u in program.units[1:])
            out = f"{before}{out}\n{others}{_main(side, kernel, seen, told)}"
        digest.update(f"{target}\0{len(out)}\0{out}".encode("latin-1"))
        target.write_bytes(out.encode("latin-1"))
    return Written(mirrored(folder, path), digest.hexdigest(), tuple(places), tuple(bodies))


def _without_ptx(unit: Unit, seen: frozenset[str], bodies: list[Body]) -> str:
    if not unit.asms:
        return unit.text
    try:
        return with_calls(unit, seen, bodies)
    except CannotRunError as e:
        raise LackingError(str(e)) from None


def _guarded(text: str, small: bool, cuda: bool = False) -> str:
    """Headers that are not there, of libraries that host code uses, are replaced by what they usually bring along,
    with `small` also half and bfloat16; so are those of libraries whose kernels are not tried."""
    absent = "#define CU2PORT_TRIAL_SMALL_FLOATS\n" * small + '#include "cu2port_trial/absent.h"'

    def guarded(m: re.Match[str]) -> str:
        line = text.count("\n", 0, m.start()) + 2
        if cub := _CUB.match(m[1]):
            return f"#include <{'cub/cub.cuh' if cub[1] == 'cub' else 'hipcub/hipcub.hpp'}>\n#line {line}"
        if cuda and _CUDA_STD.match(m[1]):
            return f"#include <cuda/std_names.h>\n#line {line}"
        if _NOT_TRIED.match(m[1]):
            return f"{absent}\n#line {line}"
        return f"#if __has_include({m[1]})\n{m[0]}\n#else\n{absent}\n#endif\n#line {line}"

    return _INCLUDE.sub(guarded, text)


@cache
def _renames() -> Mapping[str, str]:
    return {r.cuda: r.hip for r in load_catalog() if r.plain and r.hip and _CUDA_NAME.fullmatch(r.cuda)}


def _names(seen: frozenset[str]) -> str:
    """CUDA's types, constants and host functions by HIP's names, which have the same meaning."""
    renames, catalog = _renames(), load_catalog()
    named = [n for n in sorted(seen & renames.keys()) if is_identifier(renames[n])]
    helpers = {row.helper for row in map(catalog.get, named) if row is not None and row.helper}
    included = "".join(f'#include "cu2port/{x}"\n' for x in sorted(helpers))
    return included + "".join(f"#define {n} {renames[n]}\n" for n in named)


def _defined(macros: Iterable[str]) -> str:
    """What a build defines, in the text: the trial's headers come before it, and have such names too."""
    pairs = (x.partition("=") for x in macros)
    return "".join(f"#define {name} {value if given else 1}\n" for name, given, value in pairs)


def _main(side: Side, kernel: Kernel, seen: frozenset[str], told: Hints) -> str:
    structs = "".join(
        dict.fromkeys(x for p, u in side.units.items() if INCLUDE_DIR not in p.parents for x in members(u, seen))
    )
    units = list(side.units.values())
    structs = "".join(definitions(units, seen)) + structs
    is_solo = not side.cuda and seen >= _SOLO
    block = "&::cu2port::solo::block" if is_solo else "nullptr"
    space = kernel.path.rpartition("::")[0]
    hip = {} if side.cuda else _renames()
    arguments, types = (re.sub(r"\w+", lambda m: hip.get(m[0], m[0]), x) for x in (kernel.arguments, kernel.overload))
    address = f"&{kernel.name}{arguments}"
    if types and not arguments:  # of a template's kernels only this one is left
        address = f"static_cast<void (*)({types})>({address})"
    pointer = f"static const auto cu2port_trial_kernel = {address};\n"  # arguments are named as the namespace has them
    if space:
        pointer = f"namespace {space} {{\n{pointer}}}\n"
    rows = [_array("unsigned", f"given{i}", map(str, row)) for i, row in enumerate(kernel.given)]
    lists = [
        _array("const char*", "names", map(json.dumps, kernel.parameters)),
        _array("dim3", "blocks", (f"dim3({x}, {y}, {z})" for x, y, z in kernel.blocks)),
        _array("unsigned", "told", map(str, told.numbers)),
        _array("cu2port_trial::cu2port_list<unsigned>", "given", (name for name, _ in rows)),
        _array("unsigned", "alike", map(str, kernel.alike)),
        _array("cu2port_trial::cu2port_variable", "globals", dict.fromkeys(listed(units, seen))),
    ]
    names, blocks, numbers, given, alike, globals_ = (name for name, _ in lists)
    arrays = "".join(text for _, text in (*rows, *lists))
    return (
        f'\n#line 1 "trial"\n#include "cu2port_trial/trial.h"\n{structs}{pointer}'
        f"#undef main\nint main(int cu2port_argc, char** cu2port_argv) {{\n{arrays}"
        f"const cu2port_trial::cu2port_spec cu2port_spec{{{json.dumps(kernel.shown)}, {names},"
        f" {json.dumps(kernel.roles)},"
        f" {blocks}, {told.axes}, {kernel.dynamic}, {numbers}, {given}, {alike}, {block}}};\n"
        f"return cu2port_trial::cu2port_main(cu2port_argc, cu2port_argv, cu2port_spec,"
        f" {space}::cu2port_trial_kernel, {globals_});\n}}\n"
    )


def _array(kind: str, name: str, values: Iterable[str]) -> tuple[str, str]:
    """What stands for an array where a list is wanted, and its declaration; nothing where it has no elements."""
    inside, name = ", ".join(values), f"cu2port_{name}"  # a plain word may be a macro of the user's
    return (name, f"{kind} const {name}[] = {{{inside}}};\n") if inside else ("{}", "")
