"""Make the name lists in rules/names from the headers in NVIDIA's wheels.

    python tools/names.py CACHE [--out rules/names] [--list NAME]...

CACHE keeps the headers (CACHE/headers/WHEEL/...). A wheel whose headers are there already is not fetched again;
a fetched wheel is deleted as soon as its headers are out, since the libraries beside them are gigabytes.
Only names and what kind of thing they name are written; no text of a header is kept.

The parser knows C declarations, not C++: it looks at every #if branch, skips bodies, and takes the name that a
declaration gives. That is all that lists of public names need, and it works without CUDA's compiler.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Versions are pinned so that a second run gives the same lists.
WHEELS = (
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-cuda-nvrtc==13.5.37",
    "nvidia-cuda-profiler-api==13.5.25",
    "nvidia-cuda-cccl==13.3.5.0.6",
    "nvidia-nvtx==13.5.25",
    "nvidia-nvml-dev==13.5.37",
    "nvidia-cuda-cupti==13.5.25",
    "nvidia-nvjitlink==13.5.37",
    "nvidia-cublas",
    "nvidia-cufft==12.5.0.14",
    "nvidia-curand==10.4.5.25",
    "nvidia-cusparse",
    "nvidia-cusolver",
    "nvidia-cudnn-cu13",
    "nvidia-nccl-cu13",
    "cutensor-cu13",
)

HEADER_SUFFIXES = (".h", ".hpp", ".cuh", ".inl")


@dataclass(frozen=True, slots=True)
class NameList:
    """Where the names of one list stand, and which of them are public.

    `headers` are glob patterns below a wheel's include folder. `keep` must match a name in full, `drop` must not.
    `scope` is the C++ namespace that the names are written with; "" is C.
    """

    wheels: tuple[str, ...]
    headers: tuple[str, ...]
    keep: str
    drop: str = r"(?!)"
    scope: str = ""
    macros: str = r"(?!)"


@dataclass(frozen=True, order=True, slots=True)
class Name:
    name: str
    kind: str


# --- reading declarations ------------------------------------------------------------------------------------------

_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)([^\n]*)$", re.M)
_TOKEN = re.compile(r"[A-Za-z_]\w*|::|\d[\w.]*|[^\s\w]")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_NOT_A_NAME = frozenset(
    "__attribute__ __declspec __align__ __builtin_align__ alignas decltype noexcept requires explicit "
    "__CUDA_ALIGN__ defined sizeof __launch_bounds__ __restrict__ operator return if for while switch "
    "_CCCL_ALIGNAS _CCCL_DEPRECATED_BECAUSE _CCCL_REQUIRES _CCCL_TEMPLATE _CCCL_AND enable_if_t void int "
    "NV_IF_TARGET __nv_noinline__ asm __asm__ static_assert _CCCL_DECLSPEC_EMPTY_BASES".split()
)


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    return '""' if text.startswith('"') else " " + "\n" * text.count("\n")


def declarations(text: str, macros_too: bool = True) -> Iterator[Name]:
    """Every name that `text`, a header, declares at namespace scope, in order; names may repeat.

    Kinds: function, type, template, enumerator, macro, namespace, variable. C++ names come qualified.
    """
    text = _COMMENT.sub(_blank, text.replace("\\\r\n", " ").replace("\\\n", " ").replace("\r", ""))
    if macros_too:
        for match in _DIRECTIVE.finditer(text):
            found = re.match(r"\s*([A-Za-z_]\w*)(.*)", match.group(2)) if match.group(1) == "define" else None
            if found and found.group(2).strip():
                yield Name(found.group(1), _macro_kind(found.group(1), found.group(2)))
    tokens = _TOKEN.findall(_name_scopes("\n".join(_balanced(text.split("\n")))))
    yield from _scope(tokens, 0, len(tokens), "")


def _macro_kind(name: str, body: str) -> str:
    """`cuMemAlloc` is a macro only to carry its version; `cudaHostAllocDefault` really is one."""
    calls = body.startswith("(") or re.match(rf"{name}_\w+\s*$", body.strip())
    return "function" if calls and name[:1].islower() else "macro"


def _balanced(lines: list[str]) -> Iterator[str]:
    """The lines without directives; a later branch of an #if whose first branch opens a brace is left out.

    Both branches then open the same brace, and counting it twice would swallow the rest of the file.
    """
    nets: list[int] = []
    later: list[bool] = []
    for line in lines:
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive is None:
            if not any(later[k] and nets[k] for k in range(len(nets))):
                for k in range(len(nets)):
                    nets[k] += 0 if later[k] else line.count("{") - line.count("}")
                yield line
        elif directive.group(1).startswith("if"):
            nets.append(0)
            later.append(False)
        elif directive.group(1) in ("else", "elif") and later:
            later[-1] = True
        elif directive.group(1) == "endif" and later:
            nets.pop()
            later.pop()


def _name_scopes(text: str) -> str:
    """`extern "C" {` loses its brace, and every macro that opens or closes a namespace becomes one."""
    text = re.sub(r'extern\s*""\s*\{', " ", text)
    text = re.sub(r"\b__DEF_IF_HOST\b", ";", text)
    text = re.sub(r"\b_CG_BEGIN_NAMESPACE\b", "namespace cooperative_groups {", text)
    text = re.sub(r"\b_CG_END_NAMESPACE\b", "}", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_STD\b|\b_LIBCUDACXX_BEGIN_NAMESPACE_STD\b", "namespace cuda::std {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_(?:CUDA_)?STD_NOVERSION\b", "namespace cuda::std {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_DEVICE\b", "namespace cuda::device {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_DRIVER\b", "namespace cuda::__driver {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_MR\b", "namespace cuda::mr {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_PTX\b", "namespace cuda::ptx {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_EXECUTION\b", "namespace cuda::execution {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_(?:CUDA_)?STD_(\w+)\b", r"namespace cuda::std::__\1 {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_STD_EXECUTION\b", "namespace cuda::std::execution {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA\b", "namespace cuda {", text)
    text = re.sub(r"\bTHRUST_NAMESPACE_BEGIN\b", "namespace thrust {", text)
    text = re.sub(r"\bCUB_NAMESPACE_BEGIN\b", "namespace cub {", text)
    return re.sub(r"\b(?:_CCCL_END_NAMESPACE_\w+|_LIBCUDACXX_END_NAMESPACE_\w+|THRUST_NAMESPACE_END|CUB_NAMESPACE_END)\b", "}", text)


def _scope(tokens: list[str], i: int, end: int, scope: str) -> Iterator[Name]:
    start = i
    while i < end:
        token = tokens[i]
        if token in "([":
            i = _skip(tokens, i, end)
        elif token == "{":
            close = _skip(tokens, i, end)
            head = tokens[start:i]
            inner = _namespace(head)
            if inner is not None:
                path = f"{scope}::{inner}" if scope and inner else scope or inner
                if inner:
                    yield Name(path, "namespace")
                yield from _scope(tokens, i + 1, close - 1, path)
                start = close
            elif "enum" in head:
                yield from _enumerators(tokens[i + 1 : close - 1], scope, head)
            elif not _is_aggregate(head) and "=" not in _top_level(head):
                yield from _declared(head, scope)  # a function with a body: no `;` follows
                start = close
            i = close
        elif token == ";":
            yield from _declared(tokens[start:i], scope)
            i += 1
            start = i
        elif token == "}":
            i += 1
            start = i
        else:
            i += 1


def _skip(tokens: list[str], i: int, end: int) -> int:
    """The index after the bracket that closes the one at `i`."""
    depth = 0
    while i < end:
        if tokens[i] in "([{":
            depth += 1
        elif tokens[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return end


def _namespace(head: list[str]) -> str | None:
    if "namespace" not in head:
        return None
    at = head.index("namespace")
    if head[at - 1 : at] == ["inline"] or head[at - 1 : at] == ["using"] or head[at + 1 :] == ["std"]:
        return ""  # `std` at file scope holds what C code sees without it
    return "".join(t for t in head[at + 1 :] if _WORD.match(t) or t == "::")


def _is_aggregate(head: list[str]) -> bool:
    plain = _outside_angles(_strip_template(head))
    for at, token in enumerate(plain):
        if token in ("struct", "class", "union"):
            return "(" not in plain[at:] or plain[at + 1 : at + 2] and plain[at + 1] in _NOT_A_NAME
    return False


def _top_level(head: list[str]) -> list[str]:
    """`head` without what stands in brackets or in a template's parameter list."""
    out, depth = [], 0
    for token in _outside_angles(_strip_template(head)):
        depth += (token in "([") - (token in ")]")
        if not depth:
            out.append(token)
    return out


