// Every operation of cu2port/atomic.hpp on one thread; prints what is wrong.
#include "cu2port/atomic.hpp"
#include <cstdio>
#define OK(x) do { if (!(x)) { std::printf("line %d: %s\n", __LINE__, #x); bad = 1; } } while (0)
using namespace cu2port;
struct pair { int a; float b; };
int main() {
    int bad = 0;
    int i = 5;
    atomic_ref<int, thread_scope_device> r(i);
    OK(r.fetch_add(3, std::memory_order_relaxed) == 5 && i == 8 && r-- == 8 && --r == 6 && (r += 4) == 10);
    OK(r.fetch_sub(-2147483647 - 1) == 10 && i == -2147483638 && r.fetch_max(7) == -2147483638 && r.fetch_min(9) == 7);
    OK(r.fetch_and(6) == 7 && r.fetch_or(9) == 6 && r.fetch_xor(1) == 15 && i == 14);
    int e = 3;
    OK(!r.compare_exchange_strong(e, 1) && e == 14 && r.compare_exchange_weak(e, 1, std::memory_order_acq_rel) && r == 1);
    OK((r = 4) == 4 && r.exchange(2) == 4 && r.load(std::memory_order_acquire) == 2);
    atomic<unsigned char> c{255};
    OK(c.fetch_add(2) == 255 && c == 1 && c.fetch_sub(3) == 1 && c == 254 && c.fetch_max(1) == 254);
    atomic<float, thread_scope_block> f{1.5f};
    OK(f.fetch_add(2) == 1.5f && (f -= 1) == 2.5f && f.fetch_min(-1) == 2.5f && f == -1.f);
    double d = 1; atomic_ref<double> rd(d);
    OK(rd.fetch_sub(0.5) == 1 && d == 0.5);
    int data[4] = {};
    atomic<int *> p{data};
    OK(p.fetch_add(2) == data && (p -= 1) == data + 1 && p.exchange(nullptr) == data + 1 && p == nullptr);
    int *q = data; OK(!p.compare_exchange_strong(q, data) && q == nullptr && p.compare_exchange_strong(q, data));
    atomic<pair> s{pair{1, 2.f}};
    static_assert(sizeof(s) == 8 && alignof(atomic<pair>) == 8, "");
    pair was = s.load(); s.store({was.a + 1, was.b});
    OK(s.load().a == 2 && !s.compare_exchange_strong(was, {9, 9}) && was.a == 2);
    atomic<bool> flag; flag = true; flag.wait(false); flag.notify_all();
    OK(flag && flag.exchange(false) && !flag);
    atomic<long long> w(1); w.wait(0); ++w; OK(w == 2 && w.is_lock_free() && atomic<int>::is_always_lock_free);
    const atomic_ref<int> k(i); k.store(3); OK(i == 3);
    enum color { red, blue }; color z = red; OK(atomic_ref<color>(z).exchange(blue) == red && z == blue);
    cu2port::atomic_thread_fence(std::memory_order_seq_cst, thread_scope_block); cu2port::atomic_thread_fence(std::memory_order_release);
    return bad;
}
