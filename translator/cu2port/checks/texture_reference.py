from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog import lack_images
from cu2port.core.model import Finding, Options, Severity, insert
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit

# a `<` follows, maybe behind a comment or a continuation
_MAY_DECLARE = re.compile(r"(?:texture|surface)[ \t\f\v\r\n]*+[</\\]")
_NUMBER = re.compile(r"\d\w*")
_GFX942 = Options(archs=("gfx942",))


class TextureReference(Check):
    """A texture or surface reference, which CUDA 12 removed and HIP has marked as deprecated.

    HIP still declares `texture<T, dim, mode>`, but nothing reads it on GPUs without texture units (gfx942, gfx950).
    Pass a texture object to the kernel, or read global memory. With such a GPU in `--arch`, a texture reference becomes
    the one of `cu2port/texture.hpp`, a variable in managed memory: one for all GPUs of a program, while CUDA has one
    for each. Files that choose between GPUs are told: what is bound on one GPU is read by the others.
    """

    code, name, severity = "CU208", "texture-reference", Severity.WARNING
    triggers = frozenset({"texture", "surface"})
    lint = InLint(chosen=True)
    minutes = 120
    counterpart = False
    examples = (
        Example("texture<float, 1> t;", "texture<float, 1> t;"),
        Example(
            "texture<float, 1> t;",
            '#include "cu2port/texture.hpp"\n__managed__ cu2port::TextureReference<float, 1> t;',
            "for GPUs without texture units",
            options=_GFX942,
        ),
        Example(
            "template <class T> void f(texture<T, 2>& t);",
            note="a parameter needs no memory of its own",
            options=_GFX942,
        ),
        Example(
            "typedef texture<float, 1> T; T t;",
            '#include "cu2port/texture.hpp"\ntypedef cu2port::TextureReference<float, 1> T; T t;',
            "`__managed__` is to be written before the type of its variables",
            options=_GFX942,
        ),
        Example(
            "#define T texture<float, 1>\nT t;",
            '#include "cu2port/texture.hpp"\n#define T cu2port::TextureReference<float, 1>\nT t;',
            "in a macro body",
            options=_GFX942,
        ),
        Example(
            "#define P(x) x\nP(texture<float, 1> t;)",
            '#include "cu2port/texture.hpp"\n#define P(x) x\nP(cu2port::TextureReference<float, 1> t;)',
            "as a macro's argument",
            options=_GFX942,
        ),
        Example(
            "texture<float, 1> t;\nvoid f(int *gpus, int n) { for (int i = 0; i < n; i++) cudaSetDevice(gpus[i]); }\n",
            '#include "cu2port/texture.hpp"\n__managed__ cu2port::TextureReference<float, 1> t;\n'
            "void f(int *gpus, int n) { for (int i = 0; i < n; i++) hipSetDevice(gpus[i]); }\n",
            "several GPUs",
            findings=2,
            options=_GFX942,
        ),
        Example("surface<void, 2> s;", "surface<void, 2> s;", "a surface"),
        Example("my::texture<float> t; struct texture { int x; };", note="another's name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _MAY_DECLARE.search(unit.text) is None:
            return
        software = lack_images(unit.options.archs)
        told = not software
        for i in unit.find("texture", "surface"):
            tok = unit.t[i]
            if unit.tok(i + 1) != "<" or unit.tok(i - 1) in ("::", ".", "->"):
                continue
            close = unit.angle_close(i + 1)
            if close < 0 or unit.declares(i) or unit.function_at(i) is not None:
                continue
            if software and tok == "texture":
                yield from self._managed(unit, i, close)
                if not told and (gpus := _chosen(unit)):
                    told = True
                    yield self._shared(unit, i, close, gpus)
                continue
            instead = "; `--arch gfx942` has it read in software" if tok == "texture" else ""
            yield self.finding(
                f"a {tok} reference: gone since CUDA 12, deprecated in HIP and missing on gfx942{instead}",
                unit.p[i],
                unit.end(close),
                effects=(("gfx942", "compile-error"),),
            )

    def _shared(self, unit: Unit, i: int, close: int, gpus: int) -> Finding:
        """That the GPUs of a program share a reference; `gpus`: how many calls choose one."""
        return self.finding(
            "the GPUs of a program share a texture reference here, while CUDA has one for each: where it is bound on"
            " several GPUs, each reads what was bound last; give each GPU a texture object of its own",
            unit.p[i],
            unit.end(close),
            severity=Severity.WARNING if gpus > 1 else Severity.INFO,
            effects=(("gfx942", "wrong-result" if gpus > 1 else "none"),),
        )

    def _managed(self, unit: Unit, i: int, close: int) -> Iterator[Finding]:
        """The variable of a texture reference in memory that host and device reach."""
        d = unit.declaration(close + 1)
        unclear = d is None and unit.tok(close + 1).isidentifier()  # as a macro's argument
        if unclear or (d is not None and d.kind == "type") or unit.declarations.scope_at(i).kind == "macro":
            yield self.finding(
                "a variable of this type needs `__managed__` before the type, so that kernels reach it",
                unit.p[i],
                unit.end(close),
                effects=(("gfx942", "compile-error"),),
            )
        elif d is None or d.kind != "variable" or d.scope.kind not in ("file", "namespace"):
            return
        elif "__managed__" not in unit.t[d.first : i]:
            yield self.finding(
                f"`{d.name}` is fetched in software on gfx942: its reference is in managed memory",
                unit.p[i],
                unit.end(close),
                edits=(insert(unit.p[i], "__managed__ "),),
                helpers=("texture.hpp",),
                cuda="texture",
            )


def _chosen(unit: Unit) -> int:
    """How many calls of a file choose a GPU that is not known before it runs; one in a list counts as two."""
    calls = (unit.call(i) for i in unit.find("cudaSetDevice", "cuCtxSetCurrent", "cuCtxPushCurrent"))
    given = [unit.text[c.args[0].start : c.args[0].end] for c in calls if c is not None and c.args]
    return sum(1 + ("[" in text) for text in given if not _NUMBER.fullmatch(text))
