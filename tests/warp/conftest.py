"""What tests of native code share: programs of kernels run as `--warp logical` and as `--warp native`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_compiler, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator/cu2port/include/cu2port"
Answers = dict[tuple[str, int], dict[str, str]]


LAUNCH = """static void launch(void (*k)(const int*, int*), const int* in, int* out, dim3 blocks, dim3 threads,
                   unsigned shared = 0) {
    k<<<blocks, threads, shared>>>(in, out);
}
"""


def _launched_once(text: str) -> str:
    """A program with one launch for all kernels: a compiler takes as long for a launch as for a kernel."""
    head, main, rest = text.partition("int main() {\n")
    rest = re.sub(r"(\w+)<<<(.+?)>>>\(in, out\);", r"launch(\1, in, out, \2);", rest)
    return head + LAUNCH + main + rest


@pytest.fixture(scope="session")
def native_answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answers]:
    """native_answers(program) -> (mode, wave size) -> what it wrote: of each line the part before its first colon ->
    the part behind."""

    def get(program: str) -> Answers:
        toolchain = sim_compiler.find_toolchain()
        out: Answers = {}
        for mode, waves in (("logical", (32,)), ("native", (32, 64))):
            made = translate(program, Options(warp=mode), path="p.cu")
            assert all(j.outcome is Outcome.APPLIED for j in made.findings if j.finding.code == "CU356")
            folder = tmp_path_factory.mktemp(mode)
            shutil.copytree(INCLUDE, folder / "cu2port")
            path = folder / "p.hip"
            path.write_text(_launched_once(made.output.decode()), "utf-8")
            found = sim_build.find_program(path)
            built = quick(found)
            for wave, binary in sim_build.build(built, folder / "build", waves, toolchain).items():
                ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
                assert ran.code == 0, ran.errors.decode() + ran.output.decode()[-2000:]
                lines = (line.partition(":") for line in ran.output.decode().splitlines())
                out[mode, wave] = {head: rest for head, _, rest in lines}
        return out

    return get


@pytest.fixture(scope="session")
def native_verdicts() -> Callable[[str], dict[str, str]]:
    """native_verdicts(program) -> kernels and functions that a finding names -> CU356 (native) or CU357 (kept)."""

    def get(program: str) -> dict[str, str]:
        made = translate(program, Options(warp="native"), path="p.cu")
        found = (j.finding for j in made.findings if j.finding.code in ("CU356", "CU357"))
        return {f.message.split("`")[1]: f.code for f in found}

    return get
