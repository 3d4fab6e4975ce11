from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.environment import INSTEAD, RENAMED, TOOLKITS
from cu2port.facts.unit import Unit

_CALLS = (
    *("getenv", "setenv", "putenv", "unsetenv", "secure_getenv", "_putenv", "_putenv_s", "_dupenv_s", "getenv_s"),
    *("qgetenv", "qputenv", "qEnvironmentVariable", "GetEnvironmentVariable", "GetEnvironmentVariableA"),
    *("SetEnvironmentVariable", "SetEnvironmentVariableA"),
)
_NAME = regex(r'"(\w+)(?:=[^"]*)?"\Z')


class EnvironmentVariable(Check):
    """A program reads or sets a variable of the environment that only CUDA's driver or toolkit uses.

    HIP reads others: `CUDA_LAUNCH_BLOCKING` is `HIP_LAUNCH_BLOCKING`, and ROCm is where `ROCM_PATH` says, or in
    `/opt/rocm` where that is not set, so test for a null pointer. `CUDA_VISIBLE_DEVICES` stays, since HIP reads it too.
    """

    code, name = "CU610", "environment-variable"
    triggers = frozenset(_CALLS)
    minutes = 10
    examples = (
        Example(
            'const char* f() { return getenv("CUDA_PATH"); }',
            'const char* f() { return getenv("ROCM_PATH"); }',
        ),
        Example(
            'void f() { setenv("CUDA_LAUNCH_BLOCKING", "1", 1); putenv("CUDA_LAUNCH_BLOCKING=1"); }',
            'void f() { setenv("HIP_LAUNCH_BLOCKING", "1", 1); putenv("HIP_LAUNCH_BLOCKING=1"); }',
            findings=2,
        ),
        Example(
            'void f() { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); }',
            'void f() { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); }',
            "HIP's variable means something else",
        ),
        Example('#define HOME getenv("CUDA_HOME")\n', '#define HOME getenv("ROCM_PATH")\n', "in a macro body"),
        Example('CHECK(p = getenv("CUDA_HOME"));', 'CHECK(p = getenv("ROCM_PATH"));', "as a macro's argument"),
        Example('#define GET getenv\nconst char* f() { return GET("CUDA_PATH"); }', note="split by a macro"),
        Example('void f() { setenv("CUDA_VISIBLE_DEVICES", "0", 1); puts("CUDA_PATH"); }', note="HIP reads it too"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_CALLS):
            if unit.tok(i + 1) != "(" or (m := _NAME.match(unit.tok(i + 2))) is None:
                continue
            name, start = m[1], unit.p[i + 2] + 1
            new = "ROCM_PATH" if name in TOOLKITS else RENAMED.get(name, "")
            if not new and name not in INSTEAD:
                continue
            what = "names the folder of CUDA's toolkit" if name in TOOLKITS else "is read for CUDA alone"
            yield self.finding(
                f"`{name}` {what}; " + (f"`{new}` is ROCm's" if new else f"write {INSTEAD[name]}"),
                start,
                start + len(name),
                edits=(replace(start, start + len(name), new),) if new else (),
                trust=Trust.REVIEW,
                cuda=name,
                hip=new,
            )
