// Loops, calls and early leaving around cross-lane operations.
#include "suite.h"

__device__ u64 here() { return __ballot(1); }
__device__ u64 count_down(int n) { return n == 0 ? __popcll(__ballot(1)) : count_down(n - 1) * 2 + __popcll(__ballot(1)); }
template <int N>
struct Twice {
    static __device__ u64 of(int t) { return Twice<N - 1>::of(t) + here(); }
};
template <>
struct Twice<0> {
    static __device__ u64 of(int) { return 0; }
};
struct Counter {
    u64 seen;
    __device__ void note() { seen += __popcll(__ballot(1)); }
};
#define COUNT() __popcll(__ballot(1))
#define EACH(i, n) for (int i = 0; i < (n); ++i)

__global__ void same_function_two_places(u64* out) {
    if (threadIdx.x % 2)
        out[threadIdx.x] = here();
    else
        out[threadIdx.x] = here();
}
__global__ void one_call_after_branches(u64* out) {
    int a = 0;
    if (threadIdx.x % 2) a = 1;
    out[threadIdx.x] = here() + a * 0;
}
__global__ void spaces(u64* out) {
    __shared__ int shared;
    int own = threadIdx.x;
    shared = own;
    const void* all[] = {&shared, &own, out};
    out[threadIdx.x] = 0;
    for (int i = 0; i < 3; ++i)
        out[threadIdx.x] += (__builtin_amdgcn_is_shared(all[i]) + 2 * __builtin_amdgcn_is_private(all[i])) << 2 * i;
}
__global__ void recursion(u64* out) { out[threadIdx.x] = count_down(threadIdx.x % 2); }
__global__ void templates(u64* out) { out[threadIdx.x] = Twice<3>::of(threadIdx.x); }
__global__ void method(u64* out) {
    Counter c{0};
    if (threadIdx.x % 4 == 0) c.note();
    c.note();
    out[threadIdx.x] = c.seen;
}
__global__ void lambda(u64* out) {
    auto count = [&](bool p) { return __popcll(__ballot(p)); };
    u64 v = 0;
    if (threadIdx.x % 2) v = count(true);
    v = v * 100 + count(true);
    out[threadIdx.x] = v;
}
__global__ void macros(u64* out) {
    u64 v = COUNT();
    if (threadIdx.x % 2) v = v * 100 + COUNT();
    EACH(i, static_cast<int>(threadIdx.x % 2) + 1) v = v * 100 + COUNT();
    out[threadIdx.x] = v;
}
__global__ void continues(u64* out) {
    u64 v = 0;
    for (int i = 0; i < 3; ++i) {
        if (i == static_cast<int>(threadIdx.x % 3)) continue;
        v = v * 100 + __popcll(__ballot(1));
    }
    out[threadIdx.x] = v;
}
__global__ void breaks(u64* out) {
    u64 v = 0;
    while (true) {
        v = v * 100 + __popcll(__ballot(1));
        if (threadIdx.x % 2) break;
        if (v > 100) break;
    }
    out[threadIdx.x] = v * 100 + __popcll(__ballot(1));
}
__global__ void operation_before_break(u64* out) {  // the block that leaves runs after the loop, once, for all who left there
    u64 v = 0;
    for (unsigned i = 0; i < 4; ++i) {
        if (i == threadIdx.x % 4) {
            v = v * 1000 + __popcll(__ballot(1));
            break;
        }
        v = v * 100 + __popcll(__ballot(1));
    }
    out[threadIdx.x] = v;
}
__device__ u64 find(unsigned stop) {
    for (unsigned i = 0; i < 4; ++i) {
        if (i == stop) return __popcll(__ballot(1));
    }
    return 0;
}
__global__ void value_returned_from_loop(u64* out) { out[threadIdx.x] = find(threadIdx.x % 4); }
__global__ void do_while(u64* out) {
    u64 v = 0;
    int i = 0;
    do {
        v += __popcll(__ballot(1));
    } while (++i < static_cast<int>(threadIdx.x % 4));
    out[threadIdx.x] = v;
}
__global__ void condition_votes(u64* out) {  // all go on while any lane wants to
    int i = 0;
    while (__any(i < static_cast<int>(threadIdx.x))) ++i;
    out[threadIdx.x] = i;
}
__global__ void nested_loops(u64* out) {
    u64 v = 0;
    for (unsigned i = 0; i <= threadIdx.x % 2; ++i)
        for (unsigned k = 0; k <= threadIdx.x % 3; ++k) v = v * 7 + __popcll(__ballot(1));
    out[threadIdx.x] = v;
}
__global__ void waterfall(u64* out) {  // one turn for each different value
    const int mine = threadIdx.x % 5;
    bool done = false;
    u64 turns = 0;
    while (__any(!done)) {
        if (!done) {
            const int chosen = __builtin_amdgcn_readfirstlane(mine);
            if (chosen == mine) {
                turns = turns * 100 + __popcll(__activemask());
                done = true;
            }
        }
    }
    out[threadIdx.x] = turns;
}
__global__ void shuffle_of_shuffle(int* out) {
    const int v = __shfl(static_cast<int>(threadIdx.x), __shfl(static_cast<int>(threadIdx.x % warpSize) ^ 1, threadIdx.x ^ 2, 4), 8);
    out[threadIdx.x] = v;
}
__global__ void inactive_source(int* out) {
    int v = -1;
    if (threadIdx.x % 2 == 0) v = __shfl_down(static_cast<int>(threadIdx.x) + 1, 1);
    out[threadIdx.x] = v;
}

