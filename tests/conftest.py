"""Options and fixtures that several test files share."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from cu2port.core import kept
from cu2port.core.data import cache_dir

ROOT = Path(__file__).resolve().parent.parent
_NUMBERS = itertools.count()


# Wall time says nothing on a loaded machine, and a test that fails must fail again.
settings.register_profile("cu2port", deadline=None, derandomize=True)
settings.load_profile("cu2port")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected files of samples/")


def pytest_configure(config: pytest.Config) -> None:
    """The simulator's programs are compiled by tests/lib/quick_cxx.sh, in all worker processes; CXX goes before.

    It lies in the cache, so that the runtime, which is kept for a compiler by its path, is compiled once. Precompiled
    headers are the session's own: they hold what the headers are.
    """
    if os.environ.get("CXX") or not shutil.which("g++") or hasattr(config, "workerinput"):
        return
    compiler = cache_dir() / "tests" / "g++"
    compiler.parent.mkdir(parents=True, exist_ok=True)
    made = compiler.with_name(f"g++.{os.getpid()}")
    shutil.copy(ROOT / "tests" / "lib" / "quick_cxx.sh", made)
    made.chmod(0o755)
    made.replace(compiler)
    headers = tempfile.mkdtemp(prefix="cu2port-tests-")
    os.environ |= {"CXX": str(compiler), "CU2PORT_TEST_HEADERS": headers}

    def end() -> None:
        del os.environ["CXX"], os.environ["CU2PORT_TEST_HEADERS"]
        shutil.rmtree(headers, ignore_errors=True)

    config.add_cleanup(end)


@pytest.fixture(autouse=True)
def results_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A test that changes the code of cu2port must not be answered by the user's cache. It is made when used."""
    folder = tmp_path_factory.getbasetemp() / f"results-{next(_NUMBERS)}"
    monkeypatch.setattr(kept, "cache_dir", lambda: folder)


@pytest.fixture(scope="session")
def update(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(pytestconfig.getoption("--update"))
