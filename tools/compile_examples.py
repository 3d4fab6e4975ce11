"""Whether what the rules promise compiles: the `after` of every example of a row, what happens to every check's that
changes something, and our own headers.

    python tools/compile_examples.py [--arch gfx942,gfx1100] [--rocm-path DIR] [--compiler X] [--only LIBRARY] [--show]

An example is a line or two. What it does not declare is declared here: operands of a call have the types that CUDA's
own header gives the function (cuda.h and cuda_runtime_api.h, which triton's wheel carries), converted to HIP by cu2port
itself; others those of tools/compile_examples.toml; the rest are numbers, or objects, types and kernels that go with
anything. Each example has a namespace and a function of its own, and many share a translation unit, so that few
compilations judge them all: for the host and for each GPU, those that pass then all together to machine code.
Prints, by library, how many compile (and how many of these with operands of CUDA's or the table's types), and how many
need a header that this machine lacks.

With --show the ones that do not, and why.

Exit: 0, 1 when some do not compile, 2 when it could not run.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import util
from pathlib import Path
from typing import Any

import click

from cu2port.checks import all_checks
from cu2port.core.model import Options, Outcome
from cu2port.engine.effects import wave_size
from cu2port.engine.translate import translate
from cu2port.project.tree import CannotRun
from cu2port.syntax.lexer import is_identifier, lex
from cu2port.verify import headers, toolchain

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "rules"
OURS = ROOT / "translator" / "cu2port" / "include"
TABLE = Path(__file__).with_suffix(".toml")
KEYWORDS = frozenset(
    "alignas alignof asm auto bool break case catch char class const const_cast constexpr continue decltype default "
    "delete do double dynamic_cast else enum explicit extern false float for friend goto if inline int long mutable "
    "namespace new noexcept nullptr operator private protected public register reinterpret_cast return short signed "
    "sizeof static static_assert static_cast struct switch template this throw true try typedef typeid typename union "
    "unsigned using virtual void volatile while and or not NULL size_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t uint32_t uint64_t std defined main printf min max assert warpSize threadIdx blockIdx blockDim gridDim "
    "dim3 final override sqrt sqrtf rsqrtf memcpy memset strlen strcmp exit abort puts".split()
)
KNOWN = re.compile(
    r"_*(?:hip|roc|miopen|rccl|nccl|cu2port|thrust|cooperative_groups|HIP|CU)|__|cu[A-Z]|cu(?:da|blas|dnn|fft|rand|"
    r"sparse|solver|tensor|pti)|nv(?:rtc|tx|ml)|(?:u?char|u?int|u?long|"
    r"u?short|float|double|longlong|ulonglong)\d$|make_|half|bfloat|atomic|tex\dD|surf|PRI"
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
HOST, DEVICE, OUTSIDE = "host function", "device function", "outside of functions"
TYPED, ANYTHING, NUMBERS = "typed", "anything", "numbers"  # of what types operands are that nothing declares
POINTERS = frozenset("p q ptr address dst src out in data".split())  # where operands are numbers
WRITTEN = re.compile(r"[A-Z][A-Z_0-9]+\Z")  # a word like this before a bracket is a macro of the user's
TYPE_WORDS = frozenset("auto bool char double float int long short signed unsigned void".split())
CUDA_HEADERS = ("cuda_runtime_api.h", "cuda.h")
PROTOTYPE = re.compile(r"\b(?:CUDARTAPI|CUDAAPI)\s+(\w+)\s*\(([^;{}]*?)\)\s*;")
DEVICE_FIRST = frozenset("cub device fp16 fp8 nv_atomic vector_types wmma".split())
# libraries that need nothing but the runtime's and the standard headers share units; others have one each
TOGETHER = frozenset(
    "checks cub cuda device driver fp16 libcudacxx misc nv_atomic nvml nvrtc nvtx runtime vector_types".split()
)


@dataclass(frozen=True)
class Example:
    """A text under the name of its row or check, with the CUDA code it comes of. `group`: its library."""

    name: str
    group: str
    text: str
    before: str = ""
    headers: tuple[str, ...] = ()
    principal: tuple[str, ...] = ()  # headers without which it is not judged


@dataclass(frozen=True)
class Judged:
    """What happened to an example. `message` is "" where it compiles; `missing` a header that is not here."""

    message: str = ""
    missing: str = ""
    typed: bool = False


def row_examples() -> Iterator[Example]:
    """The examples of all rows, with the headers of their library."""
    for path in sorted(RULES.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        own = tuple(dict.fromkeys(h for h in data.get("headers", {}).values() if h and isinstance(h, str)))
        for row in data.get("change", []):
            shown = [row, *row.get("forms", [])]
            for n, form in enumerate(x for x in shown if "example" in x):
                name = f"{row['cuda']}" + (f" form {n}" if n else "")
                ours = (f"cu2port/{row['helper']}",) if "helper" in row else ()
                example = form["example"]
                more = (*row.get("headers", []), *ours)
                yield Example(name, path.stem, example["after"], example["before"], (*own, *more), (*own[:1], *more))


def check_examples() -> Iterator[Example]:
    """What becomes of each example that a check changes, where nothing is left to do by hand."""
    for check in all_checks():
        for n, example in enumerate(check.examples):
            result = translate(example.before, example.options, path=example.path)
            after = result.output.decode("latin-1")
            if _body(after) != _body(example.before) and all(f.outcome is Outcome.APPLIED for f in result.findings):
                needed = [h for word, h in table()["headers"].items() if re.search(word, after)]
                needed = [*needed, *re.findall(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)', after)]
                yield Example(f"{check.code} example {n}", "checks", _body(after), "", tuple(needed), tuple(needed))


def our_headers() -> Iterator[Example]:
    """Our own headers, each alone."""
    for path in sorted((OURS / "cu2port").glob("*.hpp")):
        before = ("cu2port/ptx.hpp",) if path.name.startswith("ptx") else ()  # the others are parts of it
        yield Example(path.name, path.name, "", "", (*before, f"cu2port/{path.name}"))


def _body(text: str) -> str:
    """A text without its includes."""
    return re.sub(r"(?m)^[ \t]*#[ \t]*include.*\n?", "", text)


@cache
def table() -> dict[str, dict[str, Any]]:
    """tools/compile_examples.toml."""
    return tomllib.loads(TABLE.read_text("utf-8"))


@cache
def prototypes() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """CUDA's functions with the types of their parameters, one tuple for each version that the headers declare.

    Empty where triton is not installed.
    """
    spec = util.find_spec("triton")
    folders = (
        [Path(p, "backends", "nvidia", "include") for p in (spec.submodule_search_locations or ())] if spec else []
    )
    out: dict[str, tuple[tuple[str, ...], ...]] = {}
    for path in (f / h for f in folders for h in CUDA_HEADERS if (f / h).is_file()):
        for name, inside in PROTOTYPE.findall(path.read_text("latin-1")):
            types = parameter_types(inside)
            out[name] = (*out.get(name, ()), types)
    return out


def parameter_types(inside: str) -> tuple[str, ...]:
    """The types in a prototype's brackets; "" for one that points to functions."""
    return tuple(_type(p) for p in re.sub(r"__dv\([^()]*(?:\(\))?\)", "", inside).split(","))


