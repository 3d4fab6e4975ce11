from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from cu2port.core.model import Finding, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import BEFORE_VALUE

#: Asynchronous copies -> which argument is the destination, the source and the direction (-1: none).
_COPIES = {
    "MemcpyAsync": (0, 1, 3),
    "Memcpy2DAsync": (0, 2, 6),
    "MemcpyHtoDAsync": (-1, 1, -1),
    "MemcpyHtoDAsync_v2": (-1, 1, -1),
    "MemcpyDtoHAsync": (0, -1, -1),
    "MemcpyDtoHAsync_v2": (0, -1, -1),
    "MemcpyToSymbolAsync": (-1, 1, 4),
}
_CALLS = {f"{begin}{name}": where for name, where in _COPIES.items() for begin in ("cuda", "cu", "hip")}
_WAITS = re.compile(
    r"(?:\w*[sS]ynchroni[sz]e\w*|\w*(?<![aA])[sS]ync|\w*[wW]ait\w*|(?:cuda|hip|cu)(?:Memcpy|Free|MemFree|DeviceReset)"
    r"|\w+Query|join|return)\Z"
)
_OWNERS = frozenset({"vector", "array", "string", "unique_ptr"})
_TYPES = re.compile(
    r"(?:float|double|int|unsigned|long|char|short|bool|size_t|u?int\d+_t|(?:float|double|u?int)[1-4])\Z"
)
_RELEASES = frozenset({"free", "delete"})
_ADDRESS = re.compile(r"&?\s*(\w+)(?:\s*\[[\w\s]*\]|\s*\.\s*data\s*\(\s*\)|\s*\.\s*get\s*\(\s*\))?\Z")
_FAR = 4000  # tokens


