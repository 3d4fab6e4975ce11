"""Whole kernels of real projects that multiply with `mma`: converted, compiled for AMD GPUs, run on the CPU.

    python tools/matrix_kernels.py [--rocm ROOT] [--only NAME] [--keep DIR] FOLDER

FOLDER holds checkouts: marlin, llm-awq, ggml, bitsandbytes. What a kernel needs of one is copied into a
temporary folder beside a program of ours (tools/matrix_kernels/NAME.cu), which calls it and compares with sums in
double. Host functions that need a framework are cut off, headers that bring libraries are replaced by what is used of
them. The folder is converted; `cu2port simulate` runs it on waves of 32 and 64; with `--rocm` `cu2port verify` compiles
it for gfx942 and gfx1100.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OURS = Path(__file__).parent / "matrix_kernels"
GPUS = "gfx942,gfx1100"


@dataclass(frozen=True)
class Source:
    """A file of a project, and what is taken out of it. `cut`: it ends before the line that begins so;
    `without`: lines that match; `changes`: texts replaced by others."""

    path: str
    cut: str = ""
    without: str = ""
    changes: Mapping[str, str] = field(default_factory=dict)

    def text(self, folder: Path) -> str:
        lines = (folder / self.path).read_text(encoding="utf-8").splitlines(keepends=True)
        if self.cut:
            lines = lines[: next(n for n, line in enumerate(lines) if line.startswith(self.cut))]
        if self.without:
            lines = [line for line in lines if not re.search(self.without, line)]
        text = "".join(lines)
        for old, new in self.changes.items():
            if old not in text:
                raise ValueError(f"{self.path} has no `{old}`")
            text = text.replace(old, new)
        return text


@dataclass(frozen=True)
class Program:
    """`name`: of the program in tools/matrix_kernels; `includes`: the source that it includes; `own`: files of ours by
    the name that the project's have."""

    name: str
    project: str
    includes: str
    sources: tuple[Source, ...]
    own: Mapping[str, str] = field(default_factory=dict)


_CSRC = "awq/kernels/csrc/quantization"
PROGRAMS = (
    Program(
        "marlin",
        "marlin",
        "marlin_cuda_kernel.cu",
        # the LDS of gfx942 and gfx1100; it asks for 96 KiB and needs at most 64 without groups
        (Source("marlin/marlin_cuda_kernel.cu", changes={"SHARED_MEM = 96 * 1024": "SHARED_MEM = 64 * 1024"}),),
    ),
    Program(
        "awq",
        "llm-awq",
        "gemm_cuda_gen.cu",
        (
            Source(f"{_CSRC}/gemm_cuda_gen.cu", "torch::Tensor gemm_forward_cuda", r"torch/|CUDAGuard|gemm_cuda\.h"),
            Source(f"{_CSRC}/dequantize.cuh"),
        ),
    ),
    Program(
        "ggml",
        "ggml",
        "mmf.cuh",
        (
            Source("src/ggml-cuda/mma.cuh"),
            Source(
                "src/ggml-cuda/mmf.cuh",
                "//This kernel is for larger batch sizes",
                r"^void ggml_cuda_mul_mat_f|^bool ggml_cuda_should_use_mmf",
            ),
        ),
        {"ggml_common.cuh": "common.cuh", "ggml_convert.cuh": "convert.cuh"},
    ),
    Program(
        "bitsandbytes",
        "bitsandbytes",
        "gemm_4bit_sm80.cu",
        tuple(Source(f"csrc/gemm_4bit_{part}") for part in ("sm80.cu", "sm80.cuh", "common.cuh", "mma.cuh")),
        {"bitsandbytes_compat.cuh": "compat.cuh"},
    ),
)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rocm", type=Path, help="a folder with include/hip in it: compile too")
    parser.add_argument("--only", help="one program")
    parser.add_argument("--keep", type=Path, help="write there, and leave it")
    parser.add_argument("--no-run", action="store_true", help="do not simulate")
    asked = parser.parse_args()
    failed = 0
    for program in PROGRAMS:
        if asked.only not in (None, program.name) or not (asked.folder / program.project).is_dir():
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = (asked.keep or Path(made)) / program.name
            write(program, asked.folder / program.project, folder)
            failed += checked(program.name, folder, asked.rocm, not asked.no_run)
    return 1 if failed else 0


def write(program: Program, project: Path, folder: Path) -> None:
    """The CUDA sources of a program."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in program.sources:
        (folder / Path(source.path).name).write_text(source.text(project), encoding="utf-8")
    for ours, theirs in program.own.items():
        (folder / theirs).write_bytes((OURS / ours).read_bytes())
    text = (OURS / f"{program.name}.cu").read_text(encoding="utf-8")
    (folder / "main.cu").write_text(text.replace("include SOURCE", f'include "{program.includes}"'), encoding="utf-8")


def checked(name: str, folder: Path, rocm: Path | None, run: bool) -> int:
    """How many of the steps fail; what they say is printed."""
    hip = folder.with_name(f"{name}-hip")
    print(f"{name}: {call('convert', folder, '-o', hip)[1].strip().splitlines()[-1]}")
    failed = 0
    if run:
        code, text = call("simulate", hip / "main.cu", "--time-limit", "600")
        failed += code != 0
        print(text.strip())
    if rocm is not None:
        code, text = call("verify", hip / "main.cu", "--arch", GPUS, "--rocm-path", rocm, "--no-build", "-q")
        failed += code != 0
        print(f"{name}: {GPUS} {'compile' if code == 0 else 'do not compile'}\n{text}".strip())
    return failed


def call(*words: object) -> tuple[int, str]:
    """The exit code of a command of cu2port, and what it prints."""
    command = [sys.executable, "-m", "cu2port", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    raise SystemExit(main())