def _type(parameter: str) -> str:
    """`const size_t *sizes` -> `const size_t *`; what points to functions gives ""."""
    text = re.sub(r"\b(?:enum|struct)\b", "", parameter)
    if "(" in text:
        return ""
    array = "*" if "[" in text else ""
    return re.sub(r"\w+\s*(?:\[\w*\])?\s*$", "", text).strip() + array


def operand_types(before: str) -> dict[str, str]:
    """Types, CUDA's, of the operands that are a word or the address of one in calls of CUDA's functions."""
    lexed = lex(before).t
    out: dict[str, str] = {}
    for i, word in enumerate(lexed):
        if word in prototypes() and lexed[i + 1 : i + 2] == ["("]:
            operands = _operands(lexed[i + 2 :])
            types = next((p for p in prototypes()[word] if len(p) == len(operands)), ())
            for operand, wanted in zip(operands, types, strict=False):
                if len(operand) == 1 and is_identifier(operand[0]) and wanted:
                    out.setdefault(operand[0], wanted)
                elif len(operand) == 2 and operand[0] == "&" and is_identifier(operand[1]) and wanted.endswith("*"):
                    pointee = re.sub(r"^const\b\s*(?=[^*]*$)", "", wanted[:-1].strip())
                    out.setdefault(operand[1], pointee)
    return {k: v for k, v in out.items() if v and v != "void" and k not in KEYWORDS and not KNOWN.match(k)}


