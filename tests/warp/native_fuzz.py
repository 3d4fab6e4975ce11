"""Kernels made at random of the kernels that the tests of native code hold, for `test_warp_native_fuzz.py`.

A kernel starts as one of theirs, or as two of them one after the other, and is changed a few times: another number,
operator, type, mask or distance; a statement gone, twice, or in a branch or a loop; another name for a variable; blocks
of other shapes. Most such kernels are near an idiom and none of it. `--warp native` may rewrite them or let them be,
but what it rewrites must give CUDA's answer.
"""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loading import load
from simulated import quick

from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "translator" / "cu2port" / "include" / "cu2port"
BASES = ("test_warp_native", "test_warp_native_reach", "test_warp_native_patterns")
_TOKEN = re.compile(
    r'"[^"\n]*"|\w+(?:\.\d+f?)?|<<=|>>=|<<<|>>>|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\+\+|--|->|::|\s+|.', re.S
)
_OPERATORS = {
    "+=": ("-=", "^=", "|=", "="), "<": ("<=", ">", "!="), "<=": ("<",), ">": (">=", "<"), ">=": (">",),
    "==": ("!=", ">=", "<="), "%": ("/", "&"), "/": ("%", ">>"), "&": ("%", "|"), "+": ("-", "^", "*"), "-": ("+",),
    "*": ("+",), "!": ("",), "&&": ("||",), ">>": ("/", "<<"), "++": ("--",), "!=": ("==",),
}  # fmt: skip
_TYPES = ("int", "unsigned", "float", "bool", "short", "long long", "unsigned char", "double", "auto", "const int")
_NUMBERS = {"32": ("16", "64", "31", "8"), "31": ("30", "15", "0", "32", "63"), "0": ("1", "-1", "2"), "5": ("4", "6"),
            "16": ("8", "32", "1"), "1": ("2", "0", "3")}  # fmt: skip
_WORDS = {
    "__shfl_xor_sync": ("__shfl_down_sync", "__shfl_up_sync"), "__shfl_down_sync": ("__shfl_xor_sync",),
    "__shfl_up_sync": ("__shfl_down_sync", "__shfl_xor_sync"), "max": ("min",), "warp_sum": ("warp_max",),
    "warp_max": ("warp_sum",), "FULL": ("0xffffu", "__activemask()", "0xfffffffeu"), "lane": ("warp", "threadIdx.x"),
    "warp": ("lane",), "INT_MIN": ("0", "-1"), "__popc": ("__ffs", "__clz"), "blockDim": ("gridDim",),
    "atomicAdd": ("atomicMax", "atomicOr", "atomicExch", "atomicSub"), "__any_sync": ("__all_sync",),
    "__ballot_sync": ("__match_any_sync",), "warpSize": ("LANES", "16"),
}  # fmt: skip
_NOISE = (
    "int& zN = NAME; zN ^= 1;", "int* zN = &NAME; zN[0] += 1;", "NAME++;", "NAME = NAME;", "NAME = in[threadIdx.x];",
    "if (in[threadIdx.x] > 50) NAME = 7;", "if (threadIdx.x & 32) NAME += 3;", "out[3000 + threadIdx.x] = NAME;",
    "if (threadIdx.x >= 64) return;", "if (in[2000 + threadIdx.x / 32] > 60) return;", "atomicAdd(out + 3900, NAME);",
    "if (threadIdx.x == 0) NAME = 5;", "if (threadIdx.x % 32 == 0) atomicAdd(out + 3901, 1);", "__syncwarp();",
    "if (threadIdx.x % 32 == 0) atomicAdd(out + 3902, NAME);", "if (threadIdx.x < 32) atomicAdd(out + 3903, NAME);",
    "const auto zN = NAME; out[3300 + threadIdx.x] = zN;", "auto zN = [&](int k) { return NAME + k; }; NAME = zN(1);",
    "{ int NAME = 3; out[3600 + threadIdx.x] = NAME; }", "unsigned char zN = NAME; NAME = zN;", "__syncthreads();",
    "float zN = NAME; NAME = zN * 0.5f;", "bool zN = NAME; if (zN) NAME -= 1;", "if (blockIdx.x == 1) return;",
    "for (int zN = 0; zN < threadIdx.x % 3; zN++) NAME += zN;", "if (NAME > 99) return;", "__threadfence();",
    "int zN = atomicAdd(out + 3904, 1); if (zN < 0) NAME = 1;", "NAME = max(NAME, -5);", "NAME = -NAME;",
)  # fmt: skip
_AROUND = (
    "if (threadIdx.x & 32) { S }", "if (in[2000 + threadIdx.x / 32] > 40) { S }",
    "for (int yN = 0; yN < 2; yN++) { S }",
    "if (blockIdx.x == 0) { S }", "{ S }", "for (int yN = 0; yN < in[2000 + threadIdx.x / 32] % 3; yN++) { S }",
    "do { S } while (false);", "if (in[3] > 0) { S }", "switch (in[2] % 2) { case 0: S break; default: S }",
    "if (threadIdx.x < 32) { S }", "if (threadIdx.x == 0) { S }", "if (threadIdx.x % 32 == 0) { S }", "S S",
    "if (threadIdx.x < 64) { S }", "if (in[threadIdx.x] > 30) { S }",
    "for (int yN = 0; yN < 3; yN++) { if (in[2000 + yN + threadIdx.x / 32] > 50) continue; S }",
)  # fmt: skip
_BLOCKS = (
    "32",
    "64",
    "96",
    "128",
    "256",
    "64",
    "128",
    "160",
    "80",
    "dim3(128)",
    "dim3(16, 8)",
    "dim3(32, 4)",
    "dim3(8, 4, 2)",
)


