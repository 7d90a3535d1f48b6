"""All events of selections and sends."""

from collections.abc import Iterable

import pytest

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval, as_ms
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.java import INT_MAX
from rocketmq_reference.rules.producer.attempt import AttemptResult, Try
from rocketmq_reference.rules.queue_choice import avoidance, selection
from rocketmq_reference.rules.queue_choice.events import (
    BudgetChecked,
    Charged,
    Chosen,
    Event,
    Forgotten,
    IndexRead,
    IndexReset,
    Skip,
    Skipped,
    Swallowed,
    Tier,
)
from rocketmq_reference.rules.queue_choice.index import ABSOLUTE, IndexRule, ThreadIndex
from rocketmq_reference.rules.queue_choice.selection import SelectRule
from tests.reference_impl.rules.toys import REFUSED, TIMEOUT, Toy

A, A1, B = Queue("a", 0), Queue("a", 1), Queue("b", 0)

AS_IT_STANDS = IndexRule("as-it-stands", lambda tape: tape.int32(), lambda value: (value + 1, value))
"""Returns every number, also −1, which no release's counter does; the rules guard against negative ones."""


def events_of(toy: Toy, select: SelectRule, last: str | None = None, now: int = 0) -> list[Event]:
    events: list[Event] = []
    toy.selector.observer = events.append
    select(toy.selector, last, False, now)
    return events


def all_avoided(release: str, queues: str, brokers: Iterable[str]) -> Toy:
    """Return a producer whose brokers all failed at 0 ms, each 1 ms slower."""
    toy = Toy(release, queues)
    for latency, broker in enumerate(brokers, start=1):
        toy.note(broker, latency, failed=True)
    return toy


PASSED, PASSED_TOO = Skipped(A, Skip.LAST_BROKER, None), Skipped(A1, Skip.LAST_BROKER, None)


@pytest.mark.parametrize(
    ("releases", "queues", "last", "events"),
    [
        # a first attempt examines only the next queue (section 3.3 of the behaviours)
        (("4.7.1", "4.8.0", "5.3.3"), "a1 b1", None, [Chosen(A, Tier.ROTATION)]),
        # a retry reports every skipped queue: P1 reads the counter once, P2 for each queue
        (("4.7.1",), "a2 b1", "a", [PASSED, PASSED_TOO, Chosen(B, Tier.OTHER_BROKER)]),
        (
            ("4.8.0",),
            "a2 b1",
            "a",
            [PASSED, IndexRead(0), PASSED_TOO, IndexRead(1), Chosen(B, Tier.OTHER_BROKER)],
        ),
        # without another broker a retry takes any queue with one more tick, P1 after one, P2 after one per queue
        (("4.7.1",), "a2", "a", [PASSED, PASSED_TOO, IndexRead(0), Chosen(A1, Tier.ANY)]),
        (("4.8.0",), "a2", "a", [PASSED, IndexRead(0), PASSED_TOO, IndexRead(1), Chosen(A, Tier.ANY)]),
    ],
)
def test_events_of_a_selection_without_avoidance(
    releases: tuple[str, ...], queues: str, last: str | None, events: list[Event]
) -> None:
    """With fault latency off, a selection reports each look at a queue, and the chosen one."""
    for release in releases:
        toy = Toy(release, queues)
        assert events_of(toy, toy.dialect.producer.select_plain, last) == [IndexRead(-1), *events]


