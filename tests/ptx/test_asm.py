"""asm statements found and read: texts, operands, clobbers, macros, conditionals."""

from __future__ import annotations

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement, statements
from cu2port.syntax.strings import decode


def read(text: str) -> tuple[AsmStatement, ...]:
    return statements(Unit(text, load_catalog()))


def one(text: str) -> AsmStatement:
    (found,) = read(text)
    return found


def operands(text: str) -> list[tuple[str, str, str]]:
    found = one(text)
    (reading,) = found.readings
    return [(o.constraint, o.name, text[o.expr.start : o.expr.end]) for o in reading.operands]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('asm("membar.gl;");', "membar.gl;"),
        ('asm volatile ("a;\\n\\t" "b;" : : );', "a;\n\tb;"),
        ('__asm__ __volatile__("mov.u32 %0, %%laneid;" : "=r"(x));', "mov.u32 %0, %%laneid;"),
        ('__asm volatile(R"x(\n  add.s32 %0, %1, 1; // "quoted)"\n)x" : "=r"(a) : "r"(b));',
         '\n  add.s32 %0, %1, 1; // "quoted)"\n'),
        ('asm("a;" /* between */ // and\n "b;" ::: "memory");', "a;b;"),
        ('asm("a;\\\n b;");', "a; b;"),
        ('asm(("trap;"));', "trap;"),
        ('asm("\\x41\\101\\"");', 'AA"'),
    ],
)  # fmt: skip
def test_text(source: str, text: str) -> None:
    found = one(source)
    assert not found.problem
    assert [r.text for r in found.readings] == [text]
    assert source[found.span.start : found.span.end] == source.rstrip(";")


def test_operands_and_clobbers() -> None:
    source = """asm volatile("x;" : "=r"(a[i, 2]), "+f" ( b ), [out]"=&l"(p->q)
        : [in] "r"(f(1, g<2, 3>())), "n"(A::B) : "memory", "cc");"""
    assert operands(source) == [
        ("=r", "", "a[i, 2]"),
        ("+f", "", "b"),
        ("=&l", "out", "p->q"),
        ("r", "in", "f(1, g<2, 3>())"),
        ("n", "", "A::B"),
    ]
    found = one(source)
    reading = found.readings[0]
    assert found.volatile and not found.basic
    assert reading.outputs == 3 and reading.clobbers == ("memory", "cc") and reading.memory
    assert [o.early for o in reading.operands] == [False, False, True, False, False]
    assert [o.read for o in reading.operands] == [False, True, False, True, True]


def test_colons_may_touch() -> None:
    assert operands('asm("x;"::"l"(p),"r"(::n::v):"memory");') == [("l", "", "p"), ("r", "", "::n::v")]
    assert operands('asm("x;" : : : "memory");') == []
    assert operands('asm("x;" :: "r"(c ? 1 : 2));') == [("r", "", "c ? 1 : 2")]


def test_a_missing_comma_between_operands() -> None:
    assert operands('asm("x;" :: "r"(a) "r"(b));') == [("r", "", "a"), ("r", "", "b")]


@pytest.mark.parametrize(
    "source",
    ['extern int f(int) asm("g");', 'register int r asm("eax");', 'int x[2] __asm__("y");'],
)
def test_names_of_declarations_are_no_statements(source: str) -> None:
    assert read(source) == ()


def test_a_statement_after_a_condition_is_one() -> None:
    assert [r.text for r in one('void f() { if (x) asm("exit"); }').readings] == ["exit"]


def test_macros_of_the_file() -> None:
    source = """
#define OP "add"
#define TYPE(t) "." #t
#define ROW(a, b) OP TYPE(a) " " b
#define PTR "l"
void f() { asm(ROW(u32, "%0, [%1];") "\\n" : "=r"(x) : PTR(p)); }
"""
    found = one(source)
    assert [r.text for r in found.readings] == ["add.u32 %0, [%1];\n"]
    assert [o.constraint for o in found.readings[0].operands] == ["=r", "l"]


def test_of_two_pointer_constraints_the_64_bit_one_is_meant() -> None:
    source = '#ifdef W\n#define PTR "r"\n#else\n#define PTR "l"\n#endif\nvoid f() { asm("x;" :: PTR(p)); }'
    assert [[o.constraint for o in r.operands] for r in one(source).readings] == [["l"]]


def test_a_macro_defined_twice_gives_two_readings() -> None:
    macros = '#if A\n#define M "relaxed"\n#else\n#define M "volatile"\n#endif\n'
    source = macros + 'void f() { asm("ld." M ".u32 %0, [%1];" : "=r"(x) : "l"(p)); }'
    found = one(source)
    assert [r.text for r in found.readings] == ["ld.relaxed.u32 %0, [%1];", "ld.volatile.u32 %0, [%1];"]
    assert found.readings[0].where == (("macro", '#define M "relaxed"'),)


