"""
Did each subject keep to the line protocol: every planned send answered once, in its own thread, then an orderly end?

Examines each arm's sealed journal. A subject that dies, stalls or answers twice is a result of the case and never stops
the run. Troubles keep the words of the trace reader.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.core.answers.evidence import Evidence, Standing
from rocketdiff.core.answers.verdict import Divergence, Example, Measure
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.manifest import ArmSummary, CaseStatus

NAME = "protocol"
FAILED = "protocol.failed"
STALLED = "protocol.stalled"
BEFORE_SENDS = ("warm-up:", "setup:")
"""Prefixes of a subject's failure message before it is ready."""

BEFORE_GO = ("hello within", "ready within")
"""What the runner waits for before a subject may send (``subjects.subject_process``)."""

NAMES_A_TIMEOUT = re.compile(r"timed?[ -]?out|RemotingConnectException|no route", re.IGNORECASE)
"""
Failures of a client that ran out of time before it was ready: its own timeout, a connection not made within its 3 s, or
no route from a name server. Others are its own doing, unless the other client was not ready either.
"""

INCOMPLETE = "protocol.incomplete"
BAD_LINE = "protocol.bad-line"
NOT_REPORTED = "protocol.attempt-not-told"

SIGNATURE_OF_TROUBLE = {
    "reported before": "protocol.answered-twice",
    "told before": "protocol.answered-twice",
    "no such send was planned": "protocol.unknown-send",
    "planned for thread": "protocol.wrong-thread",
    "impossible times": "protocol.impossible-times",
    "not reported by the client": NOT_REPORTED,
    "which the client did not tell": NOT_REPORTED,
    "ended without having begun": "protocol.call-order",
    "of an incarnation that was never ordered": "protocol.before-join",
}
"""
Part of a trouble's text (``traces.sending.rows``, ``traces.consuming.rows``, ``traces.journal``) to its signature; others are bad lines. Earlier versions
wrote "told before" and "which the client did not tell".
"""


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with one divergence for each way an arm broke the protocol."""
    arms = facts.entry.arms
    found = tuple(divergence for arm in Arm if arm in arms for divergence in _broken(facts, arm, arms[arm]))
    evidence = facts.evidence(
        NAME,
        Standing.DECISIVE if len(arms) == len(Arm) else Standing.INVALID,
        "" if len(arms) == len(Arm) else "the journals of the arms were never sealed",
        decisions=sum(summary.sends for summary in arms.values()),
        measures=tuple(
            Measure(f"answered-sends {arm}", summary.sends, "count", facts.entry.sends_planned)
            for arm, summary in arms.items()
            if facts.entry.role is ClientRole.PRODUCER
        ),
    )
    if facts.entry.status is not CaseStatus.COMPLETE:
        return evidence
    unready = _unready(facts)
    ready = [arm for arm in Arm if arm in arms and arm not in unready]
    if unready and not any(True for arm in ready for _ in _broken(facts, arm, arms[arm])):
        return replace(evidence, standing=Standing.INVALID, reason="; ".join(unready.values()), divergences=found)
    return replace(evidence, divergences=found)


def _unready(facts: CaseFacts) -> dict[Arm, str]:
    """
    Arms that were never ready, and why. If only one failed, and by itself, that is a result and left out.

    Two that both broke off before a send had ended are as good as never ready, however they broke off.
    """
    if len(facts.entry.lost_arms) == len(Arm) and not any(summary.sends for summary in facts.entry.arms.values()):
        return {arm: f"{facts.subjects[arm]} never ended a send: {_seen(facts, arm)}" for arm in Arm}
    reasons = {arm: reason for arm in Arm if (reason := _never_ready(facts, arm))}
    both = len(reasons) == len(Arm)
    return {arm: reason for arm, reason in reasons.items() if both or _ran_out_of_time(facts, arm)}


def _seen(facts: CaseFacts, arm: Arm) -> str:
    breach = facts.entry.breach_of(arm)
    return "" if breach is None else breach.seen


def _ran_out_of_time(facts: CaseFacts, arm: Arm) -> bool:
    breach = facts.entry.breach_of(arm)
    assert breach is not None, "the arm was never ready"
    return breach.signature == STALLED or NAMES_A_TIMEOUT.search(breach.seen) is not None


def _never_ready(facts: CaseFacts, arm: Arm) -> str | None:
    """
    Why a subject never reached its first send; None if it did, or if it died.

    Nothing was compared then: a machine too busy to start two clients shows nothing about either.
    """
    breach = facts.entry.breach_of(arm)
    if breach is None or breach.signature not in (FAILED, STALLED):
        return None
    if not (breach.seen.startswith(BEFORE_SENDS) or breach.expected.startswith(BEFORE_GO)):
        return None
    return f"{facts.subjects[arm]} was never ready to send: {breach.seen}"


def _broken(facts: CaseFacts, arm: Arm, summary: ArmSummary) -> Iterator[Divergence]:
    """The breach the runner saw, which explains all that is missing; else what is missing. Then the troubles."""
    breach = facts.entry.breach_of(arm)
    subject = facts.subjects[facts.entry.blamed_for(arm)]
    troubles = tuple(_troubles(subject, summary))
    if breach is not None:
        yield _divergence(breach.signature, subject, 1, breach.expected, breach.seen)
    elif summary.failure is not None:
        yield _divergence(FAILED, subject, 1, "a subject that goes on to its last send", summary.failure)
    elif summary.unanswered or not summary.done:
        seen = f"{summary.unanswered} of {facts.entry.sends_planned} sends without an answer, done={summary.done}"
        yield _divergence(INCOMPLETE, subject, max(1, summary.unanswered), "every send answered, then done", seen)
    yield from (divergence for divergence in troubles if breach is None or divergence.signature != breach.signature)


def _troubles(subject: str, summary: ArmSummary) -> Iterator[Divergence]:
    """Troubles by signature; those without a text count with the first signature."""
    by_signature: dict[str, list[str]] = {}
    for trouble in summary.troubles:
        signature = next((name for end, name in SIGNATURE_OF_TROUBLE.items() if end in trouble), BAD_LINE)
        by_signature.setdefault(signature, []).append(trouble)
    without_text = summary.trouble_count - len(summary.troubles)
    for place, (signature, sentences) in enumerate(by_signature.items()):
        count = len(sentences) + (without_text if place == 0 else 0)
        is_hidden = signature == NOT_REPORTED
        expected = "every request reported as an attempt" if is_hidden else "every line a record that fits the plan"
        yield _divergence(signature, subject, count, expected, sentences[0])


def _divergence(signature: str, subject: str, count: int, expected: str, observed: str) -> Divergence:
    example = Example(NOWHERE, "protocol", expected, observed)
    return Divergence(signature, subject, count, example)


CODE: CheckCode[Any, Any] = CheckCode(NAME, evaluate=evaluate)
