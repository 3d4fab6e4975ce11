"""Reports: pure functions of what a run found.

`record` turns a `Result` into plain data with lines and columns; `json_report` and `terminal` write that data.
A report's format follows the suffix of its file: `FORMATS` is the one list of suffixes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cu2port.core.record import RunRecord
from cu2port.report.json_report import render as render_json

FORMATS: Mapping[str, Callable[[RunRecord], str]] = {".json": render_json}
