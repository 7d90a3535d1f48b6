"""Attempts that outlast their timeout: excuses and divergences."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest

from rocketdiff.analysis.sending.steps.excuses import Excuses, HeldConnections, latest_timeout_ms
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.signatures import OUTLASTED_TIMEOUT
from rocketdiff.oracle.producer.durations import Outlasted
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import MS, ArmRecords, Brokers, Pause, Story, play
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]

S = 1_000 * MS
FOR_EVER_MS = 10_000_000
TIMED_OUT, REFUSED = "RemotingTimeoutException", "RemotingConnectException"


def attempts(*rows: tuple[str, int, int, str | None]) -> pa.Table:
    """Broker, start and end in ms, error."""
    broker, start_ms, end_ms, error = (list(column) for column in zip(*rows, strict=True))
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.table(
        {
            "broker": pa.array(broker).cast(word),
            "start_ns": pa.array([at * MS for at in start_ms], pa.int64()),
            "end_ns": pa.array([at * MS for at in end_ms], pa.int64()),
            "error": pa.array(error, pa.string()).cast(word),
        }
    )


ANSWERED = ("broker-b", 8_000, 8_001, None)


@pytest.mark.parametrize(
    ("rows", "held"),
    [
        ([ANSWERED], True),
        ([("broker-a", 8_000, 8_001, None)], False),
        ([("broker-b", 8_000, 8_001, TIMED_OUT)], False),
        ([ANSWERED, ("broker-b", 8_500, 9_000, TIMED_OUT)], False),
        ([ANSWERED, ("broker-b", 7_000, 7_500, TIMED_OUT)], False),
        ([ANSWERED, ("broker-b", 6_000, 6_500, TIMED_OUT)], True),
        ([("broker-b", 4_000, 4_001, None), ("broker-b", 5_000, 5_500, TIMED_OUT), ANSWERED], True),
        ([ANSWERED, ("broker-a", 8_500, 9_000, REFUSED)], True),
        ([ANSWERED, ("broker-b", 10_000, 12_000, TIMED_OUT)], True),
    ],
)
def test_a_connection_is_held_since_an_answer_that_nothing_cut(
    rows: list[tuple[str, int, int, str | None]], held: bool
) -> None:
    """A connection is held from an answer until something closes it before the attempt, on broker-b from 10 to 12 s."""
    assert HeldConnections(attempts(*rows), ()).is_held("broker-b", 10 * S, 12 * S) is held


@pytest.mark.parametrize(
    ("kind", "node", "from_s", "to_s", "held"),
    [
        (FaultKind.KILL, "broker-b", 9, 9.5, False),
        (FaultKind.KILL, "broker-b", 5, 6, True),
        (FaultKind.KILL, "broker-a", 9, 9.5, True),
        (FaultKind.PAUSE, "broker-b", 9, 9.5, True),
        (FaultKind.WIRE_RESET, "broker-b", 11, 13, False),
    ],
)
def test_only_faults_that_cut_a_broker_off_cost_its_connection(
    kind: FaultKind, node: str, from_s: float, to_s: float, held: bool
) -> None:
    """Only faults that cut a broker off close connections; a paused broker's kernel keeps them."""
    times = [round(at * S) for at in (from_s, from_s, from_s, to_s, to_s, to_s)]
    held_connections = HeldConnections(attempts(ANSWERED), [FaultRecord(1, kind, node, *times)])
    assert held_connections.is_held("broker-b", 10 * S, 12 * S) is held


def test_a_connection_that_was_idle_for_a_minute_may_be_gone() -> None:
    """A connection idle for more than a minute may be closed."""
    held = HeldConnections(attempts(ANSWERED), ())
    assert held.is_held("broker-b", 68 * S, 70 * S)
    assert not held.is_held("broker-b", 69 * S, 70 * S)


@pytest.mark.parametrize(
    ("took_ms", "other_late_ms", "may_connect", "excused"),
    [
        (4_000, 0, False, True),
        (4_001, 0, False, False),
        (5_100, 700, False, True),
        (5_101, 700, False, False),
        (6_001, 5_000, False, False),
        (10_000, 0, True, True),
        (10_001, 0, True, False),
    ],
)
def test_how_late_an_attempt_may_be(took_ms: int, other_late_ms: int, may_connect: bool, excused: bool) -> None:
    """An attempt of 3 s may be 1 s late, or 3 times as late as the other arm up to 3 s, plus 6 s to connect."""
    excuses = Excuses(HeldConnections(None, ()), other_late_ms)
    assert excuses.cover(Outlasted(took_ms, 3_000, may_connect), "broker-b", 0, took_ms * MS) is excused


