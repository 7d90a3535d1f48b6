"""Rules over more than one field: messages that a client can send, and questions that can be answered."""

from collections.abc import Iterable, Sequence

from rocketdiff.core.sends.knowable import Sending, unanswerable
from rocketdiff.core.sends.message import RESERVED_PROPERTIES
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultKind, FaultSpec
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import YamlSource
from rocketdiff.scenario.file_format import ScenarioFile, WorkloadPart


def require_sendable(workload: WorkloadPart, source: YamlSource) -> None:
    """Raise UsageError for messages that clients or brokers refuse."""
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
    """Return what determines the knowable facts about a scenario's cases."""
    workload = file.workload
    levels = [workload.delay_level] if isinstance(workload.delay_level, int) else workload.delay_level
    return Sending(
        SendMode(workload.mode),
        SendKind(workload.call),
        file.client_settings.send_latency_fault_enable,
        is_delayed=any(levels),
        loses_a_broker=any(fault.kind in _LOSSES for fault in faults),
        is_proxied=TOPOLOGIES[file.topology].has_proxies,
    )


_LOSSES = {FaultKind.PAUSE, FaultKind.KILL, FaultKind.PAUSE_PROXY, FaultKind.KILL_PROXY}


_BY_GRPC = {SendKind.PLAIN, SendKind.GROUP}
"""Calls of gRPC clients."""


def _require_spoken(file: ScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """Raise UsageError for sends of another protocol: gRPC in a topology with a proxy, remoting in all others."""
    workload, is_proxied = file.workload, TOPOLOGIES[file.topology].has_proxies
    levels = [workload.delay_level] if isinstance(workload.delay_level, int) else workload.delay_level
    if is_proxied and (SendKind(workload.call) not in _BY_GRPC or workload.mode == "oneway" or any(levels)):
        raise refused(
            source.place,
            ("workload",),
            expected="call: plain or group, mode: sync or async, and no delay_level, in a topology with a proxy",
            seen=f"call: {workload.call}, mode: {workload.mode}, delay_level: {workload.delay_level}",
            hint="clients that speak gRPC have no other calls",
        )
    if not is_proxied and SendKind(workload.call) is SendKind.GROUP:
        hint = "only clients that speak gRPC have message groups; call: selector is the remoting equivalent"
        seen = f"call: group in {file.topology}"
        raise refused(source.place, ("workload", "call"), expected="a topology with a proxy", seen=seen, hint=hint)
    for fault in faults if is_proxied else ():
        if fault.kind in ON_THE_WIRE:
            raise refused(
                source.place, ("faults",), expected="no faults on the wire before a proxy", seen=str(fault.kind)
            )


_ADDRESSED = {SendKind.QUEUE, SendKind.SELECTOR, SendKind.GROUP}
"""Calls that take an argument: they name a queue or a message group."""


def require_consistent(file: ScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """Raise UsageError for fields that contradict each other."""
    _require_unique(file, source)
    _require_workload(file, source)
    require_sendable(file.workload, source)
    _require_spoken(file, faults, source)
    _require_answerable(file, faults, source)


def _require_unique(file: ScenarioFile, source: YamlSource) -> None:
    lists: dict[str, list[str]] = {"covers": [*file.covers], "checks": [*file.checks], "suites": [*file.suites]}
    for field, values in lists.items():
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise refused(source.place, (field,), expected="each entry once", seen=f"{', '.join(twice)} twice")


def _require_workload(file: ScenarioFile, source: YamlSource) -> None:
    workload = file.workload
    if workload.arguments is not None and SendKind(workload.call) not in _ADDRESSED:
        raise refused(
            source.place,
            ("workload", "arguments"),
            expected="arguments only with call: queue, selector or group",
            seen=f"call: {workload.call}",
            hint="remove arguments, or choose the call",
        )
    sends = workload.rate_per_s * workload.duration_s
    if sends < workload.threads:
        raise refused(
            source.place,
            ("workload",),
            expected="at least one send a thread",
            seen=f"{sends:g} sends for {workload.threads} threads",
            hint="raise rate_per_s or duration_s",
        )


def _require_answerable(file: ScenarioFile, faults: Sequence[FaultSpec], source: YamlSource) -> None:
    """A check that can never be decisive would look like a pass, so it is refused."""
    sending = sending_of(file, faults)
    for check in file.checks:
        if obstacle := unanswerable(check, sending):
            raise refused(
                source.place,
                ("checks",),
                expected=f"a case in which {check} can be seen",
                seen=obstacle,
                hint=f"remove {check} from checks",
            )
    for check in file.tolerances:
        if check not in file.checks:
            raise refused(
                source.place, ("tolerances", check), expected="a tolerance of a check that is asked", seen=check
            )
