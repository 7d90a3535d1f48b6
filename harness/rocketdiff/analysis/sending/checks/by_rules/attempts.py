"""
Did the client make exactly as many attempts as the rules require?

Examines every send. Relevant are attempts that failed or were stored with a status other than SEND_OK (was there
another, and should there have been?), and attempts after the first, of sends the rules could judge; the measures count
all. Exact, never statistical.
"""

from collections.abc import Iterator
from dataclasses import replace

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.by_rules.late_ends import LateEnds
from rocketdiff.analysis.sending.checks.by_rules.replay_checks import (
    judged_before,
    judged_evidence,
    note_differences,
    note_met,
    or_missed,
)
from rocketdiff.analysis.sending.checks.context import CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.durations.held_up import HeldUp
from rocketdiff.analysis.sending.checks.durations.silent_brokers import SilentBrokers, retried_shares
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.outcome import is_stored_with_reserve

NAME = "attempts"
SEEN = "attempts.seen"
"""Tally of all attempts, judged or not."""


class Attempts(CaseObserver):
    """Counts failed attempts and retries; notes a retry too many or too few."""

    def observe(self, send: AlignedSend) -> None:
        note_differences(NAME, send, self._collector)
        for side in send.sides:
            bound = judged_before(side)
            met = set()
            for attempt in side.attempts:
                situations = tuple(_situations(attempt))
                tallies = (SEEN, NAME) if attempt.attempt < bound else (SEEN,)
                phase = str(side.phase_of(attempt.attempt))
                for tally in tallies:
                    for situation in situations:
                        self._collector.count(tally, str(side.arm), phase, situation)
                met |= set(situations) if attempt.attempt < bound else set()
            for situation in sorted(met):
                note_met(NAME, side, self._collector, situation)


def _situations(attempt: Attempt) -> Iterator[str]:
    if attempt.error is not None:
        yield "failed"
    elif is_stored_with_reserve(attempt.status):
        yield "not-store-ok"
    if attempt.attempt > 0:
        yield "retry"


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with each arm's failed attempts and retries."""
    measures = (
        *counted(facts, "failed-attempts", SEEN, "failed"),
        *counted(facts, "not-store-ok", SEEN, "not-store-ok"),
        *counted(facts, "retries", SEEN, "retry"),
    )
    never = "no attempt failed in either arm, nor was answered with a status other than SEND_OK"
    keys = ("failed", "not-store-ok", "retry")
    evidence = or_missed(facts, judged_evidence(facts, NAME, *keys, never=never, measures=measures))
    return replace(evidence, counts=retried_shares(facts))


CODE: SendCheck = CheckCode(NAME, observers=(Attempts, HeldUp, LateEnds, SilentBrokers), evaluate=evaluate)
