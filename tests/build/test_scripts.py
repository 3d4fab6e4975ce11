"""Scripts of a shell that call nvcc: which are build files, and what their commands become."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.build.by_text import calls_nvidia
from cu2port.build.convert import convert, facts
from cu2port.build.kinds import is_build_file
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cmake -DCMAKE_CUDA_ARCHITECTURES=80 ..\n", "cmake -DCMAKE_HIP_ARCHITECTURES=gfx942 ..\n"),
        (
            "cmake -D CMAKE_CUDA_ARCHITECTURES:STRING='70;80' \\\n  -DCMAKE_CUDA_HOST_COMPILER=g++ \\\n  -DX=1 ..\n",
            "cmake -D CMAKE_HIP_ARCHITECTURES:STRING='gfx942' \\\n  -DX=1 ..\n",
        ),
        (
            'cmake "-DCMAKE_CUDA_FLAGS=-O3 -lineinfo" -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc ..\n',
            'cmake "-DCMAKE_HIP_FLAGS=-O3 -gline-tables-only" -DCMAKE_HIP_COMPILER=/opt/rocm/lib/llvm/bin/clang++ ..\n',
        ),
        (
            'CMAKE_ARGS="-DCMAKE_CUDA_ARCHITECTURES=80 -DX=1" pip install .\nA=(-DCMAKE_CUDA_ARCHITECTURES=$1)\n',
            'CMAKE_ARGS="-DCMAKE_HIP_ARCHITECTURES=gfx942 -DX=1" pip install .\nA=(-DCMAKE_HIP_ARCHITECTURES=gfx942)\n',
        ),
        (  # what cmake reads from the environment
            'export CUDACXX=nvcc\nCUDAFLAGS="-O3 -lineinfo" cmake ..\n',
            'export HIPCXX=/opt/rocm/lib/llvm/bin/clang++\nHIPFLAGS="-O3 -gline-tables-only" cmake ..\n',
        ),
        ("CUDAFLAGS=-O3 make\n", "CUDAFLAGS=-O3 make\n"),
        (  # what a script says of itself
            'HELP="\n  --time  have nvcc measure\n"\ncmake -DCMAKE_CUDA_FLAGS_DEBUG=-G ..\n',
            'HELP="\n  --time  have hipcc measure\n"\ncmake -DCMAKE_HIP_FLAGS_DEBUG=-g ..\n',
        ),
        (  # a variable that others read is ROCM_PATH there
            "export CUDA_HOME=/usr/local/cuda\nexport PATH=$CUDA_HOME/bin:$PATH\nls ${CUDA_HOME}/lib64\n",
            "export ROCM_PATH=/opt/rocm\nexport PATH=$ROCM_PATH/bin:$PATH\nls ${ROCM_PATH}/lib\n",
        ),
        (
            "CUDA_HOME=/usr/local/cuda\nexport CUDA_HOME\n",
            "ROCM_PATH=/opt/rocm\nexport ROCM_PATH\n",
        ),
        (
            "(cd x\n  CUDA_HOME=/usr/local/cuda-13 python3 setup.py build_ext)\n",
            "(cd x\n  ROCM_PATH=/opt/rocm python3 setup.py build_ext)\n",
        ),
        (
            "g++ -L/usr/local/cuda/lib64/stubs -lcuda a.o\n",
            "g++ -L/opt/rocm/lib -lamdhip64 a.o\n",
        ),
    ],
)
def test_scripts_that_build_in_other_ways(before: str, after: str) -> None:
    assert ported(before) == after


def test_several_gpus_are_one_word() -> None:
    asked = Asked("script", archs=("gfx90a", "gfx942"))
    for before, after in (("80", r"gfx90a\;gfx942"), ('"80;90"', '"gfx90a;gfx942"'), (r"80\;90", r"gfx90a\;gfx942")):
        text = f"cmake -DCMAKE_CUDA_ARCHITECTURES={before} ..\n"
        output = convert(text.encode(), "build.sh", asked).output.decode()
        assert output == f"cmake -DCMAKE_HIP_ARCHITECTURES={after} ..\n"


def test_a_makefile_keeps_the_name_that_it_sets() -> None:
    text = "export CUDA_HOME=/usr/local/cuda\nmake\n"
    asked = Asked("script", defined=frozenset({"CUDA_HOME"}))
    assert convert(text.encode(), "run.sh", asked).output.decode() == text.replace("/usr/local/cuda", "/opt/rocm")


def test_lines_that_no_edit_is_known_for_are_told_once() -> None:
    text = (
        "#!/bin/sh\n# nvcc\nexport NVCC_APPEND_FLAGS=-DX\npip install cupy-cuda12x\ng++ -lcudart a.o\n"
        "echo install cuda-toolkit first\nUCX_TLS=rc,cuda_copy ./a\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n"
    )
    found = convert(text.encode(), "run.sh", Asked("script")).findings
    lines = [text.count("\n", 0, j.finding.start) + 1 for j in found]
    assert sorted(lines) == [3, 4, 5, 7, 8]


def test_a_script_that_knows_hip_is_left_to_it() -> None:
    text = "if hip; then cmake -DCMAKE_HIP_ARCHITECTURES=gfx942 ..; else cmake -DCMAKE_CUDA_ARCHITECTURES=80 ..; fi\n"
    assert convert(text.encode(), "build.sh", Asked("script", archs=("gfx942",))).output.decode() == text


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
def test_scripts_that_call_nvidias_programs(text: str, calls: bool) -> None:
    assert calls_nvidia(f"#!/bin/sh\n{text}\n".encode()) == calls


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("nvcc -O3 a.cu", True),
        ("nvcc --version | grep release", True),
        ("which nvcc && make gpu", True),
        ("if command -v nvidia-smi > /dev/null; then x; fi", True),
        ("cmake -DCMAKE_CUDA_ARCHITECTURES=80 ..", True),
        ("cmake -DCUDA_TOOLKIT_ROOT_DIR=/x ..", True),
        ("g++ -DCUDA_X=1 a.cpp", False),
        ("export CUDA_HOME=/usr/local/cuda", True),
        ("export NVCC_APPEND_FLAGS=-O3", True),
        ("CUDA_LAUNCH_BLOCKING=1 ./a.out", True),
        ("CUDA_VISIBLE_DEVICES=1 ./a.out", False),
        ("g++ a.o -lcudart", True),
        ("docker run --gpus all x", True),
        ("srun -p gpu --gpus=1 bash", False),
        ("pip install torch --index-url https://download.pytorch.org/whl/cu121", True),
        ("apt-get install cuda-nvcc-12-4", True),
        ("ncu ./a.out", True),
        ("# nvcc a.cu", False),
        ('echo "nvidia-smi -L, in /usr/local/cuda"', False),
        ('echo "=== ncu began at $(date) ==="', False),
        ('echo "$(nvcc --version)"', True),
        ("echo nvcc a.cu | sh", True),
        ("module load gcc/9 netcdf # cuda", False),
        ("make CUDA=1", False),
        ("nvidia-smi-like -L", False),
    ],
)
def test_scripts_that_mean_cuda_are_build_files(tmp_path: Path, text: str, is_one: bool) -> None:
    script = tmp_path / "a.sh"
    script.write_text(text + "\n")
    assert is_build_file(str(script)) == is_one


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
