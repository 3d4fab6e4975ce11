"""Which tokens of a file are CUDA's: catalogued names that are not members, not another namespace's, not the user's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from cu2port.catalog import Catalog, Row, is_libcudacxx, load_catalog
from cu2port.catalog.groups import unqualified
from cu2port.catalog.pastes import in_macro, is_global, is_returned, pasted
from cu2port.core.late import dataclass, regex
from cu2port.facts.atoms import VERSION_MACROS
from cu2port.facts.declared import (
    HIP_TYPED,
    LIBRARY_SPACES,
    Names,
    declaration_at,
    declared_by_macros,
    is_builtin_within,
    is_declared_for,
    is_own,
    names_of,
    own_at,
    takes_hip_types,
)
from cu2port.facts.named_types import UNKNOWN, NamedTypes, Typed, one
from cu2port.facts.namespace_aliases import by_name
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import NAMES
from cu2port.syntax.lexer import Directive, is_identifier
from cu2port.syntax.words import BEFORE_VALUE, KEYWORDS

_FAMILY = re.compile(
    r"(?:cuda[A-Z]|cublas(?:Lt|Xt)?[A-Z]|cufft[A-Z]|curand[A-Z]|cusparse[A-Z]|cusolver[A-Z]|cudnn[A-Z]|nvrtc[A-Z]|nvml[A-Z]"
    r"|nvtx[A-Z]|cupti[A-Z]|cutensor[A-Z]|nccl[A-Z]|cufile[A-Z]|nvjpeg[A-Z]|nvshmemx?_|npp[is][A-Z])\w+\Z"
    r"|(?:CUBLAS|CUFFT|CURAND|CUSPARSE|CUSOLVER|CUDNN|NVRTC|CUPTI)(?:MP|LT)?_[A-Z]\w*\Z"
)
_A_TYPE = regex(r"(?:cu(?:blas|fft|rand|sparse|solver|dnn|tensor)|nccl)(?:[A-Z][a-z]*)+_t\Z")
_BACKENDS = frozenset({"cuda", "cuda_cub"})  # of Thrust, which a project may keep in a namespace of its own
_DEEPEST = 8  # parts of a qualified name that are looked at before the catalogue is asked how many its names have


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a catalogued name stands: tokens [first, last] and its row."""

    row: Row
    first: int
    last: int


def declared_names(text: str, rules: tuple[tuple[str, str], ...] = ()) -> Names:
    """What a text declares for those who include it, of the names that conversion changes or does not know. `rules`:
    the project's own rule files."""
    found = names_of(text, _asked_for(rules), _FAMILY)
    return found._replace(own=found.own | {"cuda"}) if _brings_cuda(text, load_catalog(rules)) else found


def _brings_cuda(text: str, catalog: Catalog) -> bool:
    """Whether a text includes a header of a library, other than libcu++, that has its names in a namespace `cuda`."""
    paths = catalog.missing_in_cuda if "cuda" in text else ()
    return any(f"{sign}{path}" in text for path in paths for sign in '<"')


