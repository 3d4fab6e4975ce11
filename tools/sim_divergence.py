"""How often the simulator's active masks agree with those that gfx942 machine code gave.

    python tools/sim_divergence.py FACTS [--keep DIR]

FACTS holds `kernels.h`, `categories.txt`, `inputs.bin` and `gfx942_masks.bin`: generated divergent kernels, and what
each lane of one wave64 computed on the machine. Prints agreement by kind and the kernels that differ.

Exit: 0 when at least 99 % agree outside the kinds `opbreak` and `opreturn`; 1 when fewer do; 2 could not run.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import click

from cu2port.verify.instrument import instrument
from cu2port.verify.reach import reached, read
from cu2port.verify.sim_compiler import Toolchain, find_toolchain

LANES = 64
PRELUDE = """
#include <hip/hip_runtime.h>
typedef unsigned long long u64;
static inline u64 mix(u64 h, u64 id, u64 m) {
    h ^= m + id * 0x9E3779B97F4A7C15ull;
    h *= 0xff51afd7ed558ccdull;
    return h ^ (h >> 29);
}
#define DEV __device__
#define KERNEL(n) extern "C" __global__ void n(u64* out, const unsigned* in)
#define PRO unsigned v = in[threadIdx.x]; u64 h = 1;
#define RET do { out[threadIdx.x] = h; return; } while (0)
#define LOG(id) h = mix(h, id, __ballot(1));
#define LOOP(i) {
#define ENDLOOP }
#define TICK(i)
#define LEAVE1
#define LEAVEALL
#define CALL(i, e) h = e;
"""
LOOSE = frozenset({"opbreak", "opreturn"})


def build(facts: Path, count: int, folder: Path, toolchain: Toolchain) -> Path:
    """Compile all kernels and a main that runs each on both inputs and writes what the lanes computed."""
    source = PRELUDE + (facts / "kernels.h").read_text()
    unit = read(source, "kernels.hip")
    table = ",".join(f"k{i}" for i in range(count))
    main = f"""
#include <cstdio>
int main(int argc, char** argv) {{
    static unsigned in[128];
    static u64 out[64];
    void (*all[])(u64*, const unsigned*) = {{{table}}};
    FILE* f = fopen(argv[1], "rb");
    if (fread(in, 4, 128, f) != 128) return 2;
    f = fopen(argv[2], "wb");
    for (auto k : all)
        for (int i = 0; i < 2; ++i) {{
            hipLaunchKernelGGL(k, 1, 64, 0, 0, out, in + 64 * i);
            fwrite(out, 8, 64, f);
        }}
    fclose(f);
}}
"""
    copy = folder / "kernels.cpp"
    copy.write_text(instrument(unit, reached([unit])) + main)
    binary = folder / "kernels"
    command = [
        *toolchain.command,
        *toolchain.flags(LANES),
        "-O1",
        str(copy),
        str(toolchain.runtime()),
        "-o",
        str(binary),
    ]
    subprocess.run(command, check=True)
    return binary


@click.command(help=__doc__)
@click.argument("facts", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Folder for the copy and the binary.")
def main(facts: Path, keep: Path | None) -> None:
    kinds = (facts / "categories.txt").read_text().split()
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        binary = build(facts, len(kinds), folder, find_toolchain())
        got_file = folder / "got.bin"
        subprocess.run([str(binary), str(facts / "inputs.bin"), str(got_file)], check=True)
        got = got_file.read_bytes()
    want = (facts / "gfx942_masks.bin").read_bytes()
    size = 2 * LANES * 8
    agree: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    for n, kind in enumerate(kinds):
        a, b = got[n * size : (n + 1) * size], want[n * size : (n + 1) * size]
        if a == b:
            agree[kind] += 1
        else:
            lanes = sum(x != y for x, y in zip(struct.iter_unpack("Q", a), struct.iter_unpack("Q", b), strict=True))
            wrong.setdefault(kind, []).append(f"k{n} ({lanes} of {2 * LANES} lanes)")
    totals = Counter(kinds)
    for kind in dict.fromkeys(kinds):
        print(f"{kind:<12} {agree[kind]:>4} of {totals[kind]}  {' '.join(wrong.get(kind, [])[:6])}")
    strict = [k for k in totals if k not in LOOSE]
    hit, all_ = sum(agree[k] for k in strict), sum(totals[k] for k in strict)
    print(f"outside {', '.join(sorted(LOOSE))}: {hit} of {all_} ({100 * hit / all_:.1f} %)")
    raise SystemExit(0 if hit >= 0.99 * all_ else 1)


if __name__ == "__main__":
    main()
