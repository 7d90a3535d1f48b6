"""The known releases of RocketMQ's Java client and servers."""

from rocketdiff.releases import line
from rocketdiff.releases.lock import locked


def client_releases() -> tuple[str, ...]:
    """Every published release of the Java client in release-line order: 4.0.0-incubating … 4.9.8, then the 5 line."""
    return tuple(locked().clients)


def is_known_client(release: str) -> bool:
    """Whether the release of the Java client is in the lock."""
    return release in locked().clients


def parent_of(release: str) -> str | None:
    """The release that this client was developed from; None for the first. The parent of 5.0.0 is 4.9.4."""
    return line.parent_of(release, client_releases())
