"""What names mean in nested scopes."""

from __future__ import annotations

from typing import TypeVar

_V = TypeVar("_V")


class Names(dict[str, _V]):
    """What names mean. What a scope changes is undone at its end: a function may have thousands of scopes and of
    names, so none of them copies all."""

    def __init__(self, known: dict[str, _V] | None = None) -> None:
        super().__init__(known or {})
        self._before: list[dict[str, _V | None]] = []  # of each open scope: what its names meant, None nothing

    def __setitem__(self, name: str, value: _V) -> None:
        if self._before:
            self._before[-1].setdefault(name, self.get(name))
        super().__setitem__(name, value)

    def drop(self, name: str) -> None:
        """The name means nothing any more."""
        if name in self:
            if self._before:
                self._before[-1].setdefault(name, self[name])
            del self[name]

    def begin(self) -> None:
        """A scope begins."""
        self._before.append({})

    def end(self) -> None:
        """The scope that began last ends."""
        for name, value in self._before.pop().items():
            if value is None:
                self.pop(name, None)
            else:
                super().__setitem__(name, value)
