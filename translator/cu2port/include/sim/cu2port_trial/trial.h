// What `cu2port trial` compiles with one kernel: its parameters and global variables, made and seen as bytes. All else
// is in driver.cpp, which is compiled once.
#pragma once

#include <vector>

// words of another compiler, in headers of programs that were written for it
#ifndef __declspec
#define __declspec(what)
#endif
#ifndef __forceinline
#define __forceinline
#endif

#include "executor.h"
#ifndef CU2PORT_TRIAL_GPU
#include "ptx.h"
#endif

namespace cu2port_trial {

enum class Ints : std::uint8_t { small, index, rising, bits, any, fields, zero, told };
enum class Reals : std::uint8_t { whole, unit, positive, wide, few_bits };
struct Style {
    Ints ints;
    Reals reals;
    unsigned limit;     // of indices
    unsigned rare = 0;  // about one of so many elements has a value of its own, the others share one; 0: each has
    unsigned step = 3;  // from one to the next, where they rise
    unsigned first = 0;  // the step that they rise from: something ends where the next one begins
    bool distinct = false;  // no integer comes twice: those below `limit` in some order, then the next ones
};

// An array that the program has. Vectors of such would take a seventh of the time to compile a kernel.
template <class T>
struct List {
    const T* at = nullptr;
    std::size_t count = 0;

    constexpr List() = default;
    constexpr List(const T* first, std::size_t many) : at(first), count(many) {}
    template <std::size_t N>
    constexpr List(const T (&all)[N]) : at(all), count(N) {}
    const T* begin() const { return at; }
    const T* end() const { return at + count; }
    std::size_t size() const { return count; }
    bool empty() const { return count == 0; }
    const T& operator[](std::size_t i) const { return at[i]; }
};
// What the kernel's text tells: names of parameters give roles, launches the blocks; `axes`: what it uses of x, y, z.
struct Spec {
    const char* kernel;
    List<const char*> names;  // of the parameters
    const char* roles;  // a letter for each parameter: n size, w, h, d of an axis, s stride, k a small count, o, e where something begins and ends, ? unknown
    List<dim3> blocks;
    unsigned axes;
    std::size_t dynamic;
    List<unsigned> told;  // numbers in the kernel's text
    List<List<unsigned>> given;  // numbers that launches give each parameter
    List<unsigned> alike;  // for each parameter the first one that gets the same variable in some launch
    dim3 (*block)(dim3);         // what to launch in place of a block of CUDA's; null: the same
};
struct Case {
    dim3 grid, block;
    std::size_t dynamic;
    std::vector<unsigned> numbers;  // a value for each parameter that is an integer
    std::vector<Style> styles;
    std::vector<std::uint64_t> seeds;  // of each parameter: what its arrays are filled with
    std::uint64_t seed;                // of variables in the GPU's memory
    bool small = false;       // integers but sizes of all are small numbers
    std::uint64_t nulls = 0;  // bits: parameters that are null pointers
    bool shares = false;      // parameters that get one variable in some launch get one array
};

struct Global {
    const char* name;
    char* at;
    std::size_t size;
    const Layout* layout;
    bool filled;
};
template <class T>
Global cu2port_global(const char* name, T& v, bool filled) {
    using E = std::remove_cv_t<std::remove_all_extents_t<T>>;
    return {name, static_cast<char*>(address_of(v)), sizeof(T), &layout_of<E>(), filled};
}

// What stands for a function that a kernel is given as an object: it counts its calls and the integers that it gets (no
// floats, which another order of a sum changes), and gives the sum of its arguments as the type of the first one. A
// function of other properties would make results depend on the order in which values are combined.
struct Function {
    unsigned long long* seen;

