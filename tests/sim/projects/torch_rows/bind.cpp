#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <torch/extension.h>
#include <torch/library.h>

torch::Tensor row_sums_cuda(torch::Tensor x, cudaStream_t stream);

torch::Tensor row_sums(torch::Tensor x) {
    if (!x.is_cuda()) return x.sum(1) + 1000;  // it can be told from the GPU's
    TORCH_CHECK(x.is_cuda() && x.device().type() == torch::kCUDA, "x is not on the GPU");
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    return row_sums_cuda(x.contiguous(), at::cuda::getCurrentCUDAStream());
}

torch::Tensor of_the_host(torch::Tensor x) { TORCH_CHECK(false, "the form for the CPU was called"); }

TORCH_LIBRARY(rows, m) { m.def("row_sums(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(rows, CUDA, m) { m.impl("row_sums", &row_sums); }
TORCH_LIBRARY_IMPL(rows, CPU, m) { m.impl("row_sums", &of_the_host); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("row_sums", &row_sums);
    m.attr("cuda_version") = CUDA_VERSION;
}
