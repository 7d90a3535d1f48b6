"""Why a queue was not legal: manually built hidden states with one legal queue each."""

import pytest

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.producer.difference import explained_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Ending, Finish, Step, Try
from tests.oracle.histories import attempt_of, send_of

MS = 1_000_000
LIST = (("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0))
A0, A1, B0, B1, C0 = (Queue(*queue) for queue in LIST)
NOW_MS = 100

OUT_OF_TURN = "queue.out-of-turn"
REWRITTEN = "queue.mutated-list"
USED_AVOIDED = "avoidance.used-avoided-broker"
STAYED_AWAY = "avoidance.stayed-away-from-available-broker"
RETURNED = "retry.returned-to-failed-broker"


def state(
    *,
    avoided: str = "",
    slow: str = "",
    fine: str = "",
    rewritten: dict[int, Queue] | None = None,
    release: str = "4.9.7",
) -> HiddenState:
    """Brokers are avoided for a minute, slow with 50 ms, or fine; elements of the list are rewritten."""
    hidden = HiddenState(dialect_of(release), ChoiceExplorer(), latency_on=True)
    hidden.infos[1] = UncertainPublishInfo(LIST, {}, hidden.faults.explorer)
    for place, queue in (rewritten or {}).items():
        hidden.infos[1].queues[place] = queue
    for names, latency_ms, avoid_ms in ((avoided, 600, 60_000), (slow, 50, 0), (fine, 49, 0)):
        for broker in names:
            hidden.faults.update(broker, latency_ms, avoid_ms, True, NOW_MS - 50 if avoid_ms else 0)
            if not avoid_ms:
                hidden.faults.items[broker].start_ms = 0
    return hidden


def found(seen: Queue, *outcomes: tuple[HiddenState, Step], last_broker: str = "") -> RuleDifference:
    """Return the difference at 100 ms, in a first attempt or a retry."""
    before = (attempt_of(0, last_broker, 0, 0, MS),) if last_broker else ()
    attempt = attempt_of(len(before), *seen, NOW_MS * MS, (NOW_MS + 1) * MS)
    send = send_of(0, 0, SendKind.PLAIN, 0, 0, 200 * MS, attempts=(*before, attempt))
    point = DecisionPoint(send, len(before), NOW_MS * MS, NOW_MS * MS, None, chooses=True, followed_by=attempt)
    return explained_difference(outcomes, point, LIST)


def name(seen: Queue, *outcomes: tuple[HiddenState, Step], last_broker: str = "") -> str:
    return found(seen, *outcomes, last_broker=last_broker).signature


def legal(queue: Queue, hidden: HiddenState) -> tuple[HiddenState, Step]:
    return hidden, Try(queue, 3_000)


def test_a_broker_that_every_state_avoids() -> None:
    """An avoidance is the reason only if all states have it."""
    assert name(B0, legal(A0, state(avoided="b")), legal(A1, state(avoided="b"))) == f"{USED_AVOIDED}/first"
    assert name(B0, legal(A0, state(avoided="b")), legal(A1, state())) == f"{OUT_OF_TURN}/first"


def test_another_queue_of_a_broker_that_is_legal_although_avoided() -> None:
    """On a legal broker only the queue is wrong, though avoided or failed before."""
    assert name(A1, legal(A0, state(avoided="abc"))) == f"{OUT_OF_TURN}/first"
    assert name(A1, legal(A0, state()), last_broker="a") == f"{OUT_OF_TURN}/retry"


def test_the_broker_that_failed_the_attempt_before() -> None:
    """A retry returned to the failed broker, unless avoidance is the better reason."""
    assert name(B0, legal(A0, state()), last_broker="b") == f"{RETURNED}/retry"
    assert name(B0, legal(A0, state(avoided="b")), last_broker="b") == f"{USED_AVOIDED}/retry"
    assert name(B0, legal(A0, state()), last_broker="c") == f"{OUT_OF_TURN}/retry"


@pytest.mark.parametrize(
    ("seen", "rewritten", "expected"),
    [
        (B1, {3: A0}, REWRITTEN),  # a0 is legal where b1 was, and b1 is seen
        (B0, {3: A0}, OUT_OF_TURN),  # another place than b0's
        (B1, {3: A1}, OUT_OF_TURN),  # b1's place names another queue than the legal one
        (A1, {3: A1}, REWRITTEN),  # the same broker: any rewriting moves its turns
        (A1, {}, OUT_OF_TURN),
    ],
)
def test_a_list_that_was_rewritten(seen: Queue, rewritten: dict[int, Queue], expected: str) -> None:
    """A rewritten list is the reason if legal a0 replaced the observed queue, or any element if that is on a0's broker."""
    assert name(seen, legal(A0, state(rewritten=rewritten))) == f"{expected}/first"


def test_one_state_with_a_rewritten_list_is_enough() -> None:
    """One state with a rewritten list is enough: it may be the true one."""
    assert name(B1, legal(A0, state()), legal(A0, state(rewritten={3: A0}))) == f"{REWRITTEN}/first"


def test_a_list_of_another_length_is_another_list() -> None:
    """A list of another length is not rewritten but another thread's older one."""
    hidden = state()
    hidden.infos[2] = UncertainPublishInfo([("d", 0)], {}, hidden.faults.explorer)
    assert name(A1, legal(A0, hidden)) == f"{OUT_OF_TURN}/first"


@pytest.mark.parametrize(
    ("seen", "hidden", "expected"),
    [
        (B0, {"avoided": "a"}, STAYED_AWAY),  # a0 is legal all the same; past a comes b0
        (B0, {"slow": "a"}, STAYED_AWAY),  # 50 ms are the lowest threshold of any release
        (B0, {"fine": "a"}, OUT_OF_TURN),
        (B0, {}, OUT_OF_TURN),
        (B1, {"avoided": "a"}, OUT_OF_TURN),  # b0 would have been next
        (C0, {"avoided": "a"}, OUT_OF_TURN),
        (A1, {"avoided": "a"}, OUT_OF_TURN),  # not away from a
    ],
)
def test_a_broker_that_the_client_stayed_away_from(seen: Queue, hidden: dict[str, str], expected: str) -> None:
    """If a was avoided or slow, a client at the next other broker's b0 stayed away from it."""
    assert name(seen, legal(A0, state(**hidden))) == f"{expected}/first"  # type: ignore[arg-type]  # names of brokers


def test_past_the_end_of_the_list_it_goes_on_at_its_beginning() -> None:
    """Past c0, the end of the list, comes a0."""
    assert name(A0, legal(C0, state(slow="c"))) == f"{STAYED_AWAY}/first"
    assert name(B0, legal(C0, state(slow="c"))) == f"{OUT_OF_TURN}/first"


def test_past_all_legal_brokers() -> None:
    """Past a and b, both legal, comes c0."""
    states = [legal(A0, state(slow="a")), legal(B0, state(slow="a"))]
    assert name(C0, *states) == f"{STAYED_AWAY}/first"


def test_past_all_brokers_there_is_nothing_to_stay_away_for() -> None:
    """If all brokers are legal, an unlisted queue is out of turn."""
    states = [legal(queue, state(slow="abc")) for queue in (A0, B0, C0)]
    assert name(Queue("d", 0), *states) == f"{OUT_OF_TURN}/first"


def test_one_state_in_which_it_stayed_away_is_enough() -> None:
    """One state in which the client stayed away is enough, in any order."""
    states = [legal(A0, state()), legal(A0, state(slow="a"))]
    assert [name(B0, *order) for order in (states, states[::-1])] == [f"{STAYED_AWAY}/first"] * 2


def test_the_list_that_has_the_legal_queue_is_walked() -> None:
    """Another thread's list without the legal queue, or with its broker alone, does not count."""
    for other in ((("d", 0),), (("a", 0), ("a", 1))):
        hidden = state(slow="a")
        hidden.infos = {2: UncertainPublishInfo(other, {}, hidden.faults.explorer), **hidden.infos}
        assert name(B0, legal(A0, hidden)) == f"{STAYED_AWAY}/first"


def test_kinds_go_with_names() -> None:
    """Avoidance has its own kind; all other wrong queues have kind QUEUE."""
    kinds = {
        DifferenceKind.AVOIDANCE: [found(B0, legal(A0, state(avoided="b"))), found(B0, legal(A0, state(slow="a")))],
        DifferenceKind.QUEUE: [
            found(B0, legal(A0, state()), last_broker="b"),
            found(A1, legal(A0, state(rewritten={3: A1}))),
            found(A1, legal(A0, state())),
        ],
    }
    assert {kind: {one.kind for one in each} for kind, each in kinds.items()} == {kind: {kind} for kind in kinds}


def test_where_some_states_go_on_their_queues_are_expected() -> None:
    """If a call may end or go on, the queues of going on are expected."""
    over = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")
    assert found(B0, (state(), over), legal(A0, state())).expected == "queue 0 of a (1 of 5 queues)"


def ended(error: str | None, code: int | None, *finishes: Finish) -> RuleDifference:
    attempt = attempt_of(0, "a", 0, 0, MS)
    status = "FLUSH_DISK_TIMEOUT" if error is None else None
    send = send_of(0, 0, SendKind.PLAIN, 0, 0, 2 * MS, error, None, code, status, attempts=(attempt,))
    point = DecisionPoint(send, 1, MS, 2 * MS, attempt, chooses=True, followed_by=None)
    return explained_difference([(state(), finish) for finish in finishes], point, LIST)


def test_of_several_ends_the_nearest_is_expected() -> None:
    """Of several ends that with the same exception, then the same code, is expected."""
    over = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")
    refused, late = (Finish(Ending.GAVE_UP, error="MQClientException", code=code) for code in (10001, 10002))
    result = Finish(Ending.RESULT, status="SEND_OK")
    for order in ((over, late, result), (result, late, over)):
        found_one = ended("MQClientException", 10003, *order)
        assert found_one.signature == "error.other-code/expected=10002/seen=10003/first"
    assert ended(None, None, over, result).detail["expected"] == [None, None, "SEND_OK", None]
    for one, other in ((refused, late), (late, refused)):
        assert ended("MQBrokerException", 10002, one, other).detail["expected"] == [
            "MQClientException",
            10002,
            None,
            None,
        ]
