"""`cu2port lint`: the rules a porter must think about, in code before and after the port, fast enough for every commit.

    select.py     rules by code prefix or name
    suppress.py   `// cu2port: ignore[rule] reason` and its kin
    baseline.py   findings that are known, by the content of their lines
    cache.py      results of earlier runs, by everything that they depend on
    reach.py      what a file's includes lead to: a result holds as long as that stays
    sense.py      what findings mean in code that is HIP's, and which say the same
    intent.py     whether code for HIP was written for warps of 32 lanes
    fixes.py      fixes that are right on wavefronts of 32 lanes and of 64
    run.py        files in, findings and fixed texts out

A finding is shown when its rule is selected, no comment suppresses it and no baseline knows it. The report formats are
in `report/`; `cli/lint.py` prints.
"""
