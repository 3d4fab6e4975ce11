"""Files of other languages that use CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.build.convert import convert
from cu2port.build.kinds import is_build_file, kind_of
from cu2port.build.languages import LANGUAGES
from cu2port.build.words import Asked
from cu2port.cli import cli
from cu2port.core.model import Outcome

USES = {
    "a.rs": "fn f() {}\n    use cudarc::driver::CudaDevice;\nuse cudarc::nvrtc;\n",
    "b.py": 'import ctypes\nlib = ctypes.CDLL("libcudart.so")\n',
    "c.py": "import numpy\n  import cupy as cp\n",
    "c2.py": 'import subprocess\n  subprocess.check_output(["nvidia-smi", "-q"])\n',
    "c3.py": "import numpy\nfrom pynvml import nvmlInit\n",
    "c4.py": 'cmd = ["nvcc", "--version"]\nc.run("nvcc -o a a.cu")\n',
    "c5.py": 'os.system("which nvcc")\nsubprocess.run(["/usr/local/cuda/bin/nvcc", "-c", src])\n',
    "c6.py": 'import shutil\nif shutil.which("nvcc") is None:\n    pass\n',
    "c7.py": "import numpy\nimport tensorrt as trt\n",
    "c8.py": "import numpy\nfrom cuda.core import Device\n",
    "n.ipynb": '{"source": ["# nvcc\\n",\n"%%writefile a.cu\\n",\n"!nvcc a.cu\\n"]}\n',
    "t.cu.j2": "// cudaFree(p);\n__global__ void {{ name }}(int *p);\n",
    "p.pl": '# system("nvcc a.cu")\nsystem("nvcc a.cu");\n',
    "q.lua": '-- os.execute("nvcc a.cu")\nos.execute("nvcc a.cu")\n',
    "d.pyx": 'x = 1\ncdef extern from "cuda_runtime.h":\n    pass\n',
    "e.jl": "x = 1\nusing CUDA\n",
    "F.java": "package a;\nimport jcuda.runtime.JCuda;\n",
    "extconf.rb": "# have_library('cublas')\nhave_library 'cudart'\nhave_header('cudnn.h')\n",
    "h.rb": 'require_relative "nvcc"\ncmd = "nvcc #{args}"\n',
    "g.cs": 'using System;\n[DllImport("cudart64_12")]\n',
}


def test_every_suffix_of_a_language_is_looked_at() -> None:
    assert {kind_of(f"a{suffix}") for each in LANGUAGES for suffix in each.suffixes} == {
        "binding", "fortran", "go", "python",
    }  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_the_first_line_that_uses_cuda_is_reported_and_the_file_stays(name: str, tmp_path: Path) -> None:
    text = USES[name].encode()
    (tmp_path / name).write_bytes(text)
    assert is_build_file(str(tmp_path / name))
    result = convert(text, name, Asked(kind_of(name)))
    (judged,) = result.findings
    assert result.output == text and judged.outcome is Outcome.MANUAL and judged.finding.code == "CU823"
    line = text.splitlines()[1]
    assert text[judged.finding.start : judged.finding.end] == line.strip()
    assert line.strip().decode() in judged.finding.message


@pytest.mark.parametrize("name", ["a.rs", "b.py", "c.pxd", "d.jl", "E.java", "f.cs", "g.rb", "h.ipynb", "k.pl"])
def test_other_files_of_such_languages_are_no_build_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("import torch\ntorch.cuda.is_available()  # as CUDA and nvidia-smi do\n")
    assert not is_build_file(str(tmp_path / name))


@pytest.mark.parametrize("folder", ["backends/hip/kernels", "hip"])
def test_templates_of_a_hip_backend_are_hips(folder: str) -> None:
    text = USES["t.cu.j2"].encode()
    assert convert(text, f"src/{folder}/k.mako", Asked("binding", folder=folder)).findings == ()
    assert convert(text, "src/cuda/k.mako", Asked("binding", folder="cuda")).findings


def test_what_a_source_includes_is_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is named, and it is counted once."""
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/a.cu").write_text('#include "k.icc"\n#include "k.def"\n')
    Path("src/k.def").write_text("X(cudaFree)\n")
    Path("src/k.icc").write_text("void f(int *p) { cudaFree(p); }\n")
    assert CliRunner().invoke(cli, ["convert", "src", "-o", "out"]).exit_code == 0
    assert "hipFree(p)" in Path("out/k.icc").read_text() and "hipFree" in Path("out/k.def").read_text()
    audited = CliRunner().invoke(cli, ["audit", "src"])
    assert "3 CUDA files" in audited.output and "other languages" not in audited.output


def test_convert_names_them_and_copies_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    for name, text in USES.items():
        Path("src", name).write_text(text)
    done = CliRunner().invoke(cli, ["convert", "src", "-o", "out"])
    assert done.exit_code == 1
    for name, text in USES.items():
        assert Path("out", name).read_text() == text
        assert f"src/{name}:2:" in done.output
    assert done.output.count(": CU823 ") == len(USES)
