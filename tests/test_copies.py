"""What a process shares with a copy of itself is done once, whatever becomes of the copy."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from typing import cast

import pytest

from cu2port.project.copies import with_copy

MANY = list(range(2000))


def squares(things: Sequence[int]) -> Iterator[int]:
    return (n * n for n in things)


def test_each_thing_is_done_once() -> None:
    assert sorted(with_copy(squares, MANY, share=True)) == list(squares(MANY))


def test_both_do_some() -> None:
    found = set(with_copy(lambda things: (os.getpid() for _ in things), MANY, share=True))
    assert len(found) == 2
    assert set(with_copy(lambda things: (os.getpid() for _ in things), MANY, share=False)) == {os.getpid()}


def test_what_a_killed_copy_has_not_done_is_done_here() -> None:
    here = os.getpid()

    def work(things: Sequence[int]) -> Iterator[int]:
        for n in things:
            if n == 1500 and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            yield n

    assert sorted(with_copy(work, MANY, share=True)) == MANY


def test_an_error_of_the_copy_is_met_here() -> None:
    def work(things: Sequence[int]) -> Iterator[int]:
        for n in things:
            if n == 1500:
                raise ValueError(n)
            yield n

    with pytest.raises(ValueError, match="1500"):
        list(with_copy(work, MANY, share=True))


def test_the_copy_ends_with_who_asked() -> None:
    with contextlib.closing(cast("Generator[int, None, None]", with_copy(squares, MANY, share=True))) as found:
        next(found)
        assert multiprocessing.active_children()
    assert not multiprocessing.active_children()
