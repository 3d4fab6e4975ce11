"""Trees of a stranger: nothing of them is executed, and nothing outside of them is opened."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tracing import ROOT, Trace, trace

from cu2port.cli import cli

CODE = "#include <cuda_runtime.h>\n__global__ void k(int* p) { *p = min(1, 2u); }\nint main() { cudaFree(0); }\n"


def git(folder: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def hostile_tree(folder: Path) -> Path:
    """A git work tree in which all that could name a program names one that leaves a mark; returns where that would
    be."""
    marks = folder.parent / "marks"
    marks.mkdir(parents=True)
    program = folder / "run-me"
    (folder / "lib").mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {marks}/ran\n')
    program.chmod(0o755)
    (folder / "a.cu").write_text(CODE)
    (folder / "lib" / "b.cu").write_text(CODE)
    (folder / "lib" / "kept.o").write_text("")
    (folder / ".gitignore").write_text("*.o\nout/\n")
    (folder / ".gitattributes").write_text("*.cu filter=evil diff=evil merge=evil\n")
    bare = folder / "lib" / "bare"  # what git takes for a repository once it is in that folder
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
        (bare / name / "c.cu").write_text(CODE)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\nbare = false\nworktree = .\nfsmonitor = {program}\n")
    (bare / ".gitignore").write_text("*.o\n")
    (bare / "d.o").write_text("")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "1")
    keys = "core.fsmonitor core.sshCommand core.gitProxy core.askPass core.pager core.editor diff.external"
    keys += " filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.command diff.evil.textconv"
    keys += " credential.helper uploadpack.packObjectsHook alias.status alias.ls-files interactive.diffFilter"
    lines = []
    for key in (*keys.split(), "core.hooksPath"):
        section, *inner, name = key.split(".")
        lines += [f'[{section} "{inner[0]}"]' if inner else f"[{section}]"]
        lines += [f"\t{name} = {folder / 'hooks' if name == 'hooksPath' else program}"]
    with (folder / ".git" / "config").open("a") as f:
        f.write("\n".join((*lines, "")))
    assert git(folder, "config", "filter.evil.clean") == f"{program}\n"
    (folder / "hooks").mkdir()
    for name in ("post-index-change", "post-checkout", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
        (folder / "hooks" / name).symlink_to(program)
    for name in ("networkx", "click", "pathspec", "jinja2", "rich", "lark", "sitecustomize", "clang", "json", "re"):
        (folder / f"{name}.py").write_text(f"open({str(marks / name)!r}, 'w')\n")
    for name in ("git", "clang", "clang++", "c++", "gcc", "nvcc", "hipcc", "ld", "python", "python3", "uname"):
        (folder / name).symlink_to("run-me")
    commands = [{"directory": ".", "file": "a.cu", "command": f"{program} -fplugin=./p.so @resp -c a.cu"}]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    for name in ("CMakeLists.txt", "Makefile", "setup.py"):
        (folder / name).write_text(f'execute_process(COMMAND {program})\nall:; {program}\nx = "cuda"\n')
    return marks


def only_our_own(t: Trace) -> None:
    """No program but Python itself, and that for cu2port and for libclang's process alone."""
    for words in t.execs:
        assert os.path.realpath(words[0]) == os.path.realpath(sys.executable), words
        assert words[1:3] == ("-P", "-c") or words[1:4] == ("-P", "-m", "cu2port.facts.clang_worker"), words


