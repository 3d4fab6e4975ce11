"""Whether CPU time is linear in the input: each pattern of `scaling_patterns.py` at n, 2n and 4n.

    python benchmarks/scaling.py [NAME...] [--seconds 0.3] [--rounds 3] [--limit 120] [--json FILE] [--all]

n grows until a run takes --seconds of CPU. Then the pattern is run at n, 2n and 4n, each time the best of --rounds, and
doubling the input may not more than 2.4-fold the time (the rest above 2 is for noise, and for sorting). NAMEs are parts
of pattern names. Prints what is too slow, with --all every pattern; the exit status is 1 when one is too slow.

CPU time is that of this process, of its workers and of libclang's process, less that of an input of size 1. `libclang`
says how much of it was libclang's; a pattern whose excess is libclang's alone is marked, since libclang itself is not
linear on every text. An input that is 4 MB long before it takes --seconds counts as linear.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

from scaling_patterns import PATTERNS, Pattern

from cu2port import translate
from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.facts.clang import ClangService

MOST = 2.4  # times the CPU time for twice the input
_LARGEST = 4 << 20  # bytes of input
_SIZES = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern's times. `cpu`, `libclang`: seconds at n, 2n, 4n (fewer where it took too long); `bytes`: of n."""

    name: str
    n: int = 0
    bytes: int = 0
    cpu: tuple[float, ...] = ()
    libclang: tuple[float, ...] = ()
    failed: str = ""

    @property
    def ratio(self) -> float:
        """The worst of the ratios of neighbours."""
        return _worst(self.cpu)

    @property
    def own_ratio(self) -> float:
        """The same without libclang's time."""
        return _worst(tuple(a - b for a, b in zip(self.cpu, self.libclang, strict=True)))

    @property
    def too_slow(self) -> bool:
        return bool(self.failed) or self.ratio > MOST

    @property
    def line(self) -> str:
        times = " ".join(f"{t:7.2f}" for t in self.cpu) or "-"
        own = f", libclang's excess: {self.own_ratio:.2f} without" if self.ratio > MOST >= self.own_ratio else ""
        clang = f"{max(self.libclang, default=0):6.2f}"
        ratio = f"{self.ratio:5.2f}" if self.cpu else "    -"
        return f"{self.name:<36}{self.n:>8}{self.bytes:>9} {times:<24}{clang} {ratio} {self.failed}{own}"


def _worst(times: tuple[float, ...]) -> float:
    pairs = [(a, b) for a, b in pairwise(times) if b > 0.05]
    return max((b / max(a, 0.01) for a, b in pairs), default=0.0)


class Runner:
    """Runs inputs of one pattern in this process, and measures them."""

    def __init__(self, pattern: Pattern, folder: Path) -> None:
        self.pattern, self.folder = pattern, folder
        self.clang = ClangService()
        self.count = 0

    def make(self, n: int) -> tuple[Callable[[], object], int]:
        """What is measured, and how many bytes of input it has. Files are written here."""
        made = self.pattern.make(n)
        if not isinstance(made, str):
            return self._command(made), sum(map(len, made.values()))
        args = self.pattern.args
        if args == ("ptx",):
            from cu2port.ptx.module import convert

            return lambda: convert(made), len(made)
        if args:
            return self._command({"input.cu": made}), len(made)
        data = made.encode("latin-1")
        return lambda: translate(data, self.pattern.options, path="input.cu", clang=self.clang), len(made)

    def _command(self, files: Mapping[str, str]) -> Callable[[], object]:
        from click.testing import CliRunner

        from cu2port.cli import cli

        self.count += 1
        root = self.folder / str(self.count)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        words = [w.replace("{file}", "input.cu") for w in self.pattern.args]

        def run() -> None:
            os.chdir(root)
            done = CliRunner().invoke(cli, words)
            if done.exit_code not in (0, 1) or (done.exception and not isinstance(done.exception, SystemExit)):
                raise RuntimeError(done.output[-200:] or repr(done.exception))

        return run

    def measure(self, n: int, rounds: int) -> tuple[float, float, int]:
        """CPU seconds, those of libclang among them, and bytes of input: the best run."""
        run, size = self.make(n)
        best = (float("inf"), 0.0)
        for _ in range(rounds):
            gc.collect()
            before, before_clang = _cpu(), self._clang_cpu()
            run()
            clang = max(0.0, self._clang_cpu() - before_clang)
            best = min(best, (_cpu() - before + clang, clang))
        return *best, size

    def _clang_cpu(self) -> float:
        process = self.clang._process
        if process is None:
            return 0.0
        try:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cpu() -> float:
    """Of this process and of the children that have ended; seconds."""
    t = os.times()
    return time.process_time() + t.children_user + t.children_system


