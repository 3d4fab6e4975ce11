"""The simulator's device functions have the types of the headers that they are in place of: those of HIP 7.1 for HIP,
and CUDA's for the CUDA side of a trial. Where the two differ, a sign is at stake."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.core.data import data_path
from cu2port.verify.sim_compiler import HEADERS

#: Of an expression the type in CUDA, as nvcc 13 gives it, and in HIP, as clang 22 does with the headers of HIP 7.1.
TYPES = {
    "__popc(1u)": ("int", "unsigned"),
    "__popcll(1ull)": ("int", "unsigned"),
    "__umul24(1u, 2u)": ("unsigned", "int"),
    "__fns(1u, 0u, 1)": ("unsigned", "int"),
    "max(1, 1u)": ("unsigned", "double"),
    "min(1l, 1ul)": ("unsigned long", "double"),
    "pow(1.0f, 2)": ("double", "float"),
    "rsqrt(1.0f)": ("float", "double"),
    "exp10(1.0f)": ("float", "double"),
    "jn(1, 1.0f)": ("float", "double"),
    "__ffsll(1ll)": ("int", "int"),
    "__clz(1)": ("int", "int"),
    "__brev(1u)": ("unsigned", "unsigned"),
}


def test_every_error_that_the_catalogue_gives_is_there() -> None:
    names = {r.hip for r in load_catalog() if r.hip and re.fullmatch(r"hipError[A-Z]\w+", r.hip)}
    text = (HEADERS / "cu2port_sim/errors.h").read_text()
    assert len(names) > 60 and names <= set(re.findall(r"\bhipError\w+", text))


@pytest.mark.slow
def test_names_of_the_host_api_are_declared(tmp_path: Path) -> None:
    """Also of what is not simulated: a class that holds one, and no test uses, would keep a program from building."""
    names: set[str] = set()
    for rules in ("runtime.toml", "driver.toml"):
        with (data_path("rules") / rules).open("rb") as file:
            rows = tomllib.load(file)["rename"].values()
        given = (r if isinstance(r, str) else r.get("hip", "") for r in rows)
        names |= {n for n in given if re.fullmatch(r"(?:hip[A-Z]|HIP_)\w+", n)}
    used = "".join(f"#ifndef {n}\nnamespace used_{i} {{ using ::{n}; }}\n#endif\n" for i, n in enumerate(sorted(names)))
    source = tmp_path / "names.cpp"
    source.write_text("#include <hip/hip_runtime.h>\n#include <hip/hip_math_constants.h>\n" + used)
    command = ["c++", "-std=c++17", "-w", "-fsyntax-only", "-DCU2PORT_SIM_WAVE=64", f"-I{HEADERS}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert len(names) > 1200 and not done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1], ids=["CUDA", "HIP"])
def test_types(side: int, tmp_path: Path) -> None:
    header = ("cuda_runtime.h", "hip/hip_runtime.h")[side]
    lines = "".join(f"static_assert(std::is_same_v<decltype({e}), {t[side]}>);\n" for e, t in TYPES.items())
    source = tmp_path / "types.cpp"
    source.write_text(f"#include <{header}>\n#include <type_traits>\n{lines}")
    folders = [f"-I{HEADERS / 'cuda'}"] * (side == 0) + [f"-I{HEADERS}"]
    command = ["c++", "-std=c++17", "-w", "-fsyntax-only", f"-DCU2PORT_SIM_WAVE={32 if side == 0 else 64}", *folders]
    done = subprocess.run([*command, source], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
