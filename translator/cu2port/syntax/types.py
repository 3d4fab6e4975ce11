"""Types as they are written: the words of a declaration, its pointers, references and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cu2port.core.late import dataclass
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration, Scope
from cu2port.syntax.tree import Cast
from cu2port.syntax.words import (
    ATTRIBUTES,
    BUILTIN_TYPES,
    CLASS_KEYS,
    CV,
    DECLARATOR_WORDS,
    PLACEHOLDERS,
    RECORD_KEYS,
    RESTRICT,
    SPECIFIERS,
    TYPE_OPERATORS,
    WIDTHS,
)

#: Names of the standard library and of CUDA for built-in types (LP64).
ALIASES = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "u_int8_t": "unsigned char",
    "u_int16_t": "unsigned short",
    "u_int32_t": "unsigned int",
    "u_int64_t": "unsigned long",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "uintptr_t": "unsigned long",
    "intptr_t": "long",
    "uint": "unsigned int",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
}
#: Names of types that are no project's own, `auto` among them: what a cast and a declaration are told by.
BASIC = BUILTIN_TYPES | PLACEHOLDERS | ALIASES.keys() | frozenset("half __half clock_t".split())
_NO_NAMES = SPECIFIERS | CLASS_KEYS | ATTRIBUTES
_NAMES_TYPE = RECORD_KEYS | {"typename"}
_SPACES = frozenset({"std", "cuda"})  # that hold names of ALIASES


@dataclass(frozen=True, slots=True)
class Type:
    """A type as written. `words`: its names without specifiers and `::`; `pointers`, `arrays`: how many; `reference`:
    `&` or `&&`."""

    words: tuple[str, ...]
    pointers: int = 0
    arrays: int = 0
    reference: bool = False

    @property
    def name(self) -> str:
        """The last word: the type's own name without namespaces; "" if there is none."""
        return self.words[-1] if self.words else ""

    @property
    def indirections(self) -> int:
        """How often a value of it can be followed: pointers and arrays."""
        return self.pointers + self.arrays


def written(t: Sequence[str], d: Declaration) -> Type:
    """The type of a declared variable, parameter or member, as tokens `t` spell it; template arguments are left out."""
    return Type(_words(t, d.type_first, d.type_stop), d.pointers, d.arrays, d.reference)


def is_class(t: Sequence[str], d: Declaration) -> bool:
    """Whether a declaration is a class's."""
    return d.kind == "type" and t[d.type_first] in RECORD_KEYS


def alias_of(t: Sequence[str], d: Declaration) -> tuple[int, int]:
    """The tokens of the type that a `using` or a `typedef` gives a name, without the declarator of a `typedef`; (0, 0)
    of other declarations."""
    if d.kind == "type" and t[d.first] == "using":
        return d.at + 2, d.stop - 1
    return (d.type_first + 1, d.type_stop) if d.kind == "type" and t[d.type_first] == "typedef" else (0, 0)


def is_type_parameter(t: Sequence[str], d: Declaration) -> bool:
    """Whether a declaration is that of a template's parameter for a type."""
    if d.kind != "template parameter" or "template" in t[d.type_first : d.type_stop]:
        return False
    return t[d.type_first] in _NAMES_TYPE and not name_of(t, d.type_first, d.type_stop)


def type_parameters(t: Sequence[str], scope: Scope) -> Iterator[str]:
    """The parameters for types of a template's scope; none of other scopes."""
    if scope.kind == "template":
        yield from (name for name, found in scope.names.items() if any(is_type_parameter(t, d) for d in found))


def cast_to(t: Sequence[str], cast: Cast) -> Type:
    """The type of a cast, as tokens `t` spell it; template arguments are left out."""
    stars = cast.type_stop
    while stars > cast.type_first and t[stars - 1] in DECLARATOR_WORDS:
        stars -= 1
    signs = t[stars : cast.type_stop]
    return Type(_words(t, cast.type_first, stars), signs.count("*"), reference="&" in signs or "&&" in signs)


