"""A C++ program that runs emitted instructions on vectors, to compare the emitter with the interpreter."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from cu2port.ptx.emit import emit
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.vectors import Case

_HEAD = """\
#include <cu2port/ptx.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {
template <class T> T get(std::uint64_t word) {
    T out;
    std::memcpy(&out, &word, sizeof out);
    return out;
}
template <class T> std::uint64_t put(T value) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
}  // namespace
"""

_TAIL = """
struct Entry {
    void (*run)(const std::uint64_t*, std::uint64_t*);
    int inputs, results, vectors;
};
const Entry entries[] = {
%s};

int main() {
    std::uint64_t in[16], out[16];
    for (const Entry& e : entries)
        for (int i = 0; i < e.vectors; ++i) {
            if (e.inputs && std::fread(in, 8, e.inputs, stdin) != static_cast<std::size_t>(e.inputs)) return 1;
            e.run(in, out);
            std::fwrite(out, 8, e.results, stdout);
        }
}
"""


def program(cases: Sequence[Case]) -> str:
    """C++ whose `main` reads the cases' inputs from stdin, 64 bits each, and writes their results to stdout."""
    parts = [_HEAD]
    for n, case in enumerate(cases):
        text = f"{case.instruction.opcode} {case.instruction.operands[1:]}"
        parts.append(f"// {text}\nvoid f{n}(const std::uint64_t* in, std::uint64_t* out) {{")
        for i, name in enumerate(case.inputs):
            place = case.places[name]
            parts.append(f"    auto {place.text} = get<{cxx_type(place.type)}>(in[{i}]);")
        for name, place in case.places.items():
            if name not in case.inputs:
                parts.append(f"    {cxx_type(place.type)} {place.text};")
        parts.extend(f"    {line}" for line in emit(case.statements, case.places).lines)
        parts.extend(f"    out[{i}] = put({case.places[name].text});" for i, name in enumerate(case.results))
        parts.append("    (void)in;\n}")
    entries = "".join(
        f"    {{f{n}, {len(c.inputs)}, {len(c.results)}, {len(c.vectors)}}},\n" for n, c in enumerate(cases)
    )
    return "\n".join(parts) + _TAIL % entries


def inputs(cases: Sequence[Case]) -> bytes:
    """What the program reads."""
    return b"".join(struct.pack(f"<{len(v)}Q", *v) for case in cases for v in case.vectors)


def results(cases: Sequence[Case], output: bytes) -> list[list[tuple[int, ...]]]:
    """What the program wrote: for each case, for each vector, its results."""
    out, at = [], 0
    for case in cases:
        n = len(case.results)
        rows = []
        for _ in case.vectors:
            rows.append(struct.unpack_from(f"<{n}Q", output, at))
            at += 8 * n
        out.append(rows)
    return out
