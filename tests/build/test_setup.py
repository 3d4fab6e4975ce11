"""setup.py of torch's extensions, and the rest of what a tree's build holds."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cu2port.build.by_text import builds_extensions
from cu2port.build.convert import convert
from cu2port.build.kinds import is_build_file
from cu2port.build.table import table
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result
from cu2port.facts.cuda_versions import COUNTS_AS

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
        ('a = {"nvcc": ["-maxrregcount=50", "-O3"]}', 'a = {"nvcc": ["-O3"]}'),
        ('a = {"nvcc": [\n    "-O3",\n    "-restrict",  # fast\n    "-G",\n]}', None),
        (
            'a = {"nvcc": [\n    "-O3",\n    "--extended-lambda",\n    "-G",\n]}',
            'a = {"nvcc": [\n    "-O3",\n    "-g",\n]}',
        ),
        ('nvcc_flags = ["-Xcompiler", "-fPIC"]', 'nvcc_flags = ["-fPIC"]'),
        (  # who asks for a variable gets the one that is asked for
            "if 'CUDA_HOME' not in os.environ: x = 1\nelse: x = os.environ['CUDA_HOME']\n",
            "if 'ROCM_PATH' not in os.environ: x = 1\nelse: x = os.environ['ROCM_PATH']\n",
        ),
        ('nvcc_flags = ["-Xcompiler", "-ffast-math"]', 'nvcc_flags = ["-Xarch_host", "-ffast-math"]'),
        ('nvcc_flags += ["-gencode", f"arch=compute_{x},code=sm_{x}", "-O2"]', 'nvcc_flags += ["-O2"]'),
        ('a = {"cxx": ["-O3", "-G", "-std=c++14"]}', 'a = {"cxx": ["-O3", "-G", "-std=c++17"]}'),
        ('load("x", ["a.cu"], extra_cflags=["-std=c++11"])', 'load("x", ["a.cu"], extra_cflags=["-std=c++17"])'),
        ('a = {"nvcc": ["-std=c++14"]}', 'a = {"nvcc": ["-std=c++17"]}'),
        ('x(libraries=["cublas", "m"], name="cublas")', 'x(libraries=["hipblas", "m"], name="cublas")'),
        ('args = ["-lcublas"]', 'args = ["-lhipblas"]'),
        ('flags.append("--use_fast_math -ftz=false")', None),
        ('nvcc = ["-Xcompiler", host, "-ccbin", cxx(), "-arch", arch, "-O3"]', 'nvcc = [host, "-O3"]'),
        ('nvcc = f() + ["--threads", str(n)]', "nvcc = f() + []"),
        (  # a list that nvcc's options hold, and no other compiler's
            'f = []\nf.extend(["--threads", "4"])\na = {"cxx": ["-O3"], "nvcc": g(["-O3"] + f)}',
            'f = []\nf.extend([])\na = {"cxx": ["-O3"], "nvcc": g(["-O3"] + f)}',
        ),
        ('f = ["-G"]\nh = ["-G"]\na["nvcc"] += f\nb = h', 'f = ["-g"]\nh = ["-G"]\na["nvcc"] += f\nb = h'),
        (
            'f = ["-G", "-O3"]\na = {"cxx": f, "nvcc": ["-O3"] + f}',
            'f = ["-G", "-O3"]\na = {"cxx": f, "nvcc": ["-O3"] + f}',
        ),
        ('nvcc = [\n    "-t",\n    n,\n    "-O3",\n]', 'nvcc = [\n    "-O3",\n]'),
        ('nvcc = ["-Xcompiler", "\'-fPIC\'", "-Xcompiler", "\'-Wall,-g\'"]', 'nvcc = ["-fPIC", "-Wall", "-g"]'),
        ('nvcc = ["-Xptxas -v", "-O3", "-restrict -Xcudafe --x"]', 'nvcc = ["-O3",]'),
        ('f.append("-gencode")\nf.append("arch=compute_80,code=sm_80")\nf.append("-O3")', 'f.append("-O3")'),
        ('if x:\n    f.append("-gencode")\n    f.append("arch=compute_80,code=sm_80")', "if x:\n    pass"),
        ('nvcc.append("--use_fast_math")', None),
        (  # torch's own list of GPUs, at which torch for ROCm stops
            "all = cuda.get_gencode_flags().replace('compute=', 'arch=').split()\nx = [*get_gencode_flags().split()]",
            "all = \"\".replace('compute=', 'arch=').split()\nx = [*\"\".split()]",
        ),
        ("# torch.cuda.get_gencode_flags()\nx = my.get_gencode_flags()", None),
        (  # torch's own options, which a project takes out
            'x = ["-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF2_OPERATORS__"]\nCOMMON_NVCC_FLAGS.remove(x[0])',
            'x = ["-D__HIP_NO_HALF_OPERATORS__=1",]\nCOMMON_HIPCC_FLAGS.remove(x[0])',
        ),
        ('nvcc = ["-D__CUDA_NO_HALF_OPERATORS__"]', 'nvcc = ["-D__HIP_NO_HALF_OPERATORS__"]'),
        (  # CUDA's folder, and a variable of the project's own
            "CUDA_HOME = os.environ.get('CUDA_HOME', '/usr/local/cuda')\n"
            "x = [os.path.join(CUDA_HOME, 'lib64'), f'-Wl,-rpath,{CUDA_HOME}/lib64']",
            "CUDA_HOME = os.environ.get('ROCM_PATH', '/opt/rocm')\n"
            "x = [os.path.join(CUDA_HOME, 'lib'), f'-Wl,-rpath,{CUDA_HOME}/lib']",
        ),
        (
            "x = os.getenv('CUDA_PATH')  # or /usr/local/cuda\ny = '/usr/local/cuda-11.8/include'",
            "x = os.getenv('ROCM_PATH')  # or /usr/local/cuda\ny = '/opt/rocm/include'",
        ),
        ("if 'cu' in torch.__version__: f()", "if 'rocm' in torch.__version__: f()"),
        ('if "+cu" not in torch.__version__: f()', 'if "+rocm" not in torch.__version__: f()'),
        ('nvcc = "--use_fast_math"', 'nvcc = "-fgpu-approx-transcendentals -fgpu-flush-denormals-to-zero"'),
    ],
)
def test_words(before: str, after: str | None) -> None:
    text = f"{HEAD}{before}\n"
    found = port(text).output.decode()
    if after is not None:
        assert found == f"{HEAD}{after}\n"
    assert port(found).output.decode() == found


def test_builds_count_as_the_version_that_code_counts_as() -> None:
    major, minor = COUNTS_AS["CUDA_VERSION"] // 1000, COUNTS_AS["CUDA_VERSION"] % 1000 // 10
    set_to = {name: row.set for name, row in table()["variable"].items() if "VERSION" in name and row.set}
    parts = {"MAJOR": f"{major}", "MINOR": f"{minor}", "PATCH": "20"}
    for name, value in set_to.items():
        wanted = parts.get(name.rpartition("_")[2])
        assert value == wanted if wanted else f"{value}.".startswith(f"{major}.{minor}."), name


def test_the_host_s_standard_is_raised_for_torch_alone() -> None:
    text = 'from setuptools import setup\nsetup(extra_compile_args={"cxx": ["-std=c++14"], "nvcc": ["-std=c++14"]})\n'
    assert port(text).output.decode() == text.replace('"nvcc": ["-std=c++14"]', '"nvcc": ["-std=c++17"]')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("os.system('cmake -DCMAKE_CUDA_FLAGS=-G -G .')", "os.system('cmake -DCMAKE_HIP_FLAGS=-g -G .')"),
        ('call(["cmake", "-DCMAKE_CUDA_ARCHITECTURES=80"])', 'call(["cmake", "-DCMAKE_HIP_ARCHITECTURES=gfx942"])'),
        ('a += [f"-DCMAKE_CUDA_ARCHITECTURES={x}"]', 'a += [f"-DCMAKE_HIP_ARCHITECTURES=gfx942"]'),
        ('a += ["-DCMAKE_CUDA_FLAGS=" + x]', 'a += ["-DCMAKE_HIP_FLAGS=" + x]'),
    ],
)
def test_variables_of_cmake(before: str, after: str) -> None:
    result = convert(f"import os\n{before}\n".encode(), "setup_cuda.py", Asked("setup", archs=("gfx942",)))
    assert result.output.decode() == f"import os\n{after}\n"


@pytest.mark.parametrize("value", ['"-DCMAKE_CUDA_ARCHITECTURES={}".format(x)', '"-DCMAKE_CUDA_ARCHITECTURES=%s" % x'])
def test_a_variable_of_cmake_that_is_filled_in_is_named(value: str) -> None:
    text = f"import os\na = [{value}]\n"
    (judged,) = convert(text.encode(), "setup.py", Asked("setup", archs=("gfx942",))).findings
    assert (judged.finding.code, judged.finding.cuda) == ("CU817", "-DCMAKE_CUDA_ARCHITECTURES")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["/usr/local/cuda/lib64"]', '["/opt/rocm/lib"]'),
        ('"-L/usr/local/cuda-12.1/targets/x86_64-linux/lib"', '"-L/opt/rocm/lib"'),
        ('"/usr/local/cuda/include"', '"/opt/rocm/include"'),
        ('join(os.environ["CUDA_HOME"], "lib64")', 'join(os.environ["ROCM_PATH"], "lib")'),
        ('join(os.environ.get("CUDA_HOME"), "lib64")', 'join(os.environ.get("ROCM_PATH"), "lib")'),
    ],
)
def test_rocms_libraries_are_in_lib(before: str, after: str) -> None:
    text = f"import os\nx = {before}\n"
    assert convert(text.encode(), "setup.py", Asked("setup")).output.decode() == f"import os\nx = {after}\n"


LOADS = "from torch.utils.cpp_extension import load\n"


def test_what_torch_for_rocm_does_not_give_is_told() -> None:
    """Capabilities of NVIDIA's GPUs, a list of architectures, packages for CUDA; not in a comment."""
    text = (
        "major, _ = torch.cuda.get_device_capability()\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0'\n"
        "setup(install_requires=['cupy-cuda12x>=13', 'nvidia-cublas-cu12', 'torch', 'cupy'])  # 'pycuda'\n"
    )
    result = convert(text.encode(), "setup.py", Asked("setup"))
    told = [(j.finding.message.split("`")[1], j.finding.severity.name) for j in result.findings]
    assert told == [
        ("torch.cuda.get_device_capability", "WARNING"),
        ("TORCH_CUDA_ARCH_LIST", "INFO"),
        ("cupy-cuda12x", "WARNING"),
        ("nvidia-cublas-cu12", "WARNING"),
    ]
    assert result.output == text.encode()


