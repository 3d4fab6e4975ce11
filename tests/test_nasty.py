"""A corpus of nasty files, converted by the real command: clear messages, the others convert, nothing is lost.

test_cli.py has the plain cases (empty, too large, UTF-16, unterminated things, ...). Here are those that need more:
files that cannot be read, names that no one should give, code that kills libclang, and every way of output over all.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port import translate
from cu2port.catalog import uses
from cu2port.checks import all_checks
from cu2port.cli import cli
from cu2port.core import file_rules
from cu2port.engine import translate as engine
from cu2port.facts.declared import Names
from cu2port.project import jobs
from cu2port.report.json_report import schema
from cu2port.syntax.lexer import lex

OLD = b"#include <cuda_runtime.h>\nint f() { return cudaFree(0); }\n"
NEW = b"#include <hip/hip_runtime.h>\nint f() { return hipFree(0); }\n"
#: A CUDA name that the file declares itself: only libclang can tell its uses apart, so it is asked.
DOUBT = b"namespace mine { int cudaFree(int x) { return x; } }\nint g() { return mine::cudaFree(1) + cudaFree(0); }\n"

#: Texts around OLD. All of them convert: `cudaFree(0)` becomes `hipFree(0)`, and every other byte stays.
AROUND: dict[str, tuple[bytes, bytes]] = {
    "every byte from 1 to 255 in a comment": (b"/* " + bytes(range(1, 256)).replace(b"*/", b"") + b" */\n", b""),
    "CR LF": (b"\r\n\r\n", b"\r\n"),
    "line ends of all kinds": (b"\n\r\r\n", b"\r\n\r"),
    "form feeds and vertical tabs": (b"\f\v\n", b"\f"),
    "control Z at the end": (b"", b"\x1a"),
    "a backslash at the end": (b"", b"int x; \\"),
    "a continued line at the end": (b"", b"#define X \\\n"),
    "a character that does not end": (b"", b"char c = 'open\n"),
    "a macro that does not end": (b"", b"#define F(a, b"),
    "an include that does not end": (b"", b'#include "open\n#include <open\n'),
    "a launch that does not end": (b"", b"void h() { k<<<1, 2"),
    "a call that does not end": (b"", b"int h() { return cudaMemcpyToSymbol(a, b"),
    "lone directives": (b'#\n# 12 "x"\n#!shebang\n', b"#"),
    "an #else and an #endif without #if": (b"#else\n#endif\n", b"#endif\n#elif 1\n"),
    "1,000 open #if": (b"", b"#if 1\n" * 1_000),
    "closing brackets alone": (b"})]>>>\n", b"})]>>>"),
    "opening brackets alone": (b"", b"({[<<<" * 100),
    "brackets that cross": (b"([)]{(})\n", b"{[}]"),
    "digraphs": (b"%:define A <::>\n", b"int a<:2:> = <%1, 2%>;\n"),
    "10,000 open braces": (b"", b"{" * 10_000),
    "10,000 template brackets": (b"", b"A<" * 10_000 + b"int" + b">" * 10_000 + b" a;\n"),
    "a line of a million characters": (b"// " + b"x" * 1_000_000 + b"\n", b""),
    "100,000 lines": (b"\n" * 100_000, b""),
    "5,000 macros that call each other": (
        b"".join(b"#define M%d(x) M%d(x)\n" % (i, i + 1) for i in range(5_000)),
        b"int y = M0(1);\n",
    ),
    "a raw string with a CUDA name": (b'const char* r = R"x(cudaFree(0) )" )x";\n', b""),
}
#: The same with DOUBT in the file, and code that libclang does not survive or bear.
TOO_MUCH_FOR_LIBCLANG = {
    "10,000 brackets": b"int x = " + b"(" * 10_000 + b"1" + b")" * 10_000 + b";\n",
    "a sum of 200,000 terms": b"int x = 1" + b"+1" * 200_000 + b";\n",
}
COPIED: dict[str, tuple[bytes, file_rules.FileRule]] = {
    "utf16le.cu": (OLD.decode().encode("utf-16-le"), file_rules.NOT_TEXT),
    "utf16be.cu": (b"\xfe\xff" + OLD.decode().encode("utf-16-be"), file_rules.NOT_TEXT),
    "utf32.cu": (OLD.decode().encode("utf-32"), file_rules.NOT_TEXT),
    "program.cu": (b"\x7fELF\0\0" + bytes(range(256)) * 10, file_rules.NOT_TEXT),
    "large.cu": (OLD + b"// x\n" * 500_000, file_rules.TOO_LARGE),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cu2port(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, list(words), input=stdin, prog_name="cu2port")


def put(name: str, data: bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def tree(folder: str) -> dict[str, bytes]:
    """The files below a folder, ours for bookkeeping left out."""
    root = Path(folder)
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in root.rglob("*")
        if p.is_file() and ".cu2port" not in p.parts
    }


def reported(done: Result, path: str, rule: file_rules.FileRule) -> int:
    """How many lines name this rule of this file."""
    start = f"{path}: {rule.code} {rule.name}: "
    return sum(line.startswith(start) and len(line) > len(start) + 10 for line in done.output.splitlines())


@pytest.fixture
def no_override() -> Iterator[None]:
    """Root without the right to read what has no rights: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7))."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
    had = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the upper 32 bits of each
    assert libc.capget(header, had) == 0
    assert libc.capset(header, (ctypes.c_uint32 * 6)(had[0] & ~0b110, *had[1:])) == 0
    yield
    assert libc.capset(header, had) == 0