def test_conditionals_inside() -> None:
    source = """void f() { asm(
#if A
  "a %0, %1;" :: "r"(x),
#else
  "b %0, %1;" :: "l"(x),
#endif
  "r"(y)); }"""
    found = one(source)
    assert [(r.text, [o.constraint for o in r.operands]) for r in found.readings] == [
        ("a %0, %1;", ["r", "r"]),
        ("b %0, %1;", ["l", "r"]),
    ]
    assert [r.where for r in found.readings] == [(("branch", "#if A"),), (("branch", "#else"),)]


def test_a_conditional_without_else_may_add_nothing() -> None:
    found = one('void f() { asm("a;"\n#ifdef B\n"b;"\n#endif\n); }')
    assert [r.text for r in found.readings] == ["a;b;", "a;"]


def test_nested_conditionals() -> None:
    found = one('void f() { asm(\n#if A\n"a;"\n#if B\n"b;"\n#endif\n#else\n"c;"\n#endif\n); }')
    assert sorted(r.text for r in found.readings) == ["a;", "a;b;", "c;"]


def test_each_side_may_have_conditionals_of_its_own() -> None:
    found = one('void f() { asm(\n#if A\n"a;"\n#else\n#if B\n"b;"\n#else\n"c;"\n#endif\n#endif\n); }')
    assert [r.text for r in found.readings] == ["a;", "b;", "c;"]


def test_many_conditionals_are_refused_at_once() -> None:
    deep = "".join(f'#if A{i}\n"a;"\n' for i in range(3000)) + "#endif\n" * 3000
    assert "too many ways" in one(f"void f() {{ asm(\n{deep}); }}").problem


def test_a_conditional_that_ends_outside_is_refused() -> None:
    (found,) = read('void f() {\n#if A\nasm("a;"\n#else\nasm("b;"\n#endif\n);}')[:1] or (None,)
    assert found is None or found.problem or found.readings


def test_parameters_of_the_macro_around() -> None:
    source = """
#define LD(space, T, p) asm("ld." #space "." T " %0, [%1];" : "=r"(x) : "l"(p))
#define BOTH(q) LD(shared, "u32", q)
void f() { LD(global.nc, "u32", a); BOTH(b); LD(global.nc, "u32", c); }
"""
    found = one(source)
    assert found.macro is not None and found.params == ("space", "T")
    assert [r.text for r in found.readings] == ["ld.shared.u32 %0, [%1];", "ld.global.nc.u32 %0, [%1];"]
    assert source[found.readings[0].operands[1].expr.start :].startswith("p)")


def test_parameters_come_through_another_macro() -> None:
    source = """
#define ONE(m) asm("ld." #m ".u32 %0, [%1];" : "=r"(x) : "l"(p))
#define ALL(m) ONE(m); ONE(volatile.m)
void f() { ALL(global); ALL(shared); }
"""
    assert [r.text.split()[0] for r in one(source).readings] == [
        "ld.global.u32",
        "ld.shared.u32",
        "ld.volatile.global.u32",
        "ld.volatile.shared.u32",
    ]


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("void f() { asm(TEXT); }", "`TEXT`"),
        ('void f() { asm("a;" : OUTPUTS); }', "operands come from a macro"),
        ('#define A(x) asm("ld." #x)\n', "nothing calls"),
        ('#define A(x) asm(#x)\nvoid f() { A(1, 2); }', "not like its definition"),
        ('#define A(x) "a"\nvoid f() { asm(A(1, 2)); }', "number of arguments"),
        ('#define A B\n#define B A\nvoid f() { asm(A); }', "no string literal"),
        ('void f() { asm("a;"\n#pragma x\n); }', "#pragma"),
    ],
)  # fmt: skip
def test_unknown_texts_tell_why(source: str, word: str) -> None:
    found = one(source)
    assert found.readings == () and word in found.problem


def test_macros_that_grow_without_end_are_stopped() -> None:
    lines = "".join(f"#define M{i} M{i + 1} M{i + 1}\n" for i in range(30))
    assert "too long" in one(lines + '#define M30 "x"\nvoid f() { asm(M0); }').problem


def test_other_assemblers() -> None:
    assert one('void f() { asm("rdtsc" : "=a"(x)); }').foreign
    assert one('void f() { asm("v_add_u32 %0, %1, %2" : "=v"(x) : "v"(a), "s"(b)); }').foreign
    assert not one('void f() { asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "n"(3)); }').foreign


def test_places_in_macros_templates_and_lambdas() -> None:
    source = """
template <int N> __device__ int g() { int x; asm("mov.u32 %0, %1;" : "=r"(x) : "n"(N)); return x; }
__device__ int h() { return [&] { int x; asm("mov.u32 %0, 1;" : "=r"(x)); return x; }(); }
#define M(x) do { \\
    asm volatile("mov.u32 %0, " \\
        "2;" : "=r"(x)); \\
  } while (0)
"""
    a, b, c = read(source)
    assert (a.macro, b.macro) == (None, None) and c.macro is not None and c.macro.name == "M"
    assert [s.readings[0].text for s in (a, b, c)] == ["mov.u32 %0, %1;", "mov.u32 %0, 1;", "mov.u32 %0, 2;"]


def test_decode() -> None:
    assert decode('u8R"--(a\\n"b)--"') == 'a\\n"b'
    assert decode('"a\\\r\nb\\\\n"') == "ab\\n"
