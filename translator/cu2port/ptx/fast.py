"""`--ptx-fp fast`: trees that say less about denormals and take AMD's instructions as they are.

Operations that round to nearest lose their `.ftz`: AMD GPUs compute on denormals at full speed, and flushing costs
three instructions an operand. Approximations go without the scaling that keeps denormals; sine and cosine are the
hardware's. Matrix products in f16 and bf16 take instructions that flush denormals on some GPUs.
"""

from __future__ import annotations

from dataclasses import replace

from cu2port.ptx.ir import Operation
from cu2port.ptx.isa_matrix import MMA, Form
from cu2port.ptx.ops import Op, Value
from cu2port.ptx.ops_float import (
    APPROX,
    APPROX_FTZ,
    DIV_APPROX,
    DIV_FULL,
    FADD,
    FADD_ANY,
    FDIV,
    FFMA,
    FLUSH,
    FMUL,
    FMUL_ANY,
    FSQRT,
    FSUB,
    FSUB_ANY,
    HELPERS,
)

_ROUNDING = (FADD, FADD_ANY, FSUB, FSUB_ANY, FMUL, FMUL_ANY, FFMA, FDIV, FSQRT, APPROX, DIV_APPROX, DIV_FULL, MMA)
_UNSCALED = ("rcp", "sqrt", "rsqrt", "lg2", "ex2")
APPROX_FAST = Op("approx_fast", APPROX.meaning, lambda v, texts: f"{HELPERS}{v.attr}_approx_fast({texts[0]})")
DIV_FAST = Op("div_fast", DIV_APPROX.meaning, HELPERS + "div_approx_fast({0}, {1})")


def relaxed(operation: Operation) -> tuple[Operation, bool]:
    """The operation in its `fast` form, and whether that is another one."""
    if not any(_applies(v) for v in operation.values):
        return operation, False
    memo: dict[int, Value] = {}
    values = tuple(_relaxed(v, memo) for v in operation.values)
    changed = any(new is not old for new, old in zip(values, operation.values, strict=True))
    return (replace(operation, values=values) if changed else operation), changed


def _applies(v: Value) -> bool:
    """Whether the tree rounds, and nowhere in a direction: denormals matter to who asks for that."""
    return _rounds(v) and not _directed(v)


def _rounds(v: Value) -> bool:
    return v.op in _ROUNDING or any(map(_rounds, v.args))


def _directed(v: Value) -> bool:
    return (v.op in _ROUNDING and v.attr in ("rz", "rm", "rp")) or any(map(_directed, v.args))


def _relaxed(v: Value, memo: dict[int, Value]) -> Value:
    known = memo.get(id(v))
    if known is None:
        known = memo[id(v)] = _rewritten(v, tuple(_relaxed(a, memo) for a in v.args))
    return known


def _rewritten(v: Value, args: tuple[Value, ...]) -> Value:
    if v.op is FLUSH:
        return args[0]
    if isinstance(v.attr, Form):
        wide = v.attr.a in ("f16", "bf16") and not v.attr.orders[0]
        return Value(MMA, v.type, args, replace(v.attr, suffix="fast"), v.hint) if wide else v
    op = v.op
    if v.type.name == "f32":
        if op is APPROX and v.attr in _UNSCALED:
            op = APPROX_FTZ
        elif op is APPROX and v.attr in ("sin", "cos"):
            op = APPROX_FAST
        elif op in (DIV_APPROX, DIV_FULL):
            op = DIV_FAST
    if op is v.op and all(new is old for new, old in zip(args, v.args, strict=True)):
        return v
    return Value(op, v.type, args, v.attr, v.hint)
