from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding, Options, insert
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import NAMES, SHUFFLES, modes
from cu2port.syntax.candidates import NOT_UNINITIALIZED
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import is_class
from cu2port.syntax.words import QUALIFIERS
from cu2port.warp.functions import device_functions
from cu2port.warp.uninitialized import find_candidates

if TYPE_CHECKING:
    from cu2port.warp.definite_assignment import UnsetUse

_NUMBERS = frozenset(
    "char short int long float double signed unsigned size_t ssize_t uint uchar ushort ulong clock_t "
    "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t intptr_t ptrdiff_t".split()
)
_CLASSES = regex(
    r"(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|dim3|_*(?:half2?|(?:nv_)?bfloat16[2_]*)|auto"
)
_BEFORE = frozenset({";", "{", "}", "(", ")", ":"})
_FLAG = Options(warp="flag")
_BCAST = "__device__ int first(int v);\n"
_LEADER = (
    "__global__ void k(int* n, int* o) {{\n  int base{};\n  if (threadIdx.x % 32 == 0) base = atomicAdd(n, 32);\n"
    "  o[threadIdx.x] = {};\n}}\n"
)


class LeaderValue(Check):
    """A variable that only some lanes have set is passed by value: to a function, as a result, to PTX.

    Clang takes numbers and pointers that are passed to a function, or returned, for set. If they are not, it drops the
    branch that sets them, and what one lane did is then done by all: 32 atomic additions where there was one. nvcc
    never does that, so CUDA code leaves the variable unset in the lanes whose value nobody reads. It gets a value
    where it is declared, which costs nothing.

    The functions of `cu2port/warp.hpp` take values that are not set, so a variable that goes to a shuffle or a vote of
    a warp itself stays as it is. Followed are the variables of one function, and parts of them that are named by a
    member or a number (`s.x`, `a[0]`); conditions count that may differ between lanes. Reported and not rewritten is a
    variable that a `goto` or a `case` label could jump past. Not seen are variables that a macro declares. With
    `-Xclang -no-enable-noundef-analysis` clang does not draw this conclusion anywhere.
    """

    code, name = "CU319", "leader-value"
    lint = InLint(neutral=True)
    examples = (
        Example(_BCAST + _LEADER.format("", "first(base)"), _BCAST + _LEADER.format(" = 0", "first(base)"), findings=1),
        Example(
            "namespace cg = cooperative_groups;\n__device__ int f(cg::thread_block_tile<32> t, int* n) {\n"
            "  int base;\n  if (t.thread_rank() == 0) base = atomicAdd(n, 32);\n  return t.shfl(base, 0);\n}\n",
            "namespace cg = cooperative_groups;\n__device__ int f(cg::thread_block_tile<32> t, int* n) {\n"
            "  int base = 0;\n  if (t.thread_rank() == 0) base = atomicAdd(n, 32);\n  return t.shfl(base, 0);\n}\n",
            "a tile's shuffle is a function too",
        ),
        Example(
            "template <class T> __device__ T f(T* p, int lane) {\n  T v;\n  if (lane == 0) v = *p;\n  return v;\n}\n",
            "template <class T> __device__ T f(T* p, int lane) {\n  T v{};\n  if (lane == 0) v = *p;\n  return v;\n}\n",
            "of any type, as a result",
        ),
        Example(
            "struct S { int a, *b; };\n__device__ void g(int a, int* b);\n"
            "__device__ void f(S* p, int lane) {\n  S s;\n  if (lane == 0) s.a = p->a++;\n  g(s.a, p->b);\n}\n",
            "struct S { int a, *b; };\n__device__ void g(int a, int* b);\n"
            "__device__ void f(S* p, int lane) {\n  S s{};\n  if (lane == 0) s.a = p->a++;\n  g(s.a, p->b);\n}\n",
            "a member",
        ),
        Example(
            "#define GET(n, v) { int got; if (lane_id() == 0) got = *n; v = first(got); }\n",
            "#define GET(n, v) { int got = 0; if (lane_id() == 0) got = *n; v = first(got); }\n",
            "in a macro body",
        ),
        Example(
            _BCAST + _LEADER.format("", "KEEP(first(base))"),
            _BCAST + _LEADER.format(" = 0", "KEEP(first(base))"),
            "as a macro's argument",
        ),
        Example(
            _LEADER.format("", "__shfl_sync(~0u, base, 0)"),
            note="`cu2port::warp::shfl` accepts an unset value",
        ),
        Example(
            _LEADER.format("", "__shfl_sync(~0u, base, 0)"),
            _LEADER.format(" = 0", "__shfl_sync(~0u, base, 0)"),
            "HIP's shuffle does not",
            options=_FLAG,
        ),
        Example(
            _BCAST + "__device__ int f(int n, int lane) {\n  if (n < 0) goto out;\n  int v;\n"
            "  if (lane == 0) v = n;\n  return first(v);\nout:\n  return 0;\n}\n",
            _BCAST + "__device__ int f(int n, int lane) {\n  if (n < 0) goto out;\n  int v;\n"
            "  if (lane == 0) v = n;\n  return first(v);\nout:\n  return 0;\n}\n",
            "a jump may skip the declaration",
            findings=1,
        ),
        Example(
            _BCAST + _LEADER.format("", "first(base)").replace("int base", "SHARED int base"),
            note="what `SHARED` is, another file says; a shared variable takes no value",
        ),
        Example(
            _BCAST + _LEADER.format("", "first(base)").replace("int base", "id_t other, base"),
            _BCAST + _LEADER.format("{}", "first(base)").replace("int base", "id_t other, base"),
            "the second of a list",
        ),
        Example(
            _BCAST + "__global__ void k(int* o, int lane) {\n  int v;\n  if (lane == 0) v = o[0];\n"
            "  if (lane == 0) o[1] = first(v);\n}\n",
            note="read by the lanes that have set it",
        ),
        Example(
            _BCAST + "__global__ void k(int* o, int n) {\n  int v;\n  if (n > 0) v = o[0];\n  o[1] = first(v);\n}\n",
            note="all lanes set it, or none",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        mode = modes(unit)
        tolerant = SHUFFLES if unit.options.warp == "flag" else NAMES
        found = find_candidates(unit, device_functions(unit), tolerant)
        if unit.options.warp != "flag":
            found = [f._replace(decls={k for k in f.decls if mode(k) != "flag"}) for f in found]
        if not found:
            return
        from cu2port.warp.definite_assignment import unset_uses  # few files need it

        for f in found:
            for h in unset_uses(unit, f, tolerant) if f.decls else ():
                edit = _initialiser(unit, h, f.fn.body)
                if edit is None:
                    continue
                name = unit.t[h.decl.at]
                to = {"return": "returned", "asm": "passed to PTX"}.get(h.to, f"passed to `{h.to}`")
                done = "set it before the branch: a jump may skip an initializer" if h.jumped_over else "it is set to 0"
                yield self.finding(
                    f"`{name}{h.part}` is {to}, but only some lanes have set it; {done}",
                    unit.p[h.decl.at],
                    unit.end(h.decl.at),
                    () if h.jumped_over else (edit,),
                    effects=(("all", "wrong-result"),),
                )


def _initialiser(unit: Unit, h: UnsetUse, body: tuple[int, int]) -> Edit | None:
    """The edit that gives a variable a value where it is declared; None if it has one, or is an object, which clang
    does not take for set."""
    t, name_at = unit.t, h.decl.at
    first, directive = name_at, unit.in_directive(name_at)
    while first > body[0] + 1 and t[first - 1] not in _BEFORE and unit.in_directive(first - 1) is directive:
        first -= 1
    kind = [w for w in t[first:name_at] if w not in QUALIFIERS]
    if not NOT_UNINITIALIZED.isdisjoint(t[first:name_at]) or not kind or _by_macro(unit, kind):
        return None
    end = name_at
    while unit.tok(end + 1) == "[":
        end = unit.match[end + 1]
    text = "{}"
    if not h.part:
        if kind[-1] == "*":
            text = " = nullptr"
        elif "<" not in kind and "bool" in kind:
            text = " = false"
        elif "<" not in kind and not _NUMBERS.isdisjoint(kind):
            text = " = 0"
        elif not _may_be_number(unit, kind, t[first:name_at], name_at, body):
            return None
    return insert(unit.end(end), text)


def _by_macro(unit: Unit, kind: list[str]) -> bool:
    """Whether a word of a declaration may be a macro for `__shared__` or `static`: `SHARED int v`."""
    if any(not NOT_UNINITIALIZED.isdisjoint(unit.t[m.first : m.stop]) for w in kind for m in unit.macros.get(w, ())):
        return True
    known = _NUMBERS | {"bool", "typename", "struct", "class", "enum", "union"}
    if len(kind) < 2 or kind[0] in known or not (is_identifier(kind[0]) and is_identifier(kind[1])):
        return False
    return len(kind) == 2 or kind[2] not in (",", "=", "[", "{", "(")  # else it is a variable before this one


def _may_be_number(unit: Unit, kind: list[str], words: list[str], name_at: int, body: tuple[int, int]) -> bool:
    """Whether a variable of a type that is known by name only may be a number or a pointer: it is assigned as a whole
    and never used as an object or an array is."""
    if any(_CLASSES.fullmatch(w) for w in kind) or ("<" in kind and "typename" not in words):
        return False
    if any(d.defines and is_class(unit.t, d) for d in unit.declarations.named(kind[0])):
        return False
    uses = (i for i in unit.find(unit.t[name_at]) if body[0] < i < body[1] and not unit.is_member(i))
    after = {unit.tok(i + 1) for i in uses}
    return "=" in after and after.isdisjoint((".", "->", "[", "("))
