"""compile_commands.json: found in the tree, in nvcc's and clang's dialect, with response files, several of one file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tracing import trace

from cu2port.cli import cli
from cu2port.project.compile_db import Flags, load, near, parse
from cu2port.project.compile_words import words_of

CODE = '#include "n.h"\n#if MODE\nint a = cudaFree(0);\n#else\nint a = cudaMalloc(0, 0);\n#endif\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in/src").mkdir(parents=True)
    Path("in/src/a.cu").write_text(CODE)
    return tmp_path


def commands(*lines: str, at: str = "in/build") -> None:
    Path(at).mkdir(parents=True, exist_ok=True)
    folder = str(Path("in").resolve())
    rows = [{"directory": folder, "file": "src/a.cu", "command": line} for line in lines]
    Path(at, "compile_commands.json").write_text(json.dumps(rows))


def cu2port(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="cu2port")


def test_the_dialects_say_the_same() -> None:
    wanted = Flags(("/w/a", "/w/b"), ("X=1", "Y"), ("Z",), ("/w/f.h",), "c++17")
    for line in (
        "clang++ -x cuda -I a -isystem b -DX=1 -D Y -UZ -include f.h -std=c++17 -c k.cu",
        "nvcc --x=cu --include-path a,b --define-macro X=1,Y --undefine-macro=Z --pre-include f.h --std c++17 k.cc",
        "nvcc -Ia,b -Xcompiler -DX=1,-DY -Xcompiler=-UZ -include f.h -std c++17 -gencode arch=compute_80 k.cu",
        "nvcc -I=a --system-include b -DX=1 -DY -U Z -include=f.h --std=c++17 -Xptxas -v k.cu",
    ):
        told = replace(wanted, as_cuda="x cu" in line or "x=cu" in line)
        assert parse(words_of(line.split(), Path("/w"), ()), Path("/w")) == told, line


def test_the_database_in_the_tree_is_found() -> None:
    assert near(Path("in").resolve()) is None
    commands("nvcc -DMODE=1 -c src/a.cu")
    found = cu2port("convert", "in", "-o", "out", "--skip-inactive")
    assert "build/compile_commands.json gives include folders" in found.output
    assert "cudaMalloc" in Path("out/src/a.cu").read_text()  # off with -DMODE=1
    cu2port("convert", "in", "-o", "out2", "--skip-inactive", "-p", "none")
    assert "cudaMalloc" not in Path("out2/src/a.cu").read_text()
    commands("nvcc -DMODE=0 -c src/a.cu", at="in")  # the one at the root goes first
    cu2port("convert", "in", "-o", "out3", "--skip-inactive")
    assert "cudaFree" in Path("out3/src/a.cu").read_text()


def test_a_found_database_that_is_none_counts_for_nothing() -> None:
    commands("nvcc")
    for text in ("[", "{}", '[{"file": 3}]'):
        Path("in/build/compile_commands.json").write_text(text)
        found = cu2port("convert", "in", "-o", "out", "--force")
        assert found.exit_code == 0 and "it is not used" in found.output, found.output
        assert cu2port("convert", "in", "-o", "out", "-p", "in/build").exit_code == 2


def test_several_configurations_are_one() -> None:
    commands("nvcc -DMODE=1 -DSAME -Ione -c src/a.cu", "nvcc -DMODE=0 -DSAME -Itwo -c src/a.cu")
    file = str(Path("in/src/a.cu").resolve())
    found = load(Path("in/build"))
    top = Path("in").resolve()
    assert found.merged(file) == Flags((f"{top}/one", f"{top}/two"), ("SAME",), differ=("MODE",))
    ended = cu2port("convert", "in", "-o", "out", "--skip-inactive")
    assert "1 file is compiled in several ways, which differ in MODE: all branches count there" in ended.output
    assert "cuda" not in Path("out/src/a.cu").read_text()  # both branches count


def test_response_files_are_text_inside_the_tree(tmp_path: Path) -> None:
    secret = tmp_path / "secret.rsp"
    secret.write_text("-DMODE=0")
    Path("in/flags.rsp").write_text("-DMODE=1 @more.rsp --options-file deep.rsp")
    Path("in/more.rsp").write_text('-D"A=b c"')
    Path("in/deep.rsp").write_text("@deep.rsp -DDEEP")
    Path("in/link.rsp").symlink_to(secret)
    commands(f"nvcc @flags.rsp @{secret} @link.rsp @../secret.rsp @/dev/zero @none.rsp -optf none -c src/a.cu")
    found = load(Path("in/build"), Path("in").resolve()).flags(str(Path("in/src/a.cu").resolve()))
    assert found.defines[:2] == ("MODE=1", "A=b c")
    assert set(found.defines) == {"MODE=1", "A=b c", "DEEP"}


def test_a_found_database_names_nothing_outside_the_tree(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/n.h").write_text("#define MODE 1\n")
    plugin = f"-fplugin={tmp_path}/evil.so -Xclang -load -Xclang {tmp_path}/evil.so --compiler-bindir {tmp_path}/evil"
    commands(f"nvcc -I{tmp_path}/inc -I/etc -include /etc/passwd {plugin} -c src/a.cu")
    Path("in/src/a.cu").write_text(CODE + "static int cudaFree(int n) { return n; }\n" + '#include "/etc/passwd"\n')
    found = trace(["convert", "in", "-o", "out"], tmp_path, tmp_path / "scratch")
    assert found.done.returncode in (0, 1), found.done.stderr
    assert not {p for p in found.opens if p.startswith((f"{tmp_path}/inc", "/etc/passwd", f"{tmp_path}/evil"))}
    assert not [e for e in found.execs if "evil" in " ".join(e)]
