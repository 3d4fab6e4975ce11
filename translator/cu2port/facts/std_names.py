"""Names of `std` that come with HIP's headers and not with CUDA's, and who declares one of them for all who include it.

clang includes <algorithm>, <complex> and <new> before each HIP source, and HIP's runtime header <tuple>. nvcc has none
of these. A project's own type or variable of such a name is ambiguous then, where `using namespace std` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from itertools import chain

from cu2port.core.late import regex
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.scopes import Declaration

#: What libstdc++ and libc++ declare by those headers, without names that a project hardly has (`wcslen`).
NAMES = frozenset(
    (
        "adjacent_find advance all_of allocator any_of apply arg array back_insert_iterator back_inserter "
        "binary_function binary_search bit_and bit_not bit_or bit_xor boolalpha cbegin cend char_traits clamp complex "
        "conj copy copy_backward copy_if copy_n count count_if crbegin cref crend data dec destroy destroy_at "
        "destroy_n distance divides empty endl ends equal equal_range equal_to error_code error_condition fill fill_n "
        "find find_end find_first_of find_if find_if_not fixed flush for_each for_each_n forward_as_tuple fpos "
        "front_insert_iterator front_inserter generate generate_n greater greater_equal hash hex ignore imag includes "
        "inplace_merge insert_iterator inserter invalid_argument io_errc ios is_heap_until is_partitioned "
        "is_permutation is_sorted is_sorted_until iter_swap iterator left less less_equal lexicographical_compare "
        "logical_and logical_not logical_or lower_bound make_from_tuple make_heap make_move_iterator "
        "make_reverse_iterator make_tuple max max_element merge min min_element minmax minmax_element minus mismatch "
        "modulus move_backward move_iterator multiplies negate next next_permutation none_of norm not1 not2 "
        "not_equal_to nth_element oct partial_sort partial_sort_copy partition partition_copy partition_point plus "
        "pmr pointer_traits polar pop_heap prev prev_permutation proj ptr_fun push_heap random_shuffle rbegin real "
        "ref remove_copy remove_copy_if remove_if rend replace replace_copy replace_copy_if replace_if reverse "
        "reverse_copy reverse_iterator right rotate rotate_copy sample scientific search search_n set_difference "
        "set_intersection set_symmetric_difference set_union shuffle size sort sort_heap stable_partition stable_sort "
        "streamsize string terminate throw_with_nested tie to_string to_wstring transform tuple_cat type_info unique "
        "unique_copy upper_bound uppercase valarray"
    ).split()
)
OPENS = "std::*"  # stands for `using namespace std;` among the names that a file declares for those who include it
OPENED = "*"  # its last word
_OPENS = regex(r"\nusing\s+namespace\s+(?:::\s*)?std\s*;")  # both begin with text: they are found fast
_MAYBE = regex(
    r"\n(?:typedef\b[^;{}()\n]*?(\w+)\s*;|extern\b[^;{}()\n]*?(\w+)\s*[;\[]|using\s+(\w+)\s*="
    r"|(?:struct|class|union|enum)\s+(\w+)\s*[:{;]|\}\s*(\w+)\s*;)"
)
_OBJECTS = frozenset({"type", "variable", "enumerator"})
_BEGINS = ("BEGIN", "OPEN", "START")


def asked(words: Set[str]) -> frozenset[str]:
    """What a text with these words asks of others."""
    names = NAMES & words
    return names | {OPENED} if names else names


def given(text: str, words: Set[str], read: Callable[[], Declarations]) -> frozenset[str]:
    """Which of NAMES a text declares outside of any namespace as types or variables, and OPENS. `words`: its words;
    `read`: its declarations, asked for where a name may be declared."""
    found = set[str]()
    if "std" in words and _OPENS.search(f"\n{text}"):
        found.add(OPENS)
    if not NAMES.isdisjoint(words):
        names = NAMES.intersection(chain.from_iterable(_MAYBE.findall(f"\n{text}")))
        if names and not opens_by_macro(words):
            found.update(name for name in names if is_global(read(), name))
    return frozenset(found)


def opens_by_macro(words: Set[str]) -> bool:
    """Whether a text with these words has a macro that opens a namespace, by its name, as `FMT_BEGIN_NAMESPACE`: what
    looks as if it were in none is in that one."""
    return any("NAMESPACE" in word and any(x in word for x in _BEGINS) for word in words)


def is_global(declarations: Declarations, name: str) -> bool:
    """Whether all that a file declares by a name outside of functions are types and variables of no namespace."""
    outer = [d for d in declarations.named(name) if is_outside(d)]
    return bool(outer) and all(d.kind in _OBJECTS for d in outer)


def is_outside(d: Declaration) -> bool:
    """Whether a declaration is in no namespace, class or function."""
    scope = d.scope
    while scope.parent is not None and (scope.kind == "template" or (scope.kind == "enum" and not scope.name)):
        scope = scope.parent
    return scope.kind in ("file", "macro") and d.kind not in ("parameter", "template parameter")
