"""Work is linear in the input, for the patterns of benchmarks/scaling_patterns.py.

What is counted are lines of cu2port that run, which is the same each time: four times the input may take at most five
times as many. What C does inside of one line is not seen: of some patterns CPU time is measured, with a wide margin.
`benchmarks/scaling.py` measures that of all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from loading import load

from cu2port import Options, translate
from cu2port.audit.collect import audit_job
from cu2port.build.convert import convert, facts
from cu2port.build.words import Asked
from cu2port.facts import _libclang, clang_worker
from cu2port.facts.clang import Question
from cu2port.lint.run import Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.project.graph import Graph, Scan
from cu2port.project.jobs import Job, Tools, patch
from cu2port.project.reach import Reach
from cu2port.syntax.endings import is_orderly
from cu2port.syntax.lexer import lex

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = load(ROOT / "benchmarks" / "scaling_patterns.py").PATTERNS
MOST = 5.0
#: the others are marked slow
FAST = frozenset(
    (
        "asm in one function",
        "asm in a function each",
        "asm with operands",
        "nested min",
        "macros of macros",
        "macros of calls of macros",
        "macros of statements of macros",
        "constants of constants",
        "launches in launches",
        "launches in launches, ggl",
        "#elif chain on __CUDA_ARCH__",
        "nested #if, code in it",
        "#if after #if",
        "launches of one constant",
        "paste macros, many",
        "nested k<<<",
        "unclosed launches, open",
        "one unknown CUDA name",
        "member cudaFree",
        "host warp size",
    )
)


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of cu2port's own modules run."""
    count = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        return line if "cu2port" in name or name == "<string>" else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def work_on(name: str, n: int) -> int:
    """What it takes to convert the text of a pattern."""
    pattern = PATTERNS[name]
    text = pattern.make(n)
    if pattern.args == ("ptx",):
        from cu2port.ptx.module import convert

        return lines_run(lambda: convert(text))
    return lines_run(lambda: translate(text, pattern.options, path="input.cu"))


TEXTS = [name for name, p in PATTERNS.items() if not p.args or p.args == ("ptx",)]


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in TEXTS])
def test_work_is_linear(name: str) -> None:
    n = 48
    work_on(name, 2)  # what is loaded once
    few, many = work_on(name, n), work_on(name, 4 * n)
    assert many <= MOST * few, f"{many / few:.1f} times the work for 4 times the input ({few} lines at n = {n})"


def test_reading_nested_expressions_is_linear() -> None:
    """What libclang's process does of its own to tell the types of expressions in expressions."""
    reader = clang_worker.Reader(clang_worker.make_setting(_libclang.Lib(_libclang.library_path())))

    def read(n: int) -> int:
        head = "int g(int, int);\nvoid f(int n, int* p) { *p = "
        text = head + "g(n, " * n + "0" + ")" * n + "; }\n"
        end = len(head) + 6 * n + 1
        spans = tuple((len(head) + 5 * k, end - k) for k in range(n))
        question = Question("input.cu", text.encode(), spans=spans)
        assert len(reader.answer(question).exprs) == n
        return lines_run(lambda: reader.answer(question))

    read(2)  # what is loaded once
    few, many = read(16), read(64)
    assert many <= MOST * few, f"{many / few:.1f} times the work for 4 times the input ({few} lines)"


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("cub::cub::", 4096),
        ("unterminated comments", 256),
        ("typedefs", 128),
        ("nested if, warp", 256),
        pytest.param("nested classes", 2048, marks=pytest.mark.slow),
        pytest.param("template heads", 2048, marks=pytest.mark.slow),
    ],
)
def test_time_is_linear(name: str, n: int) -> None:
    def seconds(n: int) -> float:
        text, best = PATTERNS[name].make(n), float("inf")
        for _ in range(2):
            start = time.process_time()
            translate(text, PATTERNS[name].options, path="input.cu")
            best = min(best, time.process_time() - start)
        return best

    seconds(2)  # what is loaded once
    few, many = seconds(n), seconds(8 * n)
    assert many < 24 * few + 0.1, f"{many:.2f} s for eight times the input that takes {few:.2f} s"


def test_line_starts_are_found_in_linear_time() -> None:
    """Neither the text before a directive nor a file without `\\r` is read again for each directive."""

    def seconds(end: str, n: int) -> float:
        text = f"#if A{end}int a;{end}#endif{end}" * n
        start = time.process_time()
        assert is_orderly(text)
        return time.process_time() - start

    for end in ("\n", "\r", "\r\n"):
        few, many = min(seconds(end, 4000) for _ in range(3)), seconds(end, 32_000)
        assert many < 24 * few + 0.1, f"{many:.2f} s for 8 times the input that takes {few:.2f} s ({end!r})"


def test_many_comments_in_one_gap_are_read_in_linear_time() -> None:
    def seconds(n: int) -> float:
        text = "// a comment\n/* another */\n" * n
        start = time.process_time()
        assert len(lex(text).comments) == 2 * n
        return time.process_time() - start

    few, many = min(seconds(4096) for _ in range(2)), seconds(32768)
    assert many < 24 * few + 0.1, f"{many:.2f} s for eight times the input that takes {few:.2f} s"


