"""Both ways into the library in one process: ctypes, and a module made with pybind11."""

import ctypes
import importlib
import pathlib

ROWS, COLUMNS = 5, 77
values = [float(i * 7 % 13) for i in range(ROWS * COLUMNS)]
wanted = [sum(values[r * COLUMNS : (r + 1) * COLUMNS]) for r in range(ROWS)]

library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("librows.so")))
given = (ctypes.c_float * len(values))(*values)
got = (ctypes.c_float * ROWS)()
assert library.sum_rows(given, got, ROWS, COLUMNS) == 0
assert list(got) == wanted, list(got)
assert importlib.import_module("rows_module").sum_rows(values, COLUMNS) == wanted
print("ok: sums by ctypes and pybind11")
