"""
Real subjects on real brokers, one of them paused.

The outcomes follow from sendDefaultImpl and sendKernelImpl: up to 4.2.0 each attempt has the whole timeout, so the send goes on
to the other broker; from 4.3.0 on all attempts share it, and the paused broker uses it up.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import psutil
import pytest

from rocketdiff.analysis.sending.steps.causes import CROWDED_CODES
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.process.child import Child
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.live import PATIENCE_S, PLENTY_MS, TRIES, await_that, repeated, report_repeat
from tests.protocol.published import require_record
from tests.subjects.pausing import through_a_pause
from tests.subjects.starting import start_ready

pytestmark = pytest.mark.cluster

SUBJECTS = ("java:4.0.0-incubating", "java:4.7.1", "java:5.3.3", "python:5.3.3")
"""
The driver's hooks differ between these releases, and so do the budget of a send (4.3.0) and what a timeout does to the connection
(4.9.1). The reference is one program; the simulation compares its releases with their classes.
"""

TIMEOUT_MS = 300
"""For sends to a paused broker."""

NUMBERS = count(1)
MS = 1_000_000


@dataclass
class Stage:
    """A cluster and a ready subject."""

    cluster: Cluster
    subject: SubjectProcess
    topic: str
    start_ns: int = 0

    def go(self) -> None:
        self.start_ns = time.monotonic_ns() + 50 * MS
        self.subject.go(self.start_ns)

    def stored(self) -> Counter[int | None]:
        """Stored copies of each send, after late writes have drained."""
        await_drained(self.cluster, [self.topic])
        return Counter(row.send for row in read_stored(self.cluster, self.topic, {}))


@pytest.fixture
def stage(two_masters: Cluster, tmp_path: Path) -> Iterator["Staging"]:
    with ExitStack() as stack:
        yield Staging(two_masters, tmp_path, stack)


@dataclass
class Staging:
    """Makes a subject ready."""

    cluster: Cluster
    folder: Path
    stack: ExitStack

    def __call__(
        self, name: str, plan: Plan, *, timeout_ms: int = PLENTY_MS, poll_ms: int = 30_000, **deadlines: float
    ) -> Stage:
        topic = f"subjects-{next(NUMBERS)}"
        for each in (topic, f"{topic}-warm"):
            self.cluster.create_topic(each, 4)
        settings = ClientSettings(send_msg_timeout_ms=timeout_ms, poll_name_server_interval_ms=poll_ms)
        addresses = self.cluster.name_server_addresses
        setup = SubjectSetup(addresses, topic, f"{topic}-warm", f"{topic}-group", "run", settings)
        subject = start_ready(self.stack, name, self.folder / topic, plan, setup, require_record, **deadlines)
        return Stage(self.cluster, subject, topic)


def plan_of(sends: int, *kinds: SendKind, threads: int = 1, every_ms: int = 10) -> Plan:
    """Kinds and threads in turn; arguments and sizes depend on the send."""
    planned = (
        PlannedSend(send, send % threads, send * every_ms * MS, kinds[send // threads % len(kinds)], send, 40 * send)
        for send in range(sends)
    )
    return Plan(1, threads, tuple(planned))


def attempts_of(transcript: Transcript) -> dict[int, list[Attempt]]:
    attempts: dict[int, list[Attempt]] = {send.send: [] for send in transcript.sends}
    for attempt in transcript.attempts:
        attempts[attempt.send].append(attempt)
    return attempts


@pytest.mark.parametrize("name", SUBJECTS)
def test_attempts_at_a_paused_broker_time_out(name: str, stage: Staging) -> None:
    """
    Attempts at a paused broker time out and are reported; the send's result depends on the release.

    Repeated if a busy machine delayed other sends.
    """
    for number in range(1, TRIES + 1):
        set_up = paused_under(name, stage)
        transcript = set_up.subject.transcript
        attempts = attempts_of(transcript)
        hit = [send for send in transcript.sends if send.error or any(one.error for one in attempts[send.send])]
        timed_out = [send for send in hit if first_error(attempts[send.send]) == "RemotingTimeoutException"]
        held_up = [send.send for send in hit if was_held_up(attempts[send.send])]
        if (timed_out and not held_up) or number == TRIES:
            break
        set_up.subject.close()
        report_repeat(f"a paused broker: {len(timed_out)} sends met it, {len(held_up)} were held up elsewhere")

    assert [len(route.queues) for route in transcript.routes] == [8]
    assert timed_out
    for send in hit:
        first = attempts[send.send][0]
        assert first.broker == "broker-b"
        if send not in timed_out:
            # A heartbeat that closes the connection fails its waiting sends, mostly with time left for the other broker.
            assert first.error == "RemotingSendRequestException"
            assert send.status == "SEND_OK" or send.end_ns - send.start_ns >= (TIMEOUT_MS - 5) * MS
            continue
        assert first.end_ns - send.start_ns >= (TIMEOUT_MS - 5) * MS
        if name.endswith("4.0.0-incubating") or send.status == "SEND_OK":
            # From 4.3.0 on by an attempt without time, which was answered before the client looked.
            assert send.status == "SEND_OK"
            assert [attempt.status for attempt in attempts[send.send]] == [None, "SEND_OK"]
            assert attempts[send.send][1].start_ns - send.start_ns >= (TIMEOUT_MS - 5) * MS
        else:
            # A budget used up to the exact millisecond allows one more attempt without time.
            reported = (send.error, send.cause, send.code)
            assert reported in (
                ("RemotingTooMuchRequestException", None, None),
                ("MQClientException", "RemotingTimeoutException", 10002),
                ("MQClientException", "RemotingTooMuchRequestException", None),
            )
    fine = [send for send in transcript.sends if send not in hit]
    assert all(send.status == "SEND_OK" and len(attempts[send.send]) == 1 for send in fine)
    stored = set_up.stored()
    assert all(stored[send.send] == 1 for send in fine)
    assert None not in stored


def paused_under(name: str, stage: Staging) -> Stage:
    """A subject that has sent all messages, some during a broker's pause."""
    set_up = stage(name, plan_of(200, SendKind.PLAIN), timeout_ms=TIMEOUT_MS)
    through_a_pause(set_up.cluster, set_up.subject, has_met_it)
    return set_up


