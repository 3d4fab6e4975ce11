"""Dataclasses and patterns that are made late do what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import re
from collections.abc import Callable
from typing import Any

import pytest

import cu2port
from cu2port.core import late


def made(decorator: Callable[..., Any], **asked: bool) -> Any:
    """A class with fields of every kind, the same for each decorator."""

    class Inner:
        """Some fields."""

        a: int
        b: str = "x"
        c: list[int] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=3, repr=False, compare=False)
        later: int = dataclasses.field(default=4, init=False)
        named: int = dataclasses.field(default=5, kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "later", self.a + 1)

    Inner.__qualname__ = "Inner"
    return decorator(**asked)(Inner)


def said(act: Callable[[], object]) -> object:
    """What comes of it: a value, or an error in words."""
    try:
        return act()
    except Exception as e:
        return type(e).__name__, str(e)


KINDS = [
    {},
    {"slots": True},
    {"eq": False},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "order": True},
]


@pytest.mark.parametrize("asked", KINDS, ids=str)
def test_a_class_is_what_the_standard_library_makes(asked: dict[str, bool]) -> None:
    ours, theirs = made(late.dataclass, **asked), made(dataclasses.dataclass, **asked)
    for number in range(2):  # the second time `__init__` is compiled
        del number
        for act in (
            lambda x: repr(x(1, c=[2], named=7)),
            lambda x: x(),
            lambda x: x(1, "y", [], 9, 10),
            lambda x: x(1, unknown=2),
            lambda x: dataclasses.asdict(x(1, "y", hidden=8)),
            lambda x: repr(dataclasses.replace(x(1, "y"), a=5)),
            lambda x: dataclasses.replace(x(1), later=2),
            lambda x: x(1) == x(1, hidden=9),
            lambda x: x(1) == x(2),
            lambda x: x(1) == 1,
            lambda x: x(1).__eq__(1) is NotImplemented,
            lambda x: x(1) < x(2),
            lambda x: x(1) >= x(1),
            lambda x: x(1) < 2,
            lambda x: hash(x(1, c=())) == hash(x(1, c=())),
            lambda x: x(1).c is x(1).c,
            lambda x: setattr(x(1), "a", 2),
            lambda x: delattr(x(1), "a"),
            lambda x: repr(copy.copy(x(1, "z"))),
            lambda x: repr(copy.deepcopy(x(1, "z"))),
            lambda x: x.__match_args__,
            lambda x: hasattr(x(1), "__dict__"),
        ):
            assert said(lambda: act(ours)) == said(lambda: act(theirs))  # noqa: B023


def test_what_a_class_says_itself_stays() -> None:
    @late.dataclass(frozen=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    assert (Own(1) == 2, hash(Own(1)), repr(Own(1))) == (True, 7, "own")


def test_a_subclass_has_the_fields_of_both() -> None:
    @late.dataclass(frozen=True, slots=True)
    class A:
        a: int

    @late.dataclass(frozen=True, slots=True)
    class B(A):
        b: int = 2

    assert repr(B(1)).endswith("B(a=1, b=2)")
    assert repr(A(1)).endswith("A(a=1)")
    assert B(1) != A(1)


def test_classes_of_ours_survive_a_pickle() -> None:
    from cu2port.core.model import Options, Project, Span, Trust

    for x in (Options(trust=Trust.EXACT, archs=("gfx942",)), Project(side="hip"), Span(1, 2)):
        again = pickle.loads(pickle.dumps(x))
        assert again == x
        assert hash(again) == hash(x)


def test_every_class_of_ours_takes_what_its_fields_say() -> None:
    """Without a default in front of a field that has none, and with no field whose name hides another's default."""
    modules = [m.name for m in pkgutil.walk_packages(cu2port.__path__, "cu2port.") if ".verify." not in m.name]
    classes = {
        x
        for m in modules
        if not m.endswith("__main__")
        for x in vars(importlib.import_module(m)).values()
        if isinstance(x, type) and dataclasses.is_dataclass(x)
    }
    assert len(classes) > 150
    for x in classes:
        for f in dataclasses.fields(x):
            assert not f.name.startswith(("_set", "_missing", "_make_", "_default_")), (x, f.name)


def test_a_pattern_is_what_the_standard_library_makes() -> None:
    ours, theirs = late.regex(r"(?P<x>a+)|b", re.I), re.compile(r"(?P<x>a+)|b", re.I)
    for text in ("", "xAAb", "b"):
        assert [m.span() for m in ours.finditer(text)] == [m.span() for m in theirs.finditer(text)]
        assert bool(ours.match(text)) == bool(theirs.match(text))
        assert bool(ours.fullmatch(text)) == bool(theirs.fullmatch(text))
        assert ours.findall(text) == theirs.findall(text)
        assert ours.split(text) == theirs.split(text)
        assert ours.sub("-", text) == theirs.sub("-", text)
    assert (ours.pattern, ours.groups, ours.groupindex) == (theirs.pattern, theirs.groups, theirs.groupindex)
    assert late.regex(rb"a").search(b"ba")
