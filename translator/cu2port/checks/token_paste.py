from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cu2port.catalog import Row
from cu2port.catalog.pastes import pasted
from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.prefix_macros import PREFIX, by_name, prefix_macros
from cu2port.facts.structure import Call, Macro, may_be_in_macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_PREFIX = regex(
    r"(?:cuda|cublas|cufft|curand|cusparse|cusolver|cudnn|nvrtc|cu|CU|CUDA|CUBLAS|CUFFT|CUSPARSE|CUSOLVER)(?:[A-Z_]\w*)?\Z"
)
_BEGINNINGS = frozenset("cuda cublas cufft curand cusparse cusolver cudnn nvrtc cu CU_ CUDA_ CUBLAS_ CUFFT_".split())
_PASTE = regex("##|%:%:")
_MAY_BEGIN = regex(r"c(?<![\w$\x80-\xff]c)u|C(?<![\w$\x80-\xff]C)U")  # what `_PREFIX` matches


class TokenPaste(Check):
    """A macro builds a CUDA name with `##`.

    What most of CUDA's names that begin so (`cuda##f`, `CUBLAS_STATUS_##x`) have for that in HIP is written, and a use
    whose name differs in more (`CALL(MallocHost)`) is changed where it is, in other files of the tree too. Where there
    are several arguments, or no such beginning, it is replaced if every use of the macro is in the file and all names
    that come out get the same, or if all of CUDA's names of that form (`cublas?axpy`) do; a use whose name takes other
    arguments in HIP is reported. Otherwise the macro is left
    for manual work, and so are names of arguments alone (`CAT(cuda, Free)`): they appear nowhere as words. A CUDA name
    that a macro joins to a name of the file's (`f##_p`) stays: the other name must be found.
    """

    code, name, severity = "CU109", "token-paste", Severity.WARNING
    minutes = 10
    examples = (
        Example(
            "#define CALL(f) cuda##f\nint a = CALL(Free)(p);\nint b = CALL(Malloc)(&p, 4);\n",
            "#define CALL(f) hip##f\nint a = CALL(Free)(p);\nint b = CALL(Malloc)(&p, 4);\n",
        ),
        Example("#define CALL(f) cuda##f\n", "#define CALL(f) hip##f\n", "its uses are elsewhere"),
        Example(
            "#define CALL(f) check(cuda##f)\nvoid g() { CALL(MallocHost(&p, n)); CALL(Free(p)); }\n",
            "#define CALL(f) check(hip##f)\nvoid g() { CALL(HostMalloc(&p, n)); CALL(Free(p)); }\n",
            "a name that differs in more",
        ),
        Example(
            "#define CALL(f) check(cuda##f)\nvoid g() { CALL(GraphDebugNothing(p)); CALL(SetDoubleForDevice(p)); }\n",
            "#define CALL(f) check(hip##f)\nvoid g() { CALL(GraphDebugNothing(p)); CALL(SetDoubleForDevice(p)); }\n",
            "a name that HIP has not: reported",
        ),
        Example(
            "#define NRM(c) cublas##c##nrm2(n, x, 1)\n",
            "#define NRM(c) cublas##c##nrm2(n, x, 1)\n",
            "an older interface",
        ),
        Example(
            "#define LOAD(f) f##_p = (F)dlsym(h, #f)\nF cuInit_p;\nvoid g() { LOAD(cuInit); }\n",
            "#define LOAD(f) f##_p = (F)dlsym(h, #f)\nF cuInit_p;\nvoid g() { LOAD(cuInit); }\n",
            "a name of the file's is made of CUDA's",
            findings=1,
        ),
        Example("#define CAT(a, b) a##b\nint CAT(x, y);\nint CAT(cuda, _own);\n", note="no CUDA name"),
        Example("#define OPTION(na) CURLOPT_##na\n", note="a library of another name"),
        Example(
            "#define GO(f, x) CHECK(cuda##f(x))\nGO(Free, p);\n",
            "#define GO(f, x) CHECK(hip##f(x))\nGO(Free, p);\n",
            "as a macro's argument",
        ),
        Example(
            "#define AXPY(T, c) cublas##c##axpy(h, n, a, x, 1, y, 1)\n#define ALL(F) F(float, S)\nALL(AXPY)\n",
            "#define AXPY(T, c) hipblas##c##axpy(h, n, a, x, 1, y, 1)\n#define ALL(F) F(float, S)\nALL(AXPY)\n",
            "through another macro",
        ),
        Example(
            "#define CASE(e) case cudaError##e: return 1\n"
            "int f(cudaError_t e) { switch (e) { CASE(NoDevice); CASE(MemoryAllocation); } return 0; }\n",
            "#define CASE(e) case hipError##e: return 1\n"
            "int f(hipError_t e) { switch (e) { CASE(NoDevice); CASE(OutOfMemory); } return 0; }\n",
            "a beginning that is a name itself",
        ),
        Example(
            "#define IS(s, e) (s == CUBLAS_STATUS_##e)\n"
            "int f(int s) { return IS(s, SUCCESS) || IS(s, LICENSE_ERROR); }\n",
            "#define IS(s, e) (s == HIPBLAS_STATUS_##e)\n"
            "int f(int s) { return IS(s, SUCCESS) || IS(s, LICENSE_ERROR); }\n",
            "enumerators; HIP has most of them",
            findings=2,
        ),
        Example(
            "#define F(f, c) void* f##_##c() { return (void*)&cublas##c##f; }\nF(gemm, C)\nF(gemm, H)\n#undef F\n"
            "#define F(c, f) void* f##_##c() { return (void*)&cublas##c##f; }\nF(S, dot)\n",
            "#define F(f, c) void* f##_##c() { return (void*)&hipblas##c##f; }\nF(gemm, C)\nF(gemm, H)\n#undef F\n"
            "#define F(c, f) void* f##_##c() { return (void*)&hipblas##c##f; }\nF(S, dot)\n",
            "a macro that is defined twice; a name whose arguments change too is reported",
            findings=3,
        ),
        Example(
            "#define CAT(a, b) a##b\nint x = CAT(cuda, Free)(p);\n",
            "#define CAT(a, b) a##b\nint x = CAT(cuda, Free)(p);\n",
            "of arguments alone: reported",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        pastes = "##" in unit.text
        if unit.project.prefix_macros or pastes:
            yield from self._uses(unit)
        if not pastes and "%:%:" not in unit.text:
            return
        if not unit.words.isdisjoint(unit.catalog.active):
            yield from self._kept(unit)
        if not unit.words.isdisjoint(_BEGINNINGS):
            yield from self._joined(unit)
        if not may_be_in_macro(unit.text, _PASTE, _MAY_BEGIN):
            return
        for definitions in unit.macros.values():
            for macro in definitions:
                for chain in _chains(unit, macro):
                    yield from self._chain(unit, macro, chain)

    def _joined(self, unit: Unit) -> Iterator[Finding]:
        """CUDA names that macros join of their arguments alone (`CAT(cuda, Free)`)."""
        for macro in (m for definitions in unit.macros.values() for m in definitions if m.params):
            params = list(macro.params or ())
            for chain in _chains(unit, macro):
                if not all(unit.t[k] in params for k in chain):
                    continue
                for i in unit.find(macro.name):
                    call = unit.call(i)
                    if call is None or len(call.args) < len(params) or unit.in_directive(i) is not None:
                        continue
                    args = [call.args[params.index(unit.t[k])] for k in chain]
                    row = unit.catalog.get("".join(unit.text[a.start : a.end] for a in args))
                    if row is not None and row.hip != row.cuda:
                        yield self.finding(
                            f"`{macro.name}` joins `{row.cuda}`"
                            + (f", which is `{row.hip}` in HIP" if row.hip else ""),
                            unit.p[i],
                            unit.end(call.close),
                            cuda=row.cuda,
                            effects=(("all", "compile-error"),),
                        )

    def _kept(self, unit: Unit) -> Iterator[Finding]:
        """CUDA names that macros join to names of the file's."""
        for i, joined in pasted(unit).items():
            row = unit.catalog.get(unit.t[i])
            if row is not None and row.hip != row.cuda:
                hip = f"; what it looks up by name is `{row.hip}` in HIP" if row.hip else ""
                yield self.finding(
                    f"`{unit.t[i]}` stays, since a macro makes `{joined}` of it{hip}",
                    unit.p[i],
                    unit.end(i),
                    cuda=unit.t[i],
                    effects=(("all", "wrong-result"),),
                )

    def _uses(self, unit: Unit) -> Iterator[Finding]:
        """Names of CUDA's that macros, here or in an included file, make of what they begin with and an argument."""
        macros = by_name(unit.project.prefix_macros | prefix_macros(unit.text))
        for name in sorted(macros.keys() & unit.words):
            index, first = macros[name]
            begins = _usual_beginning(unit, first) or ""
            words = dict.fromkeys(unit.t[k] for k in _arguments(unit, name, index)) if begins else {}
            for word in words:
                row = unit.catalog.get(first + word)
                if row is None or (first == PREFIX and word.islower()) or row.hip == begins + word:
                    continue
                new = row.hip[len(begins) :]
                sure = row.mapping == "rename" and row.hip.startswith(begins) and new.isidentifier()
                sure = sure and new not in words
                what = f"becomes `{new}`" if sure else "has no counterpart of the same form; write it out"
                for at in _arguments(unit, name, index):
                    if unit.t[at] == word:
                        yield self.finding(
                            f"`{name}` builds `{row.cuda}` from `{word}`, which {what}",
                            unit.p[at],
                            unit.end(at),
                            (replace(unit.p[at], unit.end(at), new),) if sure else (),
                            trust=Trust.REVIEW,
                            severity=Severity.INFO if sure else Severity.WARNING,
                            cuda=row.cuda,
                        )

    def _chain(self, unit: Unit, macro: Macro, chain: list[int]) -> Iterator[Finding]:
        words = [unit.t[k] for k in chain]
        params = macro.params or ()
        literal = [w for w in words if w not in params]
        if not any(_PREFIX.match(w) for w in literal):
            return
        start, end = unit.p[chain[0]], unit.end(chain[-1])
        built = "".join(words)
        new = _usual_beginning(unit, words[0]) if len(words) == 2 and words[1] in params else None
        if new is None and words[0] not in params:
            known = _new_beginning(unit, macro, words)
            if known is not None:
                new, more = known
                yield from self._changed(unit, macro, more)
            else:
                new = _of_form(unit, words, params, unit.call(chain[-1]))
        if new is not None and new != words[0]:
            yield self.finding(
                f"`{unit.text[start:end]}` builds CUDA names; those begin with `{new}` in HIP",
                start,
                end,
                (replace(start, unit.end(chain[0]), new),),
                trust=Trust.REVIEW,
                severity=Severity.INFO,
                cuda=built,
            )
        elif new is None and _may_be_cuda(unit, words[0], params):
            yield self.finding(
                f"`{unit.text[start:end]}` builds CUDA names that are not known here", start, end, cuda=built
            )

    def _changed(self, unit: Unit, macro: Macro, uses: list[tuple[int, Row]]) -> Iterator[Finding]:
        """Uses of a macro that build a name whose HIP function is called differently."""
        for i, row in uses:
            call = unit.call(i)
            yield self.finding(
                f"`{macro.name}` builds `{row.cuda}`, which becomes `{row.hip}` with other arguments: "
                f"see `cu2port query {row.cuda}`",
                unit.p[i],
                unit.end(call.close if call is not None else i),
                cuda=row.cuda,
            )


def _chains(unit: Unit, macro: Macro) -> Iterator[list[int]]:
    """Runs of identifiers joined by `##` in a macro's body, as token indices."""
    k = macro.first
    while k < macro.stop:
        chain = [k]
        while k + 2 < macro.stop and unit.t[k + 1] in ("##", "%:%:"):
            k += 2
            chain.append(k)
        if len(chain) > 1 and is_identifier(unit.t[chain[0]]):
            yield chain
        k += 1


def _arguments(unit: Unit, name: str, index: int) -> Iterator[int]:
    """The words that a macro gets as one of its arguments in this file."""
    for i in unit.find(name):
        d, call = unit.in_directive(i), unit.call(i)
        if call is not None and index < len(call.args) and (d is None or d.first + 2 != i):
            yield unit.lexed.at(call.args[index].start)


def _usual_beginning(unit: Unit, first: str) -> str | None:
    """What most of CUDA's names that begin so begin with in HIP; None where there is no such thing."""
    if first == PREFIX:
        return "hip"
    if _PREFIX.match(first) is None:
        return None
    found: Counter[str] = Counter()
    for name in unit.catalog.names:
        row = unit.catalog.get(name) if name.startswith(first) and name != first else None
        if row is not None and row.hip:
            rest = name[len(first) :]
            found[row.hip.removesuffix(rest) if row.hip.endswith(rest) else ""] += 1
    new, times = found.most_common(1)[0] if found else ("", 0)
    return new if new and times * 2 > found.total() else None


def _new_beginning(unit: Unit, macro: Macro, words: list[str]) -> tuple[str, list[tuple[int, Row]]] | None:
    """What replaces words[0] so that all names built in this file become their HIP names, and the uses whose name
    changes in more than its beginning; None if unknown."""
    params = macro.params
    if params is None:
        return None
    found: set[str] = set()
    more: list[tuple[int, Row]] = []
    uses = 0
    for i in _uses_of(unit, macro):
        call = unit.call(i)
        if call is None or len(call.args) < len([p for p in params if p != "..."]):
            return None
        values = {p: unit.text[a.start : a.end] for p, a in zip(params, call.args, strict=False)}
        rest = "".join(values.get(w, w) for w in words[1:])
        if not rest.isidentifier() and rest:
            return None
        row = unit.catalog.get(words[0] + rest)
        if row is None or not row.hip.endswith(rest) or row.mapping not in ("rename", "change"):
            return None
        if row.mapping == "change":
            more.append((i, row))
        found.add(row.hip[: len(row.hip) - len(rest)])
        uses += 1
    return (found.pop(), more) if uses > len(more) and len(found) == 1 else None


def _uses_of(unit: Unit, macro: Macro) -> Iterator[int]:
    """Where a macro is used while this definition of it holds."""
    ends = (m.directive.first for m in unit.macros[macro.name] if m.directive.first > macro.directive.first)
    ended = min(ends, default=len(unit.t))
    for i in unit.find(macro.name):
        d = unit.in_directive(i)
        if d is not None and d.keyword in ("undef", "ifdef", "ifndef", "define") and d.first + 2 == i:
            if d.keyword == "undef" and i > macro.directive.first:
                ended = min(ended, i)
            continue
        if macro.directive.stop <= i < ended:
            yield i


def _may_be_cuda(unit: Unit, first: str, params: tuple[str, ...]) -> bool:
    """Whether a name that begins so can be one of CUDA's: `CURLOPT_` is no beginning of one."""
    return first in params or any(n.startswith(first) for n in unit.catalog.names)


def _of_form(unit: Unit, words: list[str], params: tuple[str, ...], call: Call | None) -> str | None:
    """What replaces words[0] in every name of CUDA's that has this form; a parameter stands for one or two letters."""
    if not any(w in params for w in words[1:]):
        return None
    form = re.compile("".join(r"(?!Xt|Lt)[A-Za-z]{1,2}" if w in params else re.escape(w) for w in words) + r"\Z")
    found: set[str] = set()
    names = [n for n in unit.catalog.names if n.startswith(words[0]) and form.match(n)]
    for name in names:
        row, rest = unit.catalog.get(name), name[len(words[0]) :]
        if row is None or row.mapping != "rename" or not row.hip.endswith(rest):
            return None
        if row.argc and (call is None or len(call.args) not in row.argc):
            return None  # of the older interface
        found.add(row.hip[: len(row.hip) - len(rest)])
    return found.pop() if len(names) > 1 and len(found) == 1 else None
