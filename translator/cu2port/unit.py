"""The facts of one file that checks decide on: tokens, macros, functions, launches, asm statements, includes.

Everything is found by the lexer, so it is there for files that do not parse and for both sides of every `#if`.
What only a compiler front end knows (types, constant values, who declared a name) is asked of `clang` when needed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cu2port.lexer import Directive, Group, Lexed, is_identifier, is_string, lex, unsplice
from cu2port.model import Options, Project, Span

if TYPE_CHECKING:
    from cu2port.api import ApiFacts
    from cu2port.catalog import Catalog
    from cu2port.clang import ClangService, Facts

_CONTROL = frozenset(
    "if for while switch catch return sizeof alignof alignas decltype defined __launch_bounds__ __attribute__ "
    "__align__ "
    "asm __asm__ noexcept static_assert new delete throw case else do goto requires explicit __maxnreg__ "
    "__cluster_dims__ __block_size__ operator".split()
)
_KEYWORDS_BEFORE_GLOBAL = frozenset(
    "return else case throw co_return co_yield delete new goto do typedef const".split()
)
_AFTER_PARAMS = frozenset("const noexcept override final volatile & && mutable try throw".split())
_SIDES = frozenset({"__global__", "__device__", "__host__"})
_ASM = frozenset({"asm", "__asm__", "__asm"})
_ASM_QUALIFIERS = frozenset({"volatile", "__volatile__", "__volatile", "goto", "inline", "__inline__"})


@dataclass(frozen=True, slots=True)
class Macro:
    """`#define name(params) body`: `params` is None for an object-like macro; body is tokens [first, stop)."""

    name: str
    params: tuple[str, ...] | None
    first: int
    stop: int
    directive: Directive


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition: indices of its first token (`template`, a specifier), its name, the brackets of its
    parameters and of its body. `sides`: which of `__global__`, `__device__`, `__host__` it carries."""

    name: str
    first: int
    name_at: int
    params: tuple[int, int]
    body: tuple[int, int]
    sides: frozenset[str]


@dataclass(frozen=True, slots=True)
class Launch:
    """`callee<<<config>>>(args)`: token indices of the callee's first token, of `<<<`, of the first `>` of `>>>`
    and of the brackets of the arguments (-1, -1 if there are none). `spaced`: written `<< <`, as nvcc allows."""

    callee: int
    open: int
    close: int
    args: tuple[int, int]
    spaced: bool

    @property
    def config_first(self) -> int:
        """The first token after `<<<`."""
        return self.open + (2 if self.spaced else 1)


@dataclass(frozen=True, slots=True)
class Call:
    """A call's brackets (token indices) and the byte spans of its arguments, without surrounding white space."""

    open: int
    close: int
    args: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Include:
    """`#include "path"` or `<path>`. `start`, `end`: bytes of the operand with its delimiters."""

    path: str
    quoted: bool
    start: int
    end: int
    directive: Directive


