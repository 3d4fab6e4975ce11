// Of which scalars a type is made: what `cu2port trial` fills and compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cu2port_trial {

enum class Field : std::uint8_t { boolean, whole, real, half, bfloat, pointer, texture, surface };
struct Layout;
struct Scalar {
    std::size_t offset, size;
    Field kind;
    bool is_signed;
    const Layout* (*inner)();  // of what a pointer points to
};
struct Layout {
    std::size_t size = 0;
    std::vector<Scalar> scalars;
    const char* unfit = "";  // why values of the type cannot be made, "" if they can
    bool copied = true;      // as bytes: an argument must be, what a pointer points to need not
    void (*make)(char* to, std::uint64_t seed) = nullptr;  // makes one, where its scalars may not have any value

    const Layout* inner() const {
        for (const Scalar& s : scalars)
            if (s.kind == Field::pointer && s.inner) return s.inner();
        return nullptr;
    }
};

inline bool is_real(const Scalar& s) { return s.kind == Field::real || s.kind == Field::half || s.kind == Field::bfloat; }

void push(Layout& l, const Scalar& s);
Layout* new_layout(std::size_t size);

template <class T>
const Layout& layout_of();
template <class T>
const Layout* layout_at() {
    return &layout_of<T>();
}

template <class T>
void add(Layout& out, std::size_t at);

// The type with the most bytes, the first of these.
template <class T, class... Ts>
struct LargestOf {
    using type = T;
};
template <class T, class U, class... Ts>
struct LargestOf<T, U, Ts...> : LargestOf<std::conditional_t<(sizeof(U) > sizeof(T)), U, T>, Ts...> {};
template <class... Ts>
using Largest = typename LargestOf<Ts...>::type;

// The members of the user's structs; the program of a trial specialises it for those that it read.
template <class T>
struct cu2port_members {
    static constexpr bool cu2port_known = false;
    static void cu2port_add_to(Layout&, std::size_t) {}
};
// What it says there: the text of the program comes before it, and macros of a program have shorter names.
using cu2port_layout = Layout;
using cu2port_size = std::size_t;
template <class T>
using cu2port_plain = std::remove_cv_t<T>;
template <class... Ts>
using cu2port_largest = Largest<Ts...>;
template <class T>
void cu2port_add(Layout& out, std::size_t at) {
    add<std::remove_cv_t<T>>(out, at);
}

template <class T>
struct Count : std::integral_constant<std::size_t, 0> {};
template <class T, unsigned N>
struct Count<HIP_vector_type<T, N>> : std::integral_constant<std::size_t, N> {};
template <class T, class = void>
struct IsSmallFloat : std::false_type {};
template <class T>
struct IsSmallFloat<T, std::void_t<decltype(T::__x)>> : std::bool_constant<sizeof(T) == 2 && std::is_constructible_v<T, float>> {};
// Floats of 8 bits and fewer, one or some of them: any bits are one.
template <class T, class = void>
struct IsBits : std::false_type {};
template <class T>
struct IsBits<T, std::void_t<decltype(T::__x)>>
    : std::bool_constant<std::is_integral_v<decltype(T::__x)> && sizeof(T) == sizeof(T::__x) && !IsSmallFloat<T>::value> {};
#ifdef CU2PORT_TRIAL_GPU
}  // namespace cu2port_trial
struct __half;  // its bits are not public
namespace cu2port_trial {
template <>
struct IsSmallFloat<__half, void> : std::true_type {};
#endif
template <class T, class = void>
struct IsPair : std::false_type {};
template <class T>
struct IsPair<T, std::void_t<decltype(T::x), decltype(T::y)>> : std::bool_constant<IsSmallFloat<decltype(T::x)>::value && sizeof(T) == 4> {};
template <class T, class = void>
struct IsState : std::false_type {};  // of a generator of random numbers
template <class T>
struct IsState<T, std::void_t<decltype(T::has_float), decltype(T::next_double)>> : std::true_type {};
// Classes of the C++ library and their kin (`cuda::std::complex`, `thrust::complex`), by what they can do.
template <class T, class = void>
struct Parts : std::integral_constant<std::size_t, 0> {};
template <class T>
struct Parts<T, std::void_t<typename T::value_type, decltype(std::declval<const T&>().real() + std::declval<const T&>().imag())>>
    : std::integral_constant<std::size_t, sizeof(T) == 2 * sizeof(typename T::value_type) ? 2 : 0> {};
template <class T>
struct Parts<T, std::void_t<typename T::value_type, decltype(std::declval<const T&>().max_size()), decltype(std::tuple_size<T>::value)>>
    : std::integral_constant<std::size_t, sizeof(T) == std::tuple_size<T>::value * sizeof(typename T::value_type) ? std::tuple_size<T>::value : 0> {};
// GLM's vectors and matrices, whose members are unions, and their kin: numbers of one type that `[]` gives.
template <class T>
struct Parts<T, std::void_t<std::enable_if_t<std::is_arithmetic_v<typename T::value_type>>, decltype(T::length() + 0, std::declval<const T&>()[0])>>
    : std::integral_constant<std::size_t, sizeof(T) % sizeof(typename T::value_type) ? 0 : sizeof(T) / sizeof(typename T::value_type)> {};
template <class T, class = void>
struct IsWhole : std::false_type {};
template <class T>
struct IsWhole<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};

