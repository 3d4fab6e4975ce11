"""The two halves of a declaration: its specifiers with the type, and the declarators after them."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, NamedTuple

from cu2port.core.late import dataclass
from cu2port.syntax.code import Code, Name
from cu2port.syntax.lexer import is_identifier, is_string
from cu2port.syntax.words import (
    AFTER_PARAMETERS,
    ATTRIBUTES,
    BUILTIN_TYPES,
    CLASS_KEYS,
    DECLARATOR_WORDS,
    KEYWORDS,
    PLACEHOLDERS,
    POINTER_SIGNS,
    RECORD_KEYS,
    SPECIFIERS,
    TYPE_OPERATORS,
)

Where = Literal["names", "members", "statements", "parameters"]
_AFTER_NAME = frozenset("; , = ( [ { :".split())
_FUNCTION_BEGINS = frozenset("{ : -> const noexcept override final & && try volatile".split())
_DEFAULTS = frozenset("0 default delete".split())
_BEGINS_TYPE = BUILTIN_TYPES | PLACEHOLDERS | CLASS_KEYS | SPECIFIERS | TYPE_OPERATORS
_NAMES_TYPE = CLASS_KEYS | {"typename", "using"}
_SHORT = 2  # letters of a name that may well be a type's although they are capitals: `T`, `TV`


class ClassHead(NamedTuple):
    """`struct A : B {`, `enum class E`, `struct A;`. Tokens: `key`; `at`, the name (-1: none); `body`, its `{` (-1:
    none); `stop`, what comes after it all. `bases`: names of classes."""

    key: int
    at: int
    name: str
    body: int
    stop: int
    scoped: bool
    bases: tuple[str, ...]


@dataclass(slots=True)
class Specifiers:
    """What stands before a declarator: tokens [first, stop). `names`: the names there that are no keywords, of which
    the last is the declarator's where none other follows; `solid`: there is a type that is no such name; `type_stop`:
    the declarator's first token."""

    first: int
    stop: int
    type_stop: int = 0
    solid: bool = False
    words: set[str] = field(default_factory=set)
    names: list[Name] = field(default_factory=list)
    classes: list[ClassHead] = field(default_factory=list)


class Declarator(NamedTuple):
    """`**name`, `(*name)`, `&name`, `[a, b]`. `wrapped`: a pointer in brackets; `bound`: the names of a structured
    binding; `stop`: the token after it."""

    name: Name
    stop: int
    pointers: int
    reference: bool
    wrapped: bool
    bound: tuple[int, ...] = ()


def specifiers(code: Code, k: int, where: Where) -> Specifiers:
    """What begins at token k, up to the declarator; all names count, be they types, macros or the declarator's own."""
    found = Specifiers(k, k)
    while k < code.stop:
        tok = code.t[k]
        if tok in SPECIFIERS:
            found.words.add(tok)
            k = code.at(k + 1)
            if tok == "extern" and is_string(code.tok(k)):
                k = code.at(k + 1)
        elif tok in BUILTIN_TYPES or tok in PLACEHOLDERS:
            found.solid = True
            k = code.at(k + 1)
        elif tok in CLASS_KEYS:
            head = class_head(code, k)
            found.classes.append(head)
            found.solid = True
            k = head.stop
        elif tok in ATTRIBUTES or (tok == "[" and code.tok(k + 1) == "[" and not found.solid):
            k = code.attributes(k)
        elif tok in TYPE_OPERATORS:
            found.solid = True
            k = code.at(k + 1)
            k = code.past(k) if code.tok(k) == "(" else k
        elif tok in ("::", "operator") or (tok == "~" and code.is_name(k + 1)) or code.is_name(k):
            name = code.name(k) if where == "statements" else code.type_name(k)
            if code.tok(name.stop) == "::":  # `A::*p`
                break
            k = name.stop
            if code.tok(k) == "(" and is_identifier(tok) and _is_attribute(code, k, found, where):
                k = code.past(k)
            else:
                found.names.append(name)
                if code.tok(name.at) == "operator":
                    break
        else:
            k2 = code.at(k)
            if k2 == k:
                break
            k = k2
    found.stop = found.type_stop = k
    return found


def _is_attribute(code: Code, open_: int, found: Specifiers, where: Where) -> bool:
    """Whether the brackets at `open_`, after a name, are a macro's, and the declared name comes after them."""
    if where == "statements" or not (found.solid or found.names or found.words):
        return False
    k = code.past(open_)
    after = code.tok(k)
    if after in BUILTIN_TYPES or after in PLACEHOLDERS or after in SPECIFIERS:
        return not (found.solid or found.names) and after not in ("const", "volatile")
    if not code.is_name(k) or after in AFTER_PARAMETERS or parameters_like(code, open_, False):
        return False
    following = code.tok(code.at(k + 1))
    return following in ("(", "<", "::", "*", "&") or is_identifier(following)


