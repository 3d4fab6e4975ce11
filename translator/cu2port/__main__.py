"""`python -m cu2port`: the same as the command `cu2port`."""

from __future__ import annotations

from cu2port.cli import main

if __name__ == "__main__":
    main()
