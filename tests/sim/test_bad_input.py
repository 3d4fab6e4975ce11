"""Programs that do not build, crash, hang or take too much, from the command line: reports, exit codes, no traces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.core.data import cache_dir
from cu2port.verify import cccl, sim_build, sim_compiler, simulate
from cu2port.verify.simulate import CANNOT, TIMED_OUT

HEAD = "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
RUN = "int main() { int* d; (void)hipMalloc(&d, 1024); k<<<1, 64>>>(d); (void)hipFree(d); return 0; }\n"


def kernel(body: str) -> str:
    """A program with one kernel; its body begins on line 4."""
    return f"{HEAD}__global__ void k(int* d) {{\n{body}\n}}\n{RUN}"


def simulated(folder: Path, text: str, *arguments: str, name: str = "p.hip") -> subprocess.CompletedProcess[str]:
    """Run `cu2port simulate` with a home and a folder for temporary files of its own."""
    work = folder / "work"
    for where in ("work", "home", "temporary"):
        (folder / where).mkdir(exist_ok=True)
    (work / name).write_text(text)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(sim_build.__file__).parents[2]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CU2PORT_CACHE_DIR": str(cache_dir()),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
    }
    command = [sys.executable, "-c", "from cu2port.cli import main; main()", "simulate", name, "--wave", "64"]
    done = subprocess.run([*command, *arguments], cwd=work, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    left = sorted(
        str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and folder / "cache" not in p.parents
    )
    assert left == [f"work/{name}"], "files outside of the cache"
    return done


@pytest.mark.slow
def test_errors_of_a_cuda_file_stand_at_its_lines(tmp_path: Path) -> None:
    """Conversion adds one include and drops two: lines move."""
    text = (
        "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n#include <cstdio>\n"
        "__global__ void k(int* d) {\n  d[0] = missing;\n}\nint main() { k<<<1, 1>>>(nullptr); }\n"
    )
    done = simulated(tmp_path, text, name="p.cu")
    assert done.returncode == CANNOT
    assert "p.cu:6:" in done.stderr and "missing" in done.stderr and "does not build" in done.stderr
    done = simulated(tmp_path, text.split("\n", 4)[4].replace("missing", "*lost"), name="p.cu")
    assert done.returncode == CANNOT and "p.cu:2:" in done.stderr and "lost" in done.stderr


def test_crash(tmp_path: Path) -> None:
    done = simulated(tmp_path, kernel("if (threadIdx.x == 3) *reinterpret_cast<volatile int*>(16) = 1;"))
    assert done.returncode == 139
    assert "memory access that is not allowed in a kernel" in done.stderr and "thread (3,0,0)" in done.stderr
    assert "ended by signal 11" in done.stderr


def test_a_crash_at_both_sizes_is_no_agreement(tmp_path: Path) -> None:
    done = simulated(tmp_path, kernel("*reinterpret_cast<volatile int*>(16) = 1;"), "--wave", "both")
    assert done.returncode == 139
    assert done.stderr.endswith("wave 32 and wave 64 print the same up to where they were stopped\n")


@pytest.mark.slow
def test_crash_far_away(tmp_path: Path) -> None:
    """The system tells no address for one that is too large; none is made up."""
    done = simulated(tmp_path, kernel("d[threadIdx.x + (size_t{1} << 60)] = 1;"))
    assert done.returncode == 139
    assert "not allowed in a kernel" in done.stderr and "address 0x0" not in done.stderr


def test_hang(tmp_path: Path) -> None:
    text = kernel("volatile int* v = d;\nwhile (v[0] == 0) d[1] += 1;")
    done = simulated(tmp_path, text, "--time-limit", "1.5")
    assert done.returncode == TIMED_OUT
    assert "kernel k launched at p.hip:" in done.stderr and "--time-limit" in done.stderr


def test_deadlock(tmp_path: Path) -> None:
    done = simulated(tmp_path, kernel("if (threadIdx.x < 7) __syncthreads();\nelse __syncthreads();"))
    assert done.returncode == CANNOT
    assert "deadlock" in done.stderr and "p.hip:4" in done.stderr and "p.hip:5" in done.stderr


def test_too_much_device_memory(tmp_path: Path) -> None:
    text = HEAD + "int main() { void* p; puts(hipGetErrorString(hipMalloc(&p, size_t{3} << 30))); return p ? 0 : 7; }\n"
    done = simulated(tmp_path, text.replace("void* p;", "void* p = nullptr;"), "--memory", "1G")
    assert (done.returncode, done.stdout) == (7, "out of memory\n")
    assert "refused" in done.stderr and "--memory" in done.stderr


def test_a_size_that_is_none(tmp_path: Path) -> None:
    done = simulated(tmp_path, "int main() {}\n", "--memory", "much")
    assert done.returncode == CANNOT
    assert done.stderr == "cu2port simulate: --memory much: a number with K, M or G, such as 8M\n"


def test_more_memory_than_the_machine_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = [sys.executable, "-c", "x = []\nwhile True: x.append(bytearray(b'1' * 50_000_000))"]
    monkeypatch.setattr(simulate, "free_memory", lambda: 600_000_000)
    ran = simulate.run(Path(greedy[0]), greedy[1:], simulate.Limits(60), capture=True)
    assert ran.too_large and ran.code == CANNOT and not ran.timed_out


@pytest.mark.slow
def test_nothing_is_left_in_the_cache_but_runtimes_and_the_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    assert simulated(tmp_path, kernel("d[threadIdx.x] = 1;")).returncode == 0
    assert {p.name.partition("-")[0] for p in (tmp_path / "cache/sim").iterdir()} <= {
        "runtime",
        "asked",
        "first",
        "first.h",
    }


def test_where_thrust_is_missing_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cccl, "find_cccl", lambda: None)
    source = tmp_path / "a.cu"
    source.write_text("#include <thrust/sort.h>\nint main() {}\n")
    toolchain = sim_compiler.find_toolchain()
    with pytest.raises(sim_compiler.CannotBuild, match=r"pip install 'cu2port\[simulate\]'"):
        sim_build.build(sim_build.find_program(source), tmp_path / "out", [64], toolchain)
    assert cccl.missing(["#include <vector>\n"]) == ""
