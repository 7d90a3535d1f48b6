"""The order of RocketMQ's releases: two lines, 4.x and 5.x; 5.x branched off before the end of 4.x."""

import re

# 5.0.0-PREVIEW left 4.9.0 and 5.0.0-ALPHA left 4.9.3; both came before 5.0.0 (dates of their tags: 2021-08, 2022-03).
_STAGES = {"PREVIEW": 0, "ALPHA": 1, "incubating": 2, "": 3}
# Where a release is not simply the successor of the one before it in its line (read from the history of the upstream repository).
_FORKS = {"5.0.0-PREVIEW": "4.9.0", "5.0.0-ALPHA": "4.9.3", "5.0.0": "4.9.4"}


def line_key(release: str) -> tuple[int, int, int, int]:
    """Sort key of the release-line order; an unknown spelling is a ValueError."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:-(\w+))?", release)
    if match is None or (match[4] or "") not in _STAGES:
        raise ValueError(f"not a release as RocketMQ writes them: {release!r}")
    return (int(match[1]), int(match[2]), int(match[3]), _STAGES[match[4] or ""])


def parent_of(release: str, releases: tuple[str, ...]) -> str | None:
    """
    The release that this one was developed from, None for the first.

    `releases` is in release-line order. 5.0.0 comes from 4.9.4, not from 4.9.8, which precedes it in that order but is younger.
    """
    if release in _FORKS:
        return _FORKS[release]
    position = releases.index(release)
    return releases[position - 1] if position else None
