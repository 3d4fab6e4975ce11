// Lanes as fibers: each runs until it exchanges, then waits until the others have come as far.
#include "cu2port/tile_reduce.hpp"
#include <cstdio>
#include <ucontext.h>
#include <vector>

static ucontext_t home, fibers[64];
static unsigned slots[64], lane;
static bool ended[64];
static char stacks[64][65536];
static void meet() { swapcontext(&fibers[lane], &home); }

// The lane that gives: `from` is a rank of the group, `ranks` its lanes.
struct Coalesced {
    const std::vector<unsigned>& ranks;
    unsigned size() const { return unsigned(ranks.size()); }
    unsigned thread_rank() const {
        unsigned r = 0;
        while (ranks[r] != lane) ++r;
        return r;
    }
    unsigned shfl(unsigned x, int from) const {
        slots[lane] = x;
        meet();
        unsigned y = slots[ranks[unsigned(from)]];
        meet();
        return y;
    }
    unsigned shfl_down(unsigned x, unsigned d) const {
        unsigned r = thread_rank();
        return shfl(x, int(r + d < size() ? r + d : r));
    }
    unsigned shfl_up(unsigned x, unsigned d) const {
        unsigned r = thread_rank();
        return shfl(x, int(r >= d ? r - d : r));
    }
};
struct Tile : Coalesced {
    explicit Tile(const std::vector<unsigned>& r) : Coalesced{r} {}
    unsigned shfl_xor(unsigned x, unsigned mask) const { return shfl(x, int(thread_rank() ^ mask)); }
};

struct Wide { double sum; unsigned char most; int count; };
struct Merge {
    Wide operator()(const Wide& a, const Wide& b) const {
        return {a.sum + b.sum, a.most > b.most ? a.most : b.most, a.count + b.count};
    }
};
static bool operator==(const Wide& a, const Wide& b) {
    return a.sum == b.sum && a.most == b.most && a.count == b.count;
}

// x -> times * x + plus, done one after the other: the order matters.
struct Affine { unsigned times, plus; };
struct Then {
    Affine operator()(Affine f, Affine g) const { return {f.times * g.times, f.plus * g.times + g.plus}; }
};
static bool operator==(const Affine& f, const Affine& g) { return f.times == g.times && f.plus == g.plus; }

static std::vector<unsigned> members;
static int faults;
static unsigned called;
template <class T> static void same(const char* what, T got, T want) {
    if (!(got == want) && !faults++) printf("%s: lane %u of %zu is wrong\n", what, lane, members.size());
}

// `value(rank)` reduced and scanned, against a plain loop.
template <class T, class Group, class Op, class Value>
static void check(const char* what, const Group& group, Op op, Value value, bool commutes = true) {
    unsigned rank = group.thread_rank();
    T all = value(0), upto = value(0), below = T();
    for (unsigned r = 1; r < group.size(); ++r) {
        all = op(all, value(r));
        if (r <= rank) { below = upto; upto = op(upto, value(r)); }
    }
    if (commutes) same(what, cu2port::reduce(group, T(value(rank)), op), all);
    same(what, cu2port::inclusive_scan(group, T(value(rank)), op), upto);
    same(what, cu2port::exclusive_scan(group, T(value(rank)), op), below);
}
template <class Group> static void lane_main(const Group& group) {
    check<int>("plus<int>", group, cu2port::plus<int>(), [](unsigned r) { return int(r * r) - 40; });
    check<int>("less<int>", group, cu2port::less<int>(), [](unsigned r) { return int(r * 37 % 64) - 32; });
    check<int>("greater<int>", group, cu2port::greater<int>(), [](unsigned r) { return int(r * 37 % 64) - 32; });
    check<unsigned>("bit_and", group, cu2port::bit_and<unsigned>(), [](unsigned r) { return ~(1u << r % 32); });
    check<unsigned>("bit_or", group, cu2port::bit_or<unsigned>(), [](unsigned r) { return 1u << r % 32; });
    check<unsigned>("bit_xor", group, cu2port::bit_xor<unsigned>(), [](unsigned r) { return r * 0x9e3779b9u; });
    check<short>("plus<short>", group, cu2port::plus<short>(), [](unsigned r) { return short(r - 7); });
    check<unsigned char>("byte", group, cu2port::greater<unsigned char>(), [](unsigned r) { return 255 - r; });
    check<double>("plus<double>", group, cu2port::plus<double>(), [](unsigned r) { return r * 0.5; });
    check<long long>("plus<long>", group, cu2port::plus<long long>(), [](unsigned r) { return r * 0x100000001ll; });
    check<Wide>("struct", group, Merge(), [](unsigned r) {
        return Wide{r * 0.25, static_cast<unsigned char>(r * 37 % 64), 1};
    });
    check<Affine>("affine", group, Then(), [](unsigned r) { return Affine{2 * r + 3, r * r + 1}; }, false);
    same("broadcast", cu2port::invoke_one_broadcast(group, [&](int a) {
        ++called;
        return Wide{lane * 0.5, static_cast<unsigned char>(a), 3};
    }, 7), Wide{members[0] * 0.5, 7, 3});
    cu2port::invoke_one(group, [&](unsigned by) { called += by; }, 10u);
    same("default", cu2port::inclusive_scan(group, 1), int(group.thread_rank()) + 1);
    same("default", cu2port::exclusive_scan(group, 1), int(group.thread_rank()));
}
template <class Group> static void entry() {
    lane_main(Group{members});
    ended[lane] = true;
    meet();
}
template <class Group> static void run() {
    for (unsigned l : members) {
        ended[l] = false;
        getcontext(&fibers[l]);
        fibers[l].uc_stack.ss_sp = stacks[l];
        fibers[l].uc_stack.ss_size = sizeof stacks[l];
        makecontext(&fibers[l], entry<Group>, 0);
    }
    called = 0;
    for (bool going = true; going;) {
        going = false;
        for (unsigned l : members)
            if (!ended[l]) {
                lane = l;
                swapcontext(&home, &fibers[l]);
                going = true;
            }
    }
    same("once", called, 11u);
}

static void operations() {
    same("plus", cu2port::plus<int>()(3, 5), 8);
    same("less", cu2port::less<int>()(3, -5) + cu2port::less<int>()(-6, 3), -11);
    same("greater", cu2port::greater<int>()(3, -5) + cu2port::greater<int>()(-6, 4), 7);
    same("bit_and", cu2port::bit_and<int>()(6, 3), 2);
    same("bit_or", cu2port::bit_or<int>()(6, 3), 7);
    same("bit_xor", cu2port::bit_xor<int>()(6, 3), 5);
}

int main() {
    operations();
    for (unsigned size = 1; size <= 64; size *= 2) {
        members.clear();
        for (unsigned l = 64 - size; l < 64; ++l) members.push_back(l);
        run<Tile>();
    }
    for (unsigned size = 1; size <= 64; size += size < 10 ? 1 : 9) {
        members.clear();
        for (unsigned i = 0; i < size; ++i) members.push_back(size <= 21 ? i * 3 + 1 : i);
        run<Coalesced>();
    }
    return faults != 0;
}
