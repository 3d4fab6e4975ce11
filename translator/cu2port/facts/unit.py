"""The facts of one file that checks decide on: tokens, macros, functions, asm statements, includes.

Everything is found by the lexer, so it is there for files that do not parse and for both sides of every `#if`.
What only a compiler front end knows (types, constant values, who declared a name) is asked of `clang` when needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from cu2port.core.model import Options, Project, Span
from cu2port.facts.conditionals import Conditionals, Cover
from cu2port.facts.declared import names_in
from cu2port.facts.side_macros import by_name, through_others
from cu2port.facts.structure import Function, Include, Macro, find_functions
from cu2port.facts.tokens import Tokens
from cu2port.syntax.candidates import may_be_declared
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.lexer import Group, is_identifier, is_string
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.words import ASM, ASM_QUALIFIERS

if TYPE_CHECKING:
    from cu2port.catalog import Catalog
    from cu2port.facts.asm_keywords import AsmKeyword
    from cu2port.facts.clang import ClangService, Facts

T = TypeVar("T")


class Unit(Tokens):
    """One file."""

    def __init__(
        self,
        text: str,
        catalog: Catalog,
        options: Options | None = None,
        path: str = "<stdin>",
        project: Project | None = None,
        clang: ClangService | None = None,
    ) -> None:
        super().__init__(text, sure=project is None or project.side != "hip")
        self.path = path
        self.catalog = catalog
        self.options = options or Options()
        self.project = project or Project()
        self._clang = clang
        self._owned: dict[str, bool] = {}
        self._kept: dict[Callable[[Unit], object], object] = {}
        self.asked = False  # whether libclang was asked: then what is found depends on other files too
        self.clang_failed = ""  # why libclang's answers are missing, if they were asked for and did not come

    def once(self, make: Callable[[Unit], T]) -> T:
        """What a function tells of this file; it is called the first time only."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return cast(T, self._kept[make])

    def forget(self) -> None:
        """Drop all that is known; nothing may be asked afterwards. What is known refers to this object and is referred
        to by it: without the circle it is freed at once, and the garbage collector need not look for it."""
        self.__dict__.clear()

    # --- preprocessor ---------------------------------------------------------------------------------------------

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        """All includes whose operand is written out (not a macro)."""
        out = []
        for d in self.directives:
            if d.keyword not in ("include", "include_next", "import") or d.stop - d.first < 3:
                continue
            first = d.first + 2
            start, end = self.p[first], self.end(d.stop - 1)
            if is_string(self.t[first]) and self.t[first][0] == '"':
                end = self.end(first)
                path, quoted = self.text[start + 1 : end].rstrip('"'), True
            elif self.t[first] == "<":
                close = self.text.find(">", start, max(end, d.end))
                if close < 0:
                    continue
                end = close + 1
                path, quoted = self.text[start + 1 : close].strip(), False
            else:
                continue
            out.append(Include(path, quoted, start, end, d))
        return tuple(out)

    @cached_property
    def macros(self) -> dict[str, tuple[Macro, ...]]:
        """Macros that the file defines, all definitions of each."""
        out: dict[str, list[Macro]] = {}
        for d in self.directives:
            if d.keyword != "define" or d.stop - d.first < 3:
                continue
            k = d.first + 2
            name, params, first = self.t[k], None, k + 1
            if first < d.stop and self.t[first] == "(" and self.p[first] == self.end(k):
                close = self.match[first]
                if close < 0 or close >= d.stop:
                    continue
                params = tuple(x for x in self.t[first + 1 : close] if x != ",")
                first = close + 1
            out.setdefault(name, []).append(Macro(name, params, first, d.stop, d))
        return {name: tuple(found) for name, found in out.items()}

    @cached_property
    def guard(self) -> str:
        """The include guard's macro, "" if there is none. One that gets a default in an `#ifndef` is none."""
        ds = self.directives
        if len(ds) >= 2 and ds[0].keyword == "ifndef" and ds[1].keyword == "define":
            a, b = self.tok(ds[0].first + 2), self.tok(ds[1].first + 2)
            last = next(ds[g.chain[-1]] for g in self.groups if g.opener == 0)
            if a == b and ds[0].first == 0 and (last.keyword != "endif" or last.stop >= len(self.t)):
                return a
        return ""

    def conditions(self, offset: int) -> list[Group]:
        """The conditional branches around a byte offset, outermost first."""
        return self.conditionals.around(offset)

    @cached_property
    def conditionals(self) -> Conditionals:
        """The conditional branches, to be asked about places."""
        return Conditionals(self.groups)

    @cached_property
    def inactive(self) -> tuple[Span, ...]:
        """Branches that the preprocessor leaves out: libclang's answer where it is to be had, else `#if 0`."""
        if self._clang is not None:
            facts = self.ask(skipped=True)
            if facts is not None:
                return tuple(Span(a, b) for a, b in facts.skipped)
        return self.dead

    @cached_property
    def dead(self) -> tuple[Span, ...]:
        """Branches under `#if 0`, and the `#else` of an `#if 1`."""
        out = []
        for g in self.groups:
            opener, first = self.directives[g.opener], self.directives[g.chain[0]]
            condition = self.t[opener.first + 2 : opener.stop]
            if (opener.keyword in ("if", "elif") and condition == ["0"]) or (
                opener.keyword == "else" and first.keyword == "if" and self.t[first.first + 2 : first.stop] == ["1"]
            ):
                out.append(Span(g.start, g.end))
        return tuple(out)

    def is_dead(self, offset: int) -> bool:
        """Whether a byte is in one of the `dead` branches."""
        return offset in self._dead_cover

    @cached_property
    def _dead_cover(self) -> Cover:
        return Cover(self.dead)

    # --- functions, launches, asm ---------------------------------------------------------------------------------

    @cached_property
    def side_macros(self) -> dict[str, frozenset[str]]:
        """Macros of this file, and of those that it includes, that stand for execution space specifiers
        (`#define FN __host__ __device__`)."""
        told = by_name(self.project.side_macros) if self.project.side_macros else {}
        words = {name: set(sides) for name, sides in told.items() if name in self.words}
        for name, definitions in self.macros.items():
            words[name] = {x for m in definitions if m.stop - m.first <= 12 for x in self.t[m.first : m.stop]}
        return through_others(words) if words else {}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Function definitions in text order, not those nested in another (lambdas belong to their function)."""
        return find_functions(self)

    @cached_property
    def _function_starts(self) -> list[int]:
        return [f.first for f in self.functions]

    def function_at(self, i: int) -> Function | None:
        """The function definition that token i is part of."""
        k = bisect_right(self._function_starts, i) - 1
        if k >= 0 and i <= self.functions[k].body[1]:
            return self.functions[k]
        return None

    def is_device(self, i: int) -> bool:
        """Whether token i is in a function that runs on the GPU (`__global__`, `__device__`, or both sides)."""
        f = self.function_at(i)
        return f is not None and bool(f.sides & {"__global__", "__device__"})

    @cached_property
    def asms(self) -> tuple[tuple[int, int, int], ...]:
        """asm statements: indices of the keyword and of the brackets. `asm("name")` labels of declarations too."""
        out = []
        for i in self.find(*self.asm_words):
            k = i + 1
            while self.tok(k) in ASM_QUALIFIERS:
                k += 1
            if self.tok(k) == "(" and self.match[k] > k and not self._is_of_keyword(i, self.match[k]):
                out.append((i, k, self.match[k]))
        return tuple(out)

    @cached_property
    def asm_keywords(self) -> dict[str, AsmKeyword]:
        """Macros of this file, and of those that it includes, that stand for `asm`."""
        if not self._asm_macros:
            return {}
        from cu2port.facts.asm_keywords import by_name as asm_by_name

        return asm_by_name(self._asm_macros)

    @cached_property
    def doubtful_asm(self) -> frozenset[str]:
        """Macros that stand for `asm` in some builds, and for something else in others."""
        return frozenset(x.partition(" ")[0] for x in self._asm_macros) - self.asm_keywords.keys()

    @cached_property
    def _asm_macros(self) -> frozenset[str]:
        told = frozenset(x for x in self.project.asm_keywords if self.may_hold((x.partition(" ")[0],)))
        if "asm" not in self.text:
            return told
        from cu2port.facts.asm_keywords import asm_keywords

        return told | asm_keywords(self.text)

    @cached_property
    def asm_words(self) -> frozenset[str]:
        """The words that an asm statement begins with."""
        return ASM.union(self.asm_keywords) if self.asm_keywords else ASM

    def _is_of_keyword(self, i: int, close: int) -> bool:
        """Whether token i is in the definition of a macro that stands for `asm`, or one whose semicolon is missing."""
        if not self.asm_keywords:
            return False
        d = self.in_directive(i)
        if d is not None and d.keyword == "define" and self.tok(d.first + 2) in self.asm_keywords:
            return True
        known = self.asm_keywords.get(self.t[i])
        return known is not None and known.ends and self.tok(close + 1) != ";"

    @cached_property
    def declarations(self) -> Declarations:
        """What the file declares, with scopes."""
        return Declarations(self.lexed)

    def may_be_declared(self, i: int) -> bool:
        """Whether token i may be a declared name, as far as its neighbours tell; False is certain."""
        return may_be_declared(self.lexed, i)

    def declaration(self, i: int) -> Declaration | None:
        """The declaration whose name token i is; constructors and names that macros put together have none."""
        return self.declarations.declared_at(i) if may_be_declared(self.lexed, i) else None

    def declares(self, i: int) -> bool:
        """Whether token i is a name that is declared there."""
        return self.declaration(i) is not None

    def owns(self, name: str) -> bool:
        """Whether this file or one that it includes declares a name outside of functions, be it visible or not."""
        known = self._owned.get(name)
        if known is None:
            known = self._owned[name] = name in self.others or bool(names_in(self.declarations, {name}).own)
        return known

    @cached_property
    def others(self) -> Mapping[str, frozenset[str]]:
        """Names that files included here declare: without namespaces and classes -> those, "" for none."""
        out: dict[str, set[str]] = {}
        for name in self.project.declared:
            path, _, last = name.rpartition("::")
            out.setdefault(last, set()).add(path)
        return {name: frozenset(paths) for name, paths in out.items()}

    # --- libclang -------------------------------------------------------------------------------------------------

    def ask(
        self, bindings: tuple[int, ...] = (), spans: tuple[tuple[int, int], ...] = (), skipped: bool = False
    ) -> Facts | None:
        """Ask libclang about byte offsets of names and spans of expressions; None when there is no answer."""
        if self._clang is None or self.clang_failed:
            return None
        from cu2port.facts.clang import Question

        self.asked = True
        try:
            question = Question(
                path=self.path,
                data=self.text.encode("latin-1"),
                include_dirs=self.options.include_dirs,
                defines=self.options.defines,
                bindings=bindings,
                spans=spans,
                skipped=skipped,
            )
        except ValueError as e:  # a define or folder that must not reach libclang's command line
            self.clang_failed = str(e)
            return None
        facts = self._clang.ask(question)
        if facts is None:
            self.clang_failed = self._clang.last_error or "libclang gave no answer"
        return facts


def condition_words(unit: Unit, g: Group) -> frozenset[str]:
    """Identifiers in the condition of a branch (for `#else`: of the `#if` it belongs to)."""
    d = unit.directives[g.opener]
    if d.keyword == "else":
        d = unit.directives[g.chain[0]]
    return frozenset(x for x in unit.t[d.first + 2 : d.stop] if is_identifier(x))