def class_head(code: Code, k: int) -> ClassHead:
    """The head of a class or enumeration whose key is token k."""
    key, scoped = k, False
    k = code.at(k + 1)
    if code.t[key] == "enum" and code.tok(k) in RECORD_KEYS:
        scoped = True
        k = code.at(k + 1)
    names: list[Name] = []
    while k < code.stop:
        tok = code.t[k]
        if tok in ATTRIBUTES or (tok == "[" and code.tok(k + 1) == "["):
            k = code.attributes(k)
        elif tok == "final" and names:
            k = code.at(k + 1)
        elif tok == "::" or code.is_name(k):
            name = code.type_name(k)
            k = name.stop
            if code.tok(k) == "(" and _is_class_attribute(code, k, name, bool(names)):
                k = code.past(k)
            else:
                names.append(name)
        else:
            break
    body = -1
    bases: tuple[str, ...] = ()
    if code.tok(k) == ":" and (names or code.t[key] == "enum"):
        body, bases = _bases(code, k)
    elif code.tok(k) == "{":
        body = k
    if body >= 0:
        close = code.match[body]
        stop = code.at(close + 1) if body < close < code.stop else code.at(body + 1)
    elif not names or (code.tok(k) == ";" and (len(names) == 1 or is_macro(code, names[0]))):
        stop = k
    else:
        names = names[:1]
        stop = names[0].stop
    at = names[-1].at if names else -1
    return ClassHead(key, at, code.t[at] if names else "", body, stop, scoped, bases)


def _is_class_attribute(code: Code, open_: int, name: Name, named: bool) -> bool:
    """Whether brackets after a class key and a name are a macro's: `struct ALIGN(16) A {`, and no parameters as in
    `struct A f(int) {`. `named`: whether a name came before."""
    after = code.past(open_)
    return code.is_name(after) or (code.tok(after) == "{" and (not named or is_macro(code, name)))


def _bases(code: Code, k: int) -> tuple[int, tuple[str, ...]]:
    """The `{` after a colon at k and the names of what is inherited; -1 if none comes."""
    bases: list[str] = []
    k = code.at(k + 1)
    while k < code.stop:
        tok = code.t[k]
        if tok == "{":
            return k, tuple(bases)
        if code.is_name(k) or tok == "::":
            name = code.name(k)
            bases.append(name.text)
            k = name.stop
        elif tok in (",", "...") or tok in KEYWORDS:
            k = code.at(k + 1)
            if tok in TYPE_OPERATORS and code.tok(k) == "(":
                k = code.past(k)
        elif (k2 := code.at(k)) != k:
            k = k2
        else:
            break
    return -1, ()


def is_declaration(code: Code, found: Specifiers, where: Where) -> bool:
    """Whether a declarator with a name follows some specifiers, or is the last name among them."""
    after = code.tok(found.stop)
    pointer = bool(found.names) and _begins_pointer(code, found.stop)
    if not (found.solid or len(found.names) > 1 or pointer):
        return False
    if found.names and not pointer:
        ends = where == "parameters" or (found.solid and after == "")  # the end of a macro's body
        if after not in _AFTER_NAME and not (ends and after in ("", ",", ")", "...")):
            return False
        return not (where == "statements" and after == "(" and _is_macro_before_call(code, found))
    d = declarator(code, found.stop)
    if d is None:
        return False
    after = code.tok(d.stop)
    if where == "parameters":
        return True
    if not found.solid and not found.words and where == "statements":
        if code.t[found.stop] == "&&" or (code.t[found.stop] == "(" and after not in ("(", "[")):
            return False
        return after in ("=", ";", ",", "[", ":", "{", "(")
    return after in _AFTER_NAME or after == "" or is_identifier(after)


def _begins_pointer(code: Code, k: int) -> bool:
    """Whether a pointer, a reference or a declarator in brackets begins at token k."""
    tok = code.tok(k)
    if tok in POINTER_SIGNS:
        return True
    if tok == "::" or (code.is_name(k) and code.tok(code.name(k).stop) == "::"):
        return True
    if tok != "(" or not k < code.match[k] < code.stop:
        return tok == "[" and code.tok(k - 1) in PLACEHOLDERS
    inner = code.at(k + 1)
    if code.is_name(inner) or code.tok(inner) in ATTRIBUTES:  # `(WINAPI *f)(int)`, `(A::*f)(int)`
        inner = code.attributes(inner)
        inner = code.name(inner).stop if code.is_name(inner) else inner
        if code.tok(inner) == "::":
            return code.tok(code.at(inner + 1)) == "*"
        return code.tok(inner) == "*" and code.is_name(code.at(inner + 1)) and code.tok(code.past(k)) == "("
    if code.tok(inner) not in POINTER_SIGNS:
        return False
    return code.tok(code.past(k)) in ("(", "[") or code.tok(inner) != "*"


