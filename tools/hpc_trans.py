"""HPCTransCompile's CUDA kernels, converted, beside their C twins: the same values at 32 and at 64 lanes.

    python tools/hpc_trans.py HPCTRANSEVAL [--only NAME]... [--first N] [--limit S]

HPCTRANSEVAL is the folder of that name in PJLAB-CHIP/HPCTransCompile. An entry of its three lists has the text of CUDA
kernels, of a C function that computes the same, and shapes. It has no launch. An entry is made into a program. Its
arrays are as long as the largest shape and half as long again, inputs are filled from a fixed seed, outputs with a
mark. The C function runs, then the kernel with `__launch_bounds__` threads a block and the fewest blocks that write
wherever the C function wrote. Of several kernels each must give one of the function's outputs, and each output comes
from one. All arrays are compared, outputs up to the last element that the C function wrote; floats may differ by 2^-13
of the value and 2^-16 of the largest one.

Entries in which kernels read what others wrote are counted and not tried: the lists do not say what each launch gets.
Exit: 0 when all that were tried pass, else 1.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import click

from cu2port.core.plain import one_line
from cu2port.project.tree import CannotRun
from cu2port.verify import simulate
from cu2port.verify.sim_build import Program, build
from cu2port.verify.sim_compiler import find_toolchain

LISTS = ("IndependentOperator", "ModelBuildingBlock", "ComputationGraph")
KERNEL = re.compile(
    r"__global__ void (?:__launch_bounds__\((\d+)\) )?(\w+)\(([^)]*)\) \{(.*?)^\}", re.MULTILINE | re.DOTALL
)
FUNCTION = re.compile(r"^void (\w+)\(([^)]*)\)", re.MULTILINE)
LOCAL = re.compile(r"^( +)((?:float|int|int32_t|bool) \w+\[\d+\];)", re.MULTILINE)  # some are too long for the stack
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

MAIN = r"""
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <cuda_runtime.h>
using std::max; using std::min;
namespace twin {
@TWIN@
}
@CUDA@
constexpr size_t kLength = @LENGTH@, kAll = kLength + kLength / 2 + 64;
constexpr int kArrays = @ARRAYS@;
const bool kWritten[] = {@WRITTEN@};
const bool kReal[] = {@REAL@};
const size_t kSizes[] = {@SIZES@};
const unsigned char kMark = 0xbd;  // of floats a small number that no kernel leaves
std::vector<std::vector<char>> first() {
    std::vector<std::vector<char>> out;
    uint64_t state = 88172645463325252ull;
    for (int a = 0; a < kArrays; ++a) {
        out.emplace_back(kAll * kSizes[a], static_cast<char>(kMark));
        if (kWritten[a]) continue;
        for (size_t i = 0; i < kAll; ++i) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            const float f = static_cast<float>(state >> 40) / (1 << 24) * 0.9f + 0.05f;
            const int32_t n = static_cast<int32_t>(state >> 33) & 1;
            if (kReal[a]) memcpy(&out[a][4 * i], &f, 4);
            else if (kSizes[a] == 4) memcpy(&out[a][4 * i], &n, 4);
            else out[a][i] = static_cast<char>(n);
        }
    }
    return out;
}
bool is_mark(const std::vector<char>& v, size_t i, size_t size) {
    for (size_t k = 0; k < size; ++k)
        if (v[i * size + k] != static_cast<char>(kMark)) return false;
    return true;
}
struct Kernel {
    void (*run)(unsigned blocks, dim3 block, void** p, int out);
    unsigned threads;
    bool plane;
};
@RUN@
const Kernel kKernels[] = {@KERNELS@};
const int kCount = sizeof kKernels / sizeof *kKernels;
std::vector<std::vector<char>> inputs, theirs, ours;
bool is_written(int a, int out) { return kWritten[a] && (kCount == 1 || a == out); }
bool launch(const Kernel& k, unsigned blocks, dim3 block, int out) {  // whether it wrote wherever the twin did
    ours = inputs;
    void* p[kArrays];
    for (int a = 0; a < kArrays; ++a) {
        cudaMalloc(&p[a], ours[a].size());
        cudaMemcpy(p[a], ours[a].data(), ours[a].size(), cudaMemcpyHostToDevice);
    }
    k.run(blocks, block, p, out);
    const cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) std::printf("launch: %s\n", cudaGetErrorString(e)), std::exit(2);
    for (int a = 0; a < kArrays; ++a) {
        cudaMemcpy(ours[a].data(), p[a], ours[a].size(), cudaMemcpyDeviceToHost);
        cudaFree(p[a]);
    }
    for (int a = 0; a < kArrays; ++a)
        for (size_t i = 0; is_written(a, out) && i < kAll; ++i)
            if (!is_mark(theirs[a], i, kSizes[a]) && is_mark(ours[a], i, kSizes[a])) return false;
    return true;
}
bool check(int out) {
    for (int a = 0; a < kArrays; ++a) {
        const std::vector<char>& wanted = is_written(a, out) || kCount == 1 ? theirs[a] : inputs[a];
        double largest = 0;
        size_t end = kAll;  // the last block goes past the twin's last element: kernels here ask for no length
        while (is_written(a, out) && end && is_mark(theirs[a], end - 1, kSizes[a])) --end;
        for (int pass = 0; pass < 2; ++pass)
            for (size_t i = 0; i < end; ++i) {
                const char *x = &wanted[i * kSizes[a]], *y = &ours[a][i * kSizes[a]];
                float t = 0, o = 0;
                if (kReal[a]) memcpy(&t, x, 4), memcpy(&o, y, 4);
                if (pass == 0) largest = std::isfinite(t) ? std::fmax(largest, std::fabs(t)) : largest;
                if (pass == 0 || memcmp(x, y, kSizes[a]) == 0 || (std::isnan(t) && std::isnan(o))) continue;
                if (kReal[a] && std::fabs(double(t) - o) <= std::fabs(t) * 0x1p-13 + largest * 0x1p-16) continue;
                return false;
            }
    }
    return true;
}
size_t count_written(int out) {
    size_t most = 0;
    for (int a = 0; a < kArrays; ++a) {
        size_t n = 0;
        for (size_t i = 0; is_written(a, out) && i < kAll; ++i) n += !is_mark(theirs[a], i, kSizes[a]);
        most = n > most ? n : most;
    }
    return most;
}
bool is_twin(const Kernel& k, dim3 block, int out, bool search) {
    const unsigned likely = static_cast<unsigned>((count_written(out) + k.threads - 1) / k.threads);
    if (!search) return launch(k, likely, block, out) && check(out);
    unsigned high = 1;
    while (!launch(k, high, block, out))
        if ((high *= 2) > 2 * kAll) return false;
    unsigned low = high / 2;
    while (low + 1 < high) {
        const unsigned middle = low + (high - low) / 2;
        (launch(k, middle, block, out) ? high : low) = middle;
    }
    return launch(k, high, block, out) && check(out);
}
bool used[kArrays];
bool has_twin(int number) {
    const Kernel& k = kKernels[number];
    for (int search = 0; search < 2; ++search)
        for (int at = 0; at < kArrays; ++at) {
            const int out = (at + number) % kArrays;
            if (!kWritten[out] || used[out]) continue;
            for (unsigned rows = 1; rows <= (k.plane ? k.threads : 1u) && k.threads % rows == 0; rows *= 2)
                if (is_twin(k, dim3(k.threads / rows, rows), out, search)) return used[out] = true;
            if (kCount == 1) break;
        }
    return false;
}
int main() {
    inputs = theirs = first();
    twin::@TWINNAME@(@HOST@);
    for (int a = 0; a < kArrays; ++a)
        if (kWritten[a] && theirs[a] == inputs[a]) return std::printf("the twin wrote nothing\n"), 3;
    for (int n = 0; n < kCount; ++n)
        if (!has_twin(n)) return std::printf("kernel %d: no number of blocks gives the twin's values\n", n), 1;
    std::printf("PASS\n");
}
"""


def parameters(text: str) -> list[tuple[str, str]]:
    """Type and name of each."""
    words = (x.replace("__restrict__", "").replace("const", "").split() for x in text.split(","))
    return [(" ".join(w[:-1]).rstrip("*").strip(), w[-1].lstrip("*")) for w in words]


def is_written(name: str, text: str) -> bool:
    return bool(re.search(rf"\b{name}\[[^;=]*\] *[-+*]?= ", text))


def run_text(number: int, kernel: tuple[str, ...], names: Sequence[str], inputs: Sequence[str], alone: bool) -> str:
    """A function that launches a kernel on the twin's arrays, by their names; what one of several writes is `out`."""
    _, name, text, body = kernel
    ours = parameters(text)
    if alone and {n for _, n in ours} != set(names):  # other names: the same order
        ours = [(t, n) for (t, _), n in zip(ours, names, strict=False)]
    written = [n for _, n in ours if is_written(n, body)]
    if alone and len(ours) != len(names):
        raise ValueError("other parameters than its twin")
    if not alone and (len(written) != 1 or any(n not in inputs for _, n in ours if n not in written)):
        raise ValueError("kernels that read what others wrote, whose launches the lists do not have")
    arguments = (f"({t}*)p[{names.index(n) if alone or n not in written else 'out'}]" for t, n in ours)
    return f"void run{number}(unsigned n, dim3 b, void** p, int out) {{ {name}<<<n, b>>>({', '.join(arguments)}); }}"