def has_met_it(so_far: Transcript) -> bool:
    return sum(one.error is not None and one.broker == "broker-b" for one in so_far.attempts) >= 2


def first_error(attempts: list[Attempt]) -> str | None:
    return attempts[0].error if attempts else None


def was_held_up(attempts: list[Attempt]) -> bool:
    """Whether a failed send met more than the pause: no time for an attempt, or a slow second broker."""
    if not attempts or attempts[0].broker != "broker-b":
        return True
    if attempts[0].error not in ("RemotingTimeoutException", "RemotingSendRequestException"):
        return True
    return any(one.error and one.end_ns - one.start_ns >= (TIMEOUT_MS - 5) * MS for one in attempts[1:])


@pytest.mark.parametrize("name", ["java:4.0.0-incubating", "java:5.5.0", "python:5.3.3"])
def test_every_kind_of_send_on_four_threads(name: str, stage: Staging) -> None:
    """Queues and selectors follow the argument; bodies of any size are stored whole."""
    kinds = [kind for kind in SendKind if kind is not SendKind.GROUP]  # for gRPC clients
    if name.endswith("4.0.0-incubating"):
        kinds.remove(SendKind.BATCH)  # not in that release, as its hello states
    plan = plan_of(128, *kinds, threads=4, every_ms=2)

    def sent(_: int) -> Stage:
        set_up = stage(name, plan)
        set_up.go()
        set_up.subject.await_done(PATIENCE_S)
        return set_up

    def left_open(done: Stage) -> str:
        is_crowded = any(send.code in CROWDED_CODES for send in done.subject.transcript.sends)
        return "a broker was busy" if is_crowded else ""

    set_up = repeated(sent, left_open)
    transcript = set_up.subject.transcript
    assert transcript.hello is not None and {kind.value for kind in kinds} <= set(transcript.hello.capabilities)
    order = sorted((broker, queue) for broker in ("broker-a", "broker-b") for queue in range(4))
    for send in transcript.sends:
        assert send.status == "SEND_OK"
        kind = kinds[send.send // 4 % len(kinds)]
        if kind in (SendKind.QUEUE, SendKind.SELECTOR):
            assert (send.broker, send.queue_id) == order[send.send % 8]
    assert set_up.stored() == Counter(range(128))
    rows = list(read_stored(stage.cluster, set_up.topic, plan.body_bytes))
    assert all(row.body_ok and row.identity == f"run/{set_up.topic}/{row.send}" for row in rows)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("java:4.9.8", SendMode.SYNC),
        ("java:5.3.3", SendMode.SYNC),
        ("java:5.3.3", SendMode.ASYNC),
        ("python:5.3.3", SendMode.ASYNC),
    ],
)
def test_a_refused_message_ends_its_send(name: str, mode: SendMode, stage: Staging) -> None:
    """A property that the release reserves (from 5.0.0) ends each call without an attempt; the next one is made."""
    plan = plan_of(4, SendKind.PLAIN)
    reserved = tuple(replace(send, mode=mode, properties=(("BORN_TIMESTAMP", "1"),)) for send in plan.sends)
    set_up = stage(name, replace(plan, sends=reserved))
    set_up.go()
    set_up.subject.await_done(PATIENCE_S)
    transcript = set_up.subject.transcript
    is_refused = name.endswith("5.3.3")
    assert [send.error for send in transcript.sends] == ["RuntimeException" if is_refused else None] * 4
    assert all("BORN_TIMESTAMP" in (send.message or "") for send in transcript.sends) == is_refused
    assert len(transcript.attempts) == (0 if is_refused else 4)


