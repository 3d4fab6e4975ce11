"""Names that a kernel of a converted PTX module cannot have in C++, from the headers and libraries at hand.

    python tools/reserved_names.py --rocm DIR [--clang clang++-22] > translator/cu2port/ptx/reserved.txt

A name is listed if HIP's header or ours declare or define it, for the host or the device, or if the C library or its
mathematics have it: the host's part of a kernel would be treated as theirs. Names that `reserved.py` knows by their
beginning are left out.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cu2port.ptx.reserved import BEGINNING, KEYWORDS

INCLUDE = Path(__file__).resolve().parents[1] / "translator/cu2port/include"
HEAD = """#include <hip/hip_runtime.h>
#include <cstdint>
#include "cu2port/ptx.hpp"
#include "cu2port/untranslated.hpp"
#include "cu2port/warp.hpp"
"""
_SOURCE = re.compile(r"probe\.hip:(\d+):")
_LIBRARIES = ("libc.so.6", "libm.so.6")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rocm", required=True, type=Path)
    parser.add_argument("--clang", default="clang++-22")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.hip")
        base = [asked.clang, "-x", "hip", "--offload-arch=gfx942", f"--rocm-path={asked.rocm}", "-nogpulib", "-w"]
        base += [f"-I{INCLUDE}", str(source)]
        source.write_text(HEAD)
        found: set[str] = set()
        for side in ("--cuda-host-only", "--cuda-device-only"):
            source.write_text(HEAD)
            found.update(re.findall(r"^#define (\w+)", output([*base, side, "-E", "-dM"]), re.MULTILINE))
            listed = set(output([*base, side, "-fsyntax-only", "-Xclang", "-ast-list"]).split())
            names = sorted(name for name in listed if plain(name) and name not in found)
            # parameters are listed too, but nothing of their name can be used
            source.write_text(HEAD + "".join(f"namespace probe {{ using ::{name}; }}\n" for name in names))
            said = output([*base, side, "-fsyntax-only", "-ferror-limit=0", "-fno-caret-diagnostics"], wrong=True)
            unknown = {names[int(n) - 1 - HEAD.count("\n")] for n in _SOURCE.findall(said)}
            found.update(name for name in names if name not in unknown)
    for library in _LIBRARIES:
        path = output([asked.clang, f"-print-file-name={library}"]).strip()
        symbols = output(["nm", "-D", "--defined-only", path]).splitlines()
        found.update(line.split()[-1].partition("@")[0] for line in symbols)
    print("\n".join(sorted(filter(plain, found))))
    return 0


def plain(name: str) -> bool:
    """Whether a name is an identifier that `reserved.py` does not know otherwise."""
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None and name not in KEYWORDS and not BEGINNING.match(name)


def output(command: list[str], wrong: bool = False) -> str:
    """What a command prints; `wrong`: its errors."""
    done = subprocess.run(command, capture_output=True, text=True, check=not wrong)
    return done.stderr if wrong else done.stdout


if __name__ == "__main__":
    sys.exit(main())
