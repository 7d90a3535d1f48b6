"""The one folder that downloads and compiled classes are kept in, movable by an environment variable."""

import os
from pathlib import Path

CACHE_VARIABLE = "ROCKETDIFF_CACHE"


def cache_dir() -> Path:
    """`$ROCKETDIFF_CACHE`, else `rocketdiff` in the XDG cache folder; not created here, so asking has no effect."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative value is to be ignored.
    root = Path(xdg) if xdg and Path(xdg).is_absolute() else Path.home() / ".cache"
    return root / "rocketdiff"
