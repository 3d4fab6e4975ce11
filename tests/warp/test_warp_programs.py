"""Programs that count on warps of 32 lanes: wrong with 64 when names alone are changed, right in each mode of `--warp`.

Each program of `programs/` checks itself. Renamed only, with masks of 64 bits as ports by hand give them, it is right
on wavefronts of 32 lanes and wrong on those of 64, and findings of `--warp flag` say so before. `tools/warp_proof.py`
makes the table of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Options
from cu2port.engine.effects import on
from cu2port.engine.translate import translate
from cu2port.project.config import WARP_MODES
from cu2port.verify import sim_build, sim_compiler, simulate

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "tools" / "warp_rename.h"
PROGRAMS = {p.stem: p for p in sorted((ROOT / "tests" / "warp" / "programs").glob("*.cu"))}
#: Warps wait for each other: that each primitive is right does not help.
SOLO_ONLY = frozenset({"arms", "lock", "roles"})
#: Right in lockstep only: the simulator's lanes do not run so, whatever their number.
LOCKSTEP = frozenset({"tail"})
#: Run by default; the others are slow: each takes seconds to build.
FEW = frozenset({"compact"})
EACH = [pytest.param(n, marks=() if n in FEW else pytest.mark.slow) for n in PROGRAMS]


def answers(name: str, mode: str, folder: Path, waves: tuple[int, ...] = (32, 64)) -> dict[int, bool]:
    """Whether a program passes, by wave size. The mode `renamed` changes names and masks alone."""
    path = PROGRAMS[name]
    renamed = mode == "renamed"
    program = sim_build.Program((path,), (path.parent,), warp="flag" if renamed else mode)
    program = quick(program, *(("-include", str(SHIM)) if renamed else ()))
    out = {}
    for wave, binary in sim_build.build(program, folder, waves, sim_compiler.find_toolchain()).items():
        ran = simulate.run(binary, (), simulate.Limits(10), capture=True)
        out[wave] = ran.code == 0 and ran.output == b"PASS\n"
    return out


@pytest.mark.parametrize("name", [p for p in EACH if p.values[0] not in LOCKSTEP])
def test_renamed_is_wrong_with_64_lanes(name: str, tmp_path: Path) -> None:
    assert answers(name, "renamed", tmp_path) == {32: True, 64: False}


@pytest.mark.parametrize("mode", [m for m in WARP_MODES if m != "flag"])
@pytest.mark.parametrize("name", EACH)
def test_converted_is_right(name: str, mode: str, tmp_path: Path) -> None:
    right = mode == "solo" or name not in SOLO_ONLY
    assert answers(name, mode, tmp_path) == {32: True, 64: right}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_goes_wrong_is_foretold(name: str) -> None:
    data = PROGRAMS[name].read_bytes()
    found = [j.finding for j in translate(data, Options(warp="flag"), path=f"{name}.cu").findings]
    told = {on(f, "gfx942") for f in found}
    assert told & {"wrong-result", "hang"}
    if name in SOLO_ONLY:
        assert {f.code for f in found} & {"CU360", "CU362", "CU363"}


@pytest.mark.parametrize("name", sorted(SOLO_ONLY))
def test_logical_warns_of_what_it_cannot_mend(name: str) -> None:
    made = translate(PROGRAMS[name].read_bytes(), Options(), path=f"{name}.cu")
    assert [j for j in made.findings if j.open and j.finding.code in ("CU360", "CU362", "CU363")]
