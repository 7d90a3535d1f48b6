"""The cache folder of downloads and compiled classes; an environment variable moves it."""

import os
from pathlib import Path

CACHE_VARIABLE = "ROCKETDIFF_CACHE"


def cache_dir() -> Path:
    """`$ROCKETDIFF_CACHE`, else `rocketdiff` in the XDG cache folder. Does not create it."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: ignore a relative value.
    root = Path(xdg) if xdg and Path(xdg).is_absolute() else Path.home() / ".cache"
    return root / "rocketdiff"
