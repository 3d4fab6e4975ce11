from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import parameters, read_body
from cu2port.syntax.tree import (
    Assign,
    Block,
    CallExpr,
    Decl,
    Expr,
    Index,
    Member,
    Name,
    Unary,
    expressions,
    root,
    statements,
)

_LIBRARIES = frozenset({"cub", "thrust", "hipcub", "rocprim"})
_STEPS = frozenset({"++", "--"})


class FunctorConst(Check):
    """A functor for CUB or Thrust has an `operator()` that is not `const`.

    rocPRIM calls functors through constant wrappers, which does not compile then. `const` is added where the function
    changes no member, and to the functions of its class that it calls.
    """

    code, name, severity = "CU717", "functor-const", Severity.INFO
    triggers = frozenset(_LIBRARIES)
    examples = (
        Example(
            "struct M { __device__ int operator()(int a, int b) { return f(a, b); } };\nusing cub::Max;\n",
            "struct M { __device__ int operator()(int a, int b) const { return f(a, b); } };\nusing hipcub::Max;\n",
            findings=1,
        ),
        Example(
            "struct M { int n; __device__ int operator()(int a) { n += a; return n; } };\nusing cub::Max;\n",
            "struct M { int n; __device__ int operator()(int a) { n += a; return n; } };\nusing hipcub::Max;\n",
            "it changes a member",
        ),
        Example(
            "struct M { int *n; __device__ int operator()(int a) { n[a] = 1; *n += a; return a; } };\n"
            "using cub::Max;\n",
            "struct M { int *n; __device__ int operator()(int a) const { n[a] = 1; *n += a; return a; } };\n"
            "using hipcub::Max;\n",
            "what a member points to changes, not the member",
            findings=1,
        ),
        Example(
            "struct M { int n[4]; __device__ int operator()(int a) { n[a] = 1; return a; } };\nusing cub::Max;\n",
            "struct M { int n[4]; __device__ int operator()(int a) { n[a] = 1; return a; } };\nusing hipcub::Max;\n",
            "an element of a member",
        ),
        Example(
            "#define HD __host__ __device__\n"
            "struct M { HD int operator()(int a) { return CHECK(a); } };\nusing cub::Max;\n",
            "#define HD __host__ __device__\n"
            "struct M { HD int operator()(int a) const { return CHECK(a); } };\nusing hipcub::Max;\n",
            "its sides in a macro body; as a macro's argument",
        ),
        Example(
            "struct M { int n; __device__ int g(int a) { return a * n; }\n"
            "  static __device__ int h(int a) { return a; }\n"
            "  __device__ int operator()(int a) { return g(a) + h(a); } };\nusing cub::Max;\n",
            "struct M { int n; __device__ int g(int a) const { return a * n; }\n"
            "  static __device__ int h(int a) { return a; }\n"
            "  __device__ int operator()(int a) const { return g(a) + h(a); } };\nusing hipcub::Max;\n",
            "it calls another function of the class",
            findings=2,
        ),
        Example(
            "struct M { int n; __device__ void g(int a) { n += a; } __device__ int k(int a);\n"
            "  __device__ int operator()(int a) { g(a); return n; }\n"
            "  __device__ int operator()(int a, int b) { return k(a); } };\nusing cub::Max;\n",
            "struct M { int n; __device__ void g(int a) { n += a; } __device__ int k(int a);\n"
            "  __device__ int operator()(int a) { g(a); return n; }\n"
            "  __device__ int operator()(int a, int b) { return k(a); } };\nusing hipcub::Max;\n",
            "that one changes a member, or nobody knows",
            findings=2,
        ),
        Example("struct M { __device__ int operator()(int a) const { return a; } };\nusing cub::Max;\n"),
        Example("struct M { __device__ int operator()(int a) { return a; } };\n", note="for another library"),
        Example("auto f = [] __device__(int a) { return a; };\nusing cub::Max;\n", note="a lambda"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "operator" not in unit.words or not unit.words & _LIBRARIES:
            return
        told: set[int] = set()
        for f in unit.functions:
            if f.name != "operator()" or "__device__" not in f.sides or not 1 <= len(_arguments(unit, f)) <= 2:
                continue
            behind = unit.t[f.params[1] + 1 : f.body[0]]
            if "const" in behind or unit.tok(f.name_at - 1) == "&" or "static" in unit.t[f.first : f.name_at]:
                continue
            if unit.declarations.scope_at(f.first).kind != "class":
                continue
            end = unit.end(f.params[1])
            called = _called(unit, f)
            yield self.finding(
                "rocPRIM calls functors as constants, and this `operator()` is not `const`",
                unit.p[f.name_at],
                end,
                () if called is None else (insert(end, " const", Side.LEFT),),
                severity=Severity.WARNING if called is None else Severity.INFO,
                effects=(("all", "compile-error"),),
            )
            for g in called or ():
                if g.name_at not in told:
                    told.add(g.name_at)
                    stop = unit.end(g.params[1])
                    yield self.finding(
                        f"`{g.name}` is called by an `operator()` that becomes `const`, and is not",
                        unit.p[g.name_at],
                        stop,
                        (insert(stop, " const", Side.LEFT),),
                        effects=(("all", "compile-error"),),
                    )


def _called(unit: Unit, f: Function) -> list[Function] | None:
    """The functions of its class that a function calls and that are not constant; None: one of them may change a
    member, or its body is elsewhere."""
    scope = unit.declarations.scope_at(f.first)
    found: list[Function] = []
    queue, named = [f], unit.once(_by_name)
    while queue:
        g = queue.pop()
        body = read_body(unit, g.body[0] + 1, g.body[1])
        if _changes(unit, g, body):
            return None
        for e in expressions(body):
            if not isinstance(e, CallExpr) or not isinstance(e.callee, Name) or e.callee.qualified:
                continue
            d = unit.declarations.visible(e.callee.text, e.callee.at)
            if d is None or d.kind != "function" or d.scope is not scope:
                continue
            known = [h for h in named.get(d.name, ()) if unit.declarations.scope_at(h.first) is scope]
            if not known and "static" not in unit.t[d.first : d.stop]:
                return None
            for h in known:
                kept = "static" in unit.t[h.first : h.name_at] or "const" in unit.t[h.params[1] + 1 : h.body[0]]
                if not kept and h.name_at not in {f.name_at, *(x.name_at for x in found)}:
                    found.append(h)
                    queue.append(h)
    return found


def _by_name(unit: Unit) -> dict[str, list[Function]]:
    """The functions of a file by their names."""
    found: dict[str, list[Function]] = {}
    for f in unit.functions:
        found.setdefault(f.name, []).append(f)
    return found


def _changes(unit: Unit, f: Function, body: Block) -> bool:
    """Whether a function may itself change something that is neither its own nor a parameter."""
    local = {s.name for s in statements(body) if isinstance(s, Decl)}
    local |= {p.name for p in parameters(unit, *f.params)}
    changed: set[str] = set()
    for e in expressions(body):
        if isinstance(e, Assign):
            changed.add(_changed(unit, e.target))
        elif isinstance(e, Unary) and e.op in _STEPS:
            changed.add(_changed(unit, e.x))
        elif isinstance(e, CallExpr) and isinstance(e.callee, Member):
            changed.add(root(e.callee))  # a function of a member may change it
    return bool(changed - local - {""}) or "this" in unit.t[f.body[0] : f.body[1]]


def _changed(unit: Unit, e: Expr) -> str:
    """The object that changes where an expression gets another value; "" for what a pointer points to."""
    outer, inner = None, e
    while isinstance(inner, (Index, Member, Unary)):
        outer, inner = inner, inner.x if isinstance(inner, Unary) else inner.base
    follows = isinstance(outer, Index) or (isinstance(outer, Unary) and outer.op == "*")
    if isinstance(inner, Name) and (follows or (isinstance(outer, Member) and unit.t[outer.at - 1] == "->")):
        d = unit.declarations.visible(inner.text, inner.at)
        if d is not None and d.pointers and not d.arrays:
            return ""
    return root(e)


def _arguments(unit: Unit, f: Function) -> list[str]:
    return [unit.text[s.start : s.end] for s in unit.split_args(f.params[0] + 1, f.params[1])]
