from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_PAIRS = frozenset({"__half2_raw", "__nv_half2_raw"})
_TYPES = frozenset({"__half_raw", "__nv_half_raw"}) | _PAIRS


class HalfRaw(Check):
    """The bits of a half are given to `__half_raw` in braces without a member's name.

    The first member of HIP's `__half_raw` is a number, not its bits, so `__half_raw r = {0x3c00};` is 15360 and not 1,
    and what a half cannot hold does not compile. The member `x` has the bits in both: it is named. HIP's `__half2_raw`
    has two such structs, and each gets its bits so.
    """

    code, name = "CU255", "half-raw"
    triggers = _TYPES
    examples = (
        Example(
            "__device__ half one() { __half_raw r = {0x3c00}; return half(r); }",
            "__device__ half one() { __half_raw r = {.x = 0x3c00}; return half(r); }",
        ),
        Example(
            "__device__ half f(unsigned short u) { __half_raw r{u}; return half(r); }",
            "__device__ half f(unsigned short u) { __half_raw r{.x = u}; return half(r); }",
            "without an equals sign",
        ),
        Example(
            "#define ONE half(__half_raw{0x3c00})\n", "#define ONE half(__half_raw{.x = 0x3c00})\n", "in a macro body"
        ),
        Example("CHECK(half(__half_raw{0}));", "CHECK(half(__half_raw{.x = 0}));", "as a macro's argument"),
        Example(
            "#include <cuda_fp16.h>\nconst __half2_raw ONES = {0x3c00, 0x3c00};\n",
            "#include <hip/hip_fp16.h>\nconst __half2_raw ONES = {.x = {.x = 0x3c00}, .y = {.x = 0x3c00}};\n",
            "a pair",
        ),
        Example(
            "#include <cuda_fp16.h>\nconst __half2_raw ONE = {0x3c00}, ALL[2] = {0x3c00};\n",
            "#include <hip/hip_fp16.h>\nconst __half2_raw ONE = {.x = {.x = 0x3c00}}, ALL[2] = {0x3c00};\n",
            "a pair with one half, whose other is zero",
        ),
        Example(
            "void f() { __half_raw r = {}, s{.x = 1}, t; t.x = 3; r = __half_raw{}; } struct A { __half_raw r; };",
            note="empty, or named",
        ),
        Example(
            "struct A : public __half_raw { A(int); };\nauto f = [](int i) -> __half_raw { return g(i); };\n",
            note="a base class, a returned type",
        ),
        Example("struct __half_raw { unsigned short x; };\n__half_raw r = {3};\n", note="the user's own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_TYPES):
            k = i + 1
            if is_identifier(unit.tok(k)):
                k += 1
            if unit.tok(k) == "=" and k > i + 1:
                k += 1
            if unit.tok(k) != "{" or unit.tok(k + 1) in ("}", ".", "{") or unit.match[k] < 0 or unit.owns(unit.t[i]):
                continue
            if unit.tok(i - 1) == "->" or unit.declarations.scope_at(k + 1).kind == "class":
                continue  # a function's body, a class that is derived
            yield self.finding(
                f"the first member of HIP's `{unit.t[i]}` is "
                + ("a struct, as the second is" if unit.t[i] in _PAIRS else "a number; its bits are `x`"),
                unit.p[i],
                unit.end(unit.match[k]),
                _named(unit, k, unit.t[i] in _PAIRS),
                effects=(("all", "wrong-result"),),
            )


def _named(unit: Unit, k: int, pair: bool) -> tuple[Edit, ...]:
    """The edits that name the members of the list that opens at token k; none where it is not one or two values."""
    if not pair:
        return (insert(unit.end(k), ".x = ", Side.LEFT),)
    values = [v for v in unit.split_args(k + 1, unit.match[k]) if v.start < v.end]
    if len(values) > len("xy") or "..." in unit.t[k : unit.match[k]]:
        return ()
    return tuple(
        edit
        for member, v in zip("xy", values, strict=False)
        for edit in (insert(v.start, f".{member} = {{.x = ", Side.RIGHT), insert(v.end, "}", Side.LEFT))
    )
