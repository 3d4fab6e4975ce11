"""Converted asm statements compute what the interpreter computes: compiled for the CPU and run on random vectors.

The interpreter works on registers, as the assembler does: all inputs are read first, all outputs written last. The C++
works on variables, some of which are input and output at once. Each function below is converted as a user's would be.
"""

from __future__ import annotations

import random
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import statements
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline

ROOT = Path(__file__).resolve().parents[2]
_TYPE = {"r": "u32", "l": "u64", "h": "u16", "f": "f32"}
_HOW = ("local", "reference", "macro", "parameters", "template")
_EDGES = (0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFF)
_VECTORS = 40


@dataclass(frozen=True)
class Case:
    """A text with operands `letter:expression`: a..d have 32 bits, A..D 64, h 16, s and t are signed, p, q floats."""

    text: str
    outputs: str
    inputs: str = ""

    def asm(self, names: str = "") -> str:
        """The statement. `names`: of the operands instead of their expressions, as a format for their number."""
        numbers = count()

        def listed(operands: str) -> str:
            pairs = (o.partition(":")[::2] for o in operands.split())
            return ", ".join(f'"{c}"({names.format(next(numbers)) or e})' for c, e in pairs)

        text = "".join(f'"{line.strip()}\\n\\t" ' for line in self.text.split("\n"))
        return f"asm({text}: {listed(self.outputs)} : {listed(self.inputs)});"


CASES = (
    Case("add.u32 %0, %1, %2;", "=r:a", "r:a r:s"),
    Case("shr.s32 %0, %1, %2;", "=r:a", "r:b r:s"),  # unsigned variables, signed instruction
    Case("shr.u32 %0, %1, 3;", "=r:a", "r:s"),
    Case("mul.hi.s32 %0, %1, %2;", "=r:s", "r:a r:t"),
    Case("add.u32 %0, %2, 1;\nsub.u32 %1, %2, %0;", "=r:a =r:b", "r:a"),  # an output that is an input
    Case("add.u32 %0, %2, %3;\nadd.u32 %1, %2, %3;", "=r:a =r:b", "r:b r:a"),
    Case("mad.lo.u32 %0, %1, %2, %0;", "+r:a", "r:b r:c"),
    Case("add.u32 %0, %1, 1;\nmul.lo.u32 %0, %0, %0;\nxor.b32 %0, %0, %1;", "=&r:v[1]", "r:v[0]"),
    Case("add.cc.u32 %0, %2, %4;\naddc.u32 %1, %3, %5;", "=r:a =r:b", "r:a r:b r:c r:d"),
    Case("sub.cc.u32 %0, %0, %2;\nsubc.u32 %1, %1, %3;", "+r:a +r:b", "r:c r:d"),
    Case("mad.lo.cc.u32 %0, %2, %3, %0;\nmadc.hi.u32 %1, %2, %3, %1;", "+r:a +r:b", "r:c r:d"),
    Case("{ .reg .u64 t;\nmov.b64 t, {%1, %2};\nadd.u64 %0, t, %3; }", "=l:A", "r:a r:s l:A"),
    Case("mov.b64 {%0, %1}, %2;", "=r:b =r:a", "l:A"),
    Case("prmt.b32 %0, %1, %2, 0x0123;\nprmt.b32 %0, %0, %1, 0x7531;", "=r:a", "r:a r:b"),
    Case("{ .reg .pred p, q;\nsetp.lt.s32 p|q, %1, %2;\n@p mov.u32 %0, %1;\n@q mov.u32 %0, %2; }", "=r:a", "r:s r:b"),
    Case("{ .reg .pred p;\nsetp.ne.u32 p, %1, 0;\nselp.u32 %0, %2, %0, p; }", "+r:a", "r:b r:c"),
    Case("{ .reg .u32 t;\nbfe.u32 t, %1, 8, 8;\nbfi.b32 %0, t, %2, %3, 5; }", "=r:c", "r:a r:c r:d"),
    Case("{ .reg .u32 t<3>;\nadd.u32 t0, %1, 1;\nadd.u32 t1, t0, %1;\nxor.b32 t2, t0, t1;\nadd.u32 %0, t2, t0; }",
         "=r:a", "r:a"),
    Case("{ .reg .u32 t;\nadd.u32 t, %1, 1;\n{ .reg .u32 t;\nmov.u32 t, 5;\nadd.u32 %0, t, %1; }\nadd.u32 %0, %0, t; }",
         "=r:a", "r:b"),  # a name declared twice
    Case("and.b32 %1, %0, 0xF0;\nxor.b32 %0, %0, %1;\nshr.u32 %1, %1, 4;\nadd.u32 %0, %0, %1;", "+r:a", "r:b"),
    Case("shl.b64 %0, %1, %2;\nor.b64 %0, %0, %3;", "=l:B", "l:A r:a l:B"),
    Case("lop3.b32 %0, %1, %2, %3, 0xd8;\nnot.b32 %0, %0;", "=r:a", "r:a r:b r:c"),
    Case("cvt.u64.u32 %0, %2;\ncvt.s64.s32 %1, %2;", "=l:A =l:B", "r:a"),
    Case("mul.wide.s32 %0, %1, %2;\nmad.wide.u32 %0, %1, %2, %0;", "=l:A", "r:a r:s"),
    Case("add.u16 %0, %1, %2;\nmul.lo.u16 %0, %0, %1;", "=h:h", "h:h h:h"),
    Case("abs.s32 %0, %1;\nneg.s32 %0, %0;\nmax.s32 %0, %0, %2;", "=r:s", "r:s r:t"),
    Case("{ .reg .pred p;\n.reg .u32 n;\nmov.u32 %0, 0;\nand.b32 n, %1, 7;\nL%=:\nadd.u32 %0, %0, %1;\n"
         "add.u32 n, n, 1;\n"
        "setp.lt.u32 p, n, 9;\n@p bra L%=; }", "=r:a", "r:a"),
    Case("{ .reg .pred p;\nsetp.eq.u32 p, %1, 1;\nmov.u32 %0, 7;\n@p bra DONE;\nadd.u32 %0, %0, %1;\nDONE: }",
         "=r:a", "r:a"),
    Case("mul.rn.f32 %0, %1, %2;\nsub.rn.f32 %0, %0, %1;", "=f:p", "f:p f:q"),
    Case("neg.f32 %0, %1;", "=f:p", "f:q"),
    Case("mul.f32 %0, %0, %1;", "+f:p", "f:q"),
    Case("sub.f32 %0, %1, %2;", "=f:q", "f:p f:q"),
    Case("{ .reg .pred p;\nsetp.lt.f32 p, %1, %2;\nselp.f32 %0, %1, %2, p; }", "=f:p", "f:q f:p"),
    Case("{ .reg .pred c;\nadd.u32 %0, %1, 1;\nsetp.lt.u32 c, %0, %1;\n@!c shl.b32 %0, %0, %2; }", "=r:a", "r:b r:c"),
)  # fmt: skip

