"""An extension of torch: sums of rows by warps, as a function and as an operator that has a form for the CPU too."""

from setuptools import setup  # type: ignore[import-untyped]  # it has no stubs here
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="rows",
    ext_modules=[
        CUDAExtension(
            "rows", ["bind.cpp", "rows.cu"], extra_compile_args={"cxx": ["-O1"], "nvcc": ["-O1", "--use_fast_math"]}
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
