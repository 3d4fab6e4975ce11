"""`--warp solo`: which functions, macros and launches of a file belong to kernels with one warp on each wavefront."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from cu2port.core.late import dataclass, regex
from cu2port.core.model import Edit, Side, Span, insert, replace
from cu2port.facts.structure import Function, Launch, Macro
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes

HEADER = "solo.hpp"
SPACE = "cu2port::solo::"
INDEX = {"threadIdx": SPACE + "thread_idx()", "blockDim": SPACE + "block_dim()"}
GROUPS = "solo_groups.hpp"
MOST = 1024  # threads of a block
#: Cooperative groups whose threads are counted by `solo_groups.hpp`.
GROUP_NAMES = ("this_thread_block", "thread_block", "this_grid", "grid_group")
_TID = regex(r"%(?:n?tid|warpid)\b")
_WORD = regex(r"\w+\Z")


@dataclass(frozen=True, slots=True)
class Solo:
    """What of a file is solo. `whole`: everything; else the kernels asked for, and what they reach in this file.

    `shared`: functions that read an index and are reached by other kernels as well.
    """

    whole: bool
    kernels: tuple[Function, ...]
    functions: tuple[Function, ...]
    shared: tuple[Function, ...]
    names: frozenset[str]

    def launches(self, unit: Unit) -> Iterator[Launch]:
        """The launches of solo kernels."""
        for launch in unit.launches:
            if self.whole or not self.names.isdisjoint(unit.t[launch.callee : launch.open]):
                yield launch


def solo(unit: Unit) -> Solo | None:
    """What of a file is solo; None when nothing is asked for."""
    names = frozenset(name for name, mode in unit.options.kernels if mode == "solo")
    whole = unit.options.warp == "solo"
    if not whole and not names:
        return None
    mode = modes(unit)
    kernels = [f for f in unit.functions if "__global__" in f.sides]
    asked = tuple(f for f in kernels if (whole or f.name in names) and (not whole or mode(f.name_at) == "solo"))
    if whole:
        return Solo(True, asked, tuple(f for f in unit.functions if _is_device(unit, f)), (), names)
    inside = _reached(unit, asked)
    others = _reached(unit, tuple(f for f in kernels if f.name not in names))
    reads = [f for f in inside if _reads(unit, f)]
    shared = tuple(f for f in reads if f in others)
    return Solo(False, asked, tuple(f for f in inside if f not in shared), shared, names)


def _reads(unit: Unit, f: Function) -> bool:
    """Whether a function asks which thread this is."""
    if not INDEX.keys().isdisjoint(unit.t[f.body[0] : f.body[1]]):
        return True
    return any(f.body[0] < k < f.body[1] and _TID.search(unit.source(a, b + 1)) for k, a, b in unit.asms)


def _is_device(unit: Unit, f: Function) -> bool:
    """Whether a function runs on the GPU: it says so, or macros may say so and it asks which thread this is."""
    return bool(f.sides & {"__global__", "__device__"}) or (
        not f.sides and not {"threadIdx", "blockIdx"}.isdisjoint(unit.t[f.body[0] : f.body[1]])
    )


def _reached(unit: Unit, start: tuple[Function, ...]) -> tuple[Function, ...]:
    """Functions of the file that some functions call, by name, and they themselves."""
    named: dict[str, list[Function]] = {}
    for f in unit.functions:
        named.setdefault(f.name, []).append(f)
    found = dict.fromkeys(start)
    todo = list(start)
    while todo:
        f = todo.pop()
        for word in set(unit.t[f.body[0] : f.body[1]]) & named.keys():
            for g in named[word]:
                if g not in found and "__global__" not in g.sides:
                    found[g] = None
                    todo.append(g)
    return tuple(found)


def is_entered(unit: Unit, f: Function) -> bool:
    """Whether a kernel sends its idle lanes home already."""
    return "solo" in unit.t[f.body[0] : f.body[0] + 10] and "idle" in unit.t[f.body[0] : f.body[0] + 12]


def entry(unit: Unit, f: Function) -> Edit:
    """The first statement of a solo kernel."""
    opener = f.body[0]
    at, after = unit.end(opener), unit.p[opener + 1]
    gap = unit.text[at:after]
    line = f"if ({SPACE}idle()) return;"
    if "\n" not in gap or unit.in_directive(opener) is not None:
        return insert(at, f" {line}", Side.LEFT)
    indent = gap[gap.rfind("\n") + 1 :] if unit.t[opener + 1] != "}" else "    "
    newline = "\r\n" if "\r\n" in gap else "\n"
    return insert(at, f"{newline}{indent}{line}", Side.LEFT)


def bounds(unit: Unit, f: Function) -> tuple[Edit, ...]:
    """Twice the threads in `__launch_bounds__`."""
    for i in range(f.first, f.name_at):
        call = unit.call(i) if unit.t[i] == "__launch_bounds__" else None
        if call is not None and call.args:
            span = call.args[0]
            text = unit.text[span.start : span.end]
            if text.isdecimal():
                return (replace(span.start, span.end, str(max(int(text), min(MOST, 2 * int(text))))),)
            if _WORD.match(text):
                return (insert(span.start, "2 * "),)
            return (insert(span.start, "2 * ("), insert(span.end, ")", Side.LEFT))
    return ()


def indices(unit: Unit, first: int, stop: int) -> Iterator[int]:
    """The tokens `threadIdx` and `blockDim` in a range of tokens that are CUDA's."""
    for i in unit.find(*INDEX):
        if first <= i < stop and not unit.is_member(i) and unit.tok(i - 1) != "::" and not unit.declares(i):
            yield i


def groups(unit: Unit, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """Names of the block's and the grid's groups in a range of tokens, with their namespace: first and last token."""
    if unit.words.isdisjoint(GROUP_NAMES):
        return
    used = any("cooperative_groups" in unit.t[i + 1 : i + 3] for i in unit.find("using"))
    for i in unit.find(*GROUP_NAMES):
        if not first <= i < stop or unit.is_member(i) or (not used and unit.tok(i - 1) != "::"):
            continue
        start = unit.qualifier(i)
        parent = unit.tok(start - 1) == "," and "thread_block_tile" in unit.t[start - 4 : start - 2]
        if not parent and not (unit.t[i - 2] == "solo" and start < i):
            yield start, i


def counted_anew(unit: Unit, what: Solo | None, start: int, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits at an offset that write of threads (PTX as C++, a whole `threadIdx`), with threads counted as the kernel
    counts them."""
    if what is None:
        return edits
    i = unit.lexed.at(start)
    if not what.whole and not any(f.first <= i < f.body[1] for f in what.functions):
        return edits
    return tuple(
        dataclasses.replace(e, parts=tuple(p if isinstance(p, Span) else _recounted(p) for p in e.parts)) for e in edits
    )


def _recounted(text: str) -> str:
    for old, new in (*INDEX.items(), ("cu2port::ptx::warpid()", SPACE + "warp_id()")):
        text = text.replace(old, new)
    return text


def is_device_macro(unit: Unit, m: Macro) -> bool:
    """Whether a macro's body refers to this thread."""
    return not {"threadIdx", "blockIdx"}.isdisjoint(unit.t[m.first : m.stop])
