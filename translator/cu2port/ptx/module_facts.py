"""What is known of a module before its functions are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cu2port.ptx.ir import Function, Module, Reg, Variable
from cu2port.ptx.module_data import VISIBLE, NoInitialError, Structs, declaration, is_opaque
from cu2port.ptx.rename import instructions, mentioned

RUNTIME = {  # functions that both GPUs' runtimes have: how C++ calls them, of texts of the arguments
    "malloc": "reinterpret_cast<std::uint64_t>(malloc({0}))",
    "free": "free(reinterpret_cast<void*>({0}))",
    # C++'s operators, which the headers of CUDA and HIP define by these
    **dict.fromkeys(("_Znwm", "_Znam"), "reinterpret_cast<std::uint64_t>(malloc({0}))"),
    **dict.fromkeys(("_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"), "free(reinterpret_cast<void*>({0}))"),
    "__assertfail": "__assert_fail(reinterpret_cast<const char*>({0}), reinterpret_cast<const char*>({1}), {2}, "
    "reinterpret_cast<const char*>({3}))",
}


@dataclass(frozen=True, slots=True)
class Left:
    """What has no meaning in HIP. `line` and `column` count from 1, in the PTX."""

    function: str
    opcode: str
    line: int
    column: int
    why: str
    instead: str


@dataclass
class Facts:
    """What a body must know of its module."""

    functions: Mapping[str, Function]
    names: Mapping[str, str]
    exiting: frozenset[str]  # functions that may end the thread
    opaque: frozenset[str]  # names of textures, samplers and surfaces
    structs: Structs
    own: Mapping[str, Sequence[Variable]]  # shared memory that one function alone uses, by the function
    strings: Mapping[str, bytes] = field(default_factory=dict)  # for the formats of `vprintf`
    fp: str = "exact"
    trap: bool = False
    left: list[Left] = field(default_factory=list)
    hoisted: list[str] = field(default_factory=list)  # declarations that stood in functions and must stand outside

    def declared(self, v: Variable, name: str, function: str = "") -> str:
        """A variable outside of functions; one whose initial value C++ cannot say does not compile."""
        try:
            return declaration(v, name, self.names, bool(function))
        except NoInitialError as e:
            opcode = f".{v.space} {v.name}"
            why = f"its initial value: {e}"
            self.left.append(Left(function, opcode, v.line, v.column, why, "set it at run time"))
            plain = declaration(replace(v, init=None), name, self.names, bool(function))
            return plain if self.trap else f'#error "{opcode}: {why}"\n{plain}'


def is_builtin(name: str) -> bool:
    """Whether a function belongs to NVIDIA's device runtime (`vprintf`, `malloc`, `__assertfail`)."""
    return name == "vprintf" or name in RUNTIME or name.startswith(("cuda", "__nv_"))


def own(module: Module) -> dict[str, list[Variable]]:
    """Variables in shared memory that stand outside of functions and that one function alone names: compilers write
    a kernel's own so."""
    users: dict[str, set[str]] = {v.name: set() for v in module.variables if v.space == "shared"}
    for f in module.functions if users else ():
        for i in instructions(f.body or ()):
            for name in (r.name for o in i.operands for r in mentioned(o)):
                if name in users:
                    users[name].add(f.name)
    out: dict[str, list[Variable]] = {}
    for v in module.variables:
        if v.space == "shared" and VISIBLE.isdisjoint(v.attributes) and len(users[v.name]) == 1:
            (user,) = users[v.name]
            out.setdefault(user, []).append(v)
    return out


def exiting(functions: Iterable[Function]) -> frozenset[str]:
    """Functions, not kernels, that end the thread, by themselves or in what they call by name."""
    bodies = {f.name: f.body for f in functions if f.body is not None and not f.is_entry}
    callers: dict[str, list[str]] = {}
    open_ = []
    for name, body in bodies.items():
        for i in instructions(body):
            if i.opcode == "exit":
                open_.append(name)
            elif i.name == "call":
                for o in i.operands:
                    if isinstance(o, Reg):
                        callers.setdefault(o.name, []).append(name)
    out = set()
    while open_:
        if (name := open_.pop()) not in out:
            out.add(name)
            open_ += callers.get(name, ())
    return frozenset(out)


def opaque(variables: Iterable[Variable]) -> frozenset[str]:
    """Names of textures, samplers and surfaces."""
    return frozenset(v.name for v in variables if is_opaque(v))
