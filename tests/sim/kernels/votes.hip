// Ballots and their kin where lanes diverge: which lanes are here decides the answer.
#include "suite.h"

__global__ void full(u64* out) { out[threadIdx.x] = __ballot(1); }
__global__ void odd(u64* out) { out[threadIdx.x] = __ballot(threadIdx.x & 1); }
__global__ void branches(u64* out) {
    if (threadIdx.x % 3 == 0)
        out[threadIdx.x] = __ballot(1);
    else
        out[threadIdx.x] = __ballot(threadIdx.x % 3 == 1);
}
__global__ void nested(u64* out) {
    if (threadIdx.x % 2) {
        if (threadIdx.x % 4 == 1) {
            out[threadIdx.x] = __ballot(1);
        }
    } else {
        if (threadIdx.x % 8 == 0) out[threadIdx.x] = __ballot(1);
    }
}
__global__ void after_return(u64* out) {
    if (threadIdx.x % 4 == 2) return;
    out[threadIdx.x] = __ballot(1);
}
__global__ void upper_half_leaves(u64* out) {
    if (static_cast<int>(threadIdx.x) % warpSize >= warpSize / 2) return;
    out[threadIdx.x] = __ballot(1);
}
__global__ void trips(u64* out) {  // lane i goes round i % 4 times
    u64 sum = 0;
    for (unsigned k = 0; k < threadIdx.x % 4; ++k) sum = sum * 3 + __popcll(__ballot(1));
    out[threadIdx.x] = sum;
}
__global__ void selects(u64* out) {
    switch (threadIdx.x % 4) {
        case 0: out[threadIdx.x] = __ballot(1); break;
        case 1: out[threadIdx.x] = __ballot(1) * 2;  // falls through
        case 2: out[threadIdx.x] += __ballot(1); break;
        default: out[threadIdx.x] = 7;
    }
}
__global__ void expressions(u64* out) {
    const bool even = threadIdx.x % 2 == 0;
    const u64 a = even ? __ballot(1) : 0;
    const bool b = even && __any(threadIdx.x % warpSize == 2);
    const bool c = even || __all(threadIdx.x % 2);
    out[threadIdx.x] = a + (b ? 1 : 0) * 2 + (c ? 1 : 0);
}
__global__ void any_all(int* out) {
    out[threadIdx.x] = __any(threadIdx.x == 0) * 8 + __all(threadIdx.x < 1000) * 4 + __all(threadIdx.x > 0) * 2 + __any(0);
}
__global__ void active(u64* out) { out[threadIdx.x] = __activemask(); }
__global__ void matches(u64* out) { out[threadIdx.x] = __match_any(static_cast<int>(threadIdx.x % 3)); }
__global__ void match_all(u64* out) {
    int same = 0, other = 0;
    const u64 a = __match_all(5, &same);
    const u64 b = __match_all(static_cast<int>(threadIdx.x % warpSize == 3), &other);
    out[threadIdx.x] = a + b + (same ? 1 : 0) * 2 + other;
}
__global__ void below(u64* out) { out[threadIdx.x] = __lanemask_lt() + __lanemask_eq(); }
__global__ void prefix(int* out) {
    const bool mine = threadIdx.x % 3 == 0;
    const u64 m = __ballot(mine);
    out[threadIdx.x] = __builtin_amdgcn_mbcnt_hi(static_cast<unsigned>(m >> 32),
                                                 __builtin_amdgcn_mbcnt_lo(static_cast<unsigned>(m), 0));
}
__global__ void sync_forms(u64* out) {
    const u64 here = __activemask();
    out[threadIdx.x] = __ballot_sync(here, threadIdx.x % 2) + __any_sync(here, threadIdx.x == 0) * 2 + __all_sync(here, 1);
}
__global__ void leader_adds(int* out) {
    if (threadIdx.x % 5 == 0) {
        const u64 m = __activemask();
        if (__lane_id() == static_cast<unsigned>(__ffsll(m) - 1)) atomicAdd(out, __popcll(m));
    }
}

static u64 lanes(int i, int w, int n, bool (*in)(int)) {  // lanes of thread i's wave for which in() holds
    u64 m = 0;
    for (int k = 0; k < w; ++k)
        if (i / w * w + k < n && in(i / w * w + k)) m |= 1ull << k;
    return m;
}
static bool yes(int) { return true; }

