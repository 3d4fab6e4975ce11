// nvcuda::wmma: every shape, type and layout against a triple loop. Each line of output is a case and its wrong elements.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <type_traits>

namespace nvcuda {  // a project's own declaration
namespace wmma {
namespace precision {
struct tf32;
}
}  // namespace wmma
}  // namespace nvcuda

using namespace nvcuda;
namespace sub = nvcuda::wmma::experimental;

constexpr int kPad = 16;  // elements between the end of a row and the next

// What a matrix of these elements is in memory, and its elements as numbers.
template <class T> struct In {
    typedef T memory;
    static constexpr int per = 1;
};
template <> struct In<wmma::precision::tf32> {
    typedef float memory;
    static constexpr int per = 1;
};
template <int Bits, bool Sign> struct Packed {
    typedef unsigned memory;
    static constexpr int per = 32 / Bits;
    static int at(const unsigned* p, int i) {
        const int x = p[i / per] >> (i % per * Bits) & ((1u << Bits) - 1);
        return Sign && x >> (Bits - 1) ? x - (1 << Bits) : x;
    }
};
template <> struct In<sub::precision::s4> : Packed<4, true> {};
template <> struct In<sub::precision::u4> : Packed<4, false> {};
template <> struct In<sub::precision::b1> : Packed<1, false> {};

template <class T> double number(const typename In<T>::memory* p, int i) {
    if constexpr (In<T>::per > 1)
        return In<T>::at(p, i);
    else if constexpr (std::is_same<T, __half>::value)
        return __half2float(p[i]);
    else if constexpr (std::is_same<T, __nv_bfloat16>::value)
        return __bfloat162float(p[i]);
    else if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
        unsigned bits;
        std::memcpy(&bits, p + i, 4);
        bits &= 0xffffe000u;
        float x;
        std::memcpy(&x, &bits, 4);
        return x;
    } else
        return double(p[i]);
}

static unsigned long long state = 88172645463325252ull;
static unsigned drawn() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return unsigned(state >> 32);
}

