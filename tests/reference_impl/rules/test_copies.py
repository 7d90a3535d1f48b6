"""Copies of state for replays that branch are complete and independent of the original."""

from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Try
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.queue_choice import fault_table
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable
from rocketmq_reference.rules.queue_choice.index import MASKED, ThreadIndex
from tests.reference_impl.rules.toys import OK, REFUSED, ScriptedTape, Toy

FIELDS = [name for name in SendLoop.__slots__ if name not in ("selector", "dialect")]


def test_a_copied_send_goes_on_where_the_original_stands() -> None:
    """A copied send has all fields of the original, which here all differ from a fresh send's except the settings."""
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    loop = toy.loop()
    loop.begin(10, 20)
    loop.attempt_ended(30, AttemptResult.ok("SLAVE_NOT_AVAILABLE"))
    loop.last = REFUSED
    fresh, clone = toy.loop(), loop.copy(toy.selector)
    assert all(getattr(clone, name) == getattr(loop, name) for name in FIELDS)
    assert [name for name in FIELDS if getattr(loop, name) == getattr(fresh, name)] == ["settings"]


def test_a_copied_send_leaves_the_original_alone() -> None:
    """The end of a copied send does not change the original."""
    toy = Toy("5.3.3")
    loop = toy.loop()
    first = loop.begin(0, 0)
    assert loop.copy(toy.selector).attempt_ended(5, OK) == Finish(Ending.RESULT, 0, "SEND_OK")
    assert isinstance(first, Try) and loop.attempts == 0
    assert loop.attempt_ended(3_000, REFUSED) == Try(Queue("b", 0), 0)


def test_a_copied_list_can_be_rewritten() -> None:
    """A copied list can be rewritten; the original keeps its elements."""
    info = PublishInfo.of([("a", 0), ("b", 0), ("b", 1)])
    clone = info.copy()
    assert (clone.queues, clone.write_queues_of("b")) == (info.queues, 2)
    clone.queues[0] = Queue("b", 1)
    assert info.queues[0] == Queue("a", 0)


def test_a_copied_fault_table_has_items_of_its_own() -> None:
    """A copied fault table has its own items, with all fields."""
    table = FaultTable(fault_table.EXTENDING)
    table.items["a"] = FaultItem("a", 5, 700, reachable=False, check_ms=9)
    clone = table.copy()
    item = clone.items["a"]
    assert (item.broker, item.latency_ms, item.start_ms, item.reachable, item.check_ms) == ("a", 5, 700, False, 9)
    clone.update("a", 6, 0, True, 0)
    assert (table.items["a"].latency_ms, table.is_reachable("a"), clone.is_reachable("a")) == (5, False, True)


def test_a_copied_counter_counts_by_itself() -> None:
    """A copied counter does not move the original."""
    counter = ThreadIndex(MASKED, 1)
    counter.copy().next(ScriptedTape())
    assert counter.value == 1
