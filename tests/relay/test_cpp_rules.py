"""The C++ client's rules, on in-memory brokers that answer as told, read off the wire."""

import pytest

from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.remoting.record import Connected, read_wire
from tests.reference_impl.fake_broker import Answer, FakeCluster, Silence
from tests.relay.cpp_on_fakes import Client, assert_hidden
from tests.relay.staging import MS


def test_five_attempts_whatever_was_set_each_on_the_other_broker(client: Client) -> None:
    """Refused every time; the setting for retries does not exist here."""
    told = client.on("a", "b", replies=[Answer(1)] * 5, retries=0)
    assert [place[0] for place in told.places] == ["a", "b", "a", "b", "a"]
    assert_hidden(told.sends[0])


def test_each_attempt_has_a_client_id_of_its_own(client: Client) -> None:
    """S01: copies that a retry left cannot be linked by it; our own id can."""
    told = client.on("a", "b", replies=[Answer(1)])
    keys = [one.request.unique_key for one in told.exchanges]
    assert len(keys) == len(set(keys)) == 3 and None not in keys
    assert {one.identity for one in told.exchanges} == {"run/T/0"}


@pytest.mark.parametrize("code", [2, 13, 16, 17])
def test_any_code_is_retried(client: Client, code: int) -> None:
    """S03: also an illegal message and a missing permission, which Java gives up on."""
    told = client.on("a", "b", replies=[Answer(code)])
    assert [place[0] for place in told.places] == ["a", "b", "a"]
    assert told.sends[0].status == "SEND_OK"


@pytest.mark.parametrize("code", [10, 11, 12])
def test_a_stored_but_degraded_message_is_sent_again(client: Client, code: int) -> None:
    """S02: stored five times, and reported as failed."""
    told = client.on("a", "b", replies=[Answer(code)] * 5)
    assert [place[0] for place in told.places] == ["a", "b", "a", "b", "a"]
    assert {one.answer.code for one in told.exchanges if one.answer} == {code}
    assert_hidden(told.sends[0])


def test_on_a_single_broker_every_other_round_is_empty(client: Client) -> None:
    """There is no other broker to pick, and the empty pick forgets which one failed: three attempts in five rounds."""
    told = client.on("a", replies=[Silence()] * 5)
    assert told.places == [("a", 0), ("a", 2), ("a", 0)]
    assert_hidden(told.sends[0])


def test_a_broker_that_failed_is_not_avoided(client: Client) -> None:
    """No table, no isolation: later sends go where their turn is, and wait there again."""
    told = client.on("a", "b", replies=[Silence()] * 3, only="a", sends=12)
    assert {send.status for send in told.sends} == {"SEND_OK"}
    silent = [one.identity for one in told.exchanges if one.answer is None]
    assert len(silent) == len(set(silent)) == 3


def test_only_the_first_name_server_is_asked(client: Client) -> None:
    """K59: the others of the list are never connected to."""
    client.on("a", "b", replies=[], name_servers=3)
    records = read_wire(client.folder / "wire.ndjson")
    asked = {one.node for one in records if isinstance(one, Connected) and one.node.startswith("name-server")}
    assert asked == {"name-server-1"}


def test_its_log_lies_where_it_was_told(client: Client) -> None:
    """Left to itself the library makes a folder at the top of the file system."""
    client.on("a", replies=[])
    assert [file.name.rpartition("_")[2] for file in (client.folder / "subject").glob("*.log.0")] == [
        "rocketmq-cpp.log.0"
    ]


def plan_of_arguments(*arguments: int) -> Plan:
    """One selector send for each."""
    return Plan(1, 1, tuple(PlannedSend(n, 0, 0, SendKind.SELECTOR, one, 64) for n, one in enumerate(arguments)))


@pytest.mark.parametrize(("letters", "queues"), [("ab", 8), ("abc", 12)])
def test_a_sharding_key_selects_the_queue_that_the_plan_asks_for(client: Client, letters: str, queues: int) -> None:
    """Whatever the argument, for the number of queues at hand: the keys fit the hash of the library itself."""
    arguments = [*range(queues), 5_039, 5_040, 123_456_789]
    told = client.through(*letters, plan=plan_of_arguments(*arguments))
    in_turn = [(letter, queue) for letter in letters for queue in range(4)]
    assert told.places == [in_turn[one % queues] for one in arguments]
    assert {send.status for send in told.sends} == {"SEND_OK"}


def test_an_ordered_send_leaves_its_queue(client: Client) -> None:
    """Four attempts, each on the first queue of the other broker: what was sent in order does not lie in order."""
    refused = [Answer(1)] * 4

    def refuse(cluster: FakeCluster, _relay: Relay) -> None:
        for letter in "ab":
            cluster[letter].script.extend(refused)

    told = client.through("a", "b", plan=plan_of_arguments(2), once_ready=refuse)
    assert told.places == [("a", 2), ("b", 0), ("a", 0), ("b", 0)]
    assert (told.sends[0].error, told.sends[0].code) == ("ProducerSendOrderlyFailed", None)


def test_a_one_way_request_is_not_marked_as_one(client: Client) -> None:
    """So the broker answers what nobody waits for."""
    sends = tuple(PlannedSend(n, 0, n * 20 * MS, SendKind.PLAIN, 0, 64, SendMode.ONEWAY) for n in range(8))
    told = client.through("a", "b", plan=Plan(1, 1, sends))
    assert len(told.exchanges) == 8
    assert not any(one.request.oneway for one in told.exchanges)
    assert all(one.answer is not None for one in told.exchanges[:-1])
    assert {(send.error, send.status) for send in told.sends} == {(None, None)}
