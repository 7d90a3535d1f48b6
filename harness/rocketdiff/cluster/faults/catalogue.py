"""Every kind of fault and how it is done and undone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocketdiff.cluster.faults import (
    flow_control,
    flush_timeout,
    kill_broker,
    kill_slave,
    pause_broker,
    pause_name_server,
    pause_slave,
    read_only,
)
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.fault import FaultKind, FaultRecord, FaultSpec


@dataclass(frozen=True, slots=True)
class Fault:
    """The two halves of a fault; both prove their effect or raise UnprovenFault."""

    inject: Callable[[Cluster, FaultSpec], FaultRecord]
    heal: Callable[[Cluster, FaultRecord], FaultRecord]


FAULTS: Mapping[FaultKind, Fault] = {
    FaultKind.PAUSE: Fault(pause_broker.inject, pause_broker.heal),
    FaultKind.KILL: Fault(kill_broker.inject, kill_broker.heal),
    FaultKind.PAUSE_NAME_SERVER: Fault(pause_name_server.inject, pause_name_server.heal),
    FaultKind.PAUSE_SLAVE: Fault(pause_slave.inject, pause_slave.heal),
    FaultKind.KILL_SLAVE: Fault(kill_slave.inject, kill_slave.heal),
    FaultKind.READ_ONLY: Fault(read_only.inject, read_only.heal),
    FaultKind.FLOW_CONTROL: Fault(flow_control.inject, flow_control.heal),
    FaultKind.FLUSH_TIMEOUT: Fault(flush_timeout.inject, flush_timeout.heal),
}
