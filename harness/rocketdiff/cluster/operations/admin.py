"""
Admin requests over the remoting protocol: topics, routes, settings, offsets, reading a queue, probes.

Addresses are ``host:port``. Functions raise ADMIN_ERRORS unless documented otherwise.
"""

import time
from collections.abc import Iterator, Mapping

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.server_settings import properties_text
from rocketdiff.core.security import OPEN, Security
from rocketdiff.core.tables.topology import MASTER_ID
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting import answers, requests, sending
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, RemotingException
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.routes import TopicRouteData

# Loopback answers within a few ms; this long only on a very busy machine.
REQUEST_TIMEOUT_MS = 5_000

PROBE_TOPIC = "rocketdiff-probe"
"""Topic on every cluster for proofs of readiness and for probes of a pause."""

PROBE_QUEUES = 4
"""The default of scenarios, so that the proven route is like theirs."""

READ_ONLY, READ_AND_WRITE = 4, 6
"""Permissions of a broker or a topic (PermName)."""

_PROBE_GROUP = "rocketdiff-probe"

# The limit in the brokers' settings (see server_settings); the limit of a remoting frame is 16 MiB.
_MESSAGES_A_PULL = 4_096


def create_topic(channels: Channels, broker_address: str, topic: str, queues: int, *, ordered: bool = False) -> None:
    """Create or change a topic on one broker, which also registers it with its name servers."""
    command = requests.create_topic(topic, queues, order=ordered)
    answers.expect_success(channels.invoke(broker_address, command, REQUEST_TIMEOUT_MS), broker_address)


def delete_topic(channels: Channels, broker_address: str, topic: str) -> None:
    """Delete a topic and its queues on one broker. Idempotent: a broker without the topic reports success."""
    answer = channels.invoke(broker_address, requests.delete_topic(topic), REQUEST_TIMEOUT_MS)
    # A 5.x broker without timer wheel deletes everything, then fails in the wheel's metrics.
    if not (answer.code == ResponseCode.SYSTEM_ERROR and "TimerMessageStore" in (answer.remark or "")):
        answers.expect_success(answer, broker_address)


def register_now(channels: Channels, broker_address: str) -> None:
    """
    Make a broker register all its topics with its name servers at once, not at its next interval (10 to 30 s).

    Setting its permission to the current value has this effect (AdminBrokerProcessor.updateBrokerConfig, 4.9.7 and 5.3.3).
    """
    update_settings(channels, broker_address, {"brokerPermission": READ_AND_WRITE})


def update_settings(channels: Channels, broker_address: str, settings: Mapping[str, object]) -> None:
    """
    Change a running broker's settings, by their names in its settings file.

    The broker also writes all settings in effect into that file.
    """
    command = Command(RequestCode.UPDATE_BROKER_CONFIG, body=properties_text(settings).encode())
    answers.expect_success(channels.invoke(broker_address, command, REQUEST_TIMEOUT_MS), broker_address)


def broker_setting(channels: Channels, broker_address: str, name: str) -> str | None:
    """Return a running broker's setting in effect; None if its release does not know it."""
    return broker_settings(channels, broker_address).get(name)


def broker_settings(channels: Channels, broker_address: str) -> dict[str, str]:
    """Return all settings in effect of a running broker."""
    answer = channels.invoke(broker_address, Command(RequestCode.GET_BROKER_CONFIG), REQUEST_TIMEOUT_MS)
    lines = answers.expect_success(answer, broker_address).body.decode(errors="replace").splitlines()
    return dict(line.partition("=")[::2] for line in lines if "=" in line)


def forget_topic(channels: Channels, name_server_address: str, topic: str) -> None:
    """Delete a topic's route at a name server. A broker that still has the topic registers it again."""
    command = Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic})
    answers.expect_success(channels.invoke(name_server_address, command, REQUEST_TIMEOUT_MS), name_server_address)


def route(channels: Channels, name_server_address: str, topic: str) -> TopicRouteData | None:
    """Return a topic's route at one name server, or None."""
    answer = channels.invoke(name_server_address, requests.get_route(topic), REQUEST_TIMEOUT_MS)
    if answer.code == ResponseCode.TOPIC_NOT_EXIST:
        return None
    return answers.parse_route(answer)


def queues_in_route(found: TopicRouteData | None) -> dict[str, int]:
    """Writable queues of each broker that has an address in the route."""
    if found is None:
        return {}
    reachable = found.master_addresses()
    return {data.broker: data.write_queues for data in found.queues if data.broker in reachable}


def permissions_in_route(channels: Channels, name_server_address: str, topic: str) -> dict[str, int]:
    """Permission of each broker in a topic's route (PermName); empty for a topic without a route."""
    found = route(channels, name_server_address, topic)
    return {} if found is None else {data.broker: data.perm for data in found.queues}


