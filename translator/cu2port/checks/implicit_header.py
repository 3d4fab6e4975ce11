from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cu2port.catalog.includes import compiled_as_cuda
from cu2port.core.files import may_include, suffix
from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Include
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import BEFORE_VALUE, KEYWORDS

_STRING = (
    "memchr memcmp memcpy memmove memset strcasecmp strcat strchr strcmp strcpy strcspn strdup strerror strlen "
    "strncasecmp strncat strncmp strncpy strpbrk strrchr strspn strstr strtok"
)
_STDIO = (
    "fclose fflush fgets fopen fprintf fputs fread fscanf fseek ftell fwrite getchar perror printf putchar puts scanf "
    "snprintf sprintf sscanf"
)
#: What nvcc's own includes declare and HIP's runtime header does not: the header to include, those that do as well.
_HEADERS = {
    "cstring": ("string.h", "memory.h", "strings.h"),
    "cstdio": ("stdio.h", "iostream", "string", "fstream", "sstream"),
    "cassert": ("assert.h",),
    "math.h": (),
}
_IN_C = {"cstring": "string.h", "cstdio": "stdio.h", "cassert": "assert.h"}
_NAMES = (
    dict.fromkeys(_STRING.split(), "cstring")
    | dict.fromkeys(_STDIO.split(), "cstdio")
    | {"assert": "cassert"}
    | dict.fromkeys(("isfinite", "isinf", "isnan", "modf", "signbit"), "math.h")  # with C++'s overloads
)
_HIPBLAS = "hipblas/hipblas.h"
_CUBLAS = frozenset({"cublas_v2.h", "cublas.h", "cublas_api.h", _HIPBLAS})
_BRING_CUBLAS = frozenset({"cusolverDn.h", "cusolverSp.h", "cusolverRf.h", "cusolverMg.h", "cublasXt.h"})
_OF_CUBLAS = regex(  # not what cuSOLVER's functions take, which hipSOLVER's header has
    r"CUBLAS_STATUS_\w+\Z|cublas(?!(?:Operation|FillMode|SideMode|DiagType)_t)\w+\Z"
)
_HIP_FP16 = "hip/hip_fp16.h"
_FP16 = frozenset({"cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "mma.h", _HIP_FP16})
_CFLOAT = "cfloat"
_FLOAT = frozenset({_CFLOAT, "float.h", "cuda/std/cfloat"})
_OF_FLOAT = tuple(f"{of}_{what}" for of in ("FLT", "DBL") for what in ("MAX", "MIN", "EPSILON", "DIG", "MANT_DIG"))
_DEVICE_HAS = frozenset({"memcpy", "memset", "printf", "isfinite", "isinf", "isnan", "modf", "signbit"})
_CPP = frozenset({"template", "namespace", "class"})
_INCLUDE = regex(r'#[ \t]*include[ \t]*([<"])([^>"\r\n]+)[>"]')  # it begins with text, which is found fast
_USE_OF_THRUST = regex(r"thrust::(\w+)\s*[<(]")
_BLANKS = regex(r"[ \t]*+")
_MOST_FILES = 30


class ImplicitHeader(Check):
    """A function of the C library is called whose header only nvcc includes by itself.

    nvcc puts cuda_runtime.h before every file, and that brings `string.h`, `stdio.h`, `assert.h` and `math.h`. HIP's
    runtime header brings less, and since HIP 7 hardly anything. The header is included where a file calls such a
    function and neither the file nor a header beside it says so. So it is with names of cuBLAS, which cuSOLVER's
    headers bring and hipSOLVER's do not, with conversions of half, which Eigen's bring, with limits of `float`, which
    CUB's bring, and with algorithms, iterators and vectors of Thrust: NVIDIA's headers include more of one another
    than rocThrust's do.
    """

    code, name, severity = "CU215", "implicit-header", Severity.INFO
    examples = (
        Example(
            "#include <vector>\nint f(const char* s) { return strlen(s); }\n",
            "#include <cstring>\n#include <vector>\nint f(const char* s) { return strlen(s); }\n",
        ),
        Example(
            "#define COPY(a, b, n) memcpy(a, b, n)\n",
            "#include <cstring>\n#define COPY(a, b, n) memcpy(a, b, n)\n",
            "in a macro body",
        ),
        Example(
            "void f(int n) { CHECK(assert(n)); }\n",
            "#include <cassert>\nvoid f(int n) { CHECK(assert(n)); }\n",
            "as a macro's argument",
        ),
        Example(
            "#include <thrust/reduce.h>\nint f(int* p) { return thrust::transform_reduce(p, p + 2, g, 0, h); }\n",
            "#include <thrust/transform_reduce.h>\n#include <thrust/reduce.h>\n"
            "int f(int* p) { return thrust::transform_reduce(p, p + 2, g, 0, h); }\n",
            "an algorithm of Thrust",
        ),
        Example(
            "#include <thrust/reduce.h>\nint f(int* p) { return thrust::reduce(thrust::device, p, p + 2); }\n",
            "#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>\n"
            "int f(int* p) { return thrust::reduce(thrust::device, p, p + 2); }\n",
            "where Thrust runs",
        ),
        Example(
            "#include <thrust/sort.h>\nusing namespace thrust;\nvoid f(V& v) { sequence(v.begin(), v.end()); }\n",
            "#include <thrust/sequence.h>\n#include <thrust/sort.h>\nusing namespace thrust;\n"
            "void f(V& v) { sequence(v.begin(), v.end()); }\n",
            "by a directive",
        ),
        Example(
            "#include <thrust/device_vector.h>\nvoid f() { thrust::device_free(thrust::device_malloc<int>(2)); }\n",
            "#include <thrust/device_free.h>\n#include <thrust/device_malloc.h>\n#include <thrust/device_vector.h>\n"
            "void f() { thrust::device_free(thrust::device_malloc<int>(2)); }\n",
        ),
        Example(
            "#include <thrust/scan.h>\nauto f(int* p) { return thrust::make_reverse_iterator(p); }\n",
            "#include <thrust/iterator/reverse_iterator.h>\n#include <thrust/scan.h>\n"
            "auto f(int* p) { return thrust::make_reverse_iterator(p); }\n",
            "an iterator",
        ),
        Example(
            "template <class T> bool f(T x) { return cuda::std::isnan(x); }\n__global__ void k() {}\n",
            "#include <math.h>\ntemplate <class T> bool f(T x) { return std::isnan(x); }\n__global__ void k() {}\n",
            "a name that is rewritten",
        ),
        Example(
            "__global__ void k();\nfloat f(float x) { float i; return modf(x, &i); }\n",
            "#include <math.h>\n__global__ void k();\nfloat f(float x) { float i; return modf(x, &i); }\n",
            "C++'s overloads of a function",
        ),
        Example(
            "#include <cusolverDn.h>\nint f(cublasStatus_t s) { return s; }\n",
            "#include <hipblas/hipblas.h>\n#include <hipsolver/hipsolver.h>\nint f(hipblasStatus_t s) { return s; }\n",
            "cuBLAS by the header of cuSOLVER",
        ),
        Example(
            "#include <cusolverDn.h>\nvoid f(cublasFillMode_t m, S* s) { cusolverDnSpotrf(h, m, 1, s, 1, 0, 1, 0); }\n",
            note="hipSOLVER's header has it",
        ),
        Example(
            "#include <Eigen/Dense>\nhalf f(float x) { return __float2half(x); }\n",
            "#include <hip/hip_fp16.h>\n#include <Eigen/Dense>\nhalf f(float x) { return __float2half(x); }\n",
            "half by Eigen's headers",
            path="a.hpp",
        ),
        Example(
            "#include <cub/cub.cuh>\n__device__ float f() { return -FLT_MAX; }\n",
            "#include <cfloat>\n#include <hipcub/hipcub.hpp>\n__device__ float f() { return -FLT_MAX; }\n",
            "limits by a header of CUB",
        ),
        Example("#include <string.h>\nint f(const char* s) { return strlen(s); }\n", note="it is included"),
        Example(
            "#include <cmath>\n__device__ int k();\nbool f(float x) { return std::isnan(x); }\n",
            note="<cmath> has `std::isnan`",
        ),
        Example("__device__ void f(int* p, int* q) { memcpy(p, q, 4); }\n", note="device code has it"),
        Example("void f(Pool& p) { p.memset(0); my::memset(1); }\n", note="the user's"),
        Example("int strlen(const char* s) { return 0; }\nint f(const char* s) { return strlen(s); }\n"),
        Example("int f(const char* s) { return strlen(s); }\n", note="a file for the host compiler", path="a.cpp"),
        Example(
            "#include <vector>\nvoid f(int* p) { memset(p, 0, 4); cudaFree(p); }\n",
            "#include <cstring>\n#include <vector>\nvoid f(int* p) { memset(p, 0, 4); hipFree(p); }\n",
            "a header of C++ by what it includes",
            path="a.h",
        ),
        Example(
            "template <class T> void f(T* p, int n) { memset(p, 0, n); cudaFree(p); }\n",
            "#include <cstring>\ntemplate <class T> void f(T* p, int n) { memset(p, 0, n); hipFree(p); }\n",
            "a header that CUDA sources include",
            path="a.h",
        ),
        Example(
            '#ifdef __CUDACC__\n__global__ void k();\n#endif\n#define SAY(x) printf("%d", x)\n',
            '#include <stdio.h>\n#ifdef __HIPCC__\n__global__ void k();\n#endif\n#define SAY(x) printf("%d", x)\n',
            "a header that C sources may include",
            path="a.h",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for first, header, why in (*_of_cusolver(unit), *_of_eigen(unit), *_of_cub(unit)):
            end = unit.end(first)
            message = f"`{unit.t[first]}` is declared in <{header}>, which {why}"
            yield self.finding(message, unit.p[first], end, (Edit(end, end, ()),), hip=header, needs=(header,))
        if not (unit.may_hold(_NAMES) or "thrust" in unit.text) or not _read_by_nvcc(unit):
            return
        if "thrust" not in unit.words and unit.words.isdisjoint(_NAMES):
            return
        have = {inc.path for inc in unit.includes}
        calls = _missing(unit) | (_of_thrust(unit) if "thrust" in unit.words else {})
        missing = {h: i for h, i in calls.items() if h not in have and not have.intersection(_HEADERS.get(h, ()))}
        parts = {h: use for h, use in _of_parts(unit).items() if h not in have and h not in missing}
        if not missing and not parts:
            return
        reached = _reached(unit)
        thrust = any(path.startswith(("thrust/", "cuda/")) for path in have | reached)
        for header, i in missing.items():
            if header in reached or reached.intersection(_HEADERS.get(header, ())):
                continue
            if header.startswith("thrust/") and not thrust:
                continue  # what brings Thrust here is not known
            if unit.tok(i - 1) != "::" and _may_be_c(unit):
                header = _IN_C.get(header, header)
            start, end = unit.p[i], unit.end(i)
            by = "others of NVIDIA's bring along" if header.startswith("thrust/") else "nvcc includes by itself"
            yield self.finding(
                f"`{unit.t[i]}` is declared in <{header}>, which {by}",
                start,
                end,
                (Edit(end, end, ()),),  # the include is what is done: behind the name, which another check may rewrite
                hip=header,
                needs=(header,),
            )

        for header, (name, inc) in parts.items():
            if thrust and header not in reached:
                yield self.finding(
                    f"`{name}` in {inc.path} is declared in <{header}>, which others of NVIDIA's bring along",
                    inc.start,
                    inc.end,
                    (Edit(inc.end, inc.end, ()),),
                    hip=header,
                    needs=(header,),
                )


def _of_eigen(unit: Unit) -> Iterator[tuple[int, str, str]]:
    """A conversion to or from half in a file that has it from Eigen's headers: the name, the header, and why."""
    if "Eigen/" not in unit.text or not any(inc.path.startswith("Eigen/") for inc in unit.includes):
        return
    first = next(iter(unit.find("__float2half", "__half2float", "__float2half_rn")), None)
    if first is not None and not ({inc.path for inc in unit.includes} | _reached(unit)) & _FP16:
        yield first, _HIP_FP16, "Eigen does not include for HIP's host code"


def _of_cub(unit: Unit) -> Iterator[tuple[int, str, str]]:
    """A limit of `float` or `double` in a file that has it from CUB's or Thrust's headers: the name, the header, and
    why."""
    if "FLT_" not in unit.text and "DBL_" not in unit.text:
        return
    first = next((i for i in unit.find(*_OF_FLOAT) if unit.t[i] not in unit.macros), None)
    have = {inc.path for inc in unit.includes}
    if first is None or not _read_by_nvcc(unit) or have & _FLOAT:
        return
    reached = _reached(unit)
    if not reached & _FLOAT and any(path.startswith(("cub/", "hipcub/", "thrust/")) for path in have | reached):
        yield first, "float.h" if _may_be_c(unit) else _CFLOAT, "CUB's headers include and hipCUB's do not"


def _of_cusolver(unit: Unit) -> Iterator[tuple[int, str, str]]:
    """cuBLAS's names in a file that has them from cuSOLVER's headers: the first, the header, and why."""
    if "cusolver" not in unit.text and "cublasXt" not in unit.text:
        return
    have = {inc.path for inc in unit.includes}
    if have.isdisjoint(_BRING_CUBLAS) or have & _CUBLAS:
        return
    names = sorted(w for w in unit.names(_OF_CUBLAS, "cC") if w in unit.catalog.names)
    first = next(iter(unit.find(*names)), None) if names else None
    if first is not None and not _reached(unit) & _CUBLAS:
        yield first, _HIPBLAS, "hipSOLVER's header does not include"


def _read_by_nvcc(unit: Unit) -> bool:
    if compiled_as_cuda(unit) or suffix(unit.path) == ".cuh" or unit.words & {"__global__", "__device__"}:
        return True
    # a header of C++ that calls CUDA's runtime is included by CUDA sources too
    if suffix(unit.path) not in (".h", ".hpp", ".hh", ".hxx", ".inl"):
        return False
    return any(w.startswith("cuda") for w in unit.words & unit.catalog.active) and _is_cpp(unit)


def _may_be_c(unit: Unit) -> bool:
    """Whether C sources may include the file: a header without words of C++."""
    return suffix(unit.path) == ".h" and not _is_cpp(unit)


def _is_cpp(unit: Unit) -> bool:
    """Whether a header has words of C++, or includes a header of its library, such as `<vector>`."""
    return not unit.words.isdisjoint(_CPP) or any("." not in inc.path and not inc.quoted for inc in unit.includes)


def _missing(unit: Unit) -> dict[str, int]:
    """Headers that a call asks for, and the first such call."""
    out: dict[str, int] = {}
    own: set[str] = set()
    cmath = any(inc.path in ("cmath", "cuda/std/cmath") for inc in unit.includes)
    for i in unit.find(*_NAMES):
        name = unit.t[i]
        before = unit.tok(i - 1)
        if unit.tok(i + 1) != "(" or name in own or name in unit.macros or unit.is_member(i):
            continue
        if before == "::" and is_identifier(unit.tok(i - 2)) and unit.tok(i - 2) not in {"std", *KEYWORDS}:
            continue
        if _NAMES[name] == "math.h" and cmath and before == "::" and unit.tok(i - 2) == "std":
            continue  # <cmath> declares it there, and may not without `std::`
        if _is_type(before) or (before in ("*", "&", ">") and unit.function_at(i) is None):
            own.add(name)  # a declaration: the file has its own, or says what the header would
        elif name not in _DEVICE_HAS or not _only_device(unit, i):
            out.setdefault(_NAMES[name], i)
    return {h: i for h, i in out.items() if unit.t[i] not in own}


def _of_thrust(unit: Unit) -> dict[str, int]:
    """Headers of Thrust that a name asks for, and its first use."""
    from cu2port.facts.thrust_headers import OF_THRUST

    out: dict[str, int] = {}
    used = any(unit.t[i + 1 : i + 4] == ["namespace", "thrust", ";"] for i in unit.find("using"))
    own = {unit.t[f.name_at] for f in unit.functions} if used else set()
    for i in unit.find(*OF_THRUST):
        called = unit.tok(i + 1) in ("(", "<") or OF_THRUST[unit.t[i]] == "thrust/execution_policy.h"
        before = unit.tok(i - 1)
        by_using = used and before in (";", "{", "}", "=", "(") and unit.tok(i + 1) == "(" and unit.t[i] not in own
        if (before == "::" and unit.tok(i - 2) == "thrust" and called) or (by_using and unit.function_at(i)):
            out.setdefault(OF_THRUST[unit.t[i]], i)
    return out


def _of_parts(unit: Unit) -> dict[str, tuple[str, Include]]:
    """Headers of Thrust that parts of the file ask for: what it includes and what has no include of its own. With each
    the name, and the include of the part."""
    out: dict[str, tuple[str, Include]] = {}
    if unit.path in ("", "-", "<stdin>") or "thrust" not in unit.words:
        return out
    from cu2port.facts.thrust_headers import OF_THRUST

    here = Path(unit.path).parent
    for inc in unit.includes:
        text = _text(here / inc.path, [here.resolve()]) if inc.quoted and not inc.path.startswith("/") else ""
        if "thrust::" in text and next(_includes(text), None) is None:
            for m in _USE_OF_THRUST.finditer(text):
                if m[1] in OF_THRUST:
                    out.setdefault(OF_THRUST[m[1]], (m[1], inc))
    return out


def _text(path: Path, around: list[Path]) -> str:
    """The text of an included file, "" where there is none to read, or what it names may be a device or nobody's
    business."""
    try:
        return path.read_bytes().decode("latin-1") if may_include(path, around) else ""
    except (OSError, ValueError):
        return ""


def _is_type(word: str) -> bool:
    return is_identifier(word) and word not in BEFORE_VALUE


def _only_device(unit: Unit, i: int) -> bool:
    f = unit.function_at(i)
    return f is not None and bool(f.sides) and "__host__" not in f.sides


def _reached(unit: Unit) -> set[str]:
    """Paths that the quoted headers beside the file include, and theirs."""
    out: set[str] = set()
    if unit.path in ("", "-", "<stdin>"):
        return out
    here = Path(unit.path).parent
    around = [here.resolve()]
    waiting = [here / inc.path for inc in unit.includes if inc.quoted and not inc.path.startswith("/")]
    seen: set[Path] = set()
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for quote, name in _includes(_text(path, around)):
            out.add(name)
            if quote == '"' and not name.startswith("/"):
                waiting.append(path.parent / name)
    return out


def _includes(text: str) -> Iterator[tuple[str, str]]:
    """The delimiter and the path of each include that begins a line."""
    past = 0
    for m in _INCLUDE.finditer(text):
        newline = text.rfind("\n", past, m.start())
        begins = newline >= 0 or not past
        past = m.end()
        if begins and _BLANKS.fullmatch(text, newline + 1, m.start()) is not None:
            yield m[1], m[2]
