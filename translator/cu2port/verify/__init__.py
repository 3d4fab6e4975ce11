"""Proof of a port: compile the result for AMD GPUs, and run it on the CPU at 32 and at 64 lanes."""
