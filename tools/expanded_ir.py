"""How much the compiler has to read of device code: lines of LLVM IR once every call of a function is in its caller.

    python tools/expanded_ir.py [--gpu gfx942] FILE [-- FLAGS OF CLANG]

Helpers are inlined always, so what one of them has counts at each use. What takes the compiler's time grows with this
number, and it is the same on every machine. The ten functions with the most lines in all are listed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter

_FUNCTION = re.compile(r"^define [^\n]*?@([\w.]+)\([^\n]*\n(.*?)^}", re.M | re.S)
_CALL = re.compile(r"call [^\n]*?@([\w.]+)\(")
UNOPTIMISED = ("-O3", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes")


def expanded(text: str) -> Counter[str]:
    """How often each function's lines are read, times its lines. Of recursive functions one call counts."""
    bodies = {m[1]: m[2] for m in _FUNCTION.finditer(text)}
    calls = {name: Counter(x for x in _CALL.findall(body) if x in bodies) for name, body in bodies.items()}
    uses: Counter[str] = Counter()

    def add(name: str, times: int, through: frozenset[str]) -> None:
        uses[name] += times
        for other, count in calls[name].items():
            if other not in through:
                add(other, times * count, through | {other})

    for name in bodies.keys() - {x for found in calls.values() for x in found}:
        add(name, 1, frozenset({name}))
    return Counter({name: times * bodies[name].count("\n") for name, times in uses.items()})


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("flags", nargs="*")
    parser.add_argument("--gpu", default="gfx942")
    asked = parser.parse_args()
    compiler = next((c for c in ("clang++-22", "clang++") if shutil.which(c)), "clang++")
    command = [compiler, "-x", "hip", f"--offload-arch={asked.gpu}", "--cuda-device-only", "-w", "-nogpulib"]
    done = subprocess.run(
        [*command, *UNOPTIMISED, *asked.flags, "-o", "-", asked.file], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr[:2000])
    found = expanded(done.stdout)
    print(f"{sum(found.values()):,} lines")
    for name, lines in found.most_common(10):
        print(f"{lines:10,}  {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
