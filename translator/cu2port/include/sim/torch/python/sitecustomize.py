"""Python's part of torch in the simulator: `cu2port simulate -- COMMAND` puts this folder on PYTHONPATH.

Python reads this file when it starts. Nothing is done until a program imports torch, which then gets a GPU; see
cu2port_torch.py.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


class _Finder:
    """Finds torch as others do, and looks at it once it is there."""

    @staticmethod
    def find_spec(name: Any, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(_Finder)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                if not module.cuda.is_available():
                    import cu2port_torch  # a program without torch has no use for it

                    if cu2port_torch.GPU in os.environ:
                        cu2port_torch.Gpu(module).install()

            setattr(spec.loader, "exec_module", exec_module)  # noqa: B010 - mypy takes no assignment to a method
        return spec


def _others() -> None:
    """Run the sitecustomize that this one is in front of."""
    rest = [p for p in sys.path if Path(p).resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _Finder)
_others()
