"""List catalogue rows whose HIP name no HIP header at hand declares.

    python tools/check_hip.py HIP_INCLUDE [--also DIR]... [--library runtime]...

HIP_INCLUDE is a folder with hip/hip_runtime_api.h, such as ROCm's include folder or the one in triton's wheel. Much of
device code's vocabulary is declared by clang itself: give its resource folder (`clang -print-resource-dir`, below it
include/) with --also. A name counts as known when any header has it outside comments, or a macro there makes it.
Rows marked `unchecked`, and targets that are not one name (`unsigned int`), are left alone; so are targets
`cu2port::...`, which headers of ours declare (tests/test_headers.py checks those).
Exit 1 when a row names something unknown.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

LIBRARIES = ("runtime", "driver", "nvrtc", "device", "vector_types", "fp16", "fp8", "complex")
# Tables of the profiler's hooks: they name functions that no public header declares.
_HOOKS = frozenset({"hip_prof_str.h", "hip_api_trace.hpp", "hip_runtime_prof.h"})
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_VECTOR = re.compile(r"\b(?:__MAKE_VECTOR_TYPE__|DECLOP_MAKE\w*)\(\s*(\w+),")  # one line makes four types
_WORD = re.compile(r"[A-Za-z_]\w*")
# Words of the language and of the compiler itself.
_BUILT_IN = frozenset(
    "int unsigned void char float double long short uint32_t uint64_t const __restrict__ alloca".split()
)


def declared(include: Path, also: Sequence[Path] = ()) -> frozenset[str]:
    """Every identifier in the headers below `include`/hip, and in clang's for HIP in `also`, comments left out."""
    found: set[str] = set()
    paths = sorted((include / "hip").rglob("*"))
    for folder in also:
        paths += sorted(folder.glob("__clang_*"))
    for path in paths:
        if path.is_file() and path.name not in _HOOKS:
            text = _COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
            found.update(_WORD.findall(text))
            for name in _VECTOR.findall(text):
                found.update(f"{make}{name}{n}" for n in range(1, 5) for make in ("", "make_"))
    return frozenset(found)


def targets(rules: Path, library: str) -> Iterator[tuple[str, str]]:
    """(CUDA name, HIP name) of each rename and change row that has a target of HIP's and is not marked `unchecked`."""
    data = tomllib.loads((rules / f"{library}.toml").read_text(encoding="utf-8"))
    for cuda, value in data.get("rename", {}).items():
        row = {"hip": value} if isinstance(value, str) else value
        if not row.get("unchecked"):
            yield cuda, row["hip"]
    for row in data.get("change", []):
        if not row.get("unchecked") and not row.get("drop"):
            yield row["cuda"], row["hip"]


def unknown(known: frozenset[str], rules: Path, libraries: Sequence[str]) -> list[tuple[str, str, str]]:
    """(library, CUDA name, HIP name) of the rows that the headers do not bear out."""
    out = []
    for library in libraries:
        if not (rules / f"{library}.toml").is_file():
            continue
        for cuda, hip in targets(rules, library):
            if hip.startswith("cu2port::"):
                continue
            names = [n for n in _WORD.findall(hip) if n not in _BUILT_IN and not n.startswith("__builtin_")]
            if re.fullmatch(r"[\w:]+", hip) and not hip[0].isdigit() and names and names[-1] not in known:
                out.append((library, cuda, hip))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="List catalogue rows whose HIP name no HIP header declares.")
    parser.add_argument("include", type=Path, help="folder that holds hip/hip_runtime_api.h")
    parser.add_argument("--also", type=Path, action="append", default=[], help="clang's own include folder")
    parser.add_argument("--rules", type=Path, default=Path(__file__).parent.parent / "rules")
    parser.add_argument("--library", action="append", help=f"only this one; else {', '.join(LIBRARIES)}")
    args = parser.parse_args()
    if not (args.include / "hip" / "hip_runtime_api.h").is_file():
        sys.exit(f"{args.include}: no hip/hip_runtime_api.h in it")
    rows = unknown(declared(args.include, args.also), args.rules, args.library or LIBRARIES)
    for library, cuda, hip in rows:
        print(f"{library}: {cuda} -> {hip}: not in the headers")
    sys.exit(1 if rows else 0)


if __name__ == "__main__":
    main()
