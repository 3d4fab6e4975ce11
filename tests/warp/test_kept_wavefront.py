"""CU328: what a branch for HIP counts of a wavefront, beside code that keeps warps of 32 lanes."""

from __future__ import annotations

import pytest

from cu2port import Options, translate

HIP = ("#ifdef __HIP_PLATFORM_AMD__", "#if defined(USE_ROCM)", "#if !defined(__HIP_PLATFORM_AMD__)\nint c;\n#else")
LOGICAL = (
    "v += __shfl_sync(~0u, v, 0);",
    "if (__any_sync(~0u, v)) v = 1;",
    "v += __reduce_add_sync(~0u, v);",
    "v += threadIdx.x % warpSize;",
    "SUM(v);",
)
SUM = "#define SUM(v) v += __shfl_xor_sync(~0u, v, 16)\n"
# What counts lanes of a wavefront, as an expression; and what does not.
WIDE = (
    "warpSize",
    "__AMDGCN_WAVEFRONT_SIZE",
    "__builtin_amdgcn_wavefrontsize()",
    "__popcll(__ballot(v))",
    "__any(v)",
    "__lane_id()",
    "__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))",
    "__builtin_amdgcn_readfirstlane(v)",
    "__builtin_amdgcn_ballot_w64(v)",
    "__shfl(v, 3)",
    "__shfl_down(v, 3)",
    "__shfl_sync(~0ull, v, 3)",
    "__shfl_xor(v, 3, 64)",
    "threadIdx.x % 64",
    "threadIdx.x & 63",
    "(threadIdx.x + 1) / 64u",
    "tid >> 6",
)
NARROW = (
    "32",
    "64",
    "v & 63",
    "v >> 6",
    "__shfl(v, 3, 32)",
    "__shfl_xor(v, 3)",
    "__builtin_amdgcn_mbcnt_lo(~0u, 0)",
    "threadIdx.x % 32",
    "rows[64]",
    "w.warpSize",
)
FORMS = {
    "function": "__device__ int f(int v, int tid) {\n%(hip)s\n  v += %(e)s;\n#endif\n  %(use)s\n  return v;\n}\n",
    "macro": "%(hip)s\n#define G(v) (%(e)s)\n#endif\n__device__ int f(int v, int tid) { %(use)s return v + G(v); }\n",
    "macro of a macro": "%(hip)s\n#define G(v) (%(e)s)\n#endif\n#define H(v) (G(v) / 2)\n"
    "__device__ int f(int v, int tid) { %(use)s return v + H(v); }\n",
    "function of the branch": "%(hip)s\n__device__ int g(int v, int tid) { return %(e)s; }\n#endif\n"
    "__device__ int f(int v, int tid) { %(use)s return v + g(v, tid); }\n",
    "function with a branch": "__device__ int g(int v, int tid) {\n%(hip)s\n  v = %(e)s;\n#endif\n  return v;\n}\n"
    "__device__ int f(int v, int tid) { %(use)s return v + g(v, tid); }\n",
}


def kept(text: str, options: Options = Options()) -> int:  # noqa: B008 - frozen
    return sum(j.finding.code == "CU328" for j in translate(text, options).findings)


def made(form: str, hip: str, e: str, use: str) -> str:
    return (SUM if "SUM" in use else "") + FORMS[form] % {"hip": hip, "e": e, "use": use}


@pytest.mark.parametrize("form", FORMS)
def test_a_wavefronts_lanes_beside_warps_of_32_are_reported(form: str) -> None:
    for n, e in enumerate(WIDE):
        text = made(form, HIP[n % len(HIP)], e, LOGICAL[n % len(LOGICAL)])
        assert kept(text) == 1, text
        assert kept(text, Options(warp="flag")) == 0, text
        assert kept(made(form, HIP[n % len(HIP)], e, "v += 1;")) == 0, text
    for n, e in enumerate(NARROW):
        text = made(form, HIP[n % len(HIP)], e, LOGICAL[n % len(LOGICAL)])
        assert kept(text) == 0, text


@pytest.mark.parametrize("form", FORMS)
def test_each_use_of_a_warp_makes_the_rest_a_warps(form: str) -> None:
    for hip in HIP:
        for use in LOGICAL:
            assert kept(made(form, hip, "warpSize", use)) == 1, (form, hip, use)


@pytest.mark.parametrize("declare", ["#define %s %s", "static const int %s = %s;", "constexpr int %s = %s;"])
def test_a_size_that_is_64_for_hip_is_known_by_its_name_or_by_the_other_branch(declare: str) -> None:
    use = "__device__ int f(int v) { return __shfl_sync(~0u, v, %s / 2); }\n"
    for name, other, found in (
        ("WARP_SIZE", "WARP_SIZE", 1),
        ("kThreadsPerWarp", "kThreadsPerWarp", 1),
        ("W", "W", 1),
        ("ROWS", "COLUMNS", 0),
    ):
        text = f"#ifdef USE_ROCM\n{declare % (name, 64)}\n#else\n{declare % (other, 32)}\n#endif\n"
        assert kept(text + use % name) == found, text
        assert kept(text.replace("64", "32") + use % name) == 0
        assert kept(text) == 0, "nothing uses it"


def test_branches_that_exclude_each_other_do_not_meet() -> None:
    assert not kept(
        "__device__ int f(int v) {\n#ifdef __HIP_PLATFORM_AMD__\n  return __popcll(__ballot(v));\n#else\n"
        "  return __popc(__ballot_sync(~0u, v));\n#endif\n}\n"
    )
    assert not kept(
        "#ifdef __HIP_PLATFORM_AMD__\n#define SUM(v) __shfl_down(v, 1)\n#else\n"
        "#define SUM(v) __shfl_down_sync(~0u, v, 1)\n#endif\n__device__ int f(int v) { return SUM(v); }\n"
    )


def test_a_branch_is_reported_once_for_what_it_is_part_of() -> None:
    text = (
        "__device__ int f(int v) {\n#ifdef USE_ROCM\n  v += warpSize;\n  v *= warpSize;\n#endif\n"
        "  v = __shfl_sync(~0u, v, 0);\n#ifdef USE_ROCM\n  v += warpSize;\n#endif\n  return v;\n}\n"
    )
    assert kept(text) == 2