def test_a_module_that_loads_extensions_is_ported() -> None:
    before = f'{LOADS}x = load("x", ["x.cu"], extra_cuda_cflags=["-O3", "-arch", "sm_80", "-std=c++14"])\n'
    result = convert(before.encode(), "ops.py", Asked("python"))
    assert result.output.decode() == f'{LOADS}x = load("x", ["x.cu"], extra_cuda_cflags=["-O3", "-std=c++17"])\n'
    assert any(
        "`load` stays: torch for ROCm compiles the sources with hipcc" in j.finding.message for j in result.findings
    )


def test_cuda_in_strings_of_a_module_is_reported() -> None:
    text = (
        "import torch.utils.cpp_extension\n"
        "x = torch.utils.cpp_extension.load_inline('x', cuda_sources='__global__ void f() {}')\n"
    )
    result = convert(text.encode(), "ops.py", Asked("python"))
    (judged,) = result.findings
    assert judged.outcome is Outcome.MANUAL and judged.finding.code == "CU816"
    assert result.output == text.encode()


def test_a_module_that_has_nvcc_compile_extensions_is_read(tmp_path: Path) -> None:
    text = 'from distutils import ccompiler\nnvcc = find_in_path("nvcc", os.environ["CUDA_HOME"])\n'
    module = tmp_path / "support.py"
    module.write_text(text)
    assert is_build_file(str(module))
    result = convert(text.encode(), "support.py", Asked("python"))
    assert result.output.decode() == text.replace("CUDA_HOME", "ROCM_PATH")
    assert {j.finding.code for j in result.findings} == {"CU815", "CU817"}
    module.write_text("import setuptools\n# nvcc compiles them\n")
    assert not is_build_file(str(module))


