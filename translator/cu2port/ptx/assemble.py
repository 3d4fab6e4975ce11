"""PTX modules that run instructions on vectors: what ptxas must accept, and what a GPU of NVIDIA's can answer.

Kernel `k<n>` of a module runs case n: thread i reads vector i from `in` (64 bits each input) and writes its results to
`out` likewise, for i below `count`. All three are the kernel's parameters, in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.ptx.ir import Const, Instruction, Neg, Not, Operand, Pair, Reg, Type
from cu2port.ptx.vectors import Case

_KERNEL = """\
.visible .entry k{n}(.param .u64 in, .param .u64 out, .param .u32 count)
{{
    .reg .pred %out_of_range, %truth;
    .reg .b32 %index, %dimension, %block, %count, %word32;
    .reg .b64 %in, %out, %at, %word;
    .reg .b16 %word16;
{registers}
    mov.u32 %block, %ctaid.x;
    mov.u32 %dimension, %ntid.x;
    mov.u32 %index, %tid.x;
    mad.lo.u32 %index, %block, %dimension, %index;
    ld.param.u32 %count, [count];
    setp.ge.u32 %out_of_range, %index, %count;
    @%out_of_range ret;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mad.wide.u32 %in, %index, {in_size}, %in;
    mad.wide.u32 %out, %index, {out_size}, %out;
{body}
    ret;
}}
"""


def module(cases: Sequence[Case], target: str = "sm_120", version: str = "9.0") -> str:
    """The text of a module with a kernel for each case."""
    head = f".version {version}\n.target {target}\n.address_size 64\n\n"
    return head + "\n".join(kernel(case, n) for n, case in enumerate(cases))


def kernel(case: Case, n: int) -> str:
    """The text of one kernel."""
    names = [n for n in (*case.inputs, *case.results, *_written(case.before)) if n != "CC"]
    registers = "".join(f"    .reg .{_class(case.places[n].type)} {_register(n)};\n" for n in dict.fromkeys(names))
    body = []
    for i, name in enumerate(case.inputs):
        body.append(f"    ld.global.b64 %word, [%in+{8 * i}];")
        if name == "CC":  # the flag is what an addition carries out
            body += ["    cvt.u32.u64 %word32, %word;", "    add.cc.u32 %word32, %word32, 0xffffffff;"]
        else:
            body += _from_word(_register(name), case.places[name].type)
    body += [f"    {text(i)}" for i in case.statements]
    # the flag first, before anything else can change it
    for name in sorted(case.results, key=lambda name: name != "CC"):
        if name == "CC":
            body += ["    addc.u32 %word32, 0, 0;", "    cvt.u64.u32 %word, %word32;"]
        else:
            body += _to_word(_register(name), case.places[name].type)
        body.append(f"    st.global.b64 [%out+{8 * case.results.index(name)}], %word;")
    return _KERNEL.format(
        n=n,
        registers=registers.rstrip("\n"),
        in_size=8 * max(len(case.inputs), 1),
        out_size=8 * max(len(case.results), 1),
        body="\n".join(body),
    )


def _written(instructions: Sequence[Instruction]) -> list[str]:
    return [o.name for i in instructions for o in i.operands[:1] if isinstance(o, Reg)]


def _register(name: str) -> str:
    return f"%v_{name.lstrip('%')}"


def _class(t: Type) -> str:
    return "pred" if t.kind == "p" else f"b{t.bits}"


def _from_word(name: str, t: Type) -> list[str]:
    if t.kind == "p":
        return [f"    setp.ne.u64 {name}, %word, 0;"]
    if t.bits <= 16:
        return [f"    cvt.u{t.bits}.u64 {name}, %word;"]
    return [f"    cvt.u32.u64 {name}, %word;" if t.bits == 32 else f"    mov.b64 {name}, %word;"]


def _to_word(name: str, t: Type) -> list[str]:
    if t.kind == "p":
        return [f"    selp.u64 %word, 1, 0, {name};"]
    if t.bits <= 16:
        return [f"    cvt.u64.u{t.bits} %word, {name};"]
    return [f"    cvt.u64.u32 %word, {name};" if t.bits == 32 else f"    mov.b64 %word, {name};"]


def told(case: Case) -> str:
    """What a case runs, as PTX."""
    return " ".join(map(text, case.statements))


def text(instruction: Instruction) -> str:
    """An instruction as PTX, its operands as registers of the kernel."""
    first, *rest = (_operand(o) for o in instruction.operands)
    return f"{instruction.opcode} {', '.join((first, *rest))};"


def _operand(o: Operand) -> str:
    if isinstance(o, Reg):
        return "_" if o.name == "_" else _register(o.name) + (f".{o.select}" if o.select else "")
    if isinstance(o, Const):
        return {"f": f"0d{o.value:016X}", "f32": f"0f{o.value:08X}"}.get(o.kind, str(o.value))
    if isinstance(o, Pair):
        return f"{_operand(o.first)}|{_operand(o.second)}"
    assert isinstance(o, (Not, Neg))
    return ("!" if isinstance(o, Not) else "-") + _operand(o.item)
