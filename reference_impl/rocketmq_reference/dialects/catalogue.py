"""
The dialect of each release, composed of its parts' generations.

A dialect is a longest run of releases in which no part changes. A further role is one more file of generations, and one more
parameter of `compose`.
"""

from dataclasses import replace
from itertools import groupby
from typing import Any

from rocketmq_reference.dialects.client import CLIENT
from rocketmq_reference.dialects.generation import Generation, Rules
from rocketmq_reference.dialects.messages import MESSAGES, PREVIEW_MESSAGES
from rocketmq_reference.dialects.producer import PRODUCER
from rocketmq_reference.rules.client.client_rules import ClientRules
from rocketmq_reference.rules.dialect import ConsumerDialect, Dialect, Releases
from rocketmq_reference.rules.producer.message_rules import MessageRules
from rocketmq_reference.rules.producer.producer_rules import ProducerRules

_LINE = (
    "4.0.0-incubating 4.1.0-incubating 4.2.0 4.3.0 4.3.1 4.3.2 4.4.0 4.5.0 4.5.1 4.5.2 4.6.0 4.6.1 4.7.0 4.7.1 4.8.0 "
    "4.9.0 4.9.1 4.9.2 4.9.3 4.9.4 4.9.5 4.9.6 4.9.7 4.9.8 "
    "5.0.0 5.1.0 5.1.1 5.1.2 5.1.3 5.1.4 5.2.0 5.3.0 5.3.1 5.3.2 5.3.3 5.4.0 5.5.0"
)
RELEASES: tuple[str, ...] = tuple(_LINE.split())
"""Releases of the Java client in the order of the release lines; ranges are contiguous in it."""

# Published before 5.0.0 from branches of 4.9.0 and 4.9.3; they behave like those, but for their messages.
_PREVIEWS = {"5.0.0-PREVIEW": "4.9.0", "5.0.0-ALPHA": "4.9.3"}


def releases_of(ranged: Dialect | ConsumerDialect | Generation[Any]) -> tuple[str, ...]:
    """Return the releases in the range of a dialect or generation."""
    releases = ranged.releases
    return RELEASES[RELEASES.index(releases.first) : RELEASES.index(releases.last) + 1]


def compose(
    client: Generation[ClientRules], producer: Generation[ProducerRules], messages: Generation[MessageRules]
) -> Dialect:
    """Return the dialect of the releases that have these parts in common."""
    parts = (client, producer, messages)
    releases = _common(*parts)
    return Dialect(
        _name(releases),
        releases,
        _parent(*parts),
        client=client.rules,
        producer=producer.rules,
        messages=messages.rules,
    )


def _common(*parts: Generation[Any]) -> Releases:
    return Releases(
        max((part.releases.first for part in parts), key=RELEASES.index),
        min((part.releases.last for part in parts), key=RELEASES.index),
    )


def _name(releases: Releases) -> str:
    return f"java-{releases.first.removesuffix('-incubating')}"


def _parent(*parts: Generation[Any]) -> str | None:
    """Return the name of the dialect before: the parts that begin with this one are as in their parents, the others unchanged."""
    first = _common(*parts).first
    earlier = [part.parent if part.releases.first == first else part for part in parts]
    known = [part for part in earlier if part is not None]
    return _name(_common(*known)) if known else None


def _by_release(generations: tuple[Generation[Rules], ...]) -> dict[str, Generation[Rules]]:
    return {release: generation for generation in generations for release in releases_of(generation)}


_CLIENT, _PRODUCER, _MESSAGES = _by_release(CLIENT), _by_release(PRODUCER), _by_release(MESSAGES)


def _parts(release: str) -> tuple[Generation[ClientRules], Generation[ProducerRules], Generation[MessageRules]]:
    return _CLIENT[release], _PRODUCER[release], _MESSAGES[release]


DIALECTS: tuple[Dialect, ...] = tuple(
    compose(*_parts(next(run))) for _, run in groupby(RELEASES, key=lambda release: tuple(map(id, _parts(release))))
)
"""Every dialect, oldest first; a parent comes before its children."""

_BY_RELEASE = {release: dialect for dialect in DIALECTS for release in releases_of(dialect)}
_BY_RELEASE |= {
    preview: replace(_BY_RELEASE[_PREVIEWS[preview]], messages=messages)
    for preview, messages in PREVIEW_MESSAGES.items()
}


def dialect_of(release: str) -> Dialect:
    """
    Return the dialect of a release, written as on Maven Central: ``4.0.0-incubating``, ``5.3.3``.

    An unpublished build of a release, ``5.3.3+1a2b3c4d``, has the dialect of that release. Raises ValueError with the list of
    known releases for any other.
    """
    published = release.partition("+")[0]
    found = _BY_RELEASE.get(published)
    if found is None:
        raise ValueError(f"no dialect is known for release {release!r}; known are {', '.join(RELEASES)}")
    return found
