// Kernels that keep votes and look as if wavefronts might do what their warps do, each with what stands in the way:
// `tests/warp/test_warp_native_attacks.py` sees that they keep their warps. In front of each stand its headers.
//// rank_of_gone
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (in[threadIdx.x] > 90) return;
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(m, base, __ffs(m) - 1);
  out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// base_from_previous_turn
__global__ void k(const int* in, int* out, int n) {
  int lane = threadIdx.x % 32, base = 0;
  for (int i = 0; i < n; i++) {
    unsigned m = __ballot_sync(FULL, in[threadIdx.x + i] & 1);
    int b = __shfl_sync(FULL, base, 0);
    if (lane == 0) base = atomicAdd(out, __popc(m));
    out[16 + b + __popc(m & ((1u << lane) - 1))] = 1;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out, 3); }
//// hidden_pred
__device__ void change(bool& p, int x) { p = x > 3; }
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  bool p = in[threadIdx.x] & 1;
  unsigned m = __ballot_sync(FULL, p);
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, __ffs(m) - 1);
  change(p, in[threadIdx.x]);
  if (p) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// pred_by_reference
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  bool p = in[threadIdx.x] & 1; bool& q = p;
  unsigned m = __ballot_sync(FULL, p);
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, __ffs(m) - 1);
  q = in[threadIdx.x] > 50;
  if (p) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_by_reference
