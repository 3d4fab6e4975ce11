"""Build files of a tree through `convert`: output, --rename, --diff, --in-place, the manifest, and what is bounded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.build.kinds import MOST_BYTES
from cu2port.cli import cli

CMAKE = "project(x LANGUAGES CUDA)\nfind_package(CUDAToolkit)\nadd_subdirectory(lib)\nadd_executable(x a.cu)\n"
LIB = "add_library(l lib.cu ../a.cu)\ntarget_link_libraries(l CUDA::cusparse)\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    src = tmp_path / "src"
    (src / "lib").mkdir(parents=True)
    for name in ("a.cu", "lib/lib.cu"):
        (src / name).write_text("__global__ void k() {}\n")
    (src / "CMakeLists.txt").write_text(CMAKE)
    (src / "lib" / "CMakeLists.txt").write_text(LIB)
    (src / "Makefile").write_text("x: a.cu\n\tnvcc -o x a.cu $(shell touch ran)\n")
    return src


def ran(*args: str) -> Result:
    return CliRunner().invoke(cli, ["convert", *args])


def test_a_tree_is_ported(tree: Path) -> None:
    done = ran("src", "-o", "out", "--rename", ".hip", "--report", "r.json")
    assert done.exit_code == 0, done.output
    out = tree.parent / "out"
    assert (out / "CMakeLists.txt").read_text() == (
        "project(x LANGUAGES HIP)\nfind_package(hip)\nfind_package(hipsparse)\nadd_subdirectory(lib)\n"
        "add_executable(x a.hip)\n"
    )
    assert (out / "lib" / "CMakeLists.txt").read_text() == (
        "add_library(l lib.hip ../a.hip)\ntarget_link_libraries(l roc::hipsparse)\n"
    )
    assert (out / "Makefile").read_text() == "x: a.hip\n\thipcc -o x a.hip $(shell touch ran)\n"
    assert not list(tree.parent.rglob("ran"))
    files = {f["path"]: f for f in json.loads((tree.parent / "r.json").read_text())["files"]}
    assert files["src/Makefile"]["status"] == "converted"
    assert {f["code"] for f in files["src/Makefile"]["findings"]} == {"CU809", "CU814"}
    assert "CMakeLists.txt" in json.loads((out / ".cu2port" / "manifest.json").read_text())["files"]
    again = ran("out", "-o", "out2", "--rename", ".hip")
    for name in ("CMakeLists.txt", "lib/CMakeLists.txt", "Makefile"):
        assert (tree.parent / "out2" / name).read_bytes() == (out / name).read_bytes(), again.output


def test_sources_for_the_host_that_include_thrust_are_named_in_a_setup(tree: Path) -> None:
    (tree / "sort.cpp").write_text("#include <thrust/sort.h>\nvoid f();\n")
    (tree / "bind.cpp").write_text("void f();\n")
    (tree / "setup.py").write_text("CUDAExtension('x', ['bind.cpp', 'sort.cpp', 'a.cu'])\n")
    (tree / "CMakeLists.txt").unlink()
    (tree / "lib" / "CMakeLists.txt").unlink()
    done = ran("src", "-o", "out", "--report", "r.json")
    assert done.exit_code == 1, done.output
    files = {f["path"]: f for f in json.loads((tree.parent / "r.json").read_text())["files"]}
    (finding,) = files["src/setup.py"]["findings"]
    assert finding["code"] == "CU816" and "`sort.cpp` stays" in finding["message"]


def test_a_module_that_loads_extensions_is_ported_and_others_are_copied(tree: Path) -> None:
    loads = "from torch.utils.cpp_extension import load\nload('x', ['a.cu'], extra_cuda_cflags=['-restrict', '-O3'])\n"
    (tree / "ops.py").write_text(loads)
    (tree / "other.py").write_text("nvcc = ['-restrict', '-O3', 'a.cu']\n")
    done = ran("src", "-o", "out", "--rename", ".hip")
    assert done.exit_code == 0, done.output
    out = tree.parent / "out"
    assert (out / "ops.py").read_text() == loads.replace("'-restrict', ", "").replace("a.cu", "a.hip")
    assert (out / "other.py").read_bytes() == (tree / "other.py").read_bytes()


@pytest.mark.parametrize("configure", ["AC_SUBST([CUDA_HOME])", "AC_ARG_VAR([CUDA_HOME], [where CUDA is])"])
def test_what_autoconf_sets_keeps_its_name(configure: str, tree: Path) -> None:
    """Nothing else would set ROCM_PATH, so that the folder of the libraries would be `/lib`."""
    (tree / "configure.ac").write_text(f"AC_INIT([x], [1])\n{configure}\n")
    (tree / "Makefile.am").write_text("x_LDFLAGS = -L$(CUDA_HOME)/lib64 -lcublas\n")
    assert ran("src", "-o", "out").exit_code == 1
    assert (tree.parent / "out" / "Makefile.am").read_text() == "x_LDFLAGS = -L$(CUDA_HOME)/lib -lhipblas\n"


def test_the_other_ways_of_output(tree: Path) -> None:
    before = {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    shown = ran("src", "--diff").output
    assert "--- a/src/lib/CMakeLists.txt" in shown and "+target_link_libraries(l roc::hipsparse)" in shown
    assert ran("src", "--dry-run").exit_code == 0
    assert {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()} == before
    assert ran("src", "-o", "plain", "--no-build-files").exit_code == 0
    assert (tree.parent / "plain" / "Makefile").read_bytes() == before[tree / "Makefile"]
    assert ran("src/lib/CMakeLists.txt", "-o", "-").output.endswith("target_link_libraries(l roc::hipsparse)\n")
    assert ran("src", "--in-place").exit_code == 0
    once = {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()}
    assert b"hipcc" in once[tree / "Makefile"]
    ran("src", "--in-place")
    assert {p: p.read_bytes() for p in tree.rglob("*") if p.is_file()} == once


def test_excluded_build_files_stay(tree: Path) -> None:
    ran("src", "-o", "out", "--exclude", "Makefile")
    assert (tree.parent / "out" / "Makefile").read_bytes() == (tree / "Makefile").read_bytes()


def test_a_large_file_is_copied_and_told_once(tree: Path) -> None:
    (tree / "lib" / "CMakeLists.txt").write_text("enable_language(CUDA)\n" * (MOST_BYTES // 20))
    done = ran("src", "-o", "out")
    assert done.exit_code == 1
    assert [line for line in done.output.splitlines() if "lib/CMakeLists.txt" in line] == [
        "src/lib/CMakeLists.txt:1:1: CU813 build-too-large: larger than 1 MiB, copied as it is; "
        "convert what generates it, then generate it again"
    ]
    assert (tree.parent / "out/lib/CMakeLists.txt").read_bytes() == (tree / "lib/CMakeLists.txt").read_bytes()


def test_a_tree_with_a_build_for_hip_keeps_its_build_files(tree: Path) -> None:
    both = "if(HIP)\nenable_language(HIP)\nelse()\nenable_language(CUDA)\nendif()\nadd_subdirectory(lib)\n"
    (tree / "CMakeLists.txt").write_text(both)
    ran("src", "-o", "out")
    assert (tree.parent / "out" / "CMakeLists.txt").read_text() == both
    assert (tree.parent / "out" / "lib" / "CMakeLists.txt").read_text() == LIB


def test_a_tree_whose_sources_have_a_side_for_hip_keeps_all_build_files(tree: Path) -> None:
    (tree / "CMakeLists.txt").write_text("if(USE_HIP)\nfind_package(hip)\nadd_compile_definitions(USE_HIP)\nendif()\n")
    for name in ("a.cu", "lib/lib.cu"):
        text = "#ifdef USE_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif\n"
        (tree / name).write_text(text + "__global__ void k() {}\n")
    done = ran("src", "-o", "out")
    assert "nothing is converted" in done.output
    for name in ("Makefile", "CMakeLists.txt", "lib/CMakeLists.txt"):
        assert (tree.parent / "out" / name).read_bytes() == (tree / name).read_bytes()


def _tree(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_packages_stand_beside_the_language_where_no_toolkit_is_looked_for(tmp_path: Path) -> None:
    files = {
        "CMakeLists.txt": "project(x LANGUAGES CXX CUDA)\nadd_subdirectory(lib)\ntarget_link_libraries(x cuda)\n",
        "lib/CMakeLists.txt": "target_link_libraries(l CUDA::cublas)\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == (
        "project(x LANGUAGES CXX HIP)\nfind_package(hip REQUIRED)\nfind_package(hipblas REQUIRED)\n"
        "add_subdirectory(lib)\ntarget_link_libraries(x hip::host)\n"
    )


OLD = 'if(${CMAKE_VERSION} VERSION_LESS "3.18.0")\n  find_package(CUDA)\nendif()\n'


def test_what_only_hip_s_package_has_is_found_beside_the_language(tmp_path: Path) -> None:
    """CMake leaves an unknown variable empty; the target hip::host in its place has to be found."""
    for n, used in enumerate(("${CUDA_LIBRARIES}", "${CUDA_TOOLKIT_ROOT_DIR}/x.a", "$ENV{CUDA_HOME}/include")):
        src = tmp_path / f"src{n}"
        src.mkdir()
        (src / "CMakeLists.txt").write_text(f"project(a LANGUAGES CUDA)\ntarget_link_libraries(a PUBLIC {used})\n")
        done = ran(str(src), "-o", str(tmp_path / f"out{n}"))
        text = (tmp_path / f"out{n}" / "CMakeLists.txt").read_text()
        assert text.startswith("project(a LANGUAGES HIP)\nfind_package(hip REQUIRED)\n"), done.output


@pytest.mark.parametrize(
    "more",
    [
        "list(APPEND CUDA_LIBRARIES ${EXTRA})\n",
        "set(CUDA_LIBRARIES ${CUDA_LIBRARIES} ${EXTRA})\n",
        'set(CUDA_LIBRARIES "${CUDA_LIBRARIES};${EXTRA}")\n',
    ],
)
def test_libraries_that_a_tree_adds_to_findcuda_s_are_still_linked(tmp_path: Path, more: str) -> None:
    (tmp_path / "src" / "b").mkdir(parents=True)
    (tmp_path / "src" / "CMakeLists.txt").write_text(f"project(x)\nfind_package(CUDA)\n{more}add_subdirectory(b)\n")
    (tmp_path / "src" / "b" / "CMakeLists.txt").write_text("target_link_libraries(x ${CUDA_LIBRARIES} m)\n")
    done = ran(str(tmp_path / "src"), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == (
        "project(x)\nenable_language(HIP)\nfind_package(hip)\nset(CUDA_LIBRARIES hip::host)\n"
        f"{more}add_subdirectory(b)\n"
    )
    assert (tmp_path / "out" / "b" / "CMakeLists.txt").read_text() == "target_link_libraries(x ${CUDA_LIBRARIES} m)\n"


def test_a_list_of_libraries_by_name_and_one_that_gets_a_path(tmp_path: Path) -> None:
    """The first is the tree's own. A path is that of CUDA's library, in whose place is a target."""
    text = "find_package(CUDA)\nset(CUDA_LIBRARIES cudart cublas)\nset(CUDA_CUDA_LIBRARY /opt/cuda/libcuda.so)\n"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "CMakeLists.txt").write_text(
        text + "target_link_libraries(x ${CUDA_LIBRARIES} ${CUDA_CUDA_LIBRARY})\n"
    )
    ran(str(tmp_path / "src"), "-o", str(tmp_path / "out"))
    lines = (tmp_path / "out" / "CMakeLists.txt").read_text().splitlines()
    assert "set(CUDA_LIBRARIES hip::host roc::hipblas)" in lines
    assert lines[-1] == "target_link_libraries(x ${CUDA_LIBRARIES} hip::host)"


def test_targets_above_the_folder_that_enables_cuda_are_found_there(tmp_path: Path) -> None:
    """A package's targets are known in the folder that finds it, and below."""
    (tmp_path / "src" / "b").mkdir(parents=True)
    text = "project(x CXX)\nif(GPU)\n  add_subdirectory(cub)\n  target_link_libraries(c INTERFACE CUB::CUB)\nendif()\n"
    (tmp_path / "src" / "CMakeLists.txt").write_text(text + "target_link_libraries(d CUB::CUB)\nadd_subdirectory(b)\n")
    (tmp_path / "src" / "b" / "CMakeLists.txt").write_text("enable_language(CUDA)\n")
    done = ran(str(tmp_path / "src"), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == (
        "project(x CXX)\nif(GPU)\n  add_subdirectory(cub)\n  find_package(hipcub REQUIRED)\n"
        "  target_link_libraries(c INTERFACE hip::hipcub)\nendif()\n"
        "target_link_libraries(d hip::hipcub)\nadd_subdirectory(b)\n"
    )


WINDOWS = "if (WIN32)\n  if(X)\n  endif()\n  find_package(CUDA)\nelseif(UNIX)\nendif()\n"


@pytest.mark.parametrize("top", ["", OLD, WINDOWS])
def test_what_no_build_for_hip_reaches_looks_for_no_packages(top: str, tmp_path: Path) -> None:
    files = {
        "CMakeLists.txt": f"project(x LANGUAGES CXX CUDA)\n{top}add_subdirectory(lib)\n",
        "lib/CMakeLists.txt": f"{top or OLD}target_link_libraries(l -lcublas)\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert (
        (tmp_path / "out" / "CMakeLists.txt")
        .read_text()
        .startswith("project(x LANGUAGES CXX HIP)\nfind_package(hipblas REQUIRED)\n")
    )


def test_tests_of_cuda_s_version_have_an_answer(tmp_path: Path) -> None:
    """A variable that nothing sets would be empty in `if(${X} VERSION_LESS 11)`, which CMake takes for an error."""
    files = {
        "CMakeLists.txt": "find_package(CUDAToolkit REQUIRED)\nadd_subdirectory(lib)\nset(CUDA_VERSION_MAJOR 11)\n",
        "lib/CMakeLists.txt": "if(${CUDAToolkit_VERSION} VERSION_LESS 11 OR CUDA_VERSION_MAJOR LESS 9)\nendif()\n",
    }
    done = ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == (
        "find_package(hip REQUIRED)\nset(CUDAToolkit_VERSION 12.6.20)\n"
        "add_subdirectory(lib)\nset(CUDA_VERSION_MAJOR 11)\n"
    )
    assert (tmp_path / "out" / "lib" / "CMakeLists.txt").read_text() == files["lib/CMakeLists.txt"]
    again = ran(str(tmp_path / "out"), "-o", str(tmp_path / "again"))
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again" / "CMakeLists.txt").read_bytes() == (tmp_path / "out" / "CMakeLists.txt").read_bytes()


def test_the_host_s_compiler_is_told_the_platform(tmp_path: Path) -> None:
    files = {
        "CMakeLists.txt": "project(x LANGUAGES CUDA)\nfind_package(CUDAToolkit)\nadd_subdirectory(lib)\n",
        "lib/CMakeLists.txt": "include_directories(${CUDAToolkit_INCLUDE_DIRS})\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == (
        "project(x LANGUAGES HIP)\nfind_package(hip)\nadd_compile_definitions(__HIP_PLATFORM_AMD__)\n"
        "add_subdirectory(lib)\n"
    )


@pytest.mark.parametrize(
    "folder", ["/usr/local/cuda-12.4/include", "${CUDA_TOOLKIT_ROOT_DIR}/include", "$ENV{CUDA_HOME}/include"]
)
def test_the_platform_is_told_where_the_headers_are_found_by_a_folder(tmp_path: Path, folder: str) -> None:
    files = {
        "CMakeLists.txt": "project(x C CXX)\nenable_language(C CUDA)\nadd_subdirectory(lib)\n",
        "lib/CMakeLists.txt": f"add_library(x x.c x.cu)\ntarget_include_directories(x PUBLIC {folder})\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert "\nadd_compile_definitions(__HIP_PLATFORM_AMD__)\n" in (tmp_path / "out" / "CMakeLists.txt").read_text()


def test_a_template_beside_a_build_file_does_not_find_its_packages(tmp_path: Path) -> None:
    """It is for those who use what is installed."""
    files = {
        "CMakeLists.txt": "project(x CUDA)\nfind_package(CUDAToolkit)\nadd_subdirectory(gpu)\n",
        "gpu/CMakeLists.txt": "target_link_libraries(x CUDA::cublas)\nconfigure_file(Config.cmake.in Config.cmake)\n",
        "gpu/Config.cmake.in": "find_dependency(CUDAToolkit)\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    out = tmp_path / "out"
    assert "find_package(hip)\nfind_package(hipblas)\n" in (out / "CMakeLists.txt").read_text()
    assert (out / "gpu/Config.cmake.in").read_text() == "find_dependency(hip)\nfind_dependency(hipblas)\n"


def test_the_platform_is_told_where_the_headers_are_used(tmp_path: Path) -> None:
    """An example looks for the toolkit, and the library above it for nothing: the language has told where CUDA is."""
    files = {
        "CMakeLists.txt": "project(x LANGUAGES C CUDA)\nadd_library(x x.c x.cu)\n"
        "target_include_directories(x PUBLIC ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})\n",
        "examples/CMakeLists.txt": "project(e C)\nfind_package(CUDAToolkit)\ntarget_link_libraries(e CUDA::cudart)\n",
    }
    ran(str(_tree(tmp_path / "src", files)), "-o", str(tmp_path / "out"))
    assert (
        (tmp_path / "out" / "CMakeLists.txt")
        .read_text()
        .startswith(
            "project(x LANGUAGES C HIP)\nfind_package(hip REQUIRED)\nadd_compile_definitions(__HIP_PLATFORM_AMD__)\n"
        )
    )
    assert "find_package(hip)\ntarget" in (tmp_path / "out" / "examples" / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    ("above", "given"),
    [("14", True), ("98", True), ("17", False), ("${S}", False), ("14)\nset(CMAKE_CUDA_STANDARD 14", False)],
)
def test_an_old_standard_of_cpp_is_not_that_of_hip(tmp_path: Path, above: str, given: bool) -> None:
    """CMake's language HIP takes the standard of C++ where it has none of its own."""
    (tmp_path / "in" / "gpu").mkdir(parents=True)
    (tmp_path / "in" / "CMakeLists.txt").write_text(f"project(x)\nset(CMAKE_CXX_STANDARD {above})\n")
    (tmp_path / "in" / "gpu" / "CMakeLists.txt").write_text("find_package(CUDA)\ncuda_add_library(x a.cu)\n")
    ran(str(tmp_path / "in"), "-o", str(tmp_path / "out"))
    text = (tmp_path / "out" / "gpu" / "CMakeLists.txt").read_text()
    assert ("find_package(hip)\nset(CMAKE_HIP_STANDARD 17)\n" in text) == given
    assert "find_package(hip)" in text


def test_packages_of_a_module_are_found_where_the_language_is_enabled(tmp_path: Path) -> None:
    """The module is below none of the projects, so each may include it."""
    files = {
        "CMakeLists.txt": "project(x)\n",
        "cmake/Setup.cmake": 'message("call enable_language(CUDA)")\ntarget_link_libraries(x PRIVATE cufft)\n',
        "tests/CMakeLists.txt": "project(y)\nenable_language(CUDA)\n",
        "apps/CMakeLists.txt": 'message("## a\\" # b")\nproject(y) # "\nenable_language(CUDA)\n',
        "apps/more/CMakeLists.txt": "enable_language(CUDA)\n",
    }
    for name, text in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    ran(str(tmp_path / "in"), "-o", str(tmp_path / "out"))
    found = {n for n in files if "find_package(hipfft REQUIRED)" in (tmp_path / "out" / n).read_text()}
    assert found == {"tests/CMakeLists.txt", "apps/CMakeLists.txt"}


def test_host_sources_that_reach_thrust_are_compiled_as_hip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through headers, behind a variable, in a folder below; not in a branch for the device's compiler, not the tree's
    own Thrust."""
    monkeypatch.chdir(tmp_path)
    files = {
        "src/CMakeLists.txt": "project(x LANGUAGES CXX CUDA)\nset(SRC a.cpp ${CMAKE_SOURCE_DIR}/lib/b.cpp c.cpp)\n"
        "set_source_files_properties(e.cpp PROPERTIES LANGUAGE CXX)\nadd_executable(x d.cpp e.cpp f.cpp ${SRC})\n",
        "src/lib/CMakeLists.txt": "add_library(l b.cpp)\n",
        "src/mem.h": "#include <thrust/device_ptr.h>\n",
        "src/guard.h": "#ifdef __CUDACC__\n#include <thrust/sort.h>\n#endif\n",
        "src/cub/own.h": "",
        "src/a.cpp": '#include "mem.h"\n',
        "src/lib/b.cpp": '#include "../mem.h"\n',
        "src/c.cpp": '#include "guard.h"\n',
        "src/d.cpp": '#include "cub/own.h"\n',
        "src/e.cpp": "#include <thrust/tuple.h>\n",
        "src/f.cpp": "#include <thrust/tuple.h>\nusing namespace std;\ntypedef float real;\nreal x;\n",
        "src/g.cpp": "using namespace std;\ntypedef float real;\nreal x;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert ran("src", "-o", "out").exit_code == 0
    mark = "set_source_files_properties({} PROPERTIES LANGUAGE HIP)\n"
    top, _, rest = (tmp_path / "out/CMakeLists.txt").read_text().partition(mark.format("f.cpp"))
    assert top.startswith("project(x LANGUAGES CXX HIP)\n" + mark.format("a.cpp ${CMAKE_SOURCE_DIR}/lib/b.cpp"))
    assert top.count("LANGUAGE HIP") == 1
    assert rest == "add_executable(x d.cpp e.cpp f.cpp ${SRC})\n"
    assert (tmp_path / "out/lib/CMakeLists.txt").read_text() == mark.format("b.cpp") + "add_library(l b.cpp)\n"
    assert [(tmp_path / f"out/{name}.cpp").read_text().count("::real x;") for name in "fg"] == [1, 0]  # CU248
    assert (tmp_path / "out/a.cpp").read_text() == '#include "mem.h"\n'  # no nvcc compiled it before
    assert ran("out", "-o", "again").exit_code == 0
    assert (tmp_path / "again/CMakeLists.txt").read_text() == (tmp_path / "out/CMakeLists.txt").read_text()


def test_a_source_that_a_cuda_source_includes_stays_the_host_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thrust is in a branch of it, by a macro of the project's; one without a branch needs HIP's compiler."""
    monkeypatch.chdir(tmp_path)
    include = "#include <thrust/sort.h>\n"
    files = {
        "src/CMakeLists.txt": "project(x LANGUAGES CXX CUDA)\nadd_library(y r.cpp)\nadd_library(z r.cu)\n"
        "add_library(w s.cpp s.cu)\nadd_library(v t.cpp)\n",
        "src/r.cpp": f"#ifdef WITH_GPU\n{include}#endif\n",
        "src/r.cu": '#define WITH_GPU\n#include "r.cpp"\n',
        "src/s.cpp": include,
        "src/s.cu": '#include "s.cpp"\n',
        "src/t.cpp": f"#ifdef WITH_GPU\n{include}#endif\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert ran("src", "-o", "out").exit_code == 0
    text = (tmp_path / "out/CMakeLists.txt").read_text()
    assert re.findall(r"set_source_files_properties\((.*) PROPERTIES LANGUAGE HIP\)", text) == [
        "r.cu",
        "s.cpp",
        "s.cu",
        "t.cpp",
    ]


def test_sources_that_cmake_compiles_as_cuda_get_the_runtime_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nvcc includes it by itself, and headers rely on that: behind a variable, in a list, by a pattern; not in sources
    of the same name or ending elsewhere."""
    monkeypatch.chdir(tmp_path)
    cmake = (
        "project(x LANGUAGES CXX CUDA)\nset(WHAT fft)\n"
        'set_source_files_properties(${WHAT}_main.cpp PROPERTIES COMPILE_FLAGS "-g" LANGUAGE CUDA)\n'
        "file(GLOB MORE lib/*.cc)\nset_property(SOURCE ${MORE} PROPERTY LANGUAGE CUDA)\n"
        "# set_source_files_properties(host.cpp PROPERTIES LANGUAGE CUDA)\n"
        "set_source_files_properties(host.cpp PROPERTIES LANGUAGE CXX)\n"
    )
    header = "inline int run() { cudaStream_t s = 0; return cudaStreamCreate(&s); }\n"
    code = '#include "u.h"\nint f() { return run(); }\n'
    names = ("fft_main.cpp", "lib/k.cc", "host.cpp", "lib/fft_main.cpp", "lib/k.cpp")
    for name, text in {"CMakeLists.txt": cmake, "u.h": header, "lib/u.h": header, **dict.fromkeys(names, code)}.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    assert ran("src", "-o", "out").exit_code == 0
    given = {name for name in names if (tmp_path / "out" / name).read_text() == "#include <hip/hip_runtime.h>\n" + code}
    assert given == {"fft_main.cpp", "lib/k.cc"}
    assert all((tmp_path / "out" / name).read_text() == code for name in {*names} - given)


@pytest.mark.parametrize(
    "rule",
    [
        "a.o: a.cpp\n\tnvcc -x cu -c a.cpp\n",
        "F = -O2 -x cu\na.o: a.cpp u.h\n\t$(NVCC) $(F) -c $< -o $@\nb.o: b.cpp\n\t$(CXX) -c $<\n",
        "%.o: %.cpp\n\tnvcc --x=cu -c $<\nb.o: b.cc\n\tg++ -c b.cc\n",
        ".cpp.o:\n\tnvcc -x cu -c $<\n",
        "",
    ],
)
def test_sources_that_nvcc_compiles_as_cuda_get_the_runtime_header(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a Makefile, or by a compile database where it says nothing."""
    monkeypatch.chdir(tmp_path)
    other = "b.cc" if "%" in rule or ".cpp.o" in rule else "b.cpp"
    src = tmp_path / "src"
    src.mkdir()
    (src / "u.h").write_text("inline int run() { cudaStream_t s = 0; return cudaStreamCreate(&s); }\n")
    for name in ("a.cpp", other, "no_command.cpp"):
        (src / name).write_text('#include "u.h"\nint f() { return run(); }\n')
    (src / "Makefile").write_text(f"NVCC = nvcc\n{rule}")
    if not rule:
        command = {"directory": str(src), "file": "a.cpp", "command": "nvcc -x cu -c a.cpp -o a.o"}
        (src / "compile_commands.json").write_text(
            json.dumps([command, {**command, "file": other, "command": "g++ -c"}])
        )
    assert ran("src", "-o", "out").exit_code == 0
    given = [(tmp_path / "out" / n).read_text().startswith("#include <hip/hip_runtime.h>\n") for n in ("a.cpp", other)]
    assert given == [True, False]
    if not rule:
        assert (tmp_path / "out/no_command.cpp").read_text().startswith('#include "u.h"')


def test_without_the_language_cuda_host_sources_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    text = "project(x LANGUAGES CXX)\nfind_package(CUDAToolkit)\nadd_executable(x a.cpp)\n"
    (tmp_path / "src/CMakeLists.txt").write_text(text)
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / "src" / name).write_text("#include <thrust/tuple.h>\n")
    assert ran("src", "-o", "out").exit_code == 0
    assert "LANGUAGE HIP" not in (tmp_path / "out/CMakeLists.txt").read_text()


def test_a_module_of_the_tree_finds_its_package(tree: Path) -> None:
    src = tree.parent / "src"
    (src / "cmake").mkdir()
    (src / "cmake" / "FindNCCL.cmake").write_text("find_path(NCCL_INCLUDE_DIRS nccl.h)\n")
    (src / "lib" / "CMakeLists.txt").write_text("find_package(NCCL)\nadd_library(l lib.cu)\n")
    assert ran("src", "-o", "out").exit_code == 0
    assert "find_package(NCCL)" in (tree.parent / "out" / "lib" / "CMakeLists.txt").read_text()
    found = (tree.parent / "out" / "cmake" / "FindNCCL.cmake").read_text()
    assert found == "find_path(NCCL_INCLUDE_DIRS rccl/rccl.h)\n"


def test_a_variable_named_as_findcuda_s_list_is_the_tree_s_own_without_findcuda(tree: Path) -> None:
    """CMake's language CUDA does not read CUDA_NVCC_FLAGS; a tree that passes it to a target keeps it as its list."""
    text = (
        "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX CUDA)\n"
        'list(APPEND CUDA_NVCC_FLAGS "-Xcompiler=-fPIC")\nlist(APPEND CUDA_NVCC_FLAGS -restrict -O2)\n'
        "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${CUDA_NVCC_FLAGS}>)\n"
    )
    (tree / "CMakeLists.txt").write_text(text)
    ran("src", "-o", "out")
    after = text.replace("CXX CUDA)", "CXX HIP)\nfind_package(hipsparse REQUIRED)")
    after = after.replace("LANGUAGE:CUDA", "LANGUAGE:HIP")
    after = after.replace("-Xcompiler=", "").replace(" -restrict", "")
    assert (tree.parent / "out" / "CMakeLists.txt").read_text() == after
    (tree / "lib" / "CMakeLists.txt").write_text("find_package(CUDA)\n")
    ran("src", "-o", "old")
    assert 'string(APPEND CMAKE_HIP_FLAGS " -O2")' in (tree.parent / "old" / "CMakeLists.txt").read_text()


def test_sources_that_cmake_completed_are_named_whole(tree: Path) -> None:
    (tree / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.8)\nproject(x LANGUAGES CUDA CXX)\nadd_executable(a a lib/lib b.cc)\n"
        "add_library(n::a ALIAS a)\n"
    )
    (tree / "b.cc").write_text("")
    (tree / "b.cc.cu").write_text("")
    ran("src", "-o", "out")
    assert (tree.parent / "out" / "CMakeLists.txt").read_text().splitlines()[-3:] == [
        "set_source_files_properties(a.cu lib/lib.cu PROPERTIES LANGUAGE HIP)",
        "add_executable(a a.cu lib/lib.cu b.cc)",
        "add_library(n::a ALIAS a)",
    ]


def test_patterns_of_sources_that_a_list_keeps_for_the_whole_tree(tmp_path: Path) -> None:
    """The property LANGUAGE is of a folder, and a function looks the sources up for the folder that calls it."""
    (tmp_path / "src" / "lib").mkdir(parents=True)
    (tmp_path / "src" / "lib" / "a.cu").write_text("__global__ void k() {}\n")
    (tmp_path / "src" / "lib" / "CMakeLists.txt").write_text("own_library(lib)\n")
    top = "project(x LANGUAGES CXX CUDA)\nset(PATTERNS *.cpp *.cu)\ninclude(Own.cmake)\nadd_subdirectory(lib)\n"
    (tmp_path / "src" / "CMakeLists.txt").write_text(top)
    own = (
        "function(own_library name)\n  file(GLOB FOUND ${PATTERNS})\n%s  add_library(${name} ${FOUND})\nendfunction()\n"
    )
    (tmp_path / "src" / "Own.cmake").write_text(own % "")
    assert ran(str(tmp_path / "src"), "-o", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "out" / "CMakeLists.txt").read_text() == top.replace("CXX CUDA", "CXX HIP")
    marked = (
        '  set(FOUND_HIP ${FOUND})\n  list(FILTER FOUND_HIP INCLUDE REGEX "\\\\.cu$")\n  if(CMAKE_HIP_COMPILER)\n'
        "    set_source_files_properties(${FOUND_HIP} PROPERTIES LANGUAGE HIP)\n  endif()\n"
    )
    assert (tmp_path / "out" / "Own.cmake").read_text() == own % marked
    ran(str(tmp_path / "out"), "-o", str(tmp_path / "again"))
    assert (tmp_path / "again" / "Own.cmake").read_text() == own % marked
