"""Every kind of fault that is done to the cluster itself, and how; those on the wire are done by the relays of a case."""

from collections.abc import Mapping

from rocketdiff.cluster.faults import read_only
from rocketdiff.cluster.faults.process_faults import PROCESS_FAULTS
from rocketdiff.cluster.faults.record import Fault
from rocketdiff.cluster.faults.setting_faults import SETTING_FAULTS
from rocketdiff.core.tables.fault import FaultKind

FAULTS: Mapping[FaultKind, Fault] = {
    **PROCESS_FAULTS,
    **SETTING_FAULTS,
    FaultKind.READ_ONLY: Fault(read_only.inject, read_only.heal),
}