_HEAD = (
    "struct State { unsigned a, b, c, d; unsigned long long A, B, C, D; unsigned short h; int s, t; unsigned v[2];\n"
    "  float p, q; };\ntemplate <class, class T> struct Hidden { typedef T type; };\n"
)
_LOCALS = (
    "  unsigned a = x->a, b = x->b, c = x->c, d = x->d; unsigned long long A = x->A, B = x->B, C = x->C, D = x->D;\n"
    "  unsigned short h = x->h; int s = x->s, t = x->t; unsigned v[2] = {x->v[0], x->v[1]};\n"
    "  float p = x->p, q = x->q;\n"
)
_BACK = (
    "  x->a = a; x->b = b; x->c = c; x->d = d; x->A = A; x->B = B; x->C = C; x->D = D; x->h = h; x->s = s; x->t = t;\n"
    "  x->v[0] = v[0]; x->v[1] = v[1]; x->p = p; x->q = q;\n"
)
_NAMES = ("a", "b", "c", "d", "A", "B", "C", "D", "h", "s", "t", "v[0]", "v[1]", "p", "q")
_LAYOUT = struct.Struct("<4I4QH2xiiIIII4x")


def source(name: str, case: Case, how: str) -> str:
    """A function around a case: on locals, through references, or in a macro."""
    if how == "macro":
        macro = f"#define ASM_{name} {case.asm().rstrip(';')}\n"
        return f"{macro}__device__ void {name}(State* x) {{\n{_LOCALS}  ASM_{name};\n{_BACK}}}\n"
    if how == "parameters":  # which are expressions that bind loosely, named as registers of the text are
        operands = [o.partition(":")[2] for o in (case.outputs + " " + case.inputs).split()]
        outputs = len(case.outputs.split())
        given = [f"*&{e}" if i < outputs else f"x == nullptr ? 0 : {e}" for i, e in enumerate(operands)]
        names = ", ".join(f"o{i}" for i in range(len(operands)))
        macro = f"#define ASM_{name}({names}) {case.asm('o{}').rstrip(';')}\n"
        # in a file of its own it would not know these names
        return f"{macro}__device__ void {name}(State* x) {{\n{_LOCALS}  ASM_{name}({', '.join(given)});\n{_BACK}}}\n"
    if how == "template":
        hidden = _LOCALS
        for type_ in ("unsigned short", "unsigned long long", "int", "float", "unsigned"):
            hidden = re.sub(
                rf"(?<=  )\b{type_}(?= [a-zA-Z])|(?<=; ){type_}(?= [a-zA-Z])",
                f"typename Hidden<Z, {type_}>::type",
                hidden,
            )
        return f"template <class Z> __device__ void {name}(State* x) {{\n{hidden}  {case.asm()}\n{_BACK}}}\n"
    if how == "reference":
        changed = _LOCALS.replace(
            "unsigned a = x->a, b = x->b, c = x->c, d = x->d", "unsigned &a = x->a, &b = x->b, &c = x->c, &d = x->d"
        )
        return f"__device__ void {name}(State* x) {{\n{changed}  if (x) {case.asm()}\n{_BACK}}}\n"
    return f"__device__ void {name}(State* x) {{\n{_LOCALS}  {case.asm()}\n{_BACK}}}\n"


