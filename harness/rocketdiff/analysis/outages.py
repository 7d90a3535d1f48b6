"""
How many outages did both clients run into, by what could be seen in them?

An outage is what a rare divergence has a chance to show in: pauses that overlap are one cause. Outages of different situations
show different rules (a client that avoids slow brokers leaves a lone one alone, and has nowhere to go when all are silent),
so they are never added up. Only cases whose set-up held count, and faults as they happened.
"""

from collections import Counter
from collections.abc import Iterable

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.pairing import is_sound
from rocketdiff.analysis.steps.attempts_in_context import FaultTimes, Outage
from rocketdiff.core.answers.evidence import SpellCount
from rocketdiff.core.events import Arm

MET = "spell.met"
"""Tally of attempts on a paused broker, by the outage's episode."""


def outage_counts(cases: Iterable[CaseFacts]) -> tuple[SpellCount, ...]:
    """Outages that both arms met, by situation, in the order of the situations' names."""
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
