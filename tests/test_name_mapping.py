"""`query` answers what `convert` does: for every name of the catalogue, with a small use of it."""

from __future__ import annotations

import json
import random
import re

import pytest
from click.testing import CliRunner

from cu2port.catalog import Row, load_catalog
from cu2port.cli import cli
from cu2port.core.model import Options, Outcome
from cu2port.engine.name_mapping import mapping_of, use_of
from cu2port.engine.translate import translate
from cu2port.facts.warpnames import LOGICAL, NAMES, SPACE

CATALOG = load_catalog()
WARP = sorted((*NAMES, "warpSize"))


def disagreement(row: Row) -> str:
    """How the answer differs from what a conversion does with a small use of a name; "" where it does not.

    Members and names whose rows are strict are left out: whose they are is told by types. Names that HIP has had since
    a later version than the default are told by CU104.
    """
    if "." in row.cuda or row.drop or (row.strict and not row.before):
        return ""
    found, text = mapping_of(row), use_of(row)
    result = translate(text, Options(use_clang=False), path="a.cu")
    output, name = result.output.decode(), re.split("::", row.cuda)[-1]
    there = re.search(rf"\b{re.escape(name)}\b", output) is not None
    codes = {j.finding.code for j in result.findings if j.finding.cuda == row.cuda or not row.before}
    left = {j.finding.code for j in result.findings if j.outcome is not Outcome.APPLIED}
    if found.mapping == "unsupported":
        return "" if left else "no counterpart, and nothing is left"
    if left & {"CU104", "CU106"}:
        return ""  # not in this version, or not with these arguments: it is said, and the name stays
    if found.hip == row.cuda and not there and not row.before:
        return f"the same in HIP, and it is gone: {output}"
    if found.hip != row.cuda and not row.before and found.hip.rpartition("::")[2] not in output:
        return f"{found.hip} is not there: {output}"
    owners = codes - {"CU101", "CU102", "CU103", "CU105", "CU107", "CU108", "CU215"}
    missing = owners - {rule.code for rule in found.rules}
    return f"{missing} refer to it and are not named" if missing else ""


def check(names: list[str]) -> None:
    wrong = {}
    for name in names:
        row = CATALOG.get(name)
        assert row is not None
        if said := disagreement(row):
            wrong[name] = said
    assert wrong == {}


def test_query_says_what_convert_does() -> None:
    names = sorted(CATALOG.names)
    check([*(n for n in WARP if CATALOG.get(n) is not None), *random.Random(7).sample(names, 400)])


@pytest.mark.slow
def test_query_says_of_every_name_what_convert_does() -> None:
    check(sorted(CATALOG.names))


@pytest.mark.parametrize("name", [n for n in sorted(LOGICAL) if n != "__syncwarp" and CATALOG.get(n) is not None])
def test_query_of_what_lanes_do_together(name: str) -> None:
    told = CliRunner().invoke(cli, ["query", name]).stdout
    assert told.startswith(f"{name} -> {SPACE}{LOGICAL[name]}\n")
    assert "CU313" in told
    assert "same meaning" not in told
    row = json.loads(CliRunner().invoke(cli, ["query", name, "--json"]).stdout)
    assert (row["mapping"], row["hip"]) == ("change", SPACE + LOGICAL[name])
    if name.endswith("_sync"):
        assert {"CU311", "CU313"} <= {rule["code"] for rule in row["rules"]}
