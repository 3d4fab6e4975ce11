"""Names that a PTX module may use and a HIP source may not: words of C++, and what its headers declare.

A variable, a kernel or a visible function of such a name gets a `_` behind it.
"""

from __future__ import annotations

KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq std cu2port threadIdx blockIdx blockDim gridDim warpSize "
    "NULL EOF assert errno stdin stdout stderr INFINITY NAN HUGE_VAL RAND_MAX BUFSIZ linux unix".split()
)

#: the C library's functions, types and HIP's: those that a person may well give a kernel or a variable
_LIBRARY = frozenset(
    "abort abs acos acosh alarm asin asinh atan atan2 atanh atexit atof atoi atol atoll basename bcmp bcopy bsearch "
    "bzero calloc cbrt ceil chdir chmod chown clearerr clock close confstr copysign cos cosh crypt ctermid difftime "
    "div dprintf drem dup dup2 ecvt encrypt erf erfc exit exp exp10 exp2 expm1 fabs fchdir fclose fcvt fdim fdopen "
    "feof ferror fflush ffs fgetc fgetpos fgets fileno finite flockfile floor fma fmax fmin fmod fopen fork fprintf "
    "fputc fputs fread free freopen frexp fscanf fseek ftell ftruncate fwrite gamma gcvt getc getchar getcwd getenv "
    "getline getopt getpid getw hypot ilogb index initstate ioctl isatty isblank isinf isnan isalpha isdigit j0 j1 "
    "jn kill labs ldexp ldiv lgamma link llabs lldiv llrint llround localtime log log10 log1p log2 logb longjmp "
    "lrint lround lseek main malloc mblen memchr memcmp memcpy memmove memset mktemp mktime modf nan nearbyint "
    "nextafter nice open pause pclose perror pipe popen pow pow10 printf putc putchar putenv puts putw qsort raise "
    "rand random read readlink realloc reboot remainder remove remquo rename rewind rindex rint rmdir round scalb "
    "scalbln scalbn scanf select setbuf setenv setjmp setstate signal significand sin sincos sinh sleep snprintf "
    "sprintf sqrt srand srandom sscanf strcat strchr strcmp strcpy strdup strlen strncat strncmp strncpy strsep "
    "strstr strtod strtok strtol swab symlink sync syscall system tan tanh tempnam tgamma time times tmpfile tmpnam "
    "tolower toupper trunc truncate ttyname umask ungetc unlink usleep vfork vprintf wait write y0 y1 yn dim3 half "
    "half2 uint uchar ushort ulong size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t "
    "uint32_t uint64_t intptr_t uintptr_t time_t clock_t clock64 wall_clock64 min max rsqrt rcbrt norm rnorm "
    "normcdf erfcx erfcinv erfinv cyl_bessel_i0 sinpi cospi sincospi saturate umin umax mul24 umul24 brev popc clz "
    "ffsll fdividef atomicAdd atomicSub atomicExch atomicCAS atomicMin atomicMax atomicInc atomicDec atomicAnd "
    "atomicOr atomicXor tex1D tex2D tex3D surf1Dread surf2Dread make_float2 make_float4 make_int2 make_int4 "
    "make_uint2 make_uint4 ".split()
)
_BASES = "char uchar short ushort int uint long ulong longlong ulonglong float double"
_VECTORS = frozenset(f"{base}{n}" for base in _BASES.split() for n in "1234")
LIBRARY = _LIBRARY | _VECTORS | frozenset(f"{name}{end}" for name in _LIBRARY for end in "fl" if len(name) > 2)
