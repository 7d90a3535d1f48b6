"""
Answers that cross with a client that gives up: generated traces, written to the wire, read back and judged.

Such an attempt must fit a client without the answer, and must not excuse one that continues after it.
"""

import random
from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.relay.remoting.attempts import attempts_of
from rocketdiff.relay.remoting.exchanges import Exchange
from rocketdiff.relay.remoting.record import Passed
from tests.oracle.generated import MS, Trouble, World, changed, generated
from tests.oracle.histories import attempt_of

TIMEOUT_MS = 500
QUEUES = tuple((broker, number) for broker in ("broker-a", "broker-b") for number in range(4))
PAUSES = tuple(Trouble(f"broker-{'ab'[n % 2]}", 0.5 + n, 0.8 + n, "paused") for n in range(6))
TO_THE_RELAY_NS = 4 * MS
ON_ITS_LAST_WAY_NS = 18 * MS

REQUEST = Passed(1, "broker-a", "server", 1, 310, 99, 0, queue_id=0, identity="r/T/0")
WENT_ON = "attempts.went-on/retry"


def patient(seed: int, late_ms: int = 0) -> list[Send]:
    """Every attempt has the whole timeout, as in Java up to 4.2.0, through six pauses; the client may notice late."""
    settings = ClientSettings(send_msg_timeout_ms=TIMEOUT_MS + late_ms)
    return generated(World("4.2.0", QUEUES, settings, PAUSES, 300, 1, 15, seed))


