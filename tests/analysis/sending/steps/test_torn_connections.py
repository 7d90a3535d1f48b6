"""A request may end early because another one closed its connection, not by giving up."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from rocketdiff.analysis.sending.send_view import FaultContext, Phase, SendView
from rocketdiff.analysis.sending.steps.excuses import Excuses, HeldConnections
from rocketdiff.analysis.sending.steps.replayed import forgiven
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import GAVE_UP_BEFORE_TIMEOUT, WAITED_FOR_AN_ANSWER
from rocketdiff.oracle.producer.durations import Tearing
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference, SendJudgement
from rocketdiff.traces.run_directory import RunDirectory
from rocketmq_reference.dialects import dialect_of
from tests.analysis.synthetic import MS, ArmRecords, Pause, Story

NewRun = Callable[..., RunDirectory]
EvidenceOf = Callable[[RunDirectory], dict[tuple[str, str], Evidence]]

S = 1_000_000_000
TEARS = (FaultKind.KILL, FaultKind.WIRE_RESET, FaultKind.KILL_PROXY)
NONE = Excuses(HeldConnections(None, ()))
TIMED_OUT = "RemotingTimeoutException"
ROTATION = Story(
    name="two-threads",
    settings=ClientSettings(send_msg_timeout_ms=500),
    pauses=(Pause("broker-b", 1_000, 2_000),),
    threads=2,
)


def attempts(*rows: tuple[str, int, str | None], threads: int = 2) -> pa.Table:
    """Broker, end in ns, error; the threads take turns."""
    broker, end_ns, error = (list(column) for column in zip(*rows, strict=True))
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.table(
        {
            "broker": pa.array(broker).cast(word),
            "end_ns": pa.array(end_ns, pa.int64()),
            "thread": pa.array([number % threads for number in range(len(rows))], pa.int32()),
            "error": pa.array(error, pa.string()).cast(word),
        }
    )


def fault(kind: FaultKind) -> FaultRecord:
    return FaultRecord(1, kind, "broker-b", 10 * S, 10 * S, 10 * S, 12 * S, 12 * S, 12 * S)


@pytest.mark.parametrize(
    ("other", "torn"),
    [
        (("broker-b", 10 * S + 20 * MS, TIMED_OUT), True),
        (("broker-b", 10 * S - 500 * MS, "RemotingSendRequestException"), True),
        (("broker-b", 8 * S, TIMED_OUT), False),
        (("broker-b", 11 * S, TIMED_OUT), False),
        (("broker-a", 10 * S + 20 * MS, TIMED_OUT), False),
        (("broker-b", 10 * S + 20 * MS, None), False),
        (("broker-b", 10 * S + 20 * MS, "MQBrokerException"), False),
    ],
)
def test_only_a_closing_end_on_the_same_broker_shortly_before_or_during_counts(
    other: tuple[str, int, str | None], torn: bool
) -> None:
    """Only a closing end on the same broker within a second before the request's end (10.05 s) tears it."""
    own = ("broker-b", 10 * S + 50 * MS, TIMED_OUT)
    assert is_torn(attempts(own, other)) is torn
    assert not is_torn(attempts(own, other, threads=1)), "an end of the thread itself tears only what ends at once"
    at_once = ("broker-b", 10 * S + 40 * MS, TIMED_OUT)
    assert is_torn(attempts(own, at_once, threads=1))


@pytest.mark.parametrize(
    ("release", "error", "torn"),
    [
        ("4.2.0", TIMED_OUT, False),
        ("4.2.0", "RemotingSendRequestException", False),
        ("4.9.0", TIMED_OUT, False),
        ("4.9.0", "RemotingSendRequestException", True),
        ("4.9.1", TIMED_OUT, True),
    ],
)
def test_a_release_closes_connections_by_its_rules(release: str, error: str, torn: bool) -> None:
    """Timeouts close a connection from 4.9.1 on; before 4.3.0 a request outlives its connection."""
    rows = attempts(("broker-b", 10 * S + 50 * MS, TIMED_OUT), ("broker-b", 10 * S + 20 * MS, error))
    assert is_torn(rows, release=release) is torn


@pytest.mark.parametrize("kind", FaultKind)
def test_a_dead_broker_tears_its_connections_and_a_paused_one_keeps_them(kind: FaultKind) -> None:
    """A kill or reset tears connections; a paused broker's kernel keeps them."""
    assert is_torn(None, fault(kind), since_ns=10 * S + MS) is (kind in TEARS)