template <class T>
void add(Layout& out, std::size_t at) {
    if constexpr (std::is_array_v<T>) {
        using E = std::remove_extent_t<T>;
        for (std::size_t i = 0; i < std::extent_v<T>; ++i) add<std::remove_cv_t<E>>(out, at + i * sizeof(E));
    } else if constexpr (std::is_same_v<T, bool>) {
        push(out, {at, 1, Field::boolean, false, nullptr});
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        push(out, {at, sizeof(T), Field::whole, std::is_signed_v<T>, nullptr});
    } else if constexpr (std::is_floating_point_v<T> && sizeof(T) <= 8) {
        push(out, {at, sizeof(T), Field::real, true, nullptr});
    } else if constexpr (std::is_same_v<T, hipTextureObject_t> || std::is_same_v<T, hipSurfaceObject_t>) {
#ifdef CU2PORT_TRIAL_GPU
        out.unfit = "a texture";
#endif
        push(out, {at, sizeof(T), std::is_same_v<T, hipTextureObject_t> ? Field::texture : Field::surface, false, nullptr});
    } else if constexpr (std::is_pointer_v<T>) {
        using To = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_void_v<To>)
            push(out, {at, sizeof(T), Field::pointer, false, layout_at<unsigned>});
        else if constexpr (std::is_function_v<To>)
            out.unfit = "a pointer to a function";
        else if constexpr (!IsWhole<To>::value)
            out.unfit = "a pointer to an incomplete type";
        else {
            push(out, {at, sizeof(T), Field::pointer, false, layout_at<To>});
        }
    } else if constexpr (IsSmallFloat<T>::value) {
        const T one(1.0f);
        std::uint16_t bits;
        std::memcpy(&bits, static_cast<const void*>(&one), sizeof bits);
        push(out, {at, 2, bits == 0x3c00 ? Field::half : Field::bfloat, true, nullptr});
    } else if constexpr (IsBits<T>::value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) push(out, {at + i, 1, Field::whole, false, nullptr});
    } else if constexpr (IsPair<T>::value) {
        using E = std::remove_cv_t<decltype(T::x)>;
        add<E>(out, at), add<E>(out, at + sizeof(E));
    } else if constexpr ((Count<T>::value > 0)) {
        using E = typename T::value_type;
        for (std::size_t i = 0; i < Count<T>::value; ++i) add<E>(out, at + i * sizeof(E));
    } else if constexpr ((Parts<T>::value > 0)) {
        using E = typename T::value_type;
        for (std::size_t i = 0; i < Parts<T>::value; ++i) add<E>(out, at + i * sizeof(E));
    } else if constexpr (std::is_same_v<T, dim3>) {
        for (std::size_t i = 0; i < 3; ++i) push(out, {at + i * 4, 4, Field::whole, false, nullptr});
    } else if constexpr (IsState<T>::value) {
        for (std::size_t i = 0; i < sizeof(T); i += 4) push(out, {at + i, 4, Field::whole, false, nullptr});
    } else if constexpr (cu2port_members<T>::cu2port_known) {
        cu2port_members<T>::cu2port_add_to(out, at);
    } else {
        out.unfit = "a class whose members are not known";
    }
}

template <class T>
const Layout& layout_of() {
    static const Layout* made = [] {
        Layout* l = new_layout(sizeof(T));
        add<T>(*l, 0);
        if constexpr (IsState<T>::value)
            l->make = [](char* to, std::uint64_t seed) {
                T state;
                state.init(seed, 0, 0);
                std::memcpy(to, static_cast<const void*>(&state), sizeof state);
            };
        l->copied = std::is_trivially_copyable_v<T>;
        return l;
    }();
    return *made;
}

}  // namespace cu2port_trial
