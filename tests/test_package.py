"""The wheel holds all that cu2port needs, and works where nothing but the wheel is."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cu2port import __version__

pytestmark = pytest.mark.slow  # builds and installs a wheel

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "translator" / "cu2port"


def run(*words: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command without this checkout on Python's path, its caches in a folder of its own."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["CU2PORT_CACHE_DIR"] = str(cwd / "cache")
    if path is not None:
        env["PYTHONPATH"] = str(path)
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as `pip install .` builds it; hatchling must be there, for nothing is fetched."""
    out = tmp_path_factory.mktemp("wheel")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        str(out),
    )
    done = run(*pip, str(ROOT), cwd=out)
    assert done.returncode == 0, done.stderr
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel installs, and nothing else."""
    target = tmp_path_factory.mktemp("site")
    words = (
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    )
    done = run(*words, cwd=target.parent)
    assert done.returncode == 0, done.stderr
    return target


def test_the_wheel_holds_code_and_data_and_no_more(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    code = {f"cu2port/{p.relative_to(PACKAGE).as_posix()}" for p in PACKAGE.rglob("*") if p.is_file()}
    code = {name for name in code if "__pycache__" not in name}
    data = [p for folder in ("rules", "grammars") for p in (ROOT / folder).rglob("*") if p.is_file()]
    rules = {f"cu2port/{p.relative_to(ROOT).as_posix()}" for p in data}
    assert {"cu2port/py.typed", "cu2port/report/cu2port-report-1.schema.json", "cu2port/rules/runtime.toml"} <= names
    assert any(name.startswith("cu2port/shim/") and name.endswith(".h") for name in names)
    assert any(name.startswith("cu2port/checks/") for name in names)
    assert code | rules <= names
    about = {name for name in names if name.startswith(f"cu2port-{__version__}.dist-info/")}
    assert names == code | rules | about
    assert any(name.endswith("/LICENSE") for name in about)


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = f"cu2port-{__version__}.dist-info"
        metadata = archive.read(f"{about}/METADATA").decode()
        scripts = archive.read(f"{about}/entry_points.txt").decode()
    assert f"\nVersion: {__version__}\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nLicense-Expression: MIT\n" in metadata
    assert "cu2port = cu2port.cli:main" in scripts


def test_the_installed_command_converts(installed: Path, tmp_path: Path) -> None:
    """With the wheel's own catalogue, shim and checks: the checkout is out of reach."""
    program = installed / "bin" / "cu2port"
    done = run(sys.executable, str(program), "--version", cwd=tmp_path, path=installed)
    assert done.returncode == 0, done.stderr
    assert __version__ in done.stdout
    sample = ROOT / "samples" / "vector_add" / "input.cu"
    source = sample.read_text() + "namespace mine { int cudaFree(int x); }\nint y = mine::cudaFree(1);\n"
    (tmp_path / "in.cu").write_text(source)
    words = ("convert", "in.cu", "-o", "out.cu", "--report", "r.json")
    done = run(sys.executable, str(program), *words, cwd=tmp_path, path=installed)
    assert done.returncode in (0, 1), done.stderr
    assert '"status": "partial"' not in (tmp_path / "r.json").read_text()
    text = (tmp_path / "out.cu").read_text()
    assert "hipMalloc" in text and "#include <hip/hip_runtime.h>" in text and "mine::cudaFree(1)" in text
    where = "import cu2port, cu2port.core.data as d; print(cu2port.__file__, d.data_path('rules'), sep='\\n')"
    done = run(sys.executable, "-P", "-c", where, cwd=tmp_path, path=installed)
    assert [Path(line).is_relative_to(installed) for line in done.stdout.splitlines()] == [True, True]


def test_the_installed_package_is_typed(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is for developers")
    (tmp_path / "user.py").write_text(
        "from cu2port import Options, Result, translate\n"
        "made: Result = translate('int x;', Options(rocm=(7, 1)), path='a.cu')\n"
        "text: int = made.output\n"
    )
    done = run(
        sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "user.py", cwd=tmp_path, path=installed
    )
    assert 'expression has type "bytes", variable has type "int"' in done.stdout
    assert "Found 1 error" in done.stdout, done.stdout
