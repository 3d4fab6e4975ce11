"""Circles of a graph: nodes that reach each other are one component, and components form no circle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def components(nodes: Iterable[T], targets: Callable[[T], Iterable[T]]) -> Iterator[list[T]]:
    """The strongly connected components of what some nodes reach, each after all that it leads to (Tarjan). networkx
    has the same, but takes longer to load than most runs need."""
    number: dict[T, int] = {}
    low: dict[T, int] = {}
    path: list[T] = []  # nodes whose component is not complete
    on_path: set[T] = set()
    for start in nodes:
        if start in number:
            continue
        work = [(start, iter(targets(start)))]
        number[start] = low[start] = len(number)
        path.append(start)
        on_path.add(start)
        while work:
            node, left = work[-1]
            for to in left:
                if to not in number:
                    number[to] = low[to] = len(number)
                    path.append(to)
                    on_path.add(to)
                    work.append((to, iter(targets(to))))
                    break
                if to in on_path:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    found: list[T] = []
                    while not found or found[-1] != node:
                        found.append(path.pop())
                    on_path.difference_update(found)
                    yield found
