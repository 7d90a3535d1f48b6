"""Rules over several fields of a workload: messages that a client can send, and what can be known about them."""

from collections.abc import Iterable

from rocketdiff.core.sends.knowable import Sending
from rocketdiff.core.sends.message import RESERVED_PROPERTIES
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import TAKE_A_SERVER, FaultSpec
from rocketdiff.core.tables.settings import BROKERS_TAKE_BYTES, ClientSettings
from rocketdiff.core.tables.topology import Topology
from rocketdiff.documents.refusal import refused
from rocketdiff.documents.yaml_source import YamlSource
from rocketdiff.scenario.sending.file_format import WorkloadPart
from rocketdiff.scenario.sending.workload import freest

MOST_PROPERTY_BYTES = 65_536
"""Names and values together: twice what a message can hold, so that one that is too large can be asked for."""

_BY_GRPC = {SendKind.PLAIN, SendKind.GROUP}
"""Calls of gRPC clients."""


def require_workload(
    workload: WorkloadPart, settings: ClientSettings, topology: Topology, topology_name: str, source: YamlSource
) -> None:
    """Raise UsageError for fields that contradict each other, the settings or the topology."""
    _require_consistent(workload, source)
    _require_accepted(workload, settings, source)
    require_sendable(workload, source)
    _require_spoken(workload, topology, topology_name, source)


def _require_consistent(workload: WorkloadPart, source: YamlSource) -> None:
    if workload.arguments is not None and not any(call.has_argument for call in workload.calls):
        raise refused(
            source.place,
            ("workload", "arguments"),
            expected="arguments only with call: queue, selector or group",
            seen=f"call: {', '.join(workload.calls)}",
            hint="remove arguments, or choose the call",
        )
    if len(set(workload.calls)) > 1 and SendMode(workload.mode) is not SendMode.SYNC:
        raise refused(
            source.place,
            ("workload", "call"),
            expected="several calls with mode: sync",
            seen=f"mode: {workload.mode}, call: {', '.join(workload.calls)}",
            hint="what is known of sends that are not waited for depends on their one call",
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


def _require_accepted(workload: WorkloadPart, settings: ClientSettings, source: YamlSource) -> None:
    """Raise UsageError for a body that the client, or a broker, would refuse. Brokers count what is left after compression."""
    is_batch = SendKind.BATCH in workload.calls
    most = min(settings.max_message_size, BROKERS_TAKE_BYTES if is_batch else settings.max_message_size)
    if workload.largest_body > most:
        raise refused(
            source.place,
            ("workload", "body_bytes"),
            expected=f"bodies of at most {most:,} bytes",
            seen=f"{workload.largest_body:,}",
            hint="no client compresses a batch" if is_batch else "raise max_message_size in settings",
        )


def require_sendable(workload: WorkloadPart, source: YamlSource) -> None:
    """Raise UsageError for messages that clients or brokers refuse."""
    is_plain = SendMode(workload.mode) is SendMode.SYNC and not any(workload.delay_levels)
    if SendKind.BATCH in workload.calls and not is_plain:
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
            hint="keys, tags and delay_level have fields of their own; every client refuses the other names, or brokers set them",
        )
    size = sum(len(text.encode()) for pair in workload.properties.items() for text in pair)
    if size > MOST_PROPERTY_BYTES:
        raise refused(
            source.place,
            ("workload", "properties"),
            expected=f"names and values of at most {MOST_PROPERTY_BYTES:,} bytes together",
            seen=f"{size:,} bytes",
            hint="fewer or shorter ones: a message holds 32,767 bytes of properties",
        )


def sending_of(
    workload: WorkloadPart, settings: ClientSettings, faults: Iterable[FaultSpec], topology: Topology
) -> Sending:
    """Return what determines the knowable facts about a scenario's cases."""
    return Sending(
        SendMode(workload.mode),
        freest(workload.calls),
        settings.send_latency_fault_enable,
        is_delayed=any(workload.delay_levels),
        loses_a_broker=any(fault.kind in TAKE_A_SERVER for fault in faults),
        is_proxied=topology.has_proxies,
    )


def _require_spoken(workload: WorkloadPart, topology: Topology, topology_name: str, source: YamlSource) -> None:
    """Raise UsageError for sends of another protocol: gRPC in a topology with a proxy, remoting in all others."""
    is_proxied = topology.has_proxies
    if is_proxied and (
        not _BY_GRPC.issuperset(workload.calls) or workload.mode == "oneway" or any(workload.delay_levels)
    ):
        raise refused(
            source.place,
            ("workload",),
            expected="call: plain or group, mode: sync or async, and no delay_level, in a topology with a proxy",
            seen=f"call: {', '.join(workload.calls)}, mode: {workload.mode}, delay_level: {workload.delay_level}",
            hint="clients that speak gRPC have no other calls",
        )
    if not is_proxied and SendKind.GROUP in workload.calls:
        hint = "only clients that speak gRPC have message groups; call: selector is the remoting equivalent"
        seen = f"call: group in {topology_name}"
        raise refused(source.place, ("workload", "call"), expected="a topology with a proxy", seen=seen, hint=hint)
