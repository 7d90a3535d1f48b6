"""Suggestions for an unknown name: the nearest known ones, never the full list."""

from collections.abc import Sequence
from difflib import get_close_matches

MOST = 3
"""More than three suggestions are too many to read."""


def nearest_releases(asked: str, known: Sequence[str], prefix: str = "") -> str:
    """Return a hint: the three releases most similar to the requested one, and the newest. known: newest last."""
    close = sorted(get_close_matches(asked, known, n=MOST, cutoff=0.6), key=known.index)
    newest = f"the newest is {prefix}{known[-1]}"
    return f"{' or '.join(prefix + release for release in close)}; {newest}" if close else newest
