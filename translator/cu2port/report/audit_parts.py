"""What several reports of an audit show: its sums, what is left, and words for them. Pure functions of the document
`cu2port-audit/1`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from cu2port.core.families import OWN

WAYS = {
    "self": "converts by itself",
    "review": "converts, needs review",
    "hand": "by hand",
    "none": "no counterpart",
}
_MOST = 12


def own(doc: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What cu2port could not do."""
    return [x for x in doc["findings"] if OWN.has(x["code"]) and x["way"] == "hand"]


def open_risks(doc: Mapping[str, Any]) -> int:
    """How many findings that are left for manual work hang or give wrong results on 64 lanes."""
    return sum(w["open"] for w in doc["wave64"] if w["harm"] in ("hang", "wrong-result"))


def top_work(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rules and messages that an hour or more goes to, most first."""
    out = [x for x in folded(findings) if x["minutes"] >= 60]
    return sorted(out, key=lambda x: (-x["minutes"], x["code"], x["message"]))


def folded(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is left for manual work: findings of one rule with one message as one, what has no counterpart first."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for x in findings:
        if x["way"] in ("hand", "none"):
            groups[x["way"], x["code"], x["message"]].append(x)
    out = [
        {
            "way": way,
            "code": code,
            "name": found[0]["name"],
            "message": message,
            "count": len(found),
            "minutes": round(sum(x["minutes"] for x in found), 1),
            "place": f"{found[0]['path']}:{found[0]['line']}",
        }
        for (way, code, message), found in groups.items()
    ]
    return sorted(out, key=lambda x: (x["way"] != "none", -x["minutes"], x["code"], x["message"]))


def count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def size(s: Mapping[str, Any]) -> str:
    """How large the tree is, in words."""
    own = f"{count(s['cuda_files'], 'CUDA file')} with {count(s['cuda_lines'], 'line')}"
    words = f"{own}, of {count(s['files'], 'source file')}"
    return words + (f"; {s['other_files']:,} are for HIP or SYCL already" if s["other_files"] else "")


def by_language(doc: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Lines of other languages that use CUDA, by language."""
    out: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for b in doc["bindings"]:
        out[b["language"]].append(b)
    return dict(sorted(out.items()))


def build_kinds(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lines of build files by what they say: `lines`, `files`, and the `places` as (path, line, text)."""
    groups: dict[tuple[str, str], list[tuple[str, int, str]]] = defaultdict(list)
    for b in doc["build"]:
        groups[b["what"], b["instead"]].append((b["path"], b["line"], b["text"]))
    out = [
        {"what": what, "instead": instead, "lines": len(p), "files": len({path for path, _, _ in p}), "places": p}
        for (what, instead), p in groups.items()
    ]
    return sorted(out, key=lambda x: (-x["lines"], x["what"]))


def some(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST]) + (f", and {len(items) - _MOST} more" if len(items) > _MOST else "")