def make_unreadable(path: Path) -> None:
    path.write_bytes(OLD)
    path.chmod(0)
    with pytest.raises(PermissionError):
        path.read_bytes()


def plant_corpus() -> dict[str, bytes]:
    """The tree `src`. Returns what it must become."""
    expected = {}
    for number, (before, after) in enumerate(AROUND.values()):
        put(f"src/around/{number:02}.cu", before + OLD + after)
        expected[f"around/{number:02}.cu"] = before + NEW + after
    for name, (data, _) in COPIED.items():
        put(f"src/{name}", data)
        expected[name] = data
    put("src/data.bin", bytes(range(256)))
    expected["data.bin"] = bytes(range(256))
    put("src/x.cuh/inner.cu", OLD)
    expected["x.cuh/inner.cu"] = NEW
    return expected


@pytest.mark.parametrize("case", AROUND)
def test_code_converts_whatever_is_around_it(case: str) -> None:
    before, after = AROUND[case]
    done = cu2port("convert", "-", stdin=before + OLD + after)
    assert done.exit_code in (0, 1)
    assert b"hipFree(0); }" in done.stdout_bytes
    assert done.stdout_bytes == before + NEW + after
    again = cu2port("convert", "-", stdin=done.stdout_bytes)
    assert again.stdout_bytes == done.stdout_bytes


def test_a_byte_order_mark_hides_no_directive() -> None:
    mark = b"\xef\xbb\xbf"
    assert cu2port("convert", "-", stdin=mark + OLD).stdout_bytes == mark + NEW


def test_a_call_behind_a_macro_without_semicolon_is_no_declaration() -> None:
    source = b'#include "check.h"\nvoid f(void* a, void* b) {\n  cudaFree(a); CHECK\n  cudaFree(b); CHECK\n}\n'
    put("a.cuh", source)
    cu2port("convert", "a.cuh", "-o", "out.cuh")
    assert Path("out.cuh").read_bytes() == source.replace(b"cuda", b"hip")


