"""A script shows each field in which a dialect differs from its parent."""

from collections.abc import Callable

import pytest

from rocketmq_reference.dialects import DIALECTS, dialect_of, difference, flatten
from rocketmq_reference.rules.client.connection_steps import Connect, Ended, GoOn, Kind, Redirect, Write
from rocketmq_reference.rules.client.connections import GO_AWAY, Connections
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.java import INT_MAX
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import Invoke
from rocketmq_reference.rules.producer.attempt import AttemptResult
from rocketmq_reference.rules.producer.direct_send import send_by_selector
from tests.reference_impl.rules.toys import OK, REFUSED, TIMEOUT, Toy

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


def toy(dialect: Dialect, *arguments: object, **named: object) -> Toy:
    return Toy(dialect.releases.first, *arguments, **named)  # type: ignore[arg-type]


def index_numbers(dialect: Dialect) -> object:
    """Numbers at the overflow and after a negative start; a send's retry shows a reset."""
    numbers: list[object] = []
    for start, draw in ((INT_MAX - 1, 0), (None, -5)):
        made = toy(dialect, index=start, draws=[draw])
        numbers += [made.index.next(made.tape) for _ in range(4)]
    made = toy(dialect, draws=[2], send_latency_fault_enable=True)
    made.send((1, REFUSED), (2, OK))
    return [*numbers, made.index.value]


def plain_retry(dialect: Dialect) -> object:
    made = toy(dialect, index=0)
    return [made.plain("a"), made.plain()]


def avoiding(dialect: Dialect) -> object:
    """A retry without fault items, both brokers avoided with the rewritten list, and an overflow."""
    made = toy(dialect)
    reported: list[object] = [made.avoiding("b"), made.avoiding("a")]
    made.note("a", 5, failed=True)
    made.note("b", 4, failed=True)
    reported += [made.avoiding(), made.listed]
    made = toy(dialect, "a2 b1", index=INT_MAX - 1)
    made.note("b", 1, failed=True)
    made.note("a", 5, failed=True)
    return [*reported, made.avoiding()]


def remembered(dialect: Dialect) -> object:
    """A success after a failure, an unreachable broker, and the better of two equal ones."""
    made = toy(dialect)
    made.note("a", 5, failed=True)
    made.note("a", 5)
    made.note("b", 5, reachable=False)
    available = [made.faults.is_available(broker, 1) for broker in "ab"]
    for broker in "ab":
        made.faults.update(broker, 5, 1_000_000, True, 0)
    return available, made.faults.pick_one_at_least(made.worst, made.tape, 0)


def code_retried(code: int) -> Callable[[Dialect], object]:
    return lambda dialect: toy(dialect).send((1, AttemptResult.failed("MQBrokerException", code)))


def asynchronous(dialect: Dialect, result: AttemptResult, *, form: Form = Form.SELECTED, now: int = 10) -> object:
    made = toy(dialect)
    send = AsyncSend(dialect, made.settings, made.faults, form)
    send.accepted(0, 0)
    invoke = send.begin(made.selector, 0) if form is Form.SELECTED else send.begin_at(Queue("a", 0), 0)
    assert isinstance(invoke, Invoke)
    return send.ended(invoke, made.thread(), now, result)


def thrown(dialect: Dialect) -> object:
    made = toy(dialect)
    send = AsyncSend(dialect, made.settings, made.faults)
    send.accepted(0, 0)
    invoke = send.begin(made.selector, 0)
    assert isinstance(invoke, Invoke)
    return send.threw(invoke, made.selector, 1, "RemotingConnectException")


def waited_for_thread(dialect: Dialect) -> object:
    made = toy(dialect)
    return dialect.producer.asynchronous.runs_on, AsyncSend(dialect, made.settings, made.faults).accepted(0, 3_000)


def connecting(dialect: Dialect) -> object:
    request, _ = (made := Connections(dialect.client.remoting)).invoke(Kind.ASYNC, "a", 3_000, 0)
    return [step.waking for step in made.connected(request.connection) if isinstance(step, GoOn)]


def answered(dialect: Dialect, code: int) -> object:
    """Ends of two synchronous requests with this answer, the second a second after the first."""
    made = Connections(dialect.client.remoting)
    reported: list[str] = []
    for now in (0, 1_000):
        request, steps = made.invoke(Kind.SYNC, "a", 3_000, now)
        if not any(isinstance(step, Write) for step in steps):
            made.connected(request.connection)
            made.go_on(request, now)
        steps = made.answered(request.number, code)
        if isinstance(steps[0], Redirect):
            steps = made.redirect(request, now)
            if isinstance(steps[0], Connect):
                made.connected(request.connection)
                made.go_on(request, now)
                steps = made.answered(request.number, code)
        reported += [f"{step.error} {step.place}" for step in steps if isinstance(step, Ended)]
        reported.append(str(made.open_to("a")))
    return reported


