"""The page of every rule, as `explain` prints it, as `docs/rules/` holds it, and as SARIF carries it.

It is made from the class of a check (docstring and examples) or from the row of a rule on files. Nothing else
describes a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from cu2port.build.pages import BUILD_RULES
from cu2port.build.rule import BuildRule
from cu2port.core.families import BUILD, FAMILIES, OWN, family
from cu2port.core.file_rules import BAD_SUPPRESSION, FILE_RULES, UNUSED_SUPPRESSION
from cu2port.engine.check import Example
from cu2port.lint.select import default_rules


@dataclass(frozen=True, slots=True)
class Page:
    """A rule: `body` is all that is said of it, `title` the first line of that, `why` the paragraph after it."""

    code: str
    name: str
    severity: str
    body: str
    examples: tuple[Example, ...] = ()
    language: str = "cpp"  # of the examples

    @property
    def title(self) -> str:
        return self.body.partition("\n")[0]

    @property
    def paragraphs(self) -> list[str]:
        """What follows the title; those that are indented (code, lists) keep their lines."""
        return [p for p in self.body.partition("\n")[2].split("\n\n") if p.strip()]

    @property
    def why(self) -> str:
        return " ".join(self.paragraphs[0].split()) if self.paragraphs else ""

    @property
    def text(self) -> str:
        """The page for a terminal."""
        tail = ("", self.in_lint.replace("`", "")) if self.in_lint else ()
        return "\n".join((self.body, *_text_examples(self.examples), *tail))

    @property
    def markdown(self) -> str:
        """The page as Markdown, without its heading."""
        parts = [self.title, *(p.strip("\n") for p in self.paragraphs)]
        tail = ("## In lint", self.in_lint) if self.in_lint else ()
        return "\n\n".join((*parts, *_markdown_examples(self.examples, self.language), *tail))

    @property
    def in_lint(self) -> str:
        """Whether `cu2port lint` looks for it by itself, and how to silence it; nothing of what is said of files."""
        if self.code in (UNUSED_SUPPRESSION.code, BAD_SUPPRESSION.code):
            return "Looked for by default."  # a comment that silences it would be another of its kind
        if OWN.has(self.code) or BUILD.has(self.code):
            return ""
        chosen = "Looked for by default" if self.code in default_rules() else f"Needs `--extend-select {self.name}`"
        return f"{chosen}. Silence a place with `// cu2port: ignore[{self.name}] reason`."


@lru_cache(maxsize=1)
def pages() -> Mapping[str, Page]:
    """Code -> page of every rule: checks, and what cu2port says of files and comments; by code."""
    from cu2port.checks import all_checks

    found = {c.code: Page(c.code, c.name, c.severity.value, c.page, c.examples) for c in all_checks()}
    found |= {t.code: Page(t.code, t.name, t.severity.value, t.page) for t in FILE_RULES.values()}
    found |= {r.code: _of_build(r) for r in BUILD_RULES.values()}
    return dict(sorted(found.items()))


def _of_build(rule: BuildRule) -> Page:
    examples = tuple(Example(e.before, e.after, e.name if e.name != "CMakeLists.txt" else "") for e in rule.examples)
    return Page(rule.code, rule.name, rule.severity.value, rule.page, examples, "cmake")


def file_name(page: Page) -> str:
    """What its file in `docs/rules/` is called."""
    return f"{page.code}-{page.name}.md"


def documents() -> dict[str, str]:
    """Path below `docs/` -> text: an index, and a page a rule."""
    out = {f"rules/{file_name(p)}": _document(p) for p in pages().values()}
    lines = [
        "# Rules",
        "",
        "Made from the rules themselves: `pytest tests/test_docs.py --update` writes this file and the pages. `cu2port",
        "explain CODE` prints a page.",
    ]
    for f in FAMILIES.values():
        rows = [p for p in pages().values() if f.has(p.code)]
        if rows:
            lines += [
                "",
                f"## {f.prefix}xx: {f.title}",
                "",
                "| rule | severity | what is there |",
                "| --- | --- | --- |",
            ]
            lines += [f"| [{p.code} {p.name}](rules/{file_name(p)}) | {p.severity} | {_cell(p.title)} |" for p in rows]
    return {"rules.md": "\n".join(lines) + "\n", **out}


def _document(page: Page) -> str:
    head = f"# {page.code} {page.name}\n\n*{page.severity}*, of the family [{family(page.code).title}](../rules.md)\n\n"
    return f"{head}{page.markdown}\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _text_examples(examples: tuple[Example, ...]) -> Iterator[str]:
    for e in examples:
        yield ""
        if e.note:
            yield e.note.rstrip(".:") + ":"
        if e.after is None:
            yield marked("ok     ", e.before)
        elif e.after == e.before:
            yield marked("found  ", e.before)
        else:
            yield marked("before ", e.before)
            yield marked("after  ", e.after)


def marked(mark: str, text: str) -> str:
    """A piece of code with a mark before its first line."""
    lines = text.rstrip("\n").split("\n")
    return "\n".join([f"  {mark}| {lines[0]}", *(f"  {' ' * len(mark)}| {x}" for x in lines[1:])])


def _markdown_examples(examples: tuple[Example, ...], language: str) -> Iterator[str]:
    groups = (
        ("Rewritten", [e for e in examples if e.after is not None and e.after != e.before]),
        ("Reported", [e for e in examples if e.after == e.before]),
        ("Left alone", [e for e in examples if e.after is None]),
    )
    for title, found in groups:
        if not found:
            continue
        yield f"## {title}"
        for e in found:
            if e.note:
                yield e.note[0].upper() + e.note[1:].rstrip(".:") + ":"
            yield _fence(e.before, language)
            if e.after is not None and e.after != e.before:
                yield "becomes"
                yield _fence(e.after, language)


def _fence(code: str, language: str) -> str:
    """A block of code; the fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in code).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip(chr(10))}\n{fence}"
