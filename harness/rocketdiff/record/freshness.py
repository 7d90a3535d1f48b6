"""Which judgements still hold: those that were made by the rules of now, check by check."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from rocketdiff.record.storage.store import Batch, Snapshot


def holding(batch: Batch, rules: Mapping[str, str]) -> frozenset[str]:
    """Checks of a batch that were judged by these rules."""
    return frozenset(check for check in batch.checks if check in rules and batch.rules.get(check) == rules[check])


def by_checks(batches: Iterable[Batch], rules: Mapping[str, str]) -> dict[frozenset[str], list[Batch]]:
    """Batches of judgements by the checks in which they still hold; those that hold in none are left out."""
    found: defaultdict[frozenset[str], list[Batch]] = defaultdict(list)
    for batch in batches:
        if checks := holding(batch, rules):
            found[checks].append(batch)
    return dict(found)


def judgements(snapshot: Snapshot, rules: Mapping[str, str]) -> dict[frozenset[str], list[Batch]]:
    """The same, of a record."""
    return by_checks(snapshot.of("judge"), rules)


def concluded(snapshot: Snapshot, scope: str) -> list[Batch]:
    """Batches of answers that still hold."""
    return [batch for batch in snapshot.of("conclude") if batch.scope == scope]
