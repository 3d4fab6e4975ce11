from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.statements import parameters, read_expression
from cu2port.syntax.tree import root

_ATOMICS = ("atomicMin", "atomicMax")
#: What allocates memory that the host sees as well -> which argument holds the pointer.
_ALLOCATES = dict.fromkeys(
    [
        *("cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaHostGetDevicePointer"),
        *("cuMemAllocManaged", "cuMemHostAlloc", "cuMemAllocHost", "cuMemHostGetDevicePointer"),
        *("hipMallocManaged", "hipHostMalloc", "hipHostAlloc", "hipHostGetDevicePointer"),
    ],
    0,
)


class HostAtomic(Check):
    """`atomicMin` or `atomicMax` works on memory that the host sees: managed, or page-locked and mapped.

    On gfx90a the update is lost without an error where the memory is fine-grained, as memory for the host is by
    default; `atomicAdd` and `atomicCAS` work. Use device memory, `atomicMin_system` and `atomicMax_system`, or a loop
    of `atomicCAS`.
    """

    code, name = "CU609", "host-atomic"
    triggers = frozenset({"__managed__", *_ALLOCATES})
    minutes = 20
    examples = (
        Example(
            "__global__ void k(int* p, int v) { atomicMin(&p[1], v); }\n"
            "void f() { int* q; cudaMallocManaged(&q, 8); k<<<1, 1>>>(q, 3); }",
            "__global__ void k(int* p, int v) { atomicMin(&p[1], v); }\n"
            "void f() { int* q; hipMallocManaged(&q, 8); k<<<1, 1>>>(q, 3); }",
            findings=1,
        ),
        Example(
            "__managed__ int best;\n__global__ void m(int v) { atomicMax(&best, v); }",
            "__managed__ int best;\n__global__ void m(int v) { atomicMax(&best, v); }",
        ),
        Example(
            "__global__ void k(int* p, int v) { atomicMin(p, v); }\n"
            "void f() { int* q; cudaMalloc(&q, 8); k<<<1, 1>>>(q, 3); }",
            note="device memory",
        ),
        Example(
            "__global__ void k(int* p, int v) { atomicAdd(p, v); }\n"
            "void f() { int* q; cudaMallocManaged(&q, 8); k<<<1, 1>>>(q, 3); }"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        places = [i for i in unit.find(*_ATOMICS) if unit.call(i) is not None]
        if not places or not unit.words & ({"__managed__"} | _ALLOCATES.keys()):
            return
        managed = {_name_behind(unit, i) for i in unit.find("__managed__")}
        reached: dict[str, set[int]] = {}
        for launch in unit.launches:
            here = _allocated(unit, unit.function_at(launch.open))
            if launch.args[0] > 0 and here:
                spans = unit.split_args(launch.args[0] + 1, launch.args[1])
                seen = {n for n, s in enumerate(spans) if unit.text[s.start : s.end].rpartition(".")[2] in here}
                reached.setdefault(unit.t[_callee(unit, launch.open)], set()).update(seen)
        for i in places:
            f, call = unit.function_at(i), unit.call(i)
            if f is None or call is None or not call.args:
                continue
            span = call.args[0]
            name = root(read_expression(unit, unit.lexed.at(span.start), unit.lexed.at(span.end)))
            names = [p.name for p in parameters(unit, *f.params)]
            if name in managed or (name in names and names.index(name) in reached.get(f.name, ())):
                yield self.finding(
                    f"`{unit.t[i]}` on `{name}`, memory that the host sees, is lost on gfx90a",
                    unit.p[i],
                    unit.end(i),
                    effects=(("gfx90a", "wrong-result"),),
                )


def _allocated(unit: Unit, f: Function | None) -> set[str]:
    """The variables of a function whose memory the host sees."""
    out: set[str] = set()
    if f is None:
        return out
    for k in unit.between(f.body[0], f.body[1], *_ALLOCATES):
        call = unit.call(k)
        if call is not None and call.args:
            span = call.args[_ALLOCATES[unit.t[k]]]
            words = [w for w in unit.t[unit.lexed.at(span.start) : unit.lexed.at(span.end)] if is_identifier(w)]
            out.update(words[-1:])
    return out


def _callee(unit: Unit, opened: int) -> int:
    """The name of the kernel before a `<<<`."""
    k = opened - 1
    return unit.angle_open(k) - 1 if unit.t[k] == ">" else k


def _name_behind(unit: Unit, i: int) -> str:
    """The variable that a declaration with the specifier at token i declares."""
    k = i + 1
    while k < len(unit.t) and unit.t[k] not in (";", "=", "[", ",", "{", "("):
        k += 1
    return unit.t[k - 1]
