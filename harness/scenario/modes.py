"""Rules of the format about how messages are sent and what they carry: what no client can send, and what no check can see."""

from harness.core.message import RESERVED_PROPERTIES
from harness.core.plan import SendKind, SendMode
from harness.scenario.file_format import ScenarioFile, WorkloadPart
from harness.scenario.refusal import refused
from harness.scenario.yaml_source import YamlSource

Obstacle = tuple[bool, str]
"""Whether a check can never be decisive, and what stands against it."""

_WAITED_FOR = ("timing", "failover-time", "avoidance")
"""Checks about how long an application is held up, or what it does next: only a call that waits shows that."""


def require_sendable(workload: WorkloadPart, source: YamlSource) -> None:
    """Raise UsageError for messages that a client, or a broker, would refuse."""
    levels = [workload.delay_level] if isinstance(workload.delay_level, int) else workload.delay_level
    is_plain = SendMode(workload.mode) is SendMode.SYNC and not any(levels)
    if SendKind(workload.call) is SendKind.BATCH and not is_plain:
        raise refused(
            source,
            ("workload", "call"),
            expected="call: batch with mode: sync and without delay_level",
            seen=f"mode: {workload.mode}, delay_level: {workload.delay_level}",
            hint="clients refuse a delayed batch, and most releases have no other call for one",
        )
    reserved = sorted(RESERVED_PROPERTIES & workload.properties.keys())
    if reserved:
        raise refused(
            source,
            ("workload", "properties"),
            expected="names that are the application's own",
            seen=", ".join(reserved),
            hint="keys, tags and delay_level have fields of their own; clients refuse the other names",
        )


def obstacles_of_modes(file: ScenarioFile, hindered: set[str]) -> dict[str, Obstacle]:
    """What stands against checks in this mode; ``hindered``: checks something else stands against already."""
    workload = file.workload
    mode, call = SendMode(workload.mode), SendKind(workload.call)
    delayed = workload.delay_level if isinstance(workload.delay_level, int) else max(workload.delay_level)
    unordered = mode is not SendMode.SYNC or call not in (SendKind.QUEUE, SendKind.SELECTOR)
    obstacles: dict[str, Obstacle] = {
        # A pool of threads hands asynchronous requests over, and several threads of a broker store what arrives.
        "order": (unordered, f"mode: {mode}, call: {call}; order is kept by who waits for each answer"),
        "callbacks": (mode is not SendMode.ASYNC, f"mode: {mode}"),
        "delay": (not delayed, "no delay_level"),
    }
    if mode is not SendMode.SYNC:
        obstacles |= {check: (True, f"mode: {mode}") for check in _WAITED_FOR if check not in hindered}
    if mode is SendMode.ASYNC and file.settings.send_latency_fault_enable:
        # The fault table is written by callbacks at instants nobody sees, in the midst of other threads' choices.
        why = "mode: async with send_latency_fault_enable"
        obstacles |= dict.fromkeys(("queue-choice", "attempts"), (True, why))
    return obstacles
