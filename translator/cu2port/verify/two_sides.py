"""A unit whose device's side has other functions or classes than the host's is compiled twice, as CUDA and HIP do it.

The object of the device's side gives the kernels, with the functions and classes that they use under names of their
own; that of the host's side gives the rest, the variables too. Both are one object then.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

from cu2port.facts.unit import Unit
from cu2port.project.tree import CannotRun
from cu2port.verify.copies import Copy
from cu2port.verify.device_names import binutils, device_symbols
from cu2port.verify.elf import machine, made_visible, symbols
from cu2port.verify.left_out import MACRO, is_ours, left_out
from cu2port.verify.sim_compiler import CannotBuild, Toolchain

_SIDED = frozenset({"__global__", "__device__", "__constant__", "__managed__"})
_OPENS = frozenset({"(", "{", "=", ";", "["})  # behind the words that say what is declared
_SUFFIX = ".device"  # shown as a clone
_OF_CLASS = ("_ZTV", "_ZTT", "_ZTC", "_ZTI", "_ZTS")  # tables of a class that name its functions
_NOT_RUN = (".init_array", ".init_array.*", ".ctors", ".ctors.*", ".fini_array", ".fini_array.*", ".dtors", ".dtors.*")
_APART = ("-ffunction-sections", "-fdata-sections", "-fno-lto")
_BOTH = frozenset({"__host__", "__device__"})
_JUMPS = {62: "jmp\t{}@PLT", 183: "b\t{}"}  # by processor: x86-64, AArch64
_LENGTH = re.compile(r"([LB]?)(\d+)")


def has_two_sides(units: Iterable[Unit]) -> bool:
    """Whether kernels may see other code outside of functions than the host does."""
    files = list(units)
    return any(u.find("__global__") for u in files) and any(left_out(u)[0] or _parts_inside(u) for u in files)


def _parts_inside(unit: Unit) -> bool:
    """Whether a function of both sides has other code for the device."""
    if not unit.find(MACRO) or is_ours(Path(unit.path).resolve()):
        return False
    inside = (unit.function_at(i) for i in unit.find(MACRO))
    return any(f is not None and f.sides >= _BOTH for f in inside)


def share_names(copy: Copy) -> None:
    """What is local to a unit and of the device gets a name that both of its objects know. Headers of ours keep the
    host's side in both: that of the device is for GPUs alone."""
    unit = copy.unit
    if is_ours(Path(unit.path).resolve()):
        for i in unit.find(MACRO):
            copy.replace(i, i + 1, "CU2PORT_IS_GPU")
    for i in unit.find("namespace"):
        if unit.tok(i + 1) == "{" and unit.in_directive(i) is None:
            copy.replace(i, i + 1, "CU2PORT_NAMESPACE")
    for i in unit.find("static"):
        if unit.in_directive(i) is None and _is_of_device(unit, i):
            copy.replace(i, i + 1, "CU2PORT_OWN")


def _is_of_device(unit: Unit, i: int) -> bool:
    f = unit.function_at(i)
    if (f is not None and f.body[0] < i) or unit.declarations.scope_at(i).kind not in ("file", "namespace"):
        return False
    stop = i
    while stop < len(unit.t) and unit.t[stop] not in _OPENS:
        stop += 1
    return not _SIDED.isdisjoint((unit.tok(i - 2), unit.tok(i - 1), *unit.t[i:stop]))


def compile_both(call: Sequence[str], toolchain: Toolchain, out: Path, files: Iterable[Unit], key: str) -> str:
    """Compile a unit for both sides to one object; what is in the way where that is not possible, else "".

    `call`: the compiler's words, without what it makes; `files`: the unit's and what it includes; `key`: differs for
    each object of a program.
    """
    own = hashlib.sha256(key.encode()).hexdigest()[:12]
    words = [*_APART, f'-DCU2PORT_OWN=__attribute__((abi_tag("cu2port_{own}")))']
    words.append(f"-DCU2PORT_NAMESPACE=inline namespace cu2port_{own}")
    units = list(files)
    names = {f.name for u in units for f in u.functions if "__global__" in f.sides}
    with tempfile.TemporaryDirectory(prefix="cu2port-") as scratch:
        host, device, both = (Path(scratch, f"{n}.o") for n in ("host", "device", "both"))
        try:
            own_kernels = set()
            for side, obj in ((("2", "-D__HIP_DEVICE_COMPILE__=1"), device), (("1",), host)):
                own_kernels |= _object(
                    [*words, f"-DCU2PORT_SIM_SIDE={side[0]}", *side[1:], *call], toolchain, obj, names
                )
            in_the_way = _joined(host, device, both, units, toolchain)
            if own_kernels and not in_the_way:
                _change("localize-symbols", sorted(own_kernels), both)
        except CannotBuild as e:
            return f"it does not compile: {_first_error(str(e))}"
        except CannotRun as e:
            return str(e)
        if not in_the_way:
            out.write_bytes(both.read_bytes())
        return in_the_way


def _object(call: Sequence[str], toolchain: Toolchain, obj: Path, names: Set[str]) -> set[str]:
    """Compile a side of a unit. Returns the kernels of these names that have a type which is local to a function, a
    lambda's for one: the compiler makes them local to the object, here the two objects share them."""
    toolchain.call([*call, str(obj)])
    own = {s.name for s in symbols(obj) if s.is_local and s.is_function and _own_name(s.name) in names}
    if own:
        text = obj.with_suffix(".s")
        toolchain.call([*("-S" if w == "-c" else w for w in call), str(text)])
        shared = "".join(f'\t.globl\t"{n}"\n\t.protected\t"{n}"\n' for n in sorted(own))
        text.write_bytes(shared.encode("utf-8", "surrogateescape") + text.read_bytes())
        toolchain.call(["-c", "-x", "assembler", str(text), "-o", str(obj)])
    return own


