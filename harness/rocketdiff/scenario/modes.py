"""Rules of the format about how messages are sent and what they carry: what no client can send, and what decides on what can be known."""

from collections.abc import Iterable

from rocketdiff.core.fault import FaultKind, FaultSpec
from rocketdiff.core.knowable import Sending
from rocketdiff.core.message import RESERVED_PROPERTIES
from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import YamlSource
from rocketdiff.scenario.file_format import ScenarioFile, WorkloadPart


def require_sendable(workload: WorkloadPart, source: YamlSource) -> None:
    """Raise UsageError for messages that a client, or a broker, would refuse."""
    levels = [workload.delay_level] if isinstance(workload.delay_level, int) else workload.delay_level
    is_plain = SendMode(workload.mode) is SendMode.SYNC and not any(levels)
    if SendKind(workload.call) is SendKind.BATCH and not is_plain:
        raise refused(
            source.place,
            ("workload", "call"),
            expected="call: batch with mode: sync and without delay_level",
            seen=f"mode: {workload.mode}, delay_level: {workload.delay_level}",
            hint="clients refuse a delayed batch, and most releases have no other call for one",
        )
    reserved = sorted(RESERVED_PROPERTIES & workload.properties.keys())
    if reserved:
        raise refused(
            source.place,
            ("workload", "properties"),
            expected="names that are the application's own",
            seen=", ".join(reserved),
            hint="keys, tags and delay_level have fields of their own; clients refuse the other names",
        )


def sending_of(file: ScenarioFile, faults: Iterable[FaultSpec]) -> Sending:
    """What of a scenario decides on what can be known of its cases."""
    workload = file.workload
    levels = [workload.delay_level] if isinstance(workload.delay_level, int) else workload.delay_level
    return Sending(
        SendMode(workload.mode),
        SendKind(workload.call),
        file.client_settings.send_latency_fault_enable,
        is_delayed=any(levels),
        loses_a_broker=any(fault.kind in (FaultKind.PAUSE, FaultKind.KILL) for fault in faults),
    )
