"""
What a client leaves open: connections it holds at rest, and those it makes anew where nothing is the matter.

Looked at: how many TCP connections each client's processes hold to each server, seen from outside (``run.json``,
``connections``). A client of RocketMQ has one to an address, for all its threads; but from 5.4.0 on a close that comes late
throws its connection's successor away, which stays open, and how often that happens among threads is luck.
"""

from collections import Counter
from collections.abc import Iterator

from harness.analysis.checks.case_facts import CaseFacts
from harness.core.events import Arm
from harness.core.verdict import Measure

LEFT_OPEN, MADE_ANEW = "connections-left-open", "connections-made-anew"
"""Names of measures; after them the server. There are such only where the candidate is beyond the baseline."""

TIMES = 2
"""
How many times the baseline's connections to a server, or the one that it may not have needed, are not too many: a driver
may keep the client it warmed up with, which has its own. A leak of one or two in a case is therefore let pass.
"""

LUCK = 5
"""Connections to a server made anew in calm that are luck: time that is up on a crowded machine costs one each."""


def measures_of(facts: CaseFacts) -> Iterator[Measure]:
    """
    Connections to all servers that each arm held at rest, where that was seen, and what the candidate has far beyond the baseline.

    Measures, on which no verdict depends: java:5.5.0 beside itself, two threads and one pause, was left with 1 and with 4 (2026-11-22).
    """
    held = {arm: _at_rest(facts, arm) for arm in Arm}
    for arm, one in held.items():
        if one is not None:
            yield Measure(f"connections-at-rest {arm}", sum(one.values()), "count", 1)
    if not facts.entry.breaches:
        yield from _beyond(LEFT_OPEN, held, 0)
        yield from _beyond(MADE_ANEW, {arm: _anew_in_calm(facts, arm) for arm in Arm}, LUCK)


def _beyond(name: str, seen: dict[Arm, Counter[str] | None], more: int) -> Iterator[Measure]:
    baseline, candidate = seen[Arm.BASELINE], seen[Arm.CANDIDATE]
    if baseline is None or candidate is None:
        return
    for server, count in sorted(candidate.items()):
        if count > TIMES * max(1, baseline[server]) + more:
            yield Measure(f"{name}/{server}", count, "count", 1)


def _at_rest(facts: CaseFacts, arm: Arm) -> Counter[str] | None:
    """By server, the fewest that any look at rest saw: what is only being closed is not left open."""
    looks = [one.held for one in facts.entry.connections.get(arm, ()) if one.is_at_rest]
    seen = [Counter(one) for one in looks if one is not None]
    if not seen or len(seen) < len(looks):
        return None
    fewest = seen[0]
    for one in seen[1:]:
        fewest &= one
    return fewest


def _anew_in_calm(facts: CaseFacts, arm: Arm) -> Counter[str] | None:
    """By server, connections first seen after the start and before the first fault."""
    samples = facts.entry.connections.get(arm, ())
    calm_ns = min((fault.inject_ns for fault in facts.faults), default=None)
    calm = [one for one in samples[1:] if calm_ns is None or one.at_ns < calm_ns]
    if not samples or any(one.held is None for one in (samples[0], *calm)):
        return None
    return sum((Counter(one.opened) for one in calm), Counter())
