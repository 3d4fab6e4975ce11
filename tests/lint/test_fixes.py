"""What `lint --fix` mends in HIP's code: only what is right on wavefronts of 32 lanes and of 64."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cu2port.jobs import Job, Tools
from cu2port.lint.run import FileLint, Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.model import Options, Project, Trust

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
        "unsigned m = __ballot(v); o[0] = __popc(m) + (threadIdx.x % 32);",
        "unsigned m = __ballot(v); o[0] = __popc(m & ((1u << (lane % WARP_SIZE)) - 1));",
        "int l = threadIdx.x & 31; o[l] = __popc(__ballot(v));",
        "o[0] = lane - 31 - __clz(__ballot(v));",
        "o[0] = __clz(__ballot(v));",
        "o[0] = __brev(__ballot(v));",
    ],
)
def test_what_may_mean_something_else_is_not_mended_by_itself(text: str) -> None:
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
    body = kernel("v += __shfl_sync(0xffffffff, v, 0); o[threadIdx.x / warpSize] = v;")
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
