"""What to try instead of a name there is not: the nearest that there are, never a list of all of them."""

from collections.abc import Sequence
from difflib import get_close_matches

MOST = 3
"""More than three suggestions are read as a list."""


def nearest_releases(asked: str, known: Sequence[str], prefix: str = "") -> str:
    """A hint: the three releases that look most like the one asked for, and the newest; known: the newest last."""
    close = sorted(get_close_matches(asked, known, n=MOST, cutoff=0.6), key=known.index)
    newest = f"the newest is {prefix}{known[-1]}"
    return f"{' or '.join(prefix + one for one in close)}; {newest}" if close else newest
