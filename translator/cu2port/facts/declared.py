"""Which CUDA-looking names a file declares itself, and whether a name is the user's at a place.

A declaration counts where it is visible. Some only look like the user's own: a name that stands for HIP's (`#define
cudaFree hipFree`), a prototype of CUDA's function, a type for builds without CUDA (`typedef void* cudaStream_t;`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cu2port.core.late import regex
from cu2port.facts import std_names
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.lexer import is_identifier, lex
from cu2port.syntax.scopes import Declaration, Scope
from cu2port.syntax.types import alias_of
from cu2port.syntax.words import BEFORE_VALUE, BUILTIN_TYPES

if TYPE_CHECKING:
    from cu2port.facts.clang import Binding
    from cu2port.facts.unit import Unit

_BETWEEN = bytes(c if chr(c).isalnum() or c == 0x5F else 0x20 for c in range(256))  # what is no part of a word: a blank
_HIP = ("hip", "HIP", "miopen", "roc", "rccl", "make_hip")
LIBRARY_SPACES = frozenset({"cuda", "nvtx3"})  # of libraries that a project may have a namespace of its own for
_STAND_INS = tuple(
    f"{begin}{x}"
    for begin, ends in (("cuda", ("Error_t", "Stream_t", "Event_t")), ("CU", ("result", "stream", "event", "context")))
    for x in ends
)
_OPAQUE = regex(
    r"(?:void|u?int\d+_t|size_t|(?:CU|cu)\w+_st|cu\w+(?:Context|Descr|Info|Array)|ncclComm|_nvrtcProgram|(?:gesvdj|syevj)Info)\Z"
)
#: CUDA's vectors, with how many components they have
VECTORS = regex(r"(?:u?char|u?short|u?int|u?long|u?longlong|float|double)([1-4])\Z")
_DEFINE = regex(r"[ \t]*#[ \t]*define\b")
_DECLARED = regex(r"\s*[=;{]")
_STRUCT = regex(r"struct\s+(?:\w{1,40}\s*\([^()]{0,40}\)\s*|\w{1,40}\s+)?(\w{3,9}[1-4])\s*\{")
_AFTER = regex(r"\s*(?:/[/*]|([;:={(\[,}]|\Z))")
_FOLLOWS = {">": "({;=[,", "]": "({;=[,", ")": "{;=[,", "}": ";=[,", "/": "({;=[,", ",": ";=[", "{": "=["}  # after what
_SPACE = regex(r"\bnamespace\s+(?:\w+\s*::\s*|[A-Z_]+\s+)*\Z")
_OPENS = regex(r"\s*(?:\{|::\s*(?!std\b)\w)")
_CAST = regex(r"[=+\-%(,?&|!^]\s*\([^()]*\)\Z")  # a value in brackets, which no declaration has before its name
_CONTROLS = regex(r"(?:\b(?:else|do)|\b(?:if|for|while|switch)\s*\((?:[^(){}]|\((?:[^(){}]|\([^(){}]*\))*\))*\))\s*\Z")
_CONDITION = 200  # bytes of one
_STATEMENT = 2000  # bytes that are looked back at for its begin
_MAY_HIDE = regex(r"""["'#\\]|/[/*]|\*/""")  # signs of what holds brackets that are none
_REMARK = regex(r"//[^\n{}\"'\\]*")  # which holds no bracket and no sign of another
#: a path of no namespace: names in it are of functions that take types of HIP's
HIP_TYPED = "(HIP)"
_NOT_BEFORE = BEFORE_VALUE - {"else", "do", "noexcept"}


class Names(NamedTuple):
    """Names that a file declares for those who include it, with their namespaces and classes (`a::B::f`): its own,
    and those of functions that it promises without a body. `asked`: the words in it that others may declare."""

    own: frozenset[str] = frozenset()
    promised: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()


