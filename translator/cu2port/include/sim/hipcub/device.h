// hipCUB's algorithms for a device, as loops on the host: reductions, scans, selection, runs, histograms.
//
// As in hipCUB the first call, without temporary storage, only says how much is needed.
#pragma once

#include "types.h"

namespace hipcub {
namespace detail {

// Whether a call asks for the size of its temporary storage.
inline bool asks_size(void* storage, std::size_t& bytes) {
    if (!storage) bytes = 1;
    return !storage;
}

template <class It, class F, class T, class N>
SumOf<F, T, ValueOf<It>> folded(It in, N first, N last, F f, T initial) {
    SumOf<F, T, ValueOf<It>> sum = initial;
    for (N i = first; i < last; ++i) sum = combined<F, decltype(sum), ValueOf<It>>(f, sum, in[i]);
    return sum;
}

}  // namespace detail

#define CU2PORT_SIM_STORAGE void *storage, std::size_t &bytes
#define CU2PORT_SIM_END hipStream_t = nullptr, bool = false

struct DeviceReduce {
    template <class In, class Out, class F, class T, class N>
    static hipError_t Reduce(CU2PORT_SIM_STORAGE, In in, Out out, N n, F f, T initial, CU2PORT_SIM_END) {
        if (!detail::asks_size(storage, bytes)) detail::put(out, detail::folded(in, N(0), n, f, initial));
        return hipSuccess;
    }
    template <class In, class Out, class N>
    static hipError_t Sum(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, n, hipcub::Sum(), detail::ValueOf<In>());
    }
    template <class In, class Out, class N>
    static hipError_t Min(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, n, hipcub::Min(), std::numeric_limits<detail::ValueOf<In>>::max());
    }
    template <class In, class Out, class N>
    static hipError_t Max(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, n, hipcub::Max(), std::numeric_limits<detail::ValueOf<In>>::lowest());
    }
    template <class In, class Out, class N>
    static hipError_t ArgMin(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return arg(storage, bytes, in, out, n, hipcub::ArgMin());
    }
    template <class In, class Out, class N>
    static hipError_t ArgMax(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return arg(storage, bytes, in, out, n, hipcub::ArgMax());
    }
    template <class In, class Out, class F, class G, class T, class N>
    static hipError_t TransformReduce(CU2PORT_SIM_STORAGE, In in, Out out, N n, F f, G change, T initial, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        using Changed = std::decay_t<decltype(detail::called<G, detail::ValueOf<In>>(change, in[0]))>;
        detail::SumOf<F, T, Changed> sum = initial;
        for (N i = 0; i < n; ++i) sum = detail::combined(f, sum, detail::called<G, detail::ValueOf<In>>(change, in[i]));
        detail::put(out, sum);
        return hipSuccess;
    }
    template <class K, class Unique, class V, class Sums, class Count, class F, class N>
    static hipError_t ReduceByKey(CU2PORT_SIM_STORAGE, K keys, Unique unique, V values, Sums sums, Count count, F f, N n,
                                  CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        N runs = 0;
        for (N i = 0; i < n;) {
            detail::ValueOf<K> key = keys[i];
            detail::SumOf<F, detail::ValueOf<V>, detail::ValueOf<V>> sum = static_cast<detail::ValueOf<V>>(values[i]);
            for (++i; i < n && keys[i] == key; ++i) sum = detail::combined<F, decltype(sum), detail::ValueOf<V>>(f, sum, values[i]);
            unique[runs] = key;
            sums[runs++] = sum;
        }
        detail::put(count, runs);
        return hipSuccess;
    }

private:
    template <class In, class Out, class N, class F>
    static hipError_t arg(CU2PORT_SIM_STORAGE, In in, Out out, N n, F f) {
        if (detail::asks_size(storage, bytes) || n == 0) return hipSuccess;
        KeyValuePair<int, detail::ValueOf<In>> best(0, in[0]);
        for (N i = 1; i < n; ++i) best = f(best, KeyValuePair<int, detail::ValueOf<In>>(static_cast<int>(i), in[i]));
        detail::put(out, best);
        return hipSuccess;
    }
};

