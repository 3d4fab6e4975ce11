from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog import target
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit, condition_words
from cu2port.syntax.lexer import is_identifier

#: Guards of headers that HIP's runtime header includes, or stands for.
_ALWAYS = frozenset({"__DRIVER_TYPES_H__", "__CUDA_RUNTIME_API_H__", "__CUDA_RUNTIME_H__"})
#: cuSPARSE's descriptors, all `void *` in hipSPARSE.
_KINDS = "MatDescr SpVecDescr DnVecDescr SpMatDescr DnMatDescr ConstSpVecDescr ConstDnVecDescr ConstSpMatDescr"
_VOID = frozenset(f"cusparse{kind}_t" for kind in _KINDS.split())
_ERRORS = frozenset({"cudaError_t", "CUresult"})
_WORDS = frozenset({"const", "struct", "enum", "volatile"})


class SameOverload(Check):
    """Two overloads take CUDA types that are one type in HIP.

    `cudaError_t` and `CUresult` differ in CUDA, and programs print both by overloads of one function; in HIP both are
    `hipError_t`, so the second definition is one too many. It is taken out where the first is there whenever the
    second is; otherwise both are reported. So it is with cuSPARSE's descriptors, which are `void *` in hipSPARSE; there
    each function does another thing, so a type of the program's own around each descriptor is needed.
    """

    code, name, severity = "CU222", "same-overload", Severity.INFO
    triggers = frozenset({"CUresult", *_VOID})
    examples = (
        Example(
            "const char* text(cudaError_t e) { return A(e); }\nconst char* text(CUresult e) { return B(e); }\nint x;\n",
            "const char* text(hipError_t e) { return A(e); }\nint x;\n",
        ),
        Example(
            "#ifdef A\nint f(cudaError_t e) { return 1; }\n#endif\n#ifdef B\nint f(CUresult e) { return 2; }\n#endif\n",
            "#ifdef A\nint f(hipError_t e) { return 1; }\n#endif\n"
            "#ifdef B\nint f(hipError_t e) { return 2; }\n#endif\n",
            "both may be there or one alone: reported",
        ),
        Example(
            "#ifdef __DRIVER_TYPES_H__\nint f(cudaError_t e) { return 1; }\n#endif\n"
            "#ifdef B\nint f(CUresult e) { return 2; }\n#endif\n",
            "#ifdef HIP_INCLUDE_HIP_DRIVER_TYPES_H\nint f(hipError_t e) { return 1; }\n#endif\n#ifdef B\n#endif\n",
            "the runtime's header is always there",
        ),
        Example(
            "#define E cudaError_t\nvoid g(cudaError_t e) { }\nvoid g(CUresult e) { CHECK(e); }\n",
            "#define E hipError_t\nvoid g(hipError_t e) { }\n",
            "as a macro's argument it goes; a type in a macro body is not looked through",
        ),
        Example(
            "void d(cusparseDnVecDescr_t x) { A(x); }\nvoid d(cusparseSpMatDescr_t x) { B(x); }\n",
            "void d(hipsparseDnVecDescr_t x) { A(x); }\nvoid d(hipsparseSpMatDescr_t x) { B(x); }\n",
            "descriptors: reported",
            findings=1,
        ),
        Example(
            "template <> struct D<cusparseDnVecDescr_t> {};\ntemplate <> struct D<cusparseSpMatDescr_t> {};\n",
            "template <> struct D<hipsparseDnVecDescr_t> {};\ntemplate <> struct D<hipsparseSpMatDescr_t> {};\n",
            "specialisations: reported",
            findings=1,
        ),
        Example(
            "template <> struct E<cudaError_t> {};\ntemplate <> struct E<CUresult> {};\n",
            "template <> struct E<hipError_t> {};\ntemplate <> struct E<hipError_t> {};\n",
            "specialisations for errors: reported",
            findings=1,
        ),
        Example(
            "namespace n {\nstatic void f(cudaError_t e) { A(e); }\nstatic void f(CUresult e) { B(e); }\n}\n",
            "namespace n {\nstatic void f(hipError_t e) { A(e); }\n}\n",
            "in a namespace",
        ),
        Example(
            "struct C {\n  void f(cudaError_t e) {}\n  void f(CUresult e) {}\n  void g(CUresult e);\n};\n"
            "struct D { void f(CUresult e) {} };\nvoid C::g(CUresult e) {}\nvoid g(cudaError_t e) {}\n",
            "struct C {\n  void f(hipError_t e) {}\n    void g(hipError_t e);\n};\n"
            "struct D { void f(hipError_t e) {} };\nvoid C::g(hipError_t e) {}\nvoid g(hipError_t e) {}\n",
            "members of one class",
        ),
        Example("int f(cudaError_t e) { return 1; }\nint f(int e) { return 2; }\n", note="different types"),
        Example("#if A\nint f(CUresult e) { return 1; }\n#else\nint f(CUresult e) { return 2; }\n#endif\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & {"CUresult", *_VOID}:
            return
        yield from self._specialisations(unit)
        first: dict[tuple[str, ...], Function] = {}
        for f in unit.functions:
            if f.params[1] - f.params[0] < 2:
                continue
            key = (*_path(unit, f), f.name, *_types(unit, f, True))
            known = first.setdefault(key, f)
            if known is f or _types(unit, known, False) == _types(unit, f, False):
                continue
            here, there = (unit.conditions(unit.p[g.first]) for g in (f, known))
            shared = {g.chain[0] for g in here} & {g.chain[0] for g in there}
            if shared - {g.chain[0] for g in here if g in there}:
                continue  # two branches of one condition: never both
            doubtful = [g for g in there if g not in here and not condition_words(unit, g) <= _ALWAYS]
            start, end = unit.p[f.first], unit.end(f.body[1])
            handles = not _VOID.isdisjoint(unit.t[f.params[0] : f.params[1]])
            sure = not doubtful and not handles and not any(start <= d.start < end for d in unit.directives)
            after = end + (1 if unit.text[end : end + 1] == "\n" else 0)
            yield self.finding(
                f"`{f.name}` is defined for types that are the same type in HIP",
                start,
                end,
                (replace(start, after, ""),) if sure else (),
                severity=Severity.INFO if sure else Severity.WARNING,
                cuda="" if handles else "CUresult",
                effects=(("all", "compile-error"),),
            )

    def _specialisations(self, unit: Unit) -> Iterator[Finding]:
        """Full specialisations of one class template for types that are one type in HIP."""
        first: dict[tuple[str, bool], str] = {}
        for i in unit.find(*(_VOID | _ERRORS) & unit.words):
            head = unit.t[max(0, i - 6) : i]
            if unit.tok(i - 1) != "<" or unit.tok(i + 1) != ">" or head[:3] != ["template", "<", ">"]:
                continue
            if first.setdefault((unit.t[i - 2], unit.t[i] in _ERRORS), unit.t[i]) != unit.t[i]:
                yield self.finding(
                    f"`{unit.t[i - 2]}` is specialised for types that are the same type in HIP",
                    unit.p[i],
                    unit.end(i),
                    severity=Severity.WARNING,
                    effects=(("all", "compile-error"),),
                )


def _types(unit: Unit, f: Function, converted: bool) -> tuple[str, ...]:
    """The parameters' types without their names, CUDA's or HIP's."""
    out = []
    for span in unit.split_args(f.params[0] + 1, f.params[1]):
        k, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        words = [w for w in unit.t[k:stop] if w not in _WORDS]
        if len(words) > 1 and is_identifier(words[-1]) and words[-2] != "::":
            words.pop()
        rows = [unit.catalog.get(w) if converted else None for w in words]
        out.append(
            " ".join(
                (("void *" if w in _VOID else target(r, unit.options.rocm)[0]) or w) if r is not None else w
                for w, r in zip(words, rows, strict=True)
            )
        )
    return tuple(out)


def _path(unit: Unit, f: Function) -> tuple[str, ...]:
    """The namespaces and classes that a function is a member of, around it and written before its name."""
    k = f.name_at
    while k > f.first and unit.tok(k - 1) == "::":
        k -= 2
    return (unit.declarations.scope_at(f.first).path, *unit.t[k : f.name_at])
