"""Kernels in PTX that hold one instruction each, their inputs, and what the three readers make of them: the manual's
reference, the converted kernels in the simulator, and the interpreter of `ptx -e`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random

from ptx_floats import FLOATS, types
from ptx_integers import MEANINGS, carried
from ptx_numbers import FORMATS, Format, Wanted, accepts, decoded, rounded

from cu2port.ptx import interp
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.module import convert
from cu2port.ptx.parse import parse_inline
from cu2port.verify import sim_build, sim_compiler, simulate

ROOT = Path(__file__).resolve().parents[2]
_REGISTER = re.compile(r"%([phrlqbf])\d+")
WIDTHS = {"p": 1, "b": 8, "h": 16, "r": 32, "f": 32, "l": 64, "q": 128}
_CARRY = re.compile(r"(?:addc?|subc?|madc?\.(?:lo|hi))(?:\.cc)?\.[us](?:32|64)")


@dataclass
class Form:
    """An instruction; its vectors are the bits of `sources`, and of the carry if it has to do with it."""

    opcode: str
    operands: str
    vectors: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.texts = [t.strip() for t in re.split(r",(?![^{]*\})", self.operands)]
        self.words = self.opcode.split(".")
        self.targets = [m[0] for m in _REGISTER.finditer(self.texts[0])]
        self.sources = [m[0] for t in self.texts[1:] for m in _REGISTER.finditer(t)]
        self.carry = _CARRY.fullmatch(self.opcode) is not None and ("cc" in self.words or self.words[0][-1] == "c")
        self.names = list(dict.fromkeys(self.sources))
        self.inputs = [*(WIDTHS[n[1]] for n in self.names), *([1] if self.carry else [])]
        self.outputs = [*(WIDTHS[n[1]] for n in self.targets), *([1] if self.carry else [])]

    def __str__(self) -> str:
        return f"{self.opcode} {self.operands}"

    def meaning(self) -> Callable[..., tuple[Wanted, ...]] | None:
        """Of the reference, if it has one for this."""
        root = self.words[0]
        if self.carry:
            return MEANINGS["mad"]
        if root == "cvt" and "pack" in self.words:
            return MEANINGS["cvt.pack"]
        if root == "mov":
            return moved
        kinds = types(self.words)
        is_float = any(t.rpartition("x")[0] in FORMATS or t in FORMATS for t in kinds) or root in ("cvt", "set", "setp")
        return FLOATS.get(root) if is_float or root not in MEANINGS else MEANINGS[root]

    def wanted(self, vector: Sequence[int]) -> tuple[Wanted, ...]:
        given = dict(zip(self.names, vector, strict=False))
        if self.carry:
            return carried(self.words, [given[n] for n in self.sources], vector[-1])
        values: list[int] = []
        for text in self.texts[1:]:
            found = [given[m[0]] for m in _REGISTER.finditer(text)]
            if text.startswith("!"):
                found = [1 - x for x in found]
            elif not found:
                found = [int(text, 0)]
            values += found
        function = self.meaning()
        assert function is not None, self.opcode
        return function(self.words, values, self.texts)


def moved(words: Sequence[str], v: Sequence[int], texts: Sequence[str]) -> tuple[Wanted, ...]:
    """mov: the parts of a vector, the first lowest."""
    into, of = ([m[1] for m in _REGISTER.finditer(t)] for t in texts)
    count = max(texts[0].count(","), texts[1].count(",")) + 1
    if not texts[0].startswith("{"):
        return (sum(x << WIDTHS[of[0]] * i for i, x in enumerate(v)),)
    bits = WIDTHS[into[0]]
    return tuple(v[0] >> bits * i & ((1 << bits) - 1) for i in range(count))[: len(into)]


# --- inputs -----------------------------------------------------------------------------------------------------------


def number(f: Format, others: Sequence[Format], rng: Random) -> int:
    """A number where things change: of another format, between two of its numbers, a bit beside, or any."""
    g, how = rng.choice((f, *others)), rng.random()
    one = g.bias << g.fraction
    marks = (0, 1, 2, (1 << g.fraction) - 1, 1 << g.fraction, one, one + 1, one - 1, one + (1 << g.fraction), g.largest)
    if how < 0.35:
        code = rng.choice(marks)
    elif how < 0.8:
        code = max(one + rng.randint(-9 << g.fraction, 9 << g.fraction), 0) & (g.sign - 1)
    else:
        code = rng.getrandbits(g.bits - 1)
    if how > 0.97 or (f is g and how < 0.03 and g.infinity):
        return (f.infinity or 0) + rng.choice((0, 0, 1, 5)) | rng.getrandbits(1) * f.sign
    if rng.random() < 0.05 and f.infinity:
        return f.infinity | rng.getrandbits(1) * f.sign | rng.choice((0, 1, 1 << (f.fraction - 1)))
    x = decoded(min(code, g.largest), g)
    if rng.random() < 0.4:
        x = x._replace(m=2 * x.m + 1, e=x.e - 1)
    out = rounded(x._replace(sign=rng.getrandbits(1)), f, "rz")
    return max(out + rng.choice((-1, 0, 0, 0, 1)), 0)


def integer(bits: int, rng: Random) -> int:
    mask, how = (1 << bits) - 1, rng.random()
    if how < 0.3:
        return rng.choice((0, 1, 2, 3, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256)) & mask
    if how < 0.6:
        edge = rng.choice((0, 1 << (bits - 1), mask, 1 << bits // 2, 1 << bits // 2 - 1, 0xFF00FF00FF00FF00))
        return edge + rng.choice((-2, -1, 0, 1)) & mask
    return rng.getrandbits(bits) >> (rng.randrange(bits) if how < 0.75 else 0)


def bits_of(width: int, formats: Sequence[Format], packed: int, rng: Random) -> int:
    if width == 1:
        return rng.getrandbits(1)
    here = [f for f in formats if f.bits * packed == width or f.bits == width]
    if here and rng.random() < 0.85:
        f = here[-1]
        return sum(number(f, formats, rng) << f.bits * i for i in range(width // f.bits))
    if not here and formats and width >= 8 and rng.random() < 0.3:  # whole numbers where a format rounds
        x = decoded(number(formats[0], (), rng), formats[0])
        return (0 if x.kind else x.m << max(x.e, 0) >> max(-x.e, 0)) & (1 << width) - 1
    return integer(width, rng)


def vectors(form: Form, count: int, rng: Random) -> list[tuple[int, ...]]:
    kinds = types(form.words)
    formats = [FORMATS[k.rpartition("x")[0] or k] for k in kinds if (k.rpartition("x")[0] or k) in FORMATS]
    of = 2 if any(k.endswith("x2") for k in kinds) else 1
    found = []
    for _ in range(count):
        row = [bits_of(w, formats, of, rng) for w in form.inputs]
        if len(row) > 1 and rng.random() < 0.2:  # two that have to do with each other
            a, b = rng.sample(range(len(row)), 2)
            if form.inputs[a] == form.inputs[b] > 1:
                top = 1 << (form.inputs[a] - 1)
                row[a] = (row[b] ^ rng.choice((0, 0, top, 1, 2 * top - 1))) & (2 * top - 1)
        found.append(tuple(row))
    return found


# --- kernels ----------------------------------------------------------------------------------------------------------


def slots(widths: Sequence[int]) -> list[int]:
    """Where each is, in bytes; and the size of all."""
    out = [0]
    for w in widths:
        out.append(out[-1] + (16 if w == 128 else 8))
    return out


def kernel(n: int, forms: Sequence[Form]) -> str:
    """One thread takes all vectors, one after the other. The forms have the same operands."""
    form = forms[0]
    into, of = slots(form.inputs), slots(form.outputs)
    lines = [f".visible .entry k{n}(.param .u64 in, .param .u64 out, .param .u32 count) {{"]
    lines += [".reg .b64 %in, %out, %w0, %w1; .reg .b32 %i, %n, %s; .reg .pred %more;"]
    for name in dict.fromkeys((*form.names, *form.targets)):
        kind = "pred" if name[1] == "p" else f"b{WIDTHS[name[1]]}"
        lines.append(f".reg .{kind} {name};")
    lines += ["ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [count]; mov.u32 %i, 0;", "NEXT:"]
    for name, w, at in zip(form.names, form.inputs, into, strict=False):
        if w == 1:
            lines.append(f"ld.global.u8 %s, [%in+{at}]; setp.ne.u32 {name}, %s, 0;")
        elif w == 128:
            lines.append(f"ld.global.v2.b64 {{%w0, %w1}}, [%in+{at}]; mov.b128 {name}, {{%w0, %w1}};")
        else:
            lines.append(f"ld.global.b{w} {name}, [%in+{at}];")
    for f in forms:
        if f.carry:
            lines.append(f"ld.global.u8 %s, [%in+{into[len(form.names)]}]; add.cc.u32 %s, %s, -1;")
        lines.append(f"{f.opcode} {f.operands};")
        for name, w, at in zip([*form.targets, "CC"], form.outputs, of, strict=False):
            if w == 1:
                lines.append("addc.u32 %s, 0, 0;" if name == "CC" else f"selp.u32 %s, 1, 0, {name};")
                lines.append(f"st.global.u8 [%out+{at}], %s;")
            elif w == 128:
                lines.append(f"mov.b128 {{%w0, %w1}}, {name}; st.global.v2.b64 [%out+{at}], {{%w0, %w1}};")
            else:
                lines.append(f"st.global.b{w} [%out+{at}], {name};")
        lines.append(f"add.u64 %out, %out, {of[-1]};")
    lines += [f"add.u64 %in, %in, {into[-1]}; add.u32 %i, %i, 1;"]
    lines += ["setp.lt.u32 %more, %i, %n; @%more bra NEXT;", "ret; }", ""]
    return "\n".join(lines)


MAIN = """
#include <cstdio>
#include <vector>
static std::FILE* from;
using Kernel = void (*)(std::uint64_t, std::uint64_t, std::uint32_t);
static void run(Kernel kernel, unsigned vectors, unsigned in, unsigned out) {
    std::vector<char> host(vectors * (in > out ? in : out));
    char *a, *b;
    (void)hipMalloc(&a, vectors * in + 16);
    (void)hipMalloc(&b, vectors * out + 16);
    if (std::fread(host.data(), 1, vectors * in, from) != vectors * in) return;
    (void)hipMemcpy(a, host.data(), vectors * in, hipMemcpyHostToDevice);
    (void)hipMemset(b, 0, vectors * out);
    kernel<<<1, 1>>>(std::uint64_t(a), std::uint64_t(b), vectors);
    (void)hipMemcpy(host.data(), b, vectors * out, hipMemcpyDeviceToHost);
    std::fwrite(host.data(), 1, vectors * out, stdout);
    (void)hipFree(a);
    (void)hipFree(b);
}
int main(int, char** arguments) {
    from = std::fopen(arguments[1], "rb");
CALLS    return 0;
}
"""
HEAD = ".version 9.3\n.target sm_100a\n.address_size 64\n"


def simulated(source: str, data: bytes, folder: Path, wave: int = 32) -> bytes:
    """Standard output of a HIP program whose argument is a file with the data."""
    (folder / "program.hip").write_text(source)
    (folder / "inputs").write_bytes(data)
    shutil.copytree(ROOT / "translator/cu2port/include/cu2port", folder / "cu2port", dirs_exist_ok=True)
    # what is printed is long: -O2 takes twice the time of -O1, and -O0 runs for as long as that saves
    program = sim_build.Program((folder / "program.hip",), (folder,), (), ("-O1",))
    binary = sim_build.build(program, folder / "built", (wave,), sim_compiler.find_toolchain(), jobs=1)[wave]
    ran = simulate.run(binary, (str(folder / "inputs"),), simulate.Limits(120), capture=True)
    assert ran.code == 0, ran.errors.decode()[-3000:]
    return ran.output


def together(forms: Sequence[Form], count: int, rng: Random) -> list[list[Form]]:
    """Forms of the same operands and types, some for each kernel, with the same vectors."""
    alike: dict[tuple[str, ...], list[Form]] = {}
    for f in forms:
        alike.setdefault((f.operands, str(f.carry), *types(f.words)), []).append(f)
    out = []
    for same in alike.values():
        size = 1 if set(same[0].targets) & set(same[0].sources) else 12
        for at in range(0, len(same), size):
            some = vectors(same[0], count, rng)
            out.append(same[at : at + size])
            for f in out[-1]:
                f.vectors = some
    return out


def executed(groups: Sequence[Sequence[Form]], folder: Path) -> list[tuple[Form, list[tuple[int, ...]]]]:
    """What the converted kernels of these forms compute, for each vector of each."""
    done = convert(HEAD + "".join(kernel(n, forms) for n, forms in enumerate(groups)))
    assert not done.left, [(x.function, x.opcode, x.why) for x in done.left][:5]
    calls, data = "", b""
    for n, forms in enumerate(groups):
        f = forms[0]
        calls += f"    run(k{n}, {len(f.vectors)}, {slots(f.inputs)[-1]}, {len(forms) * slots(f.outputs)[-1]});\n"
        sizes = [16 if w == 128 else 8 for w in f.inputs]
        data += b"".join(x.to_bytes(s, "little") for v in f.vectors for x, s in zip(v, sizes, strict=True))
    out = simulated(done.text + MAIN.replace("CALLS", calls), data, folder)
    results, at = [], 0
    for forms in groups:
        rows: list[list[tuple[int, ...]]] = [[] for _ in forms]
        places = slots(forms[0].outputs)
        for _ in forms[0].vectors:
            for mine in rows:
                ends = pairwise(places)
                mine.append(tuple(int.from_bytes(out[at + p : at + q], "little") for p, q in ends))
                at += places[-1]
        results += list(zip(forms, rows, strict=True))
    assert at == len(out)
    return results


def interpreted(form: Form) -> list[tuple[int, ...]]:
    """What `ptx -e` computes."""
    names = dict.fromkeys((*form.names, *form.targets))
    places = {n: Place(n, TYPES["pred" if n[1] == "p" else f"b{WIDTHS[n[1]]}"]) for n in names}
    keys = [*form.names, *(["CC"] if form.carry else [])]
    lanes = [dict(zip(keys, v, strict=True)) for v in form.vectors]
    interp.run(parse_inline(f"{form.opcode} {form.operands};"), places, lanes)
    return [tuple(lane[n] for n in [*form.targets, *(["CC"] if form.carry else [])]) for lane in lanes]


def wrong(form: Form, got: Sequence[tuple[int, ...]]) -> str:
    """The first vector on which results are not the manual's, as text."""
    for v, row in zip(form.vectors, got, strict=True):
        wanted = form.wanted(v)
        if len(wanted) != len(row) or not all(accepts(w, g) for w, g in zip(wanted, row, strict=True)):
            shown = [hex(w) if isinstance(w, int) else "another" for w in wanted]
            return f"{form} on {[hex(x) for x in v]}: {[hex(g) for g in row]}, not {shown}"
    return ""
