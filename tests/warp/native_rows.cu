#include <climits>
#include <utility>
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
//// from_a_place native
__global__ void from_a_place(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const int first = in[row] % 7, last = c - in[row] % 5;
    int sum = 0;
    for (int i = first + lane; i < last; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_from_a_place(HOST) {
    from_a_place<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// up_to_a_place native
__global__ void up_to_a_place(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, i;
    for (i = lane; i <= c - 2; i += 32) sum += in[row * c + i];
    for (i = lane + 3; c > i; i += LANES) sum += in[i] * 2;
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_up_to_a_place(HOST) {
    up_to_a_place<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// in_fours native
__global__ void in_fours(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    float sum = 0.f;
    for (int i = lane * 4; i < 80; i += 32 * 4) {
        const float4 v = *reinterpret_cast<const float4*>(f + row * 80 + i);
        float4 w = v;
        w.x *= 2.f;
        sum += w.x + v.y + v.z + v.w;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = int(sum);
}
void launch_in_fours(HOST) {
    in_fours<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// in_fours_by_number native
__global__ void in_fours_by_number(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const int start = 4 * lane;
    int sum = 0;
    for (int i = start; i + 3 < c; i += 128) {
        int v[4];
        for (int j = 0; j < 4; j++) v[j] = in[row * c + i + j];
        #pragma unroll
        for (int j = 0; j < 4; j++) sum += v[j] * j;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_in_fours_by_number(HOST) {
    in_fours_by_number<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// while_there_is_more native
__global__ void while_there_is_more(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, i = lane;
    while (i < c) {
        if (in[i] % 3) sum += in[row * c + i];
        i += 32;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_while_there_is_more(HOST) {
    while_there_is_more<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// set_before native
__global__ void set_before(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, i = lane;
    for (; i < c; i += 32) sum -= in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_set_before(HOST) {
    set_before<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// one_lane_goes_on native
__global__ void one_lane_goes_on(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane != 0) return;
    out[row] = sum;
    atomicAdd(&out[1000], sum);
}
void launch_one_lane_goes_on(HOST) {
    one_lane_goes_on<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// own_function native
__device__ int twice(int v) { return v * 2; }
__device__ __forceinline__ int mixed(int v, const int w) {
    int got = v;
    for (int i = 0; i < 3; i++) got ^= twice(w) + i;
    if (got > 100) return got - 1;
    return got;
}
__global__ void own_function(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += mixed(in[row * c + i], row);
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_own_function(HOST) {
    own_function<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// by_choice native
__global__ void by_choice(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 0, least = INT_MAX, bits = 0, both = 0;
    for (int i = lane; i < c; i += 32) {
        const int x = in[row * c + i];
        most = x > most ? x : most;
        least = least < x ? least : x;
        bits |= x;
        both = x + both;
    }
    for (int o = 16; o > 0; o >>= 1) {
        most = max(most, __shfl_xor_sync(FULL, most, o));
        least = min(least, __shfl_xor_sync(FULL, least, o));
        bits |= __shfl_xor_sync(FULL, bits, o);
        both += __shfl_xor_sync(FULL, both, o);
    }
    if (lane == 0) { out[row] = most; out[20 + row] = least; out[40 + row] = bits; out[60 + row] = both; }
}
void launch_by_choice(HOST) {
    by_choice<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// products native
__global__ void products(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    float sum = 0.f;
    for (int i = lane; i < c; i += 32) sum = fmaf(f[i], f[row], sum);
    sum = warp_sum(sum);
    if (lane == 0) f[1500 + row] = sum;
}
void launch_products(HOST) {
    products<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// a_view native
__global__ void a_view(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    float sum = 0.f;
    for (int i = lane; i < 16; i += 32) {
        float4 v = reinterpret_cast<const float4*>(f)[row * 16 + i];
        float* x = reinterpret_cast<float*>(&v);
        for (int j = 0; j < 4; j++) x[j] = x[j] * 2.f;
        sum += x[0] + v.y;
        reinterpret_cast<float4*>(out + 1024)[row * 16 + i] = v;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = int(sum);
}
void launch_a_view(HOST) {
    a_view<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// written_and_read native
__global__ void written_and_read(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int* mine = out + 100 + row * c;
    int sum = 0;
    for (int i = lane; i < c; i += 32) mine[i] = in[row * c + i];
    for (int k = 0; k < 3; k++)
        for (int i = lane; i < c; i += 32) mine[i] += k;
    for (int i = lane; i < c; i += 32) sum += mine[i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_written_and_read(HOST) {
    written_and_read<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_by_lanes native
__global__ void held_by_lanes(const int* in, int* out, float* f, int n, int c) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int offset = row * c + threadIdx.x;
    in += offset;
    out += offset;
    int a[3], b[3];
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        int at = threadIdx.x + i * 32;
        if (at < c) {
            a[i] = in[i * 32];
            b[i] = a[i] * 2 + at;
            sum += a[i];
        }
    }
    sum = warp_sum(sum);
    for (int i = 0; i < 3; i++) {
        int at = threadIdx.x + i * 32;
        if (at < c) out[i * 32] = b[i] - sum + a[i];
    }
}
void launch_held_by_lanes(HOST) {
    held_by_lanes<<<3, dim3(32, size / 32)>>>(in, out, f, n, c);
}
//// held_even native
__global__ void held_even(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int most = 0;
    for (int i = 0; i < 2; i++) x[i] = in[row * 64 + i * LANES + lane];
    for (int i = 0; i < 2; i++) {
        x[i] ^= 5;
        most = max(most, x[i]);
    }
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    for (int i = 0; i < 2; i++) out[row * 64 + i * LANES + lane] = most - x[i];
}
void launch_held_even(HOST) {
    held_even<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_by_number native
template <int N> __global__ void held_by_number(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    float x[N];
    float sum = 0.f;
    #pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = threadIdx.x + i * 32 < c ? f[row * c + threadIdx.x + i * 32] : 0.f;
        sum += x[i];
    }
    sum = warp_sum(sum);
    #pragma unroll
    for (int i = 0; i < N; i++) {
        const int at = threadIdx.x + i * 32;
        if (at < c) out[100 + row * c + at] = int(x[i] - sum);
    }
    if (threadIdx.x == 0) out[row] = int(sum);
}
void launch_held_by_number(HOST) {
    held_by_number<1><<<1, dim3(32, size / 32)>>>(in, out, f, n, c); held_by_number<5><<<1, dim3(32, size / 32)>>>(in, out + 50, f, n, c);
}
//// without_arrays native
__global__ void without_arrays(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0; i < (c + 31) / 32; i++) {
        if (lane + 32 * i < c) sum += in[row * c + (lane + 32 * i)];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_without_arrays(HOST) {
    without_arrays<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_and_cut native
__global__ void held_and_cut(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0; i < 1; i++) {
        if (lane + 32 * i < c) sum += in[row * c + (lane + 32 * i)];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_and_cut(HOST) {
    held_and_cut<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// typical_spmv native
__global__ void typical_spmv(const int* in, int* out, float* f, int n, int c) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    int row = tid >> 5;
    int lane = tid & 31;
    if (row < n) {
        int sum = 0;
        for (int j = in[row] + lane; j < in[row] + c; j += 32) sum += in[j];
        sum = warp_sum(sum);
        if (lane == 0) out[row] = sum;
    }
}
void launch_typical_spmv(HOST) {
    typical_spmv<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// typical_stride native
__global__ void typical_stride(const int* in, int* out, float* f, int n, int c) {
    const unsigned mask = 0xffffffff;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warps = (blockDim.x * gridDim.x) / 32;
    for (int row = warp; row < n; row += warps) {
        int most = INT_MIN, found = 0;
        for (int i = lane; i < c; i += 32) {
            const int x = in[row * c + i];
            if (x > most) most = x;
            if (x % 3 == 0) found++;
        }
        for (int o = 16; o > 0; o >>= 1) {
            most = max(most, __shfl_xor_sync(mask, most, o));
            found += __shfl_xor_sync(mask, found, o);
        }
        if (lane == 0) out[row] = most * 1000 + found;
    }
}
void launch_typical_stride(HOST) {
    typical_stride<<<2, size>>>(in, out, f, n, c);
}
//// block_asked_for_sizes native
__global__ void block_asked_for_sizes(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int n0 = 0;
    if (row < n) for (int i = threadIdx.x; i < c; i += 32) n0 += in[row * c + i];
    n0 = warp_sum(n0);
    if (threadIdx.x == 0 && row < n) out[row] = n0;
}
void launch_block_asked_for_sizes(HOST) {
    dim3 rows_of_it(32, size / 32); block_asked_for_sizes<<<over(n, rows_of_it.y), rows_of_it>>>(in, out, f, n, c);
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
//// another_stride stays
__global__ void another_stride(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane * 4; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_another_stride(HOST) {
    another_stride<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// another_factor stays
__global__ void another_factor(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane * 4; i < c; i += 32 * 2) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_another_factor(HOST) {
    another_factor<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// unlike stays
__global__ void unlike(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i != lane + 96; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_unlike(HOST) {
    unlike<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// narrow stays
__global__ void narrow(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (unsigned char i = lane; i < 200; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_narrow(HOST) {
    narrow<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// narrow_by_name stays
typedef unsigned char small;
__global__ void narrow_by_name(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (small i = lane; i < 200; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_narrow_by_name(HOST) {
    narrow_by_name<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// bound_of_a_lane stays
__global__ void bound_of_a_lane(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c - lane; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_bound_of_a_lane(HOST) {
    bound_of_a_lane<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// left_over stays
__global__ void left_over(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, i = lane;
    for (; i < c; i += 32) sum += in[row * c + i];
    sum += i;
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_left_over(HOST) {
    left_over<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// place_after_a_place stays
__global__ void place_after_a_place(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int* mine = out + 100 + row * c;
    int sum = 0;
    for (int i = lane; i < c - 1; i += 32) mine[i] = in[i];
    __syncwarp();
    for (int i = lane + 1; i < c - 1; i += 32) sum += mine[i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_place_after_a_place(HOST) {
    place_after_a_place<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// moved_between stays
__global__ void moved_between(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int* mine = out + 100 + row * c;
    int sum = 0, first = 0;
    for (int i = lane; i < c - 1; i += 32) mine[first + i] = in[i];
    first += 32;
    for (int i = lane; i < c - 33; i += 32) sum += mine[first + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_moved_between(HOST) {
    moved_between<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// break_in_a_loop_in_a_loop stays
__global__ void break_in_a_loop_in_a_loop(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = lane; i < c; i += 32) {
            if (in[row * c + i] % 9 == 0) break;
            sum += in[row * c + i];
        }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_break_in_a_loop_in_a_loop(HOST) {
    break_in_a_loop_in_a_loop<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// return_in_a_stride stays
__global__ void return_in_a_stride(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int row = blockIdx.x * (blockDim.x / 32) + warp; row < n; row += gridDim.x * (blockDim.x / 32)) {
        int sum = 0;
        if (in[row] == 1) return;
        for (int i = lane; i < c; i += 32) sum += in[row * c + i];
        sum = warp_sum(sum);
        if (lane == 0) out[row] = sum;
    }
}
void launch_return_in_a_stride(HOST) {
    return_in_a_stride<<<1, 64>>>(in, out, f, n, c);
}
//// function_that_writes stays
__device__ int counted(int v, int* out) {
    atomicAdd(&out[1000], 1);
    return v;
}
__global__ void function_that_writes(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += counted(in[row * c + i], out);
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_function_that_writes(HOST) {
    function_that_writes<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// function_that_knows_lanes stays
__device__ int by_lane(int v) { return v * (threadIdx.x % 32); }
__global__ void function_that_knows_lanes(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += by_lane(in[row * c + i]);
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_function_that_knows_lanes(HOST) {
    function_that_knows_lanes<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// function_by_reference stays
__device__ int kept(int v, int& last) {
    int was = last;
    last = v;
    return was;
}
__global__ void function_by_reference(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, last = 0;
    for (int i = lane; i < c; i += 32) sum += kept(in[row * c + i], last);
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_function_by_reference(HOST) {
    function_by_reference<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// function_that_reads_what_is_written stays
__device__ int before(const int* x, int i) { return i >= 32 ? x[i - 32] : 0; }
__global__ void function_that_reads_what_is_written(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int* mine = out + 100 + row * c;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        sum += before(mine, i);
        mine[i] = in[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_function_that_reads_what_is_written(HOST) {
    function_that_reads_what_is_written<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// function_that_keeps stays
__device__ int calls;
__device__ int numbered(int v) {
    calls = 1;
    return v + calls;
}
__global__ void function_that_keeps(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += numbered(in[row * c + i]);
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_function_that_keeps(HOST) {
    function_that_keeps<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// less_of_more stays
__global__ void less_of_more(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 0;
    for (int i = lane; i < c; i += 32) most = in[i] > most ? in[i] + 1 : most;
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most;
}
void launch_less_of_more(HOST) {
    less_of_more<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// least_reduced_as_most stays
__global__ void least_reduced_as_most(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 50;
    for (int i = lane; i < c; i += 32) most = in[i] < most ? in[i] : most;
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most;
}
void launch_least_reduced_as_most(HOST) {
    least_reduced_as_most<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// xor_of_bools stays
__global__ void xor_of_bools(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    bool odd = false;
    for (int i = lane; i < c; i += 32) odd ^= in[i];
    for (int o = 16; o > 0; o >>= 1) odd ^= __shfl_xor_sync(FULL, odd, o);
    if (lane == 0) out[row] = odd;
}
void launch_xor_of_bools(HOST) {
    xor_of_bools<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// pointer_by_name stays
typedef int* pointer;
__global__ void pointer_by_name(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        pointer p = out + 1000;
        p[0] = 1;
        sum += in[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_pointer_by_name(HOST) {
    pointer_by_name<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// pointers_in_an_array stays
__global__ void pointers_in_an_array(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        int* p[2] = {out + 1000, out + 1001};
        p[1][0] = 1;
        sum += in[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_pointers_in_an_array(HOST) {
    pointers_in_an_array<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// view_moved stays
__global__ void view_moved(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        int v[2] = {1, 2};
        int* p = v;
        p = out + 1000;
        p[1] = 1;
        sum += in[i] + v[0];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_view_moved(HOST) {
    view_moved<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// one_lane_goes_on_in_a_branch stays
__global__ void one_lane_goes_on_in_a_branch(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    if (row > 3) {
        if (lane != 0) return;
        out[row] = 1;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_one_lane_goes_on_in_a_branch(HOST) {
    one_lane_goes_on_in_a_branch<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// all_but_one_go_on stays
__global__ void all_but_one_go_on(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) return;
    atomicAdd(&out[row], sum);
}
void launch_all_but_one_go_on(HOST) {
    all_but_one_go_on<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// wraps_round stays
__global__ void wraps_round(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (unsigned i = lane; i - 3 < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_wraps_round(HOST) {
    wraps_round<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// bound_that_is_gathered stays
__global__ void bound_that_is_gathered(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int least = c;
    for (int i = lane; i < least; i += 32) least = min(least, in[row * c + i]);
    for (int o = 16; o > 0; o >>= 1) least = min(least, __shfl_xor_sync(FULL, least, o));
    if (lane == 0) out[row] = least;
}
void launch_bound_that_is_gathered(HOST) {
    bound_that_is_gathered<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// narrow_by_a_cast stays
__global__ void narrow_by_a_cast(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (auto i = (unsigned char)lane; i < 200; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_narrow_by_a_cast(HOST) {
    narrow_by_a_cast<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// narrow_by_a_macro stays
#define TINY unsigned char
__global__ void narrow_by_a_macro(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (TINY i = lane; i < 200; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_narrow_by_a_macro(HOST) {
    narrow_by_a_macro<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// constant_of_another_block stays
__global__ void constant_of_another_block(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    {
        const int w = 32;
        sum = w - 32;
    }
    {
        int w = n + 53;
        sum = 0;
        for (int i = lane; i < c; i += w) sum += in[row * c + i];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_constant_of_another_block(HOST) {
    constant_of_another_block<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// constant_inside stays
__global__ void constant_inside(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0, w = n + 53;
    {
        const int w = 32;
        sum = w - 32;
    }
    sum = 0;
    for (int i = lane; i < c; i += w) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_constant_inside(HOST) {
    constant_inside<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// type_of_another_block stays
__global__ void type_of_another_block(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    {
        float sum = 0.f;
        sum = n;
    }
    for (int i = lane; i < c; i += 32) sum += f[i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_type_of_another_block(HOST) {
    type_of_another_block<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// fours_of_one stays
__global__ void fours_of_one(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x, row = blockIdx.x * 4 + threadIdx.x / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_fours_of_one(HOST) {
    fours_of_one<<<5, 32>>>(in, out, f, n, c);
}
//// member_that_refers stays
struct place { int& at; };
__global__ void member_that_refers(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) {
        place p = {out[1000]};
        p.at = 1;
        sum += in[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_member_that_refers(HOST) {
    member_that_refers<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_number_as_data stays
__global__ void held_number_as_data(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0; i < 2; i++) { sum += in[lane + i * 32] * i; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_number_as_data(HOST) {
    held_number_as_data<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_elsewhere stays
__global__ void held_elsewhere(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) { x[i] = in[lane + i * 32]; }
    sum = x[0];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_elsewhere(HOST) {
    held_elsewhere<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_of_another stays
__global__ void held_of_another(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) { x[i] = in[lane + i * 32]; }
    for (int i = 0; i < 2; i++) { sum += x[i] + in[lane + i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_of_another(HOST) {
    held_of_another<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_in_another_order stays
__global__ void held_in_another_order(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) { x[i] = in[lane + i * 32]; }
    for (int i = 0; i < 2; i++) { sum += x[1 - i] * in[lane + i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_in_another_order(HOST) {
    held_in_another_order<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_in_pairs stays
__global__ void held_in_pairs(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0; i < 2; i++) { sum += in[lane * 2 + i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_in_pairs(HOST) {
    held_in_pairs<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_side_by_side stays
__global__ void held_side_by_side(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) { x[i] = in[lane * 2 + i]; }
    for (int i = 0; i < 2; i++) { sum += x[i]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_side_by_side(HOST) {
    held_side_by_side<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_from_one stays
__global__ void held_from_one(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 1; i < 3; i++) { sum += in[lane + i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_from_one(HOST) {
    held_from_one<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_sum_of_sums stays
__global__ void held_sum_of_sums(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int sum = 0;
    for (int i = 0; i < 2; i++) { x[i] = in[lane + i * 32]; }
    for (int i = 0; i < 2; i++) { sum += warp_sum(x[i]); }
    if (lane == 0) out[row] = sum;
}
void launch_held_sum_of_sums(HOST) {
    held_sum_of_sums<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_for_a_branch stays
__global__ void held_for_a_branch(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    if (row > 2) for (int i = 0; i < 3; i++) { if (lane + i * 32 < c) sum += in[lane + i * 32]; }
    else sum = 0;
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_for_a_branch(HOST) {
    held_for_a_branch<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_and_left stays
__global__ void held_and_left(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0; i < 3; i++) { if (in[lane + i * 32] == 5) break; sum += in[lane + i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_and_left(HOST) {
    held_and_left<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_and_changed stays
__global__ void held_and_changed(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int x[2];
    int sum = 0, k = 2;
    for (int i = 0; i < 2; i++) { x[i] = in[lane + i * 32]; }
    for (int i = 0; i < k; i++) { sum += x[i] + in[lane + i * 32]; k = 1; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_and_changed(HOST) {
    held_and_changed<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// block_swapped stays
__global__ void block_swapped(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] = sum;
}
void launch_block_swapped(HOST) {
    dim3 swapped(32, 16); std::swap(swapped.x, swapped.y); block_swapped<<<2, swapped>>>(in, out, f, n, c);
}
//// block_set_later stays
__global__ void block_set_later(const int* in, int* out, float* f, int n, int c) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] = sum;
}
void launch_block_set_later(HOST) {
    dim3 later(32, 2); later.x = 16; block_set_later<<<2, later>>>(in, out, f, n, c);
}
//// mask_that_changes stays
__global__ void mask_that_changes(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    unsigned mask = 0xffffffff;
    mask &= 0xffff;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(mask, sum, o);
    if (lane == 0) out[row] = sum;
}
void launch_mask_that_changes(HOST) {
    mask_that_changes<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// mask_of_another_block stays
__global__ void mask_of_another_block(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    { const unsigned mask = 0xffffffff; sum = mask & 0; }
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    unsigned mask = c > 5 ? 0xffffffff : 0xffff;
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(mask, sum, o);
    if (lane == 0) out[row] = sum;
}
void launch_mask_of_another_block(HOST) {
    mask_of_another_block<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// size_that_changes stays
__global__ void size_that_changes(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int step = 32, sum = 0;
    step += n - 11;
    for (int i = lane; i < c; i += step) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_size_that_changes(HOST) {
    size_that_changes<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// size_by_reference stays
__global__ void size_by_reference(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int step = 32, sum = 0;
    int& same = step;
    same = 16;
    for (int i = lane; i < c; i += step) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_size_by_reference(HOST) {
    size_by_reference<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// choice_with_more stays
__global__ void choice_with_more(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 0;
    for (int i = lane; i < c; i += 32) if (in[i] > most) most = in[i] / 2;
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most;
}
void launch_choice_with_more(HOST) {
    choice_with_more<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// choice_and_place stays
__global__ void choice_and_place(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 0, where = 0;
    for (int i = lane; i < c; i += 32) if (in[i] > most) { most = in[i]; where = i; }
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most + where;
}
void launch_choice_and_place(HOST) {
    choice_and_place<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// count_used_inside stays
__global__ void count_used_inside(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int found = 0;
    for (int i = lane; i < c; i += 32) { found++; out[100 + row * c + i] = found; }
    found = warp_sum(found);
    if (lane == 0) out[row] = found;
}
void launch_count_used_inside(HOST) {
    count_used_inside<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// total_as_data stays
__global__ void total_as_data(const int* in, int* out, float* f, int n, int c) {
    const int warps = (blockDim.x * gridDim.x) / 32;
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum + warps;
}
void launch_total_as_data(HOST) {
    total_as_data<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// most_in_a_char stays
__global__ void most_in_a_char(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    unsigned char most = 0;
    for (int i = lane; i < c; i += 32) if (in[i] * 7 > most) most = in[i] * 7;
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most;
}
void launch_most_in_a_char(HOST) {
    most_in_a_char<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// most_of_wide stays
__global__ void most_of_wide(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int most = 0;
    for (int i = lane; i < c; i += 32) {
        const long long x = in[i] * 3000000000LL;
        most = max((long long)most, x);
    }
    for (int o = 16; o > 0; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
    if (lane == 0) out[row] = most;
}
void launch_most_of_wide(HOST) {
    most_of_wide<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// sum_of_a_bool stays
__global__ void sum_of_a_bool(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    bool sum = false;
    for (int i = lane; i < c; i += 32) sum += in[i] % 2 - 1;
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
    if (lane == 0) out[row] = sum;
}
void launch_sum_of_a_bool(HOST) {
    sum_of_a_bool<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_place_that_moves stays
__global__ void held_place_that_moves(const int* in, int* out, float* f, int n, int c) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        int at = threadIdx.x + i * 32;
        for (; at < 70; at++) out[100 + row * c + at] = 1;
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) out[row] = sum;
}
void launch_held_place_that_moves(HOST) {
    held_place_that_moves<<<2, dim3(32, 2)>>>(in, out, f, n, c);
}
//// pointer_of_a_lane stays
__global__ void pointer_of_a_lane(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const int* x = in + row * c + lane;
    int sum = 0;
    for (int i = 0; i < 2; i++) { sum += x[i * 32] + x[0]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_pointer_of_a_lane(HOST) {
    pointer_of_a_lane<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// pointer_of_two_lanes stays
__global__ void pointer_of_two_lanes(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const int* x = in + row * c + lane;
    int sum = 0;
    x += lane;
    for (int i = 0; i < 2; i++) { sum += x[i * 32]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_pointer_of_two_lanes(HOST) {
    pointer_of_two_lanes<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// held_after_a_store stays
__global__ void held_after_a_store(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int* mine = out + 100 + row * 64;
    int sum = 0;
    for (int i = 0; i < 2; i++) { mine[lane + i * 32] = in[lane + i * 32]; }
    __syncwarp();
    for (int i = 0; i < 2; i++) { sum += mine[(lane + i * 32 + 1) % 64]; }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_held_after_a_store(HOST) {
    held_after_a_store<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// lane_in_a_bool stays
__global__ void lane_in_a_bool(const int* in, int* out, float* f, int n, int c) {
    const bool lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * blockDim.y + warp;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] += sum + 1;
}
void launch_lane_in_a_bool(HOST) {
    lane_in_a_bool<<<3, dim3(32, 2, 1)>>>(in, out, f, n, c);
}
//// lane_cast_to_bool stays
__global__ void lane_cast_to_bool(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x, warp = (bool)threadIdx.y;
    int row = blockIdx.x * blockDim.y + warp;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_lane_cast_to_bool(HOST) {
    lane_cast_to_bool<<<3, dim3(32, 4, 1)>>>(in, out, f, n, c);
}
//// threads_in_a_char stays
__global__ void threads_in_a_char(const int* in, int* out, float* f, int n, int c) {
    const unsigned char thread = threadIdx.x;
    const int lane = thread % 32, row = blockIdx.x * (blockDim.x / 32) + thread / 32;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row + i];
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(&out[row], sum);
}
void launch_threads_in_a_char(HOST) {
    threads_in_a_char<<<1, 512>>>(in, out, f, n, c);
}
//// wraps_round_by_a_name stays
__global__ void wraps_round_by_a_name(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const int less = in[0] - 4;
    int sum = 0;
    for (unsigned i = lane; i + less < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
}
void launch_wraps_round_by_a_name(HOST) {
    wraps_round_by_a_name<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// one_lane_goes_on_for_some_rows stays
__global__ void one_lane_goes_on_for_some_rows(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    if (row > 3) {
        if (lane != 0) return;
        out[row] = sum;
    }
    atomicAdd(&out[50 + row], 1);
}
void launch_one_lane_goes_on_for_some_rows(HOST) {
    one_lane_goes_on_for_some_rows<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// gathers_unsigned stays
template <typename T> __device__ T own_max_e(T v) { for (int o = 16; o > 0; o >>= 1) { T w = __shfl_xor_sync(FULL, v, o); v = v > w ? v : w; } return v; }
__global__ void gathers_unsigned(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int v = 0;
    for (int i = lane; i < c; i += 32) v = max((unsigned)v, (unsigned)(i == 5 ? 5 : i == 37 ? -1 : 0));
    v = own_max_e(v);
    if (lane == 0) out[row] = v;
}
void launch_gathers_unsigned(HOST) {
    gathers_unsigned<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// chooses_unsigned stays
template <typename T> __device__ T own_max_d(T v) { for (int o = 16; o > 0; o >>= 1) { T w = __shfl_xor_sync(FULL, v, o); v = v > w ? v : w; } return v; }
__global__ void chooses_unsigned(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    int v = -1000;
    for (int i = lane; i < c; i += 32) { unsigned x = (i == 5 ? 5 : i == 37 ? 0xffffffffu : 0); v = x > v ? x : v; }
    v = own_max_d(v);
    if (lane == 0) out[row] = v;
}
void launch_chooses_unsigned(HOST) {
    chooses_unsigned<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// loads_before stays
__global__ void loads_before(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    for (int i = lane; i < c; i += 32) out[row * 110 + i + 32] = __ldcg(out + row * 110 + i) + in[i];
    int z = 0;
    for (int i = lane; i < c; i += 32) z += in[row * c + i];
    z = warp_sum(z);
    if (lane == 0) f[row] = z;
}
void launch_loads_before(HOST) {
    loads_before<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// stores_past stays
__global__ void stores_past(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    for (int i = lane; i < c; i += 32) { __stcg(out + row * 110 + i + 32, __ldcg(out + row * 110 + i) + in[i]); }
    int z = 0;
    for (int i = lane; i < c; i += 32) z += in[row * c + i];
    z = warp_sum(z);
    if (lane == 0) f[row] = z;
}
void launch_stores_past(HOST) {
    stores_past<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// pointer_added_last stays
__global__ void pointer_added_last(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    for (int i = lane; i < c; i += 32) out[row * 110 + i + 32] = *(row * 110 + i + out) + 1;
    int z = 0;
    for (int i = lane; i < c; i += 32) z += in[row * c + i];
    z = warp_sum(z);
    if (lane == 0) f[row] = z;
}
void launch_pointer_added_last(HOST) {
    pointer_added_last<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
//// number_indexed stays
__global__ void number_indexed(const int* in, int* out, float* f, int n, int c) {
    const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    for (int i = lane; i < c; i += 32) out[row * 110 + i + 32] = (row * 110 + i)[out] + 1;
    int z = 0;
    for (int i = lane; i < c; i += 32) z += in[row * c + i];
    z = warp_sum(z);
    if (lane == 0) f[row] = z;
}
void launch_number_indexed(HOST) {
    number_indexed<<<over(n * 32, size), size>>>(in, out, f, n, c);
}