def names_of(text: str, known: frozenset[str], family: re.Pattern[str]) -> Names:
    """Those of some names that a text declares outside of functions: the known ones, and those that a pattern matches;
    `cuda` and `nvtx3` if it opens such a namespace; structs called as CUDA's vectors; what `std_names` and
    `promised_templates` tell of it.

    A text is only lexed if one of them stands where a declared name can.
    """
    words = set(text.encode("latin-1").translate(_BETWEEN).decode("latin-1").split())
    looks = words & known | {w for w in words if w[0] in "cCn" and family.match(w)}
    asked = frozenset(looks | words & LIBRARY_SPACES | std_names.asked(words) | _asked_vectors(words))
    if "namespace" in words:
        looks |= words & LIBRARY_SPACES
    read = cache(lambda: Declarations(lex(text)))
    known_alone = std_names.given(text, words, read) | (_own_vectors(text) if "struct" in words else frozenset())
    if "template" in words:
        from cu2port.facts.promised_templates import promised, templates

        found_templates = templates(text)
        asked = asked.union(x.name for x in found_templates if x.defined)
        told = (f"{path}::{name}" for name, path in promised(found_templates, read) if name not in looks)
        known_alone = known_alone.union(told)
    if "define" in words:
        known_alone |= declared_by_macros(text, looks - known)
    if not looks or not _may_declare(text, looks, "enum" in words):
        return Names(known_alone, asked=asked)
    found = names_in(read(), looks)
    return Names(found.own | known_alone, found.promised, asked)


def _own_vectors(text: str) -> frozenset[str]:
    """The structs of a text that have the names of CUDA's vectors, as compilers of the host need them."""
    return frozenset(m[1] for m in _STRUCT.finditer(text) if VECTORS.match(m[1]))


def _asked_vectors(words: set[str]) -> frozenset[str]:
    """CUDA's vectors in a text with operators: it matters to these whether another file has structs so called."""
    return frozenset(w for w in words if VECTORS.match(w)) if "operator" in words else frozenset()


def declared_by_macros(text: str, names: set[str]) -> frozenset[str]:
    """Those of some names that a macro's body declares where the macro is used: `constexpr auto cudaX = ...`."""
    return frozenset(name for name in names if any(_in_body(text, at, at + len(name)) for at in _places(text, name)))


def _in_body(text: str, start: int, stop: int) -> bool:
    """Whether a name is in the body of a macro, between a type and what follows a declared name."""
    before = _last_word(text[max(0, start - 80) : start].rstrip(" \t*&"))
    if not before or before in _NOT_BEFORE or not _DECLARED.match(text, stop):
        return False
    line = text.rfind("\n", 0, start) + 1
    while line > 1 and text[:line].endswith(("\\\n", "\\\r\n")):
        line = text.rfind("\n", 0, line - 1) + 1
    return _DEFINE.match(text, line) is not None


def _may_declare(text: str, names: set[str], enums: bool) -> bool:
    """Whether one of some names stands between what a declared name can stand between, outside of functions."""
    return any(_is_between(text, at, at + len(name), enums) for name in names for at in _places(text, name))


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word begins in a text."""
    at = text.find(word)
    while at >= 0:
        stop = at + len(word)
        if not (_is_part(text[at - 1 : at]) or _is_part(text[stop : stop + 1])):
            yield at
        at = text.find(word, stop)


def _is_part(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_between(text: str, start: int, stop: int, enums: bool) -> bool:
    """Whether a name stands between what a declared name can stand between."""
    if text[start:stop] in LIBRARY_SPACES:
        return bool(_OPENS.match(text, stop) and _SPACE.search(text, max(0, start - 80), start))
    before = text[max(0, start - 80) : start].rstrip(" \t\r\n*&")
    last = before[-1:]
    if _is_part(last):
        begin = _last_word(before)
        declares = begin == "define" or (begin not in _NOT_BEFORE and _AFTER.match(text, stop) is not None)
    else:
        follows = _FOLLOWS.get(last)
        after = _AFTER.match(text, stop) if follows else None
        declares = bool(follows and after and ((after[1] or "") in follows or (enums and last in ",{")))
        declares = declares and (last != "/" or before.endswith("*/"))
        declares = declares and not (last == ")" and _CAST.search(before))
    return declares and not (_is_prose(text, start) or _is_parameter(text, start) or _is_local(text, start))


def _is_prose(text: str, at: int) -> bool:
    """Whether a place is in a comment, or follows a line that ends with one or is a directive, as lines tell."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at].lstrip()
    if not line:
        above = text[max(0, start - 200) : start].rstrip()
        above = above[above.rfind("\n") + 1 :].lstrip()
        return "//" in above or above.startswith("#")
    return "//" in line or line.startswith(("* ", "/*")) or (line.count('"') % 2 == 1 and _is_quoted(text, line, at))


