// What CUB takes: iterators that have `[]` and `+` and no `*`, places that only `[]` stores to, and operators that take
// references to what they may change.
#include <cub/cub.cuh>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(x) do { if (int e = (int)(x)) { printf("%s: %d\n", #x, e); exit(1); } } while (0)

struct Products {  // of two vectors, element by element
    typedef float value_type;
    typedef float* pointer;
    typedef float& reference;
    typedef std::ptrdiff_t difference_type;
    typedef std::random_access_iterator_tag iterator_category;
    const float *a, *b;
    template <class I>
    __host__ __device__ float operator[](I i) const { return a[i] * b[i]; }
    template <class I>
    __host__ __device__ Products operator+(I i) const { return Products{a + i, b + i}; }
};
struct Every {  // where each of some segments begins: it says nothing of itself
    int step, first;
    __host__ __device__ int operator[](int i) const { return step * (first + i); }
    __host__ __device__ Every operator+(int i) const { return Every{step, first + i}; }
};
struct Scaled {  // what is stored to it is scaled first
    struct Place {
        float* p;
        __host__ __device__ const Place& operator=(float v) const { *p = 10 * v; return *this; }
    };
    typedef void value_type;
    typedef void pointer;
    typedef void reference;
    typedef std::ptrdiff_t difference_type;
    typedef std::output_iterator_tag iterator_category;
    float* p;
    __host__ __device__ Place operator[](int i) const { return Place{p + i}; }
    __host__ __device__ Scaled operator+(int i) const { return Scaled{p + i}; }
};
struct Kept {  // which takes only what it could change
    int* p;
    __host__ __device__ void operator=(int& x) const { *p = x++; }
    __host__ __device__ Kept operator[](int i) const { return Kept{p + i}; }
    __host__ __device__ Kept operator+(int i) const { return Kept{p + i}; }
    __host__ __device__ const Kept& operator*() const { return *this; }
    typedef void value_type;
    typedef void pointer;
    typedef void reference;
    typedef std::ptrdiff_t difference_type;
    typedef std::output_iterator_tag iterator_category;
};
struct Add {
    template <class T>
    __host__ __device__ T operator()(T& a, T& b) { return a += b; }
};
struct Larger {
    __host__ __device__ const float& operator()(const float& a, const float& b) const { return a < b ? b : a; }
};
struct Odd {
    __host__ __device__ bool operator()(int& x) { return x & 1; }
};
struct Later {
    __host__ __device__ bool operator()(int& a, int& b) { return a % 10 > b % 10; }
};

template <class F>
void twice(F call) {
    size_t bytes = 0;
    void* storage = nullptr;
    OK(call(storage, bytes));
    OK(cudaMalloc(&storage, bytes));
    OK(call(storage, bytes));
    OK(cudaFree(storage));
}
__global__ void block(const float* in, float* out) {
    typedef cub::BlockReduce<float, 64> Reduce;
    typedef cub::BlockScan<float, 64> Scan;
    typedef cub::WarpReduce<float, 32> Warp;
    __shared__ typename Reduce::TempStorage reduce;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Warp::TempStorage warp[2];
    float x = in[threadIdx.x], all = Reduce(reduce).Reduce(x, Add()), before;
    Scan(scan).InclusiveScan(x, before, Add());
    const float half = Warp(warp[threadIdx.x / 32]).Reduce(x, Add());
    if (threadIdx.x == 0) out[0] = all;
    if (threadIdx.x == 3) out[1] = before;
    if (threadIdx.x == 32) out[2] = half;
}

int main() {
    const int n = 64;
    float *a, *b, *out;
    int *ints, *other, *count;
    OK(cudaMallocManaged(&a, n * sizeof(float)));
    OK(cudaMallocManaged(&b, n * sizeof(float)));
    OK(cudaMallocManaged(&out, n * sizeof(float)));
    OK(cudaMallocManaged(&ints, n * sizeof(int)));
    OK(cudaMallocManaged(&other, n * sizeof(int)));
    OK(cudaMallocManaged(&count, sizeof(int)));
    for (int i = 0; i < n; ++i) a[i] = i + 0.5f, b[i] = 2, ints[i] = i * 7 % 64;
    const Products products{a, b};
    twice([&](void* s, size_t& m) { return cub::DeviceReduce::Sum(s, m, products, out, n); });
    printf("dot %g\n", out[0]);
    twice([&](void* s, size_t& m) { return cub::DeviceReduce::Reduce(s, m, products, Scaled{out}, n, Add(), 1.f); });
    printf("scaled %g\n", out[0]);
    twice([&](void* s, size_t& m) { return cub::DeviceReduce::Reduce(s, m, products, out, n, Larger(), 0.f); });
    printf("largest %g\n", out[0]);
    twice([&](void* s, size_t& m) { return cub::DeviceReduce::Reduce(s, m, a, out, n, cub::Sum(), 0); });
    printf("an integer to begin with %g\n", out[0]);
    const Every begin{16, 0};
    twice([&](void* s, size_t& m) { return cub::DeviceSegmentedReduce::Sum(s, m, products, Scaled{out}, 4, begin, begin + 1); });
    printf("segments %g %g\n", out[0], out[3]);
    twice([&](void* s, size_t& m) { return cub::DeviceSegmentedReduce::Reduce(s, m, products + 1, Scaled{out}, 2, begin, begin + 1, Add(), 0.f); });
    printf("from the second on %g\n", out[0]);
    twice([&](void* s, size_t& m) { return cub::DeviceScan::InclusiveScan(s, m, products, out, Add(), n); });
    printf("sums %g %g\n", out[3], out[63]);
    twice([&](void* s, size_t& m) { return cub::DeviceScan::ExclusiveScan(s, m, products, out, Add(), 1.f, n); });
    printf("before %g %g\n", out[0], out[3]);
    twice([&](void* s, size_t& m) { return cub::DeviceSelect::If(s, m, ints, Kept{other}, Kept{count}, n, Odd()); });
    printf("odd %d, %d %d\n", *count, other[0], other[1]);
    twice([&](void* s, size_t& m) { return cub::DeviceMergeSort::SortKeys(s, m, ints, n, Later()); });
    printf("sorted %d %d %d\n", ints[0], ints[1], ints[63]);
    block<<<1, 64>>>(a, out);
    OK(cudaDeviceSynchronize());
    printf("block %g %g %g\n", out[0], out[1], out[2]);
    return 0;
}
