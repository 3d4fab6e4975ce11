// Products of tiles by rocWMMA: halves into floats, bytes into integers; each wave has its own half of the columns.
#include <rocwmma/rocwmma.hpp>

#include <hip/hip_runtime.h>

#include <cstdio>

using namespace rocwmma;

template <class In, class Out>
__global__ void product(const In* a, const In* b, const Out* c, Out* d, int k) {
    const int wave = threadIdx.x / warpSize;
    fragment<accumulator, 16, 16, 16, Out> sum;
    load_matrix_sync(sum, c + 16 * wave, 32, mem_row_major);
    for (int i = 0; i < k; i += 16) {
        fragment<matrix_a, 16, 16, 16, In, row_major> x;
        fragment<matrix_b, 16, 16, 16, In, col_major> y;
        load_matrix_sync(x, a + i, k);
        load_matrix_sync(y, b + 16 * wave * k + i, k);
        mma_sync(sum, x, y, sum);
    }
    for (uint32_t i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
    store_matrix_sync(d + 16 * wave, sum, 32, mem_row_major);
}

template <class In, class Out>
int wrong() {
    const int k = 48;
    In *a, *b;
    Out *c, *d;
    static_cast<void>(hipMallocManaged(&a, 16 * k * sizeof *a));
    static_cast<void>(hipMallocManaged(&b, 32 * k * sizeof *b));
    static_cast<void>(hipMallocManaged(&c, 16 * 32 * sizeof *c));
    static_cast<void>(hipMallocManaged(&d, 16 * 32 * sizeof *d));
    for (int i = 0; i < 16 * k; ++i) a[i] = In(float(i % 7 - 3));
    for (int i = 0; i < 32 * k; ++i) b[i] = In(float(i % 5 - 2));
    for (int i = 0; i < 16 * 32; ++i) c[i] = Out(i % 11);
    int wave = 0;
    static_cast<void>(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0));
    product<In, Out><<<1, 2 * wave>>>(a, b, c, d, k);
    static_cast<void>(hipDeviceSynchronize());
    int out = 0;
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 32; ++column) {
            Out sum = c[row * 32 + column];
            for (int i = 0; i < k; ++i) sum += Out(float(a[row * k + i])) * Out(float(b[column * k + i]));
            out += d[row * 32 + column] != 2 * sum;
        }
    return out;
}

int main() {
    std::printf("halves: %d wrong\n", wrong<float16_t, float>());
    std::printf("bytes: %d wrong\n", wrong<int8_t, int32_t>());
}
