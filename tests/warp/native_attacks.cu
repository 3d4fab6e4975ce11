// Kernels that look as if wavefronts might do what their warps do, each with what stands in the way. `tests/warp/
// test_warp_native_attacks.py` sees that they keep their warps. In front of each stand its headers and `warp_sum`.
//// spot_cond
__global__ void k(const int* in, int* out, int n) {
  __shared__ int s[32];
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  int t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) t = warp_sum(t);
  if (threadIdx.x == 0 && n > 5) s[0] = t;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out, 3); }
//// first_side_effect
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    int t = atomicAdd(&out[1], 1);
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) out[0] = v;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// first_side_effect2
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int v = warp_sum(in[threadIdx.x]);
  int u = 0;
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x / 32 == 0) {
    u = atomicAdd(&out[1], 1);
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) out[0] = v;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// kernel_return_thread
__device__ int f(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); if (threadIdx.x == 0) return v; return 0; }
__global__ void k(const int* in, int* out) { int x = f(in[threadIdx.x]); if (threadIdx.x == 0) out[0] = x; }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// gone_in_loop
__global__ void k(const int* in, int* out) {
  for (int j = 0; j < 3; j++) {
    int v = warp_sum(in[threadIdx.x + j]);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
    if (in[2048 + threadIdx.x / 32] > 40) return;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// divided_call
__device__ int total;
__device__ void add(int v) { v = warp_sum(v); if (threadIdx.x % 32 == 0) atomicAdd(&total, v); }
__global__ void zero() { total = 0; }
__global__ void k(const int* in, int* out) { if (threadIdx.x & 32) add(in[threadIdx.x]); }
__global__ void get(int* out) { out[0] = total; }
void run(const int* in, int* out) { zero<<<1,1>>>(); k<<<1, 128>>>(in, out); get<<<1,1>>>(out); }
//// auto_block
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { auto b = dim3(16, 4); k<<<1, b>>>(in, out); }
//// func_block
dim3 shape(int n) { return dim3(16, n); }
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, shape(4)>>>(in, out); }
//// reassigned_block
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { dim3 b(64); b = dim3(16, 4); k<<<1, b>>>(in, out); }
//// other_block
void change(dim3& b) { b.y = 4; }
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { dim3 b(16); change(b); k<<<1, b>>>(in, out); }
//// file_pointer
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
static void (*const kernel)(const int*, int*) = k;
void run(const int* in, int* out) { k<<<1, 64>>>(in, out); kernel<<<1, dim3(16, 4)>>>(in, out); }
//// three_dims
__global__ void k(const int* in, int* out) {
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  int v = warp_sum(in[t]);
  if (t % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, dim3(8, 4, 2)>>>(in, out); }
//// preinit
__global__ void k(const int* in, int* out) {
  __shared__ int s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = threadIdx.x * 1000;
  __syncthreads();
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < 8 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) v = warp_sum(v);
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// ref_uniform
__global__ void k(const int* in, int* out) {
  int c; int& r = c;
  c = 3;
  r = threadIdx.x & 32;
  if (c) { int v = warp_sum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(out, v); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// ptr_uniform
__global__ void k(const int* in, int* out) {
  int c; int* r = &c;
  c = 3;
  *r = threadIdx.x & 32;
  if (c) { int v = warp_sum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(out, v); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// macro_uniform
#define ODD (threadIdx.x & 32)
__global__ void k(const int* in, int* out) {
  if (ODD) { int v = warp_sum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(out, v); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// binding_uniform
struct P { int odd, b; };
__device__ P make(int t) { return {t & 32, t}; }
__global__ void k(const int* in, int* out) {
  auto [odd, b] = make(threadIdx.x);
  if (odd) { int v = warp_sum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(out, v); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_decl
struct P { int odd, b; };
__global__ void k(const int* in, int* out) {
  if (int odd = threadIdx.x & 32) { if (odd) { int v = warp_sum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) atomicAdd(out, v); } }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cond_collective
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? s[lane] : 0;
  int r = (threadIdx.x & 32) ? warp_sum(v) : 0;
  out[threadIdx.x] = r;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// method_same_name
struct R { int k; __device__ int other(int v) const { return v + k; } };
__global__ void k(const int* in, int* out) {
  auto warp_sum = [](int v) { return v + 1; };
  int v = warp_sum(in[threadIdx.x]);
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// tmpl_shadow
const int LANES = 32;
template <int LANES> __global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % LANES == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<16><<<1, 128>>>(in, out); }
//// param_shadow
enum { LANES = 32 };
__global__ void k(const int* in, int* out, int LANES) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % LANES == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out, 16); }
//// fake_index
__device__ int f(int v, int* out, uint3 threadIdx) { v = warp_sum(v); if (threadIdx.x % 32 == 0) atomicAdd(out, v); return 0; }
__global__ void k(const int* in, int* out) { f(in[threadIdx.x], out, make_uint3(32, 0, 0)); }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// oob_first
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    int w = in[threadIdx.x * 100000];
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    v = warp_sum(v);
    if (threadIdx.x == 0) out[0] = v + w;
  }
}
void run(const int* in, int* out) { }
//// down_everywhere nosum
__device__ int wsum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int lane = threadIdx.x % 32;
  int v = wsum(in[threadIdx.x]);
  if (lane == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? s[lane] : 0;
  v = wsum(v);
  out[threadIdx.x] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// int_of_float nosum
__global__ void k(const int* in, int* out) {
  float f = in[threadIdx.x] * 0.25f;
  for (int o = 16; o > 0; o >>= 1) f += __shfl_xor_sync(FULL, f, o);
  int w = f;
  if (threadIdx.x % 32 == 0) atomicAdd(out, w);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// atomic_int_float nosum
__global__ void k(const int* in, int* out) {
  float f = in[threadIdx.x] * 0.25f;
  for (int o = 16; o > 0; o >>= 1) f += __shfl_xor_sync(FULL, f, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, f);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// bool_slots
__global__ void k(const int* in, int* out) {
  __shared__ bool s[32];
  int v = __popc(__ballot_sync(FULL, in[threadIdx.x] > 3));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) v = warp_sum(v);
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// char_slots
__global__ void k(const int* in, int* out) {
  __shared__ unsigned char s[32];
  int v = warp_sum(in[threadIdx.x] % 8);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) v = warp_sum(v);
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// float_slots_int_gather nosum
__device__ float wf(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__device__ int wi(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__global__ void k(const int* in, int* out) {
  __shared__ float s[32];
  float v = wf(in[threadIdx.x] * 0.25f);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  int t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) t = wi(t);
  if (threadIdx.x == 0) out[0] = t;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// serial_trunc nosum
__device__ float wf(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__global__ void k(const int* in, int* out) {
  __shared__ float s[32];
  float v = wf(in[threadIdx.x] * 0.25f);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) { int t = 0; for (int i = 0; i < blockDim.x / 32; i++) t += s[i]; out[0] = t; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// return_type nosum
__device__ float ws(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__global__ void k(const int* in, int* out) {
  __shared__ float s[32];
  float h = 0;
  int v = in[threadIdx.x];
  h = ws(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = h;
  __syncthreads();
  float t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  t = ws(t);
  if (threadIdx.x == 0) out[0] = t * 4;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// bool_return nosum
__device__ bool wany(int v) { for (int o = 16; o > 0; o >>= 1) v |= __shfl_xor_sync(FULL, v, o); return v; }
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  auto v = wany(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  int t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
  for (int o = 16; o > 0; o >>= 1) t |= __shfl_xor_sync(FULL, t, o);
  if (threadIdx.x == 0) out[0] = t;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// overloads nosum
__device__ int ws(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__device__ float ws(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o); return v; }
__global__ void k(const int* in, int* out) {
  int v = ws(in[threadIdx.x] > 3);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// aside_used
__device__ int t = 5;
__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x];
  int t = __shfl_xor_sync(FULL, v, 16); v += t;
  v += __shfl_xor_sync(FULL, v, 8);
  v += __shfl_xor_sync(FULL, v, 4);
  v += __shfl_xor_sync(FULL, v, 2);
  v += __shfl_xor_sync(FULL, v, 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
  out[64 + threadIdx.x] = t;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// extern_shared_twice
__device__ int bsum(int v) {
  extern __shared__ int s[];
  int lane = threadIdx.x % 32;
  v = warp_sum(v);
  if (lane == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? s[lane] : 0;
  v = warp_sum(v);
  __syncthreads();
  return v;
}
__global__ void k(const int* in, int* out) {
  extern __shared__ int data[];
  data[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int v = bsum(data[threadIdx.x]);
  out[threadIdx.x] = v + data[threadIdx.x];
}
void run(const int* in, int* out) { k<<<1, 128, 512>>>(in, out); }
//// down_rows2 nosum
__device__ int wsum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) sum += in[row * c + i];
  sum = wsum(sum);
  for (int i = lane; i < c; i += 32) out[row * c + i] = in[row * c + i] - sum;
}
void run(const int* in, int* out) { int n = 7; k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, 70); }
//// elements_by_lane
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) { sum += in[row * c + i]; out[100 + row * 32 + i % 32] += in[row * c + i]; }
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
void run(const int* in, int* out) { int n = 7; k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, 96); }
//// elements_running
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) { sum += in[row * c + i]; out[100 + row * c + i] = i >= 32 ? out[100 + row * c + i - 32] + 1 : 1; }
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
void run(const int* in, int* out) { int n = 7; k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, 96); }
//// rows_carried
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int run = 0;
  for (int row = blockIdx.x * (blockDim.x / 32) + warp; row < n; row += gridDim.x * (blockDim.x / 32)) {
    int sum = 0;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    run = run + sum;
    if (lane == 0) out[row] = run;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out, 20, 40); }
//// aside_trunc2 nosum
__global__ void k(const int* in, float* out) {
  float v = in[threadIdx.x] * 0.25f;
  for (int o = 16; o > 0; o >>= 1) { int w = __shfl_xor_sync(FULL, v, o); v += w; }
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, (float*)out); }
//// scan_aside_trunc nosum
__global__ void k(const int* in, int* out) {
  __shared__ float s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = in[threadIdx.x] * 0.25f;
  for (int o = 1; o < 32; o *= 2) { int t = __shfl_up_sync(FULL, v, o); if (lane >= o) v += t; }
  if (lane == 31) s[warp] = v;
  __syncthreads();
  float base = 0;
  for (int i = 0; i < warp; i++) base += s[i];
  out[threadIdx.x] = (v + base) * 4;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// scan_base_int nosum
__global__ void k(const int* in, int* out) {
  __shared__ float s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = in[threadIdx.x] * 0.25f;
  for (int o = 1; o < 32; o *= 2) { float t = __shfl_up_sync(FULL, v, o); if (lane >= o) v += t; }
  if (lane == 31) s[warp] = v;
  __syncthreads();
  int base = 0;
  for (int i = 0; i < warp; i++) base += s[i];
  out[threadIdx.x] = (v + base) * 4;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// scan_var_int nosum
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = in[threadIdx.x] * 0.25f;
  for (int o = 1; o < 32; o *= 2) { float t = __shfl_up_sync(FULL, v, o); if (lane >= o) v += t; }
  int w = v;
  if (lane == 31) s[warp] = w;
  __syncthreads();
  int base = 0;
  for (int i = 0; i < warp; i++) base += s[i];
  out[threadIdx.x] = (w + base) * 4;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// scan_func_return nosum
__device__ int ws(float v) { for (int o = 1; o < 32; o *= 2) { float t = __shfl_up_sync(FULL, v, o); if (threadIdx.x % 32 >= o) v += t; } return v; }
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = ws(in[threadIdx.x] * 0.25f);
  if (lane == 31) s[warp] = v;
  __syncthreads();
  int base = 0;
  for (int i = 0; i < warp; i++) base += s[i];
  out[threadIdx.x] = v + base;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// scan_first_side nosum
__device__ int ws(int v) { for (int o = 1; o < 32; o *= 2) { int t = __shfl_up_sync(FULL, v, o); if (threadIdx.x % 32 >= o) v += t; } return v; }
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  int v = ws(in[threadIdx.x]);
  if (lane == 31) s[warp] = v;
  __syncthreads();
  if (warp == 0) { int w = lane < warps ? s[lane] : 0; atomicAdd(out + 2000, 1); w = ws(w); if (lane < warps) s[lane] = w; }
  __syncthreads();
  if (warp > 0) v += s[warp - 1];
  out[threadIdx.x] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_rank_type
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  int base = 0;
  bool some = __popc(votes);
  if (lane == 0) base = atomicAdd(out, some);
  base = __shfl_sync(FULL, base, 0);
  if (keep) atomicAdd(out + 16 + base, 1);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_short
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  unsigned short votes = __ballot_sync(FULL, keep);
  if (lane == 0) atomicAdd(out, __popc(votes));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_leader_side
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  int base = 0;
  if (lane == 0) { base = atomicAdd(out, __popc(votes)); int t = atomicAdd(out + 1, 1); }
  base = __shfl_sync(FULL, base, 0);
  if (keep) out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_base_by_two
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(out, 2 * __popc(votes));
  base = __shfl_sync(FULL, base, 0);
  if (keep) out[16 + base + 2 * __popc(votes & ((1u << lane) - 1))] = x;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_base_used
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(out, __popc(votes));
  base = __shfl_sync(FULL, base, 0);
  if (base == 0) atomicAdd(out + 1, 1);
  if (keep) out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// any_count_inside
__global__ void k(const int* in, int* out) {
  int n = in[threadIdx.x] % 9;
  bool more = n > 0;
  while (__any_sync(FULL, more)) { if (more) { n--; more = n > 0; } atomicAdd(out, 1); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// match_max
__global__ void k(const int* in, int* out) {
  const int key = in[threadIdx.x] % 7, lane = threadIdx.x % 32;
  const unsigned peers = __match_any_sync(0xffffffff, key);
  if (lane == __ffs(peers) - 1) atomicMax(&out[key], __popc(peers));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// match_pointer_changes
__global__ void k(const int* in, int* out) {
  int key = in[threadIdx.x] % 7; const int lane = threadIdx.x % 32;
  const unsigned peers = __match_any_sync(0xffffffff, key);
  out += threadIdx.x;
  const bool leads = lane == __ffs(peers) - 1;
  if (leads) atomicAdd(&out[key], __popc(peers));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// half_min nosum
__global__ void k(const int* in, int* out) {
  unsigned char v = in[threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// min_signed nosum
__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x] - 50;
  for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(FULL, v, o));
  unsigned w = v;
  if (threadIdx.x % 32 == 0) atomicMax((unsigned*)out, w);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// odd_block_48
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int v = __popc(__ballot_sync(FULL, in[threadIdx.x] > 3));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) { int t = 0; for (int i = 0; i < blockDim.x / 32; i++) t += s[i]; out[0] = t; }
}
void run(const int* in, int* out) { k<<<1, 48>>>(in, out); }
//// rows_block_lent
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) sum += in[row * c + i];
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
void helper(dim3& b) { b.x = 32; }
void run(const int* in, int* out) { int n = 7; dim3 block(128); helper(block); k<<<(n * 32 + 128 - 1) / 128, block>>>(in, out, n, 70); }
//// partial_then_const
__global__ void k(const int* in, int* out) {
  __shared__ int s[4];
  if (threadIdx.x == 0) { s[0] = 1; s[1] = 2; s[2] = 3; s[3] = 4; }
  __syncthreads();
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < 4 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) v = warp_sum(v);
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 64>>>(in, out); }
//// rows_alias_ptr
__global__ void k(int* data, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int* x = data + row * c;
  int* y = x + 32;
  int sum = 0;
  for (int i = lane; i < c - 32; i += 32) { y[i] = x[i] + 1; sum += x[i]; }
  sum = warp_sum(sum);
  if (lane == 0) data[5000 + row] = sum;
}
void run(const int* in, int* out) { int n = 7; k<<<(n * 32 + 128 - 1) / 128, 128>>>(out, n, 128); }
//// rows_int_of_float
__global__ void k(const float* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) sum += in[row * c + i];
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
__global__ void fill(float* f, int n) { for (int i = 0; i < n; i++) f[i] = (i % 7) * 0.75f - 2; }
void run(const int* in, int* out) { int n = 7; float* f = (float*)(out + 4000); fill<<<1, 1>>>(f, 1000); k<<<(n * 32 + 128 - 1) / 128, 128>>>(f, out, n, 70); }
//// rows_inner_stride
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) { for (int j = 0; j < 2; j++) out[200 + row * 200 + i + 32 * j] = i * 10 + j; sum += in[i]; }
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
void run(const int* in, int* out) { int n = 4; k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, 96); }
//// rows_read_atomic
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= n) return;
  int sum = 0;
  for (int i = lane; i < c; i += 32) { atomicAdd(&out[200 + row * 32 + i % 32], 1); sum += out[200 + row * 32 + i % 32]; }
  sum = warp_sum(sum);
  if (lane == 0) out[row] = sum;
}
void run(const int* in, int* out) { int n = 4; k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, 96); }
//// rows_decl_in_for
__global__ void k(const int* in, int* out, int n, int c) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int seen = 0;
  for (int row = blockIdx.x * (blockDim.x / 32) + warp; row < n; row += gridDim.x * (blockDim.x / 32)) {
    int sum = seen;
    for (int i = lane; i < c; i += 32) sum += in[row * c + i];
    sum = warp_sum(sum);
    for (seen = 0; seen < sum; seen += 1000) { }
    if (lane == 0) out[row] = sum + seen;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out, 20, 40); }
//// templ_launch
template <class F> void start(F f, const int* in, int* out) { f<<<1, dim3(16, 4)>>>(in, out); }
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 64>>>(in, out); start(k, in, out); }
//// macro_block2
#define MK(a) dim3(a, 4)
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, MK(16)>>>(in, out); }
//// const_block
const dim3 block(16, 4);
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, block>>>(in, out); }
//// alias_type_block
using Shape = dim3;
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { Shape b(16, 4); k<<<1, b>>>(in, out); k<<<1, Shape(16, 4)>>>(in, out); }
//// shared_scalar_max
__global__ void k(const int* in, int* out) {
  __shared__ int total, times;
  if (threadIdx.x == 0) total = times = 0;
  __syncthreads();
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) { atomicAdd(&total, v); atomicAdd(&times, 1); }
  __syncthreads();
  out[threadIdx.x] = total + times;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// array_block
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { dim3 b[2] = {dim3(16, 4), dim3(32)}; k<<<1, b[0]>>>(in, out); }
//// whole_kept_caller
__device__ int bs(int v) {
  __shared__ int s[32];
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) s[w] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
  if (w == 0) v = warp_sum(v);
  return v;
}
__global__ void k(const int* in, int* out) { out[threadIdx.x] = bs(in[threadIdx.x]); }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// whole_two_callers
__device__ int bs(int v) {
  __shared__ int s[32];
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) s[w] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
  if (w == 0) v = warp_sum(v);
  return v;
}
__global__ void good(const int* in, int* out) { int v = bs(in[threadIdx.x]); if (threadIdx.x == 0) out[1000] = v; }
__global__ void k(const int* in, int* out) { out[threadIdx.x] = bs(in[threadIdx.x]); }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); good<<<1, 128>>>(in, out); }
//// list_all_threads nosum
template <int N> __device__ void wl(float* v) { for (int i = 0; i < N; i++) for (int o = 16; o > 0; o >>= 1) v[i] += __shfl_xor_sync(FULL, v[i], o); }
template <int N> __device__ void bl(float* v) {
  __shared__ float s[N][32];
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  wl<N>(v);
  if (lane == 0) for (int i = 0; i < N; i++) s[i][w] = v[i];
  __syncthreads();
  for (int i = 0; i < N; i++) v[i] = threadIdx.x < blockDim.x / 32 ? s[i][lane] : 0;
  wl<N>(v);
}
__global__ void k(const int* in, int* out) {
  float v[2] = {(float)in[threadIdx.x], in[threadIdx.x] * 3.f};
  bl<2>(v);
  out[threadIdx.x] = v[0]; out[512 + threadIdx.x] = v[1];
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// list_down nosum
template <int N> __device__ void wl(float* v) { for (int i = 0; i < N; i++) for (int o = 16; o > 0; o >>= 1) v[i] += __shfl_down_sync(FULL, v[i], o); }
template <int N> __device__ void bl(float* v) {
  __shared__ float s[N][32];
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  wl<N>(v);
  if (lane == 0) for (int i = 0; i < N; i++) s[i][w] = v[i];
  __syncthreads();
  for (int i = 0; i < N; i++) v[i] = lane < blockDim.x / 32 ? s[i][lane] : 0;
  wl<N>(v);
}
__global__ void k(const int* in, int* out) {
  float v[2] = {(float)in[threadIdx.x], in[threadIdx.x] * 3.f};
  bl<2>(v);
  out[threadIdx.x] = v[0]; out[512 + threadIdx.x] = v[1];
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// base_without_rank nosum
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(out, __popc(votes));
  base = __shfl_sync(FULL, base, 0);
}
void run(const int* in, int* out) { k<<<2, dim3(8, 4, 2)>>>(in, out); }
//// flag_counts
__global__ void k(const int* in, int* out) {
  if (__any_sync(FULL, in[threadIdx.x] > 97)) atomicAdd(out, 1);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// block_1n
#define ONE 4
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, dim3(16, ONE, 1)>>>(in, out); }
//// two_stage_warp_first
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x];
  const bool keep = x % 3 == 0;
  const unsigned votes = __ballot_sync(FULL, keep);
  if (lane == 0) s[warp] = __popc(votes);
  __syncthreads();
  int base = 0;
  for (int i = 0; i < warp; i++) base += s[i];
  if (keep) out[16 + base + __popc(votes & ((1u << lane) - 1))] = x;
  if (!keep) out[500 + base] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// not_identity_side
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  int v = in[threadIdx.x] - 200, c = 0;
  for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(FULL, v, o));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : in[5];
  if (threadIdx.x < 32) for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(FULL, v, o));
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 1024>>>(in, out); k<<<1, 256>>>(in, out + 1); }
//// macro_of_a_macro
#define LANE2() lane
#define LANE1() LANE2()
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) atomicAdd(out, v);
  out[threadIdx.x + 1] = LANE1();
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// constant_macro_of_a_macro
#define LANE2 lane
#define LANE1 LANE2
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) atomicAdd(out, v);
  out[threadIdx.x + 1] = LANE1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// pasted_name
