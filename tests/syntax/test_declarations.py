"""The reader of declarations: what is declared, where it is visible, and that no text troubles it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cu2port.syntax.candidates import may_be_declared
from cu2port.syntax.declarations import Declarations, value_of
from cu2port.syntax.lexer import lex


def read(text: str) -> Declarations:
    return Declarations(lex(text))


def listed(text: str) -> list[str]:
    """`kind name` of each declaration, in text order."""
    found = read(text)
    for d in found.all():
        assert d.kind == "constructor" or d in found.named(d.name) or d.name.startswith("operator")
    return [f"{d.kind} {d.name}" for d in found.all()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int a, *b = f(c), d[3];", "variable a, variable b, variable d"),
        ("void f(int), g(int); int x(3), y(4);", "function f, function g, variable x, variable y"),
        ("int a = 1, f(int), *g(int), b[3];", "variable a, function f, function g, variable b"),
        ("struct S { int a(), b; void c(int), d(int) const; };",
         "type S, function a, member b, function c, function d"),
        ("enum S { /* by cudaMalloc/cudaFree */ A, B = A + 2 };", "type S, enumerator A, enumerator B"),
        ("struct Z { Z(float x) : cuDoubleComplex(x), m{y} { int i; } int m; };",
         "type Z, constructor Z, parameter x, variable i, member m"),
        ("void g() { std::fprintf(f); cudaFree(p); x * 2; a = b * c; }", "function g"),
        ("void g() { CHECK cudaFree(p); }", "function g"),
        ("void g() { CHECK; f(); CHECK; CHECK cudaFree(p); }", "function g"),
        ("void g() { CHECK(f(x)) int y = 1; }", "function g, variable y"),
        ("struct T f(struct T* t);", "function f, parameter t"),
        ("struct A* p; struct A; enum class E : int { X };", "variable p, type A, type E, enumerator X"),
        ("struct cudaDeviceProp prop;", "variable prop"),
        ("dim3 grid(1, 2); dim3 f(int, int); float2 g(float2 x);",
         "variable grid, function f, function g, parameter x"),
        ("namespace a::b { namespace { int x; } } namespace EXPORT c { int y; } namespace d = a;",
         "namespace a, namespace b, variable x, namespace c, variable y, namespace d"),
        ("template <typename T, int N = 3, class... U> __global__ void __launch_bounds__(2) k(T* a, float (&b)[N]) {}",
         "template parameter T, template parameter N, template parameter U, function k, parameter a, parameter b"),
        ("__global__ LAUNCH(256) void k(int n) {} EXPORT(int) f(int m) {}",
         "function k, parameter n, function f, parameter m"),
        ("for_each(x) { int y; } int z;", "variable y, variable z"),
        ("void f() { for (int i = 0, j = 1; i < n; ++i) for (auto& [x, y] : m) if (T* t = g()) h(t); }",
         "function f, variable i, variable j, variable x, variable y, variable t"),
        ("void f() { auto l = [&, k = 2](int a) mutable -> X<int> { int b; return g([] { int c; }); }; }",
         "function f, variable l, parameter a, variable b, variable c"),
        ("void f() try { } catch (const E& e) { int x; }", "function f, parameter e, variable x"),
        ("typedef struct { int x; } A, *B; typedef int (*F)(int y); using C = int; using std::min; using namespace q;",
         "member x, type A, type B, type F, parameter y, type C, using min"),
        ("A::A(int x) : b(x) {} A::~A() {} bool A::operator()(int) const { return 1; } A::operator int() { return 1; }",
         "constructor A, parameter x, constructor ~A, function operator(), function operatorint"),
        ("#define F(n) void n(int p) { int q; }\n#define CUDA_SUCCESS 0\nint x;",
         "macro F, function n, parameter p, variable q, macro CUDA_SUCCESS, variable x"),
        ("#ifdef A\nvoid f(int a) {\n#else\nvoid f(float b) {\n#endif\n  int c;\n}\nint d;",
         "function f, parameter a, function f, parameter b, variable c, variable d"),
        ("void f(int a,\n#ifdef X\n  int b,\n#endif\n  int c);", "function f, parameter a, parameter b, parameter c"),
        ("extern \"C\" { int f(void); } extern \"C\" void g(int a) {}", "function f, function g, parameter a"),
        ("BEGIN_SPACE\nnamespace n { int a; }\nEND_SPACE\nint b;", "namespace n, variable a, variable b"),
        ("OPEN_SPACES\n#define X 1\n\nnamespace n { T<int, 1> a; }", "macro X, namespace n, variable a"),
        ("struct S { friend class T; friend bool operator==(S a, S b); int f : 3; };",
         "type S, function operator==, parameter a, parameter b, member f"),
        ("template <> struct H<int> : B<3> { int x; }; template class H<float>;", "type H, member x"),
        ("template <class T> requires C<T> && D<T> void f(T t); template <class T> concept Q = sizeof(T) > 2;",
         "template parameter T, function f, parameter t, template parameter T, type Q"),
        ("void f() { UNROLL\n for (int i = 0; i < 3; i++) { T const a = g(i); } CHECK return a; }",
         "function f, variable i, variable a"),
        ("void f() { switch (x) { case 1: int a; break; case A::B: g(); default: int b; } again: int c; }",
         "function f, variable a, variable b, variable c"),
        ("using LCW32 = int; void f() { LCW32 expected({1, 2}); }", "type LCW32, function f, variable expected"),
        ("void f() { __shared__ T s[3]; extern __shared__ float m[]; unsigned u(3); T (*p)[4] = q; void (*h)(int z); }",
         "function f, variable s, variable m, variable u, variable p, variable h, parameter z"),
        ("template <class... T> void f(T... a, int b);",
         "template parameter T, function f, parameter a, parameter b"),
        ("using A = struct { int a; }; double g(double (*h)(int b), double c);",
         "type A, member a, function g, parameter h, parameter b, parameter c"),
        ("template <class T, typename E<sizeof(T) == 4 && !S<T>::v, int>::type = 0> T f(T a) {}",
         "template parameter T, function f, parameter a"),
        ("template <class T, std::enable_if_t<sizeof(T) < 8 && S<T>::v, int> = 0> T f(T a) {} bool b = x < y && z > w;",
         "template parameter T, function f, parameter a, variable b"),
        ("template <class T> constexpr bool v = is<T, A> || is<T, B>; bool w = is<T, A> == x, u = is<T, A> ? y : z;",
         "template parameter T, variable v, variable w, variable u"),
        ("int main() { if (a) int b = 1; else if (c) { int d; } while (int e = g()) ; do int h; while (h); int i; }",
         "function main, variable b, variable d, variable e, variable h, variable i"),
    ],
)  # fmt: skip
def test_what_is_declared(text: str, expected: str) -> None:
    assert listed(text) == expected.split(", ")


def meant(text: str) -> list[str]:
    """For each `x` that declares nothing, in text order, the kind and line of what it means; "" for nothing here."""
    d = read(text)
    out = []
    for i in d.lexed.places["x"]:
        if d.declared_at(i) is None:
            found = d.visible("x", i)
            out.append("" if found is None else f"{found.kind} {text.count(chr(10), 0, d.lexed.p[found.at]) + 1}")
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f() { int x; }\nint g() { return x; }", [""]),
        ("void f() { { int x; } x(); }", [""]),
        ("int a = x();\nint x;\nint b = x;", ["", "variable 2"]),
        ("namespace n { int x; }\nint f() { return x; }", [""]),
        ("namespace n { int x; }\nnamespace n { int f() { return x; } }", ["variable 1"]),
        ("namespace n { int x; }\nusing namespace n;\nint a = x;", ["variable 1"]),
        ("namespace n { int x; }\nvoid f() { using n::x; g(x); }\nint b = x;", ["using 2", ""]),
        ("namespace { int x; }\ninline namespace v { int y = x; }", ["variable 1"]),
        ("struct A { int f() { return x; }\nint x; };\nstruct B { int g() { return x; } };", ["member 2", ""]),
        ("struct A { int x; };\nstruct B : A { int g() { return x; } };", ["member 1"]),
        ("struct A { int x; int g(); };\nint A::g() { return x; }\nint h() { return x; }", ["member 1", ""]),
        ("enum { x };\nenum class E { y };\nint a = x;", ["enumerator 1"]),
        ("enum class E { x };\nint a = x;", [""]),
        ("template <int x>\nint f() { return x; }\nint g() { return x; }", ["template parameter 1", ""]),
        ("int f(int x) { return x; }\nint g() { return x; }", ["parameter 1", ""]),
        ("void f() { for (int x = 0; x < 3; ++x) g(x); h(x); }", ["variable 1", "variable 1", "variable 1", ""]),
        ("void f() { auto l = [](int x) { return x; }; x(); }", ["parameter 1", ""]),
        ("#define x 3\nint a = x;", ["macro 1"]),
        ("#define D int x\nvoid f() { D; g(x); }\nvoid h() { x(); }", ["variable 1", ""]),
        ("#define U (x)\nint x;\nint a = U;", ["variable 2"]),
        ("struct C { int x; } c;\nint a = x;", [""]),
        ("// int x;\nint a = x; /* int x; */", [""]),
    ],
)
def test_where_it_is_visible(text: str, expected: list[str]) -> None:
    assert meant(text) == expected


def test_functions_are_those_with_a_body_outside_of_others() -> None:
    d = read(
        "int a(); int b() { struct L { int c() { return 1; } }; return 0; }\n"
        "struct S { S() : x(1) {} int d() const { } };\n"
        "TEST(e, f) { }\n#define K(n) void n() { }\n"
    )
    assert [h.text for h in d.functions()] == ["b", "S", "d", "TEST", "n"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("template <> void f<float>(float a) { }", ["f: template ( a ) { }"]),
        ("struct A { A(int a) : b(a), c{1} { d; } ~A() { } };", ["A: A ( a ) { d }", "~A: ~ ( ) { }"]),
        ("A::A() noexcept : b(1) { }", ["A: A ( ) { }"]),
        ("auto f(int a) -> decltype(x[a] ? b : c) { }", ["f: auto ( a ) { }"]),
        ("struct A { operator int*() const { } HOST DEV ~A() { } HOST DEV A &operator+=(A b) { } };",
         ["operatorint*: operator ( ) { }", "~A: HOST ( ) { }", "operator+=: HOST ( b ) { }"]),
        ("struct p f(int a) { } struct ALIGN(8) B { int g() { } }; struct C ALIGN(8) { int h() { } };",
         ["f: struct ( a ) { }", "g: int ( ) { }", "h: int ( ) { }"]),
        ("typedef struct ALIGN(4) { int a; } B; decltype(f(A{}, 1)) g = f(A{}, 2);", []),
        ("#define CHECK(x) { if (x) exit(1); }\nvoid f() { if constexpr (A) { } }", ["f: void ( ) { }"]),
        ("#define F(T) template <class A> __device__ void f_##T##_3(T a) { b; }",
         ["f_##T##_3: template ( a ) { b }"]),
        ("#define F(T) template <> struct A##T<int> { __device__ void operator()(int a) { } };",
         ["operator(): __device__ ( a ) { }"]),
        ("template <class T> BOUNDS(256) __global__ void f(T a) { }", ["f: template ( a ) { }"]),
        ("template <class T>\n#ifdef A\n__device__\n#endif\nvoid f(T a) { }", ["f: template ( a ) { }"]),
        ("#ifdef A\nvoid f(int a,\n#else\nvoid f(long a,\n#endif\nint b) { }\nint g() { }",
         ["f: void ( a b ) { }", "g: int ( ) { }"]),
        ("struct A { A(int a) : b(a)\n#ifdef B\n, c(1) {\n#else\n, d(2) {\n#endif\n e; } void f() { } };",
         ["A: A ( a ) { e }", "f: void ( ) { }"]),
        ("template <class T> struct A<T, E<is<T, h> || is<T, g>>> { int f() { } };", ["f: int ( ) { }"]),
        ("REG(x, { if (y) { z; } })\nauto l = [](int a) { b; };", []),
    ],
)  # fmt: skip
def test_heads_of_functions(text: str, expected: list[str]) -> None:
    d = read(text)
    t = d.lexed.t
    names = "a b d e".split()
    found = []
    for h in d.functions():
        (p, q), (r, s) = h.params, h.body
        given, body = ([x for x in t[i + 1 : j] if x in names] for i, j in (h.params, h.body))
        found.append(" ".join([f"{h.text}:", t[h.first], t[p], *given, t[q], t[r], *body, t[s]]))
    assert found == expected


def test_types_stand_before_the_first_declarator() -> None:
    d = read("const unsigned int *a, b[2]; std::vector<int> v(3);")
    types = [" ".join(d.lexed.t[x.type_first : x.type_stop]) for x in d.all()]
    assert types == ["const unsigned int"] * 2 + ["std :: vector < int >"]
    assert [(x.pointers, x.arrays) for x in d.all()] == [(1, 0), (0, 1), (0, 0)]


def test_parameters_have_their_arrays() -> None:
    d = read("void f(int a[4], float (*b)[3], char* c[], int d = g[1]);")
    arrays = [(x.name, x.pointers, x.arrays) for x in d.all() if x.kind == "parameter"]
    assert arrays == [("a", 0, 1), ("b", 1, 1), ("c", 1, 1), ("d", 0, 0)]


def test_a_declaration_has_its_alternatives() -> None:
    d = read("namespace n { int f(int); }\nint f(long);\n#ifdef A\nlong f();\n#endif\nvoid g() { int f; f; }")
    inner, outer = d.visible("f", len(d.lexed.t) - 2), d.visible("f", d.lexed.places["g"][0])
    assert inner is not None and d.alternatives(inner) == (inner,)
    assert outer is not None and [x.type_first for x in d.alternatives(outer)] == [10, 19]


def test_members_are_those_of_all_definitions_of_a_class() -> None:
    other = "namespace n { struct A { int a; }; }"
    d = read(f"struct A;\n#if X\nstruct A {{ int a, b; }};\n#else\nstruct A {{ long a; }};\n#endif\n{other}")
    first = next(x for x in d.named("A") if x.scope.kind == "file")
    assert [len(d.members(first, name)) for name in ("a", "b", "c")] == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x = 32;", "32"),
        ("int a = 1, x{32}, b;", "32"),
        ("const int x = f(1, 2) + 3, b = 4;", "f ( 1 , 2 ) + 3"),
        ("void f(int x = 32, int y = 1);", "32"),
        ("template <int x = 32> void f();", "32"),
        ("template <class x = A<1>> void f();", "A < 1 >"),
        ("enum { a, x = 32, b };", "32"),
        ("enum { x = 32 };", "32"),
        ("struct S { int a, x = 32; };", "32"),
        ("#define x 32 // lanes", "32"),
        ("#define x(a) (32)", "( 32 )"),
        ("#define x", ""),
        ("int x;", ""),
        ("int x[] = {1};", ""),
        ("int x(32), y;", "32"),
        ("dim3 x(1, 2);", "1 , 2"),
        ("int x();", ""),
        ("void x(int a);", ""),
        ("void x() { y = 1; }", ""),
    ],
)
def test_values_of_declarations(text: str, expected: str) -> None:
    d = read(text)
    first, stop = value_of(d.lexed, d.named("x")[0])
    assert " ".join(d.lexed.t[first:stop]) == expected


_PIECES = (
    *"int auto x f T struct enum namespace template < > ( ) { } [ ] ; , = * & && :: : ... operator ~ typedef".split(),
    *"friend if for else do while case catch try return -> requires concept extern const decltype 3 <<<".split(),
    *"noexcept __launch_bounds__ class inline default public static_assert # ## typename asm [[ ]] using".split(),
    *('"C"', "\n#if A\n", "\n#else\n", "\n#endif\n", "\n#define M(a) ", "\n", "\\\n"),
)


@example("::")
@given(st.one_of(st.lists(st.sampled_from(_PIECES), max_size=60).map(" ".join), st.text(max_size=80)))
def test_any_text_is_read(text: str) -> None:
    text = text.encode("utf-8").decode("latin-1")
    d = read(text)
    count = len(d.lexed.t)
    for declared in d.all():
        assert 0 <= declared.first <= declared.at < declared.stop <= count
        assert 0 <= declared.type_first <= declared.type_stop <= count
        assert d.declared_at(declared.at) is declared
        pasted = "##" in declared.name
        assert pasted or declared.kind == "constructor" or may_be_declared(d.lexed, declared.at)
        assert d.visible(declared.name, count - 1) is None or declared.name in d.lexed.places
    for scope in d.scopes():
        assert 0 <= scope.first <= scope.last < max(count, 1)
        last = -1
        for inner in scope.children:
            assert scope.first <= inner.first <= inner.last <= scope.last
            assert inner.first > last
            last = inner.last


@pytest.mark.parametrize(
    "piece",
    [
        "for(;;)",
        "if(a)",
        "{",
        "(",
        "a<",
        "int f(",
        "struct S{",
        "do ",
        "[]{",
        "else ",
        "int a,",
        "a::",
        "template<",
        "*",
    ],
)
def test_time_grows_with_the_text(piece: str) -> None:
    d = read(piece * 3000)
    d.all()
    d.visible("a", len(d.lexed.t) - 1)


def test_members_in_a_function_defined_outside_of_a_class_template() -> None:
    text = "template <class T> struct A { int n; };\ntemplate <class T> int A<T>::f() { return n; }\nint n;\n"
    lexed = lex(text)
    use = lexed.places["n"][1]
    d = Declarations(lexed).visible("n", use)
    assert d is not None
    assert (d.kind, d.scope.name) == ("member", "A")


def test_class_that_has_a_constructor() -> None:
    text = "struct A { A(int n); void f() { A a(1); } };\nstruct B : A { A* next; };\n"
    lexed = lex(text)
    declarations = Declarations(lexed)
    for use in lexed.places["A"][2:]:
        d = declarations.visible("A", use)
        assert d is not None
        assert d.kind == "type"
