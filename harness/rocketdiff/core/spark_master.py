"""Validates ``--master`` before anything is started."""

import re
from urllib.parse import urlsplit

from rocketdiff.core.errors import UsageError

WITHOUT_SPARK = "none"
"""Value of ``--master`` for an analysis without Spark."""

_COUNT = r"(\*|[1-9][0-9]{0,3})"
_LOCAL = re.compile(rf"local(\[{_COUNT}(, *[1-9][0-9]{{0,3}})?\])?|local-cluster\[[1-9]\d*, *[1-9]\d*, *[1-9]\d*\]")
_ELSEWHERE = re.compile(r"spark://[^\s,/:@]+:[0-9]{1,5}(,[^\s,/:@]+:[0-9]{1,5})*|yarn|k8s://[^\s]+")
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+")


def require_master(master: str | None) -> None:
    """Raise UsageError unless ``master`` is a Spark master, ``none`` or None (the default)."""
    known = (_LOCAL, _ELSEWHERE)
    if master is None or master == WITHOUT_SPARK or any(form.fullmatch(master) for form in known):
        return
    raise UsageError(
        "--master none, local, local[N], local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT",
        seen=repr(master) if master else "nothing",
        hint="leave it out for local[*]",
    )


def is_local(master: str) -> bool:
    """True if all of Spark runs on this machine, in the driver's JVM."""
    return _LOCAL.fullmatch(master) is not None and not master.startswith("local-cluster")


def is_on_loopback(master: str) -> bool:
    """True if the master is reached over loopback, so that its workers can reach a driver there too."""
    if is_local(master) or master.startswith("local-cluster"):
        return True
    if not master.startswith("spark://"):
        return False
    hosts = [urlsplit(f"//{part}").hostname or "" for part in master.removeprefix("spark://").split(",")]
    return all(_LOOPBACK.fullmatch(host) for host in hosts)
