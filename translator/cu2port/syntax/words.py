"""The words of C++ and CUDA by what they do: the one table that everything which reads code takes them from."""

from __future__ import annotations

#: Words of the built-in types, and what says how wide or signed one is.
WIDTHS = frozenset("unsigned signed short long".split())
BUILTIN_TYPES = WIDTHS | frozenset(
    "void bool char wchar_t char8_t char16_t char32_t int float double __int128 _Float16 __bf16 _Bool".split()
)
PLACEHOLDERS = frozenset("auto".split())
#: Words that begin the name of a class, and those that declare one of any kind.
RECORD_KEYS = frozenset("struct class union".split())
CLASS_KEYS = RECORD_KEYS | {"enum"}
ACCESS = frozenset("public private protected".split())
RESTRICT = frozenset("__restrict__ __restrict restrict".split())
CV = frozenset("const volatile __volatile__ __volatile".split())
#: What may stand among the stars and ampersands of a declarator.
POINTER_SIGNS = frozenset("* & &&".split())
DECLARATOR_WORDS = POINTER_SIGNS | CV | RESTRICT
EXECUTION_SPACES = frozenset("__global__ __device__ __host__".split())
MEMORY_SPACES = frozenset("__shared__ __constant__ __managed__ __grid_constant__".split())
STORAGE = frozenset("static extern register thread_local mutable typedef friend".split())
#: Specifiers of a declaration that say nothing of its type.
SPECIFIERS = (
    STORAGE
    | CV
    | RESTRICT
    | EXECUTION_SPACES
    | MEMORY_SPACES
    | frozenset(
        "inline __inline__ __inline __forceinline__ __noinline__ __forceinline virtual explicit constexpr consteval "
        "constinit __extension__ typename _Noreturn".split()
    )
)
#: What may stand among the words of a type.
QUALIFIERS = SPECIFIERS - {"typedef", "friend"} | CLASS_KEYS
#: Specifiers and attributes that take an argument in brackets.
ATTRIBUTES = frozenset(
    "__attribute__ __attribute alignas _Alignas __align__ __declspec __launch_bounds__ __maxnreg__ __cluster_dims__ "
    "__block_size__".split()
)
TYPE_OPERATORS = frozenset("decltype typeof __typeof__ __typeof".split())
#: What may stand between a function's parameters and its body.
AFTER_PARAMETERS = frozenset("const volatile noexcept override final mutable & && try throw requires".split())
#: Words with a condition in brackets and a statement after it.
CONDITIONS = frozenset("if for while switch".split())
LEAVING = frozenset("return break continue goto co_return".split())
#: Words that begin a statement which is no declaration and no expression.
STATEMENTS = CONDITIONS | LEAVING | frozenset("else do case default try catch".split())
#: Operators spelled as words, those with an operand in brackets, literals: what an expression may begin with.
OPERATOR_WORDS = frozenset("and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq".split())
SIZES = frozenset("sizeof alignof __alignof__ _Alignof typeid noexcept".split())
CASTS = frozenset("static_cast reinterpret_cast const_cast dynamic_cast".split())
LITERALS = frozenset("true false nullptr this NULL".split())
ALLOCATION = frozenset("new delete throw co_await co_yield".split())
EXPRESSION_WORDS = OPERATOR_WORDS | SIZES | CASTS | LITERALS | ALLOCATION
ASM = frozenset("asm __asm__ __asm".split())
VOLATILE = CV - {"const"}
ASM_QUALIFIERS = VOLATILE | frozenset("goto inline __inline__".split())
DECLARATION_WORDS = frozenset("using namespace template concept operator static_assert export".split())
PREPROCESSOR = frozenset("define undef ifdef ifndef elif endif include pragma defined".split())
#: A value follows these words, never a name that they declare.
BEFORE_VALUE = (
    (LEAVING - {"break", "continue"}) | ALLOCATION | OPERATOR_WORDS | SIZES | frozenset("else case do".split())
)
#: No type, whatever follows: `return x`, `sizeof(x)`, `else f()`, `operator new`.
NO_TYPES = (
    STATEMENTS
    | EXPRESSION_WORDS
    | ASM
    | DECLARATION_WORDS
    | PREPROCESSOR
    | ACCESS
    | frozenset("explicit typedef".split())
)
#: All words that can name nothing; a `::` after one begins a name of its own.
KEYWORDS = (
    BUILTIN_TYPES
    | PLACEHOLDERS
    | CLASS_KEYS
    | ACCESS
    | SPECIFIERS
    | ATTRIBUTES
    | TYPE_OPERATORS
    | (STATEMENTS | EXPRESSION_WORDS | ASM | DECLARATION_WORDS) - {"NULL"}
    | frozenset("requires".split())
)
#: Operators that do not always evaluate all of their operands.
CONDITIONAL_OPERATORS = frozenset({"?", "&&", "||"})
#: What may be behind the bracket that ends a call's arguments, and not behind that of a function's parameters.
BEHIND_CALLS = frozenset(", ; ) ] } . * / % + - < > = == != <= >= || ? <<".split())


def may_be_macro(word: str) -> bool:
    """Whether a word among the specifiers of a function may be a macro, which may say on which side the function is."""
    return (word.isupper() and len(word) > 3) or (word.startswith("__") and word not in SPECIFIERS | ATTRIBUTES)
