"""The order in which to port files: what others need comes first; among those that are free, the riskiest kernels."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import networkx as nx


class Step(NamedTuple):
    """A file's place in the order. `needed_by`: files that depend on it, directly or not; `risk`: see `order`;
    `with_`: files that depend on each other in a circle and are ported together."""

    path: str
    needed_by: int
    risk: float
    with_: tuple[str, ...]


def order(needs: Mapping[str, Sequence[str]], risk: Mapping[str, float]) -> list[Step]:
    """Files in the order in which to port them.

    `needs`: file -> files that it includes or whose functions it calls; files that are not keys are left out. `risk`: a
    number that grows with what can go wrong in a file. Early failures are cheap, so the riskiest free file goes first.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sorted(needs))
    graph.add_edges_from((n, f) for f, found in sorted(needs.items()) for n in found if n in needs and n != f)
    groups = nx.condensation(graph)
    members = {g: sorted(data["members"]) for g, data in groups.nodes(data=True)}
    weight = {g: sum(risk.get(f, 0.0) for f in files) for g, files in members.items()}
    below = _depending(groups)
    waiting = dict(groups.in_degree())
    free = [(-below[g], -weight[g], members[g][0], g) for g, n in waiting.items() if n == 0]
    heapq.heapify(free)
    out: list[Step] = []
    while free:
        _, _, _, g = heapq.heappop(free)
        files = members[g]
        for f in files:
            others = tuple(x for x in files if x != f)
            out.append(Step(f, below[g] + len(others), risk.get(f, 0.0), others))
        for after in groups.successors(g):
            waiting[after] -= 1
            if waiting[after] == 0:
                heapq.heappush(free, (-below[after], -weight[after], members[after][0], after))
    return out


def _depending(groups: nx.DiGraph[int]) -> dict[int, int]:
    """How many files depend on each group, directly or not."""
    files: dict[int, int] = {}  # of each group: a bit for each of its files
    count = 0
    for g, data in groups.nodes(data=True):
        size = len(data["members"])
        files[g] = (1 << size) - 1 << count
        count += size
    reach: dict[int, int] = {}
    for g in reversed(list(nx.topological_sort(groups))):
        reach[g] = 0
        for s in groups.successors(g):
            reach[g] |= files[s] | reach[s]
    return {g: found.bit_count() for g, found in reach.items()}