def is_torn(
    rows: pa.Table | None, *faults: FaultRecord, release: str = "5.3.3", since_ns: int = 10 * S, thread: int = 0
) -> bool:
    """True if a request to broker-b that ends 50 ms after 10 s may have been torn."""
    torn = TornConnections(rows, faults, Tearing.of(dialect_of(release).client.remoting))
    return torn.may_have_torn(thread, "broker-b", since_ns, 10 * S + 50 * MS)


def hurry(reported: ArmRecords, numbers: slice) -> None:
    """Let some sends that timed out end after 60 of 500 ms."""
    late = [place for place, one in enumerate(reported.attempts) if one.error == TIMED_OUT][numbers]
    for place in late:
        attempt = reported.attempts[place]
        reported.attempts[place] = replace(attempt, end_ns=attempt.start_ns + 60 * MS)


def test_the_first_request_that_gives_up_early_is_a_difference(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """The first early end on a broker is a difference: nothing can have closed its connection."""
    evidence = evidence_of(new_run([ROTATION], change=lambda reported: hurry(reported, slice(0, 1))))
    assert GAVE_UP_BEFORE_TIMEOUT.name in {
        divergence.signature for divergence in evidence["two-threads", "attempts"].divergences
    }


def test_one_that_ends_early_after_another_timed_out_is_none(new_run: NewRun, evidence_of: EvidenceOf) -> None:
    """An early end half a second after the other thread's timeout is none."""
    evidence = evidence_of(new_run([ROTATION], change=lambda reported: hurry(reported, slice(2, 3))))
    assert GAVE_UP_BEFORE_TIMEOUT.name not in {
        divergence.signature for divergence in evidence["two-threads", "attempts"].divergences
    }


EARLY = RuleDifference(DifferenceKind.ATTEMPTS, GAVE_UP_BEFORE_TIMEOUT.name, 0, "500 ms", "60 ms")
OTHER = RuleDifference(DifferenceKind.QUEUE, "queue.result-names-other-queue/first", 0, "queue 1", "queue 2")


@pytest.mark.parametrize(
    ("thread", "further", "left"), [(0, (), None), (0, (OTHER,), OTHER), (0, (EARLY,), None), (1, (OTHER,), EARLY)]
)
def test_a_send_whose_early_end_is_forgiven_still_answers_for_the_rest(
    thread: int, further: tuple[RuleDifference, ...], left: RuleDifference | None
) -> None:
    """An excused early end leaves the other differences of the send."""
    attempt = Attempt(0, thread, 0, "broker-b", 0, 10 * S, 10 * S + 50 * MS)
    judgement = SendJudgement(0, thread, (), EARLY, 1, further=further)
    sends = [SendView(Arm.CANDIDATE, thread, 0, None, (attempt,), judgement=judgement)]
    rows = attempts(("broker-b", 9 * S, None), ("broker-b", 10 * S + 20 * MS, TIMED_OUT))
    (one,) = forgiven(sends, TornConnections(rows, (), Tearing.of(dialect_of("5.3.3").client.remoting)), NONE)
    assert one.judgement is not None
    assert one.judgement.difference == left


@pytest.mark.parametrize("release", ["4.2.0", "5.3.3"])
@pytest.mark.parametrize(
    ("kinds", "is_hit", "is_found"),
    [
        ((FaultKind.PAUSE,), True, True),
        ((FaultKind.PAUSE,), False, False),
        ((FaultKind.KILL,), True, False),
        ((FaultKind.WIRE_RESET, FaultKind.PAUSE), True, False),
        ((FaultKind.WIRE_SWALLOW,), True, True),
    ],
)
def test_a_one_way_call_may_wait_for_a_connection(
    kinds: tuple[FaultKind, ...], is_hit: bool, is_found: bool, release: str
) -> None:
    """A one-way call may wait to reconnect to a killed broker, but a paused one keeps its connection."""
    faults = [fault(kind) for kind in kinds]
    attempt = Attempt(0, 0, 0, "broker-b", 0, 10 * S, 10 * S)
    context = FaultContext(Phase.PAUSED, faults[-1] if is_hit else None)
    judgement = SendJudgement(0, 0, (), replace(EARLY, signature=WAITED_FOR_AN_ANSWER.name), 1)
    judged = SendView(Arm.CANDIDATE, 0, 0, None, (attempt,), Phase.PAUSED, contexts=(context,), judgement=judgement)
    (one,) = forgiven([judged], TornConnections(None, faults, Tearing.of(dialect_of(release).client.remoting)), NONE)
    assert one.judgement is not None
    assert (one.judgement.difference is not None) is is_found
