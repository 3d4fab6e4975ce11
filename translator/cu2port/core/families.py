"""The families of rules: what the first three characters of a code say."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.core.late import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """Rules whose codes begin with `prefix`. `in_lint`: whether `cu2port lint` looks for them by default, where a rule
    does not say it for itself."""

    prefix: str
    title: str
    in_lint: bool = True

    def has(self, code: str) -> bool:
        """Whether a rule belongs to the family."""
        return code.startswith(self.prefix)


NAMES = Family("CU1", "CUDA's names and headers", in_lint=False)  # `convert` renames them
WARPS = Family("CU3", "warps")
LIBRARIES = Family("CU7", "libraries")
BUILD = Family("CU8", "build files", in_lint=False)  # `lint` reads sources
OWN = Family("CU9", "cu2port itself")

FAMILIES: Mapping[str, Family] = {
    f.prefix: f
    for f in (
        NAMES,
        Family("CU2", "language and launches", in_lint=False),
        WARPS,
        Family("CU4", "PTX"),
        Family("CU5", "numerics and types"),
        Family("CU6", "host behaviour"),
        LIBRARIES,
        BUILD,
        OWN,
    )
}


def family(code: str) -> Family:
    """The family of a rule."""
    return FAMILIES[code[:3]]
