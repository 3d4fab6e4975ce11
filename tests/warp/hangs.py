"""Kernels of our own that hang or go wrong between lanes, and their quiet neighbours that look alike."""

from __future__ import annotations

from typing import NamedTuple


class Seed(NamedTuple):
    """`hazards`: exactly those that must be found."""

    name: str
    text: str
    hazards: frozenset[str]


def _seed(name: str, text: str, *hazards: str) -> Seed:
    return Seed(name, text, frozenset(hazards))


LOUD = (
    _seed(
        "warp lock, leader spins",
        """__global__ void k(int *lock, int *sum, const int *in) {
  int lane = threadIdx.x & 31;
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
  }
  __syncwarp();
  sum[lane] += v;
  __threadfence();
  __syncwarp();
  if (lane == 0) atomicExch(lock, 0);
}""",
        "warp-lock",
    ),
    _seed(
        "warp lock taken in a helper",
        """__device__ void take(unsigned *m) { while (atomicCAS(m, 0u, 1u) != 0u) __nanosleep(20); }
__device__ void give(unsigned *m) { atomicExch(m, 0u); }
__global__ void k(unsigned *locks, float *acc) {
  const int lane = threadIdx.x % 32, b = blockIdx.x % 7;
  if (lane == 0) take(&locks[b]);
  __syncwarp();
  acc[lane] += 1.0f;
  __syncwarp();
  if (lane == 0) give(&locks[b]);
}""",
        "warp-lock",
    ),
    _seed(
        "warp lock, do-while",
        """#define WARP 32
__global__ void k(int *mutex, int *data) {
  unsigned l = threadIdx.x % WARP;
  if (l == 0) {
    int old;
    do { old = atomicExch(mutex, 1); } while (old == 1);
    data[0]++;
    atomicExch(mutex, 0);
  }
}""",
        "warp-lock",
    ),
    _seed(
        "warp lock with an elected leader",
        """__global__ void k(int *lock, int *n) {
  unsigned active = __activemask();
  int lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  int leader = __ffs(active) - 1;
  if (lane == leader) {
    while (atomicCAS(lock, 0, 1));
    *n += __popc(active);
    __threadfence();
    atomicExch(lock, 0);
  }
}""",
        "warp-lock",
    ),
    _seed(
        "warp lock, let go inside the loop",
        """__global__ void k(int *lock, int *n) {
  int lane = threadIdx.x & 31;
  if (lane == 0) {
    bool done = false;
    while (!done) {
      if (atomicCAS(lock, 0, 1) == 0) {
        *n += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      }
    }
  }
}""",
        "warp-lock",
    ),
    _seed(
        "one thread of each row takes the lock",
        """__global__ void k(int *lock, int *x) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    x[threadIdx.y]++;
    atomicExch(lock, 0);
  }
}""",
        "warp-lock",
    ),
    _seed(
        "lane lock",
        """__global__ void k(int *locks, int *bins, const int *in) {
  int b = in[blockIdx.x * blockDim.x + threadIdx.x];
  while (atomicCAS(&locks[b], 0, 1) != 0);
  bins[b]++;
  __threadfence();
  atomicExch(&locks[b], 0);
}""",
        "lane-lock",
    ),
    _seed(
        "lane lock behind a class",
        """struct Mutex {
  int state;
  __device__ void lock() { while (atomicExch(&state, 1) == 1); }
  __device__ void unlock() { atomicExch(&state, 0); }
};
__global__ void k(Mutex *m, int *x) {
  m->lock();
  *x += threadIdx.x;
  m->unlock();
}""",
        "lane-lock",
    ),
    _seed(
        "lane lock through a macro",
        """#define LOCK(p) while (atomicCAS((p), 0, 1) != 0) {}
#define UNLOCK(p) atomicExch((p), 0)
__global__ void k(int *m, double *x) {
  LOCK(m);
  x[0] += threadIdx.x;
  UNLOCK(m);
}""",
        "lane-lock",
    ),
    _seed(
        "ticket lock of lanes",
        """__device__ int next_ticket; __device__ volatile int serving;
__global__ void k(int *x) {
  int mine = atomicAdd(&next_ticket, 1);
  while (serving != mine) { }
  x[0] += mine;
  __threadfence();
  serving = mine + 1;
}""",
        "lane-lock",
    ),
    _seed(
        "ticket lock of warps",
        """__global__ void k(int *next, volatile int *serving, int *x) {
  int lane = threadIdx.x & 31;
  if (lane == 0) {
    int mine = atomicAdd(next, 1);
    while (*serving != mine) { }
    x[0] += 1;
    __threadfence();
    *serving = mine + 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "lanes wait for each other in turn",
        """__global__ void k(int *out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  int me = threadIdx.x;
  while (turn != me) ;
  out[me] = me;
  turn = me + 1;
}""",
        "lane-lock",
    ),
    _seed(
        "flag between lanes of one warp",
        """__global__ void k(int *out) {
  __shared__ volatile int flag;
  int lane = threadIdx.x & 31;
  if (lane == 0) {
    while (flag == 0) ;
    out[0] = 1;
  } else {
    flag = 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "producer and consumer warps with a flag",
        """__global__ void k(const float *in, float *out, int n) {
  __shared__ float buf[32];
  __shared__ volatile int full;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  for (int i = 0; i < n; i++) {
    if (warp == 0) {
      while (full) ;
      buf[lane] = in[i * 32 + lane];
      __threadfence_block();
      full = 1;
    } else {
      while (!full) ;
      out[i * 32 + lane] = buf[lane] * 2;
      full = 0;
    }
  }
}""",
        "warp-roles",
    ),
    _seed(
        "producer and consumer warps with an mbarrier",
        """__device__ void mbar_wait(uint64_t *b, int phase) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra D; bra W; D: }"
               :: "l"(b), "r"(phase));
}
__device__ void mbar_arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "l"(b)); }
__global__ void k(float *out) {
  __shared__ uint64_t full, empty;
  int warp_id = threadIdx.x >> 5;
  if (warp_id == 0) {
    mbar_wait(&empty, 0);
    mbar_arrive(&full);
  } else {
    mbar_wait(&full, 0);
    mbar_arrive(&empty);
  }
}""",
        "warp-roles",
    ),
    _seed(
        "roles with cuda::barrier",
        """__global__ void k(float *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready, filled;
  const int wid = threadIdx.x / warpSize;
  if (wid == 0) {
    ready.arrive_and_wait();
    out[0] = 1;
    filled.arrive();
  } else {
    ready.arrive();
    filled.arrive_and_wait();
  }
}""",
        "warp-roles",
    ),
    _seed(
        "roles through a pipeline",
        """__global__ void k(float *out, int n) {
  auto pipe = make_pipeline();
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i++) { pipe.producer_acquire(); load(i); pipe.producer_commit(); }
  } else {
    for (int i = 0; i < n; i++) { pipe.consumer_wait(); use(i); pipe.consumer_release(); }
  }
}""",
        "warp-roles",
    ),
    _seed(
        "each warp waits for the warp before it",
        """__global__ void scan(int *sums, volatile int *state) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    if (warp > 0) while (state[warp - 1] == 0) ;
    sums[warp] += warp;
    __threadfence();
    state[warp] = 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "queue: one warp fills, the others take",
        """__global__ void k(int *queue, int *head, int *tail, int n) {
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (warp == 0) {
    if (lane == 0) for (int i = 0; i < n; i++) { queue[i] = i; __threadfence(); atomicAdd(tail, 1); }
  } else if (lane == 0) {
    int mine = atomicAdd(head, 1);
    while (atomicAdd(tail, 0) <= mine) __nanosleep(10);
    queue[mine] = -1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "queue: a slot is waited for by a helper",
        """__device__ void wait_for(volatile int *slot) { while (*slot == 0) { } }
__global__ void k(volatile int *slots, int *out) {
  int w = threadIdx.x / 32;
  if (w == 0) {
    slots[0] = 1;
  } else {
    wait_for(slots);
    out[w] = 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "one thread of the block waits for another",
        """__global__ void k(int *out) {
  __shared__ volatile int go;
  if (threadIdx.x == 0) {
    while (!go) ;
    out[0] = 1;
  } else if (threadIdx.x == 32) {
    go = 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "barrier in both arms, by warp",
        """__global__ void k(float *x) {
  int warp = threadIdx.x >> 5;
  if (warp < 3) {
    x[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] += x[threadIdx.x + 128];
  } else {
    x[threadIdx.x] = 2;
    __syncthreads();
  }
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in both arms, one by a call",
        """__device__ void step(float *x) { x[0] = 1; __syncthreads(); x[1] = 2; }
__global__ void k(float *x) {
  if (threadIdx.x < 96) step(x);
  else { x[2] = 3; __syncthreads(); }
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in both arms, the second behind a return",
        """__global__ void k(float *x) {
  const int w = threadIdx.x / 32;
  if (w == 0) {
    __syncthreads();
    x[0] = x[1];
    return;
  }
  x[w] = w;
  __syncthreads();
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in the cases of a switch over warps",
        """__global__ void k(float *x) {
  int warp_id = threadIdx.x / 32;
  switch (warp_id) {
    case 0: x[0] = 1; __syncthreads(); break;
    case 1: x[1] = 1; __syncthreads(); break;
    default: __syncthreads(); break;
  }
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in both arms, by a cooperative group",
        """namespace cg = cooperative_groups;
__global__ void k(float *x) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) { x[0] = 1; block.sync(); }
  else { x[tile.meta_group_rank()] = 2; block.sync(); }
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in both arms of a macro",
        """#define MEET if (threadIdx.x < 32) { __syncthreads(); } else { __syncthreads(); }
__global__ void k(float *x) {
  x[threadIdx.x] = 1;
  MEET
  x[0] = x[1];
}""",
        "divided-barrier",
    ),
    _seed(
        "barrier in both arms of a macro with parameters",
        """#define MEET(w, a, b) \\
  do { if (threadIdx.x / 32 < w) { a; __syncthreads(); } else { b; __syncthreads(); } } while (0)
__global__ void k(float *x) { MEET(1, x[0] = 1, x[1] = 2); }""",
        "divided-barrier",
    ),
    _seed(
        "named barriers",
        """__device__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n)); }
__global__ void k(float *x) {
  if (threadIdx.x < 64) meet(1, 64); else meet(2, 64);
}""",
        "named-barrier",
    ),
    _seed(
        "named barrier by its number",
        """__global__ void k(float *x) {
  int warp = threadIdx.x / 32;
  if (warp & 1) asm volatile("barrier.sync.aligned 3, 128;" ::: "memory");
}""",
        "named-barrier",
    ),
    _seed(
        "masks that name lanes of the other arm",
        """__global__ void k(int *x) {
  int lane = threadIdx.x & 31, v = x[lane];
  if (lane < 16) v = __shfl_sync(0xffffffff, v, 20);
  else v = __shfl_sync(0xffffffff, v, 3);
  x[lane] = v;
}""",
        "other-arm-mask",
    ),
    _seed(
        "ballots in both arms with a named mask",
        """#define FULL_MASK 0xffffffffu
__global__ void k(const int *x, unsigned *out) {
  int i = threadIdx.x;
  if (x[i] > 0) out[i] = __ballot_sync(FULL_MASK, x[i] > 5);
  else out[i] = __ballot_sync(FULL_MASK, x[i] < -5);
}""",
        "other-arm-mask",
    ),
    _seed(
        "coalesced threads",
        """namespace cg = cooperative_groups;
__device__ int add(int *p) {
  auto g = cg::coalesced_threads();
  int old;
  if (g.thread_rank() == 0) old = atomicAdd(p, g.size());
  return g.shfl(old, 0) + g.thread_rank();
}""",
        "coalesced-threads",
    ),
    _seed(
        "ballot just before break",
        """__global__ void k(const int *x, unsigned *out, int n) {
  int i = threadIdx.x;
  for (int r = 0; r < n; r++) {
    if (x[i + r] == 0) {
      out[i] = __popc(__activemask());
      break;
    }
  }
}""",
        "cross-lane-before-exit",
    ),
    _seed(
        "shuffle just before return",
        """__device__ int f(const int *x, int v) {
  int lane = threadIdx.x & 31;
  while (true) {
    v = v * 3 + x[lane];
    if (v & 1) {
      int w = __shfl_xor_sync(__activemask(), v, 1);
      return w;
    }
  }
}""",
        "cross-lane-before-exit",
    ),
    _seed(
        "a named barrier in a macro",
        """#define MEET() NamedBarrier::sync(64, 1);
__global__ void k(int *x) {
  if (threadIdx.x < 64) {
    MEET()
    x[0] = 1;
  }
}""",
        "named-barrier",
    ),
    _seed(
        "a turn that the first warp is given before, and each passes on",
        """__global__ void k(volatile int *turn, int *out) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp == 0) { turn[0] = 1; }
  __syncthreads();
  if (!lane) {
    while (turn[warp] == 0) { }
    out[0] += warp;
    turn[warp + 1] = 1;
  }
}""",
        "warp-roles",
    ),
    _seed(
        "a flag that each warp clears before it waits for it",
        """__global__ void k(volatile int *ready, int *out) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  ready[warp] = 0;
  __syncthreads();
  if (warp == 0) { ready[0] = 1; }
  if (lane == 0) {
    while (!ready[warp]) { }
    out[0] += warp;
    ready[warp + 1] = 1;
  }
}""",
        "warp-roles",
    ),
)

QUIET = (
    _seed(
        "looking back at sums of other warps: each warp says that its own is there before it looks",
        """__global__ void scan(volatile int *flag, volatile int *sum, int *out, int n) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = idx & 31;
    const int warp = idx >> 5;
    int x = out[idx];
    for (int i = 1; i < 32; i <<= 1) {
        int t = __shfl_up_sync(0xffffffff, x, i);
        if (lane >= i) x += t;
    }
    __syncthreads();
    if (lane == 31) {
        sum[warp + 1] = x;
        __threadfence();
        flag[warp + 1] = 1;
    }
    __syncthreads();
    int before = 0;
    if (warp > 0) {
        if (!lane) {
            for (int k = warp; k > 0; --k) {
                int status;
                do {
                    status = flag[k];
                    __threadfence();
                } while (status == 0);
                before += sum[k];
                if (status == 2) break;
            }
        }
    }
    if (warp > 0) { if (!lane) { flag[warp] = 2; } }
    out[idx] = x + __shfl_sync(0xffffffff, before, 0);
}""",
    ),
    _seed(
        "following links until a plain element tells the end, in a function that works with lanes",
        """__global__ void label(int *links, int *best, int *out, int n) {
  int lane = threadIdx.x & 31, i = threadIdx.x;
  int last = n, next = i;
  while (best[i] != 0 && next < last) {
    last = next;
    next = links[next - 1];
  }
  best[i] = next;
  out[i] = lane;
}""",
    ),
    _seed(
        "following links until an element of the thread's own array tells the end",
        """__global__ void label(int *links, int *out, int n) {
  int best[4];
  __shared__ int tile[32];
  tile[threadIdx.x % 32] += tile[(threadIdx.x + 1) % 32];
  for (int i = 0; i < 4; ++i) { best[i] = 0; }
  for (int i = 0; i < 4; ++i) {
    int at = threadIdx.x * 4 + i;
    best[i] = at < n ? links[at] : 0;
    int last = at, next = best[i];
    while (best[i] != 0 && next < last) {
      last = next;
      next = links[next - 1];
    }
    best[i] = next;
  }
  for (int i = 0; i < 4; ++i) { out[threadIdx.x * 4 + i] = best[i]; }
}""",
    ),
    _seed(
        "reading on in a buffer of shared memory: another byte on each round",
        """struct Bytes { unsigned char data[256]; int fill; };
__device__ int readbyte(Bytes *b, int at) { return b->data[at & 255]; }
__device__ int number(Bytes *b, int at) {
  auto byte = readbyte(b, at++);
  int value = byte & 63;
  while (byte & 0x80 && at < 128) {
    byte = readbyte(b, at++);
    value |= byte << 6;
  }
  return value;
}
__global__ void k(int *out) {
  __shared__ Bytes all;
  Bytes *b = &all;
  int t = threadIdx.x;
  if (t == 0) { b->fill = 3; }
  __syncthreads();
  if (t < 32) { out[t] = number(b, t); }
  if (t == 0) { b->fill = 4; }
}""",
    ),
    _seed(
        "a search through shared memory: another element on each round",
        """__device__ void strings(int *out, int mine, int lane) {
  __shared__ int length[32];
  length[lane] = mine;
  __syncwarp();
  int at = lane - 1;
  while (at > 0 && length[at] != 0 && mine <= length[at]) {
    at--;
  }
  if (lane == 0) length[0] = mine = 0;
  __syncwarp();
  out[threadIdx.x] = at;
}
__global__ void k(int *out) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    strings(out, 1, lane);
  } else if (warp == 1) {
    strings(out + 32, 2, lane);
  } else {
    out[threadIdx.x] = 0;
  }
}""",
    ),
    _seed(
        "one thread of the block takes the lock",
        """__global__ void k(int *lock, int *x) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0);
    x[0]++;
    atomicExch(lock, 0);
  }
  __syncthreads();
}""",
    ),
    _seed(
        "an atomic built from compare and swap",
        """__device__ double add(double *p, double v) {
  unsigned long long *a = (unsigned long long *)p, old = *a, assumed;
  do {
    assumed = old;
    old = atomicCAS(a, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void k(double *x) { add(x, threadIdx.x % 32); }""",
    ),
    _seed(
        "open addressing: the place moves on",
        """__global__ void k(int *keys, const int *in, int n) {
  int key = in[threadIdx.x], slot = key & 31;
  while (true) {
    int old = atomicCAS(&keys[slot], -1, key);
    if (old == -1 || old == key) return;
    slot = (slot + 1) % n;
  }
}""",
    ),
    _seed(
        "each lane lets go inside the loop",
        """__global__ void k(int *lock, int *x) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) { x[0]++; __threadfence(); atomicExch(lock, 0); done = true; }
  }
}""",
    ),
    _seed(
        "blocks wait for each other, one thread each",
        """__global__ void k(volatile int *count, int n) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd((int *)count, 1);
    while (*count < n) ;
  }
  __syncthreads();
}""",
    ),
    _seed(
        "a barrier of the grid: the last block lets the others go",
        """__device__ void meet(volatile unsigned *b, unsigned n) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned turn = b[1];
    if (atomicAdd((unsigned *)&b[0], 1u) + 1u == n) {
      b[0] = 0u;
      b[1] = turn + 1u;
    } else {
      while (b[1] == turn) { }
    }
  }
  __syncthreads();
}
__global__ void k(volatile unsigned *b, unsigned n) { meet(b, n); }""",
    ),
    _seed(
        "one thread of a block of two dimensions",
        """__global__ void k(int *lock, int *x) {
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    x[0]++;
    atomicExch(lock, 0);
  }
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t == 0) { while (atomicExch(lock, 1)) { } lock[0] = 0; }
}""",
    ),
    _seed(
        "an atomic sum built from exchanges",
        """__global__ void k(float *p, float v) {
  float old = v;
  while ((old = atomicExch(p, atomicExch(p, 0.0f) + old)) != 0.0f) ;
}""",
    ),
    _seed(
        "waiting for the host",
        """__global__ void k(int *flag) { while (atomicCAS(flag, 1, 1) != 1) { } }""",
    ),
    _seed(
        "a branch on what one lane told all",
        """__global__ void k(int *x, int v) {
  int b = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
  if (b > 0) v = __shfl_sync(0xffffffff, v, 20);
  else v = __shfl_sync(0xffffffff, v, 3);
  x[threadIdx.x] = v;
}""",
    ),
    _seed(
        "fences in both arms",
        """__global__ void k(int *x) {
  if (x[threadIdx.x]) { x[0] = 1; __syncwarp(); } else { x[1] = 2; __syncwarp(); }
}""",
    ),
    _seed(
        "a search that ends",
        """__global__ void k(const int *next, int *out) {
  int i = threadIdx.x;
  while (next[i] != i) i = next[i];
  out[threadIdx.x] = i;
}""",
    ),
    _seed(
        "a barrier under a condition of the whole block",
        """__global__ void k(float *x, int n) {
  int warp = threadIdx.x / 32;
  for (int i = 0; i < n; i++) {
    if (i & 1) { x[warp] = 1; __syncthreads(); } else { x[warp] = 2; __syncthreads(); }
  }
}""",
    ),
    _seed(
        "a barrier in one arm: the others wait at none",
        """__global__ void k(volatile float *x) {
  if (threadIdx.x < 64) { x[threadIdx.x] = 1; __syncthreads(); }
}""",
    ),
    _seed(
        "a barrier that whole threads skip at the end",
        """__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __shared__ float s[256];
  s[threadIdx.x] = x[i];
  __syncthreads();
  x[i] = s[0];
}""",
    ),
    _seed(
        "a block reduction",
        """__inline__ __device__ float sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
  return v;
}
__global__ void k(float *x) {
  __shared__ float part[32];
  int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
  float v = sum(x[threadIdx.x]);
  if (lane == 0) part[wid] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? part[lane] : 0;
  if (wid == 0) v = sum(v);
  if (threadIdx.x == 0) x[0] = v;
}""",
    ),
    _seed(
        "a barrier of the block in asm",
        """__global__ void k(float *x) { asm volatile("bar.sync 0;"); x[threadIdx.x & 31] = 1; }""",
    ),
    _seed(
        "a vote that decides for the warp",
        """__global__ void k(const int *x, int *out, int n) {
  int lane = threadIdx.x & 31;
  for (int r = 0; r < n; r++) {
    if (__any_sync(0xffffffff, x[r * 32 + lane] == 0)) {
      out[r] = __popc(__ballot_sync(0xffffffff, x[lane] > r));
      break;
    }
  }
}""",
    ),
    _seed(
        "barriers in both arms of a branch that divides the block at a multiple of 64",
        """__global__ void k(float *x) {
  if (threadIdx.x < 128) { x[0] = 1; __syncthreads(); } else { x[1] = 2; __syncthreads(); }
  if (threadIdx.x / 32 >= 4) { x[2] = 1; __syncthreads(); } else { x[3] = 2; __syncthreads(); }
}""",
    ),
    _seed(
        "roles of groups of 128 threads",
        """__global__ void k(float *x, volatile int *full) {
  int group = threadIdx.x / 128;
  if (group == 0) {
    x[0] = 1;
    full[0] = 1;
  } else {
    while (!full[0]) {}
    x[1] = x[0];
  }
}""",
    ),
    _seed(
        "warps from the fourth on wait for the first ones",
        """__global__ void k(float *x, volatile int *full) {
  int warp = threadIdx.x / 32;
  if (warp >= 4) {
    while (!full[0]) {}
    x[1] = x[0];
  } else {
    full[0] = 1;
  }
}""",
    ),
    _seed(
        "a list that grows without a lock",
        """struct Node { Node *next; };
__device__ void push(cuda::atomic<Node *> &head, Node *node) {
  Node *old = head.load();
  do {
    node->next = old;
  } while (!head.compare_exchange_weak(old, node));
}
__global__ void k(cuda::atomic<Node *> *head, Node *nodes) { push(*head, nodes + threadIdx.x); }""",
    ),
    _seed(
        "a barrier under what an unknown function told of the block",
        """__global__ void k(float *x, int n) {
  Tile tile(n, threadIdx.x);
  bool first = tile.begin() == 0;
  if (first) { x[0] = 1; __syncthreads(); } else { x[1] = 2; __syncthreads(); }
}""",
    ),
)