def test_a_program_that_writes_kernels_is_named(tmp_path: Path) -> None:
    text = 'print("__device__ static Base add(Base a) { asm(...); }")\nK = """\n__global__ void f(int x)"""\n'
    module = tmp_path / "gen.py"
    module.write_text(text)
    assert is_build_file(str(module))
    result = convert(text.encode(), "gen.py", Asked("python"))
    (judged,) = result.findings
    assert (
        judged.outcome is Outcome.MANUAL and judged.finding.code == "CU818" and "2 functions" in judged.finding.message
    )
    module.write_text("# __global__ is what `__device__ functions` are called\nfrom nvcc import cuda\n")
    assert not is_build_file(str(module))


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        (LOADS, True),
        ("from torch.utils.cpp_extension import (\n    CUDA_HOME,\n    load,\n)\n", True),
        ("torch.utils.cpp_extension.load_inline('x', '')\n", True),
        ("from torch.utils.cpp_extension import CUDA_HOME\n", True),  # None in torch for ROCm
        ("x = torch.utils.cpp_extension.CUDA_HOME\n", True),
        ("from torch.utils.cpp_extension import include_paths\nimport load\n", False),
        ("from torch.utils.cpp_extension import (\n    include_paths,\n)\nload()\n", False),
        ("torch.load('x')  # cpp_extension\n", False),
    ],
)
def test_which_modules_load_extensions(text: str, loads: bool) -> None:
    assert builds_extensions(text.encode()) == loads


