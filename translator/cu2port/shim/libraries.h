// The C++ libraries that ship with CUDA: the classes whose members and result types programs use. Everything else in
// these namespaces is generated as a shapeless name. A name that is in a namespace here is not generated again.
namespace cooperative_groups {
struct thread_group {
    unsigned int size() const, num_threads() const, thread_rank() const;
    void sync() const;
    bool is_valid() const;
};
struct thread_block : thread_group {
    dim3 group_index() const, thread_index() const, group_dim() const, dim_threads() const;
    static unsigned int block_rank();
};
struct grid_group : thread_group {
    unsigned long long size() const, num_threads() const, thread_rank() const, num_blocks() const, block_rank() const;
    dim3 group_dim() const, block_index() const, dim_blocks() const;
};
struct cluster_group : thread_group {
    unsigned int block_rank() const, num_blocks() const;
    dim3 block_index() const, dim_blocks() const;
    template <class T> T *map_shared_rank(T *, int) const;
};
struct __lanes : thread_group {
    template <class T> T shfl(T, int) const;
    template <class T> T shfl_up(T, unsigned int) const;
    template <class T> T shfl_down(T, unsigned int) const;
    template <class T> T shfl_xor(T, unsigned int) const;
    int any(int) const, all(int) const;
    unsigned int ballot(int) const, meta_group_size() const, meta_group_rank() const;
    template <class T> unsigned int match_any(T) const;
    template <class T> unsigned int match_all(T, int &) const;
};
struct coalesced_group : __lanes {};
template <unsigned int N, class P = void> struct thread_block_tile : __lanes {
    static constexpr unsigned int size() { return N; }
    static constexpr unsigned int num_threads() { return N; }
};
thread_block this_thread_block();
grid_group this_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned int N, class P> thread_block_tile<N, P> tiled_partition(const P &);
coalesced_group tiled_partition(const thread_group &, unsigned int);
coalesced_group binary_partition(const __lanes &, bool);
template <class G> coalesced_group labeled_partition(const G &, int);
template <class G> void sync(const G &);
template <class G> unsigned int thread_rank(const G &);
template <class G> unsigned int group_size(const G &);
template <class T = void> struct plus { T operator()(T, T) const; };
template <class T = void> struct less { T operator()(T, T) const; };
template <class T = void> struct greater { T operator()(T, T) const; };
template <class T = void> struct bit_and { T operator()(T, T) const; };
template <class T = void> struct bit_or { T operator()(T, T) const; };
template <class T = void> struct bit_xor { T operator()(T, T) const; };
template <class G, class T, class F> T reduce(const G &, T, F);
template <class G, class T, class... F> T inclusive_scan(const G &, T, F...);
template <class G, class T, class... F> T exclusive_scan(const G &, T, F...);
template <class... A> void memcpy_async(A &&...);
template <class G> void wait(const G &);
template <unsigned int N, class G> void wait_prior(const G &);
}  // namespace cooperative_groups

