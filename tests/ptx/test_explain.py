"""Single instructions explained: `cu2port ptx -e`."""

from __future__ import annotations

import pytest

from cu2port.ptx.explain import explain


@pytest.mark.parametrize(
    "text",
    [
        "prefetch.global.L2 [%0];",
        "prefetchu.L1 [%0];",
        "discard.global.L2 [%0], 128;",
        "applypriority.global.L2::evict_normal [%0], 128;",
        "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;",
    ],
)
def test_an_address_of_no_type(text: str) -> None:
    """Nothing is loaded or stored, so no type is written: the operand is an address."""
    assert next(iter(explain(text, {}, "exact"))) == "tree"
    assert list(explain(text, {"%0": "16"}, "exact"))[-1] == "for %0 = 0x10 (16)"


def test_what_moves_data_keeps_its_type() -> None:
    assert "load.u32" in list(explain("ld.global.u32 %0, [%1];", {}, "exact"))[1]
