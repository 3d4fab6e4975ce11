"""What `simulate --check` found: shown, and written for other tools."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cu2port.cli.console import echo
from cu2port.core.plain import json_of, one_line
from cu2port.project.single import write_named
from cu2port.project.tree import CannotRun
from cu2port.verify.sim_check import Verdict

_MOST_SHOWN = 40  # findings of a kind; of the others their number is told

Found = Sequence[tuple[Verdict, int]]  # with the number of runs that it was found in


def refuse_files(asked: dict[str, Any]) -> None:
    """Raises CannotRun where files are asked for that only `--check` makes."""
    for key in ("json", "junit"):
        if asked[f"{key}_file"] and not asked["check"]:
            raise CannotRun(f"--{key} is for what --check finds: say --check")


def tell(found: Found, asked: dict[str, Any]) -> None:
    """Show findings, and write the files that were asked for. Raises CannotRun."""
    seen: Counter[str] = Counter()
    for verdict, runs in found:
        seen[verdict.kind] += 1
        if seen[verdict.kind] <= _MOST_SHOWN:
            echo(f"{verdict.kind}: {verdict.text}{f' (in {runs} runs)' * (runs > 1)}", err=True)
    for kind, n in seen.items():
        if n > _MOST_SHOWN:
            echo(f"{kind}: ... and {n - _MOST_SHOWN} more of {n} (--json FILE has all)", err=True)
    if asked["json_file"]:
        write_named("--json", Path(asked["json_file"]), json_of([asdict(v) | {"runs": n} for v, n in found]).encode())
    if asked["junit_file"]:
        write_named("--junit", Path(asked["junit_file"]), _junit(found).encode())


def _junit(found: Found) -> str:
    """A failure for each finding; one test that passes where there is none."""
    suite = ET.Element(
        "testsuite", name="cu2port simulate --check", tests=str(len(found) or 1), failures=str(len(found))
    )
    for verdict, _ in found:
        case = ET.SubElement(suite, "testcase", classname=verdict.kind, name=one_line(verdict.where or verdict.message))
        ET.SubElement(case, "failure", message=one_line(verdict.message))
    if not found:
        ET.SubElement(suite, "testcase", classname="check", name="nothing found")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
