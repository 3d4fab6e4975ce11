"""What compilers for AMD GPUs make of cu2port/warp.hpp and wave.hpp: how many instructions a function takes, against
HIP's plain builtins, and that they compile with HIP's own headers. docs/warp.md shows the counts (`pytest --update`
writes them).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from cu2port.project.tree import CannotRun
from cu2port.verify import toolchain

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "warp.md"
GPUS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
WAVE64 = ("gfx90a", "gfx942")

#: HIP's builtins without a mask, written down by what they compute: the same code comes out (a test holds them to it).
PLAIN = """
#define FN static inline __attribute__((device, always_inline))
FN int wave() { return __builtin_amdgcn_wavefrontsize(); }
FN unsigned __lane_id() {
    unsigned low = __builtin_amdgcn_mbcnt_lo(-1, 0);
    return wave() == 32 ? low : __builtin_amdgcn_mbcnt_hi(-1, low);
}
FN u64 __ballot(int p) { return __builtin_amdgcn_ballot_w64(p); }
FN u64 __activemask() { return __ballot(true); }
FN int move(int v, int lane) { return __builtin_amdgcn_ds_bpermute(lane << 2, v); }
FN int __shfl(int v, int lane, int width = wave()) {
    int self = __lane_id();
    return move(v, (lane & (width - 1)) + (self & ~(width - 1)));
}
FN int __shfl_up(int v, unsigned delta, int width = wave()) {
    int self = __lane_id(), from = self - delta;
    return move(v, from < (self & ~(width - 1)) ? self : from);
}
FN int __shfl_down(int v, unsigned delta, int width = wave()) {
    int self = __lane_id(), from = self + delta;
    return move(v, (int)((self & (width - 1)) + delta) >= width ? self : from);
}
FN int __shfl_xor(int v, int bits, int width = wave()) {
    int self = __lane_id(), from = self ^ bits;
    return move(v, from >= ((self + width) & ~(width - 1)) ? self : from);
}
"""

Rows = dict[str, tuple[str, str, str]]
Measured = dict[str, tuple[dict[str, int], dict[str, int]]]  # GPU -> instructions of the plain functions and of ours

#: Of warp.hpp: name -> (parameters, the plain expression, ours)
FUNCTIONS: Rows = {
    "ballot": ("int p", "__ballot(p)", "ballot(~0u, p)"),
    "ballot, some lanes": ("int p, unsigned m", "__ballot(p) & m", "ballot(m, p)"),
    "any": ("int p", "__ballot(p) != 0", "any(~0u, p)"),
    "all": ("int p", "__ballot(!p) == 0", "all(~0u, p)"),
    "activemask": ("", "__activemask()", "activemask()"),
    "lane id": ("", "__lane_id()", "lane_id()"),
    "match_any": ("int v, unsigned m", "(unsigned)(SAME(v) & m)", "match_any(m, v)"),
    "shfl": ("int v, int l", "__shfl(v, l)", "shfl(~0u, v, l)"),
    "shfl, width 8": ("int v, int l", "__shfl(v, l, 8)", "shfl(~0u, v, l, 8)"),
    "shfl from lane 0": ("int v", "__shfl(v, 0)", "shfl(~0u, v, 0)"),
    "shfl_up": ("int v, unsigned d", "__shfl_up(v, d)", "shfl_up(~0u, v, d)"),
    "shfl_up by 1": ("int v", "__shfl_up(v, 1)", "shfl_up(~0u, v, 1)"),
    "shfl_up by 2, width 8": ("int v", "__shfl_up(v, 2, 8)", "shfl_up(~0u, v, 2, 8)"),
    "shfl_up, width 8": ("int v, unsigned d", "__shfl_up(v, d, 8)", "shfl_up(~0u, v, d, 8)"),
    "shfl_down": ("int v, unsigned d", "__shfl_down(v, d)", "shfl_down(~0u, v, d)"),
    "shfl_down by 16": ("int v", "__shfl_down(v, 16)", "shfl_down(~0u, v, 16)"),
    "shfl_down by 2, width 8": ("int v", "__shfl_down(v, 2, 8)", "shfl_down(~0u, v, 2, 8)"),
    "shfl_down, width 8": ("int v, unsigned d", "__shfl_down(v, d, 8)", "shfl_down(~0u, v, d, 8)"),
    "shfl_xor": ("int v, int b", "__shfl_xor(v, b)", "shfl_xor(~0u, v, b)"),
    "shfl_xor by 1": ("int v", "__shfl_xor(v, 1)", "shfl_xor(~0u, v, 1)"),
    "shfl_xor by 16": ("int v", "__shfl_xor(v, 16)", "shfl_xor(~0u, v, 16)"),
    "shfl_xor by 8, width 16": ("int v", "__shfl_xor(v, 8, 16)", "shfl_xor(~0u, v, 8, 16)"),
    "shfl_xor, width 8": ("int v, int b", "__shfl_xor(v, b, 8)", "shfl_xor(~0u, v, b, 8)"),
    "sum of floats by xor": (
        "float x",
        "(SUM(x += as_float(__shfl_xor(as_int(x), o))), x)",
        "(SUM(x += cu2port::warp::shfl_xor(~0u, x, o)), x)",
    ),
}
#: Of wave.hpp, against loops by hand over the whole wavefront.
WAVE: Rows = {
    "size": ("", "wave()", "size()"),
    "count": ("unsigned n", "(int)((n + wave() - 1) / wave())", "count(n)"),
    "ballot": ("int p", "__ballot(p)", "ballot(p)"),
    "any": ("int p", "(int)(__ballot(p) != 0)", "any(p)"),
    "all": ("int p", "(int)(__ballot(!p) == 0)", "all(p)"),
    "popc": ("int p", "__builtin_popcountll(__ballot(p))", "popc(p)"),
    "sum of ints": ("int v", "(ALL(v += __shfl_xor(v, o)), v)", "sum(v)"),
    "sum of floats": ("float x", "(ALL(x += as_float(__shfl_xor(as_int(x), o))), x)", "sum(x)"),
    "sum of doubles": ("double x", "(ALL(x += wide(x, o)), x)", "sum(x)"),
    "max of ints": ("int v", "(ALL(v = Max()(v, __shfl_xor(v, o))), v)", "reduce(v, Max())"),
    "max of floats": ("float x", "(ALL(x = Max()(x, as_float(__shfl_xor(as_int(x), o)))), x)", "reduce(x, Max())"),
}
TABLES = {"warp": FUNCTIONS, "wave": WAVE}
#: What a table's functions may take more than the plain ones on wavefronts of 64 lanes. On 32 they may not take more.
SPARES = {"warp": 5, "wave": 0}
HELP = """
typedef unsigned long long u64;
#define SUM(step) ({ for (int o = 16; o > 0; o /= 2) step; })
#define ALL(step) ({ for (int o = __builtin_amdgcn_wavefrontsize() / 2; o > 0; o /= 2) step; })
#define SAME(v) ({ \\
    u64 same = 0; \\
    for (u64 rest = __activemask(); rest;) { \\
        int first = __builtin_ffsll(rest) - 1; \\
        u64 those = __ballot(v == __shfl(v, first)); \\
        if (those >> __lane_id() & 1) same = those; \\
        rest &= ~those; \\
    } \\
    same; })
