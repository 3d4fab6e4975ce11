from __future__ import annotations

from collections.abc import Iterator

from cu2port.checks.host_math import called, host_only
from cu2port.core.files import HOST_SUFFIXES, suffix
from cu2port.core.model import Edit, Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.arithmetic import BFLOATS, HALVES, expression_type, simple_type
from cu2port.facts.branches import skipped_by_nvcc, skipped_on_host
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Assign, Binary, Expr, Index, Name, Unary, expressions

_TYPES = frozenset(f"?{name}" for name in HALVES)
_OF_TWO = frozenset({"+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">="})
_OF_ONE = frozenset({"+", "-", "++", "--", "p++", "p--"})
_COMPOUND = frozenset({"+=", "-=", "*=", "/="})
_HOLDERS = frozenset({"vector", "host_vector", "array", "initializer_list", "span", "deque"})
#: Functions of halves that CUDA has for the host, too; the header has them as `cu2port::host_hadd`.
_FUNCTIONS = frozenset(f"__h{name}" for name in "add sub mul div neg abs eq lt le gt ge isnan max min fma".split())
HEADER = "half_host.hpp"


class HalfHost(Check):
    """Halves are added, compared or the like in code for the host, where HIP has no such operators and functions.

    CUDA has them on both sides since 12.2. `cu2port/half_host.hpp` has operators for the host, and functions such as
    `__hadd` by names of their own. Operators are found in function templates that are used with halves, too, where the
    same file has both.
    """

    code, name, severity = "CU272", "half-host", Severity.INFO
    triggers = HALVES | _FUNCTIONS
    examples = (
        Example(
            "#include <cuda_fp16.h>\nvoid add(const half* a, half* b) { b[0] = a[0] + b[0]; }\n",
            '#include "cu2port/half_host.hpp"\n#include <hip/hip_fp16.h>\n'
            "void add(const half* a, half* b) { b[0] = a[0] + b[0]; }\n",
        ),
        Example(
            "#include <cuda_fp16.h>\n#include <vector>\n"
            "bool less(std::vector<__half>& v) { return CHECK(v[0] < v[1]); }\n",
            '#include "cu2port/half_host.hpp"\n#include <hip/hip_fp16.h>\n#include <vector>\n'
            "bool less(std::vector<__half>& v) { return CHECK(v[0] < v[1]); }\n",
            "as a macro's argument, elements of a vector",
        ),
        Example(
            "#include <cuda_fp16.h>\ntemplate <class T> T sum(const T* a) { return a[0] + a[1]; }\n"
            "template __half sum<__half>(const __half*);\n",
            '#include "cu2port/half_host.hpp"\n#include <hip/hip_fp16.h>\n'
            "template <class T> T sum(const T* a) { return a[0] + a[1]; }\n"
            "template __half sum<__half>(const __half*);\n",
            "a template that is used with halves",
        ),
        Example(
            "#include <cuda_fp16.h>\nbool less(half a, half b) { return __hlt(a, __hadd(b, b)); }\n",
            '#include "cu2port/half_host.hpp"\n#include <hip/hip_fp16.h>\n'
            "bool less(half a, half b) { return cu2port::host_hlt(a, cu2port::host_hadd(b, b)); }\n",
            "functions",
            findings=2,
        ),
        Example(
            "#include <cuda_fp16.h>\n#define ADD(a, b) ((a) + (b))\nvoid add(half a) { half b = ADD(a, a); }\n",
            note="in a macro body",
        ),
        Example(
            "#include <cuda_fp16.h>\n__device__ half add(half a, half b) { return a + b; }\n"
            "float sum(const half* a) { return __half2float(a[0]) + __half2float(a[1]); }\n"
            "half* next(half* a) { return a + 1; }\ntemplate <class T> int two(T* a, int n) { return n + 2; }\n"
            "int f(half* a) { return two<half>(a, 1); }\n",
            note="on the device; of floats; of pointers; of the parameters that are numbers",
        ),
        Example(
            "#include <cuda_fp16.h>\ntemplate <class T> T sum(const T* a) { return a[0] + a[1]; }\n"
            "template <> __half sum<__half>(const __half* a) { return a[0]; }\n",
            note="halves have a specialisation of their own",
        ),
        Example(
            "#include <cuda_bf16.h>\nvoid add(__nv_bfloat16* a) { a[0] = a[0] + a[1]; }\n",
            note="HIP's bfloat16 has them on both sides",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = {name for name in unit.words & HALVES if not unit.owns(name)}
        if not (names or unit.words & _FUNCTIONS) or (suffix(unit.path) in HOST_SUFFIXES and not unit.project.as_cuda):
            return
        yield from self._calls(unit)
        for f in unit.functions if names else ():
            if f.sides - {"__host__"} or skipped_by_nvcc(unit, unit.p[f.name_at]):
                continue
            halves = _parameters_that_are_halves(unit, f)
            if not halves and HALVES.isdisjoint(unit.t[f.first : f.body[1]]):
                continue
            at = next((e.at for e in _operations(unit, f, halves) if _counts(unit, e.at)), -1)
            if at >= 0:
                yield self.finding(
                    f"`{unit.t[at]}` of halves is for the device in HIP, and `{f.name}` runs on the host",
                    unit.p[at],
                    unit.end(at),
                    (Edit(unit.p[at], unit.p[at], ()),),
                    effects=(("all", "compile-error"),),
                    helpers=(HEADER,),
                )

    def _calls(self, unit: Unit) -> Iterator[Finding]:
        """Calls of functions; those of bfloat16 have the same names."""
        for i in unit.find(*_FUNCTIONS & unit.words):
            call = called(unit, i)
            if call is None or unit.owns(unit.t[i]) or unit.in_directive(i) is not None or not _counts(unit, i):
                continue
            if unit.words & BFLOATS and not any(simple_type(unit, s) in _TYPES for s in call.args):
                continue
            yield self.finding(
                f"`{unit.t[i]}` of halves is for the device in HIP, and this function runs on the host",
                unit.p[i],
                unit.end(i),
                (replace(unit.p[i], unit.end(i), f"cu2port::host_{unit.t[i][2:]}"),),
                cuda=unit.t[i],
                effects=(("all", "compile-error"),),
                helpers=(HEADER,),
            )


def _counts(unit: Unit, at: int) -> bool:
    return host_only(unit, at) and not skipped_on_host(unit, unit.p[at])


def _operations(unit: Unit, f: Function, halves: frozenset[str]) -> Iterator[Binary | Assign | Unary]:
    """What is done with halves in a function. `halves`: the parameters of its template that are of such types."""
    for e in expressions(read_body(unit, f.body[0] + 1, f.body[1])):
        if isinstance(e, Binary) and e.op in _OF_TWO:
            operands: tuple[Expr, ...] = (e.a, e.b)
        elif isinstance(e, Assign) and e.op in _COMPOUND:
            operands = (e.target,)
        elif isinstance(e, Unary) and e.op in _OF_ONE:
            operands = (e.x,)
        else:
            continue
        if any(_is_half(unit, x, halves) for x in operands):
            yield e


def _is_half(unit: Unit, e: Expr, halves: frozenset[str]) -> bool:
    found = expression_type(unit, e)
    if found.depth:
        return False
    if found.owner is not None:
        return found.dependent and found.owner.name in halves
    return found.name in _TYPES or _is_element(unit, e, HALVES | halves)


def _is_element(unit: Unit, e: Expr, types: frozenset[str]) -> bool:
    """Whether an expression is an element of a vector of some types."""
    if e.around or not isinstance(e, Index) or not isinstance(e.base, Name):
        return False
    d = unit.declarations.visible(e.base.text, e.at)
    words = _type_words(unit, d) if d is not None and not d.pointers and not d.arrays else frozenset[str]()
    return not types.isdisjoint(words) and not _HOLDERS.isdisjoint(words)


def _type_words(unit: Unit, d: Declaration) -> frozenset[str]:
    return frozenset(unit.t[d.type_first : d.type_stop])


def _parameters_that_are_halves(unit: Unit, f: Function) -> frozenset[str]:
    """The parameters of a function template that are halves in some use of it in the file."""
    template = unit.declarations.template_at(f.first)
    if template is None:
        return frozenset()
    known = [d for found in template.names.values() for d in found if d.kind == "template parameter"]
    names = [d.name for d in sorted(known, key=lambda d: d.at)]
    written, called = _uses(unit, f.name)
    out = {name for k, name in enumerate(names) if k in written}
    for k, p in enumerate(unit.split_args(f.params[0] + 1, f.params[1]) if called else ()):
        if k in called:
            out.update(unit.t[unit.lexed.at(p.start) : unit.lexed.at(p.end)])
    return frozenset(out.intersection(names))


def _uses(unit: Unit, name: str) -> tuple[set[int], set[int]]:
    """Which template arguments of a name are halves somewhere, and which arguments of its calls."""
    known = unit.once(_known)
    if name in known:
        return known[name]
    written, called = known[name] = set[int](), set[int]()
    defined = {f.name_at for f in unit.functions if f.name == name}
    for i in unit.find(name):
        close = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
        if close > 0:
            given = [unit.text[s.start : s.end].strip() for s in unit.split_args(i + 2, close)]
            found = {k for k, word in enumerate(given) if word in HALVES}
            if found and i in defined:  # halves have a template of their own
                known[name] = set(), set()
                break
            written |= found
        elif (call := unit.call(i)) is not None:
            for k, s in enumerate(call.args):
                word = unit.text[s.start : s.end]
                d = unit.declarations.visible(word, i) if is_identifier(word) else None
                if d is not None and not HALVES.isdisjoint(_type_words(unit, d)):
                    called.add(k)
    return known[name]


def _known(unit: Unit) -> dict[str, tuple[set[int], set[int]]]:
    """What was found so far, by name."""
    return {}
