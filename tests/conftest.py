"""Options and fixtures that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent


# Wall time says nothing on a loaded machine, and a test that fails must fail again.
settings.register_profile("cu2port", deadline=None, derandomize=True)
settings.load_profile("cu2port")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected files of samples/")


@pytest.fixture(scope="session")
def update(pytestconfig: pytest.Config) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(pytestconfig.getoption("--update"))
