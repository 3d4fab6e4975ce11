"""Where tensors are, by torch alone."""

import copy

import numpy
import torch

gpu = torch.ones(3, device="cuda")
cpu = torch.ones(3)
assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.version.cuda
assert torch.has_cuda and torch.backends.cuda.is_built()
assert gpu.is_cuda and not gpu.is_cpu and not cpu.is_cuda and cpu.is_cpu
assert gpu.device == torch.device("cuda", 0) and gpu.get_device() == 0 and cpu.device.type == "cpu"
for x in (
    cpu.cuda(),
    cpu.to("cuda"),
    cpu.to(gpu.device),
    cpu.to(gpu),
    cpu.to(device="cuda:0", dtype=torch.half),
    cpu.to(0),
):
    assert x.is_cuda and x.data_ptr() != cpu.data_ptr()
assert gpu.cuda() is gpu and gpu.to("cuda") is gpu and cpu.cpu() is cpu
for x in (gpu.cpu(), gpu.to("cpu"), gpu.to("cpu", torch.float64), gpu.to(cpu), torch.from_numpy(numpy.zeros(2))):
    assert not x.is_cuda
assert gpu.to("cpu", torch.float64).dtype == torch.float64 and cpu.to(torch.half).dtype == torch.half
for x in (
    gpu + gpu.cuda(),
    gpu[0],
    gpu.view(3, 1),
    torch.cat((gpu, gpu)),
    torch.zeros_like(gpu),
    *gpu.split(1),
    gpu.half(),
):
    assert x.is_cuda
assert not torch.zeros_like(cpu).is_cuda and torch.zeros_like(cpu, device="cuda").is_cuda
assert gpu.type() == "torch.cuda.FloatTensor" and cpu.type("torch.cuda.FloatTensor").is_cuda
with torch.device("cuda"):
    assert torch.empty(2).is_cuda
host, other = torch.zeros(3), torch.empty(3, device="cuda")
assert not host.copy_(gpu).is_cuda and host.tolist() == [1, 1, 1]
assert torch.add(gpu, gpu, out=other) is other and other.is_cuda and other.cpu().tolist() == [2, 2, 2]
model = torch.nn.Linear(3, 2).cuda()
assert all(p.is_cuda for p in model.parameters()) and copy.deepcopy(model).weight.is_cuda
model(gpu).sum().backward()
assert model.weight.grad.is_cuda and model.cpu().weight.device.type == "cpu"
assert torch.nn.Parameter(torch.empty(1, device="cuda")).is_cuda
try:
    torch.testing.assert_close(gpu, cpu)
except AssertionError as e:
    assert "device" in str(e)
else:
    raise AssertionError("devices were not compared")
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
end.record()
torch.cuda.synchronize()
assert start.elapsed_time(end) >= 0
print("ok")