def _operands(tokens: Sequence[str]) -> list[list[str]]:
    """The arguments of a call, from behind its opening bracket."""
    out: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if depth < 0:
            break
        if token == "," and not depth:
            out.append([])
        else:
            out[-1].append(token)
    return out if out != [[]] else []


def types_of(examples: Sequence[Example]) -> dict[Example, dict[str, str]]:
    """The types of operands, as HIP: of the table by example, CUDA's own, converted, then the table's by library."""
    found = {e: operand_types(e.before) for e in examples}
    cuda = list(dict.fromkeys(t for types in found.values() for t in types.values()))
    text = "".join(f"{t} cu2port_type{n};\n" for n, t in enumerate(cuda))
    done = translate(text.encode("latin-1"), Options(), path="types.cu").output.decode("latin-1")
    hip = {cuda[int(n)]: t.strip() for t, n in re.findall(r"(?m)^(.*?)cu2port_type(\d+);$", done)}
    own = table()["types"]
    return {
        e: own.get(e.group, {}) | {k: hip[t] for k, t in types.items()} | own.get(e.name, {})
        for e, types in found.items()
    }


def declarations(e: Example, scope: str, kind: str, types: Mapping[str, str]) -> tuple[str, str]:
    """Declarations of what an example leaves undeclared: those for a namespace, and those for a function."""
    t = lex(e.text).t
    before_it = table()["before"].get(e.name, "")
    out: dict[str, str] = {}
    local: dict[str, str] = {}
    own = _declared(t) | set(lex(before_it).t)
    for i, word in enumerate(t):
        before, after = t[i - 1] if i else "", t[i + 1] if i + 1 < len(t) else ""
        if not is_identifier(word) or word in KEYWORDS or KNOWN.match(word) or word in own:
            continue
        if (
            before in (".", "->", "::", "#", "goto")
            or after == "::"
            or (after == ":" and before in ("", ";", "{", "}"))
        ):
            continue
        if after == "(" and WRITTEN.match(word):
            out[word] = f"\n#define {word}(...) __VA_ARGS__\n"
        elif after in ("<<<", "<<") or "".join(t[max(i - 2, 0) : i]) == "hipLaunchKernelGGL(":
            out[word] = f"template <class... T> __attribute__((global)) void {word}(T...) {{}}"
        elif word in types and types[word].startswith("__") and kind == TYPED:
            out[word] = f"{types[word]} {word}{'(int) {}' if '__global__' in types[word] else ';'}"
        elif word in types and kind == TYPED and after != "(":
            (out if scope == OUTSIDE else local)[word] = f"{'extern ' if scope == OUTSIDE else ''}{types[word]} {word};"
        elif is_identifier(after) and after not in KEYWORDS:
            out.setdefault(word, f"typedef cu2port_any {word};")
        elif after == "(" and scope == OUTSIDE:
            out[word] = f"template <class... T> CU2PORT_BOTH cu2port_any {word}(T...) {{ return {{}}; }}"
        elif scope == OUTSIDE:
            out.setdefault(word, f"extern cu2port_any {word};")
        elif kind != NUMBERS:
            local[word] = f"cu2port_any {word};"
        else:
            local[word] = f"unsigned* {word};" if word in POINTERS else f"float {word};"
    return "\n".join((before_it, *out.values())), " ".join(v for k, v in local.items() if k not in out)


