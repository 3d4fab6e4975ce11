"""Reports: places in a file, the record of a run, JSON by its schema, and the terminal's lines."""

from __future__ import annotations

import json
import pickle

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cu2port.core.locate import Lines, Place
from cu2port.core.model import Finding, Judged, Outcome, Severity, Trust, replace
from cu2port.core.record import FileRecord, RunRecord, entries
from cu2port.report import json_report, terminal

OPTIONS = {"rocm": "7.1", "trust": "review", "launch": "keep"}


@pytest.mark.parametrize(
    ("data", "offset", "line", "column"),
    [
        (b"", 0, 1, 1),
        (b"ab\ncd", 0, 1, 1),
        (b"ab\ncd", 2, 1, 3),
        (b"ab\ncd", 3, 2, 1),
        (b"ab\r\ncd", 4, 2, 1),
        (b"ab\rcd\rx", 6, 3, 1),
        (b"\r\n\r\n", 4, 3, 1),
        ("é = 1;\n€x".encode(), 3, 1, 3),
        ("é = 1;\n€x".encode(), 11, 2, 2),
        ("😀x".encode(), 4, 1, 2),
        ("a\u0308x".encode(), 3, 1, 3),  # a combining mark is a character of its own
        (b"\xe9t\xe9 x", 4, 1, 5),  # Latin-1
        (b"\xef\xbb\xbfab", 3, 1, 1),  # a byte order mark has no column
        (b"\xef\xbb\xbfab\nc", 4, 1, 2),
        (b"\xef\xbb\xbfab\nc", 6, 2, 1),
        ("€".encode(), 1, 1, 1),  # inside a character
        (b"ab", 99, 1, 3),  # past the end
    ],
)
def test_place(data: bytes, offset: int, line: int, column: int) -> None:
    found = Lines(data).place(offset)
    assert (found.line, found.column) == (line, column)
    assert found.offset == min(offset, len(data))


@given(st.text(st.sampled_from("aé€😀\n\r\t ")))
def test_places_are_those_of_the_text(text: str) -> None:
    """Walking the characters one by one gives the same lines and columns."""
    lines = Lines(text.encode())
    offset, line, column = 0, 1, 1
    for i, c in enumerate(text):
        assert lines.place(offset) == Place(line, column, offset)
        offset += len(c.encode())
        column += 1
        if c == "\n" or (c == "\r" and text[i + 1 : i + 2] != "\n"):
            line, column = line + 1, 1
    assert lines.place(offset) == Place(line, column, offset)


def _run(*files: FileRecord) -> RunRecord:
    return RunRecord("1.2.3", OPTIONS, files)


def _judged(outcome: Outcome, severity: Severity = Severity.WARNING, start: int = 3, code: str = "CU103") -> Judged:
    edits = () if outcome is Outcome.MANUAL else (replace(start, start + 2, "y"),)
    finding = Finding(
        code,
        "api-unsupported",
        severity,
        "no counterpart",
        start,
        start + 2,
        edits,
        Trust.REVIEW,
        ("Because.",),
        "cudaX",
        "hipX",
        (("gfx942", "hang"),),
    )
    return Judged(finding, outcome)


def _three() -> RunRecord:
    data = "é\ncudaX".encode()
    found = entries(
        data, [_judged(Outcome.MANUAL, start=5), _judged(Outcome.APPLIED), _judged(Outcome.CONFLICT, start=7)]
    )
    return _run(
        FileRecord("src/a.cu", "hip/a.cu", "converted", found, frozenset({"cudaX", "cudaY"}), frozenset({"cudaX"})),
        FileRecord("src/b.cu", "hip/b.cu", "copied", (), frozenset({"cudaY"})),
        FileRecord("src/c.cu", "hip/c.cu", "partial"),
    )


def test_the_counts_of_the_summary_are_those_of_the_list_below() -> None:
    found = entries(
        b"cudaX cudaY",
        [
            _judged(Outcome.MANUAL, start=0),
            _judged(Outcome.MANUAL, Severity.INFO, start=2),
            _judged(Outcome.CONFLICT, start=5),
            _judged(Outcome.APPLIED, start=7),
        ],
    )
    lines = list(terminal.summary(_run(FileRecord("a.cu", "a.cu", "converted", found))))
    (row,) = [line for line in lines if line.startswith("findings")]
    assert row.split() == "findings 4 1 applied 1 manual 1 conflict 1 for information".split()
    assert "to do        CU103 api-unsupported (2)" in lines


def test_json_is_what_the_schema_says() -> None:
    document = json.loads(json_report.render(_three()))
    validator = jsonschema.Draft202012Validator(json_report.schema())
    validator.check_schema(json_report.schema())
    validator.validate(document)
    assert document["schema"] == "cu2port-report/1"
    assert document["tool"] == {"version": "1.2.3"}
    assert document["summary"] == {
        "files": 3,
        "converted": 2,
        "ignored": [],
        "by_outcome": {"applied": 1, "manual": 1, "conflict": 1},
        "by_code": {"CU103": 3},
        "cuda_names": {"seen": 2, "converted": 1, "left": ["cudaX"]},
    }
    assert document["files"][0]["findings"][1] == {
        "code": "CU103",
        "name": "api-unsupported",
        "severity": "warning",
        "message": "no counterpart",
        "outcome": "manual",
        "trust": "manual",
        "start": {"line": 2, "column": 3, "offset": 5},
        "end": {"line": 2, "column": 5, "offset": 7},
        "effects": {"gfx942": "hang"},
        "why": ["Because."],
        "cuda": "cudaX",
        "hip": "hipX",
    }
    assert document["files"][0]["findings"][0]["trust"] == "review"