def _enumerators(body: list[str], scope: str, head: list[str]) -> Iterator[Name]:
    scoped = "class" in head or "struct" in head
    prefix = f"{scope}::" if scope else ""
    if scoped:
        return
    depth, fresh = 0, True
    for token in body:
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "," and depth == 0:
            fresh = True
        elif fresh and depth == 0 and _WORD.match(token):
            yield Name(prefix + token, "enumerator")
            fresh = False


def _strip_template(tokens: list[str]) -> list[str]:
    while tokens[:2] == ["template", "<"]:
        depth, i = 0, 1
        while i < len(tokens):
            depth += (tokens[i] == "<") - (tokens[i] == ">")
            i += 1
            if depth == 0:
                break
        tokens = tokens[i:]
    return tokens


def _outside_angles(tokens: list[str]) -> list[str]:
    out, depth = [], 0
    for at, token in enumerate(tokens):
        if token == "<" and at and _WORD.match(tokens[at - 1]):
            depth += 1
        elif token == ">" and depth:
            depth -= 1
        elif not depth:
            out.append(token)
    return out


def _declared(tokens: list[str], scope: str) -> Iterator[Name]:
    """The names that one declaration (without its `;` or body) gives."""
    while "}" in tokens and "{" not in tokens:
        tokens = tokens[tokens.index("}") + 1 :]
    plain = _outside_angles(_strip_template(tokens))
    template = "template" in tokens[:1]
    prefix = f"{scope}::" if scope else ""
    if not plain or "operator" in plain or plain[0] in ("friend", "static_assert"):
        return
    if plain[0] == "using":
        if "=" in plain and plain.index("=") > 1:
            yield Name(prefix + plain[1], "template" if template else "type")
        elif plain[1:2] != ["namespace"] and _WORD.match(plain[-1]):
            yield Name(prefix + plain[-1], "type")
        return
    if "typedef" in plain:
        yield from (Name(prefix + n, "type") for n in _typedef_names(plain))
        tag = next((t for k, t in zip(plain, plain[1:]) if k in ("struct", "union", "enum") and _WORD.match(t)), None)
        if tag:
            yield Name(prefix + tag, "type")
        return
    for at, token in enumerate(plain):
        if token in ("struct", "class", "union", "enum") and _is_tag(plain, at):
            body = plain.index("{") if "{" in plain else len(plain)
            names = [t for t in _before_base(plain[at + 1 : body]) if _WORD.match(t) and t not in _NOT_A_NAME]
            names = [n for n in names if n not in ("class", "struct", "final") and not n.isupper()] or names
            if names:
                yield Name(prefix + names[-1], "template" if template else "type")
            return
    for at, token in enumerate(plain):
        if token == "(" and at and _WORD.match(plain[at - 1]) and plain[at - 1] not in _NOT_A_NAME:
            if plain[at - 1].isupper() and "(" in plain[_skip(plain, at, len(plain)) :]:
                continue  # an attribute macro with arguments
            if plain[at - 2 : at - 1] == ["::"]:
                return  # a member defined out of its class
            yield Name(prefix + plain[at - 1], "template" if template else "function")
            return
    before = plain[: plain.index("=")] if "=" in plain else plain
    words = [t for t in before if _WORD.match(t)]
    if scope and len(words) > 1 and "(" not in before:
        yield Name(prefix + words[-1], "variable")


