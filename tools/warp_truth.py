"""Recall against ports made by hand: are the CUDA lines that their authors changed for the warp size flagged?

    python tools/warp_truth.py LIST TREE [--misses] [--logical]

LIST: a text whose section `WAVE64 TRUTH` names one program a line (`* D NAME ...` or `  D NAME ...`, then lines that
are not read). TREE: HeCBench's `src`, where NAME-cuda and NAME-hip lie side by side. A line counts when the HIP side
does not have it after plain renaming, and it refers to warps: a cross-lane operation, a warp or lane name, a lane mask,
or 32, 31 or 5 as in lane arithmetic. It is found when a finding of the families CU3xx or CU4xx (PTX of lanes) touches
it with `--warp flag`, or when an edit changes it (with `--logical`: of the default mode).
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

from cu2port.core.model import Options
from cu2port.engine.translate import translate

NAME = re.compile(r"^[* ] [A-Z] (\S+)\s+loc=")
WARP = re.compile(
    r"__(?:shfl|ballot|any|all|match|reduce_\w+_sync|syncwarp|activemask)|(?i:warp_?s(?:i?ze?)\b|lane|warps?\b|warp_?id)"
    r"|tiled_partition|thread_block_tile|0x[fF]{8}\b|(?i:full_?(?:warp_?)?mask)|%lane|%warp|coalesced"
    r"|[%/&]\s*\(?\s*(?:32|31|0x1[fF])\b|>>\s*5\b|<<\s*5\b|\b(?:SHFL|shfl)\w*\("
)
_CODE = re.compile(r"//.*$|/\*.*?\*/")


def programs(text: str) -> list[str]:
    """The programs that the section names."""
    section = text.partition("## WAVE64 TRUTH")[2].partition("\n## ")[0]
    return [m[1] for line in section.splitlines() if (m := NAME.match(line))]


def plain(line: str) -> str:
    """A line without white space, comments, and what a renaming tool changes."""
    line = re.sub(r"\s+", "", _CODE.sub("", line))
    line = re.sub(r"hipLaunchKernelGGL\((.*?),(.*?),(.*?),(.*?),(.*?),", r"\1<<<\2,\3>>>(", line)
    line = re.sub(r"(?<![A-Za-z])hip(?=[A-Z_])", "cuda", line).replace("HIP", "CUDA").replace("hip", "cuda")
    return re.sub(r"<<<([^,<>]*),([^,<>]*)(?:,0)*>>>", r"<<<\1,\2>>>", line)


def changed(cuda: str, hip: str) -> list[int]:
    """Line numbers of the CUDA side that the HIP side does not have and that refer to warps."""
    a, b = cuda.splitlines(), hip.splitlines()
    matcher = difflib.SequenceMatcher(None, [plain(x) for x in a], [plain(x) for x in b], autojunk=False)
    out = []
    for kind, first, stop, _, _ in matcher.get_opcodes():
        if kind in ("replace", "delete"):
            out += [n for n in range(first, stop) if plain(a[n]) and WARP.search(_CODE.sub("", a[n]))]
    return [n + 1 for n in out]


def touched(path: Path, options: Options) -> set[int]:
    """Lines that a warp or PTX finding refers to, or that any edit of one changes."""
    data = path.read_bytes()
    text = data.decode("latin-1")
    out: set[int] = set()
    for j in translate(data, options, path=str(path)).findings:
        f = j.finding
        if f.code[:3] not in ("CU3", "CU4") and not (f.edits and "warp" in f.name):
            continue
        for start, end in ((f.start, f.end), *((e.start, e.end) for e in f.edits)):
            first = text.count("\n", 0, start) + 1
            out.update(range(first, first + text.count("\n", start, max(start, end)) + 1))
    return out


def main() -> int:
    """Print the recall."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--logical", action="store_true")
    args = parser.parse_args()
    options = Options(warp="logical" if args.logical else "flag")
    total = found = 0
    for name in programs(args.list.read_text(encoding="utf-8")):
        cuda, hip = args.tree / f"{name}-cuda", args.tree / f"{name}-hip"
        lines = hits = 0
        for path in sorted(p for p in cuda.rglob("*") if p.suffix in (".cu", ".cuh", ".h", ".hpp", ".cpp", ".inl")):
            other = hip / path.relative_to(cuda)
            twin = next((p for p in (other, other.with_suffix(".hip"), other.with_suffix(".cpp")) if p.is_file()), None)
            if twin is None:
                continue
            old = path.read_bytes().decode("latin-1")
            wanted = changed(old, twin.read_bytes().decode("latin-1"))
            if not wanted:
                continue
            seen = touched(path, options)
            lines += len(wanted)
            hits += sum(n in seen for n in wanted)
            if args.misses:
                for n in wanted:
                    if n not in seen:
                        text = old.splitlines()[n - 1].strip()
                        sys.stdout.write(f"missed\t{path.relative_to(args.tree)}:{n}\t{text}\n")
        total, found = total + lines, found + hits
        if lines:
            sys.stdout.write(f"{name}\t{hits}/{lines}\n")
    sys.stdout.write(f"all\t{found}/{total} = {found / max(total, 1):.1%}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
