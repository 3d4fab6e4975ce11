"""Building and running the programs of a trial."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock

from cu2port.core.data import cache_dir
from cu2port.core.scratch import scratch_folder
from cu2port.verify import sim_build, sim_check
from cu2port.verify.children import in_threads, run_child
from cu2port.verify.reach import read
from cu2port.verify.sim_build import Program, absolute_path, mirrored
from cu2port.verify.sim_compiler import INCLUDE_DIR, CannotBuild, Toolchain
from cu2port.verify.trial import parts
from cu2port.verify.trial.answers import answering
from cu2port.verify.trial.assembly import Body
from cu2port.verify.trial.fitting import MOST_ROUNDS, Dropped, left_out, reason, refusal, refused, smaller
from cu2port.verify.trial.kernels import Kernel, Unclear, find_kernels
from cu2port.verify.trial.pasted import expansions
from cu2port.verify.trial.program import (
    Hints,
    LackingError,
    Side,
    Written,
    check,
    hints,
    library,
    shares_memory,
    write,
)
from cu2port.verify.trial.programs import naming, with_definitions
from cu2port.verify.trial.rounding import with_nudges
from cu2port.verify.trial.verdict import (
    AGREES,
    ENOUGH,
    IN_ONE_WARP,
    ROUNDING,
    UNORDERED,
    UNSTEADY,
    Said,
    Verdict,
    first_difference,
    fruitless,
    plain_failure,
    read_output,
    telling,
    without_cases,
    written_by,
)

_BACKWARD: Mapping[str, str] = {"CU2PORT_SIM_CHECK": "1", "CU2PORT_SIM_BACKWARD": "1"}
_ORDERS: Mapping[str, Mapping[str, str]] = {"": {}, " from the last lane on": _BACKWARD}
_WATCHING = {"CU2PORT_SIM_CHECK": "1"}
#: A function of the host that is kept by its name may call others: a kernel that does so fails when it runs. Looked up
#: when it is called, such a function keeps the program from starting.
_LINKED = ("-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,now") if sys.platform == "linux" else ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of a trial. `time_s`, `launches`: for one kernel; `kernels`: names, all if empty; `root`: a folder whose
    files tell of launches."""

    seed: int = 1
    time_s: float = 10.0
    launches: int = 240
    kernels: frozenset[str] = frozenset()
    waves: tuple[int, ...] = (32, 64)
    root: Path | None = None


def try_program(
    program: Program, asked: Asked, toolchain: Toolchain, jobs: int = 0, done: Set[Path] = frozenset()
) -> Generator[Verdict, None, None]:
    """The kernels of a translation unit and of the files that it includes, except those in `done`, in text order."""
    opened = open_trial(program, asked, toolchain, done)
    if opened is None:
        return
    build, found = opened
    judged = in_threads(build.judge, (k for _, k in found), jobs or os.cpu_count() or 1)
    with closing(judged):
        for (real, k), verdict in zip(found, judged, strict=True):
            yield replace(verdict, file=_shown(real), kernel=k.path, line=k.line)


def open_trial(
    program: Program, asked: Asked, toolchain: Toolchain, done: Set[Path] = frozenset()
) -> tuple[Trial, list[tuple[Path, Kernel | Unclear]]] | None:
    """Both sides of a program, and its kernels by the file that has them; None where there are none to try."""
    own = sim_build.plain_sources(program)
    program = with_definitions(program, own, asked.root)
    plain = sim_build.plain_sources(program) if len(program.units) > 1 else own
    cuda = Side.of(plain, cuda=True)
    given = "".join(f"#define {d.replace('=', ' ', 1)}\n" for d in program.defines)
    units = [*cuda.units.values(), *expansions(list(cuda.units.values())), read(given, "")]
    found = []
    for real, unit in cuda.units.items():
        if INCLUDE_DIR in real.parents or real in done or real not in own:
            continue
        for k in find_kernels(unit, units, partial(naming, asked.root)):
            name = k.path.rpartition("::")[2]
            if not asked.kernels or name in asked.kernels:
                found.append((real, k))
    if not found:
        return None
    hip = Side.of(sim_build.sources(replace(program, cuda=True)), cuda=False)  # a header may say so nowhere
    build = Trial(program, cuda, hip, asked, toolchain, Lock())
    build.prepare()
    return build, found


