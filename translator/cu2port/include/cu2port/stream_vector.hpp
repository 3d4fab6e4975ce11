// cu2port stream_vector: vectors read from streams by an operator of the program's.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// HIP's vectors have a shift, `x >> vector`, of any x. For a `std::ifstream` it is as good a match as the program's
// `operator>>(std::istream &, float3 &)`. The one here is better than both, and calls the program's.
#ifndef CU2PORT_STREAM_VECTOR_HPP
#define CU2PORT_STREAM_VECTOR_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <hip/hip_runtime.h>
#include <istream>
#include <type_traits>

namespace cu2port {

template <class Stream, class T, unsigned int N_>
typename std::enable_if<std::is_base_of<std::istream, Stream>::value && !std::is_same<std::istream, Stream>::value,
                        std::istream &>::type
operator>>(Stream &in, HIP_vector_type<T, N_> &v) {
    return static_cast<std::istream &>(in) >> v;
}

}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif  // CU2PORT_STREAM_VECTOR_HPP
