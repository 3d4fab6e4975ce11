"""What integers mean in device code: lanes, warps, threads, masks of lanes, or plain numbers.

    triggers    by tokens: whether a function has anything to look at; most files end here
    expressions, parse, tree    a tolerant parser of device functions, and its syntax trees
    values, arith, conditions, roles    abstract values; what operators make of them, and which role a literal plays
                beside them
    evaluate, calls, interp, substitute     expressions, calls and macros, statements; branches and loops around events
    model, events   device functions and what happens in them that lanes must agree on
    analyse     the fixpoint over calls: arguments go down, results come up, until nothing changes
    across      what the headers of a file say of warps
    classify, company, spelled      the verdict on each 32, 31 and 5; what the uses beside one tell of it, in points of
                evidence; what tokens alone tell
    waits, hazards, lockstep    loops that wait; what hangs or goes wrong between lanes; warp-synchronous tails
    hostside    warp sizes that the host counts with, by tokens
    native      which kernels work with whole wavefronts, and their edits (native_plan); the proof for blocks:
                native_walk, native_branches, native_scan_branches, native_scan_functions, native_stores,
                native_exprs, native_scan_reads, native_scans, native_reductions, native_conditions, native_lanes,
                native_values, native_types; of lists of values: native_lists; for kernels with a row for each warp:
                native_rows, native_row_stores, native_row_values; masks of votes: native_masks,
                native_masked_branches, native_mask_places, native_mask_values, native_mask_forms, native_votes; what
                all know: native_numbers, native_headers, native_groups, native_idioms, native_scan_idioms; launches:
                native_host, native_grid
    report      findings with their chain of reasons in words

Checks CU350 to CU368 are made of it. `docs/warp.md` tells what it sees and what it does not.
"""
