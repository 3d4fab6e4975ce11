// hipCUB's sorts for a device, as loops on the host.
#pragma once

#include "block_sort.h"
#include "device.h"

namespace hipcub {
namespace detail {

// Sorts [first, last) from one array into another; without values `in` and `out` of these are null.
template <class K, class V>
void sort_range(const K* keys, K* keys_out, const V* values, V* values_out, std::size_t first, std::size_t last,
                bool descending, int begin, int end) {
    const auto order = radix_order(keys + first, last - first, descending, begin, end);
    for (std::size_t i = 0; i < order.size(); ++i) {
        keys_out[first + i] = keys[first + order[i]];
        if (values) values_out[first + i] = values[first + order[i]];
    }
}

}  // namespace detail

struct DeviceRadixSort {
#define CU2PORT_SIM_DEVICE_SORTS(ORDER, DESCENDING)                                                                      \
    template <class K, class N>                                                                                          \
    static hipError_t SortKeys##ORDER(CU2PORT_SIM_STORAGE, const K* in, K* out, N n, int begin = 0,                      \
                                      int end = 8 * sizeof(K), CU2PORT_SIM_END) {                                        \
        const char* none = nullptr;                                                                                      \
        if (!detail::asks_size(storage, bytes))                                                                          \
            detail::sort_range(in, out, none, static_cast<char*>(nullptr), 0, n, DESCENDING, begin, end);                \
        return hipSuccess;                                                                                               \
    }                                                                                                                    \
    template <class K, class N>                                                                                          \
    static hipError_t SortKeys##ORDER(CU2PORT_SIM_STORAGE, DoubleBuffer<K>& keys, N n, int begin = 0,                    \
                                      int end = 8 * sizeof(K), CU2PORT_SIM_END) {                                        \
        SortKeys##ORDER(storage, bytes, keys.Current(), keys.Alternate(), n, begin, end);                                \
        if (storage) keys.selector ^= 1;                                                                                 \
        return hipSuccess;                                                                                               \
    }                                                                                                                    \
    template <class K, class V, class N>                                                                                 \
    static hipError_t SortPairs##ORDER(CU2PORT_SIM_STORAGE, const K* in, K* out, const V* values, V* values_out, N n,    \
                                       int begin = 0, int end = 8 * sizeof(K), CU2PORT_SIM_END) {                        \
        if (!detail::asks_size(storage, bytes))                                                                          \
            detail::sort_range(in, out, values, values_out, 0, n, DESCENDING, begin, end);                               \
        return hipSuccess;                                                                                               \
    }                                                                                                                    \
    template <class K, class V, class N>                                                                                 \
    static hipError_t SortPairs##ORDER(CU2PORT_SIM_STORAGE, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, N n,         \
                                       int begin = 0, int end = 8 * sizeof(K), CU2PORT_SIM_END) {                        \
        SortPairs##ORDER(storage, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n,      \
                         begin, end);                                                                                    \
        if (storage) keys.selector ^= 1, values.selector ^= 1;                                                           \
        return hipSuccess;                                                                                               \
    }
    CU2PORT_SIM_DEVICE_SORTS(, false)
    CU2PORT_SIM_DEVICE_SORTS(Descending, true)
#undef CU2PORT_SIM_DEVICE_SORTS
};

struct DeviceSegmentedRadixSort {
#define CU2PORT_SIM_SEGMENT_SORTS(ORDER, DESCENDING)                                                                     \
    template <class K, class Begin, class End>                                                                           \
    static hipError_t SortKeys##ORDER(CU2PORT_SIM_STORAGE, const K* in, K* out, int, int segments, Begin from, End to,   \
                                      int begin = 0, int end = 8 * sizeof(K), CU2PORT_SIM_END) {                         \
        const char* none = nullptr;                                                                                      \
        if (!detail::asks_size(storage, bytes))                                                                          \
            for (int s = 0; s < segments; ++s)                                                                           \
                detail::sort_range(in, out, none, static_cast<char*>(nullptr), from[s], to[s], DESCENDING, begin, end);  \
        return hipSuccess;                                                                                               \
    }                                                                                                                    \
    template <class K, class V, class Begin, class End>                                                                  \
    static hipError_t SortPairs##ORDER(CU2PORT_SIM_STORAGE, const K* in, K* out, const V* values, V* values_out, int,    \
                                       int segments, Begin from, End to, int begin = 0, int end = 8 * sizeof(K),         \
                                       CU2PORT_SIM_END) {                                                                \
        if (!detail::asks_size(storage, bytes))                                                                          \
            for (int s = 0; s < segments; ++s)                                                                           \
                detail::sort_range(in, out, values, values_out, from[s], to[s], DESCENDING, begin, end);                 \
        return hipSuccess;                                                                                               \
    }
    CU2PORT_SIM_SEGMENT_SORTS(, false)
    CU2PORT_SIM_SEGMENT_SORTS(Descending, true)
#undef CU2PORT_SIM_SEGMENT_SORTS
};

struct DeviceMergeSort {
    template <class K, class N, class F>
    static hipError_t SortKeys(CU2PORT_SIM_STORAGE, K keys, N n, F less, CU2PORT_SIM_END) {
        if (!detail::asks_size(storage, bytes)) order(keys, order_of(keys, n, less));
        return hipSuccess;
    }
    template <class K, class V, class N, class F>
    static hipError_t SortPairs(CU2PORT_SIM_STORAGE, K keys, V values, N n, F less, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        const auto from = order_of(keys, n, less);
        order(keys, from);
        order(values, from);
        return hipSuccess;
    }

private:
    template <class K, class N, class F>
    static std::vector<std::size_t> order_of(K keys, N n, F less) {
        using V = detail::ValueOf<K>;
        std::vector<std::size_t> from(static_cast<std::size_t>(n));
        std::iota(from.begin(), from.end(), std::size_t{0});
        std::stable_sort(from.begin(), from.end(), [&](auto a, auto b) { return detail::combined<F, V, V>(less, keys[a], keys[b]); });
        return from;
    }
    template <class It>
    static void order(It items, const std::vector<std::size_t>& from) {
        std::vector<detail::ValueOf<It>> was;
        was.reserve(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) was.push_back(items[i]);
        for (std::size_t i = 0; i < from.size(); ++i) items[i] = was[from[i]];
    }
};

#undef CU2PORT_SIM_STORAGE
#undef CU2PORT_SIM_END

}  // namespace hipcub