struct Max {
    template <class T> __attribute__((device)) T operator()(T a, T b) const { return a < b ? b : a; }
};
static inline __attribute__((device)) float as_float(int x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
static inline __attribute__((device)) int as_int(float x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
"""
PLAIN_HELP = """
static inline __attribute__((device)) double wide(double x, int bits) {
    int words[2];
    __builtin_memcpy(words, &x, 8);
    for (int& word : words) word = __shfl_xor(word, bits);
    __builtin_memcpy(&x, words, 8);
    return x;
}
"""


def plain_functions(table: str) -> str:
    return PLAIN_HELP + _functions("p", [(parameters, plain) for parameters, plain, _ in TABLES[table].values()])


def our_functions(table: str) -> str:
    ours = [(p, o if o[0] == "(" else f"cu2port::{table}::{o}") for p, _, o in TABLES[table].values()]
    return HELP + _functions("o", ours)


def _functions(prefix: str, pairs: list[tuple[str, str]]) -> str:
    mark = '\nextern "C" __attribute__((device, used)) auto'
    return "".join(f"{mark} {prefix}{n}({p}) {{ return {e}; }}" for n, (p, e) in enumerate(pairs)) + "\n"


@cache
def compiler() -> toolchain.Compiler:
    try:
        found = toolchain.find("", GPUS, "/tmp")
    except CannotRun as e:
        pytest.skip(f"no compiler for AMD GPUs here: {e}")
    if found.kind == "wheels":
        pytest.skip("no compiler for AMD GPUs here: the wheels give no machine code")
    return found


def assembly(source: str, gpu: str, folder: Path, *flags: str) -> str:
    """What the compiler makes of the device side; without HIP's headers unless flags bring them."""
    path = folder / "code.hip"
    path.write_text(source)
    command = [*compiler().command, "-x", "hip", f"--offload-arch={gpu}", "-nogpulib", "-std=c++14", "-O2", "-S"]
    command += ["--cuda-device-only", f"-I{INCLUDE}", "-o", "-", *flags, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


BARE = ("-nogpuinc", "-D__HIPCC_RTC__", "-D__device__=__attribute__((device))")


def counts(text: str, table: str) -> dict[str, int]:
    """Function -> its instructions, those not counted that only wait or return."""
    names = list(TABLES[table])
    out = {}
    for number, body in re.findall(r"(?ms)^[po](\d+):.*?$(.*?)^\.Lfunc_end", text):
        words = re.findall(r"(?m)^\t([a-z]\w+)", body)
        out[names[int(number)]] = sum(
            not w.startswith(("s_waitcnt", "s_wait_", "s_nop", "s_delay", "s_setpc")) for w in words
        )
    assert list(out) == names
    return out


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    """For each table."""
    folder = tmp_path_factory.mktemp("code")
    return {
        table: {
            gpu: (
                counts(assembly(HELP + PLAIN + plain_functions(table), gpu, folder, *BARE), table),
                counts(assembly(f'#include "cu2port/{table}.hpp"\n{our_functions(table)}', gpu, folder, *BARE), table),
            )
            for gpu in GPUS
        }
        for table in TABLES
    }


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("gpu", GPUS)
def test_no_more_instructions(gpu: str, table: str, measured: dict[str, Measured]) -> None:
    plain, ours = measured[table][gpu]
    spare = SPARES[table] if gpu in WAVE64 else 0
    assert {name: (ours[name], plain[name]) for name in ours if ours[name] > plain[name] + spare} == {}
    if table == "warp":
        for name in ("shfl_xor by 1", "shfl_xor by 16", "shfl_xor by 8, width 16", "shfl from lane 0"):
            assert ours[name] == 1, name


def page_table(measured: Measured) -> str:
    """The counts as Markdown: plain / ours."""
    rows = ["| | " + " | ".join(GPUS) + " |", "|---|" + "---:|" * len(GPUS)]
    for name in measured[GPUS[0]][0]:
        rows.append(
            f"| {name} | " + " | ".join(f"{measured[g][0][name]} / {measured[g][1][name]}" for g in GPUS) + " |"
        )
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("table", TABLES)
def test_the_page_shows_the_counts(table: str, measured: dict[str, Measured], request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(f"<!-- counts: {table} -->\n")
    _, end, after = rest.partition("<!-- end of counts -->")
    assert begin
    assert end
    shown = page_table(measured[table])
    if request.config.getoption("--update"):
        PAGE.write_text(before + begin + shown + end + after, encoding="utf-8")
    elif "clang version 22." in compiler().version:  # other compilers make other code
        assert shown in text


# --- with HIP's own headers -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rocm() -> Path:
    """A folder with include/hip, share/hip/version and amdgcn/bitcode, as ROCm's."""
    root = os.environ.get("CU2PORT_TEST_ROCM", "")
    if not root:
        pytest.skip("no HIP headers: CU2PORT_TEST_ROCM is not set")
    if shutil.which("clang++-22") is None:
        pytest.skip("no clang++-22 here")
    return Path(root)


EVERYTHING = """#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include "cu2port/wave.hpp"
struct Point { float x, y; char c; };
enum Colour { red, green };
template <class T> __device__ void shuffles(T* p, int n) {
    namespace w = cu2port::warp;
    T v = p[threadIdx.x];
    v = w::shfl(0xffffffff, v, n, 16);
    v = w::shfl_up(0xffffffffu, v, 1);
    v = w::shfl_down(-1, v, n);
    v = w::shfl_xor(w::activemask(), v, 4);
    p[threadIdx.x] = v;
}
template <class T> __device__ void matches(T* p, unsigned* m) {
    int all;
    m[0] = cu2port::warp::match_any(~0u, p[0]);
    m[1] = cu2port::warp::match_all(~0u, p[0], &all) + all;
}
template <class T> __device__ void reductions(T* p) {
    using namespace cu2port::warp;
    p[1] = reduce_add(~0u, p[0]) + reduce_min(~0u, p[0]) + reduce_max(~0u, p[0]);
    p[2] = reduce_and(~0u, p[0]) + reduce_or(~0u, p[0]) + reduce_xor(~0u, p[0]);
}
template <class... T> __global__ void all_shuffles(int n, T*... p) { (shuffles(p, n), ...); }
template <class... T> __global__ void all_matches(unsigned* m, T*... p) { (matches(p, m), ...); }
template __global__ void all_shuffles(int, bool*, char*, short*, int*, unsigned*, long*, unsigned long*, long long*,
    unsigned long long*, float*, double*, __half*, __half2*, __hip_bfloat16*, __hip_bfloat162*, float4*, int2*, Point*,
    Colour*, void**);
template __global__ void all_matches(unsigned*, int*, unsigned*, long*, unsigned long*, long long*,
    unsigned long long*, float*, double*);
__global__ void others(int* i, unsigned* u) {
    namespace w = cu2port::warp;
    reductions(i);
    reductions(u);
    static_assert(w::size == 32, "");
    __shared__ int slots[1024 / w::size];
    slots[threadIdx.x / w::size] = w::any(~0u, i[5]) + w::all(~0u, i[6]) + w::any(i[7]) + w::all(i[8]);
    w::syncwarp();
    w::syncwarp(0xff);
    u[0] = w::ballot(~0u, i[0]) + w::ballot(i[1]) + w::lane_id() + w::lanemask_eq() + w::lanemask_lt() +
           w::lanemask_le() + w::lanemask_gt() + w::lanemask_ge() + w::elect(~0u) + slots[0];
}
template <class T> __device__ void whole(T* p) {
    p[1] = cu2port::wave::sum(p[0]);
    p[2] = cu2port::wave::reduce(p[0], [](T a, T b) { return a < b ? b : a; });
}
template <class... T> __global__ void all_whole(T*... p) { (whole(p), ...); }
template __global__ void all_whole(int*, unsigned*, long*, unsigned long*, long long*, unsigned long long*, float*,
    double*, __half*, __hip_bfloat16*);
__global__ void wave_votes(unsigned long long* u, const int* i) {
    namespace w = cu2port::wave;
    u[0] = w::ballot(i[0]) + w::any(i[1]) + w::all(i[2]) + w::popc(i[3]) + w::size() + w::count(blockDim.x);
}
int main() { return cu2port::warp::size; }
"""


@pytest.mark.parametrize("gpu", [*GPUS, "gfx1100 -mwavefrontsize64"])
def test_compiles_with_hip(rocm: Path, gpu: str, tmp_path: Path) -> None:
    """Every function on every type; also where a GPU that could do 32 lanes is built for 64. The host side once."""
    path = tmp_path / "everything.hip"
    path.write_text(EVERYTHING)
    arch, *flags = gpu.split()
    wave = "64" if arch in WAVE64 or flags else "32"
    command = ["clang++-22", "-x", "hip", f"--offload-arch={arch}", f"--rocm-path={rocm}", "-nogpulib", "-O1"]
    command += ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-isystem", str(rocm / "include"), f"-I{INCLUDE}"]
    command += [f"-D__AMDGCN_WAVEFRONT_SIZE={wave}", str(path), "-o"]
    for side in (("--cuda-device-only", *flags), ("--cuda-host-only",))[: 2 if gpu == "gfx942" else 1]:
        done = subprocess.run([*command, os.devnull, "-S", *side], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("table", TABLES)
def test_plain_functions_are_those_of_hip(rocm: Path, gpu: str, table: str, tmp_path: Path) -> None:
    text = plain_functions(table)
    own = counts(assembly(HELP + PLAIN + text, gpu, tmp_path, *BARE), table)
    flags = (f"--rocm-path={rocm}", "-D__AMDGCN_WAVEFRONT_SIZE=" + ("64" if gpu in WAVE64 else "32"))
    there = "#include <hip/hip_runtime.h>\n__device__ int wave() { return __builtin_amdgcn_wavefrontsize(); }\n"
    assert counts(assembly(there + HELP + text, gpu, tmp_path, *flags), table) == own


def test_plain_cpp_takes_the_size(tmp_path: Path) -> None:
    """Host code that no HIP compiler sees may ask for the size of a warp."""
    gcc = shutil.which("g++")
    if gcc is None:
        pytest.skip("no gcc for C++ here")
    path = tmp_path / "host.cpp"
    path.write_text('#include "cu2port/warp.hpp"\nint main() { return cu2port::warp::size - 32; }\n')
    command = [gcc, "-std=c++14", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", str(path), "-o", str(tmp_path / "p")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "p"], check=False).returncode == 0
