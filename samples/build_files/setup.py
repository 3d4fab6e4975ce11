"""The same kernels as an extension of PyTorch."""

from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension

nvcc_flags = ["-O3", "--use_fast_math", "-gencode", "arch=compute_80,code=sm_80"]

setup(
    name="waves",
    ext_modules=[
        CUDAExtension(
            "waves",
            ["src/step.cu", "src/spectrum.cu"],
            include_dirs=[f"{CUDA_HOME}/include"],
            libraries=["cufft"],
            extra_compile_args={
                "cxx": ["-O3"],
                "nvcc": [
                    *nvcc_flags,
                    "--expt-relaxed-constexpr",
                    "-lineinfo",
                ],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
