"""The synchronous send loop: retries, budget, results and exceptions."""

import pytest

from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Try
from tests.reference_impl.rules.toys import OK, REFUSED, TIMEOUT, Toy

BUSY = AttemptResult.failed("MQBrokerException", 2)
SYSTEM_ERROR = AttemptResult.failed("MQBrokerException", 1)
GONE = AttemptResult.failed("MQClientException")
NO_SLAVE = AttemptResult.ok("SLAVE_NOT_AVAILABLE")
RESULT_0 = Finish(Ending.RESULT, 0, "SEND_OK")
CALL_TIMEOUT = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def gave_up(attempt: int, cause: str, code: int | None) -> Finish:
    return Finish(Ending.GAVE_UP, attempt, error="MQClientException", code=code, cause=cause)


def test_a_success_ends_the_call() -> None:
    """A successful attempt ends the call."""
    assert Toy("5.3.3").send((5, OK)) == ["a0", RESULT_0]


def test_a_refused_attempt_is_retried_elsewhere() -> None:
    """C3: every release retries a refused attempt elsewhere, because 1 ms leaves time."""
    for release in ("4.0.0-incubating", "4.7.1", "5.3.3"):
        assert Toy(release).send((1, REFUSED), (3, OK)) == ["a0", "b0", Finish(Ending.RESULT, 1, "SEND_OK")]


def test_three_attempts_by_default() -> None:
    """C2: a call makes three attempts by default; the last cause gives the code."""
    told = Toy("5.3.3").send((1, REFUSED), (2, REFUSED), (3, REFUSED))
    assert told == ["a0", "b0", "a0", gave_up(2, "RemotingConnectException", 10001)]


def test_as_many_retries_as_are_set() -> None:
    """C2: ten retries mean eleven attempts, and zero retries one."""
    assert len(Toy("5.3.3", retry_times_when_send_failed=10).send(*[(1, REFUSED)] * 11)) == 12
    assert Toy("5.3.3", retry_times_when_send_failed=0).send((1, GONE)) == [
        "a0",
        gave_up(0, "MQClientException", 10003),
    ]


def test_to_4_2_0_every_attempt_has_the_whole_timeout() -> None:
    """To 4.2.0 the attempt after a timeout of 3 s has 3 s again."""
    toy = Toy("4.2.0")
    loop = toy.loop()
    loop.begin(0, 0)
    step = loop.attempt_ended(3_000, TIMEOUT)
    assert isinstance(step, Try) and step.timeout_ms == 3_000


def test_from_4_3_0_a_timeout_uses_up_the_budget() -> None:
    """Section 8: from 4.3.0 a paused broker is not retried, and the call throws RemotingTooMuchRequestException."""
    toy = Toy("4.3.0")
    assert toy.send((3_001, TIMEOUT)) == ["a0", CALL_TIMEOUT]


def test_a_call_that_times_out_has_moved_the_index() -> None:
    """The queue is selected before the budget is checked, so a call timeout still moves the counter, here by four ticks to b0."""
    toy = Toy("5.3.3")
    toy.send((3_001, TIMEOUT))
    assert toy.plain() == "b1"


def test_spending_exactly_the_budget_leaves_an_attempt_with_no_time() -> None:
    """Spending exactly the budget leaves an attempt with 0 ms, because all comparisons are strict; its timeout is the cause."""
    toy = Toy("5.3.3", retry_times_when_send_failed=1)
    assert toy.send((3_000, TIMEOUT), (3_000, TIMEOUT)) == ["a0", "b0", gave_up(1, "RemotingTimeoutException", 10002)]


def test_the_budget_counts_from_the_call() -> None:
    """The budget counts from the call: a route lookup of 2 s leaves 1 s."""
    toy = Toy("5.3.3")
    step = toy.loop().begin(0, 2_000)
    assert isinstance(step, Try) and step.timeout_ms == 1_000