struct DeviceScan {
    template <class In, class Out, class F, class N>
    static hipError_t InclusiveScan(CU2PORT_SIM_STORAGE, In in, Out out, F f, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes) || n == 0) return hipSuccess;
        using V = detail::ValueOf<In>;
        detail::SumOf<F, V, V> sum = static_cast<V>(in[0]);
        out[0] = sum;
        for (N i = 1; i < n; ++i) out[i] = sum = detail::combined<F, decltype(sum), V>(f, sum, in[i]);
        return hipSuccess;
    }
    template <class In, class Out, class F, class T, class N>
    static hipError_t ExclusiveScan(CU2PORT_SIM_STORAGE, In in, Out out, F f, T initial, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        using V = detail::ValueOf<In>;
        detail::SumOf<F, T, V> sum = initial;
        for (N i = 0; i < n; ++i) {
            const auto next = detail::combined<F, decltype(sum), V>(f, sum, in[i]);  // first: `in` may be `out`
            out[i] = sum;
            sum = next;
        }
        return hipSuccess;
    }
    template <class In, class Out, class N>
    static hipError_t InclusiveSum(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return InclusiveScan(storage, bytes, in, out, Sum(), n);
    }
    template <class In, class Out, class N>
    static hipError_t ExclusiveSum(CU2PORT_SIM_STORAGE, In in, Out out, N n, CU2PORT_SIM_END) {
        return ExclusiveScan(storage, bytes, in, out, Sum(), detail::ValueOf<In>(), n);
    }
    template <class K, class In, class Out, class N>
    static hipError_t InclusiveSumByKey(CU2PORT_SIM_STORAGE, K keys, In in, Out out, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        detail::ValueOf<In> sum = {};
        for (N i = 0; i < n; ++i) out[i] = sum = (i && keys[i - 1] == keys[i] ? sum : detail::ValueOf<In>()) + in[i];
        return hipSuccess;
    }
    template <class K, class In, class Out, class N>
    static hipError_t ExclusiveSumByKey(CU2PORT_SIM_STORAGE, K keys, In in, Out out, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        detail::ValueOf<In> sum = {};
        for (N i = 0; i < n; ++i) {
            if (i && !(keys[i - 1] == keys[i])) sum = {};
            const detail::ValueOf<In> next = sum + in[i];
            out[i] = sum;
            sum = next;
        }
        return hipSuccess;
    }
};

struct DeviceSelect {
    template <class In, class Out, class Count, class N, class F>
    static hipError_t If(CU2PORT_SIM_STORAGE, In in, Out out, Count count, N n, F f, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        N kept = 0;
        for (N i = 0; i < n; ++i)
            if (detail::called<F, detail::ValueOf<In>>(f, in[i])) detail::put_at<detail::ValueOf<In>>(out, kept++, in[i]);
        detail::put(count, kept);
        return hipSuccess;
    }
    template <class In, class Flags, class Out, class Count, class N>
    static hipError_t Flagged(CU2PORT_SIM_STORAGE, In in, Flags flags, Out out, Count count, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        N kept = 0;
        for (N i = 0; i < n; ++i)
            if (flags[i]) detail::put_at<detail::ValueOf<In>>(out, kept++, in[i]);
        detail::put(count, kept);
        return hipSuccess;
    }
    template <class In, class Out, class Count, class N>
    static hipError_t Unique(CU2PORT_SIM_STORAGE, In in, Out out, Count count, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        N kept = 0;
        for (N i = 0; i < n; ++i)
            if (i == 0 || !(in[i] == in[i - 1])) detail::put_at<detail::ValueOf<In>>(out, kept++, in[i]);
        detail::put(count, kept);
        return hipSuccess;
    }
};

