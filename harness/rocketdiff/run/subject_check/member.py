"""
Tries a subject as the only member of a group on one broker: it joins, is fed, leaves, joins again, and leaves for good.

Each kind of listener that is claimed is tried once, each claimed outcome by a rule.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.operations.groups import committed_offset, member_ids
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.arm import CANDIDATE, FEEDER
from rocketdiff.core.consuming.plan import (
    Allocation,
    GroupPlan,
    ListenerKind,
    ListenerOutcome,
    ListenerRule,
    MessageModel,
)
from rocketdiff.core.consuming.watched import GroupTopics
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import FAILED, LISTENER, OWNED, Consumed, Owned, Received
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.subject import REFERENCE, SubjectId
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.consuming import MemberSetup
from rocketdiff.run.subject_check.finding import CheckFinding
from rocketdiff.run.subject_check.member_findings import MemberTrial, member_findings
from rocketdiff.run.subject_check.one_subject import HELD_MS, carried_out, new_setup, unheard
from rocketdiff.subjects.consuming.limits import MemberLimits
from rocketdiff.subjects.consuming.talk import ConsumingTalk
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.subject import Subject
from rocketdiff.subjects.subject_process import SubjectProcess

FED_BY = SubjectId(REFERENCE, "5.5.0")
MESSAGES = 40
QUEUES = 4
BODY_BYTES = 128
WARM_MESSAGES = 8
WORK_MS = 300

_EVERY_NS = 20_000_000
SHARE_S = 40.0
"""A round comes every 20 s, and a lookup of a route takes up to 3 s."""

UNSEEN_SHARE_S = 5.0
"""For a client that does not report what it owns: the only member of a group soon has all queues, and they begin at 0."""

BACK_S = 30.0
"""A failed message comes back after 10 s if the client has no delay level in its context."""

_AGAIN_S = 2.0
"""For what comes again in the second life: a pull of a queue that has something is answered at once."""

_COUNTED_S = 0.5
"""The end of a call is reported before the client counts its messages: 39 ms before at a load of 20, and more at times."""

_LOOK_S = 0.2

_HEARTBEAT_MS = 2_000

_PULL_MS, _BATCH = 250, 4
"""A message comes to each queue every 80 ms, so that most calls have several."""

TRIALS = (
    (ListenerKind.CONCURRENT, MessageModel.CLUSTERING),
    (ListenerKind.ORDERLY, MessageModel.CLUSTERING),
    (ListenerKind.CONCURRENT, MessageModel.BROADCASTING),
)


def offered_trials(subject: Subject) -> list[tuple[ListenerKind, MessageModel]]:
    """Return the kinds of groups that the subject can be a member of."""
    return [(kind, model) for kind, model in TRIALS if subject.offers(GroupDemand((kind.value, model.value)))]


def member_name(trial: tuple[ListenerKind, MessageModel]) -> str:
    """Return the name of what is tried."""
    kind, model = trial
    return f"member of a group, {kind}, {model}"


def check_member(
    subject: Subject, cluster: Cluster, folder: Path, only: str, announce: Callable[[str], None]
) -> Iterator[CheckFinding]:
    """Findings of each kind of group, in order; see ``check_subject``. Raises ClusterError."""
    for kind, model in offered_trials(subject):
        name = member_name((kind, model))
        if only not in name:
            continue
        announce(name)
        try:
            yield from member_findings(name, _tried(subject, cluster, folder, kind, model))
        except SubjectBroken as broken:
            yield CheckFinding(name, f"{broken.signature}: {broken}")
            yield CheckFinding("no further groups are tried: each would end the same way")
            return


def rules_of(subject: Subject, kind: ListenerKind, model: MessageModel) -> tuple[ListenerRule, ...]:
    """Return a rule for each claimed outcome of a failure, and one that works; a broadcast message does not come back."""
    works = ListenerRule(0, 10, 16, ListenerOutcome.SUCCESS, offset=7, work_ms=WORK_MS)
    if model is MessageModel.BROADCASTING:
        return (works,)

    def has(claim: str) -> bool:
        return subject.offers(GroupDemand((kind.value, model.value, LISTENER + claim)))

    level = 1 if kind is ListenerKind.CONCURRENT and has("level") else None
    suspend_ms = 100 if kind is ListenerKind.ORDERLY and has("suspend") else None
    failures = [ListenerOutcome.LATER, ListenerOutcome.THROW, ListenerOutcome.NULL]
    claimed = [outcome for outcome in failures if has(outcome)]
    return works, *(
        ListenerRule(1 + place, 20, 1, outcome, 1 + 2 * place, level, suspend_ms)
        for place, outcome in enumerate(claimed)
    )


def _tried(subject: Subject, cluster: Cluster, folder: Path, kind: ListenerKind, model: MessageModel) -> MemberTrial:
    fed = new_setup(cluster, ClientSettings(), QUEUES)
    topics, rules = GroupTopics(fed.group, fed.topic), rules_of(subject, kind, model)
    (broker,) = cluster.brokers
    cluster.create_topic(topics.retry, 1)
    with channels_to(security_of(cluster)) as channels:
        for number in range(WARM_MESSAGES):
            admin.store_probe(channels, broker.address, number % QUEUES, b"warm", fed.warm_topic)
    setup = _setup(fed, kind, model)
    can = [name for name in setup.settings if subject.offers(GroupDemand((kind.value, model.value), (name,)))]
    settings = {name: setup.settings[name] for name in can}
    setup = replace(setup, brokers={broker.address: broker.name}, settings=settings)
    talk = ConsumingTalk(setup, rules, MemberLimits.of(GroupPlan(1, kind, rules=rules), MESSAGES, 1))
    queues = {(topics.fed, broker.name, number) for number in range(QUEUES)}
    queues |= {(topics.retry, broker.name, 0)} if model is MessageModel.CLUSTERING else set()
    trial = MemberTrial(setup, rules, frozenset(queues), MESSAGES)

    def ask() -> None:
        trial.committed, trial.listed = _asked(cluster, topics)

    with SubjectProcess(subject.program, CANDIDATE, folder / fed.topic, on_line=unheard) as process:
        converse(process, talk, trial, lambda: _feed(cluster, folder, fed), ask)
    trial.has_stopped = process.has_stopped
    sizes = dict.fromkeys(range(MESSAGES), BODY_BYTES)
    trial.stored = tuple(row for row in read_stored(cluster, fed.topic, sizes) if row.send is not None)
    return trial


def _setup(fed: SubjectSetup, kind: ListenerKind, model: MessageModel) -> MemberSetup:
    return MemberSetup(
        member=0,
        instance=f"{fed.topic}-m0",
        name_servers=fed.name_servers,
        topic=fed.topic,
        warm_topic=fed.warm_topic,
        group=fed.group,
        warm_group=f"{fed.group}-warm",
        run=fed.run,
        listener=kind,
        model=model,
        strategy=Allocation.AVG,
        work_ms=0,
        body_bytes=(BODY_BYTES,),
        settings={
            "consume_from_where": "first",
            "heartbeat_broker_interval_ms": _HEARTBEAT_MS,
            "pull_interval_ms": _PULL_MS,
            "consume_message_batch_max_size": _BATCH,
        },
        properties={},
        security=fed.security,
    )


def converse(
    process: SubjectProcess,
    talk: ConsumingTalk,
    trial: MemberTrial,
    feed: Callable[[], None],
    ask: Callable[[], None],
) -> None:
    """
    Order the whole life of a member. Raises SubjectBroken.

    feed: called once it owns its queues, or has had the time for it; ask: once it has left for the first time.
    """
    trial.begun_ns = process.began_ns
    process.await_hello()
    trial.transcript = process.transcript
    process.prepare(talk)
    process.await_ready()

    def at_most(limit_s: float) -> float:
        return HELD_MS / 1_000 if process.is_attached else limit_s

    for is_last in (False, True):
        process.order(lambda: talk.join(0, time.monotonic_ns()))
        process.await_that(lambda: talk.joined is not None, at_most(MemberLimits().join_s + 1))
        if talk.joined is not None and talk.joined.error is None:
            share_s = at_most(SHARE_S) if trial.claims(OWNED) else UNSEEN_SHARE_S
            _await(process, lambda: _owned(trial) >= trial.queues, share_s)
            if is_last:
                _await(process, lambda: False, _AGAIN_S)
            else:
                feed()
                _await(process, lambda: _is_all_done(trial), at_most(BACK_S))
                _await(process, lambda: False, _COUNTED_S)
        leaving = talk.leave
        process.order(lambda: leaving(0, time.monotonic_ns(), is_last=is_last))  # noqa: B023 - called at once
        leave_s = MemberLimits.of(GroupPlan(1, trial.setup.listener), 0, 1).leave_s + 1
        process.await_that(lambda: talk.has_left, at_most(leave_s))
        if not is_last:
            ask()
    process.await_done()


def _await(process: SubjectProcess, condition: Callable[[], bool], most_s: float) -> None:
    """Wait for a condition that takes a look at all records, now and then."""
    until = time.monotonic() + most_s
    while not condition() and (left_s := until - time.monotonic()) > 0:
        process.await_that(lambda: False, min(_LOOK_S, left_s))


def _owned(trial: MemberTrial) -> frozenset[tuple[str, str, int]]:
    sets = trial.reported(Owned)
    return frozenset(sets[-1].queues) if sets else frozenset()


def _is_all_done(trial: MemberTrial) -> bool:
    ended = {end.call: end.result for end in trial.reported(Consumed)}
    calls = [call for call in trial.reported(Received) if call.call in ended]
    seen = {(message.send, message.times > 0) for call in calls for message in call.messages}
    failed = {(each.send, True) for call in calls if ended[call.call] in FAILED for each in call.messages}
    return failed | {(send, False) for send in range(trial.messages)} <= seen


def _feed(cluster: Cluster, folder: Path, fed: SubjectSetup) -> None:
    sends = tuple(PlannedSend(n, 0, n * _EVERY_NS, SendKind.QUEUE, n, BODY_BYTES) for n in range(MESSAGES))
    warm = f"{fed.topic}-feeder-warm"  # a member's warm topic has eight messages
    cluster.create_topic(warm, QUEUES)
    with SubjectProcess(program_of(FED_BY), FEEDER, folder / f"{fed.topic}-feeder", on_line=unheard) as process:
        process.await_hello()
        carried_out(process, Plan(0, 1, sends), replace(fed, warm_topic=warm, group=f"{fed.group}-feeder"))


def _asked(cluster: Cluster, topics: GroupTopics) -> tuple[dict[int, tuple[int | None, int]], tuple[str, ...]]:
    """Return the committed offset and the end of each queue of the fed topic, and the ids of the group's members."""
    (broker,) = cluster.brokers
    place = (broker.name, broker.address)
    offsets = {}
    with channels_to(security_of(cluster)) as channels:
        for number in range(QUEUES):
            committed = committed_offset(channels, place, topics.group, topics.fed, number)
            offsets[number] = committed, admin.queue_end(channels, broker.address, topics.fed, number)
        return offsets, member_ids(channels, broker.address, topics.group)[1]
