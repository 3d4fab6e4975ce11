"""`cu2port audit`: what porting a tree takes, without writing code.

    collect.py        one file, in a worker: findings, kernels, calls, PTX, requirements
    bindings.py       files of other languages that use CUDA
    effort.py         how much work a port is: minutes, the parts of a sum, and its words
    requirements.py   what a program asks of GPU, runtime and driver
    build_lines.py    lines of build files that name CUDA
    order.py          the order in which to port files (includes and calls, networkx)
    document.py       all of that as one JSON document, `cu2port-audit/1`; every report is made from it alone
    compare.py        what an older document had: fixed, new, left

Reports of it are in `report/audit_*.py`; `cli/audit.py` prints.
"""
