from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Trust, replace
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit

# NVRTC's manual, "Supported Compile Options"; what stands on the right is clang's, which is behind hipRTC.
_SAME_MEANING = {
    "--define-macro=": "-D",
    "--device-c": "-fgpu-rdc",
    "--device-debug": "-g",
    "--fmad=false": "-ffp-contract=off",
    "--fmad=true": "-ffp-contract=fast",
    "--ftz=false": "-fno-gpu-flush-denormals-to-zero",
    "--ftz=true": "-fgpu-flush-denormals-to-zero",
    "--generate-line-info": "-gline-tables-only",
    "--include-path=": "-I",
    "--relocatable-device-code=false": "-fno-gpu-rdc",
    "--relocatable-device-code=true": "-fgpu-rdc",
    "--undefine-macro=": "-U",
    "--use_fast_math": "-ffast-math",
}
_SHORT = {
    "-G": "--device-debug",
    "-dc": "--device-c",
    "-default-device": "--device-as-default-execution-space",
    "-dlto": "--dlink-time-opt",
    "-dw": "--device-w",
    "-lineinfo": "--generate-line-info",
    "-restrict": "--restrict",
}
_STEMS = {"-rdc": "--relocatable-device-code", "-arch": "--gpu-architecture"}
_NO_COUNTERPART = {
    "--gpu-architecture": "leave it out, then hipRTC compiles for the current device, or pass `--offload-arch=gfx...`",
    "--maxrregcount": "limit registers by `__launch_bounds__` on the kernel",
    "--device-as-default-execution-space": "write `__device__` before each function of the source",
    "--ptxas-options": "leave it out: there is no ptxas",
    "--device-w": "leave it out: it is the default",
    "--restrict": "write `__restrict__` on the parameters",
    "--extra-device-vectorization": "leave it out",
    "--modify-stack-limit": "leave it out",
    "--dlink-time-opt": "compile with `-fgpu-rdc` and link the bitcode by `hiprtcLinkCreate`",
    "--gen-opt-lto": "leave it out",
    "--prec-div": "`-fno-hip-fp32-correctly-rounded-divide-sqrt` stands for both it and `--prec-sqrt`",
    "--prec-sqrt": "`-fno-hip-fp32-correctly-rounded-divide-sqrt` stands for both it and `--prec-div`",
    "--device-int128": "leave it out: clang always has `__int128`",
    "--builtin-move-forward": "leave it out",
    "--builtin-initializer-list": "leave it out",
    "--no-source-include": "leave it out",
    "--display-error-number": "leave it out",
    "--no-display-error-number": "leave it out",
    "--diag-error": "leave it out: its numbers are those of NVIDIA's compiler",
    "--diag-suppress": "leave it out: its numbers are those of NVIDIA's compiler",
    "--diag-warn": "leave it out: its numbers are those of NVIDIA's compiler",
    "--brief-diagnostics": "leave it out",
    "--split-compile": "leave it out",
}
#: The folder of CUDA's headers, alone or behind the option for it.
_HEADERS = re.compile(r'"(-I ?|--include-path=|)(/usr/local/cuda(?:-[0-9.]++)?(?:/targets/[\w-]++)?)(?:/include/?)"\Z')
_LITERAL = re.compile(r'"(--?[\w-]+)((?:=[^"]*)?)"\Z')


