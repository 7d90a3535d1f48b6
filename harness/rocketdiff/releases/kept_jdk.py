"""The folder of a downloaded JDK; apart from the download, so that reading it needs no web client."""

from pathlib import Path

from rocketdiff.releases.cache import cache_dir


def kept_home() -> Path | None:
    """The JDK that an earlier run downloaded, if it still exists."""
    try:
        home = jdk_folder() / _memory().read_text(encoding="utf-8")
    except OSError:
        return None
    return home if (home / "bin" / "java").exists() else None


def keep(home: Path) -> None:
    """Store the folder, because cjdk asks the network again once its list of JDKs is a day old."""
    _memory().write_text(str(home.relative_to(jdk_folder())), encoding="utf-8")


def jdk_folder() -> Path:
    """The folder of the JDK in the cache."""
    return cache_dir() / "jdk"


def _memory() -> Path:
    return jdk_folder() / "home.txt"
