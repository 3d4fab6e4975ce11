"""The words that every part of cu2port speaks: edits, findings, options, results.

Texts are the bytes of a file decoded as Latin-1, so that an index into the text *is* a byte offset and
what is not edited comes out byte for byte. Lines and columns for people are made from offsets in `report`.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum, Flag, IntEnum, auto
from typing import Literal

from cu2port.core.late import dataclass


class Trust(IntEnum):
    """How far an edit may be trusted; ordered, so that `trust >= options.trust` reads as it says."""

    MANUAL = 0
    REVIEW = 1
    EXACT = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Outcome(Enum):
    """What happened to a finding: its edits are in the output, manual work is needed, or it lost an overlap."""

    APPLIED = "applied"
    MANUAL = "manual"
    CONFLICT = "conflict"


class InHip(Flag):
    """What a finding means in code that is HIP's own."""

    PLAIN = 0
    OWN = auto()  # HIP's own way: the code means a wavefront, as its author knows
    COUNT = auto()  # it counts 32 lanes: wrong only where lanes of a whole wavefront act
    WIDE = auto()  # it acts on a whole wavefront: wrong in code whose warps have 32 lanes


class Side(IntEnum):
    """Which neighbour an insertion belongs to; decides the order of insertions at one offset."""

    LEFT = 0  # closes what stands before it: `)` after an argument
    RIGHT = 1  # opens what comes after it: `HIP_SYMBOL(` before an argument


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Bytes [start, end) of the original text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace bytes [start, end) by `parts`: literal text, and spans of the original that are kept.

    A kept span must be in [start, end); other edits inside it still apply. `start == end` is an insertion.
    """

    start: int
    end: int
    parts: tuple[str | Span, ...]
    side: Side = field(default=Side.RIGHT, hash=False)


def replace(start: int, end: int, text: str) -> Edit:
    """Replace bytes [start, end) by text."""
    return Edit(start, end, (text,) if text else ())


def insert(at: int, text: str, side: Side = Side.RIGHT) -> Edit:
    """Insert text before offset `at`."""
    return Edit(at, at, (text,), side)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a port must deal with, and the edits that deal with it (none: manual work is needed).

    `start`, `end`: the bytes it refers to. `needs`: HIP headers that the edits use, as written between the
    brackets of an include. `helpers`: helper headers that the output needs (`warp.hpp`).
    `effects`: target -> what happens there if nothing is done (`compile-error`, `wrong-result`, `hang`, `slower`,
    `none`). `in_hip`: what it means in HIP's own code. `operation`: the byte where the lane operation begins that it is
    about, -1 where there is none or another finding has it. `subject`: what it says where the message has more: a name
    of its own, or advice. Findings of one file with one subject may be shown as one; "" stands for the message.
    """

    code: str
    name: str
    severity: Severity = field(hash=False)  # hashes of enumerations are slow, and places tell findings apart
    message: str
    start: int
    end: int
    edits: tuple[Edit, ...] = field(default=(), hash=False)
    trust: Trust = field(default=Trust.EXACT, hash=False)
    why: tuple[str, ...] = field(default=(), hash=False)
    cuda: str = ""
    hip: str = ""
    effects: tuple[tuple[str, str], ...] = field(default=(), hash=False)
    needs: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    in_hip: InHip = field(default=InHip.PLAIN, hash=False)
    operation: int = -1
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding with its outcome."""

    finding: Finding
    outcome: Outcome

    @property
    def open(self) -> bool:
        """Whether a person still has to act: this is what exit code 1 means."""
        return self.outcome is not Outcome.APPLIED and self.finding.severity is not Severity.INFO


@dataclass(frozen=True, slots=True)
class Options:
    """How to translate. Everything that changes the output stands here, so that a cache can key on it."""

    rocm: tuple[int, int] = (7, 1)
    trust: Trust = Trust.REVIEW
    launch: str = "keep"  # or "ggl": write hipLaunchKernelGGL
    warp: str = "logical"  # CUDA's warps of 32 lanes are kept; or "flag": warp code is reported, not rewritten
    kernels: tuple[tuple[str, str], ...] = ()  # (kernel, mode): other modes of `warp` for single kernels
    archs: tuple[str, ...] = ()  # the GPUs that count (`gfx942`): what only hits others is information
    rename: str = ""  # ".hip": .cu files and their includes get this suffix
    skip_inactive: bool = False
    comments: bool = False
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()  # NAME or NAME=VALUE, as after -D
    use_clang: bool = True
    rules: tuple[tuple[str, str], ...] = ()  # the project's own rule files: name for messages, text
    ptx: str = "guard"  # what happens to PTX without a counterpart; or "trap": a trap with its text
    ptx_fp: str = "exact"  # or "fast": no flushing of denormals, the hardware's approximations
    cuda_arch: int = 0  # the `__CUDA_ARCH__` as which HIP compiles every file; 0: each file tells

    @property
    def modes(self) -> frozenset[str]:
        """What is asked for in words: how warps are ported, in all kernels or in one, how launches are written."""
        comments = ("comments",) if self.comments else ()
        return frozenset((self.warp, self.launch, *(mode for _, mode in self.kernels), *comments))


@dataclass(frozen=True, slots=True)
class Project:
    """What is known from outside the file: facts of the tree it belongs to.

    `declared`: names with their namespaces and classes (`n::A::f`) that a file which this one includes declares itself
    (not CUDA's although they look so).
    `renamed`: include paths, as written, that get a new name with `--rename`; `own`: those that name files of the tree,
    and `folder/*` of a library without a counterpart that the tree itself has.
    `helper_prefix`: how the file reaches the helper headers (`../cu2port/`). `keeps_warps`: the tree holds headers
    of ours that keep CUDA's warps of 32 lanes, so it was converted. `renamed_only`: a file that includes HIP's headers
    is CUDA code with HIP's names, and its warps have 32 lanes; only its branches for HIP are HIP's own.
    `side`: what the tree says the file is, see `project/sides.py`; "": nothing, so that the file speaks for itself.
    `hip_macros`: macros that the tree or its build defines for HIP alone. `carry`: macros of included files that touch
    PTX's carry flag, see `facts/carry_definitions.py`. `products`: functions of included files that multiply by `mma`,
    see `facts/product_functions.py`. `side_macros`: macros of included files for execution space specifiers, see
    `facts/side_macros.py`; `prefix_macros`: those that make CUDA names, see `facts/prefix_macros.py`;
    `asm_keywords`: those that stand for `asm`, see `facts/asm_keywords.py`; `text_macros`: those that are parts of its
    texts, see `facts/text_macros.py`.
    `member_sides`: functions that included files declare, members or not, with their execution spaces, see
    `facts/member_sides.py`. `aliases`: names for namespaces of CUDA's libraries in included files, see
    `facts/namespace_aliases.py`.
    `computing`, `numbers`, `by_value`: functions of included files that only compute, names of numbers, and functions
    that change nothing that they are given, as far as the file has the names, if it multiplies,
    see `project/computing.py`. `as_cuda`: the build has nvcc compile the file as CUDA, whatever its name; `as_hip`: the
    converted build has HIP's compiler compile it so. `linked`: a link in the tree gives it a name of CUDA's too, so
    that both compilers read it.
    """

    declared: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    helper_prefix: str = "cu2port/"
    keeps_warps: bool = False
    renamed_only: bool = False
    side: Literal["", "cuda", "hip", "both", "neither", "kept"] = ""
    hip_macros: frozenset[str] = frozenset()
    carry: frozenset[str] = frozenset()
    side_macros: frozenset[str] = frozenset()
    prefix_macros: frozenset[str] = frozenset()
    asm_keywords: frozenset[str] = frozenset()
    text_macros: frozenset[str] = frozenset()
    member_sides: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    products: frozenset[str] = frozenset()
    computing: frozenset[str] = frozenset()
    numbers: frozenset[tuple[str, int]] = frozenset()
    by_value: frozenset[str] = frozenset()
    as_cuda: bool = False
    as_hip: bool = False
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The translation of one file.

    `status`: `converted` (changed), `copied` (nothing to do), `partial` (done without libclang's answers although they
    were needed), `failed` (output is the input). `seen`: CUDA names in the file; `left`: those no edit dealt with.
    `asked`: whether libclang was asked.
    """

    path: str
    data: bytes
    output: bytes
    findings: tuple[Judged, ...] = ()
    status: str = "copied"
    seen: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=())
    asked: bool = False