def on_the_wire(trace: list[Send], seed: int) -> list[Exchange]:
    """
    Return requests, seen a little late, and answers, seen a little early.

    The answer of a timed out request is at the relay shortly before its client gives up, or long after.
    """
    draw = random.Random(seed)
    exchanges: list[Exchange] = []
    for send in trace:
        for one in send.attempts:
            late_ns = draw.randrange(min(TO_THE_RELAY_NS, (one.end_ns - one.start_ns) // 2))
            here_ns = one.start_ns + late_ns
            before_ns = draw.randrange(1, min(ON_ITS_LAST_WAY_NS, one.end_ns - here_ns))
            answered_ns = one.end_ns - before_ns
            if one.error is not None and draw.random() < 0.3:
                answered_ns = one.end_ns + 300 * MS
            request = replace(REQUEST, node=one.broker, opaque=len(exchanges), in_ns=here_ns)
            request = replace(request, queue_id=one.queue_id, identity=f"r/T/{send.send}")
            exchanges.append(Exchange(request, replace(request, to="client", code=0, in_ns=answered_ns, response=True)))
    return exchanges


def read_off(trace: list[Send], exchanges: list[Exchange]) -> list[Send]:
    """Return the client's calls with the relay's attempts."""
    sends = {one.send: Send(one.send, 0, one.start_ns, one.end_ns, one.error) for one in trace}
    reported = attempts_of(exchanges, "T", sends, dict.fromkeys(sends, 0), TIMEOUT_MS)
    return [replace(send, attempts=tuple(_trace(one) for one in reported if one.send == send.send)) for send in trace]


def _trace(one: Attempt) -> Attempt:
    return attempt_of(one.attempt, one.broker, one.queue_id, one.start_ns, one.end_ns, one.error, one.code, one.status)


def differences(trace: list[Send], release: str) -> list[tuple[int, str]]:
    replay = replay_for(release, ClientSettings(send_msg_timeout_ms=TIMEOUT_MS), {1: QUEUES})
    judgements = list(replay.judge_all(trace))
    assert all(one.undecided is None for one in judgements)
    return [(one.send, one.difference.signature) for one in judgements if one.difference is not None]


@pytest.mark.parametrize("seed", range(12))
def test_a_client_that_had_not_heard_of_the_answer_is_believed(seed: int) -> None:
    """A client that gave up is legal, though some answers were at the relay up to 18 ms before."""
    trace = patient(seed)
    reported = read_off(trace, on_the_wire(trace, seed))
    given_up = [one for send in reported for one in send.attempts if one.error is not None]
    assert len(given_up) > 5
    assert differences(reported, "4.2.0") == []


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_of_the_clients_stays_one(seed: int) -> None:
    """A second attempt exceeds the one budget for all attempts (from 4.3.0 on), except at its very edge."""
    trace = patient(seed, late_ms=12)
    reported = read_off(trace, on_the_wire(trace, seed))
    first = next(send.send for send in reported if len(send.attempts) > 1)
    assert differences(reported, "5.3.3")[0] == (first, WENT_ON)


@pytest.mark.parametrize("took_ms", [1, 30, 250, 470, 478, 485, 492])
@pytest.mark.parametrize("pause_ms", [0.1, 0.3])
def test_a_client_that_goes_on_after_an_answer_is_found(took_ms: int, pause_ms: float) -> None:
    """A client that continues right after an answer is found, however late the answer was."""
    trace = patient(0)
    place = 9

    def insists(send: Send) -> Send:
        (first,) = send.attempts
        ended_ns = first.start_ns + took_ms * MS
        again_ns = ended_ns + round(pause_ms * MS)
        again = replace(first, attempt=1, broker="broker-b", queue_id=0, start_ns=again_ns, end_ns=again_ns + MS)
        return replace(send, attempts=(replace(first, end_ns=ended_ns), again), end_ns=again.end_ns + MS)

    spoilt = changed(trace, place, insists)[: place + 1]
    exchanges = [
        Exchange(replace(one.request, in_ns=attempt.start_ns), replace(answer, in_ns=attempt.end_ns))
        for one, attempt in zip(on_the_wire(spoilt, 0), (one for send in spoilt for one in send.attempts), strict=True)
        if (answer := one.answer) is not None
    ]
    assert differences(read_off(spoilt, exchanges), "4.2.0") == [(trace[place].send, WENT_ON)]


def test_one_that_waits_on_and_forgets_an_answer_is_found() -> None:
    """A client that continues at its timeout is found if the answer had arrived 60 ms before."""
    trace = patient(0)
    place = next(number for number, send in enumerate(trace) if len(send.attempts) > 1)
    exchanges = on_the_wire(trace, 0)
    first = trace[place].attempts[0]
    spoilt = [
        replace(one, answer=replace(one.answer, in_ns=first.end_ns - 60 * MS))
        if one.answer is not None and one.request.identity == f"r/T/{trace[place].send}" and one.node == first.broker
        else one
        for one in exchanges
    ]
    found = differences(read_off(trace, spoilt), "4.2.0")
    assert found[0] == (trace[place].send, WENT_ON)


def test_a_call_that_failed_had_not_heard_of_its_last_answer() -> None:
    """If a call fails 10 ms after its answer reached the relay, the client did not get it; an earlier one it got."""
    request = replace(REQUEST, in_ns=MS)
    answer = replace(request, to="client", code=0, in_ns=491 * MS, response=True)
    call = {0: Send(0, 0, 0, 501 * MS, "ProducerSendSyncFailed")}
    for answered_ms, error in ((491, "RemotingTimeoutException"), (300, None)):
        exchange = Exchange(request, replace(answer, in_ns=answered_ms * MS))
        (attempt,) = attempts_of([exchange], "T", call, {0: 0}, TIMEOUT_MS)
        assert attempt.error == error
    stored = {0: replace(call[0], error=None, status="SEND_OK")}
    (attempt,) = attempts_of([Exchange(request, answer)], "T", stored, {0: 0}, TIMEOUT_MS)
    assert (attempt.error, attempt.status) == (None, "SEND_OK")


def first_of_two(late_ms: int, code: int, took_ms: int, went_on_ms: float) -> Attempt:
    """Return the first of two attempts; answer and next attempt in ms after its late request."""
    begin_ns = late_ms * MS
    request = replace(REQUEST, in_ns=begin_ns)
    answer = replace(request, to="client", code=code, in_ns=begin_ns + took_ms * MS, response=True)
    again = replace(request, opaque=2, node="broker-b", in_ns=begin_ns + round(went_on_ms * MS))
    stored = replace(again, to="client", code=0, in_ns=again.in_ns + MS, response=True)
    call = {0: Send(0, 0, 0, stored.in_ns + MS, status="SEND_OK")}
    return attempts_of([Exchange(request, answer), Exchange(again, stored)], "T", call, {0: 0}, TIMEOUT_MS)[0]


@pytest.mark.parametrize("late_ms", [0, 15, 30, 400, 470, 490, 600, 3_000])
@pytest.mark.parametrize(("took_ms", "went_on_ms"), [(2, 2.3), (30, 31), (250, 251)])
def test_a_late_request_does_not_make_a_quick_refusal_a_timeout(late_ms: int, took_ms: int, went_on_ms: float) -> None:
    """A late request, after a slow route or connection, does not make a quick answer a timeout."""
    refused = first_of_two(late_ms, 2, took_ms, went_on_ms)
    assert (refused.error, refused.code) == ("MQBrokerException", 2)
    assert refused.end_ns == (late_ms + took_ms) * MS
    degraded = first_of_two(late_ms, 10, took_ms, went_on_ms)
    assert (degraded.error, degraded.status) == (None, "FLUSH_DISK_TIMEOUT")


@pytest.mark.parametrize("late_ms", [500, 600, 3_000])
def test_who_goes_on_after_a_success_is_found_though_its_request_was_late(late_ms: int) -> None:
    """A client that continues after a success is found although its request was late: no budget lasts so long."""
    stored = first_of_two(late_ms, 0, 2, 2.3)
    assert (stored.error, stored.status) == (None, "SEND_OK")


@pytest.mark.parametrize(
    ("late_ms", "took_ms", "went_on_ms"),
    [
        *((late_ms, 482, 500.2) for late_ms in (0, 15, 30, 400, 600)),
        pytest.param(18, 473, 483, id="a request 18 ms under way"),
    ],
)
@pytest.mark.parametrize("code", [0, 2, 10])
def test_answers_cross_with_a_client_that_gives_up(late_ms: int, code: int, took_ms: int, went_on_ms: float) -> None:
    """Any answer up to 18 ms before a timeout is too late, also one that counts from a late request."""
    assert first_of_two(late_ms, code, took_ms, went_on_ms).error == "RemotingTimeoutException"


@pytest.mark.parametrize("code", [0, 10])
def test_an_answer_crosses_with_a_budget_that_ends_soon_after_a_late_request(code: int) -> None:
    """An answer is too late if 100 ms were left at the request and the call then failed."""
    request = replace(REQUEST, in_ns=400 * MS)
    answer = replace(request, to="client", code=code, in_ns=490 * MS, response=True)
    call = {0: Send(0, 0, 0, 501 * MS, "RemotingTooMuchRequestException")}
    (attempt,) = attempts_of([Exchange(request, answer)], "T", call, {0: 0}, TIMEOUT_MS)
    assert attempt.error == "RemotingTimeoutException"


def test_an_answer_crosses_with_a_budget_at_its_very_edge() -> None:
    """An answer is too late if the client continued at the exact end of its budget, as Java does from 4.3.0 on."""
    assert first_of_two(400, 0, 95, 100.2).error == "RemotingTimeoutException"