#define NAME(a, b) a##b
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) atomicAdd(out, v);
  out[threadIdx.x + 1] = NAME(la, ne);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// macro_of_a_macro_in_a_row
#define LANE2 lane
#define LANE1 LANE2
__global__ void k(const float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float v = 0.f;
  for (int i = lane; i < c; i += 32) v += in[row * c + i] * LANE1;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  if (lane == 0) out[row] = v;
}
void run(const float* in, float* out) { k<<<(11 * 32 + 128 - 1) / 128, 128>>>(in, out, 11, 70); }
//// return_in_a_macro_of_a_macro
#define LEAVE2(x) if (x) return
#define LEAVE1(x) LEAVE2(x)
__global__ void k(const int* in, int* out) {
  LEAVE1(in[threadIdx.x] > 50);
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_no_warps_in_one_way
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
#ifdef FAST
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) atomicAdd(out, v);
#else
  out[threadIdx.x] = lane;
#endif
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_macro_two_branches
#ifdef FAST
#define LAST(v) (v)
#else
#define LAST(v) (lane + (v))
#endif
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) atomicAdd(out, v);
  out[threadIdx.x + 1] = LAST(in[3]);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_launch_one_branch2
__global__ void k(const int* in, int* out) {
  int v = warp_sum(in[threadIdx.x]);
#ifdef FAST
  out[3] = 1;
#endif
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
#ifndef OTHER
void run(const int* in, int* out) { k<<<1, dim3(16, 8)>>>(in, out); }
#else
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
#endif
//// if_function_two_branches
#ifdef FAST
__device__ int g(int v) { return warp_sum(v); }
#else
__device__ int g(int v) { return v + __shfl_xor_sync(FULL, v, 1); }
#endif
__global__ void k(const int* in, int* out) {
  int v = g(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_arch_new
__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x];
#if __CUDA_ARCH__ >= 800
  v = warp_sum(v);
#else
  v = v + __shfl_xor_sync(FULL, v, 1);
#endif
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_cuda_version_turned
__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x];
#if CUDART_VERSION < 9000
  v = warp_sum(v);
#else
  v = v + __shfl_xor_sync(FULL, v, 1);
#endif
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_not_compound
__global__ void k(const int* in, int* out) {
  int v = in[threadIdx.x];
#if !defined(A) && B
  v = warp_sum(v);
#endif
#if !(!defined(A) && B)
  v = warp_sum(v);
#endif
#if defined(A) && B
  v = warp_sum(v);
#endif
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_device_function_misuse
__device__ int block_sum(int v) {
    static __shared__ int s[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / 32) ? s[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
__global__ void k(const int* in, int* out) {
#ifdef FAST
  int v = block_sum(in[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = v;
#else
  out[threadIdx.x] = block_sum(in[threadIdx.x]);
#endif
}
__global__ void k2(const int* in, int* out) {
  int v = block_sum(in[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); k2<<<1, 128>>>(in, out); }
//// if_meaning_changes_between
#define FAST 1
__device__ int f(int v) {
#if FAST
    static __shared__ int s[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / 32) ? s[lane] : 0;
    if (warp == 0) v = warp_sum(v);
#endif
    return v;
}
#undef FAST
#define FAST 0
__global__ void k(const int* in, int* out) {
  int v = f(in[threadIdx.x]);
#if FAST
  if (threadIdx.x == 0)
#endif
  out[threadIdx.x] = v;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// if_header_two_branches
#ifdef FAST
__global__ void k(const int* in, int* out, int z) {
#else
__global__ void k(const int* in, int* out) {
  int z = threadIdx.x % 32;
#endif
  int v = warp_sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
  out[threadIdx.x + 1] = z;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// row_address_as_a_number_in_ptx
__global__ void k(float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.f;
  for (int i = lane; i < c; i += 32) {
    unsigned long long a = (unsigned long long)(out + 600 + i);
    float x;
    asm("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(a));
    out[632 + i] = x + 1;
    sum += x;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) out[row] = sum;
}
void run(float* in, float* out, int n, int c) { k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c); }
//// row_address_as_a_number
__global__ void k(float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.f;
  for (int i = lane; i < c; i += 32) {
    unsigned long long a = reinterpret_cast<unsigned long long>(out + 600 + i);
    float x = *reinterpret_cast<float*>(a);
    out[632 + i] = x + 1;
    sum += x;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) out[row] = sum;
}
void run(float* in, float* out, int n, int c) { k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c); }
//// row_address_made_of_numbers
__global__ void k(float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.f;
  for (int i = lane; i < c; i += 32) {
    size_t a = (size_t)out + 2400 + 4 * i;
    float x = *(float*)a;
    out[632 + i] = x + 1;
    sum += x;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) out[row] = sum;
}
void run(float* in, float* out, int n, int c) { k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c); }
//// row_pointer_set_later
__global__ void k(float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.f;
  for (int i = lane; i < c; i += 32) {
    const float* p;
    p = out + 600 + i;
    float x = *p;
    out[632 + i] = x + 1;
    sum += x;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) out[row] = sum;
}
void run(float* in, float* out, int n, int c) { k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c); }
//// row_one_of_two_pointers
__global__ void k(float* in, float* out, int n, int c) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.f;
  for (int i = lane; i < c; i += 32) {
    const float* p = c > 5 ? out : in;
    float x = p[600 + i];
    out[632 + i] = x + 1;
    sum += x;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(FULL, sum, o);
  if (lane == 0) out[row] = sum;
}
void run(float* in, float* out, int n, int c) { k<<<(n * 32 + 128 - 1) / 128, 128>>>(in, out, n, c); }
