from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.promised_templates import Template, path_of, promised, templates
from cu2port.facts.unit import Unit

_MOST_WORDS = 60  # tokens from `static` to the name


class StaticTemplate(Check):
    """A function template is defined with `static`, and a declaration of it before has no such word.

    gcc takes the linkage from the declaration, and so does nvcc: other files call the template. clang stops at the
    word, which is dropped.
    """

    code, name, severity = "CU271", "static-template", Severity.INFO
    true_of_cuda = True
    triggers = frozenset({"static"})
    examples = (
        Example(
            "template <class T> int pick(const T* a);\n"
            "template <class T> static int pick(const T* b) { return b[0]; }\n",
            "template <class T> int pick(const T* a);\ntemplate <class T> int pick(const T* b) { return b[0]; }\n",
        ),
        Example(
            "namespace a { template <bool, class V> int pick(V*); }\n"
            "namespace a { template <bool x, class T> static __host__ int pick(T* p) { return CHECK(x); } }\n",
            "namespace a { template <bool, class V> int pick(V*); }\n"
            "namespace a { template <bool x, class T> __host__ int pick(T* p) { return CHECK(x); } }\n",
            "parameters of other names, in a namespace",
        ),
        Example(
            "template <class T> int pick(T a);\ntemplate <class T> static int pick(T* a) { return 0; }\n"
            "template <class T> static int find(T a);\ntemplate <class T> static int find(T a) { return 0; }\n"
            "struct S { template <class T> int get(T a); };\n"
            "template <class T> static int get(T a) { return 0; }\n",
            note="an overload, one that is static before too, and a member",
        ),
        Example(
            "#define GET template <class T> static int get(T a) { return 0; }\ntemplate <class T> int get(T a);\n",
            note="in a macro body, where each use is a definition of its own",
        ),
        Example(
            "template <class T> int get(T a);\nONCE(template <class T> static int get(T a) { return 0; })\n",
            note="as a macro's argument, where it may be no declaration",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "template" not in unit.words:
            return
        found = templates(unit.text)
        names = {x.name for x in found if x.defined}
        here = set(promised((x for x in found if x.name in names), lambda: unit.declarations))
        for x in found:
            if not x.defined or not (here or x.name in unit.others):
                continue
            path = path_of(unit.declarations, x)
            if path and ((x.name, path) in here or path in unit.others.get(x.name, ())):
                yield from self._without(unit, x)

    def _without(self, unit: Unit, x: Template) -> Iterator[Finding]:
        at = unit.lexed.at(x.at)
        k = next((k for k in range(at - 1, at - _MOST_WORDS, -1) if unit.tok(k) == "static"), -1)
        if k >= 0 and unit.lexed.directive_index(k) < 0:
            yield self.finding(
                f"`{x.name}` is declared without `static` before, and clang does not allow it here",
                unit.p[k],
                unit.end(k),
                (replace(unit.p[k], unit.p[k + 1], ""),),
                effects=(("all", "compile-error"),),
            )
