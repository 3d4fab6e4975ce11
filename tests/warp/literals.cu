// Literals 32, 31 and 5 in device code. A comment before each says what it is: L counts the lanes of a warp, N does not.
#define WARP_SIZE /*L*/32
#define LOG_WARP /*L*/5
#define TILE /*N*/32
#define ROTATE(x, n) (((x) << (n)) | ((x) >> (/*N*/32 - (n))))
#define LANE_ID (threadIdx.x & /*L*/31)
#define WARP_SHFL(v, l) __shfl_sync(0xffffffff, v, l, /*L*/32)
#define EACH_LANE(i) for (int i = LANE_ID; i < 1000; i += /*L*/32)
constexpr int kThreadsPerWarp = /*L*/32;
static const int kWords = /*N*/32;
enum { NUM_THREADS = 256, NUM_WARPS = NUM_THREADS / /*L*/32 };
namespace cg = cooperative_groups;

__device__ int lane() { return threadIdx.x % /*L*/32; }
__device__ int warp_of(int tid) { return tid >> /*L*/5; }

template <int Width = /*L*/32>
__device__ float sum(float v) {
  for (int o = Width / 2; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o, Width);
  return v;
}

__device__ int scan(int v) {
  const int l = lane();
  for (int d = 1; d < /*L*/32; d <<= 1) {
    int n = __shfl_up_sync(0xffffffff, v, d);
    if (l >= d) v += n;
  }
  return __shfl_sync(0xffffffff, v, /*L*/31);
}

__global__ void reduce(float *out, const float *in, int n) {
  __shared__ float part[/*L*/32];
  __shared__ float table[/*N*/32];
  const int tid = threadIdx.x;
  const int warp = tid / /*L*/32, l = tid % /*L*/32;
  table[blockIdx.x] = in[0];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = sum(v);
  if (l == 0) part[warp] = v;
  __syncthreads();
  if (tid < /*L*/32) {
    v = tid < blockDim.x / /*L*/32 ? part[l] : 0;
    v = sum<32>(v);
    if (l == 0) out[blockIdx.x] = v;
  }
}

__global__ void rows(float *y, const float *a, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> /*L*/5;
  const int lane = threadIdx.x & /*L*/0x1f;
  float s = 0;
  for (int c = lane; c < cols; c += /*L*/32) s += a[row * cols + c];
  for (int base = 0; base < cols; base += /*L*/32) s += a[base + lane];
  for (int k = 0; k < 4; k++) s += a[lane + k * /*L*/32];
  s = sum(s);
  if (lane == /*L*/31) y[row] = s;
  if (lane < /*L*/32 - 1) y[row] += WARP_SHFL(s, lane + 1);
}

