"""Fortran that calls CUDA: functions that are bound by their C names, values of CUDA's enumerators, CUDA Fortran."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build.cgo import Names, new_name
from cu2port.build.pages_languages import FORTRAN
from cu2port.build.words import Asked, finding, swap
from cu2port.catalog import load_catalog
from cu2port.core.model import Finding, Trust

_BOUND = re.compile(r"[\"'](?P<name>(?:cu|nccl)\w+)[\"']")
_BY_NAME = re.compile(r"\bname[ \t]{0,20}=[ \t]{0,20}\Z", re.I)
_VALUE = re.compile(r"::[ \t]{0,20}(?P<name>cu\w+)[ \t]{0,40}=(?!=)", re.I)
_CUDA_FORTRAN = re.compile(
    r"^[ \t]*use[ \t]+(?:cudafor|cublas\w*|cufft\w*|curand\w*|cusparse\w*|cusolverdn)\b"
    r"|^[^!\n\"']{0,200}\battributes[ \t]*\([ \t]*(?:global|device)\b|^[ \t]*!\$cuf\b",
    re.I | re.M,
)
_BEFORE = 60  # bytes


def fortran(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a Fortran file, a text of Latin-1."""
    names = Names(load_catalog(asked.rules), asked.rocm, False)
    for m in _BOUND.finditer(text):
        line = text[max(text.rfind("\n", 0, m.start()) + 1, m.start() - _BEFORE) : m.start()]
        row = names.catalog.get(m["name"]) if _BY_NAME.search(line) else None
        if row is None or row.hip == row.cuda:
            continue
        hip, why, _ = new_name(row, names)
        if hip:
            why = row.why if row.trust is not Trust.EXACT else ""
            yield swap(FORTRAN, row.cuda, hip, m.start("name"), why, row.trust is not Trust.EXACT)
        else:
            yield finding(FORTRAN, f"`{row.cuda}` stays: {why}", m.start(), m.end(), old=row.cuda)
    values = [m for m in _VALUE.finditer(text) if m["name"] in names.catalog.names]
    if values:
        first = values[0]
        more = f" and {len(values) - 1} more" if len(values) > 1 else ""
        message = f"the value of `{first['name']}`{more} is CUDA's: HIP's may differ; compare with HIP's headers"
        yield finding(FORTRAN, message, first.start("name"), first.end("name"))
    found = _CUDA_FORTRAN.search(text)
    if found is not None:
        start = found.end() - len(found[0].lstrip())
        why = "AMD's compilers have no CUDA Fortran; write hipfort's modules, and kernels in C++"
        yield finding(FORTRAN, f"`{found[0].strip()}` stays: {why}", start, found.end())
