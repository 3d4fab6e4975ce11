"""Where an asm statement is in the text, and edits that put something else there so that it still reads well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cu2port.core.model import Edit, Side, Span, insert
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement, Reading
from cu2port.ptx.lifted import Lifted
from cu2port.ptx.operand_text import PLACEHOLDER

#: directives that open the branches which a case takes, and what it says
_Case = tuple[frozenset[int], tuple[str | Span, ...]]


def _eol(unit: Unit) -> str:
    found = re.search(r"\r\n|\n|\r", unit.text)
    return found.group() if found else "\n"


class Layout:
    """The surroundings of one statement."""

    def __init__(self, unit: Unit, s: AsmStatement) -> None:
        self.unit, self.s = unit, s
        before = unit.tok(s.keyword - 1)
        self.in_macro = s.macro is not None
        first = s.macro is not None and s.keyword == s.macro.first
        self.semicolon = unit.tok(s.close + 1) == ";" and (s.macro is None or s.close + 1 < s.macro.stop)
        #: whether it is the only statement of an `if`, `else`, loop or macro, so that two in its place need brackets
        self.sole = first or before not in (";", "{", "}", ":") or (self.in_macro and not self.semicolon)
        line = unit.line_start(s.span.start)
        ahead = unit.text[line : s.span.start]
        self.indent = ahead[: len(ahead) - len(ahead.lstrip(" \t"))]
        self.step = "\t" if self.indent.startswith("\t") else "  " if len(self.indent) % 4 == 2 else "    "
        eol = unit.once(_eol)
        self.eol = f" \\{eol}" if self.in_macro else eol
        self.bracketed = self._in_brackets()

    def _in_brackets(self) -> bool:
        """Whether the statement is in `( ... )`, maybe the argument of a macro, where no directive may stand."""
        opener = self.unit.enclosing[self.s.keyword - 1] if self.s.keyword else -1
        return opener >= 0 and self.unit.match[opener] > self.s.close

    # --- lifted -----------------------------------------------------------------------------------------------------

    def replaced(self, reading: Reading, lifted: Lifted) -> tuple[Edit, ...]:
        """One edit that puts lines in the statement's place."""
        body, swallow = self._body(lifted)
        end = self.unit.end(self.s.close + 1) if swallow else self.s.span.end
        if lifted.declares is not None and not body and self.semicolon:
            return (self._removed(),)
        return (Edit(self.s.span.start, end, self._parts(body, reading)),)

    def _removed(self) -> Edit:
        """Takes the statement away, with its line if that holds nothing else."""
        start, end = self.s.span.start, self.unit.end(self.s.close + 1)
        after = re.match(r"[ \t]*(?:\r\n|\r|\n)", self.unit.text[end:])
        line = self.unit.line_start(start)
        if after is not None and not self.unit.text[line:start].strip(" \t"):
            start, end = line, end + after.end()
        return Edit(start, end, ())

    def _body(self, lifted: Lifted) -> tuple[str, bool]:
        """The text, and whether it takes the statement's semicolon with it."""
        if lifted.declares:  # in front, for other statements too
            first = lifted.lines[0] if lifted.lines and not lifted.scoped else ""
            alone = next((d for d in lifted.declares if first.startswith(f"{d[0]} = ") and "{}" in d[1]), None)
            ahead = [declaration for name, declaration in lifted.declares if alone is None or name != alone[0]]
            if alone is not None:
                ahead.append(alone[1].removesuffix(f"{alone[0]} = {{}};") + first)
                lifted = replace(lifted, lines=lifted.lines[1:])
            rest, swallow = self._body(replace(lifted, declares=()))
            text = f"{self.eol}{self.indent}".join([*ahead, rest] if rest else ahead)
            return (text, swallow) if rest else (text.removesuffix(";"), False)
        lines = list(lifted.lines) or [""]
        block = lifted.scoped or (self.sole and (len(lines) > 1 or lines[0].startswith("if ")))
        if not block:
            text = f"{self.eol}{self.indent}".join(lines)
            return text.removesuffix(";") if not text.endswith("}") else text, text.endswith("}") and self.semicolon
        return self._block(lines)

    def _block(self, lines: Sequence[str]) -> tuple[str, bool]:
        inner = "".join(f"{self.eol}{self.indent}{self.step}{line}" for line in lines)
        if self.in_macro and not self.semicolon:
            return f"do {{{inner}{self.eol}{self.indent}}} while (0)", False
        return f"{{{inner}{self.eol}{self.indent}}}", self.semicolon

    def _parts(self, text: str, reading: Reading) -> tuple[str | Span, ...]:
        parts: list[str | Span] = []
        at = 0
        for m in PLACEHOLDER.finditer(text):
            parts += [text[at : m.start()], reading.operands[int(m[1])].expr]
            at = m.end()
        parts.append(text[at:])
        return tuple(p for p in parts if p != "")

    def by_parameter(self, s: AsmStatement, lifted: Sequence[Lifted]) -> tuple[Edit, ...]:
        """A case for each text that the parameters of the macro around make."""
        body = ""
        cases: dict[tuple[str, ...], list[str]] = {}
        for reading, one in zip(s.readings, lifted, strict=True):
            tests = []
            for _, what in reading.where:
                name, _, value = what.partition("=")
                literal = (
                    value if value.startswith('"') else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
                )
                spelled = name if value.startswith('"') else f"#{name}"
                tests.append(f"cu2port::ptx::same({spelled}, {literal})")
            cases.setdefault(one.lines, []).append(" && ".join(tests))
        step = f"{self.eol}{self.indent}"
        for lines, tests in cases.items():
            condition = " || ".join(f"({t})" if " && " in t and len(tests) > 1 else t for t in tests)
            inner = "".join(f"{step}{self.step}{line}" for line in lines)
            body += f"{'' if not body else ' else '}if ({condition}) {{{inner}{step}}}"
        body += f' else {{{step}{self.step}cu2port::ptx::untranslated_trap("a case that no call here has");{step}}}'
        return self._cases(body, s.readings[0])

    def by_value(self, s: AsmStatement, lifted: Sequence[Lifted]) -> tuple[Edit, ...]:
        """A case for each value that constants of a template may have; another value does not compile."""
        body, step = "", f"{self.eol}{self.indent}"
        for reading, one in zip(s.readings, lifted, strict=True):
            inner = "".join(f"{step}{self.step}{line}" for line in one.lines)
            body += f"{'' if not body else ' else '}if constexpr ({reading.where[0][1]}) {{{inner}{step}}}"
        body += f' else {{{step}{self.step}cu2port::ptx::untranslated("an opcode that PTX has not");{step}}}'
        return self._cases(body, s.readings[0])

    def _cases(self, body: str, reading: Reading) -> tuple[Edit, ...]:
        """An `if` of cases in place of the statement, as one statement where it was one."""
        if self.in_macro and not self.semicolon:
            body = f"do {{ {body} }} while (0)"
        elif self.sole:
            body = f"{{ {body} }}"
        end = self.unit.end(self.s.close + 1) if self.semicolon else self.s.span.end
        return (Edit(self.s.span.start, end, self._parts(body, reading)),)

    def by_branch(self, s: AsmStatement, lifted: Sequence[Lifted]) -> tuple[Edit, ...]:
        """The statement under each branch of the conditionals that stood inside of it. Their directives are kept, so
        that what rewrites conditions rewrites them."""
        cases: list[_Case] = []
        for reading, one in zip(s.readings, lifted, strict=True):
            body, _ = (
                self._block(one.lines)
                if one.scoped or self.sole
                else (f"{self.eol}{self.indent}".join(one.lines), False)
            )
            cases.append((frozenset(reading.taken), (self.indent, *self._parts(body, reading))))
        end = self.unit.end(self.s.close + 1) if self.semicolon else self.s.span.end
        return (Edit(s.span.start, end, (self.eol, *self._nested(cases), self.indent)),)

    def _nested(self, cases: Sequence[_Case]) -> Iterator[str | Span]:
        """Lines that choose among cases: the first conditional that any depends on, the others inside its branches."""
        first = min((k for taken, _ in cases for k in taken), default=-1)
        if first < 0:
            for _, parts in cases:
                yield from (*parts, self.eol)
            return
        chain = next(g.chain for g in self.unit.groups if g.opener == first)
        rest = [c for c in cases if c[0].isdisjoint(chain)]
        for k in chain:
            chosen = [(taken - {k}, parts) for taken, parts in cases if k in taken]
            if chosen:
                yield from (Span(self.unit.directives[k].start, self.unit.directives[k].end), self.eol)
                yield from self._nested(chosen)
        if rest:
            yield f"#else{self.eol}"
            yield from self._nested(rest)
        yield f"#endif{self.eol}"

    # --- refused ----------------------------------------------------------------------------------------------------

    def guard(self, text: str, trap: bool) -> tuple[Edit, ...]:
        """Edits that keep the statement from the compiler, behind a call that says so."""
        s = self.s
        call = f'cu2port::ptx::untranslated{"_trap" if trap else ""}("{text}")'
        if trap:
            return (Edit(s.span.start, s.span.end, (call,)),)
        original = self.unit.text[s.span.start : s.span.end]
        if not self.in_macro and not self.bracketed and self.semicolon:
            end = self.unit.end(s.close + 1)
            after = re.match(r"[ \t]*(?:\r\n|\r|\n)?", self.unit.text[end:])
            ends_line = after is not None and after.group().endswith(("\n", "\r"))
            tail = f"{self.eol}#endif" + ("" if ends_line else f"{self.eol}{self.indent}")
            head = f"{call};{self.eol}#if 0{self.eol}{self.indent}"
            return (insert(s.span.start, head), Edit(end, end, (tail,), Side.LEFT))
        kept = f" /* {original} */" if "*/" not in original and "/*" not in original else ""
        return (Edit(s.span.start, s.span.end, (call + kept,)),)
