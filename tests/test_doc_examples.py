"""What README and docs show is what happens: commands are run, their output compared, configurations read.

A block `console` holds commands after `$ ` and what they print; `pytest --update` writes it again. A block below a line
that ends in "`NAME`:" is a file of that name for the commands after it. Commands of a block `sh` run on a small tree
and may end with 0 or 1. Every other block is one of `ELSEWHERE`, with what tests it.

The guide is one walk: its blocks follow each other in one folder, with a copy of its project, and a block `diff` is
applied to the converted tree.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from cu2port.cli import main
from cu2port.project.config import load_config
from cu2port.project.tree import CannotRun
from cu2port.verify import headers, toolchain

ROOT = Path(__file__).resolve().parent.parent
# figures of whole projects, and pages that are written by a test or a tool
NOT_READ = {"validation.md", "ptx-instructions.md", "rules.md", "commands.md"}
DOCUMENTS = sorted(p for p in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if p.name not in NOT_READ)
GUIDE, PROJECT = ROOT / "docs" / "guide.md", ROOT / "samples" / "rowstats"
#: Commands that install, build or need what a test has not; CI runs those of the README.
NOT_RUN = re.compile(r"python3 -m venv|\.venv/|pip install|nvcc |\.ci/run|cp -r cu2port/samples")
#: (document, first words of the block) -> what holds it.
ELSEWHERE = {
    ("README.md", "cu2port convert PATH... (-o OUT"): "usage lines: test_the_usage_lines_name_every_command",
    ("docs/audit.md", "44 CUDA files"): "a whole project",
    ("docs/guide.md", "$ cu2port verify"): "test_the_guide_compiles_as_it_says",
    ("docs/guide.md", "--- a/"): "test_the_guide_is_what_happens",
    ("docs/guide.md", "repos:"): "tests/lint/test_hooks.py",
    ("docs/guide.md", "parallel -j"): "tests/test_shards.py",
    ("docs/guide.md", "#SBATCH"): "tests/test_shards.py",
    ("docs/guide.md", "strategy:"): "tests/test_shards.py",
    ("docs/lint.md", "x = f();"): "tests/lint/test_lint.py",
    ("docs/lint.md", "# .pre-commit-config.yaml"): "tests/lint/test_hooks.py",
    ("docs/lint.md", "# .github/workflows"): "tests/lint/test_hooks.py",
    ("docs/lint.md", "autocmd FileType"): "an editor's",
    ("docs/ptx.md", 'asm("bfi.b32'): "test_the_first_example_of_ptx",
    ("docs/ptx.md", 'asm("add.cc'): "test_the_example_of_statements_that_belong_together",
    ("docs/ptx.md", "#define ADDC"): "test_the_example_of_macros_that_belong_together",
    ("docs/ptx.md", "__device__ unsigned addc("): "test_the_example_of_functions_that_belong_together",
    ("docs/ptx.md", "__device__ void row("): "test_the_example_of_functions_of_several_statements",
    ("docs/ptx.md", 'asm("mma.'): "test_the_example_of_matrix_products",
    ("docs/ptx.md", "for (int k = 0; k < n; ++k) {"): "test_the_example_of_sums_that_stay_in_tiles",
    ("docs/ptx.md", "    cu2port::ptx::untranslated"): "the form of a guard; tests/ptx/test_lift.py",
    ("docs/simulate.md", "CXXFLAGS +="): "tests/sim/test_machines.py",
    ("docs/simulate.md", "execute_process"): "tests/sim/test_machines.py",
    ("docs/warp.md", "int base;"): "tests/warp/test_leader_value.py",
    ("docs/warp.md", "int lane ="): "tests/warp/test_warp_native.py",
}
SOURCE = "__global__ void k(float* x) { *x = 1; }\nint main() { float* x; cudaMalloc(&x, 4); k<<<1, 1>>>(x); }\n"
HIP = "#include <hip/hip_runtime.h>\n" + SOURCE.replace("cuda", "hip")
PTX = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, where the text is in the document, and the file that it is ("")."""

    language: str
    text: str
    start: int
    end: int
    file: str