@pytest.mark.parametrize(
    ("releases", "queues", "avoided", "last", "events"),
    [
        # F1–F5 report the rest of an avoidance: a's ten minutes began a second ago
        (
            ("4.7.1", "4.8.0", "4.9.8", "5.1.0", "5.1.3"),
            "a1 b1",
            "a",
            None,
            [Skipped(A, Skip.AVOIDED, 599_000), Chosen(B, Tier.AVAILABLE)],
        ),
        # F1: a retry skips a, which is not the failed broker, and avoided b, which is then the best known
        (
            ("4.7.1",),
            "a1 b1",
            "b",
            "b",
            [
                Skipped(A, Skip.NOT_LAST_BROKER, None),
                Skipped(B, Skip.AVOIDED, 599_000),
                IndexRead(0),
                Chosen(B, Tier.BEST_KNOWN, mutated=True),
            ],
        ),
        # F5: a retry skips the failed broker although it is available
        (("5.1.3",), "a1 b1", "", "a", [PASSED, Chosen(B, Tier.AVAILABLE)]),
        # F5 with one broker and an empty table: removing a null name throws, which is swallowed
        (("5.1.3",), "a1", "", "a", [PASSED, Swallowed("NullPointerException"), IndexRead(0), Chosen(A, Tier.ANY)]),
        # F6 with one broker, which just failed, takes a tick per tier
        (("5.3.3",), "a1", "", "a", [PASSED, IndexRead(0), PASSED, IndexRead(1), Chosen(A, Tier.ANY)]),
    ],
)
def test_events_of_a_selection_with_avoidance(
    releases: tuple[str, ...], queues: str, avoided: str, last: str | None, events: list[Event]
) -> None:
    """With fault latency on, a selection reports why each queue was skipped, and the chosen one."""
    for release in releases:
        toy = all_avoided(release, queues, avoided)
        toy.tape.numbers = [5]
        assert events_of(toy, toy.dialect.producer.select_queue, last, now=1_000) == [IndexRead(-1), *events]


@pytest.mark.parametrize(("release", "mutated"), [("4.8.0", True), ("4.9.7", True), ("4.9.8", False), ("5.1.0", True)])
def test_the_best_known_broker_and_the_list(release: str, mutated: bool) -> None:
    """Upstream #7779: only 4.9.8 selects the best known broker without rewriting the list."""
    toy = all_avoided(release, "a1 b1", "ab")
    toy.worst.value = 1
    assert events_of(toy, toy.dialect.producer.select_queue) == [
        IndexRead(-1),
        Skipped(A, Skip.AVOIDED, 600_000),
        Skipped(B, Skip.AVOIDED, 600_000),
        IndexRead(0),
        Chosen(A, Tier.BEST_KNOWN, mutated=mutated),
    ]
    assert toy.listed == ("a0 a0" if mutated else "a0 b0")


def test_a_best_broker_without_write_queues_is_forgotten_and_any_queue_follows() -> None:
    """The removal of a best broker without a route is reported, and any queue follows."""
    toy = all_avoided("4.9.7", "a1 b1", "cab")
    toy.worst.value = 1
    assert events_of(toy, toy.dialect.producer.select_queue)[3:] == [Forgotten("c"), IndexRead(0), Chosen(B, Tier.ANY)]


def test_a_swallowed_exception_is_reported_and_any_queue_follows() -> None:
    """The swallowed NullPointerException of missing route data is reported, and any queue follows."""
    toy = all_avoided("4.9.7", "a1 b1", "ab")
    toy.info.write_queues = None
    assert events_of(toy, toy.dialect.producer.select_queue)[3:] == [
        Swallowed("NullPointerException"),
        IndexRead(0),
        Chosen(B, Tier.ANY),
    ]


def test_minus_one_is_made_positive_by_every_guarded_rule() -> None:
    """P1, P2 and F1–F3 use ``abs(number) % n``, so −1 gives the second of four queues."""
    for select in (
        selection.walk_past_last_broker,
        selection.draw_past_last_broker,
        avoidance.walk_only_last_broker,
        avoidance.walk_available,
        avoidance.walk_available_with_own_queue,
    ):
        toy = Toy("4.9.7", "a4")
        toy.selector.index = ThreadIndex(AS_IT_STANDS, -1)
        assert select(toy.selector, None, False, 0) == 1


