"""The audit as one JSON document, `cu2port-audit/1`.

Every report is made from it, and every sum in it can be made again from its lists.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from cu2port.audit import effort
from cu2port.audit.bindings import Binding
from cu2port.audit.build_lines import BuildLine
from cu2port.audit.collect import HAND, NONE, NOTE, REVIEW, SELF, FileAudit, Found
from cu2port.audit.order import order
from cu2port.audit.requirements import REQUIREMENTS
from cu2port.catalog import Catalog, target
from cu2port.core.families import WARPS
from cu2port.core.version import __version__

SCHEMA = "cu2port-audit/1"
WAYS = (SELF, REVIEW, HAND, NONE)
_RANK = {SELF: 0, NOTE: 0, REVIEW: 1, HAND: 2, NONE: 3}
_HARM = {"hang": 0, "wrong-result": 1, "compile-error": 2, "slower": 3, "none": 4}
_RISK = {"hang": 8.0, "wrong-result": 4.0, "compile-error": 1.0, "slower": 0.5}


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    text = (Path(__file__).parent.parent / "report" / "cu2port-audit-1.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def build(
    files: Sequence[FileAudit],
    includes: Mapping[str, Sequence[str]],
    builds: Sequence[BuildLine],
    bindings: Sequence[Binding],
    catalog: Catalog,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """The document. `includes`: file -> files of the tree that it includes; `options`: as the command line gave them,
    ready for JSON."""
    findings = _findings(files, catalog)
    names = _names(files, catalog, tuple(options["rocm"]))
    kernels = [
        {"path": f.path, "name": k.name, "line": k.line, "end_line": k.end_line, "way": k.way}
        for f in files
        for k in f.kernels
    ]
    rows = _rows(files, findings)
    told = {x["cuda"] for x in findings if x["minutes"]}
    unknown = sum(n["way"] == HAND and n["name"] not in told for n in names)
    cost_parts = effort.parts(findings, unknown, builds, bindings, sum(f.lines for f in files if f.cuda))
    cost = effort.total(cost_parts)
    without = [x["cuda"] or x["message"] for x in findings if x["way"] == NONE]
    low, high = effort.days(cost)
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "options": dict(options),
        "summary": {
            "files": len(files),
            "cuda_files": sum(f.cuda for f in files),
            "other_files": sum(f.other for f in files),
            "lines": sum(f.lines for f in files),
            "cuda_lines": sum(f.lines for f in files if f.cuda),
            "by_way": {
                "lines": _sum_ways(r["ways"] for r in rows),
                "names": {w: sum(n["way"] == w for n in names) for w in WAYS},
                "kernels": {w: sum(k["way"] == w for k in kernels) for w in WAYS},
                "findings": {w: sum(x["way"] == w for x in findings) for w in WAYS},
            },
            "by_code": dict(sorted(Counter(x["code"] for x in findings).items())),
        },
        "effort": {
            "minutes": round(cost, 1),
            "days": [round(low, 1), round(high, 1)],
            "words": effort.words(cost, len(set(without)), len(without)),
            "method": effort.METHOD,
            "parts": [{"what": p.what, "count": p.number, "minutes": round(p.minutes, 1)} for p in cost_parts],
        },
        "libraries": _libraries(names, catalog),
        "names": names,
        "wave64": _wave64(findings),
        "ptx": _ptx(files),
        "requirements": _requirements(files),
        "build": [b._asdict() for b in builds],
        "bindings": [b._asdict() for b in bindings],
        "order": _order(files, includes, findings),
        "kernels": kernels,
        "files": rows,
        "findings": findings,
    }


def path_inside(doc: Mapping[str, Any]) -> Callable[[str], str]:
    """What gives a path of a document as its only input has it: an audit of another folder may be of the same tree.
    With several inputs paths stay as they are. The document may be a stranger's."""
    options = doc.get("options")
    inputs = options.get("inputs") if isinstance(options, dict) else None
    only = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 and isinstance(inputs[0], str) else "."
    prefix = PurePosixPath(only).as_posix() + "/"
    return lambda path: path.removeprefix(prefix) if path + "/" != prefix else path.rpartition("/")[2]