def program_text(entry: Mapping[str, Any]) -> str:
    """A program for an entry; raises ValueError with why there is none."""
    kernels = KERNEL.findall(entry["cuda_code"])
    functions = FUNCTION.findall(entry["c_code"])
    if len(functions) != 1 or len(kernels) != entry["cuda_code"].count("__global__") or not kernels:
        raise ValueError("no kernel with a twin of one function")
    if "blockIdx.y" in entry["cuda_code"]:
        raise ValueError("a grid of two axes")
    twin, theirs = functions[0][0], parameters(functions[0][1])
    names = [n for _, n in theirs]
    inputs = [n for n in names if not is_written(n, entry["c_code"])]
    alone = len(kernels) == 1
    if not alone and len(names) - len(inputs) != len(kernels):
        raise ValueError("kernels that read what others wrote, whose launches the lists do not have")
    shapes = [s for key in ("input_shape", "output_shape") for s in entry[key]]
    kinds = {n: t for t, n in theirs}
    planes = ("true" if "threadIdx.y" in body else "false" for *_, body in kernels)
    values = {
        "TWIN": LOCAL.sub(r"\1static \2", entry["c_code"]),
        "CUDA": entry["cuda_code"],
        "LENGTH": str(max(prod(s) for s in shapes if isinstance(s, list))),
        "ARRAYS": str(len(names)),
        "WRITTEN": ", ".join(str(n not in inputs).lower() for n in names),
        "REAL": ", ".join(str(kinds[n] == "float").lower() for n in names),
        "SIZES": ", ".join(f"sizeof({kinds[n]})" for n in names),
        "RUN": "\n".join(run_text(i, k, names, inputs, alone) for i, k in enumerate(kernels)),
        "KERNELS": ", ".join(
            f"{{run{i}, {k[0] or 1}, {p}}}" for i, (k, p) in enumerate(zip(kernels, planes, strict=True))
        ),
        "TWINNAME": twin,
        "HOST": ", ".join(f"({t}*)theirs[{k}].data()" for k, (t, _) in enumerate(theirs)),
    }
    return re.sub(r"@(\w+)@", lambda m: values[m[1]], MAIN)


