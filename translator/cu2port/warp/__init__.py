"""What integers mean in device code: lanes, warps, threads, masks of lanes, or plain numbers.

    triggers        token search: whether a function has anything to analyse. Most files end here
    builtins        CUDA's cross-lane names: what each returns, and the meaning of each argument
    values          abstract values of integers
    operator_rows   tables of cases of an operator; arith, add, multiply, divide have them
    conditions      what a condition says about a value
    literal_pairs   literals of one expression that have the same meaning
    roles           the role of a literal in an operation
    uses            uses of literals, arrays in shared memory
    outer_names     values of names from outside a function: macros and constants
    variables       values of variables and parameters, by their values and names
    evaluate, calls, interp, loops, substitute      expressions, calls and macros, statements, loops, arguments
    functions       which functions run on the GPU
    model, events   device functions, and the events in them that lanes must agree on
    analyse         the fixpoint over calls: arguments go down, results come up, until nothing changes
    headers         what included headers say about warps
    classify        the verdict on each 32, 31 and 5
    context         evidence for a literal from the code around it, in points
    token_patterns  literals that count lanes by the tokens next to them
    waits           loops that wait for other threads
    hazard_kinds, hazards   code that hangs or gives wrong results between lanes
    lockstep        warp-synchronous tails of reductions
    uninitialized   variables without an initializer that may be read before they are set, by tokens
    divergence      names whose values may differ between lanes
    definite_assignment     whether all lanes have set such a variable where it is passed (CU319)
    hostside        warp sizes in host code, by tokens
    native/         which kernels work with whole wavefronts, and their edits (its `__init__` explains the parts)

Checks CU350 to CU368 use it. `docs/warp.md` says what it detects and what it does not.
"""
