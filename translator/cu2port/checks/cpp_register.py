from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier


class CppRegister(Check):
    """`register` on a variable, which C++17 removed and clang rejects; gcc behind nvcc only warns.

    The word is dropped; compilers have ignored it for decades.
    """

    code, name, severity = "CU211", "register", Severity.INFO
    triggers = frozenset({"register"})
    examples = (
        Example("void f() { register int i = 0; }", "void f() { int i = 0; }"),
        Example("void f(register float x);", "void f(float x);"),
        Example("#define R register int\n", "#define R int\n", "in a macro body"),
        Example("FOR(register int i = 0)", "FOR(int i = 0)", "as a macro's argument"),
        Example('void f() { register int sp asm("sp"); }', note="a register variable"),
        Example("int register_count;", note="another name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.path.endswith(".c"):
            return
        for i in unit.find("register"):
            after = unit.tok(i + 1)
            if not after or not is_identifier(after):
                continue
            statement = unit.t[i : i + 24]
            stop = statement.index(";") if ";" in statement else len(statement)
            if {"asm", "__asm__"} & set(statement[:stop]):
                continue
            yield self.finding(
                "`register` was removed in C++17",
                unit.p[i],
                unit.end(i),
                (replace(unit.p[i], unit.p[i + 1], ""),),
                effects=(("all", "compile-error"),),
            )
