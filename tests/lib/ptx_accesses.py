"""PTX's loads, stores and atomics: their meaning from the manual, and kernels that run one on 64 bytes of memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from random import Random

from ptx_floats import FLOATS
from ptx_forms import expanded, spelled
from ptx_integers import read
from ptx_kernels import HEAD, MAIN, WIDTHS, integer, number, simulated, slots
from ptx_numbers import FORMATS, Wanted, accepts, packed

from cu2port.ptx import interp
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.module import convert
from cu2port.ptx.parse import parse_inline

SIZE = 64
CONSTANT = bytes((i * 73 + 128) & 255 for i in range(SIZE))
_REGISTER = re.compile(r"%([hrlqb])\d+")
_SPACES = ("global", "shared", "local", "const", "shared::cta", "shared::cluster")
_TYPE = re.compile(r"([busf]|bf)(\d+)(?:x2)?")

ANY, ASP = "[?.const|.global|.local|.shared|.shared::cta]", "[?.global|.shared|.shared::cta]"
TY = "[b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64]"
FEW = "[b8|u16|s32|f32|b64]"
SCOPE = "[cta|cluster|gpu|sys]"
WIDER = (("[b8|u8|s8|b16|u16|s16]", "r"), ("[b8|u8|s8|b16|u16|s16|b32|u32|s32|f32]", "l"))

PATTERNS: dict[str, list[tuple[str, str]]] = {
    "load": [
        (f"ld{ANY}.{TY}", "t,'[%l9+16]'"),
        *((f"ld{ANY}.{types}", f"'%{letter}1','[%l9+8]'") for types, letter in WIDER),
        (f"ld[?.weak][?.global|.shared|.local][?.ca|.cg|.cs|.lu|.cv].{FEW}", "t,'[%l9]'"),
        ("ld[?.global|.shared|.local][?.cg].v2.[b8|u8|s8|u16|s16|s32|f32|b64|f64]", "{t*2},'[%l9+16]'"),
        ("ld[?.global|.shared|.local].v4.[b8|u8|s8|u16|s16|s32|f32|b32]", "{t*4},'[%l9+16]'"),
        ("ld.global.v8.[b32|f32|u32|s32]", "{t*8},'[%l9]'"),
        ("ld.global.v4.[b64|u64|f64]", "{t*4},'[%l9]'"),
        ("ld[?.global].b128", "128,'[%l9+16]'"),
        (f"ld.volatile[?.global|.shared|.local].{FEW}", "t,'[%l9]'"),
        (f"ld.volatile[?.global|.shared].v2.{FEW}", "{t*2},'[%l9]'"),
        (f"ld.[relaxed|acquire].{SCOPE}[?.global|.shared].{FEW}", "t,'[%l9]'"),
        ("ld.[relaxed|acquire].[cta|gpu|sys].global.v4.b32", "{t*4},'[%l9]'"),
        ("ld.relaxed.[gpu|sys].global.b128", "128,'[%l9]'"),
        (f"ld.mmio.relaxed.sys[?.global].{FEW}", "t,'[%l9]'"),
        (f"ld.global[?.ca|.cg|.cs].nc.{FEW}", "t,'[%l9]'"),
        ("ld.global.nc[?.L1::evict_last|.L1::no_allocate][?.L2::128B].[f32|b64]", "t,'[%l9]'"),
        ("ld.global.nc.L2::cache_hint.f32", "t,'[%l9]','%l1'"),
        ("ldu[?.global].[b8|u16|s32|f32|b64]", "t,'[%l9]'"),
        ("ldu.global.v4.f32", "{t*4},'[%l9]'"),
    ],
    "store": [
        (f"st[?.global|.local|.shared|.shared::cta].{TY}", "'[%l9+16]',t"),
        *((f"st[?.global|.local|.shared].{types}", f"'[%l9+8]','%{letter}1'") for types, letter in WIDER),
        (f"st[?.weak][?.global|.shared][?.wb|.cg|.cs|.wt].{FEW}", "'[%l9]',t"),
        ("st[?.global|.shared|.local].v2.[b8|u8|u16|s16|f32|b64]", "'[%l9+16]',{t*2}"),
        ("st[?.global|.shared].v4.[b8|s8|u16|f32]", "'[%l9+16]',{t*4}"),
        ("st.global.v8.b32", "'[%l9]',{t*8}"),
        ("st.global.b128", "'[%l9]',128"),
        (f"st.volatile[?.global|.shared].{FEW}", "'[%l9]',t"),
        (f"st.[relaxed|release].{SCOPE}[?.global|.shared].{FEW}", "'[%l9]',t"),
        (f"st.mmio.relaxed.sys[?.global].{FEW}", "'[%l9]',t"),
        ("st[?.global].[L1::evict_last|L1::no_allocate].f32", "'[%l9]',t"),
    ],
    "atomic": [
        entry
        for root, into in (("atom", "t,"), ("red", ""))
        for entry in (
            (f"{root}{ASP}.[and|or|xor].[b32|b64]", f"{into}'[%l9]',t"),
            (f"{root}{ASP}.add.[u32|s32|u64|f32|f64]", f"{into}'[%l9+16]',t"),
            (f"{root}{ASP}.[inc|dec].u32", f"{into}'[%l9]',t"),
            (f"{root}{ASP}.[min|max].[u32|s32|u64|s64]", f"{into}'[%l9]',t"),
            (f"{root}{ASP}.add.noftz.[f16|f16x2|bf16|bf16x2]", f"{into}'[%l9]',t"),
            (f"{root}[?.relaxed|.release]{SCOPE.replace('[', '[?.').replace('|', '|.')}.add.u32", f"{into}'[%l9+4]',t"),
            (f"{root}.relaxed.gpu.global.add.L2::cache_hint.f32", f"{into}'[%l9]',t,'%l1'"),
        )
    ]
    + [
        (f"atom{ASP}.exch.[b32|b64]", "t,'[%l9]',t"),
        (f"atom{ASP}.cas.[b16|b32|b64]", "t,'[%l9]',t,t"),
        (f"atom.[relaxed|acquire|release|acq_rel].{SCOPE}.global.cas.b32", "t,'[%l9]',t,t"),
        ("atom.global.add.u32", "'_','[%l9]','%r1'"),
        *((f"atom.global.add.v{n}.f32", f"{{t*{n}}},'[%l9]',{{t*{n}}}") for n in (2, 4)),
        *((f"red.global.add.v{n}.f32", f"'[%l9]',{{t*{n}}}") for n in (2, 4)),
        ("atom.global.add.noftz.v2.[f16x2|bf16x2]", "{t*2},'[%l9]',{t*2}"),
        ("red.global.add.noftz.v2.[f16x2|bf16x2]", "'[%l9]',{t*2}"),
    ],
}
Vector = tuple[int, ...]  # the 64 bytes, then the sources


@dataclass
class Access:
    opcode: str
    operands: str

    def __str__(self) -> str:
        return f"{self.opcode} {self.operands}"

    @cached_property
    def words(self) -> list[str]:
        return self.opcode.split(".")

    @cached_property
    def texts(self) -> list[str]:
        return re.split(r", (?![^{]*\})", self.operands)

    @cached_property
    def targets(self) -> list[str]:
        loads = self.words[0] in ("ld", "ldu", "atom")
        return [m[0] for m in _REGISTER.finditer(self.texts[0])] if loads else []

    @cached_property
    def sources(self) -> list[str]:
        rest = self.texts[1:] if self.words[0] in ("ld", "ldu", "atom") else self.texts
        return [m[0] for t in rest if not t.startswith("[") for m in _REGISTER.finditer(t)]

    @cached_property
    def space(self) -> str:
        return next((w.partition("::")[0] for w in self.words if w in _SPACES), "")

    @cached_property
    def at(self) -> int:
        found = re.search(r"\[%l9(?:\+(\d+))?\]", self.operands)
        assert found is not None
        return int(found[1] or 0)

    def wanted(self, vector: Vector) -> tuple[Wanted, ...]:
        memory, given = vector[0], list(vector[1:])
        t = self.words[-1]
        bits = {"f16x2": 32, "bf16x2": 32}.get(t) or int(t.lstrip("busf"))
        count = next((int(w[1]) for w in self.words if re.fullmatch(r"v\d", w)), 1)
        places = [8 * self.at + bits * i for i in range(count)]
        mask = (1 << bits) - 1
        old = [memory >> p & mask for p in places]
        if self.words[0] in ("ld", "ldu"):
            loaded = [read(x, t) if t[0] == "s" else x for x in old]
            return (memory, *(x & (1 << WIDTHS[n[1]]) - 1 for x, n in zip(loaded, self.targets, strict=True)))
        if self.words[0] == "st":
            new: list[Wanted] = [x & mask for x in given[:count]]
        else:
            new = [self.operated(t, a, given[i::count]) for i, a in enumerate(old)]
        return (_memory(memory, places, bits, new), *(old if self.targets else []))

    def operated(self, t: str, a: int, rest: Sequence[int]) -> Wanted:
        """What an atomic stores."""
        name = next(w for w in self.words if w in ("and or xor add inc dec min max exch cas").split())
        b, base = rest[0], t.removesuffix("x2")
        if base in FORMATS:
            exact = FLOATS["add"](["add", t], (a, b), ())[0]
            flushed = FLOATS["add"](["add", "ftz", t], (a, b), ())[0]
            if t == "f32" and self.space != "shared":  # NVIDIA's GPUs flush denormals there; the manual leaves it open
                return lambda got: accepts(exact, got) or accepts(flushed, got)
            return exact
        x, y = read(a, t), read(b, t)
        results = {"and": a & b, "or": a | b, "xor": a ^ b, "add": a + b, "min": min(x, y), "max": max(x, y)}
        results |= {"inc": 0 if a >= b else a + 1, "dec": b if not a or a > b else a - 1, "exch": b}
        results["cas"] = rest[1] if name == "cas" and a == b else a
        return results[name] & (1 << int(t[1:])) - 1


def _memory(before: int, places: Sequence[int], bits: int, new: Sequence[Wanted]) -> Wanted:
    """The 64 bytes of memory after a store: `before`, with the new elements at their places."""
    parts: list[Wanted] = [before >> bits * i & ((1 << bits) - 1) for i in range(8 * SIZE // bits)]
    for p, x in zip(places, new, strict=True):
        parts[p // bits] = x
    return packed(parts, bits)


def accesses(kind: str) -> list[Access]:
    found = {(op, spelled(op, texts)) for p, texts in PATTERNS[kind] for op in expanded(p)}
    return [Access(op, texts) for op, texts in sorted(found)]


def vectors(access: Access, count: int, rng: Random) -> list[Vector]:
    t = access.words[-1]
    f = FORMATS.get(t.removesuffix("x2"))

    def value(bits: int) -> int:
        if f is None or bits < f.bits:
            return integer(bits, rng)
        return sum(number(f, (), rng) << f.bits * i for i in range(bits // f.bits))

    out = []
    for _ in range(count):
        unit = max(f.bits if f else 0, 32)
        memory = sum(value(unit) << unit * i for i in range(8 * SIZE // unit))
        if access.space == "const":
            memory = int.from_bytes(CONSTANT, "little")
        row = [value(WIDTHS[n[1]]) for n in access.sources]
        if row and rng.random() < 0.4:  # equal to what is there, for cas, inc and dec
            row[0] = memory >> 8 * access.at & (1 << WIDTHS[access.sources[0][1]]) - 1
        out.append((memory, *row))
    return out


def kernel(n: int, access: Access) -> str:
    """One thread takes all vectors; the memory is in the output where the space is global or generic."""
    into = slots([WIDTHS[x[1]] for x in access.sources])
    of = slots([WIDTHS[x[1]] for x in access.targets])
    lines = [f".visible .entry k{n}(.param .u64 in, .param .u64 out, .param .u32 count) {{"]
    lines += [".reg .b64 %in, %out, %w0, %w1, %l9; .reg .b32 %i, %n; .reg .pred %more;"]
    lines += [f".shared .align 64 .b8 s{n}[64]; .local .align 64 .b8 own{n}[64];"]
    names = dict.fromkeys((*access.sources, *access.targets))
    lines += [f".reg .b{WIDTHS[name[1]]} {name};" for name in names]
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [count]; mov.u32 %i, 0;", "NEXT:"]
    where = {"shared": f"s{n}", "local": f"own{n}", "const": "constants"}.get(access.space, "")
    space = {"shared": ".shared", "local": ".local"}.get(access.space, ".global")
    lines.append(f"mov.u64 %l9, {where};" if where else "mov.u64 %l9, %out;")
    if access.space != "const":
        lines += [f"ld.global.b64 %w0, [%in+{8 * i}]; st{space}.b64 [%l9+{8 * i}], %w0;" for i in range(8)]
    for name, at in zip(access.sources, into, strict=False):
        wide = f"ld.global.v2.b64 {{%w0, %w1}}, [%in+{64 + at}]; mov.b128 {name}, {{%w0, %w1}};"
        lines.append(wide if name[1] == "q" else f"ld.global.b{WIDTHS[name[1]]} {name}, [%in+{64 + at}];")
    lines.append(f"{access};")
    space = ".const" if access.space == "const" else space
    if where:
        lines += [f"ld{space}.b64 %w0, [%l9+{8 * i}]; st.global.b64 [%out+{8 * i}], %w0;" for i in range(8)]
    for name, at in zip(access.targets, of, strict=False):
        wide = f"mov.b128 {{%w0, %w1}}, {name}; st.global.v2.b64 [%out+{64 + at}], {{%w0, %w1}};"
        lines.append(wide if name[1] == "q" else f"st.global.b{WIDTHS[name[1]]} [%out+{64 + at}], {name};")
    lines += [f"add.u64 %in, %in, {record(access.sources)}; add.u64 %out, %out, {record(access.targets)};"]
    lines += ["add.u32 %i, %i, 1; setp.lt.u32 %more, %i, %n; @%more bra NEXT;", "ret; }", ""]
    return "\n".join(lines)


def record(names: Sequence[str]) -> int:
    """Bytes of memory and registers, whole lines of 64."""
    return SIZE + -(-slots([WIDTHS[x[1]] for x in names])[-1] // SIZE) * SIZE


def executed(chosen: Sequence[Access], tries: Sequence[Sequence[Vector]], folder: Path) -> list[list[Vector]]:
    head = HEAD + f".const .align 64 .b8 constants[64] = {{{', '.join(map(str, CONSTANT))}}};\n"
    done = convert(head + "".join(kernel(n, a) for n, a in enumerate(chosen)))
    assert not done.left, [(x.function, x.opcode, x.why) for x in done.left][:5]
    calls, data = "", b""
    for n, (a, rows) in enumerate(zip(chosen, tries, strict=True)):
        calls += f"    run(k{n}, {len(rows)}, {record(a.sources)}, {record(a.targets)});\n"
        sizes = [SIZE, *(16 if x[1] == "q" else 8 for x in a.sources)]
        for row in rows:
            packed_row = b"".join(x.to_bytes(s, "little") for x, s in zip(row, sizes, strict=True))
            data += packed_row.ljust(record(a.sources), b"\0")
    out = simulated(done.text + MAIN.replace("CALLS", calls), data, folder)
    results, at = [], 0
    for a, rows in zip(chosen, tries, strict=True):
        ends, mine = [0, *(SIZE + x for x in slots([WIDTHS[x[1]] for x in a.targets]))], []
        for _ in rows:
            mine.append(tuple(int.from_bytes(out[at + p : at + q], "little") for p, q in pairwise(ends)))
            at += record(a.targets)
        results.append(mine)
    return results


def interpreted(access: Access, rows: Sequence[Vector]) -> list[Vector]:
    names = dict.fromkeys((*access.sources, *access.targets))
    places = {n: Place(n, TYPES[f"b{WIDTHS[n[1]]}"]) for n in names} | {"%l9": Place("%l9", TYPES["u64"])}
    program = interp.prepare(parse_inline(f"{access};"), places)
    out = []
    for row in rows:
        memory = bytearray(row[0].to_bytes(SIZE, "little"))
        machine = interp.Machine({"global": memory, "shared": memory})
        (lane,) = interp.execute(program, [dict(zip(access.sources, row[1:], strict=True)) | {"%l9": 0}], machine)
        out.append((int.from_bytes(memory, "little"), *(lane[n] for n in access.targets)))
    return out


def wrong(access: Access, rows: Sequence[Vector], got: Sequence[Vector]) -> str:
    for v, row in zip(rows, got, strict=True):
        wanted = access.wanted(v)
        if not all(accepts(w, g) for w, g in zip(wanted, row, strict=True)):
            shown = [hex(w) if isinstance(w, int) else "another" for w in wanted]
            return f"{access} on {[hex(x) for x in v]}:\n {[hex(g) for g in row]}, not\n {shown}"
    return ""
