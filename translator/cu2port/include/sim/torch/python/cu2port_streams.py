"""Streams and events of torch in the simulator: there is one order, the host's."""

from __future__ import annotations

import sys
import time
from typing import Any


class Stream:
    """The one stream, also as what `with` takes."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *why: Any) -> Any:
        return None

    def synchronize(self) -> Any:
        sys.modules["torch"].cuda.synchronize()

    def query(self) -> Any:
        return True

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record()
        return event

    def wait_event(self, event: Any) -> None:
        pass

    wait_stream = wait_event


class Event:
    """A point in time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.at = 0.0

    def record(self, stream: Any = None) -> Any:
        self.synchronize()
        self.at = time.perf_counter()

    def synchronize(self) -> Any:
        sys.modules["torch"].cuda.synchronize()

    def query(self) -> Any:
        return True

    def wait(self, stream: Any = None) -> None:
        pass

    def elapsed_time(self, end: Any) -> Any:
        return 1e3 * (end.at - self.at)