def test_a_file_with_a_helper_header_stays_as_it_is() -> None:
    source = b"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>());
}
"""
    put("a.cu", source)
    cu2port("convert", "a.cu", "-o", "b.cu")
    cu2port("convert", "b.cu", "-o", "c.cu")
    assert b"cu2port/" in Path("b.cu").read_bytes()
    assert Path("c.cu").read_bytes() == Path("b.cu").read_bytes()


def test_a_whole_tree_and_every_way_of_output() -> None:
    expected = plant_corpus()
    source = tree("src")
    size = ("--max-size", "2M")
    done = cu2port("convert", "src", "-o", "out", *size, "--report", "r.json")
    assert done.exit_code == 1
    assert tree("out") == expected
    assert tree("src") == source
    for name, (_, rule) in COPIED.items():
        assert reported(done, f"src/{name}", rule) == 1, name
    assert reported(done, "src/x.cuh", file_rules.SOURCE_FOLDER) == 1
    report = json.loads(Path("r.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(report)
    assert {f["path"]: f["status"] for f in report["files"]}["src/large.cu"] == "copied"

    shutil.copytree("src", "copy")
    assert cu2port("convert", "copy", "--in-place", "--force", *size).exit_code == 1
    assert tree("copy") == expected

    assert cu2port("convert", "out", "-o", "again", *size).exit_code == 1
    assert tree("again") == expected

    for mode in ("--dry-run", "--diff"):
        done = cu2port("convert", "src", mode, *size)
        assert done.exit_code == 1
        assert tree("src") == source
        for name, (_, rule) in COPIED.items():
            assert reported(done, f"src/{name}", rule) == 1, (mode, name)


@pytest.mark.parametrize("case", TOO_MUCH_FOR_LIBCLANG)
def test_what_libclang_does_not_bear_is_converted_from_tokens(case: str) -> None:
    put("src/bad.cu", OLD + DOUBT + TOO_MUCH_FOR_LIBCLANG[case])
    put("src/good.cu", OLD + DOUBT)
    done = cu2port("convert", "src", "-o", "out", "--report", "r.json")
    assert done.exit_code == 1
    assert reported(done, "src/bad.cu", file_rules.LEXER_ALONE) == 1
    assert reported(done, "src/good.cu", file_rules.LEXER_ALONE) == 0
    status = {f["path"]: f["status"] for f in json.loads(Path("r.json").read_text())["files"]}
    assert status == {"src/bad.cu": "partial", "src/good.cu": "converted"}
    out = tree("out")
    assert out["good.cu"] == NEW + DOUBT.replace(b"+ cuda", b"+ hip")
    # what only libclang could settle is either's; all else is as expected
    assert out["bad.cu"].replace(b"cudaFree(0)", b"hipFree(0)") == (out["good.cu"] + TOO_MUCH_FOR_LIBCLANG[case])


@pytest.mark.usefixtures("no_override")
def test_an_unreadable_file_is_named_and_the_others_convert() -> None:
    put("src/a.cu", OLD)
    put("src/z.cu", OLD)
    make_unreadable(Path("src/locked.cu"))
    done = cu2port("convert", "src", "-o", "out", "--report", "r.json")
    assert done.exit_code == 1
    assert reported(done, "src/locked.cu", file_rules.UNREADABLE) == 1
    assert tree("out") == {"a.cu": NEW, "z.cu": NEW}
    files = {f["path"]: f for f in json.loads(Path("r.json").read_text())["files"]}
    assert files["src/locked.cu"]["status"] == "failed"


@pytest.mark.usefixtures("no_override")
def test_an_unreadable_file_alone_is_no_success() -> None:
    make_unreadable(Path("locked.cu"))
    done = cu2port("convert", "locked.cu", "-o", "out.cu")
    assert done.exit_code in (1, 2)
    assert "locked.cu: " in done.output and "could not be read" in done.output
    assert not Path("out.cu").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be given there")
def test_names_that_no_one_should_give() -> None:
    names = ["-o.cu", "a b.cu", "new\nline.cu", "*.cu", "~.cu", "%s{0}.cu", "$(x).cu", "ü.cu", ".cu", "a.b.cu", "A.CU"]
    raw = os.fsdecode(b"latin\xe9.cu")
    for name in (*names, raw):
        put(f"src/{name}", OLD)
    deep = "/".join(["d" * 60] * 20)
    put(f"src/{deep}/x.cu", OLD)
    done = cu2port("convert", "src", "-o", "out", "--report", "r.json")
    assert done.exit_code == 0, done.output
    out = tree("out")
    converted = {name for name, data in out.items() if data == NEW}
    assert converted | {".cu"} == {*names, raw, f"{deep}/x.cu"}
    assert set(out) == {*names, raw, f"{deep}/x.cu"}
    jsonschema.Draft202012Validator(schema()).validate(json.loads(Path("r.json").read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_loops_and_an_output_folder_inside_the_input() -> None:
    put("src/a.cu", OLD)
    put("src/sub/b.cu", OLD)
    Path("src/one.cu").symlink_to("two.cu")
    Path("src/two.cu").symlink_to("one.cu")
    Path("src/sub/up").symlink_to("..")
    Path("src/sub/nowhere.cu").symlink_to("gone.cu")
    for _ in range(2):  # the second run meets the first one's output
        done = cu2port("convert", "src", "-o", "src/sub/out")
        assert done.exit_code == 0, done.output
        for name in ("one.cu", "two.cu", "sub/up", "sub/nowhere.cu"):
            assert reported(done, f"src/{name}", file_rules.LINK_LOOP) == 1, name
        out = Path("src/sub/out")
        found = {p.relative_to(out).as_posix() for p in out.rglob("*") if ".cu2port" not in p.parts}
        assert found == {"a.cu", "sub", "sub/b.cu", "one.cu", "two.cu", "sub/up", "sub/nowhere.cu"}
        assert (out / "sub/b.cu").read_bytes() == NEW
        assert (out / "one.cu").is_symlink() and (out / "sub/up").is_symlink()


@pytest.fixture
def deep() -> Iterator[str]:
    """A file below more folders than functions may call each other; Python's own ways to make and
    to remove them are such functions."""
    folder = "/".join("d" * 1200)
    subprocess.run(["mkdir", "-p", f"src/{folder}"], check=True)
    Path("src", folder, "a.cu").write_bytes(OLD)
    yield folder
    subprocess.run(["rm", "-rf", "src", "out"], check=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="paths are shorter there, and there is no rm")
def test_a_file_below_1200_folders(deep: str) -> None:
    for words in (["convert", "src", "--dry-run"], ["audit", "src"], ["lint", "src"], ["lint", "src", "--fix"]):
        done = cu2port(*words)
        assert (done.exit_code, type(done.exception)) in ((0, type(None)), (0, SystemExit)), words
    for _ in range(2):  # the second run meets the first one's output
        assert cu2port("convert", "src", "-o", "out").exit_code == 0
        assert Path("out", deep, "a.cu").read_bytes() == NEW
    assert cu2port("convert", "src", "--in-place").exit_code == 0
    assert Path("src", deep, "a.cu").read_bytes() == NEW


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes there")
def test_a_pipe_does_not_hang_the_run() -> None:
    put("src/a.cu", OLD)
    os.mkfifo("src/pipe.cu")
    done = cu2port("convert", "src", "-o", "out")
    assert done.exit_code == 0
    assert reported(done, "src/pipe.cu", file_rules.SPECIAL) == 1
    assert tree("out") == {"a.cu": NEW}


_ASM = 'asm({text} : "{out}"({name}) : "r"(x), "r"(a));'
_FIRST = [
    "__device__ unsigned q;",
    "unsigned q;",
    "unsigned q, x2;",
    "unsigned q[4];",
    "q;",
    "*q;",
    "&q;",
    "union { unsigned q; };",
    "extern unsigned q;",
    "struct S { unsigned q; } q;",
    "unsigned q(int);",
    "(q);",
    ", q;",
    "q = 1;",
    "q[0];",
    "",
]


@pytest.mark.parametrize("first", _FIRST)
def test_a_file_may_begin_with_the_declaration_of_an_operand(first: str) -> None:
    for out, name in (("=r", "q"), ("+r", "q"), ("=r", "q[0]"), ("=r", "*q")):
        statement = _ASM.format(text='"add.u32 %0, %1, %2;"', out=out, name=name)
        source = f"{first}\n__global__ void k(unsigned* a, unsigned x) {{ {statement} }}"
        for cut in range(3):
            translate(source[cut:], path="a.cu")


def test_a_file_may_begin_and_end_at_any_token() -> None:
    texts = {e.before for check in all_checks() for e in check.examples if "asm" in e.before}
    for text in sorted(texts):
        at = lex(text).p
        for k in range(min(5, len(at))):
            translate(text[at[k] :], path="a.cu")
            translate(text[: at[-1 - k]], path="a.cu")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours in every file that says PLANTED."""
    examine, scan = engine.examine, uses.declared_names

    def fails(data: bytes, *words: object, **more: object) -> object:
        if b"PLANTED" in data:
            raise IndexError("planted")
        return examine(data, *words, **more)  # type: ignore[arg-type]  # as it was called

    def fails_first(text: str, rules: tuple[tuple[str, str], ...]) -> Names:
        if "UNSCANNED" in text:
            raise IndexError("planted")
        return scan(text, rules)

    monkeypatch.setattr(engine, "examine", fails)
    monkeypatch.setattr(jobs, "declared_names", fails_first)


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-in translator reaches workers by fork")
@pytest.mark.parametrize(
    "words",
    [
        ("convert", "src", "-o", "out"),
        ("convert", "src", "--in-place"),
        ("convert", "src", "--diff"),
        ("convert", "src", "--dry-run", "-q"),
        ("audit", "src"),
        ("audit", "src", "--format", "json"),
        ("audit", "src", "--format", "sarif"),
        ("audit", "src", "--format", "md"),
        ("audit", "src", "--format", "html"),
        ("lint", "src"),
        ("lint", "src", "--fix"),
        ("lint", "src", "--output-format", "github"),
        ("lint", "src", "--write-baseline", "known.json"),
    ],
)
def test_a_lost_job_is_said_by_every_command(tmp_path: Path, planted: None, words: tuple[str, ...]) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text("int main() { cudaFree(0); }\n")
    (tmp_path / "src" / "b.cu").write_text("int PLANTED() { return cudaFree(0); }\n")
    done = CliRunner().invoke(cli, list(words), prog_name="cu2port")
    assert done.exit_code == 1, done.output
    assert "cu2port failed on this file" in done.output.replace("&#95;", "_")
    assert "b.cu" in done.output


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-in translator reaches workers by fork")
@pytest.mark.parametrize("words", [("convert", "src", "-o", "out"), ("audit", "src")])
def test_a_first_look_that_fails_is_said(tmp_path: Path, planted: None, words: tuple[str, ...]) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text("int main() { cudaFree(0); }\n")
    (tmp_path / "src" / "b.cu").write_text("int UNSCANNED() { return cudaFree(0); }\n")
    done = CliRunner().invoke(cli, list(words), prog_name="cu2port")
    assert done.exit_code == 1, done.output
    assert "cu2port could not tell what this file declares for others" in done.output
