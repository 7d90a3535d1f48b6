"""Single sends by a minimal client."""

import time

from rocketdiff.cluster.interface import Node
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting import answers, sending
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.frames import Command
from tests.reference_impl.host.requesting import await_unanswered

_TIMEOUT_MS = 10_000
_TRIES = 10


def send(broker: Node, topic: str, queue_id: int, body: bytes, identity: str | None) -> int:
    """Store one message and return its queue offset; sent again while the broker refuses it for waiting too long in its queue."""
    with Channels() as channels:
        for _ in range(_TRIES):
            answer = channels.invoke(broker.address, _command(topic, queue_id, body, identity), _TIMEOUT_MS)
            if answer.code != ResponseCode.SYSTEM_BUSY:
                break
        return answers.parse_send(answer).queue_offset


def send_unanswered(broker: Node, topic: str, queue_id: int, body: bytes, identity: str) -> None:
    """Send to a paused broker, give up after 50 ms and close the connection, as clients from 4.9.1 on do."""
    with Channels() as channels:
        await_unanswered(lambda: channels.invoke(broker.address, _command(topic, queue_id, body, identity), 50))


def _command(topic: str, queue_id: int, body: bytes, identity: str | None) -> Command:
    return sending.send_message(
        sending.SendRequest(
            topic=topic,
            queue_id=queue_id,
            body=body,
            group="tests",
            born_timestamp_ms=time.time_ns() // 1_000_000,
            properties={} if identity is None else {"rocketdiff.id": identity},
        )
    )
