"""Thrust in simulated programs, from CCCL's headers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.verify import cccl, sim_compiler, simulate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(cccl.find_cccl() is None, reason="no CCCL headers here: pip install nvidia-cuda-cccl-cu12"),
]

PROGRAM = """
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/detail/util.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <thrust/system/cuda/memory.h>
#include <thrust/system/cuda/memory_resource.h>
#include <thrust/system/cuda/pointer.h>
#include <thrust/system/cuda/vector.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <vector>
static_assert(CHAR_BIT == 8, "HIP's header brings limits.h");

struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
struct Weight {
    __host__ __device__ float operator()(thrust::tuple<int, float> t) const {
        return thrust::get<0>(t) * thrust::get<1>(t);
    }
};
__global__ void warp_sums(const int* in, int* out) {
    int x = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = x;
}
__global__ void sorted_by_one_thread(int* p, int n) { thrust::sort(thrust::seq, p, p + n); }

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    thrust::device_vector<int> v(64), sums(2);
    thrust::sequence(v.begin(), v.end());
    warp_sums<<<1, 64, 0, stream>>>(thrust::raw_pointer_cast(v.data()), sums.data().get());
    thrust::host_vector<int> seen = sums;
    std::printf("%d %d\\n", seen[0], seen[1]);
    thrust::sort(thrust::cuda::par.on(stream), v.begin(), v.end(), thrust::greater<int>());
    int first[2];
    cudaMemcpy(first, thrust::raw_pointer_cast(v.data()), sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%d %d\\n", first[0], first[1]);
    sorted_by_one_thread<<<1, 1>>>(thrust::raw_pointer_cast(v.data()), 64);
    std::printf("%d %d\\n", (int)v[0], thrust::transform_reduce(v.begin(), v.end(), Square(), 0, thrust::plus<int>()));
    int *raw, last;
    cudaMalloc(&raw, 64 * sizeof(int));
    thrust::device_ptr<int> p(raw);
    thrust::exclusive_scan(thrust::device.on(stream), v.begin(), v.end(), p);
    cudaMemcpy(&last, raw + 63, sizeof last, cudaMemcpyDeviceToHost);
    thrust::device_vector<float> w(64, 0.5f), out(64);
    auto both = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), w.begin()));
    thrust::transform(both, both + 64, out.begin(), Weight());
    std::printf("%d\\n", thrust::cuda_cub::stream(thrust::cuda::par.on(stream)) == stream);
    try {
        std::printf("%d %g\\n", last, thrust::reduce(out.begin(), out.end()));
    } catch (thrust::system_error& e) {
        std::puts(e.what());
    }
    thrust::system_error error(cudaErrorInvalidValue, thrust::cuda_category(), "copy");
    std::puts(error.what());
    std::vector<int, thrust::cuda::experimental::pinned_allocator<int>> pinned(3, 7);
    pinned.push_back(8);
    cudaPointerAttributes where;
    cudaPointerGetAttributes(&where, pinned.data());
    thrust::cuda::universal_memory_resource managed;
    auto block = managed.allocate(4);
    *static_cast<int*>(thrust::raw_pointer_cast(block)) = pinned[3];
    std::printf("%d %d\\n", where.type == cudaMemoryTypeHost, *static_cast<int*>(thrust::raw_pointer_cast(block)));
    managed.deallocate(block, 4);
    thrust::cuda::vector<int> more(2, 5);
    thrust::cuda::pointer<int> own = thrust::cuda::malloc<int>(2);
    thrust::copy(more.begin(), more.end(), own);
    std::vector<int, thrust::cuda::universal_allocator<int>> shared(1, 3);
    cudaPointerGetAttributes(&where, thrust::raw_pointer_cast(own));
    std::printf("%d %d\\n", where.type == cudaMemoryTypeDevice, thrust::reduce(own, own + 2) + shared[0]);
    thrust::cuda::free(own);
    thrust::tuple<int, char> one(1, 'a'), two(2, 'b');
    thrust::swap(one, two);
    std::printf("%d%c\\n", thrust::get<0>(one), thrust::get<1>(two));
}
"""


@pytest.mark.parametrize("wave", [32, 64])
def test_algorithms_kernels_and_policies(wave: int, build: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text(PROGRAM)
    ran = simulate.run(build(tmp_path / "program.cu", wave), (), simulate.Limits(60), capture=True)
    squares, scanned = sum(i * i for i in range(64)), sum(range(63))
    wanted = f"{sum(range(32))} {sum(range(32, 64))}\n63 62\n0 {squares}\n1\n{scanned} {sum(range(64)) / 2:g}\n"
    wanted += "copy: hipErrorInvalidValue: invalid argument\n1 8\n1 13\n2a\n"
    assert (ran.code, ran.output.decode()) == (0, wanted), ran.errors


def test_flags_name_the_headers(toolchain: sim_compiler.Toolchain) -> None:
    assert str(cccl.find_cccl()) in toolchain.flags(64)
