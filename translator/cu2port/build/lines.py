"""Build files that are not edited: the lines of them that refer to CUDA, and what to write there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cu2port.build.pages import EMBEDDED, HAZARD, LINE
from cu2port.build.tools import INSTEAD
from cu2port.build.words import finding
from cu2port.core.model import Finding
from cu2port.facts.environment import INSTEAD as VARIABLES
from cu2port.facts.environment import LOADS_MODULE, OF_BUILDS

# What a pattern passes over has a bound: else its time for a long line grows with the square.
_RULES = (  # the first that fits a line; `\\g<name>` is what the pattern found
    *(
        (
            rf"(?<![\w$.-]){name}(?:=|[\"']?:\s|[ \t]+[\"'\w])",
            f"`{name}`, which is read for CUDA alone",
            instead,
        )
        for name, instead in OF_BUILDS.items()
    ),
    (
        r"\bnvidia/cuda:\S*-(?:base|runtime)-ubuntu(?P<os>2[24]\.04)",
        "an image of NVIDIA's",
        r"rocm/dev-ubuntu-\g<os> with a tag of ROCm's version, such as :7.1",
    ),
    (
        r"\bnvidia/cuda:\S*ubuntu(?P<os>2[24]\.04)",
        "an image of NVIDIA's",
        r"rocm/dev-ubuntu-\g<os> with a tag that has the libraries, such as :7.1-complete",
    ),
    (
        r"\bnvidia/cuda:\S*ubuntu\d\d",
        "an image of NVIDIA's",
        "rocm/dev-ubuntu-22.04 with a tag such as :7.1-complete; ROCm 7 has no image of an older Ubuntu",
    ),
    (
        r"\bpytorch/pytorch:\S{0,100}cuda|\bnvcr\.io/nvidia/pytorch\b",
        "an image of PyTorch for CUDA",
        "rocm/pytorch with a tag of ROCm's version",
    ),
    (
        r"download\.pytorch\.org/whl/(?:nightly/|test/)?cu(?:\b|[\d$])|\btorch\w{0,9}==[\d.]{0,20}\+cu\d",
        "PyTorch for CUDA",
        "PyTorch for ROCm, whose wheels are below whl/rocm and its version",
    ),
    (r"\bpytorch-cuda\b", "PyTorch for CUDA", "PyTorch for ROCm by pip: conda has none"),
    (
        r"BuildCustomizations\\CUDA\b.{0,20}\.props",
        "Visual Studio's rules for CUDA",
        "a build by CMake, or the platform toolset of HIP's extension for Visual Studio",
    ),
    (
        r"^(?!.{0,200}\b(?:srun|salloc|sbatch)\b).{0,400}--gpus[ =]\S+"  # Slurm has that option too
        r"|\bnvidia-docker\b|--runtime[ =]nvidia\b|\b(?:runtime|driver):\s*[\"']?nvidia\b"
        r"|\bNVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES)\b",
        "NVIDIA's GPUs in containers",
        "--device=/dev/kfd --device=/dev/dri",
    ),
    (r"\bnvidia\.com/gpu\b", "NVIDIA's GPUs in Kubernetes", "amd.com/gpu"),
    (
        rf"(?:^|[\s;&|\"'])(?P<tool>{'|'.join(INSTEAD)})(?=[\s;&|\"']|$)",
        "a tool of NVIDIA's",
        "",  # what there is for the tool
    ),
    (
        r"project\s*\(.{0,400}'cuda'|add_languages\s*\(.{0,400}'cuda'",
        "Meson's language cuda",
        "cpp in its place: Meson has no language HIP; set CXX=hipcc, and cpp_args: ['-x', 'hip'] for sources in .cu",
    ),
    (
        r"dependency\s*\(\s*'cuda'",
        "Meson's dependency on CUDA's toolkit",
        "dependency('hip', method: 'cmake', modules: ['hip::host']), and one for each library (roc::hipblas, ...)",
    ),
    (r"find_program\s*\(\s*'nvcc'", "nvcc", "find_program('hipcc')"),
    (
        r"@(?:local_config_cuda|rules_cuda|cuda)//|\bcuda_(?:library|objects|binary|test)\s*\(|\brules_cuda\b",
        "Bazel's rules for CUDA",
        "rules for ROCm (@local_config_rocm//rocm:hip, hip_library), or cc_library with hipcc as compiler",
    ),
    (
        r"enable_language\s*\(.{0,400}CUDA|LANGUAGES[^)]{0,400}\bCUDA\b|project\s*\([^)]{0,400}\bCUDA\b",
        "the language CUDA",
        "HIP is a language of CMake too, since 3.21",
    ),
    (r"find_package\s*\(\s*CUDA", "FindCUDA or the toolkit", "find_package(hip), find_package(hipblas), ..."),
    (r"\bnvcc_wrapper\b", "Kokkos's compiler for CUDA", "hipcc, with -DKokkos_ENABLE_HIP=ON"),
    (r"\bnv(?:c\+\+|fortran)(?![\w+])", "a compiler of NVIDIA's", "hipcc for C++, amdflang for Fortran"),
    (r"\bcuda_(?:copy|ipc)\b", "UCX's transports for CUDA", "rocm_copy, rocm_ipc"),
    (r"\bopal_cuda_support\b", "Open MPI's support for CUDA", "UCX that is built for ROCm: --mca pml ucx"),
    (r"CRAY_ACCEL_TARGET=nvidia", "NVIDIA's GPUs for Cray's compilers", "CRAY_ACCEL_TARGET=amd_gfx90a and the like"),
    (
        r"\+cuda\b.{0,99}\bcuda_arch=|\bspack\s+\w+\s.{0,199}\+cuda\b",
        "Spack's variant for CUDA",
        "+rocm amdgpu_target=gfx942",
    ),
    (
        r"CUDA_ARCHITECTURES|-gencode|-arch[= ]?sm_|compute_\d\d|sm_\d\d",
        "NVIDIA's architectures",
        "CMAKE_HIP_ARCHITECTURES or --offload-arch=gfx942",
    ),
    (
        r"-D[ \t]*CMAKE_CUDA_(?P<what>\w+)",
        "a variable of CMake's language CUDA",
        r"CMAKE_HIP_\g<what>, where there is one",
    ),
    (
        r"cuda_add_(?:library|executable)|cuda_compile",
        "FindCUDA's targets",
        "add_library, add_executable with sources of the language HIP",
    ),
    (r"CUDAToolkit|CUDA::\w+", "targets of the toolkit", "hip::host, hip::device, roc::hipblas, ..."),
    (
        r"\$[({]?CUDA_HOME\b|\bCUDA_HOME=|\bAC_\w{3,9}\s*\(\s*\[?CUDA_HOME\b",
        "the toolkit's folder",
        "/opt/rocm, or ROCM_PATH",
    ),  # a shell's, not torch's
    (
        r"CUDAExtension|CUDA_HOME|torch\.utils\.cpp_extension",
        "PyTorch's extension builder",
        "under ROCm it runs hipify itself; keep converted files out of its way",
    ),
    (
        r"-l(?:cudart|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|cuda|nvrtc)\b",
        "NVIDIA's libraries",
        "-lamdhip64, -lhipblas, -lhipfft, ...",
    ),
    (
        r"\b(?:cudart(?:_static)?|cuda|nvrtc|cudnn|cu(?:blas(?:Lt)?|fft|rand|sparse|solver))\.lib\b",
        "NVIDIA's libraries",
        "amdhip64.lib, hipblas.lib, ...",
    ),
    (
        r"-m(?:no-)?wavefrontsize\d*",
        "the wavefront's size",
        "drop it: the HIP runtime takes each GPU's own size alone, 64 lanes on gfx9 and 32 on gfx10 and later",
    ),
    (
        r"--?use_fast_math",
        "fast arithmetic",
        "-fgpu-approx-transcendentals -fgpu-flush-denormals-to-zero; -ffast-math would also do away with infinities",
    ),
    (
        r"--expt-\w+|--extended-lambda|-Xptxas|-Xcompiler|-maxrregcount|-lineinfo|-rdc|--ptxas-options",
        "options of nvcc",
        "drop them; -fgpu-rdc for separate compilation",
    ),
    (
        r"rustc-link-lib=(?:\w+=)?cu\w+|\.cuda\(true\)",
        "NVIDIA's libraries or compiler for Rust",
        'rustc-link-lib=amdhip64 (hipblas, ...), and compile by hipcc: .compiler("hipcc")',
    ),
    (
        r"^\s*(?:\[[\w.-]*dependencies\.)?(?:cudarc|cust|rustacuda|cuda-(?:driver-|runtime-)?sys|cuda_(?:std|builder)"
        r"|cu(?:blas|dnn|fft|rand|sparse|solver)-sys|nvml-wrapper)(?:\]|\.|\s*=)",
        "a crate that calls CUDA",
        "bindings of HIP's C API; the program's calls of the crate are not converted",
    ),
    (
        r"^\s*(?:require\s+)?(?:github\.com/(?:[\w.-]+/(?:cuda5?|cudago|gocu(?:dnn)?|cudart|go-nvml)|mumax/3)|gorgonia\.org/cu)"
        r"(?:/\S{1,99})?\s+v\d",
        "a module of Go that calls CUDA",
        "calls of HIP's C API by cgo; the program's calls of the module are not converted",
    ),
    (
        r"<artifactId>(?:jcu\w+|jnvrtc|nd4j-cuda[\w.-]*|cuda(?:-platform[\w-]*)?)</artifactId>"
        r"|\borg\.(?:jcuda:|bytedeco:cuda|nd4j:nd4j-cuda)",
        "a library of Java that calls CUDA",
        "calls of HIP's C API by JNI or foreign functions; the program's calls of the library are not converted",
    ),
    (
        r"/(?:usr/local|usr/lib|opt)/cuda(?![a-z])|\$[({]?CUDA_(?:HOME|PATH)|NVIDIA GPU Computing Toolkit",
        "the toolkit's folder",
        "/opt/rocm, or ROCM_PATH",
    ),
    (
        r"AC_(?:CHECK|SEARCH)_\w{3,9}\s*\(.{0,99}\b(?:cu(?:da(?:rt)?|blas(?:Lt)?|fft|rand|sparse|solver|dnn)|nvidia-ml|nccl)\b"
        r"|AC_CHECK_\w{3,9}\s*\(.{0,99}\b(?:cu(?:da\w*|blas\w*|fft\w*|rand\w*|sparse\w*|solver\w*|dnn\w*)|nvml|nccl)\.h\b"
        r"|AC_(?:COMPILE|LANG|LINK|RUN|TRY)_\w{3,9}\s*\(.{0,199}\b(?:CUDA\b|cu(?:da|blas|fft|rand|sparse|solver|dnn)\w*)"
        r"|PKG_CHECK_\w{3,9}\s*\(.{0,99}\b(?:cu(?:da(?:rt)?|blas|fft|rand|sparse|solver)|nvrtc|nvidia-ml)-?\d"
        r"|^\s*(?:ACX?|AM|AX|LX)_\w{0,40}CUDA\w{0,40}\s*(?:\(|$)",
        "a header or library of NVIDIA's, without which configure goes on and leaves CUDA out",
        "AC_CHECK_HEADERS([hip/hip_runtime.h]) with -D__HIP_PLATFORM_AMD__, AC_CHECK_LIB([amdhip64], [hipMalloc]), ...",
    ),
    (
        r"\bmexcuda\b",
        "MATLAB's compiler of CUDA",
        "kernels that hipcc compiles to objects, and mex with these and -lamdhip64",
    ),
    (r"(?<!cuda-)\bnvcc\b|NVCC\b", "the compiler", "hipcc, or amdclang++ -x hip"),
    (r"\bcupy-cuda\d+x?\b", "CuPy for CUDA", "CuPy that is built for ROCm"),
    (
        r"nvidia/cuda|nvcr\.io/nvidia/|cuda-toolkit|nvidia-\w+-cu\d+|cupy-cuda|cudatoolkit|\bnvidia::"
        r"|\bcuda-(?:nvcc|cudart|libraries|cccl|runtime|compiler|command-line-tools|driver-dev|nvrtc|nvtx|\d\d?-\d)\b"
        r"|\blib(?:cublas|cudnn|cutensor|nccl|nvinfer)\d*(?:-dev\w*)?\b|nvidia-pyindex|\bnvidia/label/cuda"
        r"|-c[ \t]+nvidia\b"
        r"|developer\.download\.nvidia\.com|\bcuda_\d[\d.]*_[\d.]+_linux|\bcudaPackages|\bcudaSupport\b"
        r"|^\s*(?:-\s+)?[\"']?(?:pycuda|cuda-python|numba-cuda)(?![\w./-])|^\s*-\s+(?:cuda|cuda-version|cudnn|nccl)\s*[=<>~]"
        r"|\b(?:install|add|load)\s(?:[^#]{0,200}?\s)?(?:cuda|cudnn|nccl|pycuda|cuda-python|numba-cuda)(?=[\s=<>~@]|$)",
        "an image or package of NVIDIA's",
        "rocm/dev-ubuntu images, ROCm's packages",
    ),
)
_COMPILED = tuple((re.compile(pattern), what, instead) for pattern, what, instead in _RULES)
_AT_RUN_TIME = "a kernel's text or binary for run time: pass headers that it includes to hipRTC by name"
_WATCHED = (  # (what every such line holds, pattern, rule, message)
    ("bin2c", r"\bbin2c\b", EMBEDDED, _AT_RUN_TIME),
    ("xxd", r"xxd\s+-i\b.{0,400}\.(?:cu|ptx)", EMBEDDED, _AT_RUN_TIME),
    ("objcopy", r"objcopy\b.{0,400}\.(?:cu|ptx|cubin)\b", EMBEDDED, _AT_RUN_TIME),
    ("configure_file", r"configure_file\s*\(.{0,400}\.cuh?(?:\.in)?\b", EMBEDDED, _AT_RUN_TIME),
    ("READ", r"file\s*\(\s*READ\s.{0,400}\.(?:cuh?|ptx)\b", EMBEDDED, _AT_RUN_TIME),
    ("-fatbin", r"(?:^|\s)-?-fatbin\b", EMBEDDED, _AT_RUN_TIME),
    ("-cubin", r"(?:^|\s)-?-cubin\b", EMBEDDED, _AT_RUN_TIME),
    ("-ptx", r"(?:^|\s)-?-ptx\b", EMBEDDED, _AT_RUN_TIME),
    (
        "SIZE",
        r"\b\w*(?:WARP_?SIZE|WAVE(?:FRONT)?_?SIZE)\w*\s*=\s*64\b",
        HAZARD,
        "a warp of 64 lanes for all GPUs: converted code keeps warps of 32, so drop it",
    ),
    (
        "module",
        LOADS_MODULE,
        LINE,
        "names a module of NVIDIA's toolkit; write ROCm's, such as rocm",
    ),
    (
        "__CUDACC__",
        r"-D\s*__CUDACC__|\bdefinitions?\b.{0,400}\b__CUDACC__",
        HAZARD,
        "__CUDACC__ makes libraries take CUDA's branches: drop it",
    ),
    (
        "__CUDA_ARCH__",
        r"-D\s*__CUDA_ARCH__|\bdefinitions?\b.{0,400}\b__CUDA_ARCH__",
        HAZARD,
        "__CUDA_ARCH__ makes libraries take CUDA's branches: drop it",
    ),
    (
        "pkg-config",
        r"\bpkg-config\b.{0,199}\b(?:cuda(?:rt)?|cublas(?:Lt)?|cufft|curand|cusparse|cusolver|nvrtc|cudnn|nccl)(?:-\d|\b)",
        LINE,
        "asks for a package of NVIDIA's; write -I/opt/rocm/include -L/opt/rocm/lib, and ROCm's libraries",
    ),
    (
        "nvidia",
        r"\blspci\b.{0,99}\bnvidia|/dev/nvidia|/proc/driver/nvidia",
        LINE,
        "looks for NVIDIA's driver; write /dev/kfd for AMD's",
    ),
    (
        "NVIDIA",
        r"\blspci\b.{0,99}\bNVIDIA",
        LINE,
        "looks for NVIDIA's driver; write /dev/kfd for AMD's",
    ),
    (
        "pkg_",
        r"\bpkg_(?:check|search)_modules?\s*\(.{0,199}\b(?:cuda(?:rt)?|cublas(?:Lt)?|cufft|curand|cusparse|cusolver|nvrtc|nccl)(?:-\d|\b)",
        LINE,
        "asks for a package of NVIDIA's; write find_package(hip), find_package(hipblas), ...",
    ),
    (
        "CPACK_",
        r"\bCPACK_\w{1,60}(?:DEPENDS|REQUIRES|RECOMMENDS)\b.{0,300}\b(?:cuda|libcu|libnccl|nvidia)",
        LINE,
        "names packages of NVIDIA's; write ROCm's, such as hip-runtime-amd",
    ),
    (
        "OpenCV",
        r"\bOpenCV\b.{0,300}\b(?:cuda(?:arithm|bgsegm|codec|features2d|filters|imgproc|legacy|objdetect|optflow|stereo|warping)|cudev)\b",
        LINE,
        "names modules of OpenCV for CUDA, and it has none for HIP; write those for the CPU",
    ),
    *(
        (f"ENV{{{name}}}", rf"\bENV\{{{name}\}}", LINE, f"`{name}` is read for CUDA alone; write {instead}")
        for name, instead in OF_BUILDS.items()
    ),
    *(
        (name, rf"(?<![\w$-]){name}(?![\w-])", LINE, f"`{name}` is read for CUDA alone; write {instead}")
        for name, instead in VARIABLES.items()
    ),
)
_PATTERNS = tuple((hint, re.compile(pattern), rule, message) for hint, pattern, rule, message in _WATCHED)
_IDLE = ("#", "%", "dnl ", "AC_MSG_")  # how lines begin that only say something: comments, also autoconf's and MATLAB's
_OWN_MODULE = re.compile(r"module[ \t]+[\w-]+\.[\w.-]+/\S+\s*$")  # as a go.mod names what it is
_MOST = 40  # lines of one file


class Spoken(NamedTuple):
    """A line that refers to CUDA. `number` counts from 1."""

    number: int
    start: int
    text: str
    what: str
    instead: str


def spoken(text: str) -> Iterator[Spoken]:
    """The lines of a text that refer to CUDA, each once, at most 40; comments are left out."""
    count = start = 0
    for number, line in enumerate(text.split("\n"), 1):
        idle = line.lstrip().startswith(_IDLE) or _OWN_MODULE.match(line) is not None
        for pattern, what, instead in () if idle else _COMPILED:
            found = pattern.search(line)
            if found:
                written = found.expand(instead) if "\\g<" in instead else instead or INSTEAD[found["tool"]]
                yield Spoken(number, start, line, what, written)
                count += 1
                break
        start += len(line) + 1
        if count >= _MOST:
            return


def anywhere(text: str) -> Iterator[Finding]:
    """Findings of lines of any build file: those that make text of a kernel's source or a binary of NVIDIA's, and those
    that HIP's compilers take although they make the program wrong."""
    wanted = [row for row in _PATTERNS if row[0] in text]
    if not wanted:  # as in most files: no line of theirs need be looked at
        return
    start = 0
    for line in text.split("\n"):
        first, last = start + len(line) - len(line.lstrip()), start + len(line.rstrip())
        start += len(line) + 1
        if line.lstrip().startswith("#"):
            continue
        found = {message: rule for _, pattern, rule, message in wanted if pattern.search(line)}
        for message, rule in found.items():
            yield finding(rule, message, first, last)


def lines(text: str, where: str = "") -> Iterator[Finding]:
    """Findings of a build file that is not edited, a text of Latin-1. `where`: what part of a file the text is."""
    for s in spoken(text):
        at = s.start + len(s.text) - len(s.text.lstrip())
        names = f"names {s.what} {where}" if where else f"names {s.what}"
        yield finding(LINE, f"{names}; write {s.instead}", at, s.start + len(s.text.rstrip()))