@pytest.mark.parametrize("name", ["java:4.7.1", "python:5.3.3"])
def test_a_changed_route_is_a_new_version(name: str, stage: Staging) -> None:
    """After the topic grows from 8 to 12 queues, sends report the new route version."""
    set_up = stage(name, plan_of(3_000, SendKind.PLAIN), poll_ms=100)
    set_up.go()
    transcript = set_up.subject.transcript

    def sizes() -> list[int]:
        return [len(route.queues) for route in transcript.routes]

    await_that(lambda: len(transcript.sends) >= 20)
    stage.cluster.create_topic(set_up.topic, 6)
    await_that(lambda: sizes()[-1] == 12 and transcript.sends[-1].route == len(sizes()), "a send by the new list")
    set_up.subject.close()
    assert set_up.subject.broken is None
    assert (sizes()[0], sizes()[-1]) == (8, 12)
    assert transcript.sends[0].route == 1
    assert transcript.sends[-1].route == len(sizes())
    versions = [version for send in transcript.sends for version in (send.route, send.route_after)]
    assert versions == sorted(versions)


def test_warm_and_measured_producer_share_their_connections(stage: Staging) -> None:
    """Warm-up and measured producer share one connection per server."""
    set_up = stage("java:5.3.3", plan_of(1, SendKind.PLAIN))
    hello = set_up.subject.transcript.hello
    assert hello is not None
    servers = {int(node.address.rpartition(":")[2]) for node in (*stage.cluster.brokers, *stage.cluster.name_servers)}
    connections = [each for each in psutil.Process(hello.pid).net_connections("tcp") if each.raddr]
    assert Counter(each.raddr.port for each in connections if each.status == "ESTABLISHED") == Counter(servers)


def test_stop_ends_a_java_client_whose_broker_is_paused(stage: Staging) -> None:
    """Stop ends a Java client although a paused broker does not answer."""
    set_up = stage("java:5.3.3", plan_of(1, SendKind.PLAIN), exit_s=PATIENCE_S)
    stage.cluster.pause("broker-a")
    set_up.subject.close()
    process = set_up.subject._process
    assert isinstance(process, Child)
    assert not process._is_killed
    assert set_up.subject.broken is None


def test_a_killed_broker_refuses_connections(stage: Staging) -> None:
    """Sends continue at another broker after a kill; attempts at the killed one are connection errors."""
    set_up = stage("java:5.3.3", plan_of(40, SendKind.PLAIN))
    stage.cluster.kill("broker-b")
    set_up.go()
    transcript = set_up.subject.await_done(PATIENCE_S)
    assert {send.status for send in transcript.sends} == {"SEND_OK"}
    errors = {attempt.error for attempt in transcript.attempts if attempt.broker == "broker-b"}
    assert errors
    assert errors <= {"RemotingConnectException", "RemotingSendRequestException"}
