"""The header that stands for CUDA when libclang reads a file: written from the rules, no NVIDIA text in it.

It has four parts, one after the other: `shim/std.h` (a sketch of the C++ library), `shim/core.h` (CUDA's types, values
and signatures that questions turn on), `shim/libraries.h` (cub, Thrust, cooperative groups, libcu++), and a
declaration of every other name that the catalogue knows. The last part knows names and kinds only: functions take any
arguments, types convert to and from anything, and enumerators have values that mean nothing.

The text is kept in the user's cache, keyed on the files it is made from.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from cu2port.core.data import cache_dir, data_path
from cu2port.core.version import __version__
from cu2port.facts.std_headers import STD_HEADERS

_PARTS = ("std.h", "core.h", "libraries.h")
_CLASS = re.compile(
    r"(_t|iterator|vector|ptr|pointer|reference|allocator|resource|engine|distribution|tag|traits|policy|storage)$"
)
_TIME_S = 1_000_000_000
_HEAD = re.compile(rb"// cu2port shim: CUDA from byte (\d+), generated from byte (\d+)\n// headers:([^\n]*)\n")
_NAME = re.compile(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*\Z")
_NAMESPACE = re.compile(r"^namespace (\w+) \{$(.*?)^\}  // namespace \1$", re.M | re.S)
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"//[^\n]*")
_RESERVED = frozenset(
    "and or not xor bitand bitor compl new delete default class struct union enum auto this void bool char int long "
    "float double short signed unsigned const volatile static inline true false nullptr operator template typename "
    "namespace using return switch case do if else for while goto try catch throw concept requires export import "
    "module alignof alignas sizeof decltype noexcept thread_local static_assert explicit extern friend mutable public "
    "private __noinline__ __syncthreads".split()  # the last two are clang's own
)
_NOT_ENUMS = re.compile(r"(Params|Descriptor|Desc|Info|Handle|Library)(_t)?$|_st$")

# Result types by the function's name; the first pattern that fits holds. What no pattern knows returns "anything".
_RESULTS = tuple(
    (re.compile(pattern), result)
    for pattern, result in (
        (r"(cublas(Lt)?|cusparse|cudnn|nccl|nvrtc|cutensor)Get(Error|Status)(String|Name)$", "const char *"),
        (r"ncclGetLastError$|nvmlErrorString$", "const char *"),
        (r"cudnnGet(Cudart)?Version$|cublasLtGet(Cudart)?Version$|cutensorGet(Cudart)?Version$", "size_t"),
        (r"cuda[A-Z]", "cudaError_t"),
        (r"cublas(Lt|Xt|Mg)?[A-Z]", "cublasStatus_t"),
        (r"cufft[A-Z]", "cufftResult"),
        (r"curand[A-Z]", "curandStatus_t"),
        (r"cusparse[A-Z]", "cusparseStatus_t"),
        (r"cusolver[A-Z]", "cusolverStatus_t"),
        (r"cudnn[A-Z]", "cudnnStatus_t"),
        (r"cutensor[A-Z]", "cutensorStatus_t"),
        (r"nccl[A-Z]", "ncclResult_t"),
        (r"nvrtc[A-Z]", "nvrtcResult"),
        (r"nvJitLink[A-Z]", "nvJitLinkResult"),
        (r"nvml[A-Z]", "nvmlReturn_t"),
        (r"cupti[A-Z]", "CUptiResult"),
        (r"cu[A-Z]", "CUresult"),
        (r"nvtx(Range|Domain(?!Create|Resource|Register))", "int"),
        # device functions: `__TYPE2TYPE_rn`, `__fadd_rn`, `__dmul_rz`, packed integers, comparisons of halves
        (r"__\w+2float(_r[nzud])?$|__f\w+_r[nzud]$|__\w+f$", "float"),
        (r"__\w+2double(_r[nzud])?$|__d\w+_r[nzud]$", "double"),
        (r"__\w+2int(_r[nzud])?$", "int"),
        (r"__\w+2uint(_r[nzud])?$|__v\w+[24]$|__vi\w+_u\d+(x2)?$", "unsigned int"),
        (r"__vi\w+_s32\w*$", "int"),
        (r"__\w+2ll(_r[nzud])?$", "long long"),
        (r"__\w+2ull(_r[nzud])?$", "unsigned long long"),
        (r"__\w+2u?short(_r[nzud])?$", "short"),
        (r"__\w+2half(_r[nzud])?$|h(ceil|cos|exp\d*|floor|log\d*|rcp|rint|rsqrt|sin|sqrt|tanh|trunc)$", "__half"),
        (r"h2(ceil|cos|exp\d*|floor|log\d*|rcp|rint|rsqrt|sin|sqrt|tanh|trunc)$", "__half2"),
        (r"__\w+2bfloat16(_r[nzud])?$", "__nv_bfloat16"),
        (r"__h(b)?(eq|ne|lt|le|gt|ge)u?2?$", "bool"),
        (r"(l|ll)(round|rint)f?$", "long"),
        (r"[a-z]+[0-9]?d?f$|cyl_bessel_i[01]f$", "float"),  # C's convention: `f` ends what works on floats
        (r"r?norm([34]d)?$|[jy][01n]$|cyl_bessel_i[01]$|erf\w*$|(sin|cos)pi$|nan$|scalbl?n$|remquo$", "double"),
        (r"vprintf$|nvtx", "int"),
    )
)
# Enumerators whose type their name does not spell out: prefix -> type.
_ENUMS = {
    "CUDA_SUCCESS": "CUresult",
    "CUDA_ERROR_": "CUresult",
    "CUBLAS_OP_": "cublasOperation_t",
    "CUBLAS_SIDE_": "cublasSideMode_t",
    "CUDA_R_": "cudaDataType",
    "CUDA_C_": "cudaDataType",
    "CURAND_RNG_": "curandRngType_t",
    "NVML_SUCCESS": "nvmlReturn_t",
    "NVML_ERROR_": "nvmlReturn_t",
    "NVRTC_SUCCESS": "nvrtcResult",
    "NVRTC_ERROR_": "nvrtcResult",
    "ncclSuccess": "ncclResult_t",
    "CUPTI_SUCCESS": "CUptiResult",
    "CUPTI_ERROR_": "CUptiResult",
    "CU_DEVICE_ATTRIBUTE_": "CUdevice_attribute",
    "CU_MEMORYTYPE_": "CUmemorytype",
}


@dataclass(frozen=True, slots=True)
class Shim:
    """The header's text. Bytes [0, cuda) are the C++ library, [cuda, generated) CUDA by hand, the rest is generated.

    `headers`: include paths that the shim stands for. `stamp` names what the text was made from.
    """

    text: bytes
    cuda: int
    generated: int
    headers: frozenset[str]
    stamp: str


def load_shim() -> Shim:
    """The shim, from the cache if it is there and complete, else made and kept."""
    stamp = _stamp()
    path = cache_dir() / f"shim-{stamp}.h"
    try:
        text = path.read_bytes()
    except OSError:
        text = b""
    shim = parse(text, stamp)
    if shim is None:
        rules = _rules()
        text = build(_kinds(rules), (header for file in rules for header in file.get("headers", ())))
        store(path, text)
        shim = parse(text, stamp)
    assert shim is not None, "a shim that was just built has its head"
    return shim


def parse(text: bytes, stamp: str) -> Shim | None:
    """Read a shim's head; None when the text is not a whole shim (its last line says so)."""
    head = _HEAD.match(text)
    if head is None or not text.endswith(b"// end of the shim\n"):
        return None
    return Shim(text, int(head[1]), int(head[2]), frozenset(head[3].decode().split()), stamp)


