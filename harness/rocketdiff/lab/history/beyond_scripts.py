"""Known changes of the Java client that no script can show (``fixtures/simulation/beyond-scripts.yaml``)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import msgspec

from rocketdiff.core.resources import resource
from rocketdiff.lab.history.lineage import Edge
from rocketdiff.releases.catalogue import parent_of

FILE = "fixtures/simulation/beyond-scripts.yaml"

CANNOT_SHOW = (
    "the bytes of a message, automatic batches and back pressure, hooks, several name servers, addresses, "
    "and how a process ends: compare the releases on brokers (rocketdiff compare)"
)
"""What a script has no words for (``fixtures/simulation/README.md``), and what to do."""


@dataclass(frozen=True, slots=True)
class KnownChange:
    """A change at a release, in words of before and now; ref: the issue of apache/rocketmq."""

    release: str
    ref: str
    now: str
    before: str


@cache
def known_changes() -> tuple[KnownChange, ...]:
    """Return all of them, oldest release first."""
    return msgspec.yaml.decode(resource(FILE).read_bytes(), type=tuple[KnownChange, ...])


def known_at(edge: Edge) -> Iterator[str]:
    """Yield a sentence for each known change of a step between releases; backward, what is so again."""
    is_back = parent_of(edge.before) == edge.after
    newer = edge.before if is_back else edge.after
    for change in known_changes():
        if change.release == newer:
            now, before = (change.before, change.now) if is_back else (change.now, change.before)
            yield f"now {now}; before, {before} ({change.ref})"