def _is_quoted(text: str, line: str, at: int) -> bool:
    """Whether a place is in a string, as its line tells. `line`: what is before it there, with an odd number of
    quotes."""
    end = text.find("\n", at)
    rest = text[at : end if end >= 0 else len(text)]
    return '"' in rest and not any(sign in line for sign in ("'", "\\", 'R"', ')"'))


def _is_parameter(text: str, at: int) -> bool:
    """Whether a place is certainly in brackets that its statement opens, as parameters are."""
    begin = max(0, at - _STATEMENT)
    begin = max(begin, *(text.rfind(c, begin, at) for c in ";{}"))
    depth, k = 0, at
    while depth < 1:
        k = max(text.rfind("(", begin, k), text.rfind(")", begin, k))
        if k < 0:
            return False
        depth += 1 if text[k] == "(" else -1
    line = text[text.rfind("\n", 0, k) + 1 : k]
    return _MAY_HIDE.search(text, k, at) is None and _MAY_HIDE.search(line) is None


def _is_local(text: str, at: int) -> bool:
    """Whether a place is certainly in the block of an `if` or a loop, so in a function."""
    begin = max(0, at - _STATEMENT)
    depth, k = 0, at
    while (k := max(text.rfind("{", begin, k), text.rfind("}", begin, k))) >= 0:
        depth += 1 if text[k] == "}" else -1
        if depth < 0:
            depth = 0
            if _CONTROLS.search(text, max(begin, k - _CONDITION), k):
                line = text[text.rfind("\n", 0, k) + 1 : k]
                return _MAY_HIDE.search(_REMARK.sub("", text[k:at])) is None and _MAY_HIDE.search(line) is None
    return False


def _last_word(text: str) -> str:
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:]


def names_in(declarations: Declarations, names: set[str]) -> Names:
    """Those of some names that declarations outside of functions make the file's own, or promise."""
    own: set[str] = set()
    promised: set[str] = set()
    for name in names:
        for d in declarations.named(name):
            if d.scope.local or d.kind in ("parameter", "template parameter"):
                continue
            path = _exported(d.scope)
            full = f"{path}::{name}" if path else name
            told = own if is_own(declarations, d) else promised if d.kind == "function" else None
            if told is not None:
                told.add(full)
                if takes_hip_types(declarations, d):
                    told.add(f"{HIP_TYPED}::{name}")
    return Names(frozenset(own), frozenset(promised))


def takes_hip_types(declarations: Declarations, d: Declaration) -> bool:
    """Whether a declaration is of a function that takes types of HIP's, as converted code does."""
    lexed = declarations.lexed
    k = d.at + 1
    if d.kind != "function" or k >= len(lexed.t) or lexed.t[k] != "(":
        return False
    return any(w.startswith(("hip", "__hip")) for w in lexed.t[k + 1 : lexed.match[k]])


def _exported(scope: Scope) -> str:
    """The path under which others know what a scope declares: without unnamed namespaces and enumerations."""
    while scope.transparent and scope.parent is not None:
        scope = scope.parent
    return scope.path


