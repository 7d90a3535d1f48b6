"""The reference and the Java client read each other's messages on a real cluster."""

import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.java_programs import compiled
from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.message import Message
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting import answers, requests
from rocketmq_reference.remoting.frames import Serialization
from rocketmq_reference.remoting.messages import StoredMessage
from tests.live import PLENTY_MS, await_that

pytestmark = pytest.mark.cluster

_SOURCES = Path(__file__).parent / "java"
_PATIENT = ProducerSettings(send_msg_timeout_ms=PLENTY_MS, mq_client_api_timeout_ms=PLENTY_MS)
_LARGE = bytes(number * 37 % 253 for number in range(30_000))
# The Netty of old clients accesses JDK internals.
_OPENED = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "sun.nio.ch", "java.lang")]


def _line(word: str, result: SendResult, body: bytes) -> str:
    crc = f"{zlib.crc32(body):x}"
    parts = (word, result.broker, result.queue_id, result.queue_offset, len(body), crc, "tag", "own=252")
    return " ".join(map(str, (*parts, result.message_id)))


def _send_all(producer: Producer, topic: str) -> list[str]:
    """Return the lines that Java should print: plain, compressed, batched, and to chosen queues."""

    def message(body: bytes) -> Message:
        return Message(topic, body, {"own": "ü"}, tags="tag", keys="key1 key2")

    queues = producer.queues(topic)
    sent = [(body, producer.send(message(body))) for body in (b"small", _LARGE, b"again")]
    sent.append((b"batched", producer.send_batch([message(b"batched")])))
    sent.append((b"queue", producer.send_to_queue(message(b"queue"), queues[-1])))
    sent.append((b"selected", producer.send_by_selector(message(b"selected"), lambda given, *_: given[2], 0)))
    return [_line("read", result, body) for body, result in sent]


def _java(release: str, *arguments: str) -> list[str]:
    java, class_path = find_java(), client_class_path(release)
    classes = compiled("interop", _SOURCES, client_class_path("4.7.1"), java)
    command = [str(java.java), *_OPENED, "-cp", ":".join(map(str, [classes, *class_path])), "Interop", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return [line for line in ran.stdout.splitlines() if line.startswith(("read ", "sent "))]


@pytest.mark.parametrize(
    ("release", "serialization"), [("5.3.3", Serialization.JSON), ("4.7.1", Serialization.ROCKETMQ)]
)
def test_java_and_the_reference_read_each_other(
    two_masters: Cluster, release: str, serialization: Serialization
) -> None:
    """Bodies, compressed or not, batches, tags, properties and ids arrive unchanged both ways."""
    name_server = two_masters.name_server_addresses[0]
    ours, javas = f"ours-{release.replace('.', '-')}", f"javas-{release.replace('.', '-')}"
    two_masters.create_topic(ours, 4)
    two_masters.create_topic(javas, 4)
    settings = replace(_PATIENT, serialization=serialization)
    with Producer([name_server], "interop", dialect_of(release), settings) as producer:
        expected = _send_all(producer, ours)
    _await_stored(name_server, ours, len(expected))
    lines = _java(release, name_server, ours, javas)
    assert _comparable(lines, "read ") == _comparable(expected, "read ")
    stored = [_seen(broker, message) for broker, message in _await_stored(name_server, javas, 3)]
    assert _comparable(stored, "sent ") == _comparable(lines, "sent ")


def test_first_send_creates_the_topic(two_masters: Cluster) -> None:
    """The first send to an unknown topic creates it through the default topic."""
    name_server = two_masters.name_server_addresses[0]
    with Producer([name_server], "interop", dialect_of("5.3.3"), _PATIENT) as producer:
        result = producer.send(Message("nobody-created-me", b"x"))
        again = producer.send(Message("nobody-created-me", b"y"))
    assert (result.status, again.status) == ("SEND_OK", "SEND_OK")
    stored = [message.unique_key for _, message in _await_stored(name_server, "nobody-created-me", 2)]
    assert sorted(map(str, stored)) == sorted(map(str, (result.message_id, again.message_id)))


def _comparable(lines: list[str], word: str) -> list[str]:
    """Sort lines of one kind without the ids of batched messages: from 5.0.0 a broker stores the batch's id instead."""
    return sorted(
        line.rpartition(" ")[0] if line.split()[4] == str(len(b"batched")) else line
        for line in lines
        if line.startswith(word)
    )


def _seen(broker: str, message: StoredMessage) -> str:
    own = f"own={ord(message.properties['own'])}"
    crc = f"{zlib.crc32(message.body):x}"
    parts = ("sent", broker, message.queue_id, message.queue_offset, len(message.body), crc)
    return " ".join(map(str, (*parts, message.properties["TAGS"], own, message.unique_key)))


def _await_stored(name_server: str, topic: str, number: int) -> list[tuple[str, StoredMessage]]:
    with Channels() as channels:
        await_that(lambda: len(_read(channels, name_server, topic)) >= number, f"{number} messages in {topic}")
        return _read(channels, name_server, topic)


def _read(channels: Channels, name_server: str, topic: str) -> list[tuple[str, StoredMessage]]:
    route = answers.parse_route(channels.invoke(name_server, requests.get_route(topic), PLENTY_MS))
    addresses = route.master_addresses()
    return [
        (data.broker, message)
        for data in route.queues
        for queue_id in range(data.read_queues)
        for message in answers.parse_pull(
            channels.invoke(addresses[data.broker], requests.pull(topic, queue_id, 0), PLENTY_MS)
        ).messages
    ]