// Both warps of a block are there, or one of them; each does its own product.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C, int Op>
__global__ void product(const typename In<T>::memory* a, const typename In<T>::memory* b, const C* c, D* d, int lda,
                        int ldb, int ldc, int ldd, wmma::layout_t of_c, wmma::layout_t of_d, int here) {
    if ((here >> (threadIdx.x / 32) & 1) == 0) return;
    if (here == 2) d += M * N * 2 + 32 * kPad;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fragment<wmma::accumulator, M, N, K, D> fd;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, of_c);
    if constexpr (Op == 1)
        wmma::bmma_sync(fd, fa, fb, fc);
    else if constexpr (Op == 2)
        wmma::bmma_sync(fd, fa, fb, fc, sub::bmmaBitOpAND);
    else {
        wmma::fragment<wmma::accumulator, M, N, K, D> zero;
        wmma::fill_fragment(zero, 0.0f);
        wmma::mma_sync(fd, fa, fb, fc);
        for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + zero.x[i];
    }
    if (here != 3 || threadIdx.x < 32) wmma::store_matrix_sync(d, fd, ldd, of_d);
}

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C = D, int Op = 0>
void tried(const char* name) {
    typedef typename In<T>::memory Memory;
    constexpr bool rows_a = std::is_same<LayoutA, wmma::row_major>::value;
    constexpr bool rows_b = std::is_same<LayoutB, wmma::row_major>::value;
    constexpr int per = In<T>::per, pad = per > 1 ? 4 * per : kPad;
    const int lda = (rows_a ? K : M) + pad, ldb = (rows_b ? N : K) + pad;
    const int size_a = (rows_a ? M : K) * lda, size_b = (rows_b ? K : N) * ldb;
    int wrong = 0;
    Memory *a, *b;
    C* c;
    D* d;
    const int room = M * N * 2 + 32 * kPad;
    cudaMallocManaged((void**)&a, size_a * sizeof(Memory));
    cudaMallocManaged((void**)&b, size_b * sizeof(Memory));
    cudaMallocManaged((void**)&c, room * sizeof(C));
    cudaMallocManaged((void**)&d, 2 * room * sizeof(D));
    for (int turn = 0; turn < 4; ++turn) {
        // whole numbers, whose sums are exact, and in the last turn any
        auto value = [&]() -> double {
            if (turn < 3 || !std::is_floating_point<D>::value) return double(int(drawn() % 9) - 4);
            return (double(drawn()) / 4294967296.0 - 0.5) * 8;
        };
        for (int i = 0; i < size_a / per; ++i)
            if constexpr (per > 1) a[i] = drawn(); else a[i] = Memory(float(value()));
        for (int i = 0; i < size_b / per; ++i)
            if constexpr (per > 1) b[i] = drawn(); else b[i] = Memory(float(value()));
        for (int i = 0; i < room; ++i) c[i] = C(float(value()));
        for (int i = 0; i < 2 * room; ++i) d[i] = D(float(-77));
        const wmma::layout_t of_c = turn & 1 ? wmma::mem_row_major : wmma::mem_col_major;
        const wmma::layout_t of_d = turn & 2 ? wmma::mem_row_major : wmma::mem_col_major;
        const int ldc = (turn & 1 ? N : M) + kPad, ldd = (turn & 2 ? N : M) + kPad, here = 1 + turn % 3;
        product<M, N, K, T, LayoutA, LayoutB, D, C, Op>
            <<<1, 64>>>(a, b, c, d, lda, ldb, ldc, ldd, of_c, of_d, here);
        if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
        const D* result = d + (here == 2 ? room : 0);
        int kept = 0;
        for (int i = 0; i < 2 * room; ++i) kept += double(float(d[i])) == -77;
        for (int m = 0; m < M; ++m)
            for (int n = 0; n < N; ++n) {
                double want = double(float(c[turn & 1 ? m * ldc + n : n * ldc + m])), size = std::fabs(want);
                for (int k = 0; k < K; ++k) {
                    const double x = number<T>(a, rows_a ? m * lda + k : k * lda + m);
                    const double y = number<T>(b, rows_b ? k * ldb + n : n * ldb + k);
                    const double term = Op == 1 ? double(x != y) : x * y;
                    want += term, size += std::fabs(term);
                }
                const double got = double(float(result[turn & 2 ? m * ldd + n : n * ldd + m]));
                const double bound = turn < 3 ? 0 : size * (sizeof(D) == 2 ? 1.0 / 1024 : K / 8388608.0);
                wrong += !(std::fabs(got - want) <= bound);
            }
        wrong += kept < 2 * room - M * N;  // nothing else is written
    }
    std::printf("%s %dx%dx%d %d\n", name, M, N, K, wrong);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

#define LAYOUTS(name, M, N, K, T, ...)                                                       \
    tried<M, N, K, T, wmma::row_major, wmma::col_major, __VA_ARGS__>(name "/row/col");       \
    tried<M, N, K, T, wmma::row_major, wmma::row_major, __VA_ARGS__>(name "/row/row");       \
    tried<M, N, K, T, wmma::col_major, wmma::row_major, __VA_ARGS__>(name "/col/row");       \
    tried<M, N, K, T, wmma::col_major, wmma::col_major, __VA_ARGS__>(name "/col/col")
#ifdef ALL_LAYOUTS
#define SHAPES(name, T, ...)                                     \
    LAYOUTS(name, 16, 16, 16, T, __VA_ARGS__);                   \
    LAYOUTS(name, 32, 8, 16, T, __VA_ARGS__);                    \
    LAYOUTS(name, 8, 32, 16, T, __VA_ARGS__)
#else
#undef LAYOUTS
#define LAYOUTS(name, M, N, K, T, ...) tried<M, N, K, T, wmma::row_major, wmma::row_major, __VA_ARGS__>(name)
#define SHAPES(name, T, ...)                                                               \
    tried<16, 16, 16, T, wmma::row_major, wmma::col_major, __VA_ARGS__>(name);             \
    tried<32, 8, 16, T, wmma::col_major, wmma::row_major, __VA_ARGS__>(name);              \
    tried<8, 32, 16, T, wmma::row_major, wmma::row_major, __VA_ARGS__>(name)
#endif

// The type's end and what is beyond it.
__global__ void rounded(const float* in, float* out) { out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]); }

int main() {
    SHAPES("f16-f32", __half, float);
    SHAPES("f16-f16", __half, __half);
    LAYOUTS("f16-f32-of-f16", 16, 16, 16, __half, float, __half);
    LAYOUTS("f16-f16-of-f32", 16, 16, 16, __half, __half, float);
    SHAPES("bf16", __nv_bfloat16, float);
    LAYOUTS("tf32", 16, 16, 8, wmma::precision::tf32, float);
    SHAPES("s8", signed char, int);
    SHAPES("u8", unsigned char, int);
    LAYOUTS("f64", 8, 8, 4, double, double);
    tried<8, 8, 32, sub::precision::s4, wmma::row_major, wmma::col_major, int>("s4");
    tried<8, 8, 32, sub::precision::u4, wmma::row_major, wmma::col_major, int>("u4");
    tried<8, 8, 128, sub::precision::b1, wmma::row_major, wmma::col_major, int, int, 1>("b1-xor");
    tried<8, 8, 128, sub::precision::b1, wmma::row_major, wmma::col_major, int, int, 2>("b1-and");
    float *in, *out;
    cudaMallocManaged((void**)&in, 128), cudaMallocManaged((void**)&out, 128);
    for (int i = 0; i < 32; ++i) in[i] = 1.0f + float(i) / 16384;
    rounded<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < 32; ++i) wrong += out[i] != 1.0f + float((i + 8) / 16) / 1024;
    std::printf("tf32 rounding %d\n", wrong);
}
