"""
Counts the outages that both arms met, by situation.

An outage is one opportunity for a rare divergence; overlapping pauses are one outage. Situations exercise different rules (a
client can avoid one slow broker, but not all), so their counts are never summed. Only sound cases count.
"""

from collections import Counter
from collections.abc import Iterable

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.pairing import is_sound
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, Outage
from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.core.arm import Arm

MET = "spell.met"
"""Tally of attempts on a paused broker, by episode of the outage."""


def outage_counts(cases: Iterable[CaseFacts]) -> tuple[SpellCount, ...]:
    """Return the outages that both arms met, by situation, sorted by its name."""
    met: Counter[str] = Counter()
    for facts in cases:
        if not is_sound(facts):
            continue
        for outage in FaultTimes(facts.faults).outages:
            if all(facts.n(MET, str(outage.episode), arm=str(arm)) for arm in Arm):
                met[_situation(facts, outage)] += 1
    return tuple(SpellCount(situation, n) for situation, n in sorted(met.items()))


def _situation(facts: CaseFacts, outage: Outage) -> str:
    latency = "on" if facts.entry.settings.send_latency_fault_enable else "off"
    paused, brokers = len({pause.node for pause in outage.pauses}), len(facts.entry.brokers)
    if paused >= brokers:
        which = "every broker" if paused > 1 else "the only broker"
    else:
        which = "one of several brokers" if paused == 1 else "several brokers, not all"
    return f"fault latency {latency}, {which}"
