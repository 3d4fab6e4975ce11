from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.lacking import not_in_hip
from cu2port.core.model import Edit, Finding, Severity, Side, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.atoms import VERSION_MACROS
from cu2port.facts.branches import Comparison, comparison, tested_defined
from cu2port.facts.cuda_versions import (
    ANSWERS,
    COUNTS_AS,
    MAJOR,
    MINOR,
    answer,
    counts_as,
    expression_of_versions,
    hip_parts,
    is_compared,
    needed_by_all,
    only_complains,
    summed,
    versions,
)
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import Binary, Num

_OURS = {"NVTX_VERSION": "cu2port::nvtx::version"}  # where a value is needed, not in a condition
_VALUES = {  # in code, where the number is shown, handed on or held against the one that the runtime tells
    "CUDA_VERSION": "HIP_VERSION",
    "CUDART_VERSION": "HIP_VERSION",
    MAJOR: "HIP_VERSION_MAJOR",
    MINOR: "HIP_VERSION_MINOR",
    "__CUDACC_VER_BUILD__": "HIP_VERSION_PATCH",
}


class CudaVersion(Check):
    """A version of CUDA or of its compiler or libraries is asked for.

    HIP numbers its versions in another way, so the macro is never renamed. Under HIP it is undefined and counts as
    0: a guard `CUDA_VERSION >= 9000` would quietly choose the code for CUDA 8. Comparisons are completed, or
    answered in code and in macros, so that HIP counts as CUDA 12.6, whose interfaces it follows. A value in code
    becomes HIP's, as its runtime tells it. HIP's libraries count as newer than any version of CUDA's. Everything
    else is left for manual work. So is a comparison whose newer code names what HIP has not, where there is older
    code that does without, or where nothing but declarations is lost.
    """

    code, name, severity = "CU206", "cuda-version", Severity.WARNING
    triggers = frozenset(VERSION_MACROS)
    minutes = 5
    examples = (
        Example(
            "#if CUDART_VERSION >= 9000\nint x;\n#endif\n",
            "#if (!defined(CUDART_VERSION) || CUDART_VERSION >= 9000)\nint x;\n#endif\n",
        ),
        Example(
            "#if A && CUDA_VERSION < 12000\nint x;\n#endif\n",
            "#if A && (defined(CUDA_VERSION) && CUDA_VERSION < 12000)\nint x;\n#endif\n",
        ),
        Example(
            "#if (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10) >= 12020\nint x;\n#endif\n",
            "#if (!defined(__CUDACC_VER_MAJOR__) || "
            "(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10) >= 12020)\nint x;\n#endif\n",
            "both parts at once",
        ),
        Example(
            "#if __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__ < 128\nint x;\n#endif\n",
            "#if __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__ < 128\nint x;\n#endif\n",
            "true, as expected",
        ),
        Example(
            "#if (CUDA_VERSION / 1000) >= 12\nint x;\n#endif\n",
            "#if (!defined(CUDA_VERSION) || (CUDA_VERSION / 1000) >= 12)\nint x;\n#endif\n",
            "a part of it",
        ),
        Example(
            "#if __CUDACC_VER_MAJOR__ == 10 && __CUDACC_VER_MINOR__ < 1\nint x;\n#endif\n",
            "#if __CUDACC_VER_MAJOR__ == 10 && __CUDACC_VER_MINOR__ < 1\nint x;\n#endif\n",
            "one version, and HIP is not it",
        ),
        Example("#if CUDART_VERSION >= 13000\n#endif\n", "#if CUDART_VERSION >= 13000\n#endif\n", "false, as expected"),
        Example(
            "#if CUDART_VERSION >= 12000\nusing T = CUtensorMap;\n#else\nusing T = char;\n#endif\n",
            "#if CUDART_VERSION >= 12000\nusing T = CUtensorMap;\n#else\nusing T = char;\n#endif\n",
            "HIP has not what is newer",
            findings=1,
        ),
        Example(
            "void f(T* t) {\n    (void)t;\n#if CUDART_VERSION >= 12000\n    CUtensorMap m = *t;\n#endif\n}\n",
            '#include "cu2port/untranslated.hpp"\nvoid f(T* t) {\n    (void)t;\n#if CUDART_VERSION >= 12000\n'
            '    CUtensorMap m = *t;\n#else\ncu2port::untranslated("`CUtensorMap` is not in HIP");\n#endif\n}\n',
            "statements that HIP has not",
            findings=2,
            path="a.cpp",
        ),
        Example(
            "#if CUDART_VERSION >= 12000\nint f(CUtensorMap* m) { return 0; }\n#endif\n"
            "int g() {\n#if defined(CUDART_VERSION) && CUDART_VERSION >= 12000\n    f(0);\n#else\n    h();\n#endif\n}",
            "#if CUDART_VERSION >= 12000\nint f(CUtensorMap* m) { return 0; }\n#endif\n"
            "int g() {\n#if defined(CUDART_VERSION) && CUDART_VERSION >= 12000\n    f(0);\n#else\n    h();\n#endif\n}",
            "what such a branch defines is not called",
            findings=2,
        ),
        Example(
            "#if CUDART_VERSION >= 12000\n#define MAPS\n#endif\n#ifdef MAPS\nusing T = CUtensorMap;\n#endif\n",
            "#if CUDART_VERSION >= 12000\n#define MAPS\n#endif\n#ifdef MAPS\nusing T = CUtensorMap;\n#endif\n",
            "a flag",
            findings=1,
        ),
        Example("#if __CUDACC_VER_MAJOR__ > 12\n#endif\n", "#if __CUDACC_VER_MAJOR__ > 12\n#endif\n", "13 and later"),
        Example(
            "int f() { return CUDART_VERSION; }",
            "#include <hip/hip_runtime.h>\nint f() { return HIP_VERSION; }",
            "its value is used",
            path="a.cpp",
        ),
        Example(
            "#if defined(CUDA_VERSION) && CUDA_VERSION >= 9000\nint x;\n#endif\n",
            "#if (defined(CUDA_VERSION) && CUDA_VERSION >= 9000 || defined(__HIP_PLATFORM_AMD__))\nint x;\n#endif\n",
            "whether it is defined at all is asked too",
        ),
        Example(
            "#if defined(CUDA_VERSION) && (CUDA_VERSION >= 9000) && CUDA_VERSION < 11000\nint x;\n#endif\n",
            "#if defined(CUDA_VERSION) && (CUDA_VERSION >= 9000) && CUDA_VERSION < 11000\nint x;\n#endif\n",
            "false, as expected",
        ),
        Example(
            "#ifdef CUDA_VERSION\nint x;\n#endif\n",
            "#ifdef CUDA_VERSION\nint x;\n#endif\n",
            "with no version beside it",
            findings=1,
        ),
        Example(
            "#ifndef CUDA_VERSION\n#error no version\n#elif CUDA_VERSION >= 13000\nint x;\n#endif\n",
            "#if !defined(CUDA_VERSION) && !defined(__HIP_PLATFORM_AMD__)\n#error no version\n"
            "#elif CUDA_VERSION >= 13000\nint x;\n#endif\n",
            "without it there is an error",
        ),
        Example(
            "#if !defined(CUDART_VERSION)\n#error no version\n#endif\n",
            "#if !defined(CUDART_VERSION) && !defined(__HIP_PLATFORM_AMD__)\n#error no version\n#endif\n",
        ),
        Example(
            "void f() { a.version = NVTX_VERSION; }\n",
            '#include "cu2port/nvtx.hpp"\nvoid f() { a.version = cu2port::nvtx::version; }\n',
            "our header has events of NVTX's",
            path="a.cpp",
        ),
        Example(
            "#if CUDA_VERSION != MINE\n#endif\n", "#if CUDA_VERSION != MINE\n#endif\n", "against another", findings=1
        ),
        Example("#error CUDA_VERSION is too old\n", note="a message"),
        Example("#define V CUDA_VERSION\n", "#define V CUDA_VERSION\n", "in a macro body"),
        Example(
            "#define HAS (__CUDACC_VER_MAJOR__ >= 11 || __CUDACC_VER_MAJOR__ == 10 && __CUDACC_VER_MINOR__ >= 2)\n",
            "#define HAS (1 || 0 && 1)\n",
            "a condition in a macro body",
        ),
        Example("#define NEW(x) (x && CUDA_VERSION >= 13000)\n", "#define NEW(x) (x && 0)\n", "of a later version"),
        Example(
            'void f() {\n    static_assert(CUDART_VERSION >= 10000, "");\n    if (CUDA_VERSION >= 13000) g();\n}\n',
            'void f() {\n    static_assert(1, "");\n    if (0) g();\n}\n',
            "a condition in code",
        ),
        Example(
            "void f() { show(CUDA_VERSION / 1000, (CUDA_VERSION % 1000) / 10, __CUDACC_VER_MAJOR__); }",
            "#include <hip/hip_runtime.h>\n"
            "void f() { show(HIP_VERSION / 10000000, (HIP_VERSION % 10000000) / 100000, HIP_VERSION_MAJOR); }",
            "shown",
            path="a.cpp",
        ),
        Example(
            "#if defined(CUBLAS_VERSION) && CUBLAS_VERSION >= 11000\nint x;\n#elif CUDNN_VERSION == 4000\n#endif\n"
            'static_assert(CUB_VERSION >= 101700, "");\n',
            "#if (defined(CUBLAS_VERSION) && CUBLAS_VERSION >= 11000 || defined(__HIP_PLATFORM_AMD__))\nint x;\n"
            '#elif CUDNN_VERSION == 4000\n#endif\nstatic_assert(1, "");\n',
            "of libraries",
            findings=3,
        ),
        Example("SHOW(CUB_VERSION)", "SHOW(CUB_VERSION)", "as a macro's argument"),
        Example("int MY_CUDA_VERSION;", note="another name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*VERSION_MACROS):
            tok = unit.t[i]
            told = unit.in_directive(i)
            if asks_for_hip(unit, i) or (told is not None and told.keyword in ("error", "warning")):
                continue
            if told is not None and told.keyword in ("if", "elif") and (said := self._whole(unit, i)) is not None:
                yield from said
                continue
            if tested_defined(unit, i):
                yield from self._tested(unit, i)
                continue
            if tok == MINOR and summed(unit, i - 4) is not None:
                continue
            if (told is None or told.keyword == "define") and (answered := self._in_code(unit, i)) is not None:
                yield answered
                continue
            found, counted = summed(unit, i) or (comparison(unit, i), COUNTS_AS.get(tok))
            if found is None or found.op in ("==", "!="):
                if told is not None and told.keyword == "define" and i == told.first + 2:
                    continue
                ours = _OURS.get(tok, "") if told is None or told.keyword == "define" else ""
                value = _VALUES.get(tok, "") if told is None else ""
                yield self.finding(
                    f"`{tok}` is not defined by HIP, whose versions count differently",
                    unit.p[i],
                    unit.end(i),
                    _value(unit, i, value) if value else (replace(unit.p[i], unit.end(i), ours),) if ours else (),
                    trust=Trust.REVIEW if value else Trust.EXACT,
                    cuda=tok,
                    effects=(("all", "compile-error" if told is None else "wrong-result"),),
                    needs=("hip/hip_runtime.h",) if value else (),
                    helpers=("nvtx.hpp",) if ours else (),
                )
            elif counted is not None and ANSWERS[found.op](counted, found.number) == ANSWERS[found.op](0, found.number):
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: under HIP the macro counts as 0; that is "
                    "right, since HIP follows CUDA 12.6",
                    found.start,
                    found.end,
                    severity=Severity.INFO,
                    cuda=tok,
                )
            elif _asked_before(unit, i):
                continue
            elif found.op in (">", ">=") and (lost := not_in_hip(unit, i))[0]:
                yield from self._older(unit, found, tok, *lost)
            else:
                newer = found.op in (">", ">=")
                before = f"(!defined({tok}) || " if newer else f"(defined({tok}) && "
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: under HIP the macro counts as 0; completed so that HIP "
                    "counts as newer",
                    found.start,
                    found.end,
                    (insert(found.start, before), insert(found.end, ")", Side.LEFT)),
                    trust=Trust.REVIEW,
                    cuda=tok,
                    effects=(("all", "wrong-result"),),
                )

    def _tested(self, unit: Unit, i: int) -> Iterator[Finding]:
        """What is said of `defined(X)`, `#ifdef X` and `#ifndef X`, where token i is X."""
        tok = unit.t[i]
        if (last := only_complains(unit, i)) is not None:
            d = unit.in_directive(i)
            edit = replace(
                unit.p[d.first + 1 if d else i], unit.end(last), f"if !defined({tok}) && !defined(__HIP_PLATFORM_AMD__)"
            )
            yield self.finding(
                f"HIP does not define `{tok}`, which is not an error in HIP",
                unit.p[i],
                unit.end(i),
                edits=(edit,),
                trust=Trust.REVIEW,
                severity=Severity.INFO,
                cuda=tok,
            )
        elif (asked := versions(unit, i)) is not None and (asked.number or not needed_by_all(unit, i)):
            yield from self._asked(unit, i, asked)
        else:
            yield self.finding(
                f"`{tok}` is not defined by HIP"
                + (", so none of these branches is compiled" if needed_by_all(unit, i) else ""),
                unit.p[i],
                unit.end(i),
                cuda=tok,
                effects=(("all", "wrong-result"),),
            )

    def _whole(self, unit: Unit, i: int) -> list[Finding] | None:
        """What is said of a condition that asks for versions and nothing else, at its first version; [] at others;
        None where its comparisons are judged one by one."""
        e = expression_of_versions(unit, i)
        if e is None:
            return None
        first, last = tokens(e)
        words = unit.t[first : last + 1]
        places = [k for k in range(first, last + 1) if unit.t[k] in COUNTS_AS]
        if "defined" not in words and all(is_compared(unit, k) for k in places):
            return None
        untouched, wanted = (answer(words, of_hip) for of_hip in (False, True))
        if (
            untouched is None
            or wanted is None
            or ("defined" in words and (untouched != wanted or needed_by_all(unit, i)))
        ):
            return None
        if i != places[0] or "defined" in words:
            return []
        start, end, tok = unit.p[first], unit.end(last), unit.t[i]
        if untouched == wanted:
            said = f"`{unit.text[start:end]}`: under HIP the macro counts as 0, with the same answer"
            return [self.finding(said, start, end, severity=Severity.INFO, cuda=tok)]
        if wanted and (lost := not_in_hip(unit, i))[0]:
            return [*self._older(unit, Comparison("", 0, start, end), tok, *lost)]
        before, after = ("(!defined" if wanted else "(defined") + f"({tok}) {'||' if wanted else '&&'} ", ")"
        if isinstance(e, Binary) and e.op in ("&&", "||") and not e.around:
            before, after = before + "(", after + ")"
        return [
            self.finding(
                f"`{unit.text[start:end]}`: under HIP the macro counts as 0; completed for {counts_as(tok)}",
                start,
                end,
                (insert(start, before), insert(end, after, Side.LEFT)),
                trust=Trust.REVIEW,
                cuda=tok,
                effects=(("all", "wrong-result"),),
            )
        ]

    def _asked(self, unit: Unit, i: int, asked: Comparison) -> Iterator[Finding]:
        """`defined(X) && X >= N`, where token i is the first X: a build without CUDA may come here too, so that HIP is
        named. `asked`: all of it; its number is 1 where HIP is in it."""
        tok = unit.t[i]
        if not asked.number:
            return
        if (lost := not_in_hip(unit, i))[0]:
            yield from self._older(unit, asked, tok, *lost)
            return
        yield self.finding(
            f"`{unit.text[asked.start : asked.end]}`: HIP does not define the macro; completed so that HIP counts "
            "as newer",
            asked.start,
            asked.end,
            (insert(asked.start, "("), insert(asked.end, " || defined(__HIP_PLATFORM_AMD__))", Side.LEFT)),
            trust=Trust.REVIEW,
            cuda=tok,
            effects=(("all", "wrong-result"),),
        )

    def _in_code(self, unit: Unit, i: int) -> Finding | None:
        """A comparison in code or in the body of a macro is answered: `defined` may not be written there."""
        found = comparison(unit, i, in_code=True, keywords=("define",))
        if found is None or unit.t[i] not in COUNTS_AS:
            return None
        answer = str(int(ANSWERS[found.op](COUNTS_AS[unit.t[i]], found.number)))
        return self.finding(
            f"`{unit.text[found.start : found.end]}` in code: HIP has no such version and counts as "
            f"{counts_as(unit.t[i])}, so {answer}",
            found.start,
            found.end,
            (replace(found.start, found.end, answer),),
            trust=Trust.REVIEW,
            cuda=unit.t[i],
            effects=(("all", "wrong-result"),),
        )

    def _older(self, unit: Unit, found: Comparison, tok: str, lost: str, edits: tuple[Edit, ...]) -> Iterator[Finding]:
        """What is said where HIP takes the code for older versions, and the branch that then stops the program."""
        yield self.finding(
            f"`{unit.text[found.start : found.end]}`: under HIP the macro counts as 0; that stays: what is newer "
            f"needs `{lost}`, which HIP has not",
            found.start,
            found.end,
            cuda=tok,
            effects=(("all", "wrong-result"),),
        )
        if edits:
            yield self.finding(
                f"what needs `{lost}` got a branch that stops the program",
                found.start,
                found.end,
                edits,
                severity=Severity.INFO,
                cuda=tok,
                helpers=("untranslated.hpp",),
            )


def _value(unit: Unit, i: int, value: str) -> tuple[Edit, ...]:
    """HIP's number in place of the version at token i, and its parts in place of CUDA's: `CUDA_VERSION / 1000`."""
    path = around(unit, i)
    parts: tuple[tuple[Num, str], ...] = ()
    if value == "HIP_VERSION" and len(path) > 1 and isinstance(path[1], Binary) and path[1].a is path[0]:
        parts = hip_parts(path[1], path[2] if len(path) > 2 else None)
    numbers = (replace(unit.p[n.at], unit.end(n.at), text) for n, text in parts)
    return (replace(unit.p[i], unit.end(i), value), *numbers)


def _asked_before(unit: Unit, i: int) -> bool:
    """Whether the directive asks, before this comparison, whether the macro is defined at all."""
    d = unit.in_directive(i)
    return d is not None and any(
        unit.t[k] == "defined" and unit.t[i] in unit.t[k + 1 : k + 3] for k in range(d.first + 2, i)
    )
