"""The documents that are made from the code are what the code would make now."""

from __future__ import annotations

import inspect
import re
import textwrap
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.report.pages import documents, pages

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def test_rule_pages_are_fresh(update: bool) -> None:
    wanted = documents()
    if update:
        for path in (DOCS / "rules").glob("*.md"):
            path.unlink()
        (DOCS / "rules").mkdir(exist_ok=True)
        for name, text in wanted.items():
            (DOCS / name).write_text(text, encoding="utf-8")
    there = {p.relative_to(DOCS).as_posix() for p in (DOCS / "rules").glob("*.md")} | {"rules.md"}
    assert there == set(wanted), "run `pytest tests/test_docs.py --update`"
    stale = [name for name, text in wanted.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not stale, "run `pytest tests/test_docs.py --update`"


def commands_page() -> str:
    """docs/commands.md: every command with its help and its options, as click has them."""
    out = [
        "# Commands and options",
        "",
        "Made from the command line itself: `pytest tests/test_docs.py --update` writes this file.",
        "",
        *_help(cli),
    ]
    for name, command in cli.commands.items():
        arguments = [p.make_metavar(click.Context(command)) for p in command.params if isinstance(p, click.Argument)]
        out += [f"## {name}", "", f"`{' '.join(['cu2port', name, '[OPTIONS]', *arguments])}`", "", *_help(command)]
        options = [p for p in command.params if isinstance(p, click.Option)]
        if options:
            out += ["| option | meaning |", "| --- | --- |", *map(_option, options), ""]
    return "\n".join(out)


def _help(command: click.Command) -> list[str]:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return [line for p in paragraphs for line in (*textwrap.wrap(" ".join(p.split()), 120), "")]


def _option(option: click.Option) -> str:
    values = "|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.metavar or ""
    names = ", ".join((*option.opts, *option.secondary_opts)) + (f" {values}" if values else "")
    return "| `" + names.replace("|", "\\|") + "` | " + (option.help or "").replace("|", "\\|") + " |"


def test_the_page_of_commands_is_fresh(update: bool) -> None:
    page = DOCS / "commands.md"
    if update:
        page.write_text(commands_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == commands_page(), "run `pytest tests/test_docs.py --update`"


@pytest.mark.parametrize("code", sorted(pages()))
def test_explain_prints_the_page(code: str) -> None:
    page = pages()[code]
    for key in (code, page.name):
        shown = CliRunner().invoke(cli, ["explain", key]).stdout
        assert shown == f"{code} {page.name}\n\n{page.text}\n"
    assert page.title.endswith(".")
    assert page.why


def documents_of_ours() -> list[Path]:
    return [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def anchors(document: Path) -> set[str]:
    """What a link to a heading of the document may say, as GitHub makes it of the heading."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)", text, re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.lower())).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return set(found)


def lost_links(document: Path) -> list[str]:
    """Links of the document that lead to no file, or to no heading of one."""
    lost = []
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", text):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            to = document.parent / path if path else document
            if not to.exists() or (anchor and anchor not in anchors(to)):
                lost.append(f"{document.name}: {target}")
    return lost


@pytest.mark.parametrize("folder", ["", "docs", "docs/history", "docs/rules"])
def test_links_between_documents_lead_somewhere(folder: str) -> None:
    lost = [link for d in documents_of_ours() if d.parent == ROOT / folder for link in lost_links(d)]
    assert not lost


def test_a_lost_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# A: `b`'s C\n## Twice\n## Twice\n[x](#a-bs-c) [x](a.md#twice-1) [x](b.md) [y](#twice-2) [z](a.md#d)\n"
    )
    assert lost_links(page) == ["a.md: b.md", "a.md: #twice-2", "a.md: a.md#d"]


def test_the_index_names_every_document_once() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| \[[^]]*\]\(([^)]*)\)", index, re.M)
    there = {p.name for p in DOCS.glob("*.md")} - {"README.md"} | {
        "../README.md",
        "../CONTRIBUTING.md",
        "history/README.md",
    }
    assert sorted(named) == sorted(there)
    history = (DOCS / "history" / "README.md").read_text(encoding="utf-8")
    kept = re.findall(r"^\| \[[^]]*\]\(([^)]*)\)", history, re.M)
    assert sorted(kept) == sorted(p.name for p in (DOCS / "history").glob("*.md") if p.name != "README.md")


def test_what_is_claimed_today_is_short_and_names_what_gives_it() -> None:
    """Tools, benchmarks and tests that the page names are there; the older figures are in docs/history/."""
    text = (DOCS / "validation.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    named = re.findall(r"\b(?:tools|benchmarks|tests)/[\w./*]+\w", text)
    assert len(named) > 30
    assert not [n for n in named if not list(ROOT.glob(n))]


def test_measuring_names_every_tool() -> None:
    text = (DOCS / "measuring.md").read_text(encoding="utf-8")
    scripts = [p for folder in ("tools", "benchmarks") for p in (ROOT / folder).glob("*.py")]
    parts = {"scaling_patterns.py", "warp_model.py", "tables.py"}  # imported by others
    assert not [p.name for p in scripts if p.name not in text and p.name not in parts]


def test_numbers_of_the_readme_are_those_of_the_code() -> None:
    """The README counts what is in the tree; figures that were measured are in docs/validation.md alone."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    samples = len(list((ROOT / "samples").glob("*/input.cu")))
    assert f"holds {samples} small CUDA programs" in readme
    assert f"{samples} samples" in (DOCS / "validation.md").read_text(encoding="utf-8")
    prose = re.sub(r"<!-- coverage.*?/coverage -->|^```.*?^```$|`[^`\n]*`", "", readme, flags=re.S | re.M)
    assert not re.findall(r"\b\d[\d,.]* (?:s|ms|MB|files/s|lines/s|%|findings|projects)(?!\w)", prose)


def test_every_table_that_is_written_is_listed_with_who_writes_it() -> None:
    """Tables between comments, and whole pages that say of themselves what writes them, are those of measuring.md."""
    listed = (DOCS / "measuring.md").read_text(encoding="utf-8").partition("## Tables that tools write")[2]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", listed.partition("\n## ")[0], re.M)[2:]
    tables: set[str] = set()
    for page in documents_of_ours():
        text = page.read_text(encoding="utf-8")
        tables.update(name for name in re.findall(r"^<!-- ([\w-]+)", text, re.M) if name != "end")
        if page.parent == DOCS and re.search(r"^Made from .*`(?:pytest|tools/)", text, re.M):
            tables.add(page.name)
    named = [re.sub(r"^all of | in .*| and rules/|`", "", first) for first, _ in rows]
    assert sorted(tables) == sorted(named)
    tools = [word for _, how in rows for word in re.findall(r"(?:tools|tests)/[\w/]+\.py", how)]
    assert len(tools) >= len(rows)
    assert not [name for name in tools if not (ROOT / name).is_file()]


def test_the_design_names_every_module() -> None:
    """Every module, or a folder that holds it, is in the table of rooms, and what is named is there."""
    package = ROOT / "translator" / "cu2port"
    table = (DOCS / "design.md").read_text(encoding="utf-8").partition("## The rooms")[2].partition("\n## ")[0]
    named = [n for cell in re.findall(r"^\| (.*?) \|", table, re.M) for n in re.findall(r"`([^`]*)`", cell)]
    modules = [p.relative_to(package).as_posix() for p in package.rglob("*.py") if not p.name.startswith("__")]
    whole = tuple(n for n in named if n.endswith("/"))
    assert not [m for m in modules if m not in named and not m.startswith(whole)]
    assert not [n for n in named if not list(package.glob(n)) and not list(ROOT.glob(n))]


def test_codes_and_files_that_documents_name_are_there() -> None:
    lost = []
    for page in documents_of_ours():
        if page.parent.name == "history":
            continue
        text = page.read_text(encoding="utf-8")
        lost += [f"{page.name}: {code}" for code in re.findall(r"\bCU\d{3}\b", text) if code not in pages()]
        if page.parent == ROOT or page.name in ("design.md", "measuring.md"):
            named = re.findall(r"(?<![\w/])(?:tools|benchmarks|tests|translator)/[\w./*-]*\w", text)
            lost += [f"{page.name}: {name}" for name in named if not list(ROOT.glob(name))]
    assert not lost


def test_where_to_look_names_files_that_are_there() -> None:
    text = (DOCS / "design.md").read_text(encoding="utf-8").partition("## Where to look")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 5
    assert not [n for n in named if not (ROOT / "translator" / "cu2port" / n).is_file()]


def test_the_design_gives_each_dependency_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = {re.split(r"[^\w-]", x)[0] for x in (*project["dependencies"], *extras["test"], *extras["verify"])}
    table = (DOCS / "design.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    listed = {x.strip() for row in re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE) for x in row.split(",")}
    assert names - listed == set()
