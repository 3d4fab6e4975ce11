#include <climits>
#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define LANES 32
#define HOST const int* in, int* out, float* f, int n, int c, int size
template <typename T> __device__ T warp_sum(T v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
static int over(int a, int b) { return (a + b - 1) / b; }
//// size_is_an_argument native
__global__ void size_is_an_argument(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_size_is_an_argument(HOST) {
    size_is_an_argument<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// no_guard native
__global__ void no_guard(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_no_guard(HOST) {
    no_guard<<<3, size>>>(in, out, f, n, c);
}
//// odd_guard native
__global__ void odd_guard(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row > n || row == 2) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_odd_guard(HOST) {
    odd_guard<<<3, size>>>(in, out, f, n, c);
}
//// before_the_guard native
__global__ void before_the_guard(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (lane == 0) atomicAdd(&out[1000], 1);
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_before_the_guard(HOST) {
    before_the_guard<<<(n * 32 + 255) / 256, 256>>>(in, out, f, n, c);
}
//// after_the_rows native
__global__ void after_the_rows(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row < n) {
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    }
    if (lane == 0) atomicAdd(&out[1000], 1);
}
void launch_after_the_rows(HOST) {
    after_the_rows<<<(n * 32 + 255) / 256, 256>>>(in, out, f, n, c);
}
//// other_names native
__global__ void other_names(const int* in, int* out, float* f, int n, int c) {
    const int tid = threadIdx.x, bid = blockIdx.x, threads = blockDim.x;
    const int warp = tid / 32, lane = tid & 31;
    const int row = bid * (threads / 32) + warp;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += LANES) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_other_names(HOST) {
    dim3 line(size); other_names<<<dim3(over(n, size / 32)), line>>>(in, out, f, n, c);
}
//// warps_as_a_number native
__global__ void warps_as_a_number(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, row = blockIdx.x * 6 + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_warps_as_a_number(HOST) {
    warps_as_a_number<<<2, 192>>>(in, out, f, n, c);
}
//// odd_warps_as_a_number native
__global__ void odd_warps_as_a_number(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, row = blockIdx.x * (96 / 32) + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_odd_warps_as_a_number(HOST) {
    const dim3 block(96, 1, 1); odd_warps_as_a_number<<<2, block>>>(in, out, f, n, c);
}
//// threads_as_a_number native
__global__ void threads_as_a_number(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, row = (blockIdx.x * 192 + threadIdx.x) >> 5;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_threads_as_a_number(HOST) {
    threads_as_a_number<<<2, 192>>>(in, out, f, n, c);
}
//// own_constant native
__global__ void own_constant(const int* in, int* out, float* f, int n, int c) {
    constexpr int width = 32;
    const int lane = threadIdx.x % width, row = (blockIdx.x * blockDim.x + threadIdx.x) / width;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += width) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    if (lane == 0) out[200 + row] = width;
}
void launch_own_constant(HOST) {
    own_constant<<<4, size>>>(in, out, f, n, c);
}
//// two_grids native
__global__ void two_grids(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i] + blockIdx.y;
    sum = warp_sum(sum);
    if (lane == 0) out[blockIdx.y * n + row] = sum * gridDim.y;
}
void launch_two_grids(HOST) {
    two_grids<<<dim3(over(n * 32, size), 3), size>>>(in, out, f, n, c);
}
//// stride_of_any_blocks native
__global__ void stride_of_any_blocks(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int row = blockIdx.x * (blockDim.x / 32) + warp; row < n; row += gridDim.x * (blockDim.x / 32)) {
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    }
}
void launch_stride_of_any_blocks(HOST) {
    stride_of_any_blocks<<<2, size>>>(in, out, f, n, c);
}
//// stride_and_each_warp native
__global__ void stride_and_each_warp(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int row = blockIdx.x * (blockDim.x / 32) + warp; row < n; row += gridDim.x * (blockDim.x / 32)) {
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    }
    if (lane == 0) atomicAdd(&out[1000], 1);
}
void launch_stride_and_each_warp(HOST) {
    stride_and_each_warp<<<2, 256>>>(in, out, f, n, c);
}
//// plane native
__global__ void plane(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane(HOST) {
    plane<<<over(n, 4), dim3(32, 4)>>>(in, out, f, n, c);
}
//// plane_by_size native
__global__ void plane_by_size(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += blockDim.x) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_by_size(HOST) {
    int rows = size / 32; dim3 block(LANES, rows); plane_by_size<<<over(n, rows), block>>>(in, out, f, n, c);
}
//// plane_without_guard native
__global__ void plane_without_guard(const int* in, int* out, float* f, int n, int c) {
    assert(blockDim.x == 32);
    const int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * blockDim.y + warp;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_plane_without_guard(HOST) {
    plane_without_guard<<<3, dim3(32, size / 32, 1)>>>(in, out, f, n, c);
}
//// plane_by_a_number native
__global__ void plane_by_a_number(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * 4 + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_by_a_number(HOST) {
    plane_by_a_number<<<2, dim3{32, 4}>>>(in, out, f, n, c);
}
//// plane_of_tiles native
__global__ void plane_of_tiles(const int* in, int* out, float* f, int n, int c) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    int sum = 0;
    for (int i = warp.thread_rank(); i < c; i += warp.size()) sum += in[row * c + i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0) out[row] = sum;
}
void launch_plane_of_tiles(HOST) {
    plane_of_tiles<<<3, dim3(32, size / 32)>>>(in, out, f, n, c);
}
//// plane_by_stride native
__global__ void plane_by_stride(const int* in, int* out, float* f, int n, int c) {
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < n; row += gridDim.x * blockDim.y) {
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
    }
}
void launch_plane_by_stride(HOST) {
    plane_by_stride<<<2, dim3(32, size / 32)>>>(in, out, f, n, c);
}
//// one_by_name native
__global__ void one_by_name(const int* in, int* out, float* f, int n, int c) {
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += blockDim.x) sum += in[blockIdx.x * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum + gridDim.x;
}
void launch_one_by_name(HOST) {
    const dim3 block(32, 1, 1); one_by_name<<<n, block>>>(in, out, f, n, c);
}
//// number_lent native
__global__ void number_lent(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
static void more(int& n) { n += 3; }
void launch_number_lent(HOST) {
    n = 5;
    int g = (n * 32 + 128 - 1) / 128;
    more(n);
    number_lent<<<g, 128>>>(in, out, f, n, c);
}
//// plane_of_16 stays
__global__ void plane_of_16(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_of_16(HOST) {
    plane_of_16<<<2, dim3(16, 4)>>>(in, out, f, n, c);
}
//// plane_of_unknown_width stays
__global__ void plane_of_unknown_width(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += blockDim.x) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_of_unknown_width(HOST) {
    plane_of_unknown_width<<<2, dim3(size > 32 ? 32 : size, 4)>>>(in, out, f, n, c);
}
//// cube stays
__global__ void cube(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_cube(HOST) {
    cube<<<2, dim3(32, 2, 2)>>>(in, out, f, n, c);
}
//// plane_of_other_rows stays
__global__ void plane_of_other_rows(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * 4 + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_of_other_rows(HOST) {
    plane_of_other_rows<<<2, dim3(32, 2)>>>(in, out, f, n, c);
}
//// plane_of_unknown_rows stays
__global__ void plane_of_unknown_rows(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * 4 + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_plane_of_unknown_rows(HOST) {
    plane_of_unknown_rows<<<2, dim3(32, size / 32)>>>(in, out, f, n, c);
}
//// plane_row_as_data stays
__global__ void plane_row_as_data(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
    if (threadIdx.x == 0) out[row + 200] = threadIdx.y;
}
void launch_plane_row_as_data(HOST) {
    plane_row_as_data<<<2, dim3(32, 4)>>>(in, out, f, n, c);
}
//// plane_rows_as_data stays
__global__ void plane_rows_as_data(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
    if (threadIdx.x == 0) out[row + 200] = blockDim.y;
}
void launch_plane_rows_as_data(HOST) {
    plane_rows_as_data<<<2, dim3(32, 4)>>>(in, out, f, n, c);
}
//// width_as_data stays
__global__ void width_as_data(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
    if (threadIdx.x == 0) out[row + 200] = blockDim.x;
}
void launch_width_as_data(HOST) {
    width_as_data<<<2, dim3(32, 4)>>>(in, out, f, n, c);
}
//// columns stays
__global__ void columns(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = warp_sum(in[row]);
    if (threadIdx.x == 0) out[blockIdx.x * blockDim.y + threadIdx.y] = sum;
}
void launch_columns(HOST) {
    columns<<<2, dim3(32, 4)>>>(in, out, f, n, c);
}
//// other_warps stays
__global__ void other_warps(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, row = blockIdx.x * 4 + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_other_warps(HOST) {
    other_warps<<<2, 192>>>(in, out, f, n, c);
}
//// two_numbers_of_warps stays
__global__ void two_numbers_of_warps(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, row = blockIdx.x * 6 + threadIdx.x / 32, other = blockIdx.x * 4 + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    if (lane == 0) atomicAdd(&out[200 + other], 1);
}
void launch_two_numbers_of_warps(HOST) {
    two_numbers_of_warps<<<2, 192>>>(in, out, f, n, c);
}
//// block_as_data stays
__global__ void block_as_data(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    if (lane == 0) out[row + 200] = blockIdx.x;
}
void launch_block_as_data(HOST) {
    block_as_data<<<2, 192>>>(in, out, f, n, c);
}
//// grid_as_data stays
__global__ void grid_as_data(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    if (lane == 0) out[row + 200] = gridDim.x;
}
void launch_grid_as_data(HOST) {
    grid_as_data<<<2, 192>>>(in, out, f, n, c);
}
//// threads_as_data stays
__global__ void threads_as_data(const int* in, int* out, float* f, int n, int c) {
    const int threads = blockDim.x;
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
    if (lane == 0) out[row + 200] = threads;
}
void launch_threads_as_data(HOST) {
    threads_as_data<<<2, 96>>>(in, out, f, n, c);
}
//// fixed_size stays
__global__ void __launch_bounds__(32) fixed_size(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] += sum + 1;
}
void launch_fixed_size(HOST) {
    fixed_size<<<3, dim3(32, 1)>>>(in, out, f, n, c);
}
//// counted_launches stays
__global__ void counted_launches(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_counted_launches(HOST) {
    int k = 1; counted_launches<<<2, 32 * ++k>>>(in, out, f, n, c); out[300] = k;
}
//// row_of_a_column stays
__global__ void row_of_a_column(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_row_of_a_column(HOST) {
    row_of_a_column<<<2, dim3(32, 4)>>>(in, out, f, n, c);
}
