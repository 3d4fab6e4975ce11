"""PTX: what inline assembly and whole modules mean, and the HIP C++ that means the same.

The straight line:

    text -> parse.py -> ir.Instruction -> bind.py -> ir.Operation (a tree of core operations for each result)
                                                        -> emit.py   -> lines of C++
                                                        -> interp.py -> numbers

- `ir.py`: types, operands, instructions, modules as they are written; `Operation` is an instruction that was
  understood.
- `grammars/ptx.lark`, `tokens.py`, `parse.py` and `build.py` know shapes only, no mnemonic; the last two are the only
  importers of lark. `constants.py` computes constant expressions.
- `ops.py`: `Value`, a node of a tree, with Python's operators; a few dozen core operations `Op`. Each is one row:
  what it means in Python and how C++ spells it. Nodes fold constants as they are made. `integers.py` has the
  arithmetic on bit patterns.
- `table.py`: the decorator `@ptx`, the index of rows, and the matching of an opcode to its row.
- `bind.py` finds an instruction's row, types its operands and builds its trees; `special.py` has the special registers.
- `isa_*.py`: the rows. `interp.py` and `emit.py` walk the same trees, so neither can lack what the other has.
- `include/cu2port/ptx.hpp`: helpers that emitted code calls, named after the instruction. Its second half is generated
  from the rows themselves (`header.py`), so that a meaning has one home there too.
- `asm.py` finds the asm statements of a file and reads their texts, with `macros.py`, `calls.py` and, for
  conditionals inside, `asm_branches.py`; `unsettled.py` has texts behind words that may be macros for `asm`.
  `lift.py` binds operands and knows what must be copied first (`aliasing.py`: which expressions may mean one object).
  `together.py` joins statements of a function that share registers, scopes or the carry flag, with what C++ is around
  them (`surroundings.py`); `carry_macros.py` macros that hand on the flag in the functions that use them, and small
  functions that do (`carry_functions.py`), and those of several
  statements (`carry_calls.py`); `carry_steps.py`: what statements in turn do to it. `chains.py` lifts
  both.
- `settled.py` puts constants into a text; `opcode_cases.py` has the cases of an opcode whose constants only an
  instantiation of a template knows.
- `unset.py`: which registers and outputs have no value on some way through a text.
- `printer.py` writes a tree as a C++ expression, `emit.py` an instruction as statements.
- `matrix_layouts.py` has where elements of matrices are in PTX's fragments and in AMD's; `isa_matrix.py` computes
  products by it, `isa_sparse.py` those of sparse matrices, and `include/cu2port/mma.hpp` has the functions that emitted
  code calls.
- `matrix_forms.py`: which GPUs multiply a form by which matrix instruction, and how lanes exchange. `kept.py`: arrays
  of accumulators that stay in the layout of that instruction while only products touch them, functions that multiply
  into a parameter or hand it on (`wrappers.py`, also of headers), calls of macros that are one product
  (`product_calls.py`), and what does the same to each element (`maps.py`);
  `regions.py`: parts of a function that edits go around, `parts.py`: what each holds of an array. `uniform.py`: what no
  lane leaves before the others, and what all lanes have alike, by what a body does (`controls.py`).
- `vectors.py` has inputs to try rows on, `probe.py` makes a C++ program that does, `assemble.py` a module for NVIDIA's
  assembler and GPUs.

A row:

    @ptx("bmsk.{mode:clamp|wrap}.b32 d:b32, a:u32, b:u32", ref="integer-arithmetic-instructions-bmsk",
         examples={"bmsk.clamp.b32": (((24, 12), 0xFF000000),)})
    def bmsk(a: Value, b: Value, mode: str) -> Value: ...

The first argument is the manual's syntax line. In the opcode `.{name:x|y}` is one of several modifiers, bound to
`name`; `{.sat}` may be missing and binds a bool; `{.name:x|y}` may be missing and binds "" then. A modifier that is
the name of a type binds a `Type`. In the operands `name:type` gives the type of each, `t` if none is written: a type's
name, a binding, or `wide(t)`. Operands named `d`, `p`, `q` in the first place are written, everything else is read;
`p|q` are two results, `q` may be missing. `?c` may be missing, `a.sel` takes a part of a word (`r.b0`) and binds it
as `sel`. `[a]` is an address, `{d}` a vector or a scalar, `a:imm` a constant, `a:u32?pred` a number or a predicate.
`reads="cc"`/`writes="cc"` name the carry flag. The function takes operands and bindings by name and returns the value
of each result, or of the effect.

Floating point: `softfloat.py` computes on bit patterns in every rounding mode, `approx.py` has the functions that
instructions approximate, rounded correctly; `ops_float.py` has the core operations. A row of `isa_float.py` combines
them: `saturated(flushed(fadd(flushed(a, ftz), flushed(b, ftz), rnd), ftz), sat)`. f32 and f64 are float and double in
C++, every other format is its bits in an unsigned integer, packed ones are one operation on both elements, and their
operations are helpers (`add_rn_f16x2`). An approximation's row names the error that the manual allows (`bound`), which
C++ is held to. `fast.py` rewrites trees for `--ptx-fp fast`. The helpers are in ptx_float.hpp (rounding, f32, f64),
ptx_approx.hpp and ptx_half.hpp (f16, bf16, packed, fp8 and conversions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cu2port.core.late import regex
from cu2port.facts.unit import Unit

if TYPE_CHECKING:
    from cu2port.ptx.carry_macros import Included
    from cu2port.ptx.kept import Apart
    from cu2port.ptx.rewrite import Handled

#: brackets that may begin with a text of PTX
_LEAD = r"(?:\s|\\[nrt])*"
_FIRST = regex(
    rf'\(\s*"{_LEAD}(?:\{{{_LEAD})?(?:(?<=\{{)"|(?<=[nrt])"|\.reg\b|(?:@!?%?\w+\s+)?[a-z]\w*(?:[.:]+\w+)+[;\s])'
)


def handled(unit: Unit) -> tuple[Handled, ...]:
    """What happens to each asm statement that holds PTX. The rest of the package is loaded for a file that has some."""
    if not unit.asms and not unit.project.products:
        return ()
    from cu2port.ptx.rewrite import handle

    return unit.once(handle).statements


def kept_apart(unit: Unit) -> tuple[Apart, ...]:
    """Loops that keep sums of products in tiles, which functions of headers multiply into."""
    if not unit.asms and not unit.project.products:
        return ()
    from cu2port.ptx.rewrite import handle

    return unit.once(handle).apart


def unsettled_texts(unit: Unit) -> tuple[tuple[int, int], ...]:
    """Texts of PTX behind a word that nothing known here makes an asm: the word's token, and that of its bracket."""
    begun = tuple(_FIRST.finditer(unit.text))
    if not begun:
        return ()
    from cu2port.ptx.unsettled import unsettled

    return tuple(unsettled(unit, begun))


def included_carry(unit: Unit) -> Included | None:
    """Uses of macros of headers that hand on a carry; None where there are none."""
    if not unit.project.carry:
        return None
    from cu2port.ptx.carry_macros import included_chains

    return unit.once(included_chains)