def _is_tag(plain: list[str], at: int) -> bool:
    """A struct, class or enum is declared here, not merely named as the type of something."""
    if "{" in plain:
        return plain.index("{") > at
    rest = [t for t in plain[at + 1 :] if t not in ("(", ")")]
    return "(" not in plain[at:] and sum(bool(_WORD.match(t)) and not t.startswith("_") for t in rest) <= 1


def _before_base(tokens: list[str]) -> list[str]:
    return tokens[: tokens.index(":")] if ":" in tokens else tokens


def _typedef_names(plain: list[str]) -> list[str]:
    flat: list[str] = []
    depth = 0
    for token in plain:
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif depth == 0:
            flat.append(token)
    for at, token in enumerate(flat):
        if token == "(" and "*" in flat[at + 1 : at + 4]:
            names = [t for t in flat[at : flat.index(")", at)] if _WORD.match(t)]
            return names[-1:]
    if "(" in flat and _WORD.match(flat[flat.index("(") - 1]) and flat[flat.index("(") - 1] not in _NOT_A_NAME:
        return [flat[flat.index("(") - 1]]
    while len(flat) > 3 and flat[-1].isupper() and _WORD.match(flat[-2]) and "enum" not in flat[-2:]:
        flat.pop()  # an attribute macro behind the name
    names, piece = [], []
    for token in [*flat, ","]:
        if token != ",":
            piece.append(token)
            continue
        words = [t for t in piece[: piece.index("[")] if _WORD.match(t)] if "[" in piece else [t for t in piece if _WORD.match(t)]
        if words:
            names.append(words[-1])
        piece = []
    return names


