"""Sources for the host's compiler that include what only the compiler of HIP takes: ROCm's Thrust and CUB."""

from __future__ import annotations

from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.core.files import CUDA_SUFFIXES, CXX_SUFFIXES, suffix
from cu2port.core.late import regex
from cu2port.facts.unit import Unit, condition_words
from cu2port.project.graph import Graph

_LIBRARIES = regex(r"(?:thrust|cub)/")
_DEVICE = frozenset({"__CUDACC__", "__NVCC__", "__HIPCC__"})


def device_hosts(graph: Graph | None) -> frozenset[str]:
    """Such sources of C++, through headers of the tree too. A header that only a compiler of the device includes, by a
    branch of its file, does not count; nor does any branch of a source that a CUDA source includes as a whole, which
    is compiled for the device there."""
    if graph is None:
        return frozenset()
    direct = [
        f for f in graph.including(_LIBRARIES) if suffix(f) not in CUDA_SUFFIXES and _for_hosts(f, _in_cuda(graph, f))
    ]
    return frozenset(f for f in graph.reaching(direct) if suffix(f) in CXX_SUFFIXES)


def _in_cuda(graph: Graph, file: str) -> bool:
    """Whether a CUDA source includes a source of C++."""
    return suffix(file) in CXX_SUFFIXES and any(suffix(f) in CUDA_SUFFIXES for f in graph.reaching([file]))


def _for_hosts(file: str, in_cuda: bool) -> bool:
    """Whether a file includes such a header for the host's compiler too. `in_cuda`: a CUDA source includes the file."""
    try:
        text = Path(file).read_bytes().decode("latin-1")
    except OSError:
        return False  # `convert` meets the same error and reports it
    if not in_cuda and not any(name in text for name in _DEVICE):
        return True
    unit = Unit(text, load_catalog())
    return any(
        _LIBRARIES.match(i.path)
        and not any(in_cuda or _DEVICE & condition_words(unit, g) for g in unit.conditions(i.start))
        for i in unit.includes
    )
