"""What all programs of trials share, compiled once and kept in the cache: the driver, and the headers."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from cu2port.verify.sim_compiler import HEADERS, CannotBuild, Toolchain

OPTIMISATION = "-O1"
#: A launch that leaves an array says nothing: the CUDA side ends there.
_BOUNDS = ("-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
_WATCHED = ("-DCU2PORT_TRIAL_WATCHED",)
#: A variable that a kernel reads before it writes it holds the same on both sides: what it holds says nothing.
FILLED = "-ftrivial-auto-var-init=zero"
_FOLDERS = ("cu2port_sim", "hip", "cuda", "cu2port_trial", "hiprand", "hipcub")


def driver(toolchain: Toolchain, gpu: bool = False) -> Path:
    """The object file of the part that is the same for every kernel. `gpu`: for a shared library whose kernels HIP's
    runtime launches."""
    source = HEADERS / "cu2port_trial" / "driver.cpp"
    how = ("-fPIC", "-DCU2PORT_TRIAL_GPU") if gpu else ()
    return toolchain.kept("driver.o", (*toolchain.flags(32), "-O2", *how, "-c", str(source)), _FOLDERS)


@cache
def _filled(toolchain: Toolchain) -> tuple[str, ...]:
    """The flag for that, where the compiler has it."""
    try:
        toolchain.call([FILLED, "-x", "c++", "-fsyntax-only", os.devnull])
    except CannotBuild:
        return ()
    return (FILLED,)


def flags(toolchain: Toolchain, wave: int, cuda: bool, watched: bool = False) -> list[str]:
    """Flags under which one side of a trial is compiled: the dialect, and headers that come before all text.
    `watched`: so that races are seen."""
    own = [f"-I{HEADERS / 'cuda'}", *(_WATCHED if watched else _BOUNDS)] if cuda else ["-D__HIP__=1", "-D__HIPCC__=1"]
    common = [*toolchain.flags(wave, watched), OPTIMISATION, "-fwrapv", *_filled(toolchain), *own]
    name = f"before-{'cuda' if cuda else 'hip'}-{wave}{'-watched' * watched}"
    first = "cuda_runtime.h" if cuda else "hip/hip_runtime.h"
    text = f'#include "{first}"\n#include "cu2port_trial/trial.h"\n'
    return [*common, *toolchain.precompiled(name, text, common, _FOLDERS)]
