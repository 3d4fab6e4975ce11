"""Running a simulated program: time and memory limits, both wave sizes side by side."""

from __future__ import annotations

import ctypes
import difflib
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

TIMED_OUT = 124  # exit codes beside the program's own
CANNOT = 125
DIFFERENT = 1
_TIMING = re.compile(
    r"time|second|\bsecs?\b|\b[num]?s\b|bandwidth|throughput|[gmt]?flops?\b|[gmk]i?b/s|elapsed|speed|per sec|fps|"
    r"overhead|latency|performance|rate|\btook\b|execution",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\binf\b|-?\bnan\b")
_GRACE_S = 3.0
_GLANCE_S = 0.1  # how often the memory that a program holds is looked at
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for one run, bytes of device memory, OS threads (0: all cores)."""

    time_s: float = 120.0
    memory: int = 8_000_000_000
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Ran:
    """One run. `code` is the program's exit code, 128 + n after signal n, 124 after the time limit, 125 when it was
    ended because it took more memory than the machine has."""

    code: int
    output: bytes = b""
    errors: bytes = b""
    timed_out: bool = False
    too_large: bool = False


def run(
    binary: Path,
    arguments: Sequence[str],
    limits: Limits,
    capture: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Ran:
    """Run a simulated program in the current folder, its output captured or passed through.

    `settings`: environment variables that tell the simulator how to run lanes.
    """
    environment = {
        **os.environ,
        "CU2PORT_SIM_MEMORY": str(limits.memory),
        **({"CU2PORT_SIM_THREADS": str(limits.threads)} if limits.threads else {}),
        **settings,
    }
    pipe = subprocess.PIPE if capture else None

    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def limit() -> None:
        if prctl is not None:  # Linux: the program does not outlive us
            prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # stacks of lanes, what --check keeps and the program's own memory come on top of the device's
        room = limits.memory + (128 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_DATA, (room, room))

    process = subprocess.Popen([str(binary), *arguments], stdout=pipe, stderr=pipe, env=environment, preexec_fn=limit)
    timed_out = too_large = False
    most = free_memory() * 9 // 10
    end = time.monotonic() + limits.time_s
    try:
        while True:
            try:
                output, errors = process.communicate(timeout=max(0.01, min(_GLANCE_S, end - time.monotonic())))
                break
            except subprocess.TimeoutExpired:
                if resident(process.pid) > most > 0:
                    too_large = True
                    process.kill()
                elif time.monotonic() >= end and not timed_out:
                    timed_out, end = True, end + _GRACE_S
                    process.send_signal(signal.SIGTERM)  # the runtime says where it is
                elif time.monotonic() >= end:
                    process.kill()
    except BaseException:  # Ctrl-C, or a signal to end
        process.kill()
        process.wait()
        raise
    code = process.returncode
    if too_large:
        code = CANNOT
    elif timed_out:
        code = TIMED_OUT
    elif code < 0:
        code = 128 - code
    return Ran(code, output or b"", errors or b"", timed_out, too_large)


def free_memory() -> int:
    """Bytes that programs can still take on this machine; 0 where nothing tells."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where nothing tells."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


def differences(a: Ran, b: Ran) -> list[tuple[str, str]]:
    """Pairs of lines that differ between two runs ("" where one lacks a line); the exit code comes last."""
    left = a.output.decode("utf-8", "replace").splitlines()
    right = b.output.decode("utf-8", "replace").splitlines()
    out = list(_pairs(left, right))
    if a.code != b.code:
        out.append((f"exit code {a.code}", f"exit code {b.code}"))
    return out


def _pairs(left: list[str], right: list[str]) -> Iterator[tuple[str, str]]:
    def key(line: str) -> str:
        return _NUMBER.sub("#", line) if _TIMING.search(line) else line

    matcher = difflib.SequenceMatcher(None, [key(x) for x in left], [key(x) for x in right], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        for n in range(max(j - i, m - k)):
            yield left[i + n] if i + n < j else "", right[k + n] if k + n < m else ""


def side_by_side(
    pairs: Sequence[tuple[str, str]], heads: tuple[str, str], width: int = 58, limit: int = 40
) -> list[str]:
    """Lines of a two-column table."""
    rows = [heads, *pairs[:limit]]
    lines = [f"{a[:width]:<{width}} | {b[:width]}".rstrip() for a, b in rows]
    if len(pairs) > limit:
        lines.append(f"... and {len(pairs) - limit} more")
    return lines
