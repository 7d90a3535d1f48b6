"""What faults share that are settings of a running broker: change it, and show by a send what the broker says to it now."""

import time
from collections.abc import Callable

from rocketdiff.cluster.interface import Node, Span
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.answers import SendStatus
from rocketmq_reference.remoting.errors import MQBrokerException

_BODY = b"a probe of a fault"

# One send in ten or fewer misses the status that a setting makes; five in a row are no accident.
_TRIES = 5


def on_channels(step: Callable[[Channels], object]) -> Callable[[], int]:
    """
    The step on connections of its own, closed afterwards; the moment it was over.

    It raises FaultNotProven for whatever a broker or a name server did not answer.
    """

    def run() -> int:
        with Channels() as channels:
            try:
                step(channels)
            except admin.ADMIN_ERRORS as error:
                raise FaultNotProven("every broker and name server to answer", seen=str(error)) from error
            return time.monotonic_ns()

    return run


def changed(act: Callable[[], int]) -> Span:
    """
    The time a change of settings took.

    Raises ClusterError, as every action on a cluster does.
    """
    begin_ns = time.monotonic_ns()
    try:
        return Span(begin_ns, act())
    except FaultNotProven as error:
        raise ClusterError(error.expected, seen=error.seen, hint=error.hint) from error


def answered_with(channels: Channels, node: Node, code: int, topic: str) -> None:
    """
    Send a message and be refused with that response code.

    Raises FaultNotProven.
    """
    try:
        stored = admin.send_probe(channels, node.address, 0, _BODY, topic)
    except MQBrokerException as error:
        if error.code == code:
            return
        raise FaultNotProven(f"{node.name} to refuse a send with code {code}", seen=str(error)) from error
    raise FaultNotProven(f"{node.name} to refuse a send with code {code}", seen=f"it was stored, {stored.status}")


def stored_again(channels: Channels, node: Node, topic: str) -> None:
    """
    Send a message and have it stored.

    Raises FaultNotProven.
    """
    try:
        admin.send_probe(channels, node.address, 0, _BODY, topic)
    except MQBrokerException as error:
        raise FaultNotProven(f"{node.name} to store messages after it was healed", seen=str(error)) from error


def answered_with_status(channels: Channels, node: Node, status: SendStatus) -> None:
    """
    Send messages until one is stored with that status, which a race may keep one or two from having.

    Raises FaultNotProven.
    """
    seen = [admin.send_probe(channels, node.address, 0, _BODY).status]
    while seen[-1] is not status and len(seen) < _TRIES:
        seen.append(admin.send_probe(channels, node.address, 0, _BODY).status)
    if seen[-1] is not status:
        raise FaultNotProven(f"{node.name} to answer {status}", seen=f"{', '.join(seen)}")