def series(name: str, pattern: Pattern, seconds: float, rounds: int, folder: Path) -> Iterator[Row]:
    """A pattern's row, more complete each time."""
    runner = Runner(pattern, folder)
    try:
        base = min(runner.measure(1, 2)[:2] for _ in range(2))
        n = pattern.start
        while True:
            cpu, clang, size = runner.measure(n, 1)
            yield Row(name, n, size, (cpu - base[0],), (clang,))
            if cpu - base[0] >= seconds or size * 2 > _LARGEST or 2 * n > pattern.most:
                break
            n *= 4 if cpu - base[0] < seconds / 20 and 8 * n <= pattern.most else 2
        n = max(1, min(n, pattern.most // 4))
        times: list[tuple[float, float]] = []
        for k in range(_SIZES):
            cpu, clang, this = runner.measure(n << k, rounds)
            size = size if k else this
            times.append((max(0.0, cpu - base[0]), max(0.0, clang - base[1])))
            yield Row(name, n, size, tuple(t for t, _ in times), tuple(c for _, c in times))
    finally:
        runner.clang.close()


def _serve(name: str, seconds: float, rounds: int, pipe: Connection) -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # as workers have it
    sys.setrecursionlimit(10_000)  # removing deep folders takes a call each
    row = Row(name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for row in series(name, PATTERNS[name], seconds, rounds, Path(folder)):
                pipe.send(row)
        except Exception as e:  # an exception is what a pattern is to find
            pipe.send(Row(name, row.n, row.bytes, row.cpu, row.libclang, f"{type(e).__name__}: {str(e)[-150:]}"))
        os.chdir("/")
    pipe.close()


def measure(name: str, seconds: float = 0.3, rounds: int = 3, limit: float = 120.0) -> Row:
    """A pattern's row, measured in a process of its own that may take `limit` seconds of wall time."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(name, seconds, rounds, theirs))
    process.start()
    theirs.close()
    row, end = Row(name), time.monotonic() + limit
    try:
        while ours.poll(max(0.0, end - time.monotonic())):
            row = ours.recv()
        process.kill()
        row = Row(name, row.n, row.bytes, row.cpu, row.libclang, row.failed or f"more than {limit:g} s")
    except EOFError:
        pass
    process.join()
    if not row.failed and process.exitcode:
        row = Row(name, row.n, row.bytes, row.cpu, row.libclang, f"exit {process.exitcode}")
    return row


def main() -> None:
    """Measure patterns and print their rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    load_catalog()
    all_checks()
    chosen = [n for n in PATTERNS if not asked.names or any(part in n for part in asked.names)]
    print(f"{'pattern':<36}{'n':>8}{'bytes':>9} {'CPU at n, 2n, 4n':<24}{'clang':>6} ratio", flush=True)
    rows = []
    for name in chosen:
        row = measure(name, asked.seconds, asked.rounds, asked.limit)
        rows.append(row)
        if asked.all or row.too_slow:
            print(row.line, flush=True)
    slow = sum(r.too_slow for r in rows)
    print(f"{len(rows)} patterns, {slow} not linear")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
