"""A folder that looks like an installation of CUDA and of ROCm, with the stand-ins in place of the compilers."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from cu2port.build.table import table
from cu2port.catalog import load_catalog
from cu2port.core.data import cache_dir, made_once
from cu2port.core.version import __version__
from cu2port.verify.cccl import find_cccl
from cu2port.verify.sim_build import is_cuda_toolkit
from cu2port.verify.sim_compiler import HEADERS, RUNTIME, Toolchain
from cu2port.verify.standin.words import HIPCC, NVCC

CUDA_VERSION = "12.6.20"
CUDA_RELEASE = CUDA_VERSION.rpartition(".")[0]
#: The value of the macro CUDA_VERSION.
CUDA_NUMBER = sum(int(x) * unit for x, unit in zip(CUDA_RELEASE.split("."), (1000, 10), strict=True))
GPU, COMPUTE_CAPABILITY = "cu2port simulated GPU", "8.0"
HIP_VERSION = "7.1.0"
_RUNTIMES = ("amdhip64", "cudadevrt", "hiprtc", "roctx64")
#: Libraries of torch's that a torch for the CPU lacks, and that its extensions are linked with.
TORCH = ("c10_cuda", "torch_cuda", "c10_hip", "torch_hip")
HOSTS = ("g++", "gcc", "c++", "cc", "clang++", "clang")
_MARK = "cu2port-toolkit"
#: Builds and tests ask it whether there is a GPU, and for which compute capability to compile.
_SMI = """#!/bin/sh
fields= header=1 list=
for word; do
    case $word in
    -L|--list-gpus) list=1 ;;
    --query-gpu=*) fields=$(printf %s "${{word#*=}}" | tr , ' ') ;;
    --format=*noheader*) header= ;;
    esac
done
value() {{
    case $1 in
    name|gpu_name) printf '{gpu}' ;;
    compute_cap) printf {compute} ;;
    index|pci.bus) printf %s "$2" ;;
    count) printf %s "${{CU2PORT_SIM_DEVICES:-1}}" ;;
    uuid|gpu_uuid) printf 'GPU-00000000-0000-0000-0000-%012d' "$2" ;;
    *) printf '[N/A]' ;;
    esac
}}
line() {{
    before=
    for field in $fields; do
        printf %s "$before"
        if [ "$1" = header ]; then printf %s "$field"; else value "$field" "$1"; fi
        before=', '
    done
    echo
}}
if [ -z "$list$fields" ]; then
    echo 'NVIDIA-SMI: stand-in of cu2port for the simulator | CUDA Version: {version}'
    exit
fi
if [ -n "$fields" ] && [ -n "$header" ]; then line header; fi
gpu=0
while [ "$gpu" -lt "${{CU2PORT_SIM_DEVICES:-1}}" ]; do
    if [ -n "$list" ]; then echo "GPU $gpu: $(value name "$gpu") (UUID: $(value uuid "$gpu"))"; else line "$gpu"; fi
    gpu=$((gpu + 1))
done
"""

#: Tests run programs by them. Options end where a word names a program; `--check` is what looks into one here.
SANITIZERS = ("compute-sanitizer", "cuda-memcheck")
_SANITIZER = """#!/bin/sh
case $1 in
--version|-V|--help|-h) echo 'stand-in of cu2port: programs run unchecked, by cu2port simulate --check checked'; exit ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    -*) ;;
    *) if [ -f "$1" ] && [ -x "$1" ]; then PATH=.:$PATH; fi
       if command -v "$1" >/dev/null; then exec "$@"; fi ;;
    esac
    shift