def store(path: Path, data: bytes) -> bool:
    """Write a file of the cache whole or not at all. False when it cannot be written; that is no error.

    It gets the same time in every process: libclang refuses a precompiled header that is older than its source.
    """
    temporary = path.with_name(f".new-{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        os.utime(temporary, (_TIME_S, _TIME_S))
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        return False
    return True


def build(kinds: Mapping[str, str], headers: Iterable[str]) -> bytes:
    """The shim's text from names and their kinds (function, type, enumerator, macro, variable, template, namespace)."""
    parts = [_part(p) for p in _PARTS]
    hand = "".join(parts)
    code = _COMMENT.sub("", parts[1]) + parts[1]  # comments of core.h name what its macros declare
    taken = frozenset(_WORD.findall(parts[0] + code))
    spaces = {m[1]: frozenset(_WORD.findall(m[2])) for m in _NAMESPACE.finditer(parts[2])}
    macros = frozenset(re.findall(r"#define (\w+)", hand))
    generated = "\n".join((*_unqualified(kinds, taken), *_qualified(kinds, spaces, macros)))
    begin = "#pragma clang force_cuda_host_device begin\n"
    end = "\n#pragma clang force_cuda_host_device end\n// end of the shim\n"
    names = " ".join(sorted({*headers, *STD_HEADERS}))
    head = "// cu2port shim: CUDA from byte {:08d}, generated from byte {:08d}\n// headers: " + names + "\n" + begin
    size = len(head.format(0, 0).encode())
    cuda = size + len(parts[0].encode())
    text = head.format(cuda, size + len(hand.encode())) + hand + generated + end
    return text.encode()


def _unqualified(kinds: Mapping[str, str], taken: frozenset[str]) -> Iterator[str]:
    mine = {n: k for n, k in kinds.items() if "::" not in n and n not in taken and n not in _RESERVED}
    types = {n for n, k in kinds.items() if k == "type" and "::" not in n}
    values: dict[str, list[str]] = defaultdict(list)
    owners: dict[str, str] = {}  # an enumeration's flat name -> itself; `x_t` and `x_enum` are the same as `x`
    aliases: dict[str, str] = {}
    for name in sorted(t for t in types if t in mine and not _NOT_ENUMS.search(t)):
        first = owners.setdefault(re.sub(r"_(t|enum)$", "", name).replace("_", "").lower(), name)
        if first != name:
            aliases[name] = first
    for name in sorted(n for n, k in mine.items() if k in ("enumerator", "macro")):
        owner = _enum_of(name, mine[name], owners, types)
        values[aliases.get(owner, owner)].append(name)
    loose = [v for t, vs in values.items() if t not in mine or len(vs) < 2 for v in vs]
    yield "enum { " + ", ".join(loose) + " };"
    for name in sorted(t for t in types if t in mine):
        first = aliases.get(name, name)
        if len(values.get(first, ())) < 2:
            yield f"typedef __cu2port_any {name};"
        elif first == name:
            yield f"enum {name} {{ {', '.join(values[name])} }};"
        else:
            yield f"typedef {first} {name};"
    for name in sorted(mine):
        match mine[name]:
            case "function":
                yield f"{_result(name, types)} {name}(...);"
            case "template":
                yield f"template <class T = __cu2port_any, class... A> T {name}(A &&...);"
            case "variable":
                yield f"extern const __cu2port_any {name};"


def _enum_of(name: str, kind: str, owners: Mapping[str, str], types: set[str]) -> str:
    """The enumeration an enumerator belongs to, as far as its name tells; "" = none."""
    if kind == "macro":
        return ""
    for prefix, owner in _ENUMS.items():
        if name.startswith(prefix) and owner in types:
            return owner
    flat = name.replace("_", "").lower()
    return owners.get(next((flat[:n] for n in range(len(flat), 5, -1) if flat[:n] in owners), ""), "")


def _result(name: str, types: set[str]) -> str:
    for pattern, result in _RESULTS:
        if pattern.match(name):
            named = result[-1].isalnum() and result.startswith(("cu", "nv", "nccl", "CU")) and result != "cudaError_t"
            return result if not named or result in types else "__cu2port_any"
    return "__cu2port_any"


def _qualified(kinds: Mapping[str, str], spaces: Mapping[str, frozenset[str]], macros: frozenset[str]) -> Iterator[str]:
    namespaces = {n for n, k in kinds.items() if k == "namespace"} | set(spaces)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in kinds:
        space, _, last = name.rpartition("::")
        root = space.partition("::")[0]
        if space in namespaces and root in spaces and name not in namespaces and last not in spaces[root]:
            groups[space].append(last)
    inherited = frozenset(_WORD.findall(_part("std.h")))
    for space in sorted(groups):
        yield f"namespace {space} {{"
        for last in sorted(groups[space]):
            if last in macros or last in _RESERVED or (space == "cuda::std" and last in inherited):
                continue
            yield _shapeless(last, kinds[f"{space}::{last}"])
        yield "}"


def _shapeless(name: str, kind: str) -> str:
    """A name of which only the kind is known, in a namespace; class or function template, the lists do not say."""
    match kind:
        case "enumerator" | "macro":
            return f"enum {{ {name} }};"
        case "variable":
            return f"extern const __cu2port_any {name};"
        case "type":
            return f"typedef __cu2port_any {name};"
        case "template" if name[0].isupper() or _CLASS.search(name):
            return f"template <class... T> using {name} = __cu2port_any;"
    return f"template <class... T> __cu2port_any {name}(T &&...);"


def _kinds(rules: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Every CUDA name with its kind: the lists, and (older) names that only a rule knows, guessed by their shape."""
    kinds: dict[str, str] = {}
    for f in sorted((data_path("rules") / "names").glob("*.txt")):
        for line in f.read_text(encoding="utf-8").splitlines():
            name, _, kind = line.partition(" ")
            if _NAME.match(name):
                kinds.setdefault(name, kind)
    for file in rules:
        names = [*file.get("rename", {}), *(row["cuda"] for row in file.get("change", ()))]
        for row in file.get("unsupported", ()):
            names += [row["cuda"]] if isinstance(row["cuda"], str) else row["cuda"]
        for name in names:
            if name not in kinds and _NAME.match(name):
                kinds[name] = _guess(name)
    return kinds


def _guess(name: str) -> str:
    last = name.rpartition("::")[2]
    if re.search(r"_(t|st|enum|v\d)$|(Params|Desc|Kind|Mode|Info)$", last):
        return "type"
    values = "Error|DevAttr|Limit|Graph\\w+Type|HostAlloc|HostRegister|ResView|MemLocation|MemAllocation"
    if re.match(rf"(CU|NV|NCCL)[A-Z_]|cuda({values})[A-Z]", last):
        return "enumerator"
    return "template" if "::" in name else "function"


def _rules() -> list[dict[str, Any]]:
    """The rule files as they are: checking them is the catalogue's affair, and a shim can do without a broken one."""
    import tomllib  # only when the shim is made, which is once

    rules = []
    for f in sorted(data_path("rules").glob("*.toml")):
        try:
            rules.append(tomllib.loads(f.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
    return rules


def _part(name: str) -> str:
    return (files("cu2port") / "shim" / name).read_text(encoding="utf-8")


def _stamp() -> str:
    """What the shim is made from: sizes and times of the rules and names, content of the parts by hand."""
    rules = data_path("rules")
    digest = hashlib.sha256(__version__.encode())
    for f in (Path(__file__), *sorted(rules.glob("*.toml")), *sorted((rules / "names").glob("*.txt"))):
        st = f.stat()
        digest.update(f"{f.name} {st.st_size} {st.st_mtime_ns}\n".encode())
    for part in _PARTS:
        digest.update(_part(part).encode())
    return digest.hexdigest()[:20]