def is_own(declarations: Declarations, d: Declaration) -> bool:
    """Whether a declaration makes its name the user's, and does not say again what CUDA or HIP declares."""
    t = declarations.lexed.t
    outside = _exported(d.scope) == "" and not d.scope.local
    value = t[d.at + 1 : d.at + 4]
    if d.kind == "using" or (d.kind == "namespace" and (value[:1] == ["="] or value[:2] == ["::", "std"])):
        return False
    if d.kind == "macro":
        return not _names_hip(declarations, d)
    if d.kind in ("variable", "member") and value[:1] == ["="]:
        return not _is_hips(value[2] if value[1:2] == ["::"] and len(value) > 2 else value[1] if len(value) > 1 else "")
    if d.qualified or (d.kind in ("function", "enumerator") and stands_in(declarations)):
        return False
    if not outside or d.kind == "variable":
        return True
    return d.defines and not (d.kind == "type" and _is_alias(declarations, d))


def _is_hips(word: str) -> bool:
    return word.startswith(_HIP)


def _names_hip(declarations: Declarations, d: Declaration) -> bool:
    """Whether a macro's body begins with a HIP name."""
    lexed, k = declarations.lexed, d.at + 1
    if k < d.stop and lexed.t[k] == "(" and lexed.p[k] == lexed.end(d.at) and lexed.match[k] > k:
        k = lexed.match[k] + 1
    return k < d.stop and _is_hips(lexed.t[k])


def _is_alias(declarations: Declarations, d: Declaration) -> bool:
    """Whether a type outside of any namespace is the user's word for CUDA's, in builds without CUDA, beside it, or for
    HIP.

    Next to CUDA's own header a different one could not stand, so all uses mean CUDA's type, and all follow.
    """
    t = declarations.lexed.t
    first, stop = alias_of(t, d)
    if first > d.at:  # a `using`
        return True
    words = [w for w in t[first:stop] if is_identifier(w) and w not in ("const", "struct")]
    return first < stop and all(w in BUILTIN_TYPES or _OPAQUE.match(w) or _is_hips(w) for w in words)


def stands_in(declarations: Declarations) -> bool:
    """Whether a file takes CUDA's place where there is none: `using cudaError_t = int;`, outside of any namespace.

    Next to CUDA's headers it could not stand, so the functions and enumerators in it are CUDA's under their names.
    """
    t = declarations.lexed.t
    for name in _STAND_INS:
        for d in declarations.named(name):
            begin, stop = alias_of(t, d)
            if d.scope.kind == "file":
                words = [w for w in t[begin:stop] if is_identifier(w) and w != "const"]
                if words and all(w in BUILTIN_TYPES or re.fullmatch(r"u?int\d+_t|size_t", w) for w in words):
                    return True
    return False


def own_at(unit: Unit, i: int) -> bool:
    """Whether the name at token i is the user's: the file's own declaration is visible there, or that of a header."""
    d = declaration_at(unit, i)
    return (d is not None and is_own(unit.declarations, d)) or from_others(unit, i)


def declaration_at(unit: Unit, i: int) -> Declaration | None:
    """The file's own declaration that token i means or makes."""
    here = unit.declarations.declared_at(i) if unit.may_be_declared(i) else None
    return here or unit.declarations.visible(unit.t[i], i)


def is_declared_for(unit: Unit, i: int) -> bool:
    """Whether a declaration that is visible at token i may make the name the user's: also a function without a body,
    which may be CUDA's own said again or the user's."""
    d = declaration_at(unit, i)
    if d is not None and (is_own(unit.declarations, d) or (d.kind == "function" and not stands_in(unit.declarations))):
        return True
    return from_others(unit, i)


def is_builtin_within(unit: Unit, i: int, binding: Binding) -> bool:
    """Whether token i calls CUDA's function of a name from within the program's own template of that name, which is an
    overload for more types: the template would otherwise call itself for ever. libclang names the template, since types
    of arguments are not known yet."""
    if binding.kind != "function" or "type-parameter" not in binding.type or unit.tok(i + 1) != "(":
        return False
    f = unit.function_at(i)
    return f is not None and f.name == unit.t[i] and f.body[0] < i


def from_others(unit: Unit, i: int) -> bool:
    """Whether a file that this one includes declares the name at token i where it is visible."""
    paths = unit.others.get(unit.t[i])
    if not paths:
        return False
    if "" in paths:
        return True
    opened = unit.declarations.opened(i)
    return any(path == o or path.endswith(f"::{o}") for path in paths for o in opened)
