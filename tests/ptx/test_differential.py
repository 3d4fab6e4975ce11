"""tools/ptx_differential.py on statements of our own: those that run agree, others are counted, a difference shows."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from loading import load

from cu2port.ptx.parse import parse_inline

ROOT = Path(__file__).parents[2]
SOURCE = """
__device__ void f(unsigned a, unsigned short h, float x, unsigned long long w, unsigned* p) {
  unsigned d; unsigned short e; float y; unsigned long long v; unsigned q[4];
  asm("div.u16 %0, %1, %2;" : "=h"(e) : "h"(h), "h"(e));
  asm("rem.s16 %0, %1, 7;" : "=h"(e) : "h"(h));
  asm("shr.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(d));
  asm volatile("bfe.u32 %0, %1, %2, 5;" : "=r"(d) : "r"(a), "n"(3));
  asm("{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.f32 %0, %1, %2, p; }" : "=f"(y) : "f"(x), "f"(y));
  asm("sub.cc.u32 %0, %1, %2; subc.u32 %0, %0, 0;" : "+r"(d) : "r"(a), "r"(d));
  asm("mul.wide.s32 %0, %1, %1;" : "=l"(v) : "r"(a));
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4 + 16];"
               : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3]) : "l"(p));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u16 [%0], %1; }"
               :: "l"(p), "h"(h), "r"(a) : "memory");
  asm volatile("st.shared.f32 [%0], %1;" :: "r"(a), "f"(x));
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(d) : "l"(p), "r"(a));
  asm volatile("bar.sync 0;");
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  asm volatile("mma.sync.aligned;");
}
"""


def test_statements_of_a_tree(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no gcc for C++ here")
    tool = load(ROOT / "tools/ptx_differential.py")
    tree, work = tmp_path / "tree", tmp_path / "work"
    tree.mkdir()
    work.mkdir()
    (tree / "a.cu").write_text(SOURCE)
    tally = tool.compared([tree], 10, work)
    assert not tally.wrong
    assert tally.distinct["run"] == 11
    assert sum(tally.distinct.values()) == 14
    assert tally.vectors > 300
    plan = next(tool.planned(f) for f in tool.collected([tree]) if f.text.startswith("shr.s32"))
    other = replace(plan, body=parse_inline("shr.u32 %0, %1, %2;"))
    tool.differences([other], 10, work, tally)
    assert len(tally.wrong) == len(tool.KINDS)
