"""The consumer's dialect of each release: a longest run of releases in which neither its own rules nor allocation nor its client change."""

from itertools import groupby

from rocketmq_reference.dialects.allocation import ALLOCATION, ALLOCATION_4_3_0
from rocketmq_reference.dialects.catalogue import RELEASES, dialect_of, releases_of
from rocketmq_reference.dialects.consumer import consumer_rules_of
from rocketmq_reference.dialects.lite_pull import lite_pull_rules_of
from rocketmq_reference.rules.consumer.allocation_rules import AllocationRules
from rocketmq_reference.rules.dialect import ConsumerDialect, Releases

_ALLOCATION = {release: each.rules for each in ALLOCATION for release in releases_of(each)}
# Published before 5.0.0 from branches of 4.9.0 and 4.9.3.
_ALLOCATION |= dict.fromkeys(("5.0.0-PREVIEW", "5.0.0-ALPHA"), ALLOCATION_4_3_0.rules)


def allocation_rules_of(release: str) -> AllocationRules:
    """Return the rules of a release, named as in ``dialect_of``, which also raises ValueError for an unknown one."""
    dialect_of(release)
    return _ALLOCATION[release.partition("+")[0]]


def _composed(releases: tuple[str, ...]) -> ConsumerDialect:
    first, last = releases[0], releases[-1]
    name = f"consumer-{first.removesuffix('-incubating')}"
    return ConsumerDialect(
        name,
        Releases(first, last),
        consumer_rules_of(first),
        allocation_rules_of(first),
        dialect_of(first).client,
        lite_pull_rules_of(first),
    )


def _parts(release: str) -> tuple[int, ...]:
    own = id(consumer_rules_of(release)), id(lite_pull_rules_of(release))
    return *own, id(allocation_rules_of(release)), id(dialect_of(release).client)


CONSUMER_DIALECTS: tuple[ConsumerDialect, ...] = tuple(
    _composed(tuple(run)) for _, run in groupby(RELEASES, key=_parts)
)
"""Every consumer dialect, oldest first."""

_BY_RELEASE = {release: dialect for dialect in CONSUMER_DIALECTS for release in releases_of(dialect)}
_BY_RELEASE |= {preview: _composed((preview,)) for preview in ("5.0.0-PREVIEW", "5.0.0-ALPHA")}


def consumer_dialect_of(release: str) -> ConsumerDialect:
    """Return the consumer's dialect of a release, named as in ``dialect_of``, which also raises ValueError for an unknown one."""
    dialect_of(release)
    return _BY_RELEASE[release.partition("+")[0]]