def blocks(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    fence = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
    found = []
    for m in fence.finditer(text):
        name = re.search(r"`([\w./]+)`:\n\n\Z", text[: m.start()])
        found.append(Block(m[1], m[2], m.start(2), m.end(2), name[1] if name else ""))
    return found


def shown(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def tree(folder: Path) -> None:
    """What the commands of the documents refer to."""
    for name, text in {
        "src/a.cu": SOURCE, "src/a.hip": HIP, "b.cuh": SOURCE, "a.hip": HIP, "app.hip": HIP, "kernel.ptx": PTX,
        "build/compile_commands.json": "[]",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


#: A line that a shell only splits into words; `simulate` gives its own output to the program.
_PLAIN = re.compile(r"cu2port (?!simulate)[^|<>&;$*?~`(\\]+")


def called(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in this process: Python and the catalogue are loaded already."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as m, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        m.chdir(folder)
        m.setenv("NO_COLOR", "1")
        m.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            main()
    code = end.value.code
    assert isinstance(code, int)
    texts = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err) if isinstance(stream.buffer, io.BytesIO))
    return subprocess.CompletedProcess(words, code, *texts)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line of a document; what goes to standard error comes first, as a terminal shows a short command."""
    body = re.sub(r"\s{2,}#.*", "", command)
    if _PLAIN.fullmatch(body):
        return called(shlex.split(body), folder)
    program = f"{shlex.quote(sys.executable)} -P -m cu2port"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    line = re.sub(r"^cu2port\b", program, body)
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=env, text=True, capture_output=True, check=False, timeout=300
    )


def needs_compiler(text: str) -> bool:
    return bool(re.search(r"cu2port (?:simulate|trial)\b", text))


def skip_without_compiler(text: str) -> None:
    if needs_compiler(text) and not shutil.which("g++"):
        pytest.skip("no gcc for C++ here")


def slow_if_compiled(document: Path, text: str) -> tuple[pytest.MarkDecorator, ...]:
    """What compiles is slow, but for README's."""
    return (pytest.mark.slow,) if needs_compiler(text) and document.name != "README.md" else ()


def consoles() -> Iterator[ParameterSet]:
    for document in DOCUMENTS:
        if document != GUIDE:
            for b in blocks(document):
                if b.language == "console":
                    yield pytest.param(document, b, marks=slow_if_compiled(document, b.text))


def console_id(found: object) -> str:
    return found.text.split("\n")[0].removeprefix("$ ") if isinstance(found, Block) else shown(Path(str(found)))


@pytest.mark.parametrize(("document", "block"), list(consoles()), ids=console_id)
def test_a_console_shows_what_is_printed(document: Path, block: Block, tmp_path: Path, update: bool) -> None:
    skip_without_compiler(block.text)
    for other in blocks(document):
        if other.file and other.start < block.start:
            (tmp_path / other.file).write_text(other.text)
    shutil.rmtree(tmp_path / "cu2port", ignore_errors=True)
    printed = ""
    for command in re.findall(r"^\$ (.*)", block.text, re.M):
        out = re.search(r" -o (\S+)", command)
        if out is not None:
            (tmp_path / out[1]).unlink(missing_ok=True)
        done = run(command, tmp_path)
        printed += f"$ {command}\n{done.stdout}{done.stderr}"
    if update and printed != block.text:
        text = document.read_text(encoding="utf-8")
        document.write_text(text.replace(f"```console\n{block.text}```", f"```console\n{printed}```"), encoding="utf-8")
        return
    assert printed == block.text, "if the change is meant: pytest --update, then read the diff"


def walked(folder: Path) -> Iterator[tuple[Block, str]]:
    """Do what the guide says, block by block, in `folder`: each block, with what it should hold (what is printed)."""
    shutil.copytree(PROJECT, folder / PROJECT.name)
    place = folder
    for block in blocks(GUIDE):
        wanted = block.text
        if block.file:
            (place / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "diff":
            words = ["git", "apply", "--directory=hip", "-"]
            subprocess.run(words, cwd=folder, input=block.text, text=True, check=True)
        elif block.language == "console" and not (needs_compiler(block.text) and not shutil.which("g++")):
            wanted = ""
            for command in re.findall(r"^\$ (.*)", block.text, re.M):
                if command.startswith("cd "):
                    place /= command.removeprefix("cd ")
                    wanted += f"$ {command}\n"
                else:
                    done = run(command, place)
                    wanted += f"$ {command}\n{done.stdout}{done.stderr}"
        yield block, wanted


def test_the_guide_is_what_happens(tmp_path: Path, update: bool) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    fresh, at = "", 0
    for block, wanted in walked(tmp_path):
        fresh += text[at : block.start] + wanted
        at = block.end
    fresh += text[at:]
    if update:
        GUIDE.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        shown = difflib.unified_diff(
            text.splitlines(), fresh.splitlines(), "docs/guide.md", "what happens", lineterm=""
        )
        pytest.fail("\n".join([*shown, "if the change is meant: pytest --update, then read the diff"]), pytrace=False)
    skip_without_compiler(text)


@pytest.mark.slow
def test_the_guide_compiles_as_it_says(tmp_path: Path) -> None:
    """Each line below `$ cu2port verify` is printed, before the work by hand and after it."""
    try:
        toolchain.find("wheels", ["gfx942", "gfx1100"], str(tmp_path))
        headers.find("", None)
    except CannotRun as e:
        pytest.skip(f"the wheels of cu2port[verify] are not here: {e}")
    seen = 0
    for block, _ in walked(tmp_path):
        if block.text.startswith("$ cu2port verify"):
            command, *lines = block.text.splitlines()
            done = run(f"{command.removeprefix('$ ')} --compiler wheels", tmp_path)
            printed = (done.stdout + done.stderr).splitlines()
            assert not [line for line in lines if line not in printed], "\n".join(printed)
            seen += 1
    assert seen == 2


def commands() -> Iterator[ParameterSet]:
    for document in DOCUMENTS:
        for block in blocks(document):
            if block.language == "sh":
                lines = [line for line in block.text.splitlines() if line.strip() and not NOT_RUN.search(line)]
                if lines:
                    text = "\n".join(lines)
                    yield pytest.param(shown(document), text, marks=slow_if_compiled(document, text))


@pytest.mark.parametrize(("document", "lines"), list(commands()))
def test_commands_run_as_they_are_written(document: str, lines: str, tmp_path: Path) -> None:
    skip_without_compiler(lines)
    tree(tmp_path)
    for line in lines.splitlines():
        assert line.startswith("cu2port "), line
        done = run(line, tmp_path)
        assert done.returncode in (0, 1) and "rror:" not in done.stderr, (line, done.returncode, done.stderr)


def test_configurations_are_valid(tmp_path: Path) -> None:
    count = 0
    for document in DOCUMENTS:
        for block in blocks(document):
            if block.language == "toml" and not block.file:  # a named one is a file of its example
                tomllib.loads(block.text)
                (tmp_path / "pyproject.toml").write_text(block.text)
                load_config(tmp_path / "pyproject.toml")
                count += 1
            elif block.language == "json":
                json.loads(block.text)
    assert count


def test_the_python_example_runs() -> None:
    (block,) = (b for b in blocks(ROOT / "README.md") if b.language == "python")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "hipDeviceSynchronize();" in done.stdout and "applied CU101" in done.stdout


def test_the_usage_lines_name_every_command() -> None:
    from cu2port.cli import cli

    (usage,) = (b.text for b in blocks(ROOT / "README.md") if b.text.startswith("cu2port convert PATH"))
    assert {line.split()[1] for line in usage.splitlines()} == set(cli.commands)


def test_the_options_of_convert_are_those_that_there_are() -> None:
    from cu2port.cli import cli

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("| option of `convert` | meaning |")[1].split("\n\n")[0]
    cells = re.findall(r"^\| (.*?) \| ", table, re.M)
    named = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", " ".join(cells)))
    there = {o for p in cli.commands["convert"].params for o in p.opts}
    assert named <= there


def test_the_first_example_of_ptx() -> None:
    from cu2port import translate

    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith('asm("bfi'))
    before, after = (line.split("//")[0].strip() for line in block.splitlines())
    source = f"__global__ void k(unsigned* o, unsigned a, unsigned b) {{ unsigned d;\n{before}\n*o = d; }}\n"
    assert after in translate(source, path="a.cu").output.decode()


def test_the_example_of_statements_that_belong_together() -> None:
    from cu2port import translate
    from cu2port.facts.clang import ClangService

    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith('asm("add.cc'))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    head = "__device__ void f(unsigned* a, unsigned* b, int n, unsigned flag, unsigned x, unsigned y) {\n"
    with ClangService() as clang:
        output = translate(f"{head}{before}\n}}\n", path="a.cu", clang=clang).output.decode()
    assert f"{head}{after}\n}}\n" in output


def test_the_example_of_macros_that_belong_together() -> None:
    from cu2port import translate

    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith("#define ADDC"))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    head = '#define ADD_CC(d, a, b) asm("add.cc.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))\n'
    output = translate(f"{head}{before}\n", path="sums.cuh").output.decode()
    assert f"\n{after}\n" in output


