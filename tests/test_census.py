"""tools/census.py finds damage where there is some: a census that finds nothing must mean something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from loading import load

from cu2port.catalog import load_catalog
from cu2port.core.model import Edit, Finding, Judged, Outcome, Result, Severity, Span, insert, replace
from cu2port.facts.unit import Unit

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "census.py"
TEXT = """#include <a.h> // why
#define F(x) do { g(x); } while (0)
#if A
int v = f(1, {2}, 3);
#endif
void h() { k<<<dim3{1}, 2>>>(a); g(); }
"""


@pytest.fixture(scope="module")
def census() -> ModuleType:
    return load(TOOL)


def edit_of(written: str, *parts: str) -> Edit:
    """Replace the first place of a text by parts; a part that is in it is kept."""
    at = TEXT.index(written)
    kept = [
        Span(at + written.index(p), at + written.index(p) + len(p)) if p in written and p.isalnum() else p
        for p in parts
    ]
    return Edit(at, at + len(written), tuple(kept))


#: Edit -> a word of what is wrong with it; "" for a right one.
EDITS = {
    "a word": (edit_of("= f", "= hipF"), ""),
    "a whole call": (edit_of("f(1, {2}, 3)", "hipF()"), ""),
    "the launch": (edit_of("k<<<dim3{1}, 2>>>(a)", "hipLaunchKernelGGL(k)"), ""),
    "the whole statement with its end": (edit_of("g(); }", "x(); }"), "holds a `;`"),
    "past the end of a statement": (edit_of("(a); g()", "()"), "holds a `;`"),
    "a whole function": (edit_of("void h() { k<<<dim3{1}, 2>>>(a); g(); }"), ""),
    "a whole function with its line": (edit_of("void h() { k<<<dim3{1}, 2>>>(a); g(); }\n"), ""),
    "half a function": (edit_of("h() { k<<<dim3{1}, 2>>>(a); g(); }"), "holds a `{`"),
    "a body's brace": (edit_of("h() {", "h() {"), "holds a `{`"),
    "a bracket opened": (edit_of("f(1,", "f("), "does not close"),
    "a bracket closed": (edit_of(" 3)", "4"), "did not open"),
    "inside a directive": (edit_of("<a.h>", "<b.h>"), ""),
    "a whole directive with its line": (edit_of("#include <a.h> // why\n"), ""),
    "a whole directive, its comment stays": (edit_of("#include <a.h> "), ""),
    "half a directive": (edit_of("int v = f(1, {2}, 3);\n#end", "#end"), "cuts `#endif` in two"),
    "a directive and code": (edit_of("#if A\nint v", "int v"), "#if"),
    "out of a directive": (edit_of("A\nint v", "v"), "runs out of `#if`"),
    "a macro's body": (edit_of("g(x)", "hipG(x)"), ""),
    "a line break in a directive": (insert(TEXT.index("do {"), "x\n"), "breaks the line of `#define`"),
    "a continued line in a directive": (insert(TEXT.index("do {"), "x\\\n"), ""),
    "a line before the file": (insert(0, "#include <b.h>\n"), ""),
    "code around a directive that it keeps": (
        Edit(0, len(TEXT), ("x(", Span(0, TEXT.index(" f(")), ")", Span(TEXT.index(" f("), len(TEXT)))),
        "holds a `;`",  # the directives are kept, but it is no single statement
    ),
    "statement removed": (replace(TEXT.index(" g();"), TEXT.index(" g();") + 5, ""), "holds a `;`"),
}


@pytest.mark.parametrize("case", EDITS)
def test_edits_that_reach_too_far_are_seen(census: ModuleType, case: str) -> None:
    edit, said = EDITS[case]
    unit = Unit(TEXT, load_catalog(), path="a.cu")
    config = {i for launch in unit.launches for i in range(launch.open, launch.close + 3)}
    found = census.reaches(unit, edit, config)
    assert (said in found) if said else not found


def run(*words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    command = [sys.executable, str(TOOL), *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)


def test_a_sound_tree_passes(tmp_path: Path) -> None:
    text = '#include <cuda_runtime.h>\n__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); cudaFree("cudaFree"); }\n'
    (tmp_path / "a.cu").write_text(text)
    done = run(str(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "| 1 | 0 | 0 | 0 | 0 (of 1) | 0 (of 1) | 0 (of 1) | 0 |" in done.stdout


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("", "output"),
        (None, "output"),
        ('void k() {}\nvoid f() { k<<<1, 2>>>(); g("s"); }\n', "kernels"),
        ('__global__ void k() {}\nvoid f() { g("s"); }\n', "launches"),
        ('__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); g("t"); }\n', "strings"),
        ('__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); g("s"); cudaFree(0); }\n', "again"),
    ],
)
def test_damage_is_named(tmp_path: Path, output: str | None, kind: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "a.cu").write_text('__global__ void k() {}\nvoid f() { k<<<1, 2>>>(); g("s"); }\n')
    if output is not None:
        (tmp_path / "out" / "a.cu").write_text(output)
    done = run(str(tmp_path / "in"), "--converted", str(tmp_path / "out"))
    assert done.returncode == 1
    assert f": {kind}: " in done.stdout


def test_edits_in_hips_code_and_names_that_are_gone_are_seen(census: ModuleType) -> None:
    text = "#ifdef USE_ROCM\nvoid f(int* p) { hipFree(p); }\n#endif\nvoid g(int* p) { cudaFree(p); }\n"
    unit = Unit(text, load_catalog(), path="a.cu")
    good, bad = text.index("cudaFree"), text.index("hipFree")
    for at, size, faults in ((good, 8, []), (bad, 7, ["hip", "hip names"])):
        made = replace(at, at + size, "X")
        finding = Finding("CU101", "api-rename", Severity.INFO, "", at, at + size, (made,))
        output = (text[:at] + "X" + text[at + size :]).encode()
        result = Result("a.cu", text.encode(), output, (Judged(finding, Outcome.APPLIED),))
        assert [f.kind for f in census.hip_faults(unit, result)] == faults
