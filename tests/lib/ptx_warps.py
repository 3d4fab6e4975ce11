"""PTX's instructions between lanes: their meaning from the manual, and kernels that run one on warps where some
lanes are elsewhere and others have masks of their own."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from ptx_floats import FLOATS
from ptx_forms import expanded, spelled
from ptx_integers import read
from ptx_kernels import HEAD, WIDTHS, Form, integer, number, simulated
from ptx_numbers import F32, Wanted, accepts, is_nan

from cu2port.ptx import interp
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.module import convert
from cu2port.ptx.parse import parse_inline

FULL = 0xFFFFFFFF
PATTERNS = [
    ("vote.sync.[all|any|uni].pred", "p,p,32"),
    ("vote.sync.[all|any|uni].pred", "p,'!%p2','0xffffffff'"),
    ("vote.sync.ballot.b32", "32,p,32"),
    ("vote.sync.ballot.b32", "32,'!%p2','0xffffffff'"),
    ("match.[any|all].sync.[b32|b64]", "32,t,32"),
    ("match.all.sync.[b32|b64]", "'%r1|%p1',t,'%r3'"),
    ("activemask.b32", "32"),
    ("redux.sync.[add|min|max].[u32|s32]", "32,32,32"),
    ("redux.sync.[and|or|xor].b32", "32,32,32"),
    ("redux.sync.[min|max][?.abs][?.NaN].f32", "32,32,32"),
    ("elect.sync", "'%r1|%p1',32"),
    ("elect.sync", "'%r1|%p1','0xffffffff'"),
    ("shfl.sync.[up|down|bfly|idx].b32", "32,32,32,32,32"),
    ("shfl.sync.[up|down|bfly|idx].b32", "'%r1|%p1',32,32,32,32"),
    ("shfl.sync.[up|down|bfly|idx].b32", "'%r1|%p1','%r2','5','0x181f','0xffffffff'"),
    ("shfl.sync.[up|down|bfly|idx].b32", "'%r1|%p1','%r2','3','0','-1'"),
]
Lane = dict[str, int]  # registers; "%p9" says whether the lane takes part
Warp = list[Lane]


def forms() -> list[Form]:
    return [Form(op, spelled(op, texts)) for p, texts in PATTERNS for op in expanded(p)]


def mask_text(form: Form) -> str:
    return form.texts[-1] if form.words[0] != "activemask" else ""


def warps(form: Form, count: int, rng: Random) -> list[Warp]:
    """Registers of 32 lanes; lanes with the same mask meet, and every lane that a mask names does take part."""
    out = []
    for n in range(count):
        whole = not mask_text(form).startswith("%") and form.words[0] != "activemask"
        groups = [0 if whole or n % 4 == 0 else rng.randrange(3 if n % 2 else 2) for _ in range(32)]
        masks = [sum(1 << i for i, g in enumerate(groups) if g == k) for k in range(3)]
        outside = -1 if whole or n % 4 == 0 else rng.randrange(3)
        few = [integer(64, rng) for _ in range(rng.choice((1, 1, 2, 5)))]
        segment = (32 - rng.choice((32, 16, 8, 4, 2))) << 8 | (0 if "up" in form.words else 31)
        warp = []
        for lane in range(32):
            row: Lane = {"%p9": int(groups[lane] != outside)}
            for name in form.names:
                width = WIDTHS[name[1]]
                bits = number(F32, (), rng) if form.words[-1] == "f32" else rng.choice(few)
                row[name] = bits & (1 << width) - 1 if width > 1 else int(rng.random() < (0.5, 0.05, 0.95, 0.5)[n % 4])
            if form.words[0] == "shfl" and "%r4" in row:
                row["%r3"], row["%r4"] = rng.choice((rng.randrange(32), 1, rng.getrandbits(32))), segment
                row["%r2"] = rng.getrandbits(32)
                row["%r4"] = rng.getrandbits(13) if n % 3 == 2 else row["%r4"]
            if mask_text(form).startswith("%"):
                row[mask_text(form)] = masks[groups[lane]]
            warp.append(row)
        out.append(warp)
    return out


# --- the meaning ------------------------------------------------------------------------------------------------------


def shuffled(form: Form, lane: int, a: Mapping[int, int], b: int, c: int) -> tuple[Wanted, ...]:
    mode, b, limit, segment = form.words[2], b & 31, c & 31, c >> 8 & 31
    most, least = lane & segment | limit & ~segment & 31, lane & segment
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | b & ~segment & 31}[mode]
    inside = j >= most if mode == "up" else j <= most
    j = j if inside else lane
    return a.get(j, lambda got: True), int(inside)


def reduced(form: Form, given: Sequence[int]) -> Wanted:
    name, t = form.words[2], form.words[-1]
    if t == "f32":
        if "NaN" in form.words and any(is_nan(x, F32) for x in given):
            return F32.nan or 0
        out: Wanted = given[0] & ~F32.sign if "abs" in form.words else given[0]
        for x in given[1:]:
            assert isinstance(out, int)
            words = [w for w in form.words[2:] if w != "NaN"]
            out = FLOATS[name](words, (out, x), ())[0]
            out = out if isinstance(out, int) else F32.nan or 0
        return F32.nan or 0 if isinstance(out, int) and is_nan(out, F32) else out
    values = [read(x, t) for x in given]
    total = values[0]
    for x in values[1:]:
        total = {"add": total + x, "and": total & x, "or": total | x, "xor": total ^ x}.get(name, total)
    return {"min": min(values), "max": max(values)}.get(name, total) & FULL


def meaning(form: Form, group: Mapping[int, Lane]) -> dict[int, tuple[Wanted, ...]]:
    """Of lanes that meet."""
    root, lanes = form.words[0], sorted(group)
    mask = sum(1 << i for i in lanes)
    name = form.texts[1].lstrip("!") if len(form.texts) > 1 else ""
    a = {i: group[i].get(name, 0) ^ int(form.texts[1].startswith("!")) for i in lanes} if name else {}
    if root == "vote":
        ballot = sum(a[i] << i for i in lanes)
        result = {"all": ballot == mask, "any": ballot != 0, "uni": ballot in (0, mask), "ballot": ballot}
        return dict.fromkeys(lanes, (int(result[form.words[2]]),))
    if root == "match":
        if form.words[1] == "any":
            return {i: (sum(1 << j for j in lanes if a[j] == a[i]),) for i in lanes}
        same = len(set(a.values())) == 1
        return dict.fromkeys(lanes, (mask if same else 0, int(same)))
    if root == "redux":
        return dict.fromkeys(lanes, (reduced(form, list(a.values())),))
    if root == "shfl":
        rest = [{i: group[i][t] if t in group[i] else int(t, 0) for i in lanes} for t in form.texts[2:4]]
        return {i: shuffled(form, i, a, rest[0][i], rest[1][i]) for i in lanes}
    assert root == "elect"
    return {i: (lanes[0], int(i == lanes[0])) for i in lanes}  # the manual lets it be any lane, always the same


def wanted(form: Form, warp: Warp) -> list[tuple[Wanted, ...]]:
    out: list[tuple[Wanted, ...]] = [(0, 0)] * 32
    there = {i: row for i, row in enumerate(warp) if row["%p9"]}
    if form.words[0] == "activemask":
        everyone = sum(1 << i for i in there)
        return [(everyone,) if i in there else (0,) for i in range(32)]
    masks = {i: row.get(mask_text(form), FULL) for i, row in there.items()}
    for mask in set(masks.values()):
        for i, result in meaning(form, {i: there[i] for i in there if masks[i] == mask}).items():
            out[i] = result
    return out


def wrong(form: Form, found: Sequence[Warp], got: Sequence[Sequence[tuple[int, ...]]]) -> str:
    for warp, rows in zip(found, got, strict=True):
        for lane, (want, row) in enumerate(zip(wanted(form, warp), rows, strict=True)):
            if not all(accepts(w, g) for w, g in zip(want, row, strict=False)):
                return f"{form}, lane {lane} of {warp}: {row}, not {want}"
    return ""


# --- the readers ------------------------------------------------------------------------------------------------------


def interpreted(form: Form, found: Sequence[Warp]) -> list[list[tuple[int, ...]]]:
    names = dict.fromkeys((*form.names, *form.targets, "%p9"))
    places = {n: Place(n, TYPES["pred" if n[1] == "p" else f"b{WIDTHS[n[1]]}"]) for n in names}
    program = interp.prepare(parse_inline(f"@%p9 {form};"), places)
    out = []
    for warp in found:
        lanes = [dict.fromkeys(form.targets, 0) | row for row in warp]
        interp.execute(program, lanes, interp.Machine(special={"cu2port::warp::lane_id()": int}))
        out.append([tuple(lane[n] for n in form.targets) for lane in lanes])
    return out


def kernel(n: int, form: Form) -> str:
    """Warp w of a block of 64 threads takes the cases w, w + 2 and so on."""
    size_in, size_out = 8 * (len(form.names) + 1), 8 * len(form.targets)
    lines = [f".visible .entry k{n}(.param .u64 in, .param .u64 out, .param .u32 count) {{"]
    lines += [".reg .b64 %in, %out; .reg .b32 %i, %n, %s, %t; .reg .pred %more, %p9;"]
    for name in dict.fromkeys((*form.names, *form.targets)):
        lines.append(f".reg .{'pred' if name[1] == 'p' else f'b{WIDTHS[name[1]]}'} {name};")
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [count]; mov.u32 %t, %tid.x;"]
    lines += [f"mad.wide.u32 %in, %t, {size_in}, %in; mad.wide.u32 %out, %t, {size_out}, %out; shr.u32 %i, %t, 5;"]
    lines += ["NEXT:", "ld.global.u8 %s, [%in]; setp.ne.u32 %p9, %s, 0;"]
    for k, name in enumerate(form.names, 1):
        load = f"ld.global.b{WIDTHS[name[1]]} {name}, [%in+{8 * k}];"
        lines.append(f"ld.global.u8 %s, [%in+{8 * k}]; setp.ne.u32 {name}, %s, 0;" if name[1] == "p" else load)
    lines += [f"setp.ne.u32 {x}, 0, 0;" if x[1] == "p" else f"mov.b32 {x}, 0;" for x in form.targets]
    lines.append(f"@%p9 {form};")
    for k, name in enumerate(form.targets):
        store = f"st.global.b{WIDTHS[name[1]]} [%out+{8 * k}], {name};"
        lines.append(f"selp.u32 %s, 1, 0, {name}; st.global.u32 [%out+{8 * k}], %s;" if name[1] == "p" else store)
    lines += [f"add.u64 %in, %in, {64 * size_in}; add.u64 %out, %out, {64 * size_out}; add.u32 %i, %i, 2;"]
    lines += ["setp.lt.u32 %more, %i, %n; @%more bra NEXT;", "ret; }", ""]
    return "\n".join(lines)


def executed(
    chosen: Sequence[Form], tries: Sequence[Sequence[Warp]], folder: Path, wave: int, main: str
) -> list[list[list[tuple[int, ...]]]]:
    done = convert(HEAD + "".join(kernel(n, f) for n, f in enumerate(chosen)))
    assert not done.left, [(x.function, x.opcode, x.why) for x in done.left][:5]
    calls, words = "", []
    for n, (f, found) in enumerate(zip(chosen, tries, strict=True)):
        calls += f"    run(k{n}, {len(found)}, {256 * (len(f.names) + 1)}, {256 * len(f.targets)});\n"
        words += [row[x] for warp in found for row in warp for x in ("%p9", *f.names)]
    data = struct.pack(f"<{len(words)}Q", *words)
    out = simulated(done.text + main.replace("<<<1, 1>>>", "<<<1, 64>>>").replace("CALLS", calls), data, folder, wave)
    numbers = iter(struct.unpack(f"<{len(out) // 8}Q", out))
    return [
        [[tuple(next(numbers) for _ in f.targets) for _ in range(32)] for _ in found]
        for f, found in zip(chosen, tries, strict=True)
    ]