done
echo "${{0##*/}}: no program to run" >&2
exit 1
"""


def version_text(mode: str) -> str:
    """What `--version` prints: the lines that CMake, Make and torch look for."""
    if mode == NVCC:
        return (
            f"nvcc: stand-in of cu2port {__version__} for the Cuda compiler driver; it builds for the CPU\n"
            f"Cuda compilation tools, release {CUDA_RELEASE}, V{CUDA_VERSION}"
        )
    return (
        f"HIP version: {HIP_VERSION}\nclang version 20.0.0 (stand-in of cu2port {__version__}; it builds for the CPU)"
    )


def verbose_text(folder: Path) -> str:
    """What builds read from `nvcc -v` and `nvcc -dryrun`: where the toolkit is, and a line that links."""
    libraries = f'"-L{folder}/lib64"'
    return (
        f"#$ TOP={folder}\n#$ PATH={folder}/bin\n#$ NVVMIR_LIBRARY_DIR={folder}/nvvm/libdevice\n"
        f'#$ INCLUDES="-I{folder}/include"\n#$ LIBRARIES= {libraries}\n\n'
        f'#$ {folder}/bin/g++ -o "a.out" "a.o" {libraries} -lcudadevrt -lcudart_static -lrt -lpthread -ldl'
    )


def libraries() -> tuple[str, ...]:
    """Names of CUDA's and ROCm's libraries that a link may name: the rules know them."""
    rows = table()["library"]
    words = {
        *rows,
        *(w for r in rows.values() for w in r.to.split()),
        "amdhip64",
        "cudadevrt",
        "hiprtc",
        "roctx64",
        *TORCH,
    }
    return tuple(sorted(w for w in words if w.replace("-", "").isalnum() or "_" in w))


def path_without() -> str:
    """PATH without the stand-ins, of this installation and of others."""
    parts = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(p for p in parts if not Path(p, _MARK).exists())


def is_toolkit(include: str) -> bool:
    """Whether a folder of includes is a toolkit's, ours or NVIDIA's: compilers get the simulator's headers instead."""
    return Path(include, "..", "bin", _MARK).exists() or is_cuda_toolkit(include)


def lay_out(toolchain: Toolchain) -> Path:
    """The folder, made once for a compiler and a version of cu2port; it stays: built programs need its library."""
    runtime = toolchain.runtime(shared=True)
    made = (__version__, Path(__file__).read_bytes(), find_cccl())
    key = repr((runtime.name, sys.executable, sys.path, made, sorted(_present())))
    folder = cache_dir() / "sim" / f"toolkit-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    return made_once(folder, lambda root: _write(root, folder, runtime))


def _present() -> Iterator[str]:
    path = path_without()
    return (n for n in HOSTS if shutil.which(n, path=path))


def _write(root: Path, folder: Path, runtime: Path) -> None:
    for name in ("bin", "lib64", "include", "nvvm/libdevice", "lib64/cmake/hip", "lib64/cmake/hip-lang"):
        (root / name).mkdir(parents=True)
    (root / "bin" / _MARK).touch()
    (root / "lib").symlink_to("lib64")
    shutil.copy(runtime, root / "lib64" / RUNTIME)
    for name in libraries():
        (root / "lib64" / f"lib{name}.so").symlink_to(RUNTIME)
        (root / "lib64" / f"lib{name}.a").write_text(f"INPUT({folder / 'lib64' / RUNTIME})\n")
    (root / "lib64" / "libcudadevrt.a").write_bytes(b"!<arch>\n")
    _programs(root)
    for name, target in load_catalog().headers.items():
        header = root / "include" / name
        odd = not header.is_relative_to(root) or {"..", "*"} & {*header.parts}
        if target and (HEADERS / target).is_file() and not odd:
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(f"#pragma once\n#include <{target}>\n")
    (root / "include" / "cuda.h").write_text(
        f"#pragma once\n#define CUDA_VERSION {CUDA_NUMBER}\n#include <hip/hip_runtime.h>\n"
    )
    _link_cccl(root / "include")
    shutil.copy(HEADERS / "cudaTypedefs.h", root / "include")
    shutil.copytree(HEADERS / "hip", root / "include" / "hip")
    shutil.copytree(HEADERS / "cu2port_sim", root / "include" / "cu2port_sim")
    (root / "version.json").write_text(f'{{"cuda": {{"name": "CUDA SDK", "version": "{CUDA_VERSION}"}}}}\n')
    (root / "toolchain.cmake").write_text(_toolchain(folder))
    (root / "lib64/cmake/hip/hip-config.cmake").write_text(
        _package(folder, "hip", ("hip::host", "hip::device", "hip::amdhip64"))
    )
    (root / "lib64/cmake/hip/hip-config-version.cmake").write_text(_package_version())
    (root / "lib64/cmake/hip-lang/hip-lang-config.cmake").write_text(
        _package(folder, "hip-lang", ("hip-lang::device",))
    )


