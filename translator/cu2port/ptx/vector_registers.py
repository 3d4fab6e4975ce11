"""Vector registers: `.reg .v4 .f32 r;` is four registers, `r` in an operand the vector of them, `mov.v4` four moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cu2port.ptx.ir import (
    TYPES,
    Function,
    Group,
    Instruction,
    Operand,
    Pair,
    Reg,
    Scope,
    Statement,
    Variable,
    Vector,
)

_LETTERS = {letter: k for letters in ("xyzw", "rgba") for k, letter in enumerate(letters)}


def without_vectors(f: Function) -> Function:
    """The function with scalars in place of vector registers; itself where it has none."""
    return f if f.body is None else replace(f, body=scalars(f.body))


def scalars(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Statements with scalars in place of vector registers and of moves of vectors."""
    return _statements(body, {}) if any(_is_vector(s) or _is_move(s) for s in _walk(body)) else body


def _is_vector(s: Statement) -> bool:
    return isinstance(s, Variable) and s.space == "reg" and s.vector > 1


def _is_move(s: Statement) -> bool:
    return isinstance(s, Instruction) and s.opcode.startswith("mov.v")


def _moves(i: Instruction) -> Iterator[Statement]:
    """`mov.v2.u32 {a, b}, {c, d}` one by one; by way of other registers where results are among the operands."""
    known = TYPES.get(i.opcode.rpartition(".")[2])
    into, out = (i.operands[0], i.operands[-1]) if len(i.operands) == 2 else (None, None)
    if isinstance(out, Reg) and not out.select and out.name.startswith("%"):  # `%tid` and kin
        out = Vector(tuple(Reg(out.name, letter) for letter in "xyzw"))
    if known is None or not isinstance(into, Vector) or not isinstance(out, Vector):
        yield i
        return
    pairs = [(a, b) for a, b in zip(into.items, out.items, strict=False) if a != Reg("_")]
    opcode = f"mov.{known}"
    if not any(a == b for k, (a, _) in enumerate(pairs) for _, b in pairs[k + 1 :]):
        yield from (replace(i, opcode=opcode, operands=pair) for pair in pairs)
        return
    moved: list[Statement] = []
    for k, (_, b) in enumerate(pairs):
        moved.append(Variable("reg", known, f"%moved{k}"))
        moved.append(Instruction(opcode, (Reg(f"%moved{k}"), b), None, i.line, i.column))
    back = (replace(i, opcode=opcode, operands=(a, Reg(f"%moved{k}"))) for k, (a, _) in enumerate(pairs))
    yield Scope((*moved, *back), i.line, i.column)


def _walk(statements: Iterable[Statement]) -> Iterable[Statement]:
    for s in statements:
        yield s
        if isinstance(s, Scope):
            yield from _walk(s.body)


def _statements(body: Iterable[Statement], known: Mapping[str, tuple[str, ...]]) -> tuple[Statement, ...]:
    """`known`: vector registers, with the scalars that stand for each."""
    known = dict(known)
    out: list[Statement] = []
    for s in body:
        if isinstance(s, Variable) and s.space == "reg":
            for name in s.names:
                known.pop(name, None)
                if s.vector == 1:
                    continue
                known[name] = tuple(f"{name}.{letter}" for letter in "xyzw"[: s.vector])
                out.extend(replace(s, name=scalar, count=0, vector=1) for scalar in known[name])
            if s.vector > 1:
                continue
        if isinstance(s, Instruction):
            s = replace(s, operands=tuple(_operand(o, known) for o in s.operands))
            if _is_move(s):
                out.extend(_moves(s))
                continue
        elif isinstance(s, Scope):
            s = replace(s, body=_statements(s.body, known))
        out.append(s)
    return tuple(out)


def _operand(o: Operand, known: Mapping[str, tuple[str, ...]]) -> Operand:
    if isinstance(o, Reg) and o.name in known:
        scalars = known[o.name]
        if not o.select:
            return Vector(tuple(map(Reg, scalars)))
        k = _LETTERS.get(o.select, len(scalars))
        return Reg(scalars[k]) if k < len(scalars) else o
    if isinstance(o, (Vector, Group)):
        return replace(o, items=tuple(_operand(x, known) for x in o.items))
    if isinstance(o, Pair):
        return Pair(_operand(o.first, known), _operand(o.second, known))
    return o
