"""Version number of a release in command headers (MQVersion)."""

import re

_OF_4_0_0 = 213
_RELEASE = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def mq_version(release: str) -> int:
    """
    Return the ordinal of a release from 4.0.0 on in MQVersion.Version of 5.3.3: ``5.3.3`` is 479.

    Every patch level from x.y.0 to x.y.9 has two entries, a snapshot and the release. A suffix after the three numbers is
    ignored. Raises ValueError for anything else.
    """
    match = _RELEASE.match(release)
    if match is None:
        raise ValueError(f"expected a release such as 5.3.3, saw {release!r}")
    major, minor, patch = map(int, match.groups())
    return _OF_4_0_0 + 2 * ((major - 4) * 100 + minor * 10 + patch)
