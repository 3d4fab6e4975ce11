from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cu2port.catalog.includes import compiled_as_cuda
from cu2port.core.files import CXX_SUFFIXES, suffix
from cu2port.core.model import Edit, Finding, Severity, Span, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.declared import VECTORS
from cu2port.facts.structure import Function, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_BEGINS = "cdfhilsu"
_COMPLEX = re.compile(r"(?:cu|hip)(?:Float|Double)?Complex\Z")  # vectors of two in HIP
_ALIAS = re.compile(r"\b(?:typedef\s+(?P<a>\w+)\s+(?P<b>\w+)\s*;|using\s+(?P<c>\w+)\s*=\s*(?P<d>\w+)\s*;)")
_OF_HIP = "HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H"  # defined by HIP's header
_NAMES = ("+=", "-=", "*=", "/=", "*", "/", "++", "--")
_SCALES = frozenset({"*", "/"})  # operators that HIP has for a vector and a number
_BOTH = frozenset({"__host__", "__device__"})
_QUIET_WORDS = frozenset(
    "inline static const constexpr __host__ __device__ __forceinline__ __inline__ template friend extern void".split()
)


class VectorOperator(Check):
    """A user's operator for a vector type (`float3 * float3`) that HIP's vector types have themselves.

    CUDA's vector types are plain structs, so programs bring their own operators. HIP's have the usual ones, component
    by component, and for a pair of vectors `+= -= *= /= * /` a second one of the user's that is `__host__ __device__`
    makes every use ambiguous. So it is with complex numbers, which are vectors of two in HIP. Where the user's does the
    same it is taken out. Where it does something else (the product of complex numbers, say) it is written twice, once
    for the host and once for the device: clang prefers a function of one side to HIP's, which is for both. In a C++
    source without sides any second one is ambiguous, and one that does something else needs a name of its own. One of
    one side with the parameters of HIP's own (`float2, const float2&`) takes the second by value. A macro that makes
    operators of both sides for such types makes them for each side. Where the project has vector types of its own for
    compilers of the host, what would be taken out stays for those.
    """

    code, name, severity = "CU216", "vector-operator", Severity.INFO
    triggers = frozenset({"operator"})
    examples = (
        Example(
            "inline __host__ __device__ float2 operator*(float2 a, float2 b)\n{\n"
            "  return make_float2(a.x * b.x, a.y * b.y);\n}\nint n;\n",
            "int n;\n",
        ),
        Example(
            "__host__ __device__ void operator+=(float3 &a, const float3 &b) { a.x += b.x; a.y += b.y; a.z += b.z; }\n"
            "float f;\n",
            "float f;\n",
            "a compound assignment",
        ),
        Example(
            "__host__ __device__ float2 operator*(float2 a, float2 b)"
            " { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }\n",
            "__host__ float2 operator*(float2 a, float2 b)"
            " { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }\n"
            "__device__ float2 operator*(float2 a, float2 b)"
            " { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }\n",
            "complex numbers: one for each side",
        ),
        Example(
            "typedef cuFloatComplex C;\n__host__ __device__ inline C& operator*=(C& a, const C& b)"
            " { return a = cuCmulf(a, b); }\n",
            "typedef hipFloatComplex C;\n__host__ inline C& operator*=(C& a, const C& b)"
            " { return a = hipCmulf(a, b); }\n__device__ inline C& operator*=(C& a, const C& b)"
            " { return a = hipCmulf(a, b); }\n",
            "CUDA's complex numbers, under a name of the file's",
        ),
        Example(
            "#define HD __host__ __device__\nHD float2 operator/(float2 a, float2 b)"
            " { return make_float2(a.x / b.x, a.y / b.y); }\n",
            "#define HD __host__ __device__\n",
            "as a macro's argument or after one",
        ),
        Example(
            "#define HD __host__ __device__ inline\nHD int2 operator*(int2 a, int2 b) { return a; }\n",
            "#define HD __host__ __device__ inline\n__host__ inline int2 operator*(int2 a, int2 b) { return a; }\n"
            "__device__ inline int2 operator*(int2 a, int2 b) { return a; }\n",
            "after a macro that says more than the sides",
        ),
        Example(
            "#ifndef __CUDACC__\n#define HD\nstruct float2 { float x, y; };\n#else\n#define HD __host__ __device__\n"
            "#endif\nHD inline void operator+=(float2& a, float2 b) { a.x += b.x; a.y += b.y; }\n",
            "#ifndef __HIPCC__\n#define HD\nstruct float2 { float x, y; };\n#else\n#define HD __host__ __device__\n"
            "#endif\n#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H\n"
            "HD inline void operator+=(float2& a, float2 b) { a.x += b.x; a.y += b.y; }\n#endif\n",
            "types of the project's own for the host",
        ),
        Example(
            "#define OP(T) __host__ __device__ T operator*(T a, T b) { return a; }\n",
            note="in a macro body the types are not known",
        ),
        Example(
            "#define OP(T, S, O) \\\n__device__ __host__ T& operator O (T& a, const T& b) { a.x O b.x; return a; } \\\n"
            "__device__ __host__ T& operator O (T& a, S b) { a.x O b; return a; }\nOP(int2, int, +=)\n",
            "#define OP(T, S, O) \\\n__host__ T& operator O (T& a, const T& b) { a.x O b.x; return a; } "
            "__device__ T& operator O (T& a, const T& b) { a.x O b.x; return a; } \\\n"
            "__device__ __host__ T& operator O (T& a, S b) { a.x O b; return a; }\nOP(int2, int, +=)\n",
            "a macro that makes operators for the types that it is used with",
        ),
        Example("__host__ __device__ float2 operator*(float2 a, float b) { return make_float2(a.x * b, a.y * b); }"),
        Example("__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, a.y * b.y); }"),
        Example(
            "__device__ float2 operator*(float2 a, const float2& b) { return make_float2(a.x * b.x, a.y * b.y); }\n",
            "__device__ float2 operator*(float2 a, const float2 b) { return make_float2(a.x * b.x, a.y * b.y); }\n",
            "with the parameters of HIP's own",
        ),
        Example(
            "__host__ __device__ int2 operator/(int2 a, const int2& b) { return make_int2(a.x / b.y, a.y); }\n",
            "__host__ int2 operator/(int2 a, const int2 b) { return make_int2(a.x / b.y, a.y); }\n"
            "__device__ int2 operator/(int2 a, const int2 b) { return make_int2(a.x / b.y, a.y); }\n",
            "for both sides",
        ),
        Example("struct V { V operator*(V b) { return *this; } };", note="a class of the user's"),
        Example(
            "#include <cuda_runtime.h>\nfloat2 operator*(float2 a, float2 b) { return f(a.x * b.x); }\n",
            "#include <hip/hip_runtime.h>\nfloat2 operator*(float2 a, float2 b) { return f(a.x * b.x); }\n",
            "complex numbers in a C++ source: reported",
            path="a.cpp",
            findings=1,
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.may_match(VECTORS, _BEGINS) and not unit.may_match(_COMPLEX, _BEGINS):
            return
        plain = suffix(unit.path) in CXX_SUFFIXES and not (compiled_as_cuda(unit) or unit.project.as_hip)
        plain = plain and "__global__" not in unit.words
        for i in unit.find("operator"):
            op = unit.tok(i + 1)
            if op not in _NAMES or unit.tok(i + 2) != "(" or unit.in_directive(i) is not None:
                continue
            vectors = unit.once(_vectors)
            operands = _operands(unit, i + 2, vectors)
            if operands is None or len(operands[1]) != (1 if op in ("++", "--") else 2):
                continue
            vector, names = operands
            function = unit.function_at(i)
            head = _head(unit, i)
            if function is not None and function.name_at == i:
                head, last = function.first, function.body[1]
                same = _same(unit, function, op, vector, names)
            elif unit.tok(unit.match[i + 2] + 1) == ";":
                last, same = unit.match[i + 2] + 1, None
            else:
                continue
            words = set(unit.t[head:i])
            if "friend" in words or "template" in words:
                continue
            sides = words & _BOTH | {s for w in words if w in unit.macros for s in unit.side_macros.get(w, ())}
            unknown = any(is_identifier(w) and w not in _QUIET_WORDS and w not in vectors for w in words)
            both = sides >= _BOTH or "constexpr" in words or (unknown and not sides)
            if not both and not (plain and not sides):
                if len(sides) == 1 and (edits := tuple(replace(s.start, s.end, "") for s in _by_value(unit, i))):
                    yield self.finding(
                        f"HIP has an `operator{op}` of the same parameters for {vector}; the second is taken by value",
                        unit.p[head],
                        unit.end(last),
                        edits,
                        cuda=vector,
                        effects=(("all", "compile-error"),),
                    )
                continue
            yield from self._judge(unit, i, head, last, vector, same, sides >= _BOTH, plain)
        yield from self._made(unit)

    def _made(self, unit: Unit) -> Iterator[Finding]:
        """Operators that a macro makes: what its bodies do depends on the use, so that each is for one side."""
        for i, macro in unit.once(_in_macros):
            close = unit.match[i + 2]
            head = next((k + 1 for k in range(i - 1, macro.first - 1, -1) if unit.t[k] in (";", "{", "}")), macro.first)
            words = set(unit.t[head:i])
            sides = words & _BOTH | {s for w in words if w in unit.macros for s in unit.side_macros.get(w, ())}
            if close < 0 or unit.tok(close + 1) != "{" or not sides >= _BOTH or words & {"friend", "template"}:
                continue
            vector = next((v for meant in _uses(unit, macro) if (v := _made_for(unit, i, meant))), "")
            if vector:
                yield self.finding(
                    f"`{macro.name}` makes operators that HIP has for {vector}, and a second one for both sides makes "
                    "every use ambiguous; written once for the host and once for the device",
                    unit.p[head],
                    unit.end(unit.match[close + 1]),
                    (_for_each_side(unit, head, i, unit.match[close + 1], " "),),
                    cuda=vector,
                )

    def _judge(
        self, unit: Unit, i: int, head: int, last: int, vector: str, same: bool | None, sure: bool, plain: bool
    ) -> Iterator[Finding]:
        name, vectors = f"operator{unit.t[i + 1]}", unit.once(_vectors)
        clear = not any(unit.p[head] <= d.start < unit.end(last) for d in unit.directives)
        if same is None:  # a declaration: what the definition does decides, and that may be elsewhere
            same = any(
                _same(unit, f, name[8:], vector, found[1])
                for f in unit.functions
                if f.name == name
                and (found := _operands(unit, f.params[0], vectors)) is not None
                and found[0] == vector
            )
        if same and clear and any(VECTORS.match(w) and unit.owns(w) for w in vectors):
            if not _is_guarded(unit, head):
                yield self.finding(
                    f"`{name}` for {vector} is defined by HIP; left for compilers of the host, for which the project "
                    "has such types of its own",
                    unit.p[head],
                    unit.end(last),
                    _guarded(unit, head, last),
                    cuda=vector,
                )
        elif same and clear:
            yield self.finding(
                f"`{name}` for {vector} is defined by HIP; removed",
                unit.p[head],
                unit.end(last),
                (replace(*_lines(unit, head, last), ""),),
                cuda=vector,
            )
        elif plain:
            yield self.finding(
                f"HIP has a `{name}` for {vector}, component by component, and in C++ a second one makes every use "
                "ambiguous; give this one a name of its own, or compile the file as HIP",
                unit.p[head],
                unit.end(last),
                severity=Severity.WARNING,
                cuda=vector,
                effects=(("all", "compile-error"),),
            )
        elif sure:
            yield self.finding(
                f"HIP has a `{name}` for {vector}, component by component, and a second one for both sides makes every "
                "use ambiguous; written once for the host and once for the device",
                unit.p[head],
                unit.end(last),
                (_for_each_side(unit, head, i, last),),
                cuda=vector,
            )


def _is_guarded(unit: Unit, head: int) -> bool:
    """Whether the nearest directive before a token asks for HIP's vector types."""
    k = bisect_left(unit.directives, unit.p[head], key=lambda d: d.start) - 1
    return k >= 0 and unit.text[unit.directives[k].start : unit.directives[k].end] == f"#ifndef {_OF_HIP}"


def _guarded(unit: Unit, head: int, last: int) -> tuple[Edit, ...]:
    """Tokens [head, last] for where HIP's vector types are not."""
    start, end = unit.p[head], unit.end(last)
    before = "" if start == unit.line_start(start) else "\n"
    return insert(start, f"{before}#ifndef {_OF_HIP}\n"), insert(end, "\n#endif")


def _head(unit: Unit, i: int) -> int:
    """First token of the declaration whose `operator` is token i."""
    k = i
    while k and unit.t[k - 1] not in (";", "{", "}", ":") and unit.in_directive(k - 1) is None:
        k -= 1
    return k


def _vectors(unit: Unit) -> dict[str, int]:
    """Words for HIP's vector types in a file, with the number of components."""
    found = {w: int(m[1]) for w in unit.words if (m := VECTORS.match(w))}
    found |= dict.fromkeys(filter(_COMPLEX.match, unit.words), 2)
    for m in _ALIAS.finditer(unit.text) if found else ():
        meant, alias = m["a"] or m["d"], m["b"] or m["c"]
        if meant in found:
            found[alias] = found[meant]
    return found


def _in_macros(unit: Unit) -> list[tuple[int, Macro]]:
    """Tokens `operator` in the bodies of macros with parameters, which are used for all of the types."""
    if not any(unit.in_directive(i) is not None for i in unit.find("operator")):
        return []
    macros = [m for of in unit.macros.values() for m in of if m.params]
    return [
        (k, m) for m in macros for k in range(m.first, m.stop) if unit.t[k] == "operator" and unit.tok(k + 2) == "("
    ]


def _uses(unit: Unit, macro: Macro) -> Iterator[dict[str, str]]:
    """What the parameters of a macro mean, by use of it in the file."""
    for k in unit.find(macro.name):
        if unit.tok(k + 1) == "(" and unit.in_directive(k) is None and unit.match[k + 1] > 0:
            found = [unit.text[s.start : s.end].strip() for s in unit.split_args(k + 2, unit.match[k + 1])]
            yield dict(zip(macro.params or (), found, strict=False))


def _made_for(unit: Unit, i: int, meant: dict[str, str]) -> str:
    """The vector type of the operator at a token where names mean others; "" for one that HIP has not."""
    op = meant.get(unit.t[i + 1], unit.t[i + 1])
    operands = _operands(unit, i + 2, unit.once(_vectors), meant)
    return operands[0] if operands and op in _NAMES and len(operands[1]) == (1 if op in ("++", "--") else 2) else ""


def _for_each_side(unit: Unit, head: int, stop: int, last: int, between: str = "\n") -> Edit:
    """Tokens [head, last], with execution spaces in [head, stop), written for the host and then for the device."""
    sides = [
        k for k in range(head, stop) if unit.t[k] in _BOTH or unit.t[k] in unit.side_macros.keys() & unit.macros.keys()
    ]
    parts: list[str | Span] = []
    for side in ("__host__", "__device__"):
        at = unit.p[head]
        for n, k in enumerate(sides):
            parts += [Span(at, unit.p[k]), *([side, *_besides(unit, unit.t[k])] if n == 0 else [])]
            at = unit.end(k) if n == 0 else unit.p[k + 1]
        parts += [Span(at, unit.end(last)), *([between] if side == "__host__" else [])]
    for cut in _by_value(unit, stop) if unit.tok(stop) == "operator" else ():
        parts = [p for x in parts for p in (_without(x, cut) if isinstance(x, Span) else (x,))]
    kept = [x for x in parts if isinstance(x, str) or x.start < x.end]
    return Edit(unit.p[head], unit.end(last), tuple(kept))


def _by_value(unit: Unit, i: int) -> tuple[Span, ...]:
    """What makes `operator*(V a, const V& b)` at token i, which is the one that HIP has, an overload of that."""
    spans = unit.split_args(i + 3, unit.match[i + 2])
    if len(spans) != 2 or unit.text[unit.p[i + 1] : unit.end(i + 1)] not in _SCALES:
        return ()
    first, second = (unit.text[s.start : s.end] for s in spans)
    at = spans[1].start + second.find("&")
    return (Span(at, at + 1),) if "&" in second and "const" in second and "&" not in first else ()


def _without(span: Span, cut: Span) -> tuple[Span, ...]:
    """A span without a part of it."""
    inside = span.start <= cut.start < cut.end <= span.end
    return (Span(span.start, cut.start), Span(cut.end, span.end)) if inside else (span,)


def _besides(unit: Unit, macro: str) -> list[str]:
    """What else a macro for both sides stands for, such as `inline`."""
    if macro not in unit.side_macros:
        return []
    body = unit.macros[macro][0]
    return [f" {w}" for w in unit.t[body.first : body.stop] if w not in _BOTH]


def _operands(
    unit: Unit, opener: int, vectors: dict[str, int], meant: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, tuple[str, ...]] | None:
    """The vector type that all parameters have, and their names ("" where there is none); None for other lists.
    `meant`: what names of types stand for."""
    types: set[str] = set()
    names = []
    for span in unit.split_args(opener + 1, unit.match[opener]):
        found = re.findall(r"\w+|\S", unit.text[span.start : span.end])
        words = [meant.get(w, w) for w in found if w not in ("const", "&", "struct")]
        if not 1 <= len(words) <= 2 or words[0] not in vectors:
            return None
        types.add(words[0])
        names.append(words[1] if len(words) == 2 else "")
    return (types.pop(), tuple(names)) if len(types) == 1 else None


def _same(unit: Unit, function: Function, op: str, vector: str, names: tuple[str, ...]) -> bool:
    """Whether the body does to each component what HIP's operator does, and nothing else."""
    if op in ("++", "--") or not all(names):
        return False
    a, b = names
    fields = "xyzw"[: unit.once(_vectors)[vector]]
    body = " ".join(unit.t[function.body[0] + 1 : function.body[1]])
    sign = op[0]
    stores = [f"{a} . {c} {sign}= {b} . {c}" for c in fields]
    long_stores = [f"{a} . {c} = {a} . {c} {sign} {b} . {c}" for c in fields]
    values = " , ".join(f"{a} . {c} {sign} {b} . {c}" for c in fields)
    built = [f"make_{vector} ( {values} )", f"{vector} {{ {values} }}", f"{{ {values} }}"]
    if op.endswith("="):
        ends = ("", f" return {a} ;")
        bodies = {" ; ".join(s) + " ;" + e for s in (stores, long_stores) for e in ends}
        bodies |= {f"{a} = {x} ;{e}" for x in built[:2] for e in ends} | {f"return {a} = {x} ;" for x in built[:2]}
        return body in bodies
    bodies = {f"return {x} ;" for x in built} | {f"return ( {x} ) ;" for x in built[:2]}
    first = unit.split_args(function.params[0] + 1, function.params[1])[0]
    if "&" not in unit.text[first.start : first.end]:
        bodies |= {" ; ".join(s) + f" ; return {a} ;" for s in (stores, long_stores)}
    local = re.match(rf"{vector} (\w+) ; ", body)
    if local and local[1] not in names:
        r = local[1]
        stored = " ; ".join(f"{r} . {c} = {a} . {c} {sign} {b} . {c}" for c in fields)
        bodies.add(f"{vector} {r} ; {stored} ; return {r} ;")
    local = re.match(rf"{vector} (\w+) =? ?", body)
    if local and local[1] not in names:
        r = local[1]
        bodies |= {f"{vector} {r} = {x} ; return {r} ;" for x in built}
    return body in bodies


def _lines(unit: Unit, first: int, last: int) -> tuple[int, int]:
    """Bytes of tokens [first, last], with the white space of their lines where nothing else stands on them."""
    text, start, end = unit.text, unit.p[first], unit.end(last)
    line = unit.line_start(start)
    after = re.compile(r"[ \t]*(?:\r\n|\n|\r|\Z)").match(text, end)
    if text[line:start].strip() or after is None:
        return start, end
    return line, after.end()
