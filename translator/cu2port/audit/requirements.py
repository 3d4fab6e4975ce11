"""What a program asks of GPU, runtime and driver that a machine with AMD GPUs may not have, or has otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from cu2port.core.locate import Lines, readable
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

LDS_BYTES = 64 << 10  # of a workgroup, on every AMD GPU but gfx950 (160 KB)


class Requirement(NamedTuple):
    """A requirement at a place: `key` of `REQUIREMENTS`, the line, and what stands there."""

    key: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class About:
    """What is needed, what to know of it on AMD, and the names that ask for it (a regular expression)."""

    title: str
    note: str
    names: str


REQUIREMENTS = {
    "texture": About(
        "Texture units",
        "gfx90a has them; gfx942 and gfx950 have none, and reads through textures do not compile or fail there.",
        r"tex(?:1D|2D|3D|Cubemap)\w*|cuda(?:Create|Destroy)TextureObject|cudaBindTexture\w*|cuda(?:Texture|Surface)Object_t|surf\dD\w*|cuTexObject\w+",
    ),
    "dynamic-parallelism": About(
        "Kernels that launch kernels",
        "HIP has none: launch from the host, or turn the inner kernel into a device function.",
        r"cudaStreamFireAndForget|cudaStreamTailLaunch|cudaGetParameterBuffer\w*",
    ),
    "lds": About(
        "More than 64 KB of shared memory in a block",
        "AMD GPUs have 64 KB a workgroup (gfx950: 160 KB). Use smaller tiles.",
        r"cudaFuncAttributeMaxDynamicSharedMemorySize|CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    ),
    "managed": About(
        "Managed memory",
        "Pages move on a fault only with XNACK (gfx90a, gfx942, HSA_XNACK=1); else memory stays on the host, slowly.",
        r"cudaMallocManaged|__managed__|cudaMemPrefetchAsync|cudaMemAdvise|cuMemAllocManaged",
    ),
    "cooperative": About(
        "Cooperative launches",
        "Supported; the grid must fit on the GPU at once, and occupancy differs from NVIDIA's.",
        r"cudaLaunchCooperativeKernel\w*|cuLaunchCooperativeKernel\w*|this_grid|this_multi_grid",
    ),
    "cluster": About(
        "Thread block clusters, distributed shared memory",
        "No AMD GPU has them.",
        r"this_cluster|cluster_group|__cluster_dims__|cudaLaunchAttributeClusterDimension|cudaOccupancyMaxActiveClusters",
    ),
    "tensor-core": About(
        "Tensor cores through wmma",
        "wmma.hpp has the same interface and fragments of 32 threads, by vector instructions; for speed take rocWMMA.",
        r"wmma|nvcuda",
    ),
    "graphs": About(
        "Graphs", "Supported; conditional nodes and device-side launches are not.", r"cudaGraph\w+|cuGraph\w+"
    ),
    "ipc": About("Memory shared between processes", "Supported on Linux.", r"cudaIpc\w+|cuIpc\w+"),
    "peer": About(
        "Access between GPUs",
        "Needs PCIe peer-to-peer or xGMI links; ask at run time.",
        r"cudaDeviceEnablePeerAccess|cudaMemcpyPeer\w*|cuCtxEnablePeerAccess",
    ),
    "virtual-memory": About(
        "Virtual memory management",
        "Supported since ROCm 5.7 on Linux; handle types differ.",
        r"cuMem(?:AddressReserve|Create|Map|SetAccess|ExportToShareableHandle)\w*",
    ),
    "run-time-compilation": About(
        "Compilation at run time",
        "hiprtc compiles HIP: the kernel's source in its string must be converted too.",
        r"nvrtc\w+|cuModuleLoad\w*|cuLibraryLoad\w*|cuLink\w+",
    ),
    "graphics": About(
        "Sharing with OpenGL, Vulkan or Direct3D",
        "OpenGL and Vulkan work on Linux; Direct3D does not.",
        r"cudaGraphics\w+|cudaGL\w+|cuGraphics\w+|cudaImportExternal\w+|cudaEGL\w+",
    ),
    "several-gpus": About("Several GPUs through NCCL", "RCCL has the same interface.", r"nccl[A-Z]\w+"),
}
_ALL = re.compile("|".join(f"(?P<{k.replace('-', '_')}>{a.names})" for k, a in REQUIREMENTS.items()))
_SURE = re.compile(r"__|cuda|cu[A-Z]|CU_|nccl|nvrtc|nvcuda")  # no program has such names of its own
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "int": 4, "float": 4, "unsigned": 4, "double": 8, "float2": 8}
_SIZES |= {"float4": 16, "int4": 16, "double2": 16, "long": 8, "size_t": 8, "uint8_t": 1, "uint32_t": 4, "int64_t": 8}


def found_in(unit: Unit, lines: Lines) -> Iterator[Requirement]:
    """What a file requires: the first place of each name that asks for something."""
    for word, places in unit.lexed.places.items():
        key = _key(word)
        if key and (_SURE.match(word) or (not unit.owns(word) and not any(map(unit.is_member, places)))):
            yield Requirement(key, lines.place(unit.p[places[0]]).line, readable(word))
    for f in unit.functions:
        total = sum(_shared_bytes(unit, i) for i in unit.find("__shared__") if f.body[0] < i < f.body[1])
        if total > LDS_BYTES:
            where = lines.place(unit.p[f.name_at]).line
            yield Requirement("lds", where, f"{readable(f.name)}: {total // 1024} KB of static shared memory")


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> str:
    """The requirement that a word stands for, or nothing."""
    m = _ALL.fullmatch(word) if is_identifier(word) else None
    return m.lastgroup.replace("_", "-") if m is not None and m.lastgroup is not None else ""


def _shared_bytes(unit: Unit, i: int) -> int:
    """Bytes of a shared array whose type and sizes are plain; 0 where they are not."""
    k = i + 1
    while unit.tok(k) in ("volatile", "const", "unsigned", "signed"):
        k += 1
    size = _SIZES.get(unit.tok(k), 4 if unit.tok(k - 1) == "unsigned" else 0)
    while unit.tok(k) not in ("[", ";", ""):
        k += 1
    while size and unit.tok(k) == "[":
        close = unit.match[k]
        number = unit.tok(k + 1)
        macro = unit.macros.get(number)
        if macro and len(macro) == 1 and macro[0].stop - macro[0].first == 1:
            number = unit.t[macro[0].first]
        if close != k + 2 or not number.isdigit():
            return 0
        size, k = size * int(number), close + 1
    return size
