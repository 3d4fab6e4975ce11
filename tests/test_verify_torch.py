"""`verify` of torch extensions: what setup.py asks for, torch's headers converted, and what is said without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.project.tree import CannotRun
from cu2port.verify import build, extensions, record_setup, torch_headers
from cu2port.verify.rocm_root import RocmRoot
from cu2port.verify.running import Runner
from cu2port.verify.torch_headers import Torch
from cu2port.verify.units import CXX, HIP, Tree, Unit

SETUP = """import os
import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, ROCM_HOME, BuildExtension, CUDAExtension
assert torch.cuda.is_available() and torch.version.hip and torch.__version__ >= (2, 1)
assert not os.path.exists(os.path.join(torch.__path__[0], 'include', 'ATen', 'CUDAGeneratorImpl.h'))
device = torch.version.hip is not None and ROCM_HOME is not None
here = os.path.dirname(os.path.abspath(__file__))
open('made_by_setup', 'w').write('x')
setup(
    name='sums',
    ext_modules=[CUDAExtension(
        'sums._C', ['csrc/bind.cpp', 'csrc/sum.cu'],
        include_dirs=[os.path.join(here, 'csrc')],
        define_macros=[('WITH_HIP' if device else 'WITH_CUDA', None), ('LANES', '4')],
        undef_macros=['__HIP_NO_HALF_CONVERSIONS__'],
        extra_compile_args={'cxx': ['-O2'], 'nvcc': ['-O3']},
    )],
    cmdclass={'build_ext': BuildExtension.with_options(use_ninja=False)},
)
"""
HEADERS = {
    "torch/version.py": "__version__ = '2.15.0+cu132'\n",
    "torch/include/ATen/core/Tensor.h": "#pragma once\nstruct Tensor { float* p; int n; };\n",
    "torch/include/ATen/cuda/Stream.h": """#pragma once
#include <cuda_runtime_api.h>
inline cudaStream_t stream() { return nullptr; }
""",
    "torch/include/ATen/native/cuda/Root.cuh": "#pragma once\n__device__ float root(float);\n",
    "torch/include/ATen/Own.h": """#pragma once
#if defined(USE_ROCM)
#include <ATen/native/hip/Root.cuh>
using stream_t = void*;
#else
#include <cuda_runtime_api.h>
using stream_t = cudaStream_t;
#endif
""",
    "torch/include/torch/csrc/api/include/torch/extension.h": "#pragma once\n#include <ATen/core/Tensor.h>\n",
}
PROJECT = {
    "setup.py": SETUP,
    "CMakeLists.txt": "find_package(Torch REQUIRED)\n",
    "csrc/sum.h": "#pragma once\n#include <torch/extension.h>\nvoid sum(Tensor t);\n",
    "csrc/bind.cpp": '#include "sum.h"\nvoid TORCH_EXTENSION_NAME() { sum(Tensor{}); }\n',
    "csrc/sum.cu": """#include <sum.h>
