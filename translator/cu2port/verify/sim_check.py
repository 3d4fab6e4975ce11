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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.verify.simulate import Limits, Ran, differences, run

_ON = "CU2PORT_SIM_CHECK"
_BACKWARD, _ARMS, _INACTIVE, _UNSET, _LOCKSTEP, _LATE = (
    f"CU2PORT_SIM_{x}" for x in ("BACKWARD", "ARMS", "INACTIVE", "UNSET", "LOCKSTEP", "LATE")
)
_LINE = re.compile(rb"^cu2port-check\|(\w+)\|([0-9a-f]+)\|([0-9a-f]+)\|(.*)\n?", re.MULTILINE)
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
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Something that is wrong. `kind`: race, sync, lifetime, lockstep, bounds, alignment, shift, uninitialised,
    mask, inactive-lane, unset, streams, order or wave-size.
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
        return run(binary, arguments, limits, capture=True, settings={_ON: "1", **dict.fromkeys(settings, "1")})

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
    lockstep = repeat(_LOCKSTEP)
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
    other = lockstep if lockstep.timed_out else repeat(_LOCKSTEP, _BACKWARD, _ARMS)
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
    found = [
        (m[1].decode(), m[2].decode(), m[3].decode(), m[4].decode("utf-8", "replace")) for m in _LINE.finditer(errors)
    ]
    at_line = places(binary, sorted({x for _, a, b, _ in found for x in (a, b) if x != "0"}))
    unordered = {x for kind, a, b, _ in found if kind in ("race", "lockstep") for x in (a, b)}
    out = []
    for kind, at, other, text in found:
        if kind == "uninitialised" and at in unordered:  # another thread's write only came later
            continue
        there = at_line.get(other, "")
        tail = f" (the other at {there})" if there and there != at_line.get(at) else ""
        out.append(Verdict(kind, f"{_WHAT[kind]}: {text}{tail}", at_line.get(at, "")))
    return out


def places(binary: Path, addresses: Sequence[str]) -> dict[str, str]:
    """`file:line` of code addresses, as far as binutils or LLVM is there to tell."""
    tool = shutil.which("addr2line") or shutil.which("llvm-symbolizer")
    if tool is None or not addresses:
        return {}
    command = [tool, "-e", str(binary), *(f"0x{a}" for a in addresses)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    lines = [x.split(" (")[0] for x in done.stdout.splitlines() if x.strip()]
    if len(lines) != len(addresses):
        return {}
    return {a: _shown(x, binary) for a, x in zip(addresses, lines, strict=True) if not x.startswith("?")}


def _shown(place: str, binary: Path) -> str:
    """A place as the user wrote it: not in the folder of copies, and below the current folder without it."""
    copies = str(binary.parent / "src")
    return place.removeprefix(copies).removeprefix(f"{Path.cwd()}/")
