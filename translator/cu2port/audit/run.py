"""A whole audit: the tree is walked, files are looked at by workers, and the document is made. Writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cu2port.audit import bindings, build_lines
from cu2port.audit.bindings import Binding
from cu2port.audit.build_lines import BuildLine
from cu2port.audit.collect import FileAudit, audit_job, failed
from cu2port.audit.document import build
from cu2port.build.kinds import is_build_file, kind_of
from cu2port.build.languages import may_use
from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.core.file_rules import lost
from cu2port.core.model import Severity
from cu2port.project.plan import Request, plan_items, plan_jobs
from cu2port.project.tree import make_roots
from cu2port.project.workers import Lost, Pool, available_cores

_ERROR = Severity.ERROR


def audit(request: Request) -> dict[str, Any]:
    """The document of an audit. `request.mode` is `dry-run`. Raises CannotRun for inputs that are not there."""
    roots = make_roots(request.inputs, into_one=False)
    items = plan_items(request, roots)
    builds: list[BuildLine] = []
    for item in items:
        kind = kind_of(Path(item.relative).name) if item.kind in ("copy", "source") else ""
        if kind not in ("", "binding", "fortran") and (
            kind not in ("bare", "matlab", "script", "workflow") or is_build_file(item.name)
        ):
            builds.extend(build_lines.look(item.name, item.shown))
    load_catalog(request.options.rules)
    all_checks()
    files: list[FileAudit] = []
    sources = sum(i.kind == "source" for i in items)
    with Pool(min(request.workers or available_cores(), max(1, sources // 4)), request.limit_s) as pool:
        jobs, graph, hip, parts = plan_jobs(request, items, pool)
        for job, done in pool.run(audit_job, jobs):
            if done is not None:
                files.append(failed(job.shown, lost(done.reason)) if isinstance(done, Lost) else done)
    others: list[Binding] = []
    for index, item in enumerate(items):
        if item.kind in ("copy", "source") and index not in parts and may_use(item.relative):
            others.extend(bindings.look(item.name, item.shown))
    files += [failed(i.shown, j) for i in items if i.kind != "source" for j in i.found if j.finding.severity is _ERROR]
    files.sort(key=lambda f: f.path)
    o = request.options
    options = {
        "inputs": list(request.inputs),
        "rocm": list(o.rocm),
        "archs": list(o.archs),
        "warp": o.warp,
        "include_dirs": list(o.include_dirs),
        "defines": list(o.defines),
    }
    shown = {job.path: job.shown for job in jobs}
    includes = (
        {job.shown: sorted(shown[t] for t in graph.targets(job.path) if t in shown) for job in jobs} if graph else {}
    )
    document = build(files, includes, builds, others, load_catalog(request.options.rules), options)
    if hip is not None:
        document["summary"]["hip"] = hip.document()
    document["summary"]["ignored"] = [i.shown for i in items if i.kind == "ignored"]
    return document
