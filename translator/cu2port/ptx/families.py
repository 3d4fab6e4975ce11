"""Why instructions without a row in the instruction table stay, and what to do instead, by family."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Opcodes that share a reason. `kind`: matrix, copy, mbarrier, hopper (sm_90 and later), texture, host, other."""

    pattern: re.Pattern[str]
    kind: str
    why: str
    instead: str


def _family(pattern: str, kind: str, why: str, instead: str) -> Family:
    return Family(re.compile(rf"(?:{pattern})(?:\.|\Z)"), kind, why, instead)


#: The first that matches holds.
FAMILIES: tuple[Family, ...] = (
    _family(
        r"wgmma|tcgen05|setmaxnreg",
        "hopper",
        "it drives tensor cores of NVIDIA's GPUs since Hopper, which no AMD GPU has",
        "call hipBLASLt, or AITER for attention; else write the product with Composable Kernel or rocWMMA",
    ),
    _family(
        r"ldmatrix|stmatrix|movmatrix",
        "matrix",
        "it is no form whose layout the manual shows",
        "load or store the elements one by one, each lane its own",
    ),
    _family(
        r"mma[\w.:]*\.block_scale[\w.:]*",
        "matrix",
        "it multiplies blocks of A and B by scales, which only gfx950 does, with matrices laid out in another way",
        "call hipBLASLt, which has such formats on gfx950, or scale the operands and use a dense `mma`",
    ),
    _family(
        r"mma(?:\.[\w:]+)*?\.sp(?:::\w+)?[\w.:]*",
        "matrix",
        "which lanes hold its metadata is shown in NVIDIA's manual by figures only, and CUTLASS has no such product",
        "take the shape with twice as many columns, or multiply by the dense matrix with zeros",
    ),
    _family(
        r"mma",
        "matrix",
        "`mma` has no such shape with these types",
        "take a shape and types of docs/ptx.md's table",
    ),
    _family(
        r"wmma",
        "matrix",
        "the manual has no `wmma` of such a shape with these types and layouts",
        "write the statement in a form that the manual has for this shape and these types",
    ),
    _family(
        r"multimem\.cp|cp\.(?:reduce\.)?async\.bulk|tensormap|cp\.async\.bulk|fence\.proxy|st\.async|red\.async|st\.bulk",
        "hopper",
        "it belongs to the tensor memory accelerator of NVIDIA's GPUs since Hopper, which no AMD GPU has",
        "copy through registers: load, store to shared memory, __syncthreads()",
    ),
    _family(
        r"cp\.async\.mbarrier|cp\.async\.arrive",
        "mbarrier",
        "AMD GPUs have no barrier objects in shared memory at which copies could arrive",
        "wait for the copies with cp.async.wait_all, and use __syncthreads() for the barrier",
    ),
    _family(
        r"cp\.async",
        "copy",
        "it is no form of cp.async that the manual has",
        "copy through registers: load, and store to shared memory",
    ),
    _family(
        r"mbarrier|fence\.mbarrier_init|clusterlaunchcontrol",
        "mbarrier",
        "AMD GPUs have no barrier objects in shared memory",
        "use __syncthreads(), or counters in shared memory that one thread of each wavefront waits for",
    ),
    _family(
        r"multimem",
        "hopper",
        "it reads or writes the memory of several GPUs at once, in NVIDIA's switch between them",
        "call RCCL for the reduction or the broadcast, or load from each GPU's memory and add",
    ),
    _family(
        r"barrier\.cluster|mapa|getctarank|setctarank|griddepcontrol|elect|red\.async|fabric",
        "hopper",
        "clusters of blocks exist on NVIDIA's GPUs since Hopper only",
        "let each block work for itself, and reduce through global memory",
    ),
    _family(
        r"tex|tld4|txq|istypep|suld|sust|sured|suq",
        "texture",
        "textures and surfaces are objects of another kind in HIP",
        "use tex1Dfetch, tex2D and similar functions with a hipTextureObject_t",
    ),
    _family(
        r"atom[\w.:]*\.b128",
        "hopper",
        "it changes 16 bytes at once, and AMD's atomics change 8 at most",
        "keep what must change together in 8 bytes, or change it under a lock",
    ),
    _family(
        r"(?:atom|red)[\w.:]*\.noftz[\w.:]*",
        "hopper",
        "it takes the least or greatest of halves in memory, which no AMD atomic does",
        "loop over atom.cas.b32 with min.f16x2 or max.f16x2 of the old value and yours",
    ),
    _family(
        r"cvt\.rs",
        "hopper",
        "it rounds by random bits, whose places NVIDIA's manual shows in figures only",
        "convert with cvt.rn, or add the random bits to the float's own below the last bit kept, then cut",
    ),
    _family(
        r"cvt\.[\w.:]*(?:scaled::n2::ue8m0|s2f6x2)[\w.]*",
        "hopper",
        "it scales while it converts, which no AMD instruction does",
        "multiply by the scale, then convert",
    ),
    _family(
        r"fma\.rn\.oob",
        "hopper",
        "it tells the NaN of tensor copies beyond an array from others, and AMD GPUs have no such copies",
        "use fma.rn, and let elements outside of the array be zero where they are loaded",
    ),
    _family(
        r"(?:add|sub|mul|fma|min|max)[\w.:]*\.(?:e4m3x4|e5m2x4|e3m2x4|e2m3x4|e2m1x4)",
        "hopper",
        "it computes on four small floats at once, on GPUs newer than any that its rounding was compared with",
        "convert to f16x2 with cvt, compute, and convert back with cvt.rn.satfinite",
    ),
    _family(
        r"applypriority\.async\.bulk[\w.:]*",
        "hopper",
        "it asks the tensor memory accelerator for a priority in a cache, and AMD GPUs have neither",
        "leave it out, it changes no result; what waits for its group or barrier has nothing to wait for",
    ),
    _family(
        r"(?:addc|subc|madc\.lo)\.[su]16|fma\.r[zmp][\w.]*\.bf16(?:x2)?|rcp\.r[nzmp]\.ftz\.f64|cvt\.(?:b?f16\.bf16|bf16\.f16)",
        "other",
        "NVIDIA's assembler takes it, but no manual says what it computes",
        "write a form of docs/ptx-instructions.md: 32 bits for a carry, a rounding for `cvt`, `.rn` for `fma`",
    ),
    _family(
        r"cvta[\w.:]*\.u32",
        "other",
        "it makes or takes generic addresses of 32 bits, and those of AMD GPUs have 64",
        "use cvta with .u64, in code made for addresses of 64 bits (`nvcc -m64`)",
    ),
    _family(
        r"isspacep\.(?:const|param[\w:]*)",
        "other",
        "constants and parameters are in global memory on AMD GPUs, so that an address does not tell",
        "let the caller say which it is",
    ),
    _family(
        r"bar(?:rier)?\.(?:sync|arrive|red)|bar",
        "other",
        "HIP has one barrier a block, for all its threads",
        "let all threads of the block meet in __syncthreads(), or give each group a block of its own",
    ),
)
_NEWER = re.compile(r"\.(?:cluster|multicast|shared::cluster|async|proxy)\b|mbarrier|::cluster")


def family(opcode: str) -> Family | None:
    """The family of an opcode, None if it has none."""
    return next((f for f in FAMILIES if f.pattern.match(opcode)), None)


def kind(opcode: str) -> str:
    """The kind of an opcode, "" for the plain ones."""
    found = family(opcode)
    if found is not None:
        return found.kind
    return "hopper" if _NEWER.search(opcode) else ""