namespace cub {
// A class of one type and any number of values, as most block and warp collectives are.
#define CU2PORT_COLLECTIVE(C) template <class T, auto... V> struct C : __collective<T> { using __collective<T>::__collective; };
template <class T> struct __collective {
    struct TempStorage {};
    template <class... A> __collective(A &&...);
    template <class... A> T Reduce(A &&...);
    template <class... A> T Sum(A &&...);
    template <class... A> void InclusiveSum(A &&...);
    template <class... A> void ExclusiveSum(A &&...);
    template <class... A> void InclusiveScan(A &&...);
    template <class... A> void ExclusiveScan(A &&...);
    template <class... A> void Scan(A &&...);
    template <class... A> void Load(A &&...);
    template <class... A> void Store(A &&...);
    template <class... A> T Broadcast(A &&...);
    template <class... A> void Sort(A &&...);
    template <class... A> void Composite(A &&...);
    template <class... A> void Histogram(A &&...);
    template <class... A> void InitHistogram(A &&...);
    template <class... A> void StripedToBlocked(A &&...);
    template <class... A> void BlockedToStriped(A &&...);
    template <class... A> void FlagHeads(A &&...);
    template <class... A> void FlagTails(A &&...);
    template <class... A> T HeadSegmentedReduce(A &&...);
    template <class... A> T HeadSegmentedSum(A &&...);
    template <class... A> T TailSegmentedReduce(A &&...);
    template <class... A> T TailSegmentedSum(A &&...);
};
CU2PORT_COLLECTIVE(BlockReduce) CU2PORT_COLLECTIVE(BlockScan) CU2PORT_COLLECTIVE(BlockLoad) CU2PORT_COLLECTIVE(BlockStore)
CU2PORT_COLLECTIVE(BlockExchange) CU2PORT_COLLECTIVE(BlockHistogram) CU2PORT_COLLECTIVE(BlockDiscontinuity)
CU2PORT_COLLECTIVE(BlockAdjacentDifference) CU2PORT_COLLECTIVE(BlockShuffle) CU2PORT_COLLECTIVE(WarpReduce)
CU2PORT_COLLECTIVE(WarpScan) CU2PORT_COLLECTIVE(WarpLoad) CU2PORT_COLLECTIVE(WarpStore) CU2PORT_COLLECTIVE(WarpExchange)
template <class K, auto A, auto B, class V = void, auto... R> struct BlockRadixSort : __collective<K> {
    using __collective<K>::__collective;
    template <class... X> void SortDescending(X &&...);
    template <class... X> void SortBlockedToStriped(X &&...);
    template <class... X> void SortDescendingBlockedToStriped(X &&...);
};
template <class K, auto A, auto B, class V = void, auto... R> struct BlockMergeSort : __collective<K> { using __collective<K>::__collective; };
struct Sum { template <class T> T operator()(const T &, const T &) const; };
struct Max { template <class T> T operator()(const T &, const T &) const; };
struct Min { template <class T> T operator()(const T &, const T &) const; };
struct ArgMax { template <class T> T operator()(const T &, const T &) const; };
struct ArgMin { template <class T> T operator()(const T &, const T &) const; };
struct Equality { template <class T> bool operator()(const T &, const T &) const; };
template <class K, class V> struct KeyValuePair { typedef K Key; typedef V Value; K key; V value; KeyValuePair(); KeyValuePair(const K &, const V &); };
template <class T> struct DoubleBuffer { T *d_buffers[2]; int selector; DoubleBuffer(); DoubleBuffer(T *, T *); T *Current(), *Alternate(); };
template <class T, class...> struct CountingInputIterator { CountingInputIterator(T); T operator[](int) const; };
template <class T, class...> struct ConstantInputIterator { ConstantInputIterator(T); T operator[](int) const; };
template <class T, class F, class I, class...> struct TransformInputIterator { TransformInputIterator(I, F); T operator[](int) const; };
#define CU2PORT_DEVICE(f) template <class... A> static cudaError_t f(A &&...);
struct DeviceReduce { CU2PORT_DEVICE(Reduce) CU2PORT_DEVICE(Sum) CU2PORT_DEVICE(Min) CU2PORT_DEVICE(Max) CU2PORT_DEVICE(ArgMin) CU2PORT_DEVICE(ArgMax) CU2PORT_DEVICE(ReduceByKey) CU2PORT_DEVICE(TransformReduce) };
struct DeviceScan { CU2PORT_DEVICE(ExclusiveSum) CU2PORT_DEVICE(InclusiveSum) CU2PORT_DEVICE(ExclusiveScan) CU2PORT_DEVICE(InclusiveScan) CU2PORT_DEVICE(ExclusiveSumByKey) CU2PORT_DEVICE(InclusiveSumByKey) };
struct DeviceRadixSort { CU2PORT_DEVICE(SortPairs) CU2PORT_DEVICE(SortPairsDescending) CU2PORT_DEVICE(SortKeys) CU2PORT_DEVICE(SortKeysDescending) };
struct DeviceSelect { CU2PORT_DEVICE(If) CU2PORT_DEVICE(Flagged) CU2PORT_DEVICE(Unique) CU2PORT_DEVICE(UniqueByKey) };
struct DevicePartition { CU2PORT_DEVICE(If) CU2PORT_DEVICE(Flagged) };
struct DeviceHistogram { CU2PORT_DEVICE(HistogramEven) CU2PORT_DEVICE(HistogramRange) CU2PORT_DEVICE(MultiHistogramEven) };
struct DeviceRunLengthEncode { CU2PORT_DEVICE(Encode) CU2PORT_DEVICE(NonTrivialRuns) };
struct DeviceSegmentedReduce { CU2PORT_DEVICE(Reduce) CU2PORT_DEVICE(Sum) CU2PORT_DEVICE(Min) CU2PORT_DEVICE(Max) CU2PORT_DEVICE(ArgMin) CU2PORT_DEVICE(ArgMax) };
struct DeviceSegmentedRadixSort { CU2PORT_DEVICE(SortPairs) CU2PORT_DEVICE(SortPairsDescending) CU2PORT_DEVICE(SortKeys) CU2PORT_DEVICE(SortKeysDescending) };
struct DeviceSegmentedSort { CU2PORT_DEVICE(SortPairs) CU2PORT_DEVICE(SortKeys) CU2PORT_DEVICE(StableSortPairs) CU2PORT_DEVICE(StableSortKeys) };
struct DeviceMergeSort { CU2PORT_DEVICE(SortPairs) CU2PORT_DEVICE(SortKeys) CU2PORT_DEVICE(StableSortPairs) CU2PORT_DEVICE(StableSortKeys) };
struct CachingDeviceAllocator {
    template <class... A> CachingDeviceAllocator(A &&...);
    template <class... A> cudaError_t DeviceAllocate(A &&...);
    template <class... A> cudaError_t DeviceFree(A &&...);
    cudaError_t FreeAllCached();
};
unsigned int LaneId(), WarpId();
}  // namespace cub

