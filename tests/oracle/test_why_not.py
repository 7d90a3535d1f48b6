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


@pytest.mark.parametrize(
    ("seen", "last_broker", "expected", "outcomes"),
    [
        # an avoidance is the reason only if all states have it
        (B0, "", USED_AVOIDED, [legal(A0, state(avoided="b")), legal(A1, state(avoided="b"))]),
        (B0, "", OUT_OF_TURN, [legal(A0, state(avoided="b")), legal(A1, state())]),
        # on a legal broker only the queue is wrong, though avoided or failed before
        (A1, "", OUT_OF_TURN, [legal(A0, state(avoided="abc"))]),
        (A1, "a", OUT_OF_TURN, [legal(A0, state())]),
        # a retry returned to the failed broker, unless avoidance is the better reason
        (B0, "b", RETURNED, [legal(A0, state())]),
        (B0, "b", USED_AVOIDED, [legal(A0, state(avoided="b"))]),
        (B0, "c", OUT_OF_TURN, [legal(A0, state())]),
        # a rewritten list: a0 is legal where b1 was, and b1 is seen, in one state at least; or any element of the same broker
        (B1, "", REWRITTEN, [legal(A0, state(rewritten={3: A0}))]),
        (B1, "", REWRITTEN, [legal(A0, state()), legal(A0, state(rewritten={3: A0}))]),
        (B0, "", OUT_OF_TURN, [legal(A0, state(rewritten={3: A0}))]),
        (B1, "", OUT_OF_TURN, [legal(A0, state(rewritten={3: A1}))]),
        (A1, "", REWRITTEN, [legal(A0, state(rewritten={3: A1}))]),
        (A1, "", OUT_OF_TURN, [legal(A0, state())]),
        # a0 is legal, but past an avoided or slow a (50 ms are the lowest threshold of any release) comes b0; one state is enough
        (B0, "", STAYED_AWAY, [legal(A0, state(avoided="a"))]),
        (B0, "", STAYED_AWAY, [legal(A0, state(slow="a"))]),
        (B0, "", STAYED_AWAY, [legal(A0, state()), legal(A0, state(slow="a"))]),
        (B0, "", STAYED_AWAY, [legal(A0, state(slow="a")), legal(A0, state())]),
        (B0, "", OUT_OF_TURN, [legal(A0, state(fine="a"))]),
        (B0, "", OUT_OF_TURN, [legal(A0, state())]),
        (B1, "", OUT_OF_TURN, [legal(A0, state(avoided="a"))]),
        (C0, "", OUT_OF_TURN, [legal(A0, state(avoided="a"))]),
        (A1, "", OUT_OF_TURN, [legal(A0, state(avoided="a"))]),
        # past c0, the end of the list, comes a0; past a and b, both legal, comes c0; past all brokers nothing
        (A0, "", STAYED_AWAY, [legal(C0, state(slow="c"))]),
        (B0, "", OUT_OF_TURN, [legal(C0, state(slow="c"))]),
        (C0, "", STAYED_AWAY, [legal(A0, state(slow="a")), legal(B0, state(slow="a"))]),
        (Queue("d", 0), "", OUT_OF_TURN, [legal(queue, state(slow="abc")) for queue in (A0, B0, C0)]),
    ],
)
def test_a_wrong_queue_has_the_reason_of_its_states(
    seen: Queue, last_broker: str, expected: str, outcomes: list[tuple[HiddenState, Step]]
) -> None:
    """A wrong queue has the reason that its hidden states give."""
    place = "retry" if last_broker else "first"
    assert name(seen, *outcomes, last_broker=last_broker) == f"{expected}/{place}"


def test_a_list_of_another_length_is_another_list() -> None:
    """A list of another length is not rewritten but another thread's older one."""
    hidden = state()
    hidden.infos[2] = UncertainPublishInfo([("d", 0)], {}, hidden.faults.explorer)
    assert name(A1, legal(A0, hidden)) == f"{OUT_OF_TURN}/first"


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
