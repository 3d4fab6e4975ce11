"""How many instructions real kernels take for their products on an AMD GPU, of those that multiply with `mma`.

    python tools/matrix_kernels.py --keep KEPT --no-run FOLDER
    python tools/matrix_counts.py --rocm ROOT [--gpu gfx942] [--threads 256] [--write docs/ptx.md] KEPT NAME...

KEPT holds what the first command converted. Each program is compiled with -O3 for blocks of that many threads. Of all
its kernels together: instructions in blocks with matrix instructions, exchanges between lanes (`ds_bpermute`) there and
in all, accesses to scratch memory in those blocks, and bytes. What a block holds beside its products counts too.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from matrix_kernels import PROGRAMS, Program
from mma_cost import kind, with_matrix
from tables import put_row, row_text

_NAME = re.compile(r"^\s+([a-z]\w*)", re.M)
_BYTES = re.compile(r"codeLenInByte = (\d+)")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path)
    parser.add_argument("names", nargs="+", choices=[p.name for p in PROGRAMS], metavar="NAME")
    parser.add_argument("--rocm", type=Path, required=True, help="a folder with include/hip in it")
    parser.add_argument("--gpu", default="gfx942")
    parser.add_argument("--threads", type=int, default=256, help="of a block, at most (default: 256)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put rows into the table `matrix-counts`")
    asked = parser.parse_args()
    for program in (p for p in PROGRAMS if p.name in asked.names):
        hip = asked.kept / f"{program.name}-hip"
        cells = counted(program, assembly(program, hip, asked.rocm, asked.gpu, asked.threads))
        print(row_text(cells), end="", flush=True)
        if asked.write:
            put_row(asked.write, "matrix-counts", cells)
    return 0


def assembly(program: Program, hip: Path, rocm: Path, gpu: str, threads: int) -> str:
    """The code of a converted program for a GPU."""
    compiler = next((c for c in ("clang++-22", "clang++") if shutil.which(c)), "clang++")
    command = [compiler, "-x", "hip", f"--offload-arch={gpu}", "--cuda-device-only", "-O3", "-w", "-S", "-o", "-"]
    command += ["-nogpulib", f"--rocm-path={rocm}", f"--gpu-max-threads-per-block={threads}"]
    command += [f"-std={program.standard}", str(hip / "main.cu")]
    command += [f"-I{place}" for place in (rocm / "include", *(hip / at for at in (".", *program.folders)))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program.name}, {gpu}: {done.stderr[:2000]}")
    return done.stdout


def counted(program: Program, text: str) -> tuple[str, ...]:
    """A row: of the kernels of a program."""
    found: Counter[str] = Counter()
    for part in re.split(r"^(?=_Z\w+:)", text, flags=re.M)[1:]:
        size = _BYTES.search(part)
        code = part[: part.rfind("s_endpgm")]
        names = Counter(_NAME.findall(code))
        if size is None or not any(kind(name) == "matrix" for name in names):
            continue
        inside = _NAME.findall(with_matrix(code))
        found["kernels"] += 1
        found["all exchanges"] += names["ds_bpermute_b32"]
        found["bytes"] += int(size[1])
        found["exchanges"] += inside.count("ds_bpermute_b32")
        found["scratch"] += sum(name.startswith(("scratch_", "buffer_")) for name in inside)
        found.update(kind(name) for name in inside)
    cells = ("kernels", "matrix", "exchanges", "vector", "scratch", "all exchanges", "bytes")
    return (f"{program.project}, {program.kernel}", *(f"{found[c]:,}" for c in cells))


if __name__ == "__main__":
    raise SystemExit(main())