def test_minus_one_is_no_position_of_an_unguarded_walk() -> None:
    """F4: −1 % 4 is −1 in Java, no valid position; plain rotation follows from 0."""
    toy = Toy("5.1.0", "a4")
    toy.selector.index = ThreadIndex(AS_IT_STANDS, -1)
    assert events_of(toy, avoidance.walk_available_unclamped) == [
        IndexRead(-1),
        Swallowed("IndexOutOfBoundsException"),
        IndexRead(0),
        Chosen(A, Tier.ANY),
    ]


def test_an_unguarded_walk_ends_at_position_minus_one_too() -> None:
    """With two queues the unguarded walk from MIN skips position 0 and fails at (MIN + 1) % 2, which is −1."""
    toy = all_avoided("5.1.0", "a1 b1", "a")
    toy.selector.index = ThreadIndex(ABSOLUTE, INT_MAX)
    events = events_of(toy, avoidance.walk_available_unclamped)
    assert events[1:3] == [Skipped(A, Skip.AVOIDED, 600_000), Swallowed("IndexOutOfBoundsException")]


def test_a_send_that_has_not_begun_stands_at_zero() -> None:
    """A new send has no attempt, time, pick or kept result."""
    loop = Toy("5.3.3").loop()
    assert (loop.attempts, loop.began_ms, loop.attempt_began_ms) == (0, 0, 0)
    assert (loop.pick, loop.last, loop.result_kept) == (None, None, None)


def test_a_failure_before_any_queue_was_picked_charges_no_broker() -> None:
    """A failure without a picked queue charges no broker; another attempt may follow."""
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    assert toy.loop().settle(5, REFUSED) is None
    assert toy.faults.items == {}


BROKER_ERROR = AttemptResult.failed("MQBrokerException", 13)
INTERRUPTED = AttemptResult.failed("InterruptedException")
GONE = AttemptResult.failed("MQClientException")


@pytest.mark.parametrize(
    ("release", "detector", "result", "charged"),
    [
        ("4.9.7", False, INTERRUPTED, Charged("a", 7, 0, isolated=False, reachable=True)),
        ("5.3.3", True, INTERRUPTED, Charged("a", 7, 0, isolated=False, reachable=True)),
        ("4.9.7", False, GONE, Charged("a", 7, 600_000, isolated=True, reachable=True)),
        ("5.3.3", True, GONE, Charged("a", 7, 0, isolated=False, reachable=True)),
        ("4.9.7", False, BROKER_ERROR, Charged("a", 7, 600_000, isolated=True, reachable=True)),
        ("5.3.3", False, BROKER_ERROR, Charged("a", 7, 10_000, isolated=True, reachable=False)),
        ("4.9.7", True, TIMEOUT, Charged("a", 7, 600_000, isolated=True, reachable=True)),
        ("5.3.3", False, TIMEOUT, Charged("a", 7, 10_000, isolated=True, reachable=True)),
        ("5.3.3", True, TIMEOUT, Charged("a", 7, 10_000, isolated=True, reachable=False)),
    ],
)
def test_a_failure_is_charged_by_its_kind(
    release: str, detector: bool, result: AttemptResult, charged: Charged
) -> None:
    """
    A failure after 7 ms is charged as in section 3.6 of the behaviours.

    To 5.1.3 there is no reachable flag. Then a broker's error clears it, a remoting error only with the detector, and an
    interruption or client error does not count against the broker.
    """
    events: list[Event] = []
    toy = Toy(release, observer=events.append, send_latency_fault_enable=True, start_detector_enable=detector)
    loop = toy.loop()
    loop.begin(0, 0)
    loop.settle(7, result)
    assert [event for event in events if isinstance(event, Charged)] == [charged]


