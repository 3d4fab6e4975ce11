"""Runs a program in the emulator of `second_executor.py`, and keeps what the emulator makes of instructions.

    EMULATOR/venv/bin/python tools/emulator_run.py EMULATOR STORE PROGRAM.so [argument]...

tinygrad's emulator writes C for each kind of instruction and compiles it, 0.2 s of a processor for each of the 200 in a
program of warp kernels, again in each process. STORE is a folder for these functions. All else is `amdemu/run.py`.
"""

from __future__ import annotations

import hashlib
import importlib
import marshal
import runpy
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Store:
    """Compiled functions by kind of instruction: its bits under a mask. One file each, so runs may share a folder."""

    def __init__(self, folder: Path, emulator: Any) -> None:
        self.emu = emulator.E
        self.compile = self.emu._get_runner
        self.decode = emulator.decode_inst
        self.decoded: dict[tuple[str, bytes], Any] = {}
        texts = (Path(module.__file__).read_bytes() for module in (emulator, self.emu))
        self.folder = folder / hashlib.sha256(b"".join(texts)).hexdigest()[:12]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kept: dict[Any, list[tuple[int, int, tuple[int, ...], bytes]]] = defaultdict(list)
        self.read: set[str] = set()
        self.refresh()
        self.loaded: dict[Any, Any] = {}
        self.known: dict[tuple[bytes, str], Any] = {}

    def refresh(self) -> bool:
        """Read what is new in the folder, as from a process that this one forked; whether there was something."""
        new = [path for path in self.folder.glob("*.function") if path.name not in self.read]
        for path in new:
            kind, mask, base, used, code = marshal.loads(path.read_bytes())
            self.kept[kind].append((mask, base, used, code))
            self.read.add(path.name)
        return bool(new)

    def runner(self, raw: bytes, arch: str) -> Any:
        """A pair of which the emulator takes `[0].arg.globals`, the buffers, and `[1].fxn`, the function."""
        found = self.known.get((raw, arch))
        if found is None:
            found = self.find(raw, arch) or (self.find(raw, arch) if self.refresh() else None) or self.make(raw, arch)
            self.known[raw, arch] = found
        return found

    def instruction(self, raw: bytes, arch: str) -> Any:
        """An instruction by the bytes it begins with: no instruction is the beginning of another."""
        for size in (4, 8, 12):
            if (arch, raw[:size]) in self.decoded:
                return self.decoded[arch, raw[:size]]
        inst = self.decode(raw, arch)
        self.decoded[arch, raw[: inst.size()]] = inst
        return inst

    def kind(self, raw: bytes, arch: str) -> tuple[tuple[str, str, int], int]:
        inst = self.instruction(raw, arch)
        size = inst.size()
        return (arch, type(inst).__name__, size), int.from_bytes(raw[:size], "little")

    def find(self, raw: bytes, arch: str) -> Any:
        kind, bits = self.kind(raw, arch)
        for mask, base, used, code in self.kept[kind]:
            if bits & mask == base:
                if (kind, mask, base) not in self.loaded:
                    self.loaded[kind, mask, base] = self.load(used, code)
                return self.loaded[kind, mask, base]
        return None

    def load(self, used: tuple[int, ...], code: bytes) -> Any:
        made = SimpleNamespace(lib=code, name="kept", signature=(), target=SimpleNamespace(renderer=""))
        return SimpleNamespace(arg=SimpleNamespace(globals=used)), self.emu.Device["CPU"].runtime(made)

    def make(self, raw: bytes, arch: str) -> Any:
        found = self.compile(raw, arch)
        kind, _ = self.kind(raw, arch)
        for _, base, mask, _, pair in self.emu._canonical_runner_cache:
            if pair[1] is found[1]:
                row = kind, mask, base, tuple(found[0].arg.globals), found[0].to_elf().lib
                name = hashlib.sha256(repr(row[:3]).encode()).hexdigest()[:24]
                part = self.folder / f"{name}.{id(self)}.part"
                part.write_bytes(marshal.dumps(row))
                part.replace(self.folder / f"{name}.function")
                break
        return found


def main(root: Path, folder: Path, *arguments: str) -> None:
    sys.path.insert(0, str(root / "amdemu"))
    emulator: Any = importlib.import_module("amdemu")
    store = Store(folder, emulator)
    emulator.E._get_runner = store.runner
    emulator.decode_inst = store.instruction
    sys.argv = ["run.py", *arguments]
    runpy.run_path(str(root / "amdemu" / "run.py"), run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