def _declared(t: Sequence[str]) -> set[str]:
    """Words that a text declares: those behind a type, with or without a `*` between."""
    out = set()
    for i, word in enumerate(t):
        back = i - 1
        while back > 0 and t[back] in ("*", "&"):
            back -= 1
        if i == 0 or back < 0 or not is_identifier(word) or word in KEYWORDS:
            continue
        kind = t[back]
        plain = back == i - 1 and (kind == ">" or (is_identifier(kind) and kind not in KEYWORDS))
        if kind in TYPE_WORDS or plain or (back < i - 1 and KNOWN.match(kind) and kind.endswith(("_t", "Params"))):
            out.add(word)
        if kind in ("define", "struct", "class", "enum", "namespace", "using", "typename") or t[i - 2 : i] == [
            "enum",
            "{",
        ]:
            out.add(word)
        if kind == ")" and "__launch_bounds__" in t:
            out.add(word)
    return out


def _unit(examples: Sequence[tuple[Example, str, str, Mapping[str, str]]]) -> tuple[str, list[str]]:
    """One translation unit, and the headers it includes where they are there.

    Line N of the file `example` is the example of number N - 1, line N of the file `header` the absence of a header.
    """
    lines = ["#include <hip/hip_runtime.h>"]
    wanted = list(dict.fromkeys(h for e, *_ in examples for h in e.headers))
    for n, h in enumerate(wanted, 1):
        lines.append(f'#if __has_include(<{h}>)\n#include <{h}>\n#else\n#line {n} "header"\n#error not here\n#endif')
    bodies = []
    for n, (e, scope, kind, types) in enumerate(examples, 1):
        text = re.sub(r"(?m)^[ \t]*#[ \t]*pragma once.*$", "", e.text)
        if not text.rstrip().endswith((";", "}", "#endif")):
            text += ";"
        around, within = declarations(e, scope, kind, types)
        defined = re.findall(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)", f"{around}\n{text}")
        side = "__attribute__((device)) " if scope == DEVICE else ""
        result = "cu2port_any" if re.search(r"\breturn [^;]", text) else "void"
        opened = f"{side}{result} cu2port_f() {{ {within}" if scope != OUTSIDE else ""
        lacking = [f"__{gpu}__" for gpu, names in table()["lacking"].items() if re.match("|".join(names), e.name)]
        bodies += [f"#ifndef {macro}" for macro in lacking]
        body = f"namespace cu2port_e{n} {{\n{around}\n{opened}\n{text}\n{'}' if opened else ''} }}"
        # each line is line n: what a compiler says names the example
        bodies += (f'#line {n} "example"\n{x}' for x in re.split(r"(?<!\\)\n", body))
        bodies += (f"#undef {d}" for d in defined)
        bodies += ["#endif"] * len(lacking)
    return "\n".join((*dict.fromkeys(lines), ANY, *bodies)) + "\n", wanted


