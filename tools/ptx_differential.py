"""Runs the C++ that inline PTX of real projects becomes, on the CPU, against the interpreter.

    python tools/ptx_differential.py [--vectors 40] [--keep DIR] [--write docs/validation.md] DIR...

Every distinct asm statement of the trees (text, constraints, volatile) is put into a function of its own, with
variables for its operands: all unsigned, all signed, and mixed; addresses as pointers and as integers. The file is
converted as a user's would be, compiled with the host's compiler against the helper headers, and run on edges and
random words.
Statements that cannot run on a CPU (lanes, barriers, matrix instructions) or are approximations are counted apart.
Nothing of the trees is executed but what their asm statements mean.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from tables import replaced, row_text

from cu2port.catalog import load_catalog
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit
from cu2port.ptx import interp
from cu2port.ptx.asm import Reading, statements
from cu2port.ptx.bind import UntranslatableError, bind, register_places
from cu2port.ptx.integers import OutOfRangeError
from cu2port.ptx.ir import TYPES, Address, Instruction, Place, Reg, Scope, Statement, Variable
from cu2port.ptx.lifted import RefusedError, parse
from cu2port.ptx.ops import Effect, Value
from cu2port.ptx.rename import has_target, instructions, mentioned
from cu2port.ptx.rewrite import is_ptx
from cu2port.ptx.table import find
from cu2port.ptx.vectors import random_bits, same

INCLUDE = Path(__file__).parent.parent / "translator/cu2port/include"
_SUFFIXES = frozenset(".cu .cuh .h .hpp .hxx .hh .inl .ipp .hip".split())
_LETTERS = {"h": "u16", "r": "u32", "l": "u64", "f": "f32", "d": "f64"}
_CXX = {
    "h": ("unsigned short", "short"),
    "r": ("unsigned int", "int"),
    "l": ("unsigned long long", "long long", "unsigned long", "long"),
    "f": ("float",),
    "d": ("double",),
}
#: what the header has for GPUs only
_DEVICE = re.compile(
    r"cu2port::warp::|\b(?:thread|block|grid)(?:Idx|Dim)\b|__\w*(?:sync|fence|trap)|amdgcn|clock|\bbar"
)
_ELSEWHERE = frozenset({Effect.LANES, Effect.SYNC, Effect.STATE})
SIZE = 1024  # bytes of memory that addresses are in the middle of
KINDS = ("unsigned", "signed", "mixed")


@dataclass(frozen=True)
class Found:
    """A distinct statement. `constraints` of its operands, `given`: the numbers of "n" operands."""

    text: str
    constraints: tuple[str, ...]
    outputs: int
    volatile: bool
    memory: bool
    given: tuple[str, ...]


@dataclass
class Tally:
    """What happened to statements; `places` counts occurrences, `distinct` different ones."""

    places: Counter[str] = field(default_factory=Counter)
    distinct: Counter[str] = field(default_factory=Counter)
    vectors: int = 0
    wrong: list[str] = field(default_factory=list)


def files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and p.is_file() and not p.is_symlink())


def collected(folders: Iterable[Path]) -> Counter[Found]:
    """Every statement with PTX, with how often it is there."""
    out: Counter[Found] = Counter()
    catalog = load_catalog()
    for path in files(folders):
        data = path.read_bytes()
        if b"asm" not in data or len(data) > 4_000_000:
            continue
        unit = Unit(data.decode("latin-1"), catalog, path=path.name)
        for s in statements(unit):
            if is_ptx(unit, s):
                readings = s.readings or ((s.shown,) if s.shown is not None else ())
                out.update({found(unit, r, s.volatile) for r in readings})
    return out


def found(unit: Unit, r: Reading, volatile: bool) -> Found:
    given = tuple(unit.text[o.expr.start : o.expr.end] if o.letter == "n" else "" for o in r.operands)
    text = re.sub(r"%\[(\w+)\]", lambda m: _by_name(r, m), r.text)
    return Found(text, tuple(o.constraint for o in r.operands), r.outputs, volatile, r.memory, given)


def _by_name(r: Reading, m: re.Match[str]) -> str:
    return next((f"%{i}" for i, o in enumerate(r.operands) if o.name == m[1]), m[0])


# --- what a statement needs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """A statement that can run. `addresses`: operands that point to memory, with their space."""

    found: Found
    body: tuple[Statement, ...]
    letters: tuple[str, ...]
    addresses: dict[int, str]
    constants: dict[int, int]

    def places(self) -> dict[str, Place]:
        return {
            f"%{i}": Place(f"o{i}", TYPES[_LETTERS.get(letter, "s32")], constant=self.constants.get(i))
            for i, letter in enumerate(self.letters)
        }


class NotHereError(ValueError):
    """Why a statement is not run."""


def planned(f: Found) -> Plan:
    """Raises NotHereError with the class that the statement is counted in."""
    letters = tuple(c.lstrip("=+&%") for c in f.constraints)
    constants = {}
    for i, letter in enumerate(letters):
        if letter == "n":
            constants[i] = int(f.given[i], 0) if re.fullmatch(r"\d+|0x[0-9a-fA-F]+", f.given[i]) else 4
        elif letter not in _LETTERS:
            raise NotHereError("other constraints")
    try:
        body = parse(Reading(f.text))
    except RefusedError:
        raise NotHereError("not readable alone") from None
    steps = tuple(instructions(body))
    if not steps:
        raise NotHereError("no instruction")
    known = {
        f"%{i}": Place(f"o{i}", TYPES[_LETTERS.get(x, "s32")], constant=constants.get(i)) for i, x in enumerate(letters)
    }
    scope = known | {"CC": Place("CC", TYPES["pred"])} | register_places(declared_in(body))
    for step in steps:
        match = find(step.opcode, len(step.operands))
        if step.name == "cvta":
            raise NotHereError("addresses of other spaces")
        if match is None:
            raise NotHereError("not in the table, or lanes, matrices, copies")
        if match.row.bound:
            raise NotHereError("approximations")
        try:
            operation = bind(step, scope)
        except UntranslatableError:
            raise NotHereError("not lifted") from None
        if any(v.op.effect in _ELSEWHERE for value in operation.values for v in nodes(value)):
            raise NotHereError("for GPUs only")
    return Plan(f, body, letters, addresses(steps, letters), constants)


def nodes(value: Value) -> Iterator[Value]:
    yield value
    for a in value.args:
        yield from nodes(a)


def declared_in(body: Iterable[Statement]) -> Iterator[Variable]:
    for s in body:
        if isinstance(s, Variable):
            yield s
        elif isinstance(s, Scope):
            yield from declared_in(s.body)


def addresses(steps: Sequence[Instruction], letters: Sequence[str]) -> dict[int, str]:
    """Operands that are addresses, straight or by way of registers. Raises NotHereError where that is not plain."""
    sources: dict[str, set[int]] = {f"%{i}": {i} for i, x in enumerate(letters) if x in ("l", "r")}
    out: dict[int, str] = {}
    for i in steps:
        for o in i.operands:
            if isinstance(o, Address) and o.base is not None:
                space = "shared" if ".shared" in i.opcode or i.opcode.startswith("st.bulk") else "global"
                wanted = "l" if space == "global" else "lr"
                behind = {k for k in sources.get(o.base.name, set()) if letters[k] in wanted}
                if len(behind) != 1:
                    raise NotHereError("addresses that are computed")
                (k,) = behind
                if out.setdefault(k, space) != space:
                    raise NotHereError("addresses of two spaces")
        if has_target(i) and isinstance(i.operands[0], Reg) and i.operands[0].name not in sources:
            read = {k for o in i.operands[1:] for r in mentioned(o) for k in sources.get(r.name, set())}
            sources[i.operands[0].name] = read
    return out


# --- C++ --------------------------------------------------------------------------------------------------------------


def variable(plan: Plan, i: int, kind: str, rng: Random) -> str:
    """The C++ type of an operand's variable."""
    letter = plan.letters[i]
    if plan.addresses.get(i) == "global" and rng.random() < 0.5:
        return "unsigned char*"
    choices = _CXX[letter]
    if kind == "mixed":
        return rng.choice(choices)
    return choices[0 if kind == "unsigned" else min(1, len(choices) - 1)]


