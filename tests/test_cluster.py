"""`--scheduler`: a cluster gives what workers here give, also when one of its workers dies."""

from __future__ import annotations

import os
import pickle
import signal
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.core.model import Options
from cu2port.project.convert import run
from cu2port.project.plan import Request
from cu2port.project.workers import Lost
from cu2port.report.json_report import render


def plant(folder: Path, files: int) -> None:
    folder.mkdir()
    (folder / "own.h").write_text("#pragma once\n#define CUDA_SUCCESS 0\n")
    for n in range(files):
        text = f'#include "own.h"\n__global__ void k{n}(int* p) {{ p[0] = __shfl_sync(~0u, p[0], {n % 32}); }}\n'
        (folder / f"f{n}.cu").write_text(text + "int x = cudaFree(0) + min(1, 2u);\n" * (1 + n % 7))


def tree(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and ".cu2port" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def test_an_address_where_nobody_answers_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cu2port.project.cluster._PATIENCE_S", 0.2)
    plant(tmp_path / "in", 2)
    words = ["convert", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--scheduler", "tcp://127.0.0.1:1"]
    ended = CliRunner().invoke(cli, words)
    assert ended.exit_code == 2
    assert ended.output.startswith("cu2port: --scheduler") and len(ended.output.splitlines()) == 1


@pytest.mark.slow
def test_a_cluster_gives_the_same_when_a_worker_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    plant(tmp_path / "in", 300)
    request = Request((str(tmp_path / "in"),), "out", str(tmp_path / "here"), Options(), workers=2)
    here = run(request)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        ticks: list[int] = []

        def tick(done: int, total: int) -> None:
            ticks.append(done)
            if len(ticks) == 20:
                os.kill(pids[0], signal.SIGKILL)

        there = Request((str(tmp_path / "in"),), "out", str(tmp_path / "there"), scheduler=cluster.scheduler_address)
        ran = run(there, tick=tick)
    assert len(pids) == 2
    assert ticks == list(range(1, 302))  # nothing is lost, nothing comes twice
    assert max(Counter(f.path for f in ran.record.files).values()) == 1
    assert tree(tmp_path / "there") == tree(tmp_path / "here")
    assert render(ran.record).replace("/there/", "/here/") == render(here.record)


def test_an_exception_costs_one_file() -> None:
    from cu2port.project.cluster import done_here
    from cu2port.project.jobs import Job, Tools

    def work(job: Job, tools: Tools) -> str:
        if job.index == 1:
            raise KeyError("x")
        return job.shown

    found = pickle.loads(done_here(work, [Job(n, f"{n}", f"{n}", Options()) for n in range(3)]))
    assert (found[0], found[2]) == ("0", "2")
    assert isinstance(found[1], Lost) and "KeyError" in found[1].reason


def test_batches_are_large_and_every_worker_has_some() -> None:
    from cu2port.project.cluster import batches_of
    from cu2port.project.jobs import Job

    jobs = [Job(n, f"{n}", f"{n}", Options(), size=20_000) for n in range(1000)]
    of_two, of_many = (list(batches_of(jobs, workers)) for workers in (2, 100))
    assert len(of_two) < 50 and max(sum(j.size for j in batch) for batch in of_two) < 600_000
    assert len(of_many) >= 400
    assert all(sorted(j.index for batch in b for j in batch) == list(range(1000)) for b in (of_two, of_many))
