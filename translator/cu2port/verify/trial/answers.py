"""The interpreter at the other end of a trial's program: it runs inline PTX with the registers of the lanes that ask.

A message is a packet of a socket. A question: `_ASK`, then `_LANE` and the registers of each lane. The answer: `_DONE`
with the registers, or `_STUCK` with the reason. Before it, reads and writes of memory, which the program does. A
program may end before it is answered: the next question is of another process, which drops what has not its number.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread

from cu2port.ptx.bind import CARRY, UntranslatableError
from cu2port.ptx.integers import OutOfRangeError
from cu2port.ptx.interp import Machine, Registers, StuckError, execute
from cu2port.verify.trial.assembly import Body

_ASK = struct.Struct(
    "=14I"
)  # process, number, body, lanes; indices of the block, extents of blocks and of the grid, dynamic
_LANE = struct.Struct("=4I")  # number of the lane, index of the thread
_HEAD = struct.Struct("=3I")  # process, number, what follows
_PLACE = struct.Struct("=2QI")  # address, bytes, whether it is shared memory's
_DONE, _READ, _WRITE, _STUCK = range(4)
_MOST = 1 << 20


class _GoneError(Exception):
    """The program that asked has ended; another question came."""

    def __init__(self, message: bytes) -> None:
        super().__init__()
        self.message = message


@contextmanager
def answering(bodies: Sequence[Body]) -> Iterator[int]:
    """A descriptor on which a program and its children may ask, for as long as any of them has it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    thread = Thread(target=_Answers(mine, bodies).run, daemon=True)
    thread.start()
    try:
        yield theirs.fileno()
    finally:
        theirs.close()
        mine.shutdown(socket.SHUT_RDWR)
        thread.join()
        mine.close()


class _Answers:
    def __init__(self, sock: socket.socket, bodies: Sequence[Body]) -> None:
        self.sock, self.bodies = sock, bodies
        self.known: dict[tuple[int, tuple[int, ...]], list[int]] = {}  # of pure bodies
        self.process = 0
        self.carries: dict[tuple[int, ...], int] = {}  # of the threads of a process

    def run(self) -> None:
        try:
            message = self.sock.recv(_MOST)
            while message:
                try:
                    self.answer(message)
                    message = self.sock.recv(_MOST)
                except _GoneError as e:
                    message = e.message
        except OSError:
            return  # the program has ended

    def answer(self, message: bytes) -> None:
        process, number, index, count, *where = _ASK.unpack_from(message)
        if process != self.process:
            self.process = process
            self.carries.clear()
        body = self.bodies[index]
        n = len(body.letters)
        lanes: list[Registers] = [{} for _ in range(32)]
        threads: dict[int, tuple[int, ...]] = {}
        at = _ASK.size
        for _ in range(count):
            lane, *thread = _LANE.unpack_from(message, at)
            words = struct.unpack_from(f"={n}Q", message, at + _LANE.size)
            threads[lane] = tuple(thread)
            lanes[lane] = {f"%{i}": w for i, w in enumerate(words)}
            at += _LANE.size + 8 * n
        out = self.results(body, index, lanes, threads, where, (process, number))
        if out is not None:
            self.sock.send(_HEAD.pack(process, number, _DONE) + struct.pack(f"={len(out)}Q", *out))

    def results(
        self,
        body: Body,
        index: int,
        lanes: list[Registers],
        threads: Mapping[int, tuple[int, ...]],
        where: Sequence[int],
        who: tuple[int, int],
    ) -> list[int] | None:
        """The registers of all lanes; None where it was said that there are none."""
        key = index, tuple(w for lane in threads for w in lanes[lane].values())
        if body.is_pure and key in self.known:
            return self.known[key]
        machine = _Memory(self.sock, who, _special(threads, where))
        if body.has_carry:
            for lane, thread in threads.items():
                lanes[lane][CARRY] = self.carries.get((*where[:3], *thread), 0)
        try:
            execute(body.program, lanes, machine, tuple(threads))
        except (StuckError, OutOfRangeError, UntranslatableError) as e:
            self.sock.send(_HEAD.pack(*who, _STUCK) + str(e).encode("latin-1", "replace")[:200])
            return None
        if body.has_carry:
            for lane, thread in threads.items():
                self.carries[(*where[:3], *thread)] = lanes[lane].get(CARRY, 0)
        out = [lanes[lane][f"%{i}"] for lane in threads for i in range(len(body.letters))]
        if body.is_pure:
            self.known[key] = out
        return out


class _Memory(Machine):
    """Memory that the program has."""

    def __init__(self, sock: socket.socket, who: tuple[int, int], special: Mapping[str, Callable[[int], int]]) -> None:
        super().__init__(special=special)
        self.sock, self.who = sock, who

    def read(self, space: str, address: int, size: int) -> int:
        self.sock.send(_HEAD.pack(*self.who, _READ) + _PLACE.pack(address, size, space == "shared"))
        message = self.sock.recv(_MOST)
        # another length first: the program may have ended, which leaves nothing to unpack
        if len(message) != _HEAD.size + size or _HEAD.unpack_from(message)[:2] != self.who:
            raise _GoneError(message)
        return int.from_bytes(message[_HEAD.size :], "little")

    def write(self, space: str, address: int, size: int, value: int) -> None:
        place = _PLACE.pack(address, size, space == "shared")
        self.sock.send(_HEAD.pack(*self.who, _WRITE) + place + value.to_bytes(size, "little"))


def _special(threads: Mapping[int, tuple[int, ...]], where: Sequence[int]) -> Mapping[str, Callable[[int], int]]:
    block, extents, grid = where[:3], where[3:6], where[6:9]

    def of_lane(mask: Callable[[int], int]) -> Callable[[int], int]:
        return lambda lane: mask(lane) & 0xFFFFFFFF

    def warp(lane: int) -> int:
        x, y, z = threads[lane]
        return ((z * extents[1] + y) * extents[0] + x) // 32

    out: dict[str, Callable[[int], int]] = {
        "cu2port::warp::lane_id()": of_lane(lambda i: i),
        "cu2port::warp::lanemask_eq()": of_lane(lambda i: 1 << i),
        "cu2port::warp::lanemask_le()": of_lane(lambda i: (2 << i) - 1),
        "cu2port::warp::lanemask_lt()": of_lane(lambda i: (1 << i) - 1),
        "cu2port::warp::lanemask_ge()": of_lane(lambda i: -1 << i),
        "cu2port::warp::lanemask_gt()": of_lane(lambda i: -2 << i),
        "cu2port::ptx::warpid()": warp,
        "cu2port::ptx::clock64()": lambda i: time.perf_counter_ns(),
        "cu2port::ptx::globaltimer()": lambda i: time.time_ns(),
    }

    def known(n: int) -> Callable[[int], int]:
        return lambda lane: n

    def of_thread(k: int) -> Callable[[int], int]:
        return lambda lane: threads[lane][k]

    for k, axis in enumerate("xyz"):
        out[f"threadIdx.{axis}"] = of_thread(k)
        for name, words in (("blockIdx", block), ("blockDim", extents), ("gridDim", grid)):
            out[f"{name}.{axis}"] = known(words[k])
    return out
