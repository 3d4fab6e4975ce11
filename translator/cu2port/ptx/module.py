"""A whole .ptx file as HIP source: one `extern "C" __global__` function an entry, with its name and its parameters.

Control flow stays as labels and `goto`. What has no meaning in HIP becomes a call that does not compile (or traps), at
its place, and is named in what `convert` returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from cu2port.ptx.carry import mixes_carry
from cu2port.ptx.ir import TYPES, Function, Module, Place
from cu2port.ptx.module_body import EXITED, INDENT, Body
from cu2port.ptx.module_data import (
    SYMBOL,
    SYMBOL_MACRO,
    Structs,
    grouped,
    is_external,
    is_opaque,
    names,
    place,
    symbol,
    unused,
)
from cu2port.ptx.module_facts import Facts, Left, exiting, is_builtin, opaque, own
from cu2port.ptx.module_print import strings
from cu2port.ptx.parse import parse_module
from cu2port.ptx.printer import NAMESPACE
from cu2port.ptx.rename import instructions
from cu2port.ptx.reserved import KEYWORDS, OCCUPIED
from cu2port.ptx.vector_registers import without_vectors


@dataclass(frozen=True, slots=True)
class Converted:
    """HIP source made of a module. `kernels`: names of its entries. `left`: what must be written by hand.

    `renamed`: kernels that got another name in C++, with it. `mixing_carry`: functions in which an addition may read
    the carry of a subtraction, or the other way round.
    """

    text: str
    kernels: tuple[str, ...]
    left: tuple[Left, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    mixing_carry: tuple[str, ...] = ()


def convert(text: str, fp: str = "exact", trap: bool = False) -> Converted:
    """A .ptx file as HIP source. Raises PtxSyntaxError where it cannot be read."""
    return _Writer(parse_module(text), fp, trap).written()


def entries(text: str) -> tuple[str, ...]:
    """Names of the kernels of a PTX text, found without parsing it."""
    return tuple(dict.fromkeys(re.findall(r"\.entry\s+([\w$%.]+)", text)))


#: Headers of ours that words of the text ask for.
_HEADERS = (
    ("ptx.hpp", rf"{NAMESPACE}(?!untranslated)"),
    ("untranslated.hpp", rf"{NAMESPACE}untranslated"),
    ("warp.hpp", "cu2port::warp::"),
    ("mma.hpp", "cu2port::mma::"),
    ("wmma.hpp", "cu2port::wmma::"),
)
_CLUSTERS = ("reqnctapercluster", "maxclusterrank", "explicitcluster", "blocksareclusters")


class _Writer:
    def __init__(self, module: Module, fp: str, trap: bool) -> None:
        self.module = replace(module, functions=tuple(map(without_vectors, module.functions)))
        functions = {f.name: f for f in module.functions if f.body is None}
        functions |= {f.name: f for f in self.module.functions if f.body is not None}
        self.names = names(module)
        # a kernel under another name is a function that two kernels call: see `function`
        renamed = {f.name for f in module.functions if f.is_entry and self.names[f.name] != symbol(f.name)}
        self.twice = renamed - KEYWORDS - OCCUPIED
        self.taken = taken = set(self.names.values())
        for old in sorted(self.twice):
            for part in ("body", "symbol"):
                self.names[f"{old} {part}"] = unused(f"{self.names[old]}{part}", taken)
        textures = opaque(module.variables)
        texts = strings(module.variables)
        self.facts = Facts(
            functions, self.names, exiting(functions.values()), textures, Structs(), own(self.module), texts, fp, trap
        )

    def written(self) -> Converted:
        module, facts = self.module, self.facts
        variables = [v for v in module.variables if v.name not in facts.opaque]
        defined = {v.name for v in variables if "extern" not in v.attributes}
        variables = [v for v in variables if "extern" not in v.attributes or v.name not in defined]
        inside = {v.name for found in facts.own.values() for v in found}
        globals_ = [facts.declared(v, self.names[v.name]) for v in variables if v.name not in inside]
        places = {f.name: Place(self.names[f.name], TYPES["u64"], pointer=True) for f in module.functions}
        for v in variables:
            places[v.name] = place(v, self.names[v.name])
        reserved = frozenset({*self.names.values(), *(p.text.lstrip("&") for p in places.values())})
        bodies = [self.function(f, places, reserved) for f in module.functions if f.body is not None]
        bodies += self.aliases()
        plain = [f for f in facts.functions.values() if not f.is_entry and not (f.body is None and is_builtin(f.name))]
        prototypes = [f"{self.signature(f)};" for f in plain]
        renamed = tuple((f.name, self.names[f.name]) for f in module.functions if f.is_entry)
        renamed = tuple((old, new) for old, new in dict.fromkeys(renamed) if symbol(old) != new)
        # a word of C++ can be the symbol's name on both sides
        labels = [f'{self.signature(facts.functions[old])} __asm__("{old}");' for old, _ in renamed if old in KEYWORDS]
        version = f"PTX {module.version}" if module.version else "PTX"
        target = f" for {', '.join(module.target)}" if module.target else ""
        head = f"// Made from {version}{target}.\n#include <hip/hip_runtime.h>\n\n#include <cstdint>\n"
        structs = facts.structs.declared()
        text = "\n".join([*structs, *prototypes, *globals_, *facts.hoisted, *bodies])
        headers = [h for h, word in _HEADERS if re.search(word, text)]
        chunks = [head]
        chunks += ["".join(f'#include "cu2port/{h}"\n' for h in headers)] if headers else []
        chunks += [SYMBOL_MACRO] if SYMBOL in text else []
        for group in (structs, [*dict.fromkeys((*prototypes, *labels))], [*globals_, *facts.hoisted]):
            if group:
                chunks.append("\n".join(group) + "\n")
        chunks += bodies
        kernels = tuple(f.name for f in module.functions if f.is_entry and f.body is not None)
        mixing_carry = tuple(f.name for f in module.functions if f.body is not None and mixes_carry(f.body))
        return Converted("\n".join(chunks), kernels, tuple(facts.left), renamed, mixing_carry)

    # --- declarations -------------------------------------------------------------------------------------------------

    def parameters(self, f: Function) -> list[str]:
        """C++ names of a function's parameters, then of its results."""
        out: dict[str, None] = {}
        for p in (*f.params, *f.returns):
            name = symbol(p.name)
            while name in out or name in KEYWORDS or name in self.taken or name == EXITED:
                name += "_"
            out[name] = None
        return list(out)

    def signature(self, f: Function, name: str = "", where: str = "") -> str:
        """The head of a function; `name` and `where` (`static __device__`) in place of its own."""
        type_of = self.facts.structs.type_of
        result = type_of(f.returns[0]) if len(f.returns) == 1 else "void"
        limits = dict(f.limits)
        threads = limits.get("reqntid") or limits.get("maxntid")
        bounds = f" __launch_bounds__({prod(threads)})" if f.is_entry and threads and not where else ""
        found = self.parameters(f)
        params = [f"{type_of(p)} {name}" for p, name in zip(f.params, found, strict=False)]
        if len(f.returns) > 1:
            params = [
                f"{type_of(p)}& {name}" for p, name in zip(f.returns, found[len(f.params) :], strict=True)
            ] + params
        if f.name in self.facts.exiting:
            params.append(f"bool& {EXITED}")
        linkage = 'extern "C"' if is_external(f) else "static"
        # a function that several modules define, as compilers write those of headers
        weak = " __attribute__((weak))" if "weak" in f.attributes and not f.is_entry and f.body is not None else ""
        where = where or f"{linkage}{weak} {'__global__' if f.is_entry else '__device__'}"
        return f"{where}{bounds} {result} {name or self.names[f.name]}({', '.join(params)})"

    def function(self, f: Function, places: Mapping[str, Place], reserved: frozenset[str]) -> str:
        for p in f.params:
            if is_opaque(p):
                why = "textures and surfaces are objects of another kind in HIP"
                self.facts.left.append(Left(f.name, f".param {p.name}", p.line, p.column, why, "pass a texture object"))
        for name, numbers in f.limits:
            if name in _CLUSTERS and any(n > 1 for n in numbers or (2,)):
                why = "clusters of blocks exist on NVIDIA's GPUs since Hopper only"
                self.facts.left.append(
                    Left(f.name, f".{name}", f.line, f.column, why, "let each block work for itself")
                )
        body = Body(self.facts, f, places, self.parameters(f), reserved)
        lines = body.written()
        lines = [*grouped(body.top), *lines]
        inner = "".join(f"{INDENT}{line}\n" if not line.endswith(":;") else f"{line}\n" for line in lines)
        if f.name not in self.twice:
            return f"{self.signature(f)} {{\n{inner}}}\n"
        # Its symbol may be the C library's for the host, so it is that of a kernel which the host does not see.
        plain, other = self.names[f"{f.name} body"], self.names[f"{f.name} symbol"]
        call = f"{{\n{INDENT}{plain}({', '.join(self.parameters(f))});\n}}\n"
        kernel = self.signature(f, other)
        return (
            f"{self.signature(f, plain, 'static inline __device__')} {{\n{inner}}}\n\n{self.signature(f)} {call}\n"
            f'#ifdef __HIP_DEVICE_COMPILE__\n{kernel} __asm__("{f.name}");\n{kernel} {call}#endif\n'
        )

    def aliases(self) -> list[str]:
        """Functions that call those whose other name they are."""
        out = []
        for d in self.module.directives:
            one, _, other = d.text.partition(" ")
            if d.name != "alias" or one not in self.facts.functions or other not in self.facts.functions:
                continue
            f = self.facts.functions[one]
            found = self.parameters(f)
            given = found[len(f.params) :] if len(f.returns) > 1 else []
            given = [*given, *found[: len(f.params)]]
            result = "return " if len(f.returns) == 1 else ""
            out.append(f"{self.signature(f)} {{\n{INDENT}{result}{self.names[other]}({', '.join(given)});\n}}\n")
        return out


__all__ = ["Converted", "Left", "convert", "entries", "instructions"]