@dataclass(frozen=True)
class Case:
    """A kernel `k` and `run`, which launches it."""

    name: str
    source: str


@cache
def bases() -> tuple[tuple[str, str], ...]:
    """(head, body) of each kernel of the tests."""
    out = []
    for name in BASES:
        m = load(HERE / f"{name}.py")
        out += [(m.HEAD, body) for body in (*m.NATIVE.values(), *m.NATIVE.values(), *m.LOGICAL.values())]
    return tuple(out)


def _statements(body: str) -> list[tuple[int, int]]:
    """Places of statements that end in `;` and hold no bracket that they do not close."""
    out = []
    for m in re.finditer(r"(?<=[;{}\n)])\s*([^;{}\n]+;)", body):
        text = m[1]
        if text.count("(") == text.count(")") and not text.startswith(("break", "continue", "}", "else")):
            out.append(m.span(1))
    return out


def _mutated(body: str, r: random.Random, n: int) -> str:
    kind = r.randrange(9)
    tokens = _TOKEN.findall(body)
    if kind < 3:
        tables: tuple[dict[str, tuple[str, ...]], ...] = (_OPERATORS, _NUMBERS, _WORDS)
        places = [(i, table) for table in tables for i, t in enumerate(tokens) if t in table]
        if places:
            i, table = r.choice(places)
            tokens[i] = r.choice(table[tokens[i]])
        return "".join(tokens)
    if kind == 3:
        places_ = [i for i, t in enumerate(tokens) if t in ("int", "unsigned", "bool", "auto")]
        if places_:
            tokens[r.choice(places_)] = r.choice(_TYPES)
        return "".join(tokens)
    found = _statements(body)
    if not found:
        return body
    a, b = r.choice(found)
    text = body[a:b]
    is_declaration = (
        re.match(r"(?:const |__shared__ |extern |unsigned |auto |cg::)*\w+[ &*]+\w+ *(?:=|\[|,|;)", text) is not None
    )
    if kind == 4 and not is_declaration:
        return body[:a] + body[b:]
    if kind == 5 and len(found) > 1:
        c, d = r.choice(found)
        if b <= c:
            return body[:a] + body[c:d] + body[b:c] + text + body[d:]
    if kind == 6 and not is_declaration:
        return body[:a] + r.choice(_AROUND).replace("S", text).replace("N", str(n)) + body[b:]
    names = sorted(set(re.findall(r"\b(?:int|unsigned|bool) (\w+) *[=;,]", body[:b])) - {"s"}) or ["in[0]"]
    noise = r.choice(_NOISE).replace("NAME", r.choice(names)).replace("N", str(n))
    return body[:b] + " " + noise + body[b:]


def case(seed: int) -> Case:
    """The kernel of a seed."""
    r = random.Random(seed)
    head, body = r.choice(bases())
    if r.random() < 0.2:
        second = r.choice([x for x in bases() if x[0] == head])
        body = "{" + body + "}\n__syncthreads();\n{" + second[1] + "}"
    for n in range(r.choice((0, 1, 1, 1, 2, 2, 3, 4))):
        body = _mutated(body, r, n)
    if r.random() < 0.15 and "__device__" in head:
        at = head.index("__device__")
        head = head[:at] + _mutated(head[at:], r, 9)
    kernel = f"__global__ void k(const int* in, int* out) {{{body}\n}}\n"
    blocks = r.choice(_BLOCKS)
    host = f"void run(const int* in, int* out) {{ k<<<{r.choice('12')}, {blocks}, 512>>>(in, out); }}\n"
    return Case(f"seed{seed}", head + kernel + host)


def is_native(c: Case) -> bool:
    """Whether something of a kernel becomes native."""
    made = translate(c.source, Options(warp="native"), path="p.cu")
    return any(j.finding.message.startswith("`k` works") and j.outcome is Outcome.APPLIED for j in made.findings)


