"""Converted functions `fN(unsigned* v)` compiled for the CPU and run on arrays of words."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def executed(functions: Sequence[str], vectors: Sequence[Sequence[Sequence[int]]], tmp_path: Path) -> list[list[int]]:
    """What each vector is after the function of its index: `vectors[N]` go to `fN` of `functions[N]`."""
    words = len(vectors[0][0])
    calls = "".join(
        f"  for (int n = 0; n < {len(given)}; ++n) {{ unsigned v[{words}]; if (!std::fread(v, sizeof v, 1, stdin)) "
        f"return 1; f{k}(v); std::fwrite(v, sizeof v, 1, stdout); }}\n"
        for k, given in enumerate(vectors)
    )
    program = f'#include "cu2port/ptx.hpp"\n#include <cstdio>\n{"".join(functions)}\nint main() {{\n{calls}}}\n'
    (tmp_path / "a.cc").write_text(program)
    flags = ["-std=c++17", "-O0", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-D__device__="]
    headers = ROOT / "translator" / "cu2port" / "include"
    compiler = shutil.which("g++") or "c++"
    subprocess.run([compiler, *flags, f"-I{headers}", "-o", tmp_path / "a", tmp_path / "a.cc"], check=True)
    layout = struct.Struct(f"<{words}I")
    given = b"".join(layout.pack(*v) for of_function in vectors for v in of_function)
    done = subprocess.run([tmp_path / "a"], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[:2000]
    return [list(found) for found in layout.iter_unpack(done.stdout)]