def function(plan: Plan, name: str, kind: str, rng: Random) -> str:
    """A CUDA function that loads its operands from words, runs the statement, and stores outputs back."""
    f = plan.found
    lines, operands = [], []
    for i, constraint in enumerate(f.constraints):
        if i in plan.constants:
            operands.append(f'"n"({plan.constants[i]})')
            continue
        type_ = variable(plan, i, kind, rng)
        lines.append(f"{type_} o{i}; __builtin_memcpy(&o{i}, &w[{i}], sizeof o{i});")
        operands.append(f'"{constraint}"(o{i})')
    literal = (
        f.text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "")
    )
    colons = f"{', '.join(operands[: f.outputs])} : {', '.join(operands[f.outputs :])}"
    memory = ' : "memory"' if f.memory else ""
    lines.append(f'asm {"volatile " if f.volatile else ""}("{literal}" : {colons}{memory});')
    lines += [f"__builtin_memcpy(&w[{i}], &o{i}, sizeof o{i});" for i in range(f.outputs)]
    return f"__device__ void {name}(unsigned long long* w) {{\n  " + "\n  ".join(lines) + "\n}\n"


MAIN = """
static unsigned char memory[SIZE] __attribute__((aligned(64)));
struct Entry { void (*run)(unsigned long long*); int operands, vectors; unsigned long long addresses; };
static const Entry entries[] = {ENTRIES};
int main() {
    for (const Entry& e : entries)
        for (int n = 0; n < e.vectors; ++n) {
            unsigned long long w[64] = {}, m = 0;
            for (int i = 0; i < SIZE; ++i) memory[i] = (unsigned char)(i * 7 + n);
            if (std::fread(w, 8, e.operands, stdin) != (std::size_t)e.operands) return 1;
            for (int i = 0; i < e.operands; ++i) if (e.addresses >> i & 1) w[i] += (unsigned long long)memory;
            (void)cu2port::ptx::cvta_to_shared(memory);  // which a statement may have done with another address
            e.run(w);
            for (int i = 0; i < e.operands; ++i) if (e.addresses >> i & 1) w[i] -= (unsigned long long)memory;
            for (int i = 0; i < SIZE; ++i) m = m * 1099511628211u + memory[i];
            std::fwrite(w, 8, e.operands, stdout);
            std::fwrite(&m, 8, 1, stdout);
        }
}
"""