def numbers(dialect: Dialect) -> object:
    made = Connections(dialect.client.remoting)
    kinds = ((Kind.ASYNC, False), (Kind.ASYNC, True), (Kind.SYNC, False))
    return [made.invoke(kind, "a", 0, 0, is_retry=is_retry)[0].number for kind, is_retry in kinds]


def connecting_for_long(dialect: Dialect) -> object:
    request, _ = (made := Connections(dialect.client.remoting)).invoke(Kind.ASYNC, "a", 100, 0)
    made.connected(request.connection)
    return [type(step) for step in made.go_on(request, 200)]


def open_one(made: Connections) -> None:
    """Make a request on an open connection, which is a new one if the known one is closed."""
    request, steps = made.invoke(Kind.SYNC, "a", 3_000, 0)
    if isinstance(steps[0], Connect):
        made.connected(request.connection)


def given_up_twice(dialect: Dialect) -> object:
    """Open connections after two requests closed a shared one, for a failed and a successful connect."""
    open_ones = []
    for accepted in (False, True):
        made = Connections(dialect.client.remoting)
        one, other = (made.invoke(Kind.SYNC, "a", 3_000, 0)[0] for _ in range(2))
        (made.connected if accepted else made.connect_failed)(one.connection)
        made.go_on(one, 0)
        made.wait_expired(one)
        open_one(made)
        made.go_on(other, 0)
        made.woken(other, failed=True)
        open_one(made)
        open_ones.append(made.open_to("a"))
    return open_ones


PROBES: dict[str, Callable[[Dialect], object]] = {
    "index.name": index_numbers,
    "index.start": index_numbers,
    "index.step": index_numbers,
    "index.resets": index_numbers,
    "select_plain": plain_retry,
    "select_queue": avoiding,
    "fault_table.extends_only": remembered,
    "fault_table.unreachable_is_unavailable": remembered,
    "fault_table.shuffles": remembered,
    "penalties.slower_than_ms": lambda dialect: [
        dialect.producer.avoidance_ms(latency, False) for latency in (1_000, 1_900, 4_000)
    ],
    "penalties.avoid_for_ms": lambda dialect: [
        dialect.producer.avoidance_ms(latency, False) for latency in (600, 15_000)
    ],
    "failure_counts_as_ms": lambda dialect: dialect.producer.avoidance_ms(5, True),
    "reads_broker_again": lambda dialect: dialect.producer.reads_broker_again,
    "write_queues_need_permission": lambda dialect: dialect.producer.write_queues_need_permission,
    "default_topic": lambda dialect: dialect.producer.default_topic,
    "create_topic_key_ignored": lambda dialect: dialect.producer.create_topic_key_ignored,
    "selector_restarts_time": lambda dialect: send_by_selector(dialect, Queue("a", 0), 3_000, 5, timeout_given=False),
    "detector_can_be_switched_on": lambda dialect: dialect.producer.detects(
        toy(dialect, start_detector_enable=True).settings
    ),
    "asynchronous.runs_on": waited_for_thread,
    "asynchronous.retries_given_queue": lambda dialect: asynchronous(
        dialect, TIMEOUT, form=Form.GIVEN_QUEUE, now=4_000
    ),
    "asynchronous.retry_has_time_left": lambda dialect: asynchronous(dialect, TIMEOUT, now=4_000),
    "asynchronous.thrown_is_retried": thrown,
    "asynchronous.unwraps_failures": lambda dialect: asynchronous(dialect, TIMEOUT, now=4_000),
    "asynchronous.needs_time_to_retry": lambda dialect: asynchronous(dialect, TIMEOUT, now=4_000),
    "loop.shared_budget": lambda dialect: toy(dialect).send((3_001, TIMEOUT)),
    "loop.retry_codes": lambda dialect: [code_retried(code)(dialect) for code in (2, 1500)],
    "loop.codes_can_be_added": lambda dialect: toy(dialect, added_retry_response_codes=frozenset({13})).send(
        (1, AttemptResult.failed("MQBrokerException", 13))
    ),
    "loop.client_error_isolates": lambda dialect: failure_noted(dialect, AttemptResult.failed("MQClientException")),
    "loop.broker_error_is_unreachable": lambda dialect: failure_noted(
        dialect, AttemptResult.failed("MQBrokerException", 13)
    ),
    "loop.per_request_cap": lambda dialect: toy(dialect, send_msg_max_timeout_per_request_ms=100).loop().begin(0, 0),
    "remoting.budgeted": lambda dialect: dialect.client.remoting.time_left_ms(100, 200),
    "remoting.writes_without_time_left": lambda dialect: dialect.client.remoting.time_left_ms(100, 100),
    "remoting.close_on_timeout": lambda dialect: [
        dialect.client.remoting.closes_connection(3_000, left) for left in (3_000, 50)
    ],
    "remoting.fails_fast_on_close": lambda dialect: dialect.client.remoting.fails_fast_on_close,
    "remoting.fin_fails_pending": lambda dialect: dialect.client.remoting.fin_fails_pending,
    "remoting.name_server_failure_is_illegal_state": lambda dialect: (
        dialect.client.remoting.name_server_failure_is_illegal_state
    ),
    "remoting.tries_every_name_server": lambda dialect: dialect.client.remoting.tries_every_name_server,
    "remoting.vip_channel": lambda dialect: dialect.client.remoting.vip_channel,
    "remoting.heartbeat_on_connect": lambda dialect: dialect.client.remoting.heartbeat_on_connect,
    "remoting.names_compression": lambda dialect: dialect.client.remoting.names_compression,
    "remoting.name_server_scan": lambda dialect: dialect.client.remoting.name_server_scan.times,
    "remoting.scan.first_ms": lambda dialect: dialect.client.remoting.scan,
    "remoting.scan.period_ms": lambda dialect: dialect.client.remoting.scan,
    "remoting.futures": lambda dialect: [answered(dialect, 0), asynchronous(dialect, TIMEOUT, now=4_000)],
    "remoting.connects_in_background": connecting,
    "remoting.retry_takes_next_number": numbers,
    "remoting.late_async_fails_twice": connecting_for_long,
    "remoting.late_close": given_up_twice,
    "remoting.unregisters_between_heartbeats": lambda dialect: dialect.client.remoting.unregisters_between_heartbeats,
    "remoting.go_away": lambda dialect: answered(dialect, GO_AWAY),
    "reserved_properties": lambda dialect: dialect.messages.reserved_properties.names,
    "refuses_blank_properties": lambda dialect: dialect.messages.refusal_of_property("shop", " "),
    "measures_batch_properties": lambda dialect: dialect.messages.refusal_in_batch(32_768),
} | {
    name: lambda dialect, name=name: getattr(dialect.messages, name)
    for name in (
        *("closes_properties", "topic_max_length", "forbids_default_topic", "forbidden_topics", "has_batches"),
        *("batch_has_own_key", "names_broker", "sys_flag", "refuses_dispatch_path"),
    )
}
"""A script for every field; fields that only a connection, or the bytes of a request, show are compared by value."""


