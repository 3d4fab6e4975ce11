"""The reports of a tree that is as bad as one may be stay within their bounds, and their numbers true."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cu2port.audit.build_lines import BuildLine
from cu2port.audit.collect import HAND, NONE, REVIEW, SELF, FileAudit, Found, Kernel
from cu2port.audit.document import build, schema
from cu2port.audit.requirements import REQUIREMENTS, Requirement
from cu2port.catalog import load_catalog
from cu2port.core.locate import Place
from cu2port.core.record import Entry
from cu2port.report import audit_parts
from cu2port.report.formats import html, md
from cu2port.report.formats import text as text_format
from cu2port.report.pages import pages

FOLDER = "a_folder_with_a_long_name/and_one_more_below_it_that_is_no_shorter"


def large(files: int = 1_000, findings: int = 40) -> dict[str, Any]:
    """An audit of so many files with so many findings each."""
    catalog = load_catalog()
    names = [row.cuda for row in catalog if row.library in ("runtime", "cublas", "cudnn")]
    looked_at = [_file(n, findings, names) for n in range(files)]
    includes = {f.path: [looked_at[(n * 7) % files].path] for n, f in enumerate(looked_at)}
    builds = [BuildLine(f"{FOLDER}/CMakeLists_{n}.txt", n, f"says {n % 9}", "instead", "x" * 200) for n in range(900)]
    options = {"inputs": ["tree"], "rocm": [7, 1], "archs": [], "warp": "logical", "include_dirs": [], "defines": []}
    return build(looked_at, includes, builds, (), catalog, options)


def _file(n: int, findings: int, names: list[str]) -> FileAudit:
    codes = sorted(c for c in pages() if not c.startswith("CU9"))
    harms = ("hang", "wrong-result", "compile-error", "slower")
    found = []
    for k in range(findings):
        code, number = codes[(n + k) % len(codes)], n * findings + k
        text = f"`value_{number:x}` of `part_{number * 7919:x}` goes where it should not, and here is why it does"
        line = f"    value_{number:x} = call_{number * 31:x}(argument_{k}, other_{n}); // " + "x" * (number % 150)
        place = Place(k * 9 + 1, 5, 0)
        found.append(
            Found(
                Entry(
                    code, pages()[code].name, "warning", text, "manual", "manual", place, place,
                    (("wave64", harms[number % 4]),), (f"because of {number} " * 12,), names[number % len(names)], "",
                ),
                (HAND, NONE, REVIEW)[number % 3], line, line.upper(),
            )
        )  # fmt: skip
    ways = [SELF, REVIEW, HAND, NONE]
    return FileAudit(
        path=f"{FOLDER}/part_{n % 50:02}/kernels_of_the_number_{n:04}.cu",
        lines=findings * 10,
        cuda=True,
        found=tuple(found),
        ways=tuple((way, findings // 4) for way in ways),
        names=tuple((name, 3) for name in names[n % 90 :: 90]),
        kernels=tuple(Kernel(f"kernel_{n}_{k}", k * 50 + 1, k * 50 + 40, ways[k % 4]) for k in range(6)),
        ptx=tuple((f"instruction_{(n * 5 + k) % 3000}.of.many.u32", "", k % 2 == 0, 3) for k in range(5)),
        requirements=tuple(Requirement(key, 1, f"word_{n}") for key in list(REQUIREMENTS)[n % 5 :]),
        defines=frozenset({f"function_{n}"}),
        calls=frozenset({f"function_{(n * 3) % 1000}"}),
    )


@pytest.fixture(scope="module")
def doc() -> dict[str, Any]:
    return large()


class Ids(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.rows = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if tag == "a" else []
        self.rows += tag == "tr" and "data-code" in found


@pytest.mark.slow
def test_the_page_of_a_thousand_files_is_small_enough(doc: dict[str, Any]) -> None:
    assert (doc["summary"]["cuda_files"], len(doc["findings"])) == (1_000, 40_000)
    text = html.of_audit(doc)
    assert len(text.encode()) < 5_000_000
    page = Ids(text)
    assert page.rows == 2_000
    assert "and 38000 more kinds of findings" in text
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


@pytest.mark.slow
def test_a_page_that_would_be_too_large_shows_less(doc: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_BYTES", 700_000)
    text = html.of_audit(doc)
    assert len(text.encode()) <= 700_000
    rows = Ids(text).rows
    assert 0 < rows < 2_000
    assert f"and {40_000 - rows} more kinds of findings" in text
    assert f"<b>{40_000 - len([x for x in doc['findings'] if x['way'] == 'review']):,}</b>" in text


def test_no_word_is_too_long_for_the_page() -> None:
    worst = large(files=3, findings=3)
    for x in worst["findings"]:
        x["before"] = x["message"] = "`" + "x" * 3_000_000
    worst["requirements"][0]["places"][0][2] = "y" * 6_000_000
    assert len(html.of_audit(worst)) < 1_000_000


@pytest.mark.slow
def test_the_sums_hold_and_the_schema(doc: dict[str, Any]) -> None:
    jsonschema.validate({**doc, "findings": doc["findings"][:2_000]}, schema())  # all are made alike
    s, found = doc["summary"], doc["findings"]
    for way in ("review", "hand", "none"):
        assert s["by_way"]["findings"][way] == sum(x["way"] == way for x in found)
        assert s["by_way"]["kernels"][way] == sum(k["way"] == way for k in doc["kernels"])
        assert s["by_way"]["names"][way] == sum(n["way"] == way for n in doc["names"])
        assert s["by_way"]["lines"][way] == sum(f["ways"][way] for f in doc["files"])
    parts = doc["effort"]["parts"]
    assert abs(doc["effort"]["minutes"] - sum(p["minutes"] for p in parts)) < 0.1 * len(parts)
    assert sum(w["count"] for w in doc["wave64"]) == sum(x["code"].startswith("CU3") for x in found)
    assert sum(k["lines"] for k in audit_parts.build_kinds(doc)) == len(doc["build"])
    left = audit_parts.folded(found)
    assert sum(x["count"] for x in left) == s["by_way"]["findings"]["hand"] + s["by_way"]["findings"]["none"]


def test_text_and_markdown_are_short(doc: dict[str, Any]) -> None:
    assert len(text_format.of_audit(doc).splitlines()) < 200
    markdown = md.of_audit(doc)
    assert "more; the JSON has them all" in markdown
    rows = markdown[markdown.index("## What is left") :].splitlines()
    assert sum(r.startswith("| a") for r in rows) == 200


@pytest.mark.slow
def test_a_browser_opens_it_and_its_filters_are_quick(doc: dict[str, Any], tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium here")
    script = """<script>{
const q = document.getElementById("q"), start = performance.now();
q.value = document.querySelector("#list tbody code").textContent;
q.dispatchEvent(new Event("input")); document.body.offsetHeight;
const pre = document.createElement("pre"); pre.id = "ran";
const took = performance.now() - start, shown = document.getElementById("shown").textContent;
pre.textContent = JSON.stringify({took, shown});
document.body.prepend(pre); }</script></body>"""
    path = tmp_path / "page.html"
    path.write_text(html.of_audit(doc).replace("</body>", script), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --dump-dom".split()
    words = [browser, *flags, f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    out = subprocess.run(words, capture_output=True, text=True, timeout=180, check=False).stdout
    found = re.search('<pre id="ran">(.*?)</pre>', out)
    assert found is not None
    ran = json.loads(found[1])
    assert ran["shown"].endswith("of 2000 rows")
    assert not ran["shown"].startswith("0 ")
    assert ran["took"] < 5_000
