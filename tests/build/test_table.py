"""The table of build files: what breaks its rules is named with file and line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from nvidia_tools import tool

from cu2port.build.options import is_one
from cu2port.build.table import Table, read_table, table
from cu2port.catalog.rulefile import CatalogError
from cu2port.core.data import data_path

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


#: Options of nvcc that clang has by the same name, with the same meaning.
SAME = frozenset(
    "--Werror --compile --debug --define-macro --help --include-path --optimize --preprocess --save-temps --shared"
    " --std --stdlib --undefine-macro --verbose --version -D -E -I -L -M -MD -MF -MM -MMD -MP -MT -O -U -Wconversion"
    " -Werror -Wno-deprecated-declarations -Wreorder -c -g -h -include -isystem -l -m64 -o -pg -r -save-temps -shared"
    " -std -stdlib -v -w -x --x".split()
)
#: Those that many programs have, and that build files hardly ever give to nvcc.
COMMON = frozenset(
    "--time -time --lib -lib --link -link --cuda -cuda --concat -concat --prune -prune "
    "-clean --entries -e -m --library --library-path --profile -dp -run-args --run-args".split()
)


@pytest.mark.slow
def test_every_option_that_nvcc_tells_of_is_known() -> None:
    """Those that `nvcc --help` has in a column: long names, and short ones in brackets."""
    asked = subprocess.run([tool("nvcc"), "--help"], capture_output=True, text=True, check=True)
    names = set(re.findall(r"^(--[\w-]+)[ <{.]", asked.stdout, re.M)) | set(
        re.findall(r"\((-[\w-]+)\) *$", asked.stdout, re.M)
    )
    assert len(names) > 250
    assert not {n for n in names - SAME - COMMON if not is_one(n)}
