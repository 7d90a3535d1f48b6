"""Reports of C++ users (ids K… and S… of the comparison of clients), tried on in-memory brokers."""

import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.switches import Action, Switch
from tests.reference_impl.fake_broker import FakeCluster, Silence
from tests.relay.cpp_on_fakes import FAIR_MS, TIMEOUT_MS, Client, assert_hidden
from tests.relay.relayed import await_that
from tests.relay.staging import MS, plan_of

ROUNDS = 5
PAUSE_BETWEEN_MS = 100
TRIES = 5


def plan_of_threads(sends: int, threads: int) -> Plan:
    return Plan(1, threads, tuple(PlannedSend(n, n % threads, 0, SendKind.PLAIN, n, 64) for n in range(sends)))


def delay_answers(_cluster: FakeCluster, relay: Relay) -> None:
    """Delay answers until the client has noticed its timeout on any machine."""
    for node in ("broker-a", "broker-b"):
        relay.turn_on(Switch(Action.DELAY, node=node, to="client", delay_ms=8 * TIMEOUT_MS))


def kill(letter: str, cluster: FakeCluster, relay: Relay) -> None:
    """Kill a broker and wait until its relay port refuses."""
    cluster[letter].refuse()
    await_that(lambda: f'"type":"shut","witness":"wire","node":"broker-{letter}"' in relay.journal.read_text())


def test_several_threads_lose_rounds_while_they_connect_again(tmp_path: Path) -> None:
    """
    K54: each timeout closes the connection; a thread that meets another's reconnect loses its round.

    K56 (crashes while the network adds a delay of a timeout) did not occur: every send fails and returns. Threads may
    happen to run one after the other, so there are several tries.
    """
    for number in range(TRIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ExitStack() as stack:
            sent = Client(folder, stack).through(
                "a",
                "b",
                plan=plan_of_threads(16, 8),
                once_ready=delay_answers,
                timeout_ms=TIMEOUT_MS,
            )
        attempts = [len(sent.attempts_of(send)) for send in range(16)]
        assert max(attempts) <= ROUNDS
        assert len(sent.sends) == 16
        for send in sent.sends:
            assert_hidden(send)
        if min(attempts) < ROUNDS:
            return
    raise AssertionError(f"no round was lost in {TRIES} tries")


def test_a_lost_answer_leaves_a_copy(client: Client) -> None:
    """K60: a lost answer leaves a copy on each broker, reported as sent once; only our id links them."""
    stored: Counter[bytes] = Counter()

    def swallow_two(cluster: FakeCluster, relay: Relay) -> None:
        relay.turn_on(Switch(Action.SWALLOW, node="broker-a", to="client", sends=True, times=2))
        clusters.append(cluster)

    clusters: list[FakeCluster] = []
    sent = client.through("a", "b", plan=plan_of(12), once_ready=swallow_two, timeout_ms=FAIR_MS)
    assert {send.status for send in sent.sends} == {"SEND_OK"}
    for broker in clusters[0].brokers.values():
        stored.update(one.body.partition(b".")[0] for one in broker.stored if one.topic == "T")
    assert sorted(stored.values()) == [1] * 10 + [2] * 2
    assert len({exchange.request.unique_key for exchange in sent.exchanges}) == len(sent.exchanges) == 14


def test_a_lost_connection_is_waited_for_like_a_lost_answer(client: Client) -> None:
    """New here: the client waits its whole timeout on a lost connection, where Java retries at once."""

    def reset_one(_cluster: FakeCluster, relay: Relay) -> None:
        relay.turn_on(Switch(Action.RESET, node="broker-a", to="server", sends=True, times=1))

    sent = client.through("a", "b", plan=plan_of(4), once_ready=reset_one, timeout_ms=FAIR_MS)
    first, _ = sent.attempts_of(0)
    assert first.closed is not None and first.closed.by == "relay"
    assert sent.sends[0].end_ns - sent.sends[0].start_ns >= FAIR_MS * MS
    assert sent.sends[0].status == "SEND_OK"


def test_a_dead_broker_costs_no_send_and_its_turns_go_to_the_other(client: Client) -> None:
    """A dead broker refuses at once; the counter passes its queues, so the other's stay even (against K61)."""
    sent = client.through("a", "b", plan=plan_of(64), once_ready=lambda *all_: kill("a", *all_))
    assert {send.status for send in sent.sends} == {"SEND_OK"}
    assert sent.places == [("b", send % 4) for send in range(64)]


def test_with_no_broker_that_answers_nearly_everything_goes_to_queue_0(client: Client) -> None:
    """K61: every retry takes the first queue of the other broker, so nearly all go to queue 0."""
    sent = client.on("a", "b", replies=[Silence()] * 20, sends=2)
    queues = Counter(queue for _, queue in sent.places)
    assert queues[0] >= 8
    assert sum(queues.values()) == 10


def test_it_comes_back_by_itself_after_everything_was_restarted(client: Client) -> None:
    """
    K62 in part: after a restart of all servers the client recovers without a new producer, at least before its poll.

    Meanwhile it reports a missing route.
    """

    def restart(cluster: FakeCluster, relay: Relay) -> None:
        servers = (cluster.name_server, *cluster.brokers.values())
        # With the second message stored the first send is at an end; a busy machine may leave two copies of the first.
        await_that(
            lambda: len({one.body for each in cluster.brokers.values() for one in each.stored if one.topic == "T"}) > 1
        )
        for server in servers:
            server.refuse()
        await_that(lambda: relay.journal.read_text().count('"type":"shut"') == len(servers))
        time.sleep(1)
        for server in servers:
            server.come_back()

    sent = client.through(
        "a", "b", plan=plan_of(80, every_ms=PAUSE_BETWEEN_MS), meanwhile=restart, timeout_ms=TIMEOUT_MS
    )
    by_number = sorted(sent.sends, key=lambda send: send.send)
    failed = [send for send in by_number if send.error]
    assert failed
    for send in failed:
        assert_hidden(send)
    assert (by_number[0].status, by_number[-1].status) == ("SEND_OK", "SEND_OK")


def test_threads_share_one_counter_without_collisions(client: Client) -> None:
    """S06 (the counter is read and moved in two steps) did not occur: eight threads use the queues evenly."""
    sent = client.through("a", "b", plan=plan_of_threads(64, 8))
    spread = Counter(sent.places)
    assert len(spread) == 8
    assert max(spread.values()) - min(spread.values()) <= 2