def hashed(memory: bytes | bytearray) -> int:
    m = 0
    for byte in memory:
        m = (m * 1099511628211 + byte) & (1 << 64) - 1
    return m


def inputs(plan: Plan, rng: Random) -> list[int]:
    out = []
    for i, letter in enumerate(plan.letters):
        if i in plan.addresses:
            out.append(SIZE // 2)
        elif letter == "n":
            out.append(0)
        else:
            kind = rng.choice(("u32", "u32", "f32", "f16x2")) if letter == "r" else _LETTERS[letter]
            out.append(random_bits(TYPES[kind], rng))
    return out


def wanted(plan: Plan, words: Sequence[int], n: int) -> tuple[dict[str, int], int]:
    """What the interpreter leaves in registers and memory."""
    places = plan.places()
    start = bytes((i * 7 + n) & 255 for i in range(SIZE))
    shared = any(space == "shared" for space in plan.addresses.values())
    machine = interp.Machine({"global": bytearray(start), "shared": bytearray(start)})
    (lane,) = interp.run(plan.body, places, [{f"%{i}": w for i, w in enumerate(words)}], machine)
    return lane, hashed(machine.memory["shared" if shared else "global"])


# --- all of it --------------------------------------------------------------------------------------------------------


@cache
def device_functions() -> frozenset[str]:
    """Functions of the headers that only a compiler for GPUs sees."""
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for header in INCLUDE.glob("cu2port/ptx*.hpp"):
        only = header.stem in ("ptx_device", "ptx_barrier")
        names[only].update(re.findall(r"\b(\w+)\(", header.read_text(encoding="utf-8")))
    return frozenset(names[True] - names[False]) | {"prefetch"}


def runnable(plan: Plan, rng: Random) -> None:
    """Raises NotHereError unless converter and interpreter both take the statement."""
    result = translate(function(plan, "f", "unsigned", Random(1)), path="a.cuh")
    text = result.output.decode().partition("void f(")[2]
    if any(j.open for j in result.findings) or "asm(" in text:
        raise NotHereError("not lifted")
    if _DEVICE.search(text) or not device_functions().isdisjoint(re.findall(r"cu2port::ptx::(\w+)", text)):
        raise NotHereError("for GPUs only")
    try:
        wanted(plan, inputs(plan, rng), 0)
    except (interp.StuckError, UntranslatableError, OutOfRangeError, KeyError):
        raise NotHereError("for GPUs only") from None


def differences(plans: Sequence[Plan], count: int, folder: Path, tally: Tally) -> None:
    """Compiles and runs statements with variables of each kind; what differs is added to the tally."""
    rng = Random(len(plans))
    source, entries, words, cases = "", "", b"", []
    for n, plan in enumerate(plans):
        for kind in KINDS:
            name = f"f{n}_{kind}"
            source += function(plan, name, kind, rng)
            mask = sum(1 << i for i in plan.addresses)
            kept = 0
            for _ in range(count):
                given = inputs(plan, rng)
                try:
                    after = wanted(plan, given, kept)
                except (interp.StuckError, OutOfRangeError):
                    continue  # it waits for another thread
                kept += 1
                words += b"".join(w.to_bytes(8, "little") for w in given)
                cases.append((plan, kind, given, after))
            entries += f"{{{name}, {len(plan.letters)}, {kept}, {mask}ull}}, "
    text = "#include <cstdio>\n#define __device__\n" + translate(source, path="a.cuh").output.decode()
    text += MAIN.replace("ENTRIES", entries).replace("SIZE", str(SIZE))
    (folder / "run.cc").write_text(text)
    flags = ["-std=c++17", "-O1", "-w", "-ffp-contract=off", f"-I{INCLUDE}", "-o", str(folder / "run")]
    built = subprocess.run(["g++", *flags, str(folder / "run.cc")], capture_output=True, text=True, check=False)
    if built.returncode:
        broken = {int(n) for n in re.findall(r"In function .void f(\d+)_", built.stderr)}
        if not broken:
            raise RuntimeError(built.stderr[:2000])
        tally.wrong += [f"does not compile: {plans[n].found.text!r}" for n in sorted(broken)]
        differences([p for n, p in enumerate(plans) if n not in broken], count, folder, tally)
        return
    done = subprocess.run([folder / "run"], input=words, capture_output=True, check=True).stdout
    at, told = 0, set()
    for plan, kind, given, (lane, memory) in cases:
        size = 8 * (len(given) + 1)
        got = [int.from_bytes(done[at + j : at + j + 8], "little") for j in range(0, size, 8)]
        at += size
        tally.vectors += 1
        bad = [i for i in range(plan.found.outputs) if not agrees(plan, i, lane.get(f"%{i}", 0), got[i])]
        if (bad or got[-1] != memory) and (id(plan), kind) not in told:
            told.add((id(plan), kind))
            tally.wrong.append(
                f"{kind}: {plan.found.text!r} on {[hex(w) for w in given]}: operands {bad}, memory {got[-1] == memory}"
            )


def agrees(plan: Plan, i: int, wants: int, got: int) -> bool:
    """Equal, any NaN being as good as another where the statement computes with floats."""
    t = TYPES[_LETTERS[plan.letters[i]]]
    floats = [
        TYPES[name] for name in ("f32", "f64", "f32x2", "f16x2", "bf16x2", "f16", "bf16") if name in plan.found.text
    ]
    return any(same(x, wants & t.mask, got & t.mask) for x in (t, *floats) if x.bits == t.bits)


def compared(folders: Iterable[Path], count: int, folder: Path) -> Tally:
    """Everything in the trees."""
    tally, rng = Tally(), Random(1)
    plans: list[Plan] = []
    for f, times in collected(folders).items():
        try:
            plan = planned(f)
            runnable(plan, rng)
            plans.append(plan)
            kind = "run"
        except NotHereError as error:
            kind = str(error)
        tally.places[kind] += times
        tally.distinct[kind] += 1
    for at in range(0, len(plans), 150):
        differences(plans[at : at + 150], count, folder, tally)
    return tally


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--vectors", type=int, default=40, help="inputs for each statement and kind of variables")
    parser.add_argument("--keep", type=Path, help="leave the last program there")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table `ptx-run` of a document")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = asked.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        tally = compared(asked.folders, asked.vectors, folder)
    rows = [("what became of them", "distinct", "statements"), ("---", "--:", "--:")]
    rows += [(kind, f"{n:,}", f"{tally.places[kind]:,}") for kind, n in tally.distinct.most_common()]
    rows.append((f"**{tally.vectors:,} vectors, {len(tally.wrong)} disagreements**", "", ""))
    table = "".join(map(row_text, rows))
    if asked.write:
        asked.write.write_text(replaced(asked.write.read_text(encoding="utf-8"), "ptx-run", table), encoding="utf-8")
    sys.stdout.write(table)
    sys.stdout.write("".join(f"{line}\n" for line in tally.wrong))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
