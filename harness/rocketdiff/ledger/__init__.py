"""Declared divergences: entries, file format, matching, and their outcomes in a run."""
