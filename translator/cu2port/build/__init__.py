"""Build files: found by name, read without loss, edited from the table in `rules/build/`.

    table.py      reads and checks the table
    words.py      what all of it shares: kinds of build files, facts of a tree, findings of family CU8xx
    kinds.py      which files are build files, by their names
    by_text.py    and by their texts
    options.py    nvcc's options, anywhere
    syntax.py     CMake, by tree-sitter; its commands and arguments with their places
    cmake.py      what happens to CMake's commands
    find_cuda.py  the commands of FindCUDA that become CMake's own
    flags.py      options of nvcc in the arguments of CMake's commands
    linked.py     libraries that are linked by their plain names, also in lists
    programs.py   calls and checks of the compiler, and programs in texts
    sources.py    the sources that CMake's commands name: --rename, and the language HIP
    make.py       Makefiles, and scripts of a shell
    shell.py      what scripts tell cmake, and their lines that are only reported
    functions.py  make's functions in a line: patterns that are no options
    make_lines.py  their logical lines
    make_hosts.py  sources that their names give to the compiler of the host, and that nvcc or hipcc must compile
    make_variables.py  variables of Makefiles, and what is made of them
    make_libraries.py  libraries that a variable lists without `-l`
    make_platform.py  the macro that tells HIP's headers their platform
    device_links.py  links by nvcc of objects that are compiled with -dc
    tools.py      tools of NVIDIA's that builds and scripts call
    setup_py.py   setup.py of torch's extensions, by libcst
    presets.py    CMakePresets.json
    pyproject.py  pyproject.toml of scikit-build-core
    fortran.py    Fortran that binds CUDA's functions, and CUDA Fortran
    cgo.py        Go that calls CUDA by cgo
    languages.py  other languages that use CUDA: reported
    lines.py      all others, line by line: reported
    convert.py    from bytes to a Result

Nothing of a build file is executed, and no file but the one that is given is read.
"""
