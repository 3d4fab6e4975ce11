"""Which files of a tree belong together: includes resolved inside the tree, no compiler asked."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from cu2port.catalog import load_catalog
from cu2port.core.circles import components
from cu2port.core.files import HEADER_SUFFIXES
from cu2port.core.late import regex
from cu2port.facts.carry_definitions import carry_flag
from cu2port.facts.hipcode import SideFacts, line_before
from cu2port.facts.member_sides import resolved
from cu2port.facts.side_macros import by_name
from cu2port.facts.std_headers import is_projects

_INCLUDE = regex(rb'include(?:_next)?[ \t]*(?:"([^"\r\n]+)"|<([^>\r\n]+)>)')  # begins with text: is found fast
_HASH = regex(rb"[ \t]*(?:#|%:)[ \t]*\Z")
_LIKE_CUDA = regex(r"(?:(?:cu|n[vcp])[a-z]*[A-Z]|(?:CU|NV)[A-Z]*_)\w*\Z")
_ODD_PATH = regex(r"(?:\A|/)(?:\.|/|\Z)")  # a name that `normpath` may change

_Speakers = dict[str, dict[str, int]]  # the last word of a name -> the name -> bits of the files that have it


class Told(NamedTuple):
    """What a file is told: see `core.model.Project`."""

    products: frozenset[str] = frozenset()
    computing: frozenset[str] = frozenset()
    numbers: frozenset[tuple[str, int]] = frozenset()
    by_value: frozenset[str] = frozenset()


class Scan(NamedTuple):
    """What a first look at a file tells: names that look like CUDA's but are declared here for those who include it,
    with their namespaces and classes; functions that are promised without a body; and its includes.

    `includes`: (spelling, whether in quotes). `side`: whether it is CUDA's code or HIP's. `digest`: its sha256.
    `asked`: the words of the file that others may declare; None: all that they declare may count. `carry`: macros that
    hand on PTX's carry flag. `products`: functions that multiply by PTX's `mma`; `multiplies`: whether anything does.
    `side_macros`: macros for execution space specifiers; `prefix_macros`: those that make CUDA names.
    `member_sides`: functions, members or not, that are declared with execution spaces; `aliases`: names for namespaces
    of CUDA's libraries; `asm_keywords`: macros that stand for `asm`; `text_macros`: those that are parts of its texts.
    """

    declared: frozenset[str] = frozenset()
    includes: tuple[tuple[str, bool], ...] = ()
    side: SideFacts = SideFacts()
    promised: frozenset[str] = frozenset()
    digest: bytes = b""
    asked: frozenset[str] | None = None
    carry: frozenset[str] = frozenset()
    products: frozenset[str] = frozenset()
    multiplies: bool = False
    side_macros: frozenset[str] = frozenset()
    prefix_macros: frozenset[str] = frozenset()
    member_sides: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    asm_keywords: frozenset[str] = frozenset()
    text_macros: frozenset[str] = frozenset()


def _speaks(s: Scan) -> bool:
    """Whether a file says something to those who include it."""
    macros = s.side_macros or s.prefix_macros or s.member_sides or s.aliases or s.asm_keywords or s.text_macros
    return bool(s.declared or s.promised or s.carry or s.products or macros)


def scan_includes(data: bytes) -> tuple[tuple[str, bool], ...]:
    """The includes of a file as written, in all branches, with `/` for the backslashes of Windows."""
    lines = (m for m in _INCLUDE.finditer(data) if _HASH.match(line_before(data, m.start())))
    found = {((m[1] or m[2]).replace(b"\\", b"/"), bool(m[1])): None for m in lines}
    return tuple((os.fsdecode(name), quoted) for name, quoted in found)


_MOST_FOLDERS = 16  # that one file is given


class Graph:
    """The include graph of a run. Files are known by absolute path."""

    def __init__(self, files: Sequence[str], scans: Mapping[str, Scan], include_dirs: Sequence[str]) -> None:
        self._files = frozenset(files)
        self._dirs = tuple(os.path.abspath(d) for d in include_dirs)  # noqa: PTH100 - texts all the way
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for f in sorted(files):
            self._by_name[os.path.basename(f)].append(f)  # noqa: PTH119
        self._named: dict[str, dict[str, tuple[int, str]]] = {}
        self._endings: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._spelled = {f: frozenset(name for name, _ in scan.includes) for f, scan in scans.items()}
        self._hiding: dict[str, bool] = {}
        self._told: dict[str, dict[str, None]] = defaultdict(dict)  # include folders that a file's own includes tell of
        self._edges = {f: self._targets(f, scan) for f, scan in scans.items()}
        self.sides = {f: scan.side for f, scan in scans.items()}
        self._group: dict[str, str] = {}
        for f, targets in self._edges.items():
            for target in targets.values():
                self._group[self._leader(f)] = self._leader(target)
        self._asked = {f: scan.asked for f, scan in scans.items()}
        #: of each file that declares or promises something, a number with one bit
        speakers = [f for f, scan in scans.items() if _speaks(scan)]
        self._bit = {f: 1 << k for k, f in enumerate(speakers)}
        self._carry = {f: scan.carry for f, scan in scans.items() if scan.carry}
        self._side_macros = {f: scan.side_macros for f, scan in scans.items() if scan.side_macros}
        self._prefix_macros = {f: scan.prefix_macros for f, scan in scans.items() if scan.prefix_macros}
        self._asm_keywords = {f: scan.asm_keywords for f, scan in scans.items() if scan.asm_keywords}
        self._text_macros = {f: scan.text_macros for f, scan in scans.items() if scan.text_macros}
        self._aliases = {f: scan.aliases for f, scan in scans.items() if scan.aliases}
        self._member_sides = {f: scan.member_sides for f, scan in scans.items() if scan.member_sides}
        headers = (f for f in scans if f.lower().endswith(HEADER_SUFFIXES))
        self._products = {f: scans[f].products for f in headers if scans[f].products}
        self._multiplying = frozenset(f for f, scan in scans.items() if scan.multiplies)
        self._defined: dict[str, set[str]] = defaultdict(set)
        self._declarers: _Speakers = defaultdict(lambda: defaultdict(int))
        self._promisers: _Speakers = defaultdict(lambda: defaultdict(int))
        for f, bit in self._bit.items():
            self._defined[self._leader(f)] |= scans[f].declared
            for names, kept in ((scans[f].declared, self._declarers), (scans[f].promised, self._promisers)):
                for name in names:
                    kept[name.rpartition("::")[2]][name] |= bit
        self._includers: dict[str, list[str]] = defaultdict(list)
        for f, targets in self._edges.items():
            for target in targets.values():
                self._includers[target].append(f)
        self._reached = self._reaches() if self._bit else {}

    def declared(self, file: str) -> frozenset[str]:
        """Names that the headers which a file reaches declare, and functions that those promise and that a file linked
        to it defines. A file without includes is a part of those who include it, as is one that includes only such
        files, and has what they reach; of headers also what they declare, as `x.hpp` does for the `x.inl` at its end.
        What another file declares for itself means nothing here, be it in the same folder or a source that includes it.
        """
        if not self._bit:
            return frozenset()
        reached = self._reached_with_includers(file) & ~self._bit.get(file, 0)
        own, promised = (self._said(kept, file, reached) for kept in (self._declarers, self._promisers))
        heard = self._heard(file, reached) if file.lower().endswith(HEADER_SUFFIXES) else ()
        return frozenset({*own, *heard, *(self._defined[self._leader(file)].intersection(promised))})

    def _heard(self, file: str, reached: int) -> Iterator[str]:
        """Names that no one but the project has, of the files that come with a header in those that include it."""
        around = 0
        for includer in self._includers.get(file, ()):
            own = self._bit.get(includer, 0) if includer.lower().endswith(HEADER_SUFFIXES) else 0
            around |= self._reached[includer] | own
        others = around & ~reached & ~self._bit.get(file, 0)
        known = load_catalog().names if others else {}
        return (n for n in self._said(self._declarers, file, others) if n not in known and _LIKE_CUDA.match(n))

    def _reached_with_includers(self, file: str) -> int:
        """The bits of the files that a file reaches, and that its includers reach where it is a part of them."""
        reached = self._reached.get(file, 0)
        for includer in self._includers.get(file, ()) if self._is_part(file) else ():
            reached |= self._reached[includer]
            if includer.lower().endswith(HEADER_SUFFIXES):
                reached |= self._bit.get(includer, 0)
        return reached

    def _is_part(self, file: str) -> bool:
        """Whether a file has no includes, or those of files without includes alone."""
        targets, spelled = self._edges.get(file, {}), self._spelled
        return len(targets) == len(spelled.get(file, ())) and not any(map(spelled.get, targets.values()))

    def carry(self, file: str) -> frozenset[str]:
        """The macros and functions that hand on PTX's carry flag of the files that a file reaches, as `declared` has
        it, each behind the flag's name."""
        if not self._carry:
            return frozenset()
        reached = self._reached_with_includers(file)
        there = (f for f in self._carry if f != file and self._bit[f] & reached)
        return frozenset(f"{carry_flag(f)} {line}" for f in there for line in self._carry[f])

    def side_macros(self, file: str) -> frozenset[str]:
        """The macros for execution space specifiers of the files that a file reaches."""
        return frozenset(said for f in self._there(self._side_macros, file) for said in self._side_macros[f])

    def asm_keywords(self, file: str) -> frozenset[str]:
        """The macros that stand for `asm`, of the files that a file reaches, as `declared` has it."""
        return self._with_includers(self._asm_keywords, file)

    def text_macros(self, file: str) -> frozenset[str]:
        """The macros that are parts of PTX's texts, of the files that a file reaches, as `declared` has it."""
        return self._with_includers(self._text_macros, file)

    def _with_includers(self, told: Mapping[str, frozenset[str]], file: str) -> frozenset[str]:
        """What the files say that a file reaches, as `declared` has it."""
        if not told:
            return frozenset()
        reached = self._reached_with_includers(file)
        return frozenset(said for f in told if f != file and self._bit[f] & reached for said in told[f])

    def aliases(self, file: str) -> frozenset[str]:
        """The names for namespaces of CUDA's libraries, of the files that a file reaches."""
        return frozenset(said for f in self._there(self._aliases, file) for said in self._aliases[f])

    def prefix_macros(self, file: str) -> frozenset[str]:
        """The macros that make CUDA names, of the files that a file reaches."""
        return frozenset(said for f in self._there(self._prefix_macros, file) for said in self._prefix_macros[f])

    def member_sides(self, file: str) -> frozenset[str]:
        """Member functions that classes in the files that a file reaches declare, with their execution spaces."""
        told = [said for f in self._there(self._member_sides, file) for said in self._member_sides[f]]
        return resolved(told, by_name(self.side_macros(file))) if told else frozenset()

    def own_products(self, file: str) -> frozenset[str]:
        """The functions that multiply by PTX's `mma` of a header itself."""
        return self._products.get(file, frozenset())

    def products(self, file: str) -> frozenset[str]:
        """The functions that multiply by PTX's `mma` of the headers that a file reaches."""
        return frozenset(text for f in self._there(self._products, file) for text in self._meant(f))

    def _meant(self, header: str) -> Iterator[str]:
        """Its own that are asm where it is converted: behind a macro of another header they may be anything."""
        texts = self._products[header]
        if all("asm" in text for text in texts):
            yield from texts
            return
        names = {said.partition(" ")[0] for said in self.asm_keywords(header)}
        yield from (text for text in texts if "asm" in text or any(name in text for name in names))

    def headers(self, file: str) -> Iterator[str]:
        """The headers that a file reaches."""
        seen = {file}
        todo = [file]
        for f in todo:
            for to in self.targets(f) - seen:
                seen.add(to)
                todo.append(to)
                if to.lower().endswith(HEADER_SUFFIXES):
                    yield to

    def multiplies(self, file: str) -> bool:
        """Whether a file multiplies by it, or reaches such functions."""
        return file in self._multiplying or any(True for _ in self._there(self._products, file))

    def _there(self, speakers: Iterable[str], file: str) -> Iterator[str]:
        reached = self._reached.get(file, 0)
        return (f for f in (speakers if reached else ()) if f != file and self._bit[f] & reached)

    def _said(self, speakers: _Speakers, file: str, reached: int) -> Iterator[str]:
        """The names that one of the files in `reached` has, less those that the file does not ask for."""
        asked = self._asked.get(file) if reached else frozenset()
        for last in speakers if asked is None else asked & speakers.keys():
            yield from (name for name, by in speakers[last].items() if by & reached)

    def _reaches(self) -> dict[str, int]:
        """For each file the bits of those that it includes, and those that they include: in a circle itself too."""
        out: dict[str, int] = {}
        below: dict[str, int] = {}  # with its own bit
        for group in components(self._edges, lambda f: self._edges.get(f, {}).values()):
            inner = frozenset(group)
            targets = {to for f in group for to in self._edges.get(f, {}).values()}
            found = 0
            for to in targets - inner:
                found |= below[to]
            own = 0
            for f in group:
                own |= self._bit.get(f, 0)
            for f in group:
                out[f] = found | (own if not inner.isdisjoint(targets) else 0)
                below[f] = found | own
        return out

    def folders(self, file: str) -> tuple[str, ...]:
        """The include folders that a build of the tree must have: from where the includes of a file, and of those that
        it reaches, lead to the file of the tree that they name. Without them libclang does not see what those headers
        declare. Those that were given with -I are left out."""
        return self._folders.get(file, ())

    @cached_property
    def _folders(self) -> dict[str, tuple[str, ...]]:
        out: dict[str, tuple[str, ...]] = {}
        for group in components(self._edges, lambda f: self._edges.get(f, {}).values()):
            targets = {to: None for f in group for to in self._edges.get(f, {}).values()}
            found = [d for f in group for d in self._told.get(f, ())]
            found += [d for to in targets for d in out.get(to, ())]
            folders = tuple(dict.fromkeys(found))[:_MOST_FOLDERS]
            out.update(dict.fromkeys(group, folders))
        return out

    def spelled(self, file: str, wanted: frozenset[str]) -> frozenset[str]:
        """The include spellings of a file that lead to one of the wanted files."""
        return frozenset(name for name, target in self._edges.get(file, {}).items() if target in wanted)

    def resolved(self) -> Mapping[str, Mapping[str, str]]:
        """For each file what its includes, as spelled, lead to in the tree."""
        return self._edges

    def targets(self, file: str) -> frozenset[str]:
        """The files of the tree that a file includes."""
        return frozenset(self._edges.get(file, {}).values())

    def reaching(self, files: Iterable[str]) -> frozenset[str]:
        """The files that are one of these, or include one through others of the tree."""
        found = set(files)
        todo = list(found)
        while todo:
            for includer in self._includers.get(todo.pop(), ()):
                if includer not in found:
                    found.add(includer)
                    todo.append(includer)
        return frozenset(found)

    def including(self, pattern: re.Pattern[str]) -> list[str]:
        """The files that include a header so spelled, which the tree has not itself."""
        return [
            f
            for f, names in self._spelled.items()
            if any(pattern.match(name) and not self._ending(name) for name in names)
        ]

    def own(self, file: str) -> frozenset[str]:
        """The include spellings of a file that name a file of the tree, whatever folder the build finds it in; and
        the libraries (`cutlass/*`) that the tree holds, if any file includes a header of theirs."""
        return self._libraries.union(name for name in self._spelled.get(file, ()) if self._ending(name))

    @cached_property
    def _libraries(self) -> frozenset[str]:
        known = load_catalog().missing_headers
        names = {name for spelled in self._spelled.values() for name in spelled if "/" in name}
        return frozenset(
            f for name in sorted(names) if (f := f"{name.partition('/')[0]}/*") in known and self._ending(name)
        )

    def _ending(self, name: str) -> dict[str, tuple[int, str]]:
        """The files of the tree whose path ends as an include is spelled: folder -> how many it holds, and one."""
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = self._ending_of(name)
        return found

    def _ending_of(self, name: str) -> dict[str, tuple[int, str]]:
        tail = os.sep + os.path.normpath(name).lstrip("." + os.sep)
        key = (os.path.basename(name), tail)  # noqa: PTH119
        if key not in self._endings:
            found: dict[str, tuple[int, str]] = {}
            for f in self._by_name.get(key[0], ()):
                folder, above = f, ""
                while f.endswith(tail) and folder != (above := os.path.dirname(folder)):  # noqa: PTH120
                    folder = above
                    found[folder] = (found.get(folder, (0, ""))[0] + 1, f)
            self._endings[key] = found
        return self._endings[key]

    def _leader(self, file: str) -> str:
        """The file that stands for its group (union-find with path halving)."""
        group = self._group
        while (above := group.get(file, file)) != file:
            group[file] = group.get(above, above)
            file = above
        return file

    def _targets(self, file: str, scan: Scan) -> dict[str, str]:
        resolved = {}
        for name, quoted in scan.includes:
            target = self._in_folders(file, name, quoted)
            if target is None and (target := self._nearest(file, name, quoted)) is not None:
                folder = target.removesuffix(f"/{name}")
                if folder != target and not self._hides_cuda(folder):
                    self._told[file][folder] = None
            if target is not None:
                resolved[name] = target
        return resolved

    def _hides_cuda(self, folder: str) -> bool:
        """Whether a folder holds a file called as a header of CUDA's, which others mean when they say its name."""
        known = self._hiding.get(folder)
        if known is None:
            known = any(f"{folder}/{name}" in self._files for name in load_catalog().headers)
            self._hiding[folder] = known
        return known

    def _in_folders(self, file: str, name: str, quoted: bool) -> str | None:
        """The file that an include names, beside its own or in a folder of -I."""
        folder = os.path.dirname(file)  # noqa: PTH120
        for base in (folder, *self._dirs) if quoted else self._dirs:
            candidate = f"{base}/{name}"
            if _ODD_PATH.search(name) is not None or os.sep != "/":
                candidate = os.path.normpath(candidate)
            if candidate in self._files:
                return candidate
        return None

    def _nearest(self, file: str, name: str, quoted: bool) -> str | None:
        """The file of the tree that an include names, in a folder that only the build knows."""
        folder = os.path.dirname(file)  # noqa: PTH120
        near = self._ending(name)
        if not near or (not quoted and not is_projects(name, load_catalog().headers)):
            return None
        # the build knows more include folders than we do: take the nearest such file if there is just one
        while folder not in near and folder != (above := os.path.dirname(folder)):  # noqa: PTH120
            folder = above
        count, file = near.get(folder, (0, ""))
        return file if count == 1 else None
