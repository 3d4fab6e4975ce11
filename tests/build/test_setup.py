"""setup.py of torch's extensions, and the rest of what a tree's build holds."""

from __future__ import annotations

import ast
import sys

import pytest

from cu2port.build.convert import convert
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result

HEAD = "from torch.utils.cpp_extension import CUDAExtension\n"


def port(text: str, **asked: object) -> Result:
    result = convert(text.encode(), "setup.py", Asked("setup", **asked))  # type: ignore[arg-type]  # fields by name
    if result.output != text.encode():
        ast.parse(result.output)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = {"nvcc": ["-O3", "--use_fast_math"]}', None),
        ('a = {"nvcc": ["-maxrregcount=50", "-O3"]}', 'a = {"nvcc": [ "-O3"]}'),
        ('a = {"nvcc": [\n    "-O3",\n    "-restrict",  # fast\n    "-G",\n]}', None),
        (
            'a = {"nvcc": [\n    "-O3",\n    "--extended-lambda",\n    "-G",\n]}',
            'a = {"nvcc": [\n    "-O3",\n    "-g",\n]}',
        ),
        ('nvcc_flags = ["-Xcompiler", "-fPIC"]', 'nvcc_flags = ["-fPIC"]'),
        ('nvcc_flags += ["-gencode", f"arch=compute_{x},code=sm_{x}", "-O2"]', 'nvcc_flags += [ "-O2"]'),
        ('a = {"cxx": ["-O3", "-G", "-std=c++14"]}', 'a = {"cxx": ["-O3", "-G", "-std=c++14"]}'),
        ('a = {"nvcc": ["-std=c++14"]}', 'a = {"nvcc": ["-std=c++17"]}'),
        ('x(libraries=["cublas", "m"], name="cublas")', 'x(libraries=["hipblas", "m"], name="cublas")'),
        ('args = ["-lcublas"]', 'args = ["-lhipblas"]'),
        ('flags.append("--use_fast_math -ftz=false")', None),
    ],
)
def test_words(before: str, after: str | None) -> None:
    text = f"{HEAD}{before}\n"
    found = port(text).output.decode()
    if after is not None:
        assert found == f"{HEAD}{after}\n"
    assert port(found).output.decode() == found


def test_a_word_that_becomes_two_stays_in_a_list() -> None:
    found = port(f'{HEAD}a = {{"nvcc": ["--use_fast_math", \'--ftz=false\']}}\n').output.decode()
    assert found == HEAD + (
        'a = {"nvcc": ["-fgpu-approx-transcendentals", "-fgpu-flush-denormals-to-zero", '
        "'-fno-gpu-flush-denormals-to-zero']}\n"
    )


def test_renamed_sources_are_followed() -> None:
    found = port(f'{HEAD}x("y", ["csrc/a.cu", "b.cu"])\n', renamed=frozenset({"csrc/a.cu"}), suffix=".hip")
    assert '"csrc/a.hip", "b.cu"' in found.output.decode()


@pytest.mark.parametrize(
    "text",
    [
        "nvcc = ('-lineinfo',",
        "nvcc = '-lineinfo' + " + "(" * 100_000,
        "# -*- coding: nonsense -*-\nnvcc = ['-lineinfo']\n",
        "nvcc = ['-lineinfo']\0",
    ],
)
def test_what_cannot_be_read_stays_and_is_told(text: str) -> None:
    result = port(text)
    assert result.output == text.encode()
    assert [j.finding.code for j in result.findings] == ["CU816"]


def test_a_byte_order_mark_stays() -> None:
    text = "\ufeffCUDA_HOME = 1\n"
    assert port(text).output == text.encode()


def test_a_file_without_options_of_nvcc_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libcst", None)  # an import of it fails
    text = f"{HEAD}backend = 'cuda'\nsetup(ext_modules=[CUDAExtension('m', ['a.cu'], include_dirs=[CUDA_HOME])])\n"
    result = port(text)
    assert result.output == text.replace("[CUDA_HOME]", "[ROCM_HOME]").encode()
    with pytest.raises(ImportError):
        port(f"{HEAD}flags = {{'nvcc': ['-lineinfo']}}\n")


def test_a_file_that_knows_rocm_is_left_alone() -> None:
    text = f'{HEAD}if torch.version.hip:\n    pass\na = {{"nvcc": ["-restrict"]}}\n'
    result = port(text)
    assert result.output == text.encode()
    assert [(j.finding.code, j.outcome) for j in result.findings] == [("CU812", Outcome.MANUAL)]


def test_presets() -> None:
    text = (
        '{"configurePresets": [{"name": "x", "cacheVariables": {"CMAKE_CUDA_ARCHITECTURES": "80;90",\n'
        '  "CMAKE_CUDA_FLAGS": {"type": "STRING"}, "CMAKE_CUDA_FLAGS_DEBUG": "-G -O1", "CUDA_ON": true}}]}\n'
    )
    asked = Asked("presets", archs=("gfx942",))
    found = convert(text.encode(), "CMakePresets.json", asked).output.decode()
    assert found == (
        '{"configurePresets": [{"name": "x", "cacheVariables": {"CMAKE_HIP_ARCHITECTURES": "gfx942",\n'
        '  "CMAKE_HIP_FLAGS": {"type": "STRING"}, "CMAKE_HIP_FLAGS_DEBUG": "-g -O1", "CUDA_ON": true}}]}\n'
    )
    assert convert(found.encode(), "CMakePresets.json", asked).output.decode() == found
    alone = convert(text.encode(), "CMakePresets.json", Asked("presets"))
    assert "`80;90` stays" in " ".join(j.finding.message for j in alone.findings)
