"""The instrumented copy of a file: what the simulator compiles in place of the user's text.

Headers alone cannot know which lanes meet. In functions that reach a cross-lane operation, calls, operations and
loops get a site, so that a lane's position (call path, loops with iterations, place) is known when it waits; blocks
that can only leave their loop say so. Launches become calls, `__shared__` variables come from the block's memory.
Edits insert no line ends, and the copy starts with `#line`: messages name the user's file and lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cu2port.facts.structure import Function, Launch, Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import BEFORE_VALUE
from cu2port.verify.copies import Copy, on_one_line
from cu2port.verify.jumps import Region, regions, turns
from cu2port.verify.left_out import with_devices_side
from cu2port.verify.reach import Reach, is_reaching
from cu2port.verify.shared_vars import rewrite_shared
from cu2port.verify.sites import expression_start
from cu2port.verify.statements import Loop, Statements, lambda_bodies
from cu2port.verify.steps import has_steps, mark_steps
from cu2port.verify.two_sides import share_names

_NS = "::cu2port_sim::"
_DEVICE_ONLY = frozenset({"__global__", "__device__"})
_COMPILE_MACRO = "__HIP_DEVICE_COMPILE__"
_BY_ADDRESS = ("Kernel(", "KernelExC", "KernelNode")  # calls that take a kernel's address


def instrument(
    unit: Unit, reach: Reach, steps: bool = False, lines: Sequence[int] = (), two_sides: bool = False
) -> str:
    """The copy of a file that the simulator compiles. `unit.path` is what messages will name.

    `steps`: also for runs in lockstep and with the arms of branches in another order, as `--check` does them; `reach`
    then comes from `reached(..., steps=True)`. `lines`: for each line of the text the user's line it came from, if
    conversion moved it. `two_sides`: to be compiled for the host and for the device, see `two_sides.py`.
    """
    copy = Copy(unit, lines)
    taken = {i for launch in unit.launches for i in range(launch.callee, launch.open + 1)}
    for launch in unit.launches:
        _launch(copy, launch)
    _one_for_both_sides(copy)
    for f in unit.functions:
        _function(copy, f, reach, taken, steps)
    for definitions in unit.macros.values():
        for m in definitions:
            _macro(copy, m, reach, taken)
    if any(x in unit.text for x in _BY_ADDRESS):
        _erase(copy)
    rewrite_shared(copy.unit, copy.replace)
    with_devices_side(copy)
    if two_sides:
        share_names(copy)
    return f"{copy.line(0)}{copy.text()}"


def _launch(copy: Copy, launch: Launch) -> None:
    unit = copy.unit
    callee = on_one_line(unit, launch.callee, launch.open)
    first, last = launch.args
    # a macro's argument, whose body has the kernel's name, or a macro, behind which the arguments are
    if launch.args == (-1, -1) or unit.tok(launch.open - 1) in (",", "("):
        copy.replace(launch.open, launch.config_first, f"->* {_NS}Launcher{{{_NS}configure(")
        copy.replace(launch.close, launch.close + 3, f'), "kernel", {_NS}Where::here()}}')
    else:
        shown = callee.replace("\\", "\\\\").replace('"', '\\"')
        copy.replace(launch.callee, launch.config_first, f"{_NS}Launch{{{_NS}configure(")
        call = f"[=](auto&... cu2port_a) {{ {callee}(cu2port_a...); }}"
        if last == first + 2 and unit.in_directive(first) is not None:  # a parameter of a macro may be empty
            call = f".of({call})("
        else:
            call = f"({call}{', ' * (last > first + 1)}"
        copy.replace(launch.close, first + 1, f'), "{shown}", {_NS}Where::here()}}{call}')
    for i in range(first + 1, last):  # NULL is an integer to a template
        if unit.t[i] == "NULL":
            copy.replace(i, i + 1, "nullptr")


def _one_for_both_sides(copy: Copy) -> None:
    """A function that is written for the host and again for the device, as CU216 does: here both are one function."""
    unit = copy.unit
    for host, device in pairwise(unit.functions):
        if host.name != device.name or "".join((*host.sides, *device.sides)) != "__host____device__":
            continue
        first, second = (
            [w for w in unit.t[f.first : f.body[1] + 1] if w not in ("__host__", "__device__")] for f in (host, device)
        )
        if first == second:
            copy.replace(device.first, device.body[1] + 1, "")


def _erase(copy: Copy) -> None:
    """A function cast to `void*`: the cast tells the runtime its type, so that it can be launched by its address."""
    unit = copy.unit
    t = unit.t
    for star in unit.find("*"):
        if unit.tok(star - 1) not in ("void", "const") or "void" not in (unit.tok(star - 1), unit.tok(star - 2)):
            continue
        opener = star - 1
        while t[opener] in ("void", "const"):
            opener -= 1
        if t[opener] == "(" and unit.tok(star + 1) == ")":
            first, wrapped = star + 2, False
        elif t[opener] == "<" and unit.tok(opener - 1) == "reinterpret_cast" and unit.tok(star + 2) == "(":
            first, wrapped = star + 3, True
        else:
            continue
        name = first + (unit.tok(first) == "&")
        if not is_identifier(unit.tok(name)) or unit.tok(name) in BEFORE_VALUE:
            continue
        stop = name + 1
        while unit.tok(stop) == "::" and is_identifier(unit.tok(stop + 1)):
            stop += 2
        if unit.tok(stop) == "<":
            stop = unit.angle_close(stop) + 1
        if stop <= 0 or unit.tok(stop) not in (")", ",", ";", "}"):
            continue
        shown = on_one_line(unit, name, stop)
        copy.replace(opener - 1 if wrapped else opener, first, f'{_NS}erased("{shown}", ')
        if not wrapped:
            copy.after(stop - 1, ")")


def _function(copy: Copy, f: Function, reach: Reach, taken: set[int], steps: bool) -> None:
    unit = copy.unit
    first, stop = f.body[0] + 1, f.body[1]
    body = Statements(unit, first, stop)
    if f.sides & _DEVICE_ONLY:
        for i in body.tokens(first, stop):
            if unit.t[i] == "printf" and unit.tok(i + 1) == "(" and unit.tok(i - 1) not in ("::", ".", "->"):
                copy.replace(i, i + 1, "cu2port_sim_print")
        _device_branches(copy, f)
    steps = steps and has_steps(unit, f)
    if steps:
        mark_steps(body, copy.before, copy.after)
    _positions(copy, body, reach, taken, bool(f.sides & _DEVICE_ONLY), steps)


def _macro(copy: Copy, m: Macro, reach: Reach, taken: set[int]) -> None:
    _positions(copy, Statements(copy.unit, m.first, m.stop, macro=True), reach, taken, False)


def _device_branches(copy: Copy, f: Function) -> None:
    """Device code sees the branches that ask for the device side of a compilation, which a program may set for more."""
    if "__host__" in f.sides or _COMPILE_MACRO not in copy.unit.t[f.first : f.body[1]]:
        return
    kept = f'_macro("{_COMPILE_MACRO}")'
    copy.before(f.first, f"\n#pragma push{kept}\n#define {_COMPILE_MACRO} 1\n{copy.line(copy.unit.p[f.first])}")
    copy.after(f.body[1], f"\n#pragma pop{kept}\n{copy.line(copy.unit.p[f.body[1]])}")


def _positions(copy: Copy, body: Statements, reach: Reach, taken: set[int], device: bool, steps: bool = False) -> None:
    unit = copy.unit
    tokens = body.tokens(body.first, body.stop)
    sites = [i for i in tokens if i not in taken and is_identifier(unit.t[i]) and is_reaching(unit, i, reach)]
    marks = sorted({*sites, *(i for i in tokens if unit.t[i] in reach.macros)})
    loops = body.loops()
    if loops and not device:  # OpenMP takes loops of one form, and no lane runs in them
        spread = body.shared_out()
        loops = [x for x in loops if not any(first <= x.keyword < stop for first, stop in spread)]
    counted = [x for x in loops if x.body < 0 or any(x.keyword <= i < x.stop for i in marks)] if marks else []
    if steps:
        counted = loops
    elif counted and not sites and all(x.body < 0 for x in counted):
        counted = []
    names = {x.keyword: f"cu2port_l{n}" for n, x in enumerate(counted)}
    for loop in loops:
        spins = device and _waits(unit, loop)
        if loop.keyword in names or spins:
            _loop(copy, body, loop, names.get(loop.keyword, ""), spins)
    _leaves(copy, body, counted, names, marks, reach)
    jumps = regions(body, marks, sites) if device else []
    _jumps(copy, body, jumps)
    around = turns(jumps, sites)
    for i in sites:
        _site(copy, i, body.first, around[i])


def _jumps(copy: Copy, body: Statements, jumps: Sequence[Region]) -> None:
    """Labels count how often a lane comes by, and the counts of those right inside begin again."""
    if jumps:
        copy.before(body.first, f"{_NS}Turns {', '.join(r.name for r in jumps)}; ")
    inside: dict[str, str] = {}
    for r in jumps:
        for outer in r.around[-1:]:
            inside[outer] = inside.get(outer, "") + f" {r.name}.count = 0;"
    for r in jumps:
        copy.after(r.label + 1, f" {r.name}.next(__COUNTER__);{inside.get(r.name, '')}")


def _site(copy: Copy, i: int, limit: int, around: Sequence[str]) -> None:
    """`f(x)` becomes `(At(site), f(x))`."""
    unit = copy.unit
    call = unit.call(i)
    first = expression_start(unit, i, limit)
    if call is None or first < 0:
        return
    copy.before(first, f"({_NS}At({', '.join(('__COUNTER__', *around))}), ")
    copy.after(call.close, ")")


def _loop(copy: Copy, body: Statements, loop: Loop, name: str, spins: bool) -> None:
    unit = copy.unit
    t = unit.t
    opener, closer = loop.head
    spin = f"{_NS}spin_turn()" if spins else ""
    tick = f"{name}.tick()" if name else ""
    if name:
        copy.before(loop.keyword, f"for ({_NS}Loop {name}(__COUNTER__); {name}.once(); ) ")
    if spins:
        copy.before(loop.keyword, f"for ({_NS}Waiting cu2port_w(__COUNTER__); cu2port_w.once(); ) ")
    if t[loop.keyword] == "for":
        semicolons = _semicolons(unit, opener, closer)
        if len(semicolons) == 2:
            second = semicolons[1]
            if spin:
                empty = second == semicolons[0] + 1
                copy.after(semicolons[0], f" {spin}" + ("" if empty else " && ("))
                if not empty:
                    copy.before(second, ")")
            if tick:
                copy.after(second, f" (void){tick}" + ("" if closer == second + 1 else ","))
        elif tick and loop.body >= 0:
            _into_body(copy, loop, tick)
        return
    is_do = t[loop.keyword] == "do"
    value = -1 if is_do else _declared_value(unit, opener, closer)
    parts = [x for x in (spin, "" if is_do or value == 0 else tick) if x]
    if parts and value > 0:
        copy.after(value - 1, " (" + "".join(f"void({x}), " for x in parts) + "(")
        copy.before(closer, "))")
    elif parts and value < 0:
        copy.after(opener, " && ".join(parts) + " && (")
        copy.before(closer, ")")
    if tick and (is_do or value == 0) and loop.body >= 0:
        _into_body(copy, loop, tick)


def _declared_value(unit: Unit, opener: int, closer: int) -> int:
    """Where the value of a condition that declares a variable begins: the token behind its `=`, 0 where it is in
    braces; -1 for a condition that declares none."""
    k = opener + 1
    while k < closer and unit.t[k] not in ("=", "{"):
        is_bracket = unit.t[k] in ("(", "[") and k < unit.match[k] < closer
        k = unit.match[k] + 1 if is_bracket else k + 1
    if k >= closer or k < opener + 3 or not all(map(is_identifier, (unit.t[opener + 1], unit.t[k - 1]))):
        return -1
    before, braces = unit.t[k - 2], "{" in unit.t[k : k + 2]
    if before in (".", "->", "::", ",", ":") or (unit.t[k] == "{" and not is_identifier(before)):
        return -1
    return 0 if braces else k + 1


def _into_body(copy: Copy, loop: Loop, tick: str) -> None:
    if copy.unit.t[loop.body] == "{":
        copy.after(loop.body, f" {tick};")
    else:
        copy.before(loop.body, f"{{ {tick}; ")
        copy.after(loop.body_stop - 1, " }")


def _semicolons(unit: Unit, opener: int, closer: int) -> list[int]:
    out = []
    k = opener + 1
    while k < closer:
        if unit.t[k] == ";":
            out.append(k)
        elif unit.t[k] in ("(", "[", "{") and k < unit.match[k] < closer:
            k = unit.match[k]
        k += 1
    return out


def _waits(unit: Unit, loop: Loop) -> bool:
    """Whether a loop may wait for what others write: an empty body, or a volatile or atomic in its condition."""
    if loop.body < 0:
        return False
    opener, closer = loop.head
    condition = unit.t[opener + 1 : closer]
    if unit.t[loop.keyword] != "do":
        body = unit.t[loop.body : loop.body_stop]
        if body in ([";"], ["{", "}"]):
            return True
    volatile = _volatiles(unit)
    return any(x == "volatile" or x in volatile or x.startswith(("atomic", "__hip_atomic")) for x in condition)


def _volatiles(unit: Unit) -> frozenset[str]:
    """Names declared volatile in the file."""
    out = set()
    for i in unit.find("volatile"):
        k = i + 1
        while k < len(unit.t) and k < i + 24 and unit.t[k] not in (";", ",", ")", "=", "[", "(", "{"):
            k += 1
        name = unit.tok(k - 1)
        if name and is_identifier(name) and name != "volatile":
            out.add(name)
    return frozenset(out)


def _leaves(
    copy: Copy, body: Statements, loops: list[Loop], names: dict[int, str], marks: list[int], reach: Reach
) -> None:
    """Mark the arms that can only leave their loop, and returns of a value inside loops."""
    unit = copy.unit
    t = unit.t
    around = [x for x in loops if x.body >= 0]
    own = lambda_bodies(unit, body.first, body.stop) if around else []

    def left(i: int, stop: int) -> list[Loop]:
        """The loops around a place that a return there leaves: one in a lambda leaves none around the lambda."""
        start = max((a for a, b in own if a < i < b), default=0)
        return [x for x in around if x.body <= i and stop <= x.body_stop and x.keyword > start]

    for first, stop in body.arms() if around else []:
        inside = left(first, stop)
        if not inside or not any(first <= i < stop for i in marks):
            continue
        if t[first] != "{":
            continue
        word = _leaving_word(unit, body, first, stop)
        inner, outer = inside[-1], inside[0]
        if word == "break" and not _in_switch(unit, body, inner, first):
            copy.after(first, f" {names[inner.keyword]}.leave();")
        elif word == "return":
            copy.after(first, f" {names[outer.keyword]}.leave();")
    for i in body.tokens(body.first, body.stop) if around else []:
        if t[i] != "return":
            continue
        inside = left(i, i + 1)
        stop = body.end(i)
        if inside and any(i < k < stop for k in marks) and t[stop - 1] == ";" and t[i + 1] != "{":
            copy.after(i, f" ({names[inside[0].keyword]}.leave(), ")
            copy.before(stop - 1, ")")


def _leaving_word(unit: Unit, body: Statements, first: int, stop: int) -> str:
    """`break` or `return` when a block's every way ends with it; "" otherwise."""
    t = unit.t
    tokens = body.tokens(first, stop)
    nested = [x for x in body.loops() if first <= x.keyword < stop]
    for i in tokens:
        if t[i] == "continue" and not any(x.keyword <= i < x.stop for x in nested):
            return ""
    last, end = body.last(first, stop)
    word = t[last]
    if word in ("break", "return", "throw"):
        return "return" if word == "throw" else word
    if is_identifier(word) and end - last <= 2:  # a macro that stands for it
        for m in unit.macros.get(word, ()):
            said = unit.t[m.first : m.stop]
            if m.params is None and "return" in said:
                return "return"
            if m.params is None and said[:1] == ["break"]:
                return "break"
    return ""


def _in_switch(unit: Unit, body: Statements, loop: Loop, first: int) -> bool:
    """Whether a `break` at token `first` belongs to a switch inside the loop."""
    return any(
        unit.t[i] == "switch" and i < first < body.end(i) for i in body.tokens(loop.body, min(first, loop.body_stop))
    )
