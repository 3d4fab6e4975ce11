"""Rows: textures and surfaces, by HIP's own functions. GPUs of the CDNA3 line have no image instructions."""

from __future__ import annotations

from typing import Any

from cu2port.ptx.interp import StuckError
from cu2port.ptx.ir import Type
from cu2port.ptx.ops import U32, VOID, Effect, NoMeaningError, Op, Value, bits
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.table import ptx

_TEX, _SURF = "texture-instructions-", "surface-instructions-"
# geometry -> how many coordinates follow a layer's number, and whether there is one
_GEOMETRY = {
    "1d": (1, False),
    "2d": (2, False),
    "3d": (3, False),
    "a1d": (1, True),
    "a2d": (2, True),
    "cube": (3, False),
}


def _not_here(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    raise StuckError("the interpreter has no textures and surfaces")


def _spell(v: Value, texts: list[str]) -> str:
    """attr: the helper's name, and the type that it is a template of."""
    assert isinstance(v.attr, tuple)
    name, element = v.attr
    return f"cu2port::ptx::{name}<{cxx_type(element)}>({', '.join(texts)})"


FETCH = Op("fetch", lambda v, *a: 0, _spell, effect=Effect.READ, run=_not_here)
PUT = Op("put", lambda v, *a: 0, _spell, effect=Effect.WRITE, run=_not_here)


def _coordinates(geometry: str, c: tuple[Value, ...]) -> tuple[Value, ...]:
    """Those that count (2D has an unused one or two behind), the layer first if there is one."""
    count, layered = _GEOMETRY[geometry]
    if len(c) < count + layered:
        raise NoMeaningError("too few coordinates")
    return (bits(c[0], U32), *c[1 : count + 1]) if layered else c[:count]


@ptx("tex{.base}.{g:1d|2d|3d|a1d|a2d|cube}.v4.{t:u32|s32|f32}.f32 {d}, [a;c]:f32", ref=_TEX + "tex")
def tex(t: Type, g: str, a: Value, c: tuple[Value, ...]) -> Value:
    return Value(FETCH, t.vector(4), (a, *_coordinates(g, c)), (f"tex_{g}", t.vector(4)))


@ptx("tex.level.{g:1d|2d|3d|a1d|a2d}.v4.{t:u32|s32|f32}.f32 {d}, [a;c]:f32, b:f32", ref=_TEX + "tex")
def tex_level(t: Type, g: str, a: Value, b: Value, c: tuple[Value, ...]) -> Value:
    return Value(FETCH, t.vector(4), (a, *_coordinates(g, c), b), (f"tex_level_{g}", t.vector(4)))


@ptx("tex.grad.{g:1d|2d}.v4.{t:u32|s32|f32}.f32 {d}, [a;c]:f32, {b}:f32, {e}:f32", ref=_TEX + "tex")
def tex_grad(t: Type, g: str, a: Value, b: tuple[Value, ...], c: tuple[Value, ...], e: tuple[Value, ...]) -> Value:
    """How the coordinates change along x, and along y. HIP's function for 3D takes the second for both."""
    count, _ = _GEOMETRY[g]
    if min(len(b), len(e)) < count:
        raise NoMeaningError("too few differences of coordinates")
    return Value(FETCH, t.vector(4), (a, *_coordinates(g, c), *b[:count], *e[:count]), (f"tex_grad_{g}", t.vector(4)))


@ptx("tex{.base}.{g:1d|2d|3d|a1d|a2d}.v4.{t:u32|s32|f32}.s32 {d}, [a;c]:s32", ref=_TEX + "tex")
def tex_fetch(t: Type, g: str, a: Value, c: tuple[Value, ...]) -> Value:
    """Texels by number; HIP has that for linear memory only."""
    if g != "1d":
        raise NoMeaningError(
            f"a texel of a `{g}` texture by its number",
            "fetch with `tex2D` at the texel's middle, from a texture whose coordinates are not normalised",
        )
    return Value(FETCH, t.vector(4), (a, c[0]), ("tex_1d_fetch", t.vector(4)))


@ptx("tld4.{r:r|g|b|a}.2d.v4.{t:u32|s32|f32}.f32 {d}, [a;c]:f32", ref=_TEX + "tld4")
def tld4(t: Type, r: str, a: Value, c: tuple[Value, ...]) -> Value:
    return Value(FETCH, t.vector(4), (a, *_coordinates("2d", c)), (f"tld4_{r}", t.vector(4)))


_ELEMENT = "{.vec:v2|v4}.{t:b8|b16|b32}{.clamp:trap|clamp|zero}"


def _bounds(clamp: str) -> None:
    if clamp == "clamp":
        raise NoMeaningError("coordinates clamped to a surface's edge", "clamp the coordinates before the access")


@ptx(f"suld.b.{{g:1d|2d|3d|a1d|a2d}}{{.cop:ca|cg|cs|cv}}{_ELEMENT} {{d}}, [a;c]:s32", ref=_SURF + "suld")
def suld(t: Type, g: str, a: Value, c: tuple[Value, ...], n: int, clamp: str) -> Value:
    """The first coordinate counts bytes. Beyond the edge NVIDIA's default traps; AMD's loads give 0."""
    _bounds(clamp)
    return Value(FETCH, t.vector(n), (a, *_coordinates(g, c)), (f"suld_{g}", t.vector(n)))


@ptx(f"sust.b.{{g:1d|2d|3d|a1d|a2d}}{{.cop:wb|cg|cs|wt}}{_ELEMENT} [a;c]:s32, {{b}}", ref=_SURF + "sust")
def sust(t: Type, g: str, a: Value, c: tuple[Value, ...], b: tuple[Value, ...], clamp: str) -> Value:
    _bounds(clamp)
    return Value(PUT, VOID, (a, *_coordinates(g, c), *b), (f"sust_{g}", t.vector(len(b))))