def said(text: str, limit: float) -> dict[int, str]:
    """How a program ended at each wave size."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "kernel.cu"
        source.write_text(text)
        try:
            binaries = build(Program((source,)), Path(scratch), (32, 64), find_toolchain())
        except CannotRun as e:
            error = next((x for x in str(e).splitlines() if "error" in x), str(e))
            return dict.fromkeys((32, 64), f"does not build: {error[:200]}")
        out = {}
        for wave, binary in binaries.items():
            ran = simulate.run(binary, [], simulate.Limits(limit), capture=True)
            last = (ran.output + ran.errors).decode("utf-8", "replace").strip().rpartition("\n")[2]
            passes = ran.code == 0 and b"PASS" in ran.output
            out[wave] = "passes" if passes else "time limit" if ran.timed_out else f"{ran.code}: {last[:160]}"
        return out


def entries(root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in LISTS:
        for number, entry in enumerate(json.loads((root / f"{name}.json").read_text())):
            yield f"{name}/{number}-{entry['op_name']}", entry


@click.command(help=__doc__)
@click.argument("root", type=FOLDER)
@click.option("--only", multiple=True, help="A list, or an entry.")
@click.option("--first", type=int, default=1000, help="So many entries of those chosen.")
@click.option("--limit", type=float, default=60.0, help="Seconds for one run.")
def main(root: Path, only: tuple[str, ...], first: int, limit: float) -> None:
    passed = {32: 0, 64: 0}
    tried = 0
    others: Counter[str] = Counter()
    chosen = [(n, e) for n, e in entries(root) if not only or any(o in n for o in only)]
    for name, entry in chosen[:first]:
        try:
            text = program_text(entry)
        except ValueError as e:
            others[str(e)] += 1
            continue
        tried += 1
        for wave, how in said(text, limit).items():
            passed[wave] += how == "passes"
            print(one_line(f"{name}: wave {wave}: {how}"), flush=True)
    print(", ".join(f"{n} of {tried} pass at {wave} lanes" for wave, n in passed.items()))
    print("not tried: " + (", ".join(f"{n} {why}" for why, n in others.most_common()) or "none"))
    raise SystemExit(0 if min(passed.values()) == tried else 1)


if __name__ == "__main__":
    main()