def registered_brokers(channels: Channels, name_server_address: str) -> dict[str, str]:
    """Address of every master that a name server knows, by broker name."""
    members = registered_members(channels, name_server_address)
    return {name: address for (name, broker_id), address in members.items() if broker_id == MASTER_ID}


def registered_members(channels: Channels, name_server_address: str) -> dict[tuple[str, int], str]:
    """Address of every broker that a name server knows, by broker name and broker id; slaves have ids from 1."""
    info = answers.parse_cluster(channels.invoke(name_server_address, requests.get_cluster(), REQUEST_TIMEOUT_MS))
    return {
        (name, broker_id): address
        for name, data in info.brokers.items()
        for broker_id, address in data.addresses.items()
    }


def runtime_info(channels: Channels, broker_address: str) -> dict[str, str]:
    """A broker's figures, such as the length of its send queue."""
    return answers.parse_table(channels.invoke(broker_address, requests.get_runtime_info(), REQUEST_TIMEOUT_MS))


def queue_end(
    channels: Channels, broker_address: str, topic: str, queue_id: int, timeout_ms: int = REQUEST_TIMEOUT_MS
) -> int:
    """One past the last offset of a queue."""
    command = requests.get_max_offset(topic, queue_id)
    return answers.parse_offset(channels.invoke(broker_address, command, timeout_ms))


def topic_queues(channels: Channels, name_server_address: str, topic: str) -> dict[str, int]:
    """Readable queues of a topic by broker; empty for a topic without a route."""
    found = route(channels, name_server_address, topic)
    return {} if found is None else {data.broker: data.read_queues for data in found.queues}


def read_queue(
    channels: Channels, broker_address: str, topic: str, queue_id: int, offset: int = 0
) -> Iterator[StoredMessage]:
    """Yield every message of a queue from an offset, in order, up to its end at the time when it is reached."""
    while True:
        command = requests.pull(topic, queue_id, offset, max_messages=_MESSAGES_A_PULL)
        answer = channels.invoke(broker_address, command, REQUEST_TIMEOUT_MS)
        page = answers.parse_pull(answer, broker_address)
        # A response may begin before the requested offset if messages were stored in one batch.
        yield from (message for message in page.messages if message.queue_offset >= offset)
        if page.next_offset <= offset or page.next_offset >= page.max_offset:
            return
        offset = page.next_offset


def store_probe(channels: Channels, broker_address: str, queue_id: int, body: bytes, topic: str = PROBE_TOPIC) -> int:
    """Store one message in a queue of a probe topic; return its queue offset."""
    return send_probe(channels, broker_address, queue_id, body, topic).queue_offset


def send_probe(
    channels: Channels, broker_address: str, queue_id: int, body: bytes, topic: str = PROBE_TOPIC
) -> answers.SendAnswer:
    """As store_probe; returns the broker's answer with the send status."""
    request = sending.SendRequest(
        topic=topic,
        queue_id=queue_id,
        body=body,
        group=_PROBE_GROUP,
        born_timestamp_ms=time.time_ns() // 1_000_000,
    )
    answer = channels.invoke(broker_address, sending.send_message(request), REQUEST_TIMEOUT_MS)
    return answers.parse_send(answer, broker_address)


def probe_broker(address: str, timeout_ms: int, topic: str = PROBE_TOPIC, security: Security = OPEN) -> None:
    """
    Send a broker a cheap request on a new connection; return after any answer. Raises RemotingExceptions.

    A request for an offset stores nothing, so it is harmless if a paused broker serves it later.
    """
    ask_once(address, requests.get_max_offset(topic, 0), timeout_ms, security)


def probe_name_server(address: str, timeout_ms: int, topic: str = PROBE_TOPIC, security: Security = OPEN) -> None:
    """As probe_broker, for a name server: requests the probe topic's route."""
    ask_once(address, requests.get_route(topic), timeout_ms, security)


def ask_once(address: str, command: Command, timeout_ms: int, security: Security = OPEN) -> None:
    """Send a server a request on a new connection; return after any answer, also an error. Raises RemotingExceptions."""
    with channels_to(security, connect_timeout_ms=timeout_ms) as channels:
        channels.invoke(address, command, timeout_ms)


ADMIN_ERRORS = (RemotingException, MQBrokerException, MQClientException)
"""No response, or an error response."""


def missing_queues(wanted: Mapping[str, int], found: Mapping[str, int]) -> str | None:
    """Return None if every broker has the wanted queues, else the difference in words."""
    if all(found.get(broker) == queues for broker, queues in wanted.items()):
        return None
    return f"route has {dict(found) or 'no queues'}, not {dict(wanted)}"
