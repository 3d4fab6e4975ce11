"""Vector registers: `.reg .v4 .f32 r;` is four registers, and `r` in an operand the vector of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cu2port.ptx.ir import (
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
    if f.body is None or not any(_is_vector(s) for s in _walk(f.body)):
        return f
    return replace(f, body=_statements(f.body, {}))


def _is_vector(s: Statement) -> bool:
    return isinstance(s, Variable) and s.space == "reg" and s.vector > 1


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
