"""What happened to an older audit: fixed, new, left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cu2port.audit.document import SCHEMA, fingerprint, path_inside
from cu2port.project.config import inside, read_document
from cu2port.project.tree import CannotRun

_MAX_BYTES = 512 << 20


def load(path: Path) -> dict[str, Any]:
    """An older document. Raises CannotRun for what is none, and for one whose paths lead out of its tree."""
    content = read_document("--compare", path, _MAX_BYTES)
    found = content.get("findings") if isinstance(content, dict) and content.get("schema") == SCHEMA else None
    if not isinstance(found, list):
        raise CannotRun(f"--compare {path}: no {SCHEMA}; `cu2port audit --format json` writes one")
    within = path_inside(content)
    for x in found:
        keys = ("path", "code", "message", "way", "fingerprint")
        if not isinstance(x, dict) or not all(isinstance(x.get(k), str) for k in keys):
            raise CannotRun(f"--compare {path}: a finding lacks one of {', '.join(keys)}")
        inside(within(x["path"]), f"--compare {path}")
    return dict(content)


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """How many open findings are fixed, new and left, in all and by rule; the new and the fixed ones are listed.

    A finding is left where file, rule and the words of its line are the same; else, since a conversion changes lines,
    where file, rule and message are. Files are known by their path inside the input.
    """
    before, after = _open(old["findings"]), _open(new["findings"])
    was, now = path_inside(old), path_inside(new)
    gone, fresh = _unmatched(before, after, lambda x: _by_line(x, was), lambda x: _by_line(x, now))
    gone, fresh = _unmatched(gone, fresh, lambda x: _by_message(x, was), lambda x: _by_message(x, now))
    codes = sorted({x["code"] for x in (*before, *after)})
    return {
        "fixed": len(gone),
        "new": len(fresh),
        "left": len(after) - len(fresh),
        "by_code": {
            c: {
                "fixed": sum(x["code"] == c for x in gone),
                "new": sum(x["code"] == c for x in fresh),
                "left": sum(x["code"] == c for x in after) - sum(x["code"] == c for x in fresh),
            }
            for c in codes
        },
        "new_findings": [_short(x) for x in fresh],
        "fixed_findings": [_short(x) for x in gone],
    }


def _open(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [x for x in found if x["way"] in ("hand", "none")]


def share_files(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether one of the files with findings in the older audit is in the newer one; or there are none to look for."""
    was, now = path_inside(old), path_inside(new)
    names = {_stem(was(x["path"])) for x in old["findings"]}
    return not names or not names.isdisjoint(_stem(now(f["path"])) for f in new["files"])


def _stem(path: str) -> str:
    """A path without its last suffix: `--rename` gives files another."""
    return path.rpartition(".")[0] or path


def _by_line(x: Mapping[str, Any], inside: Callable[[str], str]) -> str:
    return fingerprint(_stem(inside(x["path"])), x["code"], str(x.get("before", "")), x["message"])


def _by_message(x: Mapping[str, Any], inside: Callable[[str], str]) -> str:
    # of PTX that stays, converted code has the subject alone; findings on names have one for several of them
    words = x["message"] if x.get("cuda") else x.get("subject") or x["message"]
    return "\0".join((_stem(inside(x["path"])), x["code"], words))


_Found = Sequence[Mapping[str, Any]]
_Key = Callable[[Mapping[str, Any]], str]


def _unmatched(old: _Found, new: _Found, was: _Key, now: _Key) -> tuple[_Found, _Found]:
    """Findings of two audits without those that have an equal in the other."""
    return _without(old, was, Counter(map(now, new))), _without(new, now, Counter(map(was, old)))


def _without(found: _Found, key: _Key, known: Counter[str]) -> _Found:
    out = []
    for x in found:
        if known[key(x)] > 0:
            known[key(x)] -= 1
        else:
            out.append(x)
    return out


def _short(x: Mapping[str, Any]) -> dict[str, Any]:
    return {"path": x["path"], "line": x.get("line", 0), "code": x["code"], "message": x["message"]}
