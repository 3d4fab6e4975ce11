"""List catalogue rows whose target no header of AMD's holds in a ROCm version that the row claims.

    python tools/check_hip.py [--library runtime]...

The names are those of tools/hip_names.txt, which tools/hip_names.py makes from headers. A row is held to the list in
every ROCm version that its library's headers were read for, from `hip_since` up to `hip_removed`; the name before that
(`older`) in the versions below. Rows marked `unchecked` are left out: their headers were not available. So are targets
`cu2port::...`, which headers of ours declare (tests/test_headers.py checks those), names of the C++ standard library,
the compiler's builtins, and prefixes for `##` (`HIPBLAS_`).
Exit 1 when a row names something unknown.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

from hip_names import Known, read

from cu2port.catalog import Row, load_catalog, version_key

_WORD = re.compile(r"(?<!\w)[A-Za-z_]\w+(?:::[A-Za-z_]\w*)*")
_OURS = ("cu2port::", "std::", "__builtin_", "__hip_atomic_", "__ATOMIC_")
# Words of the language, of the C library and of attributes.
_LANGUAGE = frozenset(
    "int unsigned void char float double long short bool uint32_t uint64_t size_t const true false nullptr sizeof auto "
    "__restrict__ __attribute__ noreturn pure alloca return static_cast reinterpret_cast const_cast".split()
)
# In templates of calls only what is plainly a name of AMD's is judged: the rest are casts, literals and C++.
_PLAIN = re.compile(r"(?:p?hip|HIP|miopen|MIOPEN|roc|ROC|p?nccl|NCCL|amdsmi|AMDSMI)[A-Za-z_]")


def targets(row: Row) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """(name, first ROCm version, the version that no longer has it) of each word that a row writes."""
    since = _version(row, "hip_since", (0, 0))
    removed = _version(row, "hip_removed", (99, 0))
    until = version_key(row.older_until)[:2] if row.older_until else (0, 0)
    for name in _names(row.hip):
        yield name, max(since, (until[0], until[1])), removed
    for name in _names(row.older_hip):
        yield name, since if since < until else (0, 0), (until[0], until[1])
    templates = [row.call, *(text for _, text in row.args), *(new for _, pairs in row.values for _, new in pairs)]
    for form in row.forms:
        start = max(since, _pair(form.hip_since)) if form.hip_since else since
        for name in _names(form.hip):
            yield name, start, removed
        for text in (form.call, *(text for _, text in form.args)):
            yield from ((name, start, removed) for name in _plain(text))
    for text in templates:
        yield from ((name, since, removed) for name in _plain(text))


def _version(row: Row, key: str, otherwise: tuple[int, int]) -> tuple[int, int]:
    text = row.version(key)
    return _pair(text) if text else otherwise


def _pair(text: str) -> tuple[int, int]:
    parts = (*version_key(text), 0)
    return parts[0], parts[1]


def _names(hip: str) -> Iterator[str]:
    """The names of a target; of `Struct.member` both, of a qualified name its last part."""
    for word in _WORD.findall(hip):
        if not word.startswith(_OURS) and not word.endswith("_") and word not in _LANGUAGE:
            yield word.rpartition("::")[2]


def _plain(text: str) -> Iterator[str]:
    return (name for name in _names(text) if _PLAIN.match(name))


def unknown(known: Known, rows: Iterator[Row], libraries: frozenset[str] = frozenset()) -> list[tuple[Row, str, str]]:
    """(row, name, why) of the rows that the headers do not bear out, each name once a row."""
    out = []
    for row in rows:
        if row.unchecked or row.mapping == "unsupported" or (libraries and row.library not in libraries):
            continue
        said: set[str] = set()
        for name, since, removed in targets(row):
            why = known.refutes(name, since, removed)
            if why and name not in said:
                said.add(name)
                out.append((row, name, why))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="List catalogue rows whose target no header of AMD's holds.")
    parser.add_argument("--library", action="append", default=[], help="only this one; else all")
    args = parser.parse_args()
    rows = unknown(read(), iter(load_catalog()), frozenset(args.library))
    for row, name, why in rows:
        print(f"{row.library}: {row.cuda} -> {name}: {why}")
    sys.exit(1 if rows else 0)


if __name__ == "__main__":
    main()
