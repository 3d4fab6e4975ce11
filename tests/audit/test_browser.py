"""The page of an audit in a real browser: nobody is shut out of it, and its script works."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli

SOURCE = """#include <cuda_runtime.h>
__global__ void k(unsigned* p) { asm volatile("wgmma.fence.sync.aligned;"); p[0] = __ballot_sync(~0u, p[1]); }
void f() { cudaDeviceFlushGPUDirectRDMAWrites(1, 1); cudaMallocManaged(0, 1); k<<<1, 32>>>(0); }
"""
RUN_AXE = """
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).then(r => {
  const found = r.violations.map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ")).slice(0, 3).join("; "));
  const pre = document.createElement("pre"); pre.id = "axe";
  pre.textContent = JSON.stringify({violations: found, passes: r.passes.length}); document.body.append(pre);
});
"""
RUN_SCRIPT = """{
const q = document.getElementById("q"); q.value = "wgmma"; q.dispatchEvent(new Event("input"));
const sort = document.querySelector("#list th.n button"); sort.click();
const visible = [...document.querySelectorAll("#list tbody tr")].filter(r => !r.hidden).length;
const pre = document.createElement("pre"); pre.id = "ran";
pre.textContent = JSON.stringify({visible, shown: document.getElementById("shown").textContent,
  sorted: sort.parentElement.getAttribute("aria-sort"), wide: document.documentElement.scrollWidth,
  room: document.documentElement.clientWidth});
document.body.append(pre);
}"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.cu").write_text(SOURCE)
    (tmp_path / "src" / "deep" / "b.cu").write_text(SOURCE)
    (tmp_path / "src" / "Makefile").write_text("x: a.cu\n\tnvcc -arch=sm_80 a.cu\n")
    text = CliRunner().invoke(cli, ["audit", "src", "--format", "html"], prog_name="cu2port").stdout
    assert "wgmma" in text
    return text


def browse(text: str, tmp_path: Path, mark: str, *, dark: bool = False, width: int = 1280) -> dict[str, object]:
    """What a script left in `<pre id=mark>` of a page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium here")
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking".split()
    flags += ["--virtual-time-budget=20000", "--dump-dom", f"--user-data-dir={tmp_path / 'profile'}"]
    flags += [f"--window-size={width},900"] + (["--blink-settings=preferredColorScheme=0"] if dark else [])
    ran = subprocess.run([browser, *flags, path.as_uri()], capture_output=True, text=True, timeout=180, check=False)
    found = re.search(rf'<pre id="{mark}">(.*?)</pre>', ran.stdout, re.S)
    assert found is not None, ran.stderr[-2000:]
    loaded: dict[str, object] = json.loads(html.unescape(found[1]))
    return loaded


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_nobody_is_shut_out(page: str, tmp_path: Path, dark: bool) -> None:
    axe = os.environ.get("CU2PORT_TEST_AXE")
    if not axe:
        pytest.skip("no axe-core: CU2PORT_TEST_AXE is not set")
    script = Path(axe).read_text(encoding="utf-8").replace("</script", "<\\/script")
    found = browse(page.replace("</body>", f"<script>{script}\n{RUN_AXE}</script></body>"), tmp_path, "axe", dark=dark)
    assert found["violations"] == []
    assert int(str(found["passes"])) > 20


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 500])
def test_filters_and_sorting_work_and_the_page_fits(page: str, tmp_path: Path, width: int) -> None:
    found = browse(page.replace("</body>", f"<script>{RUN_SCRIPT}</script></body>"), tmp_path, "ran", width=width)
    assert found["visible"] == 1
    assert str(found["shown"]).startswith("1 of ")
    assert found["sorted"] == "ascending"
    assert int(str(found["wide"])) <= int(str(found["room"]))