def _shown(real: Path) -> str:
    here = Path.cwd()
    return str(real.relative_to(here)) if real.is_relative_to(here) else str(real)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a CUDA kernel's launches left, in files of `folder`. `cuda`: the side without `dropped`; `new`: launches
    that reached new branches, or some more often; `said`: of all launches, whether their result depends on the order of
    threads; `part`: of the branches; `bodies`: of inline PTX."""

    kernel: Kernel
    folder: Path
    cuda: Side
    dropped: Dropped
    told: Hints
    new: frozenset[int]
    said: Said
    part: float
    bodies: tuple[Body, ...]


def work_folder() -> AbstractContextManager[Path]:
    """A folder for the programs of one kernel, removed in the end."""
    return scratch_folder(cache_dir() / "sim", "trial")


@dataclass(frozen=True, slots=True)
class Trial:
    """The two sides of a program, and what they are built with."""

    program: Program
    cuda: Side
    hip: Side
    asked: Asked
    toolchain: Toolchain
    reading: Lock  # facts of a file are found when they are first asked for, by one thread

    def prepare(self) -> None:
        """Compile what all programs share, before several of them are built at a time."""
        parts.driver(self.toolchain)
        self.toolchain.runtime()
        parts.flags(self.toolchain, 32, cuda=True)
        for wave in self.asked.waves:
            parts.flags(self.toolchain, wave, cuda=False)

    def judge(self, kernel: Kernel | Unclear) -> Verdict:
        """What there is to say of a kernel."""
        none = Verdict(kernel.path, "", kernel.line, "could not")
        if isinstance(kernel, Unclear):
            return replace(none, why=kernel.why)
        try:
            with work_folder() as folder:
                recorded = self.record(kernel, folder)
                return recorded if isinstance(recorded, Verdict) else self.compare(recorded, self.hip)
        except (LackingError, CannotBuild) as e:
            return replace(none, why=str(e))

    def record(self, kernel: Kernel, folder: Path) -> Recorded | Verdict:
        """Run the CUDA kernel and keep below a folder what its launches left; or why that says nothing.

        Raises LackingError, CannotBuild.
        """
        none = Verdict(kernel.path, "", kernel.line, "could not")
        cuda, dropped, told, binary, written = self._fitted(kernel, folder)
        count = len(written.branches)
        said = self._call(binary, folder, "record", [str(count), "0", str(self.asked.launches)], bodies=written.bodies)
        if said.unfit:
            return replace(none, why=f"parameters: {said.unfit}")
        new = frozenset(said.numbers("new"))
        if why := fruitless(said):
            return replace(none, why=why)
        part = said.coverage(count)
        if part < ENOUGH:
            missed = said.missed(written.branches)
            return replace(none, why=f"arguments reach {part:.0%} of its branches (not {missed})", branches=part)
        return Recorded(kernel, folder, cuda, dropped, told, new, said, part, tuple(written.bodies))

    def compare(self, recorded: Recorded, hip: Side) -> Verdict:
        """Run a converted kernel on what was recorded; ends at a wave size with a difference. Raises CannotBuild."""
        kernel, new = recorded.kernel, recorded.new
        steady = sorted(recorded.said.numbers(*AGREES), key=lambda n: (n not in new, n))  # time may end before
        found = Verdict(kernel.path, "", kernel.line, "could not", cases=len(steady), branches=recorded.part)
        runs: dict[str, Said] = {}
        why = ""
        for wave in self.asked.waves:
            mine, without, fault = self._at_wave(recorded, self.converted(recorded, hip, wave), wave, steady)
            if fault:
                return replace(found, outcome="differs", why=fault)
            runs = without_cases({**runs, **mine}, without)
            steady = [n for n in steady if n not in without]
            why = why or next(iter(without.values()), "")
        compared = min(len(r.numbers(*AGREES)) for r in runs.values())
        if not compared:
            why = why or ROUNDING * any(r.numbers("rounding") for r in runs.values())
            return replace(found, why=why or "the converted kernel takes too long, or no block fits it")
        if fault := self._new_fault(recorded, self._smaller(recorded, hip), steady):
            return replace(found, outcome="differs", why=fault)
        close, permuted = (any(r.numbers(w) for r in (recorded.said, *runs.values())) for w in ("close", "permuted"))
        rounding = len({n for r in runs.values() for n in r.numbers("rounding")})
        return replace(found, outcome="same", cases=compared, close=close, permuted=permuted, rounding=rounding)

    def converted(self, recorded: Recorded, hip: Side, wave: int) -> Path:
        """The program of a converted kernel. Raises CannotBuild."""
        try:
            side = self._smaller(recorded, hip)
            return self._build(side, recorded.kernel, recorded.folder, wave, recorded.told)[0]
        except CannotBuild as e:
            raise CannotBuild(f"the converted kernel does not compile: {reason(str(e), {})}") from None

    def _smaller(self, recorded: Recorded, hip: Side) -> Side:
        with self.reading:
            return smaller(hip, recorded.dropped)

    def _at_wave(
        self, recorded: Recorded, binary: Path, wave: int, steady: Sequence[int]
    ) -> tuple[Mapping[str, Said], Mapping[int, str], str]:
        """Run a converted kernel at one wave size: how that went, the launches that say nothing, and the first
        difference, "" where there is none."""
        more, named = recorded.said.numbers("more"), {f"wave {wave}{order}": how for order, how in _ORDERS.items()}
        hip = partial(self._call, binary, recorded.folder)
        cuda = partial(self._call, recorded.folder / "cuda-32", recorded.folder, bodies=recorded.bodies)
        runs: dict[str, Said] = {}
        for name, settings in named.items():
            asked = [*map(str, steady), *(["more", *map(str, more)] if more and not settings else ())]
            runs[name] = hip("compare", asked, settings)
        odd = sorted({c.number for x in runs.values() for c in x.of("differs", "failed").cases} & {*more})
        runs = without_cases(runs, self._in_another_order(recorded, odd))
        first, none, last = first_difference(runs), dict[int, str](), -1
        while first and first.case != last:
            last = first.case
            if without := self._meaningless(recorded, [last]):  # so may the others
                none |= without
                none |= self._meaningless(recorded, [n for n in (*odd, *steady) if n not in none])
            runs = with_nudges(cuda, hip, without_cases(runs, none), named, last)
            first = first_difference(runs)
        if not first:
            return runs, none, ""
        if not first.place:
            return runs, none, first.text
        again = hip("writer", [str(first.case), *first.place], named[first.run])
        return runs, none, first.text + written_by(again, wave)

    def _in_another_order(self, recorded: Recorded, cases: Sequence[int]) -> Set[int]:
        """Of launches that were recorded in one order of threads those that leave other values in the other."""
        if not cases:
            return frozenset()
        binary, folder = recorded.folder / "cuda-32", recorded.folder
        said = self._call(binary, folder, "compare", [*map(str, cases)], _BACKWARD, recorded.bodies)
        return {*cases} - {*said.numbers(*AGREES)}

    def _meaningless(self, recorded: Recorded, cases: Sequence[int]) -> Mapping[int, str]:
        """The launches that say nothing, and why: CUDA's kernel leaves its memory in them, shifts by more bits than a
        value has, has a race that the orders did not show, or, with each access watched and other bytes in memory that
        nothing wrote, does not leave what it left before."""
        if self.toolchain.is_zig:
            return {}
        said = self._watched(recorded, [str(n) for n in dict.fromkeys(cases)])
        out = {c.number: f"{UNSTEADY} {c.rest[4]}" for c in said.cases if c.word == "differs"}
        out |= {c.number: f"{UNSTEADY} {plain_failure(c)}" for c in said.cases if c.word == "failed"}
        if not recorded.bodies:  # nothing knows which threads inline PTX orders
            races = said.races().items()
            out |= {n: f"{UNORDERED}: {c.rest[0]}" for n, c in races if not c.rest[0].endswith(IN_ONE_WARP)}
        out |= {c.number: f"a shift {c.rest[0]}" for c in said.cases if c.word == "shift"}
        return {**out, **{c.number: c.rest[0] for c in said.cases if c.word == "bounds"}}

    def _watched(self, recorded: Recorded, cases: Sequence[str]) -> Said:
        """The CUDA side with each access watched."""
        binary = recorded.folder / "cuda-32-watched"
        if not binary.is_file():
            self._build_watched(recorded.cuda, recorded)
        return self._call(binary, recorded.folder, "compare", cases, _WATCHING, recorded.bodies)

    def _build_watched(self, side: Side, recorded: Recorded) -> Path:
        try:
            return self._build(side, recorded.kernel, recorded.folder, 32, recorded.told, watched=True)[0]
        except CannotBuild as e:
            raise CannotBuild(f"it does not compile with each access watched: {reason(str(e), {})}") from None

    def _new_fault(self, recorded: Recorded, hip: Side, steady: Sequence[int]) -> str:
        """A race of the converted kernel that CUDA's has not, as the order of threads that is simulated may hide it, or
        an index past shared memory, or past what CUDA's kernel wrote of dynamic shared memory: how much a launch has is
        made up; "" where there is none, or where threads share nothing."""
        folder = recorded.folder
        if self.toolchain.is_zig or recorded.bodies or not shares_memory(recorded.cuda, recorded.kernel):
            return ""
        cases = [str(n) for n in telling(steady, recorded.new)]
        said = self._call(self._build_watched(hip, recorded), folder, "compare", cases, _WATCHING)
        races, leaving = said.races(), {c.number: c.rest[0] for c in said.cases if c.word == "bounds"}
        wrote = said.wrote()
        if not races and not leaving and not wrote:
            return ""
        first = {*races, *leaving}  # before time ends
        cuda = self._watched(recorded, [str(n) for n in (*sorted(first), *sorted(wrote.keys() - first))])
        clean = set(cuda.numbers(*AGREES)) - cuda.races().keys() - set(cuda.numbers("bounds"))
        if out := clean & leaving.keys():
            return f"it leaves its memory where CUDA's kernel does not: {leaving[min(out)]}"
        theirs = cuda.wrote()
        if more := [n for n in clean & wrote.keys() if wrote[n] > theirs.get(n, 0)]:
            n = min(more)
            return f"it writes {wrote[n]} bytes of its dynamic shared memory, CUDA's kernel {theirs.get(n, 0)}"
        if not clean & races.keys():
            return ""
        clean &= races.keys()
        race = races[min(clean)]
        text, at, other = race.rest[:3]
        places = sim_check.places(folder / "hip-32-watched", [at, other])
        lines = ", ".join(Path(places[x]).name for x in (at, other) if x in places)
        return f"a race that CUDA's kernel does not have: {text}" + (f" ({lines} as converted)" if lines else "")

    def _fitted(self, kernel: Kernel, folder: Path) -> tuple[Side, Dropped, Hints, Path, Written]:
        """The CUDA side without parts that do not compile, these, and its program."""
        with self.reading:
            dropped = left_out(self.cuda, kernel)
            side = smaller(self.cuda, dropped)
        for _ in range(MOST_ROUNDS):
            with self.reading:
                check(side, kernel)
                told = hints(side, kernel)
            try:
                binary, written = self._build(side, kernel, folder, 32, told)
            except CannotBuild as e:
                with self.reading:
                    more = refused(self.cuda, kernel, str(e), side.called)
                    if more.keys() <= dropped.keys():
                        what = library(side, kernel)
                        why = f"{what}: " * bool(what) + refusal(str(e), dropped)
                        raise CannotBuild(why) from None
                    dropped |= more
                    side = smaller(self.cuda, dropped)
                continue
            return side, dropped, told, binary, written
        raise CannotBuild(f"it does not compile by itself: {next(iter(dropped.values()))}")

    def _build(
        self, side: Side, kernel: Kernel, folder: Path, wave: int, told: Hints, watched: bool = False
    ) -> tuple[Path, Written]:
        name = "cuda" if side.cuda else "hip"
        src = folder / name
        with self.reading:
            written = write(side, kernel, self.program, src, told)
        out = folder / f"{name}-{wave}{'-watched' * watched}"
        mark = folder / f"{out.name}.digest"  # of what is built: both stay until another text is
        if mark.is_file() and mark.read_text() == written.digest:
            return out, written
        mark.unlink(missing_ok=True)
        includes = [f"-I{x}" for d in self.program.include_dirs for x in (mirrored(src, d), d.absolute())]
        includes += [f"-I{mirrored(src, INCLUDE_DIR)}", f"-idirafter{INCLUDE_DIR}"]
        includes += [f"-I{written.unit.parent}", f"-idirafter{absolute_path(self.program.units[0]).parent}"]
        flags = [*parts.flags(self.toolchain, wave, side.cuda, watched), *includes, *self.program.flags]
        objects = [str(parts.driver(self.toolchain)), str(self.toolchain.runtime())]
        alone = folder / f"{out.name}.o"
        flags += ["-ferror-limit=0"] * self.toolchain.is_clang  # all of them: see `fitting`
        self.toolchain.call([*flags, "-x", "c++", "-c", str(written.unit), "-o", str(alone)])
        self.toolchain.call([str(alone), *objects, *_LINKED, *["-no-pie"] * watched, "-pthread", "-lm", "-o", str(out)])
        mark.write_text(written.digest)
        return out, written

    def _call(
        self,
        binary: Path,
        folder: Path,
        word: str,
        rest: Sequence[str],
        settings: Mapping[str, str] | None = None,
        bodies: Sequence[Body] = (),
    ) -> Said:
        command = [str(binary), word, str(folder), str(self.asked.seed), str(self.asked.time_s), *rest]
        environment = {**os.environ, "CU2PORT_SIM_THREADS": "1", "CU2PORT_SIM_PATIENCE": "1", **(settings or {})}
        with ExitStack() as stack:
            asking = (stack.enter_context(answering(bodies)),) if bodies else ()
            environment["CU2PORT_TRIAL_PTX"] = str(asking[0] if asking else -1)
            try:
                done = run_child(command, environment, folder, 10 * self.asked.time_s + 60, asking)
            except subprocess.TimeoutExpired as e:
                return read_output((e.stdout or b"").decode("utf-8", "replace"))
        return read_output(done.stdout.decode("utf-8", "replace"))
