"""Subjects that are Python programs of ours: the reference and the toys."""