def expected(case: Case, state: dict[str, int]) -> dict[str, int]:
    """The state after the statement, as registers would have it."""
    outputs = [o.partition(":")[::2] for o in case.outputs.split()]
    inputs = [o.partition(":")[::2] for o in case.inputs.split()]
    places, registers = {}, {}
    for i, (constraint, name) in enumerate((*outputs, *inputs)):
        type_ = TYPES[_TYPE[constraint.strip("=+&")]]
        places[f"%{i}"] = Place(f"%{i}", type_)
        if constraint.startswith("+") or i >= len(outputs):
            registers[f"%{i}"] = state[name] & type_.mask
    (after,) = run(parse_inline(case.text), places, [registers])
    return state | {name: after.get(f"%{i}", 0) for i, (_, name) in enumerate(outputs)}


def test_converted_statements_compute_what_ptx_computes(tmp_path: Path) -> None:
    plain = "".join(source(f"f{i}_{how}", c, how) for i, c in enumerate(CASES) for how in _HOW)
    text = _HEAD + plain
    assert len(statements(Unit(text, load_catalog()))) == len(_HOW) * len(CASES)
    with ClangService() as clang:
        result = translate(text, path="a.cuh", clang=clang)
    left = [j.finding.message for j in result.findings if j.open]
    assert not left
    output = result.output.decode()
    assert "asm(" not in output
    calls = "".join(
        f"  for (int n = 0; n < {_VECTORS}; ++n) {{ State x; if (!std::fread(&x, sizeof x, 1, stdin)) return 1; "
        f"f{i}_{how}{'<int>' if how == 'template' else ''}(&x); std::fwrite(&x, sizeof x, 1, stdout); }}\n"
        for i in range(len(CASES)) for how in _HOW
    )  # fmt: skip
    program = f"#include <cstdio>\n#define __device__\n{output}\nint main() {{\n{calls}}}\n"
    (tmp_path / "a.cc").write_text(program)
    flags = ["-std=c++17", "-O0", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    headers = ROOT / "translator" / "cu2port" / "include"
    subprocess.run(
        [shutil.which("g++") or "c++", *flags, f"-I{headers}", "-o", tmp_path / "a", tmp_path / "a.cc"], check=True
    )
    rng = random.Random(5)
    states, wanted = b"", []
    for case in CASES:
        for how in _HOW:
            for _ in range(_VECTORS):
                drawn = [rng.choice(_EDGES) if rng.random() < 0.3 else rng.getrandbits(64) for _ in _NAMES]
                masks = [TYPES["u64"].mask if n in "ABCD" else 0xFFFF if n == "h" else 0xFFFFFFFF for n in _NAMES]
                state = {n: d & m for n, d, m in zip(_NAMES, drawn, masks, strict=True)}
                # small numbers: sums and products are exact, fused or not
                state |= {n: struct.unpack("<I", struct.pack("<f", rng.randint(-99, 99) / 4))[0] for n in "pq"}
                states += pack(state)
                wanted.append((case, how, state, expected(case, state)))
    done = subprocess.run([tmp_path / "a"], input=states, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    for k, (case, how, before, after) in enumerate(wanted):
        got = unpack(done.stdout[k * _LAYOUT.size : (k + 1) * _LAYOUT.size])
        assert got == after, (case.text, how, before)


def pack(state: dict[str, int]) -> bytes:
    signed = {n: v - (1 << 32) if n in "st" and v >> 31 else v for n, v in state.items()}
    return _LAYOUT.pack(*(signed[n] for n in _NAMES))


def unpack(data: bytes) -> dict[str, int]:
    values = _LAYOUT.unpack(data)
    return {n: v & (0xFFFFFFFF if n in "st" else -1) for n, v in zip(_NAMES, values, strict=True)}