# --- what is public ------------------------------------------------------------------------------------------------

_RUNTIME = ("nvidia-cuda-runtime", "nvidia-cuda-profiler-api", "nvidia-cuda-crt")
_DEVICE = ("nvidia-cuda-runtime", "nvidia-cuda-crt")
_CCCL = ("nvidia-cuda-cccl",)
# The per-thread-stream and per-version variants that headers define for themselves.
_VARIANT = r".*_pt[sd][zs]|.*_(?:ptsz|ptds)\b.*|.*_H_*"

LISTS = {
    "runtime": NameList(
        _RUNTIME,
        (
            "cuda_runtime.h", "cuda_runtime_api.h", "cuda_device_runtime_api.h", "driver_types.h", "library_types.h",
            "texture_types.h", "surface_types.h", "channel_descriptor.h",
            "math_constants.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h", "cuda_occupancy.h",
            "driver_functions.h", "cuda_profiler_api.h",
        ),
        r"cuda[A-Z]\w*|CUDA(?:RT)?_\w+|CUDARTAPI\w*|make_cuda\w+|libraryPropertyType\w*|(?:MAJOR_VERSION|MINOR_VERSION|PATCH_LEVEL)|cuda\w+_t",
        _VARIANT + r"|cudaRoundMode|.*_(?:v\d+)|CUDA(?:RT)?_(?:API_PER|VERSION|API_VERSION|DEVICE).*|CUDA_\w*(?:ENABLED|DISABLE\w*)"
        r"|CUDA_(?:FORCE|NO|ENABLE|MATH|SEPARABLE)_\w+|cudaOcc(?!upancy)\w+|CUDA_OCC\w+|CUDART_BUILTIN\w*",
        macros=r"cuda[A-Z]\w*|CUDART_\w+|CUDA_(?:IPC_HANDLE_SIZE|EGL_MAX_PLANES)",
    ),
    "driver": NameList(
        _RUNTIME,
        ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"),
        r"cu[A-Z]\w*|CU_\w+|CU(?!DA|RT)[A-Za-z]\w*|CUDA_\w+|cuuint\d+_t|cudaError_enum|NVCL_\w+|CUDA(?:API|_CB)",
        _VARIANT + r"|CU[a-z]\w*_st|CU[a-z]\w*_v\d+(?:_st)?|CU[a-z]\w*_enum|CUDA_\w+_st|CUDA_VERSION|CUDA_API_PER\w*|CUDA_ENABLE\w*",
        macros=r"cu[A-Z]\w*|CU_\w+|CUDA_(?:CB|ARRAY3D_\w+|COOPERATIVE\w+|EGL\w+|NVSCISYNC\w+)|CUDAAPI|CUDA_\w*INFINITE\w*",
    ),
    "device": NameList(
        _DEVICE,
        (
            "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp8.hpp", "cuda_fp6.h", "cuda_fp6.hpp", "cuda_fp4.h",
            "cuda_fp4.hpp", "cuda_tf32.h", "cuComplex.h", "vector_types.h", "vector_functions.h", "sm_*_intrinsics.h",
            "sm_*_atomic_functions.h", "device_atomic_functions.h", "texture_indirect_functions.h",
            "surface_indirect_functions.h", "device_launch_parameters.h", "cuda_awbarrier_primitives.h",
            "cuda_pipeline_primitives.h", "crt/device_functions.h", "crt/device_double_functions.h",
            "crt/math_functions.h", "crt/common_functions.h", "crt/device_fp128_functions.h", "crt/sm_*_rt.h",
            "crt/host_defines.h", "crt/storage_class.h",
        ),
        r"[a-z]\w*|__[a-z]\w*|CUDART_\w+|__NV_(?:E\dM\d|UE\dM\d|NOSAT|SATFINITE)",
        r"__nv_(?:isurf|tex|itex|itex_trait|surf_trait|min|max|internal|is|hdl|atomic|cp|bswap|ptx|ldst|use|identity|extend|elim|ptr)\w*"
        r"|__i(?:tex|surf)\w*|__internal\w*|__device_\w+|__cuda\w*|__mma\w*|__imma\w*|__bmma\w*|__dmma\w*|__w[gm]mma\w*|__loadmatrix\w*"
        r"|__u?Atomic\w*|__[iuf]Atomic\w*|__func__|__pow_helper|__cmath_power|all|any|syncthreads_\w+|__signbit[dfl]?|align_val_t|__barrier_sync_dummy|const|enum|float|unsigned|aligned|std|memcpy|memset|hi|ballot|double2\w+|dadd|dmul|dsub|float2double|int2double|ll2double|uint2double|ull2double|saturate|rounding|__libcpp\w*|__gnu_cxx|__isfinite[df]?|__isinf[df]?|__isnan[df]?|__isfinitef|__isinff|__isnanf|__isnanl|__isinfl|__finite[fl]?|__float128_\w*|__builtin\w*|__assert\w*|__.*_impl\w*|__nv_half2?\w*_raw_\w*|.*_DECL__"
        r"|__(?:f|d|i|u|l|ll|ull)?Atomic\w*|__shfl\w*_[a-z]*_impl|__surf\w*|__tex\w*|" + _VARIANT,
        macros=r"__(?:device|host|global|shared|constant|managed|grid_constant|forceinline|noinline|launch_bounds|cluster_dims|maxnreg"
        r"|block_size|tile|align|builtin_align|restrict|inline|inline_hint|device_builtin|no_return|local_maxnreg|nv_pure)__"
        r"|CUDART_(?:INF|NAN|ZERO|ONE|MAX|MIN|NEG)\w*_(?:FP16|BF16)|make_\w+|cuCon[a-z]+f?",
    ),
    "nvrtc": NameList(("nvidia-cuda-nvrtc", "nvidia-nvjitlink"), ("nvrtc.h", "nvJitLink.h"), r"(?:nvrtc|NVRTC_|nvJitLink|NVJITLINK_)\w*",
                      r".*_H_*|nvJitLink\w*_\d+_\d+|__.*", macros=r"(?:nvrtc|nvJitLink)[A-Z]\w*"),
    "cublas": NameList(("nvidia-cublas",), ("cublas.h", "cublas_v2.h", "cublas_api.h", "cublasXt.h"), r"cublas\w+|CUBLAS_\w+",
                       r".*_H_*|CUBLASAPI|CUBLASWINAPI|CUBLAS_V2_H_", macros=r"cublas\w+|CUBLAS_VER\w+"),
    "cublaslt": NameList(("nvidia-cublas",), ("cublasLt.h",), r"cublasLt\w+|CUBLASLT_\w+", macros=r"CUBLASLT_\w+"),
    "cufft": NameList(("nvidia-cufft",), ("cufft.h", "cufftXt.h", "cudalibxt.h", "cufft_device.h"),
                      r"cufft\w+|CUFFT\w+|cudaLibXt\w*|cudaXt\w*|LIB_FORMAT_\w+|LIBFORMAT_\w+|libFormat\w*|CUDA_XT_\w+", r"CUFFTAPI|CUFFTDEVICE\w*|.*_H_*",
                      macros=r"CUFFT_\w+|CUDA_XT_\w+"),
    "curand": NameList(("nvidia-curand",), ("curand.h", "curand_kernel.h", "curand_globals.h", "curand_normal.h",
                       "curand_lognormal.h", "curand_uniform.h", "curand_poisson.h", "curand_discrete.h", "curand_discrete2.h",
                       "curand_mrg32k3a.h", "curand_mtgp32.h", "curand_mtgp32_host.h", "curand_mtgp32_kernel.h",
                       "curand_philox4x32_x.h"),
                       r"curand\w*|CURAND_\w+|__curand_umul|skipahead\w*|mtgp32_\w+|MTGP32_\w+",
                       r".*_H_*|CURANDAPI|QUALIFIERS|curand_(?:box_muller|normal_icdf|hash|precalc|mtgp32_|MRG32k3a|"
                       r"log_normal_|uniform_|discrete[_0-9]?\w*M\w*|M2)\w*_(?:impl|internal)\w*|CURAND_\w+_H\w*|curandStateTest\w*|curand_(?:detail|MRG\w+|_discrete\w*|MRGm\w+)|mtgp32_(?:init|params_fast\w*_$)\w*|curand\w+Impl|curand_(?:M2_\w*|binary_search\w*|poisson_\w+|M2_double|box_muller\w*|normal_icdf\w*|normal_scaled\w*"
                       r"|MRG32k3a\w*|Philox\w+_10|lambert\w*|nlambert\w*|nrm\w*)|CURAND_(?:PI|TWOPI|2POW\w*|ALL|XORWOW_|SQRT\w*|MIN_\w*|MAX_\w*)",
                       macros=r"CURAND_VER\w+|MTGP32_\w+"),
    "cusparse": NameList(("nvidia-cusparse",), ("cusparse.h",), r"cusparse\w+|CUSPARSE_\w+|(?:bsr|csr)\w+Info(?:_t)?|pruneInfo(?:_t)?", r"CUSPARSE_(?:DEPRECATED\w*|CPP_VERSION)|CUSPARSEAPI",
                         macros=r"CUSPARSE_(?:VER\w+|ALG\w*|\w+_ALG\w*)"),
    "cusolver": NameList(("nvidia-cusolver",), ("cusolver_common.h", "cusolverDn.h", "cusolverSp.h", "cusolverRf.h", "cusolverMg.h",
                         "cusolverSp_LOWLEVEL_PREVIEW.h"), r"cusolver\w+|cuSolver\w+|CUSOLVER\w+|csr\w+Info\w*|(?:gesvdj|syevj)Info(?:_t)?|CUBLAS_(?:STOREV|DIRECT)_\w+|cudaLibMg\w*|CUDALIBMG_\w+",
                         r".*_H_*|CUSOLVERAPI|CUSOLVER_(?:CPP_VERSION|DEPRECATED\w*)", macros=r"CUSOLVER_VER\w+"),
    "cudnn": NameList(("nvidia-cudnn-cu13",), ("cudnn*_v9.h", "cudnn.h"), r"cudnn\w+|CUDNN_\w+", r"CUDNNWINAPI|CUDNN_DEPRECATED\w*|CUDNN_\w+_H_+|CUDNN_H|cudnn\w+Struct",
                      macros=r"CUDNN_(?!.*DEPRECATED)\w+"),
    "nccl": NameList(("nvidia-nccl-cu13",), ("nccl.h",), r"p?nccl\w+|NCCL_\w+", r"NCCL_H_|pnccl\w+", macros=r"NCCL_\w+"),
    "nvtx": NameList(("nvidia-nvtx",), ("nvtx3/nvToolsExt*.h", "nvtx3/nvtx3.hpp"), r"nvtx\w+|NVTX_\w+",
                     r".*_H_*|NVTX_(?:DECLSPEC|API|INLINE_STATIC|SET_NAME_MANGLING\w*|VERSIONED_IDENTIFIER\w*|STDINCLUDE|LINKONCE\w*|STATIC\w*|EXT\w*|CPP\w*)\w*|nvtx\w+_v\d"
                     r"|NVTX_(?:PAYLOAD_[A-Z]*_?\w*|COUNTER\w*|SCOPE\w*|SEMANTIC\w*|TIME\w*|TIMESTAMP\w*|MEM\w*)",
                     macros=r"NVTX_\w+|nvtx[A-Z]\w+"),
    "nvml": NameList(("nvidia-nvml-dev",), ("nvml.h",), r"nvml\w+|NVML_\w+", r".*_h__|nvml\w+_st", macros=r"NVML_\w+|nvml\w+"),
    "cupti": NameList(("nvidia-cuda-cupti",), ("cupti*.h",), r"cupti\w+|CUPTI_\w+|CUpti\w*", r".*_H_*|CUPTI_(?:RUNTIME|DRIVER)_TRACE_CBID_.*|CUPTI_CBID_NVTX_.*|CUPTI_NVTX_\w*|"
                      r"CUPTIAPI|CUPTIUTILAPI|.*STRUCT_SIZE.*|CUPTI_\w*ALIGN\w*|CUPTILP64", macros=r"CUPTI_\w+"),
    "cutensor": NameList(("cutensor-cu13",), ("cutensor.h", "cutensor/types.h", "cutensorMg.h", "cutensorMp.h"), r"cutensor\w+|CUTENSOR_\w+", r".*_H_*|CUTENSOR_EXTERN\w*",
                         macros=r"CUTENSOR_\w+"),
    "cub": NameList(_CCCL, ("cccl/cub/block/*.cuh", "cccl/cub/device/*.cuh", "cccl/cub/warp/*.cuh", "cccl/cub/grid/*.cuh", "cccl/cub/iterator/*.cuh",
                            "cccl/cub/thread/*.cuh", "cccl/cub/util_*.cuh", "cccl/cub/version.cuh", "cccl/cub/config.cuh"),
                    r"cub|cub::(?!detail|internal|_)\w+|CUB_\w+|CubDebug\w*|_CubLog",
                    r"cub(?:::\w+)*::(?:_\w*|detail|internal)(?:::.*)?|CUB_(?:NAMESPACE|DETAIL|COMMA|.*_H|WRAPPED|.*IMPL|DISABLE_(?:NAME|CDP)\w*|RUNTIME\w*)\w*|cub::\w*(?:Impl|Helper|Internal)\w*",
                    macros=r"CUB_\w+|Cub\w+|_CubLog"),
    "thrust": NameList(_CCCL, ("cccl/thrust/*.h", "cccl/thrust/iterator/*.h", "cccl/thrust/mr/*.h", "cccl/thrust/random/*.h", "cccl/thrust/type_traits/*.h",
                               "cccl/thrust/system/cuda/*.h", "cccl/thrust/system/*.h", "cccl/thrust/detail/config/device_system.h"),
                       r"thrust(?:::\w+)*|THRUST_\w+", r"thrust(?:::\w+)*::(?:_\w*|detail|internal|dispatch|\w*_detail|aux\w*|\w*_ns)(?:::.*)?|THRUST_(?:NAMESPACE|DETAIL|NS|UNUSED|.*_H|FUNCTION|FWD|RETURNS|STATIC|PREVENT|HAS|DECL|CPP|CONSTEXPR|IS_TRIV|.*SPEC\w*|INLINE)\w*",
                       macros=r"THRUST_(?:VERSION|MAJOR_VERSION|MINOR_VERSION|SUBMINOR_VERSION|PATCH_NUMBER|DEVICE_SYSTEM\w*|HOST_SYSTEM\w*|PROCLAIM\w*)"),
    "libcudacxx": NameList(_CCCL, ("cccl/cuda/*", "cccl/cuda/__*/*.h", "cccl/cuda/std/*", "cccl/cuda/std/__*/*.h"),
                           r"cuda::std|cuda::(?!__)\w+(?:::(?!_)\w+)*", r".*::_\w*.*|.*::(?:static_cast|den|num|const|auto|alignof|async|check_arg_id|constexpr|handle|insert|int|none|requires|typename|value)|cuda::std::(?:[A-Z].*|.*detail.*)|.*::detail.*|cuda::ptx::\w+"),
    "cooperative_groups": NameList(_RUNTIME, ("cooperative_groups.h", "cooperative_groups/*.h", "cooperative_groups/details/*.h"), r"cooperative_groups(?:::\w+)*",
                                   r".*::(?:_\w*|details|internal)(?:::.*)?"),
    "wmma": NameList(("nvidia-cuda-crt",), ("crt/mma.h",), r"nvcuda(?:::\w+)*", r".*::__\w+"),
}  # fmt: skip

