// Function objects, pairs, buffers, iterators and names of algorithms.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "../hip/hip_bfloat16.h"
#include "../hip/hip_fp16.h"
#include "../hip/hip_runtime.h"

#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_DEVICE_WARP_THREADS CU2PORT_SIM_WAVE
#define HIPCUB_WARP_THREADS CU2PORT_SIM_WAVE
#define HipcubDebug(e) (e)

namespace hipcub {

enum CacheLoadModifier : int { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

struct NullType {
    template <class T>
    NullType& operator=(const T&) { return *this; }
};

template <class A, class B>
struct KeyValuePair {
    using Key = A;
    using Value = B;
    A key;
    B value;
    KeyValuePair() = default;
    KeyValuePair(const A& k, const B& v) : key(k), value(v) {}
    bool operator!=(const KeyValuePair& o) const { return value != o.value || key != o.key; }
};

struct Sum {
    template <class A, class B>
    auto operator()(const A& a, const B& b) const { return a + b; }
};
struct Difference {
    template <class A, class B>
    auto operator()(const A& a, const B& b) const { return a - b; }
};
struct Max {
    template <class A, class B>
    std::common_type_t<A, B> operator()(const A& a, const B& b) const { return a < b ? b : a; }
};
struct Min {
    template <class A, class B>
    std::common_type_t<A, B> operator()(const A& a, const B& b) const { return b < a ? b : a; }
};
struct Equality {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const { return a == b; }
};
struct Inequality {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const { return a != b; }
};
struct ArgMax {  // of equal values the one with the smaller key
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
template <class B>
struct CastOp {
    template <class A>
    B operator()(const A& a) const { return static_cast<B>(a); }
};

template <class T>
struct FpLimits;  // for these four types, as in hipCUB
template <>
struct FpLimits<float> {
    static float Max() { return std::numeric_limits<float>::max(); }
    static float Lowest() { return std::numeric_limits<float>::lowest(); }
};
template <>
struct FpLimits<double> {
    static double Max() { return std::numeric_limits<double>::max(); }
    static double Lowest() { return std::numeric_limits<double>::lowest(); }
};
namespace detail {
template <class T, unsigned short MAX>
struct SmallLimits {
    static T Max() { return of(MAX); }
    static T Lowest() { return of(MAX | 0x8000); }

private:
    static T of(unsigned short bits) {
        T out;
        std::memcpy(static_cast<void*>(&out), &bits, sizeof bits);
        return out;
    }
};
}  // namespace detail
template <>
struct FpLimits<__half> : detail::SmallLimits<__half, 0x7bff> {};
template <>
struct FpLimits<hip_bfloat16> : detail::SmallLimits<hip_bfloat16, 0x7f7f> {};

template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace detail {

// An iterator that makes its values: Self has `get(n)`.
template <class Self, class V, class D = std::ptrdiff_t>
struct Made {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = V;
    using difference_type = D;
    using reference = V;
    using pointer = const V*;
    difference_type at = 0;
    V operator*() const { return self().get(at); }
    template <class N>
    V operator[](N n) const { return self().get(at + static_cast<difference_type>(n)); }
    Self& operator++() { return *this += 1; }
    Self operator++(int) { Self was = self(); ++at; return was; }
    Self& operator--() { return *this += -1; }
    Self& operator+=(difference_type n) { at += n; return static_cast<Self&>(*this); }
    Self& operator-=(difference_type n) { return *this += -n; }
    Self operator+(difference_type n) const { Self out = self(); out.at += n; return out; }
    Self operator-(difference_type n) const { return *this + -n; }
    difference_type operator-(const Self& o) const { return at - o.at; }
    bool operator==(const Self& o) const { return at == o.at; }
    bool operator!=(const Self& o) const { return at != o.at; }
    bool operator<(const Self& o) const { return at < o.at; }

private:
    const Self& self() const { return static_cast<const Self&>(*this); }
};

// What an iterator's elements are: by what it says; else by what it gives, of which many have `[]` alone.
template <class It, class = void>
struct Given {
    using type = decltype(std::declval<It&>()[0]);
};
template <class It>
struct Given<It, std::void_t<decltype(*std::declval<It&>())>> {
    using type = decltype(*std::declval<It&>());
};
template <class It, class = void>
struct Said : Given<It> {};
template <class It>
struct Said<It, std::void_t<typename It::value_type>> {
    using type = typename std::conditional_t<std::is_void_v<typename It::value_type>, Given<It>, std::enable_if<true, typename It::value_type>>::type;
};
template <class T>
struct Said<T*, void> {
    using type = T;
};
template <class It>
using ValueOf = std::remove_cv_t<std::remove_reference_t<typename Said<It>::type>>;

// An operator's result. It gets values of its own, since it may take references to what it may change.
template <class F, class A, class B>
auto combined(F& f, A a, B b) { return f(a, b); }
template <class F, class A>
auto called(F& f, A a) { return f(a); }

// In what type an algorithm sums up: that of the operator's results.
template <class F, class T, class V, class = void>
struct Sums {
    using type = T;
};
template <class F, class T, class V>
struct Sums<F, T, V, std::enable_if_t<std::is_invocable_v<F&, std::decay_t<std::invoke_result_t<F&, T&, V&>>&, V&>>> {
    using type = std::decay_t<std::invoke_result_t<F&, T&, V&>>;
};
template <class F, class T, class V>
using SumOf = typename Sums<F, T, V>::type;

template <class Out, class V, class = void>
struct Stored {
    static void put(Out& out, V& v) { out[0] = v; }
};
template <class Out, class V>
struct Stored<Out, V, std::void_t<decltype(*std::declval<Out&>() = std::declval<V&>())>> {
    static void put(Out& out, V& v) { *out = v; }
};
// The only result of an algorithm, and one of many: places may take a reference to what they might change.
template <class Out, class V>
void put(Out& out, V v) { Stored<Out, V>::put(out, v); }
template <class V, class Out, class N>
void put_at(Out& out, N n, V v) { out[n] = v; }

}  // namespace detail

template <class V, class Offset = std::ptrdiff_t>
struct CountingInputIterator : detail::Made<CountingInputIterator<V, Offset>, V> {
    V first;
    explicit CountingInputIterator(V v = V()) : first(v) {}
    V get(std::ptrdiff_t n) const { return static_cast<V>(first + n); }
};
template <class V, class Offset = std::ptrdiff_t>
struct ConstantInputIterator : detail::Made<ConstantInputIterator<V, Offset>, V> {
    V value;
    explicit ConstantInputIterator(V v = V(), Offset = 0) : value(v) {}
    V get(std::ptrdiff_t) const { return value; }
};
template <class V, class F, class It, class Offset = std::ptrdiff_t>
struct TransformInputIterator : detail::Made<TransformInputIterator<V, F, It, Offset>, V> {
    It in;
    F f;
    TransformInputIterator(It i, F g) : in(i), f(g) {}
    V get(std::ptrdiff_t n) const { return f(in[n]); }
};
template <class It, class Offset = std::ptrdiff_t, class V = detail::ValueOf<It>>
struct ArgIndexInputIterator : detail::Made<ArgIndexInputIterator<It, Offset, V>, KeyValuePair<Offset, V>> {
    It in;
    explicit ArgIndexInputIterator(It i) : in(i) {}
    KeyValuePair<Offset, V> get(std::ptrdiff_t n) const { return {static_cast<Offset>(n), static_cast<V>(in[n])}; }
};

// How a collective works is the hardware's matter; what its items are, of some, is not.
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockHistogramAlgorithm { BLOCK_HISTO_ATOMIC, BLOCK_HISTO_SORT };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

}  // namespace hipcub
