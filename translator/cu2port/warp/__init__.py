"""What integers mean in device code: lanes, warps, threads, masks of lanes, or plain numbers.

    triggers    by tokens: whether a function has anything to look at; most files end here
    builtins    CUDA's names that lanes act by: what they give, which argument is what
    values, arith, divide, ties, conditions, roles      abstract values; what operators make of them, which of them are
                one number, and which role a literal plays beside them
    ground, evaluate, calls, interp, loops, substitute      names from outside, expressions, calls and macros,
                statements; branches and loops around events
    model, events   device functions and what happens in them that lanes must agree on
    analyse     the fixpoint over calls: arguments go down, results come up, until nothing changes
    across      what the headers of a file say of warps
    classify, company, spelled      the verdict on each 32, 31 and 5; what the uses beside one tell of it, in points of
                evidence; what tokens alone tell
    waits, hazards, lockstep    loops that wait; what hangs or goes wrong between lanes; warp-synchronous tails
    valueless, unset    variables that only some lanes set, and that are handed on by value (CU319)
    hostside    warp sizes that the host counts with, by tokens
    native/     which kernels work with whole wavefronts, and their edits (its `__init__` explains the parts)
    report      findings with their chain of reasons in words

Checks CU350 to CU368 are made of it. `docs/warp.md` tells what it sees and what it does not.
"""
