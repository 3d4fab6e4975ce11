"""Every target of the catalogue is a name of AMD's public headers, in each ROCm version that its row claims."""

from __future__ import annotations

import dataclasses
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from loading import load

from cu2port.catalog import Row, load_catalog, target

TOOLS = Path(__file__).resolve().parent.parent / "tools"


@cache
def tools() -> tuple[ModuleType, ModuleType]:
    """(hip_names, check_hip): the second imports the first by name."""
    names = load(TOOLS / "hip_names.py")
    assert sys.modules["hip_names"] is names
    return names, load(TOOLS / "check_hip.py")


@cache
def known() -> object:
    return tools()[0].read()


def unknown(*rows: Row) -> list[str]:
    return [f"{row.library}: {row.cuda} -> {name}: {why}" for row, name, why in tools()[1].unknown(known(), iter(rows))]


def row(cuda: str) -> Row:
    found = load_catalog().get(cuda)
    assert found is not None
    return found


def test_every_target_is_in_a_header() -> None:
    assert unknown(*load_catalog()) == []


def test_a_row_is_unchecked_only_where_the_headers_cannot_answer() -> None:
    """A mark that outlived its reason would hide a wrong name later."""
    rows = [dataclasses.replace(r, unchecked=False) for r in load_catalog() if r.unchecked]
    assert [r.cuda for r in rows if not unknown(r)] == []


@pytest.mark.parametrize(
    ("cuda", "change"),
    [
        ("cudaDeviceSynchronize", {"hip": "hipNeverHeardOf"}),
        ("cudaFuncSetAttribute", {"args": ((0, "hipNeverHeardOf({0})"),)}),
        ("ncclCommSplit", {"versions": ()}),  # it came with ROCm 6.0
        ("cublasCaxpy", {"older_hip": "hipblasCaxpy_v3"}),
        ("cub::DeviceReduce", {"hip": "hipcub::DeviceReduces"}),
    ],
)
def test_an_invented_name_is_seen(cuda: str, change: dict[str, object]) -> None:
    assert unknown(row(cuda)) == []
    assert unknown(dataclasses.replace(row(cuda), **change))  # type: ignore[arg-type]  # fields by name


def test_a_name_from_before_a_change_has_a_first_version_too() -> None:
    axpy = row("cublasCaxpy_v2")
    assert target(axpy, (7, 1)) == ("hipblasCaxpy", "")
    assert target(axpy, (6, 2)) == ("hipblasCaxpy_v2", "")
    name, why = target(axpy, (5, 7))
    assert not name and "hipblasCaxpy_v2 needs ROCm 6.0" in why


def test_the_list_is_written_as_it_is_read(tmp_path: Path) -> None:
    names = tools()[0]
    for version, text in (
        ("6.0", "void hipOld(int); #define HIP_A /* hipNo */ 1"),
        ("6.1", "int hipNew; void hipOld();"),
        ("7.0", "int hipNew;"),
    ):
        folder = tmp_path / version / "hip"
        folder.mkdir(parents=True)
        (folder / "hip_runtime_api.h").write_text(text)
    out = tmp_path / "names.txt"
    names.main([*(f"{v}={tmp_path / v}" for v in ("6.0", "6.1", "7.0")), "--out", str(out)])
    read = names.read(out)
    assert read.refutes("hipNew", (6, 1), (99, 0)) == ""
    assert read.refutes("hipNew", (6, 0), (99, 0)) == "hip has it from ROCm 6.1 to 7.0"
    assert read.refutes("hipOld", (5, 0), (7, 0)) == ""
    assert read.refutes("hipOld", (5, 0), (99, 0)) == "hip has it from ROCm 6.0 to 6.1"
    assert read.refutes("hipNo", (0, 0), (99, 0)) == "in no header that was read"
