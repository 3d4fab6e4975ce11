"""C++ as it is written: what an expression, a type, a constant is. Imports nothing of cu2port but `core`."""
