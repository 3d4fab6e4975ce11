"""Structs that a file declares under the names of CUDA's vector types, for compilers of the host."""

from __future__ import annotations

from cu2port.core.late import regex
from cu2port.facts.named_types import VECTORS

_STRUCT = regex(r"\bstruct\s+(?:\w{1,40}\s*\([^()]{0,40}\)\s*|\w{1,40}\s+)?(\w{3,9}[1-4])\s*\{")
_WORD = regex(r"\b\w{3,9}[1-4]\b")


def own_vectors(text: str) -> frozenset[str]:
    """Those that it defines."""
    if "struct" not in text:
        return frozenset()
    return frozenset(m[1] for m in _STRUCT.finditer(text) if VECTORS.match(m[1]))


def asked_vectors(text: str) -> frozenset[str]:
    """Vector types in a text with operators, for which it matters whether another file defines them."""
    return frozenset(m[0] for m in _WORD.finditer(text) if VECTORS.match(m[0])) if "operator" in text else frozenset()
