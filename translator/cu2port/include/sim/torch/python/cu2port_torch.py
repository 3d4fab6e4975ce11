"""torch in the simulator: a torch that is built for the CPU gets a GPU, whose memory is the host's.

- `device="cuda"` is the host for torch itself, and a tensor remembers that it was asked for on the GPU: `is_cuda`,
  `device` and `.cpu()` answer as with a GPU, and results are where their arguments are.
- `torch.cuda` has one GPU, whose streams and events are the host's own order.
- What an extension that the stand-ins built gives back is on the GPU if an argument is, or if it takes no tensor.

torch's own operations run as torch has them for the CPU; only the extension's kernels are simulated.
"""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys
import types
from pathlib import Path
from typing import Any

from cu2port_libraries import RUNTIME, is_ours, loaded, note
from cu2port_streams import Event, Stream

GPU = "CU2PORT_SIM_GPU"  # the variable that a session sets, see standin/extensions.py
_MARK = "_cu2port_on_gpu"  # an attribute of a tensor


class Gpu:
    """The GPU that a torch is given."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.cpu = torch.device("cpu")
        self.gpu = torch.device("cuda", 0)
        self.tensor = torch.Tensor
        self.runtime: Any = None

    # --- where a tensor is ---------------------------------------------------------------------------------------

    def on_gpu(self, x: Any) -> Any:
        return getattr(x, "__dict__", {}).get(_MARK, False)

    def put(self, x: Any, on_gpu: Any) -> Any:
        """Mark the tensors of a result."""
        for y in _flat((x,)):
            if isinstance(y, self.tensor):
                y.__dict__[_MARK] = on_gpu
        return x

    def put_new(self, x: Any, on_gpu: Any) -> Any:
        """Mark the tensors that have no mark."""
        for y in _flat((x,)):
            if isinstance(y, self.tensor):
                y.__dict__.setdefault(_MARK, on_gpu)
        return x

    def made(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return self.put(function(*args, **kwargs), True)

    def all_on_host(self, values: Any) -> bool:
        """Whether there are tensors, and each was put on the host."""
        marks = [x.__dict__.get(_MARK) for x in _flat(values) if isinstance(x, self.tensor)]
        return bool(marks) and all(m is False for m in marks)

    def any_on_gpu(self, values: Any) -> bool:
        return any(self.on_gpu(x) for x in _flat(values) if isinstance(x, self.tensor))

    def names_gpu(self, x: Any) -> Any:
        if isinstance(x, self.torch.device):
            return x.type == "cuda"
        return isinstance(x, str) and (x == "cuda" or (x.startswith("cuda:") and x[5:].isdigit()))

    def names_cpu(self, x: Any) -> Any:
        return x.type == "cpu" if isinstance(x, self.torch.device) else isinstance(x, str) and x in ("cpu", "cpu:0")

    def wait(self) -> Any:
        """Wait for the kernels of extensions: torch reads what they wrote."""
        if self.runtime is not None:
            self.runtime.cu2port_sim_wait()

    # --- torch's functions ---------------------------------------------------------------------------------------

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A function of torch's, with the GPU's name replaced."""
        special = self.special.get(function)
        if special is not None:
            return special(*args, **kwargs)
        self.wait()
        device = kwargs.get("device")
        named = [device, *(x for x in args if isinstance(x, (str, self.torch.device)))]
        asked = next((x for x in named if self.names_gpu(x)), None)
        if asked is not None:
            args = [self.cpu if self.names_gpu(x) and x is not args[0] else x for x in args]
            if self.names_gpu(device):
                kwargs = {**kwargs, "device": self.cpu}
        elif isinstance(device, int) and not isinstance(device, bool):
            asked, kwargs = self.gpu, {**kwargs, "device": self.cpu}
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        to_host = any(self.names_cpu(x) for x in named)
        on_gpu = asked is not None or (not to_host and self.any_on_gpu((*args, *kwargs.values())))
        values = (*args, *kwargs.values())
        result = self.called(values, function, *args, **kwargs)
        had = {id(x) for x in _flat(values) if isinstance(x, self.tensor)}  # `x.copy_(y)` gives back x, where it was
        self.put([x for x in _flat((result,)) if id(x) not in had], on_gpu)
        return result

    def move(self, x: Any, on_gpu: Any) -> Any:
        """A tensor on the other side: another one, as with a GPU."""
        if self.on_gpu(x) == on_gpu:
            return x
        self.wait()
        return self.put(x.clone(), on_gpu)

    def to(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """`Tensor.to` in all its forms."""
        on_gpu, more = self.on_gpu(x), dict(kwargs)
        rest: list[Any] = []
        for n, arg in enumerate(args):
            if isinstance(arg, self.tensor):
                on_gpu, rest = self.on_gpu(arg), [*rest, arg.dtype]
            elif n == 0 and (self.names_gpu(arg) or (isinstance(arg, int) and not isinstance(arg, bool))):
                on_gpu = True
            elif n == 0 and self.names_cpu(arg):
                on_gpu = False
            elif not (n == 0 and arg is None):
                rest.append(arg)
        if "device" in more:
            device = more.pop("device")
            if device is not None:
                on_gpu = not self.names_cpu(device)
        other = more.pop("other", None)
        if other is not None:
            on_gpu, more["dtype"] = self.on_gpu(other), other.dtype
        self.wait()
        rest = [y for y in rest if not isinstance(y, bool)] if len(rest) > 1 else rest  # non_blocking, copy
        if rest and isinstance(rest[0], bool):
            rest = []
        made = self.plain_to(x, *rest, **more) if rest or more else x
        if made is x:
            return self.move(x, on_gpu)
        return self.put(made, on_gpu)

    def type(self, x: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        """`Tensor.type`, which says or takes the old names, as `torch.cuda.FloatTensor`."""
        if dtype is None:
            said = self.plain_type(x)
            return said.replace("torch.", "torch.cuda.", 1) if self.on_gpu(x) else said
        named = dtype.startswith("torch.cuda.") if isinstance(dtype, str) else self.on_gpu(x)
        plain = dtype.replace("torch.cuda.", "torch.") if isinstance(dtype, str) else dtype
        self.wait()
        made = self.plain_type(x, plain)
        return self.move(x, named) if made is x else self.put(made, named)

    def set_data(self, x: Any, value: Any) -> Any:
        self.data.__set__(x, value)
        self.put(x, self.on_gpu(value))

    def specials(self) -> Any:
        """The functions that ask where a tensor is, or move it."""
        t = self.tensor
        self.plain_to, self.plain_type, self.data = t.to, t.type, t.data
        plain_device, is_cpu = t.device.__get__, t.is_cpu.__get__
        return {
            t.is_cuda.__get__: lambda x: self.on_gpu(x),
            t.is_cpu.__get__: lambda x: not self.on_gpu(x) and is_cpu(x),
            t.device.__get__: lambda x: self.gpu if self.on_gpu(x) else plain_device(x),
            t.get_device: lambda x: 0 if self.on_gpu(x) else -1,
            t.cuda: lambda x, *a, **k: self.move(x, True),
            t.cpu: lambda x, *a, **k: self.move(x, False),
            t.to: self.to,
            t.pin_memory: lambda x, *a, **k: x,
            t.is_pinned: lambda x, *a, **k: False,
            t.data.__set__: self.set_data,
            t.record_stream: lambda x, stream: None,
            t.type: self.type,
        }

    # --- extensions ----------------------------------------------------------------------------------------------

    def found(self, name: Any, file: Any) -> Any:
        """A library of an extension is there: its runtime is told where tensors are."""
        import ctypes

        runtime = ctypes.CDLL(next((x for x in loaded() if RUNTIME in x), file))
        if not hasattr(runtime, "cu2port_sim_call_on_gpu"):
            raise ImportError(f"{file} was built by another version of cu2port; build it again")
        self.runtime = runtime
        note(name)

    def watch(self, module: Any, file: Any) -> Any:
        """The functions of an extension: torch must wait for their kernels, and what they give back is on the GPU."""
        self.found(module.__name__, file)
        for name, value in list(vars(module).items()):
            if isinstance(value, (types.BuiltinFunctionType, types.FunctionType)):
                setattr(module, name, self.watched(value))

    def watched(self, function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [self.cpu if isinstance(x, self.torch.device) and self.names_gpu(x) else x for x in args]
            values = (*given, *kwargs.values())
            out = self.called(values, function, *given, **kwargs)
            self.wait()
            tensors = any(isinstance(x, self.tensor) for x in _flat(values))
            return self.put_new(out, self.any_on_gpu(values) or not tensors)

        return call

    def called(self, values: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what may be an extension's: it is told whether the tensors are on the GPU."""
        if self.runtime is None:
            return function(*args, **kwargs)
        before = self.runtime.cu2port_sim_call_on_gpu(int(not self.all_on_host(values)))
        try:
            return function(*args, **kwargs)
        finally:
            self.runtime.cu2port_sim_call_on_gpu(before)

    def backward(self, mode: Any) -> None:
        """Gradients come from torch's engine without a mark: they are where the values are that were kept for them. The
        engine is called by a function of torch's, for which torch leaves the mode."""
        node = self.torch.autograd.function.BackwardCFunction
        apply = node.apply

        def marked(ctx: Any, *args: Any) -> Any:
            with mode():
                kept = [x for x in ctx.saved_tensors if x is not None]
                self.put_new(args, self.any_on_gpu(kept) or not kept)
                return apply(ctx, *args)

        node.apply = marked

    def fakes(self) -> None:
        """Tensors without memory, as `opcheck` makes: one on a GPU ends the process where torch has none."""
        module = sys.modules.get("torch._subclasses.fake_tensor")
        if module is None:  # a torch that has none
            return
        fake = module.FakeTensor
        new = fake.__new__

        def made(cls: Any, mode: Any, elem: Any, device: Any, *args: Any, **kwargs: Any) -> Any:
            return new(cls, mode, elem, self.cpu if self.names_gpu(device) else device, *args, **kwargs)

        fake.__new__ = staticmethod(made)

    def extensions(self) -> Any:
        """See to it that extensions are looked at once they are there."""
        loader = importlib.machinery.ExtensionFileLoader
        load = loader.exec_module

        @functools.wraps(load)
        def exec_module(own: Any, module: Any) -> Any:
            load(own, module)
            if is_ours(own.path):
                self.watch(module, own.path)

        setattr(loader, "exec_module", exec_module)  # noqa: B010 - mypy takes no assignment to a method
        for kind in (type(self.torch.ops), type(self.torch.classes)):
            kind.load_library = self.loads(kind.load_library)
        for kind in (
            self.torch._C.ScriptFunction,
            self.torch._C.ScriptMethod,
        ):  # torch leaves the mode for what it runs
            kind.__call__ = self.watched(kind.__call__)

    def loads(self, load: Any) -> Any:
        @functools.wraps(load)
        def load_library(own: Any, path: Any) -> Any:
            load(own, path)
            if is_ours(path):
                self.found(Path(path).name.partition(".")[0], path)

        return load_library

    # --- torch.cuda ----------------------------------------------------------------------------------------------

    def install(self) -> Any:
        torch = self.torch
        self.special = self.specials()
        gpu = self

        def replaced(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return gpu.call(function, args, kwargs or {})

        base = torch.overrides.TorchFunctionMode
        mode = types.new_class("Mode", (base,), exec_body=lambda names: names.update(__torch_function__=replaced))

        parameter = torch.nn.Parameter
        new = parameter.__new__

        def made(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            return gpu.put(new(cls, data, *args, **kwargs), gpu.on_gpu(data))

        parameter.__new__ = staticmethod(made)
        from_numpy = torch.from_numpy
        torch.from_numpy = lambda array: self.put(from_numpy(array), False)
        torch.compile = _plain
        self.fakes()
        self.backward(mode)
        self.extensions()
        self.cuda()
        mode().__enter__()

    def cuda(self) -> Any:
        """What `torch.cuda` answers."""
        torch, cuda = self.torch, self.torch.cuda
        release, capability, name = os.environ[GPU].split(maxsplit=2)
        major, minor = map(int, capability.split("."))
        properties = types.SimpleNamespace(
            name=name,
            major=major,
            minor=minor,
            total_memory=8 << 30,
            multi_processor_count=4,
            warp_size=int(os.environ.get("CU2PORT_SIM_WAVE", "64")),
            max_threads_per_multi_processor=2048,
            shared_memory_per_block=64 << 10,
        )
        torch.version.cuda, torch.has_cuda = release, True
        torch.backends.cuda.is_built = functools.partial(_answer, True)
        answers = {
            "is_available": True,
            "_is_compiled": True,
            "is_initialized": True,
            "device_count": 1,
            "current_device": 0,
            "get_device_name": name,
            "get_device_capability": (major, minor),
            "get_device_properties": properties,
            "get_arch_list": [f"sm_{major}{minor}"],
            "is_bf16_supported": True,
            "is_current_stream_capturing": False,
            "mem_get_info": (properties.total_memory, properties.total_memory),
        }
        answers |= dict.fromkeys("memory_allocated max_memory_allocated memory_reserved max_memory_reserved".split(), 0)
        answers |= dict.fromkeys(
            "init _lazy_init set_device empty_cache ipc_collect reset_peak_memory_stats "
            "reset_max_memory_allocated set_stream".split()
        )
        for name, answer in answers.items():
            setattr(cuda, name, functools.partial(_answer, answer))
        cuda.synchronize = lambda *a, **k: self.wait()
        for name in ("manual_seed", "manual_seed_all"):
            setattr(cuda, name, lambda seed: None)  # torch.manual_seed calls them
        cuda.get_rng_state = lambda *a, **k: torch.get_rng_state()
        cuda.set_rng_state = lambda state, *a, **k: torch.set_rng_state(state)
        for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
            setattr(cuda.nvtx, name, lambda *a, **k: 0)
        cuda.Event, cuda.Stream = Event, Stream
        cuda.current_stream = cuda.default_stream = lambda *a, **k: Stream()
        cuda.stream = lambda stream=None: Stream()
        cuda.device = cuda.device_of = lambda *a, **k: Stream()
        for name in "Float Double Half BFloat16 Int Long Short Char Byte Bool".split():
            kind = f"{name}Tensor"
            setattr(cuda, kind, functools.partial(self.made, getattr(torch, kind)))
        for name in ("_cuda_getCurrentRawStream", "_cuda_getDevice", "_cuda_getDeviceCount"):
            if not hasattr(torch._C, name):
                setattr(torch._C, name, functools.partial(_answer, int(name.endswith("Count"))))


def _flat(values: Any) -> Any:
    """Values, and those in tuples, lists and dictionaries of them."""
    for x in values:
        if isinstance(x, (tuple, list)):
            yield from _flat(x)
        elif isinstance(x, dict):
            yield from _flat(x.values())
        else:
            yield x


def _plain(function: Any = None, **kwargs: Any) -> Any:
    """`torch.compile`: the function as it is."""
    return (lambda f: f) if function is None else function


def _answer(answer: Any, *args: Any, **kwargs: Any) -> Any:
    return answer
