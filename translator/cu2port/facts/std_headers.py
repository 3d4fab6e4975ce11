"""Headers of the host's compiler and system, by their names."""

from __future__ import annotations

from collections.abc import Container

from cu2port.core.late import regex

STD_HEADERS = frozenset(
    (
        "algorithm any array atomic bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits "
        "clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef "
        "cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format "
        "forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch "
        "limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges "
        "ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept "
        "stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex "
        "typeinfo unordered_map unordered_set utility valarray variant vector version assert.h complex.h ctype.h "
        "errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h malloc.h math.h memory.h setjmp.h signal.h "
        "stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h tgmath.h "
        "time.h uchar.h unistd.h wchar.h wctype.h dirent.h dlfcn.h fcntl.h getopt.h libgen.h omp.h pthread.h sched.h "
        "semaphore.h sys/mman.h sys/resource.h sys/stat.h sys/time.h sys/types.h sys/wait.h windows.h x86intrin.h "
        "immintrin.h intrin.h io.h direct.h process.h"
    ).split()
)

_OWN_NAME = regex(r"\.\w+\Z")  # those of the standard library have no suffix
_FOREIGN = regex(
    r"(?:cuda|cub|thrust|cutlass|cute|nvtx|nv|cudnn|cooperative_groups|hip\w*|rocm|sys|net|arpa|bits|linux|boost|Eigen|c10"
    r"|torch|ATen|gtest)/"
)


def is_projects(name: str, known: Container[str]) -> bool:
    """Whether an include in angle brackets may name a file of the tree: none of the system, nor CUDA's (`known`)."""
    has = name in STD_HEADERS or name in known
    return bool(_OWN_NAME.search(name)) and not has and not _FOREIGN.match(name)