@pytest.mark.parametrize("files", [(), (FileRecord("a.cu", "", "failed"),)])
def test_empty_reports_are_valid_json(files: tuple[FileRecord, ...]) -> None:
    document = json.loads(json_report.render(_run(*files)))
    jsonschema.Draft202012Validator(json_report.schema()).validate(document)
    assert document == json_report.document(_run(*files))


@pytest.mark.parametrize(
    ("key", "value"),
    [("outcome", "done"), ("code", "310"), ("severity", "fatal"), ("start", {"line": 0, "column": 1, "offset": 0})],
)
def test_schema_refuses_what_is_wrong(key: str, value: object) -> None:
    document = json_report.document(_three())
    document["files"][0]["findings"][0][key] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_report.schema()).validate(document)


def test_schema_asks_for_every_key_of_a_finding() -> None:
    document = json_report.document(_three())
    keys = set(document["files"][0]["findings"][0])
    assert keys == set(json_report.schema()["$defs"]["finding"]["required"])


def test_a_file_name_that_is_no_text_is_still_json() -> None:
    name = b"a\xff.cu".decode("utf-8", "surrogateescape")
    text = json_report.render(_run(FileRecord(name, name, "copied"))).encode("utf-8", "backslashreplace")
    assert json.loads(text)["files"][0]["path"] == name


def test_records_cross_processes() -> None:
    run = _three()
    assert pickle.loads(pickle.dumps(run.files)) == run.files


def test_terminal_shows_what_is_left() -> None:
    lines = [line for _, line in terminal.findings(_three(), 0)]
    assert lines == [
        "src/a.cu:2:3: CU103 api-unsupported: no counterpart",
        "src/a.cu:2:5: CU103 api-unsupported: no counterpart (conflict)",
    ]


def test_terminal_shows_all_when_asked_and_errors_when_quiet() -> None:
    info = entries(b"abcdef", [_judged(Outcome.MANUAL, Severity.INFO)])
    error = entries(b"abcdef", [_judged(Outcome.MANUAL, Severity.ERROR)])
    run = _run(
        *_three().files,
        FileRecord("i.cu", "i.cu", "copied", info, notes=("a note",)),
        FileRecord("e.cu", "e.cu", "copied", error),
    )
    assert [line for _, line in terminal.findings(run, -1)] == ["e.cu:1:4: CU103 api-unsupported: no counterpart"]
    everything = [line for _, line in terminal.findings(run, 1)]
    assert len(everything) == 6
    assert "src/a.cu:2:1: CU103 api-unsupported: no counterpart (applied)" in everything
    assert "i.cu: note: a note" in everything
    assert not any("i.cu" in line for _, line in terminal.findings(run, 0))


def test_the_same_message_is_shown_at_its_first_places_in_a_file() -> None:
    found = [_judged(Outcome.MANUAL, Severity.ERROR, start=k) for k in range(11)]
    other = _judged(Outcome.MANUAL, Severity.ERROR, start=11, code="CU108")
    run = _run(*(FileRecord(f"{n}.cu", "", "copied", entries(b"abcdefghijkl", [*found, other])) for n in "ab"))
    for verbosity in (0, -1):
        lines = [line for _, line in terminal.findings(run, verbosity) if line.startswith("b.cu")]
        assert lines == [
            *(f"b.cu:1:{k}: CU103 api-unsupported: no counterpart" for k in range(1, 6)),
            "b.cu:1:12: CU108 api-unsupported: no counterpart",
            "b.cu: CU103 api-unsupported: 6 more in this file (-v shows each): no counterpart",
        ]
    assert sum(line.startswith("b.cu:1:") for _, line in terminal.findings(run, 1)) == 12
    few = _run(FileRecord("c.cu", "", "copied", entries(b"abcdefghijkl", found[:10])))
    assert len(list(terminal.findings(few, 0))) == 10


def test_findings_on_a_whole_file_have_no_place() -> None:
    run = _run(FileRecord("u.cu", "", "failed", entries(b"", [_judged(Outcome.MANUAL, start=0, code="CU903")])))
    assert [line for _, line in terminal.findings(run, 0)] == ["u.cu: CU903 api-unsupported: no counterpart"]


def test_summary_counts() -> None:
    text = "\n".join(terminal.summary(_three()))
    words = text.split()
    assert words[:8] == ["files", "3", "1", "converted", "1", "copied", "1", "partial"]
    assert "names left   cudaX" in text
    assert "CU103 api-unsupported (2)" in text


def test_summary_does_not_list_without_end() -> None:
    left = frozenset(f"cuda{i:03}" for i in range(100))
    text = "\n".join(terminal.summary(_run(FileRecord("a.cu", "a.cu", "copied", (), left, left))))
    assert "cuda011, and 88 more" in text
    assert "cuda012" not in text


def test_left_counts_once_however_many_files_hold_it() -> None:
    left = frozenset({"cudaX"})
    files = [FileRecord(f"{i}.cu", "", "copied", (), left, left) for i in range(3)]
    summary = json_report.document(_run(*files))["summary"]["cuda_names"]
    assert summary == {"seen": 1, "converted": 0, "left": ["cudaX"]}
