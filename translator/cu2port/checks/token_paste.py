from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.catalog.pastes import pasted
from cu2port.core.model import Finding, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.prefix_macros import PREFIX, by_name, prefix_macros
from cu2port.facts.structure import Call, Macro, may_be_in_macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_PREFIX = re.compile(
    r"(?:cuda|cublas|cufft|curand|cusparse|cusolver|cudnn|nvrtc|cu|CU|CUDA|CUBLAS|CUFFT|CUSPARSE|CUSOLVER)(?:[A-Z_]\w*)?\Z"
)
_PASTE = re.compile("##|%:%:")
_MAY_BEGIN = re.compile(r"c(?<![\w$\x80-\xff]c)u|C(?<![\w$\x80-\xff]C)U")  # what `_PREFIX` matches


class TokenPaste(Check):
    """A macro builds a CUDA name with `##`.

    A name of CUDA's runtime (`cuda##f`) begins with `hip` then, and a use whose name differs in more
    (`CALL(MallocHost)`) is changed where it is, in other files of the tree too. Of other names, where every use of the
    macro is in the file and all names that come out get the same new beginning, that beginning is replaced in the
    macro's body; where uses are elsewhere or go through another macro, it is if all of CUDA's names of that form
    (`cublas?axpy`) get it. Otherwise the macro is left for manual work: its names appear nowhere as words. A CUDA name
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
        Example("#define CAT(a, b) a##b\nint CAT(x, y);\n", note="no CUDA name"),
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
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        pastes = "##" in unit.text
        if unit.project.prefix_macros or (
            pastes and PREFIX in unit.text and f"{PREFIX}##" in unit.text.replace(" ", "")
        ):
            yield from self._uses(unit)
        if not pastes and "%:%:" not in unit.text:
            return
        if not unit.words.isdisjoint(unit.catalog.active):
            yield from self._kept(unit)
        if not may_be_in_macro(unit.text, _PASTE, _MAY_BEGIN):
            return
        for definitions in unit.macros.values():
            for macro in definitions:
                for chain in _chains(unit, macro):
                    yield from self._chain(unit, macro, chain)

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
        """Names of CUDA's runtime that macros, here or in an included file, make of `cuda` and an argument."""
        macros = by_name(unit.project.prefix_macros | prefix_macros(unit.text))
        for i in unit.find(*macros):
            d, call = unit.in_directive(i), unit.call(i)
            index = macros[unit.t[i]]
            if call is None or index >= len(call.args) or (d is not None and d.first + 2 == i):
                continue
            k = unit.lexed.at(call.args[index].start)
            word, name = unit.t[k], PREFIX + unit.t[k]
            row = unit.catalog.get(name)
            if row is None or word.islower():
                continue
            if row.mapping == "rename" and row.hip == f"hip{word}":
                continue
            sure = row.mapping == "rename" and row.hip.startswith("hip")
            what = f"becomes `{row.hip[3:]}`" if sure else "has no counterpart of the same form; write the call out"
            yield self.finding(
                f"`{unit.t[i]}` builds `{name}` from `{word}`, which {what}",
                unit.p[k],
                unit.end(k),
                (replace(unit.p[k], unit.end(k), row.hip[3:]),) if sure else (),
                trust=Trust.REVIEW,
                severity=Severity.INFO if sure else Severity.WARNING,
                cuda=name,
            )

    def _chain(self, unit: Unit, macro: Macro, chain: list[int]) -> Iterator[Finding]:
        words = [unit.t[k] for k in chain]
        params = macro.params or ()
        literal = [w for w in words if w not in params]
        if not any(_PREFIX.match(w) for w in literal):
            return
        start, end = unit.p[chain[0]], unit.end(chain[-1])
        built = "".join(words)
        runtime = words[0] == PREFIX and len(words) == 2 and words[1] in params
        new = "hip" if runtime else _new_beginning(unit, macro, words) if words[0] not in params else None
        if new is None and words[0] not in params:
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


def _new_beginning(unit: Unit, macro: Macro, words: list[str]) -> str | None:
    """What replaces words[0] so that all names built in this file become their HIP names; None if unknown."""
    params = macro.params
    if params is None:
        return None
    found: set[str] = set()
    uses = 0
    for i in unit.find(macro.name):
        if macro.directive.first <= i < macro.directive.stop:
            continue
        d = unit.in_directive(i)
        if d is not None and d.keyword in ("undef", "ifdef", "ifndef"):
            continue
        call = unit.call(i)
        if call is None or len(call.args) < len([p for p in params if p != "..."]):
            return None
        values = {p: unit.text[a.start : a.end] for p, a in zip(params, call.args, strict=False)}
        rest = "".join(values.get(w, w) for w in words[1:])
        if not rest.isidentifier() and rest:
            return None
        row = unit.catalog.get(words[0] + rest)
        if row is None or row.mapping != "rename" or not row.hip.endswith(rest):
            return None
        found.add(row.hip[: len(row.hip) - len(rest)])
        uses += 1
    return found.pop() if uses and len(found) == 1 else None


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
