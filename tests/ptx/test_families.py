"""Instructions that stay say why, by family."""

from __future__ import annotations

import pytest

from cu2port.ptx.families import family


@pytest.mark.parametrize(
    ("opcode", "why"),
    [
        ("atom.global.exch.b128", "16 bytes at once"),
        ("atom.relaxed.gpu.shared.cas.b128", "16 bytes at once"),
        ("atom.global.max.noftz.v2.f16x2", "halves in memory"),
        ("red.relaxed.gpu.global.min.noftz.v4.bf16", "halves in memory"),
        *((opcode, "no manual says") for opcode in ("addc.u16", "subc.s16", "madc.lo.u16", "rcp.rn.ftz.f64")),
        *(
            (opcode, "no manual says")
            for opcode in ("fma.rz.bf16", "fma.rm.relu.bf16x2", "cvt.bf16.bf16", "cvt.f16.bf16")
        ),
        *((opcode, "of 32 bits") for opcode in ("cvta.shared.u32", "cvta.to.global.u32")),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f64.f64.f64.f64", "the manual has no"),
    ],
)
def test_what_has_no_counterpart_has_a_reason(opcode: str, why: str) -> None:
    found = family(opcode)
    assert found is not None
    assert why in found.why
