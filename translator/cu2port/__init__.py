"""cu2port: port CUDA C++ to HIP source that you own.

>>> from cu2port import translate
>>> translate("int main() { cudaDeviceSynchronize(); }", path="a.cu").output
b'#include <hip/hip_runtime.h>\\nint main() { hipDeviceSynchronize(); }'
"""

from __future__ import annotations

from cu2port.core.version import __version__

__all__ = ["Options", "Result", "__version__", "translate"]

TYPE_CHECKING = False  # as type checkers know it; `typing` would be looked for in the working folder by `python -m`
if TYPE_CHECKING:
    from cu2port.core.model import Options, Result
    from cu2port.engine.translate import translate


def __getattr__(name: str) -> object:
    """Import the API on first use, so that `cu2port --help` starts without the engine."""
    if name == "translate":
        from cu2port.engine.translate import translate

        return translate
    if name in ("Options", "Result"):
        from cu2port.core import model

        return getattr(model, name)
    raise AttributeError(name)
