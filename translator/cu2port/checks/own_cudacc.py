from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit, condition_words

_EDITORS = frozenset({"__CLION_IDE__", "__JETBRAINS_IDE__", "__INTELLISENSE__", "__clang_analyzer__", "__CLANGD__"})
_MACROS = ("__CUDACC__", "__NVCC__", "__CUDA_ARCH__", "__CUDACC_RTC__")


class OwnCudacc(Check):
    """The program defines a macro that only nvcc should: `#define __CUDACC__`.

    With it, rocThrust and other libraries take their branches for CUDA, which do not compile ("unimplemented for this
    system"). The conditions of the converted program ask for `__HIPCC__` and `__HIP_DEVICE_COMPILE__`, so nothing needs
    the definition for HIP: leave it out there.
    """

    code, name = "CU244", "own-compiler-macro"
    triggers = frozenset(_MACROS)
    minutes = 5
    examples = (
        Example("#define __CUDACC__\nint x;\n", "#define __CUDACC__\nint x;\n"),
        Example(
            "#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__ 800\n#endif\n",
            "#ifndef __HIP_DEVICE_COMPILE__\n#define __CUDA_ARCH__ 800\n#endif\n",
        ),
        Example("#undef __CUDACC__\n", note="taken away"),
        Example("#ifdef __INTELLISENSE__\n#define __CUDACC__\n#endif\n", note="for an editor"),
        Example("#define MY__CUDACC__\n#define IS __CUDACC__\n", note="other names"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_MACROS):
            return
        for name in _MACROS:
            for macro in unit.macros.get(name, ()):
                at = macro.directive.first + 2
                editors = any(condition_words(unit, g) & _EDITORS for g in unit.conditions(unit.p[at]))
                if not asks_for_hip(unit, at) and not editors:
                    yield self.finding(
                        f"`{name}` is defined by hand, so libraries take their branches for CUDA",
                        unit.p[at],
                        unit.end(at),
                        cuda="",
                        effects=(("all", "compile-error"),),
                    )