__device__ void cut(unsigned& m) { m &= 0xff; }
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  cut(m);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_reference
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  unsigned& r = m;
  r &= 0xff;
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// mask_changed_in_loop
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  for (int i = 0; i < 3; i++) { if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m)); m = m >> 1; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// own_popc
__device__ int __popc(unsigned x) { return x & 0xff; }
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// own_atomic
__device__ int atomicAdd(int* p, unsigned n) { return atomicMax(p, (int)n); }
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// macro_atomic
#define atomicAdd(p, n) atomicMax(p, n)
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// macro_popc
#define __popc(m) ((m) & 0xf)
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// byte_base
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32; unsigned char base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + (base + __popc(m & ((1u << lane) - 1)))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// byte_count
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  signed char n = __popc(m);
  n = n * 1;
  if (lane == 0) atomicAdd(out, n << 3);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// narrow_count
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  struct { unsigned n : 5; } x;
  if (lane == 0) atomicAdd(out, static_cast<bool>(__popc(m)));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_count
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) atomicAdd(out, (bool)__popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// bool_count
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  bool n = __popc(m);
  if (lane == 0) atomicAdd(out, n);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_place
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + (unsigned char)base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_rank
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + base + (bool)__popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_lane
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if ((bool)lane == 0) atomicAdd(out, __popc(m));
  if ((lane & 1) == 0) atomicAdd(out + 1, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_leader
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == (bool)(__ffs(m) - 1)) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_mask
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) atomicAdd(out, __popc((unsigned char)m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// cast_copy
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  unsigned h = (unsigned short)m;
  if (lane == 0) atomicAdd(out, __popc(h));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// short_mask
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned short m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// leader_byte
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  bool leader = __ffs(m) - 1;
  if (lane == leader) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// two_leaders
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(m, base, 31 - __clz(m));
  if (in[threadIdx.x] & 1) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// reserve_more
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m) + 1);
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// inverted_order
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + base - __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// subtract
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicSub(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// loop_wants_by_function
__device__ bool more(int n, int* c) { atomicAdd(c, 1); return n > 0; }
__global__ void k(const int* in, int* out) {
  int n = in[threadIdx.x] % 5;
  while (__any_sync(FULL, more(n, out))) { if (n > 0) n--; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// loop_want_elsewhere
__global__ void k(const int* in, int* out) {
  volatile __shared__ bool p;
  p = in[threadIdx.x] & 1;
  int n = 0;
  while (__any_sync(FULL, p)) { if (p) { n++; p = n < 5; } }
  out[threadIdx.x] = n;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// loop_calls_meeting
__device__ int count() { return __popc(__activemask()); }
__global__ void k(const int* in, int* out) {
  int n = in[threadIdx.x] % 5; bool p = n;
  while (__any_sync(FULL, p)) { if (p) { out[threadIdx.x] = count(); n--; p = n; } }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// member_counter
struct C { int* c; __device__ int next() {
    auto g = cg::coalesced_threads(); int b;
    if (g.thread_rank() == 0) b = atomicAdd(c, g.size());
    return g.shfl(b, 0) + g.thread_rank(); } };
__global__ void k(const int* in, int* out) { C x{out + threadIdx.x / 32}; out[16 + threadIdx.x] = x.next(); }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// rank_without_group
__global__ void k(const int* in, int* out) {
  auto g = cg::coalesced_threads();
  out[threadIdx.x] = g.thread_rank();
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// shadowed_mask
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  { unsigned m = in[threadIdx.x]; out[threadIdx.x] = ~m; }
  if (threadIdx.x % 32 == 0) atomicAdd(out + 300, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// lambda_mask
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  auto f = [&]() { return m & 0xff; };
  if (threadIdx.x % 32 == 0) atomicAdd(out + 300, __popc(m));
  out[threadIdx.x] = f();
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// every_16th
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 16 == 0) atomicAdd(out + 300, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// half_lower
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  if (in[threadIdx.x] & 1) out[16 + base + __popc(m & ((1u << (lane % 16)) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// shfl_width
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0, 16);
  if (in[threadIdx.x] & 1) out[16 + base + __popc(m & ((1u << lane) - 1))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// square_blocks
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, dim3(16, 8)>>>(in, out); }
//// square_blocks_match
__global__ void k(const int* in, int* out) {
  int key = in[threadIdx.x] % 4;
  unsigned m = __match_any_sync(FULL, key);
  if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(&out[key], __popc(m));
}
void run(const int* in, int* out) { k<<<1, dim3(16, 8)>>>(in, out); }
//// changed_key
__global__ void k(const int* in, int* out) {
  int key = in[threadIdx.x] % 4;
  unsigned m = __match_any_sync(FULL, key);
  key = threadIdx.x / 32;
  if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(&out[key], __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// key_beyond
__global__ void k(const int* in, int* out) {
  int key = in[threadIdx.x] % 4, warp = threadIdx.x / 32;
  unsigned m = __match_any_sync(FULL, key);
  if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(&out[key + warp], __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// value_order
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  out[16 + threadIdx.x] = base + __popc(m);
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// last_total
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) { int old = atomicAdd(out, __popc(m)); if (old + __popc(m) > 50) out[5] = old; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// printed
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) printf("%d\n", __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// partial_full
__global__ void k(const int* in, int* out) {
  const unsigned some = 0x0000ffff;
  if (threadIdx.x % 32 < 16) {
    unsigned m = __ballot_sync(some, in[threadIdx.x] & 1);
    if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(out, __popc(m));
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// full_changed
__global__ void k(const int* in, int* out) {
  unsigned some = 0xffffffff;
  if (threadIdx.x % 32 < 16) some = 0xffff; else some = 0xffff0000;
  unsigned m = __ballot_sync(some, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// leader_kept
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  int leader = __ffs(m) - 1;
  out[threadIdx.x] = leader;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// elected_kept
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  bool leads = threadIdx.x % 32 == __ffs(m) - 1;
  out[threadIdx.x] = leads;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// switch_leader
__global__ void k(const int* in, int* out) {
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  switch (in[threadIdx.x] % 3) { case 0: if (threadIdx.x % 32 == __ffs(m) - 1) atomicAdd(out, __popc(m)); }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// conditional_shuffle
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  unsigned m = __activemask();
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  int p = in[threadIdx.x] & 1 ? __shfl_sync(m, base, __ffs(m) - 1) + __popc(m & ((1u << lane) - 1)) : 0;
  out[16 + p] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// quiet_divides
__global__ void k(const int* in, int* out) {
  const int x = in[threadIdx.x];
  unsigned m = __ballot_sync(FULL, x == 5);
  if (m) { __syncthreads(); if (x == 5) out[threadIdx.x] = 1; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// vote_else
__global__ void k(const int* in, int* out) {
  const int x = in[threadIdx.x];
  if (__any_sync(FULL, x == 5)) { if (x == 5) out[threadIdx.x] = 1; } else out[threadIdx.x] = 2;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// vote_all
__global__ void k(const int* in, int* out) {
  const int x = in[threadIdx.x];
  if (__all_sync(FULL, x > 5)) { if (x > 5) out[threadIdx.x] = 1; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// inner_else
__global__ void k(const int* in, int* out) {
  const int x = in[threadIdx.x];
  if (__any_sync(FULL, x == 5)) { if (x == 5) out[threadIdx.x] = 1; else out[threadIdx.x] = 2; }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// vote_changes_in_loop
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base;
  bool p = in[threadIdx.x] & 1;
  unsigned m = __ballot_sync(FULL, p);
  if (lane == __ffs(m) - 1) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, __ffs(m) - 1);
  int place = base + __popc(m & ((1u << lane) - 1));
  for (int i = 0; i < 2; i++) {
    if (p) out[16 + place] = 1;
    p = in[threadIdx.x + i] & 2;
  }
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// counter_moves
__device__ int next(int* c) {
  auto g = cg::coalesced_threads(); int b = 0;
  for (int i = 0; i < 3; i++) {
    if (g.thread_rank() == 0) b = atomicAdd(c, g.size());
    c++;
  }
  return g.shfl(b, 0) + g.thread_rank();
}
__global__ void k(const int* in, int* out) { out[16 + threadIdx.x] = next(out); }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// local_counter
__global__ void k(const int* in, int* out) {
  int own[2] = {0, 0};
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (threadIdx.x % 32 == 0) atomicAdd(&own[0], __popc(m));
  out[threadIdx.x] = own[0];
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// flag_of_thread
__global__ void k(const int* in, int* out) {
  bool any = false;
  if (__any_sync(FULL, in[threadIdx.x] == 5)) any = true;
  out[threadIdx.x] = any;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// flag_member
struct F { bool any; __device__ void look(int x) { if (__any_sync(FULL, x == 5)) any = true; } };
__global__ void k(const int* in, int* out) { F f{false}; f.look(in[threadIdx.x]); out[threadIdx.x] = f.any; }
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// two_reads
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, a = 0, b = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) a = atomicAdd(out, __popc(m));
  a = __shfl_sync(FULL, a, 0);
  if (lane == 0) b = atomicAdd(out, __popc(m));
  out[16 + threadIdx.x] = __shfl_sync(FULL, b, 0) - a;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// places_apart
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  int rank = __popc(m & ((1u << lane) - 1));
  out[16 + 2 * base + rank] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// rank_twice
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  int rank = __popc(m & ((1u << lane) - 1));
  out[16 + base + rank + rank] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// stages_of_other_votes
__global__ void k(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x];
  const unsigned a = __ballot_sync(FULL, x % 3), b = __ballot_sync(FULL, x % 2);
  const int rank = __popc(b & ((1u << lane) - 1));
  if (lane == 0) s[warp] = __popc(a);
  __syncthreads();
  if (warp == 0) {
    int n = lane < blockDim.x / 32 ? s[lane] : 0;
    for (int o = 1; o < 32; o <<= 1) {
      int below = __shfl_up_sync(FULL, n, o);
      if (lane >= o) n += below;
    }
    if (lane < blockDim.x / 32) s[lane] = n;
  }
  __syncthreads();
  int place = rank;
  if (warp > 0) place += s[warp - 1];
  out[16 + threadIdx.x] = place;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// float_place
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  out[16 + (int)(base + 0.5f + __popc(m & ((1u << lane) - 1)))] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// added_twice
__global__ void k(const int* in, int* out) {
  int lane = threadIdx.x % 32, base = 0;
  unsigned m = __ballot_sync(FULL, in[threadIdx.x] & 1);
  if (lane == 0) base = atomicAdd(out, __popc(m));
  base = __shfl_sync(FULL, base, 0);
  base += base;
  base += __popc(m & ((1u << lane) - 1));
  out[16 + base] = 1;
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
//// leader_left_the_loop
__global__ void k(const int* in, int* out) {
  const int lane = threadIdx.x % 32, n = in[threadIdx.x] % 4;
  unsigned m = __activemask();
  for (int i = 0; i < n; i++)
    if (lane == __ffs(m) - 1) atomicAdd(out, __popc(m));
}
void run(const int* in, int* out) { k<<<1, 128>>>(in, out); }
