// Inline PTX of the CUDA side: a call in its place sends the registers to the interpreter, which cu2port runs at the
// other end of a socket. Calls are `cu2port_ptx(BODY, cu2port_in<'r'>(a), cu2port_out<'f'>(b), ...)`, where the letters are constraints.
// Programs have macros of shorter names.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace cu2port_trial {

struct Register {
    std::uint64_t bits;
    void* to;  // where its value goes in the end, null for an input
    void (*put)(void* to, std::uint64_t bits);
};

template <char L>
struct Held;
template <> struct Held<'h'> { using type = std::uint16_t; };
template <> struct Held<'r'> { using type = std::uint32_t; };
template <> struct Held<'n'> { using type = std::int32_t; };
template <> struct Held<'l'> { using type = std::uint64_t; };
template <> struct Held<'f'> { using type = float; };
template <> struct Held<'d'> { using type = double; };
template <> struct Held<'b'> { using type = bool; };

template <class To, class From>
To same_bits(const From& v) {
    To out{};
    std::memcpy(static_cast<void*>(&out), static_cast<const void*>(&v), sizeof out < sizeof v ? sizeof out : sizeof v);
    return out;
}
// A register holds the value of an integer, the bits of all else.
template <char L, class T>
constexpr bool by_value = std::is_convertible_v<T, typename Held<L>::type> && !std::is_class_v<T> &&
                          std::is_floating_point_v<T> == std::is_floating_point_v<typename Held<L>::type>;

template <char L, class T>
std::uint64_t to_bits(const T& v) {
    using H = typename Held<L>::type;
    if constexpr (std::is_array_v<T>) return reinterpret_cast<std::uint64_t>(&v[0]);
    else if constexpr (by_value<L, T>) return same_bits<std::uint64_t>(static_cast<H>(v));
    else return same_bits<std::uint64_t>(v);
}
template <char L, class T>
void put_bits(void* to, std::uint64_t bits) {
    const auto held = same_bits<typename Held<L>::type>(bits);
    if constexpr (by_value<L, T>) *static_cast<T*>(to) = static_cast<T>(held);
    else *static_cast<T*>(to) = same_bits<T>(held);
}
template <char L, class T>
Register cu2port_in(const T& v) {
    return {to_bits<L, T>(v), nullptr, nullptr};
}
template <char L, class T>
Register cu2port_inout(T& v) {
    return {to_bits<L, std::remove_cv_t<T>>(v), const_cast<std::remove_cv_t<T>*>(std::addressof(v)), &put_bits<L, std::remove_cv_t<T>>};
}
template <char L, class T>
Register cu2port_out(T& v) {
    return {0, const_cast<std::remove_cv_t<T>*>(std::addressof(v)), &put_bits<L, std::remove_cv_t<T>>};
}

// What a lane asks. `done` once a lane has asked for all that met.
struct Question {
    Register* registers;
    unsigned count;
    bool done;
};
void ask(unsigned body, Question* const* of_lanes, const int* lanes, unsigned count);
void ask(unsigned body, Question& mine);

}  // namespace cu2port_trial

template <class... R>
void cu2port_ptx(unsigned body, R... r) {
    cu2port_trial::Register all[] = {r..., {}};
    cu2port_trial::Question mine{all, sizeof...(R), false};
    cu2port_trial::ask(body, mine);
}
template <class... R>
void cu2port_ptx_memory(unsigned body, R... r) {
    cu2port_ptx(body, r...);
    cu2port_sim::spin();  // another thread may have to go on first
}
// The lanes that are here ask as one.
template <class... R>
void cu2port_ptx_sync(unsigned body, R... r) {
    cu2port_trial::Register all[] = {r..., {}};
    cu2port_trial::Question mine{all, sizeof...(R), false}, *shown = &mine;
    const cu2port_sim::Meeting m =
        cu2port_sim::meet(cu2port_sim::Kind::exchange, "inline PTX", &shown, sizeof shown, cu2port_sim::Where::here());
    if (mine.done) return;
    cu2port_trial::Question* others[64];
    int lanes[64];
    unsigned count = 0;
    for (std::uint64_t rest = m.mask; rest; rest &= rest - 1) {
        lanes[count] = __builtin_ctzll(rest);
        std::memcpy(&others[count], m.slots[lanes[count]].bytes, sizeof others[0]);
        ++count;
    }
    cu2port_trial::ask(body, others, lanes, count);
}
#ifdef CU2PORT_SIM_CUDA
// A GPU's shared memory has addresses of 32 bits: here the lower ones of a pointer's.
inline std::size_t __cvta_generic_to_shared(const void* p) { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(p)); }
inline std::size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<std::size_t>(p); }
#endif