__global__ void transpose(float *out, const float *in, int w) {
  __shared__ float tile[/*N*/32][/*N*/32 + 1];
  int x = blockIdx.x * /*N*/32 + threadIdx.x, y = blockIdx.y * /*N*/32 + threadIdx.y;
  for (int j = 0; j < /*N*/32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  for (int j = 0; j < TILE; j += 8) out[(y + j) * w + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void matmul(float *c, const float *a, const float *b, int n) {
  float acc[/*N*/32];
  for (int k = 0; k < n; k += /*N*/32)
    for (int i = 0; i < /*N*/32; i++) acc[i] += a[k + i] * b[i % /*N*/32];
  for (int i = 0; i < /*N*/5; i++) c[i] = acc[i];
}

__device__ bool test(const unsigned *bits, int i) { return bits[i >> /*N*/5] >> (i & /*N*/31) & 1; }
__device__ void set(unsigned *bits, int i) { atomicOr(&bits[i / /*N*/32], 1u << (i % /*N*/32)); }
__device__ unsigned mix(unsigned h) { return ROTATE(h, 7) ^ (h >> /*N*/5) ^ (h << /*N*/5); }
__device__ unsigned high(unsigned long long v) { return v >> /*N*/32; }
__device__ int log2_of(unsigned v) { return /*N*/31 - __clz(v); }
__device__ float sign(float f) { return __float_as_uint(f) >> /*N*/31 ? -1.f : 1.f; }
__device__ int green(unsigned short p) { return (p >> /*N*/5) & 0x3f; }
__device__ int red(unsigned short p) { return p & /*N*/0x1f; }

__global__ void leader(int *out) {
  unsigned m = __ballot_sync(0xffffffff, out[threadIdx.x] > 0);
  int last = /*L*/31 - __clz(m), lane = LANE_ID;
  for (int i = 0; i < /*L*/32; i++) out[i] += __shfl_sync(0xffffffff, lane, i);
  if (lane == last) out[0] = __popc(m);
}

__global__ void many_rows(float *x, int n) {
  extern __shared__ float s[];
  const int nwarps = blockDim.x / /*L*/32;
  const int warpId = threadIdx.x / kThreadsPerWarp;
  float *mine = s + warpId * /*L*/32;
  EACH_LANE(i) mine[i] = x[i];
  for (int w = warpId; w < n; w += nwarps) x[w * /*L*/32 + lane()] = mine[lane()];
  if (nwarps > /*L*/32) x[0] = 1;
  int padded = (blockDim.x + /*L*/31) / /*L*/32;
  int whole = blockDim.x & ~/*L*/31;
  x[padded] = whole;
}

__global__ void tiles(float *x) {
  auto block = cg::this_thread_block();
  cg::thread_block_tile</*L*/32> warp = cg::tiled_partition</*L*/32>(block);
  x[warp.meta_group_rank()] = warp.shfl_down(x[0], 16);
  auto quad = cg::tiled_partition<4>(block);
  x[quad.thread_rank()] += /*N*/5;
}

__global__ void __launch_bounds__(NUM_WARPS * /*L*/32) bounded(int *x) {
  int warp_id = threadIdx.x >> LOG_WARP;
  x[warp_id << /*L*/5 | lane()] = /*N*/32;
  x[/*N*/5] = x[/*N*/31];
}

__global__ void tail(volatile float *s, float *out) {
  int tid = threadIdx.x;
  if (tid < /*L*/32) {
    s[tid] += s[tid + /*L*/32];
    s[tid] += s[tid + 16];
  }
  if (tid == 0) out[0] = s[0];
}

__device__ int width_of(int v, int width) { return __shfl_down_sync(0xffffffff, v, 1, width); }
__device__ int scaled(int v, int factor) { return v * factor; }
__global__ void calls(int *x) {
  x[0] = width_of(x[1], /*L*/32);
  x[1] = scaled(x[2], /*N*/32);
  int lid = warp_of(threadIdx.x), bits = /*N*/32, ws = /*L*/32;
  x[2] = lid + (x[3] >> (bits - 1)) + threadIdx.x % ws;
  float big[/*N*/5] = {};
  x[3] = min(x[4], /*N*/31) + big[0];
}

__global__ void quantised(const uint4 *q, float *y, int group) {
  int lane_id = threadIdx.x % /*L*/32;
  for (int b = 0; b < /*N*/32; b += 4) y[b] = (q[lane_id].x >> b) & 15;
  y[lane_id] = (q[0].y >> 10) & /*N*/0x1f;
  y[group / /*N*/32] = y[group % /*N*/32];
}

__global__ void vote(int *x, int n) {
  const unsigned lane = threadIdx.x % warpSize;
  unsigned votes = __ballot_sync(~0u, lane < n);
  unsigned below = votes & (0xffffffffu >> (/*L*/31 - lane));
  x[lane] = __popc(below) + (votes >> /*L*/31);
  if (threadIdx.x >= /*L*/32) return;
  for (unsigned i = threadIdx.x; i < n; i += /*L*/32) x[i] = 0;
}

template <typename T, int BITS>
__global__ void radix(T *keys, int *count) {
  static_assert(BITS <= /*N*/32, "");
  __shared__ int histogram[1 << /*N*/5];
  const int warps = blockDim.x >> /*L*/5;
  T key = keys[threadIdx.x];
  histogram[(key >> BITS) & /*N*/31] = warps;
  unsigned same = __match_any_sync(0xffffffff, key & /*N*/31);
  count[threadIdx.x] = __popc(same);
}

struct Pool {
  static constexpr int kLanes = /*N*/5;
  __device__ static int slot(int i) { return i & /*N*/31; }
};

__device__ int clamp_bits(int n) { return min(n, /*N*/32) - /*N*/5; }

__global__ void pipelines(float *x, int k) {
  const int warp_idx = __shfl_sync(0xffffffff, threadIdx.x / /*L*/32, 0);
  const int stage = k % /*N*/5, next = (k + /*N*/5 - 1) % /*N*/5;
  const int element = warp_idx * /*L*/32 + threadIdx.x % /*L*/32;
  const int chunk = element / /*N*/5;
  x[stage] = x[next] + x[chunk] + Pool::slot(k);
  if (threadIdx.x % WARP_SIZE == 0) x[threadIdx.x / WARP_SIZE] = 1;
  if ((threadIdx.x & /*L*/31) == 0) x[threadIdx.x >> /*L*/5] = 2;
}

__global__ void packed(unsigned long long *q, unsigned *w) {
  q[0] = (unsigned long long)w[0] << /*N*/32 | w[1];
  w[2] = (w[3] << /*N*/31) >> (/*N*/32 - w[4]);
  const int words = (w[5] + /*N*/31) / /*N*/32;
  w[6] = words;
}

// Decided by context: rows of a block, guards of one warp, parts of a warp, lanes passed to a function.
constexpr int kRowThreads = /*L*/32;
constexpr int kNextLane = /*L*/31;
constexpr int kMaxWarps = /*L*/32;
constexpr int kMaxLevels = /*N*/32;
constexpr int THREADS_PER_ROW = 8;
constexpr int kRowsPerWarp = /*L*/32 / THREADS_PER_ROW;
constexpr int kPacked = /*N*/32 / 8;
static_assert(WARP_SIZE == /*L*/32, "");
static_assert(sizeof(long) * 4 == /*N*/32, "");
inline int warp_size() { return /*L*/32; }
inline int levels() { return /*N*/32; }

__device__ unsigned slot(const unsigned *p, int i);
__device__ float warp_total(float v);
__device__ float block_total(float v);

__global__ void rows_of_threads(float *out, const float *in, int n) {
  __shared__ float part[8];
  const int at = threadIdx.y * blockDim.x + threadIdx.x;
  float v = 0;
  for (int i = at; i < n; i += /*L*/32 * 8) v += in[i];
  v = sum(v);
  if (at % /*L*/32 == 0) part[at / /*L*/32] = v;
  for (int i = at; i < 1024; i += blockDim.x * blockDim.y) out[i / /*N*/32] = in[i % /*N*/32];
}
inline void launch_rows(float *out, const float *in, int n) {
  const dim3 block(kRowThreads, 8);
  rows_of_threads<<<n, block>>>(out, in, n);
}

__global__ void __launch_bounds__(/*L*/32) one_warp(float *x, int n) {
  for (int i = threadIdx.x; i < n; i += /*L*/32) x[i] = sum(x[i]);
  x[blockIdx.x * /*L*/32 + threadIdx.x] = 0;
}

__global__ void guarded(float *x, float *s, int k, int n) {
  const int t = threadIdx.x;
  if (t < /*L*/32) {
    for (int j = 0; j < 4; j++) s[t + j * n] += s[t + j * n + /*L*/32];
    float best = 0;
    for (int j = 0; j < /*L*/32; j++) best = fmaxf(best, s[j]);
    __syncwarp();
    x[k] = best;
  }
}

__global__ void parts(unsigned *x, int n, int which) {
  const int lane = threadIdx.x & /*L*/31, group = threadIdx.x / (/*L*/32 / n);
  const unsigned mask = n == /*L*/32 ? 0xffffffffu : (1u << n) - 1;
  const unsigned keep = which == /*N*/32 ? 7u : 1u << which;
  unsigned masks[4];
  masks[group & 3] = __ballot_sync(mask, x[lane] > keep);
  const int last = /*L*/31 - __clz(masks[which & 3]), level = /*N*/31 - __clz(x[n]);
  x[0] = slot(x, lane) + slot(x, /*L*/31);
  x[1] = __popc(keep) + last + level + (x[n % /*N*/32 / 8] & 3);
  if (lane < n / /*L*/32) x[2] = (lane ^ ((which >> 2) & /*L*/31));
  const unsigned *rows = x + which;
  for (int i = 0; i < 4; i++) {
    x[3] += rows[lane];
    rows += /*L*/32;
  }
  for (int i = lane * 4; i < n; i += /*L*/32 * 4) x[i] = 1;
}

template <int THREADS>
__global__ void chosen(float *x, int bits) {
  float v = x[threadIdx.x];
  if (THREADS == /*L*/32) {
    v = warp_total(v);
  } else {
    v = block_total(v);
  }
  if (bits == /*N*/32) v = block_total(v);
  using Scan = cub::BlockScan<float, /*L*/32>;
  using Load = cub::BlockLoad<float, 128, /*N*/32>;
  __shared__ float padded[/*N*/32][33];
  __shared__ float slots[4 * NUM_WARPS * /*L*/32];
  padded[threadIdx.x & 7][0] = slots[0] = v;
  x[(bits & -/*L*/32) + threadIdx.x] = padded[0][threadIdx.x & 7];
}

template <class T>
__device__ T shuffle(T v, int from = 0) {
  return __shfl_sync(0xffffffff, v, from);
}

template <int WORKER_THREADS>
struct Pipe {
  static __device__ void arrive() { static_assert(WORKER_THREADS % /*L*/32 == 0); }
};

__device__ void copy_lanes(int *to, const int *from, int n, int t) {
  for (int i = t; i < n; i += /*L*/32) to[i] = from[i];
}

struct Kept {
  unsigned changed[16];
  unsigned flags[16];
};

template <int WORKER_THREADS, int GROUP = /*L*/32>
__launch_bounds__(WORKER_THREADS + /*L*/32) __global__ void wrapped(int *x, Kept *kept, int n, int rest, int BLOCK_N) {
  static_assert(GROUP <= /*L*/32);
  const int t = threadIdx.x;
  if (t < /*L*/32) copy_lanes(x, x + n, n, t);
  int lane = t & /*L*/31;
  auto group = cg::tiled_partition<GROUP>(cg::this_thread_block());
  x[0] = shuffle(x[t], (n - 1) & /*L*/0x1f) + shuffle(x[t], (n + lane) & /*L*/31);
  const int left = min(/*L*/32, rest);
  if (lane < left) x[1] = group.shfl(rest, 0);
  const unsigned seen = __ballot_sync(0xffffffff, x[t] > 0);
  const int found = __ffs(seen) - 1;
  if (found < /*L*/32) x[2] = n + /*L*/31 - __clz(~seen);
  kept->changed[t / /*L*/32] = seen;
  kept->flags[n / /*N*/32] |= 1u << (n % /*N*/32);
  const int word = (found + rest) >> /*L*/5;
  if (kept->changed[word] == 0) return;
  copy_lanes(x, x + rest, n, lane);
  const int each = 4;
  static_assert(BLOCK_N % (/*L*/32 * each) == 0);
  for (int i = 0; i < BLOCK_N / /*L*/32 / each; i++) x[i] = x[lane * each + i];
  const int padded = (n + /*L*/31) / /*L*/32 * /*L*/32;
  for (int i = lane; i < padded; i += /*L*/32) x[i] = seen;
  for (int d = 1; d < /*L*/32; d <<= 1) x[3] += shuffle(x[t], (lane & ~d) | (d - 1));
  const int limit = ((rest - 1) | /*L*/31);
  x[4] = limit;
}

// gathers an anchor of each 8 by 8 by 8 points
__global__ void anchors(float *out, const float *in, int pitch) {
  int x = threadIdx.x % /*N*/32 + blockIdx.x * /*N*/32;
  int y = threadIdx.x / /*N*/32 + blockIdx.y * 8;
  out[y * pitch + x] = in[x];
}

#define ROWS_OF_TILE /*N*/32
#define HASH_BITS 512
__global__ void columns(int *x, int n) {
  const int index = threadIdx.y * 16 + threadIdx.x;
  if (index < ROWS_OF_TILE) x[index] = 0;
  const int words = HASH_BITS / /*N*/32;
  for (int i = index; i < words; i += blockDim.x) x[i] = n;
}

__global__ void packed(int *x, int n) {
  const int bitmap_words_per_warp = (n + /*N*/31) / /*N*/32;
  x[n] = bitmap_words_per_warp;
}

__global__ void linear(int *x) {
  const int index = threadIdx.y * 16 + threadIdx.x;
  __shared__ int sums[4];
  int v = shuffle(x[index], 0);
  if ((index & /*L*/31) == 0) sums[index / /*L*/32] = v;
  __syncthreads();
  x[index] = sums[0];
}

void launched(int *x, Kept *kept, int n) {
  wrapped<128><<<n, 128 + 32>>>(x, kept, n, n, n);
}
