// cu2port nvtx: NVTX's events for programs on AMD GPUs, shown by roctx.
// This header belongs to converted code: it may be used, changed and passed on freely, in any project.
//
// roctx shows messages. Colours, categories, payloads and domains are kept as the program sets them, and are not shown.
// Ranges of all domains share the one stack that roctx has for a thread.
#ifndef CU2PORT_NVTX_HPP
#define CU2PORT_NVTX_HPP
#ifdef __cplusplus  // a C source may include the header that includes this one
extern "C++" {  // the includer may be in a block of `extern "C"`

#include <cstddef>
#include <cstdint>
#include <string>
#if !defined(__has_include) || __has_include(<rocprofiler-sdk-roctx/roctx.h>)
#include <rocprofiler-sdk-roctx/roctx.h>
#else
#include <roctracer/roctx.h>
#endif

namespace cu2port {
namespace nvtx {

enum ColorType { color_unknown = 0, color_argb = 1 };
enum MessageType { message_unknown = 0, message_ascii = 1, message_unicode = 2, message_registered = 3 };
enum PayloadType {
    payload_unknown = 0,
    payload_unsigned_int64 = 1,
    payload_int64 = 2,
    payload_double = 3,
    payload_unsigned_int32 = 4,
    payload_int32 = 5,
    payload_float = 6
};

struct Domain {
    std::string name;
};
struct String {
    std::string text;
};
using DomainHandle = Domain*;
using StringHandle = String*;
using RangeId = std::uint64_t;

union MessageValue {
    const char* ascii;
    const wchar_t* unicode;
    StringHandle registered;
};

struct EventAttributes {
    std::uint16_t version;
    std::uint16_t size;
    std::uint32_t category;
    std::int32_t colorType;
    std::uint32_t color;
    std::int32_t payloadType;
    std::int32_t reserved0;
    union payload_t {
        std::uint64_t ullValue;
        std::int64_t llValue;
        double dValue;
        std::uint32_t uiValue;
        std::int32_t iValue;
        float fValue;
    } payload;
    std::int32_t messageType;
    MessageValue message;
};
constexpr std::uint16_t attributes_size = sizeof(EventAttributes);
constexpr std::uint16_t version = 3;

// UTF-8 of a wide text.
inline std::string narrow(const wchar_t* text) {
    std::string out;
    for (; text != nullptr && *text != 0; ++text) {
        unsigned long c = static_cast<unsigned long>(*text);
        if (sizeof(wchar_t) == 2 && (c & 0xfc00) == 0xd800 && (static_cast<unsigned long>(text[1]) & 0xfc00) == 0xdc00)
            c = 0x10000 + ((c & 0x3ff) << 10) + (static_cast<unsigned long>(*++text) & 0x3ff);
        if (c < 0x80) {
            out += static_cast<char>(c);
        } else if (c < 0x800) {
            out += static_cast<char>(0xc0 | c >> 6);
            out += static_cast<char>(0x80 | (c & 63));
        } else if (c < 0x10000) {
            out += static_cast<char>(0xe0 | c >> 12);
            out += static_cast<char>(0x80 | (c >> 6 & 63));
            out += static_cast<char>(0x80 | (c & 63));
        } else {
            out += static_cast<char>(0xf0 | c >> 18);
            out += static_cast<char>(0x80 | (c >> 12 & 63));
            out += static_cast<char>(0x80 | (c >> 6 & 63));
            out += static_cast<char>(0x80 | (c & 63));
        }
    }
    return out;
}

// The message of an event. A program may set the text alone; then it has no type.
inline std::string text(const EventAttributes* a) {
    if (a == nullptr || a->message.ascii == nullptr) return "";
    if (a->messageType == message_unicode) return narrow(a->message.unicode);
    if (a->messageType == message_registered) return a->message.registered->text;
    return a->messageType == message_ascii ? a->message.ascii : "";
}

inline int range_push(const EventAttributes* a) { return roctxRangePushA(text(a).c_str()); }
inline int range_push(const wchar_t* message) { return roctxRangePushA(narrow(message).c_str()); }
inline RangeId range_start(const EventAttributes* a) { return roctxRangeStartA(text(a).c_str()); }
inline RangeId range_start(const wchar_t* message) { return roctxRangeStartA(narrow(message).c_str()); }
inline void mark(const EventAttributes* a) { roctxMarkA(text(a).c_str()); }
inline void mark(const wchar_t* message) { roctxMarkA(narrow(message).c_str()); }

// Domains and registered strings are few and are kept until the program ends, as NVTX's are.
inline DomainHandle domain_create(const char* name) { return new Domain{name}; }
inline DomainHandle domain_create(const wchar_t* name) { return new Domain{narrow(name)}; }
inline void domain_destroy(DomainHandle domain) { delete domain; }
inline int domain_range_push(DomainHandle, const EventAttributes* a) { return range_push(a); }
inline int domain_range_pop(DomainHandle) { return roctxRangePop(); }
inline RangeId domain_range_start(DomainHandle, const EventAttributes* a) { return range_start(a); }
inline void domain_range_end(DomainHandle, RangeId id) { roctxRangeStop(id); }
inline void domain_mark(DomainHandle, const EventAttributes* a) { mark(a); }
inline StringHandle domain_register_string(DomainHandle, const char* string) { return new String{string}; }
inline StringHandle domain_register_string(DomainHandle, const wchar_t* string) { return new String{narrow(string)}; }
template <class Text>
void domain_name_category(DomainHandle, std::uint32_t, const Text*) {}
template <class Text>
void name_category(std::uint32_t, const Text*) {}
inline void initialize(const void*) {}

// NVTX's C++ interface.
struct message {
    std::string text;
    message(const char* t) : text(t) {}
    message(const std::string& t) : text(t) {}
    message(const wchar_t* t) : text(narrow(t)) {}
};
struct rgb {
    std::uint32_t value;
    rgb(std::uint32_t r, std::uint32_t g, std::uint32_t b) : value(0xff000000u | r << 16 | g << 8 | b) {}
};
struct argb {
    std::uint32_t value;
    argb(std::uint32_t a, std::uint32_t r, std::uint32_t g, std::uint32_t b) : value(a << 24 | r << 16 | g << 8 | b) {}
};
struct color {
    std::uint32_t value;
    explicit color(std::uint32_t v) : value(v) {}
    color(const rgb& c) : value(c.value) {}
    color(const argb& c) : value(c.value) {}
};
struct category {
    std::uint32_t value;
    explicit category(std::uint32_t id) : value(id) {}
};
struct payload {
    double value;
    template <class T>
    explicit payload(T v) : value(static_cast<double>(v)) {}
};

class event_attributes {
  public:
    event_attributes() = default;
    template <class... Args>
    explicit event_attributes(const Args&... args) {
        int all[] = {0, (take(args), 0)...};
        (void)all;
    }
    const char* c_str() const { return text_.c_str(); }

  private:
    void take(const message& m) { text_ = m.text; }
    void take(const event_attributes& a) { text_ = a.text_; }
    void take(const color&) {}
    void take(const rgb&) {}
    void take(const argb&) {}
    void take(const category&) {}
    void take(const payload&) {}
    std::string text_;
};

class scoped_range {
  public:
    template <class... Args>
    explicit scoped_range(const Args&... args) {
        roctxRangePushA(event_attributes(args...).c_str());
    }
    scoped_range(const scoped_range&) = delete;
    scoped_range& operator=(const scoped_range&) = delete;
    ~scoped_range() { roctxRangePop(); }
};

class unique_range {
  public:
    template <class... Args>
    explicit unique_range(const Args&... args)
        : id_(roctxRangeStartA(event_attributes(args...).c_str())), open_(true) {}
    unique_range(unique_range&& other) noexcept : id_(other.id_), open_(other.open_) { other.open_ = false; }
    unique_range(const unique_range&) = delete;
    unique_range& operator=(const unique_range&) = delete;
    ~unique_range() {
        if (open_) roctxRangeStop(id_);
    }

  private:
    RangeId id_;
    bool open_;
};
template <class>
using scoped_range_in = scoped_range;
template <class>
using unique_range_in = unique_range;

struct range_handle {
    RangeId value;
};
template <class... Args>
range_handle start_range(const Args&... args) {
    return {roctxRangeStartA(event_attributes(args...).c_str())};
}
inline void end_range(range_handle range) { roctxRangeStop(range.value); }
template <class... Args>
void mark_event(const Args&... args) {
    roctxMarkA(event_attributes(args...).c_str());
}
template <class, class... Args>
void mark_in(const Args&... args) {
    mark_event(args...);
}

}  // namespace nvtx
}  // namespace cu2port

}  // extern "C++"
#endif  // __cplusplus
#endif