def test_the_example_of_functions_that_belong_together() -> None:
    from cu2port import translate

    start = "__device__ unsigned addc("
    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith(start))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    head = before.partition("__device__ void")[0].replace("addc", "add_cc").replace("add_cc.u32", "add.cc.u32")
    output = translate(f"{head}{before}\n", path="sums.cuh").output.decode()
    assert f"\n{after}\n" in output


def test_the_example_of_functions_of_several_statements() -> None:
    from cu2port import translate
    from cu2port.facts.clang import ClangService

    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith("__device__ void row("))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    with ClangService() as clang:
        assert f"\n{after}\n" in translate(f"{before}\n", path="sums.cu", clang=clang).output.decode()


def test_the_example_of_matrix_products() -> None:
    from cu2port import translate
    from cu2port.facts.clang import ClangService

    (block,) = (b.text for b in blocks(ROOT / "docs" / "ptx.md") if b.text.startswith('asm("mma.'))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    head = "__device__ void f(float* c, const unsigned* a, unsigned b) {\n"
    with ClangService() as clang:
        output = translate(f"{head}{before}\n}}\n", path="a.cu", clang=clang).output.decode()
    lines = [line.strip() for line in output.splitlines()]
    assert after.splitlines() == lines[lines.index("{") + 1 : lines.index("}")]


