"""`simulate --check`: what is wrong with a program although it may print the right answer.

Each wave size runs several times: as usual, with every access to shared and device memory watched; with lanes and waves
in the opposite order; with the arms of branches in the opposite order; with other values read from lanes that are not
there and in variables and memory that were never set; in lockstep, where the lanes of a wave meet at every access to
memory; and with the work of streams done as late as it may be.
What changes tells what the program relies on.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.verify.simulate import Limits, Ran, differences, run
from cu2port.verify.standin.log import LOG

ON = "CU2PORT_SIM_CHECK"  # the stand-ins build for --check with it, and programs run so
_BACKWARD, _ARMS, _INACTIVE, _UNSET, LOCKSTEP, _LATE = (
    f"CU2PORT_SIM_{x}" for x in ("BACKWARD", "ARMS", "INACTIVE", "UNSET", "LOCKSTEP", "LATE")
)
_LINE = re.compile(rb"^cu2port-check\|(.*)\n?", re.MULTILINE)
_SAID = re.compile(r"(\w+)\|([^|]*)\|([^|]*)\|(.*)")
_WHAT = {
    "mask": "lane mask",
    "race": "race between threads of a kernel",
    "sync": "missing synchronisation",
    "lifetime": "memory that is gone",
    "lockstep": "relies on lockstep, add `__syncwarp`",
    "bounds": "out of bounds",
    "alignment": "not aligned",
    "shift": "shift that is too wide",
    "uninitialised": "uninitialised memory",
    "limit": "a run has more pairs of places than it tells, of the kind",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Something that is wrong. `kind`: race, sync, lifetime, lockstep, bounds, alignment, shift, uninitialised,
    mask, limit, inactive-lane, unset, streams, order or wave-size.
    `where`: `file:line`, "" when only the whole output shows it."""

    kind: str
    message: str
    where: str = ""

    @property
    def text(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def check(
    binaries: Mapping[int, Path], arguments: Sequence[str], limits: Limits
) -> tuple[dict[int, Ran], list[Verdict]]:
    """Run the binaries (built with `check`), and judge. The runs are the ones in the usual order."""
    runs: dict[int, Ran] = {}
    in_lockstep: dict[int, Ran] = {}
    verdicts: dict[tuple[str, str], Verdict] = {}
    for wave, binary in binaries.items():
        runs[wave], in_lockstep[wave], found = _check_wave(wave, binary, arguments, limits)
        for v in found:
            verdicts.setdefault((v.kind, v.where or v.message), v)
    if len(runs) == 2:
        a, b = in_lockstep.values()
        if differences(a, b):
            verdicts["wave-size", ""] = Verdict("wave-size", "wave 32 and wave 64 give different output")
    return runs, list(verdicts.values())


def _check_wave(wave: int, binary: Path, arguments: Sequence[str], limits: Limits) -> tuple[Ran, Ran, list[Verdict]]:
    """The usual run, the one in lockstep, and what is wrong."""

    def repeat(*settings: str) -> Ran:
        return run(binary, arguments, limits, capture=True, settings={ON: "1", LOG: "", **dict.fromkeys(settings, "1")})

    began = time.monotonic()
    first = repeat()
    limits = replace(limits, time_s=min(limits.time_s, 10 + 20 * (time.monotonic() - began)))
    usual = Ran(first.code, first.output, _LINE.sub(b"", first.errors), first.timed_out)
    found = _findings(binary, first.errors)
    if first.timed_out:
        return usual, usual, found
    backward, arms, inactive = repeat(_BACKWARD), repeat(_ARMS), repeat(_INACTIVE, _UNSET)
    for other in (backward, arms, inactive):
        found += [v for v in _findings(binary, other.errors) if v.kind != "uninitialised"]
    lockstep = repeat(LOCKSTEP)
    at = f"(wave {wave})"
    late = repeat(_LATE)
    if not late.timed_out and differences(first, late):
        found.append(Verdict("streams", f"the output changes when streams do their work as late as they may {at}"))
    if differences(first, inactive) and differences(first, repeat(_UNSET)):
        found.append(Verdict("unset", f"uses what was never set: the output changes with variables or memory {at}"))
        inactive = repeat(_INACTIVE)
    if differences(first, inactive):
        found.append(Verdict("inactive-lane", f"uses the value of an inactive lane: the output changes with it {at}"))
    orders = (first, backward, arms)
    other = lockstep if lockstep.timed_out else repeat(LOCKSTEP, _BACKWARD, _ARMS)
    if other.timed_out:  # waiting at every access takes long: judge without
        changed, lockstep = any(differences(first, x) for x in orders), usual
    else:
        changed = bool(differences(lockstep, other))
    if changed:
        what = "the order in which threads run" if differences(first, backward) else "which arm of a branch runs first"
        found.append(Verdict("order", f"the output depends on {what} {at}"))
    elif any(differences(lockstep, x) for x in orders) and not any(v.kind == "lockstep" for v in found):
        found.append(Verdict("lockstep", f"right in lockstep alone, add `__syncwarp` {at}"))
    return usual, lockstep, found


def _findings(binary: Path, errors: bytes) -> list[Verdict]:
    return findings(binary, (m[1].decode("utf-8", "replace") for m in _LINE.finditer(errors)))


def findings(program: Path, said: Iterable[str]) -> list[Verdict]:
    """What the runtime said of one run of a program, `KIND|AT|OTHER|TEXT`, with places of its source."""
    found = [m.groups() for m in map(_SAID.fullmatch, said) if m]
    at_line = places(program, sorted({x for _, a, b, _ in found for x in (a, b) if x != "0"}))
    unordered = {x for kind, a, b, _ in found if kind in ("race", "lockstep") for x in (a, b)}
    out = []
    for kind, at, other, text in found:
        if kind == "uninitialised" and at in unordered:  # another thread's write only came later
            continue
        there = at_line.get(other, "")
        tail = f" (the other at {there})" if there and there != at_line.get(at) else ""
        out.append(Verdict(kind, f"{_WHAT[kind]}: {text}{tail}", at_line.get(at, "")))
    return out


def places(program: Path, addresses: Sequence[str]) -> dict[str, str]:
    """`file:line` of code addresses (`ADDRESS`, or `ADDRESS@LIBRARY`), as far as binutils or LLVM is there to tell."""
    tool = shutil.which("addr2line") or shutil.which("llvm-symbolizer")
    files: dict[str, list[str]] = {}
    for address in addresses if tool else ():
        files.setdefault(address.partition("@")[2] or str(program), []).append(address)
    out: dict[str, str] = {}
    for file, mine in files.items():
        command = [str(tool), "-e", file, *(f"0x{a.partition('@')[0]}" for a in mine)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        lines = [x.split(" (")[0] for x in done.stdout.splitlines() if x.strip()]
        if len(lines) == len(mine):
            shown = (x.removeprefix(f"{Path.cwd()}/") for x in lines)
            out |= {a: x for a, x in zip(mine, shown, strict=True) if not x.startswith("?")}
    return out
