from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_GIVES = {
    f"{begin}{name}": 1 for name in ("LaunchHostFunc", "StreamAddCallback") for begin in ("cuda", "cu", "hip")
} | {"cuLaunchHostFunc_v2": 1}
_ALLOWED = ("GetError", "ErrorString", "PeekAtLast", "GetLastError")
_PREFIXES = ("cuda", "cu", "hip")


class CallbackCall(Check):
    """A function that runs in a stream, as a callback, calls the runtime.

    CUDA forbids it and mostly tolerates it. HIP's worker waits for itself: the program hangs, often inside a free. Let
    the callback only note what is to be done, and do it from a thread that may call the runtime.
    """

    code, name = "CU604", "callback-call"
    triggers = frozenset(_GIVES)
    minutes = 30
    examples = (
        Example(
            "void done(void* p) { cudaFree(p); }\nvoid f(cudaStream_t s, void* p) { cudaLaunchHostFunc(s, done, p); }",
            "void done(void* p) { hipFree(p); }\nvoid f(hipStream_t s, void* p) { hipLaunchHostFunc(s, done, p); }",
            findings=1,
        ),
        Example(
            "void f(CUstream s, void* p) { cuLaunchHostFunc(s, [](void* q) { cuMemFree((CUdeviceptr)q); }, p); }",
            "void f(hipStream_t s, void* p) { hipLaunchHostFunc(s, [](void* q) { hipFree((hipDeviceptr_t)q); }, p); }",
            "a lambda",
        ),
        Example(
            "void cb(cudaStream_t s, cudaError_t e, void* p) { puts(cudaGetErrorString(e)); }\n"
            "void f(cudaStream_t s) { cudaStreamAddCallback(s, cb, 0, 0); }\n",
            note="it asks for a text alone",
        ),
        Example("void done(void* p) { cudaFree(p); }\nvoid f(void* p) { done(p); }\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        given = unit.find(*_GIVES)
        bodies = {f.name: f.body for f in unit.functions} if given else {}
        told: set[int] = set()
        for i in given:
            call = unit.call(i)
            if call is None or len(call.args) < 2:
                continue
            span = call.args[_GIVES[unit.t[i]]]
            first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
            text = unit.text[span.start : span.end].lstrip("&").rpartition("::")[2]
            if text in bodies:
                first, stop = bodies.pop(text)  # once, however often it is given
            for k in range(first, stop):
                if k not in told and self._calls(unit, k):
                    told.add(k)
                    yield self.finding(
                        f"`{unit.t[k]}` is called by a callback of a stream, where HIP's runtime may wait for itself",
                        unit.p[k],
                        unit.end(k),
                        effects=(("all", "hang"),),
                    )

    def _calls(self, unit: Unit, k: int) -> bool:
        """Whether token k calls a function of the runtime that works."""
        name = unit.t[k]
        if not name.startswith(_PREFIXES) or unit.tok(k + 1) != "(" or any(x in name for x in _ALLOWED):
            return False
        row = unit.catalog.get(name)
        return name.startswith("hip") or (row is not None and not name.endswith("_t") and name[-1].islower())
