"""What became of an older audit: fixed, new, left."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cu2port.audit.document import SCHEMA
from cu2port.config import inside
from cu2port.project import CannotRun

_MAX_BYTES = 512 << 20


def load(path: Path) -> dict[str, Any]:
    """An older document. Raises CannotRun for what is none, and for one whose paths lead out of its tree."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CannotRun(f"--compare {path}: larger than {_MAX_BYTES >> 20} MB")
        content = json.loads(path.read_bytes())
    except OSError as e:
        raise CannotRun(f"--compare {path}: {e.strerror}") from e
    except (ValueError, RecursionError) as e:
        raise CannotRun(f"--compare {path}: not JSON") from e
    found = content.get("findings") if isinstance(content, dict) and content.get("schema") == SCHEMA else None
    if not isinstance(found, list):
        raise CannotRun(f"--compare {path}: no {SCHEMA}; `cu2port audit --format json` writes one")
    for x in found:
        keys = ("path", "code", "message", "way", "fingerprint")
        if not isinstance(x, dict) or not all(isinstance(x.get(k), str) for k in keys):
            raise CannotRun(f"--compare {path}: a finding lacks one of {', '.join(keys)}")
        inside(x["path"], f"--compare {path}")
    return dict(content)


def compare(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many open findings are fixed, new and left, in all and by rule; the new and the fixed ones are listed."""
    before, after = _open(old), _open(new)
    known = Counter(x["fingerprint"] for x in before)
    still = Counter(x["fingerprint"] for x in after)
    fresh = _without(after, known)
    gone = _without(before, still)
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


def _without(found: Sequence[Mapping[str, Any]], known: Counter[str]) -> list[Mapping[str, Any]]:
    left = known.copy()
    out = []
    for x in found:
        if left[x["fingerprint"]] > 0:
            left[x["fingerprint"]] -= 1
        else:
            out.append(x)
    return out


def _short(x: Mapping[str, Any]) -> dict[str, Any]:
    return {"path": x["path"], "line": x.get("line", 0), "code": x["code"], "message": x["message"]}
