"""Kernels of the tests with some statements made two by `#if`, at random: what becomes native is in each way to compile
it the same text as if the way had been converted by itself.

The branches are taken here by reading lines, not by the code under test.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from loading import load

from cu2port.engine import translate
from cu2port.model import Options

HERE = Path(__file__).parent
BASES = [load(HERE / f"{name}.py") for name in ("test_warp_native", "test_warp_native_masks", "test_warp_native_scans")]
WAYS = (frozenset[str](), frozenset({"A"}), frozenset({"B"}), frozenset({"A", "B"}))


def _lines(text: str, defined: frozenset[str]) -> list[str]:
    """The lines that are compiled where some macros are defined."""
    out: list[str] = []
    taken: list[bool] = []
    for line in text.split("\n"):
        word, _, name = line.strip().partition(" ")
        if word in ("#ifdef", "#ifndef"):
            taken.append((name in defined) == (word == "#ifdef"))
        elif word == "#else":
            taken[-1] = not taken[-1]
        elif word == "#endif":
            taken.pop()
        elif all(taken):
            out.append(line)
    return out


def _words(text: str, defined: frozenset[str]) -> list[str]:
    """What is compiled, without white space; includes do not count, since what is not compiled may want more."""
    return " ".join(x for x in _lines(text, defined) if not x.startswith("#include")).split()


def _converted(text: str) -> tuple[str, bool]:
    """What becomes of a text, and whether the kernel is native."""
    made = translate(text, Options(warp="native"), path="p.cu")
    found = [j.finding for j in made.findings if j.finding.code == "CU356"]
    return made.output.decode("latin-1"), any(f.message.startswith("`k` ") for f in found)


def _kernel(seed: int) -> str:
    r = random.Random(seed)
    base = r.choice(BASES)
    parts = re.split(r"(?<=[;{}])", r.choice([b for b in base.NATIVE.values() if "#" not in b]))
    for _ in range(r.randint(1, 3)):
        i = r.choice([i for i, p in enumerate(parts) if p.strip()])
        one = parts[i]
        others = ("", one, one.replace("32", "31", 1), one.replace("+=", "-=", 1), one * 2, one + " out[900] = 1;")
        two = r.choice(others)
        pair = (one, two) if r.random() < 0.5 else (two, one)
        parts[i] = f"\n#{r.choice(('ifdef', 'ifndef'))} {r.choice('AB')}\n{pair[0]}\n#else\n{pair[1]}\n#endif\n"
    kernel = f"__global__ void k(const int* in, int* out) {{{''.join(parts)}\n}}\n"
    return f"{base.HEAD}{kernel}void run(int* in, int* out) {{ k<<<2, 128>>>(in, out); }}\n"


def _agree(seeds: range) -> int:
    """How many of some kernels became native, all ways being alike."""
    natives = 0
    for seed in seeds:
        text = _kernel(seed)
        output, native = _converted(text)
        natives += native
        for defined in WAYS if native else ():
            alone = _converted("\n".join(_lines(text, defined)))[0]
            assert _words(output, defined) == _words(alone, frozenset()), (seed, defined)
    return natives


def test_ways_are_what_they_are_alone() -> None:
    assert _agree(range(12)) > 3


@pytest.mark.slow
def test_many_ways_are_what_they_are_alone() -> None:
    assert _agree(range(100, 400)) > 100
