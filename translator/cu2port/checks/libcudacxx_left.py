from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog import is_libcudacxx
from cu2port.catalog.api import api_facts
from cu2port.catalog.uses import owns_cuda
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import is_class

_SHOWN = 6


class LibcudacxxLeft(Check):
    """Names of libcu++ stay under their CUDA names, while others of the file became std's, or unseen by other rules.

    Two ways lead on, and each fixes the whole file: replace what stays as its own finding says (CU103), or build with
    AMD's libhipcxx, a separate download that has the same headers and names, with hip/hip_runtime.h included first.

    What moved to std works with either, since values of both libraries meet only through plain types; a barrier of
    libhipcxx wants its own `cuda::thread_scope_block` back. A name that is reached through `using namespace cuda::std`
    is listed too: it would be found in std, and std::barrier is host code.
    """

    code, name, severity = "CU710", "libcudacxx-left", Severity.WARNING
    triggers = frozenset({"cuda"})
    minutes = 2
    examples = (
        Example(
            "__device__ void f(cuda::atomic_flag &a, cuda::std::array<int, 2> b) { a.clear(b[0]); }",
            "#include <hip/hip_runtime.h>\n"
            "__device__ void f(cuda::atomic_flag &a, std::array<int, 2> b) { a.clear(b[0]); }",
            findings=1,
            path="a.cu",
        ),
        Example(
            "using namespace cuda::std;\n__device__ void f(barrier<> &a, array<int, 2> b) { a.wait(b[0]); }",
            "using namespace std;\n__device__ void f(barrier<> &a, array<int, 2> b) { a.wait(b[0]); }",
            note="a name without its namespace",
            findings=1,
        ),
        Example(
            "#include <cuda/latch>\nusing namespace cuda;\nlatch<thread_scope_block> *b;\n",
            "#include <cuda/latch>\nusing namespace cuda;\nlatch<thread_scope_block> *b;\n",
            note="a namespace that HIP lacks",
            findings=1,
        ),
        Example(
            "#define A cuda::latch<cuda::std::size_t>\n",
            "#define A cuda::latch<std::size_t>\n",
            note="in the body of a macro",
        ),
        Example(
            "#include <cuda/stream>\ncuda::experimental::stream s;\n",
            "#include <cuda/stream>\ncuda::experimental::stream s;\n",
            note="a name that the catalogue does not know",
            findings=1,
        ),
        Example(
            "__device__ void f(cuda::std::array<int, 2> b) { using namespace std; }", note="all of it became std's"
        ),
        Example(
            "namespace mine { namespace cuda { struct sum {}; } }\nusing namespace mine::cuda;\nusing namespace cuda;\n"
            "std::string s; cuda::sum m;\n",
            note="the project's own namespace, and std beside it",
        ),
        Example(
            '#include "cuda_wrapper/vector.hpp"\nusing namespace cuda;\ncuda::event e;\ncuda::barrier b;\n',
            note="another library's namespace",
        ),
        Example("struct cuda { static int atomic; }; int x = cuda::count;", note="another's cuda"),
        Example(
            "namespace mine { namespace cuda { struct maximum {}; } cuda::maximum m; cuda::barrier b; }",
            note="the project's own namespace",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "cuda" not in unit.words or owns_cuda(unit):
            return
        names_of_api = [f for same in api_facts(unit).findings.values() for f in same]
        libcudacxx = [f for f in names_of_api if f.cuda.startswith("cuda::")]
        left = {f.start: f.cuda for f in libcudacxx if not f.edits}
        silent = {unit.p[i]: name for i, name in _unqualified(unit)}
        if libcudacxx or any(is_libcudacxx(inc.path) for inc in unit.includes):
            others = {f.start for f in names_of_api}  # `cuda::par` is Thrust's below `using namespace thrust`
            silent |= {unit.p[i]: name for i, name in _unknown(unit) if unit.p[i] not in others}
        moved = len({f.cuda for f in libcudacxx if f.edits})
        if not silent and not (left and moved):
            return  # each name that stays has its own finding, and the file is not in two halves
        left |= silent
        start = min(left)
        names = sorted(set(left.values()))
        shown = ", ".join(f"`{n}`" for n in names[:_SHOWN]) + (
            f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN)
        )
        rest = f"; {moved} other{'s' * (moved > 1)} became std's" if moved else ""
        verb = "stays as it is" if len(names) == 1 else "stay as they are"
        i = unit.lexed.at(start)
        yield self.finding(
            f"of libcu++, {shown} {verb}{rest}", start, unit.end(i), cuda=names[0], effects=(("all", "compile-error"),)
        )


def _unknown(unit: Unit) -> Iterator[tuple[int, str]]:
    """Names in `cuda` that no row knows, where nobody else has a namespace `cuda`: (index, full name)."""
    if unit.owns("cuda"):
        return
    places = unit.find("cuda")
    if any(d.kind == "namespace" or is_class(unit.t, d) for d in unit.declarations.named("cuda")):
        return
    for i in places:
        name, k = "cuda", i
        outer = unit.tok(i - 1) == "::" and is_identifier(unit.tok(i - 2) or ";")
        while unit.tok(k + 1) == "::" and is_identifier(unit.tok(k + 2) or ";"):
            k += 2
            name += "::" + unit.t[k]
            if unit.catalog.get(name) is not None:
                break
        else:
            if k > i and not outer and not unit.is_member(i):
                yield i, name


def _unqualified(unit: Unit) -> Iterator[tuple[int, str]]:
    """Tokens that `using namespace cuda` or `cuda::std` brings in and that have no counterpart: (index, full name)."""
    for i in unit.find("using"):
        if unit.t[i + 1 : i + 3] != ["namespace", "cuda"]:
            continue
        inner = unit.tok(i + 4) if unit.tok(i + 3) == "::" else ""
        if inner not in ("", "std") or unit.tok(i + (5 if inner else 3)) != ";":
            continue
        space = "cuda::std::" if inner else "cuda::"
        if not inner:
            yield i + 2, "cuda"
        for word in unit.words:
            row = unit.catalog.get(space + word) if is_identifier(word) else None
            if row is None or row.mapping != "unsupported" or unit.owns(word):
                continue
            for k in unit.find(word):
                qualified = unit.tok(k - 1) in ("::", ".", "->") or unit.tok(k + 1) == "::"
                if (
                    k > i
                    and not qualified
                    and unit.in_directive(k) is None
                    and unit.tok(k + 1) in ("<", "(", ",", ">", ")")
                ):
                    yield k, space + word
