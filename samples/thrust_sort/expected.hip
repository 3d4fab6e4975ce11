// Sorts readings by sensor and averages them with Thrust, on a stream of our own.
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include <hip/hip_runtime.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

struct Divide {
    __host__ __device__ float operator()(float sum, int count) const { return sum / count; }
};

struct AboveZero {
    __host__ __device__ int operator()(float value) const { return value > 0.0f ? 1 : 0; }
};

__global__ void offset(float* values, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += by;
}

int main() try {
    const int n = 20000, sensors = 37;
    thrust::host_vector<int> keys(n);
    thrust::host_vector<float> values(n);
    std::map<int, std::pair<double, int>> want;
    int above = 0;
    for (int i = 0; i < n; ++i) {
        keys[i] = (i * 31) % sensors;
        values[i] = float(i % 101) - 50.0f;
        want[keys[i]].first += values[i] + 1.0f;
        want[keys[i]].second += 1;
        above += values[i] + 1.0f > 0.0f;
    }

    hipStream_t stream;
    if (hipStreamCreate(&stream) != hipSuccess) throw thrust::system_error(hipErrorUnknown, thrust::hip_category());
    auto policy = thrust::hip::par.on(stream);
    thrust::device_vector<int> dev_keys = keys;
    thrust::device_vector<float> dev_values = values;
    offset<<<(n + 255) / 256, 256, 0, stream>>>(thrust::raw_pointer_cast(dev_values.data()), n, 1.0f);

    thrust::sort_by_key(policy, dev_keys.begin(), dev_keys.end(), dev_values.begin());
    thrust::device_vector<int> ids(sensors), counts(sensors);
    thrust::device_vector<float> sums(sensors), means(sensors);
    thrust::reduce_by_key(policy, dev_keys.begin(), dev_keys.end(), dev_values.begin(), ids.begin(), sums.begin());
    thrust::reduce_by_key(policy, dev_keys.begin(), dev_keys.end(), thrust::make_constant_iterator(1), ids.begin(),
                          counts.begin());
    thrust::transform(policy, sums.begin(), sums.end(), counts.begin(), means.begin(), Divide());
    const int got_above = thrust::transform_reduce(thrust::device, dev_values.begin(), dev_values.end(), AboveZero(), 0,
                                                   thrust::plus<int>());
    hipStreamSynchronize(stream);
    hipStreamDestroy(stream);

    thrust::host_vector<float> got(sensors);
    thrust::copy(means.begin(), means.end(), got.begin());
    bool ok = got_above == above;
    for (const auto& [sensor, sum] : want) ok = ok && std::fabs(got[sensor] - sum.first / sum.second) < 1e-3;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
} catch (const thrust::system_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
