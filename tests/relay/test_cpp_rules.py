"""The C++ client's rules on in-memory brokers with given answers, read off the wire."""

import pytest

from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.record import Connected, read_wire
from tests.reference_impl.fake_broker import Answer, FakeCluster, Silence
from tests.relay.cpp_on_fakes import FAIR_MS, Client, assert_hidden
from tests.relay.staging import MS


def test_each_attempt_has_a_client_id_of_its_own(client: Client) -> None:
    """S01: each attempt has its own client id, so only our id links the copies."""
    reported = client.on("a", "b", replies=[Answer(1)])
    keys = [one.request.unique_key for one in reported.exchanges]
    assert len(keys) == len(set(keys)) == 3 and None not in keys
    assert {one.identity for one in reported.exchanges} == {"run/T/0"}


@pytest.mark.parametrize("code", [2, 13, 16, 17])
def test_any_code_is_retried(client: Client, code: int) -> None:
    """S03: any error code is retried, also an illegal message and a missing permission, on which Java gives up."""
    reported = client.on("a", "b", replies=[Answer(code)])
    assert [place[0] for place in reported.places] == ["a", "b", "a"]
    assert reported.sends[0].status == "SEND_OK"


@pytest.mark.parametrize("code", [1, 10, 11, 12])
def test_a_refused_or_degraded_message_is_sent_five_times(client: Client, code: int) -> None:
    """
    S02: a refused message, or one stored but degraded, is sent five times, in turn to both brokers, and reported as failed.

    There is no setting for retries.
    """
    reported = client.on("a", "b", replies=[Answer(code)] * 5, retries=0)
    assert [place[0] for place in reported.places] == ["a", "b", "a", "b", "a"]
    assert {one.answer.code for one in reported.exchanges if one.answer} == {code}
    assert_hidden(reported.sends[0])


def test_on_a_single_broker_every_other_round_is_empty(client: Client) -> None:
    """On a single broker every other round finds none and forgets the failed one: three attempts in five rounds."""
    reported = client.on("a", replies=[Silence()] * 5)
    assert reported.places == [("a", 0), ("a", 2), ("a", 0)]
    assert_hidden(reported.sends[0])


def test_a_broker_that_failed_is_not_avoided(client: Client) -> None:
    """A failed broker is not avoided: later sends wait there again."""
    reported = client.on("a", "b", replies=[Silence()] * 3, only="a", sends=12, timeout_ms=FAIR_MS)
    assert {send.status for send in reported.sends} == {"SEND_OK"}
    silent = [one.identity for one in reported.exchanges if one.answer is None]
    assert len(silent) == len(set(silent)) == 3


def test_only_the_first_name_server_is_asked(client: Client) -> None:
    """K59: only the first name server of the list is ever connected to."""
    client.on("a", "b", replies=[], name_servers=3)
    records = read_wire(client.folder / "wire.ndjson")
    asked = {one.node for one in records if isinstance(one, Connected) and one.node.startswith("name-server")}
    assert asked == {"name-server-1"}


def test_its_log_is_in_the_given_place(client: Client) -> None:
    """The log is in the subject's folder; the library's default is a folder at the file system's root."""
    client.on("a", replies=[])
    assert [file.name.rpartition("_")[2] for file in (client.folder / "subject").glob("*.log.0")] == [
        "rocketmq-cpp.log.0"
    ]


def plan_of_arguments(*arguments: int) -> Plan:
    return Plan(1, 1, tuple(PlannedSend(n, 0, 0, SendKind.SELECTOR, one, 64) for n, one in enumerate(arguments)))


@pytest.mark.parametrize(("letters", "queues"), [("ab", 8), ("abc", 12)])
def test_a_sharding_key_selects_the_queue_that_the_plan_asks_for(client: Client, letters: str, queues: int) -> None:
    """A sharding key selects the planned queue, for any argument and number of queues: it fits the library's hash."""
    arguments = [*range(queues), 5_039, 5_040, 123_456_789]
    reported = client.through(*letters, plan=plan_of_arguments(*arguments))
    in_turn = [(letter, queue) for letter in letters for queue in range(4)]
    assert reported.places == [in_turn[one % queues] for one in arguments]
    assert {send.status for send in reported.sends} == {"SEND_OK"}


def test_an_ordered_send_leaves_its_queue(client: Client) -> None:
    """A refused ordered send makes four attempts, each retry on queue 0 of the other broker, so the order is lost."""
    refused = [Answer(1)] * 4

    def refuse(cluster: FakeCluster, _relay: Relay) -> None:
        for letter in "ab":
            cluster[letter].script.extend(refused)

    reported = client.through("a", "b", plan=plan_of_arguments(2), once_ready=refuse)
    assert reported.places == [("a", 2), ("b", 0), ("a", 0), ("b", 0)]
    assert (reported.sends[0].error, reported.sends[0].code) == ("ProducerSendOrderlyFailed", None)


def test_a_one_way_request_is_not_marked_as_one(client: Client) -> None:
    """One-way requests are not marked, so the broker answers and nobody waits."""
    sends = tuple(PlannedSend(n, 0, n * 20 * MS, SendKind.PLAIN, 0, 64, SendMode.ONEWAY) for n in range(8))
    reported = client.through("a", "b", plan=Plan(1, 1, sends))
    assert len(reported.exchanges) == 8
    assert not any(one.request.oneway for one in reported.exchanges)
    assert all(one.answer is not None for one in reported.exchanges[:-1])
    assert {(send.error, send.status) for send in reported.sends} == {(None, None)}