class Unit:
    """One file. `text` is Latin-1, so indices are byte offsets; `t` and `p` are its tokens and their offsets."""

    def __init__(
        self,
        text: str,
        catalog: Catalog,
        options: Options | None = None,
        path: str = "<stdin>",
        project: Project | None = None,
        clang: ClangService | None = None,
    ) -> None:
        self.text = text
        self.path = path
        self.catalog = catalog
        self.options = options or Options()
        self.project = project or Project()
        self.lexed: Lexed = lex(text)
        self.t = self.lexed.t
        self.p = self.lexed.p
        self.match = self.lexed.match
        self._clang = clang
        self.clang_failed = ""  # why libclang's answers are missing, if they were asked for and did not come

    # --- tokens ---------------------------------------------------------------------------------------------------

    def end(self, i: int) -> int:
        """Byte offset after token i."""
        return self.p[i] + len(self.t[i])

    def tok(self, i: int) -> str:
        """Token i, or "" outside the file."""
        return self.t[i] if 0 <= i < len(self.t) else ""

    def source(self, first: int, stop: int) -> str:
        """The text from token `first` to the end of token `stop - 1`."""
        return self.text[self.p[first] : self.end(stop - 1)] if stop > first else ""

    @cached_property
    def words(self) -> frozenset[str]:
        """All different tokens: whether a check has anything to do in this file."""
        return frozenset(self.t)

    def find(self, *names: str) -> list[int]:
        """Indices of the tokens that are one of `names`, in order. Fast where there are none or few."""
        out = []
        for name in self.words.intersection(names):
            i = -1
            for _ in range(self.t.count(name)):
                i = self.t.index(name, i + 1)
                out.append(i)
        return sorted(out)

    @property
    def directives(self) -> tuple[Directive, ...]:
        return self.lexed.directives

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.lexed.groups

    def in_directive(self, i: int) -> Directive | None:
        """The directive that token i is part of."""
        return self.lexed.directive_at(i)

    def is_member(self, i: int) -> bool:
        """Whether token i is accessed through an object (`x.name`, `x->name`)."""
        return self.tok(i - 1) in (".", "->", ".*", "->*")

    def qualifier(self, i: int) -> int:
        """Index of the first token of the qualified name that ends at i (`a` in `a::b::c`); i when unqualified."""
        while self.tok(i - 1) == "::":
            before = self.tok(i - 2)
            if before and is_identifier(before) and before not in _KEYWORDS_BEFORE_GLOBAL:
                i -= 2
            elif before == ">" and (k := self.angle_open(i - 2)) > 0:
                i = k - 1
            else:
                return i - 1
        return i

    # --- brackets and calls ---------------------------------------------------------------------------------------

    def angle_close(self, i: int, limit: int = 2000) -> int:
        """Index of the `>` that closes the template argument list opened by `<` at i, or -1 if it is no such list."""
        depth = 0
        k = i
        stop = min(len(self.t), i + limit)
        while k < stop:
            tok = self.t[k]
            if tok == "<":
                depth += 1
            elif tok == ">":
                depth -= 1
                if depth == 0:
                    return k
            elif tok in ("(", "[", "{"):
                k = self.match[k]
                if k < 0:
                    return -1
            elif tok in (")", "]", "}", ";", "<<<") or (
                tok in ("&&", "||") and self.tok(k + 1) not in (">", ",", "...")
            ):
                return -1
            k += 1
        return -1

    def angle_open(self, i: int, limit: int = 2000) -> int:
        """Index of the `<` that opens the template argument list closed by `>` at i, or -1."""
        depth = 0
        k = i
        while k >= 0 and i - k < limit:
            tok = self.t[k]
            if tok == ">":
                depth += 1
            elif tok == "<":
                depth -= 1
                if depth == 0:
                    return k
            elif tok in (")", "]", "}"):
                k = self.match[k]
                if k < 0:
                    return -1
            elif tok in ("(", "[", "{", ";"):
                return -1
            k -= 1
        return -1

    def split_args(self, first: int, stop: int) -> tuple[Span, ...]:
        """Byte spans of the comma-separated expressions in tokens [first, stop)."""
        out = []
        k = begin = first
        while k < stop:
            tok = self.t[k]
            if tok in ("(", "[", "{", "<%", "<:"):
                k = self.match[k] if first <= self.match[k] < stop else k
            elif tok == "<" and k > first and is_identifier(self.t[k - 1]):
                close = self.angle_close(k)
                # `a < b, c > d` is two arguments, `f<b, c>(d)` and `f<b, c>` one: no expression ends with `>`
                after = self.tok(close + 1)
                if 0 < close < stop and (after in ("(", "::", "{", ",", ")", ">") or "," not in self.t[k:close]):
                    k = close
            elif tok == ",":
                out.append(self._span(begin, k))
                begin = k + 1
            k += 1
        if begin < stop or out:
            out.append(self._span(begin, stop))
        return tuple(out)

    def _span(self, first: int, stop: int) -> Span:
        if stop <= first:  # an empty argument: an empty span after the previous token
            at = self.end(first - 1)
            return Span(at, at)
        return Span(self.p[first], self.end(stop - 1))

    def call(self, i: int) -> Call | None:
        """The call whose callee's last token is i (template arguments may stand between), or None."""
        k = i + 1
        if self.tok(k) == "<":
            close = self.angle_close(k)
            if close < 0:
                return None
            k = close + 1
        if self.tok(k) != "(" or self.match[k] < 0:
            return None
        return Call(k, self.match[k], self.split_args(k + 1, self.match[k]))

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
        out: dict[str, tuple[Macro, ...]] = {}
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
            out[name] = (*out.get(name, ()), Macro(name, params, first, d.stop, d))
        return out

    @cached_property
    def guard(self) -> str:
        """The include guard's macro, "" if there is none."""
        ds = self.directives
        if len(ds) >= 2 and ds[0].keyword == "ifndef" and ds[1].keyword == "define":
            a, b = self.tok(ds[0].first + 2), self.tok(ds[1].first + 2)
            if a == b and ds[0].first == 0:
                return a
        return ""

    def conditions(self, offset: int) -> list[Group]:
        """The conditional branches around a byte offset, outermost first."""
        return [g for g in self.groups if g.start <= offset < g.end]

    def condition_text(self, g: Group) -> str:
        """What stands after the keyword of the directive that opens a branch, with single spaces."""
        d = self.directives[g.opener]
        return " ".join(self.t[d.first + 2 : d.stop])

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

    # --- functions, launches, asm ---------------------------------------------------------------------------------

    @cached_property
    def side_macros(self) -> dict[str, frozenset[str]]:
        """Macros of this file that stand for execution space specifiers (`#define FN __host__ __device__`)."""
        out = {}
        for name, definitions in self.macros.items():
            sides = (
                frozenset(x for m in definitions if m.stop - m.first <= 12 for x in self.t[m.first : m.stop]) & _SIDES
            )
            if sides:
                out[name] = sides
        return out

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Function definitions in text order, not those nested in another (lambdas belong to their function)."""
        out: list[Function] = []
        reach = -1
        for i in self.find("{"):
            if i > reach and self.match[i] > i:
                f = self._function(i)
                if f is not None:
                    out.append(f)
                    reach = f.body[1]
        return tuple(out)

    def _function(self, body: int) -> Function | None:
        """The function whose body opens at token `body`, or None when that brace opens something else."""
        t, match = self.t, self.match
        k = body - 1
        hops = 0
        while k > 0 and hops < 40:
            hops += 1
            tok = t[k]
            if tok == ")" and match[k] > 0:
                before = t[match[k] - 1] if match[k] > 0 else ""
                if before in ("noexcept", "throw", "__attribute__", "requires"):
                    k = match[k] - 2
                    continue
                break
            if tok in _AFTER_PARAMS:
                k -= 1
            elif is_identifier(tok) or tok in ("->", "::", "*", ">", "<", ","):  # a trailing return type, a macro
                if tok in ("struct", "class", "namespace", "enum", "union", "do", "else", "try", "extern"):
                    return None
                k -= 1
            else:
                return None
        else:
            return None
        close, opener = k, match[k]
        name_at = opener - 1
        if name_at < 0:
            return None
        name = t[name_at]
        if t[name_at - 1] == "operator" if name_at else False:
            name = "operator" + name
        elif name == ")" or name == "]":
            if not (t[name_at - 2 : name_at] == ["operator", "("] or t[name_at - 2 : name_at] == ["operator", "["]):
                return None
            name = "operator" + t[name_at - 1] + name
            name_at -= 2
        elif not is_identifier(name) or name in _CONTROL:
            return None
        first = name_at
        while first > 0 and t[first - 1] not in (";", "{", "}") and self.in_directive(first - 1) is None:
            if t[first - 1] == ":" and t[first - 2] in ("public", "private", "protected"):
                break
            if t[first - 1] == ":" and first >= 2 and match[first - 2] >= 0:
                return None  # a constructor's initialiser list: `C(...) : a(x) {`
            first -= 1
        sides: set[str] = set()
        for tok in t[first:name_at]:
            if tok in _SIDES:
                sides.add(tok)
            elif tok in self.side_macros:
                sides |= self.side_macros[tok]
        if t[name_at - 1] in (",", "(", "=", "return") and not sides:
            return None
        return Function(name, first, name_at, (opener, close), (body, match[body]), frozenset(sides))

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
    def launches(self) -> tuple[Launch, ...]:
        """Kernel launches, also those in macro bodies."""
        out = []
        t = self.t
        for i in self.find("<<<", "<<"):
            if t[i] == "<<<":
                spaced = False
            elif self.tok(i + 1) == "<" and i and (is_identifier(t[i - 1]) or t[i - 1] == ">"):
                spaced = True
            else:
                continue
            close = self._launch_close(i + (2 if spaced else 1))
            if close < 0:
                continue
            k = i - 1
            if k >= 0 and t[k] == ">":
                k = self.angle_open(k) - 1
            elif k >= 0 and t[k] == ")" and self.match[k] >= 0:
                k = self.match[k] - 1 if is_identifier(self.tok(self.match[k] - 1)) else self.match[k]
            if k < 0:
                continue
            callee = self.qualifier(k)
            while self.tok(callee - 1) in (".", "->") and is_identifier(self.tok(callee - 2)):
                callee = self.qualifier(callee - 2)
            after = close + 3
            args = (after, self.match[after]) if self.tok(after) == "(" and self.match[after] > 0 else (-1, -1)
            out.append(Launch(callee, i, close, args, spaced))
        return tuple(out)

    def _launch_close(self, k: int) -> int:
        """Index of the first `>` of the `>>>` that closes a launch configuration starting at token k, or -1."""
        stop = min(len(self.t), k + 4000)
        while k < stop:
            tok = self.t[k]
            if tok in ("(", "[", "{"):
                k = self.match[k]
                if k < 0:
                    return -1
            elif tok == ">" and self.tok(k + 1) == ">" and self.tok(k + 2) == ">":
                # `kernel<<<f<g<int>>(), 1>>>`: the last three of a run of more close the launch
                while self.tok(k + 3) == ">" and self.p[k + 3] == self.end(k + 2):
                    k += 1
                return k
            elif tok in (")", "]", "}", ";"):
                return -1
            k += 1
        return -1

    @cached_property
    def asms(self) -> tuple[tuple[int, int, int], ...]:
        """asm statements: indices of the keyword and of the brackets. `asm("name")` labels of declarations too."""
        out = []
        for i in self.find(*_ASM):
            k = i + 1
            while self.tok(k) in _ASM_QUALIFIERS:
                k += 1
            if self.tok(k) == "(" and self.match[k] > k:
                out.append((i, k, self.match[k]))
        return tuple(out)

    @cached_property
    def declared(self) -> frozenset[str]:
        """CUDA-looking names that this file declares itself."""
        return declared_names(self.text)

    @cached_property
    def api(self) -> ApiFacts:
        """What the catalogue says of the names in this file."""
        from cu2port.api import scan

        return scan(self)

    # --- libclang -------------------------------------------------------------------------------------------------

    def ask(
        self, bindings: tuple[int, ...] = (), spans: tuple[tuple[int, int], ...] = (), skipped: bool = False
    ) -> Facts | None:
        """Ask libclang about byte offsets of names and spans of expressions; None when there is no answer."""
        if self._clang is None or self.clang_failed:
            return None
        from cu2port.clang import Question

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


_LOOK = r"(?:cu|CU|nv|nccl|__|NV|half|thrust|wmma)\w+"
_WORD = re.compile(rf"\b{_LOOK}")
_NEXT = re.compile(r"\s*([({=;:])")
_BODY = re.compile(r"\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*(?:(?:const|noexcept|override)\b\s*)*\{")
_DEFINE = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({_LOOK})", re.M)
_ENUM = re.compile(r"\benum\b[^;{}()]*\{([^{}]*)\}")
_NO_TYPES = frozenset(
    "return else new delete throw case goto typedef using define namespace ifdef ifndef defined".split()
)
_CLASSES = frozenset("class struct enum union".split())


def declared_names(text: str) -> frozenset[str]:
    """CUDA-looking names that a text declares: functions with a body, variables, classes, enumerators, macros.

    Cheap (regular expressions over the raw text); it may name too much, since libclang has the last word.
    """
    found = set(_DEFINE.findall(text))
    for m in _WORD.finditer(text):
        after = _NEXT.match(text, m.end())
        if after is None or m.group() in found:
            continue
        before = _type_before(text, m.start())
        if not before or before in _NO_TYPES:
            continue
        if before in _CLASSES:
            declares = after.group(1) in "{:"
        elif after.group(1) == "(":
            declares = _BODY.match(text, m.end()) is not None
        else:
            declares = after.group(1) in "={;"
        if declares:
            found.add(m.group())
    for m in _ENUM.finditer(text):
        found.update(w.group() for w in _WORD.finditer(m.group(1)) if not _is_value(text, m.start(1) + w.start()))
    return frozenset(found)


def _type_before(text: str, at: int) -> str:
    """The word (or `>`) that stands before a name, blanks, `*` and `&` between them; "" when it is none."""
    end = len(text[max(0, at - 80) : at].rstrip(" \t\r\n*&")) + max(0, at - 80)
    if end == at or not end:
        return ""
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end] if start < end else text[end - 1] if text[end - 1] == ">" else ""


def _is_value(text: str, at: int) -> bool:
    """Whether a word in an enumeration stands after `=`: a value, not an enumerator."""
    return text[max(0, at - 8) : at].rstrip().endswith(("=", "|", "+", "-", "("))


def condition_words(unit: Unit, g: Group) -> frozenset[str]:
    """Identifiers in the condition of a branch (for `#else`: of the `#if` it belongs to)."""
    d = unit.directives[g.opener]
    if d.keyword == "else":
        d = unit.directives[g.chain[0]]
    return frozenset(x for x in unit.t[d.first + 2 : d.stop] if is_identifier(x))


def logical_line(text: str, start: int, end: int) -> str:
    """The text of a directive without its continuations."""
    return unsplice(text[start:end])


def iter_calls(unit: Unit, names: frozenset[str]) -> Iterator[tuple[int, Call]]:
    """Calls of the named functions: index of the name, and the call. Members and foreign qualifications left out."""
    for i in unit.find(*names):
        call = None if unit.is_member(i) else unit.call(i)
        if call is not None:
            yield i, call
