"""How tests build a program for the simulator."""

from __future__ import annotations

from dataclasses import replace

from cu2port.verify.sim_build import Program


def quick(program: Program, *flags: str) -> Program:
    """A program without optimisation, with more flags: the compiler is most of a test's time."""
    return replace(program, flags=("-O0", *flags))
