"""Where a JDK that was fetched is kept; apart from the fetching, so that asking needs no web client."""

from pathlib import Path

from rocketdiff.releases.cache import cache_dir


def kept_home() -> Path | None:
    """The JDK that an earlier run fetched, if it is still there."""
    try:
        home = jdk_folder() / _memory().read_text(encoding="utf-8")
    except OSError:
        return None
    return home if (home / "bin" / "java").exists() else None


def keep(home: Path) -> None:
    """Remember the folder: cjdk asks the network again once its list of JDKs is a day old, we do not."""
    _memory().write_text(str(home.relative_to(jdk_folder())), encoding="utf-8")


def jdk_folder() -> Path:
    """The part of the cache that holds the JDK."""
    return cache_dir() / "jdk"


def _memory() -> Path:
    return jdk_folder() / "home.txt"
