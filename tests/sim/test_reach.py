"""Which functions are instrumented: all in which a lane waits for others, in our headers and in the user's code."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.verify import reach, simulate
from cu2port.verify.instrument import instrument
from cu2port.verify.reach import operations, reached, read
from cu2port.verify.sim_compiler import INCLUDE_DIR, Toolchain

HEADERS = sorted((INCLUDE_DIR / "cu2port").glob("*.hpp"))
GROUP = frozenset({".", "->", "::"})


def test_operations_of_the_simulator() -> None:
    """What waits in the simulator's headers, by functions, macros and functions that macros define; nothing else."""
    known = operations()
    wait = (
        "__shfl __shfl_xor_sync __ballot __any_sync __match_all_sync __reduce_add_sync __reduce_xor_sync __activemask "
        "__syncwarp __syncthreads __syncthreads_or __builtin_amdgcn_readlane __builtin_amdgcn_ballot_w64 "
        "__builtin_amdgcn_update_dpp __builtin_amdgcn_permlane64 __hip_ds_swizzle __hip_move_dpp mma_sync"
    )
    assert set(wait.split()) <= known.names
    assert known.names.isdisjoint(
        "__lane_id __lanemask_eq atomicAdd __threadfence __popc min printf load_matrix_sync".split()
    )
    wait = "sync shfl ballot match_any reduce exclusive_scan coalesced_threads labeled_partition barrier_wait"
    assert set(wait.split()) <= known.of_groups
    assert known.of_groups.isdisjoint("size thread_rank this_thread_block tiled_partition plus".split())


