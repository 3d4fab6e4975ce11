"""Writes the generated half of include/cu2port/ptx.hpp again. Run it after changing a row that asks for a helper."""

from __future__ import annotations

from pathlib import Path

from cu2port.ptx.header import rewritten

HEADER = Path(__file__).parent.parent / "translator/cu2port/include/cu2port/ptx.hpp"


def main() -> None:
    HEADER.write_text(rewritten(HEADER.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
