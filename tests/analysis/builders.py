"""A manually built case, observed, summed up, answered and judged to the exit code."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.conclusions import case_facts
from rocketdiff.analysis.facts import CaseFact
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.analysis.sending.steps.reconciled import fate_of
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.summaries import summarise
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.asynchronous.habits import NO_HABITS, AsyncHabits
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.traces.manifest import CaseEntry, CaseStatus
from rocketdiff.verdict.judge import answers, judge
from tests.analysis.synthetic import MANIFEST
from tests.verdict.builders import COMPLETE, RUN

S, MS = 1_000_000_000, 1_000_000
SUBJECTS = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "python:5.3.3"}
ENTRY = CaseEntry(
    number=1,
    name="case",
    scenario="case",
    scenario_text="",
    topology="two-masters",
    queues_per_broker=4,
    settings=ClientSettings(send_msg_timeout_ms=500),
    threads=1,
    sends_planned=1,
    duration_s=1.0,
    plan_digest="",
    checks=(),
    brokers=("broker-a", "broker-b"),
    status=CaseStatus.COMPLETE,
    clock=ClockAnchor(0, 0),
)
"""A sound case of one thread with a timeout of 500 ms."""

Make = Callable[[CaseContext], CaseObserver]


def fault(
    from_ns: int, to_ns: int | None, kind: FaultKind = FaultKind.PAUSE, node: str = "broker-b", episode: int = 1
) -> FaultRecord:
    """A fault between two instants; None: never healed."""
    return FaultRecord(episode, kind, node, from_ns, from_ns, from_ns, to_ns, to_ns, to_ns)


def tried(start_ns: int, end_ns: int, error: str | None = None, *, broker: str = "broker-b", **more: Any) -> Attempt:
    """An attempt at queue 0; more: status, code, attempt."""
    reported = {"send": 0, "thread": 0, "attempt": 0, "queue_id": 0, "status": None if error else "SEND_OK"} | more
    return Attempt(broker=broker, start_ns=start_ns, end_ns=end_ns, error=error, **reported)


def made(
    arm: Arm,
    send: int,
    *attempts: Attempt,
    copies: Sequence[Copy] | None = (),
    faults: Sequence[FaultRecord] = (),
    judgement: SendJudgement | None = None,
    thread: int = 0,
    **row: Any,
) -> SendView:
    """A send of one arm that ends as its last attempt; row: fields to override."""
    last = attempts[-1] if attempts else tried(0, 0)
    reported = {
        "due_ns": attempts[0].start_ns if attempts else 0,
        "start_ns": attempts[0].start_ns if attempts else 0,
        "end_ns": last.end_ns,
        "error": last.error,
        "code": last.code,
        "status": last.status,
        "broker": last.broker,
        "queue_id": last.queue_id,
        "queue_offset": None if last.error else send,
        "route": 1,
        "route_after": 1,
        "body_bytes": 32,
    } | row
    attempts = tuple(replace(attempt, send=send, thread=thread) for attempt in attempts)
    whole = Send(send=send, thread=thread, attempts=attempts, **reported)
    traced = SendView(arm, thread, send, whole, attempts)
    (view,) = attempts_in_context([traced], FaultTimes(faults))
    fate = None if copies is None else fate_of(whole.outcome is Outcome.OK, bool(copies))
    return replace(view, judgement=judgement, copies=None if copies is None else tuple(copies), fate=fate)


def pair(baseline: SendView | None, candidate: SendView | None) -> AlignedSend:
    one = baseline or candidate
    assert one is not None
    return AlignedSend(one.thread, one.send, baseline, candidate)


def context_of(
    entry: CaseEntry = ENTRY,
    faults: Sequence[FaultRecord] = (),
    habits: AsyncHabits = NO_HABITS,
    may_leave_open: Callable[[str | None], bool] | None = None,
    **rules: Any,
) -> CaseContext:
    """The context of a case without tables: its faults are given. rules: ``rewrites`` and ``renames`` of the rulebook."""
    trace = CaseTrace("r1", SUBJECTS, entry, {})
    vars(trace)["faults"] = tuple(faults)
    rulebook = Rulebook({}, habits=habits, may_leave_open=may_leave_open, **rules)
    return CaseContext(trace, rulebook, SendFacts("r1", 1, 0))


def facts_of(
    sends: Iterable[AlignedSend],
    *make: Make,
    faults: Sequence[FaultRecord] = (),
    entry: CaseEntry = ENTRY,
    habits: AsyncHabits = NO_HABITS,
    may_leave_open: Callable[[str | None], bool] | None = None,
    **rules: Any,
) -> CaseFacts:
    """The facts that observers record."""
    context = context_of(entry, faults, habits, may_leave_open, **rules)
    collector, observers = context.collector, [one(context) for one in make]
    for send in sends:
        for observer in observers:
            observer.observe(send)
    for observer in observers:
        observer.finish()
    noted = [*(CaseFact("r1", 1, one) for one in faults), *collector.facts()]
    manifest = replace(MANIFEST, run="r1", subjects=SUBJECTS, cases=(entry,))
    (facts,) = case_facts([manifest], summarise(noted))
    return facts


def ended(evidence: Evidence) -> tuple[CheckResult, ExitCode]:
    """The answer to one evidence, and the exit code of a run with it and three conforming ones."""
    return answers([evidence], RUN)[0], judge([*COMPLETE, evidence], RUN).exit_code


def signatures(facts: CaseFacts) -> list[str]:
    """Signature and count of every difference."""
    return sorted(f"{one.signature} {one.count}" for found in facts.divergences.values() for one in found)
