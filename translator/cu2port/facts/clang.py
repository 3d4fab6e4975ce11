"""Facts about a file that only a compiler knows: what a name is bound to, what type and value an expression has.

libclang runs in a child process, for it dies on some inputs (it overflows its stack at 3,000 nested parentheses).
`ClangService` owns that process; a question it cannot answer is answered by None, and the next one is asked of a new
process. No libclang object gets out: questions and facts are plain data.

Asking needs no CUDA toolkit and no C++ headers (see shim.py). Where headers are missing, what they would declare is
undeclared, and everything else is still right.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import sys
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Self

from cu2port.core.late import dataclass, regex

if TYPE_CHECKING:
    import subprocess

Owner = Literal["cuda", "user", "system", "undeclared"]
_DEFINE = regex(r"[A-Za-z_]\w*(\([^()\n]*\))?(=[^\n]*)?\Z")
_STD = regex(r"(c|gnu)\+\+\w\w\Z")
LENGTH = struct.Struct("<Q")  # of the pickle that follows, both ways


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one file.

    `path` need not exist; its folder is where quoted includes are looked for. `data`: the file's bytes, in any encoding
    whose first half is ASCII; all offsets count these bytes. `bindings`: offsets of identifier tokens. `spans`:
    [start, end) of expressions, from the first to the last token. `skipped`: whether inactive ranges are wanted.
    `defines`: NAME, NAME=VALUE, NAME(ARGS)=VALUE. Dialects before C++17 are read as C++17.
    """

    path: str
    data: bytes
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str = "c++17"
    bindings: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    skipped: bool = False

    def __post_init__(self) -> None:
        """Only what tells libclang how to read C++ gets through: no option can be smuggled in. Raises ValueError."""
        for define in self.defines:
            if not _DEFINE.match(define):
                raise ValueError(f"not a macro definition: {define!r}")
        for folder in self.include_dirs:
            if not folder or "\0" in folder:
                raise ValueError(f"not an include folder: {folder!r}")
        if not _STD.match(self.std):
            raise ValueError(f"not a C++ standard: {self.std!r}")


@dataclass(frozen=True, slots=True)
class Binding:
    """What an identifier names.

    `owner`: `cuda` (NVIDIA's headers declare it), `user` (this file or a header it includes), `system` (the C++ library
    or the compiler), `undeclared`. `qualified`: with its namespaces and classes. `kind`: function, method, variable,
    parameter, type, member, enumerator, namespace, macro, or "". `type`: canonical, "" if it has none;
    `__cu2port_any` is a CUDA type of unknown shape. `file`: where it is declared, "" unless the owner is the user.
    A name that several overloads fit is the user's if one of them is; `mixed`: CUDA has others of them.
    """

    owner: Owner
    qualified: str
    kind: str
    type: str
    file: str
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class Expr:
    """Type and value of an expression as written, before it is converted to the type that its context needs.

    `type`: canonical. `bits`: size of the type, 0 = unknown (dependent, incomplete). `signed`: None unless an integer.
    `value`: of an integer constant whose value is known.
    """

    type: str
    bits: int
    signed: bool | None
    value: int | None


@dataclass(frozen=True, slots=True)
class Facts:
    """Answers. An offset or span of which nothing can be said is missing from its mapping (a macro's body, say).

    `skipped`: ranges that the preprocessor left out, directive to directive. `errors`: compile errors, missing headers
    not counted. `missing_headers`: includes, as written, that were found nowhere and are not CUDA's or C++'s.
    """

    bindings: Mapping[int, Binding] = field(default_factory=dict)
    exprs: Mapping[tuple[int, int], Expr] = field(default_factory=dict)
    skipped: tuple[tuple[int, int], ...] = ()
    errors: int = 0
    missing_headers: tuple[str, ...] = ()


class ClangService:
    """libclang in a process of its own, started when it is first needed. One thread at a time may ask.

    `last_error`: why the last `ask` gave None, in one line; "" if it did not.
    """

    def __init__(self) -> None:
        self.last_error = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._absent = False
        self._owner = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the process without waiting for it, so that libclang loads while the caller does something else."""
        if self._owner != os.getpid():  # after a fork the process is the parent's
            self._process = None
        if self._process is None and not self._absent and sys.executable:
            import subprocess  # neither the child nor `cu2port --help` needs it

            package_root = str(Path(__file__).resolve().parent.parent.parent)
            paths = [package_root, *filter(None, [os.environ.get("PYTHONPATH")])]
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "cu2port.facts.clang_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("CU2PORT_DEBUG") else subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )

    def close(self) -> None:
        """End the process. Asking again starts a new one."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()

    def ask(self, question: Question, timeout_s: float = 20.0) -> Facts | None:
        """Facts, or None with the reason in `last_error`: no libclang, it crashed on this file, or it took too long."""
        if self._absent:
            return None
        try:
            self.start()
        except OSError as e:
            self.last_error = f"libclang's process does not start: {e}"
            self._absent = True
            return None
        if self._process is None:
            self.last_error = "libclang's process does not start: this Python does not know its own path"
            return None
        answer, reason = self._exchange(self._process, question, timeout_s)
        self.last_error = reason
        return answer

    def _exchange(
        self, process: subprocess.Popen[bytes], question: Question, timeout_s: float
    ) -> tuple[Facts | None, str]:
        from threading import Timer

        assert process.stdin is not None and process.stdout is not None
        late = False

        def give_up() -> None:
            nonlocal late
            late = True
            process.kill()  # ends the read below

        reply: tuple[str, Facts | str] | None = None
        watch = Timer(timeout_s, give_up)
        watch.daemon = True
        watch.start()
        try:
            send(process.stdin, question)
            reply = receive(process.stdout)
        except OSError:  # a pipe without a process behind it
            reply = None
        finally:
            watch.cancel()
            if reply is None:  # also on an interrupt: question and answer would be out of step from here on
                code = process.poll()
                self.close()
                code = process.returncode if code is None else code
        if reply is None:
            return None, f"libclang took longer than {timeout_s:g} s" if late else f"libclang died ({_how(code)})"
        verdict, content = reply
        if isinstance(content, Facts):
            return content, ""
        self._absent = verdict == "absent"
        if verdict == "crashed":
            self.close()
        return None, content


def send(pipe: IO[bytes], message: object) -> None:
    """Write one message, its length first."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one message; None at the end of the pipe."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    size = LENGTH.unpack(head)[0]
    data = pipe.read(size)
    return pickle.loads(data) if len(data) == size else None


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"
