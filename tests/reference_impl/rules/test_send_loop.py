"""The synchronous send loop: retries, budget, results and exceptions."""

from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from tests.reference_impl.rules.toys import OK, REFUSED, Toy

NO_SLAVE = AttemptResult.ok("SLAVE_NOT_AVAILABLE")


def gave_up(attempt: int, cause: str, code: int | None) -> Finish:
    return Finish(Ending.GAVE_UP, attempt, error="MQClientException", code=code, cause=cause)


def test_three_attempts_by_default() -> None:
    """C2: a call makes three attempts by default; the last cause gives the code."""
    seen = Toy("5.3.3").send((1, REFUSED), (2, REFUSED), (3, REFUSED))
    assert seen == ["a0", "b0", "a0", gave_up(2, "RemotingConnectException", 10001)]


def test_a_kept_status_wins_over_a_call_timeout_and_over_a_final_broker_error() -> None:
    """A kept result wins over a call timeout and a broker's error (sendDefaultImpl)."""
    kept = Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((3_001, NO_SLAVE)) == ["a0", kept]
    forbidden = AttemptResult.failed("MQBrokerException", 13)
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    assert toy.send((1, NO_SLAVE), (2, forbidden)) == ["a0", "b0", kept]


def test_the_broker_charged_is_the_one_the_list_names_now() -> None:
    """To 5.1.3 another thread may rewrite the picked element; the broker it names at the attempt's end is charged."""
    toy = Toy("4.9.7", send_latency_fault_enable=True)
    loop = toy.loop()
    loop.begin(0, 0)
    toy.info.queues[0] = toy.info.queues[5]
    loop.attempt_ended(1, OK)
    assert list(toy.faults.items) == ["b"]
