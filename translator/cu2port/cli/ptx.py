"""The command `ptx`: whole modules, and single instructions explained."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cu2port.cli.console import echo, echo_document
from cu2port.project.helper_headers import included_helpers
from cu2port.project.single import write_single
from cu2port.project.tree import CannotRun


def command(path: str, text: str | None, output: str, given: tuple[str, ...], fp: str, ptx: str, force: bool) -> int:
    """Convert a module, or explain a text. 0: all has a meaning; 1: something stays; 2: could not run."""
    from cu2port.ptx.bind import UntranslatableError
    from cu2port.ptx.explain import ExplainError
    from cu2port.ptx.parse import PtxSyntaxError

    if (text is None) == (not path):
        raise click.UsageError("name a .ptx file, or give instructions with -e")
    try:
        if text is not None:
            return _explain(text, given, fp)
        return _module(path, output, fp, ptx == "trap", force)
    except PtxSyntaxError as e:
        echo(f"{path or '-e'}:{e}", err=True)
    except ExplainError as e:
        echo(f"cu2port ptx: {e}", err=True)
    except UntranslatableError as e:
        echo(f"{path or '-e'}:{e}" + (f"; instead: {e.instead}" if e.instead else ""), err=True)
        return 1
    except CannotRun as e:
        echo(f"cu2port ptx: {e}", err=True)
    except OSError as e:
        echo(f"cu2port ptx: {path or output}: {e.strerror or e}", err=True)
    return 2


def _explain(text: str, given: tuple[str, ...], fp: str) -> int:
    from cu2port.ptx.explain import explain

    values = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.UsageError(f"--set wants NAME=VALUE, not {one!r}")
        values[name.strip() if name.startswith("%") else f"%{name.strip()}"] = value.strip()
    for line in list(explain(text, values, fp)):
        echo(line)
    return 0


def _module(path: str, output: str, fp: str, trap: bool, force: bool) -> int:
    from cu2port.ptx.carry import MIXED
    from cu2port.ptx.module import convert

    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    done = convert(data.decode("latin-1"), fp, trap)
    if output and output != "-":
        data = done.text.encode("latin-1")
        blocked = write_single("-o", Path(output), data, included_helpers(data, "cu2port/"), None, force)
        for header, _ in blocked:
            echo(f"cu2port ptx: {header} is not cu2port's and was not replaced", err=True)
    else:
        echo_document(done.text)
    for left in done.left:
        instead = f"; instead: {left.instead}" if left.instead else ""
        echo(f"{path}:{left.line}:{left.column}: `{left.opcode}` in {left.function}: {left.why}{instead}", err=True)
    for name in done.mixing_carry:
        echo(f"{path}: to review in {name}: {MIXED}", err=True)
    other = dict(done.renamed)
    kernels = ", ".join(f"{k} as {other[k]}" if k in other else k for k in done.kernels) or "none"
    echo(f"kernels {len(done.kernels)} ({kernels}), left {len(done.left)}", err=True)
    return 1 if done.left else 0
