"""The tests of the extension, as a project would have them."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

rows = importlib.import_module("rows")  # behind torch, whose libraries it needs

if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_sums(dtype: torch.dtype) -> None:
    x = torch.arange(8 * 50, device="cuda").reshape(8, 50).remainder(7).to(dtype)
    out = rows.row_sums(x)
    assert out.is_cuda and out.device == torch.device("cuda:0") and out.dtype == dtype
    torch.testing.assert_close(out, x.sum(1))
    torch.testing.assert_close(out.cpu(), x.cpu().sum(1))


def test_version_is_that_of_torch() -> None:
    assert f"{rows.cuda_version // 1000}.{rows.cuda_version % 1000 // 10}" == torch.version.cuda


def test_code_for_the_host_runs_for_tensors_of_the_host() -> None:
    out = rows.row_sums(torch.ones(4, 40))
    assert not out.is_cuda
    torch.testing.assert_close(out, torch.full((4,), 1040.0))


class Sums(torch.autograd.Function):  # type: ignore[misc]  # torch is not there for mypy
    """A gradient that comes from torch's engine is on the GPU too."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return rows.row_sums(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        assert grad.is_cuda and ctx.saved_tensors[0].is_cuda
        return rows.row_sums(grad.reshape(4, 1).expand(4, 40))[:, None] * ctx.saved_tensors[0]


def test_gradients() -> None:
    x = torch.ones(4, 40, device="cuda", requires_grad=True)
    (2 * Sums.apply(x)).sum().backward()
    torch.testing.assert_close(x.grad, torch.full((4, 40), 80.0, device="cuda"))


def test_the_operator() -> None:
    x = torch.ones(4, 40).cuda()
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
        torch.testing.assert_close(torch.ops.rows.row_sums(x), torch.full((4,), 40.0, device="cuda"))