def _is_macro_before_call(code: Code, found: Specifiers) -> bool:
    """Whether `CHECK f(` is in a function: a macro before a call, and no variable with its value in brackets."""
    if found.solid or found.words or len(found.names) != 2:
        return False
    places = code.lexed.places
    word = found.names[0]
    return is_macro(code, word) and not any(
        code.t[i - 1] in _NAMES_TYPE or (i + 1 < len(code.t) and code.t[i + 1] in _after_type(code.t[i - 1]))
        for i in places[word.text]
        if i
    )


def _after_type(before: str) -> tuple[str, ...]:
    """What makes a name between it and `before` a type's, as in `} NAME;`. `{ CHECK;` is a statement by itself."""
    return (">",) if before in ("{", ";") else (";", ">")


def is_macro(code: Code, name: Name) -> bool:
    """Whether a name looks like a macro's."""
    return name.text.isupper() and len(name.text) > _SHORT and name.stop == code.at(name.first + 1)


def declarator(code: Code, k: int) -> Declarator | None:
    """The declarator that begins at token k; None if it has no name."""
    pointers, reference = 0, False
    inside: list[int] = []
    while k < code.stop:
        tok = code.t[k]
        if tok in DECLARATOR_WORDS or tok == "^":
            pointers += tok in ("*", "^")
            reference = reference or tok in ("&", "&&")
        elif tok == "(" and code.match[k] > k and (inside or _begins_pointer(code, k) or _is_bare(code, k)):
            inside.append(code.match[k])
        elif tok in ATTRIBUTES:
            k = code.attributes(k)
            continue
        elif tok == "[" and not inside:
            bound = tuple(i for i in range(k + 1, code.match[k]) if code.is_name(i)) if code.match[k] > k else ()
            if not bound:
                return None
            return Declarator(
                Name(bound[0], bound[0], bound[0] + 1, code.t[bound[0]]), code.past(k), 0, reference, False, bound
            )
        elif tok in ("::", "operator", "~") or code.is_name(k):
            name = code.name(k)
            after = code.tok(name.stop)
            if after == "::" and code.tok(code.at(name.stop + 1)) == "*":
                pointers += 1
                k = code.at(name.stop + 2)
                continue
            if is_identifier(after) and code.is_name(name.stop):
                k = name.stop  # a macro
                continue
            if after in POINTER_SIGNS and inside:
                k = name.stop
                continue
            return _closed(code, name, inside, pointers, reference)
        elif tok != "..." and tok not in SPECIFIERS and code.at(k) == k:
            return None
        k = code.at(k + 1)
    return None


def _is_bare(code: Code, k: int) -> bool:
    """Whether the brackets at k hold a name alone: `(name)(int)`."""
    return code.match[k] == k + 2 and code.is_name(k + 1) and code.tok(k + 3) == "("


def _closed(code: Code, name: Name, inside: list[int], pointers: int, reference: bool) -> Declarator:
    """A declarator after whose name the brackets around it close."""
    k = name.stop
    for close in reversed(inside):
        k = max(k, code.at(close + 1))
    return Declarator(name, k, pointers, reference, bool(inside) and (pointers > 0 or reference))


def is_function(code: Code, open_: int, name: Name, where: Where) -> bool:
    """Whether the brackets at `open_`, after a declared name, hold parameters and no value of a variable."""
    k = code.past(open_)
    after = code.tok(k)
    if where == "statements":
        return after == "{" or (after == ";" and parameters_like(code, open_, False))
    if after in _FUNCTION_BEGINS or (after == "=" and code.tok(k + 1) in _DEFAULTS):
        return True
    return where == "members" or name.text.startswith("operator") or parameters_like(code, open_, True)


def parameters_like(code: Code, open_: int, default: bool) -> bool:
    """Whether brackets hold parameters: whether the first begins with a type and maybe a name. `default`: what holds
    for a lone name."""
    k = code.at(open_ + 1)
    if k == code.match[open_]:
        return True
    tok = code.tok(k)
    if tok in _BEGINS_TYPE or tok in ATTRIBUTES:
        following = code.tok(k + 1)
        if following == "(" and tok not in TYPE_OPERATORS:
            return code.tok(k + 2) in POINTER_SIGNS and code.tok(code.past(k + 1)) in ("(", "[")
        return following != "{"
    if tok == "...":
        return True
    if not code.is_name(k) and tok != "::":
        return False
    k = code.name(k).stop
    tok = code.tok(k)
    if tok in POINTER_SIGNS:
        following = code.tok(code.at(k + 1))
        if following in (")", ",", "*", "&") or following in DECLARATOR_WORDS:
            return True
        return default and is_identifier(following)
    if tok == "(":
        return code.tok(code.at(k + 1)) == "*" and code.tok(code.past(k)) == "("
    if tok in ("const", "...") or code.is_name(k):
        return True
    return default and tok in (",", ")")