COMMANDS = {
    "convert": ("convert", ".", "-o", "../out", "-p", "."),
    "convert of a folder": ("convert", "lib/bare", "-o", "../out"),
    "in-place": ("convert", "a.cu", "lib", "--in-place"),
    "diff": ("convert", ".", "--diff"),
    "one file": ("convert", "a.cu", "-o", "-"),
    "native": ("convert", ".", "--dry-run", "--warp", "native"),
    "audit": ("audit", ".", "--format", "html"),
    "audit of a folder": ("audit", "lib/bare"),
    "lint": ("lint", "."),
    "lint --fix": ("lint", "--fix", "lib"),
    "query": ("query", "cudaFree"),
    "explain": ("explain", "CU101"),
    "rules": ("rules",),
    "ptx": ("ptx", "-e", "add.s32 %0, %1, %2;"),
    "report": ("report", "merge", "compile_commands.json"),  # a document that is no report
}
EXECUTE = {"simulate", "trial", "sim-cc", "verify"}


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cache that the tests share, so that libclang's shim is made once."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_executes_what_a_tree_names(tmp_path: Path, cache: str, name: str) -> None:
    tree = tmp_path / "tree"
    marks = hostile_tree(tree)
    for path in (tree / "a.cu", tree / "lib" / "b.cu"):
        os.utime(path, (1, 1))  # git would read them again, through the filter
    places = os.pathsep.join([".", "", os.environ["PATH"]])
    t = trace(COMMANDS[name], tree, tmp_path / "scratch", {"PATH": places, "CU2PORT_CACHE_DIR": cache})
    assert t.done.returncode in ((2,) if name == "report" else (0, 1)), t.done.stderr
    only_our_own(t)
    assert not any(marks.iterdir())


def test_each_command_is_tried_or_said_to_execute_code() -> None:
    """README and `--help` name the commands that execute code, and no other does."""
    told = (ROOT / "README.md").read_text().partition("**What is executed.**")[2].partition("All other commands")[0]
    said = " ".join((cli.help or "").partition("execute code:")[2].partition("All others")[0].split())
    for text in (told, said):
        assert {name for name in cli.commands if re.search(rf"(?<!--)\b{name}\b(?! --verify)", text)} == EXECUTE
    assert set(cli.commands) == EXECUTE | {words[0] for words in COMMANDS.values()}


def test_python_with_m_imports_nothing_of_the_working_folder(tmp_path: Path, cache: str) -> None:
    marks = hostile_tree(tmp_path / "tree")
    (tmp_path / "tree" / "sitecustomize.py").unlink()  # that one is Python's own doing, before cu2port
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator"), "CU2PORT_CACHE_DIR": cache}
    command = [sys.executable, "-m", "cu2port", "audit", "a.cu"]
    subprocess.run(command, cwd=tmp_path / "tree", env=env, check=False, capture_output=True)
    assert not any(marks.iterdir())


#: Includes that lead where a source has no business, each in a file of its own.
IMPLICIT = "void g(char* a) { memset(a, 0, 1); printf(a); }\n"  # their headers are looked for among the includes
OUT = [
    "/dev/zero",
    "{}/secret/key.h",
    "../secret/key",
    "../../../../../../../../dev/zero",
    "link.h",
    "way/key.h",
    "sub/../../secret/key",
]
DOUBT = "namespace mine { int cudaFree(int x) { return x; } }\nint g() { return mine::cudaFree(1) + cudaFree(0); }\n"


@pytest.mark.parametrize(
    "words",
    [
        ("convert", ".", "-o", "../out"),
        ("convert", "a0.cu", "-o", "-"),
        ("convert", "a2.cu", "a4.cu", "-o", "../out"),
        ("convert", ".", "--dry-run", "--warp", "native"),
        ("audit", "."),
        ("lint", "."),
        ("query", "cudaFree"),
    ],
)
def test_nothing_outside_is_opened(tmp_path: Path, cache: str, words: tuple[str, ...]) -> None:
    secret, tree = tmp_path / "secret", tmp_path / "tree"
    for folder in (secret, tree / "sub"):
        folder.mkdir(parents=True)
    for name in ("key", "key.h", "key.cu"):
        (secret / name).write_text("int SECRET;\n")
    (tree / "link.h").symlink_to("../secret/key")
    (tree / "link.cu").symlink_to("../secret/key.cu")
    (tree / "way").symlink_to("../secret")
    (tree / "zero.cu").symlink_to("/dev/zero")
    (tree / ".gitignore").symlink_to("../secret/key")
    for n, name in enumerate(OUT):
        (tree / f"a{n}.cu").write_text(f'#include "{name.format(tmp_path)}"\n{DOUBT}{CODE}{IMPLICIT}')
    t = trace(words, tree, tmp_path / "scratch", {"CU2PORT_CACHE_DIR": cache})
    assert t.done.returncode in (0, 1), t.done.stderr
    only_our_own(t)
    assert not [p for p in t.opens if p.startswith(str(secret)) or p == "/dev/zero" or p.endswith("/link.h")]
    ours = [*sys.path, sys.prefix, sys.base_prefix, str(ROOT), str(tmp_path), cache]
    system = ["/usr", "/lib", "/etc/ld.so", "/etc/local", "/dev/null", "/dev/urandom", "/proc", "/sys"]
    system += ["/etc/os-release", "/etc/debian_version"]  # libclang asks what system it is on
    homes = tuple(os.path.realpath(p) for p in ours if p) + tuple(p for p in ours if p) + tuple(system)
    assert not [p for p in t.opens if not p.startswith(homes)]


