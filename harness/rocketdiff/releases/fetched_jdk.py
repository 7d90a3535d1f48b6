"""A JDK downloaded by cjdk into the cache, for machines without a suitable one."""

import sys
from pathlib import Path

import cjdk

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.exclusive import exclusive, unwritable
from rocketdiff.releases.kept_jdk import jdk_folder, keep, kept_home
from rocketdiff.releases.progress import ProgressListener

VENDOR = "temurin"
VERSION = "17"


def fetched_home(listener: ProgressListener, why: str) -> Path:
    """The folder of the downloaded JDK, downloaded if missing; `why` says why no JDK of the machine is suitable."""
    folder = jdk_folder()
    with exclusive(folder, lambda: listener.noted("waiting: another rocketdiff is fetching a JDK")):
        kept = kept_home()
        if kept is not None:
            return kept
        listener.noted(f"no JDK here fits ({why}); fetching {VENDOR} {VERSION}, about 190 MiB, into {folder}")
        try:
            home = cjdk.java_home(vendor=VENDOR, version=VERSION, cache_dir=folder, progress=sys.stderr.isatty())
            keep(home)
        except cjdk.CjdkError as error:
            raise _not_to_be_had(why, error) from error
        except OSError as error:
            raise unwritable(folder, error) from error
    return home


def _not_to_be_had(why: str, error: Exception) -> EnvironmentMissing:
    return EnvironmentMissing(
        "a JDK of 17 or later (17 or 21 preferred) on this machine, or a network to fetch one from",
        seen=f"{why}; fetching one failed: {' '.join(str(error).split())[:200]}",
        hint="install one (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk@21) "
        "or set ROCKETDIFF_JAVA_HOME to one that is there",
    )
