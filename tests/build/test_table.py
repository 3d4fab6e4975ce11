"""The table of build files: what breaks its rules is named with file and line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from nvidia_tools import tool

from cu2port.build.convert import convert
from cu2port.build.options import is_one
from cu2port.build.table import Table, read_table, table
from cu2port.build.words import Asked
from cu2port.catalog.rulefile import CatalogError
from cu2port.core.data import data_path
from cu2port.project.tree import CannotRun
from cu2port.verify import toolchain

HEAD = 'build = "x"\ntitle = "X"\n'


def read(folder: Path, text: str) -> Table:
    file = folder / "x.toml"
    file.write_text(text, encoding="utf-8")
    return read_table([file])


def test_the_table_is_whole() -> None:
    assert all(table()[kind] for kind in table())
    packages = {row.package for kind in table().values() for row in kind.values()}
    assert {"hipblas", "rocthrust"} <= {name for text in packages for name in text.split()}


def test_every_option_begins_with_a_dash() -> None:
    assert all(word.startswith("-") for word in table()["option"])  # lines of Makefiles without one are passed over


def test_the_kept_table_is_the_one_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))
    first = table.__wrapped__()
    (kept,) = tmp_path.glob("build-*.bin")
    assert table.__wrapped__() == first == read_table(sorted((data_path("rules") / "build").glob("*.toml")))
    good = kept.read_bytes()
    kept.write_bytes(good[:40] + bytes([good[40] ^ 0x55]) + good[41:])
    assert table.__wrapped__() == first
    assert kept.read_bytes() == good


def test_rows_are_read(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        HEAD + '[rewrite.option]\n"-a" = "-b"\n"-c" = { to = "-d={value}", value = true }\n'
        '[drop.option]\n"-e" = "why"\n[review.target]\nA = { why = "w", instead = "i" }\n',
    )
    assert rows["option"]["-a"].to == "-b" and rows["option"]["-c"].value
    assert rows["option"]["-e"].fate == "drop" and rows["target"]["A"].instead == "i"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('build = "y"\ntitle = "X"\n', "build/x.toml:1: `build`: must be the file's stem, `x`"),
        ('build = "x"\n', "build/x.toml: `title` is missing"),
        (HEAD + "[rewrite\n", "build/x.toml: not TOML"),
        (HEAD + '[rename.option]\n"-a" = "-b"\n', "`rename`: a table is [FATE.KIND]"),
        (HEAD + '[rewrite.word]\n"-a" = "-b"\n', "kinds are option, target"),
        (HEAD + '[rewrite.option]\n"-b" = "-c"\n"-a" = "-b"\n', "build/x.toml:5: `-a`: must stand before `-b`"),
        (HEAD + '[rewrite.option]\n"-a" = 1\n', "build/x.toml:4: `-a`: a row is a table or text"),
        (HEAD + '[rewrite.option]\n"-a" = { why = "w" }\n', "build/x.toml:4: `-a`: `to` is missing"),
        (HEAD + '[drop.option]\n"-a" = { to = "w", why = "x" }\n', "build/x.toml:4: `-a`: unknown key ['to']"),
        (HEAD + '[review.option]\n"-a" = "w"\n', "build/x.toml:4: `-a`: a row is a table in one line"),
        (HEAD + '[review.option]\n"-a" = { why = "w" }\n', "`instead` is missing"),
        (HEAD + '[rewrite.option]\n"-a" = { to = " " }\n', "to must be text"),
        (HEAD + '[rewrite.option]\n"-a" = { to = "b", value = 1 }\n', "value must be true or false"),
        (HEAD + '[rewrite.option]\n"-a" = { to = "b", trust = "some" }\n', "trust must be exact or review"),
        (HEAD + '[rewrite.option]\n"-a" = { to = "b", trust = "review" }\n', "has a `why`"),
        (HEAD + '[rewrite.option]\n"-a" = { to = "{value}" }\n', "need value = true"),
        (HEAD + '[rewrite.option]\n"-a" = { to = "b", value = true, when = "c" }\n', "belong together"),
        (HEAD + '[drop.option]\n"-a" = "w"\n[rewrite.option]\n"-a" = "-b"\n', "the option `-a` has two rows"),
    ],
)
def test_each_mistake_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CatalogError) as e:
        read(tmp_path, text)
    assert said in str(e.value)
    assert "\n" not in str(e.value).partition("not TOML")[0]


#: Options of nvcc that clang has by the same name, with the same meaning; with a value where they take one.
SAME = (
    "--compile --debug --help --preprocess --save-temps --shared --verbose --version -E -M -MD -MM -MMD -MP"
    " -Wconversion -Wno-deprecated-declarations -Wreorder -c -g -h -m64 -pg -r -save-temps -shared -v -w"
).split()
SAME_WITH_VALUE = {
    "--Werror": ("{} all-warnings", "{}=reorder"),
    "--define-macro": ("{} A=1", "{}=A"),
    "--std": ("{} c++17", "{}=c++17"),
    "--stdlib": ("{} libstdc++", "{}=libstdc++"),
    "--undefine-macro": ("{} A", "{}=A"),
    "--x": ("{} cu",),
    "-D": ("{} A", "{}A=1"),
    "-I": ("{} .", "{}."),
    "-L": ("{} .", "{}."),
    "-MF": ("{} a.d",),
    "-MT": ("{} a.o",),
    "-O": ("{} 3", "{}3", "{}=3"),
    "-U": ("{} A", "{}A"),
    "-Werror": ("{}", "{} all-warnings", "{}=cross-execution-space-call"),
    "-include": ("{} k.hip",),
    "-isystem": ("{} .",),
    "-l": ("{} m", "{}m"),
    "-o": ("{} a.o",),
    "-std": ("{} c++17", "{}=c++17"),
    "-stdlib": ("{} libstdc++", "{}=libstdc++"),
    "-x": ("{} cu", "{}=cu"),
}
#: Those that many programs have, and that build files hardly ever give to nvcc.
COMMON = frozenset("--concat -concat --prune -prune -dp -e".split())
_NAMES_ITSELF = frozenset({"--help", "-h", "--version"})


@pytest.mark.slow
def test_options_with_the_same_name_are_clangs(tmp_path: Path) -> None:
    """What becomes of each way to write them is what clang takes: it tells its commands and runs none."""
    try:
        clang = toolchain.find("", ["gfx942"], str(tmp_path))
    except CannotRun as e:
        pytest.skip(f"no compiler for AMD GPUs here: {e}")
    (tmp_path / "k.hip").write_text("int main() {}\n")
    written = [option for option in SAME if option not in _NAMES_ITSELF]
    written += [form.format(option) for option, forms in SAME_WITH_VALUE.items() for form in forms]
    for options in written:
        text = f'project(a LANGUAGES CXX CUDA)\nset(CMAKE_CUDA_FLAGS "{options}")\n'
        output = convert(text.encode(), "CMakeLists.txt", Asked("cmake", converts=True)).output.decode()
        new = output.partition('CMAKE_HIP_FLAGS "')[2].partition('"')[0]
        words = (*clang.command, "-###", "-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc", *new.split())
        done = subprocess.run([*words, "-c", "k.hip"], cwd=tmp_path, capture_output=True, text=True)
        refused = [line for line in done.stderr.splitlines() if "error:" in line]
        assert not refused, (options, new, refused)


@pytest.mark.slow
def test_every_option_that_nvcc_tells_of_is_known() -> None:
    """Those that `nvcc --help` has in a column: long names, and short ones in brackets."""
    asked = subprocess.run([tool("nvcc"), "--help"], capture_output=True, text=True, check=True)
    names = set(re.findall(r"^(--[\w-]+)[ <{.]", asked.stdout, re.M)) | set(
        re.findall(r"\((-[\w-]+)\) *$", asked.stdout, re.M)
    )
    assert len(names) > 250
    assert not {n for n in names - {*SAME, *SAME_WITH_VALUE} - COMMON if not is_one(n)}