namespace thrust {
using std::pair; using std::tuple; using std::make_pair; using std::make_tuple; using std::tie;
template <int N, class T> __cu2port_any get(T &&);
template <class T> struct device_reference { operator T() const; template <class U> device_reference &operator=(const U &); template <class U> device_reference &operator+=(const U &); };
template <class T> struct device_ptr {
    device_ptr(); explicit device_ptr(T *); T *get() const; device_reference<T> operator*() const; device_reference<T> operator[](ptrdiff_t) const;
    device_ptr operator+(ptrdiff_t) const; device_ptr operator-(ptrdiff_t) const; ptrdiff_t operator-(const device_ptr &) const; device_ptr &operator++();
    bool operator==(const device_ptr &) const; bool operator!=(const device_ptr &) const;
};
template <class T, class...> struct host_vector : std::vector<T> { using std::vector<T>::vector; template <class U> host_vector(const U &); template <class U> host_vector &operator=(const U &); };
template <class T, class...> struct device_vector {
    typedef T value_type; typedef device_ptr<T> iterator; typedef device_ptr<const T> const_iterator; typedef size_t size_type;
    device_vector(); explicit device_vector(size_t); device_vector(size_t, const T &); template <class U> device_vector(const U &); template <class I> device_vector(I, I);
    template <class U> device_vector &operator=(const U &);
    iterator begin() const, end() const; device_ptr<T> data() const; size_t size() const; device_reference<T> operator[](size_t) const, front() const, back() const;
    void resize(size_t), clear(), reserve(size_t), shrink_to_fit(), push_back(const T &); void resize(size_t, const T &); bool empty() const;
    template <class... A> void assign(A &&...); template <class... A> iterator insert(A &&...); template <class... A> iterator erase(A &&...); void swap(device_vector &);
};
template <class T> T *raw_pointer_cast(device_ptr<T>);
template <class T> T *raw_pointer_cast(T *);
template <class T> device_ptr<T> device_pointer_cast(T *);
template <class T> device_ptr<T> device_malloc(size_t);
template <class T> void device_free(device_ptr<T>);
struct __policy { template <class... A> __policy operator()(A &&...) const; template <class... A> __policy on(A &&...) const; };
extern const __policy device, host, seq;
namespace cuda { extern const __policy par, par_nosync; }
namespace omp { extern const __policy par; }
template <class T> struct plus { constexpr T operator()(const T &, const T &) const; typedef T result_type; };
template <class T> struct minus : plus<T> {};
template <class T> struct multiplies : plus<T> {};
template <class T> struct maximum : plus<T> {};
template <class T> struct minimum : plus<T> {};
template <class T> struct less { constexpr bool operator()(const T &, const T &) const; };
template <class T> struct greater : less<T> {};
template <class T> struct equal_to : less<T> {};
template <class T> struct identity { const T &operator()(const T &) const; };
template <class... A> __cu2port_any reduce(A &&...);
template <class A, class B, class F, class T, class G> T transform_reduce(A, B, F, T, G);
template <class P, class A, class B, class F, class T, class G> T transform_reduce(P, A, B, F, T, G);
template <class A, class B> struct unary_function { typedef A argument_type; typedef B result_type; };
template <class A, class B, class C> struct binary_function { typedef A first_argument_type; typedef C result_type; };
template <class T, class...> struct counting_iterator { typedef T value_type; explicit counting_iterator(T = T()); T operator*() const; counting_iterator operator+(ptrdiff_t) const; T operator[](ptrdiff_t) const; };
template <class T> counting_iterator<T> make_counting_iterator(T);
template <class T> struct complex { complex(T = T(), T = T()); T real() const, imag() const; void real(T), imag(T); };
}  // namespace thrust

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
namespace std {
using namespace ::std;
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
}  // namespace std
using std::memory_order; using std::memory_order_relaxed; using std::memory_order_acquire; using std::memory_order_release;
using std::memory_order_acq_rel; using std::memory_order_seq_cst;
template <class T, thread_scope S = thread_scope_system> struct atomic {
    atomic(); atomic(T); T load(memory_order = memory_order_seq_cst) const; void store(T, memory_order = memory_order_seq_cst);
    T exchange(T, memory_order = memory_order_seq_cst), fetch_add(T, memory_order = memory_order_seq_cst), fetch_sub(T, memory_order = memory_order_seq_cst);
    T fetch_and(T, memory_order = memory_order_seq_cst), fetch_or(T, memory_order = memory_order_seq_cst), fetch_xor(T, memory_order = memory_order_seq_cst);
    T fetch_min(T, memory_order = memory_order_seq_cst), fetch_max(T, memory_order = memory_order_seq_cst);
    template <class... A> bool compare_exchange_weak(T &, T, A...); template <class... A> bool compare_exchange_strong(T &, T, A...);
    operator T() const; T operator++(), operator++(int), operator--(), operator+=(T), operator-=(T); void wait(T), notify_one(), notify_all();
};
template <class T, thread_scope S = thread_scope_system> struct atomic_ref : atomic<T, S> { explicit atomic_ref(T &); };
template <thread_scope S = thread_scope_system> struct barrier {
    barrier(); barrier(ptrdiff_t); struct arrival_token {}; arrival_token arrive(ptrdiff_t = 1); void wait(arrival_token &&), arrive_and_wait(), arrive_and_drop();
};
template <thread_scope S, int N> struct pipeline_shared_state {};
template <thread_scope S = thread_scope_thread> struct pipeline { void producer_acquire(), producer_commit(), consumer_wait(), consumer_release(); };
template <class... A> pipeline<> make_pipeline(A &&...);
template <class... A> void memcpy_async(A &&...);
template <thread_scope S> void atomic_thread_fence(memory_order);
}  // namespace cuda

namespace nvcuda {
namespace wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; }
namespace experimental { namespace precision { struct u4; struct s4; struct b1; } }
template <class U, int M, int N, int K, class T, class L = void> struct fragment { T x[8]; static constexpr int num_elements = 8; };
template <class F, class T> void fill_fragment(F &, T);
template <class F, class... A> void load_matrix_sync(F &, A...);
template <class T, class F, class... A> void store_matrix_sync(T *, const F &, A...);
template <class D, class A, class B, class C, class... X> void mma_sync(D &, const A &, const B &, const C &, X...);
template <class D, class A, class B, class C, class... X> void bmma_sync(D &, const A &, const B &, const C &, X...);
}  // namespace wmma
}  // namespace nvcuda