def test_how_late_an_arm_noticed_its_timeouts() -> None:
    """An arm's lateness is that of its latest timeout."""
    table = attempts(("b", 0, 3_010, TIMED_OUT), ("b", 0, 3_200, TIMED_OUT), ("b", 0, 9_000, REFUSED), ANSWERED)
    assert latest_timeout_ms(table, 3_000) == 200
    assert latest_timeout_ms(attempts(ANSWERED), 3_000) == latest_timeout_ms(None, 3_000) == 0


class Patient(Brokers):
    """Brokers for a client that waits ``more_ms`` longer than its rules allow."""

    def __init__(self, story: Story, more_ms: int) -> None:
        super().__init__(story)
        self._more_ms = more_ms

    def ask(self, broker: str, queue_id: int, now_ns: int, timeout_ms: int, send: int) -> tuple[int, int | None]:
        return super().ask(broker, queue_id, now_ns, timeout_ms + self._more_ms, send)


@dataclass(frozen=True)
class Slow(Story):
    """Both clients are delayed by ``late_ms`` after a timeout."""

    late_ms: int = 0

    def play(self, release: str, seed: int) -> ArmRecords:
        return play(self, release, seed, Patient(self, self.late_ms))


def paused(timeout_ms: int, late_ms: int = 0) -> Slow:
    """broker-b is paused for ten seconds."""
    return Slow(
        settings=ClientSettings(send_msg_timeout_ms=timeout_ms),
        pauses=(Pause("broker-b", 1_000, 10_000),),
        sends=80,
        checks=("attempts", "error-kind", "queue-choice"),
        late_ms=late_ms,
    )


def waits(story: Story, release: str, more_ms: int) -> Callable[[ArmRecords], None]:
    """A client that waits ``more_ms`` longer and otherwise follows the rules."""

    def change(reported: ArmRecords) -> None:
        other = play(story, release, 7, Patient(story, more_ms))
        reported.attempts, reported.sends, reported.stored = other.attempts, other.sends, other.stored

    return change


@pytest.mark.parametrize(
    ("release", "timeout_ms", "more_ms"), [("5.3.3", 300, 7_000), ("5.3.3", 3_000, 3_000), ("4.2.0", 3_000, 1_500)]
)
def test_a_client_that_waits_longer_than_its_timeout_diverges(
    release: str, timeout_ms: int, more_ms: int, new_run: NewRun
) -> None:
    """
    A client with an open connection diverges if it waits 7.3 s instead of 0.3 s, twice the default, or half as long again.
    """
    story = paused(timeout_ms)
    change = waits(story, release, more_ms)
    judgement = judged(new_run([story], baseline=f"java:{release}", candidate=f"python:{release}", change=change))
    found = {
        (divergence.signature, divergence.subject) for result in judgement.results for divergence in result.divergences
    }
    assert judgement.exit_code is ExitCode.DIVERGES
    assert found == {(OUTLASTED_TIMEOUT.name, f"python:{release}")}


@pytest.mark.parametrize("late_ms", [0, 900, 1_200, 2_900])
def test_a_machine_that_makes_both_clients_late_is_no_difference(late_ms: int, new_run: NewRun) -> None:
    """If the machine delays both clients, each arm's lateness excuses the other's."""
    assert judged(new_run([paused(3_000, late_ms=late_ms)])).exit_code is ExitCode.CONFORMS


def test_who_must_connect_may_take_the_time_for_it(new_run: NewRun) -> None:
    """A client never connected to the paused broker may take 5.3 s instead of 0.3 s."""
    story = replace(paused(300), pauses=(Pause("broker-b", 0, FOR_EVER_MS),))
    judgement = judged(new_run([story], change=waits(story, "5.3.3", 5_000)))
    assert not [divergence for result in judgement.results for divergence in result.divergences]


def test_the_connection_is_gone_with_the_timeout_that_closed_it(new_run: NewRun) -> None:
    """From 4.9.1 on a timeout closes the connection, so only the first late one diverges."""
    story = replace(paused(300), pauses=(Pause("broker-b", 1_000, FOR_EVER_MS),))
    judgement = judged(new_run([story], change=waits(story, "5.3.3", 5_000)))
    (divergence,) = (divergence for result in judgement.results for divergence in result.divergences)
    assert (divergence.signature, divergence.count) == (OUTLASTED_TIMEOUT.name, 1)
