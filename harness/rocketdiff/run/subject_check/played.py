"""
A scenario about producers, played by one client alone.

How its sends ended is shown. Judged is only what no breakpoint and no fault excuses: an acknowledged message that is not stored, and
a damaged one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.faults.schedule import ScheduleThread
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import StoredRow, read_stored
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import SubjectBroken, UsageError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.tables.fault import FaultRecord, fault_sentence
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.report.words.signs import plural
from rocketdiff.run.case.case_run import GO_AHEAD_NS
from rocketdiff.run.case.wire_faults import needs_relays
from rocketdiff.run.selection import why_not_here
from rocketdiff.run.subject_check.finding import CheckFinding
from rocketdiff.run.subject_check.one_subject import carried_out, new_setup, unheard
from rocketdiff.scenario import Scenario, expand
from rocketdiff.subjects.subject import Subject
from rocketdiff.subjects.subject_process import SubjectProcess

_SHOWN = 10
"""Failed sends listed."""


def require_playable(scenario: Scenario, backend: Backend) -> None:
    """Raise UsageError for a scenario that no client can play alone."""
    if scenario.role is not ClientRole.PRODUCER:
        reason: str | None = "its group has several members; without --scenario a member is tried alone"
    elif needs_relays(scenario.faults):
        reason = "its faults are on the wire, behind relays of a run"
    else:
        reason = why_not_here(scenario, backend)
    if reason:
        raise UsageError("a scenario that a client can play alone", seen=scenario.name, hint=reason)


def require_claims(scenario: Scenario, subject: Subject) -> None:
    """Raise UsageError if the client lacks a call that the scenario has."""
    for demand in scenario.demands():
        if reason := subject.why_not(demand):
            raise UsageError(
                f"a client that can play {scenario.name}", seen=reason, hint="rocketdiff scenarios lists others"
            )


def play(
    subject: Subject, scenario: Scenario, cluster: Cluster, folder: Path, seed: int, announce: Callable[[str], None]
) -> Iterator[CheckFinding]:
    """Findings of one case. ``cluster`` has the scenario's topology, and is healed. Raises ClusterError."""
    case = expand(scenario, subject.id, subject.id, seed, subject.attempt_timeout_ms or 0)
    announce(case.scenario.name)
    setup = new_setup(cluster, case.scenario.settings, scenario.queues_per_broker, ordered=scenario.ordered)
    schedules: list[ScheduleThread] = []

    def show(record: FaultRecord) -> None:
        what = f"{record.kind} of {record.node}"
        announce(f"{what} begins" if record.heal_ns is None else f"{what} is over")

    def begin_faults(start_ns: int) -> None:
        schedules.append(ScheduleThread(cluster, case.faults, start_ns, show))

    try:
        with SubjectProcess(subject.program, CANDIDATE, folder / setup.topic, on_line=unheard) as process:
            process.await_hello()
            transcript = carried_out(
                process, case.plan, setup, None, subject.attempt_timeout_ms, on_go=begin_faults, ahead_ns=GO_AHEAD_NS
            )
    except SubjectBroken as broken:
        yield CheckFinding(scenario.name, f"{broken.signature}: {broken}")
        return
    finally:
        for schedule in schedules:
            schedule.stop()
            schedule.join()
        cluster.heal_all()
    await_drained(cluster, [setup.topic])
    stored = tuple(read_stored(cluster, setup.topic, case.plan.body_bytes))
    yield CheckFinding("; ".join([*map(fault_sentence, case.faults)]) or "no faults")
    yield from _ends(transcript)
    yield from (CheckFinding("what is stored", problem) for problem in _problems(transcript, stored) or ("",))


def _ends(transcript: Transcript) -> Iterator[CheckFinding]:
    ended = Counter(send.status or send.error or "without status" for send in transcript.sends)
    yield CheckFinding(f"{len(transcript.sends)} sends: " + ", ".join(f"{n} {how}" for how, n in ended.most_common()))
    for send in transcript.failed[:_SHOWN]:
        attempts = [f"{each.broker}/{each.queue_id}" for each in transcript.attempts if each.send == send.send]
        tried = f", tried {', '.join(attempts)}" if attempts else ""
        yield CheckFinding(f"send {send.send}: {send.error} after {_took_ms(send):,.0f} ms{tried}")
    if len(transcript.failed) > _SHOWN:
        yield CheckFinding(f"{len(transcript.failed) - _SHOWN} more failed")


def _took_ms(send: Send) -> float:
    return (send.end_ns - send.start_ns) / NS_PER_MS


def _problems(transcript: Transcript, stored: tuple[StoredRow, ...]) -> list[str]:
    there = {row.send for row in stored}
    lost = [send.send for send in transcript.sends if send.status is not None and send.send not in there]
    spoilt = sorted(row.send for row in stored if row.send is not None and not row.body_ok)
    problems = []
    if lost:
        problems.append(f"{plural(len(lost), 'acknowledged message')} stored nowhere, the first is number {lost[0]}")
    if spoilt:
        problems.append(f"{plural(len(spoilt), 'damaged message')}, the first is number {spoilt[0]}")
    return problems
