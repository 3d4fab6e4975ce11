from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cu2port.core.model import Edit, Finding, InHip, Options, Severity, Span, replace
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import HEADER, SPACE, modes
from cu2port.syntax.around import around, is_changed, use
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import CallExpr

_PROPERTIES = frozenset(
    "cudaDeviceProp hipDeviceProp_t cudaGetDeviceProperties hipGetDeviceProperties getCurrentDeviceProperties "
    "getDeviceProperties".split()
)
_QUERIES = {
    "cudaDeviceGetAttribute": "hipSuccess",
    "cuDeviceGetAttribute": "hipSuccess",
}
_ATTRIBUTES = ("cudaDevAttrWarpSize", "CU_DEVICE_ATTRIBUTE_WARP_SIZE")
_PLAIN = re.compile(r"[A-Za-z_][\w.\[\]]*(?:->[\w.\[\]]+)*\Z")


class QueriedWarpSize(Check):
    """The host asks a device for its warp size.

    On gfx9 GPUs the answer is 64, while the device code keeps CUDA's warps of 32 lanes: block sizes, shared memory
    and launch shapes made from it would not fit. The host gets CUDA's number as well.
    """

    code, name, severity = "CU316", "queried-warp-size", Severity.INFO
    triggers = frozenset({"warpSize", *_ATTRIBUTES})
    lint = InLint(in_hip=InHip.OWN)
    examples = (
        Example(
            "void f() { cudaDeviceProp prop; int warps = 256 / prop.warpSize; }",
            '#include "cu2port/warp.hpp"\nvoid f() { hipDeviceProp_t prop; int warps = 256 / cu2port::warp::size; }',
        ),
        Example(
            "#define WARPS(n) ((n) / ((cudaDeviceProp*)p)->warpSize)\n",
            '#include "cu2port/warp.hpp"\n#define WARPS(n) ((n) / cu2port::warp::size)\n',
            "in a macro body",
        ),
        Example(
            "void f() { int w; cudaDeviceGetAttribute(&w, cudaDevAttrWarpSize, 0); }",
            '#include "cu2port/warp.hpp"\nvoid f() { int w; w = cu2port::warp::size; }',
            "an attribute",
        ),
        Example(
            "void f(int w) { CHECK(cudaDeviceGetAttribute(&w, cudaDevAttrWarpSize, 0)); }",
            '#include "cu2port/warp.hpp"\nvoid f(int w) { CHECK((w = cu2port::warp::size, hipSuccess)); }',
            "as a macro's argument",
        ),
        Example(
            "void f(cudaDeviceProp* prop) { g(prop->warpSize); }",
            "void f(hipDeviceProp_t* prop) { g(32); }",
            "in C",
            path="a.c",
        ),
        Example(
            "int attributes[] = {cudaDevAttrWarpSize};",
            "int attributes[] = {hipDeviceAttributeWarpSize};",
            "asked for elsewhere",
        ),
        Example(
            "void f(cudaDeviceProp& p) { g(p.warpSize); }",
            "void f(hipDeviceProp_t& p) { g(p.warpSize); }",
            "`--warp flag`",
            options=Options(warp="flag"),
        ),
        Example("struct S { int warpSize; }; int f(S s) { return s.warpSize; }", note="the user's"),
        Example("#include <hip/hip_runtime.h>\nint f(hipDeviceProp_t p) { return p.warpSize; }", note="HIP's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(("warpSize", *_ATTRIBUTES)):
            return
        mode = modes(unit)
        yield from self._members(unit, mode)
        for i in unit.find(*_ATTRIBUTES):
            kept = mode(i) == "flag"
            if kept and unit.options.warp != "flag":
                continue
            call = _query(unit, i)
            edits = _answered(unit, *call) if call is not None and not kept else ()
            yield self.finding(
                f"`{unit.t[i]}` is answered with CUDA's 32" if edits else f"`{unit.t[i]}` is 64 on gfx9 GPUs",
                unit.p[call[0] if edits and call else i],
                unit.end(call[1].close if edits and call else i),
                edits,
                severity=None if edits else Severity.WARNING,
                effects=(("wave64", "wrong-result"),),
                helpers=_helpers(unit),
            )

    def _members(self, unit: Unit, mode: Callable[[int], str]) -> Iterator[Finding]:
        for i in unit.find("warpSize"):
            if unit.tok(i - 1) not in (".", "->") or _is_set_or_called(unit, i):
                continue
            kept = mode(i) == "flag"
            if kept and unit.options.warp != "flag":
                continue
            first = _object(unit, i - 2)
            known = _is_devices(unit, i, unit.source(max(first, 0), i - 1).lower() if first >= 0 else "")
            if known is False:
                continue
            first = first if known else -1
            edits = () if kept or first < 0 else (replace(unit.p[first], unit.end(i), _size(unit)),)
            yield self.finding(
                "the device's warp size is CUDA's 32" if edits else "the device's warp size is 64 on gfx9 GPUs",
                unit.p[first if edits else i],
                unit.end(i),
                edits,
                severity=None if edits else Severity.WARNING,
                effects=(("wave64", "wrong-result"),),
                helpers=_helpers(unit),
            )


def _is_set_or_called(unit: Unit, i: int) -> bool:
    """Whether the member at token i is assigned to, or is a function."""
    path = around(unit, i)
    inner, outer = use(path) or (None, None)
    return is_changed(path) or (isinstance(outer, CallExpr) and outer.callee is inner)


def _size(unit: Unit) -> str:
    """CUDA's warp size as the file may write it: the header is no C."""
    return "32" if unit.path.endswith(".c") else SPACE + "size"


def _helpers(unit: Unit) -> tuple[str, ...]:
    return () if unit.path.endswith(".c") else (HEADER,)


def _is_devices(unit: Unit, i: int, owner: str) -> bool | None:
    """Whether the member at token i is of a device's properties; None: of a device, to judge by the owner's name.

    `owner`: the object's expression, in lower case.
    """
    if unit.once(_declares_member):
        return False
    if unit.words & _PROPERTIES or "prop" in owner:
        return True
    return None if re.search(r"dev|gpu|cuda", owner) else False


def _declares_member(unit: Unit) -> bool:
    """Whether a struct of the file's own has a member `warpSize`."""
    return any(d.scope.kind == "class" for d in unit.declarations.named("warpSize"))


def _object(unit: Unit, k: int) -> int:
    """The first token of the object expression that ends at token k: `a.b[i]`, `f(x)`, `(*p)`; -1 if it is none."""
    while k >= 0:
        if unit.t[k] in (")", "]"):
            opener = unit.match[k]
            if opener < 0:
                return -1
            k = opener
            before = unit.tok(k - 1)
            if unit.t[k] == "(" and not (before and is_identifier(before) and before not in ("return", "case")):
                return k
            k -= 1
            continue
        if not is_identifier(unit.t[k]):
            return -1
        k = unit.qualifier(k)
        if unit.tok(k - 1) not in (".", "->"):
            return k
        k -= 2
    return -1


def _query(unit: Unit, i: int) -> tuple[int, Call] | None:
    """The call that asks for the attribute at token i: index of its name, and the call."""
    for k in range(i - 1, max(-1, i - 16), -1):
        if unit.t[k] in _QUERIES:
            call = unit.call(k)
            inside = call is not None and len(call.args) == 3 and call.args[1].start <= unit.p[i] < call.args[1].end
            return (k, call) if call is not None and inside else None
    return None


def _answered(unit: Unit, k: int, call: Call) -> tuple[Edit, ...]:
    """Edits that make an assignment of a query; none where what is assigned to cannot be told."""
    target = call.args[0]
    start = target.start
    text = unit.text[target.start : target.end]
    if text.startswith("&") and _PLAIN.match(text[1:].strip()):
        start += len(text) - len(text[1:].lstrip())
    else:
        return ()
    alone = unit.tok(call.close + 1) == ";" and unit.tok(k - 1) in (";", "{", "}", ")") and not _in_macro(unit, k)
    opening, closing = ("", f" = {_size(unit)}") if alone else ("(", f" = {_size(unit)}, {_QUERIES[unit.t[k]]})")
    return (Edit(unit.p[k], unit.end(call.close), (opening, Span(start, target.end), closing)),)


def _in_macro(unit: Unit, k: int) -> bool:
    return unit.in_directive(k) is not None
