// Enough of the C and C++ standard library for CUDA programs to parse: names and shapes, nothing that runs.
// Included once, before everything else, in a precompiled header; see ../shim.py.
typedef decltype(sizeof(0)) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef long ssize_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long clock_t;
typedef long time_t;
#define NULL __null
#define assert(x) ((void)(x))
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define RAND_MAX 2147483647
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_SQRT2 1.41421356237309504880
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define CLOCKS_PER_SEC 1000000L
#define PRIu64 "lu"
#define PRId64 "ld"
#define va_start(l, p) __builtin_va_start(l, p)
#define va_end(l) __builtin_va_end(l)
#define va_arg(l, t) __builtin_va_arg(l, t)
#define offsetof(t, m) __builtin_offsetof(t, m)
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
typedef __builtin_va_list va_list;
struct FILE;
extern FILE *stdin, *stdout, *stderr;
extern int errno;
struct timeval { long tv_sec, tv_usec; };
struct timespec { long tv_sec, tv_nsec; };
int printf(const char *, ...), fprintf(FILE *, const char *, ...), sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...), scanf(const char *, ...), fscanf(FILE *, const char *, ...);
int sscanf(const char *, const char *, ...), puts(const char *), putchar(int), fputs(const char *, FILE *), fflush(FILE *);
int vprintf(const char *, va_list), vfprintf(FILE *, const char *, va_list), vsnprintf(char *, size_t, const char *, va_list);
FILE *fopen(const char *, const char *);
int fclose(FILE *), feof(FILE *), fgetc(FILE *), getc(FILE *), fseek(FILE *, long, int), atexit(void (*)());
long ftell(FILE *);
size_t fread(void *, size_t, size_t, FILE *), fwrite(const void *, size_t, size_t, FILE *), strlen(const char *);
char *fgets(char *, int, FILE *), *strcpy(char *, const char *), *strcat(char *, const char *), *strtok(char *, const char *);
char *strncpy(char *, const char *, size_t), *strdup(const char *), *getenv(const char *);
const char *strstr(const char *, const char *), *strchr(const char *, int), *strrchr(const char *, int);
int strcmp(const char *, const char *), strncmp(const char *, const char *, size_t), strcasecmp(const char *, const char *);
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *aligned_alloc(size_t, size_t);
void *memcpy(void *, const void *, size_t), *memset(void *, int, size_t), *memmove(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t), posix_memalign(void **, size_t, size_t);
void free(void *), exit(int), abort(), srand(unsigned), srand48(long), perror(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
int rand(), atoi(const char *), system(const char *), usleep(unsigned), gettimeofday(timeval *, void *), isdigit(int), isspace(int), isalpha(int), getchar();
char *strerror(int);
int tolower(int), toupper(int), abs(int), getopt(int, char *const *, const char *);
unsigned sleep(unsigned);
long atol(const char *), strtol(const char *, char **, int), random(), labs(long);
long long atoll(const char *), strtoll(const char *, char **, int), llabs(long long);
unsigned long strtoul(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
double atof(const char *), strtod(const char *, char **), drand48(), difftime(time_t, time_t), omp_get_wtime();
float strtof(const char *, char **);
clock_t clock();
time_t time(time_t *);
int clock_gettime(int, timespec *), omp_get_thread_num(), omp_get_num_threads(), omp_get_max_threads();
void omp_set_num_threads(int);
extern char *optarg;
extern int optind;
void *operator new(size_t, void *) noexcept;
void *operator new[](size_t, void *) noexcept;

namespace __cu2port {
template <class T> struct widen { typedef double type; };
template <> struct widen<float> { typedef float type; };
template <class A, class B> struct wider { typedef double type; };
template <> struct wider<float, float> { typedef float type; };
template <bool C, class T = void> struct when {};
template <class T> struct when<true, T> { typedef T type; };
template <class T> struct bare { typedef T type; };
template <class T> struct bare<T &> { typedef T type; };
template <class T> struct bare<T &&> { typedef T type; };
}  // namespace __cu2port
#define CU2PORT_MATH1(f) template <class T> typename __cu2port::widen<T>::type f(T); float f##f(float);
#define CU2PORT_MATH2(f) template <class A, class B> typename __cu2port::wider<A, B>::type f(A, B); float f##f(float, float);
#define CU2PORT_MATH1_ALL(M)                                                                                              \
    M(sin) M(cos) M(tan) M(asin) M(acos) M(atan) M(sinh) M(cosh) M(tanh) M(asinh) M(acosh) M(atanh) M(exp) M(exp2)         \
    M(expm1) M(log) M(log2) M(log10) M(log1p) M(sqrt) M(cbrt) M(ceil) M(floor) M(round) M(trunc) M(rint) M(nearbyint)     \
    M(fabs) M(erf) M(erfc) M(tgamma) M(lgamma) M(logb)
#define CU2PORT_MATH2_ALL(M) M(pow) M(atan2) M(fmod) M(hypot) M(fmax) M(fmin) M(fdim) M(copysign) M(remainder) M(nextafter)
CU2PORT_MATH1_ALL(CU2PORT_MATH1)
CU2PORT_MATH2_ALL(CU2PORT_MATH2)
template <class T> T abs(T);
template <class T> bool isnan(T);
template <class T> bool isinf(T);
template <class T> bool isfinite(T);
template <class T> bool signbit(T);
template <class T> T ldexp(T, int);
template <class T> T frexp(T, int *);
template <class T> T modf(T, T *);
template <class A, class B, class C> decltype(A() * B() + C()) fma(A, B, C);
float fmaf(float, float, float), ldexpf(float, int), modff(float, float *);
template <class T> long lround(T);
template <class T> long lrint(T);

namespace std {
using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t;
using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::intptr_t; using ::FILE; using ::time_t;
using ::printf; using ::fprintf; using ::sprintf; using ::snprintf; using ::memcpy; using ::memset; using ::memmove;
using ::malloc; using ::free; using ::exit; using ::abort; using ::rand; using ::srand; using ::strlen; using ::strcmp;
using ::atoi; using ::atof; using ::getenv; using ::clock; using ::time; using ::abs; using ::isnan; using ::isinf;
using ::isfinite; using ::signbit; using ::ldexp; using ::frexp; using ::modf; using ::fma; using ::lround; using ::lrint;
using ::isspace; using ::isalpha; using ::isdigit; using ::tolower; using ::toupper; using ::strtoull; using ::strtoll; using ::strtod;
using ::strncpy; using ::strcpy; using ::strcat; using ::strstr; using ::fread; using ::fwrite; using ::fflush; using ::llabs; using ::strerror; using ::strtoul;
using ::fopen; using ::fclose; using ::puts; using ::calloc; using ::qsort; using ::strtol; using ::memcmp; using ::atol;
#define CU2PORT_USING(f) using ::f;
CU2PORT_MATH1_ALL(CU2PORT_USING)
CU2PORT_MATH2_ALL(CU2PORT_USING)
typedef decltype(nullptr) nullptr_t;
template <class T> using __bare = typename __cu2port::bare<T>::type;
template <class T, T V> struct integral_constant { static constexpr T value = V; typedef T value_type; constexpr operator T() const { return V; } };
template <bool B> using bool_constant = integral_constant<bool, B>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class A, class B> struct is_same : bool_constant<__is_same(A, B)> {};
template <class A, class B> inline constexpr bool is_same_v = __is_same(A, B);
template <class A, class B> struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> struct is_floating_point : bool_constant<__is_floating_point(T)> {};
template <class T> struct is_arithmetic : bool_constant<__is_arithmetic(T)> {};
template <class T> struct is_signed : bool_constant<__is_signed(T)> {};
template <class T> struct is_unsigned : bool_constant<__is_unsigned(T)> {};
template <class T> struct is_void : bool_constant<__is_void(T)> {};
template <class T> struct is_const : bool_constant<__is_const(T)> {};
template <class T> inline constexpr bool is_void_v = __is_void(T);
template <class T> inline constexpr bool is_pointer_v = __is_pointer(T);
template <class A, class B> struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class T> struct underlying_type { typedef __underlying_type(T) type; };
template <class T> struct is_pointer : bool_constant<__is_pointer(T)> {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> inline constexpr bool is_integral_v = __is_integral(T);
template <class T> inline constexpr bool is_floating_point_v = __is_floating_point(T);
template <class T> inline constexpr bool is_arithmetic_v = __is_arithmetic(T);
template <class T> inline constexpr bool is_signed_v = __is_signed(T);
template <bool C, class T = void> struct enable_if : __cu2port::when<C, T> {};
template <bool C, class T = void> using enable_if_t = typename enable_if<C, T>::type;
template <bool C, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;
template <class T> struct remove_reference : __cu2port::bare<T> {};
template <class T> using remove_reference_t = __bare<T>;
template <class T> struct remove_cv { typedef __remove_cv(T) type; };
template <class T> using remove_cv_t = __remove_cv(T);
template <class T> using remove_const_t = __remove_const(T);
template <class T> using remove_pointer_t = __remove_pointer(T);
template <class T> struct decay { typedef __decay(T) type; };
template <class T> using decay_t = __decay(T);
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> struct make_unsigned { typedef __make_unsigned(T) type; };
template <class T> T &&declval() noexcept;
template <class T> constexpr T &&forward(__bare<T> &) noexcept;
template <class T> constexpr __bare<T> &&move(T &&) noexcept;
template <class T> void swap(T &, T &);
template <class T> constexpr const T &min(const T &, const T &);
template <class T> constexpr const T &max(const T &, const T &);
template <class T, class F> constexpr const T &min(const T &, const T &, F);
template <class T, class F> constexpr const T &max(const T &, const T &, F);
template <class A, class B> struct pair { A first; B second; pair(); pair(const A &, const B &); typedef A first_type; typedef B second_type; };
template <class A, class B> pair<__decay(A), __decay(B)> make_pair(A &&, B &&);
template <class... T> struct tuple { tuple(); template <class... A> tuple(A &&...); };
template <class... T> tuple<__decay(T)...> make_tuple(T &&...);
template <class... T> tuple<T &...> tie(T &...);
template <class T> struct initializer_list { typedef T value_type; const T *_b; size_t _n; size_t size() const; const T *begin() const; const T *end() const; };
template <class T> struct allocator { typedef T value_type; T *allocate(size_t); void deallocate(T *, size_t); };
template <class T> struct numeric_limits {
    static constexpr T max(), min(), lowest(), infinity(), epsilon(), quiet_NaN();
    static constexpr int digits = 0; static constexpr bool is_signed = __is_signed(T), is_integer = __is_integral(T);
};
template <class T> struct __range {
    typedef T value_type; typedef T *iterator; typedef const T *const_iterator; typedef size_t size_type; typedef T &reference;
    T *begin(), *end(), *rbegin(), *rend(), *data(); const T *begin() const, *end() const, *data() const, *cbegin() const, *cend() const;
    size_t size() const; bool empty() const; T &operator[](size_t); const T &operator[](size_t) const; T &at(size_t), &front(), &back();
    const T &at(size_t) const; const T &front() const, &back() const; void clear(), pop_back(), push_back(const T &), reserve(size_t), swap(__range &);
    void resize(size_t); void resize(size_t, const T &); template <class... A> T &emplace_back(A &&...);
    template <class... A> T *insert(A &&...); template <class... A> T *erase(A &&...); template <class... A> void assign(A &&...); void fill(const T &);
    void push_front(const T &), pop_front(); void shrink_to_fit(); size_t capacity() const;
};
template <class T, class A = allocator<T>> struct vector : __range<T> {
    vector(); explicit vector(size_t); vector(size_t, const T &); vector(initializer_list<T>); template <class I> vector(I, I); vector(const vector &);
    vector &operator=(const vector &); vector &operator=(initializer_list<T>);
};
template <class T, size_t N> struct array { T _v[N]; typedef T value_type; T *begin(), *end(), *data(); const T *begin() const, *end() const, *data() const;
    constexpr size_t size() const; constexpr T &operator[](size_t); constexpr const T &operator[](size_t) const; void fill(const T &); };
template <class T> struct deque : vector<T> { using vector<T>::vector; };
template <class T> struct list : vector<T> { using vector<T>::vector; };
template <class T> struct queue : vector<T> { void push(const T &), pop(); T &top(); };
template <class T> struct stack : queue<T> {};
struct string : __range<char> {
    string(); template <class I> string(I, I); string(const char *); string(const char *, size_t); string(size_t, char); const char *c_str() const; size_t length() const;
    size_t find(const string &, size_t = 0) const; size_t find(char, size_t = 0) const; string substr(size_t, size_t = 0) const;
    string &operator+=(const string &); string &operator+=(char); string &append(const string &); int compare(const string &) const; size_t rfind(const string &, size_t = 0) const; size_t find_first_of(const string &, size_t = 0) const, find_last_of(const string &, size_t = 0) const;
    static const size_t npos = -1;
};
string operator+(const string &, const string &);
string operator+(const string &, char);
bool operator==(const string &, const string &);
bool operator!=(const string &, const string &);
bool operator<(const string &, const string &);
template <class T> string to_string(T);
int stoi(const string &);
float stof(const string &);
double stod(const string &);
long stol(const string &);
template <class K, class V, class...> struct map : __range<pair<const K, V>> { V &operator[](const K &); pair<const K, V> *find(const K &); size_t count(const K &) const; V &at(const K &); };
template <class K, class V, class...> struct unordered_map : map<K, V> {};
template <class T, class...> struct set : __range<T> { T *find(const T &); size_t count(const T &) const; };
template <class T, class...> struct unordered_set : set<T> {};
struct ios_base { static bool sync_with_stdio(bool); enum dir { beg, cur, end }; enum fmt { fixed, scientific }; enum mode { in = 8, out = 16, binary = 4, app = 1, ate = 2 }; };
typedef ios_base ios;
struct ostream {
    template <class T> ostream &operator<<(const T &); ostream &operator<<(ostream &(*)(ostream &)); ostream &write(const char *, size_t), &flush();
    int precision(int), width(int); operator bool() const; bool operator!() const;
};
struct istream { template <class T> istream &operator>>(T &); istream &read(char *, size_t), &seekg(long, int = 0), &ignore(long = 1, int = -1); long tellg(), gcount(); int get(), peek(); bool good(), fail(); void clear(); operator bool() const; bool operator!() const; bool eof(); };
struct ifstream : istream { ifstream(); template <class... A> ifstream(A &&...); bool is_open(); void close(), open(const string &); };
struct ofstream : ostream { ofstream(); template <class... A> ofstream(A &&...); bool is_open(); void close(), open(const string &); };
struct stringstream : ostream { stringstream(); stringstream(const string &); string str() const; template <class T> stringstream &operator>>(T &); };
typedef stringstream ostringstream;
struct istringstream : istream { istringstream(const string &); };
istream &getline(istream &, string &);
extern ostream cout, cerr, clog;
extern istream cin;
ostream &endl(ostream &), &fixed(ostream &), &scientific(ostream &), &hex(ostream &), &dec(ostream &), &flush(ostream &), &left(ostream &), &right(ostream &);
int setw(int), setprecision(int), setfill(char);
struct exception { virtual const char *what() const noexcept; };
struct runtime_error : exception { runtime_error(const string &); };
struct logic_error : runtime_error { using runtime_error::runtime_error; };
struct invalid_argument : runtime_error { using runtime_error::runtime_error; };
struct bad_alloc : exception {};
#define CU2PORT_ALGORITHM(f) template <class I, class... A> I f(I, I, A...);
CU2PORT_ALGORITHM(sort) CU2PORT_ALGORITHM(find) CU2PORT_ALGORITHM(find_if) CU2PORT_ALGORITHM(max_element) CU2PORT_ALGORITHM(min_element) CU2PORT_ALGORITHM(unique)
CU2PORT_ALGORITHM(lower_bound) CU2PORT_ALGORITHM(upper_bound) CU2PORT_ALGORITHM(remove_if)
#define CU2PORT_LOOP(f) template <class I, class... A> void f(I, I, A...);
CU2PORT_LOOP(fill) CU2PORT_LOOP(iota) CU2PORT_LOOP(generate) CU2PORT_LOOP(shuffle) CU2PORT_LOOP(reverse) CU2PORT_LOOP(stable_sort) CU2PORT_LOOP(for_each)
template <class I, class O, class... A> O copy(I, I, O, A...);
template <class I, class O, class... A> O transform(I, I, O, A...);
template <class I, class O, class... A> O partial_sum(I, I, O, A...);
template <class C> auto begin(C &c) -> decltype(c.begin());
template <class C> auto end(C &c) -> decltype(c.end());
template <class C> size_t size(const C &);
template <class I> ptrdiff_t distance(I, I);
template <class I> ptrdiff_t count(I, I, decltype(*I()));
template <class I, class F> ptrdiff_t count_if(I, I, F);
template <class I, class F> bool all_of(I, I, F);
template <class I, class F> bool any_of(I, I, F);
template <class I, class J, class T, class... F> T inner_product(I, I, J, T, F...);
template <class I, class N, class T> void fill_n(I, N, T);
template <class I, class O, class N> O copy_n(I, N, O);
template <class I, class T, class... F> T accumulate(I, I, T, F...);
template <class I, class J, class... F> bool equal(I, I, J, F...);
template <class T> struct plus { constexpr T operator()(const T &, const T &) const; };
template <class T> struct less { constexpr bool operator()(const T &, const T &) const; };
template <class T> struct greater : less<T> {};
template <class T> struct default_delete { void operator()(T *) const; };
template <class T, class D = default_delete<T>> struct unique_ptr { unique_ptr(); explicit unique_ptr(T *); unique_ptr(T *, D); T *get() const, *operator->() const, *release(); T &operator*() const; void reset(T * = 0); operator bool() const; };
template <class T, class D> struct unique_ptr<T[], D> { unique_ptr(); explicit unique_ptr(T *); T *get() const; T &operator[](size_t) const; };
template <class T> struct shared_ptr : unique_ptr<T> { shared_ptr(); template <class... A> shared_ptr(A &&...); };
template <class T, class... A> unique_ptr<T> make_unique(A &&...);
template <class T, class... A> shared_ptr<T> make_shared(A &&...);
template <class T> struct function { template <class F> function(F); };
template <class R, class... A> struct function<R(A...)> { function(); template <class F> function(F); R operator()(A...) const; operator bool() const; };
template <class T> struct complex { complex(T = T(), T = T()); T real() const, imag() const; void real(T), imag(T); };
template <class T> struct atomic { atomic(T = T()); T load() const; void store(T); T fetch_add(T); operator T() const; T operator++(), operator++(int); };
typedef atomic<int> atomic_int;
typedef atomic<bool> atomic_bool;
struct thread { template <class... A> thread(A &&...); void join(), detach(); static unsigned hardware_concurrency(); };
struct mutex { void lock(), unlock(); };
template <class M> struct lock_guard { lock_guard(M &); };
struct mt19937 { mt19937(unsigned = 0); unsigned operator()(); };
typedef mt19937 default_random_engine;
typedef mt19937 mt19937_64;
struct random_device { unsigned operator()(); };
template <class T = double> struct uniform_real_distribution { template <class... A> uniform_real_distribution(A...); template <class G> T operator()(G &); };
template <class T = int> struct uniform_int_distribution { template <class... A> uniform_int_distribution(A...); template <class G> T operator()(G &); };
template <class T = double> struct normal_distribution { template <class... A> normal_distribution(A...); template <class G> T operator()(G &); };
template <long N, long D = 1> struct ratio;
typedef ratio<1, 1000> milli;
typedef ratio<1, 1000000> micro;
typedef ratio<1, 1000000000> nano;
namespace chrono {
template <class R, class P = ratio<1>> struct duration { duration(); template <class S, class Q> duration(const duration<S, Q> &); R count() const; };
typedef duration<long> nanoseconds, microseconds, milliseconds, seconds;
struct time_point { duration<double> time_since_epoch() const; };
duration<double> operator-(time_point, time_point);
struct steady_clock { typedef __cu2port::bare<std::chrono::time_point>::type time_point; static time_point now(); };
typedef steady_clock high_resolution_clock;
typedef steady_clock system_clock;
template <class D, class X> D duration_cast(X);
}  // namespace chrono
}  // namespace std