    template <class T>
    __device__ static unsigned long long counted(const T& x) {
        if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return static_cast<unsigned long long>(x);
        else return 0;
    }
    template <class... T>
    __device__ void note(const T&... x) const {
        unsigned long long all = 1, at = 1;
        ((all += counted(x) * (at = at * 8191 + 2)), ...);
        atomicAdd(seen, all);
    }
    template <class A, class T>
    __device__ static void add_to(A& sum, const T& x) {
        if constexpr (std::is_arithmetic_v<T>) sum = static_cast<A>(sum + static_cast<A>(x));
    }
    __device__ unsigned operator()() const {
        note();
        return 1;
    }
    template <class T, class... Ts>
    __device__ std::decay_t<T> operator()(T&& first, Ts&&... others) const {
        note(first, others...);
        std::decay_t<T> sum = first;
        if constexpr (std::is_arithmetic_v<std::decay_t<T>>) (add_to(sum, others), ...);
        return sum;
    }
};
// The same for a condition: of two arguments, whether the first is less.
struct Condition : Function {
    template <class T, class... Ts>
    __device__ bool operator()(T&& first, Ts&&... others) const {
        this->note(first, others...);
        using A = std::decay_t<T>;
        if constexpr (sizeof...(Ts) == 1 && (std::is_same_v<A, std::decay_t<Ts>> && ...) && std::is_arithmetic_v<A>)
            return (... && (first < others));
        else if constexpr (std::is_arithmetic_v<A>)
            return static_cast<A>(2) < first;
        else
            return true;
    }
};
template <>
struct cu2port_members<Function> {
    static constexpr bool cu2port_known = true;
    static void cu2port_add_to(Layout& out, std::size_t at) { add<unsigned long long*>(out, at); }
};
template <>
struct cu2port_members<Condition> : cu2port_members<Function> {};
using cu2port_function = Function;
using cu2port_condition = Condition;

// A kernel without its type: the layouts of its parameters, and a launch with the arguments of a case.
struct Kernel {
    List<const Layout*> parameters;
    int (*run)(void* kernel, const Spec& spec, const Case& c);
    void* kernel;
};
// Fills an argument: pointers get memory, an integer the case's number, the rest is filled scalar by scalar.
void fill_argument(char* to, const Layout& layout, bool is_integer, bool is_class, const Case& c, const Spec& spec, std::size_t i);
int drive(int argc, char** argv, const Spec& spec, const Kernel& kernel, List<Global> globals);

// An argument whose class has no constructor for it.
template <class T>
struct Bytes {
    alignas(T) char bytes[sizeof(T)];
    operator T&() { return *reinterpret_cast<T*>(bytes); }
    operator const T&() const { return *reinterpret_cast<const T*>(bytes); }
};
template <class T>
using Argument = std::conditional_t<std::is_default_constructible_v<T>, T, Bytes<T>>;

template <class T>
void make_argument(Argument<T>& to, const Case& c, const Spec& spec, std::size_t i) {
    fill_argument(reinterpret_cast<char*>(&to), layout_of<T>(), std::is_integral_v<T> && !std::is_same_v<T, bool>, std::is_class_v<T>, c, spec, i);
}
template <class... P, std::size_t... I>
int run_kernel(void (*kernel)(P...), const Spec& spec, const Case& c, std::index_sequence<I...>) {
    static std::tuple<Argument<std::decay_t<P>>...> args{};
    (make_argument<std::decay_t<P>>(std::get<I>(args), c, spec, I), ...);
    return start(kernel, spec.kernel, c.grid, spec.block ? spec.block(c.block) : c.block, c.dynamic, args, std::index_sequence<I...>{});
}
template <class... P>
int cu2port_main(int argc, char** argv, const Spec& spec, void (*kernel)(P...), List<Global> globals) {
    const Layout* const parameters[] = {&layout_of<std::decay_t<P>>()..., nullptr};
    const Kernel erased{{parameters, sizeof...(P)},
                        [](void* k, const Spec& s, const Case& c) {
                            return run_kernel(reinterpret_cast<void (*)(P...)>(k), s, c, std::index_sequence_for<P...>{});
                        },
                        reinterpret_cast<void*>(kernel)};
    return drive(argc, argv, spec, erased, globals);
}
// The program's main function comes behind the text of the user's program, whose macros have shorter names.
template <class T>
using cu2port_list = List<T>;
using cu2port_variable = Global;
using cu2port_spec = Spec;

}  // namespace cu2port_trial
