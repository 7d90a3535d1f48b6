"""The text of answer lines, as json.dumps writes it, with keys in the same fixed order as in the Java host."""

import json
from collections.abc import Iterable
from functools import lru_cache

from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable


@lru_cache(maxsize=4_096)  # names of brokers and exceptions
def text(name: str | None) -> str:
    """Return a name as JSON, or null."""
    return json.dumps(name, ensure_ascii=False)


def number(value: int | None) -> str:
    """Return a number as JSON, or null."""
    return "null" if value is None else str(value)


def head(script: str, step: int) -> str:
    """Return the beginning of a step's answer line; ``of_entry`` and ``of_repeat`` extend it."""
    return f'{{"script": {text(script)}, "step": {step}, '


def of_entry(head: str, entry: int) -> str:
    """Return the beginning for a timeline entry."""
    return f'{head}"at": {entry}, '


def of_repeat(head: str, repeat: int) -> str:
    """Return the beginning for one of a step's several sends."""
    return f'{head}"n": {repeat}, '


def queues_text(info: PublishInfo) -> str:
    """Return the publish list, each queue as broker name and queue id joined."""
    return json.dumps([f"{queue.broker}{queue.queue_id}" for queue in info.queues], ensure_ascii=False)


def faults_text(faults: FaultTable) -> str:
    """Return the fault table by broker name; available_at_ms counts from the start of the script."""
    items = sorted(faults.items.values(), key=lambda item: item.broker.encode("utf-16-be"))
    return "{" + ", ".join(_fault_text(item, extends_only=faults.rules.extends_only) for item in items) + "}"


def selected_text(queue: Queue) -> str:
    """Return the selected queue as JSON."""
    return f'{{"broker": {text(queue.broker)}, "queue_id": {queue.queue_id}}}'


def share_text(queues: Iterable[Queue]) -> str:
    """Return queues in their order, each as broker/queue id."""
    return json.dumps([f"{queue.broker}/{queue.queue_id}" for queue in queues], ensure_ascii=False)


def dump_text(parts: dict[DumpPart, str]) -> str:
    """Return the parts of the state in their fixed order."""
    return "{" + ", ".join(f'"{part}": {parts[part]}' for part in DumpPart if part in parts) + "}"


def _fault_text(item: FaultItem, *, extends_only: bool) -> str:
    # A table that only extends avoidance starts an item at the epoch, which lies before the script: never avoided.
    available_at_ms = None if extends_only and item.start_ms == 0 else item.start_ms
    reachable = "true" if item.reachable else "false"
    return (
        f'{text(item.broker)}: {{"latency_ms": {item.latency_ms}, "available_at_ms": {number(available_at_ms)}, '
        f'"reachable": {reachable}}}'
    )
