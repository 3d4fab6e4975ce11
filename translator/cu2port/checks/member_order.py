from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cu2port.core.model import Edit, Finding, Severity, Span, Trust
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier


class _Struct(NamedTuple):
    """The members of a struct in CUDA's order, and those of HIP's, which has the same names. `plain`: what a list of
    values in the wrong order does."""

    cuda: tuple[str, ...]
    hip: tuple[str, ...]
    plain: str = "compile-error"


def _struct(cuda: str, hip: str, plain: str = "compile-error") -> _Struct:
    return _Struct(tuple(cuda.split()), tuple(hip.split()), plain)


# HIP 7.1, hip_runtime_api.h
_MEMSET = _struct(
    "dst pitch value elementSize width height", "dst elementSize height pitch value width", "wrong-result"
)
_POLICY = _struct("base_ptr num_bytes hitRatio hitProp missProp", "base_ptr hitProp hitRatio missProp num_bytes")
_EDGE = _struct("from_port to_port type reserved", "from_port reserved to_port type", "wrong-result")
_INSTANTIATE = _struct("flags uploadStream errNode_out result_out", "errNode_out flags result_out uploadStream")
_KERNEL = _struct(
    "func gridDim blockDim sharedMemBytes kernelParams extra", "blockDim extra func gridDim kernelParams sharedMemBytes"
)
_FLAT = _struct(  # CUDA's driver has the sizes of grids and blocks as numbers
    "func gridDimX gridDimY gridDimZ blockDimX blockDimY blockDimZ sharedMemBytes kernelParams extra",
    "blockDim extra func gridDim kernelParams sharedMemBytes",
)
_STRUCTS = {
    **dict.fromkeys(("CUaccessPolicyWindow", "CUaccessPolicyWindow_st", "cudaAccessPolicyWindow"), _POLICY),
    **dict.fromkeys(("CUgraphEdgeData", "CUgraphEdgeData_st", "cudaGraphEdgeData", "cudaGraphEdgeData_st"), _EDGE),
    **dict.fromkeys(("CUDA_KERNEL_NODE_PARAMS", "CUDA_KERNEL_NODE_PARAMS_st", "CUDA_KERNEL_NODE_PARAMS_v1"), _FLAT),
    **dict.fromkeys(("CUDA_MEMSET_NODE_PARAMS", "CUDA_MEMSET_NODE_PARAMS_st", "CUDA_MEMSET_NODE_PARAMS_v1"), _MEMSET),
    **dict.fromkeys(("cudaGraphInstantiateParams", "cudaGraphInstantiateParams_st"), _INSTANTIATE),
    "cudaKernelNodeParams": _KERNEL,
    "cudaMemsetParams": _MEMSET,
}
_RENAMED = {"hErrNode_out": "errNode_out", "hUploadStream": "uploadStream"}
_DESIGNATOR = re.compile(r"\.\s*(\w+)\s*=\s*")
_SIZES = ("gridDim", "blockDim")  # three numbers each, in CUDA's driver
_ENTERS = {"=", ")"}  # between a type or a name and its list
_NULL = re.compile(r"(?:0|NULL|nullptr|\{\s*\})\Z")


