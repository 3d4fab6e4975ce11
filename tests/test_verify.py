"""`verify` from end to end, with a stand-in for the compiler: it is quick, and does what each test's source asks.

A line `//!TARGET TEXT` in a source gives the error TEXT there when that target is compiled; see STAND_IN.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli
from cu2port.report.json_report import schema
from cu2port.verify import running
from cu2port.verify.compile import _names_of
from cu2port.verify.precompiled import begins_with_runtime

MAKE = shutil.which("make") or ""  # PATH has the stand-in alone in each test
STAND_IN = f"""#!{sys.executable}
import json, os, re, sys, time
words = sys.argv[1:]
if "--version" in words:
    print(os.environ.get("STAND_IN_VERSION", "clang version 22.1.8 (a stand-in)"))
    raise SystemExit
path = words[-1]
if path == "-":
    for word in words:
        if word == "--offload-arch=gfx999":
            print("clang: error: unsupported HIP gpu architecture: gfx999", file=sys.stderr)
            raise SystemExit(1)
    raise SystemExit
target = next((w[15:] for w in words if w.startswith("--offload-arch=")), "")
if "--cuda-device-only" not in words:
    target = "host"
with open(os.environ["STAND_IN_LOG"], "a") as log:
    print(json.dumps([target, words]), file=log)
folders = [w[2:] for w in words if w.startswith("-I")]
folders += [after for w, after in zip(words, words[1:]) if w == "-idirafter"]
code, deps = 0, [path]

def say(text):
    global code
    code = 1
    print(text, file=sys.stderr)

def read(path, chain):
    for number, line in enumerate(open(path, errors="replace"), 1):
        said = re.match(r"//!(\\S+) (.*)", line)
        if said and said[1] in (target, "all"):
            if said[2] == "sleep":
                time.sleep(60)
            if said[2] == "crash":
                os.kill(os.getpid(), 11)
            if said[2] == "out of memory":
                os.kill(os.getpid(), 9)
            if said[2] == "leave one behind" and os.fork() == 0:
                os.setsid()
                time.sleep(20)
                os._exit(0)
            if said[2] == "fill the disk":
                with open(words[words.index("-o" if "-o" in words else "-MF") + 1], "wb") as f:
                    while True:
                        f.write(bytes(1 << 16))
            if said[2] == "talk":
                while True:
                    print("x" * 1000, file=sys.stderr)
            if said[2] == "no list":
                raise SystemExit
            for name, at in chain:
                print(f"In file included from {{name}}:{{at}}:", file=sys.stderr)
            say(f"{{path}}:{{number}}:3: error: {{said[2]}}")
        include = re.match(r'#include ["<]([^">]+)[">]', line)
        if include and not include[1].startswith("hip/"):
            for folder in (os.path.dirname(path), *folders):
                if os.path.isfile(f"{{folder}}/{{include[1]}}"):
                    deps.append(f"{{folder}}/{{include[1]}}")
                    read(f"{{folder}}/{{include[1]}}", [*chain, (path, number)])
                    break
            else:
                say(f"{{path}}:{{number}}:10: fatal error: '{{include[1]}}' file not found")
                raise SystemExit(1)

read(path, [])
for flag in ("-MF", "-o"):
    if flag in words:
        with open(words[words.index(flag) + 1], "w") as f:
            f.write("unit: " + " \\\\\\n ".join(d.replace(" ", "\\\\ ") for d in deps) + "\\n")
