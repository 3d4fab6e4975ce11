"""Records what an NVIDIA GPU answers for every row of the PTX table, into tests/ptx/golden/.

    python tools/record_golden.py [--device 0] [--vectors 1000] [--forms 100] [ROOT ...]

It needs NVIDIA's driver alone: PTX text goes to libcuda through ctypes, which compiles it. For each instruction (`add`,
`bfe`, ...) a file `<root>.json.gz` holds, for each form with its operands, the inputs and the answers, and once the
device, its compute capability, the driver's version and the date. Forms that the device does not have are listed as
missing. `carry-pairs` is each instruction that sets the carry flag ahead of each that reads it: the manual does not say
what an `addc` reads after a `sub.cc`. `--list` says which instructions have no answers yet, and needs no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from cu2port.ptx import assemble
from cu2port.ptx.table import rows
from cu2port.ptx.vectors import Case, carry_pairs, cases

GOLDEN = Path(__file__).parent.parent / "tests/ptx/golden"
SEED = 20
CARRY_PAIRS = "carry-pairs"  # not one instruction but two: what sets the flag, and what reads it


class DriverError(RuntimeError):
    """libcuda is missing or refused."""


class Driver:
    """The few calls of CUDA's driver API that running a kernel takes."""

    def __init__(self, device: int) -> None:
        name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        try:
            self.cuda = ctypes.CDLL(name)
        except OSError as error:
            raise DriverError(f"{name}: {error}; this needs a GPU of NVIDIA's and its driver") from None
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), device)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function that returns 0 on success. Raises DriverError with the driver's own words otherwise."""
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            words = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(words))
            raise DriverError(f"{name}: {(words.value or b'unknown').decode()} ({code})")

    def describe(self) -> dict[str, str]:
        """The device's name, compute capability, and the driver's version."""
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, self.device)
        version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, self.device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, self.device)
        return {
            "device": name.value.decode(),
            "capability": f"{major.value}.{minor.value}",
            "driver": f"{version.value // 1000}.{version.value % 1000 // 10}",
            "date": date.today().isoformat(),
        }

    def load(self, text: str) -> ctypes.c_void_p:
        """A module from PTX text. Raises DriverError with the compiler's messages."""
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        except DriverError as error:
            raise DriverError(f"{error}: {log.value.decode(errors='replace')[:400]}") from None
        return module

    def answers(self, module: ctypes.c_void_p, n: int, case: Case) -> list[list[int]]:
        """Runs kernel `k<n>` on a case's vectors: the results of each."""
        count, wide = len(case.vectors), max(len(case.results), 1)
        given = b"".join(struct.pack(f"<{len(v)}Q", *v) for v in case.vectors) or bytes(8)
        kernel, source, target = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, f"k{n}".encode())
        self.call("cuMemAlloc_v2", ctypes.byref(source), ctypes.c_size_t(len(given)))
        self.call("cuMemAlloc_v2", ctypes.byref(target), ctypes.c_size_t(8 * wide * count))
        try:
            self.call("cuMemcpyHtoD_v2", source, given, ctypes.c_size_t(len(given)))
            threads = ctypes.c_uint32(count)
            pointers = [ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in (source, target, threads)]
            arguments = (ctypes.c_void_p * 3)(*pointers)
            blocks = (count + 127) // 128
            self.call("cuLaunchKernel", kernel, blocks, 1, 1, 128, 1, 1, 0, None, arguments, None)
            self.call("cuCtxSynchronize")
            out = ctypes.create_string_buffer(8 * wide * count)
            self.call("cuMemcpyDtoH_v2", out, target, ctypes.c_size_t(len(out)))
        finally:
            self.call("cuMemFree_v2", source)
            self.call("cuMemFree_v2", target)
        numbers = struct.unpack(f"<{wide * count}Q", out.raw)
        return [list(numbers[i * wide : i * wide + len(case.results)]) for i in range(count)]


def by_root(wanted: Sequence[str], vectors: int, forms: int) -> Iterator[tuple[str, list[Case]]]:
    """The cases of each instruction, the same every time."""
    roots = list(dict.fromkeys(row.root for row in rows()))
    for root in roots:
        if wanted and root not in wanted:
            continue
        rng = Random(f"{SEED} {root}")
        found = [c for row in rows() if row.root == root for c in cases(row, vectors, rng, most_forms=forms)]
        if found:
            yield root, found
    if not wanted or CARRY_PAIRS in wanted:
        yield CARRY_PAIRS, list(carry_pairs(vectors, Random(f"{SEED} {CARRY_PAIRS}")))


def record(driver: Driver, root: str, chosen: Sequence[Case]) -> tuple[int, int]:
    """Runs one instruction's cases and writes its file. Returns how many cases were answered, and how many not."""
    about = driver.describe()
    target = f"sm_{about['capability'].replace('.', '')}"
    answered, missing = [], []
    for case in chosen:
        text = assemble.told(case)
        try:
            module = driver.load(assemble.module([case], target))
        except DriverError as error:
            missing.append({"text": text, "why": str(error)[:300]})
            continue
        results = driver.answers(module, 0, case)
        driver.call("cuModuleUnload", module)
        answered.append({"text": text, "inputs": [list(v) for v in case.vectors], "results": results})
    GOLDEN.mkdir(parents=True, exist_ok=True)
    data = json.dumps({**about, "cases": answered, "missing": missing}, separators=(",", ":"))
    (GOLDEN / f"{root}.json.gz").write_bytes(gzip.compress(data.encode(), mtime=0))
    return len(answered), len(missing)


def unanswered() -> list[str]:
    """The instructions that compute something and have no recorded answers."""
    return [root for root, _ in by_root((), 1, 1) if not (GOLDEN / f"{root}.json.gz").is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what an NVIDIA GPU answers for the rows of the PTX table.")
    parser.add_argument(
        "roots", nargs="*", metavar="ROOT", help="instructions to record, as `add`; all if none is named"
    )
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--vectors", type=int, default=1000, help="random vectors a form")
    parser.add_argument("--forms", type=int, default=100, help="forms of a row at most")
    parser.add_argument("--list", action="store_true", help="say which instructions have no answers yet")
    options = parser.parse_args()
    if options.list:
        sys.stdout.write("".join(f"{root}\n" for root in unanswered()))
        return 0
    try:
        driver = Driver(options.device)
        for root, chosen in by_root(options.roots, options.vectors, options.forms):
            answered, missing = record(driver, root, chosen)
            sys.stdout.write(f"{root}: {answered} cases, {missing} that this GPU does not have\n")
    except DriverError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