class MemberOrder(Check):
    """A list gives values to the members of a struct that has them in another order in HIP.

    `cudaMemsetParams`, `cudaKernelNodeParams`, `cudaAccessPolicyWindow`, `cudaGraphInstantiateParams` and
    `cudaGraphEdgeData` have their members in the order of the alphabet in HIP, or nearly. `cudaMemsetParams p = {dst,
    pitch, value, size, width, height}` compiles there, and means another thing. C++ takes members by name in their own
    order alone, and g++ insists on it. The values are put in HIP's order. `CUDA_KERNEL_NODE_PARAMS` has the sizes of
    grids and blocks as numbers of their own, and HIP as `dim3`.
    """

    code, name, severity = "CU279", "member-order", Severity.INFO
    minutes = 5
    triggers = frozenset(_STRUCTS)
    examples = (
        Example(
            "void f(int *d) { cudaMemsetParams p = {d, 0, 7, 4, 16, 1}; }\n",
            "void f(int *d) { hipMemsetParams p = {d, 4, 1, 0, 7, 16}; }\n",
        ),
        Example(
            "void f(int *d) { cudaMemsetParams p{d, 64, 7}; }\n",
            "void f(int *d) { hipMemsetParams p{d, 0, 0, 64, 7}; }\n",
            "what the list leaves out is zero",
        ),
        Example(
            "void f(void *k, void **a) { cudaKernelNodeParams p = {k, dim3(8), dim3(64), 0, a, NULL}; }\n",
            "void f(void *k, void **a) { hipKernelNodeParams p = {dim3(64), NULL, k, dim3(8), a, 0}; }\n",
        ),
        Example(
            "#include <cuda.h>\nvoid f(CUfunction k, void **a) {\n    CUDA_KERNEL_NODE_PARAMS p{\n"
            "        .func = k,\n        .gridDimX = 8,\n        .gridDimY = 1,\n        .gridDimZ = 1,\n"
            "        .blockDimX = 64,\n        .blockDimY = 1,\n        .blockDimZ = 1,\n"
            "        .kernelParams = a,\n    };\n}\n",
            "#include <hip/hip_runtime.h>\nvoid f(hipFunction_t k, void **a) {\n    hipKernelNodeParams p{\n"
            "        .blockDim = dim3(64, 1, 1),\n        .func = k,\n        .gridDim = dim3(8, 1, 1),\n"
            "        .kernelParams = a,\n    };\n}\n",
            "members by name, and sizes as numbers",
        ),
        Example(
            "#include <cuda.h>\n"
            "void f(CUfunction k, void **a) { CUDA_KERNEL_NODE_PARAMS p = {k, 8, 1, 1, 64, 1, 1, 0, a}; use(&p); }\n",
            "#include <hip/hip_runtime.h>\n"
            "void f(hipFunction_t k, void **a) "
            "{ hipKernelNodeParams p = {{64, 1, 1}, 0, k, {8, 1, 1}, a, 0}; use(&p); }\n",
            "in C, which has no constructors",
            path="a.c",
        ),
        Example(
            "#define SET(d, n) cudaMemsetParams{d, 0, 0, 1, n, 1}\n",
            "#define SET(d, n) hipMemsetParams{d, 1, 1, 0, 0, n}\n",
            "in a macro body",
        ),
        Example(
            "void f(int *d) { CHECK(use(cudaMemsetParams{.dst = d, .width = 4, .height = 1})); }\n",
            "void f(int *d) { CHECK(use(hipMemsetParams{.dst = d, .height = 1, .width = 4})); }\n",
            "as a macro's argument",
        ),
        Example(
            "void f(int *d) { cudaMemsetParams p[2] = {{d, 0, 7, 4, 16, 1}, {}}; }\n",
            "void f(int *d) { hipMemsetParams p[2] = {{d, 4, 1, 0, 7, 16}, {}}; }\n",
            "an array",
        ),
        Example(
            "void f() { cudaMemsetParams p = {0}, q{}; cudaKernelNodeParams r = {}; r.func = 0; }\n",
            note="nothing but 0",
        ),
        Example("void f(int *d) { cudaMemsetParams p{.dst = d, .elementSize = 4, .width = 8}; }\n", note="in order"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        in_c = unit.path.endswith(".c") and not unit.project.as_cuda
        for i in unit.find(*_STRUCTS):
            for k in _lists_at(unit, i):
                yield from self._list(unit, unit.t[i], k, in_c)

    def _list(self, unit: Unit, kind: str, k: int, in_c: bool) -> Iterator[Finding]:
        """The list that opens at token k."""
        values = [v for v in unit.split_args(k + 1, unit.match[k]) if v.start < v.end]
        texts = [unit.text[v.start : v.end] for v in values]
        if all(map(_NULL.match, texts)):
            return
        struct = _STRUCTS[kind]
        stays = struct is _FLAT and unit.options.trust is Trust.EXACT  # as the name of the type does, then
        edit = _in_order(struct, values, texts, in_c) if not stays else None
        if edit is None or edit.parts:
            yield self.finding(
                f"`{kind}` has its members in another order in HIP",
                unit.p[k],
                unit.end(unit.match[k]),
                (edit,) if edit is not None else (),
                severity=self.severity if edit is not None else Severity.WARNING,
                cuda=kind,
                effects=(("all", "compile-error" if texts[0].startswith(".") else struct.plain),),
            )


def _lists_at(unit: Unit, i: int) -> list[int]:
    """Where the lists open that initialise an object of the type at token i, or the elements of an array of them."""
    k = i + 1
    k += bool(unit.tok(k)) and is_identifier(unit.t[k])
    array = False
    while unit.tok(k) == "[" and unit.match[k] > 0:
        array, k = True, unit.match[k] + 1
    k += unit.tok(k) in _ENTERS
    if unit.tok(k) != "{" or unit.match[k] <= k or unit.declares(i):
        return []
    if not array:
        return [k]
    inner: list[int] = []
    close, k = unit.match[k], k + 1
    while k < close:
        inner += [k] if unit.tok(k) == "{" else []
        k = max(k, unit.match[k]) + 1
    return inner


def _in_order(struct: _Struct, values: Sequence[Span], texts: Sequence[str], c: bool) -> Edit | None:
    """The values in HIP's order, with no parts where that is theirs; None where it is not known."""
    named = [_DESIGNATOR.match(t) for t in texts]
    given: dict[str, Span] = {}
    for k, (v, m) in enumerate(zip(values, named, strict=True)):
        if (m is None) != (named[0] is None) or (m is None and k >= len(struct.cuda)):
            return None
        member = struct.cuda[k] if m is None else _RENAMED.get(m[1], m[1])
        if member not in struct.cuda or member in given:
            return None
        given[member] = v if m is None or struct is not _FLAT else Span(v.start + m.end(), v.end)
    parts = _values(struct, given, named[0] is not None, c)
    if parts is None:
        return None
    whole = Span(values[0].start, values[-1].end)
    if parts == [(v,) for v in values]:
        return Edit(whole.start, whole.end, ())
    gaps = [Span(a.end, b.start) for a, b in pairwise(values)]
    out: list[str | Span] = []
    for k, value in enumerate(parts):
        out += ((gaps[k - 1] if k <= len(gaps) else ", "), *value) if k else value
    return Edit(whole.start, whole.end, tuple(out))


def _values(struct: _Struct, given: dict[str, Span], named: bool, c: bool) -> list[tuple[str | Span, ...]] | None:
    """The values for HIP's members. By their places, those that the list leaves out are zero up to the last one."""
    parts: dict[str, tuple[str | Span, ...]] = {}
    for member in struct.hip:
        sizes = [given.get(member + axis) for axis in "XYZ"] if struct is _FLAT and member in _SIZES else []
        if any(sizes):
            three = [x if x is not None else "0" for x in sizes]
            opens, closes = ("{", "}") if c else ("dim3(", ")")
            parts[member] = (opens, three[0], ", ", three[1], ", ", three[2], closes)
        elif member in given:
            parts[member] = (given[member],)
        if named and struct is _FLAT and member in parts:
            parts[member] = (f".{member} = ", *parts[member])
    if named:
        return list(parts.values())
    last = max(struct.hip.index(m) for m in parts)
    zero = {"reserved": "{0}"}
    filled = struct.hip[: last + 1]
    if any(m in _SIZES and m not in parts for m in filled):
        return None
    return [parts.get(m, (zero.get(m, "0"),)) for m in filled]
