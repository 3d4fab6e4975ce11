"""Whole kernels of real projects that multiply with `mma`: converted, compiled for AMD GPUs, run on the CPU.

    python tools/matrix_kernels.py [--rocm ROOT] [--only NAME] [--keep DIR] [--write PAGE --commits FILE] FOLDER

FOLDER holds checkouts: marlin, llm-awq, ggml, bitsandbytes, flash-attention (with its submodule csrc/cutlass), fp6_llm,
omniserve, llmq, SageAttention, SpargeAttn, CPM.cu, AutoAWQ_kernels, flash-llm. What a kernel needs is copied into a
temporary folder beside a program of ours (tools/matrix_kernels/NAME.cu), which calls it and compares with sums in
double. Host functions that need a framework are cut off, headers that bring libraries are replaced by what is used of
them. It is converted; `cu2port simulate` runs it on waves of 32 and 64; with `--rocm` `cu2port verify` compiles it for
gfx942 and gfx1100.
One kernel after the other, each step within its time limit; the last lines are a row for each. With `--write` a row of
the page's table is replaced for each kernel that was run. FILE names commits: `name commit` a line.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tables import put_row, row_text

OURS = Path(__file__).parent / "matrix_kernels"
GPUS = ("gfx942", "gfx1100")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


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
    the name that the project's have; `folders`: the project's, where its headers are found: those that the program
    reaches are copied, in their folders, where `sources` stay too; `options`: for `convert`; `program`: the file of
    ours if it is not `name`; `defines`: macros of it; `kernel`: what the page calls it; `uses`: of PTX."""

    name: str
    project: str
    kernel: str
    uses: str
    includes: str
    sources: tuple[Source, ...]
    own: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    program: str = ""
    standard: str = "c++17"
    defines: tuple[str, ...] = ()