def test_long_chain_of_else_if_converts() -> None:
    text = PATTERNS["if else chain"].make(2000)
    assert translate(text, path="input.cu").output.count(b"cu2port::warp::shfl(") == 2000


def linted(root: Path, n: int, pattern: str = "lint: suppressed") -> int:
    """What it takes to lint n lines with a finding and a comment that silences it."""
    path = root / f"{n}.cu"
    path.write_text(PATTERNS[pattern].make(n), encoding="utf-8")
    settings = Settings(Options(warp="flag", use_clang=False), make_selection(None, (), (), {}, "test"))
    job = Job(0, str(path), path.name, settings.options)
    return lines_run(lambda: lint_job(settings, job, Tools()))


def linted_in_blocks(root: Path, n: int) -> int:
    """What it takes to lint n lines with a finding inside of n blocks that silence it."""
    return linted(root, n, "lint: blocks")


def linted_masks(root: Path, n: int) -> int:
    """What it takes to lint n blocks, each with a mask of the same name."""
    return linted(root, n, "lint: a mask in each block")


def linted_loops(root: Path, n: int) -> int:
    """What it takes to lint n loops over the distance of a shuffle."""
    return linted(root, n, "lint: loops of shuffles")


def audited(root: Path, n: int) -> int:
    """What it takes to look at n kernels for an audit."""
    path = root / f"{n}.cu"
    path.write_text(PATTERNS["audit: kernels"].make(n), encoding="utf-8")
    job = Job(0, str(path), path.name, Options(use_clang=False))
    return lines_run(lambda: audit_job(job, Tools()))


def resolved(root: Path, n: int) -> int:
    """What it takes to find n headers of one name, each beside the folder that includes it."""
    headers = [f"/t/d{i}/include/common.h" for i in range(n)]
    scans = {f"/t/d{i}/src/a.cu": Scan(frozenset(), (("common.h", True),)) for i in range(n)}

    def work() -> None:
        graph = Graph([*headers, *scans], scans, ())
        assert graph.targets("/t/d1/src/a.cu") == {"/t/d1/include/common.h"}

    return lines_run(work)


@pytest.mark.parametrize("work", [linted, linted_in_blocks, linted_masks, linted_loops, audited, resolved])
def test_work_on_reports_and_trees_is_linear(work: Callable[[Path, int], int], tmp_path: Path) -> None:
    work(tmp_path, 2)  # what is loaded once
    few, many = work(tmp_path, 128), work(tmp_path, 512)
    assert many <= MOST * few, f"{many / few:.1f} times the work for 4 times the input ({few} lines)"


def test_diff_of_many_changes_takes_linear_time() -> None:
    def seconds(n: int) -> float:
        before = "".join(f"cudaFree(p + {i});\nn += {i};\nn *= 2;\n" for i in range(n)).encode()
        start = time.process_time()
        assert patch("a", "a", before, before.replace(b"cuda", b"hip")).count(b"\n+hip") == n
        return time.process_time() - start

    # the least of three: a collection of what other tests left takes half a second
    few, many = seconds(500), min(seconds(4000) for _ in range(3))
    assert many < 24 * few + 0.1, f"{many:.2f} s for eight times the input that takes {few:.2f} s"


def chained(root: Path, n: int) -> int:
    """What it takes to tell what n headers in one chain of includes lead to."""
    folder = root / str(n)
    folder.mkdir(exist_ok=True)
    for i in range(n):
        (folder / f"f{i}.h").write_text(f'#include "f{(i + 1) % n}.h"\n' if root.name != "chain" or i + 1 < n else "")
    reach = Reach()

    def work() -> None:
        assert all(reach.digest(str(folder / f"f{i}.h"), (f"f{(i + 1) % n}.h",), ()) for i in range(n))

    return lines_run(work)


def declared(root: Path, n: int) -> int:
    """What it takes to tell which names of n headers in one chain each file has."""
    names = [frozenset({f"cudaOwn{i}"}) for i in range(n)]
    scans = {f"/t/f{i}.h": Scan(names[i], ((f"f{i + 1}.h", True),), asked=names[-1] | names[i]) for i in range(n)}

    def work() -> None:
        graph = Graph(list(scans), scans, ())
        assert all(graph.declared(f) == names[-1] for f in list(scans)[:-1])

    return lines_run(work)


@pytest.mark.parametrize("shape", ["chain", "circle"])
def test_work_on_includes_of_includes_is_linear(shape: str, tmp_path: Path) -> None:
    root = tmp_path / shape
    root.mkdir()
    chained(root, 2)
    few, many = chained(root, 64), chained(root, 256)
    assert many <= MOST * few, f"{many / few:.1f} times the work for 4 times the input ({few} lines)"