def fingerprint(path: str, code: str, before: str, message: str) -> str:
    """What a finding is known by from one audit to the next: 16 hexadecimal digits."""
    text = "\0".join((path, code, " ".join(before.split()) or message))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _findings(files: Sequence[FileAudit], catalog: Catalog) -> list[dict[str, Any]]:
    """All but what certainly converts by itself; those are in the sums of lines, names and kernels."""
    seen: Counter[tuple[str, str]] = Counter()
    out = []
    for f in files:
        for x in f.found:
            if x.way == SELF:
                continue
            e = x.entry
            row = catalog.get(e.cuda) if x.way == NONE and e.cuda else None
            library = ("library", row.library) if row is not None and row.library else ("", "")
            share = effort.share(seen[e.code, e.message], bool(seen[library]))
            seen[e.code, e.message] += 1
            if row is not None:
                seen[library] += 1
            out.append(_finding(f.path, x, effort.minutes(e.code, x.way, share)))
    return out


def _finding(path: str, x: Found, cost: float) -> dict[str, Any]:
    e = x.entry
    return {
        "path": path,
        "line": e.start.line,
        "column": e.start.column,
        "code": e.code,
        "name": e.name,
        "severity": e.severity,
        "way": x.way,
        "message": e.message,
        "minutes": cost,
        "effects": dict(e.effects),
        "why": list(e.why),
        "cuda": e.cuda,
        "hip": e.hip,
        "before": x.before,
        "after": x.after,
        "fingerprint": fingerprint(path, e.code, x.before, e.message),
        **({"subject": x.subject} if x.subject else {}),
    }


