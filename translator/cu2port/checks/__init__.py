"""The checks, one file each; `cu2port.check.all_checks` finds them."""
