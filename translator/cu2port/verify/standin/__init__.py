"""Stand-in compilers: `nvcc`, `hipcc` and the host's compilers as command lines call them, building for the CPU.

`words` reads a command line by a table of options; `compiling` makes an object of one source (converted,
instrumented); `driver` does what a command line asks; `toolkit` lays out a folder that looks like an installation
(programs, libraries, CMake's toolchain file); `session` runs a command with it first on PATH and sums up.
"""
