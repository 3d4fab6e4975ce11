"""tools/native_recall.py counts what could be native by other means than those that make it native."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from loading import load

TOOL = Path(__file__).resolve().parents[2] / "tools" / "native_recall.py"
SUM = """__device__ float block_sum(float v) {
  __shared__ float slots[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (lane == 0) slots[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? slots[lane] : 0;
  if (warp == 0) for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}
"""
HALF = "__global__ void halves(float* p) { p[threadIdx.x] += __shfl_xor_sync(0xffffffff, p[threadIdx.x], 8); }\n"


def test_counts(tmp_path: Path) -> None:
    module = load(TOOL)
    (tmp_path / "a.cu").write_text(SUM + HALF)
    (tmp_path / "b.cuh").write_text(SUM.replace("slots[warp] = v", "slots[warp + 1] = v"))
    (tmp_path / "c.cu").write_text("__global__ void plain(int* p) { *p = 1; }\n")
    done = CliRunner().invoke(module.main, [str(tmp_path), "--each"])
    assert done.exit_code == 0, done.output
    assert "\tblock, by a function\ta.cu\tblock_sum\tnative\n" in done.output
    assert " ".join(done.output.partition("block, by a function   ")[2].split()[:3]) == "1 of 2"
    assert "kernel, other                               0 of 1" in done.output