def test_operations_are_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the first process of a build; the others take what it kept, until a header changes."""
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(reach, "_operations", lambda paths: (frozenset({f"read{len(list(paths))}"}), frozenset()))
    headers = tmp_path / "include" / "sim"
    headers.mkdir(parents=True)
    monkeypatch.setattr(reach, "SIMULATED", headers)
    found = []
    for name in ("", "", "a.h"):
        if name:
            (headers / name).write_text("")
            monkeypatch.setattr(reach, "_operations", lambda paths: (frozenset({"again"}), frozenset()))
        found.append(reach.operations.__wrapped__().names)
    assert found == [{"read0"}, {"read0"}, {"again"}]


def _text(toolchain: Toolchain, folder: Path) -> str:
    """Our headers as the compiler reads them, without what they include: macros are expanded."""
    source = folder / "all.cpp"
    source.write_text("".join(f'#include "cu2port/{h.name}"\n' for h in HEADERS if h.name != "untranslated.hpp"))
    flags = [*toolchain.flags(64), "-D__HIP__=1", f"-I{INCLUDE_DIR}", "-E", str(source)]
    said = subprocess.run([*toolchain.command, *flags], capture_output=True, text=True, check=True).stdout
    ours, out = False, []
    for line in said.splitlines():
        if mark := re.match(r'# \d+ "([^"]+)"', line):
            ours = Path(mark[1]).parent == HEADERS[0].parent
        elif ours:
            out.append(line)
    return "\n".join(out)


def _words(unit: Unit, f: Function) -> set[str]:
    t, known = unit.t, operations()
    return {
        t[i]
        for i in range(f.params[0], f.body[1])
        if _is_called(unit, i)
        and (t[i - 1] in GROUP or t[i] not in known.of_groups)
        and (t[i] in known.names or not _is_global(unit, i))
    }


def _is_global(unit: Unit, i: int) -> bool:
    """Whether a name is one of the global namespace, `::f`, where none of our functions is."""
    return unit.t[i - 1] == "::" and not (is_identifier(unit.t[i - 2]) or unit.t[i - 2] == ">")


def _is_called(unit: Unit, i: int) -> bool:
    """Whether brackets or `::` come after a name, maybe behind its template arguments: `Scope<A>& x` is a type only."""
    after = unit.angle_close(i + 1) + 1 if unit.t[i + 1] == "<" else i + 1
    return unit.tok(after) in ("(", "{") or (unit.t[i + 1] == "<" and unit.tok(after) in ("::", ""))


def test_every_function_of_our_headers(toolchain: Toolchain, tmp_path: Path) -> None:
    """A second way to the same names: over the preprocessed text, where no macro defines a function, each function
    that mentions one in which lanes wait, or a class whose call operator does."""
    unit = read(_text(toolchain, tmp_path), "all.cpp")
    says: dict[str, set[str]] = {}
    callables: set[str] = set()
    for f in unit.functions:
        name = f.name
        if name == "operator()":  # the class it is in: the last one that opened before
            heads = [i for i in unit.find("struct", "class") if i < f.first and unit.t[i - 1] not in ("<", ",")]
            name = unit.t[max(heads) + 1]
            callables.add(name)
        says.setdefault(name, set()).update(_words(unit, f))
    for i in unit.find("typedef"):
        k = unit.t.index(";", i)
        while unit.t[k - 1] == ")" and unit.t[unit.match[k - 1] - 1] == "__attribute__":
            k = unit.match[k - 1] - 1
        if classes := callables & set(unit.t[i : k - 1]):
            says.setdefault(unit.t[k - 1], set()).update(classes)
            callables.add(unit.t[k - 1])
    meet: set[str] = set()
    waits = operations().names | operations().of_groups - {"sync", "fold"}
    while more := {n for n, words in says.items() if not words.isdisjoint(waits | meet)} - meet:
        meet |= more
    reach = reached([read(h.read_text(), h.name) for h in HEADERS])
    assert {"reduce_add", "reduce_xor", "elect", "shfl", "syncwarp", "bar_sync"} <= meet
    assert meet - reach.calls - reach.callables - operations().of_groups == set()


CALLS: dict[str, tuple[str, Callable[[int], int]]] = {  # what a kernel says, and what CUDA's lane of 32 gives
    "any": ("any(~0u, lane == 20)", lambda lane: 1),
    "all": ("all(~0u, lane != 20)", lambda lane: 0),
    "ballot": ("ballot(~0u, lane & 1)", lambda lane: 0xAAAAAAAA),
    "activemask": ("activemask()", lambda lane: 0xFFFFFFFF),
    "elect": ("elect(~0u)", lambda lane: int(lane == 0)),
    "shfl": ("shfl(~0u, lane, 31 - lane)", lambda lane: 31 - lane),
    "shfl_up": ("shfl_up(~0u, lane, 4)", lambda lane: max(lane - 4, lane & 3) if lane >= 4 else lane),
    "shfl_down": ("shfl_down(~0u, lane, 4)", lambda lane: lane + 4 if lane < 28 else lane),
    "shfl_xor": ("shfl_xor(~0u, lane, 21)", lambda lane: lane ^ 21),
    "match_any": ("match_any(~0u, lane / 8)", lambda lane: 0xFF << (lane & 24)),
    "match_all": ("match_all(~0u, 7u, &p)", lambda lane: 0xFFFFFFFF),
    "reduce_add": ("reduce_add(~0u, lane)", lambda lane: 496),
    "reduce_min": ("reduce_min(~0u, lane + 3)", lambda lane: 3),
    "reduce_max": ("reduce_max(~0u, lane)", lambda lane: 31),
    "reduce_and": ("reduce_and(~0u, lane | 32)", lambda lane: 32),
    "reduce_or": ("reduce_or(~0u, lane)", lambda lane: 31),
    "reduce_xor": ("reduce_xor(~0u, lane + 7)", lambda lane: 32),
    "syncwarp": ("(syncwarp(~0u), lane)", lambda lane: lane),
}


def test_after_a_branch_for_some(simulated: Callable[..., simulate.Ran]) -> None:
    """Lanes that skip a branch wait at the function of `warp.hpp` after it, not inside it, for those that take it."""
    header = read((INCLUDE_DIR / "cu2port" / "warp.hpp").read_text(), "warp.hpp")
    assert {f.name for f in header.functions if f.name in reached([header]).calls} - set(CALLS) == {
        *"across by_words fold fold_32 read same_lanes vote".split()  # in `detail`
    }
    lines = [
        f"  if (lane < 16) b = ballot(0xffffu, lane & 1);\n  o[{32 * n} + lane] = {text} + (b >> 31);"
        for n, (text, _) in enumerate(CALLS.values())
    ]
    program = f"""#include <cu2port/warp.hpp>
