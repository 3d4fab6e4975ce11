"""Findings as bytes are the findings."""

from __future__ import annotations

import pickle
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cu2port.core.entry import Entry, Findings, checked, counted, has_code, pack
from cu2port.core.locate import Place

_TEXT = st.text(max_size=6) | st.just("a\nb\udc80")
_PLACE = st.builds(Place, *[st.integers(0, 1 << 40)] * 3)
_EFFECTS = st.lists(st.tuples(_TEXT, _TEXT), max_size=2).map(tuple)
_ENTRY = st.builds(Entry, *[_TEXT] * 6, _PLACE, _PLACE, _EFFECTS, st.lists(_TEXT, max_size=2).map(tuple), _TEXT, _TEXT)


@given(st.lists(_ENTRY, max_size=5).map(lambda found: [*found, *found[:2]]))
def test_what_is_packed_comes_back(found: list[Entry]) -> None:
    packed = pack(found)
    assert list(packed) == found
    assert len(packed) == len(found)
    assert list(pickle.loads(pickle.dumps(packed))) == found
    assert list(checked(*packed.packed)) == found
    assert sum(n for _, n in packed.counted()) == len(found)
    assert {e.code for e, _ in packed.counted()} == {e.code for e in found}
    assert sum(n for e, n in counted(packed) if e.open) == sum(e.open for e in found)


@pytest.mark.parametrize(
    ("kinds", "rows"),
    [
        (b"", array("Q", [0] * 7).tobytes()),
        (b"[]", array("Q", [0] * 7).tobytes()),
        (b'["a","b","c","d","e",7,[],[],"",""]', array("Q", [0] * 7).tobytes()),
        (b'["a","b","c","d","e","f",[],[],"",""]', array("Q", [1] * 7).tobytes()),
        (b'["a","b","c","d","e","f",[],[],"",""]', array("Q", [0] * 6).tobytes()),
        (b"{", b""),
    ],
)
def test_what_nobody_packed_is_refused(kinds: bytes, rows: bytes) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)):
        checked(kinds, rows)


def test_findings_equal_their_entries() -> None:
    entry = Entry("CU101", "n", "info", "m", "applied", "exact", Place(1, 2, 3), Place(1, 4, 5), (), (), "a", "b")
    packed = pack([entry])
    assert isinstance(packed, Findings)
    assert packed == (entry,)
    assert packed[0] == entry
    assert packed != ()
    for found in (packed, (entry,)):
        assert has_code(found, "CU101")
        assert not has_code(found, "CU102")
        assert not has_code(found, "m")  # of the message
