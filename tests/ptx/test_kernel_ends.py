"""What ends a thread, and statements that say nothing to a GPU."""

from __future__ import annotations

import pytest

from cu2port.engine.translate import translate


def converted(text: str) -> str:
    return translate(text, path="k.cu").output.decode()


@pytest.mark.parametrize(
    "body",
    ('asm("exit;");', 'if (p[0]) { asm volatile("exit;"); }', 'for (;;) asm volatile("exit;");', '{ asm("exit;"); }'),
)
def test_exit_in_a_kernel_returns(body: str) -> None:
    text = converted(f"__global__ void k(int* p) {{ {body} p[1] = 2; }}")
    assert "return;" in text and "asm" not in text and "untranslated" not in text


@pytest.mark.parametrize(
    "text",
    (
        '__device__ void f(int* p) { asm("exit;"); }',
        '__global__ void k(int* p) { auto f = [&] { asm("exit;"); }; f(); }',
        '__global__ void k(int* p) { auto f = [&](int i) { if (i) { asm("exit;"); } }; f(1); }',
        '__global__ void k(int* p) { struct S { __device__ void f() { asm("exit;"); } } s; s.f(); }',
        '#define END asm("exit;")\n__global__ void k(int* p) { END; }',
    ),
)
def test_exit_elsewhere_stays(text: str) -> None:
    assert "return;" not in converted(text)


def test_a_pragma_is_nothing() -> None:
    text = converted('__global__ void k(int* p) { asm volatile(".pragma \\"nounroll\\";"); p[0] = 1; }')
    assert "pragma" not in text and "untranslated" not in text and "p[0] = 1;" in text


def test_registers_for_statements_of_other_functions_are_still_refused() -> None:
    text = converted(
        '__device__ void f() { asm(".reg .b32 t;"); }\n__global__ void k(int* p) { asm("mov.b32 t, 1;"); }'
    )
    assert text.count("untranslated(") == 2
