"""Every kind of fault on the cluster itself, with its implementation; relays do the faults on the wire."""

from collections.abc import Mapping

from rocketdiff.cluster.faults import read_only
from rocketdiff.cluster.faults.process_faults import PROCESS_FAULTS
from rocketdiff.cluster.faults.record import FaultAction
from rocketdiff.cluster.faults.setting_faults import SETTING_FAULTS
from rocketdiff.core.tables.fault import FaultKind

FAULTS: Mapping[FaultKind, FaultAction] = {
    **PROCESS_FAULTS,
    **SETTING_FAULTS,
    FaultKind.READ_ONLY: FaultAction(read_only.inject, read_only.heal),
}
