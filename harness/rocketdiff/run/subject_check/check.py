"""
Checks a subject against the protocol, without another client.

Each claimed call is tried twenty times on one broker, and one call again while the broker is paused; a consumer as the only member
of a group (``member``).
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import StoredRow, read_stored
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.consuming.plan import ListenerKind, MessageModel
from rocketdiff.core.demand import GroupDemand, SendDemand
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.sending import (
    ATTEMPT_STARTS,
    ATTEMPTS,
    NEVER_CALLED_BACK,
    ROUTES,
    UNSEEN_END,
    Attempt,
    Send,
)
from rocketdiff.core.records.session import PROTOCOL
from rocketdiff.core.sends.message import ID_PROPERTY, KEYS, TAGS
from rocketdiff.core.sends.outcome import ErrorWord, Reason, reason_of
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import ClientProtocol
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.text.quoted import shown
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.subject_check.finding import CheckFinding
from rocketdiff.run.subject_check.member import check_member, member_name, offered_trials
from rocketdiff.run.subject_check.one_subject import HELD_MS, carried_out, new_setup, unheard
from rocketdiff.scenario.stretch import TIMES
from rocketdiff.subjects.claims import unknown_claims
from rocketdiff.subjects.subject import Subject
from rocketdiff.subjects.subject_process import SubjectProcess

NO_MEMBER = "hello has no role consumer: scenarios about consumers are left out"

SENDS = 20
STALLED = "protocol.stalled"
QUEUES = 4
BODY_BYTES = 128
_MARK = (("colour", "grün"),)
"""Not ASCII, because only such a value reveals a client that encodes twice or not at all."""
_EVERY_NS = 10_000_000
_PAUSE_S = 1.5
_PAUSED_TIMEOUT_MS = 500
_HELD_NS = 3_000_000_000
"""A broker on loopback answers within milliseconds; on an overloaded machine within a second."""
_CLOCK_TOLERANCE_NS = 2 * NS_PER_MS
"""Some runtimes round their clock to whole milliseconds."""


@dataclass(frozen=True, slots=True)
class _Trial:
    transcript: Transcript
    stored: tuple[StoredRow, ...]
    has_stopped: bool
    clock_off_ns: int
    held: frozenset[int] = frozenset()


def topology_for(subject: Subject) -> str:
    """One broker, and for a gRPC client also a proxy."""
    return "one-master-local-proxy" if subject.protocol is ClientProtocol.GRPC else "one-master"


def trial_names(subject: Subject) -> list[str]:
    """What will be tried, each with a start of the program of its own, in order."""
    offered = _offered_calls(subject)
    paused = [_pause_name(subject)] if offered else []
    return [*map(_call_name, offered), *paused, *map(member_name, offered_trials(subject))]


def check_subject(
    subject: Subject,
    cluster: Cluster,
    folder: Path,
    only: str = "",
    announce: Callable[[str], None] = lambda _: None,
) -> Iterator[CheckFinding]:
    """
    Findings in the order they are made. ``cluster`` has one broker; it is paused once and healed. Raises ClusterError.

    only: part of the names of what is tried. announce: called with the name before each start of the program.
    """
    offered = _offered_calls(subject)
    yield from _claims(subject, offers_sends=bool(offered))
    is_first, last = True, ""
    for kind, mode in offered:
        tried = _call_name((kind, mode))
        if only not in tried:
            continue
        announce(tried)
        plan = _carrying(_plan(kind, mode)) if is_first else _plan(kind, mode)
        try:
            settings = ClientSettings(send_msg_timeout_ms=HELD_MS) if subject.is_attached else ClientSettings()
            trial = _tried(subject, cluster, folder, plan, settings)
        except SubjectBroken as broken:
            yield CheckFinding(tried, f"{broken.signature}: {broken}")
            if is_first and broken.signature == STALLED:
                yield CheckFinding("no further checks: each would wait as long")
                return
            failure = f"{broken.signature}: {broken.seen}"
            if is_first and failure == last:
                yield CheckFinding("no further checks: each would end the same way")
                return
            last = failure
            continue
        trial, held = _without_held(trial) if subject.is_attached else (trial, "")
        yield from (CheckFinding(tried, problem) for problem in _problems(trial, kind, mode) or ("",))
        if held:
            yield CheckFinding(held)
        untold = [] if is_first else untold_attempts(trial.transcript)
        yield from (CheckFinding(f"attempts of {tried}", problem) for problem in untold)
        if is_first:
            yield from _once(trial)
            yield from _carried(trial)
            is_first = False
    if offered and only in _pause_name(subject):
        announce(_pause_name(subject))
        yield from _paused(subject, cluster, folder, *offered[0])
    yield from check_member(subject, cluster, folder, only, announce)


def _offered_calls(subject: Subject) -> list[tuple[SendKind, SendMode]]:
    calls = [(kind, SendMode.SYNC) for kind in SendKind] + [
        (SendKind.PLAIN, SendMode.ASYNC),
        (SendKind.PLAIN, SendMode.ONEWAY),
    ]
    return [call for call in calls if subject.offers(SendDemand(*call, (QUEUES,)))]


def _call_name(call: tuple[SendKind, SendMode]) -> str:
    kind, mode = call
    return f"{SENDS} {mode} sends, {kind}"


def _pause_s(subject: Subject) -> float:
    return max(_PAUSE_S, TIMES * (subject.attempt_timeout_ms or 0) / 1_000)


def _pause_name(subject: Subject) -> str:
    return f"sends to a broker that is paused for {_pause_s(subject):g} s"


def _claims(subject: Subject, *, offers_sends: bool) -> Iterator[CheckFinding]:
    """What hello claims, by role, and what it claims that is unknown."""
    if not subject.acts_as(ClientRole.PRODUCER):
        yield CheckFinding("hello has no role producer: scenarios about producers are left out")
    elif not offers_sends:
        yield CheckFinding(
            "a call", "hello claims no kind of send: name plain, queue, selector, batch or group among its capabilities"
        )
    if not subject.acts_as(ClientRole.CONSUMER):
        yield CheckFinding(NO_MEMBER)
    elif not offered_trials(subject):
        lack = subject.why_not(GroupDemand((ListenerKind.CONCURRENT, MessageModel.CLUSTERING)))
        yield CheckFinding("a group", f"no scenario about consumers can be played: {lack}")
    strange = [role for role in subject.roles if role not in set(ClientRole)]
    if strange:
        yield CheckFinding(f"hello has the roles {', '.join(strange)}, which protocol {PROTOCOL} does not know")
    unknown = unknown_claims(sorted(subject.capabilities))
    if unknown:
        yield CheckFinding(
            f"hello claims {', '.join(unknown)}, which protocol {PROTOCOL} does not know: are they misspelt?"
        )


def _plan(kind: SendKind, mode: SendMode) -> Plan:
    return Plan(0, 1, tuple(PlannedSend(n, 0, n * _EVERY_NS, kind, n, BODY_BYTES, mode) for n in range(SENDS)))


def _carrying(plan: Plan) -> Plan:
    return replace(
        plan, sends=tuple(replace(send, keys="a-key", tags="a-tag", properties=_MARK) for send in plan.sends)
    )


def _carried(trial: _Trial) -> Iterator[CheckFinding]:
    """Warn only: lost keys, tags or properties are a difference only where a scenario uses them."""
    asked = {KEYS: "a-key", TAGS: "a-tag", **dict(_MARK)}
    stored = [json.loads(row.properties) for row in trial.stored]
    other = {name: each.get(name) for name, value in asked.items() for each in stored if each.get(name) != value}
    if other:
        lack = ", ".join(name if seen is None else f"{name} (they have {shown(seen)})" for name, seen in other.items())
        yield CheckFinding(
            f"keys, tags and properties of the plan: messages lack {lack}, a difference where a scenario asks for it"
        )


def _tried(
    subject: Subject,
    cluster: Cluster,
    folder: Path,
    plan: Plan,
    settings: ClientSettings,
    once_ready: Callable[[], None] | None = None,
) -> _Trial:
    setup = new_setup(cluster, settings, QUEUES)
    if subject.is_attached:
        setup = replace(setup, callback_limit_ms=HELD_MS)
    with SubjectProcess(subject.program, CANDIDATE, folder / setup.topic, on_line=unheard) as process:
        hello = process.await_hello()
        off_ns = max(process.began_ns - hello.clock_ns, hello.clock_ns - time.monotonic_ns(), 0)
        transcript = carried_out(process, plan, setup, once_ready, subject.attempt_timeout_ms)
    cluster.heal_all()
    await_drained(cluster, [setup.topic])
    stored = read_stored(cluster, setup.topic, plan.body_bytes)
    by_send = tuple(sorted(stored, key=lambda row: -1 if row.send is None else row.send))
    return _Trial(transcript, by_send, process.has_stopped, off_ns)


def _without_held(trial: _Trial) -> tuple[_Trial, str]:
    """
    Leave out failed sends that took longer than any does in calm: their author may have held them at a breakpoint.

    Returns also the note about them: a connection that is idle for two minutes is closed by the broker.
    """
    held = [send for send in trial.transcript.sends if send.error and send.end_ns - send.start_ns > _HELD_NS]
    if not held:
        return trial, ""
    kept = replace(trial.transcript, sends=[send for send in trial.transcript.sends if send not in held])
    took_s, numbers = (
        max(send.end_ns - send.start_ns for send in held) / 1e9,
        ", ".join(str(send.send) for send in held),
    )
    stored = tuple(row for row in trial.stored if row.send not in {send.send for send in held})
    left = replace(trial, transcript=kept, stored=stored, held=frozenset(send.send for send in held))
    return left, f"not judged, as held up for up to {took_s:,.0f} s: send {numbers} ({held[0].error})"


def _problems(trial: _Trial, kind: SendKind, mode: SendMode) -> list[str]:
    sends, stored = trial.transcript.sends, trial.stored
    problems = []
    failed = [send for send in sends if send.error is not None]
    if failed:
        problems.append(
            f"{len(failed)} of {SENDS} failed though nothing was wrong, the first with {failed[0].error}: {failed[0].message}"
        )
    foreign = [row for row in stored if row.send is None]
    if foreign:
        problems.append(
            f"{len(foreign)} stored messages have no id of this run in their property {ID_PROPERTY}: {foreign[0].identity}"
        )
    spoilt = [row for row in stored if row.send is not None and not row.body_ok]
    if spoilt:
        problems.append(f"the body of message {spoilt[0].send} is not its id padded with dots to {BODY_BYTES} bytes")
    times = {number: sum(row.send == number for row in stored) for number in range(SENDS)}
    lost = [number for number, count in times.items() if count == 0 and number not in trial.held]
    if lost and not failed:
        problems.append(f"{len(lost)} of {SENDS} messages are not stored, the first is number {lost[0]}")
    twice = [number for number, count in times.items() if count > 1]
    if twice:
        problems.append(f"{len(twice)} messages are stored more than once, the first is number {twice[0]}")
    asked = kind in (SendKind.QUEUE, SendKind.SELECTOR)
    astray = [row for row in stored if row.send is not None and asked and row.queue_id != row.send % QUEUES]
    if astray:
        problems.append(
            f"message {astray[0].send} was to go to queue {astray[0].send or 0} modulo {QUEUES} and lies in queue {astray[0].queue_id}"
        )
    return problems + _wrong_results(sends, stored, mode)


def _wrong_results(sends: list[Send], stored: tuple[StoredRow, ...], mode: SendMode) -> list[str]:
    lies = {row.send: (row.broker, row.queue_id, row.queue_offset) for row in stored}
    reported = ((send, (send.broker, send.queue_id, send.queue_offset)) for send in sends if send.broker is not None)
    wrong = [
        f"send {send.send} says {place}, but its message is at {lies[send.send]}"
        for send, place in reported
        if lies.get(send.send, place) != place
    ]
    if wrong:
        return [f"{len(wrong)} results name a place other than that of the message: {wrong[0]}"]
    silent = [send for send in sends if send.error is None and send.status is None]
    if silent and mode is not SendMode.ONEWAY:
        return [f"{len(silent)} sends end with neither status nor error"]
    return []


def untold_attempts(transcript: Transcript) -> list[str]:
    """Sends without an attempt although attempts are claimed: a relay would contradict the client."""
    claims = () if transcript.hello is None else transcript.hello.capabilities
    reported = len({attempt.send for attempt in transcript.attempts})
    if ATTEMPTS not in claims or reported >= len(transcript.sends):
        return []
    return [
        f"{reported} of {len(transcript.sends)} sends have one, though hello claims {ATTEMPTS}: report those of every mode"
    ]


def _once(trial: _Trial) -> Iterator[CheckFinding]:
    off_ms = trial.clock_off_ns / NS_PER_MS
    is_far = trial.clock_off_ns > _CLOCK_TOLERANCE_NS
    yield CheckFinding(
        "its clock",
        f"it is {off_ms:,.0f} ms away from the host's monotonic clock (CLOCK_MONOTONIC, nanoTime)" if is_far else "",
    )
    yield CheckFinding("stop", "" if trial.has_stopped else "it was still there two seconds after stop, and was killed")
    hello, transcript = trial.transcript.hello, trial.transcript
    claims = hello.capabilities if hello is not None else ()
    if not {ATTEMPTS, ATTEMPT_STARTS} & {*claims}:
        yield CheckFinding("attempts are not claimed: the recording relay reports them")
    elif len({attempt.send for attempt in transcript.attempts}) < SENDS:
        claim = ATTEMPTS if ATTEMPTS in claims else ATTEMPT_STARTS
        yield CheckFinding(
            "attempts", f"only {len(transcript.attempts)} for {SENDS} sends, though hello claims {claim}"
        )
    else:
        yield CheckFinding(
            "attempts" if ATTEMPTS in claims else "the beginnings of attempts; the recording relay reports their ends"
        )
    if ATTEMPTS in claims and ROUTES not in claims:
        problem = "without them it is unknown which queue is next; report them too, or claim no attempts, and the relay reports both"
        yield CheckFinding("routes", f"hello claims attempts and no routes: {problem}")
    if ROUTES in claims:
        yield CheckFinding("routes", "" if transcript.routes else f"none, though hello claims {ROUTES}")


def _paused(subject: Subject, cluster: Cluster, folder: Path, kind: SendKind, mode: SendMode) -> Iterator[CheckFinding]:
    """Sends to a paused broker must end with an error or after it resumes, and the subject must survive."""
    pause_s, tried = _pause_s(subject), _pause_name(subject)
    (broker,) = cluster.brokers
    settings = replace(ClientSettings(), send_msg_timeout_ms=_PAUSED_TIMEOUT_MS, retry_times_when_send_failed=0)
    begun_ns: list[int] = []
    ended_ns: list[int] = []

    def resume() -> None:
        ended_ns.append(time.monotonic_ns())
        cluster.resume(broker.name)

    timer = threading.Timer(pause_s, resume)

    def pause() -> None:
        cluster.pause(broker.name)
        begun_ns.append(time.monotonic_ns())
        timer.start()

    try:
        trial = _tried(subject, cluster, folder, _plan(kind, mode), settings, pause)
    except SubjectBroken as broken:
        yield CheckFinding(tried, f"{broken.signature}: {broken}")
        return
    finally:
        if begun_ns:
            timer.join()
        cluster.heal_all()
    sends = trial.transcript.sends
    early = [
        send for send in sends if send.status is not None and begun_ns[0] <= send.start_ns and send.end_ns < ended_ns[0]
    ]
    longest_ms = max((send.end_ns - send.start_ns for send in sends), default=0) / NS_PER_MS
    problem = f"send {early[0].send} was acknowledged while the broker was stopped" if early else ""
    yield CheckFinding(
        f"{tried}: the longest took {longest_ms:,.0f} ms with send_msg_timeout_ms {_PAUSED_TIMEOUT_MS}", problem
    )
    if longest_ms > TIMES * _PAUSED_TIMEOUT_MS and not (subject.attempt_timeout_ms or subject.is_attached):
        yield CheckFinding("send_msg_timeout_ms: if no attempt obeys it, give attempt_timeout_ms in hello")
    yield from foreign_errors(trial.transcript)


def foreign_errors(transcript: Transcript) -> Iterator[CheckFinding]:
    """Error names that only this client uses: they would always be reported as differences."""
    records: tuple[Send | Attempt, ...] = (*transcript.sends, *transcript.attempts)
    names = {record.error for record in records if record.error is not None}
    foreign = sorted(
        error for error in names - {UNSEEN_END, NEVER_CALLED_BACK, ErrorWord.OTHER} if reason_of(error) is Reason.OTHER
    )
    if foreign:
        words = ", ".join(ErrorWord)
        yield CheckFinding(f"errors {', '.join(foreign)}: RocketMQ has no such class; report one of the words {words}")