_MAIN = """#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
typedef void (*Run)(const int*, int*);
static void one(const char* name, Run run) {
    fflush(stdout);
    const int child = fork();
    if (child) {
        int status = 0;
        waitpid(child, &status, 0);
        if (status) printf("%s: ended\\n", name);
        return;
    }
    alarm(10);
    int *in, *out;
    hipMallocManaged(&in, 65536 * 4);
    hipMallocManaged(&out, 65536 * 4);
    for (int i = 0; i < 65536; i++) in[i] = i * 37 % 101 + 1, out[i] = 0;
    run(in + 16384, out + 16384);
    const int error = int(hipDeviceSynchronize());
    printf("%s: %d", name, error);
    for (int i = 0; i < 65536; i++) if (out[i]) printf(" %d:%d", i - 16384, out[i]);
    printf("\\n");
    fflush(stdout);
    _exit(0);
}
int main() {
CALLS}
"""


def program(cases: list[Case], mode: str) -> tuple[str, list[int]]:
    """All kernels in one program, each in a namespace, and the line on which each begins."""
    includes: dict[str, None] = {"#include <hip/hip_runtime.h>\n": None}
    out: list[str] = []
    for c in cases:
        text = translate(c.source, Options(warp=mode), path="p.cu").output.decode()
        includes |= dict.fromkeys(re.findall(r"^#include.*\n", text, flags=re.MULTILINE))
        text = re.sub(r"^#include.*\n", "", text, flags=re.MULTILINE)
        macros = re.findall(r"^\s*#define (\w+)", text, flags=re.MULTILINE)
        out.append(f"namespace {c.name} {{\n{text}}}\n" + "".join(f"#undef {x}\n" for x in macros))
    text, lines = "".join(includes), []
    for part in out:
        lines.append(text.count("\n") + 1)
        text += part
    calls = "".join(f'    one("{c.name}", {c.name}::run);\n' for c in cases)
    return text + _MAIN.replace("CALLS", calls), lines


def answers(cases: list[Case], mode: str, waves: tuple[int, ...], folder: Path) -> dict[int, dict[str, str]]:
    """By wave size and name what kernels wrote. Those that do not compile are taken out of `cases`."""
    (folder / "cu2port").mkdir(parents=True, exist_ok=True)
    for header in INCLUDE.iterdir():
        shutil.copy(header, folder / "cu2port")
    toolchain = sim_compiler.find_toolchain()
    path = folder / "p.hip"
    while True:
        text, lines = program(cases, mode)
        path.write_text(text, "utf-8")
        found = sim_build.find_program(path)
        made = quick(found, "-fmax-errors=0")
        try:
            built = sim_build.build(made, folder / "build", waves, toolchain)
            break
        except sim_compiler.CannotBuild as e:
            wrong = {int(x) for x in re.findall(r"p\.hip:(\d+):\d+: (?:fatal )?error", str(e))}
            bad = {max(k for k, first in enumerate(lines) if first <= line) for line in wrong if line >= lines[0]}
            if not bad:
                raise
            cases[:] = [c for k, c in enumerate(cases) if k not in bad]
    out = {}
    for wave, binary in built.items():
        ran = simulate.run(binary, (), simulate.Limits(600, threads=1), capture=True)
        found_ = re.findall(r"^(seed\w+): (.*)$", ran.output.decode(errors="replace"), flags=re.MULTILINE)
        out[wave] = dict(found_)
    return out


def is_defined(c: Case, folder: Path) -> bool:
    """Whether the simulator's checks find nothing wrong in a kernel as CUDA has it."""
    toolchain = sim_compiler.find_toolchain()
    folder.mkdir(parents=True, exist_ok=True)
    if ", 80, " in c.source or "<1, 80" in c.source or "<2, 80" in c.source:
        return False  # its last warp reads lanes that do not exist, which CUDA leaves undefined
    path = folder / "p.cu"
    plain = _MAIN.replace("CALLS", f'    one("{c.name}", run);\n').replace("fork()", "0")
    path.write_text(c.source + plain.replace("hipMalloc", "cudaMalloc").replace("hipDevice", "cudaDevice"), "utf-8")
    built = sim_build.build(sim_build.find_program(path), folder / "build", (32,), toolchain, check=True)
    runs, verdicts = sim_check.check(built, (), simulate.Limits(60))
    return not verdicts and all(x.code == 0 for x in runs.values())


def compare(cases: list[Case], folder: Path) -> tuple[list[Case], int]:
    """The kernels whose native form gives another answer than CUDA's warps, and how many were compared."""
    right = answers(cases, "logical", (32,), folder / "logical")[32]
    native = answers(cases, "native", (32, 64), folder / "native")
    wrong, compared = [], 0
    for c in cases:
        a = right.get(c.name, "ended")
        compared += a != "ended"
        if a != "ended" and not all(_alike(a, found.get(c.name, "ended")) for found in native.values()):
            wrong.append(c)
    return [c for c in wrong if is_defined(c, folder / c.name)], compared


def _alike(a: str, b: str) -> bool:
    """Whether two outputs are the same, or hold the same values at other places: which warp comes first is open."""
    return a == b or sorted(x.partition(":")[2] for x in a.split()) == sorted(x.partition(":")[2] for x in b.split())