@cache
def _asked_for(rules: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return load_catalog(rules).active | NAMES


def uses(unit: Unit, guessed: set[int]) -> Iterator[Use]:
    """Every use of a catalogued name that is not inert.

    `guessed` gets the inert tokens that only a declaration in another file of the project speaks for, and members that
    no available file declares.
    """
    catalog = unit.catalog
    candidates = unit.find(*((unit.words & catalog.active) - VERSION_MACROS))
    if candidates and any(name.endswith("/*") for name in unit.project.own):
        candidates = [i for i in candidates if _row(unit, unit.t[i]) is not None]
    if candidates:
        paths = {i for d in unit.directives if d.keyword == "include" for i in range(d.first, d.stop)}
        candidates = [i for i in candidates if i not in paths]
    foreign = _foreign(unit, candidates, guessed) if candidates else set()
    for i in candidates:
        if i not in foreign:
            row = catalog.get(unit.t[i])
            if row is not None:
                first = i - 1 if unit.tok(i - 1) == "::" else i
                yield Use(row, i if first == i else first + 1, i)
    yield from _qualified_uses(unit)
    for name, i in unqualified(unit):
        row = catalog.get(name)
        if row is not None:
            yield Use(row, i, i)
    yield from _member_uses(unit)


def _row(unit: Unit, name: str) -> Row | None:
    """The row of a name, unless it is of a library without a counterpart which the tree has itself."""
    row = unit.catalog.get(name)
    held = row is not None and row.mapping == "unsupported" and not unit.project.own.isdisjoint(row.headers)
    return None if held else row


def _foreign(unit: Unit, candidates: list[int], guessed: set[int]) -> set[int]:
    """Candidates that are not CUDA's: members, other namespaces' names, what the user declares."""
    out: set[int] = set()
    doubtful: list[int] = []
    t = unit.t
    declared = {name for name in {t[i] for i in candidates} if name in unit.others or unit.declarations.named(name)}
    # `cudaMemcpyKind::cudaMemcpyDefault`: an enumeration before its enumerator
    scopes = {i for i in candidates if unit.tok(i + 1) == "::" and unit.tok(i + 2) in unit.catalog.active}
    for i in candidates:
        before = unit.tok(i - 1)
        if before in (".", "->") and unit.tok(i + 1) == "(" and t[i] not in declared:
            guessed.add(i)
        if (before in (".", "->", "~") and not is_returned(unit, i)) or (before == "define" and _defines(unit, i)):
            out.add(i)
            continue
        if i in pasted(unit) or "##" in (before, unit.tok(i + 1)):
            # `LOAD(cuInit)` with `f##_p` in it needs the `cuInit_p` that is declared; `cudaError##x` is another name
            out.add(i)
            continue
        if unit.tok(i + 1) == "=" and _names_hip(unit, i):
            out.add(i)
            continue
        if before == "::":
            owner = unit.tok(i - 2)
            qualified = owner == ">" or (owner and is_identifier(owner) and owner not in KEYWORDS)
            row = unit.catalog.get(t[i])
            qualified = qualified and not is_global(unit, i) and not (row is not None and row.drop)  # such are macros
            if qualified and (i - 2 not in scopes or i - 2 in out):
                out.add(i)
                continue
        if unit.tok(i + 1) == "::" and i not in scopes:
            out.add(i)
            continue
        if t[i] in unit.catalog.own:
            continue  # the project's rules say what happens to it
        row = unit.catalog.get(t[i])
        if row is not None and row.template and unit.tok(i + 1) != "<":
            out.add(i)
            continue
        renamed = row is not None and t[i] not in declared and (row.hip != row.cuda or row.of_any_type)
        strict = row is not None and row.strict and not (renamed and in_macro(unit, i))
        if strict or (t[i] in declared and is_declared_for(unit, i)):
            doubtful.append(i)
    if doubtful:
        out |= _settle(unit, doubtful, guessed)
        out |= {i + 2 for i in sorted(scopes & out)}
    return out


def _settle(unit: Unit, doubtful: list[int], guessed: set[int]) -> set[int]:
    """Which of the doubtful tokens are the user's: libclang's answer, else what the lexer can tell."""
    local = {i for i in doubtful if _is_local(unit, i)}
    out = {i for i in local if _defines(unit, i) or not _is_hip_alias(unit, unit.t[i])}
    doubtful = [i for i in doubtful if i not in local]
    facts = unit.ask(bindings=tuple(unit.p[i] for i in doubtful)) if doubtful else None
    for i in doubtful:
        binding = facts.bindings.get(unit.p[i]) if facts is not None else None
        if binding is not None and is_builtin_within(unit, i, binding):
            continue
        if binding is not None and binding.owner in ("cuda", "user", "system"):
            if binding.owner == "cuda" and (_is_variable(unit, i) or _is_of_hip_types(unit, unit.t[i])):
                out.add(i)  # a macro hid its declaration from libclang, or types that it does not know
            elif (binding.owner != "cuda" and not _is_hip_alias(unit, unit.t[i])) or _defines(unit, i):
                out.add(i)
            continue
        row = unit.catalog.get(unit.t[i])
        strict = row is not None and row.strict
        own = own_at(unit, i) and (_defines(unit, i) or not _is_hip_alias(unit, unit.t[i]))
        if strict or own or _is_of_hip_types(unit, unit.t[i]):
            out.add(i)
            d = declaration_at(unit, i)
            if own and not strict and (d is None or not is_own(unit.declarations, d)):
                guessed.add(i)
    return out


def _is_local(unit: Unit, i: int) -> bool:
    """Whether token i certainly means a parameter or variable of the function around it."""
    d = declaration_at(unit, i)
    if d is None or d.kind not in ("parameter", "variable") or d.scope.kind not in ("function", "block", "statement"):
        return False
    around = unit.conditions(unit.p[i])
    return unit.in_directive(i) is None and all(g in around for g in unit.conditions(unit.p[d.at]))


def _is_variable(unit: Unit, i: int) -> bool:
    """Whether token i, the name of a function that calls are rewritten of, is a variable that the project declares."""
    row = unit.catalog.get(unit.t[i])
    called = unit.tok(i + 1) == "(" or unit.tok(i - 1) in ("&", "=")
    return not called and row is not None and bool(row.call or row.args) and own_at(unit, i)


def _is_of_hip_types(unit: Unit, name: str) -> bool:
    """Whether the file, or one that it includes, declares a function of that name that takes HIP types, as converted
    code does."""
    known = unit.once(_of_hip_types)
    if name not in known:
        here = any(takes_hip_types(unit.declarations, d) for d in unit.declarations.named(name))
        known[name] = here or HIP_TYPED in unit.others.get(name, ())
    return known[name]


def _of_hip_types(unit: Unit) -> dict[str, bool]:
    """Names that were asked for so far."""
    return {}


def _defines(unit: Unit, i: int) -> bool:
    """Whether token i is the name that a #define defines."""
    d = unit.in_directive(i)
    return d is not None and d.keyword in ("define", "undef", "ifdef", "ifndef") and i == d.first + 2


def _names_hip(unit: Unit, i: int) -> bool:
    """Whether token i is a constant that gives a HIP value CUDA's name: `constexpr auto cudaSuccess = hipSuccess;`."""
    before, value = unit.tok(i - 1), i + 2 + (unit.tok(i + 2) == "::")
    row = unit.catalog.get(unit.t[i])
    return (
        row is not None
        and unit.tok(value) == row.hip
        and unit.tok(value + 1) == ";"
        and is_identifier(before or ";")
        and before not in BEFORE_VALUE
        and before not in ("using", "typename")
    )


def _is_hip_alias(unit: Unit, name: str) -> bool:
    """Whether the file's own `#define name hip...` maps the CUDA name as we would: then uses may be rewritten. So does
    one that will be `hip...` when it is converted, `#define CUDA_MEMCPY2D CUDA_MEMCPY2D_v1`."""
    row = unit.catalog.get(name)
    bodies = [unit.t[m.first] for m in unit.macros.get(name, ()) if m.params is None and m.stop - m.first == 1]
    becomes = [r.hip for b in bodies if b not in unit.others and (r := unit.catalog.get(b)) and r.mapping == "rename"]
    return row is not None and row.hip in (*bodies, *becomes)


def _namespace_heads(unit: Unit) -> tuple[dict[str, str], dict[str, str]]:
    """Words that may start a qualified CUDA name in this file -> the namespace they stand for; and of these the words
    that a `using namespace` gives a second meaning: `cuda` below `using namespace thrust`."""
    told = by_name(unit.project.aliases) if unit.project.aliases else {}
    heads = {name: space for name, space in told.items() if not unit.declarations.named(name)}
    heads |= dict(unit.catalog.spaces)
    second: dict[str, str] = {}
    used: set[str] = set()
    t = unit.t
    for i in unit.find("namespace"):
        if unit.tok(i + 2) == "=":  # namespace cg = cooperative_groups;
            name = _path(unit, i + 3)
            if name.partition("::")[0] in unit.catalog.spaces:
                heads[t[i + 1]] = name
        elif unit.tok(i - 1) == "using":  # using namespace nvcuda;
            name = _path(unit, i + 1)
            if name in used:
                continue
            used.add(name)
            if name.partition("::")[0] in unit.catalog.spaces and (name != "cuda" or not owns_cuda(unit)):
                for inner in unit.catalog.inside(name):
                    if heads.setdefault(inner, f"{name}::{inner}") == inner:
                        second[inner] = f"{name}::{inner}"
    heads.pop("std", None)  # beside `using namespace cuda` there is std itself
    return heads, second


def _path(unit: Unit, i: int) -> str:
    """The qualified name that starts at token i."""
    if unit.tok(i) == "::":
        i += 1
    name = unit.tok(i)
    while unit.tok(i + 1) == "::" and unit.tok(i + 2) and is_identifier(unit.tok(i + 2)):
        i += 2
        name += "::" + unit.t[i]
    return name


def _qualified_uses(unit: Unit) -> Iterator[Use]:
    """Uses of `a::b::name` with a row of its own, or in a namespace that moves as a whole."""
    catalog = unit.catalog
    if unit.words.isdisjoint(catalog.spaces) and not unit.project.aliases:
        return
    t = unit.t
    heads, second = _namespace_heads(unit)
    own = {name for name in LIBRARY_SPACES if (owns_cuda(unit) if name == "cuda" else unit.owns(name))}
    for i in unit.find(*heads):
        tok = t[i]
        full = heads[tok]
        if tok in second and _row(unit, f"{second[tok]}::{unit.tok(i + 2)}") is not None:
            full = second[tok]
        if unit.is_member(i) or (full.partition("::")[0] in own and unit.tok(i + 2) != "std"):
            continue
        if (
            unit.tok(i - 1) == "::"
            and (b := unit.tok(i - 2))
            and ((is_identifier(b) and b not in KEYWORDS) or b == ">")
            and not (tok == "thrust" and unit.tok(i + 2) in _BACKENDS)
        ):
            continue
        if unit.tok(i + 1) != "::":
            yield from _bare_namespace(unit, i, full)
            continue
        # Follow the path; the longest prefix with a row decides.
        names = [(i, full)]
        k = i
        while unit.tok(k + 1) == "::" and unit.tok(k + 2) and is_identifier(unit.tok(k + 2)):
            k += 2
            if len(names) > _DEEPEST and len(names) > catalog.depth:
                break
            names.append((k, f"{names[-1][1]}::{t[k]}"))
        for last, name in reversed(names):
            row = _row(unit, name)
            if row is not None:
                if row.hip != name or row.versions:
                    yield Use(row, i, last)
                break
        else:
            for last, name in reversed(names):
                if name in catalog.namespaces and (tok == name.partition("::")[0]):
                    yield Use(_namespace_row(unit, name), i, last)
                    break


def owns_cuda(unit: Unit) -> bool:
    """Whether `cuda::` is not libcu++ here: the project, or another library that it includes, has such a namespace, and
    no header of libcu++ is included."""
    if not (unit.owns("cuda") or _brings_cuda(unit.text, unit.catalog)):
        return False
    return not any(is_libcudacxx(inc.path) for inc in unit.includes)


def _bare_namespace(unit: Unit, i: int, full: str) -> Iterator[Use]:
    """`using namespace cub;`, `namespace c = cub;`, `namespace c = nvcuda::wmma;`"""
    if full in unit.catalog.namespaces and unit.t[i] == full:
        k = i - 1 if unit.tok(i - 1) == "::" else i  # `namespace c = ::cub;`
        before = unit.tok(k - 1)
        aliased = before == "=" and unit.tok(k - 3) == "namespace"
        used = before == "namespace" and unit.tok(k - 2) == "using"
        if aliased or used:
            yield Use(_namespace_row(unit, full), i, i)


def _namespace_row(unit: Unit, name: str) -> Row:
    return Row(cuda=name, mapping="rename", library=name.partition("::")[0], hip=unit.catalog.namespaces[name])


def _member_uses(unit: Unit) -> Iterator[Use]:
    """Members of CUDA structs that have rows (`cudaPointerAttributes.memoryType`)."""
    members = unit.catalog.members
    if not unit.may_hold(unit.catalog.owners):
        return
    types = NamedTypes(unit)
    for i in unit.find(*members):
        if unit.tok(i - 1) in (".", "->"):
            present = [n for n in members[unit.t[i]] if n.partition(".")[0] in unit.words]
            owner = _owner(unit, types, i - 2) if present else UNKNOWN
            if owner.owner is not None and not owner.dependent:
                continue  # a class of the user's own
            named = [n for n in present if n.partition(".")[0] == owner.name.removeprefix("?")] or present
            row = unit.catalog.get(named[0]) if len(named) == 1 else None
            if row is not None:
                yield Use(row, i, i)


def _owner(unit: Unit, types: NamedTypes, i: int) -> Typed:
    """The type of the object that ends at token i, if it is a variable, a member or an element of one."""
    while unit.tok(i) == "]" and 0 <= (opened := unit.match[i]) < i:
        i = opened - 1
    name = unit.tok(i)
    if not is_identifier(name) or unit.tok(i - 1) == "::":
        return UNKNOWN
    if unit.tok(i - 1) in (".", "->"):
        return one(types.declared(d) for d in unit.declarations.named(name) if d.kind == "member")
    d = unit.declarations.visible(name, i)
    return types.declared(d) if d is not None else UNKNOWN


def _in_body(unit: Unit, i: int, directive: Directive, named: bool) -> bool:
    """Whether a token of a directive is in a macro's body, and no parameter. Not `named`: it must be the whole body."""
    if directive.keyword != "define":
        return False
    found = (m for m in unit.macros.get(unit.tok(directive.first + 2), ()) if m.first <= i < m.stop)
    return any(unit.t[i] not in (m.params or ()) and (named or m.stop - m.first == 1) for m in found)


def unknown(unit: Unit) -> Iterator[int]:
    """Tokens that look like CUDA's and that nobody declares or catalogues."""
    names = unit.catalog.names
    strange = {w for w in unit.names(_FAMILY, "cCn") if w not in names and w not in unit.others}
    for i in unit.find(*strange - unit.macros.keys() - declared_by_macros(unit.text, strange)) if strange else ():
        tok = unit.t[i]
        if unit.tok(i - 1) in (".", "->", "::", "#", "##") or unit.tok(i + 1) in ("::", ":", "##"):
            continue
        named = tok[0] == "C" or unit.tok(i + 1) == "(" or _A_TYPE.match(tok)
        directive = unit.in_directive(i)
        is_use = named if directive is None else _in_body(unit, i, directive, bool(named))
        if is_use and not unit.declarations.named(tok):
            yield i
