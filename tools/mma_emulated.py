"""Each form of `mma` as machine code of gfx942 and gfx1100, in an emulator, against the manual's triple loop.

    python tools/mma_emulated.py [--only TEXT] [--kept | --bits | --passed-on] [--part N/M] [--arch A] EMULATOR STORE

EMULATOR is the folder of `second_executor.py`, STORE one for what `emulator_run.py` keeps. The kernels and their inputs
are those of tests/ptx/test_mma.py, which runs them on the CPU as C++: here clang has compiled them, and the second
executor takes them apart. With `--kept` sums stay in tiles, of the forms that allow it, with `--bits` in tiles for sums
of several types; `--finite` leaves Inf and NaN out. Forms that the emulator cannot run are named with the reason. With
`--passed-on` the programs of tests whose tiles go to functions, by pointer, by reference or in structs, are run
instead, with tiles and without, and without them in the simulator: all must agree.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "ptx"), str(ROOT / "tests" / "lib")]

import mma_programs  # noqa: E402
import test_carriers  # type: ignore[import-not-found]  # noqa: E402
import test_carriers_again  # type: ignore[import-not-found]  # noqa: E402
import test_lambdas_in_lambdas  # type: ignore[import-not-found]  # noqa: E402
import test_macros_that_multiply  # type: ignore[import-not-found]  # noqa: E402
import test_mma  # type: ignore[import-not-found]  # noqa: E402
import test_struct_sums as structs  # type: ignore[import-not-found]  # noqa: E402
import test_sums_apart  # type: ignore[import-not-found]  # noqa: E402
import test_sums_by_parameter  # type: ignore[import-not-found]  # noqa: E402
import test_sums_of_f16  # type: ignore[import-not-found]  # noqa: E402
import test_sums_of_several_types  # type: ignore[import-not-found]  # noqa: E402

CASES = (test_mma.Case("plain"), test_mma.Case("special"), test_mma.Case("small", here=(1,)))
BATCH = 16
HEADERS = ROOT / "translator/cu2port/include"
WAVES = {"gfx942": 64, "gfx1100": 32}
PASSED_ON: dict[str, Callable[[bool], str]] = {
    "by pointer": test_carriers.program,
    "by pointer, several products in a call": partial(test_carriers_again.program, first=False),
    "by pointer, the first one begins with zero": partial(test_carriers_again.program, first=True),
    "structs by reference": partial(structs.program, struct=structs.STRUCT, wrapper=structs.WRAPPER, step=structs.STEP),
    "structs by pointer": partial(
        structs.program,
        struct=structs.STRUCT,
        wrapper=structs.POINTER,
        step=structs.STEP.replace("acc[i][j]", "&acc[i][j]"),
    ),
    "members by pointer": partial(
        structs.program,
        struct=structs.STRUCT,
        wrapper=structs.OF_FLOATS,
        step=structs.STEP.replace("acc[i][j]", "acc[i][j].x"),
    ),
    "C of its own": partial(test_sums_apart.program, modes=1),
    "sums of several types": test_sums_of_several_types.program,
    "sums of f16": partial(test_sums_of_f16.program, modes=1),
    "each sum a parameter": partial(test_sums_by_parameter.program, modes=1),
    "lambdas in lambdas": partial(test_lambdas_in_lambdas.program, modes=1),
    "calls of macros": partial(test_macros_that_multiply.program, modes=1),
    "calls of macros, sums as words": partial(test_macros_that_multiply.program, words=True, modes=1),
}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("emulator", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--only", default="", help="forms or programs with this text in their names")
    parser.add_argument("--kept", action="store_true", help="sums stay in tiles from step to step")
    parser.add_argument("--bits", action="store_true", help="the same, in tiles for sums of several types")
    parser.add_argument("--finite", action="store_true", help="leave out Inf and NaN")
    parser.add_argument("--passed-on", action="store_true", help="programs that pass tiles on to functions")
    parser.add_argument("--part", default="0/1", help="of M parts the Nth, from 0")
    parser.add_argument("--arch", action="append")
    asked = parser.parse_args()
    if asked.passed_on:
        return passed_on(asked)
    part, parts = map(int, asked.part.split("/"))
    every = test_mma.KEPT if asked.kept or asked.bits else test_mma.ALL
    opcodes = [opcode for opcode in every if asked.only in opcode][part::parts]
    bad = 0
    for arch in asked.arch or ("gfx942", "gfx1100"):
        found: Counter[str] = Counter()
        for n in range(0, len(opcodes), BATCH):
            for opcode, why in judged(opcodes[n : n + BATCH], arch, asked):
                found[why.partition(":")[0]] += 1
                if why:
                    print(f"{arch}\t{opcode}\t{why}", flush=True)
        bad += found["wrong"]
        told = ", ".join(f"{count} {what or 'right'}" for what, count in sorted(found.items()))
        print(f"{arch}: {len(opcodes)} forms: {told}", flush=True)
    return 1 if bad else 0


def passed_on(asked: argparse.Namespace) -> int:
    """Runs the programs; 1 where results differ."""
    bad = 0
    for arch in asked.arch or WAVES:
        for name, program in ((n, p) for n, p in PASSED_ON.items() if asked.only in n):
            with tempfile.TemporaryDirectory() as made:
                expected = mma_programs.run_simulated(program(False), mma_programs.DATA, WAVES[arch], Path(made))
            found = [run(program(kept), mma_programs.DATA, arch, asked) for kept in (True, False)]
            told = ["agree" if x == expected else "differ" for x in found]
            bad += told.count("differ")
            print(f"{arch}\t{name}\ttiles {told[0]}, without them {told[1]}", flush=True)
    return 1 if bad else 0


def judged(opcodes: Sequence[str], arch: str, asked: argparse.Namespace) -> list[tuple[str, str]]:
    """Each form with what is wrong, or "". What the emulator does not run is tried in halves."""
    try:
        return emulated(opcodes, arch, asked)
    except RuntimeError as e:
        if len(opcodes) == 1:
            return [(opcodes[0], f"not run: {e}")]
        half = len(opcodes) // 2
        return [x for part in (opcodes[:half], opcodes[half:]) for x in judged(part, arch, asked)]


def emulated(opcodes: Sequence[str], arch: str, asked: argparse.Namespace) -> list[tuple[str, str]]:
    """Compiles and runs forms together. Raises RuntimeError with the last line of what the emulator says."""
    rng = random.Random(",".join(opcodes))
    kept = test_mma.BITS_OF_ALL if asked.bits else asked.kept
    cases = (*CASES, test_mma.Case("plain", steps=5), test_mma.Case("one special")) if kept else CASES
    cases = tuple(case for case in cases if not (asked.finite and "special" in case.kind))
    inputs = [test_mma.inputs_of(opcode, cases, rng) for opcode in opcodes]
    program = test_mma.program(opcodes, cases, kept=kept)
    every = test_mma.results(run(program, test_mma.written(inputs), arch, asked), inputs)
    return [(opcode, wrong(opcode, n, inputs[n], every, cases)) for n, opcode in enumerate(opcodes)]


def run(program: str, data: bytes, arch: str, asked: argparse.Namespace) -> bytes:
    """What a program writes in the emulator. Raises RuntimeError as above."""
    emulator, store = asked.emulator, asked.store
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "mma.hip").write_text(program)
        (folder / "in").write_bytes(data)
        build: list[str | Path] = [
            "sh",
            emulator / "amdemu" / "build.sh",
            arch,
            folder / "mma.hip",
            folder / "mma.so",
            f"-I{HEADERS}",
        ]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        runner = [emulator / "venv/bin/python", ROOT / "tools/emulator_run.py", emulator, store]
        command = [*runner, folder / "mma.so", folder / "in", folder / "out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not (folder / "out").exists():
            raise RuntimeError(((done.stderr or done.stdout).strip() or "no output").splitlines()[-1])
        return (folder / "out").read_bytes()


def wrong(
    opcode: str,
    n: int,
    of_opcode: test_mma.Inputs,
    every: Iterator[list[list[int]]],
    cases: Sequence[test_mma.Case] = CASES,
) -> str:
    """The first element that the manual's sum does not allow."""
    out = ""
    for case, warps in zip(test_mma.usable(opcode, cases), of_opcode, strict=True):
        lanes = next(every)
        for warp in case.here:
            try:
                mine = lanes[32 * warp : 32 * warp + 32]
                test_mma.check(test_mma.chosen(opcode, n), mine, warps[warp], case.steps, case.kind)
            except AssertionError as e:
                out = out or (dropped_clamp(opcode, n, mine, warps[warp], case) or f"wrong: {str(e).splitlines()[0]}")
    return out


def dropped_clamp(opcode: str, n: int, got: list[list[int]], lanes: dict[str, list[list[int]]], case: Any) -> str:
    """Where the result is right but for saturation: gfx942's code has `v_add_i32 ... clamp`, which is not emulated."""
    s = replace(test_mma.chosen(opcode, n), satfinite=False)
    try:
        test_mma.check(s, got, lanes, case.steps, case.kind)
    except AssertionError:
        return ""
    return "without clamp: the emulator drops it of v_add_i32; right otherwise"


if __name__ == "__main__":
    raise SystemExit(main())