def test_an_uncertain_time_left_that_is_at_most_the_cap_is_handed_out_whole() -> None:
    """With 95 to 100 of 3,000 ms left, a cap of 100 leaves no outcome open, because the comparison is strict."""
    events: list[Event] = []
    explorer = ChoiceExplorer()
    toy = Toy("5.3.3", observer=events.append, send_msg_max_timeout_per_request_ms=100)
    spent = Interval(2_900, 2_905, explorer)
    step = toy.loop().begin(0, as_ms(spent))
    assert isinstance(step, Try) and repr(step.timeout_ms) == "95–100"
    assert not explorer.advance(), "something was asked"
    assert [type(event) for event in events] == [IndexRead, Chosen, BudgetChecked]


def test_three_tiers_report_each_examined_queue() -> None:
    """Each examined queue is reported: the last attempt failed on a, b and c are avoided for 9 s more, and b is unreachable."""
    events: list[Event] = []
    toy = Toy("5.3.3", "a1 b1 c1", observer=events.append, draws=[5])
    toy.note("b", 5, failed=True, reachable=False)
    toy.note("c", 5, failed=True)
    assert toy.avoiding("a", now=1_000, reset=True) == "c0"
    looks = [event for event in events if not isinstance(event, IndexRead)]
    assert looks == [
        IndexReset(5),
        Skipped(A, Skip.LAST_BROKER, None),
        Skipped(B, Skip.AVOIDED, 9_000),
        Skipped(Queue("c", 0), Skip.AVOIDED, 9_000),
        Skipped(A, Skip.LAST_BROKER, None),
        Skipped(B, Skip.UNREACHABLE, 9_000),
        Chosen(Queue("c", 0), Tier.REACHABLE),
    ]


def test_a_counter_of_the_best_brokers_gone_negative_swallows_the_same() -> None:
    """In 4.9.3 the best-broker counter after MAX is MIN; MIN % 3 (half of six) is negative, and the exception is swallowed."""
    events: list[Event] = []
    toy = Toy("4.9.3", "a1 b1 c1 d1 e1 f1", observer=events.append)
    for broker in "abcdef":
        toy.note(broker, 5, failed=True)
    toy.worst.value = INT_MAX
    assert toy.avoiding() == "b0"
    assert [event for event in events if isinstance(event, Swallowed)] == [Swallowed("IndexOutOfBoundsException")]


def test_a_list_without_queues_swallows_one_division_and_throws_the_next() -> None:
    """In 4.9.7 an empty list makes two divisions fail: the fallback's is swallowed, that of plain rotation is thrown."""
    events: list[Event] = []
    toy = Toy("4.9.7", "a1", observer=events.append)
    toy.note("a", 5, failed=True)
    toy.info.queues.clear()
    with pytest.raises(ZeroDivisionError):
        toy.avoiding()
    assert Swallowed("ArithmeticException") in events


def test_a_send_reports_charges_and_spent_time() -> None:
    """A send reports charges and spent time: a refused attempt costs broker a 10 s, and a timeout uses up the 3 s."""
    events: list[Event] = []
    Toy("5.3.3", "a1 b1", observer=events.append, draws=[5, 5], send_latency_fault_enable=True).send(
        (7, REFUSED), (3_007, TIMEOUT)
    )
    assert [event for event in events if isinstance(event, Charged | BudgetChecked)] == [
        BudgetChecked(0, 3_000),
        Charged("a", 7, 10_000, isolated=True, reachable=True),
        BudgetChecked(7, 3_000),
        Charged("b", 3_000, 10_000, isolated=True, reachable=True),
        BudgetChecked(3_007, 3_000),
    ]


def test_to_4_2_0_a_send_has_no_budget() -> None:
    """To 4.2.0 a send reports no budget, because each attempt has its own timeout."""
    events: list[Event] = []
    Toy("4.2.0", "a1 b1", observer=events.append).send((3_000, TIMEOUT))
    assert [event for event in events if isinstance(event, BudgetChecked)] == [
        BudgetChecked(0, None),
        BudgetChecked(3_000, None),
    ]
