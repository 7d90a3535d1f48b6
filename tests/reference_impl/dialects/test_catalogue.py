"""Each release has exactly one dialect."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.releases.catalogue import client_releases
from rocketmq_reference.dialects import DIALECTS, RELEASES, consumer_rules_of, dialect_of, releases_of, rules_of
from rocketmq_reference.dialects.client import CLIENT
from rocketmq_reference.dialects.consumer import CONSUMER
from rocketmq_reference.dialects.generation import Generation
from rocketmq_reference.dialects.producer import PRODUCER


def test_every_release_belongs_to_exactly_one_dialect() -> None:
    """The ranges of the dialects have neither overlap nor gap, in the order of releases."""
    assert tuple(release for dialect in DIALECTS for release in releases_of(dialect)) == RELEASES


def test_every_published_release_has_a_dialect() -> None:
    """Every release has a dialect; the two previews of 5.0.0 have those of 4.9.0 and 4.9.3."""
    assert {release for release in client_releases() if release not in RELEASES} == {"5.0.0-PREVIEW", "5.0.0-ALPHA"}
    assert set(RELEASES) <= set(client_releases())
    assert (dialect_of("5.0.0-PREVIEW").name, dialect_of("5.0.0-ALPHA").name) == ("java-4.9.0", "java-4.9.3")


def test_names_are_unique_and_parents_come_first() -> None:
    """Names are unique, and every dialect but the first has an earlier parent."""
    known: list[str] = []
    for dialect in DIALECTS:
        assert dialect.name not in known
        assert dialect.parent in known if known else dialect.parent is None
        known.append(dialect.name)


def test_the_5_line_leaves_the_4_line_before_its_end() -> None:
    """5.0.0 descends from 4.9.4, because it has no fixes of 4.9.5 to 4.9.8."""
    assert dialect_of("5.0.0").parent == "java-4.9.4"


@pytest.mark.parametrize("part", [CLIENT, PRODUCER, CONSUMER], ids=["client", "producer", "consumer"])
def test_each_part_has_its_own_ranges_and_parents(part: tuple[Generation[Any], ...]) -> None:
    """The ranges of a part have neither overlap nor gap; each generation but the first differs from an earlier parent."""
    assert tuple(release for generation in part for release in releases_of(generation)) == RELEASES
    assert part[0].parent is None
    for number, generation in enumerate(part[1:], 1):
        assert generation.parent in part[:number]
        assert generation.parent.rules != generation.rules


def test_parts_share_no_name_of_a_field() -> None:
    """The flat view leaves the parts out, so each name is in one part only."""
    names = [rule.name for rule in rules_of(DIALECTS[0])]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("release", ["3.6.2", "5.3.4", "", "java:5.3.3"])
def test_an_unknown_release_is_an_error_that_lists_the_known(release: str) -> None:
    """An unknown release is an error that lists the known ones; the nearest is not used."""
    for find in (dialect_of, consumer_rules_of):
        with pytest.raises(ValueError, match=r"4\.0\.0-incubating.*5\.5\.0"):
            find(release)


def test_previews_consume_as_the_releases_around_them() -> None:
    """
    Both wait half a second before the first pull of a queue, and lock as 5.0.0; the first asks for offsets as the one it was made from.

    The second waits for another code where there is none, and sends failed messages as 4.9.3, which it was made from.
    """
    preview, before = consumer_rules_of("5.0.0-PREVIEW"), consumer_rules_of("4.9.0")
    locking = replace(before, new_queue_is_locked=True, refused_lock_delay_ms=500, renews_dropped_queues=False)
    pulling = replace(locking, first_pull_delay_ms=500, announces_unknown_topic=True)
    assert preview == replace(pulling, renews_locks_twice=True, stops_all_first=True)
    alpha = replace(consumer_rules_of("5.0.0"), understands_no_offset=False, resend_keeps_origin_id=False)
    assert consumer_rules_of("5.0.0-ALPHA") == alpha
