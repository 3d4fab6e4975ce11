"""Make tools/hip_names.txt, the names that AMD's public headers hold, by library and by ROCm version.

    python tools/hip_names.py 5.6=DIR 6.0=DIR ... 7.1=DIR [--clang DIR] [--out tools/hip_names.txt]

Each DIR is an include folder of that ROCm version (DIR/hip/hip_runtime_api.h, DIR/hipblas/hipblas.h, ...); a library
that a version's folder lacks is not judged for that version. `--clang`: the include folder of clang's resources, for
what the compiler declares itself. Only names are written, no text of a header. `tools/check_hip.py` and
tests/test_catalog.py hold the rules to the list.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parent / "hip_names.txt"
COMPILER = "clang"  # the section of names that hold in every version

# Tables of the profiler's hooks: they name functions that no public header declares.
_HOOKS = frozenset({"hip_prof_str.h", "hip_api_trace.hpp", "hip_runtime_prof.h"})
_NVIDIA = frozenset({"nvidia_detail", "nvcc_detail"})  # HIP over CUDA: not what AMD GPUs have
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_VECTOR = re.compile(r"\b(?:__MAKE_VECTOR_TYPE__|DECLOP_MAKE\w*)\(\s*(\w+),")  # one line makes four types
_WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
# The folders that rules have targets in. Of some only their own names are taken: rocRAND's hold tables of numbers, and
# the profiler's repeat the names of other libraries.
_WORDS = r"[A-Za-z_]\w+\Z"
_FOLDERS: Mapping[str, str] = {
    **dict.fromkeys(
        "amd_smi hip hipblas hipblaslt hipcub hipfft hiprand hipsolver hipsparse hipsparselt hiptensor miopen rccl "
        "rocprofiler-sdk-roctx rocshmem rocwmma thrust".split(),
        _WORDS,
    ),
    "rocprofiler-sdk": r"(?i:rocprofiler)\w*\Z",
    "rocrand": r"(?i:rocrand|mtgp32|skipahead)\w*\Z",
}


@dataclass(frozen=True, slots=True)
class Known:
    """The list as read. `versions`: library -> the ROCm versions whose headers were read, oldest first; `spans`:
    library -> name -> the indices of the first and the last of these versions that hold the name."""

    versions: Mapping[str, tuple[tuple[int, int], ...]]
    spans: Mapping[str, Mapping[str, tuple[int, int]]]

    def refutes(self, name: str, since: tuple[int, int], removed: tuple[int, int]) -> str:
        """Why a name cannot be right in the ROCm versions from `since` to below `removed`; "" where it may be.

        Every library whose headers have the name is asked: one of them must hold it in all its versions of the range.
        """
        if name in self.spans.get(COMPILER, {}):
            return ""
        reasons = []
        for library, names in self.spans.items():
            if name not in names:
                continue
            versions = self.versions[library]
            first, last = names[name]
            asked = [i for i, v in enumerate(versions) if since <= v < removed]
            if all(first <= i <= last for i in asked):
                return ""
            reasons.append(f"{library} has it from ROCm {_text(versions[first])} to {_text(versions[last])}")
        return "; ".join(reasons) or "in no header that was read"


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def words(text: str) -> set[str]:
    """Every identifier of a header outside comments, and the vector types that its macros make."""
    text = _COMMENT.sub(" ", text)
    found = set(_WORD.findall(text))
    for name in _VECTOR.findall(text):
        found.update(f"{make}{name}{n}" for n in range(1, 5) for make in ("", "make_"))
    return found


def of_folder(folder: Path) -> set[str]:
    """The identifiers of all headers below a folder."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _HOOKS and not _NVIDIA & {*path.parts}:
            found |= words(path.read_text(encoding="utf-8", errors="replace"))
    return found


def read(path: Path = LIST) -> Known:
    """The committed list."""
    versions: dict[str, tuple[tuple[int, int], ...]] = {}
    spans: dict[str, dict[str, tuple[int, int]]] = {}
    library = ""
    span = (0, 0)
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#") or not line:
            continue
        if line.startswith("["):
            library, _, listed = line[1:].partition("]")
            versions[library] = tuple(map(_version, listed.split()))
            spans[library] = {}
        elif not line.startswith(" "):
            first, _, last = line.partition("-")
            among = versions[library]
            span = (among.index(_version(first)), among.index(_version(last)) if last else len(among) - 1)
        else:
            spans[library].update(dict.fromkeys(line.split(), span))
    return Known(versions, spans)


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def written(by_library: Mapping[str, Mapping[str, set[str]]]) -> Iterator[str]:
    """The lines of the list. `by_library`: library -> version -> names."""
    yield "# Names in AMD's public headers, by library and ROCm version; written by tools/hip_names.py."
    yield "# `[library] versions that were read`, then `first` or `first-last` version with the names, which follow."
    for library, found in sorted(by_library.items()):
        versions = sorted(found, key=_version)
        yield f"[{library}] {' '.join(versions)}"
        groups: dict[tuple[int, int], list[str]] = {}
        for name in sorted(set().union(*found.values())):
            held = [i for i, v in enumerate(versions) if name in found[v]]
            groups.setdefault((held[0], held[-1]), []).append(name)
        for (first, last), names in sorted(groups.items()):
            yield versions[first] + (f"-{versions[last]}" if last < len(versions) - 1 else "")
            yield from textwrap.wrap(
                " ".join(names), 118, initial_indent=" ", subsequent_indent=" ", break_on_hyphens=False
            )


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the names of AMD's public headers by library and version.")
    parser.add_argument("roots", nargs="+", metavar="VERSION=DIR", help="a ROCm version and its include folder")
    parser.add_argument("--clang", type=Path, help="include folder of clang's resources")
    parser.add_argument("--out", type=Path, default=LIST)
    args = parser.parse_args(None if arguments is None else list(arguments))
    by_library: dict[str, dict[str, set[str]]] = {}
    for root in args.roots:
        version, _, folder = root.partition("=")
        if not re.fullmatch(r"\d+\.\d+", version) or not Path(folder).is_dir():
            sys.exit(f"{root}: a ROCm version and an include folder, such as 7.1=/opt/rocm/include")
        for library, keep in _FOLDERS.items():
            if (Path(folder) / library).is_dir():
                names = {n for n in of_folder(Path(folder) / library) if re.match(keep, n)}
                by_library.setdefault(library, {})[version] = names
    if args.clang:
        names = set().union(*(words(p.read_text("utf-8", "replace")) for p in sorted(args.clang.glob("__clang_*"))))
        by_library[COMPILER] = {"0.0": {n for n in names if len(n) > 1}}
    args.out.write_text("\n".join(written(by_library)) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