def test_libclang_does_not_take_all_memory(tmp_path: Path, cache: str) -> None:
    """An include that only a compiler sees through, of a device without an end."""
    source = tmp_path / "a.cu"
    source.write_text(f'#define X "/dev/zero"\n#include X\n{DOUBT}')
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    command = [sys.executable, "-P", "-c", "from cu2port.cli import main; main()", "convert", str(source), "-o", "-"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator"), "CU2PORT_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code, *command], env=env, capture_output=True, check=True, timeout=120)
    assert int(done.stdout.split()[-1]) < 1_600_000  # KiB
    assert b"CU904 lexer-alone" in done.stderr + done.stdout


def test_build_files_of_a_stranger_are_text(tmp_path: Path, cache: str) -> None:
    """What a build file says to run or to read is neither run nor read; one that is too large has one line."""
    tree, marks = tmp_path / "tree", tmp_path / "marks"
    (tree / "big").mkdir(parents=True)
    marks.mkdir()
    mark = f"touch {marks}/ran"
    secret = tmp_path / "secret.mk"
    secret.write_text("NVCC = nvcc\n")
    (tree / "a.cu").write_text(CODE)
    (tree / "Makefile").write_text(
        f"X := $(shell rm -rf {marks}; {mark})\nY != {mark}\ninclude {secret}\n-include ../secret.mk\n"
        f"$(eval Z := $(shell {mark}))\n.SHELLFLAGS = -c\nNVCC = nvcc\nall: ; +{mark}\na.o: a.cu\n\t$(NVCC) -c a.cu\n"
    )
    (tree / "CMakeLists.txt").write_text(
        f'project(p LANGUAGES CUDA)\nexecute_process(COMMAND sh -c "{mark}")\ninclude({secret})\n'
        f'file(READ {secret} S)\nadd_subdirectory(/ /tmp/x)\nadd_executable(a)\nset(CMAKE_CUDA_COMPILER "{mark}")\n'
    )
    (tree / "setup.py").write_text(
        f"import os\nos.system('{mark}')\nfrom torch.utils.cpp_extension import CUDAExtension\n"
        f"CUDAExtension('a', ['a.cu'], extra_compile_args={{'nvcc': ['-fplugin={tmp_path}/evil.so']}})\n"
    )
    (tree / "big" / "CMakeLists.txt").write_text("project(p LANGUAGES CUDA)\n" + "set(CUDA_X y)\n" * 700_000)
    t = trace(("convert", ".", "-o", str(tmp_path / "out")), tree, tmp_path / "scratch", {"CU2PORT_CACHE_DIR": cache})
    assert t.done.returncode in (0, 1), t.done.stderr
    only_our_own(t)
    assert list(marks.iterdir()) == [] and str(secret) not in t.opens and f"{tmp_path}/evil.so" not in t.opens
    lines = (t.done.stdout + t.done.stderr).decode().splitlines()
    assert len([line for line in lines if "big/CMakeLists.txt" in line]) == 1
    assert max(map(len, lines)) < 1000 and not [line for line in lines if "Traceback" in line]