raise SystemExit(code)
"""
OLD = "#include <cuda_runtime.h>\n__global__ void k() {}\nint main() { cudaFree(0); }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, the stand-in as the only clang, HIP's headers in `rocm/`."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    write("../bin/clang++", STAND_IN).chmod(0o755)
    write("../rocm/include/hip/hip_runtime.h", "")
    write("../rocm/include/hip/hip_version.h", "#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def cu2port(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), prog_name="cu2port")


def verify(*words: str) -> Result:
    return cu2port("verify", *words, "--arch", "gfx942,gfx1100", "-j", "1")


def compiled() -> list[tuple[str, list[str]]]:
    """(target, the words of the command) of each compilation so far."""
    log = Path("../log")
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def section(report: str = "r.json") -> dict[str, Any]:
    document = json.loads(Path(report).read_text())
    jsonschema.Draft202012Validator(schema()).validate(document)
    found: dict[str, Any] = document["verify"]
    return found


# verdicts and exit codes


def test_all_compile() -> None:
    write("src/a.cu", OLD)
    write("src/b.cpp", "int b;\n")
    write("src/c.h", "")
    assert cu2port("convert", "src", "-o", "out", "--rename", ".hip").exit_code == 0
    done = verify("out", "--report", "r.json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "clang version 22.1.8 (a stand-in) (path: " in done.stdout
    assert [(t, Path(w[-1]).name) for t, w in compiled()] == [
        ("host", "a.hip"),
        ("host", "b.cpp"),
        ("gfx942", "a.hip"),
        ("gfx1100", "a.hip"),
    ]
    found = section()
    assert found["summary"] == {
        "units": 2,
        "by_verdict": {"compiles": 2, "fails": 0, "missing-header": 0, "unfinished": 0},
        "by_target": {
            "host": {"compiles": 2, "fails": 0, "missing-header": 0, "unfinished": 0},
            "gfx942": {"compiles": 1, "fails": 0, "missing-header": 0, "unfinished": 0},
            "gfx1100": {"compiles": 1, "fails": 0, "missing-header": 0, "unfinished": 0},
        },
        "missing_headers": {},
    }
    assert found["hip"] == {"root": os.path.realpath("../rocm"), "from": "rocm", "version": "7.1.0"}


def test_the_runtimes_header_is_compiled_once_for_units_that_begin_with_it() -> None:
    """A unit that fails with it is compiled again without, as is one with code before the header, and one of few."""
    begins = "// a comment\n/* another\n */ #include <hip/hip_runtime.h>\n"
    for name, more in (("a", ""), ("b", ""), ("c", "//!host an error\n")):
        write(f"out/{name}.hip", begins + more)
    write("out/d.hip", "#define N 1\n" + begins)
    assert verify("out").exit_code == 1
    used = [(target, Path(words[-1]).name, "-include-pch" in words) for target, words in compiled() if words[-1] != "-"]
    made = [target for target, name, _ in used if name == "runtime.hip"]
    assert sorted(made) == ["gfx1100", "gfx942", "host"]
    units = sorted((n, x) for target, n, x in used if target == "host" and n != "runtime.hip")
    assert units == [("a.hip", True), ("b.hip", True), ("c.hip", False), ("c.hip", True), ("d.hip", False)]
    Path("../log").unlink()
    assert verify("out/a.hip").exit_code == 0
    assert not any("-include-pch" in words for _, words in compiled())


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("#include <hip/hip_runtime.h>", True),
        ("\ufeff// a\n\t#  include<math.h>// b\n#include <hip/hip_runtime.h>", True),
        ("/* #include <hip/hip_runtime.h> */", False),
        ("#pragma once\n#include <hip/hip_runtime.h>", False),
        ('#include "hip/hip_runtime.h"', False),  # may be a file of the unit's folder
        ("#include <mine.h>\n#include <hip/hip_runtime.h>", False),
        ("#include <complex.h>\n#include <hip/hip_runtime.h>", False),
        ("int x;\n#include <hip/hip_runtime.h>", False),
        ("", False),
    ],
)
def test_what_may_precede_the_runtimes_header(text: str, begins: bool) -> None:
    assert begins_with_runtime(text.encode()) == begins


def test_errors_stand_at_the_cuda_line_once_for_all_gpus() -> None:
    write("src/a.cu", "#include <cuda.h>\n#include <cuda_runtime.h>\n" + OLD + "//!gfx942 bad\n//!gfx1100 bad\n")
    cu2port("convert", "src", "-o", "out", "--report", "r.json")
    there = Path("out/a.cu").read_text().splitlines().index("//!gfx942 bad") + 1
    assert there < 6  # includes were dropped
    done = verify("out", "--report", "r.json")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        f"src/a.cu:6: error for gfx942: bad (out/a.cu:{there}:3)",
        f"src/a.cu:7: error for gfx1100: bad (out/a.cu:{there + 1}:3)",
    ]
    report = json.loads(Path("r.json").read_text())
    assert report["files"][0]["findings"]  # those of convert are still there
    (unit,) = report["verify"]["units"]
    assert (unit["path"], unit["source"], unit["verdict"]) == ("out/a.cu", "src/a.cu", "fails")
    assert unit["targets"]["host"]["verdict"] == "compiles"
    write("src/a.cu", OLD + "//!all worse\n")
    cu2port("convert", "src", "-o", "out")
    assert "src/a.cu:4: error for host, gfx942, gfx1100: worse" in verify("out").stdout


def test_an_error_in_a_header_of_the_tree_and_one_outside() -> None:
    write("out/a.hip", '#include "b.h"\n#include <lib.h>\n')
    write("out/b.h", "\n//!host bad\n")
    write("lib/lib.h", "//!gfx942 worse\n")
    done = verify("out", "-I", "lib")
    assert "out/b.h:2:3: error for host: bad\n" in done.stdout
    assert f"out/a.hip:2:1: error for gfx942: worse (in {os.path.realpath('lib/lib.h')}:1)\n" in done.stdout


def test_a_missing_library_header_is_not_a_failure() -> None:
    write("out/a.hip", "#include <hipdnn/hipdnn.h>\n")
    write("out/b.hip", "int b;\n")
    done = verify("out", "--report", "r.json")
    assert done.exit_code == 0
    assert "out/a.hip: not judged: the header hipdnn/hipdnn.h is not on this machine" in done.stdout
    assert "missing headers  hipdnn/hipdnn.h (1)" in done.stdout
    assert [t for t, _ in compiled()] == ["host", "host", "gfx942", "gfx1100"]
    assert section()["summary"]["missing_headers"] == {"hipdnn/hipdnn.h": 1}
    Path("out/b.hip").unlink()
    done = verify("out")
    assert done.exit_code == 2
    assert "nothing could be judged" in done.stderr


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("cuda_runtime.h", "a header of CUDA's own is left"),
        ("cub/block/block_reduce.cuh", "a header of CUDA's own is left"),
        ("inner.h", "the tree has out/other/inner.h; name its folder with -I, or give -p"),
        ("../cu2port/warp.hpp", "it is a helper header of cu2port"),
    ],
)
def test_a_missing_header_of_ours_is_a_failure(header: str, why: str) -> None:
    write("out/a.hip", f'#include "{header}"\n')
    write("out/sub/inner.h", "")
    write("out/other/inner.h", "")
    done = verify("out")
    assert done.exit_code == 1
    assert why in done.stdout


def test_headers_of_the_tree_are_found_where_no_option_names_their_folder() -> None:
    write("out/a.hip", '//!host bad too\n#include "inner.h"\n#include <lib.h>\n')
    write("out/sub/inner.h", "#include <deep/x.h>\n")
    write("out/third/inc/deep/x.h", "//!gfx942 bad\n")
    write("out/old/lib.h", "//!all hides the library's\n")
    write("lib/lib.h", "")
    done = verify("out", "-I", "lib")
    assert "out/third/inc/deep/x.h:1:3: error for gfx942: bad\n" in done.stdout
    assert "hides" not in done.stdout
    assert "not found" not in done.stdout
    said = "no option names the folders of these headers, and they were searched last: out/sub, out/third/inc"
    assert said in done.stderr
    write(
        "c/compile_commands.json",
        json.dumps([{"directory": "/", "file": os.path.realpath("out/a.hip"), "command": "c"}]),
    )
    assert "name its folder with -I" in verify("out", "-p", "c").stdout


def test_an_unconverted_header_does_not_stand_in() -> None:
    write("src/a.cu", OLD + '#include "../src/sub/x.h"\n')
    write("src/sub/x.h", "")
    cu2port("convert", "src", "-o", "out")
    done = verify("out")
    assert done.exit_code == 1
    assert "the unconverted header" in done.stdout
    assert "src/sub/x.h is read in place of one that the output lacks" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_signal_to_end_ends_the_compilers_too(here: Path) -> None:
    write("out/a.hip", "")
    script = f"#!{sys.executable}\nimport os, sys, time\n"
    script += "if '--version' in sys.argv:\n    print('clang version 22.1.8')\n    raise SystemExit\n"
    script += "if any(w.endswith('a.hip') for w in sys.argv):\n"
    script += f"    open({str(here / 'pid')!r}, 'w').write(str(os.getpid()))\n    time.sleep(60)\n"
    write("../bin/clang++", script).chmod(0o755)
    code = "from cu2port.cli import main\nmain()"
    words = [sys.executable, "-c", code, "verify", "out", "--arch", "gfx942", "-j", "1"]
    env = {**os.environ, "PYTHONPATH": str(Path(running.__file__).parents[2])}
    started = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (here / "pid").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    pid = int((here / "pid").read_text())
    started.send_signal(signal.SIGTERM)
    assert started.wait(timeout=20) == 143
    while time.monotonic() < deadline and _runs(pid):
        time.sleep(0.01)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name != "posix" or not MAKE, reason="builds are asked by make on POSIX")
def test_names_of_headers_begin_where_the_build_runs_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    write("src/Makefile", "a.o: a.cu\n\tnvcc -Iinc -c a.cu\n")
    write("src/a.cu", f"#include <x.h>\n{OLD}")
    write("src/inc/x.h", '#include "../src/deep.h"\n')
    write("src/src/deep.h", "")
    cu2port("convert", "src", "-o", "out")
    programs = Path("../bin").resolve()
    (programs / "make").symlink_to(MAKE)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    done = verify("out", "--compiler", str(programs / "clang++"))
    assert done.exit_code == 0, done.stdout


def test_a_cuda_header_outside_does_not_stand_in() -> None:
    write("out/a.hip", '#include "cuda_fp16.h"\n')
    write("lib/cuda_fp16.h", "")
    done = verify("out", "-I", "lib")
    assert done.exit_code == 1
    assert "a header of CUDA's own is included" in done.stdout


def test_a_header_of_the_same_name_in_a_folder_of_its_own_is_not_cudas() -> None:
    write("out/a.hip", "#include <other/cuda.h>\n")
    write("lib/other/cuda.h", "")
    done = verify("out", "-I", "lib")
    assert "a header of CUDA's own is included" not in done.stdout
    assert done.exit_code == 0, done.stdout


def test_headers_of_folders_that_compilers_know_have_their_folders_in_their_names() -> None:
    flags = ("-isystem", "/opt/own/include")
    assert _names_of("/usr/include/boost/predef/language/cuda.h", flags) == ["boost/predef/language/cuda.h"]
    assert _names_of("/opt/own/include/other/cuda.h", flags) == ["other/cuda.h"]
    assert _names_of("/usr/include/cuda.h", flags) == ["cuda.h"]


def test_headers_of_hip_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "rocm" / "include" / "hip").rename(tmp_path / "real")
    (tmp_path / "rocm" / "include" / "hip").symlink_to(tmp_path / "real")
    write("../real/host_defines.h", "")
    write("out/a.hip", "#include <hip/host_defines.h>\n")
    assert verify("out", "-I", "../rocm/include").exit_code == 0


def test_a_compiler_that_does_not_end() -> None:
    write("a.hip", "//!gfx942 sleep\n")
    began = time.monotonic()
    done = verify("a.hip", "--time-limit", "1.5", "--report", "r.json")
    assert time.monotonic() - began < 30
    assert done.exit_code == 1
    assert "a.hip:1:1: error for gfx942: the compiler ran longer than 1.5 s" in done.stdout
    assert section()["summary"]["by_target"]["gfx942"]["unfinished"] == 1


def test_a_compiler_that_breaks_down() -> None:
    write("a.hip", "//!gfx942 crash\n")
    done = verify("a.hip")
    assert done.exit_code == 1
    assert "error for gfx942: the compiler itself broke down" in done.stdout


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("gfx942 out of memory", "error for gfx942: the compiler itself broke down"),
        pytest.param("gfx942 leave one behind", "error for gfx942: leave one behind", marks=pytest.mark.slow),
        pytest.param(
            "gfx942 fill the disk", "error for gfx942: OSError: [Errno 27] File too large", marks=pytest.mark.slow
        ),
        pytest.param("host talk", "error for host: xxxx", marks=pytest.mark.slow),
        ("host no list", "error for host: the compiler did not write which headers it read"),
    ],
)
def test_a_compilation_that_is_lost_is_said(trouble: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_MOST_WRITTEN", 1 << 20)
    write("a.hip", f"//!{trouble}\n")
    write("b.hip", "int b;\n")
    began = time.monotonic()
    done = verify(".")
    assert time.monotonic() - began < 15
    assert done.exit_code == 1
    assert f"a.hip:1:{3 if 'leave' in said else 1}: {said}" in done.stdout
    assert ("b.hip", "compiles") in {(u["path"], u["verdict"]) for u in section_of(".")}


def section_of(path: str) -> list[dict[str, str]]:
    verify(path, "--report", "r.json")
    return list(section()["units"])


def test_a_compiler_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.hip", "int a;\n")
    write("b.hip", "int b;\n")
    start = subprocess.Popen

    def refuses(command: list[str], **more: Any) -> object:
        if command[-1].endswith("b.hip"):
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(command, **more)

    monkeypatch.setattr(subprocess, "Popen", refuses)
    done = verify(".")
    assert done.exit_code == 1
    assert "b.hip:1:1: error for host, gfx942, gfx1100: " in done.stdout
    assert "could not be run on it (Resource temporarily unavailable)" in done.stdout


def test_a_folder_that_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    write("src/a.hip", "int a;\n")
    write("src/locked/b.hip", "int b;\n")
    look = os.scandir

    def refuses(path: str | Path) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return look(path)

    monkeypatch.setattr(os, "scandir", refuses)
    done = verify("src", "--report", "r.json")
    assert done.exit_code == 1
    assert "src/locked:1:1: error for host: the folder could not be read (Permission denied)" in done.stdout
    assert section()["summary"]["by_target"]["host"]["unfinished"] == 1


def test_a_file_that_convert_wrote_and_that_is_gone_is_said() -> None:
    write("src/a.cu", OLD)
    write("src/b.cu", OLD)
    cu2port("convert", "src", "-o", "out", "-j", "1")
    Path("out/b.cu").unlink()
    done = verify("out")
    assert done.exit_code == 1
    assert "out/b.cu:1:1: error for host: it is not there, and convert wrote it; convert again" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "nowhere: no such file or folder"),
        (("empty",), "empty: there is no translation unit in it"),
        (("a.hip", "--compiler", "nowhere"), "--compiler nowhere: no such program"),
        (("a.hip", "--compiler", sys.executable), "is no clang"),
        (("a.hip", "--rocm-path", "empty"), "--rocm-path empty: there is no include/hip/hip_runtime.h in it"),
        (("a.hip", "--arch", "sm_90"), "--arch: 'sm_90' is not an AMD GPU that clang knows"),
        (("a.hip", "--arch", ","), "--arch: ',' is not an AMD GPU that clang knows"),
        (("a.hip", "--arch", "gfx999"), "'gfx999' is not an AMD GPU that clang knows; did you mean gfx909?"),
        (("a.hip", "--std", "-o/etc/passwd"), "--std -o/etc/passwd: a version of the language"),
        (("a.hip", "-I", "nowhere"), "-I nowhere: no such folder"),
        (("a.hip", "-D", "-x"), "-D -x: a macro's name"),
        (("a.hip", "-p", "empty"), "compile_commands.json"),
        (("a.hip", "--report", "r.txt"), "the suffix says no format"),
        (("a.hip", "--report", "other.json"), "cu2port did not write this file"),
        (("a.hip", "-j", "0"), "0 is not in the range"),
    ],
)
def test_what_cannot_run(words: tuple[str, ...], said: str) -> None:
    write("a.hip", "")
    write("other.json", "{}")
    Path("empty").mkdir()
    done = cu2port("verify", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert Path("other.json").read_text() == "{}"


def test_no_compiler_and_no_headers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.hip", "")
    write("../bin/clang++", f"#!{sys.executable}\nprint('gcc 12')\n")
    monkeypatch.setattr("cu2port.verify.toolchain._package", lambda name: None)
    done = verify("a.hip")
    assert done.exit_code == 2
    assert "no compiler for AMD GPUs found" in done.stderr
    assert "is no clang" in done.stderr


def test_compiler_and_headers_that_do_not_go_together() -> None:
    write("../rocm/include/lib.h", "//!all bad builtin\n")
    write("a.hip", "#include <lib.h>\n")
    assert (
        "a.hip:1:1: error for host, gfx942, gfx1100: bad builtin (in "
        in verify("a.hip", "-I", "../rocm/include").stdout
    )
    stand_in = Path("../bin/clang++")
    stand_in.write_text(STAND_IN.replace("read(path, [])", "say('/x/hip.h:1:1: error: bad builtin')"))
    done = verify("a.hip")
    assert done.exit_code == 2
    assert "does not compile the HIP 7.1.0 headers in" in done.stderr
    assert done.stderr.rstrip().endswith("bad builtin; try others (--compiler, --rocm-path)")


# what is compiled, and how


def test_files_that_others_include_are_no_units_of_their_own() -> None:
    write("out/main.hip", '#include "kernels.cu"\n#include "host.cpp"\n')
    write("out/kernels.cu", "")
    write("out/host.cpp", "")
    write("out/gpu.cpp", "__global__ void k();\n")
    write("out/plain.c", "")
    assert verify("out").exit_code == 0
    language = {Path(w[-1]).name: w[w.index("-x") + 1] for t, w in compiled() if t == "host"}
    assert language == {"main.hip": "hip", "gpu.cpp": "hip", "plain.c": "c"}
    narrowing = {Path(w[-1]).name: "-Wno-c++11-narrowing" in w for t, w in compiled() if t == "host"}
    assert narrowing == {"main.hip": False, "gpu.cpp": False, "plain.c": True}  # gcc only warns


def test_the_build_gives_flags_and_no_others() -> None:
    write("src/a.cu", OLD)
    write("src/unused.cu", OLD)
    for folder in ("src/inc", "lib", "cuda/include"):
        Path(folder).mkdir(parents=True)
    write("src/inc/x.h", "")
    write("cuda/include/cuda_runtime.h", "")
    command = (
        "nvcc -ccbin /bin/evil -Xcompiler -fplugin=evil.so -I../src/inc -isystem ../lib -I ../cuda/include -I.. "
        "-D 'A=\"b c\"' -DB -UC -std=c++14 -include ../src/inc/x.h @evil -o ../evil.o -wrapper evil -MF evil.d "
        "-Xclang -load -Xclang evil.so -B. --gcc-toolchain=. -specs=evil -c ../src/a.cu"
    )
    write("build/compile_commands.json", json.dumps([{"directory": ".", "file": "../src/a.cu", "command": command}]))
    assert cu2port("convert", "src", "-o", "out", "--rename", ".hip").exit_code == 0
    done = verify("out", "-p", "build", "-D", "D=1")
    assert done.exit_code == 0
    real = os.path.realpath(".")
    _, words = compiled()[0]
    kept = [f"-I{real}/out/inc", f"-I{real}/lib", '-DA="b c"', "-DB", "-DD=1", "-UC"]
    assert words[-10:] == [*kept, "-include", f"{real}/out/inc/x.h", "-std=c++14", f"{real}/out/a.hip"]
    assert not [w for w in words if "evil" in w]
    assert {Path(w[-1]).name for _, w in compiled()} == {"a.hip"}
    assert "1 files that compile_commands.json does not name were left out" in done.stderr
    assert "it holds CUDA's own headers" in done.stderr
    assert "it holds the CUDA code, which would replace what is converted" in done.stderr
    assert sorted(p.name for p in Path().iterdir()) == ["build", "cuda", "lib", "out", "src"]


def test_an_include_folder_in_the_input_becomes_the_output_s() -> None:
    write("a/main.cu", '#include "x.h"\n' + OLD)
    write("a/inc/x.h", "")
    write("b/main.cu", OLD)
    cu2port("convert", "a", "b", "-o", "out")
    assert verify("out", "-I", "a/inc").exit_code == 0
    assert f"-I{os.path.realpath('out/a/inc')}" in compiled()[0][1]


def test_the_wave_macro_where_old_headers_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    write("../rocm/include/hip/amd_detail/old.h", "int a[__AMDGCN_WAVEFRONT_SIZE];\n")
    stand_in = Path("../bin/clang++")
    stand_in.write_text(STAND_IN.replace('if path == "-":', 'if path == "-":\n    print("no wave", file=sys.stderr)'))
    write("a.hip", "")
    assert verify("a.hip").exit_code == 0
    given = [(t, [w for w in words if "WAVEFRONT" in w]) for t, words in compiled()]
    assert given == [
        ("host", ["-D__AMDGCN_WAVEFRONT_SIZE=64"]),
        ("gfx942", ["-D__AMDGCN_WAVEFRONT_SIZE=64"]),
        ("gfx1100", ["-D__AMDGCN_WAVEFRONT_SIZE=32"]),
    ]


def test_flags_of_the_user_s_own_do_not_reach_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CPATH", "/usr/local/cuda/include")
    stand_in = Path("../bin/clang++")
    stand_in.write_text(
        STAND_IN.replace("words = sys.argv[1:]", "words = sys.argv[1:]\nassert 'CPATH' not in os.environ")
    )
    write("a.hip", "")
    assert verify("a.hip").exit_code == 0


def test_the_cache_is_left_clean(here: Path) -> None:
    write("a.hip", "")
    verify("a.hip")
    assert [p for p in (here / "cache").rglob("*") if not p.is_dir()] == []
    assert not list((here / "cache" / "verify").iterdir())
    (here / "cache" / "verify").rmdir()
    (here / "cache" / "verify").write_text("")
    done = verify("a.hip")
    assert done.exit_code == 2
    assert "CU2PORT_CACHE_DIR" in done.stderr


# convert --verify


def test_convert_and_verify() -> None:
    write("src/a.cu", OLD)
    write("src/b.cu", OLD + "//!gfx942 bad\n")
    done = cu2port("convert", "src", "-o", "out", "--verify", "gfx942", "--report", "r.json", "-j", "1")
    assert done.exit_code == 1
    assert "src/b.cu:4: error for gfx942: bad (out/b.cu:4:3)" in done.stdout
    assert section()["archs"] == ["gfx942"]
    assert cu2port("convert", "src/a.cu", "-o", "a.hip", "--verify", "gfx942").exit_code == 0
    assert Path(compiled()[-1][1][-1]).name == "a.hip"
    assert cu2port("convert", "src", "--in-place", "--verify", "gfx942").exit_code == 1
    for words in (("--diff",), ("--dry-run",), ("-o", "-")):
        done = cu2port("convert", "src/a.cu", *words, "--verify", "gfx942")
        assert done.exit_code == 2
        assert "--verify compiles files" in done.stderr
    done = cu2port("convert", "src", "-o", "out2", "--verify", "sm_80")
    assert done.exit_code == 2
    assert not Path("out2").exists()


def test_convert_reports_what_it_did_where_verify_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_VERSION", "gcc 12")
    monkeypatch.setattr("cu2port.verify.toolchain._package", lambda name: None)
    write("src/a.cu", OLD)
    done = cu2port("convert", "src", "-o", "out", "--verify", "gfx942", "--report", "r.json")
    assert done.exit_code == 2
    assert "no compiler for AMD GPUs found" in done.stderr
    assert "verify" not in json.loads(Path("r.json").read_text())
