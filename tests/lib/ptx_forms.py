"""Forms of PTX's instructions that compute, as the manual's syntax has them: patterns that stand for many.

`[a|b]`: one of these; `[?.x]`: nothing or this. An operand is a width in bits, `p` a predicate, `t` the width of the
last type, `t0`, `t1` of one of them, `w` twice that of the last, `{t*2}` a vector, or a text in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from ptx_kernels import Form

_TYPE = re.compile(r"(?:[busf]\d+(?:x\d)?|pred|bf16|bf16x2|tf32|e\dm\dx2|ue8m0x2)")
_LETTERS = {"p": "p", "8": "h", "16": "h", "32": "r", "64": "l", "128": "q"}
_SIZES = {"pred": "p", "bf16": "16", "f32x2": "64"}
INT = "[u16|u32|u64|s16|s32|s64]"
I8 = "[u8|u16|u32|u64|s8|s16|s32|s64]"
W = "[u32|s32]"
R = "[?.rn|.rz|.rm|.rp]"
ALL = "[b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64]"
CI, CU = "[eq|ne|lt|le|gt|ge]", "[lo|ls|hi|hs]"
CF = "[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan]"
WHOLE = "[rni|rzi|rmi|rpi]"
EITHER = f"[?.{WHOLE[1:-1].replace('|', '|.')}]"

FAMILIES: dict[str, list[tuple[str, str]]] = {
    "integer": [
        (f"[add|sub|div|rem|min|max].{INT}", "t,t,t"),
        ("[add|sub].sat.s32", "t,t,t"),
        ("[add|min|max].[u16x2|s16x2]", "t,t,t"),
        ("[min|max].relu.[s16x2|s32|s8x4]", "t,t,t"),
        ("[min|max].[u8x4|s8x4]", "t,t,t"),
        ("[add|sub].[u8x4|s8x4]", "t,t,t"),
        (f"mul.[lo|hi].{INT}", "t,t,t"),
        ("mul.wide.[u16|s16|u32|s32]", "w,t,t"),
        (f"mad.[lo|hi].{INT}", "t,t,t,t"),
        ("mad.wide.[u16|s16|u32|s32]", "w,t,t,w"),
        ("[mad|mad24].hi.sat.s32", "t,t,t,t"),
        (f"mul24.[lo|hi].{W}", "t,t,t"),
        (f"mad24.[lo|hi].{W}", "t,t,t,t"),
        (f"sad.{INT}", "t,t,t,t"),
        ("[abs|neg].[s16|s32|s64]", "t,t"),
        ("[popc|clz].[b32|b64]", "32,t"),
        ("bfind[?.shiftamt].[u32|u64|s32|s64]", "32,t"),
        ("fns.b32", "32,32,32,32"),
        ("brev.[b32|b64]", "t,t"),
        ("bfe.[u32|u64|s32|s64]", "t,t,32,32"),
        ("bfi.[b32|b64]", "t,t,t,32,32"),
        ("szext.[clamp|wrap].[u32|s32]", "t,t,32"),
        ("bmsk.[clamp|wrap].b32", "t,32,32"),
        (f"dp4a.{W}.{W}", "32,32,32,32"),
        (f"dp2a.[lo|hi].{W}.{W}", "32,32,32,32"),
        ("clmad.[lo|hi].u64", "t,t,t,t"),
        ("cvt.pack.sat.[u16|s16].s32", "32,32,32"),
        ("cvt.pack.sat.[u8|s8|u4|s4|u2|s2].s32.b32", "32,32,32,32"),
    ],
    "carry": [
        ("[add|sub].cc.[u32|s32|u64|s64]", "t,t,t"),
        ("[addc|subc][?.cc].[u32|s32|u64|s64]", "t,t,t"),
        ("mad.[lo|hi].cc.[u32|s32|u64|s64]", "t,t,t,t"),
        ("madc.[lo|hi][?.cc].[u32|s32|u64|s64]", "t,t,t,t"),
    ],
    "float": [
        ("testp.[finite|infinite|number|notanumber|normal|subnormal].[f32|f64]", "p,t"),
        ("copysign.[f32|f64]", "t,t,t"),
        (f"[add|sub|mul]{R}[?.ftz][?.sat].f32", "t,t,t"),
        (f"[add|sub|mul]{R}.f64", "t,t,t"),
        (f"[add|sub|mul]{R}[?.ftz].f32x2", "t,t,t"),
        ("[fma|mad].[rn|rz|rm|rp][?.ftz][?.sat].f32", "t,t,t,t"),
        ("[fma|mad].[rn|rz|rm|rp].f64", "t,t,t,t"),
        ("fma.[rn|rz|rm|rp][?.ftz].f32x2", "t,t,t,t"),
        ("div.[approx|full|rn|rz|rm|rp][?.ftz].f32", "t,t,t"),
        ("div.[rn|rz|rm|rp].f64", "t,t,t"),
        ("[abs|neg][?.ftz].f32", "t,t"),
        ("[abs|neg].f64", "t,t"),
        ("[min|max][?.ftz][?.NaN][?.xorsign.abs].f32", "t,t,t"),
        ("[min|max].f64", "t,t,t"),
        ("[min|max][?.ftz][?.NaN][?.abs].f32", "t,t,t,t"),
        ("[rcp|sqrt].[approx|rn|rz|rm|rp][?.ftz].f32", "t,t"),
        ("[rcp|sqrt].[rn|rz|rm|rp].f64", "t,t"),
        ("[rcp|rsqrt].approx.ftz.f64", "t,t"),
        ("rsqrt.approx[?.ftz].f32", "t,t"),
        ("rsqrt.approx.f64", "t,t"),
        ("[sin|cos|lg2|ex2].approx[?.ftz].f32", "t,t"),
        ("tanh.approx.f32", "t,t"),
    ],
    "half": [
        ("[add|sub|mul][?.rn][?.ftz][?.sat].[f16|f16x2]", "t,t,t"),
        ("[add|sub|mul][?.rn].[bf16|bf16x2]", "t,t,t"),
        ("fma.rn[?.ftz][?.sat|.relu].[f16|f16x2]", "t,t,t,t"),
        ("fma.rn[?.relu].[bf16|bf16x2]", "t,t,t,t"),
        ("[neg|abs][?.ftz].[f16|f16x2]", "t,t"),
        ("[neg|abs].[bf16|bf16x2]", "t,t"),
        ("[min|max][?.ftz][?.NaN][?.xorsign.abs].[f16|f16x2]", "t,t,t"),
        ("[min|max][?.NaN][?.xorsign.abs].[bf16|bf16x2]", "t,t,t"),
        ("tanh.approx.[f16|f16x2|bf16|bf16x2]", "t,t"),
        ("ex2.approx.[f16|f16x2]", "t,t"),
        ("ex2.approx.ftz.[bf16|bf16x2]", "t,t"),
        (f"[add|sub]{R}[?.sat].f32.[f16|bf16]", "32,t,32"),
        ("fma.[rn|rz|rm|rp][?.sat].f32.[f16|bf16]", "32,t,t,32"),
    ],
    "select": [
        (f"selp.{ALL}", "t,t,t,p"),
        (f"slct.{ALL}.s32", "t0,t0,t0,32"),
        (f"slct[?.ftz].{ALL}.f32", "t0,t0,t0,32"),
    ],
    "logic": [
        ("[and|or|xor].[pred|b16|b32|b64]", "t,t,t"),
        ("not.[pred|b16|b32|b64]", "t,t"),
        ("cnot.[b16|b32|b64]", "t,t"),
        *(("lop3.b32", f"32,32,32,32,'{lut:#x}'") for lut in range(256)),
        ("lop3.[or|and].b32", "'%r1|%p1',32,32,32,'0x6a',p"),
        ("lop3.[or|and].b32", "'_|%p1',32,32,32,'0x6a',p"),
        ("shf.[l|r].[clamp|wrap].b32", "32,32,32,32"),
        ("shl.[b16|b32|b64]", "t,t,32"),
        ("shr.[b16|b32|b64|u16|u32|u64|s16|s32|s64]", "t,t,32"),
    ],
    "move": [
        ("mov.[pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64]", "t,t"),
        *((f"mov.b{n}", f"{n},{{{n // k}*{k}}}") for n, k in ((32, 2), (64, 2), (64, 4), (128, 2), (128, 4))),
        *((f"mov.b{n}", f"{{{n // k}*{k}}},{n}") for n, k in ((32, 2), (64, 2), (64, 4), (128, 2), (128, 4))),
        ("mov.b32", "'{%h1, _}',32"),
        ("mov.b32", "32,'{%b1, %b2, %b3, %b4}'"),
        ("mov.b32", "'{%b1, %b2, %b3, %b4}',32"),
        ("mov.b16", "16,'{%b1, %b2}'"),
        ("mov.b16", "'{%b1, %b2}',16"),
        ("prmt.b32[?.f4e|.b4e|.rc8|.ecl|.ecr|.rc16]", "32,32,32,32"),
    ],
    "convert": [
        (f"cvt[?.sat].{I8}.{I8}", "t0,t1"),
        (f"cvt.{WHOLE}[?.ftz][?.sat].{I8}.f32", "t0,t1"),
        (f"cvt.{WHOLE}[?.sat].{I8}.[f64|f16]", "t0,t1"),
        (f"cvt.{WHOLE}.[u16|u32|u64|s16|s32|s64].bf16", "t0,t1"),
        (f"cvt.[rn|rz|rm|rp][?.ftz][?.sat].f32.{I8}", "t0,t1"),
        (f"cvt.[rn|rz|rm|rp][?.sat].[f64|f16].{I8}", "t0,t1"),
        (f"cvt.[rn|rz|rm|rp].bf16.{INT}", "t0,t1"),
        (f"cvt{EITHER}[?.ftz][?.sat].f32.f32", "t0,t1"),
        (f"cvt{EITHER}[?.sat].f64.f64", "t0,t1"),
        (f"cvt{EITHER}[?.sat].f16.f16", "t0,t1"),
        (f"cvt.{WHOLE}.bf16.bf16", "t0,t1"),
        ("cvt[?.ftz][?.sat].f64.f32", "t0,t1"),
        ("cvt[?.ftz][?.sat].f32.f16", "t0,t1"),
        ("cvt[?.ftz].f32.bf16", "t0,t1"),
        ("cvt[?.sat].f64.f16", "t0,t1"),
        ("cvt.f64.bf16", "t0,t1"),
        ("cvt.[rn|rz|rm|rp][?.ftz][?.sat].f32.f64", "t0,t1"),
        ("cvt.[rn|rz|rm|rp][?.ftz][?.sat].f16.f32", "t0,t1"),
        ("cvt.[rn|rz|rm|rp][?.sat].f16.f64", "t0,t1"),
        ("cvt.[rn|rz|rm|rp].f16.bf16", "t0,t1"),
        ("cvt.[rn|rz|rm|rp].bf16.[f32|f64|f16]", "t0,t1"),
        ("cvt.[rn|rz|rm|rp].ftz.bf16.f32", "t0,t1"),
        ("cvt.[rn|rz][?.relu][?.satfinite].[f16|bf16].f32", "t0,t1"),
        ("cvt.[rn|rz][?.relu][?.satfinite].[f16x2|bf16x2].f32", "t0,32,32"),
        ("cvt.rna[?.satfinite].tf32.f32", "32,32"),
        ("cvt.[rn|rz][?.satfinite][?.relu].tf32.f32", "32,32"),
        ("cvt.rn.satfinite[?.relu].[e4m3x2|e5m2x2|e2m3x2|e3m2x2].f32", "16,32,32"),
        ("cvt.rn.satfinite[?.relu].[e4m3x2|e5m2x2].f16x2", "16,32"),
        ("cvt.rn[?.relu].f16x2.[e4m3x2|e5m2x2|e2m3x2|e3m2x2]", "32,16"),
        ("cvt.rn.satfinite[?.relu].e2m1x2.f32", "'%b1',32,32"),
        ("cvt.rn[?.relu].f16x2.e2m1x2", "32,'%b1'"),
        ("cvt.[rz|rp][?.satfinite].ue8m0x2.f32", "16,32,32"),
        ("cvt.[rz|rp][?.satfinite].ue8m0x2.bf16x2", "16,32"),
        ("cvt.rn.bf16x2.ue8m0x2", "32,16"),
    ],
    "video": [
        (f"[vadd|vsub|vabsdiff|vmin|vmax].{W}.{W}.{W}[?.sat]", "32,32,32"),
        (f"[vadd|vsub|vabsdiff|vmin|vmax].{W}.{W}.{W}[?.sat].[add|min|max]", "32,32,32,32"),
        *(
            (f"[vadd|vabsdiff|vmax].{W}.{W}.{W}[?.sat]", f"'%r1.{s}',32,32,32")
            for s in ("b0", "b1", "b2", "b3", "h0", "h1")
        ),
        *((f"[vsub|vmin].{W}.{W}.{W}[?.sat]", f"32,'%r2.{s}','%r3.{u}'") for s, u in (("b0", "h1"), ("h0", "b3"))),
        (f"[vshl|vshr].{W}.{W}.u32[?.sat].[clamp|wrap]", "32,32,32"),
        (f"[vshl|vshr].{W}.{W}.u32[?.sat].[clamp|wrap].[add|min|max]", "32,32,32,32"),
        (f"vmad.{W}.{W}.{W}[?.po][?.sat][?.shr7|.shr15]", "32,32,32,32"),
        ("vmad.s32.s32.s32[?.sat][?.shr7|.shr15]", "32,32,32,'-%r4'"),
        ("vmad.s32.s32.s32[?.sat]", "32,'-%r2','%r3.h1','%r4'"),
        (f"vset.{W}.{W}.{CI}", "32,32,32"),
        (f"vset.{W}.{W}.{CI}.[add|min|max]", "32,32,32,32"),
        (
            f"[vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2|vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4].{W}.{W}.{W}[?.sat|.add]",
            "32,32,32,32",
        ),
        (f"[vset2|vset4].{W}.{W}.{CI}[?.add]", "32,32,32,32"),
        ("vadd2.s32.s32.u32.sat", "'%r1.h1','%r2.h31','%r3.h20',32"),
        ("vadd4.u32.u32.u32", "'%r1.b310','%r2.b7654','%r3.b0246','%r4'"),
        ("vavrg4.s32.s32.s32", "'%r1.b2','%r2.b3210','%r3.b7531','%r4'"),
        ("vabsdiff2.u32.s32.s32.add", "32,'%r2.h12','%r3.h30','%r4'"),
    ],
    "compare": [],
}
for _tail, _more in (("", ""), (".[and|or|xor]", ",'%p3'")):
    for _into in ("p", "'%p1|%p2'"):
        FAMILIES["compare"] += [
            (f"setp.{CI}{_tail}.{INT}", f"{_into},t,t{_more}"),
            (f"setp.{CU}{_tail}.[u16|u32|u64]", f"{_into},t,t{_more}"),
            (f"setp.[eq|ne]{_tail}.[b16|b32|b64]", f"{_into},t,t{_more}"),
            (f"setp.{CF}{_tail}[?.ftz].f32", f"{_into},t,t{_more}"),
            (f"setp.{CF}{_tail}.f64", f"{_into},t,t{_more}"),
        ]
        FAMILIES["compare"] += [
            (f"setp.{CF}{_tail}[?.ftz].f16x2", f"{_into},t,t{_more}"),
            (f"setp.{CF}{_tail}.bf16x2", f"{_into},t,t{_more}"),
        ]
    FAMILIES["compare"] += [
        (f"setp.{CF}{_tail}[?.ftz].f16", f"p,t,t{_more}"),
        (f"setp.{CF}{_tail}.bf16", f"p,t,t{_more}"),
    ]
    FAMILIES["compare"] += [
        (f"set.{CI}{_tail}.[u32|s32|f32].{INT}", f"32,t,t{_more}"),
        (f"set.{CU}{_tail}.[u32|s32|f32].[u16|u32|u64]", f"32,t,t{_more}"),
        (f"set.[eq|ne]{_tail}.[u32|s32|f32].[b16|b32|b64]", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}[?.ftz].[u32|s32|f32].f32", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}.[u32|s32|f32].f64", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}[?.ftz].[f16|u16|s16].f16", f"16,t,t{_more}"),
        (f"set.{CI}{_tail}.[f16|bf16].{INT}", f"16,t,t{_more}"),
        (f"set.{CU}{_tail}.[f16|bf16].[u16|u32|u64]", f"16,t,t{_more}"),
        (f"set.[eq|ne]{_tail}.[f16|bf16].[b16|b32|b64]", f"16,t,t{_more}"),
        (f"set.{CF}{_tail}[?.ftz].f16.f32", f"16,t,t{_more}"),
        (f"set.{CF}{_tail}.bf16.[f16|f32|f64]", f"16,t,t{_more}"),
        (f"set.{CF}{_tail}.f16.f64", f"16,t,t{_more}"),
        (f"set.{CF}{_tail}[?.ftz].[u32|s32].f16", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}.[bf16|u16|s16].bf16", f"16,t,t{_more}"),
        (f"set.{CF}{_tail}.[u32|s32].bf16", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}[?.ftz].[f16x2|u32|s32].f16x2", f"32,t,t{_more}"),
        (f"set.{CF}{_tail}.[bf16x2|u32|s32].bf16x2", f"32,t,t{_more}"),
    ]


def expanded(pattern: str) -> Iterator[str]:
    choices = []
    for part in re.split(r"(\[[^\]]*\])", pattern):
        inner = part[1:-1]
        choices.append(
            [part] if part[:1] != "[" else ["", *inner[1:].split("|")] if inner[0] == "?" else inner.split("|")
        )
    return ("".join(c) for c in product(*choices))


def _size(t: str) -> str:
    if t in _SIZES:
        return _SIZES[t]
    return "32" if "x" in t or t == "tf32" else t.lstrip("busf")


def spelled(opcode: str, operands: str) -> str:
    types = [w for w in opcode.split(".")[1:] if _TYPE.fullmatch(w)]
    count: dict[str, int] = {}
    words = []

    def register(o: str) -> str:
        size = _size(types[-1]) if o in ("t", "w") else _size(types[int(o[1])]) if o[0] == "t" else o
        letter = _LETTERS[str(2 * int(size)) if o == "w" else size]
        count[letter] = count.get(letter, 0) + 1
        return f"%{letter}{count[letter]}"

    for o in re.findall(r"'[^']*'|[^,']+", operands):
        vector = re.fullmatch(r"\{(\w+)\*(\d)\}", o)
        if o.startswith("'"):
            words.append(o.strip("'"))
            if found := re.match(r"-?%([a-z])\d", words[-1]):
                count[found[1]] = count.get(found[1], 0) + 1
        elif vector:
            words.append("{" + ", ".join(register(vector[1]) for _ in range(int(vector[2]))) + "}")
        else:
            words.append(register(o))
    return ", ".join(words)


def _saturates(opcode: str) -> bool:
    """Whether `.sat` may stand there: not where the source's range is in the result's."""
    found = re.fullmatch(r"cvt\.sat\.([us])(\d+)\.([us])(\d+)", opcode)
    if found is None:
        return True
    (to, wide), (of, width) = (found[1], int(found[2])), (found[3], int(found[4]))
    return wide < width or (to != of and not (to == "s" and wide > width))


def forms(family: str) -> list[Form]:
    found = {(op, spelled(op, operands)) for p, operands in FAMILIES[family] for op in expanded(p)}
    return [Form(op, operands) for op, operands in sorted(found) if _saturates(op)]