class NvrtcOption(Check):
    """An option for NVRTC is in a string, and hipRTC has clang's options.

    hipRTC hands what it does not know to clang, which refuses it: compilation fails when the program runs. Options
    with a counterpart are rewritten; the rest say what to do.
    """

    code, name, severity = "CU218", "nvrtc-option", Severity.INFO
    triggers = frozenset({"nvrtcCompileProgram"})
    lint = InLint(chosen=True)
    examples = (
        Example(
            'void f(nvrtcProgram p) { const char* o[] = {"--fmad=false", "-lineinfo"}; nvrtcCompileProgram(p, 2, o); }',
            'void f(hiprtcProgram p) { const char* o[] = {"-ffp-contract=off", "-gline-tables-only"}; '
            "hiprtcCompileProgram(p, 2, o); }",
            findings=2,
        ),
        Example(
            'void f(nvrtcProgram p) { const char* o = "-arch=compute_80"; nvrtcCompileProgram(p, 1, &o); }',
            'void f(hiprtcProgram p) { const char* o = "-arch=compute_80"; hiprtcCompileProgram(p, 1, &o); }',
            "without a counterpart",
        ),
        Example(
            '#define FAST "--use_fast_math"\n#define COMPILE(p, n, o) nvrtcCompileProgram(p, n, o)\n',
            '#define FAST "-ffast-math"\n#define COMPILE(p, n, o) hiprtcCompileProgram(p, n, o)\n',
            "in a macro body",
        ),
        Example(
            'void f(nvrtcProgram p) { CHECK(nvrtcCompileProgram(p, n, o)); ADD("-rdc=true"); }',
            'void f(hiprtcProgram p) { CHECK(hiprtcCompileProgram(p, n, o)); ADD("-fgpu-rdc"); }',
            "as a macro's argument",
        ),
        Example(
            'void f(nvrtcProgram p) { const char* o = "--std=c++17"; nvrtcCompileProgram(p, 1, &o); }',
            note="clang takes it too",
        ),
        Example(
            'void f(nvrtcProgram p) { const char* o = "-I/usr/local/cuda-12/include"; nvrtcCompileProgram(p, 1, &o); }',
            'void f(hiprtcProgram p) { const char* o = "-I/opt/rocm/include"; hiprtcCompileProgram(p, 1, &o); }',
            "the folder of CUDA's headers",
        ),
        Example('bool fast(const char* a) { return !strcmp(a, "--use_fast_math"); }', note="no NVRTC in the file"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "nvrtcCompileProgram" not in unit.words:
            return
        found = {s: m for s in unit.strings if (m := _LITERAL.match(s))}
        headers = {s: m for s in unit.strings if (m := _HEADERS.match(s))}
        for i in unit.find(*{**found, **headers}):
            if unit.t[i] in headers:
                yield self._folder(unit, i, *headers[unit.t[i]].groups())
                continue
            option, value = found[unit.t[i]].groups()
            stem = _STEMS.get(option, _SHORT.get(option, option))
            new = _spelled(stem, value)
            advice = _NO_COUNTERPART.get(stem)
            if new is not None:
                edits = (replace(unit.p[i], unit.end(i), f'"{new}"'),)
                message = f"`{option}{value}` is `{new}` for hipRTC"
                yield self.finding(message, unit.p[i], unit.end(i), edits, trust=Trust.REVIEW)
            elif advice is not None:
                yield self.finding(
                    f"`{option}{value}` is an option of NVIDIA's compiler: {advice}",
                    unit.p[i],
                    unit.end(i),
                    severity=Severity.WARNING,
                    effects=(("all", "wrong-result"),),
                )

    def _folder(self, unit: Unit, i: int, option: str, folder: str) -> Finding:
        """CUDA's headers among the folders for a program that is compiled as it runs."""
        new = "-I" if option.startswith("--") else option
        edits = (replace(unit.p[i], unit.end(i), f'"{new}/opt/rocm/include"'),)
        message = f"`{folder}/include` is CUDA's; ROCm's headers are in `/opt/rocm/include`"
        return self.finding(message, unit.p[i], unit.end(i), edits, trust=Trust.REVIEW)


def _spelled(stem: str, value: str) -> str | None:
    """An option with its value as clang spells it."""
    if stem + value in _SAME_MEANING:
        return _SAME_MEANING[stem + value]
    start = _SAME_MEANING.get(stem + "=") if value else None
    return None if start is None else start + value[1:]