# Names that the compiler itself provides, so that no header declares them.
BUILTIN = {
    "device": (
        "__syncthreads function", "__trap function", "blockDim variable", "blockIdx variable", "gridDim variable",
        "threadIdx variable", "warpSize variable", "__nanosleep function", "__shared__ macro",
    ),
}  # fmt: skip

_PREFER = {k: i for i, k in enumerate(("function", "template", "type", "namespace", "enumerator", "variable", "macro"))}


def fetch(cache: Path, requirement: str) -> Path:
    """The folder with the headers of one wheel. Raises CalledProcessError when pip cannot get it."""
    name = requirement.partition("==")[0]
    folder = cache / "headers" / name
    if (folder / "VERSION").is_file():
        return folder
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:", "-d", scratch, requirement]
        subprocess.run(command, check=True)
        wheel = next(Path(scratch).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                path = Path(entry)
                if path.suffix in HEADER_SUFFIXES or "include" in path.parts and not path.suffix:
                    archive.extract(entry, folder)
        (folder / "VERSION").write_text(wheel.name + "\n")
    return folder


def collect(cache: Path, spec: NameList) -> list[Name]:
    """The public names of one list, sorted, each once; a name of two kinds takes the more telling one."""
    keep, drop, macros = re.compile(spec.keep), re.compile(spec.drop), re.compile(spec.macros)
    found: dict[str, str] = {}
    for path in _headers(cache, spec):
        for name in declarations(path.read_text(encoding="utf-8", errors="replace")):
            kind = name.kind
            if not keep.fullmatch(name.name) or drop.fullmatch(name.name):
                continue
            if kind == "macro" and not macros.fullmatch(name.name):
                continue
            if name.name not in found or _PREFER[kind] < _PREFER[found[name.name]]:
                found[name.name] = kind
    return sorted(Name(n, k) for n, k in found.items())


def _headers(cache: Path, spec: NameList) -> Iterable[Path]:
    for wheel in spec.wheels:
        roots = sorted(p for p in (cache / "headers" / wheel).rglob("include") if p.is_dir())[:1]
        for root in roots:
            for pattern in spec.headers:
                yield from sorted(p for p in root.glob(pattern) if p.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "rules" / "names")
    parser.add_argument("--list", action="append", choices=sorted(LISTS), help="only this list")
    parser.add_argument("--no-fetch", action="store_true", help="use the headers that CACHE has")
    args = parser.parse_args()
    if not args.no_fetch:
        args.cache.mkdir(parents=True, exist_ok=True)
        for requirement in WHEELS:
            fetch(args.cache, requirement)
    args.out.mkdir(parents=True, exist_ok=True)
    for library in args.list or LISTS:
        names = {n.name: n.kind for n in collect(args.cache, LISTS[library])}
        names.update(line.split() for line in BUILTIN.get(library, ()))
        lines = [f"{name} {names[name]}\n" for name in sorted(names)]
        (args.out / f"{library}.txt").write_text("".join(lines), encoding="utf-8")
        print(f"{library:20} {len(lines):5}")


if __name__ == "__main__":
    main()
