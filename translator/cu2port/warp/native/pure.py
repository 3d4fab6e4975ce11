"""Functions of a file that do nothing but give a value, made of their arguments alone: whoever calls them, as often as
he likes, gets the same."""

from __future__ import annotations

from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.warp.model import make_device
from cu2port.warp.native.lanes import MATH
from cu2port.warp.native.numbers import Numbers
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Jump,
    Loop,
    Member,
    Name,
    Num,
    Other,
    Stmt,
    Ternary,
    Unary,
    callee,
)

#: Functions of CUDA that only give a value, besides those of mathematics.
LOADS = frozenset(
    "__ldg __ldcs __ldcg __ldca __float2half_rn __half22float2 make_float2 make_float4 exp2f ceilf floorf tanhf "
    "erff sinf cosf assert fma fmaf __fmaf_rn isnan isinf reinterpret_cast make_float3 make_int2 make_int4 "
    "make_uint4 make_half2 make_double2 floor ceil round roundf rint rintf trunc truncf tanh sin cos sinh cosh "
    "erf erfc erfcf log2 log2f log10f log1p log1pf expm1 expm1f exp2 cbrtf hypotf fmodf copysignf isfinite "
    "__saturatef __low2float __high2float __float22half2_rn __floats2half2_rn __bfloat162float "
    "__float2bfloat16_rn __bfloat1622float2 __float2int_rn __int2float_rn __popc __popcll __clz __ffs __hmul "
    "__hadd __hsub __hfma __hadd2 __hmul2 __hfma2 __fmul_rn __fadd_rn __log2f __expf __cosf __sinf __powf int64_t "
    "uint32_t int32_t size_t unsigned long".split()
)
#: Those that read memory.
READS = frozenset({"__ldg", "__ldcs", "__ldcg", "__ldca"})
_CASTS = frozenset({"reinterpret_cast", "static_cast"})
_DEPTH = 4


def is_pure(unit: Unit, numbers: Numbers, name: str, depth: int = _DEPTH) -> bool:
    """Whether all functions of a name only give a value: they write to nothing but their own variables, and read
    nothing but those, constants and what their arguments point to."""
    found = [f for f in unit.functions if f.name == name]
    return bool(found) and depth > 0 and all(_Reader(unit, numbers, f, depth).is_pure() for f in found)


class _Reader:
    """Reads one function."""

    def __init__(self, unit: Unit, numbers: Numbers, f: Function, depth: int) -> None:
        self.unit, self.numbers, self.f, self.depth = unit, numbers, f, depth
        self.own: set[str] = set()  # variables that it may write to
        self.known: set[str] = set()

    def is_pure(self) -> bool:
        unit, d = self.unit, make_device(self.unit, self.f)
        first, stop = self.f.body
        inside = unit.t[self.f.first : stop]
        if any(first < x.first < stop and x.keyword != "pragma" for x in unit.directives) or "volatile" in inside:
            return False
        for p in d.params:
            words = self._words(p.at)
            if ("&" in words or p.pointer) and "const" not in words:
                return False
            self.known.add(p.name)
            if "&" not in words and not p.pointer:
                self.own.add(p.name)
        self.known |= {p.name for p in d.tparams}
        return all(self._does(s) for s in d.body.body)

    def _words(self, at: int) -> list[str]:
        """The words of a parameter's type."""
        k = at
        while k > self.f.params[0] + 1 and self.unit.t[k - 1] != ",":
            k -= 1
        return self.unit.t[k:at]

    def _does(self, s: Stmt | None) -> bool:
        if s is None:
            return True
        if isinstance(s, Block):
            return all(self._does(x) for x in s.body)
        if isinstance(s, Decl):
            if s.shared or s.pointer or s.volatile or "static" in self.unit.t[s.at - 4 : s.at]:
                return False
            if self.unit.tok(s.at - 1) == "&" or (s.init is not None and not self._gives(s.init)):
                return False
            self.own.add(s.name)
            self.known.add(s.name)
            return all(self._gives(x) for x in s.dims)
        if isinstance(s, Eval):
            return self._writes(s.expr) and s.end >= 0
        if isinstance(s, If):
            return self._gives(s.cond) and self._does(s.then) and self._does(s.other)
        if isinstance(s, Loop):
            steps = s.step.parts if isinstance(s.step, Other) else (s.step,) if s.step is not None else ()
            if not self._does(s.init) or (s.cond is not None and not self._gives(s.cond)):
                return False
            return self._does(s.body) and all(self._writes(x) for x in steps)
        if isinstance(s, Jump):
            return s.kind in ("return", "break", "continue") and (s.value is None or self._gives(s.value))
        return False

    def _writes(self, e: Expr) -> bool:
        """Whether an expression sets a variable of the function, and does nothing else."""
        if isinstance(e, Assign):
            return self._is_own(e.target) and self._gives(e.target) and self._gives(e.value)
        return isinstance(e, Unary) and e.op in ("++", "--", "p++", "p--") and self._is_own(e.x)

    def _is_own(self, e: Expr) -> bool:
        while isinstance(e, Member) and self.unit.tok(e.at - 1) == ".":
            e = e.base
        return isinstance(e, Name) and e.text in self.own

    def _gives(self, e: Expr) -> bool:
        """Whether an expression only gives a value."""
        if isinstance(e, Num):
            return True
        if isinstance(e, Name):
            return e.text in self.known or self.numbers.fold(e) is not None or self._is_infinite(e)
        if isinstance(e, Member):
            return self._gives(e.base)
        if isinstance(e, CallExpr):
            name = callee(e)
            if not isinstance(e.callee, Name) or not all(self._gives(x) for x in e.args):
                return False
            if name in _CASTS:
                return "const" in self.unit.t[e.at : e.at + 4] or not any(isinstance(x, Unary) for x in e.args)
            own = any(f.name == name for f in self.unit.functions)
            if own:
                return not e.callee.qualified and is_pure(self.unit, self.numbers, name, self.depth - 1)
            return name in MATH or name in LOADS
        if isinstance(e, Unary):
            return e.op in ("!", "~", "-", "+", "*", "&") and self._gives(e.x)
        if isinstance(e, (Binary, Index, Ternary)):
            parts = {Binary: ("a", "b"), Index: ("base", "inner"), Ternary: ("cond", "a", "b")}[type(e)]
            return all(self._gives(getattr(e, x)) for x in parts)
        return isinstance(e, Other) and bool(e.parts) and all(self._gives(x) for x in e.parts)

    @staticmethod
    def _is_infinite(e: Name) -> bool:
        return e.text in ("INFINITY", "FLT_MAX", "DBL_MAX", "true", "false", "nullptr")
