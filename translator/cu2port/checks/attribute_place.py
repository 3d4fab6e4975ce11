from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_BOUNDS = "__launch_bounds__"
_CUDA = frozenset(
    {"__device__", "__host__", "__global__", "__constant__", "__shared__", "__managed__", "__forceinline__"}
    | {"__noinline__", _BOUNDS}
)
#: A word of each attribute: of C++, and of compilers that nvcc stands before.
_ATTRIBUTES = frozenset(
    "alignas assume carries_dependency clang deprecated fallthrough gnu likely maybe_unused msvc no_unique_address "
    "nodiscard noreturn nv_exec_check_disable nvc unlikely".split()
)
_PLAIN = frozenset("consteval constexpr constinit explicit extern friend inline static thread_local virtual".split())
_BEFORE = frozenset("; { } : > ( ,".split())  # a declaration, or an argument that is one, begins behind these
_LONGEST = 16  # words before a type


class AttributePlace(Check):
    """`[[nodiscard]]` or `alignas(16)` stands behind `__device__` or another word of CUDA's, where clang refuses it.

    To HIP these words are attributes of GNU's. Behind them clang takes one of C++ in few places: not in a namespace,
    and not with a word such as `static` or `inline` before it. It moves to where the declaration begins, which means
    the same.
    """

    code, name, severity = "CU273", "attribute-place", Severity.INFO
    triggers = _ATTRIBUTES
    examples = (
        Example(
            "namespace a { __host__ __device__ [[nodiscard]] inline int f() { return 1; } }\n",
            "namespace a { [[nodiscard]] __host__ __device__ inline int f() { return 1; } }\n",
        ),
        Example(
            "struct S { static __device__ [[nodiscard]] constexpr int f() { return 1; } };\n",
            "struct S { [[nodiscard]] static __device__ constexpr int f() { return 1; } };\n",
            "behind `static`, in a class",
        ),
        Example(
            "namespace a { template <class T> __device__ inline [[nodiscard]] T f(T x) { return x; } }\n",
            "namespace a { template <class T> [[nodiscard]] __device__ inline T f(T x) { return x; } }\n",
            "a template",
        ),
        Example(
            "__global__ void k() { static __shared__ alignas(16) float a[4]; }\n",
            "__global__ void k() { alignas(16) static __shared__ float a[4]; }\n",
            "an alignment",
        ),
        Example(
            "namespace a { __global__ __launch_bounds__(64) [[maybe_unused]] void k() {} }\n",
            "namespace a { [[maybe_unused]] __global__ __launch_bounds__(64) void k() {} }\n",
            "behind a call of a macro",
        ),
        Example(
            "#define FN(t, f) static __device__ [[nodiscard]] t f(t x) { return x; }\n",
            "#define FN(t, f) [[nodiscard]] static __device__ t f(t x) { return x; }\n",
            "in a macro body",
        ),
        Example(
            "DECLARE(static __device__ [[nodiscard]] int f())\n",
            "DECLARE([[nodiscard]] static __device__ int f())\n",
            "as a macro's argument",
        ),
        Example(
            "__device__ [[nodiscard]] int f();\ntemplate <class T> __device__ [[nodiscard]] T g(T);\n"
            "struct S { __device__ [[nodiscard]] int h(); };\n"
            "namespace a { [[nodiscard]] __device__ int f(); __device__ int g [[maybe_unused]]; }\n",
            note="clang takes them",
        ),
        Example("__device__ const int n[] = {1};\n__device__ int f() { return n[n[0]]; }\n", note="no attributes"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        done: set[int] = set()
        bodies = {m.first for of in unit.macros.values() for m in of}
        for i in sorted(k for word in _CUDA for k in unit.find(word)):
            at = _end_of_words(unit, i)
            stop = _end_of_attributes(unit, at)
            if stop > at and at not in done:
                done.add(at)
                first, plain = _begin(unit, at, bodies)
                if first >= 0 and (plain or _refused(unit, first, at)):
                    yield self._found(unit, first, at, stop)

    def _found(self, unit: Unit, first: int, at: int, stop: int) -> Finding:
        shown = unit.text[unit.p[at] : unit.end(stop - 1)]
        gap = unit.text[unit.end(stop - 1) : unit.p[stop]] if stop < len(unit.t) else "\n"
        end = unit.p[stop] if gap.isspace() and "\n" not in gap else unit.end(stop - 1)
        edits = (insert(unit.p[first], f"{shown} "), replace(unit.p[at], end, ""))
        message = f"`{shown}` goes before the words of CUDA, behind which clang does not allow it here"
        return self.finding(message, unit.p[at], unit.end(stop - 1), edits, effects=(("all", "compile-error"),))


def _end_of_words(unit: Unit, i: int) -> int:
    """Where the words before a type end."""
    for _ in range(_LONGEST):
        if unit.tok(i) == _BOUNDS and unit.tok(i + 1) == "(" and unit.match[i + 1] > i:
            i = unit.match[i + 1] + 1
        elif unit.tok(i) in _CUDA or unit.tok(i) in _PLAIN:
            i += 1
        else:
            break
    return i


def _end_of_attributes(unit: Unit, i: int) -> int:
    while True:
        bracket = i if unit.tok(i) == "[" and unit.tok(i + 1) == "[" else i + 1 if unit.tok(i) == "alignas" else -1
        if bracket < 0 or unit.tok(bracket) not in ("[", "(") or unit.match[bracket] <= bracket:
            return i
        i = unit.match[bracket] + 1


def _begin(unit: Unit, at: int, bodies: set[int]) -> tuple[int, bool]:
    """The first of the words before a token, -1 where no declaration seems to begin there; and whether any is C++'s."""
    first, plain = at, False
    for _ in range(_LONGEST):
        k = first - 1
        if unit.tok(k) == ")" and 0 < unit.match[k] < k and unit.tok(unit.match[k] - 1) == _BOUNDS:
            k = unit.match[k] - 1
        if first in bodies or k < 0 or (unit.t[k] not in _CUDA and unit.t[k] not in _PLAIN):
            break
        plain = plain or unit.t[k] in _PLAIN
        first = k
    before = first - 1
    begins = (
        first in bodies
        or before < 0
        or unit.t[before] in _BEFORE
        or unit.lexed.directive_index(before) != unit.lexed.directive_index(first)
    )
    return (first if begins else -1), plain


def _refused(unit: Unit, first: int, at: int) -> bool:
    """Whether clang refuses an attribute behind words of CUDA alone, for where they are. The body of a macro may be
    anywhere; what is shared is in a function."""
    in_macro = unit.lexed.directive_index(first) >= 0 and "__shared__" not in unit.t[first:at]
    return in_macro or unit.declarations.scope_at(first).kind == "namespace"
