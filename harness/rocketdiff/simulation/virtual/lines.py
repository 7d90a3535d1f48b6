"""The text of answer lines, the same in both hosts: as json.dumps writes it, with keys in a fixed order."""

import json
from functools import lru_cache

from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketmq_reference.rules.client.publish import PublishInfo, Queue
from rocketmq_reference.rules.queue_choice.fault_table import FaultItem, FaultTable


@lru_cache(maxsize=4_096)  # names of brokers and exceptions
def text(name: str | None) -> str:
    """A name as JSON, or null."""
    return json.dumps(name, ensure_ascii=False)


def number(value: int | None) -> str:
    """A number as JSON, or null."""
    return "null" if value is None else str(value)


def head(script: str, step: int) -> str:
    """The beginning of a line that answers a step; ``of_entry`` and ``of_repeat`` add to it."""
    return f'{{"script": {text(script)}, "step": {step}, '


def of_entry(head: str, entry: int) -> str:
    """The beginning for an entry of a timeline."""
    return f'{head}"at": {entry}, '


def of_repeat(head: str, repeat: int) -> str:
    """The beginning for one of several sends of a step."""
    return f'{head}"n": {repeat}, '


def queues_text(info: PublishInfo) -> str:
    """The publish list: broker name and queue id joined."""
    return json.dumps([f"{queue.broker}{queue.queue_id}" for queue in info.queues], ensure_ascii=False)


def faults_text(faults: FaultTable) -> str:
    """The fault table by broker name; available_at_ms counts from the start of the script."""
    items = sorted(faults.items.values(), key=lambda item: item.broker.encode("utf-16-be"))
    return "{" + ", ".join(_fault_text(item, extends_only=faults.rules.extends_only) for item in items) + "}"


def selected_text(queue: Queue) -> str:
    """A queue that was chosen."""
    return f'{{"broker": {text(queue.broker)}, "queue_id": {queue.queue_id}}}'


def dump_text(parts: dict[DumpPart, str]) -> str:
    """The parts of the state, always in the same order."""
    return "{" + ", ".join(f'"{part}": {parts[part]}' for part in DumpPart if part in parts) + "}"


def _fault_text(item: FaultItem, *, extends_only: bool) -> str:
    # Tables that only extend begin an item at the epoch, which is no time of the script: never avoided.
    available_at_ms = None if extends_only and item.start_ms == 0 else item.start_ms
    reachable = "true" if item.reachable else "false"
    return (
        f'{text(item.broker)}: {{"latency_ms": {item.latency_ms}, "available_at_ms": {number(available_at_ms)}, '
        f'"reachable": {reachable}}}'
    )
