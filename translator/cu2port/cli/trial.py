"""The `trial` command: each CUDA kernel against what it is converted to, on the CPU."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cu2port.cli.console import echo, echo_document
from cu2port.cli.options import shared
from cu2port.core.plain import json_of, one_line
from cu2port.project.config import find_config
from cu2port.project.single import write_named
from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build, sim_compiler
from cu2port.verify.trial.programs import find_programs
from cu2port.verify.trial.run import Asked, try_program
from cu2port.verify.trial.verdict import Outcome, Verdict

_WAVES = {"32": (32,), "64": (64,), "both": (32, 64)}
_OUTCOMES: tuple[Outcome, ...] = ("same", "differs", "could not")


def command(path: str, asked: dict[str, Any]) -> int:
    """Run `trial`; returns the exit code."""
    try:
        verdicts = list(_verdicts(path, asked))
        if not verdicts:
            raise CannotRun(f"{path}: no kernel" + (" of that name" if asked["kernels"] else ""))
        if asked["json_file"]:
            _write("--json", asked["json_file"], json_of([asdict(v) for v in verdicts]))
        if asked["junit_file"]:
            _write("--junit", asked["junit_file"], _junit(verdicts))
    except CannotRun as e:
        echo(f"cu2port trial: {e}", err=True)
        return 2
    counts = Counter(v.outcome for v in verdicts)
    total = ", ".join(f"{counts[x]} {x}" for x in _OUTCOMES)
    echo(f"cu2port trial: {len(verdicts)} kernel{'s' * (len(verdicts) != 1)}: {total}", err=True)
    return 1 if counts["differs"] else 0


def _verdicts(path: str, asked: dict[str, Any]) -> Iterator[Verdict]:
    common = shared(asked, find_config(Path.cwd()))
    toolchain = sim_compiler.find_toolchain(asked["compiler"])
    options = Asked(
        asked["seed"],
        asked["time_s"],
        asked["launches"],
        frozenset(asked["kernels"]),
        _WAVES[asked["wave"]],
        Path(path) if Path(path).is_dir() else None,
    )
    like = sim_build.Program((), tuple(Path(d) for d in common.include_dirs), common.defines, warp=asked["warp"])
    done: set[Path] = set()
    for program in find_programs(Path(path), like):
        for v in try_program(program, options, toolchain, asked["jobs"] or 0, frozenset(done)):
            if asked["json_file"] != "-":
                echo(one_line(v.text))
            yield v
        done |= sim_build.plain_sources(program).keys()


def _write(option: str, target: str, text: str) -> None:
    if target == "-":
        echo_document(text)
    else:
        write_named(option, Path(target), text.encode("utf-8"))


def _junit(verdicts: Sequence[Verdict]) -> str:
    suite = ET.Element("testsuite", name="cu2port trial", tests=str(len(verdicts)))
    for outcome, count in (("failures", "differs"), ("skipped", "could not")):
        suite.set(outcome, str(sum(v.outcome == count for v in verdicts)))
    for v in verdicts:
        case = ET.SubElement(suite, "testcase", classname=one_line(v.file), name=one_line(v.kernel))
        if v.outcome != "same":
            tag = "failure" if v.outcome == "differs" else "skipped"
            ET.SubElement(case, tag, message=one_line(v.why))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
