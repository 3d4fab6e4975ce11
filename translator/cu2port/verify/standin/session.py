"""A command run with the stand-ins first on PATH, and what came of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.scratch import scratch_folder
from cu2port.project.tree import CannotRun
from cu2port.verify import sim_check
from cu2port.verify.sim_compiler import Toolchain
from cu2port.verify.simulate import Limits
from cu2port.verify.standin import extensions, toolkit
from cu2port.verify.standin.driver import COMPILER, WARP, WAVE
from cu2port.verify.standin.log import LOG, Told, read

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what the stand-ins and the programs told."""

    code: int
    told: Told


def environment(
    toolchain: Toolchain, wave: int, limits: Limits, log: str = "", warp: str | None = None, check: bool = False
) -> dict[str, str]:
    """The variables of a session, to be laid over those that there are."""
    folder = toolkit.lay_out(toolchain)
    out = {
        WAVE: str(wave),
        COMPILER: " ".join(toolchain.command),
        "PATH": os.pathsep.join((str(folder / "bin"), toolkit.path_without())),
        "CUDACXX": f"{folder}/bin/nvcc",
        "HIPCXX": f"{folder}/bin/hip-clang++",
        "CMAKE_TOOLCHAIN_FILE": f"{folder}/toolchain.cmake",
        "CU2PORT_SIM_MEMORY": str(limits.memory),
    }
    out |= dict.fromkeys(
        ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "ROCM_PATH", "HIP_PATH"), str(folder)
    )
    if "NVCC" in os.environ:  # else not: `NVCC ?= nvcc -Xcompiler -fPIC` of a Makefile would lose its flags
        out["NVCC"] = f"{folder}/bin/nvcc"
    for name, program in (("CC", "gcc"), ("CXX", "g++")):
        given = Path(os.environ.get(name) or program).name
        if (folder / "bin" / given).exists():
            out[name] = str(folder / "bin" / given)
    for name in ("LIBRARY_PATH", "LD_LIBRARY_PATH"):
        out[name] = os.pathsep.join(x for x in (f"{folder}/lib64", os.environ.get(name, "")) if x)
    out[extensions.GPU] = f"{toolkit.CUDA_RELEASE} {toolkit.COMPUTE_CAPABILITY} {toolkit.GPU}"
    out["PYTHONPATH"] = os.pathsep.join(x for x in (str(extensions.PYTHON), os.environ.get("PYTHONPATH", "")) if x)
    if limits.threads:
        out["CU2PORT_SIM_THREADS"] = str(limits.threads)
    if log:
        out[LOG] = log
    if warp:
        out[WARP] = warp
    if check:
        out[sim_check.ON] = "1"
    return out


def run(
    command: Sequence[str],
    toolchain: Toolchain,
    wave: int,
    limits: Limits,
    limit_s: float | None = None,
    warp: str | None = None,
    check: bool = False,
) -> Ended:
    """Run a command in the current folder; `warp`: how CUDA is converted, as `Options.warp`. `check`: its units are
    built, and programs run, as `simulate --check` does it.

    Raises CannotRun when it cannot be started or runs past the limit.
    """
    with scratch_folder(cache_dir() / "sim", "session") as scratch:
        log = scratch / "log"
        variables: Mapping[str, str] = {**os.environ, **environment(toolchain, wave, limits, str(log), warp, check)}
        try:
            code = subprocess.run([*command], env=variables, timeout=limit_s).returncode
        except OSError as e:
            raise CannotRun(f"{command[0]}: {e.strerror}") from e
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{command[0]}: stopped after {limit_s:g} s (--time-limit)") from None
        return Ended(128 - code if code < 0 else code, read(log))


def summary(told: Told, wave: int) -> list[str]:
    """Lines that sum up a session."""
    failed = [r for r in told.runs if r.code != 0]
    out = [
        f"wave {wave}: {len(told.programs)} programs, {len(told.libraries)} libraries and {told.objects} objects "
        f"built, {len(told.failed)} commands failed; {len(told.runs)} programs run, {len(failed)} failed"
    ]
    if told.torch:
        out.append(f"extensions of torch: {', '.join(told.torch)}; the GPU of torch is the host, see sim-cc.md")
    out += _some("not built", told.failed)
    codes = [f"{r.program}: {'ended by a signal' if r.code is None else f'exit code {r.code}'}" for r in failed]
    out += _some("failed", codes)
    other = {r.program for r in told.runs if any(w != wave for w in r.waves)}
    out += _some(f"built for another wave size than {wave}; clean the build first", sorted(other))
    out += _some("not simulated", [f"{name} (in {n} runs)" if n > 1 else name for name, n in told.lacks])
    if not (told.programs or told.libraries or told.objects or told.runs or told.failed):
        out.append("no compiler of CUDA or HIP was called, and nothing ran that one built: is the build up to date?")
    return out


def findings(told: Told) -> list[tuple[sim_check.Verdict, int]]:
    """What `--check` found, each with the number of runs that it was found in."""
    out: dict[tuple[str, str], tuple[sim_check.Verdict, int]] = {}
    for run in told.runs:
        seen = {(v.kind, v.where or v.message): v for v in sim_check.findings(Path(run.program), run.found)}
        for key, verdict in seen.items():
            first, n = out.get(key, (verdict, 0))
            out[key] = first, n + 1
    return list(out.values())


def checked(told: Told, found: int) -> list[str]:
    """Lines that say how far `--check` could look."""
    out = _some("has units that were built without --check and are not checked; clean the build first", told.unwatched)
    if not any(run.waves for run in told.runs):
        out.append("no kernel ran, so nothing was checked")
    elif os.environ.get(sim_check.LOCKSTEP):
        out.append(f"{sim_check.LOCKSTEP} is set: lanes ran in lockstep, and nothing was looked for")
    elif not found and not told.unwatched:
        out.append("nothing found")
    return out


def _some(head: str, lines: Sequence[str]) -> list[str]:
    more = [f"{head}: ... and {len(lines) - _MOST_NAMED} more"] if len(lines) > _MOST_NAMED else []
    return [*(f"{head}: {x}" for x in lines[:_MOST_NAMED]), *more]
