"""Outputs of one statement that lie where another output says: each is bound before the text, as the assembler does.

Statements with two or three outputs are made by chance, converted, and compared with references bound first.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"
HEAD = """struct Pair { unsigned x, y; };
struct State { unsigned i, j, a[8], b[8]; Pair v; unsigned at; unsigned& member(unsigned k) { return a[k & 7]; } };
"""
# groups of lvalues that are the same object or cannot be distinguished: a statement has one of each at most
LVALUES = (
    ("i", "s.i", "(*pi)"),
    ("j",),
    ("a[i]", "s.a[i & 7]", "p[i]", "*(p + i)", "s.member(i)", "q->a[i]"),
    ("b[v.x]", "b[q->v.x]", "s.b[s.v.x]"),
    ("v.x", "s.v.x"),
    ("v.y", "q->v.y"),
    ("*p", "p[0]"),
)
LOCALS = (
    "State& s = *x; State* q = x; unsigned &i = x->i, &j = x->j; unsigned *a = x->a, *b = x->b, *p = x->a, *pi = &i; "
)
LOCALS += "Pair& v = x->v; (void)a, (void)b, (void)p, (void)pi, (void)q, (void)s, (void)i, (void)j, (void)v;"


@dataclass(frozen=True)
class Statement:
    """Outputs, whether each is read too (`+`), and the order in which the text writes them."""

    lvalues: tuple[str, ...]
    read: tuple[bool, ...]
    order: tuple[int, ...]

    def asm(self, names: tuple[str, ...] = ()) -> str:
        n = len(self.lvalues)
        lines = [
            f"add.u32 %{k}, %{k if self.read[k] else n}, 1;{f' and.b32 %{k}, %{k}, 7;' if k == self.order[-1] else ''}"
            for k in self.order
        ]
        outputs = ", ".join(
            f'"{"+" if r else "="}r"({e})' for e, r in zip(names or self.lvalues, self.read, strict=True)
        )
        return f'asm volatile("{" ".join(lines)}" : {outputs} : "r"({"in" if names else "n"}))'

    def wanted(self) -> str:
        bound = "".join(f"unsigned& o{k} = {e}; " for k, e in enumerate(self.lvalues))
        values = "".join(f"unsigned r{k} = {f'o{k}' if r else 'n'} + 1; " for k, r in enumerate(self.read))
        values += f"r{self.order[-1]} &= 7; "
        return bound + values + "".join(f"o{k} = r{k}; " for k in self.order)


def statements(count: int) -> list[Statement]:
    rng = Random(11)
    out: list[Statement] = []
    while len(out) < count:
        groups = rng.sample(LVALUES, rng.choice((2, 2, 3)))
        chosen = tuple(rng.choice(g) for g in groups)
        if {"*p", "p[0]"} & set(chosen) and any(
            "a[i" in e or "p[i]" in e or "+ i" in e or "member" in e for e in chosen
        ):
            continue  # maybe one object
        order = list(range(len(chosen)))
        rng.shuffle(order)
        out.append(Statement(chosen, tuple(rng.random() < 0.4 for _ in chosen), tuple(order)))
    return out


@pytest.mark.parametrize("typed", (True, False))
def test_outputs_are_bound_before_the_text(typed: bool, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no gcc for C++ here")
    chosen = statements(70)
    source = HEAD
    for n, s in enumerate(chosen):
        source += f"__device__ void f{n}(State* x, unsigned n) {{ {LOCALS}\n  {s.asm()};\n}}\n"
        names = tuple(f"o{k}" for k in range(len(s.lvalues)))
        source += f"#define M{n}({', '.join(names)}, in) {s.asm(names)}\n"
        call = f"M{n}({', '.join(s.lvalues)}, n)"
        source += f"__device__ void g{n}(State* x, unsigned n) {{ {LOCALS}\n  {call};\n}}\n"
    if typed:
        with ClangService() as clang:
            result = translate(source, path="a.cuh", clang=clang)
    else:
        result = translate(source, path="a.cuh")
    assert not [j for j in result.findings if j.open]
    text = "#include <cstdio>\n#include <cstring>\n#define __device__\n" + result.output.decode()
    for n, s in enumerate(chosen):
        text += f"void w{n}(State* x, unsigned n) {{ {LOCALS} {s.wanted()} }}\n"
    text += "typedef void F(State*, unsigned);\nstatic F* all[][3] = {" + "".join(
        f"{{f{n}, g{n}, w{n}}}, " for n in range(len(chosen))
    )
    text += """};
int main() {
    unsigned k = 0;
    for (auto& row : all) {
        State start{1 + k % 3, 5, {1, 2, 3, 4, 5, 6, 7, 0}, {7, 6, 5, 4, 3, 2, 1, 0}, {k % 7, 3}, 0}, got[3];
        for (int i = 0; i < 3; ++i) { got[i] = start; row[i](&got[i], 2 + k % 5); }
        for (int i = 0; i < 2; ++i) std::printf("%d", !std::memcmp(&got[i], &got[2], sizeof start));
        std::printf(" ");
        ++k;
    }
}
"""
    (tmp_path / "a.cc").write_text(text)
    flags = ["-std=c++17", "-O1", "-w", f"-I{INCLUDE}", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, "-o", tmp_path / "a", tmp_path / "a.cc"], check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    wrong = [s for s, same in zip(chosen, done.stdout.split(), strict=True) if same != "11"]
    assert not wrong, (len(wrong), wrong[:3])


def test_an_output_that_a_pointer_leads_to(tmp_path: Path) -> None:
    """`"+l"(p), "=r"(*p)`: the word is that at the old p."""
    source = """__device__ unsigned* f(unsigned* p, unsigned n) {
  asm("add.u64 %0, %0, 4; mov.u32 %1, %2;" : "+l"(p), "=r"(*p) : "r"(n));
  return p;
}
__device__ void g(unsigned** p, unsigned long long n) { asm("add.u64 %0, %1, 4;" : "=l"(p[0]) : "l"(n)); }
"""
    with ClangService() as clang:
        text = translate(source, path="a.cuh", clang=clang).output.decode()
    main = "int main() { unsigned a[2] = {1, 2}; auto* p = f(a, 7); g(&p, (unsigned long long)a); "
    main += "return a[0] != 7 || p != a + 1; }"
    (tmp_path / "a.cc").write_text(f"#define __device__\n{text}{main}\n")
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    subprocess.run([compiler, "-std=c++17", "-w", f"-I{INCLUDE}", "-o", tmp_path / "a", tmp_path / "a.cc"], check=True)
    subprocess.run([tmp_path / "a"], check=True)
