from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_VECTOR = re.compile(r"(?:u?char|u?short|u?int|u?long|u?longlong|float|double)([1-4])\Z")
_NAMES = ("+=", "-=", "*=", "/=", "*", "/", "++", "--")
_BOTH = frozenset({"__host__", "__device__"})
_QUIET_WORDS = frozenset(
    "inline static const constexpr __host__ __device__ __forceinline__ __inline__ template friend extern void".split()
)


class VectorOperator(Check):
    """A user's operator for a vector type (`float3 * float3`) that HIP's vector types have themselves.

    CUDA's vector types are plain structs, so programs bring their own operators. HIP's have the usual ones, component
    by component, and for a pair of vectors `+= -= *= /= * /` a second one of the user's that is `__host__ __device__`
    makes every use ambiguous. Where the user's does the same it is taken out. Where it does something else (the product
    of complex numbers, say) it needs a name of its own.
    """

    code, name, severity = "CU216", "vector-operator", Severity.INFO
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
            "__host__ __device__ float2 operator*(float2 a, float2 b)"
            " { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }\n",
            "complex numbers: it stays, and is reported",
        ),
        Example(
            "#define HD __host__ __device__\nHD float2 operator/(float2 a, float2 b)"
            " { return make_float2(a.x / b.x, a.y / b.y); }\n",
            "#define HD __host__ __device__\n",
            "as a macro's argument or after one",
        ),
        Example(
            "#define OP(T) __host__ __device__ T operator*(T a, T b) { return a; }\n",
            note="in a macro body the types are not known",
        ),
        Example("__host__ __device__ float2 operator*(float2 a, float b) { return make_float2(a.x * b, a.y * b); }"),
        Example("__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, a.y * b.y); }"),
        Example("struct V { V operator*(V b) { return *this; } };", note="a class of the user's"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "operator" not in unit.words:
            return
        bodies = {f.name_at: f for f in unit.functions if f.name.startswith("operator")}
        for i in unit.find("operator"):
            op = unit.tok(i + 1)
            if op not in _NAMES or unit.tok(i + 2) != "(" or unit.in_directive(i) is not None:
                continue
            operands = _operands(unit, i + 2)
            if operands is None or len(operands[1]) != (1 if op in ("++", "--") else 2):
                continue
            vector, names = operands
            function = bodies.get(i + 1)
            head = _head(unit, i)
            if function is not None:
                head, last = function.first, function.body[1]
                same = _same(unit, function, op, vector, names)
            elif unit.tok(unit.match[i + 2] + 1) == ";":
                last, same = unit.match[i + 2] + 1, None
            else:
                continue
            words = set(unit.t[head:i])
            if "friend" in words or "template" in words:
                continue
            sides = words & _BOTH | {s for w in words for s in unit.side_macros.get(w, ())}
            unknown = any(is_identifier(w) and w not in _QUIET_WORDS and not _VECTOR.match(w) for w in words)
            both = sides >= _BOTH or "constexpr" in words or (unknown and not sides)
            if not both:
                continue
            yield from self._judge(unit, i, head, last, f"operator{op}", vector, same, sides >= _BOTH)

    def _judge(
        self, unit: Unit, i: int, head: int, last: int, name: str, vector: str, same: bool | None, sure: bool
    ) -> Iterator[Finding]:
        clear = not any(unit.p[head] <= d.start < unit.end(last) for d in unit.directives)
        if same is None:  # a declaration: what the definition does decides, and that may be elsewhere
            same = any(
                _same(unit, f, name[8:], vector, found[1])
                for f in unit.functions
                if f.name == name and (found := _operands(unit, f.params[0])) is not None and found[0] == vector
            )
        if same and clear:
            yield self.finding(
                f"`{name}` for {vector} is defined by HIP; removed",
                unit.p[head],
                unit.end(last),
                (replace(*_lines(unit, head, last), ""),),
                cuda=vector,
            )
        elif sure:
            yield self.finding(
                f"HIP has a `{name}` for {vector}, component by component; a second one makes every use ambiguous. "
                "Rename this one",
                unit.p[i],
                unit.end(unit.match[i + 2]),
                severity=Severity.ERROR,
                cuda=vector,
                effects=(("all", "compile-error"),),
            )


def _head(unit: Unit, i: int) -> int:
    """First token of the declaration whose `operator` is token i."""
    k = i
    while k and unit.t[k - 1] not in (";", "{", "}", ":") and unit.in_directive(k - 1) is None:
        k -= 1
    return k


def _operands(unit: Unit, opener: int) -> tuple[str, tuple[str, ...]] | None:
    """The vector type that all parameters have, and their names ("" where there is none); None for other lists."""
    types: set[str] = set()
    names = []
    for span in unit.split_args(opener + 1, unit.match[opener]):
        found = re.findall(r"\w+|\S", unit.text[span.start : span.end])
        words = [w for w in found if w not in ("const", "&", "struct")]
        if not 1 <= len(words) <= 2 or not _VECTOR.match(words[0]):
            return None
        types.add(words[0])
        names.append(words[1] if len(words) == 2 else "")
    return (types.pop(), tuple(names)) if len(types) == 1 else None


def _same(unit: Unit, function: Function, op: str, vector: str, names: tuple[str, ...]) -> bool:
    """Whether the body does to each component what HIP's operator does, and nothing else."""
    if op in ("++", "--") or not all(names):
        return False
    a, b = names
    fields = "xyzw"[: int(vector[-1])]
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
    reference = "&" in unit.t[function.params[0] : function.params[1]]
    if not reference:
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
