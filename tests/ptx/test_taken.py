"""As which of NVIDIA's GPUs HIP reads a file whose PTX is for later ones alone."""

import pytest

from cu2port.catalog import load_catalog
from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit
from cu2port.ptx.taken import architecture

ADD = 'asm("add.u32 %0, %0, 1;" : "+r"(*p));'
TENSOR = 'asm volatile("wgmma.fence.sync.aligned;");'
UNKNOWN = 'asm(NAME : "+r"(*p));'
LISTED = ("#if __CUDA_ARCH__ >= 800", ADD, "#elif __CUDA_ARCH__ >= 750", ADD)


def read(*lines: str) -> int:
    text = "__device__ void f(unsigned* p) {\n++p;\n" + "\n".join(lines) + "\n}\n"
    return architecture(Unit(text, load_catalog()))


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ((*LISTED, "#endif"), 750),
        (("#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ > 800)", ADD, "#elif __CUDA_ARCH__ >= 810", "#endif"), 801),
        ((*LISTED, "#endif", "#if __CUDA_ARCH__ >= 800", ADD, "#elif __CUDA_ARCH__ >= 900", ADD, "#endif"), 800),
        ((*LISTED, "#else", "++*p;", "#endif"), 720),  # older GPUs have code of their own
        (("#if __CUDA_ARCH__ >= 800", ADD, "#else", '#pragma message("too old")', "#endif"), 800),
        (("#if __CUDA_ARCH__ >= 800", ADD, "#endif"), 720),  # older GPUs may do without
        (("#if __CUDA_ARCH__ >= 800", "++*p;", "#elif __CUDA_ARCH__ >= 750", "#endif"), 720),
        (("#if __CUDA_ARCH__ >= 800", ADD, "#elif __CUDA_ARCH__ >= 750", TENSOR, "#endif"), 720),  # cannot compile
        (("#if __CUDA_ARCH__ >= 800", ADD, "#elif __CUDA_ARCH__ >= 750", UNKNOWN, "#endif"), 720),
        ((*LISTED, "#endif", "#if __CUDA_ARCH__ >= 900", TENSOR, "#endif"), 750),
        ((*LISTED, "#endif", "#if __CUDA_ARCH__ >= 750", TENSOR, "#else", "#endif"), 720),
        (("#if __CUDA_ARCH__ >= 700", ADD, "#elif __CUDA_ARCH__ >= 600", ADD, "#endif"), 720),  # every GPU has it
        (("#if __CUDA_ARCH__ >= 800 && FAST", ADD, "#elif __CUDA_ARCH__ >= 750", ADD, "#endif"), 720),
    ],
)
def test_the_smallest_number_that_loses_no_ptx(lines: tuple[str, ...], number: int) -> None:
    assert read(*lines) == number


def test_a_missing_function_is_no_lost_ptx() -> None:
    body = f"__device__ void f(unsigned* p) {{ {ADD} }}"
    text = f"#if __CUDA_ARCH__ >= 800\n{body}\n#elif __CUDA_ARCH__ >= 750\n{body}\n#endif\n"
    assert architecture(Unit(text, load_catalog())) == 720


OPTIONS = Options(cuda_arch=800, use_clang=False)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("__CUDA_ARCH__ >= 800", "defined(__HIP_DEVICE_COMPILE__)"),
        (
            "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750",
            "defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_DEVICE_COMPILE__)",
        ),
        ("__CUDA_ARCH__ > 800", "__CUDA_ARCH__ > 800"),  # false, and right
        ("__CUDA_ARCH__ <= 800", "__CUDA_ARCH__ <= 800"),  # true, and right
        ("__CUDA_ARCH__ < 800", "!defined(__HIP_DEVICE_COMPILE__)"),
        ("__CUDA_ARCH__ >= 900", "__CUDA_ARCH__ >= 900"),
    ],
)
def test_the_options_may_name_a_gpu(asked: str, wanted: str) -> None:
    found = translate(f"#if {asked}\nint x;\n#endif\n", OPTIONS, path="a.h")
    assert found.output.decode() == f"#if {wanted}\nint x;\n#endif\n"
    assert not any(f.open for f in found.findings)


def test_code_of_that_gpu_is_lifted_and_what_is_later_is_left_alone() -> None:
    branches = ("#if __CUDA_ARCH__ >= 900", TENSOR, "#elif __CUDA_ARCH__ >= 800", ADD, "#else", "++*p;", "#endif")
    text = "__device__ int f(unsigned* p) {\n" + "\n".join(branches) + "\nreturn __CUDA_ARCH__; }\n"
    found = translate(text, OPTIONS, path="a.h")
    assert TENSOR in found.output.decode() and "*p = std::uint32_t(*p) + 1;" in found.output.decode()
    assert b"return 800;" in found.output
    assert not any(f.open for f in found.findings)
    assert translate(found.output, OPTIONS, path="a.h").output == found.output
    assert ADD in translate(text, Options(use_clang=False), path="a.h").output.decode()
