"""`simulate --check`: what is wrong with a program although it may print the right answer.

Each wave size runs three times: as usual with every access to shared and device memory watched; with lanes and waves
in the opposite order; with another value read from lanes that are not there. What changes tells what the program
relies on.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.verify.simulate import Limits, Ran, Settings, differences, run

_WATCHED = Settings({"CU2PORT_SIM_CHECK": "1"})
_BACKWARD = Settings({"CU2PORT_SIM_CHECK": "1", "CU2PORT_SIM_BACKWARD": "1"})
_INACTIVE = Settings({"CU2PORT_SIM_CHECK": "1", "CU2PORT_SIM_INACTIVE": "1"})
_LINE = re.compile(rb"^cu2port-check\|(\w+)\|([0-9a-f]+)\|([0-9a-f]+)\|(.*)\n?", re.MULTILINE)
_WHAT = {
    "mask": "lane mask",
    "race": "race between threads of a block",
    "lockstep": "relies on lockstep, add `__syncwarp`",
    "bounds": "out of bounds",
    "uninitialised": "uninitialised shared memory",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Something that is wrong. `kind`: race, lockstep, bounds, uninitialised, mask, inactive-lane, order,
    wave-size.
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
    verdicts: dict[tuple[str, str], Verdict] = {}
    for wave, binary in binaries.items():
        first = run(binary, arguments, limits, capture=True, settings=_WATCHED)
        found = _findings(binary, first.errors)
        runs[wave] = Ran(first.code, first.output, _LINE.sub(b"", first.errors), first.timed_out)
        changed = [
            ("inactive-lane", "uses the value of an inactive lane: the output changes with it", _INACTIVE),
            ("order", "the output depends on the order in which threads run", _BACKWARD),
        ]
        for kind, message, settings in changed:
            other = run(binary, arguments, limits, capture=True, settings=settings)
            found += [v for v in _findings(binary, other.errors) if v.kind not in ("uninitialised",)]
            if not first.timed_out and differences(first, other):
                found.append(Verdict(kind, f"{message} (wave {wave})"))
        for v in found:
            verdicts.setdefault((v.kind, v.where or v.message), v)
    if len(runs) == 2:
        a, b = runs.values()
        if differences(a, b):
            verdicts["wave-size", ""] = Verdict("wave-size", "wave 32 and wave 64 give different output")
    return runs, list(verdicts.values())


def _findings(binary: Path, errors: bytes) -> list[Verdict]:
    found = [
        (m[1].decode(), m[2].decode(), m[3].decode(), m[4].decode("utf-8", "replace")) for m in _LINE.finditer(errors)
    ]
    places = _places(binary, sorted({x for _, a, b, _ in found for x in (a, b) if x != "0"}))
    unordered = {x for kind, a, b, _ in found if kind in ("race", "lockstep") for x in (a, b)}
    out = []
    for kind, at, other, text in found:
        if kind == "uninitialised" and at in unordered:  # another thread's write only came later
            continue
        there = places.get(other, "")
        tail = f" (the other at {there})" if there and there != places.get(at) else ""
        out.append(Verdict(kind, f"{_WHAT[kind]}: {text}{tail}", places.get(at, "")))
    return out


def _places(binary: Path, addresses: Sequence[str]) -> dict[str, str]:
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
