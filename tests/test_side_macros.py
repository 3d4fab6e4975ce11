"""Macros for execution spaces, and those that make names of CUDA's: read by the scan, and known to the files that
include them."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.facts.prefix_macros import prefix_macros
from cu2port.facts.side_macros import by_name, side_macros
from cu2port.facts.unit import Unit

WORDS = st.sampled_from(["__host__", "__device__", "inline", "static", "HD", "FN", "__global__", "\\\n", "x"])
LINES = st.lists(
    st.tuples(st.sampled_from(["HD", "FN", "DEV", "__both__"]), st.lists(WORDS, min_size=1, max_size=6)), max_size=6
)


@given(LINES)
def test_the_scan_reads_what_the_lexer_reads(lines: list[tuple[str, list[str]]]) -> None:
    text = "".join(f"#define {name} {' '.join(words)} \n" for name, words in lines) + "int n;\n"
    assert by_name(side_macros(text)) == Unit(text, load_catalog()).side_macros


def test_what_is_no_macro_for_sides() -> None:
    text = "#define F(x) __device__ x\n// __host__\n#define A B\n#define G int __device__ f() { return 1; }\n"
    assert by_name(side_macros(text)).keys() <= Unit(text, load_catalog()).side_macros.keys()


def test_a_header_s_macros_are_known_where_it_is_included(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "hd.h").write_text("#define HD_ __host__ __device__\n#define HD HD_ inline\n")
    (src / "all.h").write_text('#include "hd.h"\n')
    text = "{}template <class T> HD float f(T t);\ntemplate <> inline __device__ float f(int i) {{ return i; }}\n"
    (src / "f.cuh").write_text(text.format('#include "all.h"\n'))
    (src / "g.cuh").write_text(text.format(""))
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "template <> inline __host__ __device__ float f" in (tmp_path / "out" / "f.cuh").read_text()
    assert "template <> inline __device__ float f" in (tmp_path / "out" / "g.cuh").read_text()  # HD is not known there


def test_macros_that_make_names() -> None:
    text = (
        "#define A(f) cuda##f\n#define B(x, call) \\\n  check(cuda ## call, x)\n#define C(f) cudaX##f\n"
        "#define D(f) g(f)\n#define E(x) cuda##y\n"
    )
    assert prefix_macros(text) == {"A 0", "B 1"}


def test_uses_in_other_files_of_macros_that_make_names(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "call.h").write_text("#include <cuda_runtime.h>\n#define CALL(f) check(cuda##f)\n")
    use = "void g() { CALL(MallocHost(&p, n)); CALL(Free(p)); CALL(SetDoubleForDevice(d)); }\n"
    (src / "a.cu").write_text(f'#include "call.h"\n{use}')
    (src / "b.cu").write_text(use)
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(tmp_path / "out")])
    assert done.exit_code == 1, done.output
    assert "`CALL` builds `cudaSetDoubleForDevice` from `SetDoubleForDevice`, which has no counterpart" in done.output
    out = tmp_path / "out"
    assert "#define CALL(f) check(hip##f)\n" in (out / "call.h").read_text()
    assert "CALL(HostMalloc(&p, n)); CALL(Free(p)); CALL(SetDoubleForDevice(d));" in (out / "a.cu").read_text()
    assert use in (out / "b.cu").read_text()  # which CALL that is is not known
    again = CliRunner().invoke(cli, ["convert", str(out), "-o", str(tmp_path / "again")])
    assert (tmp_path / "again" / "a.cu").read_bytes() == (out / "a.cu").read_bytes(), again.output