def failure_noted(dialect: Dialect, result: AttemptResult) -> object:
    made = toy(dialect, send_latency_fault_enable=True, retry_times_when_send_failed=0)
    made.send((1, result))
    item = made.faults.items["a"]
    return item.start_ms > 1, item.reachable


EDGES = [
    pytest.param(BY_NAME[child.parent], child, field, id=f"{child.name}-{field}")
    for child in DIALECTS
    if child.parent is not None
    for field in difference(BY_NAME[child.parent], child)
]


@pytest.mark.parametrize(("parent", "child", "field"), EDGES)
def test_the_script_of_a_differing_field_separates_parent_and_child(
    parent: Dialect, child: Dialect, field: str
) -> None:
    """The script of a differing field gives different results for parent and child."""
    assert PROBES[field](parent) != PROBES[field](child)


def test_every_field_has_a_script() -> None:
    """Every field of a dialect has a script."""
    assert set(PROBES) == set(flatten(DIALECTS[0]))


def test_every_dialect_differs_from_its_parent() -> None:
    """Every dialect differs from its parent."""
    assert all(difference(BY_NAME[child.parent], child) for child in DIALECTS if child.parent is not None)


def test_a_flat_view_is_readable() -> None:
    """A flat dialect shows rules by name, tuples of numbers with spaces, and sorted codes."""
    flat = flatten(dialect_of("5.3.3"))
    assert flat["select_queue"] == "available_then_reachable_then_any"
    assert flat["penalties.avoid_for_ms"] == "0 0 2000 5000 6000 10000 30000"
    assert flat["loop.retry_codes"] == "1 2 14 16 17 204 205 1500"


def test_releases_that_behave_alike_have_no_difference() -> None:
    """Releases with the same behaviour have no difference."""
    for one, other in (("4.1.0-incubating", "4.2.0"), ("4.9.5", "4.9.7"), ("4.4.0", "4.5.0")):
        assert difference(dialect_of(one), dialect_of(other)) == {}


def test_the_difference_of_two_releases() -> None:
    """A difference lists the old and the new value of each field."""
    assert difference(dialect_of("5.1.4"), dialect_of("5.2.0")) == {
        "fault_table.unreachable_is_unavailable": ("True", "False"),
        "detector_can_be_switched_on": ("False", "True"),
        "remoting.heartbeat_on_connect": ("False", "True"),
        "remoting.futures": ("False", "True"),
        "remoting.go_away": ("nothing", "once-a-minute"),
        "reserved_properties": ("50 names", "51 names"),
        "closes_properties": ("False", "True"),
    }
