"""Which judgements still hold: those by the current rules, check by check."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from rocketdiff.record.storage.batch import Batch
from rocketdiff.record.storage.store import Snapshot


def holding(batch: Batch, rules: Mapping[str, str]) -> frozenset[str]:
    """Return the checks of a batch that were judged by these rules."""
    return frozenset(check for check in batch.checks if check in rules and batch.rules.get(check) == rules[check])


def by_checks(batches: Iterable[Batch], rules: Mapping[str, str]) -> dict[frozenset[str], list[Batch]]:
    """Group batches of judgements by the checks in which they still hold; leave out batches that hold in none."""
    found: defaultdict[frozenset[str], list[Batch]] = defaultdict(list)
    for batch in batches:
        if checks := holding(batch, rules):
            found[checks].append(batch)
    return dict(found)


def judgements(snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], list[Batch]]:
    """Group the judgements of a record by the checks in which they still hold."""
    return by_checks(snapshot.of("judge"), rules)


def concluded(snapshot: Snapshot, scope: str) -> list[Batch]:
    """Return the batches of answers that still hold."""
    return [batch for batch in snapshot.of("conclude") if batch.scope == scope]