#include <cstdio>
using namespace cu2port::warp;
__global__ void k(unsigned* o) {{
  unsigned lane = threadIdx.x % 32, b = 0;
  int p;
{chr(10).join(lines)}
}}
int main() {{
  static unsigned o[{32 * len(CALLS)}];
  hipLaunchKernelGGL(k, 1, 32, 0, 0, o);
  for (unsigned x : o) printf("%u ", x);
}}
"""
    for wave in (32, 64):
        ran = simulated(program, wave)
        assert ran.code == 0, ran.errors
        got = [int(x) for x in ran.output.split()]
        for n, (name, (_, want)) in enumerate(CALLS.items()):
            assert got[32 * n : 32 * n + 32] == [want(lane) for lane in range(32)], (name, wave)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("#define DEF(n) __device__ int n(int v) { return __shfl(v, 0); }\nDEF(lead)\n", "lead(x)"),
        ("#define DEF(n) __device__ int n##_all(int v) { return __shfl(v, 0); }\nDEF(lead)\n", "lead_all(x)"),
        (
            "struct F { __device__ int operator()(int v) const { return __shfl(v, 0); } };\n"
            "template <class G> __device__ int run(G g, int v) { return g(v); }\n",
            "run(F(), x)",
        ),
        (
            "template <class G> __device__ int run(G g, int v) { return g(v); }\n",
            "run([](int v) { return __shfl(v, 0); }, x)",
        ),
        ("__device__ int opt(int v = __shfl(1, 0)) { return v; }\n", "opt()"),
        (
            "struct F { template <int N> __device__ static int lead(int v) { return __shfl(v, N); } };\n",
            "F::template lead<0>(x)",
        ),
    ],
)
def test_functions_that_are_made(text: str, marked: str) -> None:
    """Functions that macros define, what is given a function object or a lambda, default arguments."""
    unit = read(f"{text}__global__ void k(int* o, int x) {{ o[0] = {marked}; }}\n", "a.hip")
    copy = instrument(unit, reached([unit]))
    assert re.search(rf"\(::cu2port_sim::At\(__COUNTER__\), {re.escape(marked.split('(')[0])}\(", copy), copy
    if "g(v)" in text:
        assert "At(__COUNTER__), g(v))" in copy


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("return (*x).template n<3>(v);", "return (At, (*x).template n<3>(v));"),
        ("return TYPE(x, v)::n(v);", "return (At, TYPE(x, v)::n(v));"),
        ("return decltype(v)::n(v);", "return (At, decltype(v)::n(v));"),
        ("if (v) ::n(v);", "if (v) (At, ::n(v));"),
        ("(void)::n(v);", "(void)(At, ::n(v));"),
        ("::new (static_cast<n*>(x)) n(v);", "::new (static_cast<n*>(x)) n(v);"),
        ("NOTHING(v == Op());", "NOTHING(v == Op());"),
    ],
)
def test_where_the_expression_of_a_call_begins(text: str, marked: str) -> None:
    """As templates of Eigen call members whose names a kernel's functions have too."""
    head = "struct Op { __device__ int operator()(int v) { return __shfl(v, 0); } };\n"
    head += "#ifdef CHECKED\n#define NOTHING(x) n(x)\n#else\n#define NOTHING(x)\n#endif\n"
    head += "#define TYPE(x, T) x##_impl<typename base<T>::type>\n__device__ int n(int v) { return __shfl(v, 0); }\n"
    unit = read(f"{head}template <class X, class V> int f(X* x, V v) {{ {text} }}\n", "a.hip")
    copy = instrument(unit, reached([unit])).replace("::cu2port_sim::At(__COUNTER__)", "At")
    assert f"{{ {marked} }}" in copy, copy


def test_a_member_that_a_constructor_sets_is_no_call() -> None:
    text = """__device__ int n(int v) { return __shfl(v, 0); }
#define MAKE(T) struct T { int m, n, at; __device__ T(int x) : m(x), n(x), at{x} {} };
MAKE(S)
__global__ void k(int* o, bool b) {
    struct L { int n; __device__ L(int x) : n(x) {} };
    o[0] = b ? 1 : n(S(2).n);
    o[1] = max(3, n(L(4).n));
}
"""
    unit = read(text, "a.hip")
    copy = instrument(unit, reached([unit]))
    assert copy.count("At(__COUNTER__), n(") == 2, copy  # those of k