def test_the_example_of_sums_that_stay_in_tiles() -> None:
    from cu2port import translate

    texts = [b.text for b in blocks(ROOT / "docs" / "ptx.md")]
    (product,) = (text.partition("\n\n")[0] for text in texts if text.startswith('asm("mma.'))
    product = product.replace("m16n8k8.row.col.f32.bf16.bf16", "m16n8k8.row.col.f32.f16.f16")
    (block,) = (text for text in texts if text.startswith("for (int k = 0; k < n; ++k) {"))
    before, after = (re.sub(r" +// \w+$", "", part, flags=re.M).strip() for part in block.split("\n\n"))
    source = f"__device__ inline void mma(float* c, unsigned* a, unsigned b) {{\n{product}\n}}\n"
    source += "__device__ void load(unsigned* a, unsigned* b, int k) { a[0] = b[0] = k; }\n"
    source += "__global__ void k(int n, float scale) { float acc[8][4] = {}; unsigned a[2], b[8];\n"
    source += before + "\nuse(acc); }\n"
    # the document breaks a line that the output does not
    assert _packed(f"b[8];{after}use(acc);") in _packed(translate(source, path="a.cu").output.decode())


def _packed(text: str) -> str:
    return "".join(text.split())


def test_every_other_block_is_held_by_something() -> None:
    run_here = {"console", "sh", "toml", "json", "python"}
    first_example = {"cuda", "cpp"}  # of the README: tests/test_samples.py
    unknown = []
    used = set()
    for document in DOCUMENTS:
        for block in blocks(document):
            keys = [k for k in ELSEWHERE if k[0] == shown(document) and block.text.startswith(k[1])]
            used.update(keys)
            named = block.file or (document.name == "README.md" and block.language in first_example)
            if block.language not in run_here and not keys and not named:
                unknown.append((shown(document), block.text.split("\n")[0]))
    assert not unknown
    assert used == set(ELSEWHERE)