struct DevicePartition {  // what is chosen first; then the rest, the last one first
    template <class In, class Out, class Count, class N, class F>
    static hipError_t If(CU2PORT_SIM_STORAGE, In in, Out out, Count count, N n, F f, CU2PORT_SIM_END) {
        if (!detail::asks_size(storage, bytes)) detail::put(count, run(in, out, n, [&](N i) { return detail::called<F, detail::ValueOf<In>>(f, in[i]); }));
        return hipSuccess;
    }
    template <class In, class Flags, class Out, class Count, class N>
    static hipError_t Flagged(CU2PORT_SIM_STORAGE, In in, Flags flags, Out out, Count count, N n, CU2PORT_SIM_END) {
        if (!detail::asks_size(storage, bytes)) detail::put(count, run(in, out, n, [&](N i) { return flags[i]; }));
        return hipSuccess;
    }

private:
    template <class In, class Out, class N, class F>
    static N run(In in, Out out, N n, F chosen) {
        N kept = 0, rest = 0;
        for (N i = 0; i < n; ++i) {
            if (chosen(i)) detail::put_at<detail::ValueOf<In>>(out, kept++, in[i]);
            else detail::put_at<detail::ValueOf<In>>(out, n - ++rest, in[i]);
        }
        return kept;
    }
};

struct DeviceRunLengthEncode {
    template <class In, class Unique, class Lengths, class Count, class N>
    static hipError_t Encode(CU2PORT_SIM_STORAGE, In in, Unique unique, Lengths lengths, Count count, N n, CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        return DeviceReduce::ReduceByKey(storage, bytes, in, unique, ConstantInputIterator<int>(1), lengths, count, Sum(), n);
    }
};

struct DeviceSegmentedReduce {
    template <class In, class Out, class Begin, class End, class F, class T>
    static hipError_t Reduce(CU2PORT_SIM_STORAGE, In in, Out out, int segments, Begin begin, End end, F f, T initial,
                             CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        for (int s = 0; s < segments; ++s)
            detail::put_at<detail::SumOf<F, T, detail::ValueOf<In>>>(
                out, s, detail::folded(in, static_cast<long long>(begin[s]), static_cast<long long>(end[s]), f, initial));
        return hipSuccess;
    }
    template <class In, class Out, class Begin, class End>
    static hipError_t Sum(CU2PORT_SIM_STORAGE, In in, Out out, int segments, Begin begin, End end, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, segments, begin, end, hipcub::Sum(), detail::ValueOf<In>());
    }
    template <class In, class Out, class Begin, class End>
    static hipError_t Min(CU2PORT_SIM_STORAGE, In in, Out out, int segments, Begin begin, End end, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, segments, begin, end, hipcub::Min(),
                      std::numeric_limits<detail::ValueOf<In>>::max());
    }
    template <class In, class Out, class Begin, class End>
    static hipError_t Max(CU2PORT_SIM_STORAGE, In in, Out out, int segments, Begin begin, End end, CU2PORT_SIM_END) {
        return Reduce(storage, bytes, in, out, segments, begin, end, hipcub::Max(),
                      std::numeric_limits<detail::ValueOf<In>>::lowest());
    }
};

struct DeviceHistogram {
    template <class In, class Count, class Level, class N>
    static hipError_t HistogramEven(CU2PORT_SIM_STORAGE, In in, Count* bins, int levels, Level low, Level high, N n,
                                    CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        std::fill(bins, bins + levels - 1, Count(0));
        const auto width = (high - low) / (levels - 1);  // of integers, an integer
        for (N i = 0; i < n; ++i)
            if (in[i] >= low && in[i] < high)
                if (const auto bin = static_cast<long long>((in[i] - low) / width); bin < levels - 1) ++bins[bin];
        return hipSuccess;
    }
    template <class In, class Count, class Level, class N>
    static hipError_t HistogramRange(CU2PORT_SIM_STORAGE, In in, Count* bins, int levels, Level* bounds, N n,
                                     CU2PORT_SIM_END) {
        if (detail::asks_size(storage, bytes)) return hipSuccess;
        std::fill(bins, bins + levels - 1, Count(0));
        for (N i = 0; i < n; ++i) {
            const auto bin = std::upper_bound(bounds, bounds + levels, in[i]) - bounds - 1;
            if (bin >= 0 && bin < levels - 1) ++bins[bin];
        }
        return hipSuccess;
    }
};

}  // namespace hipcub
