"""The macro by which HIP's headers know the platform, in a Makefile beside the folder where they are: hipcc gives
it, and the compiler of the host does not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cu2port.build import options
from cu2port.build.make_variables import REFERENCE
from cu2port.build.pages import TOOLKIT
from cu2port.build.words import HOME, finding
from cu2port.core.model import Finding, Side, insert

_INCLUDE = re.compile(r"(?:-I|-isystem)?[^,]*/include/?$")
_INCLUDES = frozenset({"-I", "-isystem"})
_BY_NAME = re.compile(r"""(?:-I|-isystem)?["']?\$[({]CUDA_?INC\w*[)}]["']?$""", re.I)  # configure or the user sets it
_PLATFORM = " -D__HIP_PLATFORM_AMD__"


def platform(
    name: str,
    text: str,
    words: Sequence[options.Word],
    homes: Collection[str],
    included: Mapping[str, Sequence[int]],
    told: set[int],
) -> Iterator[Finding]:
    """The macro beside each include folder of CUDA's that a line gives the host's compiler, once in each of the places
    `told`. A folder that a variable holds without `-I` is a path: the macro goes to where the variable is used with
    `-I` (`included`). `name`: the variable that the line sets."""
    places: dict[int, None] = {}
    first: options.Word | None = None
    option = ""  # the word before
    for word in words if "/include" in text or "CUDA" in text else ():
        bare = name != "" and not word.text.startswith("-") and option not in _INCLUDES
        known = HOME.search(word.text) or any(m[1] in homes for m in REFERENCE.finditer(word.text))
        if (known and _INCLUDE.match(word.text)) or (not bare and _is_by_name(word, option)):
            uses = included.get(name, ()) if bare else (word.outer[1],)
            if new := [k for k in uses if k not in told]:
                places |= dict.fromkeys(new)
                first = first or word
        option = word.text
    told |= places.keys()
    if first is not None and places:
        message = f"HIP's headers ask the host's compiler for the platform: `{_PLATFORM.strip()}`"
        yield finding(TOOLKIT, message, first.start, first.end, [insert(k, _PLATFORM, Side.LEFT) for k in places])


def _is_by_name(word: options.Word, option: str) -> bool:
    """Whether a word is an include folder by the name of its variable alone: `-I$(CUDA_INC_DIR)`."""
    return (option in _INCLUDES or word.text.startswith("-")) and _BY_NAME.fullmatch(word.text) is not None