def _rows(files: Sequence[FileAudit], findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    by_path: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for x in findings:
        by_path[x["path"]].append(x)
    return [_file(f, by_path[f.path]) for f in files]


def _file(f: FileAudit, findings: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "path": f.path,
        "lines": f.lines,
        "cuda": f.cuda,
        "other": f.other,
        "ways": {w: dict(f.ways).get(w, 0) for w in WAYS},
        "findings": {w: sum(x["way"] == w for x in findings) for w in (REVIEW, HAND, NONE, NOTE)},
        "minutes": round(sum(x["minutes"] for x in findings), 2),
        "kernels": len(f.kernels),
        "failed": f.failed,
    }


def _sum_ways(rows: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = dict.fromkeys(WAYS, 0)
    for row in rows:
        for way in WAYS:
            total[way] += row[way]
    return total


def _names(files: Sequence[FileAudit], catalog: Catalog, rocm: tuple[int, int]) -> list[dict[str, Any]]:
    """Every CUDA name, what it becomes, and how certainly."""
    counts: Counter[str] = Counter()
    where: Counter[str] = Counter()
    for f in files:
        for name, n in f.names:
            counts[name] += n
            where[name] += 1
    # what a check writes for a name goes before its row: `__shfl_sync` is one of HIP's too, and means something else
    entries = (x.entry for f in files for x in f.found if x.way in (SELF, REVIEW))
    written = {e.cuda: e.hip for e in entries if e.cuda and e.hip}
    out = []
    for name in sorted(counts):
        row = catalog.get(name)
        hip, why = target(row, rocm) if row is not None else ("", "")
        hip = written.get(name, hip) if hip else hip
        known = NONE if not hip else SELF if row is None or row.plain or row.trust.label == "exact" else REVIEW
        way = HAND if row is None else known  # it looks like a CUDA name, and is none that is known
        out.append(
            {
                "name": name,
                "library": row.library if row else "",
                "hip": hip,
                "way": way,
                "why": why or (row.why if row else ""),
                "uses": counts[name],
                "files": where[name],
            }
        )
    return out


def _libraries(names: Sequence[dict[str, Any]], catalog: Catalog) -> list[dict[str, Any]]:
    """Each CUDA library that is used, what takes its place, and what that lacks."""
    heads = {lib.name: lib for lib in catalog.libraries}
    out = []
    for key in sorted({n["library"] for n in names} - {""}):
        mine = [n for n in names if n["library"] == key]
        head = heads.get(key)
        out.append(
            {
                "library": key,
                "title": head.title if head else key,
                "target": head.target if head else "",
                "names": len(mine),
                "uses": sum(n["uses"] for n in mine),
                "review": [n["name"] for n in mine if n["way"] == REVIEW],
                "gaps": [n["name"] for n in mine if n["way"] == NONE],
            }
        )
    return sorted(out, key=lambda x: (-x["uses"], x["library"]))


def harm(effects: Mapping[str, str]) -> str:
    """The worst that a finding does on GPUs with wavefronts of 64 lanes."""
    hit = [what for where, what in effects.items() if where in ("all", "wave64") or where.startswith("gfx9")]
    return min(hit, key=lambda w: _HARM.get(w, 9), default="none")


def _wave64(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What can go wrong on 64 lanes, in order of harm; findings with one message are folded."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for x in findings:
        if WARPS.has(x["code"]) and harm(x["effects"]) != "none":
            groups[harm(x["effects"]), x["code"], x["message"]].append(x)
    out = [
        {
            "harm": worst,
            "code": code,
            "name": found[0]["name"],
            "message": message,
            "why": found[0]["why"],
            "count": len(found),
            "open": sum(x["way"] in (HAND, NONE) for x in found),
            "places": [[x["path"], x["line"]] for x in found],
        }
        for (worst, code, message), found in groups.items()
    ]
    return sorted(out, key=lambda x: (_HARM.get(x["harm"], 9), -x["open"], -x["count"], x["code"], x["message"]))


def _ptx(files: Sequence[FileAudit]) -> list[dict[str, Any]]:
    """Inline PTX by instruction, and by how it is multiplied or why it stays: how many, and how many become C++."""
    total: Counter[tuple[str, str]] = Counter()
    lifted: Counter[tuple[str, str]] = Counter()
    for f in files:
        for name, how, can, n in f.ptx:
            total[name, how] += n
            lifted[name, how] += n if can else 0
    return [
        {"instruction": key[0], "how": key[1], "count": n, "lifted": lifted[key]}
        for key, n in sorted(total.items(), key=lambda item: (lifted[item[0]] - item[1], -item[1], item[0]))
    ]


def _requirements(files: Sequence[FileAudit]) -> list[dict[str, Any]]:
    places: dict[str, list[list[Any]]] = defaultdict(list)
    for f in files:
        for r in f.requirements:
            places[r.key].append([f.path, r.line, r.text])
    return [
        {"key": key, "title": about.title, "note": about.note, "places": places[key]}
        for key, about in REQUIREMENTS.items()
        if key in places
    ]


def _order(
    files: Sequence[FileAudit], includes: Mapping[str, Sequence[str]], findings: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """CUDA files in the order in which to port them."""
    mine = {f.path: f for f in files if f.cuda}
    home: dict[str, list[str]] = defaultdict(list)
    for f in mine.values():
        for name in f.defines:
            home[name].append(f.path)
    needs = {}
    for path, f in mine.items():
        called = {home[n][0] for n in f.calls - f.defines if len(home.get(n, ())) == 1}
        near = {c for c in called if c.rpartition("/")[0] == path.rpartition("/")[0]}
        needs[path] = sorted({*includes.get(path, ()), *near})
    risk: dict[str, float] = defaultdict(float)
    for x in findings:
        risk[x["path"]] += x["minutes"] / 10 + (_RISK.get(harm(x["effects"]), 0.0) if x["way"] in (HAND, NONE) else 0)
    return [
        {"path": s.path, "needed_by": s.needed_by, "risk": round(s.risk, 1), "with": list(s.with_)}
        for s in order(needs, risk)
    ]
