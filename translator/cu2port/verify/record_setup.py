"""Runs a setup.py with a stand-in for torch, and writes what extensions it would build. It is a program of its own:

    python record_setup.py NAME ROCM TORCH_VERSION RESULT [ARG...]

in the folder of setup.py, or what its NAME is, which gets the arguments. The stand-in says that torch is built for
ROCm, as it is where the extension is built.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import runpy
import sys
import types
from pathlib import Path
from typing import Any

HIP = "7.1.0"  # what torch.version.hip states
# torch/utils/cpp_extension.py: COMMON_HIP_FLAGS, COMMON_HIPCC_FLAGS
FOR_ALL = ("-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1", "-fPIC")
FOR_DEVICE = (
    "-DCUDA_HAS_FP16=1",
    "-D__HIP_NO_HALF_OPERATORS__=1",
    "-D__HIP_NO_HALF_CONVERSIONS__=1",
    "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1",
)
# what else such files were seen to ask: they call it, and its answer does not tell what is built
_OF_TORCH = ("matmul", "manual_seed", "ones", "rand", "randn", "set_num_threads", "tensor", "zeros")
_OF_TOOLS = (
    "check_compiler_abi_compatibility",
    "is_ninja_available",
    "load",
    "load_inline",
    "verify_ninja_availability",
)


class _Version(str):
    """torch's version, which is compared with texts and numbers."""

    __slots__ = ()

    def __ge__(self, other: object) -> bool:
        return _numbers(self) >= _numbers(other)

    def __lt__(self, other: object) -> bool:
        return _numbers(self) < _numbers(other)

    __hash__ = str.__hash__


def _numbers(version: object) -> tuple[int, ...]:
    parts = version if isinstance(version, (tuple, list)) else str(version).partition("+")[0].split(".")
    return tuple(int(p) for p in parts if str(p).isdigit())


class _Anything:
    """A class or function of torch's build tools that has nothing to say here."""

    def __init__(self, *args: object, **named: object) -> None:
        pass

    def __call__(self, *args: object, **named: object) -> Any:
        return self

    @classmethod
    def with_options(cls, **named: object) -> Any:
        """As torch's BuildExtension has it."""
        return cls


def _module(name: str, **content: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update({"__path__": [], **content})
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


def stand_in(rocm: str, version: str) -> None:
    """Put a torch for ROCm into the loaded modules."""
    import setuptools  # type: ignore[import-untyped]  # it has no stubs here

    def extension(device: bool) -> Any:
        def build(name: str, sources: list[str], *args: Any, **named: Any) -> Any:
            compile_args = named.pop("extra_compile_args", None)
            known = setuptools.Extension(name, [str(s) for s in sources], *args, **named)
            known.extra_compile_args = compile_args or []
            known.__dict__["cu2port_device"] = device
            return known

        return build

    if importlib.util.find_spec("wheel") is None:  # packages for which a setup.py makes its own kind of wheel
        _module("wheel")
        _module("wheel.bdist_wheel", bdist_wheel=_Anything)
    version = f"{version.partition('+')[0]}+rocm{HIP.rpartition('.')[0]}"  # as wheels for ROCm have it
    _module("torch", __version__=_Version(version), __file__="torch/__init__.py", __path__=["torch"])
    _module("torch.version", hip=HIP, cuda=None, __version__=_Version(version), rocm=HIP)
    _module(
        "torch.cuda",
        is_available=lambda: True,
        device_count=lambda: 1,
        get_device_capability=lambda *_: (9, 4),
        get_device_name=lambda *_: "AMD GPU",
        current_device=lambda: 0,
        get_device_properties=lambda *_: types.SimpleNamespace(name="AMD GPU", major=9, minor=4),
        get_arch_list=lambda: ["gfx942"],
    )
    _module("torch.__config__", parallel_info=lambda: "ATen parallel backend: OpenMP", show=lambda: "ROCm")
    _module("torch.backends")
    _module("torch.backends.cuda", is_built=lambda: True)
    sys.modules["torch"].__dict__.update(
        _C=types.SimpleNamespace(_GLIBCXX_USE_CXX11_ABI=True),
        compiled_with_cxx11_abi=lambda: True,
        device=_Anything,
        has_cuda=True,  # torch 2 still has it
    )
    sys.modules["torch"].__dict__.update({name: _Anything() for name in _OF_TORCH})
    _module("torch.utils")
    _module(
        "torch.utils.cpp_extension",
        CUDA_HOME=None,
        ROCM_HOME=rocm,
        IS_HIP_EXTENSION=True,
        COMMON_HIP_FLAGS=list(FOR_ALL),
        COMMON_HIPCC_FLAGS=list(FOR_DEVICE),
        COMMON_NVCC_FLAGS=[],  # there, and not used
        ROCM_VERSION=tuple(int(p) for p in HIP.split(".")[:2]),
        TORCH_MAJOR=_numbers(version)[0],
        TORCH_MINOR=_numbers(version)[1],
        CUDAExtension=extension(True),
        CppExtension=extension(False),
        BuildExtension=_Anything,
        include_paths=lambda *_, **__: [],
        library_paths=lambda *_, **__: [],
        **{name: _Anything() for name in _OF_TOOLS},
    )


def main(script: str, rocm: str, version: str, result: str, *args: str) -> None:
    """Run a setup.py with arguments and write its extensions as JSON."""
    found: list[dict[str, Any]] = []

    def setup(**named: Any) -> None:
        for e in named.get("ext_modules") or ():
            found.append(
                {
                    "name": e.name,
                    "sources": [str(s) for s in e.sources],
                    "device": getattr(e, "cu2port_device", False),
                    "include_dirs": [str(d) for d in e.include_dirs],
                    "defines": [[str(k), None if v is None else str(v)] for k, v in e.define_macros],
                    "undefines": list(e.undef_macros),
                    "args": e.extra_compile_args,
                    "for_device": sys.modules["torch.utils.cpp_extension"].COMMON_HIPCC_FLAGS,
                }
            )

    stand_in(rocm, version)
    sys.modules["setuptools"].__dict__["setup"] = setup
    sys.modules["distutils.core"].__dict__["setup"] = setup  # setuptools has loaded it
    sys.argv = [script, "build_ext", *args]
    sys.path.insert(0, "")
    runpy.run_path(script, run_name="__main__")
    Path(result).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