class PageableCopy(Check):
    """An asynchronous copy uses host memory that the function gives back before it waits for the copy.

    CUDA stages pageable memory before the call returns, so a local vector or variable may be gone when the copy runs.
    HIP may use the buffer later: other bytes each run. Wait for the stream before the buffer goes, keep the buffer, or
    use memory of `hipHostMalloc` that lives on.
    """

    code, name = "CU603", "pageable-copy"
    triggers = frozenset(_CALLS)
    minutes = 15
    examples = (
        Example(
            "void f(float* d, cudaStream_t s) { std::vector<float> v(9); "
            "cudaMemcpyAsync(d, v.data(), 36, cudaMemcpyHostToDevice, s); }",
            "void f(float* d, hipStream_t s) { std::vector<float> v(9); "
            "hipMemcpyAsync(d, v.data(), 36, hipMemcpyHostToDevice, s); }",
            findings=1,
        ),
        Example(
            "void f(CUdeviceptr d, CUstream s) { int* h = new int; cuMemcpyHtoDAsync(d, h, 4, s); delete h; }",
            "void f(hipDeviceptr_t d, hipStream_t s) { int* h = new int; hipMemcpyHtoDAsync(d, h, 4, s); delete h; }",
            "given back at once",
        ),
        Example(
            "void f(int* d, cudaStream_t s) { int x = 3; cudaMemcpyAsync(d, &x, 4, cudaMemcpyHostToDevice, s); "
            "cudaStreamSynchronize(s); }",
            note="it waits",
        ),
        Example(
            "void f(int* d, cudaStream_t s) { { int x = 0; g(x); } { int x = 3; "
            "cudaMemcpyAsync(d, &x, 4, cudaMemcpyHostToDevice, s); cudaStreamSynchronize(s); } }",
            note="so does the later of two variables of one name",
        ),
        Example("void f(int* d, int* h, cudaStream_t s) { cudaMemcpyAsync(d, h, 4, cudaMemcpyHostToDevice, s); }"),
        Example(
            "void f(int* d, cudaStream_t s) { std::vector<int> v(9); "
            "cudaMemcpyAsync(d, v.size() ? e : d, 4, cudaMemcpyDeviceToDevice, s); }"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_CALLS):
            f, call = unit.function_at(i), unit.call(i)
            if f is None or call is None or unit.in_directive(i) is not None:
                continue
            to, source, way = _CALLS[unit.t[i]]
            direction = unit.text[call.args[way].start : call.args[way].end] if 0 <= way < len(call.args) else ""
            if direction.endswith("DeviceToDevice"):
                continue
            places = (source,) if direction.endswith("HostToDevice") else (to, source)
            for at in places:
                name = _variable(unit, call.args[at]) if 0 <= at < len(call.args) else ""
                if name and (gone := _gone(unit, f, name, i, unit.text[call.args[at].start] == "&")):
                    yield self.finding(
                        f"`{name}` is pageable memory and {gone} while `{unit.t[i]}` may still use it",
                        unit.p[i],
                        unit.end(call.close),
                        effects=(("all", "wrong-result"),),
                    )
                    break


def _variable(unit: Unit, span: Span) -> str:
    """The variable whose memory an argument is: `v.data()`, `&x`, `&v[0]`, `p`; else ""."""
    m = _ADDRESS.match(re.sub(r"\(\s*(?:const\s+)?\w+\s*\*+\s*\)", "", unit.text[span.start : span.end]).strip())
    return m[1] if m is not None and is_identifier(m[1]) else ""


def _gone(unit: Unit, f: Function, name: str, i: int, address: bool) -> str:
    """What happens to a local variable's memory behind token i, before anything waits; "" for nothing that is known."""
    declared = (k for k in reversed(unit.between(f.body[0], i, name)) if _declares(unit, k))
    at = next((k for k in declared if _scope_end(unit, k, f) > i), -1)
    if at < 0:
        return ""
    first = at
    while first > f.body[0] and unit.t[first - 1] not in (";", "{", "}"):
        first -= 1
    words = unit.t[first:at]
    if "static" in words or "thread_local" in words or "pinned" in " ".join(words).lower():
        return ""
    stop = _scope_end(unit, at, f)
    pointer = "*" in words
    if pointer and not address:
        heap = {"malloc", "calloc", "new"} & set(unit.t[at : _until(unit, at, ";")])
        return "is freed" if heap and _released(unit, name, i, min(stop, i + _FAR)) else ""
    own = bool(_OWNERS & set(words)) or unit.tok(at + 1) == "[" or (address and any(map(_TYPES.match, words)))
    if not own or pointer:
        return ""
    waits = unit.once(_waits)
    following = bisect_left(waits, _until(unit, i, ";"))
    return "" if following < len(waits) and waits[following] < min(stop, i + _FAR) else "leaves its scope"


def _waits(unit: Unit) -> list[int]:
    """The tokens behind which copies that were begun before may be done, in order."""
    return unit.find(*(w for w in unit.words if _WAITS.match(w)))


def _declares(unit: Unit, k: int) -> bool:
    """Whether a type is before the name at token k."""
    before, after = unit.tok(k - 1), unit.tok(k + 1)
    type_ends = before in (">", "*") or (is_identifier(before or ";") and before not in BEFORE_VALUE)
    return type_ends and after in (";", "=", "(", "{", "[", ",") and unit.declares(k)


def _released(unit: Unit, name: str, i: int, stop: int) -> bool:
    """Whether memory is given back behind token i before anything waits."""
    for k in range(_until(unit, i, ";"), stop):
        if unit.t[k] in _RELEASES and name in unit.t[k + 1 : k + 5]:
            return True
        if _WAITS.match(unit.t[k]):
            return False
    return False


def _until(unit: Unit, i: int, tok: str) -> int:
    while i < len(unit.t) and unit.t[i] != tok:
        i += 1
    return i


def _scope_end(unit: Unit, at: int, f: Function) -> int:
    """The `}` of the innermost block around token `at`."""
    opens = [k for k in unit.between(f.body[0], at, "{") if unit.match[k] > at]
    return unit.match[opens[-1]] if opens else f.body[1]
