"""Whether what the rules promise compiles: the `after` of every example of a row and of a check, and our own headers.

    python tools/compile_examples.py [--arch gfx942,gfx1100] [--rocm-path DIR] [--compiler X] [--show N]

An example is a line or two; what it does not declare is declared as an object, type or kernel that goes with anything.
So this tells whether HIP's names are there and take so many arguments, casts hold and the text is HIP, not whether a
program works. Many examples share a translation unit, each in a namespace of its own, and are tried in a function for
the host, in one for the GPU, and outside of functions. Prints, by library, how many compile for all GPUs on one side at
least, and how many need a header that this machine lacks.

With --show the ones that do not, and why: an operand whose type cannot be guessed (messages that name `cu2port_any`), a
name that older headers lack, or a wrong row.

Exit: 0, 2 when it could not run.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from cu2port.check import all_checks
from cu2port.effects import wave_size
from cu2port.engine import translate
from cu2port.lexer import is_identifier, lex
from cu2port.model import Outcome
from cu2port.project import CannotRun
from cu2port.verify import headers, toolchain

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "rules"
OURS = ROOT / "translator" / "cu2port" / "include"
KEYWORDS = frozenset(
    "alignas alignof asm auto bool break case catch char class const const_cast constexpr continue decltype default "
    "delete do double dynamic_cast else enum explicit extern false float for friend goto if inline int long mutable "
    "namespace new noexcept nullptr operator private protected public register reinterpret_cast return short signed "
    "sizeof static static_assert static_cast struct switch template this throw true try typedef typeid typename union "
    "unsigned using virtual void volatile while and or not NULL size_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t uint32_t uint64_t std defined main printf min max assert warpSize threadIdx blockIdx blockDim gridDim "
    "dim3 final override".split()
)
KNOWN = re.compile(
    r"_*(?:hip|roc|miopen|rccl|nccl|cu2port|thrust|cooperative_groups|HIP|CU)|__|(?:u?char|u?int|u?long|"
    r"u?short|float|double|longlong|ulonglong)\d$|make_|half|bfloat|atomic|tex\dD|surf"
)
ANY = """
#define CU2PORT_BOTH __attribute__((host)) __attribute__((device))
struct cu2port_any {
    CU2PORT_BOTH cu2port_any() {}
    template <class... T> CU2PORT_BOTH cu2port_any(T...) {}
    template <class T> CU2PORT_BOTH operator T&() const { return *static_cast<T*>(nullptr); }
    template <class T> CU2PORT_BOTH operator T&&() const { return static_cast<T&&>(*static_cast<T*>(nullptr)); }
    CU2PORT_BOTH cu2port_any operator*() const { return {}; }
    template <class T> CU2PORT_BOTH cu2port_any operator[](T) const { return {}; }
    CU2PORT_BOTH cu2port_any operator&() const { return {}; }
    template <class T> CU2PORT_BOTH cu2port_any& operator=(T) { return *this; }
    template <class... T> CU2PORT_BOTH cu2port_any operator()(T...) const { return {}; }
};
"""
HOST, DEVICE, OUTSIDE = "host function", "device function", "outside"
TYPED_HOST, TYPED_DEVICE = "host function, numbers", "device function, numbers"
POINTERS = frozenset("p q ptr address dst src out in data c s".split())  # where operands have plain types
# where the examples of a library go first
SCOPES = {
    "": (HOST, TYPED_HOST, OUTSIDE),
    "checks": (OUTSIDE, HOST, DEVICE),
    **dict.fromkeys(
        ("cub", "device", "fp16", "fp8", "nv_atomic", "vector_types", "wmma"), (DEVICE, TYPED_DEVICE, HOST, OUTSIDE)
    ),
}


@dataclass(frozen=True)
class Example:
    """A text under the name of its row or check; `group`: the examples it shares translation units with."""

    name: str
    group: str
    text: str
    headers: tuple[str, ...] = ()


def row_examples() -> Iterator[Example]:
    """The examples of all rows, with the headers of their library."""
    for path in sorted(RULES.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        own = tuple(dict.fromkeys(h for h in data.get("headers", {}).values() if h))
        for row in data.get("change", []):
            shown = [row, *row.get("forms", [])]
            for n, form in enumerate(x for x in shown if "example" in x):
                name = f"{row['cuda']}" + (f" form {n}" if n else "")
                text = form["example"]["after"]
                ours = (f"cu2port/{row['helper']}",) if "helper" in row else ()
                yield Example(name, path.stem, text, (*own, *row.get("headers", []), *ours))


def check_examples() -> Iterator[Example]:
    """What becomes of each example of a check, where nothing is left for a person."""
    for check in all_checks():
        for n, example in enumerate(check.examples):
            result = translate(example.before, example.options, path=example.path)
            if all(f.outcome is Outcome.APPLIED for f in result.findings):
                yield Example(f"{check.code} example {n}", "checks", result.output.decode("latin-1"))


def our_headers() -> Iterator[Example]:
    """Our own headers, each alone."""
    for path in sorted((OURS / "cu2port").glob("*.hpp")):
        yield Example(path.name, path.name, "", (f"cu2port/{path.name}",))


def declarations(text: str, scope: str) -> tuple[str, str]:
    """Declarations of what a text leaves undeclared: those for a namespace, and those for a function."""
    t = lex(text).t
    out: dict[str, str] = {}
    local: dict[str, str] = {}
    for i, word in enumerate(t):
        before, after = t[i - 1] if i else "", t[i + 1] if i + 1 < len(t) else ""
        if not is_identifier(word) or word in KEYWORDS or KNOWN.match(word) or before in (".", "->", "::", "#", "goto"):
            continue
        if after == "::" or (after == ":" and before in ("", ";", "{", "}")):
            continue
        if after in ("<<<", "<<") or before == "hipLaunchKernelGGL":
            out[word] = f"template <class... T> __attribute__((global)) void {word}(T...) {{}}"
        elif is_identifier(after) and after not in KEYWORDS:
            out.setdefault(word, f"typedef cu2port_any {word};")
        elif scope == OUTSIDE:
            out.setdefault(word, f"extern cu2port_any {word};")
        elif scope in (HOST, DEVICE):
            local[word] = f"cu2port_any {word};"
        else:
            local[word] = f"unsigned* {word};" if word in POINTERS else f"float {word};"
    return " ".join(out.values()), " ".join(v for k, v in local.items() if k not in out)


def _unit(examples: Sequence[Example], scope: str) -> tuple[str, list[str]]:
    """One translation unit, and the headers it includes where they are there.

    Line N of the file `example` is the example of number N - 1, line N of the file `header` the absence of a header.
    """
    lines = ["#include <hip/hip_runtime.h>"]
    wanted = list(dict.fromkeys(h for e in examples for h in e.headers))
    for n, h in enumerate(wanted, 1):
        lines.append(f'#if __has_include(<{h}>)\n#include <{h}>\n#else\n#line {n} "header"\n#error not here\n#endif')
    bodies = []
    for n, e in enumerate(examples, 1):
        lines += re.findall(r"(?m)^[ \t]*#[ \t]*include.*$", e.text)
        text = re.sub(r"(?m)^[ \t]*#[ \t]*(?:include|pragma once).*$", "", e.text)
        defined = re.findall(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)", text)
        if not text.rstrip().endswith((";", "}", "#endif")):
            text += ";"
        # every line of the text is line n: what a compiler says names the example
        numbered = "\n".join(f'#line {n} "example"\n{x}' for x in re.split(r"(?<!\\)\n", text))
        around, within = declarations(text, scope)
        side = "__attribute__((device)) " if scope in (DEVICE, TYPED_DEVICE) else ""
        opened = f"{side}inline void cu2port_f() {{ {within}" if scope != OUTSIDE else ""
        bodies.append(
            f'#line {n} "example"\nnamespace cu2port_e{n} {{ {around} {opened}\n{numbered}\n'
            f"{'}' if opened else ''} }}\n" + "".join(f"#undef {d}\n" for d in defined)
        )
    return "\n".join((*dict.fromkeys(lines), ANY, *bodies)) + "\n", wanted


class Compiler:
    """Compiles units, front end only, for the host and GPUs."""

    def __init__(self, archs: Sequence[str], rocm: str, asked: str, folder: Path) -> None:
        found = toolchain.find(asked, list(archs), str(folder))
        self.headers = headers.find(rocm, found.root)
        self.version = f"{found.version}, HIP {self.headers.version} from {self.headers.origin}"
        self._archs, self._folder = archs, folder
        self._command = [*found.command, "-x", "hip", f"--rocm-path={self.headers.root}", "-nogpulib", "-std=c++20"]
        self._command += ["-w", "-fsyntax-only", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics"]
        self._command += ["-D__HIP_PLATFORM_AMD__", f"-I{OURS}"]
        self._environment = toolchain.environment(str(folder))

    def errors(self, text: str) -> dict[tuple[str, int], str]:
        """The first error of each example and header, by number, over the host and all GPUs; ("", 0) elsewhere."""
        path = self._folder / "unit.hip"
        path.write_text(text, "latin-1")
        found: dict[tuple[str, int], str] = {}
        for arch, side in [(self._archs[0], "host"), *((a, "device") for a in self._archs)]:
            wave = f"-D__AMDGCN_WAVEFRONT_SIZE={wave_size(arch)}"
            command = [*self._command, f"--offload-arch={arch}", f"--cuda-{side}-only", wave, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=self._environment)
            elsewhere = ""  # an error inside a header belongs to the example whose use of it the notes name
            for line in done.stderr.splitlines():
                used = re.match(r"example:(\d+):\d+: note: in instantiation", line)
                if used and elsewhere:
                    found.setdefault(("example", int(used[1])), elsewhere)
                said = re.match(r"(?:(.*?):(\d+):\d+: )?(?:fatal )?error: (.*)", line)
                if said and said[1] in ("example", "header"):
                    found.setdefault((said[1], int(said[2])), said[3])
                elif said:
                    elsewhere = said[3]
                    if "fatal error: " in line:
                        found.setdefault(("", 0), line)
        return found


def judge(compiler: Compiler, examples: Sequence[Example]) -> dict[Example, str]:
    """What is wrong with each example of a library; "" when it compiles, "missing ..." when a header is."""
    out: dict[Example, str] = {}
    rest = list(examples)
    for scope in SCOPES.get(examples[0].group, SCOPES[""]):
        text, wanted = _unit(rest, scope)
        found = compiler.errors(text)
        lacking = {h for n, h in enumerate(wanted, 1) if ("header", n) in found}
        fatal = found.get(("", 0), "")
        for n, e in enumerate(rest, 1):
            message = found.get(("example", n), fatal)
            needed = next((h for h in e.headers if h in lacking), "") or (
                fatal.partition("'")[2].partition("'")[0] if "file not found" in fatal else ""
            )
            if not message:
                out[e] = ""
            else:
                out[e] = f"missing {needed}" if needed else out.get(e, message)
        rest = [e for e in rest if out[e] and not out[e].startswith("missing ")]
        if not rest:
            break
    return out


@click.command(help=__doc__)
@click.option("--arch", "archs", default="gfx942,gfx1100", show_default=True)
@click.option("--rocm-path", default="")
@click.option("--compiler", "asked", default="")
@click.option("--only", default="", help="Libraries, by commas; `checks` for the checks, NAME.hpp for a header.")
@click.option("--show", is_flag=True, help="Print what fails, in the form of tools/compile_examples.toml.")
def main(archs: str, rocm_path: str, asked: str, only: str, show: bool) -> None:
    chosen = [*row_examples(), *check_examples(), *our_headers()]
    libraries = [g for g in dict.fromkeys(e.group for e in chosen) if not only or g in only.split(",")]
    good = judged = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            compiler = Compiler(archs.split(","), rocm_path, asked, Path(folder))
        except CannotRun as e:
            click.echo(e, err=True)
            raise SystemExit(2) from None
        print(compiler.version)
        for library in libraries:
            found = judge(compiler, [e for e in chosen if e.group == library])
            lacking = sorted({m.removeprefix("missing ") for m in found.values() if m.startswith("missing ")})
            here = [m for m in found.values() if not m.startswith("missing ")]
            good, judged = good + here.count(""), judged + len(here)
            left = f"{len(found) - len(here)} need {', '.join(lacking)}" if lacking else ""
            print(f"{library:<20} {here.count(''):>4} of {len(here):<4} {left}".rstrip(), flush=True)
            for example, message in found.items() if show else ():
                if message and not message.startswith("missing "):
                    print(f"  {example.name}: {message}")
    print(f"{good} of {judged} compile")


if __name__ == "__main__":
    main()