def _link_cccl(include: Path) -> None:
    """CCCL's headers where CUDA has them: builds look for `thrust/version.h` and `cuda/std/version`, and read them."""
    folder = find_cccl()
    for header in folder.glob("*/*") if folder else ():
        link = include / header.parent.name / header.name
        if header.parent.name in ("thrust", "cub", "cuda", "nv") and not link.exists():
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(header)


def _programs(root: Path) -> None:
    start = root / "bin" / "standin.py"
    start.write_text(
        f"import sys\nsys.path[:] = {sys.path!r}\n"
        "from cu2port.verify.standin.driver import main\nsys.exit(main(sys.argv[1], sys.argv[2:]))\n"
    )
    for name in (NVCC, HIPCC, *_present()):
        program = root / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -E "${{0%/*}}/standin.py" {name} "$@"\n')
        program.chmod(0o755)
    hip_clang = root / "bin" / "hip-clang++"  # CMake refuses a compiler called hipcc
    hip_clang.write_text(f'#!/bin/sh\nexec "${{0%/*}}/{HIPCC}" "$@"\n')
    hip_clang.chmod(0o755)
    config = root / "bin" / "hipconfig"
    config.write_text(
        '#!/bin/sh\nhere=$(cd "${0%/*}/.." && pwd)\ncase $1 in\n'
        f"--version|-v) printf %s {HIP_VERSION} ;;\n--platform|-P) printf amd ;;\n--compiler|-c) printf clang ;;\n"
        '--hipclangpath|-l) printf %s "$here/bin" ;;\n*) printf %s "$here" ;;\nesac\n'
    )
    config.chmod(0o755)
    smi = root / "bin" / "nvidia-smi"
    smi.write_text(_SMI.format(version=CUDA_RELEASE, gpu=GPU, compute=COMPUTE_CAPABILITY))
    smi.chmod(0o755)
    for name in SANITIZERS:
        tool = root / "bin" / name
        tool.write_text(_SANITIZER.format())
        tool.chmod(0o755)


def _toolchain(folder: Path) -> str:
    """CMake's toolchain file: both compilers are named and identified, since theirs is what CMake would look for."""
    produced = verbose_text(folder).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f"""# Written by cu2port: CUDA and HIP by stand-in compilers that build for the CPU.
set(CMAKE_CUDA_COMPILER "{folder}/bin/nvcc")
set(CMAKE_CUDA_COMPILER_ID NVIDIA)
set(CMAKE_CUDA_COMPILER_ID_RUN 1)
set(CMAKE_CUDA_COMPILER_VERSION {CUDA_VERSION})
set(CMAKE_CUDA_COMPILER_TOOLKIT_VERSION {CUDA_VERSION})
set(CMAKE_CUDA_COMPILER_TOOLKIT_ROOT "{folder}")
set(CMAKE_CUDA_COMPILER_LIBRARY_ROOT "{folder}")
set(CMAKE_CUDA_COMPILER_TOOLKIT_LIBRARY_ROOT "{folder}")
set(CMAKE_CUDA_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CUDA_COMPILER_PRODUCED_OUTPUT "{produced}\\n")
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80)
endif()
set(CUDAToolkit_ROOT "{folder}")
set(CUDA_TOOLKIT_ROOT_DIR "{folder}")
set(CMAKE_HIP_COMPILER "{folder}/bin/hip-clang++")
set(CMAKE_HIP_COMPILER_ID Clang)
set(CMAKE_HIP_COMPILER_ID_RUN 1)
set(CMAKE_HIP_COMPILER_VERSION 20.0.0)
set(CMAKE_HIP_COMPILER_ROCM_ROOT "{folder}")
set(CMAKE_HIP_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_HIP_PLATFORM amd)
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES gfx942)
endif()
list(APPEND CMAKE_PREFIX_PATH "{folder}")
"""


def _package(folder: Path, name: str, targets: tuple[str, ...]) -> str:
    lines = [f"set({name}_FOUND TRUE)", f'set({name}_VERSION "{HIP_VERSION}")']
    for target in targets:
        lines += [
            f"if(NOT TARGET {target})",
            f"  add_library({target} INTERFACE IMPORTED)",
            f'  set_target_properties({target} PROPERTIES INTERFACE_LINK_LIBRARIES "{folder}/lib64/{RUNTIME}")',
            "endif()",
        ]
    return "\n".join(lines) + "\n"


def _package_version() -> str:
    return f'set(PACKAGE_VERSION "{HIP_VERSION}")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n'
