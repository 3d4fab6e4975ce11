from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Include
from cu2port.facts.unit import Unit

_PREFIX = ("CUB_NS_PREFIX", "THRUST_NS_PREFIX")
_WRAPPED = ("CUB_WRAPPED_NAMESPACE", "THRUST_CUB_WRAPPED_NAMESPACE", "THRUST_WRAPPED_NAMESPACE")
_PATH = re.compile(r"\w+(?:\s*::\s*\w+)*\Z")
_OPENED = re.compile(r"(?:namespace\s+\w+\s*\{\s*)+\Z")


class CubNamespace(Check):
    """CUB or Thrust is put into a namespace of the program's own by a macro that hipCUB and rocThrust do not know.

    The program then says `mine::cub::DeviceScan`. An alias behind the include keeps these names: `mine::cub` is hipCUB.
    What the macro was for, two copies of CUB in one program, does not come about: hipCUB stays in its own namespace.
    rocThrust knows the macro for both, and hipCUB does not find it then, so that definition is taken out.
    """

    code, name, severity = "CU711", "cub-namespace", Severity.INFO
    triggers = frozenset({*_PREFIX, *_WRAPPED})
    examples = (
        Example(
            "#define CUB_NS_PREFIX namespace mine {\n#define CUB_NS_POSTFIX }\n#include <cub/cub.cuh>\n",
            "#define CUB_NS_PREFIX namespace mine {\n#define CUB_NS_POSTFIX }\n#include <hipcub/hipcub.hpp>\n"
            "namespace mine { namespace cub = ::hipcub; }\n",
        ),
        Example(
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <cub/cub.cuh>\n#undef CUB_WRAPPED_NAMESPACE\n",
            "#define CUB_WRAPPED_NAMESPACE mine\n#include <hipcub/hipcub.hpp>\n"
            "namespace mine { namespace cub = ::hipcub; }\n#undef CUB_WRAPPED_NAMESPACE\n",
        ),
        Example(
            "#define THRUST_CUB_WRAPPED_NAMESPACE mine\n#include <thrust/sort.h>\n#include <cub/cub.cuh>\n"
            "void f() { mine::thrust::sort(mine::thrust::cuda::par, p, q); }\n",
            "#include <thrust/sort.h>\n#include <hipcub/hipcub.hpp>\n"
            "namespace mine { namespace cub = ::hipcub; namespace thrust = ::thrust; }\n"
            "void f() { mine::thrust::sort(mine::thrust::hip::par, p, q); }\n",
            "Thrust's policies too",
        ),
        Example("#define CUB_NS_PREFIX namespace mine {\n", note="nothing of CUB is included"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(_PREFIX + _WRAPPED):
            return
        for word in (*_PREFIX, *_WRAPPED):
            for macro in unit.macros.get(word, ()):
                body = " ".join(unit.t[macro.first : macro.stop])
                if word in _WRAPPED and _PATH.match(body):
                    names = [part.strip() for part in body.split("::")]
                elif word in _PREFIX and _OPENED.match(body):
                    names = re.findall(r"namespace (\w+)", body)
                else:
                    continue
                yield from self._aliases(unit, macro.first, names, thrust=word != "CUB_NS_PREFIX")

    def _aliases(self, unit: Unit, first: int, names: list[str], *, thrust: bool) -> Iterator[Finding]:
        """The finding for one macro: after the last include that follows it, an alias for each library included."""
        later = [inc for inc in unit.includes if inc.start > unit.p[first]]
        cub = [inc for inc in later if _of(unit, inc, "cub")]
        both = cub + ([inc for inc in later if _of(unit, inc, "thrust")] if thrust else [])
        if not both:
            return
        last = max(both, key=lambda inc: inc.start)
        aliases = ["namespace cub = ::hipcub;"] if cub else []
        if len(both) > len(cub):
            aliases.append("namespace thrust = ::thrust;")
        text = f"{''.join(f'namespace {n} {{ ' for n in names)}{' '.join(aliases)}{' }' * len(names)}"
        if text in unit.text:
            return
        line = unit.text.find("\n", last.directive.end) + 1
        edit = insert(line, text + "\n") if line else insert(len(unit.text), "\n" + text)
        yield self.finding(
            f"hipCUB has no such macro; an alias makes `{'::'.join(names)}` lead to it",
            unit.p[first - 1],
            unit.end(first - 1),
            edits=(edit, *_dropped(unit, first)),
            trust=Trust.REVIEW,
            cuda=unit.t[first - 1] if unit.t[first - 1] in (*_PREFIX, *_WRAPPED) else "",
        )


def _dropped(unit: Unit, first: int) -> tuple[Edit, ...]:
    """Take out the definition with its body at token `first`, where it is Thrust's: HIP's header would follow it."""
    d = unit.in_directive(first)
    if d is None or not unit.tok(d.first + 2).startswith("THRUST_"):
        return ()
    start, line = unit.line_start(d.start), unit.text.find("\n", d.end) + 1
    return (replace(start, line or d.end, ""),)


def _of(unit: Unit, inc: Include, library: str) -> bool:
    return inc.path.startswith(library + "/") and inc.path not in unit.project.own
