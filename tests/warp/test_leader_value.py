"""A leader's value that other lanes have not set: what is given a value, and that clang keeps the leader's branch."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit
from cu2port.warp.definite_assignment import unset_uses
from cu2port.warp.uninitialized import Candidate, find_candidates

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include"
_LEAD = "if (threadIdx.x % 32 == 0) base = atomicExch(n, 7);"
_TILE = "auto t = cg::tiled_partition<32>(cg::this_thread_block());"
#: form -> what it needs before the kernel, and the kernel's body
FORMS: dict[str, tuple[str, str]] = {
    "function": ("FN int f(int v) { return SHFL(v); }", f"int base; {_LEAD} o[threadIdx.x] = f(base);"),
    "template": ("template <class T> FN T f(T v) { return SHFL(v); }", f"int base; {_LEAD} o[threadIdx.x] = f(base);"),
    "method": (
        "struct W { FN int f(int v) { return SHFL(v); } };",
        f"W w; int base; {_LEAD} o[threadIdx.x] = w.f(base);",
    ),
    "two steps": (
        "__noinline__ FN int g(int v) { return SHFL(v); } FN int f(int v) { return g(v); }",
        f"int base; {_LEAD} o[threadIdx.x] = f(base);",
    ),
    "beside another": (
        "FN int f(int v) { return SHFL(v); }",
        f"int base, other[2] = {{1, 2}}, *q = n + other[0]; {_LEAD} o[threadIdx.x] = f(base) + *q;",
    ),
    "tile": (
        "",
        f"{_TILE} int base; if (t.thread_rank() == 0) base = atomicExch(n, 7); o[threadIdx.x] = t.shfl(base, 0);",
    ),
    "tile's vote": (
        "",
        f"{_TILE} int base; if (t.thread_rank() == 0) base = atomicExch(n, 7); o[threadIdx.x] = t.any(base);",
    ),
    "coalesced group": (
        "",
        "auto g = cg::coalesced_threads(); int base; if (g.thread_rank() == 0) base = atomicExch(n, 7); "
        "o[threadIdx.x] = g.shfl(base, 0);",
    ),
    "PTX": (
        'FN int f(int v) { int r; asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v)); '
        "return r; }",
        f"int base; {_LEAD} o[threadIdx.x] = f(base);",
    ),
    "lambda": ("", f"int base; {_LEAD} auto f = [](int v) {{ return SHFL(v); }}; o[threadIdx.x] = f(base);"),
    "member": (
        "struct S { int a, b; }; FN int f(int v) { return SHFL(v); }",
        "S s; if (threadIdx.x % 32 == 0) s.a = atomicExch(n, 7); o[threadIdx.x] = f(s.a);",
    ),
    "element": (
        "FN int f(int v) { return SHFL(v); }",
        "int a[2]; if (threadIdx.x % 32 == 0) a[0] = atomicExch(n, 7); o[threadIdx.x] = f(a[0]);",
    ),
    "result": (
        f"__noinline__ FN int f(int* n) {{ int base; {_LEAD} return base; }}",
        "o[threadIdx.x] = SHFL(f(n));",
    ),
    "loop": (
        "FN int f(int v) { return SHFL(v); }",
        f"int base; for (int i = 0; i < m; i++) {{ {_LEAD} o[threadIdx.x + i * 32] = f(base); }}",
    ),
    "switch": (
        "FN int f(int v) { return SHFL(v); }",
        "int base; switch (threadIdx.x % 32) { case 0: base = atomicExch(n, 7); break; default: break; } "
        "o[threadIdx.x] = f(base);",
    ),
    "sum": ("FN int f(int v) { return SHFL(v); }", f"int base; {_LEAD} o[threadIdx.x] = f(base + 1);"),
    "copy": ("FN int f(int v) { return SHFL(v); }", f"int base; {_LEAD} int other = base; o[threadIdx.x] = f(other);"),
    "pointer": (
        "FN int* f(int* v) { return (int*)SHFL((unsigned long long)v); }",
        "int* base; if (threadIdx.x % 32 == 0) base = n + atomicExch(n, 7); o[threadIdx.x] = *f(base);",
    ),
    "by pointer": (
        "FN void get(int* n, int* v) { *v = atomicExch(n, 7); } FN int f(int v) { return SHFL(v); }",
        "int base; if (threadIdx.x % 32 == 0) get(n, &base); o[threadIdx.x] = f(base);",
    ),
}
#: form -> an expression of a value that is not set, which stays so
TAKEN = {
    "shuffle": "__shfl_sync(~0u, base, 0)",
    "shuffle up": "__shfl_up_sync(~0u, base, 1)",
    "any": "__any_sync(~0u, base)",
    "all": "__all_sync(~0u, base)",
    "ballot": "__ballot_sync(~0u, base)",
    "any of old": "__any(base)",
    "ballot of old": "__ballot(base)",
    "match": "__match_any_sync(~0u, base)",
    "sum": "__reduce_add_sync(~0u, base)",
    "maximum": "__reduce_max_sync(~0u, base)",
}
_HEAD = (
    "#include <cuda_runtime.h>\n#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    "#define FN __device__\n#define SHFL(v) __shfl_sync(~0u, v, 0)\n"
)


def _program() -> str:
    text = _HEAD
    for k, (before, body) in enumerate(FORMS.values()):
        kernel = f'extern "C" __global__ void form{k}(int* n, int* o, int m) {{ {body} }}'
        text += f"namespace n{k} {{\n{before}\n{kernel}\n}}\n"
    for k, e in enumerate(TAKEN.values()):
        text += f'extern "C" __global__ void taken{k}(int* n, int* o) {{ int base; {_LEAD} o[threadIdx.x] = {e}; }}\n'
    return text


@pytest.mark.parametrize("form", FORMS)
def test_value_is_given(form: str) -> None:
    before, body = FORMS[form]
    result = translate(f"{_HEAD}{before}\n__global__ void k(int* n, int* o, int m) {{ {body} }}\n")
    found = [j for j in result.findings if j.finding.code == "CU319"]
    assert [j.outcome for j in found] == [Outcome.APPLIED]
    again = translate(result.output, Options(warp="flag"))
    assert not [j for j in again.findings if j.finding.code == "CU319"]


QUIET = {
    "both arms set it": "int v; if (lane == 0) v = 1; else v = 2; use(v);",
    "set before": "int v = 0; if (lane == 0) v = 1; use(v);",
    "read where it is set": "int v; if (lane == 0) v = n; if (lane == 0 && n > 1) use(v);",
    "the others have left": "int v; if (lane < n) v = n; else return; use(v);",
    "left before": "int v; if (lane >= n) return; v = n; use(v);",
    "all lanes or none": "int v; if (blockDim.x > 64) v = n; use(v);",
    "set in each turn": "int v; for (int i = 0; i < n; i++) { v = i; use(v); }",
    "a reference": "int v; if (n > 2) { } get(v); use(v);",
    "an object": "float4 v; if (lane == 0) v = make_float4(0, 0, 0, 0); use4(v);",
    "an array": "int v[4]; if (lane == 0) v[0] = n; get4(v);",
    "shared": "__shared__ int v; if (lane == 0) v = n; __syncthreads(); use(v);",
    "a store": "int v; if (lane == 0) v = n; o[lane] = v;",
    "a pointer's target": "int* v; v = o; if (lane == 0) v[0] = n; use(v[0]);",
    "a switch of all": "int v; switch (lane) { case 0: v = 1; break; default: v = 2; } use(v);",
}


@pytest.mark.parametrize("form", QUIET)
def test_quiet(form: str) -> None:
    text = f"__global__ void k(int* o, int n) {{\n  int lane = threadIdx.x % 32;\n  {QUIET[form]}\n}}\n"
    assert not [j for j in translate(text).findings if j.finding.code == "CU319"]


SET_FIRST = {
    "both arms": "int v; if (lane) v = 1; else v = 2; use(v);",
    "both arms in braces": "int v; if (lane) { v = 1; } else if (n) { n++; v = 2; } else { v = 3; use(v); } use(v);",
    "one after the other": "int v; if (lane) { v = 1; use(v); } if (n) { v = 2; use(v); }",
    "counts": "int v; for (v = 0; v < n; v++) use(v); for (v = 1; v < n; v++) { use(v); }",
    "in a loop": "int v; for (int i = 0; i < n; i++) { v = i; if (lane) v = 2; use(v); } v = 1; use(v);",
    "not passed on": "int v; if (lane) v = n; int w[2]; w[1] = v + 1; o[w[1]] += v; if (v > n) OTHER(v);",
    "behind a directive": "int v;\n#ifdef A\nn++;\n#endif\nif (lane) v = 1; else v = 2; use(v);",
}


@pytest.mark.parametrize("form", SET_FIRST)
def test_a_function_that_sets_all_first_is_not_read(form: str) -> None:
    unit = Unit(f"__global__ void k(int* o, int n, int lane) {{ {SET_FIRST[form]} }}\n", load_catalog())
    assert find_candidates(unit, unit.functions, frozenset()) == []


def _random_body(rng: random.Random, depth: int = 0) -> str:
    """Statements that set, read, and branch around a variable `v`."""

    def arm() -> str:
        return f"{{ {_random_body(rng, depth + 1)} }}" if rng.random() < 0.5 else simple()

    def simple() -> str:
        return rng.choice(
            ("v = 1;", "v = o[0];", "use(v);", "o[1] = v;", "n = v;", "v = v + 1;", "n++;", "get(&v);", "return;")
        )

    def statement() -> str:
        kind = rng.randrange(12 if depth < 3 else 6)
        if kind < 6:
            return simple()
        if kind < 9:
            return f"if (lane == {kind}) {arm()}" + (f" else {arm()}" if rng.random() < 0.6 else "")
        if kind == 9:
            return f"for ({rng.choice(('v = 0; v < n; v++', ';;', 'int i = 0; i < lane; i++'))}) {arm()}"
        if kind == 10:
            return rng.choice((f"while (lane) {arm()}", f"do {{ {arm()} }} while (lane);", f"{{ {arm()} }}"))
        return f"switch (lane) {{ case 0: {arm()} break; default: {arm()} }}"

    return " ".join(statement() for _ in range(rng.randint(1, 4)))


ENDS = (
    "use(v);",
    "use(v);",
    "return v;",
    "int w = v + 1; return w;",
    "int w = 2; w = v; use(w);",
    "o[1] = v;",
    "U(v);",
)


def test_no_function_with_a_finding_goes_unread() -> None:
    """What tokens tell is held against the analysis of all variables that have no value."""
    rng, found, unread = random.Random(5), 0, 0
    for _ in range(300):
        first = rng.choice(("v = 3;", "v = n; o[lane] = v;", f"{{ v = 4; {_random_body(rng)} }}"))
        body = f"int v; if (lane == 1) {{ {first} }} {_random_body(rng)} {rng.choice(ENDS)}"
        unit = Unit(f"__device__ void k(int* o, int n, int lane) {{ {body} }}\n", load_catalog())
        (f,) = unit.functions
        decl = unit.find("v")[0]
        whole = unset_uses(unit, Candidate(f, {decl}, set(unit.words)), frozenset())
        told = find_candidates(unit, (f,), frozenset())
        assert [h for g in told for h in unset_uses(unit, g, frozenset())] == whole, body
        found, unread = found + bool(whole), unread + (not told)
    assert found > 60 and unread > 20


def test_types() -> None:
    """What a variable is set to where it is declared."""
    text = """template <class T> __device__ void k(T* p, int lane) {
  unsigned long long a; const int *b, c; bool d; T e; volatile float g, h; typename X<T>::type i; int *q, r;
  if (lane == 0) { a = 1; b = 0; d = true; e = *p; g = 1; i = 2; r = 3; }
  use(a, b, d, e, g, i, r);
}
"""
    out = translate(text).output.decode()
    assert (
        "unsigned long long a = 0; const int *b = nullptr, c; bool d = false; T e{}; volatile float g = 0, h; " in out
    )
    assert "typename X<T>::type i{}; int *q, r = 0;" in out


def test_a_jump_over_it_is_reported() -> None:
    for inside in (
        "if (n) goto out; int v; if (lane == 0) v = n; use(v); out:;",
        "switch (n) { int v; case 0: if (lane == 0) v = n; use(v); }",
    ):
        text = f"__global__ void k(int n) {{ int lane = threadIdx.x % 32; {inside} }}\n"
        (found,) = [j for j in translate(text).findings if j.finding.code == "CU319"]
        assert found.open
        assert not found.finding.edits


def test_code_for_hip_is_left_alone() -> None:
    text = (
        "#ifdef __HIP_PLATFORM_AMD__\n__global__ void k(int* n, int* o) { int base; " + _LEAD + " f(base); }\n#endif\n"
    )
    assert "CU319" not in {j.finding.code for j in translate(text).findings}


def test_clang_keeps_the_branch(tmp_path: Path) -> None:
    """On gfx942, an exchange that one lane makes is not made by all."""
    root = os.environ.get("CU2PORT_TEST_ROCM", "")
    if not root:
        pytest.skip("no HIP headers: CU2PORT_TEST_ROCM is not set")
    if shutil.which("clang++-22") is None:
        pytest.skip("no clang++-22 here")
    result = translate(_program())
    path = tmp_path / "forms.hip"
    path.write_bytes(result.output)
    command = ["clang++-22", "-x", "hip", "--offload-arch=gfx942", f"--rocm-path={root}", "-nogpulib", "-O3", "-S"]
    command += ["--cuda-device-only", "-std=c++17", "-w", f"-I{INCLUDE}", "-isystem", f"{root}/include"]
    command += ["-D__AMDGCN_WAVEFRONT_SIZE=64", "-o", "-", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    alone = _by_all_lanes(done.stdout)
    names = {f"form{k}": n for k, n in enumerate(FORMS)} | {f"taken{k}": n for k, n in enumerate(TAKEN)}
    assert [names.get(n, n) for n in alone] == []


def _by_all_lanes(assembly: str) -> list[str]:
    """Functions in which lanes are not masked where the exchange is."""
    found = []
    for name, body in re.findall(r"(?ms)^(\w+):\s*; @\1$(.*?)^\.Lfunc_end", assembly):
        before, swap, _ = body.partition("atomic_swap")
        if swap and not re.search(r"s_and(?:n2)?_saveexec|s_and_b64 exec|s_mov_b64 exec", before):
            found.append(name)
    return found


def test_a_guarded_register_of_ptx_has_a_value() -> None:
    text = (
        '__global__ void k(unsigned* n, unsigned* o) { unsigned r; asm volatile("{ .reg .pred p; .reg .u32 t, q; '
        "mov.u32 q, %%laneid; setp.eq.u32 p, q, 0; @p atom.global.exch.b32 t, [%1], 7; prmt.b32 t, t, q, 0x3210; "
        'shfl.sync.idx.b32 %0, t, 0, 0x1f, 0xffffffff; }" : "=r"(r) : "l"(n) : "memory"); *o = r; }\n'
    )
    assert " t = {};" in translate(text).output.decode()


def test_all_variables_that_a_value_is_computed_from_are_set() -> None:
    """One conversion finds each of them: no other one is left for the next look."""
    text = (
        "__device__ int first(int v);\n"
        "__global__ void k(int* o, int lane) {\n  int a, b, c;\n"
        "  if (lane == 0) { a = o[0]; b = o[1]; c = o[2]; }\n"
        "  int d = a * 2 + c;\n  d = d + b;\n  o[2] = first(d);\n}\n"
    )
    result = translate(text.encode(), Options())
    assert b"int a = 0, b = 0, c = 0;" in result.output
