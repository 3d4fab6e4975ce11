"""The same kernels as an extension of PyTorch."""

from setuptools import setup
from torch.utils.cpp_extension import ROCM_HOME, BuildExtension, CUDAExtension

nvcc_flags = ["-O3", "-fgpu-approx-transcendentals", "-fgpu-flush-denormals-to-zero",]

setup(
    name="waves",
    ext_modules=[
        CUDAExtension(
            "waves",
            ["src/step.cu", "src/spectrum.cu"],
            include_dirs=[f"{ROCM_HOME}/include"],
            libraries=["hipfft"],
            extra_compile_args={
                "cxx": ["-O3"],
                "nvcc": [
                    *nvcc_flags,
                    "-gline-tables-only",
                ],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