#include <ATen/cuda/Stream.h>
#include <cuda_runtime.h>
__global__ void add(float* p, int n) { for (int i = threadIdx.x; i < n; i += LANES) p[0] += p[i]; }
void sum(Tensor t) {
  cudaStream_t s = stream();
  add<<<1, LANES, 0, s>>>(t.p, t.n);
}
""",
}


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _recorded(folder: Path, result: Path, script: str = "setup.py") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(record_setup.__file__), script, "/rocm", "2.15.0+cu132", str(result)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_extensions_come_first_where_a_tree_can_be_linked_too(tmp_path: Path) -> None:
    root = _write(tmp_path / "t", PROJECT)
    assert build.kind(Tree(root, root, "t")) == "setup.py"
    (root / "setup.py").write_text("from setuptools import setup\nsetup()\n")
    assert build.kind(Tree(root, root, "t")) == "cmake"


def test_a_setup_py_below_the_top_counts_where_the_top_builds_nothing(tmp_path: Path) -> None:
    root = tmp_path / "t"
    _write(root / "ops" / "sums", PROJECT)
    _write(root / ".venv" / "sums", PROJECT)
    (root / "more").mkdir()
    (root / "more" / "setup.py").symlink_to(root / "ops" / "sums" / "setup.py")
    assert extensions.scripts(root) == [Path("ops/sums/setup.py")]
    assert build.kind(Tree(root, root, "t")) == "setup.py"
    (root / "Makefile").write_text("all:\n")
    assert build.kind(Tree(root, root, "t")) == "make"


def test_a_setup_py_of_another_name_counts_where_none_has_its_own(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    root = _write(tmp_path / "t", {k: v for k, v in PROJECT.items() if k.startswith("csrc/")})
    (root / "setup_cuda.py").write_text(SETUP)
    (root / "setup_env.py").write_text("import os\n")
    assert extensions.scripts(root) == [Path("setup_cuda.py")]
    ended = _recorded(root, tmp_path / "r.json", "setup_cuda.py")
    assert ended.returncode == 0, ended.stderr
    assert [e["name"] for e in json.loads((tmp_path / "r.json").read_text())] == ["sums._C"]


def test_a_setup_py_may_make_its_own_kind_of_wheel(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    own = "from wheel.bdist_wheel import bdist_wheel\nclass Own(bdist_wheel):\n    pass\n"
    root = _write(tmp_path / "t", {**PROJECT, "setup.py": own + SETUP})
    ended = _recorded(root, tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr


def test_a_setup_py_asks_torch_for_its_gpu(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    asks = (
        "import torch\nassert torch.has_cuda and torch.backends.cuda.is_built()\n"
        "here = torch.device('cuda', torch.cuda.current_device())\n"
        "assert torch.cuda.get_device_properties(here).major == torch.cuda.get_device_capability(here)[0]\n"
    )
    root = _write(tmp_path / "t", {**PROJECT, "setup.py": asks + SETUP})
    ended = _recorded(root, tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr


def test_a_setup_py_takes_options_out_of_torch_s_own(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    first = (
        "import torch\nimport torch.utils.cpp_extension as ext\nassert 'rocm' in torch.__version__\n"
        "assert not ext.COMMON_NVCC_FLAGS\next.COMMON_HIPCC_FLAGS.remove('-D__HIP_NO_HALF_OPERATORS__=1')\n"
    )
    root = _write(tmp_path / "t", {**PROJECT, "setup.py": first + SETUP})
    ended = _recorded(root, tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr
    (found,) = json.loads((tmp_path / "r.json").read_text())
    _, device = extensions.units(found, Tree(root, root, "t"), root, Path(), Torch((), "2.15.0"), tmp_path)
    assert "-D__HIP_NO_HALF_CONVERSIONS__=1" in device.flags
    assert "-D__HIP_NO_HALF_OPERATORS__=1" not in device.flags


def test_a_setup_py_computes_with_torch_and_names_its_other_tools(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    first = (
        "import torch\nfrom torch.utils.cpp_extension import load, is_ninja_available\n"
        "is_ninja_available() and torch.matmul(torch.ones(2, 2), torch.randn(2, 2))\n"
    )
    ended = _recorded(_write(tmp_path / "t", {**PROJECT, "setup.py": first + SETUP}), tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr


def test_each_setup_py_below_the_top_is_asked_with_the_arguments_given(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    wanted = "import sys\nif '--device' not in sys.argv:\n    raise SystemExit('give --device')\n"
    root = tmp_path / "t"
    _write(root / "a", {**PROJECT, "setup.py": SETUP})
    _write(root / "b", {**PROJECT, "setup.py": wanted + SETUP})
    (root / "c").mkdir()
    (root / "c" / "setup.py").write_text("import absent_tool\n" + SETUP)
    tree, torch = Tree(root, root, "t"), str(_write(tmp_path / "wheel", HEADERS))
    for args, count in (((), 2), (("--device",), 4)):
        work = tmp_path / f"work{count}"
        work.mkdir()
        with Runner(60, str(work)) as runner:
            built = extensions.units_of(tree, work, RocmRoot(tmp_path / "rocm", links=False), runner, torch, args)
        assert len(built.units) == count
        folders = {unit.folder for unit in built.units}
        assert folders == ({str(root / "a"), str(root / "b")} if args else {str(root / "a")})
        assert str(root / "a" / "csrc" / "sum.cu") in {unit.path for unit in built.units}
        assert f"{count // 2} extensions" in built.notes[0]
        assert "c/setup.py does not run: ModuleNotFoundError: No module named 'absent_tool'" in built.notes
        assert ("b/setup.py does not run: give --device" in built.notes) == (not args)


def test_a_setup_py_says_its_extensions(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    root = _write(tmp_path / "t", PROJECT)
    ended = _recorded(root, tmp_path / "r.json")
    assert ended.returncode == 0, ended.stderr
    (found,) = json.loads((tmp_path / "r.json").read_text())
    assert found["sources"] == ["csrc/bind.cpp", "csrc/sum.cu"]
    assert found["defines"] == [["WITH_HIP", None], ["LANES", "4"]]
    tree = Tree(root, root, "t")
    torch = Torch((tmp_path / "ported", tmp_path / "include"), "2.15.0+cu132")
    bind, device = extensions.units(found, tree, root, Path(), torch, tmp_path / "rocm")
    assert (bind.language, device.language) == (CXX, HIP)
    assert bind.path == str(root / "csrc" / "bind.cpp")
    assert f"-I{root / 'csrc'}" in bind.flags
    assert {"-DWITH_HIP", "-DLANES=4", "-DTORCH_EXTENSION_NAME=_C", "-DUSE_ROCM=1", "-std=c++20"} <= set(bind.flags)
    assert "-O2" in bind.flags and "-O3" not in bind.flags
    assert "-DNDEBUG" in bind.flags and "-DNDEBUG" not in device.flags
    assert "-O3" in device.flags and "-O2" not in device.flags
    no = device.flags.index("-D__HIP_NO_HALF_CONVERSIONS__=1")
    assert device.flags.index("-U__HIP_NO_HALF_CONVERSIONS__") > no
    assert f"-I{tmp_path / 'rocm'}" in bind.flags
    older = extensions.units(found, tree, root, Path(), Torch((), "2.4.1"), tmp_path)
    assert "-std=c++17" in older[0].flags


def test_what_cython_makes_cpp_of_is_no_unit(tmp_path: Path) -> None:
    asked = {"name": "_C", "sources": ["a.cpp", "fast.pyx"], "include_dirs": [], "defines": [], "undefines": []}
    tree = Tree(tmp_path, tmp_path, "t")
    found = extensions.units(
        {**asked, "args": [], "device": False}, tree, tmp_path, Path(), Torch((), "2.15.0"), tmp_path
    )
    assert [Path(unit.path).name for unit in found] == ["a.cpp"]


def test_headers_for_cuda_are_converted_and_those_that_know_hip_stay(tmp_path: Path) -> None:
    include = _write(tmp_path, HEADERS) / "torch" / "include"
    assert [p.as_posix() for p in torch_headers.wanted(include)] == ["ATen/cuda/Stream.h", "ATen/native/cuda/Root.cuh"]


def test_torch_s_headers_come_from_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    wheel = tmp_path / "torch-2.15.0-cp311-cp311-linux.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, text in HEADERS.items():
            packed.writestr(name, text)
    found = torch_headers.find(str(wheel))
    assert found.version == "2.15.0+cu132"
    assert "hipStream_t" in (found.folders[0] / "ATen/cuda/Stream.h").read_text()
    assert "#include <ATen/native/cuda/Root.cuh>" in (found.folders[0] / "ATen/native/hip/Root.cuh").read_text()
    assert not (found.folders[0] / "ATen/Own.h").exists()
    assert (found.folders[1] / "ATen/Own.h").exists()
    assert torch_headers.find(str(wheel)) == found


def test_code_for_rocm_in_headers_names_the_folder_of_hip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    own = "#if defined(USE_ROCM)\n#include <device_functions.h>\n#endif\n"
    _write(tmp_path, {**HEADERS, "torch/include/ATen/native/cuda/Own.cuh": own})
    found = torch_headers.find(str(tmp_path))
    text = (found.folders[0] / "ATen/native/cuda/Own.cuh").read_text()
    assert "#include <hip/device_functions.h>" in text


def test_a_machine_without_torch_is_told_what_to_get(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_headers.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]  # the module's own
    with pytest.raises(CannotRun, match=r"pip download --no-deps torch, and give the wheel with --torch"):
        torch_headers.find("")
    with pytest.raises(CannotRun, match=r"there are no headers of torch in it"):
        torch_headers.find(str(tmp_path))
    (tmp_path / "torch.whl").write_text("no archive")
    with pytest.raises(CannotRun, match=r"--torch .*torch\.whl: File is not a zip file"):
        torch_headers.find(str(tmp_path / "torch.whl"))


def test_a_unit_that_no_build_names_is_compiled_as_torch_loads_it(tmp_path: Path) -> None:
    torch = Torch((tmp_path / "ported", tmp_path / "include"), "2.15.0+cu132")
    host = extensions.alone(Unit("/t/bind.cpp", CXX), torch, tmp_path / "rocm")
    device = extensions.alone(Unit("/t/sum.cu", HIP, ("-std=c++23",)), torch, tmp_path / "rocm")
    assert {f"-I{tmp_path / 'ported'}", "-DTORCH_EXTENSION_NAME=bind", "-DUSE_ROCM=1", "-std=c++20"} <= set(host)
    assert "-DNDEBUG" in host and "-D__HIP_NO_HALF_OPERATORS__=1" not in host
    assert "-D__HIP_NO_HALF_OPERATORS__=1" in device and not any(w.startswith("-std=") for w in device)


@pytest.mark.parametrize("asked", [True, False])
def test_headers_of_torch_are_those_below_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(torch_headers, "_installed", lambda: None)
    wheel = str(_write(tmp_path / "wheel", HEADERS)) if asked else ""
    assert torch_headers.asked_for("torches/all.h", wheel) is None
    for header in ("torch/extension.h", "ATen/ATen.h", "c10/cuda/CUDAStream.h"):
        found = torch_headers.asked_for(header, wheel)
        assert (found.version if found else "") == ("2.15.0+cu132" if asked else "")


@pytest.mark.slow
def test_sources_that_torch_loads_compile(tmp_path: Path) -> None:
    source = {k: v for k, v in PROJECT.items() if k.startswith("csrc/")}
    source["csrc/sum.cu"] = source["csrc/sum.cu"].replace("LANES", "4").replace("<sum.h>", '"sum.h"')
    loads = "from torch.utils.cpp_extension import load\nload('x', ['csrc/bind.cpp', 'csrc/sum.cu'])\n"
    root, torch = _write(tmp_path / "sums", {**source, "ops.py": loads}), _write(tmp_path / "wheel", HEADERS)
    out = tmp_path / "hip"
    run = CliRunner().invoke(cli, ["convert", str(root), "-o", str(out)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(cli, ["verify", str(out), "--arch", "gfx942", "--torch", str(torch)])
    if "no compiler for AMD GPUs" in run.output or "no HIP headers" in run.output:
        pytest.skip(run.output)
    assert run.exit_code == 0, run.output
    assert "units           2        2 compiles" in run.output


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="builds are asked on POSIX alone")
def test_a_converted_extension_compiles(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    source, torch = _write(tmp_path / "sums", PROJECT), _write(tmp_path / "wheel", HEADERS)
    out = tmp_path / "hip"
    run = CliRunner().invoke(cli, ["convert", str(source), "-o", str(out)])
    assert run.exit_code == 0, run.output
    words = ["verify", str(out), "--arch", "gfx942,gfx1100", "--torch", str(torch)]
    run = CliRunner().invoke(cli, words)
    if "no compiler for AMD GPUs" in run.output or "no HIP headers" in run.output:
        pytest.skip(run.output)
    assert run.exit_code == 0, run.output
    assert "1 extensions, 1 units in HIP, 1 in C++" in run.output
    assert not (out / "made_by_setup").exists()
    (out / "setup.py").write_text("import absent_tool\n" + SETUP)
    run = CliRunner().invoke(cli, words)
    assert run.exit_code == 2
    assert "setup.py does not run: ModuleNotFoundError: No module named 'absent_tool'" in run.output
