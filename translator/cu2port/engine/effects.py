"""What a finding means for the GPUs that are asked for.

`Finding.effects` says it by target: `all`, `wave64` or `wave32` (GPUs whose wavefronts have so many lanes), or one GPU
by name.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cu2port.core.model import Finding, Severity


def wave_size(arch: str) -> int:
    """Lanes of a wavefront: 64 up to gfx9, 32 after."""
    return 64 if re.match(r"gfx(?:[6-8]\d\d|9)", arch) else 32


def on(f: Finding, arch: str) -> str:
    """What happens on a GPU if nothing is done; "" where the finding does not say."""
    for key in (arch.partition(":")[0], f"wave{wave_size(arch)}", "all"):
        for where, what in f.effects:
            if where == key:
                return what
    return ""


def narrowed(f: Finding, archs: tuple[str, ...]) -> Finding:
    """The finding as it is for some GPUs: information where it says what happens, and that none of them is hit."""
    if not archs or not f.effects or f.severity is Severity.INFO:
        return f
    if any(on(f, a) not in ("", "none") for a in archs):
        return f
    return replace(f, severity=Severity.INFO)