class Compiler:
    """Compiles units for the host and GPUs."""

    def __init__(self, archs: Sequence[str], rocm: str, asked: str, folder: Path) -> None:
        found = toolchain.find(asked, list(archs), str(folder))
        self.headers = headers.find(rocm, found.root)
        self.version = f"{found.version}, HIP {self.headers.version} from {self.headers.origin}"
        self._archs, self.folder = archs, folder
        self.program = found.command
        self._command = [*found.command, "-x", "hip", f"--rocm-path={self.headers.root}", "-nogpulib", "-std=c++20"]
        self._command += ["-w", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics"]
        # the second: the interface of HIP 7 in an older hipBLAS; the third: what the rows of cuDNN's graphs ask for
        self._command += ["-D__HIP_PLATFORM_AMD__", "-DHIPBLAS_V2", "-DMIOPEN_BETA_API", f"-I{OURS}"]
        self._environment = toolchain.environment(str(folder))

    def has(self, header: str) -> bool:
        """Whether a header may be here; only of a library's, which is in a folder, that can be told beforehand."""
        folders = (self.headers.include, OURS, Path("/usr/include"), Path("/usr/local/include"))
        return "/" not in header or any((f / header).is_file() for f in folders)

    def errors(self, text: str, to_the_end: bool = False) -> dict[tuple[str, int], str]:
        """The first error of each example and header, by number, over the host and all GPUs; ("", 0) elsewhere.

        `to_the_end`: for GPUs, machine code is made.
        """
        path = self.folder / "unit.hip"
        path.write_text(text, "latin-1")
        found: dict[tuple[str, int], str] = {}
        for arch, side in [(self._archs[0], "host"), *((a, "device") for a in self._archs)]:
            made = ["-O0", "-S", "-Xclang", "-emit-obj", "-o", str(self.folder / "unit.o")]
            end = made if to_the_end and side == "device" else ["-fsyntax-only"]
            wave = f"-D__AMDGCN_WAVEFRONT_SIZE={wave_size(arch)}"
            command = [*self._command, f"--offload-arch={arch}", f"--cuda-{side}-only", wave, *end, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=self._environment)
            elsewhere = ""  # an error inside a header belongs to the example whose use of it the notes name
            attributed = False
            for line in done.stderr.splitlines():
                used = re.match(r"example:(\d+):\d+: note: in instantiation", line)
                if used and elsewhere:
                    found.setdefault(("example", int(used[1])), f"{arch if side == 'device' else side}: {elsewhere}")
                    elsewhere, attributed = "", True
                said = re.match(r"(?:(.*?):(\d+):\d+: )?(?:fatal )?error: (.*)", line)
                if said and said[1] in ("example", "header"):
                    found.setdefault((said[1], int(said[2])), f"{arch if side == 'device' else side}: {said[3]}")
                    attributed = True
                elif said:
                    elsewhere = said[3]
                    if "fatal error: " in line:
                        found.setdefault(("", 0), line)
            if done.returncode and not attributed:
                found.setdefault(
                    ("", 0), elsewhere or (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
                )
        return found

    def host_ir(self, text: str) -> str:
        """LLVM's code of a unit, as the host has it; "" where it does not compile."""
        path = self.folder / "unit.hip"
        path.write_text(text, "latin-1")
        end = [f"--offload-arch={self._archs[0]}", "--cuda-host-only", "-O0", "-S", "-emit-llvm", "-o", "-", str(path)]
        done = subprocess.run([*self._command, *end], capture_output=True, text=True, env=self._environment)
        return done.stdout


def attempts(example: Example, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """Where an example may stand and of what types its operands may be, the likeliest first."""
    if not example.text:
        return [(OUTSIDE, ANYTHING)]
    scopes = (DEVICE, HOST) if example.group in DEVICE_FIRST else (HOST,)
    if example.group == "checks":
        return [(OUTSIDE, TYPED), (HOST, TYPED), (DEVICE, TYPED)]
    if types:  # what goes with anything would hide a cast that is missing
        return [*((s, TYPED) for s in scopes), (OUTSIDE, TYPED)]
    return [*((s, kind) for s in scopes for kind in (ANYTHING, NUMBERS)), (OUTSIDE, ANYTHING)]


def judge(compiler: Compiler, examples: Sequence[Example]) -> dict[Example, Judged]:
    """What becomes of examples that share translation units."""
    types = types_of(examples)
    out: dict[Example, Judged] = {}
    good: dict[Example, tuple[str, str]] = {}
    for e in examples:
        missing = next((h for h in e.principal if not compiler.has(h)), "")
        if missing:
            out[e] = Judged(f"{missing} is not here", missing)
    todo = {e: attempts(e, types[e]) for e in examples if e not in out}
    while todo:
        rest = [(e, *tries.pop(0), types[e]) for e, tries in todo.items()]
        text, wanted = _unit(rest)
        found = compiler.errors(text)
        lacking = {h for n, h in enumerate(wanted, 1) if ("header", n) in found}
        fatal = found.get(("", 0), "")
        absent = fatal.partition("'")[2].partition("'")[0] if "file not found" in fatal else ""
        reach = {h for h in wanted if absent and _reaches(h, absent)}
        if reach:  # a header of ours includes one that is not here: again, without it
            out.update((e, Judged(fatal, absent)) for e in todo if reach & {*e.headers})
            todo = {e: [(scope, kind), *todo[e]] for e, scope, kind, _ in rest if not reach & {*e.headers}}
            continue
        for n, (e, scope, kind, _) in enumerate(rest, 1):
            message = found.get(("example", n), fatal)
            missing = next((h for h in e.principal if h in lacking), "")
            missing = missing or absent
            if not message:
                out[e] = Judged(typed="cu2port_any" not in "".join(declarations(e, scope, kind, types[e])))
                good[e] = (scope, kind)
            elif e not in out or missing:
                out[e] = Judged(message, missing)
        todo = {e: tries for e, tries in todo.items() if out[e].message and not out[e].missing and tries}
    whole = [(e, *how, types[e]) for e, how in good.items()]
    found = compiler.errors(_unit(whole)[0], to_the_end=True) if whole else {}
    for n, (e, *_) in enumerate(whole, 1):
        message = found.get(("example", n), found.get(("", 0), ""))
        if message:
            out[e] = replace(out[e], message=message)
    return out


def _reaches(header: str, wanted: str) -> bool:
    """Whether a header of ours includes another, itself or through one of ours."""
    path = OURS / header
    if not path.is_file():
        return False
    inside = re.findall(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)', path.read_text("utf-8"))
    return wanted in inside or any(_reaches(h, wanted) for h in inside)


ALONE = ("cu2port/surface.hpp",)  # never in one unit with the others: which is used depends on the GPUs


def examples_by_unit(only: str = "") -> list[list[Example]]:
    """All examples, those together that share translation units. `only`: libraries, by commas."""
    groups: dict[str, list[Example]] = {}
    for e in (*row_examples(), *check_examples(), *our_headers()):
        if not only or e.group in only.split(","):
            unit = "" if e.group in TOGETHER else e.group
            alone = next((h for h in ALONE if h in e.headers), "")  # texture.hpp has these functions too
            groups.setdefault(alone or unit, []).append(e)
    return list(groups.values())


@click.command(help=__doc__)
@click.option("--arch", "archs", default="gfx942,gfx1100", show_default=True)
@click.option("--rocm-path", default="")
@click.option("--compiler", "asked", default="")
@click.option("--only", default="", help="Libraries, by commas; `checks` for the checks, NAME.hpp for a header.")
@click.option("--show", is_flag=True, help="Print what fails, and why.")
def main(archs: str, rocm_path: str, asked: str, only: str, show: bool) -> None:
    good = typed = judged = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            compiler = Compiler(archs.split(","), rocm_path, asked, Path(folder))
        except CannotRun as e:
            click.echo(e, err=True)
            raise SystemExit(2) from None
        print(compiler.version)
        for together in examples_by_unit(only):
            found = judge(compiler, together)
            for library in dict.fromkeys(e.group for e in together):
                mine = {e: j for e, j in found.items() if e.group == library}
                here = [j for j in mine.values() if not j.missing]
                passed = [j for j in here if not j.message]
                good, typed, judged = good + len(passed), typed + sum(j.typed for j in passed), judged + len(here)
                lacking = ", ".join(sorted({j.missing for j in mine.values() if j.missing}))
                left = f"{len(mine) - len(here)} need {lacking}" if lacking else ""
                print(f"{library:<20} {len(passed):>4} of {len(here):<4} {left}".rstrip(), flush=True)
                for example, j in mine.items() if show else ():
                    if j.message and not j.missing:
                        print(f"  {example.name}: {j.message}")
    print(f"{good} of {judged} compile, {typed} of these with operands of CUDA's or the table's types")
    raise SystemExit(good != judged)


if __name__ == "__main__":
    main()