def once(why: str) -> list[str]:
    """The words of a unit that is compiled once, from copies that are written for two sides. `why`: what was in the
    way of both sides."""
    text = "".join(c if c.isprintable() and c not in '"\\' else "'" for c in why)
    return ["-DCU2PORT_OWN=static", "-DCU2PORT_NAMESPACE=namespace", f'-DCU2PORT_LEFT_WHY="{text}"']


def _first_error(said: str) -> str:
    lines = [x.strip() for x in said.splitlines()]
    return next((x for x in lines if " error: " in x or " Error: " in x), lines[0] if lines else "")[:300]


def _joined(host: Path, device: Path, out: Path, units: Sequence[Unit], toolchain: Toolchain) -> str:
    """Join the objects of both sides. Not done where a kernel is known to one of them alone: then says so.

    Functions of both sides that other units may call have the device's side under a name of its own. A call of one
    that is not here takes that name; where its unit has one side, it comes to the function by a jump (`_jumps`)."""
    of_host, of_device = ({s.name: s for s in symbols(o)} for o in (host, device))
    kernels = {s.name for s in of_device.values() if s.is_kernel}
    for lacking in sorted({s.name for s in of_host.values() if s.is_kernel} - kernels):
        return f"the device's side does not have kernel {lacking}"
    for obj in (host, device):
        made_visible(obj)
    if not kernels:
        out.write_bytes(host.read_bytes())
        return ""
    both = {f.name for u in units for f in u.functions if f.sides >= _BOTH}
    others = {
        s.name
        for s in of_device.values()
        if s.is_function and s.is_defined and not (s.is_local or s.is_weak) and _own_name(s.name) in both
    }
    kept = kernels | {n for n in device_symbols(device, units) if n in of_host and of_device[n].is_function}
    others -= kept
    with tempfile.TemporaryDirectory(prefix="cu2port-") as scratch:
        used = Path(scratch, "used.o")
        binutils("objcopy", *(x for s in _NOT_RUN for x in ("-R", s)), str(device))
        roots = Path(scratch, "roots")
        roots.write_text("".join(f"-u {n}\n" for n in sorted(kept | others)), encoding="utf-8")
        binutils("ld", "-r", "--gc-sections", f"@{roots}", str(device), "-o", str(used))
        found = symbols(used)
        every = [s for s in found if s.is_defined]
        theirs = [s for s in every if not s.is_local and s.name not in kept]
        renamed = [s.name for s in theirs if s.is_function or s.name.startswith(_OF_CLASS)]
        renamed += {s.name for s in every if s.is_local and not s.size and s.name.startswith("_Z")}  # of groups
        larger = {s.name for s in theirs if s.name in of_host and s.size > of_host[s.name].size}
        weak = [s.name for s in theirs if s.name not in larger and s.name not in others]
        jump = _JUMPS.get(machine(used), "")
        called = sorted({s.name for s in found if not s.is_defined and _is_function(s.name)} if jump else ())
        _change("weaken-symbols", weak, used)
        _change("redefine-syms", [f"{n} {n}{_SUFFIX}" for n in [*renamed, *called]], used)
        _change("weaken-symbols", sorted(kept | larger), host)
        jumps = Path(scratch, "jumps.o")
        _jumps(called, jump, jumps, toolchain)
        binutils("ld", "-r", str(used), str(host), str(jumps), "-o", str(out))
    return ""


def _jumps(names: Iterable[str], jump: str, out: Path, toolchain: Toolchain) -> None:
    """Make an object in which the device's names of functions lead to the functions, where nobody else has them."""
    text = out.with_suffix(".s")
    lines = [
        f"\t.weak\t{n}{_SUFFIX}\n\t.type\t{n}{_SUFFIX}, %function\n{n}{_SUFFIX}:\n\t{jump.format(n)}\n" for n in names
    ]
    text.write_text("".join([*lines, '\t.section\t.note.GNU-stack,"",%progbits\n']), encoding="utf-8")
    toolchain.call(["-c", "-x", "assembler", str(text), "-o", str(out)])


def _own_name(symbol: str) -> str:
    """The last name of a function by its symbol, up to the first arguments of a template; "" for what has none."""
    nested = symbol.startswith("_ZN")
    at, last = 2 + nested, ""
    while symbol.startswith("_Z") and "." not in symbol and (m := _LENGTH.match(symbol, at)):
        at = m.end() + int(m[2])
        last = last if m[1] == "B" else symbol[m.end() : at]
        if not nested:
            break
    return last


def _is_function(symbol: str) -> bool:
    """Whether a symbol is certainly a function's in C++ and none of the simulator's: parameters are behind its name."""
    nested = symbol.startswith("_ZN")
    at = 2 + nested
    while symbol.startswith("_Z") and (m := _LENGTH.match(symbol, at)):
        at = m.end() + int(m[2])
        if symbol[m.end() : at] == "cu2port_sim" or (not nested and not _LENGTH.match(symbol, at)):
            break
    else:
        return nested and at > 3 and symbol[at : at + 1] == "E" and at + 1 < len(symbol) and "." not in symbol
    return not nested and at < len(symbol) and symbol[at] != "I" and "." not in symbol


def _change(option: str, lines: Sequence[str], obj: Path) -> None:
    """Let objcopy change what a file of lines names; an empty one it refuses."""
    if lines:
        listed = obj.with_suffix(".list")
        listed.write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
        binutils("objcopy", f"--{option}={listed}", str(obj))