@pytest.mark.parametrize(
    "line", ["nvcc = '--compiler-options='", "nvcc = '-restrict'", "nvcc = ['-fmad', fmad]", "nvcc = f('-gencode')"]
)
def test_what_would_break_the_python_is_left_and_told(line: str) -> None:
    """An option whose value is an expression, and a string that nothing would be left of."""
    result = port(f"{HEAD}{line}\n")
    assert result.output.decode() == f"{HEAD}{line}\n"
    assert [j.finding.code for j in result.findings if j.outcome is Outcome.MANUAL] == ["CU808"]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ('x = subprocess.check_output([home + "/bin/nvcc", "-V"], universal_newlines=True)', "x = {}"),
        ('x = subprocess.check_output([CUDA_HOME + "/bin/nvcc", "--version"]).decode("utf-8")', "x = {}"),
        ("x = subprocess.check_output(['nvcc', '--version'])", "x = b{}"),
        ('x = subprocess.check_output([nvcc, "-V"])', 'x = subprocess.check_output([nvcc, "-V"])'),
    ],
)
def test_the_version_that_nvcc_says(line: str, after: str) -> None:
    said = '"Cuda compilation tools, release 12.6, V12.6.20"'
    assert port(f"{HEAD}{line}\n").output.decode() == f"{HEAD}{after.format(said)}\n"


@pytest.mark.parametrize(
    "line",
    [
        'x = os.path.join(home, "bin", "nvcc")',
        'x = f"{home}/bin/nvcc"',
        "c.set_executable('compiler_so', 'nvcc')",
        "c.set_executable('linker', 'nvcc --shared')",
    ],
)
def test_a_path_to_nvcc_is_told(line: str) -> None:
    result = port(f"import os\n{line}\n")
    assert [(j.finding.code, j.finding.start) for j in result.findings] == [("CU817", 10 + line.index("nvcc"))]
    assert not port("x = {'nvcc': ['-O3']}\n").findings


WORDS = (
    "-O3",
    "-restrict",
    "-lineinfo",
    "-Xcompiler",
    "-Wall,-g",
    "-Xptxas",
    "-v",
    "--use_fast_math",
    "-ccbin",
    "-rdc=true",
)
OURS = frozenset({"-restrict", "-lineinfo", "-Xcompiler", "-Xptxas", "--use_fast_math", "-ccbin", "-rdc=true"})


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["nvcc += [{}]", "nvcc += [\n    {}\n]", "if 1:\n    {}", "{}"]),
            st.lists(
                st.one_of(st.sampled_from(WORDS), st.just("host"), st.just("-O2 -lineinfo")), min_size=1, max_size=5
            ),
        ),
        max_size=4,
    )
)
@example([("if 1:\n    {}", ["-restrict", "-restrict"])])
def test_flags_stay_lists_of_words(parts: list[tuple[str, list[str]]]) -> None:
    """Run as Python: no option of nvcc is left without a finding, no word is empty, and what is no option stays."""
    text = HEAD.replace("from", "# from")
    for shape, words in parts:
        items = ["host" if w == "host" else repr(w) for w in words]
        joint = ",\n    " if "[\n" in shape else ", "
        if "[" not in shape:
            items, joint = [f"nvcc.append({i})" for i in items], "\n    " if shape[0] == "i" else "\n"
        text += shape.format(joint.join(items)) + "\n"
    result = port(text)
    flags: list[str] = []
    exec(result.output, {"nvcc": flags, "host": "HOST"})  # written by the test
    assert all(flags)
    told = any(j.outcome is Outcome.MANUAL for j in result.findings)
    assert told or OURS.isdisjoint(w for f in flags for w in f.split())
    assert port(result.output.decode()).output == result.output


def test_a_list_of_very_many_options() -> None:
    words = '"-restrict", "-t 4", "-O3", ' * 3_000
    text = f"{HEAD}nvcc = [{words}]\n"
    assert port(text).output.count(b"-") == 3_000


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


def test_presets_name_a_compiler_that_cmake_takes() -> None:
    text = '{"cacheVariables": {"CMAKE_CUDA_COMPILER": "/usr/local/cuda/bin/nvcc"}}\n'
    result = convert(text.encode(), "CMakePresets.json", Asked("presets"))
    assert result.output == b'{"cacheVariables": {"CMAKE_HIP_COMPILER": "/opt/rocm/lib/llvm/bin/clang++"}}\n'


def test_a_word_with_quotes_inside_is_one_word() -> None:
    first, second = (
        """'-gencode=arch=compute_70,code="sm_70"'""",
        r'"-gencode=arch=compute_70,code=\"sm_70,compute_70\""',
    )
    apart = """"-gencode", 'arch=compute_80,code="sm_80"'"""
    flags = f"{{'nvcc': ['-O3', {first}, {second}, {apart}, '-g']}}"
    out = port(f"{HEAD}CUDAExtension('a', ['a.cu'], extra_compile_args={flags})\n").output.decode()
    assert out.endswith("extra_compile_args={'nvcc': ['-O3', '-g']})\n")
