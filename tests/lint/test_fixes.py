"""What `lint --fix` changes in HIP's code: only what is right on wavefronts of 32 lanes and of 64."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.cli import cli
from cu2port.core.model import Options, Project, Trust
from cu2port.lint.run import FileLint, Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.project.jobs import Job, Tools
from cu2port.project.manifest import locked

HIP = "#include <hip/hip_runtime.h>\n"
SETTINGS = Settings(Options(warp="flag", use_clang=False), make_selection(None, (), (), {}, "a test"))


def mend(body: str, least: Trust = Trust.EXACT, keeps_warps: bool = False) -> FileLint:
    project = Project(keeps_warps=keeps_warps)
    job = Job(0, "a.hip", "a.hip", SETTINGS.options, project, data=(HIP + body).encode())
    return lint_job(replace(SETTINGS, fix=least), job, Tools())


def mended(body: str, least: Trust = Trust.EXACT, keeps_warps: bool = False) -> str:
    done = mend(body, least, keeps_warps)
    return body if done.output is None else done.output.decode().removeprefix(HIP)


def kernel(text: str) -> str:
    return f"__global__ void k(int* o, int v, int lane) {{ {text} }}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("o[0] = __popc(__ballot(v));", "o[0] = __popcll(__ballot(v));"),
        ("o[0] = __ffs(__activemask()) - 1;", "o[0] = __ffsll(__activemask()) - 1;"),
        ("o[0] = 31 - __clz(__ballot(v));", "o[0] = 63 - __clzll(__ballot(v));"),
        ("unsigned m = __ballot(v); o[0] = __popc(m);", "unsigned long long m = __ballot(v); o[0] = __popcll(m);"),
        (
            "const unsigned int m = __ballot(v); if (m != 0) o[0] = __ffs(m);",
            "const unsigned long long m = __ballot(v); if (m != 0) o[0] = __ffsll(m);",
        ),
        (
            "uint32_t m = __ballot(v); if (!m) return; o[0] = __popc(m & ((1u << lane) - 1));",
            "unsigned long long m = __ballot(v); if (!m) return; o[0] = __popcll(m & ((1ull << lane) - 1));",
        ),
        ("int m{__ballot(v)}; if (m) o[0] = 1;", "unsigned long long m{__ballot(v)}; if (m) o[0] = 1;"),
    ],
)
def test_masks_get_their_64_bits_where_all_uses_are_known(before: str, after: str) -> None:
    assert mended(kernel(before)) == kernel(after)


@pytest.mark.parametrize(
    "text",
    [
        "unsigned m = __ballot(v); o[0] = m;",
        "unsigned m = __ballot(v); g(m);",
        "unsigned m = __ballot(v), n = 3; o[0] = n;",
        "unsigned m = __ballot(v); { unsigned m = 3; o[0] = m; }",
        "int m = __ballot(v); if (m < 0) o[0] = 1;",
        "unsigned m = __ballot(v); o[0] = __popc(m & ((1u << (lane % WARP_SIZE)) - 1));",
        "o[0] = lane - 31 - __clz(__ballot(v));",
        "o[0] = __clz(__ballot(v));",
        "o[0] = __brev(__ballot(v));",
    ],
)
def test_what_may_mean_something_else_is_not_fixed_by_default(text: str) -> None:
    assert mended(kernel(text)) == kernel(text)


def test_a_mask_of_32_bits_was_written_for_cudas_warps() -> None:
    body = kernel("for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);")
    body += kernel("if (threadIdx.x % 32 == 0) __syncwarp(0xffffffff);").replace("k(", "m(")
    done = mend(body)
    assert done.output is not None
    assert done.output.decode() == '#include "cu2port/warp.hpp"\n' + HIP + body.replace(
        "__shfl_down_sync", "cu2port::warp::shfl_down"
    ).replace("__syncwarp", "cu2port::warp::syncwarp")
    assert done.helpers == {"warp.hpp"}
    assert done.findings == ()


def test_beside_a_whole_wavefront_that_is_for_a_person_to_look_at() -> None:
    body = kernel("v += __shfl_sync(0xffffffff, v, 0);") + kernel("o[threadIdx.x / warpSize] = v;").replace("k(", "m(")
    assert mended(body) == body
    assert "cu2port::warp::shfl(" in mended(body, Trust.REVIEW)


def test_branches_for_hip_in_code_for_both_get_no_header_of_ours() -> None:
    body = kernel("v += __shfl_sync(0xffffffff, v, 0);")
    text = f"#include <cuda_runtime.h>\n#ifdef __HIP_PLATFORM_AMD__\n{body}#endif\n"
    job = Job(0, "a.cu", "a.cu", SETTINGS.options, data=text.encode())
    assert lint_job(replace(SETTINGS, fix=Trust.REVIEW), job, Tools()).output is None


def test_a_wavefronts_mask_in_converted_code_is_not_made_wider() -> None:
    body = kernel("o[0] = __popc(__ballot(v));")
    assert mended(body, Trust.REVIEW, keeps_warps=True) == body


LANE = "int l = threadIdx.x & 31; "
SUM = "for (int d = 16; d > 0; d >>= 1) v += __shfl_down(v, d); "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SUM, SUM.replace("v, d)", "v, d, 32)")),
        (LANE + "o[l] = __shfl(v, 0);", LANE + "o[l] = __shfl(v, 0, 32);"),
        (LANE + "o[l] = __shfl_xor(v, l);", LANE + "o[l] = __shfl_xor(v, l, 32);"),
        ("o[threadIdx.x / 32] = __popc(__ballot(v));", "o[threadIdx.x / 32] = __popc(cu2port::warp::ballot(v));"),
        (
            "o[threadIdx.x >> 5] = __any(v) + __all(v);",
            "o[threadIdx.x >> 5] = cu2port::warp::any(v) + cu2port::warp::all(v);",
        ),
        (
            LANE + "unsigned m = __activemask(); if (l == __ffs(m) - 1) o[0] = __popc(m);",
            LANE + "unsigned m = cu2port::warp::activemask(); if (l == __ffs(m) - 1) o[0] = __popc(m);",
        ),
        (
            "unsigned m = v; o[threadIdx.x / warpSize] = __shfl_sync(m, v, warpSize - 1);",
            "unsigned m = v; o[threadIdx.x / cu2port::warp::size] = "
            "cu2port::warp::shfl(m, v, cu2port::warp::size - 1);",
        ),
    ],
)
def test_operations_of_a_file_that_counts_32_lanes_keep_to_32(before: str, after: str) -> None:
    done = mend(kernel(before))
    include = '#include "cu2port/warp.hpp"\n' if "cu2port::" in after else ""
    assert done.output is not None
    assert done.output.decode() == include + HIP + kernel(after)
    assert done.findings == ()


@pytest.mark.parametrize(
    "doubt",
    [
        "o[1] = threadIdx.x % 64;",
        "o[1] = threadIdx.x >> 6;",
        "o[1] = threadIdx.x & 63;",
        "o[1] = lane / 64;",
        "o[1] = warpSize;",
        "o[1] = __shfl_xor(v, 32);",
        "for (int e = 32; e > 0; e /= 2) v += __shfl_down(v, e);",
        "o[1] = __popcll(v);",
        "o[1] = 1ull << lane;",
        "o[1] = __builtin_amdgcn_readfirstlane(v);",
        "o[1] = lane % WARP_SIZE;",
        "o[1] = __lane_id();",
        "\n#ifdef __HIP_PLATFORM_AMD__\nv += __shfl_down(v, 32);\n#endif\n",
    ],
)
def test_beside_another_size_a_person_has_to_look(doubt: str) -> None:
    body = kernel(f"{LANE}o[l] = __popc(__ballot(v));") + kernel(doubt).replace("k(", "m(")
    assert mended(body) == body
    assert "cu2port::warp::ballot" in mended(body, Trust.REVIEW)


def test_what_is_fixed_means_the_same_in_cuda_too() -> None:
    body = "#include <cuda_runtime.h>\n" + kernel(LANE + "o[l] = __shfl(v, 0) + __popc(__ballot(v));")
    body += "__device__ int f(int v);\n" + kernel("int b; if (lane == 0) b = o[1]; o[0] = f(b);").replace("k(", "m(")
    job = Job(0, "a.cu", "a.cu", SETTINGS.options, data=body.encode())
    done = lint_job(replace(SETTINGS, fix=Trust.EXACT), job, Tools())
    assert done.output is not None
    assert done.output.decode() == body.replace("__shfl(v, 0)", "__shfl(v, 0, 32)").replace("int b;", "int b = 0;")


@pytest.mark.parametrize(
    ("opens", "found"),
    [
        ("#ifdef USE_ROCM\n#else\n", False),
        ("#if !defined(__HIP_PLATFORM_AMD__)\n", False),
        ("#ifndef __HIPCC__\n", False),
        ("#if defined(USE_ROCM)\n#elif N > 3\n", False),
        ("#ifdef USE_ROCM\n", True),
        ("#ifdef __HIP_DEVICE_COMPILE__\n#else\n", True),
        ("#if HIP_VERSION > 70000000\n#else\n", True),
        ("#if defined(USE_ROCM) && N > 3\n#else\n", True),
    ],
)
def test_code_that_hips_compiler_does_not_read_is_not_judged(opens: str, found: bool) -> None:
    body = f"__device__ int f(int v) {{\n{opens}  return __shfl_sync(0xffffffff, v, 0);\n#endif\n  return v;\n}}\n"
    job = Job(0, "a.hip", "a.hip", SETTINGS.options, data=(HIP + body).encode())
    assert bool(lint_job(SETTINGS, job, Tools()).findings) == found


def test_a_mask_is_as_wide_as_its_nearest_declaration_says() -> None:
    body = kernel("unsigned m = v; o[0] = __any_sync(m, v);") + kernel("uint64_t m = v; o[0] = __any_sync(m, v);")
    job = Job(0, "a.hip", "a.hip", SETTINGS.options, data=(HIP + body).encode())
    assert [(x.code, x.start.line) for x in lint_job(SETTINGS, job, Tools()).findings] == [("CU310", 2)]


def test_what_a_header_gets_makes_files_right_in_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "z.hpp").write_text(HIP + f"__device__ int total(int v) {{ {SUM}return v; }}\n")
    main = HIP + '#include "z.hpp"\n' + kernel("v = total(v); if (threadIdx.x % 32 == 0) o[threadIdx.x / 32] = v;")
    (tmp_path / "a.hip").write_text(main)
    words = ["lint", ".", "--isolated", "--no-cache", "-j", "1"]
    before = CliRunner().invoke(cli, words)
    assert "a.hip" in before.output
    done = CliRunner().invoke(cli, [*words, "--fix"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "1 fixed" in done.output
    assert "v, d, 32)" in (tmp_path / "z.hpp").read_text()
    assert (tmp_path / "a.hip").read_text() == main
    assert CliRunner().invoke(cli, words).exit_code == 0


def test_two_runs_do_not_write_to_one_folder_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cu2port.project.manifest._PATIENCE_S", 0.0)
    path = tmp_path / "a.hip"
    path.write_text(HIP + kernel(SUM))
    with locked([tmp_path]):
        done = CliRunner().invoke(cli, ["lint", ".", "--isolated", "--fix"])
    assert done.exit_code == 2
    assert "another run of cu2port writes there" in done.output
    assert path.read_text() == HIP + kernel(SUM)
