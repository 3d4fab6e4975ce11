"""The version of the package, which caches and reports name."""

from __future__ import annotations

__version__ = "0.1.0"
