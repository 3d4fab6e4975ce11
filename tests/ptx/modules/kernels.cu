// Where the modules beside this file come from:
//   nvcc -ptx -arch=sm_80 kernels.cu -o nvcc.ptx
//   clang++ -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -S -O2 kernels.cu -o clang.ptx (with stand-ins for headers)
typedef unsigned int u32; typedef unsigned long long u64;
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ u32 counter = 7;
__device__ int* where[2] = {table + 2, table};
struct Pair { int a; float b[3]; };
extern "C" __device__ __attribute__((noinline)) int mix(int x, Pair p) { return x * 3 + p.a + (int)p.b[1]; }
__device__ __attribute__((noinline)) Pair make(int a, float b) { Pair p; p.a = a; p.b[0] = b; p.b[1] = b * 2; p.b[2] = 1.0f; return p; }
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void __launch_bounds__(256) reduce(const int* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, sum = 0;
  for (int i = t; i < n; i += blockDim.x) sum += in[i];
  s[t] = sum; __syncthreads();
  for (int k = blockDim.x / 2; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (!t) out[blockIdx.x] = s[0] + table[n & 7] + counter;
}
extern "C" __global__ void structs(Pair p, int* out) {
  Pair q = make(p.a, p.b[2]);
  out[threadIdx.x] = mix(threadIdx.x, q) + mix(1, p) + *where[threadIdx.x & 1];
}
extern "C" __global__ void dynamic(u64* out, const u64* in, int n) {
  extern __shared__ u64 buf[];
  int local[16];
  for (int i = 0; i < 16; ++i) local[i] = in[(i * 7 + threadIdx.x) % n];
  buf[threadIdx.x] = local[in[threadIdx.x % n] & 15];
  __syncthreads();
  u64 x = buf[(threadIdx.x + 1) % blockDim.x];
  while (x & 1) { x = x * 5 + 1; if (x > 1000000) break; switch (x % 5) { case 0: x += 2; break; case 1: x ^= 3; break; case 2: x -= 9; break; default: x >>= 1; } }
  atomicAdd((unsigned long long*)out + threadIdx.x, x);
}
