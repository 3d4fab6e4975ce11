"""What a trial's program asks about inline PTX."""

from __future__ import annotations

import os
import socket
import struct

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.verify.trial.answers import _ASK, _HEAD, _LANE, _READ, answering
from cu2port.verify.trial.assembly import Body, with_calls


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_program_that_ends_before_it_says_what_its_memory_has_ends_the_answers() -> None:
    """As one does that runs into its time limit."""
    bodies: list[Body] = []
    text = '__global__ void k(int* p) { int v; asm("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p)); *p = v; }\n'
    with_calls(Unit(text, load_catalog()), frozenset(), bodies)
    with answering(bodies) as descriptor, socket.socket(fileno=os.dup(descriptor)) as program:
        where = (0, 0, 0, 32, 1, 1, 1, 1, 1, 0)
        program.send(_ASK.pack(1, 0, 0, 1, *where) + _LANE.pack(0, 0, 0, 0) + struct.pack("=2Q", 0, 64))
        assert _HEAD.unpack_from(program.recv(1 << 16)) == (1, 0, _READ)
