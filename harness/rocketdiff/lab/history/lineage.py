"""The graph of releases: a line with branches."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.core.text.quoted import word
from rocketdiff.releases.catalogue import base_of, client_releases, parent_of
from rocketdiff.releases.programs.builds import is_there


@dataclass(frozen=True, slots=True)
class Edge:
    """
    One step between a release and its parent; going backward, ``after`` is the older release.

    side: the edge lies beside the way, on a branch that ended.
    """

    before: str
    after: str
    side: bool = False

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Way:
    """
    The edges from one release to another, with the side branches.

    turns_at: the common ancestor at which the way turns from backward to forward, if any.
    """

    edges: tuple[Edge, ...]
    turns_at: str | None = None


def every_edge(releases: Sequence[str] | None = None) -> tuple[Edge, ...]:
    """Return the edge from its parent to each release of the catalogue (or of ``releases``), in release-line order."""
    known = client_releases() if releases is None else releases
    pairs = ((parent_of(release), release) for release in known)
    return tuple(Edge(parent, release) for parent, release in pairs if parent is not None)


def ancestors(release: str) -> tuple[str, ...]:
    """Return the release and its ancestors, youngest first."""
    found = [require_client(release)]
    while (parent := parent_of(found[-1])) is not None:
        found.append(parent)
    return tuple(found)


def way(before: str, after: str) -> Way:
    """
    Return the way from one release to another: back to their common ancestor and forward from there.

    A branch that leaves the way is included as a side branch, as far as its releases lie between the two in release-line
    order. UsageError for an unknown release.
    """
    back, forward = ancestors(before), ancestors(after)
    common = next(release for release in back if release in forward)
    down = back[: back.index(common) + 1]
    up = tuple(reversed(forward[: forward.index(common) + 1]))
    steps = [Edge(*pair) for line in (down, up) for pair in pairwise(line)]
    return Way(_with_branches(steps, before, after), common if common not in (before, after) else None)


def _with_branches(steps: Sequence[Edge], before: str, after: str) -> tuple[Edge, ...]:
    """Each step, followed by the branches that leave its target."""
    releases = client_releases()
    first, last = sorted(releases.index(base_of(release)) for release in (before, after))
    left = [release for release in releases[first + 1 : last] if release not in releases_on(steps)]
    found: list[Edge] = []
    for root in releases_on(steps):
        found += [step for step in steps if step.after == root]
        found += _branches(root, left)
    return tuple(found)


def _branches(root: str, left: Sequence[str]) -> list[Edge]:
    """Edges from a release to its descendants among ``left``."""
    children = [release for release in left if parent_of(release) == root]
    return [edge for child in children for edge in (Edge(root, child, side=True), *_branches(child, left))]


def releases_on(edges: Sequence[Edge]) -> tuple[str, ...]:
    """Return the releases of the edges, in order, each once."""
    return tuple(dict.fromkeys(release for edge in edges for release in (edge.before, edge.after)))


def require_client(release: str) -> str:
    """Return the release; UsageError if no such client exists."""
    if not is_there(release):
        raise UsageError(
            "a release of the Java client", seen=word(release), hint=nearest_releases(release, client_releases())
        )
    return release