def test_work_on_names_of_a_tree_is_linear(tmp_path: Path) -> None:
    few, many = declared(tmp_path, 64), declared(tmp_path, 256)
    assert many <= MOST * few, f"{many / few:.1f} times the work for 4 times the input ({few} lines)"


#: kind of build file, what it begins with, and what is in it many times
BUILD_FILES = {
    "linked targets": (
        "cmake",
        "find_package(CUDA)\n",
        "cuda_add_executable(a{i} a.cu)\ntarget_link_libraries(a{i} PUBLIC b)\n",
    ),
    "modules": ("cmake", "", "include(FindCUDA)\n"),
    "flags": ("cmake", "project(p LANGUAGES CUDA)\n", 'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -lcublas")\n'),
    "properties": ("cmake", "project(p CUDA)\n", "set_source_files_properties(a{i}.cpp PROPERTIES LANGUAGE CUDA)\n"),
    "conditions": ("cmake", "project(p CUDA)\n", "if(CUDA_FOUND)\nadd_library(a{i} a{i}.cu)\nendif()\n"),
    "rules": ("make", "", "a{i}: a{i}.cu\n\tnvcc -O3 -arch=sm_70 -c a{i}.cu\n"),
    "variables of variables": ("make", "", "F{j} = $(F{i})\na{i}: a.cu\n\tnvcc $(F{i}) -c a.cu\n"),
    "options of cmake": ("script", "", "cmake -DCMAKE_CUDA_FLAGS=-G ..\nexport CUDA_HOME=/usr/local/cuda\nncu ./a\n"),
    "commands": ("script", "", "nvcc -O3 a{i}.cu -o a{i} -L$CUDA_HOME/lib64 -std=c++11\n"),
}


@pytest.mark.parametrize("name", BUILD_FILES)
def test_work_on_build_files_is_linear(name: str) -> None:
    kind, head, line = BUILD_FILES[name]

    def read(n: int) -> int:
        many = (line.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
        data = (head + "".join(many)).encode()
        asked = Asked(kind, archs=("gfx942",), defined=facts(kind, data).defines)
        return lines_run(lambda: convert(data, "CMakeLists.txt", asked))

    read(2)  # what is loaded once
    few, most = read(24), read(96)
    assert most <= MOST * few, f"{most / few:.1f} times the work for 4 times the input ({few} lines)"


#: kind of build file, "" for a source, and a text of what patterns meet again and again: no lines of Python show that
LONG_TEXTS = {
    "words before line comments": ("", "min //x "),
    "words before open comments": ("", "declval /*x\n"),
    "types before line comments": ("", "decltype //x"),
    "definitions with open comments": ("", "define/*x"),
    "members with arguments": ("", "a.b<c, "),
    "names with arguments": ("", "a::b<c, "),
    "blanks": ("cmake", " "),
    "blank lines": ("cmake", " \n"),
    "open projects": ("cmake", "project (x"),
    "one long word": ("pyproject", "CMAKE_CUDA_FLAGSa"),
    "one long line": ("lines", "project("),
    "options with an open quote": ("script", '-DCMAKE_CUDA_FLAGS="'),
    "options of a list": ("setup", '"-DCMAKE_CUDA_FLAGS=-G", '),
}
_LONG = 40_000  # bytes
_MOST_S = 2.0  # of CPU time; what grows with the square takes 4 s and more
_HEADS = {
    "": "__global__ void k(int* p) { cudaFree(p); }\ntemplate <class T> struct A;\n",
    "cmake": "project(p LANGUAGES CUDA)\n",
    "pyproject": "[tool.scikit-build]\n",
    "lines": "FROM nvidia/cuda\n",
    "script": 'cmake "',
    "setup": "import os\na = [",
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_patterns_are_linear(name: str) -> None:
    kind, part = LONG_TEXTS[name]
    size = _LONG * 3 if kind in ("script", "setup") else _LONG  # these have less to do for each byte
    text = _HEADS[kind] + part * (size // len(part))
    began = time.process_time()
    if kind:
        convert(text.encode(), "CMakeLists.txt", Asked(kind))
        facts(kind, text.encode())
    else:
        translate(text, Options(use_clang=False), path="a.cu")
    assert time.process_time() - began < _MOST_S


@pytest.mark.parametrize("blanks", [" " * 300, "\n" * 300, " \n" * 150, "   # a\n" + " " * 150 + "\n" + "\t" * 150])
def test_long_runs_of_blanks_part_what_they_part(blanks: str) -> None:
    head, tail = (
        f"project(p{blanks}LANGUAGES{blanks}CUDA)",
        f'set(CMAKE_CUDA_FLAGS "-G{blanks}-lineinfo"{blanks}){blanks}',
    )
    text = f"{head}\n# a{blanks}\n{tail}"
    output = convert(text.encode(), "CMakeLists.txt", Asked("cmake")).output.decode()
    assert f"project(p{blanks}LANGUAGES{blanks}HIP)\n# a{blanks}\n" in output
    assert output.endswith(f'set(CMAKE_HIP_FLAGS "-g{blanks}-gline-tables-only"{blanks}){blanks}')
