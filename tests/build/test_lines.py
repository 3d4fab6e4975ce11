"""pyproject.toml of scikit-build-core, and the build files whose lines are reported."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.build.convert import convert
from cu2port.build.kinds import is_build_file
from cu2port.build.lines import anywhere, spoken
from cu2port.build.words import Asked
from cu2port.cli import cli
from cu2port.core.model import Outcome, Result


def port(text: str, archs: tuple[str, ...] = ()) -> Result:
    return convert(text.encode("latin-1"), "pyproject.toml", Asked("pyproject", archs=archs))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('cmake.args = ["-DCMAKE_CUDA_ARCHITECTURES=80"]', 'cmake.args = ["-DCMAKE_HIP_ARCHITECTURES=gfx942"]'),
        ('cmake.define.CMAKE_CUDA_STANDARD = "14"', 'cmake.define.CMAKE_HIP_STANDARD = "17"'),
        (
            "[tool.scikit-build.cmake.define]\nCMAKE_CUDA_FLAGS = '-G -Xcompiler -fPIC'",
            "[tool.scikit-build.cmake.define]\nCMAKE_HIP_FLAGS = '-g -fPIC'",
        ),
        (
            '[[tool.scikit-build.overrides]]\ncmake.define = { "CMAKE_CUDA_FLAGS" = "-O3", USE_CUDA = "ON" }',
            '[[tool.scikit-build.overrides]]\ncmake.define = { "CMAKE_HIP_FLAGS" = "-O3", USE_CUDA = "ON" }',
        ),
        ('# CMAKE_CUDA_FLAGS = "-G"', '# CMAKE_CUDA_FLAGS = "-G"'),
        ('[tool.other]\nCMAKE_CUDA_FLAGS = "-G"', '[tool.other]\nCMAKE_CUDA_FLAGS = "-G"'),
    ],
)
def test_variables_of_scikit_build_core(before: str, after: str) -> None:
    head = "[tool.scikit-build]\n"
    result = port(head + before, ("gfx942",))
    assert result.output.decode() == head + after
    tomllib.loads(result.output.decode())
    assert port(result.output.decode(), ("gfx942",)).output == result.output


def test_what_is_not_sure_is_reported() -> None:
    text = (
        '[project]\ndependencies = ["cupy-cuda12x"]\n[tool.scikit-build.cmake.define]\nCUDA_NVCC_EXECUTABLE = "nvcc"\n'
    )
    result = port(text)
    assert result.output == text.encode()
    assert [(j.finding.code, j.outcome) for j in result.findings] == [
        ("CU817", Outcome.MANUAL),
        ("CU804", Outcome.MANUAL),
    ]


PIECES = st.sampled_from(
    [
        *(
            "[tool.scikit-build]",
            "[[tool.scikit-build.overrides]]",
            "[x]",
            "\n",
            "\n",
            " = ",
            '"',
            "'",
            "#",
            "[",
            "]",
            ", ",
        ),
        *(
            "CMAKE_CUDA_FLAGS",
            "CMAKE_CUDA_ARCHITECTURES",
            "-DCMAKE_CUDA_STANDARD=14",
            "-G",
            "-Xcompiler -fPIC",
            "80",
            "=",
        ),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=16).map("".join))
def test_texts_change_once(text: str) -> None:
    once = port(text)
    if not any(j.outcome is Outcome.CONFLICT for j in once.findings):
        assert port(once.output.decode("latin-1")).output == once.output


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("bin2c -c k.fatbin", "CU818"),
        ("xxd -i k.ptx > k.h", "CU818"),
        ("objcopy -I binary k.cubin k.o", "CU818"),
        ("configure_file(k.cu.in k.cu)", "CU818"),
        ("file(READ k.cu text)", "CU818"),
        ("nvcc -fatbin k.cu", "CU818"),
        ("nvcc --cubin k.cu", "CU818"),
        ("-ptx", "CU818"),
        ("add_definitions(-DMY_WARPSIZE=64)", "CU819"),
        ("add_definitions(-D__CUDACC__)", "CU819"),
        ("module load gcc/9 cuda/11.0", "CU817"),
        ("CUDA_LAUNCH_BLOCKING=1 ./a.out", "CU817"),
        ('set_tests_properties(t PROPERTIES ENVIRONMENT "CUDA_DEVICE_MAX_CONNECTIONS=1")', "CU817"),
        ("export NVCC_APPEND_FLAGS", "CU817"),
        ("gcc `pkg-config --cflags cuda-12.2` a.c", "CU817"),
        ("add_definitions(-D__CUDA_ARCH__=700)", "CU819"),
        ("if test -e /dev/nvidia0; then", "CU817"),
    ],
)
def test_lines_of_any_build_file_are_watched(line: str, code: str) -> None:
    text = f"# {line}\n{line}\n"
    (found,) = anywhere(text)
    assert (found.code, found.start, found.end) == (code, len(line) + 3, len(text) - 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS b", "rocm/dev-ubuntu-22.04 with a tag that has the libraries"),
        ("FROM nvidia/cuda:11.0-devel-ubuntu18.04", "rocm/dev-ubuntu-22.04 with a tag such as :7.1-complete"),
        ("FROM nvidia/cuda:12.4.1-runtime-ubuntu24.04", "rocm/dev-ubuntu-24.04 with a tag of ROCm's version"),
        ("project('x', ['cpp', 'cuda'])", "cpp in its place"),
        ("d = dependency('cuda', modules: ['cublas'])", "dependency('hip', method: 'cmake'"),
        ("n = find_program('nvcc')", "find_program('hipcc')"),
        ('load("@rules_cuda//cuda:defs.bzl", "cuda_library")', "rules for ROCm"),
        ("docker run --gpus all x", "--device=/dev/kfd"),
        ("FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", "rocm/pytorch"),
        ("FROM nvcr.io/nvidia/pytorch:24.01-py3", "rocm/pytorch"),
        ("  - pytorch::pytorch-cuda=12.4", "conda has none"),
        ("torch==2.1.0+cu118", "whl/rocm"),
        ("--extra-index-url https://download.pytorch.org/whl/cu118", "whl/rocm"),
        ("  - nvidia::cuda-nvcc=12.4", "ROCm's packages"),
        ("RUN apt-get install -y cuda-libraries-dev-12-4", "ROCm's packages"),
        (r'<Import Project="$(VCTargetsPath)\BuildCustomizations\CUDA 11.1.props" />', "a build by CMake"),
        ("<AdditionalDependencies>kernel32.lib;cudart_static.lib</AdditionalDependencies>", "amdhip64.lib"),
        ("   AC_CHECK_HEADERS([cuda.h cuda_runtime.h], [], [ours=no])", "hip/hip_runtime.h"),
        ("   [AC_CHECK_LIB([cublas], [cublasSgemm_v2], [L=x])])", "hip/hip_runtime.h"),
        ("AC_SEARCH_LIBS([cudaMalloc], [cudart cudart_static])", "hip/hip_runtime.h"),
        ("AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cuda_runtime.h>]], [[x]])])", "hip/hip_runtime.h"),
        ("PKG_CHECK_MODULES([CUDA], [cudart-12.0 cublas-12.0])", "AC_CHECK_LIB([amdhip64]"),
        ("AX_CHECK_CUDA", "hip/hip_runtime.h"),
        ("AC_SUBST([CUDA_HOME])", "/opt/rocm"),
        ("RUN apt-get install -y libcudnn8-dev", "ROCm's packages"),
        ("RUN conda install -c nvidia cuda", "ROCm's packages"),
        ("RUN pip install numpy pycuda", "ROCm's packages"),
        ("  - cuda-version=12", "ROCm's packages"),
        ("pycuda>=2022", "ROCm's packages"),
        ("RUN sh cuda_12.1.0_530.30.02_linux.run --silent", "ROCm's packages"),
        ("  buildInputs = [ pkgs.cudaPackages_12.cuda_nvcc ];", "ROCm's packages"),
        ("ENV NVIDIA_VISIBLE_DEVICES all", "--device=/dev/kfd"),
        ("            - driver: nvidia", "--device=/dev/kfd"),
        ("    nvidia.com/gpu: 1", "amd.com/gpu"),
        ("      - run: nsys profile ./a", "rocprofv3"),
        ("mexcuda -O kernel.cu", "-lamdhip64"),
        ("ENV CUDAFLAGS=-O3", "HIPFLAGS"),
        ("  CUDACXX: /usr/bin/nvcc", "takes no hipcc"),
        ("ENV TORCH_CUDA_ARCH_LIST 8.0", "PYTORCH_ROCM_ARCH"),
        ("RUN cmake -DCMAKE_CUDA_FLAGS=-O3 ..", "CMAKE_HIP_FLAGS"),
        ("RUN cmake -DCMAKE_CUDA_ARCHITECTURES=80 ..", "gfx942"),
        ("spack install x +cuda cuda_arch=80", "amdgpu_target"),
        ("UCX_TLS=rc,cuda_copy", "rocm_copy"),
        ("RUN nvc++ -O3 a.cpp", "hipcc"),
        ("cmd = ['nvcc -c ' name];", "hipcc"),
    ],
)
def test_lines_say_what_to_write(line: str, said: str) -> None:
    (found,) = spoken(line)
    assert said in found.instead


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("   [CUDA_HOME=$withval],", "the toolkit's folder"),
        ('LIBS="-L$CUDA_HOME/lib"', "the toolkit's folder"),
        ("from torch.utils.cpp_extension import CUDA_HOME", "PyTorch's extension builder"),
    ],
)
def test_a_shells_cuda_home_is_a_folder(line: str, what: str) -> None:
    (found,) = spoken(line)
    assert found.what == what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('cudarc = { version = "0.9", optional = true }\n', "a crate that calls CUDA"),
        ('[target.x.dependencies.cust]\nversion = "0.3"\n', "a crate that calls CUDA"),
        ("cuda-runtime-sys.workspace = true\n", "a crate that calls CUDA"),
        ("<artifactId>jcublas</artifactId>\n", "a library of Java that calls CUDA"),
        ("implementation 'org.nd4j:nd4j-cuda-11.6:1.0'\n", "a library of Java that calls CUDA"),
        ("    'libraries': ['-lcuda'],\n", "NVIDIA's libraries"),
        ("\tgithub.com/barnex/cuda5 v0.0.0-20171012184954-da30a9b287d8\n", "a module of Go that calls CUDA"),
        ("require gorgonia.org/cu v0.9.4 // indirect\n", "a module of Go that calls CUDA"),
        ('    <fileExists name="/usr/local/cuda/bin/nvcc" />\n', "the toolkit's folder"),
        ("    image: nvidia/cuda:12.8.0-devel-ubuntu22.04\n", "an image of NVIDIA's"),
        ("    uses: someone/cuda-toolkit@v0.2\n", "an image or package of NVIDIA's"),
    ],
)
def test_other_languages_and_ci_servers_are_named(text: str, what: str) -> None:
    assert [s.what for s in spoken(text)] == [what]


@pytest.mark.parametrize(
    "text",
    [
        "custom = 1\n",
        "module github.com/me/cudago\n",
        "module github.com/me/x/cuda-runtime\n",
        "\tgithub.com/me/cudagown v1.0.0\n",
        "# image: nvidia/cuda:12.8.0-devel-ubuntu22.04\n",
        'cuda = ["cudarc"]\n',
        "  dnl nvcc is looked for\n",
        "% nvcc -c k.cu\n",
        "AC_MSG_NOTICE([NVCC gencodes: ${ARCH}])\n",
        "AC_CHECK_LIB([amdhip64], [hipMalloc], [], [cuda_found=no])\n",
    ],
)
def test_what_is_no_dependency(text: str) -> None:
    assert not list(spoken(text))


def test_workflows_are_build_files_by_their_folder(tmp_path: Path) -> None:
    assert is_build_file(str(tmp_path / ".github" / "workflows" / "a.yml"))
    assert not is_build_file(str(tmp_path / "a.yml"))
    assert all(
        is_build_file(x)
        for x in (
            "dev_environment.yaml",
            "environment.yml",
            "a/.gitlab-ci.yml",
            "Cargo.toml",
            "go.mod",
            "pom.xml",
            "build.gradle.kts",
            "binding.gyp",
            "ext/depend.erb",
            "mex_CUDA_glnxa64.xml",
            "Jenkinsfile",
        )
    )


@pytest.mark.parametrize(
    "name",
    (
        "app.pri premake5.lua conanfile.py package.json Jamroot user-config.jam Rakefile mix.exs build.zig"
        " dub.json a.nimble dune flake.nix Singularity apptainer.def Containerfile docker-compose.yml"
        " bitbucket-pipelines.yml .circleci/config.yml pixi.toml vcpkg.json justfile Taskfile.yml build.bat"
        " make.cmd make.ps1 tox.ini BUCK .devcontainer/devcontainer.json .vscode/tasks.json"
        " .vscode/c_cpp_properties.json compile_flags.txt .clangd"
    ).split(),
)
def test_builds_that_are_not_edited_are_reported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has lines that only make sense with NVIDIA's toolkit, and nothing else says so."""
    monkeypatch.chdir(tmp_path)
    text = "x\nbuild: nvcc -I/usr/local/cuda/include -c a.cu\n"
    Path("src", name).parent.mkdir(parents=True)
    Path("src", name).write_text(text)
    done = CliRunner().invoke(cli, ["convert", "src", "-o", "out"])
    assert done.exit_code == 1
    assert f"src/{name}:2:" in done.output
    assert Path("out", name).read_text() == text


def test_macros_of_autoconf_are_build_files() -> None:
    assert is_build_file("config/m4/cuda.m4")
    assert not is_build_file("m4/libtool.m4")
    assert not is_build_file("m4/ltoptions.m4")
    assert not is_build_file("aclocal.m4")


def test_scripts_of_matlab_are_build_files_by_their_text(tmp_path: Path) -> None:
    script = tmp_path / "makefile.m"
    script.write_text("%% libraries\nlib = [lib ' -lcublas -lcudart'];\n")
    assert is_build_file(str(script))
    script.write_text("  % nvcc -c k.cu\nx = 1;\n")
    assert not is_build_file(str(script))
    script.write_text("#import <Foundation/Foundation.h>\n")
    assert not is_build_file(str(script))
