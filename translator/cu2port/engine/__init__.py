"""What runs the checks on a file, and what checks share."""
