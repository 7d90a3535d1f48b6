"""
Faults that are a setting of a running broker: it is changed, and a send shows what the broker says to it now.

Flow control: every send is answered SYSTEM_BUSY ([REJECTREQUEST]) at once and nothing is stored. A broker does so when the
pool of buffers that messages wait in has none free (SendMessageProcessor.rejectRequest). One whose ``transientStorePoolEnable``
is switched on while it runs has a pool without any buffer, so this lasts exactly until the setting is switched off again. Read
in 4.9.7 and 5.3.3; all else a broker is asked it answers as ever.

No time to flush: a broker that flushes before it acknowledges gives the disk no time, so that sends are stored and answered
FLUSH_DISK_TIMEOUT. Its patience (``syncFlushTimeout``) is made negative. The watcher of deadlines is told of a message before
the flush is, so it is nearly always first; now and then a flush still wins and a send is answered SEND_OK (0 to 6 of 150 seen).
A broker that flushes later anyway never shows it.

No permission to write has a file of its own, ``read_only``: name servers have a part in it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from rocketdiff.cluster.faults.proof import node_named
from rocketdiff.cluster.faults.record import Fault, healed, injected
from rocketdiff.cluster.interface import Cluster, Node, Span
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.fault import FaultKind, FaultRecord, FaultSpec
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.answers import SendStatus
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException

Proof = Callable[[Channels, Node], None]
"""Returns when a send was answered as it must be; raises FaultNotProven."""

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


def _answered_with_status(channels: Channels, node: Node, status: SendStatus) -> None:
    """
    Send messages until one is stored with that status, which a race may keep one or two from having.

    Raises FaultNotProven.
    """
    seen = [admin.send_probe(channels, node.address, 0, _BODY).status]
    while seen[-1] is not status and len(seen) < _TRIES:
        seen.append(admin.send_probe(channels, node.address, 0, _BODY).status)
    if seen[-1] is not status:
        raise FaultNotProven(f"{node.name} to answer {status}", seen=f"{', '.join(seen)}")


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting of a broker, its values while ill and well, and what a send is answered with each."""

    name: str
    ill: str | int
    well: str | int
    shows_ill: Proof
    shows_well: Proof


def _fault(setting: _Setting) -> Fault:
    def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
        node = node_named(cluster, cluster.topology.broker_named(spec.node))
        act, prove = _steps(node, setting.name, setting.ill, setting.shows_ill)
        return injected(spec, node.name, act, prove)

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        node = node_named(cluster, record.node)
        act, prove = _steps(node, setting.name, setting.well, setting.shows_well)
        return healed(record, act, prove)

    return Fault(inject, heal)


def _steps(node: Node, name: str, value: str | int, shows: Proof) -> tuple[Callable[[], Span], Callable[[], int]]:
    """Set it, and show it."""
    act = on_channels(lambda channels: admin.update_settings(channels, node.address, {name: value}))
    return lambda: changed(act), on_channels(lambda channels: shows(channels, node))


SETTING_FAULTS = {
    kind: _fault(setting)
    for kind, setting in {
        FaultKind.FLOW_CONTROL: _Setting(
            "transientStorePoolEnable",
            ill="true",
            well="false",
            shows_ill=lambda channels, node: answered_with(channels, node, ResponseCode.SYSTEM_BUSY, admin.PROBE_TOPIC),
            shows_well=lambda channels, node: stored_again(channels, node, admin.PROBE_TOPIC),
        ),
        FaultKind.FLUSH_TIMEOUT: _Setting(
            "syncFlushTimeout",
            ill=-1,
            well=5_000,
            shows_ill=lambda channels, node: _answered_with_status(channels, node, SendStatus.FLUSH_DISK_TIMEOUT),
            shows_well=lambda channels, node: _answered_with_status(channels, node, SendStatus.SEND_OK),
        ),
    }.items()
}
"""``well`` is the default of every release."""
