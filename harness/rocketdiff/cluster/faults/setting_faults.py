"""
Faults by a changed setting of a running broker; the answer to a send proves the effect.

Flow control: every send is answered SYSTEM_BUSY ([REJECTREQUEST]) at once and nothing is stored; other requests are answered as
usual. A broker does so while its pool of message buffers is empty (SendMessageProcessor.rejectRequest). If
``transientStorePoolEnable`` is switched on in a running broker the pool has no buffers, so the fault lasts exactly until the
setting is switched off. Read in 4.9.7 and 5.3.3.

Flush timeout: sends to a broker with SYNC_FLUSH are stored and answered FLUSH_DISK_TIMEOUT, because its ``syncFlushTimeout`` is
negative. The thread that checks deadlines gets a message before the flush thread, so it is nearly always first; sometimes the
flush is first and a send is answered SEND_OK (0 to 6 of 150 seen). A broker with ASYNC_FLUSH never shows this fault.

The fault read-only is in ``read_only``, because it involves name servers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.faults.record import FaultAction, healed, injected
from rocketdiff.cluster.interface import Cluster, Node, Span, node_named
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import ClusterError, FaultNotProven
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, FaultSpec
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.answers import SendStatus
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException

Proof = Callable[[Channels, Node], None]
"""Returns if a send is answered as required; otherwise raises FaultNotProven."""

_BODY = b"a probe of a fault"

# At most one send in ten does not get the fault's status; five in a row are no accident.
_TRIES = 5


def on_channels(node: Node, step: Callable[[Channels], object]) -> Callable[[], int]:
    """
    Return a function that runs the step on new connections to the node and returns the time of its end.

    The function raises FaultNotProven if a broker or a name server does not answer.
    """

    def run() -> int:
        with channels_to(node.security) as channels:
            try:
                step(channels)
            except admin.ADMIN_ERRORS as error:
                raise FaultNotProven("every broker and name server to answer", seen=str(error)) from error
            return time.monotonic_ns()

    return run


def changed(act: Callable[[], int]) -> Span:
    """Return the times of a change of settings. Raises ClusterError, as every action on a cluster."""
    begin_ns = time.monotonic_ns()
    try:
        return Span(begin_ns, act())
    except FaultNotProven as error:
        raise ClusterError(error.expected, seen=error.seen, hint=error.hint) from error


def answered_with(channels: Channels, node: Node, code: int, topic: str) -> None:
    """Send a message that must be refused with that response code. Raises FaultNotProven."""
    try:
        stored = admin.send_probe(channels, node.address, 0, _BODY, topic)
    except MQBrokerException as error:
        if error.code == code:
            return
        raise FaultNotProven(f"{node.name} to refuse a send with code {code}", seen=str(error)) from error
    raise FaultNotProven(f"{node.name} to refuse a send with code {code}", seen=f"it was stored, {stored.status}")


def stored_again(channels: Channels, node: Node, topic: str) -> None:
    """Send a message that must be stored. Raises FaultNotProven."""
    try:
        admin.send_probe(channels, node.address, 0, _BODY, topic)
    except MQBrokerException as error:
        raise FaultNotProven(f"{node.name} to store messages after it was healed", seen=str(error)) from error


def _answered_with_status(channels: Channels, node: Node, status: SendStatus) -> None:
    """Send messages until one is stored with that status; a race may give one or two of them another status."""
    seen = [admin.send_probe(channels, node.address, 0, _BODY).status]
    while seen[-1] is not status and len(seen) < _TRIES:
        seen.append(admin.send_probe(channels, node.address, 0, _BODY).status)
    if seen[-1] is not status:
        raise FaultNotProven(f"{node.name} to answer {status}", seen=f"{', '.join(seen)}")


@dataclass(frozen=True, slots=True)
class _Setting:
    """A broker setting, its values during the fault and after healing, and the proof of each."""

    name: str
    faulty: str | int
    healthy: str | int
    prove_faulty: Proof
    prove_healthy: Proof


def _fault(setting: _Setting) -> FaultAction:
    def inject(cluster: Cluster, spec: FaultSpec) -> FaultRecord:
        node = node_named(cluster, cluster.topology.broker_named(spec.node))
        act, prove = _steps(node, setting.name, setting.faulty, setting.prove_faulty)
        return injected(spec, node.name, act, prove)

    def heal(cluster: Cluster, record: FaultRecord) -> FaultRecord:
        node = node_named(cluster, record.node)
        act, prove = _steps(node, setting.name, setting.healthy, setting.prove_healthy)
        return healed(record, act, prove)

    return FaultAction(inject, heal)


def _steps(node: Node, name: str, value: str | int, prove: Proof) -> tuple[Callable[[], Span], Callable[[], int]]:
    act = on_channels(node, lambda channels: admin.update_settings(channels, node.address, {name: value}))
    return lambda: changed(act), on_channels(node, lambda channels: prove(channels, node))


SETTING_FAULTS = {
    kind: _fault(setting)
    for kind, setting in {
        FaultKind.FLOW_CONTROL: _Setting(
            "transientStorePoolEnable",
            faulty="true",
            healthy="false",
            prove_faulty=lambda channels, node: answered_with(
                channels, node, ResponseCode.SYSTEM_BUSY, admin.PROBE_TOPIC
            ),
            prove_healthy=lambda channels, node: stored_again(channels, node, admin.PROBE_TOPIC),
        ),
        FaultKind.FLUSH_TIMEOUT: _Setting(
            "syncFlushTimeout",
            faulty=-1,
            healthy=5_000,
            prove_faulty=lambda channels, node: _answered_with_status(channels, node, SendStatus.FLUSH_DISK_TIMEOUT),
            prove_healthy=lambda channels, node: _answered_with_status(channels, node, SendStatus.SEND_OK),
        ),
    }.items()
}
"""``healthy`` is the default of every release."""
