"""
The known releases of RocketMQ's Java client in release-line order: 4.x, then 5.x.

5.x branched off before the end of 4.x: the parent of 5.0.0 is 4.9.4. Its predecessor in the order, 4.9.8, is younger.
"""

import re

from rocketdiff.releases.lock import locked

_LABEL = re.compile(r"(?P<base>[^+]+)\+(?P<digest>[0-9a-f]{8})")
# 5.0.0-PREVIEW left 4.9.0 and 5.0.0-ALPHA left 4.9.3; both came before 5.0.0 (dates of their tags: 2021-08, 2022-03).
_STAGES = {"PREVIEW": 0, "ALPHA": 1, "incubating": 2, "": 3}
# Releases whose parent is not their predecessor in the line (from the history of the upstream repository).
_FORKS = {"5.0.0-PREVIEW": "4.9.0", "5.0.0-ALPHA": "4.9.3", "5.0.0": "4.9.4"}


def client_releases() -> tuple[str, ...]:
    """Every published release of the Java client in release-line order: 4.0.0-incubating … 4.9.8, then 5.x."""
    return tuple(locked().clients)


def is_known_client(release: str) -> bool:
    """True if the lock has this release of the Java client."""
    return release in locked().clients


def base_of(release: str) -> str:
    """
    The published release whose rules a build is held against: 5.3.3 for 5.3.3+1a2b3c4d. Any other release is returned unchanged.
    """
    match = _LABEL.fullmatch(release)
    return match["base"] if match else release


def parent_of(release: str) -> str | None:
    """The release that this client was developed from, for a build its base. None for the first release."""
    base = base_of(release)
    if base != release:
        return base
    if release in _FORKS:
        return _FORKS[release]
    releases = client_releases()
    position = releases.index(release)
    return releases[position - 1] if position else None


def line_key(release: str) -> tuple[int, int, int, int]:
    """Sort key of the release-line order. ValueError for an unknown spelling."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:-(\w+))?", release)
    if match is None or (match[4] or "") not in _STAGES:
        raise ValueError(f"not a release as RocketMQ writes them: {release!r}")
    return (int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""])