static int count(int i, int w, bool (*in)(int)) {
    int c = 0;
    for (int k = i / w * w; k < i / w * w + w; ++k) c += in(k);
    return c;
}
static u64 mask(int i, int w, bool (*in)(int)) {
    u64 m = 0;
    for (int k = 0; k < w; ++k) m |= static_cast<u64>(in(i / w * w + k)) << k;
    return m;
}
static bool is_odd(int t) { return t % 2 == 1; }
static bool is_even(int t) { return t % 2 == 0; }
static bool yes(int) { return true; }

int main() {
    const int w = wave_size();
    const int n = 128;
    auto run = [&](void (*k)(u64*)) -> Out<u64>& {
        Out<u64>* o = new Out<u64>(n);
        k<<<1, n>>>(o->d);
        return *o;
    };
    say("a function called in two places", all(run(same_function_two_places), [=](int i) {
            return i % 2 ? mask(i, w, is_odd) : mask(i, w, is_even);
        }));
    say("one call after branches", all(run(one_call_after_branches), [=](int i) { return mask(i, w, yes); }));
    say("recursion", all(run(recursion), [=](int i) { return i % 2 ? w / 2 * 2 + w / 2 : w / 2; }));
    say("templates", all(run(templates), [=](int i) { return 3 * mask(i, w, yes); }));
    say("method", all(run(method), [=](int i) { return i % 4 == 0 ? w / 4 + w : w; }));
    say("lambda", all(run(lambda), [=](int i) { return (i % 2 ? w / 2 * 100 : 0) + w; }));
    say("macros", all(run(macros), [=](int i) -> u64 {
            return i % 2 ? ((w * 100ull + w / 2) * 100 + w) * 100 + w / 2 : w * 100ull + w;
        }));
    say("continue", all(run(continues), [=](int i) {
            u64 v = 0;
            for (int k = 0; k < 3; ++k) {
                if (k == i % 3) continue;
                int c = 0;
                for (int t = i / w * w; t < i / w * w + w; ++t) c += t % 3 != k;
                v = v * 100 + c;
            }
            return v;
        }));
    say("break", all(run(breaks), [=](int i) -> u64 {
            return (i % 2 ? w : w * 100ull + w / 2) * 100 + w;
        }));
    say("operation before break", all(run(operation_before_break), [=](int i) {
            u64 v = 0;
            for (int k = 0; k < i % 4; ++k) v = v * 100 + w * (3 - k) / 4;
            return v * 1000 + w;
        }));
    say("value returned from a loop", all(run(value_returned_from_loop), [=](int) { return w; }));
    say("do while", all(run(do_while), [=](int i) {
            u64 v = w;
            for (int k = 1; k < i % 4; ++k) v += w * (3 - k) / 4 + (0);
            return v;
        }));
    say("condition votes", all(run(condition_votes), [=](int i) { return i / w * w + w - 1; }));
    say("nested loops", all(run(nested_loops), [=](int i) {
            u64 v = 0;
            for (int a = 0; a <= i % 2; ++a)
                for (int b = 0; b <= i % 3; ++b) {
                    int c = 0;
                    for (int t = i / w * w; t < i / w * w + w; ++t) c += a <= t % 2 && b <= t % 3;
                    v = v * 7 + c;
                }
            return v;
        }));
    say("spaces of addresses", all(run(spaces), [](int) { return 1 + (2 << 2); }));
    say("waterfall", all(run(waterfall), [=](int i) {
            int c = 0;
            for (int t = i / w * w; t < i / w * w + w; ++t) c += t % 5 == i % 5;
            return c;
        }));
    Out<int> sos(n), dead(n);
    shuffle_of_shuffle<<<1, n>>>(sos.d);
    say("shuffle of a shuffle", all(sos, [=](int i) {
            const int inner = ((i / 4 * 4 + (i ^ 2) % 4) % w) ^ 1;
            return i / 8 * 8 + inner % 8;
        }));
    inactive_source<<<1, n>>>(dead.d);
    say("read from an inactive lane", all(dead, [=](int i) { return i % 2 ? -1 : 0; }));
}
