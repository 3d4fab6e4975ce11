"""Scripts of a shell that call nvcc: which are build files, and what their commands become."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.build.convert import convert, facts
from cu2port.build.kinds import calls_nvidia, is_build_file
from cu2port.build.words import Asked

SAID = "echo Cuda compilation tools, release 12.6, V12.6.20"


def ported(text: str) -> str:
    data = text.encode("latin-1")
    asked = Asked("script", archs=("gfx942",), defined=facts("script", data).defines)
    output = convert(data, "build.sh", asked).output
    assert convert(output, "build.sh", asked).output == output
    return output.decode("latin-1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "nvcc a.cu b.cpp -O3 -arch=sm_35 -o x -lcublas\n",
            "hipcc a.cu b.cpp -O3 --offload-arch=gfx942 -o x -lhipblas\n",
        ),
        (  # who reads nvcc's version gets one of CUDA's; who only prints it does not
            'V=`"$CUDA_HOME/bin/nvcc" --version 2>&1 | tail -1`\nif nvcc -V | grep -q 11; then nvcc -V; fi\n',
            f"V=`{SAID} 2>&1 | tail -1`\nif {SAID} | grep -q 11; then hipcc --version; fi\n",
        ),
        (  # the fourth line has it
            "nvcc -O3 a.cu\nV=$(nvcc --version | sed -n '4p')\nW=`nvcc -V 2>&1 | awk 'NR==4 {print $6}'`\n"
            "X=$(nvcc -V | sed 4!d | cut -dV -f2)\nY=$(nvcc -V | sed -n 2p)\n",
            f"hipcc -O3 a.cu\nV=$({SAID} | sed -n '1p')\nW=`{SAID} 2>&1 | awk 'NR==1 {{print $6}}'`\n"
            f"X=$({SAID} | sed 1!d | cut -dV -f2)\nY=$({SAID} | sed -n 2p)\n",
        ),
        (  # a line with a colon is no rule
            "nvcc -DA=b:c -G a.cu\n",
            "hipcc -DA=b:c -g a.cu\n",
        ),
        (  # the value of a variable is in quotes
            'N="$CUDA_HOME/bin/nvcc"\nF="-O3 -Xptxas -v -arch=sm_35"\nfor f in *.cu; do $N $F -c $f; done\n',
            'N="$ROCM_PATH/bin/hipcc"\nF="-O3 --offload-arch=gfx942"\nfor f in *.cu; do $N $F -c $f; done\n',
        ),
        (
            "CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}\n$CUDA_HOME/bin/nvcc -lineinfo a.cu \\\n  -L$CUDA_HOME/lib64\n",
            "CUDA_HOME=${CUDA_HOME:-/opt/rocm}\n$CUDA_HOME/bin/hipcc -gline-tables-only a.cu \\\n  -L$CUDA_HOME/lib\n",
        ),
        (
            "CUDA_DIR='usr/local/cuda-9.1'\n/${CUDA_DIR}/bin/nvcc a.cu -L ${CUDA_DIR}/lib64\n",
            "CUDA_DIR='opt/rocm'\n/${CUDA_DIR}/bin/hipcc a.cu -L ${CUDA_DIR}/lib\n",
        ),
        (
            "# nvcc -G\nnvcc -c a.cu && ./a\ng++ -I/usr/local/cuda/include b.cpp a.o -lcudart\n",
            "# nvcc -G\nhipcc -c a.cu && ./a\ng++ -I/opt/rocm/include -D__HIP_PLATFORM_AMD__ b.cpp a.o -lamdhip64\n",
        ),
        (  # the environment may name another compiler
            'NVCC=${NVCC:-nvcc}\nA="-arch=sm_80 -t0"\n$NVCC $A -Xcompiler -Wall -c a.cu\n: ${C:=nvcc}\n',
            'NVCC=${NVCC:-hipcc}\nA="--offload-arch=gfx942"\n$NVCC $A -Wall -c a.cu\n: ${C:=hipcc}\n',
        ),
    ],
)
def test_commands(before: str, after: str) -> None:
    assert ported(before) == after


def test_other_programs_of_nvidias_are_named() -> None:
    text = "N=$(nvidia-smi -L | wc -l)\n./a.out $N\ncuda-memcheck ./a.out\n"
    result = convert(text.encode(), "run.sh", Asked("script"))
    assert result.output.decode() == text
    assert [j.finding.cuda for j in result.findings] == ["nvidia-smi", "cuda-memcheck"]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("nvcc -O3 a.cu", True),
        ("cd x && /usr/local/cuda/bin/nvcc a.cu", True),
        ("time nvcc $F a.cu", True),
        ("A=1 nvcc a.cu", True),
        ('for f in *.cu; do "$CUDA/bin/nvcc" $f; done', True),
        ("NVCC=nvcc", True),
        ("NVCC=${NVCC:-nvcc}", True),
        (": ${NVCC:=nvcc}", True),
        ("A=${A:-nvcc-12}", False),
        ("export CC='/opt/cuda/bin/nvcc'", True),
        ("nvcc --version | grep release", False),
        ("if nvcc -V; then x; fi", False),
        ("which nvcc", False),
        ("# nvcc a.cu", False),
        ("apt-get install cuda-nvcc-12-4", False),
        ("module load gcc/9 cuda/11.0", True),
        ("module load gcc/9 netcdf # cuda", False),
        ("make CUDA=1", False),
        ("N=$(nvidia-smi -L | wc -l)", True),
        ("A=1 cuda-memcheck ./a.out && x", True),
        ("if command -v nvidia-smi > /dev/null; then x; fi", False),
        ('echo "nvidia-smi -L"', False),
        ("nvidia-smi-like -L", False),
    ],
)
def test_scripts_that_compile_are_build_files(tmp_path: Path, text: str, calls: bool) -> None:
    assert calls_nvidia(f"#!/bin/sh\n{text}\n".encode()) == calls
    script = tmp_path / "a.sh"
    script.write_text(text)
    assert is_build_file(str(script)) == calls


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("compile", "#!/usr/bin/env bash\nnvcc -O3 a.cu\n", True),
        ("linux-gnu", "CXX=g++\nNVX ?= $(CUDA_HOME)/bin/nvcc # or another\n", True),
        ("cluster.conf", "export NVX := nvcc\n", True),
        ("main.2", "# nvcc is CUDA's\nNVX=nvcc\n", True),
        ("compile", "\n# both\nnvcc -O3 a.cu -o a\n", True),
        ("log", "nvcc -O3 a.cu -o a\n", False),
        ("README", "Build it:\nnvcc -O3 a.cu -o a\n", False),
        ("Makevars.win", "CC=x\n", True),
        ("job.slurm", "#!/bin/bash\n#SBATCH -N 1\nnvcc a.cu\n", True),
        ("run.csh", "nvcc a.cu\n", True),
        ("job.sub", "executable = a\n", False),
        ("compile", "#!/usr/bin/env python3\nx = 'nvcc -O3 a.cu'\n", False),
        ("compile", "#!/bin/sh\nwhich nvcc\n", False),
        ("NOTES", "# NVX=nvcc\nuse nvcc = the compiler\n", False),
        ("data.bin", "NVX=nvcc\n", False),
        ("large", "NVX=nvcc\n" + "x" * 70000, False),
    ],
)
def test_a_file_whose_name_says_nothing_is_told_by_its_text(name: str, text: str, is_one: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert is_build_file(str(tmp_path / name)) == is_one


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "NVX=nvcc\nNVXFLAGS= -O3 -arch=sm_70\nL=-lcufft\n",
            "NVX=hipcc\nNVXFLAGS= -O3 --offload-arch=gfx942\nL=-lhipfft\n",
        ),
        ('#!/bin/sh\nF="-G -O3"\nnvcc $F a.cu\n', '#!/bin/sh\nF="-g -O3"\nhipcc $F a.cu\n'),
    ],
)
def test_such_a_file_is_ported_by_what_it_is(before: str, after: str) -> None:
    assert convert(before.encode(), "linux", Asked("bare", archs=("gfx942",))).output.decode() == after
