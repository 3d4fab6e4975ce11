"""What all programs of trials share, compiled once and kept in the cache: the driver, and the headers."""

from __future__ import annotations

from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.verify.sim_build import HEADERS, Toolchain

OPTIMISATION = "-O1"
#: A launch that leaves an array says nothing: the CUDA side ends there.
_BOUNDS = ("-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
_CONTENT = "-fpch-validate-input-files-content"  # dates of headers change with each installation
_FOLDERS = ("cu2port_sim", "hip", "cuda", "cu2port_trial", "hiprand", "hipcub")


def driver(toolchain: Toolchain, gpu: bool = False) -> Path:
    """The object file of the part that is the same for every kernel. `gpu`: for a shared library whose kernels HIP's
    runtime launches."""
    source = HEADERS / "cu2port_trial" / "driver.cpp"
    how = ("-fPIC", "-DCU2PORT_TRIAL_GPU") if gpu else ()
    return toolchain.kept("driver.o", (*toolchain.flags(32), "-O2", *how, "-c", str(source)), _FOLDERS)


def flags(toolchain: Toolchain, wave: int, cuda: bool, watched: bool = False) -> list[str]:
    """Flags under which one side of a trial is compiled: the dialect, and headers that come before all text.
    `watched`: so that races are seen."""
    own = [f"-I{HEADERS / 'cuda'}", *(() if watched else _BOUNDS)] if cuda else ["-D__HIP__=1", "-D__HIPCC__=1"]
    common = [*toolchain.flags(wave, watched), OPTIMISATION, "-fwrapv", *own]
    name = f"before-{'cuda' if cuda else 'hip'}-{wave}{'-watched' * watched}"
    first = "cuda_runtime.h" if cuda else "hip/hip_runtime.h"
    text = f'#include "{first}"\n#include "cu2port_trial/trial.h"\n'
    header = cache_dir() / "sim" / f"{name}.h"
    if not header.is_file() or header.read_text(encoding="utf-8") != text:
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text, encoding="utf-8")
    if toolchain.is_zig:
        return [*common, "-include", str(header)]
    suffix = "pch" if toolchain.is_clang else "gch"
    once = ("-fpch-instantiate-templates", _CONTENT) if toolchain.is_clang else ()  # else each kernel's text does it
    made = toolchain.kept(f"{name}.h.{suffix}", (*common, *once, "-x", "c++-header", str(header)), _FOLDERS)
    if toolchain.is_clang:
        return [*common, _CONTENT, "-include-pch", str(made)]
    plain = made.with_suffix("")  # gcc looks for NAME.gch when NAME is included
    if not plain.is_file():
        plain.write_text(text, encoding="utf-8")
    return [*common, "-include", str(plain)]
