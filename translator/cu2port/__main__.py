"""`python -m cu2port`: the same as the command `cu2port`."""

from __future__ import annotations

import os
import sys

# `-m` puts the working folder first in the path of imports, and that may be a stranger's tree. Our own imports come
# after this line, so none of its modules takes the place of one of ours.
if sys.path and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH109, PTH120
    del sys.path[0]

from cu2port.cli import main

if __name__ == "__main__":
    main()
