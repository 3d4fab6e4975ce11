"""What a command executes and opens: every process of it is watched by an audit hook, and by strace where there is one.

The hook sees what Python does, in the command, its workers and the process of libclang. strace sees libclang itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_HOOK = """
import json, os, sys
_log = os.open(os.environ["TRACE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_EXECS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.spawn"}
def _hook(event, args):
    if event in _EXECS or event == "open" and isinstance(args[0], (str, bytes)):
        path = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes)) else repr(args[0])
        words = list(map(str, args[1])) if len(args) > 1 and isinstance(args[1], (list, tuple)) else []
        row = [event, os.path.join(os.getcwd(), path) if event == "open" else path, words]
        os.write(_log, json.dumps(row).encode() + b"\\n")
sys.addaudithook(_hook)
"""
_CALL = re.compile(r'(execve|open|openat)\((?:[^",]*, )?"((?:[^"\\]|\\.)*)"(.*)')


@dataclass(frozen=True)
class Trace:
    """`execs`: the words of each command; `opens`: absolute paths of all files and folders that were opened."""

    done: subprocess.CompletedProcess[bytes]
    execs: tuple[tuple[str, ...], ...]
    opens: frozenset[str]


def trace(words: Sequence[str], cwd: Path, scratch: Path, env: dict[str, str] | None = None) -> Trace:
    """Run `cu2port words` in a folder; `scratch`: a folder for logs, and for the cache unless `env` names one."""
    (scratch / "site").mkdir(parents=True, exist_ok=True)
    (scratch / "site" / "sitecustomize.py").write_text(_HOOK)
    log, calls = scratch / "log", scratch / "strace"
    for path in scratch.glob("strace*"):
        path.unlink()
    log.write_bytes(b"")
    command = [sys.executable, "-P", "-c", "from cu2port.cli import main; main()", *words]  # as the console script does
    if shutil.which("strace"):
        command = [
            "strace",
            "-ff",
            "--seccomp-bpf",
            "-s",
            "4000",
            "-o",
            str(calls),
            "-e",
            "trace=execve,open,openat",
            *command,
        ]
    more = {
        "PYTHONPATH": os.pathsep.join([str(scratch / "site"), str(ROOT / "translator")]),
        "TRACE_LOG": str(log),
        "CU2PORT_CACHE_DIR": str(scratch / "cache"),
        **(env or {}),
    }
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **more}, capture_output=True, check=False, timeout=120)
    execs: list[tuple[str, ...]] = []
    opens: set[str] = set()
    for line in log.read_text().splitlines():
        event, path, arguments = json.loads(line)
        if event == "open":
            opens.add(os.path.normpath(path))
        else:
            execs.append(tuple(arguments or [path]))
    for path in scratch.glob("strace.*"):
        _read(path.read_text(errors="surrogateescape"), cwd, execs, opens)
    return Trace(done, tuple(execs), frozenset(opens - {str(log)}))


def _read(text: str, cwd: Path, execs: list[tuple[str, ...]], opens: set[str]) -> None:
    """The calls of one process, as strace writes them."""
    for line in text.splitlines():
        m = _CALL.match(line)
        if m is None or " = -1 ENOENT" in m[3]:
            continue
        name = os.fsdecode(m[2].encode().decode("unicode_escape").encode("latin-1"))
        if m[1] == "execve":
            words = tuple(re.findall(r'"((?:[^"\\]|\\.)*)"', m[3].partition("]")[0]))
            execs.append((name, *words[1:]))
        else:
            opens.add(os.path.normpath(cwd / name))