def _words(t: Sequence[str], first: int, stop: int) -> tuple[str, ...]:
    """The names in tokens [first, stop) without specifiers and template arguments."""
    words: list[str] = []
    depth = 0
    for tok in t[first:stop]:
        if tok in ("(", "<"):
            depth += 1
        elif tok in (")", ">"):
            depth -= 1
        elif tok == "{":
            break
        elif depth <= 0 and is_identifier(tok) and tok not in _NO_NAMES:
            words.append(tok)
    return tuple(words)


def name_of(t: Sequence[str], first: int, stop: int) -> tuple[str, ...]:
    """The words of the one name of a type in tokens [first, stop): those of a built-in type, or a name with its
    namespaces; none for what has template arguments or is computed. Macros beside it are left out."""
    names: list[list[str]] = []  # each with its namespaces
    depth = 0
    for k in range(first, stop):
        tok = t[k]
        depth += (tok == "(") - (tok == ")")
        if tok == "(" and depth == 1 and names and t[k - 1] == names[-1][-1]:
            names.pop()  # `ALIGN(16)`
        if depth or tok == ")":
            continue
        if tok == "{":
            break
        if tok == "<" or tok in TYPE_OPERATORS:
            return ()
        if is_identifier(tok) and tok not in _NO_NAMES:
            if names and t[k - 1] == "::":
                names[-1].append(tok)
            else:
                names.append([tok])
    plain = [name[0] for name in names if name[0] in BUILTIN_TYPES]
    if plain:
        return tuple(plain) if len(plain) == len(names) or not WIDTHS.issuperset(plain) else ()
    if len(names) > 1:
        names = [name for name in names if len(name) > 1 or not name[0].isupper()]
    return tuple(names[0]) if len(names) == 1 else ()


def builtin(words: Iterable[str]) -> str:
    """The built-in type that words name, as clang spells it; "" for others. `uint32_t` and `std::size_t` count."""
    names = [w for w in words if w not in _SPACES and w not in CV and w not in RESTRICT]
    if len(names) == 1 and names[0] in ALIASES:
        return ALIASES[names[0]]
    if not names or not all(w in BUILTIN_TYPES for w in names):
        return ""
    bases = [w for w in names if w not in WIDTHS]
    longs = names.count("long")
    base = bases[0] if bases else "int"
    if base == "int":
        base = "short" if "short" in names else ("long " * min(longs, 2)).strip() or "int"
    elif base == "double" and longs:
        base = "long double"
    if "unsigned" in names:
        return f"unsigned {base}"
    return f"signed {base}" if "signed" in names and base == "char" else base


def parameter_types(words: Sequence[str]) -> tuple[str, ...]:
    """The types in a parameter list, whose tokens are given without the brackets: as written, without names, default
    values and `const` of a copy."""
    out = []
    for parameter in parameters(words):
        kind = parameter[: parameter.index("=")] if "=" in parameter else parameter
        rest = [w for w in kind if w not in CV]
        if len(rest) > 1 and is_identifier(rest[-1]) and rest[-1] not in BASIC and rest[-2] != "::":
            kind = kind[: len(kind) - 1 - kind[::-1].index(rest[-1])]
        if not {"*", "&", "&&", "["}.intersection(kind):
            kind = [w for w in kind if w not in CV]
        out.append(" ".join(kind).replace(">>", "> >"))
    return () if out in (["void"], [""]) else tuple(out)


def parameters(words: Sequence[str]) -> Iterator[list[str]]:
    """The tokens of each parameter. Commas in brackets and between template arguments separate none."""
    depth, parameter = 0, list[str]()
    for word in words:
        depth += (word in "<([{") - (word in ">)]}") - 2 * (word == ">>")
        if word == "," and depth <= 0:
            yield parameter
            parameter = []
        else:
            parameter.append(word)
    yield parameter