def test_a_route_lookup_can_use_up_the_budget() -> None:
    """A route lookup longer than the budget ends the call without an attempt."""
    toy = Toy("5.3.3")
    assert toy.loop().begin(0, 3_001) == CALL_TIMEOUT


@pytest.mark.parametrize(("release", "timeouts"), [("5.3.2", [3_000, 2_000, 1_000]), ("5.3.3", [800, 800, 1_000])])
def test_a_cap_for_each_attempt_but_the_last(release: str, timeouts: list[int]) -> None:
    """From 5.3.3 a setting limits each attempt but the last."""
    toy = Toy(release, send_msg_max_timeout_per_request_ms=800)
    loop = toy.loop()
    steps = [loop.begin(0, 0), loop.attempt_ended(1_000, TIMEOUT), loop.attempt_ended(2_000, TIMEOUT)]
    assert [step.timeout_ms for step in steps if isinstance(step, Try)] == timeouts


def test_a_busy_broker_is_retried_from_5_3_0() -> None:
    """Code 2 is retried from 5.3.0 on."""
    thrown = Finish(Ending.RETHROWN, 0, error="MQBrokerException", code=2)
    assert Toy("5.2.0").send((1, BUSY)) == ["a0", thrown]
    assert Toy("5.3.0").send((1, BUSY), (2, OK)) == ["a0", "b0", Finish(Ending.RESULT, 1, "SEND_OK")]


def test_going_away_is_retried_from_5_3_1() -> None:
    """Code 1500 is retried from 5.3.1 on."""
    away = AttemptResult.failed("MQBrokerException", 1500)
    assert Toy("5.3.0").send((1, away))[1] == Finish(Ending.RETHROWN, 0, error="MQBrokerException", code=1500)
    assert Toy("5.3.1").send((1, away))[1] == "b0"


def test_a_retried_code_ends_in_a_client_exception_with_that_code() -> None:
    """A system error of every broker ends in MQClientException with its code."""
    told = Toy("5.3.3").send(*[(1, SYSTEM_ERROR)] * 3)
    assert told[-1] == gave_up(2, "MQBrokerException", 1)


def test_codes_can_be_added_from_4_9_2() -> None:
    """Codes of addRetryResponseCode are retried from 4.9.2 on."""
    for release, retried in (("4.9.1", False), ("4.9.2", True)):
        toy = Toy(release, added_retry_response_codes=frozenset({2}))
        assert (toy.send((1, BUSY))[1] == "b0") is retried


def test_a_status_other_than_ok_is_returned() -> None:
    """By default a status other than SEND_OK is the result."""
    assert Toy("5.3.3").send((1, NO_SLAVE)) == ["a0", Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")]


def test_a_status_other_than_ok_can_be_retried_and_wins_over_later_errors() -> None:
    """If another broker is tried after a status other than SEND_OK, this result wins over a later exception."""
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    told = toy.send((1, NO_SLAVE), (2, REFUSED), (3, REFUSED))
    assert told == ["a0", "b0", "a0", Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")]


def test_a_kept_status_wins_over_a_call_timeout_and_over_a_final_broker_error() -> None:
    """A kept result wins over a call timeout and a broker's error (sendDefaultImpl)."""
    kept = Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((3_001, NO_SLAVE)) == ["a0", kept]
    forbidden = AttemptResult.failed("MQBrokerException", 13)
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((1, NO_SLAVE), (2, forbidden)) == ["a0", "b0", kept]


def test_an_error_of_no_known_family_passes_through() -> None:
    """An unknown exception is thrown unchanged, without a charge."""
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    told = toy.send((1, AttemptResult.failed("IllegalStateException")))
    assert told[-1] == Finish(Ending.RETHROWN, 0, error="IllegalStateException")
    assert not toy.faults.items


def test_an_interruption_passes_through_and_counts_by_its_latency() -> None:
    """An interruption is thrown unchanged and charged by latency, not as a failure."""
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    told = toy.send((700, AttemptResult.failed("InterruptedException")))
    assert told[-1] == Finish(Ending.RETHROWN, 0, error="InterruptedException")
    assert toy.faults.items["a"].start_ms == 700 + 2_000


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        ("RemotingConnectException", 10001),
        ("RemotingTimeoutException", 10002),
        ("MQClientException", 10003),
        ("RemotingSendRequestException", None),
        ("RemotingTooMuchRequestException", None),
    ],
)
def test_the_code_tells_the_last_exception(error: str, codes: int | None) -> None:
    """The code of MQClientException is ClientErrorCode's for the last cause."""
    toy = Toy("4.2.0", retry_times_when_send_failed=0)
    assert toy.send((1, AttemptResult.failed(error)))[-1] == gave_up(0, error, codes)


