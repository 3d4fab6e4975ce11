"""Options and fixtures that several test files share."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings

from cu2port.core import kept

_NUMBERS = itertools.count()


# Wall time says nothing on a loaded machine, and a test that fails must fail again.
settings.register_profile("cu2port", deadline=None, derandomize=True)
settings.load_profile("cu2port")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected files of samples/")


@pytest.fixture(autouse=True)
def results_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A test that changes the code of cu2port must not be answered by the user's cache. It is made when used."""
    folder = tmp_path_factory.getbasetemp() / f"results-{next(_NUMBERS)}"
    monkeypatch.setattr(kept, "cache_dir", lambda: folder)


@pytest.fixture(scope="session")
def update(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(pytestconfig.getoption("--update"))
