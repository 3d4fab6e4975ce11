"""Options and fixtures that several test files share."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings

from cu2port.core import kept

_NUMBERS = itertools.count()
_LONGEST_FIRST = ("sim", "warp", "audit", "ptx", "tests", "lint")


# Wall time says nothing on a loaded machine, and a test that fails must fail again.
settings.register_profile("cu2port", deadline=None, derandomize=True)
settings.load_profile("cu2port")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected files of samples/")


def pytest_configure(config: pytest.Config) -> None:
    """With `--dist loadfile` xdist begins with the files of the most tests; here the order of collection counts."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests compile or run programs come first: one of them at the end would keep one worker alone."""
    rank = {folder: n for n, folder in enumerate(_LONGEST_FIRST)}
    items.sort(key=lambda item: rank.get(item.path.parent.name, len(rank)))


@pytest.fixture(autouse=True)
def results_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A test that changes the code of cu2port must not be answered by the user's cache. It is made when used."""
    folder = tmp_path_factory.getbasetemp() / f"results-{next(_NUMBERS)}"
    monkeypatch.setattr(kept, "cache_dir", lambda: folder)


@pytest.fixture(scope="session")
def update(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(pytestconfig.getoption("--update"))