int main() {
    const int w = wave_size();
    const int n = 128;
    auto fresh = [&](void (*k)(u64*), int count) {
        Out<u64>* o = new Out<u64>(count);
        k<<<1, count>>>(o->d);
        return o;
    };
    say("full", all(*fresh(full, n), [=](int i) { return lanes(i, w, n, yes); }));
    say("partial wave", all(*fresh(full, 40), [=](int i) { return lanes(i, w, 40, yes); }));
    say("odd", all(*fresh(odd, n), [=](int i) { return lanes(i, w, n, [](int t) { return t % 2 == 1; }); }));
    say("branches", all(*fresh(branches, n), [=](int i) {
            return i % 3 == 0 ? lanes(i, w, n, [](int t) { return t % 3 == 0; })
                              : lanes(i, w, n, [](int t) { return t % 3 == 1; });
        }));
    say("nested", all(*fresh(nested, n), [=](int i) {
            return i % 4 == 1 ? lanes(i, w, n, [](int t) { return t % 4 == 1; })
                   : i % 8 == 0 ? lanes(i, w, n, [](int t) { return t % 8 == 0; }) : 0;
        }));
    say("after return", all(*fresh(after_return, n), [=](int i) {
            return i % 4 == 2 ? 0 : lanes(i, w, n, [](int t) { return t % 4 != 2; });
        }));
    say("upper half leaves", all(*fresh(upper_half_leaves, n), [=](int i) {
            return i % w >= w / 2 ? 0 : (1ull << (w / 2)) - 1;
        }));
    say("loop with different trips", all(*fresh(trips, n), [=](int i) {
            u64 sum = 0;
            for (int k = 0; k < i % 4; ++k) sum = sum * 3 + w * (3 - k) / 4;
            return sum;
        }));
    say("switch", all(*fresh(selects, n), [=](int i) -> u64 {
            const u64 one = lanes(i, w, n, [](int t) { return t % 4 == 1; });
            const u64 both = lanes(i, w, n, [](int t) { return t % 4 == 1 || t % 4 == 2; });
            switch (i % 4) {
                case 0: return lanes(i, w, n, [](int t) { return t % 4 == 0; });
                case 1: return one * 2 + both;
                case 2: return both;
                default: return 7;
            }
        }));
    say("in expressions", all(*fresh(expressions, n), [=](int i) -> u64 {
            const u64 even = lanes(i, w, n, [](int t) { return t % 2 == 0; });
            return i % 2 == 0 ? even + 3 : 1;
        }));
    Out<int> aa(n);
    any_all<<<1, n>>>(aa.d);
    say("any and all", all(aa, [=](int i) { return (i < w ? 8 : 0) + 4 + (i < w ? 0 : 2); }));
    say("active mask", all(*fresh(active, 70), [=](int i) { return lanes(i, w, 70, yes); }));
    say("match any", all(*fresh(matches, n), [=](int i) {
            return i % 3 == 0   ? lanes(i, w, n, [](int t) { return t % 3 == 0; })
                   : i % 3 == 1 ? lanes(i, w, n, [](int t) { return t % 3 == 1; })
                                : lanes(i, w, n, [](int t) { return t % 3 == 2; });
        }));
    say("match all", all(*fresh(match_all, n), [=](int i) { return lanes(i, w, n, yes) + 2; }));
    say("lane masks", all(*fresh(below, n), [=](int i) { return (1ull << i % w) - 1 + (1ull << i % w); }));
    Out<int> pre(n);
    prefix<<<1, n>>>(pre.d);
    say("prefix of a ballot", all(pre, [=](int i) {
            int c = 0;
            for (int k = i / w * w; k < i; ++k) c += k % 3 == 0;
            return c;
        }));
    say("sync forms", all(*fresh(sync_forms, n), [=](int i) {
            return lanes(i, w, n, [](int t) { return t % 2 == 1; }) + (i < w ? 2 : 0) + 1;
        }));
    Out<int> led(1);
    leader_adds<<<3, 100>>>(led.d);
    say("leader adds for its lanes", led.get()[0] == 60);
}
