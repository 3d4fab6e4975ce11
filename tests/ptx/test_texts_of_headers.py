"""Asm texts that are made of macros of an included file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.facts.text_macros import text_macros

HEADER = """#define SCOPE ".reg .u32 t;\\n\\t" /* for all of them */
#define SUM(x, y) "add.u32 t, " #x ", " #y ";\\n\\t" \\
    "add.u32 %0, t, 1;"
#define BODY(x, y) SCOPE \\
    SUM(x, y)
#define TITLE "sums"
#define WORK(x) run(x, "sums")
#define ENTER(x) x += 1; TITLE
"""
SOURCE = """#include "parts.h"
__device__ unsigned f(unsigned a, unsigned b) {
    unsigned d;
    asm("{" BODY(%1, %2) "}" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
"""


def test_macros_that_are_parts_of_texts_are_told() -> None:
    told = text_macros(HEADER)
    assert {line.split("(")[0].split()[0] for line in told} == {"SCOPE", "SUM", "BODY", "TITLE", "WORK"}
    assert all("\n" not in line and "/*" not in line for line in told)
    assert text_macros('#define TITLE "a title"\n#define VERSION "1.0"\n') == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        '#define X "' + "mov.u32 a " * 20_000 + '"\n',
        '#define X "' + "a." * 100_000 + '"\n',
        "#define X " + '"\\' * 100_000 + "\n",
        '#define X "mov.u32 a;" ' + "/*" * 100_000 + "\n",
        '#define X0 "mov.u32 a;"\n' + "".join(f"#define X{i + 1} X{i}\n" for i in range(10_000)),
    ],
    ids=["opcodes", "dots", "open strings", "open comments", "chain"],
)
def test_large_texts_take_no_longer_than_their_size(text: str) -> None:
    """200 KB in some hundredths of a second; where each place is looked at from each other it is minutes."""
    start = time.process_time()
    text_macros(text)
    assert time.process_time() - start < 3


def converted(tmp_path: Path, header: str, source: str = SOURCE, **more: str) -> str:
    for name, text in {"parts.h": header, "a.cu": source, **{f"{n}.h": t for n, t in more.items()}}.items():
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    CliRunner().invoke(cli, ["convert", str(tmp_path / "src"), "-o", str(tmp_path / "out"), "-j", "1"])
    return (tmp_path / "out" / "a.cu").read_text()


def test_a_text_of_a_headers_macros_is_lifted(tmp_path: Path) -> None:
    out = converted(tmp_path, HEADER)
    assert "asm(" not in out
    assert "t = a + b;" in out
    assert "d = t + 1;" in out


def test_the_header_may_be_included_by_another(tmp_path: Path) -> None:
    out = converted(tmp_path, '#include "inner.h"\n', inner=HEADER)
    assert "untranslated" not in out


@pytest.mark.parametrize(
    "second",
    ['#ifdef A\n#undef SCOPE\n#define SCOPE ".reg .u32 t, u;"\n#endif\n', '#define SUM(x, y) "mov.u32 %0, 0;"\n'],
)
def test_a_macro_with_two_definitions_may_be_either(tmp_path: Path, second: str) -> None:
    assert "untranslated" in converted(tmp_path, HEADER + second)


def test_another_headers_definition_counts(tmp_path: Path) -> None:
    out = converted(tmp_path, HEADER + '#include "other.h"\n', other='#define SCOPE ".reg .u64 t; add.u64 t, 1, 2;"\n')
    assert "untranslated" in out


def test_the_files_own_definition_comes_first(tmp_path: Path) -> None:
    own = SOURCE.replace("__device__", '#undef SUM\n#define SUM(x, y) "sub.u32 %0, " #x ", " #y ";"\n__device__', 1)
    out = converted(tmp_path, HEADER, own)
    assert "asm(" not in out
    assert "a - b" in out


def test_a_macro_of_the_file_in_a_headers_text_may_have_several_definitions(tmp_path: Path) -> None:
    header = '#define TEXT "add.u32 %0, %1, " STEP ";"\n'
    own = '#include "parts.h"\n#ifdef A\n#define STEP "1"\n#else\n#define STEP "2"\n#endif\n'
    out = converted(tmp_path, header, own + SOURCE.replace('{" BODY(%1, %2) "}', '" TEXT "').partition("\n")[2])
    assert "definitions that do different things" in out


def test_a_text_whose_strings_all_end_at_parameters_is_lifted(tmp_path: Path) -> None:
    header = """#define PAIR(Z, X) /* twice */ \\
    "\\n\\tadd.u32 "#Z", "#X", "#X";" \\
    "\\n\\tmov.u32 "#Z"0, "#Z";"
"""
    source = SOURCE.replace("BODY(%1, %2)", '".reg .u32 z, z0;" PAIR(z, %1) "add.u32 %0, z0, %2;"')
    out = converted(tmp_path, header, source)
    assert "asm(" not in out and "untranslated" not in out
    assert "z_2 = a + a;" in out and "z0 = z_2;" in out and "d = z0 + b;" in out
