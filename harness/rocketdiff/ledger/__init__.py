"""Declared divergences: entries, their file format, what they cover, and what became of them in a run."""
