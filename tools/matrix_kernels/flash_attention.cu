// flash-attention's forward pass through CuTe's headers (sm80, 64 numbers a head, half), against sums in double.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifdef CU2PORT_SIMULATED  // host and device are one there: the project's headers get what the device's side has
#include "cu2port/mma.hpp"
#include "cu2port/ptx_ldmatrix.hpp"
#include "cu2port/untranslated.hpp"
#define __HIP_DEVICE_COMPILE__ 1
#endif
#include SOURCE

using Traits = Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::half_t>;  // as run_mha_fwd_hdim64 has it

template <bool Is_causal> static int run(int rows, int keys) {
    constexpr int d = 64, heads = 2;
    half *Q, *K, *V, *O;
    float* lse;
    cudaMallocManaged(&Q, rows * heads * d * sizeof(half)), cudaMallocManaged(&O, rows * heads * d * sizeof(half));
    cudaMallocManaged(&K, keys * d * sizeof(half)), cudaMallocManaged(&V, keys * d * sizeof(half));
    cudaMallocManaged(&lse, rows * heads * sizeof(float));
    for (int i = 0; i < rows * heads * d; ++i) Q[i] = __float2half(std::rand() % 200 / 50.f - 2);
    for (int i = 0; i < keys * d; ++i) K[i] = __float2half(std::rand() % 200 / 100.f - 1), V[i] = __float2half(std::rand() % 200 / 100.f - 1);

    FLASH_NAMESPACE::Flash_fwd_params p{};
    p.q_ptr = Q, p.k_ptr = K, p.v_ptr = V, p.o_ptr = O, p.softmax_lse_ptr = lse;
    p.q_row_stride = p.o_row_stride = heads * d, p.k_row_stride = p.v_row_stride = d;
    p.q_head_stride = p.o_head_stride = d, p.k_head_stride = p.v_head_stride = 0;  // both heads read the same keys
    p.q_batch_stride = p.o_batch_stride = rows * heads * d, p.k_batch_stride = p.v_batch_stride = keys * d;
    p.b = 1, p.h = heads, p.h_k = 1, p.h_h_k_ratio = heads, p.d = p.d_rounded = d;
    p.seqlen_q = rows, p.seqlen_k = keys, p.total_q = rows;
    p.seqlen_q_rounded = (rows + 127) / 128 * 128, p.seqlen_k_rounded = (keys + 127) / 128 * 128;
    p.scale_softmax = 0.125f, p.scale_softmax_log2 = 0.125f * float(M_LOG2E);
    p.p_dropout = p.rp_dropout = 1, p.p_dropout_in_uint8_t = 255, p.scale_softmax_rp_dropout = p.scale_softmax;
    p.window_size_left = -1, p.window_size_right = Is_causal ? 0 : -1, p.is_causal = Is_causal;
    p.is_seqlens_k_cumulative = true, p.num_splits = 1;
    std::uint64_t* state;
    cudaMallocManaged(&state, 2 * sizeof *state);
    p.rng_state = state;

    // no dropout, local windows, slopes, softcap or returned probabilities; sizes that tiles need not divide
    auto kernel = &FLASH_NAMESPACE::flash_fwd_kernel<Traits, false, Is_causal, false, false, false, true, false, false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Traits::kSmemSize);
    kernel<<<dim3((rows + 127) / 128, 1, heads), Traits::kNThreads, Traits::kSmemSize>>>(p);
    const auto error = cudaGetLastError();
    if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
        return std::printf("not launched: %s\n", cudaGetErrorString(error)), 1;
    int wrong = 0;
    std::vector<double> s(keys);
    for (int h = 0; h < heads; ++h)
        for (int i = 0; i < rows; ++i) {
            const int last = Is_causal ? i + keys - rows : keys - 1;
            double most = -1e30, sum = 0;
            for (int j = 0; j <= last; ++j) {
                s[j] = 0;
                for (int x = 0; x < d; ++x) s[j] += double(__half2float(Q[(i * heads + h) * d + x])) * __half2float(K[j * d + x]);
                most = std::fmax(most, s[j] *= 0.125);
            }
            for (int j = 0; j <= last; ++j) sum += s[j] = std::exp(s[j] - most);
            for (int x = 0; x < d; ++x) {
                double out = 0;
                for (int j = 0; j <= last; ++j) out += s[j] / sum * __half2float(V[j * d + x]);
                const double got = __half2float(O[(i * heads + h) * d + x]);
                if (!(std::fabs(got - out) <= 2e-3) && wrong++ < 5)
                    std::printf("head %d [%d][%d] is %g, not %g\n", h, i, x, got, out);
            }
            const double got = lse[h * rows + i], log = most + std::log(sum);
            if (!(std::fabs(got - log) <= 1e-3) && wrong++ < 5) std::printf("lse %d [%d] is %g, not %g\n", h, i, got, log);
        }
    std::printf("flash-attention%s %d heads, %d x %d x %d: %d of %d wrong\n", Is_causal ? " causal" : "", heads, rows, keys, d,
                wrong, rows * heads * (d + 1));
    return wrong;
}

int main() {
    const int wrong = run<false>(40, 200) + run<true>(130, 150);
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
