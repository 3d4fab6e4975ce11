"""Small modules written by hand, converted, compiled and run: each writes what PTX's manual says that it computes.

A file of `modules/cases` holds modules of one topic. `//== name` begins a module whose kernel `name` gets the
addresses of an input and of an output. `//in TYPE numbers` and `//out TYPE numbers` are the words at these addresses
before and after, in Python's spelling (`[2 * i for i in range(8)]` too); `//launch GRID BLOCK [SHARED BYTES]` says how
many threads run, else one. `//left OPCODE ...` names what conversion must refuse; such modules do not run.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cu2port.ptx.module import convert

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = HERE / "modules" / "cases"
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
CODES = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q"}
CODES |= {"f16": "e", "f32": "f", "f64": "d"}
FILL = 0xEE  # what the output holds before


@dataclass
class Case:
    """A module: `given` and `wanted` are bytes; `launch` is the grid, the block and bytes of dynamic shared memory."""

    name: str
    text: str
    given: bytes = b""
    wanted: bytes = b""
    launch: tuple[int, int, int] = (1, 1, 0)
    left: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)


def words(line: str) -> bytes:
    """`u32 1 2 -3` as bytes."""
    code, _, rest = line.partition(" ")
    numbers = eval(rest) if rest.lstrip().startswith("[") else [eval(x) for x in rest.split()]
    if code[0] in "us":  # either sign may be written
        bits = int(code[1:])
        return b"".join((n & (1 << bits) - 1).to_bytes(bits // 8, "little") for n in numbers)
    return struct.pack(f"<{len(numbers)}{CODES[code]}", *numbers)


def read_cases(path: Path) -> Iterator[Case]:
    for part in re.split(r"^//== ", path.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        case = Case(name.strip(), body if ".version" in body else HEAD + body)
        for key, rest in re.findall(r"^//(in|out|launch|left) (.*)$", body, re.MULTILINE):
            if key == "in":
                case.given += words(rest)
            elif key == "out":
                case.wanted += words(rest)
            elif key == "launch":
                grid, block, *shared = map(int, rest.split())
                case.launch = (grid, block, sum(shared))
            else:
                case.left += tuple(rest.split())
        yield case


FILES = sorted(CASES.glob("*.ptx"))
EVERY = [case for path in FILES for case in read_cases(path)]


def array(name: str, data: bytes) -> str:
    return f"static const unsigned char {name}[] = {{{', '.join(map(str, data or bytes(1)))}}};\n"


def program(cases: Sequence[Case]) -> str:
    """C++ of the cases' modules, each in a namespace of its own, and a `main` that runs and compares them."""
    includes: dict[str, None] = {}
    parts, calls = [], []
    for case in cases:
        text = convert(case.text).text
        includes.update(dict.fromkeys(re.findall(r"^#include .*$", text, re.MULTILINE)))
        parts.append(f"namespace case_{case.name} {{\n{re.sub(r'^#include .*$', '', text, flags=re.MULTILINE)}}}\n")
        parts += [array(f"in_{case.name}", case.given), array(f"out_{case.name}", case.wanted)]
        grid, block, shared = case.launch
        launch = f"case_{case.name}::{case.name}<<<{grid}, {block}, {shared}>>>(std::uint64_t(in), std::uint64_t(out));"
        calls.append(
            f'    run("{case.name}", in_{case.name}, {len(case.given)}, out_{case.name}, {len(case.wanted)}, '
            f"[](void* in, void* out) {{ {launch} }});\n"
        )
    head = "".join(f"{line}\n" for line in includes) + "#include <cstdio>\n#include <cstring>\n"
    return head + "".join(parts) + _MAIN.replace("CALLS", "".join(calls)).replace("FILL", str(FILL))


_MAIN = """
static int failed = 0;
static void run(const char* name, const unsigned char* given, int in_size, const unsigned char* wanted, int size,
                void (*launch)(void*, void*)) {
    unsigned char *in, *out, got[65536];
    if (hipMalloc(&in, in_size + 64) != hipSuccess || hipMalloc(&out, size + 64) != hipSuccess) return;
    (void)hipMemcpy(in, given, in_size, hipMemcpyHostToDevice);
    (void)hipMemset(out, FILL, size + 64);
    launch(in, out);
    (void)hipMemcpy(got, out, size + 64, hipMemcpyDeviceToHost);
    for (int i = 0; i < size + 64; ++i) {
        const unsigned char right = i < size ? wanted[i] : FILL;
        if (got[i] == right) continue;
        std::printf("%s: byte %d is %#x, not %#x; word", name, i, got[i], right);
        for (int k = 0; k < 8; ++k) std::printf(" %02x", got[i / 8 * 8 + k]);
        std::printf("\\n");
        ++failed;
        break;
    }
    (void)hipFree(in);
    (void)hipFree(out);
}

int main() {
CALLS    std::printf(failed ? "%d failed\\n" : "PASS\\n", failed);
    return failed != 0;
}
"""


def runnable(path: Path) -> list[Case]:
    return [case for case in read_cases(path) if not case.left]


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in EVERY])
def test_a_module_converts_and_names_what_it_leaves(case: Case) -> None:
    done = convert(case.text)
    assert tuple(dict.fromkeys(x.opcode.split()[-1] for x in done.left)) == case.left
    assert case.name in done.kernels


def simulated(cases: Sequence[Case], folder: Path, *flags: str) -> str:
    (folder / "cases.hip").write_text(program(cases))
    shutil.copytree(ROOT / "translator" / "cu2port" / "include" / "cu2port", folder / "cu2port", dirs_exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    command = [sys.executable, "-c", "from cu2port.cli import main; main()", "simulate", str(folder / "cases.hip")]
    done = subprocess.run([*command, *flags], env=env, capture_output=True, text=True, check=False)
    return done.stdout + (done.stderr if done.returncode else "")


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in FILES])
def test_modules_compute_what_the_manual_says(path: Path, tmp_path: Path) -> None:
    assert simulated(runnable(path), tmp_path) == "PASS\n"


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in FILES])
def test_assemblers_take_the_modules(path: Path, tmp_path: Path, ptxas: Path) -> None:
    wrong = []
    for case in read_cases(path):
        source = tmp_path / f"{case.name}.ptx"
        source.write_text(case.text)
        target = re.search(r"sm_\d+", case.text)
        assert target is not None
        arch = max(target.group(), "sm_75", key=lambda s: int(s[3:]))
        done = subprocess.run(
            [ptxas, f"-arch={arch}", source, "-o", "/dev/null"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            wrong.append(f"{case.name}: {done.stderr}")
    assert not wrong, "\n".join(wrong)
