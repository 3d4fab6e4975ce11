"""A tree: its files, build, git, plan, jobs, workers and output."""
