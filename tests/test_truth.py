"""Conditions in three-valued truth, against clang's preprocessor under HIP's macros, on host and device."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cu2port import Options, translate
from cu2port.facts.atoms import of_pass
from cu2port.facts.clang import ClangService
from cu2port.syntax.conditions import ONE, SET, UNDEFINED, UNKNOWN, Macro, truth
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import lex

KNOWN = {"A": UNDEFINED, "B": ONE, "C": Macro(True, Constant(700, "long long"), True), "S": SET}


def _truth(text: str) -> bool | None:
    return truth(lex(text).t, lambda name: KNOWN.get(name, UNKNOWN))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("defined(A) || B", True),
        ("defined A && X", False),
        ("X && defined(A)", False),
        ("X || B", True),
        ("X", None),
        ("X || !X", None),
        ("!defined(X)", None),
        ("S", True),
        ("S == 0", False),
        ("S != 0", True),
        ("S >= 3", None),
        ("C >= 600 && C < 800", True),
        ("C >> 2 == 175", True),
        ("A == 0", True),
        ("(B ? C : 1) == 700", True),
        ("X ? 1 : 2", True),
        ("-1 > 0u", True),
        ("0xffffffff < 0", False),
        ("-1 < 0xffffffff", True),
        ("1 / 0", None),
        ("0 && 1 / 0", False),
        ("__has_include(<x.h>) && A", False),
        ("__has_include(<x.h>)", None),
        ("not A and B", True),
        ("", None),
        ("B B", None),
        ("(B", None),
        ("defined", None),
        ("'a' == 97", True),
        ("true", True),
    ],
)
def test_truth(text: str, wanted: bool | None) -> None:
    assert _truth(text) is wanted


@given(st.text(alphabet="ABCX()!&|<>=+-*/%?:01 \t", max_size=40))
def test_no_text_is_an_exception(text: str) -> None:
    _truth(text)


def test_depth_and_length_have_limits() -> None:
    assert _truth("(" * 5000 + "B" + ")" * 5000) is None
    assert _truth("!" * 5000 + "B") is None
    assert _truth("B" + " && B" * 100_000) is None


# --- against clang ----------------------------------------------------------------------------------------------------

CLANG = shutil.which("clang-22") or shutil.which("clang++-22")
NAMES = (
    "__HIP__ __HIPCC__ __HIP_PLATFORM_AMD__ USE_ROCM __HIP_DEVICE_COMPILE__ __CUDACC__ __CUDA_ARCH__ __NVCC__ "
    "CUDA_VERSION CUDART_VERSION __AMDGCN__ __CUDA_ARCH_SPECIFIC__ __CUDA_ARCH_FEAT_SM90_ALL OTHER THING"
).split()
OPERATORS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "&", "|", "^", "/", "%", "<<")


def _condition(rng: random.Random, depth: int) -> str:
    roll = rng.random()
    if depth <= 0 or roll < 0.25:
        name = rng.choice(NAMES)
        return rng.choice(
            (name, f"defined({name})", f"defined {name}", str(rng.choice((0, 1, 2, 600, 800, 12000, "3u"))))
        )
    if roll < 0.4:
        return f"!{_condition(rng, 0)}" if rng.random() < 0.5 else f"!({_condition(rng, depth - 1)})"
    if roll < 0.48:
        return f"(({_condition(rng, depth - 1)}) ? ({_condition(rng, depth - 1)}) : {_condition(rng, depth - 1)})"
    op = rng.choice(("&&", "||")) if rng.random() < 0.6 else rng.choice(OPERATORS)
    a, b = _condition(rng, depth - 1), _condition(rng, depth - 1)
    return f"{a} {op} {b}" if rng.random() < 0.5 else f"({a}) {op} ({b})"


@pytest.mark.skipif(CLANG is None, reason="clang-22 is not here")
def test_verdicts_are_those_of_clang(tmp_path: Path) -> None:
    """Every verdict that is given is what `clang -E` takes, in HIP's host and device pass, whatever else is defined."""
    rng = random.Random(20)
    conditions = [_condition(rng, 4) for _ in range(1500)]
    text = "".join(f"#if {c}\n+ {n}\n#else\n- {n}\n#endif\n" for n, c in enumerate(conditions))
    source = tmp_path / "a.hip"
    source.write_text(text)
    given = 0
    for device in (False, True):
        side = "--cuda-device-only" if device else "--cuda-host-only"
        for more in ([], ["-DOTHER=1", "-DTHING=700"]):
            flags = [
                side,
                "-nogpuinc",
                "-nogpulib",
                "--offload-arch=gfx942",
                "-D__HIP_PLATFORM_AMD__=1",
                "-DUSE_ROCM=1",
            ]
            done = subprocess.run(
                [str(CLANG), "-x", "hip", "-E", "-P", "-w", "-ferror-limit=0", *flags, *more, os.fspath(source)],
                capture_output=True,
                text=True,
                check=False,
            )
            bad = {int(x.split(":")[1]) // 5 for x in done.stderr.splitlines() if "error:" in x and "a.hip:" in x}
            taken = {int(x[2:]): x[0] == "+" for x in done.stdout.splitlines() if x[:2] in ("+ ", "- ")}
            assert len(taken) > 1000
            for n, condition in enumerate(conditions):
                verdict = truth(lex(condition).t, of_pass(device))
                if verdict is not None and n not in bad:
                    given += 1
                    assert verdict is taken[n], (condition, device, more)
    assert given > 2000


# --- --skip-inactive --------------------------------------------------------------------------------------------------

#: A condition; whether its branch and the `#else` are converted.
SKIPPED = [
    ("#if CUDA_VERSION < 12000", False, True),
    ("#if CUDA_VERSION >= 12000", True, False),
    ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300", False, True),
    ("#ifdef __CUDA_ARCH__", True, True),
    ("#ifdef __CUDACC__", True, False),
    ("#ifndef __NVCC__", False, True),
    ("#if __CUDA_ARCH_SPECIFIC__ == 1200", False, True),
    ("#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000", False, True),
    ("#ifndef __CUDA_ARCH_FEAT_SM100_ALL", True, False),
    ("#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)", False, True),
    ("#if !defined(__CUDA_ARCH_HAS_FEATURE__) || !__CUDA_ARCH_HAS_FEATURE__(SM100_ALL)", True, False),
    ("#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL) && OTHER(SM90_ALL)", False, True),
    ("#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL) || OTHER(SM90_ALL)", True, True),
    ("#if 0", False, True),
    ("#if defined(OTHER) && CUDA_VERSION < 12000", False, True),
    ("#if defined(OTHER) || CUDA_VERSION >= 12000", True, False),
    ("#if defined(OTHER) && CUDA_VERSION >= 12000", True, True),
]


@pytest.mark.parametrize(("condition", "first", "second"), SKIPPED)
@pytest.mark.parametrize("asked", [True, False])
def test_what_is_skipped_is_what_hip_leaves_out(condition: str, first: bool, second: bool, asked: bool) -> None:
    """A branch that HIP may take in the output is converted, whatever nvcc would do with it."""
    text = f"{condition}\nvoid f(int* p) {{ cudaFree(p); }}\n#else\nvoid f(int* p) {{ cudaFree(p); }}\n#endif\n"
    with ClangService() as service:
        options = Options(skip_inactive=True, use_clang=asked)
        made = translate(text, options, path="a.h", clang=service if asked else None).output.decode()
    assert ["hipFree" in part for part in made.split("#else")] == [first, second]


@pytest.mark.parametrize(("condition", "first", "second"), SKIPPED)
def test_what_hip_leaves_out_is_no_work(condition: str, first: bool, second: bool) -> None:
    """A name without counterpart is work where HIP may read it, and for information where HIP never does."""
    call = "void f() { cudaGraphicsD3D9RegisterResource(0, 0, 0); }"
    judged = translate(f"{condition}\n{call}\n#else\n{call}\n#endif\n", path="a.h").findings
    mine = sorted((j for j in judged if "D3D9" in j.finding.message), key=lambda j: j.finding.start)
    assert [j.open for j in mine] == [first, second]
    assert ["leaves this branch out" not in j.finding.message for j in mine] == [first, second]
