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
    ],
)
def test_what_has_no_counterpart_has_a_reason(opcode: str, why: str) -> None:
    found = family(opcode)
    assert found is not None
    assert why in found.why
