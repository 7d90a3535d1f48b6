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


def test_three_attempts_by_default() -> None:
    """C2: a call makes three attempts by default; the last cause gives the code."""
    seen = Toy("5.3.3").send((1, REFUSED), (2, REFUSED), (3, REFUSED))
    assert seen == ["a0", "b0", "a0", gave_up(2, "RemotingConnectException", 10001)]


def test_as_many_retries_as_are_set() -> None:
    """C2: ten retries mean eleven attempts, and zero retries one."""
    assert len(Toy("5.3.3", retry_times_when_send_failed=10).send(*[(1, REFUSED)] * 11)) == 12
    assert Toy("5.3.3", retry_times_when_send_failed=0).send((1, GONE)) == [
        "a0",
        gave_up(0, "MQClientException", 10003),
    ]


def test_spending_exactly_the_budget_leaves_an_attempt_with_no_time() -> None:
    """Spending exactly the budget leaves an attempt with 0 ms, because all comparisons are strict; its timeout is the cause."""
    toy = Toy("5.3.3", retry_times_when_send_failed=1)
    assert toy.send((3_000, TIMEOUT), (3_000, TIMEOUT)) == ["a0", "b0", gave_up(1, "RemotingTimeoutException", 10002)]


@pytest.mark.parametrize(("release", "timeouts"), [("5.3.2", [3_000, 2_000, 1_000]), ("5.3.3", [800, 800, 1_000])])
def test_each_attempt_but_the_last_is_capped(release: str, timeouts: list[int]) -> None:
    """From 5.3.3 a setting limits each attempt but the last."""
    toy = Toy(release, send_msg_max_timeout_per_request_ms=800)
    loop = toy.loop()
    steps = [loop.begin(0, 0), loop.attempt_ended(1_000, TIMEOUT), loop.attempt_ended(2_000, TIMEOUT)]
    assert [step.timeout_ms for step in steps if isinstance(step, Try)] == timeouts


def test_codes_can_be_added_from_4_9_2() -> None:
    """Codes of addRetryResponseCode are retried from 4.9.2 on."""
    for release, retried in (("4.9.1", False), ("4.9.2", True)):
        toy = Toy(release, added_retry_response_codes=frozenset({2}))
        assert (toy.send((1, BUSY))[1] == "b0") is retried


def test_a_status_other_than_ok_can_be_retried_and_wins_over_later_errors() -> None:
    """If another broker is tried after a status other than SEND_OK, this result wins over a later exception."""
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    seen = toy.send((1, NO_SLAVE), (2, REFUSED), (3, REFUSED))
    assert seen == ["a0", "b0", "a0", Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")]


def test_a_kept_status_wins_over_a_call_timeout_and_over_a_final_broker_error() -> None:
    """A kept result wins over a call timeout and a broker's error (sendDefaultImpl)."""
    kept = Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((3_001, NO_SLAVE)) == ["a0", kept]
    forbidden = AttemptResult.failed("MQBrokerException", 13)
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((1, NO_SLAVE), (2, forbidden)) == ["a0", "b0", kept]


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