@pytest.mark.parametrize(
    ("release", "result", "avoided", "reachable"),
    [
        ("5.1.3", REFUSED, 600_000, True),
        ("5.1.3", GONE, 600_000, True),
        ("5.1.3", BUSY, 600_000, True),
        ("5.1.4", REFUSED, 10_000, True),
        ("5.1.4", GONE, 0, True),
        ("5.1.4", BUSY, 10_000, False),
        ("5.3.3", BUSY, 10_000, False),
    ],
)
def test_what_a_failure_costs(release: str, result: AttemptResult, avoided: int, reachable: bool) -> None:
    """B2: any failure costs ten minutes to 5.1.3; from 5.1.4 ten seconds, a client error nothing."""
    toy = Toy(release, send_latency_fault_enable=True, retry_times_when_send_failed=0)
    toy.send((7, result))
    item = toy.faults.items["a"]
    assert (item.start_ms, item.reachable) == (7 + avoided if avoided or release == "5.1.3" else 0, reachable)


def test_with_the_detector_a_remoting_error_makes_a_broker_unreachable() -> None:
    """From 5.2.0 with the detector a remoting error makes the broker unreachable; in 5.1.4 no setter reaches the detector."""
    for release, reachable in (("5.1.4", True), ("5.2.0", False)):
        toy = Toy(release, send_latency_fault_enable=True, start_detector_enable=True, retry_times_when_send_failed=0)
        toy.send((1, REFUSED))
        assert toy.faults.items["a"].reachable is reachable


def test_without_fault_latency_nothing_is_noted() -> None:
    """With fault latency off the fault table stays empty."""
    toy = Toy("5.3.3")
    toy.send((700, REFUSED), (701, OK))
    assert not toy.faults.items


def test_the_latency_of_an_attempt_begins_when_it_was_chosen() -> None:
    """Latency begins at the selection: an attempt from 600 to 1 250 ms took 650 ms, and costs 2 s from its end."""
    toy = Toy("5.3.3", draws=[-1 % 8], send_latency_fault_enable=True)
    toy.send((600, REFUSED), (1_250, OK))
    assert (toy.faults.items["b"].latency_ms, toy.faults.items["b"].start_ms) == (650, 3_250)


def test_the_broker_charged_is_the_one_the_list_names_now() -> None:
    """To 5.1.3 another thread may rewrite the picked element; the broker it names at the attempt's end is charged."""
    toy = Toy("4.9.7", send_latency_fault_enable=True)
    loop = toy.loop()
    loop.begin(0, 0)
    toy.info.queues[0] = toy.info.queues[5]
    loop.attempt_ended(1, OK)
    assert list(toy.faults.items) == ["b"]


def test_a_copy_goes_its_own_way() -> None:
    """A copied loop does not change the original."""
    toy, other = Toy("5.3.3"), Toy("5.3.3", index=3)
    loop = toy.loop()
    loop.begin(0, 0)
    clone = loop.copy(other.selector)
    assert isinstance(clone.attempt_ended(1, REFUSED), Try)
    assert loop.attempts == 0