_CSRC = "awq/kernels/csrc/quantization"
_QGEMM = "kernels/csrc/qgemm"
SM80 = ("--cuda-arch", "sm_80")
_TORCH = ("ATen/cuda/PhiloxCudaState.h", "c10/cuda/CUDAException.h", "ATen/cuda/detail/UnpackRaw.cuh")
PROGRAMS = (
    Program(
        "marlin",
        "marlin",
        "Marlin",
        "f16 `mma`, `ldmatrix`, `cp.async`",
        "marlin_cuda_kernel.cu",
        # the LDS of gfx942 and gfx1100; it asks for 96 KiB and needs at most 64 without groups
        (Source("marlin/marlin_cuda_kernel.cu", changes={"SHARED_MEM = 96 * 1024": "SHARED_MEM = 64 * 1024"}),),
    ),
    Program(
        "marlin_gptq",
        "CPM.cu",
        "Marlin as vLLM has it, 4 bits, per channel and in groups of 128",
        "f16 `mma`, `ldmatrix`, `cp.async`",
        "marlin_kernel_impl.cuh",
        (),
        {},
        ("src/qgemm/gptq_marlin",),
        SM80,
        program="marlin",
        defines=("GPTQ",),
    ),
    Program(
        "awq",
        "llm-awq",
        "`gemm_forward_4bit_cuda_m128n64k32`",
        "f16 `mma`, `ldmatrix`",
        "gemm_cuda_gen.cu",
        (
            Source(f"{_CSRC}/gemm_cuda_gen.cu", "torch::Tensor gemm_forward_cuda", r"torch/|CUDAGuard|gemm_cuda\.h"),
            Source(f"{_CSRC}/dequantize.cuh"),
        ),
    ),
    Program(
        "autoawq",
        "AutoAWQ_kernels",
        "`gemm_forward_4bit_cuda_m16n128k32` and `m16n64k32`",
        "f16 `mma`, `ldmatrix`",
        "gemm_cuda_gen.cu",
        (
            Source(
                "awq_ext/quantization/gemm_cuda_gen.cu",
                "torch::Tensor grouped_gemm_forward",
                r"torch/|ATen/|CUDAGuard|gemm_cuda\.h",
            ),
            Source("awq_ext/quantization/dequantize.cuh"),
        ),
        options=SM80,
    ),
    Program(
        "ggml",
        "ggml",
        "`mul_mat_f` on `mma.cuh`",
        "f16, bf16 and tf32 `mma`, `ldmatrix`",
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
        "flash_attention",
        "flash-attention",
        "`flash_fwd_kernel`, 64 halves a head, causal and not, through CuTe",
        "f16 `mma`, `ldmatrix`, `movmatrix`, `cp.async`",
        "flash_fwd_launch_template.h",
        (),
        {"flash_attention_c10.h": " ".join(_TORCH)},
        ("csrc/flash_attn/src", "csrc/cutlass/include"),
        (*SM80, "--exclude", "*_ext.hpp"),  # wgmma's tables of 3 MB, which no macro here asks for
        standard="c++20",  # the simulator's copies of constexpr functions
    ),
    Program(
        "fp6_llm",
        "fp6_llm",
        "`QUANT_GEMM_Kernel` and `SplitK_Reduction`",
        "f16 `mma`, `ldmatrix`, `cp.async`, weights of 6 bits",
        "fp6_linear.cu",
        (Source("fp6_llm/csrc/fp6_linear.cu", "template<int EXPONENT, int MANTISSA>"),),
        {},
        ("fp6_llm/csrc",),
        SM80,
    ),
    Program(
        "flash_llm",
        "flash-llm",
        "`SpMM_Kernel` and `SplitK_Reduction`",
        "f16 `mma`, `ldmatrix`, `cp.async`, sparse weights",
        "SpMM_API.cu",
        (Source("csrc/SpMM_API.cu"),),
        {},
        ("csrc",),
        SM80,
    ),
    Program(
        "qserve_w8a8",
        "omniserve",
        "QServe's `dense_kernel0`, W8A8",
        "s8 `mma`, `ldmatrix`, `cp.async`",
        "w8a8_gemm_cuda.cu",
        (Source(f"{_QGEMM}/w8a8/w8a8_gemm_cuda.cu", "void w8a8_gemm_forward_cuda", r"torch/|w8a8_gemm_cuda\.h"),),
        {},
        (f"{_QGEMM}/w8a8",),
        SM80,
        program="qserve",
    ),
    Program(
        "qserve_w4a8",
        "omniserve",
        "QServe's `dense_kernel0`, W4A8 per channel",
        "s8 `mma`, `ldmatrix`, `cp.async`; weights packed as QServe does",
        "gemm_cuda.cu",
        (Source(f"{_QGEMM}/w4a8_per_chn/gemm_cuda.cu", "void gemm_forward_cuda", r"torch/|gemm_cuda\.h"),),
        {},
        (f"{_QGEMM}/w4a8_per_chn",),
        SM80,
        program="qserve",
        defines=("FOUR_BITS",),
    ),
    Program(
        "llmq",
        "llmq",
        "`gemm_mma_tn_kernel` in bf16",
        "bf16 `mma`, `ldmatrix`",
        "gemm_mma.cu",
        # its lanes read a tile in shared memory and store the next one there without a barrier between
        (
            Source(
                "src/kernels/gemm_mma.cu",
                "void gemm_mma_tn(nv_bfloat16* out, const __nv_fp8_e4m3",
                changes={"store_fragment_row_major_sync(acc": "__syncwarp(); store_fragment_row_major_sync(acc"},
            ),
        ),
        {},
        ("src", "src/kernels"),
        SM80,
        standard="c++20",
    ),
    Program(
        "sage_attention",
        "SageAttention",
        "`qk_int_sv_f16_attn_kernel` for sm80, causal and not",
        "s8 and f16 `mma`, `ldmatrix`, `cp.async`",
        "qk_int_sv_f16_cuda_sm80.cu",
        (
            Source("csrc/qattn/qk_int_sv_f16_cuda_sm80.cu", "torch::Tensor ", r"torch/|dispatch_utils"),
            Source("csrc/qattn/attn_utils.cuh", without="torch/"),
            Source("csrc/utils.cuh", without="torch/"),
        ),
        {},
        ("csrc/qattn",),
        SM80,
    ),
    Program(
        "sparge_attention",
        "SpargeAttn",
        "`qk_int_sv_f16_block_sparse_attn_kernel`",
        "s8 and f16 `mma`, `ldmatrix`, `cp.async`",
        "qk_int_sv_f16_cuda_sm80.cuh",
        (),
        {},
        ("csrc/qattn",),
        SM80,
        program="sage_attention",
        defines=("BLOCKS",),
    ),
    Program(
        "bitsandbytes",
        "bitsandbytes",
        "`gemm_4bit_sm80`",
        "f16 `mma`, `ldmatrix`, fp4 and nf4",
        "gemm_4bit_sm80.cu",
        tuple(Source(f"csrc/gemm_4bit_{part}") for part in ("sm80.cu", "sm80.cuh", "common.cuh", "mma.cuh")),
        {"bitsandbytes_compat.cuh": "compat.cuh"},
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a program. `simulated`, `compiled`: in words."""

    program: Program
    seconds: int
    simulated: str
    compiled: str

    def cells(self, commit: str) -> tuple[str, ...]:
        p = self.program
        return (f"{p.project}, {p.kernel}", commit, p.uses, self.simulated, self.compiled)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rocm", type=Path, help="a folder with include/hip in it: compile too")
    parser.add_argument("--only", choices=[p.name for p in PROGRAMS], help="one program")
    parser.add_argument("--keep", type=Path, help="write there, and leave it")
    parser.add_argument("--no-run", action="store_true", help="do not simulate")
    parser.add_argument("--time-limit", type=int, default=3000, metavar="SECONDS", help="of a step (default: 3000)")
    parser.add_argument("--commits", type=Path, help="`name commit` a line")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put rows into the table `matrix-kernels`")
    asked = parser.parse_args()
    commits = dict(line.split()[:2] for line in asked.commits.read_text().splitlines()) if asked.commits else {}
    done: list[Outcome] = []
    missing: list[str] = []
    for program in PROGRAMS:
        if asked.only not in (None, program.name):
            continue
        if not (asked.folder / program.project).is_dir():
            missing.append(program.project)
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = (asked.keep or Path(made)) / program.name
            done.append(checked(program, asked.folder / program.project, folder, asked))
            if asked.write:
                put_row(asked.write, "matrix-kernels", done[-1].cells(commits.get(program.project, "")))
    print()
    for one in done:
        print(f"{one.seconds:5} s {row_text(one.cells(commits.get(one.program.project, '')))}", end="")
    if missing:
        print(f"no checkout of {', '.join(dict.fromkeys(missing))}")
    return 1 if missing or any("**" in one.simulated + one.compiled for one in done) else 0


def write(program: Program, project: Path, folder: Path) -> None:
    """The CUDA sources of a program."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in program.sources:
        to = folder / (source.path if program.folders else Path(source.path).name)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(source.text(project), encoding="utf-8")
    for ours, theirs in program.own.items():
        for name in theirs.split():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((OURS / ours).read_bytes())
    text = "".join(f"#define {name}\n" for name in program.defines)
    text += (OURS / f"{program.program or program.name}.cu").read_text(encoding="utf-8")
    (folder / "main.cu").write_text(text.replace("include SOURCE", f'include "{program.includes}"'), encoding="utf-8")
    copy_reached(project, program.folders, folder)


def copy_reached(project: Path, places: tuple[str, ...], folder: Path) -> None:
    """Copy the headers of a project, found in these folders of it, that the files of a folder reach."""
    known: set[Path] = set()
    todo = [(f, project / f.relative_to(folder)) for f in sorted(folder.rglob("*")) if f.is_file()]
    known.update(home.resolve() for _, home in todo)
    while todo:
        file, home = todo.pop()
        for name in _INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")):
            there = (project / at for at in places)
            found = next((f for f in (home.parent / name, *(at / name for at in there)) if f.is_file()), None)
            if found is None or found.resolve() in known or not found.is_relative_to(project):
                continue
            known.add(found.resolve())
            to = folder / found.relative_to(project)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(found.read_bytes())
            todo.append((to, found))


def checked(program: Program, project: Path, folder: Path, asked: argparse.Namespace) -> Outcome:
    """Converts, runs and compiles a program; what the commands say is printed. What fails is bold in the words."""
    begin = time.monotonic()
    name, hip = program.name, folder.with_name(f"{program.name}-hip")
    simulated = compiled = "not tried"

    def outcome() -> Outcome:
        return Outcome(program, round(time.monotonic() - begin), simulated, compiled)

    try:
        write(program, project, folder)
    except (OSError, ValueError) as e:
        simulated = f"**another version: {e}**"
        return outcome()
    code, text = call(asked.time_limit, "convert", folder, "-o", hip, *program.options)
    print(f"{name}: {text.strip().splitlines()[-1]}", flush=True)
    if code not in (0, 1):
        simulated = f"**not converted: {code}**"
        return outcome()
    where: list[object] = [x for at in (".", *program.folders) for x in ("-I", hip / at)]
    where = ["--std", program.standard, "--time-limit", asked.time_limit, *where]
    if not asked.no_run:
        code, text = call(asked.time_limit, "simulate", hip / "main.cu", *where)
        print(text.strip(), flush=True)
        found = [(int(wrong), int(of)) for wrong, of in re.findall(r"\b(\d+) of (\d+) wrong", text)]
        simulated = f"{sum(w for w, _ in found)} of {sum(of for _, of in found):,} wrong" if found else "did not run"
        if code:
            simulated = f"**{simulated}, exit code {code}**"
    if asked.rocm is not None:
        failing = []
        for gpu in GPUS:
            options = ("--arch", gpu, "--rocm-path", asked.rocm, "--no-build", "-q")
            code, text = call(asked.time_limit, "verify", hip / "main.cu", *options, *where)
            print(f"{name}: {gpu} {'compiles' if code == 0 else 'does not compile'}\n{text}".strip(), flush=True)
            failing += [gpu] if code else []
        compiled = f"**not for {', '.join(failing)}**" if failing else f"for {' and '.join(GPUS)}"
    return outcome()


def call(limit: int, *words: object) -> tuple[int, str]:
    """The exit code of a command of cu2port, and what it prints; 124 if it was stopped with all that it started."""
    command = [sys.executable, "-m", "cu2port", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            return 124, f"{text}\nstopped after {limit} s"
    return process.returncode, text


if __name__ == "__main__":
    raise SystemExit(main())
