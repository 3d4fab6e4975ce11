// What the runtime offers to the host side of the headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cu2port_sim {

constexpr std::size_t kLocalMemory = 64 * 1024;  // LDS of a block on gfx90a, gfx942 and RDNA
constexpr int kUnits = 8;                        // compute units we claim to have
constexpr unsigned cooperative_blocks(std::uint64_t threads) {
    return threads > 512 ? kUnits : threads > 256 ? 2 * kUnits : 4 * kUnits;
}

// Work that may be done later or again: a callable without arguments, copied with it. std::function takes the compiler
// ten times as long, and every unit that includes HIP has some thirty of them.
class Task {
    struct Callable {
        virtual ~Callable() = default;
        virtual int call() = 0;
        virtual Callable* copy() const = 0;
    };
    template <class F>
    struct Of final : Callable {
        F f;
        explicit Of(const F& g) : f(g) {}
        int call() override { return f(); }
        Callable* copy() const override { return new Of(f); }
    };
    Callable* held = nullptr;

public:
    Task() = default;
    template <class F>
    Task(const F& f) : held(new Of<F>(f)) {}
    Task(const Task& other) : held(other.held ? other.held->copy() : nullptr) {}
    Task(Task& other) : Task(const_cast<const Task&>(other)) {}  // else the template is the better one
    Task(Task&& other) noexcept : held(std::exchange(other.held, nullptr)) {}
    Task& operator=(Task other) noexcept { return std::swap(held, other.held), *this; }
    ~Task() { delete held; }
    explicit operator bool() const { return held; }
    int operator()() const { return held->call(); }
};

struct Found {
    void* base = nullptr;
    std::size_t size = 0;
    int kind = 0;  // 0 unknown, 1 pinned host, 2 device, 3 managed
    std::uint32_t born = 0;  // under --check: the stamp of the work that allocates it on a stream
};

void* allocate(std::size_t size, int kind);
void allocated_by_work(void* p);  // the work that is done now, under --check
bool release(void* p);
Found find_range(const void* p);
bool is_shared(const void* p);   // in the shared memory of the running block
bool is_private(const void* p);  // on the stack of the running lane
std::size_t memory_limit();
std::size_t memory_used();
int devices();          // how many GPUs programs see; they share one memory
int& current_device();  // of this OS thread
// Where a GPU has its own copy of a `__device__` or `__constant__` variable at this moment.
void* variable_on(int device, void* variable, std::size_t size);
int device_of(const void* p);
double seconds();
int& last_error();
void not_supported(const char* name);
bool leaves_out(const char* place, const char* why);  // says so once
#ifndef CU2PORT_LEFT_WHY
#define CU2PORT_LEFT_WHY ""
#endif
#define CU2PORT_LEAVES_OUT_AS(number, place) \
    __attribute__((unused)) static const bool cu2port_left_##number = ::cu2port_sim::leaves_out(place, CU2PORT_LEFT_WHY)
#define CU2PORT_LEAVES_OUT_NEXT(number, place) CU2PORT_LEAVES_OUT_AS(number, place)
// CU2PORT_SIM_SIDE: a unit is compiled twice, 1: for the host, 2: for the device
#ifdef CU2PORT_SIM_HOST  // a unit for the host's compiler has no device's side
#define CU2PORT_LEAVES_OUT(place)
#elif !defined(CU2PORT_SIM_SIDE) && !defined(CU2PORT_LEAVES_OUT)
#define CU2PORT_LEAVES_OUT(place) CU2PORT_LEAVES_OUT_NEXT(__COUNTER__, place)
#endif
unsigned long long clock_ticks();

// Memory that is mapped by hand; each gives 0 or a hipError_t.
constexpr std::size_t kGranule = std::size_t{2} << 20;
int address_reserve(void** p, std::size_t size, std::size_t alignment, void* wanted);
int address_free(void* p, std::size_t size);
int physical_create(void** handle, std::size_t size, int device, const void* properties, std::size_t n);
int physical_release(void* handle);
int physical_retain(void** handle, const void* p);
int physical_properties(void* handle, void* out, std::size_t n);
int physical_map(void* p, std::size_t size, void* handle);
int physical_unmap(void* p, std::size_t size);
int set_access(void* p, std::size_t size, int device, int rights);
int get_access(unsigned long long* rights, int device, const void* p);

// --check: the order of work on streams, order.inc. Nothing of it is asked or kept otherwise.
constexpr unsigned kNullStream = 0, kThreadStream = 1;
struct Moment {  // that an event recorded
    std::vector<std::uint32_t> after;
};
bool orders_work();
unsigned new_stream(bool blocking);
void end_stream(unsigned stream);
int order_work(unsigned stream, bool host_waits, Task work);
void note_moment(unsigned stream, Moment& m);
void stream_waits(unsigned stream, const Moment& m);
void host_waits(const Moment& m);
void host_waits_for(unsigned stream);
void host_waits_for_all();
bool is_done(const Moment& m);
bool is_done(unsigned stream);
void pin(const void* p, std::size_t n);  // 0: no longer
bool copy_waits(const void* to);
bool touch(const void* p, std::size_t n, bool write);  // by a copy or a fill; whether it is to be done
Task held_copy(Task copy);       // for a graph: it tells when the host's memory is gone by the time of a launch
Task host_function(Task call);   // tells what it does to memory of the device
std::size_t dynamic_written();          // bytes of dynamic shared memory that kernels wrote, under --check
void watch_bounds(const void* p, std::size_t size, bool write);  // of an access that the compiler does not see
void watch_memory(const void* first, const void* last);  // device memory that is not of `allocate`
// Where the program's variables are, and those among them that kernels may touch: at -> bytes.
void watch_variables(const void* first, const void* last, const std::vector<std::pair<const char*, std::size_t>>& known);
void not_a_range(const void* p, const char* what);      // given to hipFree, or a copy that does not fit

}  // namespace cu2port_sim

extern "C" int cu2port_sim_print(const char* format, ...) __attribute__((format(printf, 1, 2)));
