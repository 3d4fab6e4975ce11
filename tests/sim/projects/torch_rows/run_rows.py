"""The tests of the extension, as a project would have them."""

import importlib

import pytest
import torch

rows = importlib.import_module("rows")  # behind torch, whose libraries it needs

if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_sums(dtype):
    x = torch.arange(8 * 50, device="cuda").reshape(8, 50).remainder(7).to(dtype)
    out = rows.row_sums(x)
    assert out.is_cuda and out.device == torch.device("cuda:0") and out.dtype == dtype
    torch.testing.assert_close(out, x.sum(1))
    torch.testing.assert_close(out.cpu(), x.cpu().sum(1))


def test_the_operator():
    x = torch.ones(4, 40).cuda()
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
        torch.testing.assert_close(torch.ops.rows.row_sums(x), torch.full((4,), 40.0, device="cuda"))
