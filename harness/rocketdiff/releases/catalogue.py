"""
The known releases of RocketMQ's Java client, and their order: two lines, 4.x and 5.x.

5.x branched off before the end of 4.x: the parent of 5.0.0 is 4.9.4, not 4.9.8, which precedes it in the order but is younger.
"""

import re

from rocketdiff.releases.lock import locked

_LABEL = re.compile(r"(?P<base>[^+]+)\+(?P<digest>[0-9a-f]{8})")
# 5.0.0-PREVIEW left 4.9.0 and 5.0.0-ALPHA left 4.9.3; both came before 5.0.0 (dates of their tags: 2021-08, 2022-03).
_STAGES = {"PREVIEW": 0, "ALPHA": 1, "incubating": 2, "": 3}
# Where a release is not simply the successor of the one before it in its line (read from the history of the upstream repository).
_FORKS = {"5.0.0-PREVIEW": "4.9.0", "5.0.0-ALPHA": "4.9.3", "5.0.0": "4.9.4"}


def client_releases() -> tuple[str, ...]:
    """Every published release of the Java client in release-line order: 4.0.0-incubating … 4.9.8, then the 5 line."""
    return tuple(locked().clients)


def is_known_client(release: str) -> bool:
    """Whether the release of the Java client is in the lock."""
    return release in locked().clients


def base_of(release: str) -> str:
    """The published release that a build goes by, 5.3.3 of 5.3.3+1a2b3c4d; any other release is its own."""
    match = _LABEL.fullmatch(release)
    return match["base"] if match else release


def parent_of(release: str) -> str | None:
    """The release that this client was developed from; None for the first. Of a build that nobody published, the one it goes by."""
    base = base_of(release)
    if base != release:
        return base
    if release in _FORKS:
        return _FORKS[release]
    releases = client_releases()
    position = releases.index(release)
    return releases[position - 1] if position else None


def line_key(release: str) -> tuple[int, int, int, int]:
    """Sort key of the release-line order; an unknown spelling is a ValueError."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:-(\w+))?", release)
    if match is None or (match[4] or "") not in _STAGES:
        raise ValueError(f"not a release as RocketMQ writes them: {release!r}")
    return (int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""])
