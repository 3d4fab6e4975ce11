"""Registers and outputs that some lanes leave without a value: which they are, and that clang keeps the lanes apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from amd_code import machine_code

from cu2port.engine.translate import translate
from cu2port.ptx.module import convert
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.unset import unset

_P = ".reg .pred p; .reg .u32 t; setp.eq.u32 p, %1, 0; "
#: text -> registers that are read without a value, and whether the output %0 may have none
WAYS = {
    "mov.u32 %0, 1;": ("", False),
    "mov.u32 %1, 1;": ("", True),
    _P + "@p mov.u32 %0, 1;": ("", True),
    _P + "@p mov.u32 %0, 1; @!p mov.u32 %0, 2;": ("", False),
    _P + "@p mov.u32 %0, 1; @p mov.u32 %0, 2;": ("", True),
    _P + "@p mov.u32 %0, 1; setp.eq.u32 p, %1, 3; @!p mov.u32 %0, 2;": ("", True),
    _P + "mov.u32 %0, 1; @p mov.u32 %0, 2;": ("", False),
    _P + "@p mov.u32 t, 1; @p add.u32 t, t, 1; mov.u32 %0, 1;": ("", False),
    _P + "@p mov.u32 t, 1; @!p add.u32 t, t, 1; mov.u32 %0, 1;": ("t", False),
    _P + "@p mov.u32 t, 1; mov.u32 %0, t;": ("t", False),
    _P + "@p bra L; mov.u32 t, 1; L: mov.u32 %0, t;": ("t", False),
    _P + "@p bra L; mov.u32 t, 1; mov.u32 %0, t; L:": ("", True),
    _P + "@p bra L; mov.u32 t, 1; bra M; L: mov.u32 t, 2; M: mov.u32 %0, t;": ("", False),
    _P + "L: mov.u32 t, 1; @p bra L; mov.u32 %0, t;": ("", False),
    _P + "bra M; L: mov.u32 %0, t; bra E; M: mov.u32 t, 1; bra L; E:": ("", False),
    _P + "@p bra M; L: mov.u32 %0, t; bra E; M: mov.u32 t, 1; bra L; E:": ("t", False),
    _P + "{ .reg .u32 t; mov.u32 t, 1; mov.u32 %0, t; } @p mov.u32 %0, t;": ("t", False),
    _P + "@p add.cc.u32 %0, %1, 1; addc.u32 %0, %1, 1;": ("CC", False),
    ".reg .pred p; @p mov.u32 %0, 1;": ("p", True),
    _P + "T: .branchtargets L, M; brx.idx %1, T; L: mov.u32 t, 1; M: mov.u32 %0, t;": ("t", False),
    _P + "T: .branchtargets L, M; brx.idx %1, T; L: mov.u32 t, 1; M: mov.u32 %0, 1;": ("", False),
}


@pytest.mark.parametrize("text", WAYS)
def test_what_has_no_value(text: str) -> None:
    found = unset(parse_inline(text), ["%0"])
    assert ({name for _, name in found.registers}, "%0" in found.left) == (set(WAYS[text][0].split()), WAYS[text][1])


_ONE = "{ .reg .pred p; .reg .u32 t; setp.eq.u32 p, %2, 0; "
_GUARD = "@p atom.global.exch.b32 {}, [%1], 7; "
_BRANCH = "@!p bra SKIP; atom.global.exch.b32 {}, [%1], 7; SKIP: "
_END = "o[lane] = f(v);"


def _asm(text: str, out: str = "v", letter: str = "r") -> str:
    return f'asm volatile("{_ONE}{text} }}" : "={letter}"({out}) : "l"(n), "r"(lane));'


#: form -> what it needs before the kernel, and the kernel's body; lane 0 alone does the exchange
FORMS = {
    "guarded output": ("", f"int v; {_asm(_GUARD.format('%0'))} {_END}"),
    "output behind a branch": ("", f"int v; {_asm(_BRANCH.format('%0'))} {_END}"),
    "guarded register": ("", f"int v; {_asm(_GUARD.format('t') + 'prmt.b32 %0, t, %2, 0x3210;')} {_END}"),
    "register behind a branch": ("", f"int v; {_asm(_BRANCH.format('t') + 'bfe.u32 %0, t, %2, 8;')} {_END}"),
    "output that is read": ("", f"int v; {_asm(_BRANCH.format('%0') + 'bfe.u32 %0, %0, %2, 8;')} {_END}"),
    "result": (
        f"FN int g(int* n, int lane) {{ int v; {_asm(_GUARD.format('%0'))} return v; }}",
        "o[lane] = g(n, lane);",
    ),
    "reference": (
        f"FN void g(int& v, int* n, int lane) {{ {_asm(_GUARD.format('%0'))} }}",
        f"int v; g(v, n, lane); {_END}",
    ),
    "macro": (f"#define GET(v, n, lane) {_asm(_GUARD.format('%0'))}\n", f"int v; GET(v, n, lane) {_END}"),
    "member": ("struct S { int a, b; };", f"S s; {_asm(_GUARD.format('%0'), 's.a')} o[lane] = f(s.a);"),
    "element": ("", f"int a[2]; {_asm(_BRANCH.format('%0'), 'a[0]')} o[lane] = f(a[0]);"),
    "float": ("", f"float v; {_asm(_GUARD.format('%0'), letter='f')} {_END}"),
}
_HEAD = (
    "#define FN __device__\n#define KERNEL __global__\nFN int f(int v) { return __builtin_amdgcn_ds_bpermute(0, v); }\n"
)


def _apart(code: str) -> bool:
    """Whether lanes are masked before the exchange."""
    before, swap, _ = code.partition("atomic_swap")
    assert swap
    return bool(re.search(r"s_and(?:n2)?_saveexec|s_and_b64 exec|s_mov_b64 exec", before))


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_one_lane_stays_one(level: str, tmp_path: Path) -> None:
    text = _HEAD
    for k, (before, body) in enumerate(FORMS.values()):
        text += f'namespace n{k} {{\n{before}\nextern "C" __global__ void form{k}(int* n, int* o) {{\n'
        text += f"  int lane = __builtin_amdgcn_workitem_id_x() & 31; {body}\n}}\n}}\n"
    code = machine_code(translate(text).output.decode(), tmp_path, "gfx942", level)
    together = [form for k, form in enumerate(FORMS) if not _apart(code[f"form{k}"])]
    assert not together


MODULE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 n, .param .u64 o)
{
  .reg .pred p;
  .reg .u32 lane, got, other;
  .reg .u64 pn, po;
  ld.param.u64 pn, [n];
  ld.param.u64 po, [o];
  mov.u32 lane, %laneid;
  setp.ne.u32 p, lane, 0;
  @p bra SKIP;
  atom.global.exch.b32 got, [pn], 7;
  mov.u32 other, 1;
SKIP:
  prmt.b32 got, got, lane, 0x3210;
  @!p add.u32 got, got, other;
  st.global.u32 [po], got;
  ret;
}
"""


def test_a_module_keeps_lanes_apart(tmp_path: Path) -> None:
    text = convert(MODULE).text
    assert re.search(r"\bgot = \{\}", text)
    assert _apart(machine_code(text, tmp_path, "gfx942")["k"])


def test_what_has_a_value_is_left_alone() -> None:
    """No variable is named before the text where every way gives it a value, or where it had one."""
    for text, constraint in (
        (_GUARD.format("%0") + "@!p mov.u32 %0, 1;", "=r"),
        ("mov.u32 %0, 1; " + _GUARD.format("%0"), "=r"),
        (_GUARD.format("%0"), "+r"),
    ):
        statement = f'asm volatile("{_ONE}{text} }}" : "{constraint}"(v) : "l"(n), "r"(lane));'
        out = translate(f"__global__ void k(int* n, int lane) {{ int v; {statement} n[1] = v; }}\n").output.decode()
        assert "if (p) v = cu2port::ptx::atom" in out
        assert "may_stay" not in out
